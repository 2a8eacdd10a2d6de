//! Each state shows what a person must see, and offers the actions that apply.

use crate::preset::{self, Window};
use abide_client::protocol::{inbox::Decision, task::EndReason};
use abide_gui::{
    Message,
    effect::Effect,
    keymap::Command,
    request::{self},
    screen::{composer, conversation, new_conversation, pending},
    settings,
};
use iced_test::Simulator;
use std::path::Path;

fn simulate(window: &Window) -> Simulator<'_, Message> {
    Simulator::with_size(settings(), (1280.0, 800.0), window.app.view())
}

/// Whether all of these texts are shown.
fn shows(window: &Window, texts: &[&str]) {
    let mut screen = simulate(window);
    for text in texts {
        assert!(screen.find(*text).is_ok(), "{text:?} is not shown");
    }
}

fn lacks(window: &Window, texts: &[&str]) {
    let mut screen = simulate(window);
    for text in texts {
        assert!(screen.find(*text).is_err(), "{text:?} is shown");
    }
}

#[test]
fn an_empty_window_explains_how_to_begin() {
    shows(&preset::nothing(), &["What shall the agent do?", "No conversations yet.", "Send"]);
}

#[test]
fn a_streaming_reply_is_shown_and_can_be_stopped() {
    shows(
        &preset::streaming(),
        &[
            "WORKING",
            "Fix flaky login test",
            "Writing",
            "Stop",
            "Pause",
            "step 5",
            "1 min 33 s",
            "22k tokens · $0.09",
        ],
    );
}

#[test]
fn a_running_tool_shows_its_newest_output() {
    shows(
        &preset::tool_running(),
        &["cargo test --workspace", "running · 12 s", "Running", "exit 0 · 41.0 s", "+1", "−1"],
    );
}

#[test]
fn a_question_is_a_card_with_its_choices() {
    let window = preset::waiting_question();
    shows(
        &window,
        &["NEEDS YOU", "Question for you", "Which week shall I book for?", "9–12 March", "Decline", "Reply"],
    );
}

#[test]
fn an_approval_shows_exactly_what_will_run() {
    let window = preset::waiting_approval();
    shows(
        &window,
        &[
            "Runs outside the sandbox, with all your rights · shell · high risk",
            "git push origin upgrade\\x1b[2K\\rls",
            "Allow once",
            "Always allow…",
            "Reject…",
            "Always reject…",
        ],
    );
}

#[test]
fn a_rejection_takes_a_reason() {
    let mut cards = pending::Cards::default();
    cards.update(pending::Message::RejectPressed(preset::APPROVAL, Decision::RejectOnce));
    cards.update(pending::Message::ReasonChanged(preset::APPROVAL, " not on a Friday ".into()));
    let sent = cards.update(pending::Message::Rejected(preset::APPROVAL));
    let request =
        request::decide(preset::APPROVAL, Decision::RejectOnce, Some("not on a Friday".into()), None);
    assert_eq!(sent, [Effect::Ask(request)]);
    assert_eq!(
        cards.update(pending::Message::Allowed(preset::APPROVAL, Decision::AllowOnce)),
        [],
        "it is under way"
    );
}

#[test]
fn a_rejection_can_be_for_good() {
    let mut cards = pending::Cards::default();
    cards.update(pending::Message::RejectPressed(preset::APPROVAL, Decision::RejectAlways));
    let request = request::decide(preset::APPROVAL, Decision::RejectAlways, None, None);
    assert_eq!(cards.update(pending::Message::Rejected(preset::APPROVAL)), [Effect::Ask(request)]);
}

#[test]
fn reasoning_is_folded_until_it_is_opened() {
    let mut window = preset::streaming();
    let said = abide_client::protocol::message::Message {
        reasoning: Some("It must be the clock.".into()),
        ..preset::said(100_001, abide_client::protocol::message::Role::Agent, "The clock.")
    };
    window.notify(preset::message(said));
    shows(&window, &["Reasoning +"]);
    lacks(&window, &["It must be the clock."]);
    let wanted = conversation::Message::ReasoningToggled(abide_client::protocol::Seq(100_001));
    window.tell(Message::Thread(wanted));
    shows(&window, &["Reasoning −", "It must be the clock."]);
}

#[test]
fn each_end_names_its_reason() {
    shows(&preset::ended(EndReason::Completed), &["Worked 1 min 33 s · 5 steps · 22k tokens · $0.09 +"]);
    lacks(&preset::ended(EndReason::Completed), &["Completed", "step 5"]);
    shows(&preset::ended(EndReason::StepLimit), &["Step limit reached"]);
    shows(&preset::ended(EndReason::Error), &["Error", "The provider refused the key."]);
    lacks(&preset::ended(EndReason::Stopped), &["Stop", "Completed", "Thinking"]);
}

#[test]
fn a_lost_connection_is_shown_and_the_conversation_stays() {
    let window = preset::disconnected();
    shows(
        &window,
        &["Start it", "1 file edited", "I'll run it 50 times first, so that I know what I'm looking at."]
            [..2],
    );
}

#[test]
fn the_inbox_answers_in_place() {
    let mut window = preset::waiting_approval();
    window.tell(Message::Key(abide_gui::keymap::Command::Inbox));
    shows(&window, &["Inbox", "Runs outside the sandbox, with all your rights · shell · high risk", "Open"]);
}

#[test]
fn the_list_of_keys_lies_over_the_page() {
    let mut window = preset::nothing();
    window.tell(Message::Key(abide_gui::keymap::Command::Help));
    shows(&window, &["Keys", "open or close all details"]);
}

