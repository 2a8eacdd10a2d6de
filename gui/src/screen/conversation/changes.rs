//! What a task has changed: its files, line counts and diffs.

use super::{Conversation, Message, diff, undo};
use crate::{
    effect::Effect,
    theme::{space, style},
    widget::{Element, Look, beside, code, one_line, press::Press, secondary, word},
    words,
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        inbox::Preview,
        message::{CallOutcome, CallView},
    },
    text::visible_line,
    view::{ConversationView, Entry},
};
use diff::Counts;
use iced::{
    Center, Fill,
    widget::{Column, column, container, row},
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

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        added: a.added.saturating_add(b.added),
        removed: a.removed.saturating_add(b.removed),
        is_least: a.is_least || b.is_least,
    }
}

/// `+91`, `−300`, each in its colour.
fn said<'a>(counts: Counts) -> impl Iterator<Item = Element<'a, Message>> {
    let (added, removed) = counts.words();
    let added = added.map(|words| beside(words).style(style::ok).into());
    added.into_iter().chain(removed.map(|words| beside(words).style(style::bad).into()))
}

impl Conversation {
    /// A task's changed files, if any: a line, and each file on demand.
    fn changes(&self, task: TaskId, look: Look) -> Option<Element<'_, Message>> {
        let Some(files) = self.changes.of.get(&task).filter(|files| !files.is_empty()) else {
            let has_ended = self.task(task).is_some_and(|task| task.ended_at.is_some());
            let all = self.others(task).filter(|_| has_ended).and_then(|_| self.all_changes(task))?;
            return Some(all.padding([2.0, 0.0]).into());
        };
        let is_shown = self.changes.shown.contains(&task);
        // Not "changed": what commands have changed only git knows, when it is asked.
        // If one edit's difference is unknown, there is no sum.
        let all = files.iter().map(|file| file.counts).reduce(|a, b| Some(sum(a?, b?))).flatten();
        let head = format!("{} edited", words::counted(files.len() as u64, "file"));
        let toggle = word(if is_shown { "Hide" } else { "Show" }, Message::ChangesToggled(task));
        let head = row![beside(head)].extend(all.into_iter().flat_map(said)).push(toggle);
        let rest = self.others(task).map(|others| {
            row![beside(format!("{others} may have changed more"))]
                .extend(self.all_changes(task).map(Element::from))
                .spacing(space::S)
                .align_y(Center)
        });
        let mut content = column![head.spacing(space::S).align_y(Center)].push(rest).spacing(space::XS);
        if is_shown {
            let rows = files.iter().take(MAX_FILES).map(|file| self.file(task, file, look));
            let list = Column::with_children(rows).spacing(space::XS);
            content = content.push(container(list).padding(space::S).width(Fill).style(style::tool));
            let more = files.len().saturating_sub(MAX_FILES);
            if more > 0 {
                content = content.push(secondary(format!("… {}", words::counted(more as u64, "more file"))));
            }
        }
        Some(content.into())
    }

    /// Shows all that the task has changed, as git finds it, if that can be asked for: of a root task.
    fn all_changes(&self, task: TaskId) -> Option<Press<'_, Message>> {
        let is_root = self.sub_task.is_none() && self.task(task).is_some_and(|task| task.depth == 0);
        is_root.then(|| word("All changes", Message::Undo(undo::Message::ChangesOf(task))))
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

    /// The last line of a task, below its changes.
    pub(super) fn below_changes<'a>(
        &'a self,
        task: TaskId,
        last: Element<'a, Message>,
        look: Look,
    ) -> Element<'a, Message> {
        match self.changes(task, look) {
            None => last,
            Some(changes) => column![changes, last].spacing(space::S).into(),
        }
    }

    fn file<'a>(&'a self, task: TaskId, file: &'a File, look: Look) -> Element<'a, Message> {
        let is_open = self.changes.open.contains(&(task, file.path.clone()));
        let diff = if is_open { "Hide diff" } else { "Diff" };
        let head = row![one_line(code(visible_line(&file.path).into_owned()))]
            .extend(file.words())
            .push(word(diff, Message::FileToggled(task, file.path.clone())))
            .push(word("Edit", Message::FileEdited(file.path.clone())))
            .spacing(space::S)
            .align_y(Center);
        if !is_open {
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
        let diffs = Column::with_children(diffs).spacing(space::M);
        column![head, container(diffs).padding(space::S).width(Fill).style(style::output)].into()
    }

    /// Opens a changed file in the workspace.
    pub(super) fn edit_file(&self, path: &str) -> Vec<Effect> {
        let folder = self.view.conversation().map(|known| known.workspace.clone()).unwrap_or_default();
        vec![Effect::EditFile(Path::new(&folder).join(path))]
    }
}
