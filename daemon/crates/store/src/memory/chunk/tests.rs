use super::*;
use abide_protocol::record::{Notice, NoticeKind, Nudge, UserMessage};
use serde_json::{Value, json};

fn body(kind: &str, fields: Value) -> RecordBody {
    serde_json::from_value(Value::Object([(kind.to_owned(), fields)].into_iter().collect())).unwrap()
}

fn user(text: &str) -> RecordBody {
    RecordBody::UserMessage(UserMessage { text: text.to_owned() })
}

fn agent(text: &str) -> RecordBody {
    body("agent_message", json!({ "text": text }))
}

fn call(summary: &str) -> RecordBody {
    call_of("unsafe", summary)
}

fn call_of(effect: &str, summary: &str) -> RecordBody {
    body(
        "call_assessed",
        json!({
            "callId": ID, "tool": "shell", "arguments": "{}", "summary": summary, "effect": effect,
            "risk": "low", "preview": null, "edit": null, "digest": "", "permission": "tier", "sandbox": "",
            "rule": null, "direct": null, "wider": [], "why": null, "inPassing": false, "files": [],
            "onlyOnce": null, "forTask": false, "notes": [],
        }),
    )
}

fn finished(outcome: &str, message: &str) -> RecordBody {
    let result = json!({ "ok": true, "data": null, "message": message, "diagnostics": [] });
    let fields = json!({ "callId": ID, "attempt": 1, "outcome": outcome, "result": result, "durationMs": 1, "readResults": [] });
    body("call_finished", fields)
}

const ID: &str = "00000000-0000-0000-0000-000000000001";

/// Each chunk as `source | before | text`.
fn lines(body: &RecordBody, needed: Option<&RecordBody>) -> Vec<String> {
    let line = |chunk: Chunk| format!("{} | {} | {}", chunk.source.words(), chunk.before, chunk.text);
    chunks(body, needed).into_iter().map(line).collect()
}

#[test]
fn a_record_gives_what_is_worth_recalling() {
    let question = body(
        "question_asked",
        json!({ "id": ID, "kind": "agent", "at": 1, "text": "Which port?", "choices": [], "callId": null, "expiresAt": null }),
    );
    let answered = |response: Value| {
        body("question_answered", json!({ "questionId": ID, "response": response, "by": null }))
    };
    let ended = |summary: Value| {
        body("task_ended", json!({ "reason": "completed", "summary": summary, "error": null, "data": null }))
    };
    let (long, many) = ("x ".repeat(300), "y ".repeat(1000));
    let cases: Vec<(RecordBody, Option<RecordBody>, Vec<String>)> = vec![
        (user("Use port 8080 there."), None, vec!["user |  | Use port 8080 there.".to_owned()]),
        (
            user("Use port 8080 there."),
            Some(agent(&format!("{long}Which port is it?"))),
            vec![format!("user | …{}Which port is it? | Use port 8080 there.", &long[..182])],
        ),
        (
            agent("It listens on 8080."),
            Some(user(&format!("Which port? {long}"))),
            vec![format!("agent | Which port? {}… | It listens on 8080.", long[..188].trim_end())],
        ),
        (
            answered(json!("the third one")),
            Some(question.clone()),
            vec!["question and answer |  | Which port?\nthe third one".to_owned()],
        ),
        (answered(Value::Null), Some(question), vec![]),
        (answered(json!("an answer to nothing known")), None, vec![]),
        (
            ended(json!("Moved it to 8080.")),
            Some(user("Move it")),
            vec!["summary | Move it | Moved it to 8080.".to_owned()],
        ),
        (ended(Value::Null), None, vec![]),
        (
            finished("done", "API_KEY=abcdefgh was read"),
            Some(call("cat .env")),
            vec!["tool call |  | cat .env\nAPI_KEY=[redacted] was read".to_owned()],
        ),
        (finished("done", "the task is complete"), Some(call_of("control", "end the task")), vec![]),
        (finished("rejected", "a person said no"), Some(call("cat .env")), vec![]),
        (finished("done", "of a call that is not known"), None, vec![]),
        (agent("ok"), None, vec![]),
        (agent("  "), Some(user("Which port?")), vec![]),
        (RecordBody::Nudge(Nudge::new("go on with the work")), None, vec![]),
        (
            RecordBody::Notice(Notice { about: NoticeKind::Error, text: "it went very wrong".to_owned() }),
            None,
            vec![],
        ),
        (body("imported", json!({ "user": { "text": "of another conversation" } })), None, vec![]),
    ];
    for (record, needed, expected) in cases {
        assert_eq!(lines(&record, needed.as_ref()), expected, "{record:?}");
    }
    let result = chunks(&finished("done", &many), Some(&call("read a long file")));
    let total: usize = result.iter().map(|chunk| chunk.text.chars().count()).sum();
    assert!((1500..1700).contains(&total), "{total}");
}
