//! The floor for measuring the window: a plain iced window with the same renderer and fonts, and 1,000 rows
//! of text.

use abide_gui::{frame, widget::Element};
use iced::{
    Fill, Theme,
    widget::{Column, scrollable, text},
};

#[derive(Default)]
struct Floor;

fn main() -> iced::Result {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("ABIDE_LOG"))
        .init();
    iced::application(Floor::default, |_: &mut Floor, ()| {}, view)
        .theme(|_: &Floor| Theme::Dark)
        .settings(abide_gui::settings())
        .window_size((1280.0, 800.0))
        .run()
}

fn view(_: &Floor) -> Element<'_, ()> {
    frame::traced(|| {
        let rows = (0..1000).map(|n| text(format!("row {n}")).into());
        scrollable(Column::with_children(rows)).width(Fill).anchor_bottom().into()
    })
}
