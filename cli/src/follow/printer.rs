//! Prints the changes of a view, each once: the agent's text to standard output as it streams, all else to
//! standard error.

use crate::{
    clock,
    output::{
        call::{self, Extent},
        message, recalled, retry,
        screen::Screen,
        style::{BAD, FAINT, paint},
        text,
    },
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        event::{Event, EventKind, RuleEvent},
        inbox::PendingId,
        message::{Message, MessageKind, Role},
        notification::{DeltaItem, DeltaKind},
        task::CallState,
        update::UpdateStage,
    },
    view::{Change, Connection, ConversationView, Entry, Stream},
};
use std::{
    collections::{HashMap, HashSet},
    io,
};

pub(super) struct Printer {
    /// Print only this task; `None`: all.
    task: Option<TaskId>,
    /// Print its sub-tasks too, each with its name.
    with_sub_tasks: bool,
    with_prompts: bool,
    extent: Extent,
    /// The first snapshot was printed.
    has_begun: bool,
    /// The reply that is being printed.
    current: Option<Reply>,
    /// The last reply that broke while it was printed. If the task ends before the next attempt has text,
    /// this text becomes a message.
    broken: Option<Reply>,
    /// Messages and events up to this cursor were printed.
    printed_to: Seq,
    /// The calls that were printed. A call is printed when it has finished, so its entry may be before the
    /// cursor.
    printed_calls: HashSet<Seq>,
    /// The connection is lost, which was printed.
    is_lost: bool,
    /// The text of the last notice. For a task that fails it is the error message, which the command's end
    /// then leaves out.
    last_notice: String,
    /// The agent's last text. A summary that repeats it is not printed.
    last_text: String,
    /// The task that the last printed line is of.
    speaker: Option<TaskId>,
    /// Why the last attempt of a task's model call failed, as printed. Further attempts that fail for the
    /// same reason are not printed.
    reasons: HashMap<TaskId, String>,
}

struct Reply {
    item: DeltaItem,
    /// The text printed so far, before escaping.
    written: String,
    /// The seq of its message, once that is recorded.
    recorded: Option<Seq>,
}

impl Printer {
    pub(super) fn new(task: Option<TaskId>, with_prompts: bool, extent: Extent) -> Self {
        Self {
            task,
            with_sub_tasks: false,
            with_prompts,
            extent,
            speaker: None,
            reasons: HashMap::new(),
            has_begun: false,
            current: None,
            broken: None,
            printed_to: Seq(0),
            printed_calls: HashSet::new(),
            is_lost: false,
            last_notice: String::new(),
            last_text: String::new(),
        }
    }

    /// A reply is printed that has not ended.
    pub(super) fn is_amid_reply(&self) -> bool {
        self.current.as_ref().is_some_and(|reply| reply.recorded.is_none())
    }

    /// Prints its sub-tasks too.
    pub(super) fn with_sub_tasks(self) -> Self {
        Self { with_sub_tasks: true, ..self }
    }

    pub(super) fn print(
        &mut self,
        view: &ConversationView,
        changes: &[Change],
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        // After a reconnection, live output comes before the missed records in `changes`, and would be
        // printed before them.
        let is_back = self.has_begun && changes.contains(&Change::Reset);
        for change in changes {
            match change {
                Change::Output { .. } | Change::Redrawn { .. } if is_back => {}
                Change::Reset => {
                    if std::mem::take(&mut self.is_lost) {
                        screen.prose(&paint(FAINT, "connected again"))?;
                    }
                    self.all(view, settled, screen)?;
                }
                Change::Added(seq) | Change::Changed(seq) => {
                    if let Some(entry) = view.entry(*seq) {
                        self.entry(view, entry, settled, screen)?;
                    }
                }
                Change::Output { item, .. } | Change::Redrawn { item } => self.output(view, *item, screen)?,
                Change::Gone { item, recorded } => self.gone(*item, *recorded, screen)?,
                Change::Connection => {
                    if let Connection::Lost { reason } = view.connection() {
                        // After the reconnection, the reply under way or its message is printed from the
                        // start.
                        self.current = None;
                        // Each failed attempt to connect may have another reason; the connection is lost
                        // once.
                        if !std::mem::replace(&mut self.is_lost, true) {
                            lost(view, reason, screen)?;
                        }
                    }
                }
                Change::Daemon => daemon(view, screen)?,
                Change::Task(id) => self.retry(view, *id, screen)?,
                Change::Inbox | Change::Conversation => {}
            }
        }
        Ok(())
    }

