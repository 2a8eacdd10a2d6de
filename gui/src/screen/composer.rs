//! Where a person writes: send, reply, stop, pause; and what the next task runs with.

mod view;

use crate::{
    effect::Effect,
    guard::Deed,
    request::Request,
    screen::pending::meant,
    words::{expanded, home},
};
use abide_client::protocol::{
    ConversationId, TaskId,
    inbox::Question,
    method::{daemon::ListModelsReply, task::StartTaskParams},
    task::{AgentTask, LimitsRequest, Mode},
};
use iced::widget::text_editor;
use std::{collections::BTreeMap, fmt};

/// What has been written, and chosen for the next task.
#[derive(Debug, Default)]
pub struct Composer {
    content: text_editor::Content,
    mode: Option<Mode>,
    model: Option<ModelChoice>,
    max_steps: String,
    workspace: String,
    /// The request that is under way or has failed: the same words again are the same request.
    sent: Option<Sent>,
}

#[derive(Debug)]
struct Sent {
    id: String,
    text: String,
    is_under_way: bool,
}

#[derive(Debug, Clone)]
pub enum Message {
    Edited(text_editor::Action),
    Submitted,
    StopPressed,
    PausePressed,
    ResumePressed,
    DeclinePressed,
    ModePicked(ModeChoice),
    ModelPicked(ModelChoice),
    StepsChanged(String),
    WorkspaceChanged(String),
}

impl Message {
    /// What it does that cannot be undone. Enter answers only a question that has been there for a moment.
    #[must_use]
    pub fn deed(&self, stance: Stance<'_>) -> Option<Deed> {
        match self {
            Self::StopPressed | Self::PausePressed | Self::ResumePressed | Self::DeclinePressed => {
                Some(Deed::AtFoot)
            }
            Self::Submitted if matches!(stance, Stance::Question(..)) => Some(Deed::AtFoot),
            _ => None,
        }
    }
}

/// What the conversation is ready for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stance<'a> {
    /// A new task.
    Ready,
    /// Not yet known, or the daemon is away.
    Away,
    Working(&'a AgentTask),
    Approval(&'a AgentTask),
    Paused(&'a AgentTask),
    Question(TaskId, &'a Question),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeChoice(pub Mode);

impl fmt::Display for ModeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Mode::Chat => "Chat",
            Mode::Agent => "Agent",
        })
    }
}

/// A model, or whichever is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    Default(Option<String>),
    Named(String),
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(None) => f.write_str("default model"),
            Self::Default(Some(model)) => write!(f, "default: {model}"),
            Self::Named(model) => f.write_str(model),
        }
    }
}

impl Composer {
    #[must_use]
    pub fn with_draft(draft: &str) -> Self {
        Self { content: text_editor::Content::with_text(draft), ..Self::default() }
    }

    #[must_use]
    pub fn draft(&self) -> String {
        self.content.text().trim_end().to_owned()
    }

