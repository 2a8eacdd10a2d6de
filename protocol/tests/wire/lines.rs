//! JSON lines: which differences are accepted, and the errors for lines that are not requests.

use crate::samples::{ID, id};
use abide_protocol::{
    ErrorKind, JsonText,
    codec::{Codec, Incoming, Outgoing, Received, RequestId, json},
    hello::HelloParams,
    method::{
        Focus, Method as _, Reply, Request,
        conversation::FocusReply,
        subscription::{Scope, SubscribeParams},
        task::{ListTasksParams, StartTaskParams},
    },
};

fn read(line: &str) -> Incoming {
    Codec::Json.decode_incoming(line.as_bytes())
}

fn refused(line: &str) -> (Option<RequestId>, ErrorKind) {
    let Incoming { id, request, .. } = read(line);
    (id, request.expect_err(line).kind())
}

fn null() -> Option<RequestId> {
    Some(RequestId::Other("null".to_owned()))
}

#[test]
fn headers_of_the_language_server_protocol_get_their_own_error() {
    for line in ["Content-Length: 12\r", "content-length:12", "Content-Type: application/vscode-jsonrpc"] {
        let (_, hello) = json::decode_hello(line.as_bytes());
        for error in [hello.unwrap_err(), read(line).request.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Parse);
            assert!(error.message.contains("newline-delimited JSON"), "{error}");
        }
    }
    assert!(!read("Content").request.unwrap_err().message.contains("newline-delimited"));
}

#[test]
fn user_response_without_response_is_refused() {
    let line = r#"{"jsonrpc":"2.0","id":2,"method":"userResponse","params":{"taskId":"a"}}"#;
    assert_eq!(refused(line).1, ErrorKind::InvalidParams);
}

