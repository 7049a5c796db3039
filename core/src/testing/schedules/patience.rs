//! How long a caller waits for a call before it drops it.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use fastrand::Rng;
use tokio::time::timeout;

/// When a caller gives up.
#[derive(Clone, Copy, Debug)]
pub enum Patience {
    /// Never.
    Endless,
    /// Drops the call at the await with this number.
    Awaits(u32),
    /// After this time.
    For(Duration),
}

impl Patience {
    /// One half waits for ever; those who wait for a time wait for a short or a long one.
    pub fn draw(rng: &mut Rng, short: Duration, long: Duration) -> Self {
        match rng.u8(..4) {
            0 | 1 => Self::Endless,
            2 => Self::Awaits(rng.u32(..3)),
            _ => {
                let longest = if rng.bool() { short } else { long };
                Self::For(longest.mul_f64(rng.f64()))
            }
        }
    }

    /// The call's answer, or nothing where the caller gave up; the call is gone then.
    pub async fn wait_for<T>(self, call: impl Future<Output = T>) -> Option<T> {
        match self {
            Self::Endless => Some(call.await),
            Self::For(time) => timeout(time, call).await.ok(),
            Self::Awaits(mut left) => {
                let mut call = pin!(call);
                poll_fn(|context| match call.as_mut().poll(context) {
                    Poll::Ready(answer) => Poll::Ready(Some(answer)),
                    Poll::Pending if left == 0 => Poll::Ready(None),
                    Poll::Pending => {
                        left -= 1;
                        Poll::Pending
                    }
                })
                .await
            }
        }
    }
}
