//! A longer conversation begins with the bytes of the shorter one; otherwise the provider's cache is useless.

use crate::ask::{result, sent, tool};
use abide_model::{Api, ModelRequest, Written};
use abide_protocol::{
    CallId,
    transcript::{Block, CallBlock, Entry, Reply, ResultEntry, StopReason, TextBlock, Transcript, Usage},
};
use std::sync::Arc;
use uuid::Uuid;

/// A conversation of this many steps, before the next reply.
fn after(api: Api, steps: u128) -> ModelRequest {
    let mut entries = vec![Entry::User("go".to_owned())];
    for step in 1..=steps {
        let id = format!("id-{step}");
        let block = TextBlock { text: format!("step {step}"), opaque: None };
        let call = CallBlock {
            id: CallId(Uuid::from_u128(step)),
            provider_id: id.clone(),
            tool: "read".to_owned(),
            arguments: format!(r#"{{"z":{step},"a":"ü"}}"#),
            opaque: None,
        };
        entries.push(Entry::Reply(Arc::new(Reply {
            blocks: vec![Block::Text(block), Block::Call(call)],
            api: api.name().to_owned(),
            model: "m".to_owned(),
            stop_reason: StopReason::ToolCalls,
            usage: Usage::default(),
        })));
        entries.push(result(step, &id, true, "ok"));
        if step % 2 == 0 {
            entries.push(Entry::Note("nudge".to_owned()));
        }
    }
    ModelRequest {
        system: "sys".into(),
        tools: Arc::new([tool("read"), tool("list")]),
        ..crate::ask::request(entries)
    }
}

/// A reply without calls.
fn said(api: Api, text: &str) -> Entry {
    Entry::Reply(Arc::new(Reply {
        blocks: vec![Block::Text(TextBlock { text: text.to_owned(), opaque: None })],
        api: api.name().to_owned(),
        model: "m".to_owned(),
        stop_reason: StopReason::EndTurn,
        usage: Usage::default(),
    }))
}

fn results(text: &str) -> ResultEntry {
    match result(9, "", true, text) {
        Entry::Result(result) => result,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_request_begins_with_the_one_before() {
    let include = r#"],"include":["reasoning.encrypted_content"]}"#;
    let stream_options = r#"],"stream_options":{"include_usage":true}}"#;
    for (api, list, tail) in [
        (Api::OpenaiChat, "messages", stream_options),
        (Api::OpenaiResponses, "input", include),
        (Api::Anthropic, "messages", "]}]}"),
    ] {
        let mut before: Option<String> = None;
        for steps in 0..5 {
            let seen = sent(api, after(api, steps)).await;
            // The cache marks move; they are not part of the cached prefix.
            let (head, messages) = seen.text().split_once(&format!("\"{list}\"")).unwrap();
            let body = format!("{head}{}", messages.replace(r#","cache_control":{"type":"ephemeral"}"#, ""));
            if let Some(before) = &before {
                let prefix = before.strip_suffix(tail).unwrap();
                assert!(body.starts_with(prefix), "{}\n{body}\ndoes not begin with\n{prefix}", api.name());
            }
            before = Some(body);
        }
    }
}

/// The cached beginning changes no byte of the next request: not if an entry adds a message, not if it
/// extends one, and not if earlier entries are rewritten.
#[tokio::test]
async fn the_cached_beginning_changes_no_request() {
    for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic] {
        let all = after(api, 4).transcript.entries().to_vec();
        let extra = [
            Entry::User("and".to_owned()),
            Entry::Note("also".to_owned()),
            Entry::Partial("I".to_owned()),
            Entry::Partial("  ".to_owned()),
            Entry::User("go on".to_owned()),
            said(api, "well"),
            Entry::Partial("so".to_owned()),
            said(api, "done"),
            Entry::Results(vec![results("a"), results("b")]),
            Entry::Note("more".to_owned()),
        ];
        let written = Written::default();
        let mut transcript = Transcript::default();
        for (at, entry) in all.into_iter().chain(extra).enumerate() {
            transcript.push(entry);
            if at == 7 {
                transcript.rewrite(|entries| {
                    if let Entry::Result(result) = &mut entries[2] {
                        result.text = "left out".to_owned();
                    }
                });
            }
            let fresh = ModelRequest { transcript: transcript.clone(), ..after(api, 0) };
            let kept = ModelRequest { written: written.clone(), ..fresh.clone() };
            assert_eq!(
                sent(api, kept).await.text(),
                sent(api, fresh).await.text(),
                "{}, entry {at}",
                api.name()
            );
        }
    }
}

/// A task may ask with other tools than before, and later with the first ones again.
#[tokio::test]
async fn the_cached_beginning_is_not_used_with_other_tools() {
    for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic] {
        let written = Written::default();
        let base = after(api, 1);
        let changed = [
            ModelRequest { tools: Arc::new([]), ..base.clone() },
            ModelRequest { tools: Arc::new([tool("read")]), ..base.clone() },
            ModelRequest { system: "other".into(), ..base.clone() },
            ModelRequest { max_output_tokens: Some(7), ..base.clone() },
        ];
        for other in changed {
            for request in [&base, &other, &base] {
                let with = |written| ModelRequest { written, ..request.clone() };
                let kept = sent(api, with(written.clone())).await;
                let fresh = sent(api, with(Written::default())).await;
                assert_eq!(kept.text(), fresh.text(), "{}", api.name());
            }
        }
    }
}

/// The provider's cache is read up to the mark that the last request set.
#[tokio::test]
async fn the_end_of_the_last_request_stays_marked() {
    let marked = |body: &serde_json::Value| -> Vec<usize> {
        let messages = body["messages"].as_array().unwrap();
        let is_marked = |m: &serde_json::Value| {
            m["content"].as_array().unwrap().last().unwrap().get("cache_control").is_some()
        };
        (0..messages.len()).filter(|at| is_marked(&messages[*at])).collect()
    };
    assert_eq!(marked(&sent(Api::Anthropic, after(Api::Anthropic, 1)).await.json()), [0, 2]);
    assert_eq!(marked(&sent(Api::Anthropic, after(Api::Anthropic, 2)).await.json()), [2, 4]);
}

/// Many servers refuse calls and results in a request that declares no tool: a question after an agent's
/// work, for example.
#[tokio::test]
async fn without_tools_no_call_is_sent() {
    for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic] {
        let seen = sent(api, ModelRequest { tools: Arc::new([]), ..after(api, 3) }).await;
        let body = seen.text();
        assert!(seen.json().get("tools").is_none(), "{body}");
        for of_tools in ["tool_use", "tool_result", "tool_calls", "\"tool\"", "tool_call_id", "function_call"]
        {
            assert!(!body.contains(of_tools), "{of_tools} in {body}");
        }
        for step in 1..=3 {
            assert!(body.contains(&format!("step {step}")), "the reply's text stays: {body}");
        }
        assert_eq!(body.matches(r"Result of read:\nok").count(), 3, "the results stay as texts: {body}");
    }
}

/// Some servers count the calls of each reply from 0. Call and result are sent with Abide's own id from the
/// second time on.
#[tokio::test]
async fn ids_that_repeat_are_made_unique_without_changing_what_was_sent() {
    let repeats = |api, steps| {
        let mut request = after(api, steps);
        request.transcript.rewrite(|entries| {
            for entry in entries {
                match entry {
                    Entry::Reply(reply) => {
                        for block in &mut Arc::make_mut(reply).blocks {
                            if let Block::Call(call) = block {
                                call.provider_id = "call_0".to_owned();
                            }
                        }
                    }
                    Entry::Result(result) => result.provider_id = "call_0".to_owned(),
                    _ => {}
                }
            }
        });
        request
    };
    for api in [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic] {
        let mut before: Option<Vec<serde_json::Value>> = None;
        let written = Written::default();
        for steps in 1..=3 {
            let kept = ModelRequest { written: written.clone(), ..repeats(api, steps) };
            let seen = sent(api, kept).await;
            let body: serde_json::Value =
                serde_json::from_str(&seen.text().replace(r#","cache_control":{"type":"ephemeral"}"#, ""))
                    .unwrap();
            let messages =
                body.get("messages").or_else(|| body.get("input")).unwrap().as_array().unwrap().clone();
            if let Some(before) = &before {
                // The last message may grow.
                let settled = before.len() - 1;
                assert_eq!(messages[..settled], before[..settled], "{}", api.name());
            }
            before = Some(messages);
            for (step, id) in (1..=steps).zip([
                "call_0",
                "call_00000000000000000000000000000002",
                "call_00000000000000000000000000000003",
            ]) {
                let times = seen.text().matches(&format!("\"{id}\"")).count();
                assert_eq!(times, 2, "{}, step {step}: {}", api.name(), seen.text());
            }
        }
    }
}

/// Many chat templates refuse a conversation in which one side speaks twice.
#[tokio::test]
async fn user_and_assistant_alternate() {
    let user = |text: &str| Entry::User(text.to_owned());
    let note = |text: &str| Entry::Note(text.to_owned());
    let partial = |text: &str| Entry::Partial(text.to_owned());
    for api in [Api::OpenaiChat, Api::Anthropic] {
        let say = |text: &str| said(api, text);
        for (entries, expected) in [
            (vec![user("1"), note("2"), user("3")], &[("user", "1|2|3")][..]),
            (
                vec![user("1"), Entry::Results(vec![results("2"), results("3")]), note("4")],
                &[("user", "1|2|3|4")],
            ),
            (
                vec![note("1"), Entry::Results(vec![results("2")]), Entry::Results(vec![results("3")])],
                &[("user", "1|2|3")],
            ),
            (
                vec![user("1"), partial("2"), say("3"), user("4")],
                &[("user", "1"), ("assistant", "2|3"), ("user", "4")],
            ),
            (vec![user("1"), say("2"), say("3")], &[("user", "1"), ("assistant", "2|3")]),
            (
                vec![user("1"), partial("2"), partial(" "), partial("3")],
                &[("user", "1"), ("assistant", "2|3")],
            ),
            (
                vec![user("1"), say("2"), partial("3"), user("4"), partial(" "), user("5")],
                &[("user", "1"), ("assistant", "2|3"), ("user", "4|5")],
            ),
            (vec![user("1"), say(" "), user("2")], &[("user", "1|2")]),
        ] {
            let body =
                sent(api, ModelRequest { tools: Arc::new([tool("read")]), ..crate::ask::request(entries) })
                    .await
                    .json();
            let messages: Vec<(String, String)> = body["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| {
                    let text = match message["content"].as_array() {
                        Some(parts) => {
                            parts.iter().map(|p| p["text"].as_str().unwrap()).collect::<Vec<_>>().join("|")
                        }
                        None => message["content"].as_str().unwrap().replace("\n\n", "|"),
                    };
                    (message["role"].as_str().unwrap().to_owned(), text)
                })
                .collect();
            let messages: Vec<_> =
                messages.iter().map(|(role, text)| (role.as_str(), text.as_str())).collect();
            assert_eq!(messages, expected, "{}", api.name());
        }
    }
    // The words before a call belong to its message, and its result stays the next one.
    let mut entries = vec![user("1"), partial("2")];
    entries.extend_from_slice(&after(Api::OpenaiChat, 1).transcript.entries()[1..]);
    let body = sent(
        Api::OpenaiChat,
        ModelRequest { tools: Arc::new([tool("read")]), ..crate::ask::request(entries) },
    )
    .await
    .json();
    assert_eq!(body["messages"][1]["content"], "2\n\nstep 1");
    assert_eq!(body["messages"][1]["tool_calls"][0]["id"], "id-1");
    assert_eq!(body["messages"][2]["role"], "tool");
}
