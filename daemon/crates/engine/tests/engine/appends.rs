//! What the driver's appends order: what they project and let go of, whom they answer, and what is done when
//! one fails.

use crate::{
    driver::{Numbered, orders, running_code},
    plan::{Plan, read, reply, shell},
    world::{World, facts, head},
};
use abide_engine::{
    Command, Effect, Fork, History, Input, Mint, ModelFailure, Reading, Replied, Shown, Start, Tail, Traces,
    driver::{Append, AppendId, Driver, Event, Failure, Lane, Message, Order, Predecessor, Wants},
    effects,
};
use abide_protocol::{
    CallId, ConversationId, TaskId, Timestamp,
    message::CallOutcome,
    record::{ClockMoved, ModelErrorKind, NewRecord, RecordBody, UserMessage},
    transcript::{StopReason, ToolResult},
};
use uuid::Uuid;

/// A driver with its time.
pub(crate) struct Actor {
    pub(crate) driver: Driver<Numbered>,
    mint: Mint,
    /// The root task.
    pub(crate) task: TaskId,
    /// Its call, which runs code.
    pub(crate) call: CallId,
}

impl Actor {
    pub(crate) fn running_code() -> Self {
        let (driver, mint, task, call) = running_code();
        Self { driver, mint, task, call }
    }

    /// Another daemon's actor, before it has the records.
    pub(crate) fn new(snapshot_spacing: usize, predecessor: Predecessor) -> Self {
        let (task, call) = (TaskId(Uuid::from_u128(1)), CallId(Uuid::from_u128(2)));
        let driver =
            Driver::new(ConversationId(Uuid::nil()), snapshot_spacing, predecessor, ClockMoved::default());
        Self { driver, mint: Mint::new(Timestamp(2), 2), task, call }
    }

    pub(crate) fn on(&mut self, event: Event<Numbered>) -> Vec<Order<Numbered>> {
        self.driver.on(event, &mut self.mint);
        orders(&mut self.driver)
    }

    pub(crate) fn load(&mut self, history: History) -> Vec<Order<Numbered>> {
        self.on(Event::Loaded { history: Box::new(history), tail: Tail::default() })
    }

    pub(crate) fn stop(&mut self, reply: u8) -> Vec<Order<Numbered>> {
        let command = Command::Stop { task: self.task };
        self.on(Event::Message(Message::Command { command, reply }))
    }

    /// The code forks a sub-task.
    pub(crate) fn fork(&mut self, index: u32, reply: u8) -> (TaskId, Vec<Order<Numbered>>) {
        let child = TaskId(Uuid::from_u128(10 + u128::from(index)));
        let prompt = "Look.".to_owned();
        let fork = Fork {
            parent: self.task,
            call: self.call,
            attempt: 1,
            index,
            task: child,
            prompt,
            tools: None,
            place: None,
        };
        (child, self.on(Event::Message(Message::Fork { fork, reply })))
    }

    /// The code ends.
    pub(crate) fn finish(&mut self) -> Vec<Order<Numbered>> {
        let (task, call, attempt) = (self.task, self.call, 1);
        let input = Box::new(Input::CallFinished {
            task,
            call,
            attempt,
            outcome: CallOutcome::Done,
            result: ToolResult::success("done", None),
            duration_ms: 1,
            read_results: Vec::new(),
        });
        self.on(Event::Message(Message::Outcome { effect: Effect::Tool { task, call, attempt }, input }))
    }

    /// The model call of this task that is under way.
    fn asked(&self, task: TaskId) -> Effect {
        let is_asked = |effect: &Effect| matches!(effect, Effect::Model { task: of, .. } if *of == task);
        effects(self.driver.history()).into_iter().find(is_asked).expect("its model is asked")
    }

