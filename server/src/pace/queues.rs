//! The order of polls. Each class of each method has a queue of its own, and shares of the rate and of the places, so that
//! neither payers who press a button nor a hanging endpoint delay the polls of other payments (bulkheads).

use super::Class;
use crate::values::Method;

/// The number of methods.
pub const METHODS: usize = Method::ALL.len();
/// The number of queues.
pub const QUEUES: usize = Class::ALL.len() * METHODS;

/// The turns of the classes if all have due polls: five, two and one of eight polls.
const TURNS: [Class; 8] =
    [Class::Hinted, Class::Hinted, Class::Fresh, Class::Hinted, Class::Old, Class::Hinted, Class::Fresh, Class::Hinted];

/// The payments of one class and method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue {
    /// Their urgency.
    pub class: Class,
    /// Their method.
    pub method: Method,
}

impl Queue {
    /// All of them, in the order of their indices.
    pub fn all() -> impl Iterator<Item = Self> {
        Class::ALL.into_iter().flat_map(|class| Method::ALL.map(|method| Self { class, method }))
    }

    /// Its index among all queues.
    pub fn index(self) -> usize {
        self.class as usize * METHODS + self.method as usize
    }

    /// The number that the databases store: of one payment's queues the most urgent has the lowest.
    pub fn number(self) -> i16 {
        i16::try_from(self.index()).unwrap_or(i16::MAX)
    }
}

/// The most HTTP requests of one query by such a reference. On a pay-form the payer chooses the provider, so all three are
/// queried.
pub fn requests_of(method: Method) -> u32 {
    if method == Method::PayForm { 3 } else { 1 }
}

/// The queue to poll next, among those that are ready. Each class has its turns, and in each class each method.
pub fn next_queue(turn: i64, is_ready: impl Fn(Queue) -> bool) -> Option<Queue> {
    let turn = usize::try_from(turn.unsigned_abs()).unwrap_or_default();
    let first = TURNS[turn % TURNS.len()];
    let offset = turn + turn / TURNS.len();
    let classes = std::iter::once(first).chain(Class::ALL);
    let methods = |class| (0..METHODS).map(move |step| Queue { class, method: Method::ALL[(offset + step) % METHODS] });
    classes.flat_map(methods).find(|queue| is_ready(*queue))
}

/// Slots for concurrent polls. Each method has some of its own, and the rest are first come, first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    all: u32,
    taken: [u32; METHODS],
}

impl Slots {
    /// This many slots, all free.
    pub const fn new(all: u32) -> Self {
        Self { all, taken: [0; METHODS] }
    }

    /// The number of slots reserved for each method, of `all` slots.
    pub fn own(all: u32) -> u32 {
        (all / 16).max(u32::from(all >= 8))
    }

    /// The number of free slots.
    pub fn free(&self) -> u32 {
        self.all.saturating_sub(self.taken.iter().sum())
    }

    /// Whether a poll of this method gets a slot.
    pub fn has_room(&self, method: Method) -> bool {
        let own = Self::own(self.all);
        let reserved = |(other, taken): (usize, &u32)| if other == method as usize { *taken } else { own.max(*taken) };
        self.taken.iter().enumerate().map(reserved).sum::<u32>() < self.all
    }

    /// Takes a slot for a poll of this method.
    pub fn take(&mut self, method: Method) {
        self.taken[method as usize] += 1;
    }

    /// Releases the slot of a poll of this method.
    pub fn give_back(&mut self, method: Method) {
        let taken = &mut self.taken[method as usize];
        *taken = taken.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queues_of(turns: i64, is_ready: impl Fn(Queue) -> bool) -> Vec<Queue> {
        (0..turns).filter_map(|turn| next_queue(turn, &is_ready)).collect()
    }

    #[test]
    fn queue_index_matches_queue_order() {
        assert!(Queue::all().map(Queue::index).eq(0..QUEUES));
    }

    #[test]
    fn poll_classes_share_turns_by_urgency() {
        let queues = queues_of(8_000, |_| true);
        let of = |class| queues.iter().filter(|queue| queue.class == class).count();
        assert_eq!(Class::ALL.map(of), [5_000, 2_000, 1_000]);
        // Nobody waits for a turn that somebody else does not use.
        let old = Queue { class: Class::Old, method: Method::Qr };
        assert_eq!(queues_of(100, |queue| queue == old), [old; 100]);
        assert_eq!(next_queue(7, |_| false), None);
    }

    #[test]
    fn poll_methods_take_turns_in_each_class() {
        let queues = queues_of(40, |_| true);
        for queue in Queue::all() {
            assert!(queues.contains(&queue), "{queue:?}");
        }
    }

    #[test]
    fn hanging_method_leaves_slots_for_other_methods() {
        for all in [8, 16, 32, 100] {
            let mut places = Slots::new(all);
            let mut hanging = 0;
            while places.has_room(Method::Mbank) {
                places.take(Method::Mbank);
                hanging += 1;
            }
            assert_eq!(hanging, all - (METHODS as u32 - 1) * Slots::own(all));
            for method in Method::ALL.into_iter().filter(|method| *method != Method::Mbank) {
                for _ in 0..Slots::own(all) {
                    assert!(places.has_room(method), "{method} of {all}");
                    places.take(method);
                }
                assert!(!places.has_room(method));
            }
            assert_eq!(places.free(), 0);
            places.give_back(Method::Qr);
            assert!(places.has_room(Method::Qr) && !places.has_room(Method::Mbank));
        }
        let mut one = Slots::new(1);
        assert!(one.has_room(Method::Card));
        one.take(Method::Card);
        assert!(!one.has_room(Method::Qr));
    }
}
