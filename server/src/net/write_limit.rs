//! Write timeout: a caller who reads nothing of an answer would hold the connection, and the answer in memory, for ever.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::registry::Slot;

/// A connection on which writing may stand still for so long.
pub(super) struct WriteLimited<S> {
    stream: S,
    limit: Duration,
    /// Since when nothing could be written; there is no timer while writing goes on.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Who is told when everything is sent.
    slot: Option<Arc<Slot>>,
}

impl<S> WriteLimited<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, stalled: None, slot: None }
    }

    /// Tells the connection's place when everything that was written is sent.
    pub(super) fn notifying(self, slot: Arc<Slot>) -> Self {
        Self { slot: Some(slot), ..self }
    }

    fn limited<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        stalled.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteLimited<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteLimited<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.limited(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if let (Poll::Ready(Ok(())), Some(slot)) = (&flushed, &self.slot) {
            slot.sent();
        }
        self.limited(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.limited(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::Instant,
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn who_reads_nothing_is_given_up() {
        let (stream, _reader) = duplex(16);
        let start = Instant::now();
        let problem = WriteLimited::new(stream, LIMIT).write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(problem.kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() >= LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_gets_all_of_it() {
        let (stream, mut reader) = duplex(16);
        let reading = async {
            let mut all = 0;
            while all < 160 {
                sleep(LIMIT - Duration::from_secs(1)).await;
                all += reader.read(&mut [0; 16]).await.unwrap();
            }
        };
        let mut stream = WriteLimited::new(stream, LIMIT);
        let (written, ()) = tokio::join!(stream.write_all(&[1; 160]), reading);
        written.unwrap();
    }
}
