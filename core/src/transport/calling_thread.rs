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

/// A runtime for as long as one call takes.
pub(crate) struct Borrowed(Option<Runtime>);

impl Borrowed {
    /// None where the thread belongs to a runtime already, which lets no other one run there, or where none can be made.
    pub(crate) fn take() -> Option<Self> {
        if Handle::try_current().is_ok() {
            return None;
        }
        let idle = IDLE.get().lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| Builder::new_current_thread().enable_all().build().ok()).map(|runtime| Self(Some(runtime)))
    }

    /// Drives a future to its end.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        let Some(runtime) = &self.0 else { return blocked(future) };
        let _held_back = HeldBack::here();
        without_subscriber(|| {
            runtime.block_on(async {
                look_at_connections().await;
                future.await
            })
        })
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let mut idle = IDLE.get().lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.extend(self.0.take());
        }
        drop(idle);
        // Looking up a host's address may go on in it, for which nobody has to wait.
        if let Some(one_too_many) = self.0.take() {
            one_too_many.shutdown_background();
        }
    }
}

/// Lets the runtime see first what became of its connections while nobody drove it. Without that the first query on one
/// that the gateway has closed would fail, and be sent again after a pause.
async fn look_at_connections() {
    tokio::task::yield_now().await;
}

/// On a thread that belongs to a runtime of the host's: the network is driven by Kassa's own threads meanwhile, as the
/// host's is blocked. It polls without tokio's cooperative budget: in a task that has used its budget up, nothing would
/// get ready any more, as only the task's own thread, which is blocked here, could renew it. Tokio had the like in its own
/// blocking calls: <https://github.com/tokio-rs/tokio/pull/2711>.
fn blocked<F: Future>(future: F) -> F::Output {
    pollster::block_on(tokio::task::unconstrained(async {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let Ok(own) = runtime::handle() else { return future.as_mut().poll(cx) };
            // So that a query sees Kassa's runtime, and not the host's.
            let _inside = own.enter();
            future.as_mut().poll(cx)
        })
        .await
    }))
}

/// Runs a future to its end on the calling thread.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    match Borrowed::take() {
        Some(borrowed) => borrowed.block_on(future),
        None => blocked(future),
    }
}
