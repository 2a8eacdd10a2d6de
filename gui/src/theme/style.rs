//! Styles of widgets in a theme.

use super::{radius, tokens};
use iced::{
    Background, Border, Color, Shadow, Theme, border,
    overlay::menu,
    widget::{button, container, pick_list, rule, scrollable, text, text_editor, text_input},
};

pub fn muted(theme: &Theme) -> text::Style {
    text::Style { color: Some(tokens(theme).muted) }
}

pub fn accent(theme: &Theme) -> text::Style {
    text::Style { color: Some(tokens(theme).accent) }
}

pub fn needs_you(theme: &Theme) -> text::Style {
    text::Style { color: Some(tokens(theme).needs_you) }
}

pub fn ok(theme: &Theme) -> text::Style {
    text::Style { color: Some(tokens(theme).ok) }
}

pub fn bad(theme: &Theme) -> text::Style {
    text::Style { color: Some(tokens(theme).bad) }
}

/// Behind selected text, and behind matches of a search.
#[must_use]
pub fn selected(theme: &Theme) -> Color {
    tokens(theme).marked
}

/// Over what is selected as a whole, below its text.
#[must_use]
pub fn selected_row(theme: &Theme) -> Color {
    Color { a: 0.8, ..tokens(theme).marked }
}

fn boxed(background: Color, line: Option<Color>, radius: f32) -> container::Style {
    container::Style {
        background: Some(Background::Color(background)),
        border: Border {
            color: line.unwrap_or(Color::TRANSPARENT),
            width: if line.is_some() { 1.0 } else { 0.0 },
            radius: radius.into(),
        },
        ..container::Style::default()
    }
}

pub fn panel(theme: &Theme) -> container::Style {
    boxed(tokens(theme).panel, None, 0.0)
}

/// A person's message.
pub fn bubble(theme: &Theme) -> container::Style {
    boxed(tokens(theme).selection, None, radius::CARD)
}

/// Text that leads to an answer.
pub fn quieter(theme: &Theme) -> container::Style {
    container::Style { text_color: Some(tokens(theme).muted), ..container::Style::default() }
}

/// Around a message found by the search.
pub fn found(theme: &Theme) -> container::Style {
    let tokens = tokens(theme);
    container::Style {
        border: Border { color: tokens.accent, width: 1.0, radius: radius::CARD.into() },
        ..container::Style::default()
    }
}

/// A tool call.
pub fn tool(theme: &Theme) -> container::Style {
    boxed(tokens(theme).panel, Some(tokens(theme).line), radius::TOOL)
}

/// A tool's output.
pub fn output(theme: &Theme) -> container::Style {
    let mut style = boxed(tokens(theme).code, None, 0.0);
    style.border.radius = border::bottom(radius::TOOL);
    style
}

/// Behind an added line of a diff.
pub fn added(theme: &Theme) -> container::Style {
    boxed(Color { a: 0.12, ..tokens(theme).ok }, None, 0.0)
}

/// Behind a removed line.
pub fn removed(theme: &Theme) -> container::Style {
    boxed(Color { a: 0.12, ..tokens(theme).bad }, None, 0.0)
}

pub fn code(theme: &Theme) -> container::Style {
    boxed(tokens(theme).code, Some(tokens(theme).line), radius::CONTROL)
}

/// A card that needs the person.
pub fn needs_you_card(theme: &Theme) -> container::Style {
    waiting_card(false, false)(theme)
}

/// A card that waits for the person: of a call of high risk, or another one; selected while it has the
/// keyboard.
pub fn waiting_card(is_grave: bool, is_selected: bool) -> impl Fn(&Theme) -> container::Style {
    move |theme| {
        let t = tokens(theme);
        let (ground, line) = if is_grave { (t.bad_card, t.bad) } else { (t.needs_you_card, t.needs_you) };
        let mut style = boxed(ground, Some(if is_selected { t.accent } else { line }), radius::CARD);
        style.border.width = if is_selected { 2.0 } else { 1.0 };
        style
    }
}

pub fn card(theme: &Theme) -> container::Style {
    boxed(tokens(theme).raised, Some(tokens(theme).line), radius::CARD)
}

pub fn bad_card(theme: &Theme) -> container::Style {
    boxed(tokens(theme).bad_card, Some(tokens(theme).bad), radius::CARD)
}

pub fn composer(theme: &Theme) -> container::Style {
    boxed(tokens(theme).raised, Some(tokens(theme).edge), radius::COMPOSER)
}

pub fn composer_waiting(theme: &Theme) -> container::Style {
    boxed(tokens(theme).raised, Some(tokens(theme).needs_you), radius::COMPOSER)
}

/// A dialog over the rest.
pub fn dialog(theme: &Theme) -> container::Style {
    boxed(tokens(theme).raised, Some(tokens(theme).line), radius::COMPOSER)
}

/// Behind a dialog.
pub fn dimmed(theme: &Theme) -> container::Style {
    boxed(Color { a: 0.6, ..tokens(theme).code }, None, 0.0)
}

