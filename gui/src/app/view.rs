//! Builds the window.

use super::{App, Dialog, Message, Page, list::ListPlacement};
use crate::{
    effect::field,
    keymap::Command,
    screen::{help, inbox, palette::Palette, sidebar::Open},
    theme::{space, style},
    widget::{
        Element, action,
        escape::{escape, escape_from},
        grip::grip,
        key, nothing, prose, report, scrolls, secondary,
        whole_pixels::at_whole_pixels,
        word,
    },
    words,
};
use abide_client::{protocol::update::UpdateStage, view::Connection};
use iced::{
    Center, Fill, Top, padding,
    widget::{Row, Stack, center, column, container, mouse_area, opaque, row, rule, space as gap, stack},
};

impl App {
    #[must_use]
    pub fn view(&self) -> Element<'_, Message> {
        let look = self.look();
        let open = self.open.as_ref().filter(|_| self.page == Page::Conversation);
        let open = open.map(|open| Open { id: open.id(), is_seen: self.is_seen(open) });
        let page = match (self.page, &self.open) {
            (Page::Conversation, Some(open)) => {
                let known = self.known(open.id());
                let escape = self.escape_stops();
                let page = open.view(&self.catalog, known, &self.cards, &self.guard, escape, look);
                self.with_tree(page.map(Message::Thread))
            }
            (Page::Inbox, _) => {
                inbox::view(&self.cards, &self.overview, &self.guard, look).map(Message::Inbox)
            }
            (Page::Settings, _) => {
                let page = self.preferences.view(self.catalog.models.as_ref(), &self.settings, look);
                // One Escape leaves the page, also while a button has the keyboard.
                escape_from(page.map(Message::Settings), Message::Key(Command::Escape))
            }
            (Page::Memory, _) => {
                let page = self.memory.view(look).map(Message::Memory);
                escape_from(page, Message::Key(Command::Escape))
            }
            (Page::NewConversation | Page::Conversation, _) => {
                let conversations = self.overview.conversations();
                self.new_conversation.view(&self.catalog, &conversations, look).map(Message::NewConversation)
            }
        };
        let right = column![
            self.bar(),
            self.banner(),
            container(page).id(field::PAGE).height(Fill),
            self.taken_back(),
            self.notice()
        ]
        .width(Fill);
        let list = |width| self.sidebar.view(&self.overview, open, width, look).map(Message::Sidebar);
        let placement = self.list_placement();
        let beside = match placement {
            ListPlacement::Beside(width) => [list(width), grip(Message::ListDragged, Message::ListDropped)],
            ListPlacement::Over(_) | ListPlacement::Away => [nothing(), nothing()],
        };
        // Anything over the rest is a layer, so that the widgets below keep their scroll positions and
        // carets.
        let mut whole = stack![Row::from_vec(beside.into()).push(right)];
        if let ListPlacement::Over(width) = placement {
            let rest = mouse_area(container(gap().width(Fill).height(Fill)).style(style::dimmed));
            let rest = rest.on_press(Message::Key(Command::List));
            whole = whole.push(opaque(row![list(width), rule::vertical(1).style(style::line), rest]));
        }
        if let Some(tree) = self.tree_over() {
            whole = whole.push(tree);
        }
        // The window's background shows through: filling it here would repaint its pixels for every part that
        // is drawn again.
        let whole = container(whole).width(Fill).height(Fill);
        // Always a stack, so that the widgets below keep their scroll positions.
        let reader =
            self.overlay.reader.as_ref().map(|reader| opaque(reader.view(look).map(Message::Reader)));
        let over = match &self.overlay.dialog {
            Dialog::Nothing => None,
            Dialog::Help => Some(help::view(Message::Key(Command::Palette), look)),
            Dialog::Palette(palette) => {
                // One Escape closes it, also while its field has the keyboard.
                Some(escape(palette.view().map(Message::Palette), Some(Message::OverClosed)))
            }
            Dialog::Closing => Some(self.closing()),
        };
        let dimmed = over.map(|over| {
            let place = center(opaque(over)).style(style::dimmed);
            let place = match &self.overlay.dialog {
                Dialog::Palette(_) => {
                    place.align_y(Top).padding(padding::top(Palette::top(self.window.size.height)))
                }
                Dialog::Nothing | Dialog::Help | Dialog::Closing => place,
            };
            opaque(mouse_area(place).on_press(Message::OverClosed))
        });
        let whole = Stack::new().push(whole).extend(reader).extend(dimmed).width(Fill).height(Fill);
        // Reports whether a caret or a focus ring is drawn, also in what covers the rest.
        let whole = report::caret(whole, self.guard.has_caret(), Message::CaretMoved);
        // What covers the notice is closed first.
        let is_seen = self.feedback.notice.is_some()
            && self.overlay.dialog == Dialog::Nothing
            && self.overlay.reader.is_none();
        at_whole_pixels(escape(whole, is_seen.then_some(Message::NoticeRead)))
    }

    /// Empty while all is well.
    fn banner(&self) -> Element<'_, Message> {
        let daemon = self.overview.daemon();
        let start = |label| Some(word(label, Message::StartPressed).into());
        let (words, button) = match self.overview.connection() {
            Connection::Live if daemon.storage_full => {
                ("The disk is full. Nothing is lost; everything waits for room.".to_owned(), None)
            }
            Connection::Live if daemon.storage_damaged => {
                let words = "The database is damaged, and something may be missing. `abide doctor` says what, and what to do.";
                (words.to_owned(), None)
            }
            Connection::Live => match self.refused().or_else(|| self.installed()) {
                Some((words, button)) => (words, Some(button)),
                None => return nothing(),
            },
            // A moment, after which all is as it was.
            Connection::Lost { .. } if daemon.update == Some(UpdateStage::HandingOver) => return nothing(),
            Connection::Opening => ("Connecting to the daemon…".to_owned(), None),
            Connection::Lost { .. } if daemon.shutting_down => {
                let words = "The daemon was stopped. Its tasks go on when it starts again.".to_owned();
                (words, start("Start it"))
            }
            Connection::Lost { reason } => {
                let words =
                    format!("The daemon is away; connecting again. What you write is kept. ({reason})");
                (words, start("Start it"))
            }
            Connection::Ended { reason } => (reason.clone(), start("Try again")),
        };
        let look = self.look();
        // In a low window a card needs the room more; the rest is scrolled into view.
        let most = if look.half < space::HALF { look.tallest.min(space::BANNER) } else { look.tallest };
        let words = container(scrolls(secondary(words).width(Fill))).max_height(most).width(Fill);
        let banner = row![words].extend(button).spacing(space::M).align_y(Center);
        let above = if look.is_low { space::XS } else { space::S };
        container(banner).padding([above, look.margin()]).width(Fill).style(style::banner).into()
    }

    /// Another program is installed that a person has to do something about. (One that takes over by itself
    /// is no news.)
    fn installed(&self) -> Option<(String, Element<'_, Message>)> {
        match self.overview.daemon().update? {
            UpdateStage::Ready => {
                let words = "Another version of Abide is installed. It takes over as soon as nothing is cut off by that.";
                Some((words.to_owned(), word("Let it take over", Message::TakeOverPressed).into()))
            }
            UpdateStage::Refused => {
                let words = "The installed version of Abide cannot take over: `abide daemon status` says why. The daemon goes on.";
                Some((words.to_owned(), nothing()))
            }
            UpdateStage::Waiting | UpdateStage::HandingOver => None,
        }
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
