//! Calls by number (Python): whoever polls a call says which one it is, so that its log events come back under that number
//! (`_logs` in Python's package).
//!
//! Upstream: a poll of UniFFI's hands nothing of the caller's on to the future. This goes when it does.

use kassa::_numbered_call::as_call;
use uniffi::RustFuturePoll;

use crate::blocking::{PollFunction, Running, kassa_blocking_run};

/// Polls one of UniFFI's futures as a part of the call with this number.
///
/// # Safety
/// The future lives, is polled by nobody else, and the function is UniFFI's for it. The continuation takes the ticket.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_numbered_poll(
    number: u64,
    poll: PollFunction,
    future: u64,
    continuation: extern "C" fn(u64, RustFuturePoll),
    ticket: u64,
) {
    // SAFETY: what UniFFI's function asks for, the caller has promised.
    as_call(number, || unsafe { poll(future, continuation, ticket) });
}

/// Runs a call as [`kassa_blocking_run`] does, as the one with this number; 0 for none.
///
/// # Safety
/// As of [`kassa_blocking_run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_numbered_run(
    number: u64,
    future: u64,
    poll: PollFunction,
    running: &mut Option<Box<Running>>,
    drives: u8,
    milliseconds: u64,
) -> bool {
    // SAFETY: what that function asks for, the caller has promised.
    as_call(number, || unsafe { kassa_blocking_run(future, poll, running, drives, milliseconds) })
}
