//! The window's state, and the dispatch of messages.

mod commands;
mod configuration;
mod effects;
mod feedback;
mod files;
mod guarding;
mod list;
mod overlay;
mod palette;
mod reading;
mod show_request;
mod tray;
mod tree;
mod unconfirmed;
mod view;
mod window;
mod workspace;

use crate::{
    appearance,
    arguments::ShowRequest,
    attention,
    bus::Bus,
    catalog::Catalog,
    clock::Clock,
    daemon::{Daemon, Failure},
    effect::Effect,
    emoji,
    guard::{Deed, Guard},
    keymap::Command,
    local_state::{LocalState, Settings, ThemeChoice, drafts::Drafts},
    request::{self, Asker, Reply, Request},
    screen::{
        composer::{Composer, attached::Dropped},
        conversation::{self, Conversation},
        inbox, memory, new_conversation, palette as palette_screen,
        pending::{self, Cards},
        reader, settings, sidebar, tree as tree_screen,
    },
    theme::{self, space},
    widget::Look,
    words,
};
use abide_client::{
    Update,
    protocol::{
        ConversationId, ErrorKind, TaskId, Timestamp,
        method::{
            conversation::FocusParams,
            daemon::{ConfigStatus, UpdateDaemonParams},
        },
        notification::Notification,
        task::{AgentTask, CallState, Status},
    },
    view::{Connection, OverviewChange, OverviewView},
};
use abide_host::Home;
use feedback::Feedback;
use iced::{Size, Subscription, Task, Theme, event, time, window::Id};
use overlay::{Dialog, Overlay};
use window::WindowState;
pub use window::{WindowEvent, heard};

use std::{path::PathBuf, time::Duration};

/// How long a new item is highlighted in the list.
const FLASH: Duration = Duration::from_millis(1600);
/// The size of a new window, in logical pixels.
pub const SIZE: Size = Size::new(1280.0, 800.0);
/// A window below this height, in logical pixels, has room only for the card that waits.
const LOW: f32 = 400.0;
/// Below this height the composer gives way to an approval, unless somebody writes in it.
const LEAST: f32 = 200.0;
/// A window below this width, in logical pixels, has no room for the names of keys on buttons.
const TIGHT: f32 = 320.0;
/// Below this width there is no room for two columns of text.
const NARROW: f32 = 560.0;
/// How long a draft may be unsaved.
const DRAFT: Duration = Duration::from_millis(100);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// The window.
#[derive(Debug)]
pub struct App {
    daemon: Daemon,
    /// The session bus, if this window has its place on it.
    bus: Option<Bus>,
    asker: Asker,
    local: LocalState,
    drafts: Drafts,
    settings: Settings,
    clock: Clock,
    now: Timestamp,
    /// When the daemon was last connected.
    heard: Timestamp,
    overview: OverviewView,
    catalog: Catalog,
    config: ConfigStatus,
    sidebar: sidebar::Screen,
    cards: Cards,
    new_conversation: new_conversation::Screen,
    preferences: settings::Screen,
    memory: memory::Screen,
    /// The timeline that is shown: of a conversation, or of one of its sub-tasks.
    open: Option<Box<Conversation>>,
    /// The conversation itself, while the timeline of a sub-task is shown.
    behind: Option<Box<Conversation>>,
    tree: tree_screen::Screen,
    /// The id, or a part of it, of a conversation that another process wants shown, while the daemon looks
    /// for it.
    named: Option<String>,
    page: Page,
    overlay: Overlay,
    feedback: Feedback,
    /// An overview has come since this window opened.
    has_overview: bool,
    /// What was last said of files that were not used.
    refused: Option<files::Refused>,
    /// The page, conversation and sub-task shown now, to notice a change.
    place: (Page, Option<ConversationId>, Option<TaskId>),
    guard: Guard,
    /// When the next frame is needed that only the clock requires.
    due: Option<Timestamp>,
    window: WindowState,
    /// The folder that the daemon was last asked about.
    looked_at: Option<String>,
    /// What a small window shows over the page.
    cover: Cover,
}

/// The page at the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    NewConversation,
    Conversation,
    Inbox,
    Settings,
    Memory,
}

