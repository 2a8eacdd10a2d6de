//! The rows of a conversation's timeline, from the fold alone; nothing is drawn.
//!
//! [`rows`] walks over the entries once, oldest first, and gives each its row, or none if another row shows
//! the same (a control call, a notice that the task's end repeats). Then it drops and inserts what can be
//! known only after the walk: failures that are tried again, pauses that are over, ends that the fold knows
//! from a task's state. [`now`] gives the rows after those: live output and what is under way, which change
//! with every delta. A row is a key, not content: it stays equal while what it shows grows, so widget state,
//! scroll anchor and selection survive a new projection. An open item has exactly one card, at its place or
//! at the end.

use super::{child::Forks, thought::is_thinking};
use abide_client::{
    protocol::{
        CallId, QuestionId, Seq, TaskId,
        event::{Event, EventKind, PhaseEvent, StartedEvent},
        inbox::{Pending, PendingId},
        message::{CallView, MessageKind, Role},
        notification::DeltaItem,
        record::ModelErrorKind,
        task::{AgentTask, EndReason, PauseReason, Phase, Status},
    },
    view::{ConversationView, Entry},
};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
};

/// A row's key. It is enough to find what the row shows, which stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Row {
    /// In place of entries that are not loaded.
    Older,
    Entry(Seq),
    /// The name of a phase within its step.
    Phase(Seq),
    /// This many model calls failed one after the other.
    Failed {
        last: Seq,
        times: u32,
    },
    /// An open item, at its place.
    Card(PendingId),
    /// A sub-task, where it began.
    Child(TaskId),
    /// A further block of a long reply, counted from 1: its entry shows the first.
    Block(Seq, usize),
    /// The steps of an ended task, folded or above them.
    Worked(TaskId),
    /// How a task ended.
    End(TaskId),
    /// A block of live output, counted from 0: earlier blocks stay the same while the last one grows.
    Live(DeltaItem, usize),
    /// What is under way now.
    Indicator(TaskId),
}

