//! What the schedules in memory and those over sockets share: patience, what the environment says, and panics as sentences.

use std::{
    any::Any,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

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

// What the environment says of schedules.

/// A whole number that the environment names, such as `KASSA_SEED`.
///
/// # Panics
/// Where it is no whole number.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} must be a whole number")))
}

// A panic, turned into a sentence, so that it fails the schedule which it belongs to and names its seed.

/// What a play comes to; its panic is a sentence, too.
///
/// # Errors
/// What broke.
pub fn caught<T>(play: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(play)).unwrap_or_else(|panic| Err(sentence(&*panic)))
}

/// The words of a panic.
pub fn sentence(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", words.unwrap_or("without a word"))
}

#[test]
fn panic_is_a_failure_with_its_words() {
    assert_eq!(caught(|| Ok(1)), Ok(1));
    assert_eq!(caught::<()>(|| panic!("no {}", 7)), Err("it panicked: no 7".to_owned()));
    assert_eq!(caught::<()>(|| panic!("nothing")), Err("it panicked: nothing".to_owned()));
}
