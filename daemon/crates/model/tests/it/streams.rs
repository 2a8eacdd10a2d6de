//! Forms of streams that servers send instead of the one that their API describes.

use crate::{
    ask::{
        ask, ask_once, bytes, config, data_event, delta, finish, hello, models, request_with_tool, stream,
    },
    server::{Answer, Server, Step},
};
use abide_model::{Api, ModelEvent, ProviderConfig};
use abide_protocol::{
    record::ModelErrorKind as Kind,
    transcript::{Reply, StopReason, Usage},
};
use std::time::Duration;

const APIS: [Api; 3] = [Api::OpenaiChat, Api::OpenaiResponses, Api::Anthropic];

/// A text delta whose JSON string is `json`.
fn text(api: Api, json: &str) -> String {
    match api.name() {
        "anthropic" => format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{json}}}}}"#
        ),
        "openai-responses" => {
            format!(r#"{{"type":"response.output_text.delta","output_index":0,"delta":{json}}}"#)
        }
        _ => delta(&format!(r#"{{"content":{json}}}"#)),
    }
}

/// The event with the stop reason and this usage, in the API's own field names: `INPUT` and `OUTPUT` stand
/// for their values.
fn stop(api: Api, input: &str, output: &str) -> String {
    match api.name() {
        "anthropic" => format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{{"input_tokens":{input},"output_tokens":{output}}}}}"#
        ),
        "openai-responses" => format!(
            r#"{{"type":"response.completed","response":{{"status":"completed","usage":{{"input_tokens":{input},"output_tokens":{output}}}}}}}"#
        ),
        _ => format!(
            r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{input},"completion_tokens":{output}}}}}"#
        ),
    }
}

/// Something that keeps the connection alive and is no content.
fn keepalives(api: Api) -> Vec<Step> {
    let mut steps = vec![bytes(": still here\n\n"), data_event(&text(api, "\"\""))];
    let more = match api.name() {
        "anthropic" => &[
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":""}}"#,
        ][..],
        "openai-responses" => {
            &[r#"{"type":"keepalive"}"#, r#"{"type":"response.in_progress","response":{}}"#]
        }
        _ => &[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[],"refusal":null}}]}"#,
            r#"{"choices":[],"prompt_progress":{"total":100,"processed":7}}"#,
            r#"{"prompt_progress":{"total":100,"processed":7}}"#,
        ],
    };
    steps.extend(more.iter().map(|event| data_event(event)));
    steps
}

fn impatient(api: Api, server: &Server, stall: u64, prompt: u64) -> ProviderConfig {
    ProviderConfig {
        stall_timeout: Duration::from_millis(stall),
        prompt_timeout: Duration::from_millis(prompt),
        ..config(api, server.url())
    }
}

/// Keepalives for longer than any limit here.
fn alive_for_long(api: Api) -> impl Iterator<Item = Step> {
    (0..600).flat_map(move |_| keepalives(api).into_iter().chain([Step::Pause(Duration::from_millis(25))]))
}

#[tokio::test]
async fn only_content_resets_the_stall_timeout() {
    for api in APIS {
        let steps = [data_event(&text(api, "\"hi\""))].into_iter().chain(alive_for_long(api)).collect();
        let server = Server::start(vec![Answer::Stream(steps)]).await;
        let error = ask(&models(impatient(api, &server, 500, 60_000)), hello()).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::Stalled, true), "{}: {error}", api.name());
        let expected = "p: nothing of its reply came for 0.5 s; a higher `stall_timeout_secs` of [providers.p] in config.toml waits longer";
        assert_eq!(error.message, expected);
    }
}

/// A server on this machine reads a prompt for as long as it must, before its headers and after them, but not
/// for ever.
#[tokio::test]
async fn a_reply_from_near_may_take_long_to_begin() {
    for api in APIS {
        let pause = Step::Pause(Duration::from_millis(600));
        let steps = vec![pause, data_event(&text(api, "\"hi\"")), data_event(&stop(api, "1", "1"))];
        let server = Server::start(vec![Answer::Stream(steps)]).await;
        let reply = ask(&models(impatient(api, &server, 100, 60_000)), hello()).await.reply();
        assert_eq!(reply.text(), "hi", "{}", api.name());

        let answers = [Answer::Silence, Answer::Stream(alive_for_long(api).collect())];
        for answer in answers {
            let server = Server::start(vec![answer]).await;
            let error = ask(&models(impatient(api, &server, 100, 500)), hello()).await.error();
            assert_eq!(error.kind, Kind::Stalled, "{}: {error}", api.name());
            assert!(error.message.contains("for 0.5 s; a higher `stall_timeout_secs`"), "{error}");
        }
    }
}

