//! The composer: send, reply, stop, pause; and the settings of the next task.

pub mod attached;
mod mode;
pub mod pasted;
mod permission;
mod setup;
mod view;

pub use mode::ModeChoice;
pub use permission::Permission;
pub use setup::{Change, Offered, Setup};
pub use view::{ANSWER, MAX_MODEL, STOP, STOPS};

use crate::{
    catalog::{Catalog, DEMO_MODEL, Presets},
    effect::{Effect, field},
    guard::Deed,
    picker::Choice,
    request::{self, Request},
    screen::pending::meant,
    undo::Undo,
    words::{expanded, home},
};
use abide_client::protocol::{
    ConversationId, QuestionId, TaskId,
    inbox::Question,
    method::{
        task::{OwnWorktree, StartTaskParams},
        workspace::WorkspaceReply,
    },
    task::{AgentTask, Approvals, LimitsRequest, Mode},
};
use abide_host::environment::for_tasks;
use attached::{Attached, MAX_FILES};
use iced::widget::text_editor::{self, Action, Edit};
use pasted::{Pasted, plain};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The written text, and the settings chosen for the next task.
#[derive(Debug, Default)]
pub struct Composer {
    /// The text, with a mark for each long paste.
    content: text_editor::Content,
    pasted: Pasted,
    undo: Undo,
    mode: Option<Mode>,
    model: Option<ModelChoice>,
    setup: Setup,
    permission: Option<Permission>,
    /// The permission of the conversation's last task.
    pub usual: Option<Permission>,
    max_steps: Option<u32>,
    workspace: String,
    /// Files that go with the next prompt.
    attached: Vec<Attached>,
    /// In a low window: whether the settings are shown.
    shows_choices: bool,
    has_caret: bool,
    folder_has_caret: bool,
    /// The question that the field is for.
    asked: Option<Asked>,
    /// The request that is under way or has failed: the same text sent again repeats that request.
    sent: Option<Sent>,
}

/// The settings of a new conversation's next task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Choices {
    /// As typed.
    pub workspace: String,
    pub mode: Option<Mode>,
    /// `None`: the default model.
    pub model: Option<String>,
    /// `None`: `ask`.
    pub approvals: Option<Approvals>,
    #[serde(flatten)]
    pub setup: Setup,
}

/// A question that waits, and what the field holds meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked {
    question: QuestionId,
    held: Held,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Answer,
    /// A draft that was there when the question came. It may be meant for something else, so the first Enter
    /// does not send it.
    Draft,
    /// That draft, after the first Enter: the next one sends it.
    Armed,
}

/// What was last sent.
#[derive(Debug)]
struct Sent {
    as_what: SentAs,
    /// As [`pasted`] writes it.
    text: String,
    attached: Vec<Attached>,
    is_under_way: bool,
}

#[derive(Debug)]
enum SentAs {
    /// With the id that the request has, also when it is sent again.
    Prompt(String),
    Answer(QuestionId),
    /// To the task at work.
    Words,
}

impl Sent {
    /// Words that are no prompt.
    const fn words(as_what: SentAs, text: String) -> Self {
        Self { as_what, text, attached: Vec::new(), is_under_way: true }
    }
}

#[derive(Debug, Clone)]
pub enum Message {
    Edited(Action),
    /// Whether the text has the keyboard.
    Focused(bool),
    /// Whether the folder's field has the keyboard.
    FolderFocused(bool),
    Submitted,
    /// Sends the text to the task at work as new instructions in place of its own.
    ModifySubmitted,
    StopPressed,
    PausePressed,
    ResumePressed,
    DeclinePressed,
    ModePicked(ModeChoice),
    ModelPicked(ModelChoice),
    PermissionPicked(Permission),
    /// Whether the next conversation works in a git worktree of its own.
    WorktreePicked(bool),
    WorkspaceChanged(String),
    /// Enter in the field of the folder.
    ChoiceEntered,
    /// Chosen in the desktop's dialog.
    ChoosePressed(Choice),
    AttachedRemoved(usize),
    /// Puts the paste with this mark into the text.
    PastedUnfolded(char),
    PastedRemoved(char),
    /// The selection is copied, with its pastes.
    SelectionCopied,
    ChoicesToggled,
    /// Opens the palette with all that few tasks choose.
    SetupPressed,
    /// Undo or redo of the text.
    WrittenBefore {
        is_back: bool,
    },
}

