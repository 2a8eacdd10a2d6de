//! The window, put together.

use super::{App, Message, Over, Page, Undo};
use crate::{
    screen::help,
    theme::{space, style},
    widget::{Element, action, key, prose, secondary, told, word},
    words,
};
use abide_client::view::Connection;
use iced::{
    Center, Fill,
    widget::{center, column, container, mouse_area, opaque, row, rule, space as gap, stack},
};

impl App {
    #[must_use]
    pub fn view(&self) -> Element<'_, Message> {
        let look = self.look();
        let selected = self.open.as_ref().filter(|_| self.page == Page::Conversation).map(|open| open.id());
        let page = match (self.page, &self.open) {
            (Page::Conversation, Some(open)) => {
                let known = self.overview.conversation(open.id());
                open.view(self.models.as_ref(), known, &self.guard, look).map(Message::Thread)
            }
            (Page::Inbox, _) => self.inbox.view(self.overview.inbox(), &self.guard, look).map(Message::Inbox),
            (Page::Fresh | Page::Conversation, _) => {
                let conversations = self.overview.conversations();
                self.fresh.view(self.models.as_ref(), &conversations, look).map(Message::Fresh)
            }
        };
        let right = column![self.banner(), container(page).height(Fill), self.taken_back(), self.notice()]
            .width(Fill);
        let whole = row![
            self.sidebar.view(&self.overview, selected, look).map(Message::Sidebar),
            rule::vertical(1).style(style::line),
            right,
        ];
        // The window's own ground shows through: filling it here would cost all its pixels for every part that is drawn anew.
        let whole = container(whole).width(Fill).height(Fill);
        let whole = told::caret(whole, self.guard.has_caret(), Message::CaretMoved);
        let over = match self.over {
            Over::Nothing => return whole,
            Over::Help => help::view(),
            Over::Closing => self.closing(),
        };
        let veil = mouse_area(center(opaque(over)).style(style::veil)).on_press(Message::OverClosed);
        stack![whole, opaque(veil)].into()
    }

    /// Quiet while all is well.
    fn banner(&self) -> Element<'_, Message> {
        let daemon = self.overview.daemon();
        let (words, button) = match self.overview.connection() {
            Connection::Live if daemon.storage_full => {
                ("The disk is full. Nothing is lost; everything waits for room.".to_owned(), None)
            }
            Connection::Live if daemon.storage_damaged => {
                let words = "The database is damaged, and something may be missing. `abide doctor` says what, and what to do.";
                (words.to_owned(), None)
            }
            Connection::Live => return gap().height(0).into(),
            Connection::Opening => ("Connecting to the daemon…".to_owned(), None),
            Connection::Lost { .. } if daemon.shutting_down => {
                let words = "The daemon was stopped. Its tasks go on when it starts again.".to_owned();
                (words, Some("Start it"))
            }
            Connection::Lost { reason } => {
                let words =
                    format!("The daemon is away; connecting again. What you write is kept. ({reason})");
                (words, Some("Start it"))
            }
            Connection::Ended { reason } => (reason.clone(), Some("Try again")),
        };
        let mut banner = row![secondary(words).width(Fill)].spacing(space::M).align_y(Center);
        if let Some(label) = button {
            banner = banner.push(word(label, Message::StartPressed));
        }
        container(banner).padding([space::S, space::XL]).width(Fill).style(style::banner).into()
    }

    /// What went wrong, until it is read.
    fn notice(&self) -> Element<'_, Message> {
        match &self.notice {
            None => gap().height(0).into(),
            Some(words) => {
                let words = prose(words).width(Fill);
                let content =
                    row![words, word("Close", Message::NoticeRead)].spacing(space::M).align_y(Center);
                let card = container(content).padding(space::M).width(Fill).style(style::bad_card);
                container(card).padding(iced::padding::horizontal(space::XL).bottom(space::L)).into()
            }
        }
    }

    /// What was just done, and the way back.
    fn taken_back(&self) -> Element<'_, Message> {
        let Some(done) = self.done.as_ref().filter(|done| done.until > self.now) else {
            return gap().height(0).into();
        };
        let (words, back) = match done.what {
            Undo::Stopped(_) => ("Stopped.", "Go on"),
            Undo::Archived(_) => ("Archived. A search finds it, too.", "Bring it back"),
        };
        let back = action(back, None).style(style::secondary).on_press(Message::TakenBack);
        let content = row![prose(words).width(Fill), back].spacing(space::M).align_y(Center);
        let card = container(content).padding([space::S, space::M]).width(Fill).style(style::card);
        let card = container(card.max_width(space::COLUMN)).center_x(Fill);
        card.padding(iced::padding::horizontal(space::XL).bottom(space::L)).into()
    }

    fn closing(&self) -> Element<'_, Message> {
        let count = words::counted(self.overview.tasks().len() as u64, "task");
        let content = column![
            prose("Closing the window stops nothing.").font(crate::font::STRONG),
            prose(format!(
                "{count} will go on in the daemon; open the window again and all is there. This is said only once."
            ))
            .style(style::muted),
            row![
                gap().width(Fill),
                action("Stay", Some(key("Esc"))).style(style::quiet).on_press(Message::OverClosed),
                action("Close the window", Some(key("↵").style(style::key_on_accent)))
                    .style(style::primary).on_press(Message::CloseConfirmed),
            ]
            .spacing(space::S),
        ]
        .spacing(space::M)
        .padding(space::XL);
        container(content).max_width(space::DIALOG * 0.75).style(style::dialog).into()
    }
}
