//! Exchanges with the gateway (audit trail): the requests about a payment and their responses, for a person who looks the payment
//! up. They decide nothing: only the core's verdict gives a response its meaning.

use kassa::{
    CardPaymentCreated, MbankConfirmed, MbankPaymentCreated, MegapayAccepted, MegapayChecked, PayFormCreated,
    PaymentError, PaymentRef, QrData, StatusReport, Verdict,
};
use strum::{Display, EnumString, IntoStaticStr};

use super::response::{Secrets, shortened, words};

/// The kind of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ExchangeKind {
    /// A request that creates the payment.
    Create,
    /// A request with the payer's one-time password.
    Confirm,
    /// A status query.
    Status,
    /// A callback from the gateway.
    Callback,
}

/// One request to the gateway or callback from it, with the response: without secrets, and truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// The kind of request.
    pub kind: ExchangeKind,
    /// The number of the query, if a callback claimed it.
    pub claim: Option<String>,
    /// The verdict, or the kind of error.
    pub outcome: String,
    /// The HTTP status of a failure.
    pub http_status: Option<u16>,
    /// The gateway's code.
    pub code: Option<String>,
    /// The gateway's message, or the error.
    pub words: Option<String>,
    /// The beginning of its response.
    pub response: Option<String>,
}

/// An answer to a request that changes something.
pub(crate) trait GatewayAnswer {
    /// Its code, its message, and the whole response.
    fn parts(&self) -> (Option<&str>, Option<&str>, &str);
}

impl GatewayAnswer for PayFormCreated {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (None, None, &self.raw)
    }
}

impl GatewayAnswer for QrData {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (None, None, &self.raw)
    }
}

impl GatewayAnswer for CardPaymentCreated {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (self.code.as_deref(), None, &self.raw)
    }
}

impl GatewayAnswer for MbankPaymentCreated {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (self.code.as_deref(), self.status.as_deref().or(self.reason.as_deref()), &self.raw)
    }
}

impl GatewayAnswer for MbankConfirmed {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (self.code.as_deref(), self.status.as_deref().or(self.reason.as_deref()), &self.raw)
    }
}

impl GatewayAnswer for MegapayChecked {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (self.code.as_deref(), self.reason.as_deref(), &self.raw)
    }
}

impl GatewayAnswer for MegapayAccepted {
    fn parts(&self) -> (Option<&str>, Option<&str>, &str) {
        (self.code.as_deref(), self.status.as_deref().or(self.reason.as_deref()), &self.raw)
    }
}

impl Exchange {
    /// An exchange without further details.
    pub fn new(kind: ExchangeKind, outcome: impl Into<String>) -> Self {
        let (claim, http_status, code, words, response) = (None, None, None, None, None);
        Self { kind, claim, outcome: outcome.into(), http_status, code, words, response }
    }

    /// A callback.
    pub(crate) fn called_back(claim: Option<&str>, outcome: &str, said: &str, body: &str, secrets: &Secrets) -> Self {
        let exchange = Self::new(ExchangeKind::Callback, outcome).saying((None, Some(said), body), secrets);
        Self { claim: claim.map(|claim| words(claim, secrets)), ..exchange }
    }

    /// A request with its response or failure. The request's secrets are masked wherever the gateway repeats them.
    pub(crate) fn of(kind: ExchangeKind, result: &Result<impl GatewayAnswer, PaymentError>, secrets: &Secrets) -> Self {
        match result {
            Ok(answer) => Self::new(kind, "accepted").saying(answer.parts(), secrets),
            Err(error) => Self::failed(kind, error, secrets),
        }
    }

    /// The result of a status query, perhaps by a claimed number.
    pub(crate) fn about(claim: Option<&str>, result: &Result<Verdict, PaymentError>) -> Self {
        let exchange = match result {
            Ok(verdict) => Self::judged(verdict),
            Err(error) => Self::failed(ExchangeKind::Status, error, &Secrets::default()),
        };
        Self { claim: claim.map(str::to_owned), ..exchange }
    }

    fn judged(verdict: &Verdict) -> Self {
        let outcome = match verdict {
            Verdict::Charged { .. } => "charged".to_owned(),
            Verdict::Rejected { .. } => "rejected".to_owned(),
            Verdict::Pending { .. } => PENDING.to_owned(),
            Verdict::Mismatch { fields, report, .. } => format!("mismatch: {}{}", fields.join(", "), values_of(report)),
            Verdict::Unverifiable { why, report, .. } => format!("unverifiable: {why}{}", values_of(report)),
            _ => "not understood".to_owned(),
        };
        let exchange = Self::new(ExchangeKind::Status, outcome);
        let Some(report) = verdict.report() else { return exchange };
        let said = reported_under(verdict.payment(), report);
        exchange.saying((report.code.as_deref(), said.as_deref(), &report.raw), &Secrets::default())
    }

