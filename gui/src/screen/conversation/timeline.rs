//! Draws the rows of the timeline.

use super::{
    Conversation, Found, Gap, Message, Row, again::is_prompt, branch, call, markdown, thought::is_thinking,
    worked::numbers,
};
use crate::{
    catalog::Catalog,
    effect::field,
    emoji::drawable,
    font,
    guard::Guard,
    screen::{
        paused_card,
        pending::{Cards, Reply, picked},
        tree::line::stands,
    },
    theme::{size, space, style},
    widget::{
        Element, Look, action, divider, dot,
        elide::elided,
        flash::flashing,
        list::List,
        passage::{self, prose},
        secondary,
        tint::tinted,
        word, working, yielding,
    },
    words,
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        conversation::LatestTask,
        event::{Event, EventKind, PhaseEvent, RuleEvent, StartedEvent, StepEvent, UndoneEvent},
        inbox::Pending,
        message::{self, MessageKind, Role},
        notification::{DeltaItem, DeltaKind},
        record::Recalled,
        task::{AgentTask, Status},
    },
    view::{Entry, Stream},
};
use abide_host::text::{visible, visible_line};
use iced::{
    Center, Fill,
    widget::{Column, column, container, hover, markdown::Content, row, rule, space as gap, text},
};

/// A question that has waited for longer has been shown before, in milliseconds.
const NEW: u64 = 2000;

