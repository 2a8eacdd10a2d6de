//! The tree of tasks, and the timelines of sub-tasks.
//!
//! `open` is the timeline that is shown. While it is a sub-task's, the conversation itself stays behind it:
//! the tree is drawn from its fold, and going up finds it as it was left.

use super::{App, Cover, Message, Page, list::ListPlacement};
use crate::{
    effect::Effect,
    keymap::Command,
    screen::tree::{Shape, Sought},
    theme::{space, style},
    widget::{Element, nothing},
};
use abide_client::{
    Update,
    protocol::{ConversationId, TaskId},
    view::Connection,
};
use iced::{
    Fill, Task,
    widget::{column, container, mouse_area, opaque, row, space as gap},
};

/// A page of this width, in logical pixels, has room for the tree beside the timeline.
const WIDE: f32 = 840.0;
/// A window below this height, in logical pixels, has no room for both, one above the other.
const HIGH: f32 = 480.0;

/// Where the tree is, seen from the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreePlacement {
    Beside,
    Above,
    /// Only for a while, when the person asks for it.
    Over,
}

impl App {
    /// Shows the timeline of a task of the open conversation.
    pub(super) fn open_task(&mut self, id: TaskId) -> Task<Message> {
        let Some(conversation) = self.behind.as_deref().or(self.open.as_deref()) else { return Task::none() };
        (self.page, self.cover) = (Page::Conversation, Cover::Nothing);
        if conversation.task(id).is_some_and(|task| task.parent_id.is_none()) {
            self.close_sub_task();
            let read = self.mark_read();
            return Task::batch([read, self.perform_one(Effect::Unfocus)]);
        }
        if self.open.as_ref().is_some_and(|open| open.sub_task() != Some(id)) {
            let mut below = conversation.of_sub_task(id);
            below.restore_intervention(&self.drafts.intervention(id));
            self.keep_draft();
            let left = self.open.replace(Box::new(below));
            // From one sub-task to another the conversation stays where it is.
            self.behind = self.behind.take().or(left);
        }
        self.perform_one(Effect::Unfocus)
    }

    /// Shows the timeline of a task of this conversation.
    pub(super) fn show_task(&mut self, id: ConversationId, task: TaskId) -> Task<Message> {
        let shown = self.show_with_row(id);
        Task::batch([shown, self.open_task(task)])
    }

    /// Shows a message that was searched for.
    pub(super) fn go_to(&mut self, sought: Sought) -> Task<Message> {
        let shown = self.show(sought.conversation);
        let effects =
            self.open.as_mut().map(|open| open.go_to(sought.seq, &sought.query)).unwrap_or_default();
        self.tree.sought = Some(sought);
        Task::batch([shown, self.perform(effects), self.find_sub_task()])
    }

    /// Shows the message that was searched for in its own timeline, once it is known to be a sub-task's.
    pub(super) fn find_sub_task(&mut self) -> Task<Message> {
        let open = self.open.as_ref().filter(|open| open.sub_task().is_none()).map(|open| open.id());
        let here = open.filter(|_| self.page == Page::Conversation);
        // The person has gone on to something else.
        self.tree.sought.take_if(|sought| here != Some(sought.conversation));
        let Some(id) = self.tree.sought.as_ref().and_then(|sought| sought.task) else { return Task::none() };
        let Some(conversation) = self.conversation_mut() else { return Task::none() };
        if *conversation.fold().connection() == Connection::Opening {
            return Task::none();
        }
        let Some(task) = conversation.task(id) else {
            // It is one of an earlier root task, or such a root task: the reply tells.
            let asked = conversation.ask_for_sub_tasks();
            return asked.map_or_else(Task::none, |asked| self.perform_one(asked));
        };
        let below = task.parent_id.is_some().then_some(id);
        if below.is_some() {
            conversation.forget_goal();
        }
        let Some((sought, task)) = self.tree.sought.take().zip(below) else { return Task::none() };
        let opened = self.open_task(task);
        let effects =
            self.open.as_mut().map(|open| open.go_to(sought.seq, &sought.query)).unwrap_or_default();
        Task::batch([opened, self.perform(effects)])
    }

    /// Shows the timeline of the task above the one that is shown.
    pub(super) fn go_up(&mut self) -> Task<Message> {
        match self.open.as_ref().and_then(|open| open.above()) {
            Some(above) => self.open_task(above),
            None => {
                self.close_sub_task();
                Task::batch([self.mark_read(), self.perform_one(Effect::Unfocus)])
            }
        }
    }

