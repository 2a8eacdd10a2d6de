//! The page for a new conversation: an introduction, the state of models, and the composer.

pub mod folders;

use crate::{
    catalog::{Catalog, DEMO_MODEL},
    effect::{Effect, field},
    font,
    keymap::Command,
    picker::Choice,
    request::Request,
    screen::{
        composer::{self, About, Composer, Stance},
        provider,
    },
    theme::{size, space, style},
    widget::{
        Element, Look, action, beside, centred::centred, elide::elided, escape::escape_from, key, prose,
        scrolls, secondary, word,
    },
    words,
};
use abide_client::protocol::{
    conversation::Conversation,
    method::{daemon::ListModelsReply, task::StartTaskParams},
    provider::KeyState,
    task::Mode,
};
use abide_host::{environment::for_tasks, text::visible_line};
use iced::{
    Bottom, Center, Fill,
    widget::{Column, Row, column, container, row, space as gap, text},
};
use std::collections::HashSet;

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
    /// Sets up a model, while there is none but the demo.
    pub setup: provider::Setup,
    /// The prompt was sent while there was no model: it goes as soon as there is one.
    waits: bool,
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
    Setup(provider::Message),
    /// Plays the demo, in the chosen mode.
    DemoPressed,
    ProblemsToggled,
    /// Moves the keyboard to this field.
    FocusField(&'static str),
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

    /// Whether a task would, or might, be played by the demo although nobody chose it.
    fn lacks_model(&self, catalog: &Catalog) -> bool {
        let is_chosen = self.composer.chosen().model.is_some();
        (catalog.models.is_none() || catalog.has_only_demo())
            && !is_chosen
            && self.composer.model_of_persona(&catalog.presets).is_none()
    }

    /// Whether the prompt goes as soon as there is a model.
    fn waits(&self) -> bool {
        self.waits && !self.composer.draft().is_empty()
    }

    /// The models were listed: a prompt that has waited for one goes.
    pub fn models_known(&mut self, catalog: &Catalog) -> Vec<Effect> {
        if !self.waits() || !self.is_connected || catalog.models.is_none() || self.lacks_model(catalog) {
            return Vec::new();
        }
        self.update(Message::Composer(composer::Message::Submitted), catalog)
    }

    pub fn update(&mut self, message: Message, catalog: &Catalog) -> Vec<Effect> {
        let stance = self.stance();
        // Once the person does something else, a late completion must not move the caret to the folder's
        // field.
        self.folders.is_wanted &= matches!(message, Message::FoldersFound(..));
        match message {
            Message::Composer(composer::Message::WorkspaceChanged(typed)) => self.work_in(typed),
            Message::Composer(composer::Message::Submitted) if self.lacks_model(catalog) => {
                self.waits = !self.composer.draft().is_empty();
                let is_set_up = self.waits && catalog.has_only_demo();
                is_set_up.then(|| self.setup.wanted()).into_iter().collect()
            }
            Message::Composer(message) => {
                self.waits &= !matches!(message, composer::Message::Submitted);
                let replaces = matches!(message, composer::Message::FolderFocused(true));
                let mut effects = self.composer.update(message, stance, None);
                // What is typed takes the place of the folder that is there.
                effects.extend(replaces.then_some(Effect::FocusText(field::FOLDER)));
                effects
            }
            Message::Setup(message) => {
                let is_cancelled = matches!(message, provider::Message::Cancelled);
                let mut effects = self.setup.update(message);
                effects.extend(is_cancelled.then_some(Effect::Focus(field::COMPOSER)));
                effects
            }
            Message::ProblemsToggled => {
                self.shows_problems = !self.shows_problems;
                Vec::new()
            }
            Message::FocusField(field) => vec![Effect::Focus(field)],
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
            Message::DemoPressed if !catalog.has_only_demo() => Vec::new(),
            Message::DemoPressed => vec![Effect::Ask(Request::StartTask(StartTaskParams {
                message: DEMO_PROMPT.to_owned(),
                mode: Some(self.composer.chosen().mode.unwrap_or(Mode::Agent)),
                model: Some(DEMO_MODEL.to_owned()),
                client_message_id: Some(abide_client::request_id()),
                environment: for_tasks().variables.clone(),
                ..StartTaskParams::default()
            }))],
        }
    }

    /// The message for a command; `None` if it does nothing here.
    #[must_use]
    pub fn command(&self, command: Command) -> Option<Message> {
        Some(match command {
            Command::Demo => Message::DemoPressed,
            Command::FocusInput => Message::FocusField(field::COMPOSER),
            Command::Folder => Message::FocusField(field::FOLDER),
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
            here: self.composer.folder().and_then(|folder| catalog.workspaces.get(&folder)),
            is_new: true,
            is_steady: true,
            can_send: true,
            has_caret: false,
            escape_stops: false,
            is_stop_armed: false,
        };
        let composer = self.composer.view(self.stance(), &about, look).map(Message::Composer);
        let folders = self.folders(conversations, look);
        let is_set_up = catalog.has_only_demo();
        let has_heading = !look.is_low && (!is_set_up || look.half >= space::HALF);
        let words = Column::new().extend(has_heading.then(|| heading(look))).push(self.provider(catalog));
        let words = words.spacing(space::S).max_width(space::COLUMN);
        // In a low window the input comes first, unless a model is to be set up. Else it begins in the
        // middle, whatever is above and below it: where there is room for all, nothing moves while a person
        // types.
        let page = if is_set_up {
            column![words, gap().height(space::L), composer, folders]
        } else if look.is_low {
            column![composer, folders, gap().height(space::S), words]
        } else {
            // (A row drops what has no width.)
            let least = gap().width(0.01).height(look.half - look.margin() - space::XL);
            column![row![words, least].align_y(Bottom), gap().height(space::XL), composer, folders]
        };
        let page = scrolls(centred(page, 0.0)).id(field::NEW_CONVERSATION);
        let page = if look.is_low || is_set_up { page } else { page.anchor_bottom() };
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

    /// Which model there is, and what sets one up if there is none.
    fn provider<'a>(&'a self, catalog: &'a Catalog) -> Element<'a, Message> {
        match &catalog.models {
            None => secondary("Asking the daemon which models there are…").into(),
            Some(models) if catalog.has_only_demo() => self.set_up(models),
            Some(models) => self.model(models, catalog),
        }
    }

    fn set_up<'a>(&'a self, models: &'a ListModelsReply) -> Element<'a, Message> {
        let waits = self.waits();
        let is_open = self.setup.is_open();
        let words = match (waits, is_open) {
            (true, false) => Some("Your prompt waits for a model: choose where it comes from."),
            (true, true) => Some("Your prompt goes when its model is set."),
            (false, false) => Some("Choose where the model comes from."),
            (false, true) => None,
        };
        let words = words.map(|words| prose(words).font(font::MEDIUM).into());
        let setup = self.setup.view(models, false).map(Message::Setup);
        let demo = || {
            let play =
                action("Try a scripted demo", Some(key("Ctrl ⇧ D"))).padding([4.0, 0.0]).style(style::quiet);
            let play = play.on_press(Message::DemoPressed);
            row![play, beside("no model, no key")].spacing(space::XS).align_y(Center).wrap().into()
        };
        let demo = (!is_open).then(demo);
        let content = Column::new().extend(words).push(setup).extend(demo).spacing(space::S);
        let card = container(content).padding(space::L).width(Fill);
        let card = card.style(if waits { style::needs_you_card } else { style::card });
        escape_from(card, Message::Setup(provider::Message::Cancelled))
    }

    fn model<'a>(&'a self, models: &ListModelsReply, catalog: &Catalog) -> Element<'a, Message> {
        // Nobody misses those that were never set up.
        let wanted = models.providers.iter().filter(|p| p.key != KeyState::Missing);
        let problems = wanted.filter_map(|p| {
            let problem = words::here(p.problem.as_ref()?).into_owned();
            // Most problems begin with the provider's name.
            let is_named = problem.starts_with(&format!("{}:", p.name));
            Some(if is_named { problem } else { format!("{}: {problem}", p.name) })
        });
        let problems: Vec<String> = problems.collect();
        let model = match (self.composer.chosen().model, self.composer.model_of_persona(&catalog.presets)) {
            (Some(model), _) => format!("Model: {model}"),
            (None, Some((persona, model))) => format!("Model: {model} (of the persona {persona})"),
            (None, None) => format!("Model: {} ({})", models.default.model, models.default.why),
        };
        let mut model = Row::new().push(beside(model)).spacing(space::XS).align_y(Center);
        if !problems.is_empty() {
            let sign = if self.shows_problems { "−" } else { "+" };
            model =
                model.push(word(format!("{} unavailable {sign}", problems.len()), Message::ProblemsToggled));
        }
        let problems =
            problems.into_iter().filter(|_| self.shows_problems).map(|words| secondary(words).into());
        column![model.wrap(), Column::with_children(problems)].spacing(space::S).into()
    }
}

/// In a low window the hint of the field says the same, and it would be cut.
fn heading<'a>(look: Look) -> Element<'a, Message> {
    let heading = text("What shall the agent do?").size(size::TITLE + 5.0).font(font::STRONG);
    let said = elided(look.said.unwrap_or_default(), size::SECONDARY, font::PROSE).style(style::muted);
    let words = prose(
        "Say what you want done. The agent works on when you close this window, and asks you when it needs to.",
    );
    column![row![heading, said].spacing(space::M).align_y(Center), words.style(style::muted)]
        .spacing(space::S)
        .into()
}
