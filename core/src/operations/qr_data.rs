//! Dynamic QR code as data: the text of the code (the payload of an EMV QR, for example), to be drawn by the merchant.

use std::{borrow::Cow, iter::once, sync::Arc};

use http::Method;

use super::qr_payment::QrPayment;
use crate::{
    config::{
        dialect::Dialect,
        endpoint::{ELQR, Endpoint, ResponseField},
    },
    elqr::{self, Elqr, ElqrKind},
    error::{PaymentError, sentences},
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_entry::PaymentEntry,
    payment_ref::PaymentRef,
    response::reader::{NotAnAnswer, ResponseReader, Sent},
    validation::Checks,
    violation::Advice,
};

/// The data of a dynamic QR code.
///
/// The interface does not show this response (`docs/interface.md#qr-responses`). This type has the values that the dialect finds in it; the
/// whole response is in `raw`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QrData {
    /// The text of the code, to be drawn with [`QrCode`](crate::QrCode). If it is an ELQR code, [`Elqr::parse`](crate::Elqr::parse) reads
    /// it, and Kassa has checked that its amount is the requested one, its currency the som, and its checksum right.
    pub payload: Option<String>,
    /// The identifier of the QR transaction, if the dialect finds one in the response or in the code.
    pub transaction_id: Option<String>,
    /// The payment reference. Store it. A status query needs its transaction id.
    pub payment: PaymentRef,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl QrData {
    /// The entry to store in place of the reference: it also holds the text of the code, if the dialect finds it.
    pub fn entry(&self) -> PaymentEntry {
        let entry = PaymentEntry::new(self.payment.clone());
        match &self.payload {
            Some(text) => entry.with_qr_text(text),
            None => entry,
        }
    }

    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef) -> Self {
        Self { payload: None, transaction_id: payment.transaction_id.clone(), payment, raw: String::new() }
    }
}

const NO_PAYLOAD: &str = "finds no text of a QR code in the response, so no code can be shown: name its place";

const NO_TRANSACTION: &str = "finds no transaction in the response, so the payment cannot be queried, and only its callback or a \
    person can decide it: name its place";

impl QrData {
    /// Advice on values that the dialect does not find in the response. It blocks nothing:
    /// [`Dialect::explain`](crate::Dialect::explain) shows which values `raw` holds.
    pub fn advice(&self) -> Vec<Advice> {
        let payload = self.payload.is_none().then(|| Advice::on_dialect("endpoints.qr_data.qr_payload", NO_PAYLOAD));
        let transaction = self.transaction_id.is_none();
        let transaction = transaction.then(|| Advice::on_dialect("endpoints.qr_data.transaction_id", NO_TRANSACTION));
        payload.into_iter().chain(transaction).collect()
    }
}

pub(crate) struct QrDataRequest(pub(crate) QrPayment);

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "qr_data",
    method: Method::POST,
    path: "gen/qr/dynamic/data",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::Amount,
        ResponseField::Currency,
        ResponseField::QrPayload,
        ResponseField::TransactionId,
    ],
    success_codes: &[],
};

impl QrDataRequest {
    /// A code by which the payer would not pay what was requested (amount, som, checksum) is never returned. Codes in other formats than
    /// ELQR are not parsed, but a link with a code after it must be a complete ELQR code. Returns the code if it is a checked ELQR code.
    fn checked_code(&self, payload: &str) -> Result<Option<Elqr>, NotAnAnswer> {
        let checked = match Elqr::parse(payload) {
            // Without a link it may be an EMV code, which has a different checksum in the same place.
            Ok(code) if code.link.is_empty() && !code.checksum_ok => Ok(None),
            Ok(code) => self.check_against_request(&code).map(|()| Some(code)),
            Err(problem) if payload.contains("#0002") => Err(problem),
            Err(_) => Ok(None),
        };
        checked.map_err(|problem| {
            let detail = match &problem {
                PaymentError::Invalid { violations } => sentences(violations),
                other => other.to_string(),
            };
            NotAnAnswer::because(format!("the response's QR code does not match the request: {detail}"))
        })
    }

