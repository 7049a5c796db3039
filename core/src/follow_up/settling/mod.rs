//! Settling: follows everything that a journal has not done with to its end, some payments at once, older ones less
//! often.

mod schedule;

use std::{
    collections::{BinaryHeap, VecDeque},
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{FutureExt as _, Stream, StreamExt as _, stream, stream::FuturesUnordered};
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};

use crate::{
    exchange::{attempts::Limits, engine::Engine, written_down::apart},
    follow_up::{check::check, verdict::Verdict},
    journal::{
        Journal, SettlingLock, UnfinishedEntries,
        entry::{JournalEntry, JournalState, Unfinished},
    },
    transport::{Boxed, after},
    values::{error::PaymentError, payment_ref::PaymentRef, rules::Checks, violation::Rule},
};

use schedule::{Due, interval_at};

/// How [`Gateway::settle`](crate::Gateway::settle) follows payments.
///
/// ```
/// use std::time::Duration;
/// use kassa::SettlePolicy;
///
/// // Once through, at a start, and not for long.
/// let policy = SettlePolicy::default().with_deadline(Duration::from_secs(30));
/// assert_eq!((policy.interval, policy.at_once), (Duration::from_secs(10), 8));
/// ```
///
/// Source: every 10 seconds until Reject or Charge (`docs/interface.md#polling`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettlePolicy {
    /// The time from the start of one question about a payment to the start of the next, while the payment is younger
    /// than 20 minutes. 10 s unless set. Older ones are asked about less often: up to 2 hours of age a sixth as often, to
    /// a day a sixtieth, to three days every 360th time, then every 8640th: daily.
    #[cfg_attr(feature = "serde", serde(rename = "interval_ms", with = "crate::values::serialized::milliseconds"))]
    pub interval: Duration,
    /// How long to go on. 20 minutes unless set.
    #[cfg_attr(feature = "serde", serde(rename = "deadline_ms", with = "crate::values::serialized::milliseconds"))]
    pub deadline: Duration,
    /// How many payments are asked about at the same time. 8 unless set.
    pub at_once: u32,
}

impl SettlePolicy {
    /// The same with another time between two questions about a young payment.
    #[must_use]
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The same with another time to go on.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// The same with another number of payments that are asked about at the same time.
    #[must_use]
    pub fn with_at_once(self, at_once: u32) -> Self {
        Self { at_once, ..self }
    }

    fn check(&self) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        for (field, value) in [("interval", self.interval), ("deadline", self.deadline)] {
            if value.is_zero() {
                checks.fail(field, Rule::Minimum, None, "must be longer than zero");
            }
        }
        if self.at_once == 0 {
            checks.fail("at_once", Rule::Minimum, Some("1"), "must be at least 1");
        }
        checks.finish()
    }
}

impl Default for SettlePolicy {
    fn default() -> Self {
        Self { interval: Duration::from_secs(10), deadline: Duration::from_secs(20 * 60), at_once: 8 }
    }
}

/// What [`Settling`] brings: a payment that has come to its end, or an entry that only a person can read.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Settled {
    /// A payment that is [`Charged`](JournalState::Charged) (deliver, then finish its entry),
    /// [`Rejected`](JournalState::Rejected) (nothing was taken, and its entry is put away already), or
    /// [`Contradicted`](JournalState::Contradicted) (for a person).
    Payment {
        /// Its entry. The state says how it ended.
        entry: Box<JournalEntry>,
    },
    /// An entry that cannot be read, as [`Unfinished::Unreadable`].
    Unreadable {
        /// The file's name.
        id: String,
        /// What is wrong with it.
        why: String,
    },
}

/// How many entries are read from the disk at once.
const PAGE: usize = 64;

/// How many questions in a row must end in what only a person can mend (wrong credentials, a wrong configuration)
/// before the settling does; and how many reports on one payment must be about something else than was asked for.
const ODD_IN_A_ROW: u32 = 3;

/// Follows what was unfinished in a gateway's journal when it began, each payment until its end. Made by
/// [`Gateway::settle`](crate::Gateway::settle).
///
/// What is charged already comes at once, without a question. A payment that is still open when the policy's deadline
/// passes stays unfinished, for the next settling; so does one that has nothing to be asked with.
///
/// **Of all processes that share the folder, one settles at a time**; another one waits until that one ends or dies, so
/// that no two of them deliver the same goods. All the same, deliver by a step that does nothing when it is repeated: a
/// process may die between delivering and finishing.
///
/// Take the ends one by one with [`next`](Self::next), or as a [`stream`](Self::stream). Between calls nothing new is
/// asked. Clones are the same settling. The methods are cancellation safe: where a future is dropped, what it brought is
/// the next one's.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Settling {
    shared: Arc<Shared>,
}

