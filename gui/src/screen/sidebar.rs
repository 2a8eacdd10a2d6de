//! The list of conversations: those that need the person, that work, that are pinned, that are done (by day),
//! and archived ones.

mod archive;
mod days;
mod menu;
mod search;

use crate::{
    effect::{Effect, field},
    font,
    guard::Deed,
    rendered,
    request::Request,
    screen::tree::line::stands,
    theme::{
        size, space,
        style::{self, RowState},
    },
    widget::{
        Element, Look, badge, dot, elide::elided, field::field, head, key, press::press, report, secondary,
        word, working,
    },
    words,
};
use abide_client::{
    protocol::{
        ConversationId, Seq, TaskId, Timestamp,
        conversation::Conversation,
        inbox::{InboxItem, Pending},
        method::{conversation::ListConversationsReply, search::SearchReply},
        task::{AgentTask, Status},
    },
    view::OverviewView,
};
use abide_host::{parked, text::visible_line};
use archive::Archive;
use days::Day;
use iced::{
    Center, Fill,
    widget::{Column, column, container, mouse_area, row, rule, scrollable, space as gap, text},
};
use menu::Menu;
use search::Search;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// The most rows drawn of those that are done; a search finds the others.
const MAX_DONE: usize = 200;
/// The most characters of the title of a sub-task that asks.
const MAX_TITLE: usize = 90;
/// How many characters of a task's activity are searched.
const MAX_FOUND: usize = 200;

/// The list's state; its content is the overview's.
#[derive(Debug, Default)]
pub struct Screen {
    search: Search,
    search_has_caret: bool,
    /// Conversations that have just come to need the person, highlighted for a moment.
    pub flashing: BTreeMap<ConversationId, Timestamp>,
    /// Pinned conversations.
    pub pinned: BTreeSet<ConversationId>,
    /// The open conversation, while it has no row in the list. The list is scrolled to the row when it comes.
    pub awaits_row: Option<ConversationId>,
    menu: Option<Menu>,
    archive: Archive,
}

#[derive(Debug, Clone)]
pub enum Message {
    QueryChanged(String),
    QuerySubmitted,
    /// Whether the search has the caret now.
    SearchFocused(bool),
    Selected(ConversationId),
    /// A message that was found.
    FoundPressed(ConversationId, Seq, Option<TaskId>),
    NewPressed,
    InboxPressed,
    SettingsPressed,
    HelpPressed,
    /// Hides the list.
    HidePressed,
    ArchivedToggled,
    /// The next page of archived ones.
    OlderPressed,
    Menu(ConversationId, menu::Message),
}

impl Message {
    /// What it does that cannot be undone.
    #[must_use]
    pub const fn deed(&self) -> Option<Deed> {
        match self {
            Self::Menu(_, message) => message.deed(),
            _ => None,
        }
    }
}

/// A conversation in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedConversation {
    pub id: ConversationId,
    pub title: String,
    pub doing: String,
    /// At the right: waiting time, step or age.
    pub aside: String,
    pub unread: u64,
    pub mark: Mark,
    /// How many questions and approvals wait here.
    pub waiting: usize,
    /// It is pinned or archived, and is in a group that does not show that.
    pub sign: Option<&'static str>,
    /// The day of the last change.
    pub day: Day,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    NeedsYou,
    Working,
    Paused,
    Complete,
    Stopped,
    Failed,
    Empty,
}

impl Mark {
    /// Whether it has a task that has not ended.
    const fn is_busy(self) -> bool {
        matches!(self, Self::NeedsYou | Self::Working | Self::Paused)
    }
}

/// All conversations, in the order of their urgency.
#[derive(Debug, Default, PartialEq)]
pub struct Groups {
    pub needs_you: Vec<ListedConversation>,
    pub working: Vec<ListedConversation>,
    pub paused: Vec<ListedConversation>,
    pub pinned: Vec<ListedConversation>,
    /// Last changed first.
    pub done: Vec<ListedConversation>,
    /// Archived ones at rest, while their group is open; searched by the daemon only.
    pub archived: Vec<ListedConversation>,
    /// There are archived ones, shown or not.
    pub has_archived: bool,
}

