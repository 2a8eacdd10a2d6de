use super::stop::print_task;
use crate::{args::InterveneArgs, connection::Daemon, error::CommandError, exit::Exit, kind};
use abide_client::protocol::method::{
    Intervene,
    task::{InterveneParams, TaskReply},
};

pub(crate) async fn intervene(args: InterveneArgs, json: bool) -> Result<Exit, CommandError> {
    let InterveneArgs { task, comment, modify, delete, status, content } = args;
    let (comment, content, done) = match (comment.map(abide_client::as_comment), modify, delete) {
        (Some(comment), _, _) => (comment, content, "; it will read the comment"),
        (None, Some(instructions), _) => {
            ("modify".to_owned(), Some(instructions), "; its instructions are replaced")
        }
        (None, None, true) => ("delete".to_owned(), content, ""),
        (None, None, false) => (String::new(), content, ""),
    };
    let params = InterveneParams { task_id: task.clone(), comment, content, status };
    let mut daemon = Daemon::started().await?;
    match daemon.call::<Intervene>(params).await {
        Ok(reply) => print_task(&TaskReply { task: reply.task }, done, json),
        Err(error) => Err(kind::not_a_task(&mut daemon, &task, error).await),
    }
}
