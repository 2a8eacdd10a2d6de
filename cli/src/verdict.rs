//! The result of answering or deciding, when another client may have been first.

use crate::{
    clock,
    error::CommandError,
    exit::Exit,
    output::{json, measure, screen, text},
};
use abide_client::protocol::{
    Timestamp,
    inbox::Decision,
    method::inbox::{DecideApprovalReply, UserResponseReply},
};
use serde::Serialize;

/// The answer or decision that counts, in words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// It is the one that was asked for, even if another client sent it, or this one before its connection
    /// was cut.
    pub(crate) as_asked: bool,
    pub(crate) words: String,
}

impl Verdict {
    /// Of an answer to a question.
    pub(crate) fn of_answer(reply: &UserResponseReply, sent: Option<&str>) -> Self {
        Self::of_answer_at(reply, sent, clock::now())
    }

    fn of_answer_at(reply: &UserResponseReply, sent: Option<&str>, now: Timestamp) -> Self {
        let what = reply.response.as_deref().map(text::one_line);
        let as_asked = reply.response.as_deref() == sent;
        let words = match (what, since(reply.first_at, now)) {
            (Some(what), None) => format!("answered: {what}"),
            (None, None) => "declined".to_owned(),
            (Some(what), Some(since)) => {
                format!("already answered{since}: {what}{}", lost(as_asked, "answer"))
            }
            (None, Some(since)) => format!("already declined{since}{}", lost(as_asked, "answer")),
        };
        Self { as_asked, words }
    }

    /// Of a decision on an approval. `about`: what was decided, if it was open.
    pub(crate) fn of_decision(reply: &DecideApprovalReply, sent: Decision, about: Option<&str>) -> Self {
        Self::of_decision_at(reply, sent, about, clock::now())
    }

    fn of_decision_at(
        reply: &DecideApprovalReply,
        sent: Decision,
        about: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let what = if reply.decision.allows() { "allowed" } else { "rejected" };
        let kind = match reply.decision {
            Decision::AllowAlways | Decision::RejectAlways => ", always",
            Decision::AllowForTask => ", for this task",
            Decision::AllowOnce | Decision::RejectOnce => "",
        };
        let same = reply.decision.allows() == sent.allows();
        let is_lasting = |decision: Decision| decision.is_always() || decision == Decision::AllowForTask;
        // If `always` was sent and only `once` counts, nothing is remembered: that is not as asked.
        let as_asked = same && (is_lasting(reply.decision) || !is_lasting(sent));
        let words = match since(reply.first_at, now) {
            None => {
                let about = about.map(|about| format!(": {about}")).unwrap_or_default();
                format!("{what}{kind}{about}")
            }
            Some(since) if as_asked => format!("already {what}{kind}{since}"),
            Some(since) if same => format!("already {what}{since}, this once; nothing is remembered"),
            Some(since) => {
                let yours = if sent.allows() { "approval" } else { "rejection" };
                format!("already {what}{kind}{since}{}", lost(false, yours))
            }
        };
        Self { as_asked, words }
    }

    /// Prints it; the exit code is success if what counts is what was asked for.
    pub(crate) fn end(self, reply: &impl Serialize, json: bool) -> Result<Exit, CommandError> {
        if json {
            json::document(reply)?;
            return Ok(if self.as_asked { Exit::Done } else { Exit::Failed });
        }
        if !self.as_asked {
            return Err(CommandError::failed(self.words));
        }
        screen::print(&format!("{}\n", self.words))?;
        Ok(Exit::Done)
    }
}

/// Since when another answer or decision counts; `None` if this one does.
fn since(first_at: Option<Timestamp>, now: Timestamp) -> Option<String> {
    first_at.map(|at| format!(" {}", measure::ago(at, now)))
}

fn lost(as_asked: bool, yours: &str) -> String {
    if as_asked { String::new() } else { format!("; your {yours} did not count") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Timestamp = Timestamp(1_000_000);
    const NOW: Timestamp = Timestamp(1_000_000 + 180_000);

    #[test]
    fn a_decision_counts_as_asked_or_not() {
        use Decision as D;
        let table = [
            (None, D::AllowOnce, D::AllowOnce, true, "allowed: make it"),
            (None, D::AllowAlways, D::AllowAlways, true, "allowed, always: make it"),
            (None, D::RejectOnce, D::RejectOnce, true, "rejected: make it"),
            (Some(FIRST), D::AllowOnce, D::AllowOnce, true, "already allowed 3 min ago"),
            (Some(FIRST), D::AllowOnce, D::AllowAlways, true, "already allowed, always 3 min ago"),
            (
                Some(FIRST),
                D::AllowAlways,
                D::AllowOnce,
                false,
                "already allowed 3 min ago, this once; nothing is remembered",
            ),
            (
                Some(FIRST),
                D::AllowOnce,
                D::RejectOnce,
                false,
                "already rejected 3 min ago; your approval did not count",
            ),
            (
                Some(FIRST),
                D::RejectOnce,
                D::AllowAlways,
                false,
                "already allowed, always 3 min ago; your rejection did not count",
            ),
        ];
        for (first_at, sent, decision, as_asked, words) in table {
            let reply = DecideApprovalReply { won: first_at.is_none(), decision, first_at };
            let expected = Verdict { as_asked, words: words.to_owned() };
            assert_eq!(Verdict::of_decision_at(&reply, sent, Some("make it"), NOW), expected);
        }
    }

    #[test]
    fn an_answer_counts_as_asked_or_not() {
        let table = [
            (None, Some("blue"), Some("blue"), true, "answered: blue"),
            (None, None, None, true, "declined"),
            (Some(FIRST), Some("blue"), Some("blue"), true, "already answered 3 min ago: blue"),
            (Some(FIRST), None, None, true, "already declined 3 min ago"),
            (
                Some(FIRST),
                Some("blue"),
                Some("red\u{1b}"),
                false,
                "already answered 3 min ago: red\\x1b; your answer did not count",
            ),
            (Some(FIRST), Some("blue"), None, false, "already declined 3 min ago; your answer did not count"),
            (
                Some(FIRST),
                None,
                Some("red"),
                false,
                "already answered 3 min ago: red; your answer did not count",
            ),
        ];
        for (first_at, sent, response, as_asked, words) in table {
            let response = response.map(str::to_owned);
            let reply = UserResponseReply { won: first_at.is_none(), response, first_at };
            let expected = Verdict { as_asked, words: words.to_owned() };
            assert_eq!(Verdict::of_answer_at(&reply, sent, NOW), expected);
        }
    }
}
