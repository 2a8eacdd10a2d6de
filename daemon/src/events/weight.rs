//! How much memory a record takes, near enough: a queue that counts records alone would hold gigabytes of long ones.

use abide_protocol::{
    JsonText,
    inbox::Preview,
    record::{Record, RecordBody},
    transcript::Block,
};

/// Of a record that says little, in bytes.
const LEAST: usize = 512;

/// In bytes.
pub(super) fn weight(record: &Record) -> usize {
    LEAST
        + match &record.body {
            RecordBody::TaskStarted(head) => {
                head.original_prompt.len()
                    + head.system_prompt.len()
                    + head.tools.iter().map(|tool| tool.parameters.as_str().len()).sum::<usize>()
            }
            RecordBody::UserMessage(message) => message.text.len(),
            RecordBody::Update(update) => update.text.len(),
            RecordBody::PartialReply(partial) => partial.text.len(),
            RecordBody::Reply(record) => record.reply.blocks.iter().map(of_block).sum(),
            RecordBody::CallPlanned(call) => call.arguments.len() + of_preview(call.preview.as_ref()),
            RecordBody::ApprovalRequested(approval) => {
                2 * approval.arguments.as_str().len() + of_preview(approval.preview.as_ref())
            }
            RecordBody::CallFinished(call) => {
                let result = &call.result;
                result.message.len()
                    + of_json(result.data.as_ref())
                    + result.diagnostics.iter().map(String::len).sum::<usize>()
            }
            _ => 0,
        }
}

fn of_block(block: &Block) -> usize {
    match block {
        Block::Text(text) | Block::Reasoning(text) => text.text.len() + of_json(text.opaque.as_ref()),
        Block::Call(call) => call.arguments.len() + of_json(call.opaque.as_ref()),
    }
}

fn of_preview(preview: Option<&Preview>) -> usize {
    preview.map_or(0, |preview| preview.diff.len())
}

fn of_json(json: Option<&JsonText>) -> usize {
    json.map_or(0, |json| json.as_str().len())
}
