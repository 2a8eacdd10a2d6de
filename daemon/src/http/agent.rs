//! The agent API. An agent is a task, a root or a sub-task.

use super::{
    answer::{Asker, Body, json, parse, query, response},
    cursor::Cursor,
    narration::before,
    refusal::Refusal,
    route::Endpoint,
    session::ask,
    stream::{self, Streaming},
    voice::Voice,
};
use abide_protocol::{
    ErrorKind, TaskId,
    inbox::Pending,
    method::{
        Reply, Request,
        inbox::UserResponseParams,
        task::{
            Agent, AgentTreeParams, GetTaskParams, GetTaskReply, ImportMessage, ImportRole, InterveneParams,
            StartTaskParams,
        },
    },
    record::{InterventionKind, Record, RecordBody},
    task::{AgentTask, Mode, Status},
};
use abide_store::{Feed, ReadError, Store, TreeOf};
use http_body_util::{BodyExt as _, Full};
use hyper::{Response, StatusCode, Uri, http::request::Parts};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a stream is asked with: in the query, or in a body.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Asked {
    prompt: Option<String>,
    agent_id: Option<String>,
    parent_id: Option<String>,
    messages: Vec<Said>,
}

#[derive(Deserialize)]
struct Said {
    role: ImportRole,
    content: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Words {
    user_comment: String,
    user_content: Option<String>,
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    question_id: Option<String>,
    /// `null` declines. The field is required, so that nobody declines by leaving it out.
    #[serde(deserialize_with = "Option::deserialize")]
    response: Option<String>,
}

pub(super) async fn answer(
    asker: Asker,
    endpoint: Endpoint,
    named: &[&str],
    head: &Parts,
    body: &[u8],
) -> Result<Response<Body>, Refusal> {
    let id = named.first().copied().unwrap_or_default();
    let answered = match endpoint {
        Endpoint::AgentStream => return respond(asker, head, body).await,
        Endpoint::AgentTree => tree(&asker, &head.uri).await,
        Endpoint::GetAgent => whole(&asker, id).await,
        Endpoint::Intervene => intervene(&asker, id, parse(body)?).await,
        Endpoint::AnswerAgent => reply(&asker, id, parse(body)?).await,
        _ => Err(Refusal::new(ErrorKind::Internal, "this is no route of agents")),
    };
    answered.map_err(|refusal| match refusal.error.kind() {
        ErrorKind::NotFound => Refusal::new(ErrorKind::NotFound, "Not found"),
        _ => refusal,
    })
}

/// Starts a task and streams it, or goes on with one that this request, or one like it, has started.
async fn respond(asker: Asker, head: &Parts, body: &[u8]) -> Result<Response<Body>, Refusal> {
    let mut asked: Asked = parse(body)?;
    for (name, value) in query(&head.uri).into_owned() {
        match &*name {
            "prompt" => asked.prompt = Some(value),
            "agentId" => asked.agent_id = Some(value),
            "parentId" => asked.parent_id = Some(value).filter(|id| !id.is_empty() && id != "null"),
            _ => {}
        }
    }
    let store = asker.service.store.clone();
    if let Some(cursor) = stream::last_event_id(&head.headers)? {
        let task = under_way(&asker, &asked, cursor).await?;
        let is_it = move |record: &Record| record.task_id == Some(task.id);
        let ended = store.newest_record(task.conversation_id, "task_ended", is_it).await;
        if ended?.is_some_and(|ended| ended.seq <= cursor.seq) {
            // A client that would connect again does not.
            let nothing = Full::default().boxed_unsync();
            return Ok(response(StatusCode::NO_CONTENT, "text/event-stream", nothing));
        }
        let (conversation, about) = (task.conversation_id, Some(task.id));
        let streaming = Streaming::begin(asker, conversation, about, Voice::Chunks, Some(cursor)).await?;
        return streaming.respond(None).await;
    }
    let started = ask!(asker, StartTask, asked.into_params()?);
    let (task, conversation) = (started.task_id, started.conversation_id);
    let gone = || Refusal::new(ErrorKind::NotFound, "the agent is gone");
    let seq = stream::started(&asker, conversation, task).await?.ok_or_else(gone)?;
    // The first chunk has an id of the task itself, by which the client comes back.
    let cursor = Some(Cursor { seq, part: None });
    let agent = shown(&store, task).await?.ok_or_else(gone)?;
    let first = ("agent-state", json!({ "agentId": task, "state": agent }));
    let streaming = Streaming::begin(asker, conversation, Some(task), Voice::Chunks, cursor).await?;
    streaming.respond(Some(first)).await
}

/// The task whose stream has given this id.
async fn under_way(asker: &Asker, asked: &Asked, cursor: Cursor) -> Result<AgentTask, Refusal> {
    if let Some(id) = &asked.agent_id {
        return Ok(get(asker, id, false).await?.task);
    }
    let parent = match &asked.parent_id {
        Some(parent) => Some(get(asker, parent, false).await?.task.id),
        None => None,
    };
    let store = &asker.service.store;
    let read = store.records_after(Feed::All, before(cursor.seq), 1).await?;
    let mut above = read.first().filter(|record| record.seq == cursor.seq).and_then(|record| record.task_id);
    while let Some(id) = above {
        let Some(task) = store.task(id).await? else { break };
        if task.parent_id == parent {
            return Ok(task);
        }
        above = task.parent_id;
    }
    Err(Refusal::new(ErrorKind::InvalidParams, "Last-Event-ID is no id of a chunk of this agent's stream"))
}

async fn get(asker: &Asker, id: &str, history: bool) -> Result<GetTaskReply, Refusal> {
    Ok(ask!(asker, GetTask, GetTaskParams { task_id: id.to_owned(), history }))
}

async fn tree(asker: &Asker, uri: &Uri) -> Result<Response<Body>, Refusal> {
    let mut params = AgentTreeParams::default();
    for (name, value) in query(uri).into_owned() {
        match &*name {
            "agentId" => params.task_id = Some(value),
            "all" => params.all = value == "true",
            _ => {}
        }
    }
    let mut agents = Map::new();
    for (id, agent) in ask!(asker, AgentTree, params).agents {
        let agent = object(&asker.service.store, agent).await?;
        agents.insert(id.to_string(), agent);
    }
    Ok(json(StatusCode::OK, &agents))
}

async fn whole(asker: &Asker, id: &str) -> Result<Response<Body>, Refusal> {
    let GetTaskReply { task, history, .. } = get(asker, id, true).await?;
    let gone = || Refusal::new(ErrorKind::NotFound, "the agent is gone");
    let agent = shown(&asker.service.store, task.id).await?;
    let mut agent = agent.ok_or_else(gone)?;
    agent["messages"] = json!(history.map(|history| history.messages).unwrap_or_default());
    Ok(json(StatusCode::OK, &agent))
}

async fn intervene(asker: &Asker, id: &str, words: Words) -> Result<Response<Body>, Refusal> {
    let Words { user_comment: comment, user_content: content, status } = words;
    let params = InterveneParams { task_id: id.to_owned(), comment, content, status };
    let success = ask!(asker, Intervene, params).success;
    Ok(json(StatusCode::OK, &json!({ "success": success })))
}

async fn reply(asker: &Asker, id: &str, answer: Answer) -> Result<Response<Body>, Refusal> {
    let Answer { question_id, response } = answer;
    let params = UserResponseParams { task_id: id.to_owned(), question_id, response };
    Ok(json(StatusCode::OK, &ask!(asker, UserResponse, params)))
}

impl Asked {
    /// The prompt is `prompt`, else the last of the messages, which a person has said.
    fn into_params(mut self) -> Result<StartTaskParams, Refusal> {
        let wrong = |words| Refusal::new(ErrorKind::InvalidParams, words);
        let last = || wrong("`prompt` is missing: give it, or `messages`, the last of which is the user's");
        let message = match self.prompt {
            Some(prompt) => prompt,
            None => {
                let said = self.messages.pop().filter(|said| said.role == ImportRole::User);
                said.ok_or_else(last)?.content
            }
        };
        let import = |Said { role, content: text }: Said| ImportMessage {
            role,
            text,
            tool_calls: Vec::new(),
            call_id: None,
            result: None,
        };
        Ok(StartTaskParams {
            message,
            // A sub-task has that of sub-tasks.
            mode: self.parent_id.is_none().then_some(Mode::Agent),
            messages: self.messages.into_iter().map(import).collect(),
            // So the same request again, of a client that has not come to read an id, starts nothing twice.
            client_message_id: self.agent_id.as_ref().map(|id| format!("/agent/stream {id}")),
            task_id: self.agent_id,
            parent_id: self.parent_id,
            ..StartTaskParams::default()
        })
    }
}

/// A task as the API shows it; `None`: it is gone.
pub(super) async fn shown(store: &Store, id: TaskId) -> Result<Option<Value>, ReadError> {
    let agents = store.tree(TreeOf::Task(id), true).await?;
    match agents.into_iter().find(|agent| agent.task.id == id) {
        Some(agent) => object(store, agent).await.map(Some),
        None => Ok(None),
    }
}

async fn object(store: &Store, agent: Agent) -> Result<Value, ReadError> {
    let Agent { task, user_content, user_comment, .. } = agent;
    let is_modified = user_content.is_some() && awaits_new_instructions(store, &task).await?;
    let content = match user_content {
        Some(content) => content,
        None => store.task(task.id).await?.map(|task| task.original_prompt).unwrap_or_default(),
    };
    let question = task.pending.iter().find_map(|pending| match pending {
        Pending::Question(q) => Some(json!({ "questionId": q.id, "prompt": q.text, "choices": q.choices })),
        Pending::Approval(_) => None,
    });
    let approvals = task.pending.iter().filter_map(|pending| match pending {
        Pending::Approval(a) => Some(json!({ "callId": a.call_id, "tool": a.tool, "summary": a.summary })),
        Pending::Question(_) => None,
    });
    Ok(json!({
        "agentId": task.id, "sessionId": task.conversation_id, "parentId": task.parent_id,
        "userContent": content, "userComment": user_comment.as_deref().unwrap_or("unchanged"),
        "status": status(task.status, is_modified), "subagents": task.children,
        "pendingQuestion": question, "pendingApprovals": approvals.collect::<Vec<_>>(),
    }))
}

/// A person has replaced the task's instructions, and its model has not been asked since.
async fn awaits_new_instructions(store: &Store, task: &AgentTask) -> Result<bool, ReadError> {
    let id = task.id;
    let replaced = move |record: &Record| {
        let RecordBody::Intervened(said) = &record.body else { return false };
        record.task_id == Some(id) && said.kind == InterventionKind::Modify
    };
    let replaced = store.newest_record(task.conversation_id, "intervened", replaced).await?;
    let of_task = move |record: &Record| record.task_id == Some(id);
    let asked = store.newest_record(task.conversation_id, "model_requested", of_task).await?;
    let seq = |record: Option<Record>| record.map(|record| record.seq);
    Ok(seq(replaced) > seq(asked))
}

const fn status(status: Status, is_modified: bool) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Error => "error",
        Status::Cancelled => "deleted",
        Status::WaitingUser | Status::WaitingApproval | Status::Paused => "awaiting_user",
        _ if is_modified => "modified",
        Status::Running | Status::Thinking | Status::ToolExecuting | Status::WaitingChildren => "running",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_given_or_the_last_of_the_messages() {
        let params = |body: Value| serde_json::from_value::<Asked>(body).unwrap().into_params();
        let said =
            json!([{ "role": "assistant", "content": "Hi." }, { "role": "user", "content": "Do it." }]);
        let last = params(json!({ "messages": said, "agentId": "mine" })).unwrap();
        assert_eq!((&*last.message, last.messages.len(), last.mode), ("Do it.", 1, Some(Mode::Agent)));
        assert_eq!(last.client_message_id.as_deref(), Some("/agent/stream mine"));
        let both = params(json!({ "messages": said, "prompt": "And this.", "parentId": "p" })).unwrap();
        assert_eq!((&*both.message, both.messages.len(), both.mode), ("And this.", 2, None));
        for none in [json!({}), json!({ "messages": [{ "role": "assistant", "content": "Hi." }] })] {
            assert_eq!(params(none).unwrap_err().error.kind(), ErrorKind::InvalidParams);
        }
    }

    #[test]
    fn each_status_has_a_name_of_the_api() {
        let table = [
            (Status::Running, "running", "modified"),
            (Status::Thinking, "running", "modified"),
            (Status::ToolExecuting, "running", "modified"),
            (Status::WaitingChildren, "running", "modified"),
            (Status::WaitingUser, "awaiting_user", "awaiting_user"),
            (Status::WaitingApproval, "awaiting_user", "awaiting_user"),
            (Status::Paused, "awaiting_user", "awaiting_user"),
            (Status::Completed, "completed", "completed"),
            (Status::Cancelled, "deleted", "deleted"),
            (Status::Error, "error", "error"),
        ];
        for (own, plain, modified) in table {
            assert_eq!((status(own, false), status(own, true)), (plain, modified), "{own:?}");
        }
        assert_eq!(table.len(), Status::ALL.len());
    }
}
