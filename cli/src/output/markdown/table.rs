//! Tables: columns if they fit, else one line for each cell.

use super::wrap::{FittingLine, Long, Span, wrap};
use crate::output::style::{FAINT, STRONG, paint};
use pulldown_cmark::Alignment;

const GAP: usize = 2;
/// The least width of a column.
const MIN_COLUMN: usize = 8;

type Cell = Vec<Span>;

#[derive(Debug, Default)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// The first row is the head.
    rows: Vec<Vec<Cell>>,
    row: Vec<Cell>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, ..Self::default() }
    }

    pub(super) fn cell(&mut self, cell: Cell) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        let is_head = self.rows.is_empty();
        let mut row = std::mem::take(&mut self.row);
        for span in row.iter_mut().flatten().filter(|_| is_head) {
            span.style |= STRONG.get_effects();
        }
        self.rows.push(row);
    }

    pub(super) fn lines(&self, room: usize) -> Vec<String> {
        match self.widths(room) {
            Some(widths) => self.columns(&widths),
            None => self.records(room),
        }
    }

    /// The columns' widths; the widest are reduced first. `None` if there is too little room.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let natural = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell_width(cell)).max().unwrap_or(0).max(1)
        };
        let mut widths: Vec<usize> = (0..self.alignments.len()).map(natural).collect();
        let room = room.saturating_sub(GAP * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let widest = widths.iter_mut().max()?;
            if *widest <= MIN_COLUMN {
                return None;
            }
            *widest -= 1;
        }
        Some(widths)
    }

    fn columns(&self, widths: &[usize]) -> Vec<String> {
        let mut lines = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<FittingLine>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| {
                    wrap(row.get(column).map_or(&[][..], Vec::as_slice), *width, Long::Break)
                })
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for n in 0..height {
                lines.push(self.row_line(&cells, widths, n));
            }
            if i == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(paint(FAINT, &rules.join(&" ".repeat(GAP))));
            }
        }
        lines
    }

    /// Line `n` of each cell of a row.
    fn row_line(&self, cells: &[Vec<FittingLine>], widths: &[usize], n: usize) -> String {
        let mut out = String::new();
        let nothing = FittingLine::default();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let line = cell.get(n).unwrap_or(&nothing);
            let free = width.saturating_sub(line.width);
            let before = match self.alignments.get(column) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            if column > 0 {
                out.push_str(&" ".repeat(GAP));
            }
            out.push_str(&" ".repeat(before));
            out.push_str(&line.painted);
            out.push_str(&" ".repeat(free - before));
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Each row as `head: cell` lines, a blank line between rows.
    fn records(&self, room: usize) -> Vec<String> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut spans = head.get(column).cloned().unwrap_or_default();
                spans.push(Span { style: FAINT, text: ": ".to_owned() });
                spans.extend(cell.iter().cloned());
                lines.extend(wrap(&spans, room, Long::Break).into_iter().map(|line| line.painted));
            }
        }
        lines
    }
}

fn cell_width(cell: &[Span]) -> usize {
    wrap(cell, usize::MAX, Long::Keep).iter().map(|line| line.width).max().unwrap_or(0)
}
