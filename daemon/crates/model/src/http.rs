//! Requests to providers over HTTP. The clients are made when first used, so that an idle daemon stays small.

mod failure;
mod obstacle;
mod proxy;

use crate::{
    assembly::{Fault, Nonsense},
    config::{ProviderConfig, Secret},
    error::ModelError,
    quote::quote,
};
use abide_protocol::record::ModelErrorKind as Kind;
use proxy::Proxies;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use std::{error::Error as _, sync::Arc, sync::OnceLock, time::Duration};
use tokio::time::timeout;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Limits on idle connections: how long one is kept, and how many to one server. Many tasks may ask at once,
/// and then none.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const IDLE_CONNECTIONS: usize = 8;
/// How long an error's body may take to arrive.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of an error's body is read, in bytes.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// The HTTP clients. Plain HTTP to this machine needs neither certificates nor a proxy, so it has a client
/// without them.
#[derive(Default)]
pub(crate) struct Http {
    network: OnceLock<Result<Client, String>>,
    loopback: OnceLock<Result<Client, String>>,
}

impl Http {
    fn client(&self, url: &Url) -> Result<&Client, &String> {
        if is_plain_loopback(url) {
            self.loopback.get_or_init(|| build(false)).as_ref()
        } else {
            self.network.get_or_init(|| build(true)).as_ref()
        }
    }
}

fn build(network: bool) -> Result<Client, String> {
    let client = Client::builder()
        .user_agent(concat!("abide/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .redirect(reqwest::redirect::Policy::none())
        // Some proxies compress all the same: that is read, but not asked for, since it holds pieces of a
        // stream back.
        .default_headers([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))].into_iter().collect())
        .tls_backend_preconfigured(
            tls(network).map_err(|e| format!("cannot set up TLS: {e}{}", obstacle::trust_of_env()))?,
        );
    let client = if network { client } else { client.no_proxy() };
    client.build().map_err(|e| format!("cannot set up HTTP: {}", cause(&e)))
}

fn tls(network: bool) -> Result<rustls::ClientConfig, rustls::Error> {
    use rustls_platform_verifier::BuilderVerifierExt as _;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = if network {
        config.with_platform_verifier()?.with_no_client_auth()
    } else {
        config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn is_plain_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "http" && (host == "localhost" || host == "[::1]" || host.starts_with("127."))
}

/// A provider for the time of one call.
pub(crate) struct Peer<'a> {
    pub(crate) config: &'a ProviderConfig,
    pub(crate) key: Option<Secret>,
    pub(crate) http: &'a Http,
    /// The model, as the provider names it; empty if the request is about no model.
    pub(crate) model: &'a str,
}

