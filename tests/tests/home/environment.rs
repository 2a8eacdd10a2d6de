//! The environment of tasks that are not started in a person's shell.

use abide_tests::{model_server::Turn, process, world::World};

#[tokio::test]
async fn a_job_of_cron_gives_its_task_what_the_login_shell_sets_up() {
    let world = World::start().await;
    let shell = world.daemon.root().join("shell");
    let script = "#!/bin/sh\nexport PATH=/opt/of-the-shell:$PATH\neval \"$4\"\n";
    process::write_program(&shell, process::input(script), 0, 0o755);
    world.model.script("cron", [Turn::shell("echo found=$PATH"), Turn::done("Done.")]);
    let cron = world.daemon.cli().without("TERM").env("SHELL", shell.to_str().unwrap());
    cron.ok(&["run", "--yes", "[k:cron]"]).await;
    let told = world.model.last_request("cron").unwrap().text();
    assert!(told.contains("found=/opt/of-the-shell:"), "{told}");
}
