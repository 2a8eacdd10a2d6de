//! What is read in a model's text.

use crate::plan::reply;
use abide_engine::{AgentPlan, Mint, Reading, Turn};
use abide_protocol::{
    record::{ControlBlock, ObserveBlock, ReasonBlock, SummarizeBlock},
    task::{Mode, Phase},
    transcript::StopReason,
};
use serde_json::json;

fn read(mode: Mode, phase: Phase, text: &str) -> Reading {
    let mut reply = reply(StopReason::EndTurn, text, &[], &[], 0);
    Turn { mode, phase: Some(phase), may_ask: true }.read(&mut reply, &mut Mint::new(crate::world::DAWN, 1))
}

fn reason(text: &str) -> Option<(String, bool, Option<String>)> {
    let reading = read(Mode::Roa, Phase::Reason, text);
    let Some(ControlBlock::Reason(ReasonBlock { plan, finish, .. })) = reading.control else {
        assert_eq!(reading, Reading::default());
        return None;
    };
    Some((plan, finish, reading.text))
}

#[test]
fn the_last_fence_or_else_the_last_object_is_the_block() {
    let found = |plan: &str, finish, shown: &str| Some((plan.to_owned(), finish, Some(shown.to_owned())));
    let table = [
        // A fence.
        ("Yes.\n```json\n{\"plan\": \"a\", \"finish\": true}\n```\n", found("a", true, "Yes.")),
        (
            "```json\n{\"plan\": \"a\"}\n```\nand\n```json\n{\"plan\": \"b\"}\n```",
            found("b", false, "```json\n{\"plan\": \"a\"}\n```\nand"),
        ),
        ("One.\n```json\n{\"plan\": \"a\"}\n```\nTwo.", found("a", false, "One.\n\nTwo.")),
        ("```json\n{\"plan\": \"cut off\"}", found("cut off", false, "cut off")),
        // An object.
        ("{\"plan\": \"a\"}", found("a", false, "a")),
        ("Say {\"x\": 1} and {\"plan\": \"a\"} here", found("a", false, "Say {\"x\": 1} and\n\nhere")),
        ("A brace { and {\"plan\": \"{\\\"\"}", found("{\"", false, "A brace { and")),
        ("{\"plan\": {\"plan\": \"inner\"}, \"finish\": true}", found("", true, "")),
        // The block is in the text, beside a fence that is none.
        ("{\"plan\": \"a ```json b\"}", found("a ```json b", false, "a ```json b")),
        ("{\"plan\": \"a\"}\n```json\n[1]\n```", found("a", false, "```json\n[1]\n```")),
        // Wrong fields take their default, and of equal names the last one counts.
        ("{\"plan\": 3, \"finish\": \"yes\"}", found("", false, "")),
        ("{\"plan\": \"a\", \"plan\": \"b\"}", found("b", false, "b")),
        // No block.
        ("", None),
        ("Just words.", None),
        ("{\"plan\": ", None),
        ("{}", None),
        ("{\"other\": 1}", None),
        ("```json\n[1]\n```", None),
    ];
    for (text, expected) in table {
        assert_eq!(reason(text), expected, "{text}");
    }
}

#[test]
fn an_observation_goes_on_unless_it_says_otherwise() {
    let reading = read(
        Mode::Roa,
        Phase::Observe,
        "{\"observation\": \"o\", \"should_continue\": 0, \"final_answer\": null}",
    );
    let expected = ObserveBlock { observation: "o".to_owned(), ..ObserveBlock::default() };
    assert!(expected.should_continue);
    assert_eq!(reading.control, Some(ControlBlock::Observe(expected)));
}

