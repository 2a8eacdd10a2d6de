use super::Draft;
use crate::{
    history::History,
    input::{Refusal, Start},
    mint::Mint,
};
use abide_protocol::record::{NewRecord, RecordBody, UserMessage};

/// One root task at a time in a conversation.
pub(super) fn accept(history: &History, start: Start, mint: &mut Mint) -> Result<Vec<NewRecord>, Refusal> {
    if let Some(running) = history.live().next() {
        return Err(Refusal::TaskRunning(running.id));
    }
    let mut records = Vec::new();
    if history.conversation.is_none() {
        let facts = start.conversation.ok_or(Refusal::NoConversation)?;
        records.push(super::conversation(mint, RecordBody::ConversationCreated(facts)));
    }
    let text = start.head.original_prompt.clone();
    let mut draft = Draft::new(start.task, mint);
    draft.push(RecordBody::TaskStarted(Box::new(start.head)));
    draft.push(RecordBody::UserMessage(UserMessage { text }));
    records.append(&mut draft.records);
    Ok(records)
}
