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

/// How many times as long as a reading took is waited before the next one, so that a full journal keeps no disk busy.
const PAUSE_PER_READING: u32 = 10;

/// What this recovery did about an entry.
enum Known {
    Followed,
    Reported(JournalState),
    ToldUnreadable,
}

/// What is known of earlier readings.
#[derive(Default)]
pub(super) struct Again {
    /// What was there when the journal was read last.
    known: HashMap<String, Known>,
    /// What is there now.
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

    /// Whether something is to be done about an entry: nothing was yet, or it has changed since.
    pub(super) fn is_new(&mut self, item: &Unfinished) -> bool {
        let (id, state) = match item {
            Unfinished::Payment { entry } => (&entry.id, Some(entry.state)),
            Unfinished::Unreadable { id, .. } => (id, None),
        };
        self.seen.insert(id.clone());
        let is_charged = state == Some(JournalState::Charged);
        let is_new = match self.known.get(id) {
            None => true,
            // It was rejected or mismatched, so that nobody asks about it any more.
            Some(Known::Reported(told)) => is_charged && *told != JournalState::Charged,
            // The disk may have had a bad moment.
            Some(Known::ToldUnreadable) => state.is_some(),
            Some(Known::Followed) => false,
        };
        if is_new {
            let known = match state {
                // One that was rejected is asked about, too, and may come to be charged by somebody else's question.
                Some(end @ (JournalState::Charged | JournalState::Rejected)) => Known::Reported(end),
                Some(_) => Known::Followed,
                None => Known::ToldUnreadable,
            };
            self.known.insert(id.clone(), known);
        }
        is_new
    }

    /// Whether a charge was told already.
    pub(super) fn has_told_charge(&self, id: &str) -> bool {
        matches!(self.known.get(id), Some(Known::Reported(JournalState::Charged)))
    }

    pub(super) fn has_ended(&mut self, entry: &JournalEntry) {
        if let Some(known) = self.known.get_mut(&entry.id) {
            *known = Known::Reported(entry.state);
        }
    }

    /// Somebody else has dealt with it, and it is followed no more. It may come back.
    pub(super) fn has_gone(&mut self, id: &str) {
        self.known.remove(id);
    }

    /// What is not there any more is forgotten, and taken up when it comes again: charged after it was finished.
    pub(super) fn read_through(&mut self, now: Instant, interval: Duration) {
        let seen = std::mem::take(&mut self.seen);
        self.known.retain(|id, _| seen.contains(id));
        let took = self.begun.map_or(Duration::ZERO, |begun| now.saturating_duration_since(begun));
        self.at = Some(after(now, interval.max(took.saturating_mul(PAUSE_PER_READING))));
    }
}