impl Conversation {
    pub(super) fn timeline<'a>(
        &'a self,
        catalog: &'a Catalog,
        cards: &'a Cards,
        guard: &Guard,
        look: Look,
    ) -> Element<'a, Message> {
        let window = self.window.clone();
        let rows = self.rows.get(window.clone()).unwrap_or_default();
        let found = self.found.as_ref().map(Found::row);
        let parts = self.selected_parts();
        let built = rows.iter().map(|&row| {
            let is_selected = parts.get(&row).is_some_and(|part| *part == (0..usize::MAX));
            let shown = match row {
                Row::Entry(seq) if matches!(self.view.entry(seq), Some(Entry::Call(_))) => {
                    tinted(self.row(row, catalog, cards, guard, look), is_selected)
                }
                _ => self.row(row, catalog, cards, guard, look),
            };
            let shown = container(shown).width(Fill);
            let shown: Element<'a, Message> = match row {
                _ if found == Some(row) => shown.padding([5.0, space::S]).style(style::found).into(),
                // It belongs to the row below it.
                Row::Phase(_) => shown.padding(iced::padding::top(5.0)).into(),
                _ => shown.padding([5.0, 0.0]).into(),
            };
            (row, shown)
        });
        let hidden = (window.start, self.rows.len().saturating_sub(window.end));
        List::new(field::TIMELINE.into(), built, hidden, Message::Looked)
            .selecting(self.has_selection(), move |row| parts.get(&row).cloned(), Self::on_select)
            .marking(self.marking())
            .of(self.sub_task().map_or(self.id.0, |task| task.0))
            .stand_in(Row::Older)
            .fitting(|row| matches!(row, Row::Card(_)))
            .margin(look.margin())
            .showing(self.goal_row())
            .holding(self.held.0.map(|row| (row, self.held.1)))
            .into()
    }

    fn row<'a>(
        &'a self,
        row: Row,
        catalog: &'a Catalog,
        cards: &'a Cards,
        guard: &Guard,
        look: Look,
    ) -> Element<'a, Message> {
        match row {
            Row::Older if self.gap.is_some_and(Gap::has_start) => divider("more messages"),
            Row::Older => divider("older messages"),
            Row::Entry(seq) => match self.view.entry(seq) {
                Some(Entry::Message(message)) => self.message(message, look),
                Some(Entry::Call(call)) => {
                    let live = self.view.live_item(DeltaItem::Call(call.call_id));
                    let live = live.and_then(|live| live.stream(DeltaKind::Output)).map(Stream::text);
                    let is_open = self.open.get(&call.call_id).copied().or(self.all_open.then_some(true));
                    call::view(call, live.as_deref(), is_open, look)
                }
                Some(Entry::Event(event)) => match event.kind {
                    EventKind::StepBegan(_) | EventKind::PhaseBegan(_) => {
                        passage::head(happened(event)).into()
                    }
                    EventKind::TaskStarted(_) => {
                        let words = secondary(happened(event)).size(size::HEAD);
                        container(words).align_right(Fill).padding(iced::padding::left(space::AGAIN)).into()
                    }
                    EventKind::Recalled(_) | EventKind::Noted(_) => self.of_memory(event, look),
                    EventKind::Paused(reason) if self.is_held_since(event) => paused_card::card(
                        Some(reason),
                        "It goes on from where it was when you press Go on. Stop ends it.",
                    ),
                    _ => divider(happened(event)),
                },
                None => gap().into(),
            },
            Row::Phase(seq) => passage::secondary(self.phase_name(seq)).size(size::HEAD).into(),
            Row::Failed { last, times } => match self.view.entry(last) {
                Some(Entry::Event(event)) => divider(failed(event, times)),
                _ => gap().into(),
            },
            Row::Card(id) => match self.view.inbox().get(id) {
                Some(item) => {
                    let picked = match &item.pending {
                        Pending::Question(question) => picked(question, &self.composer.draft()),
                        Pending::Approval(_) => None,
                    };
                    let takes_digit = self.composer.has_caret() && self.composer.draft().is_empty();
                    // The composer is the root's.
                    let is_below = self.sub_task().is_some() || item.root_id.is_some();
                    let reply = if is_below { Reply::Here } else { Reply::Below { picked, takes_digit } };
                    let card = cards.card(item.task_id, &item.pending, look, guard, reply);
                    let card = flashing(card.map(Message::Card), self.is_request(&item.pending, look));
                    match self.asks_elsewhere(item) {
                        Some(words) => column![self.asker(item.task_id, words), card].into(),
                        None => card,
                    }
                }
                None => gap().into(),
            },
            Row::Child(id) => match self.task(id) {
                Some(task) => self.child(task, look),
                None => gap().into(),
            },
            Row::Worked(id) => self.worked(id),
            Row::Block(seq, n) => match self.view.entry(seq) {
                Some(Entry::Message(message)) => self.block(message, n, look),
                _ => gap().into(),
            },
            Row::End(id) => self.task(id).map_or_else(
                || gap().into(),
                |task| {
                    let summary = self.documents.summary(id).filter(|_| !self.has_said_summary(id, task));
                    let parts = [
                        end(task, summary, self.has_steps(id), look),
                        self.changes(id, look),
                        self.again_button(task, guard, look),
                        self.retry(id, catalog),
                    ];
                    Column::with_children(parts.into_iter().flatten()).spacing(space::S).into()
                },
            ),
            Row::Live(item, block) => {
                let document = self.documents.live(item);
                let block = document.and_then(|document| markdown::block(document, block, look.tokens));
                let block = block.map_or_else(|| gap().into(), |block| block.map(Message::Document));
                if self.current().and_then(|task| task.phase).is_some_and(is_thinking) {
                    return container(block).style(style::quieter).into();
                }
                block
            }
            Row::Indicator(id) => self.task(id).map_or_else(
                || gap().into(),
                |task| {
                    let parts = [self.changes(id, look), Some(self.indicator(task, look))];
                    Column::with_children(parts.into_iter().flatten()).spacing(space::S).into()
                },
            ),
        }
    }

    /// What was recalled or noted, and can be forgotten.
    fn of_memory<'a>(&'a self, event: &'a Event, look: Look) -> Element<'a, Message> {
        let line = |words| secondary(words).size(size::HEAD);
        let content = match &event.kind {
            EventKind::Recalled(recalled) => {
                let snippets = recalled.snippets.iter();
                let snippets = snippets.map(|snippet| self.forgetting.snippet(snippet, false, look));
                let head = line(visible_line(&recalled.words()).into_owned());
                column![head].extend(snippets).spacing(space::XS).into()
            }
            EventKind::Noted(noted) if !noted.text.is_empty() => {
                let words = row![line(happened(event)), self.forgetting.button(event.seq)];
                words.spacing(space::S).align_y(Center).wrap().into()
            }
            _ => line(happened(event)).into(),
        };
        Element::map(content, Message::Forget)
    }

    /// Whether the agent has just asked for input, which it cannot go on without.
    fn is_request(&self, pending: &Pending, look: Look) -> bool {
        let Pending::Question(question) = pending else { return false };
        let call = question.call_id.and_then(|id| self.view.call(id));
        call.is_some_and(|call| call.tool == "request_input") && look.now.since(question.at) < NEW
    }

    pub(super) fn phase_name(&self, seq: Seq) -> &'static str {
        match self.view.entry(seq) {
            Some(Entry::Event(Event { kind: EventKind::PhaseBegan(began), .. })) => began.phase.name(),
            _ => "",
        }
    }

    /// Whether this pause is the newest of a task that goes on only when a person resumes it.
    fn is_held_since(&self, pause: &Event) -> bool {
        let Some(task) = pause.task_id.and_then(|id| self.view.task(id)) else { return false };
        task.is_held() && self.paused(task).is_some_and(|newest| newest.seq == pause.seq)
    }

    /// The newest pause of the task.
    pub(super) fn paused(&self, task: &AgentTask) -> Option<&Event> {
        self.view.timeline().rev().find_map(|entry| match entry {
            Entry::Event(event) if event.task_id == Some(task.id) => {
                matches!(event.kind, EventKind::Paused(_)).then_some(event)
            }
            _ => None,
        })
    }

    /// Text of a reply is arriving.
    fn is_writing(&self) -> bool {
        self.rows.iter().rev().any(|row| matches!(row, Row::Live(..)))
    }

    /// Whether the newest request to the model lacks a person's intervention. The intervention stands above
    /// the reply that is streamed, and may be out of view. The attempt after a failed one has the
    /// intervention.
    fn is_unread(&self, task: &AgentTask) -> bool {
        let mut is_written = false;
        for entry in self.view.timeline().rev().filter(|entry| entry.task_id() == Some(task.id)) {
            match entry {
                Entry::Message(m) => {
                    is_written |= m.kind == MessageKind::Intervention && m.role == Role::User;
                }
                Entry::Event(event) => match event.kind {
                    EventKind::StepBegan(_) | EventKind::PhaseBegan(_) => return is_written,
                    EventKind::ModelFailed(_) => return false,
                    _ => {}
                },
                Entry::Call(_) => {}
            }
        }
        false
    }

    /// A task of the conversation, if it is known.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&AgentTask> {
        self.view.task(id).or_else(|| self.earlier.iter().find(|task| task.id == id))
    }

    /// Whether the agent's last message equals its summary.
    pub(super) fn has_said_summary(&self, id: TaskId, task: &AgentTask) -> bool {
        let is_its = |entry: &&Entry| matches!(entry, Entry::Message(m) if m.task_id == Some(id) && m.role == Role::Agent);
        match (self.view.timeline().rev().find(is_its), &task.summary) {
            (Some(Entry::Message(message)), Some(summary)) => message.text.trim() == summary.trim(),
            _ => false,
        }
    }

    fn message<'a>(&'a self, message: &'a message::Message, look: Look) -> Element<'a, Message> {
        match (message.role, message.kind) {
            (Role::System, _) => divider(visible(&message.text)),
            (Role::User, _) => {
                if let Some(editor) = self.editor(message.seq, look) {
                    return editor;
                }
                let words = prose(drawable(visible(&message.text)).into_owned());
                let words = container(words).padding([space::S + 2.0, 14.0]).style(style::bubble);
                // Beside the button that appears under the pointer.
                let words = container(words.max_width(space::BUBBLE));
                let words = words.padding(iced::padding::left(space::AGAIN));
                let words = if is_prompt(message) {
                    let again = word(
                        "Edit and send again",
                        Message::Branch(branch::Message::EditPressed(message.seq)),
                    );
                    hover(words, container(again.style(style::secondary)).align_bottom(Fill))
                } else {
                    words.into()
                };
                container(words).align_right(Fill).into()
            }
            (Role::Agent, MessageKind::Question) => {
                let question: Element<'a, Message> = match self.documents.of(message.seq) {
                    Some(document) => markdown::view(document, look.tokens).map(Message::Document),
                    None => prose(visible(&message.text)).into(),
                };
                column![secondary("asked"), question].into()
            }
            (Role::Agent, kind) if self.thoughts.contains(&message.seq) => {
                let cut = (kind == MessageKind::Partial).then(|| secondary("cut off").into());
                let parts = [self.reasoning(message), Some(self.thought(message, look)), cut];
                Column::with_children(parts.into_iter().flatten()).into()
            }
            (Role::Agent, _) => {
                let document = match (self.rows_of(message), self.documents.of(message.seq)) {
                    (Some(_), _) => self.block(message, 0, look),
                    (None, Some(document)) => {
                        whole(markdown::view(document, look.tokens).map(Message::Document), message)
                    }
                    (None, None) => whole(prose(visible(&message.text)).into(), message),
                };
                let parts = [self.reasoning(message), Some(document)];
                Column::with_children(parts.into_iter().flatten()).into()
            }
        }
    }
}

