//! Limits, the loop guard, and time.

use crate::{
    plan::{ask, complete, inference, read, shell},
    world::{World, somebody},
};
use abide_engine::{Command, Input, Refusal, Shown};
use abide_protocol::{
    CallId, QuestionId, Timestamp,
    inbox::{Decision, QuestionKind},
    message::CallOutcome,
    record::{By, Interruption, ModelErrorKind, NewRecord, NoticeKind, RecordBody, Via},
    task::{EndReason, PauseReason, Status},
    transcript::Usage,
};

fn with_steps(max_steps: u32) -> World {
    World::started_with(|head| head.limits.max_steps = max_steps)
}

/// Limited to 100 tokens, each reply uses 40.
fn with_budget() -> World {
    let mut w = World::started_with(|head| head.limits.max_tokens = 100);
    w.tokens = 40;
    w
}

fn step(w: &mut World, what: &str) {
    let call = w.reply("", &[read(what)])[0];
    w.finish(call, true);
}

#[test]
fn the_step_limit_ends_the_task_with_this_notice() {
    let mut w = with_steps(2);
    step(&mut w, "1");
    step(&mut w, "2");
    assert_eq!(w.end(), Some(EndReason::StepLimit));
    assert_eq!((w.status(), w.task().step), (Status::Completed, 2));
    assert_eq!(w.notice(), Some("I have reached the maximum number of steps. Stopping here."));
}

#[test]
fn the_last_step_may_complete_the_task() {
    let mut w = with_steps(2);
    step(&mut w, "1");
    w.reply("", &[complete("Done.")]);
    assert_eq!(w.end(), Some(EndReason::Completed));
}

#[test]
fn a_retry_is_not_a_new_step() {
    let mut w = with_steps(1);
    w.fail(ModelErrorKind::Network, true, None);
    w.sleep();
    assert!(w.is_thinking());
}

/// A lid that is closed for an hour, and a clock that is set.
#[test]
fn a_sleep_and_a_set_clock_are_no_work_and_move_no_deadline() {
    const HOUR: i64 = 3_600_000;
    for (slept, set_by) in [(3_600_000, 0), (0, 24 * HOUR), (0, -24 * HOUR), (3_600_000, -HOUR)] {
        let mut w = World::started_with(|head| {
            (head.limits.max_duration_secs, head.limits.step_delay_ms) = (100, 5_000);
        });
        w.pass(40_000);
        w.clock_moves(slept, set_by);
        w.wake();
        assert_eq!(w.end(), None, "{slept} {set_by}");
        w.fail(ModelErrorKind::RateLimited, true, Some(30_000));
        let due = w.wake_at().unwrap();
        w.clock_moves(0, set_by);
        assert_eq!(w.wake_at(), Some(due.moved_by(set_by)), "the next attempt");
        w.sleep();
        let call = w.reply("", &[read("f")])[0];
        w.finish(call, true);
        assert_eq!(w.wake_at(), Some(w.now.plus(5_000)));
        w.clock_moves(0, set_by);
        assert_eq!(w.wake_at(), Some(w.now.plus(5_000)), "the next step");
        w.sleep();
        w.pass(54_999);
        assert!(w.wake().is_empty() && w.end().is_none(), "{slept} {set_by}");
        w.pass(1);
        w.wake();
        assert_eq!(w.end(), Some(EndReason::TimeLimit), "100 s of work");
    }
}

#[test]
fn a_question_expires_after_its_time_also_if_the_clock_is_set_but_a_sleep_counts() {
    const DAY: i64 = 86_400_000;
    for (slept, set_by, left) in [(0, DAY, 60_000), (0, -DAY, 60_000), (20_000, 0, 40_000), (70_000, 0, 0)] {
        let mut w = World::started_with(|head| head.limits.question_timeout_secs = 60);
        w.reply("", &[ask("Which?")]);
        w.clock_moves(slept, set_by);
        assert_eq!(w.wake_at().unwrap().since(w.now), left, "{slept} {set_by}");
        w.sleep();
        assert_eq!(w.end(), Some(EndReason::QuestionTimeout));
    }
}

