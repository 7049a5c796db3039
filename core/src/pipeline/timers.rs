//! One timer for all watches of a gateway: a list by time, and one task (the driver) that sleeps until its first entry.
//!
//! A timer for each watch would cost memory, and would wake the caller's thread only to send a query on one of Kassa's. The driver runs
//! on Kassa's threads, so a watch that is due sends its query at once.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures_util::future::select;
use tokio::{sync::Notify, time::Instant};

use crate::transport::Transport;

/// An owner of an entry, such as a watch.
pub(crate) trait Due: Send + Sync {
    /// Called on a thread of Kassa's when the moment has come, and earlier if the driver has ended: then the owner adds itself again. It
    /// must neither block nor panic.
    fn due(self: Arc<Self>);
}

/// The list. All clones of a gateway share it.
#[derive(Default)]
pub(crate) struct Timers {
    list: Mutex<List>,
    /// There is a new first entry.
    changed: Notify,
}

#[derive(Default)]
struct List {
    entries: BinaryHeap<Reverse<Entry>>,
    /// Whether a task sleeps until the first entry.
    is_driven: bool,
    /// The number of entries at which those without an owner are removed.
    removes_at: usize,
}

/// An entry does not keep its owner alive: an abandoned watch is freed at once.
struct Entry {
    moment: Instant,
    waiting: Weak<dyn Due>,
}

/// Entries are never removed below this number, as that would save nothing.
const FEW: usize = 64;

impl Timers {
    /// Calls `waiting` at the moment, if it still exists then.
    pub(crate) fn add(self: &Arc<Self>, transport: &Arc<dyn Transport>, moment: Instant, waiting: Weak<dyn Due>) {
        let mut list = self.list();
        let is_first = list.entries.peek().is_none_or(|first| moment < first.0.moment);
        if list.entries.len() >= list.removes_at.max(FEW) {
            list.entries.retain(|entry| entry.0.waiting.strong_count() > 0);
            list.removes_at = 2 * list.entries.len();
        }
        list.entries.push(Reverse(Entry { moment, waiting }));
        let starts = !std::mem::replace(&mut list.is_driven, true);
        drop(list);
        if starts {
            transport.spawn(Box::pin(drive(self.clone(), Arc::downgrade(transport))));
        } else if is_first {
            self.changed.notify_one();
        }
    }

