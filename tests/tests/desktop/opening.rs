//! "Open" of a notification brings the window to the conversation: the running one, or a new one.

use super::notifications::{start_with, world_with};
use abide_client::protocol::task::Status;
use abide_host::application;
use abide_tests::{
    bus::{ABLE, Bus},
    daemon::{Config, Program, TestDaemon},
    model_server::{ModelServer, Turn},
    process,
    screen::Screen,
    skip::skip,
    wait,
    world::World,
};
use rustix::process::{Pid, Signal, kill_process};
use std::{collections::HashMap, fs, path::Path};

#[tokio::test]
async fn the_running_window_is_asked_to_show_it() {
    let Some((world, bus)) = start_with(ABLE).await else {
        return skip("the_running_window_is_asked_to_show_it", "dbus-daemon is not installed");
    };
    let window = bus.application(&world.daemon.home()).await;
    let task = world.run("shows", [Turn::ask("What colour?"), Turn::done("Done.")]).await;
    let popup = bus.popup("the question", |p| p.summary.starts_with("Question")).await;
    bus.press_with_token(&popup, "open", "a-token").await;
    let asked = window.activation(0).await;
    assert_eq!((asked.action.as_str(), asked.parameters), ("show", vec![task.conversation_id.to_string()]));
    let token = |key: &str| (key.to_owned(), "a-token".to_owned());
    let tokens = HashMap::from([token("activation-token"), token("desktop-startup-id")]);
    assert_eq!(asked.platform, tokens);
    assert_eq!(world.get(task).await.task.status, Status::WaitingUser, "it decides nothing");

    // Several lead to the inbox, without a token if the server gave none.
    for n in [1, 2] {
        let task = world.run(&format!("more-{n}"), [Turn::ask("And here?"), Turn::done("Done.")]).await;
        world.wait_status(task, Status::WaitingUser).await;
    }
    let popup = bus.popup("both", |p| p.summary == "2 tasks need you").await;
    bus.press(&popup, "default").await;
    let asked = window.activation(1).await;
    assert_eq!((asked.action.as_str(), asked.parameters.len(), asked.platform.len()), ("inbox", 0, 0));
}

#[tokio::test]
async fn a_window_is_started_where_none_runs() {
    let name = "a_window_is_started_where_none_runs";
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model).notify());
    let Some(bus) = Bus::start(daemon.root()).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let (program, opened) = (daemon.root().join("window"), daemon.root().join("opened"));
    let script = format!(
        "#!/bin/sh\n[ \"$(cut -d ' ' -f 6 /proc/$$/stat)\" = $$ ] && own=own\n\
         echo \"$* $XDG_ACTIVATION_TOKEN $own $ABIDE_HOME\" > {0}.part && mv {0}.part {0}\n",
        opened.display()
    );
    process::write_program(&program, process::input(&script), 0, 0o755);
    daemon.set_env("ABIDE_GUI", program.to_str().unwrap());
    let (world, bus) = (world_with(model, daemon, &bus).await, bus);
    let task = world.run("starts", [Turn::ask("What colour?"), Turn::done("Done.")]).await;
    let popup = bus.popup("the question", |p| p.summary.starts_with("Question")).await;
    bus.press_with_token(&popup, "open", "a-token").await;
    let said = wait::wait_for("the window to be started", async || fs::read_to_string(&opened).ok()).await;
    let home = world.daemon.abide_home();
    let expected = format!("--conversation {} a-token own {}\n", task.conversation_id, home.display());
    assert_eq!(said, expected);
}

