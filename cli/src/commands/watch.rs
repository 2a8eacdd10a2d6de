use crate::{
    args::WatchArgs,
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Answerer, Follow, Interrupt, Target},
    output::{call::Extent, screen},
};
use abide_client::protocol::{
    Seq,
    method::{
        GetConversation, GetTask, conversation::ConversationParams, subscription::Scope, task::GetTaskParams,
    },
};

pub(crate) async fn watch(args: WatchArgs, json: bool) -> Result<Exit, CommandError> {
    let mut daemon = Daemon::started().await?;
    let mut target = target(&mut daemon, &args.id, json).await?;
    if args.children {
        target.scope = Scope::Tree(target.conversation);
    }
    target.since = args.since.map(Seq);
    target.extent = args.output.extent();
    target.json = json;
    target.answerer = Answerer::person_or(json, Answerer::Onlooker);
    let id = target.task.map_or_else(|| target.conversation.short(), |task| task.short());
    let ending = Follow::open(&mut daemon, target).await?.run().await?;
    ending.print(&id, json)
}

/// What to watch, by a task's or a conversation's id.
async fn target(daemon: &mut Daemon, id: &str, json: bool) -> Result<Target, CommandError> {
    let task = daemon.call::<GetTask>(GetTaskParams { task_id: id.to_owned(), history: false }).await;
    let (conversation, task) = match task {
        Ok(reply) => (reply.task.conversation_id, Some(reply.task)),
        Err(no_task) => {
            let params = ConversationParams { conversation_id: id.to_owned() };
            match daemon.call::<GetConversation>(params).await {
                Ok(reply) => {
                    let works = reply.conversation.task.is_some_and(|task| !task.status.has_ended());
                    if !works && !json {
                        screen::note(
                            "nothing works in this conversation now; its next task is shown when it begins",
                        )?;
                    }
                    (reply.conversation.id, None)
                }
                // Of the two errors, the one about the task is shown.
                Err(_) => return Err(no_task),
            }
        }
    };
    // A sub-task has its own timeline.
    let scope = match &task {
        Some(task) if task.parent_id.is_some() => Scope::Task(task.id),
        _ => Scope::Conversation(conversation),
    };
    Ok(Target {
        conversation,
        scope,
        is_over: task.as_ref().is_some_and(|task| task.status.has_ended()),
        task: task.map(|task| task.id),
        since: None,
        with_prompts: true,
        extent: Extent::Tail,
        json: false,
        is_quiet: false,
        answerer: Answerer::Onlooker,
        interrupt: Interrupt::Detaches,
    })
}
