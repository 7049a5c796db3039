//! A process' own clock, tasks and randomness.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use kassa::FakeGateway;
use kassa_server::{Boxed, Runtime, ServerError};

use super::lock;

pub struct Simulated {
    pub fake: FakeGateway,
    /// How far this machine's monotonic clock is from another's.
    pub offset: Duration,
    pub tasks: Arc<Mutex<Vec<Boxed<'static, ()>>>>,
    pub random: Arc<Mutex<fastrand::Rng>>,
}

impl Runtime for Simulated {
    fn monotonic(&self) -> Duration {
        self.fake.now() + self.offset
    }

    fn sleep(&self, time: Duration) -> Boxed<'static, ()> {
        let (fake, until) = (self.fake.clone(), self.fake.now() + time);
        // Whoever polls it moves the clock when there is nothing else to do.
        Box::pin(poll_fn(move |cx| {
            cx.waker().wake_by_ref();
            if fake.now() >= until { Poll::Ready(()) } else { Poll::Pending }
        }))
    }

    fn spawn(&self, task: Boxed<'static, ()>) {
        lock(&self.tasks).push(task);
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), ServerError> {
        lock(&self.random).fill(bytes);
        Ok(())
    }
}