impl Message {
    /// Its deed, if it cannot be undone. Enter does what it does only once that has been so for a moment: a
    /// comment must not begin a task because the one at work ends just then.
    #[must_use]
    pub fn deed(&self, stance: Stance<'_>) -> Option<Deed> {
        match self {
            Self::StopPressed | Self::PausePressed | Self::ResumePressed | Self::DeclinePressed => {
                Some(Deed::AtFoot)
            }
            Self::Submitted if matches!(stance, Stance::Question(..)) => Some(Deed::AtFoot),
            Self::Submitted | Self::ModifySubmitted => Some(Deed::Sent),
            _ => None,
        }
    }
}

/// The state of the conversation, for the composer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stance<'a> {
    /// A new task can be started.
    Ready,
    /// The state is not known yet, or the daemon is away.
    Away,
    Working(&'a AgentTask),
    Approval(&'a AgentTask),
    Paused(&'a AgentTask),
    Question(TaskId, &'a Question),
}

impl Stance<'_> {
    /// Whether *Go on* is shown instead of *Pause*: also while running work finishes before the pause.
    #[must_use]
    pub const fn can_go_on(self) -> bool {
        match self {
            Self::Paused(_) => true,
            Self::Working(task) | Self::Approval(task) => task.pause_reason.is_some(),
            Self::Ready | Self::Away | Self::Question(..) => false,
        }
    }

    /// The task to which Enter sends the text as a comment.
    #[must_use]
    pub const fn takes_comment(self) -> Option<TaskId> {
        match self {
            Self::Working(task) | Self::Paused(task) | Self::Approval(task) => Some(task.id),
            Self::Ready | Self::Away | Self::Question(..) => None,
        }
    }

    /// How many sub-tasks wait for the person.
    #[must_use]
    pub fn needs_below(self) -> u32 {
        match self {
            Self::Working(task) | Self::Paused(task) => task.tree.as_deref().map_or(0, |tree| tree.waiting),
            Self::Ready | Self::Away | Self::Approval(_) | Self::Question(..) => 0,
        }
    }

    /// Whether an item waits for the person.
    #[must_use]
    pub const fn needs_person(self) -> bool {
        matches!(self, Self::Approval(_) | Self::Question(..))
    }
}

/// A model, or the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    Default(Option<String>),
    Named(String),
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default(None) => f.write_str("default model"),
            Self::Default(Some(model)) if model == DEMO_MODEL => f.write_str("no model yet"),
            Self::Default(Some(model)) => write!(f, "{model} (default)"),
            Self::Named(model) => f.write_str(model),
        }
    }
}

impl Composer {
    #[must_use]
    pub fn with_draft(draft: &str) -> Self {
        let mut composer = Self::default();
        composer.show(draft);
        composer
    }

    /// A composer with these choices.
    #[must_use]
    pub fn set_up(self, choices: &Choices) -> Self {
        let Choices { workspace, mode, model, approvals, setup } = choices.clone();
        let (model, permission) = (model.map(ModelChoice::Named), approvals.map(Permission::after));
        Self { workspace, mode, setup, model, permission, ..self }
    }

    /// The choices that the person made by name.
    #[must_use]
    pub fn chosen(&self) -> Choices {
        let model = match &self.model {
            Some(ModelChoice::Named(model)) => Some(model.clone()),
            Some(ModelChoice::Default(_)) | None => None,
        };
        Choices {
            workspace: self.workspace.clone(),
            mode: self.mode,
            model,
            approvals: self.permission.map(|Permission(approvals)| approvals),
            setup: self.setup.clone(),
        }
    }

    /// The written text: with its pastes, as [`pasted`] writes them.
    #[must_use]
    pub fn draft(&self) -> String {
        self.pasted.written(self.content.text().trim_end())
    }

    fn written(&self) -> String {
        self.pasted.written(&self.content.text())
    }

    #[must_use]
    pub const fn has_caret(&self) -> bool {
        self.has_caret
    }

    /// The chosen folder, as typed.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// The chosen folder as an absolute path; `None` while it is typed, and for a private one.
    #[must_use]
    pub fn folder(&self) -> Option<String> {
        let folder = expanded(self.workspace.trim(), home());
        (!self.folder_has_caret && folder.starts_with('/')).then_some(folder)
    }