    /// Prints all entries that are not printed yet.
    fn all(
        &mut self,
        view: &ConversationView,
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        for entry in view.timeline() {
            self.entry(view, entry, settled, screen)?;
        }
        for task in view.tasks() {
            self.retry(view, task.id, screen)?;
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        for (item, _) in view.live().filter(|_| is_first) {
            self.output(view, item, screen)?;
        }
        Ok(())
    }

    /// Whether this task is printed.
    fn is_printed(&self, view: &ConversationView, task: Option<TaskId>) -> bool {
        match (self.task, task) {
            (None, _) => true,
            (Some(top), Some(task)) if self.with_sub_tasks => view.is_within(task, top),
            (Some(top), task) => task == Some(top),
        }
    }

    /// Before the lines of another task than the last ones: whose they are, as soon as a sub-task has spoken.
    fn name_speaker(
        &mut self,
        view: &ConversationView,
        task: Option<TaskId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        let Some(id) = task.filter(|_| self.with_sub_tasks) else { return Ok(()) };
        let before = self.speaker.replace(id);
        let name = view.task(id).filter(|_| before != Some(id)).and_then(|task| match task.parent_id {
            Some(_) => Some(format!("[{} {}]", id.short(), text::one_line(&task.title))),
            None => before.map(|_| format!("[{}]", id.short())),
        });
        name.map_or(Ok(()), |name| screen.prose(&paint(FAINT, &name)))
    }

    fn entry(
        &mut self,
        view: &ConversationView,
        entry: &Entry,
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        let is_new = entry.seq() > self.printed_to;
        self.printed_to = self.printed_to.max(entry.seq());
        if !self.is_printed(view, entry.task_id()) {
            return Ok(());
        }
        match entry {
            Entry::Call(c) => {
                if c.state == CallState::Finished && self.printed_calls.insert(c.seq) && !c.is_control() {
                    self.name_speaker(view, Some(c.task_id), screen)?;
                    screen.note(&call::rendered(c, self.extent, screen.width()))?;
                }
                Ok(())
            }
            Entry::Message(m) if is_new => {
                self.name_speaker(view, m.task_id, screen)?;
                self.message(view, m, settled, screen)
            }
            Entry::Event(e) if is_new => {
                if matches!(e.kind, EventKind::TaskEnded(_)) {
                    self.name_speaker(view, e.task_id, screen)?;
                }
                self.event(e, screen)
            }
            Entry::Message(_) | Entry::Event(_) => Ok(()),
        }
    }

    /// Prints why the task's model call is tried again, unless that was the reason before, too.
    fn retry(&mut self, view: &ConversationView, id: TaskId, screen: &mut Screen) -> io::Result<()> {
        let Some(task) = view.task(id).filter(|_| self.is_printed(view, Some(id))) else { return Ok(()) };
        let Some(retry) = &task.retry else {
            self.reasons.remove(&id);
            return Ok(());
        };
        if task.pause_reason.is_some() {
            // The question of a parked task says it.
            return Ok(());
        }
        if self.reasons.insert(id, retry.reason.clone()).is_some_and(|before| before == retry.reason) {
            return Ok(());
        }
        self.name_speaker(view, Some(id), screen)?;
        screen.prose(&format!("{} {}", paint(BAD, "model:"), retry::line(retry, clock::now())))
    }

    fn message(
        &mut self,
        view: &ConversationView,
        m: &Message,
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        match (m.role, m.kind) {
            (Role::Agent, MessageKind::Partial) if self.is_printed_already(m) => Ok(()),
            (Role::Agent, MessageKind::Text | MessageKind::Update | MessageKind::Partial) => {
                let current = self.current.take_if(|c| c.recorded == Some(m.seq));
                let written = current.map(|c| c.written).unwrap_or_default();
                if written.is_empty() {
                    screen.paragraph()?;
                }
                match rest(&written, &m.text) {
                    Some(rest) => screen.words(rest)?,
                    None => {
                        screen.paragraph()?;
                        screen.words(&m.text)?;
                    }
                }
                m.text.trim().clone_into(&mut self.last_text);
                screen.end_words()
            }
            (Role::Agent, MessageKind::Question) => {
                // The prompt of an open question, or the command's last line, prints it.
                if is_open(view, m) { Ok(()) } else { screen.prose(&message::aside(m)) }
            }
            (_, MessageKind::Answer) => {
                let here = m.question_id.is_some_and(|id| settled.contains(&PendingId::Question(id)));
                if here { Ok(()) } else { screen.prose(&message::aside(m)) }
            }
            (Role::User, _) | (_, MessageKind::Imported) if !self.with_prompts => Ok(()),
            (Role::System, _) => {
                m.text.clone_into(&mut self.last_notice);
                screen.prose(&message::aside(m))
            }
            _ => screen.prose(&message::aside(m)),
        }
    }

    /// Whether the message is of the broken reply, whose text was printed when it came.
    fn is_printed_already(&self, partial: &Message) -> bool {
        self.broken.as_ref().is_some_and(|broken| rest(&broken.written, &partial.text) == Some(""))
    }

    /// Whether the last notice had this text.
    pub(super) fn has_printed(&self, words: &str) -> bool {
        self.last_notice == words
    }

    /// Prints the task's summary, unless it repeats the agent's last text.
    pub(super) fn summary(&mut self, summary: Option<&str>, screen: &mut Screen) -> io::Result<()> {
        let summary = summary.unwrap_or_default().trim();
        if !summary.is_empty() && summary != self.last_text {
            screen.paragraph()?;
            screen.words(summary)?;
            summary.clone_into(&mut self.last_text);
        }
        screen.end_words()
    }

    fn event(&mut self, event: &Event, screen: &mut Screen) -> io::Result<()> {
        match &event.kind {
            EventKind::TaskEnded(ended) => self.summary(ended.summary.as_deref(), screen),
            // The task's retry says so, or the task fails with it; then the notice of that has the message.
            EventKind::ModelFailed(_) => Ok(()),
            EventKind::Resumed(_) => screen.prose(&paint(FAINT, "goes on")),
            EventKind::Restarted => screen.prose(&paint(FAINT, "the daemon was restarted; the task goes on")),
            EventKind::Compacted(compacted) => screen.prose(&paint(FAINT, &compacted.words())),
            EventKind::RuleRemembered(RuleEvent { rule, allow, text: Some(wider) }) => {
                let verb = if *allow { "allowed" } else { "refused" };
                let words = format!("remembered: {wider} is {verb} in {}", rule.workspace);
                screen.prose(&paint(FAINT, &text::one_line(&words)))
            }
            EventKind::RuleRemembered(RuleEvent { rule, allow, text: None }) => {
                let verb = if *allow { "allowed" } else { "refused" };
                let words = format!("remembered: {} is {verb} with {}", rule.tool, rule.arguments.as_str());
                screen.prose(&paint(FAINT, &text::one_line(&words)))
            }
            EventKind::Recalled(recalled) => screen.prose(&paint(FAINT, &recalled::recalled(recalled))),
            EventKind::Noted(noted) => screen.prose(&paint(FAINT, &recalled::noted(event.seq, &noted.text))),
            EventKind::Undone(undone) => {
                screen.prose(&paint(FAINT, &text::one_line(&undone.words())))?;
                for file in &undone.kept {
                    screen.prose(&paint(
                        FAINT,
                        &text::one_line(&format!("kept: {}: {}", file.path, file.why)),
                    ))?;
                }
                Ok(())
            }
            // A notice, the live lines or the message at the command's end shows these.
            EventKind::TaskStarted(_)
            | EventKind::StepBegan(_)
            | EventKind::Paused(_)
            | EventKind::ModelTraced(_)
            | EventKind::PhaseBegan(_)
            | EventKind::LimitsRaised(_) => Ok(()),
        }
    }

    /// Prints the new text of a reply that is under way.
    fn output(&mut self, view: &ConversationView, item: DeltaItem, screen: &mut Screen) -> io::Result<()> {
        if !screen.shows_drafts() {
            return Ok(());
        }
        // A reply that has ended by now is printed with its message, if it has one.
        let Some(live) = view.live_item(item) else { return Ok(()) };
        // Only one reply streams at a time; the text of another one, and that of a sub-task among others, is
        // printed with its message.
        if self.with_sub_tasks {
            return Ok(());
        }
        let is_another = self.current.as_ref().is_some_and(|current| current.item != item);
        if is_another || !matches!(item, DeltaItem::Reply(_)) || !self.is_printed(view, Some(live.task_id)) {
            return Ok(());
        }
        let now = live.stream(DeltaKind::Text).map(Stream::text).unwrap_or_default();
        let written = self.current.as_ref().map_or("", |current| &current.written);
        let (rest, is_new) = match now.strip_prefix(written) {
            Some(rest) => (rest, written.is_empty()),
            // A new attempt has other text, or a gap was filled: the text is printed from the start.
            None => (&*now, true),
        };
        if is_new && !rest.is_empty() {
            screen.paragraph()?;
        }
        screen.words(rest)?;
        self.broken = None;
        self.current = Some(Reply { item, written: now.into_owned(), recorded: None });
        Ok(())
    }

    fn gone(&mut self, item: DeltaItem, recorded: Option<Seq>, screen: &mut Screen) -> io::Result<()> {
        match self.current.as_mut().filter(|c| c.item == item) {
            None => Ok(()),
            Some(current) if recorded.is_some() => {
                current.recorded = recorded;
                Ok(())
            }
            Some(_) => {
                self.broken = self.current.take();
                screen.end_words()
            }
        }
    }
}

/// Whether a question has no answer, and its task goes on.
fn is_open(view: &ConversationView, question: &Message) -> bool {
    let is_answer = |entry: &Entry| {
        matches!(entry, Entry::Message(m)
            if m.kind == MessageKind::Answer && m.question_id == question.question_id)
    };
    let is_answered = view.timeline().rev().take_while(|entry| entry.seq() > question.seq).any(is_answer);
    let task = question.task_id.and_then(|id| view.task(id));
    !is_answered && task.is_some_and(|task| !task.status.has_ended())
}

/// The rest of `text` after `written`; `None` if `text` does not begin with it.
fn rest<'a>(written: &str, text: &'a str) -> Option<&'a str> {
    let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    text.strip_prefix(written).or_else(|| same(written, text).then_some(""))
}

fn lost(view: &ConversationView, reason: &str, screen: &mut Screen) -> io::Result<()> {
    if view.daemon().update == Some(UpdateStage::HandingOver) {
        return screen.prose("another version of the daemon takes over");
    }
    if view.daemon().shutting_down {
        return screen.prose("the daemon was stopped; this waits for its next start: abide daemon start");
    }
    screen.prose(&format!("lost the daemon ({}), connecting again", text::one_line(reason)))
}

fn daemon(view: &ConversationView, screen: &mut Screen) -> io::Result<()> {
    if view.daemon().storage_full {
        screen.prose(&paint(BAD, "the disk is full: nothing is lost, everything waits for room"))?;
    }
    if view.daemon().storage_damaged {
        screen
            .prose(&paint(BAD, "the database is damaged, and records may be missing: see `abide doctor`"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
