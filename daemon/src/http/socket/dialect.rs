//! The two dialects. A socket has one conversation: the one that it was opened with, else the one of the
//! first task that it starts.

use super::{
    Came, Cut, Opening, Socket,
    agent_state::AgentState,
    frame::{Frame, Payload, StopAction},
};
use crate::{
    events::Parcel,
    http::{
        answer::Asker,
        cursor::Cursor,
        narration::{Told, before},
        refusal::Refusal,
        session::{self, ask},
        stream::{self, Streaming},
        voice::Voice,
    },
};
use abide_protocol::{
    ConversationId, Error, ErrorKind, SubscriptionId, TaskId,
    codec::Outgoing,
    inbox::Pending,
    method::{
        Reply, Request,
        inbox::{DecideApprovalParams, InboxParams, UserResponseParams},
        subscription::{Scope, SubscribeParams, UnsubscribeParams},
        task::StartTaskParams,
    },
    notification::Notification,
    task::{LimitsRequest, Mode},
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// How long a client may be silent before it is taken for one of the dialect `state`.
const FIRST_FRAME: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Reason, act, observe.
    Roa,
    /// A state machine.
    State,
}

impl Dialect {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "roa" => Some(Self::Roa),
            "state" => Some(Self::State),
            _ => None,
        }
    }
}

/// What is told of the conversation.
enum Telling {
    Nothing,
    Roa(Box<Streaming>),
    /// With the subscription that its updates come from.
    State(AgentState, Option<SubscriptionId>),
}

struct Talk<'a> {
    socket: &'a mut Socket,
    asker: &'a Asker,
    /// `None`: no frame has chosen one.
    dialect: Option<Dialect>,
    conversation: Option<ConversationId>,
    telling: Telling,
}

/// Why a frame is not carried out, or the socket ends.
enum Fault {
    Refused(Refusal),
    Cut(Cut),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

impl From<Cut> for Fault {
    fn from(cut: Cut) -> Self {
        Self::Cut(cut)
    }
}

pub(super) async fn talk(socket: &mut Socket, asker: &Asker, opening: Opening) -> Result<(), Cut> {
    let Opening { dialect, conversation, .. } = opening;
    let conversation = conversation.map(|conversation| conversation.id);
    let mut talk = Talk { socket, asker, dialect, conversation, telling: Telling::Nothing };
    let first = match dialect {
        Some(_) => None,
        None => timeout(FIRST_FRAME, talk.socket.next(asker.line.outbox())).await.ok(),
    };
    let mut done = match first {
        Some(first) => talk.on(first?).await,
        None => talk.follow(None).await,
    };
    loop {
        match done {
            Ok(()) => {}
            Err(Fault::Refused(refusal)) => talk.refuse(&refusal).await?,
            Err(Fault::Cut(cut)) => return Err(cut),
        }
        let came = talk.socket.next(asker.line.outbox()).await?;
        done = talk.on(came).await;
    }
}

impl Talk<'_> {
    async fn on(&mut self, came: Came) -> Result<(), Fault> {
        match came {
            Came::Text(text) => self.take(&text).await,
            Came::Parcels(parcels) => Ok(self.tell(parcels).await?),
        }
    }

    async fn take(&mut self, text: &str) -> Result<(), Fault> {
        let wrong = |words: String| Refusal::new(ErrorKind::InvalidRequest, words);
        let frame: Frame = serde_json::from_str(text).map_err(|e| wrong(format!("not understood: {e}")))?;
        match self.dialect {
            Some(dialect) if dialect != frame.dialect() => {
                return Err(wrong("this frame is of the other dialect".to_owned()).into());
            }
            Some(_) => {}
            None => {
                self.dialect = Some(frame.dialect());
                if frame.dialect() == Dialect::Roa || matches!(self.telling, Telling::Nothing) {
                    self.follow(None).await?;
                }
            }
        }
        match frame {
            Frame::Chat(chat) => self.start(chat.into()).await,
            Frame::Command { payload: Payload::Start { task, max_iterations } } => {
                let limits = LimitsRequest { max_steps: max_iterations, ..LimitsRequest::default() };
                let mode = Some(Mode::Agent);
                self.start(StartTaskParams { message: task, mode, limits, ..StartTaskParams::default() })
                    .await
            }
            Frame::Ping => Ok(self.send(&json!({ "type": "pong" })).await?),
            Frame::PermissionResponse { id, approved, remember } => {
                let decision = session::decision(approved, remember);
                let params = DecideApprovalParams { approval_id: id, decision, note: None, rule: None };
                self.request(Request::DecideApproval(params)).await
            }
            Frame::AgentUserInput { content } => self.answer(Some(content)).await,
            Frame::Answer { response } => self.answer(response).await,
            Frame::AgentControl { action: StopAction::Stop } | Frame::Command { payload: Payload::Stop } => {
                let task = self.task().await?;
                self.request(Request::StopTask(task.into())).await
            }
            Frame::Command { payload: Payload::Pause } => {
                let task = self.task().await?;
                self.request(Request::PauseTask(task.into())).await
            }
            Frame::Command { payload: Payload::Resume } => {
                let task = self.task().await?;
                self.request(Request::ResumeTask(task.into())).await
            }
        }
    }

