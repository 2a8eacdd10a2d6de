use abide_protocol::codec::Codec;
use std::{path::PathBuf, time::Duration};

/// The client's name, and how it connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The client's name: `abide`, `abide-gui`.
    pub name: String,
    pub version: String,
    /// The codecs that the client offers, best first.
    pub codecs: Vec<Codec>,
    /// Connects here instead of to the daemon of a home, and starts none.
    pub socket: Option<PathBuf>,
    /// How long connecting and `hello` may take.
    pub connect_timeout: Duration,
    /// How long a reply may take.
    pub call_timeout: Duration,
}

impl Options {
    /// bincode, else JSON; 5 s to connect, 60 s for a reply.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            codecs: vec![Codec::Binary, Codec::Json],
            socket: None,
            connect_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(60),
        }
    }

    /// The same, with the socket that the environment names.
    #[must_use]
    pub fn at_named_socket(self) -> Self {
        Self { socket: abide_host::home::named_socket(), ..self }
    }

    /// The same with JSON only, for traffic that people can read.
    #[must_use]
    pub fn json(self) -> Self {
        Self { codecs: vec![Codec::Json], ..self }
    }
}
