//! The gateway, as a model: what it can take, how long it needs, and what becomes of what is too much.

use fastrand::Rng;

use super::{MINUTE, SECOND, STEP_MS, Size, Step};
use crate::{pace::Class, values::Millis};

/// The phases of the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It takes a fifth more queries than the fleet may send. A quarter of the servers dies, and comes back.
    Steady,
    /// It takes less than is due, and needs a second.
    Slow,
    /// For five minutes it does not respond, then it is not reachable.
    Away,
    /// It takes less than is due, for ten minutes.
    Back,
    /// As in the beginning.
    Well,
}

impl Phase {
    pub(super) const END: Step = 200 * MINUTE;

    pub(super) const ALL: [(Self, Step); 5] = [
        (Self::Steady, 0),
        (Self::Slow, 20 * MINUTE),
        (Self::Away, 40 * MINUTE),
        (Self::Back, 100 * MINUTE),
        (Self::Well, 110 * MINUTE),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Steady => "well",
            Self::Slow => "slow",
            Self::Away => "away",
            Self::Back => "back, and weak",
            Self::Well => "well",
        }
    }

    pub(super) fn at(step: Step) -> Self {
        Self::ALL.iter().rev().find(|(_, begin)| *begin <= step).map_or(Self::Steady, |(phase, _)| *phase)
    }

    pub(super) fn begin(self) -> Step {
        Self::ALL.iter().find(|(phase, _)| *phase == self).map_or(0, |(_, begin)| *begin)
    }

    pub(super) fn end(self) -> Step {
        Self::ALL.iter().map(|(_, begin)| *begin).find(|begin| *begin > self.begin()).unwrap_or(Self::END)
    }
}

/// A response, and the time after which it arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) is_failure: bool,
    pub(super) after: Step,
}

/// The deadline of a query.
const DEADLINE: Step = 30 * SECOND;
/// The time without responses before it is not reachable.
const HANGS: Step = 5 * MINUTE;

pub(super) struct Gateway {
    /// Queries a step, when it is well.
    capacity: f64,
    step: Step,
    /// The capacity left in this step.
    left: f64,
}

impl Gateway {
    pub(super) fn new(size: Size) -> Self {
        Self { capacity: 1.2 * f64::from(size.per_second) / f64::from(SECOND), step: 0, left: 0.0 }
    }

    pub(super) fn answer(&mut self, step: Step) -> Answer {
        let phase = Phase::at(step);
        let (share, after) = match phase {
            Phase::Steady | Phase::Well => (1.0, 5),
            Phase::Slow => (0.5, SECOND),
            Phase::Back => (0.5, 20),
            Phase::Away if step < Phase::Away.begin() + HANGS => return Answer { is_failure: true, after: DEADLINE },
            Phase::Away => return Answer { is_failure: true, after: 1 },
        };
        let capacity = self.capacity * share;
        // It queues bursts, up to a second's worth.
        let passed = f64::from(step - self.step);
        self.left = (self.left + passed * capacity).min(f64::from(SECOND) * capacity);
        self.step = step;
        if self.left < 1.0 {
            return Answer { is_failure: true, after: 2 };
        }
        self.left -= 1.0;
        Answer { is_failure: false, after }
    }
}

// One class of queries by due time (calendar queue). An entry is stale if its payment is due at another time by now: it is left
// where it is, and skipped when its time comes.

pub(super) struct Queue {
    class: u8,
    /// The steps that share a slot.
    width: Step,
    slots: Vec<Vec<u32>>,
    /// The first slot that may hold anything, and the place in it.
    slot: usize,
    place: usize,
    /// Items that were taken and put back, the next one last.
    back: Vec<u32>,
}

impl Queue {
    pub(super) fn new(class: u8, width: Step, end: Step) -> Self {
        Self { class, width, slots: vec![Vec::new(); (end / width) as usize + 1], slot: 0, place: 0, back: Vec::new() }
    }

    pub(super) fn push(&mut self, id: u32, due: Step) {
        let slot = ((due / self.width) as usize).max(self.slot);
        // Polls due after the end of the simulation are not played.
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.push(id);
        }
    }

    /// The one that is due for the longest, if one is due; it stays.
    pub(super) fn first(&mut self, step: Step, payments: &Payments) -> Option<u32> {
        while let Some(id) = self.back.last() {
            if payments.class[*id as usize] == self.class && payments.due[*id as usize] <= step {
                return Some(*id);
            }
            self.back.pop();
        }
        while self.slot as Step * self.width <= step {
            let slot = self.slots.get_mut(self.slot)?;
            if let Some(id) = slot.get(self.place) {
                let (due, class) = (payments.due[*id as usize], payments.class[*id as usize]);
                // A class of hints has everything at the moment it was hinted at.
                if class == self.class && due <= step && due / self.width <= self.slot as Step {
                    return Some(*id);
                }
                if class == self.class && due > step && due / self.width == self.slot as Step {
                    return None;
                }
                self.place += 1;
            } else if (self.slot as Step + 1) * self.width <= step {
                *slot = Vec::new();
                self.slot += 1;
                self.place = 0;
            } else {
                return None;
            }
        }
        None
    }

    /// Back to where it was taken from.
    pub(super) fn put_back(&mut self, id: u32) {
        self.back.push(id);
    }

    pub(super) fn pop(&mut self, step: Step, payments: &Payments) -> Option<u32> {
        let first = self.first(step, payments)?;
        if self.back.pop().is_none() {
            self.place += 1;
        }
        Some(first)
    }
}

