//! Authentication: the merchant by HTTP Basic, the admin by a bearer token, both compared in constant time.

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use subtle::ConstantTimeEq;

/// True where the request carries the merchant's login and password.
/// Compared in constant time, so that the time taken tells nothing about how much was right.
pub(crate) fn is_authorized(headers: &HeaderMap, login: &str, password: &str) -> bool {
    let expected = format!("{login}:{password}");
    given(headers).is_some_and(|given| given.ct_eq(expected.as_bytes()).into())
}

/// True where the request carries the admin token; compared likewise.
pub(crate) fn is_admin(headers: &HeaderMap, token: &str) -> bool {
    credentials(headers, "bearer").is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
}

fn given(headers: &HeaderMap) -> Option<Vec<u8>> {
    STANDARD.decode(credentials(headers, "basic")?).ok()
}

/// What follows the name of the scheme, where it is this one.
fn credentials<'a>(headers: &'a HeaderMap, wanted: &str) -> Option<&'a str> {
    let (scheme, credentials) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(wanted).then(|| credentials.trim())
}
