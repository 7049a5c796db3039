//! One connection: its handshake, its requests, its end. None holds its place for long without bringing a request, as callers
//! that open many and send nothing would keep all others out.

use std::{
    convert::Infallible,
    net::IpAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{Router, response::Response};
use hyper::{
    Request,
    body::Incoming,
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
    sync::{OwnedSemaphorePermit, watch},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::{settings::ListenerSettings, write_limit::WriteLimited};

/// The most that is read ahead, and so the largest head of a request. It bounds what a waiting connection keeps in memory.
const MOST_READ_AHEAD: usize = 16 * 1024;

/// The address at the other end of the connection; each request carries it among its extensions. Behind a proxy it is the
/// proxy's: [`caller`](crate::caller) says whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// Who answers connections.
pub(super) struct Conversations {
    http: http1::Builder,
    service: TowerToHyperService<Router>,
    handshake_limit: Duration,
    first_head_limit: Duration,
    write_limit: Duration,
}

impl Conversations {
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

    /// Answers the requests of a connection until it ends, and then gives its place to another one. After the order to stop
    /// it answers the one under way.
    pub(super) async fn hold(
        self: Arc<Self>,
        stream: TcpStream,
        peer: Peer,
        tls: Option<TlsAcceptor>,
        stop: watch::Receiver<bool>,
        _place: OwnedSemaphorePermit,
    ) {
        // TCP_NODELAY: an answer that is whole is not held back.
        if let Err(problem) = stream.set_nodelay(true) {
            tracing::debug!(target: "kassa_server", %problem, "a connection ended early");
        }
        match tls {
            None => self.answer(stream, peer, stop).await,
            // In a box, so that a plain one does not keep room for what only encryption needs.
            Some(tls) => Box::pin(self.shake_hands(stream, peer, tls, stop)).await,
        }
    }

    async fn shake_hands(&self, stream: TcpStream, peer: Peer, tls: TlsAcceptor, mut stop: watch::Receiver<bool>) {
        let shaken = tokio::select! {
            shaken = Box::pin(timeout(self.handshake_limit, tls.accept(stream))) => shaken,
            _ = stop.wait_for(|stop| *stop) => return,
        };
        match shaken {
            Ok(Ok(stream)) => self.answer(Box::new(stream), peer, stop).await,
            Ok(Err(problem)) => tracing::debug!(target: "kassa_server", %problem, "a handshake failed"),
            Err(_) => tracing::debug!(target: "kassa_server", "a handshake took too long"),
        }
    }

    async fn answer<S>(&self, stream: S, peer: Peer, mut stop: watch::Receiver<bool>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let has_brought_one = AtomicBool::new(false);
        let service = service_fn(|request| {
            has_brought_one.store(true, Ordering::Relaxed);
            respond(&self.service, peer, request)
        });
        let stream = TokioIo::new(WriteLimited::new(stream, self.write_limit));
        let mut conversation = pin!(self.http.serve_connection(stream, service));
        let mut first_head = pin!(sleep(self.first_head_limit));
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
    mut request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> + use<> {
    request.extensions_mut().insert(peer);
    service.call(request)
}
