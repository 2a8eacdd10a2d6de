//! Tells changes of a view in words, each once: the agent's to standard output, piece by piece, all else beside it.

use crate::output::{
    call::{self, Extent},
    message,
    screen::Screen,
    style::{BAD, FAINT, paint},
    text,
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        event::{Event, EventKind, RuleEvent},
        inbox::PendingId,
        message::{Message, MessageKind, Role},
        notification::{DeltaItem, DeltaKind},
        task::CallState,
    },
    view::{Change, Connection, ConversationView, Entry, Stream},
};
use std::{collections::HashSet, io};

pub(super) struct Teller {
    /// Only this task's; `None`: all.
    task: Option<TaskId>,
    with_prompts: bool,
    extent: Extent,
    /// The first snapshot is told.
    has_begun: bool,
    /// The reply that is being written out.
    current: Option<Reply>,
    /// Entries up to here are told; calls are told when they have finished.
    told: Seq,
    finished: HashSet<Seq>,
    /// The last word of the system, which is how a task that fails says why.
    last_notice: String,
    /// What the agent said last: its summary is often the same.
    last_words: String,
}

struct Reply {
    item: DeltaItem,
    /// As it came, not made safe yet.
    written: String,
    /// Its message is the entry with this number.
    recorded: Option<Seq>,
}

impl Teller {
    pub(super) fn new(task: Option<TaskId>, with_prompts: bool, extent: Extent) -> Self {
        Self {
            task,
            with_prompts,
            extent,
            has_begun: false,
            current: None,
            told: Seq(0),
            finished: HashSet::new(),
            last_notice: String::new(),
            last_words: String::new(),
        }
    }

    pub(super) fn tell(
        &mut self,
        view: &ConversationView,
        changes: &[Change],
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        // What is being written now comes before the records that were missed: it is told once they are.
        let is_back = self.has_begun && changes.contains(&Change::Reset);
        for change in changes {
            match change {
                Change::Output { .. } | Change::Redrawn { .. } if is_back => {}
                Change::Reset => self.all(view, settled, screen)?,
                Change::Added(seq) | Change::Changed(seq) => {
                    if let Some(entry) = view.entry(*seq) {
                        self.entry(view, entry, settled, screen)?;
                    }
                }
                Change::Output { item, .. } | Change::Redrawn { item } => self.output(view, *item, screen)?,
                Change::Gone { item, recorded } => self.gone(*item, *recorded, screen)?,
                Change::Connection => {
                    if let Connection::Lost { .. } = view.connection() {
                        // Whatever becomes of what was being written: it is told anew.
                        self.current = None;
                    }
                    connection(view, screen)?;
                }
                Change::Daemon => daemon(view, screen)?,
                Change::Task(_) | Change::Inbox | Change::Conversation => {}
            }
        }
        Ok(())
    }

    /// Whatever of it is not told yet.
    fn all(
        &mut self,
        view: &ConversationView,
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        for entry in view.timeline() {
            self.entry(view, entry, settled, screen)?;
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        for (item, _) in view.live().filter(|_| is_first) {
            self.output(view, item, screen)?;
        }
        Ok(())
    }

    fn is_mine(&self, task: Option<TaskId>) -> bool {
        self.task.is_none() || task == self.task
    }

    fn entry(
        &mut self,
        view: &ConversationView,
        entry: &Entry,
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        let is_new = entry.seq() > self.told;
        self.told = self.told.max(entry.seq());
        if !self.is_mine(entry.task_id()) {
            return Ok(());
        }
        match entry {
            Entry::Call(c) => {
                if c.state == CallState::Finished && self.finished.insert(c.seq) && !call::is_control(c) {
                    screen.note(&call::told(c, self.extent, screen.width()))?;
                }
                Ok(())
            }
            Entry::Message(m) if is_new => self.message(view, m, settled, screen),
            Entry::Event(e) if is_new => self.event(e, screen),
            Entry::Message(_) | Entry::Event(_) => Ok(()),
        }
    }

    fn message(
        &mut self,
        view: &ConversationView,
        m: &Message,
        settled: &HashSet<PendingId>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        match (m.role, m.kind) {
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
                m.text.trim().clone_into(&mut self.last_words);
                screen.end_words()
            }
            (Role::Agent, MessageKind::Question) => {
                // One that is open is shown by its prompt or by the last line, soon if not yet.
                if is_open(view, m) { Ok(()) } else { screen.note(&message::aside(m)) }
            }
            (_, MessageKind::Answer) => {
                let here = m.question_id.is_some_and(|id| settled.contains(&PendingId::Question(id)));
                if here { Ok(()) } else { screen.note(&message::aside(m)) }
            }
            (Role::User, _) if !self.with_prompts => Ok(()),
            (Role::System, _) => {
                m.text.clone_into(&mut self.last_notice);
                screen.note(&message::aside(m))
            }
            _ => screen.note(&message::aside(m)),
        }
    }

    /// Whether these words were the last that the system said.
    pub(super) fn has_told(&self, words: &str) -> bool {
        self.last_notice == words
    }

