//! A long text on its own, over the rest: to read, search, select and copy. It cannot be edited.

mod find;

use crate::{
    effect::{Effect, Form, Reading, field},
    emoji::drawable,
    font,
    output::cut,
    theme::{size, space, style, tokens},
    widget::{
        Element, Look, action, beside, field::field, key, one_line, resting_caret::resting_caret, secondary,
        word,
    },
    words,
};
use abide_host::text::{visible, visible_line};
use find::{Hit, Mark, Marks, hits};
use iced::{
    Center, Fill, Theme,
    advanced::text::highlighter::Format,
    keyboard::{Key, key::Named},
    widget::{
        Row, column, container, row, text,
        text::Wrapping,
        text_editor,
        text_editor::{Action, Binding, Content, Cursor, KeyPress, Motion, Position},
    },
};

/// See the module.
#[derive(Debug)]
pub struct Screen {
    reading: Reading,
    content: Content,
    /// The line in place of which the daemon has left something out, and how many characters.
    gap: Option<(usize, u64)>,
    query: String,
    hits: Vec<Hit>,
    /// The index of the selected match.
    at: usize,
}

#[derive(Debug, Clone)]
pub enum Message {
    Acted(Action),
    QueryChanged(String),
    /// Goes to the next match, or to the one before.
    Stepped(isize),
    FindPressed,
    /// Goes to what was left out.
    GapPressed,
    CopyPressed,
    /// Opens it in the person's editor.
    EditorPressed,
    ClosePressed,
}

impl Screen {
    #[must_use]
    pub fn new(reading: Reading) -> Self {
        let reading = Reading { text: visible(&reading.text).into_owned(), ..reading };
        let mut content = Content::with_text(&reading.text);
        if reading.form == Form::Plain {
            content.perform(Action::Move(Motion::DocumentEnd));
        }
        let mut lines = reading.text.split('\n').enumerate();
        let gap = lines.find_map(|(line, text)| Some((line, cut(text)?)));
        Self { reading, content, gap, query: String::new(), hits: Vec::new(), at: 0 }
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Acted(action) => {
                if !action.is_edit() {
                    self.content.perform(action);
                }
                Vec::new()
            }
            Message::QueryChanged(query) => {
                self.hits = hits(&self.reading.text, &query);
                self.query = query;
                // From the cursor on, in a circle.
                let here = self.content.cursor().position;
                let is_after = |hit: &Hit| (hit.line, hit.end) >= (here.line, here.column);
                self.at = self.hits.iter().position(is_after).unwrap_or_default();
                self.select();
                Vec::new()
            }
            Message::Stepped(by) => {
                if let Some(count) = isize::try_from(self.hits.len()).ok().filter(|count| *count > 0) {
                    let at = isize::try_from(self.at).unwrap_or_default();
                    self.at = (at + by).rem_euclid(count).unsigned_abs();
                    self.select();
                }
                // The selection is visible only with the focus.
                vec![Effect::Focus(field::READER)]
            }
            Message::GapPressed => {
                if let Some((line, _)) = self.gap {
                    let position = Position { line, column: 0 };
                    self.content.move_to(Cursor { position, selection: None });
                }
                vec![Effect::Focus(field::READER)]
            }
            Message::FindPressed => vec![Effect::FocusText(field::FIND)],
            Message::CopyPressed => vec![Effect::Copy(self.reading.text.clone())],
            Message::EditorPressed => vec![Effect::Edit(self.reading.clone())],
            // The window closes it.
            Message::ClosePressed => Vec::new(),
        }
    }

    /// Selects the current match and scrolls to it.
    fn select(&mut self) {
        if let Some(hit) = self.hits.get(self.at) {
            let start = Position { line: hit.line, column: hit.start };
            let end = Position { line: hit.line, column: hit.end };
            self.content.move_to(Cursor { position: end, selection: Some(start) });
        }
    }

    #[must_use]
    pub fn view(&self, look: Look) -> Element<'_, Message> {
        let line = self.content.cursor().position.line + 1;
        let place = secondary(format!("line {line} of {}", self.content.line_count()));
        let title = text(drawable(visible_line(&self.reading.title))).size(size::TITLE).font(font::STRONG);
        let close = action("Close", Some(key("Esc"))).style(style::quiet).on_press(Message::ClosePressed);
        let head = row![one_line(title), secondary(look.said.unwrap_or_default()), place, close]
            .spacing(space::M)
            .align_y(Center);
        let field =
            field("Find", (size::SECONDARY, [4.0, 8.0]), &self.query, Message::QueryChanged, |input| {
                input.id(field::FIND).width(space::FIND).on_submit(Message::Stepped(0))
            });
        let found = match (self.query.is_empty(), self.hits.len()) {
            (true, _) => String::new(),
            (false, 0) if self.gap.is_some() => "not found in what was kept".to_owned(),
            (false, 0) => "not found".to_owned(),
            (false, find::MOST) => format!("{} of {} or more", self.at + 1, find::MOST),
            (false, count) => format!("{} of {count}", self.at + 1),
        };
        let mut tools = Row::new().push(field).push(key("Ctrl F"));
        if !found.is_empty() {
            tools = tools.push(beside(found));
        }
        if self.hits.len() > 1 {
            tools = tools.push(word("Before", Message::Stepped(-1))).push(word("Next", Message::Stepped(1)));
        }
        let gap = self.gap.map(|(_, characters)| {
            let words = format!("{} were not kept", words::counted(characters, "character"));
            word(words, Message::GapPressed)
        });
        let tools = tools
            .push(word("Copy all", Message::CopyPressed))
            .push(word("Open in the editor", Message::EditorPressed))
            .push(gap)
            .spacing(space::S)
            .align_y(Center);
        let editor = text_editor(&self.content)
            .id(field::READER)
            .height(Fill)
            .size(size::CODE)
            .line_height(size::LINE_HEIGHT)
            .wrapping(Wrapping::WordOrGlyph)
            .padding(space::M)
            .font(font::CODE)
            .style(style::reader)
            .key_binding(binding)
            .on_action(Message::Acted)
            .highlight_with::<Marks>((self.query.clone(), self.reading.form), inked);
        container(
            column![head, tools.wrap().vertical_spacing(space::XS), resting_caret(editor)].spacing(space::S),
        )
        .padding(space::L)
        .width(Fill)
        .height(Fill)
        .style(style::dialog)
        .into()
    }
}

fn inked(mark: &Mark, theme: &Theme) -> Format<iced::Font> {
    let tokens = tokens(theme);
    let color = match mark {
        Mark::Found => tokens.accent,
        Mark::Added => tokens.ok,
        Mark::Removed => tokens.bad,
        Mark::Place => tokens.muted,
    };
    Format { color: Some(color), font: None }
}

/// Enter goes to the next match, Shift Enter to the one before; keys that would edit do nothing.
fn binding(press: KeyPress) -> Option<Binding<Message>> {
    match press.key.as_ref() {
        Key::Named(Named::Enter) if matches!(press.status, text_editor::Status::Focused { .. }) => {
            Some(Binding::Custom(Message::Stepped(if press.modifiers.shift() { -1 } else { 1 })))
        }
        _ => Binding::from_key_press(press),
    }
}
