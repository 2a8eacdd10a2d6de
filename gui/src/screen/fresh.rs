//! A conversation that has not begun: what this is, whether a model is there, and the composer.

use crate::{
    effect::Effect,
    font,
    request::Request,
    screen::composer::{self, About, Composer, Stance},
    theme::{size, space, style},
    widget::{Element, action, code, key, prose, secondary},
};
use abide_client::protocol::{
    method::{daemon::ListModelsReply, task::StartTaskParams},
    task::Mode,
};
use iced::{
    Fill,
    widget::{column, container, row, space as gap, text},
};
use uuid::Uuid;

/// The built-in model, which plays a script.
const DEMO_MODEL: &str = "demo/demo";
const DEMO_PROMPT: &str = "Show me what you can do.";

#[derive(Debug, Default)]
pub struct Screen {
    pub composer: Composer,
    /// Whether the daemon is there to send to.
    pub is_connected: bool,
}

#[derive(Debug, Clone)]
pub enum Message {
    Composer(composer::Message),
    DemoPressed,
}

impl Screen {
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        let stance = self.stance();
        match message {
            Message::Composer(message) => self.composer.update(message, stance, None),
            Message::DemoPressed => vec![Effect::Ask(Request::Start(Box::new(StartTaskParams {
                message: DEMO_PROMPT.to_owned(),
                mode: Some(Mode::Agent),
                model: Some(DEMO_MODEL.to_owned()),
                client_message_id: Some(Uuid::now_v7().to_string()),
                environment: composer::environment(),
                ..StartTaskParams::default()
            })))],
        }
    }

    const fn stance(&self) -> Stance<'static> {
        if self.is_connected { Stance::Ready } else { Stance::Away }
    }

    #[must_use]
    pub fn view<'a>(&'a self, models: Option<&'a ListModelsReply>) -> Element<'a, Message> {
        let about = About { models, model: None, mode: None, is_new: true };
        let words = column![
            text("What shall the agent do?").size(size::TITLE + 5.0).font(font::STRONG),
            prose(
                "Say what you want done. The task belongs to the daemon: it goes on when you close this window, \
                 and it asks you when it needs to."
            )
            .style(style::muted),
            gap().height(space::XS),
            provider(models),
        ]
        .spacing(space::S)
        .max_width(space::COLUMN);
        let page = column![
            gap().height(Fill),
            words,
            gap().height(space::XL),
            self.composer.view(self.stance(), &about).map(Message::Composer),
            gap().height(Fill),
        ]
        .max_width(space::COLUMN);
        container(page).center_x(Fill).height(Fill).padding(space::XL).into()
    }
}

/// Whether there is a model, and what to do if not.
fn provider<'a>(models: Option<&'a ListModelsReply>) -> Element<'a, Message> {
    let demo = || {
        let name = key("Ctrl ⇧ D");
        action("Play the demo", Some(name)).style(style::secondary).on_press(Message::DemoPressed)
    };
    match models {
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
                row![demo()],
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
                // Most begin with the provider's name.
                let is_named = problem.starts_with(&format!("{}:", p.name));
                Some(if is_named { problem.clone() } else { format!("{}: {problem}", p.name) })
            });
            let problems = problems.map(|words| secondary(words).into());
            column![
                secondary(format!("Model: {} ({})", models.default.model, models.default.why)),
                iced::widget::Column::with_children(problems),
                row![demo()],
            ]
            .spacing(space::S)
            .into()
        }
    }
}
