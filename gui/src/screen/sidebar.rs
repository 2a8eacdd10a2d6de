//! The list of conversations: what needs you, what works, what is done.

mod search;

use crate::{
    effect::{Effect, field},
    font,
    theme::{size, space, style},
    widget::{
        Element, Look, badge, calm::calm, dot, head, key, one_line, prose, secondary, spinner::spinner,
    },
    words,
};
use abide_client::{
    protocol::{
        ConversationId, Seq, Timestamp,
        conversation::Conversation,
        inbox::{InboxItem, Pending},
        method::search::SearchReply,
        task::{AgentTask, Status},
    },
    text::visible_line,
    view::OverviewView,
};
use iced::{
    Center, Fill,
    widget::{Column, button, column, container, row, rule, scrollable, space as gap, text, text_input},
};
use search::Search;
use std::{cmp::Reverse, collections::BTreeMap};

/// Rows that are drawn; a search finds the others.
const MAX_DONE: usize = 200;
/// Of what it is doing, for the search.
const MAX_FOUND: usize = 200;
/// Characters that find room beside the mark; iced has no ellipsis of its own.
const MAX_TITLE: usize = 24;
const MAX_DOING: usize = 35;

/// The list; what is in it is the overview's.
#[derive(Debug, Default)]
pub struct Screen {
    search: Search,
    /// What has just come to need the person, until it has been shown for a moment.
    pub flashing: BTreeMap<ConversationId, Timestamp>,
}

#[derive(Debug, Clone)]
pub enum Message {
    QueryChanged(String),
    QuerySubmitted,
    Selected(ConversationId),
    /// A message that was found.
    FoundPressed(ConversationId, Seq),
    NewPressed,
    InboxPressed,
    HelpPressed,
}

/// A conversation in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub id: ConversationId,
    pub title: String,
    pub doing: String,
    /// At the right: how long it waits, its step, its age.
    pub aside: String,
    pub unread: u64,
    pub mark: Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    NeedsYou,
    Working,
    Paused,
    Complete,
    Failed,
    Empty,
}

/// All of them, by what a person should look at first.
#[derive(Debug, Default, PartialEq)]
pub struct Groups {
    pub needs_you: Vec<Line>,
    pub working: Vec<Line>,
    pub done: Vec<Line>,
}

impl Groups {
    /// In the order in which they are shown.
    pub fn ids(&self) -> impl Iterator<Item = ConversationId> {
        self.needs_you.iter().chain(&self.working).chain(&self.done).map(|line| line.id)
    }
}

impl Screen {
    /// The first that the search finds is opened by Enter.
    pub fn update(&mut self, message: Message, overview: &OverviewView, look: Look) -> Vec<Effect> {
        match message {
            Message::QueryChanged(query) => self.search.set(query),
            Message::QuerySubmitted => {
                let listed = self.groups(overview, look).ids().next();
                listed.map_or_else(|| self.search.submit(), |id| vec![Effect::Open(id)])
            }
            Message::Selected(id) => vec![Effect::Open(id)],
            Message::FoundPressed(id, seq) => vec![Effect::GoTo(id, seq)],
            Message::NewPressed => vec![Effect::New],
            Message::InboxPressed | Message::HelpPressed => Vec::new(),
        }
    }

    /// Whether there was a search to end.
    pub fn clear_search(&mut self) -> bool {
        self.search.clear()
    }

    /// The daemon has searched, or failed to.
    pub fn searched(&mut self, reply: Option<&SearchReply>) -> Vec<Effect> {
        self.search.answered(reply)
    }

    /// What is shown, given the search.
    #[must_use]
    pub fn groups(&self, overview: &OverviewView, look: Look) -> Groups {
        let mut groups = Groups::default();
        let query = self.search.query().to_lowercase();
        let mut waits = BTreeMap::<ConversationId, &InboxItem>::new();
        for item in overview.inbox().items() {
            waits.entry(item.conversation_id).or_insert(item);
        }
        let mut order: Vec<(Timestamp, Line)> = Vec::new();
        for conversation in overview.conversations().into_iter().filter(|c| !c.archived) {
            let task = conversation.task.and_then(|latest| overview.task(latest.id));
            let waiting = waits.get(&conversation.id).copied();
            let line = line(conversation, task, waiting, look);
            let is_found = query.is_empty()
                || [&line.title, &line.doing, &conversation.workspace]
                    .iter()
                    .any(|t| t.to_lowercase().contains(&query));
            if !is_found {
                continue;
            }
            match line.mark {
                Mark::NeedsYou => order.push((waiting.map_or(look.now, |w| w.pending.asked_at()), line)),
                Mark::Working | Mark::Paused => groups.working.push(line),
                Mark::Complete | Mark::Failed | Mark::Empty => groups.done.push(line),
            }
        }
        // What waits longest comes first; the rest is last changed first.
        order.sort_by_key(|(since, _)| *since);
        groups.needs_you = order.into_iter().map(|(_, line)| line).collect();
        // A row that works must not jump with each word: by age of the conversation.
        groups.working.sort_by_key(|line| Reverse(line.id));
        groups
    }

