//! Disks that are full, and disks that fail. Each test runs in a process of its own, under limits that apply
//! to it alone.

use super::support::*;
use abide_protocol::{RecordId, Seq, Timestamp, record::RecordBody};
use abide_skip::skip;
use abide_store::{Append, AppendError, Feed, Integrity, Options, Store, WriteError};
use std::{fs, future::Future, path::Path, pin::pin, time::Duration};

/// The disk's path, for the test in the child process.
const DISK: &str = "ABIDE_TEST_DISK";
const MIB: usize = 1024 * 1024;
/// A timeout much longer than any of these tests takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// A wrapper that gives the child a file system of its own.
const NAMESPACE: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];

/// A wrapper that kills the child after the timeout.
#[expect(clippy::disallowed_methods, reason = "the limits are those of a process")]
fn command(words: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("timeout");
    command.args(["--kill-after=5", &(2 * PATIENCE.as_secs()).to_string()]).args(words);
    command
}

/// Runs one of the ignored tests below in a child process, after the shell command `prepare`.
fn elsewhere(wrapper: &[&str], prepare: &str, test: &str, disk: &Path) {
    let script = format!("{prepare} && exec \"$@\"");
    let exe = std::env::current_exe().unwrap();
    let words =
        [wrapper, &["sh", "-c", &script, "sh", exe.to_str().unwrap(), "--ignored", "--exact", test]].concat();
    let output = command(&words).env(DISK, disk).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs the test with a disk of 16 MiB.
fn on_a_small_disk(test: &str) {
    if !command(&[NAMESPACE, &["true"]].concat()).status().is_ok_and(|status| status.success()) {
        skip(test, "this machine has no user namespaces to mount a small disk in");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    elsewhere(NAMESPACE, &format!("mount -t tmpfs -o size=16m none \"${DISK}\""), test, folder.path());
}

fn open(disk: &Path, reserve: usize) -> Store {
    let options = Options { reserve_bytes: reserve as u64, ..options(&disk.join("abide.db")) };
    Store::open(options, Box::new(|_| {})).unwrap()
}

fn big(n: u64) -> Append {
    append(conversation(1), vec![record(n, None, notice(&"x".repeat(MIB / 4)))])
}

fn stop(n: u64) -> Append {
    Append { urgent: true, ..append(conversation(1), vec![record(n, None, notice("stopped"))]) }
}

/// Appends until the disk is full; returns the number of the append that waits.
async fn fill(store: &Store) -> u64 {
    let mut state = store.state();
    begin(store, 1, 1).await;
    let mut n = 100;
    loop {
        tokio::select! {
            biased;
            appended = store.append(big(n)) => { appended.unwrap(); }
            full = state.wait_for(|state| state.full) => { full.unwrap(); return n }
        }
        n += 1;
    }
}

/// Polls both futures until the first is ready; the second must not be ready before.
async fn before<A: Future, B: Future>(first: A, second: B) -> A::Output {
    tokio::select! {
        biased;
        done = first => done,
        _ = second => panic!("what should wait is done"),
        () = tokio::time::sleep(PATIENCE) => panic!("what should not wait does"),
    }
}

#[test]
fn on_a_full_disk_only_urgent_work_is_committed() {
    on_a_small_disk("failing_disk::waits_inside");
}

#[tokio::test]
#[ignore = "run on a small disk by the test above"]
async fn waits_inside() {
    let disk = std::env::var_os(DISK).unwrap();
    let disk = Path::new(&disk);
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![1; 3 * MIB]).unwrap();
    let store = open(disk, 4 * MIB);
    let reserve = disk.join("abide.db-reserve");
    assert!(reserve.exists());
    let withdrawn = fill(&store).await;
    let stored = store.records_after(Feed::All, Seq(0), 1000).await.unwrap().len();

    // The append that filled the disk was withdrawn with its future; this one stays.
    let mut held = pin!(store.append(big(500)));
    let stopped = before(store.append(stop(600)), &mut held).await.unwrap();
    assert!(!reserve.exists());
    assert!(matches!(store.mark_read(conversation(1), Seq(3)).await, Err(WriteError::Full(_))));
    let vectors = store.keep_vectors("an embedder", Vec::new()).await;
    assert!(matches!(vectors, Err(WriteError::Full(_))), "{vectors:?}");
    let refused = |new| before(store.append(new), std::future::pending::<()>());
    let started = refused(append(conversation(1), vec![record(601, Some(9), task_started(None))])).await;
    let Err(AppendError::Full(room)) = started else { panic!("a start does not wait: {started:?}") };
    assert_eq!((room.folder.as_path(), room.needed), (disk, 4 * MIB as u64));
    let made = refused(append(conversation(2), vec![record(602, None, created("new"))])).await;
    assert!(matches!(made, Err(AppendError::Full(_))), "{made:?}");
    let messages = before(store.messages(conversation(1), None, 1), &mut held).await.unwrap();
    assert_eq!(messages.messages[0].text, "stopped");
    assert!(store.state().borrow().full);

    let mut watched = store.state();
    watched.mark_unchanged();
    fs::remove_file(&ballast).unwrap();
    let held = held.await.unwrap();
    assert!(watched.has_changed().unwrap(), "whoever waits for room is woken");
    assert!(!store.state().borrow().full);
    assert!(reserve.exists());
    assert!(held.records[0].seq > stopped.records[0].seq);
    let records = store.records_after(Feed::All, Seq(0), 1000).await.unwrap();
    assert_eq!(records.len(), stored + 2);
    assert!(records.iter().all(|record| record.id != RecordId(uuid(0x4e, withdrawn))));
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
}

/// What does not fit into the cache of 8 MiB is written before the commit.
#[test]
fn an_append_that_is_larger_than_the_cache_waits_for_room_too() {
    on_a_small_disk("failing_disk::large_inside");
}

#[tokio::test]
#[ignore = "run on a small disk by the test above"]
async fn large_inside() {
    let disk = std::env::var_os(DISK).unwrap();
    let disk = Path::new(&disk);
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![1; 14 * MIB]).unwrap();
    let store = open(disk, 0);
    begin(&store, 1, 1).await;
    let records = (100..148).map(|n| record(n, None, notice(&"x".repeat(MIB / 4)))).collect();
    let mut state = store.state();
    let mut large = pin!(store.append(append(conversation(1), records)));
    before(state.wait_for(|state| state.full), &mut large).await.unwrap();
    fs::remove_file(&ballast).unwrap();
    assert_eq!(large.await.unwrap().records.len(), 48);
    assert!(!store.state().borrow().full);
}

