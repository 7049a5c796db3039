//! Recovery: polls every unfinished payment of a journal until it is final, some payments at once, older ones less
//! often.

mod policy;
mod source;

use std::{
    collections::{BinaryHeap, HashSet, VecDeque},
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

use futures_util::{FutureExt as _, Stream, StreamExt as _, stream, stream::FuturesUnordered};
use tokio::{
    sync::{Mutex, Notify},
    time::Instant,
};

use crate::{
    error::PaymentError,
    journal::{
        RecoveryLock, UnfinishedEntries,
        entry::{JournalEntry, JournalState, Unfinished},
    },
    pipeline::engine::{EndsAtClose, Engine},
    status::{
        GivenBack,
        check::{LONGEST_REASON, reason_of},
        verdict::Verdict,
    },
    transport::{Boxed, after},
};

use policy::Due;
pub use policy::RecoveryPolicy;
use source::{Again, Answer, Answered, Page, Source};

/// What [`Recovery`] brings: a payment that has come to its end, or an entry that only a person can read.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovered {
    /// A payment that is [`Charged`](JournalState::Charged) (deliver, then finish its entry),
    /// [`Rejected`](JournalState::Rejected) (nothing was taken; its entry is listed no more), or
    /// [`Mismatch`](JournalState::Mismatch) (for a person). **A rejected one may come once more, as charged**: a gateway may
    /// take back what it said. One that is still [`Unknown`](JournalState::Unknown) or [`Pending`](JournalState::Pending) is for a
    /// person, too: the gateway answers about others, and three times in a row nothing but an error about this one, which is the
    /// entry's reason. It may never have seen it. It stays unfinished.
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

/// How many questions in a row must end in what only a person can mend (wrong credentials, a wrong configuration)
/// before the recovery does, or before that is told of the one payment; and how many reports on one payment must be about something
/// else than was asked for.
const ODD_IN_A_ROW: u32 = 3;

/// Follows what was unfinished in a gateway's journal when it began, each payment until its end; with
/// [`RecoveryPolicy::follow_new`] also what is begun later. Made by [`Gateway::recover`](crate::Gateway::recover).
///
/// What is charged already comes at once, without a question. A payment that is still pending when the policy's deadline
/// passes stays unfinished, for the next recovery; so does one that has nothing to be asked with.
///
/// **Of all processes that share the folder, one recovers at a time**; another one waits until that one ends or dies, so
/// that no two of them deliver the same goods. All the same, deliver by a step that does nothing when it is repeated: a
/// process may die between delivering and finishing.
///
/// Closing the gateway ends the recovery at once, also in the middle of a wait or a question, and lets other processes
/// recover. What had come to its end before still comes.
///
/// Take the ends one by one with [`next`](Self::next), or as a [`stream`](Self::stream). Between calls nothing new is
/// asked. Clones are the same recovery. The methods are cancellation safe: where a future is dropped, what it brought is
/// the next one's.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Recovery {
    shared: Arc<Shared>,
}

struct Shared {
    source: Source,
    cancelled: AtomicBool,
    wake: Notify,
    progress: Mutex<Progress>,
    given_back: GivenBack<Recovered>,
}

#[derive(Default)]
struct Progress {
    deadline: Option<Instant>,
    entries: Entries,
    again: Again,
    waiting: BinaryHeap<Due>,
    asked: FuturesUnordered<Boxed<Answer>>,
    /// The gateway wants no question before that.
    not_before: Option<Instant>,
    recovered: VecDeque<Recovered>,
    /// When a question was last answered by the gateway itself, and in a way that needs no person: so what it does not answer
    /// about one payment meanwhile is a matter of that payment, and not of the configuration.
    answered_at: Option<Instant>,
    /// The payments that may still show that: whose last answer needed no person, or that were not asked about yet.
    may_be_answered: HashSet<String>,
    /// What comes after all that is recovered.
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
    Locked(Arc<RecoveryLock>, UnfinishedEntries),
    /// None are left. The lock is kept until the end.
    Done(Arc<RecoveryLock>),
}

