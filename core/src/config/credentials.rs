//! Authentication: the merchant's login and password, for HTTP Basic.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use crate::secret::Secret;

/// The merchant's login and password, as the service's administrator issued them.
///
/// They are never printed, and the core's copy of the password is wiped (zeroized) when the last one is dropped. They
/// also open the merchant's dashboard, so **they do not belong inside a mobile app**: let a back end create pay-forms
/// for it.
///
/// ```
/// let credentials = kassa::Credentials::basic("shop", "correct horse");
/// assert_eq!(format!("{credentials:?}"), "Credentials(***)");
/// ```
///
/// Source: HTTP Basic authentication (`docs/interface.md#authentication`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Credentials {
    login: String,
    password: Secret,
}

impl Credentials {
    /// Credentials for HTTP Basic authentication.
    pub fn basic(login: impl Into<String>, password: impl Into<String>) -> Self {
        Self { login: login.into(), password: Secret::new(password) }
    }

    /// Input validation: what is wrong with them, in words for the error.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        if self.login.is_empty() {
            Some("the login is empty")
        } else if self.login.contains(':') {
            // Login and password are joined by a colon, so a colon in the login would begin the password (RFC 7617,
            // section 2).
            Some("the login has a colon in it, which HTTP Basic authentication cannot carry")
        } else if self.login.chars().chain(self.password.expose().chars()).any(char::is_control) {
            Some("the login or the password has a control character in it")
        } else {
            None
        }
    }

    pub(crate) fn password(&self) -> &Secret {
        &self.password
    }

    /// The base64 part of the header, in UTF-8.
    pub(crate) fn basic_token(&self) -> Secret {
        let mut joined = Zeroizing::new(String::with_capacity(self.login.len() + 1 + self.password.expose().len()));
        joined.push_str(&self.login);
        joined.push(':');
        joined.push_str(self.password.expose());
        Secret::new(STANDARD.encode(joined.as_bytes()))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_utf8_in_base64() {
        assert_eq!(Credentials::basic("дүкөн", "сыр").basic_token().expose(), "0LTSr9C606nQvTrRgdGL0YA=");
    }

    #[test]
    fn what_basic_authentication_cannot_carry_is_named() {
        assert!(Credentials::basic("", "x").problem().is_some());
        assert!(Credentials::basic("a:b", "x").problem().is_some());
        assert!(Credentials::basic("a", "x\n").problem().is_some());
        assert_eq!(Credentials::basic("a", "x:y").problem(), None);
    }
}
