//! What of a dialect needs every endpoint there is: its JSON form (serialization), and the known dialects.

use super::{ENDPOINTS, payment_status, provider_status, qr_status};
use crate::{
    config::dialect::{Dialect, form, known::KNOWN},
    error::PaymentError,
    payment_ref::PaymentKind,
    violation::Rule,
};

impl Dialect {
    /// Reads the JSON form. What it does not name stays as in its `base`, which is the default unless it names another known
    /// dialect: `{"base": "finipay"}`. A byte order mark before it is skipped.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] naming every part that is not understood: a field that does not exist or that its
    /// endpoint does not use, a pointer that is not one, a code or a word in two lists that exclude each other.
    pub fn from_json(text: &str) -> Result<Self, PaymentError> {
        form::read(text, &ENDPOINTS)
    }

    /// A known dialect, by its exact name: `interface` is the default, and `finipay` what the public pages of the gateway FINIPAY
    /// show. Nobody could try it against the live service: `docs/finipay.md` says what it knows and what stays open.
    ///
    /// ```
    /// use kassa::Dialect;
    ///
    /// assert_eq!(Dialect::named("interface")?, Dialect::default());
    /// assert_ne!(Dialect::named("finipay")?, Dialect::default());
    /// assert!(Dialect::named("Finipay").is_err());
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] for a name that is none of [`names`](Self::names).
    pub fn named(name: &str) -> Result<Self, PaymentError> {
        match KNOWN.iter().find(|(known, _)| *known == name) {
            Some((_, known)) => form::read(known.json(), &ENDPOINTS),
            None => {
                let all = Self::names().join(", ");
                Err(PaymentError::invalid("dialect", Rule::OneOf, Some(&all), &format!("must be one of {all}")))
            }
        }
    }

    /// The names of all known dialects.
    pub fn names() -> Vec<String> {
        KNOWN.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Whether reports on a payment of this kind may name numbers that are none of its own.
    pub(crate) fn may_report_any_number(&self, kind: PaymentKind) -> bool {
        if kind == PaymentKind::Qr {
            return self.endpoint(&qr_status::ENDPOINT).any_number();
        }
        [&payment_status::ENDPOINT, &provider_status::ENDPOINT]
            .into_iter()
            .any(|endpoint| self.endpoint(endpoint).any_number())
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Dialect {
    /// The whole dialect as JSON, defaults included: a good start for a file of one's own.
    pub fn to_json(&self) -> String {
        form::write(self, &ENDPOINTS)
    }
}
