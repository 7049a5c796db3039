//! The listener: it accepts connections, keeps their number within a limit, and stops gracefully. A failure to accept, for
//! example because file descriptors ran out, neither ends the server nor keeps a processor busy.

use std::{
    fs,
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::Router;
use kassa_pages::Network;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    caller::Peer,
    certificates::Certificates,
    connection::ConnectionHandler,
    error::NetError,
    registry::{LimitReached, Registry, Slot},
    settings::ListenerSettings,
};
use crate::{metrics::Metrics, rate_limit::LogLimit};

/// A listener on an address, plain or with TLS.
///
/// ```
/// # use std::time::Duration;
/// use kassa_server::{Listener, ListenerSettings};
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let listener = Listener::bind(ListenerSettings::new(([127, 0, 0, 1], 0).into())).await?;
/// println!("listening on {}", listener.address());
/// let stop = async {}; // SIGTERM, in a program
/// listener.serve(axum::Router::new(), stop, Duration::from_secs(5)).await;
/// # Ok::<(), kassa_server::NetError>(())
/// # }).unwrap();
/// ```
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    certificates: Option<Certificates>,
    settings: ListenerSettings,
    metrics: Option<Arc<Metrics>>,
}

impl Listener {
    /// Reads the TLS files, and listens. Connections wait until they are [served](Self::serve).
    ///
    /// # Errors
    /// [`NetError`]: the address is taken, or a file cannot be used.
    pub async fn bind(settings: ListenerSettings) -> Result<Self, NetError> {
        let certificates = match &settings.tls {
            Some(files) => Some(Certificates::load(files.clone(), settings.renewal_check, Instant::now())?),
            None => None,
        };
        let address = settings.address;
        let refused = |problem: io::Error| NetError::Listen { address, detail: problem.to_string() };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self { listener, address, certificates, settings, metrics: None })
    }

    /// Counts reached limits in these metrics.
    #[must_use]
    pub fn counted_by(self, metrics: Arc<Metrics>) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// The address that it listens on, with the actual port if port 0 was configured.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` completes. After that, no connection is accepted, connections without a request are closed,
    /// and requests in progress may continue for `patience`; the rest are dropped. Each request carries its [`Peer`].
    pub async fn serve(mut self, router: Router, stop: impl Future<Output = ()>, patience: Duration) {
        let handler = Arc::new(ConnectionHandler::new(router, &self.settings));
        let registry = Arc::new(Registry::new(max_connections(self.settings.max_connections)));
        let (stop_sender, stopping) = watch::channel(false);
        let mut connections = JoinSet::new();
        let failures = LogLimit::default();
        let limit_log = LimitLog { metrics: self.metrics, ..LimitLog::default() };
        let mut stop = std::pin::pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                biased;
                () = stop.as_mut() => break,
                Some(ended) = connections.join_next() => {
                    log_panic(&ended);
                    continue;
                }
                accepted = next_connection(&self.listener, &failures), if !registry.has_many_closing() => accepted,
            };
            let peer = Peer(peer.ip().to_canonical());
            let Some(slot) = limit_log.slot(&registry, peer, self.settings.proxies.has(peer.0)) else { continue };
            let tls = self.certificates.as_mut().map(|certificates| certificates.current(Instant::now()));
            connections.spawn(handler.clone().serve_connection(stream, peer, tls, stopping.clone(), slot));
        }
        drop(self.listener);
        stop_sender.send_replace(true);
        end(connections, patience).await;
    }
}

/// Logs and counts that a limit of connections was reached.
#[derive(Default)]
struct LimitLog {
    metrics: Option<Arc<Metrics>>,
    all: LogLimit,
    of_address: LogLimit,
}

impl LimitLog {
    /// The slot of a new connection, if it gets one.
    fn slot(&self, registry: &Arc<Registry>, peer: Peer, is_proxy: bool) -> Option<Slot> {
        let admission = registry.admit(Network::from(peer.0), is_proxy);
        if let Some(reached) = admission.reached {
            self.tell(reached, peer, admission.slot.is_none());
        }
        admission.slot
    }

    fn tell(&self, reached: LimitReached, Peer(from): Peer, is_refused: bool) {
        let (limit, log) = match reached {
            LimitReached::Connections => ("connections", &self.all),
            LimitReached::Share => ("connections_of_address", &self.of_address),
        };
        if let Some(metrics) = &self.metrics {
            metrics.limit_reached(limit);
        }
        let Some(repeated) = log.is_time(Instant::now()) else { return };
        match reached {
            LimitReached::Connections => tracing::warn!(
                target: "kassa_server", %from, is_refused, repeated,
                "too many connections are open: each new one closes an idle one, or is closed if none is idle"
            ),
            LimitReached::Share => tracing::warn!(
                target: "kassa_server", %from, is_refused, repeated,
                "an address holds half of all connections: each new one from it closes an idle one of its own"
            ),
        }
    }
}

