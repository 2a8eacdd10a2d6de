//! What a task has changed: its files, line counts and diffs.

use super::{Conversation, Message, diff, undo};
use crate::{
    daemon::Failure,
    effect::{Effect, Reading},
    request::{self, Part},
    theme::{space, style},
    widget::{Element, Look, beside, code, one_line, press::Press, secondary, word},
    words,
};
use abide_client::{
    protocol::{
        ErrorKind, Seq, TaskId,
        checkpoint::{ChangedFile, UndoFrom},
        inbox::Preview,
        message::{CallOutcome, CallView},
        method::task::TaskChangesReply,
    },
    view::{ConversationView, Entry},
};
use abide_host::text::visible_line;
use diff::Counts;
use iced::{
    Center, Fill,
    widget::{Column, Container, Row, column, container, row},
};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

/// The most files listed.
const MAX_FILES: usize = 200;

/// The changes of the loaded tasks.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The calls that were counted.
    calls: Vec<Seq>,
    of: HashMap<TaskId, Vec<File>>,
    /// The daemon's answer about a task that has ended: its changes, or why there is no undo. `None`: the
    /// answer has not come.
    told: HashMap<TaskId, Option<Result<TaskChangesReply, String>>>,
    /// Tasks whose files are shown, and files whose diffs are shown.
    shown: HashSet<TaskId>,
    open: HashSet<(TaskId, String)>,
}

/// A file that a task has changed, by these calls.
#[derive(Debug)]
struct File {
    path: String,
    calls: Vec<Seq>,
    /// The difference between the file before the first call and after the last, if the calls' diffs give it.
    counts: Option<Counts>,
}

/// The call's preview, if the call was done and has one.
fn changed(call: &CallView) -> Option<&Preview> {
    let is_done =
        call.outcome == Some(CallOutcome::Done) && call.result.as_ref().is_some_and(|result| result.ok);
    call.preview.as_deref().filter(|_| is_done)
}

impl Changes {
    /// Counts again if there are other calls than before.
    pub(super) fn follow(&mut self, view: &ConversationView) {
        let calls = || {
            let calls = view
                .timeline()
                .filter_map(|entry| if let Entry::Call(call) = entry { Some(call) } else { None });
            calls.filter_map(|call| Some((call, changed(call)?)))
        };
        if calls().map(|(call, _)| call.seq).eq(self.calls.iter().copied()) {
            return;
        }
        self.calls = calls().map(|(call, _)| call.seq).collect();
        self.of.clear();
        let mut previews: HashMap<Seq, &Preview> = HashMap::new();
        for (call, preview) in calls() {
            previews.insert(call.seq, preview);
            let files = self.of.entry(call.task_id).or_default();
            match files.iter_mut().find(|file| file.path == preview.path) {
                Some(file) => file.calls.push(call.seq),
                None => files.push(File { path: preview.path.clone(), calls: vec![call.seq], counts: None }),
            }
        }
        for file in self.of.values_mut().flatten() {
            let mut edits = file.calls.iter().filter_map(|seq| previews.get(seq).copied());
            file.counts = match &*file.calls {
                [_] => edits.next().map(diff::counts),
                _ => diff::net(edits),
            };
        }
    }

    /// The daemon has said what the task has changed, or that it cannot.
    pub(super) fn tell(&mut self, task: TaskId, told: Result<TaskChangesReply, &Failure>) {
        match told {
            Ok(reply) => self.told.insert(task, Some(Ok(reply))),
            Err(Failure { kind: Some(ErrorKind::IllegalState), message }) => {
                let why = message.rsplit_once("could be made: ").map_or(&**message, |(_, why)| why);
                self.told.insert(task, Some(Err(why.to_owned())))
            }
            // It can be asked again.
            Err(_) => self.told.remove(&task),
        };
    }

    fn told(&self, task: TaskId) -> Option<&Result<TaskChangesReply, String>> {
        self.told.get(&task).and_then(Option::as_ref)
    }

