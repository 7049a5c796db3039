//! HTTP Basic authentication.

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use subtle::ConstantTimeEq;

use crate::options::SandboxOptions;

/// True where the request carries the merchant's login and password.
/// Compared in constant time, so that the time taken tells nothing about how much was right.
pub(crate) fn is_authorized(headers: &HeaderMap, options: &SandboxOptions) -> bool {
    let expected = format!("{}:{}", options.login, options.password);
    given(headers).is_some_and(|given| given.ct_eq(expected.as_bytes()).into())
}

fn given(headers: &HeaderMap) -> Option<Vec<u8>> {
    let (scheme, credentials) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    STANDARD.decode(credentials.trim()).ok()
}