#[allow(clippy::large_enum_variant, reason = "it is moved once; by how much it is larger depends on the system")]
enum Event {
    Answered(Answer),
    Read(Result<Option<Page>, PaymentError>),
    Closed,
    Woken,
}

impl Recovery {
    pub(crate) fn new(engine: Arc<Engine>, policy: RecoveryPolicy) -> Result<Self, PaymentError> {
        policy.check()?;
        let journal = engine.required_journal()?.clone();
        let (cancelled, wake, progress) = (AtomicBool::new(false), Notify::new(), Mutex::default());
        let source = Source { engine: engine.clone(), journal, policy };
        let shared = Arc::new(Shared { source, cancelled, wake, progress, given_back: GivenBack::default() });
        let listener: Weak<Shared> = Arc::downgrade(&shared);
        engine.tell_of_close(listener);
        Ok(Self { shared })
    }
}

impl Recovery {
    /// The next end, when it is there; `None` when nothing is left to be asked about, at the policy's deadline (also where
    /// another process recovered all the time), or when it was cancelled.
    ///
    /// # Errors
    /// Once, as the last thing: [`PaymentError::Unauthorized`] and [`PaymentError::Misconfigured`] where asking on is
    /// useless (every payment was answered like that, one of them three times in a row, and none by the gateway itself; or the
    /// gateway was closed),
    /// [`PaymentError::Unavailable`] where the journal cannot be read. None of them says anything about a payment.
    pub async fn next(&self) -> Result<Option<Recovered>, PaymentError> {
        // Dropped after the lock below is free again.
        let _lets_go = LetsGoIfStopped(&self.shared);
        let mut progress = self.shared.progress.lock().await;
        if let Some(given_back) = self.shared.given_back.pop() {
            return Ok(Some(given_back));
        }
        let next = self.shared.next(&mut progress).await;
        if !matches!(next, Ok(Some(_))) {
            progress.end();
        }
        next
    }

    /// Takes an end back that nobody came to take: the next one who asks gets it.
    #[cfg(feature = "uniffi")]
    pub(crate) fn give_back(&self, recovered: Recovered) {
        self.shared.given_back.push(recovered);
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Recovery {
    /// Stops asking, from anywhere. [`next`](Self::next) is empty then.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::SeqCst);
        self.shared.let_go_if_stopped();
        self.shared.wake.notify_one();
    }
}

impl Recovery {
    /// The ends as a stream.
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
        is_read && self.waiting.is_empty() && self.asked.is_empty()
    }

    /// Whether asking on cannot help: every payment that was asked about was answered like that, and no other answer is to come.
    fn is_useless(&self) -> bool {
        self.answered_at.is_none() && self.may_be_answered.is_empty()
    }

    fn tell(&mut self, entry: Box<JournalEntry>) {
        // A rejected payment is asked about while the journal is read again, and each may find its charge.
        if entry.state == JournalState::Charged && self.again.has_told_charge(&entry.id) {
            return;
        }
        self.again.has_ended(&entry);
        self.recovered.push_back(Recovered::Payment { entry });
    }

    /// Other processes may recover from now on, and nothing is asked any more.
    fn end(&mut self) {
        *self = Self { has_ended: true, ..Self::default() };
    }

    /// The same, but what has come to its end is still told: whoever was rejected is told of once.
    fn let_go(&mut self) {
        let (recovered, failure) = (std::mem::take(&mut self.recovered), self.failure.take());
        *self = Self { recovered, failure, has_ended: self.has_ended, ..Self::default() };
    }
}

/// Whoever stopped it while somebody waited in it could not let others recover; also where that wait was given up.
struct LetsGoIfStopped<'a>(&'a Shared);

impl Drop for LetsGoIfStopped<'_> {
    fn drop(&mut self) {
        self.0.let_go_if_stopped();
    }
}

