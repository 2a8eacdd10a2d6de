use crate::{
    connection::Daemon,
    error::CommandError,
    exit::Exit,
    follow::{Answerer, Follow, Interrupt, Target},
    output::{call::Extent, screen},
    request,
};
use abide_client::{
    protocol::{
        method::{subscription::Scope, task::StartTaskParams},
        task::Mode,
    },
    request_id,
};
use abide_host::environment::for_tasks;

/// The built-in model, which plays a script.
const MODEL: &str = "demo/demo";
const PROMPT: &str = "Show me what you can do.";
const WORDS: &str = "\
This is a demonstration. The model is a script that is built in: no key and no
network is used. All else is real: the task belongs to the daemon, its tools run
in a scratch folder of its own, it asks one question and needs one approval.
Leave with Ctrl-C whenever you like: the task goes on without you.
";

pub(crate) async fn demo(mode: Mode, json: bool) -> Result<Exit, CommandError> {
    if !json {
        screen::note(WORDS)?;
    }
    let answerer = Answerer::person_or(json, Answerer::Itself);
    if matches!(answerer, Answerer::Itself) && !json {
        screen::note("There is no terminal here: this program will answer and approve by itself.\n")?;
    }
    let mut daemon = Daemon::started().await?;
    let params = StartTaskParams {
        message: PROMPT.to_owned(),
        mode: Some(mode),
        model: Some(MODEL.to_owned()),
        client_message_id: Some(request_id()),
        environment: for_tasks().variables.clone(),
        ..StartTaskParams::default()
    };
    let started = request::start(&mut daemon, params).await?;
    let target = Target {
        conversation: started.conversation_id,
        // What sub-tasks say is shown too.
        scope: if mode == Mode::Tree {
            Scope::Tree(started.conversation_id)
        } else {
            Scope::Conversation(started.conversation_id)
        },
        task: Some(started.task_id),
        is_over: false,
        since: None,
        with_prompts: true,
        extent: Extent::Tail,
        json,
        is_quiet: false,
        answerer,
        interrupt: Interrupt::Detaches,
    };
    let ending = Follow::open(&mut daemon, target).await?.run().await?;
    ending.print(&started.task_id.short(), json)
}
