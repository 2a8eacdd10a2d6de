//! The stored form of a record's body: its kind, a version of that kind, and the kind's own JSON.
//!
//! Stored JSON is never rewritten. When a kind's shape changes in a way that `serde` defaults do not bridge,
//! the kind's version here goes up by one, and [`read`] converts bodies of earlier versions. It converts text
//! to text, because a `Value` in between would reorder JSON that providers need back verbatim. All kinds have
//! version 1.

use crate::{
    error::{ReadError, Unreadable},
    hidden::HiddenBody,
};
use abide_protocol::{Seq, record::RecordBody};
use serde::{Serialize, de::DeserializeOwned};

/// The body of a record, in a conversation or in the hidden one.
pub(crate) trait Body: Serialize + DeserializeOwned {
    #[cfg(test)]
    const KINDS: &[&str];

    /// The body's kind (its tag in JSON) and the kind's current version.
    fn kind(&self) -> (&'static str, u32);

    /// The current version of a kind.
    fn version_of(kind: &str) -> Option<u32>;
}

/// A body in its stored form.
pub(crate) struct Stored {
    pub(crate) kind: &'static str,
    pub(crate) version: u32,
    /// `{"kind":body}`: [`Self::body`] cuts the body out.
    tagged: String,
}

macro_rules! kinds {
    ($body:ident { $($variant:ident $kind:literal $version:literal,)* }) => {
        impl Body for $body {
            #[cfg(test)]
            const KINDS: &[&str] = &[$($kind),*];

            fn kind(&self) -> (&'static str, u32) {
                match self { $(Self::$variant(_) => ($kind, $version),)* }
            }

            fn version_of(kind: &str) -> Option<u32> {
                match kind { $($kind => Some($version),)* _ => None }
            }
        }
    };
}

kinds!(RecordBody {
    ConversationCreated "conversation_created" 1,
    ConversationUpdated "conversation_updated" 1,
    ConversationArchived "conversation_archived" 1,
    ConversationDeleted "conversation_deleted" 1,
    TaskStarted "task_started" 1,
    UserMessage "user_message" 1,
    Notice "notice" 1,
    Nudge "nudge" 1,
    Update "update" 1,
    ModelRequested "model_requested" 1,
    ModelFailed "model_failed" 1,
    Reply "reply" 1,
    PartialReply "partial_reply" 1,
    CallAssessed "call_assessed" 1,
    ApprovalRequested "approval_requested" 1,
    ApprovalDecided "approval_decided" 1,
    RuleRemembered "rule_remembered" 1,
    CallStarted "call_started" 1,
    CallFinished "call_finished" 1,
    QuestionAsked "question_asked" 1,
    QuestionAnswered "question_answered" 1,
    Paused "paused" 1,
    Resumed "resumed" 1,
    LimitsRaised "limits_raised" 1,
    Compacted "compacted" 1,
    Restarted "restarted" 1,
    TaskEnded "task_ended" 1,
    ModelTraced "model_traced" 1,
    ResultsDelivered "results_delivered" 1,
    PhaseBegan "phase_began" 1,
    AgentMessage "agent_message" 1,
    Imported "imported" 1,
    Joining "joining" 1,
    Intervened "intervened" 1,
    Checkpointed "checkpointed" 1,
    UndoBegun "undo_begun" 1,
    UndoEnded "undo_ended" 1,
    ClockMoved "clock_moved" 1,
    Recalled "recalled" 1,
    Noted "noted" 1,
});

kinds!(HiddenBody {
    RuleAdded "rule_added" 1,
    RuleRemoved "rule_removed" 1,
    MemoryForgotten "memory_forgotten" 1,
    NoteAdded "note_added" 1,
    MemoryPruned "memory_pruned" 1,
    VectorsPruned "vectors_pruned" 1,
});

impl Stored {
    pub(crate) fn of(body: &impl Body) -> Result<Self, serde_json::Error> {
        let (kind, version) = body.kind();
        let tagged = serde_json::to_string(body)?;
        if !tagged[2..].starts_with(kind) {
            return Err(serde::ser::Error::custom(format!(
                "the table of kinds calls this record {kind}, its JSON does not"
            )));
        }
        Ok(Self { kind, version, tagged })
    }

    pub(crate) fn body(&self) -> &str {
        &self.tagged[self.kind.len() + r#"{"":"#.len()..self.tagged.len() - 1]
    }
}

/// Reads a stored body.
pub(crate) fn read<B: Body>(seq: Seq, kind: &str, version: u32, body: &str) -> Result<B, ReadError> {
    check::<B>(kind, version)
        .and_then(|()| Ok(serde_json::from_str(&format!(r#"{{"{kind}":{body}}}"#))?))
        .map_err(|reason| ReadError::Record { seq, kind: kind.to_owned(), reason })
}

/// Whether this version of Abide knows the form.
fn check<B: Body>(kind: &str, version: u32) -> Result<(), Unreadable> {
    let known = B::version_of(kind).ok_or(Unreadable::UnknownKind)?;
    if version > known { Err(Unreadable::NewerVersion { found: version, known }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::record::{Notice, NoticeKind};

    #[test]
    fn the_table_has_the_names_that_json_has() {
        assert_eq!(RecordBody::KINDS, <RecordBody as Body>::KINDS);
    }

    /// A column of the database holds both kinds of bodies.
    #[test]
    fn no_kind_of_hidden_records_has_the_name_of_another() {
        assert!(HiddenBody::KINDS.iter().all(|kind| RecordBody::version_of(kind).is_none()));
    }

    #[test]
    fn a_body_is_stored_without_its_tag() {
        let body = RecordBody::Notice(Notice { about: NoticeKind::Stopped, text: "\"a\":{}".to_owned() });
        let stored = Stored::of(&body).unwrap();
        assert_eq!((stored.kind, stored.version), ("notice", 1));
        assert_eq!(stored.body(), r#"{"about":"stopped","text":"\"a\":{}"}"#);
        assert_eq!(read::<RecordBody>(Seq(1), stored.kind, stored.version, stored.body()).unwrap(), body);
    }
}