impl Groups {
    /// In the order shown.
    pub fn ids(&self) -> impl Iterator<Item = ConversationId> {
        let groups = [&self.needs_you, &self.working, &self.paused, &self.pinned, &self.done, &self.archived];
        groups.into_iter().flatten().map(|line| line.id)
    }

    /// The same, without the ended ones that are not drawn.
    fn drawn(&self) -> impl Iterator<Item = ConversationId> {
        let above = [&self.needs_you, &self.working, &self.paused, &self.pinned].into_iter().flatten();
        above.chain(self.done.iter().take(MAX_DONE)).chain(&self.archived).map(|line| line.id)
    }
}

/// The conversation beside the list.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    pub id: ConversationId,
    /// A person sees its new messages. The daemon counts them as unread until they are marked as read, which
    /// the window then asks for.
    pub is_seen: bool,
}

/// The rows that stand out.
#[derive(Debug, Clone, Copy)]
struct Rows {
    open: Option<Open>,
    /// Enter in the search opens it.
    picked: Option<ConversationId>,
}

impl Screen {
    #[must_use]
    pub fn with_pinned(pinned: BTreeSet<ConversationId>) -> Self {
        Self { pinned, ..Self::default() }
    }

    /// Enter in the search opens what is picked of what it finds, which at first is the first.
    pub fn update(&mut self, message: Message, overview: &OverviewView, look: Look) -> Vec<Effect> {
        match message {
            Message::QueryChanged(query) => self.search.set(query),
            Message::SearchFocused(has_caret) => {
                self.search_has_caret = has_caret;
                Vec::new()
            }
            Message::QuerySubmitted => {
                let groups = self.groups(overview, look);
                let listed = groups.drawn().count();
                let picked = self.picked(listed, overview);
                let opening = picked.and_then(|at| {
                    let listed = groups.drawn().map(Message::Selected);
                    listed.chain(self.search.openings(overview)).nth(at)
                });
                match opening {
                    // Until the daemon's reply to this query comes, the results below the list are those of
                    // an earlier query.
                    Some(opening) if picked < Some(listed) || !self.search.is_busy() => {
                        self.update(opening, overview, look)
                    }
                    _ => {
                        self.search.submit();
                        Vec::new()
                    }
                }
            }
            Message::Selected(id) => {
                self.menu = None;
                vec![Effect::Open(id)]
            }
            Message::FoundPressed(id, seq, task) => {
                vec![Effect::GoTo(id, seq, task, self.search.query().to_owned())]
            }
            Message::NewPressed => vec![Effect::New],
            Message::ArchivedToggled => self.archive.toggle(),
            Message::OlderPressed => self.archive.older(),
            Message::Menu(id, message) => self.on_menu(id, message, overview),
            Message::InboxPressed
            | Message::SettingsPressed
            | Message::HelpPressed
            | Message::HidePressed => Vec::new(),
        }
    }

    /// The place of the row that Enter in the search opens, among the `listed` rows of the list and what the
    /// daemon has found; `None` while nothing is searched or found.
    fn picked(&self, listed: usize, overview: &OverviewView) -> Option<usize> {
        if self.search.typed().is_empty() {
            return None;
        }
        let last = (listed + self.search.openings(overview).count()).checked_sub(1)?;
        Some(self.search.picked().min(last))
    }

    /// Picks the next row that the search finds, or the one before, for Enter to open. `None` if the search
    /// has no caret, or finds nothing.
    pub fn pick(&mut self, by: isize, overview: &OverviewView, look: Look) -> Option<Effect> {
        if !self.search_has_caret {
            return None;
        }
        let picked = self.picked(self.groups(overview, look).drawn().count(), overview)?;
        self.search.pick(picked.saturating_add_signed(by));
        Some(Effect::Reveal(field::PICKED))
    }

    /// Moves the keyboard to the search.
    pub fn search_again(&mut self) -> Vec<Effect> {
        self.search.again()
    }

