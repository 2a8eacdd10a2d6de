//! Starting again: *Go on* and *Try again* after an end, and branches from a prompt.

use crate::{
    beginning::models,
    person::Person,
    preset::{self, CONVERSATION, NOW},
    replies::is_done,
};
use abide_client::{
    Update,
    protocol::{
        TaskId, Timestamp,
        inbox::{Pending, Question},
        memory::MemoryUse,
        message::{Message as Said, MessageKind, Role},
        method::{
            daemon::ListModelsReply,
            task::{StartTaskParams, StartTaskReply},
        },
        notification::Snapshot,
        task::{AgentTask, EndReason, Mode, Status, Work},
    },
};
use abide_gui::{
    Message,
    app::Page,
    request::{self, Reply, Request},
};
use iced_test::core::keyboard::key::Named;

fn ended(reason: EndReason) -> Person {
    let (overview, mut conversation) = preset::waits(reason.status(), &[], preset::history());
    for task in &mut conversation.tasks {
        (task.end_reason, task.ended_at) = (Some(reason), Some(NOW));
    }
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person.asked();
    person
}

#[test]
fn after_a_stop_or_an_error_a_new_task_goes_on() {
    for (reason, label, prompt) in [
        (EndReason::Error, "Try again", "Try again."),
        (EndReason::Stopped, "Go on", "Go on."),
        (EndReason::StepLimit, "Go on", "Go on."),
    ] {
        for by_key in [true, false] {
            let mut person = ended(reason);
            if by_key {
                person.control("r");
            } else {
                person.clicks(label);
            }
            let asked = person.asked();
            let [Request::StartTask(params)] = &asked[..] else { panic!("{reason:?}: {asked:?}") };
            assert_eq!((params.conversation_id, &*params.message), (Some(CONVERSATION), prompt));
            assert_eq!(params.mode, Some(Mode::Agent), "that of the task");
            person.control("r");
            assert_eq!(person.asked(), [], "a request is under way already");
        }
    }
    let mut person = ended(EndReason::Stopped);
    person.control_shift("S");
    person.writes("mode plan");
    person.named(Named::Enter);
    person.wait(1000);
    let picked = person.app.conversation().unwrap().composer.chosen().mode;
    assert!(picked.is_some_and(|mode| mode != Mode::Agent), "{picked:?}");
    person.control("r");
    let asked = person.asked();
    let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(params.mode, picked, "a picked mode counts more");
    let mut person = ended(EndReason::Completed);
    person.control("r");
    assert_eq!(person.asked(), []);
    assert!(person.finds("Go on").is_none());
}

/// Two quick presses of the key are one, also if the task that the first one starts fails at once.
#[test]
fn a_task_that_fails_at_once_is_not_tried_again_by_the_same_hand() {
    let mut person = ended(EndReason::Error);
    person.control("r");
    let asked = person.asked();
    let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
    let id = TaskId(preset::id(777));
    let started = StartTaskReply { task_id: id, conversation_id: CONVERSATION, beside: None };
    person.tell(Message::Answered(Request::StartTask(params.clone()), Ok(Reply::StartTask(started))));
    let (_, mut conversation) = preset::waits(Status::Error, &[], preset::history());
    let first = conversation.tasks[0].clone();
    let ended =
        |id| AgentTask { id, end_reason: Some(EndReason::Error), ended_at: Some(NOW), ..first.clone() };
    conversation.tasks = vec![ended(first.id), ended(id)];
    conversation.messages.push(Said { task_id: Some(id), ..preset::said(95, Role::User, "Try again.") });
    person.conversation(conversation);
    assert!(person.finds("Try again").is_some());
    person.control("r");
    assert_eq!(person.asked(), [], "within a moment");
    person.wait(1000);
    person.control("r");
    assert_eq!(person.asked().len(), 1);
}

