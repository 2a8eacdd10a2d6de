//! Python code runs as a command does: the same limits, the same end.

use crate::ground::{Ground, data, processes, token, wait_until};
use abide_protocol::{message::CallOutcome, record::Permission};
use serde_json::{Value, json};
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn code_has_a_result() {
    let ground = Ground::new();
    fs::write(ground.path("mine.py"), "value = 7\n").unwrap();
    let code = r#"
import os, sys
import mine

print(mine.value, __name__, sys.argv)
print(repr(sys.stdin.read()), os.getcwd())
print("bad", file=sys.stderr)
sys.exit(3)
"#;
    let finished = ground.call("python", json!({ "code": code })).await;
    assert_eq!((finished.outcome, finished.result.ok), (CallOutcome::Done, false));
    assert_eq!(finished.result.message, "exit code 3");
    let data = data(&finished);
    let workspace = fs::canonicalize(ground.workspace()).unwrap();
    assert_eq!(data["stdout"], format!("7 __main__ ['-c']\n'' {}\n", workspace.display()));
    assert_eq!(data["stderr"], "bad\n");
    assert_eq!(data["exit_code"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exception_is_a_failed_result_that_says_where() {
    let ground = Ground::new();
    let finished = ground.call("python", json!({ "code": "def f():\n    return 1 / 0\n\nf()" })).await;
    assert_eq!(finished.result.message, "exit code 1");
    let stderr = data(&finished)["stderr"].as_str().unwrap().to_owned();
    assert!(stderr.starts_with("Traceback") && stderr.ends_with("ZeroDivisionError: division by zero\n"));
    assert!(stderr.contains("line 4, in <module>") && stderr.contains("line 2, in f"), "{stderr}");
    assert_eq!(stderr.matches("  File ").count(), 2, "only frames of the code: {stderr}");

    let finished = ground.call("python", json!({ "code": "print(1)\nif" })).await;
    let stderr = data(&finished)["stderr"].as_str().unwrap().to_owned();
    assert!(stderr.contains("line 2") && stderr.contains("SyntaxError"), "{stderr}");
    assert_eq!(data(&finished)["stdout"], "", "nothing ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_shown_as_it_comes_and_kept_when_the_time_is_over() {
    let (ground, token) = (Ground::new(), token());
    let code = format!("import subprocess\nprint('begun', end='')\nsubprocess.run(['sleep', '{token}'])");
    let assessed = ground.assess_one("python", json!({ "code": code, "timeout_secs": 600 }));
    let mut run = ground.run(assessed);
    let running = ground.start_run(run.clone());
    wait_until("an unfinished line is shown", || running.output() == "begun").await;
    wait_until("it sleeps", || processes(&token).len() == 1).await;
    assert_eq!(running.cancel().await.outcome, CallOutcome::Cancelled);
    assert_eq!(processes(&token), Vec::<u32>::new(), "what it started ended with it");

    // Python needs some of it to start.
    run.max_secs = Some(4);
    let finished = ground.start_run(run).end().await;
    assert_eq!(finished.result.message, "timed out after 4 s and was ended; what it did until then is done");
    assert_eq!((&data(&finished)["stdout"], &data(&finished)["exit_code"]), (&json!("begun"), &Value::Null));
    assert_eq!(processes(&token), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_is_cut() {
    let code = "print('first')\nfor n in range(200_000): print('x' * 50)\nprint('last')";
    let finished = Ground::new().call("python", json!({ "code": code })).await;
    let stdout = data(&finished)["stdout"].as_str().unwrap().to_owned();
    assert!(
        stdout.starts_with("first\n")
            && stdout.ends_with("\nlast\n")
            && stdout.contains(" characters cut …]")
    );
    assert!(stdout.chars().count() <= 30_100);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tool_is_offered_only_where_the_program_is() {
    let ground = Ground::new();
    let empty = ground.path("");
    let empty = empty.to_str();
    let offered = |path| ground.tools.specs(path).iter().any(|spec| spec.name == "python");
    assert!(offered(Some("/usr/bin:/bin")) && !offered(empty));
    assert_eq!(abide_tools::missing(empty), [("python".to_owned(), "python3")]);
    assert_eq!(abide_tools::missing(Some("/usr/bin:/bin")), []);

    // It was there when the task began, and is gone.
    let assessed = ground.assess_one("python", json!({ "code": "print(1)" }));
    assert_eq!(assessed.permission, Permission::Sandbox);
    let mut run = ground.run(assessed);
    run.environment.insert("PATH".to_owned(), empty.unwrap().to_owned());
    let finished = ground.start_run(run).end().await;
    assert_eq!(finished.result.message, "there is no `python3` on the PATH of this task; nothing ran");
}
