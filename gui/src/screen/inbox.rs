//! Everything that waits for the person, of all conversations, on one page.

use crate::{
    effect::field,
    font,
    guard::Guard,
    screen::{
        paused_card,
        pending::{self, Cards, Reply},
        sidebar::thin,
    },
    theme::{size, space, style},
    widget::{Element, Look, beside, centred::centred, elide::elided, secondary, word},
    words,
};
use abide_client::{
    protocol::{ConversationId, TaskId},
    view::OverviewView,
};
use iced::{
    Center, Fill, FillPortion,
    widget::{Column, column, container, responsive, row, scrollable, space as gap, text},
};

#[derive(Debug, Clone)]
pub enum Message {
    Card(pending::Message),
    Opened(ConversationId),
    /// Opens the timeline of a sub-task.
    TaskOpened(ConversationId, TaskId),
}

/// The page; what waits is the overview's.
#[must_use]
pub fn view<'a>(
    cards: &'a Cards,
    overview: &'a OverviewView,
    guard: &'a Guard,
    look: Look,
) -> Element<'a, Message> {
    responsive(move |room| page(cards, overview, guard, look, room.height)).into()
}

/// No card is higher than the view, so that each can be wholly visible.
fn page<'a>(
    cards: &'a Cards,
    overview: &'a OverviewView,
    guard: &Guard,
    look: Look,
    height: f32,
) -> Element<'a, Message> {
    let above = if look.is_low { space::S } else { space::XL };
    let title = text("Inbox").size(size::TITLE).font(font::STRONG);
    let mut content = column![title].spacing(above.min(space::L)).width(Fill);
    if overview.waiting() == 0 {
        content = content.push(secondary(
            "Nothing waits for you. Questions and approvals of all conversations come here.",
        ));
    }
    let shown = overview.inbox().items().iter().map(|item| {
        let card = cards.card(item.task_id, &item.pending, look, guard, Reply::Here);
        let age = words::age(item.pending.asked_at(), look.now);
        let opened = match item.sub_task() {
            Some((task, _)) => Message::TaskOpened(item.conversation_id, task),
            None => Message::Opened(item.conversation_id),
        };
        column![
            head(&item.conversation_title, pending::sub_task(item), age, opened),
            container(card.map(Message::Card)).max_height(height),
        ]
        .spacing(space::XS)
        .into()
    });
    let held = overview.held().map(|task| {
        let conversation = overview.conversation(task.conversation_id);
        let (title, since) = conversation.map_or(("", look.now), |c| (&c.title, c.updated_at));
        let card = paused_card::card(task.pause_reason, "Open it to let it go on, or to stop it.");
        let opened = Message::Opened(task.conversation_id);
        column![head(title, None, words::age(since, look.now), opened), card].spacing(space::XS).into()
    });
    content = content.push(Column::with_children(shown.chain(held)).spacing(above));
    let page = container(content.push(gap().height(above))).padding([above, 0.0]);
    // The wide bar would cover the edge of the cards where there is little margin.
    let bar = if look.is_low { thin() } else { scrollable::Direction::default() };
    let page = scrollable(centred(page, look.margin())).direction(bar);
    page.id(field::INBOX).height(Fill).style(style::bars).into()
}

/// The conversation's title and the sub-task that asks, how long it has waited, and a button that opens it.
fn head<'a>(title: &'a str, sub_task: Option<String>, age: String, opened: Message) -> Element<'a, Message> {
    let title = elided(words::title(title), size::PROSE, font::MEDIUM);
    let names = match sub_task {
        None => row![title],
        Some(words) => row![
            container(title).width(FillPortion(2)),
            container(elided(words, size::SECONDARY, font::PROSE).style(style::needs_you))
                .width(FillPortion(3)),
        ],
    };
    row![names.spacing(space::M).align_y(Center).width(Fill), beside(age), word("Open", opened)]
        .spacing(space::S)
        .align_y(Center)
        .into()
}
