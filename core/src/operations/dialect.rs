//! The list of all endpoints, and the parts of a dialect that need it: its JSON form (serialization), the known dialects, and advice on
//! settings that it leaves open.

use crate::{
    config::{
        dialect::{
            Dialect,
            form::{self, KNOWN},
        },
        endpoint::{Endpoint, ResponseField},
    },
    error::PaymentError,
    operations::{
        card_payment, mbank_confirm, mbank_payment, megapay, pay_form, qr_data, qr_image,
        status_queries::{PAYMENT_STATUS, PROVIDER_STATUS, QR_STATUS},
    },
    payment_ref::PaymentKind,
    violation::{Advice, Rule},
};

/// Every endpoint, in the order of `docs/interface.md#endpoints`.
pub(crate) static ENDPOINTS: [&Endpoint; 11] = [
    &card_payment::ENDPOINT,
    &PAYMENT_STATUS,
    &mbank_payment::ENDPOINT,
    &mbank_confirm::ENDPOINT,
    &pay_form::ENDPOINT,
    &PROVIDER_STATUS,
    &qr_image::ENDPOINT,
    &qr_data::ENDPOINT,
    &QR_STATUS,
    &megapay::CHECK,
    &megapay::PAY,
];

impl Dialect {
    /// Reads the JSON form. Settings that it does not name stay as in its `base`, which is the default unless it names another known
    /// dialect: `{"base": "finipay"}`. A byte order mark before it is skipped.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] naming every part that is not understood: a field that does not exist or that its
    /// endpoint does not use, an invalid pointer, a code or a word in two lists that exclude each other.
    pub fn from_json(text: &str) -> Result<Self, PaymentError> {
        form::read(text, &ENDPOINTS)
    }

