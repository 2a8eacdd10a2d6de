use crate::{
    args::WatchArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Follow, Interrupt, What, Who},
    output::call::Extent,
};
use abide_client::protocol::{
    Seq,
    method::{GetConversation, GetTask, conversation::ConversationParams, task::GetTaskParams},
};

pub(crate) async fn watch(args: WatchArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let mut what = what(&mut daemon, &args.id).await?;
    what.since = args.since.map(Seq);
    what.extent = args.output.extent();
    what.json = json;
    what.who = Who::person_or(json, Who::Onlooker);
    let id = what.task.map_or_else(|| what.conversation.short(), |task| task.short());
    let ending = Follow::open(&mut daemon, what).await?.run().await?;
    ending.tell(&id, json)
}

/// A task's id or a conversation's.
async fn what(daemon: &mut Daemon, id: &str) -> Result<What, CommandError> {
    let task = daemon.call::<GetTask>(GetTaskParams { task_id: id.to_owned(), history: false }).await;
    let (conversation, task) = match task {
        Ok(reply) => (reply.task.conversation_id, Some(reply.task)),
        Err(no_task) => {
            let params = ConversationParams { conversation_id: id.to_owned() };
            match daemon.call::<GetConversation>(params).await {
                Ok(reply) => (reply.conversation.id, None),
                // Of the two, the word on the task says what was meant.
                Err(_) => return Err(no_task),
            }
        }
    };
    Ok(What {
        conversation,
        is_over: task.as_ref().is_some_and(|task| task.status.has_ended()),
        task: task.map(|task| task.id),
        since: None,
        with_prompts: true,
        extent: Extent::Tail,
        json: false,
        who: Who::Onlooker,
        interrupt: Interrupt::Detaches,
    })
}
