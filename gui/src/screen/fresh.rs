//! The page for a new conversation: an introduction, the state of models, and the composer.

pub mod folders;

use crate::{
    catalog::Catalog,
    effect::{Afresh, Effect, field},
    font,
    keymap::Command,
    picker::Choice,
    request::Request,
    screen::composer::{self, About, Composer, Stance},
    theme::{size, space, style},
    widget::{
        Element, Look, action, beside, centred::centred, code, elide::elided, key, prose, scrolls, secondary,
        word,
    },
    words,
};
use abide_client::{
    environment::for_tasks,
    protocol::{conversation::Conversation, method::task::StartTaskParams, task::Mode},
    text::visible_line,
};
use iced::{
    Bottom, Center, Fill,
    widget::{Column, Row, column, container, row, space as gap, text},
};
use std::collections::HashSet;

/// The built-in model, which plays a script.
const DEMO_MODEL: &str = "demo/demo";
/// The most characters of an offered folder.
const MAX_FOLDER: usize = 48;
const DEMO_PROMPT: &str = "Show me what you can do.";

#[derive(Debug, Default)]
pub struct Screen {
    pub composer: Composer,
    /// Whether the daemon is connected.
    pub is_connected: bool,
    folders: Found,
    /// Whether the problems of providers are shown.
    pub shows_problems: bool,
}

/// Folders that begin with the typed text.
#[derive(Debug, Default)]
struct Found {
    folders: Vec<String>,
    is_searching: bool,
    /// The first one is to be taken when it is found.
    is_wanted: bool,
}

#[derive(Debug, Clone)]
pub enum Message {
    Composer(composer::Message),
    /// Plays the demo in this mode.
    DemoPressed(Mode),
    ProblemsToggled,
    /// Moves the keyboard to this field.
    Wanted(&'static str),
    /// Folders that begin with what was typed.
    FoldersFound(String, Vec<String>),
    FolderPressed(String),
    /// Takes the first folder found, now or when the search is over.
    FolderCompleted,
}

impl Screen {
    #[must_use]
    pub fn with_composer(composer: Composer) -> Self {
        Self { composer, ..Self::default() }
    }

    /// Prepares a new conversation.
    pub fn begin(&mut self, afresh: Afresh) {
        self.folders = Found::default();
        self.composer.begin(afresh);
    }

    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        let stance = self.stance();
        // Once the person does something else, a late completion must not move the caret to the folder's field.
        self.folders.is_wanted &= matches!(message, Message::FoldersFound(..));
        match message {
            Message::Composer(composer::Message::WorkspaceChanged(typed)) => self.work_in(typed),
            Message::Composer(message) => self.composer.update(message, stance, None),
            Message::ProblemsToggled => {
                self.shows_problems = !self.shows_problems;
                Vec::new()
            }
            Message::Wanted(field) => vec![Effect::Focus(field)],
            Message::FoldersFound(typed, found) => {
                // The person may have typed on meanwhile.
                if typed != self.composer.workspace() {
                    return Vec::new();
                }
                let is_wanted = std::mem::take(&mut self.folders.is_wanted);
                self.folders = Found { folders: found, ..Found::default() };
                if is_wanted { self.complete_folder() } else { Vec::new() }
            }
            Message::FolderPressed(folder) => {
                let mut effects = self.work_in(folder);
                effects.push(Effect::Focus(field::COMPOSER));
                effects
            }
            Message::FolderCompleted => {
                self.folders.is_wanted = self.folders.is_searching;
                self.complete_folder()
            }
            Message::DemoPressed(mode) => vec![Effect::Ask(Request::Start(Box::new(StartTaskParams {
                message: DEMO_PROMPT.to_owned(),
                mode: Some(mode),
                model: Some(DEMO_MODEL.to_owned()),
                client_message_id: Some(abide_client::request_id()),
                environment: for_tasks().variables.clone(),
                ..StartTaskParams::default()
            })))],
        }
    }

    /// The message for a command; `None` if it does nothing here.
    #[must_use]
    pub fn command(&self, command: Command, _catalog: &Catalog) -> Option<Message> {
        Some(match command {
            Command::Demo => Message::DemoPressed(Mode::Agent),
            Command::FocusInput => Message::Wanted(field::COMPOSER),
            Command::Folder => Message::Wanted(field::FOLDER),
            Command::Limit => Message::Wanted(field::STEPS),
            Command::Setup => Message::Composer(composer::Message::SetupPressed),
            Command::Attach => Message::Composer(composer::Message::ChoosePressed(Choice::File)),
            _ => return None,
        })
    }

    /// Whether Tab in the folder's field completes what is typed, at once or in a moment.
    #[must_use]
    pub const fn completes_folder(&self) -> bool {
        self.folders.is_searching || !self.folders.folders.is_empty()
    }

    fn complete_folder(&mut self) -> Vec<Effect> {
        let Some(folder) = self.folders.folders.first().cloned() else { return Vec::new() };
        // Offers the folders beneath it next.
        let mut effects = self.work_in(format!("{folder}/"));
        // This moves the caret to the end, where the person types on.
        effects.push(Effect::Focus(field::FOLDER));
        effects
    }

    fn work_in(&mut self, typed: String) -> Vec<Effect> {
        self.folders = Found { is_searching: true, ..Found::default() };
        let mut effects =
            self.composer.update(composer::Message::WorkspaceChanged(typed.clone()), Stance::Ready, None);
        effects.push(Effect::FindFolders(typed));
        effects
    }

