//! Draws the panel: the lines near the view, and empty room in place of the others.

use super::{
    Family, Message, Screen,
    family::{Count, Row, TreeLine},
    line,
};
use crate::{
    font,
    screen::sidebar::thin,
    theme::{
        size, space,
        style::{self, RowState},
    },
    widget::{Element, Look, badge, dot, elide::elided, head, key, press::press, secondary, word, yielding},
    words,
};
use abide_client::protocol::{TaskId, task::AgentTask};
use iced::{
    Center, Fill,
    widget::{column, container, keyed_column, responsive, row, rule, scrollable, space as gap, text},
};

/// How many lines beyond the view are built.
const MARGIN: usize = 4;
/// The deepest line that is further to the right than the one above it.
const MAX_INDENT: usize = 6;

/// Where the panel is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Beside the timeline, of this width: two lines of text for each task.
    Beside(f32),
    /// Above it, of this height at most: one line of text for each task.
    Above(f32),
}

impl Shape {
    /// The height of each line, which is the same for all: so the lines in view are known without layout.
    const fn line(self) -> f32 {
        match self {
            Self::Beside(_) => space::TREE_LINE,
            Self::Above(_) => space::TREE_LINE_LOW,
        }
    }
}

impl Screen {
    /// `open` is the task whose timeline is shown; `conversation` is its conversation's title.
    #[must_use]
    pub fn view<'a>(
        &self,
        family: Family<'a>,
        open: TaskId,
        conversation: &'a str,
        shape: Shape,
        look: Look,
    ) -> Element<'a, Message> {
        let lines = family.lines(&self.unfolded, open);
        let (at, count) = (self.at, family.count());
        let height = lines.len() as f32 * shape.line();
        let list = responsive(move |room| {
            let of = Of { family: &family, lines: &lines, open, conversation, shape, look };
            let near = near(&lines, at, room.height, shape.line());
            let above = near.start as f32 * shape.line();
            let below = (lines.len() - near.end) as f32 * shape.line();
            let built = lines.get(near).unwrap_or_default();
            let built = keyed_column(built.iter().map(|line| (line.row, of.line(*line))));
            let content = column![gap().height(above), built, gap().height(below)].width(Fill);
            scrollable(content)
                .on_scroll(|view| Message::Scrolled(view.absolute_offset().y))
                .height(Fill)
                .style(style::bars)
                .direction(thin())
                .into()
        });
        let head = headline(count, look);
        match shape {
            Shape::Beside(width) => {
                let panel = container(column![head, list].height(Fill)).width(width).style(style::panel);
                row![rule::vertical(1).style(style::line), panel].into()
            }
            Shape::Above(most) => {
                // No line is cut.
                let most = (most / shape.line()).floor().max(1.0) * shape.line();
                let list = container(list)
                    .height(height.min(most) + space::XS)
                    .padding(iced::padding::bottom(space::XS));
                let panel = container(column![head, list]).width(Fill).style(style::panel);
                column![panel, rule::horizontal(1).style(style::line)].into()
            }
        }
    }
}

/// The lines to build for a view of this height.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand lines at most")]
fn near(lines: &[TreeLine], at: f32, height: f32, line: f32) -> std::ops::Range<usize> {
    let last = lines.len().saturating_sub((height / line) as usize);
    let first = ((at.max(0.0) / line) as usize).min(last).saturating_sub(MARGIN);
    let shown = (height / line).ceil() as usize + 1 + 2 * MARGIN;
    first..(first + shown).min(lines.len())
}

fn headline<'a>(count: Count, look: Look) -> Element<'a, Message> {
    // The lines say how many have ended.
    let counts = if count.live > 0 { format!("{} live", count.live) } else { "all ended".to_owned() };
    let waiting = (count.waiting > 0).then(|| badge(count.waiting.to_string()).style(style::badge_needs_you));
    let name = look.has_caps.then(|| key("Ctrl G").into());
    row![head("SUB-TASKS"), secondary(counts)]
        .extend(waiting.map(Element::from))
        .push(gap().width(Fill))
        .push(word("Hide", Message::HidePressed))
        .extend(name)
        .spacing(space::S)
        .align_y(Center)
        .padding([space::S, space::M])
        .into()
}

/// The context of a line.
struct Of<'f, 'a> {
    family: &'f Family<'a>,
    lines: &'f [TreeLine],
    open: TaskId,
    conversation: &'a str,
    shape: Shape,
    look: Look,
}

impl Of<'_, '_> {
    fn line<'e>(&self, line: TreeLine) -> Element<'e, Message> {
        let content = match line.row {
            Row::Task(id) => match self.family.task(id) {
                Some(task) => self.task(task, line.depth),
                None => gap().into(),
            },
            Row::Ended(id) => self.ended(id, line.depth),
        };
        container(content).height(self.shape.line()).center_y(self.shape.line()).width(Fill).into()
    }

    fn task<'e>(&self, task: &AgentTask, depth: usize) -> Element<'e, Message> {
        let is_amber = self.family.is_amber(task.id);
        let font = if task.id == self.open { font::STRONG } else { font::MEDIUM };
        let title = elided(line::title(task, self.conversation), size::PROSE, font);
        let title = if task.status.has_ended() { title.style(style::muted) } else { title };
        let ink = if is_amber { style::needs_you } else { style::muted };
        let doing = words::as_known(line::doing(task), task, self.look);
        let doing = elided(doing, size::SECONDARY, font::PROSE).style(ink);
        let figures: Element<'e, Message> = secondary(line::figures(task)).into();
        let mark = dot(line::mark(task, is_amber));
        let content: Element<'e, Message> = match self.shape {
            Shape::Beside(_) => {
                let below = yielding::row([doing.into(), figures], 0, space::S);
                row![container(mark).padding(iced::padding::top(7)), column![title, below].width(Fill)]
                    .spacing(space::S)
                    .into()
            }
            Shape::Above(_) => {
                let parts = row![title, doing].spacing(space::M).width(Fill);
                yielding::row([mark, parts.into(), figures], 1, space::S)
            }
        };
        press(container(content).center_y(Fill))
            .padding(iced::padding::right(space::M).left(indent(depth)))
            .width(Fill)
            .style(style::list_row(RowState { is_open: task.id == self.open, ..RowState::default() }))
            .on_press(Message::Opened(task.id))
            .into()
    }

    fn shows_ended(&self, id: TaskId) -> bool {
        let mut ended = self.family.ended(id);
        ended.any(|task| self.lines.iter().any(|line| line.row == Row::Task(task.id)))
    }

    fn ended<'e>(&self, id: TaskId, depth: usize) -> Element<'e, Message> {
        let lines = self.family.ended(id).count();
        let sign = if self.shows_ended(id) { "−" } else { "+" };
        let words = format!("{} {sign}", words::counted(lines as u64, "ended sub-task"));
        let label = text(words).size(size::SECONDARY);
        press(container(label).center_y(Fill))
            .padding(iced::padding::right(space::M).left(indent(depth)))
            .width(Fill)
            .style(style::quiet)
            .on_press(Message::FoldPressed(id))
            .into()
    }
}

/// The room before a line of this depth.
#[expect(clippy::cast_precision_loss, reason = "at most a few steps")]
fn indent(depth: usize) -> f32 {
    space::M + depth.min(MAX_INDENT) as f32 * space::L
}
