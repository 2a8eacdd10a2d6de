//! Tells changes of a view in words, each once: the agent's to standard output, piece by piece, all else beside it.

use crate::output::{
    call, message,
    screen::Screen,
    style::{BAD, FAINT, paint},
    text,
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        inbox::PendingId,
        message::{Message, MessageKind, Role},
        notification::{DeltaItem, DeltaKind},
        task::CallState,
    },
    view::{Change, Connection, ConversationView, Entry, Event, EventKind},
};
use std::{collections::HashSet, io};

pub(super) struct Teller {
    /// Only this task's; `None`: all.
    task: Option<TaskId>,
    with_prompts: bool,
    /// The reply that is being written out.
    current: Option<Reply>,
    /// Entries up to here are told; calls are told when they have finished.
    told: Seq,
    finished: HashSet<Seq>,
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

/// What a teller needs to know of the one who asks.
pub(super) struct Asking<'a> {
    /// Dealt with here: no need to tell.
    pub(super) settled: &'a HashSet<PendingId>,
    /// Open questions are shown by a prompt.
    pub(super) has_prompt: bool,
}

impl Teller {
    pub(super) fn new(task: Option<TaskId>, with_prompts: bool) -> Self {
        Self {
            task,
            with_prompts,
            current: None,
            told: Seq(0),
            finished: HashSet::new(),
            last_words: String::new(),
        }
    }

