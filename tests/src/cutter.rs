//! A TCP proxy that cuts the connections through it, at any byte and on demand.

use crate::seed::Seed;
use rustix::net::sockopt::set_socket_linger;
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt as _, copy},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// The most bytes of a server that a connection lets pass: 2 to the power of this.
const MOST: usize = 13;

/// It works until it is dropped.
pub struct Cutter {
    /// As `127.0.0.1:5000`.
    pub authority: String,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    server: watch::Sender<Option<String>>,
    seed: Mutex<Seed>,
    /// Counts the calls of [`Cutter::cut`].
    orders: watch::Sender<usize>,
    cuts: AtomicUsize,
}

impl Cutter {
    /// Its connections wait until it is told where they lead.
    ///
    /// # Panics
    /// There is no port.
    pub async fn start(seed: Seed) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let authority = listener.local_addr().expect("an address").to_string();
        let shared = Arc::new(Shared {
            server: watch::Sender::new(None),
            seed: Mutex::new(seed),
            orders: watch::Sender::new(0),
            cuts: AtomicUsize::new(0),
        });
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&shared)));
        Self { authority, shared, _serving: serving }
    }

    /// Leads connections to this server.
    pub fn lead_to(&self, authority: &str) {
        self.shared.server.send_replace(Some(authority.to_owned()));
    }

    /// Cuts the connections that are open.
    pub fn cut(&self) {
        self.shared.orders.send_modify(|orders| *orders += 1);
    }

    /// How many connections it has cut.
    #[must_use]
    pub fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::Relaxed)
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(connection(client, Arc::clone(&shared)));
    }
}

/// Cuts are as likely after a few bytes as after many, and half of them look like the end of a program, half
/// like a network that is gone.
async fn connection(mut client: TcpStream, shared: Arc<Shared>) {
    let (bytes, is_reset) = {
        let mut seed = shared.seed.lock().unwrap_or_else(PoisonError::into_inner);
        let most = 2 << seed.below(MOST);
        (1 + seed.below(most) as u64, seed.in_a_hundred(50))
    };
    let mut orders = shared.orders.subscribe();
    let mut server = shared.server.subscribe();
    let Ok(server) = server.wait_for(Option::is_some).await.map(|server| server.clone()) else { return };
    let Ok(mut server) = TcpStream::connect(server.unwrap_or_default()).await else { return };
    let (mut asks, mut is_told) = client.split();
    let (tells, mut hears) = server.split();
    let mut tells = tells.take(bytes);
    let is_cut = tokio::select! {
        _ = copy(&mut asks, &mut hears) => false,
        told = copy(&mut tells, &mut is_told) => told.is_ok_and(|told| told == bytes),
        _ = orders.changed() => true,
    };
    if is_cut {
        shared.cuts.fetch_add(1, Ordering::Relaxed);
        if is_reset {
            let _ = set_socket_linger(&client, Some(Duration::ZERO));
        }
    }
}
