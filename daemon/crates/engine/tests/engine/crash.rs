//! What happens to interrupted work, for each row of the recovery table.

use crate::{
    plan::{ask, read, shell, write},
    world::{World, somebody},
};
use abide_engine::{CallStage, EditState, Refusal, Stage};
use abide_protocol::{
    CallId,
    inbox::{Decision, QuestionKind},
    message::CallOutcome,
    record::{Interruption, ModelErrorKind, RecordBody},
    task::{EndReason, PauseReason, RestartPolicy, Status},
    transcript::StopReason,
};

#[test]
fn a_model_call_in_flight_is_asked_again_and_its_late_reply_does_not_count() {
    let mut w = World::started();
    let lost = w.item();
    w.restart();
    assert_ne!(w.item(), lost);
    assert!(matches!(w.task().stage, Stage::Thinking { attempt: 2, .. }));
    assert_eq!(w.task().step, 1);
    let withdrawn = |body: &RecordBody| matches!(body, RecordBody::ModelFailed(f) if f.item == lost && f.kind == ModelErrorKind::Interrupted);
    assert_eq!(w.count(withdrawn), 1);
    let (late, _) = w.replied(lost, StopReason::ToolCalls, "", &[shell("rm")]);
    assert_eq!(w.attempt(late), Err(Refusal::Stale));
    assert_eq!(w.transcript(), ["user"]);
}

#[test]
fn an_approved_call_that_had_not_started_starts_once_without_asking_again() {
    let mut w = World::started();
    let calls = w.reply("", &[shell("first").asking(), shell("second").asking()]);
    w.decide(calls[1], Decision::AllowOnce);
    w.restart();
    assert_eq!(w.running(), []);
    w.decide(calls[0], Decision::AllowOnce);
    w.finish(calls[0], true);
    assert_eq!(w.running(), [(calls[1], 1)]);
    assert_eq!(w.count(|b| matches!(b, RecordBody::ApprovalRequested(_))), 2);
}

/// (call, inspection result, attempts in all, its outcome if it does not run again)
#[test]
fn a_started_call_is_recovered_by_its_effect_class() {
    let interrupted = Some(CallOutcome::Interrupted);
    let table = [
        (read("f"), EditState::NotAnEdit, 2, None),
        (read("f"), EditState::Unknown, 2, None),
        (write("f"), EditState::NotDone, 2, None),
        (write("f"), EditState::Done, 1, Some(CallOutcome::Done)),
        (write("f"), EditState::Unknown, 1, interrupted),
        (write("f"), EditState::NotAnEdit, 1, interrupted),
        (shell("c"), EditState::NotAnEdit, 1, interrupted),
        (shell("c"), EditState::NotDone, 1, interrupted),
        (shell("c"), EditState::Done, 1, interrupted),
        (shell("c").yes(), EditState::Unknown, 1, interrupted),
    ];
    for (plan, edit, starts, outcome) in table {
        let case = format!("{} found {edit:?}", plan.tool);
        let mut w = World::started();
        let call = w.reply("", &[plan])[0];
        w.restart_finding(edit, "half a line");
        assert_eq!(w.starts(call), starts, "{case}");
        assert_eq!(w.outcome(call), outcome, "{case}");
        assert!(w.task().questions.is_empty(), "{case}: no person had approved it");
        if outcome.is_none() {
            assert_eq!(w.running(), [(call, 2)], "{case}");
            assert_eq!(
                w.attempt(w.finished(call, 1, true)),
                Err(Refusal::Stale),
                "{case}: a late first attempt"
            );
            w.finish(call, true);
        }
        assert!(w.is_thinking(), "{case}: the model is told");
        let told = w.result(call).expect("the call has its result");
        assert_eq!(told.contains("effects are unknown"), outcome == interrupted, "{case}: {told}");
        assert_eq!(told.contains("half a line"), outcome == interrupted, "{case}: {told}");
    }
}

