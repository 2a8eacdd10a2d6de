//! One conversation: header, timeline, composer.

pub mod call;
pub mod diff;
mod documents;
mod header;
pub mod markdown;
mod projection;
mod timeline;

pub use projection::{Row, rows};

use crate::{
    effect::{Effect, Scroll, field},
    keymap::Command,
    request::{Answer, Request},
    screen::{
        composer::{self, About, Composer, Stance},
        pending::{self, Cards},
    },
    theme::{size, space, style},
    widget::{Element, Look, action, list::View, word},
};
use abide_client::{
    Update,
    protocol::{
        CallId, ConversationId, Seq,
        inbox::Pending,
        message::Role,
        method::{conversation::UpdateConversationParams, daemon::ListModelsReply},
        task::{AgentTask, Status},
    },
    view::{Change, Connection, ConversationView, Entry},
};
use documents::Documents;
use iced::{
    Center, Fill,
    widget::{column, container, row, space as gap, stack, text_editor},
};
use std::{collections::HashMap, ops::Range};

/// Rows that are built while the end is followed, and on either side of what is seen otherwise.
const NEAR: usize = 40;
/// Entries that are kept while the end is followed.
const KEEP: usize = 2000;
/// What a snapshot brings.
const SNAPSHOT: usize = 100;

/// One open conversation.
#[derive(Debug)]
pub struct Conversation {
    id: ConversationId,
    view: ConversationView,
    /// Its tasks as the daemon lists them: the fold does not know those that ended before it began.
    earlier: Vec<AgentTask>,
    rows: Vec<Row>,
    /// Which rows are built.
    window: Range<usize>,
    looked: Option<View<Row>>,
    /// Messages that came since the end was left.
    news: usize,
    history: History,
    documents: Documents,
    /// Calls that the person opened or closed.
    open: HashMap<CallId, bool>,
    all_open: bool,
    cards: Cards,
    pub composer: Composer,
    menu: Menu,
    /// All as text, to select in.
    reader: Option<text_editor::Content>,
}

/// Pages before what is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum History {
    /// There is a page before this message.
    More(Seq),
    Loading(Seq),
    Complete,
}

#[derive(Debug)]
enum Menu {
    Closed,
    Open,
    Renaming(String),
    Deleting,
}

#[derive(Debug, Clone)]
pub enum Message {
    Looked(View<Row>),
    CallToggled(CallId, bool),
    Copied(String),
    Document(markdown::Message),
    Card(pending::Message),
    Composer(composer::Message),
    JumpPressed,
    MenuPressed,
    MenuClosed,
    RenamePressed,
    TitleChanged(String),
    TitleSubmitted,
    CopyAllPressed,
    AsTextPressed,
    Read(text_editor::Action),
    ReaderClosed,
    ArchivePressed,
    DeletePressed,
    DeleteConfirmed,
}

impl Conversation {
    #[must_use]
    pub fn new(id: ConversationId, draft: &str) -> Self {
        Self {
            id,
            view: ConversationView::new(id),
            earlier: Vec::new(),
            rows: Vec::new(),
            window: 0..0,
            looked: None,
            news: 0,
            history: History::Complete,
            documents: Documents::default(),
            open: HashMap::new(),
            all_open: false,
            cards: Cards::default(),
            composer: Composer::with_draft(draft),
            menu: Menu::Closed,
            reader: None,
        }
    }

    #[must_use]
    pub const fn id(&self) -> ConversationId {
        self.id
    }

