//! Model calls that fail.

use crate::{
    plan::{complete, read},
    world::World,
};
use abide_engine::{Command, Input, ModelFailure, Refusal, Shown, Stage, Traces};
use abide_protocol::{
    inbox::QuestionKind,
    record::{ModelErrorKind, NewRecord, RecordBody, Trace},
    task::{EndReason, PauseReason, RestartPolicy, Status, Work},
    transcript::{Entry, StopReason},
};

#[test]
fn a_failed_model_call_is_retried_with_growing_delays() {
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
        assert!(!w.is_thinking(), "not too early");
        w.pass(1);
        w.wake();
    }
    assert_eq!(w.task().step, 1, "all of them are one step");
    w.reply("", &[complete("Done.")]);
    assert_eq!(w.end(), Some(EndReason::Completed));
    assert_eq!(w.transcript(), ["user", "reply", "task_complete:ok"], "failures are not in the transcript");
}

#[test]
fn retry_after_is_respected() {
    let mut w = World::started();
    w.fail(ModelErrorKind::RateLimited, true, Some(30_000));
    let wait = w.wake_at().unwrap().since(w.now);
    assert!((30_000..31_000).contains(&wait), "{wait} ms");
}

/// A limit that ends in an hour, for example of a subscription.
#[test]
fn a_long_limit_parks_the_task_until_it_ends() {
    const HOUR: u64 = 3_600_000;
    let mut w = World::started_with(|head| head.limits.max_duration_secs = 60);
    w.pass(10_000);
    w.fail(ModelErrorKind::RateLimited, true, Some(HOUR));
    let until = w.now.plus(HOUR);
    assert_eq!((w.status(), w.task().paused), (Status::Paused, Some(PauseReason::Parked)));
    let question = w.question().clone();
    assert_eq!((question.kind, question.expires_at), (QuestionKind::Parked, Some(until)));
    assert!(question.text.starts_with("it failed: RateLimited. "), "{}", question.text);
    assert_eq!((w.wake_at(), w.seen().retry.map(|retry| retry.next_at)), (Some(until), Some(until)));
    w.restart();
    assert_eq!(w.status(), Status::Paused, "a restart leaves it parked");
    assert!(w.wake().is_empty(), "not too early");
    w.sleep();
    assert!(w.is_thinking() && w.task().questions.is_empty(), "it goes on by itself");
    w.pass(40_000);
    w.reply("", &[complete("Done.")]);
    assert_eq!(w.end(), Some(EndReason::Completed), "the wait is no work");
}

#[test]
fn a_parked_task_goes_on_at_once_when_a_person_says_so_and_can_be_stopped() {
    for by_answer in [true, false] {
        let mut w = World::started();
        w.fail(ModelErrorKind::RateLimited, true, Some(7_200_000));
        w.pass(1_000);
        if by_answer {
            w.answer(w.question().id, Some("go on")).unwrap();
        } else {
            w.resume();
        }
        assert!(w.is_thinking() && w.task().questions.is_empty(), "by an answer: {by_answer}");
        w.fail(ModelErrorKind::RateLimited, true, Some(7_199_000));
        assert_eq!(w.task().paused, Some(PauseReason::Parked), "the limit still lasts");
        w.answer(w.question().id, Some("stop")).unwrap();
        assert_eq!(w.end(), Some(EndReason::Stopped));
    }
}

#[test]
fn what_follows_a_limit_depends_on_its_length_and_on_the_configuration() {
    let table = [
        (true, Some(599_999), None),
        (true, Some(600_000), Some(600_000)),
        (true, Some(u64::MAX), Some(8 * 24 * 3_600_000)),
        (false, Some(599_999), None),
    ];
    for (parks, retry_after, parked) in table {
        let mut w = World::started_with(|head| head.parks = parks);
        w.fail(ModelErrorKind::RateLimited, true, retry_after);
        let is_parked = w.task().paused == Some(PauseReason::Parked);
        assert_eq!((w.end(), is_parked), (None, parked.is_some()), "{parks} {retry_after:?}");
        if let Some(ms) = parked {
            assert_eq!(w.wake_at(), Some(w.now.plus(ms)));
        }
    }
    let mut w = World::started_with(|head| head.parks = false);
    w.fail(ModelErrorKind::RateLimited, true, Some(600_000));
    assert_eq!(w.end(), Some(EndReason::Error), "it does not park");
}

