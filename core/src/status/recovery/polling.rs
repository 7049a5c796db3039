//! The loop of a recovery: selects due payments, handles their answers, and ends the recovery.

use std::{future::poll_fn, pin::pin, sync::atomic::Ordering, task::Poll};

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::{
    Entries, Progress, Recovered, Shared,
    policy::Due,
    source::{Page, QueryAnswer, QueryResult},
};
use crate::{
    error::PaymentError,
    journal::entry::{JournalEntry, JournalState, Unfinished},
    status::{
        check::{LONGEST_REASON, reason_of},
        verdict::Verdict,
    },
    transport::after,
};

/// How many queries in a row must fail in a way that only a person can fix (wrong credentials, a wrong configuration) until the recovery
/// ends, or the payment is reported; and how many reports of one payment must be a mismatch.
const ODD_IN_A_ROW: u32 = 3;

/// The reason of a payment that its payer has left: see `Source::is_abandoned`.
const NO_CODE_WAS_SENT: &str =
    "not paid yet: no accepted code of the payer was sent, and the gateway reports that the payment is pending";

#[allow(clippy::large_enum_variant, reason = "it is moved once; by how much it is larger depends on the system")]
enum Event {
    Queried(QueryResult),
    Read(Result<Option<Page>, PaymentError>),
    Closed,
    Woken,
}

