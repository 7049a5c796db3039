//! Fault injection in connections: closes or resets a connection at once, or in the middle of a response.

use std::{
    io,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use crate::{domain::EndpointName, net::tls::Transport};

/// The maximum length of an inspected first line; connections with a longer one pass.
const MAX_FIRST_LINE: usize = 8 * 1024;
/// The deadline of a TLS handshake.
pub(crate) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The bytes that are still sent before a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutPoint {
    /// No bytes.
    Now,
    /// This many bytes of the response's head.
    Head(usize),
    /// The head and this many bytes of the body.
    Body(usize),
}

/// The end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) until: CutPoint,
    /// A TCP reset instead of an orderly end.
    pub(crate) reset: bool,
}

/// The handle by which a request's handler cuts its connection.
#[derive(Clone)]
pub(crate) struct ConnectionHandle {
    cut: Arc<OnceLock<Cut>>,
    /// The peer's address.
    pub(crate) peer: IpAddr,
}

impl ConnectionHandle {
    /// Cuts the connection while the next answer is written. The first cut counts.
    pub(crate) fn cut(&self, cut: Cut) {
        let _first = self.cut.set(cut);
    }
}

/// Fault injection for new connections: whether to reset one whose first request goes to this endpoint.
pub(crate) type ShouldReset = Arc<dyn Fn(EndpointName) -> bool + Send + Sync>;

/// The listener.
pub(crate) struct ConnectionListener {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
    /// The TLS configuration, if connections are encrypted.
    pub(crate) handshake_limit: Duration,
    pub(crate) resets: ShouldReset,
}

impl ConnectionListener {
    /// Waits for the next connection, even if the system has no free sockets.
    pub(crate) async fn accept(&mut self) -> ConnectionStream {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // TCP_NODELAY: written bytes are sent before a reset can overtake them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection ended early");
        }
        let stream = match &self.tls {
            Some(tls) => Transport::encrypted(stream, tls, self.handshake_limit),
            None => Transport::Plain(stream),
        };
        let resets = Arc::clone(&self.resets);
        let handle = ConnectionHandle { cut: Arc::default(), peer: address.ip() };
        let written = ResponseProgress::default();
        ConnectionStream { stream, handle, resets, first_line: Some(Vec::new()), written, is_reset: false }
    }
}

/// The underlying connection.
pub(crate) struct ConnectionStream {
    stream: Transport,
    handle: ConnectionHandle,
    resets: ShouldReset,
    /// The beginning of the first request, until its endpoint is known.
    first_line: Option<Vec<u8>>,
    /// The number of bytes written since the cut was requested.
    written: ResponseProgress,
    /// Whether it ends by a TCP reset, and so without a TLS shutdown.
    is_reset: bool,
}

impl ConnectionStream {
    /// The handle of this connection.
    pub(crate) fn handle(&self) -> ConnectionHandle {
        self.handle.clone()
    }

    fn reset(&mut self) -> io::Error {
        self.is_reset = true;
        if let Err(error) = self.stream.set_zero_linger() {
            tracing::debug!(%error, "a connection ended before it was reset");
        }
        io::ErrorKind::ConnectionReset.into()
    }

    /// Inspects the first line of the first request. True if the connection must be reset.
    fn should_reset_for(&mut self, read: &[u8]) -> bool {
        let Some(mut seen) = self.first_line.take() else {
            return false;
        };
        seen.extend_from_slice(read);
        match seen.iter().position(|byte| *byte == b'\n') {
            Some(end) => endpoint_of(&seen[..end]).is_some_and(|endpoint| (self.resets)(endpoint)),
            None => {
                self.first_line = (seen.len() < MAX_FIRST_LINE).then_some(seen);
                false
            }
        }
    }

    fn poll_write_cut(&mut self, context: &mut Context<'_>, bytes: &[u8], cut: Cut) -> Poll<io::Result<usize>> {
        let allowed = self.written.allowed(bytes, cut.until);
        if allowed == 0 {
            ready!(Pin::new(&mut self.stream).poll_flush(context))?;
            let error = if cut.reset { self.reset() } else { io::ErrorKind::BrokenPipe.into() };
            return Poll::Ready(Err(error));
        }
        let count = ready!(Pin::new(&mut self.stream).poll_write(context, &bytes[..allowed]))?;
        self.written.add(&bytes[..count]);
        Poll::Ready(Ok(count))
    }
}

