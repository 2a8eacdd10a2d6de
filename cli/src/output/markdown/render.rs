//! Renders a block of Markdown as lines for a terminal.

use super::{
    COMFORTABLE,
    table::Table,
    wrap::{FittingLine, Long, Span, wrap},
};
use crate::output::{
    style::{CODE, FAINT, HEADING, TITLE, paint},
    text,
};
use anstyle::{Effects, Style};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::collections::HashMap;

/// Columns of a rule.
const RULE: usize = 40;

/// The width available for lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    columns: usize,
    long: Long,
}

impl Room {
    /// A terminal's width; the terminal itself breaks longer lines.
    pub(super) fn of(width: usize) -> Self {
        Self { columns: width.clamp(1, COMFORTABLE), long: Long::Keep }
    }

    /// No line may be longer.
    pub(super) fn limited(width: usize) -> Self {
        Self { columns: width.clamp(1, COMFORTABLE), long: Long::Break }
    }

    pub(super) const fn columns(self) -> usize {
        self.columns
    }

    pub(super) fn is_limited(self) -> bool {
        self.long == Long::Break
    }
}

/// A line of a code block, unchanged.
pub(super) fn code_line(line: &str) -> String {
    paint(CODE, &text::block(line))
}

/// A code block's info string (its language or file), cut at `room` columns.
pub(super) fn label(info: &str, room: usize) -> String {
    paint(FAINT, &text::fit(&text::one_line(info), room))
}

/// A block that is not code.
pub(super) fn source(source: &str, room: Room) -> Vec<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page::new(room);
    for event in Parser::new_ext(source, options) {
        page.event(event);
    }
    page.end_paragraph();
    // Markdown drops some text, such as link definitions and surplus table cells. If letters are lost, the
    // source is shown instead.
    if page.loses_letters(source) {
        let room = if room.is_limited() { room.columns } else { usize::MAX };
        return super::wrap::plain(source.trim_end(), room);
    }
    page.lines
}

struct Page {
    lines: Vec<String>,
    room: Room,
    /// Those of the surrounding lists and quotes.
    margins: Vec<Margin>,
    styles: Vec<Style>,
    /// The paragraph under way.
    spans: Vec<Span>,
    /// The next numbers of the surrounding lists; `None` for a list without numbers.
    lists: Vec<Option<u64>>,
    /// For each surrounding link: where its text begins in the paragraph, and its address.
    links: Vec<(usize, String)>,
    table: Option<Table>,
    is_code: bool,
    /// Letters of marks that are rendered in another form.
    marks: String,
    /// A blank line precedes the next paragraph.
    is_gap: bool,
}

/// The text before each line.
struct Margin {
    /// For the first line; empty after it.
    first: String,
    rest: String,
}

impl Page {
    const fn new(room: Room) -> Self {
        Self {
            lines: Vec::new(),
            room,
            margins: Vec::new(),
            styles: Vec::new(),
            spans: Vec::new(),
            lists: Vec::new(),
            links: Vec::new(),
            table: None,
            is_code: false,
            marks: String::new(),
            is_gap: false,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => self.code(&text),
            Event::Text(text) | Event::FootnoteReference(text) => self.text(&text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                let style = CODE | self.style().get_effects();
                self.span(style, text::one_row(&code));
            }
            Event::Html(html) => self.html(&html),
            Event::InlineHtml(html) => match &*html {
                "<br>" | "<br/>" | "<br />" => {
                    self.marks.push_str("br");
                    self.break_line();
                }
                _ => self.text(&html),
            },
            Event::SoftBreak | Event::HardBreak => self.break_line(),
            Event::Rule => {
                let columns = self.inner().min(RULE);
                self.line(&paint(FAINT, &"─".repeat(columns)));
            }
            Event::TaskListMarker(done) => {
                self.marks.push_str(if done { "xX" } else { "" });
                self.text(if done { "☑ " } else { "☐ " });
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level: HeadingLevel::H1, .. } => self.styles.push(TITLE),
            Tag::Heading { .. } => self.styles.push(HEADING),
            Tag::BlockQuote(_) => {
                self.end_paragraph();
                let bar = if self.is_deep() { String::new() } else { paint(FAINT, "│ ") };
                self.margins.push(Margin { first: bar.clone(), rest: bar });
            }
            Tag::List(first) => {
                self.end_paragraph();
                self.is_gap = false;
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::CodeBlock(kind) => {
                self.end_paragraph();
                self.is_code = true;
                if let CodeBlockKind::Fenced(info) = kind
                    && !info.trim().is_empty()
                {
                    let room = if self.room.is_limited() { self.inner() } else { usize::MAX };
                    self.line(&label(&info, room));
                }
            }
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            Tag::Emphasis => self.add_style(Effects::ITALIC),
            Tag::Strong => self.add_style(Effects::BOLD),
            Tag::Strikethrough => self.add_style(Effects::STRIKETHROUGH),
            Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } => {
                let address = format!("{dest_url} {title}");
                self.links.push((self.spans.len(), text::one_row(address.trim_end())));
                self.add_style(Effects::UNDERLINE);
            }
            Tag::Paragraph
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                self.end_paragraph();
                self.is_gap = true;
            }
            TagEnd::Heading(_) => {
                self.end_paragraph();
                self.styles.pop();
                self.is_gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                self.margins.pop();
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.end_paragraph();
                // An item without text still has a line.
                if self.margins.last().is_some_and(|margin| !margin.first.is_empty()) {
                    self.line("");
                }
                self.margins.pop();
                self.is_gap = false;
            }
            TagEnd::CodeBlock => {
                self.is_code = false;
                self.is_gap = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    for line in table.lines(self.inner()) {
                        self.line(&line);
                    }
                }
                self.is_gap = true;
            }
            TagEnd::HtmlBlock
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn item(&mut self) {
        self.end_paragraph();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "• ".to_owned(),
        };
        // Marks without words fill lines of their own. One that has no room on its line is left out.
        let lacks_room = |page: &Self| page.first_margins() + text::width(&mark) >= page.room.columns;
        if lacks_room(self) && self.margins.iter().any(|margin| !margin.first.is_empty()) {
            self.line("");
        }
        let mark = if lacks_room(self) { String::new() } else { mark };
        let rest = if self.is_deep() { String::new() } else { " ".repeat(text::width(&mark)) };
        self.margins.push(Margin { first: mark, rest });
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn add_style(&mut self, effects: Effects) {
        self.styles.push(self.style() | effects);
    }

