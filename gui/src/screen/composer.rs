//! Where a person writes: send, reply, stop, pause; and what the next task runs with.

use crate::{
    effect::{Effect, field},
    keymap,
    request::Request,
    theme::{size, space, style},
    widget::{Element, Look, action, key, secondary},
    words,
};
use abide_client::protocol::{
    ConversationId, TaskId,
    inbox::Question,
    method::{daemon::ListModelsReply, task::StartTaskParams},
    task::{AgentTask, LimitsRequest, Mode},
};
use iced::{
    Center, Fill, Shrink, Theme,
    keyboard::{Key, key::Named},
    widget::{
        Row, column, container, pick_list, row, space as gap, text_editor,
        text_editor::{Binding, KeyPress},
        text_input,
    },
};
use std::{collections::BTreeMap, fmt};
use uuid::Uuid;

const TALLEST: f32 = 220.0;

/// What has been written, and chosen for the next task.
#[derive(Debug, Default)]
pub struct Composer {
    content: text_editor::Content,
    mode: Option<Mode>,
    model: Option<String>,
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
                self.model = if let ModelChoice::Named(model) = choice { Some(model) } else { None };
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
                vec![Effect::Ask(Request::Answer(task, question.id, Some(text)))]
            }
            Stance::Away | Stance::Working(_) | Stance::Approval(_) | Stance::Paused(_) => Vec::new(),
        }
    }

    /// Asked twice for the same words, because the answer was lost, it starts one task.
    fn task(&mut self, text: String, conversation_id: Option<ConversationId>) -> StartTaskParams {
        let id = match self.sent.take() {
            Some(sent) if sent.text == text && !sent.id.is_empty() => sent.id,
            _ => Uuid::now_v7().to_string(),
        };
        self.sent = Some(Sent { id: id.clone(), text: text.clone(), is_under_way: true });
        let workspace = Some(self.workspace.trim().to_owned())
            .filter(|path| !path.is_empty() && conversation_id.is_none());
        StartTaskParams {
            conversation_id,
            message: text,
            mode: self.mode,
            model: self.model.clone(),
            workspace,
            limits: LimitsRequest { max_steps: self.max_steps.parse().ok(), ..LimitsRequest::default() },
            client_message_id: Some(id),
            environment: environment(),
            ..StartTaskParams::default()
        }
    }

    /// The daemon has it: the field is free for the next words.
    pub fn sent(&mut self) {
        if self.sent.take().is_some() {
            self.content = text_editor::Content::new();
        }
    }

    /// It does not have it: the words stay.
    pub fn failed(&mut self) {
        if let Some(sent) = &mut self.sent {
            sent.is_under_way = false;
        }
    }

    /// `models` is what there is to choose from; `model` and `mode` what the conversation has; `workspace` its folder.
    #[must_use]
    pub fn view<'a>(&'a self, stance: Stance<'_>, about: &About<'a>, look: Look) -> Element<'a, Message> {
        let is_waiting = matches!(stance, Stance::Question(..));
        let takes_words = matches!(stance, Stance::Ready | Stance::Question(..)) && !self.is_sending();
        let mut editor = text_editor(&self.content)
            .id(field::COMPOSER)
            .placeholder(self.placeholder(stance, about))
            .size(size::PROSE)
            .line_height(size::LINE_HEIGHT)
            .padding([space::XS, space::XS])
            .height(Shrink)
            .min_height(44.0)
            .max_height(TALLEST)
            .style(style::editor(is_waiting))
            .key_binding(binding);
        if takes_words {
            editor = editor.on_action(Message::Edited);
        }
        let foot = row![self.choices(stance, about, look), gap().width(Fill), self.buttons(stance)]
            .spacing(space::S)
            .align_y(Center);
        let card: fn(&Theme) -> container::Style =
            if is_waiting { style::composer_waiting } else { style::composer };
        container(column![editor, foot].spacing(space::S)).padding(space::M).width(Fill).style(card).into()
    }

    fn placeholder(&self, stance: Stance<'_>, about: &About<'_>) -> String {
        match stance {
            _ if self.is_sending() => "Sending…".to_owned(),
            Stance::Ready if about.workspace.is_none() => "What shall the agent do?".to_owned(),
            Stance::Ready => "What next?".to_owned(),
            Stance::Away => "The daemon is away. What you have written is kept.".to_owned(),
            Stance::Working(_) => "The agent is working. You can close this window; it goes on.".to_owned(),
            Stance::Approval(_) => "Waiting for your approval. Stop to take over.".to_owned(),
            Stance::Paused(_) => "Paused. It goes on when you say so.".to_owned(),
            Stance::Question(_, question) => {
                let how = if question.choices.is_empty() {
                    "Type an answer."
                } else {
                    "Type an answer, or pick one above."
                };
                format!("{} {how}", words::first_line(&question.text, 80))
            }
        }
    }

    fn choices<'a>(&'a self, stance: Stance<'_>, about: &About<'a>, look: Look) -> Element<'a, Message> {
        if !matches!(stance, Stance::Ready) {
            return secondary("").into();
        }
        let mode = self.mode.or(about.mode).unwrap_or(Mode::Agent);
        let modes = [ModeChoice(Mode::Agent), ModeChoice(Mode::Chat)];
        let chosen = self.model.clone().or_else(|| about.model.map(str::to_owned));
        let default = ModelChoice::Default(about.models.map(|models| models.default.model.clone()));
        let known = about.models.iter().flat_map(|m| &m.providers).flat_map(|provider| &provider.models);
        let models: Vec<ModelChoice> =
            std::iter::once(default.clone()).chain(known.cloned().map(ModelChoice::Named)).collect();
        let model = chosen.map_or(default, ModelChoice::Named);
        let steps = text_input("50", &self.max_steps)
            .size(size::SECONDARY)
            .padding([2.0, 4.0])
            .width(44)
            .style(style::field)
            .on_input(Message::StepsChanged);
        let mut choices = Row::new().spacing(space::S).align_y(Center).push(pill(pick_list(
            modes,
            Some(ModeChoice(mode)),
            Message::ModePicked,
        )));
        choices = choices.push(pill(pick_list(models, Some(model), Message::ModelPicked)));
        choices = match about.workspace {
            Some(path) => choices.push(secondary(words::path(path, look.home))),
            None => choices.push(
                text_input("Folder: a scratch one", &self.workspace)
                    .size(size::SECONDARY)
                    .padding([4.0, 8.0])
                    .width(180)
                    .style(style::field)
                    .on_input(Message::WorkspaceChanged),
            ),
        };
        if mode == Mode::Agent {
            choices = choices
                .push(row![secondary("max"), steps, secondary("steps")].spacing(space::XS).align_y(Center));
        }
        choices.into()
    }

    fn buttons<'a>(&self, stance: Stance<'_>) -> Element<'a, Message> {
        let enter = || key("↵").style(style::key_on_accent);
        let stop = || {
            let escape = key("Esc").style(style::key_bad);
            action("Stop", Some(escape)).style(style::danger).on_press(Message::StopPressed)
        };
        let can_send = !self.is_sending() && !self.content.text().trim().is_empty();
        let buttons = match stance {
            Stance::Ready => row![
                action("Send", Some(enter()))
                    .style(style::primary)
                    .on_press_maybe(can_send.then_some(Message::Submitted))
            ],
            Stance::Away => row![action("Send", Some(enter())).style(style::primary)],
            Stance::Working(_) | Stance::Approval(_) => {
                row![action("Pause", None).style(style::quiet).on_press(Message::PausePressed), stop()]
            }
            Stance::Paused(_) => {
                row![action("Go on", None).style(style::primary).on_press(Message::ResumePressed), stop()]
            }
            Stance::Question(..) => row![
                action("Stop", None).style(style::quiet).on_press(Message::StopPressed),
                action("Reply", Some(enter()))
                    .style(style::primary)
                    .on_press_maybe(can_send.then_some(Message::Submitted)),
            ],
        };
        buttons.spacing(space::S).align_y(Center).into()
    }
}

