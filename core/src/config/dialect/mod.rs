//! Dialect, the configurable mapping of responses: the places of fields (JSON pointers), and the meanings of codes and words.
//!
//! The interface does not show much of this (`docs/interface.md#what-is-not-shown`), so it is configuration
//! (`docs/dialect.md`).

pub(crate) mod decline_reason;
pub(crate) mod form;

use std::collections::BTreeMap;

use decline_reason::{DeclineReason, DeclineReasons};
use http::Method;

use crate::{
    config::endpoint::{Endpoint, EndpointDialect, Overrides, WordList},
    payment_ref::report::PaymentStatus,
};

/// How to read the gateway's responses.
///
/// The interface leaves much open (`docs/interface.md#what-is-not-shown`): the responses of the mobile bank, of
/// `get-status` and of the QR endpoints, the codes, the full set of status words. A dialect names them, so that a
/// merchant can configure the gateway's real responses without a new release. For each endpoint it holds the JSON
/// pointers (RFC 6901) of each field, tried in order, and the lists of codes that mean success, a refusal, an unknown
/// outcome, or an order number that was used before.
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
/// The dialect `finipay` follows the public pages of the gateway FINIPAY. A file can use a named dialect as its base,
/// and name only the differences:
///
/// ```
/// use kassa::Dialect;
///
/// let finipay = Dialect::named("finipay")?;
/// let own = Dialect::from_json(r#"{"base": "finipay", "qr_amount_unit": "som"}"#)?;
/// assert!(own.knows_qr_amount_unit() && !finipay.knows_qr_amount_unit());
/// # Ok::<(), kassa::PaymentError>(())
/// ```
///
/// All settings: `docs/dialect.md`.
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
    megapay_check_method: Option<Method>,
    callback_transaction_id: Vec<String>,
    decline_reasons: DeclineReasons,
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

/// The numbers by which `get-status` finds QR payments, which the interface does not show
/// (`docs/interface.md#what-is-not-shown`). With it Kassa can exclude that a pay-form's number, which anyone can claim,
/// belongs to a QR payment in tyiyn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QrNumbers {
    /// It finds none, or the merchant accepts no QR payments.
    None,
    /// The identifier of their transaction.
    TransactionId,
}

/// The identifier in the response to a mobile-bank payment, and the field of the confirm request that sends it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MbankIdentifier {
    pub(crate) pointers: Vec<String>,
    /// If this is [`ORDER_NUMBER`], the identifier replaces the merchant's own number. Without a field it is not sent.
    pub(crate) confirm_field: Option<String>,
}

/// The field of a confirm request that carries the payment's number.
pub(crate) const ORDER_NUMBER: &str = "orderNumber";

impl MbankIdentifier {
    /// Whether the confirmation sends it in place of the merchant's number.
    pub(crate) fn replaces_order_number(&self) -> bool {
        self.confirm_field.as_deref() == Some(ORDER_NUMBER)
    }
}

impl Dialect {
    /// Whether a charge of a pay-form can be verified. Its number comes only from a callback, so Kassa must exclude that the number is a QR
    /// payment's: `qr_numbers` in the dialect tells how. Without it (and without a `qr_amount_unit` of `som`) every charge of a pay-form is
    /// [`Unverifiable`](crate::Verdict::Unverifiable).
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

    /// Whether the unit of the amounts in reports about QR payments is known (`qr_amount_unit`). If it is not known, only an amount in
    /// tyiyn is accepted.
    pub fn knows_qr_amount_unit(&self) -> bool {
        self.qr_amount_unit.is_some()
    }