#[test]
fn a_block_is_hidden_while_it_is_streamed() {
    let table = [
        ("Words alone.", "Words alone."),
        ("Words.\n```json\n{\"plan\": 1}\n```\nMore.", "Words.\n"),
        ("{\"plan\": 1} and more", ""),
        ("Words.\n\n  {\"plan\"", "Words.\n"),
        ("In {a} line.", "In"),
        ("Code:\n```rust\nfn a();\n```\nEnd.\n", "Code:\n```rust\nfn a();\n```\nEnd."),
        ("\n\nBlanks first.", ""),
        ("é\n``", "é\n"),
    ];
    for (text, shown) in table {
        let turn = |phase| Turn { mode: Mode::Roa, phase, may_ask: true };
        let mut filter = turn(Some(Phase::Observe)).block_filter();
        assert_eq!(filter.push(text).trim_end(), shown.trim_end(), "{text}");
        let mut filter = turn(Some(Phase::Reason)).block_filter();
        let pieces: String = text.chars().map(|c| filter.push(&c.to_string())).collect();
        assert_eq!(pieces.trim_end(), shown.trim_end(), "{text}, by the character");
        assert_eq!(turn(Some(Phase::Act)).block_filter().push(text), text);
        assert_eq!(turn(None).block_filter().push(text), text);
    }
}

/// Clients count what they have of a text by its bytes.
#[test]
fn what_is_streamed_is_the_beginning_of_what_is_read() {
    let blocks = [
        r#"{"plan": "p", "finish": true}"#,
        r#"{"observation": "o"}"#,
        r#"{"tool_calls": [], "reasoning": "r"}"#,
        r#"{"subquestions": []}"#,
        r#"{"ambiguous": true, "question": "q"}"#,
        r#"{"missing": true, "question": "q"}"#,
        r#"{"answer": "a"}"#,
        r#"{"no": "block"}"#,
        "{",
        "no block",
    ];
    let around = [
        ("", ""),
        (" ", "\n"),
        ("Words. \n\n", ""),
        ("\n Words: ", " More.\n"),
        ("In {a} line `x` ", "."),
        ("Words\n```json\n", "\n```\nMore."),
        ("Words ```json ", " ```"),
        ("```json\n{}\n```\n  ", "\n``"),
        ("é ``\u{a0}", "\u{2003}"),
    ];
    let phases = [
        (Mode::Roa, Phase::Reason),
        (Mode::Roa, Phase::Observe),
        (Mode::Plan, Phase::Plan),
        (Mode::Tree, Phase::Clarify),
        (Mode::Tree, Phase::Inquire),
        (Mode::Tree, Phase::Split),
        (Mode::Tree, Phase::Summarize),
    ];
    for (mode, phase) in phases {
        for (block, (before, after)) in blocks.iter().flat_map(|block| around.map(|around| (block, around))) {
            let text = format!("{before}{block}{after}");
            let shown = read(mode, phase, &text).text.unwrap_or_else(|| text.clone());
            for size in [1, 3, 1000] {
                let mut filter = Turn { mode, phase: Some(phase), may_ask: true }.block_filter();
                let chars: Vec<char> = text.chars().collect();
                let streamed: String =
                    chars.chunks(size).map(|piece| filter.push(&piece.iter().collect::<String>())).collect();
                assert!(shown.starts_with(&streamed), "{phase:?} {text:?}: {streamed:?} of {shown:?}");
            }
        }
    }
}

#[test]
fn a_plan_that_cannot_be_read_is_left_out_from_its_line_on() {
    let table = [
        ("Words.\n{\"plan", "Words."),
        ("In {a} line. \n\n  ```json\n{", "In {a} line."),
        ("é\n``", "é"),
        ("  a\n\n``\nb\n", "  a\n\n``\nb"),
        ("{", ""),
    ];
    for (text, shown) in table {
        assert_eq!(read(Mode::Plan, Phase::Plan, text).text.as_deref(), Some(shown), "{text:?}");
    }
}

#[test]
fn a_huge_or_a_deep_block_is_free_text() {
    let huge = format!("{{\"plan\": \"{}\"}}", "x".repeat(1 << 20));
    let deep = format!("{{\"plan\": {}1{}}}", "[".repeat(1000), "]".repeat(1000));
    let unclosed = "{\"plan\": ".repeat(20_000);
    for text in [huge, deep, unclosed] {
        assert_eq!(reason(&text), None);
    }
}

