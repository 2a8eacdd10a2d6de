//! `fork`, `wait` and `tell`: how a task starts sub-tasks, waits for them and speaks with them.

use crate::{
    plan::{Plan, ask, complete, fork, read, shell, tell, wait},
    world::{World, prompts, tool},
};
use abide_engine::{Command, Intervention, Refusal, StartBeneath};
use abide_protocol::{
    CallId, JsonText, TaskId, Timestamp,
    inbox::{Decision, QuestionKind},
    message::CallOutcome,
    record::{By, ClientMessage, NewRecord, RecordBody, TaskStarted, Via},
    task::{Approvals, EndReason, Limits, Mode, PauseReason, Status},
    transcript::{Entry, StopReason},
};
use serde_json::json;
use std::collections::BTreeMap;

fn started(change: impl FnOnce(&mut TaskStarted)) -> World {
    World::started_with(|head| {
        head.tools = vec![tool()];
        change(head);
    })
}

/// Calls a control tool: its result, and the append.
fn call(w: &mut World, plan: Plan) -> (String, Vec<NewRecord>) {
    let (input, ids) = w.replied(w.item(), StopReason::ToolCalls, "", &[plan]);
    let records = w.input(input);
    (result(w, ids[0]), records)
}

/// The text of a call's result, or nothing while it has none.
fn result(w: &World, call: CallId) -> String {
    let of_call = w.records.iter().find_map(|record| match &record.body {
        RecordBody::CallFinished(f) if f.call_id == call => Some(f.result.text()),
        _ => None,
    });
    of_call.unwrap_or_default()
}

/// Forks a sub-task of the current task.
fn forked(w: &mut World) -> TaskId {
    let (text, _) = call(w, fork("Look at the first half."));
    let child = *w.task().children.last().expect("it was started");
    assert_eq!(text, format!(r#"{{"handle":"{}"}}"#, child.short()));
    child
}

/// The sub-task completes; the helpers use the root again afterwards. Returns the append.
fn end(w: &mut World, child: TaskId, summary: &str) -> Vec<NewRecord> {
    let root = std::mem::replace(&mut w.id, child);
    let (_, records) = call(w, complete(summary));
    w.id = root;
    records
}

fn kinds(records: &[NewRecord], task: TaskId) -> Vec<&'static str> {
    let of_task = records.iter().filter(|record| record.task_id == Some(task));
    of_task
        .map(|record| match &record.body {
            RecordBody::Reply(_) => "reply",
            RecordBody::CallAssessed(_) => "assessed",
            RecordBody::CallFinished(_) => "finished",
            RecordBody::TaskStarted(_) => "started",
            RecordBody::UserMessage(_) => "prompt",
            RecordBody::Nudge(_) => "note",
            RecordBody::ModelRequested(_) => "requested",
            RecordBody::TaskEnded(_) => "ended",
            RecordBody::ResultsDelivered(_) => "delivered",
            _ => "other",
        })
        .collect()
}

#[test]
fn a_fork_starts_an_agent_in_the_append_of_the_calls_end() {
    let mut w = started(|head| {
        head.system_prompt = "The rules of roa.".to_owned();
        head.child_system_prompt = Some("The rules of an agent.".to_owned());
        (head.mode, head.prompts) = (Mode::Roa, prompts(Mode::Roa));
        head.limits = Limits { max_steps: 3, max_duration_secs: 60, max_tokens: 9_000, ..head.limits };
    });
    w.reply("{}", &[]);
    let root = w.id;
    let (_, records) = call(&mut w, fork(r"Read the files.\nAll of them."));
    let child = w.task().children[0];
    assert_eq!(kinds(&records, child), ["started", "prompt", "note", "requested"]);
    assert!(kinds(&records, root).contains(&"finished"));
    w.id = child;
    let head = w.task().head.clone();
    assert_eq!((head.parent_id, head.depth, head.mode), (Some(root), 1, Mode::Agent));
    assert_eq!(
        (head.system_prompt.as_str(), head.title.as_str()),
        ("The rules of an agent.", "Read the files.")
    );
    let limits = head.limits;
    assert_eq!(
        (limits.max_steps, limits.max_duration_secs, limits.max_tokens),
        (50, 0, 0),
        "the root's hold"
    );
    let tools: Vec<&str> = head.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["read", "task_complete", "ask_user", "send_update", "fork", "wait", "tell"]);
    assert_eq!(w.transcript(), ["user", "note"]);
    assert_eq!(w.replayed(), w.history);
}