    fn text(&mut self, raw: &str) {
        self.span(self.style(), text::one_row(raw));
    }

    fn span(&mut self, style: Style, text: String) {
        if !text.is_empty() {
            self.spans.push(Span { style, text });
        }
    }

    fn break_line(&mut self) {
        self.span(self.style(), "\n".to_owned());
    }

    /// Adds a link's address after its text, unless they are equal.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((start, address)) = self.links.pop() else { return };
        let text: String = self.spans.iter().skip(start).map(|span| span.text.as_str()).collect();
        if text.is_empty() {
            self.span(self.style(), address);
        } else if text != address && format!("mailto:{text}") != address {
            self.span(FAINT, format!(" ({address})"));
        }
    }

    fn html(&mut self, html: &CowStr<'_>) {
        for line in html.lines() {
            if self.room.is_limited() {
                for part in super::wrap::plain(line, self.inner()) {
                    self.line(&part);
                }
            } else {
                self.line(&text::block(line));
            }
        }
    }

    fn code(&mut self, code: &str) {
        for line in code.lines() {
            if self.room.is_limited() {
                for part in super::wrap::code(line, self.inner()) {
                    self.line(&part);
                }
            } else {
                self.line(&code_line(line));
            }
        }
    }

    /// The width within the margins.
    fn inner(&self) -> usize {
        self.room.columns.saturating_sub(self.margins().max(self.first_margins())).max(1)
    }

    /// The width of the margins of the next line, which has the marks of items that begin there.
    fn first_margins(&self) -> usize {
        let part = |margin: &Margin| {
            visible_width(if margin.first.is_empty() { &margin.rest } else { &margin.first })
        };
        self.margins.iter().map(part).sum()
    }

    fn margins(&self) -> usize {
        self.margins.iter().map(|margin| visible_width(&margin.rest)).sum()
    }

    /// The margins take half of the line, and do not grow any more.
    fn is_deep(&self) -> bool {
        self.margins() >= self.room.columns / 2
    }

    /// Whether letters of the source are missing in the lines.
    fn loses_letters(&self, source: &str) -> bool {
        let mut missing: HashMap<char, usize> = HashMap::new();
        for letter in source.chars().filter(|c| c.is_alphabetic()) {
            *missing.entry(letter).or_default() += 1;
        }
        let shown = self.lines.iter().flat_map(|line| {
            // Escape sequences contain letters too.
            anstream::adapter::strip_str(line).to_string().chars().collect::<Vec<_>>()
        });
        for letter in shown.chain(self.marks.chars()) {
            if let Some(count) = missing.get_mut(&letter) {
                *count = count.saturating_sub(1);
            }
        }
        missing.values().any(|count| *count > 0) || (self.lines.is_empty() && !source.trim().is_empty())
    }

    fn end_paragraph(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        if std::mem::take(&mut self.is_gap) && !self.lines.is_empty() {
            let blank = self.margin();
            self.lines.push(blank.trim_end().to_owned());
        }
        for FittingLine { painted, .. } in wrap(&spans, self.inner(), self.room.long) {
            self.line(&painted);
        }
    }

    fn line(&mut self, painted: &str) {
        let mut line = self.margin();
        line.push_str(painted);
        line.truncate(line.trim_end().len());
        self.lines.push(line);
    }

    fn margin(&mut self) -> String {
        let mut margin = String::new();
        for part in &mut self.margins {
            if part.first.is_empty() {
                margin.push_str(&part.rest);
            } else {
                margin.push_str(&std::mem::take(&mut part.first));
            }
        }
        margin
    }
}

fn visible_width(painted: &str) -> usize {
    text::width(&anstream::adapter::strip_str(painted).to_string())
}
