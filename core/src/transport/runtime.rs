//! Kassa's own async runtime (tokio): one for the process, started at first use, and values that each process has for itself.

use once_cell::{race::OnceBox, sync::OnceCell};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::{error::PaymentError, transport::broken_pipe};

/// Payments wait for the network, not for a processor. With one, whatever answers runs of the host's (a coroutine of the JVM's) would
/// hold up all other answers.
const WORKERS: usize = 2;

static RUNTIME: PerProcess<OnceCell<Runtime>> = PerProcess::new();

/// The runtime, started if need be. That it cannot be started is an error to report, not a panic.
pub(crate) fn handle() -> Result<Handle, PaymentError> {
    let start = || {
        Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("kassa")
            .on_thread_start(|| {
                broken_pipe::hold_back_for_good();
                keep_subscribers_out();
            })
            .enable_all()
            .build()
    };
    let runtime = RUNTIME.get().get_or_try_init(start).map_err(|problem: std::io::Error| {
        PaymentError::misconfigured(format!("the network threads could not be started: {problem}"))
    })?;
    Ok(runtime.handle().clone())
}

/// Logging: gives these threads no subscriber of `tracing`. The HTTP client tells it of every step, also between the
/// bytes of a response and whoever waits for it, and a subscriber that panics or blocks there would cost a payment its
/// answer. Kassa's own events are handed over elsewhere (`pipeline::log`).
fn keep_subscribers_out() {
    // Until the thread ends.
    std::mem::forget(tracing::dispatcher::set_default(&tracing::Dispatch::none()));
}

/// The same for a moment, on a thread of the host's.
pub(crate) fn without_subscriber<T>(work: impl FnOnce() -> T) -> T {
    tracing::dispatcher::with_default(&tracing::Dispatch::none(), work)
}

// Fork safety: a static value that each process has for itself.

/// A linked list with a value for each process, from the first one to its forked descendants.
///
/// Threads do not survive a fork, so what they use must not be shared with a forked child: a lock may be held by a
/// thread that does not exist there. A child appends a value of its own, and leaves those of its ancestors as they are.
pub(crate) struct PerProcess<T> {
    first: OnceBox<OfProcess<T>>,
}

struct OfProcess<T> {
    process: u32,
    value: T,
    of_child: OnceBox<OfProcess<T>>,
}

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self { first: OnceBox::new() }
    }

    /// The value of this process.
    pub(crate) fn get(&self) -> &T {
        let process = std::process::id();
        let fresh = || Box::new(OfProcess { process, value: T::default(), of_child: OnceBox::new() });
        let mut place = &self.first;
        loop {
            let found = place.get_or_init(fresh);
            if found.process == process {
                return &found.value;
            }
            place = &found.of_child;
        }
    }
}