impl EndsAtClose for Shared {
    fn end_at_close(&self) {
        self.let_go_if_stopped();
    }
}

impl Shared {
    /// Another process may recover at once, also where nobody asks this one any more. Where somebody waits in it, that one
    /// comes here afterwards.
    fn let_go_if_stopped(&self) {
        let is_cancelled = self.cancelled.load(Ordering::SeqCst);
        if (is_cancelled || self.source.engine.is_closed())
            && let Ok(mut progress) = self.progress.try_lock()
        {
            if is_cancelled { progress.end() } else { progress.let_go() }
        }
    }

    async fn next(&self, progress: &mut Progress) -> Result<Option<Recovered>, PaymentError> {
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
            // What was asked in time is answered by the deadline, and may be an end.
            let is_over = has_nothing_left || is_late && progress.asked.is_empty();
            if progress.has_ended || self.cancelled.load(Ordering::SeqCst) || is_over {
                return Ok(None);
            }
            if !is_late && !self.source.engine.is_closed() {
                self.ask(progress, now, deadline);
            }
            let wake_at = if is_late { None } else { self.wake_at(progress, deadline) };
            match self.event(progress, wake_at).await {
                Event::Answered(Answer::Answered(asked)) => self.take(progress, *asked)?,
                Event::Answered(Answer::Charged(entry)) => {
                    progress.may_be_answered.remove(&entry.id);
                    progress.tell(entry);
                }
                Event::Answered(Answer::NotYet(due)) => {
                    progress.may_be_answered.remove(&due.id);
                    if self.source.policy.follow_new {
                        progress.waiting.push(due);
                    }
                }
                Event::Answered(Answer::Gone(id)) => {
                    progress.may_be_answered.remove(&id);
                    progress.again.has_gone(&id);
                }
                Event::Woken => {}
                Event::Closed => self.source.engine.usable()?,
                Event::Answered(Answer::Later(due)) => progress.waiting.push(due),
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
            Entries::Done(lock) if progress.again.is_due(now) => {
                Entries::Read(Box::pin(self.source.clone().read_on(lock, self.source.journal.to_be_asked_about())))
            }
            other => other,
        };
    }

    fn at_once(&self) -> usize {
        usize::try_from(self.source.policy.at_once).unwrap_or(usize::MAX)
    }

    /// When to look again though nothing came. What is under way ends by the deadline by itself.
    fn wake_at(&self, progress: &Progress, deadline: Instant) -> Option<Instant> {
        let next = progress.waiting.peek().filter(|_| progress.asked.len() < self.at_once());
        let next = next.map(|next| progress.not_before.map_or(next.at, |moment| moment.max(next.at)));
        let again = progress.again.at().filter(|_| matches!(progress.entries, Entries::Done(_)));
        Some(next.into_iter().chain(again).min()?.min(deadline))
    }

