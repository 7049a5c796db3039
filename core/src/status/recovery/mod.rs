//! Recovery: polls every unfinished payment of a journal until it is final, several at a time, older ones less often.

mod policy;
mod polling;
mod source;

use std::{
    collections::{BinaryHeap, HashSet, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{
    Stream,
    stream::{self, FuturesUnordered},
};
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};

use crate::{
    error::PaymentError,
    journal::{
        RecoveryLock, UnfinishedEntries,
        entry::{JournalEntry, JournalState},
    },
    pipeline::engine::{EndsAtClose, Engine},
    status::GivenBack,
    transport::{Boxed, after},
};

pub use policy::RecoveryPolicy;
use policy::{Due, Overdue};
use source::{Page, QueryResult, Rescan, Source};

/// A result of [`Recovery`]: a payment with a final status, or an entry that only a person can read.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovered {
    /// A payment that is [`Charged`](JournalState::Charged) (deliver, then finish its entry), [`Rejected`](JournalState::Rejected) (no
    /// money was taken; its entry is no longer listed), or [`Mismatch`](JournalState::Mismatch) (for a person). **A rejected payment may be
    /// returned again, as charged**: a gateway may correct its report. A payment that is still [`Unknown`](JournalState::Unknown) or
    /// [`Pending`](JournalState::Pending) is for a person, too: the gateway answers about other payments, but returned an error about this
    /// one three times in a row. The entry's reason has the error. The gateway may never have seen the payment. It stays unfinished. So
    /// does a payment that waits for the payer's code (MBank, MegaPay) for more than five minutes: it is returned as `Pending` if no
    /// confirmation that may have taken effect was sent and the gateway reports that it is pending, so that it does not hold a recovery
    /// without [`follow_new`](RecoveryPolicy::follow_new).
    Payment {
        /// Its entry. Its state is the result.
        entry: Box<JournalEntry>,
    },
    /// An entry that cannot be read, as [`Unfinished::Unreadable`](crate::Unfinished::Unreadable).
    Unreadable {
        /// The file's name.
        id: String,
        /// The problem.
        why: String,
    },
}

/// Polls the payments that were unfinished in a gateway's journal when it began, each until it is final; with
/// [`RecoveryPolicy::follow_new`] also later ones. Created by [`Gateway::recover`](crate::Gateway::recover).
///
/// An already charged payment is returned at once, without a query. A payment that is still pending when the policy's deadline passes stays
/// unfinished, for the next recovery; so does a payment without a number to query by.
///
/// **Of all processes that share the folder, one recovers at a time**; the others wait until it ends or dies, so that
/// no two of them deliver the same goods. Still, delivery must be idempotent: a process may die between delivering and
/// finishing.
///
/// Closing the gateway ends the recovery at once, also in the middle of a wait or a query, and lets other processes recover. If it has
/// returned a result, which may be in delivery, other processes can recover only after [`next`](Self::next) is called again, or the recovery
/// is cancelled or dropped.
/// Payments that were final before are still returned.
///
/// Take the results one by one with [`next`](Self::next), or as a [`stream`](Self::stream). Between calls it sends no
/// new query. Clones are the same recovery. The methods are cancellation safe: if a future is dropped, the next one
/// returns its result.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Recovery {
    shared: Arc<Shared>,
}

/// The shared state of a recovery's clones.
struct Shared {
    source: Source,
    cancelled: AtomicBool,
    /// See [`Recovery::hold_lock`].
    holds_lock: AtomicBool,
    wake: Notify,
    progress: Mutex<Progress>,
    given_back: GivenBack<Result<Recovered, PaymentError>>,
}

/// The state of a recovery.
#[derive(Default)]
struct Progress {
    deadline: Option<Instant>,
    entries: Entries,
    rescan: Rescan,
    waiting: BinaryHeap<Due>,
    overdue: Overdue,
    queries: FuturesUnordered<Boxed<QueryResult>>,
    /// No query before that, as the gateway requested (`Retry-After`).
    not_before: Option<Instant>,
    recovered: VecDeque<Recovered>,
    /// When the gateway itself last answered a query in a way that needs no person. An error about one payment after that is a problem of
    /// that payment, and not of the configuration.
    answered_at: Option<Instant>,
    /// The payments that may still get such an answer: the last answer about them needed no person, or they were not queried yet.
    may_be_answered: HashSet<String>,
    /// The error to return after everything in `recovered`.
    failure: Option<PaymentError>,
    has_ended: bool,
    /// While a caller may deliver a result, other processes must not recover, although this recovery may have ended.
    lock: Option<Arc<RecoveryLock>>,
    /// Since when the caller has a result. While it is delivered, nothing is polled, so a recovery that goes through the journal once does
    /// not count that time towards its deadline.
    in_hand_since: Option<Instant>,
}

/// Reading the entries of the journal. Another process may have to end its recovery first.
#[derive(Default)]
enum Entries {
    #[default]
    NotLocked,
    /// A page is being read.
    Read(Boxed<Result<Option<Page>, PaymentError>>),
    Locked(Arc<RecoveryLock>, UnfinishedEntries),
    /// All are read.
    Done(Arc<RecoveryLock>),
}

impl Recovery {
    pub(crate) fn new(engine: Arc<Engine>, policy: RecoveryPolicy) -> Result<Self, PaymentError> {
        policy.check()?;
        let journal = engine.required_journal()?.clone();
        let shared = Arc::new(Shared {
            source: Source { engine: engine.clone(), journal, policy },
            cancelled: AtomicBool::new(false),
            holds_lock: AtomicBool::new(false),
            wake: Notify::new(),
            progress: Mutex::default(),
            given_back: GivenBack::default(),
        });
        let listener: Weak<Shared> = Arc::downgrade(&shared);
        engine.tell_of_close(listener);
        Ok(Self { shared })
    }
}

