//! A conversation's menu in the list, below its row.

use super::Screen;
use crate::{
    effect::{Effect, field},
    guard::Deed,
    request::{self, Request},
    theme::{size, space, style},
    widget::{Element, action, escape::escape_from, field::field, key, secondary, word},
    words,
};
use abide_client::{
    protocol::{
        ConversationId,
        method::{conversation::UpdateConversationParams, rule::RememberedRule},
    },
    view::OverviewView,
};
use iced::{
    Fill,
    widget::{column, container, row},
};

/// The menu of one conversation.
#[derive(Debug)]
pub(super) struct Menu {
    pub(super) id: ConversationId,
    is_archived: bool,
    is_muted: bool,
    stage: Stage,
    /// A decision that was made there for always is remembered.
    is_remembered: bool,
}

#[derive(Debug)]
enum Stage {
    Open,
    Renaming(String),
    Deleting,
}

#[derive(Debug, Clone)]
pub enum Message {
    /// Opens or closes it.
    Asked,
    Closed,
    RenamePressed,
    TitleChanged(String),
    TitleSubmitted,
    PinPressed,
    MutePressed,
    ArchivePressed,
    DeletePressed,
    DeleteConfirmed,
    IdCopied,
}

impl Message {
    /// Its deed, if it cannot be undone.
    #[must_use]
    pub const fn deed(&self) -> Option<Deed> {
        match self {
            Self::DeleteConfirmed | Self::ArchivePressed => Some(Deed::AtFoot),
            _ => None,
        }
    }
}

impl Screen {
    /// The conversation whose delete confirmation is shown.
    #[must_use]
    pub fn deleting(&self) -> Option<ConversationId> {
        self.menu.as_ref().filter(|menu| matches!(menu.stage, Stage::Deleting)).map(|menu| menu.id)
    }

    /// Closes the menu; returns whether one was open.
    pub fn close_menu(&mut self) -> bool {
        self.menu.take().is_some()
    }

    /// Handles the decisions that the daemon remembers.
    pub fn know_rules(&mut self, rules: &[RememberedRule]) -> Option<Effect> {
        let menu = self.menu.as_mut()?;
        menu.is_remembered = rules.iter().any(|rule| rule.is_of(menu.id));
        // The question may have another line now.
        Some(Self::reveal_menu())
    }

    /// The menu of a row at the foot of the list is below what is in view.
    const fn reveal_menu() -> Effect {
        Effect::Reveal(field::LIST_MENU)
    }

    /// Confirms the deletion.
    #[must_use]
    pub fn confirmed(&self) -> Option<super::Message> {
        self.deleting().map(|id| super::Message::Menu(id, Message::DeleteConfirmed))
    }

    /// Pins it, or unpins it.
    pub fn pin(&mut self, id: ConversationId) -> Effect {
        if !self.pinned.remove(&id) {
            self.pinned.insert(id);
        }
        Effect::KeepPins
    }

    pub(super) fn on_menu(
        &mut self,
        id: ConversationId,
        message: Message,
        overview: &OverviewView,
    ) -> Vec<Effect> {
        let known = self.known(id, overview);
        let is_archived = known.is_some_and(|known| known.archived);
        let is_muted = known.is_some_and(|known| known.muted);
        let title = known.map(|known| known.title.clone()).unwrap_or_default();
        let open = |stage| Some(Menu { id, is_archived, is_muted, stage, is_remembered: false });
        let update = |title, muted| {
            vec![Effect::Ask(Request::UpdateConversation(UpdateConversationParams {
                conversation_id: id.to_string(),
                title,
                workspace: None,
                mode: None,
                model: None,
                persona: None,
                muted,
                memory: None,
            }))]
        };
        match message {
            Message::Asked => {
                let is_there = self.menu.as_ref().is_some_and(|menu| menu.id == id);
                self.menu = if is_there { None } else { open(Stage::Open) };
                // A right click leaves the caret where it is, and Escape would first take the caret away.
                if is_there { vec![Effect::GiveKeyboard] } else { vec![Effect::Unfocus, Self::reveal_menu()] }
            }
            Message::Closed => {
                self.menu = None;
                Vec::new()
            }
            Message::RenamePressed => {
                self.menu = open(Stage::Renaming(title));
                vec![Effect::FocusText(field::LISTED_TITLE), Self::reveal_menu()]
            }
            Message::TitleChanged(title) => {
                self.menu = open(Stage::Renaming(title));
                Vec::new()
            }
            Message::TitleSubmitted => match self.menu.take().map(|menu| menu.stage) {
                Some(Stage::Renaming(title)) if !title.trim().is_empty() => {
                    update(Some(title.trim().to_owned()), None)
                }
                _ => Vec::new(),
            },
            Message::PinPressed => {
                self.menu = None;
                vec![self.pin(id)]
            }
            Message::MutePressed => {
                self.menu = None;
                update(None, Some(!is_muted))
            }
            Message::ArchivePressed => {
                self.menu = None;
                vec![Effect::Ask(request::archive(id, !is_archived))]
            }
            Message::DeletePressed => {
                self.menu = open(Stage::Deleting);
                vec![Effect::Unfocus, Effect::Ask(request::rules(None)), Self::reveal_menu()]
            }
            Message::DeleteConfirmed => {
                self.menu = None;
                vec![Effect::Ask(Request::DeleteConversation(id.into()))]
            }
            Message::IdCopied => {
                self.menu = None;
                vec![Effect::Copy(id.to_string())]
            }
        }
    }
}

impl Menu {
    pub(super) fn view(&self, is_pinned: bool, is_busy: bool) -> Element<'_, Message> {
        let content: Element<'_, Message> = match &self.stage {
            Stage::Open => row![
                word("Rename", Message::RenamePressed),
                word(if is_pinned { "Unpin" } else { "Pin" }, Message::PinPressed),
                word(if self.is_muted { "Unmute" } else { "Mute" }, Message::MutePressed),
                word(if self.is_archived { "Unarchive" } else { "Archive" }, Message::ArchivePressed),
                word("Delete…", Message::DeletePressed),
                word("Copy id", Message::IdCopied),
            ]
            .wrap()
            .into(),
            Stage::Renaming(title) => {
                let renaming = column![
                    field("Title", (size::SECONDARY, [6.0, 8.0]), title, Message::TitleChanged, |input| {
                        input.id(field::LISTED_TITLE).on_submit(Message::TitleSubmitted)
                    }),
                    row![
                        action("Save", None).style(style::primary).on_press(Message::TitleSubmitted),
                        action("Cancel", None).style(style::quiet).on_press(Message::Closed),
                    ]
                    .spacing(space::S),
                ]
                .spacing(space::S);
                escape_from(renaming, Message::Closed)
            }
            Stage::Deleting => column![
                secondary(words::deletion("it", is_busy, self.is_remembered)),
                row![
                    action("Delete", Some(key("↵").style(style::key_bad)))
                        .style(style::danger)
                        .on_press(Message::DeleteConfirmed)
                        .passed_by(),
                    action("Keep", Some(key("Esc"))).style(style::quiet).on_press(Message::Closed),
                ]
                .spacing(space::S),
            ]
            .spacing(space::S)
            .into(),
        };
        container(content).id(field::LIST_MENU).padding([space::S, space::XL]).width(Fill).into()
    }
}