    /// What came of the task, in the agent's words, unless it has said so already.
    pub(super) fn summary(&mut self, summary: Option<&str>, screen: &mut Screen) -> io::Result<()> {
        let summary = summary.unwrap_or_default().trim();
        if !summary.is_empty() && summary != self.last_words {
            screen.paragraph()?;
            screen.words(summary)?;
            summary.clone_into(&mut self.last_words);
        }
        screen.end_words()
    }

    fn event(&mut self, event: &Event, screen: &mut Screen) -> io::Result<()> {
        match &event.kind {
            EventKind::TaskEnded(ended) => self.summary(ended.summary.as_deref(), screen),
            EventKind::ModelFailed(failed) if failed.retry_at.is_some() => {
                let words = text::one_line(&failed.message);
                screen.note(&format!("{} {words}; it is tried again", paint(BAD, "model:")))
            }
            // The task ends with it, and says so.
            EventKind::ModelFailed(_) => Ok(()),
            EventKind::Resumed(_) => screen.note(&paint(FAINT, "goes on")),
            EventKind::Restarted => screen.note(&paint(FAINT, "the daemon was restarted; the task goes on")),
            EventKind::Compacted(outputs) => screen.note(&paint(
                FAINT,
                &format!("the context is full: {outputs} old tool outputs are left out from here on"),
            )),
            EventKind::RuleRemembered(RuleEvent { rule, allow }) => {
                let verb = if *allow { "allowed" } else { "refused" };
                let words = format!("remembered: {} is {verb} with {}", rule.tool, rule.arguments.as_str());
                screen.note(&paint(FAINT, &text::one_line(&words)))
            }
            EventKind::RuleForgotten(rule) => {
                let words = format!("forgotten: {} asks again with {}", rule.tool, rule.arguments.as_str());
                screen.note(&paint(FAINT, &text::one_line(&words)))
            }
            // A notice, the live line or the end of the command says it.
            EventKind::TaskStarted(_)
            | EventKind::StepBegan(_)
            | EventKind::Paused(_)
            | EventKind::ModelTraced(_)
            | EventKind::LimitsRaised(_) => Ok(()),
        }
    }

    /// Writes what is not written yet of a reply that is under way.
    fn output(&mut self, view: &ConversationView, item: DeltaItem, screen: &mut Screen) -> io::Result<()> {
        if !screen.shows_drafts() {
            return Ok(());
        }
        // If it is over by now, its message or its end is told next.
        let Some(live) = view.live_item(item) else { return Ok(()) };
        // One at a time: another's words come with its message.
        let is_others = self.current.as_ref().is_some_and(|current| current.item != item);
        if is_others || !matches!(item, DeltaItem::Reply(_)) || !self.is_mine(Some(live.task_id)) {
            return Ok(());
        }
        let now = live.stream(DeltaKind::Text).map(Stream::text).unwrap_or_default();
        let written = self.current.as_ref().map_or("", |current| &current.written);
        let (rest, is_new) = match now.strip_prefix(written) {
            Some(rest) => (rest, written.is_empty()),
            // A new attempt, or a gap was filled: once more from the start.
            None => (&*now, true),
        };
        if is_new && !rest.is_empty() {
            screen.paragraph()?;
        }
        screen.words(rest)?;
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
                self.current = None;
                screen.end_words()
            }
        }
    }
}

/// It has no answer, and its task goes on.
fn is_open(view: &ConversationView, question: &Message) -> bool {
    let is_answer = |entry: &Entry| {
        matches!(entry, Entry::Message(m)
            if m.kind == MessageKind::Answer && m.question_id == question.question_id)
    };
    let is_answered = view.timeline().rev().take_while(|entry| entry.seq() > question.seq).any(is_answer);
    let task = question.task_id.and_then(|id| view.task(id));
    !is_answered && task.is_some_and(|task| !task.status.has_ended())
}

/// What is still to be written of `text`; `None` if it is not what was written at all.
fn rest<'a>(written: &str, text: &'a str) -> Option<&'a str> {
    let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    text.strip_prefix(written).or_else(|| same(written, text).then_some(""))
}

fn connection(view: &ConversationView, screen: &mut Screen) -> io::Result<()> {
    match view.connection() {
        Connection::Lost { .. } if view.daemon().shutting_down => {
            screen.note("the daemon was stopped; this waits for its next start: abide daemon start")
        }
        Connection::Lost { reason } => {
            screen.note(&format!("lost the daemon ({}), connecting again", text::one_line(reason)))
        }
        Connection::Opening | Connection::Live | Connection::Ended { .. } => Ok(()),
    }
}

fn daemon(view: &ConversationView, screen: &mut Screen) -> io::Result<()> {
    if view.daemon().storage_full {
        screen.note(&paint(BAD, "the disk is full: nothing is lost, everything waits for room"))?;
    }
    if view.daemon().storage_damaged {
        screen
            .note(&paint(BAD, "the database is damaged, and something may be missing: see `abide doctor`"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
