//! Takes Escape before the content gets it.

use crate::widget::{
    Element,
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
    wrapped(content, Escape(message))
}

struct Escape<Message>(Option<Message>);

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
        let is_escape = matches!(
            event,
            Event::Keyboard(keyboard::Event::KeyPressed { key: Key::Named(Named::Escape), .. })
        );
        match self.0.take_if(|_| is_escape) {
            Some(message) => {
                shell.publish(message);
                shell.capture_event();
            }
            None => content.update(event, shell),
        }
    }
}
