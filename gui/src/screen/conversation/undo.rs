//! What a root task has changed in files, and its undo: in the place of the menu.

use super::{Conversation, Menu, Message as Above};
use crate::{
    daemon::Failure,
    effect::{Effect, Form, Reading},
    request::{self, Part},
    theme::{space, style},
    widget::{Element, Look, action, beside, key, press::Press, secondary, word},
    words,
};
use abide_client::protocol::{
    TaskId,
    checkpoint::{ChangedFile, UndoFrom},
    method::task::TaskChangesReply,
};
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{column, row},
};

/// The most files that are named.
const NAMED: usize = 4;

/// The most steps that are offered, the newest.
const STEPS: usize = 5;

/// What a task has changed, as far as it is known.
#[derive(Debug)]
pub(super) struct Shown {
    task: TaskId,
    from: UndoFrom,
    /// `None`: the daemon has not said yet.
    changes: Option<Box<TaskChangesReply>>,
    /// `changes` is of another beginning; the daemon has not said yet what it is from `from` on.
    is_old: bool,
    /// Only this part.
    only: Option<Part>,
    /// It is asked whether to undo it.
    asks: bool,
    place: TaskOrder,
}

/// A task among those of its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskOrder {
    Only,
    Last,
    Earlier,
}

#[derive(Debug, Clone)]
pub enum Message {
    /// Asks for what the newest task has changed in files.
    ChangesPressed,
    /// The same of another root task.
    ChangesOf(TaskId),
    /// Opens the whole diff of its changes, which is known.
    Reviewed(TaskId),
    /// Asks for what it is from there on.
    FromPressed(UndoFrom),
    /// Opens the diff of it.
    DiffPressed,
    UndoPressed,
    /// Asks whether to undo what a task has changed from there on, or only this part.
    UndoOf(TaskId, UndoFrom, Option<Part>),
    Confirmed,
    /// The same, with what changed while a command ran.
    AllConfirmed,
}

impl Conversation {
    pub(super) fn handle_undo(&mut self, message: &Message) -> Vec<Effect> {
        match message {
            Message::ChangesPressed => self
                .changed_by()
                .map(|task| self.show_changes(task, UndoFrom::Start, None))
                .unwrap_or_default(),
            Message::ChangesOf(task) => self.show_changes(*task, UndoFrom::Start, None),
            Message::Reviewed(task) => self.changes.diff(*task).map(Effect::Read).into_iter().collect(),
            Message::UndoOf(task, from, only) => {
                let mut effects = self.show_changes(*task, *from, only.clone());
                effects.extend(self.ask_to_undo());
                effects
            }
            // The conversation may have begun another task since.
            Message::FromPressed(from) => match self.menu {
                Menu::Changes(Shown { task, .. }) => self.show_changes(task, *from, None),
                _ => Vec::new(),
            },
            Message::DiffPressed => self.read_changes(),
            Message::UndoPressed => self.ask_to_undo(),
            Message::Confirmed => self.undo(false),
            Message::AllConfirmed => self.undo(true),
        }
    }

    /// The task whose changes can be shown: a root task.
    pub(super) fn changed_by(&self) -> Option<TaskId> {
        self.sub_task.is_none().then(|| self.current()).flatten().map(|task| task.id)
    }

    fn show_changes(&mut self, task: TaskId, from: UndoFrom, only: Option<Part>) -> Vec<Effect> {
        let changes = match std::mem::replace(&mut self.menu, Menu::Closed) {
            Menu::Changes(Shown { task: of, changes, .. }) if of == task => changes,
            _ => None,
        };
        let is_old = changes.is_some();
        let mut others = self.view.tasks().chain(&self.earlier).filter(|other| other.id != task);
        let place = match self.changed_by() == Some(task) {
            false => TaskOrder::Earlier,
            true if others.any(|other| other.depth == 0) => TaskOrder::Last,
            true => TaskOrder::Only,
        };
        self.menu = Menu::Changes(Shown { task, from, changes, is_old, only, asks: false, place });
        vec![Effect::Ask(request::changes(task, from))]
    }

    /// The daemon has said what a task has changed.
    pub(super) fn know_changes(&mut self, of: TaskId, from: UndoFrom, reply: &TaskChangesReply) {
        if from == UndoFrom::Start {
            self.changes.tell(of, Ok(reply.clone()));
        }
        if let Menu::Changes(shown) = &mut self.menu
            && (shown.task, shown.from) == (of, from)
        {
            let mut changes = reply.clone();
            if let Some(only) = &shown.only {
                changes.files.retain(|file| file.path == only.file);
            }
            shown.changes = Some(Box::new(changes));
            shown.is_old = false;
        }
    }

