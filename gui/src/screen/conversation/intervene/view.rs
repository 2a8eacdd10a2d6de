//! Draws the field and the buttons of interventions.

use super::{Conversation, Field, Message, Thread, to_thread};
use crate::{
    effect::field,
    font,
    guard::{Armed, Deed, End, Guard},
    screen::composer,
    theme::{size, space, style},
    widget::{
        Element, Look, action, elide::elided, key, nothing, press::Press, report,
        resting_caret::resting_caret, words_over::with_words_over, writing::binding,
    },
};
use abide_client::protocol::task::AgentTask;
use iced::{
    Bottom, Center, Fill, Shrink,
    widget::{Column, Container, container, row, space as gap, text::Wrapping, text_editor},
};

const HINT: &str = "A comment, or new instructions";

impl Conversation {
    /// The field, with the buttons that pause and end a sub-task; nothing if the task has ended.
    pub(in crate::screen::conversation) fn intervention_view<'a>(
        &'a self,
        guard: &Guard,
        look: Look,
    ) -> Option<Element<'a, Thread>> {
        self.sub_task()?;
        let task = self.live_task().filter(|_| !look.is_least || !self.stance().needs_person())?;
        let armed = match guard.armed(look.now) {
            Some(Armed::End(id, end)) if id == task.id => Some(end),
            _ => None,
        };
        // The words push the field up: no button moves under the pointer.
        let words = armed.map(|end| confirmation(task, end));
        let buttons = self.endings(armed, guard, look);
        let content = Column::new().push(self.intervening.row(look)).push(words).push(buttons);
        let inner = if look.is_low { space::XS } else { space::M };
        Some(container(content.spacing(space::S)).padding(inner).width(Fill).style(style::composer).into())
    }

    /// The buttons that pause the sub-task and end it.
    fn endings<'a>(&self, armed: Option<End>, guard: &Guard, look: Look) -> Element<'a, Thread> {
        let is_steady = guard.allows(Deed::AtFoot, look.now);
        let press = |message| is_steady.then_some(message);
        let small = |button: Press<'a, Thread>| button.padding(style::button_padding(look.is_low));
        let end = |label, name, end| {
            // The words say what confirms it.
            let name = if armed == Some(end) { key(name).style(style::key_bad) } else { cap(name, guard) };
            let button = small(action(label, Some(name).filter(|_| look.has_caps)));
            let button = button.style(if armed == Some(end) { style::danger } else { style::quiet });
            button.on_press_maybe(press(Thread::EndPressed(end))).passed_by()
        };
        let (label, message) = if self.stance().can_go_on() {
            ("Go on", composer::Message::ResumePressed)
        } else {
            ("Pause", composer::Message::PausePressed)
        };
        let pause = small(action(label, None)).style(style::quiet);
        row![
            gap().width(Fill),
            pause.on_press_maybe(press(Thread::Composer(message))),
            end("Stop", "Ctrl .", End::Stop),
            end("Delete", "Ctrl Del", End::Delete),
        ]
        .spacing(space::XS)
        .align_y(Center)
        .into()
    }
}

/// What the second key or click does.
fn confirmation<'a>(task: &AgentTask, end: End) -> Element<'a, Thread> {
    let has_live = task.tree.as_deref().is_some_and(|tree| tree.live > 0);
    let what = if has_live { "it and its sub-tasks" } else { "it" };
    let does = match end {
        End::Stop => "stops",
        End::Delete => "deletes",
    };
    let words = format!("Enter or another click {does} {what}. Esc: not yet.");
    let words = elided(words, size::SECONDARY, font::STRONG).style(style::bad);
    container(words).padding([0.0, space::XS]).width(Fill).into()
}

/// A key's name; while a caret is drawn it has no effect.
fn cap<'a>(name: &'a str, guard: &Guard) -> Container<'a, Thread> {
    key(name).style(if guard.has_caret() { style::key_off } else { style::key })
}

impl Field {
    fn row<'a>(&'a self, look: Look) -> Element<'a, Thread> {
        let is_empty = self.content.text().trim().is_empty();
        let has_selection = self.content.selection().is_some();
        let above = if look.is_low { 1.5 } else { 5.5 };
        let editor = text_editor(&self.content)
            .id(field::INTERVENTION)
            .size(size::PROSE)
            .line_height(size::LINE_HEIGHT)
            .wrapping(Wrapping::WordOrGlyph)
            .padding([above, space::XS])
            .height(Shrink)
            .min_height(space::EDITOR_ROW)
            .max_height(look.tallest)
            .style(style::editor(false))
            .key_binding(move |press| {
                binding(&press, is_empty, has_selection, &|said| to_thread(Message::Said(said)))
            })
            .on_action(|action| to_thread(Message::Edited(action)));
        let hint = match (&self.sent, is_empty) {
            (Some(_), _) => Some("Sending…"),
            (None, true) => Some(HINT),
            (None, false) => None,
        };
        let hint = hint.filter(|_| self.content.text().is_empty()).map_or_else(nothing, |hint| {
            let hint = elided(hint, size::PROSE, font::PROSE).style(style::muted);
            container(hint).padding([above, space::XS]).into()
        });
        let editor = with_words_over(resting_caret(editor), hint);
        let editor = report::caret(editor, self.has_caret, |is| to_thread(Message::Focused(is)));
        let can_send = !is_empty && self.sent.is_none();
        let button = |label, name, message: Message, look: Look| {
            let cap = key(name).style(if self.has_caret { style::key } else { style::key_off });
            action(label, Some(cap).filter(|_| look.has_caps))
                .padding(style::button_padding(look.is_low))
                .style(style::secondary)
                .on_press_maybe(can_send.then(|| to_thread(message)))
        };
        let buttons = row![
            button("Comment", "↵", Message::CommentPressed, look),
            button("Modify", "Ctrl ↵", Message::ModifyPressed, look),
        ];
        let buttons = buttons.spacing(space::S).align_y(Center);
        row![editor, buttons].spacing(space::S).align_y(Bottom).into()
    }
}
