//! SIGPIPE. Writing to a connection that the gateway has closed is an error of that request; on Linux it also raises this
//! signal, which ends a process that does not ignore it. Rust and Python programs ignore it, programs in Swift and C do not
//! (<https://github.com/tokio-rs/mio/issues/577>).

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::{HeldBack, hold_back_for_good};
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use others::{HeldBack, hold_back_for_good};

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use std::{
        fs,
        sync::atomic::{AtomicU8, Ordering},
    };

    use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};

    /// For a thread of Kassa's own.
    pub(crate) fn hold_back_for_good() {
        // It fails only for an unknown signal, and this one is known.
        let _ = broken_pipe().thread_block();
    }

    /// For a thread of the host's, until this is dropped. Nothing where the process would live on anyway.
    pub(crate) struct HeldBack(Option<SigSet>);

    impl HeldBack {
        pub(crate) fn here() -> Self {
            Self(ends_the_process().then(|| broken_pipe().thread_swap_mask(SigmaskHow::SIG_BLOCK).ok()).flatten())
        }
    }

    impl Drop for HeldBack {
        fn drop(&mut self) {
            let Some(before) = self.0.take() else { return };
            if !before.contains(Signal::SIGPIPE) {
                // One more makes no difference to one that is pending, as they do not queue; so one is there to be taken
                // back, and none is left to be delivered.
                let _ = raise(Signal::SIGPIPE).and_then(|()| broken_pipe().wait());
                let _ = before.thread_set_mask();
            }
        }
    }

    fn broken_pipe() -> SigSet {
        SigSet::from(Signal::SIGPIPE)
    }

    /// Whether the process neither ignores nor handles it. A program decides that when it starts, so it is read once; by
    /// two threads at once twice, as a lock could be held while the process forks.
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
mod others {
    pub(crate) fn hold_back_for_good() {}

    pub(crate) struct HeldBack;

    impl HeldBack {
        pub(crate) fn here() -> Self {
            Self
        }
    }
}
