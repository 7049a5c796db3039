//! Checks a client token where it is given: a text that cannot be one is named there, and sent to nobody.

use crate::secret::Secret;

/// What every client token begins with.
const PREFIX: &str = "ct_";

const ORIGIN: &str =
    "the shop's back end gets one for each checkout from the server (POST /v1/checkouts/{checkout}/tokens)";

/// The token, or which rule it breaks. The text itself is not shown: it may be the shop's own secret.
pub(super) fn checked(token: &str) -> Result<Secret, String> {
    let begins_with = |prefix: &str| token.trim_start().starts_with(prefix);
    let rule = if token.is_empty() {
        "must not be empty"
    } else if begins_with("ak_") {
        "must begin with ct_; this is an API key of the shop's (ak_), which no app may hold: revoke it"
    } else if begins_with("sk_") {
        "must begin with ct_; this is the key of one of the shop's people (sk_), which no app may hold: revoke it"
    } else if !token.starts_with(PREFIX) {
        "must begin with ct_"
    } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        "must have no space, no line break and no character beyond ASCII in it"
    } else {
        return Ok(Secret::new(token));
    };
    Err(format!("client_token {rule}; {ORIGIN}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_cannot_be_a_token_is_named_and_not_shown() {
        for (token, rule) in [
            ("", "must not be empty"),
            (" ", "must begin with ct_; the shop"),
            ("ak_7_swordfish", "an API key"),
            ("\n ak_7_swordfish", "an API key"),
            ("sk_7_swordfish", "one of the shop's people"),
            ("swordfish", "must begin with ct_; the shop"),
            ("CT_swordfish", "must begin with ct_; the shop"),
            (" ct_swordfish", "must begin with ct_; the shop"),
            ("ct_swordfish\n", "no line break"),
            ("ct_sword fish", "no space"),
            ("ct_sw\u{43e}rdfish", "beyond ASCII"),
        ] {
            let said = checked(token).unwrap_err();
            assert!(said.starts_with("client_token ") && said.contains(rule), "{token:?}: {said}");
            assert!(!said.contains("fish"), "{said}");
        }
        assert_eq!(checked("ct_swordfish").unwrap().expose(), "ct_swordfish");
    }
}