    fn check_against_request(&self, code: &Elqr) -> Result<(), PaymentError> {
        if let Some(sum) = self.0.sum_tyiyn {
            return code.check(sum);
        }
        let mut checks = Checks::default();
        code.check_text(&mut checks);
        checks.finish()
    }

    /// The transaction at the first of the dialect's places that has one, in the response or in its code, and whether it came from the
    /// code.
    fn transaction_id(&self, response: &ResponseReader<'_>, code: Option<&Elqr>) -> Option<(String, bool)> {
        // If the payer may change the amount, a report without an amount would not show the amount paid. A static code of a fixed amount
        // accepts any number of payments, so its number does not identify one of them.
        let is_for_one = |code: &&Elqr| code.kind == ElqrKind::Dynamic && code.amount_editable != Some(true);
        let code = code.filter(|code| self.0.sum_tyiyn.is_none() || is_for_one(code));
        response.pointers(ResponseField::TransactionId).find_map(|place| match place.strip_prefix(ELQR) {
            Some(tag) => {
                let text = code?.field(tag)?;
                let is_usable = !text.trim().is_empty() && response.is_clean(text);
                // The payee's own number may be the same in many codes, and then a charge says nothing about this code's amount.
                is_usable.then(|| (text.to_owned(), !elqr::is_of_the_payee(tag)))
            }
            None => response.identifier_at(once(place)).map(|id| (id, false)),
        })
    }
}

