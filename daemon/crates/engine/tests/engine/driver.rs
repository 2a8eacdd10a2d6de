//! The driver's states that the simulation reaches too seldom.

use crate::{
    plan::{Plan, fork, read, reply, shell},
    world::{facts, head},
};
use abide_engine::{
    Command, Effect, Fork, Input, Mint, Reading, Refusal, Replied, Shown, Start, Tail, Traces,
    driver::{AppendId, Driver, Event, Failure, Host, Message, Order, Predecessor, Wants},
    effects,
};
use abide_protocol::{
    CallId, ConversationId, TaskId, Timestamp,
    checkpoint::CheckpointState,
    message::CallOutcome,
    record::{ClockMoved, NewRecord, RecordBody, TaskStarted},
    transcript::{StopReason, ToolResult},
};
use std::slice;
use uuid::Uuid;

#[derive(Debug)]
pub(crate) struct Numbered;

impl Host for Numbered {
    type Reply = u8;
    type Deletion = u8;
    type Error = &'static str;
}

pub(crate) fn orders(driver: &mut Driver<Numbered>) -> Vec<Order<Numbered>> {
    std::iter::from_fn(|| driver.next_order()).collect()
}

/// An urgent append uses the disk reserve, so it does not wait for room, and nothing needs to join it.
#[test]
fn the_disk_is_watched_only_for_an_append_that_would_wait_for_room() {
    let mut mint = Mint::new(Timestamp(1), 1);
    let task = TaskId(Uuid::from_u128(1));
    let mut driver = Driver::<Numbered>::new(
        ConversationId(Uuid::nil()),
        100,
        Predecessor::default(),
        ClockMoved::default(),
    );
    driver.on(Event::Loaded { history: Box::default(), tail: Tail::default() }, &mut mint);
    let start = Start {
        task,
        conversation: Some(facts()),
        head: head(),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    let command = |command, reply| Event::Message(Message::Command { command, reply });
    driver.on(command(Command::Start(Box::new(start)), 1), &mut mint);
    assert_eq!(driver.wants(), Wants::MessageToDefer);
    driver.on(Event::Committed(AppendId(1)), &mut mint);
    driver.on(command(Command::Stop { task }, 2), &mut mint);
    driver.on(Event::Killed(Shown::new()), &mut mint);
    assert!(orders(&mut driver).iter().any(|order| matches!(order, Order::Append(a) if a.urgent)));
    assert_eq!(driver.wants(), Wants::Nothing);
    driver.on(Event::Disk { full: true }, &mut mint);
    assert_eq!(driver.wants(), Wants::Nothing);
}

/// A task whose call runs code, after two commits.
pub(crate) fn running_code() -> (Driver<Numbered>, Mint, TaskId, CallId) {
    let mut mint = Mint::new(Timestamp(1), 1);
    let (task, call) = (TaskId(Uuid::from_u128(1)), CallId(Uuid::from_u128(2)));
    let mut driver = Driver::<Numbered>::new(
        ConversationId(Uuid::nil()),
        100,
        Predecessor::default(),
        ClockMoved::default(),
    );
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver);
    };
    now(&mut driver, Event::Loaded { history: Box::default(), tail: Tail::default() });
    let start = Start {
        task,
        conversation: Some(facts()),
        head: head(),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    let command = Command::Start(Box::new(start));
    now(&mut driver, Event::Message(Message::Command { command, reply: 1 }));
    now(&mut driver, Event::Committed(AppendId(1)));
    let plans = [shell("code")];
    let replied = Replied {
        reply: reply(StopReason::ToolCalls, "", &plans, &[call], 0),
        reading: Reading::default(),
        assessed: vec![plans[0].assessed(call)],
        traces: Traces::default(),
        window: None,
    };
    let effect = effects(driver.history())[0];
    let Effect::Model { item, .. } = effect else { panic!("a model is asked: {effect:?}") };
    let input = Box::new(Input::Replied { task, item, replied: Box::new(replied) });
    now(&mut driver, Event::Message(Message::Outcome { effect, input }));
    now(&mut driver, Event::Committed(AppendId(2)));
    (driver, mint, task, call)
}