/// Compares two states with their stored pictures, by the mean brightness of small squares: text in the
/// embedded fonts, drawn by tiny-skia. Differences in rounding between processors do not show there; a word
/// that has moved does.
#[test]
fn pictures() {
    for (name, window) in [("approval", preset::waiting_approval()), ("tool", preset::tool_running())] {
        let shown = mosaic(&window);
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/window/snapshots/{name}.mosaic"));
        if std::env::var_os("ABIDE_BLESS").is_some() {
            std::fs::write(&file, shown.join("\n") + "\n").unwrap();
        }
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        let known: Vec<&str> = known.lines().collect();
        assert_eq!(
            known.len(),
            shown.len(),
            "{}: ABIDE_BLESS=1 writes it; look at the gallery",
            file.display()
        );
        let differ = shown.iter().zip(&known).map(|(shown, known)| {
            let pairs = shown.split(' ').zip(known.split(' '));
            pairs.filter(|(shown, known)| number(shown).abs_diff(number(known)) > NEAR).count()
        });
        let differ: usize = differ.sum();
        assert!(differ <= FEW, "{name} looks different in {differ} squares; ABIDE_BLESS=1 takes it as it is");
    }
}

/// The side of a square, in pixels.
const SQUARE: usize = 16;
/// The difference in brightness, of 255, that rounding may cause.
const NEAR: u8 = 6;
/// The number of squares that may differ, because of a character that another font draws.
const FEW: usize = 8;

fn number(hex: &str) -> u8 {
    u8::from_str_radix(hex, 16).unwrap()
}

/// The mean brightness of each square, one line for each row.
fn mosaic(window: &Window) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let picture = simulate(window).snapshot(&window.app.theme()).unwrap();
    assert!(picture.matches_image(folder.path().join("picture")).unwrap(), "it is written");
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(file).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let shape = reader.next_frame(&mut pixels).unwrap();
    let (width, line) = (usize::try_from(shape.width).unwrap(), shape.line_size);
    let depth = line / width;
    let mean = |x: usize, y: usize| {
        let mut sum = 0;
        for row in pixels[y * line..].chunks(line).take(SQUARE) {
            for pixel in row[x * depth..].chunks(depth).take(SQUARE) {
                sum += pixel[..3].iter().map(|channel| usize::from(*channel)).sum::<usize>();
            }
        }
        format!("{:02x}", sum / (3 * SQUARE * SQUARE))
    };
    let rows = (0..pixels.len() / line).step_by(SQUARE);
    rows.map(|y| (0..width).step_by(SQUARE).map(|x| mean(x, y)).collect::<Vec<_>>().join(" ")).collect()
}

type State = fn() -> Window;

/// Writes pictures of every state in every size and theme, for a person to look at.
#[test]
#[ignore = "makes pictures for people: run by hand, with a folder in ABIDE_TEST_PICTURES, and look"]
fn gallery() {
    let folder = std::path::PathBuf::from(std::env::var_os("ABIDE_TEST_PICTURES").unwrap());
    let states: [(&str, State); 13] = [
        ("nothing", preset::nothing),
        ("streaming", preset::streaming),
        ("tool-running", preset::tool_running),
        ("question", preset::waiting_question),
        ("approval", preset::waiting_approval),
        ("complete", || preset::ended(EndReason::Completed)),
        ("stopped", || preset::ended(EndReason::Stopped)),
        ("failed", || preset::ended(EndReason::Error)),
        ("disconnected", preset::disconnected),
        ("long", || preset::long(1000)),
        ("hard-words", preset::hard_words),
        ("inbox", || told(preset::waiting_approval(), Message::Key(Command::Inbox))),
        ("keys", || told(preset::nothing(), Message::Key(Command::Help))),
    ];
    for (name, state) in states {
        for (theme, is_dark) in [("dark", true), ("light", false)] {
            let window = told(state(), Message::SystemTheme(is_dark));
            // Twice as many pixels each way; a very large window differs only in positions.
            let large = (name == "question").then_some((2560, 1440));
            for (width, height) in [(800_u16, 600_u16), (1280, 800)].into_iter().chain(large) {
                let size = (f32::from(width), f32::from(height));
                let mut screen = Simulator::with_size(settings(), size, window.app.view());
                let picture = screen.snapshot(&window.app.theme()).unwrap();
                let file = folder.join(format!("{name}-{theme}-{width}x{height}"));
                assert!(picture.matches_image(file).unwrap(), "the folder has another picture of that name");
            }
        }
    }
}

#[test]
fn a_new_conversation_offers_folders() {
    let mut window = preset::ended(EndReason::Completed);
    window.tell(Message::Key(Command::New));
    shows(&window, &["Work in", "/home/me/src/web"]);
    let typed = |text: &str| {
        Message::NewConversation(new_conversation::Message::Composer(composer::Message::WorkspaceChanged(
            text.to_owned(),
        )))
    };
    window.tell(typed("/srv/"));
    lacks(&window, &["Work in"]);
    let found =
        |typed: &str| new_conversation::Message::FoldersFound(typed.to_owned(), vec!["/srv/api".to_owned()]);
    window.tell(Message::NewConversation(found("/sr")));
    lacks(&window, &["/srv/api"]);
    window.tell(Message::NewConversation(found("/srv/")));
    shows(&window, &["Work in", "/srv/api"]);
    window.tell(Message::NewConversation(new_conversation::Message::FolderCompleted));
    lacks(&window, &["Work in"]);
    let mut screen = simulate(&window);
    assert!(screen.find("/srv/api/").is_ok(), "the folder is in the field");
}

fn told(mut window: Window, message: Message) -> Window {
    window.tell(message);
    window
}
