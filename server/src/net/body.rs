//! Request bodies: a size limit and a read timeout.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use tokio::time::timeout;

/// How much of one that is too large is read and dropped: a caller that is busy sending would miss the answer.
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
    /// It ended in its middle, or is not what HTTP allows.
    #[error("the body is broken")]
    Broken,
}

/// Reads a request's body of so many bytes at most, in so long at most.
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
    let mut bytes = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length <= limit {
            bytes.extend_from_slice(&data);
        } else if length > limit.saturating_add(MOST_DROPPED) {
            break;
        }
    }
    if length > limit { Err(BodyError::TooLarge) } else { Ok(bytes.into()) }
}