/// A client finds a task by the ids that it gave that task, and a task names who has started it.
#[test]
fn a_sub_task_has_all_of_its_parents_head_but_what_is_the_roots_alone() {
    let mut w = started(|head| {
        (head.mode, head.prompts) = (Mode::Roa, prompts(Mode::Roa));
        head.child_system_prompt = Some("The rules of an agent.".to_owned());
        head.workspace = "/work".to_owned();
        head.environment = BTreeMap::from([("PATH".to_owned(), "/bin".to_owned())]);
        head.approvals = Approvals::AllowAll;
        head.persona = Some("reviewer".to_owned());
        head.files = vec!["a.txt".to_owned()];
        (head.compact_at_tokens, head.checkpoints) = (9, true);
        head.limits = Limits { max_cost_micros: 5_000_000, question_timeout_secs: 7, ..head.limits };
        head.metadata = Some(JsonText::from(json!({"ticket": 7})));
        head.client_message = Some(ClientMessage { id: "1".to_owned(), digest: String::new() });
        head.external_id = Some("build-7".to_owned());
        head.by = Some(By { via: Via::Socket, name: "abide".to_owned() });
    });
    w.reply("{}", &[]);
    let root = w.task().head.clone();
    let (_, records) = call(&mut w, fork("Look."));
    let started = records.iter().find_map(|record| match &record.body {
        RecordBody::TaskStarted(head) => Some(head),
        _ => None,
    });
    let child = started.expect("it was started");
    let note = root.prompts.iter().filter(|(name, _)| *name == "child");
    let expected = TaskStarted {
        parent_id: Some(w.id),
        depth: 1,
        mode: Mode::Agent,
        system_prompt: "The rules of an agent.".to_owned(),
        tools: child.tools.clone(),
        limits: Limits { max_steps: 50, max_cost_micros: 0, ..root.limits },
        original_prompt: "Look.".to_owned(),
        title: "Look.".to_owned(),
        forked_by: child.forked_by,
        metadata: None,
        client_message: None,
        external_id: None,
        by: None,
        child_system_prompt: None,
        prompts: note.map(|(name, text)| (name.clone(), text.clone())).collect(),
        ..(*root).clone()
    };
    assert_eq!(**child, expected);
}

#[test]
fn a_client_starts_a_sub_task_with_the_caps_of_a_fork() {
    let mut w = started(|head| head.limits = Limits { max_children: 1, ..head.limits });
    w.reply("{}", &[]);
    let by = By { via: Via::Http, name: "phone".to_owned() };
    let (parent, child) = (w.id, TaskId(w.mint().uuid()));
    let start = |task: TaskId| {
        Command::StartBeneath(Box::new(StartBeneath {
            task,
            parent,
            prompt: "Look.".to_owned(),
            tools: Some(vec!["read".to_owned()]),
            metadata: None,
            client_message: None,
            external_id: Some("mine".to_owned()),
            by: by.clone(),
        }))
    };
    let records = w.input(start(child));
    assert_eq!(kinds(&records, child), ["started", "prompt", "note", "requested"]);
    let head = w.history.task(child).expect("it was started").head.clone();
    assert_eq!((head.parent_id, head.forked_by, head.by.as_ref()), (Some(parent), None, Some(&by)));
    assert_eq!((head.external_id.as_deref(), head.depth), (Some("mine"), 1));
    let other = TaskId(w.mint().uuid());
    assert!(
        matches!(w.attempt(start(other)), Err(Refusal::NotForked(why)) if why.contains("the most at a time"))
    );
    let ended = end(&mut w, child, "42");
    assert!(kinds(&ended, parent).contains(&"delivered"), "{ended:?}");
    w.input(Command::Stop { task: parent });
    assert!(w.attempt(start(other)).is_err(), "the parent has ended");
}

