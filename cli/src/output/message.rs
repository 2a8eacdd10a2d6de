//! A conversation's messages with the tool calls between them, oldest first.

use crate::output::{
    call::{self, Extent},
    markdown, measure,
    style::{BUSY, FAINT, GOOD, NEEDS_YOU, PLAIN, STRONG, paint},
    text,
};
use abide_client::protocol::{
    Timestamp,
    message::{CallView, Message, MessageKind, Role},
};

/// How a conversation is shown.
pub(crate) struct Look {
    pub(crate) extent: Extent,
    /// For ages.
    pub(crate) now: Timestamp,
    /// The terminal's columns; `None` where there is none.
    pub(crate) width: Option<usize>,
    /// Whether the agent's Markdown is rendered.
    pub(crate) is_rich: bool,
}

/// Messages and calls in the order in which they came.
pub(crate) fn conversation(messages: &[Message], calls: &[CallView], look: &Look) -> String {
    enum Item<'a> {
        Message(&'a Message),
        Call(&'a CallView),
    }
    let mut items: Vec<_> = messages
        .iter()
        .map(|m| (m.seq, Item::Message(m)))
        .chain(calls.iter().filter(|c| !call::is_control(c)).map(|c| (c.seq, Item::Call(c))))
        .collect();
    items.sort_by_key(|(seq, _)| *seq);
    let mut out = String::new();
    let mut after_call = false;
    for (_, item) in items {
        let is_call = matches!(item, Item::Call(_));
        // Calls in a row stand together.
        let is_apart = !(is_call && after_call);
        if is_apart && !out.is_empty() {
            out.push('\n');
        }
        match item {
            Item::Message(m) => out.push_str(&message(m, look)),
            Item::Call(c) => out.push_str(&call::told(c, look.extent, look.width)),
        }
        after_call = is_call;
    }
    out
}

fn message(message: &Message, look: &Look) -> String {
    let (who, style) = match (message.role, message.kind) {
        (Role::User, MessageKind::Answer) => ("you (answer)", GOOD),
        (Role::User, _) => ("you", GOOD),
        (Role::Agent, MessageKind::Question) => ("agent asks", NEEDS_YOU),
        (Role::Agent, MessageKind::Update) => ("agent (update)", BUSY),
        (Role::Agent, MessageKind::Partial) => ("agent (cut off)", BUSY),
        (Role::Agent, _) => ("agent", BUSY),
        (Role::System, _) => ("abide", FAINT),
    };
    let words = match look.width {
        Some(width) if look.is_rich && message.role == Role::Agent => markdown::whole(&message.text, width),
        _ => text::block(&message.text).into_owned(),
    };
    let at = paint(FAINT, &measure::ago(message.at, look.now));
    format!("{} {at}\n{}\n", paint(style, who), words.trim_end())
}

/// A message other than the agent's words, as `run` and `watch` tell it beside them.
pub(crate) fn aside(message: &Message) -> String {
    let words = text::block(&message.text);
    let (mark, style) = match (message.role, message.kind) {
        (Role::User, MessageKind::Answer) => ("you:", GOOD),
        (Role::User, _) => (">", STRONG),
        (Role::Agent, MessageKind::Question) => ("?", NEEDS_YOU),
        (Role::Agent, _) => ("»", PLAIN),
        (Role::System, _) => ("abide:", FAINT),
    };
    format!("{} {}", paint(style, mark), words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{ConversationId, RecordId, Seq};
    use uuid::Uuid;

    fn said(seq: u64, role: Role, kind: MessageKind, text: &str) -> Message {
        Message {
            id: RecordId(Uuid::from_u128(u128::from(seq))),
            seq: Seq(seq),
            conversation_id: ConversationId(Uuid::from_u128(2)),
            task_id: None,
            at: fixture::START,
            role,
            kind,
            text: text.into(),
            reasoning: None,
            question_id: None,
        }
    }

    fn look(age_ms: u64) -> Look {
        Look { extent: Extent::Tail, now: fixture::START.plus(age_ms), width: None, is_rich: false }
    }

    #[test]
    fn messages_and_calls_come_in_their_order() {
        let messages = [
            said(9, Role::User, MessageKind::Text, "look"),
            said(12, Role::Agent, MessageKind::Text, "I looked.\nAll fine.\n"),
        ];
        let shown = conversation(&messages, &[fixture::call()], &look(5_000));
        assert_eq!(
            anstream::adapter::strip_str(&shown).to_string(),
            "you 5 s ago\nlook\n\n✓ read src/main.rs → 120 lines (12 ms)\n\nagent 5 s ago\nI looked.\nAll fine.\n"
        );
    }

    #[test]
    fn what_a_message_says_cannot_move_the_cursor() {
        let hostile = said(1, Role::Agent, MessageKind::Update, "a\u{1b}[2J\rb");
        for shown in [aside(&hostile), conversation(&[hostile], &[], &look(0))] {
            let shown = anstream::adapter::strip_str(&shown).to_string();
            assert!(!shown.contains(['\u{1b}', '\r']) && shown.contains("[2J"), "{shown:?}");
        }
    }
}
