//! All open items of all conversations on one page.

use crate::{
    effect::field,
    font,
    guard::Guard,
    screen::pending::{self, Cards, Reply},
    theme::{size, space, style},
    widget::{Element, Look, centred::centred, elide::elided, secondary, word},
    words,
};
use abide_client::{protocol::ConversationId, text::visible_line, view::Inbox};
use iced::{
    Center, Fill,
    widget::{Column, column, container, responsive, row, scrollable, space as gap, text},
};

#[derive(Debug, Clone)]
pub enum Message {
    Card(pending::Message),
    Opened(ConversationId),
}

/// The page; the items are the overview's.
#[must_use]
pub fn view<'a>(cards: &'a Cards, inbox: &'a Inbox, guard: &'a Guard, look: Look) -> Element<'a, Message> {
    responsive(move |room| page(cards, inbox, guard, look, room.height)).into()
}

/// No card is higher than the view, so that each can be wholly visible.
fn page<'a>(
    cards: &'a Cards,
    inbox: &'a Inbox,
    guard: &Guard,
    look: Look,
    height: f32,
) -> Element<'a, Message> {
    let above = if look.is_low { space::S } else { space::XL };
    let mut content =
        column![text("Inbox").size(size::TITLE).font(font::STRONG)].spacing(above.min(space::L));
    if inbox.items().is_empty() {
        content = content.push(secondary(
            "Nothing waits for you. Questions and approvals of all conversations come here.",
        ));
    }
    let shown = inbox.items().iter().map(|item| {
        let title = visible_line(&item.conversation_title);
        let card = cards.card(item.task_id, &item.pending, look, guard, Reply::Here);
        column![
            row![
                elided(title, size::PROSE, font::MEDIUM),
                secondary(words::age(item.pending.asked_at(), look.now)),
                word("Open", Message::Opened(item.conversation_id)),
            ]
            .spacing(space::S)
            .align_y(Center),
            container(card.map(Message::Card)).max_height(height),
        ]
        .spacing(space::XS)
        .into()
    });
    content = content.push(Column::with_children(shown).spacing(above));
    let page = container(content.push(gap().height(above))).padding([above, 0.0]);
    scrollable(centred(page, look.margin())).id(field::INBOX).height(Fill).style(style::bars).into()
}
