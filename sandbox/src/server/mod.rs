//! A running sandbox: start, inspect, stop.

mod clock_control;
mod replay;
mod run;

pub use clock_control::{ClockControl, ClockError};
pub use replay::{Replay, ReplayError};

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use reqwest::Client;
use tokio::{
    runtime::{Builder, Runtime},
    sync::watch,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    callbacks, demo,
    domain::Payment,
    faults::{FaultError, FaultSet, Faults},
    net::{ConnectionListener, HANDSHAKE_LIMIT, ShouldReset, tls},
    payments::decide::{Decision, DecisionError, decide},
    replay::Replayer,
    settings::{Database, SandboxError, SandboxOptions, Switches, check},
    state::State,
    store::{
        Store, StoreError,
        callback_queue::{self, CallbackAttempt},
        exchanges::ReceivedRequest,
        payments,
    },
};

/// The database has one connection; more threads would only wait for it.
const BLOCKING_THREADS: usize = 16;
/// The time limit for the runtime's threads to end.
const RUNTIME_SHUTDOWN: Duration = Duration::from_secs(3);

/// A running sandbox, with its own thread. Dropping it stops it.
pub struct Sandbox {
    state: Arc<State>,
    address: SocketAddr,
    url: String,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Sandbox {
    /// Starts a sandbox and returns when it listens.
    pub fn start(options: SandboxOptions) -> Result<Self, SandboxError> {
        Self::start_behind(options, |_, _| Ok(None))
    }

    /// Starts a sandbox behind a replay, which is created with its URL and its client for callbacks.
    fn start_behind<E: From<SandboxError>>(
        options: SandboxOptions,
        replayer: impl FnOnce(&str, Client) -> Result<Option<Arc<Replayer>>, E>,
    ) -> Result<Self, E> {
        check(&options)?;
        let faults = faults(&options)?;
        let store = Store::open(&options.database)?;
        store.put_clock_ahead(options.clock_ahead_ms())?;
        fill(&store, &options)?;
        let client = callbacks::client(options.callback_timeout, tls::callback_roots(&options)?)?;
        let tls = options.tls.as_ref().map(tls::acceptor).transpose()?;
        let (listener, address) = listen(options.listen)?;
        warn_of_dead_links(&options, address);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", reachable(address));
        let state = Arc::new(State::new(options, faults, store, &url));
        let replayer = replayer(&state.public_url, client.clone())?;
        let (stop, stopped) = watch::channel(false);
        let thread = spawn(Arc::clone(&state), listener, tls, run::Tasks { client, replayer }, stopped)?;
        Ok(Self { state, address, url, stop, thread: Some(thread) })
    }

    /// The base URL, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The merchant's login.
    pub fn login(&self) -> &str {
        &self.state.options.login
    }

    /// The merchant's password.
    pub fn password(&self) -> &str {
        &self.state.options.password
    }

    /// The token of the admin interface: the configured one, or the random one of this start.
    pub fn admin_token(&self) -> &str {
        &self.state.admin_token
    }

    /// The ledger: all payments, in the order of registration.
    ///
    /// # Panics
    /// If the database cannot be read: an empty list would be wrong.
    pub fn payments(&self) -> Vec<Payment> {
        read(self.state.read(|connection| payments::all(connection, None)))
    }

    /// The payment with an order number (the merchant's, a pay-form's or a QR's
    /// transaction id). If several have the same number: an open one, else the latest.
    ///
    /// # Panics
    /// If the database cannot be read, as in [`payments`](Self::payments).
    pub fn payment(&self, order_number: &str) -> Option<Payment> {
        let found = self.state.read(|connection| payments::by_order_number(connection, order_number));
        read(found).map(|record| record.payment)
    }

    /// All requests to the gateway's endpoints so far, in the order of their responses.
    ///
    /// # Panics
    /// If the database cannot be read, as in [`payments`](Self::payments).
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        read(self.state.requests(None))
    }

    /// All attempts to deliver a callback so far.
    ///
    /// # Panics
    /// If the database cannot be read, as in [`payments`](Self::payments).
    pub fn callbacks(&self) -> Vec<CallbackAttempt> {
        read(self.state.read(|connection| callback_queue::attempts(connection, None)))
    }

