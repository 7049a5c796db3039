//! Shared state of all endpoints and pages: the options and switches, the store, the faults, and signals to background tasks.

use std::{
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use rusqlite::Connection;
use tokio::{sync::Notify, task::spawn_blocking};
use uuid::Uuid;

use crate::{
    domain::{
        EndpointName, Language,
        clock::{Clock, MAX_AHEAD_MS},
    },
    faults::{FaultName, FaultSet, Moment},
    settings::{Dialect, ResolvePending, SandboxOptions, Switches},
    store::{
        self, Flush, Store, StoreError, WriteTransaction, database,
        exchanges::{self, NewExchange, ReceivedRequest},
    },
};

/// Logged when the request log cannot be written.
pub(crate) const NOT_RECORDED: &str = "requests could not be recorded";

/// Shared state of everything that runs.
pub(crate) struct State {
    pub(crate) options: SandboxOptions,
    pub(crate) store: Store,
    pub(crate) faults: FaultSet,
    /// The token of the admin interface.
    pub(crate) admin_token: String,
    /// The base of absolute links, without a trailing slash.
    pub(crate) public_url: String,
    /// Notified after every write that may have enqueued a callback.
    pub(crate) deliveries: Notify,
    /// Notified after every change that may make a pending payment final.
    pub(crate) pending: Notify,
    /// Notified when a request waits to be written to the log.
    pub(crate) logged: Notify,
    /// Notified after a text search of payments.
    pub(crate) searched: Notify,
    resolve_pending: RwLock<ResolvePending>,
    pub(crate) switches: RwLock<Switches>,
    /// Counts the resets. Work on data that a reset deletes holds this lock, or checks that the count is unchanged.
    pub(crate) generation: RwLock<u64>,
}

impl State {
    /// `url` is the listening address; links start with it unless the options set a public URL.
    pub(crate) fn new(options: SandboxOptions, faults: FaultSet, store: Store, url: &str) -> Self {
        let public_url = options.public_url.as_deref().unwrap_or(url).trim_end_matches('/').to_owned();
        Self {
            admin_token: options.admin_token.clone().unwrap_or_else(|| Uuid::new_v4().simple().to_string()),
            faults,
            switches: RwLock::new(Switches::from(&options)),
            resolve_pending: RwLock::new(options.resolve_pending),
            generation: RwLock::default(),
            public_url,
            options,
            store,
            deliveries: Notify::new(),
            pending: Notify::new(),
            logged: Notify::new(),
            searched: Notify::new(),
        }
    }

    /// Reads from the store.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.store.read(work)
    }

    /// Writes to the store in one transaction, then wakes the background tasks that it affects.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (value, written) = self.store.write_with_changes(work)?;
        if written.callbacks {
            self.deliveries.notify_one();
        }
        if written.payments {
            self.pending.notify_one();
        }
        Ok(value)
    }

    /// Wakes the background tasks that wait for a time or a change.
    fn wake(&self) {
        self.deliveries.notify_one();
        self.pending.notify_one();
    }

    /// Uses the store on a blocking thread; on failure, logs `problem` and returns `None`.
    pub(crate) async fn on_blocking_thread<T: Send + 'static>(
        self: &Arc<Self>,
        problem: &'static str,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Option<T> {
        let state = Arc::clone(self);
        match spawn_blocking(move || work(&state)).await {
            Ok(done) => done.inspect_err(|error| tracing::error!(%error, "{problem}")).ok(),
            // The panic was already logged.
            Err(_) => None,
        }
    }

    /// The current time of the simulation clock.
    pub(crate) fn clock(&self) -> &Clock {
        &self.store.clock
    }

    /// Moves the clock forward. If that is too far, returns false and changes nothing.
    pub(crate) fn step_clock(&self, by: Duration) -> Result<bool, StoreError> {
        let is_in_reach = self.store.write(|transaction| {
            let by = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            let ahead_ms = self.clock().ahead_ms().saturating_add(by);
            if ahead_ms > MAX_AHEAD_MS {
                return Ok(false);
            }
            store::transaction::store_clock(transaction, ahead_ms)?;
            self.clock().set_ahead_ms(ahead_ms);
            Ok(true)
        })?;
        self.wake();
        Ok(is_in_reach)
    }

    /// When pending payments become final automatically.
    pub(crate) fn resolve_pending(&self) -> ResolvePending {
        *self.resolve_pending.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes when pending payments become final automatically, and returns the new value.
    pub(crate) fn change_resolve_pending(
        &self,
        change: impl FnOnce(ResolvePending) -> ResolvePending,
    ) -> ResolvePending {
        let mut resolve_pending = self.resolve_pending.write().unwrap_or_else(PoisonError::into_inner);
        *resolve_pending = change(*resolve_pending);
        let changed = *resolve_pending;
        drop(resolve_pending);
        self.wake();
        changed
    }

    /// The absolute URL of a payer's page.
    pub(crate) fn page_url(&self, path: &str, gateway_number: &str) -> String {
        format!("{}{path}?token={gateway_number}", self.public_url)
    }

    /// The current switches.
    pub(crate) fn switches(&self) -> Switches {
        *self.switches.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the sandbox acts as FINIPAY.
    pub(crate) fn acts_as_finipay(&self) -> bool {
        self.switches().acts_as == Dialect::Finipay
    }

    /// Changes the switches atomically, and returns them.
    pub(crate) fn change_switches(&self, change: impl FnOnce(Switches) -> Switches) -> Switches {
        let mut switches = self.switches.write().unwrap_or_else(PoisonError::into_inner);
        *switches = change(*switches);
        *switches
    }

    /// The language of a code, or the merchant's if the code is unknown.
    pub(crate) fn language(&self, code: Option<&str>) -> Language {
        code.and_then(Language::from_code).unwrap_or_else(|| self.switches().language)
    }

    /// Blocks a reset while the guard is held.
    pub(crate) fn generation(&self) -> RwLockReadGuard<'_, u64> {
        self.generation.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Deletes payments, callbacks, requests and faults; switches and clock return to their values at the start.
    pub(crate) fn reset(&self) -> Result<(), StoreError> {
        let mut generation = self.generation.write().unwrap_or_else(PoisonError::into_inner);
        let ahead_ms = self.options.clock_ahead_ms();
        // Requests that were answered before are deleted, too.
        self.store.flush()?;
        self.store.write(|transaction| {
            database::delete_all(transaction)?;
            store::transaction::store_clock(transaction, ahead_ms)
        })?;
        self.clock().set_ahead_ms(ahead_ms);
        *generation += 1;
        self.faults.clear();
        self.change_switches(|_| Switches::from(&self.options));
        self.change_resolve_pending(|_| self.options.resolve_pending);
        Ok(())
    }

    /// Whether to reset a connection whose first request goes to this endpoint; if so, records it.
    pub(crate) fn resets_connection(&self, endpoint: EndpointName) -> bool {
        let Some(fault) = self.faults.inject(Moment::Connection, &[endpoint], &[], |_| true) else {
            return false;
        };
        self.record(NewExchange {
            endpoint,
            order_number: None,
            http_status: None,
            fault: Some(fault.name()),
            payment_id: None,
            took: Duration::ZERO,
            request_head: endpoint.path().to_owned(),
            request_body: None,
            response_head: String::new(),
            response_body: None,
        });
        true
    }

    /// Records a request.
    pub(crate) fn record(&self, exchange: NewExchange) {
        tracing::info!(
            path = exchange.endpoint.path(),
            order = exchange.order_number,
            status = exchange.http_status,
            fault = exchange.fault.map(FaultName::as_str),
            ms = exchange.took.as_millis(),
            "request"
        );
        match self.store.log(exchange) {
            Flush::Scheduled => {}
            Flush::Soon => self.logged.notify_one(),
            Flush::Now => self.flush_log(),
        }
    }

    /// Writes the buffered requests. A failure is only logged, because their responses are already sent.
    pub(crate) fn flush_log(&self) {
        if let Err(error) = self.store.flush() {
            tracing::error!(%error, "{NOT_RECORDED}");
        }
    }

    /// All requests so far, in the order of their responses; only those of one payment if one of its numbers is given.
    pub(crate) fn requests(&self, number: Option<&str>) -> Result<Vec<ReceivedRequest>, StoreError> {
        self.store.flush()?;
        self.read(|connection| exchanges::all(connection, number))
    }
}

/// A random UUID: the unguessable key of a payment's pages.
pub(crate) fn new_gateway_number() -> String {
    Uuid::new_v4().to_string()
}