    /// The root task's model replies with this call.
    fn reply(&mut self, plan: &Plan, call: CallId) -> Vec<Order<Numbered>> {
        let effect = self.asked(self.task);
        let Effect::Model { task, item, .. } = effect else { panic!("{effect:?}") };
        let replied = Replied {
            reply: reply(StopReason::ToolCalls, "", std::slice::from_ref(plan), &[call], 0),
            reading: Reading::default(),
            assessed: vec![plan.assessed(call)],
            traces: Traces::default(),
            window: None,
        };
        let input = Box::new(Input::Replied { task, item, replied: Box::new(replied) });
        self.on(Event::Message(Message::Outcome { effect, input }))
    }
}

/// The append that is ordered.
pub(crate) fn append(orders: &[Order<Numbered>]) -> &Append {
    let mut appends = orders.iter().filter_map(|order| match order {
        Order::Append(append) => Some(append),
        _ => None,
    });
    let append = appends.next().unwrap_or_else(|| panic!("an append: {orders:?}"));
    assert!(appends.next().is_none(), "one append: {orders:?}");
    append
}

/// The order by `send` once the append is committed.
fn commit(actor: &mut Actor, ordered: &[Order<Numbered>]) -> Vec<Order<Numbered>> {
    let id = append(ordered).id;
    actor.on(Event::Committed(id))
}

/// Until then a crash may need it: the record of an interrupted call has the output so far.
#[test]
fn the_output_of_a_call_is_kept_until_its_result_is_committed() {
    let dropped = |orders: &[Order<Numbered>]| -> Vec<Vec<CallId>> {
        let of = |order: &Order<Numbered>| match order {
            Order::DropOutput(output) => Some(output.clone()),
            _ => None,
        };
        orders.iter().filter_map(of).collect()
    };
    let mut actor = Actor::running_code();
    let ordered = actor.finish();
    assert_eq!(dropped(&ordered), [[]; 0], "its result is not on disk yet");
    assert_eq!(dropped(&commit(&mut actor, &ordered)), [[actor.call]]);

    let denied = CallId(Uuid::from_u128(3));
    let ordered = actor.reply(&shell("rm -r /").denied("it is denied"), denied);
    assert_eq!(dropped(&commit(&mut actor, &ordered)), [[denied]], "a daemon that died may have prepared it");

    let ordered = actor.reply(&read("a.txt"), CallId(Uuid::from_u128(4)));
    assert_eq!(dropped(&commit(&mut actor, &ordered)), [[]; 0], "this append holds no result");
}

/// A tree may have many tasks: an append writes those that it changes, and not all.
#[test]
fn an_append_projects_sub_tasks_only_if_they_may_act_after_it() {
    let projected = |orders: &[Order<Numbered>]| -> Vec<TaskId> {
        append(orders).tasks.iter().map(|projection| projection.task.id).collect()
    };
    let mut actor = Actor::running_code();
    let (child, ordered) = actor.fork(0, 2);
    assert_eq!(projected(&ordered), [actor.task, child], "the task above counts its sub-tasks");
    commit(&mut actor, &ordered);
    let ordered = actor.finish();
    assert_eq!(projected(&ordered), [actor.task]);
    commit(&mut actor, &ordered);
    let command = Command::Pause { task: actor.task };
    let ordered = actor.on(Event::Message(Message::Command { command, reply: 3 }));
    assert_eq!(projected(&ordered), [actor.task, child], "a pause holds the sub-tasks");
}

