//! Performs the effects that screens return.

use super::{App, Cover, Message, Page};
use crate::{
    daemon::Failure,
    effect::{Effect, Scroll, field},
    request::{Reply, Request},
    screen::{
        conversation::Conversation,
        new_conversation::{self, folders},
        tree::Sought,
    },
    theme::size,
    widget::reveal::{reveal, reveal_focused},
    words,
};
use abide_client::protocol::{
    ConversationId, conversation::Conversation as Known, inbox::Pending, method::conversation::FocusParams,
};
use iced::{
    Task,
    advanced::widget::{operate, operation::focusable::unfocus},
    clipboard,
    widget::{
        Id, operation,
        scrollable::{AbsoluteOffset, RelativeOffset},
    },
};

impl App {
    pub(super) fn ask(&self, request: Request) -> Task<Message> {
        Task::perform(self.asker.ask(request.clone()), move |result| {
            Message::Answered(request.clone(), result)
        })
    }

    pub(super) fn perform(&mut self, effects: Vec<Effect>) -> Task<Message> {
        let tasks: Vec<_> = effects.into_iter().map(|effect| self.perform_one(effect)).collect();
        Task::batch(tasks)
    }

    pub(super) fn perform_one(&mut self, effect: Effect) -> Task<Message> {
        match effect {
            Effect::Ask(request) => self.ask(request),
            Effect::StoreProvider(draft) => Task::perform(self.asker.clone().set_up(*draft), answered),
            Effect::RemoveProvider(name) => Task::perform(self.asker.clone().remove_provider(name), answered),
            Effect::Copy(text) => {
                self.say("Copied.");
                clipboard::write(text)
            }
            Effect::Say(words) => {
                self.say(words);
                Task::none()
            }
            Effect::Read(reading) => self.read(reading),
            Effect::Edit(reading) => self.edit(reading),
            Effect::Focus(field::COMPOSER) if self.is_covered() => {
                // It gets the caret when it is seen again.
                self.overlay.had_caret = true;
                operate(unfocus())
            }
            Effect::Focus(id) => focus(id),
            Effect::FocusText(id) => focus(id).chain(operation::select_all(Id::new(id))),
            Effect::GiveKeyboard => self.give_keyboard(),
            Effect::Unfocus => operate(unfocus()),
            Effect::Open(id) => self.show(id),
            Effect::OpenTask(id) => self.open_task(id),
            Effect::Up => self.go_up(),
            Effect::ToggleTree => self.toggle_tree(),
            Effect::GoTo(id, seq, task, query) => self.go_to(Sought { conversation: id, task, seq, query }),
            Effect::Choose(choice) => Self::choose_file(choice),
            Effect::ChooseSetup => self.choose_setup(),
            Effect::SetUp(provider) => self.open_form(&provider),
            Effect::Memory => self.show_memory(),
            Effect::EditFile(file) => Self::edit_file(file),
            Effect::New => self.leave(),
            Effect::Theme(theme) => {
                self.settings.theme = theme;
                self.local.keep_settings(&self.settings);
                Task::none()
            }
            Effect::Scale(scale) => {
                self.scale_to(scale);
                Task::none()
            }
            Effect::Tray(wanted) => self.show_tray(wanted),
            Effect::Back => {
                self.page = self.page_behind();
                Task::batch([self.mark_read(), self.tell_focus(), self.give_keyboard()])
            }
            Effect::KeepPins => {
                self.settings.pinned.clone_from(&self.sidebar.pinned);
                self.local.keep_settings(&self.settings);
                Task::none()
            }
            Effect::Draft => {
                self.drafts.is_dirty = true;
                Task::none()
            }
            Effect::FindFolders(typed) => {
                // A folder may be on a slow disk.
                let find = async move {
                    let look = move || (folders::beginning_with(&typed, words::home()), typed);
                    tokio::task::spawn_blocking(look).await.ok()
                };
                let tell = |(found, typed)| {
                    Message::NewConversation(new_conversation::Message::FoldersFound(typed, found))
                };
                Task::future(find).and_then(move |all| Task::done(tell(all)))
            }
            Effect::Reveal(part) => operate(reveal(field::LIST, part)),
            Effect::Scroll(scroll) => self.scroll(field::TIMELINE, scroll),
        }
    }

    /// Scrolls the area with this id.
    pub(super) fn scroll(&self, area: &'static str, scroll: Scroll) -> Task<Message> {
        let id = Id::new(area);
        let page = size::PAGE.min(self.window.size.height / 2.0);
        let by = |y| AbsoluteOffset { x: 0.0, y };
        match scroll {
            Scroll::Up => operation::scroll_by(id, by(-page)),
            Scroll::Down => operation::scroll_by(id, by(page)),
            Scroll::ToStart => operation::snap_to(id, RelativeOffset { x: 0.0, y: 0.0 }),
            Scroll::ToEnd => operation::snap_to(id, RelativeOffset { x: 0.0, y: 1.0 }),
        }
    }

    pub(super) fn open_conversation(&mut self, id: ConversationId) {
        self.close_sub_task();
        if self.open.as_ref().is_none_or(|open| open.id() != id) {
            self.keep_unconfirmed();
            self.open = Some(Box::new(Conversation::new(id, &self.drafts.draft(Some(id)))));
        }
        self.sidebar.awaits_row = None;
        self.page = Page::Conversation;
        self.cover = Cover::Nothing;
    }

