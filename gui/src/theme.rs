//! Colours, sizes and spaces: no other file defines any.
//!
//! One accent for what the user does, one colour that always means *needs you*, red only for stop and
//! failure.

pub mod style;

use iced::{
    Color, Theme, color,
    theme::{Palette, palette::Extended},
};
use std::sync::LazyLock;

/// The colours of a theme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tokens {
    pub background: Color,
    pub panel: Color,
    pub raised: Color,
    /// Between parts, and around what is seen without it.
    pub line: Color,
    /// The boundary of a field, which has to be seen (WCAG 2, 1.4.11).
    pub edge: Color,
    pub selection: Color,
    /// Behind selected text and matches of a search. It differs from all grounds in hue rather than in
    /// brightness, so that text of any colour stays readable.
    pub marked: Color,
    pub code: Color,
    pub text: Color,
    pub muted: Color,
    /// For marks; text that must be read is `muted` or stronger.
    pub faint: Color,
    pub accent: Color,
    pub on_accent: Color,
    pub needs_you: Color,
    pub needs_you_card: Color,
    pub ok: Color,
    pub bad: Color,
    pub bad_card: Color,
}

pub const DARK: Tokens = Tokens {
    background: color!(0x141517),
    panel: color!(0x191a1d),
    raised: color!(0x202226),
    line: color!(0x2b2d32),
    edge: color!(0x6b6d75),
    selection: color!(0x23262c),
    marked: color!(0x142a60),
    code: color!(0x101113),
    text: color!(0xe7e6e3),
    muted: color!(0x9b9da5),
    faint: color!(0x6d6f77),
    accent: color!(0x7aa2f7),
    on_accent: color!(0x0f1422),
    needs_you: color!(0xe0a84e),
    needs_you_card: color!(0x2a2318),
    ok: color!(0x7dbb86),
    bad: color!(0xe2746c),
    bad_card: color!(0x2c1d1d),
};

pub const LIGHT: Tokens = Tokens {
    background: color!(0xfbfaf8),
    panel: color!(0xf3f1ee),
    raised: color!(0xffffff),
    line: color!(0xe2dfda),
    edge: color!(0x8a8a8c),
    selection: color!(0xe7e4df),
    marked: color!(0xd2e2ff),
    code: color!(0xf4f2ee),
    text: color!(0x22231f),
    muted: color!(0x626367),
    faint: color!(0x828285),
    accent: color!(0x2f5fc4),
    on_accent: color!(0xffffff),
    needs_you: color!(0x8a5a00),
    needs_you_card: color!(0xfdf3df),
    ok: color!(0x2a6e36),
    bad: color!(0xb3362d),
    bad_card: color!(0xfbeae8),
};

static DARK_THEME: LazyLock<Theme> = LazyLock::new(|| theme("Abide dark", &DARK));
static LIGHT_THEME: LazyLock<Theme> = LazyLock::new(|| theme("Abide light", &LIGHT));

/// The theme for iced.
#[must_use]
pub fn of(is_dark: bool) -> Theme {
    if is_dark { DARK_THEME.clone() } else { LIGHT_THEME.clone() }
}

/// The colours of a theme made by [`of`].
#[must_use]
pub fn tokens(theme: &Theme) -> &'static Tokens {
    if theme.extended_palette().is_dark { &DARK } else { &LIGHT }
}

fn theme(name: &str, tokens: &Tokens) -> Theme {
    let line = tokens.line;
    Theme::custom_with_fn(
        name.to_owned(),
        Palette {
            background: tokens.background,
            text: tokens.text,
            primary: tokens.accent,
            success: tokens.ok,
            warning: tokens.needs_you,
            danger: tokens.bad,
        },
        |palette| {
            let mut all = Extended::generate(palette);
            // iced draws the lines of Markdown's quotes, rules and tables in these. Its own mixtures of our
            // colours have another hue.
            for pair in [&mut all.background.weak, &mut all.background.neutral, &mut all.background.strong] {
                pair.color = line;
            }
            all
        },
    )
}

/// Text sizes in logical pixels.
pub mod size {
    pub const TITLE: f32 = 15.0;
    pub const PROSE: f32 = 14.0;
    pub const SECONDARY: f32 = 12.5;
    pub const HEAD: f32 = 11.0;
    pub const CODE: f32 = 12.5;
    pub const KEY: f32 = 10.5;
    /// The height of a button's label.
    pub const LABEL: f32 = 18.0;
    /// How far a page key scrolls.
    pub const PAGE: f32 = 480.0;
    /// The line height of each size.
    pub const LINE_HEIGHT: f32 = 1.5;
}