struct Shared {
    source: Source,
    cancelled: AtomicBool,
    wake: Notify,
    progress: Mutex<Progress>,
}

/// What questions and pages come from. They hold this and not what is shared: that holds them, and would never be dropped.
#[derive(Clone)]
struct Source {
    engine: Arc<Engine>,
    journal: Journal,
    policy: SettlePolicy,
}

#[derive(Default)]
struct Progress {
    deadline: Option<Instant>,
    entries: Entries,
    waiting: BinaryHeap<Due>,
    asked: FuturesUnordered<Boxed<Answer>>,
    /// The gateway wants no question before that.
    not_before: Option<Instant>,
    settled: VecDeque<Settled>,
    /// At least one question was answered in a way that needs no person.
    is_answered: bool,
    /// What comes after all that is settled.
    failure: Option<PaymentError>,
    has_ended: bool,
}

/// The entries that are still to be read. Another process may have to end first.
#[derive(Default)]
enum Entries {
    #[default]
    NotLocked,
    /// Under way.
    Read(Boxed<Result<Option<Page>, PaymentError>>),
    Locked(Arc<SettlingLock>, UnfinishedEntries),
    /// None are left. The lock is kept until the end.
    Done(#[expect(dead_code, reason = "held for its drop")] Arc<SettlingLock>),
}

struct Page {
    lock: Arc<SettlingLock>,
    items: Vec<Unfinished>,
    failure: Option<PaymentError>,
    /// None where it was the last page.
    rest: Option<UnfinishedEntries>,
}

/// What came of one question.
struct Asked {
    due: Due,
    started: Instant,
    answer: Result<Verdict, PaymentError>,
    /// As it stands afterwards.
    entry: Box<JournalEntry>,
}

/// What a question comes to.
enum Answer {
    Asked(Box<Asked>),
    /// Somebody else has dealt with it.
    Gone,
    /// The journal could not be read just now.
    Later(Due),
}

enum Event {
    Asked(Answer),
    Read(Result<Option<Page>, PaymentError>),
    Woken,
}

impl Settling {
    pub(crate) fn new(engine: Arc<Engine>, policy: SettlePolicy) -> Result<Self, PaymentError> {
        policy.check()?;
        let journal = engine.required_journal()?.clone();
        let (cancelled, wake, progress) = (AtomicBool::new(false), Notify::new(), Mutex::default());
        Ok(Self { shared: Arc::new(Shared { source: Source { engine, journal, policy }, cancelled, wake, progress }) })
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Settling {
    /// The next end, when it is there; `None` when nothing is left to be asked about, at the policy's deadline (also where
    /// another process settled all the time), or when it was cancelled.
    ///
    /// # Errors
    /// Once, as the last thing: [`PaymentError::Unauthorized`] and [`PaymentError::Misconfigured`] where asking on is
    /// useless (about one payment three times in a row, and no other answer came; or the gateway was closed),
    /// [`PaymentError::Unavailable`] where the journal cannot be read. None of them says anything about a payment.
    pub async fn next(&self) -> Result<Option<Settled>, PaymentError> {
        let mut progress = self.shared.progress.lock().await;
        let next = self.shared.next(&mut progress).await;
        if !matches!(next, Ok(Some(_))) {
            progress.end();
        }
        next
    }

    /// Stops asking, from anywhere. [`next`](Self::next) is empty then.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        // Another process may settle at once, also where nobody asks this one any more.
        if let Ok(mut progress) = self.shared.progress.try_lock() {
            progress.end();
        }
        self.shared.wake.notify_one();
    }
}

impl Settling {
    /// The ends as a stream.
    pub fn stream(&self) -> impl Stream<Item = Result<Settled, PaymentError>> + Send + Unpin + 'static {
        Box::pin(stream::unfold(self.clone(), |settling| async move {
            let settled = settling.next().await.transpose()?;
            Some((settled, settling))
        }))
    }
}

impl std::fmt::Debug for Settling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settling").field("policy", &self.shared.source.policy).finish_non_exhaustive()
    }
}

impl Progress {
    fn has_nothing_left(&self) -> bool {
        let is_read = matches!(self.entries, Entries::Done(_));
        is_read && self.waiting.is_empty() && self.asked.is_empty()
    }

    /// Other processes may settle from now on, and nothing is asked any more.
    fn end(&mut self) {
        *self = Self { has_ended: true, ..Self::default() };
    }
}