/// The daemon signs that it lives, so its end costs only what it worked since.
#[test]
fn work_counts_up_to_the_last_sign_of_life() {
    // When the daemon worked last, when it signed, and when the next one starts; what counts.
    let table = [(34, 60, 34), (0, 60, 2), (90, 60, 60), (1, 60, 2)];
    for (signed, started, counts) in table {
        let mut w = World::started_with(|head| head.limits.max_duration_secs = 1000);
        let began = w.now;
        w.pass(2_000);
        w.reply("", &[shell("sleep").contained()]);
        w.now = began.plus(started * 1000);
        w.input(Input::Interrupted {
            cause: Interruption::DaemonRestarted,
            findings: Vec::new(),
            ran_until: Some(began.plus(signed * 1000)),
        });
        let work = w.seen().work;
        assert_eq!(work.ms, counts * 1000, "signed at {signed} s, started at {started} s");
    }
}

#[test]
fn only_work_counts_for_the_time_limit() {
    const HOUR: u64 = 3_600_000;
    let mut w = World::started_with(|head| head.limits.max_duration_secs = 100);
    w.pass(30_000);
    let call = w.reply("", &[shell("c").asking()])[0];
    assert_eq!(w.wake_at(), None, "waiting for approval does not count");
    w.pass(HOUR);
    w.wake();
    w.decide(call, Decision::AllowOnce);
    w.pass(30_000);
    w.finish(call, true);
    w.reply("", &[ask("Which?")]);
    w.pass(HOUR);
    w.answer(w.question().id, Some("a")).unwrap();
    w.pass(10_000);
    w.pause();
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(w.wake_at(), None, "paused time does not count");
    w.pass(HOUR);
    w.resume();
    w.pass(10_000);
    w.restart();
    assert_eq!(w.wake_at().unwrap().since(w.now), 30_000, "time without a daemon does not count");
    w.pass(29_999);
    w.wake();
    assert_eq!((w.end(), w.running()), (None, vec![(call, 2)]));
    w.sleep();
    assert_eq!((w.end(), w.status()), (Some(EndReason::TimeLimit), Status::Completed));
    assert_eq!(w.notice(), Some("I have reached the time limit of 100 seconds. Stopping here."));
    assert_eq!(w.outcome(call), Some(CallOutcome::Cancelled));
}

#[test]
fn the_time_limit_records_the_shown_text_of_a_cut_off_reply() {
    let mut w = World::started_with(|head| head.limits.max_duration_secs = 100);
    let item = w.item();
    w.now = w.wake_at().unwrap();
    let records = w.input_shown(Input::Wake, Shown::from([(item, "Half a".to_owned())]));
    assert_eq!(w.end(), Some(EndReason::TimeLimit));
    let kept =
        |r: &NewRecord| matches!(&r.body, RecordBody::PartialReply(p) if r.id == item && p.text == "Half a");
    assert!(records.iter().any(kept), "{records:?}");
}

#[test]
fn a_limit_of_zero_is_no_limit() {
    let mut w = World::started();
    w.pass(u64::from(u32::MAX));
    w.wake();
    assert_eq!((w.end(), w.wake_at()), (None, None));
}

#[test]
fn a_budget_is_warned_about_once_then_asked_about_and_raised() {
    let mut w = with_budget();
    let warnings =
        |w: &World| w.count(|b| matches!(b, RecordBody::Notice(n) if n.about == NoticeKind::BudgetNear));
    step(&mut w, "1");
    assert_eq!(warnings(&w), 0);
    step(&mut w, "2");
    assert_eq!((warnings(&w), w.is_thinking()), (1, true), "at 80 % the work goes on");
    step(&mut w, "3");
    assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::Budget)));
    let question = w.question();
    assert_eq!(question.kind, QuestionKind::Budget);
    assert!(question.text.contains("120 of 100 tokens"), "{}", question.text);
    w.restart();
    assert_eq!(w.question(), question);
    w.answer(question.id, Some("go on")).unwrap();
    assert_eq!((w.task().limits.max_tokens, w.task().paused), (220, None));
    assert_eq!(w.task().limits.max_cost_micros, 0, "what has no limit gets none");
    assert!(w.is_thinking());
    step(&mut w, "4");
    assert_eq!(warnings(&w), 1);
    step(&mut w, "5");
    assert_eq!(warnings(&w), 2, "200 of 220: a warning for the new limit");
}

#[test]
fn what_a_model_beside_the_steps_has_used_counts() {
    let mut w = with_budget();
    let call = w.reply("", &[inference()])[0];
    w.restart();
    let mut finished = w.finished(call, 2, true);
    let used = Usage { input: 50, output: 20, model_calls: 1, cost_micros: Some(7), ..Usage::default() };
    if let Input::CallFinished { usage, .. } = &mut finished {
        *usage = Some(used);
    }
    w.input(finished);
    let all = w.task().usage;
    assert_eq!((all.tokens(), all.model_calls, all.cost_micros), (110, 2, Some(7)));
    assert_eq!(w.task().paused, Some(PauseReason::Budget));
    w.restart();
    assert_eq!(w.task().usage, all);
}

