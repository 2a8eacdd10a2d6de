use super::support::*;
use abide_protocol::{
    ConversationId, QuestionId, TaskId,
    inbox::{Pending, PendingId, Question},
    task::{AgentTask, Status},
};
use abide_store::{Addressee, Append, Lookup, PendingRef};

#[tokio::test]
async fn a_unique_part_of_an_id_is_enough() {
    let home = Home::new();
    let store = home.open();
    let text = |id: &str| ConversationId(id.parse().unwrap());
    let a = text("01234567-89ab-7cde-8f01-00000000beef");
    let b = text("01234567-89ab-7cde-8f02-0000000ffeef");
    let c = text("beef4567-89ab-7cde-8f03-000000000000");
    for (id, n) in [(a, 1), (b, 2), (c, 3)] {
        store.append(append(id, vec![record(n, None, created("x"))])).await.unwrap();
    }
    for (typed, expected) in [
        (a.to_string().as_str(), Lookup::One(a)),
        (a.short().as_str(), Lookup::One(a)),
        ("0000BEEF", Lookup::One(a)),
        ("0000-be-ef", Lookup::One(a)),
        ("  01234567-89AB-7cde-8f01 ", Lookup::One(a)),
        ("0123", Lookup::Many(vec![b, a])),
        ("eef", Lookup::Many(vec![b, a])),
        // The end of one id and the beginning of another.
        ("beef", Lookup::Many(vec![c, a])),
        ("beef4", Lookup::One(c)),
        // The beginning of what is shown of an id.
        ("000ff", Lookup::One(b)),
        ("000f", Lookup::One(b)),
        ("0000be", Lookup::One(a)),
        ("00ff", Lookup::None),
        ("7cde", Lookup::None),
        ("01234567-89ab-7cde-8f01-00000000bee0", Lookup::None),
        ("", Lookup::None),
        ("-", Lookup::None),
        ("%", Lookup::None),
        ("eef0123456789abcde0123456789abcdef0123456789", Lookup::None),
    ] {
        assert_eq!(store.find_conversation(typed).await.unwrap(), expected, "{typed}");
    }
    start(&store, a, 4, Status::Completed).await;
    assert_eq!(store.find_task(&task_id(4).short()).await.unwrap(), Lookup::One(task_id(4)));
    assert_eq!(store.find_task("f").await.unwrap(), Lookup::None);
}

#[tokio::test]
async fn an_external_id_comes_before_a_part_of_an_id_and_after_a_whole_one() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    start(&store, id, 4, Status::Completed).await;
    let (short, whole) = (task_id(4).short(), task_id(4).to_string());
    for (n, external) in [(5, short.as_str()), (6, whole.as_str()), (7, "ein Auftrag")] {
        let records = vec![record(n, Some(n), task_named(Some(external)))];
        let tasks = vec![projection(task(id, n, Status::Completed, Vec::new()))];
        store.append(Append { tasks, ..append(id, records) }).await.unwrap();
    }
    for (typed, found) in [
        (short.as_str(), Lookup::One(task_id(5))),
        (whole.as_str(), Lookup::One(task_id(4))),
        (" ein Auftrag ", Lookup::One(task_id(7))),
        ("ein Auftr", Lookup::None),
        (&short[1..], Lookup::One(task_id(4))),
    ] {
        assert_eq!(store.find_task(typed).await.unwrap(), found, "{typed}");
    }
}

#[tokio::test]
async fn a_root_task_is_found_by_its_age() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    assert_eq!(store.find_task("last").await.unwrap(), Lookup::None);
    for n in [4, 5] {
        start(&store, id, n, Status::Completed).await;
    }
    let beneath = AgentTask { parent_id: Some(task_id(5)), ..task(id, 6, Status::Running, Vec::new()) };
    let records = vec![record(6, Some(6), started_beneath(5))];
    store.append(Append { tasks: vec![projection(beneath)], ..append(id, records) }).await.unwrap();
    for (typed, found) in [
        ("last", Lookup::One(task_id(5))),
        ("@1", Lookup::One(task_id(5))),
        (" @2 ", Lookup::One(task_id(4))),
        ("@3", Lookup::None),
        ("@0", Lookup::None),
        ("@", Lookup::None),
        ("@-1", Lookup::None),
        ("@99999999999999999999", Lookup::None),
    ] {
        assert_eq!(store.find_task(typed).await.unwrap(), found, "{typed}");
    }
    assert_eq!(store.find_addressee("@2").await.unwrap(), Lookup::One(Addressee::Task(task_id(4))));
}

