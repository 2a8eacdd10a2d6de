//! Another user is refused even if all file modes are open, and nothing is made in the home of another user.

use abide_tests::{
    daemon::Config, daemon::TestDaemon, model_server::Turn, process, skip::skip, world::World,
};
use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::Path,
};

/// What the daemon sends to this user, and what the program prints on stderr; `None` if the program is
/// missing.
async fn as_user(id: u32, socket: &Path) -> Option<(String, String)> {
    let lines = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":{"min":1,"max":1}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"listTasks","params":{"all":true}}"#,
        "\n"
    );
    let mut setpriv = process::program("setpriv");
    setpriv
        .args([format!("--reuid={id}"), format!("--regid={id}"), "--clear-groups".to_owned()])
        .args(["--", "socat", "-t", "10", "-"])
        .arg(format!("UNIX-CONNECT:{}", socket.display()))
        .stdin(process::input(lines));
    let output = process::finished(&mut setpriv).await.ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // The exit code of `setpriv` if the program does not exist.
    (output.status.code() != Some(127)).then(|| (text(&output.stdout), text(&output.stderr)))
}

#[tokio::test]
async fn another_user_gets_only_a_refusal() {
    if !rustix::process::geteuid().is_root() {
        return skip("another_user", "only root can become somebody else");
    }
    let world = World::start().await;
    let task = world.run("secret", [Turn::done("A secret.")]).await;
    world.wait_end(task).await;
    let socket = world.daemon.socket();
    for path in socket.ancestors().take_while(|path| path.starts_with(world.daemon.root())) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let (Some(own), Some(other)) = (as_user(0, &socket).await, as_user(65534, &socket).await) else {
        return skip("another_user", "there is no setpriv, or no socat");
    };
    assert!(own.0.contains(&task.task_id.to_string()), "its own user is answered the same way: {own:?}");
    let (said, complained) = other;
    assert!(!complained.contains("Permission denied"), "the modes are open: {complained}");
    assert!(!said.contains("result") && !said.contains(&task.task_id.to_string()), "{said}");
    assert!(said.is_empty() || said.contains("forbidden"), "{said}");
    assert_eq!(said.lines().count().max(1), 1, "nothing after the refusal: {said}");
}

#[tokio::test]
async fn root_makes_nothing_in_the_home_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return skip("root_in_another_home", "only root can have a home that is another user's");
    }
    let daemon = TestDaemon::new(&Config::default());
    let home = daemon.user_home();
    chown(&home, Some(65534), None).unwrap();
    // As `sudo -E` leaves it, and as HOME alone does; and a folder for all within that home.
    let below = home.join("below");
    for (program, argument) in
        [("abide", "ps"), ("abide", "demo"), ("abided", "--foreground"), ("abided", "doctor")]
    {
        for abide_home in [None, Some(&below)] {
            let mut command = process::program(process::built(program));
            command
                .arg(argument)
                .env_clear()
                .env("HOME", &home)
                .env("ABIDE_DAEMON", process::built("abided"));
            command.envs(abide_home.map(|home| ("ABIDE_HOME", home)));
            let output = process::finished(&mut command).await.unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{program} {argument}: {output:?}");
            assert!(
                said.contains("belongs to another user (id 65534)") && said.contains("ABIDE_HOME"),
                "{said}"
            );
            assert_eq!(fs::read_dir(&home).unwrap().count(), 0, "{program} {argument} has made something");
        }
    }
}
