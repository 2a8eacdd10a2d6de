use crate::{
    ask::{ask_once, bytes, data_event, delta, finish, stream},
    server::{Answer, Step},
};
use abide_model::{Api, ModelEvent};
use abide_protocol::{
    record::ModelErrorKind,
    transcript::{Block, Reply, StopReason, Usage},
};

async fn reply_of(events: &[&str]) -> Reply {
    ask_once(Api::OpenaiChat, stream(events)).await.reply()
}

/// (tool, arguments, provider id) of each call.
fn calls(reply: &Reply) -> Vec<(&str, &str, &str)> {
    reply.calls().map(|c| (c.tool.as_str(), c.arguments.as_str(), c.provider_id.as_str())).collect()
}

#[tokio::test]
async fn text_reasoning_and_usage() {
    let outcome = ask_once(
        Api::OpenaiChat,
        stream(&[
            &delta(r#"{"role":"assistant","content":""}"#),
            &delta(r#"{"reasoning_content":"think "}"#),
            &delta(r#"{"reasoning_content":"hard"}"#),
            &delta(r#"{"content":"Hel"}"#),
            &delta(r#"{"content":"lo"}"#),
            &finish("stop"),
            r#"{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,
                "prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":3}}}"#
                .replace('\n', "")
                .as_str(),
            "[DONE]",
        ]),
    )
    .await;
    use ModelEvent::{ReasoningDelta as R, TextDelta as T};
    assert_eq!(
        outcome.events,
        [R("think ".to_owned()), R("hard".to_owned()), T("Hel".to_owned()), T("lo".to_owned())]
    );
    let reply = outcome.reply();
    assert_eq!((reply.text().as_str(), reply.reasoning().as_str()), ("Hello", "think hard"));
    assert_eq!((reply.api.as_str(), reply.model.as_str()), ("openai-chat", "m"));
    assert_eq!(reply.stop_reason, StopReason::EndTurn);
    let expected =
        Usage { input: 40, output: 7, cache_read: 60, reasoning: 3, model_calls: 1, ..Usage::default() };
    assert_eq!(reply.usage, expected);
}

#[tokio::test]
async fn characters_and_lines_may_be_split_anywhere() {
    let whole = format!(
        ": comment\r\nevent: x\r\ndata: {}\r\n\r\ndata:{}\n\n:\n\ndata: {}\r\rdata: [DONE]\n\n",
        delta(r#"{"content":"grüße "}"#),
        delta(r#"{"content":"🦀"}"#),
        finish("stop"),
    );
    let steps = whole.bytes().map(|b| Step::Bytes(vec![b])).collect();
    let reply = ask_once(Api::OpenaiChat, Answer::Stream(steps)).await.reply();
    assert_eq!(reply.text(), "grüße 🦀");
}

#[tokio::test]
async fn interleaved_calls_are_put_together_by_index() {
    let outcome = ask_once(
        Api::OpenaiChat,
        stream(&[
            &delta(r#"{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}"#),
            &delta(r#"{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"list","arguments":"{\"pa"}}]}"#),
            &delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}"#),
            &delta(r#"{"tool_calls":[{"index":1,"function":{"arguments":"th\":\"y\"}"}},{"index":0,"function":{"arguments":"\"x\"}"}}]}"#),
            &finish("tool_calls"),
            "[DONE]",
        ]),
    )
    .await;
    let ready: Vec<_> =
        outcome.events.iter().filter(|e| matches!(e, ModelEvent::ToolCallReady { .. })).cloned().collect();
    assert_eq!(ready, [ModelEvent::ToolCallReady { index: 0 }, ModelEvent::ToolCallReady { index: 1 }]);
    assert_eq!(outcome.events[0], ModelEvent::ToolCallStarted { index: 0, tool: "read".to_owned() });
    let reply = outcome.reply();
    assert_eq!(calls(&reply), [("read", r#"{"path":"x"}"#, "a"), ("list", r#"{"path":"y"}"#, "b")]);
    assert_eq!(reply.stop_reason, StopReason::ToolCalls);
    assert!(reply.calls().all(|c| c.id.0.is_nil()));
}

#[tokio::test]
async fn calls_without_index_or_id_and_stop_instead_of_tool_calls() {
    let reply = reply_of(&[
        &delta(r#"{"tool_calls":[{"function":{"name":"read","arguments":"{\"a\":"}}]}"#),
        &delta(r#"{"tool_calls":[{"function":{"arguments":"1}"}}]}"#),
        &delta(r#"{"tool_calls":[{"function":{"name":"list","arguments":{"b": 2}}}]}"#),
        &delta(r#"{"tool_calls":[{"function":{"name":"stat"}}]}"#),
        &finish("stop"),
    ])
    .await;
    assert_eq!(calls(&reply), [("read", r#"{"a":1}"#, ""), ("list", r#"{"b": 2}"#, ""), ("stat", "{}", "")]);
    assert_eq!(reply.stop_reason, StopReason::ToolCalls);
}

#[tokio::test]
async fn whole_calls_that_all_have_index_0_stay_apart() {
    let reply = reply_of(&[
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#),
        &delta(r#"{"tool_calls":[{"index":0,"id":"b","function":{"name":"read","arguments":"{\"x\":1}"}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ])
    .await;
    assert_eq!(calls(&reply), [("read", "{}", "a"), ("read", r#"{"x":1}"#, "b")]);

    let reply = reply_of(&[
        &delta(r#"{"tool_calls":[{"index":0,"id":"","function":{"name":"read","arguments":"{}"}},{"index":0,"id":"","function":{"name":"read","arguments":"{}"}}]}"#),
        "[DONE]",
    ])
    .await;
    assert_eq!(calls(&reply), [("read", "{}", ""), ("read", "{}", "")]);
}

#[tokio::test]
async fn an_id_that_was_given_twice_is_left_out_the_second_time() {
    let reply = reply_of(&[
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#),
        "[DONE]",
    ])
    .await;
    assert_eq!(calls(&reply), [("read", "{}", "a"), ("read", "{}", "")]);
}

#[tokio::test]
async fn a_reply_cut_at_the_limit_keeps_its_text_and_drops_its_call() {
    let reply = reply_of(&[
        &delta(r#"{"content":"I will"}"#),
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"write","arguments":"{\"path\":\"/et"}}]}"#),
        &finish("length"),
        "[DONE]",
    ])
    .await;
    assert_eq!(reply.stop_reason, StopReason::Length);
    assert_eq!(reply.text(), "I will");
    assert_eq!(reply.calls().count(), 0);
}

#[tokio::test]
async fn arguments_that_are_not_json_come_as_they_are() {
    let reply = reply_of(&[
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{path: x"}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ])
    .await;
    assert_eq!(calls(&reply), [("read", "{path: x", "a")]);
}

#[tokio::test]
async fn a_refusal_is_shown_and_named() {
    let reply = reply_of(&[&delta(r#"{"refusal":"I cannot"}"#), &finish("stop"), "[DONE]"]).await;
    assert_eq!((reply.text().as_str(), reply.stop_reason), ("I cannot", StopReason::Refusal));
}

#[tokio::test]
async fn a_stream_may_end_without_done_after_the_finish_reason() {
    let events = [delta(r#"{"content":"hi"}"#), finish("stop")];
    let events = events.each_ref().map(String::as_str);
    assert_eq!(reply_of(&events).await.text(), "hi");

    let mut steps: Vec<_> = events.iter().map(|e| data_event(e)).collect();
    steps.push(Step::Cut);
    assert_eq!(ask_once(Api::OpenaiChat, Answer::Stream(steps)).await.reply().text(), "hi");
}

#[tokio::test]
async fn a_stream_that_ends_before_the_reply_does_is_cut() {
    for end in [vec![], vec![Step::Cut], vec![bytes("data: {\"choi"), Step::Cut]] {
        let mut steps = vec![data_event(&delta(r#"{"content":"hi"}"#))];
        steps.extend(end);
        let outcome = ask_once(Api::OpenaiChat, Answer::Stream(steps)).await;
        assert_eq!(outcome.events, [ModelEvent::TextDelta("hi".to_owned())]);
        let error = outcome.error();
        assert_eq!((error.kind, error.retryable), (ModelErrorKind::Network, true), "{error}");
        assert_eq!(error.message, "p: the answer was cut off before its end");
    }
}

#[tokio::test]
async fn unknown_fields_are_kept_with_what_they_belong_to() {
    let reply = reply_of(&[
        &delta(r#"{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]}"#),
        &delta(r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"x+/="}]}"#),
        &delta(r#"{"content":"ok","extra_content":{"google":{"thought_signature":"s1"}}}"#),
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s2"}}}]}"#),
        "[DONE]",
    ])
    .await;
    let opaque: Vec<_> = reply
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(b) | Block::Reasoning(b) => b.opaque.as_ref().unwrap().as_str(),
            Block::Call(c) => c.opaque.as_ref().unwrap().as_str(),
        })
        .collect();
    assert_eq!(
        opaque,
        [
            r#"{"reasoning":null}"#,
            r#"{"reasoning_details":[{"type":"reasoning.text","text":"hm","index":0},{"type":"reasoning.encrypted","data":"x+/="}],"extra_content":{"google":{"thought_signature":"s1"}}}"#,
            r#"{"extra_content":{"google":{"thought_signature":"s2"}}}"#,
        ]
    );
}
