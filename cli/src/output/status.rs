//! The daemon, in words.

use crate::output::{
    measure,
    style::{BAD, FAINT, NEEDS_YOU, PLAIN},
    table::{cell, table},
    text,
};
use abide_client::protocol::{
    method::daemon::{RefusedConfig, StatusReply},
    notification::DaemonUpdate,
};

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
    let rows = [
        ("state", state.0.to_owned(), state.1),
        ("version", status.version.clone(), PLAIN),
        ("process", format!("{}, for {}", status.pid, measure::duration(status.uptime_ms)), PLAIN),
        ("memory", memory, PLAIN),
        (
            "tasks",
            format!("{} running, {} waiting, {} paused", tasks.running, tasks.waiting, tasks.paused),
            PLAIN,
        ),
        ("inbox", waits, if status.inbox == 0 { PLAIN } else { NEEDS_YOU }),
        ("clients", status.connections.to_string(), PLAIN),
        ("keys", keys, PLAIN),
        ("data", status.data_dir.clone(), PLAIN),
        ("socket", status.socket.clone(), PLAIN),
        ("config", config(status), if status.config.refused.is_some() { BAD } else { PLAIN }),
    ];
    let rows: Vec<_> =
        rows.iter().map(|(name, value, style)| [cell(FAINT, name), cell(*style, value)]).collect();
    table(["", ""], &rows, None)
}

fn config(status: &StatusReply) -> String {
    let now = status.started_at.plus(status.uptime_ms);
    match &status.config.refused {
        Some(refused) => refused_config(refused),
        None => format!("{}, read {}", status.config.path, measure::ago(status.config.read_at, now)),
    }
}

/// What is wrong with the configuration, and what holds meanwhile.
pub(crate) fn refused_config(refused: &RefusedConfig) -> String {
    let message = text::one_line(&refused.message);
    format!("the configuration is refused: {message}. Until then what was read before stays in force")
}

/// What the shell knows and the daemon does not, with the way out.
pub(crate) fn missing_key(variable: &str, provider: &str) -> String {
    format!(
        "this shell has {variable}, the daemon has no such key; to give it to the daemon:\n  printenv {variable} | abide key set {}",
        text::one_line(provider)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;
    use abide_client::protocol::{
        method::daemon::{ConfigStatus, TaskCounts},
        notification::DaemonUpdate,
    };

    #[test]
    fn status_names_what_a_person_asks_for() {
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
            daemon: DaemonUpdate { storage_full: true, storage_damaged: false, shutting_down: false },
            data_dir: "/d".into(),
            socket: "/s".into(),
            keys: vec![],
            config: ConfigStatus { path: "/c".into(), read_at: fixture::START, refused: None },
        };
        let shown = anstream::adapter::strip_str(&daemon(&status)).to_string();
        assert_eq!(
            shown,
            "state    the disk is full: everything waits for room, nothing is lost\n\
             version  0.1.0\n\
             process  42, for 3 min 20 s\n\
             memory   1.5 MiB\n\
             tasks    1 running, 2 waiting, 0 paused\n\
             inbox    2\n\
             clients  1\n\
             keys     none\n\
             data     /d\n\
             socket   /s\n\
             config   /c, read 3 min ago\n"
        );
    }
}
