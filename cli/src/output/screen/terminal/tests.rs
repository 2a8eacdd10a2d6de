use crate::output::screen::{Screen, captured::Captured};

/// What a terminal shows after everything written to it, with the lines that scrolled away.
#[derive(Default)]
struct Glass {
    lines: Vec<String>,
    row: usize,
    column: usize,
}

impl Glass {
    fn write(&mut self, bytes: &str) {
        let mut rest = bytes;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => {
                    self.row += 1;
                    self.column = 0;
                }
                '\r' => self.column = 0,
                '\u{1b}' => {
                    let end = rest.find(|c: char| c.is_ascii_alphabetic()).expect("a whole sequence");
                    self.control(&rest[1..=end]);
                    rest = &rest[end + 1..];
                }
                _ => self.put(c),
            }
        }
    }

    fn control(&mut self, sequence: &str) {
        let (argument, end) = sequence.split_at(sequence.len() - 1);
        match end {
            "A" => self.row -= 1,
            "K" => {
                assert_eq!(argument, "2");
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.clear();
                }
            }
            "m" | "h" | "l" => {}
            _ => panic!("an unexpected sequence: {sequence}"),
        }
    }

    fn put(&mut self, c: char) {
        if self.lines.len() <= self.row {
            self.lines.resize(self.row + 1, String::new());
        }
        let line = &mut self.lines[self.row];
        assert_eq!(line.chars().count(), self.column, "what is not erased is not overwritten: {line:?}");
        line.push(c);
        self.column += 1;
    }

    fn shown(&self) -> String {
        self.lines.join("\n").trim_end().to_owned()
    }
}

struct Stage {
    captured: Captured,
    screen: Screen,
    glass: Glass,
}

impl Stage {
    fn new(columns: usize, rows: usize) -> Self {
        let captured = Captured::default();
        Self { screen: captured.terminal(columns, rows), captured, glass: Glass::default() }
    }

    fn shown(&mut self) -> String {
        self.glass.write(&self.captured.raw());
        self.glass.shown()
    }
}

#[test]
fn text_stays_and_status_lines_are_replaced() {
    let mut stage = Stage::new(40, 24);
    stage.screen.note("> the prompt").unwrap();
    stage.screen.live(vec!["thinking".into()]).unwrap();
    assert_eq!(stage.shown(), "> the prompt\n\nthinking");
    stage.screen.paragraph().unwrap();
    stage.screen.words("Some **wor").unwrap();
    assert_eq!(stage.shown(), "> the prompt\n\nSome **wor\n\nthinking");
    stage.screen.words("ds** of\nit.\n\nNext").unwrap();
    assert_eq!(stage.shown(), "> the prompt\n\nSome words of\nit.\n\nNext\n\nthinking");
    stage.screen.end_words().unwrap();
    stage.screen.live(vec!["› shell make".into(), "    out".into(), "shell".into()]).unwrap();
    assert_eq!(stage.shown(), "> the prompt\n\nSome words of\nit.\n\nNext\n\n› shell make\n    out\nshell");
    stage.screen.note("✓ shell make").unwrap();
    stage.screen.live(Vec::new()).unwrap();
    assert_eq!(stage.shown(), "> the prompt\n\nSome words of\nit.\n\nNext\n\n✓ shell make");
}

#[test]
fn a_prompt_stands_alone_and_can_be_withdrawn() {
    let mut stage = Stage::new(40, 24);
    stage.screen.words("Which?").unwrap();
    stage.screen.live(vec!["thinking".into()]).unwrap();
    stage.screen.prompt("answer: ").unwrap();
    assert_eq!(stage.shown(), "Which?\n\nanswer:");
    stage.screen.erase_prompt().unwrap();
    stage.screen.note("settled elsewhere").unwrap();
    assert_eq!(stage.shown(), "Which?\n\nsettled elsewhere");
}

#[test]
fn nothing_below_is_wider_or_higher_than_the_terminal() {
    let mut stage = Stage::new(20, 6);
    let long = "word ".repeat(400);
    stage.screen.words(&long).unwrap();
    stage
        .screen
        .live(vec!["a line that is far too long for it".into(), "日本語日本語日本語日本語".into()])
        .unwrap();
    let shown = stage.shown();
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines.len() <= 5, "{shown}");
    assert!(lines.iter().all(|line| crate::output::text::width(line) <= 16), "{shown}");
    drop(std::mem::replace(&mut stage.screen, Screen::new()));
    let shown = stage.shown();
    assert_eq!(shown.split_whitespace().count(), 400, "what was open is written when the screen goes");
}

#[test]
fn a_frame_that_changes_nothing_is_not_written() {
    let mut stage = Stage::new(40, 24);
    stage.screen.live(vec!["thinking".into()]).unwrap();
    stage.shown();
    stage.screen.live(vec!["thinking".into()]).unwrap();
    stage.screen.words("").unwrap();
    assert_eq!(stage.captured.raw(), "");
}