    /// The daemon cannot say what a task has changed.
    pub(super) fn changes_failed(&mut self, of: TaskId, failure: &Failure) {
        self.changes.tell(of, Err(failure));
        if matches!(&self.menu, Menu::Changes(shown) if shown.task == of) {
            self.menu = Menu::Closed;
        }
    }

    /// Opens the whole diff.
    fn read_changes(&self) -> Vec<Effect> {
        let Menu::Changes(Shown { changes: Some(changes), is_old: false, .. }) = &self.menu else {
            return Vec::new();
        };
        vec![Effect::Read(diff_of(changes))]
    }

    /// Asks whether to undo it. Enter answers that, so no field may have it.
    fn ask_to_undo(&mut self) -> Vec<Effect> {
        if let Menu::Changes(shown) = &mut self.menu {
            shown.asks = true;
        }
        vec![Effect::Unfocus]
    }

    fn undo(&mut self, all: bool) -> Vec<Effect> {
        let Menu::Changes(Shown {
            task, from, changes: Some(changes), asks: true, is_old: false, only, ..
        }) = &self.menu
        else {
            return Vec::new();
        };
        let (task, from) = (*task, *from);
        // Enter undoes what is certain; there may be nothing of that.
        if !all && changes.files.iter().all(|file| file.kept) {
            return Vec::new();
        }
        let only = only.clone();
        self.menu = Menu::Closed;
        vec![Effect::Ask(request::undo(task, from, all, only))]
    }

    /// Whether something is shown that can be undone.
    pub(super) fn can_undo(&self) -> bool {
        match &self.menu {
            Menu::Changes(Shown { changes: Some(changes), is_old: false, asks: false, .. }) => {
                changes.files.iter().any(is_offered)
            }
            _ => false,
        }
    }

    /// Whether it is asked to undo a task's changes.
    pub(super) const fn is_undoing(&self) -> bool {
        matches!(self.menu, Menu::Changes(Shown { asks: true, .. }))
    }
}

impl Shown {
    pub(super) fn view(&self, look: Look) -> Element<'_, Above> {
        let small = |button: Press<'static, Above>| button.padding(style::button_padding(look.is_low));
        let waiting = || {
            row![secondary("Looking at the files…").width(Fill), word("Close", Above::MenuClosed)]
                .align_y(Center)
        };
        let Some(changes) = &self.changes else { return waiting().into() };
        if self.is_old {
            let beginnings = (!self.asks).then(|| self.beginnings(changes));
            return column![waiting()].push(beginnings).spacing(space::XS).into();
        }
        let restored = changes.files.iter().filter(|file| !file.kept).count() as u64;
        let perhaps = changes.files.iter().filter(|file| file.kept && file.perhaps_yours).count() as u64;
        let (said, buttons, beginnings) = if self.asks {
            let verb = verb(self.from);
            let undo = action(verb, Some(key("↵").style(style::key_bad)));
            let undo = (restored > 0).then(|| {
                small(undo).style(style::danger).on_press(Above::Undo(Message::Confirmed)).passed_by().into()
            });
            let all = (perhaps > 0).then(|| {
                let label = if restored > 0 { "All of it" } else { verb };
                small(action(label, None))
                    .style(style::danger)
                    .on_press(Above::Undo(Message::AllConfirmed))
                    .into()
            });
            let keep =
                small(action("Keep", Some(key("Esc")))).style(style::quiet).on_press(Above::MenuClosed);
            let buttons = row![].extend(undo).extend(all).push(keep);
            (question(self, changes, restored, perhaps), buttons, None)
        } else {
            let diff = (!changes.files.is_empty())
                .then(|| word("Show diff", Above::Undo(Message::DiffPressed)).into());
            let undo = format!("{}…", verb(self.from));
            let undo = (restored + perhaps > 0).then(|| word(undo, Above::Undo(Message::UndoPressed)).into());
            let buttons = row![].extend(diff).extend(undo).push(word("Close", Above::MenuClosed));
            (summary(self, &changes.files), buttons, Some(self.beginnings(changes)))
        };
        let (said, buttons) = (secondary(said), buttons.spacing(space::S));
        let told: Element<'_, Above> = if look.is_low {
            column![said, buttons].spacing(space::XS).into()
        } else {
            row![said.width(Fill), buttons].spacing(space::S).align_y(Center).into()
        };
        column![told].extend(beginnings).spacing(space::XS).into()
    }

    /// From where on changes can be shown and undone, if there is a choice.
    fn beginnings(&self, changes: &TaskChangesReply) -> Element<'static, Above> {
        let steps = changes.steps.get(1..).unwrap_or_default();
        let newest = steps.iter().skip(steps.len().saturating_sub(STEPS));
        let redo = changes.can_redo.then_some(UndoFrom::LastUndo);
        let offered: Vec<UndoFrom> = newest.map(|step| UndoFrom::Step(*step)).chain(redo).collect();
        if offered.is_empty() {
            return column![].into();
        }
        let choice = |from: UndoFrom| {
            let label = match from {
                UndoFrom::Start => "the start".to_owned(),
                UndoFrom::Step(step) => format!("step {step}"),
                UndoFrom::LastUndo => "the last undo".to_owned(),
            };
            let style = if from == self.from { style::chosen } else { style::quiet };
            word(label, Above::Undo(Message::FromPressed(from))).style(style).into()
        };
        let choices = [UndoFrom::Start].into_iter().chain(offered).map(choice);
        row![beside("Since")].extend(choices).spacing(space::XS).align_y(Center).wrap().into()
    }
}

