//! Evaluation of recorded responses (dialect regression test), by the same code that evaluates a live response. Nothing is sent.

use std::sync::Arc;

use rust_decimal::Decimal;

use crate::{
    card::Card,
    config::dialect::Dialect,
    error::PaymentError,
    money::som_to_tyiyn,
    operations::{
        Operation,
        card_payment::CardPayment,
        explain::DialectReading,
        mbank_confirm::MbankConfirm,
        mbank_payment::MbankPayment,
        megapay::{MegapayCheck, MegapayPay, MegapayPayment},
        pay_form::PayForm,
        qr_data::QrDataRequest,
        qr_image::QrImageRequest,
        qr_payment::QrPayment,
        recorded::RecordedRequest,
        status_queries::{PaymentStatusQuery, ProviderStatusQuery, QrStatusQuery},
    },
    payment_ref::{PaymentRef, report::Provider, report::StatusReport},
    pipeline::outcome::with_response,
    response::{
        MOST_BYTES, Response,
        reader::{ParsedStatus, ResponseReader},
        redact::{HiddenCredentials, Redactor},
    },
    secret::SecretBytes,
    status::verdict::{Verdict, judge},
};

/// A request to the gateway and its response, as a program recorded them: the input of [`judge`](Self::judge). It is for tools that test a
/// dialect on earlier responses of a gateway. **Never decide about money with it**: query the gateway.
///
/// ```
/// use kassa::{Dialect, PaymentRef, RecordedExchange, RecordedOutcome, Verdict};
///
/// let response = br#"{"code": "200", "data": {"orderNumber": "order-1", "amount": 390, "state": "CHARGE"}}"#;
/// let query = r#"{"orderNumber": "order-1", "provider": "MBank"}"#;
/// let exchange = RecordedExchange::new("/api/v1.1.0/get-status", query, 200, response)?;
/// assert_eq!((exchange.endpoint(), exchange.number()), ("provider_status", Some("order-1")));
///
/// let payment = PaymentRef::mbank("order-1", 390);
/// let dialect = Dialect::from_json(r#"{"endpoints": {"provider_status": {"status": ["/data/state"]}}}"#)?;
/// let outcome = exchange.judge(&dialect, Some(&payment));
/// assert!(matches!(outcome, RecordedOutcome::Verdict(Verdict::Charged { .. })));
/// // The default looks for the status elsewhere.
/// let outcome = exchange.judge(&Dialect::default(), Some(&payment));
/// assert!(matches!(outcome, RecordedOutcome::Failed(_)));
/// # Ok::<(), kassa::PaymentError>(())
/// ```
pub struct RecordedExchange {
    request: RecordedRequest,
    response: Response,
}

/// The result of reading a recorded response with a dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedOutcome {
    /// A status query: the report, compared with the payment. It is the verdict on only this response; a check of a payment can query twice
    /// ([`Gateway::check`](crate::Gateway::check)).
    Verdict(Verdict),
    /// A status query about a payment that is not known, so its report was compared with nothing.
    Reported(StatusReport),
    /// A request was accepted. For a payment: its reference, with the numbers that the dialect reads in the response.
    Accepted(Option<PaymentRef>),
    /// The response is not an answer.
    Failed(PaymentError),
}

impl RecordedExchange {
    /// An exchange with its request: the target as in the request line (path and query), the JSON body or an empty string, and the decoded
    /// response (without content coding).
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if no endpoint has the path, or the request has no number of its payment.
    pub fn new(target: &str, request_body: &str, http_status: u16, response: &[u8]) -> Result<Self, PaymentError> {
        let request = RecordedRequest::read(target, request_body)?;
        Ok(Self { request, response: response_of(http_status, response) })
    }

    /// An exchange of which only the payment and the endpoint are known. `endpoint` is its name in a dialect, such as `payment_status`.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if there is no such endpoint.
    pub fn about(payment: PaymentRef, endpoint: &str, http_status: u16, response: &[u8]) -> Result<Self, PaymentError> {
        let request = RecordedRequest::about(endpoint, payment)?;
        Ok(Self { request, response: response_of(http_status, response) })
    }

