//! The worker's next task: a result of the recovery, a retry, or the end.

use std::{
    collections::{BTreeMap, HashMap},
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use futures_util::{FutureExt as _, future::Fuse};
use tokio::time::Instant;
use tracing::Level;

use super::{
    DeliveryPolicy, DeliverySummary,
    deliveries::{Deliveries, NOT_DELIVERED, NOT_FINISHED, NOT_HANDLED, id_of, is_charged, is_rejected, record, what},
};
use crate::{
    error::PaymentError,
    pipeline::engine::Engine,
    status::recovery::{Recovered, Recovery, RecoveryPolicy},
    transport::after,
};

/// After this time a new recovery reads the journal.
const ONE_RECOVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// A recovery restarts after at most this time.
const LONGEST_PAUSE_OF_RECOVERY: Duration = Duration::from_secs(60);

/// A result to handle, for the first time or as a retry.
pub(super) struct Task {
    pub(super) result: Recovered,
    failures: u32,
    due: Instant,
    /// The handler has returned; only finishing the entry is left.
    is_handled: bool,
    /// Reported by the running recovery. This process may deliver only while that recovery holds the journal's lock.
    is_reported: bool,
}

pub(super) struct Worker<S> {
    engine: Arc<Engine>,
    deliveries: Deliveries,
    policy: DeliveryPolicy,
    stop: Pin<Box<Fuse<S>>>,
    phase: Phase,
    /// By the ids of their entries.
    tasks: BTreeMap<String, Task>,
    /// The handled result of each entry that needs a person, which the next recovery returns again. A rejection comes once.
    reported: HashMap<String, String>,
    failed_recoveries: u32,
}

enum Phase {
    Recovering {
        recovery: Recovery,
        begun: Instant,
    },
    /// Until the next recovery begins.
    Pausing {
        until: Instant,
    },
    /// Other processes may recover. Due tasks are handled once more.
    Ending,
}

/// The result of a wait.
enum Wake {
    Stopped,
    Recovered(Result<Option<Recovered>, PaymentError>),
    Due,
}

impl<S: Future<Output = ()>> Worker<S> {
    pub(super) fn new(engine: Arc<Engine>, policy: DeliveryPolicy, stop: S) -> Result<Self, PaymentError> {
        policy.check()?;
        let begun = engine.transport().now();
        let recovery = recovery_of(&engine, policy)?;
        Ok(Self {
            deliveries: Deliveries::new(&engine)?,
            engine,
            policy,
            stop: Box::pin(stop.fuse()),
            phase: Phase::Recovering { recovery, begun },
            tasks: BTreeMap::new(),
            reported: HashMap::new(),
            failed_recoveries: 0,
        })
    }

    /// The next result that the handler is called with; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Task> {
        loop {
            if !self.is_ending() && (self.stop.as_mut().now_or_never().is_some() || self.engine.is_closed()) {
                self.end().await;
            }
            self.take_ready().await;
            if let Some(task) = self.due() {
                match self.prepared(task).await {
                    Some(task) => return Some(task),
                    None => continue,
                }
            }
            if self.is_ending() {
                return None;
            }
            match self.wake().await {
                Wake::Stopped => self.end().await,
                Wake::Recovered(Ok(Some(recovered))) => self.add(recovered),
                Wake::Recovered(ended) => self.pause(ended.err()).await,
                Wake::Due => self.begin_again().await,
            }
        }
    }

    /// Processes the handler's result. A delivered payment is finished in the journal.
    pub(super) async fn handled(&mut self, mut task: Task, result: Result<(), String>) {
        match result {
            Ok(()) => {
                task.is_handled = true;
                self.finish(task).await;
            }
            Err(problem) if is_charged(&task.result) => self.failed(task, NOT_DELIVERED, problem),
            Err(problem) => self.failed(task, NOT_HANDLED, problem),
        }
    }

    pub(super) async fn summary(&mut self) -> DeliverySummary {
        self.deliveries.summary().await
    }

    fn is_ending(&self) -> bool {
        matches!(self.phase, Phase::Ending)
    }

    /// Waits for a result, a due retry, or the stop, which has priority.
    async fn wake(&mut self) -> Wake {
        let until = match &self.phase {
            Phase::Pausing { until } => Some(*until),
            Phase::Recovering { .. } | Phase::Ending => None,
        };
        let tasks = self.tasks.values().filter(|task| task.may_be_handled());
        let until = tasks.map(|task| task.due).chain(until).min();
        let mut timer = until.map(|moment| self.engine.transport().sleep_until(moment));
        let mut next = pin!(async {
            match &self.phase {
                Phase::Recovering { recovery, .. } => Wake::Recovered(recovery.next().await),
                Phase::Pausing { .. } | Phase::Ending => {
                    self.engine.closed().await;
                    Wake::Stopped
                }
            }
        });
        let stop = &mut self.stop;
        poll_fn(|cx| {
            if stop.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Wake::Stopped);
            }
            if let Poll::Ready(wake) = next.as_mut().poll(cx) {
                return Poll::Ready(wake);
            }
            let is_due = timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready());
            if is_due { Poll::Ready(Wake::Due) } else { Poll::Pending }
        })
        .await
    }

    /// Adds a result. The next recovery may return a result that is already being retried. `Charged` is final, also if the file cannot be
    /// read just now.
    fn add(&mut self, result: Recovered) {
        let id = id_of(&result).to_owned();
        if let Some(known) = self.tasks.get_mut(&id).filter(|known| is_charged(&known.result)) {
            known.is_reported |= is_charged(&result);
            return;
        }
        if !is_charged(&result) && !is_rejected(&result) {
            let what = what(&result);
            if self.reported.insert(id.clone(), what.clone()).as_ref() == Some(&what) {
                return;
            }
        }
        let due = self.engine.transport().now();
        self.tasks.insert(id, Task { result, failures: 0, due, is_handled: false, is_reported: true });
    }

    /// Adds the available results. Failing handlers must not stop the recovery.
    async fn take_ready(&mut self) {
        while let Phase::Recovering { recovery, .. } = &self.phase {
            match recovery.next().now_or_never() {
                Some(Ok(Some(recovered))) => self.add(recovered),
                Some(ended) => return self.pause(ended.err()).await,
                None => return,
            }
        }
    }

    /// The next task: tasks that have not failed yet come first.
    fn due(&mut self) -> Option<Task> {
        let now = self.engine.transport().now();
        let due = self.tasks.iter().filter(|(_, task)| task.may_be_handled() && task.due <= now);
        let id = due.min_by_key(|(_, task)| (task.failures > 0, task.due))?.0.clone();
        self.tasks.remove(&id)
    }

    /// The task, if the handler must be called: not if only finishing its entry is left.
    async fn prepared(&mut self, task: Task) -> Option<Task> {
        if task.is_handled {
            self.finish(task).await;
            return None;
        }
        match self.deliveries.is_still_true(&task.result).await {
            Ok(is_true) => is_true.then_some(task),
            Err(error) => {
                self.failed(task, NOT_DELIVERED, error.to_string());
                None
            }
        }
    }

    async fn finish(&mut self, task: Task) {
        let recovery = match &self.phase {
            Phase::Recovering { recovery, .. } => Some(recovery.clone()),
            Phase::Pausing { .. } | Phase::Ending => None,
        };
        if let Err(error) = self.deliveries.finish(&task.result, recovery).await {
            self.failed(task, NOT_FINISHED, error.to_string());
        }
    }

    /// Finishes delivered payments while no other process can deliver them.
    async fn finish_delivered(&mut self) {
        let (delivered, others) = std::mem::take(&mut self.tasks).into_iter().partition(|(_, task)| task.is_handled);
        self.tasks = others;
        for task in BTreeMap::into_values(delivered) {
            self.finish(task).await;
        }
    }

    /// Schedules a retry, after a pause that doubles. At the end there is no retry.
    fn failed(&mut self, mut task: Task, message: &'static str, problem: String) {
        let pause = self.pause_after(task.failures, self.policy.longest_pause);
        record(Level::WARN, message, Some(what(&task.result)), Some(pause), Some(problem));
        if !self.is_ending() {
            task.failures = task.failures.saturating_add(1);
            task.due = after(self.engine.transport().now(), pause);
            self.tasks.insert(id_of(&task.result).to_owned(), task);
        }
    }

    fn pause_after(&self, failures: u32, longest: Duration) -> Duration {
        self.policy.first_pause.saturating_mul(2_u32.saturating_pow(failures)).min(longest)
    }

    /// The recovery has ended: at its deadline, or by an error, which says nothing about a payment.
    async fn pause(&mut self, error: Option<PaymentError>) {
        if self.engine.is_closed() {
            return self.end().await;
        }
        self.finish_delivered().await;
        let now = self.engine.transport().now();
        let lived = match &self.phase {
            Phase::Recovering { begun, .. } => now.saturating_duration_since(*begun),
            Phase::Pausing { .. } | Phase::Ending => Duration::ZERO,
        };
        if error.is_none() || lived > LONGEST_PAUSE_OF_RECOVERY {
            self.failed_recoveries = 0;
        }
        let longest = LONGEST_PAUSE_OF_RECOVERY.min(self.policy.longest_pause);
        let pause = self.pause_after(self.failed_recoveries, longest);
        self.failed_recoveries = self.failed_recoveries.saturating_add(1);
        if let Some(error) = error {
            let message = "the recovery failed, and begins again";
            record(Level::WARN, message, None, Some(pause), Some(error.to_string()));
        }
        // Another process may deliver now. Charged payments are returned again; results that this recovery has not reported were finished
        // elsewhere.
        self.tasks.retain(|_, task| task.may_be_handled());
        self.tasks.values_mut().for_each(|task| task.is_reported = false);
        self.phase = Phase::Pausing { until: after(now, pause) };
    }

    /// Begins the next recovery after the pause.
    async fn begin_again(&mut self) {
        let now = self.engine.transport().now();
        if !matches!(self.phase, Phase::Pausing { until } if until <= now) {
            return;
        }
        match recovery_of(&self.engine, self.policy) {
            Ok(recovery) => self.phase = Phase::Recovering { recovery, begun: now },
            Err(error) => self.pause(Some(error)).await,
        }
    }

    /// Lets other processes recover. Undelivered charged payments are left to the next worker. All other results would not be returned
    /// again, and are handled now, except failed ones, because their retries have no time limit.
    async fn end(&mut self) {
        self.finish_delivered().await;
        if let Phase::Recovering { recovery, .. } = std::mem::replace(&mut self.phase, Phase::Ending) {
            // Results that are already available.
            while let Some(Ok(Some(recovered))) = recovery.next().now_or_never() {
                self.add(recovered);
            }
            recovery.cancel();
        }
        let now = self.engine.transport().now();
        self.tasks.retain(|_, task| task.is_handled || !is_charged(&task.result) && task.failures == 0);
        for task in self.tasks.values_mut() {
            task.due = now;
        }
    }
}

impl Task {
    fn may_be_handled(&self) -> bool {
        self.is_reported || self.is_handled || !is_charged(&self.result)
    }
}

/// While it exists, no other process delivers: its next result is taken before the previous one is delivered, and failed tasks are retried.
fn recovery_of(engine: &Arc<Engine>, policy: DeliveryPolicy) -> Result<Recovery, PaymentError> {
    let policy = RecoveryPolicy::default()
        .with_interval(policy.interval)
        .with_at_once(policy.at_once)
        .with_deadline(ONE_RECOVERY)
        .with_follow_new(true);
    let recovery = Recovery::new(engine.clone(), policy)?;
    recovery.hold_lock();
    Ok(recovery)
}
