//! The digest of a rule's call: key order and white space of the arguments make no difference.

use crate::rule_id::RuleId;
use abide_protocol::inbox::TextRule;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// SHA-256 of tool, workspace and arguments; `None` if the arguments are not JSON, which no rule can have.
pub(crate) fn rule_digest(tool: &str, arguments: &str, workspace: &str) -> Option<RuleId> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let mut canonical = String::new();
    write(&mut canonical, &arguments);
    Some(digest([tool, workspace, &canonical]))
}

/// SHA-256 of a rule's workspace and text. Its first part is no tool's name, so no call has the same digest.
pub(crate) fn text_digest(rule: &TextRule) -> RuleId {
    digest(["(rule)", &rule.workspace, &rule.text])
}

fn digest(parts: [&str; 3]) -> RuleId {
    let mut digest = Sha256::new();
    for part in parts {
        // The length delimits the parts.
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    RuleId(digest.finalize().into())
}

/// Sorts the keys, whatever order `serde_json` was built to keep. The nesting limit of `serde_json` bounds
/// the recursion.
fn write(out: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, value)) in fields.into_iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write(out, &Value::from(key.as_str()));
                out.push(':');
                write(out, value);
            }
            out.push('}');
        }
        Value::Array(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write(out, value);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_shell(arguments: &str) -> Option<RuleId> {
        rule_digest("shell", arguments, "/w")
    }

    #[test]
    fn key_order_and_white_space_make_no_difference_at_any_depth() {
        let one = of_shell(r#"{"a":1,"b":[{"c":"é","d":null}]}"#);
        assert!(one.is_some());
        assert_eq!(one, of_shell(" { \"b\" : [ { \"d\":null, \"c\":\"\\u00e9\" } ], \"a\" : 1 } "));
    }

    #[test]
    fn everything_else_makes_a_difference() {
        let texts = [
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":"1"}"#,
            r#"{"a":[1]}"#,
            r#"{"b":1}"#,
            "{}",
            "[1,2]",
            "[2,1]",
            "[12]",
        ];
        for (i, a) in texts.iter().enumerate() {
            for b in &texts[i + 1..] {
                assert_ne!(of_shell(a), of_shell(b), "{a} {b}");
            }
        }
        assert_ne!(rule_digest("ab", "1", "c"), rule_digest("a", "1", "bc"));
    }

    /// Digests are stored: if they changed, remembered decisions would be lost.
    #[test]
    fn the_digest_of_a_stored_rule_stays_what_it_is() {
        let digest = of_shell(r#"{"b":[1,"x"],"a":{"c":true,"d":null}}"#).unwrap();
        assert_eq!(digest.to_string(), "a2d9d19fb107d4852563df41bb0e679c472a71dc5f94abe6615c0d02085e21dc");
    }

    #[test]
    fn text_that_is_not_json_has_no_of_shell() {
        assert_eq!(of_shell("{"), None);
        assert_eq!(of_shell(&"[".repeat(100_000)), None);
    }
}