impl Operation for QrDataRequest {
    type Answer = QrData;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Creates;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        self.0.check(checks, false);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        None
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        self.0.parts()
    }

    fn sent(&self, dialect: &Dialect) -> Sent<'_> {
        self.0.sent(dialect)
    }

    fn journal_entry(answer: &QrData) -> Option<(PaymentEntry, Option<&str>)> {
        Some((answer.entry(), None))
    }

    fn payment(answer: &mut QrData) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    /// JSON of any shape is accepted.
    fn read(&self, response: &ResponseReader<'_>) -> Result<QrData, NotAnAnswer> {
        response.document()?;
        if response.code().is_some() {
            response.accepted()?;
        }
        let payload = response.find(ResponseField::QrPayload);
        // A secret in the payload would be readable for everyone who scans the code, and a masked payload would be another code.
        if payload.as_deref().is_some_and(|payload| !response.is_clean(payload)) {
            return Err(NotAnAnswer::because("the response's QR code holds a secret"));
        }
        let code = payload.as_deref().map(|payload| self.checked_code(payload)).transpose()?.flatten();
        let payload = payload.map(Cow::into_owned);
        let (transaction_id, from_code) = self.transaction_id(response, code.as_ref()).unzip();
        let payment = PaymentRef {
            transaction_id: transaction_id.clone(),
            transaction_from_code: from_code.unwrap_or_default(),
            ..self.0.payment_ref()
        };
        Ok(QrData { payload, payment, transaction_id, raw: response.raw() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        ElqrField, ElqrKind, Gateway, GatewayConfig,
        testing::scripted::{Act, Scripted},
    };

    /// What the gateway FINIPAY answers with: the text itself.
    fn response(code: &str) -> String {
        serde_json::json!({"code": "100", "message": "SUCCESS", "data": code}).to_string()
    }

    fn gateway(places: &str, body: String) -> Gateway {
        let text = format!(r#"{{"base":"finipay","endpoints":{{"qr_data":{{"transaction_id":[{places}]}}}}}}"#);
        let settings =
            move |config: &mut GatewayConfig| config.dialect = Dialect::from_json(&text).expect("a dialect").into();
        Scripted::gateway_with(settings, move |_| Act::Response(Duration::ZERO, 200, None, body.clone())).0
    }

    fn code() -> Elqr {
        let mut code = Elqr::new(ElqrKind::Dynamic, "qr.example.kg", "SHOP", "5812");
        code.amount_tyiyn = Some(39_000);
        code.service_code = Some("02".to_owned());
        code.recipient = Some("996700000001".to_owned());
        code.transaction = Some("FNP1".to_owned());
        code.merchant_id = Some("34077".to_owned());
        code.comment = Some("Чай".to_owned());
        code
    }

    #[tokio::test(start_paused = true)]
    async fn transaction_is_read_from_the_code() {
        let field = |tag: &str, text: &str| ElqrField { tag: tag.to_owned(), text: text.to_owned() };
        let once = Elqr { fields: vec![field("36", "T7")], ..code() };
        let twice = Elqr { fields: vec![field("36", "T7"), field("36", "T8")], ..code() };
        for (places, code, expected) in [
            (r#""elqr:32.11""#, code(), Some("FNP1")),
            (r#""elqr:32.10""#, code(), Some("996700000001")),
            (r#""elqr:33.00""#, code(), Some("34077")),
            (r#""elqr:34""#, code(), Some("Чай")),
            (r#""elqr:36""#, once, Some("T7")),
            (r#""elqr:36""#, twice, None),
            (r#""elqr:32.14""#, code(), None),
            (r#""/data/id", "elqr:32.11""#, code(), Some("FNP1")),
            (r#""elqr:32.14", "elqr:32.11""#, code(), Some("FNP1")),
            (r#""/message", "elqr:32.11""#, code(), Some("SUCCESS")),
            (r#""elqr:32.11""#, Elqr { transaction: None, ..code() }, None),
            (r#""elqr:32.11""#, Elqr { link: String::new(), ..code() }, Some("FNP1")),
            (r#""elqr:32.11""#, Elqr { amount_editable: Some(false), ..code() }, Some("FNP1")),
            // The charged amount would be unknown.
            (r#""elqr:32.11""#, Elqr { amount_editable: Some(true), ..code() }, None),
            (r#""elqr:32.11""#, Elqr { kind: ElqrKind::Static, ..code() }, None),
        ] {
            let text = code.text().unwrap();
            let data = gateway(places, response(&text)).create_qr_data(QrPayment::new(39_000)).await.unwrap();
            assert_eq!(data.transaction_id.as_deref(), expected, "{places} {text}");
            assert_eq!(data.payment.transaction_id.as_deref(), expected, "{places} {text}");
            let is_from_code = expected.is_some_and(|found| !["SUCCESS", "996700000001", "34077"].contains(&found));
            assert_eq!(data.payment.transaction_from_code, is_from_code, "{places} {text}");
            assert_eq!(data.payload.as_deref(), Some(text.as_str()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn payer_who_names_the_amount_may_change_it() {
        let code = Elqr { kind: ElqrKind::Static, amount_tyiyn: None, amount_editable: Some(true), ..code() };
        let gateway = gateway(r#""elqr:32.11""#, response(&code.text().unwrap()));
        let data = gateway.create_qr_data(QrPayment::of_open_amount()).await.unwrap();
        assert_eq!(data.transaction_id.as_deref(), Some("FNP1"));
    }

    #[tokio::test(start_paused = true)]
    async fn damaged_code_yields_no_transaction() {
        let damaged = |link: &str| Elqr { link: link.to_owned(), ..code() }.text().unwrap().replace("FNP1", "FNP2");
        let create = async |body: String| gateway(r#""elqr:32.11""#, body).create_qr_data(QrPayment::new(39_000)).await;
        // With a link it is refused; alone it may be a code in another format.
        let refused = create(response(&damaged("https://pay.payqr.kg/"))).await.unwrap_err();
        assert!(refused.to_string().contains("wrong checksum"), "{refused}");
        let alone = create(response(&damaged(""))).await.unwrap();
        assert_eq!((alone.transaction_id, alone.payment.can_be_checked()), (None, false));
        let no_code = create(response("FNP1")).await.unwrap();
        assert_eq!(no_code.transaction_id, None);
        let dearer = Elqr { amount_tyiyn: Some(39_001), ..code() };
        assert_eq!(create(response(&dearer.text().unwrap())).await.unwrap_err().kind(), "Unexpected");
    }
}