impl Conversation {
    /// A block of a long reply; the last one has what is below a reply.
    fn block<'a>(&'a self, message: &'a message::Message, block: usize, look: Look) -> Element<'a, Message> {
        let document = self.documents.of(message.seq);
        let shown = document.and_then(|document| markdown::block(document, block, look.tokens));
        let shown = shown.map_or_else(|| gap().into(), |shown| shown.map(Message::Document));
        let is_last = document.is_some_and(|document| document.items().len() == block + 1);
        if is_last { whole(shown, message) } else { shown }
    }

    /// A model's reasoning: one quiet word, the text on demand.
    fn reasoning<'a>(&'a self, message: &'a message::Message) -> Option<Element<'a, Message>> {
        let thought = message.reasoning.as_deref().map(str::trim).filter(|thought| !thought.is_empty())?;
        let is_open = self.all_open || self.reasoning.contains(&message.seq);
        let head =
            word(if is_open { "Reasoning −" } else { "Reasoning +" }, Message::ReasoningToggled(message.seq));
        let mut content = column![head.padding([2.0, 0.0])];
        if is_open {
            let words = passage::secondary(visible(thought)).width(Fill);
            content = content.push(container(words).padding(space::M).width(Fill).style(style::tool));
        }
        Some(content.padding(iced::padding::bottom(space::XS)).into())
    }

