//! The chunks of a record: the passages of its text that can be recalled.

use super::{redact::redact, split::split};
use abide_protocol::{
    CallId, QuestionId,
    memory::{RECALL, Source},
    message::CallOutcome,
    record::{Intervener, RecordBody},
    transcript::EffectClass,
};

/// Counts the changes of what records give. An index that an earlier one has filled is made anew: its words
/// cannot be taken out any more.
pub(super) const FORM: i64 = 2;

/// The kinds of records that give chunks.
pub(super) const KINDS: &[&str] = &[
    "user_message",
    "intervened",
    "reply",
    "agent_message",
    "update",
    "question_answered",
    "call_finished",
    "task_started",
    "task_ended",
    "noted",
    // A person's.
    "note_added",
];

/// The most characters of what a message answers.
const BEFORE: usize = 200;
/// How much of a call's result is kept, in characters.
const FIRST_OF_RESULT: usize = 1200;
const LAST_OF_RESULT: usize = 400;

/// A passage of a record's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) source: Source,
    /// What it answers.
    pub(crate) before: String,
    pub(crate) text: String,
}

impl Chunk {
    /// The text whose words are indexed.
    pub(crate) fn indexed(&self) -> String {
        format!("{}\n{}", self.before, self.text)
    }
}

/// The earlier record of the conversation that a record's chunks need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needed {
    /// The newest words of the agent.
    Reply,
    /// The newest words of the person to the task.
    Request,
    Question(QuestionId),
    /// The assessment of this call.
    Call(CallId),
}

/// Which earlier record a record's chunks need.
pub(super) fn needed(body: &RecordBody) -> Option<Needed> {
    match body {
        RecordBody::UserMessage(_) | RecordBody::Intervened(_) => Some(Needed::Reply),
        RecordBody::Reply(_)
        | RecordBody::AgentMessage(_)
        | RecordBody::Update(_)
        | RecordBody::TaskEnded(_) => Some(Needed::Request),
        RecordBody::QuestionAnswered(answered) => Some(Needed::Question(answered.question_id)),
        RecordBody::CallFinished(finished) => Some(Needed::Call(finished.call_id)),
        _ => None,
    }
}

/// A person's or an agent's words in a record, if it has some.
pub(super) fn words(body: &RecordBody) -> Option<String> {
    let words = match body {
        RecordBody::UserMessage(message) => message.text.clone(),
        RecordBody::Intervened(i) if matches!(i.by, Intervener::Person(_)) => {
            i.content.as_ref().unwrap_or(&i.comment).clone()
        }
        RecordBody::Reply(reply) => reply.shown(),
        RecordBody::AgentMessage(message) => message.text.clone(),
        RecordBody::Update(update) => update.text.clone(),
        _ => return None,
    };
    Some(words).filter(|words| !words.trim().is_empty())
}

/// The chunks of a record; `needed`: the body of the earlier record, if there is one.
pub(super) fn chunks(body: &RecordBody, needed: Option<&RecordBody>) -> Vec<Chunk> {
    let before = needed.and_then(words).unwrap_or_default();
    let (source, before, text) = match (body, needed) {
        (RecordBody::UserMessage(_) | RecordBody::Intervened(_), _) => {
            (Source::User, last(&before, BEFORE), words(body).unwrap_or_default())
        }
        (RecordBody::Reply(_) | RecordBody::AgentMessage(_) | RecordBody::Update(_), _) => {
            (Source::Agent, first(&before, BEFORE), words(body).unwrap_or_default())
        }
        (RecordBody::TaskEnded(ended), _) => {
            (Source::Summary, first(&before, BEFORE), ended.summary.clone().unwrap_or_default())
        }
        (RecordBody::QuestionAnswered(answered), Some(RecordBody::QuestionAsked(asked))) => {
            let answer = answered.response.as_ref().map(|answer| format!("{}\n{answer}", asked.text));
            (Source::Answer, String::new(), answer.unwrap_or_default())
        }
        (RecordBody::CallFinished(finished), Some(RecordBody::CallAssessed(call)))
            // What a control call says is in a record of its own. What is recalled is not recalled again.
            if finished.outcome == CallOutcome::Done
                && call.effect != EffectClass::Control
                && call.tool != RECALL =>
        {
            let said = format!("{}\n{}", call.summary, ends(&finished.result.text()));
            (Source::Call, String::new(), redact(&said))
        }
        (RecordBody::TaskStarted(head), _) if head.parent_id.is_some() => {
            (Source::SubTask, String::new(), format!("{}\n{}", head.title, head.original_prompt))
        }
        // However few words it has, it says something.
        (RecordBody::Noted(noted), _) => {
            let (before, text) = (String::new(), noted.text.trim().to_owned());
            return vec![Chunk { source: Source::Note, before, text }];
        }
        _ => return Vec::new(),
    };
    split(&text).into_iter().map(|text| Chunk { source, before: before.clone(), text }).collect()
}

/// The beginning and the end of a result.
fn ends(result: &str) -> String {
    if result.chars().nth(FIRST_OF_RESULT + LAST_OF_RESULT).is_none() {
        return result.to_owned();
    }
    format!("{}\n\n{}", first(result, FIRST_OF_RESULT), last(result, LAST_OF_RESULT))
}

fn first(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn last(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth_back(most) {
        Some((start, c)) => format!("…{}", text[start + c.len_utf8()..].trim_start()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