impl Shared {
    pub(super) async fn next(&self, progress: &mut Progress) -> Result<Option<Recovered>, PaymentError> {
        loop {
            if let Some(recovered) = progress.recovered.pop_front() {
                return Ok(Some(recovered));
            }
            if let Some(failure) = progress.failure.take() {
                return Err(failure);
            }
            self.source.engine.transport().check()?;
            let now = self.source.engine.transport().now();
            let deadline = *progress.deadline.get_or_insert(after(now, self.source.policy.deadline));
            let is_late = now >= deadline;
            let has_nothing_left = progress.has_nothing_left() && !self.source.policy.follow_new;
            // Queries that were sent in time end by the deadline, and may find a final status.
            let is_over = has_nothing_left || is_late && progress.queries.is_empty();
            if progress.has_ended || self.cancelled.load(Ordering::SeqCst) || is_over {
                return Ok(None);
            }
            if !is_late && !self.source.engine.is_closed() {
                self.start_queries(progress, now, deadline);
            }
            let wake_at = if is_late { None } else { self.wake_at(progress, deadline) };
            match self.event(progress, wake_at).await {
                Event::Queried(QueryResult::Answered(answer)) => self.take(progress, *answer)?,
                Event::Queried(QueryResult::Charged(entry)) => {
                    progress.may_be_answered.remove(&entry.id);
                    progress.report_end(entry);
                }
                Event::Queried(QueryResult::NotYet(due)) => {
                    progress.may_be_answered.remove(&due.id);
                    if self.source.policy.follow_new {
                        progress.waiting.push(due);
                    }
                }
                Event::Queried(QueryResult::Gone(id)) => {
                    progress.may_be_answered.remove(&id);
                    progress.rescan.has_gone(&id);
                }
                Event::Woken => {}
                Event::Closed => self.source.engine.usable()?,
                Event::Queried(QueryResult::Later(due)) => progress.waiting.push(due),
                Event::Read(page) => match page? {
                    Some(page) => self.add(progress, page, now),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Starts the queries that are due, up to the limit, and reads the next page.
    fn start_queries(&self, progress: &mut Progress, now: Instant, deadline: Instant) {
        let may_ask = progress.not_before.is_none_or(|moment| moment <= now);
        while progress.waiting.peek().is_some_and(|due| due.at <= now) {
            progress.overdue.extend(progress.waiting.pop());
        }
        while may_ask && progress.queries.len() < self.at_once() {
            let Some(due) = progress.overdue.pop() else { break };
            progress.queries.push(Box::pin(self.source.clone().query(due, deadline)));
        }
        // Even while queries run: an already charged entry must not wait for them.
        progress.entries = match std::mem::take(&mut progress.entries) {
            Entries::NotLocked => Entries::Read(Box::pin(self.source.clone().begin(deadline))),
            Entries::Locked(lock, rest) => Entries::Read(Box::pin(self.source.clone().read_on(lock, rest))),
            Entries::Done(lock) if progress.rescan.is_due(now) => Entries::Read(Box::pin(
                self.source.clone().read_on(lock, self.source.journal.unfinished_and_rejected()),
            )),
            other => other,
        };
    }

    fn at_once(&self) -> usize {
        usize::try_from(self.source.policy.at_once).unwrap_or(usize::MAX)
    }

    /// When to wake up without an event. Running queries end by the deadline by themselves.
    fn wake_at(&self, progress: &Progress, deadline: Instant) -> Option<Instant> {
        let next = if progress.queries.len() >= self.at_once() {
            None
        } else if progress.overdue.is_empty() {
            progress.waiting.peek().map(|due| progress.not_before.map_or(due.at, |moment| moment.max(due.at)))
        } else {
            progress.not_before
        };
        let rescan = progress.rescan.at().filter(|_| matches!(progress.entries, Entries::Done(_)));
        Some(next.into_iter().chain(rescan).min()?.min(deadline))
    }

    async fn event(&self, progress: &mut Progress, wake_at: Option<Instant>) -> Event {
        let mut timer = wake_at.map(|moment| self.source.engine.transport().sleep_until(moment));
        let mut woken = pin!(self.wake.notified());
        let mut closed = pin!(self.source.engine.closed());
        poll_fn(|cx| {
            // An answer that is here already counts, so it comes first.
            if let Poll::Ready(Some(result)) = progress.queries.poll_next_unpin(cx) {
                return Poll::Ready(Event::Queried(result));
            }
            if closed.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Event::Closed);
            }
            if let Entries::Read(page) = &mut progress.entries
                && let Poll::Ready(page) = page.poll_unpin(cx)
            {
                return Poll::Ready(Event::Read(page));
            }
            let is_time = timer.as_mut().is_some_and(|timer| timer.poll_unpin(cx).is_ready());
            let is_time = is_time || woken.poll_unpin(cx).is_ready();
            if is_time { Poll::Ready(Event::Woken) } else { Poll::Pending }
        })
        .await
    }

    /// Adds the entries of a page: charged ones are returned, others are queried at once, and those without a number are left out.
    fn add(&self, progress: &mut Progress, page: Page, now: Instant) {
        let follow_new = self.source.policy.follow_new;
        for item in page.items {
            if !can_be_processed(&item) || follow_new && !progress.rescan.is_new(&item) {
                continue;
            }
            match item {
                Unfinished::Payment { entry } if entry.state == JournalState::Charged => {
                    progress.recovered.push_back(Recovered::Payment { entry });
                }
                Unfinished::Payment { entry } => {
                    let has_ended = entry.state == JournalState::Rejected;
                    let turn = self.source.first_turn();
                    let (begun, id) = (entry.begun, entry.id);
                    progress.may_be_answered.insert(id.clone());
                    let (mismatches, odd, odd_since, odd_is_reported) = (0, 0, None, false);
                    progress.waiting.push(Due {
                        at: now,
                        begun,
                        id,
                        has_ended,
                        turn,
                        mismatches,
                        odd,
                        odd_since,
                        odd_is_reported,
                    });
                }
                Unfinished::Unreadable { id, why } => progress.recovered.push_back(Recovered::Unreadable { id, why }),
            }
        }
        progress.failure = page.failure;
        progress.lock = Some(page.lock.clone());
        progress.entries = match page.rest {
            Some(rest) => Entries::Locked(page.lock, rest),
            None => {
                if follow_new {
                    progress.rescan.read_through(self.source.engine.transport().now(), self.source.policy.interval);
                }
                Entries::Done(page.lock)
            }
        };
    }

    /// Handles the answer to a query: a final status, or the time of the next query.
    fn take(&self, progress: &mut Progress, answered: QueryAnswer) -> Result<(), PaymentError> {
        let QueryAnswer { mut due, started, answer, after_end, mut entry, is_abandoned } = answered;
        let is_odd = matches!(answer, Err(PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. }));
        due.odd = if is_odd { due.odd + 1 } else { 0 };
        due.odd_since = if is_odd { due.odd_since.or(Some(started)) } else { None };
        // A failed connection, or an answer from a proxy, does not show that the configuration is right.
        if !is_odd && answer.as_ref().map_or_else(|error| error.code().is_some(), |verdict| verdict.report().is_some())
        {
            progress.answered_at = Some(self.source.engine.transport().now());
        }
        // Earlier answers do not count: the gateway may be gone since then.
        let others_are_answered = progress.answered_at.zip(due.odd_since).is_some_and(|(at, since)| at >= since);
        if is_odd {
            progress.may_be_answered.remove(&due.id);
        } else {
            progress.may_be_answered.insert(due.id.clone());
        }
        let is_a_mismatch = matches!(answer, Ok(Verdict::Mismatch { .. }));
        due.mismatches = if is_a_mismatch { due.mismatches + 1 } else { 0 };
        due.at = after(started, self.source.interval_of(&due));
        let reason = answer.as_ref().ok().and_then(reason_of);
        let end = match answer {
            // `Charged` is absorbing, whatever a late report contains.
            _ if entry.state == JournalState::Charged => Some(JournalState::Charged),
            Ok(Verdict::Charged { payment, .. }) => {
                entry.payment.learn_numbers(&payment);
                Some(JournalState::Charged)
            }
            // Anyone can claim a number, and on a pay-form the payer may try again.
            Ok(_) if entry.payment.has_only_a_claimed_number() => None,
            Ok(Verdict::Rejected { .. }) => Some(JournalState::Rejected),
            Ok(Verdict::Mismatch { .. }) if due.mismatches >= ODD_IN_A_ROW => Some(JournalState::Mismatch),
            Ok(_) => None,
            // The error is about closing, which is reported separately.
            Err(_) if self.source.engine.is_closed() => None,
            // All queries failed like that.
            Err(error) if due.odd >= ODD_IN_A_ROW && progress.cannot_succeed() => return Err(error),
            // The gateway may never have seen this one payment.
            Err(error) if due.odd >= ODD_IN_A_ROW && others_are_answered && !due.odd_is_reported => {
                due.odd_is_reported = true;
                if !due.has_ended {
                    let unanswered = JournalEntry { reason: Some(unanswered_reason(&error)), ..(*entry).clone() };
                    progress.recovered.push_back(Recovered::Payment { entry: unanswered.into() });
                }
                None
            }
            Err(PaymentError::Unavailable { retry_after: Some(wait), .. }) => {
                let moment = after(self.source.engine.transport().now(), wait);
                progress.not_before = progress.not_before.max(Some(moment));
                None
            }
            Err(_) => None,
        };
        due.has_ended = match end {
            Some(state) => state == JournalState::Rejected,
            None => entry.state == JournalState::Rejected,
        };
        // It stays unfinished, for the next recovery. A recovery with `follow_new` continues to poll it, less often with age.
        let is_set_aside = is_abandoned && end.is_none() && !self.source.policy.follow_new;
        match end {
            // It was reported before.
            Some(JournalState::Rejected) if after_end.is_some() => {}
            Some(state) => {
                // Recording it in the journal may have failed.
                entry.reason = if entry.state == state { entry.reason } else { reason };
                entry.state = state;
                progress.report_end(entry);
            }
            None if is_set_aside => {
                entry.reason = Some(NO_CODE_WAS_SENT.to_owned());
                progress.recovered.push_back(Recovered::Payment { entry });
            }
            None => {}
        }
        let goes_on = due.has_ended || end.is_none();
        let is_reported = due.has_ended || due.odd_is_reported || is_set_aside;
        if goes_on && (self.source.policy.follow_new || !is_reported) {
            progress.waiting.push(due);
        } else {
            progress.may_be_answered.remove(&due.id);
        }
        Ok(())
    }
}

/// Why the gateway gave no answer. Not the whole error: its "nothing happened" is about the query.
fn unanswered_reason(error: &PaymentError) -> String {
    let detail = match error {
        PaymentError::Misconfigured { detail, .. } | PaymentError::Unauthorized { detail, .. } => detail.as_str(),
        _ => "",
    };
    format!("the gateway does not answer about it: {detail}").chars().take(LONGEST_REASON).collect()
}

/// Whether an entry can be queried or returned.
fn can_be_processed(item: &Unfinished) -> bool {
    match item {
        Unfinished::Payment { entry } => entry.state == JournalState::Charged || entry.payment.can_be_checked(),
        Unfinished::Unreadable { .. } => true,
    }
}