/// After the stop reason the reply is whole: neither silence nor keepalives hold it for long.
#[tokio::test]
async fn a_finished_reply_does_not_wait_for_the_end_of_the_stream() {
    let is_whole = async |api: Api, rest: Vec<Step>| {
        let begin = [data_event(&text(api, "\"hi\"")), data_event(&stop(api, "3", "4"))];
        let server = Server::start(vec![Answer::Stream(begin.into_iter().chain(rest).collect())]).await;
        let begun = std::time::Instant::now();
        let reply = ask(&models(impatient(api, &server, 60_000, 60_000)), hello()).await.reply();
        assert_eq!((reply.text().as_str(), reply.usage.input, reply.usage.output), ("hi", 3, 4));
        assert!(begun.elapsed() < Duration::from_secs(12), "{}", api.name());
    };
    for api in [Api::OpenaiChat, Api::Anthropic] {
        tokio::join!(is_whole(api, vec![Step::Hang]), is_whole(api, alive_for_long(api).collect()));
    }
}

#[tokio::test]
async fn a_character_may_be_cut_in_two() {
    for api in APIS {
        let events = [r#""a\ud83d""#, r#""""#, r#""\ude00b \ud83d\ude00""#].map(|json| text(api, json));
        let [first, empty, second] = events.each_ref().map(String::as_str);
        let outcome = ask_once(api, stream(&[first, empty, second, &stop(api, "1", "1")])).await;
        assert!(!outcome.events.iter().any(|e| matches!(e, ModelEvent::Trace(_))), "{:?}", outcome.events);
        assert_eq!(outcome.reply().text(), "a😀b 😀", "{}", api.name());
    }
    let call = delta(
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":\"\ud83d"}}]}"#,
    );
    let rest = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"}"}}]}"#);
    let reply = ask_once(Api::OpenaiChat, stream(&[&call, &rest, &finish("tool_calls")])).await.reply();
    assert_eq!(reply.calls().next().unwrap().arguments, r#"{"p":"😀"}"#);
}

#[tokio::test]
async fn counts_come_in_any_form_and_absurd_ones_are_left_out() {
    for api in APIS {
        for (input, output, expected, traced) in [
            ("12", "7", (12, 7), false),
            ("12.0", "7.0", (12, 7), false),
            (r#""12""#, r#""7""#, (12, 7), false),
            ("12", "null", (12, 0), false),
            ("-5", "7", (0, 7), true),
            ("12", "5000000000", (12, 0), true),
            (r#""NaN""#, "7", (0, 7), true),
            (r#""many""#, "7.0", (0, 7), true),
            ("1e18", "7", (0, 7), true),
        ] {
            let outcome = ask_once(api, stream(&[&text(api, "\"hi\""), &stop(api, input, output)])).await;
            let traces = outcome.events.iter().filter(|e| matches!(e, ModelEvent::Trace(_))).count();
            let Usage { input: i, output: o, .. } = outcome.reply().usage;
            let case = format!("{}: {input}, {output}", api.name());
            assert_eq!(((i, o), traces), (expected, usize::from(traced)), "{case}");
        }
    }
}

/// A whole reply in a document, with a text and a call, over several lines.
fn document(api: Api) -> &'static str {
    match api.name() {
        "anthropic" => {
            r#"{"type": "message", "role": "assistant", "content": [
                {"type": "text", "text": "I\nlook."},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}}
            ], "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}}"#
        }
        "openai-responses" => {
            r#"{"object": "response", "status": "completed", "error": null, "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "I\nlook."}]},
                {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"path\": \"x\"}"}
            ], "usage": {"input_tokens": 3, "output_tokens": 4}}"#
        }
        _ => {
            r#"{"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "I\nlook.", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"x\"}"}}
                ]
            }}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}"#
        }
    }
}

