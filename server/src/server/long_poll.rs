//! Long polls, and their waiting callers. A long poll may outlive the key or token that admitted it, so the credential is checked
//! again with each read of the checkout.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::sync::watch;

use super::Server;
use crate::{
    checkouts::CheckoutView,
    runtime::Boxed,
    storage::inputs::CheckoutLookup,
    tokens::TokenHash,
    values::{ApiKeyId, CheckoutId, error::ServerError},
};

/// The credential that admitted a caller.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A client token.
    Token(TokenHash),
    /// A shop's API key.
    Key(ApiKeyId),
}

impl Server {
    /// [`checkout_after`](Self::checkout_after) for a caller admitted by a credential. `None` as soon as
    /// it has expired or was revoked.
    pub(crate) async fn checkout_after_for(
        &self,
        credential: Option<&Credential>,
        id: &CheckoutId,
        after: i64,
        wait: Duration,
    ) -> Result<Option<CheckoutView>, ServerError> {
        self.wait_for(credential, id, wait, &|view| view.checkout.version > after).await
    }

    /// The checkout as soon as a condition holds for it, or as it is when `wait` is over.
    pub(crate) async fn checkout_when(
        &self,
        id: &CheckoutId,
        wait: Duration,
        holds: &(dyn Fn(&CheckoutView) -> bool + Sync),
    ) -> Result<CheckoutView, ServerError> {
        let found = self.wait_for(None, id, wait, holds).await?;
        found.ok_or(ServerError::NotFound { what: "checkout" })
    }

    async fn wait_for(
        &self,
        credential: Option<&Credential>,
        id: &CheckoutId,
        wait: Duration,
        holds: &(dyn Fn(&CheckoutView) -> bool + Sync),
    ) -> Result<Option<CheckoutView>, ServerError> {
        let until = self.shared.runtime.monotonic().saturating_add(wait);
        loop {
            // Subscribed before the read, so that no change is missed.
            let changed = self.shared.watchers.watch(id);
            let Some(view) = self.seen_by(credential, id).await? else { return Ok(None) };
            let left = until.saturating_sub(self.shared.runtime.monotonic());
            if holds(&view) || left.is_zero() || self.is_stopping() {
                return Ok(Some(view));
            }
            // Thousands may wait.
            drop(view);
            let pause = self.shared.runtime.sleep(left.min(self.shared.settings.longest_unwatched));
            changed.or(pause).await;
        }
    }

    /// The checkout, if the credential is valid now.
    async fn seen_by(
        &self,
        credential: Option<&Credential>,
        id: &CheckoutId,
    ) -> Result<Option<CheckoutView>, ServerError> {
        let storage = &self.shared.storage;
        match credential {
            None => self.checkout(id).await.map(Some),
            Some(Credential::Token(hash)) => Ok(storage.checkout(CheckoutLookup::Token(*hash)).await?),
            Some(Credential::Key(key)) => {
                let view = self.checkout(id).await;
                // Checked after the checkout was read: a revoked key gets no later changes.
                let stored = storage.api_key(key.clone()).await?;
                let is_good = stored.is_some_and(|stored| stored.revoked_at.is_none());
                if is_good { view.map(Some) } else { Ok(None) }
            }
        }
    }
}

// The waiting callers (long poll): one entry per awaited checkout, and no threads.

type Channels = HashMap<CheckoutId, Weak<watch::Sender<()>>>;

#[derive(Default)]
pub(super) struct Watchers {
    channels: Arc<Mutex<Channels>>,
}

/// A subscription to the changes of a checkout from its creation on.
pub(super) struct Subscription {
    channel: Option<Arc<watch::Sender<()>>>,
    receiver: watch::Receiver<()>,
    checkout: CheckoutId,
    channels: Arc<Mutex<Channels>>,
}

impl Watchers {
    pub(super) fn watch(&self, checkout: &CheckoutId) -> Subscription {
        let mut channels = locked(&self.channels);
        let channel = channels.get(checkout).and_then(Weak::upgrade).unwrap_or_else(|| {
            let channel = Arc::new(watch::Sender::new(()));
            channels.insert(checkout.clone(), Arc::downgrade(&channel));
            channel
        });
        let receiver = channel.subscribe();
        Subscription { channel: Some(channel), receiver, checkout: checkout.clone(), channels: self.channels.clone() }
    }

    pub(super) fn notify(&self, checkout: &CheckoutId) {
        let channel = locked(&self.channels).get(checkout).and_then(Weak::upgrade);
        if let Some(channel) = channel {
            channel.send_replace(());
        }
    }

    pub(super) fn notify_all(&self) {
        let all: Vec<_> = locked(&self.channels).values().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|channel| channel.send_replace(()));
    }
}

impl Subscription {
    /// Waits until the checkout changes, or the pause is over.
    pub(super) async fn or(mut self, pause: Boxed<'static, ()>) {
        let changed = Box::pin(async { drop(self.receiver.changed().await) });
        match select(changed, pause).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }
}

/// The last subscription removes the entry.
impl Drop for Subscription {
    fn drop(&mut self) {
        let mut channels = locked(&self.channels);
        self.channel = None;
        if channels.get(&self.checkout).is_some_and(|channel| channel.strong_count() == 0) {
            channels.remove(&self.checkout);
        }
    }
}

/// A panic cannot leave the locked value half-written: every step leaves it whole.
fn locked(channels: &Mutex<Channels>) -> MutexGuard<'_, Channels> {
    channels.lock().unwrap_or_else(PoisonError::into_inner)
}
