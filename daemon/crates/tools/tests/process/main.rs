//! Processes for the tests: `helper` is the tool helper, also on machines with less; `daemon` plays the
//! daemon and can be killed.

mod less;

use abide_protocol::{
    message::CallOutcome,
    sandbox::SandboxLevel,
    task::Approvals,
    transcript::{CallBlock, ToolResult},
};
use abide_tools::{CheckpointFolders, NoSubTasks, Options, Run, SandboxSettings, Scope, Tools};
use std::{env, fs, path::Path, process::ExitCode};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &*arguments {
        ["helper", without @ ..] => {
            let taken = without.iter().all(|what| match *what {
                "without-namespaces" => less::without_namespaces().is_ok(),
                "without-landlock" => less::without_landlock().is_ok(),
                _ => false,
            });
            if !taken {
                return ExitCode::FAILURE;
            }
            abide_tools::helper::main()
        }
        ["daemon", home, call, command, without @ ..] => {
            match daemon(Path::new(home), call, command, without) {
                Some(()) => ExitCode::SUCCESS,
                None => ExitCode::FAILURE,
            }
        }
        _ => ExitCode::FAILURE,
    }
}

/// Runs a command in `home`/workspace as the daemon does, and writes a report of it.
fn daemon(home: &Path, call: &str, command: &str, without: &[&str]) -> Option<()> {
    let helper = ["/proc/self/exe", "helper"].iter().chain(without).map(Into::into).collect();
    let options = Options {
        helper,
        spool_dir: home.join("spool"),
        own_dirs: vec![home.join("spool")],
        home: home.join("home"),
        checkpoints: CheckpointFolders { kept: home.join("kept"), scratch: home.join("scratch") },
        hidden_dirs: Vec::new(),
        sandbox_dir: home.join("sandbox"),
        worktrees_dir: home.join("worktrees"),
    };
    let tools = Tools::new(options).ok()?;
    let workspace = home.join("workspace").to_str()?.to_owned();
    let sandbox = SandboxSettings { require: SandboxLevel::None, ..SandboxSettings::default() };
    let scope = Scope {
        workspace: &workspace,
        path: None,
        allowed: &tools.specs(None),
        approvals: Approvals::Allow,
        remembered: &|_| None,
        rules: &abide_rules::Book::default(),
        sandbox: &sandbox,
    };
    let block = CallBlock {
        id: call.parse().ok()?,
        provider_id: String::new(),
        tool: "shell".to_owned(),
        arguments: command.to_owned(),
        opaque: None,
    };
    let assessed = tools.assess(&scope, &[block]).pop()?;
    let run = Run {
        conversation: "0199aaaa-0000-7000-8000-000000000007".parse().ok()?,
        call_id: assessed.call_id,
        attempt: 1,
        assessed,
        workspace,
        environment: env::vars().collect(),
        max_secs: None,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().ok()?;
    let call = async {
        tools.prepare(run, &sandbox).await.run(CancellationToken::new(), Box::new(|_| ()), &NoSubTasks).await
    };
    let finished = runtime.block_on(call);
    fs::write(home.join("finished.json"), report(finished.outcome, &finished.result)).ok()
}

fn report(outcome: CallOutcome, result: &ToolResult) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
        .unwrap_or(u64::MAX);
    serde_json::json!({ "outcome": outcome, "result": result, "peakKib": peak }).to_string()
}
