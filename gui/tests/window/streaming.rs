//! The cost of a delta: it depends on what the delta changes, not on the length of the reply.

use crate::{
    display::Display,
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::{
    Update,
    protocol::{message::Role, notification::Snapshot, task::Status},
};
use abide_gui::{Message, widget::passage};
use iced_test::core::{Rectangle, widget};
use std::{any::Any, cell::Cell, sync::Once};

const WORDS: [&str; 7] = ["It ", "reads ", "the `clock` ", "twice, ", "and **that** ", "is ", "wrong.\n\n"];

thread_local! {
    static LAID_OUT: Cell<usize> = const { Cell::new(0) };
}

/// Counts the text that is laid out by this thread: characters if it is plain, else spans.
struct Scales;

impl log::Log for Scales {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target() == "iced_graphics::text::paragraph"
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let words = record.args().to_string();
            let (_, about) = words.split_once(": ").unwrap();
            let spans = about.strip_suffix(" spans").and_then(|count| count.parse().ok());
            LAID_OUT.set(LAID_OUT.get() + spans.unwrap_or(about.len()));
        }
    }

    fn flush(&self) {}
}

/// The amount of text that is laid out by `meanwhile`.
fn laid_out(meanwhile: impl FnOnce()) -> usize {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Scales).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
    LAID_OUT.set(0);
    meanwhile();
    LAID_OUT.get()
}

/// Counts the texts that are built.
struct Passages(usize);

impl widget::Operation for Passages {
    fn traverse(&mut self, operate: &mut dyn FnMut(&mut dyn widget::Operation)) {
        operate(self);
    }

    fn custom(&mut self, _id: Option<&widget::Id>, _bounds: Rectangle, state: &mut dyn Any) {
        self.0 += usize::from(state.is::<passage::PassageState>());
    }
}

struct Streaming {
    person: Person,
    offset: u64,
}

impl Streaming {
    fn after(history: Snapshot) -> Self {
        let person = Person::opened(Status::Thinking, &[], history);
        Self { person, offset: 0 }
    }

    /// These deltas arrive together.
    fn says<'a>(&mut self, pieces: impl IntoIterator<Item = &'a str>) {
        let updates = pieces.into_iter().map(|piece| {
            let delta = preset::delta(self.offset, piece);
            self.offset += piece.len() as u64;
            Update::Notification(delta)
        });
        let updates = updates.collect();
        self.person.tell(Message::Conversation(CONVERSATION, updates));
    }

    fn says_paragraphs(&mut self, count: usize) {
        for _ in 0..count {
            self.says(WORDS);
        }
    }

    fn passages(&mut self) -> usize {
        let mut passages = Passages(0);
        self.person.operate(&mut passages);
        passages.0
    }
}

#[test]
fn only_the_visible_part_of_a_long_reply_is_built() {
    let mut streaming = Streaming::after(preset::history());
    streaming.says_paragraphs(60);
    let few = streaming.passages();
    streaming.says_paragraphs(240);
    let many = streaming.passages();
    assert!(many <= few, "{few} texts of 60 paragraphs, {many} of 300");
    assert!(few > 20, "the texts fill the window");
}

#[test]
fn a_delta_lays_out_only_its_paragraph() {
    let mut streaming = Streaming::after(preset::history());
    let mut costs = Vec::new();
    for _ in 0..3 {
        streaming.says_paragraphs(20);
        streaming.says(["And "]);
        costs.push(laid_out(|| streaming.says(["so "])));
        streaming.says(["on.\n\n"]);
    }
    assert!(costs.iter().all(|cost| *cost == costs[0] && *cost > 0), "{costs:?}");
}

/// The Markdown that a model writes, and the text that is shown.
const WRITTEN: [(&str, &[&str]); 4] = [
    ("Take a Vec<T> <now>, see https://a.org/b.\n\n", &["Take a Vec<T> <now>, see https://a.org/b."]),
    (
        "<details>\n<summary>Why</summary>\nIt is late.\n</details>\n\n",
        &["<details> <summary>Why</summary> It is late. </details>"],
    ),
    (
        "```\n<p>\n```\n\n- `Vec<u8>`\n- <b>, and <https://b.org>\n\n",
        &["<p>", "Vec<u8>", "<b>, and https://b.org"],
    ),
    ("One\r\ntwo, at last <T", &["One two, at last <T"]),
];

#[test]
fn a_streaming_reply_reads_like_the_recorded_one() {
    let text: String = WRITTEN.iter().map(|(text, _)| *text).collect();
    for size in [1, 2, 5, 7, 1000] {
        let mut streaming = Streaming::after(preset::empty());
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            streaming.says([&*String::from_iter(piece)]);
        }
        for words in WRITTEN.iter().flat_map(|(_, words)| *words) {
            assert!(streaming.person.finds(words).is_some(), "live, in pieces of {size}: {words:?}");
        }
    }
    let said = preset::said(1, Role::Agent, &text);
    let mut recorded = Streaming::after(Snapshot { messages: vec![said], ..preset::empty() });
    for words in WRITTEN.iter().flat_map(|(_, words)| *words) {
        assert!(recorded.person.finds(words).is_some(), "recorded: {words:?}");
    }
}

#[test]
fn a_delta_in_code_lays_out_only_the_lines_near_it() {
    for (language, most) in [("", 1500), ("rust", 500)] {
        let mut streaming = Streaming::after(preset::history());
        streaming.says(["```", language, "\n"]);
        let mut costs = Vec::new();
        for _ in 0..300 {
            costs.push(laid_out(|| streaming.says(["let clock = clock(1, \"two\"); // again\n"])));
        }
        let dearest = costs.iter().max().unwrap();
        assert!(*dearest <= most, "{language:?}: {dearest}");
    }
}

#[test]
fn moving_rows_are_painted_as_one_part() {
    let mut streaming = Streaming::after(preset::history());
    let mut display = Display::new(1280, 800);
    display.present(&mut streaming.person);
    for n in 0..40 {
        streaming.says(WORDS);
        // Only the parts within the rows: not the activity mark in the list, the list's handle, or the
        // composer.
        let mut painted = display.present(&mut streaming.person);
        painted.retain(|part| part.x + part.width > 300.0 && part.width > 10.0 && part.y < 650.0);
        assert!(painted.len() == 1, "after paragraph {n}: {painted:?}");
    }
}

#[test]
fn text_that_moves_no_rows_is_painted_alone() {
    let said = (1..=20).map(|n| preset::said(n, Role::Agent, "Said **before**, with `code`."));
    let mut streaming = Streaming::after(Snapshot { messages: said.collect(), ..preset::empty() });
    let mut display = Display::new(1280, 800);
    streaming.says_paragraphs(20);
    streaming.says(["Word "]);
    display.present(&mut streaming.person);
    streaming.says(["by ", "word."]);
    let painted = display.present(&mut streaming.person);
    let area: f32 = painted.iter().map(Rectangle::area).sum();
    assert!(area < 40_000.0 && area > 0.0, "{area} pixels: {painted:?}");
}
