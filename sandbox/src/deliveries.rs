//! Delivers callbacks in the background until each got a 2xx, with the pauses that the options name.
//! The queue is in the database: a restarted sandbox goes on where the last one stopped.

use std::{
    collections::HashSet,
    error::Error,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use reqwest::{Client, header, redirect};
use rusqlite::Transaction;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::{
    sync::Semaphore,
    task::{JoinSet, spawn_blocking},
    time::sleep,
};

use crate::{
    clock,
    gateway::Gateway,
    store::{
        StoreError,
        callbacks::{self, AttemptResult, DueCallback},
    },
};

/// Callbacks under way at a time.
const MAX_IN_FLIGHT: usize = 64;
/// How long to wait before looking again where nothing is due, or the database failed.
const IDLE: Duration = Duration::from_secs(60);

/// The client for callbacks. It follows no redirect and asks no proxy: a callback goes to its target or nowhere.
pub(crate) fn client(timeout: Duration) -> Result<Client, String> {
    let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(timeout)
        .redirect(redirect::Policy::none())
        .no_proxy()
        // A kept connection that the receiver just closed would cost an attempt.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("kassa-sandbox/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| describe(&error))
}

/// The callbacks that are under way, so that none is sent twice at once.
type InFlight = Arc<Mutex<HashSet<i64>>>;

/// Delivers for as long as the sandbox runs.
pub(crate) async fn run(gateway: Arc<Gateway>, client: Client) {
    let in_flight = InFlight::default();
    let slots = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
    let mut deliveries = JoinSet::new();
    loop {
        let (due, pause) = look(&gateway).await;
        for id in due {
            if !locked(&in_flight).insert(id) {
                continue;
            }
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let delivery = Delivery { gateway: Arc::clone(&gateway), client: client.clone() };
            let in_flight = Arc::clone(&in_flight);
            deliveries.spawn(async move {
                delivery.attempt(id).await;
                locked(&in_flight).remove(&id);
                drop(slot);
                delivery.gateway.deliveries.notify_one();
            });
        }
        while deliveries.try_join_next().is_some() {}
        tokio::select! {
            () = gateway.deliveries.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// What is due now, and how long until something else is.
async fn look(gateway: &Arc<Gateway>) -> (Vec<i64>, Duration) {
    let now = clock::now_ms();
    let looked = in_store(gateway, move |gateway| {
        gateway.read(|connection| {
            let due = callbacks::due(connection, now)?;
            let next = callbacks::next_due(connection, now)?;
            Ok((due, next.map(|next| next - now)))
        })
    });
    let (due, wait) = looked.await.unwrap_or_default();
    let wait = wait.and_then(|ms| u64::try_from(ms).ok());
    (due, wait.map_or(IDLE, Duration::from_millis).min(IDLE))
}

/// Works on the store away from the network's threads; what fails there is logged.
async fn in_store<T: Send + 'static>(
    gateway: &Arc<Gateway>,
    work: impl FnOnce(&Gateway) -> Result<T, StoreError> + Send + 'static,
) -> Option<T> {
    let gateway = Arc::clone(gateway);
    match spawn_blocking(move || work(&gateway)).await {
        Ok(Ok(value)) => Some(value),
        Ok(Err(error)) => {
            tracing::error!(%error, "the callback queue cannot be used");
            None
        }
        Err(_) => None,
    }
}

fn locked(in_flight: &InFlight) -> MutexGuard<'_, HashSet<i64>> {
    in_flight.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Delivery {
    gateway: Arc<Gateway>,
    client: Client,
}

impl Delivery {
    /// Sends a callback once and records how it went.
    async fn attempt(&self, id: i64) {
        // Asked again now that nobody else has it: the list may be older than the end of an earlier attempt.
        let now = clock::now_ms();
        let still_due = move |gateway: &Gateway| gateway.read(|connection| callbacks::if_due(connection, id, now));
        let Some(Some(callback)) = in_store(&self.gateway, still_due).await else {
            return;
        };
        let result = self.send(&callback).await;
        let delivered = result.http_status.is_some_and(|status| (200..300).contains(&status));
        tracing::info!(
            order = callback.order_number,
            attempt = callback.attempts + 1,
            status = result.http_status,
            error = result.error.as_deref(),
            delivered,
            "callback"
        );
        let pause = if delivered { None } else { self.pause_after(callback.attempts + 1) };
        let next = pause.map(|pause| clock::now_ms().saturating_add(pause));
        let record = move |gateway: &Gateway| {
            let record =
                |transaction: &Transaction<'_>| callbacks::record_attempt(transaction, &callback, &result, next);
            gateway.store.write(record)
        };
        if in_store(&self.gateway, record).await.is_none() {
            // It stays due. Held back for a while, or the receiver would get it over and over.
            sleep(IDLE).await;
        }
    }

    async fn send(&self, callback: &DueCallback) -> AttemptResult {
        let at = clock::now_ms();
        let sent = self
            .client
            .post(&callback.target)
            .header(header::CONTENT_TYPE, "application/json")
            .body(callback.body.clone())
            .send()
            .await;
        let (http_status, error) = match sent {
            Ok(response) => (Some(response.status().as_u16()), None),
            Err(error) => (None, Some(describe(&error.without_url()))),
        };
        AttemptResult { at, http_status, error }
    }

    /// The pause after the n-th attempt, in milliseconds: the last one repeats.
    fn pause_after(&self, attempts: u32) -> Option<i64> {
        let pauses = &self.gateway.options.callback_pauses;
        let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let pause = pauses.get(index).or(pauses.last())?;
        Some(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
    }
}

/// An error with its causes: the outermost alone says nothing of use.
fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
