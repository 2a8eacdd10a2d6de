//! The window when it opens.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::task::Status;
use abide_gui::{Message, app::WindowEvent, screen::sidebar};
use iced_test::core::{Size, window};

#[test]
fn a_window_is_no_larger_than_the_screen() {
    let opens = |monitor, (width, height)| {
        let mut person = Person::before(preset::empty());
        person.monitor = monitor;
        person.tell(Message::Window(window::Id::unique(), WindowEvent::Opened(Size::new(width, height))));
        person.resized
    };
    let small = Some(Size::new(683.0, 384.0));
    assert_eq!(opens(small, (1280, 800)), small);
    assert_eq!(opens(small, (640, 800)), Some(Size::new(640.0, 384.0)));
    assert_eq!(opens(small, (640, 380)), None);
    assert_eq!(opens(None, (1280, 800)), None, "the size of the screen is unknown");
}

/// The state of the daemon, or of the conversation, has not come yet.
#[test]
fn what_is_still_loading_does_not_say_that_the_daemon_is_away() {
    let is_away = |person: &mut Person| person.texts().iter().any(|text| text.contains("is away"));
    let mut person = Person::opens();
    person.redraw();
    assert!(!is_away(&mut person), "{:?}", person.texts());
    let (overview, _) = preset::waits(Status::Thinking, &[], preset::history());
    let mut person = Person::before(overview);
    person.tell(Message::Sidebar(sidebar::Message::Selected(CONVERSATION)));
    assert!(!is_away(&mut person), "{:?}", person.texts());
}