    /// The line at the end that shows what is under way.
    fn indicator<'a>(&self, task: &AgentTask, look: Look) -> Element<'a, Message> {
        let running = task.active_calls.iter().find(|call| call.started_at.is_some());
        let words: Element<'a, Message> = match (task.status, running) {
            (Status::ToolExecuting, Some(call)) => {
                let what = visible_line(words::what(&call.tool, &call.summary)).into_owned();
                let what = elided(words::first_line(&what, 90), size::CODE, font::CODE).style(style::muted);
                yielding::row([secondary("Running").into(), what.into()], 1, space::S)
            }
            (Status::Thinking, _) => match (&task.retry, self.is_writing()) {
                (Some(retry), false) => secondary(words::retrying(retry, look.now)).into(),
                (_, is_writing) => {
                    let writing = if is_writing { "Writing" } else { "Thinking" };
                    secondary(task.phase.map_or(writing, words::phase)).into()
                }
            },
            _ => secondary(words::sentence(&words::doing(task))).into(),
        };
        let pause =
            task.pausing().map(|words| secondary(words::sentence(words)).style(style::needs_you).into());
        let mark = if stands(task) { dot(|tokens| tokens.faint) } else { working(look) };
        let unread = self.is_unread(task).then(|| secondary("Has not read your words yet").into());
        let away = (!look.is_live).then(|| secondary("When last seen:").into());
        let words_at = 1 + usize::from(away.is_some());
        let parts = std::iter::once(mark).chain(away).chain([words]).chain(unread).chain(pause);
        yielding::row(parts, words_at, space::S + 2.0)
    }
}

/// How the task ended, the error, and a summary that nothing else shows. Below the answer of a complete task
/// no word says that the task is complete. If the steps have a line, the numbers stand on that line.
fn end<'a>(
    task: &'a AgentTask,
    summary: Option<&'a Content>,
    has_steps: bool,
    look: Look,
) -> Option<Element<'a, Message>> {
    let latest = LatestTask::from(task);
    let ink: fn(&iced::Theme) -> text::Style = match task.status {
        _ if latest.is_whole() => style::ok,
        // A person wanted that.
        Status::Cancelled => style::muted,
        _ => style::bad,
    };
    let head = (!has_steps || !latest.is_whole()).then(|| {
        let numbers: Vec<String> = if has_steps { Vec::new() } else { numbers(task).collect() };
        row![
            passage::secondary(words::sentence(latest.words())).font(font::STRONG).style(ink),
            passage::secondary(numbers.join(" · ")),
            rule::horizontal(1).style(style::line),
        ]
        .spacing(space::M)
        .align_y(Center)
        .into()
    });
    let error = task.error_message.as_ref().map(|error| {
        let words = prose(visible(&words::here(error)).into_owned());
        // The key may be missing or refused.
        let set_up = words::key_wanted(error).map(|provider| {
            let button = action("Set the key…", None).style(style::secondary);
            button.on_press(Message::SetUpPressed(provider.to_owned())).into()
        });
        let error = column![words].extend(set_up).spacing(space::S);
        container(error).padding(space::M).width(Fill).style(style::bad_card).into()
    });
    let summary = summary
        .zip(task.summary.as_ref())
        .map(|(document, text)| copyable(markdown::view(document, look.tokens).map(Message::Document), text));
    let parts: Vec<Element<'a, Message>> = [summary, head, error].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| Column::with_children(parts).spacing(space::XS).into())
}

