//! The byte stream of a connection: plain, or encrypted by TLS.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Timeout, timeout},
};
use tokio_rustls::{Accept, TlsAcceptor, server::TlsStream};

/// A connection. The TLS handshake happens when it is first read, so that accepting others does not wait for it.
pub(crate) enum Transport {
    Plain(TcpStream),
    Handshake(Pin<Box<Timeout<Accept<TcpStream>>>>),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Transport {
    /// An encrypted one, whose handshake may take so long.
    pub(crate) fn encrypted(stream: TcpStream, tls: &TlsAcceptor, handshake_limit: Duration) -> Self {
        Self::Handshake(Box::pin(timeout(handshake_limit, tls.accept(stream))))
    }

    /// Makes the end of the connection a TCP reset.
    pub(crate) fn set_zero_linger(&self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.set_zero_linger(),
            Self::Handshake(handshake) => handshake.get_ref().get_ref().map_or(Ok(()), TcpStream::set_zero_linger),
            Self::Encrypted(stream) => stream.get_ref().0.set_zero_linger(),
        }
    }

    /// The connection, once it can be used.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Pin<&mut dyn Stream>>> {
        if let Self::Handshake(handshake) = self {
            let stream = ready!(handshake.as_mut().poll(context)).map_err(|_| io::ErrorKind::TimedOut)??;
            *self = Self::Encrypted(Box::new(stream));
        }
        match self {
            Self::Plain(stream) => Poll::Ready(Ok(Pin::new(stream))),
            Self::Encrypted(stream) => Poll::Ready(Ok(Pin::new(stream.as_mut()))),
            Self::Handshake(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

/// What is read and written.
trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream for S {}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Transport {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?.poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_ready(context))?.poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Handshake(_) => false,
            Self::Encrypted(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_ready(context))?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            // Before the handshake there is no TLS session to close.
            Self::Handshake(_) => Poll::Ready(Ok(())),
            _ => ready!(self.poll_ready(context))?.poll_shutdown(context),
        }
    }
}
