use crate::{
    ask::{
        ask, ask_once, bytes, config, data_event, hello, models, request, request_with_tool, result, stream,
    },
    server::{Answer, Server, Step},
};
use abide_model::{Api, ModelEvent};
use abide_protocol::{
    CallId,
    record::ModelErrorKind as Kind,
    transcript::{Block, Entry, Reply, StopReason, Usage},
};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

const API: Api = Api::OpenaiResponses;

/// In an order that no JSON library would choose, and with extra spaces.
const REASONING: &str = r#"{"type":"reasoning", "id":"rs_1","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Then."}],"encrypted_content":"gAAA+/==","n":1.50}"#;
const MESSAGE: &str = r#"{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text", "text":"I look.","annotations":[],"logprobs":[]}]}"#;
const CALL: &str = r#"{"type":"function_call","id":"fc_1","status":"completed","name":"read","call_id":"call_1","arguments":"{\"path\": \"x\"}"}"#;

fn added(index: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{item}}}"#)
}

fn done(index: u32, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{item}}}"#)
}

/// A delta of this kind, with the fields of `more`.
fn delta(kind: &str, index: u32, text: &str, more: &str) -> String {
    let text = Value::from(text);
    format!(
        r#"{{"type":"response.{kind}.delta","item_id":"rotates","output_index":{index}{more},"delta":{text},"obfuscation":"x"}}"#
    )
}

