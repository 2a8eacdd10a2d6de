//! One conversation: header, timeline, composer.

mod again;
mod branch;
mod breadcrumb;
pub mod call;
mod changes;
mod child;
mod code;
mod command;
pub mod diff;
pub(in crate::screen) mod documents;
mod find;
mod follow;
mod goal;
mod header;
pub mod intervene;
mod links;
pub mod markdown;
mod marks;
mod memory_use;
mod plain;
mod projection;
mod result;
mod selection;
mod sub_task;
mod thought;
mod timeline;
mod undo;
mod view;
mod worked;

pub use projection::Row;

use crate::{
    daemon::Failure,
    effect::{Effect, Reading, Scroll, field},
    guard::{Deed, End},
    request::{self, PAGE, Reply, Request},
    screen::{
        composer::{self, Composer, Stance},
        forgetting::{self, Forgetting},
        pending,
    },
    widget::list::{self, Selection, View},
};
use abide_client::{
    protocol::{
        CallId, ConversationId, Seq, TaskId,
        inbox::{Pending, PendingId},
        message::CallView,
        method::conversation::{ListMessagesParams, ListMessagesReply, UpdateConversationParams},
        task::{AgentTask, Status},
    },
    view::{Connection, ConversationView},
};
use branch::Branch;
use changes::Changes;
use documents::Documents;
use find::{Find, Found};
use iced::widget::Id;
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

/// One open conversation.
#[derive(Debug)]
pub struct Conversation {
    id: ConversationId,
    /// Tells the view from an earlier one of the same conversation.
    view_id: Id,
    /// The sub-task whose timeline it is; `None`: that of the root tasks.
    sub_task: Option<TaskId>,
    view: ConversationView,
    /// Its tasks as the daemon lists them: the fold does not have those that ended before it began.
    earlier: Vec<AgentTask>,
    /// The sub-tasks of earlier root tasks were requested since the last snapshot.
    asked_sub_tasks: bool,
    rows: Vec<Row>,
    /// How many of the rows live output does not change.
    settled: usize,
    /// The heads of a step and a phase in which nothing is recorded yet.
    heads: Vec<Row>,
    /// The rows that are built.
    window: Range<usize>,
    looked: Option<View<Row>>,
    /// The selected text.
    selection: Option<Selection<Row>>,
    /// The texts of rows within it, as they were shown.
    selected_texts: HashMap<Row, String>,
    /// The message that was searched for; it is highlighted.
    found: Option<Found>,
    /// How many steps to matches were made: the number of the last one.
    went: u32,
    /// The search within this conversation, if one is open.
    find: Option<Find>,
    /// Something that has still to be scrolled into view.
    goal: Option<Goal>,
    /// How many messages came since the person scrolled up from the end.
    news: usize,
    /// What is not loaded of the timeline; `None`: nothing.
    gap: Option<Gap>,
    documents: Documents,
    changes: Changes,
    /// Calls that the person opened or closed.
    open: HashMap<CallId, bool>,
    /// Ended tasks whose steps the person unfolded or folded.
    unfolded: HashMap<TaskId, bool>,
    /// The texts of reason and observe; below, those that the person opened or closed.
    thoughts: BTreeSet<Seq>,
    open_thoughts: HashMap<Seq, bool>,
    /// Replies whose reasoning is shown.
    reasoning: HashSet<Seq>,
    all_open: bool,
    /// The row in which the person last opened or closed something, and a counter of such actions.
    held: (Option<Row>, u32),
    pub composer: Composer,
    intervening: intervene::Field,
    branch: Branch,
    menu: Menu,
    pub forgetting: Forgetting,
    /// A decision that was made here for always is remembered.
    is_remembered: bool,
}

/// Something to scroll into view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    Row(Row),
    /// The beginning of the conversation.
    Beginning,
}

/// Entries that are not loaded, between the beginning and the end of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    /// All up to this one are loaded; 0: none.
    after: Seq,
    /// All from this one on are loaded.
    before: Seq,
    /// A page of them is under way.
    is_loading: bool,
}

impl Gap {
    /// The beginning is missing.
    const fn from_start(before: Seq) -> Self {
        Self { after: Seq(0), before, is_loading: false }
    }

    fn has_start(self) -> bool {
        self.after > Seq(0)
    }

