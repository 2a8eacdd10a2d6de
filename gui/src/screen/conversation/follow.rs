//! Folds the daemon's updates and chooses the rows to build.
//!
//! Updates change the fold (`view`); the fold gives the rows ([`Conversation::project`], or
//! [`Conversation::grow`] while only live output came, which moves no settled row); rows, goal and the part
//! last looked at give the window of rows to build ([`Conversation::reframe`]), and only documents of that
//! window are parsed. Nothing flows back from rows to the fold. Requests leave as effects. Entries are
//! forgotten only while the end is followed, so nothing that a person reads disappears.

use super::{
    Conversation, Gap, Goal, Row,
    projection::{current_task, now, rows},
    thought::thoughts,
    worked::fold,
};
use crate::{
    effect::Effect,
    request,
    screen::{
        composer::{Permission, Stance},
        pending::picked,
    },
};
use abide_client::{
    Update,
    protocol::{
        Seq,
        event::EventKind,
        inbox::PendingId,
        message::{CallView, Message, Role},
    },
    view::{Change, Entry},
};

/// How many rows are built at the end while it is followed, and otherwise on either side of the visible ones.
/// A longer row counts as several.
const NEAR: usize = 40;
/// The text of a row that counts as one, in bytes.
const SHORT: usize = 256;
/// How many entries are kept while the end is followed.
pub(super) const KEEP: usize = 2000;
/// How many messages a snapshot has.
const SNAPSHOT: usize = 100;

impl Conversation {
    /// Folds updates in. `seen` is set if a person is looking: how many messages the daemon counts as unread.
    pub fn follow(&mut self, updates: Vec<Update>, seen: Option<u64>) -> Vec<Effect> {
        let mut changes = Vec::new();
        let mut effects = Vec::new();
        let picked = self.picked_in_words();
        let worked = self.current().filter(|task| !task.status.has_ended()).map(|task| task.id);
        for update in updates {
            let is_first = matches!(update, Update::Snapshot(_));
            changes.extend(self.view.apply(update));
            if is_first {
                self.begin(&mut effects);
            }
        }
        self.documents.follow(&self.view, &changes);
        self.composer.usual = current_task(&self.view, None).map(|task| Permission::after(task.approvals));
        if picked.is_some_and(|id| self.view.inbox().get(id).is_none()) {
            effects.push(self.composer.clear());
        }
        match self.stance() {
            Stance::Away => {}
            Stance::Question(_, question) => {
                let id = question.id;
                self.composer.meet(Some(id));
            }
            _ => self.composer.meet(None),
        }
        if !self.at_end() {
            self.news += changes
                .iter()
                .filter(|change| matches!(change, Change::Added(seq) if self.is_said(*seq)))
                .count();
        } else if self.view.timeline().len() > 2 * KEEP {
            if let Some(gap) = self.gap {
                self.view.forget_before(gap.before);
            }
            self.view.keep_last(KEEP);
            self.gap = self.view.timeline().next().map(|oldest| Gap::from_start(oldest.seq()));
        }
        let has_ended = |id| self.task(id).is_some_and(|task| task.status.has_ended());
        if let Some(id) = worked.filter(|id| !self.at_end() && has_ended(*id)) {
            // The person is reading its steps.
            self.unfolded.insert(id, true);
        }
        if changes.iter().any(moves_rows) {
            self.project();
        } else {
            self.grow();
        }
        let is_news = changes.iter().any(|change| matches!(change, Change::Added(_) | Change::Reset));
        if self.goal.is_some() && !changes.is_empty() {
            effects.extend(self.seek());
        }
        let is_old = |change: &Change| match change {
            Change::Added(seq) => self.is_undo(*seq),
            change => matches!(change, Change::Reset),
        };
        let is_old = changes.iter().any(is_old);
        effects.extend(self.ask_for_changes(is_old));
        if let Some(unread) = seen.filter(|_| is_news) {
            effects.extend(self.read(unread));
        }
        effects
    }