    /// Whether the timeline of a sub-task is open.
    pub(super) fn is_below(&self) -> bool {
        self.behind.is_some()
    }

    /// Shows the conversation itself again.
    pub(super) fn close_sub_task(&mut self) {
        if let Some(mut conversation) = self.behind.take() {
            conversation.come_back();
            self.open = Some(conversation);
        }
    }

    /// Folds updates into the timeline of the sub-task.
    pub(super) fn follow_sub_task(&mut self, id: TaskId, updates: Vec<Update>) -> Task<Message> {
        self.advise_font(&updates);
        let open = self.open.as_mut().filter(|open| open.sub_task() == Some(id));
        let effects = open.map(|open| open.follow(updates, None)).unwrap_or_default();
        self.perform(effects)
    }

    /// Opens the next task of the tree, or the one before.
    pub(super) fn step_task(&mut self, by: isize) -> Task<Message> {
        let family = self.conversation().filter(|_| self.page == Page::Conversation).and_then(|c| c.family());
        let next = family.and_then(|family| {
            let from = self.open.as_ref()?.shown_task()?.id;
            self.tree.step(&family, from, by)
        });
        next.map_or_else(Task::none, |id| self.open_task(id))
    }

    pub(super) fn toggle_tree(&mut self) -> Task<Message> {
        if self.conversation().and_then(|conversation| conversation.family()).is_none() {
            return self.perform_one(Effect::Say("No sub-tasks."));
        }
        if self.tree_place() == TreePlacement::Over {
            if self.cover == Cover::Tree {
                self.cover = Cover::Nothing;
                return Task::none();
            }
            self.cover = Cover::Tree;
            return self.perform_one(Effect::Unfocus);
        }
        self.settings.hides_tree = !self.settings.hides_tree;
        self.local.keep_settings(&self.settings);
        Task::none()
    }

    pub(super) fn tree_place(&self) -> TreePlacement {
        let list = if let ListPlacement::Beside(width) = self.list_placement() { width } else { 0.0 };
        if self.window.size.width - list >= WIDE {
            TreePlacement::Beside
        } else if self.window.size.height >= HIGH {
            TreePlacement::Above
        } else {
            TreePlacement::Over
        }
    }

    /// Whether the tree covers the page.
    pub(super) fn tree_is_over(&self) -> bool {
        let is_asked_for = self.cover == Cover::Tree && self.page == Page::Conversation;
        is_asked_for
            && self.tree_place() == TreePlacement::Over
            && self.conversation().is_some_and(|conversation| conversation.family().is_some())
    }

    fn tree(&self, shape: Shape) -> Option<Element<'_, Message>> {
        let conversation = self.conversation()?;
        let open = self.open.as_ref()?.shown_task()?.id;
        let title = self.known(conversation.id()).map_or("", |known| &known.title);
        let tree = self.tree.view(conversation.family()?, open, title, shape, self.look());
        Some(tree.map(Message::Tree))
    }

    /// The page of a conversation with the tree of its tasks, if there is one, it is not hidden, and there is
    /// room for both.
    pub(super) fn with_tree<'a>(&'a self, page: Element<'a, Message>) -> Element<'a, Message> {
        let page = container(page).width(Fill).height(Fill);
        let place = self.tree_place();
        let shape = match place {
            _ if self.settings.hides_tree => None,
            TreePlacement::Beside => Some(Shape::Beside(space::TREE)),
            TreePlacement::Above => Some(Shape::Above(self.look().tallest - space::TREE_LINE)),
            TreePlacement::Over => None,
        };
        // The page keeps its place among the widgets, and so its scroll position and caret.
        match shape.and_then(|shape| self.tree(shape)) {
            Some(tree) if place == TreePlacement::Above => row![column![tree, page]].into(),
            Some(tree) => row![column![nothing(), page], tree].into(),
            None => row![column![nothing(), page]].into(),
        }
    }

    /// The tree over the page; a click beneath it closes it.
    pub(super) fn tree_over(&self) -> Option<Element<'_, Message>> {
        let most = self.window.size.height - 2.0 * space::TREE_LINE;
        let tree = self.tree(Shape::Above(most)).filter(|_| self.tree_is_over())?;
        let rest = mouse_area(container(gap().width(Fill).height(Fill)).style(style::dimmed));
        Some(opaque(column![tree, rest.on_press(Message::Key(Command::Tree))]))
    }
}