impl Peer<'_> {
    /// `base_url` with `path` appended; `cut` is removed from its end first.
    pub(crate) fn url(&self, cut: &str, path: &str) -> Result<Url, ModelError> {
        let base = self.config.base_url.trim().trim_end_matches('/');
        let base = base.strip_suffix(cut).unwrap_or(base);
        match Url::parse(&format!("{base}{path}")) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
            _ => {
                let what = "its base_url is not an http:// or https:// address; set it in config.toml";
                Err(self.error(Kind::BadRequest, what).unsent())
            }
        }
    }

    /// A header that carries the key.
    pub(crate) fn key_header(
        &self,
        name: HeaderName,
        prefix: &str,
    ) -> Result<Option<(HeaderName, HeaderValue)>, ModelError> {
        let Some(key) = &self.key else { return Ok(None) };
        let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose())).map_err(|_| {
            self.error(
                Kind::Auth,
                format!(
                    "its key has characters that no key can have; set it anew with `abide key set {}`",
                    self.config.name
                ),
            )
            .unsent()
        })?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }

    /// Sends a request; returns the response if its status is a success.
    pub(crate) async fn post(
        &self,
        url: Url,
        mut headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Response, ModelError> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let request = self.client(&url)?.post(url).headers(headers).body(body);
        self.answer(request, crate::patience::until_headers(self.config))
            .await
            .map_err(|e| self.unanswered(e))
    }

    /// Fetches a document of at most `max` bytes.
    pub(crate) async fn get(
        &self,
        url: Url,
        headers: HeaderMap,
        max: usize,
        within: Duration,
    ) -> Result<Vec<u8>, ModelError> {
        let request = self.client(&url)?.get(url).headers(headers);
        self.document(request, max, within).await
    }

    /// Asks a question, and reads the answer, a document of at most `max` bytes.
    pub(crate) async fn ask(
        &self,
        url: Url,
        mut headers: HeaderMap,
        question: &serde_json::Value,
        max: usize,
        within: Duration,
    ) -> Result<Vec<u8>, ModelError> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let request = self.client(&url)?.post(url).headers(headers).body(question.to_string());
        self.document(request, max, within).await
    }

    async fn document(
        &self,
        request: reqwest::RequestBuilder,
        max: usize,
        within: Duration,
    ) -> Result<Vec<u8>, ModelError> {
        let whole = async {
            let mut response = self.answer(request, within).await?;
            read(&mut response, max).await.map_err(|e| self.network(&e))
        };
        timeout(within, whole).await.unwrap_or_else(|_| Err(self.stalled(within)))
    }

    fn client(&self, url: &Url) -> Result<&Client, ModelError> {
        self.http.client(url).map_err(|e| self.error(Kind::Network, e.as_str()).fatal().unsent())
    }

    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        within: Duration,
    ) -> Result<Response, ModelError> {
        let mut response = timeout(within, request.send())
            .await
            .map_err(|_| self.stalled(within))?
            .map_err(|e| self.network(&e))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let body = match timeout(ERROR_BODY_TIMEOUT, read(&mut response, MAX_ERROR_BODY)).await {
            Ok(Ok(body)) => String::from_utf8_lossy(&body).into_owned(),
            _ => String::new(),
        };
        Err(failure::of_response(self, response.status().as_u16(), response.headers(), &body))
    }

    /// An error whose message begins with the provider's name. The provider's own words in `what` must have
    /// passed through [`Self::quoted`].
    pub(crate) fn error(&self, kind: Kind, what: impl AsRef<str>) -> ModelError {
        ModelError::new(kind, format!("{}: {}", self.config.name, what.as_ref()))
    }

    /// A provider's words on one line, shortened and without the key.
    pub(crate) fn quoted(&self, words: &str) -> String {
        quote(&self.redact(words))
    }

    /// A provider's text without the key.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    pub(crate) fn stalled(&self, after: Duration) -> ModelError {
        self.error(Kind::Stalled, format!("nothing came for {} s", after.as_secs_f32()))
    }

    pub(crate) fn network(&self, error: &reqwest::Error) -> ModelError {
        if error.is_connect() {
            let proxy = Proxies::from_env().of(&self.config.base_url);
            return obstacle::error(self, error, &proxy);
        }
        let at = self.config.shown_url();
        self.error(Kind::Network, format!("the connection to {at} broke ({})", cause(error)))
    }

    /// The proxy, not the provider, has answered that it wants a login.
    fn proxy_wants_login(&self, said: &str) -> String {
        Proxies::from_env().of(&self.config.base_url).wants_login(said)
    }

    /// The request cannot be put into JSON.
    pub(crate) fn unsendable(&self, error: &serde_json::Error) -> ModelError {
        self.error(Kind::BadRequest, format!("the request cannot be written as JSON ({error})")).unsent()
    }

    /// The stream ended before the reply was complete.
    pub(crate) fn cut(&self) -> ModelError {
        self.error(Kind::Network, "the answer was cut off before its end")
    }

    pub(crate) fn fault(&self, fault: Fault) -> ModelError {
        match fault {
            Fault::Malformed(Nonsense { what, detail }) | Fault::Broken(Nonsense { what, detail }) => {
                let detail = detail.map(|detail| format!(" ({})", self.quoted(&detail))).unwrap_or_default();
                self.error(Kind::Malformed, format!("it sent {what}{detail}"))
            }
            Fault::TooLong => self
                .error(
                    Kind::Malformed,
                    format!("its reply is longer than {} MiB", crate::assembly::MAX_REPLY / 1024 / 1024),
                )
                .fatal(),
            Fault::Reported(body) => failure::of_event(self, &body),
        }
    }
}

/// The body, at most `max` bytes of it.
async fn read(response: &mut Response, max: usize) -> reqwest::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = max.saturating_sub(body.len());
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= room {
            break;
        }
    }
    Ok(body)
}

/// The innermost cause, which is the most specific. (The outer ones repeat the address, which may hold a
/// password.)
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = match error.source() {
        Some(source) => source,
        None if error.is_timeout() => return "it took too long".to_owned(),
        None => return "no reason given".to_owned(),
    };
    while let Some(deeper) = inner.source() {
        inner = deeper;
    }
    quote(&inner.to_string())
}
