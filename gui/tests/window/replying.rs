//! A reply that was begun and not sent.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, QUESTION},
};
use abide_client::{
    Update,
    protocol::{
        inbox::{Pending, PendingId},
        notification::{InboxUpdate, Notification},
        task::Status,
    },
};
use abide_gui::{Message, request::Request};

#[test]
fn a_typed_choice_is_dropped_with_its_question() {
    for (draft, left) in [("2", ""), ("16–19 March", ""), ("use 2 workers", "use 2 workers")] {
        let pending = [Pending::Question(preset::question())];
        let (overview, conversation) = preset::waits(Status::WaitingUser, &pending, preset::history());
        let mut person = Person::before(overview);
        person.open(CONVERSATION, conversation);
        person.wait(60_000);
        person.asked();
        person.writes(draft);
        person.wait(1000);
        person.clicks("9–12 March");
        let asked = person.asked();
        assert!(
            matches!(&asked[..], [Request::Answer(_, QUESTION, Some(choice))] if choice == "9–12 March"),
            "{asked:?}"
        );
        let gone = InboxUpdate { added: Vec::new(), removed: vec![PendingId::Question(QUESTION)], count: 0 };
        let update = Update::Notification(Notification::InboxUpdate(gone));
        person.tell(Message::Conversation(CONVERSATION, vec![update]));
        assert_eq!(person.app.conversation().unwrap().composer.draft(), left);
    }
}