#[test]
fn a_call_without_a_finding_runs_again_only_if_it_is_pure() {
    for (plan, again) in [(read("f"), true), (write("f"), false), (shell("c"), false)] {
        let mut w = World::started();
        let call = w.reply("", &[plan])[0];
        w.restart_with(|_| abide_engine::Finding {
            call: CallId(uuid::Uuid::nil()),
            output: String::new(),
            edit: EditState::NotDone,
        });
        assert_eq!(!w.running().is_empty(), again);
        assert_eq!(w.starts(call), if again { 2 } else { 1 });
    }
}

#[test]
fn an_interrupted_call_that_a_person_approved_opens_a_blocking_question() {
    for (plan, edit, asks) in [
        (shell("c"), EditState::NotAnEdit, true),
        (write("f"), EditState::Unknown, true),
        (write("f"), EditState::Done, false),
        (write("f"), EditState::NotDone, false),
        (read("f"), EditState::NotAnEdit, false),
    ] {
        let (case, told) = (format!("{} found {edit:?}", plan.tool), format!("{}:failed", plan.tool));
        let mut w = World::started();
        let call = w.reply("", &[plan.asking()])[0];
        w.decide(call, Decision::AllowOnce);
        w.restart_finding(edit, "");
        if !asks {
            assert!(w.task().questions.is_empty(), "{case}");
            continue;
        }
        let question = w.question();
        assert_eq!((question.kind, question.call_id), (QuestionKind::Interrupted, Some(call)), "{case}");
        assert_eq!(
            (w.status(), w.running(), w.is_thinking()),
            (Status::WaitingUser, vec![], false),
            "{case}: it blocks"
        );
        w.restart();
        assert_eq!(w.question(), question, "{case}: asked once");
        w.answer(question.id, Some("it happened")).unwrap();
        assert!(w.is_thinking(), "{case}");
        assert_eq!(w.transcript()[2..], [told, "note".to_owned()], "{case}");
    }
}

#[test]
fn the_answer_about_an_interrupted_call_comes_after_all_results_of_its_reply() {
    let mut w = World::started();
    let calls = w.reply("", &[shell("c").asking(), read("f")]);
    w.decide(calls[0], Decision::AllowOnce);
    w.restart();
    assert_eq!(w.running(), [], "the question blocks the call behind it");
    w.answer(w.question().id, Some("it did not")).unwrap();
    assert_eq!(w.running(), [(calls[1], 1)]);
    w.finish(calls[1], true);
    assert_eq!(w.transcript(), ["user", "reply", "shell:failed", "read:ok", "note"]);
}

#[test]
fn open_questions_and_approvals_stay_open_under_their_ids() {
    let mut w = World::started();
    let call = w.reply("", &[shell("c").asking()])[0];
    let approval = w.approval(call);
    w.restart();
    assert_eq!((w.approval(call), w.status()), (approval.clone(), Status::WaitingApproval));
    w.decide(call, Decision::RejectOnce);
    w.reply("", &[ask("Which?")]);
    let question = w.question();
    w.restart();
    assert_eq!((w.question(), w.status()), (question.clone(), Status::WaitingUser));
    w.answer(question.id, Some("a")).unwrap();
    w.restart();
    assert!(
        matches!(w.answer(question.id, Some("b")), Err(Refusal::Answered(first)) if first.said.as_deref() == Some("a"))
    );
    let again = abide_engine::Command::Decide {
        approval: approval.id,
        decision: Decision::AllowOnce,
        note: None,
        rule: None,
        by: somebody(),
    };
    assert!(matches!(w.attempt(again), Err(Refusal::Decided(first)) if first.said == Decision::RejectOnce));
}

#[test]
fn three_deaths_without_progress_pause_the_task() {
    for plan in [None, Some(read("f"))] {
        let mut w = World::started();
        if let Some(plan) = plan {
            w.reply("", &[plan]);
        }
        w.restart();
        w.restart();
        assert!(w.task().in_flight(), "two deaths do not pause it");
        w.restart();
        assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::CrashLoop)));
        assert!(!w.task().in_flight());
        w.restart();
        assert!(!w.task().in_flight(), "it stays paused");
        assert_eq!(w.question().kind, QuestionKind::Restart);
        w.resume();
        assert_eq!(w.task().questions.len(), 0, "a resume is the answer");
        assert!(w.task().in_flight());
        w.restart();
        w.restart();
        assert!(w.task().in_flight(), "the count starts again");
    }
}

