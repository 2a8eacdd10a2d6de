//! JSON-RPC over a WebSocket: a frame is a line.

use super::{Came, Cut, Socket};
use crate::{
    http::outward::outgoing,
    ipc::{encode, incoming},
    service::Line,
};
use abide_protocol::codec::Codec;
use std::sync::Arc;

pub(super) async fn talk(socket: &mut Socket, line: &Arc<Line>) -> Result<(), Cut> {
    loop {
        match socket.next(line.outbox()).await? {
            Came::Text(text) => incoming(Codec::Json, line, text.as_bytes()).await,
            Came::Parcels(parcels) => {
                for parcel in parcels {
                    let Some(outgoing) = outgoing(parcel) else { return Err(Cut::behind()) };
                    let frame = String::from_utf8(encode(Codec::Json, outgoing)).unwrap_or_default();
                    socket.send(frame.trim_end().to_owned()).await?;
                }
            }
        }
    }
}
