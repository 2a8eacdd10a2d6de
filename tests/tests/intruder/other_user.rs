//! Another user gets nothing, even if all modes are wide open.

use abide_tests::{model_server::Turn, skip::skip, wait, world::World};
use std::{fs, os::unix::fs::PermissionsExt as _, process::Stdio};
use tokio::io::AsyncWriteExt as _;

#[tokio::test]
async fn another_user_is_told_nothing() {
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
    #[expect(clippy::disallowed_methods, reason = "somebody else is a process of its own")]
    let somebody = tokio::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "socat", "-t", "10", "-"])
        .arg(format!("UNIX-CONNECT:{}", socket.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut somebody) = somebody else { return skip("another_user", "there is no setpriv, or no socat") };
    let lines = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":{"min":1,"max":1}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"listTasks","params":{"all":true}}"#,
        "\n"
    );
    drop(somebody.stdin.take().unwrap().write_all(lines.as_bytes()).await);
    let output = wait::within("the connection to be closed", somebody.wait_with_output()).await.unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!complained.contains("Permission denied"), "the modes are open: {complained}");
    assert!(!said.contains("result") && !said.contains(&task.task_id.to_string()), "{said}");
    assert!(said.is_empty() || said.contains("forbidden"), "{said}");
    assert_eq!(said.lines().count().max(1), 1, "nothing after the refusal: {said}");
}
