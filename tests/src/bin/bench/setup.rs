//! A daemon connected to the benchmark's own model, with a client: starts tasks, waits, and measures memory.

use crate::model::{MODEL, Model};
use abide_client::{
    Client,
    protocol::{
        codec::{Codec, json},
        hello::{HelloParams, PROTOCOL, PeerInfo, ProtocolRange},
        method::{
            self,
            daemon::{StatusParams, StatusReply},
            task::{StartTaskParams, StartTaskReply},
        },
        task::{Approvals, LimitsRequest, Mode},
    },
};
use abide_tests::{
    daemon::{Config, TestDaemon},
    wait,
};
use std::fs;

/// Enough for most benchmarks.
pub(crate) const PARALLEL: usize = 256;

pub(crate) struct Setup {
    pub(crate) client: Client,
    pub(crate) daemon: TestDaemon,
    pub(crate) model: Model,
}

impl Setup {
    pub(crate) async fn with(model: Model) -> Self {
        let config = config(&model, PARALLEL);
        Self::configured(model, &config).await
    }

    pub(crate) async fn configured(model: Model, config: &Config) -> Self {
        let daemon = TestDaemon::start(config).await;
        let client = daemon.client().await;
        Self { client, daemon, model }
    }

    /// A task without limits, with every call allowed. Its prompt, and so its model requests, contain
    /// `[k:KEY]`.
    pub(crate) fn task(&self, key: &str) -> StartTaskParams {
        StartTaskParams {
            message: format!("[k:{key}] Do what the script says."),
            mode: Some(Mode::Agent),
            workspace: Some(self.daemon.workspace().display().to_string()),
            approvals: Approvals::Allow,
            limits: LimitsRequest {
                max_steps: Some(0),
                max_duration_secs: Some(0),
                ..LimitsRequest::default()
            },
            environment: self.daemon.variables(),
            ..StartTaskParams::default()
        }
    }

    pub(crate) async fn begin(&self, key: &str) -> StartTaskReply {
        begin(&self.client, self.task(key)).await
    }

    pub(crate) async fn status(&self) -> StatusReply {
        self.client.call::<method::Status>(StatusParams::default()).await.expect("the status")
    }

    /// Waits until no task runs.
    pub(crate) async fn idle(&self) {
        wait::wait_until("all tasks to end or wait", async || self.status().await.tasks.running == 0).await;
    }

    /// Waits until no conversation is in memory.
    pub(crate) async fn unloaded(&self) {
        wait::wait_until("all conversations to leave memory", async || self.status().await.sessions == 0)
            .await;
    }

    /// The daemon's proportional set size, in bytes.
    pub(crate) fn pss(&self) -> f64 {
        let rollup =
            fs::read_to_string(format!("/proc/{}/smaps_rollup", self.daemon.pid())).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).expect("a size")
            * 1024.0
    }

    /// Kills the daemon with SIGKILL and launches another without waiting for it.
    pub(crate) fn crash_and_launch(&mut self) {
        self.daemon.kill();
        self.daemon.launch();
    }
}

/// At most so many model calls are made at the same time.
pub(crate) fn config(model: &Model, parallel: usize) -> Config {
    Config::new()
        .provider("test", "openai-chat", &model.url(), &format!("max_parallel = {parallel}"))
        .default_model(MODEL)
}

pub(crate) async fn begin(client: &Client, params: StartTaskParams) -> StartTaskReply {
    client.call::<method::StartTask>(params).await.expect("the task starts")
}

/// The first line of a raw connection.
pub(crate) fn hello(codec: Codec) -> Vec<u8> {
    let hello = HelloParams {
        protocol: ProtocolRange { min: PROTOCOL, max: PROTOCOL },
        codecs: vec![codec.name().to_owned()],
        client: PeerInfo { name: "bench".to_owned(), version: "0".to_owned() },
    };
    json::encode_hello(&hello).expect("a hello")
}
