//! Shortens an approval to one screen of the terminal. A line says how much is left out. Where the call runs
//! is never left out.

use super::{Room, after, before, facts, header, remembering};
use crate::output::{
    measure,
    screen::Size,
    style::{NEEDS_YOU, paint},
    text,
};
use abide_client::protocol::inbox::Approval;

/// Rows for the prompt, and for what is typed there.
const PROMPT: usize = 4;
/// The most rows of a sentence beside the call itself.
const SENTENCE: usize = 4;
/// The most rows of the rules that "always" offers.
const RULES: usize = 8;
/// The rows of the call and its diff on the smallest terminal.
const LEAST: usize = 6;
/// Columns that a tab takes at most.
const TAB: usize = 8;

/// An approval as a terminal of this size shows it.
pub(crate) struct Screenful {
    pub(crate) words: String,
    /// Nothing is left out.
    pub(crate) is_whole: bool,
}

pub(crate) fn screenful(approval: &Approval, size: Size) -> Screenful {
    let room = Room { lines: super::ALL, columns: Some(size.columns) };
    let mut cutter = Cutter { columns: size.columns.max(1), left_out: 0 };
    let header = header(approval);
    let facts: String = facts(approval, room.columns).iter().map(|fact| cutter.cut(fact, SENTENCE)).collect();
    let always = super::prose(&remembering(approval), room.columns);
    let always = cutter.cut(&format!("{always}\n"), RULES);
    let (before, after) = (before(approval, room.lines), after(approval, room.lines));
    let taken = [&header, &facts, &always].map(|words| cutter.rows(words)).iter().sum::<usize>() + PROMPT;
    let free = size.rows.saturating_sub(taken).max(LEAST);
    // The diff gets what the arguments leave, and half if both are long.
    let of_after = cutter.rows(&after).min(free.saturating_sub(cutter.rows(&before)).max(free / 2));
    let before = cutter.cut(&before, free - of_after);
    let after = cutter.cut(&after, of_after);
    Screenful { words: [header, before, facts, after, always].concat(), is_whole: cutter.left_out == 0 }
}

struct Cutter {
    columns: usize,
    /// In rows.
    left_out: usize,
}

impl Cutter {
    /// How many rows painted lines take at most.
    fn rows(&self, painted: &str) -> usize {
        painted.lines().map(|line| self.rows_of_line(line)).sum()
    }

    fn rows_of_line(&self, painted: &str) -> usize {
        let plain = anstream::adapter::strip_str(painted).to_string();
        let width = text::width(&plain) + TAB * plain.matches('\t').count();
        width.div_ceil(self.columns).max(1)
    }

    /// The first rows; if not all fit, the last of them says how many there are more.
    fn cut(&mut self, painted: &str, room: usize) -> String {
        if self.rows(painted) <= room {
            return painted.to_owned();
        }
        let mut out = String::new();
        let (mut left, mut hidden) = (room.saturating_sub(1), 0);
        for line in painted.lines() {
            let rows = self.rows_of_line(line);
            if rows <= left {
                out.push_str(line);
                out.push('\n');
                left -= rows;
                continue;
            }
            if left > 0 {
                let plain = anstream::adapter::strip_str(line).to_string().replace('\t', " ");
                out.push_str(&text::fit(&plain, left * self.columns));
                out.push('\n');
            }
            hidden += rows - left;
            left = 0;
        }
        self.left_out += hidden;
        let more = measure::counted(hidden as u64, "more line");
        out.push_str(&format!("  {}\n", paint(NEEDS_YOU, &format!("… and {more}: v views"))));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{JsonText, inbox::Preview};
    use insta::assert_snapshot;

    const SIZE: Size = Size { columns: 40, rows: 24 };

    fn shown(approval: &Approval) -> (String, bool) {
        let shown = screenful(approval, SIZE);
        let plain = anstream::adapter::strip_str(&shown.words).to_string();
        let rows: usize = plain.lines().map(|line| text::width(line).div_ceil(SIZE.columns).max(1)).sum();
        assert!(rows + PROMPT <= SIZE.rows, "{rows} rows:\n{plain}");
        (plain, shown.is_whole)
    }

    fn with(command: &str) -> Approval {
        Approval {
            arguments: JsonText::from(serde_json::json!({ "command": command })),
            summary: text::first_line(command),
            ..fixture::approval()
        }
    }

    #[test]
    fn a_short_approval_is_whole() {
        let (words, is_whole) = shown(&fixture::approval());
        assert!(is_whole && words.contains("rm -rf build") && words.contains("always"), "{words}");
    }

    #[test]
    fn of_a_long_call_a_screen_is_shown_and_the_rest_counted() {
        let lines: Vec<String> = (1..=4000).map(|n| format!("line {n}")).collect();
        let (words, is_whole) = shown(&with(&lines.join("\n")));
        assert!(!is_whole);
        assert_snapshot!(words, @r#"
        Approve shell, high risk?
          line 1
          command:
            line 1
            line 2
            line 3
            line 4
            line 5
            line 6
            line 7
            line 8
            line 9
            line 10
          … and 3,990 more lines: v views
          in:      /home/me/app
          sandbox: none: it can do all that you
                   can
          "always" would remember: shell with
          exactly this, whatever its reason, in
          /home/me/app
        "#);
    }

    #[test]
    fn one_endless_line_is_cut_too() {
        for command in ["x".repeat(100_000), "a\tb".repeat(5000), "\u{4e00}".repeat(30_000)] {
            let (words, is_whole) = shown(&with(&command));
            assert!(
                !is_whole && words.contains("more lines: v views") && words.contains("sandbox:"),
                "{words}"
            );
        }
        let long = Approval { why: Some("word ".repeat(2000)), ..fixture::approval() };
        assert!(!shown(&long).1);
    }

    #[test]
    fn a_diff_has_the_room_that_the_arguments_leave() {
        let diff: String = (1..=500).map(|n| format!("+line {n}\n")).collect();
        let mut edit = with("true");
        edit.preview = Some(Box::new(Preview { path: "a".into(), diff, changed: None }));
        let (words, is_whole) = shown(&edit);
        assert!(!is_whole && words.contains("+line 9\n") && words.contains("more lines: v views"), "{words}");
    }
}