#[tokio::test]
async fn open_items_come_before_closed_ones() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let ask = |head: u64| {
        let mut asked = question(1, None);
        asked.id = QuestionId(uuid(head, 0xabcd));
        asked
    };
    let wait = async |n, asked: Vec<_>| {
        let pending = asked.into_iter().map(Pending::Question).collect();
        let tasks = vec![projection(task(id, 2, Status::WaitingUser, pending))];
        store.append(Append { tasks, ..append(id, vec![record(n, Some(2), notice("x"))]) }).await.unwrap();
    };
    let found = |head, open| PendingRef {
        id: PendingId::Question(ask(head).id),
        task_id: task_id(2),
        conversation_id: id,
        open,
    };
    let item = |head, open| Addressee::Item(found(head, open));
    wait(2, vec![ask(1), ask(2)]).await;
    let both = |open| Lookup::Many(vec![item(2, open), item(1, open)]);
    assert_eq!(store.find_addressee("abcd").await.unwrap(), both(true));
    wait(3, vec![ask(2)]).await;
    assert_eq!(store.find_addressee("abcd").await.unwrap(), Lookup::One(item(2, true)));
    wait(4, vec![]).await;
    assert_eq!(store.find_addressee("abcd").await.unwrap(), both(false));
    assert_eq!(store.find_addressee("abc").await.unwrap(), Lookup::None);
    // What is shown of it, but not whole: it may be meant as a task.
    let shown = ask(1).id.short();
    assert_eq!(store.find_addressee(&shown[..6]).await.unwrap(), Lookup::None);
    assert_eq!(store.find_addressee(&shown).await.unwrap(), both(false));
    let whole = ask(1).id.to_string();
    assert_eq!(store.find_addressee(&whole).await.unwrap(), Lookup::One(item(1, false)));
}

#[tokio::test]
async fn an_item_that_fits_is_not_taken_for_a_task_that_fits_too() {
    let home = Home::new();
    let store = home.open();
    let id = begin(&store, 1, 1).await;
    let task_of_item = projection(task(id, 2, Status::WaitingUser, Vec::new()));
    let ask = |n| Question { id: QuestionId(task_id(n).0), ..question(1, None) };
    let mut wait = task_of_item.clone();
    wait.task.pending = vec![Pending::Question(ask(4))];
    let records = vec![record(2, Some(2), notice("x"))];
    store.append(Append { tasks: vec![wait], ..append(id, records) }).await.unwrap();
    let item = |open| {
        let id_of = PendingId::Question(ask(4).id);
        Addressee::Item(PendingRef { id: id_of, task_id: task_id(2), conversation_id: id, open })
    };
    let part = &task_id(4).to_string()[20..];
    assert_eq!(store.find_addressee(part).await.unwrap(), Lookup::One(item(true)));

    // Its own task is the same.
    let digits = task_id(2).to_string();
    let both_begin = &digits[..18];
    assert!(task_id(4).to_string().starts_with(both_begin));
    let own = store.find_addressee(both_begin).await.unwrap();
    assert_eq!(own, Lookup::One(Addressee::Task(task_id(2))));

    // A task whose id ends alike.
    let other = task_id(4).to_string().replacen(|c: char| c.is_ascii_hexdigit(), "f", 1);
    let other = TaskId(other.parse().unwrap());
    let mut ended = projection(task(id, 3, Status::Completed, Vec::new()));
    ended.task.id = other;
    let records = vec![record(3, Some(3), notice("x"))];
    store.append(Append { tasks: vec![ended], ..append(id, records) }).await.unwrap();
    let both = Lookup::Many(vec![item(true), Addressee::Task(other)]);
    assert_eq!(store.find_addressee(part).await.unwrap(), both);

    // Also while the item is closed: a late answer decides nothing in the other task.
    let records = vec![record(4, Some(2), notice("x"))];
    store.append(Append { tasks: vec![task_of_item], ..append(id, records) }).await.unwrap();
    let both = Lookup::Many(vec![item(false), Addressee::Task(other)]);
    assert_eq!(store.find_addressee(part).await.unwrap(), both);

    // An external id comes before any part of an id.
    let records = vec![record(5, Some(5), task_named(Some(part)))];
    let named = vec![projection(task(id, 5, Status::Completed, Vec::new()))];
    store.append(Append { tasks: named, ..append(id, records) }).await.unwrap();
    assert_eq!(store.find_addressee(part).await.unwrap(), Lookup::One(Addressee::Task(task_id(5))));
}