/// `3 files changed: src/a.rs (+1 −2), b (deleted)`
fn summary(shown: &Shown, files: &[ChangedFile]) -> String {
    let by = match (shown.from, shown.place) {
        (UndoFrom::LastUndo, _) => " since the last undo began",
        (_, TaskOrder::Only) => "",
        (_, TaskOrder::Last) => " by the last task",
        (_, TaskOrder::Earlier) => " by that earlier task",
    };
    if files.is_empty() {
        return format!("No file is changed{by}, or all are what they were.");
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
    format!("{} changed{by}: {}", words::counted(files.len() as u64, "file"), named.join(", "))
}

/// `Undo`, or `Redo` of an undo.
const fn verb(from: UndoFrom) -> &'static str {
    match from {
        UndoFrom::LastUndo => "Redo",
        UndoFrom::Start | UndoFrom::Step(_) => "Undo",
    }
}

/// The whole diff, to be read on its own.
pub(super) fn diff_of(changes: &TaskChangesReply) -> Reading {
    let cut = if changes.cut { "\nThe rest of the diff is left out.\n" } else { "" };
    let text = format!("{}{cut}", changes.diff);
    let title = format!("Changed: {}", words::counted(changes.files.len() as u64, "file"));
    Reading { title, text, form: Form::Diff }
}

/// Whether a file can be undone.
pub(super) const fn is_offered(file: &ChangedFile) -> bool {
    !file.kept || file.perhaps_yours
}

fn question(shown: &Shown, changes: &TaskChangesReply, restored: u64, perhaps: u64) -> String {
    let kept: Vec<_> = changes.files.iter().filter(|file| !is_offered(file)).collect();
    let files = match &shown.only {
        Some(Part { file, hunk: None }) => visible_line(file).into_owned(),
        Some(Part { file, hunk: Some(_) }) => format!("this part of {}", visible_line(file)),
        None => words::counted(if restored > 0 { restored } else { perhaps }, "file"),
    };
    let mut said = match shown.from {
        _ if restored + perhaps == 0 => "There is nothing to undo any more.".to_owned(),
        UndoFrom::Start => format!("Undo what the task changed in {files}?"),
        UndoFrom::Step(step) => format!("Undo what the task changed from step {step} on, in {files}?"),
        UndoFrom::LastUndo => format!("Redo what the last undo took from {files}?"),
    };
    if perhaps > 0 && restored > 0 {
        let (files, is) = (words::counted(perhaps, "more file"), if perhaps == 1 { "is" } else { "are" });
        said.push_str(&format!(" {files} changed while a command ran and {is} perhaps yours."));
    } else if perhaps > 0 {
        said.push_str(" That changed while a command ran and is perhaps yours.");
    }
    if let [first, more @ ..] = &*kept {
        let names = match more.len() {
            0 => visible_line(&first.path).into_owned(),
            more => format!("{} and {more} more", visible_line(&first.path)),
        };
        let is = if more.is_empty() { "was" } else { "were" };
        said.push_str(&format!(" {names} {is} changed since by somebody else: kept."));
    }
    for note in &changes.notes {
        said.push_str(&format!(" {}.", visible_line(note)));
    }
    said
}