    pub(super) fn tell(
        &mut self,
        view: &ConversationView,
        changes: &[Change],
        asking: &Asking<'_>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        for change in changes {
            match change {
                Change::Reset => self.all(view, asking, screen)?,
                Change::Added(seq) | Change::Changed(seq) => {
                    if let Some(entry) = view.entry(*seq) {
                        self.entry(view, entry, asking, screen)?;
                    }
                }
                Change::Output { item, kind: DeltaKind::Text, text } => {
                    self.output(view, *item, text, screen)?;
                }
                Change::Redrawn { item } => self.redrawn(view, *item, screen)?,
                Change::Gone { item, recorded } => self.gone(*item, *recorded, screen)?,
                Change::Connection => connection(view, screen)?,
                Change::Daemon => daemon(view, screen)?,
                Change::Output { .. } | Change::Task(_) | Change::Inbox | Change::Conversation => {}
            }
        }
        Ok(())
    }

    /// Whatever of it is not told yet.
    fn all(&mut self, view: &ConversationView, asking: &Asking<'_>, screen: &mut Screen) -> io::Result<()> {
        for entry in view.timeline() {
            self.entry(view, entry, asking, screen)?;
        }
        let live = view.live().find(|(item, _)| matches!(item, DeltaItem::Reply(_)));
        match (live, &self.current) {
            (Some((item, _)), None) => self.redrawn(view, item, screen),
            _ => Ok(()),
        }
    }

    fn is_mine(&self, task: Option<TaskId>) -> bool {
        self.task.is_none() || task == self.task
    }

    fn entry(
        &mut self,
        view: &ConversationView,
        entry: &Entry,
        asking: &Asking<'_>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        let is_new = entry.seq() > self.told;
        self.told = self.told.max(entry.seq());
        if !self.is_mine(entry.task_id()) {
            return Ok(());
        }
        match entry {
            Entry::Call(c) => {
                if c.state == CallState::Finished && self.finished.insert(c.seq) && !is_control(&c.tool) {
                    screen.note(&call::line(c))?;
                }
                Ok(())
            }
            Entry::Message(m) if is_new => self.message(view, m, asking, screen),
            Entry::Event(e) if is_new => self.event(e, screen),
            Entry::Message(_) | Entry::Event(_) => Ok(()),
        }
    }

    fn message(
        &mut self,
        view: &ConversationView,
        m: &Message,
        asking: &Asking<'_>,
        screen: &mut Screen,
    ) -> io::Result<()> {
        match (m.role, m.kind) {
            (Role::Agent, MessageKind::Text | MessageKind::Update | MessageKind::Partial) => {
                let current = self.current.take_if(|c| c.recorded == Some(m.seq));
                let written = current.map(|c| c.written).unwrap_or_default();
                if written.is_empty() {
                    screen.end_line()?;
                }
                match rest(&written, &m.text) {
                    Some(rest) => screen.words(&text::block(rest))?,
                    None => {
                        screen.end_line()?;
                        screen.words(&text::block(&m.text))?;
                    }
                }
                m.text.trim().clone_into(&mut self.last_words);
                screen.end_line()
            }
            (Role::Agent, MessageKind::Question) => {
                let is_open = m.question_id.is_some_and(|id| is_open(view, PendingId::Question(id)));
                if is_open && asking.has_prompt { Ok(()) } else { screen.note(&message::aside(m)) }
            }
            (_, MessageKind::Answer) => {
                let here = m.question_id.is_some_and(|id| asking.settled.contains(&PendingId::Question(id)));
                if here { Ok(()) } else { screen.note(&message::aside(m)) }
            }
            (Role::User, _) if !self.with_prompts => Ok(()),
            _ => screen.note(&message::aside(m)),
        }
    }

    fn event(&mut self, event: &Event, screen: &mut Screen) -> io::Result<()> {
        match &event.kind {
            EventKind::TaskEnded { summary, .. } => {
                let summary = summary.as_deref().unwrap_or_default().trim();
                if !summary.is_empty() && summary != self.last_words {
                    screen.end_line()?;
                    screen.words(&text::block(summary))?;
                }
                screen.end_line()
            }
            EventKind::ModelFailed { message, retry_at, .. } => {
                let again = if retry_at.is_some() { "; it is tried again" } else { "" };
                screen.note(&format!("{} {}{again}", paint(BAD, "model:"), text::one_line(message)))
            }
            EventKind::Resumed { .. } => screen.note(&paint(FAINT, "goes on")),
            EventKind::Restarted { .. } => {
                screen.note(&paint(FAINT, "the daemon was restarted; the task goes on"))
            }
            EventKind::Compacted { outputs } => screen.note(&paint(
                FAINT,
                &format!("the context is full: {outputs} old tool outputs are left out from here on"),
            )),
            EventKind::RuleRemembered { rule, allow } => {
                let verb = if *allow { "allowed" } else { "refused" };
                let words = format!("remembered: {} is {verb} with {}", rule.tool, rule.arguments.as_str());
                screen.note(&paint(FAINT, &text::one_line(&words)))
            }
            // A notice, the live line or the end of the command says it.
            EventKind::TaskStarted { .. } | EventKind::Paused { .. } | EventKind::LimitsRaised { .. } => {
                Ok(())
            }
        }
    }

    fn output(
        &mut self,
        view: &ConversationView,
        item: DeltaItem,
        piece: &str,
        screen: &mut Screen,
    ) -> io::Result<()> {
        if !matches!(item, DeltaItem::Reply(_))
            || !self.is_mine(view.live_item(item).map(|live| live.task_id))
        {
            return Ok(());
        }
        let current =
            self.current.get_or_insert_with(|| Reply { item, written: String::new(), recorded: None });
        // One at a time; another's words come with its message.
        if current.item != item {
            return Ok(());
        }
        if current.written.is_empty() {
            screen.end_line()?;
        }
        current.written.push_str(piece);
        screen.words(&text::block(piece))
    }

    /// Begins anew with what there is now.
    fn redrawn(&mut self, view: &ConversationView, item: DeltaItem, screen: &mut Screen) -> io::Result<()> {
        let stream = view.live_item(item).and_then(|live| live.stream(DeltaKind::Text));
        let now = stream.map(|s| s.text().into_owned()).unwrap_or_default();
        let is_current = self.current.as_ref().is_some_and(|c| c.item == item);
        if let Some(current) = self.current.take_if(|c| c.item == item)
            && let Some(rest) = now.strip_prefix(&current.written)
        {
            // Nothing that was written is different.
            self.current = Some(current);
            return self.output(view, item, rest, screen);
        }
        if is_current {
            screen.end_line()?;
        }
        if now.is_empty() { Ok(()) } else { self.output(view, item, &now, screen) }
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
                screen.end_line()
            }
        }
    }
}

/// Questions and updates are shown as what they are; the end is the end.
fn is_control(tool: &str) -> bool {
    matches!(tool, "ask_user" | "request_input" | "send_update" | "task_complete")
}

fn is_open(view: &ConversationView, id: PendingId) -> bool {
    view.tasks().any(|task| task.pending.iter().any(|p| p.id() == id))
}

/// What is still to be written of `text`; `None` if it is not what was written at all.
fn rest<'a>(written: &str, text: &'a str) -> Option<&'a str> {
    let same = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    text.strip_prefix(written).or_else(|| same(written, text).then_some(""))
}

fn connection(view: &ConversationView, screen: &mut Screen) -> io::Result<()> {
    match view.connection() {
        Connection::Lost { reason } if view.daemon().shutting_down => screen.note(&format!(
            "the daemon was stopped ({}); this waits for its next start: abide daemon start",
            text::one_line(reason)
        )),
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
    Ok(())
}

#[cfg(test)]
mod tests;
