//! Takes Escape before the content gets it.

use crate::widget::{
    Element,
    report::is_focused,
    wrap::{Inner, Wrap, wrapped},
};
use iced::{
    Event,
    advanced::Shell,
    keyboard::{self, Key, key::Named},
};

/// While there is a message, Escape publishes it and does nothing else.
pub fn escape<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    message: Option<Message>,
) -> Element<'a, Message> {
    wrapped(content, Escape { message, only_focused: false })
}

/// While a field or button in it has the keyboard, Escape publishes this message and does nothing else.
pub fn escape_from<'a, Message: 'a>(
    content: impl Into<Element<'a, Message>>,
    message: Message,
) -> Element<'a, Message> {
    wrapped(content, Escape { message: Some(message), only_focused: true })
}

struct Escape<Message> {
    message: Option<Message>,
    only_focused: bool,
}

impl<Message> Wrap<Message> for Escape<Message> {
    type State = ();

    fn state(&self) {}

    fn update(
        &mut self,
        (): &mut (),
        event: &Event,
        content: &mut Inner<'_, '_, Message>,
        shell: &mut Shell<'_, Message>,
    ) {
        let repeats = match event {
            Event::Keyboard(keyboard::Event::KeyPressed {
                key: Key::Named(Named::Escape), repeat, ..
            }) => Some(*repeat),
            _ => None,
        };
        let is_meant = repeats.is_some() && (!self.only_focused || is_focused(content));
        match self.message.take_if(|_| is_meant) {
            Some(message) => {
                // A key that is held down closes one thing.
                if repeats == Some(false) {
                    shell.publish(message);
                }
                shell.capture_event();
            }
            None => content.update(event, shell),
        }
    }
}