#[test]
fn a_disk_without_room_for_the_reserve_counts_as_full() {
    on_a_small_disk("failing_disk::no_reserve_inside");
}

#[tokio::test]
#[ignore = "run on a small disk by the test above"]
async fn no_reserve_inside() {
    let disk = std::env::var_os(DISK).unwrap();
    let disk = Path::new(&disk);
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![1; 13 * MIB]).unwrap();
    let store = open(disk, 4 * MIB);
    assert!(store.state().borrow().full);
    let early = before(store.append(stop(600)), std::future::pending::<()>()).await;
    assert_eq!(early.unwrap_err(), AppendError::ConversationGone(conversation(1)), "urgent work is tried");
    fs::remove_file(&ballast).unwrap();
    store.state().wait_for(|state| !state.full).await.unwrap();
    begin(&store, 1, 1).await;
    assert_eq!((disk.join("abide.db-reserve").exists(), store.state().borrow().full), (true, false));
    store.append(stop(601)).await.unwrap();
}

#[test]
fn an_append_that_still_waits_at_the_end_is_not_stored() {
    on_a_small_disk("failing_disk::restart_inside");
}

#[tokio::test]
#[ignore = "run on a small disk by the test above"]
async fn restart_inside() {
    let disk = std::env::var_os(DISK).unwrap();
    let disk = Path::new(&disk);
    let store = open(disk, 8 * MIB);
    fill(&store).await;
    let mut held = pin!(store.append(big(500)));
    before(store.append(stop(600)), &mut held).await.unwrap();
    let (held, ()) = tokio::join!(held, store.clone().close());
    assert_eq!(held, Err(AppendError::Closed));

    // On the full disk the store opens, reads and commits urgent work; a deletion makes room for the rest.
    let store = open(disk, 8 * MIB);
    let records = store.conversation_records(conversation(1)).await.unwrap();
    assert_eq!(records.last().unwrap().body, notice("stopped"));
    store.append(stop(601)).await.unwrap();
    store.delete_conversation(conversation(1), Timestamp(1), RecordId(uuid(1, 1))).await.unwrap();
    store.state().wait_for(|state| !state.full).await.unwrap();
    begin(&store, 2, 2).await;
    let kept = store.records_after(Feed::All, Seq(0), 1000).await.unwrap();
    assert!(matches!(kept[0].body, RecordBody::ConversationDeleted(_)), "{kept:?}");
    assert_eq!(kept.len(), 2);
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
}

#[tokio::test]
async fn a_failing_disk_ends_all_writes_and_loses_no_acknowledged_append() {
    let home = Home::new();
    home.open().close().await;
    let folder = home.path().parent().unwrap().to_owned();
    // A write beyond the file size limit fails with an error other than a full disk, as on a broken disk.
    elsewhere(&[], "trap '' XFSZ && ulimit -f 1024", "failing_disk::fails_inside", &folder);
    let answered: usize = fs::read_to_string(folder.join("answered")).unwrap().parse().unwrap();
    let store = home.open();
    let records = store.conversation_records(conversation(1)).await.unwrap();
    // An append without a reply may be stored all the same.
    assert!(
        (answered..=answered + 1).contains(&records.len()),
        "{answered} were answered, {} are there",
        records.len()
    );
    assert_eq!(store.check().await.unwrap(), Integrity::Sound);
}

#[tokio::test]
#[ignore = "run in a process of its own by the test above"]
async fn fails_inside() {
    let folder = std::env::var_os(DISK).unwrap();
    let folder = Path::new(&folder);
    let store = open(folder, 0);
    begin(&store, 1, 1).await;
    let mut answered = 1;
    let reason = loop {
        match store
            .append(append(conversation(1), vec![record(answered + 1, None, notice(&"x".repeat(10_000)))]))
            .await
        {
            Ok(_) => answered += 1,
            Err(AppendError::Failed { reason }) => break reason,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(answered > 10, "{reason}");
    assert!(!store.state().borrow().full);
    assert_eq!(store.append(stop(600)).await, Err(AppendError::Failed { reason: reason.clone() }));
    assert_eq!(store.mark_read(conversation(1), Seq(1)).await, Err(WriteError::Failed { reason }));
    assert_eq!(
        store.messages(conversation(1), None, 1000).await.unwrap().messages.len() as u64,
        answered - 1
    );
    fs::write(folder.join("answered"), answered.to_string()).unwrap();
    store.close().await;
}
