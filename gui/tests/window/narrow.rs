//! Text in a narrow window.

use crate::{
    person::Person,
    preset::{self, CONVERSATION},
};
use abide_client::protocol::{
    JsonText, message::Role, notification::Snapshot, task::Status, transcript::ToolResult,
};
use abide_gui::{Message, screen::conversation, theme};
use iced_test::core::{Rectangle, Size, Vector};
use iced_tiny_skia::graphics::text::{Text, cosmic_text::LayoutGlyph};

fn before(history: Snapshot, width: f32, height: f32) -> Person {
    let (overview, conversation) = preset::waits(Status::Thinking, &[], history);
    let mut person = Person::before(overview);
    person.resizes(width, height);
    person.open(CONVERSATION, conversation);
    person
}

/// The texts that are cut at the right.
pub(crate) fn cut(person: &mut Person) -> Vec<String> {
    let mut cut = Vec::new();
    for layer in person.renderer.layers() {
        for text in layer.text.iter().flat_map(|texts| texts.as_slice()) {
            let Text::Paragraph { paragraph, position, transformation, .. } = text else { continue };
            let Some(paragraph) = paragraph.upgrade() else { continue };
            let buffer = paragraph.buffer();
            let width = buffer.layout_runs().map(|run| run.line_w).fold(0.0, f32::max);
            let place = Rectangle::new(*position, Size::new(width, 1.0)) * *transformation;
            if place.x + place.width > layer.bounds.x + layer.bounds.width + 1.0 {
                cut.push(buffer.lines.iter().map(|line| line.text()).collect());
            }
        }
    }
    cut
}

#[test]
fn no_text_is_cut_at_the_edge_of_a_narrow_window() {
    let table = "| file | what it holds | who wrote it |\n|---|---|---|\n| `src/session.rs` | the clock, read twice | somebody long ago |";
    let cjk =
        "日本語の文章：これは長い一行です。中文：测试失败了十分之一，原因是时钟被读取了两次。".repeat(3);
    let path = "see /home/me/src/web/a/very/long/path/that/has/no/room/in/a/line/at/all/session.rs for it";
    let messages = vec![
        preset::said(1, Role::User, &format!("{cjk}\n{path}\n10 %\r100 %")),
        preset::said(
            2,
            Role::Agent,
            &format!("{cjk}\n\n`{path}`\n\n{table}\n\n- {cjk}\n\n> {cjk}\n\n# {cjk}"),
        ),
    ];
    let mut call = preset::call(3, "shell", &format!("printf '{cjk}'"));
    let out = format!("10 %\r\u{1b}[32m100 %\u{1b}[0m {cjk}\n\u{1b}[1;31m{}\u{1b}[0m", "error".repeat(60));
    let data = serde_json::json!({"exit_code": 0, "duration_ms": 4, "stderr": "", "stdout": out});
    call.result = Some(ToolResult::success("exit code 0", Some(JsonText::parse(data.to_string()).unwrap())));
    let id = call.call_id;
    for width in [500.0, 640.0] {
        let history = Snapshot { messages: messages.clone(), calls: vec![call.clone()], ..preset::empty() };
        let mut person = before(history, width, 2400.0);
        person.tell(Message::Thread(conversation::Message::CallToggled(id, true)));
        assert!(person.finds("what it holds").is_some());
        let cut = cut(&mut person);
        // Titles, folders and commands are shortened on purpose.
        assert!(cut.is_empty(), "{width}: {cut:#?}");
    }
}

/// The left and right end of the last frame's texts that contain this letter.
fn reach(person: &mut Person, letter: char) -> (f32, f32) {
    let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
    let (mut left, mut right) = (f32::INFINITY, 0.0_f32);
    for text in texts.flat_map(|texts| texts.as_slice()) {
        let Text::Paragraph { paragraph, position, transformation, .. } = text else { continue };
        let Some(paragraph) = paragraph.upgrade() else { continue };
        let buffer = paragraph.buffer();
        if !buffer.lines.iter().any(|line| line.text().contains(letter)) {
            continue;
        }
        let x = (*position * *transformation).x;
        for run in buffer.layout_runs() {
            for glyph in run.glyphs.iter().filter(|glyph| &run.text[glyph.start..glyph.end] != " ") {
                (left, right) = (left.min(x + glyph.x), right.max(x + glyph.x + glyph.w));
            }
        }
    }
    (left, right)
}

/// Also where the direction of writing changes.
#[test]
fn text_of_both_directions_stays_within_the_column() {
    let mixed = "The test שבודקהתחברותלשרת fails and then הרשתאיטיתמאוד 🎉 is slow, see هذاالاختبارطويل in `session.rs` or \
                 ולאברורמדוע when 测试失败 🚀 happens again ובפעםהאחרונה twice.";
    let rtl = "הבדיקה נכשלת because-of-a-long-word ואז something-else-again היא עוברת 🎉 and-then-it-fails-anew שוב ושוב.";
    for width in (400_u16..700).step_by(20) {
        let said = [mixed, rtl, &format!("- {mixed}\n- {rtl}\n\n> {mixed}\n\n# {rtl}")];
        let messages = (1..).zip(said).flat_map(|(n, text)| {
            [preset::said(2 * n, Role::Agent, text), preset::said(2 * n + 1, Role::User, text)]
        });
        let history = Snapshot { messages: messages.collect(), ..preset::empty() };
        let mut person = before(history, f32::from(width), 6000.0);
        let (left, right) = reach(&mut person, 'ה');
        assert!(right > 100.0, "they are shown");
        // In right-to-left text a blank at the end of a line extends to the right.
        let blank = 4.0;
        assert!(left >= 23.0 && right <= f32::from(width) - 24.0 + blank, "{width}: from {left} to {right}");
    }
}

