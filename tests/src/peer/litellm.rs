use crate::{
    model_server::{MODEL, ModelServer},
    process, wait,
};
use std::{env, fs, net::SocketAddr, process::Stdio};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    process::Child,
};

/// LiteLLM's proxy in front of the scripted model; it ends when it is dropped.
pub struct LiteLlm {
    address: SocketAddr,
    _child: Child,
    _folder: TempDir,
}

impl LiteLlm {
    /// The model's name on the proxy.
    pub const MODEL: &str = "m1";

    /// Starts the program that `ABIDE_TEST_LITELLM` names.
    ///
    /// # Panics
    /// It names none, or the proxy does not answer in time.
    pub async fn start(model: &ModelServer) -> Self {
        let program = env::var_os("ABIDE_TEST_LITELLM").expect("ABIDE_TEST_LITELLM names LiteLLM's program");
        let folder = tempfile::tempdir().expect("a folder for the proxy");
        let config = folder.path().join("config.yaml");
        fs::write(&config, configuration(model)).expect("the proxy's configuration can be written");
        let address = free_address().await;
        let log = process::Log::new();
        let mut child = process::program(program)
            .arg("--config")
            .arg(&config)
            .args(["--host", "127.0.0.1", "--port", &address.port().to_string()])
            .env("LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY", "true")
            // Otherwise it downloads a list of prices.
            .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.pipe())
            .stderr(log.pipe())
            .spawn()
            .expect("LiteLLM can be started");
        wait::wait_seeing("LiteLLM to answer", async || match child.try_wait() {
            Ok(None) => lists_models(address).await.ok_or_else(|| log.text()),
            ended => panic!("LiteLLM has ended ({ended:?}):\n{}", log.text()),
        })
        .await;
        Self { address, _child: child, _folder: folder }
    }

    /// The base URL of its OpenAI side.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The base URL of its Anthropic side.
    #[must_use]
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// `hosted_vllm` keeps Chat Completions; for `openai` the proxy would translate Anthropic's API to OpenAI's
/// Responses.
fn configuration(model: &ModelServer) -> String {
    format!(
        "model_list:\n  - model_name: {}\n    litellm_params:\n      model: hosted_vllm/{MODEL}\n      api_base: {}\n      api_key: none\n",
        LiteLlm::MODEL,
        model.openai_url()
    )
}

/// The proxy accepts no port 0. If another program takes the port first, the proxy ends with an error.
async fn free_address() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port of the loopback");
    listener.local_addr().expect("a bound listener has an address")
}

async fn lists_models(address: SocketAddr) -> Option<()> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(b"GET /v1/models HTTP/1.0\r\n\r\n").await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    answer.contains(LiteLlm::MODEL).then_some(())
}
