//! How the conversation takes part in the memory, in its menu.

use super::{Conversation, Menu, Message as Thread};
use crate::{
    effect::Effect,
    theme::space,
    widget::{Element, pick, secondary, word},
    words,
};
use abide_client::protocol::{memory::MemoryUse, method::conversation::UpdateConversationParams};
use iced::{
    Center,
    widget::{Row, column},
};

#[derive(Debug, Clone, Copy)]
pub enum Message {
    Pressed,
    Picked(MemoryUse),
    /// Goes to the page of the memory.
    PagePressed,
}

impl Conversation {
    pub(super) fn take_part(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Pressed => {
                self.menu = Menu::Memory;
                Vec::new()
            }
            Message::Picked(memory) => self.change(UpdateConversationParams {
                memory: Some(memory),
                ..UpdateConversationParams::default()
            }),
            Message::PagePressed => vec![Effect::Memory],
        }
    }

    pub(super) fn memory_uses(&self) -> Element<'_, Thread> {
        let now = self.view.conversation().map_or(MemoryUse::Normal, |known| known.memory);
        let uses = [MemoryUse::Normal, MemoryUse::NoRecall, MemoryUse::Private]
            .map(|memory| pick(words::memory_use(memory), now == memory, Message::Picked(memory)));
        let page = word("The whole memory…", Message::PagePressed);
        let choices = Row::with_children(uses).push(page).spacing(space::XS).align_y(Center).wrap();
        let content = column![choices, secondary(words::memory_meaning(now))].spacing(space::XS);
        Element::from(content).map(Thread::Memory)
    }
}