    /// The endpoint's name in a dialect.
    pub fn endpoint(&self) -> &'static str {
        self.request.endpoint.name
    }

    /// Whether it is a status query: only its response decides a payment.
    pub fn is_status_query(&self) -> bool {
        self.request.endpoint.is_status_query()
    }

    /// The number that identifies the payment in the request: an order number, or the transaction id of a QR payment.
    pub fn number(&self) -> Option<&str> {
        self.request.number.as_deref()
    }

    /// The payment that the request creates, as requested. A confirmation's payment has no amount. `None` for a status query.
    pub fn payment(&self) -> Option<&PaymentRef> {
        self.request.payment.as_ref().filter(|_| !self.is_status_query())
    }

    /// Evaluates the response with a dialect, as a call does. `payment` is the payment of a status query or a confirmation, if it is known;
    /// a status query's report is compared with it.
    pub fn judge(&self, dialect: &Dialect, payment: Option<&PaymentRef>) -> RecordedOutcome {
        let redactor = Redactor::new(Arc::new(HiddenCredentials::none()));
        let text = self.response.text();
        let reader = ResponseReader::new(&self.response, &text, self.request.endpoint, dialect, &redactor);
        let own = self.request.payment.as_ref();
        let judging = Judging { response: &self.response, reader: &reader, number: self.number().unwrap_or_default() };
        if self.is_status_query() {
            return judging.status(self.endpoint(), payment.or(own), dialect);
        }
        // The request itself has the requested values, except for a confirmation.
        let known = if self.endpoint() == "mbank_confirm" { payment.or(own) } else { own.or(payment) };
        match known {
            Some(payment) => judging.creation(self.endpoint(), payment),
            None => RecordedOutcome::Accepted(None),
        }
    }

    /// Shows which values a dialect reads in the response, field by field. They explain the result of [`judge`](Self::judge).
    ///
    /// # Errors
    /// None: the endpoint is known.
    pub fn explain(&self, dialect: &Dialect) -> Result<DialectReading, PaymentError> {
        dialect.explain(self.endpoint(), &self.response.text())
    }
}

fn response_of(http_status: u16, bytes: &[u8]) -> Response {
    let mut body = SecretBytes::with_capacity(bytes.len());
    body.append(bytes);
    Response { http_status, retry_after: None, body, over_limit: bytes.len() > MOST_BYTES, coding: None }
}

struct Judging<'a> {
    response: &'a Response,
    reader: &'a ResponseReader<'a>,
    number: &'a str,
}

impl Judging<'_> {
    fn answer<O: Operation>(&self, operation: &O) -> Result<O::Answer, PaymentError> {
        with_response(operation, &O::KIND.effect(operation), self.response, self.reader).map_err(|failed| failed.error)
    }

    fn status(&self, endpoint: &str, payment: Option<&PaymentRef>, dialect: &Dialect) -> RecordedOutcome {
        let parsed: Result<ParsedStatus, PaymentError> = match endpoint {
            "payment_status" => self.answer(&PaymentStatusQuery::new(self.number, None)),
            "provider_status" => self.answer(&ProviderStatusQuery::new(self.number, Provider::Cards)),
            _ => self.answer(&QrStatusQuery::new(self.number)),
        };
        match (parsed, payment) {
            (Err(error), _) => RecordedOutcome::Failed(error),
            (Ok(parsed), None) => RecordedOutcome::Reported(parsed.report),
            (Ok(parsed), Some(payment)) => RecordedOutcome::Verdict(judge(payment, parsed, dialect)),
        }
    }

    fn creation(&self, endpoint: &str, payment: &PaymentRef) -> RecordedOutcome {
        let number = payment.order_number.as_deref().unwrap_or_default();
        let amount = payment.amount.unwrap_or_default();
        let megapay = || MegapayPayment::new(number, amount, "", "");
        match endpoint {
            "card_payment" => {
                let currency = payment.currency.as_deref().unwrap_or_default();
                self.created(&CardPayment::new(number, amount, currency, Card::new("", "", 0, "", ""), ""))
            }
            "mbank_payment" => self.created(&MbankPayment::new(number, whole(amount), "", "")),
            "mbank_confirm" => self.created(&MbankConfirm::new(payment, "")),
            "megapay_check" => self.created(&MegapayCheck(megapay())),
            "megapay_pay" => self.created(&MegapayPay::new(megapay(), "")),
            "pay_form" => self.created(&PayForm::new(amount, "", "")),
            "qr_image" => self.created(&QrImageRequest(code_for(payment))),
            _ => self.created(&QrDataRequest(code_for(payment))),
        }
    }

    fn created<O: Operation>(&self, operation: &O) -> RecordedOutcome {
        match self.answer(operation) {
            Ok(mut answer) => RecordedOutcome::Accepted(O::payment(&mut answer).cloned()),
            Err(error) => RecordedOutcome::Failed(error),
        }
    }
}

/// A mobile bank's amount is in whole som.
fn whole(amount: Decimal) -> i64 {
    i64::try_from(amount).unwrap_or_default()
}

