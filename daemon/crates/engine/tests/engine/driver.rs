//! The driver's states that the simulation reaches too seldom.

use crate::world::{facts, head};
use abide_engine::{
    Command, Mint, Shown, Start, Tail,
    driver::{AppendId, Driver, Event, Host, Message, Order, Wants},
};
use abide_protocol::{ConversationId, TaskId, Timestamp};
use uuid::Uuid;

#[derive(Debug)]
struct Numbered;

impl Host for Numbered {
    type Reply = u8;
    type Deletion = u8;
    type Error = &'static str;
}

fn orders(driver: &mut Driver<Numbered>) -> Vec<Order<Numbered>> {
    std::iter::from_fn(|| driver.next_order()).collect()
}

/// An urgent append uses the disk reserve, so it does not wait for room, and nothing needs to join it.
#[test]
fn the_disk_is_watched_only_for_an_append_that_would_wait_for_room() {
    let mut mint = Mint::new(Timestamp(1), 1);
    let task = TaskId(Uuid::from_u128(1));
    let mut driver = Driver::<Numbered>::new(ConversationId(Uuid::nil()), 100);
    driver.on(Event::Loaded { history: Box::default(), tail: Tail::default() }, &mut mint);
    let start = Start { task, conversation: Some(facts()), head: head(), imported: Vec::new() };
    let command = |command, reply| Event::Message(Message::Command { command, reply });
    driver.on(command(Command::Start(Box::new(start)), 1), &mut mint);
    assert_eq!(driver.wants(), Wants::Disk);
    driver.on(Event::Committed(AppendId(1)), &mut mint);
    driver.on(command(Command::Stop { task }, 2), &mut mint);
    driver.on(Event::Killed(Shown::new()), &mut mint);
    assert!(orders(&mut driver).iter().any(|order| matches!(order, Order::Append(a) if a.urgent)));
    assert_eq!(driver.wants(), Wants::Nothing);
    driver.on(Event::Disk { full: true }, &mut mint);
    assert_eq!(driver.wants(), Wants::Nothing);
}

/// A second deletion would take the first one's place, and the first one would get no reply.
#[test]
fn no_message_is_taken_while_an_unreadable_conversation_is_erased() {
    let mut mint = Mint::new(Timestamp(1), 1);
    let mut driver = Driver::<Numbered>::new(ConversationId(Uuid::nil()), 100);
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