    /// What the next task may do without asking.
    #[must_use]
    pub fn permission(&self) -> Permission {
        self.permission.or(self.usual).unwrap_or(Permission(Approvals::Ask))
    }

    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.is_under_way)
    }

    /// Does an editing action; a long paste is folded.
    fn edited(&mut self, action: Action) -> Vec<Effect> {
        if !action.is_edit() {
            self.content.perform(action);
            return Vec::new();
        }
        let (before, shown) = (self.written(), self.content.text());
        let action = match action {
            Action::Edit(Edit::Paste(text)) => {
                Action::Edit(self.pasted.fold(&text, &shown).map_or(Edit::Paste(text), Edit::Insert))
            }
            action => action,
        };
        self.content.perform(action);
        self.changed(&before)
    }

    /// `known` is the conversation's id and model, `None` for a new one.
    pub fn update(
        &mut self,
        message: Message,
        stance: Stance<'_>,
        known: Option<ConversationId>,
    ) -> Vec<Effect> {
        match (message, stance) {
            (Message::Edited(action), _) => self.edited(action),
            // What is being sent is taken out of the text as it was.
            (Message::PastedUnfolded(_) | Message::PastedRemoved(_), _) if self.is_sending() => Vec::new(),
            (Message::PastedUnfolded(mark), _) => {
                let before = self.written();
                self.show(&self.pasted.unfolded(mark, &self.content.text()));
                [self.changed(&before), vec![Effect::Focus(field::COMPOSER)]].concat()
            }
            (Message::PastedRemoved(mark), _) => {
                let before = self.written();
                self.show(&self.pasted.written(&self.content.text().replace(mark, "")));
                [self.changed(&before), vec![Effect::Focus(field::COMPOSER)]].concat()
            }
            (Message::SelectionCopied, _) => {
                let selected = self.content.selection().map(|text| plain(&self.pasted.written(&text)));
                selected.map(Effect::Copy).into_iter().collect()
            }
            (Message::Focused(has_caret), _) => {
                self.has_caret = has_caret;
                Vec::new()
            }
            (Message::FolderFocused(has_caret), _) => {
                self.folder_has_caret = has_caret;
                Vec::new()
            }
            (Message::WrittenBefore { is_back }, _) => {
                let now = self.written();
                let other = if is_back { self.undo.back(&now) } else { self.undo.forth(&now) };
                if let Some(other) = other {
                    self.show(&other);
                }
                vec![Effect::Draft]
            }
            (Message::ChoosePressed(choice), _) => vec![Effect::Choose(choice)],
            (Message::AttachedRemoved(at), _) => {
                if at < self.attached.len() {
                    self.attached.remove(at);
                }
                vec![Effect::Focus(field::COMPOSER)]
            }
            (Message::ChoicesToggled, _) => {
                self.shows_choices = !self.shows_choices;
                Vec::new()
            }
            (Message::SetupPressed, _) => vec![Effect::ChooseSetup],
            (Message::ModifySubmitted, stance) if stance.takes_comment().is_some() => {
                self.intervene(stance, request::modify)
            }
            (Message::Submitted | Message::ModifySubmitted, stance) => self.submit(stance, known),
            (Message::StopPressed, Stance::Working(task) | Stance::Approval(task) | Stance::Paused(task)) => {
                vec![Effect::Ask(Request::StopTask(task.id.into()))]
            }
            (Message::StopPressed, Stance::Question(task, _)) => {
                vec![Effect::Ask(Request::StopTask(task.into()))]
            }
            (Message::PausePressed, Stance::Working(task) | Stance::Approval(task)) => {
                vec![Effect::Ask(Request::PauseTask(task.id.into()))]
            }
            (
                Message::ResumePressed,
                Stance::Paused(task) | Stance::Working(task) | Stance::Approval(task),
            ) if stance.can_go_on() => vec![Effect::Ask(Request::ResumeTask(task.id.into()))],
            (Message::DeclinePressed, Stance::Question(task, question)) => {
                vec![Effect::Ask(request::answer(task, question.id, None))]
            }
            (Message::ModePicked(ModeChoice(mode)), _) => {
                self.mode = Some(mode);
                vec![Effect::Draft, Effect::Say(ModeChoice(mode).line())]
            }
            (Message::ModelPicked(choice), _) => {
                self.model = Some(choice);
                vec![Effect::Draft]
            }
            (Message::PermissionPicked(permission), _) => {
                self.permission = Some(permission);
                vec![Effect::Draft]
            }
            (Message::WorktreePicked(is_own), _) => {
                self.setup.worktree = is_own;
                vec![Effect::Draft]
            }
            (Message::WorkspaceChanged(workspace), _) => {
                self.workspace = workspace;
                vec![Effect::Draft]
            }
            (Message::ChoiceEntered, _) => vec![Effect::Focus(field::COMPOSER)],
            (
                Message::StopPressed
                | Message::PausePressed
                | Message::ResumePressed
                | Message::DeclinePressed,
                _,
            ) => Vec::new(),
        }
    }

    /// The question that the field is for has come, or has gone.
    pub fn meet(&mut self, question: Option<QuestionId>) {
        if question != self.asked.map(|asked| asked.question) {
            let held = if self.draft().is_empty() { Held::Answer } else { Held::Draft };
            self.asked = question.map(|question| Asked { question, held });
        }
    }

    /// Whether the field holds an answer or a draft; `None`: no question waits.
    #[must_use]
    pub fn held(&self) -> Option<Held> {
        self.asked.map(|asked| asked.held)
    }

    /// The person has changed what was written before.
    fn changed(&mut self, before: &str) -> Vec<Effect> {
        self.pasted.keep(&self.content.text());
        self.undo.changed(before, &self.written());
        self.forget_if_empty();
        vec![Effect::Draft]
    }

    /// What is written from here on is for the question.
    fn forget_if_empty(&mut self) {
        if self.draft().is_empty()
            && let Some(asked) = &mut self.asked
        {
            asked.held = Held::Answer;
        }
    }

    /// The text and the choices that are stored.
    #[must_use]
    pub fn stored(&self) -> (String, Choices) {
        (self.draft(), self.chosen())
    }

    /// Empties the field.
    pub fn clear(&mut self) -> Effect {
        self.show("");
        Effect::Draft
    }

    /// Sets this written text, with the caret at its end.
    pub fn show(&mut self, written: &str) {
        let (shown, pasted) = Pasted::read(written);
        self.pasted = pasted;
        self.content = text_editor::Content::with_text(&shown);
        self.content.perform(Action::Move(text_editor::Motion::DocumentEnd));
    }

    /// The models to choose from, the default first, for a conversation with this persona.
    #[must_use]
    pub fn models(&self, persona: Option<&str>, catalog: &Catalog) -> Vec<ModelChoice> {
        let models = catalog.models.as_ref();
        let of_persona = self.setup.defaults(persona, &catalog.presets).model();
        let default = of_persona.or_else(|| models.map(|models| &*models.default.model));
        let default = ModelChoice::Default(default.map(str::to_owned));
        let known = models.into_iter().flat_map(|m| &m.providers).flat_map(|provider| &provider.models);
        std::iter::once(default).chain(known.cloned().map(ModelChoice::Named)).collect()
    }

    /// What few tasks choose, for a conversation with this persona and mode: files, mode, persona, template,
    /// tools, steps.
    #[must_use]
    pub fn offered(&self, known: (Option<&str>, Option<Mode>), catalog: &Catalog) -> Vec<Offered> {
        let mode = self.mode_of_next(known, catalog);
        let mut all = vec![Offered::file()];
        all.extend(self.setup.offered(known.0, &catalog.presets));
        all.extend(ModeChoice::ALL.map(|choice| Offered::mode(choice, choice.0 == mode)));
        if mode != Mode::Chat {
            all.extend(Offered::steps(self.max_steps, self.usual_steps(known.0, mode, catalog)));
        }
        all
    }

    /// The same for a new conversation, and how it takes part in the memory.
    #[must_use]
    pub fn offered_new(&self, catalog: &Catalog) -> Vec<Offered> {
        self.offered((None, None), catalog).into_iter().chain(self.setup.memory_uses()).collect()
    }

    /// The most steps of a task for which nobody chooses it; `None` until it is known, 0: no limit.
    fn usual_steps(&self, persona: Option<&str>, mode: Mode, catalog: &Catalog) -> Option<u32> {
        let set = self.setup.defaults(persona, &catalog.presets).max_steps();
        set.or_else(|| catalog.models.as_ref().map(|models| models.max_steps(mode)))
    }

    /// Chooses one of what is offered. The newest choice counts: what a persona or a template sets replaces
    /// an earlier choice.
    pub fn choose(&mut self, change: Change, presets: &Presets) -> Effect {
        let sets_others = matches!(change, Change::Persona(_) | Change::Template(_));
        match change {
            Change::Persona(name) => self.setup.persona = name,
            Change::Template(name) => self.setup.template = name,
            Change::Tools(names) => self.setup.tools = names,
            Change::Mode(mode) => self.mode = Some(mode),
            Change::Steps(steps) => self.max_steps = steps,
            Change::Memory(memory) => self.setup.memory = memory,
            Change::File => return Effect::Choose(Choice::File),
        }
        if sets_others {
            let set = self.setup.defaults(None, presets);
            self.mode = self.mode.filter(|_| set.mode(None).is_none());
            self.model = self.model.take().filter(|_| set.model().is_none());
            if set.max_steps().is_some() {
                self.max_steps = None;
            }
            if set.tools().is_some() {
                self.setup.tools = None;
            }
        }
        Effect::Draft
    }

    /// The mode of the next task in a conversation with this persona and mode.
    fn mode_of_next(&self, (persona, mode): (Option<&str>, Option<Mode>), catalog: &Catalog) -> Mode {
        let set = self.setup.defaults(persona, &catalog.presets).mode(mode);
        self.mode.or(set).unwrap_or_else(|| catalog.default_mode())
    }

    /// The persona that sets the model of the next task, and that model; `None` if the person chose one.
    #[must_use]
    pub fn model_of_persona<'a>(&'a self, presets: &'a Presets) -> Option<(&'a str, &'a str)> {
        let set = self.setup.defaults(None, presets);
        let is_named = matches!(self.model, Some(ModelChoice::Named(_)));
        set.model_from().zip(set.model()).filter(|_| !is_named)
    }

    fn submit(&mut self, stance: Stance<'_>, conversation: Option<ConversationId>) -> Vec<Effect> {
        let text = self.draft();
        if text.trim().is_empty() || self.is_sending() {
            return Vec::new();
        }
        match stance {
            Stance::Ready => {
                let attached = self.attached.clone();
                let params = self.task(text, attached, conversation);
                vec![Effect::Ask(Request::StartTask(params))]
            }
            Stance::Question(_, question)
                if self.asked == Some(Asked { question: question.id, held: Held::Draft }) =>
            {
                self.asked = Some(Asked { question: question.id, held: Held::Armed });
                Vec::new()
            }
            Stance::Question(task, question) => {
                let answer = meant(question, &plain(&text)).to_owned();
                self.sent = Some(Sent::words(SentAs::Answer(question.id), text));
                vec![Effect::Ask(request::answer(task, question.id, Some(answer)))]
            }
            Stance::Away | Stance::Working(_) | Stance::Paused(_) | Stance::Approval(_) => {
                self.intervene(stance, request::note)
            }
        }
    }

    /// Sends the text to the task at work. It has no files: they stay for the next prompt.
    fn intervene(&mut self, stance: Stance<'_>, of: fn(TaskId, String) -> Request) -> Vec<Effect> {
        let text = self.draft();
        let Some(task) = stance.takes_comment().filter(|_| !text.trim().is_empty() && !self.is_sending())
        else {
            return Vec::new();
        };
        let words = plain(&text);
        self.sent = Some(Sent::words(SentAs::Words, text));
        vec![Effect::Ask(of(task, words))]
    }

    /// Starts a new task of this conversation with this text, which goes into no template. It has this mode,
    /// unless a mode or a persona was picked for the next task.
    pub fn say(&mut self, words: &str, conversation: ConversationId, mode: Option<Mode>) -> Effect {
        let params = self.task(words.to_owned(), Vec::new(), Some(conversation));
        let mode = params.mode.or(mode.filter(|_| params.persona.is_none()));
        Effect::Ask(Request::StartTask(StartTaskParams { template: None, mode, ..params }))
    }

    /// A task for the text. Sent twice because the reply was lost, it starts only once.
    fn task(
        &mut self,
        text: String,
        attached: Vec<Attached>,
        conversation_id: Option<ConversationId>,
    ) -> StartTaskParams {
        let id = match self.sent.take() {
            Some(Sent { as_what: SentAs::Prompt(id), text: sent, attached: files, .. })
                if sent == text && files == attached =>
            {
                id
            }
            _ => abide_client::request_id(),
        };
        let blocks = attached.iter().map(Attached::block);
        let message = std::iter::once(plain(&text)).chain(blocks).collect::<Vec<_>>().join("\n\n");
        self.sent = Some(Sent { as_what: SentAs::Prompt(id.clone()), text, attached, is_under_way: true });
        let workspace = Some(expanded(self.workspace.trim(), home()))
            .filter(|path| !path.is_empty() && conversation_id.is_none());
        StartTaskParams {
            conversation_id,
            message,
            worktree: workspace.as_ref().filter(|_| self.setup.worktree).map(|_| OwnWorktree::default()),
            memory: conversation_id.is_none().then_some(self.setup.memory),
            mode: self.mode,
            model: self.model(conversation_id.is_some()),
            workspace,
            persona: self.setup.persona.clone(),
            template: self.setup.template.clone(),
            tools: self.setup.tools.clone(),
            limits: LimitsRequest { max_steps: self.max_steps, ..LimitsRequest::default() },
            approvals: self.permission().0,
            client_message_id: Some(id),
            environment: for_tasks().variables.clone(),
            ..StartTaskParams::default()
        }
    }

    /// The model to send. A conversation may have a model of its own, so the default must be named there.
    fn model(&self, is_known: bool) -> Option<String> {
        match self.model.clone()? {
            ModelChoice::Named(model) => Some(model),
            ModelChoice::Default(model) => model.filter(|_| is_known),
        }
    }

    /// Attaches a file to the next prompt.
    ///
    /// # Errors
    /// Why it cannot be attached, for a person.
    pub fn attach(&mut self, file: Attached) -> Result<(), String> {
        if self.attached.len() >= MAX_FILES {
            return Err(format!(
                "At most {MAX_FILES} files go with a prompt: {} is not attached.",
                file.name
            ));
        }
        if !self.attached.contains(&file) {
            self.attached.push(file);
        }
        Ok(())
    }

    /// Whether this request has sent the text, and not a card or another field.
    #[must_use]
    pub fn has_sent(&self, request: &Request) -> bool {
        let Some(sent) = &self.sent else { return false };
        match (request, &sent.as_what) {
            (Request::StartTask(params), SentAs::Prompt(id)) => params.client_message_id.as_ref() == Some(id),
            (Request::UserResponse(params), SentAs::Answer(id)) => {
                params.response.is_some() && params.question_id.as_ref() == Some(&id.to_string())
            }
            (Request::Intervene(params), SentAs::Words) => request::says(params, &plain(&sent.text)),
            _ => false,
        }
    }

    /// The daemon has accepted the text: the field is free for the next.
    pub fn sent(&mut self) {
        if let Some(sent) = self.sent.take() {
            self.attached.retain(|file| !sent.attached.contains(file));
            self.take_out(&sent.text);
        }
        self.forget_if_empty();
    }

    /// Removes a text that was sent from the draft.
    pub fn take_out(&mut self, sent: &str) {
        let draft = self.draft();
        self.show(rest(&draft, sent));
    }

    /// The text that is being sent.
    #[must_use]
    pub fn under_way(&self) -> Option<&str> {
        self.sent.as_ref().filter(|sent| sent.is_under_way).map(|sent| &*sent.text)
    }

    /// The request failed: the text stays.
    pub fn failed(&mut self) {
        if let Some(sent) = &mut self.sent {
            sent.is_under_way = false;
        }
    }
}

/// What was written while this text was being sent.
#[must_use]
pub fn rest<'a>(draft: &'a str, sent: &str) -> &'a str {
    draft.strip_prefix(sent).unwrap_or(draft).trim_start()
}

/// The conversation's state, for the composer.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub catalog: &'a Catalog,
    pub persona: Option<&'a str>,
    pub model: Option<&'a str>,
    pub mode: Option<Mode>,
    /// What tasks can do in its folder, once it is known.
    pub here: Option<&'a WorkspaceReply>,
    /// It is new, so its folder can be chosen.
    pub is_new: bool,
    /// The buttons have been steady for long enough to be pressed.
    pub is_steady: bool,
    /// What Enter does has been so for long enough.
    pub can_send: bool,
    /// A caret is drawn.
    pub has_caret: bool,
    /// Escape arms a stop, or stops.
    pub escape_stops: bool,
    /// One more Escape stops the task.
    pub is_stop_armed: bool,
}