/// Lengths in logical pixels, on a grid of 4.
pub mod space {
    pub const XS: f32 = 4.0;
    pub const S: f32 = 8.0;
    pub const M: f32 = 12.0;
    pub const L: f32 = 16.0;
    pub const XL: f32 = 24.0;
    /// The width of the reading column.
    pub const COLUMN: f32 = 760.0;
    /// The initial width of the list of conversations.
    pub const SIDEBAR: f32 = 288.0;
    pub const HEADER: f32 = 62.0;
    /// The widest bubble of a person's message.
    pub const BUBBLE: f32 = 560.0;
    /// Room for the button beside a prompt that edits it again.
    pub const AGAIN: f32 = 136.0;
    /// The greatest height of live output, unless half of the window is higher.
    pub const OUTPUT: f32 = 320.0;
    /// The greatest height of a card's scrolling part, unless half of the window is higher.
    pub const CARD: f32 = 480.0;
    /// Room for the copy button below a message.
    pub const COPY: f32 = 18.0;
    /// The greatest height of an error.
    pub const NOTICE: f32 = 96.0;
    /// Two lines of a banner.
    pub const BANNER: f32 = 38.0;
    /// If half of the window is lower, its banner is.
    pub const HALF: f32 = 320.0;
    /// The width of a digit in code.
    pub const DIGIT: f32 = 7.6;
    /// The size of a state mark in the list.
    pub const DOT: f32 = 8.0;
    /// The width of a key's name that may be replaced by another: of one sign, and below of two.
    pub const CAP: f32 = 20.0;
    /// The width of a label that changes when its button is armed.
    pub const ALLOW: f32 = 80.0;
    pub const WIDE_CAP: f32 = 28.0;
    pub const SCROLLBAR: f32 = 6.0;
    pub const DIALOG: f32 = 640.0;
    /// The least height of the composer's text.
    pub const EDITOR_LEAST: f32 = 44.0;
    /// Its least height where it is in one row with its buttons.
    pub const EDITOR_ROW: f32 = 21.0;
    pub const EDITOR: f32 = 220.0;
    /// The width of a number's field, and below of a folder's: the settings of a new conversation fit in one
    /// line of the composer.
    pub const NUMBER: f32 = 44.0;
    pub const FOLDER: f32 = 140.0;
    /// The figures of a sub-task: `step 12 of 50 · 999k`.
    pub const FIGURES: f32 = 124.0;
    /// The sign at the right of a picker, and the room beside it.
    pub const ARROW: f32 = 24.0;
    /// The width of the field of a search within a text.
    pub const FIND: f32 = 180.0;
    /// The width of a card that offers a provider.
    pub const OFFER: f32 = 131.0;
    /// The width of the names of a form's fields.
    pub const FORM: f32 = 56.0;
    /// The width of the tree beside the timeline, and the height of its lines; below, that of its lines above
    /// the timeline.
    pub const TREE: f32 = 300.0;
    pub const TREE_LINE: f32 = 44.0;
    pub const TREE_LINE_LOW: f32 = 28.0;
    /// The width of key names in the help.
    pub const KEYS: f32 = 116.0;
}

/// Radii of corners.
pub mod radius {
    pub const KEY: f32 = 4.0;
    pub const CONTROL: f32 = 8.0;
    pub const TOOL: f32 = 10.0;
    pub const CARD: f32 = 12.0;
    pub const COMPOSER: f32 = 14.0;
}

/// The steps of zooming.
pub const SCALES: [f32; 9] = [0.75, 0.85, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5];

#[cfg(test)]
mod tests {
    use super::*;
    use iced::{
        Background,
        widget::{button, pick_list, rule, table, text_input},
    };

