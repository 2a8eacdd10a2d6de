//! Golden files of whole requests.

use crate::ask::{json, request, result, sent, tool};
use abide_model::{Api, ModelRequest};
use abide_protocol::{
    CallId, ConversationId, JsonText,
    transcript::{Block, CallBlock, Entry, Reply, StopReason, TextBlock, Usage},
};
use std::sync::Arc;
use uuid::Uuid;

fn text(text: &str, opaque: Option<&str>) -> TextBlock {
    TextBlock { text: text.to_owned(), opaque: opaque.map(|o| JsonText::parse(o).unwrap()) }
}

fn call(id: u128, provider_id: &str, tool: &str, arguments: &str, opaque: Option<&str>) -> Block {
    Block::Call(CallBlock {
        id: CallId(Uuid::from_u128(id)),
        provider_id: provider_id.to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        opaque: opaque.map(|o| JsonText::parse(o).unwrap()),
    })
}

fn reply(api: &str, model: &str, blocks: Vec<Block>) -> Entry {
    Entry::Reply(Arc::new(Reply {
        blocks,
        api: api.to_owned(),
        model: model.to_owned(),
        stop_reason: StopReason::ToolCalls,
        usage: Usage::default(),
    }))
}

/// A conversation with every kind of entry and block.
fn conversation(api: &str, model: &str, [thinking, on_text, on_call]: [&str; 3]) -> ModelRequest {
    ModelRequest {
        system: "be good".into(),
        tools: Arc::new([tool("read"), tool("list")]),
        max_output_tokens: Some(1000),
        ..request(vec![
            Entry::User("one".to_owned()),
            Entry::Note("(note)".to_owned()),
            reply(
                api,
                model,
                vec![
                    Block::Reasoning(text("hm", Some(thinking))),
                    Block::Text(text("I read", Some(on_text))),
                    call(1, "id-1", "read", r#"{"path": "a", "n": 1.50}"#, Some(on_call)),
                    call(2, "", "bad.name", "{oops", None),
                ],
            ),
            result(1, "id-1", true, "content"),
            result(2, "", false, ""),
            Entry::Note("go on".to_owned()),
            Entry::Partial("I was".to_owned()),
            Entry::User("two".to_owned()),
        ])
    }
}

const OPENAI_OPAQUE: [&str; 3] =
    [r#"{"reasoning_content":null}"#, r#"{"annotations":[1]}"#, r#"{"extra_content":{"s":"x"}}"#];
const ANTHROPIC_OPAQUE: [&str; 3] =
    [r#"{"signature":"sig"}"#, r#"{"citations":[]}"#, r#"{"caller":{"type":"direct"}}"#];

const OURS_1: &str = "call_00000000000000000000000000000001";
const OURS_2: &str = "call_00000000000000000000000000000002";

const OPENAI_TOOLS: &str = r#"[
    {"type":"function","function":{"name":"read","description":"does read","parameters":{"type":"object","properties":{"b":{},"a":{}}}}},
    {"type":"function","function":{"name":"list","description":"does list","parameters":{"type":"object","properties":{"b":{},"a":{}}}}}
]"#;

#[tokio::test]
async fn openai_to_the_same_model() {
    let seen = sent(Api::OpenaiChat, conversation("openai-chat", "m", OPENAI_OPAQUE)).await;
    assert_eq!(seen.path, "/chat/completions");
    assert_eq!(
        seen.json(),
        json(&format!(
            r#"{{
            "model": "m", "stream": true, "stream_options": {{"include_usage": true}}, "max_tokens": 1000,
            "tools": {OPENAI_TOOLS},
            "messages": [
                {{"role": "system", "content": "be good"}},
                {{"role": "user", "content": "one\n\n(note)"}},
                {{"role": "assistant", "content": "I read", "reasoning_content": "hm", "annotations": [1], "tool_calls": [
                    {{"id": "id-1", "type": "function",
                      "function": {{"name": "read", "arguments": "{{\"path\": \"a\", \"n\": 1.50}}"}},
                      "extra_content": {{"s": "x"}}}},
                    {{"id": "{OURS_2}", "type": "function", "function": {{"name": "bad_name", "arguments": "{{}}"}}}}
                ]}},
                {{"role": "tool", "tool_call_id": "id-1", "content": "content"}},
                {{"role": "tool", "tool_call_id": "{OURS_2}", "content": "(no output)"}},
                {{"role": "user", "content": "go on"}},
                {{"role": "assistant", "content": "I was"}},
                {{"role": "user", "content": "two"}}
            ]}}"#
        ))
    );
}

