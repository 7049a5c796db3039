//! The inputs of a recovery: entries of the journal, which it reads repeatedly, and the gateway's answers.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    error::PaymentError,
    journal::{
        AfterEnd, EntryQueries, Journal, RecoveryLock, UnfinishedEntries,
        entry::{JournalEntry, JournalState, Unfinished},
    },
    payment_ref::{PaymentKind, PaymentRef},
    pipeline::{
        attempts::Limits,
        engine::Engine,
        journaling::run_blocking,
        log::{Event, EventDetails, running_call},
    },
    status::{
        check::check,
        recovery::policy::{Due, RecoveryPolicy, claims_to_query, interval_at},
        verdict::Verdict,
    },
    transport::after,
};

/// How many entries are read from the disk at once.
const PAGE: usize = 64;

/// How long a payer may take to type a code. The interface does not say; a wallet's code is valid for three minutes.
const TIME_FOR_A_CODE: Duration = Duration::from_secs(5 * 60);

/// The source of queries and pages. They hold this and not `Shared`, which holds them: it would never be dropped.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) engine: Arc<Engine>,
    pub(super) journal: Journal,
    pub(super) policy: RecoveryPolicy,
}

pub(super) struct Page {
    pub(super) lock: Arc<RecoveryLock>,
    pub(super) items: Vec<Unfinished>,
    pub(super) failure: Option<PaymentError>,
    /// `None` if it was the last page.
    pub(super) rest: Option<UnfinishedEntries>,
}

/// The answer to one query.
pub(super) struct QueryAnswer {
    pub(super) due: Due,
    pub(super) started: Instant,
    pub(super) answer: Result<Verdict, PaymentError>,
    /// Set if it was rejected before.
    pub(super) after_end: Option<AfterEnd>,
    /// The entry after the query.
    pub(super) entry: Box<JournalEntry>,
    /// Whether it has waited so long for the payer's code that the payer has left: see [`Source::is_abandoned`].
    pub(super) is_abandoned: bool,
}

/// The result of one query, or why none was sent.
pub(super) enum QueryResult {
    Answered(Box<QueryAnswer>),
    /// Another process has recorded the charge, so no query is needed.
    Charged(Box<JournalEntry>),
    /// Another process has finished it.
    Gone(String),
    /// The journal could not be read just now.
    Later(Due),
    /// It was rejected, and is queried again later.
    NotYet(Due),
}

impl Source {
    /// Waits until no other process recovers, and reads the first page; `None` if that takes until the deadline.
    pub(super) async fn begin(self, deadline: Instant) -> Result<Option<Page>, PaymentError> {
        let transport = self.engine.transport();
        let mut has_said_so = false;
        loop {
            let journal = self.journal.clone();
            if let Some(lock) = self.on_disk(move || journal.lock_for_recovery()).await? {
                let unfinished = self.journal.unfinished_and_rejected();
                return self.read_on(Arc::new(lock), unfinished).await;
            }
            if !std::mem::replace(&mut has_said_so, true) {
                let journal = self.journal.folder().display().to_string();
                let details = EventDetails::WaitsForRecovery { journal };
                Event { call: running_call(), endpoint: "recover", order: None, details }.record();
            }
            let now = transport.now();
            if now >= deadline {
                return Ok(None);
            }
            transport.sleep_until(after(now, self.policy.interval).min(deadline)).await;
        }
    }

    pub(super) async fn read_on(
        self,
        lock: Arc<RecoveryLock>,
        mut rest: UnfinishedEntries,
    ) -> Result<Option<Page>, PaymentError> {
        let read = move || {
            let (mut items, mut failure) = (Vec::new(), None);
            for item in rest.by_ref().take(PAGE) {
                match item {
                    Ok(item) => items.push(item),
                    Err(problem) => {
                        failure = Some(problem);
                        break;
                    }
                }
            }
            let is_whole = items.len() == PAGE && failure.is_none();
            Ok(Page { lock, items, failure, rest: is_whole.then_some(rest) })
        };
        self.on_disk(read).await.map(Some)
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PaymentError> + Send + 'static,
    ) -> Result<T, PaymentError> {
        let interrupted = || Err(PaymentError::unavailable("the journal was interrupted inside the SDK"));
        run_blocking(self.engine.transport(), work).await.unwrap_or_else(interrupted)
    }

