//! Blocking calls: the calling thread drives the network itself, so that a query wakes no other thread.
//!
//! It borrows a current-thread runtime of tokio, and with it the connections that an earlier caller has made there.
//! Work that must outlive the caller still runs on Kassa's own threads.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::transport::runtime::{self, PerProcess, sigpipe::HeldBack, without_subscriber};

/// Idle runtimes, each with the time since when; the last used one is at the end. Not thread-locals: each thread of a
/// pool would keep a connection, which would close when the thread ends.
static IDLE: PerProcess<Mutex<Vec<(Instant, Runtime)>>> = PerProcess::new();

/// The most idle runtimes that are kept: each holds a connection for each gateway.
const MOST_IDLE: usize = 16;

/// Nothing drives an idle runtime, so the end of its connections is not noticed. The same limit as for other idle connections.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// Waits for one blocking call.
pub struct CallingThread {
    process: u32,
    /// `None` if Kassa's own threads drive the network.
    runtime: Option<Runtime>,
}

impl CallingThread {
    /// Drives the network until it is dropped: for a query. It does not if the thread already belongs to a runtime, which allows no other
    /// one there, or if no runtime can be created.
    pub fn that_drives() -> Self {
        let process = std::process::id();
        let of_host = Handle::try_current().is_ok();
        let fresh = || Builder::new_current_thread().enable_all().build().ok();
        let runtime = if of_host { None } else { taken(process).or_else(fresh) };
        Self { process, runtime }
    }

    /// Only waits: for calls that are not queries, or may take days. A runtime for each would waste three file descriptors.
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

    /// Runs a future to its end, at most for this time; `None` if it has not ended.
    #[cfg(any(test, feature = "uniffi"))]
    pub fn run_for<F: Future + Unpin>(&self, future: &mut F, longest: Duration) -> Option<F::Output> {
        self.run(async {
            let output = tokio::time::timeout(longest, future).await.ok();
            if output.is_none() {
                // The runtime wakes a task that yielded in the last poll only now, and would lose the wake-up otherwise.
                tokio::task::yield_now().await;
            }
            output
        })
    }
}

impl Drop for CallingThread {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let process = std::process::id();
        if self.process != process {
            // It belongs to the parent.
            std::mem::forget(runtime);
            return;
        }
        let mut idle = IDLE.of(process).lock().unwrap_or_else(PoisonError::into_inner);
        idle.push((Instant::now(), runtime));
        end_those_too_many(idle);
    }
}

/// The runtime used last, whose connections are the least likely to be closed.
fn taken(process: u32) -> Option<Runtime> {
    let mut idle = IDLE.of(process).lock().unwrap_or_else(PoisonError::into_inner);
    let last = idle.pop().map(|(_, runtime)| runtime);
    end_those_too_many(idle);
    last
}

/// Ends runtimes that were idle too long, the oldest first, and those beyond the limit. It releases the lock first.
fn end_those_too_many(mut idle: MutexGuard<'_, Vec<(Instant, Runtime)>>) {
    let too_old = idle.iter().take_while(|(since, _)| since.elapsed() > LONGEST_IDLE).count();
    let too_many = idle.len().saturating_sub(MOST_IDLE);
    let ended: Vec<_> = idle.drain(..too_old.max(too_many)).collect();
    drop(idle);
    for (_, runtime) in ended {
        // A host lookup may still run in it, which need not be awaited.
        runtime.shutdown_background();
    }
}

/// Kassa's own threads drive the network, because the host's runtime, if any, is blocked.
///
/// It polls without tokio's cooperative budget: in a task with an exhausted budget, nothing would become ready, because only the task's own
/// thread, which is blocked here, could renew it. Tokio's own blocking calls had the same problem:
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
pub(crate) fn run_query<F: Future>(query: F) -> F::Output {
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

    /// It was lost, and the call with it, if a slice ended with the poll that had yielded.
    #[test]
    fn wake_up_is_not_lost_between_two_slices() {
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