    /// A conversation is deleted.
    pub fn forget(&mut self, id: ConversationId) {
        self.search.forget(id);
        self.archive.forget(id);
    }

    /// The window is connected, perhaps again.
    pub fn connected(&mut self) -> Effect {
        self.archive.connected()
    }

    /// Handles a page of archived conversations.
    pub fn know_archived(&mut self, request: &Request, page: &ListConversationsReply) -> Vec<Effect> {
        match request {
            Request::ListConversations(asked) => self.archive.know(asked.cursor.as_deref(), page),
            _ => Vec::new(),
        }
    }

    /// A page of archived conversations did not come. Returns whether the person waits for it.
    pub const fn archived_failed(&mut self) -> bool {
        self.archive.failed()
    }

    /// Opens the group of archived conversations, or folds it if it is seen. A search, which hides it, ends.
    pub fn toggle_archived(&mut self, is_list_seen: bool) -> Vec<Effect> {
        let was_hidden = self.search.clear() || !is_list_seen;
        if was_hidden && self.archive.is_open() {
            return vec![Effect::Reveal(field::ARCHIVED)];
        }
        self.archive.toggle()
    }

    /// A conversation of the list.
    #[must_use]
    pub fn known<'a>(&'a self, id: ConversationId, overview: &'a OverviewView) -> Option<&'a Conversation> {
        let archived = || self.archive.listed().iter().find(|listed| listed.id == id);
        overview.conversation(id).or_else(archived)
    }

    /// Ends the search; returns whether there was one.
    pub fn clear_search(&mut self) -> bool {
        self.search.clear()
    }

    /// Whether Escape closes a menu or ends a search here.
    #[must_use]
    pub fn takes_escape(&self) -> bool {
        self.menu.is_some() || !self.search.typed().is_empty()
    }

    /// Handles the daemon's search results, or a failure.
    pub fn searched(&mut self, reply: Option<&SearchReply>) -> Vec<Effect> {
        self.search.answered(reply)
    }

    /// The groups, filtered by the search.
    #[must_use]
    pub fn groups(&self, overview: &OverviewView, look: Look) -> Groups {
        self.groups_with(&self.search.query().to_lowercase(), overview, look)
    }

    /// The conversations that need the person, also those that the search leaves out; the longest wait comes
    /// first.
    #[must_use]
    pub fn needing_you(&self, overview: &OverviewView, look: Look) -> Vec<ConversationId> {
        self.groups_with("", overview, look).needs_you.iter().map(|line| line.id).collect()
    }

