//! Dialect, the configurable mapping of responses: where to look for what (JSON pointers), and what codes and words mean.
//!
//! Much of it the interface does not show (`docs/interface.md#what-is-not-shown`), so it is configuration
//! (`docs/dialect.md`).

pub(crate) mod endpoint_dialect;
pub(crate) mod form;

use std::collections::BTreeMap;

use crate::{config::endpoint::Endpoint, payment_ref::report::PaymentStatus};

pub(crate) use endpoint_dialect::EndpointDialect;
use endpoint_dialect::{Overrides, WordList};

/// How to read the gateway's responses.
///
/// Much of the interface is not shown (`docs/interface.md#what-is-not-shown`): the responses of the mobile bank, of
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
/// What the public pages of the gateway FINIPAY show is a dialect with a name. A file can begin with one, and name what
/// differs:
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
    /// The merchant's own number gives way to it where this is [`ORDER_NUMBER`]. Without a field it is not sent.
    pub(crate) confirm_field: Option<String>,
}

/// The field of a confirm request that carries the payment's number.
pub(crate) const ORDER_NUMBER: &str = "orderNumber";

impl MbankIdentifier {
    /// Whether the confirmation names the payment by it, and not by the merchant's number.
    pub(crate) fn replaces_order_number(&self) -> bool {
        self.confirm_field.as_deref() == Some(ORDER_NUMBER)
    }
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

    /// Reads the status word of a callback, which no endpoint's own words are about.
    pub(crate) fn status(&self, word: &str) -> PaymentStatus {
        status_of(word, &self.charged_words, &self.rejected_words)
    }

    /// Reads the status word of an endpoint's response.
    pub(crate) fn status_at(&self, endpoint: EndpointDialect<'_>, word: &str) -> PaymentStatus {
        status_of(word, self.words_at(endpoint, WordList::Charged), self.words_at(endpoint, WordList::Rejected))
    }

    /// The words that count for an endpoint: its own, else those of the whole dialect.
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
    use crate::{
        error::PaymentError,
        operations::status_queries::{PAYMENT_STATUS, QR_STATUS},
    };

