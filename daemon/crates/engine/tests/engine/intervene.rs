//! Interventions: a cell of the table "what the task is doing" by "what the person does" for each test.
//! (Deaths, full disks and races: see the simulation.)

use crate::{
    plan::{Plan, ask, complete, fork, read, shell, wait, write},
    world::{World, prompts, somebody, tool},
};
use abide_engine::{CallStage, Command, Intervention, Refusal, Shown};
use abide_protocol::{
    CallId,
    inbox::Decision,
    message::CallOutcome,
    record::{By, ModelErrorKind, NewRecord, RecordBody, Via},
    task::{EndReason, Mode, Phase, Status},
    transcript::Entry,
};

const NEW: &str = "New instructions, which take the place of the earlier ones:\nOnly the docs.";

fn in_mode(mode: Mode) -> World {
    World::started_with(|head| {
        (head.mode, head.prompts, head.tools) = (mode, prompts(mode), vec![tool()]);
    })
}

fn comment(w: &mut World) {
    w.intervene(Intervention::Comment("Mind the tests.".to_owned()), "").expect("it is taken");
}

fn modify(w: &mut World, shown: &str) -> Vec<NewRecord> {
    let intervention =
        Intervention::Modify { comment: "modify".to_owned(), content: "Only the docs.".to_owned() };
    w.intervene(intervention, shown).expect("it is taken")
}

fn delete(w: &mut World) {
    w.intervene(Intervention::Delete { comment: "delete".to_owned() }, "Half a").expect("it is taken");
    assert_eq!((w.end(), w.status()), (Some(EndReason::Deleted), Status::Cancelled));
    assert!(w.history.live().next().is_none(), "its sub-tasks end with it");
    assert_eq!(w.replayed(), w.history);
}

/// The last words of people in the transcript.
fn said(w: &World) -> &str {
    let said = w.task().entries().iter().rev();
    said.into_iter()
        .find_map(|entry| if let Entry::User(text) = entry { Some(text.as_str()) } else { None })
        .expect("words")
}

fn called(plans: &[Plan]) -> (World, Vec<CallId>) {
    let mut w = World::started();
    let calls = w.reply("", plans);
    (w, calls)
}

#[test]
fn while_it_thinks_a_comment_waits_for_the_reply_and_its_results() {
    let mut w = World::started();
    comment(&mut w);
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(w.transcript(), ["user", "reply"]);
    w.finish(call, true);
    assert_eq!(w.transcript(), ["user", "reply", "read:ok", "user"]);
    assert_eq!(said(&w), "Mind the tests.");
}

#[test]
fn words_that_came_meanwhile_are_read_before_the_end() {
    let mut w = World::started();
    comment(&mut w);
    let call = w.reply("", &[complete("Done.")])[0];
    assert_eq!((w.end(), w.outcome(call)), (None, Some(CallOutcome::Refused)));
    w.reply("", &[complete("Done, and the tests too.")]);
    assert_eq!(w.end(), Some(EndReason::Completed));
}

/// A reply without calls ends these tasks, but not before what came during it is answered.
#[test]
fn words_that_came_during_a_last_reply_are_answered() {
    for mode in [Mode::Chat, Mode::Auto] {
        let mut w = in_mode(mode);
        comment(&mut w);
        w.reply("Hello.", &[]);
        assert!(w.is_thinking(), "{mode:?}");
        assert_eq!(w.transcript(), ["user", "reply", "user"], "{mode:?}");
        w.reply("I mind them.", &[]);
        assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("I mind them.")));
        assert_eq!(w.replayed(), w.history);
    }

    let mut agent = World::started();
    agent.reply("One.", &[]);
    comment(&mut agent);
    agent.reply("Two.", &[]);
    assert!(agent.is_thinking(), "its second reply without a call would end it");
    agent.reply("I mind them.", &[]);
    assert_eq!(agent.end(), Some(EndReason::Completed));

    let mut plan = in_mode(Mode::Plan);
    for words in ["One.", "Two.", "Three."] {
        comment(&mut plan);
        plan.reply(words, &[]);
    }
    assert_eq!((plan.is_thinking(), plan.task().turn().phase), (true, Some(Phase::Plan)));
}

/// Its answer is there, and no further request is possible.
#[test]
fn a_task_at_its_limit_is_completed_without_another_request() {
    for mode in [Mode::Chat, Mode::Auto] {
        let mut w = World::started_with(|head| {
            (head.mode, head.prompts, head.tools) = (mode, prompts(mode), vec![tool()]);
            head.limits.max_steps = 1;
        });
        comment(&mut w);
        w.reply("Hello.", &[]);
        assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("Hello.")), "{mode:?}");
    }
}

#[test]
fn words_during_an_auto_tasks_first_reply_can_ask_for_work() {
    let mut w = in_mode(Mode::Auto);
    comment(&mut w);
    w.reply("Hello.", &[]);
    w.reply("", &[read("f")]);
    assert_eq!((w.end(), w.status()), (None, Status::ToolExecuting));
}

