use super::{cancelled, settled};
use crate::tool::CallError;
use abide_protocol::{message::CallOutcome, transcript::ToolResult};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A read that takes longer counts as hung.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a call that only reads. When the call is cancelled or takes too long, `look`'s token is cancelled,
/// and nobody waits for `look`.
pub(super) async fn look(
    look: impl FnOnce(&CancellationToken) -> Result<ToolResult, CallError> + Send + 'static,
    cancel: &CancellationToken,
) -> (CallOutcome, ToolResult) {
    let stop = cancel.child_token();
    let stopped = stop.clone();
    let looking = tokio::task::spawn_blocking(move || look(&stopped));
    tokio::select! {
        seen = looking => (CallOutcome::Done, settled(seen)),
        () = cancel.cancelled() => cancelled(),
        () = tokio::time::sleep(LIMIT) => {
            stop.cancel();
            let words = format!("the disk did not answer within {} s", LIMIT.as_secs());
            (CallOutcome::Done, ToolResult::failure(words))
        }
    }
}
