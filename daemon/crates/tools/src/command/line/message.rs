//! The messages on a line, each a line of JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest line, in bytes, without its newline.
pub(super) const MAX_LINE: usize = 256 * 1024;

/// From the code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) verb: Verb,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Fork, with the prompt.
    Fork(String),
    /// Wait, with the handle.
    Wait(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    id: u64,
    fork: Option<String>,
    wait: Option<String>,
}

impl Request {
    /// `None`: the line is no request.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let Fields { id, fork, wait } = serde_json::from_slice(line).ok()?;
        let verb = match (fork, wait) {
            (Some(prompt), None) => Verb::Fork(prompt),
            (None, Some(handle)) => Verb::Wait(handle),
            _ => return None,
        };
        Some(Self { id, verb })
    }
}

/// To the code.
#[derive(Serialize)]
pub(super) struct Reply<'a> {
    /// The request's id. Absent in the last words before the line is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    #[serde(flatten)]
    pub(super) answer: Answered<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answered<'a> {
    Handle(&'a str),
    Result(&'a Value),
    Error(&'a str),
}

impl Reply<'_> {
    /// The whole line, or an error in place of a line that is too long.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        if line.is_empty() || line.len() > MAX_LINE {
            let answer = Answered::Error("the answer is too long for the line");
            line = serde_json::to_vec(&Reply { id: self.id, answer }).unwrap_or_default();
        }
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_an_id_and_one_verb() {
        let fork = Request { id: 1, verb: Verb::Fork("a\n".to_owned()) };
        assert_eq!(Request::parse(br#"{"id":1,"fork":"a\n"}"#), Some(fork));
        let wait = Request { id: u64::MAX, verb: Verb::Wait("h".to_owned()) };
        assert_eq!(Request::parse(br#" {"wait":"h", "id":18446744073709551615} "#), Some(wait));
        for line in [
            &b""[..],
            b"nonsense",
            b"[]",
            b"{}",
            br#"{"id":1}"#,
            br#"{"fork":"a"}"#,
            br#"{"id":1,"fork":"a","wait":"b"}"#,
            br#"{"id":1,"id":2,"fork":"a"}"#,
            br#"{"id":-1,"fork":"a"}"#,
            br#"{"id":"1","fork":"a"}"#,
            br#"{"id":1,"fork":5}"#,
            br#"{"id":1,"tell":"a"}"#,
            br#"{"id":1,"fork":"a","tools":[]}"#,
            br#"{"id":1,"fork":"a"}{"id":2,"fork":"b"}"#,
            b"{\"id\":1,\"fork\":\"\xff\"}",
        ] {
            assert_eq!(Request::parse(line), None, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_reply_is_one_line() {
        let line = |id, answer| String::from_utf8(Reply { id, answer }.line()).unwrap();
        assert_eq!(line(Some(1), Answered::Handle("h")), "{\"id\":1,\"handle\":\"h\"}\n");
        let result = json!({ "result": "a\nb" });
        assert_eq!(
            line(Some(2), Answered::Result(&result)),
            "{\"id\":2,\"result\":{\"result\":\"a\\nb\"}}\n"
        );
        assert_eq!(line(None, Answered::Error("no")), "{\"error\":\"no\"}\n");
        let long = json!("x".repeat(MAX_LINE));
        assert_eq!(
            line(Some(3), Answered::Result(&long)),
            "{\"id\":3,\"error\":\"the answer is too long for the line\"}\n"
        );
    }
}