    fn failed(kind: ExchangeKind, error: &PaymentError, secrets: &Secrets) -> Self {
        let said = match error {
            PaymentError::Refused { reason, .. } => reason.as_deref(),
            PaymentError::OutcomeUnknown { reason, detail, .. } => Some(reason.as_deref().unwrap_or(detail)),
            PaymentError::Unavailable { detail, .. }
            | PaymentError::Misconfigured { detail, .. }
            | PaymentError::Unauthorized { detail, .. }
            | PaymentError::Unexpected { detail, .. } => Some(detail.as_str()),
            _ => None,
        };
        let said = (error.code(), said, error.body().unwrap_or_default());
        Self { http_status: error.http_status(), ..Self::new(kind, error.kind()).saying(said, secrets) }
    }

    fn saying(self, (code, said, raw): (Option<&str>, Option<&str>, &str), secrets: &Secrets) -> Self {
        let response = Some(shortened(raw, secrets)).filter(|response| !response.is_empty());
        let clean = |text: Option<&str>| text.map(|text| words(text, secrets));
        Self { code: clean(code), words: clean(said), response, ..self }
    }
}

/// The outcome of a status query about a payment that has not ended.
pub(crate) const PENDING: &str = "pending";

/// The separator between the outcome of an untrusted report and its values.
const REPORTED: &str = " (reported: ";
/// Longer values are cut.
const LONGEST_VALUE: usize = 60;

/// The values by which a report is compared with what was requested, so that a person sees both.
fn values_of(report: &Option<StatusReport>) -> String {
    let Some(report) = report else { return String::new() };
    let amount = report.amount.map(|amount| amount.to_string());
    let values = [
        ("amount", amount.as_deref()),
        ("currency", report.currency.as_deref()),
        ("orderNumber", report.order_number.as_deref()),
    ];
    let value = |(name, value): (&str, Option<&str>)| {
        let value: String = words(value?, &Secrets::default()).chars().take(LONGEST_VALUE).collect();
        Some(format!("{name} {}", value.replace("; ", " ")))
    };
    let values: Vec<String> = values.into_iter().filter_map(value).collect();
    if values.is_empty() { String::new() } else { format!("{REPORTED}{})", values.join("; ")) }
}

impl Exchange {
    /// The outcome without the values that the gateway reported.
    pub(crate) fn verdict(&self) -> &str {
        self.outcome.split_once(REPORTED).map_or(&self.outcome, |(verdict, _)| verdict)
    }

    /// A value of an untrusted report: `amount`, `currency` or `orderNumber`.
    pub(crate) fn reported(&self, name: &str) -> Option<&str> {
        let (_, values) = self.outcome.split_once(REPORTED)?;
        let mut values = values.strip_suffix(')').unwrap_or(values).split("; ");
        values.find_map(|value| value.strip_prefix(name)?.strip_prefix(' '))
    }
}

/// The gateway's message, after the reported number if it is not the payment's: a person finds the payment at the gateway by it.
fn reported_under(payment: &PaymentRef, report: &StatusReport) -> Option<String> {
    let own = [&payment.order_number, &payment.gateway_number, &payment.transaction_id];
    let is_another = |number: &&str| own.iter().all(|own| own.as_deref() != Some(*number));
    let number = report.order_number.as_deref().filter(is_another);
    match (number, report.reason.as_deref()) {
        (None, words) => words.map(str::to_owned),
        (Some(number), None) => Some(format!("reported under the number {number}")),
        (Some(number), Some(words)) => Some(format!("reported under the number {number}: {words}")),
    }
}

#[cfg(test)]
mod tests {
    use kassa::PaymentStatus;

    use super::*;

    #[test]
    fn mismatch_keeps_the_reported_values() {
        let mut report = StatusReport::new(PaymentStatus::Charged);
        (report.amount, report.order_number) = (Some(391.into()), Some("order-1".to_owned()));
        let outcome = format!("mismatch: amount{}", values_of(&Some(report)));
        let exchange = Exchange::new(ExchangeKind::Status, outcome);
        assert_eq!(exchange.outcome, "mismatch: amount (reported: amount 391; orderNumber order-1)");
        assert_eq!(exchange.verdict(), "mismatch: amount");
        let reported = ["amount", "currency", "orderNumber"].map(|name| exchange.reported(name));
        assert_eq!(reported, [Some("391"), None, Some("order-1")]);
        let older = Exchange::new(ExchangeKind::Status, "mismatch: amount");
        assert_eq!((older.verdict(), older.reported("amount")), ("mismatch: amount", None));
    }

    #[test]
    fn differing_gateway_number_is_kept_in_exchange() {
        let payment = PaymentRef::card("order-1", 390.into(), "KGS").with_gateway_number("gw-1");
        for (number, words, expected) in [
            (Some("Fp17"), Some("PAYMENT_SUCCESS"), Some("reported under the number Fp17: PAYMENT_SUCCESS")),
            (Some("Fp17"), None, Some("reported under the number Fp17")),
            (Some("gw-1"), Some("PAYMENT_SUCCESS"), Some("PAYMENT_SUCCESS")),
            (Some("order-1"), None, None),
            (None, None, None),
        ] {
            let mut report = StatusReport::new(PaymentStatus::Charged);
            (report.order_number, report.reason) = (number.map(str::to_owned), words.map(str::to_owned));
            let exchange = Exchange::about(None, &Ok(Verdict::charged(payment.clone(), report)));
            assert_eq!((exchange.outcome.as_str(), exchange.words.as_deref()), ("charged", expected), "{number:?}");
        }
    }
}
