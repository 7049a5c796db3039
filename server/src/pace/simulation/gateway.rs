//! The gateway, as a model: what it can take, how long it needs, and what becomes of what is too much.

use super::{MINUTE, SECOND, Size, Step};

/// What happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It takes a fifth more than the fleet may ask. A quarter of the servers dies, and comes back.
    Steady,
    /// It takes less than is due, and needs a second.
    Slow,
    /// For five minutes nothing comes back, then nobody is there.
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

/// What came back, and after which time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    pub(super) is_trouble: bool,
    pub(super) after: Step,
}

/// The deadline of a question.
const DEADLINE: Step = 30 * SECOND;
/// For so long nothing comes back before nobody is there.
const HANGS: Step = 5 * MINUTE;

pub(super) struct Gateway {
    /// Questions a step, when it is well.
    capacity: f64,
    step: Step,
    /// What it can take still, in this step.
    left: f64,
}

impl Gateway {
    pub(super) fn new(size: Size) -> Self {
        Self { capacity: 1.2 * f64::from(size.per_second) / f64::from(SECOND), step: 0, left: 0.0 }
    }

    pub(super) fn ask(&mut self, step: Step) -> Answer {
        let phase = Phase::at(step);
        let (share, after) = match phase {
            Phase::Steady | Phase::Well => (1.0, 5),
            Phase::Slow => (0.5, SECOND),
            Phase::Back => (0.5, 20),
            Phase::Away if step < Phase::Away.begin() + HANGS => return Answer { is_trouble: true, after: DEADLINE },
            Phase::Away => return Answer { is_trouble: true, after: 1 },
        };
        let capacity = self.capacity * share;
        // It keeps waiting what comes at once, up to a second's worth.
        let passed = f64::from(step - self.step);
        self.left = (self.left + passed * capacity).min(f64::from(SECOND) * capacity);
        self.step = step;
        if self.left < 1.0 {
            return Answer { is_trouble: true, after: 2 };
        }
        self.left -= 1.0;
        Answer { is_trouble: false, after }
    }
}