    /// Requests what a snapshot lacks.
    fn begin(&mut self, effects: &mut Vec<Effect>) {
        let mut messages = self.view.timeline().filter(|entry| matches!(entry, Entry::Message(_)));
        let first = messages.next().map(Entry::seq);
        self.gap = first.filter(|_| messages.count() + 1 >= SNAPSHOT).map(Gap::from_start);
        if self.sub_task.is_none() {
            effects.push(Effect::Ask(request::tasks(self.id)));
            self.asked_sub_tasks = false;
            effects.extend(self.ask_for_forked());
        }
        if self.goal.is_none() && self.looked.is_none() {
            // The conversation opens at the oldest waiting card.
            let oldest = self.waiting().next().map(|item| item.pending.id());
            self.goal = oldest.map(|id| Goal::Row(Row::Card(id)));
        }
    }

    /// Requests the sub-tasks of earlier root tasks, once: a snapshot has those of the newest root task only.
    pub fn ask_for_sub_tasks(&mut self) -> Option<Effect> {
        let is_first = !std::mem::replace(&mut self.asked_sub_tasks, true);
        is_first.then_some(Effect::Ask(request::sub_tasks(self.id)))
    }

    /// Requests them if the timeline has calls that may have started some.
    pub(super) fn ask_for_forked(&mut self) -> Option<Effect> {
        let newest = current_task(&self.view, None).map(|task| task.id);
        let may_start =
            |call: &CallView| matches!(&*call.tool, "fork" | "python") && Some(call.task_id) != newest;
        let is_missing = self.sub_task.is_none()
            && self.view.timeline().any(|entry| matches!(entry, Entry::Call(call) if may_start(call)));
        is_missing.then(|| self.ask_for_sub_tasks()).flatten()
    }

    /// The question whose picked choice is the draft: without the question the draft means nothing.
    fn picked_in_words(&self) -> Option<PendingId> {
        let Stance::Question(_, question) = self.stance() else { return None };
        picked(question, &self.composer.draft()).map(|_| PendingId::Question(question.id))
    }

    fn is_said(&self, seq: Seq) -> bool {
        matches!(self.view.entry(seq), Some(Entry::Message(m)) if m.role != Role::User)
    }

    fn is_undo(&self, seq: Seq) -> bool {
        matches!(self.view.entry(seq), Some(Entry::Event(event)) if matches!(event.kind, EventKind::Undone(_)))
    }

    /// Marks all messages as read, if some are unread.
    pub fn read(&mut self, unread: u64) -> Option<Effect> {
        if self.sub_task.is_some() {
            // Only messages of root tasks count as unread.
            return None;
        }
        let is_message = |entry: &&Entry| matches!(entry, Entry::Message(_));
        let last = self.view.timeline().rev().find(is_message).map(Entry::seq)?;
        let is_new = unread > 0 || self.view.unread() > 0;
        self.view.mark_read(last);
        is_new.then_some(Effect::Ask(request::mark_read(self.id, last)))
    }

    pub(super) fn project(&mut self) {
        self.thoughts = thoughts(&self.view, |id| self.task(id));
        let of = self.sub_task;
        (self.rows, self.heads) = self.unfolded_rows();
        let mut settled = std::mem::take(&mut self.rows);
        fold(&mut settled, &self.view, |task| self.shows_steps(task));
        self.documents.parse_long(&self.view);
        self.rows = settled.into_iter().flat_map(|row| self.blocks(row)).collect();
        self.settled = self.rows.len();
        self.rows.extend(now(&self.view, of, &self.heads, |item| self.documents.blocks(item)));
        self.keep_selection();
        self.changes.follow(&self.view);
        self.reframe();
    }

