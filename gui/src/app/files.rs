//! Files that come from outside: dropped on the window, or chosen in the desktop's dialog.

use super::{App, Message, Page};
use crate::{
    effect::{Effect, field},
    picker::{self, Choice},
    screen::{
        composer::attached::{Dropped, look_at},
        new_conversation,
    },
};
use abide_client::protocol::Timestamp;
use iced::Task;
use std::path::PathBuf;

/// How long the files of one drop may take to be looked at, in milliseconds.
const ONE_DROP: u64 = 1000;

impl App {
    /// Inspects a dropped file.
    pub(super) fn look_at_file(path: PathBuf) -> Task<Message> {
        Task::future(async move { Message::FileSeen(seen(path).await) })
    }

    /// Asks the desktop for a file or a folder.
    pub(super) fn choose_file(choice: Choice) -> Task<Message> {
        let chosen = async move {
            match picker::choose(choice).await {
                Ok(Some(path)) => Some(Message::FileSeen(seen(path).await)),
                Ok(None) => None,
                Err(words) => Some(Message::FileSeen(Err(words))),
            }
        };
        Task::future(chosen).then(|message| message.map_or_else(Task::none, Task::done))
    }

    /// Uses the file or folder where it belongs on this page.
    pub(super) fn file_seen(&mut self, seen: Result<Dropped, String>) -> Task<Message> {
        let done = match (seen, self.page, &mut self.open) {
            (Err(words), ..) => Err(words),
            (Ok(Dropped::Folder(folder)), Page::NewConversation, _) => {
                self.file_taken();
                let effects = self
                    .new_conversation
                    .update(new_conversation::Message::FolderPressed(folder), &self.catalog);
                return self.perform(effects);
            }
            (Ok(Dropped::Folder(_)), ..) => {
                Err("A folder is chosen for a new conversation; this one has its own.".to_owned())
            }
            (Ok(Dropped::Text(file)), Page::NewConversation, _) => {
                self.new_conversation.composer.attach(file)
            }
            (Ok(Dropped::Text(file)), Page::Conversation, Some(open)) if open.sub_task().is_none() => {
                open.composer.attach(file)
            }
            (Ok(Dropped::Text(file)), ..) => {
                Err(format!("{} is not attached: no prompt is open here.", file.name))
            }
        };
        match done {
            Ok(()) => {
                self.file_taken();
                self.perform_one(Effect::Focus(field::COMPOSER))
            }
            Err(words) => {
                self.refuse_file(words);
                Task::none()
            }
        }
    }

    /// Says why a file is not used. Several may be dropped at once: then it is said of each.
    fn refuse_file(&mut self, words: String) {
        let words = match self.refused.take().filter(|refused| self.is_of_this_drop(refused)) {
            Some(Refused { words: before, .. }) => format!("{before}\n{words}"),
            None => words,
        };
        self.feedback.notice = Some(words.clone());
        self.refused = Some(Refused { words, at: self.now });
    }

    /// What was said of an earlier drop is over.
    fn file_taken(&mut self) {
        if let Some(refused) = self.refused.take_if(|refused| !is_recent(refused.at, self.now)) {
            self.feedback.notice.take_if(|notice| *notice == refused.words);
        }
    }

    fn is_of_this_drop(&self, refused: &Refused) -> bool {
        is_recent(refused.at, self.now) && self.feedback.notice.as_ref() == Some(&refused.words)
    }
}

/// What was last said of files that were not used.
#[derive(Debug)]
pub(super) struct Refused {
    words: String,
    at: Timestamp,
}

/// Whether two files may be of one drop: the window gets each by itself.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    now.since(at) < ONE_DROP
}

/// Blocking work: the disk may be slow.
async fn seen(path: PathBuf) -> Result<Dropped, String> {
    let looked = tokio::task::spawn_blocking(move || look_at(&path)).await;
    looked.unwrap_or_else(|_| Err("The file could not be looked at.".to_owned()))
}