/// With the service file of the packages.
#[tokio::test]
async fn the_session_bus_starts_the_window_where_none_runs() {
    let name = "the_session_bus_starts_the_window_where_none_runs";
    const SERVICE: &str = include_str!("../../../packaging/linux/dev.abide.Abide.service.in");
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model).notify());
    let Some(screen) = Screen::start(name).await else { return };
    // The daemon could not start it.
    daemon.set_env("ABIDE_GUI", daemon.root().join("none").to_str().unwrap());
    let (services, program) = (daemon.root().join("share/dbus-1/services"), daemon.root().join("abide-gui"));
    fs::create_dir_all(&services).unwrap();
    let own = application::bus_name(&daemon.home());
    let service = SERVICE
        .replace("Name=dev.abide.Abide", &format!("Name={own}"))
        .replace("@bindir@", daemon.root().to_str().unwrap());
    fs::write(services.join(format!("{own}.service")), service).unwrap();
    let script = format!(
        "#!/bin/sh\nexport ABIDE_HOME='{}' DISPLAY={} ICED_BACKEND=tiny-skia\nexec '{}' \"$@\"\n",
        daemon.abide_home().display(),
        screen.display(),
        process::built("abide-gui").display()
    );
    process::write_program(&program, process::input(&script), 0, 0o755);
    let Some(bus) = Bus::start(daemon.root()).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    let (world, bus) = (world_with(model, daemon, &bus).await, bus);
    world.run("starts", [Turn::ask("What colour?"), Turn::done("Done.")]).await;
    let popup = bus.popup("the question", |p| p.summary.starts_with("Question")).await;
    let title = popup.summary.strip_prefix("Question: ").unwrap().to_owned();
    bus.press(&popup, "open").await;
    wait::wait_seeing("the conversation in a window", async || {
        let titles = screen.titles().await;
        if titles.iter().any(|shown| shown.contains(&title)) { Ok(()) } else { Err(titles.join("\n")) }
    })
    .await;
    let applications = bus.applications().await;
    let window = applications.pid(&own).await;
    kill_process(Pid::from_raw(window.cast_signed()).unwrap(), Signal::KILL).unwrap();
    wait::wait_until("the window to be gone", async || applications.owner(&own).await.is_none()).await;
}

/// The new program has not started it, but it is its child.
#[tokio::test]
async fn a_window_that_ends_after_the_daemon_went_over_is_no_zombie() {
    let name = "a_window_that_ends_after_the_daemon_went_over_is_no_zombie";
    let model = ModelServer::start().await;
    let mut daemon = TestDaemon::new(&Config::with(&model).notify());
    let Some(bus) = Bus::start(daemon.root()).await else {
        return skip(name, "dbus-daemon is not installed");
    };
    daemon.with_own_program();
    let [program, opened, close] = ["window", "opened", "close"].map(|name| daemon.root().join(name));
    let script = format!(
        "#!/bin/sh\necho $$ > {0}.part && mv {0}.part {0}\nuntil test -e {1}; do sleep 0.05; done\n",
        opened.display(),
        close.display()
    );
    process::write_program(&program, process::input(&script), 0, 0o755);
    daemon.set_env("ABIDE_GUI", program.to_str().unwrap());
    let (world, bus) = (world_with(model, daemon, &bus).await, bus);
    world.run("starts", [Turn::ask("What colour?"), Turn::done("Done.")]).await;
    let popup = bus.popup("the question", |p| p.summary.starts_with("Question")).await;
    bus.press(&popup, "open").await;
    let pid = wait::wait_for("the window to be started", async || fs::read_to_string(&opened).ok()).await;
    world.daemon.install(&Program::Build(1));
    world.daemon.cli().ok(&["daemon", "update"]).await;
    assert!(world.daemon.runs_installed_program());
    fs::write(close, "").unwrap();
    let process = Path::new("/proc").join(pid.trim());
    wait::wait_until("the window's process to be gone", async || !process.exists()).await;

    // Those of tools have their exit status.
    let (world, _bus) = (World { client: world.daemon.client().await, ..world }, bus);
    let task = world.run("fails", [Turn::shell("exit 3"), Turn::done("Done.")]).await;
    world.wait_end(task).await;
    assert!(world.model.last_request("fails").unwrap().text().contains("exit code 3"));
}

#[tokio::test]
async fn a_window_that_cannot_be_opened_is_said() {
    let name = "a_window_that_cannot_be_opened_is_said";
    for (file, words) in [("none", "cannot start "), ("fails", "ended at once (exit status: 3)")] {
        let model = ModelServer::start().await;
        let mut daemon = TestDaemon::new(&Config::with(&model).notify());
        let Some(bus) = Bus::start(daemon.root()).await else {
            return skip(name, "dbus-daemon is not installed");
        };
        let program = daemon.root().join("fails");
        process::write_program(&program, process::input("#!/bin/sh\nexit 3\n"), 0, 0o755);
        daemon.set_env("ABIDE_GUI", daemon.root().join(file).to_str().unwrap());
        let (world, bus) = (world_with(model, daemon, &bus).await, bus);
        world.run("fails", [Turn::ask("What colour?"), Turn::done("Done.")]).await;
        let popup = bus.popup("the question", |p| p.summary.starts_with("Question")).await;
        bus.press(&popup, "open").await;
        let note = bus.popup("the note", |p| p.summary == "The window was not opened").await;
        assert!(note.body.contains(words), "{note:?}");
    }
}