fn text_delta(index: u32, text: &str) -> String {
    delta("output_text", index, text, r#","content_index":0"#)
}

fn arguments_delta(index: u32, text: &str) -> String {
    delta("function_call_arguments", index, text, "")
}

/// The last event, with these fields of the response.
fn ends(kind: &str, fields: &str) -> String {
    format!(r#"{{"type":"response.{kind}","response":{{"id":"resp_1"{fields}}}}}"#)
}

fn completed() -> String {
    ends("completed", r#","status":"completed","output":[]"#)
}

fn incomplete(reason: &str) -> String {
    ends("incomplete", &format!(r#","status":"incomplete","incomplete_details":{{"reason":"{reason}"}}"#))
}

/// A reply with reasoning, text and a call, as OpenAI streams it.
fn thoughtful(end: &str) -> Vec<String> {
    vec![
        r#"{"type":"response.created","response":{"status":"in_progress","error":null}}"#.to_owned(),
        r#"{"type":"response.in_progress","response":{"status":"in_progress","error":null}}"#.to_owned(),
        added(0, r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"only the beginning"}"#),
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#.to_owned(),
        delta("reasoning_summary_text", 0, "Fir", r#","summary_index":0"#),
        delta("reasoning_summary_text", 0, "st.", r#","summary_index":0"#),
        r#"{"type":"response.reasoning_summary_text.done","output_index":0,"summary_index":0,"text":"First."}"#.to_owned(),
        delta("reasoning_summary_text", 0, "Then.", r#","summary_index":1"#),
        done(0, REASONING),
        r#"{"type":"keepalive","sequence_number":9}"#.to_owned(),
        added(1, r#"{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}"#),
        r#"{"type":"response.content_part.added","output_index":1,"content_index":0,"part":{"type":"output_text","text":""}}"#.to_owned(),
        text_delta(1, "I "),
        text_delta(1, "look."),
        r#"{"type":"response.output_text.done","output_index":1,"content_index":0,"text":"I look."}"#.to_owned(),
        done(1, MESSAGE),
        added(2, r#"{"type":"function_call","id":"fc_1","name":"read","call_id":"call_1","arguments":""}"#),
        arguments_delta(2, "{\"path\":"),
        arguments_delta(2, " \"x\"}"),
        r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"path\": \"x\"}"}"#.to_owned(),
        done(2, CALL),
        end.to_owned(),
    ]
}

fn answer(events: &[String]) -> Answer {
    stream(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

async fn reply_of(events: &[String]) -> Reply {
    ask_once(API, answer(events)).await.reply()
}

/// What each block holds: its text or tool, and the provider's own item.
fn blocks(reply: &Reply) -> Vec<(&str, Option<&str>)> {
    let of = |block| match block {
        &Block::Text(ref said) | &Block::Reasoning(ref said) => (said.text.as_str(), &said.opaque),
        Block::Call(call) => (call.tool.as_str(), &call.opaque),
    };
    reply.blocks.iter().map(of).map(|(text, opaque)| (text, opaque.as_ref().map(|o| o.as_str()))).collect()
}

#[tokio::test]
async fn reasoning_text_calls_and_usage() {
    let usage = r#","status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":107}"#;
    let outcome = ask_once(API, answer(&thoughtful(&ends("completed", usage)))).await;
    use ModelEvent::{ReasoningDelta as R, TextDelta as T};
    let shown = |text: &str| text.to_owned();
    assert_eq!(
        outcome.events,
        [
            R(shown("Fir")),
            R(shown("st.")),
            R(shown("\n\n")),
            R(shown("Then.")),
            T(shown("I")),
            T(shown(" look.")),
            ModelEvent::ToolCallStarted { index: 0, tool: shown("read") },
            ModelEvent::ToolCallArgsDelta { index: 0, text: shown("{\"path\":") },
            ModelEvent::ToolCallArgsDelta { index: 0, text: shown(" \"x\"}") },
            ModelEvent::ToolCallReady { index: 0 },
        ]
    );
    let reply = outcome.reply();
    assert_eq!(
        blocks(&reply),
        [("First.\n\nThen.", Some(REASONING)), ("I look.", Some(MESSAGE)), ("read", Some(CALL))]
    );
    let call = reply.calls().next().unwrap();
    assert_eq!((call.provider_id.as_str(), call.arguments.as_str()), ("call_1", r#"{"path": "x"}"#));
    assert!(call.id.0.is_nil());
    assert_eq!((reply.api.as_str(), reply.model.as_str()), ("openai-responses", "m"));
    assert_eq!(reply.stop_reason, StopReason::ToolCalls);
    let expected = Usage {
        input: 30,
        output: 7,
        cache_read: 60,
        cache_write: 10,
        reasoning: 3,
        model_calls: 1,
        ..Usage::default()
    };
    assert_eq!(reply.usage, expected);
}

/// Items are sent back to the same model byte for byte and in order, and to another one as plain text without
/// reasoning.
#[tokio::test]
async fn items_go_back_verbatim_to_the_same_model_only() {
    let server = Server::start(vec![
        answer(&thoughtful(&completed())),
        answer(&[completed()]),
        answer(&[completed()]),
    ])
    .await;
    let models = models(config(API, format!("{}/v1/", server.url())));
    let user = Entry::User("go".to_owned());
    let reply = Arc::new(ask(&models, request(vec![user.clone()])).await.reply());
    let entries = vec![user, Entry::Reply(reply), result(0, "call_1", true, "content")];
    ask(&models, request_with_tool(entries.clone())).await.reply();
    let mut other = request_with_tool(entries);
    other.model = "p/other".to_owned();
    ask(&models, other).await.reply();

    let seen = server.seen();
    assert!(seen.iter().all(|s| s.path == "/v1/responses"));
    let output = r#"{"type":"function_call_output","call_id":"call_1","output":"content"}"#;
    let native = format!("{REASONING},{MESSAGE},{CALL},{output}]");
    assert!(seen[1].text().contains(&native), "{}", seen[1].text());
    let plain = format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"I look."}}]}},{{"type":"function_call","call_id":"call_1","name":"read","arguments":"{{\"path\": \"x\"}}"}},{output}]"#
    );
    assert!(seen[2].text().contains(&plain), "{}", seen[2].text());
    assert!(!seen[2].text().contains("gAAA"), "{}", seen[2].text());
}

/// OpenAI rejects a reasoning item without the item that it led to, so of a partial reply only the text goes
/// back.
#[tokio::test]
async fn a_partial_reply_keeps_its_text_and_drops_calls_and_items() {
    let half = r#"{"type":"function_call","id":"fc_1","status":"in_progress","name":"read","call_id":"call_1","arguments":"{\"path"}"#;
    for (reason, expected) in [
        ("max_output_tokens", StopReason::Length),
        ("something_new", StopReason::Length),
        ("content_filter", StopReason::Refusal),
    ] {
        let mut events = thoughtful(&incomplete(reason));
        events[20] = done(2, half);
        let reply = reply_of(&events).await;
        assert_eq!(reply.stop_reason, expected, "{reason}");
        assert_eq!(blocks(&reply), [("First.\n\nThen.", None), ("I look.", None)], "{reason}");
    }
    // Also if the server names the end otherwise, or the reply ended within its reasoning.
    let status =
        ends("completed", r#","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#);
    assert_eq!(reply_of(&thoughtful(&status)).await.stop_reason, StopReason::Length);
    let mut events = thoughtful("")[..9].to_vec();
    events.push(incomplete("max_output_tokens"));
    let reply = reply_of(&events).await;
    assert_eq!((blocks(&reply), reply.stop_reason), (vec![("First.\n\nThen.", None)], StopReason::Length));
}

#[tokio::test]
async fn a_refusal_is_shown_and_named() {
    let item = r#"{"type":"message","id":"msg_1","content":[{"type":"refusal","refusal":"I cannot"}]}"#;
    let reply = reply_of(&[delta("refusal", 0, "I can", ""), done(0, item), completed()]).await;
    assert_eq!((reply.text().as_str(), reply.stop_reason), ("I cannot", StopReason::Refusal));
    assert_eq!(blocks(&reply), [("I cannot", Some(item))]);
}

#[tokio::test]
async fn interleaved_calls_are_put_together_by_index() {
    let call = |n: u32, arguments: &str| {
        let arguments = Value::from(arguments);
        format!(r#"{{"type":"function_call","name":"t{n}","call_id":"c{n}","arguments":{arguments}}}"#)
    };
    let reply = reply_of(&[
        added(0, &call(0, "")),
        added(1, &call(1, "")),
        arguments_delta(1, "{\"b"),
        arguments_delta(0, "{\"a"),
        arguments_delta(1, "\":1}"),
        done(1, &call(1, "{\"b\":1}")),
        arguments_delta(0, "\":0}"),
        done(0, &call(0, "{\"a\":0}")),
        completed(),
    ])
    .await;
    let calls: Vec<_> = reply.calls().map(|c| (c.provider_id.as_str(), c.arguments.as_str())).collect();
    assert_eq!(calls, [("c0", "{\"a\":0}"), ("c1", "{\"b\":1}")]);
}

/// Some servers send no deltas, no beginnings, one index for all, or an empty end.
#[tokio::test]
async fn servers_that_imitate_the_api_loosely_are_understood() {
    let whole = [done(0, REASONING), done(1, MESSAGE), done(2, CALL), completed(), "[DONE]".to_owned()];
    let mut one_index = thoughtful(&completed());
    for event in &mut one_index {
        *event = event
            .replace(r#""output_index":1"#, r#""output_index":0"#)
            .replace(r#""output_index":2"#, r#""output_index":0"#);
    }
    // llama.cpp's server: ids instead of indexes, and all ends at the end.
    let call = |n: u32, arguments: &str| {
        CALL.replace("_1", &format!("_{n}")).replace(r#"{\"path\": \"x\"}"#, arguments)
    };
    let no_index: Vec<_> = [
        added(0, r#"{"type":"reasoning","id":"rs_1","summary":[]}"#),
        delta("reasoning_text", 0, "First.", "").replace("rotates", "rs_1"),
        added(0, r#"{"type":"message","id":"msg_1","content":[]}"#),
        text_delta(0, "I look.").replace("rotates", "msg_1"),
        added(0, &call(1, "")),
        added(0, &call(2, "")),
        arguments_delta(0, "{").replace("rotates", "fc_1"),
        arguments_delta(0, "{}").replace("rotates", "fc_2"),
        done(0, REASONING),
        done(0, MESSAGE),
        done(0, CALL),
        done(0, &call(2, "{}")),
        completed(),
    ]
    .into_iter()
    .map(|event| event.replace(r#""output_index":0,"#, ""))
    .collect();
    let reply = reply_of(&no_index).await;
    let arguments: Vec<_> = reply.calls().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"path": "x"}"#, "{}"]);
    assert_eq!(
        blocks(&reply)[..3],
        [("First.\n\nThen.", Some(REASONING)), ("I look.", Some(MESSAGE)), ("read", Some(CALL))]
    );
    for events in [&whole[..], &one_index] {
        let reply = reply_of(events).await;
        let expected =
            [("First.\n\nThen.", Some(REASONING)), ("I look.", Some(MESSAGE)), ("read", Some(CALL))];
        assert_eq!(blocks(&reply), expected);
    }
    let item = r#"{"type":"message","content":[]}"#;
    assert_eq!(reply_of(&[text_delta(0, "hi"), done(0, item), completed()]).await.text(), "hi");
    let open = r#"{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}"#;
    let events = [delta("reasoning_text", 0, "h", r#","content_index":0"#), done(0, open), completed()];
    assert_eq!(reply_of(&events).await.reasoning(), "hm");
}

/// Reasoning goes back only if the provider can read it (nothing is stored there), and only with the item
/// that it led to.
#[tokio::test]
async fn some_reasoning_does_not_go_back() {
    let bare = r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null}"#;
    let other = REASONING.replace("rs_1", "rs_2");
    for (items, sent) in [
        (vec![bare, MESSAGE], MESSAGE.to_owned()),
        (vec![MESSAGE, REASONING], MESSAGE.to_owned()),
        (vec![REASONING], String::new()),
        (vec![REASONING, &other, MESSAGE], format!("{REASONING},{other},{MESSAGE}")),
    ] {
        let mut events: Vec<_> = (0..).zip(&items).map(|(index, item)| done(index, item)).collect();
        events.push(completed());
        let server = Server::start(vec![answer(&events), answer(&[completed()])]).await;
        let models = models(config(API, server.url()));
        let reply = Arc::new(ask(&models, hello()).await.reply());
        let entries = vec![Entry::User("a".to_owned()), Entry::Reply(reply), Entry::Note("z".to_owned())];
        ask(&models, request_with_tool(entries)).await.reply();
        let text = server.seen()[1].text().to_owned();
        let from = text.find(r#""text":"a"}]}"#).unwrap() + r#""text":"a"}]}"#.len();
        let to = text.rfind(r#",{"type":"message","role":"user""#).unwrap();
        assert_eq!(text[from..to].trim_start_matches(','), sent, "{items:?}");
    }
}

/// A call runs once, with the arguments of its item's end.
#[tokio::test]
async fn the_end_of_an_item_counts() {
    let mut events = thoughtful(&completed());
    events.insert(21, done(2, CALL));
    events[17] = arguments_delta(2, "{\"nonsense\":");
    let outcome = ask_once(API, answer(&events)).await;
    assert!(
        matches!(outcome.events.last(), Some(ModelEvent::Trace(trace)) if trace.what.contains("that has ended"))
    );
    let reply = outcome.reply();
    let calls: Vec<_> = reply.calls().map(|c| c.arguments.as_str()).collect();
    assert_eq!(calls, [r#"{"path": "x"}"#]);
    // A call that never ended.
    let mut events = thoughtful(&completed());
    events.remove(20);
    assert_eq!(ask_once(API, answer(&events)).await.error().kind, Kind::Malformed);
}

/// What a model may write and a server may not accept is replaced within its item: a name, arguments, an id
/// that came before.
#[tokio::test]
async fn a_call_goes_back_in_a_form_that_every_server_accepts() {
    let call = |name: &str, arguments: &str| {
        format!(
            r#"{{"id":"fc", "call_id":"c","type":"function_call","name":"{name}","arguments":"{arguments}","z":1.0}}"#
        )
    };
    let given = [call("read", " {} "), call("bad.name", "{oops"), call("read", "")];
    let events = [done(0, &given[0]), done(1, &given[1]), done(2, &given[2]), completed()];
    let server = Server::start(vec![answer(&events), answer(&[completed()])]).await;
    let models = models(config(API, server.url()));
    let mut reply = ask(&models, hello()).await.reply();
    let mut entries = vec![Entry::User("go".to_owned())];
    let mut results = Vec::new();
    for (n, block) in (1..).zip(&mut reply.blocks) {
        let Block::Call(call) = block else { panic!("{block:?}") };
        call.id = CallId(Uuid::from_u128(n));
        results.push(result(n, &call.provider_id, true, "ok"));
    }
    entries.push(Entry::Reply(Arc::new(reply)));
    entries.extend(results);
    ask(&models, request_with_tool(entries)).await.reply();
    let item = |id: &str, name: &str| {
        format!(
            r#"{{"id":"fc","call_id":"{id}","type":"function_call","name":"{name}","arguments":"{{}}","z":1.0}}"#
        )
    };
    let ours = |n: u128| format!("call_{n:032}");
    let expected = format!("{},{},{}", given[0], item(&ours(2), "bad_name"), item(&ours(3), "read"));
    let text = server.seen()[1].text().to_owned();
    assert!(text.contains(&expected), "{text}");
    for id in ["c", &ours(2), &ours(3)] {
        assert!(text.contains(&format!(r#""function_call_output","call_id":"{id}""#)), "{text}");
    }
}

#[tokio::test]
async fn failures_in_the_stream_are_told_apart() {
    for (error, expected, retryable) in [
        (r#"{"code":"server_error","message":"because"}"#, Kind::ServerError, true),
        (r#"{"code":"server_is_overloaded","message":"because"}"#, Kind::Overloaded, true),
        (r#"{"code":"rate_limit_exceeded","message":"because"}"#, Kind::RateLimited, true),
        (r#"{"code":"invalid_prompt","message":"because"}"#, Kind::BadRequest, false),
        (r#"{"code":"insufficient_quota","message":"because"}"#, Kind::Quota, false),
        (r#"{"code":"context_length_exceeded","message":"because"}"#, Kind::ContextOverflow, false),
        (r#"{"code":"cyber_policy","message":"because"}"#, Kind::Refused, false),
    ] {
        let fields = error.strip_prefix('{').unwrap();
        for event in [
            ends("failed", &format!(r#","status":"failed","error":{error}"#)),
            format!(r#"{{"type":"error","sequence_number":2,"param":null,{fields}"#),
            format!(r#"{{"type":"error","sequence_number":2,"error":{error}}}"#),
        ] {
            let steps = vec![
                data_event(&text_delta(0, "hi")),
                Step::Bytes(format!("event: x\ndata: {event}\n\n").into_bytes()),
            ];
            let error = ask_once(API, Answer::Stream(steps)).await.error();
            assert_eq!((error.kind, error.retryable), (expected, retryable), "{event}: {error}");
            assert!(error.message.contains("because"), "{error}");
        }
    }
    let silent = ends("failed", r#","status":"failed","error":null"#);
    assert_eq!(ask_once(API, answer(&[silent])).await.error().kind, Kind::ServerError);
}

#[tokio::test]
async fn a_stream_that_ends_before_the_reply_does_is_cut() {
    let events = thoughtful(&completed());
    for end in [vec![], vec![Step::Cut], vec![bytes("data: {\"type"), Step::Cut]] {
        let mut steps: Vec<_> = events[..21].iter().map(|event| data_event(event)).collect();
        steps.extend(end);
        let error = ask_once(API, Answer::Stream(steps)).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::Network, true), "{error}");
    }
}

fn refusal(message: &str) -> Answer {
    let body = json!({ "error": { "message": message, "type": "invalid_request_error" } });
    let headers = vec![("content-type", "application/json".to_owned())];
    Answer::Whole { status: 400, headers, body: body.to_string().into_bytes() }
}

/// OpenAI's own models without reasoning refuse the request for it: they are asked without it, in the same
/// attempt.
#[tokio::test]
async fn a_model_without_reasoning_is_not_asked_for_it() {
    let said = || answer(&[done(0, MESSAGE), completed()]);
    let refused = refusal("Encrypted content is not supported with this model.");
    let server = Server::start(vec![refused, said(), said(), said(), refusal("include: too many")]).await;
    let models = models(config(API, server.url()));
    ask(&models, hello()).await.reply();
    ask(&models, hello()).await.reply();
    let mut other = hello();
    other.model = "p/other".to_owned();
    ask(&models, other.clone()).await.reply();
    let includes: Vec<_> =
        server.seen().iter().map(|s| s.text().contains("reasoning.encrypted_content")).collect();
    assert_eq!(includes, [true, false, false, true]);
    assert_eq!(ask(&models, other).await.error().kind, Kind::BadRequest, "another fault");
}

/// Encrypted reasoning is bound to the account that got it. After another key the same attempt goes on
/// without it.
#[tokio::test]
async fn reasoning_that_the_provider_cannot_read_any_more_is_left_out() {
    let unreadable = || {
        refusal("The encrypted content gAAA... could not be verified. Reason: organization_id did not match.")
    };
    let said = || answer(&[done(0, MESSAGE), completed()]);
    let server = Server::start(vec![
        answer(&thoughtful(&completed())),
        unreadable(),
        said(),
        unreadable(),
        unreadable(),
    ])
    .await;
    let models = models(config(API, server.url()));
    let user = Entry::User("go".to_owned());
    let reply = Arc::new(ask(&models, request(vec![user.clone()])).await.reply());
    let entries = vec![user, Entry::Reply(reply), result(0, "call_1", true, "content")];
    assert_eq!(ask(&models, request_with_tool(entries.clone())).await.reply().text(), "I look.");
    let seen = server.seen();
    assert!(seen[1].text().contains(REASONING) && !seen[2].text().contains("gAAA"), "{}", seen[2].text());
    for kept in ["I look.", r#"{"type":"function_call","call_id":"call_1""#, r#""output":"content""#] {
        assert!(seen[2].text().contains(kept), "{kept}: {}", seen[2].text());
    }
    assert_eq!(
        ask(&models, request_with_tool(entries)).await.error().kind,
        Kind::BadRequest,
        "once for each attempt"
    );
    assert_eq!(server.seen().len(), 5);
}