    /// The faults that are set.
    pub fn faults(&self) -> Faults<'_> {
        Faults::new(&self.state.faults)
    }

    /// The gateway's clock, and the automatic resolution of pending payments.
    pub fn clock(&self) -> ClockControl<'_> {
        ClockControl::new(&self.state)
    }

    /// The current switches.
    pub fn switches(&self) -> Switches {
        self.state.switches()
    }

    /// Sets all switches, for responses from now on.
    pub fn set_switches(&self, switches: Switches) {
        self.state.change_switches(|_| switches);
    }

    /// Pays as the payer; if the payer has already acted, charges as the provider. `number` is
    /// any of the payment's own. A payment on the pay-form is paid with the first test card.
    ///
    /// # Errors
    /// If no payment has this number, it is already final, or its QR code has no sum.
    pub fn approve(&self, number: &str) -> Result<Payment, DecisionError> {
        self.decide(number, Decision::Approve)
    }

    /// Cancels as the payer; if the payer has already acted, declines as the provider.
    ///
    /// # Errors
    /// If no payment has this number, or it is already final.
    pub fn decline(&self, number: &str) -> Result<Payment, DecisionError> {
        self.decide(number, Decision::Decline)
    }

    fn decide(&self, number: &str, decision: Decision) -> Result<Payment, DecisionError> {
        let _generation = self.state.generation();
        decide(&self.state, number, decision, None)
    }

    /// Deletes payments, callbacks, requests and faults; switches and clock return to their values at the start.
    ///
    /// # Panics
    /// If the database cannot be written.
    pub fn reset(&self) {
        read(self.state.reset());
    }

    /// Stops it: open requests are answered, and its thread has ended when this returns. Undelivered callbacks stay in the database.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _receivers = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn read<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the sandbox's database can no longer be used: {error}"),
    }
}

/// Writes demo payments, if configured and the database has no payments.
fn fill(store: &Store, options: &SandboxOptions) -> Result<(), SandboxError> {
    let Some(demo) = options.demo else {
        return Ok(());
    };
    match demo::fill(store, demo) {
        Ok(true) => tracing::info!(payments = demo.payments, "a history was invented"),
        Ok(false) => tracing::warn!("the database has payments already: none were invented"),
        Err(error) => {
            let path = match &options.database {
                Database::Memory => ":memory:".into(),
                Database::File(path) => path.clone(),
            };
            return Err(SandboxError::Database { path, detail: error.to_string() });
        }
    }
    Ok(())
}

/// The faults to start with.
fn faults(options: &SandboxOptions) -> Result<FaultSet, SandboxError> {
    let set = FaultSet::default();
    for fault in &options.faults {
        let rejection = |error: FaultError| SandboxError::Option { option: "faults", detail: error.to_string() };
        set.add(fault.clone()).map_err(rejection)?;
    }
    Ok(set)
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), SandboxError> {
    let failed = |source| SandboxError::Listen { address, source };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// An address for connecting: the unspecified one (0.0.0.0, ::) becomes the loopback address.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// Warns if links contain the loopback address although other machines are expected to follow them.
fn warn_of_dead_links(options: &SandboxOptions, listening: SocketAddr) {
    if listening.ip().is_unspecified() && options.public_url.is_none() {
        tracing::warn!(
            "links to pages and QR codes say {}, which leads a phone to itself: name the address that others reach \
             this machine by, with --public-url",
            reachable(listening).ip()
        );
    }
}

/// Runs the server on its own thread, so that it works inside and outside of other runtimes.
fn spawn(
    state: Arc<State>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    tasks: run::Tasks,
    stop: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, SandboxError> {
    let system = |error: std::io::Error| SandboxError::System(error.to_string());
    let (ready, started) = mpsc::channel();
    let body = move || match runtime(listener) {
        Ok((runtime, listener)) => {
            let _is_received = ready.send(Ok(()));
            let resetting = Arc::clone(&state);
            let resets: ShouldReset = Arc::new(move |endpoint| resetting.resets_connection(endpoint));
            let lines = ConnectionListener { listener, tls, handshake_limit: HANDSHAKE_LIMIT, resets };
            runtime.block_on(run::run(state, lines, tasks, stop));
            runtime.shutdown_timeout(RUNTIME_SHUTDOWN);
        }
        Err(error) => {
            let _is_received = ready.send(Err(error));
        }
    };
    let thread = thread::Builder::new().name("kassa-sandbox".to_owned()).spawn(body).map_err(system)?;
    match started.recv() {
        Ok(Ok(())) => Ok(thread),
        Ok(Err(error)) => Err(system(error)),
        Err(error) => Err(SandboxError::System(error.to_string())),
    }
}

fn runtime(listener: TcpListener) -> std::io::Result<(Runtime, tokio::net::TcpListener)> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("kassa-sandbox-worker")
        .enable_all()
        .build()?;
    let guard = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(guard);
    Ok((runtime, listener))
}

#[cfg(test)]
mod tests {

    #[test]
    fn unspecified_address_becomes_loopback() {
        for (listening, to) in [
            ("0.0.0.0:8400", "127.0.0.1:8400"),
            ("[::]:8400", "[::1]:8400"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("192.0.2.1:8400", "192.0.2.1:8400"),
            ("[::1]:8400", "[::1]:8400"),
        ] {
            assert_eq!(super::reachable(listening.parse().expect("an address")).to_string(), to);
        }
    }
}
