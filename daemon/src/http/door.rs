//! Where the interface listens, and who comes in.

use super::{answer, source::split};
use crate::service::{ConnectionSlot, Service};
use abide_protocol::{Error, ErrorKind, method::http::ServeHttpParams};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// Connections at a time; one more is closed without a reply.
const MAX_CONNECTIONS: usize = 256;
/// How long a client may take to send a request's head, and how long an idle connection stays open.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 * 1024;
/// How long a client may leave what it was sent unread.
const UNREAD_TIME: Duration = Duration::from_secs(30);
/// The pause after a failed accept (for example, out of descriptors).
const ACCEPT_BACKOFF: Duration = Duration::from_millis(200);

/// All open doors.
#[derive(Debug, Clone, Default)]
pub(super) struct Doors(Arc<Mutex<House>>);

#[derive(Debug, Default)]
struct House {
    open: Vec<Open>,
    /// The number of the next door.
    next: u64,
}

#[derive(Debug)]
struct Open {
    /// No other door has it, also not a later one at the same address.
    number: u64,
    url: String,
    /// Other machines reach it.
    is_plain: bool,
    owner: Owner,
    closing: CancellationToken,
}

/// What keeps a door open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A connection of the local socket.
    Line,
    /// The daemon, and after it the program that takes its place.
    Detached,
    /// The configuration, which the program that takes this one's place reads itself.
    Configured,
}

/// A door. One of a line is closed when this is dropped.
#[derive(Debug)]
pub struct Door {
    number: u64,
    url: String,
    doors: Doors,
}

/// Where a program leaves doors open for the one that takes its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept(pub(super) Vec<String>);

impl Kept {
    /// The environment variable of [`Self::variable`].
    pub const NAME: &str = "ABIDE_HANDOVER_HTTP";

    /// The variable's value; `None`: there are none.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join(";"))
    }

    /// Reads the variable.
    #[must_use]
    pub fn from_variable(value: &str) -> Self {
        Self(value.split(';').filter(|url| !url.is_empty()).map(str::to_owned).collect())
    }
}

impl Door {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Leaves it open when the line ends.
    pub(crate) fn detach(self) {
        self.belongs_to(Owner::Detached);
    }

    pub(super) fn belongs_to(self, owner: Owner) {
        for open in self.doors.lock().open.iter_mut().filter(|open| open.number == self.number) {
            open.owner = owner;
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.doors.close(|open| open.number == self.number && open.owner == Owner::Line);
    }
}

impl Doors {
    fn lock(&self) -> MutexGuard<'_, House> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(
        &self,
        service: &Service,
        ServeHttpParams { urls, plain, .. }: &ServeHttpParams,
    ) -> Result<Vec<Door>, Error> {
        let places = urls.iter().map(|url| Place::parse(url)).collect::<Result<Vec<_>, _>>()?;
        if let Some(place) = places.iter().find(|place| !place.is_loopback() && !plain) {
            let words = format!(
                "{} can be reached from other machines, and nothing said there is encrypted; use localhost \
                 and a proxy with a certificate in front of it, or allow it with `--plain`",
                place.url(place.port)
            );
            return Err(Error::new(ErrorKind::InvalidParams, words));
        }
        let bound = places.iter().map(|place| self.bind(place)).collect::<Result<Vec<_>, Error>>()?;
        let opened = bound.into_iter().map(|Bound { url, is_plain, listeners }| {
            let closing = CancellationToken::new();
            tracing::info!(url, "the HTTP interface is open");
            for listener in listeners {
                service.supervisor.spawn("http", serve(listener, service.clone(), closing.clone()));
            }
            let mut house = self.lock();
            let number = house.next;
            house.next += 1;
            house.open.push(Open { number, url: url.clone(), is_plain, owner: Owner::Line, closing });
            Door { number, url, doors: self.clone() }
        });
        Ok(opened.collect())
    }

    fn bind(&self, place: &Place) -> Result<Bound, Error> {
        let mut port = place.port;
        let mut listeners = Vec::new();
        for address in place.addresses() {
            let listener = listen(SocketAddr::new(address, port));
            let listener = listener.map_err(|e| self.unbound(place, SocketAddr::new(address, port), &e))?;
            // The system has chosen one for port 0; both addresses of a name have the same.
            port = listener.local_addr().map_or(port, |bound| bound.port());
            listeners.push(listener);
        }
        Ok(Bound { url: place.url(port), is_plain: !place.is_loopback(), listeners })
    }