fn code_for(payment: &PaymentRef) -> QrPayment {
    let sum_tyiyn = payment.amount.and_then(|amount| som_to_tyiyn(amount).ok());
    QrPayment { sum_tyiyn, ..QrPayment::of_open_amount() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PaymentKind;

    const CHARGED: &[u8] =
        br#"{"code":"200","data":{"orderNumber":"order-1","amount":390,"currency":"KGS","status":"CHARGE"}}"#;

    fn judged(target: &str, body: &str, status: u16, response: &[u8], payment: Option<&PaymentRef>) -> RecordedOutcome {
        RecordedExchange::new(target, body, status, response).unwrap().judge(&Dialect::default(), payment)
    }

    #[test]
    fn recorded_requests_name_their_payments() {
        let read = |target: &str, body: &str| RecordedExchange::new(target, body, 200, b"").unwrap();
        let mbank = read("/pay/api/v1.1.0/mbank/pay", r#"{"orderNumber":"order-1","phone":"996***101","amount":390}"#);
        assert_eq!(mbank.payment(), Some(&PaymentRef::mbank("order-1", 390)));
        let card = r#"{"orderNumber":"order-2","amount":100.10,"currency":"KGS","pan":"***1234","cvc":"***"}"#;
        let expected = PaymentRef::card("order-2", Decimal::new(10010, 2), "KGS");
        assert_eq!(read("/api/v1.1.0/payment", card).payment(), Some(&expected));
        assert_eq!(read("/gen/qr/dynamic/data", r#"{"sum":39000}"#).payment(), Some(&PaymentRef::qr(Some(39_000))));
        assert_eq!(read("/gen/qr/dynamic/data", "{}").payment(), Some(&PaymentRef::qr(None)));
        let confirm = read("/api/v1.1.0/mbank/confirm", r#"{"orderNumber":"order-1","otp":"***"}"#);
        assert_eq!(confirm.payment().map(|payment| (payment.kind, payment.amount)), Some((PaymentKind::Mbank, None)));
        for (target, body, number) in [
            ("/api/v1.1.0/status?orderNumber=gw%201", "", "gw 1"),
            ("/api/v1.1.0/status", r#"{"orderNumber":"gw-2"}"#, "gw-2"),
            ("/gen/qr/transaction/status?transaction_id=t-1", "", "t-1"),
        ] {
            let query = read(target, body);
            assert_eq!((query.number(), query.payment(), query.is_status_query()), (Some(number), None, true));
        }
        for (target, body) in [
            ("/api/v1.1.0/mbank/pay", r#"{"orderNumber":"order-1"}"#),
            ("/api/v1.1.0/mbank/pay", r#"{"orderNumber":"order-1","amount":3.9}"#),
            ("/api/v1.1.0/mbank/pay", r#"{"orderNumber":"#),
            ("/api/v1.1.0/other", "{}"),
            ("/xapi/v1.1.0/status", "{}"),
        ] {
            assert!(RecordedExchange::new(target, body, 200, b"").is_err(), "{target} {body}");
        }
    }

    #[test]
    fn recorded_responses_are_judged_as_live_ones() {
        let (query, body) = ("/api/v1.1.0/get-status", r#"{"orderNumber":"order-1","provider":"MBank"}"#);
        let verdict = |payment: &PaymentRef| match judged(query, body, 200, CHARGED, Some(payment)) {
            RecordedOutcome::Verdict(verdict) => verdict,
            other => panic!("{other:?}"),
        };
        assert!(verdict(&PaymentRef::mbank("order-1", 390)).is_charged());
        assert!(matches!(verdict(&PaymentRef::mbank("order-1", 391)), Verdict::Mismatch { .. }));
        assert!(matches!(verdict(&PaymentRef::mbank("order-2", 390)), Verdict::Mismatch { .. }));
        assert!(matches!(judged(query, body, 200, CHARGED, None), RecordedOutcome::Reported(_)));
        let pay = r#"{"orderNumber":"order-1","amount":390}"#;
        let kind = |status, response: &[u8]| match judged("/api/v1.1.0/mbank/pay", pay, status, response, None) {
            RecordedOutcome::Failed(error) => error.kind(),
            RecordedOutcome::Accepted(Some(payment)) if payment == PaymentRef::mbank("order-1", 390) => "accepted",
            other => panic!("{other:?}"),
        };
        assert_eq!(kind(200, br#"{"code":"0","data":{"orderNumber":"order-1"}}"#), "accepted");
        assert_eq!(kind(200, br#"{"code":"0","data":{"orderNumber":"order-7"}}"#), "OutcomeUnknown");
        assert_eq!(kind(400, br#"{"code":"51"}"#), "Refused");
        assert_eq!(kind(502, b"<html>"), "OutcomeUnknown");
    }
}
