//! Servers on one database wake one another's waiting apps. Changes are collected for a moment and announced together (debounce).

use std::{
    collections::HashSet,
    mem,
    pin::pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::sync::Notify;

use super::Server;
use crate::{storage::PeerChannel, values::CheckoutId};

/// The time for which changes are collected (debounce), too short to notice on a screen.
const COLLECTING: Duration = Duration::from_millis(50);
/// The pause before listening to the other servers again.
const BEFORE_NEXT: Duration = Duration::from_secs(1);

/// Changes that were not announced yet.
#[derive(Default)]
pub(super) struct PendingNotifications {
    /// Whether a task is announcing them.
    is_told: AtomicBool,
    changed: Mutex<HashSet<CheckoutId>>,
    is_there: Notify,
}

impl PendingNotifications {
    pub(super) fn note(&self, checkout: &CheckoutId) {
        if !self.is_told.load(Ordering::Acquire) {
            return;
        }
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).insert(checkout.clone());
        self.is_there.notify_one();
    }

    fn take(&self) -> Vec<CheckoutId> {
        mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}

impl Server {
    /// Announces the local changes to the other servers.
    pub(super) async fn notify_peers(self) {
        let shared = &self.shared;
        let Some(others) = shared.storage.peers() else { return };
        shared.peer_notifications.is_told.store(true, Ordering::Release);
        while self.unless_stopped(shared.peer_notifications.is_there.notified()).await.is_some() {
            shared.runtime.sleep(COLLECTING).await;
            if let Err(problem) = others.tell(shared.peer_notifications.take()).await {
                tracing::debug!(target: "kassa_server", %problem, "other servers were not notified of a change");
            }
        }
    }

    /// Receives the changes of the other servers.
    pub(super) async fn listen_to_peers(self) {
        let shared = &self.shared;
        let Some(others) = shared.storage.peers() else { return };
        loop {
            if self.unless_stopped(self.hear(&*others)).await.is_none() {
                return;
            }
            if self.unless_stopped(shared.runtime.sleep(BEFORE_NEXT)).await.is_none() {
                return;
            }
        }
    }

    async fn hear(&self, others: &dyn PeerChannel) {
        let wake = |checkout: Option<&CheckoutId>| match checkout {
            Some(checkout) => self.shared.watchers.notify(checkout),
            None => self.shared.watchers.notify_all(),
        };
        if let Err(problem) = others.hear(&wake).await {
            tracing::debug!(target: "kassa_server", %problem, "other servers cannot be heard");
        }
    }

    /// `None` if the server stops first.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let stop = self.shared.stop.notified();
        if self.is_stopping() {
            return None;
        }
        match select(pin!(work), pin!(stop)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}
