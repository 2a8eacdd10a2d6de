use std::io;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

/// The request that opens a connection: the order of bytes (little endian), protocol 11.0, no authorization.
/// X Window System Protocol, section 8, "Connection Setup".
const OPEN: [u8; 12] = [b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A client of the display that does nothing. While it lives, no other client gets its ids.
pub(super) struct Place {
    _connection: UnixStream,
    /// All its ids have these bits.
    base: u32,
    /// In these bits its ids differ.
    mask: u32,
}

impl Place {
    /// Takes the place that the display gives to the next client.
    pub(super) async fn take(display: &str) -> io::Result<Self> {
        let socket = format!("/tmp/.X11-unix/X{}", display.trim_start_matches(':'));
        let mut connection = UnixStream::connect(socket).await?;
        connection.write_all(&OPEN).await?;
        let success = connection.read_u8().await?;
        // The protocol's version and the length of the rest.
        connection.read_exact(&mut [0; 7]).await?;
        if success != 1 {
            return Err(io::Error::other("the display refuses the connection"));
        }
        let _release = connection.read_u32_le().await?;
        let base = connection.read_u32_le().await?;
        let mask = connection.read_u32_le().await?;
        Ok(Self { _connection: connection, base, mask })
    }

    /// Whether the client of this place made the window.
    pub(super) const fn has(&self, window: u32) -> bool {
        window & !self.mask == self.base
    }
}