pub fn banner(theme: &Theme) -> container::Style {
    boxed(tokens(theme).needs_you_card, None, 0.0)
}

/// A key on the keyboard.
pub fn key(theme: &Theme) -> container::Style {
    boxed(Color::TRANSPARENT, Some(tokens(theme).faint), radius::KEY)
}

/// The same on a button in the accent.
pub fn key_on_accent(theme: &Theme) -> container::Style {
    boxed(Color::TRANSPARENT, Some(tokens(theme).on_accent), radius::KEY)
}

/// The padding of a button's label; in a low window it is smaller.
#[must_use]
pub const fn button_padding(is_low: bool) -> [f32; 2] {
    if is_low { [3.0, 8.0] } else { [7.0, 14.0] }
}

/// A key without an effect now.
pub fn key_off(theme: &Theme) -> container::Style {
    let faint = tokens(theme).faint;
    container::Style {
        text_color: Some(faint),
        ..boxed(Color::TRANSPARENT, Some(Color { a: 0.3, ..faint }), radius::KEY)
    }
}

/// The same on a button in the accent.
pub fn key_off_on_accent(theme: &Theme) -> container::Style {
    let on_accent = tokens(theme).on_accent;
    container::Style {
        text_color: Some(Color { a: 0.5, ..on_accent }),
        ..boxed(Color::TRANSPARENT, Some(Color { a: 0.3, ..on_accent }), radius::KEY)
    }
}

pub fn key_bad(theme: &Theme) -> container::Style {
    boxed(Color::TRANSPARENT, Some(tokens(theme).bad), radius::KEY)
}

/// The count of new items.
pub fn badge(theme: &Theme) -> container::Style {
    let t = tokens(theme);
    container::Style { text_color: Some(t.on_accent), ..boxed(t.accent, None, radius::TOOL) }
}

/// The count of waiting items.
pub fn badge_needs_you(theme: &Theme) -> container::Style {
    let t = tokens(theme);
    container::Style { text_color: Some(t.background), ..boxed(t.needs_you, None, radius::TOOL) }
}

/// A mark in one colour of the theme.
pub fn dot(pick: fn(&super::Tokens) -> Color) -> impl Fn(&Theme) -> container::Style {
    move |theme| boxed(pick(tokens(theme)), None, radius::KEY)
}

fn pressable(
    background: Option<Color>,
    hovered: Color,
    text: Color,
    line: Option<Color>,
    status: button::Status,
) -> button::Style {
    let (background, text) = match status {
        button::Status::Active => (background, text),
        button::Status::Hovered | button::Status::Pressed => (Some(hovered), text),
        button::Status::Disabled => (background, Color { a: 0.5, ..text }),
    };
    button::Style {
        background: background.map(Background::Color),
        text_color: text,
        border: Border {
            color: line.unwrap_or(Color::TRANSPARENT),
            width: if line.is_some() { 1.0 } else { 0.0 },
            radius: radius::CONTROL.into(),
        },
        shadow: Shadow::default(),
        snap: true,
    }
}

/// The action that the person most likely wants.
pub fn primary(theme: &Theme, status: button::Status) -> button::Style {
    let t = tokens(theme);
    pressable(Some(t.accent), Color { a: 0.88, ..t.accent }, t.on_accent, None, status)
}

pub fn secondary(theme: &Theme, status: button::Status) -> button::Style {
    let t = tokens(theme);
    pressable(Some(t.raised), t.selection, t.text, Some(t.line), status)
}

/// Without a box until the pointer is over it.
pub fn quiet(theme: &Theme, status: button::Status) -> button::Style {
    let t = tokens(theme);
    pressable(None, t.selection, t.muted, None, status)
}

/// The same in the colour of text, for what has text beside it.
pub fn bare(theme: &Theme, status: button::Status) -> button::Style {
    let t = tokens(theme);
    pressable(None, t.selection, t.text, None, status)
}

/// The chosen one of several.
pub fn chosen(theme: &Theme, status: button::Status) -> button::Style {
    let t = tokens(theme);
    pressable(Some(t.selection), t.selection, t.text, Some(t.line), status)
}

/// Stop, delete.
pub fn danger(theme: &Theme, status: button::Status) -> button::Style {
    let t = tokens(theme);
    let (ground, ink) = match status {
        button::Status::Hovered | button::Status::Pressed => (t.bad, t.bad_card),
        button::Status::Active | button::Status::Disabled => (t.bad_card, t.bad),
    };
    pressable(Some(ground), ground, ink, Some(t.bad), status)
}

/// A row of the palette; the picked one is what Enter takes.
pub fn palette_row(is_picked: bool) -> impl Fn(&Theme, button::Status) -> button::Style {
    move |theme, status| {
        let t = tokens(theme);
        let (ground, line) = if is_picked { (Some(t.selection), Some(t.accent)) } else { (None, None) };
        pressable(ground, t.selection, t.text, line, status)
    }
}