    /// Queries one payment, unless another process has finished it in the meantime.
    pub(super) async fn query(self, due: Due, deadline: Instant) -> QueryResult {
        let started = self.engine.transport().now();
        let EntryQueries { entry, payments, after_end, .. } = match self.queries(&due.id).await {
            Ok(Some(known)) if known.entry.state == JournalState::Charged => {
                return QueryResult::Charged(Box::new(known.entry));
            }
            Ok(Some(known)) => known,
            Ok(None) => return QueryResult::Gone(due.id),
            Err(_) => return QueryResult::Later(Due { at: after(started, self.policy.interval), ..due }),
        };
        if let Some(wait) = after_end.map(|after_end| self.wait_after_end(after_end)).filter(|wait| !wait.is_zero()) {
            return QueryResult::NotYet(Due { at: after(started, wait), ..due });
        }
        let answer = self.answer(&entry.payment, claims_to_query(&payments, due.turn), deadline).await;
        let is_charged = answer.as_ref().is_ok_and(Verdict::is_charged);
        let mut entry = Box::new(entry);
        let mut is_abandoned = false;
        match self.queries(&due.id).await {
            // Another process may have recorded a charge or begun a confirmation in the meantime.
            Ok(Some(known)) => {
                is_abandoned = known.is_unconfirmed && self.is_abandoned(&known.entry, &answer);
                entry = Box::new(known.entry);
            }
            // A charge is listed until it is finished, so another process has delivered it.
            Ok(None) if is_charged => return QueryResult::Gone(due.id),
            Ok(None) | Err(_) => {}
        }
        let due = due.next_turn();
        QueryResult::Answered(Box::new(QueryAnswer { due, started, answer, after_end, entry, is_abandoned }))
    }

    /// Whether the payer has left a payment without a sent confirmation: no money can move without the code, the gateway itself reports
    /// that the payment is pending, and codes are valid for minutes.
    fn is_abandoned(&self, entry: &JournalEntry, answer: &Result<Verdict, PaymentError>) -> bool {
        let age = self.journal.now().duration_since(entry.begun).unwrap_or_default();
        let needs_a_code = matches!(entry.payment.kind, PaymentKind::Mbank | PaymentKind::Megapay);
        let is_pending = entry.state == JournalState::Pending && matches!(answer, Ok(Verdict::Pending { .. }));
        needs_a_code && is_pending && age >= TIME_FOR_A_CODE
    }

    /// Queries each claimed number of a payment until one is charged.
    async fn answer(
        &self,
        own: &PaymentRef,
        payments: Vec<PaymentRef>,
        deadline: Instant,
    ) -> Result<Verdict, PaymentError> {
        let mut answer = Ok(Verdict::unverifiable(own.clone(), "the payment has no number to query by", None));
        for payment in payments {
            let time_left = deadline.saturating_duration_since(self.engine.transport().now());
            let limits = Limits { deadline: self.engine.limits().deadline.min(time_left), retries: 0, detached: true };
            answer = check(&self.engine, &payment, limits).await;
            if answer.as_ref().is_ok_and(Verdict::is_charged) {
                break;
            }
        }
        answer
    }

    async fn queries(&self, id: &str) -> Result<Option<EntryQueries>, PaymentError> {
        let (journal, id) = (self.journal.clone(), id.to_owned());
        self.on_disk(move || journal.queries(&id)).await
    }

