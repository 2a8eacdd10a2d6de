//! What is in the memory, wherever it is shown: its source, and *Forget…*, which asks first.

use crate::{
    effect::Effect,
    emoji::drawable,
    font,
    guard::Deed,
    request::Request,
    theme::{size, space, style},
    widget::{Element, Look, action, beside, elide::elided, prose, secondary, word},
    words,
};
use abide_client::protocol::{
    ConversationId, Seq,
    memory::{Note, Snippet, Source},
    method::memory::ForgetMemoryParams,
};
use abide_host::text::{visible, visible_line};
use iced::{
    Center,
    widget::{Row, column, row},
};

/// The most characters of a conversation's title.
const MAX_TITLE: usize = 60;

/// The record that is asked about; at most one is.
#[derive(Debug, Default)]
pub struct Forgetting(Option<Seq>);

#[derive(Debug, Clone)]
pub enum Message {
    /// Opens the conversation at the record that says it.
    SourcePressed(ConversationId, Seq),
    ForgetPressed(Seq),
    Kept,
    Confirmed(Seq),
}

impl Message {
    /// Its deed, if it cannot be undone.
    #[must_use]
    pub const fn deed(&self) -> Option<Deed> {
        match self {
            Self::Confirmed(_) => Some(Deed::AtFoot),
            _ => None,
        }
    }
}

impl Forgetting {
    /// The record whose question is shown.
    #[must_use]
    pub const fn asked(&self) -> Option<Seq> {
        self.0
    }

    pub fn update(&mut self, message: &Message) -> Vec<Effect> {
        match *message {
            Message::SourcePressed(id, seq) => vec![Effect::GoTo(id, seq, None, String::new())],
            Message::ForgetPressed(seq) => {
                self.0 = Some(seq);
                Vec::new()
            }
            Message::Kept => {
                self.0 = None;
                Vec::new()
            }
            Message::Confirmed(seq) => {
                self.0 = None;
                vec![Effect::Ask(Request::ForgetMemory(ForgetMemoryParams { seq }))]
            }
        }
    }

    /// A passage with its source, and why it was found; or a line of it.
    #[must_use]
    pub fn snippet<'a>(&self, snippet: &'a Snippet, is_whole: bool, look: Look) -> Element<'a, Message> {
        if snippet.text.is_empty() {
            return secondary("Forgotten.").into();
        }
        let is_note = snippet.source == Source::Note;
        let source = if is_note && snippet.title.is_empty() {
            beside("your note").into()
        } else {
            let title = words::first_line(&words::title(&snippet.title), MAX_TITLE);
            source(title, snippet.conversation_id, snippet.seq)
        };
        let kind = (!is_note || !snippet.title.is_empty()).then(|| snippet.source.words().to_owned());
        let about = kind.into_iter().chain([snippet.why(), words::age(snippet.at, look.now)]);
        let about = about.collect::<Vec<_>>().join(" · ");
        let head = row![source, beside(about)].push(self.button(snippet.seq));
        let said = snippet.text.trim();
        let said: Element<'a, Message> = if is_whole {
            secondary(drawable(visible(said)).into_owned()).into()
        } else {
            let said = words::first_line(said, words::WHOLE);
            elided(drawable(visible_line(&said)).into_owned(), size::SECONDARY, font::PROSE)
                .style(style::muted)
                .into()
        };
        column![line(head), said].into()
    }

    /// A note, for whom it is, and who has written it.
    #[must_use]
    pub fn note<'a>(&self, note: &'a Note, look: Look) -> Element<'a, Message> {
        let place =
            note.workspace.as_deref().map(|workspace| words::place(&visible_line(workspace), look.home));
        let place = place.map_or_else(|| "everywhere".to_owned(), |place| format!("in {place}"));
        let by = note.conversation_id.map(|id| source("by an agent".to_owned(), id, note.seq));
        let about = beside(format!("{place} · {}", words::age(note.at, look.now)));
        let head = row![about].extend(by).push(self.button(note.seq));
        column![prose(drawable(visible(&note.text)).into_owned()), line(head)].into()
    }

    /// *Forget…*, or the question.
    #[must_use]
    pub fn button<'a>(&self, seq: Seq) -> Element<'a, Message> {
        if self.0 != Some(seq) {
            return word("Forget…", Message::ForgetPressed(seq)).into();
        }
        row![
            beside("Forget it for good?"),
            action("Forget", None)
                .padding(style::button_padding(true))
                .style(style::danger)
                .on_press(Message::Confirmed(seq)),
            action("Keep", None)
                .padding(style::button_padding(true))
                .style(style::quiet)
                .on_press(Message::Kept),
        ]
        .spacing(space::S)
        .align_y(Center)
        .into()
    }
}

fn source<'a>(label: String, id: ConversationId, seq: Seq) -> Element<'a, Message> {
    word(label, Message::SourcePressed(id, seq)).padding([2.0, 0.0]).style(style::bare).into()
}

fn line<'a>(parts: Row<'a, Message>) -> Element<'a, Message> {
    parts.spacing(space::S).align_y(Center).wrap().vertical_spacing(0.0).into()
}