/// The smallest distance between inline code and the text around it.
fn nearest_to_code(said: &str) -> f32 {
    let messages = vec![preset::said(1, Role::Agent, said)];
    let mut person = before(Snapshot { messages, ..preset::empty() }, 1280.0, 800.0);
    let ground = theme::tokens(&person.app.theme()).code.into();
    let mut gaps = Vec::new();
    for layer in person.renderer.layers() {
        let grounds = layer.quads.iter().filter(|(_, fill)| *fill == ground).map(|(quad, _)| quad.bounds);
        let grounds: Vec<Rectangle> = grounds.collect();
        for text in layer.text.iter().flat_map(|texts| texts.as_slice()) {
            let Text::Paragraph { paragraph, position, transformation, .. } = text else { continue };
            let Some(paragraph) = paragraph.upgrade() else { continue };
            for run in paragraph.buffer().layout_runs() {
                for glyph in run.glyphs.iter().filter(|glyph| &run.text[glyph.start..glyph.end] != " ") {
                    let at = *position + Vector::new(glyph.x, run.line_top);
                    let glyph = Rectangle::new(at, Size::new(glyph.w, run.line_height)) * *transformation;
                    let on_line = |code: &&Rectangle| (code.center_y() - glyph.center_y()).abs() < 4.0;
                    gaps.extend(
                        grounds
                            .iter()
                            .filter(on_line)
                            .map(|code| (code.x - glyph.x - glyph.width).max(glyph.x - code.x - code.width)),
                    );
                }
            }
        }
    }
    // The code itself is within its background.
    gaps.into_iter().filter(|gap| *gap > -5.0).min_by(f32::total_cmp).unwrap()
}

#[test]
fn inline_code_does_not_touch_the_words_around_it() {
    let apart = nearest_to_code("Look at `session.rs` first, or at the `clock` then.");
    assert!(apart >= 1.5, "{apart}");
    let beside = nearest_to_code("Look (`session.rs`) at **it**`s`.");
    assert!(beside >= -0.01, "it covers nothing: {beside}");
}

/// The letters of the first paragraph that has this one, each with a number for its face.
pub(crate) fn faces(person: &mut Person, letter: &str) -> Vec<(String, String)> {
    let texts = person.renderer.layers().iter().flat_map(|layer| &layer.text);
    let paragraphs = texts.flat_map(|text| text.as_slice()).filter_map(|text| match text {
        Text::Paragraph { paragraph, .. } => paragraph.upgrade(),
        _ => None,
    });
    let mut faces = paragraphs.map(|paragraph| {
        let runs = paragraph.buffer().layout_runs();
        let face = |text: &str, glyph: &LayoutGlyph| {
            (text[glyph.start..glyph.end].to_owned(), format!("{:?}", glyph.font_id))
        };
        runs.flat_map(|run| run.glyphs.iter().map(move |glyph| face(run.text, glyph))).collect::<Vec<_>>()
    });
    faces.find(|faces| faces.iter().any(|(known, _)| known == letter)).unwrap()
}

#[test]
fn a_word_can_change_its_typeface_in_the_middle() {
    let said = vec![preset::said(1, Role::Agent, "x (`QZ`): **Y**J")];
    let mut person = before(Snapshot { messages: said, ..preset::empty() }, 1280.0, 800.0);
    let faces = faces(&mut person, "Q");
    let of = |letter: &str| faces.iter().find(|(known, _)| known == letter).map(|(_, face)| face).unwrap();
    assert_ne!(of("Q"), of("("), "code");
    assert_eq!(of("Q"), of("Z"));
    assert_eq!(of("J"), of("("), "after what is strong");
    assert_ne!(of("Y"), of("J"));
}

/// No line may break before a dot or a slash, so the words before it are shaped with it.
#[test]
fn code_that_begins_with_a_dot_or_a_slash_has_its_own_typeface() {
    for text in ["in `.QZ`", "in `/QZ`", "`QZ` /in", "in ( `QZ`", "in `.QZ/Q`, in"] {
        let said = vec![preset::said(1, Role::Agent, text)];
        let mut person = before(Snapshot { messages: said, ..preset::empty() }, 1280.0, 800.0);
        let faces = faces(&mut person, "Q");
        let of = |letter: &str| -> Vec<&String> {
            faces.iter().filter(|(known, _)| known == letter).map(|(_, face)| face).collect()
        };
        let prose = of("i")[0];
        for letter in ["Q", "Z", "."] {
            assert!(of(letter).iter().all(|face| *face != prose), "{text}: {letter}");
        }
        for letter in ["i", "n", "(", ","] {
            assert!(of(letter).iter().all(|face| *face == prose), "{text}: {letter}");
        }
        let is_prose = text.ends_with("/in");
        assert!(of("/").iter().all(|face| (*face == prose) == is_prose), "{text}: /");
    }
}

#[test]
fn text_that_looks_like_html_is_shown() {
    let said = vec![preset::said(1, Role::Agent, "a Vec<String> of <name>\n\n<details>more</details>")];
    let mut person = before(Snapshot { messages: said, ..preset::empty() }, 1280.0, 800.0);
    assert!(person.finds("a Vec<String> of <name>").is_some());
    assert!(person.finds("<details>more</details>").is_some());
}
