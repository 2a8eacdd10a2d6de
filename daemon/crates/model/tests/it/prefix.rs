//! A longer conversation begins with the bytes of the shorter one; otherwise the provider's cache is useless.

use crate::ask::{result, sent, tool};
use abide_model::{Api, ModelRequest, Written};
use abide_protocol::{
    CallId,
    transcript::{Block, CallBlock, Entry, Reply, StopReason, TextBlock, Transcript, Usage},
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

#[tokio::test]
async fn each_request_begins_with_the_one_before() {
    let include = r#"],"include":["reasoning.encrypted_content"]}"#;
    for (api, list, tail) in [
        (Api::OPENAI_CHAT, "messages", "]}"),
        (Api::OPENAI_RESPONSES, "input", include),
        (Api::ANTHROPIC, "messages", "]}]}"),
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

/// The cached beginning changes no byte of the next request: not if an entry adds a message, not if it extends one, and not if
/// earlier entries are rewritten.
#[tokio::test]
async fn the_cached_beginning_changes_no_request() {
    for api in [Api::OPENAI_CHAT, Api::OPENAI_RESPONSES, Api::ANTHROPIC] {
        let all = after(api, 4).transcript.entries().to_vec();
        let extra = [
            Entry::User("and".to_owned()),
            Entry::Note("also".to_owned()),
            Entry::Partial("I".to_owned()),
            Entry::Partial("  ".to_owned()),
            Entry::User("go on".to_owned()),
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
    for api in [Api::OPENAI_CHAT, Api::OPENAI_RESPONSES, Api::ANTHROPIC] {
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
    assert_eq!(marked(&sent(Api::ANTHROPIC, after(Api::ANTHROPIC, 1)).await.json()), [0, 2]);
    assert_eq!(marked(&sent(Api::ANTHROPIC, after(Api::ANTHROPIC, 2)).await.json()), [2, 4]);
}

/// Many servers refuse calls and results in a request that declares no tool: a question after an agent's work, for example.
#[tokio::test]
async fn without_tools_no_call_is_sent() {
    for api in [Api::OPENAI_CHAT, Api::OPENAI_RESPONSES, Api::ANTHROPIC] {
        let seen = sent(api, ModelRequest { tools: Arc::new([]), ..after(api, 3) }).await;
        let body = seen.text();
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