#[test]
fn the_tools_of_a_sub_task_are_only_fewer() {
    let mut w = started(|_| {});
    let named = |names: &str| fork("").arguments(&format!(r#"{{"prompt":"Go.","tools":{names}}}"#));
    let (refused, _) = call(&mut w, named(r#"["read","shell"]"#));
    assert!(refused.contains("you have no tool `shell`. You have: read."), "{refused}");
    assert_eq!(w.task().children, []);
    call(&mut w, named("[]"));
    w.id = w.task().children[0];
    assert!(w.task().head.tools.iter().all(|tool| tool.name != "read"));
}

#[test]
fn caps_are_refused_in_words_and_start_nothing() {
    let mut w = started(|head| (head.limits.max_children, head.limits.max_tasks) = (1, 3));
    let root = w.id;
    let first = forked(&mut w);
    let (refused, _) = call(&mut w, fork("More."));
    assert!(refused.contains("1 are at work, the most at a time"), "{refused}");
    end(&mut w, first, "Done.");
    forked(&mut w);
    w.id = *w.history.task(root).unwrap().children.last().unwrap();
    let (refused, _) = call(&mut w, fork("And more."));
    assert!(refused.contains("this task and its sub-tasks are 3"), "{refused}");

    let mut w = started(|head| head.limits.max_depth = 1);
    w.id = forked(&mut w);
    let (refused, _) = call(&mut w, fork("Deeper."));
    assert!(refused.contains("at most 1 deep"), "{refused}");
    assert_eq!(w.history.tasks().len(), 2);

    let mut w = started(|head| {
        (head.limits.max_depth, head.limits.max_children, head.limits.max_tasks) = (0, 0, 0);
    });
    forked(&mut w);
    forked(&mut w);
    assert_eq!(w.history.tasks().len(), 3, "0 is no limit");
}

#[test]
fn a_wait_ends_with_the_sub_task_in_one_append_and_again_gives_the_same() {
    let mut w = started(|_| {});
    let root = w.id;
    let child = forked(&mut w);
    let waiting = w.reply("", &[wait(Some(&child.short()))])[0];
    assert_eq!((w.status(), w.outcome(waiting)), (Status::WaitingChildren, None));
    assert_eq!(w.seen().tree.expect("it has one").live, 1);
    w.restart();
    assert_eq!(w.status(), Status::WaitingChildren, "it waits over a crash");
    let records = end(&mut w, child, "It is 42.");
    assert_eq!(kinds(&records, child).last(), Some(&"ended"));
    assert_eq!(kinds(&records, root), ["finished", "requested"], "no note beside the call's result");
    let text = result(&w, waiting);
    let parsed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&parsed["handle"], &parsed["status"]),
        (&child.short().into(), &"completed".into()),
        "{text}"
    );
    assert_eq!(
        (&parsed["endReason"], &parsed["result"]),
        (&"completed".into(), &"It is 42.".into()),
        "{text}"
    );
    let (again, _) = call(&mut w, wait(None));
    assert_eq!(again, text);
    let tree = w.seen().tree.expect("it has one");
    assert_eq!((tree.live, tree.ended), (0, 1));
}

#[test]
fn a_wait_for_all_ends_with_the_last() {
    let mut w = started(|_| {});
    let (first, second) = (forked(&mut w), forked(&mut w));
    let calls = w.reply("", &[wait(None), read("f")]);
    assert!(w.running().is_empty(), "what follows the wait comes after it");
    end(&mut w, second, "B.");
    assert_eq!(w.status(), Status::WaitingChildren);
    let root = std::mem::replace(&mut w.id, first);
    w.stop("");
    w.id = root;
    let text = result(&w, calls[0]);
    assert!(text.contains(r#""status":"cancelled""#) && text.contains(r#""result":"B.""#), "{text}");
    assert_eq!(w.running().len(), 1, "the call after the wait runs");
}

#[test]
fn only_own_sub_tasks_can_be_awaited() {
    let mut w = started(|_| {});
    let root = w.id;
    let (none, _) = call(&mut w, wait(None));
    assert!(none.contains("no sub-task to wait for"), "{none}");
    let (first, second) = (forked(&mut w), forked(&mut w));
    w.id = first;
    for (handle, words) in [
        (second.short(), "you have none"),
        (first.short(), "you have none"),
        (root.short(), "you have none"),
        ("x".to_owned(), "you have none"),
    ] {
        let (refused, _) = call(&mut w, wait(Some(&handle)));
        assert!(refused.contains(words), "{refused}");
    }
    w.id = root;
    let (refused, _) = call(&mut w, wait(Some("nobody")));
    let yours = format!("Yours: {} (Look at the first half.), {}", first.short(), second.short());
    assert!(refused.contains(&yours), "{refused}");
}

#[test]
fn what_a_relative_tells_is_read_before_the_next_step() {
    let mut w = started(|_| {});
    let root = w.id;
    let child = forked(&mut w);
    let (told, _) = call(&mut w, tell(&child.short(), "Only the tests."));
    assert!(told.starts_with("Told."), "{told}");
    w.id = child;
    assert_eq!(w.transcript(), ["user", "note"], "its reply is due first");
    let (told, _) = call(&mut w, tell("parent", "I have begun."));
    assert!(told.starts_with("Told."), "{told}");
    assert_eq!(w.transcript()[2..], ["reply", "tell:ok", "note"]);
    let Some(Entry::Note(note)) = w.task().entries().last() else { panic!("a note") };
    assert_eq!(note, &format!("A message from task {}: Only the tests.", root.short()));
    w.id = root;
    let (nobody, _) = call(&mut w, tell("parent", "Hello?"));
    assert!(nobody.contains("no task above you"), "{nobody}");
    end(&mut w, child, "Done.");
    let (ended, _) = call(&mut w, tell(&child.short(), "And the docs."));
    assert!(ended.contains("has ended"), "{ended}");
}

#[test]
fn a_task_is_told_once_which_sub_tasks_are_at_work_and_then_ends_them() {
    let mut w = started(|_| {});
    let child = forked(&mut w);
    let (refused, _) = call(&mut w, complete("Enough."));
    assert!(refused.contains("still at work") && refused.contains(&child.short()), "{refused}");
    assert_eq!(w.end(), None);
    w.restart();
    let (_, records) = call(&mut w, complete("Enough."));
    assert_eq!(w.end(), Some(EndReason::Completed));
    assert_eq!(kinds(&records, child), ["ended"]);
}

#[test]
fn a_result_that_came_meanwhile_is_read_before_the_end() {
    let mut w = started(|_| {});
    let child = forked(&mut w);
    let records = end(&mut w, child, "It is 42.");
    assert_eq!(kinds(&records, w.id), ["delivered"]);
    let (refused, _) = call(&mut w, complete("I do not know."));
    assert!(refused.contains("a message has come meanwhile"), "{refused}");
    call(&mut w, complete("It is 42."));
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("It is 42.")));
}

#[test]
fn roa_is_told_by_a_note() {
    let mut w = started(|head| (head.mode, head.prompts) = (Mode::Roa, prompts(Mode::Roa)));
    let done = r#"{"observation": "So.", "should_continue": false, "final_answer": "42"}"#;
    w.reply("{}", &[]);
    forked(&mut w);
    w.reply(done, &[]);
    assert_eq!((w.end(), w.seen().step_count), (None, 2), "it goes on with another step");
    assert_eq!(w.count(|body| matches!(body, RecordBody::Nudge(n) if n.names_children)), 1);
    w.reply(r#"{"finish": true}"#, &[]);
    w.reply(done, &[]);
    assert_eq!((w.end(), w.summary()), (Some(EndReason::Completed), Some("42")));
    assert!(w.history.live().next().is_none());
}

#[test]
fn the_roots_budget_is_that_of_the_tree_and_the_root_asks_once() {
    let mut w = started(|head| head.limits.max_tokens = 100);
    w.tokens = 30;
    let root = w.id;
    let (first, second) = (forked(&mut w), forked(&mut w));
    w.id = first;
    let calls = w.reply("", &[read("f")]);
    w.finish(calls[0], true);
    assert!(w.is_thinking(), "90 of 100");
    w.id = second;
    let calls = w.reply("", &[read("f")]);
    w.finish(calls[0], true);
    assert_eq!((w.is_thinking(), w.task().held), (false, Some(PauseReason::Budget)));
    w.id = root;
    assert_eq!((w.task().paused, w.question().kind), (Some(PauseReason::Budget), QuestionKind::Budget));
    let question = w.question();
    assert!(question.text.contains("120 of 100 tokens"), "{}", question.text);
    w.answer(question.id, Some("go on")).expect("it goes on");
    w.id = second;
    assert!(w.is_thinking(), "with as much again");
    assert_eq!(w.history.task(root).unwrap().limits.max_tokens, 220);
    assert_eq!(w.count(|body| matches!(body, RecordBody::QuestionAsked(_))), 1);
}

#[test]
fn the_roots_time_runs_while_a_sub_task_works() {
    let mut w = started(|head| head.limits.max_duration_secs = 60);
    let root = w.id;
    let child = forked(&mut w);
    w.reply("", &[wait(None)]);
    assert_eq!((w.status(), w.wake_at()), (Status::WaitingChildren, Some(w.now.plus(60_000))));
    w.id = child;
    let call = w.reply("", &[shell("make").asking()])[0];
    assert_eq!(w.wake_at(), None, "a sub-task has no clock of its own");
    w.id = root;
    assert_eq!(w.wake_at(), None, "only a person is awaited");
    w.pass(600_000);
    w.id = child;
    w.decide(call, Decision::AllowOnce);
    w.id = root;
    assert_eq!(w.wake_at(), Some(w.now.plus(60_000)));
    w.sleep();
    assert_eq!(w.end(), Some(EndReason::TimeLimit));
    assert!(w.history.live().next().is_none(), "its sub-tasks end with it");
    assert!(w.now > Timestamp(0));
}

#[test]
fn a_wait_ends_as_cancelled_with_its_task() {
    let mut w = started(|_| {});
    forked(&mut w);
    let waiting = w.reply("", &[wait(None)])[0];
    w.stop("");
    assert_eq!((w.end(), w.outcome(waiting)), (Some(EndReason::Stopped), Some(CallOutcome::Cancelled)));
}

#[test]
fn a_paused_sub_task_that_asks_still_counts_as_waiting() {
    let mut w = started(|_| {});
    let root = w.id;
    w.id = forked(&mut w);
    w.reply("", &[ask("Which?")]);
    w.pause();
    w.id = root;
    assert_eq!(w.seen().tree.expect("it has one").waiting, 1);
}

/// Else it would end them without knowing of them.
#[test]
fn only_a_refused_end_that_names_the_sub_tasks_at_work_is_the_one_warning() {
    let is_warned = |w: &mut World| {
        let (refused, _) = call(w, complete("Enough."));
        assert!(refused.contains("still at work"), "{refused}");
        assert_eq!(w.end(), None);
    };
    // Another control call fails.
    let mut w = started(|_| {});
    forked(&mut w);
    let (refused, _) = call(&mut w, tell("nobody", "Hello."));
    assert!(refused.contains("nobody"), "{refused}");
    is_warned(&mut w);

    // The end is refused for another reason, before there are sub-tasks.
    let mut w = started(|_| {});
    w.intervene(Intervention::Comment("In French.".to_owned()), "").expect("it is taken");
    let (refused, _) = call(&mut w, complete("Done."));
    assert!(refused.contains("a message has come meanwhile"), "{refused}");
    forked(&mut w);
    is_warned(&mut w);
}

#[test]
fn a_sub_task_that_ends_while_another_is_awaited_is_told_by_a_note() {
    let mut w = started(|_| {});
    let (awaited, other) = (forked(&mut w), forked(&mut w));
    let waiting = w.reply("", &[wait(Some(&awaited.short()))])[0];
    let records = end(&mut w, other, "It is 20.");
    assert_eq!(kinds(&records, w.id), ["delivered"]);
    assert_eq!(w.status(), Status::WaitingChildren);
    end(&mut w, awaited, "It is 22.");
    assert!(result(&w, waiting).contains("It is 22."));
    let notes =
        w.task().entries().iter().filter(|e| matches!(e, Entry::Note(text) if text.contains("It is 20.")));
    assert_eq!(notes.count(), 1);
}

#[test]
fn a_tree_counts_the_sub_tasks_that_wait_for_a_person() {
    let mut w = started(|_| {});
    let children = [forked(&mut w), forked(&mut w), forked(&mut w)];
    let waiting = |w: &World| w.seen().tree.expect("it has sub-tasks").waiting;
    assert_eq!(waiting(&w), 0);
    let root = w.id;
    for (child, plan) in children.into_iter().zip([ask("Which?"), read("f").asking()]) {
        w.id = child;
        w.reply("", &[plan]);
    }
    w.id = root;
    assert_eq!(waiting(&w), 2);
}