/// All rows except those of [`now`], oldest first, and the heads that are due before the next one: of this
/// sub-task, or of the root tasks. `earlier` are tasks that the fold lacks, because they ended before it
/// began; `thoughts` are the messages that are texts of reason or observe. Entries after `missing` are not
/// loaded.
#[must_use]
pub(super) fn rows(
    view: &ConversationView,
    of: Option<TaskId>,
    earlier: &[AgentTask],
    thoughts: &BTreeSet<Seq>,
    missing: Option<Seq>,
) -> (Vec<Row>, Vec<Row>) {
    let mut rows = Vec::with_capacity(view.timeline().len() + 8);
    let open = Open::of(view, of);
    let forks = Forks::of(view, earlier, of);
    let mut shown = HashSet::new();
    let mut told_ends = HashSet::new();
    let mut last_of = HashMap::new();
    let mut pauses = HashMap::new();
    let mut taken_back = HashSet::new();
    let mut heads = Heads::default();
    // How a task began, below its prompt.
    let mut began = None;
    let mut missing = missing;
    for entry in view.timeline() {
        if missing.take_if(|after| entry.seq() > *after).is_some() {
            rows.push(Row::Older);
            heads = Heads::default();
        }
        taken_back.extend(note_pause(&mut pauses, view, entry).into_iter().flatten());
        let row = match entry {
            Entry::Message(m) => match m.question_id.and_then(|id| open.questions.get(&id)) {
                Some(id) if m.kind == MessageKind::Question => Some(Row::Card(*id)),
                _ => Some(Row::Entry(m.seq)),
            },
            Entry::Call(call) if call.is_control() => None,
            Entry::Call(call) => match open.approvals.get(&call.call_id) {
                Some(id) => Some(Row::Card(*id)),
                // The sub-task's line says it all.
                None if call.tool == "fork" && !forks.by(call).is_empty() => None,
                None => Some(Row::Entry(call.seq)),
            },
            Entry::Event(event) => match (&event.kind, event.task_id) {
                (EventKind::TaskEnded(ended), Some(task)) => {
                    told_ends.insert(task);
                    rows.pop_if(|row| is_told(view, *row, ended.reason, ended.error.as_deref()));
                    Some(Row::End(task))
                }
                (EventKind::StepBegan(began), _) => {
                    heads.step(event.seq, began.step);
                    None
                }
                (EventKind::PhaseBegan(began), _) => {
                    heads.phase(event.seq, *began);
                    None
                }
                // The row before it tells that the daemon was away: the model did not fail.
                (EventKind::ModelFailed(failed), _) if failed.kind == ModelErrorKind::Interrupted => None,
                (EventKind::ModelFailed(failed), task) => {
                    let before = match rows.last() {
                        Some(Row::Failed { last, times }) if is_of(view, *last, task) => *times,
                        _ => 0,
                    };
                    if before > 0 {
                        rows.pop();
                    }
                    let is_said = failed.retry_at.is_none() && before == 0;
                    (!is_said).then_some(Row::Failed { last: event.seq, times: before + 1 })
                }
                (EventKind::TaskStarted(started), _) if !is_plain(started) => {
                    began = Some(Row::Entry(event.seq));
                    None
                }
                // The notice, the message or the task itself shows it; traces of a stream are for
                // `abide show --history`.
                (EventKind::TaskStarted(_) | EventKind::TaskEnded(_) | EventKind::ModelTraced(_), _) => None,
                _ => Some(Row::Entry(event.seq)),
            },
        };
        if let Some(Row::Card(id)) = row {
            shown.insert(id);
        }
        if row.is_some() {
            // Consecutive calls form a group.
            let goes_on =
                matches!(entry, Entry::Call(_)) && rows.last().is_some_and(|row| is_call(view, *row));
            let is_shown = !goes_on && !matches!(row, Some(Row::End(_)));
            rows.extend(heads.before(entry, thoughts).filter(|_| is_shown));
        }
        rows.extend(row);
        if let Entry::Call(call) = entry {
            let children = forks.by(call);
            if row.is_none() && !children.is_empty() {
                rows.extend(heads.before(entry, thoughts));
            }
            rows.extend(children.iter().copied().map(Row::Child));
        }
        if matches!(entry, Entry::Message(said) if said.role == Role::User && said.kind == MessageKind::Text)
        {
            rows.extend(began.take());
        }
        if let (Some(task), false) = (entry.task_id(), rows.is_empty()) {
            last_of.insert(task, rows.len());
        }
    }
    let tried_again = take_what_is_tried_again(&mut rows, view, of);
    insert_ends(&mut rows, view, earlier, &told_ends, &last_of);
    drop_pauses(&mut rows, view, earlier, &pauses);
    rows.retain(|row| !matches!(row, Row::Entry(seq) if taken_back.contains(seq)));
    // Open items of tasks that this timeline does not show.
    rows.extend(open.all.into_iter().filter(|id| !shown.contains(id)).map(Row::Card));
    (rows, tried_again.into_iter().chain(heads.due()).collect())
}

/// The rows after those: live output in so many `blocks` below the `heads` that are due, and what is under
/// way.
pub(super) fn now<'a>(
    view: &'a ConversationView,
    of: Option<TaskId>,
    heads: &'a [Row],
    blocks: impl Fn(DeltaItem) -> usize + 'a,
) -> impl Iterator<Item = Row> + 'a {
    let live = view.live().map(|(item, _)| item).filter(is_reply);
    let mut live =
        live.flat_map(move |item| (0..blocks(item)).map(move |block| Row::Live(item, block))).peekable();
    // Nothing is under a head before the reply has begun.
    let heads = if live.peek().is_some() { heads } else { &[] };
    heads
        .iter()
        .copied()
        .chain(live)
        .chain(current_task(view, of).filter(|task| is_busy(task)).map(|task| Row::Indicator(task.id)))
}

/// Whether there is nothing to say about how the task began.
const fn is_plain(started: &StartedEvent) -> bool {
    started.persona.is_none() && started.instructions.is_empty()
}

fn is_call(view: &ConversationView, row: Row) -> bool {
    match row {
        Row::Entry(seq) => matches!(view.entry(seq), Some(Entry::Call(_))),
        Row::Card(id) => matches!(id, PendingId::Approval(_)),
        _ => false,
    }
}

/// Whether the row repeats what the task's end shows.
fn is_told(view: &ConversationView, row: Row, reason: EndReason, error: Option<&str>) -> bool {
    let Row::Entry(seq) = row else { return false };
    let Some(Entry::Message(message)) = view.entry(seq) else { return false };
    // A notice right before such an end says the same.
    let has_notice = matches!(
        reason,
        EndReason::Stopped
            | EndReason::Deleted
            | EndReason::StepLimit
            | EndReason::TimeLimit
            | EndReason::QuestionTimeout
    );
    message.kind == MessageKind::Notice && (has_notice || Some(&*message.text) == error)
}