/// Nothing waits unseen: questions are in the inbox.
#[test]
fn a_pause_by_the_daemon_asks_whether_to_go_on() {
    let in_crash_loop = || {
        let mut w = World::started();
        (0..3).for_each(|_| w.restart());
        w
    };
    let after_restart = || {
        let mut w = World::started_with(|head| head.restart = RestartPolicy::Pause);
        w.restart();
        w
    };
    let pauses: [&dyn Fn() -> World; 2] = [&in_crash_loop, &after_restart];
    for paused in pauses {
        let mut w = paused();
        let question = w.question();
        assert_eq!(
            (w.status(), question.choices.as_slice()),
            (Status::Paused, ["go on", "stop"].map(String::from).as_slice())
        );
        w.answer(question.id, Some("go on")).unwrap();
        assert_eq!((w.task().paused, w.is_thinking()), (None, true));

        let mut w = paused();
        w.answer(w.question().id, Some("stop")).unwrap();
        assert_eq!(w.end(), Some(EndReason::Stopped));
    }
}

#[test]
fn waiting_for_a_retry_does_not_count_as_a_crash_loop() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Overloaded, true, Some(599_000));
    for _ in 0..5 {
        w.restart();
        assert_eq!((w.status(), w.task().paused), (Status::Thinking, None));
    }
    w.sleep();
    assert!(w.task().in_flight(), "it is due");
}

#[test]
fn progress_between_deaths_resets_the_crash_loop() {
    let mut w = World::started();
    for i in 0..10 {
        w.restart();
        let call = w.reply("", &[read(&format!("{i}"))])[0];
        w.restart();
        w.finish(call, true);
    }
    assert!(w.is_thinking());
}

#[test]
fn a_call_that_ended_is_progress() {
    let mut w = World::started();
    let calls = w.reply("", &["1", "2", "3", "4", "5"].map(write));
    for call in calls {
        w.restart_finding(EditState::NotDone, "");
        assert_eq!(w.running(), [(call, 2)]);
        w.finish(call, true);
    }
    assert!(w.is_thinking());
}

#[test]
fn a_task_that_waits_for_a_person_is_not_interrupted() {
    for restart in [RestartPolicy::Resume, RestartPolicy::Ask, RestartPolicy::Pause] {
        for plan in [ask("Which?"), shell("c").asking()] {
            let mut w = World::started_with(|head| head.restart = restart);
            w.reply("", &[plan]);
            let (before, pending) =
                (w.status(), abide_engine::view(conversation(), &w.history, w.task()).pending);
            for _ in 0..5 {
                w.restart();
            }
            let after = abide_engine::view(conversation(), &w.history, w.task());
            assert_eq!(
                (w.status(), after.pending, after.pause_reason),
                (before, pending, None),
                "{restart:?}"
            );
        }
    }
}

#[test]
fn the_restart_policy_decides_about_interrupted_work() {
    for thinking in [true, false] {
        let interrupted = |restart| {
            let mut w = World::started_with(|head| head.restart = restart);
            if !thinking {
                w.reply("", &[read("f")]);
            }
            w.restart();
            w
        };
        assert!(interrupted(RestartPolicy::Resume).task().in_flight());

        let mut w = interrupted(RestartPolicy::Pause);
        assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::Restart)));
        w.resume();
        assert!(w.task().in_flight());

        let mut w = interrupted(RestartPolicy::Ask);
        assert_eq!((w.status(), w.question().kind), (Status::WaitingUser, QuestionKind::Restart));
        assert!(!w.task().in_flight(), "nothing starts before the answer");
        w.restart();
        w.answer(w.question().id, Some("go on")).unwrap();
        assert!(w.task().in_flight());

        let mut w = interrupted(RestartPolicy::Ask);
        w.answer(w.question().id, Some("stop")).unwrap();
        assert_eq!(w.end(), Some(EndReason::Stopped));
    }
}

