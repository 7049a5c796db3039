//! The runtime that drives the network: one for the process, started at first use.
//!
//! It is Kassa's own because callers come from other executors, plain threads and phones, and because a payment on its way must
//! outlive the caller that started it.

use once_cell::{race::OnceBox, sync::OnceCell};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::{config::misconfigured, error::PaymentError};

/// Payments wait for the network, not for a processor.
const WORKERS: usize = 2;

/// Threads do not survive a fork, so a forked child has a runtime of its own, found by way of those of its forebears. Those are
/// left behind as they are: their locks may be held by threads that exist no more.
static FIRST: OnceBox<OfProcess> = OnceBox::new();

struct OfProcess {
    process: u32,
    runtime: OnceCell<Runtime>,
    of_child: OnceBox<OfProcess>,
}

/// The runtime, started if need be. That it cannot be started is an error to report, not a panic.
pub(crate) fn handle() -> Result<Handle, PaymentError> {
    let start = || Builder::new_multi_thread().worker_threads(WORKERS).thread_name("kassa").enable_all().build();
    let runtime = of_this_process().runtime.get_or_try_init(start).map_err(|problem: std::io::Error| {
        misconfigured(format!("the network threads could not be started: {problem}"))
    })?;
    Ok(runtime.handle().clone())
}

fn of_this_process() -> &'static OfProcess {
    let process = std::process::id();
    let fresh = || Box::new(OfProcess { process, runtime: OnceCell::new(), of_child: OnceBox::new() });
    let mut place = &FIRST;
    loop {
        let found = place.get_or_init(fresh);
        if found.process == process {
            return found;
        }
        place = &found.of_child;
    }
}