impl Recovery {
    /// Waits for the next result; `None` if no payment is left to poll, at the policy's deadline (also if another
    /// process recovered all the time), or if it was cancelled.
    ///
    /// # Errors
    /// Once, as the last thing: [`PaymentError::Unauthorized`] and [`PaymentError::Misconfigured`] if further queries are useless (every
    /// payment got such an error, one of them three times in a row, and none got an answer from the gateway itself; or the gateway was
    /// closed), [`PaymentError::Unavailable`] if the journal cannot be read. An error says nothing about a payment.
    pub async fn next(&self) -> Result<Option<Recovered>, PaymentError> {
        // Dropped after the guard of the progress below.
        let _release = ReleaseIfStopped(&self.shared);
        let mut progress = self.shared.progress.lock().await;
        let in_hand = progress.take_out_of_hand(self.shared.source.engine.transport().now());
        if let Some(deadline) = progress.deadline.as_mut().filter(|_| !self.shared.source.policy.follow_new) {
            *deadline = after(*deadline, in_hand);
        }
        let next = match self.shared.given_back.pop() {
            Some(given_back) => given_back.map(Some),
            None => self.shared.next(&mut progress).await,
        };
        if matches!(next, Ok(Some(_))) {
            progress.in_hand_since = Some(self.shared.source.engine.transport().now());
        } else {
            progress.end(self.shared.holds_lock());
        }
        next
    }

    /// Takes back a result that reached no caller: the next call of [`next`](Self::next) returns it.
    #[cfg(feature = "uniffi")]
    pub(crate) fn give_back(&self, next: Result<Recovered, PaymentError>) {
        self.shared.given_back.push(next);
        if let Ok(mut progress) = self.shared.progress.try_lock() {
            progress.in_hand_since = None;
        }
        self.shared.release_if_stopped();
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Recovery {
    /// Keeps other processes from recovering until this is cancelled or dropped: also after its end, and after the gateway was closed. For
    /// a worker that takes the next result before it has delivered the previous one. Call it before [`next`](Self::next).
    pub fn hold_lock(&self) {
        self.shared.holds_lock.store(true, Ordering::SeqCst);
    }

    /// Stops polling, from any thread, and lets other processes recover: do not call it while you deliver. [`next`](Self::next) then
    /// has no further result.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::SeqCst);
        self.shared.release_if_stopped();
        self.shared.wake.notify_one();
    }
}

impl Recovery {
    /// The results as a stream.
    pub fn stream(&self) -> impl Stream<Item = Result<Recovered, PaymentError>> + Send + Unpin + 'static {
        Box::pin(stream::unfold(self.clone(), |recovery| async move {
            let recovered = recovery.next().await.transpose()?;
            Some((recovered, recovery))
        }))
    }
}

impl std::fmt::Debug for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recovery").field("policy", &self.shared.source.policy).finish_non_exhaustive()
    }
}

impl Progress {
    fn has_nothing_left(&self) -> bool {
        let is_read = matches!(self.entries, Entries::Done(_));
        is_read && self.waiting.is_empty() && self.overdue.is_empty() && self.queries.is_empty()
    }

    /// Whether further queries are useless: every query got such an error, and no other answer can come.
    fn cannot_succeed(&self) -> bool {
        self.answered_at.is_none() && self.may_be_answered.is_empty()
    }

    fn report_end(&mut self, entry: Box<JournalEntry>) {
        // A rejected payment is queried while the journal is scanned again, and both may find its charge.
        if entry.state == JournalState::Charged && self.rescan.has_reported_charge(&entry.id) {
            return;
        }
        self.rescan.has_ended(&entry);
        self.recovered.push_back(Recovered::Payment { entry });
    }

    /// The caller wants the next result: for how long it had the last one.
    fn take_out_of_hand(&mut self, now: Instant) -> Duration {
        self.in_hand_since.take().map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Ends the recovery: no more queries, and other processes may recover, unless the lock is held.
    fn end(&mut self, holds_lock: bool) {
        let lock = self.lock.take().filter(|_| holds_lock);
        *self = Self { has_ended: true, lock, ..Self::default() };
    }

    /// The gateway was closed: no more queries, but payments with a final status are still returned, as a rejection is returned only once.
    fn close(&mut self, holds_lock: bool) {
        let (recovered, failure) = (std::mem::take(&mut self.recovered), self.failure.take());
        let lock = self.lock.take().filter(|_| holds_lock || self.in_hand_since.is_some());
        let (has_ended, in_hand_since) = (self.has_ended, self.in_hand_since);
        *self = Self { recovered, failure, has_ended, lock, in_hand_since, ..Self::default() };
    }
}

/// Releases the lock at the end of a wait. While a caller waits in `next`, `cancel` and closing the gateway cannot.
struct ReleaseIfStopped<'a>(&'a Shared);

impl Drop for ReleaseIfStopped<'_> {
    fn drop(&mut self) {
        self.0.release_if_stopped();
    }
}

impl EndsAtClose for Shared {
    fn end_at_close(&self) {
        self.release_if_stopped();
    }
}

impl Shared {
    /// Lets another process recover at once, even if `next` is not called again. If a caller waits in `next`, that caller does this at the
    /// end.
    fn release_if_stopped(&self) {
        let is_cancelled = self.cancelled.load(Ordering::SeqCst);
        if (is_cancelled || self.source.engine.is_closed())
            && let Ok(mut progress) = self.progress.try_lock()
        {
            if is_cancelled { progress.end(false) } else { progress.close(self.holds_lock()) }
        }
    }

    fn holds_lock(&self) -> bool {
        self.holds_lock.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests;