/// The head of the page and the task's last line write the same time alike.
#[test]
fn the_time_that_a_task_took_is_written_alike() {
    let (overview, mut conversation) = preset::waits(Status::Completed, &[], preset::history());
    let task = &mut conversation.tasks[0];
    task.end_reason = Some(EndReason::Completed);
    task.ended_at = Some(Timestamp(task.started_at.0 + 312));
    task.work = Work { ms: 312, since: None };
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.open(CONVERSATION, conversation);
    let texts = person.texts();
    assert!(texts.contains(&"312 ms".to_owned()), "{texts:?}");
    assert!(!texts.contains(&"1 s".to_owned()), "{texts:?}");
}

#[test]
fn a_stopped_task_has_one_line_and_one_go_on_button() {
    let mut history = preset::history();
    history.messages.push(Said { kind: MessageKind::Partial, ..preset::said(91, Role::Agent, "And th") });
    history
        .messages
        .push(Said { kind: MessageKind::Notice, ..preset::said(92, Role::System, "Stopped by you.") });
    let (overview, conversation) = preset::waits(Status::Thinking, &[], history);
    let mut person = Person::before(overview.clone());
    person.open(CONVERSATION, conversation.clone());
    let ended = |mut tasks: Vec<AgentTask>| {
        for task in &mut tasks {
            (task.status, task.end_reason, task.ended_at) =
                (Status::Cancelled, Some(EndReason::Stopped), Some(NOW));
        }
        tasks
    };
    let update = |snapshot| vec![Update::Snapshot(Box::new(snapshot))];
    person.tell(Message::Overview(update(Snapshot { tasks: Vec::new(), ..overview })));
    let conversation = Snapshot { tasks: ended(conversation.tasks.clone()), ..conversation };
    person.tell(Message::Conversation(CONVERSATION, update(conversation)));
    person.tell(is_done(Request::StopTask(preset::TASK.into())));
    person.wait(1000);
    let said: Vec<_> =
        person.texts().into_iter().filter(|text| text.to_lowercase().contains("stop")).collect();
    assert_eq!(said, ["Cancelled: stopped"]);
    assert_eq!(person.finds_all("Go on").len(), 1);
    assert!(person.app.conversation().unwrap().as_text().matches("topped").count() == 1);
}

#[test]
fn an_answer_cannot_be_edited_as_a_prompt() {
    let kind = MessageKind::Answer;
    let answer = Said { kind, ..preset::said(90, Role::User, "16–19 March") };
    let mut history = preset::history();
    history.messages.push(answer);
    let (overview, conversation) = preset::waits(Status::Completed, &[], history);
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.open(CONVERSATION, conversation);
    let buttons = person.finds_all("Edit and send again").len();
    assert_eq!(buttons, 1, "only the prompt has the button");
    person.control_shift("E");
    assert!(person.finds("16–19 March").is_some(), "the prompt is edited, not the answer");
    person.wait(1000);
    person.asked();
    person.named(Named::Enter);
    assert!(matches!(&person.asked()[..], [Request::StartTask(_)]));
}

#[test]
fn the_edit_button_is_beside_its_prompt() {
    let long = "A long prompt that takes all of the room that it can get in a narrow window. ".repeat(4);
    for said in ["A short one.", long.trim()] {
        let messages = vec![preset::said(1, Role::User, said)];
        let (overview, conversation) =
            preset::waits(Status::Completed, &[], Snapshot { messages, ..preset::empty() });
        let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
        person.open(CONVERSATION, conversation);
        for width in [500.0, 640.0, 1280.0] {
            person.resizes(width, 600.0);
            let (button, words) = (person.finds("Edit and send again").unwrap(), person.finds(said).unwrap());
            let between = words.x - (button.x + button.width);
            assert!((0.0..40.0).contains(&between), "{width}: {button:?} {words:?}");
        }
    }
}

/// The models to choose from.
fn listed() -> ListModelsReply {
    let mut listed = models();
    listed.providers[0].models = vec![preset::task(Status::Completed).model, "local/other".to_owned()];
    listed
}