/// The endpoint in a request's first line.
fn endpoint_of(handle: &[u8]) -> Option<EndpointName> {
    let target = std::str::from_utf8(handle).ok()?.split(' ').nth(1)?;
    EndpointName::of_path(target.split('?').next().unwrap_or_default())
}

impl AsyncRead for ConnectionStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if self.first_line.is_some() && self.should_reset_for(&buffer.filled()[before..]) {
            return Poll::Ready(Err(self.reset()));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ConnectionStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.handle.cut.get().copied() {
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
            Some(cut) => self.poll_write_cut(context, bytes, cut),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.handle.cut.get().copied() {
            None => Pin::new(&mut self.stream).poll_write_vectored(context, buffers),
            Some(cut) => {
                let first = buffers.iter().find(|buffer| !buffer.is_empty());
                first.map_or(Poll::Ready(Ok(0)), |buffer| self.poll_write_cut(context, buffer, cut))
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_reset {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The written part of a response.
#[derive(Default)]
struct ResponseProgress {
    total: usize,
    /// The start of the body, once the head is written.
    head: Option<usize>,
    /// The last bytes, which may be the start of the blank line.
    tail: Vec<u8>,
}

impl ResponseProgress {
    /// How many of these bytes may still be written; 0 if the cut is due.
    fn allowed(&self, bytes: &[u8], until: CutPoint) -> usize {
        let end = match until {
            CutPoint::Now => 0,
            CutPoint::Head(count) => count,
            CutPoint::Body(count) => match self.head.or_else(|| self.end_of_head(bytes)) {
                Some(head) => head + count,
                None => usize::MAX,
            },
        };
        bytes.len().min(end.saturating_sub(self.total))
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.head.is_none() {
            self.head = self.end_of_head(bytes);
        }
        self.total += bytes.len();
        self.tail.extend_from_slice(bytes);
        let keep = self.tail.len().saturating_sub(END_OF_HEAD.len() - 1);
        self.tail.drain(..keep);
    }

    /// The end of the head, counted from the answer's first byte, if it is in these bytes.
    fn end_of_head(&self, bytes: &[u8]) -> Option<usize> {
        let joined = [&self.tail, bytes].concat();
        let start = joined.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD)?;
        Some(self.total - self.tail.len() + start + END_OF_HEAD.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\na: b\r\n\r\n{\"code\":1}";

    /// The bytes that pass if the answer is written in pieces of this length.
    fn through(until: CutPoint, piece: usize) -> usize {
        let mut written = ResponseProgress::default();
        let mut rest = ANSWER;
        while !rest.is_empty() {
            let bytes = &rest[..piece.min(rest.len())];
            let allowed = written.allowed(bytes, until);
            if allowed == 0 {
                break;
            }
            written.add(&bytes[..allowed]);
            rest = &rest[allowed..];
        }
        written.total
    }

    #[test]
    fn cut_is_exact_for_any_size_of_writes() {
        let head = ANSWER.len() - 10;
        for piece in 1..=ANSWER.len() {
            assert_eq!(through(CutPoint::Now, piece), 0);
            assert_eq!(through(CutPoint::Head(9), piece), 9, "{piece}");
            assert_eq!(through(CutPoint::Body(4), piece), head + 4, "{piece}");
        }
    }

    #[test]
    fn request_line_yields_endpoint() {
        for (handle, endpoint) in [
            ("POST /api/v1.1.0/payment HTTP/1.1\r", Some(EndpointName::Payment)),
            ("GET /gen/qr/transaction/status?transaction_id=1 HTTP/1.1\r", Some(EndpointName::QrTransactionStatus)),
            ("DELETE /admin/faults HTTP/1.1\r", None),
            ("GET /3ds?token=1 HTTP/1.1\r", None),
            ("nonsense", None),
        ] {
            assert_eq!(endpoint_of(handle.as_bytes()), endpoint, "{handle}");
        }
    }
}
