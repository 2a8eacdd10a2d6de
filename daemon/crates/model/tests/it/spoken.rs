//! What a server leaves in the text of a reply: reasoning, and calls written as text.

use crate::ask::{
    ask, ask_as, config, delta, finish, json, models, request, request_with_tool, result, sent, stream, tool,
};
use crate::server::{Answer, Server};
use abide_model::{Api, ModelEvent, ModelRequest};
use abide_protocol::{
    CallId, JsonText,
    shape::{OutputSchema, RequestShape, ToolUse},
    transcript::{Block, Entry, Reply, StopReason},
};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

fn with_tools() -> ModelRequest {
    ModelRequest {
        tools: Arc::new([tool("read"), tool("list"), tool("task_complete")]),
        ..request(vec![Entry::User("hello".to_owned())])
    }
}

/// A chat completion of this text, in two pieces.
fn said(text: &str) -> Answer {
    ended(text, "stop")
}

fn ended(text: &str, reason: &str) -> Answer {
    let middle = text.ceil_char_boundary(text.len() / 2);
    let piece = |text: &str| delta(&json!({ "content": text }).to_string());
    stream(&[&piece(&text[..middle]), &piece(&text[middle..]), &finish(reason), "[DONE]"])
}

async fn reply(text: &str) -> Reply {
    ask_as(Api::OpenaiChat, with_tools(), said(text)).await.reply()
}

/// The calls of a reply, each as its tool and its arguments.
fn calls(reply: &Reply) -> Vec<(String, Value)> {
    reply.calls().map(|call| (call.tool.clone(), json(&call.arguments))).collect()
}

const READ: &str = r#"{"name": "read", "arguments": {"path": "a.txt"}}"#;

