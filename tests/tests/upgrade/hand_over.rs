//! Another program is installed while the daemon works: it takes over by itself when nothing is cut off by
//! that, and otherwise the daemon says what it waits for.

use abide_client::protocol::{
    method::{self, daemon::StatusParams, daemon::StatusReply, task::StartTaskReply},
    task::Status,
    update::{UpdateStage, UpdateStatus},
};
use abide_tests::{
    audit::audit,
    crowd::{Crowd, Ground},
    daemon::{Config, Program, TestDaemon},
    ledger,
    model_server::{ModelServer, Turn},
    process,
    seed::Seed,
    tap::Tap,
    wait,
    world::World,
};
use std::{path::PathBuf, sync::Arc};

const TASKS: usize = 24;

/// The world with a daemon that can be replaced.
pub(super) async fn world(config: impl FnOnce(Config) -> Config) -> World {
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&config(Config::with(&model)));
    daemon.with_own_program();
    World::of(model, daemon).await
}

/// A new connection each time, which makes the daemon look.
pub(super) async fn status(daemon: &TestDaemon) -> StatusReply {
    daemon.client().await.call::<method::Status>(StatusParams::default()).await.unwrap()
}

/// Waits until the daemon says this of the installed program.
pub(super) async fn seen(
    daemon: &TestDaemon,
    what: &str,
    is_so: impl Fn(&UpdateStatus) -> bool,
) -> UpdateStatus {
    wait::wait_seeing(what, async || {
        // It may be about to end for another program.
        let client = daemon.try_client().await.ok_or("no connection")?;
        let status = client.call::<method::Status>(StatusParams::default()).await;
        let update = status.map_err(|error| error.to_string())?.update;
        update.clone().filter(&is_so).ok_or_else(|| format!("{update:?}"))
    })
    .await
}

/// Waits until the daemon refuses the installed program for this reason.
pub(super) async fn refused(daemon: &TestDaemon, why: &str) {
    let is_it = |update: &UpdateStatus| update.refused.as_deref().is_some_and(|said| said.contains(why));
    let update = seen(daemon, why, is_it).await;
    assert_eq!((update.stage, update.version), (UpdateStage::Refused, None));
}

/// A task whose command runs until the returned file is made.
pub(super) async fn works(world: &World) -> (StartTaskReply, PathBuf) {
    let turns = [Turn::shell("until test -e go-on; do sleep 0.05; done"), Turn::done("Built.")];
    let task = world.run("works", turns).await;
    world.wait_status(task, Status::ToolExecuting).await;
    (task, world.daemon.workspace().join("go-on"))
}

