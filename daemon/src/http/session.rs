//! The routes of sessions. A session is a conversation.

use super::{
    answer::{Asker, Body, json, parse, query},
    narration::before,
    overview,
    refusal::Refusal,
    route::Endpoint,
    stream,
};
use crate::launch;
use abide_protocol::{
    CallId, Error, ErrorKind, Seq,
    comment::comment as as_request,
    conversation::{Conversation, LatestTask},
    inbox::Decision,
    method::{
        Reply, Request,
        conversation::{
            ConversationParams, CreateConversationParams, ListConversationsParams, ListMessagesParams,
            UpdateConversationParams,
        },
        inbox::{DecideApprovalParams, InboxParams, UserResponseParams},
        task::{StartTaskParams, TaskParams},
    },
    record::{Record, RecordBody},
    task::{Approvals, Mode},
};
use hyper::{Response, StatusCode, Uri, http::request::Parts};
use serde::Deserialize;
use serde_json::json;
use std::{collections::BTreeMap, str::FromStr};

/// Asks the service, and takes its reply to this method.
macro_rules! ask {
    ($asker:expr, $method:ident, $params:expr) => {
        match $asker.ask(Request::$method($params)).await? {
            Reply::$method(reply) => reply,
            other => {
                let words = format!("the reply is one to {}", other.name());
                return Err(Refusal::new(ErrorKind::Internal, words).into());
            }
        }
    };
}
pub(super) use ask;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    workspace_path: Option<String>,
    provider: Option<String>,
    model: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chat {
    message: String,
    mode: Option<Mode>,
    /// Given here, so that the service refuses them in words.
    #[serde(default)]
    approvals: Approvals,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Comment {
    comment: String,
}

#[derive(Deserialize)]
struct Approve {
    approved: bool,
    #[serde(default)]
    remember: bool,
    note: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
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
    let (id, item) = (named.first().copied().unwrap_or_default(), named.get(1).copied().unwrap_or_default());
    match endpoint {
        Endpoint::CreateSession => create(&asker, parse(body)?).await,
        Endpoint::Overview => {
            let session = query(&head.uri).find(|(name, _)| name == "session");
            let session = match session {
                Some((_, id)) => Some(get(&asker, &id).await?),
                None => None,
            };
            overview::stream(asker, session.as_ref(), &head.headers).await
        }
        Endpoint::Inbox => Ok(json(StatusCode::OK, &ask!(asker, Inbox, InboxParams::default()))),
        Endpoint::ListSessions => list(&asker, &head.uri).await,
        Endpoint::GetSession => Ok(json(StatusCode::OK, &json!({ "conversation": get(&asker, id).await? }))),
        Endpoint::Messages => messages(&asker, id, &head.uri).await,
        Endpoint::Chat => chat(&asker, id, parse(body)?).await,
        Endpoint::Comment => comment(&asker, id, parse(body)?).await,
        Endpoint::Stream => {
            let conversation = get(&asker, id).await?;
            stream::stream(asker, &conversation, &head.headers).await
        }
        Endpoint::Approve => approve(&asker, id, item, parse(body)?).await,
        Endpoint::Answer => respond(&asker, id, item, parse(body)?).await,
        Endpoint::Stop => stop(&asker, id).await,
        Endpoint::Resume => resume(&asker, id, parse(body)?).await,
        _ => Err(Refusal::new(ErrorKind::Internal, "this is no route of sessions")),
    }
}

pub(super) async fn get(asker: &Asker, id: &str) -> Result<Conversation, Refusal> {
    let params = ConversationParams { conversation_id: id.to_owned() };
    Ok(ask!(asker, GetConversation, params).conversation)
}

async fn create(asker: &Asker, session: Session) -> Result<Response<Body>, Refusal> {
    let (workspace, model) = (session.workspace_path.clone(), session.model()?);
    let params = CreateConversationParams { workspace, model, ..CreateConversationParams::default() };
    let id = ask!(asker, CreateConversation, params).conversation.id;
    let last = last_event(asker).await?;
    Ok(json(StatusCode::OK, &json!({ "sessionId": id, "lastEventId": last })))
}

async fn list(asker: &Asker, uri: &Uri) -> Result<Response<Body>, Refusal> {
    let mut params = ListConversationsParams::default();
    for (name, value) in query(uri) {
        match &*name {
            "archived" => params.archived = read(&name, &value)?,
            "cursor" => params.cursor = Some(value.into_owned()),
            "limit" => params.limit = Some(read(&name, &value)?),
            _ => {}
        }
    }
    Ok(json(StatusCode::OK, &ask!(asker, ListConversations, params)))
}

async fn messages(asker: &Asker, id: &str, uri: &Uri) -> Result<Response<Body>, Refusal> {
    let conversation_id = id.to_owned();
    let mut params =
        ListMessagesParams { conversation_id, task_id: None, before: None, after: None, limit: None };
    for (name, value) in query(uri) {
        match &*name {
            "before" => params.before = Some(Seq(read(&name, &value)?)),
            "after" => params.after = Some(Seq(read(&name, &value)?)),
            "limit" => params.limit = Some(read(&name, &value)?),
            _ => {}
        }
    }
    Ok(json(StatusCode::OK, &ask!(asker, ListMessages, params)))
}

/// The parameters in a request's path.
fn read<T: FromStr>(name: &str, value: &str) -> Result<T, Refusal> {
    let words = || format!("{name}={value} has no meaning");
    value.parse().map_err(|_| Refusal::new(ErrorKind::InvalidParams, words()))
}

async fn chat(asker: &Asker, id: &str, chat: Chat) -> Result<Response<Body>, Refusal> {
    let Conversation { id: conversation, title, task: earlier, .. } = get(asker, id).await?;
    let named_by = launch::title(&chat.message);
    let params = StartTaskParams {
        conversation_id: Some(conversation),
        message: chat.message,
        mode: chat.mode,
        approvals: chat.approvals,
        environment: chat.environment,
        ..StartTaskParams::default()
    };
    let task = ask!(asker, StartTask, params).task_id;
    let started = stream::started(asker, conversation, task).await?;
    let last = started.map(|seq| before(seq).0.to_string());
    // A session is made before anybody knows what it is about. The task has begun, also if it gets no name.
    if earlier.is_none() && title == launch::title("") {
        let (conversation_id, title) = (conversation.to_string(), Some(named_by));
        let params =
            UpdateConversationParams { conversation_id, title, ..UpdateConversationParams::default() };
        drop(asker.ask(Request::UpdateConversation(params)).await);
    }
    Ok(json(StatusCode::ACCEPTED, &json!({ "taskId": task, "lastEventId": last })))
}

async fn comment(asker: &Asker, id: &str, comment: Comment) -> Result<Response<Body>, Refusal> {
    let task = unended(&get(asker, id).await?)?.id;
    let task = ask!(asker, Intervene, as_request(task, comment.comment)).task;
    Ok(json(StatusCode::OK, &json!({ "taskId": task.id, "status": task.status })))
}

async fn approve(asker: &Asker, id: &str, call: &str, approve: Approve) -> Result<Response<Body>, Refusal> {
    let conversation = get(asker, id).await?.id;
    let unknown =
        || Error::new(ErrorKind::NotFound, format!("no approval of call {call:?} was asked for here"));
    let call_id: CallId = call.parse().map_err(|_| unknown())?;
    let is_it = move |record: &Record| match &record.body {
        RecordBody::ApprovalRequested(approval) => approval.call_id == call_id,
        _ => false,
    };
    let asked = asker.service.store.newest_record(conversation, "approval_requested", is_it).await;
    let asked = asked?.map(|record| record.body);
    let Some(RecordBody::ApprovalRequested(approval)) = asked else { return Err(unknown().into()) };
    let params = DecideApprovalParams {
        approval_id: approval.id.to_string(),
        decision: decision(approve.approved, approve.remember),
        note: approve.note,
        rule: None,
    };
    Ok(json(StatusCode::OK, &ask!(asker, DecideApproval, params)))
}

pub(super) const fn decision(approved: bool, remember: bool) -> Decision {
    match (approved, remember) {
        (true, false) => Decision::AllowOnce,
        (true, true) => Decision::AllowAlways,
        (false, false) => Decision::RejectOnce,
        (false, true) => Decision::RejectAlways,
    }
}

async fn respond(asker: &Asker, id: &str, question: &str, answer: Answer) -> Result<Response<Body>, Refusal> {
    let conversation = get(asker, id).await?.id;
    let unknown = || Error::new(ErrorKind::NotFound, format!("there is no question {question:?} here"));
    let question: abide_protocol::QuestionId = question.parse().map_err(|_| unknown())?;
    let is_it = move |record: &Record| match &record.body {
        RecordBody::QuestionAsked(asked) => asked.id == question,
        _ => false,
    };
    let asked = asker.service.store.newest_record(conversation, "question_asked", is_it).await;
    let task = asked?.and_then(|record| record.task_id).ok_or_else(unknown)?;
    let params = UserResponseParams {
        task_id: task.to_string(),
        question_id: Some(question.to_string()),
        response: answer.response,
    };
    Ok(json(StatusCode::OK, &ask!(asker, UserResponse, params)))
}

async fn stop(asker: &Asker, id: &str) -> Result<Response<Body>, Refusal> {
    let task = unended(&get(asker, id).await?)?.id;
    let task = ask!(asker, StopTask, TaskParams { task_id: task.to_string() }).task;
    Ok(json(StatusCode::OK, &json!({ "stopped": true, "taskId": task.id, "status": task.status })))
}

/// The task of the conversation that has not ended.
fn unended(conversation: &Conversation) -> Result<LatestTask, Error> {
    let words = "no task of this session is at work or waits";
    let none = || Error::new(ErrorKind::IllegalState, words).about(conversation.id);
    conversation.task.filter(|task| task.end_reason.is_none()).ok_or_else(none)
}

async fn resume(asker: &Asker, id: &str, session: Session) -> Result<Response<Body>, Refusal> {
    let id = get(asker, id).await?.id;
    let (workspace, model) = (session.workspace_path.clone(), session.model()?);
    if workspace.is_some() || model.is_some() {
        let conversation_id = id.to_string();
        let params = UpdateConversationParams {
            conversation_id,
            workspace,
            model,
            ..UpdateConversationParams::default()
        };
        ask!(asker, UpdateConversation, params);
    }
    let last = last_event(asker).await?;
    let none: [String; 0] = [];
    let reply = json!({ "sessionId": id, "resumed": true, "warnings": none, "lastEventId": last });
    Ok(json(StatusCode::OK, &reply))
}

/// The id that a stream begins with to tell what happens from now on.
async fn last_event(asker: &Asker) -> Result<String, Refusal> {
    Ok(asker.service.store.newest().await?.0.to_string())
}

impl Session {
    /// `provider/model`.
    fn model(&self) -> Result<Option<String>, Refusal> {
        let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
        match (named(&self.provider), named(&self.model)) {
            (None, model) => Ok(model),
            (Some(provider), Some(model)) if model.starts_with(&format!("{provider}/")) => Ok(Some(model)),
            (Some(provider), Some(model)) => Ok(Some(format!("{provider}/{model}"))),
            (Some(provider), None) => {
                let words = format!("`model` is missing: name a model of {provider}, or leave both out");
                Err(Refusal::new(ErrorKind::InvalidParams, words))
            }
        }
    }
}
