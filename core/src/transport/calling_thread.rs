//! Blocking calls: the calling thread drives the network itself, so that a query wakes no other thread.
//!
//! It borrows a current-thread runtime of tokio, and with it the connections that an earlier caller has made there. What
//! has to outlive the caller runs on Kassa's own threads all the same.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Mutex, PoisonError},
};

use tokio::runtime::{Builder, Handle, Runtime};

use super::{
    broken_pipe::HeldBack,
    per_process::PerProcess,
    runtime::{self, without_subscriber},
};

/// Runtimes that nobody uses at the moment, the last one used at the end. Not thread-locals: a connection would stay
/// behind with each thread of a pool, and be closed with each that ends.
static IDLE: PerProcess<Mutex<Vec<Runtime>>> = PerProcess::new();

/// More than this many are not kept: each holds a connection for each gateway.
const MOST_IDLE: usize = 16;

/// What one blocking call drives the network with.
pub struct CallingThread {
    /// None where the thread belongs to a runtime already, which lets no other one run there, or where none can be made.
    runtime: Option<Runtime>,
}

impl CallingThread {
    /// Until it is dropped.
    pub fn borrow() -> Self {
        let of_host = Handle::try_current().is_ok();
        let idle = || IDLE.get().lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fresh = || Builder::new_current_thread().enable_all().build().ok();
        Self { runtime: if of_host { None } else { idle().or_else(fresh) } }
    }

    /// Runs a future to its end.
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        let Some(runtime) = &self.runtime else { return on_own_threads(future) };
        let _held_back = HeldBack::here();
        without_subscriber(|| {
            runtime.block_on(async {
                look_at_connections().await;
                future.await
            })
        })
    }

    /// Runs a future to its end, but not for longer than this; nothing where it has not come to it.
    #[cfg(any(test, feature = "uniffi"))]
    pub fn run_for<F: Future + Unpin>(&self, future: &mut F, longest: std::time::Duration) -> Option<F::Output> {
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
        let mut idle = IDLE.get().lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.extend(self.runtime.take());
        }
        drop(idle);
        // Looking up a host's address may go on in it, for which nobody has to wait.
        if let Some(one_too_many) = self.runtime.take() {
            one_too_many.shutdown_background();
        }
    }
}

/// Lets the runtime see first what became of its connections while nobody drove it. Without that the first query on one
/// that the gateway has closed would fail, and be sent again after a pause.
async fn look_at_connections() {
    tokio::task::yield_now().await;
}

/// The network is driven by Kassa's own threads meanwhile, as the host's runtime is blocked. It polls without tokio's
/// cooperative budget: in a task that has used its budget up, nothing would get ready any more, as only the task's own
/// thread, which is blocked here, could renew it. Tokio had the like in its own blocking calls:
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

/// Runs a future to its end on the calling thread.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    CallingThread::borrow().run(future)
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
        time::Duration,
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
        let thread = CallingThread::borrow();
        while thread.run_for(&mut foreign, Duration::ZERO).is_none() {
            assert!(foreign.woken.is_woken.load(Ordering::SeqCst), "nothing would ever wake it again");
        }
    }
}
