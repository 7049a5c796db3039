//! The transport of the fake gateway, without a socket, and its virtual clock.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use tokio::{runtime::Handle, sync::Notify, task::AbortHandle, time::Instant};

use crate::{
    error::PaymentError,
    fake::{State, books::FakeFault, responses},
    response::Response,
    transport::{Boxed, Failure, Request, Transport, after, runtime},
};

/// Tasks run on Kassa's own threads or the caller's, as they do over the network, so that a caller can use any executor.
pub(super) struct FakeTransport {
    state: Arc<State>,
    runtime: Handle,
    process: u32,
}

impl FakeTransport {
    pub(super) fn to(state: Arc<State>) -> Result<Self, PaymentError> {
        Ok(Self { state, runtime: runtime::handle()?, process: std::process::id() })
    }
}

impl Transport for FakeTransport {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>> {
        let state = self.state.clone();
        Box::pin(async move {
            let fault = state.books().next_fault();
            if matches!(fault, Some(FakeFault::NoConnection)) {
                return Err(Failure::NotConnected { detail: "the fake gateway takes no connection".to_owned() });
            }
            if !request.establish() {
                return Err(Failure::NotConnected { detail: "the caller gave up".to_owned() });
            }
            state.answer(&request, fault).await
        })
    }

    fn check(&self) -> Result<(), PaymentError> {
        if self.process == std::process::id() {
            Ok(())
        } else {
            Err(PaymentError::misconfigured("the fake gateway was made before the process was forked"))
        }
    }

    fn now(&self) -> Instant {
        self.state.clock.now()
    }

    fn sleep_until(&self, moment: Instant) -> Boxed<()> {
        let state = self.state.clone();
        Box::pin(async move { state.clock.until(moment).await })
    }

    fn can_query_here(&self) -> bool {
        Handle::try_current().is_ok_and(|current| current.id() != self.runtime.id())
    }

    fn cannot_query_here(&self) {}

    fn spawn(&self, task: Boxed<()>) -> AbortHandle {
        self.runtime.spawn(task).abort_handle()
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> Boxed<()> {
        let work = self.runtime.spawn_blocking(work);
        Box::pin(async move { drop(work.await) })
    }

    fn block_in_task(&self, work: &mut dyn FnMut()) {
        tokio::task::block_in_place(work);
    }

    fn jitter(&self, most: Duration) -> Duration {
        most
    }
}

impl State {
    async fn answer(&self, request: &Request, fault: Option<FakeFault>) -> Result<Response, Failure> {
        let lost = |detail: &str| Err(Failure::Lost { detail: detail.to_owned() });
        match fault {
            None => Ok(self.carry_out(request)),
            Some(FakeFault::RequestLost) => lost("the connection broke before the request was there"),
            Some(FakeFault::ResponseLost) => {
                self.carry_out(request);
                lost("the connection broke before the answer was there")
            }
            Some(FakeFault::NoResponse) => {
                self.carry_out(request);
                std::future::pending().await
            }
            Some(FakeFault::NoConnection) => lost("no connection"),
            Some(FakeFault::Refused { code, reason }) => Ok(responses::refused(400, &code, &reason)),
            Some(FakeFault::Unauthorized) => Ok(responses::refused(401, "401", "UNAUTHORIZED")),
            Some(FakeFault::ServerError) => Ok(responses::refused(500, "500", "INTERNAL_ERROR")),
            Some(FakeFault::TooManyRequests { retry_after }) => {
                Ok(Response { retry_after: Some(retry_after), ..responses::refused(429, "429", "TOO_MANY_REQUESTS") })
            }
        }
    }
}

// Virtual clock of the fake gateway: time moves when a task waits for it, or when a test moves it.

pub(super) struct Clock {
    start: Instant,
    hands: Mutex<Hands>,
    moved: Notify,
}

#[derive(Default)]
struct Hands {
    passed: Duration,
    is_stopped: bool,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), hands: Mutex::default(), moved: Notify::new() }
    }

    /// The time since the clock was made.
    pub(super) fn passed(&self) -> Duration {
        self.hands().passed
    }

    pub(super) fn now(&self) -> Instant {
        after(self.start, self.passed())
    }

    pub(super) fn advance(&self, by: Duration) {
        self.change(|hands| hands.passed = hands.passed.saturating_add(by));
    }

    pub(super) fn stop(&self) {
        self.change(|hands| hands.is_stopped = true);
    }

    pub(super) fn run(&self) {
        self.change(|hands| hands.is_stopped = false);
    }

    /// Waits for a moment. A stopped clock must first be moved there; a running clock jumps to that moment, so the wait
    /// takes no time. Other tasks on the same executor run first.
    pub(super) async fn until(&self, moment: Instant) {
        let wanted = moment.saturating_duration_since(self.start);
        loop {
            let moved = self.moved.notified();
            if self.passed() >= wanted {
                return;
            }
            if self.hands().is_stopped {
                moved.await;
                continue;
            }
            give_way().await;
            if !self.hands().is_stopped {
                self.change(|hands| hands.passed = hands.passed.max(wanted));
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut Hands)) {
        change(&mut self.hands());
        self.moved.notify_waiters();
    }

    /// The data behind the lock is consistent after every step, so a poisoned lock is ignored.
    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets other tasks on the same executor run. Tokio's own `yield_now` needs the runtime to wake it, which does not happen if the caller
/// blocks the runtime's thread.
async fn give_way() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