    /// The whole diff, if it is known.
    pub(super) fn diff(&self, task: TaskId) -> Option<Reading> {
        self.told(task).and_then(|told| told.as_ref().ok()).map(undo::diff_of)
    }

    pub(super) fn toggle(&mut self, task: TaskId) {
        if !self.shown.remove(&task) {
            self.shown.insert(task);
        }
    }

    pub(super) fn toggle_file(&mut self, task: TaskId, path: String) {
        let file = (task, path);
        if !self.open.remove(&file) {
            self.open.insert(file);
        }
    }
}

impl File {
    /// The line counts, or a word in their place.
    fn words<'a>(&self) -> Vec<Element<'a, Message>> {
        match self.counts {
            None => vec![beside(words::counted(self.calls.len() as u64, "edit")).into()],
            Some(counts) if self.calls.len() > 1 && counts.words() == (None, None) => {
                vec![beside("as it was").into()]
            }
            Some(counts) => said(counts).collect(),
        }
    }
}

/// A line about a file and what can be done with it.
fn file_head<'a>(
    path: &'a str,
    counts: Vec<Element<'a, Message>>,
    diff: Press<'a, Message>,
    undo: Option<Element<'a, Message>>,
) -> Row<'a, Message> {
    row![one_line(code(visible_line(path).into_owned()))]
        .extend(counts)
        .push(diff)
        .push(word("Edit", Message::FileEdited(path.to_owned())))
        .push(undo)
        .spacing(space::S)
        .align_y(Center)
}

/// The diffs of a file.
fn opened<'a>(diffs: Column<'a, Message>) -> Container<'a, Message> {
    container(diffs.spacing(space::M)).padding(space::S).width(Fill).style(style::output)
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        added: a.added.saturating_add(b.added),
        removed: a.removed.saturating_add(b.removed),
        is_least: a.is_least || b.is_least,
    }
}

/// The lines of these files; of a file that is no text there are none.
fn sum_of(files: &[ChangedFile]) -> Counts {
    let count = |lines: Option<u64>| lines.and_then(|lines| usize::try_from(lines).ok()).unwrap_or(0);
    files.iter().fold(Counts { added: 0, removed: 0, is_least: false }, |all, file| {
        let (added, removed) = (count(file.added), count(file.removed));
        sum(all, Counts { added, removed, is_least: false })
    })
}

/// `+91`, `−300`, each in its colour.
fn said<'a>(counts: Counts) -> impl Iterator<Item = Element<'a, Message>> {
    let (added, removed) = counts.words();
    let added = added.map(|words| beside(words).style(style::ok).into());
    added.into_iter().chain(removed.map(|words| beside(words).style(style::bad).into()))
}

