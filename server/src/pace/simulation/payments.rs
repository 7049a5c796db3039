//! The payments: when each began, when the gateway knows its end, when it is due.

use fastrand::Rng;

use super::{MINUTE, SECOND, STEP_MS, Size, Step, gateway::Phase};
use crate::{pace::schedule::Class, values::Millis};

/// It is asked about no more.
pub(super) const NEVER: Step = Step::MAX;

/// None is older than three days in the end: from then on it is asked about daily, and is for a person.
const OLDEST: u32 = 3 * 24 * 3600 - Phase::END / SECOND;
/// How long the payers of new payments need, most of the time.
const PAYING: u32 = 3 * 60;

/// All of them, a column for each property.
pub(super) struct Payments {
    /// In seconds, before the beginning below 0.
    begun: Vec<i32>,
    ends: Vec<Step>,
    pub(super) due: Vec<Step>,
    pub(super) class: Vec<u8>,
    /// Who ends in which second.
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
            let first = u32::try_from(super::super::schedule::interval_at(Millis::from(age) * 1000) / STEP_MS);
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

    /// While the gateway is away nobody can pay there: some have, just before, and others do as soon as it is back.
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