    #[must_use]
    pub const fn fold(&self) -> &ConversationView {
        &self.view
    }

    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Something is moving here.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.current().is_some_and(|task| !task.status.has_ended())
    }

    fn at_end(&self) -> bool {
        self.looked.is_none_or(|view| view.at_end)
    }

    /// Folds in what came. `is_seen` says whether a person is looking.
    pub fn follow(&mut self, updates: Vec<Update>, is_seen: bool) -> Vec<Effect> {
        let mut changes = Vec::new();
        let mut effects = Vec::new();
        for update in updates {
            let is_first = matches!(update, Update::Snapshot(_));
            changes.extend(self.view.apply(update));
            if is_first {
                self.begin(&mut effects);
            }
        }
        self.documents.follow(&self.view, &changes);
        if !self.at_end() {
            self.news += changes
                .iter()
                .filter(|change| matches!(change, Change::Added(seq) if self.is_said(*seq)))
                .count();
        } else if self.view.timeline().len() > 2 * KEEP {
            self.view.keep_last(KEEP);
            let oldest = self.view.timeline().next().map(Entry::seq);
            self.history = oldest.map_or(History::Complete, History::More);
        }
        if changes.iter().any(|change| !matches!(change, Change::Output { .. } | Change::Daemon)) {
            self.project();
        } else if changes.iter().any(
            |change| matches!(change, Change::Output { item, .. } if !self.rows.contains(&Row::Live(*item))),
        ) {
            self.project();
        }
        let is_news = changes.iter().any(|change| matches!(change, Change::Added(_) | Change::Reset));
        if is_seen && is_news {
            effects.extend(self.read());
        }
        effects
    }

    /// What a snapshot leaves to ask for.
    fn begin(&mut self, effects: &mut Vec<Effect>) {
        let mut messages = self.view.timeline().filter(|entry| matches!(entry, Entry::Message(_)));
        let first = messages.next().map(Entry::seq);
        self.history = match first {
            Some(seq) if messages.count() + 1 >= SNAPSHOT => History::More(seq),
            _ => History::Complete,
        };
        effects.push(Effect::Ask(Request::Tasks(self.id)));
    }

    fn is_said(&self, seq: Seq) -> bool {
        matches!(self.view.entry(seq), Some(Entry::Message(m)) if m.role != Role::User)
    }

    /// Marks all as read, if there is something that is not.
    pub fn read(&mut self) -> Option<Effect> {
        let known = self.view.conversation().map_or(0, |c| c.unread);
        let is_message = |entry: &&Entry| matches!(entry, Entry::Message(_));
        let last = self.view.timeline().rev().find(is_message).map(Entry::seq)?;
        let is_new = known > 0 || self.view.unread() > 0;
        self.view.mark_read(last);
        is_new.then_some(Effect::Ask(Request::MarkRead(self.id, last)))
    }

    fn project(&mut self) {
        let older = self.history != History::Complete;
        self.rows = rows(&self.view, &self.earlier, older);
        self.reframe();
    }

    /// Builds what is near to what is seen.
    fn reframe(&mut self) {
        let count = self.rows.len();
        let place = |row: Row| self.rows.iter().rposition(|known| *known == row);
        self.window = match self.looked {
            Some(view) if !view.at_end => match (place(view.first), place(view.last)) {
                (Some(first), Some(last)) => first.saturating_sub(NEAR)..(last + NEAR).min(count),
                // What was seen is gone: as near as it was.
                _ => self.window.start.min(count)..self.window.end.min(count),
            },
            _ => count.saturating_sub(NEAR)..count,
        };
        let shown = self.rows.get(self.window.clone()).unwrap_or_default();
        let seqs = shown.iter().filter_map(|row| if let Row::Entry(seq) = row { Some(*seq) } else { None });
        self.documents.parse(&self.view, seqs);
    }

    /// What this conversation is ready for.
    #[must_use]
    pub fn stance(&self) -> Stance<'_> {
        if *self.view.connection() != Connection::Live {
            return Stance::Away;
        }
        let items = self.view.inbox().items();
        let question = items.iter().find_map(|item| match &item.pending {
            Pending::Question(question) => Some(Stance::Question(item.task_id, question)),
            Pending::Approval(_) => None,
        });
        match self.current().filter(|task| !task.status.has_ended()) {
            _ if question.is_some() => question.unwrap_or(Stance::Ready),
            None => Stance::Ready,
            Some(task) if task.status == Status::Paused => Stance::Paused(task),
            Some(task) if task.status == Status::WaitingApproval => Stance::Approval(task),
            Some(task) => Stance::Working(task),
        }
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Looked(view) => self.look(view),
            Message::CallToggled(id, is_open) => {
                self.open.insert(id, is_open);
                Vec::new()
            }
            Message::Copied(text) | Message::Document(markdown::Message::Copied(text)) => {
                vec![Effect::Copy(text)]
            }
            Message::Card(message) => self.cards.update(message),
            Message::Composer(message) => self.compose(message),
            Message::JumpPressed => self.jump(),
            Message::MenuPressed => {
                self.menu = if matches!(self.menu, Menu::Closed) { Menu::Open } else { Menu::Closed };
                Vec::new()
            }
            Message::MenuClosed => {
                self.menu = Menu::Closed;
                Vec::new()
            }
            Message::RenamePressed => {
                let title = self.view.conversation().map(|c| c.title.clone()).unwrap_or_default();
                self.menu = Menu::Renaming(title);
                vec![Effect::Focus(field::TITLE)]
            }
            Message::TitleChanged(title) => {
                self.menu = Menu::Renaming(title);
                Vec::new()
            }
            Message::TitleSubmitted => self.rename(),
            Message::CopyAllPressed => {
                self.menu = Menu::Closed;
                vec![Effect::Copy(self.as_text())]
            }
            Message::AsTextPressed => {
                self.menu = Menu::Closed;
                self.reader = Some(text_editor::Content::with_text(&self.as_text()));
                Vec::new()
            }
            Message::Read(action) => {
                if let Some(reader) = self.reader.as_mut().filter(|_| !action.is_edit()) {
                    reader.perform(action);
                }
                Vec::new()
            }
            Message::ReaderClosed => {
                self.reader = None;
                Vec::new()
            }
            Message::ArchivePressed => vec![Effect::Ask(Request::Archive(self.id)), Effect::New],
            Message::DeletePressed => {
                self.menu = Menu::Deleting;
                Vec::new()
            }
            Message::DeleteConfirmed => vec![Effect::Ask(Request::Delete(self.id)), Effect::New],
        }
    }

    fn compose(&mut self, message: composer::Message) -> Vec<Effect> {
        let mut composer = std::mem::take(&mut self.composer);
        let effects = composer.update(message, self.stance(), Some(self.id));
        self.composer = composer;
        effects
    }

    fn rename(&mut self) -> Vec<Effect> {
        match std::mem::replace(&mut self.menu, Menu::Closed) {
            Menu::Renaming(title) if !title.trim().is_empty() => {
                vec![Effect::Ask(Request::Update(UpdateConversationParams {
                    conversation_id: self.id.to_string(),
                    title: Some(title.trim().to_owned()),
                    workspace: None,
                    mode: None,
                    model: None,
                    persona: None,
                }))]
            }
            _ => Vec::new(),
        }
    }

    /// The person scrolled.
    fn look(&mut self, view: View<Row>) -> Vec<Effect> {
        self.looked = Some(view);
        if view.at_end {
            self.news = 0;
        }
        self.reframe();
        match self.history {
            History::More(before) if self.window.start == 0 => {
                self.history = History::Loading(before);
                vec![Effect::Ask(Request::Older(self.id, before))]
            }
            _ => Vec::new(),
        }
    }

    fn jump(&mut self) -> Vec<Effect> {
        self.looked = None;
        self.news = 0;
        self.reframe();
        vec![Effect::Scroll(Scroll::ToEnd)]
    }

    /// A request of this conversation was answered.
    pub fn answered(&mut self, request: &Request, answer: &Answer) {
        match (request, answer) {
            (Request::Start(_) | Request::Answer(..), _) => self.composer.sent(),
            (_, Answer::Page(id, page)) if *id == self.id => {
                self.history = page.before.map_or(History::Complete, History::More);
                self.view.add_page(page.clone());
                self.project();
            }
            (_, Answer::Tasks(id, tasks)) if *id == self.id => {
                self.earlier.clone_from(tasks);
                self.project();
            }
            _ => {}
        }
    }

    /// A request of this conversation was not done.
    pub fn failed(&mut self, request: &Request) {
        self.composer.failed();
        self.cards.failed(request);
        if let (Request::Older(..), History::Loading(before)) = (request, self.history) {
            self.history = History::More(before);
        }
    }

    /// What a key does here; `None` if nothing.
    pub fn command(&mut self, command: Command) -> Option<Vec<Effect>> {
        let message = match command {
            Command::Escape if self.reader.is_some() => Message::ReaderClosed,
            Command::Escape if self.cards.is_rejecting() => Message::Card(pending::Message::RejectCancelled),
            Command::Escape if !matches!(self.menu, Menu::Closed) => Message::MenuClosed,
            Command::Escape if matches!(self.stance(), Stance::Working(_) | Stance::Approval(_)) => {
                Message::Composer(composer::Message::StopPressed)
            }
            Command::PauseOrResume => Message::Composer(match self.stance() {
                Stance::Paused(_) => composer::Message::ResumePressed,
                _ => composer::Message::PausePressed,
            }),
            Command::Decline => Message::Composer(composer::Message::DeclinePressed),
            Command::Approve | Command::ApproveAlways | Command::Reject | Command::Choose(_) => {
                Message::Card(pending::decision(self.view.inbox().items(), command)?)
            }
            Command::ToggleDetails => {
                self.all_open = !self.all_open;
                self.open.clear();
                return Some(Vec::new());
            }
            Command::AsText if self.reader.is_some() => Message::ReaderClosed,
            Command::AsText => Message::AsTextPressed,
            Command::Rename => Message::RenamePressed,
            Command::Archive => Message::ArchivePressed,
            Command::Delete => Message::DeletePressed,
            Command::ToEnd => Message::JumpPressed,
            Command::ToStart => return Some(vec![Effect::Scroll(Scroll::ToStart)]),
            Command::PageUp => return Some(vec![Effect::Scroll(Scroll::By(-size::PAGE))]),
            Command::PageDown => return Some(vec![Effect::Scroll(Scroll::By(size::PAGE))]),
            Command::FocusInput => return Some(vec![Effect::Focus(field::COMPOSER)]),
            _ => return None,
        };
        Some(self.update(message))
    }

    #[must_use]
    pub fn view<'a>(&'a self, models: Option<&'a ListModelsReply>, look: Look) -> Element<'a, Message> {
        let known = self.view.conversation();
        let about = About {
            models,
            model: known.and_then(|c| c.model.as_deref()),
            mode: known.and_then(|c| c.mode),
            workspace: Some(known.map_or("", |c| &c.workspace)),
        };
        let composer = self.composer.view(self.stance(), &about, look).map(Message::Composer);
        let composer = container(container(composer).max_width(space::COLUMN))
            .center_x(Fill)
            .padding(iced::padding::horizontal(space::XL).bottom(space::L).top(space::S));
        let timeline = stack![self.timeline(look), self.jump_button()];
        let page = column![self.header(look), timeline, composer];
        match &self.reader {
            None => page.into(),
            Some(reader) => stack![page, read(reader)].into(),
        }
    }

    fn jump_button(&self) -> Element<'_, Message> {
        if self.at_end() {
            return gap().into();
        }
        let words = if self.news == 0 { "Jump to latest" } else { "Jump to latest · new" };
        let button =
            action(words, None).padding([5.0, 12.0]).style(style::secondary).on_press(Message::JumpPressed);
        container(button).center_x(Fill).align_bottom(Fill).padding(space::S).into()
    }
}

/// All as text: it can be selected and copied there, not changed.
fn read(reader: &text_editor::Content) -> Element<'_, Message> {
    let editor = text_editor(reader)
        .height(Fill)
        .size(size::SECONDARY)
        .padding(space::M)
        .font(crate::font::CODE)
        .style(style::editor(false))
        .on_action(Message::Read);
    let head = row![
        crate::widget::secondary("Select and copy (Ctrl C). Esc closes."),
        gap().width(Fill),
        word("Close", Message::ReaderClosed)
    ]
    .align_y(Center);
    container(column![head, editor].spacing(space::S))
        .padding(space::L)
        .width(Fill)
        .height(Fill)
        .style(style::dialog)
        .into()
}
