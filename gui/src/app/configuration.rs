//! Whether the daemon refuses the newest text of its configuration.
//!
//! The daemon reads the file when it is asked for the configuration, and sends no notification. The window asks when something may have
//! changed: it is connected, it has the keyboard again (the person may have been in an editor), a task was started; and again and again
//! while the text is refused and the window ticks.

use super::{App, Message};
use crate::{
    effect::Effect,
    request::Request,
    widget::{Element, word},
};
use abide_client::text::visible_line;
use iced::Task;
use std::path::PathBuf;

impl App {
    /// Requests what tasks can be started with, and the configuration.
    pub(super) fn ask_what_is_configured(&self) -> Task<Message> {
        Task::batch([Request::Models, Request::Presets, Request::Config].map(|request| self.ask(request)))
    }

    /// While it is refused, whether it has been mended.
    pub(super) fn look_at_config(&self) -> Task<Message> {
        if self.config.refused.is_some() { self.ask(Request::Config) } else { Task::none() }
    }

    /// Why the configuration is refused, and a button that opens its file.
    pub(super) fn refused(&self) -> Option<(String, Element<'_, Message>)> {
        let refused = self.config.refused.as_ref()?;
        let why = visible_line(&refused.message);
        let words = format!("The configuration is refused: {why}. What was read before stays in force.");
        Some((words, word("Open the file", Message::ConfigPressed).into()))
    }

    pub(super) fn open_config(&mut self) -> Task<Message> {
        self.perform_one(Effect::EditFile(PathBuf::from(&self.config.path)))
    }
}
