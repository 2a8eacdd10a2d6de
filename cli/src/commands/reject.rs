use super::approve::decide;
use crate::{args::RejectArgs, error::CommandError, exit::Exit};
use abide_client::protocol::inbox::Decision;

pub(crate) async fn reject(args: RejectArgs, json: bool) -> Result<Exit, CommandError> {
    let decision = if args.always { Decision::RejectAlways } else { Decision::RejectOnce };
    decide(&args.id, decision, args.note, json).await
}