    fn unbound(&self, place: &Place, address: SocketAddr, error: &io::Error) -> Error {
        if self.has(&place.url(place.port)) {
            let words = format!("the daemon listens at {} already", place.url(place.port));
            return Error::new(ErrorKind::IllegalState, words);
        }
        let advice = match error.kind() {
            // The other program may be another user's, so the advice leads no client to the port.
            io::ErrorKind::AddrInUse => "; another program has it, choose another port".to_owned(),
            _ if place.host == Host::Localhost && address.is_ipv6() && is_absent(error) => {
                format!("; http://127.0.0.1:{} does without IPv6", place.port)
            }
            _ => String::new(),
        };
        Error::new(ErrorKind::IllegalState, format!("cannot listen on {address}: {error}{advice}"))
    }

    /// Whether there is a door at this address.
    pub(super) fn has(&self, url: &str) -> bool {
        self.lock().open.iter().any(|open| open.url == url)
    }

    /// Closes these. Returns where they were.
    fn close(&self, which: impl Fn(&Open) -> bool) -> Vec<String> {
        let mut house = self.lock();
        let closed = house.open.extract_if(.., |open| which(open));
        closed
            .map(|open| {
                open.closing.cancel();
                open.url
            })
            .collect()
    }

    pub(super) fn close_all(&self) -> Vec<String> {
        self.close(|_| true)
    }

    /// All, and those that other machines reach.
    pub(super) fn urls(&self) -> (Vec<String>, Vec<String>) {
        let house = self.lock();
        let plain = house.open.iter().filter(|open| open.is_plain).map(|open| open.url.clone());
        (house.open.iter().map(|open| open.url.clone()).collect(), plain.collect())
    }

    pub(super) fn kept(&self) -> Kept {
        let house = self.lock();
        let detached = house.open.iter().filter(|open| open.owner == Owner::Detached);
        Kept(detached.map(|open| open.url.clone()).collect())
    }
}

/// Whether the machine has no such address at all.
fn is_absent(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let is_without_family = || error.raw_os_error().map(Errno::from_raw_os_error) == Some(Errno::AFNOSUPPORT);
    error.kind() == io::ErrorKind::AddrNotAvailable || is_without_family()
}

struct Bound {
    url: String,
    is_plain: bool,
    listeners: Vec<TcpListener>,
}

/// Never waits: the address is known.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// What a URL names.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    host: Host,
    port: u16,
}

#[derive(Debug, PartialEq, Eq)]
enum Host {
    /// Both loopback addresses.
    Localhost,
    Address(IpAddr),
}

impl Place {
    fn parse(url: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::new(ErrorKind::InvalidParams, format!("{url:?} {why}"));
        if url.starts_with("https:") {
            return Err(wrong(
                "has no place here: the interface has no TLS of its own, use a proxy in front of it",
            ));
        }
        let rest =
            url.strip_prefix("http://").ok_or_else(|| wrong("is no address; give http://HOST:PORT"))?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        // As other servers write "any address".
        let authority = match authority.strip_prefix(['*', '+']) {
            Some(port) => format!("[::]{port}"),
            None => authority.to_owned(),
        };
        let (host, port) = split(&authority).ok_or_else(|| wrong("is no address; give http://HOST:PORT"))?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bare.unwrap_or(host).parse() {
            Ok(address) => Host::Address(address),
            Err(_) if host.eq_ignore_ascii_case("localhost") => Host::Localhost,
            Err(_) => return Err(wrong("names no address of this machine; give localhost or an IP address")),
        };
        Ok(Self { host, port: port.unwrap_or(80) })
    }

    fn addresses(&self) -> Vec<IpAddr> {
        match self.host {
            Host::Localhost => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            Host::Address(address) => vec![address],
        }
    }

    fn is_loopback(&self) -> bool {
        self.addresses().iter().all(|address| address.to_canonical().is_loopback())
    }

    fn url(&self, port: u16) -> String {
        match self.host {
            Host::Localhost => format!("http://localhost:{port}"),
            Host::Address(address) => format!("http://{}", SocketAddr::new(address, port)),
        }
    }
}

