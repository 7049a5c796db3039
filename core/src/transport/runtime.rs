//! Kassa's own async runtime (tokio): one for the process, started at first use. Also values for each process, and blocking of SIGPIPE on
//! threads that write to the network.

use once_cell::{race::OnceBox, sync::OnceCell};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::error::PaymentError;

/// Payments wait for the network, not for a processor. With one worker, the host's code that handles an answer (such as a JVM coroutine)
/// would delay all other answers.
const WORKERS: usize = 2;

static RUNTIME: PerProcess<OnceCell<Runtime>> = PerProcess::new();

/// The runtime, started if needed. A failed start is an error, not a panic.
pub(crate) fn handle() -> Result<Handle, PaymentError> {
    let start = || {
        Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("kassa")
            .on_thread_start(|| {
                sigpipe::hold_back_for_good();
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

/// Logging: gives these threads no subscriber of `tracing`. The HTTP client logs every step, also between the arrival
/// of a response and its caller, and a subscriber that panics or blocks there would lose a payment's answer. Kassa's
/// own events are passed on elsewhere (`pipeline::log`).
fn keep_subscribers_out() {
    // Until the thread ends.
    std::mem::forget(tracing::dispatcher::set_default(&tracing::Dispatch::none()));
}

/// Runs work without a subscriber on a thread of the host.
pub(crate) fn without_subscriber<T>(work: impl FnOnce() -> T) -> T {
    tracing::dispatcher::with_default(&tracing::Dispatch::none(), work)
}

// Fork safety: a static value for each process.

/// A linked list with a value for each process, from the first one to its forked descendants.
///
/// Threads do not survive a fork, so their data must not be shared with a forked child: a lock may be held by a thread
/// that does not exist there. A child appends its own value, and does not touch those of its ancestors.
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
        self.of(std::process::id())
    }

    /// The value of this process. The caller has just read the id, which takes a system call.
    pub(crate) fn of(&self, process: u32) -> &T {
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

// SIGPIPE. Writing to a connection that the gateway has closed is an error of that request; on Linux it also raises this
// signal, which ends a process that does not ignore it. Rust and Python programs ignore it, programs in Swift and C do not
// (<https://github.com/tokio-rs/mio/issues/577>).

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) mod sigpipe {
    use std::{
        fs,
        sync::atomic::{AtomicU8, Ordering},
    };

    use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};

    /// Blocks the signal permanently on one of Kassa's own threads.
    pub(crate) fn hold_back_for_good() {
        // It fails only for an unknown signal, and this one is known.
        let _ = sigpipe().thread_block();
    }

    /// Blocks the signal on a thread of the host until this is dropped. `None` if the signal would not end the process.
    pub(crate) struct HeldBack(Option<SigSet>);

    impl HeldBack {
        pub(crate) fn here() -> Self {
            Self(ends_the_process().then(|| sigpipe().thread_swap_mask(SigmaskHow::SIG_BLOCK).ok()).flatten())
        }
    }

    impl Drop for HeldBack {
        fn drop(&mut self) {
            let Some(before) = self.0.take() else { return };
            if !before.contains(Signal::SIGPIPE) {
                // Signals do not queue: if one is pending, raising another changes nothing. So exactly one is consumed
                // here, and none is left to be delivered.
                let _ = raise(Signal::SIGPIPE).and_then(|()| sigpipe().wait());
                let _ = before.thread_set_mask();
            }
        }
    }

    fn sigpipe() -> SigSet {
        SigSet::from(Signal::SIGPIPE)
    }

    /// Whether the process neither ignores nor handles it. A program decides that when it starts, so it is read once;
    /// two concurrent threads may both read it, because a lock could be held while the process forks.
    fn ends_the_process() -> bool {
        const UNKNOWN: u8 = 2;
        static ENDS: AtomicU8 = AtomicU8::new(UNKNOWN);
        match ENDS.load(Ordering::Relaxed) {
            UNKNOWN => {
                let ends = fs::read_to_string("/proc/self/status").map_or(true, |status| !is_spared(&status));
                ENDS.store(ends.into(), Ordering::Relaxed);
                ends
            }
            ends => ends != 0,
        }
    }

    fn is_spared(status: &str) -> bool {
        let bit = 1_u64 << (Signal::SIGPIPE as u32 - 1);
        let has_it = |mask: &str| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & bit != 0);
        let masks = status.lines().filter_map(|line| line.strip_prefix("SigIgn:").or(line.strip_prefix("SigCgt:")));
        masks.into_iter().any(has_it)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn rust_programs_ignore_it() {
            assert!(!ends_the_process());
            assert!(is_spared("Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000000\n"));
            assert!(is_spared("SigIgn:\t0000000000000000\nSigCgt:\t0000000180001440\n"));
            assert!(!is_spared("SigIgn:\t0000000000000fff\nSigCgt:\t0000000180000440\n"));
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) mod sigpipe {
    pub(crate) fn hold_back_for_good() {}

    pub(crate) struct HeldBack;

    impl HeldBack {
        pub(crate) fn here() -> Self {
            Self
        }
    }
}
