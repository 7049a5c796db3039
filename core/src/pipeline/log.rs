//! Logging: what happened in a call, handed to the host's subscribers of `tracing`.
//!
//! A subscriber is the host's code. It may be slow, block or panic, and nothing of that may reach a payment: so it is
//! called on a thread of its own, out of a bounded queue that nobody waits for. An event is recorded in the meantime,
//! and its call goes on. Nor do the network's threads have a subscriber (`transport::runtime`).

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

/// Limit of the queue: a subscriber that hangs must not fill the memory. Further events are dropped, and counted.
const MOST_WAITING: usize = 1000;

/// One event of a call. It names its call itself, for subscribers that know no spans, and has neither secrets nor bodies
/// in it.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// The number of the call, where another language gave it one; else 0. See [`Caller`].
    #[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
    pub(crate) call: u64,
    pub(crate) endpoint: &'static str,
    pub(crate) order: Option<Arc<str>>,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// An attempt has its response.
    Responded { attempt: u32, http_status: u16, duration_ms: u64 },
    /// An attempt ended without one.
    NoResponse { attempt: u32, duration_ms: u64, failure: String },
    /// A payment has its response, and its caller is gone.
    NobodyWaits,
    /// A payer's checkout has nothing of a call to the merchant's server.
    CheckoutFailed { http_status: Option<u16>, duration_ms: u64, failure: String },
    /// A recovery waits until another one of the same journal ends.
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
    /// Hands the event on. No code of the host runs meanwhile, and nothing is waited for.
    pub(crate) fn record(self) {
        if let Some(listener) = LISTENER.get() {
            listener(&self);
        }
        // Where no subscriber wants the level, as where there is none, this is all.
        if self.level() <= LevelFilter::current() {
            later(move |dropped| self.emit(dropped));
        }
    }

    pub(crate) fn level(&self) -> Level {
        match self.what {
            What::Responded { .. } => Level::DEBUG,
            What::WaitsForRecovery { .. } => Level::INFO,
            What::NoResponse { .. } | What::NobodyWaits | What::CheckoutFailed { .. } => Level::WARN,
            What::Delivery { level, .. } => level,
        }
    }

    pub(crate) fn message(&self) -> &'static str {
        match self.what {
            What::Responded { .. } => "responded",
            What::NoResponse { .. } => "no response",
            What::NobodyWaits => "the payment has its response, but nobody waits for it any more",
            What::CheckoutFailed { .. } => "a call of the checkout failed",
            What::WaitsForRecovery { .. } => "another process recovers this journal: waiting until it ends",
            What::Delivery { message, .. } => message,
        }
    }

    /// Calls the subscriber.
    fn emit(&self, dropped: usize) {
        if dropped > 0 {
            warn!(target: "kassa", dropped, "{DROPPED}");
        }
        let (endpoint, order, message) = (self.endpoint, self.order.as_deref(), self.message());
        match &self.what {
            What::Responded { attempt, http_status, duration_ms } => {
                debug!(target: "kassa", endpoint, order, attempt, http_status, duration_ms, "{message}");
            }
            What::NoResponse { attempt, duration_ms, failure } => {
                warn!(target: "kassa", endpoint, order, attempt, duration_ms, %failure, "{message}");
            }
            What::NobodyWaits => warn!(target: "kassa", endpoint, order, "{message}"),
            What::CheckoutFailed { http_status, duration_ms, failure } => {
                warn!(target: "kassa", endpoint, http_status, duration_ms, %failure, "{message}");
            }
            What::WaitsForRecovery { journal } => info!(target: "kassa", endpoint, journal, "{message}"),
            What::Delivery { level, result, pause_ms, detail, .. } => {
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

/// What is said where events were dropped, with their number.
pub(crate) const DROPPED: &str = "earlier events were dropped, because whoever takes them is too slow";

/// Who hears of every event at once, beside the subscriber: code of Kassa's own, which must return at once.
static LISTENER: OnceLock<fn(&Event)> = OnceLock::new();

/// Sets the listener. There is one; the first that is set stays.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub(crate) fn listen(listener: fn(&Event)) {
    LISTENER.get_or_init(|| listener);
}

/// Hands an event to the host. The argument is how many were dropped before it.
pub(crate) fn later(job: impl FnOnce(usize) + Send + 'static) {
    static LOG: HostThread = HostThread::new("kassa-log");
    LOG.run(job);
}

/// A thread that runs code of the host, where it can do no harm: one for the log, and one for telemetry, so that neither waits for the
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

    /// Runs a job later. Its argument is how many were dropped before it. Where the queue is full, it is dropped, too, and the result is
    /// false.
    pub(crate) fn run(&self, job: impl FnOnce(usize) + Send + 'static) -> bool {
        self.queue().is_some_and(|queue| queue.push(Box::new(job)))
    }

    /// The same for what ends a job that was run, and must not be lost: a full queue takes it, too.
    pub(crate) fn run_for_certain(&self, job: impl FnOnce() + Send + 'static) {
        if let Some(queue) = self.queue() {
            queue.push_for_certain(Box::new(move |_| job()));
        }
    }

    /// Whether it takes a further job at present.
    pub(crate) fn has_room(&self) -> bool {
        self.queue().is_some_and(|queue| queue.counts.waiting.load(Ordering::Relaxed) < MOST_WAITING)
    }

    /// Nothing where there is no thread to be had: a payment is worth more than its log.
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
        // What panics has said so by the host's own panic hook, and the next event is handed on all the same.
        let _ = catch_unwind(AssertUnwindSafe(|| job(dropped)));
    }
}

// Call numbers: another language gives one to each of its calls, and each log event carries that of its call (`ffi::logging`). Calls have a
// number only where the log is read.

thread_local! {
    /// The call that this thread runs at present; 0 for none that has a number.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
}

/// How many requests of each call are under way. A payment outlives a caller that has gone.
static UNDER_WAY: PerProcess<Mutex<HashMap<u64, usize>>> = PerProcess::new();

/// Runs a part of a call on this thread. What the call sends meanwhile has its number.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub fn as_call<T>(number: u64, work: impl FnOnce() -> T) -> T {
    let _before = Before(RUNNING.replace(number));
    work()
}

/// The number of the call that this thread runs at present; 0 for none that has one.
pub(crate) fn running_call() -> u64 {
    RUNNING.get()
}

/// Cleanup (RAII guard), also where the work panics.
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
        // Fork safety: none in a child, where it is the parent's.
        if let Some(requests) = under_way.get_mut(&self.0) {
            *requests -= 1;
            if *requests == 0 {
                under_way.remove(&self.0);
            }
        }
    }
}

/// Those of the calls that have a request under way.
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
