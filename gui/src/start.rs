use crate::{
    App, Message,
    arguments::{self, ShowRequest, Start},
    bus::{self, Bus, Claim},
    clock,
    effect::field,
    font, frame,
    local_state::LocalState,
    theme,
    widget::Element,
};
use abide_host::Home;
use iced::{Executor, Settings, Size, Task, window};
use std::{
    borrow::Cow,
    env,
    io::{self, IsTerminal as _, Write as _},
    panic,
    process::{self, ExitCode},
};
use tokio::runtime::{Handle, Runtime};

/// The application id, the name of the desktop file: the desktop finds the window's icon by it.
const APPLICATION: &str = "dev.abide.Abide";

/// The exit code of a command line that is not understood.
const USAGE: u8 = 2;

/// Opens the window, or does what the command line wants instead.
#[must_use]
pub fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("ABIDE_LOG"))
        .init();
    let start = match Start::parse(env::args_os().skip(1)) {
        Ok(Start::Help) => return print(arguments::HELP),
        Ok(Start::Version) => return print(concat!("abide-gui ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(start) => start,
        Err(error) => {
            tracing::error!("{error}");
            return ExitCode::from(USAGE);
        }
    };
    let home = match Home::from_env() {
        Ok(home) => home,
        Err(error) => {
            tracing::error!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let done = match start {
        Start::Window { wanted, is_new, is_service } => {
            window(home, wanted, is_new, is_service).map_err(|error| no_window(&error))
        }
        Start::Tray => tray(&home),
        Start::Help | Start::Version => Ok(()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn tray(home: &Home) -> Result<(), String> {
    crate::tray::run(home).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn tray(_: &Home) -> Result<(), String> {
    Err("there is no icon in the tray on this system yet".to_owned())
}

fn no_window(why: &str) -> String {
    format!("cannot open a window: {why}; the command line works without one: abide --help")
}

fn print(text: &str) -> ExitCode {
    // Whoever closes the pipe early has read enough.
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// Opens the window, unless another one shows what is wanted.
fn window(home: Home, wanted: ShowRequest, is_new: bool, is_service: bool) -> Result<(), String> {
    let runtime = Runtime::new().map_err(|error| error.to_string())?;
    let claim =
        if is_new { Claim::Open(None) } else { runtime.block_on(bus::claim(&home, &wanted, is_service)) };
    match claim {
        Claim::HandedOver => Ok(()),
        Claim::Open(bus) => {
            check_display()?;
            let _entered = runtime.enter();
            // It may take a while, and is there then for the first task.
            drop(runtime.spawn_blocking(abide_host::environment::for_tasks));
            run(home, wanted, bus).map_err(|error| error.to_string())
        }
    }
}

/// Names a display that is missing. iced has no error for it, nor for one that cannot be reached: it panics.
fn check_display() -> Result<(), String> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(target_os = "linux") && !["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"].into_iter().any(is_set)
    {
        return Err("there is no display (WAYLAND_DISPLAY and DISPLAY are not set)".to_owned());
    }
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| match panic.payload_as_str() {
        Some(words) if words.starts_with("Create event loop") => unreachable_display(),
        _ => usual(panic),
    }));
    Ok(())
}

#[expect(
    clippy::exit,
    reason = "it comes before anything is opened, and else the process would end by a panic"
)]
fn unreachable_display() {
    tracing::error!("{}", no_window("the display that WAYLAND_DISPLAY or DISPLAY names cannot be reached"));
    process::exit(1);
}

fn run(home: Home, wanted: ShowRequest, bus: Option<Bus>) -> iced::Result {
    // iced multiplies it by the scale; the window is equally large at each scale.
    let size = crate::app::SIZE * (1.0 / LocalState::of(&home).settings().scale);
    let boot = move || {
        let focus = iced::widget::operation::focus(iced::widget::Id::new(field::COMPOSER));
        let wanted = Task::done(Message::ShowRequested(wanted.clone()));
        (App::open(&home, clock::system).on(bus.clone()), Task::batch([focus, wanted]))
    };
    iced::application(boot, App::update, view)
        .title(App::title)
        .theme(App::theme)
        .scale_factor(App::scale)
        .subscription(App::subscription)
        .executor::<Entered>()
        .settings(settings())
        .window(window::Settings {
            size,
            min_size: Some(Size::new(480.0, 420.0)),
            exit_on_close_request: false,
            #[cfg(target_os = "linux")]
            platform_specific: window::settings::PlatformSpecific {
                application_id: APPLICATION.to_owned(),
                ..window::settings::PlatformSpecific::default()
            },
            ..window::Settings::default()
        })
        .run()
}

/// iced's tasks on the runtime that was there before: the connection to the session bus lives on it.
struct Entered(Handle);

impl Executor for Entered {
    fn new() -> io::Result<Self> {
        Handle::try_current().map(Self).map_err(io::Error::other)
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        drop(self.0.spawn(future));
    }

    fn enter<R>(&self, run: impl FnOnce() -> R) -> R {
        let _entered = self.0.enter();
        run()
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.0.block_on(future)
    }
}

fn view(app: &App) -> Element<'_, Message> {
    frame::traced(|| app.view())
}

/// The settings of all renderers, including those of tests.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        id: Some(APPLICATION.to_owned()),
        fonts: font::FILES.into_iter().map(Cow::Borrowed).collect(),
        default_font: font::PROSE,
        default_text_size: theme::size::PROSE.into(),
        ..Settings::default()
    }
}
