//! The faults that are set, and the choice of the one to inject. Each has
//! a seeded random generator of its own, so that tests are deterministic.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use fastrand::Rng;

use crate::{
    domain::EndpointName,
    faults::{Fault, FaultError, FaultName, Moment},
};

/// A fault that was set, and how often it was injected.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveFault {
    /// The id for removing it.
    pub id: u64,
    /// The fault.
    pub fault: Fault,
    /// The number of injections.
    pub struck: u64,
}

/// The faults of a running sandbox: `sandbox.faults()`.
#[derive(Clone, Copy)]
pub struct Faults<'a> {
    set: &'a FaultSet,
}

impl<'a> Faults<'a> {
    pub(crate) fn new(set: &'a FaultSet) -> Self {
        Self { set }
    }

    /// Sets a fault and returns its id. If several apply to the same request, the first one set is injected.
    ///
    /// # Errors
    /// If it can never apply with these settings; the error lists every wrong field.
    pub fn add(&self, fault: Fault) -> Result<u64, FaultError> {
        self.set.add(fault).map(|active| active.id)
    }

    /// All faults that are set, including spent ones, in the order they were set.
    pub fn list(&self) -> Vec<ActiveFault> {
        self.set.list()
    }

    /// Removes a fault. Returns false if there is none with this id.
    pub fn remove(&self, id: u64) -> bool {
        self.set.remove(id)
    }

    /// Removes all faults.
    pub fn clear(&self) {
        self.set.clear();
    }
}

/// The faults that are set.
#[derive(Default)]
pub(crate) struct FaultSet {
    /// Checked first: if no fault is set, a request only pays for one atomic load.
    armed: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last_id: u64,
    faults: Vec<Armed>,
}

struct Armed {
    active: ActiveFault,
    random: Rng,
}

impl Armed {
    /// Draws from its own random numbers whether it is injected, so that only its seed decides.
    fn draw(&mut self) -> bool {
        let is_injected = self.active.fault.chance().is_none_or(|chance| self.random.f64() < chance);
        self.active.struck += u64::from(is_injected);
        is_injected
    }
}

/// Deterministic: a fault's own random numbers, from its seed. Faults of different names differ
/// even with the same seed; otherwise two faults without a seed would be injected in step.
fn random(fault: &Fault) -> Rng {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    Rng::with_seed(fault.seed_or_default().wrapping_add(STEP.wrapping_mul(fault.name() as u64)))
}

impl FaultSet {
    pub(crate) fn add(&self, fault: Fault) -> Result<ActiveFault, FaultError> {
        fault.check()?;
        let mut inner = self.lock();
        inner.last_id += 1;
        let active = ActiveFault { id: inner.last_id, fault, struck: 0 };
        inner.faults.push(Armed { random: random(&active.fault), active: active.clone() });
        self.armed.store(true, Ordering::Release);
        Ok(active)
    }

    pub(crate) fn list(&self) -> Vec<ActiveFault> {
        self.lock().faults.iter().map(|armed| armed.active.clone()).collect()
    }

    pub(crate) fn remove(&self, id: u64) -> bool {
        let mut inner = self.lock();
        let before = inner.faults.len();
        inner.faults.retain(|armed| armed.active.id != id);
        self.armed.store(!inner.faults.is_empty(), Ordering::Release);
        inner.faults.len() < before
    }

    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        inner.faults.clear();
        self.armed.store(false, Ordering::Release);
    }

    /// True if any fault is set.
    pub(crate) fn is_armed(&self) -> bool {
        self.armed.load(Ordering::Acquire)
    }

    /// The first fault to inject now, if any; counts it. `can` selects the applicable faults of the moment.
    pub(crate) fn inject(
        &self,
        moment: Moment,
        endpoints: &[EndpointName],
        numbers: &[String],
        can: impl Fn(FaultName) -> bool,
    ) -> Option<Fault> {
        if !self.is_armed() {
            return None;
        }
        let mut inner = self.lock();
        inner.faults.iter_mut().find_map(|armed| {
            let ActiveFault { fault, struck, .. } = &armed.active;
            let applies = fault.name().moment() == moment
                && can(fault.name())
                && !fault.is_spent_after(*struck)
                && fault.concerns(endpoints, numbers);
            (applies && armed.draw()).then(|| armed.active.fault.clone())
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
