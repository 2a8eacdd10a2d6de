//! A long text over the rest, and in the person's editor.

use super::{App, Dialog, Message};
use crate::{
    desktop,
    effect::{Effect, Reading, field},
    keymap::Command,
    screen::reader,
};
use iced::Task;
use std::{io, path::PathBuf};

impl App {
    pub(super) fn read(&mut self, reading: Reading) -> Task<Message> {
        self.show_reader(reader::Screen::new(reading));
        self.perform_one(Effect::Focus(field::READER))
    }

    /// Performs commands while a text is read; the page below gets none.
    pub(super) fn on_reader(&mut self, command: Command) -> Task<Message> {
        match command {
            Command::Escape => self.close_reader(),
            Command::Find => self.handle(Message::Reader(reader::Message::FindPressed)),
            Command::CopyAll => self.handle(Message::Reader(reader::Message::CopyPressed)),
            Command::Help => {
                self.show_dialog(Dialog::Help);
                self.perform_one(Effect::Unfocus)
            }
            Command::ZoomIn | Command::ZoomOut | Command::ZoomReset | Command::Theme => self.restyle(command),
            _ => Task::none(),
        }
    }

    /// Opens a file that a task has changed.
    pub(super) fn edit_file(file: PathBuf) -> Task<Message> {
        let opened = async move {
            // The desktop would start the program that such a file names, and an agent wrote the file.
            if file.extension().is_some_and(|end| end == "desktop") {
                return Err(format!("{} is a program's starter: open it yourself.", file.display()));
            }
            let sought = file.clone();
            let is_there = tokio::task::spawn_blocking(move || sought.exists()).await.unwrap_or(false);
            if !is_there {
                return Err(format!("{} is not there any more.", file.display()));
            }
            desktop::open(file).await
        };
        Task::future(opened).then(|opened| {
            opened.map_or_else(|words| Task::done(Message::NotOpened(words)), |()| Task::none())
        })
    }

    /// Shows the text in the person's editor.
    pub(super) fn edit(&self, reading: Reading) -> Task<Message> {
        let folder = self.local.shown();
        let shown = async move {
            let write = move || desktop::write(&folder, &reading.title, &reading.text);
            let written =
                tokio::task::spawn_blocking(write).await.unwrap_or_else(|e| Err(io::Error::other(e)));
            match written {
                Ok(file) => desktop::open(file).await,
                Err(error) => Err(format!("The text could not be written for the editor: {error}")),
            }
        };
        Task::future(shown)
            .then(|shown| shown.map_or_else(|words| Task::done(Message::NotOpened(words)), |()| Task::none()))
    }
}