#[test]
fn no_model_is_asked_beside_the_steps_once_the_budget_is_used_up() {
    let mut w = with_budget();
    w.tokens = 100;
    let calls = w.reply("", &[inference(), read("1"), inference()]);
    assert_eq!(w.running(), [(calls[1], 1)], "what asks no model runs");
    w.finish(calls[1], true);
    for call in [calls[0], calls[2]] {
        assert_eq!(w.outcome(call), Some(CallOutcome::Refused));
        let words = "error: This task has used 100 of 100 tokens. So no model was asked.";
        assert_eq!(w.result(call).as_deref(), Some(words));
    }
    assert_eq!(w.task().paused, Some(PauseReason::Budget));
}

#[test]
fn resuming_a_budget_pause_answers_its_question() {
    let mut w = with_budget();
    for what in ["1", "2", "3"] {
        step(&mut w, what);
    }
    let question = w.question().id;
    let by = By { via: Via::Socket, name: "window".to_owned() };
    let records = w.input(Command::Resume { task: w.id, by: Some(by.clone()) });
    assert!(
        matches!(&records[0].body, RecordBody::QuestionAnswered(a) if a.by.as_ref() == Some(&by)),
        "the answer names who resumed: {:?}",
        records[0]
    );
    assert!(w.is_thinking());
    let late = w.answer(question, Some("stop"));
    assert!(matches!(late, Err(Refusal::Answered(first)) if first.said.as_deref() == Some("go on")));
}

#[test]
fn only_stop_or_a_declined_answer_ends_the_task_for_its_budget() {
    for no in [Some("stop"), None] {
        let mut w = with_budget();
        for what in ["1", "2", "3"] {
            step(&mut w, what);
        }
        let question = w.question();
        // Clients, not the engine, interpret what a person types here.
        for unclear in ["maybe later", "yes", "y", "no", "Go on", " stop "] {
            let unclear = w.answer(question.id, Some(unclear));
            assert_eq!(unclear, Err(Refusal::NotAChoice(question.choices.clone())));
        }
        assert_eq!(w.end(), None);
        w.answer(question.id, no).unwrap();
        assert_eq!((w.end(), w.status()), (Some(EndReason::Budget), Status::Cancelled));
    }
}

#[test]
fn a_cost_limit_pauses_and_asks_too() {
    let mut w = World::started_with(|head| {
        head.limits.max_cost_micros = 10_000;
        head.limits.max_tokens = 100;
    });
    let (mut input, _) = w.replied(w.item(), abide_protocol::transcript::StopReason::EndTurn, "Hm.", &[]);
    if let Input::Replied { replied, .. } = &mut input {
        replied.reply.usage.cost_micros = Some(12_000);
    }
    w.input(input);
    assert!(w.question().text.contains("$0.01 of $0.01"), "{}", w.question().text);
    w.answer(w.question().id, Some("go on")).unwrap();
    let limits = w.task().limits;
    assert_eq!(
        (limits.max_cost_micros, limits.max_tokens),
        (22_000, 100),
        "only the limit that was reached is raised"
    );
}

/// Four identical calls have run; a person is asked about the fifth.
fn looping() -> (World, CallId, QuestionId) {
    let mut w = World::started();
    for _ in 0..4 {
        step(&mut w, "same");
        assert!(w.is_thinking());
    }
    let fifth = w.reply("", &[read("same")])[0];
    let question = w.question();
    assert_eq!(
        (question.kind, question.call_id, w.status()),
        (QuestionKind::Loop, Some(fifth), Status::WaitingUser)
    );
    assert_eq!(w.running(), []);
    (w, fifth, question.id)
}

#[test]
fn the_fifth_identical_call_waits_for_a_person() {
    let (mut w, fifth, question) = looping();
    w.restart();
    assert_eq!(w.question().id, question);
    w.answer(question, Some("go on")).unwrap();
    assert_eq!(w.running(), [(fifth, 1)]);
    w.finish(fifth, true);
    for _ in 0..4 {
        step(&mut w, "same");
    }
    w.reply("", &[read("same")]);
    assert_eq!(w.question().kind, QuestionKind::Loop, "asked again after five more");
}

