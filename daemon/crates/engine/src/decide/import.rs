//! Checks the messages of an earlier conversation that a task is started with, and brings them into the order
//! that a provider requires.

use crate::mint::Mint;
use abide_protocol::{
    CallId, JsonText,
    method::task::{ImportCall, ImportMessage, ImportRole},
    record::{Imported, ImportedReply, ImportedResult, ImportedText},
    transcript::CallBlock,
};

/// Why messages cannot be imported. Messages are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("message {0} is empty: it needs a text, calls, or a result")]
    Empty(usize),
    #[error("message {0} has calls, but its role is not `assistant`")]
    CallsOfAnother(usize),
    #[error("message {0} has a result, but its role is not `user`")]
    ResultOfAnother(usize),
    #[error("message {0} has only one of `callId` and `result`; a result needs both")]
    HalfAResult(usize),
    #[error("message {0} has a result and something else; make them two messages")]
    MoreThanAResult(usize),
    #[error(
        "message {at} is a result of the call {call:?}, but no call with that id waits for one before it"
    )]
    NoCall { at: usize, call: String },
    #[error(
        "the call {call:?} of message {at} has no result; its result must follow before any other message"
    )]
    NoResult { at: usize, call: String },
    #[error("message {0} has a call without an id")]
    NoCallId(usize),
    #[error("message {at} has two calls with the id {call:?}")]
    RepeatedCall { at: usize, call: String },
    #[error("the arguments of the call {call:?} of message {at} are not a JSON object")]
    Arguments { at: usize, call: String },
}

/// The records of the messages, in order.
///
/// # Errors
/// One of the messages is refused, and so all are.
pub fn import(messages: &[ImportMessage], mint: &mut Mint) -> Result<Vec<Imported>, ImportError> {
    let mut import = Import { done: Vec::new(), owed: Vec::new(), reply: 0 };
    for (at, message) in (1..).zip(messages) {
        if message.call_id.is_some() || message.result.is_some() {
            import.result(at, message)?;
        } else {
            import.said(at, message, mint)?;
        }
    }
    import.settle()?;
    Ok(import.done)
}

struct Import {
    done: Vec<Imported>,
    /// The calls of the last reply, in order, with the results that have come.
    owed: Vec<(CallBlock, Option<String>)>,
    /// The message with the last reply.
    reply: usize,
}

impl Import {
    fn said(&mut self, at: usize, message: &ImportMessage, mint: &mut Mint) -> Result<(), ImportError> {
        self.settle()?;
        let ImportMessage { role, text, tool_calls, .. } = message;
        if *role != ImportRole::Assistant && !tool_calls.is_empty() {
            return Err(ImportError::CallsOfAnother(at));
        }
        if text.trim().is_empty() && tool_calls.is_empty() {
            return Err(ImportError::Empty(at));
        }
        let said = ImportedText { text: text.clone() };
        match role {
            ImportRole::User => self.done.push(Imported::User(said)),
            ImportRole::System => self.done.push(Imported::System(said)),
            ImportRole::Assistant => {
                let calls = calls(at, tool_calls, mint)?;
                self.reply = at;
                self.owed = calls.iter().map(|call| (call.clone(), None)).collect();
                self.reply(ImportedReply { text: said.text, calls });
            }
        }
        Ok(())
    }

    /// Adds a reply. Some chat templates refuse a reply after a reply, so two in a row become one.
    fn reply(&mut self, reply: ImportedReply) {
        match self.done.last_mut() {
            // All results of the last reply have come, so if it is the last entry it has no calls.
            Some(Imported::Assistant(last)) => {
                if !reply.text.trim().is_empty() {
                    last.text.push_str("\n\n");
                    last.text.push_str(&reply.text);
                }
                last.calls = reply.calls;
            }
            _ => self.done.push(Imported::Assistant(reply)),
        }
    }

