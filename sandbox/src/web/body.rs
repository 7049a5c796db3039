//! Request bodies: a size limit and a read timeout.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use tokio::time::timeout;

/// The largest request body.
const MAX_BODY_BYTES: usize = 1024 * 1024;
/// How much of a larger one is read before the connection is given up.
const MAX_DRAINED_BYTES: usize = 16 * MAX_BODY_BYTES;
/// How long a body may take to arrive.
pub(crate) const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    TooSlow,
    /// It ended in its middle, or is not what HTTP allows.
    Broken,
}

/// Reads a request's body within the limits of size and time.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, BodyError> {
    match timeout(BODY_DEADLINE, collect(body)).await {
        Ok(result) => result,
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// Past the limit it still reads for a while and drops what comes: a client that is busy sending would miss the answer.
async fn collect(mut body: Body) -> Result<Bytes, BodyError> {
    let mut bytes = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        length += data.len();
        if length <= MAX_BODY_BYTES {
            bytes.extend_from_slice(&data);
        } else if length > MAX_DRAINED_BYTES {
            break;
        }
    }
    if length > MAX_BODY_BYTES {
        return Err(BodyError::TooLarge);
    }
    Ok(bytes.into())
}
