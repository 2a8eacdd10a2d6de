//! What a command gets, and what is kept of its output.

use crate::{
    ground::{Ground, call_id, data, processes, token, wait_until},
    tree::Daemon,
};
use abide_protocol::{message::CallOutcome, record::Permission};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_command_has_a_result() {
    let ground = Ground::new();
    let finished = ground.call("shell", json!({"command": "echo out; echo err >&2; pwd; cat; exit 3"})).await;
    assert_eq!((finished.outcome, finished.result.ok), (CallOutcome::Done, false));
    assert_eq!(finished.result.message, "exit code 3");
    let data = data(&finished);
    let workspace = fs::canonicalize(ground.workspace()).unwrap();
    assert_eq!(data["stdout"], format!("out\n{}\n", workspace.display()));
    assert_eq!(data["stderr"], "err\n");
    assert_eq!(data["exit_code"], 3);
    assert!(data["duration_ms"].as_u64().unwrap() <= finished.duration_ms);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_killed_by_a_signal_has_a_result() {
    let finished = Ground::new().call("shell", json!({"command": "kill -SEGV $$"})).await;
    assert_eq!(finished.result.message, "killed by signal 11 (SIGSEGV)");
    assert_eq!(data(&finished)["exit_code"], 139);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_that_closes_ends_the_writer() {
    let finished =
        Ground::new().call("shell", json!({"command": "yes | head -n 1; echo ${PIPESTATUS[0]}"})).await;
    assert_eq!(data(&finished)["stdout"], "y\n141\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_printed_right_before_the_end_is_kept() {
    let finished = Ground::new().call("shell", json!({"command": "exec > >(sort); echo b; echo a"})).await;
    assert_eq!(data(&finished)["stdout"], "a\nb\n");
    assert_eq!(finished.result.diagnostics, Vec::<String>::new());
}

/// On a busy machine even a `tee` takes its time.
#[tokio::test(flavor = "multi_thread")]
async fn output_of_a_process_that_still_works_after_the_end_is_kept() {
    let works = "s=${EPOCHREALTIME/./}; while (( ${EPOCHREALTIME/./} - s < 300000 )); do :; done; echo late";
    let finished = Ground::new().call("shell", json!({"command": format!("({works}) & echo early")})).await;
    assert_eq!(data(&finished)["stdout"], "early\nlate\n");
    assert_eq!(finished.result.diagnostics, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_in_its_working_folder() {
    let ground = Ground::new();
    fs::create_dir(ground.path("sub")).unwrap();
    let finished = ground.call("shell", json!({"command": "basename $(pwd)", "working_dir": "sub"})).await;
    assert_eq!(data(&finished)["stdout"], "sub\n");
    for dir in ["..", "/", "../own", "missing/.."] {
        let assessed = ground.assess_one("shell", json!({"command": "true", "working_dir": dir}));
        assert!(matches!(assessed.permission, Permission::Denied(_)), "{dir}");
    }
    fs::write(ground.path("file"), "").unwrap();
    let finished = ground.call("shell", json!({"command": "true", "working_dir": "file"})).await;
    assert_eq!(finished.result.message, "file is not a folder");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_gets_three_descriptors_and_no_secret() {
    let ground = Ground::new();
    // Not closed on exec: the daemon may have inherited such a descriptor.
    let leak = fs::File::open(ground.root()).unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let token = token();
    let assessed = ground.assess_one("shell", json!({"command": format!("exec sleep {token}")}));
    let mut run = ground.run(assessed);
    run.environment.extend(
        [("OPENAI_API_KEY", "secret"), ("LANG", "C.UTF-8"), ("LD_PRELOAD", "/x")]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    let running = ground.start_run(run);
    wait_until("it sleeps", || processes(&token).len() == 1).await;
    let process = format!("/proc/{}", processes(&token)[0]);
    // While a program loads, it opens and closes files of its own; the descriptors it was given stay open.
    let descriptors = || -> BTreeMap<String, String> {
        fs::read_dir(format!("{process}/fd"))
            .unwrap()
            .filter_map(|entry| {
                let entry = entry.unwrap();
                let target = fs::read_link(entry.path()).ok()?;
                Some((entry.file_name().into_string().unwrap(), target.to_string_lossy().into_owned()))
            })
            .collect()
    };
    wait_until("three descriptors are left", || {
        let open = descriptors();
        open.keys().eq(["0", "1", "2"])
    })
    .await;
    let open = descriptors();
    assert_eq!(open["0"], "/dev/null");
    let environment = fs::read(format!("{process}/environ")).unwrap();
    let names: BTreeSet<String> = String::from_utf8(environment)
        .unwrap()
        .split_terminator('\0')
        .map(|entry| entry.split_once('=').unwrap().0.to_owned())
        .collect();
    // The shell sets the first four itself; the rest tells programs that nobody sits in front of them.
    let expected = "OLDPWD PWD SHLVL _ ABIDE_CALL_ID LANG PATH CARGO_NET_RETRY DEBIAN_FRONTEND EDITOR GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 \
                    GIT_CONFIG_VALUE_0 GIT_PAGER GIT_TERMINAL_PROMPT PAGER PIP_RETRIES VISUAL npm_config_fetch_retries";
    let is_expected = |name: &String| expected.split(' ').any(|expected| expected == name);
    assert!(names.iter().all(is_expected), "{names:?}");
    assert!(names.contains("ABIDE_CALL_ID") && names.contains("LANG"));
    let limits = fs::read_to_string(format!("{process}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    running.cancel().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_shown_as_it_comes_and_characters_are_whole() {
    let ground = Ground::new();
    // The first two bytes of a euro sign; its last one follows when the test creates a file.
    let command =
        r"printf 'a\342\202'; echo half >&2; until [ -e go ]; do sleep 0.01; done; printf '\254b\377'";
    let running = ground.start(command);
    wait_until("half of it is there", || running.output().contains("half")).await;
    wait_until("the part before it is shown", || running.output().contains('a')).await;
    assert!(!running.output().contains('\u{fffd}'));
    fs::write(ground.path("go"), "").unwrap();
    let finished = running.end().await;
    assert_eq!(data(&finished)["stdout"], "a€b\u{fffd}");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_is_limited() {
    let ground = Ground::new();
    let token = token();
    let command = format!("echo begun; setsid sleep {token} & sleep {token}");
    let began = Instant::now();
    let finished = ground.call("shell", json!({"command": command, "timeout_secs": 3})).await;
    assert!(began.elapsed() >= Duration::from_secs(3), "not earlier");
    assert_eq!((finished.outcome, finished.result.ok), (CallOutcome::Done, false));
    assert_eq!(finished.result.message, "timed out after 3 s and was ended; what it did until then is done");
    assert_eq!(data(&finished)["stdout"], "begun\n");
    assert_eq!(data(&finished)["exit_code"], Value::Null);
    let hint = finished.result.diagnostics.join("; ");
    assert!(hint.contains("no network") && hint.contains("`outside`"), "{hint}");
    assert_eq!(processes(&token), Vec::<u32>::new());

    let assessed = ground.assess_one("shell", json!({"command": "sleep 600", "timeout_secs": 600}));
    let mut run = ground.run(assessed);
    run.max_secs = Some(1);
    let finished = ground.start_run(run).end().await;
    assert!(finished.result.message.starts_with("timed out after 1 s"), "{}", finished.result.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_output_is_bounded() {
    let ground = Ground::new();
    let call = call_id();
    // 500 MB, then it ends.
    let command = "yes abcdefghijklmnopqrstuvwxyz | head -c 500000000; echo; echo the end; yes err | head -c 1000000 >&2";
    let status = Daemon::start(&ground, call, command).wait().await;
    assert!(status.success());
    let report: Value =
        serde_json::from_str(&fs::read_to_string(ground.root().join("finished.json")).unwrap()).unwrap();
    let data = &report["result"]["data"];
    let (stdout, stderr) = (data["stdout"].as_str().unwrap(), data["stderr"].as_str().unwrap());
    assert!(stdout.starts_with("abcdefghijklmnopqrstuvwxyz\n") && stdout.ends_with("\nthe end\n"));
    assert!(stdout.contains(" characters cut …]") && stderr.contains(" characters cut …]"));
    assert!(stdout.chars().count() + stderr.chars().count() <= 30_000 + 100);
    let peak = report["peakKib"].as_u64().unwrap();
    assert!(peak < 64 * 1024, "the process that listened took {peak} KiB");
    let spool = ground.root().join("spool").join(format!("{call}-1.out"));
    let metadata = fs::metadata(&spool).unwrap();
    assert!(metadata.len() <= 1 << 20, "{} bytes are kept", metadata.len());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn helpers_are_known_while_they_live() {
    let ground = Ground::unconfined();
    let running = ground.start("echo $PPID; sleep 600");
    wait_until("it has told", || running.output().ends_with('\n')).await;
    let helper: u32 = running.output().trim().parse().unwrap();
    assert!(ground.tools.is_helper(helper));
    assert!(!ground.tools.is_helper(std::process::id()));
    running.cancel().await;
    assert!(!ground.tools.is_helper(helper));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_cannot_start_says_why() {
    let ground = Ground::new();
    let assessed = ground.assess_one("shell", json!({"command": "true"}));
    fs::remove_dir_all(ground.workspace()).unwrap();
    let finished = ground.finish(assessed).await;
    assert_eq!((finished.outcome, finished.result.ok), (CallOutcome::Done, false));
    assert!(finished.result.message.contains("cannot be used"), "{}", finished.result.message);
}
