//! Search results, one line each, with the matches marked.

use crate::output::{
    measure,
    style::{FAINT, NEEDS_YOU, STRONG, paint},
    text,
};
use abide_client::protocol::{
    ConversationId, Timestamp,
    message::Role,
    method::search::{Excerpt, MessageHit, SearchReply},
};
use abide_host::text::visible_line;

pub(crate) fn found(reply: &SearchReply, now: Timestamp) -> String {
    if reply.titles.is_empty() && reply.messages.is_empty() {
        return "Nothing is found.\n".to_owned();
    }
    let mut out = String::new();
    for hit in &reply.titles {
        let aside = if hit.archived { "(a title, archived)" } else { "(a title)" };
        let aside = paint(FAINT, aside);
        out.push_str(&format!("{}  {} {aside}\n", head(hit.conversation_id), marked(&hit.title)));
    }
    let mut last = None;
    for hit in &reply.messages {
        if last != Some(hit.conversation_id) {
            if !out.is_empty() {
                out.push('\n');
            }
            let title = text::one_line(&hit.conversation_title);
            let aside = if hit.archived { " (archived)" } else { "" };
            out.push_str(&format!("{}  {}{aside}\n", head(hit.conversation_id), paint(STRONG, &title)));
            last = Some(hit.conversation_id);
        }
        out.push_str(&message(hit, now));
    }
    out
}

fn head(id: ConversationId) -> String {
    paint(STRONG, &id.short())
}

fn message(hit: &MessageHit, now: Timestamp) -> String {
    let who = match hit.role {
        Role::User => "you",
        Role::Agent => "agent",
        Role::System => "abide",
    };
    let said = paint(FAINT, &format!("{who}, {}:", measure::ago(hit.at, now)));
    format!("  {said} {}\n", marked(&hit.line))
}

/// The line with its matches painted. Invalid marks are left out.
fn marked(excerpt: &Excerpt) -> String {
    let mut out = String::new();
    let mut rest = 0;
    for mark in &excerpt.marks {
        let (start, end) = (mark.start as usize, mark.end as usize);
        if let (Some(before), Some(found)) = (excerpt.text.get(rest..start), excerpt.text.get(start..end)) {
            out.push_str(&visible_line(before));
            out.push_str(&paint(NEEDS_YOU, &visible_line(found)));
            rest = end;
        }
    }
    out.push_str(&visible_line(excerpt.text.get(rest..).unwrap_or_default()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        RecordId, Seq,
        message::MessageKind,
        method::search::{Span, TitleHit},
    };
    use insta::assert_snapshot;
    use uuid::Uuid;

    fn excerpt(text: &str, marks: &[(u32, u32)]) -> Excerpt {
        let marks = marks.iter().map(|&(start, end)| Span { start, end }).collect();
        Excerpt { text: text.to_owned(), marks }
    }

    fn hit(conversation: u128, line: Excerpt) -> MessageHit {
        MessageHit {
            conversation_id: ConversationId(Uuid::from_u128(conversation)),
            conversation_title: format!("title {conversation}"),
            archived: conversation == 2,
            message_id: RecordId(Uuid::from_u128(9)),
            seq: Seq(9),
            task_id: None,
            at: fixture::START,
            role: Role::Agent,
            kind: MessageKind::Text,
            line,
        }
    }

    #[test]
    fn messages_are_grouped_by_conversation() {
        let title = TitleHit {
            conversation_id: ConversationId(Uuid::from_u128(1)),
            archived: true,
            title: excerpt("cargo", &[(0, 5)]),
        };
        let messages = vec![
            hit(1, excerpt("run cargo now", &[(4, 9)])),
            hit(1, excerpt("cargo", &[])),
            hit(2, excerpt("a\u{1b}[2J cargo", &[(6, 11), (3, 99)])),
        ];
        let reply = SearchReply { titles: vec![title], messages, before: None, searched_to: Seq(9) };
        let painted = found(&reply, fixture::START.plus(5_000));
        assert!(painted.contains(&paint(NEEDS_YOU, "cargo")));
        assert_snapshot!(anstream::adapter::strip_str(&painted).to_string(), @r"
        00000001  cargo (a title, archived)

        00000001  title 1
          agent, 5 s ago: run cargo now
          agent, 5 s ago: cargo

        00000002  title 2 (archived)
          agent, 5 s ago: a\x1b[2J cargo
        ");
    }

    #[test]
    fn an_empty_result_has_a_sentence() {
        let reply = SearchReply { titles: vec![], messages: vec![], before: None, searched_to: Seq(9) };
        assert_eq!(found(&reply, fixture::START), "Nothing is found.\n");
    }
}
