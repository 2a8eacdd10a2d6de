//! A branch of the conversation: a prompt that is edited in its place, or given to another model. A branch is
//! a new conversation. The messages before the prompt are its history.

use super::{Conversation, Message as Above, again::is_prompt};
use crate::{
    catalog::{Catalog, DEMO_MODEL},
    effect::{Effect, field},
    request::Request,
    screen::composer::Stance,
    theme::{size, space, style},
    undo::Undo,
    widget::{
        Element, Look, action, key, report,
        resting_caret::resting_caret,
        word,
        writing::{Said, binding},
    },
    words,
};
use abide_client::{
    protocol::{
        Seq, TaskId,
        message::{self, MessageKind, Role},
        method::task::{ImportMessage, ImportRole, StartTaskParams},
    },
    view::Entry,
};
use abide_host::environment::for_tasks;
use iced::{
    Fill, Shrink,
    widget::{column, container, row, text::Wrapping, text_editor},
};

/// What of a branch is under way.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// The prompt that is being edited.
    edited: Option<Edited>,
    shows_models: bool,
    /// The id of the request that begins the branch.
    sent: Option<String>,
}

#[derive(Debug)]
struct Edited {
    seq: Seq,
    content: text_editor::Content,
    undo: Undo,
    has_caret: bool,
}

#[derive(Debug, Clone)]
pub enum Message {
    /// Makes an editor of this prompt.
    EditPressed(Seq),
    Changed(text_editor::Action),
    /// Whether the editor has the keyboard.
    Focused(bool),
    Said(Said),
    Sent,
    Closed,
    /// Shows or hides the models for the last prompt.
    ModelsToggled,
    /// Gives the prompt of this task to that model.
    ModelPressed(TaskId, String),
}

impl Edited {
    fn of(message: &message::Message) -> Self {
        let mut edited = Self {
            seq: message.seq,
            content: text_editor::Content::new(),
            undo: Undo::default(),
            has_caret: false,
        };
        edited.show(&message.text);
        edited
    }

    fn show(&mut self, text: &str) {
        self.content = text_editor::Content::with_text(text);
        self.content.perform(text_editor::Action::Move(text_editor::Motion::DocumentEnd));
    }

    fn change(&mut self, action: text_editor::Action) {
        let before = self.content.text();
        self.content.perform(action);
        self.undo.changed(&before, &self.content.text());
    }

    fn go_back(&mut self, is_back: bool) {
        let now = self.content.text();
        let other = if is_back { self.undo.back(&now) } else { self.undo.forth(&now) };
        if let Some(other) = other {
            self.show(&other);
        }
    }
}

impl Conversation {
    pub(super) fn branch(&mut self, message: Message) -> Vec<Effect> {
        match (message, &mut self.branch.edited) {
            (Message::EditPressed(seq), _) => {
                let Some(Entry::Message(prompt)) = self.view.entry(seq) else { return Vec::new() };
                self.branch.edited = Some(Edited::of(prompt));
                return vec![Effect::Focus(field::PROMPT)];
            }
            (Message::Changed(action), Some(edited)) => edited.change(action),
            (Message::Focused(has_caret), Some(edited)) => edited.has_caret = has_caret,
            (Message::Said(said @ (Said::Back | Said::Forth)), Some(edited)) => {
                edited.go_back(said == Said::Back);
            }
            (Message::Said(_) | Message::Sent, Some(edited)) => {
                let (seq, text) = (edited.seq, edited.content.text().trim().to_owned());
                return self.begin_branch(seq, text, None);
            }
            (Message::Closed, Some(_)) => {
                self.branch.edited = None;
                return vec![Effect::GiveKeyboard];
            }
            (Message::ModelsToggled, _) => self.branch.shows_models ^= true,
            (Message::ModelPressed(task, model), _) => {
                let prompt = self.prompt_of(task).map(|prompt| (prompt.seq, prompt.text.clone()));
                return prompt
                    .map(|(seq, text)| self.begin_branch(seq, text, Some(model)))
                    .unwrap_or_default();
            }
            (_, None) => {}
        }
        Vec::new()
    }

    fn begin_branch(&mut self, seq: Seq, text: String, model: Option<String>) -> Vec<Effect> {
        let Some(Entry::Message(prompt)) =
            self.view.entry(seq).filter(|_| !text.is_empty() && self.branch.sent.is_none())
        else {
            return Vec::new();
        };
        let task = prompt.task_id.and_then(|id| self.task(id));
        let known = self.view.conversation();
        let workspace = known.map(|known| known.workspace.clone()).filter(|path| !words::is_made(path));
        let id = abide_client::request_id();
        let params = StartTaskParams {
            message: text,
            mode: prompt
                .task_id
                .and_then(|id| self.task(id))
                .map(|task| task.mode)
                .or(known.and_then(|known| known.mode)),
            model: model.or_else(|| task.map(|task| task.model.clone())),
            workspace,
            persona: known.and_then(|known| known.persona.clone()),
            memory: known.map(|known| known.memory),
            messages: self.said_before(seq),
            approvals: self.composer.permission().0,
            client_message_id: Some(id.clone()),
            environment: for_tasks().variables.clone(),
            ..StartTaskParams::default()
        };
        let cut = self
            .gap
            .map(|_| "A branch. What is not loaded of the conversation before it does not go with it.");
        self.branch.sent = Some(id);
        std::iter::once(Effect::Ask(Request::StartTask(params))).chain(cut.map(Effect::Say)).collect()
    }

