//! Webhooks. `notice` writes the body of a callback. This module delivers callbacks in the background until each got a 2xx, with
//! backoff. The queue is in the database, so a restarted sandbox continues where the last one stopped.

pub(crate) mod notice;

use std::{
    collections::HashSet,
    error::Error,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use reqwest::{Client, header, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::{sync::Semaphore, task::JoinSet, time::sleep};

use crate::{
    redact::{transcript, without_secrets},
    settings::SandboxError,
    state::State,
    store::{
        StoreError, WriteTransaction,
        callback_queue::{self, AttemptResult, DueCallback},
    },
};

/// The maximum number of concurrent deliveries.
const MAX_IN_FLIGHT: usize = 64;
/// The maximum length of a stored response.
const MAX_RESPONSE: usize = 2048;
/// How much more is read, because a truncated card number would not be recognized and masked.
const BEYOND_RESPONSE: usize = 64;
/// How long to wait if nothing is due, or the database failed.
const IDLE: Duration = Duration::from_secs(60);

/// The callbacks in flight, so that none is sent twice at the same time.
type InFlight = Arc<Mutex<HashSet<CallbackKey>>>;

/// The generation of the sandbox and the callback's id: after a reset, ids start again.
type CallbackKey = (u64, i64);

/// Delivers callbacks as long as the sandbox runs.
pub(crate) async fn run(state: Arc<State>, client: Client) {
    let in_flight = InFlight::default();
    let slots = Arc::new(Semaphore::new(MAX_IN_FLIGHT));
    let mut deliveries = JoinSet::new();
    loop {
        let (due, pause) = next_due(&state).await;
        for key in due {
            if !locked(&in_flight).insert(key) {
                continue;
            }
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let delivery = Delivery { state: Arc::clone(&state), client: client.clone() };
            let in_flight = Arc::clone(&in_flight);
            deliveries.spawn(async move {
                delivery.attempt(key).await;
                locked(&in_flight).remove(&key);
                drop(slot);
                delivery.state.deliveries.notify_one();
            });
        }
        while deliveries.try_join_next().is_some() {}
        tokio::select! {
            () = state.deliveries.notified() => {}
            () = sleep(pause) => {}
        }
    }
}

/// The callbacks that are due, and the time until the next one is due.
async fn next_due(state: &Arc<State>) -> (Vec<CallbackKey>, Duration) {
    let now = state.clock().now_ms();
    let found = in_store(state, move |state| {
        let generation = state.generation();
        state.read(|connection| {
            let due = callback_queue::due(connection, now)?.into_iter().map(|id| (*generation, id)).collect();
            let next = callback_queue::next_due(connection, now)?;
            Ok((due, next.map(|next| next - now)))
        })
    });
    let (due, wait) = found.await.unwrap_or_default();
    let wait = wait.and_then(|ms| u64::try_from(ms).ok());
    (due, wait.map_or(IDLE, Duration::from_millis).min(IDLE))
}

async fn in_store<T: Send + 'static>(
    state: &Arc<State>,
    work: impl FnOnce(&State) -> Result<T, StoreError> + Send + 'static,
) -> Option<T> {
    state.on_blocking_thread("the callback queue cannot be used", work).await
}

fn locked(in_flight: &InFlight) -> MutexGuard<'_, HashSet<CallbackKey>> {
    in_flight.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Delivery {
    state: Arc<State>,
    client: Client,
}

impl Delivery {
    /// Sends a callback once and records the result.
    async fn attempt(&self, (generation, id): CallbackKey) {
        // Checked again now that it is in flight: an earlier attempt may have ended after the list was read.
        let now = self.state.clock().now_ms();
        let still_due = move |state: &State| {
            let current = state.generation();
            if *current != generation {
                return Ok(None);
            }
            state.read(|connection| callback_queue::if_due(connection, id, now))
        };
        let Some(Some(callback)) = in_store(&self.state, still_due).await else {
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
        let next = pause.map(|pause| self.state.clock().now_ms().saturating_add(pause));
        let record = move |state: &State| {
            let current = state.generation();
            if *current != generation {
                // A reset happened while it was in flight, so its record no longer exists.
                return Ok(());
            }
            let record = |transaction: &WriteTransaction<'_>| {
                callback_queue::record_attempt(transaction, &callback, &result, next)
            };
            state.store.write(record)
        };
        if in_store(&self.state, record).await.is_none() {
            // Backoff: it stays due, and without a pause the receiver would get it again immediately.
            sleep(IDLE).await;
        }
    }

    async fn send(&self, callback: &DueCallback) -> AttemptResult {
        let (at, started) = (self.state.clock().now_ms(), Instant::now());
        let sent = self
            .client
            .post(&callback.target)
            .header(header::CONTENT_TYPE, "application/json")
            .body(callback.body.clone())
            .send()
            .await;
        let mut result = AttemptResult {
            at,
            took_ms: None,
            http_status: None,
            error: None,
            response_head: None,
            response_body: None,
        };
        match sent {
            Ok(response) => {
                result.http_status = Some(response.status().as_u16());
                let headers = transcript::shown_headers(response.headers());
                result.response_head = Some(format!("HTTP {}{headers}", response.status()));
                result.response_body = Some(first_bytes(response).await);
            }
            Err(error) => result.error = Some(describe(&error.without_url())),
        }
        result.took_ms = i64::try_from(started.elapsed().as_millis()).ok();
        result
    }

    /// The pause after the n-th attempt, in milliseconds: the last one repeats.
    fn pause_after(&self, attempts: u32) -> Option<i64> {
        let pauses = &self.state.options.callback_pauses;
        let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let pause = pauses.get(index).or(pauses.last())?;
        Some(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The beginning of a receiver's response, as far as it arrives in time. It is only shown to people; the status is already known.
async fn first_bytes(mut response: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() <= MAX_RESPONSE + BEYOND_RESPONSE {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) | Err(_) => break,
        }
    }
    let is_cut = bytes.len() > MAX_RESPONSE;
    bytes.truncate(MAX_RESPONSE + BEYOND_RESPONSE);
    let mut text = without_secrets(&String::from_utf8_lossy(&bytes));
    if is_cut {
        let end = (0..=MAX_RESPONSE.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text.push('…');
    }
    text
}

/// The client for callbacks. It follows no redirects and uses no proxy, so a callback reaches only its target.
pub(crate) fn client(timeout: Duration, roots: RootCertStore) -> Result<Client, SandboxError> {
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| SandboxError::System(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(timeout)
        .redirect(redirect::Policy::none())
        .no_proxy()
        // A kept-alive connection that the receiver just closed would cost an attempt.
        .pool_max_idle_per_host(0)
        .user_agent(concat!("kassa-sandbox/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| SandboxError::System(describe(&error)))
}

/// An error with its causes: the outermost one alone does not say enough.
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
