//! Sub-tasks: each has its own transcript, calls, limits and state, ends with its parent, and delivers its
//! result to it.

use crate::{
    plan::{ask, complete, read, shell, wait},
    world::{World, head},
};
use abide_engine::{Command, Effect, Refusal, Shown, effects, is_at_work, status, wake_at};
use abide_protocol::{
    TaskId,
    inbox::QuestionKind,
    record::{ModelErrorKind, NewRecord, RecordBody, TaskStarted},
    task::{EndReason, PauseReason, RestartPolicy, Status},
    transcript::Entry,
};

/// A root task, a child, and the child's child.
fn three() -> (World, [TaskId; 3]) {
    let mut w = World::started();
    let root = w.id;
    let child = w.fork(root, |_| {});
    let grandchild = w.fork(child, |_| {});
    (w, [root, child, grandchild])
}

/// The tasks that these records end, in order, with their reasons.
fn ends(records: &[NewRecord]) -> Vec<(TaskId, EndReason)> {
    let end = |record: &NewRecord| match &record.body {
        RecordBody::TaskEnded(end) => Some((record.task_id?, end.reason)),
        _ => None,
    };
    records.iter().filter_map(end).collect()
}

/// The tasks whose results these records deliver, each with the task that gets it.
fn deliveries(records: &[NewRecord]) -> Vec<(TaskId, TaskId)> {
    let delivered = |record: &NewRecord| match &record.body {
        RecordBody::ResultsDelivered(d) => Some((d.tasks[0], record.task_id?)),
        _ => None,
    };
    records.iter().filter_map(delivered).collect()
}

fn at_work(w: &World) -> Vec<TaskId> {
    effects(&w.history).iter().map(Effect::task).collect()
}

#[test]
fn tasks_of_a_tree_run_in_parallel_each_with_its_own_transcript() {
    let (mut w, [root, child, grandchild]) = three();
    assert_eq!(at_work(&w), [grandchild, child, root], "each has a model call");
    w.id = child;
    let call = w.reply("", &[read("f")])[0];
    assert_eq!(w.transcript(), ["user", "reply"]);
    w.finish(call, true);
    assert_eq!(w.transcript(), ["user", "reply", "read:ok"]);
    for (task, depth) in [(root, 0), (grandchild, 2)] {
        w.id = task;
        assert_eq!((w.transcript(), w.task().head.depth), (vec!["user".to_owned()], depth));
    }
    assert_eq!(w.seen().parent_id, Some(child));
    w.id = root;
    assert_eq!(w.seen().children, [child]);
    w.reply("", &[shell("c")]);
    assert_eq!(w.running().len(), 1);
    assert_eq!(w.replayed(), w.history);
}

/// For each way in which a sub-task ends by itself.
#[test]
fn a_result_is_delivered_to_the_parent_once_in_the_append_of_the_end() {
    type Ending = fn(&mut World) -> Vec<NewRecord>;
    let finish: Ending = |w| {
        let replied = w.replied(
            w.item(),
            abide_protocol::transcript::StopReason::ToolCalls,
            "",
            &[complete("Found it.")],
        );
        w.input(replied.0)
    };
    let stop: Ending = |w| w.input(Command::Stop { task: w.id });
    let fail: Ending = |w| w.fail(ModelErrorKind::Auth, false, None);
    let time_out: Ending = |w| {
        w.reply("", &[ask("Which?")]);
        w.sleep()
    };
    let step_limit: Ending = |w| {
        let call = w.reply("", &[read("f")])[0];
        w.input(w.finished(call, 1, true))
    };
    let table = [
        (finish, EndReason::Completed, "Found it."),
        (stop, EndReason::Stopped, "cancelled: stopped"),
        (fail, EndReason::Error, "it failed: Auth"),
        (time_out, EndReason::QuestionTimeout, "cancelled: no answer"),
        (step_limit, EndReason::StepLimit, "step limit reached"),
    ];
    for (end, reason, told) in table {
        let mut w = World::started();
        let root = w.id;
        let child = w.fork(root, |head| {
            head.limits.question_timeout_secs = 60;
            head.limits.max_steps = 1;
        });
        let records = end(&mut w);
        assert_eq!(
            (ends(&records), deliveries(&records)),
            (vec![(child, reason)], vec![(child, root)]),
            "{reason:?}"
        );
        assert_eq!(w.task().entries(), [], "its transcript is dropped");
        w.id = root;
        assert_eq!(w.transcript(), ["user"], "{reason:?}: it comes after the outstanding reply");
        w.reply("Hm.", &[]);
        assert_eq!(w.transcript()[..3], ["user", "reply", "note"], "{reason:?}");
        let Some(Entry::Note(note)) = w.task().entries().get(2) else { panic!("it is a note") };
        assert!(note.contains(told) && note.contains(&child.short()), "{note}");
        assert_eq!(w.count(|body| matches!(body, RecordBody::ResultsDelivered(_))), 1, "{reason:?}");
    }
}

