//! Errors of the HTTP client: whether trying again can help, and what they say in one line.

use std::error::Error;

use super::Failure;

/// Why no reply came, by whether the gateway may have seen the request.
pub(super) fn failure(problem: &reqwest::Error, sent: bool) -> Failure {
    let detail = causes(problem);
    if sent {
        Failure::Lost { detail }
    } else if cannot_work(problem) {
        Failure::Misconfigured { detail }
    } else {
        Failure::NotConnected { detail }
    }
}

/// Permanent errors: a certificate that fails, or a proxy that wants a password, will fail again.
fn cannot_work(problem: &reqwest::Error) -> bool {
    chain(problem).any(|cause| {
        matches!(tls_error(cause), Some(rustls::Error::InvalidCertificate(_)))
            // The HTTP client has no public type for it.
            || cause.to_string().ends_with("proxy authorization required")
    })
}

/// The TLS error inside I/O errors: one does not report what it wraps as its source, and may wrap another I/O error.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match cause.downcast_ref::<std::io::Error>() {
        Some(io) => tls_error(io.get_ref()?),
        None => cause.downcast_ref(),
    }
}

/// The whole chain in one line. The URL is left out: its query holds identifiers.
pub(super) fn causes(problem: &reqwest::Error) -> String {
    let kind = if problem.is_timeout() {
        "timed out"
    } else if problem.is_connect() {
        "no connection"
    } else {
        "the exchange failed"
    };
    chain(problem).skip(1).fold(kind.to_owned(), |line, cause| format!("{line}: {cause}"))
}

fn chain(problem: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = Some(problem as &(dyn Error + 'static));
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}