/// A hold lets what runs end and begins nothing; the actor stays, and its release is enough for the task to
/// go on.
#[test]
fn a_held_task_begins_nothing_until_its_release() {
    let mut mint = Mint::new(Timestamp(1), 1);
    let task = TaskId(Uuid::from_u128(1));
    let mut driver = Driver::<Numbered>::new(
        ConversationId(Uuid::nil()),
        100,
        Predecessor::default(),
        ClockMoved::default(),
    );
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    let begins = |orders: &[Order<Numbered>]| orders.iter().any(|order| matches!(order, Order::Start { .. }));
    now(&mut driver, Event::Loaded { history: Box::default(), tail: Tail::default() });
    let start = Start {
        task,
        conversation: Some(facts()),
        head: head(),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    let command = Command::Start(Box::new(start));
    now(&mut driver, Event::Message(Message::Command { command, reply: 1 }));
    assert!(begins(&now(&mut driver, Event::Committed(AppendId(1)))));

    now(&mut driver, Event::Hold);
    let effect = effects(driver.history())[0];
    let Effect::Model { item, .. } = effect else { panic!("a model is asked: {effect:?}") };
    let call = CallId(Uuid::from_u128(2));
    let plans = [read("a.txt")];
    let replied = Replied {
        reply: reply(StopReason::ToolCalls, "", &plans, &[call], 0),
        reading: Reading::default(),
        assessed: vec![plans[0].assessed(call)],
        traces: Traces::default(),
        window: None,
    };
    let input = Box::new(Input::Replied { task, item, replied: Box::new(replied) });
    assert!(!begins(&now(&mut driver, Event::Message(Message::Outcome { effect, input }))));
    assert!(!begins(&now(&mut driver, Event::Committed(AppendId(2)))));
    assert_eq!(driver.wants(), Wants::Message { linger: None }, "an actor with a task at work stays");

    now(&mut driver, Event::Release);
    assert_eq!(driver.wants(), Wants::HandleDeferred);
    let ordered = now(&mut driver, Event::HandleDeferred);
    assert!(begins(&ordered), "the call begins: {ordered:?}");
    now(&mut driver, Event::Drain);
    now(&mut driver, Event::Release);
    assert_ne!(driver.wants(), Wants::HandleDeferred, "a release does not end a drain");
}

/// Code that runs may wait for its sub-tasks: it would not end before they do.
#[test]
fn a_hold_lets_sub_tasks_of_running_code_begin_and_go_on() {
    let (mut driver, mut mint, task, call) = running_code();
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    now(&mut driver, Event::Hold);
    let fork = |n| {
        let child = TaskId(Uuid::from_u128(n));
        let fork = Fork {
            parent: task,
            call,
            attempt: 1,
            index: 0,
            task: child,
            prompt: "Look.".to_owned(),
            tools: None,
            place: None,
        };
        Event::Message(Message::Fork { fork, reply: 2 })
    };
    now(&mut driver, fork(10));
    now(&mut driver, Event::Committed(AppendId(3)));
    let of_child = |effect: &Effect| matches!(effect, Effect::Model { task: of, .. } if *of != task);
    let effect = effects(driver.history()).into_iter().find(of_child).expect("the sub-task's model is asked");
    let Effect::Model { task: child, item, .. } = effect else { panic!("{effect:?}") };
    let (plans, read_call) = ([read("a.txt")], CallId(Uuid::from_u128(20)));
    let replied = Replied {
        reply: reply(StopReason::ToolCalls, "", &plans, &[read_call], 0),
        reading: Reading::default(),
        assessed: vec![plans[0].assessed(read_call)],
        traces: Traces::default(),
        window: None,
    };
    let input = Box::new(Input::Replied { task: child, item, replied: Box::new(replied) });
    let begun = now(&mut driver, Event::Message(Message::Outcome { effect, input }));
    assert!(begun.iter().any(|order| matches!(order, Order::Start { .. })), "its call begins: {begun:?}");
    now(&mut driver, Event::Committed(AppendId(4)));

    now(&mut driver, Event::Drain);
    let refused = now(&mut driver, fork(11));
    let is_refused =
        |order: &Order<Numbered>| matches!(order, Order::Reply { answer: Err(Failure::ShuttingDown), .. });
    assert!(refused.iter().any(is_refused), "{refused:?}");
}

/// Seen in the simulation: the call was allowed while the daemon drained, and no later daemon loaded the
/// conversation to start it.
#[test]
fn a_sub_task_whose_call_waited_for_a_checkpoint_needs_the_next_daemon() {
    let mut mint = Mint::new(Timestamp(1), 1);
    let task = TaskId(Uuid::from_u128(1));
    let mut driver = Driver::<Numbered>::new(
        ConversationId(Uuid::nil()),
        100,
        Predecessor::default(),
        ClockMoved::default(),
    );
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    let asked = |driver: &Driver<Numbered>, task: TaskId| {
        let is_asked = |effect: &Effect| matches!(effect, Effect::Model { task: of, .. } if *of == task);
        effects(driver.history()).into_iter().find(is_asked).expect("its model is asked")
    };
    let replied = |effect: Effect, plan: Plan, call: CallId| {
        let Effect::Model { task, item, .. } = effect else { panic!("a model is asked: {effect:?}") };
        let replied = Replied {
            reply: reply(StopReason::ToolCalls, "", slice::from_ref(&plan), &[call], 0),
            reading: Reading::default(),
            assessed: vec![plan.assessed(call)],
            traces: Traces::default(),
            window: None,
        };
        let input = Box::new(Input::Replied { task, item, replied: Box::new(replied) });
        Event::Message(Message::Outcome { effect, input })
    };
    now(&mut driver, Event::Loaded { history: Box::default(), tail: Tail::default() });
    let head = TaskStarted { checkpoints: true, ..head() };
    let start =
        Start { task, conversation: Some(facts()), head, imported: Vec::new(), recalled: None, setup: None };
    let command = Command::Start(Box::new(start));
    now(&mut driver, Event::Message(Message::Command { command, reply: 1 }));
    now(&mut driver, Event::Committed(AppendId(1)));
    let effect = asked(&driver, task);
    now(&mut driver, replied(effect, fork("Look."), CallId(Uuid::from_u128(2))));
    now(&mut driver, Event::Committed(AppendId(2)));
    let child = driver.history().tasks().iter().map(|task| task.id).find(|id| *id != task).expect("a child");
    let effect = asked(&driver, child);
    now(&mut driver, replied(effect, shell("make"), CallId(Uuid::from_u128(3))));
    now(&mut driver, Event::Committed(AppendId(3)));
    let effect = Effect::Checkpoint { task, number: 0 };
    assert!(effects(driver.history()).contains(&effect), "the child's call waits for the first checkpoint");

    now(&mut driver, Event::Drain);
    let state = CheckpointState::Impossible("no repository".to_owned());
    let input = Box::new(Input::Checkpointed { task, number: 0, state });
    let ordered = now(&mut driver, Event::Message(Message::Outcome { effect, input }));
    let projected = ordered.into_iter().find_map(|order| match order {
        Order::Append(append) => append.tasks.into_iter().find(|projection| projection.task.id == child),
        _ => None,
    });
    assert!(projected.is_some_and(|projection| projection.needs_daemon));
}

/// A failed append cancels all attempts, so the code that asked has ended when it could ask again.
#[test]
fn a_fork_is_answered_after_its_commit_and_one_that_failed_is_stale() {
    let (mut driver, mut mint, task, call) = running_code();
    let id = |n| Uuid::from_u128(n);
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    let fork = |index, child, reply| {
        let prompt = "Look.".to_owned();
        let fork = Fork {
            parent: task,
            call,
            attempt: 1,
            index,
            task: TaskId(id(child)),
            prompt,
            tools: None,
            place: None,
        };
        Event::Message(Message::Fork { fork, reply })
    };
    let answers = |orders: Vec<Order<Numbered>>| -> Vec<_> {
        let answer = |order| match order {
            Order::Reply { reply, answer } => Some((reply, answer.map(|applied| applied.task.unwrap().id))),
            _ => None,
        };
        orders.into_iter().filter_map(answer).collect()
    };
    assert_eq!(answers(now(&mut driver, fork(0, 10, 2))), []);
    assert_eq!(answers(now(&mut driver, fork(0, 11, 3))), [], "the same, while the first one is committed");
    let first = Ok(TaskId(id(10)));
    assert_eq!(answers(now(&mut driver, Event::Committed(AppendId(3)))), [(2, first.clone())]);
    assert_eq!(answers(now(&mut driver, Event::HandleDeferred)), [(3, first)]);

    let committed = Box::new(driver.history().clone());
    now(&mut driver, fork(1, 12, 4));
    let failed = Event::AppendFailed { append: AppendId(4), error: "no room", contradicts: false };
    assert_eq!(answers(now(&mut driver, failed)), [(4, Err(Failure::Failed("no room")))]);
    now(&mut driver, Event::Loaded { history: committed, tail: Tail::default() });
    now(&mut driver, Event::Inspected(Vec::new()));
    now(&mut driver, Event::Committed(AppendId(5)));
    for (index, child) in [(0, 13), (1, 14)] {
        let again = answers(now(&mut driver, fork(index, child, 5)));
        assert_eq!(again, [(5, Err(Failure::Refused(Refusal::Stale)))]);
    }
    assert_eq!(driver.history().tasks().len(), 2);
}

/// The task of [`running_code`], and a sub-task whose fork is not committed.
fn code_that_forks() -> (Driver<Numbered>, Mint, [TaskId; 2]) {
    let (mut driver, mut mint, parent, call) = running_code();
    let task = TaskId(Uuid::from_u128(10));
    let fork = Fork {
        parent,
        call,
        attempt: 1,
        index: 0,
        task,
        prompt: "Look.".to_owned(),
        tools: None,
        place: None,
    };
    driver.on(Event::Message(Message::Fork { fork, reply: 2 }), &mut mint);
    drop(orders(&mut driver));
    (driver, mint, [parent, task])
}

/// The sub-task is folded and not on disk, so the stop ends it too: it would live beneath an ended task.
#[test]
fn a_stop_on_a_full_disk_ends_the_sub_task_whose_fork_waits_for_room() {
    let (mut driver, mut mint, [task, child]) = code_that_forks();
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    now(&mut driver, Event::Disk { full: true });
    assert_eq!(driver.wants(), Wants::UrgentMessage);
    now(&mut driver, Event::Message(Message::Command { command: Command::Stop { task }, reply: 3 }));
    let joined = now(&mut driver, Event::Killed(Shown::new()));
    let append = joined.iter().find_map(|order| match order {
        Order::Append(append) => Some(append),
        _ => None,
    });
    let append = append.expect("the stop's append");
    assert!(append.urgent, "it may use the reserve");
    let ends = |record: &&NewRecord| matches!(record.body, RecordBody::TaskEnded(_));
    let kinds = append.records.iter().filter(|r| ends(r) || matches!(r.body, RecordBody::TaskStarted(_)));
    assert_eq!(kinds.map(|r| r.task_id).collect::<Vec<_>>(), [Some(child), Some(child), Some(task)]);
    let answers: Vec<u8> = now(&mut driver, Event::Committed(append.id))
        .into_iter()
        .filter_map(|order| match order {
            Order::Reply { reply, answer: Ok(_) } => Some(reply),
            _ => None,
        })
        .collect();
    assert_eq!(answers, [2, 3], "both are answered after the commit");
    assert!(driver.history().live().next().is_none());
}

/// It came while there seemed to be room.
#[test]
fn a_deferred_stop_joins_an_append_that_waits_for_room() {
    let (mut driver, mut mint, [task, _]) = code_that_forks();
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    assert_eq!(driver.wants(), Wants::MessageToDefer);
    now(&mut driver, Event::Message(Message::Command { command: Command::Stop { task }, reply: 3 }));
    now(&mut driver, Event::Disk { full: true });
    assert_eq!(driver.wants(), Wants::HandleDeferred);
    now(&mut driver, Event::HandleDeferred);
    let joined = now(&mut driver, Event::Killed(Shown::new()));
    assert!(joined.iter().any(|order| matches!(order, Order::Append(append) if append.urgent)));
}

/// Otherwise the tasks of a tree would wait for each other's commits, one after the other.
#[test]
fn outcomes_that_come_during_a_commit_are_one_append() {
    let (mut mint, id) = (Mint::new(Timestamp(1), 1), |n| Uuid::from_u128(n));
    let task = TaskId(id(1));
    let calls = [2, 3, 4, 5, 6].map(|n| CallId(id(n)));
    let mut driver = Driver::<Numbered>::new(
        ConversationId(Uuid::nil()),
        100,
        Predecessor::default(),
        ClockMoved::default(),
    );
    let mut now = |driver: &mut Driver<Numbered>, event| {
        driver.on(event, &mut mint);
        orders(driver)
    };
    now(&mut driver, Event::Loaded { history: Box::default(), tail: Tail::default() });
    let start = Start {
        task,
        conversation: Some(facts()),
        head: head(),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    let command = |command, reply| Event::Message(Message::Command { command, reply });
    now(&mut driver, command(Command::Start(Box::new(start)), 1));
    now(&mut driver, Event::Committed(AppendId(1)));
    let plans = ["a", "b", "c", "d", "e"].map(read);
    let replied = Replied {
        reply: reply(StopReason::ToolCalls, "", &plans, &calls, 0),
        reading: Reading::default(),
        assessed: plans.iter().zip(calls).map(|(plan, call)| plan.assessed(call)).collect(),
        traces: Traces::default(),
        window: None,
    };
    let effect = effects(driver.history())[0];
    let Effect::Model { item, .. } = effect else { panic!("a model is asked: {effect:?}") };
    let input = Box::new(Input::Replied { task, item, replied: Box::new(replied) });
    now(&mut driver, Event::Message(Message::Outcome { effect, input }));
    now(&mut driver, Event::Committed(AppendId(2)));

    let outcome = |call| {
        let (attempt, result) = (1, ToolResult::success("read", None));
        let (effect, outcome) = (Effect::Tool { task, call, attempt }, CallOutcome::Done);
        let input = Input::CallFinished {
            task,
            call,
            attempt,
            outcome,
            result,
            duration_ms: 0,
            read_results: Vec::new(),
        };
        Event::Message(Message::Outcome { effect, input: Box::new(input) })
    };
    // The calls of the appends that are ordered.
    let appended = |orders: &[Order<Numbered>]| -> Vec<Vec<CallId>> {
        let appends = orders.iter().filter_map(|order| match order {
            Order::Append(append) => Some(&append.records),
            _ => None,
        });
        let finished = |record: &NewRecord| match &record.body {
            RecordBody::CallFinished(finished) => Some(finished.call_id),
            _ => None,
        };
        appends.map(|records| records.iter().filter_map(finished).collect()).collect()
    };
    let [a, b, c, d, e] = calls;
    assert_eq!(appended(&now(&mut driver, outcome(a))), [[a]]);
    assert_eq!(driver.wants(), Wants::MessageToDefer);
    // That of `b` comes twice, and the second is refused by itself.
    for event in [outcome(b), outcome(b), outcome(c), command(Command::Pause { task }, 2), outcome(d)] {
        assert_eq!(appended(&now(&mut driver, event)), [[]; 0]);
    }
    now(&mut driver, Event::Committed(AppendId(3)));
    assert_eq!(driver.wants(), Wants::HandleDeferred);
    let together = now(&mut driver, Event::HandleDeferred);
    assert_eq!(appended(&together), [[b, c]], "what came before the command");
    assert!(together.iter().any(|order| matches!(order, Order::OutcomeRefused(Refusal::Stale))));
    now(&mut driver, Event::Committed(AppendId(4)));
    assert_eq!(appended(&now(&mut driver, Event::HandleDeferred)), [[]], "the command");
    now(&mut driver, Event::Committed(AppendId(5)));
    assert_eq!(appended(&now(&mut driver, Event::HandleDeferred)), [[d]], "what came after it");
    for _ in 0..32 {
        assert_eq!(driver.wants(), Wants::MessageToDefer);
        now(&mut driver, outcome(e));
    }
    assert_eq!(driver.wants(), Wants::Disk, "the others stay in the mailbox");
}

/// A second deletion would take the first one's place, and the first one would get no reply.
#[test]
fn no_message_is_taken_while_an_unreadable_conversation_is_erased() {
    let mut mint = Mint::new(Timestamp(1), 1);
    let mut driver = Driver::<Numbered>::new(
        ConversationId(Uuid::nil()),
        100,
        Predecessor::default(),
        ClockMoved::default(),
    );
    driver.on(Event::LoadFailed("damaged"), &mut mint);
    assert_eq!(driver.wants(), Wants::Message { linger: None });
    driver.on(Event::Message(Message::Delete { reply: 1 }), &mut mint);
    assert_eq!(driver.wants(), Wants::Nothing);
    driver.on(Event::Erased(Ok(7)), &mut mint);
    assert_eq!(driver.wants(), Wants::Message { linger: None });
    let given = orders(&mut driver);
    assert!(
        matches!(
            given[..],
            [Order::Load, Order::Leave, Order::Erase, Order::ReplyDeleted { reply: 1, answer: Ok(7) }]
        ),
        "{given:?}"
    );
}