/// The command of that task was neither cut off nor repeated.
pub(super) async fn has_worked(world: &World, task: StartTaskReply) {
    assert_eq!(world.wait_end(task).await.summary.as_deref(), Some("Built."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_four_tasks_and_an_open_question_go_on_under_the_new_program() {
    let mut seed = Seed::drawn("hand-over");
    let model = Arc::new(ModelServer::start().await);
    let mut daemon = TestDaemon::new(&Config::with(&model));
    daemon.with_own_program();
    let ground = Ground::of(&daemon, &model, seed.of("crowd"));
    let witness = ground.witness.clone();
    daemon.up().await;
    let pid = daemon.pid();
    let mut tap = Tap::open(daemon.home());
    let mut crowd = Crowd::start(ground, TASKS);
    for number in 1..=3 {
        let enough = tap.len() + 100 + seed.below(200);
        wait::wait_until("some more records", async || tap.len() >= enough).await;
        daemon.install(&Program::Build(number));
        drop(daemon.try_client().await);
        wait::wait_until("the new program to run", async || daemon.runs_installed_program()).await;
        crowd.assert_running();
        assert_eq!(status(&daemon).await.pid, pid, "the process goes on");
    }
    crowd.finish().await;
    let database = daemon.home().database();
    let last = ledger::last(&database);
    wait::wait_until("a client to be told everything", async || tap.cursor() == last).await;
    tap.assert_matches(&database);
    let account = audit(&ledger::read(&daemon.home()), &crowd.acks(), &witness, &model);
    assert_eq!(account.crash_loops, 0, "a daemon that hands over has not crashed");
    assert_eq!(account.interrupted, 0, "nothing is cut off");
    println!("3 new programs among {TASKS} tasks: {account}");
    assert!(daemon.stop().await.success());
    // Helpers that wait for a command see that the daemon is gone, and end.
    wait::wait_until("the helpers to end", async || daemon.offspring().is_empty()).await;
    assert!(!daemon.socket().exists(), "the last program removes the socket of the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_command_is_waited_for_and_named_and_other_tasks_go_on() {
    // A hand-over is no restart that a person would be asked about.
    let world = world(|config| config.task("restart = \"pause\"")).await;
    let asks = world.run("asks", [Turn::ask("Which one?"), Turn::done("Thanks.")]).await;
    world.wait_status(asks, Status::WaitingUser).await;
    let (works, go_on) = works(&world).await;
    world.daemon.install(&Program::Build(1));

    let cli = world.daemon.cli();
    let waits = cli.run(&["daemon", "update", "--patience", "0"]).await;
    assert_eq!(waits.code, Some(1), "{waits:?}");
    assert!(
        waits.stdout.contains("nothing is cut off") && waits.stdout.contains("until test -e go-on"),
        "{waits:?}"
    );
    assert!(!world.daemon.runs_installed_program());
    // What was held goes on.
    let other = world.run("other", [Turn::shell("true"), Turn::done("Done.")]).await;
    world.wait_end(other).await;

    std::fs::write(go_on, "").unwrap();
    let updated = cli.run(&["daemon", "update", "--patience", "60"]).await;
    assert_eq!(updated.code, Some(0), "{updated:?}");
    assert!(updated.stderr.contains("went over from version"), "{updated:?}");
    assert!(world.daemon.runs_installed_program());
    let again = cli.run(&["daemon", "update"]).await;
    assert!(again.stdout.contains("runs the installed program"), "{again:?}");

    let world = World { client: world.daemon.client().await, ..world };
    world.answer(asks, Some("the second")).await;
    world.wait_end(asks).await;
    has_worked(&world, works).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_cannot_take_over_is_refused_with_its_reason_and_the_daemon_goes_on() {
    let world = world(|config| config).await;
    let pid = world.daemon.pid();
    let refusals = [
        ("echo 'error: it reads schema 3, the database has 11' >&2; exit 1", "it reads schema 3"),
        ("exit 2", "does not answer `abided check`"),
        ("kill -SEGV $$", "signal: 11"),
    ];
    for (script, why) in refusals {
        world.daemon.install(&Program::Script(script));
        refused(&world.daemon, why).await;
    }
    let said = world.daemon.cli().ok(&["daemon", "status"]).await;
    assert!(said.contains("cannot take over: ") && said.contains("signal: 11"), "{said}");
    // The same program again is no other one.
    world.daemon.install(&Program::Build(0));
    wait::wait_until("the daemon to see it", async || status(&world.daemon).await.update.is_none()).await;
    assert_eq!(status(&world.daemon).await.pid, pid);
    let task = world.run("after", [Turn::done("Done.")]).await;
    world.wait_end(task).await;
}

/// With `manual` no client is told of it by itself.
#[tokio::test]
async fn where_the_configuration_says_so_a_person_decides() {
    for (policy, told) in [("ask", Some(UpdateStage::Ready)), ("manual", None)] {
        let world = world(|config| config.daemon(&format!("update = {policy:?}"))).await;
        world.daemon.install(&Program::Build(1));
        let update = seen(&world.daemon, "the new program", |_| true).await;
        assert_eq!(update.stage, UpdateStage::Ready);
        assert_eq!(status(&world.daemon).await.daemon.update, told, "{policy}");
        let said = world.daemon.cli().ok(&["daemon", "status"]).await;
        assert!(said.contains("`abide daemon update` lets it take over"), "{policy}: {said}");
        assert!(!world.daemon.runs_installed_program());
        world.daemon.cli().ok(&["daemon", "update"]).await;
        assert!(world.daemon.runs_installed_program());
    }
}

#[tokio::test]
async fn a_program_that_is_replaced_while_tasks_are_held_is_not_executed_unasked() {
    let world = world(|config| config).await;
    let (works, go_on) = works(&world).await;
    world.daemon.install(&Program::Build(1));
    let update = world.daemon.cli().start(&["daemon", "update", "--patience", "600"]);
    seen(&world.daemon, "the hold", |update| update.stage == UpdateStage::Waiting).await;
    world.daemon.install(&Program::Script("exit 2"));
    std::fs::write(go_on, "").unwrap();
    assert_eq!(update.code().await, Some(1));
    refused(&world.daemon, "does not answer `abided check`").await;
    has_worked(&world, works).await;
    assert!(world.daemon.is_up());
}

#[tokio::test]
async fn a_hold_ends_with_the_client_that_asked_for_it() {
    let world = world(|config| config.daemon("update = \"ask\"")).await;
    let (works, go_on) = works(&world).await;
    world.daemon.install(&Program::Build(1));
    let update = world.daemon.cli().start(&["daemon", "update", "--patience", "600"]);
    seen(&world.daemon, "the hold", |update| update.stage == UpdateStage::Waiting).await;
    update.kill().await;
    // It goes on while the first one works.
    let other = world.run("other", [Turn::shell("true"), Turn::done("Done.")]).await;
    world.wait_end(other).await;
    assert!(!world.daemon.runs_installed_program());
    std::fs::write(go_on, "").unwrap();
    has_worked(&world, works).await;
}

/// Its interpreter goes when it has said that it could start.
#[tokio::test]
async fn a_program_that_cannot_be_executed_is_named_and_the_one_before_goes_on() {
    // A hand-over that comes to nothing is no restart that a person would be asked about.
    let world = world(|config| config.task("restart = \"pause\"")).await;
    let asks = world.run("asks", [Turn::ask("Which one?"), Turn::done("Thanks.")]).await;
    world.wait_status(asks, Status::WaitingUser).await;
    let pid = world.daemon.pid();
    let reader = world.daemon.root().join("reader");
    let text = format!("#!{0}\nrm {0}\necho abided 99.0.0\n", reader.display());
    let put_reader = || process::write_program(&reader, std::fs::File::open("/bin/sh").unwrap(), 0, 0o755);
    put_reader();
    world.daemon.install(&Program::Text(text));
    let why = "could not be executed (No such file or directory";
    refused(&world.daemon, why).await;
    let said = world.daemon.cli().ok(&["daemon", "status"]).await;
    assert!(said.contains("cannot take over: it could not be executed"), "{said}");

    // A person may try again.
    put_reader();
    let again = world.daemon.cli().run(&["daemon", "update"]).await;
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stdout.contains(why) && !again.stderr.contains("went over"), "{again:?}");
    assert!(!reader.exists(), "it was asked");

    let world = World { client: world.daemon.client().await, ..world };
    assert_eq!(status(&world.daemon).await.pid, pid);
    world.answer(asks, Some("the second")).await;
    world.wait_end(asks).await;
    let after = world.run("after", [Turn::shell("true"), Turn::done("Done.")]).await;
    world.wait_end(after).await;
    world.daemon.install(&Program::Build(1));
    drop(world.daemon.try_client().await);
    wait::wait_until("the next program to run", async || world.daemon.runs_installed_program()).await;
}

/// The socket is systemd's: it listens before the daemon starts, and after it has ended.
#[tokio::test]
async fn a_daemon_started_by_its_socket_serves_and_hands_it_over_and_leaves_it() {
    let model = ModelServer::start().await;
    model.script("hello", [Turn::done("Hello.")]);
    let mut daemon = TestDaemon::new(&Config::with(&model));
    daemon.with_own_program();
    daemon.up().await;
    let cli = daemon.cli();
    let first = status(&daemon).await;
    assert!(daemon.stop().await.success());

    daemon.launch_by_socket();
    let task =
        wait::within("the socket to start the daemon", cli.ok(&["run", "--detach", "[k:hello] Say hello."]))
            .await;
    assert!(!task.trim().is_empty());
    assert_ne!(status(&daemon).await.pid, first.pid);
    daemon.install(&Program::Build(1));
    cli.ok(&["daemon", "update"]).await;
    assert!(daemon.runs_installed_program());
    assert!(daemon.stop().await.success());
    assert!(daemon.socket().exists(), "the file is not the daemon's to remove");
}

/// The daemon that goes may take a connection that it cannot serve any more.
#[tokio::test]
async fn commands_about_the_daemon_that_runs_are_answered_while_it_hands_over() {
    let world = world(|c| c).await;
    let daemon = &world.daemon;
    let cli = daemon.cli();
    for number in 1..=4 {
        daemon.install(&Program::Build(number));
        drop(daemon.try_client().await);
        let asks = async |arguments: &[&str]| {
            while !daemon.runs_installed_program() {
                cli.ok(arguments).await;
            }
            cli.ok(arguments).await;
        };
        let all = async {
            let status = ["daemon", "status"];
            tokio::join!(asks(&status), asks(&status), asks(&["ps"]), asks(&["daemon", "update"]))
        };
        wait::within("the new program to run", Box::pin(all)).await;
    }
}

/// `systemctl --user enable --now` beside a daemon that a client has started.
#[tokio::test]
async fn a_service_takes_over_from_a_daemon_that_a_client_has_started() {
    let world = World::start().await;
    let asks = world.run("asks", [Turn::ask("Which one?"), Turn::done("Thanks.")]).await;
    world.wait_status(asks, Status::WaitingUser).await;
    let World { mut daemon, model, client } = world;
    let mut before = daemon.forget();
    daemon.launch_by_socket();
    drop(client);
    let world = World {
        client: wait::wait_for("the service to answer", async || daemon.try_client().await).await,
        daemon,
        model,
    };
    let ended = wait::wait_for("the first daemon to end", async || before.try_wait().unwrap()).await;
    assert!(ended.success());
    assert_eq!(status(&world.daemon).await.pid, world.daemon.pid());
    world.answer(asks, Some("the second")).await;
    world.wait_end(asks).await;
}