/// The daemon itself has cancelled the work: the same recovery table, but no crash is counted or mentioned.
#[test]
fn an_append_that_failed_interrupts_work_without_being_a_crash() {
    for restart in [RestartPolicy::Resume, RestartPolicy::Ask, RestartPolicy::Pause] {
        let mut w = World::started_with(|head| head.restart = restart);
        for _ in 0..5 {
            let item = w.item();
            w.input(w.interrupted(Interruption::AppendFailed));
            assert!(w.is_thinking() && w.item() != item, "{restart:?}: it goes on with another attempt");
        }
        let call = w.reply("", &[shell("c").asking()])[0];
        w.decide(call, Decision::AllowOnce);
        w.input(w.interrupted(Interruption::AppendFailed));
        assert_eq!((w.outcome(call), w.task().paused), (Some(CallOutcome::Interrupted), None));
        let question = w.question();
        w.answer(question.id, Some("it happened")).unwrap();
        let told = w.result(call).expect("it has its result");
        assert!(told.contains("effects are unknown"), "{told}");
        assert!(w.count(|body| format!("{body:?}").contains("daemon stopped")) == 0);
        assert!(w.count(|body| matches!(body, RecordBody::Restarted(r) if r.without_progress > 0)) == 0);
    }
}

#[test]
fn a_stop_is_sticky() {
    let mut w = World::started();
    let call = w.reply("", &[shell("c")])[0];
    w.stop("");
    for _ in 0..3 {
        w.restart();
        assert_eq!((w.end(), w.running()), (Some(EndReason::Stopped), vec![]));
    }
    assert_eq!(w.attempt(w.finished(call, 1, true)), Err(Refusal::Ended(EndReason::Stopped)));
    let restarted = w.interrupted(Interruption::DaemonRestarted);
    assert_eq!(w.attempt(restarted), Ok(vec![]));
}

#[test]
fn a_paused_task_stays_paused_and_its_unsafe_call_is_not_run_again() {
    let mut w = World::started();
    let calls = w.reply("", &[read("f"), shell("c")]);
    w.finish(calls[0], true);
    w.pause();
    assert_eq!(w.status(), Status::ToolExecuting, "a running call goes on");
    w.restart();
    assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::User)));
    w.resume();
    assert!(w.is_thinking());
    assert_eq!(w.transcript(), ["user", "reply", "read:ok", "shell:failed"]);
}

#[test]
fn a_scheduled_retry_keeps_its_time_over_a_restart() {
    let mut w = World::started();
    w.fail(ModelErrorKind::RateLimited, true, Some(300_000));
    w.restart();
    assert!(!w.is_thinking(), "one minute of five has passed");
    w.sleep();
    assert!(w.is_thinking());
}

#[test]
fn all_parallel_calls_run_again() {
    let mut w = World::started();
    let calls = w.reply("", &[read("1"), read("2"), shell("c")]);
    w.finish(calls[0], true);
    w.restart();
    assert_eq!(w.running(), [(calls[1], 2)]);
    assert!(matches!(w.task().call(calls[2]).unwrap().stage, CallStage::Allowed));
}

fn conversation() -> abide_protocol::ConversationId {
    abide_protocol::ConversationId(uuid::Uuid::nil())
}

/// The model call's record says why it has no reply.
#[test]
fn an_interrupted_model_call_says_what_interrupted_it() {
    let table = [
        (Interruption::DaemonRestarted, "The daemon stopped during this model call."),
        (
            Interruption::AppendFailed,
            "A record could not be stored, so the daemon cancelled this model call.",
        ),
    ];
    for (cause, words) in table {
        let mut w = World::started();
        let interrupted = w.interrupted(cause);
        w.input(interrupted);
        assert_eq!(w.count(|body| matches!(body, RecordBody::ModelFailed(f) if f.message == words)), 1);
    }
}
