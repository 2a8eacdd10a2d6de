//! How a command of this program says that it has failed.

use crate::complain;
use serde_json::json;
use std::process::ExitCode;

/// As the exit codes of `abide`.
const FAILED: u8 = 1;
const NEEDS_PERSON: u8 = 4;

pub(crate) fn failed(words: &str, as_json: bool) -> ExitCode {
    report("failed", FAILED, words, as_json)
}

/// A person has to decide, and there is no terminal.
pub(crate) fn needs_person(words: &str, as_json: bool) -> ExitCode {
    report("needs_person", NEEDS_PERSON, words, as_json)
}

/// In JSON one line, with the fields that errors of `abide --json` have.
fn report(kind: &str, exit_code: u8, words: &str, as_json: bool) -> ExitCode {
    if as_json {
        let error = json!({
            "kind": kind,
            "message": words,
            "hint": null,
            "exitCode": exit_code,
            "retryable": false,
            "id": null,
            "candidates": [],
        });
        complain(&json!({ "error": error }).to_string());
    } else {
        complain(&format!("error: {words}"));
    }
    ExitCode::from(exit_code)
}