    fn result(&mut self, at: usize, message: &ImportMessage) -> Result<(), ImportError> {
        let ImportMessage { role, text, tool_calls, call_id, result } = message;
        let (Some(id), Some(result)) = (call_id, result) else { return Err(ImportError::HalfAResult(at)) };
        if *role != ImportRole::User {
            return Err(ImportError::ResultOfAnother(at));
        }
        if !text.trim().is_empty() || !tool_calls.is_empty() {
            return Err(ImportError::MoreThanAResult(at));
        }
        let waiting = self.owed.iter_mut().find(|(call, result)| call.provider_id == *id && result.is_none());
        let (_, place) = waiting.ok_or_else(|| ImportError::NoCall { at, call: id.clone() })?;
        *place = Some(as_text(result));
        Ok(())
    }

    /// Adds the results of the last reply's calls, in the order of the calls.
    fn settle(&mut self) -> Result<(), ImportError> {
        for (call, result) in self.owed.drain(..) {
            let CallBlock { id: call_id, provider_id, tool, .. } = call;
            let Some(text) = result else {
                return Err(ImportError::NoResult { at: self.reply, call: provider_id });
            };
            self.done.push(Imported::Result(ImportedResult { call_id, provider_id, tool, text }));
        }
        Ok(())
    }
}

fn calls(at: usize, calls: &[ImportCall], mint: &mut Mint) -> Result<Vec<CallBlock>, ImportError> {
    let mut blocks: Vec<CallBlock> = Vec::new();
    for ImportCall { id, tool, arguments } in calls {
        if id.is_empty() {
            return Err(ImportError::NoCallId(at));
        }
        let call = id.clone();
        if blocks.iter().any(|block| block.provider_id == *id) {
            return Err(ImportError::RepeatedCall { at, call });
        }
        let arguments = as_text(arguments);
        if !matches!(serde_json::from_str(&arguments), Ok(serde_json::Value::Object(_))) {
            return Err(ImportError::Arguments { at, call });
        }
        blocks.push(CallBlock {
            id: CallId(mint.uuid()),
            provider_id: call,
            tool: tool.clone(),
            arguments,
            opaque: None,
        });
    }
    Ok(blocks)
}