    /// The groups of the conversations that contain `query`, which is in lower case.
    fn groups_with(&self, query: &str, overview: &OverviewView, look: Look) -> Groups {
        let mut groups = Groups::default();
        let mut waits = BTreeMap::<ConversationId, Vec<&InboxItem>>::new();
        for item in overview.inbox().items() {
            waits.entry(item.conversation_id).or_default().push(item);
        }
        let mut order: Vec<(Timestamp, ListedConversation)> = Vec::new();
        let mut done: Vec<ListedConversation> = Vec::new();
        let mut archived: Vec<&Conversation> = Vec::new();
        for conversation in overview.conversations() {
            let task = conversation.task.and_then(|latest| overview.task(latest.id));
            let items = waits.get(&conversation.id);
            let waiting = items.and_then(|items| items.first().copied());
            let mut line = line(conversation, task, waiting, look);
            line.waiting = items.map_or(usize::from(line.mark == Mark::NeedsYou), Vec::len);
            if conversation.archived && !line.mark.is_busy() {
                archived.push(conversation);
                continue;
            }
            let is_found = query.is_empty()
                || [&line.title, &line.doing, &conversation.workspace]
                    .iter()
                    .any(|t| t.to_lowercase().contains(query));
            if !is_found {
                continue;
            }
            if line.mark.is_busy() {
                let pinned = self.pinned.contains(&line.id).then_some("pinned");
                line.sign = conversation.archived.then_some("archived").or(pinned);
            }
            match line.mark {
                Mark::NeedsYou => {
                    let since = waiting.map_or(conversation.updated_at, |item| item.pending.asked_at());
                    order.push((since, line));
                }
                Mark::Working => groups.working.push(line),
                Mark::Paused => groups.paused.push(line),
                Mark::Complete | Mark::Stopped | Mark::Failed | Mark::Empty => done.push(line),
            }
        }
        // The overview is sorted by the last change already.
        (groups.pinned, groups.done) = done.into_iter().partition(|line| self.pinned.contains(&line.id));
        // The longest wait comes first.
        order.sort_by_key(|(since, _)| *since);
        groups.needs_you = order.into_iter().map(|(_, line)| line).collect();
        // Working rows are sorted by the conversation's age, so that they do not jump with each change.
        groups.working.sort_by_key(|line| Reverse(line.id));
        groups.paused.sort_by_key(|line| Reverse(line.id));
        // A search has archived ones among its results.
        if query.is_empty() {
            groups.has_archived = self.archive.has_some() || !archived.is_empty();
            if self.archive.is_open() {
                let fetched = self.archive.listed().iter();
                archived.extend(fetched.filter(|fetched| overview.conversation(fetched.id).is_none()));
                archived.sort_by_key(|conversation| (Reverse(conversation.updated_at), conversation.id));
                groups.archived = archived.into_iter().map(|c| line(c, None, None, look)).collect();
            }
        }
        groups
    }