fn is_of(view: &ConversationView, seq: Seq, task: Option<TaskId>) -> bool {
    view.entry(seq).is_some_and(|entry| entry.task_id() == task)
}

/// Whether the row is the head of a step or a phase.
fn is_head(view: &ConversationView, row: Row) -> bool {
    let began = |event: &Event| matches!(event.kind, EventKind::StepBegan(_) | EventKind::PhaseBegan(_));
    match row {
        Row::Phase(_) => true,
        Row::Entry(seq) => matches!(view.entry(seq), Some(Entry::Event(event)) if began(event)),
        _ => false,
    }
}

/// While a model call is retried, the line at the end shows why and when. So the failure's row and the heads
/// above it are due only when the reply has begun.
fn take_what_is_tried_again(rows: &mut Vec<Row>, view: &ConversationView, of: Option<TaskId>) -> Vec<Row> {
    let is_retried = |last| {
        current_task(view, of).is_some_and(|task| task.retry.is_some() && is_of(view, last, Some(task.id)))
    };
    match rows.last() {
        Some(Row::Failed { last, .. }) if is_retried(*last) => {
            let heads = rows[..rows.len() - 1].iter().rev().take_while(|row| is_head(view, **row)).count();
            rows.split_off(rows.len() - 1 - heads)
        }
        _ => Vec::new(),
    }
}

/// Notes where each task was paused by a person, until it goes on. Returns where it was paused and where it
/// was resumed, if it was resumed before the pause took effect.
fn note_pause(pauses: &mut HashMap<TaskId, Seq>, view: &ConversationView, entry: &Entry) -> Option<[Seq; 2]> {
    let Entry::Event(event) = entry else { return None };
    match (&event.kind, event.task_id?) {
        (EventKind::Paused(PauseReason::User), task) => {
            pauses.insert(task, event.seq);
            None
        }
        (EventKind::Resumed(_), task) => {
            let paused = pauses.remove(&task)?;
            let Some(Entry::Event(pause)) = view.entry(paused) else { return None };
            is_taken_back(view, task, pause, event).then_some([paused, event.seq])
        }
        _ => None,
    }
}

/// Whether the call or reply that was under way at the pause was still under way when the task was resumed.
fn is_taken_back(view: &ConversationView, task: TaskId, paused: &Event, resumed: &Event) -> bool {
    let its = || view.timeline().filter(|entry| entry.task_id() == Some(task));
    let runs_on = |call: &CallView| {
        let has_begun = call.started_at.is_some_and(|started| started <= paused.at);
        has_begun && call.ended_at.is_none_or(|ended| ended > resumed.at)
    };
    if its().any(|entry| matches!(entry, Entry::Call(call) if runs_on(call))) {
        return true;
    }
    // After a pause the next model call begins a step: a reply without one was under way.
    let next = its().find(|entry| entry.seq() > resumed.seq);
    match next {
        Some(entry) => matches!(entry, Entry::Message(message) if message.role == Role::Agent),
        None => view.task(task).is_some_and(|task| task.status == Status::Thinking),
    }
}

/// Drops rows of pauses that are not in effect: a task finishes what is under way first. A task that ended
/// may never have paused, and its end says enough.
fn drop_pauses(
    rows: &mut Vec<Row>,
    view: &ConversationView,
    earlier: &[AgentTask],
    pauses: &HashMap<TaskId, Seq>,
) {
    let known = |id| view.task(id).or_else(|| earlier.iter().find(|task| task.id == id));
    let is_in_force = |task: &AgentTask| !task.status.has_ended() && task.pausing().is_none();
    let dropped: HashSet<Seq> = pauses
        .iter()
        .filter(|(id, _)| known(**id).is_some_and(|task| !is_in_force(task)))
        .map(|(_, seq)| *seq)
        .collect();
    rows.retain(|row| !matches!(row, Row::Entry(seq) if dropped.contains(seq)));
}

fn is_reply(item: &DeltaItem) -> bool {
    matches!(item, DeltaItem::Reply(_))
}