fn with_type(kind: Option<&str>, body: impl Into<Vec<u8>>) -> Answer {
    let headers = kind.map(|kind| ("content-type", kind.to_owned())).into_iter().collect();
    Answer::Whole { status: 200, headers, body: body.into() }
}

const TYPES: [Option<&str>; 6] = [
    None,
    Some("text/event-stream"),
    Some("text/plain; charset=utf-8"),
    Some("application/json"),
    Some("application/octet-stream"),
    Some("text/html"),
];

#[tokio::test]
async fn a_document_is_a_reply_whatever_its_type_is_called() {
    for api in APIS {
        for kind in TYPES {
            let outcome = ask_once(api, with_type(kind, format!("\n {}\n", document(api)))).await;
            let reply: Reply = outcome.reply();
            let case = format!("{}: {kind:?}", api.name());
            assert_eq!(reply.text(), "I\nlook.", "{case}");
            let calls: Vec<_> = reply
                .calls()
                .map(|c| (c.provider_id.as_str(), c.tool.as_str(), c.arguments.replace(' ', "")))
                .collect();
            assert_eq!(calls, [("a", "read", r#"{"path":"x"}"#.to_owned())], "{case}");
            assert_eq!(reply.stop_reason, StopReason::ToolCalls, "{case}");
            assert_eq!((reply.usage.input, reply.usage.output), (3, 4), "{case}");
        }
    }
}

#[tokio::test]
async fn a_stream_is_read_whatever_its_type_is_called() {
    for api in APIS {
        for kind in TYPES {
            let events = [text(api, "\"hi\""), stop(api, "1", "1")];
            let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            let reply = ask_once(api, with_type(kind, body)).await.reply();
            assert_eq!(reply.text(), "hi", "{}: {kind:?}", api.name());
        }
    }
}

#[tokio::test]
async fn a_document_that_is_no_reply_is_told_apart() {
    for api in APIS {
        for (body, kind, says) in [
            (r#"{"models":[]}"#, Kind::Malformed, "right base_url?"),
            ("[1,2]", Kind::Malformed, "right base_url?"),
            (" <html>", Kind::Malformed, "right base_url?"),
            (
                r#"{"error":{"type":"overloaded_error","message":"too busy","code":503}}"#,
                Kind::Overloaded,
                "too busy",
            ),
        ] {
            let error = ask_once(api, with_type(Some("application/json"), body)).await.error();
            assert_eq!(error.kind, kind, "{}, {body}: {error}", api.name());
            assert!(error.message.contains(says), "{}, {body}: {error}", api.name());
            assert_eq!(error.retryable, kind == Kind::Overloaded, "{error}");
        }
    }
}

/// A document without a stop reason is whole, and half of one is cut.
#[tokio::test]
async fn a_document_is_whole_by_itself() {
    let body = document(Api::OpenaiChat).replace(r#""finish_reason": "tool_calls", "#, "");
    let reply = ask_once(Api::OpenaiChat, with_type(None, body)).await.reply();
    assert_eq!((reply.text().as_str(), reply.calls().count()), ("I\nlook.", 1));
    for api in APIS {
        let whole = document(api);
        let error = ask_once(api, with_type(None, &whole[..whole.len() / 2])).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::Network, true), "{}: {error}", api.name());
    }
}

/// Some servers send a stop reason with each piece: a reply may go on for longer than the wait after the
/// last.
#[tokio::test]
async fn content_after_a_stop_reason_is_waited_for() {
    let piece = |text: &str| {
        format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#)
    };
    let pause = || Step::Pause(Duration::from_millis(1_200));
    let steps =
        vec![data_event(&piece("a")), pause(), data_event(&piece("b")), pause(), data_event(&piece("c"))];
    let reply = ask_once(Api::OpenaiChat, Answer::Stream(steps)).await.reply();
    assert_eq!(reply.text(), "abc");
}

/// The pieces as gzip, without making it smaller: a beginning, a block for each piece, and an end.
fn gzip(pieces: &[String]) -> Vec<Vec<u8>> {
    let mut parts = vec![vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]];
    let block = |last: u8, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap();
        [&[last][..], &length.to_le_bytes(), &(!length).to_le_bytes(), data].concat()
    };
    parts.extend(pieces.iter().map(|piece| block(0, piece.as_bytes())));
    let whole = pieces.concat();
    let crc = !whole.bytes().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    });
    let size = u32::try_from(whole.len()).unwrap();
    parts.push([&block(1, b"")[..], &crc.to_le_bytes(), &size.to_le_bytes()].concat());
    parts
}

