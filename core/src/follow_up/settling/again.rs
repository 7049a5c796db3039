//! Reading the journal again and again (polling), for payments that were begun since.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    journal::entry::{JournalEntry, JournalState, Unfinished},
    transport::after,
};

/// Reading all of it may take at most this part of the time.
const PART: u32 = 10;

/// What is known of earlier readings.
#[derive(Default)]
pub(super) struct Again {
    /// The end that was told, or none yet, of each entry that was there when the journal was read last.
    known: HashMap<String, Option<JournalState>>,
    /// Those that are there now.
    seen: HashSet<String>,
    /// When this reading began.
    begun: Option<Instant>,
    at: Option<Instant>,
}

impl Again {
    /// When to read it again.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.at.is_some_and(|at| at <= now);
        if is_due {
            (self.at, self.begun) = (None, Some(now));
        }
        is_due
    }

    /// Whether something is to be done about an entry: it was not there before, or what was known of it has changed.
    pub(super) fn is_new(&mut self, item: &Unfinished) -> bool {
        let (id, state) = match item {
            Unfinished::Payment { entry } => (&entry.id, Some(entry.state)),
            Unfinished::Unreadable { id, .. } => (id, None),
        };
        self.seen.insert(id.clone());
        match self.known.get(id) {
            None => {
                let told = state.filter(|state| *state == JournalState::Charged);
                self.known.insert(id.clone(), told);
                true
            }
            // Nobody has been told of the charge, and nobody asks about it any more.
            Some(Some(JournalState::Contradicted)) if state == Some(JournalState::Charged) => {
                self.known.insert(id.clone(), state);
                true
            }
            Some(_) => false,
        }
    }

    pub(super) fn has_ended(&mut self, entry: &JournalEntry) {
        if let Some(told) = self.known.get_mut(&entry.id) {
            *told = Some(entry.state);
        }
    }

    /// What is not there any more is forgotten, and taken up when it comes again: charged after it was finished.
    pub(super) fn read_through(&mut self, now: Instant, interval: Duration) {
        let seen = std::mem::take(&mut self.seen);
        self.known.retain(|id, _| seen.contains(id));
        let took = self.begun.map_or(Duration::ZERO, |begun| now.saturating_duration_since(begun));
        self.at = Some(after(now, interval.max(took.saturating_mul(PART))));
    }
}