/// What a small window shows over the page; in a larger one it has a place beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    Nothing,
    List,
    Tree,
}

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "one lives at a time")]
pub enum Message {
    Overview(Vec<Update>),
    Conversation(ConversationId, Vec<Update>),
    SubTask(TaskId, Vec<Update>),
    Answered(Request, Result<Reply, Failure>),
    Sidebar(sidebar::Message),
    Thread(conversation::Message),
    Tree(tree_screen::Message),
    Inbox(inbox::Message),
    NewConversation(new_conversation::Message),
    Settings(settings::Message),
    Memory(memory::Message),
    Reader(reader::Message),
    /// A text could not be opened in the person's editor; the error message.
    NotOpened(String),
    Palette(palette_screen::Message),
    Key(Command),
    /// A letter that no field has taken, and the command of its key.
    Letter(String, Command),
    /// Tab was pressed; whether in the folder's field.
    TabPressed(bool),
    ListDragged(f32),
    ListDropped,
    Window(Id, WindowEvent),
    /// Another process wants this shown.
    ShowRequested(ShowRequest),
    /// The desktop has a tray.
    TrayFound,
    FileDropped(PathBuf),
    /// What was dropped or chosen, or why it cannot be used.
    FileSeen(Result<Dropped, String>),
    SystemTheme(bool),
    Ticked,
    DraftDue,
    FlashOver(ConversationId),
    NoticeRead,
    StartPressed,
    /// The installed program is to take over from the daemon that runs.
    TakeOverPressed,
    /// Opens the configuration's file in the person's editor.
    ConfigPressed,
    OverClosed,
    CloseConfirmed,
    /// Whether a caret is drawn.
    CaretMoved(bool),
    /// Something has been steady for long enough, or can no longer be undone.
    Settled,
    TakenBack,
}

impl App {
    /// A window for the daemon of this home.
    #[must_use]
    pub fn open(home: &Home, clock: Clock) -> Self {
        // One for all: what the subscriptions hear of its end counts for the requests too.
        let daemon = Daemon::new(home.clone());
        let asker = Asker::from(daemon.clone());
        Self { daemon, ..Self::with(home, clock, asker) }
    }

    /// The same, with requests sent to `asker`.
    #[must_use]
    pub fn with(home: &Home, clock: Clock, asker: Asker) -> Self {
        let (local, drafts) = (LocalState::of(home), Drafts::of(home));
        let settings = local.settings();
        let composer = Composer::with_draft(&drafts.draft(None)).set_up(&settings.choices);
        let new_conversation = new_conversation::Screen::with_composer(composer);
        let mut app = Self {
            daemon: Daemon::new(home.clone()),
            bus: None,
            asker,
            cards: Cards::with_written(drafts.written()),
            local,
            drafts,
            clock,
            now: clock(),
            heard: clock(),
            overview: OverviewView::default(),
            catalog: Catalog::default(),
            config: ConfigStatus::default(),
            sidebar: sidebar::Screen::with_pinned(settings.pinned.clone()),
            new_conversation,
            preferences: settings::Screen::default(),
            memory: memory::Screen::default(),
            open: None,
            behind: None,
            tree: tree_screen::Screen::default(),
            named: None,
            page: Page::NewConversation,
            overlay: Overlay::default(),
            feedback: Feedback::default(),
            has_overview: false,
            refused: None,
            place: (Page::NewConversation, None, None),
            guard: Guard::default(),
            due: None,
            window: WindowState::default(),
            looked_at: None,
            cover: Cover::Nothing,
            settings,
        };
        if let Some(id) = app.settings.conversation {
            app.open_conversation(id);
            app.sidebar.awaits_row = Some(id);
        }
        app
    }

    /// The same, with its place on the session bus.
    #[must_use]
    pub fn on(self, bus: Option<Bus>) -> Self {
        Self { bus, ..self }
    }

