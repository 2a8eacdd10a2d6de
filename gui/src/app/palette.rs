//! The palette, and Tab.

use super::{App, Message, Over, Page};
use crate::{
    effect::{Effect, field},
    request::Request,
    screen::{
        composer::{self, Composer, Stance},
        conversation, fresh,
        palette::{self, Offer, Palette, Pick},
    },
    widget::walk::walk,
};
use abide_client::protocol::method::daemon::ListModelsReply;
use iced::{
    Task,
    advanced::widget::{operate, operation::focusable},
    widget::Id,
};

impl App {
    /// Opens the palette with all actions.
    pub(super) fn open_palette(&mut self) -> Task<Message> {
        self.offer(Offer::Commands(self.default_mode()))
    }

    /// Opens the palette with the models for the next task, if this page can start one.
    pub(super) fn choose_model(&mut self) -> Task<Message> {
        if self.can_start() {
            let offered = self.offer(Offer::Models(Composer::offered(self.models.as_ref())));
            Task::batch([offered, self.ask(Request::Models)])
        } else {
            Task::none()
        }
    }

    /// Whether this page can start a task.
    fn can_start(&self) -> bool {
        match self.page {
            Page::Fresh => true,
            Page::Conversation => self.open.as_ref().is_some_and(|open| open.stance() == Stance::Ready),
            Page::Inbox | Page::Settings => false,
        }
    }

    fn offer(&mut self, offer: Offer) -> Task<Message> {
        self.over = Over::Palette(Palette::of(offer));
        self.perform_one(Effect::Focus(field::PALETTE))
    }

    /// The daemon has listed the models.
    pub(super) fn know_models(&mut self, models: ListModelsReply) {
        if let Over::Palette(palette) = &mut self.over {
            palette.renew(Composer::offered(Some(&models)));
        }
        self.models = Some(models);
    }

    pub(super) fn in_palette(&mut self, message: palette::Message) -> Task<Message> {
        let Over::Palette(palette) = &mut self.over else { return Task::none() };
        let Some(pick) = palette.update(message) else { return Task::none() };
        self.over = Over::Nothing;
        match pick {
            Pick::Command(command) => self.command(command),
            Pick::Card => self.go_to_what_waits(),
            Pick::Model(model) => self.choose(composer::Message::ModelPicked(model)),
            Pick::Mode(mode) if self.can_start() => self.choose(composer::Message::ModePicked(mode)),
            Pick::Mode(_) => Task::none(),
        }
    }

    /// Makes this choice for the next task.
    fn choose(&mut self, picked: composer::Message) -> Task<Message> {
        let picked = match self.page {
            Page::Fresh => Message::Fresh(fresh::Message::Composer(picked)),
            _ => Message::Thread(conversation::Message::Composer(picked)),
        };
        let input = self.perform_one(Effect::Focus(field::COMPOSER));
        Task::batch([self.handle(picked), input])
    }

    /// Moves the keyboard on; in the folder's field, the first folder found is taken instead.
    pub(super) fn walk(&self, is_back: bool) -> Task<Message> {
        let is_offered = self.page == Page::Fresh && !self.fresh.found.is_empty();
        if is_offered && !is_back {
            return operate(focusable::is_focused(Id::new(field::FOLDER))).map(Message::TabPressed);
        }
        operate(walk(is_back))
    }

    /// Tab was pressed, in the field of the folder or elsewhere.
    pub(super) fn tab(&mut self, is_in_folder: bool) -> Task<Message> {
        if is_in_folder {
            return self.handle(Message::Fresh(fresh::Message::FolderCompleted));
        }
        operate(walk(false))
    }
}