/// The content of a JSON text; other JSON as it is.
fn as_text(json: &JsonText) -> String {
    serde_json::from_str(json.as_str()).unwrap_or_else(|_| json.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_protocol::Timestamp;
    use serde_json::{Value, json};

    fn imported(messages: &Value) -> Result<Vec<Imported>, String> {
        let messages: Vec<ImportMessage> =
            serde_json::from_value(messages.clone()).map_err(|e| e.to_string())?;
        import(&messages, &mut Mint::new(Timestamp(1_700_000_000_000), 1)).map_err(|e| e.to_string())
    }

    /// A line for each record.
    fn lines(messages: &Value) -> Vec<String> {
        let line = |imported: &Imported| match imported {
            Imported::User(said) => format!("user {}", said.text),
            Imported::System(said) => format!("system {}", said.text),
            Imported::Assistant(reply) => format!("assistant {}", reply.shown()),
            Imported::Result(result) => format!("{} {}", result.provider_id, result.text),
        };
        imported(messages).unwrap().iter().map(line).collect()
    }

    #[test]
    fn results_come_in_call_order_and_replies_in_a_row_become_one() {
        assert_eq!(imported(&json!([])), Ok(Vec::new()));
        let messages = json!([
            { "role": "system", "text": "Be brief." },
            { "role": "user", "text": "Look." },
            { "role": "assistant", "text": "I look." },
            { "role": "assistant", "toolCalls": [
                { "id": "a", "tool": "read", "arguments": { "path": "x" } },
                { "id": "b", "tool": "list", "arguments": "{ \"path\": \".\" }" },
            ] },
            { "role": "user", "callId": "b", "result": ["x", "y"] },
            { "role": "user", "callId": "a", "result": "two\nlines" },
            // The same id again, in another reply.
            { "role": "assistant", "toolCalls": [{ "id": "a", "tool": "list" }] },
            { "role": "user", "callId": "a", "result": "" },
            { "role": "assistant", "text": "All there." },
        ]);
        assert_eq!(
            lines(&messages),
            [
                "system Be brief.",
                "user Look.",
                "assistant I look.\n\n[Called read with {\"path\":\"x\"}]\n\n[Called list with { \"path\": \".\" }]",
                "a two\nlines",
                r#"b ["x","y"]"#,
                "assistant [Called list with {}]",
                "a ",
                "assistant All there.",
            ]
        );
    }

    #[test]
    fn every_call_and_its_result_have_an_id_of_their_own() {
        let reply = json!({ "role": "assistant", "toolCalls": [{ "id": "a", "tool": "read" }] });
        let result = json!({ "role": "user", "callId": "a", "result": "x" });
        let imported = imported(&json!([reply, result, reply, result])).unwrap();
        let ids: Vec<CallId> = imported
            .iter()
            .map(|imported| match imported {
                Imported::Assistant(reply) => reply.calls[0].id,
                Imported::Result(result) => result.call_id,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(ids[0] == ids[1] && ids[2] == ids[3] && ids[0] != ids[2], "{ids:?}");
    }

    #[test]
    fn what_cannot_be_imported_is_refused_with_its_place() {
        let call = |id: &str| json!({ "id": id, "tool": "read" });
        let asks = json!({ "role": "assistant", "toolCalls": [call("a"), call("b")] });
        let result = |id: &str| json!({ "role": "user", "callId": id, "result": "x" });
        let hello = json!({ "role": "user", "text": "Hello." });
        let table = [
            (json!([hello, result("a")]), "message 2 is a result of the call \"a\""),
            (json!([asks, result("c")]), "message 2 is a result of the call \"c\""),
            (json!([asks, result("a"), result("a")]), "message 3 is a result of the call \"a\""),
            (json!([asks, result("a"), result("b"), hello, result("b")]), "message 5 is a result"),
            (json!([hello, asks]), "the call \"a\" of message 2 has no result"),
            (json!([hello, asks, result("a")]), "the call \"b\" of message 2 has no result"),
            (json!([asks, result("a"), hello, result("b")]), "the call \"b\" of message 1 has no result"),
            (json!([{ "role": "user", "text": " \n" }]), "message 1 is empty"),
            (json!([hello, { "role": "assistant" }]), "message 2 is empty"),
            (json!([{ "role": "user", "toolCalls": [call("a")] }]), "message 1 has calls"),
            (json!([{ "role": "system", "toolCalls": [call("a")] }]), "message 1 has calls"),
            (
                json!([asks, { "role": "assistant", "callId": "a", "result": "x" }]),
                "message 2 has a result, but",
            ),
            (json!([asks, { "role": "user", "callId": "a" }]), "message 2 has only one of"),
            (json!([asks, { "role": "user", "result": "x" }]), "message 2 has only one of"),
            (json!([asks, { "role": "user", "callId": "a", "result": null }]), "message 2 has only one of"),
            (
                json!([asks, { "role": "user", "text": "t", "callId": "a", "result": "x" }]),
                "message 2 has a result and",
            ),
            (json!([{ "role": "assistant", "toolCalls": [call("")] }]), "message 1 has a call without an id"),
            (
                json!([{ "role": "assistant", "toolCalls": [call("a"), call("a")] }]),
                "two calls with the id \"a\"",
            ),
            (
                json!([{ "role": "assistant", "toolCalls": [{ "id": "a", "tool": "read", "arguments": "no" }] }]),
                "the arguments of the call \"a\" of message 1",
            ),
            (json!([{ "role": "tool", "text": "x" }]), "unknown variant `tool`"),
            (json!([{ "text": "x" }]), "missing field `role`"),
        ];
        for (messages, says) in table {
            let error = imported(&messages).expect_err(says);
            assert!(error.contains(says), "{error}, not {says}");
        }
    }
}
