use abide_protocol::codec::Codec;
use std::time::Duration;

/// Who connects, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The client's name: `abide`, `abide-gui`.
    pub name: String,
    pub version: String,
    /// What the client would speak, best first.
    pub codecs: Vec<Codec>,
    /// How long connecting and `hello` may take.
    pub connect_timeout: Duration,
    /// How long an answer may take.
    pub call_timeout: Duration,
}

impl Options {
    /// bincode, else JSON; 5 s to connect, 60 s for an answer.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            codecs: vec![Codec::Binary, Codec::Json],
            connect_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(60),
        }
    }

    /// The same, in JSON only: a traffic that people can read.
    #[must_use]
    pub fn json(self) -> Self {
        Self { codecs: vec![Codec::Json], ..self }
    }
}
