use crate::{
    decide::{
        command::Start,
        draft::{Draft, of_conversation},
        files,
        input::Refusal,
    },
    mint::Mint,
    state::history::History,
};
use abide_protocol::record::{NewRecord, RecordBody, UserMessage};

/// Starts a root task; refused while another one runs.
pub(super) fn accept(history: &History, start: Start, mint: &mut Mint) -> Result<Vec<NewRecord>, Refusal> {
    if let Some(running) = history.root().filter(|root| !root.has_ended()) {
        return Err(Refusal::TaskRunning(running.id));
    }
    files::refuse_while_undoing(history)?;
    let mut records = Vec::new();
    if history.conversation.is_none() {
        let facts = start.conversation.ok_or(Refusal::NoConversation)?;
        records.push(of_conversation(mint, RecordBody::ConversationCreated(facts)));
    }
    let Start { task, head, imported, recalled, setup, .. } = start;
    let text = head.original_prompt.clone();
    let mut draft = Draft::new(task, mint);
    draft.push(RecordBody::TaskStarted(Box::new(head)));
    imported.into_iter().for_each(|message| draft.push(RecordBody::Imported(message)));
    recalled.into_iter().for_each(|recalled| draft.push(RecordBody::Recalled(recalled)));
    draft.push(RecordBody::UserMessage(UserMessage { text }));
    setup.into_iter().for_each(|call| draft.push(RecordBody::CallAssessed(call)));
    records.append(&mut draft.records);
    Ok(records)
}
