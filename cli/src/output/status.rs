//! The daemon's status in words.

use crate::output::{
    measure,
    style::{BAD, FAINT, NEEDS_YOU, PLAIN, paint},
    table::{cell, table},
    text,
};
use abide_client::protocol::{
    method::{
        daemon::{
            CutWork, RefusedConfig, SandboxStatus, ShutdownReply, StatusReply, TaskCounts, UpdateDaemonReply,
        },
        http::HttpStatus,
    },
    notification::DaemonUpdate,
    provider::ProviderInfo,
    sandbox::SandboxLevel,
    start::{AtLogin, StartedBy, SystemdStart},
    transcript::EffectClass,
    update::{UpdateStage, UpdateStatus},
};
use std::fmt::Write as _;

pub(crate) fn daemon(status: &StatusReply) -> String {
    let tasks = status.tasks;
    let state = match status.daemon {
        DaemonUpdate { storage_damaged: true, .. } => {
            ("the database is damaged, and something may be missing: see `abide doctor`", BAD)
        }
        DaemonUpdate { storage_full: true, .. } => {
            ("the disk is full: everything waits for room, nothing is lost", BAD)
        }
        DaemonUpdate { shutting_down: true, .. } => ("shutting down", NEEDS_YOU),
        DaemonUpdate { .. } => ("running", PLAIN),
    };
    let keys = if status.keys.is_empty() { "none".to_owned() } else { status.keys.join(", ") };
    let memory =
        if status.memory_bytes == 0 { "unknown".to_owned() } else { measure::bytes(status.memory_bytes) };
    let waits = measure::count(status.inbox);
    let is_exposed = !status.http.plain.is_empty() || status.http.failed.is_some();
    let update = status.update.as_ref().map(update_words);
    let update_style = if update.is_some() { NEEDS_YOU } else { PLAIN };
    let rows = [
        ("state", state.0.to_owned(), state.1),
        ("version", status.version.clone(), PLAIN),
        ("update", update.unwrap_or_else(|| "none was noticed".to_owned()), update_style),
        ("process", format!("{}, for {}", status.pid, measure::duration(status.uptime_ms)), PLAIN),
        ("started", started(&status.start.by), PLAIN),
        ("at login", at_login(&status.start.at_login), PLAIN),
        ("memory", memory, PLAIN),
        (
            "tasks",
            format!("{} running, {} waiting, {} paused", tasks.running, tasks.waiting, tasks.paused),
            PLAIN,
        ),
        ("inbox", waits, if status.inbox == 0 { PLAIN } else { NEEDS_YOU }),
        ("clients", status.connections.to_string(), PLAIN),
        (
            "sandbox",
            sandbox(&status.sandbox),
            if status.sandbox.level < status.sandbox.require { BAD } else { PLAIN },
        ),
        ("keys", keys, PLAIN),
        ("data", status.data_dir.clone(), PLAIN),
        ("socket", status.socket.clone(), PLAIN),
        ("http", http(&status.http), if is_exposed { BAD } else { PLAIN }),
        ("config", config(status), if status.config.refused.is_some() { BAD } else { PLAIN }),
    ];
    let rows: Vec<_> =
        rows.iter().map(|(name, value, style)| [cell(FAINT, name), cell(*style, value)]).collect();
    table(["", ""], &rows, None)
}

/// The reply to `abide daemon update`.
pub(crate) fn updated(reply: &UpdateDaemonReply) -> String {
    match &reply.update {
        None => format!("the daemon runs the installed program, version {}\n", reply.version),
        Some(update) => format!("the daemon runs version {}; {}\n", reply.version, update_words(update)),
    }
}

fn update_words(update: &UpdateStatus) -> String {
    let UpdateStatus { stage, program, version, waits_for, refused } = update;
    let program = text::one_line(program);
    let version = version
        .as_ref()
        .map_or_else(|| "another version".to_owned(), |v| format!("version {}", text::one_line(v)));
    let mut words = match stage {
        UpdateStage::Ready => {
            format!("{version} is installed at {program}: `abide daemon update` lets it take over")
        }
        UpdateStage::Waiting if waits_for.is_empty() => {
            format!("{version} takes over from {program} at the next boundary of all tasks")
        }
        UpdateStage::Waiting => {
            format!("{version} takes over from {program} when nothing is cut off by it; at work:")
        }
        UpdateStage::HandingOver => format!("{version} takes over now"),
        UpdateStage::Refused => {
            let why = refused.as_deref().map(text::one_line).unwrap_or_default();
            return format!("the program at {program} cannot take over: {why}");
        }
    };
    for line in waits_for {
        let _ = write!(words, "\n  {}", text::one_line(line));
    }
    words
}

