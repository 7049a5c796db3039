//! The recorder: a reverse proxy between a merchant and a gateway that writes every exchange to a file. It passes
//! bytes unchanged (`relay`), parses them only to record (`http1`, `exchanges`), and writes them masked (`writer`).

mod body;
mod exchanges;
mod head;
mod http1;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod offline;
mod relay;
mod upstream;
mod writer;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use axum::serve::Listener;
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    sync::watch,
    task::JoinSet,
    time::timeout,
};

use crate::{
    net::tls,
    recording::{Direction, RecordingError},
    settings::SandboxError,
};
use relay::{Route, Stop, relay, stopped};
use upstream::Upstream;
use writer::{Recording, Writer};

/// The time limit for open exchanges after the order to stop.
const GRACE: Duration = Duration::from_secs(3);

/// The settings of a recorder.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The gateway's base URL, http or https, with its path, if any.
    pub upstream: String,
    /// Certificates (PEM) to trust in addition to the public roots. Default: none.
    pub upstream_ca: Vec<PathBuf>,
    /// The file to write.
    pub out: PathBuf,
    /// Whether to append to an existing file. Default: no; an existing file is refused.
    pub append: bool,
    /// Address and port for the merchant's requests. Default: 127.0.0.1, a free port.
    pub listen: SocketAddr,
    /// The merchant's base URL, to which callbacks of the gateway are passed. Default: none, callbacks are not recorded.
    pub callbacks: Option<String>,
    /// Address and port for the gateway's callbacks. Default: 127.0.0.1, a free port.
    pub callbacks_listen: SocketAddr,
}

impl RecordOptions {
    /// Records the exchanges with this gateway in a new file.
    pub fn new(upstream: impl Into<String>, out: impl Into<PathBuf>) -> Self {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            upstream: upstream.into(),
            upstream_ca: Vec::new(),
            out: out.into(),
            append: false,
            listen: any_port,
            callbacks: None,
            callbacks_listen: any_port,
        }
    }
}

/// Why a recorder could not start, or did not record everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// An option, an address or the system failed.
    #[error(transparent)]
    Start(#[from] SandboxError),
    /// The file cannot be used.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// A running recorder, with its own thread. Dropping it stops it.
pub struct Recorder {
    address: SocketAddr,
    callbacks_address: Option<SocketAddr>,
    stop: watch::Sender<Stop>,
    thread: Option<JoinHandle<()>>,
    writer: Option<Writer>,
}

impl Recorder {
    /// Starts a recorder and returns when it listens.
    pub fn start(options: RecordOptions) -> Result<Self, RecordError> {
        let roots = || tls::roots("upstream_ca", &options.upstream_ca);
        let upstream = Upstream::parse("upstream", &options.upstream, roots()?)?;
        let merchant = options.callbacks.as_ref().map(|url| Upstream::parse("callbacks", url, roots()?)).transpose()?;
        let runtime = runtime()?;
        let (listener, address) = listen(options.listen)?;
        let callbacks = match merchant {
            Some(merchant) => Some((merchant, listen(options.callbacks_listen)?)),
            None => None,
        };
        // Last, so that no file is left if something else fails.
        let (recording, writer) = Recording::start(&options.out, options.append, &upstream.url)?;
        let recording = Arc::new(recording);
        let route = |upstream, direction| Arc::new(Route { recording: Arc::clone(&recording), upstream, direction });
        let mut routes = vec![(listener, route(upstream, Direction::Request))];
        let mut callbacks_address = None;
        if let Some((merchant, (listener, address))) = callbacks {
            routes.push((listener, route(merchant, Direction::Callback)));
            callbacks_address = Some(address);
        }
        let (stop, stopping) = watch::channel(Stop::No);
        let cut = stop.clone();
        let body = move || {
            runtime.block_on(run(routes, stopping, &cut));
            runtime.shutdown_timeout(GRACE);
        };
        let thread = thread::Builder::new().name("kassa-record".to_owned()).spawn(body);
        let thread = thread.map_err(|error| SandboxError::System(error.to_string()))?;
        Ok(Self { address, callbacks_address, stop, thread: Some(thread), writer: Some(writer) })
    }

    /// The URL for the merchant's requests, in place of the gateway's.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The URL for the gateway's callbacks, in place of the merchant's.
    pub fn callbacks_url(&self) -> Option<String> {
        self.callbacks_address.map(|address| format!("http://{address}"))
    }

    /// The number of exchanges that this run wrote to the file.
    pub fn written(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::written)
    }

    /// Stops it. Open exchanges may end, and everything is written. Returns the number of exchanges written.
    ///
    /// # Errors
    /// If the file could not be written at any time: the recording is incomplete.
    pub fn stop(mut self) -> Result<u64, RecordingError> {
        self.end()
    }

    fn end(&mut self) -> Result<u64, RecordingError> {
        self.stop.send_replace(Stop::WhenIdle);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
        self.writer.take().map_or(Ok(0), Writer::finish)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // An error is in the log already.
        let _written = self.end();
    }
}

fn runtime() -> Result<Runtime, SandboxError> {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(2).thread_name("kassa-record-worker").enable_all();
    builder.build().map_err(|error| SandboxError::System(error.to_string()))
}

fn listen(address: SocketAddr) -> Result<(std::net::TcpListener, SocketAddr), SandboxError> {
    let failed = |source| SandboxError::Listen { address, source };
    let listener = std::net::TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Relays connections until the order to stop, and until the open ones have ended.
async fn run(routes: Vec<(std::net::TcpListener, Arc<Route>)>, stop: watch::Receiver<Stop>, cut: &watch::Sender<Stop>) {
    let mut accepting = JoinSet::new();
    for (listener, route) in routes {
        match TcpListener::from_std(listener) {
            Ok(listener) => drop(accepting.spawn(accept(listener, route, stop.clone()))),
            Err(error) => tracing::error!(%error, "an address cannot be listened on"),
        }
    }
    let ended = async { while accepting.join_next().await.is_some() {} };
    let overtime = async {
        stopped(&mut stop.clone(), Stop::WhenIdle).await;
        tokio::time::sleep(GRACE).await;
        tracing::warn!("exchanges under way were cut off");
        cut.send_replace(Stop::Now);
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = ended => {}
        () = overtime => {}
    }
}

async fn accept(mut listener: TcpListener, route: Arc<Route>, stop: watch::Receiver<Stop>) {
    let mut connections = JoinSet::new();
    let mut stopping = stop.clone();
    loop {
        tokio::select! {
            (client, _) = Listener::accept(&mut listener) => {
                connections.spawn(relay(client, Arc::clone(&route), stop.clone()));
            }
            Some(_) = connections.join_next() => {}
            () = stopped(&mut stopping, Stop::WhenIdle) => break,
        }
    }
    drop(listener);
    // A connection ends at `Stop::Now` at the latest, unless the system hangs.
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(2 * GRACE, ended).await.is_err() {
        tracing::error!("a connection did not end");
    }
}
