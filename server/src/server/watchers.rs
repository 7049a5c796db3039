//! Who waits for a checkout to change (long poll): one entry a checkout that somebody waits for, and no thread.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures_util::future::{Either, select};
use tokio::sync::watch;

use crate::{surroundings::Boxed, values::ids::CheckoutId};

type Bells = HashMap<CheckoutId, Weak<watch::Sender<()>>>;

#[derive(Default)]
pub(super) struct Watchers {
    bells: Arc<Mutex<Bells>>,
}

/// Waits for the changes of a checkout after this was made.
pub(super) struct Watching {
    bell: Option<Arc<watch::Sender<()>>>,
    heard: watch::Receiver<()>,
    checkout: CheckoutId,
    bells: Arc<Mutex<Bells>>,
}

impl Watchers {
    pub(super) fn watch(&self, checkout: &CheckoutId) -> Watching {
        let mut bells = locked(&self.bells);
        let bell = bells.get(checkout).and_then(Weak::upgrade).unwrap_or_else(|| {
            let bell = Arc::new(watch::Sender::new(()));
            bells.insert(checkout.clone(), Arc::downgrade(&bell));
            bell
        });
        let heard = bell.subscribe();
        Watching { bell: Some(bell), heard, checkout: checkout.clone(), bells: self.bells.clone() }
    }

    pub(super) fn tell(&self, checkout: &CheckoutId) {
        let bell = locked(&self.bells).get(checkout).and_then(Weak::upgrade);
        if let Some(bell) = bell {
            bell.send_replace(());
        }
    }

    pub(super) fn tell_all(&self) {
        let all: Vec<_> = locked(&self.bells).values().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|bell| bell.send_replace(()));
    }
}

impl Watching {
    /// Until it changes, or the pause is over.
    pub(super) async fn or(mut self, pause: Boxed<'static, ()>) {
        let changed = Box::pin(async { drop(self.heard.changed().await) });
        match select(changed, pause).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }
}

/// The last one who waits takes the entry along.
impl Drop for Watching {
    fn drop(&mut self) {
        let mut bells = locked(&self.bells);
        self.bell = None;
        if bells.get(&self.checkout).is_some_and(|bell| bell.strong_count() == 0) {
            bells.remove(&self.checkout);
        }
    }
}

/// What is behind the lock is whole after every step, whatever panicked.
fn locked(bells: &Mutex<Bells>) -> MutexGuard<'_, Bells> {
    bells.lock().unwrap_or_else(PoisonError::into_inner)
}
