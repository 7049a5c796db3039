//! Which connections are open, whose they are, and which of them gives its place to a new one: idle ones close first, and no
//! address holds more than its share. Each step costs the logarithm of their number at most.

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

/// Connections that were told to close and are still there: each has its file open until it is gone.
const MOST_CLOSING: usize = 64;
/// The moment of a connection that is not idle.
const BUSY: u64 = 0;

/// All connections of a listener.
pub(super) struct Registry {
    most: usize,
    /// How many of them one address may hold.
    share: usize,
    places: Mutex<Places>,
}

#[derive(Default)]
struct Places {
    /// The moments when connections became idle, counted instead of measured: no two are the same.
    moment: u64,
    /// Without those that were told to close.
    open: usize,
    closing: usize,
    holders: HashMap<Network, Holder>,
    /// Who has idle ones. The last of them has the most, and among equals the one that is idle for the longest.
    idle: BTreeMap<Rank, Network>,
}

type Rank = (usize, Reverse<u64>);

/// An address with connections.
#[derive(Default)]
struct Holder {
    open: usize,
    /// How to close those that are idle, by the moment since when they are.
    idle: BTreeMap<u64, Arc<Notify>>,
}

impl Holder {
    fn rank(&self) -> Option<Rank> {
        self.idle.first_key_value().map(|(since, _)| (self.idle.len(), Reverse(*since)))
    }
}

/// A limit that a new connection met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// All places are taken.
    Places,
    /// The address holds its share of them.
    Share,
}

/// What becomes of a new connection.
pub(super) struct Admission {
    /// Where it stays; there is none where it is to be closed at once.
    pub(super) place: Option<Place>,
    pub(super) reached: Option<Reached>,
}

impl Registry {
    pub(super) fn new(most: usize) -> Self {
        Self { most, share: (most / 2).max(1), places: Mutex::default() }
    }

    /// A place for a new connection. Where there is none, the address that has the most idle ones loses the one that is idle for
    /// the longest; an address at its share loses one of its own. Behind a proxy all callers have one address, so it has no share.
    pub(super) fn admit(self: &Arc<Self>, holder: Network, is_proxy: bool) -> Admission {
        let mut places = self.locked();
        let held = places.holders.get(&holder).map_or(0, |holder| holder.open);
        let (reached, has_place) = if !is_proxy && held >= self.share {
            (Some(Reached::Share), places.close_longest_idle_of(holder))
        } else if places.open >= self.most {
            (Some(Reached::Places), places.close_longest_idle())
        } else {
            (None, true)
        };
        let place = has_place.then(|| {
            places.open += 1;
            let (since, close) = (places.next_moment(), Arc::new(Notify::new()));
            places.change(holder, |holder| {
                holder.open += 1;
                // It has brought no request yet.
                holder.idle.insert(since, close.clone());
            });
            let since = AtomicU64::new(since);
            Place { registry: self.clone(), holder, close, since, is_answered: AtomicBool::new(false) }
        });
        Admission { place, reached }
    }

    /// Whether as many as may be are about to close: before one of them is gone, nobody else is to be let in.
    pub(super) fn has_many_closing(&self) -> bool {
        self.locked().closing >= MOST_CLOSING
    }

