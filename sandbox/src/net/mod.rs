//! Networking: TCP and TLS, idle timeouts, graceful shutdown, and connections that are cut by faults. Idle timeouts keep clients that
//! open many connections and send nothing from exhausting the sandbox.

mod connection;
pub(crate) mod tls;

pub(crate) use connection::{
    ConnectionHandle, ConnectionListener, ConnectionStream, Cut, CutPoint, HANDSHAKE_LIMIT, ShouldReset,
};

use std::{convert::Infallible, time::Duration};

use axum::{Router, extract::ConnectInfo, response::Response};
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};

/// The time limit for the whole head of a request: the first one with its handshake, or the next one.
/// Longer than clients keep idle connections, so that none is closed while a request is on its way.
pub(crate) const HEAD_LIMIT: Duration = Duration::from_secs(75);

/// Accepts connections until `stop` completes, then returns when the open ones have ended.
pub(crate) async fn serve(
    mut listener: ConnectionListener,
    router: Router,
    head_limit: Duration,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_limit);
    let service = TowerToHyperService::new(router);
    let under_way = GracefulShutdown::new();
    let accepting = async {
        loop {
            let stream = listener.accept().await;
            tokio::spawn(serve_connection(http.clone(), stream, service.clone(), under_way.watcher()));
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop => {}
    }
    drop(listener);
    under_way.shutdown().await;
}

/// Answers the requests of one connection until it ends.
async fn serve_connection(
    http: http1::Builder,
    stream: ConnectionStream,
    service: TowerToHyperService<Router>,
    watcher: Watcher,
) {
    let handle = stream.handle();
    let answer = service_fn(move |request| respond(&service, &handle, request));
    if let Err(error) = watcher.watch(http.serve_connection(TokioIo::new(stream), answer)).await {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn respond(
    service: &TowerToHyperService<Router>,
    handle: &ConnectionHandle,
    mut request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Infallible>> + use<> {
    request.extensions_mut().insert(ConnectInfo(handle.clone()));
    service.call(request)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        future::pending,
        io::{ErrorKind, Read, Write},
        net::{SocketAddr, TcpStream},
        sync::Arc,
    };

    use axum::routing::any;
    use base64::{Engine, engine::general_purpose::STANDARD};
    use kassa_test_patience::{patience, wait_for_async};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;
    use crate::settings::TlsFiles;

    const SOON: Duration = Duration::from_millis(50);
    const NEVER: Duration = Duration::from_secs(24 * 3600);

    /// Serves "hello" for as long as the runtime runs.
    async fn start(tls: Option<TlsAcceptor>, handshake_limit: Duration, head_limit: Duration) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let listener = ConnectionListener { listener, tls, handshake_limit, resets: Arc::new(|_| false) };
        let router = Router::new().route("/", any(|| async { "hello" }));
        tokio::spawn(serve(listener, router, head_limit, pending()));
        address
    }

    /// The bytes that a client receives that sends `request` and then waits until the connection is closed.
    async fn received(address: SocketAddr, request: &'static str) -> String {
        let listen = move || {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.set_read_timeout(Some(patience())).expect("set");
            let mut received = Vec::new();
            let ended = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut received));
            let is_silence =
                ended.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
            assert!(!is_silence, "the connection stayed open");
            String::from_utf8_lossy(&received).into_owned()
        };
        tokio::task::spawn_blocking(listen).await.expect("no panic")
    }

    #[tokio::test]
    async fn connection_without_a_request_is_closed() {
        let address = start(None, NEVER, SOON).await;
        assert_eq!(received(address, "").await, "");
        assert_eq!(received(address, "GET / HTTP/1.1\r\nhost: x\r\nx-slow: ").await, "");
        // On a slow machine even a request that is sent at once may come after the limit.
        let idle = wait_for_async("a request comes in time", async || {
            Some(received(address, "GET / HTTP/1.1\r\nhost: x\r\n\r\n").await).filter(|received| !received.is_empty())
        });
        let idle = idle.await;
        assert!(idle.starts_with("HTTP/1.1 200 OK") && idle.ends_with("hello"), "{idle}");
    }

    #[tokio::test]
    async fn connection_without_a_handshake_is_closed() {
        let address = start(Some(acceptor()), SOON, NEVER).await;
        assert_eq!(received(address, "").await, "");
    }

    fn acceptor() -> TlsAcceptor {
        let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, label: &str, der: &[u8]| {
            let path = folder.path().join(name);
            let text = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
            fs::write(&path, text).expect("written");
            path
        };
        let files = TlsFiles {
            certificate: write("cert.pem", "CERTIFICATE", own.cert.der()),
            key: write("key.pem", "PRIVATE KEY", &own.signing_key.serialize_der()),
        };
        tls::acceptor(&files).expect("usable files")
    }
}
