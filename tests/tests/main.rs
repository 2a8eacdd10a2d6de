//! The scenarios: real binaries with a scripted or a real model. One folder for each area, one file for each
//! promise.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "what tests share fails as they do, by panicking with words, and prints the figures they saw"
)]

mod home {
    mod config_edit;
    mod configuration;
    mod doctor;
    mod environment;
    mod hidden;
    mod providers;
    mod secrets;
    mod settings;
}
mod memory {
    mod forgetting;
    mod meaning;
    mod notes;
    mod recall;
    mod servers;
    mod steps;
}
mod lifecycle {
    mod delete;
    mod named_socket;
    mod refused;
    mod run;
    mod socat;
    mod task_id;
}
mod agent {
    mod agents_md;
    mod approvals;
    mod ask_user;
    mod code;
    mod files;
    mod imported;
    mod inference;
    mod limits;
    mod long_context;
    mod personas;
    mod prompts;
    mod python;
    mod rules;
}
mod modes {
    mod auto;
    mod plan;
    mod roa;
    mod tree;
}
mod sandbox {
    mod approved;
    mod repository;
    mod tool;
    mod work;
}
mod undo {
    mod changes;
    mod crash;
    pub(crate) mod repository;
}
mod worktree {
    mod crash;
    mod fork;
    mod tasks;
}
mod tree {
    mod bad_input;
    mod by_code;
    mod clients;
    mod feeds;
    mod fork;
    mod intervene;
}
mod model {
    mod fatal;
    mod misbehaves;
    mod opaque;
    mod retry_after;
    mod spoken;
}
mod control {
    mod pause;
    mod stop;
}
mod crash {
    mod between_steps;
    mod call_prepared;
    mod crash_loop;
    mod edit_stopped;
    mod graceful;
    mod model_streaming;
    mod tool_running;
}
mod watch {
    mod cli_watch;
}
mod web {
    mod agent;
    mod client;
    mod cuts;
    mod doors;
    mod flow;
    mod guard;
    mod hostile;
    pub(crate) mod open;
    mod page;
    mod peers;
    mod quiet;
    mod socket;
    mod sub_task;
}
mod load {
    mod waiting;
}
mod race {
    mod answers;
    mod daemons;
    mod same_request;
    mod subscribers;
}
mod storage {
    mod damaged;
    mod failing_io;
    mod full_disk;
    mod schema;
}
mod intruder {
    mod crowding;
    mod other_user;
    mod planted;
    mod skew;
}
mod process {
    mod caller;
    mod clean;
    mod flood;
    mod trees;
}
mod soak {
    mod flat;
}
mod upgrade {
    mod drain;
    mod hand_over;
    mod hostile;
    mod older_home;
    mod socket;
    mod stop;
}
mod packages {
    mod apt;
    mod archive;
    mod contents;
}
mod storm {
    mod kills;
}
mod peer {
    mod chat;
    mod json_rpc;
    mod litellm;
    mod mock;
    mod modes;
}
mod service {
    mod install;
    mod purge;
    mod real;
    mod started_by;
    mod uninstall;
    mod units;
    mod without_systemd;
}
mod desktop {
    mod answers;
    mod dunst;
    mod notifications;
    mod opening;
    mod servers;
}
mod terminal {
    mod demo;
    mod high_risk;
    mod look;
    mod provider;
    mod rules;
}
mod window {
    mod attention;
    mod crash;
    mod desk;
    mod first_run;
    mod one;
    mod several;
    mod sub_tasks;
    mod task;
    mod theme;
    mod tray;
    mod undo;
}
mod cli {
    mod answers;
    mod asked_again;
    mod chat;
    mod completion;
    mod errors;
    mod exit_codes;
    mod kinds;
    mod lists;
    mod output;
    mod result;
    mod search;
    mod tasks;
}

/// A file without its `mod` line would never run.
#[test]
fn every_scenario_file_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let contents = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for area in std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let name = area.file_name().unwrap().to_str().unwrap();
        let (_, rest) = contents.split_once(&format!("mod {name} {{")).expect("every area is a module");
        let (files, _) = rest.split_once('}').unwrap();
        for file in std::fs::read_dir(&area).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()) {
            let stem = file.file_stem().unwrap().to_str().unwrap();
            assert!(files.contains(&format!("mod {stem};")), "{} is no module", file.display());
        }
    }
}
