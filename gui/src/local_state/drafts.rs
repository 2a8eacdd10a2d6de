//! What a person has written and not sent. Each window has a folder of its own for it, so that no window
//! overwrites what is written in another one. The drafts of a window that is gone belong to the first window
//! that looks for them.

use super::{keep, read};
use crate::screen::pending::Written;
use abide_client::protocol::{ConversationId, TaskId};
use abide_host::{Home, home::create_private_dir};
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// The longest draft that is read, in bytes: what a message to the daemon can have.
const MAX: u64 = 8 * 1024 * 1024;

/// The files of the drafts of one window.
#[derive(Debug)]
pub struct Drafts {
    /// The folder of the first window; it has those of others.
    first: PathBuf,
    own: PathBuf,
    /// Held while the window is there. `None`: the system has no locks, and all windows have the same folder.
    _lock: Option<File>,
    /// Something is not saved yet.
    pub is_dirty: bool,
    pub unconfirmed: Option<Unconfirmed>,
}

/// A text that was being sent when its conversation was left. It is a draft until the daemon has taken it.
#[derive(Debug)]
pub struct Unconfirmed {
    pub conversation: ConversationId,
    pub text: String,
}

impl Drafts {
    /// Those of a window that opens, in the first folder that no other window has.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        let first = home.state_dir.join("gui");
        for own in folders(&first) {
            match lock(&own) {
                Ok(lock) => return Self::in_folder(first, own, Some(lock)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(%error, folder = %own.display(), "cannot lock the folder of this window's drafts");
                    break;
                }
            }
        }
        Self::in_folder(first.clone(), first, None)
    }

    const fn in_folder(first: PathBuf, own: PathBuf, lock: Option<File>) -> Self {
        Self { first, own, _lock: lock, is_dirty: false, unconfirmed: None }
    }

    /// The draft of a conversation; of a new one with `None`.
    #[must_use]
    pub fn draft(&self, conversation: Option<ConversationId>) -> String {
        self.take(&draft_file(conversation)).unwrap_or_default()
    }

    pub fn keep_draft(&self, conversation: Option<ConversationId>, text: &str) {
        self.keep(&draft_file(conversation), text);
    }

    /// The unsent words for a task at work.
    #[must_use]
    pub fn intervention(&self, task: TaskId) -> String {
        self.take(&intervention_file(task)).unwrap_or_default()
    }

    pub fn keep_intervention(&self, task: TaskId, text: &str) {
        self.keep(&intervention_file(task), text);
    }

    /// The unsent reasons and answers of cards.
    #[must_use]
    pub fn written(&self) -> Written {
        self.take(WRITTEN).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub fn keep_written(&self, written: &Written) {
        if *written == Written::default() {
            return self.keep(WRITTEN, "");
        }
        match serde_json::to_string(written) {
            Ok(text) => self.keep(WRITTEN, &text),
            Err(error) => tracing::warn!(%error, "cannot encode the unsent reasons and answers of cards"),
        }
    }

    /// Without text there is no file.
    fn keep(&self, name: &str, text: &str) {
        let file = self.own.join(name);
        if text.trim().is_empty() {
            // The file may not exist.
            let _ = fs::remove_file(file);
        } else {
            keep(&file, text);
        }
    }

    /// The text of this window's own file; without one, a file of a window that is gone becomes it.
    fn take(&self, name: &str) -> Option<String> {
        let own = self.own.join(name);
        if !own.exists() {
            let others = folders(&self.first).take_while(|other| other.exists());
            for other in others.filter(|other| *other != self.own && other.join(name).exists()) {
                // Nobody opens a window with that folder meanwhile.
                if lock(&other).is_ok_and(|_lock| fs::rename(other.join(name), &own).is_ok()) {
                    break;
                }
            }
        }
        read(&own, MAX)
    }
}

const WRITTEN: &str = "written.json";

fn draft_file(conversation: Option<ConversationId>) -> String {
    format!("drafts/{}", conversation.map_or_else(|| "new".to_owned(), |id| id.to_string()))
}

fn intervention_file(task: TaskId) -> String {
    format!("drafts/{task}-intervention")
}

/// The folders of windows that are open at the same time.
fn folders(first: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let first = first.to_owned();
    std::iter::once(first.clone()).chain((2_u32..).map(move |n| first.join(format!("window-{n}"))))
}

/// Makes the folder of a window, and locks it.
fn lock(folder: &Path) -> Result<File, TryLockError> {
    let opened = create_private_dir(&folder.join("drafts")).map_err(io::Error::other);
    let opened =
        opened.and_then(|()| File::options().create(true).append(true).open(folder.join("window.lock")));
    let file = opened.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use uuid::Uuid;

    const CONVERSATION: Option<ConversationId> = Some(ConversationId(Uuid::from_u128(1)));
    const TASK: TaskId = TaskId(Uuid::from_u128(2));

    /// A kind of text: how a window keeps it, and how it finds it.
    type Kind = (&'static str, fn(&Drafts, &str), fn(&Drafts) -> String);

    const KINDS: [Kind; 4] = [
        ("a new conversation", |w, text| w.keep_draft(None, text), |w| w.draft(None)),
        ("a conversation", |w, text| w.keep_draft(CONVERSATION, text), |w| w.draft(CONVERSATION)),
        ("a task", |w, text| w.keep_intervention(TASK, text), |w| w.intervention(TASK)),
        ("a card", |w, text| w.keep_written(&said(text)), |w| format!("{:?}", w.written())),
    ];

    /// An answer that is not sent; with an empty text there is none.
    fn said(text: &str) -> Written {
        let answers = Some((Uuid::from_u128(3), text)).filter(|_| !text.is_empty());
        let answers: HashMap<Uuid, &str> = answers.into_iter().collect();
        serde_json::from_value(serde_json::json!({ "answers": answers })).unwrap()
    }

    #[test]
    fn a_window_does_not_overwrite_what_is_written_in_another() {
        for (kind, keep, find) in KINDS {
            let dir = tempfile::tempdir().unwrap();
            let home = Home::at(dir.path());
            let (first, second) = (Drafts::of(&home), Drafts::of(&home));
            let nothing = find(&first);
            keep(&first, "one");
            assert_eq!(find(&second), nothing, "{kind}");
            keep(&second, "two");
            let one = find(&first);
            assert!(one.contains("one") && find(&second).contains("two"), "{kind}");
            keep(&second, "");
            assert_eq!(find(&first), one, "{kind}");
        }
    }

    #[test]
    fn what_windows_have_left_is_found_one_after_the_other() {
        for (kind, keep, find) in KINDS {
            let dir = tempfile::tempdir().unwrap();
            let home = Home::at(dir.path());
            let windows = ["one", "two", "three"].map(|text| {
                let window = Drafts::of(&home);
                keep(&window, text);
                window
            });
            drop(windows);
            let window = Drafts::of(&home);
            let nothing = find(&Drafts::of(&Home::at(dir.path().join("elsewhere"))));
            for text in ["one", "two", "three"] {
                assert!(find(&window).contains(text), "{kind}");
                // It is sent.
                keep(&window, "");
            }
            assert_eq!(find(&window), nothing, "{kind}");
        }
    }
}
