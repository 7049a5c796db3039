//! Dialect, the configurable mapping of replies: where to look for what (JSON pointers), and what codes and words mean.
//!
//! Much of it the interface does not show (`docs/interface.md#what-is-not-shown`), so it is configuration
//! (`docs/dialect.md`).

pub(crate) mod code_list;
mod endpoint_dialect;
pub(crate) mod form;

use std::collections::BTreeMap;

use crate::{config::endpoint::Endpoint, values::status::PaymentStatus};

pub(crate) use endpoint_dialect::EndpointDialect;
use endpoint_dialect::Overrides;

/// How to read the gateway's replies.
///
/// Much of the interface is not shown (`docs/interface.md#what-is-not-shown`): the replies of the mobile bank, of
/// `get-status` and of the QR endpoints, the codes, the full set of status words. A dialect names them, so that a
/// merchant need not wait for a release to teach Kassa what the gateway really sends. For each endpoint it holds JSON
/// pointers (RFC 6901), tried in order, for each thing that is looked for, and the lists of codes that mean success, a
/// refusal, an unknown outcome, or an order number that was used before.
///
/// The [`Default`] assumes the envelope that the interface shows (`docs/interface.md#envelope`): `code`, `message` and
/// `data`. It knows one success code, "110" of a card payment, and no other. A dialect in JSON replaces only what it
/// names:
///
/// ```
/// use kassa::Dialect;
///
/// let dialect = Dialect::from_json(r#"{
///     "endpoints": {
///         "mbank_payment": { "refusal_codes": ["310", "311"] },
///         "provider_status": { "status": ["/data/state", "/state"] }
///     },
///     "charged_words": ["CHARGE", "PAID"]
/// }"#).unwrap();
/// assert_eq!(Dialect::from_json(&dialect.to_json()).unwrap(), dialect);
///
/// let typo = Dialect::from_json(r#"{"endpoints": {"mbank_payment": {"refusal_code": ["310"]}}}"#);
/// assert!(typo.is_err());
/// ```
///
/// All that it can hold: `docs/dialect.md`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// By the endpoint's name.
    endpoints: BTreeMap<&'static str, Overrides>,
    charged_words: Vec<String>,
    rejected_words: Vec<String>,
    qr_amount_unit: Option<QrAmountUnit>,
    qr_numbers: Option<QrNumbers>,
    mbank_identifier: Option<MbankIdentifier>,
    callback_transaction_id: Vec<String>,
}

/// The unit of the amounts in QR callbacks and QR statuses, which the interface does not show
/// (`docs/interface.md#what-is-not-shown`).
// Exhaustive: the som has no other unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QrAmountUnit {
    /// Som, as everywhere else.
    Som,
    /// Tyiyn, as in the QR request.
    Tyiyn,
}

/// Under which numbers `get-status` finds QR payments, which the interface does not show
/// (`docs/interface.md#what-is-not-shown`). With that it can be ruled out that a pay-form's number, which anybody can
/// claim, is that of a QR payment in tyiyn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QrNumbers {
    /// It finds none, or the merchant takes no QR payments.
    None,
    /// By the identifier of their transaction.
    TransactionId,
}

/// The identifier that a mobile-bank create yields, and the field in which the confirm request carries it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MbankIdentifier {
    pub(crate) pointers: Vec<String>,
    pub(crate) confirm_field: String,
}

impl Dialect {
    /// Whether a charge of a pay-form could be verified. Its number comes by a callback alone, so it has to be ruled out that
    /// the number is that of a QR payment: the dialect says how, by `qr_numbers`. Without that (and with no `qr_amount_unit` of
    /// `som`) every charge of a pay-form is [`Unverifiable`](crate::Verdict::Unverifiable).
    ///
    /// ```
    /// use kassa::Dialect;
    ///
    /// assert!(!Dialect::default().verifies_pay_forms());
    /// let dialect = Dialect::from_json(r#"{"qr_numbers": "none"}"#)?;
    /// assert!(dialect.verifies_pay_forms());
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    pub fn verifies_pay_forms(&self) -> bool {
        self.qr_numbers.is_some() || self.qr_amount_unit == Some(QrAmountUnit::Som)
    }

    /// Whether the unit of the amounts in reports about QR payments is known (`qr_amount_unit`). While it is not, an amount
    /// in tyiyn alone is believed.
    pub fn knows_qr_amount_unit(&self) -> bool {
        self.qr_amount_unit.is_some()
    }