#[test]
fn a_limit_without_a_time_parks_the_task_after_the_last_attempt() {
    let mut w = World::started();
    for _ in 1..12 {
        w.fail(ModelErrorKind::RateLimited, true, None);
        assert_eq!(w.task().paused, None);
        w.sleep();
    }
    for _ in 0..2 {
        w.fail(ModelErrorKind::RateLimited, true, None);
        assert_eq!((w.task().paused, w.wake_at()), (Some(PauseReason::Parked), Some(w.now.plus(900_000))));
        w.sleep();
        assert!(w.is_thinking());
    }
}

/// For example a chat template that a conversation does not fit.
#[test]
fn a_server_that_fails_three_times_in_the_same_way_is_not_asked_on_and_on() {
    let mut w = World::started();
    for _ in 1..3 {
        w.fail(ModelErrorKind::ServerError, true, None);
        assert_eq!((w.task().paused, w.end()), (None, None));
        w.sleep();
    }
    w.fail(ModelErrorKind::ServerError, true, None);
    assert_eq!((w.task().paused, w.end()), (Some(PauseReason::Parked), None), "a person may mend the server");
    w.sleep();
    w.fail(ModelErrorKind::ServerError, true, None);
    assert_eq!(w.end(), Some(EndReason::Error), "nobody did");
    let mut w = World::started();
    for kind in [ModelErrorKind::ServerError, ModelErrorKind::Overloaded].into_iter().cycle().take(11) {
        w.fail(kind, true, None);
        assert_eq!(w.end(), None, "these are different failures");
        w.sleep();
    }
}

#[test]
fn waiting_for_another_attempt_is_no_work() {
    let mut w = World::started_with(|head| head.limits.max_duration_secs = 100);
    w.pass(60_000);
    w.fail(ModelErrorKind::RateLimited, true, Some(300_000));
    assert_eq!(w.seen().work, Work { ms: 60_000, since: None });
    w.sleep();
    assert!(w.is_thinking());
    w.pass(39_999);
    assert!(w.wake().is_empty() && w.end().is_none());
    w.pass(1);
    w.wake();
    assert_eq!(w.end(), Some(EndReason::TimeLimit));
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
fn a_provider_that_was_never_reached_is_given_up_within_a_minute() {
    let mut w = World::started();
    let began = w.now;
    for attempt in 2..=5 {
        w.fail(ModelErrorKind::Unreachable, true, None);
        let retry = w.seen().retry.expect("it is tried again");
        assert_eq!((retry.attempt, retry.of, retry.kind), (attempt, 5, ModelErrorKind::Unreachable));
        assert_eq!((retry.reason.as_str(), Some(retry.next_at)), ("it failed: Unreachable", w.wake_at()));
        w.sleep();
        assert_eq!(w.seen().retry, Some(retry), "the attempt is under way");
    }
    w.fail(ModelErrorKind::Unreachable, true, None);
    assert_eq!((w.end(), w.seen().retry), (Some(EndReason::Error), None));
    let ms = w.now.since(began);
    assert!((20_000..60_000).contains(&ms), "{ms} ms");
}

/// For example a server that restarts during a task, or a laptop that changes networks.
#[test]
fn a_provider_that_was_reached_is_retried_longer() {
    let mut w = World::started();
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    for attempt in 2..=12 {
        w.fail(ModelErrorKind::Unreachable, true, None);
        let retry = w.seen().retry.expect("it is tried again");
        assert_eq!((retry.attempt, retry.of), (attempt, 12));
        w.sleep();
    }
    w.fail(ModelErrorKind::Unreachable, true, None);
    assert_eq!(w.end(), Some(EndReason::Error));
}

#[test]
fn a_providers_error_reply_counts_as_reached() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Overloaded, true, None);
    w.sleep();
    w.fail(ModelErrorKind::Unreachable, true, None);
    assert_eq!(w.seen().retry.map(|retry| (retry.attempt, retry.of)), Some((3, 12)));
}

