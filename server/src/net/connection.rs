//! One connection: its handshake, its requests, its end. None holds its place for long without bringing a request, as callers
//! that open many and send nothing would keep all others out.

use std::{
    convert::Infallible,
    future::pending,
    net::IpAddr,
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
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::watch,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::{
    registry::{ActiveRequest, Slot},
    settings::ListenerSettings,
    write_limit::WriteLimited,
};

/// The most that is read ahead, and so the largest head of a request. It bounds what a waiting connection keeps in memory.
const MOST_READ_AHEAD: usize = 16 * 1024;

/// The address at the other end of the connection; each request carries it among its extensions. Behind a proxy it is the
/// proxy's: [`caller`](crate::caller) says whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// Who answers connections.
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

    /// Answers the requests of a connection until it ends, or another one gets its place. After the order to stop it answers
    /// the one under way.
    pub(super) async fn serve_connection(
        self: Arc<Self>,
        stream: TcpStream,
        peer: Peer,
        tls: Option<TlsAcceptor>,
        stop: watch::Receiver<bool>,
        slot: Slot,
    ) {
        let slot = Arc::new(slot);
        // TCP_NODELAY: an answer that is whole is not held back.
        if let Err(problem) = stream.set_nodelay(true) {
            tracing::debug!(target: "kassa_server", %problem, "a connection ended early");
        }
        match tls {
            None => self.answer(stream, peer, stop, slot).await,
            // In a box, so that a plain one does not keep room for what only encryption needs.
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

/// The body of an answer. The request is being answered until it ends.
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