impl Conversation {
    /// The bar of a task's changes, if there are any: how many files and lines, what can be done with them,
    /// and each file on demand.
    pub(super) fn changes(&self, task: TaskId, look: Look) -> Option<Element<'_, Message>> {
        let edited: &[File] = self.changes.of.get(&task).map_or(&[], Vec::as_slice);
        let told = self.changes.told(task);
        let reply = told
            .and_then(|told| told.as_ref().ok())
            .filter(|reply| !reply.files.is_empty() || reply.can_redo);
        let has_ended = self.task(task).is_some_and(|task| task.ended_at.is_some());
        let others = self.others(task);
        if edited.is_empty() && reply.is_none() && (others.is_none() || !has_ended || told.is_some()) {
            return None;
        }
        let is_shown = self.changes.shown.contains(&task);
        let toggle = word(if is_shown { "Hide" } else { "Show" }, Message::ChangesToggled(task));
        let (head, lines) = match reply {
            Some(reply) => {
                let head = match reply.files.len() as u64 {
                    0 => "undone".to_owned(),
                    files => format!("{} changed", words::counted(files, "file")),
                };
                (words::sentence(&head), Some(sum_of(&reply.files)))
            }
            // What commands have changed only git knows. If one edit's difference is unknown, there is no
            // sum.
            None => {
                let all = edited.iter().map(|file| file.counts).reduce(|a, b| Some(sum(a?, b?))).flatten();
                (format!("{} edited", words::counted(edited.len() as u64, "file")), all)
            }
        };
        let mut bar = row![].spacing(space::S).align_y(Center);
        if reply.is_some() || !edited.is_empty() {
            let has_files = reply.is_none_or(|reply| !reply.files.is_empty());
            bar = bar
                .push(beside(head))
                .extend(lines.into_iter().flat_map(said))
                .push(has_files.then_some(toggle));
        }
        bar = match reply {
            Some(reply) => {
                let undo = |label, from| word(label, Message::Undo(undo::Message::UndoOf(task, from, None)));
                let review = word("Review", Message::Undo(undo::Message::Reviewed(task)));
                bar.push((!reply.files.is_empty()).then_some(review))
                    .push(reply.files.iter().any(undo::is_offered).then(|| undo("Undo", UndoFrom::Start)))
                    .push(reply.can_redo.then(|| undo("Redo", UndoFrom::LastUndo)))
            }
            None => {
                let is_there = told.is_none() && (has_ended || others.is_some());
                bar.push(is_there.then(|| self.review(task)).flatten())
            }
        };
        let note = match told {
            Some(Err(why)) => Some(format!("No undo here: {}", visible_line(why))),
            Some(Ok(_)) => None,
            None if edited.is_empty() => None,
            None => others.map(|others| format!("{others} may have changed more")),
        };
        let mut content = column![bar.wrap()].push(note.map(secondary)).spacing(space::XS);
        if is_shown {
            let rows: Vec<Element<'_, Message>> = match reply {
                Some(reply) => reply
                    .files
                    .iter()
                    .take(MAX_FILES)
                    .map(|file| self.changed_file(task, file, &reply.diff, look))
                    .collect(),
                None => edited.iter().take(MAX_FILES).map(|file| self.file(task, file, look)).collect(),
            };
            let list = Column::with_children(rows).spacing(space::XS);
            content = content.push(container(list).padding(space::S).width(Fill).style(style::tool));
            let more = reply.map_or(edited.len(), |reply| reply.files.len()).saturating_sub(MAX_FILES);
            if more > 0 {
                content = content.push(secondary(format!("… {}", words::counted(more as u64, "more file"))));
            }
        }
        Some(content.into())
    }

    /// Asks the daemon what the last task has changed, once it has ended: only git knows what commands did,
    /// and whether there is an undo. `is_old`: earlier answers no longer hold.
    pub(super) fn ask_for_changes(&mut self, is_old: bool) -> Option<Effect> {
        let id = self.changed_by()?;
        if is_old {
            self.changes.told.clear();
        }
        let has_any = self.changes.of.contains_key(&id) || self.others(id).is_some();
        let has_ended = self.task(id).is_some_and(|task| task.status.has_ended());
        let is_due = has_ended && has_any && !self.changes.told.contains_key(&id);
        is_due.then(|| {
            self.changes.told.insert(id, None);
            Effect::Ask(request::changes(id, UndoFrom::Start))
        })
    }

    /// Shows all that the task has changed, as git finds it, if that can be asked for: of a root task.
    fn review(&self, task: TaskId) -> Option<Press<'_, Message>> {
        let is_root = self.sub_task.is_none() && self.task(task).is_some_and(|task| task.depth == 0);
        is_root.then(|| word("Review", Message::Undo(undo::Message::ChangesOf(task))))
    }

    /// What may have changed files of the task's folder, beside its edits.
    fn others(&self, task: TaskId) -> Option<&'static str> {
        let is_command = |call: &CallView| {
            call.task_id == task
                && matches!(&*call.tool, "shell" | "python")
                && call.outcome == Some(CallOutcome::Done)
        };
        let has_commands =
            self.view.timeline().any(|entry| matches!(entry, Entry::Call(call) if is_command(call)));
        let has_sub_tasks = self.task(task).is_some_and(|task| task.tree.is_some());
        match (has_commands, has_sub_tasks) {
            (false, false) => None,
            (true, false) => Some("commands"),
            (false, true) => Some("sub-tasks"),
            (true, true) => Some("commands and sub-tasks"),
        }
    }

    /// A file as git finds it, in this diff.
    fn changed_file<'a>(
        &'a self,
        task: TaskId,
        file: &'a ChangedFile,
        diff: &'a str,
        look: Look,
    ) -> Element<'a, Message> {
        let undo = |label, hunk: Option<&str>| {
            let part = Part { file: file.path.clone(), hunk: hunk.map(str::to_owned) };
            word(label, Message::Undo(undo::Message::UndoOf(task, UndoFrom::Start, Some(part))))
        };
        let is_offered = undo::is_offered(file);
        let button: Element<'a, Message> = if is_offered {
            undo("Undo", None).into()
        } else {
            beside("changed since by somebody else").into()
        };
        let counts = said(sum_of(std::slice::from_ref(file))).collect();
        let head = file_head(&file.path, counts, self.toggle_diff(task, &file.path), Some(button));
        if !self.shows_diff(task, &file.path) {
            return head.into();
        }
        // The diff may be long, so it is read only for the files that are open.
        let hunks = diff::hunks(diff, &file.path);
        if hunks.is_empty() {
            return column![head, secondary("The diff does not show its content.")].into();
        }
        let has_parts = is_offered && hunks.len() > 1;
        let hunks = hunks.into_iter().map(|hunk| {
            let preview = Preview { path: file.path.clone(), diff: hunk.to_owned(), changed: None };
            let review = Message::Undo(undo::Message::Reviewed(task));
            let shown = diff::view(&preview, diff::ALL, look, || review);
            column![shown].push(has_parts.then(|| undo("Undo this part", Some(hunk)))).into()
        });
        column![head, opened(Column::with_children(hunks))].into()
    }

    fn file<'a>(&'a self, task: TaskId, file: &'a File, look: Look) -> Element<'a, Message> {
        let head = file_head(&file.path, file.words(), self.toggle_diff(task, &file.path), None);
        if !self.shows_diff(task, &file.path) {
            return head.into();
        }
        let edits = file.calls.len();
        let diffs = file.calls.iter().zip(1..).filter_map(|(seq, n)| match self.view.entry(*seq)? {
            Entry::Call(call) => {
                let preview = call.preview.as_ref()?;
                let read = Message::DiffRead(call.call_id);
                let diff = diff::view(preview, diff::ALL, look, || read);
                let which = row![secondary(format!("edit {n} of {edits}"))].extend(diff::changes(preview));
                let which = (edits > 1).then(|| which.spacing(space::S).into());
                Some(Column::new().extend(which).push(diff).into())
            }
            _ => None,
        });
        column![head, opened(Column::with_children(diffs))].into()
    }

    fn shows_diff(&self, task: TaskId, path: &str) -> bool {
        self.changes.open.contains(&(task, path.to_owned()))
    }

    /// Shows a file's diff, or hides it.
    fn toggle_diff<'a>(&self, task: TaskId, path: &str) -> Press<'a, Message> {
        let label = if self.shows_diff(task, path) { "Hide diff" } else { "Diff" };
        word(label, Message::FileToggled(task, path.to_owned()))
    }

    /// Opens a changed file in the workspace.
    pub(super) fn edit_file(&self, path: &str) -> Vec<Effect> {
        let folder = self.view.conversation().map(|known| known.workspace.clone()).unwrap_or_default();
        vec![Effect::EditFile(Path::new(&folder).join(path))]
    }
}
