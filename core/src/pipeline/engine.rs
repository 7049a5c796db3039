//! The shared state of a gateway's clones: its configuration, journal and connections, requests in flight, and closing.

use std::{
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use crate::{
    config::{
        dialect::Dialect,
        gateway_config::{GatewayConfig, StatusQueryForm, check_time},
    },
    error::PaymentError,
    journal::{Journal, checked_note},
    operations::{CheckSettings, Kind},
    pipeline::{
        attempts::Limits,
        outcome::ResendPolicy,
        spans::Server,
        timers::{Due, Timers},
    },
    response::redact::HiddenCredentials,
    transport::{Transport, after},
};

/// The shared state of a gateway's clones. A clone of the engine itself is the same gateway with its own deadlines.
#[derive(Clone)]
pub(crate) struct Engine {
    pub(super) transport: Arc<dyn Transport>,
    base_url: String,
    pub(super) server: Server,
    /// The limits of everything that moves no money.
    limits: Limits,
    payment_deadline: Duration,
    pub(super) policy: ResendPolicy,
    pub(super) dialect: Arc<Dialect>,
    pub(super) checks: CheckSettings,
    pub(super) status_query: StatusQueryForm,
    pub(super) credentials: Arc<HiddenCredentials>,
    pub(super) in_flight: InFlight,
    closing: Arc<Closing>,
    timers: Arc<Timers>,
    journal: Option<Journal>,
    /// The note for the journal entries of this clone's payments.
    pub(super) note: Option<Arc<str>>,
}

impl Engine {
    pub(crate) fn new(
        transport: Arc<dyn Transport>,
        config: GatewayConfig,
        policy: ResendPolicy,
    ) -> Result<Self, PaymentError> {
        let base_url = config.checked_base_url()?;
        Ok(Self {
            transport,
            policy,
            server: Server {
                address: base_url.host_str().unwrap_or_default().into(),
                port: base_url.port_or_known_default().unwrap_or_default(),
            },
            base_url: base_url.into(),
            limits: Limits { deadline: config.query_deadline, retries: config.query_retries, detached: false },
            payment_deadline: config.payment_deadline,
            checks: CheckSettings {
                luhn: config.check_luhn,
                mbank_identifier: config.dialect.mbank_identifier().is_some(),
            },
            status_query: config.status_query,
            credentials: Arc::new(HiddenCredentials::new(
                config.credentials.password().clone(),
                config.credentials.basic_token(),
            )),
            dialect: config.dialect,
            in_flight: InFlight::default(),
            closing: Arc::default(),
            timers: Arc::default(),
            journal: None,
            note: None,
        })
    }

    /// The same gateway, with one deadline for every call: connections, closing and requests in flight are shared.
    pub(crate) fn with_deadline(&self, deadline: Duration) -> Result<Self, PaymentError> {
        check_time("deadline", deadline)?;
        let limits = Limits { deadline, ..self.limits };
        Ok(Self { limits, payment_deadline: deadline, ..self.clone() })
    }

    /// The deadline and the retries of an operation.
    pub(super) fn limits_of<O>(&self, kind: &Kind<O>) -> Limits {
        match kind {
            Kind::Pays(_) | Kind::Confirms(_) => Limits { deadline: self.payment_deadline, ..self.limits },
            Kind::Creates | Kind::Queries => self.limits,
        }
    }

    pub(crate) fn with_journal(&self, journal: Journal) -> Self {
        Self { journal: Some(journal), ..self.clone() }
    }

    pub(crate) fn with_note(&self, note: &str) -> Result<Self, PaymentError> {
        let note = checked_note(note)?.into();
        // Without a journal the note would be lost silently.
        self.required_journal()?;
        Ok(Self { note: Some(note), ..self.clone() })
    }

    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    pub(crate) fn required_journal(&self) -> Result<&Journal, PaymentError> {
        self.journal().ok_or_else(|| PaymentError::misconfigured("the gateway has no journal: set one (with_journal)"))
    }

    /// Graceful shutdown: rejects further calls, ends watches and recoveries, and waits for the payments in flight.
    pub(crate) async fn close(&self) {
        if self.begin_close() {
            self.in_flight.none_left().await;
        }
    }

    /// Closes as [`close`](Self::close) does, with a time limit. Returns whether no payment is left in flight.
    pub(crate) async fn close_within(&self, longest: Duration) -> bool {
        if !self.begin_close() || self.in_flight.is_empty() {
            return true;
        }
        if longest.is_zero() {
            return false;
        }
        let too_late = self.transport.sleep_until(after(self.transport.now(), longest));
        matches!(select(pin!(self.in_flight.none_left()), too_late).await, Either::Left(_))
    }

    /// Whether there are payments to wait for.
    ///
    /// Fork safety: in a forked child there are none. It inherits the count, but the counted tasks run in the parent.
    fn begin_close(&self) -> bool {
        let is_here = self.transport.check().is_ok();
        if is_here {
            self.closing.close();
        } else {
            self.closing.refuse();
        }
        is_here
    }

    /// Why no call can succeed any more: the gateway belongs to another process, or was closed.
    pub(crate) fn usable(&self) -> Result<(), PaymentError> {
        self.transport.check()?;
        self.not_closed()
    }

    pub(super) fn not_closed(&self) -> Result<(), PaymentError> {
        if self.closing.is_closed() {
            return Err(PaymentError::misconfigured("the gateway was closed"));
        }
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closing.is_closed()
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        self.closing.closed().await;
    }

    /// Registers a listener for the close, while it lives. A gateway of another process is never closed.
    pub(crate) fn tell_of_close(&self, listener: Weak<dyn EndsAtClose>) {
        if self.transport.check().is_ok() {
            self.closing.tell(listener);
        }
    }

    /// Calls `waiting` at the moment, if it still exists then.
    pub(crate) fn call_at(&self, moment: Instant, waiting: Weak<dyn Due>) {
        self.timers.add(&self.transport, moment, waiting);
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(crate) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// The limits of everything that moves no money.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }
}

// Graceful shutdown: notifies all waiting callers that the gateway was closed, and counts the payments in flight, so that closing can wait
// for them.

/// An owner of something exclusive between two calls, which it must release when its gateway is closed.
pub(crate) trait EndsAtClose: Send + Sync {
    fn end_at_close(&self);
}

/// Whether a gateway was closed. All its clones share it.
#[derive(Default)]
pub(crate) struct Closing {
    is_closed: AtomicBool,
    closed: Notify,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    all: Vec<Weak<dyn EndsAtClose>>,
    /// The number at which dropped listeners are removed: to search for them each time would be too slow with a million.
    removes_at: usize,
}

impl Closing {
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Rejects further calls without notifying listeners. A forked child does only this, because another thread of the parent may have held
    /// the locks.
    pub(crate) fn refuse(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Rejects further calls, and ends every wait.
    pub(crate) fn close(&self) {
        self.refuse();
        self.closed.notify_waiters();
        let listeners = std::mem::take(&mut self.listeners().all);
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.end_at_close();
        }
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        // Created before the flag is read: a later close wakes it, whether it was polled or not.
        let woken = self.closed.notified();
        if !self.is_closed() {
            woken.await;
        }
    }

    /// Registers a listener for the close, while it lives.
    pub(crate) fn tell(&self, listener: Weak<dyn EndsAtClose>) {
        let mut listeners = self.listeners();
        if listeners.all.len() >= listeners.removes_at {
            listeners.all.retain(|known| known.strong_count() > 0);
            listeners.removes_at = 2 * listeners.all.len() + 8;
        }
        listeners.all.push(listener);
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Graceful shutdown: counts the payments in flight, so that closing can wait for them.

#[derive(Clone)]
pub(crate) struct InFlight(Arc<watch::Sender<usize>>);

/// One payment in flight, counted until this is dropped.
pub(crate) struct Counted(InFlight);

impl Default for InFlight {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl InFlight {
    pub(crate) fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    pub(crate) async fn none_left(&self) {
        // Waiting fails only once the sender is dropped, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self.0.borrow() == 0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}