#[test]
fn while_it_thinks_new_instructions_withdraw_the_reply_and_its_step() {
    let mut w = World::started();
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    let (item, step) = (w.item(), w.task().step);
    modify(&mut w, "Half a");
    assert_eq!((w.is_thinking(), w.task().step), (true, step), "the same step again");
    assert_ne!(w.item(), item);
    assert_eq!(w.transcript(), ["user", "reply", "read:ok", "partial", "user"]);
    assert_eq!(said(&w), NEW);
    let (late, _) = w.replied(item, abide_protocol::transcript::StopReason::EndTurn, "Late.", &[]);
    assert_eq!(w.attempt(late), Err(Refusal::Stale), "a withdrawn item never becomes a reply");
    assert_eq!(w.seen().usage.model_calls, 2, "the withdrawn request was sent");
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn while_it_backs_off_new_instructions_are_thought_about_at_once() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Overloaded, true, None);
    comment(&mut w);
    assert!(!w.is_thinking(), "a comment waits");
    modify(&mut w, "");
    assert!(w.is_thinking());
    assert_eq!((w.task().step, said(&w)), (1, NEW));
}

/// Its end is refused because of what came meanwhile, not because it goes round in circles.
#[test]
fn an_end_refused_again_and_again_because_of_words_is_no_loop() {
    let mut w = World::started();
    for _ in 0..6 {
        comment(&mut w);
        let end = w.reply("", &[complete("Done.")])[0];
        assert_eq!(w.outcome(end), Some(CallOutcome::Refused));
        assert!(w.is_thinking(), "{:?}", w.status());
    }
    w.reply("", &[complete("Done.")]);
    assert_eq!(w.end(), Some(EndReason::Completed));
}

#[test]
fn new_instructions_reset_the_loop_guard() {
    let mut w = World::started();
    for round in 0..9 {
        let call = w.reply("", &[read("same")])[0];
        w.finish(call, true);
        if round % 4 == 3 {
            modify(&mut w, "");
        }
    }
    assert!(w.is_thinking(), "nobody is asked");
}

#[test]
fn of_the_calls_only_what_runs_goes_on() {
    let (mut w, calls) = called(&[read("a"), shell("b"), write("c").asking(), ask("Which?")]);
    comment(&mut w);
    assert_eq!(w.running().len(), 1);
    let records = modify(&mut w, "");
    let closed = records.iter().filter(|r| matches!(r.body, RecordBody::CallFinished(_))).count();
    assert_eq!((closed, w.running()), (3, vec![(calls[0], 1)]));
    for call in &calls[1..] {
        assert_eq!(w.outcome(*call), Some(CallOutcome::Rejected));
    }
    assert!(w.task().approvals.is_empty(), "its approval is closed");
    w.finish(calls[0], true);
    assert!(w.is_thinking());
    assert_eq!(
        w.transcript(),
        ["user", "reply", "read:ok", "shell:failed", "write:failed", "ask_user:failed", "user", "user"]
    );
    assert_eq!(said(&w), NEW);
}

#[test]
fn a_decision_on_a_closed_approval_is_refused_and_the_call_never_starts() {
    let (mut w, calls) = called(&[write("c").asking()]);
    let approval = w.approval(calls[0]).id;
    modify(&mut w, "");
    let late =
        Command::Decide { approval, decision: Decision::AllowOnce, note: None, rule: None, by: somebody() };
    assert_eq!(w.attempt(late), Err(Refusal::NoApproval));
    assert_eq!(w.starts(calls[0]), 0);
    assert!(w.is_thinking());
}

#[test]
fn while_a_person_is_asked_a_comment_leaves_the_question_and_new_instructions_are_its_answer() {
    let (mut w, calls) = called(&[ask("Which?")]);
    comment(&mut w);
    assert_eq!(w.status(), Status::WaitingUser);
    let question = w.question().id;
    modify(&mut w, "");
    assert_eq!(w.result(calls[0]).as_deref(), Some("Only the docs."));
    assert!(w.is_thinking());
    assert_eq!(w.answer(question, Some("late")), Err(Refusal::NoQuestion));
}

#[test]
fn a_question_about_a_repeated_call_is_answered_by_new_instructions() {
    let mut w = World::started();
    for _ in 0..4 {
        let call = w.reply("", &[read("same")])[0];
        w.finish(call, true);
    }
    w.reply("", &[read("same")]);
    let question = w.question().id;
    modify(&mut w, "");
    assert!(w.is_thinking());
    assert_eq!(w.history.answer(question).and_then(|first| first.said.as_deref()), Some("Only the docs."));
}

