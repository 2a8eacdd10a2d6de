//! What the newest task has changed in files, and taking it back: in the place of the menu.

use super::{Conversation, Menu, Message as Above};
use crate::{
    effect::{Effect, Reading, Start},
    request::Request,
    theme::{space, style},
    widget::{Element, Look, action, key, press::Press, secondary, word},
    words,
};
use abide_client::{
    protocol::{TaskId, checkpoint::ChangedFile, method::task::TaskChangesReply},
    text::visible_line,
};
use iced::{
    Center, Fill,
    widget::{column, row},
};

/// The most files that are named.
const NAMED: usize = 4;

/// What a task has changed, as far as it is known.
#[derive(Debug)]
pub(super) struct Shown {
    task: TaskId,
    /// `None`: the daemon has not said yet.
    changes: Option<Box<TaskChangesReply>>,
    /// It is asked whether to take it back.
    asks: bool,
}

#[derive(Debug, Clone)]
pub enum Message {
    /// Asks for what the newest task has changed in files.
    ChangesPressed,
    /// Opens the diff of it.
    DiffPressed,
    UndoPressed,
    Confirmed,
}

impl Conversation {
    pub(super) fn handle_undo(&mut self, message: &Message) -> Vec<Effect> {
        match message {
            Message::ChangesPressed => self.show_changes(),
            Message::DiffPressed => self.read_changes(),
            Message::UndoPressed => self.ask_to_undo(),
            Message::Confirmed => self.undo(),
        }
    }

    /// The task whose changes can be shown: a root task.
    pub(super) fn changed_by(&self) -> Option<TaskId> {
        self.sub_task.is_none().then(|| self.current()).flatten().map(|task| task.id)
    }

    fn show_changes(&mut self) -> Vec<Effect> {
        let Some(task) = self.changed_by() else { return Vec::new() };
        self.menu = Menu::Changes(Shown { task, changes: None, asks: false });
        vec![Effect::Ask(Request::Changes(task))]
    }

    /// The daemon has said what a task has changed.
    pub(super) fn know_changes(&mut self, of: TaskId, reply: &TaskChangesReply) {
        if let Menu::Changes(shown) = &mut self.menu
            && shown.task == of
        {
            shown.changes = Some(Box::new(reply.clone()));
        }
    }

    /// Opens the whole diff.
    fn read_changes(&self) -> Vec<Effect> {
        let Menu::Changes(Shown { changes: Some(changes), .. }) = &self.menu else { return Vec::new() };
        let cut = if changes.cut { "\nThe rest of the diff is left out.\n" } else { "" };
        let text = format!("{}{cut}", changes.diff);
        let title = format!("Changed: {}", words::counted(changes.files.len() as u64, "file"));
        vec![Effect::Read(Reading { title, text, start: Start::Beginning })]
    }

    /// Asks whether to take it back. Enter answers that, so no field may have it.
    fn ask_to_undo(&mut self) -> Vec<Effect> {
        if let Menu::Changes(shown) = &mut self.menu {
            shown.asks = true;
        }
        vec![Effect::Unfocus]
    }

    fn undo(&mut self) -> Vec<Effect> {
        match std::mem::replace(&mut self.menu, Menu::Closed) {
            Menu::Changes(Shown { task, .. }) => vec![Effect::Ask(Request::Undo(task))],
            _ => Vec::new(),
        }
    }

    /// Whether it is asked to take a task's changes back.
    pub(super) const fn is_undoing(&self) -> bool {
        matches!(self.menu, Menu::Changes(Shown { asks: true, .. }))
    }
}

impl Shown {
    pub(super) fn view(&self, look: Look) -> Element<'_, Above> {
        let small = |button: Press<'static, Above>| button.padding(style::button_padding(look.is_low));
        let Some(changes) = &self.changes else {
            return row![secondary("Looking at the files…").width(Fill), word("Close", Above::MenuClosed)]
                .align_y(Center)
                .into();
        };
        let restored = changes.files.iter().filter(|file| !file.kept).count() as u64;
        let (said, buttons) = if self.asks {
            let undo = action("Take back", Some(key("↵").style(style::key_bad)));
            let buttons = row![
                small(undo).style(style::danger).on_press(Above::Undo(Message::Confirmed)).passed_by(),
                small(action("Keep", Some(key("Esc")))).style(style::quiet).on_press(Above::MenuClosed),
            ];
            (question(changes, restored), buttons)
        } else {
            let diff = (!changes.files.is_empty())
                .then(|| word("Show diff", Above::Undo(Message::DiffPressed)).into());
            let undo = (restored > 0).then(|| word("Undo…", Above::Undo(Message::UndoPressed)).into());
            let buttons = row![].extend(diff).extend(undo).push(word("Close", Above::MenuClosed));
            (summary(&changes.files), buttons)
        };
        let (said, buttons) = (secondary(said), buttons.spacing(space::S));
        if look.is_low {
            column![said, buttons].spacing(space::XS).into()
        } else {
            row![said.width(Fill), buttons].spacing(space::S).align_y(Center).into()
        }
    }
}

/// `3 files changed: src/a.rs (+1 −2), b (deleted)`
fn summary(files: &[ChangedFile]) -> String {
    if files.is_empty() {
        return "No file is changed, or all are what they were.".to_owned();
    }
    let lines = |file: &ChangedFile| match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!(" (+{added} −{removed})"),
        _ => String::new(),
    };
    let mut named: Vec<String> =
        files.iter().take(NAMED).map(|file| visible_line(&file.path).into_owned() + &lines(file)).collect();
    if files.len() > NAMED {
        named.push(format!("and {} more", files.len() - NAMED));
    }
    format!("{} changed: {}", words::counted(files.len() as u64, "file"), named.join(", "))
}

fn question(changes: &TaskChangesReply, restored: u64) -> String {
    let kept: Vec<_> = changes.files.iter().filter(|file| file.kept).collect();
    let mut said = format!("Take back what the task changed in {}?", words::counted(restored, "file"));
    if let [first, more @ ..] = &*kept {
        let names = match more.len() {
            0 => visible_line(&first.path).into_owned(),
            more => format!("{} and {more} more", visible_line(&first.path)),
        };
        let is = if more.is_empty() { "was" } else { "were" };
        said.push_str(&format!(" {names} {is} changed since by somebody else: kept."));
    }
    said
}
