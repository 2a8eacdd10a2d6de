//! A reply with several calls.

use crate::{
    plan::{ask, complete, read, shell, update, write},
    world::{World, head, somebody},
};
use abide_engine::{Command, First, Input, Refusal};
use abide_protocol::{
    inbox::{Decision, Rule},
    message::CallOutcome,
    record::{By, RecordBody, Via},
    task::{EndReason, Incomplete, Mode, Status},
    transcript::{Entry, StopReason},
};

#[test]
fn all_approvals_open_at_once() {
    let mut w = World::started();
    let calls =
        w.reply("", &[shell("1").asking(), write("2").asking(), read("3"), complete("done").asking()]);
    assert_eq!(w.task().approvals.len(), 3);
    assert_eq!(
        (w.status(), w.running()),
        (Status::WaitingApproval, vec![]),
        "a read behind a write waits for it"
    );
    let approval = w.approval(calls[0]);
    let rule =
        Rule { tool: "shell".to_owned(), arguments: approval.arguments.clone(), workspace: "/w".to_owned() };
    assert_eq!((approval.rule, approval.sandbox.as_str()), (rule, "none"));
}

#[test]
fn at_most_eight_pure_calls_run_in_parallel() {
    let mut w = World::started();
    let calls = w.reply("", &(0..10).map(|i| read(&i.to_string())).collect::<Vec<_>>());
    assert_eq!(w.running().len(), 8);
    w.finish(calls[5], true);
    w.finish(calls[0], false);
    assert_eq!(w.running().len(), 8);
    assert!(w.running().contains(&(calls[9], 1)));
    for call in calls.iter().rev().filter(|c| **c != calls[5] && **c != calls[0]) {
        w.finish(*call, true);
    }
    let told: Vec<_> = w
        .task()
        .entries()
        .iter()
        .filter_map(|e| if let Entry::Result(r) = e { Some(r.call_id) } else { None })
        .collect();
    assert_eq!(told, calls, "in call order, not in the order they ended");
    assert!(w.is_thinking());
}

#[test]
fn other_calls_run_one_at_a_time_in_the_models_order() {
    let mut w = World::started();
    let calls = w.reply("", &[read("1"), read("2"), write("3"), read("4"), shell("5"), write("6")]);
    assert_eq!(w.running(), [(calls[0], 1), (calls[1], 1)]);
    w.finish(calls[1], true);
    assert_eq!(w.running(), [(calls[0], 1)], "a write waits for every read before it");
    w.finish(calls[0], true);
    for call in &calls[2..] {
        assert_eq!(w.running(), [(*call, 1)]);
        assert!(!w.is_thinking());
        w.finish(*call, true);
    }
    assert!(w.is_thinking(), "the next request follows the last result");
}

#[test]
fn a_call_that_waits_for_approval_blocks_those_after_it() {
    let mut w = World::started();
    let calls = w.reply("", &[read("1"), shell("2").asking(), read("3")]);
    assert_eq!((w.running(), w.status()), (vec![(calls[0], 1)], Status::WaitingApproval));
    w.finish(calls[0], true);
    w.decide(calls[1], Decision::AllowOnce);
    assert_eq!(w.running(), [(calls[1], 1)]);
    w.finish(calls[1], true);
    assert_eq!(w.running(), [(calls[2], 1)]);
}

#[test]
fn a_rejected_call_fails_and_the_others_run() {
    let mut w = World::started();
    let calls = w.reply("", &[shell("1").asking(), shell("2").asking()]);
    let approval = w.approval(calls[0]).id;
    let by = By { via: Via::Socket, name: "a client".to_owned() };
    let note = Some("use make".to_owned());
    w.input(Command::Decide { approval, decision: Decision::RejectAlways, note, rule: None, by: by.clone() });
    assert_eq!(w.count(|b| matches!(b, RecordBody::ApprovalDecided(decided) if decided.by == by)), 1);
    assert_eq!(w.outcome(calls[0]), Some(CallOutcome::Rejected));
    assert_eq!(w.count(|b| matches!(b, RecordBody::RuleRemembered(r) if !r.allow)), 1);
    w.decide(calls[1], Decision::AllowAlways);
    assert_eq!(w.count(|b| matches!(b, RecordBody::RuleRemembered(r) if r.allow)), 1);
    w.finish(calls[1], true);
    assert_eq!(w.transcript(), ["user", "reply", "shell:failed", "shell:ok"]);
    assert!(w.result(calls[0]).unwrap().contains("use make"));
    assert_eq!((w.starts(calls[0]), w.starts(calls[1])), (0, 1));
}

#[test]
fn a_denied_call_fails_with_the_reason() {
    let mut w = World::started();
    let calls = w.reply("", &[shell("rm").denied("outside the workspace"), read("f")]);
    w.finish(calls[1], true);
    assert_eq!(w.outcome(calls[0]), Some(CallOutcome::Refused));
    assert_eq!(w.result(calls[0]).unwrap(), "error: outside the workspace");
    assert!(w.is_thinking());
}

