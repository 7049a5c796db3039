//! The stylesheet, with cache busting: its address carries a digest of its content, so that a browser keeps it for good and
//! asks for another one once it changed.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

const STYLESHEET: &str = include_str!("../../assets/staff.css");
const DIGEST: u64 = digest(STYLESHEET.as_bytes());

/// FNV-1a, a hash that is not cryptographic: it only tells versions of a file apart.
const fn digest(bytes: &[u8]) -> u64 {
    let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        digest = (digest ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    digest
}

/// Its name, which changes with its content.
pub(super) fn stylesheet() -> String {
    format!("staff-{DIGEST:016x}.css")
}

pub(super) fn serve(name: &str) -> Response {
    if name != stylesheet() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let mut response = STYLESHEET.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}
