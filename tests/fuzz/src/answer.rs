use crate::meter::measured;
use abide_model::{Api, ModelEvent, fuzzing::read};
use abide_protocol::transcript::Reply;
use std::sync::OnceLock;
use tokio::runtime::{Builder, Runtime};

/// Reads a streamed reply of OpenAI Chat Completions.
pub fn sse_openai(body: &[u8]) {
    answer(Api::OpenaiChat, body);
}

/// Reads a streamed reply of OpenAI Responses.
pub fn sse_responses(body: &[u8]) {
    answer(Api::OpenaiResponses, body);
}

/// Reads a streamed reply of Anthropic Messages.
pub fn sse_anthropic(body: &[u8]) {
    answer(Api::Anthropic, body);
}

/// Reads a streamed reply. However it is split into pieces, the result is the same, and the live events add
/// up to it.
fn answer(api: Api, body: &[u8]) {
    let whole = answered(api, body, body.len());
    let pieces = answered(api, body, 7);
    // A reply that is cut may be cut at different places: only complete ones can be compared.
    if let (Some(whole), Some(pieces)) = (&whole, &pieces) {
        assert_eq!(format!("{:?}", whole.blocks), format!("{:?}", pieces.blocks));
        assert_eq!((whole.stop_reason, whole.usage), (pieces.stop_reason, pieces.usage));
    }
}

fn answered(api: Api, body: &[u8], piece: usize) -> Option<Reply> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime =
        RUNTIME.get_or_init(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));
    let mut shown = String::new();
    let mut on_event = |event: ModelEvent| {
        if let ModelEvent::TextDelta(text) = event {
            shown.push_str(&text);
        }
    };
    let reply = measured(|| runtime.block_on(read(api, body, piece, &mut on_event))).ok()?;
    // There the end of an item repeats its text, and may correct what was shown of it.
    if api != Api::OpenaiResponses {
        assert_eq!(shown, reply.text(), "what was shown is what it says");
    }
    Some(reply)
}