#[test]
fn all_optional_parameters_may_be_absent_together() {
    // The least parameters that each method accepts. `null`: none.
    let least = [
        ("startTask", r#"{"message":"hi"}"#),
        ("stopTask", r#"{"taskId":"a"}"#),
        ("pauseTask", r#"{"taskId":"a"}"#),
        ("intervene", r#"{"taskId":"a"}"#),
        ("agentTree", "null"),
        ("resumeTask", r#"{"taskId":"a"}"#),
        ("listTasks", "null"),
        ("getTask", r#"{"taskId":"a"}"#),
        ("listFiles", r#"{"taskId":"a"}"#),
        ("taskChanges", r#"{"taskId":"a"}"#),
        ("undoTask", r#"{"taskId":"a"}"#),
        ("listWorktrees", "null"),
        ("removeWorktree", r#"{"worktree":"a"}"#),
        ("getWorkspace", r#"{"workspace":"/w"}"#),
        ("userResponse", r#"{"taskId":"a","response":null}"#),
        ("decideApproval", r#"{"approvalId":"a","decision":"reject_once"}"#),
        ("inbox", "null"),
        ("createConversation", "null"),
        ("listConversations", "null"),
        ("getConversation", r#"{"conversationId":"a"}"#),
        ("listMessages", r#"{"conversationId":"a"}"#),
        ("updateConversation", r#"{"conversationId":"a"}"#),
        ("archiveConversation", r#"{"conversationId":"a","archived":true}"#),
        ("deleteConversation", r#"{"conversationId":"a"}"#),
        ("markRead", r#"{"conversationId":"a","seq":1}"#),
        ("focus", "null"),
        ("search", r#"{"query":"a"}"#),
        ("memory", "null"),
        ("searchMemory", r#"{"query":"a"}"#),
        ("forgetMemory", r#"{"seq":1}"#),
        ("addNote", r#"{"text":"a"}"#),
        ("listNotes", "null"),
        ("pruneMemory", "null"),
        ("subscribe", r#"{"scope":"overview"}"#),
        ("unsubscribe", r#"{"subscriptionId":1}"#),
        ("listModels", "null"),
        ("status", "null"),
        ("shutdown", "null"),
        ("updateDaemon", "null"),
        ("setKey", r#"{"provider":"a"}"#),
        ("listRules", "null"),
        ("forgetRule", r#"{"ruleId":"a"}"#),
        ("addRule", r#"{"rule":{"text":"shell(ls)","workspace":"/w","effect":"deny"}}"#),
        ("testRule", r#"{"command":"ls","workspace":"/w"}"#),
        ("usage", "null"),
        ("checkModel", r#"{"model":"a"}"#),
        ("checkProvider", r#"{"provider":{"name":"a","api":"anthropic","baseUrl":"https://h"}}"#),
        ("serveHttp", "null"),
        ("stopHttp", "null"),
        ("addToken", r#"{"name":"a","access":"act"}"#),
        ("listTokens", "null"),
        ("revokeToken", r#"{"name":"a"}"#),
        ("getConfig", "null"),
        ("updateConfig", "null"),
        ("listPersonas", "null"),
        ("listTools", "null"),
        ("listTemplates", "null"),
    ];
    let mut names = least.map(|(name, _)| name).to_vec();
    names.sort_unstable();
    let mut all = Request::NAMES.to_vec();
    all.sort_unstable();
    assert_eq!(names, all, "a method is not in the list");
    for (name, params) in least {
        let with = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{name}","params":{params}}}"#);
        let expected = read(&with);
        assert_eq!(expected.request.as_ref().expect(&with).name(), name);
        if params == "null" {
            let without = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{name}"}}"#);
            assert_eq!(read(&without), expected);
            let empty = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{name}","params":{{}}}}"#);
            assert_eq!(read(&empty), expected);
        } else {
            // Every parameter that is left is required.
            let without = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"{name}"}}"#);
            if name != "startTask" {
                assert_eq!(refused(&without), (Some(RequestId::Number(2)), ErrorKind::InvalidParams));
            }
        }
    }
}

#[test]
fn unknown_fields_are_ignored_and_named_at_every_depth() {
    let line = r#"{"jsonrpc":"2.0","id":2,"method":"startTask","traceparent":"x",
        "params":{"message":"hi","limits":{"maxSteps":3,"maxJoy":1},"colour":{"deep":[1]}}}"#;
    let Incoming { id, request: Ok(Request::StartTask(params)), warnings } = read(line) else {
        panic!("{line}")
    };
    assert_eq!(params.limits.max_steps, Some(3));
    assert_eq!(params.message, "hi");
    let expected = ["limits.maxJoy", "colour"]
        .map(|name| format!("`startTask` has no parameter `{name}`; it is ignored"));
    assert_eq!(warnings, expected);
    let told = Outgoing::Reply {
        id: id.unwrap(),
        reply: Ok(Reply::Focus(FocusReply { conversation_id: None, inbox: false })),
        warnings,
    };
    let told: serde_json::Value =
        serde_json::from_slice(&Codec::Json.encode_outgoing(&told).unwrap()).unwrap();
    assert_eq!(told["warnings"], serde_json::json!(expected));

    // An error that a misspelt name causes is easier to understand with it.
    let misspelt = r#"{"jsonrpc":"2.0","id":2,"method":"intervene","params":{"task":"a"}}"#;
    let Incoming { request, warnings, .. } = read(misspelt);
    assert_eq!((request.unwrap_err().kind(), warnings.len()), (ErrorKind::InvalidParams, 1));
    let many = (0..50).map(|n| format!(r#""{}{n}":1"#, "x".repeat(200))).collect::<Vec<_>>().join(",");
    let Incoming { warnings, .. } =
        read(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"listTasks","params":{{{many}}}}}"#));
    assert!(warnings.len() == 8 && warnings.iter().all(|warning| warning.len() < 200), "{warnings:?}");
}

#[test]
fn escapes_reach_text_ids_and_raw_json_alike() {
    let line = r#"{"jsonrpc":"2.0","id":"a\"b\u00fc","method":"start\u0054ask","params":{"message":"a\"\n\u00fc\ud83e\udd80","metadata":{"k\n":"\u0000\"x"}}}"#;
    let Incoming { id, request, .. } = read(line);
    assert_eq!(id, Some(RequestId::Other(r#""a\"b\u00fc""#.to_owned())));
    let metadata = JsonText::parse(r#"{"k\n":"\u0000\"x"}"#).unwrap();
    let expected = StartTaskParams {
        message: "a\"\nü🦀".to_owned(),
        metadata: Some(metadata),
        ..StartTaskParams::default()
    };
    assert_eq!(request.unwrap(), Request::StartTask(expected));
}

#[test]
fn a_request_id_comes_back_unchanged() {
    for raw in ["0", "18446744073709551615", "-1", "1.5", r#""a\"b""#, "18446744073709551616"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{raw},"method":"focus"}}"#);
        let id = read(&line).id.unwrap();
        let reply = Ok(Reply::Focus(FocusReply { conversation_id: None, inbox: false }));
        let bytes =
            Codec::Json.encode_outgoing(&Outgoing::Reply { id, reply, warnings: Vec::new() }).unwrap();
        let answer = String::from_utf8(bytes).unwrap();
        assert!(answer.contains(&format!(r#""id":{raw},"#)), "{answer}");
    }
}

#[test]
fn a_request_without_id_has_no_id_to_reply_to() {
    let incoming = read(r#"{"jsonrpc":"2.0","method":"listTasks"}"#);
    let request = Ok(Request::ListTasks(ListTasksParams::default()));
    assert_eq!(incoming, Incoming { id: None, request, warnings: Vec::new() });
    assert_eq!(refused(r#"{"jsonrpc":"2.0","method":"nope"}"#), (None, ErrorKind::MethodNotFound));
}

#[test]
fn each_line_that_is_no_request_gets_its_own_error_kind() {
    let number = || Some(RequestId::Number(2));
    let table: &[(&str, Option<RequestId>, ErrorKind)] = &[
        ("", null(), ErrorKind::Parse),
        ("hello", null(), ErrorKind::Parse),
        (r#"{"jsonrpc":"2.0","id":2,"method":"#, null(), ErrorKind::Parse),
        (r#"{"id":2,"method":"status"} {}"#, null(), ErrorKind::Parse),
        ("[]", null(), ErrorKind::InvalidRequest),
        (r#" [{"id":2,"method":"status"}]"#, null(), ErrorKind::InvalidRequest),
        ("17", null(), ErrorKind::InvalidRequest),
        ("null", null(), ErrorKind::InvalidRequest),
        (r#""status""#, null(), ErrorKind::InvalidRequest),
        ("{}", null(), ErrorKind::InvalidRequest),
        (r#"{"id":2}"#, number(), ErrorKind::InvalidRequest),
        (r#"{"id":2,"method":17}"#, null(), ErrorKind::InvalidRequest),
        (r#"{"id":2,"method":"fly"}"#, number(), ErrorKind::MethodNotFound),
        (r#"{"id":2,"method":"StartTask","params":{}}"#, number(), ErrorKind::MethodNotFound),
        (r#"{"id":2,"method":"getTask","params":[]}"#, number(), ErrorKind::InvalidParams),
        (r#"{"id":2,"method":"getTask","params":"a"}"#, number(), ErrorKind::InvalidParams),
        (r#"{"id":2,"method":"getTask","params":{"taskId":17}}"#, number(), ErrorKind::InvalidParams),
        (r#"{"id":2,"method":"subscribe","params":{"scope":"nowhere"}}"#, number(), ErrorKind::InvalidParams),
        (r#"{"id":2,"method":"startTask","params":{"mode":"fly"}}"#, number(), ErrorKind::InvalidParams),
        (
            r#"{"id":2,"method":"markRead","params":{"conversationId":"a","seq":-1}}"#,
            number(),
            ErrorKind::InvalidParams,
        ),
    ];
    for (line, id, kind) in table {
        assert_eq!(&refused(line), &(id.clone(), *kind), "{line}");
    }
    let not_utf8 = Codec::Json.decode_incoming(b"{\"id\":2,\"method\":\"status\xff\"}");
    assert_eq!(not_utf8.request.unwrap_err().code, -32700);
    let deep = Codec::Json.decode_incoming("[".repeat(1_000_000).as_bytes());
    assert_eq!(deep.request.unwrap_err().kind(), ErrorKind::InvalidRequest);
    let deep = format!(r#"{{"id":2,"method":"status","params":{}}}"#, "[".repeat(1_000_000));
    assert_eq!(refused(&deep).1, ErrorKind::Parse);
}

#[test]
fn a_scope_is_a_string_or_an_object() {
    let line = |scope: &str| format!(r#"{{"id":2,"method":"subscribe","params":{{"scope":{scope}}}}}"#);
    let conversation = format!(r#"{{"conversation":"{}"}}"#, id::<abide_protocol::ConversationId>(0x11));
    let tree = conversation.replace("conversation", "tree");
    let task = format!(r#"{{"task":"{}"}}"#, id::<abide_protocol::TaskId>(0x22));
    let table = [
        (r#""overview""#, Scope::Overview),
        (r#""all""#, Scope::All),
        (&conversation, Scope::Conversation(id(0x11))),
        (&tree, Scope::Tree(id(0x11))),
        (&task, Scope::Task(id(0x22))),
    ];
    for (json, scope) in table {
        assert_eq!(read(&line(json)).request, Ok(Request::Subscribe(SubscribeParams { scope, since: None })));
    }
}

#[test]
fn a_wrong_hello_gets_an_error_that_names_the_fault() {
    let table = [
        ("GET / HTTP/1.1", ErrorKind::Parse),
        (r#"{"id":0,"method":"status"}"#, ErrorKind::InvalidRequest),
        (r#"{"id":0,"method":"hello"}"#, ErrorKind::InvalidParams),
        (r#"{"id":0,"method":"hello","params":{"protocol":{"min":-1,"max":1}}}"#, ErrorKind::InvalidParams),
    ];
    for (line, kind) in table {
        let (_, answer) = json::decode_hello(line.as_bytes());
        assert_eq!(answer.expect_err(line).kind(), kind, "{line}");
    }
    let least =
        r#"{"jsonrpc":"2.0","id":"x","method":"hello","params":{"protocol":{"min":1,"max":1},"new":1}}"#;
    let (id, params) = json::decode_hello(least.as_bytes());
    assert_eq!(id, RequestId::Other(r#""x""#.to_owned()));
    let HelloParams { codecs, client, .. } = params.unwrap();
    assert!(codecs.is_empty() && client.name.is_empty());
    for line in ["", "{}", r#"{"result":{}}"#, r#"{"id":0,"result":null}"#, "[]"] {
        json::decode_hello_reply(line.as_bytes()).expect_err(line);
    }
}

#[test]
fn a_client_skips_unknown_messages() {
    let receive = |line: &str| Codec::Json.decode_received(line.as_bytes());
    let unknown = r#"{"jsonrpc":"2.0","method":"taskDream","params":{"a":1}}"#;
    assert_eq!(receive(unknown).unwrap(), Received::Unknown);
    assert_eq!(receive("{}").unwrap(), Received::Unknown);
    let grown = r#"{"method":"lagged","params":{"subscriptionId":1,"resumeFrom":2,"why":"slow"}}"#;
    assert!(matches!(receive(grown).unwrap(), Received::Notification(_)));
    let garbled = r#"{"method":"lagged","params":{}}"#;
    receive(garbled).expect_err(garbled);
    receive("{").expect_err("half an object");
    let Received::Reply { id, body } = receive(r#"{"id":7,"result":null}"#).unwrap() else {
        panic!("no reply")
    };
    assert_eq!(id, ID);
    Focus::reply(&body.unwrap()).expect_err("null is not a reply");
}

#[test]
fn raw_json_never_breaks_a_line() {
    let pretty = JsonText::parse("{\r\n  \"a\": \"x\\ny\",\n  \"b\": 1.50\n}").unwrap();
    let params = StartTaskParams { metadata: Some(pretty), ..StartTaskParams::default() };
    let request = Request::StartTask(params);
    let line = Codec::Json.encode_request(ID, &request).unwrap();
    assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1, "one, at the end");
    for codec in [Codec::Json, Codec::Binary] {
        let bytes = codec.encode_request(ID, &request).unwrap();
        assert_eq!(codec.decode_incoming(&bytes).request.as_ref(), Ok(&request));
    }
}
