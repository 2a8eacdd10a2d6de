//! What was made for a conversation that does not begin goes again.

use crate::{
    service::{Caller, Service, handlers::handle},
    session::{
        CommandError,
        tests::{ENDLESS, full, open, service},
    },
};
use abide_protocol::{
    ErrorKind,
    method::{Access, Request, conversation::CreateConversationParams, task::StartTaskParams},
    record::Via,
    task::Mode,
};
use abide_store::AppendError;
use std::{fs, path::Path, time::Duration};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

fn requests() -> [Request; 2] {
    let mode = Some(Mode::Chat);
    let model = Some("demo/demo".to_owned());
    [
        Request::StartTask(StartTaskParams { message: "Go.".into(), mode, model, ..Default::default() }),
        Request::CreateConversation(CreateConversationParams::default()),
    ]
}

async fn refused(service: &Service, request: Request) -> ErrorKind {
    let caller = Caller { via: Via::Socket, name: String::new(), may: Access::Administer };
    let refused = handle(service, &caller, request, &CancellationToken::new()).await;
    abide_protocol::Error::from(refused.unwrap_err()).kind()
}

fn left(scratch: &Path) -> usize {
    fs::read_dir(scratch).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_start_that_is_refused_leaves_no_folder() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path(), 0);
    let (service, scratch) = service(&store, folder.path()).await;
    service.sessions.drain(Duration::ZERO).await;
    for request in requests() {
        let name = request.name();
        assert_eq!(refused(&service, request).await, ErrorKind::ShuttingDown, "{name}");
        assert_eq!(left(&scratch), 0, "{name}");
    }
}

#[tokio::test]
async fn on_a_full_disk_neither() {
    let Some(folder) = full("on_a_full_disk_neither") else { return };
    let store = open(folder.path(), ENDLESS);
    let (service, scratch) = service(&store, folder.path()).await;
    for request in requests() {
        let name = request.name();
        assert_eq!(refused(&service, request).await, ErrorKind::StorageFull, "{name}");
        assert_eq!(left(&scratch), 0, "{name}");
    }
}

/// A folder that a committed conversation needs would be worse to lose than an empty one to keep.
#[tokio::test]
async fn what_may_be_committed_keeps_its_folder() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path(), 0);
    let (service, scratch) = service(&store, folder.path()).await;
    let failed = AppendError::Failed { reason: "no".into() };
    for (outcome, stays) in [
        (Ok(()), true),
        (Err(CommandError::CutOff), true),
        (Err(CommandError::Store(AppendError::Closed)), true),
        (Err(CommandError::Store(failed)), true),
        (Err(CommandError::ShuttingDown), false),
        (Err(CommandError::Overloaded), false),
        (Err(CommandError::Store(AppendError::Withdrawn)), false),
    ] {
        let said = format!("{outcome:?}");
        let mut own = service.launcher.own_folder(None);
        let conversation = own.conversation();
        service.launcher.workspace(conversation, None).await.unwrap();
        let _ = own.begin(async { outcome }).await;
        own.settle().await;
        assert_eq!(scratch.join(conversation.to_string()).exists(), stays, "{said}");
    }
}