#[test]
fn a_call_is_no_retry_any_more_once_its_reply_is_there() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Stalled, true, None);
    w.sleep();
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(w.seen().retry, None, "its call runs");
    w.finish(call, true);
    assert_eq!((w.is_thinking(), w.seen().retry), (true, None), "the next model call");
}

/// The model did not fail.
#[test]
fn a_call_that_the_daemon_interrupted_is_no_retry_when_it_is_made_again() {
    let mut w = World::started();
    w.restart();
    assert_eq!((w.is_thinking(), w.seen().retry), (true, None));
    w.fail(ModelErrorKind::Overloaded, true, None);
    assert_eq!(w.seen().retry.map(|retry| retry.attempt), Some(3));
}

#[test]
fn a_call_that_waits_for_a_person_is_no_retry() {
    let mut w = World::started_with(|head| head.restart = RestartPolicy::Ask);
    w.restart();
    assert_eq!((w.status(), w.seen().retry), (Status::WaitingUser, None));
    let mut w = World::started();
    w.fail(ModelErrorKind::Overloaded, true, None);
    w.pause();
    assert_eq!(w.seen().retry, None);
}

#[test]
fn every_request_sent_counts_as_a_model_call() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Unreachable, true, None);
    assert_eq!(w.task().usage.model_calls, 0, "nothing was sent");
    w.sleep();
    w.fail(ModelErrorKind::Overloaded, true, None);
    assert_eq!(w.task().usage.model_calls, 1);
    w.sleep();
    w.restart();
    assert_eq!(w.task().usage.model_calls, 2, "the one that the daemon's death cut off");
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(w.task().usage.model_calls, 3);
    w.finish(call, true);
    w.stop("");
    assert_eq!(w.task().usage.model_calls, 4, "the one that the stop cut off");
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn a_stop_between_two_attempts_counts_no_call() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Overloaded, true, None);
    w.stop("");
    assert_eq!(w.task().usage.model_calls, 1);
}

#[test]
fn a_stop_between_two_attempts_records_the_shown_text_of_the_broken_reply() {
    let mut w = World::started();
    let item = w.item();
    w.fail(ModelErrorKind::Network, true, None);
    w.stop("Half a sen");
    let partial = |r: &&NewRecord| matches!(&r.body, RecordBody::PartialReply(p) if p.text == "Half a sen");
    assert_eq!(w.records.iter().find(partial).map(|r| r.id), Some(item));
    assert_eq!(w.transcript(), ["user", "partial"]);
}

#[test]
fn the_failure_of_the_last_attempt_records_the_shown_text() {
    let mut w = World::started();
    let failure = ModelFailure {
        kind: ModelErrorKind::Malformed,
        message: "no".to_owned(),
        retryable: false,
        retry_after_ms: None,
        sent: true,
        shown: "Half a".to_owned(),
    };
    let (task, item) = (w.id, w.item());
    w.input(Input::ModelFailed { task, item, failure, traces: Traces::default() });
    assert_eq!(w.end(), Some(EndReason::Error));
    assert_eq!(w.transcript(), ["user", "partial"]);
}

#[test]
fn the_next_attempt_drops_the_shown_text_of_the_broken_reply() {
    let mut w = World::started();
    let item = w.item();
    w.fail(ModelErrorKind::Network, true, None);
    w.sleep();
    w.input_shown(Command::Stop { task: w.id }, Shown::from([(item, "Half a".to_owned())]));
    assert_eq!(w.transcript(), ["user"]);
}