#[test]
fn a_plans_calls_are_read_in_order() {
    let table = [
        (
            r#"{"tool_calls": [{"tool_name": "read", "parameters": {"path": "a"}}], "is_complete": true, "reasoning": "So."}"#,
            vec![("read", r#"{"path":"a"}"#), ("task_complete", r#"{"summary":"So."}"#)],
        ),
        (
            r#"{"question": "Which?", "tool_calls": [{"tool_name": "read"}], "is_complete": true}"#,
            vec![("ask_user", r#"{"question":"Which?"}"#), ("read", "{}")],
        ),
        (r#"{"is_complete": true}"#, vec![("task_complete", r#"{"summary":"Done."}"#)]),
        (
            r#"{"question": " ", "tool_calls": [{"tool_name": 1, "parameters": "x"}, 7]}"#,
            vec![("", "\"x\""), ("", "{}")],
        ),
        (r#"{"question": null, "tool_calls": {}}"#, vec![]),
        ("No plan.", vec![]),
    ];
    for (text, expected) in table {
        let reading = read(Mode::Plan, Phase::Plan, text);
        let calls: Vec<_> =
            reading.calls.iter().map(|call| (call.tool.as_str(), call.arguments.as_str())).collect();
        assert_eq!(calls, expected, "{text}");
    }
    let call = r#"{"tool_name": "read", "parameters": {}}"#;
    let many = |n: usize| format!(r#"{{"tool_calls": [{}]}}"#, vec![call; n].join(","));
    assert_eq!(read(Mode::Plan, Phase::Plan, &many(32)).calls.len(), 32);
    assert!(read(Mode::Plan, Phase::Plan, &many(33)).calls.is_empty());
    for (text, shown) in [("No plan.", "No plan."), ("So:\n{\"tool_calls\": [", "So:"), ("{\"reas", "")] {
        assert_eq!(read(Mode::Plan, Phase::Plan, text).text.as_deref(), Some(shown), "{text}");
    }
}

#[test]
fn a_plan_is_data_too() {
    let read = |stop, text: &str| AgentPlan::read(&reply(stop, text, &[], &[], 0)).map(|plan| json!(plan));
    let text =
        r#"So: {"tool_calls": [{"tool_name": "read", "parameters": {"path": "a"}}, 7], "reasoning": "r"}"#;
    let calls =
        json!([{"tool_name": "read", "parameters": {"path": "a"}}, {"tool_name": "", "parameters": {}}]);
    let plan = json!({"reasoning": "r", "tool_calls": calls, "question": null, "is_complete": false});
    assert_eq!(read(StopReason::EndTurn, text), Some(plan));
    for cut in [StopReason::Length, StopReason::Unfinished] {
        assert_eq!(read(cut, text), None);
    }
    assert_eq!(read(StopReason::EndTurn, "No plan."), None);
    let asks = read(StopReason::EndTurn, r#"{"question": "Which?", "is_complete": true}"#).expect("a plan");
    assert_eq!((&asks["question"], &asks["is_complete"]), (&json!("Which?"), &json!(false)));
}

#[test]
fn the_phases_of_tree_decide_by_calls_and_a_bad_block_decides_nothing() {
    use Phase::{Clarify, Inquire, Split, Summarize};
    let ask = |question: &str| ("ask_user", format!(r#"{{"question":"{question}"}}"#));
    let fork = |prompt: &str| ("fork", format!(r#"{{"prompt":"{prompt}"}}"#));
    let table = [
        (Clarify, r#"{"ambiguous": true, "question": "Which?"}"#, vec![ask("Which?")]),
        (Clarify, r#"{"ambiguous": false, "question": "Which?"}"#, vec![]),
        (Clarify, r#"{"ambiguous": true, "question": " "}"#, vec![]),
        (Clarify, r#"{"ambiguous": "true", "question": "Which?"}"#, vec![]),
        (Clarify, r#"{"ambiguous": true, "question": ["Which?"]}"#, vec![]),
        (Clarify, r#"{"question": "Which?"}"#, vec![]),
        (Clarify, r#"{"ambiguous": true, "question": "#, vec![]),
        (Clarify, r#"{"missing": true, "question": "Which?"}"#, vec![]),
        (Inquire, r#"{"missing": true, "question": "Where?"}"#, vec![ask("Where?")]),
        (Inquire, "Nothing is missing.", vec![]),
        (Split, r#"{"subquestions": ["a", "b"]}"#, vec![fork("a"), fork("b")]),
        (
            Split,
            r#"{"subquestions": ["1", "2", "3", "4", "5", "6"]}"#,
            vec![fork("1"), fork("2"), fork("3"), fork("4")],
        ),
        (Split, r#"{"subquestions": ["", " ", 7, null, ["x"], "a"]}"#, vec![fork("a")]),
        (Split, r#"{"subquestions": "a"}"#, vec![]),
        (Split, r#"{"subquestions": []}"#, vec![]),
        (Split, r#"{"parts": ["a"]}"#, vec![]),
        (Summarize, r#"{"answer": "A", "uncertain": true, "question": "Right?"}"#, vec![ask("Right?")]),
        (Summarize, r#"{"answer": "A", "uncertain": false, "question": "Right?"}"#, vec![]),
        (Summarize, r#"{"answer": "A", "uncertain": true, "question": null}"#, vec![]),
        (Summarize, "Just words.", vec![]),
    ];
    for (phase, text, expected) in table {
        let reading = read(Mode::Tree, phase, text);
        let calls: Vec<_> =
            reading.calls.iter().map(|call| (call.tool.as_str(), call.arguments.clone())).collect();
        assert_eq!(calls, expected, "{phase:?}: {text}");
    }
}

#[test]
fn people_see_the_text_of_a_phase_of_tree_without_its_block() {
    let table = [
        (Phase::Clarify, "Clear.\n{\"ambiguous\": false}", Some("Clear.")),
        (Phase::Clarify, "{\"ambiguous\": false}", Some("")),
        (Phase::Split, "Two parts.\n```json\n{\"subquestions\": []}\n```", Some("Two parts.")),
        (Phase::Summarize, "{\"answer\": \"42\"}", Some("42")),
        (Phase::Summarize, "So.\n{\"answer\": \"42\"}", Some("So.")),
        (Phase::Summarize, "Free text.", None),
    ];
    for (phase, text, shown) in table {
        assert_eq!(read(Mode::Tree, phase, text).text.as_deref(), shown, "{text}");
    }
}

#[test]
fn a_summary_that_may_not_ask_asks_nothing() {
    let text = r#"{"answer": "A", "uncertain": true, "question": "Right?"}"#;
    let mut reply = reply(StopReason::EndTurn, text, &[], &[], 0);
    let turn = Turn { mode: Mode::Tree, phase: Some(Phase::Summarize), may_ask: false };
    let reading = turn.read(&mut reply, &mut Mint::new(crate::world::DAWN, 1));
    assert!(reading.calls.is_empty());
    let block = SummarizeBlock { answer: "A".to_owned(), uncertain: true };
    assert_eq!(reading.control, Some(ControlBlock::Summarize(block)));
}

/// A model that loops may write without end.
#[test]
fn an_object_of_more_than_64_kib_is_no_block() {
    for (bytes, is_read) in [(64 * 1024, true), (64 * 1024 + 1, false)] {
        let around = r#"{"plan": ""}"#.len();
        let object = format!(r#"{{"plan": "{}"}}"#, "x".repeat(bytes - around));
        assert_eq!(object.len(), bytes);
        assert_eq!(reason(&format!("```json{object}```")).is_some(), is_read, "{bytes}");
    }
}
