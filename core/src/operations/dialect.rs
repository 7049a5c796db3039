//! The JSON form of a dialect (serialization), for every endpoint there is.

use super::ENDPOINTS;
use crate::{
    config::dialect::{Dialect, form},
    values::error::PaymentError,
};

impl Dialect {
    /// Reads the JSON form. What it does not name stays as in the default. A byte order mark before it is skipped.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] naming every part that is not understood: a field that does not exist or that its
    /// endpoint does not use, a pointer that is not one, a code or a word in two lists that exclude each other.
    pub fn from_json(text: &str) -> Result<Self, PaymentError> {
        form::read(text, &ENDPOINTS)
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Dialect {
    /// The whole dialect as JSON, defaults included: a good start for a file of one's own.
    pub fn to_json(&self) -> String {
        form::write(self, &ENDPOINTS)
    }
}
