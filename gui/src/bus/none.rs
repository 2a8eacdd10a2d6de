//! Without a session bus, as on systems other than Linux, each start opens a window.

use crate::arguments::ShowRequest;
use abide_host::Home;
use futures_util::{Stream, stream};

/// There is none.
#[derive(Debug, Clone, Hash)]
pub enum Bus {}

/// Whether this process is to open a window.
#[derive(Debug)]
pub enum Claim {
    /// It is.
    Open(Option<Bus>),
    /// Another one shows what was wanted.
    HandedOver,
}

#[expect(clippy::unused_async, reason = "on Linux it waits for the bus")]
pub async fn claim(_: &Home, _: &ShowRequest, _: bool) -> Claim {
    Claim::Open(None)
}

impl Bus {
    pub fn wanted(&self) -> impl Stream<Item = ShowRequest> + use<> {
        stream::empty()
    }
}
