//! Parts of a stream that make no sense are left out and kept as traces; an attempt fails only if its reply
//! cannot be completed.

use crate::{
    ask::{KEY, Outcome, ask, ask_once, config, delta, finish, hello, models, stream},
    server::Server,
};
use abide_model::{Api, MAX_RAW, ModelEvent};
use abide_protocol::record::{ModelErrorKind as Kind, Trace};

const BEGIN_TEXT: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const BEGIN_CALL: &str = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"shell","input":{}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn traces(outcome: &Outcome) -> Vec<Trace> {
    let trace = |event: &ModelEvent| match event {
        ModelEvent::Trace(trace) => Some(trace.clone()),
        _ => None,
    };
    outcome.events.iter().filter_map(trace).collect()
}

fn text_piece(index: u32, text: &str) -> String {
    format!(
        r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#
    )
}

fn arguments_piece(json: &str) -> String {
    let json = serde_json::Value::from(json);
    format!(
        r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":{json}}}}}"#
    )
}

fn ends(reason: &str) -> String {
    format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#)
}

/// Each of these between two pieces of a text is left out and traced with these words.
#[tokio::test]
async fn malformed_events_are_left_out_over_openai_chat() {
    let (hel, lo, end) = (delta(r#"{"content":"Hel"}"#), delta(r#"{"content":"lo"}"#), finish("stop"));
    for (odd, what) in [
        ("ping", "not the JSON expected here"),
        ("null", "not the JSON expected here"),
        (r#"{"choices":[{"delta":{"content":"#, "not the JSON expected here"),
        (r#"{"choices":"none"}"#, "not the JSON expected here"),
        (r#"{"choices":[{"delta":{"content":5}}]}"#, "neither text nor a list"),
        (r#"{"type":"surprise"}"#, "an event of an unknown kind"),
        (r#"{"choices":[],"usage":"much"}"#, "usage in an unknown form"),
    ] {
        let outcome = ask_once(Api::OpenaiChat, stream(&[&hel, odd, &lo, &end, "[DONE]"])).await;
        let traces = traces(&outcome);
        assert_eq!(traces.len(), 1, "{odd}: {traces:?}");
        assert!(traces[0].what.contains(what), "{odd}: {traces:?}");
        assert!(odd.contains(&traces[0].raw), "{odd}: {traces:?}");
        assert_eq!(outcome.reply().text(), "Hello", "{odd}");
    }
}

/// An event of the Responses API with these fields, about the item at this index.
fn item_event(kind: &str, index: u32, fields: &str) -> String {
    format!(r#"{{"type":"response.{kind}","output_index":{index},{fields}}}"#)
}

fn completed(output: &str) -> String {
    format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[{output}]}}}}"#)
}

#[tokio::test]
async fn malformed_events_are_left_out_over_openai_responses() {
    let item = |text: &str| {
        format!(r#""item":{{"type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}"#)
    };
    let piece = |text: &str| item_event("output_text.delta", 0, &format!(r#""delta":"{text}""#));
    let (hel, lo) = (piece("Hel"), piece("lo"));
    let (done, end) = (item_event("output_item.done", 0, &item("Hello")), completed(""));
    for (odd, what) in [
        ("ping", "not the JSON expected here"),
        ("null", "not the JSON expected here"),
        (r#"{"type":"response.output_text.delta","output_index":0,"delta":"#, "not the JSON expected here"),
        (r#"{"type":"response.output_text.delta","output_index":0,"delta":5}"#, "not the JSON expected here"),
        (r#"{"type":"response.output_item.done","output_index":0}"#, "without the item"),
        (
            r#"{"type":"response.output_item.added","output_index":9,"item":{"type":"hologram"}}"#,
            "`hologram`",
        ),
        (r#"{"type":"response.surprise"}"#, "an event of an unknown kind, `response.surprise`"),
    ] {
        let outcome = ask_once(Api::OpenaiResponses, stream(&[&hel, odd, &lo, &done, &end])).await;
        let traces = traces(&outcome);
        assert_eq!(traces.len(), 1, "{odd}: {traces:?}");
        assert!(traces[0].what.contains(what), "{odd}: {traces:?}");
        assert!(odd.contains(&traces[0].raw), "{odd}: {traces:?}");
        assert_eq!(outcome.reply().text(), "Hello", "{odd}");
    }
    let usage = r#"{"type":"response.completed","response":{"usage":"much"}}"#;
    let outcome = ask_once(Api::OpenaiResponses, stream(&[&hel, &done, usage])).await;
    assert_eq!((traces(&outcome).len(), outcome.reply().text().as_str()), (1, "Hello"));
}

/// The end of an item repeats its deltas; without it a call does not run, and a text goes back without the
/// item.
#[tokio::test]
async fn over_openai_responses_the_end_of_an_item_makes_up_for_a_lost_piece() {
    let call = |arguments: &str| {
        let arguments = serde_json::Value::from(arguments);
        format!(r#""item":{{"type":"function_call","call_id":"a","name":"shell","arguments":{arguments}}}"#)
    };
    let begin = item_event("output_item.added", 0, &call(""));
    let piece = item_event("function_call_arguments.delta", 0, r#""delta":"{\"command\":\"rm -r build""#);
    let cut = piece.replace("\"}", "");
    let done = item_event("output_item.done", 0, &call(r#"{"command":"rm -r build/old"}"#));
    let whole = [&begin[..], &piece, &cut, &done, &completed("")].map(str::to_owned);
    let refs = |events: &[String]| stream(&events.iter().map(String::as_str).collect::<Vec<_>>());
    let reply = ask_once(Api::OpenaiResponses, refs(&whole)).await.reply();
    assert_eq!(reply.calls().next().unwrap().arguments, r#"{"command":"rm -r build/old"}"#);

    let half = done.replace("}}", "");
    let listed = completed(r#"{"type":"function_call"}"#);
    for events in [
        &[begin.clone(), piece.clone(), half.clone(), listed.clone()][..],
        &[piece.clone(), half.clone(), listed.clone()],
        &[half, listed],
        &[piece, completed("")],
    ] {
        let error = ask_once(Api::OpenaiResponses, refs(events)).await.error();
        assert_eq!((error.kind, error.retryable), (Kind::Malformed, true), "{events:?}");
    }
}

#[tokio::test]
async fn malformed_events_are_left_out_over_anthropic_messages() {
    let (hel, lo, end) = (text_piece(0, "Hel"), text_piece(0, "lo"), ends("end_turn"));
    for (odd, what) in [
        ("ping", "not the JSON expected here"),
        (r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_"#, "not the JSON expected here"),
        (
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":5}}"#,
            "not the JSON",
        ),
        (
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}"#,
            "`citations_delta`",
        ),
        (r#"{"type":"content_block_start","index":9,"content_block":{"type":"hologram"}}"#, "`hologram`"),
        (r#"{"type":"surprise"}"#, "an event of an unknown kind, `surprise`"),
    ] {
        let outcome = ask_once(Api::Anthropic, stream(&[BEGIN_TEXT, &hel, odd, &lo, &end, STOP])).await;
        let traces = traces(&outcome);
        assert_eq!(traces.len(), 1, "{odd}: {traces:?}");
        assert!(traces[0].what.contains(what), "{odd}: {traces:?}");
        assert!(odd.contains(&traces[0].raw), "{odd}: {traces:?}");
        assert_eq!(outcome.reply().text(), "Hello", "{odd}");
    }
}

#[tokio::test]
async fn a_text_whose_beginning_is_left_out_goes_on_without_it() {
    let events =
        [r#"{"type":"content_block_start","index":0,"#, &text_piece(0, "Hello"), &ends("end_turn"), STOP];
    let outcome = ask_once(Api::Anthropic, stream(&events)).await;
    assert_eq!((traces(&outcome).len(), outcome.reply().text().as_str()), (1, "Hello"));
}

/// `rm -r build` and `rm -r build/old` both parse: a piece that may be missing must not be guessed.
#[tokio::test]
async fn a_call_that_may_lack_a_piece_fails_the_attempt() {
    let piece = |arguments: &str| {
        let arguments = serde_json::Value::from(arguments);
        delta(&format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{arguments}}}}}]}}"#))
    };
    let begin = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"shell","arguments":""}}]}"#);
    let (first, last) = (r#"{"command":"rm -r build"#, r#""}"#);
    let cut = piece("/old").replace("}]}", "");
    let outcome = ask_once(
        Api::OpenaiChat,
        stream(&[&begin, &piece(first), &cut, &piece(last), &finish("tool_calls")]),
    )
    .await;
    assert_eq!(traces(&outcome)[0].raw, cut);
    let error = outcome.error();
    assert_eq!((error.kind, error.retryable, error.sent), (Kind::Malformed, true, true), "{error}");

    let cut = arguments_piece("/old").replace("}}", "");
    let events = [BEGIN_CALL, &arguments_piece(first), &cut, &arguments_piece(last), &ends("tool_use"), STOP];
    let outcome = ask_once(Api::Anthropic, stream(&events)).await;
    assert_eq!(traces(&outcome)[0].raw, cut);
    assert_eq!(outcome.error().kind, Kind::Malformed);
}

#[tokio::test]
async fn a_keep_alive_between_the_pieces_of_a_call_does_no_harm() {
    let piece = |arguments: &str| {
        delta(&format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{arguments}"}}}}]}}"#))
    };
    let begin = delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":"{"}}]}"#);
    let outcome = ask_once(
        Api::OpenaiChat,
        stream(&[&begin, "keep-alive", &piece("}"), &finish("tool_calls"), r#"{"choices":5}"#, "[DONE]"]),
    )
    .await;
    assert_eq!(traces(&outcome).len(), 2);
    assert_eq!(outcome.reply().calls().map(|call| call.arguments.clone()).collect::<Vec<_>>(), ["{}"]);
}

/// A call whose first event cannot be read, and a reply that ends in calls of which none can be read.
#[tokio::test]
async fn a_call_that_never_began_fails_the_attempt() {
    let half = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"list""#;
    let rest = delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#);
    let end = finish("tool_calls");
    for events in [&[half, &rest, &end][..], &[half, &end]] {
        assert_eq!(ask_once(Api::OpenaiChat, stream(events)).await.error().kind, Kind::Malformed);
    }
    let half = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use""#;
    let (rest, end) = (arguments_piece("{}"), ends("tool_use"));
    for events in [&[half, &rest, &end, STOP][..], &[half, &end, STOP]] {
        assert_eq!(ask_once(Api::Anthropic, stream(events)).await.error().kind, Kind::Malformed);
    }
}

#[tokio::test]
async fn a_stream_of_only_malformed_events_is_ended() {
    let nonsense = "x".repeat(1024 * 1024);
    let events = [nonsense.as_str(); 6];
    let error = ask_once(Api::OpenaiChat, stream(&events)).await.error();
    assert_eq!((error.kind, error.retryable), (Kind::Malformed, false), "{error}");
    assert_eq!(ask_once(Api::OpenaiChat, stream(&["nonsense"])).await.error().kind, Kind::Network);
}

#[tokio::test]
async fn traces_are_short_and_without_the_key() {
    let event = format!(r#"{{"type":"{KEY} ä{}"}}"#, "ä".repeat(4000));
    let server = Server::start(vec![stream(&[&event, &ends("end_turn"), STOP])]).await;
    let outcome = ask(&models(config(Api::Anthropic, server.url())), hello()).await;
    let [trace] = traces(&outcome).try_into().unwrap();
    assert!(trace.raw.len() <= MAX_RAW && trace.raw.ends_with('…'), "{trace:?}");
    assert!(trace.raw.contains("[key]") && trace.what.contains("[key]"), "{trace:?}");
    assert!(!format!("{trace:?}").contains("SECRET"), "{trace:?}");
}
