use super::approve::{Said, decide_each};
use crate::{args::RejectArgs, error::CommandError, exit::Exit};
use abide_client::protocol::inbox::Decision;

pub(crate) async fn reject(args: RejectArgs, json: bool) -> Result<Exit, CommandError> {
    let decision =
        if args.always || args.rule.is_some() { Decision::RejectAlways } else { Decision::RejectOnce };
    decide_each(&args.ids, decision, &Said { note: args.note, rule: args.rule }, json).await
}