#[test]
fn a_result_comes_after_the_parents_open_calls() {
    let mut w = World::started();
    let root = w.id;
    let call = w.reply("", &[shell("c")])[0];
    w.fork(root, |_| {});
    w.reply("", &[complete("Done.")]);
    w.id = root;
    assert_eq!(w.transcript(), ["user", "reply"]);
    w.finish(call, true);
    assert_eq!(w.transcript(), ["user", "reply", "shell:ok", "note"]);
}

#[test]
fn a_result_delivered_during_a_failed_attempt_is_in_the_next_request() {
    let mut w = World::started();
    let root = w.id;
    w.fork(root, |_| {});
    w.reply("", &[complete("Done.")]);
    w.id = root;
    w.fail(ModelErrorKind::Overloaded, true, None);
    w.sleep();
    assert!(w.is_thinking());
    assert_eq!(w.transcript(), ["user", "note"]);
}

#[test]
fn a_stop_ends_all_beneath_deepest_first_in_one_append() {
    let (mut w, [root, child, grandchild]) = three();
    let sibling = w.fork(root, |_| {});
    let call = w.reply("", &[shell("c")])[0];
    w.id = grandchild;
    let shown = Shown::from([(w.item(), "Half a".to_owned())]);
    let records = w.input_shown(Command::Stop { task: root }, shown);
    let ended: Vec<TaskId> = ends(&records).into_iter().map(|(task, _)| task).collect();
    assert_eq!(ended, [sibling, grandchild, child, root]);
    assert!(ends(&records)[..3].iter().all(|(_, reason)| *reason == EndReason::ParentEnded));
    assert_eq!((deliveries(&records), at_work(&w)), (vec![], vec![]));
    let partial =
        |record: &NewRecord| matches!(&record.body, RecordBody::PartialReply(p) if p.text == "Half a");
    let kept: Vec<_> = records.iter().filter(|record| partial(record)).map(|record| record.task_id).collect();
    assert_eq!(kept, [Some(grandchild)], "its shown text is kept");
    assert!(w.outcome(call).is_some(), "its call has its result");
    w.id = sibling;
    assert_eq!((w.end(), w.status()), (Some(EndReason::ParentEnded), Status::Cancelled));
    w.id = root;
    assert_eq!(w.end(), Some(EndReason::Stopped));
}

#[test]
fn stopping_a_child_ends_only_the_tasks_beneath_it() {
    let (mut w, [root, child, grandchild]) = three();
    w.id = child;
    let call = w.reply("", &[shell("c")])[0];
    let sibling = w.fork(root, |_| {});
    let records = w.input(Command::Stop { task: child });
    assert_eq!(ends(&records), [(grandchild, EndReason::ParentEnded), (child, EndReason::Stopped)]);
    assert_eq!(deliveries(&records), [(child, root)]);
    assert_eq!(at_work(&w), [sibling, root]);
    assert_eq!(w.attempt(Command::Stop { task: grandchild }), Err(Refusal::Ended(EndReason::ParentEnded)));
    w.id = child;
    assert_eq!(w.fork_by_line(call, 1, 0), Err(Refusal::Ended(EndReason::Stopped)));
}

/// For each way in which the root ends.
#[test]
fn when_a_root_ends_all_tasks_beneath_it_end() {
    let ended_by = |change: fn(&mut TaskStarted), end: fn(&mut World) -> Vec<NewRecord>| {
        let mut w = World::started_with(change);
        let root = w.id;
        let child = w.fork(root, |_| {});
        w.id = root;
        let records = end(&mut w);
        assert_eq!(ends(&records)[0], (child, EndReason::ParentEnded));
        assert_eq!((deliveries(&records), at_work(&w)), (vec![], vec![]));
        ends(&records)[1].1
    };
    let time = ended_by(|head| head.limits.max_duration_secs = 60, World::sleep);
    let steps = ended_by(
        |head| head.limits.max_steps = 1,
        |w| {
            let call = w.reply("", &[read("f")])[0];
            w.input(w.finished(call, 1, true))
        },
    );
    let error = ended_by(|_| {}, |w| w.fail(ModelErrorKind::Auth, false, None));
    let refused = ended_by(
        |head| head.restart = RestartPolicy::Ask,
        |w| {
            w.restart();
            w.answer(w.question().id, Some("stop")).unwrap()
        },
    );
    assert_eq!(
        [time, steps, error, refused],
        [EndReason::TimeLimit, EndReason::StepLimit, EndReason::Error, EndReason::Stopped]
    );
}

