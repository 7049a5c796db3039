//! Polling: asks for the status of a payment until it is final.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{
    Stream,
    future::{Either, poll_fn, select},
    stream,
    task::AtomicWaker,
};
use tokio::{sync::Mutex, time::Instant};

use last_report::LastReport;

use crate::{
    error::PaymentError,
    payment_ref::PaymentRef,
    pipeline::engine::Engine,
    status::{
        GivenBack,
        check::nothing_to_ask_with,
        source::{Answerer, StatusSource},
        verdict::Verdict,
    },
    transport::{Boxed, after},
    validation::Checks,
    violation::Rule,
};

/// How a watch polls.
///
/// ```
/// use std::time::Duration;
/// use kassa::PollPolicy;
///
/// let policy = PollPolicy::default().with_deadline(Duration::from_secs(5 * 60));
/// assert_eq!(policy.interval, Duration::from_secs(10));
/// ```
///
/// Source: every 10 seconds until Reject or Charge (`docs/interface.md#polling`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollPolicy {
    /// The time from the start of one query to the start of the next. 10 s unless set.
    #[cfg_attr(feature = "serde", serde(rename = "interval_ms", with = "crate::serialized::milliseconds"))]
    pub interval: Duration,
    /// How long to go on while the payment is open, from the first query. 20 minutes unless set.
    #[cfg_attr(feature = "serde", serde(rename = "deadline_ms", with = "crate::serialized::milliseconds"))]
    pub deadline: Duration,
}

impl PollPolicy {
    /// The same with another time from the start of one query to the start of the next.
    #[must_use]
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The same with another time to go on while the payment is open.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }
}

impl Default for PollPolicy {
    fn default() -> Self {
        Self { interval: Duration::from_secs(10), deadline: Duration::from_secs(20 * 60) }
    }
}

/// What one query of a watch brought.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchReport {
    /// The gateway answered.
    #[non_exhaustive]
    Status {
        /// Its answer, compared with what was asked for. One that ends the watch is the last report.
        verdict: Verdict,
    },
    /// The query failed, or the gateway does not know the payment (yet). The watch goes on.
    #[non_exhaustive]
    QueryFailed {
        /// Why.
        error: PaymentError,
    },
}

/// Polls the status of one payment: a query at once, then one every interval, one at a time, until there is a final
/// [`Verdict`].
///
/// Failed queries and "not found" are reported and end nothing. Wrong credentials, a wrong configuration and a report
/// that contradicts what was asked for do, where three queries in a row end in them: one odd response (a firewall's page, a
/// captive portal's certificate, a cache's response about another payment) does not. Where a question is refused or its
/// answer not understood, the next-best one is asked within the same tick. A tick that is missed because a query took
/// long is skipped. A `Retry-After` of the gateway delays the next query. Closing the gateway ends the watch at once, also
/// in the middle of a wait or a query.
///
/// Take the reports one by one with [`next`](Self::next) or as a [`stream`](Self::stream), or wait for the end with
/// [`outcome`](Self::outcome). Between calls nothing is asked. Clones are the same watch; a report goes to one of them.
/// The methods are cancellation safe: where a future is dropped, a query under way goes on, and its report is the next
/// one.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone, Debug)]
pub struct StatusWatch {
    shared: Arc<Shared>,
}

