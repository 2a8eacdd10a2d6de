//! The conversation's title and folder, and the task's numbers.

use super::{Conversation, Menu, Message, memory_use, undo};
use crate::{
    effect::field,
    font,
    theme::{size, space, style},
    widget::{
        Element, Look, action,
        elide::elided,
        escape::escape_from,
        field::field,
        key,
        press::{Press, press},
        secondary, word,
    },
    words,
};
use abide_client::protocol::{
    Timestamp,
    conversation::Conversation as Known,
    memory::MemoryUse,
    task::{AgentTask, Status},
};
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{Column, Row, column, container, row, rule, text},
};

/// The most characters of the folder; of a long path the end is shown.
const MAX_PLACE: usize = 40;

impl Conversation {
    pub(super) fn header<'a>(&'a self, known: Option<&Known>, look: Look) -> Element<'a, Message> {
        let title = words::title(known.map_or("", |c| &c.title));
        let task = self.current();
        let parts = [
            known.map(|c| words::shortened(&words::place(&visible_line(&c.workspace), look.home), MAX_PLACE)),
            task.map(|t| t.mode).or_else(|| known.and_then(|c| c.mode)).map(|mode| mode.name().to_owned()),
            task.map(|t| t.model.clone()).or_else(|| known.and_then(|c| c.model.clone())),
            known.filter(|c| c.memory != MemoryUse::Normal).map(|c| words::memory_use(c.memory).to_owned()),
        ];
        let about =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        let paused = task.and_then(|task| self.paused(task)).map(|pause| pause.at);
        let numbers =
            Row::with_children(numbers(task, paused, look).into_iter().map(|words| secondary(words).into()))
                .push((!look.tree_is_above).then(|| self.tree_count()).flatten())
                .align_y(Center)
                .spacing(space::L);
        let menu = press(text("⋯").size(size::TITLE))
            .padding([2.0, 8.0])
            .style(style::quiet)
            .on_press(Message::MenuPressed);
        // The title has the whole line: in a small window it is what tells conversations apart.
        let name = self.breadcrumb(&title).unwrap_or_else(|| elided(title, size::TITLE, font::STRONG).into());
        let names = column![
            row![container(name).width(Fill), secondary(look.said.unwrap_or_default())]
                .spacing(space::M)
                .align_y(Center),
            row![elided(about, size::SECONDARY, font::PROSE).style(style::muted), numbers].spacing(space::L),
        ];
        let head = row![names.width(Fill), menu]
            .spacing(space::S)
            .align_y(Center)
            .height(space::HEADER)
            .padding([0.0, space::XL]);
        let line = rule::horizontal(1).style(style::line);
        match self.menu(look) {
            None => column![head, line].into(),
            Some(menu) => {
                let bar = container(menu).padding([space::S, look.margin()]).width(Fill).style(style::panel);
                let head = (!look.is_low).then(|| column![head, line].into());
                Column::new().extend(head).push(bar).push(rule::horizontal(1).style(style::line)).into()
            }
        }
    }

    fn menu(&self, look: Look) -> Option<Element<'_, Message>> {
        Some(match &self.menu {
            Menu::Closed => return None,
            Menu::Open => row![
                word("Rename", Message::RenamePressed),
                word("Copy all", Message::CopyAllPressed),
                word("Copy id", Message::Copied(self.id.to_string())),
                word("File changes", Message::Undo(undo::Message::ChangesPressed)),
                word(if self.is_archived() { "Unarchive" } else { "Archive" }, Message::ArchivePressed),
                word("Memory…", Message::Memory(memory_use::Message::Pressed)),
                word("Delete…", Message::DeletePressed),
            ]
            .spacing(space::S)
            .align_y(Center)
            .wrap()
            .into(),
            Menu::Memory => self.memory_uses(),
            Menu::Changes(shown) => shown.view(look),
            Menu::Renaming(title) => {
                let renaming = row![
                    field("Title", (size::PROSE, [6.0, 10.0]), title, Message::TitleChanged, |input| {
                        input.id(field::TITLE).on_submit(Message::TitleSubmitted)
                    }),
                    action("Rename", None).style(style::primary).on_press(Message::TitleSubmitted),
                    action("Cancel", None).style(style::quiet).on_press(Message::MenuClosed),
                ]
                .spacing(space::S)
                .align_y(Center);
                escape_from(renaming, Message::MenuClosed)
            }
            Menu::Deleting => {
                let words =
                    secondary(words::deletion("this conversation", self.is_busy(), self.is_remembered));
                let small =
                    |button: Press<'static, Message>| button.padding(style::button_padding(look.is_low));
                let buttons = row![
                    small(action("Delete", Some(key("↵").style(style::key_bad))))
                        .style(style::danger)
                        .on_press(Message::DeleteConfirmed)
                        .passed_by(),
                    small(action("Keep", Some(key("Esc")))).style(style::quiet).on_press(Message::MenuClosed),
                ]
                .spacing(space::S);
                if look.is_low {
                    column![words, buttons].spacing(space::XS).into()
                } else {
                    row![words.width(Fill), buttons].spacing(space::S).align_y(Center).into()
                }
            }
        })
    }
}

/// The step of a task at work, time, tokens and money.
fn numbers(task: Option<&AgentTask>, paused: Option<Timestamp>, look: Look) -> Vec<String> {
    let Some(task) = task else { return Vec::new() };
    let waits = task.pending.iter().map(abide_client::protocol::inbox::Pending::asked_at).min();
    let time = match (task.status, waits) {
        (Status::WaitingUser | Status::WaitingApproval | Status::Paused, Some(since)) => {
            Some(format!("waiting {}", words::waited(since, look.now)))
        }
        (Status::Paused, None) => paused.map(|since| format!("paused {}", words::waited(since, look.now))),
        // As the task's last line writes it.
        _ => Some(match task.ended_at {
            Some(ended) => words::duration(task.worked(ended)),
            None => words::duration(task.worked(look.now).max(1000)),
        }),
    };
    let step = (task.step_count > 0 && !task.status.has_ended()).then(|| words::step(task));
    [step, time, words::usage(&task.usage_of_all())].into_iter().flatten().collect()
}
