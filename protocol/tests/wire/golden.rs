//! Golden files: each message in each codec. `ABIDE_BLESS=1` writes them anew. A difference in one is a
//! change of the wire and needs a new schema number in [`hello::BINCODE`].

use crate::samples::{self, ID, Sample};
use abide_protocol::{
    Error, ErrorKind,
    codec::{Codec, Incoming, Outgoing, Received, ReplyBody, RequestId, json},
    hello::{self, HelloParams, HelloReply, PeerInfo, ProtocolRange},
    method::{self, Method as _, Reply},
};
use std::{collections::BTreeSet, fs, io, path::PathBuf};

/// The variants of all enums, in order.
pub(crate) const ENUMS: &str = "enums.txt";
/// The updates of agent panels, a line for each.
pub(crate) const AGENT_UPDATES: &str = "agent-updates.txt";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

pub(crate) fn is_blessed() -> bool {
    std::env::var_os("ABIDE_BLESS").is_some_and(|value| value == "1")
}

/// The golden file's content; with `ABIDE_BLESS=1` it is written first.
pub(crate) fn golden(file: &str, now: &str) -> String {
    let path = folder().join(file);
    if is_blessed() {
        fs::create_dir_all(folder()).unwrap();
        fs::write(&path, now).unwrap();
    }
    fs::read_to_string(&path).unwrap_or_else(|e| {
        panic!("there is no golden file {file} ({e}); write it with ABIDE_BLESS=1 and look at it")
    })
}

/// Fails with the difference; returns the golden bytes.
fn compare(name: &str, codec: Codec, bytes: &[u8]) -> Vec<u8> {
    let (file, now) = match codec {
        Codec::Json => (format!("{name}.json"), String::from_utf8(bytes.to_vec()).unwrap()),
        Codec::Binary => (format!("{name}.hex"), to_hex(bytes)),
    };
    let golden = golden(&file, &now);
    assert_eq!(now, golden, "the wire has changed: {file}");
    match codec {
        Codec::Json => golden.strip_suffix('\n').expect("a line").as_bytes().to_vec(),
        Codec::Binary => from_hex(&golden),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let line = |chunk: &[u8]| chunk.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    bytes.chunks(32).map(line).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).map(|d| u8::try_from(d).unwrap()).collect();
    digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

#[test]
fn every_message_equals_its_golden_file_and_comes_back_equal() {
    for sample in samples::all() {
        for codec in [Codec::Json, Codec::Binary] {
            match &sample {
                Sample::Request(name, request) => {
                    let bytes = compare(name, codec, &codec.encode_request(ID, request).unwrap());
                    let expected = Incoming {
                        id: Some(RequestId::Number(ID)),
                        request: Ok(request.clone()),
                        warnings: Vec::new(),
                    };
                    assert_eq!(codec.decode_incoming(&bytes), expected, "{name} in {codec:?}");
                }
                Sample::Outgoing(name, outgoing) => {
                    let bytes = compare(name, codec, &codec.encode_outgoing(outgoing).unwrap());
                    let received = codec.decode_received(&bytes).unwrap();
                    assert_eq!(&as_sent(received, outgoing), outgoing, "{name} in {codec:?}");
                }
            }
        }
    }
}

/// The received message as the `Outgoing` that was sent.
fn as_sent(received: Received, like: &Outgoing) -> Outgoing {
    match received {
        Received::Notification(notification) => Outgoing::Notification(notification),
        Received::Error(error) => Outgoing::Error(error),
        Received::Reply { id, body: Err(error) } => {
            Outgoing::Reply { id: RequestId::Number(id), reply: Err(error), warnings: Vec::new() }
        }
        Received::Reply { id, body: Ok(body) } => {
            let Outgoing::Reply { reply: Ok(like), .. } = like else { panic!("not a reply: {like:?}") };
            Outgoing::Reply {
                id: RequestId::Number(id),
                reply: Ok(decode_reply(like, &body)),
                warnings: Vec::new(),
            }
        }
        Received::Unknown => panic!("unknown"),
    }
}

macro_rules! decode_like {
    ($like:expr, $body:expr; $($variant:ident)*) => {
        match $like { $(Reply::$variant(_) => Reply::$variant(method::$variant::reply($body).unwrap()),)* }
    };
}

fn decode_reply(like: &Reply, body: &ReplyBody) -> Reply {
    decode_like!(like, body;
        StartTask StopTask PauseTask Intervene AgentTree ResumeTask ListTasks ListFiles TaskChanges UndoTask ListWorktrees RemoveWorktree GetWorkspace GetTask UserResponse DecideApproval Inbox
        CreateConversation ListConversations GetConversation ListMessages UpdateConversation ArchiveConversation
        DeleteConversation MarkRead Focus Search Subscribe Unsubscribe ListModels Status Shutdown UpdateDaemon SetKey
        ListRules ForgetRule AddRule TestRule CheckModel CheckProvider GetConfig UpdateConfig ListPersonas ListTools ListTemplates
        GetUsage ServeHttp StopHttp AddToken ListTokens RevokeToken GetMemory SearchMemory ForgetMemory
        AddNote ListNotes PruneMemory)
}

#[test]
fn hello_equals_its_golden_file() {
    let params = HelloParams {
        protocol: ProtocolRange { min: 1, max: 3 },
        codecs: vec![hello::BINCODE.to_owned(), hello::JSON.to_owned()],
        client: PeerInfo { name: "abide".to_owned(), version: "0.1.0".to_owned() },
    };
    let bytes = compare("hello.request", Codec::Json, &json::encode_hello(&params).unwrap());
    assert_eq!(json::decode_hello(&bytes), (RequestId::Number(0), Ok(params)));

    let reply = HelloReply {
        protocol: 1,
        codec: hello::BINCODE.to_owned(),
        daemon: PeerInfo { name: "abided".to_owned(), version: "0.1.0".to_owned() },
        capabilities: vec!["search".to_owned()],
    };
    let refusal = Error::new(ErrorKind::Unsupported, "this daemon speaks protocol 1 only");
    for (name, answer) in [("hello.reply", Ok(reply)), ("hello.refusal", Err(refusal))] {
        let line = json::encode_hello_reply(&RequestId::Number(0), &answer).unwrap();
        let bytes = compare(name, Codec::Json, &line);
        assert_eq!(json::decode_hello_reply(&bytes).unwrap(), answer);
    }
}

#[test]
fn every_golden_file_belongs_to_a_message() {
    let of_sample = |sample: &Sample| match sample {
        Sample::Request(name, _) | Sample::Outgoing(name, _) => name.clone(),
    };
    let names = samples::all().iter().map(of_sample).collect::<Vec<_>>();
    let both = names.iter().flat_map(|name| [format!("{name}.json"), format!("{name}.hex")]);
    let others = ["hello.request.json", "hello.reply.json", "hello.refusal.json", ENUMS, AGENT_UPDATES]
        .map(str::to_owned);
    let expected: BTreeSet<String> = both.chain(others).collect();
    assert_eq!(expected.len(), 2 * names.len() + 5, "two samples have one name");
    // While they are written, some are missing.
    if !is_blessed() {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let found: BTreeSet<String> = fs::read_dir(folder()).unwrap().map(name).collect();
        assert_eq!(found, expected);
    }
}
