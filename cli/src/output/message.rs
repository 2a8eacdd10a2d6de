//! A conversation's messages with the tool calls between them, oldest first.

use crate::output::{
    call::{self, Extent},
    markdown, measure, recalled,
    style::{BUSY, FAINT, GOOD, NEEDS_YOU, PLAIN, STRONG, paint},
    text,
};
use abide_client::protocol::{
    Timestamp,
    event::{EndedEvent, Event, EventKind},
    message::{CallView, Message, MessageKind, Role},
};

/// How a conversation is printed.
pub(crate) struct Look {
    pub(crate) extent: Extent,
    /// For ages.
    pub(crate) now: Timestamp,
    /// The terminal's columns; `None` where there is none.
    pub(crate) width: Option<usize>,
    /// Whether the agent's Markdown is rendered.
    pub(crate) is_rich: bool,
}

/// Messages, calls and the summaries of tasks, in order.
pub(crate) fn conversation(
    messages: &[Message],
    calls: &[CallView],
    events: &[Event],
    look: &Look,
) -> String {
    enum Item<'a> {
        Message(&'a Message),
        Call(&'a CallView),
        Summary(Timestamp, &'a str),
        Memory(String),
    }
    let mut items: Vec<_> = messages
        .iter()
        .map(|m| (m.seq, Item::Message(m)))
        .chain(calls.iter().filter(|c| !c.is_control()).map(|c| (c.seq, Item::Call(c))))
        .chain(events.iter().filter_map(|event| {
            let item = match &event.kind {
                EventKind::TaskEnded(EndedEvent { summary: Some(summary), .. }) => {
                    Item::Summary(event.at, summary.trim())
                }
                EventKind::Recalled(recalled) => Item::Memory(recalled::recalled(recalled)),
                EventKind::Noted(noted) => Item::Memory(recalled::noted(event.seq, &noted.text)),
                _ => return None,
            };
            Some((event.seq, item))
        }))
        .collect();
    items.sort_by_key(|(seq, _)| *seq);
    let mut out = String::new();
    let mut after_call = false;
    let mut last_words = "";
    for (_, item) in items {
        // The agent's last message may have said the same.
        if matches!(item, Item::Summary(_, words) if words.is_empty() || words == last_words) {
            continue;
        }
        let is_call = matches!(item, Item::Call(_));
        // No blank line between consecutive calls.
        let is_apart = !(is_call && after_call);
        if is_apart && !out.is_empty() {
            out.push('\n');
        }
        match item {
            Item::Message(m) => {
                last_words = m.text.trim();
                out.push_str(&message(m, look));
            }
            Item::Summary(at, words) => {
                out.push_str(&paragraph(&paint(BUSY, "agent"), at, &of_agent(words, look), look));
            }
            Item::Call(c) => out.push_str(&call::rendered(c, look.extent, look.width)),
            Item::Memory(words) => {
                out.push_str(&paint(FAINT, &words));
                out.push('\n');
            }
        }
        after_call = is_call;
    }
    out
}

fn message(message: &Message, look: &Look) -> String {
    let (who, style) = match (message.role, message.kind) {
        (Role::User, MessageKind::Answer) => ("you (answer)", GOOD),
        (Role::User, MessageKind::Imported) => ("you (imported)", FAINT),
        (Role::Agent, MessageKind::Imported) => ("agent (imported)", FAINT),
        (Role::System, MessageKind::Imported) => ("system (imported)", FAINT),
        (Role::User, _) => ("you", GOOD),
        (Role::Agent, MessageKind::Question) => ("agent asks", NEEDS_YOU),
        (Role::Agent, MessageKind::Update) => ("agent (update)", BUSY),
        (Role::Agent, MessageKind::Partial) => ("agent (cut off)", BUSY),
        (Role::Agent, _) => ("agent", BUSY),
        (Role::System, _) => ("abide", FAINT),
    };
    let words = match message.role {
        Role::Agent => of_agent(&message.text, look),
        Role::User | Role::System => text::block(&message.text).into_owned(),
    };
    paragraph(&paint(style, who), message.at, &words, look)
}

/// An agent's words may be Markdown.
fn of_agent(raw: &str, look: &Look) -> String {
    match look.width {
        Some(width) if look.is_rich => markdown::whole(raw, width),
        _ => text::block(raw).into_owned(),
    }
}

fn paragraph(who: &str, at: Timestamp, words: &str, look: &Look) -> String {
    let at = paint(FAINT, &measure::ago(at, look.now));
    format!("{who} {at}\n{}\n", words.trim_end())
}

/// A message other than the agent's text, as `run` and `watch` print it on standard error.
pub(crate) fn aside(message: &Message) -> String {
    let words = text::block(&message.text);
    let (who, style) = match (message.role, message.kind) {
        (Role::User, MessageKind::Answer) => ("you (answer):", GOOD),
        (_, MessageKind::Imported) => return imported(message),
        (Role::User, _) => ("you:", STRONG),
        (Role::Agent, MessageKind::Question) => ("asks:", NEEDS_YOU),
        (Role::Agent, _) => ("agent:", PLAIN),
        (Role::System, _) => ("abide:", FAINT),
    };
    format!("{} {}", paint(style, who), words.trim_end())
}

/// A message of an earlier conversation. Its role is printed, because its author is not this task's agent.
fn imported(message: &Message) -> String {
    let who = match message.role {
        Role::User => "you",
        Role::Agent => "agent",
        Role::System => "system",
    };
    let words = text::block(&message.text);
    format!("{} {}", paint(FAINT, &format!("{who} (imported):")), words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{ConversationId, RecordId, Seq, task::EndReason};
    use insta::assert_snapshot;
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
        let shown = conversation(&messages, &[fixture::call()], &[], &look(5_000));
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        you 5 s ago
        look

        ✓ read src/main.rs → 120 lines (12 ms)

        agent 5 s ago
        I looked.
        All fine.
        ");
    }

    #[test]
    fn a_summary_is_printed_once() {
        let ended = |seq, summary: &str| Event {
            seq: Seq(seq),
            task_id: None,
            at: fixture::START,
            kind: EventKind::TaskEnded(EndedEvent {
                reason: EndReason::Completed,
                summary: Some(summary.into()),
                error: None,
            }),
        };
        let messages = [
            said(1, Role::User, MessageKind::Text, "look"),
            said(4, Role::User, MessageKind::Text, "again"),
            said(5, Role::Agent, MessageKind::Text, "Still fine.\n"),
        ];
        let shown = conversation(&messages, &[], &[ended(3, "All fine."), ended(6, "Still fine.")], &look(0));
        assert_snapshot!(anstream::adapter::strip_str(&shown).to_string(), @r"
        you just now
        look

        agent just now
        All fine.

        you just now
        again

        agent just now
        Still fine.
        ");
    }

    #[test]
    fn message_text_cannot_move_the_cursor() {
        let hostile = said(1, Role::Agent, MessageKind::Update, "a\u{1b}[2J\rb");
        for shown in [aside(&hostile), conversation(&[hostile], &[], &[], &look(0))] {
            let shown = anstream::adapter::strip_str(&shown).to_string();
            assert!(!shown.contains(['\u{1b}', '\r']) && shown.contains("[2J"), "{shown:?}");
        }
    }
}