    /// What is missing after this page; `None` if the page belongs to another gap, because much has changed
    /// since it was requested.
    fn after_page(self, asked: &ListMessagesParams, page: &ListMessagesReply) -> Option<Option<Self>> {
        match asked.after {
            _ if asked.before != Some(self.before) => None,
            None => {
                let left = page.before.filter(|before| *before > self.after);
                Some(left.map(|before| Self { before, is_loading: false, ..self }))
            }
            Some(after) if after == self.after => {
                Some(page.after.map(|after| Self { after, is_loading: false, ..self }))
            }
            Some(_) => None,
        }
    }
}

#[derive(Debug)]
enum Menu {
    Closed,
    Open,
    Renaming(String),
    Deleting,
    /// How the conversation takes part in the memory.
    Memory,
    /// What the newest task has changed in files.
    Changes(undo::Shown),
}

#[derive(Debug, Clone)]
pub enum Message {
    Looked(View<Row>),
    /// The selection has changed.
    Selected(Option<Selection<Row>>),
    SelectionCopied,
    CallToggled(CallId, bool),
    /// Unfolds or folds the steps of an ended task.
    StepsToggled(TaskId),
    /// Opens or closes all details.
    DetailsToggled,
    Scrolled(Scroll),
    /// Moves the keyboard to this field.
    FocusField(&'static str),
    ReasoningToggled(Seq),
    /// Opens or folds a text of reason or observe.
    ThoughtToggled(Seq, bool),
    /// Shows or hides the files that a task changed.
    ChangesToggled(TaskId),
    /// Shows or hides the diffs of one of them.
    FileToggled(TaskId, String),
    FileEdited(String),
    Copied(String),
    Document(markdown::Message),
    /// Opens the timeline of this task, which is above or below this one.
    TaskOpened(TaskId),
    /// Goes to the task above this one.
    UpPressed,
    TreeToggled,
    Card(pending::Message),
    Composer(composer::Message),
    Intervene(intervene::Message),
    /// Arms the end of the task, or ends it.
    EndPressed(End),
    JumpPressed,
    FindPressed,
    FindChanged(String),
    /// Moves by so many matches, to older ones if positive.
    FoundStepped(isize),
    /// The list is at that match.
    FoundAt(list::CurrentMatch<Row>),
    FindClosed,
    MenuPressed,
    MenuClosed,
    RenamePressed,
    TitleChanged(String),
    TitleSubmitted,
    CopyAllPressed,
    /// Opens this call's whole result.
    ResultRead(CallId),
    /// Opens the whole of its diff.
    DiffRead(CallId),
    /// Starts a new task that goes on where the last one ended.
    AgainPressed,
    /// Goes to the form that sets up this provider.
    SetUpPressed(String),
    /// Of a branch that is begun here.
    Branch(branch::Message),
    ArchivePressed,
    DeletePressed,
    DeleteConfirmed,
    Undo(undo::Message),
    /// Of what was recalled or noted here.
    Forget(forgetting::Message),
    Memory(memory_use::Message),
}

impl Message {
    /// Its deed, if it cannot be undone, or not by the same key.
    #[must_use]
    pub fn deed(&self, stance: Stance<'_>) -> Option<Deed> {
        match self {
            Self::Card(message) => message.deed(),
            Self::Composer(message) => message.deed(stance),
            Self::Forget(message) => message.deed(),
            Self::DeleteConfirmed
            | Self::Undo(undo::Message::Confirmed | undo::Message::AllConfirmed)
            | Self::ArchivePressed
            | Self::AgainPressed
            | Self::Branch(branch::Message::ModelPressed(..))
            | Self::EndPressed(_) => Some(Deed::AtFoot),
            _ => None,
        }
    }
}

impl Conversation {
    #[must_use]
    pub fn new(id: ConversationId, draft: &str) -> Self {
        Self {
            id,
            view_id: Id::unique(),
            sub_task: None,
            view: ConversationView::new(id),
            earlier: Vec::new(),
            asked_sub_tasks: false,
            rows: Vec::new(),
            settled: 0,
            heads: Vec::new(),
            window: 0..0,
            looked: None,
            selection: None,
            selected_texts: HashMap::new(),
            found: None,
            went: 0,
            find: None,
            goal: None,
            news: 0,
            gap: None,
            documents: Documents::default(),
            changes: Changes::default(),
            open: HashMap::new(),
            unfolded: HashMap::new(),
            thoughts: BTreeSet::new(),
            open_thoughts: HashMap::new(),
            reasoning: HashSet::new(),
            all_open: false,
            held: (None, 0),
            composer: Composer::with_draft(draft),
            intervening: intervene::Field::default(),
            branch: Branch::default(),
            menu: Menu::Closed,
            forgetting: Forgetting::default(),
            is_remembered: false,
        }
    }

