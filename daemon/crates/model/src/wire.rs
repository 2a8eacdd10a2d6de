//! The APIs of model servers. Each is a module with a [`Wire`], and a line in [`WIRES`].

use crate::{
    anthropic,
    config::ProviderConfig,
    error::ModelError,
    http::Peer,
    listing::Listed,
    openai,
    request::{ModelRequest, Sink},
    responses, script,
};
use abide_protocol::transcript::Reply;
use futures_util::future::BoxFuture;

/// All of them.
const WIRES: &[Wire] = &[
    openai::WIRE,
    responses::WIRE,
    anthropic::WIRE,
    script::WIRE,
    #[cfg(test)]
    tests::ECHO,
];

/// An API, as far as it is the same for all providers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wire {
    /// Its name in configuration, replies and lists.
    pub(crate) name: &'static str,
    pub(crate) place: ServerLocation,
    /// Makes a provider's server. Nothing is read or asked yet.
    pub(crate) server: fn(&ProviderConfig) -> Box<dyn Server>,
}

/// Where the providers of an API are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerLocation {
    /// At an address, over HTTP.
    Address {
        /// The vendor's own address.
        vendor_url: &'static str,
        /// Other servers speak it too: a provider that is not named after a vendor must give its address.
        is_imitated: bool,
        /// Describes the right `base_url`, for a person who has set another.
        base_url: &'static str,
    },
    /// In a file on this machine, without address and key.
    File,
}

/// A provider's implementation of its API.
pub(crate) trait Server: Send + Sync {
    /// One attempt. (Boxed, so that callers' futures do not contain the largest one.)
    fn complete<'a>(
        &'a self,
        peer: &'a Peer<'a>,
        request: &'a ModelRequest,
        sink: Sink<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;

    /// The provider's models, by its own names.
    fn models<'a>(&'a self, peer: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<Listed>, ModelError>>;

    /// Whether the peer's model may be called, as far as is known without asking.
    fn supports(&self, peer: &Peer<'_>) -> Result<(), ModelError> {
        peer.url("", "").map(drop)
    }
}

/// The wire of that name.
pub(crate) fn named(name: &str) -> Option<&'static Wire> {
    WIRES.iter().find(|wire| wire.name == name)
}

/// Their names, as a configuration may give them.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    WIRES.iter().map(|wire| wire.name)
}

#[cfg(test)]
mod tests {
    //! An API needs one module and one line above: this one echoes.

    use super::{Server, ServerLocation, Wire};
    use crate::{
        Api, Keys, Models, Prices, ProviderConfig, Secret, Written,
        error::ModelError,
        http::Peer,
        listing::Listed,
        request::{ModelRequest, Sink},
    };
    use abide_protocol::{
        method::daemon::ListModelsParams,
        shape::RequestShape,
        transcript::{Block, Entry, Reply, StopReason, TextBlock, Usage},
    };
    use futures_util::future::{BoxFuture, FutureExt as _, ready};
    use std::sync::Arc;

    pub(super) const ECHO: Wire =
        Wire { name: "echo", place: ServerLocation::File, server: |_| Box::new(Echo) };

    struct Echo;

    impl Server for Echo {
        fn complete<'a>(
            &'a self,
            peer: &'a Peer<'a>,
            request: &'a ModelRequest,
            _: Sink<'a>,
        ) -> BoxFuture<'a, Result<Reply, ModelError>> {
            let said = request.transcript.entries().iter().filter_map(|entry| match entry {
                Entry::User(text) => Some(Block::Text(TextBlock { text: text.clone(), opaque: None })),
                _ => None,
            });
            let reply = Reply {
                blocks: said.collect(),
                api: "echo".to_owned(),
                model: peer.model.to_owned(),
                stop_reason: StopReason::EndTurn,
                usage: Usage::default(),
            };
            ready(Ok(reply)).boxed()
        }

        fn models<'a>(&'a self, _: &'a Peer<'a>) -> BoxFuture<'a, Result<Vec<Listed>, ModelError>> {
            ready(Ok(vec![Listed { name: "loud".to_owned(), window: None }])).boxed()
        }

        fn supports(&self, _: &Peer<'_>) -> Result<(), ModelError> {
            Ok(())
        }
    }

    struct NoKeys;

    impl Keys for NoKeys {
        fn key(&self, _: &str) -> Option<Secret> {
            None
        }
    }

    #[tokio::test]
    async fn a_wire_is_found_by_its_name_listed_and_asked() {
        let api: Api = "echo".parse().unwrap();
        let provider = ProviderConfig::new("canyon", api, "", "test");
        let models = Models::new(vec![provider], Arc::new(NoKeys), Prices::default());
        let listed = models.list(&ListModelsParams::default()).await;
        assert_eq!((listed[0].api.as_str(), &listed[0].models), ("echo", &vec!["canyon/loud".to_owned()]));
        models.supports("canyon/loud").unwrap();
        let request = ModelRequest {
            model: "canyon/loud".to_owned(),
            system: "".into(),
            tools: Arc::new([]),
            conversation: None,
            transcript: vec![Entry::User("hello".to_owned())].into(),
            written: Written::default(),
            max_output_tokens: None,
            shape: RequestShape::default(),
        };
        let reply = models.complete(request, &mut |_| ()).await.unwrap();
        assert_eq!(reply.blocks, [Block::Text(TextBlock { text: "hello".to_owned(), opaque: None })]);
    }
}
