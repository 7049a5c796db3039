//! Polling: queries the status of a payment until it is final.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use futures_util::{
    FutureExt as _, Stream,
    future::{Either, poll_fn, select},
    stream,
    task::AtomicWaker,
};
use tokio::{sync::Mutex, time::Instant};

use last_report::LastReport;

use crate::{
    error::PaymentError,
    payment_ref::PaymentRef,
    pipeline::{
        engine::{EndsAtClose, Engine},
        telemetry::CallContext,
        timers::Due,
    },
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

/// The interval and the deadline of a watch.
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
    /// The time from the start of one query to the start of the next. Default: 10 s.
    #[cfg_attr(feature = "serde", serde(rename = "interval_ms", with = "crate::serialized::milliseconds"))]
    pub interval: Duration,
    /// How long to poll while the payment is pending, from the first query. Default: 20 minutes.
    #[cfg_attr(feature = "serde", serde(rename = "deadline_ms", with = "crate::serialized::milliseconds"))]
    pub deadline: Duration,
}

impl PollPolicy {
    /// Sets the time from the start of one query to the start of the next.
    #[must_use]
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// Sets how long to poll while the payment is pending.
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

/// The result of one query of a watch.
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
        /// Its report, compared with the request. A verdict that ends the watch is the last report.
        verdict: Verdict,
    },
    /// The query failed, or the gateway does not know the payment (yet). The watch continues.
    #[non_exhaustive]
    QueryFailed {
        /// Why.
        error: PaymentError,
    },
}

/// Polls the status of one payment: a query at once, then one every interval, one at a time, until there is a final
/// [`Verdict`].
///
/// Failed queries and "not found" are reported and do not end the watch. Wrong credentials, a wrong configuration and a report
/// that contradicts the request end it after three queries in a row: a single odd response (a firewall's page, a captive
/// portal's certificate, a cache's response about another payment) does not. If a query is refused or its response is not
/// understood, the next-best query is sent within the same tick. A tick that is missed because a query took long is
/// skipped. A `Retry-After` of the gateway delays the next query. Closing the gateway ends the watch at once, also in the
/// middle of a pause or a query.
///
/// Take the reports one by one with [`next`](Self::next) or as a [`stream`](Self::stream), or wait for the end with
/// [`outcome`](Self::outcome). Between calls no query is sent. Clones are the same watch; a report goes to one of them.
/// The methods are cancellation safe: if a future is dropped, a query in flight continues, and its report is the next
/// one.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone, Debug)]
pub struct StatusWatch {
    shared: Arc<Shared>,
}

struct Shared {
    source: Box<dyn StatusSource>,
    payment: Arc<PaymentRef>,
    policy: PollPolicy,
    cancelled: AtomicBool,
    check_now: AtomicBool,
    waiter: Arc<Waiter>,
    state: std::sync::Mutex<PollState>,
    progress: Mutex<Progress>,
    given_back: GivenBack<Result<WatchReport, PaymentError>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("payment", &self.payment).field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// The number of queries in a row that must fail in a way that only a person can fix before the watch ends: wrong credentials, a wrong
/// configuration, a report that contradicts the request.
const ODD_IN_A_ROW: u32 = 3;

#[derive(Default)]
struct Progress {
    due: Option<Instant>,
    last: Option<Box<LastReport>>,
    odd_in_a_row: u32,
    /// The verdict; `None` if it was cancelled. Boxed, because there may be a million waiting watches.
    end: Option<Box<Result<Option<Verdict>, PaymentError>>>,
}

/// The next query, or the one in flight.
#[derive(Default)]
struct PollState {
    query: Query,
    /// From the first query on.
    deadline: Option<Instant>,
    /// The moment at which the timers call the watch.
    listed: Option<Instant>,
}

#[derive(Default)]
enum Query {
    #[default]
    None,
    /// A caller waits for the report of the query that is due then.
    Waiting {
        due: Instant,
        /// The number of the call that waits, for the log.
        context: CallContext,
    },
    InFlight {
        started: Instant,
        answer: Boxed<Result<Verdict, PaymentError>>,
    },
}

/// When a query was started, and its answer.
type Answered = (Instant, Result<Verdict, PaymentError>);

/// A caller waits for the next report, until this is dropped.
struct Waiting<'a>(&'a Shared);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if matches!(state.query, Query::Waiting { .. }) {
            state.query = Query::None;
        }
    }
}

/// Wakes the waiting caller, which holds the progress. It is separate from the watch, because a query holds it as its waker, and the watch
/// holds the query.
#[derive(Default)]
struct Waiter(AtomicWaker);

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