    pub(crate) fn endpoint(&self, endpoint: &'static Endpoint) -> EndpointDialect<'_> {
        EndpointDialect { endpoint, overrides: self.endpoints.get(endpoint.name) }
    }

    pub(crate) fn mbank_identifier(&self) -> Option<&MbankIdentifier> {
        self.mbank_identifier.as_ref()
    }

    /// Whether the gateway accepts payments from MegaPay wallets by the requests of `docs/interface.md#megapay` (`megapay`). Without them,
    /// MegaPay is available on the pay-form.
    ///
    /// ```
    /// use kassa::Dialect;
    ///
    /// assert!(!Dialect::default().offers_megapay());
    /// assert!(Dialect::named("finipay")?.offers_megapay());
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    pub fn offers_megapay(&self) -> bool {
        self.megapay_check_method.is_some()
    }

    /// The HTTP method of the check, if the gateway has the MegaPay requests.
    pub(crate) fn megapay_check_method(&self) -> Option<&Method> {
        self.megapay_check_method.as_ref()
    }

    pub(crate) fn qr_amount_unit(&self) -> Option<QrAmountUnit> {
        self.qr_amount_unit
    }

    pub(crate) fn qr_numbers(&self) -> Option<QrNumbers> {
        self.qr_numbers
    }

    /// Why the gateway declined a payment or a one-time password, by its code and its message (`decline_reasons`); `None` if no list has
    /// them. It only selects a text for people: only the outcome says what happened to the money.
    ///
    /// ```
    /// use kassa::{DeclineReason, Dialect};
    ///
    /// let dialect = Dialect::from_json(r#"{"decline_reasons": {"limit_exceeded": ["61", "daily maximum"]}}"#)?;
    /// assert_eq!(dialect.decline_reason(Some("61"), None), Some(DeclineReason::LimitExceeded));
    /// assert_eq!(dialect.decline_reason(None, Some("Daily maximum reached")), Some(DeclineReason::LimitExceeded));
    /// assert_eq!(dialect.decline_reason(Some("05"), Some("Insufficient funds")), Some(DeclineReason::InsufficientFunds));
    /// assert_eq!(dialect.decline_reason(Some("05"), Some("61 som")), None);
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    pub fn decline_reason(&self, code: Option<&str>, words: Option<&str>) -> Option<DeclineReason> {
        self.decline_reasons.find(code, words)
    }

    pub(crate) fn callback_transaction_id(&self) -> &[String] {
        &self.callback_transaction_id
    }

    /// Reads the status word of a callback, which has no endpoint and so no words of its own.
    pub(crate) fn status(&self, word: &str) -> PaymentStatus {
        status_of(word, &self.charged_words, &self.rejected_words)
    }

    /// Reads the status word of an endpoint's response.
    pub(crate) fn status_at(&self, endpoint: EndpointDialect<'_>, word: &str) -> PaymentStatus {
        status_of(word, self.words_at(endpoint, WordList::Charged), self.words_at(endpoint, WordList::Rejected))
    }

    /// The words that apply to an endpoint: its own, else the whole dialect's.
    fn words_at<'a>(&'a self, endpoint: EndpointDialect<'a>, list: WordList) -> &'a [String] {
        let of_all: &[String] = match list {
            WordList::Charged => &self.charged_words,
            WordList::Rejected => &self.rejected_words,
        };
        endpoint.words(list).unwrap_or(of_all)
    }
}

/// Only letter case is ignored: a word that is merely similar must not decide a payment.
fn status_of(word: &str, charged: &[String], rejected: &[String]) -> PaymentStatus {
    let listed = |words: &[String]| words.iter().any(|known| same_word(known, word));
    if listed(charged) {
        PaymentStatus::Charged
    } else if listed(rejected) {
        PaymentStatus::Rejected
    } else {
        PaymentStatus::Other(word.to_owned())
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
            megapay_check_method: None,
            callback_transaction_id: vec!["/transaction_id".to_owned(), "/transactionId".to_owned()],
            decline_reasons: DeclineReasons::default(),
        }
    }
}

fn same_word(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other) || one.to_lowercase() == other.to_lowercase()
}

#[cfg(test)]
mod tests;