    fn read(text: &str) -> Dialect {
        Dialect::from_json(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    /// The fields that an error names.
    fn wrong(text: &str) -> Vec<String> {
        let Err(PaymentError::Invalid { violations }) = Dialect::from_json(text) else { panic!("{text}") };
        violations.into_iter().map(|violation| violation.field).collect()
    }

    #[test]
    fn status_words_match_whole_in_any_letter_case() {
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
        // One with everything that an endpoint can hold, and the key that is only read.
        let endpoint = r#"{"charged_words": ["A"], "rejected_words": ["B"], "numbers": "any"}"#;
        let full = read(&format!(r#"{{"base": "finipay", "endpoints": {{"qr_status": {endpoint}}}}}"#)).to_json();
        let parts: Vec<_> = full.split('"').collect();
        let keys = parts.windows(2).filter(|pair| pair[1].starts_with(':')).map(|pair| pair[0]);
        for name in keys.chain(["base"]) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
        let shown = page.split("```json").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        assert_eq!(shown.trim(), include_str!("../../../../examples/sandbox-dialect.json").trim());
        for page in [page, include_str!("../../../../docs/finipay.md")] {
            for block in page.split("```json").skip(1).filter_map(|rest| rest.split("```").next()) {
                read(block);
            }
        }
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
            ]
        );
    }

    #[test]
    fn known_dialects_are_read_by_their_exact_names() {
        assert_eq!(Dialect::names(), ["interface", "finipay"]);
        for name in Dialect::names() {
            let known = Dialect::named(&name).unwrap();
            assert_eq!(read(&known.to_json()), known, "{name} survives its JSON");
            assert_eq!(read(&format!(r#"{{"base": "{name}"}}"#)), known, "{name} as a base");
        }
        assert_eq!(Dialect::named("interface").unwrap(), Dialect::default());
        assert_ne!(Dialect::named("finipay").unwrap(), Dialect::default());
        for (_, known) in form::KNOWN {
            assert!(!known.contains("\"base\""), "reading it would not end");
        }
        for name in ["", "Finipay", " finipay", "finipay.json", "../finipay", "default"] {
            let Err(PaymentError::Invalid { violations }) = Dialect::named(name) else { panic!("{name}") };
            let said = (violations[0].field.as_str(), violations[0].limit.as_deref(), violations[0].text.as_str());
            let expected = ("dialect", Some("interface, finipay"), "dialect must be one of interface, finipay");
            assert_eq!(said, expected, "{name}");
        }
    }

    #[test]
    fn a_base_is_replaced_key_by_key() {
        let finipay = || Dialect::named("finipay").unwrap();
        for left_out in [
            r#"{"base": "finipay", "endpoints": {}}"#,
            r#"{"base": "finipay", "endpoints": {"qr_status": {}}, "callback": {}}"#,
            r#"{"base": "finipay", "endpoints": {"qr_status": {"status": null, "charged_words": null}}}"#,
            r#"{"base": "finipay", "mbank_identifier": null, "callback": {"transaction_id": null}}"#,
        ] {
            assert_eq!(read(left_out), finipay(), "{left_out}");
        }
        assert_eq!(read(r#"{"base": null}"#), Dialect::default());
        // One key of an endpoint, beside those that stay.
        let own = read(r#"{"base": "finipay", "endpoints": {"qr_status": {"rejected_words": ["FAILED"]}}}"#);
        let responses = own.endpoint(&QR_STATUS);
        assert_eq!(own.status_at(responses, "SUCCESSFUL"), PaymentStatus::Charged);
        assert_eq!(own.status_at(responses, "FAILED"), PaymentStatus::Rejected);
        // The default of a key is as good as any other value.
        let back = read(
            r#"{"base": "finipay", "endpoints": {
                "payment_status": {"numbers": "own"}, "mbank_payment": {"success_codes": [], "gateway_number": []}
            }}"#,
        );
        assert!(!back.endpoint(&PAYMENT_STATUS).any_number());
        assert!(finipay().endpoint(&PAYMENT_STATUS).any_number());
        let written = back.to_json();
        assert!(!written.contains("\"numbers\"") && !written.contains("\"base\""), "{written}");
        assert_eq!(read(&written), back);
    }

    #[test]
    fn dialect_with_base_reports_all_mistakes() {
        let text = r#"{
            "base": "finipay", "colour": 1,
            "endpoints": {
                "qr_data": {"transaction_id": ["elqr:54"]}, "qr_image": {"refusal_codes": ["100"]},
                "qr_status": {"numbers": "some", "rejected_words": []}
            },
            "rejected_words": ["successful"], "mbank_identifier": {"pointers": ["/data/quid"]}
        }"#;
        let own = [
            "dialect.colour",
            "dialect.endpoints.qr_image.refusal_codes",
            "dialect.endpoints.qr_data.transaction_id",
            "dialect.endpoints.qr_status.numbers",
            "dialect.endpoints.qr_status.rejected_words",
            "dialect.mbank_identifier.confirm_field",
        ];
        assert_eq!(wrong(text), own);
        let unknown = text.replace("finipay", "Finipay");
        assert_eq!(wrong(&unknown)[..2], ["dialect.colour", "dialect.base"], "and the rest");
        assert_eq!(wrong(&unknown).len(), own.len());
    }

    #[test]
    fn an_endpoint_has_words_of_its_own() {
        let dialect = Dialect::named("finipay").unwrap();
        let (of_qr, of_card) = (dialect.endpoint(&QR_STATUS), dialect.endpoint(&PAYMENT_STATUS));
        for (word, qr, card) in [
            ("SUCCESSFUL", PaymentStatus::Charged, PaymentStatus::Other("SUCCESSFUL".into())),
            ("CHARGE", PaymentStatus::Other("CHARGE".into()), PaymentStatus::Charged),
            ("reject", PaymentStatus::Rejected, PaymentStatus::Rejected),
            // With a Cyrillic first letter, as the gateway's page has it.
            (
                "\u{421}REATED",
                PaymentStatus::Other("\u{421}REATED".into()),
                PaymentStatus::Other("\u{421}REATED".into()),
            ),
        ] {
            assert_eq!(dialect.status_at(of_qr, word), qr, "{word}");
            assert_eq!(dialect.status_at(of_card, word), card, "{word}");
        }
        // A callback is read by the words of the whole dialect.
        assert_eq!(dialect.status("SUCCESSFUL"), PaymentStatus::Other("SUCCESSFUL".into()));
        for (text, field) in [
            (r#"{"endpoints": {"qr_status": {"charged_words": []}}}"#, "charged_words"),
            (r#"{"endpoints": {"qr_status": {"rejected_words": [" "]}}}"#, "rejected_words"),
            (r#"{"endpoints": {"qr_status": {"charged_words": ["REJECT"]}}}"#, "charged_words"),
            (r#"{"endpoints": {"qr_status": {"rejected_words": ["charge"]}}}"#, "rejected_words"),
            (r#"{"endpoints": {"qr_status": {"charged_words": ["A"], "rejected_words": ["a"]}}}"#, "charged_words"),
            (r#"{"rejected_words": ["OK"], "endpoints": {"qr_status": {"charged_words": ["ok"]}}}"#, "charged_words"),
            (r#"{"base": "finipay", "rejected_words": ["SUCCESSFUL"]}"#, "charged_words"),
        ] {
            assert_eq!(wrong(text), [format!("dialect.endpoints.qr_status.{field}")], "{text}");
        }
        // Two lists that never count together may share a word.
        read(
            r#"{"rejected_words": ["OK"], "endpoints": {
            "qr_status": {"charged_words": ["OK"], "rejected_words": ["NO"]}
        }}"#,
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
            r#"{"base": 1}"#,
            r#"{"base": ["finipay"]}"#,
            r#"{"base": ""}"#,
            r#"{"endpoints": {"card_payment": {"numbers": "any"}}}"#,
            r#"{"endpoints": {"mbank_payment": {"charged_words": ["PAID"]}}}"#,
            r#"{"endpoints": {"qr_status": {"numbers": true}}}"#,
            r#"{"endpoints": {"qr_status": {"numbres": null}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:3211"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:32.1"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:32.11.00"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["ELQR:32.11"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["/data/id", "elqr:59"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["elqr:32.01"]}}}"#,
            r#"{"endpoints": {"qr_data": {"transaction_id": ["/data/id", "elqr:33.01"]}}}"#,
            r#"{"endpoints": {"qr_data": {"qr_payload": ["elqr:32.11"]}}}"#,
            r#"{"endpoints": {"qr_status": {"status": ["elqr:34"]}}}"#,
            r#"{"callback": {"transaction_id": ["elqr:32.11"]}}"#,
            r#"{"mbank_identifier": {"pointers": ["/id"]}}"#,
            r#"{"mbank_identifier": {"confirm_field": null}}"#,
            r#"{"mbank_identifier": {"pointers": ["/id"], "confirm_field": "otp"}}"#,
            r#"{"base": "finipay", "mbank_identifier": {"pointers": ["/data/quid"]}}"#,
        ] {
            assert!(Dialect::from_json(text).is_err(), "{text}");
        }
        for tag in ["32.11", "32.10", "33.00", "34", "35.00", "62"] {
            let text = format!(r#"{{"endpoints": {{"qr_data": {{"transaction_id": ["/data/id", "elqr:{tag}"]}}}}}}"#);
            let dialect = read(&text);
            assert_eq!(read(&dialect.to_json()), dialect, "{tag}");
        }
        for field in [r#""orderNumber""#, r#""quid""#, "null"] {
            let text = format!(r#"{{"mbank_identifier": {{"pointers": ["/id"], "confirm_field": {field}}}}}"#);
            let dialect = read(&text);
            assert_eq!(read(&dialect.to_json()), dialect, "{field}");
        }
    }
}
