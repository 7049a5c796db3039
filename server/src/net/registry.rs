//! The open connections by address, and which one is closed for a new one: idle ones close first, and no address holds more than
//! its share. Each step costs at most the logarithm of their number.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use kassa_pages::Network;
use tokio::sync::Notify;

/// Closing connections that are still open: each holds its file until it is gone.
const MOST_CLOSING: usize = 64;
/// The moment of a connection that is not idle.
const BUSY: u64 = 0;

/// All connections of a listener.
pub(super) struct Registry {
    most: usize,
    /// The most connections of one address.
    share: usize,
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    /// The moments when connections became idle, counted instead of measured: no two are the same.
    moment: u64,
    /// The number of open connections, without closing ones.
    open: usize,
    closing: usize,
    clients: HashMap<Network, Client>,
    /// The addresses with idle connections. The last one has the most, and among equals the longest-idle one.
    idle: BTreeMap<Rank, Network>,
}

type Rank = (usize, Reverse<u64>);

/// An address with connections.
#[derive(Default)]
struct Client {
    open: usize,
    /// Handles that close idle connections, by the moment since when they are idle.
    idle: BTreeMap<u64, Arc<Notify>>,
}

impl Client {
    fn rank(&self) -> Option<Rank> {
        self.idle.first_key_value().map(|(since, _)| (self.idle.len(), Reverse(*since)))
    }
}

/// A limit that a new connection met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitReached {
    /// All connections are taken.
    Connections,
    /// The address holds its share of them.
    Share,
}

/// The decision on a new connection.
pub(super) struct Admission {
    /// The slot of the connection; `None` if it must be closed at once.
    pub(super) slot: Option<Slot>,
    pub(super) reached: Option<LimitReached>,
}

impl Registry {
    pub(super) fn new(most: usize) -> Self {
        Self { most, share: (most / 2).max(1), slots: Mutex::default() }
    }

    /// A slot for a new connection. If none is free, the address with the most idle connections loses its longest-idle one; an
    /// address at its share loses one of its own. Behind a proxy all callers have one address, so it has no share.
    pub(super) fn admit(self: &Arc<Self>, client: Network, is_proxy: bool) -> Admission {
        let mut slots = self.locked();
        let held = slots.clients.get(&client).map_or(0, |client| client.open);
        let (reached, has_place) = if !is_proxy && held >= self.share {
            (Some(LimitReached::Share), slots.close_longest_idle_of(client))
        } else if slots.open >= self.most {
            (Some(LimitReached::Connections), slots.close_longest_idle())
        } else {
            (None, true)
        };
        let slot = has_place.then(|| {
            slots.open += 1;
            let (since, close) = (slots.next_moment(), Arc::new(Notify::new()));
            slots.change(client, |client| {
                client.open += 1;
                // It has sent no request yet.
                client.idle.insert(since, close.clone());
            });
            let since = AtomicU64::new(since);
            Slot { registry: self.clone(), client, close, since, is_answered: AtomicBool::new(false) }
        });
        Admission { slot, reached }
    }

    /// Whether the limit of closing connections is reached: no new one is admitted before one of them is gone.
    pub(super) fn has_many_closing(&self) -> bool {
        self.locked().closing >= MOST_CLOSING
    }