#[test]
fn traces_are_recorded_with_the_attempts_outcome() {
    let kept = Traces { kept: vec![Trace { what: "odd".to_owned(), raw: "?".to_owned() }], left_out: 0 };
    let left_out = Traces { kept: Vec::new(), left_out: 2 };
    let is_traced = |body: &RecordBody, attempt, traces: &Traces| {
        matches!(body, RecordBody::ModelTraced(t)
            if t.attempt == attempt && (&t.traces, t.left_out) == (&traces.kept, traces.left_out))
    };
    let mut w = World::started();
    let failure = ModelFailure {
        kind: ModelErrorKind::Malformed,
        message: "no".to_owned(),
        retryable: true,
        retry_after_ms: None,
        sent: true,
        shown: String::new(),
    };
    let failed = Input::ModelFailed { task: w.id, item: w.item(), failure, traces: kept.clone() };
    let records = w.input(failed);
    assert!(is_traced(&records[0].body, 1, &kept) && matches!(records[1].body, RecordBody::ModelFailed(_)));
    w.sleep();
    let (mut input, _) = w.replied(w.item(), StopReason::EndTurn, "Done.", &[]);
    if let Input::Replied { replied, .. } = &mut input {
        replied.traces = left_out.clone();
    }
    let records = w.input(input);
    assert!(is_traced(&records[0].body, 2, &left_out) && matches!(records[1].body, RecordBody::Reply(_)));
    w.reply("Done.", &[]);
    assert_eq!(w.count(|body| matches!(body, RecordBody::ModelTraced(_))), 2, "none without traces");
}

#[test]
fn a_failure_that_is_not_retryable_ends_the_task() {
    let mut w = World::started();
    w.fail(ModelErrorKind::Auth, false, None);
    assert_eq!(w.end(), Some(EndReason::Error));
    assert!(
        matches!(&w.task().stage, Stage::Ended { end, .. } if end.error.as_deref() == Some("it failed: Auth"))
    );
    assert_eq!(w.count(|b| matches!(b, RecordBody::ModelFailed(f) if f.retry_at.is_none())), 1);
}

#[test]
fn a_context_overflow_elides_the_oldest_results_then_shortens_old_steps() {
    let mut w = World::started();
    for round in 0..3 {
        let call = w.reply("", &[read(&round.to_string())])[0];
        w.finish(call, true);
    }
    let whole = |w: &World| -> Vec<bool> {
        w.task()
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
    assert_eq!(whole(&w), [false; 3], "they stay elided");
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert!(w.is_thinking(), "asked again at once");
    // The three newest steps stay whole: the second, the third, and the one that has just begun.
    assert_eq!(w.transcript(), ["user", "note", "reply", "read:ok", "reply", "read:ok"]);
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert_eq!(w.end(), Some(EndReason::Error), "nothing is left that could be left out");
}

/// A tool's output may equal the text of an elided result; it is elided like any other.
#[test]
fn an_output_equal_to_the_elision_text_is_elided_too() {
    let mut w = World::started();
    let call = w.reply("", &[read("f")])[0];
    let note = "[This output was left out to fit the model's context.]";
    let mut finished = w.finished(call, 1, true);
    if let Input::CallFinished { result, .. } = &mut finished {
        note.clone_into(&mut result.message);
    }
    w.input(finished);
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert!(w.is_thinking(), "it is asked again, with less");
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert_eq!(w.end(), Some(EndReason::Error), "nothing is left to elide");
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
        sent: true,
        shown: String::new(),
    };
    for _ in 0..2 {
        let (reply, _) = w.replied(first, StopReason::EndTurn, "late", &[]);
        assert_eq!(w.attempt(reply), Err(Refusal::Stale));
        let failed =
            Input::ModelFailed { task: w.id, item: first, failure: failure(), traces: Traces::default() };
        assert_eq!(w.attempt(failed), Err(Refusal::Stale));
        if !w.is_thinking() {
            w.sleep();
        }
    }
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(
        w.attempt(w.finished(call, 2, true)),
        Err(Refusal::Stale),
        "an attempt that was never started"
    );
    w.finish(call, true);
    assert_eq!(w.attempt(w.finished(call, 1, false)), Err(Refusal::Stale), "the same outcome twice");
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