    const fn stance(&self) -> Stance<'static> {
        if self.is_connected { Stance::Ready } else { Stance::Away }
    }

    #[must_use]
    pub fn view<'a>(
        &'a self,
        catalog: &'a Catalog,
        conversations: &[&Conversation],
        look: Look,
    ) -> Element<'a, Message> {
        let about = About {
            catalog,
            persona: None,
            model: None,
            mode: None,
            is_new: true,
            is_steady: true,
            can_send: true,
            escape_stops: false,
            is_stop_armed: false,
        };
        // In a low window the hint of the field says the same, and the heading would be cut.
        let heading = text("What shall the agent do?").size(size::TITLE + 5.0).font(font::STRONG);
        let said = elided(look.said.unwrap_or_default(), size::SECONDARY, font::PROSE).style(style::muted);
        let heading = row![heading, said].spacing(space::M).align_y(Center);
        let heading = (!look.is_low).then(|| heading.into());
        let words = column![
            prose(
                "Say what you want done. The task belongs to the daemon: it goes on when you close this window, \
                 and it asks you when it needs to."
            )
            .style(style::muted),
            gap().height(space::XS),
            self.provider(catalog),
        ];
        let words = Column::new().extend(heading).push(words.spacing(space::S));
        let words = words.spacing(space::S).max_width(space::COLUMN);
        let composer = self.composer.view(self.stance(), &about, look).map(Message::Composer);
        let folders = self.folders(conversations, look);
        // In a low window the input comes first. Else it begins in the middle, whatever is above and below it: where there is room for
        // all, nothing moves while a person types.
        let page = if look.is_low {
            column![composer, folders, gap().height(space::S), words]
        } else {
            // (A row drops what has no width.)
            let least = gap().width(0.01).height(look.half - look.margin() - space::XL);
            column![row![words, least].align_y(Bottom), gap().height(space::XL), composer, folders]
        };
        let page = scrolls(centred(page, 0.0));
        let page = if look.is_low { page } else { page.anchor_bottom() };
        container(page).height(Fill).padding(look.margin()).into()
    }

    /// Folders to pick from.
    fn folders<'a>(&self, conversations: &[&Conversation], look: Look) -> Element<'a, Message> {
        let typed = self.composer.workspace();
        let mut offered = self.folders.folders.clone();
        offered.extend(folders::recent(conversations, typed, look.home));
        let mut seen = HashSet::new();
        offered.retain(|folder| seen.insert(folder.clone()));
        if offered.is_empty() {
            return gap().height(0).into();
        }
        let words = offered.into_iter().take(folders::MOST).map(|folder| {
            word(words::shortened(&visible_line(&folder), MAX_FOLDER), Message::FolderPressed(folder)).into()
        });
        let row = Row::new().push(beside("Work in")).extend(words).spacing(space::XS).align_y(Center);
        container(row.wrap().vertical_spacing(space::XS)).padding([space::S, space::M]).into()
    }

    /// Whether a model is available, and what to do if not.
    fn provider<'a>(&self, catalog: &'a Catalog) -> Element<'a, Message> {
        let shows_problems = self.shows_problems;
        let demo = || {
            let name = key("Ctrl ⇧ D");
            let play = action("Play the demo", Some(name)).style(style::secondary);
            let play = play.on_press(Message::DemoPressed(Mode::Agent));
            // The script plays these too.
            let others =
                [("in mode ROA", Mode::Roa), ("in mode Plan", Mode::Plan), ("in mode Tree", Mode::Tree)];
            let others = others.map(|(words, mode)| word(words, Message::DemoPressed(mode)).into());
            row![play].extend(others).spacing(space::S).align_y(Center).wrap().vertical_spacing(space::XS)
        };
        match &catalog.models {
            None => secondary("Asking the daemon which models there are…").into(),
            Some(models) if models.default.model == DEMO_MODEL => container(
                column![
                    prose("No model is configured yet.").font(font::MEDIUM),
                    secondary("Store a key for the daemon:"),
                    code("abide key set anthropic"),
                    secondary("or start a model on this computer (Ollama, llama-server): the daemon finds it."),
                    secondary(
                        "Until then the built-in demo shows what there is: it is a script, and needs no network."
                    ),
                    demo(),
                ]
                .spacing(space::S),
            )
            .padding(space::L)
            .width(Fill)
            .style(style::card)
            .into(),
            Some(models) => {
                let problems = models.providers.iter().filter_map(|p| {
                    let problem = p.problem.as_ref()?;
                    // Most problems begin with the provider's name.
                    let is_named = problem.starts_with(&format!("{}:", p.name));
                    Some(if is_named { problem.clone() } else { format!("{}: {problem}", p.name) })
                });
                let problems: Vec<String> = problems.collect();
                let model = match (self.composer.chosen().model, self.composer.model_of_persona(&catalog.presets)) {
                    (Some(model), _) => format!("Model: {model}"),
                    (None, Some((persona, model))) => format!("Model: {model} (of the persona {persona})"),
                    (None, None) => format!("Model: {} ({})", models.default.model, models.default.why),
                };
                let model = beside(model);
                let mut model = Row::new().push(model).spacing(space::XS).align_y(Center);
                if !problems.is_empty() {
                    let words =
                        format!("{} unavailable {}", problems.len(), if shows_problems { "−" } else { "+" });
                    model = model.push(word(words, Message::ProblemsToggled));
                }
                let problems =
                    problems.into_iter().filter(|_| shows_problems).map(|words| secondary(words).into());
                column![model.wrap(), Column::with_children(problems), demo()].spacing(space::S).into()
            }
        }
    }
}