    /// Takes the entries whose moment has come, and the moment of the next one. Without one, the list has no driver any more.
    fn take_due(&self, now: Instant) -> (Vec<Weak<dyn Due>>, Option<Instant>) {
        let mut list = self.list();
        let mut due = Vec::new();
        while let Some(first) = list.entries.peek() {
            if first.0.moment > now {
                return (due, Some(first.0.moment));
            }
            due.extend(list.entries.pop().map(|first| first.0.waiting));
        }
        list.is_driven = false;
        (due, None)
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver: sleeps and calls until the list is empty. It does not keep the transport alive, so that the connections end with the
/// last clone of the gateway.
async fn drive(timers: Arc<Timers>, transport: Weak<dyn Transport>) {
    let driver = Driver(&timers);
    loop {
        let Some(now) = transport.upgrade().map(|transport| transport.now()) else { return };
        let (due, next) = timers.take_due(now);
        for waiting in due.iter().filter_map(Weak::upgrade) {
            waiting.due();
        }
        let Some(next) = next else {
            // Another task may drive it already.
            std::mem::forget(driver);
            return;
        };
        let Some(sleep) = transport.upgrade().map(|transport| transport.sleep_until(next)) else { return };
        select(sleep, std::pin::pin!(timers.changed.notified())).await;
    }
}

/// Cleanup of a driver that ends before the list is empty, by a panic or with its runtime. It calls every entry, and those that
/// still wait are added again, to a new driver.
struct Driver<'a>(&'a Timers);

impl Drop for Driver<'_> {
    fn drop(&mut self) {
        let List { entries, .. } = std::mem::take(&mut *self.0.list());
        for waiting in entries.iter().filter_map(|entry| entry.0.waiting.upgrade()) {
            waiting.due();
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.moment == other.moment
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.moment.cmp(&other.moment)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicUsize, time::Duration};

    use super::*;
    use crate::testing::scripted::{Act, Scripted};

    /// Counts its calls, and is added again at each for as long as there is another moment.
    struct Counter {
        calls: Arc<AtomicUsize>,
        then: Mutex<Vec<Instant>>,
        timers: Arc<Timers>,
        transport: Arc<dyn Transport>,
    }

    impl Due for Counter {
        fn due(self: Arc<Self>) {
            self.calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let next = self.then.lock().unwrap().pop();
            if let Some(next) = next {
                let again: Weak<Self> = Arc::downgrade(&self);
                self.timers.add(&self.transport, next, again);
            }
        }
    }

    fn counter(
        timers: &Arc<Timers>,
        transport: &Arc<dyn Transport>,
        then: Vec<Instant>,
    ) -> (Arc<Counter>, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let (timers, transport) = (timers.clone(), transport.clone());
        (Arc::new(Counter { calls: calls.clone(), then: Mutex::new(then), timers, transport }), calls)
    }

    fn add(timers: &Arc<Timers>, transport: &Arc<dyn Transport>, moment: Instant, counter: &Arc<Counter>) {
        let waiting: Weak<Counter> = Arc::downgrade(counter);
        timers.add(transport, moment, waiting);
    }

    fn count(calls: &AtomicUsize) -> usize {
        calls.load(std::sync::atomic::Ordering::SeqCst)
    }

    fn seconds(count: u64) -> Instant {
        Instant::now() + Duration::from_secs(count)
    }

    async fn sleep(seconds: f64) {
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn entry_is_called_at_its_moment() {
        let transport = Scripted::transport(|_| Act::Refuse);
        let timers = Arc::default();
        let (late, late_calls) = counter(&timers, &transport, vec![]);
        let (early, early_calls) = counter(&timers, &transport, vec![seconds(3)]);
        let (gone, gone_calls) = counter(&timers, &transport, vec![]);
        add(&timers, &transport, seconds(5), &late);
        // Before the moment that the driver sleeps for.
        sleep(0.5).await;
        add(&timers, &transport, seconds(1), &early);
        add(&timers, &transport, seconds(1), &gone);
        drop(gone);
        for (after, expected) in [(1.0, (0, 0)), (1.0, (1, 0)), (1.0, (2, 0)), (2.0, (2, 1))] {
            sleep(after).await;
            assert_eq!((count(&early_calls), count(&late_calls)), expected);
        }
        assert_eq!(count(&gone_calls), 0);
        assert!(!timers.list().is_driven, "nobody drives an empty list");
        // And it is driven again.
        add(&timers, &transport, seconds(1), &late);
        sleep(2.0).await;
        assert_eq!(count(&late_calls), 2);
    }

    #[test]
    fn ended_timer_task_calls_all_waiters() {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let transport = Scripted::transport(|_| Act::Refuse);
        let timers = Arc::default();
        let (waiting, calls) = counter(&timers, &transport, vec![]);
        let first = runtime();
        first.block_on(async {
            add(&timers, &transport, seconds(3600), &waiting);
            sleep(1.0).await;
        });
        assert_eq!(count(&calls), 0);
        drop(first);
        assert_eq!(count(&calls), 1, "it is called early, so that it can be added again");
        runtime().block_on(async {
            add(&timers, &transport, seconds(1), &waiting);
            sleep(2.0).await;
        });
        assert_eq!(count(&calls), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn entries_of_dropped_owners_are_removed() {
        let transport = Scripted::transport(|_| Act::Refuse);
        let timers = Arc::default();
        for _ in 0..10 * FEW {
            add(&timers, &transport, seconds(3600), &counter(&timers, &transport, vec![]).0);
        }
        assert!(timers.list().entries.len() <= FEW);
    }
}