#[test]
fn parent_and_child_that_expire_together_end_once_each() {
    let mut w = World::started_with(|head| head.limits.max_duration_secs = 60);
    let root = w.id;
    let child = w.fork(root, |head| head.limits.max_duration_secs = 60);
    let sibling = w.fork(root, |_| {});
    w.pass(60_000);
    let records = w.wake();
    let expected =
        [(child, EndReason::TimeLimit), (sibling, EndReason::ParentEnded), (root, EndReason::TimeLimit)];
    assert_eq!((ends(&records), deliveries(&records)), (expected.to_vec(), vec![]));
}

#[test]
fn a_pause_holds_all_beneath_and_a_resume_releases_them() {
    let (mut w, [root, child, grandchild]) = three();
    w.id = child;
    let call = w.reply("", &[read("f")])[0];
    w.id = root;
    w.pause();
    w.id = child;
    assert_eq!(w.status(), Status::ToolExecuting, "a running call goes on");
    w.finish(call, true);
    w.id = grandchild;
    w.fail(ModelErrorKind::Overloaded, true, None);
    w.id = root;
    w.reply("", &[read("f")]);
    assert_eq!(at_work(&w), []);
    for task in [root, child, grandchild] {
        w.id = task;
        assert_eq!((w.status(), w.seen().pause_reason), (Status::Paused, Some(PauseReason::User)));
        assert_eq!((is_at_work(w.task()), wake_at(w.task()), w.seen().retry), (false, None, None));
    }
    w.pass(3_600_000);
    w.wake();
    assert_eq!(at_work(&w), []);
    let late = w.fork(child, |_| {});
    assert_eq!((w.status(), at_work(&w)), (Status::Paused, vec![]), "a task started during a pause is held");
    w.id = child;
    w.pause();
    w.id = root;
    w.resume();
    assert_eq!(at_work(&w), [root], "only one of the two pauses is over");
    w.id = child;
    w.resume();
    assert_eq!(at_work(&w), [late, grandchild, child, root]);
}

/// A held task is shown as paused, but a resume of it would change nothing.
#[test]
fn resuming_a_held_task_names_the_task_that_holds_it() {
    let (mut w, [root, child, grandchild]) = three();
    let resume = |task| Command::Resume { task, by: None };
    assert_eq!(w.attempt(resume(grandchild)), Err(Refusal::NotPaused));
    w.id = root;
    w.pause();
    assert_eq!(w.attempt(resume(grandchild)), Err(Refusal::Held(root)));
    w.id = child;
    w.pause();
    assert_eq!(w.attempt(resume(grandchild)), Err(Refusal::Held(child)), "the nearest of two");
    w.resume();
    assert_eq!(w.attempt(resume(child)), Err(Refusal::Held(root)), "its own pause is over");
    w.id = root;
    w.resume();
    assert_eq!(w.attempt(resume(child)), Err(Refusal::NotPaused));
}

#[test]
fn resuming_a_task_beneath_a_question_about_a_restart_names_the_task_that_asks() {
    let mut w = World::started_with(|head| head.restart = RestartPolicy::Ask);
    let root = w.id;
    let child = w.fork(root, |_| {});
    w.restart();
    w.id = root;
    assert_eq!(w.question().kind, QuestionKind::Restart);
    assert_eq!(w.attempt(Command::Resume { task: child, by: None }), Err(Refusal::Held(root)));
}

/// A pause is not work: no task's clock runs in it.
#[test]
fn time_beneath_a_pause_does_not_count() {
    let mut w = World::started();
    let root = w.id;
    let child = w.fork(root, |head| head.limits.max_duration_secs = 60);
    w.reply("", &[ask("Which?")]);
    w.answer(w.question().id, Some("a")).unwrap();
    w.fail(ModelErrorKind::Overloaded, true, None);
    w.id = root;
    w.pause();
    w.pass(3_600_000);
    w.resume();
    w.id = child;
    assert_eq!((w.status(), w.end()), (Status::Thinking, None));
}

/// What any task has recorded shows that the daemon was there.
#[test]
fn the_time_up_to_the_newest_record_of_any_task_counts_after_a_crash() {
    let mut w = World::started();
    let root = w.id;
    let child = w.fork(root, |_| {});
    w.id = root;
    let call = w.reply("", &[read("f")])[0];
    w.pass(20_000);
    w.id = child;
    w.reply("", &[read("f")]);
    w.restart();
    assert_eq!(w.seen().work.ms, 20_000);
    w.id = root;
    assert_eq!(w.seen().work.ms, 20_000);
    w.pass(1_000);
    w.finish(call, true);
    assert_eq!(w.seen().work.ms, 21_000, "the time without a daemon does not count");
}

