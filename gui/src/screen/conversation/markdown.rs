//! Draws Markdown: code in quiet colours with a copy button; a click on a link copies it and does not follow
//! it.

use super::code;
use crate::{
    font, syntax,
    theme::{Tokens, radius, size, space, style},
    widget::{
        Element,
        list::TABLE,
        passage::{self, prose},
        secondary, word,
    },
};
use iced::{
    Border, Center, Fill, Padding, Pixels, Renderer, Theme,
    widget::{
        Column, column, container, markdown, row,
        scrollable::{self, Scrollbar},
        space as gap,
    },
};

/// An action on a document.
#[derive(Debug, Clone)]
pub enum Message {
    Copied(String),
}

/// Code lines up to this length fit every window, in bytes. Code that need not scroll gets no layer of its
/// own: drawing a layer costs as much as drawing its text.
const NARROW: usize = 48;

struct Viewer {
    tokens: &'static Tokens,
    /// The widest cell of a table.
    cell: Option<f32>,
}

/// A message's text.
pub(in crate::screen) fn view<'a>(
    content: &'a markdown::Content,
    tokens: &'static Tokens,
) -> Element<'a, Message> {
    markdown::view_with(content.items(), settings(tokens), &Viewer { tokens, cell: None })
}

/// One of its blocks, counted from 0.
pub(super) fn block<'a>(
    content: &'a markdown::Content,
    block: usize,
    tokens: &'static Tokens,
) -> Option<Element<'a, Message>> {
    let viewer = Viewer { tokens, cell: None };
    content.items().get(block).map(|item| markdown::item(&viewer, settings(tokens), item, block))
}

fn settings(tokens: &Tokens) -> markdown::Settings {
    let style = markdown::Style {
        font: font::PROSE,
        inline_code_highlight: iced::advanced::text::Highlight {
            background: tokens.code.into(),
            border: Border { radius: radius::KEY.into(), ..Border::default() },
        },
        // The space between two words is 4 pixels wide.
        inline_code_padding: Padding::from([1, 2]),
        inline_code_color: tokens.text,
        inline_code_font: font::CODE,
        code_block_font: font::CODE,
        link_color: tokens.accent,
    };
    markdown::Settings {
        text_size: size::PROSE.into(),
        h1_size: (size::TITLE + 3.0).into(),
        h2_size: (size::TITLE + 1.0).into(),
        h3_size: size::TITLE.into(),
        h4_size: size::PROSE.into(),
        h5_size: size::PROSE.into(),
        h6_size: size::PROSE.into(),
        code_size: size::CODE.into(),
        spacing: (space::S + 2.0).into(),
        style,
    }
}

impl<'a> markdown::Viewer<'a, Message> for Viewer {
    fn on_link_click(url: markdown::Uri) -> Message {
        Message::Copied(url)
    }

    fn heading(
        &self,
        settings: markdown::Settings,
        level: &'a markdown::HeadingLevel,
        text: &'a markdown::Text,
        index: usize,
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        use markdown::HeadingLevel::{H1, H2, H3, H4, H5, H6};
        let style = markdown::Style { font: font::STRONG, ..settings.style };
        let size = match level {
            H1 => settings.h1_size,
            H2 => settings.h2_size,
            H3 => settings.h3_size,
            H4 => settings.h4_size,
            H5 => settings.h5_size,
            H6 => settings.h6_size,
        };
        let room = if index == 0 { 0.0 } else { space::XS };
        container(self.words(text, style, size)).padding(iced::padding::top(room)).into()
    }

    fn paragraph(
        &self,
        settings: markdown::Settings,
        text: &markdown::Text,
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        let words = self.words(text, settings.style, settings.text_size);
        match self.cell {
            Some(width) => container(words).max_width(width).into(),
            None => words,
        }
    }

