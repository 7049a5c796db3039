//! One connection: its handshake, its requests, its end. No connection keeps its slot for long without sending a request or
//! reading a response; otherwise idle connections could lock all other callers out.

use std::{
    convert::Infallible,
    future::pending,
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
};
use futures_util::{FutureExt, future::Either};
use hyper::{
    Request, Response,
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::watch,
    time::{Sleep, sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::{
    caller::Peer,
    registry::{ActiveRequest, Slot},
    settings::ListenerSettings,
};

/// The read buffer, and so the largest head of a request. It bounds the memory of an idle connection.
const MOST_READ_AHEAD: usize = 16 * 1024;

/// Serves connections.
pub(super) struct ConnectionHandler {
    http: http1::Builder,
    service: TowerToHyperService<Router>,
    handshake_limit: Duration,
    first_head_limit: Duration,
    write_limit: Duration,
}

impl ConnectionHandler {
    pub(super) fn new(router: Router, settings: &ListenerSettings) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(settings.idle_limit).max_buf_size(MOST_READ_AHEAD);
        Self {
            http,
            service: TowerToHyperService::new(router),
            handshake_limit: settings.handshake_limit,
            first_head_limit: settings.first_head_limit,
            write_limit: settings.write_limit,
        }
    }

    /// Answers the requests of a connection until it ends, or another one gets its slot. At shutdown it
    /// finishes the request in progress.
    pub(super) async fn serve_connection(
        self: Arc<Self>,
        stream: TcpStream,
        peer: Peer,
        tls: Option<TlsAcceptor>,
        stop: watch::Receiver<bool>,
        slot: Slot,
    ) {
        let slot = Arc::new(slot);
        // TCP_NODELAY: a complete response is sent at once.
        if let Err(problem) = stream.set_nodelay(true) {
            tracing::debug!(target: "kassa_server", %problem, "a connection ended early");
        }
        match tls {
            None => self.answer(stream, peer, stop, slot).await,
            // In a box, so that plain connections do not reserve memory for TLS.
            Some(tls) => Box::pin(self.handshake(stream, peer, tls, stop, slot)).await,
        }
    }

    async fn handshake(
        &self,
        stream: TcpStream,
        peer: Peer,
        tls: TlsAcceptor,
        mut stop: watch::Receiver<bool>,
        slot: Arc<Slot>,
    ) {
        let shaken = tokio::select! {
            shaken = Box::pin(timeout(self.handshake_limit, tls.accept(stream))) => shaken,
            _ = stop.wait_for(|stop| *stop) => return,
            () = slot.evicted() => return,
        };
        match shaken {
            Ok(Ok(stream)) => self.answer(Box::new(stream), peer, stop, slot).await,
            Ok(Err(problem)) => tracing::debug!(target: "kassa_server", %problem, "a handshake failed"),
            Err(_) => tracing::debug!(target: "kassa_server", "a handshake took too long"),
        }
    }

    async fn answer<S>(&self, stream: S, peer: Peer, mut stop: watch::Receiver<bool>, slot: Arc<Slot>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let has_brought_one = AtomicBool::new(false);
        let service = service_fn(|request| {
            has_brought_one.store(true, Ordering::Relaxed);
            respond(&self.service, peer, &slot, request)
        });
        let stream = TokioIo::new(WriteLimited::new(stream, self.write_limit).notifying(slot.clone()));
        let mut conversation = pin!(self.http.serve_connection(stream, service));
        let mut first_head = pin!(sleep(self.first_head_limit));
        let mut evicted = pin!(slot.evicted());
        let mut is_first_awaited = true;
        let mut is_stopping = false;
        loop {
            tokio::select! {
                ended = conversation.as_mut() => {
                    if let Err(problem) = ended {
                        tracing::debug!(target: "kassa_server", %problem, "a connection ended early");
                    }
                    return;
                }
                () = first_head.as_mut(), if is_first_awaited => {
                    if !has_brought_one.load(Ordering::Relaxed) {
                        return;
                    }
                    is_first_awaited = false;
                }
                () = evicted.as_mut() => return,
                _ = stop.wait_for(|stop| *stop), if !is_stopping => {
                    conversation.as_mut().graceful_shutdown();
                    is_stopping = true;
                }
            }
        }
    }
}

fn respond(
    service: &TowerToHyperService<Router>,
    peer: Peer,
    slot: &Arc<Slot>,
    mut request: Request<Incoming>,
) -> impl Future<Output = Result<Response<TrackedBody>, Infallible>> + use<> {
    let Some(answering) = slot.begin() else {
        // The connection is about to be closed, as after the limit of idleness.
        return Either::Right(pending::<Result<Response<TrackedBody>, Infallible>>());
    };
    request.extensions_mut().insert(peer);
    let answer = service.call(request);
    Either::Left(
        answer.map(|answer| answer.map(|answer| answer.map(|body| TrackedBody { body, _answering: answering }))),
    )
}

/// The body of a response. The request is active until it ends.
struct TrackedBody {
    body: Body,
    _answering: ActiveRequest,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection with a limit on stalled writes.
pub(super) struct WriteLimited<S> {
    stream: S,
    limit: Duration,
    /// The timer of a stalled write; `None` while writing proceeds.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Notified when everything is sent.
    slot: Option<Arc<Slot>>,
}

impl<S> WriteLimited<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, stalled: None, slot: None }
    }

    /// Notifies the connection's slot when everything written was sent.
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
    async fn connection_with_stalled_reader_times_out() {
        let (stream, _reader) = duplex(16);
        let start = Instant::now();
        let problem = WriteLimited::new(stream, LIMIT).write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(problem.kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() >= LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_reader_receives_full_response() {
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
