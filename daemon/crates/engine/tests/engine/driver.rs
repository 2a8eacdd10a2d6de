//! The driver's states that the simulation reaches too seldom.

use abide_engine::{
    Mint,
    driver::{Driver, Event, Host, Message, Order, Wants},
};
use abide_protocol::{ConversationId, Timestamp};
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