    /// A known dialect, by its exact name: `interface` is the default, and `finipay` follows the public pages of the gateway FINIPAY. It
    /// was not tested against the live service: `docs/finipay.md` says what is known and what is open.
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
    /// [`PaymentError::Invalid`] for a name that is not one of [`names`](Self::names).
    pub fn named(name: &str) -> Result<Self, PaymentError> {
        match KNOWN.iter().find(|(known, _)| *known == name) {
            Some((_, known)) => form::read(known, &ENDPOINTS),
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

    /// Whether reports on a payment of this kind may name numbers that are not its own.
    pub(crate) fn may_report_any_number(&self, kind: PaymentKind) -> bool {
        if kind == PaymentKind::Qr {
            return self.endpoint(&QR_STATUS).any_number();
        }
        [&PAYMENT_STATUS, &PROVIDER_STATUS].into_iter().any(|endpoint| self.endpoint(endpoint).any_number())
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Dialect {
    /// The whole dialect as JSON, defaults included: a good start for your own file.
    pub fn to_json(&self) -> String {
        form::write(self, &ENDPOINTS)
    }
}

// Advice on settings that a dialect leaves open, given when you choose the dialect and not when a payment stays undecided.

const UNIT: &str = "is not set, so the unit of the amounts of QR payments is not known, and a charge that is reported in som \
    stays Unverifiable: set it to \"som\" or \"tyiyn\"";

const NUMBERS: &str = "is not set, so no charge of a pay-form can be verified, because its number could be that of a QR payment: \
    set it to \"none\" where get-status finds no QR payments";

const PAYLOAD: &str = "is not set, and the interface does not show the response, so the place of the QR code's text is a guess; \
    if it is elsewhere, no code can be shown: name its place, or begin with a known dialect";

const TRANSACTION: &str = "is not set, and the interface does not show the response, so the place of the transaction is a guess; \
    if it is elsewhere, a QR payment cannot be queried, so only its callback or a person can decide it: name its \
    place, or begin with a known dialect";

const STATUS: &str = "is not set, and the interface does not show the response, so the place of the status word is a guess; if it \
    is elsewhere, no status query can decide a QR payment: name its place, or begin with a known dialect";

const IDENTIFIER: &str = "is not set, and the interface does not show where the response to a mobile-bank payment holds the \
    identifier that its confirmation needs, so none is sent, and the gateway may refuse confirmations: name its place and its \
    field";

impl Dialect {
    fn leaves_open(&self, endpoint: &'static Endpoint, field: ResponseField) -> bool {
        self.endpoint(endpoint).pointers(field).eq(field.shown_pointers().iter().copied())
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Dialect {
    /// Advice on each setting that this dialect leaves open and that matters to money, with the key to set. It blocks nothing. There is no
    /// advice on settings that the dialect names.
    ///
    /// ```
    /// use kassa::Dialect;
    ///
    /// let advice = Dialect::default().advice();
    /// assert_eq!(advice[0].field, "dialect.qr_amount_unit");
    /// let dialect = Dialect::from_json(r#"{"qr_amount_unit": "tyiyn"}"#)?;
    /// assert!(dialect.advice().iter().all(|advice| advice.field != "dialect.qr_amount_unit"));
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    pub fn advice(&self) -> Vec<Advice> {
        let transaction_is_open = self.leaves_open(&qr_data::ENDPOINT, ResponseField::TransactionId);
        // The author of a dialect that names the place of the transaction has seen responses about QR payments. Naming `/data/status` again
        // would leave no trace in the dialect.
        let status_is_open = transaction_is_open && self.leaves_open(&QR_STATUS, ResponseField::Status);
        [
            (!self.knows_qr_amount_unit(), "qr_amount_unit", UNIT),
            (!self.verifies_pay_forms(), "qr_numbers", NUMBERS),
            (self.leaves_open(&qr_data::ENDPOINT, ResponseField::QrPayload), "endpoints.qr_data.qr_payload", PAYLOAD),
            (transaction_is_open, "endpoints.qr_data.transaction_id", TRANSACTION),
            (status_is_open, "endpoints.qr_status.status", STATUS),
            (self.mbank_identifier().is_none(), "mbank_identifier", IDENTIFIER),
        ]
        .into_iter()
        .filter(|(is_open, ..)| *is_open)
        .map(|(_, key, sentence)| Advice::on_dialect(key, sentence))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QrData, payment_ref::PaymentRef, violation::AdviceTopic};

    #[test]
    fn what_a_dialect_names_is_not_advised() {
        let advised = |dialect: &Dialect| {
            let advice = dialect.advice().into_iter();
            advice
                .map(|advice| {
                    assert!(advice.text.starts_with(&format!("{} is not set", advice.field)), "{}", advice.text);
                    assert_eq!(advice.topic, AdviceTopic::Dialect);
                    advice.field.trim_start_matches("dialect.").to_owned()
                })
                .collect::<Vec<_>>()
        };
        let (unit, numbers, identifier) = ("qr_amount_unit", "qr_numbers", "mbank_identifier");
        let (payload, transaction) = ("endpoints.qr_data.qr_payload", "endpoints.qr_data.transaction_id");
        let status = "endpoints.qr_status.status";
        let named = r#""mbank_identifier": {"pointers": ["/id"], "confirm_field": "id"}"#;
        let cases: [(&str, &[&str]); 7] = [
            ("{}", &[unit, numbers, payload, transaction, status, identifier]),
            // With som, a query can show whether a pay-form's number belongs to a QR payment.
            (r#"{"qr_amount_unit": "som"}"#, &[payload, transaction, status, identifier]),
            (r#"{"qr_amount_unit": "tyiyn"}"#, &[numbers, payload, transaction, status, identifier]),
            (&format!(r#"{{"qr_numbers": "none", {named}}}"#), &[unit, payload, transaction, status]),
            (
                r#"{"endpoints": {"qr_status": {"status": ["/data"]}}}"#,
                &[unit, numbers, payload, transaction, identifier],
            ),
            (
                r#"{"endpoints": {"qr_data": {"qr_payload": ["/data"]}}}"#,
                &[unit, numbers, transaction, status, identifier],
            ),
            (r#"{"endpoints": {"qr_data": {"transaction_id": ["/id"]}}}"#, &[unit, numbers, payload, identifier]),
        ];
        for (text, expected) in cases {
            assert_eq!(advised(&Dialect::from_json(text).unwrap()), expected, "{text}");
        }
        assert_eq!(advised(&Dialect::named("finipay").unwrap()), [unit, numbers]);
    }

    #[test]
    fn advice_names_missing_qr_fields() {
        let answer = QrData::new(PaymentRef::qr(Some(39_000)));
        let whole = QrData { payload: Some("x".to_owned()), transaction_id: Some("t-1".to_owned()), ..answer.clone() };
        let fields = |answer: &QrData| answer.advice().into_iter().map(|advice| advice.field).collect::<Vec<_>>();
        let (payload, transaction) =
            ("dialect.endpoints.qr_data.qr_payload", "dialect.endpoints.qr_data.transaction_id");
        assert_eq!(fields(&answer), [payload, transaction]);
        assert_eq!(fields(&QrData { transaction_id: None, ..whole.clone() }), [transaction]);
        assert_eq!(fields(&QrData { payload: None, ..whole.clone() }), [payload]);
        assert!(fields(&whole).is_empty());
    }
}
