//! Tokens of forms (CSRF, synchronizer token), and comparing them.

use std::fmt::Write;

use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;

/// The CSRF token of a session's forms. It is derived from the session's token, and does not reveal it. Another site
/// can neither know nor guess it.
///
/// ```
/// use kassa_pages::token::csrf_of;
///
/// assert_eq!(csrf_of("a session's token").len(), 64);
/// assert_ne!(csrf_of("a session's token"), csrf_of("another one's"));
/// ```
pub fn csrf_of(session: &str) -> String {
    let hash = digest(&SHA256, format!("csrf {session}").as_bytes());
    hash.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether two tokens are the same, compared in constant time; an empty one is not a token.
pub fn is_same(one: &str, other: &str) -> bool {
    !one.is_empty() && bool::from(one.as_bytes().ct_eq(other.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_token_is_the_same_as_nothing() {
        assert!(!is_same("", "") && !is_same("a", "b") && !is_same("a", "ab") && is_same("a", "a"));
    }
}