    /// Where to begin among many claimed numbers: at random, so that short recoveries also reach all of them.
    pub(super) fn first_turn(&self) -> usize {
        let random = self.engine.transport().jitter(Duration::from_millis(u64::from(u16::MAX)));
        usize::try_from(random.as_millis()).unwrap_or_default()
    }

    /// How long to wait until a rejected payment is queried again.
    pub(super) fn wait_after_end(&self, after_end: AfterEnd) -> Duration {
        after_end.next(self.policy.interval).duration_since(self.journal.now()).unwrap_or_default()
    }

    /// With jitter, so that payments that began together are not always queried together. A mismatch may be one wrong response, so it is
    /// queried again soon.
    pub(super) fn interval_of(&self, due: &Due) -> Duration {
        let age = self.journal.now().duration_since(due.begun).unwrap_or_default();
        let interval = match due.mismatches {
            0 => interval_at(age, self.policy.interval),
            _ => self.policy.interval,
        };
        interval.saturating_add(self.engine.transport().jitter(interval / 10))
    }
}

// Repeated reading of the journal (polling), for payments that were begun since.

/// The pause after a scan, as a multiple of the scan's duration, so that a full journal does not keep the disk busy.
const PAUSE_PER_READING: u32 = 10;

/// The state of an entry in this recovery.
enum Known {
    Polled,
    Reported(JournalState),
    ReportedUnreadable,
}

/// The results of earlier scans of the journal.
#[derive(Default)]
pub(super) struct Rescan {
    /// The entries of the last scan.
    known: HashMap<String, Known>,
    /// The entries of the current scan.
    seen: HashSet<String>,
    /// When the current scan began.
    begun: Option<Instant>,
    at: Option<Instant>,
}

impl Rescan {
    /// The time of the next scan.
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

    /// Whether an entry needs processing: it is new, or it has changed since the last scan.
    pub(super) fn is_new(&mut self, item: &Unfinished) -> bool {
        let (id, state) = match item {
            Unfinished::Payment { entry } => (&entry.id, Some(entry.state)),
            Unfinished::Unreadable { id, .. } => (id, None),
        };
        self.seen.insert(id.clone());
        let is_charged = state == Some(JournalState::Charged);
        let is_new = match self.known.get(id) {
            None => true,
            // It was rejected or mismatched, so it is not polled any more.
            Some(Known::Reported(state)) => is_charged && *state != JournalState::Charged,
            // Reading may have failed only once.
            Some(Known::ReportedUnreadable) => state.is_some(),
            // A callback, or another process, has found its charge: it does not wait for the next poll.
            Some(Known::Polled) => is_charged,
        };
        if is_new {
            let known = match state {
                // A rejected payment is polled, too, and another process may find its charge.
                Some(end @ (JournalState::Charged | JournalState::Rejected)) => Known::Reported(end),
                Some(_) => Known::Polled,
                None => Known::ReportedUnreadable,
            };
            self.known.insert(id.clone(), known);
        }
        is_new
    }

    /// Whether its charge was reported already.
    pub(super) fn has_reported_charge(&self, id: &str) -> bool {
        matches!(self.known.get(id), Some(Known::Reported(JournalState::Charged)))
    }

    pub(super) fn has_ended(&mut self, entry: &JournalEntry) {
        if let Some(known) = self.known.get_mut(&entry.id) {
            *known = Known::Reported(entry.state);
        }
    }

    /// Another process has finished it, and it is no longer polled. It may come back.
    pub(super) fn has_gone(&mut self, id: &str) {
        self.known.remove(id);
    }

    /// Forgets entries that are gone. An entry that comes back, charged after it was finished, is new.
    pub(super) fn read_through(&mut self, now: Instant, interval: Duration) {
        let seen = std::mem::take(&mut self.seen);
        self.known.retain(|id, _| seen.contains(id));
        let took = self.begun.map_or(Duration::ZERO, |begun| now.saturating_duration_since(begun));
        self.at = Some(after(now, interval.max(took.saturating_mul(PAUSE_PER_READING))));
    }
}
