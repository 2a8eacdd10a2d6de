//! Sub-tasks that running code starts by its line.

use crate::{
    plan::{Plan, complete, fork, shell, wait},
    world::{World, tool},
};
use abide_engine::{Finding, Input, Refusal, result_of};
use abide_protocol::{
    CallId, TaskId,
    message::CallOutcome,
    record::{EditState, RecordBody, TaskStarted},
    task::{EndReason, Status},
    transcript::Entry,
};
use serde_json::Value;

/// A task whose call runs code.
fn running(change: impl FnOnce(&mut TaskStarted)) -> (World, CallId) {
    let mut w = World::started_with(|head| {
        head.tools = vec![tool()];
        change(head);
    });
    let call = w.reply("", &[shell("code")])[0];
    (w, call)
}

fn forked(w: &mut World, call: CallId, index: u32) -> TaskId {
    w.fork_by_line(call, 1, index).expect("it is started");
    *w.task().children.last().expect("it was started")
}

/// A call of a control tool, and its result.
fn call(w: &mut World, plan: Plan) -> String {
    let call = w.reply("", &[plan])[0];
    let text = |body: &RecordBody| match body {
        RecordBody::CallFinished(f) if f.call_id == call => Some(f.result.text()),
        _ => None,
    };
    w.records.iter().find_map(|record| text(&record.body)).expect("it is answered at once")
}

fn end(w: &mut World, child: TaskId, summary: &str) {
    let root = std::mem::replace(&mut w.id, child);
    w.reply("", &[complete(summary)]);
    w.id = root;
}

#[test]
fn code_starts_the_sub_task_that_the_control_tool_would() {
    let (mut w, code) = running(|_| {});
    let by_line = forked(&mut w, code, 0);
    assert_eq!(w.status(), Status::ToolExecuting, "the code goes on");
    assert_eq!(w.running().len(), 1);
    w.finish(code, true);
    call(&mut w, fork("Look at a half."));
    let by_tool = w.task().children[1];
    let head = |task: TaskId| TaskStarted {
        forked_by: None,
        ..(*w.history.task(task).expect("it is a sub-task").head).clone()
    };
    assert_eq!(head(by_line), head(by_tool));
    let by = w.history.task(by_line).and_then(|task| task.head.forked_by).expect("a call");
    assert_eq!((by.call_id, by.index), (code, 0));
    w.id = by_line;
    assert_eq!(w.transcript(), ["user", "note"]);
    assert!(w.is_thinking());
}

#[test]
fn the_same_fork_again_is_the_same_sub_task() {
    let (mut w, code) = running(|head| head.limits.max_children = 2);
    let (first, second) = (forked(&mut w, code, 0), forked(&mut w, code, 1));
    assert_ne!(first, second);
    assert_eq!(w.fork_by_line(code, 1, 0), Ok(Vec::new()), "also at the cap");
    end(&mut w, first, "Done.");
    assert_eq!(w.fork_by_line(code, 1, 0), Ok(Vec::new()), "also after its end");
    assert_eq!(w.task().children, [first, second]);
}

#[test]
fn only_the_attempt_that_runs_can_fork() {
    let mut w = World::started();
    let calls = w.reply("", &[shell("first"), shell("second")]);
    let stale = Err(Refusal::Stale);
    assert_eq!(w.fork_by_line(calls[1], 1, 0), stale, "it has not started");
    assert_eq!(w.fork_by_line(calls[0], 2, 0), stale, "another attempt runs");
    forked(&mut w, calls[0], 0);
    w.finish(calls[0], true);
    assert_eq!(w.fork_by_line(calls[0], 1, 0), stale, "it has ended");
    w.stop("");
    assert_eq!(w.fork_by_line(calls[1], 1, 0), Err(Refusal::Ended(EndReason::Stopped)));
    assert_eq!(w.history.tasks().len(), 2);
}

#[test]
fn a_fork_over_a_cap_is_refused_in_words() {
    let refused = |w: &mut World, code, index| match w.fork_by_line(code, 1, index) {
        Err(refusal @ Refusal::NotForked(_)) => refusal.to_string(),
        other => panic!("not refused: {other:?}"),
    };
    let (mut w, code) = running(|head| (head.limits.max_children, head.limits.max_tasks) = (1, 3));
    let first = forked(&mut w, code, 0);
    let words = refused(&mut w, code, 1);
    assert!(words.contains("1 are at work, the most at a time"), "{words}");
    end(&mut w, first, "Done.");
    let second = forked(&mut w, code, 1);
    end(&mut w, second, "Done.");
    let words = refused(&mut w, code, 2);
    assert!(words.contains("this task and its sub-tasks are 3"), "{words}");

    let (mut w, code) = running(|head| head.limits.max_depth = 1);
    w.id = forked(&mut w, code, 0);
    let deeper = w.reply("", &[shell("code")])[0];
    let words = refused(&mut w, deeper, 0);
    assert!(words.contains("at most 1 deep"), "{words}");
}