    #[must_use]
    pub const fn id(&self) -> ConversationId {
        self.id
    }

    #[must_use]
    pub const fn view_id(&self) -> &Id {
        &self.view_id
    }

    #[must_use]
    pub const fn fold(&self) -> &ConversationView {
        &self.view
    }

    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether something here changes with time.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.current().is_some_and(|task| !task.status.has_ended())
    }

    /// Whether the newest rows are in view.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.at_end() && self.goal.is_none()
    }

    fn at_end(&self) -> bool {
        self.looked.is_none_or(|view| view.at_end)
    }

    /// The task shown in the header.
    fn current(&self) -> Option<&AgentTask> {
        match self.sub_task {
            Some(id) => self.task(id),
            None => projection::current_task(&self.view, None),
        }
    }

    /// The conversation's state for the composer.
    #[must_use]
    pub fn stance(&self) -> Stance<'_> {
        if *self.view.connection() != Connection::Live {
            return Stance::Away;
        }
        // A question of a sub-task has a field of its own.
        let items = self.view.inbox().items().iter().filter(|item| item.root_id.is_none());
        let question = items.filter(|_| self.sub_task.is_none()).find_map(|item| match &item.pending {
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
            Message::Selected(selection) => self.select(selection),
            Message::SelectionCopied => self.copy_selection(),
            Message::CallToggled(id, is_open) => {
                self.open.insert(id, is_open);
                self.hold(self.view.call(id).map(|call| Row::Entry(call.seq)));
                Vec::new()
            }
            Message::StepsToggled(task) => self.toggle_steps(task),
            Message::DetailsToggled => {
                self.all_open = !self.all_open;
                self.open.clear();
                self.open_thoughts.clear();
                self.unfolded.clear();
                self.project();
                Vec::new()
            }
            Message::Scrolled(scroll) => self.scroll(scroll),
            Message::FocusField(wanted) => {
                vec![Effect::Focus(wanted)]
            }
            Message::ReasoningToggled(seq) => {
                if !self.reasoning.remove(&seq) {
                    self.reasoning.insert(seq);
                }
                self.hold(Some(Row::Entry(seq)));
                Vec::new()
            }
            Message::ThoughtToggled(seq, is_open) => {
                self.open_thoughts.insert(seq, is_open);
                self.hold(Some(Row::Entry(seq)));
                Vec::new()
            }
            Message::ChangesToggled(task) => {
                self.changes.toggle(task);
                self.hold(self.last_row_of(task));
                Vec::new()
            }
            Message::FileToggled(task, path) => {
                self.changes.toggle_file(task, path);
                self.hold(self.last_row_of(task));
                Vec::new()
            }
            Message::FileEdited(path) => self.edit_file(&path),
            Message::Copied(text) | Message::Document(markdown::Message::Copied(text)) => {
                vec![Effect::Copy(text)]
            }
            Message::TaskOpened(id) => vec![Effect::OpenTask(id)],
            Message::UpPressed => vec![Effect::Up],
            Message::TreeToggled => vec![Effect::ToggleTree],
            // The window keeps what was begun on cards, for all pages.
            Message::Card(_) => Vec::new(),
            Message::Composer(message) => self.compose(message),
            Message::Intervene(message) => self.intervene(message),
            Message::EndPressed(end) => self.end(end),
            Message::JumpPressed => self.jump(),
            Message::FindPressed => self.begin_to_find(),
            Message::FindChanged(query) => self.find(query),
            Message::FoundStepped(by) => self.step_to_found(by),
            Message::FoundAt(place) => self.be_at(place),
            Message::FindClosed => self.end_to_find(),
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
                vec![Effect::FocusText(field::TITLE)]
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
            Message::ResultRead(id) => self.read_call(id, call::result_of),
            Message::DiffRead(id) => self.read_call(id, call::diff_of),
            Message::AgainPressed => self.begin_again(),
            Message::SetUpPressed(provider) => vec![Effect::SetUp(provider)],
            Message::Branch(message) => self.branch(message),
            Message::ArchivePressed => self.archive(),
            Message::DeletePressed => {
                self.menu = Menu::Deleting;
                // Enter now answers this question, so no field may have it.
                vec![Effect::Unfocus, Effect::Ask(request::rules(None))]
            }
            Message::DeleteConfirmed => {
                vec![Effect::Ask(Request::DeleteConversation(self.id.into())), Effect::New]
            }
            Message::Undo(message) => self.handle_undo(&message),
            Message::Forget(message) => self.forgetting.update(&message),
            Message::Memory(message) => self.take_part(message),
        }
    }

    fn change(&self, params: UpdateConversationParams) -> Vec<Effect> {
        let conversation_id = self.id.to_string();
        vec![Effect::Ask(Request::UpdateConversation(UpdateConversationParams { conversation_id, ..params }))]
    }

    /// Keeps this row's top in place and the opened part in view.
    fn hold(&mut self, row: Option<Row>) {
        self.held = (row, self.held.1.wrapping_add(1));
    }

    /// The row at a task's end, which lists what it changed.
    fn last_row_of(&self, task: TaskId) -> Option<Row> {
        let rows = [Row::End(task), Row::Indicator(task)];
        self.rows.iter().rev().copied().find(|row| rows.contains(row))
    }

    fn read_call(&self, id: CallId, of: impl Fn(&CallView) -> Option<Reading>) -> Vec<Effect> {
        self.view.call(id).and_then(of).map(Effect::Read).into_iter().collect()
    }

    fn compose(&mut self, message: composer::Message) -> Vec<Effect> {
        let mut composer = std::mem::take(&mut self.composer);
        let effects = composer.update(message, self.stance(), Some(self.id));
        self.composer = composer;
        effects
    }

    /// Whether a person asked for a task's changes, and waits for them or sees them.
    #[must_use]
    pub const fn shows_changes(&self) -> bool {
        matches!(self.menu, Menu::Changes(_))
    }

    /// Whether the confirmation of a deletion or of an undo is shown.
    #[must_use]
    pub const fn is_confirming(&self) -> bool {
        matches!(self.menu, Menu::Deleting) || self.is_undoing()
    }

    /// Scrolls to the card.
    pub fn go_to_card(&mut self, id: PendingId) -> Vec<Effect> {
        self.goal = Some(Goal::Row(Row::Card(id)));
        self.seek()
    }

    pub(super) fn is_archived(&self) -> bool {
        self.view.conversation().is_some_and(|conversation| conversation.archived)
    }

    /// Archives the conversation, or brings it back.
    fn archive(&mut self) -> Vec<Effect> {
        self.menu = Menu::Closed;
        if self.is_archived() {
            return vec![Effect::Ask(request::archive(self.id, false))];
        }
        vec![Effect::Ask(request::archive(self.id, true)), Effect::New]
    }

    fn rename(&mut self) -> Vec<Effect> {
        match std::mem::replace(&mut self.menu, Menu::Closed) {
            Menu::Renaming(title) if !title.trim().is_empty() => {
                let title = Some(title.trim().to_owned());
                self.change(UpdateConversationParams { title, ..UpdateConversationParams::default() })
            }
            _ => Vec::new(),
        }
    }

    /// Handles scrolling by the person.
    fn look(&mut self, view: View<Row>) -> Vec<Effect> {
        self.looked = Some(view);
        if self.goal_row().is_some_and(|goal| self.is_between(goal, view)) {
            self.goal = None;
        }
        if view.at_end {
            self.news = 0;
        }
        self.reframe();
        self.fill(view).into_iter().collect()
    }

    /// Requests a page of what is missing near the visible rows, on the side of the gap that the person is
    /// at.
    fn fill(&mut self, view: View<Row>) -> Option<Effect> {
        let place = |row: Row| self.rows.iter().position(|known| *known == row);
        let at = place(Row::Older).filter(|at| self.window.contains(at))?;
        // Behind the folded steps of a task there may be very many entries.
        if view.at_end && self.view.timeline().len() > follow::KEEP {
            return None;
        }
        let of = self.timeline_of();
        let is_above = place(view.first).is_some_and(|first| first < at);
        let gap = self.gap.as_mut().filter(|gap| !gap.is_loading)?;
        gap.is_loading = true;
        Some(Effect::Ask(if is_above {
            of.between(gap.after, gap.before)
        } else {
            of.older(gap.before, PAGE)
        }))
    }

    fn jump(&mut self) -> Vec<Effect> {
        (self.found, self.goal) = (None, None);
        self.looked = None;
        self.news = 0;
        self.reframe();
        vec![Effect::Scroll(Scroll::ToEnd)]
    }

    /// What waited in this conversation is decided. If it was the last, what follows is at the end.
    pub fn decided(&mut self) -> Vec<Effect> {
        if self.view.inbox().items().len() > 1 { Vec::new() } else { self.jump() }
    }

    /// Handles a reply to one of this conversation's requests.
    pub fn answered(&mut self, request: &Request, reply: &Reply) -> Vec<Effect> {
        match (request, reply) {
            (request, _) if self.composer.has_sent(request) => {
                self.composer.sent();
                // A comment is shown where it is read, which may be after a long reply.
                let is_comment = matches!(request, Request::Intervene(..));
                let said = is_comment.then_some("Sent. The agent reads it before its next request.");
                return std::iter::once(Effect::Draft).chain(said.map(Effect::Say)).collect();
            }
            (request, Reply::Intervene(_)) if self.has_intervened(request) => return self.intervened(),
            (Request::StartTask(_) | Request::UserResponse(_), _) => return vec![Effect::Draft],
            (Request::ListMessages(asked), Reply::ListMessages(page)) if self.timeline_of().is_of(asked) => {
                let Some(left) = self.gap.and_then(|gap| gap.after_page(asked, page)) else {
                    return Vec::new();
                };
                self.gap = left;
                self.view.add_page(page.clone());
                if let Some(further) = self.further() {
                    return vec![further];
                }
                self.project();
                let mut effects = self.seek();
                self.find_block();
                effects.extend(self.ask_for_forked());
                return effects;
            }
            (Request::TaskChanges(asked), Reply::TaskChanges(reply)) => {
                if let Ok(of) = asked.task_id.parse() {
                    self.know_changes(of, request::beginning(asked), reply);
                }
            }
            (_, Reply::ListRules(page)) => {
                self.is_remembered = page.rules.iter().any(|rule| rule.is_of(self.id));
            }
            (Request::Search(asked), Reply::Search(reply))
                if self.is_named(asked.conversation_id.as_ref()) =>
            {
                return self.found(Some(reply));
            }
            (Request::ListTasks(asked), Reply::ListTasks(reply))
                if asked.conversation_id == Some(self.id) =>
            {
                self.know_earlier(&reply.tasks);
            }
            (Request::AgentTree(asked), Reply::AgentTree(reply))
                if self.is_named(asked.conversation_id.as_ref()) =>
            {
                let tasks: Vec<_> = reply.agents.values().map(|agent| agent.task.clone()).collect();
                self.know_earlier(&tasks);
            }
            _ => {}
        }
        Vec::new()
    }

    fn is_named(&self, id: Option<&String>) -> bool {
        id.is_some_and(|id| *id == self.id.to_string())
    }

    /// The daemon has listed tasks of this conversation.
    fn know_earlier(&mut self, tasks: &[AgentTask]) {
        self.earlier.retain(|known| tasks.iter().all(|task| task.id != known.id));
        self.earlier.extend_from_slice(tasks);
        self.project();
    }

    /// Handles a failure of one of this conversation's requests.
    pub fn failed(&mut self, request: &Request, failure: &Failure) {
        if self.composer.has_sent(request) {
            self.composer.failed();
        }
        if self.has_intervened(request) {
            self.failed_to_intervene();
        }
        self.branch_failed(request);
        match request {
            Request::TaskChanges(asked) => {
                if let Ok(of) = asked.task_id.parse() {
                    self.changes_failed(of, failure);
                }
            }
            // The next letter repeats the search.
            Request::Search(asked) if self.is_named(asked.conversation_id.as_ref()) => drop(self.found(None)),
            Request::ListMessages(_) => {
                if let Some(gap) = &mut self.gap {
                    gap.is_loading = false;
                }
            }
            _ => {}
        }
    }
}