impl StatusWatch {
    /// A watch that polls by a function, for a [`PaymentGateway`](crate::PaymentGateway) of your own: it polls, ends
    /// and reports as a watch of [`Gateway::watch`](crate::Gateway::watch) does.
    ///
    /// ```
    /// use kassa::{Decimal, PaymentRef, PaymentStatus, PollPolicy, StatusReport, StatusWatch, Verdict};
    ///
    /// let payment = PaymentRef::card("order-1", Decimal::TEN, "KGS");
    /// let watch = StatusWatch::polling(payment, PollPolicy::default(), |payment| async move {
    ///     Ok(Verdict::rejected(payment, StatusReport::new(PaymentStatus::Rejected)))
    /// })?;
    /// assert!(matches!(pollster::block_on(watch.outcome())?, Some(Verdict::Rejected { .. })));
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Gateway::watch`](crate::Gateway::watch).
    pub fn polling<F, A>(payment: PaymentRef, policy: PollPolicy, query: F) -> Result<Self, PaymentError>
    where
        F: Fn(PaymentRef) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Verdict, PaymentError>> + Send + 'static,
    {
        Self::over(Box::new(Answerer::new(query)?), payment, policy)
    }

    pub(crate) fn new(engine: Arc<Engine>, payment: PaymentRef, policy: PollPolicy) -> Result<Self, PaymentError> {
        let watch = Self::over(Box::new(engine.clone()), payment, policy)?;
        let closes: Weak<Shared> = Arc::downgrade(&watch.shared);
        engine.tell_of_close(closes);
        Ok(watch)
    }

    fn over(source: Box<dyn StatusSource>, payment: PaymentRef, policy: PollPolicy) -> Result<Self, PaymentError> {
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
            source,
            payment: Arc::new(payment),
            policy,
            cancelled: AtomicBool::new(false),
            check_now: AtomicBool::new(false),
            waiter: Arc::default(),
            state: std::sync::Mutex::default(),
            progress: Mutex::default(),
            given_back: GivenBack::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }
}

impl StatusWatch {
    /// Waits for the next report; `None` after the last one.
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

    /// Takes back a report that reached no caller: the next caller gets it.
    #[cfg(feature = "uniffi")]
    pub(crate) fn give_back(&self, report: Result<WatchReport, PaymentError>) {
        self.shared.given_back.push(report);
    }

    /// The verdict that ended the watch; **`None` if it was cancelled**, which says nothing about the payment. It polls
    /// until then, and can be called again afterwards.
    ///
    /// # Errors
    /// [`PaymentError::DeadlineExpired`] if the payment was still pending, [`PaymentError::Unauthorized`] and
    /// [`PaymentError::Misconfigured`] if further polling is useless: three times in a row, or the gateway was closed. An error never means
    /// that the payment failed.
    pub async fn outcome(&self) -> Result<Option<Verdict>, PaymentError> {
        loop {
            // The lock is released between reports, so that other waiters get theirs.
            let mut progress = self.shared.progress.lock().await;
            if let Some(end) = &progress.end {
                return Result::clone(end);
            }
            // An error that ends the watch is stored as its end.
            let _ = self.shared.next(&mut progress).await;
        }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl StatusWatch {
    /// Makes the next query due at once: for an app that returns to the foreground.
    pub fn check_now(&self) {
        self.shared.check_now.store(true, Ordering::Release);
        self.shared.waiter.wake_by_ref();
    }

    /// Stops polling. [`next`](Self::next) and [`outcome`](Self::outcome) are then empty, unless the watch had ended
    /// before.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
        self.shared.waiter.wake_by_ref();
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
    async fn next(self: &Arc<Self>, progress: &mut Progress) -> Result<Option<WatchReport>, PaymentError> {
        loop {
            if progress.end.is_some() {
                return Ok(None);
            }
            if self.is_cancelled() {
                self.state().query = Query::None;
                progress.end = Some(Box::new(Ok(None)));
                return Ok(None);
            }
            let is_in_flight = matches!(self.state().query, Query::InFlight { .. });
            let answered = if is_in_flight { self.answered().await } else { self.wait_and_ask(progress).await? };
            if let Some((started, answer)) = answered {
                return self.take_answer(progress, started, answer).map(Some);
            }
        }
    }

    /// Starts the next query if it is due, or waits for it and its answer. `None` means: look again.
    async fn wait_and_ask(self: &Arc<Self>, progress: &mut Progress) -> Result<Option<Answered>, PaymentError> {
        if let Err(why) = self.source.usable() {
            return Err(failed(progress, why));
        }
        let now = self.source.now();
        let deadline = *self.state().deadline.get_or_insert(after(now, self.policy.deadline));
        let due = if self.is_check_due() { now } else { progress.due.unwrap_or(now) };
        if now >= deadline {
            let expired =
                PaymentError::DeadlineExpired { last: progress.last.as_deref().map(|last| Box::new(last.report())) };
            return Err(failed(progress, expired));
        }
        if due <= now {
            self.start_query(&mut self.state(), now, deadline);
            return Ok(None);
        }
        let _waiting = self.wait_for(due, deadline);
        Ok(match self.source.timer(due.min(deadline)) {
            Some(timer) => match select(Box::pin(self.answered()), timer).await {
                Either::Left((answered, _)) => answered,
                Either::Right(_) => None,
            },
            None => self.answered().await,
        })
    }

    /// Lets the source's timers start the query when it is due, while the guard is held: between calls no query is sent.
    fn wait_for(self: &Arc<Self>, due: Instant, deadline: Instant) -> Waiting<'_> {
        let moment = due.min(deadline);
        let is_listed = {
            let mut state = self.state();
            state.query = Query::Waiting { due, context: CallContext::here() };
            state.listed.replace(moment) == Some(moment)
        };
        if !is_listed {
            let waiting: Weak<Self> = Arc::downgrade(self);
            self.source.call_at(moment, waiting);
        }
        Waiting(self)
    }

    fn start_query(&self, state: &mut PollState, started: Instant, deadline: Instant) {
        self.check_now.store(false, Ordering::Release);
        let answer = self.source.query_once(self.payment.clone(), deadline - started);
        state.query = Query::InFlight { started, answer };
    }

    /// The answer to the query, also if the timers start it. `None` means: look again.
    fn answered(&self) -> impl Future<Output = Option<Answered>> {
        poll_fn(|context| {
            // Registered before the state is read: a later change wakes the caller.
            self.waiter.0.register(context.waker());
            let mut state = self.state();
            let is_over = match &mut state.query {
                Query::None => true,
                Query::Waiting { .. } => self.is_check_due() || self.source.usable().is_err(),
                // An answer that has arrived counts, so it is read before a reason to stop.
                Query::InFlight { started, answer } => {
                    if let Poll::Ready(answer) = answer.poll_unpin(context) {
                        let started = *started;
                        state.query = Query::None;
                        return Poll::Ready(Some((started, answer)));
                    }
                    self.source.usable().is_err()
                }
            };
            if !is_over && !self.is_cancelled() {
                return Poll::Pending;
            }
            state.query = Query::None;
            Poll::Ready(None)
        })
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    fn is_check_due(&self) -> bool {
        self.check_now.load(Ordering::Acquire)
    }

    fn state(&self) -> MutexGuard<'_, PollState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
                // It may have failed because the gateway was closed during the query.
                if let Err(why) = self.source.usable() {
                    return Err(failed(progress, why));
                }
                if let PaymentError::Unavailable { retry_after: Some(wait), .. } = &error {
                    due = due.max(after(self.source.now(), *wait));
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
        let passed = (self.source.now() - started).as_nanos();
        let ticks = passed.div_ceil(interval.as_nanos()).max(1);
        after(started, interval.saturating_mul(u32::try_from(ticks).unwrap_or(u32::MAX)))
    }
}

impl Due for Shared {
    /// Starts the query on this thread if a caller waits for it, so that the caller wakes up once, with the answer. Otherwise wakes the
    /// caller, which looks again.
    fn due(self: Arc<Self>) {
        let mut state = self.state();
        state.listed = None;
        let Query::Waiting { due, context } = &state.query else { return };
        let (due, context) = (*due, context.clone());
        let now = self.source.now();
        let is_due = now >= due && self.source.usable().is_ok();
        let Some(deadline) = state.deadline.filter(|deadline| is_due && now < *deadline) else {
            state.query = Query::None;
            return self.waiter.wake_by_ref();
        };
        self.start_query(&mut state, now, deadline);
        let Query::InFlight { answer, .. } = &mut state.query else { return };
        let waker = Waker::from(self.waiter.clone());
        let first = AssertUnwindSafe(|| context.run(|| answer.poll_unpin(&mut Context::from_waker(&waker))));
        match catch_unwind(first) {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(at_once)) => {
                *answer = Box::pin(std::future::ready(at_once));
                self.waiter.wake_by_ref();
            }
            // The caller polls it again, and gets the panic.
            Err(_) => self.waiter.wake_by_ref(),
        }
    }
}

impl EndsAtClose for Shared {
    fn end_at_close(&self) {
        self.waiter.wake_by_ref();
    }
}

/// Records an error as the end of the watch.
fn failed(progress: &mut Progress, error: PaymentError) -> PaymentError {
    progress.end = Some(Box::new(Err(error.clone())));
    error
}

/// Whether this may be a single odd response that needs a person if it repeats.
fn is_odd(answer: &Result<Verdict, PaymentError>) -> bool {
    matches!(
        answer,
        Ok(Verdict::Mismatch { .. }) | Err(PaymentError::Unauthorized { .. } | PaymentError::Misconfigured { .. })
    )
}

mod last_report;
#[cfg(test)]
mod tests;