impl Shared {
    async fn next(&self, progress: &mut Progress) -> Result<Option<Settled>, PaymentError> {
        loop {
            if let Some(settled) = progress.settled.pop_front() {
                return Ok(Some(settled));
            }
            if let Some(failure) = progress.failure.take() {
                return Err(failure);
            }
            self.source.engine.transport().check()?;
            let now = self.source.engine.transport().now();
            let deadline = *progress.deadline.get_or_insert(after(now, self.source.policy.deadline));
            let is_late = now >= deadline;
            // What was asked in time is answered by the deadline, and may be an end.
            let is_over = progress.has_nothing_left() || is_late && progress.asked.is_empty();
            if progress.has_ended || self.cancelled.load(Ordering::Acquire) || is_over {
                return Ok(None);
            }
            if !is_late {
                self.ask(progress, now, deadline);
            }
            let wake_at = if is_late { None } else { self.wake_at(progress, deadline) };
            match self.event(progress, wake_at).await {
                Event::Asked(Answer::Asked(asked)) => self.take(progress, *asked)?,
                Event::Asked(Answer::Gone) | Event::Woken => {}
                Event::Asked(Answer::Later(due)) => progress.waiting.push(due),
                Event::Read(page) => match page? {
                    Some(page) => self.add(progress, page, now),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Starts as many questions as are due and allowed, and reads on.
    fn ask(&self, progress: &mut Progress, now: Instant, deadline: Instant) {
        let may_ask = progress.not_before.is_none_or(|moment| moment <= now);
        while may_ask && progress.asked.len() < self.at_once() {
            let Some(due) = progress.waiting.peek().filter(|due| due.at <= now) else { break };
            let asked = self.source.clone().ask_about(due.clone(), deadline);
            progress.waiting.pop();
            progress.asked.push(Box::pin(asked));
        }
        // Whatever is asked: what is charged already must not wait for it.
        progress.entries = match std::mem::take(&mut progress.entries) {
            Entries::NotLocked => Entries::Read(Box::pin(self.source.clone().begin(deadline))),
            Entries::Locked(lock, rest) => Entries::Read(Box::pin(self.source.clone().read_on(lock, rest))),
            other => other,
        };
    }

    fn at_once(&self) -> usize {
        usize::try_from(self.source.policy.at_once).unwrap_or(usize::MAX)
    }

    /// When to look again though nothing came. What is under way ends by the deadline by itself.
    fn wake_at(&self, progress: &Progress, deadline: Instant) -> Option<Instant> {
        let next = progress.waiting.peek().filter(|_| progress.asked.len() < self.at_once())?;
        Some(progress.not_before.map_or(next.at, |moment| moment.max(next.at)).min(deadline))
    }

    async fn event(&self, progress: &mut Progress, wake_at: Option<Instant>) -> Event {
        let mut timer = wake_at.map(|moment| self.source.engine.transport().sleep_until(moment));
        let mut woken = pin!(self.wake.notified());
        poll_fn(|cx| {
            if let Poll::Ready(Some(asked)) = progress.asked.poll_next_unpin(cx) {
                return Poll::Ready(Event::Asked(asked));
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

    /// What was read is settled already, or is asked about at once, or has nothing to be asked with.
    fn add(&self, progress: &mut Progress, page: Page, now: Instant) {
        for item in page.items {
            match item {
                Unfinished::Payment { entry } if entry.state == JournalState::Charged => {
                    progress.settled.push_back(Settled::Payment { entry });
                }
                Unfinished::Payment { entry } if entry.payment.can_be_asked_about() => {
                    progress.waiting.push(Due { at: now, begun: entry.begun, id: entry.id, contradictions: 0, odd: 0 });
                }
                Unfinished::Payment { .. } => {}
                Unfinished::Unreadable { id, why } => progress.settled.push_back(Settled::Unreadable { id, why }),
            }
        }
        progress.failure = page.failure;
        progress.entries = match page.rest {
            Some(rest) => Entries::Locked(page.lock, rest),
            None => Entries::Done(page.lock),
        };
    }

    /// What a question brought: an end, or when to ask again.
    fn take(&self, progress: &mut Progress, asked: Asked) -> Result<(), PaymentError> {
        let Asked { mut due, started, answer, mut entry } = asked;
        let is_odd = matches!(answer, Err(PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. }));
        due.odd = if is_odd { due.odd + 1 } else { 0 };
        progress.is_answered |= !is_odd;
        let is_contradicted = matches!(answer, Ok(Verdict::Contradicted { .. }));
        due.contradictions = if is_contradicted { due.contradictions + 1 } else { 0 };
        due.at = after(started, self.source.interval_of(&due));
        let end = match answer {
            // Charged is absorbing, whatever a report says that came late.
            _ if entry.state == JournalState::Charged => Some(JournalState::Charged),
            Ok(Verdict::Charged { payment, .. }) => {
                entry.payment.learn_numbers(&payment);
                Some(JournalState::Charged)
            }
            // Anybody can claim a number, and on a pay-form the payer may try again.
            Ok(_) if entry.payment.has_only_a_claimed_number() => None,
            Ok(Verdict::Rejected { .. }) => Some(JournalState::Rejected),
            Ok(Verdict::Contradicted { .. }) if due.contradictions >= ODD_IN_A_ROW => Some(JournalState::Contradicted),
            Ok(_) => None,
            // A gateway may say such a thing of one payment that it does not know.
            Err(error) if due.odd >= ODD_IN_A_ROW && !progress.is_answered => return Err(error),
            Err(error) if !self.source.engine.is_usable() => return Err(error),
            Err(PaymentError::Unavailable { retry_after: Some(wait), .. }) => {
                let moment = after(self.source.engine.transport().now(), wait);
                progress.not_before = progress.not_before.max(Some(moment));
                None
            }
            Err(_) => None,
        };
        match end {
            Some(state) => {
                entry.state = state;
                progress.settled.push_back(Settled::Payment { entry });
            }
            None => progress.waiting.push(due),
        }
        Ok(())
    }
}

impl Source {
    /// Waits until no other process settles, and reads the first page; nothing where that takes until the deadline.
    async fn begin(self, deadline: Instant) -> Result<Option<Page>, PaymentError> {
        let transport = self.engine.transport();
        loop {
            let journal = self.journal.clone();
            if let Some(lock) = self.on_disk(move || journal.lock_for_settling()).await? {
                let unfinished = self.journal.unfinished();
                return self.read_on(Arc::new(lock), unfinished).await;
            }
            let now = transport.now();
            if now >= deadline {
                return Ok(None);
            }
            transport.sleep_until(after(now, self.policy.interval).min(deadline)).await;
        }
    }

    async fn read_on(self, lock: Arc<SettlingLock>, mut rest: UnfinishedEntries) -> Result<Option<Page>, PaymentError> {
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
        apart(self.engine.transport(), work).await.unwrap_or_else(interrupted)
    }

    /// Asks about one payment, unless somebody has dealt with it meanwhile.
    async fn ask_about(self, due: Due, deadline: Instant) -> Answer {
        let started = self.engine.transport().now();
        let (mut entry, questions) = match self.questions(&due.id).await {
            Ok(Some((entry, questions))) => (Box::new(entry), questions),
            Ok(None) => return Answer::Gone,
            Err(_) => return Answer::Later(Due { at: after(started, self.policy.interval), ..due }),
        };
        let answer = self.answer(&entry, questions, deadline).await;
        // Somebody else may have noted a charge meanwhile.
        if let Ok(Some((known, _))) = self.questions(&due.id).await {
            entry = Box::new(known);
        }
        Answer::Asked(Box::new(Asked { due, started, answer, entry }))
    }

    /// Of several numbers that were claimed for a payment, one may have paid.
    async fn answer(
        &self,
        entry: &JournalEntry,
        questions: Vec<PaymentRef>,
        deadline: Instant,
    ) -> Result<Verdict, PaymentError> {
        let mut answer = Ok(Verdict::unverifiable("there is nothing to ask with", None));
        for payment in questions {
            let patience = deadline.saturating_duration_since(self.engine.transport().now());
            let limits = Limits { deadline: self.engine.limits().deadline.min(patience), retries: 0 };
            answer = check(&self.engine, &payment, limits).await;
            if entry.state == JournalState::Charged || answer.as_ref().is_ok_and(Verdict::is_charged) {
                break;
            }
        }
        answer
    }

    /// The entry and what to ask with, while it is not done with.
    async fn questions(&self, id: &str) -> Result<Option<(JournalEntry, Vec<PaymentRef>)>, PaymentError> {
        let (journal, id) = (self.journal.clone(), id.to_owned());
        self.on_disk(move || journal.unfinished_questions(&id)).await
    }

    /// With jitter, so that what began together is not asked about together for ever. A contradiction may be one odd
    /// reply, so it is looked at again soon.
    fn interval_of(&self, due: &Due) -> Duration {
        let age = self.journal.now().duration_since(due.begun).unwrap_or_default();
        let interval = match due.contradictions {
            0 => interval_at(age, self.policy.interval),
            _ => self.policy.interval,
        };
        interval.saturating_add(self.engine.transport().jitter(interval / 10))
    }
}

#[cfg(test)]
mod tests;
