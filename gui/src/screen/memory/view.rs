//! Draws the page.

use super::{Message, Screen, Search};
use crate::{
    effect::field,
    font,
    theme::{size, space, style},
    widget::{Element, Look, action, centred::centred, field::field, pick, secondary, section, word},
    words,
};
use abide_host::text::visible_line;
use iced::{
    Center, Fill,
    widget::{Column, column, container, row, scrollable, space as gap, text},
};

/// The size of the text in a field, and the room around it.
const FIELD: (f32, [f32; 2]) = (size::PROSE, [6.0, 10.0]);
const ASKING: &str = "Asking the daemon…";

impl Screen {
    #[must_use]
    pub fn view<'a>(&'a self, look: Look) -> Element<'a, Message> {
        let head = row![
            text("Memory").size(size::TITLE).font(font::STRONG).width(Fill),
            word("Close", Message::Closed)
        ]
        .align_y(Center);
        let scope = self.workspace.as_deref().map(|workspace| {
            let here = format!("In {}", words::place(&visible_line(workspace), look.home));
            row![
                pick(here, !self.is_everywhere, Message::ScopePicked(false)),
                pick("Everywhere", self.is_everywhere, Message::ScopePicked(true)),
            ]
            .spacing(space::XS)
            .wrap()
            .into()
        });
        let content = column![head, section("Use", self.switch())]
            .extend(scope)
            .push(section("Search", self.search_part(look)))
            .push(section("Notes", self.notes_part(look)))
            .push(gap().height(space::XL))
            .spacing(space::XL);
        let page = container(content).padding([space::XL, 0.0]);
        scrollable(centred(page, look.margin())).id(field::MEMORY).height(Fill).style(style::bars).into()
    }

    fn switch(&self) -> Element<'_, Message> {
        let Some(memory) = &self.memory else { return secondary(ASKING).into() };
        let choose = |label, wanted| pick(label, memory.enabled == wanted, Message::Toggled(wanted));
        let about = if memory.enabled {
            "A task begins with notes, and with passages of earlier conversations that have to do with it."
        } else {
            "No task recalls anything. What is there stays, and can be searched and forgotten here."
        };
        let passages = words::counted(memory.passages, "passage");
        let conversations = words::counted(memory.conversations, "conversation");
        column![
            row![choose("On", true), choose("Off", false)].spacing(space::XS),
            secondary(about),
            secondary(format!("{passages} of {conversations}, found by {}.", memory.how.words())),
            secondary(format!("Meaning: {}", visible_line(&memory.meaning()))),
        ]
        .spacing(space::S)
        .into()
    }

    fn search_part(&self, look: Look) -> Element<'_, Message> {
        let hint = "What a task with these words would be given";
        let query = field(hint, FIELD, &self.query, Message::QueryChanged, |input| {
            input.id(field::RECALL).on_submit(Message::Searched)
        });
        let search = action("Search", None).style(style::secondary).on_press(Message::Searched);
        let found: Option<Element<'_, Message>> = match &self.search {
            Search::Nothing => None,
            Search::Asked(_) => Some(secondary("Searching…").into()),
            Search::Found(found) => {
                let snippet = |hit| self.forgetting.snippet(hit, true, look).map(Message::Forget);
                let nothing = found.snippets.is_empty().then(|| secondary("Nothing found.").into());
                let problem =
                    found.problem_words().map(|words| secondary(visible_line(&words).into_owned()).into());
                let lines = nothing.into_iter().chain(found.snippets.iter().map(snippet)).chain(problem);
                Some(Column::with_children(lines).spacing(space::M).into())
            }
        };
        let line = row![query, search].spacing(space::S).align_y(Center);
        column![line].extend(found).spacing(space::M).into()
    }

    fn notes_part(&self, look: Look) -> Element<'_, Message> {
        let hint = match (&self.workspace, self.is_everywhere) {
            (Some(_), false) => "A note for each later task here",
            (None, _) | (_, true) => "A note for each later task, everywhere",
        };
        let note = field(hint, FIELD, &self.note, Message::NoteChanged, |input| {
            input.id(field::NOTE).on_submit(Message::NoteSubmitted)
        });
        let add = action("Add", None).style(style::secondary).on_press(Message::NoteSubmitted);
        let notes: Element<'_, Message> = match &self.notes {
            None => secondary(ASKING).into(),
            Some(notes) if notes.is_empty() => {
                secondary("None. Agents write notes, too, with the tool `remember`.").into()
            }
            Some(notes) => {
                let notes = notes.iter().map(|note| self.forgetting.note(note, look).map(Message::Forget));
                Column::with_children(notes).spacing(space::M).into()
            }
        };
        column![row![note, add].spacing(space::S).align_y(Center), notes].spacing(space::M).into()
    }
}