/// Whether it works by itself: if it waits for a person, a card shows that.
const fn is_busy(task: &AgentTask) -> bool {
    !task.status.has_ended() && !task.status.needs_person() && !matches!(task.status, Status::Paused)
}

/// This sub-task, or the newest root task.
#[must_use]
pub(super) fn current_task(view: &ConversationView, of: Option<TaskId>) -> Option<&AgentTask> {
    match of {
        Some(id) => view.task(id),
        None => view.tasks().rev().find(|task| task.parent_id.is_none()),
    }
}

/// The heads that come before the next entry of their step and phase: a phase without an entry has none.
#[derive(Default)]
struct Heads {
    step: Option<Row>,
    phase: Option<(Row, Phase)>,
    /// The step and the phase that began last.
    begun: Option<PhaseEvent>,
}

impl Heads {
    /// The first step has no head.
    fn step(&mut self, at: Seq, step: u32) {
        (self.step, self.phase) = ((step > 1).then_some(Row::Entry(at)), None);
    }

    /// A phase that is all of its step, or goes on from the step before, has no head of its own.
    fn phase(&mut self, at: Seq, began: PhaseEvent) {
        let before = self.begun.replace(began);
        if before.is_none_or(|before| before.step != began.step) {
            self.step(at, began.step);
        }
        let goes_on = began.phase == Phase::Act && before.is_some_and(|before| before.phase == Phase::Act);
        let is_all = began.phase == Phase::Plan;
        self.phase = (!goes_on && !is_all).then_some((Row::Phase(at), began.phase));
    }

    /// The heads that are due before this entry.
    fn before(&mut self, entry: &Entry, thoughts: &BTreeSet<Seq>) -> impl Iterator<Item = Row> {
        let phase = self.phase.take_if(|(_, phase)| match entry {
            Entry::Message(said) if is_thinking(*phase) => thoughts.contains(&said.seq),
            Entry::Message(said) => said.role == Role::Agent,
            Entry::Call(_) => !is_thinking(*phase),
            Entry::Event(_) => false,
        });
        self.step.take().into_iter().chain(phase.map(|(row, _)| row))
    }

    /// Those that are due before the reply under way.
    fn due(self) -> impl Iterator<Item = Row> {
        self.step.into_iter().chain(self.phase.map(|(row, _)| row))
    }
}

struct Open {
    questions: HashMap<QuestionId, PendingId>,
    approvals: HashMap<CallId, PendingId>,
    all: Vec<PendingId>,
}

impl Open {
    /// Those of the sub-task and of the tasks below it, or all of the conversation.
    fn of(view: &ConversationView, of: Option<TaskId>) -> Self {
        let mut open = Self { questions: HashMap::new(), approvals: HashMap::new(), all: Vec::new() };
        let is_here = |id: TaskId| of.is_none_or(|top| view.is_within(id, top));
        for item in view.inbox().items().iter().filter(|item| is_here(item.task_id)) {
            let id = item.pending.id();
            open.all.push(id);
            match &item.pending {
                Pending::Question(question) => open.questions.insert(question.id, id),
                Pending::Approval(approval) => open.approvals.insert(approval.call_id, id),
            };
        }
        open
    }
}

/// Inserts ends that the fold knows only from a task's state, after the last row of that task.
fn insert_ends(
    rows: &mut Vec<Row>,
    view: &ConversationView,
    earlier: &[AgentTask],
    told: &HashSet<TaskId>,
    last_of: &HashMap<TaskId, usize>,
) {
    let known = view.tasks().chain(earlier.iter().filter(|task| view.task(task.id).is_none()));
    let ended = known.filter(|task| task.status.has_ended() && !told.contains(&task.id));
    let mut ends: Vec<(usize, &AgentTask)> =
        ended.filter_map(|task| Some((*last_of.get(&task.id)?, task))).collect();
    ends.sort_unstable_by_key(|(at, task)| Reverse((*at, task.id)));
    for (at, task) in ends {
        let (reason, error) =
            (task.end_reason.unwrap_or(EndReason::Completed), task.error_message.as_deref());
        match at.checked_sub(1).and_then(|last| rows.get_mut(last)) {
            Some(last) if is_told(view, *last, reason, error) => *last = Row::End(task.id),
            _ => rows.insert(at, Row::End(task.id)),
        }
    }
}