#[tokio::test]
async fn openai_after_another_model_and_another_api() {
    let assistant = |body: serde_json::Value| body["messages"][2].clone();
    let seen = sent(Api::OpenaiChat, conversation("openai-chat", "other", OPENAI_OPAQUE)).await;
    assert_eq!(
        assistant(seen.json()),
        json(&format!(
            r#"{{"role": "assistant", "content": "I read", "tool_calls": [
                {{"id": "id-1", "type": "function", "function": {{"name": "read", "arguments": "{{\"path\": \"a\", \"n\": 1.50}}"}}}},
                {{"id": "{OURS_2}", "type": "function", "function": {{"name": "bad_name", "arguments": "{{}}"}}}}
            ]}}"#
        ))
    );
    let seen = sent(Api::OpenaiChat, conversation("anthropic", "m", ANTHROPIC_OPAQUE)).await;
    let body = seen.json();
    assert_eq!(body["messages"][2]["tool_calls"][0]["id"], OURS_1);
    assert_eq!(body["messages"][3]["tool_call_id"], OURS_1);
    assert!(!seen.text().contains("signature") && !seen.text().contains("caller"));
}

const RESPONSES_OPAQUE: [&str; 3] = [
    r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x+/="}"#,
    r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I read"}]}"#,
    r#"{"type":"function_call","id":"fc_1","call_id":"id-1","name":"read","arguments":"{\"path\": \"a\", \"n\": 1.50}"}"#,
];

const CONVERSATION: ConversationId = ConversationId(Uuid::from_u128(7));

/// A user's message as an input item.
fn input(text: &str) -> String {
    format!(
        r#"{{"type": "message", "role": "user", "content": [{{"type": "input_text", "text": "{text}"}}]}}"#
    )
}

#[tokio::test]
async fn responses_to_the_same_model() {
    let asked = ModelRequest {
        conversation: Some(CONVERSATION),
        ..conversation("openai-responses", "m", RESPONSES_OPAQUE)
    };
    let seen = sent(Api::OpenaiResponses, asked).await;
    assert_eq!(seen.path, "/responses");
    let schema = r#"{"type":"object","properties":{"b":{},"a":{}}}"#;
    let [reasoning, message, call] = RESPONSES_OPAQUE;
    assert_eq!(
        seen.json(),
        json(&format!(
            r#"{{
            "model": "m", "stream": true, "store": false, "instructions": "be good", "max_output_tokens": 1000,
            "tools": [
                {{"type": "function", "name": "read", "description": "does read", "parameters": {schema}, "strict": false}},
                {{"type": "function", "name": "list", "description": "does list", "parameters": {schema}, "strict": false}}
            ],
            "input": [
                {}, {}, {reasoning}, {message}, {call},
                {{"type": "function_call", "call_id": "{OURS_2}", "name": "bad_name", "arguments": "{{}}"}},
                {{"type": "function_call_output", "call_id": "id-1", "output": "content"}},
                {{"type": "function_call_output", "call_id": "{OURS_2}", "output": "(no output)"}},
                {},
                {{"type": "message", "role": "assistant", "content": [{{"type": "output_text", "text": "I was"}}]}},
                {}
            ],
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "00000000-0000-0000-0000-000000000007"
            }}"#,
            input("one"),
            input("(note)"),
            input("go on"),
            input("two"),
        ))
    );
}

#[tokio::test]
async fn responses_after_another_model_and_another_api() {
    let call = |id: &str| {
        json(&format!(
            r#"{{"type": "function_call", "call_id": "{id}", "name": "read", "arguments": "{{\"path\": \"a\", \"n\": 1.50}}"}}"#
        ))
    };
    let text = json(
        r#"{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I read"}]}"#,
    );
    for (api, model, opaque, id) in [
        ("openai-responses", "other", RESPONSES_OPAQUE, "id-1"),
        ("openai-chat", "m", OPENAI_OPAQUE, OURS_1),
        ("anthropic", "m", ANTHROPIC_OPAQUE, OURS_1),
    ] {
        let seen = sent(Api::OpenaiResponses, conversation(api, model, opaque)).await;
        let body = seen.json();
        let input = body["input"].as_array().unwrap();
        assert_eq!(input[2..4], [text.clone(), call(id)], "{api}");
        assert_eq!((input[5]["call_id"].as_str(), input.len()), (Some(id), 10), "{api}");
    }
}

