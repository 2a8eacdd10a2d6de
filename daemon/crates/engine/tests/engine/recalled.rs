//! What a task is given of other conversations.

use crate::world::{World, facts, head};
use abide_engine::{Command, Start, recalled, recalls};
use abide_protocol::{
    ConversationId, Seq, TaskId, Timestamp,
    memory::{RecallWay, Snippet, Source},
    record::{Imported, ImportedText, Recalled},
    task::Mode,
    transcript::Entry,
};
use uuid::Uuid;

fn snippet(text: &str) -> Snippet {
    Snippet {
        conversation_id: ConversationId(Uuid::from_u128(9)),
        title: "Ports".to_owned(),
        seq: Seq(7),
        at: Timestamp(0),
        source: Source::User,
        before: String::new(),
        text: text.to_owned(),
        why: Vec::new(),
    }
}

fn found(texts: &[&str]) -> Option<Recalled> {
    recalled(RecallWay::Words, texts.iter().map(|text| snippet(text)).collect(), None)
}

fn start(w: &mut World, n: u128, imported: Vec<Imported>, recalled: Option<Recalled>) {
    let task = TaskId(Uuid::from_u128(n));
    w.id = task;
    let start = Start { task, conversation: Some(facts()), head: head(), imported, recalled, setup: None };
    w.input(Command::Start(Box::new(start)));
}

fn notes(w: &World) -> Vec<String> {
    let note = |entry: &Entry| match entry {
        Entry::Note(text) => Some(text.clone()),
        _ => None,
    };
    w.task().entries().iter().filter_map(note).collect()
}

#[test]
fn what_is_recalled_comes_right_before_the_prompt_and_stays_as_it_was() {
    let mut w = World::new(1);
    let imported = vec![Imported::User(ImportedText { text: "What is it?".to_owned() })];
    start(&mut w, 1, imported, found(&["Use port 8080."]));
    assert_eq!(w.transcript(), ["note", "user", "note", "user"]);
    let recalled = notes(&w).pop().unwrap();
    assert!(recalled.contains("Use port 8080.") && recalled.starts_with("<recalled>"), "{recalled}");
    assert_eq!(w.replayed(), w.history);

    let before = w.task().entries().to_vec();
    w.input(Command::Stop { task: w.id });
    start(&mut w, 2, Vec::new(), found(&["Use port 9090."]));
    assert_eq!(w.task().entries()[..before.len()], before, "the prefix is as it was");
    assert!(notes(&w).pop().unwrap().contains("9090"));
    assert_eq!(w.replayed(), w.history);
}

#[test]
fn what_was_forgotten_since_is_left_out() {
    let mut w = World::new(1);
    let mut blanked = found(&["Use port 8080.", "Use no port."]);
    blanked.iter_mut().for_each(|recalled| recalled.snippets[0].blank());
    start(&mut w, 1, Vec::new(), blanked.clone());
    let note = notes(&w).pop().unwrap();
    assert!(note.contains("[1]") && !note.contains("[2]") && !note.contains("8080"), "{note}");

    let mut w = World::new(1);
    blanked.iter_mut().for_each(|recalled| recalled.snippets.iter_mut().for_each(Snippet::blank));
    start(&mut w, 1, Vec::new(), blanked);
    assert_eq!(w.transcript(), ["user"]);
}

#[test]
fn as_much_as_fits_is_recalled_the_best_first() {
    let (long, short) = ("long words ".repeat(180), "short words");
    let kept = found(&[&long, &long, &long, short]).unwrap();
    let texts: Vec<&str> = kept.snippets.iter().map(|snippet| snippet.text.as_str()).collect();
    assert_eq!(texts, [&long, &long, short]);
    let mut w = World::new(1);
    start(&mut w, 1, Vec::new(), Some(kept));
    let note = notes(&w).pop().unwrap();
    assert!((4_000..=4_800).contains(&note.len()), "{}", note.len());

    assert_eq!(found(&[]), None);
    let failed = recalled(RecallWay::Words, Vec::new(), Some("the disk is slow".to_owned())).unwrap();
    assert_eq!(failed.words(), "recalled nothing: the disk is slow");
}

#[test]
fn the_modes_of_one_run_recall_at_the_start() {
    let at_the_start: Vec<Mode> = Mode::ALL.iter().copied().filter(|mode| recalls(*mode)).collect();
    for mode in [Mode::Chat, Mode::Agent, Mode::Auto, Mode::Tree] {
        assert!(at_the_start.contains(&mode), "{mode:?}");
    }
    assert_eq!(at_the_start.len(), 4);
}
