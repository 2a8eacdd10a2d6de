use crate::text::{Capture, Utf8};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes read at a time.
const PIECE: usize = 32 * 1024;

/// One output stream of a command: decodes it and keeps a limited part.
pub(super) struct Output<R> {
    /// `None` once the pipe is closed.
    from: Option<R>,
    buffer: Box<[u8]>,
    utf8: Utf8,
    pub(super) captured: Capture,
}

impl<R: AsyncRead + Unpin> Output<R> {
    pub(super) fn new(from: Option<R>) -> Self {
        let buffer = vec![0; PIECE].into_boxed_slice();
        Self { from, buffer, utf8: Utf8::default(), captured: Capture::default() }
    }

    /// The next piece, possibly empty; `None` at the end. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<String> {
        let read = self.from.as_mut()?.read(&mut self.buffer).await.unwrap_or(0);
        if read == 0 {
            self.from = None;
            return None;
        }
        let text = self.utf8.decode(&self.buffer[..read]);
        self.captured.push(&text);
        Some(text)
    }

    pub(super) fn finish(&mut self) -> &'static str {
        let rest = self.utf8.finish();
        self.captured.push(rest);
        rest
    }
}