    /// Puts a conversation on the screen.
    pub(super) fn show(&mut self, id: ConversationId) -> Task<Message> {
        self.open_conversation(id);
        self.remember(Some(id));
        let read = self.mark_read();
        Task::batch([self.tell_focus(), read, self.give_keyboard()])
    }

    /// Puts a conversation on the screen, and scrolls the list to its row. (The row of one that was clicked
    /// in the list is in view.)
    pub(super) fn show_with_row(&mut self, id: ConversationId) -> Task<Message> {
        let shown = self.show(id);
        Task::batch([shown, self.reveal_row()])
    }

    /// Scrolls the list to the row of the open conversation. That of a conversation that has just begun may
    /// come later.
    pub(super) fn reveal_row(&mut self) -> Task<Message> {
        let open = self.open.as_ref().map(|open| open.id());
        self.sidebar.awaits_row = open.filter(|id| self.sidebar.known(*id, &self.overview).is_none());
        self.perform_one(Effect::Reveal(field::SELECTED))
    }

    /// Gives the keyboard to what is shown: an approval takes keys, as does a question of a sub-task, which
    /// the composer does not answer. Anything else takes text.
    pub(super) fn give_keyboard(&mut self) -> Task<Message> {
        let open = self.open.as_ref().map(|open| open.id());
        let mut waiting = self.overview.inbox().items().iter();
        let takes_keys = waiting.any(|item| {
            let is_answered_here = matches!(item.pending, Pending::Question(_)) && item.sub_task().is_none();
            open == Some(item.conversation_id) && !is_answered_here
        });
        self.perform_one(if takes_keys { Effect::Unfocus } else { Effect::Focus(field::COMPOSER) })
    }

    /// Goes to the page for a new conversation.
    pub(super) fn leave(&mut self) -> Task<Message> {
        self.keep_unconfirmed();
        (self.open, self.behind, self.sidebar.awaits_row) = (None, None, None);
        if self.new_conversation.composer.draft().is_empty() {
            // Another window may be gone since, and have left one.
            self.new_conversation.composer.show(&self.drafts.draft(None));
        }
        self.page = Page::NewConversation;
        self.cover = Cover::Nothing;
        self.remember(None);
        let known = self.ask_what_is_configured();
        Task::batch([self.tell_focus(), known, focus(field::COMPOSER)])
    }

    pub(super) fn remember(&mut self, conversation: Option<ConversationId>) {
        if self.settings.conversation != conversation {
            self.settings.conversation = conversation;
            self.local.keep_settings(&self.settings);
        }
    }

    pub(super) fn keep_draft(&mut self) {
        if std::mem::take(&mut self.drafts.is_dirty) {
            let (draft, choices) = self.new_conversation.composer.stored();
            self.drafts.keep_draft(None, &draft);
            if self.settings.choices != choices {
                self.settings.choices = choices;
                self.local.keep_settings(&self.settings);
            }
            self.drafts.keep_written(self.cards.written());
            for (task, words) in self.open.iter().chain(&self.behind).filter_map(|open| open.intervention()) {
                self.drafts.keep_intervention(task, &words);
            }
            if let Some(open) = self.conversation() {
                self.drafts.keep_draft(Some(open.id()), &open.composer.draft());
            }
        }
    }

    /// Tells the daemon what the person sees, so that it sends no notifications about it.
    pub(super) fn tell_focus(&self) -> Task<Message> {
        let sees = |page| self.window.is_focused && self.page == page;
        let open = self.open.as_ref().filter(|_| sees(Page::Conversation));
        let shown = FocusParams { conversation_id: open.map(|open| open.id()), inbox: sees(Page::Inbox) };
        self.ask(Request::Focus(shown))
    }

    /// The number of messages that the daemon counts as unread in a conversation.
    pub(super) fn unread(&self, id: ConversationId) -> u64 {
        self.known(id).map_or(0, |known| known.unread)
    }

    /// A conversation of the list. The overview has no archived one that rests; the open one has its own
    /// view.
    pub(super) fn known(&self, id: ConversationId) -> Option<&Known> {
        let open = self.conversation().filter(|open| open.id() == id);
        let in_list = self.sidebar.known(id, &self.overview);
        in_list.or_else(|| open.and_then(|open| open.fold().conversation()))
    }

    /// Marks the open conversation as read.
    pub(super) fn mark_read(&mut self) -> Task<Message> {
        let unread = self.open.as_ref().map_or(0, |open| self.unread(open.id()));
        let open = self.open.as_mut().filter(|_| self.page == Page::Conversation);
        let effect = open.and_then(|open| open.read(unread));
        effect.map_or_else(Task::none, |effect| self.perform_one(effect))
    }
}

/// Moves the keyboard to this field, and scrolls a page of fields to it.
fn focus(id: &'static str) -> Task<Message> {
    operation::focus(Id::new(id)).chain(operate(reveal_focused()))
}

fn answered((request, result): (Request, Result<Reply, Failure>)) -> Message {
    Message::Answered(request, result)
}
