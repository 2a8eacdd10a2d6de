use crate::{
    ask::{ask, ask_once, config, data_event, models, request, request_with_tool, stream},
    server::{Answer, Server, Step},
};
use abide_model::{Api, ModelEvent};
use abide_protocol::{
    record::ModelErrorKind,
    transcript::{Block, Entry, StopReason, Usage},
};
use std::sync::Arc;

const START: &str = r#"{"type":"message_start","message":{"id":"msg","usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn done(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":42}}}}"#
    )
}

fn thoughtful(done: &str) -> [String; 16] {
    [
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB+/=="}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Zm9v"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{},"caller":{"type":"direct"}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"x\"}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        done,
        STOP,
    ]
    .map(str::to_owned)
}

fn answer(events: &[String]) -> Answer {
    stream(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

#[tokio::test]
async fn blocks_signatures_and_usage() {
    let outcome = ask_once(Api::Anthropic, answer(&thoughtful(&done("tool_use")))).await;
    assert_eq!(
        outcome.events,
        [
            ModelEvent::ReasoningDelta("Let me".to_owned()),
            ModelEvent::TextDelta("I look.".to_owned()),
            ModelEvent::ToolCallStarted { index: 0, tool: "read".to_owned() },
            ModelEvent::ToolCallArgsDelta { index: 0, text: r#"{"path": "x"}"#.to_owned() },
            ModelEvent::ToolCallReady { index: 0 },
        ]
    );
    let reply = outcome.reply();
    let [Block::Reasoning(thinking), Block::Reasoning(redacted), Block::Text(text), Block::Call(call)] =
        reply.blocks.as_slice()
    else {
        panic!("{:?}", reply.blocks)
    };
    assert_eq!(thinking.text, "Let me");
    assert_eq!(thinking.opaque.as_ref().unwrap().as_str(), r#"{"signature":"EqQB+/=="}"#);
    assert_eq!(redacted.opaque.as_ref().unwrap().as_str(), r#"{"type":"redacted_thinking","data":"Zm9v"}"#);
    assert_eq!((text.text.as_str(), &text.opaque), ("I look.", &None));
    assert_eq!((call.provider_id.as_str(), call.arguments.as_str()), ("toolu_1", r#"{"path": "x"}"#));
    assert_eq!(call.opaque.as_ref().unwrap().as_str(), r#"{"caller":{"type":"direct"}}"#);
    assert_eq!(reply.stop_reason, StopReason::ToolCalls);
    let expected =
        Usage { input: 5, output: 42, cache_read: 300, cache_write: 20, model_calls: 1, ..Usage::default() };
    assert_eq!(reply.usage, expected);
}

/// Signed thinking is sent back to the same model byte for byte, and to another one without the signature.
#[tokio::test]
async fn thinking_goes_back_verbatim_to_the_same_model_only() {
    let server =
        Server::start(vec![answer(&thoughtful(&done("tool_use"))), stream(&[STOP]), stream(&[STOP])]).await;
    let models = models(config(Api::Anthropic, format!("{}/v1/", server.url())));
    let user = Entry::User("go".to_owned());
    let reply = Arc::new(ask(&models, request(vec![user.clone()])).await.reply());
    let entries = vec![user, Entry::Reply(reply), crate::ask::result(0, "toolu_1", true, "content")];
    ask(&models, request_with_tool(entries.clone())).await.reply();
    let mut other = request_with_tool(entries);
    other.model = "p/other".to_owned();
    ask(&models, other).await.reply();

    let seen = server.seen();
    assert!(seen.iter().all(|s| s.path == "/v1/messages"));
    assert!(
        seen[1].text().contains(
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Let me","signature":"EqQB+/=="},{"type":"redacted_thinking","data":"Zm9v"},{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path": "x"},"caller":{"type":"direct"}}]}"#
        ),
        "{}",
        seen[1].text()
    );
    assert!(
        seen[2].text().contains(
            r#"{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path": "x"}}]}"#
        ),
        "{}",
        seen[2].text()
    );
}

#[tokio::test]
async fn stop_reasons() {
    for (reason, expected, calls) in [
        ("end_turn", StopReason::ToolCalls, 1),
        ("tool_use", StopReason::ToolCalls, 1),
        ("max_tokens", StopReason::Length, 0),
        ("refusal", StopReason::Refusal, 0),
    ] {
        let reply = ask_once(Api::Anthropic, answer(&thoughtful(&done(reason)))).await.reply();
        assert_eq!((reply.stop_reason, reply.calls().count()), (expected, calls), "{reason}");
    }
    let pause = done("pause_turn");
    let reply = ask_once(Api::Anthropic, stream(&[START, &pause, STOP])).await.reply();
    assert_eq!(reply.stop_reason, StopReason::Unfinished);
}

#[tokio::test]
async fn a_call_without_arguments_is_an_empty_object() {
    let reply = ask_once(
        Api::Anthropic,
        stream(&[
            START,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"list","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"u","name":"read","input":{"path":"x"}}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            &done("tool_use"),
            STOP,
        ]),
    )
    .await
    .reply();
    let arguments: Vec<_> = reply.calls().map(|c| c.arguments.as_str()).collect();
    assert_eq!(arguments, ["{}", r#"{"path":"x"}"#]);
}

#[tokio::test]
async fn errors_in_the_stream_are_told_apart() {
    for (kind, expected, retryable) in [
        ("overloaded_error", ModelErrorKind::Overloaded, true),
        ("api_error", ModelErrorKind::ServerError, true),
        ("rate_limit_error", ModelErrorKind::RateLimited, true),
        ("invalid_request_error", ModelErrorKind::BadRequest, false),
        ("authentication_error", ModelErrorKind::Auth, false),
    ] {
        let error = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"because"}}}}"#);
        let steps =
            vec![data_event(START), Step::Bytes(format!("event: error\ndata: {error}\n\n").into_bytes())];
        let error = ask_once(Api::Anthropic, Answer::Stream(steps)).await.error();
        assert_eq!((error.kind, error.retryable), (expected, retryable));
        assert!(error.message.contains("because"), "{error}");
    }
}

#[tokio::test]
async fn a_stream_without_its_end_is_cut() {
    let events = thoughtful(&done("tool_use"));
    let error = ask_once(Api::Anthropic, answer(&events[..13])).await.error();
    assert_eq!(error.kind, ModelErrorKind::Network);
}