    #[must_use]
    pub fn view<'a>(
        &'a self,
        overview: &OverviewView,
        open: Option<Open>,
        width: f32,
        look: Look,
    ) -> Element<'a, Message> {
        let groups = self.groups(overview, look);
        let is_searching = !self.search.typed().is_empty();
        let shape = (size::PROSE, [7.0, 10.0]);
        let query = field("Search", shape, self.search.typed(), Message::QueryChanged, |input| {
            input.id(field::SEARCH).on_submit(Message::QuerySubmitted)
        });
        let search = row![
            report::caret(query, self.search_has_caret, Message::SearchFocused),
            is_searching.then(|| word("Clear", Message::QueryChanged(String::new()))),
            press(text("+").size(size::PROSE).center().width(18))
                .padding([7.0, 8.0])
                .style(style::secondary)
                .on_press(Message::NewPressed),
        ]
        .spacing(space::S)
        .align_y(Center)
        .padding(space::M);
        let listed = groups.drawn().count();
        let picked = self.picked(listed, overview);
        let rows = Rows { open, picked: picked.and_then(|at| groups.drawn().nth(at)) };
        let list = self.list(groups, rows, look);
        let among_found = picked.and_then(|at| at.checked_sub(listed));
        let mut list = list.push(self.search.view(overview, among_found, look));
        if listed == 0 && self.search.is_empty() {
            let words = match self.search.query() {
                "" => "No conversations yet.",
                _ if self.search.is_busy() => "Searching…",
                _ => "Nothing found.",
            };
            list = list.push(container(secondary(words)).padding([space::S, 10.0]));
        }
        let waiting = overview.waiting();
        let mut inbox = row![text("Inbox").size(size::SECONDARY)].spacing(space::S).align_y(Center);
        if waiting > 0 {
            inbox = inbox.push(badge(waiting.to_string()).style(style::badge_needs_you));
        }
        let foot = row![
            press(inbox).padding([6.0, 8.0]).style(style::quiet).on_press(Message::InboxPressed),
            gap().width(Fill),
            word("Settings", Message::SettingsPressed).padding([6.0, 8.0]),
            word("Fold", Message::HidePressed).padding([6.0, 8.0]),
            press(row![text("Keys").size(size::SECONDARY), key("?")].spacing(space::XS).align_y(Center))
                .padding([6.0, 8.0])
                .style(style::quiet)
                .on_press(Message::HelpPressed),
        ]
        .padding([space::XS, space::S]);
        let content = column![
            search,
            scrollable(list).id(field::LIST).height(Fill).style(style::bars).direction(thin()),
            container(rule::horizontal(1).style(style::line)).padding([0.0, space::S]),
            foot,
        ];
        container(content).width(width).height(Fill).style(style::panel).into()
    }

    /// The groups that are not empty, one below the other.
    fn list<'a>(&'a self, groups: Groups, rows: Rows, look: Look) -> Column<'a, Message> {
        let mut list = Column::new().padding([0.0, space::S]);
        let named = [
            ("NEEDS YOU", groups.needs_you),
            ("WORKING", groups.working),
            ("PAUSED", groups.paused),
            ("PINNED", groups.pinned),
        ];
        let is_cut = groups.done.len() > MAX_DONE;
        let mut done = groups.done.into_iter().take(MAX_DONE).peekable();
        let mut days = Vec::new();
        while let Some(day) = done.peek().map(|line| line.day) {
            let lines: Vec<ListedConversation> =
                std::iter::from_fn(|| done.next_if(|line| line.day == day)).collect();
            days.push((day.name(), lines));
        }
        for (name, lines) in named.into_iter().chain(days).filter(|(_, lines)| !lines.is_empty()) {
            // Of what needs the person the things are counted, as in the inbox and in the window's title.
            let waiting: usize = lines.iter().map(|line| line.waiting).sum();
            let count = head(if waiting > 0 { waiting } else { lines.len() }.to_string());
            list = list.push(row![head(name), gap().width(Fill), count].padding([space::S + 2.0, 10.0]));
            list = list.extend(lines.into_iter().map(|line| self.line(line, rows, look)));
            list = list.push(gap().height(space::S));
        }
        if is_cut {
            list = list.push(container(secondary("Older ones: search for them.")).padding([space::XS, 10.0]));
        }
        let archived = groups.has_archived.then(|| self.archived(groups.archived, rows, look));
        list.push(archived)
    }

    /// The group of archived conversations.
    fn archived<'a>(
        &'a self,
        lines: Vec<ListedConversation>,
        rows: Rows,
        look: Look,
    ) -> Element<'a, Message> {
        let fold = if self.archive.is_open() { "Archived −" } else { "Archived +" };
        let fold = container(word(fold, Message::ArchivedToggled)).padding([space::XS, 4.0]);
        let is_empty = self.archive.is_at_rest() && lines.is_empty();
        let empty = is_empty.then(|| container(secondary("Nothing is archived.")).padding([space::XS, 10.0]));
        let older = self.archive.has_more().then(|| word("Show older ones", Message::OlderPressed));
        let group = Column::new()
            .push(fold)
            .extend(lines.into_iter().map(|line| self.line(line, rows, look)))
            .push(empty)
            .push(older.map(|older| container(older).padding([space::XS, 4.0])));
        container(group).id(field::ARCHIVED).width(Fill).into()
    }

    /// A conversation, with its menu while that is open.
    fn line<'a>(&'a self, line: ListedConversation, rows: Rows, look: Look) -> Element<'a, Message> {
        let id = line.id;
        let open = rows.open.filter(|open| open.id == id);
        let unread = if open.is_some_and(|open| open.is_seen) { 0 } else { line.unread };
        let line = ListedConversation { unread, ..line };
        let state = RowState {
            is_open: open.is_some(),
            is_new: self.flashing.contains_key(&id),
            is_picked: rows.picked == Some(id),
        };
        let is_pinned = self.pinned.contains(&id);
        let is_busy = line.mark.is_busy();
        let shown =
            mouse_area(line_view(line, state, look)).on_right_press(Message::Menu(id, menu::Message::Asked));
        let menu = self.menu.as_ref().filter(|menu| menu.id == id);
        let menu =
            menu.map(|menu| menu.view(is_pinned, is_busy).map(move |message| Message::Menu(id, message)));
        let row = container(Column::new().push(shown).push(menu));
        let row = if state.is_open { row.id(field::SELECTED) } else { row };
        if state.is_picked { container(row).id(field::PICKED).into() } else { row.into() }
    }
}