/// The end of a reply: below it is what copies all of it, and whether it is all.
fn whole<'a>(content: Element<'a, Message>, message: &'a message::Message) -> Element<'a, Message> {
    let cut = (message.kind == MessageKind::Partial).then(|| secondary("cut off").into());
    let parts = [Some(copyable(content, &message.text)), cut];
    Column::with_children(parts.into_iter().flatten()).into()
}

/// With a button below it to copy all of it, while the pointer is over it.
fn copyable<'a>(content: Element<'a, Message>, text: &'a str) -> Element<'a, Message> {
    let button = word("Copy", Message::Copied(text.to_owned())).padding(0.0);
    let content = container(content).padding(iced::padding::bottom(space::COPY)).width(Fill);
    hover(content, container(button).align_left(Fill).align_bottom(Fill))
}

/// That the model failed, how often, and the last reason.
pub(super) fn failed(event: &Event, times: u32) -> String {
    let EventKind::ModelFailed(failed) = &event.kind else { return String::new() };
    let times = if times > 1 { format!(" {times} times") } else { String::new() };
    if failed.retry_at.is_none() {
        // The task's end, which is the next row, shows why.
        return format!("the model failed{times}");
    }
    let reason = words::clause(&words::first_line(&words::here(&failed.message), words::WHOLE));
    format!("the model failed{times}: {}", visible_line(&reason))
}

/// The persona of a task, and the repository's notes that its model was given.
fn began(started: &StartedEvent) -> String {
    let persona = started.persona.as_deref().map(|name| format!("persona {}", visible_line(name)));
    let notes = started.instructions.iter();
    let notes = notes.map(|file| format!("{} ({})", visible_line(&file.path), words::bytes(file.bytes)));
    let parts: Vec<String> = persona.into_iter().chain(notes).collect();
    parts.join(" · ")
}

pub(super) fn happened(event: &Event) -> String {
    match &event.kind {
        EventKind::Paused(reason) => reason.words().to_owned(),
        EventKind::Resumed(_) => "goes on".to_owned(),
        EventKind::Restarted => "picked up after a restart of the daemon".to_owned(),
        // It has a row of its own.
        EventKind::ModelFailed(_) => failed(event, 1),
        EventKind::LimitsRaised(limits) => format!("limits raised: {} steps", limits.max_steps),
        EventKind::Compacted(compacted) => compacted.words(),
        EventKind::RuleRemembered(RuleEvent { rule, allow, text }) => {
            let verb = if *allow { "allowed" } else { "refused" };
            if let Some(text) = text {
                return format!("remembered: {} is {verb}", visible_line(text));
            }
            format!("remembered: {} is {verb} with exactly these arguments", visible_line(&rule.tool))
        }
        EventKind::StepBegan(StepEvent { step }) | EventKind::PhaseBegan(PhaseEvent { step, .. }) => {
            format!("STEP {step}")
        }
        EventKind::Undone(undone) => self::undone(undone),
        EventKind::Recalled(recalled) => self::recalled(recalled),
        EventKind::Noted(noted) if noted.text.is_empty() => "a note, forgotten since".to_owned(),
        EventKind::Noted(noted) => format!("noted for later tasks: {}", visible_line(&noted.text)),
        EventKind::TaskStarted(started) => began(started),
        EventKind::TaskEnded(_) | EventKind::ModelTraced(_) => String::new(),
    }
}

/// What was recalled, each passage with its source, and why it was found.
fn recalled(recalled: &Recalled) -> String {
    let mut lines = vec![recalled.words()];
    lines.extend(recalled.snippets.iter().map(|snippet| match snippet.text.is_empty() {
        true => "forgotten since".to_owned(),
        false => format!("{} · {} · {}", snippet.title, snippet.source.words(), snippet.why()),
    }));
    lines.iter().map(|line| visible_line(line)).collect::<Vec<_>>().join("\n")
}

/// What an undo has come to, with the first of the files that it has kept.
fn undone(undone: &UndoneEvent) -> String {
    let kept: Vec<_> = undone.kept.iter().take(3).map(|file| visible_line(&file.path)).collect();
    let names = if kept.is_empty() { String::new() } else { format!(" ({})", kept.join(", ")) };
    visible_line(&(undone.words() + &names)).into_owned()
}