    #[must_use]
    pub fn title(&self) -> String {
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation);
        let title = open.and_then(|open| self.known(open.id())).map(|c| c.title.as_str());
        attention::title(self.overview.waiting(), title)
    }

    #[must_use]
    pub fn theme(&self) -> Theme {
        theme::of(match self.settings.theme {
            ThemeChoice::System => self.window.is_dark,
            ThemeChoice::Dark => true,
            ThemeChoice::Light => false,
        })
    }

    #[must_use]
    pub const fn scale(&self) -> f32 {
        self.settings.scale
    }

    #[must_use]
    pub const fn page(&self) -> Page {
        self.page
    }

    /// The open conversation.
    #[must_use]
    pub fn conversation(&self) -> Option<&Conversation> {
        self.behind.as_deref().or(self.open.as_deref())
    }

    fn conversation_mut(&mut self) -> Option<&mut Conversation> {
        self.behind.as_deref_mut().or(self.open.as_deref_mut())
    }

    fn look(&self) -> Look {
        let is_live = self.is_live();
        Look {
            tokens: theme::tokens(&self.theme()),
            now: if is_live { self.now } else { self.heard },
            is_live,
            is_low: self.window.size.height < LOW,
            is_least: self.window.size.height < LEAST,
            has_caps: self.window.size.width >= TIGHT,
            is_narrow: self.window.size.width < NARROW,
            tree_is_above: !self.settings.hides_tree && self.tree_place() == tree::TreePlacement::Above,
            tallest: (self.window.size.height * 0.3).min(space::EDITOR),
            half: self.window.size.height / 2.0,
            said: self.feedback.said.map(|(words, _)| words),
            home: words::home(),
        }
    }

    fn is_live(&self) -> bool {
        *self.overview.connection() == Connection::Live
    }

    pub fn subscription(&self) -> Subscription<Message> {
        let mut all = vec![
            self.daemon.overview().map(Message::Overview),
            appearance::changes().map(Message::SystemTheme),
            event::listen_with(window::heard),
        ];
        if let Some(bus) = &self.bus {
            all.push(Subscription::run_with(bus.clone(), Bus::wanted).map(Message::ShowRequested));
        }
        all.extend(self.trays());
        if let Some(root) = self.behind.as_ref().or(self.open.as_ref()) {
            let updates = self.daemon.conversation(root.id(), root.view_id());
            all.push(updates.map(|(id, updates)| Message::Conversation(id, updates)));
        }
        if let Some((open, task)) = self.open.as_ref().and_then(|open| Some((open, open.sub_task()?))) {
            let updates = self.daemon.task(task, open.view_id());
            all.push(updates.map(|(id, updates)| Message::SubTask(id, updates)));
        }
        all.extend(self.beat().map(|beat| time::every(beat).map(|_| Message::Ticked)));
        if self.drafts.is_dirty {
            all.push(time::every(DRAFT).map(|_| Message::DraftDue));
        }
        Subscription::batch(all)
    }

    /// How often the window is redrawn because times on it change. When nothing works or waits, only the ages
    /// in the list change: those of the last hour every minute, older ones every hour.
    #[must_use]
    pub fn beat(&self) -> Option<Duration> {
        // A call may run beside one that waits for an approval.
        let runs = |task: &AgentTask| task.active_calls.iter().any(|call| call.state == CallState::Running);
        let rests = |task: &AgentTask| {
            let is_waiting = task.status.needs_person() || task.status == Status::Paused;
            is_waiting || tree_screen::line::stands(task)
        };
        let is_busy = |task: &AgentTask| !rests(task) || runs(task);
        if !self.is_live() {
            // While disconnected, nothing is known about running tasks.
            None
        } else if self.config.refused.is_some() {
            // The person is about to mend it.
            Some(Duration::from_secs(1))
        } else if self.overview.tasks().any(is_busy) {
            Some(Duration::from_secs(1))
        } else if self.overview.tasks().next().is_some() {
            // Times of waiting and of a pause are shown in minutes.
            Some(Duration::from_secs(20))
        } else {
            let newest = self.overview.conversations().first()?.updated_at;
            Some(if Duration::from_millis(self.now.since(newest)) < HOUR { MINUTE } else { HOUR })
        }
    }

    pub fn update(&mut self, message: Message) -> Task<Message> {
        self.now = (self.clock)();
        if self.is_live() {
            self.heard = self.now;
        }
        let was_covered = self.is_covered();
        let task = self.handle(message);
        // The message may give the keyboard to what covers the page.
        let task = self.cover_changed(was_covered).chain(task);
        Task::batch([task, self.watch(), self.look_at_workspace()])
    }

    fn handle(&mut self, message: Message) -> Task<Message> {
        let deed = self.deed(&message);
        if deed.is_some_and(|deed| !self.guard.allows(deed, self.now)) {
            tracing::debug!(?deed, "not yet: it has not stood still for long enough");
            return Task::none();
        }
        if is_of_menu(&message) {
            // The Escape that closes the menu must not be the second one that stops a task.
            self.guard.disarm(self.now);
        }
        match message {
            Message::Overview(updates) => self.follow(updates),
            Message::Conversation(id, updates) => self.follow_open(id, updates),
            Message::SubTask(id, updates) => self.follow_sub_task(id, updates),
            Message::Tree(message) => {
                let effects = self.tree.update(&message);
                self.perform(effects)
            }
            Message::Answered(request, result) => self.answered(&request, result),
            Message::Sidebar(message) => self.in_list(deed, message),
            Message::Palette(message) => self.in_palette(message),
            Message::TabPressed(is_in_folder) => self.tab(is_in_folder),
            Message::ListDragged(x) => self.drag_list(Some(x)),
            Message::ListDropped => self.drag_list(None),
            Message::Thread(conversation::Message::Card(pending::Message::Seen(id, spot)))
            | Message::Inbox(inbox::Message::Card(pending::Message::Seen(id, spot))) => {
                self.guard.saw(id, spot, self.now);
                if self.cards.is_drawn_anew(id) { self.show_card(id) } else { Task::none() }
            }
            Message::Thread(conversation::Message::Card(pending::Message::ReadOnPressed(id)))
            | Message::Inbox(inbox::Message::Card(pending::Message::ReadOnPressed(id))) => self.read_on(id),
            Message::Thread(conversation::Message::Card(message))
            | Message::Inbox(inbox::Message::Card(message)) => self.in_card(deed, message),
            Message::Thread(conversation::Message::EndPressed(end)) if self.arms_end(end) => Task::none(),
            Message::Thread(message) => {
                let effects = self.open.as_mut().map(|open| open.update(message)).unwrap_or_default();
                self.perform_deed(deed, effects)
            }
            Message::Inbox(inbox::Message::Opened(id)) => self.show_with_row(id),
            Message::Inbox(inbox::Message::TaskOpened(id, task)) => self.show_task(id, task),
            Message::Settings(message) => {
                let effects = self.preferences.update(message, self.catalog.models.as_ref());
                self.perform(effects)
            }
            Message::Memory(message) => {
                let effects = self.memory.update(message);
                self.perform_deed(deed, effects)
            }
            Message::NewConversation(message) => {
                let effects = self.new_conversation.update(message, &self.catalog);
                self.perform(effects)
            }
            Message::Reader(reader::Message::ClosePressed) => self.close_reader(),
            Message::Reader(message) => {
                let effects =
                    self.overlay.reader.as_mut().map(|reader| reader.update(message)).unwrap_or_default();
                self.perform(effects)
            }
            Message::NotOpened(words) => {
                self.feedback.notice = Some(words);
                Task::none()
            }
            Message::Key(command) => self.command(command),
            Message::Letter(letter, command) => self.letter(&letter, command),
            Message::Window(id, event) => self.on_window(id, event),
            Message::ShowRequested(wanted) => self.want(&wanted),
            Message::TrayFound => self.start_tray(),
            Message::FileDropped(path) => Self::look_at_file(path),
            Message::FileSeen(seen) => self.file_seen(seen),
            Message::SystemTheme(is_dark) => {
                self.window.is_dark = is_dark;
                Task::none()
            }
            Message::Ticked => self.look_at_config(),
            Message::CaretMoved(is_drawn) => self.caret_moved(is_drawn),
            Message::Settled => self.settled(),
            Message::TakenBack => self.take_back(),
            Message::DraftDue => {
                self.keep_draft();
                Task::none()
            }
            Message::FlashOver(id) => {
                self.sidebar.flashing.remove(&id);
                Task::none()
            }
            Message::NoticeRead => {
                self.feedback.notice = None;
                self.guard.disarm(self.now);
                Task::none()
            }
            Message::StartPressed => {
                self.daemon.again();
                Task::none()
            }
            Message::TakeOverPressed => {
                self.perform_one(Effect::Ask(Request::UpdateDaemon(UpdateDaemonParams::default())))
            }
            Message::ConfigPressed => self.open_config(),
            Message::OverClosed => self.close_dialog(),
            Message::CloseConfirmed => self.close_knowing(),
        }
    }

    fn in_card(&mut self, deed: Option<Deed>, message: pending::Message) -> Task<Message> {
        if self.arms(&message) {
            return Task::none();
        }
        let lasting = message.begins_lasting();
        let effects = self.cards.update(message);
        let performed = self.perform_deed(deed, effects);
        Task::batch([performed, lasting.map_or_else(Task::none, |id| self.begin_lasting(id))])
    }

    /// Performs a screen's effects; a deed that cannot be undone makes keys and clicks wait.
    fn perform_deed(&mut self, deed: Option<Deed>, mut effects: Vec<Effect>) -> Task<Message> {
        let decides = |effect: &Effect| {
            matches!(effect, Effect::Ask(Request::DecideApproval(_) | Request::UserResponse(_)))
        };
        if self.page == Page::Conversation && effects.iter().any(decides) {
            effects.extend(self.open.iter_mut().flat_map(|open| open.decided()));
        }
        if let Some(deed) = deed.filter(|_| effects.iter().any(|effect| matches!(effect, Effect::Ask(_)))) {
            tracing::debug!(?deed, "asked of the daemon");
            self.guard.did(deed, self.now);
        }
        self.perform(effects)
    }

    /// Whether a person sees the new messages of the open conversation. A sub-task's timeline has none of
    /// them.
    fn is_seen(&self, open: &Conversation) -> bool {
        self.page == Page::Conversation && open.sub_task().is_none() && self.window.is_focused
    }

    /// Folds updates into the open conversation.
    fn follow_open(&mut self, id: ConversationId, updates: Vec<Update>) -> Task<Message> {
        self.advise_font(&updates);
        let is_seen = self.open.as_ref().is_some_and(|open| self.is_seen(open));
        let seen = is_seen.then(|| self.unread(id));
        let effects = match self.conversation_mut().filter(|open| open.id() == id) {
            Some(open) => open.follow(updates, seen),
            None => Vec::new(),
        };
        if self.conversation().is_some_and(|open| open.fold().is_deleted()) {
            return self.leave();
        }
        let performed = self.perform(effects);
        Task::batch([performed, self.find_sub_task()])
    }

    /// Says once how emoji can be shown, when a message has some and no font has them.
    fn advise_font(&mut self, updates: &[Update]) {
        let lacks = |update: &Update| match update {
            Update::Snapshot(snapshot) => snapshot.messages.iter().any(|said| emoji::lacks_font(&said.text)),
            Update::Notification(Notification::TaskMessage(said)) => emoji::lacks_font(&said.message.text),
            _ => false,
        };
        if !self.settings.knows_emoji && self.feedback.notice.is_none() && updates.iter().any(lacks) {
            self.settings.knows_emoji = true;
            self.local.keep_settings(&self.settings);
            self.feedback.notice = Some(emoji::ADVICE.to_owned());
        }
    }

    /// Folds updates into the overview.
    fn follow(&mut self, updates: Vec<Update>) -> Task<Message> {
        let mut tasks = Vec::new();
        for update in updates {
            if let Update::Notification(Notification::ConversationUpdate(update)) = &update
                && update.conversation.is_none()
            {
                // The list may have it although the overview does not.
                self.sidebar.forget(update.conversation_id);
            }
            if let Update::Notification(Notification::MemoryForgotten(forgotten)) = &update {
                self.memory.forget(forgotten.seq);
            }
            let changes = self.overview.apply(update);
            for change in changes {
                match change {
                    OverviewChange::Reset => {
                        let is_first = !std::mem::replace(&mut self.has_overview, true);
                        let is_seen = matches!(self.page, Page::NewConversation | Page::Conversation)
                            && !self.is_overlaid();
                        if is_first && is_seen {
                            // Before the first overview the composer accepts no text, and the window knows of
                            // no card.
                            tasks.push(self.give_keyboard());
                        }
                        self.new_conversation.is_connected = true;
                        tasks.push(self.ask_what_is_configured());
                        if self.page == Page::Memory {
                            tasks.push(self.look_again());
                        }
                        let archived = self.sidebar.connected();
                        tasks.push(self.perform_one(archived));
                        tasks.push(self.tell_focus());
                        if self.open.as_ref().is_some_and(|open| self.is_seen(open)) {
                            tasks.push(self.mark_read());
                        }
                        tasks.push(self.point_out());
                        if self.sidebar.awaits_row.is_some() {
                            tasks.push(self.reveal_row());
                        }
                    }
                    OverviewChange::Inbox => tasks.push(self.point_out()),
                    OverviewChange::Connection => {
                        self.new_conversation.is_connected = *self.overview.connection() == Connection::Live;
                    }
                    OverviewChange::Conversation(id) if self.sidebar.awaits_row == Some(id) => {
                        tasks.push(self.reveal_row());
                    }
                    // The newest message is in view. The overview may count the message as unread after the
                    // page has shown it.
                    OverviewChange::Conversation(id)
                        if self.unread(id) > 0
                            && self.open.as_ref().is_some_and(|open| {
                                open.id() == id && open.is_at_end() && self.is_seen(open)
                            }) =>
                    {
                        tasks.push(self.mark_read());
                    }
                    OverviewChange::Conversation(_) | OverviewChange::Task(_) | OverviewChange::Daemon => {}
                }
            }
        }
        Task::batch(tasks)
    }

    /// Highlights new inbox items, and calls for attention if the person is elsewhere.
    fn point_out(&mut self) -> Task<Message> {
        let items = self.overview.inbox().items();
        let written = self.cards.written().clone();
        self.cards.keep(items);
        self.drafts.is_dirty |= written != *self.cards.written();
        let new = self.cards.announce(items);
        if new.is_empty() {
            return Task::none();
        }
        let mut tasks =
            vec![if self.window.is_focused { Task::none() } else { attention::call(self.window.id) }];
        for id in new {
            self.sidebar.flashing.insert(id, self.now);
            tasks.push(Task::future(async move {
                tokio::time::sleep(FLASH).await;
                Message::FlashOver(id)
            }));
        }
        Task::batch(tasks)
    }

    fn answered(&mut self, request: &Request, result: Result<Reply, Failure>) -> Task<Message> {
        if let Request::GetConversation(asked) = request {
            return self.named(&asked.conversation_id, result);
        }
        if let (Some(sent), Ok(_)) = (self.take_unconfirmed(request), &result) {
            self.drop_unconfirmed(&sent);
        }
        match result {
            Ok(Reply::ListModels(models)) => return self.know_models(models),
            Ok(reply @ (Reply::ListPersonas(_) | Reply::ListTemplates(_) | Reply::ListTools(_))) => {
                self.know_presets(reply);
            }
            Ok(Reply::GetWorkspace(here)) => {
                if let Request::GetWorkspace(asked) = request {
                    self.catalog.workspaces.insert(asked.workspace.clone(), here);
                }
            }
            Ok(Reply::Search(found)) if searches_all(request) => {
                let effects = self.sidebar.searched(Some(&found));
                return self.perform(effects);
            }
            Ok(Reply::ListConversations(page)) => {
                let effects = self.sidebar.know_archived(request, &page);
                return self.perform(effects);
            }
            Ok(Reply::StartTask(started)) => {
                let is_of_new = self.new_conversation.composer.has_sent(request);
                match self.conversation_mut().filter(|open| open.id() == started.conversation_id) {
                    Some(open) => drop(open.answered(request, &Reply::StartTask(started))),
                    None if is_of_new => self.new_conversation.composer.sent(),
                    // A branch of the open conversation.
                    None => {}
                }
                self.feedback.notice = started.beside.map(beside).or_else(|| self.feedback.notice.take());
                self.drafts.is_dirty = true;
                self.keep_draft();
                let begins =
                    matches!(request, Request::StartTask(params) if params.conversation_id.is_none());
                let opened = if begins {
                    // A list that shows what a search has found has no row for a new conversation.
                    self.clear_search();
                    self.show_with_row(started.conversation_id)
                } else {
                    self.show(started.conversation_id)
                };
                return Task::batch([opened, self.ask(request::config())]);
            }
            Ok(reply) => {
                if let Some(config) = request::config_of(&reply) {
                    self.config = config.file.clone();
                    if let Some(models) = &mut self.catalog.models {
                        models.default = config.default.clone();
                    }
                }
                let grown = match &reply {
                    Reply::ListRules(page) => self.sidebar.know_rules(&page.rules),
                    _ => None,
                };
                self.note_done(request);
                if *request == Request::Focus(FocusParams::default()) {
                    tracing::debug!("the daemon knows that nobody looks");
                }
                if request::came_too_late(request, &reply) {
                    self.feedback.notice = Some("Somebody else was first: what they said counts.".to_owned());
                }
                let mut effects = self.set_up_answered(request, &reply);
                effects.extend(self.memory.answered(request, &reply));
                effects.extend(grown);
                let open = self.open.iter_mut().chain(&mut self.behind);
                effects.extend(open.flat_map(|open| open.answered(request, &reply)));
                let performed = self.perform(effects);
                if !matches!(request, Request::ListTasks(_) | Request::AgentTree(_)) {
                    return performed;
                }
                let found = self.find_sub_task();
                if matches!(request, Request::AgentTree(_)) {
                    // No other reply will have it.
                    self.tree.sought = None;
                }
                return Task::batch([performed, found]);
            }
            // It is forgotten already, and the daemon has told so.
            Err(failure)
                if matches!(request, Request::ForgetMemory(_))
                    && failure.kind == Some(ErrorKind::NotFound) => {}
            Err(failure) => return self.refused_by_daemon(request, &failure),
        }
        Task::none()
    }

    /// A request was not done.
    fn refused_by_daemon(&mut self, request: &Request, failure: &Failure) -> Task<Message> {
        // Without a kind the connection has ended.
        let has_gone = failure.kind.is_none_or(|kind| kind == ErrorKind::ShuttingDown);
        if matches!(request, Request::UpdateDaemon(_)) && has_gone {
            // The daemon is on its way, and could not say so before.
            return Task::none();
        }
        let is_courtesy = match request {
            Request::Focus(_)
            | Request::MarkRead(_)
            | Request::ListModels(_)
            | Request::ListPersonas(_)
            | Request::ListTemplates(_)
            | Request::ListTools(_)
            | Request::GetWorkspace(_)
            | Request::AgentTree(_) => true,
            Request::GetConfig(_) => self.page != Page::Settings,
            Request::GetMemory(_) | Request::ListNotes(_) => self.page != Page::Memory,
            // The bar of its task says so.
            Request::TaskChanges(_) => !self.conversation().is_some_and(Conversation::shows_changes),
            Request::ListConversations(_) => !self.sidebar.archived_failed(),
            _ => false,
        };
        if is_courtesy {
            tracing::debug!(%failure, "a request without consequence failed");
        } else {
            self.feedback.notice = Some(words::here(&failure.message).into_owned());
        }
        if matches!(request, Request::AgentTree(_)) {
            self.tree.sought = None;
        }
        if searches_all(request) {
            let effects = self.sidebar.searched(None);
            return self.perform(effects);
        }
        self.new_conversation.composer.failed();
        self.cards.failed(request);
        self.preferences.failed(request);
        self.memory.failed(request);
        self.new_conversation.setup.failed(request);
        for open in self.open.iter_mut().chain(&mut self.behind) {
            open.failed(request, failure);
        }
        Task::none()
    }
}

/// Whether it opens or closes a menu, or is chosen there.
const fn is_of_menu(message: &Message) -> bool {
    matches!(
        message,
        Message::Sidebar(sidebar::Message::Menu(..)) | Message::Thread(conversation::Message::MenuPressed)
    )
}

/// Whether all conversations are searched, and not the open one.
const fn searches_all(request: &Request) -> bool {
    matches!(request, Request::Search(asked) if asked.conversation_id.is_none())
}

/// The notice of a task that begins in a work tree where this one works.
fn beside(task: TaskId) -> String {
    format!(
        "Task {} works in this git work tree, too: what one changes, the other finds. A new conversation can have a worktree of its own.",
        task.short()
    )
}
