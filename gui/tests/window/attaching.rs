//! Files that are dropped on the window become part of the prompt.

use crate::{
    person::Person,
    preset::{self, CONVERSATION, TASK},
};
use abide_client::protocol::method::task::StartTaskReply;
use abide_gui::{
    Message,
    request::{Reply, Request},
    screen::composer::attached::look_at,
};
use iced_test::core::keyboard::key::Named;
use std::path::PathBuf;

struct Desk {
    person: Person,
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let mut person = Person::before(preset::empty());
        person.control("n");
        Self { person, folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn drops(&mut self, name: &str, bytes: &[u8]) {
        let path = self.write(name, bytes);
        self.person.tell(Message::FileSeen(look_at(&path)));
    }

    fn started(&mut self) -> (Request, String) {
        match self.person.asked().pop() {
            Some(Request::StartTask(params)) => (Request::StartTask(params.clone()), params.message),
            other => unreachable!("{other:?}"),
        }
    }
}

#[test]
fn a_dropped_text_file_becomes_a_named_block_of_the_prompt() {
    let mut desk = Desk::new();
    desk.drops("notes.md", b"one\ntwo\n");
    assert!(desk.person.finds("notes.md (8 bytes)").is_some());
    desk.person.writes("Read this");
    desk.person.named(Named::Enter);
    let (request, message) = desk.started();
    assert_eq!(message, "Read this\n\nFile `notes.md`:\n```\none\ntwo\n```");
    let reply = StartTaskReply { task_id: TASK, conversation_id: CONVERSATION, beside: None };
    desk.person.tell(Message::Answered(request, Ok(Reply::StartTask(reply))));
    desk.person.control("n");
    assert!(desk.person.finds("notes.md (8 bytes)").is_none(), "the file was sent with that prompt");
}

#[test]
fn an_attached_file_can_be_removed() {
    let mut desk = Desk::new();
    desk.drops("notes.md", b"one\n");
    assert!(desk.person.finds("notes.md (4 bytes)").is_some());
    desk.person.clicks("×");
    assert!(desk.person.finds("notes.md (4 bytes)").is_none());
    desk.person.writes("Go");
    desk.person.named(Named::Enter);
    assert_eq!(desk.started().1, "Go");
}

#[test]
fn a_file_that_is_not_text_is_refused_with_a_reason() {
    let mut desk = Desk::new();
    desk.drops("photo.png", b"\x89PNG\r\n\x1a\n\0");
    assert!(desk.person.finds("photo.png (9 bytes)").is_none());
    let words = "photo.png is not text (UTF-8), and only text can be attached. Name its path in the prompt, if a tool shall read it.";
    assert!(desk.person.finds(words).is_some());
}

#[test]
fn a_dropped_folder_becomes_the_workspace() {
    let mut desk = Desk::new();
    let folder = desk.folder.path().to_string_lossy().into_owned();
    desk.person.tell(Message::FileSeen(look_at(desk.folder.path())));
    desk.person.writes("Go");
    desk.person.named(Named::Enter);
    match desk.person.asked().pop() {
        Some(Request::StartTask(params)) => assert_eq!(params.workspace, Some(folder)),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn of_several_dropped_files_each_that_is_refused_is_named() {
    let mut desk = Desk::new();
    desk.drops("one.png", b"\x89PNG");
    desk.drops("notes.md", b"one\n");
    desk.drops("two.png", b"\x89PNG");
    let said = |desk: &mut Desk| {
        let texts = desk.person.texts().join("\n");
        ["one.png", "two.png"].map(|name| texts.contains(&format!("{name} is not text")))
    };
    assert_eq!(said(&mut desk), [true, true]);
    desk.person.wait(5000);
    desk.drops("two.png", b"\x89PNG");
    assert_eq!(said(&mut desk), [false, true], "what was said of an earlier drop is over");
    desk.person.wait(5000);
    desk.drops("more.md", b"two\n");
    assert_eq!(said(&mut desk), [false, false], "this one is taken");
}