    async fn request(&mut self, request: Request) -> Result<(), Fault> {
        self.asker.ask(request).await.map(drop).map_err(Fault::from)
    }

    /// Starts a task in the socket's conversation, or in a new one, which becomes that.
    async fn start(&mut self, params: StartTaskParams) -> Result<(), Fault> {
        let params = StartTaskParams { conversation_id: self.conversation, ..params };
        let asker = self.asker;
        let started = ask!(asker, StartTask, params);
        if self.conversation.is_none() {
            self.conversation = Some(started.conversation_id);
            let seq = stream::started(asker, started.conversation_id, started.task_id).await?;
            self.follow(seq.map(|seq| Cursor { seq: before(seq), part: None })).await?;
        }
        Ok(())
    }

    /// The newest root task of the conversation.
    async fn task(&mut self) -> Result<TaskId, Refusal> {
        let none = || Refusal::new(ErrorKind::IllegalState, "nothing was started here");
        let conversation = self.conversation.ok_or_else(none)?;
        let found = session::get(self.asker, &conversation.to_string()).await?;
        Ok(found.task.ok_or_else(none)?.id)
    }

    /// Answers the oldest question of the task or of a sub-task.
    async fn answer(&mut self, response: Option<String>) -> Result<(), Fault> {
        let task_id = Some(self.task().await?.to_string());
        let asker = self.asker;
        let items = ask!(asker, Inbox, InboxParams { task_id }).items;
        let open = items.into_iter().find_map(|item| match item.pending {
            Pending::Question(question) => Some((item.task_id, question.id)),
            Pending::Approval(_) => None,
        });
        let (task, question) =
            open.ok_or_else(|| Refusal::new(ErrorKind::IllegalState, "no question is open"))?;
        let params = UserResponseParams {
            task_id: task.to_string(),
            question_id: Some(question.to_string()),
            response,
        };
        self.request(Request::UserResponse(params)).await
    }

    /// Tells the conversation, if there is one, in place of what was told; without a cursor from the task on
    /// that has not ended.
    async fn follow(&mut self, cursor: Option<Cursor>) -> Result<(), Fault> {
        if let Telling::State(_, Some(subscription_id)) = self.telling {
            self.request(Request::Unsubscribe(UnsubscribeParams { subscription_id })).await?;
        }
        let asker = self.asker;
        match (self.dialect, self.conversation) {
            (Some(Dialect::Roa), None) => self.telling = Telling::Nothing,
            (Some(Dialect::Roa), Some(id)) => {
                let cursor = match cursor {
                    Some(cursor) => Some(cursor),
                    None => stream::beginning(asker, &session::get(asker, &id.to_string()).await?).await?,
                };
                let mut streaming = Streaming::begin(asker.clone(), id, None, Voice::Roa, cursor).await?;
                let begun = streaming.begun_before().await.map_err(Refusal::from)?;
                self.telling = Telling::Roa(Box::new(streaming));
                self.send_told(begun).await?;
            }
            (_, None) => {
                self.telling = Telling::State(AgentState::default(), None);
                self.tell(Vec::new()).await?;
            }
            (_, Some(id)) => {
                let params = SubscribeParams { scope: Scope::Tree(id), since: None };
                let subscribed = ask!(asker, Subscribe, params);
                let mut state = AgentState::default();
                subscribed.snapshot.tasks.into_iter().for_each(|task| state.update(task));
                self.telling = Telling::State(state, Some(subscribed.subscription_id));
                self.tell(Vec::new()).await?;
            }
        }
        Ok(())
    }

    async fn tell(&mut self, parcels: Vec<Parcel>) -> Result<(), Cut> {
        match &mut self.telling {
            Telling::Nothing => {}
            Telling::Roa(streaming) => {
                let (told, is_over) = (streaming.tell(parcels).await, streaming.is_over);
                self.send_told(told).await?;
                if is_over {
                    return Err(Cut::behind());
                }
            }
            Telling::State(state, _) => {
                for parcel in parcels {
                    let Some(outgoing) = parcel.into_outgoing() else { return Err(Cut::behind()) };
                    if let Outgoing::Notification(Notification::TaskUpdate(update)) = outgoing {
                        state.update(update.task);
                    }
                }
                if let Some(news) = state.news(self.conversation) {
                    self.send(&news).await?;
                }
            }
        }
        Ok(())
    }

    async fn send_told(&mut self, told: Vec<Told>) -> Result<(), Cut> {
        for Told { data, .. } in told {
            self.send(&data).await?;
        }
        Ok(())
    }

    async fn refuse(&mut self, Refusal { error, .. }: &Refusal) -> Result<(), Cut> {
        self.send(&json!({ "type": "error", "message": error.message, "code": error.code })).await
    }

    async fn send(&mut self, message: &Value) -> Result<(), Cut> {
        self.socket.send(message.to_string()).await
    }
}
