//! Kassa's own async runtime (tokio): one for the process, started at first use. It drives payments, and queries of callers
//! that have no runtime.
//!
//! It is Kassa's own because callers come from other executors, plain threads and phones, and because a payment on its
//! way must outlive the caller that started it (`docs/adr/0002-a-runtime-of-its-own.md`).

use once_cell::sync::OnceCell;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::{
    error::PaymentError,
    transport::{broken_pipe, per_process::PerProcess},
};

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
