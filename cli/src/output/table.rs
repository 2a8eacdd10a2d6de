//! Columns, aligned by display width; at the terminal's width the last column is cut, and the widest ones
//! before it if it would get too little.

use crate::output::{style::paint, text};
use anstyle::Style;

const GAP: &str = "  ";

/// A cell: text without styles (they would count as width), and its style.
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    fn shown(&self, has_header: bool) -> &str {
        if has_header && self.text.is_empty() { EMPTY } else { &self.text }
    }
}

/// `raw` may be any text; it is made safe.
pub(crate) fn cell(style: Style, raw: &str) -> Cell {
    Cell { text: text::one_line(raw), style }
}

/// Stands in an empty cell beneath a header, so that the columns of a line can be counted by ear, and by
/// other programs.
const EMPTY: &str = "-";

/// A line for the header (unless empty) and for each row. `width` is the terminal's; `None` cuts nothing.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: &[[Cell; N]], width: Option<usize>) -> String {
    let header = header.map(|title| cell(super::style::FAINT, title));
    let has_header = header.iter().any(|c| !c.text.is_empty());
    let lines = || has_header.then_some(&header).into_iter().chain(rows);
    let mut widths = [0; N];
    for line in lines() {
        for (column, cell) in widths.iter_mut().zip(line) {
            *column = (*column).max(text::width(cell.shown(has_header)));
        }
    }
    if let Some(width) = width {
        narrow(&mut widths, width);
    }
    let mut out = String::new();
    for line in lines() {
        let mut used = 0;
        for (i, cell) in line.iter().enumerate() {
            let shown = cell.shown(has_header);
            if i + 1 == N {
                let room = width.map_or(usize::MAX, |w| w.saturating_sub(used).max(8));
                out.push_str(&paint(cell.style, &text::fit(shown, room)));
            } else {
                let shown = text::fit(shown, widths[i]);
                out.push_str(&paint(cell.style, &shown));
                out.push_str(&" ".repeat(widths[i].saturating_sub(text::width(&shown))));
                out.push_str(GAP);
                used += widths[i] + GAP.len();
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

/// Takes from the widest columns before the last one what that one lacks: all that it needs, or a third of
/// the width.
fn narrow<const N: usize>(widths: &mut [usize; N], width: usize) {
    /// No column gets narrower: ids, times and usual statuses stay whole.
    const LEAST: usize = 20;
    let Some((last, others)) = widths.split_last_mut() else { return };
    let wanted = (*last).min(width / 3);
    while others.iter().map(|other| other + GAP.len()).sum::<usize>() + wanted > width {
        match others.iter_mut().max() {
            Some(widest) if *widest > LEAST => *widest -= 1,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::PLAIN;

    #[test]
    fn wide_columns_leave_room_for_the_last_one() {
        let status = "incomplete: cut at the length limit";
        let rows = [[cell(PLAIN, "12345678"), cell(PLAIN, status), cell(PLAIN, "Tidy up the attic")]];
        let shown = |width| table(["", "", ""], &rows, width);
        assert_eq!(shown(Some(51)), "12345678  incomplete: cut at th…  Tidy up the attic\n");
        assert_eq!(shown(Some(40)), "12345678  incomplete: cut at …  Tidy up…\n");
        assert_eq!(shown(None), format!("12345678  {status}  Tidy up the attic\n"));
    }

    #[test]
    fn columns_align_by_display_width_and_the_last_is_cut() {
        let rows =
            [[cell(PLAIN, "日本"), cell(PLAIN, "ab")], [cell(PLAIN, "x"), cell(PLAIN, "a long last column")]];
        assert_eq!(
            anstream::adapter::strip_str(&table(["A", "B"], &rows, Some(16))).to_string(),
            "A     B\n日本  ab\nx     a long la…\n"
        );
        let empty = [[cell(PLAIN, ""), cell(PLAIN, "")]];
        assert_eq!(
            anstream::adapter::strip_str(&table(["A", "B"], &empty, None)).to_string(),
            "A  B\n-  -\n"
        );
        assert_eq!(table(["", ""], &empty, None), "\n");
        assert_eq!(table(["", ""], &rows, None), "日本  ab\nx     a long last column\n");
    }
}
