//! Logging: passes the events of calls to the host's `tracing` subscribers.
//!
//! A subscriber is the host's code. It may be slow, block or panic, and must not affect a payment: so it is called on
//! its own thread, from a bounded queue, and no call waits for it. The network's threads have no subscriber either
//! (`transport::runtime`).

use std::{
    cell::Cell,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use once_cell::sync::OnceCell;
use tracing::{Level, debug, info, level_filters::LevelFilter, warn};

use crate::transport::runtime::PerProcess;

/// Limit of the queue: a hanging subscriber must not fill the memory. Further events are dropped, and counted.
const MOST_WAITING: usize = 1000;

/// One event of a call. It names its call itself, for subscribers without spans, and contains neither secrets nor
/// bodies.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The number of the call, if another language gave it one; else 0. See [`Caller`].
    #[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
    pub(crate) call: u64,
    pub(crate) endpoint: &'static str,
    pub(crate) order: Option<Arc<str>>,
    pub(crate) details: EventDetails,
}

#[derive(Clone, Debug)]
pub(crate) enum EventDetails {
    /// An attempt has its response.
    Responded { attempt: u32, http_status: u16, duration_ms: u64 },
    /// An attempt ended without a response.
    NoResponse { attempt: u32, duration_ms: u64, failure: String },
    /// A payment has its response, and its caller is gone.
    NobodyWaits,
    /// A payer's checkout got no usable answer from the merchant's server.
    CheckoutFailed { http_status: Option<u16>, duration_ms: u64, failure: String },
    /// A recovery waits until another recovery of the same journal ends.
    WaitsForRecovery { journal: String },
    /// A worker that delivers: a result, a failure with the pause after it, its end.
    Delivery {
        level: Level,
        message: &'static str,
        result: Option<String>,
        pause_ms: Option<u64>,
        detail: Option<String>,
    },
}

impl Event {
    /// Queues the event. It runs no code of the host, and does not wait.
    pub(crate) fn record(self) {
        if let Some(listener) = LISTENER.get() {
            listener(&self);
        }
        // If no subscriber wants the level, or there is none, nothing else happens.
        if self.level() <= LevelFilter::current() {
            later(move |dropped| self.emit(dropped));
        }
    }

    pub(crate) fn level(&self) -> Level {
        match self.details {
            EventDetails::Responded { .. } => Level::DEBUG,
            EventDetails::WaitsForRecovery { .. } => Level::INFO,
            EventDetails::NoResponse { .. } | EventDetails::NobodyWaits | EventDetails::CheckoutFailed { .. } => {
                Level::WARN
            }
            EventDetails::Delivery { level, .. } => level,
        }
    }

    pub(crate) fn message(&self) -> &'static str {
        match self.details {
            EventDetails::Responded { .. } => "responded",
            EventDetails::NoResponse { .. } => "no response",
            EventDetails::NobodyWaits => "the payment has its response, but its caller has stopped waiting",
            EventDetails::CheckoutFailed { .. } => "a call of the checkout failed",
            EventDetails::WaitsForRecovery { .. } => "another process recovers this journal: waiting until it ends",
            EventDetails::Delivery { message, .. } => message,
        }
    }

    /// Calls the subscriber.
    fn emit(&self, dropped: usize) {
        if dropped > 0 {
            warn!(target: "kassa", dropped, "{DROPPED}");
        }
        let (endpoint, order, message) = (self.endpoint, self.order.as_deref(), self.message());
        match &self.details {
            EventDetails::Responded { attempt, http_status, duration_ms } => {
                debug!(target: "kassa", endpoint, order, attempt, http_status, duration_ms, "{message}");
            }
            EventDetails::NoResponse { attempt, duration_ms, failure } => {
                warn!(target: "kassa", endpoint, order, attempt, duration_ms, %failure, "{message}");
            }
            EventDetails::NobodyWaits => warn!(target: "kassa", endpoint, order, "{message}"),
            EventDetails::CheckoutFailed { http_status, duration_ms, failure } => {
                warn!(target: "kassa", endpoint, http_status, duration_ms, %failure, "{message}");
            }
            EventDetails::WaitsForRecovery { journal } => info!(target: "kassa", endpoint, journal, "{message}"),
            EventDetails::Delivery { level, result, pause_ms, detail, .. } => {
                let (result, detail) = (result.as_deref(), detail.as_deref());
                if *level == Level::WARN {
                    warn!(target: "kassa", endpoint, result, pause_ms, detail, "{message}");
                } else {
                    info!(target: "kassa", endpoint, result, pause_ms, detail, "{message}");
                }
            }
        }
    }
}

/// The message for dropped events, with their number.
pub(crate) const DROPPED: &str = "earlier events were dropped, because the receiver of the log is too slow";

/// Kassa's own listener, called synchronously for every event in addition to the subscriber. It must return at once.
static LISTENER: OnceLock<fn(&Event)> = OnceLock::new();

/// Sets the listener. There is only one; the first one stays.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub(crate) fn listen(listener: fn(&Event)) {
    LISTENER.get_or_init(|| listener);
}

/// Passes an event to the host. The argument is how many were dropped before it.
pub(crate) fn later(job: impl FnOnce(usize) + Send + 'static) {
    static LOG: HostThread = HostThread::new("kassa-log");
    LOG.run(job);
}

/// A thread that runs code of the host, where it cannot affect calls: one for the log, and one for telemetry, so that neither waits for the
/// other. It starts with its first job.
pub(crate) struct HostThread {
    name: &'static str,
    queue: PerProcess<OnceCell<Option<Queue>>>,
}

