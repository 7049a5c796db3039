//! The server as a library: the [`Server`], and how it is built, started and stopped. Every method is safe to call again,
//! with the same reference or key.

mod checkouts;
mod long_poll;
mod payments;
mod peers;
mod readiness;
pub mod settings;
pub mod staff;
mod workers;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, join, select};
use kassa::PaymentGateway;
use long_poll::Watchers;
use peers::PendingNotifications;
use readiness::Probe;
use settings::ServerSettings;
use tokio::sync::{Notify, oneshot};
use tracing::Instrument;

use crate::{
    dispatch::{Dispatcher, SendSlots},
    metrics::Metrics,
    runtime::{Boxed, Runtime},
    storage::{Storage, StorageError, outputs::Statistics},
    values::{CheckoutId, error::ServerError},
    webhooks::WebhookSender,
};

pub(crate) use long_poll::Credential;

/// The longest idempotency key.
pub(crate) const LONGEST_KEY: usize = 64;
pub(crate) const LONGEST_REASON: usize = 200;
pub(crate) const LONGEST_NAME: usize = 100;
/// The time that stopping waits for work in flight. Whatever does not end is polled after the next start.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// The deadline of reading the figures for the metrics.
const LONGEST_FIGURES: Duration = Duration::from_secs(8);

/// The merchant's side: opens checkouts, sends their payments, polls them until they are final, and sends the shop events.
///
/// It is cheap to clone, and every clone is the same server. [`run`](Self::run) does the background work; the other methods are
/// for the shop, the payer's app and the gateway. **Work that was begun continues if its caller gives up.**
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    storage: Arc<dyn Storage>,
    gateway: Arc<dyn PaymentGateway>,
    runtime: Arc<dyn Runtime>,
    settings: ServerSettings,
    post: Option<Arc<dyn WebhookSender>>,
    dispatcher: Dispatcher,
    metrics: Arc<Metrics>,
    watchers: Watchers,
    peer_notifications: PendingNotifications,
    probe: Probe,
    /// Signals that a poll is due at once.
    poll_due: Notify,
    delivery_due: Notify,
    is_stopping: AtomicBool,
    stop: Notify,
    /// The number of sending tasks and workers.
    tasks: AtomicUsize,
    task_ended: Notify,
}

