//! A home that an older version left in the middle of its work, after kill -9: everything in it is taken
//! over.

use abide_client::protocol::{
    ConversationId, TaskId,
    inbox::{Decision, Pending, QuestionKind},
    method::task::{StartTaskParams, StartTaskReply},
    task::{Approvals, Status},
};
use abide_tests::{
    daemon::{Config, TestDaemon},
    ledger,
    model_server::{Gate, ModelServer, Script, Turn},
    witness::Witness,
    world::World,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The workspace of the fixture's tasks; the test replaces it by its own folder.
const ELSEWHERE: &str = "/abide-fixture-workspace";

/// The columns of the database that contain the workspace's path.
const PLACES: [(&str, &str); 4] =
    [("records", "body"), ("conversations", "workspace"), ("tasks", "brief"), ("inbox", "item")];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/unfinished-0.1.0.db")
}

/// What each task was doing when its daemon died.
const KINDS: [&str; 6] = ["question", "approval", "model", "command", "approved", "paused"];

/// The same scripts in the fixture and now, except that the gates are open now.
fn script(kind: &str, witness: &Witness, gate: &Gate) -> Script {
    let hangs =
        |mark: &str| format!("{} && echo 'output of {mark}' && exec sleep 600", witness.command(mark));
    Script::from(match kind {
        "question" => vec![Turn::ask("Red or blue?"), Turn::done("Painted.")],
        "approval" => vec![Turn::new().call("create_dir", json!({ "path": "made" })), Turn::done("Made.")],
        "model" => vec![Turn::say("Half").gate(gate).text(" and half."), Turn::done("Said.")],
        "command" => vec![Turn::shell(&hangs("command")), Turn::done("Looked.")],
        "approved" => vec![Turn::shell(&hangs("approved")), Turn::done("Looked.")],
        _ => vec![Turn::new().call("list", json!({})).gate(gate), Turn::done("Listed.")],
    })
}

#[tokio::test]
async fn every_unfinished_task_of_0_1_0_is_taken_over() {
    let model = ModelServer::start().await;
    let daemon = TestDaemon::new(&Config::with(&model));
    let data = daemon.home().data_dir;
    std::fs::create_dir_all(&data).unwrap();
    std::fs::copy(fixture(), daemon.home().database()).unwrap();
    for folder in [daemon.abide_home(), data] {
        std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    // It is the same history at another path.
    let here = daemon.workspace().display().to_string();
    let database = rusqlite::Connection::open(daemon.home().database()).unwrap();
    for (table, column) in PLACES {
        let sql = format!("UPDATE {table} SET {column} = replace({column}, ?1, ?2)");
        database.execute(&sql, [ELSEWHERE, &here]).unwrap();
    }
    let mut query = database.prepare("SELECT t.id, t.conversation, r.body FROM tasks t JOIN records r ON r.task = t.id AND r.kind = 'task_started'").unwrap();
    let tasks: Vec<(StartTaskReply, String)> = query
        .query_map([], |row| {
            let task = StartTaskReply {
                task_id: TaskId(row.get(0)?),
                conversation_id: ConversationId(row.get(1)?),
                beside: None,
            };
            Ok((task, row.get(2)?))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    drop(query);
    ledger::reseal(&database);
    drop(database);
    let witness = Witness::at(daemon.workspace().join("witness"));
    let gate = Gate::new("nobody waits now");
    gate.open();
    for kind in KINDS {
        model.script(kind, script(kind, &witness, &gate));
        model.has_given(kind, usize::from(!matches!(kind, "model" | "paused")));
    }
    let world = World::of(model, daemon).await;
    let of = |kind: &str| tasks.iter().find(|(_, head)| head.contains(&format!("[k:{kind}]"))).expect(kind).0;
    assert_eq!(tasks.len(), KINDS.len());

    assert_eq!(world.wait_status(of("question"), Status::WaitingUser).await.step_count, 1);
    assert!(world.answer(of("question"), Some("blue")).await);
    assert_eq!(world.wait_end(of("question")).await.status, Status::Completed);
    assert!(world.model.last_request("question").unwrap().text().contains("blue"));

    world.wait_status(of("approval"), Status::WaitingApproval).await;
    assert!(world.decide(of("approval"), Decision::AllowOnce).await);
    assert_eq!(world.wait_end(of("approval")).await.status, Status::Completed);
    assert!(world.daemon.workspace().join("made").is_dir());

    assert_eq!(world.wait_end(of("model")).await.status, Status::Completed);
    assert_eq!(world.texts(of("model").conversation_id).await[1], "Half and half.");

    assert_eq!(world.wait_end(of("command")).await.status, Status::Completed);
    assert!(world.model.last_request("command").unwrap().text().contains("nterrupted"));

    let asked = world.wait_status(of("approved"), Status::WaitingUser).await;
    let [Pending::Question(question)] = &asked.pending[..] else { panic!("{:?}", asked.pending) };
    assert_eq!(question.kind, QuestionKind::Interrupted);
    world.answer(of("approved"), Some("it did not")).await;
    assert_eq!(world.wait_end(of("approved")).await.status, Status::Completed);

    world.wait_status(of("paused"), Status::Paused).await;
    world.resume(of("paused")).await;
    assert_eq!(world.wait_end(of("paused")).await.status, Status::Completed);
    assert!(world.inbox().await.is_empty());
}

/// Writes the fixture: before a release, and never again after it.
/// `cargo test -p abide-tests --test scenarios -- --ignored make_fixture`
#[tokio::test]
#[ignore = "makes a file of the repository"]
async fn make_fixture() {
    let mut world = World::start().await;
    let witness = Witness::at(world.daemon.workspace().join("witness"));
    let gate = Gate::new("the daemon's death");
    let mut tasks = Vec::new();
    for kind in KINDS {
        world.model.script(kind, script(kind, &witness, &gate));
        let approvals =
            if matches!(kind, "approval" | "approved") { Approvals::Ask } else { Approvals::Allow };
        // No variables of the machine that makes it.
        let environment = [("LANG".to_owned(), "C.UTF-8".to_owned())].into();
        tasks.push(world.begin(StartTaskParams { approvals, environment, ..world.task(kind) }).await);
    }
    let [question, approval, model, command, approved, paused] = tasks[..] else { panic!("one of each") };
    world.wait_status(question, Status::WaitingUser).await;
    world.wait_status(approval, Status::WaitingApproval).await;
    world.wait_status(model, Status::Thinking).await;
    world.watch(command).await.wait_output("output of command").await;
    world.wait_status(approved, Status::WaitingApproval).await;
    world.decide(approved, Decision::AllowOnce).await;
    world.watch(approved).await.wait_output("output of approved").await;
    world.pause(paused).await;
    world.daemon.kill();
    let folder = tempfile::tempdir().unwrap();
    let copy = ledger::copy(&world.daemon.home(), folder.path());
    let here = world.daemon.workspace().display().to_string();
    let database = rusqlite::Connection::open(&copy).unwrap();
    for (table, column) in PLACES {
        let sql = format!("UPDATE {table} SET {column} = replace({column}, ?1, ?2)");
        database.execute(&sql, [&here, ELSEWHERE]).unwrap();
    }
    ledger::reseal(&database);
    database.execute_batch("PRAGMA journal_mode = DELETE; VACUUM; PRAGMA journal_mode = WAL;").unwrap();
    drop(database);
    std::fs::copy(&copy, fixture()).unwrap();
}