#[test]
fn the_first_decision_wins() {
    let mut w = World::started();
    let call = w.reply("", &[shell("c").asking()])[0];
    let approval = w.approval(call).id;
    w.decide(call, Decision::AllowOnce);
    let at = w.now;
    w.now = at.plus(60_000);
    for decision in [Decision::AllowOnce, Decision::RejectOnce] {
        let refusal =
            w.attempt(Command::Decide { approval, decision, note: None, rule: None, by: somebody() });
        assert_eq!(refusal, Err(Refusal::Decided(First { said: Decision::AllowOnce, at })));
    }
    assert_eq!(w.running(), [(call, 1)]);
}

#[test]
fn a_decision_after_the_task_ended_is_refused() {
    let mut w = World::started();
    let call = w.reply("", &[shell("c").asking()])[0];
    let approval = w.approval(call).id;
    w.stop("");
    let late =
        Command::Decide { approval, decision: Decision::AllowOnce, note: None, rule: None, by: somebody() };
    assert_eq!(w.attempt(late), Err(Refusal::NoApproval));
}

#[test]
fn ask_user_and_task_complete_come_after_the_ordinary_calls() {
    let mut w = World::started();
    let calls =
        w.reply("Almost there.", &[complete("All done."), ask("Keep it?"), update("half"), shell("c")]);
    assert_eq!(w.count(|b| matches!(b, RecordBody::Update(u) if u.text == "half")), 1);
    assert!(w.task().questions.is_empty());
    w.finish(calls[3], true);
    let question = w.question();
    assert_eq!(
        (question.text.as_str(), question.choices.len(), w.status()),
        ("Keep it?", 2, Status::WaitingUser)
    );
    w.answer(question.id, Some("yes")).unwrap();
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("All done.")));
    let told = ["user", "reply", "task_complete:ok", "ask_user:ok", "send_update:ok", "shell:ok"];
    assert_eq!(w.transcript(), told);
}

#[test]
fn task_complete_is_refused_if_another_call_of_the_reply_failed() {
    let failing: [fn(&mut World); 3] = [
        |w| {
            let calls = w.reply("", &[read("f"), complete("done")]);
            w.finish(calls[0], false);
        },
        |w| {
            let calls = w.reply("", &[complete("done"), shell("c").asking()]);
            w.decide(calls[1], Decision::RejectOnce);
        },
        |w| {
            w.reply("", &[shell("c").denied("no"), complete("done")]);
        },
    ];
    for fail in failing {
        let mut w = World::started();
        fail(&mut w);
        assert!(w.is_thinking() && w.end().is_none());
        assert!(w.transcript().contains(&"task_complete:failed".to_owned()));
        w.reply("", &[complete("Now it is.")]);
        assert_eq!(w.summary(), Some("Now it is."));
    }
}

#[test]
fn several_questions_of_one_reply_each_get_their_answer() {
    let mut w = World::started();
    w.reply("", &[ask("one"), ask("two")]);
    let open: Vec<_> = w.task().questions.values().cloned().collect();
    assert_eq!(open.len(), 2);
    w.answer(open[1].id, None).unwrap();
    assert!(!w.is_thinking());
    w.answer(open[0].id, Some("the blue one")).unwrap();
    assert!(w.is_thinking());
    assert!(w.result(open[0].call_id.unwrap()).unwrap().contains("the blue one"));
    assert!(w.result(open[1].call_id.unwrap()).unwrap().contains("declined"));
}

#[test]
fn a_reply_cut_at_the_length_limit_keeps_its_text_and_loses_its_calls() {
    let mut w = World::started();
    let calls = w.reply_as(StopReason::Length, "I will now", &[shell("rm -r")]);
    assert_eq!(w.starts(calls[0]), 0);
    assert_eq!(w.count(|b| matches!(b, RecordBody::CallAssessed(_))), 0);
    assert!(w.is_thinking());
    assert_eq!(w.transcript(), ["user", "reply", "note"]);
}

#[test]
fn a_call_that_was_not_assessed_is_refused() {
    let mut w = World::started();
    let (Input::Replied { task, item, mut replied }, calls) =
        w.replied(w.item(), StopReason::ToolCalls, "", &[read("1"), shell("2")])
    else {
        unreachable!()
    };
    replied.assessed.pop();
    w.input(Input::Replied { task, item, replied });
    w.finish(calls[0], true);
    assert_eq!(w.outcome(calls[1]), Some(CallOutcome::Refused));
    assert!(w.is_thinking());
}

#[test]
fn a_chat_is_done_after_one_reply_with_or_without_calls() {
    for (text, calls, summary, incomplete) in [
        ("Hello.", vec![], Some("Hello."), None),
        ("Hello.", vec![read("f")], Some("Hello."), None),
        ("", vec![complete("Hello.")], None, Some(Incomplete::Empty)),
    ] {
        let mut w = World::started_with(|head| head.mode = Mode::Chat);
        w.reply(text, &calls);
        assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), summary));
        assert_eq!(w.seen().incomplete, incomplete, "{text:?}");
        assert_eq!(w.transcript(), ["user", "reply"]);
        w.start(abide_protocol::record::TaskStarted { mode: Mode::Chat, ..head() }).unwrap();
        assert!(w.is_thinking());
    }
}