    /// An image is not fetched: a model may name any address.
    fn image(
        &self,
        settings: markdown::Settings,
        url: &'a markdown::Uri,
        title: &'a str,
        alt: &markdown::Text,
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        let alt: String = alt.spans(settings.style).iter().map(|span| span.text.to_string()).collect();
        let name = [alt.trim(), title.trim(), url.as_str()].into_iter().find(|name| !name.is_empty());
        let link = passage::Span::new(format!("image: {}", name.unwrap_or_default()))
            .link(url.clone())
            .color(settings.style.link_color);
        passage::rich([link].into(), Message::Copied).into()
    }

    /// Cells wrap; a table that is wider still scrolls.
    fn table(
        &self,
        settings: markdown::Settings,
        columns: &'a [markdown::Column],
        rows: &'a [markdown::Row],
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        #[expect(clippy::cast_precision_loss, reason = "columns of a table")]
        let count = columns.len().max(1) as f32;
        // Some columns need less than an equal share.
        let cell = space::BUBBLE * if count > 1.0 { 1.25 } else { 1.0 } / count;
        container(markdown::table(&Self { cell: Some(cell), ..*self }, settings, columns, rows))
            .id(TABLE)
            .into()
    }

    fn unordered_list(
        &self,
        settings: markdown::Settings,
        bullets: &'a [markdown::Bullet],
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        list(self, settings, bullets, |_, bullet| match bullet {
            markdown::Bullet::Point { .. } => "•".to_owned(),
            markdown::Bullet::Task { done: true, .. } => "✓".to_owned(),
            markdown::Bullet::Task { done: false, .. } => "□".to_owned(),
        })
    }

    fn ordered_list(
        &self,
        settings: markdown::Settings,
        start: u64,
        bullets: &'a [markdown::Bullet],
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        list(self, settings, bullets, |n, _| format!("{}.", start.saturating_add(n)))
    }

    fn code_block(
        &self,
        _settings: markdown::Settings,
        language: Option<&'a str>,
        source: &'a str,
        _lines: &'a [markdown::Text],
    ) -> iced::Element<'a, Message, Theme, Renderer> {
        let head = row![
            secondary(language.unwrap_or_default()),
            gap().width(Fill),
            word("Copy", Message::Copied(source.to_owned()))
        ]
        .align_y(Center);
        let source = source.trim_end_matches('\n');
        let text = code::view(source, language.and_then(syntax::named), self.tokens);
        let text: Element<'_, Message> = if source.lines().all(|line| line.len() <= NARROW) {
            text
        } else {
            let bar = Scrollbar::new().width(space::XS).scroller_width(space::XS).spacing(space::XS);
            let wide = scrollable::Scrollable::new(text)
                .width(Fill)
                .direction(scrollable::Direction::Horizontal(bar));
            wide.style(style::bars).into()
        };
        container(column![head, text].spacing(space::XS))
            .padding(iced::padding::all(space::M).top(space::XS).right(space::S))
            .width(Fill)
            .style(style::code)
            .into()
    }
}

impl Viewer {
    /// Text with its links and code; a word longer than the line is broken.
    fn words<'a>(&self, text: &markdown::Text, style: markdown::Style, size: Pixels) -> Element<'a, Message> {
        passage::rich(text.spans(style), Message::Copied).size(size.0).font(style.font).into()
    }
}

/// The marks are right-aligned in a column of their own, each on the line of its text.
fn list<'a>(
    viewer: &Viewer,
    settings: markdown::Settings,
    bullets: &'a [markdown::Bullet],
    mark: impl Fn(u64, &markdown::Bullet) -> String,
) -> iced::Element<'a, Message, Theme, Renderer> {
    let inner = markdown::Settings { spacing: space::XS.into(), ..settings };
    let rows = bullets.iter().zip(0..).map(|(bullet, n)| {
        let (markdown::Bullet::Point { items } | markdown::Bullet::Task { items, .. }) = bullet;
        let mark = container(prose(mark(n, bullet))).align_right(space::XL);
        row![mark, container(markdown::items(viewer, inner, items)).width(Fill)].spacing(space::S).into()
    });
    Column::with_children(rows).spacing(space::XS).into()
}