    /// A panic cannot leave the locked value half-written: every step leaves it whole.
    fn locked(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn next_moment(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn close_longest_idle(&mut self) -> bool {
        let client = self.idle.last_key_value().map(|(_, client)| *client);
        client.is_some_and(|client| self.close_longest_idle_of(client))
    }

    /// Closes the longest-idle connection of an address. Returns whether there was one.
    fn close_longest_idle_of(&mut self, client: Network) -> bool {
        let closed = self.change(client, |client| {
            let (_, close) = client.idle.pop_first()?;
            client.open = client.open.saturating_sub(1);
            Some(close)
        });
        let Some(close) = closed else { return false };
        close.notify_one();
        self.open = self.open.saturating_sub(1);
        self.closing += 1;
        true
    }

    /// Changes an address's connections, and updates its rank.
    fn change<T>(&mut self, of: Network, change: impl FnOnce(&mut Client) -> T) -> T {
        let client = self.clients.entry(of).or_default();
        if let Some(rank) = client.rank() {
            self.idle.remove(&rank);
        }
        let changed = change(client);
        let is_left = client.open > 0;
        if let Some(rank) = client.rank() {
            self.idle.insert(rank, of);
        }
        if !is_left {
            self.clients.remove(&of);
        }
        changed
    }
}

/// The slot of one connection. It is released when dropped.
pub(super) struct Slot {
    registry: Arc<Registry>,
    client: Network,
    close: Arc<Notify>,
    /// The moment since when it is idle. It changes only under the registry's lock.
    since: AtomicU64,
    /// Whether a response has ended, and may not be fully sent yet.
    is_answered: AtomicBool,
}

impl Slot {
    /// Waits until another connection gets the slot: then this one must be closed.
    pub(super) async fn evicted(&self) {
        self.close.notified().await;
    }

    /// Marks the start of a request. Until its response is sent, the slot is not taken away. `None`
    /// if it has just been taken away.
    pub(super) fn begin(self: &Arc<Self>) -> Option<ActiveRequest> {
        let mut slots = self.registry.locked();
        let since = self.since.load(Ordering::Relaxed);
        if since != BUSY && slots.change(self.client, |client| client.idle.remove(&since)).is_none() {
            return None;
        }
        self.since.store(BUSY, Ordering::Relaxed);
        self.is_answered.store(false, Ordering::Relaxed);
        Some(ActiveRequest(self.clone()))
    }

    /// Everything written was sent. If the response has ended, the connection is idle from now on.
    pub(super) fn sent(&self) {
        if !self.is_answered.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut slots = self.registry.locked();
        let since = slots.next_moment();
        self.since.store(since, Ordering::Relaxed);
        slots.change(self.client, |client| client.idle.insert(since, self.close.clone()));
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let since = *self.since.get_mut();
        let mut slots = self.registry.locked();
        let had_it = slots.change(self.client, |client| {
            let has_it = since == BUSY || client.idle.remove(&since).is_some();
            if has_it {
                client.open = client.open.saturating_sub(1);
            }
            has_it
        });
        let count = if had_it { &mut slots.open } else { &mut slots.closing };
        *count = count.saturating_sub(1);
    }
}

/// A request in progress, until the end of its response.
pub(super) struct ActiveRequest(Arc<Slot>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.is_answered.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn address(number: u8) -> Network {
        Network::from(std::net::IpAddr::from([192, 0, 2, number]))
    }

    fn registry(most: usize) -> Arc<Registry> {
        Arc::new(Registry::new(most))
    }

    /// A connection that is let in, and the limit that it met.
    fn open(registry: &Arc<Registry>, number: u8) -> (Arc<Slot>, Option<LimitReached>) {
        let admission = registry.admit(address(number), false);
        (Arc::new(admission.slot.expect("a place")), admission.reached)
    }

    fn opened(registry: &Arc<Registry>, number: u8, count: usize) -> Vec<Arc<Slot>> {
        (0..count)
            .map(|_| {
                let (slot, reached) = open(registry, number);
                assert_eq!(reached, None);
                slot
            })
            .collect()
    }

    fn is_closed(slot: &Slot) -> bool {
        slot.evicted().now_or_never().is_some()
    }

    /// Which of them are closed now, and were not before.
    fn closed(slots: &[Arc<Slot>]) -> Vec<usize> {
        (0..slots.len()).filter(|index| is_closed(&slots[*index])).collect()
    }

    /// Answers one request, in full.
    fn answer(slot: &Arc<Slot>) {
        drop(slot.begin().expect("it has its place"));
        slot.sent();
    }

    #[test]
    fn connection_limit_closes_idlest_of_busiest() {
        let registry = registry(10);
        let (many, few) = (opened(&registry, 1, 5), opened(&registry, 2, 3));
        let others = [open(&registry, 3).0, open(&registry, 4).0];
        answer(&many[0]);
        let (_new, reached) = open(&registry, 5);
        assert_eq!(reached, Some(LimitReached::Connections));
        assert_eq!(closed(&many), [1], "the first one has brought a request since");
        let _newer = (open(&registry, 6), open(&registry, 7));
        assert_eq!(closed(&many), [2, 3], "among equals the one that is idle for longer");
        assert_eq!(closed(&few), [0_usize; 0]);
        assert!(!others.iter().any(|slot| is_closed(slot)), "who has one keeps it");
    }

    #[test]
    fn connection_with_request_is_never_closed() {
        let registry = registry(4);
        let slots = [opened(&registry, 1, 2), opened(&registry, 2, 2)].concat();
        let answering: Vec<_> = slots.iter().map(|slot| slot.begin().expect("a place")).collect();
        let refused = registry.admit(address(3), false);
        assert!(refused.slot.is_none() && refused.reached == Some(LimitReached::Connections));
        // The end of an answer is not yet with its caller.
        drop(answering);
        assert!(registry.admit(address(3), false).slot.is_none());
        assert_eq!(closed(&slots), [0_usize; 0]);
        slots[2].sent();
        let _new = open(&registry, 3);
        assert_eq!(closed(&slots), [2]);
        assert!(registry.admit(address(4), false).slot.is_some(), "the new one has brought nothing yet");
    }

    #[test]
    fn request_on_closing_connection_is_not_started() {
        let registry = registry(1);
        let (old, _) = open(&registry, 1);
        let (new, _) = open(&registry, 2);
        assert!(old.begin().is_none() && is_closed(&old));
        assert!(new.begin().is_some());
        drop(old);
        assert!(registry.admit(address(1), false).slot.is_none(), "its place was given away before");
    }

    #[test]
    fn address_at_its_share_closes_only_its_own() {
        let registry = registry(8);
        let slots = opened(&registry, 1, 4);
        let (newer, reached) = open(&registry, 1);
        assert_eq!((reached, closed(&slots)), (Some(LimitReached::Share), vec![0]));
        let all = [newer, slots[1].clone(), slots[2].clone(), slots[3].clone()];
        let _answering: Vec<_> = all.iter().map(|slot| slot.begin().expect("a place")).collect();
        let refused = registry.admit(address(1), false);
        assert!(refused.slot.is_none() && refused.reached == Some(LimitReached::Share));
        let others = opened(&registry, 2, 4);
        assert_eq!(closed(&others), [0_usize; 0], "half of the places are left for others");
    }

    #[test]
    fn proxy_is_exempt_from_connection_share() {
        let registry = registry(8);
        let slots: Vec<_> = (0..8).map(|_| registry.admit(address(1), true)).collect();
        assert!(slots.iter().all(|admission| admission.slot.is_some() && admission.reached.is_none()));
        assert_eq!(registry.admit(address(1), true).reached, Some(LimitReached::Connections));
    }

    #[test]
    fn closed_connections_free_slots_and_state() {
        let registry = registry(100);
        for _ in 0..3 {
            let mut slots = opened(&registry, 1, 50);
            for number in 2..52 {
                slots.push(open(&registry, number).0);
            }
            for slot in &slots {
                answer(slot);
            }
            let busy = slots[0].begin();
            let more: Vec<_> = (100..130).map(|number| open(&registry, number).0).collect();
            assert_eq!(registry.locked().closing, 30);
            drop((busy, slots, more));
            let left = registry.locked();
            assert_eq!((left.open, left.closing, left.clients.len(), left.idle.len()), (0, 0, 0, 0));
        }
    }

    #[test]
    fn closing_connections_are_bounded() {
        let registry = registry(1000);
        let slots = [opened(&registry, 1, 500), opened(&registry, 2, 500)].concat();
        let mut more = Vec::new();
        while !registry.has_many_closing() {
            more.push(open(&registry, 3));
        }
        assert_eq!(more.len(), MOST_CLOSING);
        drop(slots);
        assert!(!registry.has_many_closing());
    }
}