/// What the conversation is, for the composer.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub models: Option<&'a ListModelsReply>,
    pub model: Option<&'a str>,
    pub mode: Option<Mode>,
    /// `None` for a new conversation: then it can be chosen.
    pub workspace: Option<&'a str>,
}

fn pill<'a, T, L, V>(list: pick_list::PickList<'a, T, L, V, Message>) -> Element<'a, Message>
where
    T: ToString + PartialEq + Clone + 'a,
    L: std::borrow::Borrow<[T]> + 'a,
    V: std::borrow::Borrow<T> + 'a,
{
    list.text_size(size::SECONDARY).padding([4.0, 8.0]).style(style::pill).menu_style(style::choices).into()
}

/// Enter sends, Shift and Enter break the line; what is a command of the window is left to it.
fn binding(press: KeyPress) -> Option<Binding<Message>> {
    if !matches!(press.status, text_editor::Status::Focused { .. }) {
        return None;
    }
    let is_command = press.modifiers.command() && keymap::command(&press.key, press.modifiers).is_some();
    match press.key.as_ref() {
        Key::Named(Named::Enter) if press.modifiers.shift() => Some(Binding::Enter),
        Key::Named(Named::Enter) => Some(Binding::Custom(Message::Submitted)),
        Key::Named(Named::Escape) => Some(Binding::Unfocus),
        Key::Named(Named::ArrowUp | Named::ArrowDown | Named::PageUp | Named::PageDown) if is_command => None,
        Key::Named(Named::PageUp | Named::PageDown | Named::F1 | Named::F2) => None,
        Key::Character(_) if is_command => None,
        _ => Binding::from_key_press(press),
    }
}

/// The daemon hands on to tools what is on its list, and forgets the rest.
pub fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
