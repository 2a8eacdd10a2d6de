//! The daemon's configuration: whether the daemon refuses the newest text of the file, and what providers and
//! models are set up.
//!
//! The daemon reads the file when it is asked for the configuration, and sends no notification. The window
//! asks when something may have changed: it is connected, it has the keyboard again (the person may have been
//! in an editor), a task was started; and again and again while the text is refused and the window ticks.

use super::{App, Message, Page};
use crate::{
    effect::Effect,
    request::{self, Reply, Request},
    widget::{Element, word},
};
use abide_host::text::visible_line;
use iced::Task;
use std::path::PathBuf;

impl App {
    /// Requests what tasks can be started with, and the configuration.
    pub(super) fn ask_what_is_configured(&self) -> Task<Message> {
        let requests = [request::models(), request::config()].into_iter().chain(request::presets());
        Task::batch(requests.map(|request| self.ask(request)))
    }

    /// While it is refused, whether it has been mended.
    pub(super) fn look_at_config(&self) -> Task<Message> {
        if self.config.refused.is_some() { self.ask(request::config()) } else { Task::none() }
    }

    /// Why the configuration is refused, and a button that opens its file.
    pub(super) fn refused(&self) -> Option<(String, Element<'_, Message>)> {
        let refused = self.config.refused.as_ref()?;
        let why = visible_line(&refused.message);
        let words = format!("The configuration is refused: {why}. What was read before stays in force.");
        Some((words, word("Open the file", Message::ConfigPressed).into()))
    }

    /// Goes to the form that sets up this provider, in the settings.
    pub(super) fn open_form(&mut self, provider: &str) -> Task<Message> {
        let effects = self.preferences.edit(provider, self.catalog.models.as_ref());
        let shown = self.show_settings();
        Task::batch([shown, self.perform(effects)])
    }

    /// A request of the settings or of a form was answered.
    pub(super) fn set_up_answered(&mut self, request: &Request, reply: &Reply) -> Vec<Effect> {
        let mut effects = self.preferences.answered(request, reply);
        // The person may have gone on to another page.
        let focuses = |effect: &Effect| matches!(effect, Effect::Focus(_) | Effect::FocusText(_));
        effects.retain(|effect| self.page == Page::Settings || !focuses(effect));
        let mut of_new = self.new_conversation.setup.answered(request, reply);
        of_new.retain(|effect| self.page == Page::NewConversation || !focuses(effect));
        if request::config_of(reply).is_some() {
            of_new.extend(self.waiting_prompt());
        }
        effects.extend(of_new);
        effects
    }

    /// The prompt of a new conversation that has waited for a model, if there is one now.
    fn waiting_prompt(&mut self) -> Vec<Effect> {
        if self.open.is_some() { Vec::new() } else { self.new_conversation.models_known(&self.catalog) }
    }

    pub(super) fn send_waiting(&mut self) -> Task<Message> {
        let effects = self.waiting_prompt();
        self.perform(effects)
    }

    pub(super) fn open_config(&mut self) -> Task<Message> {
        self.perform_one(Effect::EditFile(PathBuf::from(&self.config.path)))
    }
}
