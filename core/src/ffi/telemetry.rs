//! Telemetry: passes the record of each call to another language, to an observer when the call has ended, or later with its log events.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::{
    ffi::logging,
    pipeline::{
        log::TELEMETRY,
        telemetry::{self, CompletedCall, OnCompleted},
    },
};

/// Observes calls. It runs on one of Kassa's own threads, for one call after the other. No call waits for it, and its exceptions reach no
/// call. If it is a thousand calls behind, further ones are dropped.
#[uniffi::export(with_foreign)]
pub trait CallObserver: Send + Sync {
    /// Receives a call that has ended.
    fn completed(&self, call: CompletedCall);
}

/// The observers, by call number.
static OBSERVERS: RwLock<Option<HashMap<u64, Arc<dyn CallObserver>>>> = RwLock::new(None);
/// Whether there is an observer, so that a call without one takes no lock.
static HAS_OBSERVERS: AtomicBool = AtomicBool::new(false);
/// Odd while records are stored. Each period of storing has its own number, because the receiver of an earlier period's records is gone.
static KEPT_TIME: AtomicU64 = AtomicU64::new(0);

/// Observes the call of this number, while it runs or its requests are in flight; 0 for all calls without a number.
#[uniffi::export]
fn observe_call(call: u64, observer: Arc<dyn CallObserver>) {
    let mut observers = observers();
    let before = observers.get_or_insert_default().insert(call, observer);
    HAS_OBSERVERS.store(true, Ordering::Relaxed);
    drop(observers);
    // Dropping it runs another language's code, so it is dropped after the lock is released.
    drop(before);
    telemetry::observe_by(find_observer);
}

/// Ends what [`observe_call`] began, when the call is over. Requests that continue without their caller are still observed.
#[uniffi::export]
fn stop_observing_call(call: u64) {
    let mut observers = observers();
    let observer = observers.as_mut().and_then(|observers| observers.remove(&call));
    HAS_OBSERVERS.store(observers.as_ref().is_some_and(|observers| !observers.is_empty()), Ordering::Relaxed);
    drop(observers);
    drop(observer);
}

/// Sets whether the records of further calls are stored until they are taken with `take_log_events`. For languages whose code should not
/// run on Kassa's threads.
#[uniffi::export]
fn keep_completed_calls(keep: bool) {
    let change = |time: u64| (is_keeping(time) != keep).then_some(time + 1);
    let _ = KEPT_TIME.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    if !keep {
        logging::forget_completed();
    }
    telemetry::observe_by(find_observer);
}

fn is_keeping(time: u64) -> bool {
    time % 2 == 1
}

fn observers() -> RwLockWriteGuard<'static, Option<HashMap<u64, Arc<dyn CallObserver>>>> {
    OBSERVERS.write().unwrap_or_else(PoisonError::into_inner)
}

fn find_observer(call: u64) -> Option<OnCompleted> {
    let time = KEPT_TIME.load(Ordering::Relaxed);
    let keeps = is_keeping(time);
    let observer = HAS_OBSERVERS.load(Ordering::Relaxed).then(|| observer_of(call)).flatten();
    if !keeps && observer.is_none() {
        return None;
    }
    Some(Box::new(move |completed| {
        if let Some(observer) = observer {
            let completed = completed.clone();
            TELEMETRY.run(move |_| observer.completed(completed));
        }
        if keeps {
            logging::keep_completed(call, completed, || KEPT_TIME.load(Ordering::Relaxed) == time);
        }
    }))
}

fn observer_of(call: u64) -> Option<Arc<dyn CallObserver>> {
    let observers = OBSERVERS.read().unwrap_or_else(PoisonError::into_inner);
    observers.as_ref()?.get(&call).cloned()
}

#[cfg(test)]
mod tests;