    /// The row, and those of the further blocks of a long reply.
    fn blocks(&self, row: Row) -> impl Iterator<Item = Row> + use<> {
        let blocks = match row {
            Row::Entry(seq) => match self.view.entry(seq) {
                Some(Entry::Message(message)) => self.rows_of(message).map(|rows| (seq, rows)),
                _ => None,
            },
            _ => None,
        };
        let more = blocks.into_iter().flat_map(|(seq, rows)| (1..rows).map(move |n| Row::Block(seq, n)));
        std::iter::once(row).chain(more)
    }

    /// How many rows show this message, if it is a long reply. A text of reason or observe is one, which can
    /// be folded.
    pub(super) fn rows_of(&self, message: &Message) -> Option<usize> {
        self.documents.rows_of(message).filter(|_| !self.thoughts.contains(&message.seq))
    }

    /// The rows with the steps of all tasks, and the heads that are due.
    pub(super) fn unfolded_rows(&self) -> (Vec<Row>, Vec<Row>) {
        let missing = self.gap.map(|gap| gap.after);
        rows(&self.view, self.sub_task, &self.earlier, &self.thoughts, missing)
    }

    /// Follows a streaming reply, which moves no other rows.
    fn grow(&mut self) {
        let blocks = |item| self.documents.blocks(item);
        let now: Vec<Row> = now(&self.view, self.sub_task, &self.heads, blocks).collect();
        if self.rows.get(self.settled..) == Some(&now) {
            return;
        }
        self.rows.truncate(self.settled);
        self.rows.extend(now);
        self.keep_selection();
        self.reframe();
    }

    /// How many of these rows, the nearest first, are near: at least one.
    fn near<'a>(&self, rows: impl Iterator<Item = &'a Row>) -> usize {
        let mut left = NEAR;
        rows.take_while(|row| {
            let is_near = left > 0;
            left = left.saturating_sub(1 + self.length(**row) / SHORT);
            is_near
        })
        .count()
    }

    /// The length of a row's text, in bytes; the mean of its rows, if it is one of a long reply.
    fn length(&self, row: Row) -> usize {
        match row {
            Row::Entry(seq) | Row::Block(seq, _) => match self.view.entry(seq) {
                Some(Entry::Message(message)) => message.text.len() / self.rows_of(message).unwrap_or(1),
                _ => 0,
            },
            Row::Live(item, _) => {
                self.documents.live_source(item).map_or(0, str::len) / self.documents.blocks(item).max(1)
            }
            _ => 0,
        }
    }

    /// Chooses the rows near the visible ones.
    pub(super) fn reframe(&mut self) {
        let count = self.rows.len();
        let place = |row: Row| self.rows.iter().rposition(|known| *known == row);
        let before = |place: usize| place - self.near(self.rows[..place].iter().rev());
        let after = |place: usize| place + 1 + self.near(self.rows[place + 1..].iter());
        let goal = self.goal_row().and_then(place);
        self.window = match (goal, self.looked) {
            (Some(goal), _) => before(goal)..after(goal),
            (None, Some(view)) if !view.at_end => match (place(view.first), place(view.last)) {
                (Some(first), Some(last)) if first <= last => before(first)..after(last),
                // The visible rows are gone: stay as near as possible.
                _ => self.window.start.min(count)..self.window.end.min(count),
            },
            _ => before(count)..count,
        };
        let shown = self.rows.get(self.window.clone()).unwrap_or_default();
        let seqs = shown.iter().filter_map(|row| match row {
            Row::Entry(seq) | Row::Block(seq, _) => Some(*seq),
            _ => None,
        });
        self.documents.parse(&self.view, seqs);
        let ends = shown.iter().filter_map(|row| if let Row::End(id) = row { Some(*id) } else { None });
        for id in ends {
            let known = self.view.task(id).or_else(|| self.earlier.iter().find(|task| task.id == id));
            if let Some(task) = known {
                self.documents.parse_summary(task);
            }
        }
    }
}

/// Whether the change adds or moves rows. Live output has rows of its own.
const fn moves_rows(change: &Change) -> bool {
    !matches!(change, Change::Output { .. } | Change::Daemon)
}