    async fn event(&self, progress: &mut Progress, wake_at: Option<Instant>) -> Event {
        let mut timer = wake_at.map(|moment| self.source.engine.transport().sleep_until(moment));
        let mut woken = pin!(self.wake.notified());
        let mut closed = pin!(self.source.engine.closed());
        poll_fn(|cx| {
            // What has come already counts, so it is looked at first.
            if let Poll::Ready(Some(asked)) = progress.asked.poll_next_unpin(cx) {
                return Poll::Ready(Event::Answered(asked));
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

    /// What was read is done already, or is asked about at once, or has nothing to be asked with.
    fn add(&self, progress: &mut Progress, page: Page, now: Instant) {
        let follow_new = self.source.policy.follow_new;
        for item in page.items {
            if !has_something_to_do(&item) || follow_new && !progress.again.is_new(&item) {
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
                    let (mismatches, odd, odd_since, odd_is_told) = (0, 0, None, false);
                    progress.waiting.push(Due {
                        at: now,
                        begun,
                        id,
                        has_ended,
                        turn,
                        mismatches,
                        odd,
                        odd_since,
                        odd_is_told,
                    });
                }
                Unfinished::Unreadable { id, why } => progress.recovered.push_back(Recovered::Unreadable { id, why }),
            }
        }
        progress.failure = page.failure;
        progress.entries = match page.rest {
            Some(rest) => Entries::Locked(page.lock, rest),
            None => {
                if follow_new {
                    progress.again.read_through(self.source.engine.transport().now(), self.source.policy.interval);
                }
                Entries::Done(page.lock)
            }
        };
    }

    /// What a question brought: an end, or when to ask again.
    fn take(&self, progress: &mut Progress, asked: Answered) -> Result<(), PaymentError> {
        let Answered { mut due, started, answer, after_end, mut entry } = asked;
        let is_odd = matches!(answer, Err(PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. }));
        due.odd = if is_odd { due.odd + 1 } else { 0 };
        due.odd_since = if is_odd { due.odd_since.or(Some(started)) } else { None };
        // A line that fails, or what stands before the gateway, says nothing of the configuration.
        if !is_odd && answer.as_ref().map_or_else(|error| error.code().is_some(), |verdict| verdict.report().is_some())
        {
            progress.answered_at = Some(self.source.engine.transport().now());
        }
        // An answer of before may be of another time: since then the gateway may have gone away as a whole.
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
            // Charged is absorbing, whatever a report says that came late.
            _ if entry.state == JournalState::Charged => Some(JournalState::Charged),
            Ok(Verdict::Charged { payment, .. }) => {
                entry.payment.learn_numbers(&payment);
                Some(JournalState::Charged)
            }
            // Anybody can claim a number, and on a pay-form the payer may try again.
            Ok(_) if entry.payment.has_only_a_claimed_number() => None,
            Ok(Verdict::Rejected { .. }) => Some(JournalState::Rejected),
            Ok(Verdict::Mismatch { .. }) if due.mismatches >= ODD_IN_A_ROW => Some(JournalState::Mismatch),
            Ok(_) => None,
            // It says nothing of the payment, and the close is told by itself.
            Err(_) if self.source.engine.is_closed() => None,
            // Nothing but that came of all questions.
            Err(error) if due.odd >= ODD_IN_A_ROW && progress.is_useless() => return Err(error),
            // The gateway may never have seen this one payment.
            Err(error) if due.odd >= ODD_IN_A_ROW && others_are_answered && !due.odd_is_told => {
                due.odd_is_told = true;
                if !due.has_ended {
                    let told = JournalEntry { reason: Some(why_unanswered(&error)), ..(*entry).clone() };
                    progress.recovered.push_back(Recovered::Payment { entry: told.into() });
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
        match end {
            // It was told before.
            Some(JournalState::Rejected) if after_end.is_some() => {}
            Some(state) => {
                // The journal may not have been able to note it.
                entry.reason = if entry.state == state { entry.reason } else { reason };
                entry.state = state;
                progress.tell(entry);
            }
            None => {}
        }
        let goes_on = due.has_ended || end.is_none();
        let is_told = due.has_ended || due.odd_is_told;
        if goes_on && (self.source.policy.follow_new || !is_told) {
            progress.waiting.push(due);
        } else {
            progress.may_be_answered.remove(&due.id);
        }
        Ok(())
    }
}

/// What came instead of an answer. Not the whole error: its "nothing happened" is said of the question.
fn why_unanswered(error: &PaymentError) -> String {
    let detail = match error {
        PaymentError::Misconfigured { detail, .. } | PaymentError::Unauthorized { detail, .. } => detail.as_str(),
        _ => "",
    };
    format!("the gateway does not answer about it: {detail}").chars().take(LONGEST_REASON).collect()
}

/// Whether there is something to ask with, or to tell.
fn has_something_to_do(item: &Unfinished) -> bool {
    match item {
        Unfinished::Payment { entry } => entry.state == JournalState::Charged || entry.payment.can_be_checked(),
        Unfinished::Unreadable { .. } => true,
    }
}

#[cfg(test)]
mod tests;