    /// WCAG 2's contrast of two colours.
    fn contrast(a: Color, b: Color) -> f32 {
        let (a, b) = (a.relative_luminance(), b.relative_luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn whatever_must_be_read_has_contrast_enough() {
        for (name, t) in [("dark", DARK), ("light", LIGHT)] {
            for ground in [t.background, t.panel, t.raised, t.code, t.selection] {
                for ink in [t.text, t.muted] {
                    assert!(
                        contrast(ink, ground) >= 4.5,
                        "{name}: {ink:?} on {ground:?} {}",
                        contrast(ink, ground)
                    );
                }
            }
            let pairs = [
                (t.on_accent, t.accent),
                (t.accent, t.background),
                (t.needs_you, t.background),
                (t.needs_you, t.raised),
                (t.needs_you, t.needs_you_card),
                (t.text, t.needs_you_card),
                (t.muted, t.needs_you_card),
                (t.ok, t.code),
                (t.bad, t.code),
                (t.bad, t.bad_card),
                (t.bad, t.background),
                (t.accent, t.selection),
                (t.needs_you, t.selection),
                (t.needs_you, t.panel),
                (t.ok, t.selection),
                (t.ok, t.panel),
                (t.bad, t.selection),
                (t.bad, t.panel),
                (t.background, t.needs_you),
                (t.ok, over(Color { a: 0.12, ..t.ok }, t.code)),
                (t.bad, over(Color { a: 0.12, ..t.bad }, t.code)),
            ];
            for (ink, ground) in pairs {
                assert!(
                    contrast(ink, ground) >= 4.5,
                    "{name}: {ink:?} on {ground:?} {}",
                    contrast(ink, ground)
                );
            }
        }
    }

    #[test]
    fn selected_text_can_be_read() {
        for (theme, t) in [(of(true), DARK), (of(false), LIGHT)] {
            for ground in [t.background, t.panel, t.raised, t.code, t.selection, t.needs_you_card] {
                for seen in [style::selected(&theme), style::selected_row(&theme)] {
                    let seen = over(seen, ground);
                    for ink in [t.text, t.muted, t.accent, t.needs_you, t.ok, t.bad] {
                        let contrast = contrast(ink, seen);
                        assert!(contrast >= 4.5, "{theme}: {ink:?} selected on {ground:?}: {contrast}");
                    }
                }
            }
        }
    }

    /// The colour that is seen where one lies over another.
    fn over(top: Color, ground: Color) -> Color {
        let mix = |top_part: f32, part: f32| top_part * top.a + part * (1.0 - top.a);
        Color::from_rgb(mix(top.r, ground.r), mix(top.g, ground.g), mix(top.b, ground.b))
    }

    #[test]
    fn the_label_of_every_button_has_contrast_enough_in_each_state() {
        type Style = fn(&Theme, button::Status) -> button::Style;
        let styles: [(&str, Style); 8] = [
            ("primary", style::primary),
            ("secondary", style::secondary),
            ("quiet", style::quiet),
            ("chosen", style::chosen),
            ("danger", style::danger),
            ("child", style::child),
            ("a picked row", |theme, status| style::palette_row(true)(theme, status)),
            ("a new row", |theme, status| {
                style::list_row(style::RowState { is_new: true, ..style::RowState::default() })(theme, status)
            }),
        ];
        for (theme, t) in [(of(true), DARK), (of(false), LIGHT)] {
            for (name, style) in styles {
                for status in [button::Status::Active, button::Status::Hovered, button::Status::Pressed] {
                    for ground in [t.background, t.panel, t.raised, t.needs_you_card] {
                        let look = style(&theme, status);
                        let seen = match look.background {
                            Some(Background::Color(colour)) => over(colour, ground),
                            _ => ground,
                        };
                        let contrast = contrast(look.text_color, seen);
                        assert!(contrast >= 4.5, "{theme}: {name}, {status:?} on {ground:?}: {contrast}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_boundary_of_a_field_is_seen_while_another_one_has_the_keyboard() {
        for (theme, t) in [(of(true), DARK), (of(false), LIGHT)] {
            let fields = [
                ("a field", style::field(&theme, text_input::Status::Active).border.color),
                ("a field under the pointer", style::field(&theme, text_input::Status::Hovered).border.color),
                ("a field that is off", style::field(&theme, text_input::Status::Disabled).border.color),
                ("a picker", style::pill(&theme, pick_list::Status::Active).border.color),
                ("the composer", style::composer(&theme).border.color),
                ("the composer for an answer", style::composer_waiting(&theme).border.color),
            ];
            for (name, edge) in fields {
                for ground in [t.background, t.panel, t.raised, t.needs_you_card] {
                    let contrast = contrast(edge, ground);
                    assert!(contrast >= 3.0, "{theme}: {name} on {ground:?}: {contrast}");
                }
            }
        }
    }

    #[test]
    fn marks_and_what_has_the_keyboard_are_seen() {
        for (theme, t) in [(of(true), DARK), (of(false), LIGHT)] {
            let focused = text_input::Status::Focused { is_hovered: false };
            let focused = style::field(&theme, focused).border.color;
            for ground in [t.background, t.panel, t.raised, t.selection, t.needs_you_card] {
                let marks = [t.faint, t.accent, t.needs_you, t.ok, t.bad];
                for mark in marks.into_iter().chain([focused]) {
                    let contrast = contrast(mark, ground);
                    assert!(contrast >= 3.0, "{theme}: {mark:?} on {ground:?}: {contrast}");
                }
            }
            // A focused button has two rings, one of which is seen on a button of any colour.
            for fill in [t.accent, t.raised, t.selection, t.bad_card, t.bad, t.background] {
                let best = contrast(t.accent, fill).max(contrast(t.background, fill));
                assert!(best >= 3.0, "{theme}: the rings on {fill:?}: {best}");
            }
        }
    }

    #[test]
    fn what_iced_draws_by_itself_has_our_lines() {
        for (theme, tokens) in [(of(true), DARK), (of(false), LIGHT)] {
            assert_eq!(rule::default(&theme).color, tokens.line);
            assert_eq!(rule::weak(&theme).color, tokens.line);
            assert_eq!(table::default(&theme).separator_x, tokens.line.into());
        }
    }

    #[test]
    fn a_theme_knows_its_colours() {
        assert_eq!(tokens(&of(true)), &DARK);
        assert_eq!(tokens(&of(false)), &LIGHT);
    }
}
