//! The fonts that are part of the program.

use iced::{
    Font,
    font::{Family, Weight},
};

/// Prose.
pub const PROSE: Font = Font::with_name("Inter");
/// Titles, and what is pressed.
pub const MEDIUM: Font = Font { weight: Weight::Medium, ..PROSE };
/// Headings.
pub const STRONG: Font = Font { weight: Weight::Semibold, ..PROSE };
/// Code, commands, paths.
pub const CODE: Font = Font { family: Family::Name("JetBrains Mono"), ..PROSE };

/// Files to load.
pub const FILES: [&[u8]; 5] = [
    include_bytes!("../fonts/Inter-Regular.otf"),
    include_bytes!("../fonts/Inter-Medium.otf"),
    include_bytes!("../fonts/Inter-SemiBold.otf"),
    include_bytes!("../fonts/Inter-Italic.otf"),
    include_bytes!("../fonts/JetBrainsMono-Regular.ttf"),
];