/// People look for the text of a broken reply before the end of the task that wrote it.
#[test]
fn the_text_of_a_sub_task_that_an_end_cuts_off_stands_before_its_own_end() {
    let mut actor = Actor::running_code();
    let children = [0, 1].map(|index| {
        let (child, ordered) = actor.fork(index, 2);
        commit(&mut actor, &ordered);
        child
    });
    let ordered = actor.finish();
    commit(&mut actor, &ordered);
    let items = children.map(|child| match actor.asked(child) {
        Effect::Model { item, .. } => item,
        other => panic!("{other:?}"),
    });

    let effect = actor.asked(actor.task);
    let Effect::Model { task, item, .. } = effect else { panic!("{effect:?}") };
    let failure = ModelFailure {
        kind: ModelErrorKind::Auth,
        message: "the key is wrong".to_owned(),
        retryable: false,
        retry_after_ms: None,
        sent: true,
        shown: String::new(),
    };
    let input = Box::new(Input::ModelFailed { task, item, failure, traces: Traces::default() });
    let ordered = actor.on(Event::Message(Message::Outcome { effect, input }));
    assert!(ordered.iter().any(|order| matches!(order, Order::Kill(_))), "{ordered:?}");
    let ordered = actor.on(Event::Killed(items.map(|item| (item, "So far.".to_owned())).into()));
    let records = &append(&ordered).records;
    for (child, item) in children.into_iter().zip(items) {
        let end = |r: &NewRecord| r.task_id == Some(child) && matches!(r.body, RecordBody::TaskEnded(_));
        let end = records.iter().position(end).expect("the sub-task ends");
        let before = &records[end - 1];
        assert_eq!((before.id, before.task_id), (item, Some(child)));
        assert!(matches!(before.body, RecordBody::PartialReply(_)), "{before:?}");
    }
}

/// The new daemon's actor, with the append of its recovery.
fn recovering() -> (Actor, Vec<Order<Numbered>>) {
    let mut actor = Actor::new(100, Predecessor::default());
    actor.load(Actor::running_code().driver.history().clone());
    let ordered = actor.on(Event::Inspected(Vec::new()));
    (actor, ordered)
}

/// The recovery would fail again and again.
#[test]
fn a_recovery_that_cannot_be_stored_is_not_tried_again() {
    for contradicts in [false, true] {
        let (mut actor, ordered) = recovering();
        assert!(!append(&ordered).urgent, "it waits for room on a full disk");
        let failed = Event::AppendFailed { append: AppendId(1), error: "no room", contradicts };
        let ordered = actor.on(failed);
        assert!(matches!(ordered[..], [Order::DropGate, Order::Leave]), "{ordered:?}");
    }
}

/// The stop takes the recovery with it. If the recovery is on disk after all, the stop's append contradicts
/// it.
#[test]
fn a_recovery_that_a_stop_has_withdrawn_is_loaded_again_if_it_is_on_disk() {
    for on_disk in [false, true] {
        let (mut actor, _) = recovering();
        actor.on(Event::Disk { full: true });
        actor.stop(1);
        let ordered = actor.on(Event::Killed(Shown::new()));
        assert!(matches!(ordered[0], Order::Withdraw(AppendId(1))), "{ordered:?}");
        let joined = append(&ordered);
        assert!(joined.urgent);
        let failed = Event::AppendFailed { append: joined.id, error: "stored", contradicts: on_disk };
        let ordered = actor.on(failed);
        if !on_disk {
            assert!(matches!(ordered[..], [Order::DropGate, Order::Leave]), "{ordered:?}");
            continue;
        }
        assert!(matches!(ordered[..], [Order::DropGate, Order::Load]), "{ordered:?}");
        actor.load(Actor::running_code().driver.history().clone());
        let ordered = actor.on(Event::Inspected(Vec::new()));
        assert!(append(&ordered).urgent, "nothing withdraws the second recovery");
    }
}

#[test]
fn a_clock_that_was_set_before_and_after_the_daemon_began_is_recorded_as_one_move() {
    const HOUR: i64 = 3_600_000;
    let w = World::started();
    for (before, after) in
        [(-24, 0), (0, -24), (-24, -1), (-24, 1), (-24, 48), (0, 1)].map(|(a, b)| (a * HOUR, b * HOUR))
    {
        let mut actor = Actor::new(100, Predecessor::default());
        let moved = ClockMoved { slept_ms: 0, set_by_ms: after };
        actor.mint = Mint::new(w.now.moved_by(before + after), 2).moved(moved);
        let ordered = actor.load(w.history.clone());
        let recorded = append(&ordered).records.iter().find_map(|record| match record.body {
            RecordBody::ClockMoved(moved) => Some(moved.set_by_ms),
            _ => None,
        });
        assert_eq!(recorded, Some(before + after), "{before} {after}");
    }
}

