//! Blocking calls of other languages (Python's `Gateway`, Java's `BlockingGateway`): the calling thread runs one of UniFFI's
//! futures to its end, without an event loop, and drives the network where that is a query.
//!
//! The generated Python can only await, so a blocking caller would turn an event loop for each call. Here the thread
//! stays in the library, which leaves the interpreter's lock to others. A query wakes no other thread: the connection is
//! this thread's for as long as it lasts, and then the next caller's.
//!
//! For the JVM a boolean is a byte, and its memory for `running` begins as zeros, which are null.
//!
//! Why, and when it goes: `docs/adr/0005-fast-calls-from-other-languages.md`.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use kassa::_calling_thread::CallingThread;
use uniffi::RustFuturePoll;

use crate::wake_up::{LastPoll, Progress};

/// UniFFI's function that polls a future and has its continuation called, once, during the poll or after it.
pub type PollFunction =
    unsafe extern "C" fn(future: u64, continuation: extern "C" fn(u64, RustFuturePoll), ticket: u64);

/// How long a call runs that nobody looks at meanwhile.
const WITHOUT_END: u64 = u64::MAX;

/// One call, between two slices of its time.
pub struct Running {
    thread: CallingThread,
    future: ForeignFuture,
}

impl Running {
    /// True where it has come to its end.
    fn go_on(&mut self, milliseconds: u64) -> bool {
        if milliseconds == WITHOUT_END {
            self.thread.run(&mut self.future);
            return true;
        }
        self.thread.run_for(&mut self.future, Duration::from_millis(milliseconds)).is_some()
    }
}

/// A future of UniFFI's as one of Rust's. It is ready when that one is, whose result is fetched and which is freed by
/// UniFFI's own functions.
struct ForeignFuture {
    future: u64,
    poll: PollFunction,
    is_begun: bool,
    /// Owned by each poll, too, whose continuation was not called yet.
    last_poll: Arc<LastPoll>,
}

impl Future for ForeignFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.is_begun {
                match self.last_poll.progress(cx.waker()) {
                    Some(Progress::Ready) => return Poll::Ready(()),
                    Some(Progress::Woken) => {}
                    None => return Poll::Pending,
                }
            }
            self.is_begun = true;
            let ticket = Arc::into_raw(self.last_poll.clone()) as u64;
            // SAFETY: liveness. Whoever began this says that the future lives, is polled by nobody else, and that the
            // function is the one for it. `over` gets the share that the ticket is.
            unsafe { (self.poll)(self.future, over, ticket) };
        }
    }
}

/// The continuation.
extern "C" fn over(ticket: u64, code: RustFuturePoll) {
    // SAFETY: ownership. The ticket came from `Arc::into_raw` with a share for the continuation; UniFFI calls the
    // continuation of each poll exactly once, so that share is taken back here and nowhere else.
    let last_poll = unsafe { Arc::from_raw(ticket as *const LastPoll) };
    last_poll.over(if matches!(code, RustFuturePoll::Ready) { Progress::Ready } else { Progress::Woken });
}

/// Runs a call on the calling thread, but not for longer than so many milliseconds; without end for the largest number.
/// The thread drives the network meanwhile where `drives` is not zero, which is for queries.
///
/// True where the future is ready. Otherwise `running` holds the call afterwards, to be run on by the same function, or given
/// to [`kassa_blocking_end`]; it is null before the first time, and once the future is ready.
///
/// # Safety
/// The future lives, is polled by nobody else, and the function is UniFFI's for it. `running` is null or what this
/// function has left there for the same future, and nobody else uses it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_blocking_run(
    future: u64,
    poll: PollFunction,
    running: &mut Option<Box<Running>>,
    drives: u8,
    milliseconds: u64,
) -> bool {
    let thread = || if drives == 0 { CallingThread::that_waits() } else { CallingThread::that_drives() };
    let call = running.get_or_insert_with(|| {
        let future = ForeignFuture { future, poll, is_begun: false, last_poll: Arc::default() };
        Box::new(Running { thread: thread(), future })
    });
    let is_ready = call.go_on(milliseconds);
    if is_ready {
        *running = None;
    }
    is_ready
}

/// Gives up a call. Its future is still to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn kassa_blocking_end(running: Option<Box<Running>>) {
    drop(running);
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Mutex,
            atomic::{AtomicU64, Ordering},
            mpsc,
        },
        thread,
    };

    use super::*;

    /// Stands in for UniFFI: polls are answered as a test says. The future's number is the address of one of these.
    struct Script {
        polls: AtomicU64,
        waiting: Mutex<Vec<u64>>,
        polled: mpsc::Sender<()>,
    }

    /// Ready at the third poll; the first is woken at once, and the second by the test.
    unsafe extern "C" fn poll(future: u64, continuation: extern "C" fn(u64, RustFuturePoll), ticket: u64) {
        // SAFETY: liveness. The number is the address of a script that outlives the call.
        let script = unsafe { &*(future as *const Script) };
        match script.polls.fetch_add(1, Ordering::SeqCst) {
            0 => continuation(ticket, RustFuturePoll::Wake),
            1 => {
                script.waiting.lock().unwrap().push(ticket);
                script.polled.send(()).unwrap();
            }
            _ => continuation(ticket, RustFuturePoll::Ready),
        }
    }

    fn script() -> (Script, mpsc::Receiver<()>) {
        let (polled, is_polled) = mpsc::channel();
        (Script { polls: AtomicU64::new(0), waiting: Mutex::default(), polled }, is_polled)
    }

    fn run(script: &Script, running: &mut Option<Box<Running>>, drives: u8, milliseconds: u64) -> bool {
        // SAFETY: the script lives, and only the calling thread runs it.
        unsafe { kassa_blocking_run(std::ptr::from_ref(script) as u64, poll, running, drives, milliseconds) }
    }

    #[test]
    fn a_call_runs_until_it_is_ready() {
        for drives in [0, 1] {
            let (script, is_polled) = script();
            let script = &script;
            thread::scope(|scope| {
                scope.spawn(move || {
                    is_polled.recv().unwrap();
                    over(script.waiting.lock().unwrap().pop().unwrap(), RustFuturePoll::Wake);
                });
                let mut running = None;
                assert!(run(script, &mut running, drives, WITHOUT_END));
                assert!(running.is_none());
            });
            assert_eq!(script.polls.load(Ordering::SeqCst), 3);
        }
    }

    #[test]
    fn a_call_runs_in_slices() {
        for drives in [0, 1] {
            let (script, _is_polled) = script();
            let mut running = None;
            assert!(!run(&script, &mut running, drives, 1) && !run(&script, &mut running, drives, 1));
            assert_eq!(script.polls.load(Ordering::SeqCst), 2, "it is polled again when it is woken");
            over(script.waiting.lock().unwrap().pop().unwrap(), RustFuturePoll::Wake);
            assert!(run(&script, &mut running, drives, WITHOUT_END));
        }
    }

    #[test]
    fn a_call_that_is_given_up_may_be_over_later() {
        let (script, _is_polled) = script();
        let mut running = None;
        assert!(!run(&script, &mut running, 1, 1));
        kassa_blocking_end(running);
        over(script.waiting.lock().unwrap().pop().unwrap(), RustFuturePoll::Ready);
    }
}
