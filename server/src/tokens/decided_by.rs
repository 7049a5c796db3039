//! Who decided something, and through which key that was said.

use super::role::KeyRole;
use crate::values::ids::ApiKeyId;

/// A person who decides, by name, and the key through which the decision came. A shop's back end names whomever it likes; a
/// staff key is one person's, so that its name is that person's. The event tells both.
///
/// ```
/// use kassa_server::DecidedBy;
///
/// assert_eq!(DecidedBy::from("Aizada"), DecidedBy::new("Aizada"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedBy {
    pub(crate) name: String,
    pub(crate) via: Option<Via>,
}

/// The key through which something came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Via {
    pub(crate) role: KeyRole,
    pub(crate) key: ApiKeyId,
}

impl DecidedBy {
    /// Somebody, through no key: the program that holds the server decides.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), via: None }
    }

    /// The same through a key.
    #[must_use]
    pub fn through(self, role: KeyRole, key: ApiKeyId) -> Self {
        Self { via: Some(Via { role, key }), ..self }
    }
}

impl From<String> for DecidedBy {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<&str> for DecidedBy {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}