async fn serve(listener: TcpListener, service: Service, closing: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.cancelled() => return,
            () = service.supervisor.ending() => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(e) => {
                tracing::warn!("an HTTP connection could not be accepted: {e}");
                tokio::time::sleep(ACCEPT_BACKOFF).await;
                continue;
            }
        };
        let Some(slot) = service.http.inner.connections.take_slot(MAX_CONNECTIONS) else {
            tracing::warn!("there are {MAX_CONNECTIONS} HTTP connections; one more was closed");
            continue;
        };
        let stay = Stay { closing: closing.clone(), _slot: Arc::new(slot) };
        service.supervisor.spawn("http connection", connection(stream, service.clone(), stay));
    }
}

/// What a connection holds, also when it is no longer HTTP: an extension of its requests.
#[derive(Debug, Clone)]
pub(super) struct Stay {
    /// Cancelled when the door is closed.
    pub(super) closing: CancellationToken,
    _slot: Arc<ConnectionSlot>,
}

async fn connection(stream: TcpStream, service: Service, stay: Stay) {
    let closing = stay.closing.clone();
    let _ = stream.set_nodelay(true);
    end_unread(&stream);
    let Ok(local) = stream.local_addr() else { return };
    let ending = service.supervisor.clone();
    let answering = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(stay.clone());
        answer::answer(service.clone(), local, request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answering)
        .with_upgrades();
    tokio::select! {
        served = served => if let Err(e) = served {
            tracing::debug!("an HTTP client went away: {e}");
        },
        () = closing.cancelled() => {}
        () = ending.ending() => {}
    }
}

/// Lets the system end the connection of a client that does not read.
#[cfg(target_os = "linux")]
fn end_unread(stream: &TcpStream) {
    let time = u32::try_from(UNREAD_TIME.as_millis()).unwrap_or(u32::MAX);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, time);
}

#[cfg(not(target_os = "linux"))]
fn end_unread(_: &TcpStream) {
    let _ = UNREAD_TIME;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_or_refused_in_words() {
        let shown = |url: &str| {
            let place = Place::parse(url).map_err(|e| e.message)?;
            let addresses: Vec<_> = place.addresses().iter().map(ToString::to_string).collect();
            Ok::<_, String>((addresses.join(" "), place.is_loopback(), place.url(place.port)))
        };
        let both = "127.0.0.1 ::1";
        let table = [
            ("http://localhost:5000", both, true, "http://localhost:5000"),
            ("http://LOCALHOST:5000/", both, true, "http://localhost:5000"),
            ("http://localhost", both, true, "http://localhost:80"),
            ("http://127.0.0.1:0", "127.0.0.1", true, "http://127.0.0.1:0"),
            ("http://127.9.9.9:1", "127.9.9.9", true, "http://127.9.9.9:1"),
            ("http://[::1]:5000", "::1", true, "http://[::1]:5000"),
            ("http://[::ffff:127.0.0.1]:5000", "::ffff:127.0.0.1", true, "http://[::ffff:127.0.0.1]:5000"),
            ("http://192.0.2.7:5000", "192.0.2.7", false, "http://192.0.2.7:5000"),
            ("http://0.0.0.0:5000", "0.0.0.0", false, "http://0.0.0.0:5000"),
            ("http://*:5000", "::", false, "http://[::]:5000"),
            ("http://+:5000", "::", false, "http://[::]:5000"),
        ];
        for (url, addresses, is_loopback, shows) in table {
            assert_eq!(shown(url), Ok((addresses.to_owned(), is_loopback, shows.to_owned())), "{url}");
        }
        let refused = [
            ("localhost:5000", "is no address"),
            ("https://localhost:5000", "no TLS of its own"),
            ("http://", "is no address"),
            ("http://localhost:70000", "is no address"),
            ("http://localhost:5000/path", "is no address"),
            ("http://me@localhost:5000", "is no address"),
            ("http://[::1:5000", "is no address"),
            ("http://example.org:5000", "names no address"),
        ];
        for (url, words) in refused {
            let error = shown(url).expect_err(url);
            assert!(error.contains(words) && error.contains(url), "{error}");
        }
    }

    #[test]
    fn what_is_kept_goes_through_the_environment() {
        let kept = Kept(vec!["http://localhost:5000".to_owned(), "http://[::1]:7".to_owned()]);
        assert_eq!(Kept::from_variable(&kept.variable().unwrap()), kept);
        assert_eq!((Kept::default().variable(), Kept::from_variable("")), (None, Kept::default()));
    }
}
