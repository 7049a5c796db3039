//! Request bodies: a size limit and a read timeout.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use tokio::time::timeout;
use zeroize::{Zeroize, Zeroizing};

/// The most bytes of a too large body that are read and dropped: a caller that is still sending would miss the response.
const MOST_DROPPED: usize = 1024 * 1024;

/// Why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// It is larger than the limit.
    #[error("the body is too large")]
    TooLarge,
    /// It did not arrive in time.
    #[error("the body came too slowly")]
    TooSlow,
    /// It ended early, or is not valid HTTP.
    #[error("the body is broken")]
    Broken,
}

/// Reads a request's body within limits of size and time. The result is wiped with its last copy (zeroization): it may contain
/// a card or a one-time password.
///
/// # Errors
/// [`BodyError`].
pub async fn read_body(body: Body, limit: usize, deadline: Duration) -> Result<Bytes, BodyError> {
    match timeout(deadline, collect(body, limit)).await {
        Ok(read) => read,
        Err(_) => Err(BodyError::TooSlow),
    }
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, BodyError> {
    let mut bytes = Zeroizing::new(Vec::new());
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length <= limit {
            append(&mut bytes, &data);
        } else if length > limit.saturating_add(MOST_DROPPED) {
            break;
        }
    }
    if length > limit { Err(BodyError::TooLarge) } else { Ok(Bytes::from_owner(bytes)) }
}

/// Appends without leaving a copy behind, as a growing `Vec` would.
fn append(bytes: &mut Zeroizing<Vec<u8>>, more: &[u8]) {
    let needed = bytes.len().saturating_add(more.len());
    if needed > bytes.capacity() {
        let mut larger = Vec::with_capacity(needed.max(bytes.capacity().saturating_mul(2)));
        larger.extend_from_slice(bytes);
        bytes.zeroize();
        **bytes = larger;
    }
    bytes.extend_from_slice(more);
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};
    use tokio::time::{Instant, sleep};

    use super::*;

    const LIMIT: usize = 100;
    const DEADLINE: Duration = Duration::from_secs(10);

    /// A body of such pieces, each of which takes so long.
    fn body(pieces: usize, length: usize, pause: Duration) -> Body {
        let pieces = stream::iter(0..pieces).then(move |_| async move {
            sleep(pause).await;
            Ok::<_, std::io::Error>(vec![b'x'; length])
        });
        Body::from_stream(pieces)
    }

    #[tokio::test(start_paused = true)]
    async fn body_within_the_limits_is_read() {
        for (pieces, length) in [(0, 0), (1, LIMIT), (LIMIT, 1)] {
            let read = read_body(body(pieces, length, Duration::from_millis(99)), LIMIT, DEADLINE).await.unwrap();
            assert_eq!(read.len(), pieces * length);
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(start_paused = true)]
    async fn request_body_is_wiped_with_its_last_copy() {
        let bytes = read_body(body(LIMIT, 1, Duration::ZERO), LIMIT, DEADLINE).await.unwrap();
        let (place, text, copy) = (bytes.as_ptr() as usize, bytes.to_vec(), bytes.clone());
        assert!(crate::net::memory::holds_after(|| drop(bytes), place, &text), "another copy has it");
        assert!(!crate::net::memory::holds_after(|| drop(copy), place, &text));
    }

    #[tokio::test(start_paused = true)]
    async fn large_slow_or_broken_body_is_rejected() {
        let one_more = body(LIMIT + 1, 1, Duration::ZERO);
        assert_eq!(read_body(one_more, LIMIT, DEADLINE).await, Err(BodyError::TooLarge));
        let endless = body(usize::MAX, 10_000, Duration::ZERO);
        assert_eq!(read_body(endless, LIMIT, DEADLINE).await, Err(BodyError::TooLarge));
        let start = Instant::now();
        let dripping = body(usize::MAX, 1, Duration::from_secs(1));
        assert_eq!(read_body(dripping, LIMIT, DEADLINE).await, Err(BodyError::TooSlow));
        assert!(start.elapsed() <= DEADLINE + Duration::from_secs(1));
        let broken = Body::from_stream(stream::iter([Ok(vec![b'x']), Err(std::io::Error::other("it broke off"))]));
        assert_eq!(read_body(broken, LIMIT, DEADLINE).await, Err(BodyError::Broken));
    }
}
