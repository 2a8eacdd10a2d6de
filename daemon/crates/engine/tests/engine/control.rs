//! Control tools, replies without calls, and misuse of tools.

use crate::{
    plan::{Plan, ask, complete, read, update},
    world::World,
};
use abide_engine::{control, control_tools};
use abide_protocol::{
    CallId,
    message::CallOutcome,
    record::RecordBody,
    task::{EndReason, Mode, Status},
    transcript::{CallBlock, EffectClass, StopReason, ToolSpec},
};
use uuid::Uuid;

#[test]
fn the_second_reply_without_calls_ends_the_task_with_the_first_text() {
    let mut w = World::started();
    w.reply("It is done.", &[]);
    assert_eq!(w.transcript(), ["user", "reply", "note"], "the model is told why this did not end the task");
    w.reply("Nothing more to say.", &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("It is done.")));
    assert_eq!(w.count(|body| matches!(body, RecordBody::AgentMessage(_))), 0, "it was said");
    assert_eq!(w.transcript().last().unwrap(), "reply");
}

#[test]
fn ask_user_and_request_input_both_ask() {
    for name in ["ask_user", "request_input"] {
        let mut w = World::started();
        let call = w.reply("", &[Plan { tool: name.to_owned(), ..ask("Which?") }])[0];
        let question = w.question();
        assert_eq!(
            (question.text.as_str(), question.call_id, w.status()),
            ("Which?", Some(call), Status::WaitingUser)
        );
        w.answer(question.id, Some("blue")).unwrap();
        assert_eq!(w.result(call).as_deref(), Some("blue"), "{name}");
        assert!(w.is_thinking());
    }
}

#[test]
fn one_name_of_the_question_tool_is_declared_and_both_can_be_called() {
    let declared = control_tools(Mode::Agent);
    let call = |tool: &str| CallBlock {
        id: CallId(Uuid::nil()),
        provider_id: String::new(),
        tool: tool.to_owned(),
        arguments: "{}".to_owned(),
        opaque: None,
    };
    let names = |tools: &[ToolSpec]| tools.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&declared), ["task_complete", "ask_user", "send_update", "fork", "wait", "tell"]);
    for calls in [vec![], vec![call("ask_user")], vec![call("shell")]] {
        assert_eq!(names(&control::callable(&declared, &calls)), names(&declared));
    }
    let callable = control::callable(&declared, &[call("shell"), call("request_input")]);
    assert_eq!(
        names(&callable),
        ["task_complete", "ask_user", "send_update", "fork", "wait", "tell", "request_input"]
    );
    assert_eq!(callable[6].parameters, declared[1].parameters, "with the same parameters");
    let mut by_the_other = declared.clone();
    by_the_other[1].name = "request_input".to_owned();
    assert_eq!(control::callable(&by_the_other, &[call("ask_user")])[6].name, "ask_user");
    assert_eq!(
        names(&control::callable(&[], &[call("request_input")])),
        Vec::<String>::new(),
        "chat has no tools"
    );
}

#[test]
fn a_call_resets_the_count_of_replies_without_calls() {
    let mut w = World::started();
    w.reply("One.", &[]);
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    w.reply("One again.", &[]);
    assert!(w.is_thinking());
}

#[test]
fn a_reply_without_calls_counts_unless_it_was_cut() {
    use StopReason::{EndTurn, Length, ToolCalls, Unfinished};
    for (stops, ends) in [
        (&[EndTurn, EndTurn][..], true),
        (&[ToolCalls, ToolCalls], true),
        (&[EndTurn, Length], false),
        (&[Length, EndTurn, Length], false),
        (&[Unfinished, EndTurn, Unfinished], false),
        (&[EndTurn, Length, EndTurn], true),
    ] {
        let mut w = World::started();
        for stop in stops {
            w.reply_as(*stop, "Some text.", &[]);
        }
        assert_eq!(w.end().is_some(), ends, "{stops:?}");
    }
}

#[test]
fn a_models_refusal_ends_the_task_with_a_notice() {
    for mode in [Mode::Agent, Mode::Chat] {
        let mut w = World::started_with(|head| head.mode = mode);
        w.reply_as(StopReason::Refusal, "I cannot help with that.", &[]);
        assert_eq!(w.end(), Some(EndReason::Error));
        assert!(w.notice().unwrap().contains("declined"));
        assert_eq!(w.seen().error_message.as_deref(), w.notice(), "lists of tasks have it too");
    }
}

#[test]
fn an_update_is_shown_and_has_a_result() {
    let mut w = World::started();
    let call = w.reply("", &[update("Halfway.")])[0];
    assert_eq!(
        w.count(|b| matches!(b, RecordBody::Update(u) if u.text == "Halfway." && u.call_id == call)),
        1
    );
    assert_eq!(w.outcome(call), Some(CallOutcome::Done));
    assert!(w.is_thinking(), "it waits for no answer");
}

#[test]
fn invalid_control_calls_are_refused_and_never_run_as_tools() {
    let unknown = || crate::plan::Plan { tool: "fork".to_owned(), ..update("x") };
    for plan in
        [update("x").arguments("{}"), ask("x").arguments("[]"), complete("x").arguments("what?"), unknown()]
    {
        assert_eq!(plan.effect, EffectClass::Control);
        let mut w = World::started();
        let call = w.reply("", std::slice::from_ref(&plan))[0];
        assert_eq!(w.outcome(call), Some(CallOutcome::Refused), "{plan:?}");
        assert!(w.is_thinking() && w.end().is_none(), "{plan:?}");
    }
}
