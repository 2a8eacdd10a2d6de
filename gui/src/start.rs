use crate::{
    App, Message, clock, effect::field, font, frame, local_state::LocalState, theme, widget::Element,
};
use abide_client::Home;
use iced::{Settings, Size, window};
use std::{borrow::Cow, io::IsTerminal as _, process::ExitCode};

/// Opens the window.
#[must_use]
pub fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("ABIDE_LOG"))
        .init();
    let home = match Home::from_env() {
        Ok(home) => home,
        Err(error) => {
            tracing::error!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match run(home) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(
                "cannot open a window: {error}; the command line works without one: abide --help"
            );
            ExitCode::FAILURE
        }
    }
}

fn run(home: Home) -> iced::Result {
    // iced multiplies it by the scale; the window is equally large at each scale.
    let size = crate::app::SIZE * (1.0 / LocalState::of(&home).settings().scale);
    let boot = move || {
        let focus = iced::widget::operation::focus(iced::widget::Id::new(field::COMPOSER));
        (App::open(&home, clock::system), focus)
    };
    iced::application(boot, App::update, view)
        .title(App::title)
        .theme(App::theme)
        .scale_factor(App::scale)
        .subscription(App::subscription)
        .settings(settings())
        .window(window::Settings {
            size,
            min_size: Some(Size::new(480.0, 420.0)),
            exit_on_close_request: false,
            #[cfg(target_os = "linux")]
            platform_specific: window::settings::PlatformSpecific {
                application_id: "abide".to_owned(),
                ..window::settings::PlatformSpecific::default()
            },
            ..window::Settings::default()
        })
        .run()
}

fn view(app: &App) -> Element<'_, Message> {
    frame::traced(|| app.view())
}

/// The settings of all renderers, including those of tests.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        id: Some("abide".to_owned()),
        fonts: font::FILES.into_iter().map(Cow::Borrowed).collect(),
        default_font: font::PROSE,
        default_text_size: theme::size::PROSE.into(),
        ..Settings::default()
    }
}