#[test]
fn code_that_a_crash_interrupts_names_its_sub_tasks_which_go_on() {
    let (mut w, code) = running(|_| {});
    let root = w.id;
    let (first, second) = (forked(&mut w, code, 0), forked(&mut w, code, 1));
    w.restart_with(|call| Finding { call, output: "Waiting.".to_owned(), edit: EditState::NotAnEdit });
    assert_eq!(w.outcome(code), Some(CallOutcome::Interrupted));
    let text = w.result(code).expect("a result");
    let named = format!("{} (Look at a half.), {} (Look at a half.)", first.short(), second.short());
    assert!(text.contains(&named) && text.contains("its effects are unknown"), "{text}");
    assert!(text.ends_with("Its output so far:\nWaiting."), "{text}");
    assert_eq!(w.fork_by_line(code, 1, 0), Err(Refusal::Stale));
    for child in [first, second] {
        end(&mut w, child, "It is 42.");
    }
    w.id = root;
    let results: Value = serde_json::from_str(&call(&mut w, wait(None))).expect("JSON");
    assert_eq!((&results[0]["result"], &results[1]["result"]), (&"It is 42.".into(), &"It is 42.".into()));
    assert_eq!(w.history.tasks().len(), 3, "none was started again");
}

/// A call that has started none says nothing about sub-tasks.
#[test]
fn an_interrupted_call_names_only_its_own_sub_tasks() {
    let (mut w, code) = running(|_| {});
    forked(&mut w, code, 0);
    w.finish(code, true);
    let other = w.reply("", &[shell("other")])[0];
    w.restart();
    let text = w.result(other).expect("a result");
    assert!(text.contains("Interrupted: ") && !text.contains("sub-task"), "{text}");
}

/// The code of the call has ended, and has read the results of these sub-tasks.
fn finish_having_read(w: &mut World, code: CallId, ok: bool, read: &[TaskId]) {
    let mut finished = w.finished(code, 1, ok);
    if let Input::CallFinished { read_results, .. } = &mut finished {
        *read_results = read.to_vec();
    }
    w.input(finished);
}

/// The sub-tasks of whose ends the model is sent a note.
fn noted(w: &World) -> Vec<TaskId> {
    let says = |entry: &Entry, child: &TaskId| matches!(entry, Entry::Note(text) if text.starts_with(&format!("Sub-task {} has ended", child.short())));
    let is_noted = |child: &TaskId| w.task().entries().iter().any(|entry| says(entry, child));
    w.task().children.iter().copied().filter(is_noted).collect()
}

#[test]
fn what_code_has_read_is_not_sent_to_the_model_as_a_note_too() {
    let (mut w, code) = running(|_| {});
    let (first, second) = (forked(&mut w, code, 0), forked(&mut w, code, 1));
    for child in [first, second] {
        end(&mut w, child, "It is 42.");
    }
    let stranger = w.id;
    finish_having_read(&mut w, code, true, &[first, stranger]);
    assert_eq!(noted(&w), [second]);
    let read = |body: &RecordBody| match body {
        RecordBody::CallFinished(f) if f.call_id == code => Some(f.read_results.clone()),
        _ => None,
    };
    assert_eq!(w.records.iter().find_map(|record| read(&record.body)), Some(vec![first]), "only a sub-task");
}

#[test]
fn what_code_has_read_before_it_failed_is_a_note() {
    let (mut w, code) = running(|_| {});
    let child = forked(&mut w, code, 0);
    end(&mut w, child, "It is 42.");
    finish_having_read(&mut w, code, false, &[child]);
    assert_eq!(noted(&w), [child]);
}

#[test]
fn a_task_may_end_beside_code_that_has_read_all_results() {
    for all in [true, false] {
        let mut w = World::started_with(|head| head.tools = vec![tool()]);
        let code = w.reply("", &[shell("code"), complete("It is 84.")])[0];
        let children = [forked(&mut w, code, 0), forked(&mut w, code, 1)];
        for child in children {
            end(&mut w, child, "It is 42.");
        }
        finish_having_read(&mut w, code, true, if all { &children } else { &children[..1] });
        assert_eq!(w.task().has_ended(), all, "otherwise there is something to read first");
    }
}

#[test]
fn a_result_for_code_is_that_of_the_control_tool() {
    let (mut w, code) = running(|_| {});
    let root = w.id;
    let (first, second) = (forked(&mut w, code, 0), forked(&mut w, code, 1));
    let seen = |w: &mut World, task| {
        w.id = task;
        let result = result_of(&w.seen());
        w.id = root;
        result
    };
    assert_eq!(seen(&mut w, first), None, "it is at work");
    end(&mut w, first, &"long ".repeat(10_000));
    w.id = second;
    w.fail(abide_protocol::record::ModelErrorKind::Auth, false, None);
    w.id = root;
    w.finish(code, true);
    for child in [first, second] {
        let of_tool: Value = serde_json::from_str(&call(&mut w, wait(Some(&child.short())))).expect("JSON");
        assert_eq!(seen(&mut w, child), Some(of_tool));
    }
}