/// Waits for connections in progress, and drops those that take too long.
async fn end(mut connections: JoinSet<()>, patience: Duration) {
    let all_ended = async {
        while let Some(ended) = connections.join_next().await {
            log_panic(&ended);
        }
    };
    if timeout(patience, all_ended).await.is_err() {
        tracing::warn!(target: "kassa_server", left = connections.len(), "requests in progress were cut off");
        connections.shutdown().await;
    }
}

/// A panic ends only its own connection.
fn log_panic(ended: &Result<(), tokio::task::JoinError>) {
    if ended.as_ref().is_err_and(tokio::task::JoinError::is_panic) {
        tracing::error!(target: "kassa_server", "answering a request panicked");
    }
}

/// The pause after a failure that is not the connection's own.
const PAUSE: Duration = Duration::from_millis(250);

/// A source of connections: the system, or a test.
pub(super) trait Acceptor {
    /// A connection.
    type Stream;

    /// The next connection, or why there is none.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;
}

impl Acceptor for TcpListener {
    type Stream = TcpStream;

    fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        Self::accept(self)
    }
}

/// Waits for the next connection, without a limit.
pub(super) async fn next_connection<A: Acceptor>(from: &A, log: &LogLimit) -> (A::Stream, SocketAddr) {
    loop {
        match from.accept().await {
            Ok(accepted) => return accepted,
            Err(problem) if is_peer_error(&problem) => {}
            Err(problem) => {
                if let Some(repeated) = log.is_time(Instant::now()) {
                    tracing::error!(target: "kassa_server", %problem, repeated, "no connection can be accepted for now");
                }
                sleep(PAUSE).await;
            }
        }
    }
}

/// Whether the connection ended before it was accepted.
fn is_peer_error(problem: &io::Error) -> bool {
    matches!(problem.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

/// Open files reserved for everything but callers: requests to the gateway and to the shop, the database's files, listeners.
const RESERVED_FILES: usize = 256;

/// The most connections that may be open: the setting, or what the limit of open files leaves.
pub(super) fn max_connections(wanted: usize) -> usize {
    let Some(allowed) = fs::read_to_string("/proc/self/limits").ok().and_then(|limits| allowed(&limits)) else {
        return wanted;
    };
    let most = wanted.min(for_callers(allowed));
    if most < wanted {
        tracing::warn!(
            target: "kassa_server",
            most, wanted, files = allowed,
            "fewer connections than set are accepted, as the process may open so few files: raise LimitNOFILE, or ulimit -n"
        );
    }
    most
}

fn for_callers(allowed: usize) -> usize {
    allowed.saturating_sub(RESERVED_FILES).max(allowed / 2)
}

/// The limit in Linux' form; `None` if there is no limit.
fn allowed(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, sync::Mutex};

    use tokio::time::Instant;

    use super::*;

    /// Fails in these ways before it brings a connection.
    struct Failing(Mutex<RefCell<Vec<io::Error>>>);

    impl Acceptor for Failing {
        type Stream = ();

        async fn accept(&self) -> io::Result<((), SocketAddr)> {
            let failure = self.0.lock().unwrap().borrow_mut().pop();
            failure.map_or_else(|| Ok(((), ([127, 0, 0, 1], 1).into())), Err)
        }
    }

    fn failing(failures: impl Iterator<Item = io::Error>) -> Failing {
        Failing(Mutex::new(RefCell::new(failures.collect())))
    }

    #[tokio::test(start_paused = true)]
    async fn listener_without_descriptors_pauses() {
        let start = Instant::now();
        // EMFILE
        let from = failing((0..10).map(|_| io::Error::from_raw_os_error(24)));
        next_connection(&from, &LogLimit::default()).await;
        assert!(start.elapsed() >= 10 * PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn aborted_connection_does_not_delay_accept() {
        let start = Instant::now();
        let from = failing((0..10).map(|_| ErrorKind::ConnectionAborted.into()));
        next_connection(&from, &LogLimit::default()).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[test]
    fn open_file_limit_is_parsed_from_proc_limits() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             127234               127234               processes \n\
            Max open files            1024                 524288               files     \n";
        assert_eq!(allowed(limits), Some(1024));
        assert_eq!(allowed(&limits.replace("1024 ", "unlimited ")), None);
        assert_eq!(allowed(""), None);
    }

    #[test]
    fn connection_limit_reserves_other_open_files() {
        assert_eq!((for_callers(1024), for_callers(65_536)), (768, 65_280));
        assert_eq!(for_callers(100), 50, "where there is too little for both, both get a part");
    }
}