impl Server {
    /// A server over a storage and a gateway. It does nothing before a call, or [`run`](Self::run).
    ///
    /// # Errors
    /// [`ServerError::Invalid`] if a setting cannot work.
    pub fn new(
        storage: Arc<dyn Storage>,
        gateway: Arc<dyn PaymentGateway>,
        runtime: Arc<dyn Runtime>,
        settings: ServerSettings,
        post: Option<Arc<dyn WebhookSender>>,
    ) -> Result<Self, ServerError> {
        settings.check()?;
        let metrics = Arc::new(Metrics::default());
        let dispatcher = Dispatcher {
            storage: storage.clone(),
            gateway: gateway.clone(),
            runtime: runtime.clone(),
            metrics: metrics.clone(),
            slots: SendSlots::new(settings.max_concurrent_sends),
            max_send_delay: settings.send_margin / 2,
            callback_base: settings.callback_base.clone(),
            megapay_account: settings.megapay_account.clone(),
        };
        let shared = Shared {
            storage,
            gateway,
            runtime,
            settings,
            post,
            dispatcher,
            metrics,
            watchers: Watchers::default(),
            peer_notifications: PendingNotifications::default(),
            probe: Probe::default(),
            poll_due: Notify::new(),
            delivery_due: Notify::new(),
            is_stopping: AtomicBool::new(false),
            stop: Notify::new(),
            tasks: AtomicUsize::new(0),
            task_ended: Notify::new(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Does the background work until [`stop`](Self::stop). Any number of processes may do it on one database.
    pub fn run(&self) {
        for _ in 0..self.shared.settings.poll_workers {
            self.spawn_worker(Self::poll_all);
        }
        if self.shared.post.is_some() {
            self.spawn_worker(Self::deliver_all);
        }
        self.spawn_worker(Self::notify_peers);
        self.spawn_worker(Self::listen_to_peers);
    }

    /// Stops: begins nothing new, and waits for work in progress, 5 s at most. Nothing is lost: unrecorded results
    /// are queried after the next start.
    pub async fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.stop.notify_waiters();
        // Waiting payments are no longer sent.
        self.shared.dispatcher.slots.close();
        self.shared.watchers.notify_all();
        let all_ended = Box::pin(async {
            loop {
                let ended = self.shared.task_ended.notified();
                if self.shared.tasks.load(Ordering::Acquire) == 0 {
                    return;
                }
                ended.await;
            }
        });
        let patience = self.shared.runtime.sleep(SHUTDOWN_TIMEOUT);
        match select(all_ended, patience).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }

    /// Its settings.
    pub fn settings(&self) -> &ServerSettings {
        &self.shared.settings
    }

    /// Whether it can work now: it is not stopping, and its database accepted a write within the last second.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn is_ready(&self) -> Result<(), ServerError> {
        if self.is_stopping() {
            return Err(ServerError::unavailable("the server is stopping"));
        }
        Ok(self.check_writable().await?)
    }

    async fn check_writable(&self) -> Result<(), StorageError> {
        let Shared { storage, runtime, probe, .. } = &*self.shared;
        let storage = storage.clone();
        probe.outcome(runtime, || Box::pin(async move { storage.check_writable().await })).await
    }

    /// Its metrics. Listeners count there, too.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    /// All metrics in Prometheus' text format, which also says whether the database can be read and written.
    pub async fn metrics_text(&self) -> String {
        let (writable, storage) = join(self.check_writable(), self.statistics()).await;
        if let Err(problem) = &storage {
            tracing::warn!(target: "kassa_server", %problem, "the metrics cannot be read from the database");
        }
        self.shared.metrics.text(writable.is_ok(), storage.ok().as_ref())
    }

    /// The figures, in time for Prometheus, which waits for 10 s.
    async fn statistics(&self) -> Result<Statistics, StorageError> {
        let late = self.shared.runtime.sleep(LONGEST_FIGURES);
        match select(self.shared.storage.statistics(), late).await {
            Either::Left((figures, _)) => figures,
            Either::Right(_) => {
                Err(StorageError::failed(format!("the figures were not read within {LONGEST_FIGURES:?}")))
            }
        }
    }

    fn spawn_worker<F: Future<Output = ()> + Send + 'static>(&self, work: impl FnOnce(Self) -> F) {
        let counted = TaskGuard::new(self.shared.clone());
        let work = work(self.clone());
        self.shared.runtime.spawn(Box::pin(async move {
            work.await;
            drop(counted);
        }));
    }

    /// Runs work in its own task, so that it does not end with its caller: a request dropped half-way would leave
    /// a payment that nothing continues.
    async fn spawn_detached<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ServerError>> + Send + 'static,
        checkout: &CheckoutId,
    ) -> Result<T, ServerError> {
        if self.is_stopping() {
            return Err(ServerError::unavailable("the server is stopping"));
        }
        let (sender, receiver) = oneshot::channel();
        let (shared, checkout) = (self.shared.clone(), checkout.clone());
        let counted = TaskGuard::new(self.shared.clone());
        let work = work.in_current_span();
        let task: Boxed<'static, ()> = Box::pin(async move {
            let result = work.await;
            shared.changed(&checkout);
            shared.poll_due.notify_one();
            drop(counted);
            // Its caller may have given up.
            let _ = sender.send(result);
        });
        self.shared.runtime.spawn(task);
        receiver.await.unwrap_or_else(|_| Err(ServerError::unavailable("the server was interrupted")))
    }

    fn random<const N: usize>(&self) -> Result<[u8; N], ServerError> {
        let mut bytes = [0; N];
        self.shared.runtime.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn is_stopping(&self) -> bool {
        self.shared.is_stopping.load(Ordering::Acquire)
    }
}

impl Shared {
    /// Reports a change of a checkout: wakes its waiting callers, and delivers its events.
    fn changed(&self, checkout: &CheckoutId) {
        self.watchers.notify(checkout);
        self.peer_notifications.note(checkout);
        self.delivery_due.notify_one();
    }
}

/// A task that stopping waits for.
struct TaskGuard(Arc<Shared>);

impl TaskGuard {
    fn new(shared: Arc<Shared>) -> Self {
        shared.tasks.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, Ordering::AcqRel);
        self.0.task_ended.notify_waiters();
    }
}
