//! A piece of work in a git checkout, without a single approval; and what such a task cannot do.

use crate::undo::repository::{Repository, later};
use abide_client::protocol::{record::RecordBody, task::EndReason};
use abide_tests::{
    ledger::{self, LedgerLine},
    model_server::Turn,
    world::World,
};
use serde_json::json;
use std::{fs, net::TcpListener, path::Path};

#[tokio::test]
async fn real_work_asks_nothing_does_no_harm_and_can_be_taken_back() {
    let world = World::beneath(Path::new(env!("CARGO_TARGET_TMPDIR"))).await;
    let repository = Repository::new(&world.daemon);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let key = world.daemon.user_home().join(".ssh/id");
    fs::create_dir_all(key.parent().unwrap()).unwrap();
    fs::write(&key, "a private key").unwrap();
    let (home, socket) = (world.daemon.abide_home(), world.daemon.socket());
    let escapes = format!(
        "cat {key}; ls {home}; cat {home}/data/abide.db; \
         echo > /dev/tcp/127.0.0.1/{port} && echo CONN''ECTED; \
         python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{socket}\")' && echo CONN''ECTED; \
         echo evil > .git/hooks/post-commit; git config core.fsmonitor ./evil; mv .git/hooks away; \
         kill -9 $PPID {daemon}; touch /usr/abide-test ~/abide-test",
        key = key.display(),
        home = home.display(),
        socket = socket.display(),
        daemon = world.daemon.pid(),
    );
    let script = [
        Turn::new().call("write", json!({ "path": "sum.sh", "content": "echo $(($1 + $2))\n" })),
        Turn::shell(
            "printf '[ \"$(sh sum.sh 2 3)\" = 5 ]\\n' > test.sh; mkdir -p out; sh sum.sh 1 1 > out/two; sh test.sh",
        ),
        Turn::new().call("patch", json!({ "path": "a.txt", "old": "a", "new": "a better a" })),
        Turn::shell(
            "git add -A && git -c user.name=agent -c user.email=agent@localhost commit -qm work && git log --oneline | wc -l",
        ),
        Turn::shell(&escapes),
        Turn::new().call("python", json!({ "code": "print(6 * 7); open('b.txt', 'a').write('by code')" })),
        Turn::done("Done."),
    ];
    let task = world.run_asking("work", script).await;
    assert_eq!(world.wait_end(task).await.end_reason, Some(EndReason::Completed));
    let lines = ledger::of(&world.daemon.home(), task.conversation_id);
    let asked =
        lines.iter().filter(|line| matches!(LedgerLine::record(line), RecordBody::ApprovalRequested(_)));
    assert_eq!(asked.count(), 0, "nothing asked");
    let told = world.model.last_request("work").expect("a request").text();
    assert!(
        !told.contains("a private key") && !told.contains("CONNECTED") && !told.contains("SQLite"),
        "{told}"
    );
    assert!(told.contains("42"), "{told}");
    assert_eq!(repository.text("out/two").unwrap(), "2\n");
    assert!(!repository.folder.join(".git/hooks/post-commit").exists());
    assert!(!fs::read_to_string(repository.folder.join(".git/config")).unwrap().contains("evil"));
    assert!(!Path::new("/usr/abide-test").exists());

    // A person edits one of the files meanwhile.
    later(&world, task).await;
    repository.write("b.txt", "by a person\n");
    let done = world.daemon.cli().ok(&["undo", &task.task_id.to_string(), "--all", "--yes"]).await;
    assert!(done.contains("kept b.txt"), "{done}");
    assert_eq!(repository.text("a.txt").unwrap(), "a\n");
    assert_eq!(repository.text("b.txt").unwrap(), "by a person\n");
    for made in ["sum.sh", "test.sh", "out/two"] {
        assert_eq!(repository.text(made), None, "{made}");
    }
    // Nothing of ours stands in the person's folder.
    for name in [".envrc", ".vscode", ".git/commondir", ".git/refs/abide"] {
        assert!(fs::symlink_metadata(repository.folder.join(name)).is_err(), "{name}");
    }
}
