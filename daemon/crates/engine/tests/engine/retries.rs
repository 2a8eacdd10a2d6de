//! Model calls that fail.

use crate::{
    plan::{complete, read},
    world::World,
};
use abide_engine::{Input, ModelFailure, Refusal, Stage};
use abide_protocol::{
    record::{ModelErrorKind, RecordBody},
    task::{EndReason, Status},
    transcript::{Entry, StopReason},
};

#[test]
fn a_failed_call_is_tried_again_after_a_growing_while() {
    let mut w = World::started();
    let mut last = 0;
    for attempt in 1..8 {
        assert!(matches!(w.task().stage, Stage::Thinking { attempt: a, .. } if a == attempt));
        w.fail(ModelErrorKind::Overloaded, true, None);
        assert_eq!((w.status(), w.is_thinking()), (Status::Thinking, false));
        let wait = w.wake_at().unwrap().since(w.now);
        assert!(wait > last, "{wait} ms after {last} ms");
        last = wait;
        w.pass(wait - 1);
        w.wake();
        assert!(!w.is_thinking(), "not a moment too early");
        w.pass(1);
        w.wake();
    }
    assert_eq!(w.task().step, 1, "all of them are one step");
    w.reply("", &[complete("Done.")]);
    assert_eq!(w.end(), Some(EndReason::Completed));
    assert_eq!(
        w.transcript(),
        ["user", "reply", "task_complete:ok"],
        "failures leave no trace for the model"
    );
}

#[test]
fn the_providers_wish_is_heeded() {
    let mut w = World::started();
    w.fail(ModelErrorKind::RateLimited, true, Some(30_000));
    let wait = w.wake_at().unwrap().since(w.now);
    assert!((30_000..31_000).contains(&wait), "{wait} ms");
}

#[test]
fn the_last_attempt_ends_the_task() {
    let mut w = World::started();
    for _ in 1..12 {
        w.fail(ModelErrorKind::Network, true, None);
        w.sleep();
    }
    w.fail(ModelErrorKind::Network, true, None);
    assert_eq!(w.end(), Some(EndReason::Error));
    assert_eq!(w.notice(), Some("it failed: Network"));
}

#[test]
fn what_cannot_go_well_is_not_tried_again() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Auth, false, None);
    assert_eq!(w.end(), Some(EndReason::Error));
    assert!(
        matches!(&w.task().stage, Stage::Ended { end, .. } if end.error.as_deref() == Some("it failed: Auth"))
    );
    assert_eq!(w.count(|b| matches!(b, RecordBody::ModelFailed(f) if f.retry_at.is_none())), 1);
}

#[test]
fn a_context_overflow_leaves_out_the_oldest_results_and_ends_the_task_when_none_is_left() {
    let mut w = World::started();
    for round in 0..3 {
        let call = w.reply("", &[read(&round.to_string())])[0];
        w.finish(call, true);
    }
    let whole = |w: &World| -> Vec<bool> {
        w.history
            .entries()
            .iter()
            .filter_map(|e| if let Entry::Result(r) = e { Some(r.text == "fine") } else { None })
            .collect()
    };
    assert_eq!(whole(&w), [true, true, true]);
    for left in [[false, false, true], [false, false, false]] {
        w.fail(ModelErrorKind::ContextOverflow, false, None);
        assert!(w.is_thinking(), "asked again at once");
        assert_eq!(whole(&w), left);
    }
    w.restart();
    assert_eq!(whole(&w), [false; 3], "it stays that way");
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert_eq!(w.end(), Some(EndReason::Error));
}

#[test]
fn outcomes_of_attempts_that_no_longer_count_are_refused() {
    let mut w = World::started();
    let first = w.item();
    w.fail(ModelErrorKind::Network, true, None);
    let failure = || ModelFailure {
        kind: ModelErrorKind::Network,
        message: String::new(),
        retryable: true,
        retry_after_ms: None,
    };
    for _ in 0..2 {
        let (reply, _) = w.replied(first, StopReason::EndTurn, "late", &[]);
        assert_eq!(w.attempt(reply), Err(Refusal::Stale));
        let failed = Input::ModelFailed { task: w.id, item: first, failure: failure() };
        assert_eq!(w.attempt(failed), Err(Refusal::Stale));
        if !w.is_thinking() {
            w.sleep();
        }
    }
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(w.attempt(w.finished(call, 2, true)), Err(Refusal::Stale), "an attempt that never was");
    w.finish(call, true);
    assert_eq!(w.attempt(w.finished(call, 1, false)), Err(Refusal::Stale), "the same one twice");
}

#[test]
fn a_paused_task_does_not_try_again_before_it_is_resumed() {
    let mut w = World::started();
    w.pause();
    w.fail(ModelErrorKind::Network, true, None);
    assert_eq!((w.status(), w.wake_at()), (Status::Paused, None));
    w.pass(3_600_000);
    w.wake();
    assert!(!w.is_thinking());
    w.resume();
    assert!(w.is_thinking());
}