/// The thread of observers of calls, and of subscribers that want spans.
pub(crate) static TELEMETRY: HostThread = HostThread::new("kassa-telemetry");

impl HostThread {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, queue: PerProcess::new() }
    }

    /// Runs a job later. Its argument is how many were dropped before it. If the queue is full, the job is dropped, too, and the result is
    /// false.
    pub(crate) fn run(&self, job: impl FnOnce(usize) + Send + 'static) -> bool {
        self.queue().is_some_and(|queue| queue.push(Box::new(job)))
    }

    /// Runs a job that must not be lost, such as the end of an earlier job: even a full queue accepts it.
    pub(crate) fn run_for_certain(&self, job: impl FnOnce() + Send + 'static) {
        if let Some(queue) = self.queue() {
            queue.push_for_certain(Box::new(move |_| job()));
        }
    }

    /// Whether it can accept another job now.
    pub(crate) fn has_room(&self) -> bool {
        self.queue().is_some_and(|queue| queue.counts.waiting.load(Ordering::Relaxed) < MOST_WAITING)
    }

    /// `None` if no thread can be started: a payment is worth more than its log.
    fn queue(&self) -> Option<&Queue> {
        self.queue.get().get_or_init(|| Queue::start(self.name)).as_ref()
    }
}

type Job = Box<dyn FnOnce(usize) + Send>;

struct Queue {
    jobs: Sender<Job>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    waiting: AtomicUsize,
    dropped: AtomicUsize,
}

impl Queue {
    fn start(name: &str) -> Option<Self> {
        let (sender, jobs) = channel();
        let counts = Arc::<Counts>::default();
        let work = {
            let counts = counts.clone();
            move || run_all(jobs, &counts)
        };
        thread::Builder::new().name(name.to_owned()).spawn(work).ok()?;
        Some(Self { jobs: sender, counts })
    }

    fn push(&self, job: Job) -> bool {
        if self.counts.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.jobs.send(job).is_ok()
    }

    fn push_for_certain(&self, job: Job) {
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        // The thread never ends, so the job is not lost here either.
        let _ = self.jobs.send(job);
    }
}

fn run_all(jobs: Receiver<Job>, counts: &Counts) {
    for job in jobs {
        counts.waiting.fetch_sub(1, Ordering::Relaxed);
        let dropped = counts.dropped.swap(0, Ordering::Relaxed);
        // The host's panic hook has already reported the panic, and the next event is still passed on.
        let _ = catch_unwind(AssertUnwindSafe(|| job(dropped)));
    }
}

// Call numbers: another language gives one to each of its calls, and each log event carries that of its call (`ffi::logging`). Calls have a
// number only if the log is read.

thread_local! {
    /// The number of the call that this thread runs now; 0 if it has none.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
}

/// How many requests of each call are in flight. A payment outlives a caller that has gone.
static UNDER_WAY: PerProcess<Mutex<HashMap<u64, usize>>> = PerProcess::new();

/// Runs a part of a call on this thread. Requests that it sends have the call's number.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub fn as_call<T>(number: u64, work: impl FnOnce() -> T) -> T {
    let _before = Before(RUNNING.replace(number));
    work()
}

/// The number of the call that this thread runs now; 0 if it has none.
pub(crate) fn running_call() -> u64 {
    RUNNING.get()
}

/// Cleanup (RAII guard), also if the work panics.
struct Before(u64);

impl Drop for Before {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// The call that a request belongs to, held for as long as the request can log.
pub(crate) struct Caller(u64);

impl Caller {
    /// The call that this thread runs.
    pub(crate) fn here() -> Self {
        let number = running_call();
        if number != 0 {
            *under_way().entry(number).or_default() += 1;
        }
        Self(number)
    }

    /// Its number; 0 for none.
    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        let mut under_way = under_way();
        // Fork safety: a child has no entry, because it belongs to the parent.
        if let Some(requests) = under_way.get_mut(&self.0) {
            *requests -= 1;
            if *requests == 0 {
                under_way.remove(&self.0);
            }
        }
    }
}

/// The calls that have a request in flight.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub(crate) fn those_under_way(calls: &[u64]) -> Vec<u64> {
    let under_way = under_way();
    calls.iter().copied().filter(|call| under_way.contains_key(call)).collect()
}

fn under_way() -> MutexGuard<'static, HashMap<u64, usize>> {
    UNDER_WAY.get().lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn blocking_log_job_drops_only_overflow() {
        let queue = Queue::start("kassa-log").unwrap();
        let (release, released) = channel::<()>();
        let (began, begins) = channel();
        queue.push(Box::new(move |_| {
            began.send(()).unwrap();
            released.recv().unwrap();
        }));
        begins.recv().unwrap();

        let (ran, runs) = channel();
        for number in 0..MOST_WAITING + 2 {
            let ran = ran.clone();
            queue.push(Box::new(move |dropped| ran.send((number, dropped)).unwrap()));
        }
        release.send(()).unwrap();
        let first: Vec<_> = runs.iter().take(MOST_WAITING).collect();
        assert_eq!(first[0], (0, 2), "the next one is told how many were dropped");
        assert_eq!(*first.last().unwrap(), (MOST_WAITING - 1, 0));

        let ran = ran.clone();
        queue.push(Box::new(move |dropped| ran.send((usize::MAX, dropped)).unwrap()));
        assert_eq!(runs.recv().unwrap(), (usize::MAX, 0));
    }
}