/// How a row of the conversation list stands out.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowState {
    /// It is the open conversation.
    pub is_open: bool,
    /// It has just come to need the person.
    pub is_new: bool,
    /// Enter in the search opens it.
    pub is_picked: bool,
}

/// A row of the conversation list.
pub fn list_row(state: RowState) -> impl Fn(&Theme, button::Status) -> button::Style {
    move |theme, status| {
        let t = tokens(theme);
        let background = match (state.is_new, state.is_open) {
            (true, _) => Some(t.needs_you_card),
            (false, true) => Some(t.selection),
            (false, false) => None,
        };
        let line = state.is_picked.then_some(t.accent);
        // The open conversation can be told from the one below the pointer.
        let hovered = background.unwrap_or(t.selection.scale_alpha(0.5));
        pressable(background, hovered, t.text, line, status)
    }
}

/// The head of a tool call: the whole line can be pressed.
pub fn tool_head(theme: &Theme, _: button::Status) -> button::Style {
    pressable(None, Color::TRANSPARENT, tokens(theme).text, None, button::Status::Active)
}

/// A sub-task in the timeline: the whole line opens it.
pub fn child(theme: &Theme, status: button::Status) -> button::Style {
    let mut style = pressable(None, tokens(theme).selection, tokens(theme).text, None, status);
    style.border.radius = radius::TOOL.into();
    style
}

pub fn line(theme: &Theme) -> rule::Style {
    rule::Style { color: tokens(theme).line, radius: 0.0.into(), fill_mode: rule::FillMode::Full, snap: true }
}

pub fn bars(theme: &Theme, _: scrollable::Status) -> scrollable::Style {
    let t = tokens(theme);
    let rail = scrollable::Rail {
        background: None,
        border: Border::default(),
        scroller: scrollable::Scroller {
            background: Background::Color(t.line),
            border: Border { radius: radius::KEY.into(), ..Border::default() },
        },
    };
    scrollable::Style {
        container: container::Style::default(),
        vertical_rail: rail,
        horizontal_rail: rail,
        gap: None,
        auto_scroll: scrollable::AutoScroll {
            background: Background::Color(t.raised),
            border: Border { color: t.line, width: 1.0, radius: radius::COMPOSER.into() },
            shadow: Shadow::default(),
            icon: t.muted,
        },
    }
}

pub fn field(theme: &Theme, status: text_input::Status) -> text_input::Style {
    let t = tokens(theme);
    let is_focused = matches!(status, text_input::Status::Focused { .. });
    text_input::Style {
        background: Background::Color(t.raised),
        border: Border {
            color: if is_focused { t.accent } else { t.edge },
            width: 1.0,
            radius: radius::CONTROL.into(),
        },
        icon: t.muted,
        placeholder: t.muted,
        value: t.text,
        selection: selected(theme),
    }
}

/// The inside of a field.
pub fn field_ground(theme: &Theme) -> container::Style {
    boxed(tokens(theme).raised, None, radius::CONTROL - 1.0)
}

/// The composer's text; the card around it is its box.
pub fn editor(is_waiting: bool) -> impl Fn(&Theme, text_editor::Status) -> text_editor::Style {
    move |theme, _| {
        let t = tokens(theme);
        text_editor::Style {
            background: Background::Color(Color::TRANSPARENT),
            border: Border::default(),
            placeholder: if is_waiting { t.needs_you } else { t.muted },
            value: t.text,
            selection: selected(theme),
        }
    }
}

/// A long text.
pub fn reader(theme: &Theme, status: text_editor::Status) -> text_editor::Style {
    let t = tokens(theme);
    let is_focused = matches!(status, text_editor::Status::Focused { .. });
    text_editor::Style {
        background: Background::Color(t.code),
        border: Border {
            color: if is_focused { t.accent } else { t.line },
            width: 1.0,
            radius: radius::CONTROL.into(),
        },
        ..editor(false)(theme, status)
    }
}

pub fn pill(theme: &Theme, status: pick_list::Status) -> pick_list::Style {
    let t = tokens(theme);
    let is_active = matches!(status, pick_list::Status::Active);
    pick_list::Style {
        // What is picked is drawn over it.
        text_color: Color::TRANSPARENT,
        placeholder_color: Color::TRANSPARENT,
        handle_color: t.muted,
        background: Background::Color(if is_active { Color::TRANSPARENT } else { t.selection }),
        border: Border { color: t.edge, width: 1.0, radius: radius::CONTROL.into() },
    }
}

pub fn choices(theme: &Theme) -> menu::Style {
    let t = tokens(theme);
    menu::Style {
        background: Background::Color(t.raised),
        border: Border { color: t.line, width: 1.0, radius: radius::CONTROL.into() },
        text_color: t.text,
        selected_text_color: t.on_accent,
        selected_background: Background::Color(t.accent),
        shadow: Shadow::default(),
    }
}