#[tokio::test]
async fn a_compressed_stream_is_read_though_nobody_asked_for_it() {
    for api in APIS {
        let events = [text(api, "\"hi\""), stop(api, "1", "1")].map(|event| format!("data: {event}\n\n"));
        let headers =
            vec![("content-type", "text/event-stream".to_owned()), ("content-encoding", "gzip".to_owned())];
        let answer = Answer::Whole { status: 200, headers, body: gzip(&events).concat() };
        let server = Server::start(vec![answer]).await;
        let reply = ask(&models(config(api, server.url())), hello()).await.reply();
        assert_eq!(reply.text(), "hi", "{}", api.name());
        assert_eq!(server.only().header("accept-encoding"), Some("identity"), "{}", api.name());
    }
}

/// (tool, arguments, provider id) of each call.
type Called<'a> = &'a [(&'a str, &'a str, &'a str)];

#[tokio::test]
async fn calls_come_in_many_forms_over_openai_chat() {
    let tool = |fields: &str| delta(&format!(r#"{{"tool_calls":[{{{fields}}}]}}"#));
    let named = r#""function":{"name":"read","arguments":""}"#;
    let cases: &[(&str, Vec<String>, Called<'_>)] = &[
        (
            "the arguments have another index",
            vec![
                tool(&format!(r#""index":0,"id":"a",{named}"#)),
                tool(r#""index":1,"function":{"arguments":"{\"x\":"}"#),
                tool(r#""index":2,"function":{"arguments":"1}"}"#),
            ],
            &[("read", r#"{"x":1}"#, "a")],
        ),
        (
            "each delta has an index of its own, and there are two calls",
            vec![
                tool(&format!(r#""index":0,"id":"a",{named}"#)),
                tool(r#""index":1,"function":{"arguments":"{\"x\":1}"}"#),
                tool(&format!(r#""index":2,"id":"b",{named}"#)),
                tool(r#""index":3,"function":{"arguments":"{\"x\":2}"}"#),
            ],
            &[("read", r#"{"x":1}"#, "a"), ("read", r#"{"x":2}"#, "b")],
        ),
        (
            "only the first delta has an index",
            vec![
                tool(&format!(r#""index":0,"id":"a",{named}"#)),
                tool(r#""function":{"arguments":"{\"x\":1}"}"#),
            ],
            &[("read", r#"{"x":1}"#, "a")],
        ),
        (
            "only the later deltas have an index",
            vec![
                tool(&format!(r#""id":"a",{named}"#)),
                tool(r#""index":0,"function":{"arguments":"{\"x\":"}"#),
                tool(r#""index":0,"function":{"arguments":"1}"}"#),
            ],
            &[("read", r#"{"x":1}"#, "a")],
        ),
        (
            "no delta has an index",
            vec![tool(&format!(r#""id":"a",{named}"#)), tool(r#""id":"a","function":{"arguments":"{\"x\":1}"}"#)],
            &[("read", r#"{"x":1}"#, "a")],
        ),
        (
            "the old form, in pieces",
            vec![
                delta(r#"{"function_call":{"name":"read","arguments":""}}"#),
                delta(r#"{"function_call":{"arguments":"{\"x\":"}}"#),
                delta(r#"{"function_call":{"arguments":"1}"}}"#),
            ],
            &[("read", r#"{"x":1}"#, "")],
        ),
        (
            "the old form, with the name in each piece",
            vec![
                delta(r#"{"function_call":{"name":"read","arguments":"{\"x\":"}}"#),
                delta(r#"{"function_call":{"name":"read","arguments":"1}"}}"#),
            ],
            &[("read", r#"{"x":1}"#, "")],
        ),
        (
            "both forms",
            vec![delta(
                r#"{"function_call":{"name":"read","arguments":"{\"x\":1}"},"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"x\":1}"}}]}"#,
            )],
            &[("read", r#"{"x":1}"#, "a")],
        ),
        (
            "a message instead of a delta, in the old form",
            vec![
                r#"{"choices":[{"index":0,"message":{"role":"assistant","content":null,"function_call":{"name":"read","arguments":"{\"x\":1}"}}}]}"#
                    .to_owned(),
            ],
            &[("read", r#"{"x":1}"#, "")],
        ),
        (
            "a message that repeats the deltas",
            vec![
                tool(r#""index":0,"id":"a","function":{"name":"read","arguments":"{\"x\":1}"}"#),
                r#"{"choices":[{"index":0,"message":{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{\"x\":1}"}}]}}]}"#
                    .to_owned(),
            ],
            &[("read", r#"{"x":1}"#, "a")],
        ),
    ];
    for (case, events, expected) in cases {
        for end in ["tool_calls", "function_call"] {
            let end = finish(end);
            let events: Vec<_> = events.iter().chain([&end]).map(String::as_str).collect();
            let reply = ask_once(Api::OpenaiChat, stream(&events)).await.reply();
            let calls: Vec<_> = reply
                .calls()
                .map(|c| (c.tool.as_str(), c.arguments.as_str(), c.provider_id.as_str()))
                .collect();
            assert_eq!(calls, *expected, "{case}");
            assert_eq!(reply.stop_reason, StopReason::ToolCalls, "{case}");
        }
    }
}

#[tokio::test]
async fn messages_may_come_instead_of_deltas() {
    let message = |text: &str| format!(r#"{{"choices":[{{"index":0,"message":{{"content":"{text}"}}}}]}}"#);
    let whole = message("hello");
    let (hel, lo) = (delta(r#"{"content":"hel"}"#), delta(r#"{"content":"lo"}"#));
    for events in [&[&message("hel"), &message("lo")][..], &[&whole], &[&hel, &lo, &whole]] {
        let end = finish("stop");
        let events: Vec<_> = events.iter().map(|event| event.as_str()).chain([end.as_str()]).collect();
        assert_eq!(ask_once(Api::OpenaiChat, stream(&events)).await.reply().text(), "hello", "{events:?}");
    }
}

/// The refusal counts for the provider: it is not asked for the counts again.
#[tokio::test]
async fn a_server_that_does_not_know_stream_options_is_asked_without_them() {
    for (status, body) in [
        (400, r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs"}]}"#,
        ),
    ] {
        let refusal = Answer::Whole { status, headers: Vec::new(), body: body.into() };
        let good = || stream(&[&delta(r#"{"content":"hi"}"#), &finish("stop"), "[DONE]"]);
        let server = Server::start(vec![refusal, good(), good()]).await;
        let models = models(config(Api::OpenaiChat, server.url()));
        for _ in 0..2 {
            assert_eq!(
                ask(&models, request_with_tool(hello_entries())).await.reply().text(),
                "hi",
                "{status}"
            );
        }
        let asked: Vec<_> = server.seen().iter().map(|s| s.json().get("stream_options").is_some()).collect();
        assert_eq!(asked, [true, false, false], "{status}");
    }
}

fn hello_entries() -> Vec<abide_protocol::transcript::Entry> {
    hello().transcript.entries().to_vec()
}

/// The context is full: without a word the conversation is too long, with some the reply is cut.
#[tokio::test]
async fn a_success_may_say_that_the_context_is_full() {
    for api in APIS {
        let end = match api.name() {
            "anthropic" => {
                r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}"#.to_owned()
            }
            "openai-responses" => r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"model_context_window_exceeded"}}}"#.to_owned(),
            _ => finish("model_context_window_exceeded"),
        };
        for nothing in ["\"\"", "\" \\n\""] {
            let error = ask_once(api, stream(&[&text(api, nothing), &end])).await.error();
            assert_eq!(
                (error.kind, error.retryable),
                (Kind::ContextOverflow, false),
                "{}: {error}",
                api.name()
            );
        }
        let reply = ask_once(api, stream(&[&text(api, "\"I was\""), &end])).await.reply();
        assert_eq!((reply.text().as_str(), reply.stop_reason), ("I was", StopReason::Length));
    }
}