/// A text that calls `read` with the path `a.txt` in each form.
fn forms() -> Vec<(&'static str, String)> {
    let prefix = "antml";
    let form = |name, text: &str| (name, text.to_owned());
    vec![
        ("hermes", format!("<tool_call>\n{READ}\n</tool_call>")),
        ("hermes, its end is cut", format!("<tool_call>\n{READ}\n")),
        ("hermes, with a token at its end", format!("<tool_call>{READ}</tool_call><|im_end|>")),
        ("tools in capitals", format!("<TOOLCALL>[{READ}]</TOOLCALL>")),
        ("tool calls as a list", format!("<tool_calls>\n[{READ}]\n</tool_calls>")),
        ("a function as an object", r#"<tool_call>{"type":"function","function":{"name":"read","arguments":{"path":"a.txt"}}}</tool_call>"#.to_owned()),
        form("qwen coder", "<tool_call>\n<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"),
        form("qwen coder without the outer tag", "<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>"),
        form("qwen coder with the last tag alone", "<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n"),
        ("bare", READ.to_owned()),
        form("bare, by parameters", r#"{"name": "read", "parameters": {"path": "a.txt"}}"#),
        form("bare, as text", r#"{"name": "read", "arguments": "{\"path\": \"a.txt\"}"}"#),
        ("bare, a list", format!("[{READ}]")),
        ("fenced", format!("```json\n{READ}\n```")),
        ("fenced, a list", format!("```\n[{READ}]\n```")),
        ("fenced, tagged", format!("```xml\n<tool_call>{READ}</tool_call>\n```")),
        form("in a field of calls", r#"{"tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.txt\"}"}}]}"#),
        form("tool and args", r#"{"tool": "read", "args": {"path": "a.txt"}}"#),
        form("gemma", "```tool_code\nprint(default_api.read(path='a.txt'))\n```"),
        form("hermes as python", "<tool_call>{'name': 'read', 'arguments': {'path': 'a.txt'}}</tool_call>"),
        form("qwen coder without the first tag", "<function=read>\n<parameter=path>\na.txt\n</parameter>\n</function>\n</tool_call>"),
        ("mistral", format!("[TOOL_CALLS][{READ}]")),
        ("mistral, an object", format!("[TOOL_CALLS] {READ}</s>")),
        form("mistral with a name", r#"[TOOL_CALLS]read[ARGS]{"path": "a.txt"}"#),
        form("mistral with an id", r#"[TOOL_CALLS]read[CALL_ID]abc123[ARGS]{"path": "a.txt"}"#),
        form("mistral with a name alone", r#"[TOOL_CALLS]read{"path": "a.txt"}"#),
        form("llama", r#"<|python_tag|>{"name": "read", "parameters": {"path": "a.txt"}}<|eom_id|>"#),
        form("llama's functions", r#"<function=read>{"path": "a.txt"}</function>"#),
        form("python", r#"[read(path="a.txt")]"#),
        form("python between tokens", r#"<|tool_call_start|>[read(path='a.txt')]<|tool_call_end|>"#),
        form(
            "deepseek v3",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\": \"a.txt\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
        ),
        form(
            "deepseek v3.1",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\": \"a.txt\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        ),
        form(
            "deepseek v3.2",
            "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a.txt</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
        form("dsml without the outer tag", "<｜DSML｜invoke name=\"read\"><｜DSML｜parameter name=\"path\" string=\"true\">a.txt</｜DSML｜parameter></｜DSML｜invoke>"),
        form("invoke", "<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>"),
        (
            "anthropic",
            format!("<{prefix}:function_calls>\n<{prefix}:invoke name=\"read\">\n<{prefix}:parameter name=\"path\">a.txt</{prefix}:parameter>\n</{prefix}:invoke>\n</{prefix}:function_calls>"),
        ),
        form("function calls", "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</function_calls>"),
        form("minimax", "<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a.txt</parameter>\n</invoke>\n</minimax:tool_call>"),
        form("harmony", r#"<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "a.txt"}<|call|>"#),
        form("harmony, to first", r#"<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{"path": "a.txt"}<|call|>"#),
        form(
            "harmony with its analysis",
            r#"<|channel|>analysis<|message|>I read it.<|end|><|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path": "a.txt"}<|call|>"#,
        ),
        form("glm", "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n</tool_call>"),
        form(
            "kimi",
            r#"<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "a.txt"}<|tool_call_end|><|tool_calls_section_end|>"#,
        ),
        form("cohere", r#"<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read", "parameters": {"path": "a.txt"}}]<|END_ACTION|>"#),
        ("lm studio", format!("[TOOL_REQUEST]{READ}[END_TOOL_REQUEST]")),
        ("phi", format!("functools[{READ}]")),
        ("internlm", format!("<|action_start|><|plugin|>{READ}<|action_end|>")),
        form("seed", "<seed:tool_call><function=read><parameter=path>a.txt</parameter></function></seed:tool_call>"),
        form("olmo", "<function_calls>\nread(path=\"a.txt\")\n</function_calls>"),
        form("a name that is almost right", r#"<tool_call>{"name": "functions.Read", "arguments": {"path": "a.txt"}}</tool_call>"#),
    ]
}

/// Alone, behind reasoning, and within reasoning that has no end or nothing behind it.
#[tokio::test]
async fn a_text_that_is_wholly_a_call_is_that_call() {
    for (name, form) in forms() {
        for (place, text) in [
            ("alone", form.clone()),
            ("behind reasoning", format!("<think>I read it.</think>\n\n{form}")),
            ("behind an end of reasoning", format!("I read it.\n</think>\n\n{form}")),
            ("in reasoning", format!("<think>{form}</think>")),
            ("in reasoning without an end", format!("<think>\n{form}")),
        ] {
            let reply = reply(&text).await;
            let expected = [("read".to_owned(), json!({ "path": "a.txt" }))];
            let unwrapped: Vec<_> = calls(&reply)
                .into_iter()
                .map(|(tool, arguments)| (tool, arguments.as_str().map(json).unwrap_or(arguments)))
                .collect();
            assert_eq!(unwrapped, expected, "{name}, {place}: {:?}", reply.blocks);
            assert_eq!(
                (reply.text().as_str(), reply.stop_reason),
                ("", StopReason::ToolCalls),
                "{name}, {place}"
            );
        }
    }
}

/// Prose before a call with a model's own tags is kept.
#[tokio::test]
async fn words_before_a_tagged_call_stay_the_text() {
    // Reasoning comes first.
    for (name, form) in forms().into_iter().filter(|(_, form)| !form.contains("analysis")) {
        let is_tagged = form.starts_with("functools")
            || form.starts_with(['<', '[']) && !form.starts_with("[{") && !form.starts_with("[read");
        let reply = reply(&format!("I read it.\n\n{form}")).await;
        if is_tagged {
            assert_eq!((reply.text().as_str(), calls(&reply).len()), ("I read it.", 1), "{name}");
            if !form.starts_with("functools") {
                let reply = self::reply(&format!("It writes <tool_call> before it. I read it. {form}")).await;
                assert_eq!(calls(&reply).len(), 1, "{name}, within a line");
            }
        } else {
            assert_eq!(calls(&reply).len(), 0, "{name}");
            assert!(reply.text().starts_with("I read it."), "{name}");
        }
    }
}

#[tokio::test]
async fn several_calls_are_read_in_their_order() {
    let list = r#"{"name": "list", "arguments": {}}"#;
    for text in [
        format!("<tool_call>{READ}</tool_call>\n<tool_call>{list}</tool_call>"),
        format!("<tool_call>{READ}\n{list}</tool_call>"),
        format!("[{READ}, {list}]"),
        format!("{READ}\n{list}"),
        format!("```json\n{READ}\n```\n\n```json\n{list}\n```"),
        format!("[TOOL_CALLS][{READ}, {list}]"),
        r#"[TOOL_CALLS]read[ARGS]{"path": "a.txt"}[TOOL_CALLS]list[ARGS]{}"#.to_owned(),
        r#"[read(path="a.txt"), list()]"#.to_owned(),
        format!("<|python_tag|>{READ}; {list}"),
        "<tool_call>read\n<arg_key>path</arg_key><arg_value>a.txt</arg_value></tool_call><tool_call>list</tool_call>".to_owned(),
        "<tool_call><function=read><parameter=path>a.txt</parameter></function></tool_call>\n<tool_call><function=list></function></tool_call>".to_owned(),
        "<function_calls><invoke name=\"read\"><parameter name=\"path\">a.txt</parameter></invoke><invoke name=\"list\"></invoke></function_calls>".to_owned(),
    ] {
        let expected = [("read".to_owned(), json!({ "path": "a.txt" })), ("list".to_owned(), json!({}))];
        assert_eq!(calls(&reply(&text).await), expected, "{text}");
    }
}

/// What the tags are around may hold such tags itself, lines, and what looks like their end.
#[tokio::test]
async fn arguments_keep_their_bytes() {
    for (text, argument) in [
        (
            "<function=read>\n<parameter=path>\n  a\n\nb </parameter> c\n</parameter>\n</function>",
            "  a\n\nb </parameter> c",
        ),
        (
            r#"<tool_call>{"name": "read", "arguments": {"path": "</tool_call> {\"a\": 1}"}}</tool_call>"#,
            "</tool_call> {\"a\": 1}",
        ),
        ("<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\nb\"}}</tool_call>", "a\nb"),
        ("<function=read><parameter=path>60</parameter></function>", "60"),
        (r#"[read(path='it\'s "a"\n')]"#, "it's \"a\"\n"),
    ] {
        let read = calls(&reply(text).await);
        assert_eq!(read, [("read".to_owned(), json!({ "path": argument }))], "{text}");
    }
}

/// Documentation, quotes, data: the text stays the text, and the reply is a whole one.
#[tokio::test]
async fn an_answer_about_calls_is_an_answer() {
    for text in [
        "Hello.".to_owned(),
        format!(
            "Hermes writes calls like this:\n\n```\n<tool_call>\n{READ}\n</tool_call>\n```\n\nThat is all."
        ),
        "A call begins with `<tool_call>` and ends with `</tool_call>`.".to_owned(),
        "Mistral's token is [TOOL_CALLS] and then comes a list.".to_owned(),
        "It writes <tool_call> before a call.".to_owned(),
        format!("Hermes writes <tool_call>{READ}</tool_call>, and Mistral [TOOL_CALLS][{READ}]."),
        "It writes <function=name> and <invoke name=\"a\"> there.".to_owned(),
        r#"{"name": "Ada", "age": 36}"#.to_owned(),
        r#"{"name": "read", "description": "Reads.", "parameters": {"type": "object"}}"#.to_owned(),
        r#"{"name": "weather", "parameters": {"type": "object"}}"#.to_owned(),
        r#"[{"name": "Ada"}, {"name": "Bob"}]"#.to_owned(),
        r#"["a", "b"]"#.to_owned(),
        "[weather(city='Bern')]".to_owned(),
        "```json\n{\"a\": 1}\n```".to_owned(),
        format!("The log has this line:\n\n```json\n{READ}\n```\n\nSo it was read."),
        format!("It is `{READ}` in one line."),
    ] {
        let reply = reply(&text).await;
        assert_eq!(
            reply.blocks,
            [Block::Text(abide_protocol::transcript::TextBlock { text: text.clone(), opaque: None })]
        );
        assert_eq!(reply.stop_reason, StopReason::EndTurn, "{text}");
    }
}

/// The reply says that it was to have calls, and nobody takes it for an answer.
#[tokio::test]
async fn markup_that_is_not_read_ends_the_reply_without_its_calls() {
    for text in [
        // What it names is not there.
        r#"<tool_call>{"name": "erase", "arguments": {}}</tool_call>"#.to_owned(),
        r#"{"name": "erase", "arguments": {}}"#.to_owned(),
        format!(
            "<tool_call>{READ}</tool_call><tool_call>{{\"name\": \"erase\", \"arguments\": {{}}}}</tool_call>"
        ),
        // It is cut.
        r#"<tool_call>{"name": "read", "argu"#.to_owned(),
        "<tool_call>".to_owned(),
        "<function=read><parameter=path>a.txt".to_owned(),
        r#"<tool_call>{"name": "read", "arguments": {"path": "a.t"#.to_owned(),
        // Something else comes behind it or between.
        format!("<tool_call>{READ}</tool_call>\nThe file says hello."),
        format!("First:\n<tool_call>{READ}</tool_call>\nThen:\n<tool_call>{READ}</tool_call>"),
        format!("<tool_call>{READ}</tool_call>\n<tool_response>hello</tool_response>"),
        // It is no call.
        "<tool_call>read a.txt</tool_call>".to_owned(),
        // It is within a line.
        "I read it.<tool_call>\n{\"name\": \"read\", \"argu".to_owned(),
        // A fence at the end of words.
        format!("I read it:\n\n```json\n{READ}\n```"),
        format!("I read it:\n{READ}"),
        format!("I read it:\n[\n  {READ}\n]"),
    ] {
        let reply = reply(&text).await;
        assert_eq!((reply.text(), calls(&reply).len()), (text.clone(), 0));
        assert_eq!(reply.stop_reason, StopReason::LostCalls, "{text}");
    }
}

#[tokio::test]
async fn a_reply_that_says_it_has_calls_and_has_none_has_lost_them() {
    for (reason, text, expected) in [
        ("tool_calls", "I read it.", StopReason::LostCalls),
        ("tool_calls", "", StopReason::LostCalls),
        ("MALFORMED_FUNCTION_CALL", "", StopReason::LostCalls),
        ("tool_calls", READ, StopReason::ToolCalls),
        ("abort", READ, StopReason::Unfinished),
        ("length", READ, StopReason::Length),
    ] {
        let reply = ask_as(Api::OpenaiChat, with_tools(), ended(text, reason)).await.reply();
        let count = usize::from(expected == StopReason::ToolCalls);
        assert_eq!((reply.stop_reason, calls(&reply).len()), (expected, count), "{reason} {text}");
    }
}

/// Without tools, where calls are forbidden, where the text has a form of its own, and beside calls of the
/// API.
#[tokio::test]
async fn a_text_is_read_only_where_calls_may_be_in_it() {
    let text = format!("<tool_call>{READ}</tool_call>");
    let bare = request(vec![Entry::User("hello".to_owned())]);
    let reply = ask_as(Api::OpenaiChat, bare, said(&text)).await.reply();
    assert_eq!((reply.text(), reply.stop_reason), (text.clone(), StopReason::EndTurn));

    let forbidden = RequestShape { tools: ToolUse::Forbidden, output_schema: None };
    let request = ModelRequest { shape: forbidden, ..with_tools() };
    for (text, left) in [(format!("So.\n{text}"), "So."), ("<tool_call>a".to_owned(), "<tool_call>a")] {
        let reply = ask_as(Api::OpenaiChat, request.clone(), said(&text)).await.reply();
        assert_eq!(
            (reply.text().as_str(), reply.stop_reason, calls(&reply).len()),
            (left, StopReason::EndTurn, 0)
        );
    }

    let schema = OutputSchema { name: "call".to_owned(), schema: JsonText::empty() };
    let shape = RequestShape { tools: ToolUse::Allowed, output_schema: Some(Arc::new(schema)) };
    let reply = ask_as(Api::OpenaiChat, ModelRequest { shape, ..with_tools() }, said(READ)).await.reply();
    assert_eq!((reply.text().as_str(), reply.stop_reason), (READ, StopReason::EndTurn));

    let both = stream(&[
        &delta(&json!({ "content": text }).to_string()),
        &delta(r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"list","arguments":"{}"}}]}"#),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    let reply = ask_as(Api::OpenaiChat, with_tools(), both).await.reply();
    assert_eq!((reply.text(), calls(&reply)), (text, vec![("list".to_owned(), json!({}))]));
}

#[tokio::test]
async fn calls_are_read_in_the_text_of_every_api() {
    let text = json!(format!("<think>Hm.</think><tool_call>{READ}</tool_call>"));
    let anthropic = stream(&[
        &format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"text","text":{text}}}}}"#
        ),
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let responses = stream(&[
        &format!(
            r#"{{"type":"response.output_item.done","output_index":0,"item":{{"type":"message","content":[{{"text":{text}}}]}}}}"#
        ),
        r#"{"type":"response.completed","response":{"status":"completed"}}"#,
    ]);
    for (api, answer) in [(Api::Anthropic, anthropic), (Api::OpenaiResponses, responses)] {
        let reply = ask_as(api, with_tools(), answer).await.reply();
        assert_eq!(
            (reply.text().as_str(), reply.reasoning().as_str(), calls(&reply).len()),
            ("", "Hm.", 1),
            "{}",
            api.name()
        );
        assert!(reply.blocks.iter().all(|block| !matches!(block, Block::Text(_))), "{}", api.name());
    }
}

/// A server may have taken the call for reasoning, and sent it as such.
#[tokio::test]
async fn a_call_in_reasoning_that_nothing_follows_is_read() {
    let answer = stream(&[
        &delta(
            &json!({ "reasoning_content": format!("I read it.\n<tool_call>{READ}</tool_call>") }).to_string(),
        ),
        &finish("stop"),
        "[DONE]",
    ]);
    let reply = ask_as(Api::OpenaiChat, with_tools(), answer).await.reply();
    assert_eq!((reply.reasoning().as_str(), calls(&reply).len()), ("I read it.", 1));
}

/// People see reasoning as reasoning and no markup, and what was taken out is kept.
#[tokio::test]
async fn reasoning_and_markup_are_told_apart_while_they_stream() {
    let text = format!("<think>Hm.</think>\n\nI read it.\n<tool_call>{READ}</tool_call>");
    let outcome = ask_as(Api::OpenaiChat, with_tools(), said(&text)).await;
    let (mut shown, mut thought, mut traced) = (String::new(), String::new(), Vec::new());
    for event in &outcome.events {
        match event {
            ModelEvent::TextDelta(text) => shown.push_str(text),
            ModelEvent::ReasoningDelta(text) => thought.push_str(text),
            ModelEvent::Trace(trace) => traced.push(trace.raw.clone()),
            _ => {}
        }
    }
    assert_eq!((shown.trim(), thought.as_str()), ("I read it.", "Hm."));
    assert_eq!(traced, [format!("<tool_call>{READ}</tool_call>")]);
    let reply = outcome.reply();
    assert_eq!((reply.text().as_str(), reply.reasoning().as_str()), ("I read it.", "Hm."));
}

/// The server gets back a call with its result, and no markup; the longer request begins with the bytes of
/// the shorter one.
#[tokio::test]
async fn a_call_from_a_text_goes_back_as_a_call() {
    let server = Server::start(vec![said(&format!("I look.\n<tool_call>{READ}</tool_call>"))]).await;
    let mut reply =
        ask(&models(config(Api::OpenaiChat, server.url())), request_with_tool(vec![])).await.reply();
    if let Some(Block::Call(call)) = reply.blocks.last_mut() {
        call.id = CallId(Uuid::from_u128(7));
    }
    let entries =
        vec![Entry::User("hello".to_owned()), Entry::Reply(Arc::new(reply)), result(7, "", true, "hello")];
    let more = [&entries[..], &[Entry::User("and now?".to_owned())]].concat();
    let body = sent(Api::OpenaiChat, request_with_tool(entries)).await.text().to_owned();
    let longer = sent(Api::OpenaiChat, request_with_tool(more)).await.text().to_owned();
    let messages = json(&body)["messages"].clone();
    let call = &messages[1]["tool_calls"][0];
    assert_eq!(messages[1]["content"], "I look.");
    assert_eq!(
        (&call["function"]["name"], &call["function"]["arguments"]),
        (&json!("read"), &json!(r#"{"path": "a.txt"}"#))
    );
    assert_eq!(messages[2]["tool_call_id"], call["id"]);
    assert!(!body.contains("<tool_call>"), "{body}");
    let (messages, _) = body.rsplit_once(']').unwrap();
    assert!(longer.starts_with(messages), "{longer}");
}

/// Each is made to be slow to read.
#[tokio::test]
async fn long_texts_are_read_in_time() {
    for piece in [
        "<tool_call>",
        "<tool_call>{",
        "a <tool_call> {",
        "<think></think>",
        "<think>",
        " ",
        "{\n",
        "[",
        "{\"function\":",
        "<function=a>",
        "   \n<",
        "```\n",
        "<｜tool▁call▁begin｜>",
        "<|channel|>",
        "read(a=[",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        let chars: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = chars
            .chunks(16 * 1024)
            .map(|piece| delta(&json!({ "content": piece.iter().collect::<String>() }).to_string()))
            .collect();
        let mut events: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let end = finish("stop");
        events.extend([end.as_str(), "[DONE]"]);
        let reply = ask_as(Api::OpenaiChat, with_tools(), stream(&events)).await.reply();
        assert_eq!(calls(&reply).len(), 0, "{piece}");
    }
}