#[test]
fn a_crash_restarts_the_tasks_at_work_and_the_root() {
    let (mut w, [root, child, grandchild]) = three();
    let waits = w.fork(root, |_| {});
    w.reply("", &[ask("Which?")]);
    w.id = root;
    w.reply("", &[ask("What?")]);
    let before = w.records.len();
    w.restart();
    let restarted: Vec<_> = w.records[before..]
        .iter()
        .filter(|record| matches!(record.body, RecordBody::Restarted(_)))
        .filter_map(|record| record.task_id)
        .collect();
    assert_eq!(restarted, [root, child, grandchild]);
    assert_eq!(at_work(&w), [grandchild, child], "they go on");
    assert_eq!(w.status(), Status::WaitingUser);
    w.id = waits;
    assert_eq!(w.status(), Status::WaitingUser);
}

#[test]
fn the_roots_restart_policy_decides_for_the_tree() {
    let interrupted = |restart| {
        let mut w = World::started_with(|head| head.restart = restart);
        let root = w.id;
        w.reply("", &[ask("What?")]);
        // Its own policy does not count.
        let child = w.fork(root, |head| head.restart = RestartPolicy::Pause);
        w.restart();
        w.id = root;
        (w, child)
    };
    let (w, child) = interrupted(RestartPolicy::Resume);
    assert_eq!(at_work(&w), [child]);

    let (mut w, child) = interrupted(RestartPolicy::Pause);
    assert_eq!((w.task().paused, at_work(&w)), (Some(PauseReason::Restart), vec![]));
    w.resume();
    assert_eq!(at_work(&w), [child]);

    let (mut w, child) = interrupted(RestartPolicy::Ask);
    let asks =
        |w: &World| w.task().questions.values().find(|q| q.kind == QuestionKind::Restart).map(|q| q.id);
    assert_eq!((status(w.history.task(child).unwrap()), at_work(&w)), (Status::Paused, vec![]));
    let question = asks(&w).expect("it asks");
    w.answer(question, Some("go on")).unwrap();
    assert_eq!(at_work(&w), [child]);
}

#[test]
fn a_tree_in_a_crash_loop_is_paused_at_its_root() {
    let mut w = World::started();
    let root = w.id;
    w.reply("", &[ask("What?")]);
    let child = w.fork(root, |_| {});
    w.restart();
    w.restart();
    assert_eq!(at_work(&w), [child], "two deaths do not pause it");
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    w.restart();
    w.restart();
    assert_eq!(at_work(&w), [child], "progress anywhere in the tree counts");
    w.restart();
    w.id = root;
    assert_eq!((w.task().paused, at_work(&w)), (Some(PauseReason::CrashLoop), vec![]));
    w.resume();
    assert_eq!(at_work(&w), [child]);
}

#[test]
fn only_the_long_transcript_of_a_tree_is_elided() {
    let mut w = World::started();
    let root = w.id;
    let call = w.reply("", &[read("f")])[0];
    w.finish(call, true);
    w.fork(root, |_| {});
    let own = w.reply("", &[read("f")])[0];
    w.finish(own, true);
    w.fail(ModelErrorKind::ContextOverflow, false, None);
    assert!(w.is_thinking(), "it is tried again");
    assert!(w.result(own).is_some_and(|text| text.contains("left out")));
    w.id = root;
    assert_eq!(w.result(call).as_deref(), Some("fine"));
}

#[test]
fn the_next_root_goes_on_with_the_transcript_of_the_last_one() {
    let (mut w, [root, ..]) = three();
    w.id = root;
    w.stop("");
    w.start(head()).unwrap();
    assert_eq!((w.transcript(), w.history.tasks().len()), (vec!["user".to_owned(); 2], 1));
    assert_eq!(w.attempt(Command::Pause { task: root }), Err(Refusal::NoTask));
}

/// The task between them waits for the one below, and ends with the one above: its call gets one result.
#[test]
fn the_questions_of_a_root_and_of_a_grandchild_expire_at_the_same_moment() {
    let limited = |head: &mut TaskStarted| head.limits.question_timeout_secs = 60;
    let mut w = World::started_with(limited);
    let root = w.id;
    let child = w.fork(root, limited);
    let grandchild = w.fork(child, limited);
    w.id = child;
    let waits = w.reply("", &[wait(None)])[0];
    for asking in [root, grandchild] {
        w.id = asking;
        w.reply("", &[ask("Which one?")]);
    }
    w.id = root;
    let records = w.sleep();
    let results = records
        .iter()
        .filter(|record| matches!(&record.body, RecordBody::CallFinished(f) if f.call_id == waits));
    assert_eq!(results.count(), 1);
    let (own, with_parent) = (EndReason::QuestionTimeout, EndReason::ParentEnded);
    assert_eq!(ends(&records), [(grandchild, own), (child, with_parent), (root, own)]);
}