#[test]
fn a_loop_question_takes_stop_or_words_for_the_agent() {
    for no in [Some("stop"), None] {
        let (mut w, _, question) = looping();
        w.answer(question, no).unwrap();
        assert_eq!(w.end(), Some(EndReason::Stopped));
    }
    let (mut w, fifth, question) = looping();
    w.answer(question, Some("read the other file")).unwrap();
    assert_eq!((w.outcome(fifth), w.starts(fifth)), (Some(CallOutcome::Rejected), 0));
    assert!(w.result(fifth).unwrap().contains("read the other file"));
    assert!(w.is_thinking());
}

#[test]
fn a_call_that_differs_is_no_loop() {
    let mut w = World::started();
    for i in 0..12 {
        step(&mut w, if i % 4 == 3 { "other" } else { "same" });
    }
    assert!(w.is_thinking());
}

#[test]
fn identical_calls_of_one_reply_are_a_loop_too() {
    let mut w = World::started();
    let calls = w.reply("", &vec![read("same"); 6]);
    assert_eq!(w.question().call_id, Some(calls[4]));
    w.answer(w.question().id, Some("go on")).unwrap();
    assert_eq!(w.running().len(), 6);
}

#[test]
fn the_loop_question_comes_before_approvals_and_denials() {
    for plan in [shell("c").asking(), shell("c").denied("never")] {
        let mut w = World::started();
        for _ in 0..4 {
            let call = w.reply("", std::slice::from_ref(&plan))[0];
            if let Some(approval) = w.task().approvals.keys().next().copied() {
                w.input(Command::Decide {
                    approval,
                    decision: Decision::AllowOnce,
                    note: None,
                    rule: None,
                    by: somebody(),
                });
                w.finish(call, true);
            }
        }
        let fifth = w.reply("", std::slice::from_ref(&plan))[0];
        assert_eq!((w.question().kind, w.task().approvals.len()), (QuestionKind::Loop, 0));
        w.answer(w.question().id, Some("go on")).unwrap();
        assert_eq!(w.starts(fifth), 0, "going on is not an approval");
        assert!(w.status() == Status::WaitingApproval || w.outcome(fifth) == Some(CallOutcome::Refused));
    }
}

#[test]
fn resuming_does_not_answer_a_question_and_answering_does_not_resume() {
    let (mut w, fifth, question) = looping();
    w.pause();
    assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::User)));
    w.resume();
    assert_eq!((w.question().id, w.running()), (question, vec![]), "resuming is no answer");
    w.pause();
    w.answer(question, Some("go on")).unwrap();
    assert_eq!((w.status(), w.running()), (Status::Paused, vec![]), "an answer is no resuming");
    w.resume();
    assert_eq!(w.running(), [(fifth, 1)]);
}

#[test]
fn a_question_expires_only_with_a_question_timeout() {
    let mut w = World::started();
    w.reply("", &[ask("Which?")]);
    assert_eq!((w.question().expires_at, w.wake_at()), (None, None));

    let mut w = World::started_with(|head| head.limits.question_timeout_secs = 60);
    let call = w.reply("", &[ask("Which?")])[0];
    let question = w.question();
    assert_eq!(question.expires_at, w.wake_at());
    w.pass(59_999);
    w.wake();
    assert_eq!(w.end(), None);
    w.pause();
    assert_eq!(question.expires_at, w.wake_at(), "a pause does not stop the clock of a question");
    w.sleep();
    assert_eq!((w.end(), w.status()), (Some(EndReason::QuestionTimeout), Status::Cancelled));
    assert_eq!(w.outcome(call), Some(CallOutcome::Cancelled));
    assert_eq!(w.answer(question.id, Some("a")), Err(Refusal::Ended(EndReason::QuestionTimeout)));
}

#[test]
fn the_step_delay_separates_steps() {
    let mut w = World::started_with(|head| head.limits.step_delay_ms = 5_000);
    assert!(w.is_thinking(), "the first step begins at once");
    step(&mut w, "1");
    assert_eq!((w.status(), w.is_thinking()), (Status::Running, false));
    assert_eq!(w.wake_at().unwrap().since(w.now), 5_000);
    w.pass(4_999);
    w.wake();
    assert!(!w.is_thinking());
    w.pause();
    assert_eq!(w.wake_at(), None);
    w.pass(1);
    w.wake();
    assert!(!w.is_thinking());
    w.resume();
    assert!(w.is_thinking());
}

#[test]
fn without_a_delay_no_step_waits_for_a_clock_that_was_set_back() {
    let mut w = World::started();
    let call = w.reply("", &[read("1")])[0];
    w.pause();
    w.finish(call, true);
    w.now = Timestamp(w.now.0 - 60_000);
    w.resume();
    assert!(w.is_thinking());
}
