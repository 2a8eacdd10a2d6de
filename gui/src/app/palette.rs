//! The palette, and Tab.

use super::{App, Dialog, Message, Page};
use crate::{
    effect::{Effect, field},
    request::{self, Reply},
    screen::{
        composer::{self, Change, ModelChoice, Stance},
        conversation, new_conversation,
        palette::{self, Offer, Palette, Pick},
    },
    widget::{reveal::reveal_focused, tab::move_keyboard},
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
        self.offer(Offer::Commands(self.catalog.default_mode()))
    }

    /// Opens the palette with the models for the next task, if this page can start one.
    pub(super) fn choose_model(&mut self) -> Task<Message> {
        if self.can_start() {
            let offered = self.offer(Offer::Models(self.models()));
            Task::batch([offered, self.ask(request::models())])
        } else {
            Task::none()
        }
    }

    /// Opens the palette with what few tasks choose.
    pub(super) fn choose_setup(&mut self) -> Task<Message> {
        let offered = self.offer(Offer::Setup(self.setups()));
        let asked = request::presets().map(|request| self.ask(request));
        Task::batch(asked.into_iter().chain([offered]))
    }

    fn models(&self) -> Vec<ModelChoice> {
        match &self.open {
            Some(open) if self.page == Page::Conversation => {
                open.composer.models(open.persona(), &self.catalog)
            }
            _ => self.new_conversation.composer.models(None, &self.catalog),
        }
    }

    fn setups(&self) -> Vec<composer::Offered> {
        match &self.open {
            Some(open) if self.page == Page::Conversation => {
                let mode = open.fold().conversation().and_then(|known| known.mode);
                open.composer.offered((open.persona(), mode), &self.catalog)
            }
            _ => self.new_conversation.composer.offered_new(&self.catalog),
        }
    }

    /// Whether this page can start a task.
    fn can_start(&self) -> bool {
        match self.page {
            Page::NewConversation => true,
            Page::Conversation => self
                .open
                .as_ref()
                .is_some_and(|open| open.sub_task().is_none() && open.stance() == Stance::Ready),
            Page::Inbox | Page::Settings | Page::Memory => false,
        }
    }

    fn offer(&mut self, offer: Offer) -> Task<Message> {
        self.show_dialog(Dialog::Palette(Palette::of(offer)));
        self.perform_one(Effect::Focus(field::PALETTE))
    }

    /// The daemon has listed the models.
    pub(super) fn know_models(&mut self, models: ListModelsReply) -> Task<Message> {
        self.catalog.models = Some(models);
        self.renew_palette();
        self.send_waiting()
    }

    /// The daemon has listed personas, templates or tools.
    pub(super) fn know_presets(&mut self, listed: Reply) {
        let presets = &mut self.catalog.presets;
        match listed {
            Reply::ListPersonas(listed) => presets.personas = listed.personas,
            Reply::ListTemplates(listed) => presets.templates = listed.templates,
            Reply::ListTools(listed) => presets.tools = listed.tools,
            _ => {}
        }
        self.renew_palette();
    }

    /// Offers in the open palette what there is now.
    fn renew_palette(&mut self) {
        let (models, setups) = (self.models(), self.setups());
        if let Dialog::Palette(palette) = &mut self.overlay.dialog {
            palette.renew(models, setups);
        }
    }

    /// Chooses a persona, a template or tools. Of tools more are likely to be chosen, so the palette stays.
    fn set_up(&mut self, change: Change) -> Task<Message> {
        let stays = matches!(change, Change::Tools(_));
        let composer = match &mut self.open {
            Some(open) if self.page == Page::Conversation => &mut open.composer,
            _ => &mut self.new_conversation.composer,
        };
        let chosen = composer.choose(change, &self.catalog.presets);
        let kept = self.perform_one(chosen);
        if stays {
            self.renew_palette();
            // A click has taken the keyboard from the field.
            return Task::batch([kept, self.perform_one(Effect::Focus(field::PALETTE))]);
        }
        self.close_overlay();
        Task::batch([kept, self.perform_one(Effect::Focus(field::COMPOSER))])
    }

    pub(super) fn in_palette(&mut self, message: palette::Message) -> Task<Message> {
        let Dialog::Palette(palette) = &mut self.overlay.dialog else { return Task::none() };
        let Some(pick) = palette.update(message) else { return Task::none() };
        if let Pick::Setup(change) = pick {
            return self.set_up(change);
        }
        self.overlay.dialog = Dialog::Nothing;
        let picked = match pick {
            Pick::Command(command) => self.command(command),
            Pick::Card => self.go_to_what_waits(),
            Pick::Model(model) => self.choose(composer::Message::ModelPicked(model)),
            Pick::Mode(mode) if self.can_start() => self.choose(composer::Message::ModePicked(mode)),
            Pick::Mode(_) | Pick::Setup(_) => Task::none(),
        };
        // What was picked has the last word on the keyboard.
        self.give_caret_back().chain(picked)
    }

    /// Makes this choice for the next task.
    fn choose(&mut self, picked: composer::Message) -> Task<Message> {
        let picked = match self.page {
            Page::NewConversation => Message::NewConversation(new_conversation::Message::Composer(picked)),
            _ => Message::Thread(conversation::Message::Composer(picked)),
        };
        let input = self.perform_one(Effect::Focus(field::COMPOSER));
        Task::batch([self.handle(picked), input])
    }

    /// Moves the keyboard on; in the folder's field, the first folder found is taken instead.
    pub(super) fn walk(&self, is_back: bool) -> Task<Message> {
        if self.page == Page::NewConversation && self.new_conversation.completes_folder() && !is_back {
            return operate(focusable::is_focused(Id::new(field::FOLDER))).map(Message::TabPressed);
        }
        move_keyboard_on(is_back)
    }

    /// Tab was pressed, in the field of the folder or elsewhere.
    pub(super) fn tab(&mut self, is_in_folder: bool) -> Task<Message> {
        if is_in_folder {
            return self.handle(Message::NewConversation(new_conversation::Message::FolderCompleted));
        }
        move_keyboard_on(false)
    }
}

/// Moves the keyboard to the next field or button, and scrolls a page of fields to it.
fn move_keyboard_on(is_back: bool) -> Task<Message> {
    operate(move_keyboard(is_back, field::PAGE)).chain(operate(reveal_focused()))
}
