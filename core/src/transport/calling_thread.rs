//! Blocking calls: the calling thread drives the network itself, so that a query wakes no other thread.
//!
//! It borrows a current-thread runtime of tokio, and with it the connections that an earlier caller has made there. What
//! has to outlive the caller runs on Kassa's own threads all the same.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::transport::runtime::{self, PerProcess, sigpipe::HeldBack, without_subscriber};

/// Runtimes that nobody uses at the moment, with the time since when; the last one used at the end. Not thread-locals: a
/// connection would stay behind with each thread of a pool, and be closed with each that ends.
static IDLE: PerProcess<Mutex<Vec<(Instant, Runtime)>>> = PerProcess::new();

/// More than this many are not kept: each holds a connection for each gateway.
const MOST_IDLE: usize = 16;

/// Nobody drives an idle runtime, so nobody sees that its connections end. As long as other idle connections are kept.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// What one blocking call waits with.
pub struct CallingThread {
    process: u32,
    /// None where Kassa's own threads drive the network.
    runtime: Option<Runtime>,
}

impl CallingThread {
    /// It drives the network until this is dropped: for a query. Not where the thread belongs to a runtime already, which
    /// lets no other one run there, or where none can be made.
    pub fn that_drives() -> Self {
        let of_host = Handle::try_current().is_ok();
        let fresh = || Builder::new_current_thread().enable_all().build().ok();
        let runtime = if of_host { None } else { taken().or_else(fresh) };
        Self { process: std::process::id(), runtime }
    }

    /// It only waits: for what is no query, or may take days. A runtime for each would be three file descriptors for nothing.
    pub fn that_waits() -> Self {
        Self { process: std::process::id(), runtime: None }
    }

    /// Runs a future to its end.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        // Fork safety: a child must not drive what it shares with its parent.
        let Some(runtime) = self.runtime.as_ref().filter(|_| self.process == std::process::id()) else {
            return on_own_threads(future);
        };
        let _held_back = HeldBack::here();
        without_subscriber(|| runtime.block_on(future))
    }

    /// Runs a future to its end, but not for longer than this; nothing where it has not come to it.
    #[cfg(any(test, feature = "uniffi"))]
    pub fn run_for<F: Future + Unpin>(&self, future: &mut F, longest: Duration) -> Option<F::Output> {
        self.run(async {
            let output = tokio::time::timeout(longest, future).await.ok();
            if output.is_none() {
                // The runtime wakes only now whoever has yielded in the last poll, and would forget it otherwise.
                tokio::task::yield_now().await;
            }
            output
        })
    }
}

impl Drop for CallingThread {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.process != std::process::id() {
            // It is the parent's.
            std::mem::forget(runtime);
            return;
        }
        let mut idle = IDLE.get().lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((Instant::now(), runtime));
        end_those_too_many(idle);
    }
}

/// The one used last, whose connections are the least likely to be closed.
fn taken() -> Option<Runtime> {
    let mut idle = IDLE.get().lock().unwrap_or_else(PoisonError::into_inner);
    let last = idle.pop().map(|(_, runtime)| runtime);
    end_those_too_many(idle);
    last
}

/// Ends what is idle for too long, the longest first, and what is one too many. Not while it holds the lock.
fn end_those_too_many(mut idle: MutexGuard<'_, Vec<(Instant, Runtime)>>) {
    let too_old = idle.iter().take_while(|(since, _)| since.elapsed() > LONGEST_IDLE).count();
    let too_many = idle.len().saturating_sub(MOST_IDLE);
    let ended: Vec<_> = idle.drain(..too_old.max(too_many)).collect();
    drop(idle);
    for (_, runtime) in ended {
        // Looking up a host's address may go on in it, for which nobody has to wait.
        runtime.shutdown_background();
    }
}

/// The network is driven by Kassa's own threads meanwhile, as the host's runtime, where there is one, is blocked.
///
/// It polls without tokio's cooperative budget: in a task that has used its budget up, nothing would get ready any more, as
/// only the task's own thread, which is blocked here, could renew it. Tokio had the like in its own blocking calls:
/// <https://github.com/tokio-rs/tokio/pull/2711>.
fn on_own_threads<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    pollster::block_on(tokio::task::unconstrained(poll_fn(|cx| {
        let Ok(own) = runtime::handle() else { return future.as_mut().poll(cx) };
        // So that a query sees Kassa's runtime, and not the host's.
        let _inside = own.enter();
        future.as_mut().poll(cx)
    })))
}

/// Runs a query to its end on the calling thread, which drives the network for it.
pub(crate) fn ask<F: Future>(query: F) -> F::Output {
    CallingThread::that_drives().run(query)
}

/// Runs anything else to its end.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    CallingThread::that_waits().run(future)
}

#[cfg(test)]
mod tests {
    use std::{
        pin::Pin,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        task::{Context, Poll, Wake, Waker},
    };

    use super::*;
    use crate::transport::Boxed;

    /// A future of another language: polled only when it was woken, whatever else wakes its thread.
    struct Foreign {
        future: Boxed<()>,
        woken: Arc<Woken>,
    }

    #[derive(Default)]
    struct Woken {
        is_woken: AtomicBool,
        waker: Mutex<Option<Waker>>,
    }

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.is_woken.store(true, Ordering::SeqCst);
            if let Some(waker) = self.waker.lock().unwrap().take() {
                waker.wake();
            }
        }
    }

    impl Future for Foreign {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            *self.woken.waker.lock().unwrap() = Some(cx.waker().clone());
            if !self.woken.is_woken.swap(false, Ordering::SeqCst) {
                return Poll::Pending;
            }
            let waker = Waker::from(self.woken.clone());
            self.future.as_mut().poll(&mut Context::from_waker(&waker))
        }
    }

    /// It was lost, and the call with it, where a slice ended with the very poll that had yielded.
    #[test]
    fn a_wake_up_is_not_lost_between_two_slices() {
        let yields = async {
            for _ in 0..10_000 {
                tokio::task::yield_now().await;
            }
        };
        let woken = Arc::new(Woken { is_woken: AtomicBool::new(true), ..Woken::default() });
        let mut foreign = Foreign { future: Box::pin(yields), woken };
        let thread = CallingThread::that_drives();
        while thread.run_for(&mut foreign, Duration::ZERO).is_none() {
            assert!(foreign.woken.is_woken.load(Ordering::SeqCst), "nothing would ever wake it again");
        }
    }
}