/// A snapshot costs an own write, so it has to save enough.
#[test]
fn a_snapshot_is_kept_when_it_saves_as_many_records_as_the_spacing() {
    let saves = 2;
    for (spacing, is_kept) in [(saves - 1, true), (saves, true), (saves + 1, false)] {
        let mut tail = Tail::default();
        let prompt = RecordBody::UserMessage(UserMessage { text: "Do it.".to_owned() });
        let start = RecordBody::TaskStarted(Box::new(head()));
        [&start, &prompt, &start, &prompt].into_iter().for_each(|body| tail.count(body));
        assert_eq!(tail.saved(), saves);
        let mut actor = Actor::new(spacing, Predecessor::default());
        let history = Box::new(Actor::running_code().driver.history().clone());
        let ordered = actor.on(Event::Loaded { history, tail });
        let keeps = |order: &Order<Numbered>| matches!(order, Order::KeepSnapshot(_));
        assert_eq!(ordered.iter().any(keeps), is_kept, "{spacing}");
        let ordered = actor.on(Event::Inspected(Vec::new()));
        assert!(!commit(&mut actor, &ordered).iter().any(keeps), "it is kept once");
    }
}

/// An attempt's outcome may not use the disk reserve: it is left for stops and answers.
#[test]
fn only_urgent_commands_join_an_append_that_waits_for_room() {
    let mut actor = Actor::running_code();
    actor.fork(0, 2);
    let command = Command::Pause { task: actor.task };
    let urgent = Message::<Numbered>::Command { command, reply: 3 };
    assert!(urgent.may_join());
    assert!(Message::<Numbered>::Delete { reply: 4 }.may_join());
    actor.on(Event::Disk { full: true });
    for ordered in [actor.finish(), actor.on(Event::Message(Message::Wake)), actor.fork(1, 5).1] {
        assert!(ordered.is_empty(), "{ordered:?}");
        assert_eq!(actor.driver.wants(), Wants::UrgentMessage, "it waits behind the append");
    }
    let ordered = actor.on(Event::Message(urgent));
    assert!(matches!(ordered[0], Order::Withdraw(_)), "{ordered:?}");
}

/// Only commands that begin work are refused as overloaded.
#[test]
fn what_begins_work_takes_the_bounded_lane_and_all_else_the_urgent_one() {
    let task = TaskId(Uuid::from_u128(1));
    let start = Start {
        task,
        conversation: Some(facts()),
        head: head(),
        imported: Vec::new(),
        recalled: None,
        setup: None,
    };
    let lane = |command| Message::<Numbered>::Command { command, reply: 1 }.lane();
    assert_eq!(lane(Command::Start(Box::new(start))), Lane::Command);
    assert_eq!(lane(Command::Stop { task }), Lane::Urgent);
    assert_eq!(Message::<Numbered>::Delete { reply: 1 }.lane(), Lane::Urgent);
    assert_eq!(Message::<Numbered>::Wake.lane(), Lane::Urgent);
}

/// The daemon that shuts down does not wait for room; the next one starts without the records that waited for
/// it.
#[test]
fn a_daemon_that_shuts_down_gives_up_only_an_append_that_waits_for_room() {
    let mut actor = Actor::running_code();
    let (_, ordered) = actor.fork(0, 2);
    let id = append(&ordered).id;
    let ordered = actor.on(Event::CutOff);
    assert!(ordered.is_empty(), "the disk has room, so the commit is near: {ordered:?}");
    actor.on(Event::Disk { full: true });
    let ordered = actor.on(Event::CutOff);
    let [
        Order::Withdraw(withdrawn),
        Order::DropGate,
        Order::Reply { reply: 2, answer: Err(Failure::ShuttingDown) },
        Order::Leave,
    ] = ordered[..]
    else {
        panic!("{ordered:?}")
    };
    assert_eq!(withdrawn, id);
}
