//! A conversation that goes on from messages of another program.

use crate::world::{World, facts, head};
use abide_engine::{Command, Start};
use abide_protocol::{
    CallId, JsonText, TaskId,
    record::{Imported, ImportedReply, ImportedResult, ImportedText},
    transcript::{Block, CallBlock, Entry, StopReason},
};
use uuid::Uuid;

#[test]
fn imported_messages_are_the_start_of_the_transcript() {
    let call = CallBlock {
        id: CallId(Uuid::from_u128(2)),
        provider_id: "a".to_owned(),
        tool: "read".to_owned(),
        arguments: JsonText::empty().as_str().to_owned(),
        opaque: None,
    };
    let result = ImportedResult {
        call_id: call.id,
        provider_id: call.provider_id.clone(),
        tool: "read".to_owned(),
        text: "42".to_owned(),
    };
    let said = |text: &str, calls: &[CallBlock]| {
        Imported::Assistant(ImportedReply { text: text.to_owned(), calls: calls.to_vec() })
    };
    let imported = vec![
        Imported::User(ImportedText { text: "What is it?".to_owned() }),
        said(" ", std::slice::from_ref(&call)),
        Imported::Result(result),
        said("It is 42.", &[]),
    ];
    let mut w = World::new(1);
    let task = TaskId(Uuid::from_u128(1));
    w.id = task;
    let start =
        Start { task, conversation: Some(facts()), head: head(), imported, recalled: None, setup: None };
    w.input(Command::Start(Box::new(start)));
    assert_eq!(w.transcript(), ["note", "user", "reply", "read:ok", "reply", "user"]);
    let replies: Vec<_> = w
        .task()
        .entries()
        .iter()
        .filter_map(|entry| match entry {
            Entry::Reply(reply) => Some((reply.blocks.as_slice(), reply.stop_reason)),
            _ => None,
        })
        .collect();
    assert_eq!(replies[0], (&[Block::Call(call)][..], StopReason::ToolCalls), "blank text is no block");
    let ([Block::Text(text)], StopReason::EndTurn) = replies[1] else { panic!("{replies:?}") };
    assert_eq!(text.text, "It is 42.");
    assert_eq!(w.replayed(), w.history);
}