    #[must_use]
    pub fn view<'a>(
        &'a self,
        overview: &OverviewView,
        selected: Option<ConversationId>,
        look: Look,
    ) -> Element<'a, Message> {
        let groups = self.groups(overview, look);
        let search = row![
            calm(
                text_input("Search", self.search.typed())
                    .id(field::SEARCH)
                    .size(size::PROSE)
                    .padding([7.0, 10.0])
                    .style(style::field)
                    .on_input(Message::QueryChanged)
                    .on_submit(Message::QuerySubmitted)
            ),
            button(text("+").size(size::PROSE).center().width(18))
                .padding([7.0, 8.0])
                .style(style::secondary)
                .on_press(Message::NewPressed),
        ]
        .spacing(space::S)
        .padding(space::M);
        let mut list = Column::new().padding([0.0, space::S]);
        let is_empty = groups.ids().next().is_none();
        for (name, lines) in
            [("NEEDS YOU", groups.needs_you), ("WORKING", groups.working), ("DONE", groups.done)]
        {
            if lines.is_empty() {
                continue;
            }
            let count = lines.len();
            list = list.push(
                row![head(name), gap().width(Fill), head(count.to_string())].padding([space::S + 2.0, 10.0]),
            );
            for line in lines.into_iter().take(MAX_DONE) {
                let is_new = self.flashing.contains_key(&line.id);
                list = list.push(line_view(line, selected, is_new));
            }
            if count > MAX_DONE {
                list = list
                    .push(container(secondary("Older ones: search for them.")).padding([space::XS, 10.0]));
            }
            list = list.push(gap().height(space::S));
        }
        if let Some(found) = self.search.view(look) {
            list = list.push(found);
        }
        if is_empty && self.search.is_empty() {
            let words = match self.search.query() {
                "" => "No conversations yet.",
                _ if self.search.is_busy() => "Searching…",
                _ => "Nothing found.",
            };
            list = list.push(container(secondary(words)).padding([space::S, 10.0]));
        }
        let waiting = overview.inbox().items().len();
        let mut inbox = row![text("Inbox").size(size::SECONDARY)].spacing(space::S).align_y(Center);
        if waiting > 0 {
            inbox = inbox.push(badge(waiting.to_string()).style(style::badge_needs_you));
        }
        let foot = row![
            button(inbox).padding([6.0, 8.0]).style(style::quiet).on_press(Message::InboxPressed),
            gap().width(Fill),
            button(row![text("Keys").size(size::SECONDARY), key("?")].spacing(space::XS).align_y(Center))
                .padding([6.0, 8.0])
                .style(style::quiet)
                .on_press(Message::HelpPressed),
        ]
        .padding([space::XS, space::S]);
        let content = column![
            search,
            scrollable(list).height(Fill).style(style::bars).direction(thin()),
            container(rule::horizontal(1).style(style::line)).padding([0.0, space::S]),
            foot,
        ];
        container(content).width(space::SIDEBAR).height(Fill).style(style::panel).into()
    }
}

fn thin() -> scrollable::Direction {
    let bar = scrollable::Scrollbar::new().width(space::XS).scroller_width(space::XS).margin(1);
    scrollable::Direction::Vertical(bar)
}

fn line_view<'a>(line: Line, selected: Option<ConversationId>, is_new: bool) -> Element<'a, Message> {
    let mark: Element<'a, Message> = match line.mark {
        Mark::NeedsYou => dot(|t| t.needs_you),
        Mark::Working => spinner(),
        Mark::Paused | Mark::Empty => dot(|t| t.faint),
        Mark::Complete => dot(|t| t.ok),
        Mark::Failed => dot(|t| t.bad),
    };
    let aside: Element<'a, Message> =
        if line.unread > 0 { badge(line.unread.to_string()).into() } else { secondary(line.aside).into() };
    let top = row![one_line(prose(words::first_line(&line.title, MAX_TITLE)).font(font::MEDIUM)), aside]
        .spacing(space::S)
        .align_y(Center);
    let words = column![top, one_line(secondary(words::first_line(&line.doing, MAX_DOING)))].width(Fill);
    let content = row![container(mark).padding(iced::padding::top(7)), words].spacing(space::M);
    button(content)
        .padding([space::S, 10.0])
        .width(Fill)
        .style(style::list_row(selected == Some(line.id), is_new))
        .on_press(Message::Selected(line.id))
        .into()
}

fn line(
    conversation: &Conversation,
    task: Option<&AgentTask>,
    waiting: Option<&InboxItem>,
    look: Look,
) -> Line {
    let title = match conversation.title.trim() {
        "" => "Untitled".to_owned(),
        title => visible_line(title).into_owned(),
    };
    let age = words::age(conversation.updated_at, look.now);
    let place = words::place(&conversation.workspace, look.home);
    let place = place.rsplit('/').next().unwrap_or_default().to_owned();
    let (mark, doing, aside) = match (waiting, task, conversation.task.map(|latest| latest.status)) {
        (Some(item), ..) => {
            let doing = match &item.pending {
                Pending::Approval(a) => format!("approve: {}", words::what(&a.tool, &a.summary)),
                Pending::Question(q) => format!("asks: {}", q.text),
            };
            (Mark::NeedsYou, doing, words::age(item.pending.asked_at(), look.now))
        }
        (None, Some(task), _) if task.status == Status::Paused => (Mark::Paused, words::doing(task), age),
        (None, Some(task), _) => (Mark::Working, words::doing(task), format!("step {}", task.step_count)),
        (None, None, Some(Status::Completed)) => (Mark::Complete, format!("complete · {place}"), age),
        (None, None, Some(Status::Cancelled)) => (Mark::Failed, format!("stopped · {place}"), age),
        (None, None, Some(Status::Error)) => (Mark::Failed, format!("failed · {place}"), age),
        (None, None, Some(_)) => (Mark::Working, "working".to_owned(), age),
        (None, None, None) => (Mark::Empty, place, age),
    };
    let doing = visible_line(&words::first_line(&doing, MAX_FOUND)).into_owned();
    Line { id: conversation.id, title, doing, aside, unread: conversation.unread, mark }
}
