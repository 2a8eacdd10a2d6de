//! A task that a client starts beneath another one.

use super::{Asked, start_while_wanted};
use crate::service::{
    Service,
    handlers::{RequestError, task::locate},
};
use abide_engine::{Command, StartBeneath};
use abide_protocol::{
    Error, ErrorKind,
    method::task::{StartTaskParams, StartTaskReply},
};
use tokio_util::sync::CancellationToken;

pub(super) async fn start(
    service: &Service,
    params: StartTaskParams,
    asked: Asked,
    gone: &CancellationToken,
) -> Result<StartTaskReply, RequestError> {
    let (parent, conversation_id) = locate(service, params.parent_id.as_deref().unwrap_or_default()).await?;
    check(&params)?;
    let Asked { task, external_id, client_message, by } = asked;
    let StartTaskParams { message: prompt, tools, metadata, .. } = params;
    let start = StartBeneath { task, parent, prompt, tools, metadata, client_message, external_id, by };
    let start = Command::StartBeneath(Box::new(start));
    start_while_wanted(service, conversation_id, task, start, gone).await?;
    Ok(StartTaskReply { task_id: task, conversation_id, beside: None })
}

/// Refuses what a sub-task has of its parent.
fn check(params: &StartTaskParams) -> Result<(), Error> {
    let StartTaskParams { message, tools, metadata, task_id, client_message_id, parent_id, .. } =
        params.clone();
    let own = StartTaskParams {
        message,
        tools,
        metadata,
        task_id,
        client_message_id,
        parent_id,
        ..StartTaskParams::default()
    };
    if *params == own {
        return Ok(());
    }
    let words = "a sub-task has the conversation, model and limits of its parent: give only `message`, \
                 `tools`, `metadata`, `taskId` and `clientMessageId`";
    Err(Error::new(ErrorKind::InvalidParams, words))
}