/// A conversation with two prompts and their replies.
fn twice() -> Person {
    let messages = vec![
        preset::said(1, Role::User, "Which is the largest?"),
        preset::said(2, Role::Agent, "The third one."),
        preset::said(98, Role::User, "And the smallest?"),
        preset::said(99, Role::Agent, "The first one."),
    ];
    let (overview, mut conversation) =
        preset::waits(Status::Completed, &[], Snapshot { messages, ..preset::empty() });
    conversation.conversations.iter_mut().for_each(|known| known.memory = MemoryUse::Private);
    let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
    person.tell(Message::Answered(request::models(), Ok(Reply::ListModels(listed()))));
    person.open(CONVERSATION, conversation);
    person.wait(1000);
    person
}

/// What a branch is told of the conversation.
fn history(params: &StartTaskParams) -> Vec<(&'static str, &str)> {
    params.messages.iter().map(|said| (said.role.name(), &*said.text)).collect()
}

#[test]
fn a_prompt_is_edited_in_its_place_and_begins_a_branch_that_knows_what_came_before() {
    for (prompt, typed, sent, before) in [
        ("And the smallest?", " Please.", "And the smallest? Please.", 2),
        ("Which is the largest?", " Quick.", "Which is the largest? Quick.", 0),
    ] {
        let mut person = twice();
        let line = person.finds(prompt).unwrap();
        let buttons = person.finds_all("Edit and send again");
        let beside = buttons.iter().min_by_key(|button| (button.center_y() - line.center_y()).abs() as u32);
        person.clicks_at(beside.unwrap().center());
        assert_eq!(person.app.page(), Page::Conversation, "it stays in its place");
        assert!(person.finds("Cancel").is_some());
        person.writes(typed);
        person.wait(1000);
        person.asked();
        person.named(Named::Enter);
        let asked = person.asked();
        let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!((&*params.message, params.conversation_id), (sent, None));
        assert_eq!(params.workspace.as_deref(), Some("/home/me/src/web"));
        let all = [("user", "Which is the largest?"), ("assistant", "The third one.")];
        assert_eq!(history(params), all[..before]);
        assert_eq!(params.memory, Some(MemoryUse::Private), "as private as what it tells");
        person.named(Named::Enter);
        assert_eq!(person.asked(), [], "it is under way");
    }
}

#[test]
fn an_edit_is_cancelled_by_its_button_and_by_escape() {
    for by_key in [false, true] {
        let mut person = twice();
        person.control_shift("E");
        person.writes(" No.");
        if by_key {
            person.named(Named::Escape);
            person.named(Named::Escape);
        } else {
            person.clicks("Cancel");
        }
        assert!(person.finds("Cancel").is_none() && person.finds("And the smallest?").is_some());
        assert_eq!(person.asked(), []);
    }
}

#[test]
fn the_last_prompt_goes_to_another_model_with_what_came_before() {
    let mut person = twice();
    person.clicks("Retry with another model");
    person.clicks("local/other");
    let asked = person.asked();
    let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&*params.message, params.model.as_deref()), ("Which is the largest?", Some("local/other")));
}

#[test]
fn a_prompt_that_only_tried_again_is_not_the_one_that_is_edited() {
    for again in ["Try again.", "Go on."] {
        let mut history = preset::history();
        history.messages.push(preset::said(98, Role::User, again));
        let (overview, conversation) = preset::waits(Status::Completed, &[], history);
        let mut person = Person::before(Snapshot { tasks: Vec::new(), ..overview });
        person.open(CONVERSATION, conversation);
        person.wait(1000);
        person.control_shift("E");
        person.asked();
        person.named(Named::Enter);
        let asked = person.asked();
        let [Request::StartTask(params)] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!(params.message, "login_test fails one time in ten on CI. Find out why and mend it.");
    }
}

#[test]
fn questions_and_images_are_drawn_without_markdown_marks() {
    let question = Question { text: "Which **week**, see https://a.org?".into(), ..preset::question() };
    let said = preset::said(10, Role::Agent, "Look:\n\n![a cat](https://b.org/cat.png)");
    let history = Snapshot { messages: vec![said], ..preset::empty() };
    let mut person = Person::opened(Status::WaitingUser, &[Pending::Question(question)], history);
    assert!(person.finds("Which week, see https://a.org?").is_some());
    assert!(person.finds("image: a cat").is_some());
}