#[tokio::test]
async fn anthropic_to_the_same_model() {
    let seen = sent(Api::Anthropic, conversation("anthropic", "m", ANTHROPIC_OPAQUE)).await;
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    let schema = r#"{"type":"object","properties":{"b":{},"a":{}}}"#;
    let cache = r#""cache_control": {"type": "ephemeral"}"#;
    assert_eq!(
        seen.json(),
        json(&format!(
            r#"{{
            "model": "m", "max_tokens": 1000, "stream": true,
            "system": [{{"type": "text", "text": "be good", {cache}}}],
            "tools": [
                {{"name": "read", "description": "does read", "input_schema": {schema}}},
                {{"name": "list", "description": "does list", "input_schema": {schema}, {cache}}}
            ],
            "messages": [
                {{"role": "user", "content": [{{"type": "text", "text": "one"}}, {{"type": "text", "text": "(note)"}}]}},
                {{"role": "assistant", "content": [
                    {{"type": "thinking", "thinking": "hm", "signature": "sig"}},
                    {{"type": "text", "text": "I read", "citations": []}},
                    {{"type": "tool_use", "id": "id-1", "name": "read", "input": {{"path": "a", "n": 1.50}}, "caller": {{"type": "direct"}}}},
                    {{"type": "tool_use", "id": "{OURS_2}", "name": "bad_name", "input": {{}}}}
                ]}},
                {{"role": "user", "content": [
                    {{"type": "tool_result", "tool_use_id": "id-1", "content": "content"}},
                    {{"type": "tool_result", "tool_use_id": "{OURS_2}", "content": "(no output)", "is_error": true}},
                    {{"type": "text", "text": "go on", {cache}}}
                ]}},
                {{"role": "assistant", "content": [{{"type": "text", "text": "I was"}}]}},
                {{"role": "user", "content": [{{"type": "text", "text": "two", {cache}}}]}}
            ]}}"#
        ))
    );
    // The model's own bytes, not only equal JSON.
    assert!(seen.text().contains(r#""input":{"path": "a", "n": 1.50}"#), "{}", seen.text());
}

#[tokio::test]
async fn anthropic_after_another_api() {
    let seen = sent(Api::Anthropic, conversation("openai-chat", "m", OPENAI_OPAQUE)).await;
    let body = seen.json();
    assert_eq!(
        body["messages"][1]["content"],
        json(&format!(
            r#"[
                {{"type": "text", "text": "I read"}},
                {{"type": "tool_use", "id": "{OURS_1}", "name": "read", "input": {{"path": "a", "n": 1.50}}}},
                {{"type": "tool_use", "id": "{OURS_2}", "name": "bad_name", "input": {{}}}}
            ]"#
        ))
    );
    assert_eq!(body["messages"][2]["content"][0]["tool_use_id"], OURS_1);
}

/// The smallest request: no system prompt, no tools, no limit.
#[tokio::test]
async fn bare_requests() {
    let bare = || request(vec![Entry::User("hi".to_owned())]);
    assert_eq!(
        sent(Api::OpenaiChat, bare()).await.text(),
        r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}],"stream_options":{"include_usage":true}}"#
    );
    assert_eq!(
        sent(Api::OpenaiResponses, bare()).await.text(),
        r#"{"model":"m","stream":true,"store":false,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],"include":["reasoning.encrypted_content"]}"#
    );
    assert_eq!(
        sent(Api::Anthropic, bare()).await.text(),
        r#"{"model":"m","max_tokens":8192,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#
    );
}

#[tokio::test]
async fn entries_with_nothing_to_send_are_left_out() {
    let entries = || {
        vec![
            Entry::User("one".to_owned()),
            reply("openai-chat", "m", vec![Block::Reasoning(text("hm", None))]),
            Entry::Partial(" ".to_owned()),
            Entry::User("two".to_owned()),
        ]
    };
    let body = sent(Api::Anthropic, request(entries())).await.json();
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    let body = sent(Api::OpenaiResponses, request(entries())).await.json();
    assert_eq!(body["input"], json(&format!("[{},{}]", input("one"), input("two"))));
    let body = sent(Api::OpenaiChat, request(entries())).await.json();
    assert_eq!(body["messages"], json(r#"[{"role":"user","content":"one\n\ntwo"}]"#));
}
