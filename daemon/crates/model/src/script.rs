//! A model that is a file of replies: for the demo, for tests, for reproducing a bug.
//!
//! Stateless: the request alone determines the reply, so a script continues after a crash of the daemon. The
//! first reply whose `when` fits is played.
//!
//! ```json
//! {
//!   "name": "hello",
//!   "chunk_ms": 30,
//!   "replies": [
//!     { "when": { "replies": 0, "offered": "ask_user" },
//!       "text": "Let me ask first.",
//!       "calls": [{ "tool": "ask_user", "arguments": { "question": "Who are you?" } }] },
//!     { "text": "Hello {{answer|stranger}}." }
//!   ]
//! }
//! ```

mod file;
mod play;
mod scene;

use crate::{
    config::ProviderConfig,
    demo,
    error::ModelError,
    http::Peer,
    listing::Listed,
    quote::quote,
    request::{ModelRequest, Sink},
    server::Server,
};
use abide_protocol::{record::ModelErrorKind, transcript::Reply};
use file::Script;
use futures_util::future::{BoxFuture, FutureExt as _, ready};
use std::{io::Read as _, sync::OnceLock};

/// The longest script, in bytes.
const MAX_SCRIPT: u64 = 4 * 1024 * 1024;

/// Plays a provider's script.
#[derive(Default)]
pub(crate) struct Player {
    /// Read once, when first needed.
    script: OnceLock<Result<Script, ModelError>>,
}

impl Player {
    fn script(&self, config: &ProviderConfig) -> Result<&Script, ModelError> {
        self.script.get_or_init(|| load(config)).as_ref().map_err(Clone::clone)
    }

    /// The script, if the request names its model.
    fn asked(&self, peer: &Peer<'_>) -> Result<&Script, ModelError> {
        let script = self.script(peer.config)?;
        if script.name() == peer.model {
            return Ok(script);
        }
        Err(ModelError::new(
            ModelErrorKind::NotFound,
            format!(
                "{}: there is no script `{}`, only `{}`",
                peer.config.name,
                quote(peer.model),
                quote(script.name())
            ),
        ))
    }
}

impl Server for Player {
    fn complete<'a>(
        &'a self,
        peer: &'a Peer<'a>,
        request: &'a ModelRequest,
        sink: Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async { play::complete(self.asked(peer)?, request, sink).await })
    }

    fn models<'a>(&'a self, peer: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<Listed>, ModelError>> {
        let listed = |name: &str| vec![Listed { name: name.to_owned(), window: None }];
        ready(self.script(peer.config).map(|script| listed(script.name()))).boxed()
    }

    fn supports(&self, peer: &Peer<'_>) -> Result<(), ModelError> {
        self.asked(peer).map(drop)
    }
}

/// Reads a provider's script, or the built-in one if it names none.
fn load(config: &ProviderConfig) -> Result<Script, ModelError> {
    let fail = |kind, what: String| ModelError::new(kind, format!("{}: {what}", config.name)).fatal();
    let Some(path) = &config.script else {
        return serde_json::from_str(demo::SCRIPT)
            .map_err(|e| fail(ModelErrorKind::Malformed, format!("the built-in script is broken ({e})")));
    };
    let shown = quote(&path.display().to_string());
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_SCRIPT).read_to_string(&mut text))
        .map_err(|e| fail(ModelErrorKind::NotFound, format!("the script {shown} cannot be read ({e})")))?;
    serde_json::from_str(&text).map_err(|e| {
        let what = format!("the script {shown} is not valid ({})", quote(&e.to_string()));
        fail(ModelErrorKind::BadRequest, what)
    })
}