struct Shared {
    asked: Box<dyn StatusSource>,
    payment: Arc<PaymentRef>,
    policy: PollPolicy,
    cancelled: AtomicBool,
    check_now: AtomicBool,
    /// Wakes the one waiter that holds the progress.
    waiter: AtomicWaker,
    progress: Mutex<Progress>,
    given_back: GivenBack<Result<WatchReport, PaymentError>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("payment", &self.payment).field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// How many queries in a row must end in what only a person can mend before the watch does: wrong credentials, a wrong
/// configuration, a report about something else than was asked for.
const ODD_IN_A_ROW: u32 = 3;

#[derive(Default)]
struct Progress {
    deadline: Option<Instant>,
    due: Option<Instant>,
    under_way: Option<UnderWay>,
    last: Option<Box<LastReport>>,
    odd_in_a_row: u32,
    /// The verdict; none where it was cancelled. Boxed: there may be a million watches that wait for theirs.
    end: Option<Box<Result<Option<Verdict>, PaymentError>>>,
}

struct UnderWay {
    started: Instant,
    answer: Boxed<Result<Verdict, PaymentError>>,
}

impl StatusWatch {
    /// A watch that asks a function, for a [`PaymentGateway`](crate::PaymentGateway) of your own: it polls, ends and
    /// reports as one of [`Gateway::watch`](crate::Gateway::watch) does.
    ///
    /// ```
    /// use kassa::{Decimal, PaymentRef, PaymentStatus, PollPolicy, StatusReport, StatusWatch, Verdict};
    ///
    /// let payment = PaymentRef::card("order-1", Decimal::TEN, "KGS");
    /// let watch = StatusWatch::asking(payment, PollPolicy::default(), |payment| async move {
    ///     Ok(Verdict::rejected(payment, StatusReport::new(PaymentStatus::Rejected)))
    /// })?;
    /// assert!(matches!(pollster::block_on(watch.outcome())?, Some(Verdict::Rejected { .. })));
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Gateway::watch`](crate::Gateway::watch).
    pub fn asking<F, A>(payment: PaymentRef, policy: PollPolicy, ask: F) -> Result<Self, PaymentError>
    where
        F: Fn(PaymentRef) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Verdict, PaymentError>> + Send + 'static,
    {
        Self::over(Box::new(Answerer::new(ask)?), payment, policy)
    }

    pub(crate) fn new(engine: Arc<Engine>, payment: PaymentRef, policy: PollPolicy) -> Result<Self, PaymentError> {
        Self::over(Box::new(engine), payment, policy)
    }

    fn over(asked: Box<dyn StatusSource>, payment: PaymentRef, policy: PollPolicy) -> Result<Self, PaymentError> {
        let mut checks = Checks::default();
        for (field, value) in [("interval", policy.interval), ("deadline", policy.deadline)] {
            if value.is_zero() {
                checks.fail(field, Rule::Minimum, None, "must be longer than zero");
            }
        }
        checks.finish()?;
        if !payment.can_be_checked() {
            return Err(nothing_to_ask_with());
        }
        let shared = Shared {
            asked,
            payment: Arc::new(payment),
            policy,
            cancelled: AtomicBool::new(false),
            check_now: AtomicBool::new(false),
            waiter: AtomicWaker::new(),
            progress: Mutex::default(),
            given_back: GivenBack::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }
}

impl StatusWatch {
    /// The next report, when it is there; `None` after the last one.
    ///
    /// # Errors
    /// Once, as the last thing: [`PaymentError::DeadlineExpired`], [`PaymentError::Unauthorized`] or
    /// [`PaymentError::Misconfigured`].
    pub async fn next(&self) -> Result<Option<WatchReport>, PaymentError> {
        let mut progress = self.shared.progress.lock().await;
        if let Some(given_back) = self.shared.given_back.pop() {
            return given_back.map(Some);
        }
        self.shared.next(&mut progress).await
    }

    /// Takes a report back that nobody came to take: the next one who asks gets it.
    #[cfg(feature = "uniffi")]
    pub(crate) fn give_back(&self, report: Result<WatchReport, PaymentError>) {
        self.shared.given_back.push(report);
    }

    /// The verdict that ended the watch; **nothing where it was cancelled**, which says nothing about the payment. It
    /// asks on until then, and can be called again afterwards.
    ///
    /// # Errors
    /// [`PaymentError::DeadlineExpired`] where the payment was still pending, [`PaymentError::Unauthorized`] and
    /// [`PaymentError::Misconfigured`] where asking on is useless: three times in a row, or the gateway was closed. None
    /// of them says that the payment failed.
    pub async fn outcome(&self) -> Result<Option<Verdict>, PaymentError> {
        loop {
            // The lock is released between reports, so that other waiters get theirs.
            let mut progress = self.shared.progress.lock().await;
            if let Some(end) = &progress.end {
                return Result::clone(end);
            }
            // An error that ends the watch is kept as its end.
            let _ = self.shared.next(&mut progress).await;
        }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl StatusWatch {
    /// Makes the next query due at once: for an app that has just come back to the front.
    pub fn check_now(&self) {
        self.shared.check_now.store(true, Ordering::Release);
        self.shared.waiter.wake();
    }

    /// Stops asking. [`next`](Self::next) and [`outcome`](Self::outcome) are then empty, unless the watch had ended
    /// before.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        self.shared.waiter.wake();
    }
}

impl StatusWatch {
    /// The reports as a stream, which ends with the watch.
    pub fn stream(&self) -> impl Stream<Item = Result<WatchReport, PaymentError>> + Send + Unpin + 'static {
        Box::pin(stream::unfold(self.clone(), |watch| async move {
            let report = watch.next().await.transpose()?;
            Some((report, watch))
        }))
    }
}

impl Shared {
    async fn next(&self, progress: &mut Progress) -> Result<Option<WatchReport>, PaymentError> {
        loop {
            if progress.end.is_some() {
                return Ok(None);
            }
            if self.cancelled.load(Ordering::Acquire) {
                progress.under_way = None;
                progress.end = Some(Box::new(Ok(None)));
                return Ok(None);
            }
            let Some(under_way) = &mut progress.under_way else {
                self.wait_and_ask(progress).await?;
                continue;
            };
            let started = under_way.started;
            let cancelled = self.woken(|shared| shared.cancelled.load(Ordering::Acquire));
            let stopped = select(cancelled, self.asked.closed());
            // What has come already counts, so it is looked at first.
            let answer = match select(&mut under_way.answer, stopped).await {
                Either::Left((answer, _)) => Some(answer),
                Either::Right(_) => None,
            };
            progress.under_way = None;
            if let Some(answer) = answer {
                return self.take_answer(progress, started, answer).map(Some);
            }
        }
    }

    /// Waits for the next due moment and starts its query; returns early when woken.
    async fn wait_and_ask(&self, progress: &mut Progress) -> Result<(), PaymentError> {
        if let Err(why) = self.asked.usable() {
            return Err(failed(progress, why));
        }
        let now = self.asked.now();
        let deadline = *progress.deadline.get_or_insert(after(now, self.policy.deadline));
        let due = if self.check_now.load(Ordering::Acquire) { now } else { progress.due.unwrap_or(now) };
        if now >= deadline {
            let expired =
                PaymentError::DeadlineExpired { last: progress.last.as_deref().map(|last| Box::new(last.report())) };
            return Err(failed(progress, expired));
        }
        if due > now {
            let called =
                |shared: &Self| shared.cancelled.load(Ordering::Acquire) || shared.check_now.load(Ordering::Acquire);
            let stopped = select(self.woken(called), self.asked.closed());
            select(self.asked.sleep_until(due.min(deadline)), stopped).await;
            return Ok(());
        }
        self.check_now.store(false, Ordering::Release);
        let answer = self.asked.ask(self.payment.clone(), deadline - now);
        progress.under_way = Some(UnderWay { started: now, answer });
        Ok(())
    }

    /// Waits until somebody has set a flag. A waker is a few bytes, and a notification of tokio's a hundred.
    fn woken(&self, is_set: impl Fn(&Self) -> bool + Unpin) -> impl Future<Output = ()> + Unpin {
        poll_fn(move |context| {
            // Before the flag is read: who sets it later wakes.
            self.waiter.register(context.waker());
            if is_set(self) { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    /// Records an answer: it ends the watch, or sets the moment of the next query (later after a `Retry-After`).
    fn take_answer(
        &self,
        progress: &mut Progress,
        started: Instant,
        answer: Result<Verdict, PaymentError>,
    ) -> Result<WatchReport, PaymentError> {
        let mut due = self.tick_after(started);
        progress.odd_in_a_row = if is_odd(&answer) { progress.odd_in_a_row + 1 } else { 0 };
        let is_the_last = progress.odd_in_a_row >= ODD_IN_A_ROW;
        let report = match answer {
            Ok(verdict) => {
                if let Verdict::Pending { report, .. } = &verdict {
                    progress.last = Some(Box::new(LastReport::of(report)));
                } else if is_the_last || !matches!(verdict, Verdict::Mismatch { .. }) {
                    progress.end = Some(Box::new(Ok(Some(verdict.clone()))));
                }
                WatchReport::Status { verdict }
            }
            Err(error) if is_the_last => return Err(failed(progress, error)),
            Err(error) => {
                // It may have failed because the gateway was closed meanwhile.
                if let Err(why) = self.asked.usable() {
                    return Err(failed(progress, why));
                }
                if let PaymentError::Unavailable { retry_after: Some(wait), .. } = &error {
                    due = due.max(after(self.asked.now(), *wait));
                }
                WatchReport::QueryFailed { error }
            }
        };
        progress.due = Some(due);
        Ok(report)
    }

    /// The first tick that has not passed, counted from the start of the last query.
    fn tick_after(&self, started: Instant) -> Instant {
        let interval = self.policy.interval;
        let passed = (self.asked.now() - started).as_nanos();
        let ticks = passed.div_ceil(interval.as_nanos()).max(1);
        after(started, interval.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX)))
    }
}

/// Records an error as the end of the watch.
fn failed(progress: &mut Progress, error: PaymentError) -> PaymentError {
    progress.end = Some(Box::new(Err(error.clone())));
    error
}

/// What may be one odd response, and needs a person where it is not.
fn is_odd(answer: &Result<Verdict, PaymentError>) -> bool {
    matches!(
        answer,
        Ok(Verdict::Mismatch { .. }) | Err(PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. })
    )
}

mod last_report;
#[cfg(test)]
mod tests;