// The payments: when each began, when the gateway knows its end, when it is due.

/// It is no longer polled.
pub(super) const NEVER: Step = Step::MAX;

/// None is older than three days in the end: from then on a payment is polled daily, and needs a person.
const OLDEST: u32 = 3 * 24 * 3600 - Phase::END / SECOND;
/// The usual time that payers of new payments need.
const PAYING: u32 = 3 * 60;

/// All of them, a column for each property.
pub(super) struct Payments {
    /// In seconds, before the beginning below 0.
    begun: Vec<i32>,
    ends: Vec<Step>,
    pub(super) due: Vec<Step>,
    pub(super) class: Vec<u8>,
    /// The payments that end in each second.
    ending: Vec<Vec<u32>>,
    random: Rng,
    per_second: f64,
    owed: f64,
}

impl Payments {
    pub(super) fn new(size: Size) -> Self {
        let mut all = Self {
            begun: Vec::new(),
            ends: Vec::new(),
            due: Vec::new(),
            class: Vec::new(),
            ending: vec![Vec::new(); (Phase::END / SECOND) as usize + 1],
            random: Rng::with_seed(17),
            per_second: f64::from(size.payments) / f64::from(OLDEST),
            owed: 0.0,
        };
        for _ in 0..size.payments {
            let age = i32::try_from(all.random.u32(0..OLDEST)).unwrap_or(0);
            // A third of them ends while we look, the others stay open: that is the worst that they can do.
            let ends = all.random.u32(0..3 * Phase::END);
            let first = u32::try_from(super::super::interval_at(Millis::from(age) * 1000) / STEP_MS);
            let due = all.random.u32(0..first.unwrap_or(1).max(1));
            all.add(-age, ends, due, Class::at_age(Millis::from(age) * 1000));
        }
        all
    }

    fn add(&mut self, begun: i32, ends: Step, due: Step, class: Class) -> u32 {
        let id = u32::try_from(self.begun.len()).expect("fewer than four thousand million");
        let ends = if Phase::at(ends) == Phase::Away { self.after_return(begun) } else { ends };
        self.begun.push(begun);
        self.ends.push(ends);
        self.due.push(due);
        self.class.push(class as u8);
        if let Some(second) = self.ending.get_mut((ends / SECOND) as usize) {
            second.push(id);
        }
        id
    }

    /// While the gateway is away, payers cannot pay: some did just before, and others do as soon as it is back.
    fn after_return(&mut self, begun: i32) -> Step {
        let is_older = i64::from(begun) < i64::from(Phase::Away.begin() / SECOND);
        if is_older && self.random.bool() {
            Phase::Away.begin()
        } else {
            Phase::Back.begin() + self.random.u32(0..5 * MINUTE)
        }
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.begun.len()).unwrap_or(u32::MAX)
    }

    /// Those that are begun in this second. They are due after ten more, as the interface says.
    pub(super) fn begin_new(&mut self, second: u32) -> Vec<u32> {
        self.owed += self.per_second;
        let mut new = Vec::new();
        while self.owed >= 1.0 {
            self.owed -= 1.0;
            let step = second * SECOND + self.random.u32(0..SECOND);
            // As the others: two of three stay open.
            let pays = self.random.u32(0..3) == 0;
            let ends = if pays { step + self.random.u32(SECOND..2 * PAYING * SECOND) } else { NEVER };
            new.push(self.add(i32::try_from(second).unwrap_or(0), ends, step + 10 * SECOND, Class::Fresh));
        }
        new
    }

    /// Those that end in this second, and of which the gateway says so by a callback: nine in ten.
    pub(super) fn called_back(&mut self, second: u32) -> (u32, Vec<u32>) {
        let ended = self.ending.get_mut(second as usize).map(std::mem::take).unwrap_or_default();
        let count = u32::try_from(ended.len()).unwrap_or(u32::MAX);
        let is_away = Phase::at(second * SECOND) == Phase::Away;
        let heard = ended.into_iter().filter(|_| !is_away && self.random.u32(0..10) > 0).collect();
        (count, heard)
    }

    pub(super) fn has_ended(&self, id: u32, step: Step) -> bool {
        self.ends[id as usize] <= step
    }

    pub(super) fn ended_before_return(&self, id: u32) -> bool {
        self.ends[id as usize] < Phase::Back.begin()
    }

    pub(super) fn age_ms(&self, id: u32, step: Step) -> Millis {
        Millis::from(step) * STEP_MS - Millis::from(self.begun[id as usize]) * 1000
    }

    pub(super) fn random(&mut self) -> u32 {
        self.random.u32(..)
    }
}
