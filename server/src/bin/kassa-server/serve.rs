//! `serve`: runs the server from startup to graceful shutdown.

use std::{
    future::pending,
    io::{self, Write},
    net::SocketAddr,
    process::{self, ExitCode},
    sync::Arc,
    thread,
    time::Duration,
};

use kassa::Gateway;
use kassa_server::{
    HttpWebhookSender, KeyRole, Listener, ListenerSettings, Server, Storage, TokioRuntime, WebhookSender,
    metrics_router, pay_router, router,
    settings::{ProgramSettings, Sources},
    staff_router,
};
use serde::Serialize;
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
    task::JoinHandle,
    time::timeout,
};

use super::{
    cli::ServeOptions,
    database,
    log::{self, Traces},
    output::{self, CommandResult, Failure},
};

/// The grace period of requests in flight at shutdown. A whole shutdown takes 5 s at most.
const REQUESTS: Duration = Duration::from_millis(4_300);
const STOPPING: Duration = Duration::from_millis(4_600);
/// The time to wait for the disk after that.
const DISK: Duration = Duration::from_millis(150);

pub(crate) fn run(sources: &Sources, options: &ServeOptions) -> CommandResult<ExitCode> {
    let settings = ProgramSettings::read(sources).map_err(|problems| Failure::settings(&problems))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?;
    let traces = Traces::to(settings.traces.as_ref(), runtime.handle())?;
    log::start(&settings.log, &traces);
    runtime.block_on(serve(&settings, options, &traces))?;
    traces.close();
    // Running work is abandoned: its payments are polled after the next start.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

async fn serve(settings: &ProgramSettings, options: &ServeOptions, traces: &Traces) -> CommandResult<()> {
    // Signal handlers are set before anything starts, so that an early signal also ends it gracefully.
    let ordered = ordered(options.exit_with_stdin).map_err(Failure::new)?;
    // An address that is in use ends it before the database is opened.
    let listener = Listener::bind(settings.listener.clone()).await.map_err(Failure::new)?;
    let metrics = bind_metrics(settings).await?;
    let storage = database::open(&settings.database).await?;
    let server = build(settings, storage.clone())?;
    let addresses =
        Addresses::new(listener.address(), settings.listener.tls.is_some(), metrics.as_ref().map(Listener::address));
    server.run();

    let (stop_sender, stopping) = watch::channel(false);
    let answering = [
        Some(answer(listener.counted_by(server.metrics().clone()), traces.over(pages(&server, settings)), &stopping)),
        metrics.map(|metrics| answer(metrics, metrics_router(server.clone()), &stopping)),
    ];
    // The server keeps running if its terminal, or the reader of its output, is gone. The log has the addresses, too.
    if let Err(problem) = addresses.print(settings, options.announce_json, &mut io::stdout().lock()) {
        tracing::warn!(target: "kassa_server", %problem, "the addresses could not be printed; the server continues");
    }
    tell_of_warnings(settings, &*storage).await;
    tracing::info!(target: "kassa_server", url = addresses.url, "serving");

    ordered.await;
    tracing::info!(target: "kassa_server", "stopping");
    stop_sender.send_replace(true);
    end(server, storage, answering.into_iter().flatten().collect()).await;
    tracing::info!(target: "kassa_server", "stopped");
    Ok(())
}

async fn bind_metrics(settings: &ProgramSettings) -> CommandResult<Option<Listener>> {
    let Some(address) = settings.metrics_listen else { return Ok(None) };
    Listener::bind(ListenerSettings::new(address)).await.map(Some).map_err(Failure::new)
}

fn build(settings: &ProgramSettings, storage: Arc<dyn Storage>) -> CommandResult<Server> {
    let gateway = Gateway::new(settings.gateway.clone()).map_err(Failure::new)?;
    let post = settings
        .events_url
        .as_ref()
        .map(|url| HttpWebhookSender::within(&settings.gateway.plain_http_hosts, url.expose()))
        .transpose()
        .map_err(Failure::new)?;
    let post = post.map(|post| Arc::new(post) as Arc<dyn WebhookSender>);
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    Server::new(storage, Arc::new(gateway), runtime, settings.server.clone(), post).map_err(Failure::new)
}

fn pages(server: &Server, settings: &ProgramSettings) -> axum::Router {
    let mut pages = router(server.clone(), settings.http.clone());
    if settings.http.has_pay_page {
        pages = pages.merge(pay_router(server.clone(), settings.http.clone(), &settings.merchant));
    }
    if settings.has_staff_pages {
        pages = pages.merge(staff_router(server.clone(), settings.http.clone()));
    }
    pages
}

fn answer(listener: Listener, router: axum::Router, stopping: &watch::Receiver<bool>) -> JoinHandle<()> {
    let mut stopping = stopping.clone();
    let stop = async move { drop(stopping.wait_for(|is_stopping| *is_stopping).await) };
    tokio::spawn(listener.serve(router, stop, REQUESTS))
}

async fn tell_of_warnings(settings: &ProgramSettings, storage: &dyn Storage) {
    for (about, sentence) in output::wrong(settings) {
        tracing::error!(target: "kassa_server", about, "wrong: {sentence}");
    }
    for warning in output::of(settings) {
        tracing::warn!(target: "kassa_server", "{warning}");
    }
    if settings.events_url.is_none() {
        tracing::warn!(target: "kassa_server", "no events are delivered: set events.url, or read GET /v1/events");
    }
    if storage
        .api_keys()
        .await
        .is_ok_and(|keys| !keys.iter().any(|key| key.role == KeyRole::Shop && key.revoked_at.is_none()))
    {
        tracing::warn!(target: "kassa_server", "no shop can call yet: kassa-server keys new --name shop");
    }
}

/// Accepts no new connections, answers waiting callers, and finishes work in progress. Both run concurrently: a long poll ends
/// when the server reports that it stops.
async fn end(server: Server, storage: Arc<dyn Storage>, answering: Vec<JoinHandle<()>>) {
    let requests = async {
        for listener in answering {
            // A listener that panicked answers nobody any more.
            let _ = listener.await;
        }
    };
    let both = async { tokio::join!(server.stop(), requests) };
    if timeout(STOPPING, both).await.is_err() {
        tracing::warn!(target: "kassa_server", "unfinished work was abandoned at the deadline: its payments are polled after \
             the next start");
    }
    // The last owner of the storage waits for its threads.
    let closed = tokio::task::spawn_blocking(move || drop((server, storage)));
    let _ = timeout(DISK, closed).await;
}

// The output at startup: for people, or as one line of JSON for the program that started it.

/// The addresses at which the server can be reached.
#[derive(Serialize)]
pub(crate) struct Addresses {
    /// The URL for shops, apps and the gateway.
    pub(crate) url: String,
    /// The URL for metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metrics_url: Option<String>,
}

impl Addresses {
    pub(crate) fn new(listen: SocketAddr, is_tls: bool, metrics: Option<SocketAddr>) -> Self {
        let scheme = if is_tls { "https" } else { "http" };
        Self {
            url: format!("{scheme}://{listen}"),
            metrics_url: metrics.map(|address| format!("http://{address}/metrics")),
        }
    }

    /// Prints them.
    pub(crate) fn print(&self, settings: &ProgramSettings, as_json: bool, out: &mut impl Write) -> io::Result<()> {
        if as_json {
            let line = serde_json::to_string(self)?;
            writeln!(out, "{line}")?;
            return out.flush();
        }
        writeln!(out, "Kassa server {}\n", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "  listens at   {}", self.url)?;
        writeln!(out, "  public URL   {}", settings.http.public_url)?;
        if settings.has_staff_pages {
            writeln!(out, "  staff pages  {}/staff", settings.http.public_url.trim_end_matches('/'))?;
        }
        if let Some(url) = &self.metrics_url {
            writeln!(out, "  metrics      {url}")?;
        }
        writeln!(out, "  database     {}", settings.database)?;
        writeln!(out, "  gateway      {}", settings.gateway.base_url)?;
        writeln!(out, "\nStop it with Ctrl-C.")?;
        out.flush()
    }
}

// Graceful shutdown: by a signal or, if configured, by the end of the standard input.

/// The exit code that a shell gives a program ended by SIGTERM.
const AT_ONCE: i32 = 128 + 15;

/// Completes when the server is to stop. A second SIGINT or SIGTERM ends the program at once. Must be called inside a runtime.
pub(crate) fn ordered(with_stdin: bool) -> io::Result<impl Future<Output = ()>> {
    let (stop_sender, stopping) = oneshot::channel();
    let mut signals = signals()?;
    tokio::spawn(async move {
        let (mut stop_sender, mut orders) = (Some(stop_sender), 0);
        while orders < 2 {
            if signals.next().await == Kind::Order {
                orders += 1;
            }
            if let Some(stop_sender) = stop_sender.take() {
                let _heard = stop_sender.send(());
            }
        }
        process::exit(AT_ONCE);
    });
    let stdin_end = with_stdin.then(stdin_end).transpose()?;
    Ok(async move {
        let stdin_end = async {
            match stdin_end {
                Some(end) => drop(end.await),
                None => pending().await,
            }
        };
        tokio::select! {
            _ = stopping => {}
            () = stdin_end => {}
        }
    })
}

/// The kind of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An order to stop the program.
    Order,
    /// The terminal is gone. One closed terminal may send it several times, and a session that ends sends it after SIGTERM: it
    /// never ends the program at once.
    #[cfg(unix)]
    HangUp,
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` if the program is to outlive its terminal.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
fn signals() -> io::Result<Signals> {
    use tokio::signal::unix::{SignalKind, signal};
    let hang_up = if outlives_its_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
}

#[cfg(unix)]
impl Signals {
    async fn next(&mut self) -> Kind {
        let Self { interrupt, terminate, hang_up } = self;
        let hang_up = async {
            match hang_up {
                Some(signal) => {
                    signal.recv().await;
                }
                None => pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => Kind::Order,
            _ = terminate.recv() => Kind::Order,
            () = hang_up => Kind::HangUp,
        }
    }
}

/// Whether the program was started with SIGHUP ignored, as by `nohup`. A handler would undo that, so it is checked before one is
/// set. If the system does not say, the output decides: under `nohup` it is never a terminal.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    use std::{fs, io::IsTerminal};
    let is_ignored = fs::read_to_string("/proc/self/status").ok().and_then(|status| ignores_hang_up(&status));
    is_ignored.unwrap_or_else(|| !io::stdout().is_terminal())
}

/// The bit of SIGHUP (signal 1) in `/proc/self/status`: the lowest.
#[cfg(unix)]
fn ignores_hang_up(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? & 1 == 1)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
fn signals() -> io::Result<Signals> {
    Ok(Signals)
}

#[cfg(not(unix))]
impl Signals {
    async fn next(&mut self) -> Kind {
        let _pressed = tokio::signal::ctrl_c().await;
        Kind::Order
    }
}

/// Completes when nothing more can be read from standard input, after its end or an error. The thread is not
/// joined: a read cannot be interrupted.
fn stdin_end() -> io::Result<oneshot::Receiver<()>> {
    let (sender, receiver) = oneshot::channel();
    let read = move || {
        let _read = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _told = sender.send(());
    };
    thread::Builder::new().name("kassa-stdin".to_owned()).spawn(read)?;
    Ok(receiver)
}

#[cfg(unix)]
#[cfg(test)]
mod stop_tests {
    use super::*;

    #[test]
    fn ignored_sighup_is_detected_from_signal_mask() {
        for (status, ignores) in [
            ("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n", Some(true)),
            ("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n", Some(false)),
            ("SigIgn:\tnone\n", None),
            ("Name:\tx\n", None),
        ] {
            assert_eq!(ignores_hang_up(status), ignores, "{status}");
        }
    }
}
