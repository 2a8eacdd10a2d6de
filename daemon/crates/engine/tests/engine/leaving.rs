//! When an actor leaves, and how the next one goes on.

use crate::appends::{Actor, append};
use abide_engine::{
    Shown,
    driver::{Event, Message, Order, Predecessor, Wants},
};
use abide_protocol::record::RecordBody;

/// An actor that leaves while its task is at work would cancel the attempt, and nobody would take the task
/// up.
#[test]
fn an_actor_leaves_when_nobody_needs_it_and_not_before() {
    let mut actor = Actor::running_code();
    assert_eq!(actor.driver.wants(), Wants::Message { linger: None }, "an attempt runs");
    assert!(actor.on(Event::LingerOver).is_empty(), "an attempt runs");

    actor.stop(1);
    let ordered = actor.on(Event::Killed(Shown::new()));
    let id = append(&ordered).id;
    assert!(actor.on(Event::LingerOver).is_empty(), "the end is not on disk yet");
    actor.on(Event::Message(Message::Wake));
    actor.on(Event::Committed(id));
    assert!(actor.on(Event::LingerOver).is_empty(), "a message waits");
    actor.on(Event::HandleDeferred);

    let Wants::Message { linger: Some(linger) } = actor.driver.wants() else { panic!("it stays") };
    assert!(!linger.is_zero(), "the next request of a burst needs the records too");
    let ordered = actor.on(Event::LingerOver);
    assert!(matches!(ordered[..], [Order::Leave]), "{ordered:?}");
}

/// The daemon before drained: the call's result is recorded, and the task has not acted on it.
#[test]
fn a_task_at_a_boundary_is_interrupted_by_a_daemons_end_and_not_by_its_successor() {
    let mut drained = Actor::running_code();
    drained.on(Event::Drain);
    let ordered = drained.finish();
    drained.on(Event::Committed(append(&ordered).id));
    for (predecessor, is_restarted) in [(Predecessor::default(), true), (Predecessor::HandedOver, false)] {
        let mut next = Actor::new(100, predecessor);
        let ordered = next.load(drained.driver.history().clone());
        let records = &append(&ordered).records;
        let has = |is: fn(&RecordBody) -> bool| records.iter().any(|record| is(&record.body));
        assert_eq!(has(|body| matches!(body, RecordBody::Restarted(_))), is_restarted, "{records:?}");
        assert!(has(|body| matches!(body, RecordBody::ModelRequested(_))), "the task goes on: {records:?}");
    }
    // An attempt was under way, so the daemon did not hand over at a boundary.
    let mut next = Actor::new(100, Predecessor::HandedOver);
    next.load(Actor::running_code().driver.history().clone());
    let ordered = next.on(Event::Inspected(Vec::new()));
    let restarts = |body: &RecordBody| matches!(body, RecordBody::Restarted(_));
    assert!(append(&ordered).records.iter().any(|record| restarts(&record.body)));
}
