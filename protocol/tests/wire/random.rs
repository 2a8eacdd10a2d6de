//! Random messages come back equal; random bytes never panic.

use crate::samples::{self, ID, Sample, at, id, record};
use abide_protocol::{
    JsonText, Seq, SubscriptionId,
    codec::{Codec, Outgoing, Received, json},
    message::{Message, MessageKind, Role},
    method::{Request, task::StartTaskParams},
    notification::{DeltaItem, DeltaKind, Notification, TaskDelta, TaskEvent, TaskMessage},
    record::{RecordBody, ReplyRecord},
    transcript::{Block, CallBlock, Reply, StopReason, TextBlock},
};
use proptest::{collection, option, prelude::*};

const CODECS: [Codec; 2] = [Codec::Json, Codec::Binary];

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,20}", "[\\x00-\\x1f\"\\\\/\u{2028}\u{feff}\u{1f980}]{0,12}", any::<String>()]
}

fn any_json() -> impl Strategy<Value = JsonText> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        Just("1e400".to_owned()),
        Just("0.10".to_owned()),
        any_text().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        let list =
            collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[\n{}\r\n]", items.join(" , ")));
        let pair =
            (any_text(), inner).prop_map(|(k, v)| format!("{} :\t{v}", serde_json::to_string(&k).unwrap()));
        let object = collection::vec(pair, 0..4).prop_map(|pairs| format!("{{{}}}", pairs.join(",")));
        prop_oneof![list, object]
    });
    tree.prop_map(|text| JsonText::parse(text).unwrap())
}

fn any_request() -> impl Strategy<Value = Request> {
    (
        any_text(),
        option::of(any_text()),
        option::of(collection::vec(any_text(), 0..4)),
        option::of(any_json()),
        collection::btree_map(any_text(), any_text(), 0..4),
    )
        .prop_map(|(message, model, tools, metadata, environment)| {
            Request::StartTask(StartTaskParams {
                message,
                model,
                tools,
                metadata,
                environment,
                ..StartTaskParams::default()
            })
        })
}

fn any_block() -> impl Strategy<Value = Block> {
    let text =
        (any_text(), option::of(any_json()), any::<bool>()).prop_map(|(text, opaque, is_reasoning)| {
            let block = TextBlock { text, opaque };
            if is_reasoning { Block::Reasoning(block) } else { Block::Text(block) }
        });
    let call =
        (any_text(), any_text(), option::of(any_json())).prop_map(|(provider_id, arguments, opaque)| {
            Block::Call(CallBlock { id: id(0x41), provider_id, tool: "shell".to_owned(), arguments, opaque })
        });
    prop_oneof![text, call]
}

fn any_notification() -> impl Strategy<Value = Notification> {
    let subscription_id = SubscriptionId(1);
    let message =
        (any_text(), option::of(any_text()), any::<u64>()).prop_map(move |(text, reasoning, seq)| {
            let message = Message {
                id: id(0x31),
                seq: Seq(seq),
                conversation_id: id(0x11),
                task_id: None,
                at: at(1),
                role: Role::User,
                kind: MessageKind::Text,
                text,
                reasoning,
                question_id: None,
            };
            Notification::TaskMessage(TaskMessage { subscription_id, seq: Seq(seq), message })
        });
    let event = (collection::vec(any_block(), 0..4), any::<u64>()).prop_map(move |(blocks, seq)| {
        let reply = Reply {
            blocks,
            api: "openai-chat".to_owned(),
            model: "m".to_owned(),
            stop_reason: StopReason::EndTurn,
            usage: samples::usage(),
        };
        let record = record(RecordBody::Reply(ReplyRecord::new(1, 1, reply)));
        Notification::TaskEvent(TaskEvent { subscription_id, seq: Seq(seq), record })
    });
    let delta = (any_text(), any::<u64>(), any::<u32>()).prop_map(move |(text, offset, attempt)| {
        Notification::TaskDelta(TaskDelta {
            subscription_id,
            conversation_id: id(0x11),
            task_id: id(0x21),
            item: DeltaItem::Call(id(0x41)),
            attempt,
            kind: DeltaKind::Output,
            offset,
            text,
        })
    });
    prop_oneof![message, event, delta]
}

/// Runs every decoder on untrusted bytes.
fn decode_everything(bytes: &[u8]) {
    for codec in CODECS {
        drop(codec.decode_incoming(bytes));
        drop(codec.decode_received(bytes));
    }
    drop(json::decode_hello(bytes));
    drop(json::decode_hello_reply(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_come_back_equal(request in any_request()) {
        for codec in CODECS {
            let bytes = codec.encode_request(ID, &request).unwrap();
            if codec == Codec::Json {
                prop_assert_eq!(bytes.iter().filter(|&&b| b == b'\n').count(), 1);
            }
            prop_assert_eq!(codec.decode_incoming(&bytes).request, Ok(request.clone()));
        }
    }

    #[test]
    fn notifications_come_back_equal(notification in any_notification()) {
        for codec in CODECS {
            let bytes = codec.encode_outgoing(&Outgoing::Notification(notification.clone())).unwrap();
            let received = codec.decode_received(&bytes).unwrap();
            prop_assert_eq!(received, Received::Notification(notification.clone()));
        }
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in collection::vec(any::<u8>(), 0..256)) {
        decode_everything(&bytes);
    }

    /// Bytes that are almost a message reach deeper than random ones.
    #[test]
    fn broken_messages_do_not_panic(
        which in any::<prop::sample::Index>(),
        breaks in collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let samples = samples::all();
        for codec in CODECS {
            let mut bytes = match &samples[which.index(samples.len())] {
                Sample::Request(_, request) => codec.encode_request(ID, request).unwrap(),
                Sample::Outgoing(_, outgoing) => codec.encode_outgoing(outgoing).unwrap(),
            };
            for (at, byte) in &breaks {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            decode_everything(&bytes);
        }
    }
}