/// Who started the daemon.
fn started(by: &StartedBy) -> String {
    match by {
        StartedBy::Client => "by a client that needed it".to_owned(),
        StartedBy::Terminal => "by hand, in a terminal".to_owned(),
        StartedBy::Autostart => "by the desktop, at login".to_owned(),
        StartedBy::Program => "by another program".to_owned(),
        StartedBy::Systemd(SystemdStart { unit: None, .. }) => {
            "by a program that gave it the socket".to_owned()
        }
        StartedBy::Systemd(SystemdStart { unit: Some(unit), socket }) => {
            let how = if *socket { ", which holds its socket" } else { "" };
            format!("by systemd as {unit}{how}")
        }
    }
}

/// What starts a daemon at login.
pub(crate) fn at_login(at_login: &AtLogin) -> String {
    match at_login {
        AtLogin::Unknown => "unknown".to_owned(),
        AtLogin::Nothing => "not started; `abide daemon install` changes that".to_owned(),
        AtLogin::Systemd(unit) => format!("started by systemd: {unit}"),
        AtLogin::Autostart(entry) => format!("started by the desktop: {entry}"),
    }
}

fn sandbox(sandbox: &SandboxStatus) -> String {
    let SandboxStatus { level, why_not, require } = sandbox;
    let mut words = level.to_string();
    if level < require {
        let _ =
            write!(words, ", and `[sandbox] require` is {require}: every command asks, and --yes is refused");
    } else if *level < SandboxLevel::Full {
        words.push_str(": every command asks");
    }
    for why in why_not {
        let _ = write!(words, "; {}", text::one_line(why));
    }
    words
}

fn http(http: &HttpStatus) -> String {
    let HttpStatus { urls, plain, failed } = http;
    let mut words = if urls.is_empty() { "off".to_owned() } else { urls.join(", ") };
    if !plain.is_empty() {
        let _ = write!(words, "; other machines reach {}, and nothing is encrypted", plain.join(", "));
    }
    if let Some(why) = failed {
        let _ = write!(words, "; {}", text::one_line(why));
    }
    words
}

fn config(status: &StatusReply) -> String {
    let now = status.started_at.plus(status.uptime_ms);
    match &status.config.refused {
        Some(refused) => refused_config(refused),
        None => format!("{}, read {}", status.config.path, measure::ago(status.config.read_at, now)),
    }
}

/// The unfinished tasks of a daemon that was stopped.
pub(crate) fn stopped(left: &ShutdownReply) -> String {
    let mut out = "stopped".to_owned();
    let TaskCounts { running, waiting, paused } = left.tasks;
    let tasks = [
        (running, "goes on", "go on"),
        (waiting, "waits for you", "wait for you"),
        (paused, "is paused", "are paused"),
    ];
    let tasks: Vec<String> = tasks
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| format!("{} {}", measure::count(n), if n == 1 { one } else { many }))
        .collect();
    if !tasks.is_empty() {
        let _ = write!(out, "; at the next start, of the unfinished tasks: {}", tasks.join(", "));
    }
    out.push('\n');
    for cut in &left.cut {
        let (what, then) = cut_off(&cut.work);
        let title = text::one_line(&cut.title);
        let _ = writeln!(out, "{} {} {title}: {what}", paint(BAD, "cut off:"), cut.task_id.short());
        let _ = writeln!(out, "  {}", paint(FAINT, then));
    }
    out
}

/// The work, and what the next start does with it.
fn cut_off(work: &CutWork) -> (String, &'static str) {
    let CutWork::ToolCall(call) = work else {
        return ("a model call".to_owned(), "the model is asked again at the next start");
    };
    let then = match call.effect {
        EffectClass::Pure | EffectClass::Control => "it runs again at the next start",
        EffectClass::Verifiable => "the next start looks whether it was done, and does it if not",
        EffectClass::Unsafe => {
            "it was killed and is not run again by itself; what it did is unknown, and the model is told so"
        }
    };
    (format!("{} {}", text::one_line(&call.tool), text::one_line(&call.summary)), then)
}

/// What is wrong with the configuration's file, and which configuration is in force.
pub(crate) fn refused_config(refused: &RefusedConfig) -> String {
    let message = text::one_line(&refused.message);
    format!("the configuration is refused: {message}. Until then what was read before stays in force")
}

/// A key that the shell has and the daemon lacks, and the command that stores it.
pub(crate) fn missing_key(variable: &str, provider: &str) -> String {
    format!(
        "this shell has {variable}, the daemon has no such key; to give it to the daemon:\n  printenv {variable} | abide key set {}",
        text::one_line(provider)
    )
}

