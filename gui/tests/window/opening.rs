//! The window when it opens.

use crate::{person::Person, preset};
use abide_gui::{Message, app::WindowEvent};
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