    /// The folder that was chosen, as it was typed.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.is_under_way)
    }

    /// `known` is the conversation's id and model, `None` for a new one.
    pub fn update(
        &mut self,
        message: Message,
        stance: Stance<'_>,
        known: Option<ConversationId>,
    ) -> Vec<Effect> {
        match (message, stance) {
            (Message::Edited(action), _) => {
                let is_edit = action.is_edit();
                self.content.perform(action);
                if is_edit { vec![Effect::Draft] } else { Vec::new() }
            }
            (Message::Submitted, stance) => self.submit(stance, known),
            (Message::StopPressed, Stance::Working(task) | Stance::Approval(task) | Stance::Paused(task)) => {
                vec![Effect::Ask(Request::Stop(task.id))]
            }
            (Message::StopPressed, Stance::Question(task, _)) => vec![Effect::Ask(Request::Stop(task))],
            (Message::PausePressed, Stance::Working(task) | Stance::Approval(task)) => {
                vec![Effect::Ask(Request::Pause(task.id))]
            }
            (Message::ResumePressed, Stance::Paused(task)) => vec![Effect::Ask(Request::Resume(task.id))],
            (Message::DeclinePressed, Stance::Question(task, question)) => {
                vec![Effect::Ask(Request::Answer(task, question.id, None))]
            }
            (Message::ModePicked(ModeChoice(mode)), _) => {
                self.mode = Some(mode);
                Vec::new()
            }
            (Message::ModelPicked(choice), _) => {
                self.model = Some(choice);
                Vec::new()
            }
            (Message::StepsChanged(steps), _) => {
                self.max_steps = steps.chars().filter(char::is_ascii_digit).take(5).collect();
                Vec::new()
            }
            (Message::WorkspaceChanged(workspace), _) => {
                self.workspace = workspace;
                Vec::new()
            }
            (
                Message::StopPressed
                | Message::PausePressed
                | Message::ResumePressed
                | Message::DeclinePressed,
                _,
            ) => Vec::new(),
        }
    }

    fn submit(&mut self, stance: Stance<'_>, conversation: Option<ConversationId>) -> Vec<Effect> {
        let text = self.draft();
        if text.trim().is_empty() || self.is_sending() {
            return Vec::new();
        }
        match stance {
            Stance::Ready => {
                let params = self.task(text, conversation);
                vec![Effect::Ask(Request::Start(Box::new(params)))]
            }
            Stance::Question(task, question) => {
                self.sent = Some(Sent { id: String::new(), text: text.clone(), is_under_way: true });
                let answer = meant(question, &text).to_owned();
                vec![Effect::Ask(Request::Answer(task, question.id, Some(answer)))]
            }
            Stance::Away | Stance::Working(_) | Stance::Approval(_) | Stance::Paused(_) => Vec::new(),
        }
    }

    /// A new task that goes on where the last one was stopped.
    pub fn go_on(&mut self, conversation: ConversationId) -> Effect {
        Effect::Ask(Request::Start(Box::new(self.task("Go on.".to_owned(), Some(conversation)))))
    }

    /// Asked twice for the same words, because the answer was lost, it starts one task.
    fn task(&mut self, text: String, conversation_id: Option<ConversationId>) -> StartTaskParams {
        let id = match self.sent.take() {
            Some(sent) if sent.text == text && !sent.id.is_empty() => sent.id,
            _ => abide_client::request_id(),
        };
        self.sent = Some(Sent { id: id.clone(), text: text.clone(), is_under_way: true });
        let workspace = Some(expanded(self.workspace.trim(), home()))
            .filter(|path| !path.is_empty() && conversation_id.is_none());
        StartTaskParams {
            conversation_id,
            message: text,
            mode: self.mode,
            model: self.model(conversation_id.is_some()),
            workspace,
            limits: LimitsRequest { max_steps: self.max_steps.parse().ok(), ..LimitsRequest::default() },
            client_message_id: Some(id),
            environment: environment(),
            ..StartTaskParams::default()
        }
    }

    /// A conversation may have a model of its own: there the default has to be named.
    fn model(&self, is_known: bool) -> Option<String> {
        match self.model.clone()? {
            ModelChoice::Named(model) => Some(model),
            ModelChoice::Default(model) => model.filter(|_| is_known),
        }
    }

    /// The daemon has it: the field is free for the next words.
    pub fn sent(&mut self) {
        if let Some(sent) = self.sent.take() {
            // What was written meanwhile stays.
            let draft = self.draft();
            let rest = draft.strip_prefix(&sent.text).unwrap_or(&draft).trim_start();
            self.content = text_editor::Content::with_text(rest);
        }
    }

    /// It does not have it: the words stay.
    pub fn failed(&mut self) {
        if let Some(sent) = &mut self.sent {
            sent.is_under_way = false;
        }
    }
}

/// What the conversation is, for the composer.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub models: Option<&'a ListModelsReply>,
    pub model: Option<&'a str>,
    pub mode: Option<Mode>,
    /// Then its folder can be chosen.
    pub is_new: bool,
    /// The buttons have meant the same for long enough to be pressed.
    pub is_steady: bool,
    /// One more Escape stops the task.
    pub stops_on_escape: bool,
}

/// The daemon hands on to tools what is on its list, and forgets the rest.
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