    pub(crate) fn endpoint(&self, endpoint: &'static Endpoint) -> EndpointDialect<'_> {
        EndpointDialect { endpoint, overrides: self.endpoints.get(endpoint.name) }
    }

    pub(crate) fn mbank_identifier(&self) -> Option<&MbankIdentifier> {
        self.mbank_identifier.as_ref()
    }

    pub(crate) fn qr_amount_unit(&self) -> Option<QrAmountUnit> {
        self.qr_amount_unit
    }

    pub(crate) fn qr_numbers(&self) -> Option<QrNumbers> {
        self.qr_numbers
    }

    pub(crate) fn callback_transaction_id(&self) -> &[String] {
        &self.callback_transaction_id
    }

    /// Reads a status word. Only letter case is ignored: a word that is merely similar must not settle a payment.
    pub(crate) fn status(&self, word: &str) -> PaymentStatus {
        let listed = |words: &[String]| words.iter().any(|known| same_word(known, word));
        if listed(&self.charged_words) {
            PaymentStatus::Charged
        } else if listed(&self.rejected_words) {
            PaymentStatus::Rejected
        } else {
            PaymentStatus::Other(word.to_owned())
        }
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            endpoints: BTreeMap::new(),
            charged_words: vec!["CHARGE".to_owned()],
            rejected_words: vec!["Reject".to_owned()],
            qr_amount_unit: None,
            qr_numbers: None,
            mbank_identifier: None,
            callback_transaction_id: vec!["/transaction_id".to_owned(), "/transactionId".to_owned()],
        }
    }
}

fn same_word(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::error::PaymentError;

    #[test]
    fn words_match_in_any_letter_case_and_no_other_way() {
        let dialect = Dialect::from_json(r#"{"charged_words": ["CHARGE", "ТӨЛӨНДҮ"]}"#).unwrap();
        for word in ["CHARGE", "charge", "Charge", "төлөндү"] {
            assert_eq!(dialect.status(word), PaymentStatus::Charged, "{word}");
        }
        assert_eq!(dialect.status("REJECT"), PaymentStatus::Rejected);
        for word in ["CHARGED", "CHARGE ", "", "REJECTED", "SUCCESS"] {
            assert_eq!(dialect.status(word), PaymentStatus::Other(word.to_owned()), "{word}");
        }
    }

    #[test]
    fn the_default_survives_its_json() {
        assert_eq!(Dialect::from_json(&Dialect::default().to_json()).unwrap(), Dialect::default());
        assert_eq!(Dialect::from_json("{}").unwrap(), Dialect::default());
        assert_eq!(Dialect::from_json("\u{feff}{}\r\n").unwrap(), Dialect::default());
    }

    #[test]
    fn its_page_names_all_that_it_can_hold() {
        let page = include_str!("../../../../docs/dialect.md");
        let written = Dialect::default().to_json();
        let names = written
            .split('"')
            .skip(1)
            .step_by(2)
            .filter(|text| text.starts_with(|first: char| first.is_ascii_lowercase()));
        for name in names {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
        let shown = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert_eq!(shown.trim(), include_str!("../../../../examples/sandbox-dialect.json").trim());
        assert!(Dialect::from_json(shown).is_ok());
    }

    #[test]
    fn every_mistake_is_named_at_once() {
        let text = r#"{
            "endpoints": {
                "card_payment": {"code": ["code"], "success_codes": ["1"], "refusal_codes": ["1"]},
                "payment_status": {"confirmation_url": ["/x"]},
                "mbank_payment": {"code": ["/a~2"]}
            },
            "charged_words": ["YES"], "rejected_words": ["yes"],
            "mbank_identifier": {"pointers": [], "confirm_field": "otp"}
        }"#;
        let PaymentError::Invalid { violations } = Dialect::from_json(text).unwrap_err() else { panic!() };
        let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "dialect.endpoints.card_payment.code",
                "dialect.endpoints.card_payment.refusal_codes",
                "dialect.endpoints.payment_status.confirmation_url",
                "dialect.endpoints.mbank_payment.code",
                "dialect.charged_words",
                "dialect.mbank_identifier.pointers",
                "dialect.mbank_identifier.confirm_field",
            ]
        );
    }

    /// Of whatever kind they are: names, types and values.
    #[test]
    fn one_mistake_hides_no_other() {
        let text = r#"{
            "colour": 1, "charged_words": "CHARGE", "rejected_words": [1], "qr_amount_unit": "dollar", "qr_numbers": true,
            "endpoints": {"cheque": {}, "card_payment": [], "qr_status": {"status": "/status", "success_codes": [110]}},
            "mbank_identifier": {"pointer": ["/id"], "confirm_field": 1}, "callback": {"tx": []}
        }"#;
        let PaymentError::Invalid { violations } = Dialect::from_json(text).unwrap_err() else { panic!() };
        let fields: Vec<_> = violations.iter().map(|violation| violation.field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "dialect.colour",
                "dialect.endpoints.cheque",
                "dialect.endpoints.card_payment",
                "dialect.endpoints.qr_status.status",
                "dialect.endpoints.qr_status.success_codes",
                "dialect.charged_words",
                "dialect.rejected_words",
                "dialect.qr_amount_unit",
                "dialect.qr_numbers",
                "dialect.mbank_identifier.pointer",
                "dialect.mbank_identifier.pointers",
                "dialect.mbank_identifier.confirm_field",
                "dialect.callback.tx",
                "dialect.callback.transaction_id",
            ]
        );
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for text in [
            "",
            "[]",
            "\u{feff}",
            "\u{feff}\u{feff}{}",
            r#"{"colour": 1}"#,
            r#"{"endpoints": {"cheque": {}}}"#,
            r#"{"qr_amount_unit": "dollar"}"#,
            r#"{"charged_words": []}"#,
            r#"{"rejected_words": [""]}"#,
        ] {
            assert!(Dialect::from_json(text).is_err(), "{text}");
        }
    }
}