/// A provider that the daemon does not have, beside those that it has.
pub(crate) fn unknown_provider(name: &str, known: &[&str]) -> String {
    let known = known.iter().map(|known| text::one_line(known)).collect::<Vec<_>>().join(", ");
    format!("the daemon has no provider {} yet; it has {known} (see `abide models`)", text::one_line(name))
}

/// A model that its provider does not list.
pub(crate) fn unlisted_model(model: &str, provider: &ProviderInfo) -> String {
    let [name, model] = [&provider.name, model].map(text::one_line);
    format!("{name} does not list {model}, and may not have it; `abide models` shows what it lists")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        CallId, ConversationId, TaskId,
        method::daemon::{ConfigStatus, CutCall, CutOff},
        start::StartStatus,
    };
    use insta::assert_snapshot;
    use uuid::Uuid;

    #[test]
    fn work_cut_off_is_named_with_what_the_next_start_does() {
        let cut = |work| CutOff {
            conversation_id: ConversationId(Uuid::from_u128(1)),
            title: "Tidy up".into(),
            task_id: TaskId(Uuid::from_u128(0x5f2c_81d0)),
            work,
        };
        let call = CutCall {
            call_id: CallId(Uuid::from_u128(3)),
            tool: "shell".into(),
            summary: "make \u{1b}[2Jall".into(),
            effect: EffectClass::Unsafe,
        };
        let left = ShutdownReply {
            unfinished: 3,
            tasks: TaskCounts { running: 2, waiting: 1, paused: 0 },
            cut: vec![cut(CutWork::ToolCall(call)), cut(CutWork::ModelCall)],
        };
        let shown = anstream::adapter::strip_str(&stopped(&left)).to_string();
        assert_snapshot!(shown, @r"
        stopped; at the next start, of the unfinished tasks: 2 go on, 1 waits for you
        cut off: 5f2c81d0 Tidy up: shell make \x1b[2Jall
          it was killed and is not run again by itself; what it did is unknown, and the model is told so
        cut off: 5f2c81d0 Tidy up: a model call
          the model is asked again at the next start
        ");
        let nothing = ShutdownReply { unfinished: 0, tasks: TaskCounts::default(), cut: vec![] };
        assert_eq!(stopped(&nothing), "stopped\n");
    }

    #[test]
    fn the_status_has_tasks_inbox_and_configuration() {
        let status = StatusReply {
            version: "0.1.0".into(),
            pid: 42,
            started_at: fixture::START,
            uptime_ms: 200_000,
            memory_bytes: 1_572_864,
            connections: 1,
            sessions: 2,
            tasks: TaskCounts { running: 1, waiting: 2, paused: 0 },
            inbox: 2,
            daemon: DaemonUpdate {
                storage_full: true,
                storage_damaged: false,
                shutting_down: false,
                update: None,
            },
            data_dir: "/d".into(),
            socket: "/s".into(),
            keys: vec![],
            config: ConfigStatus { path: "/c".into(), read_at: fixture::START, refused: None },
            update: None,
            sandbox: SandboxStatus {
                level: SandboxLevel::Landlock,
                why_not: vec!["no `full`: it failed".into()],
                require: SandboxLevel::Full,
            },
            start: StartStatus {
                by: StartedBy::Systemd(SystemdStart { unit: Some("abided.service".into()), socket: true }),
                at_login: AtLogin::Nothing,
            },
            http: HttpStatus {
                urls: vec!["http://localhost:5000".into(), "http://192.0.2.7:5000".into()],
                plain: vec!["http://192.0.2.7:5000".into()],
                failed: None,
            },
        };
        let shown = anstream::adapter::strip_str(&daemon(&status)).to_string();
        assert_snapshot!(shown, @r"
        state     the disk is full: everything waits for room, nothing is lost
        version   0.1.0
        update    none was noticed
        process   42, for 3 min 20 s
        started   by systemd as abided.service, which holds its socket
        at login  not started; `abide daemon install` changes that
        memory    1.5 MiB
        tasks     1 running, 2 waiting, 0 paused
        inbox     2
        clients   1
        sandbox   landlock, and `[sandbox] require` is full: every command asks, and --yes is refused; no `full`: it failed
        keys      none
        data      /d
        socket    /s
        http      http://localhost:5000, http://192.0.2.7:5000; other machines reach http://192.0.2.7:5000, and nothing is encrypted
        config    /c, read 3 min ago
        ");
    }
}