#[test]
fn a_wait_for_sub_tasks_returns_and_they_go_on() {
    let mut w = World::started();
    w.reply("", &[fork("A."), fork("B.")]);
    let [first, second] = w.task().children[..] else { panic!("two") };
    let waiting = w.reply("", &[wait(None)])[0];
    let root = std::mem::replace(&mut w.id, first);
    w.reply("", &[complete("A is done.")]);
    w.id = root;
    comment(&mut w);
    assert_eq!(w.status(), Status::WaitingChildren, "a comment waits");
    modify(&mut w, "");
    let result = w.result(waiting).expect("it returns");
    assert!(result.starts_with("Interrupted by the user. Sub-tasks that are at work go on."), "{result}");
    assert!(result.contains("A is done.") && result.contains(&second.short()), "{result}");
    assert!(w.is_thinking());
    assert_eq!(w.history.live().count(), 2);
    w.id = second;
    let call = complete("B is done.");
    w.reply("", &[call]);
    w.id = root;
    assert_eq!(w.count(|body| matches!(body, RecordBody::ResultsDelivered(_))), 1, "that of the second");
}

#[test]
fn a_paused_task_stays_paused() {
    let mut w = World::started();
    w.pause();
    comment(&mut w);
    modify(&mut w, "");
    assert_eq!((w.status(), w.is_thinking()), (Status::Paused, false));
    w.resume();
    assert!(w.is_thinking());
    assert_eq!(w.transcript(), ["user", "user", "user"]);
    assert_eq!(said(&w), NEW);
}

/// People saw it, and the model reads it in the next task.
#[test]
fn an_end_that_cuts_a_call_off_keeps_its_output() {
    let stopped = "The task was ended while this ran; it was stopped, its effects are unknown.";
    for (output, told) in [
        ("one\ntwo\n", format!("error: {stopped} Its output so far:\none\ntwo")),
        (" \n", format!("error: {stopped}")),
    ] {
        let (mut w, calls) = called(&[shell("make"), shell("never")]);
        let outputs = calls.iter().map(|call| (*call, output.to_owned()));
        w.input_shown(Command::Stop { task: w.id }, Shown::new().with_outputs(outputs));
        assert_eq!(w.outcome(calls[0]), Some(CallOutcome::Cancelled));
        assert_eq!(w.result(calls[0]), Some(told));
        assert_eq!(
            w.result(calls[1]).as_deref(),
            Some("error: The task was ended before this ran."),
            "it waited for its turn"
        );
    }
}

#[test]
fn a_deleted_task_ends_wherever_it_is() {
    let mut thinking = World::started();
    delete(&mut thinking);
    assert_eq!(thinking.transcript(), ["user", "partial"], "what was shown stays");

    let mut backing_off = World::started();
    backing_off.fail(ModelErrorKind::Overloaded, true, None);
    delete(&mut backing_off);

    let (mut calling, calls) = called(&[shell("make")]);
    assert!(matches!(calling.task().call(calls[0]).map(|call| &call.stage), Some(CallStage::Started { .. })));
    delete(&mut calling);
    assert!(calling.result(calls[0]).expect("a result").contains("its effects are unknown"));

    for plan in [ask("Which?"), write("c").asking()] {
        let (mut asking, calls) = called(&[plan]);
        delete(&mut asking);
        assert_eq!(asking.outcome(calls[0]), Some(CallOutcome::Cancelled));
    }

    let mut waiting = World::started();
    waiting.reply("", &[fork("A.")]);
    waiting.reply("", &[wait(None)]);
    delete(&mut waiting);

    let mut paused = World::started();
    paused.pause();
    delete(&mut paused);
    let by = By { via: Via::Socket, name: String::new() };
    let again = Intervention::Comment("Hello?".to_owned());
    let late = Command::Intervene { task: paused.id, intervention: again, by };
    assert_eq!(paused.attempt(late), Err(Refusal::Ended(EndReason::Deleted)));
}

#[test]
fn the_end_of_a_deleted_sub_task_reaches_its_parent() {
    let mut w = World::started();
    w.reply("", &[fork("A.")]);
    let root = w.id;
    w.id = w.task().children[0];
    w.intervene(Intervention::Delete { comment: "delete".to_owned() }, "").expect("it ends");
    w.id = root;
    assert_eq!(w.count(|body| matches!(body, RecordBody::ResultsDelivered(_))), 1);
}

#[test]
fn a_person_can_end_a_task_as_completed_or_failed() {
    let mut w = World::started();
    w.intervene(Intervention::Complete { summary: "Good enough.".to_owned() }, "").expect("it ends");
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("Good enough.")));
    let mut w = World::started();
    w.intervene(Intervention::Fail { error: "Not what I asked for.".to_owned() }, "").expect("it ends");
    assert_eq!(
        (w.end(), w.seen().error_message.as_deref()),
        (Some(EndReason::Error), Some("Not what I asked for."))
    );
}

#[test]
fn roa_restarts_its_step_at_reason_with_the_new_question() {
    for replies in 0..3 {
        let mut w = in_mode(Mode::Roa);
        for _ in 0..replies {
            w.reply("{}", &[]);
        }
        modify(&mut w, "");
        assert_eq!(
            (w.seen().phase, w.seen().step_count),
            (Some(Phase::Reason), 1),
            "after {replies} replies"
        );
        let notes = w.task().entries().iter().rev();
        let note = notes.into_iter().find_map(|e| if let Entry::Note(n) = e { Some(n) } else { None });
        assert!(note.expect("a note").contains("Only the docs."), "{note:?}");
    }
}
