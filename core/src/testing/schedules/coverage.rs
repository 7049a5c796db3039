//! Which operations met which faults.

use std::collections::HashMap;

use strum::VariantArray;

use super::fault::Fault;
use crate::operations::ENDPOINTS;

/// How often an operation has to meet a fault, with a caller who waits and with one who gives up.
const OFTEN_ENOUGH: u32 = 20;
/// The same in fewer schedules, with either caller.
const AT_LEAST: u32 = 5;

/// An operation, a fault, and whether the caller gave up.
type Meeting = (&'static str, Fault, bool);

#[derive(Debug, Default, PartialEq)]
pub(super) struct Coverage(HashMap<Meeting, u32>);

impl Coverage {
    pub(super) fn count(&mut self, meeting: Meeting) {
        *self.0.entry(meeting).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: Self) {
        for (meeting, count) in other.0 {
            *self.0.entry(meeting).or_default() += count;
        }
    }

    /// Each operation met each fault.
    pub(super) fn check_faults(&self) {
        for endpoint in ENDPOINTS.map(|endpoint| endpoint.name) {
            for fault in Fault::VARIANTS.iter().copied() {
                let count: u32 = [false, true].map(|gave_up| self.times(endpoint, fault, gave_up)).iter().sum();
                assert!(count >= AT_LEAST, "{endpoint} met {fault:?} only {count} times");
            }
        }
    }

    /// The same often, with a caller who waits and with one who gives up.
    pub(super) fn check_callers(&self) {
        for endpoint in ENDPOINTS.map(|endpoint| endpoint.name) {
            for fault in Fault::VARIANTS.iter().copied() {
                for gave_up in [false, true] {
                    let count = self.times(endpoint, fault, gave_up);
                    assert!(count >= OFTEN_ENOUGH, "{endpoint} met {fault:?} (gave up: {gave_up}) only {count} times");
                }
            }
        }
    }

    fn times(&self, endpoint: &'static str, fault: Fault, gave_up: bool) -> u32 {
        self.0.get(&(endpoint, fault, gave_up)).copied().unwrap_or_default()
    }
}
