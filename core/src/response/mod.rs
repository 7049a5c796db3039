//! A response of the gateway: as received, as read through a dialect, and with its secrets masked for the caller (redaction).

pub(crate) mod page;
pub(crate) mod reader;
pub(crate) mod redact;
pub(crate) mod search;

use std::{borrow::Cow, time::Duration};

use crate::secret::SecretBytes;

/// The size limit of a response. No response in `docs/interface.md` comes near it, and a longer one must not fill a phone's
/// memory.
pub(crate) const MOST_BYTES: usize = 1024 * 1024;

/// A response as it came over the wire.
pub(crate) struct Response {
    pub(crate) http_status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: SecretBytes,
    /// The body was longer than the limit; only its beginning is here.
    pub(crate) over_limit: bool,
    /// The compression of the body, if the response declares one.
    pub(crate) coding: Option<&'static str>,
}

impl Response {
    /// A response with a success status and only a body.
    pub(crate) fn of_body(text: &str) -> Self {
        let mut body = SecretBytes::with_capacity(text.len());
        body.append(text.as_bytes());
        Self { http_status: 200, retry_after: None, body, over_limit: text.len() > MOST_BYTES, coding: None }
    }

    /// The text, borrowed if it is UTF-8.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        // A check alone is faster.
        let body = self.body.as_ref();
        str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::from)
    }
}
