//! Borders are at whole pixels. The software renderer spreads one at a fraction of a pixel over two pixels,
//! at half strength.

use crate::{drawn, person::Person, preset, sub_tasks::three_at_work};
use abide_client::protocol::{inbox::Pending, message::Role, task::Status};
use iced_test::core::Rectangle;

/// Of any remainder when they are halved or divided.
const WINDOWS: [(f32, f32); 5] =
    [(1280.0, 800.0), (1281.0, 801.0), (997.0, 613.0), (640.0, 420.0), (533.0, 401.0)];

fn page(status: Status, pending: &[Pending]) -> Person {
    let mut history = preset::history();
    history.messages.push(preset::said(
        9,
        Role::Agent,
        "Some `code`, then:\n\n```rust\nlet a = 1;\n```\n\n> quoted",
    ));
    Person::opened(status, pending, history)
}

fn pressed(mut person: Person, key: &str) -> Person {
    person.control(key);
    person
}

type Page = fn() -> Person;

const PAGES: [(&str, Page); 9] = [
    ("a task at work", || page(Status::Thinking, &[])),
    ("a task that has ended", || page(Status::Completed, &[])),
    ("an approval", || page(Status::WaitingApproval, &[preset::approval()])),
    ("a question", || page(Status::WaitingUser, &[Pending::Question(preset::question())])),
    ("the inbox", || pressed(page(Status::WaitingApproval, &[preset::approval()]), "i")),
    ("a new conversation", || pressed(page(Status::Thinking, &[]), "n")),
    ("the settings", || pressed(page(Status::Thinking, &[]), ",")),
    ("a search", || pressed(page(Status::Thinking, &[]), "k")),
    ("the palette", || {
        let mut person = page(Status::Thinking, &[]);
        person.control_shift("P");
        person
    }),
];

#[test]
fn every_border_is_at_a_whole_pixel() {
    let mut blurred = Vec::new();
    let pages = PAGES.into_iter().chain([("sub-tasks", three_at_work as Page)]);
    for (name, page) in pages {
        for (width, height) in WINDOWS {
            let mut person = page();
            person.resizes(width, height);
            // By a part of a pixel, as a touchpad scrolls.
            for turn in [0.0, 0.013, -0.37] {
                person.wheels(turn);
                let found = drawn::with_border(&mut person);
                assert!(!found.is_empty(), "{name}: there is something with a border");
                let edges = |at: &Rectangle| [at.x, at.y, at.x + at.width, at.y + at.height];
                let found = found.into_iter().filter(|at| edges(at).iter().any(|edge| edge.fract() != 0.0));
                blurred.extend(found.map(|at| format!("{name}, {width} by {height}: {at:?}")));
            }
        }
    }
    assert!(blurred.is_empty(), "{} of them: {:#?}", blurred.len(), &blurred[..blurred.len().min(20)]);
}