    /// What is behind the lock is whole after every step, whatever panicked.
    fn locked(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    fn next_moment(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn close_longest_idle(&mut self) -> bool {
        let holder = self.idle.last_key_value().map(|(_, holder)| *holder);
        holder.is_some_and(|holder| self.close_longest_idle_of(holder))
    }

    /// Whether there was one.
    fn close_longest_idle_of(&mut self, holder: Network) -> bool {
        let closed = self.change(holder, |holder| {
            let (_, close) = holder.idle.pop_first()?;
            holder.open = holder.open.saturating_sub(1);
            Some(close)
        });
        let Some(close) = closed else { return false };
        close.notify_one();
        self.open = self.open.saturating_sub(1);
        self.closing += 1;
        true
    }

    /// Changes what an address holds, and keeps its rank right.
    fn change<T>(&mut self, of: Network, change: impl FnOnce(&mut Holder) -> T) -> T {
        let holder = self.holders.entry(of).or_default();
        if let Some(rank) = holder.rank() {
            self.idle.remove(&rank);
        }
        let changed = change(holder);
        let is_left = holder.open > 0;
        if let Some(rank) = holder.rank() {
            self.idle.insert(rank, of);
        }
        if !is_left {
            self.holders.remove(&of);
        }
        changed
    }
}

/// The place of one connection. It is free again once this is dropped.
pub(super) struct Place {
    registry: Arc<Registry>,
    holder: Network,
    close: Arc<Notify>,
    /// Since when it is idle. It changes under the registry's lock alone.
    since: AtomicU64,
    /// An answer has come to its end, and may not be sent in full yet.
    is_answered: AtomicBool,
}

impl Place {
    /// Waits until another connection has got the place: this one is to be closed.
    pub(super) async fn taken_away(&self) {
        self.close.notified().await;
    }

    /// A request came. Until its answer is sent, the place is not taken away. Nothing where that has just been done.
    pub(super) fn begin(self: &Arc<Self>) -> Option<Answering> {
        let mut places = self.registry.locked();
        let since = self.since.load(Ordering::Relaxed);
        if since != BUSY && places.change(self.holder, |holder| holder.idle.remove(&since)).is_none() {
            return None;
        }
        self.since.store(BUSY, Ordering::Relaxed);
        self.is_answered.store(false, Ordering::Relaxed);
        Some(Answering(self.clone()))
    }

    /// Everything that was written is sent. Behind the end of an answer, the connection is idle from now on.
    pub(super) fn sent(&self) {
        if !self.is_answered.swap(false, Ordering::Relaxed) {
            return;
        }
        let mut places = self.registry.locked();
        let since = places.next_moment();
        self.since.store(since, Ordering::Relaxed);
        places.change(self.holder, |holder| holder.idle.insert(since, self.close.clone()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let since = *self.since.get_mut();
        let mut places = self.registry.locked();
        let had_it = places.change(self.holder, |holder| {
            let has_it = since == BUSY || holder.idle.remove(&since).is_some();
            if has_it {
                holder.open = holder.open.saturating_sub(1);
            }
            has_it
        });
        let count = if had_it { &mut places.open } else { &mut places.closing };
        *count = count.saturating_sub(1);
    }
}

/// A request that is being answered, until the end of its answer.
pub(super) struct Answering(Arc<Place>);

impl Drop for Answering {
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
    fn open(registry: &Arc<Registry>, number: u8) -> (Arc<Place>, Option<Reached>) {
        let admission = registry.admit(address(number), false);
        (Arc::new(admission.place.expect("a place")), admission.reached)
    }

    fn opened(registry: &Arc<Registry>, number: u8, count: usize) -> Vec<Arc<Place>> {
        (0..count)
            .map(|_| {
                let (place, reached) = open(registry, number);
                assert_eq!(reached, None);
                place
            })
            .collect()
    }

    fn is_closed(place: &Place) -> bool {
        place.taken_away().now_or_never().is_some()
    }

    /// Which of them are closed now, and were not before.
    fn closed(places: &[Arc<Place>]) -> Vec<usize> {
        (0..places.len()).filter(|index| is_closed(&places[*index])).collect()
    }

    /// Answers one request, in full.
    fn answer(place: &Arc<Place>) {
        drop(place.begin().expect("it has its place"));
        place.sent();
    }

    #[test]
    fn who_has_the_most_idle_ones_loses_the_longest_idle() {
        let registry = registry(10);
        let (many, few) = (opened(&registry, 1, 5), opened(&registry, 2, 3));
        let others = [open(&registry, 3).0, open(&registry, 4).0];
        answer(&many[0]);
        let (_new, reached) = open(&registry, 5);
        assert_eq!(reached, Some(Reached::Places));
        assert_eq!(closed(&many), [1], "the first one has brought a request since");
        let _newer = (open(&registry, 6), open(&registry, 7));
        assert_eq!(closed(&many), [2, 3], "among equals the one that is idle for longer");
        assert_eq!(closed(&few), [0_usize; 0]);
        assert!(!others.iter().any(|place| is_closed(place)), "who has one keeps it");
    }

    #[test]
    fn who_is_being_answered_is_never_closed() {
        let registry = registry(4);
        let places = [opened(&registry, 1, 2), opened(&registry, 2, 2)].concat();
        let answering: Vec<_> = places.iter().map(|place| place.begin().expect("a place")).collect();
        let refused = registry.admit(address(3), false);
        assert!(refused.place.is_none() && refused.reached == Some(Reached::Places));
        // The end of an answer is not yet with its caller.
        drop(answering);
        assert!(registry.admit(address(3), false).place.is_none());
        assert_eq!(closed(&places), [0_usize; 0]);
        places[2].sent();
        let _new = open(&registry, 3);
        assert_eq!(closed(&places), [2]);
        assert!(registry.admit(address(4), false).place.is_some(), "the new one has brought nothing yet");
    }

    #[test]
    fn a_request_that_comes_too_late_is_not_begun() {
        let registry = registry(1);
        let (old, _) = open(&registry, 1);
        let (new, _) = open(&registry, 2);
        assert!(old.begin().is_none() && is_closed(&old));
        assert!(new.begin().is_some());
        drop(old);
        assert!(registry.admit(address(1), false).place.is_none(), "its place was given away before");
    }

    #[test]
    fn an_address_at_its_share_takes_from_itself_alone() {
        let registry = registry(8);
        let places = opened(&registry, 1, 4);
        let (newer, reached) = open(&registry, 1);
        assert_eq!((reached, closed(&places)), (Some(Reached::Share), vec![0]));
        let all = [newer, places[1].clone(), places[2].clone(), places[3].clone()];
        let _answering: Vec<_> = all.iter().map(|place| place.begin().expect("a place")).collect();
        let refused = registry.admit(address(1), false);
        assert!(refused.place.is_none() && refused.reached == Some(Reached::Share));
        let others = opened(&registry, 2, 4);
        assert_eq!(closed(&others), [0_usize; 0], "half of the places are left for others");
    }

    #[test]
    fn a_proxy_has_no_share() {
        let registry = registry(8);
        let places: Vec<_> = (0..8).map(|_| registry.admit(address(1), true)).collect();
        assert!(places.iter().all(|admission| admission.place.is_some() && admission.reached.is_none()));
        assert_eq!(registry.admit(address(1), true).reached, Some(Reached::Places));
    }

    #[test]
    fn places_are_free_again_and_nothing_is_left_behind() {
        let registry = registry(100);
        for _ in 0..3 {
            let mut places = opened(&registry, 1, 50);
            for number in 2..52 {
                places.push(open(&registry, number).0);
            }
            for place in &places {
                answer(place);
            }
            let busy = places[0].begin();
            let more: Vec<_> = (100..130).map(|number| open(&registry, number).0).collect();
            assert_eq!(registry.locked().closing, 30);
            drop((busy, places, more));
            let left = registry.locked();
            assert_eq!((left.open, left.closing, left.holders.len(), left.idle.len()), (0, 0, 0, 0));
        }
    }

    #[test]
    fn no_more_are_about_to_close_than_files_are_kept_for() {
        let registry = registry(1000);
        let places = [opened(&registry, 1, 500), opened(&registry, 2, 500)].concat();
        let mut more = Vec::new();
        while !registry.has_many_closing() {
            more.push(open(&registry, 3));
        }
        assert_eq!(more.len(), MOST_CLOSING);
        drop(places);
        assert!(!registry.has_many_closing());
    }
}