/// A bar over the content, beside its text.
pub(in crate::screen) fn thin() -> scrollable::Direction {
    let bar = scrollable::Scrollbar::new().width(space::XS).scroller_width(space::XS).margin(1);
    scrollable::Direction::Vertical(bar)
}

fn line_view<'a>(line: ListedConversation, state: RowState, look: Look) -> Element<'a, Message> {
    let mark: Element<'a, Message> = match line.mark {
        Mark::NeedsYou => dot(|t| t.needs_you),
        Mark::Working => working(look),
        Mark::Paused | Mark::Empty => dot(|t| t.faint),
        Mark::Complete => dot(|t| t.ok),
        Mark::Stopped => dot(|t| t.muted),
        Mark::Failed => dot(|t| t.bad),
    };
    let aside: Element<'a, Message> =
        if line.unread > 0 { badge(line.unread.to_string()).into() } else { secondary(line.aside).into() };
    let sign = line.sign.map(|sign| head(sign).into());
    let top = row![elided(line.title, size::PROSE, font::MEDIUM)].extend(sign).push(aside);
    let top = top.spacing(space::S).align_y(Center);
    let doing =
        if line.waiting > 1 { format!("1 of {} · {}", line.waiting, line.doing) } else { line.doing };
    let doing = elided(doing, size::SECONDARY, font::PROSE).style(style::muted);
    let words = column![top, doing].width(Fill);
    let content = row![container(mark).padding(iced::padding::top(7)), words].spacing(space::M);
    press(content)
        .padding([space::S, 10.0])
        .width(Fill)
        .style(style::list_row(state))
        .on_press(Message::Selected(line.id))
        .into()
}

fn line(
    conversation: &Conversation,
    task: Option<&AgentTask>,
    waiting: Option<&InboxItem>,
    look: Look,
) -> ListedConversation {
    let title = words::title(&conversation.title);
    let age = words::age(conversation.updated_at, look.now);
    let place = words::place(&conversation.workspace, look.home);
    let place = place.rsplit('/').next().unwrap_or_default().to_owned();
    let (mark, doing, aside) = match (waiting, task, conversation.task) {
        (Some(item), ..) => {
            let doing = match &item.pending {
                Pending::Approval(a) => format!("approve: {}", words::what(&a.tool, &a.summary)),
                Pending::Question(q) => {
                    parked::question(q).unwrap_or_else(|| format!("asks: {}", rendered::text(&q.text)))
                }
            };
            let doing = match item.sub_task() {
                Some((_, title)) => format!("{doing} · {}", words::first_line(title, MAX_TITLE)),
                None => doing,
            };
            (Mark::NeedsYou, doing, words::age(item.pending.asked_at(), look.now))
        }
        (None, Some(task), _) if task.is_held() => (Mark::NeedsYou, words::doing(task), age),
        (None, Some(task), _) if task.status == Status::Paused => (Mark::Paused, words::doing(task), age),
        (None, Some(task), _) if stands(task) => (Mark::Paused, words::doing(task), age),
        (None, Some(task), _) => {
            let doing = words::as_known(words::doing(task), task, look);
            (Mark::Working, doing, format!("step {}", task.step_count))
        }
        (None, None, Some(latest)) if latest.status.has_ended() => {
            let mark = match latest.status {
                _ if latest.is_whole() => Mark::Complete,
                Status::Cancelled => Mark::Stopped,
                _ => Mark::Failed,
            };
            (mark, format!("{} · {place}", latest.words()), age)
        }
        (None, None, Some(_)) => {
            let doing = if look.is_live { "working" } else { "last seen: working" };
            (Mark::Working, doing.to_owned(), age)
        }
        (None, None, None) => (Mark::Empty, place, age),
    };
    let doing = visible_line(&words::first_line(&doing, MAX_FOUND)).into_owned();
    let day = Day::of(conversation.updated_at, look.now);
    let unread = conversation.unread;
    ListedConversation { id: conversation.id, title, doing, aside, unread, mark, waiting: 0, sign: None, day }
}
