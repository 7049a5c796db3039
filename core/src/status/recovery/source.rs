//! What recovery reads from the journal, again and again, and asks the gateway.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    error::PaymentError,
    journal::{
        AfterEnd, Journal, Questions, RecoveryLock, UnfinishedEntries,
        entry::{JournalEntry, JournalState, Unfinished},
    },
    payment_ref::PaymentRef,
    pipeline::{attempts::Limits, engine::Engine, journaling::run_blocking},
    status::{
        check::check,
        recovery::policy::{Due, RecoveryPolicy, claims_to_ask, interval_at},
        verdict::Verdict,
    },
    transport::after,
};

/// How many entries are read from the disk at once.
const PAGE: usize = 64;

/// What questions and pages come from. They hold this and not what is shared: that holds them, and would never be dropped.
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
    /// None where it was the last page.
    pub(super) rest: Option<UnfinishedEntries>,
}

/// What came of one question.
pub(super) struct Answered {
    pub(super) due: Due,
    pub(super) started: Instant,
    pub(super) answer: Result<Verdict, PaymentError>,
    /// Where it had been rejected before.
    pub(super) after_end: Option<AfterEnd>,
    /// As it stands afterwards.
    pub(super) entry: Box<JournalEntry>,
}

/// What a question comes to.
pub(super) enum Answer {
    Answered(Box<Answered>),
    /// Somebody else has noted its charge, so that there is nothing to ask.
    Charged(Box<JournalEntry>),
    /// Somebody else has dealt with it.
    Gone(String),
    /// The journal could not be read just now.
    Later(Due),
    /// It was rejected, and is asked about again later.
    NotYet(Due),
}

impl Source {
    /// Waits until no other process recovers, and reads the first page; nothing where that takes until the deadline.
    pub(super) async fn begin(self, deadline: Instant) -> Result<Option<Page>, PaymentError> {
        let transport = self.engine.transport();
        loop {
            let journal = self.journal.clone();
            if let Some(lock) = self.on_disk(move || journal.lock_for_recovery()).await? {
                let unfinished = self.journal.to_be_asked_about();
                return self.read_on(Arc::new(lock), unfinished).await;
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

    /// Asks about one payment, unless somebody has dealt with it meanwhile.
    pub(super) async fn ask_about(self, due: Due, deadline: Instant) -> Answer {
        let started = self.engine.transport().now();
        let Questions { entry, payments, after_end } = match self.questions(&due.id).await {
            Ok(Some(known)) if known.entry.state == JournalState::Charged => {
                return Answer::Charged(Box::new(known.entry));
            }
            Ok(Some(known)) => known,
            Ok(None) => return Answer::Gone(due.id),
            Err(_) => return Answer::Later(Due { at: after(started, self.policy.interval), ..due }),
        };
        if let Some(wait) = after_end.map(|after_end| self.wait_after_end(after_end)).filter(|wait| !wait.is_zero()) {
            return Answer::NotYet(Due { at: after(started, wait), ..due });
        }
        let answer = self.answer(&entry.payment, claims_to_ask(&payments, due.turn), deadline).await;
        let is_charged = answer.as_ref().is_ok_and(Verdict::is_charged);
        let mut entry = Box::new(entry);
        match self.questions(&due.id).await {
            // Somebody else may have noted a charge meanwhile.
            Ok(Some(known)) => entry = Box::new(known.entry),
            // A charge is listed until it is finished, so somebody else has delivered it.
            Ok(None) if is_charged => return Answer::Gone(due.id),
            Ok(None) | Err(_) => {}
        }
        Answer::Answered(Box::new(Answered { due: due.next_turn(), started, answer, after_end, entry }))
    }

    /// Of several numbers that were claimed for a payment, one may have paid.
    async fn answer(
        &self,
        own: &PaymentRef,
        questions: Vec<PaymentRef>,
        deadline: Instant,
    ) -> Result<Verdict, PaymentError> {
        let mut answer = Ok(Verdict::unverifiable(own.clone(), "there is nothing to ask with", None));
        for payment in questions {
            let patience = deadline.saturating_duration_since(self.engine.transport().now());
            let limits = Limits { deadline: self.engine.limits().deadline.min(patience), retries: 0, detached: true };
            answer = check(&self.engine, &payment, limits).await;
            if answer.as_ref().is_ok_and(Verdict::is_charged) {
                break;
            }
        }
        answer
    }

    async fn questions(&self, id: &str) -> Result<Option<Questions>, PaymentError> {
        let (journal, id) = (self.journal.clone(), id.to_owned());
        self.on_disk(move || journal.questions(&id)).await
    }

    /// Where to begin among many numbers that were claimed: at random, so that recoveries that are short come to all of them, too.
    pub(super) fn first_turn(&self) -> usize {
        let random = self.engine.transport().jitter(Duration::from_millis(u64::from(u16::MAX)));
        usize::try_from(random.as_millis()).unwrap_or_default()
    }

    /// How long to wait until a rejected payment is asked about again.
    pub(super) fn wait_after_end(&self, after_end: AfterEnd) -> Duration {
        after_end.next(self.policy.interval).duration_since(self.journal.now()).unwrap_or_default()
    }

    /// With jitter, so that what began together is not asked about together for ever. A mismatch may be one odd
    /// response, so it is looked at again soon.
    pub(super) fn interval_of(&self, due: &Due) -> Duration {
        let age = self.journal.now().duration_since(due.begun).unwrap_or_default();
        let interval = match due.mismatches {
            0 => interval_at(age, self.policy.interval),
            _ => self.policy.interval,
        };
        interval.saturating_add(self.engine.transport().jitter(interval / 10))
    }
}

// Reading the journal again and again (polling), for payments that were begun since.

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
