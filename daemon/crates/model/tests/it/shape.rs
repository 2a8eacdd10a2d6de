//! A request's shape: whether calls are allowed, and the form of the reply's text.

use crate::{
    ask::{ask, ask_as, config, delta, finish, models, request, sent, stream, tool},
    server::{Answer, Server},
};
use abide_model::{Api, ModelRequest, Written};
use abide_protocol::{
    JsonText,
    record::ModelErrorKind,
    shape::{OutputSchema, RequestShape, ToolUse},
    transcript::{Block, Entry, StopReason, TextBlock},
};
use std::sync::Arc;

fn no_tools() -> RequestShape {
    RequestShape { tools: ToolUse::Forbidden, output_schema: None }
}

fn plan() -> RequestShape {
    let schema = JsonText::parse(r#"{"type":"object", "required":["z","a"]}"#).unwrap();
    RequestShape {
        output_schema: Some(Arc::new(OutputSchema { name: "plan".to_owned(), schema })),
        ..RequestShape::default()
    }
}

fn shaped(shape: RequestShape) -> ModelRequest {
    ModelRequest { tools: Arc::new([tool("read")]), shape, ..request(vec![Entry::User("hi".to_owned())]) }
}

/// Whether calls are allowed differs from phase to phase: it follows the messages, and nothing before them
/// changes.
#[tokio::test]
async fn whether_calls_are_allowed_is_written_after_the_messages() {
    for (api, tail) in [
        (Api::OpenaiChat, r#","tool_choice":"none""#),
        (Api::OpenaiResponses, r#","tool_choice":"none""#),
        (Api::Anthropic, ""),
    ] {
        // The cached beginning is shared by all shapes.
        let written = Written::default();
        let with = |shape| ModelRequest { written: written.clone(), ..shaped(shape) };
        let plain = sent(api, with(RequestShape::default())).await;
        let shaped = sent(api, with(no_tools())).await;
        let expected = format!("{}{tail}}}", plain.text().strip_suffix('}').unwrap());
        assert_eq!(shaped.text(), expected, "{}", api.name());
        assert_eq!(sent(api, with(RequestShape::default())).await.text(), plain.text(), "{}", api.name());
    }
}

/// The schema of the replies is the same in all of a task's requests: it precedes the messages, with what
/// else they share.
#[tokio::test]
async fn the_schema_is_written_before_the_messages() {
    let schema = r#""response_format":{"type":"json_schema","json_schema":{"name":"plan","schema":{"type":"object", "required":["z","a"]},"strict":false}}"#;
    let text = r#""text":{"format":{"type":"json_schema","name":"plan","schema":{"type":"object", "required":["z","a"]},"strict":false}}"#;
    for (api, written) in [(Api::OpenaiChat, schema), (Api::OpenaiResponses, text)] {
        let body = sent(api, shaped(plan())).await.text().to_owned();
        let (before, _) = body.split_once("\"hi\"").expect("the message");
        assert!(before.contains(written), "{}: {body}", api.name());
        // A request of another shape that shares the beginning has none.
        let shared = Written::default();
        for (shape, count) in [(plan(), 1), (RequestShape::default(), 0), (plan(), 1)] {
            let request = ModelRequest { written: shared.clone(), ..shaped(shape) };
            assert_eq!(sent(api, request).await.text().matches(written).count(), count, "{}", api.name());
        }
    }
}

/// (OpenAI rejects `tool_choice` in a request without tools.)
#[tokio::test]
async fn without_tools_there_is_no_choice_of_them() {
    let bare = ModelRequest { tools: Arc::new([]), ..shaped(no_tools()) };
    for api in [Api::OpenaiChat, Api::OpenaiResponses] {
        assert!(!sent(api, bare.clone()).await.text().contains("tool_choice"), "{}", api.name());
    }
}

/// A call's neighbours lose the provider's own data: a signature holds only for the whole reply.
#[tokio::test]
async fn a_call_is_dropped_where_calls_are_forbidden() {
    let chat = stream(&[
        &delta(r#"{"reasoning_content":"hm"}"#),
        &delta(r#"{"content":"I read it."}"#),
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    let anthropic = stream(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"sig"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"x"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"I read it."}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let responses = stream(&[
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","summary":[{"text":"hm"}],"encrypted_content":"x"}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"text":"I read it."}]}}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"a","name":"read","arguments":"{}"}}"#,
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
    ]);
    for (api, answer) in
        [(Api::OpenaiChat, chat), (Api::OpenaiResponses, responses), (Api::Anthropic, anthropic)]
    {
        let reply = ask_as(api, shaped(no_tools()), answer).await.reply();
        let plain = |text: &str| TextBlock { text: text.to_owned(), opaque: None };
        let expected = [Block::Reasoning(plain("hm")), Block::Text(plain("I read it."))];
        assert_eq!(reply.blocks, expected, "{}", api.name());
        assert_eq!(reply.stop_reason, StopReason::EndTurn, "{}", api.name());
    }
}

#[tokio::test]
async fn a_reply_without_calls_is_unchanged_where_they_are_forbidden() {
    let answer = stream(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm","signature":"sig"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"So."}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let reply = ask_as(Api::Anthropic, shaped(no_tools()), answer).await.reply();
    let Block::Reasoning(thinking) = &reply.blocks[0] else { panic!("{:?}", reply.blocks) };
    assert_eq!(thinking.opaque.as_ref().unwrap().as_str(), r#"{"signature":"sig"}"#);
}

fn refusal(status: u16, message: &str) -> Answer {
    let headers = vec![("content-type", "application/json".to_owned())];
    let body = format!(r#"{{"error":{{"message":"{message}","type":"invalid_request_error"}}}}"#);
    Answer::Whole { status, headers, body: body.into_bytes() }
}

fn said(text: &str) -> Answer {
    stream(&[&delta(&format!(r#"{{"content":"{text}"}}"#)), &finish("stop"), "[DONE]"])
}

/// Within one attempt, and then no more for that provider.
#[tokio::test]
async fn a_provider_that_refuses_schemas_is_sent_none() {
    for message in [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "This model does not support response format `json_schema`",
        "Structured outputs are not available",
        "failed to parse grammar",
    ] {
        let server = Server::start(vec![refusal(400, message), said("one"), said("two")]).await;
        let models = models(config(Api::OpenaiChat, server.url()));
        assert_eq!(ask(&models, shaped(plan())).await.reply().text(), "one", "{message}");
        assert_eq!(ask(&models, shaped(plan())).await.reply().text(), "two", "{message}");
        let with_schema: Vec<_> =
            server.seen().iter().map(|seen| seen.text().contains("response_format")).collect();
        assert_eq!(with_schema, [true, false, false], "{message}");
    }
}

#[tokio::test]
async fn another_refusal_of_a_request_with_a_schema_fails_the_attempt() {
    let server = Server::start(vec![refusal(400, "messages: too many"), said("one")]).await;
    let models = models(config(Api::OpenaiChat, server.url()));
    assert_eq!(ask(&models, shaped(plan())).await.error().kind, ModelErrorKind::BadRequest);
    assert_eq!(ask(&models, shaped(plan())).await.reply().text(), "one");
    assert!(server.seen().iter().all(|seen| seen.text().contains("response_format")));
}
