//! All that the server needs from outside beside database, gateway and shop (dependency injection): a monotonic clock,
//! tasks, random bits. **No calendar**: what is due, the database's clock says, so that servers whose clocks differ agree.

mod http_client;

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use ring::rand::{SecureRandom, SystemRandom};
use tokio::runtime::Handle;

pub(crate) use http_client::{http_client, is_loopback};

use crate::values::error::ServerError;

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Monotonic time, waiting, tasks and randomness. Tests put a simulation in its place.
pub trait Surroundings: Send + Sync + 'static {
    /// Monotonic time since any fixed moment. It measures deadlines and nothing else.
    fn monotonic(&self) -> Duration;

    /// Waits.
    fn sleep(&self, time: Duration) -> Boxed<'static, ()>;

    /// Runs a task that outlives its caller.
    fn spawn(&self, task: Boxed<'static, ()>);

    /// Fills bytes with random bits that nobody can guess.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`] where the system has none.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), ServerError>;
}

/// The real ones: a tokio runtime and the system's randomness.
pub struct RealSurroundings {
    runtime: Handle,
    start: Instant,
    random: SystemRandom,
}

impl RealSurroundings {
    /// With tasks on this runtime.
    pub fn on(runtime: Handle) -> Self {
        Self { runtime, start: Instant::now(), random: SystemRandom::new() }
    }
}

impl Surroundings for RealSurroundings {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, time: Duration) -> Boxed<'static, ()> {
        let _inside = self.runtime.enter();
        Box::pin(tokio::time::sleep(time))
    }

    fn spawn(&self, task: Boxed<'static, ()>) {
        self.runtime.spawn(task);
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), ServerError> {
        self.random.fill(bytes).map_err(|_| ServerError::unavailable("the system gave no random bits"))
    }
}