    /// The messages of people and agents before this one, as a history for a model.
    fn said_before(&self, seq: Seq) -> Vec<ImportMessage> {
        let before = self.view.timeline().take_while(|entry| entry.seq() < seq);
        let said = before.filter_map(|entry| match entry {
            Entry::Message(said) if said.kind != MessageKind::Notice && !said.text.trim().is_empty() => {
                let role = match said.role {
                    Role::User => ImportRole::User,
                    Role::Agent => ImportRole::Assistant,
                    Role::System => return None,
                };
                let text = said.text.clone();
                Some(ImportMessage { role, text, tool_calls: Vec::new(), call_id: None, result: None })
            }
            _ => None,
        });
        said.collect()
    }

    fn prompt_of(&self, task: TaskId) -> Option<&message::Message> {
        self.view.timeline().find_map(|entry| match entry {
            Entry::Message(said) if is_prompt(said) && said.task_id == Some(task) => Some(said),
            _ => None,
        })
    }

    /// The request that begins a branch has failed.
    pub(super) fn branch_failed(&mut self, request: &Request) {
        let Request::StartTask(params) = request else { return };
        self.branch.sent.take_if(|sent| params.client_message_id.as_ref() == Some(sent));
    }

    /// Whether a prompt is being edited.
    pub(super) const fn is_editing(&self) -> bool {
        self.branch.edited.is_some()
    }

    /// The editor in the place of this prompt.
    pub(super) fn editor(&self, seq: Seq, look: Look) -> Option<Element<'_, Above>> {
        let edited = self.branch.edited.as_ref().filter(|edited| edited.seq == seq)?;
        let is_empty = edited.content.text().trim().is_empty();
        let has_selection = edited.content.selection().is_some();
        let editor = text_editor(&edited.content)
            .id(field::PROMPT)
            .size(size::PROSE)
            .line_height(size::LINE_HEIGHT)
            .wrapping(Wrapping::WordOrGlyph)
            .padding([5.5, space::XS])
            .height(Shrink)
            .min_height(space::EDITOR_ROW)
            .max_height(look.tallest)
            .style(style::editor(false))
            .key_binding(move |press| {
                binding(&press, is_empty, has_selection, &|said| Above::Branch(Message::Said(said)))
            })
            .on_action(|action| Above::Branch(Message::Changed(action)));
        let editor =
            report::caret(resting_caret(editor), edited.has_caret, |is| Above::Branch(Message::Focused(is)));
        let can_send = !is_empty && self.branch.sent.is_none();
        let send = action("Send", Some(key("↵"))).style(style::primary);
        let buttons = row![
            send.on_press_maybe(can_send.then_some(Above::Branch(Message::Sent))),
            action("Cancel", None).style(style::quiet).on_press(Above::Branch(Message::Closed)),
        ];
        let buttons = container(buttons.spacing(space::S)).align_right(Fill);
        let content = column![editor, buttons].spacing(space::XS);
        Some(container(content).padding(space::S).width(Fill).style(style::composer).into())
    }

    /// Below the end of the last task: its prompt for another model.
    pub(super) fn retry<'a>(&self, task: TaskId, catalog: &'a Catalog) -> Option<Element<'a, Above>> {
        let is_last = self.sub_task.is_none() && self.current().is_some_and(|last| last.id == task);
        if !is_last || self.stance() != Stance::Ready || self.prompt_of(task).is_none() {
            return None;
        }
        let used = self.task(task).map(|task| task.model.clone()).unwrap_or_default();
        let all =
            catalog.models.iter().flat_map(|models| &models.providers).flat_map(|provider| &provider.models);
        let mut others = all.filter(|model| **model != used && *model != DEMO_MODEL).peekable();
        others.peek()?;
        let toggle = word("Retry with another model", Above::Branch(Message::ModelsToggled));
        if !self.branch.shows_models {
            return Some(toggle.into());
        }
        let models = others
            .map(|model| word(&**model, Above::Branch(Message::ModelPressed(task, model.clone()))).into());
        Some(column![toggle, row(models).spacing(space::XS).wrap()].spacing(space::XS).into())
    }
}
