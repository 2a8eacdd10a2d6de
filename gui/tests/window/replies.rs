//! Replies of the daemon whose content no test looks at, beyond what was asked.

use crate::preset::{self, NOW};
use abide_client::protocol::{
    method::{
        conversation::{ConversationReply, DeleteConversationReply},
        daemon::{ConfigStatus, SandboxStatus, StatusReply, TaskCounts},
        inbox::UserResponseReply,
        rule::{ForgetRuleReply, RememberedRule},
        task::{Agent, AgentTreeReply, InterveneReply, TaskReply},
    },
    notification::DaemonUpdate,
    start::{AtLogin, StartStatus, StartedBy},
    task::{AgentTask, Status},
};
use abide_gui::{
    Message,
    request::{Reply, Request},
};

/// The daemon has done what was asked.
pub(crate) fn done(request: &Request) -> Reply {
    let task = preset::task(Status::Thinking);
    match request {
        Request::StopTask(_) => Reply::StopTask(TaskReply { task }),
        Request::Intervene(_) => Reply::Intervene(InterveneReply { success: true, task }),
        Request::UserResponse(asked) => {
            let response = asked.response.clone();
            Reply::UserResponse(UserResponseReply { won: true, response, first_at: None })
        }
        Request::ArchiveConversation(_) => {
            Reply::ArchiveConversation(ConversationReply { conversation: preset::conversation(&task) })
        }
        Request::DeleteConversation(_) => Reply::DeleteConversation(DeleteConversationReply { records: 1 }),
        Request::ForgetRule(asked) => {
            let rule = RememberedRule { id: asked.rule_id.clone(), allow: true, origin: None, text: None };
            Reply::ForgetRule(ForgetRuleReply { rule })
        }
        other => unreachable!("{other:?}"),
    }
}

/// The same, as the window learns of it.
pub(crate) fn is_done(request: Request) -> Message {
    let reply = done(&request);
    Message::Answered(request, Ok(reply))
}

/// The tasks of a conversation, with all sub-tasks.
pub(crate) fn agents(tasks: Vec<AgentTask>) -> Reply {
    let agents = tasks.into_iter().map(|task| {
        let agent =
            Agent { title: String::new(), depth: task.depth, user_content: None, user_comment: None, task };
        (agent.task.id, agent)
    });
    Reply::AgentTree(AgentTreeReply { agents: agents.collect() })
}

/// The daemon's state on a machine with this sandbox.
pub(crate) fn status(sandbox: SandboxStatus) -> Reply {
    Reply::Status(StatusReply {
        http: abide_client::protocol::method::http::HttpStatus::default(),
        version: String::new(),
        pid: 1,
        started_at: NOW,
        uptime_ms: 0,
        memory_bytes: 0,
        connections: 1,
        sessions: 0,
        tasks: TaskCounts::default(),
        inbox: 0,
        daemon: DaemonUpdate::default(),
        data_dir: String::new(),
        socket: String::new(),
        keys: Vec::new(),
        config: ConfigStatus::default(),
        sandbox,
        update: None,
        start: StartStatus { by: StartedBy::Client, at_login: AtLogin::Nothing },
    })
}
