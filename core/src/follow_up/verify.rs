//! Verification of callbacks (webhooks) against forgery and replay: asks the gateway whether a callback is true.
//!
//! Everything in a callback is untrusted input, even that it is about a QR payment and which transaction it names. So
//! what the merchant knows goes first: it decides what is asked, and it is compared both with the callback and with the
//! gateway's report.

use rust_decimal::Decimal;

use crate::{
    config::dialect::{Dialect, EndpointDialect, QrAmountUnit},
    exchange::{attempts::Limits, engine::Engine, outcome::is_no_such_endpoint},
    follow_up::callback::Callback,
    operations::{provider_status, qr_status},
    reply::reader::{has_listed_refusal, has_unreadable_amount},
    transport::after,
    values::{
        currency::same_currency,
        error::PaymentError,
        money::TYIYN_IN_A_SOM,
        payment_ref::{PaymentKind, PaymentRef, question::Question},
        provider::Provider,
        status::{PaymentStatus, StatusReport},
    },
};

/// What a merchant knows of a payment, to be compared with a callback.
///
/// **One payment pays for one order.** The number of a pay-form or QR payment is the gateway's own, so anybody who paid
/// once can name that payment in a callback for another cart of the same amount: remember which numbers were accepted,
/// and accept none twice (replay).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedPayment {
    /// What was stored before the payment was sent; [`PaymentRef::unnumbered`] where its number is not known yet.
    pub payment: PaymentRef,
    /// The amount in units of the currency (for KGS: som).
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
}

/// What the gateway says about a callback.
///
/// Only [`Confirmed`](Self::Confirmed) with a report that says charged is a reason to ship: see
/// [`is_charged`](Self::is_charged).
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallbackVerdict {
    /// The payment is final, and nothing contradicts anything. **Act on the report's status.** A callback that tells of
    /// an earlier, open status is confirmed too: it merely came late.
    Confirmed {
        /// The gateway's own report.
        report: StatusReport,
    },
    /// The gateway says that the payment is still open. Watch it.
    Pending {
        /// The gateway's own report.
        report: StatusReport,
    },
    /// The callback, the gateway's report and what the merchant expects do not agree. Do not act on it.
    Contradicted {
        /// The fields that differ, as the interface spells them.
        fields: Vec<String>,
        /// The gateway's own report, where it was asked.
        report: Option<StatusReport>,
    },
    /// Nothing can be proved: there is nothing to ask the gateway with (a QR payment without a transaction id, a
    /// provider that is not known), or nothing ties the payment to what is expected: it has no number of the merchant's
    /// own choice (no pay-form has one), and the gateway tells no amount to compare, or one of an unknown unit.
    Unverifiable,
}

impl CallbackVerdict {
    /// True where the gateway itself says that the money was taken, and nothing contradicts it.
    pub fn is_charged(&self) -> bool {
        matches!(self, Self::Confirmed { report } if report.status == PaymentStatus::Charged)
    }
}

pub(crate) async fn verify(
    engine: &Engine,
    callback: &Callback,
    expected: Option<&ExpectedPayment>,
) -> Result<CallbackVerdict, PaymentError> {
    let comparison = Comparison::new(engine.dialect(), callback, expected);
    let fields = comparison.callback_with_expected();
    if !fields.is_empty() {
        return Ok(CallbackVerdict::Contradicted { fields, report: None });
    }
    let Some(question) = comparison.question() else { return Ok(CallbackVerdict::Unverifiable) };
    let deadline = after(engine.transport().now(), engine.limits().deadline);
    let report = engine.ask(&question, engine.limits()).await?;
    let fields = comparison.with_report(&report);
    if !fields.is_empty() {
        return Ok(CallbackVerdict::Contradicted { fields, report: Some(report) });
    }
    if !comparison.is_tied(&report) {
        return Ok(CallbackVerdict::Unverifiable);
    }
    if report.status == PaymentStatus::Charged && comparison.number_is_only_claimed() {
        let number = Question::Transaction(callback.order_number.clone());
        let time_left = Limits { deadline: deadline - engine.transport().now(), ..engine.limits() };
        let answer = engine.ask(&number, time_left).await;
        if is_charged_qr_payment(answer, engine.dialect().endpoint(&qr_status::ENDPOINT))? {
            return Ok(CallbackVerdict::Contradicted { fields: vec!["orderNumber".to_owned()], report: Some(report) });
        }
    }
    Ok(if report.status.is_final() {
        CallbackVerdict::Confirmed { report }
    } else {
        CallbackVerdict::Pending { report }
    })
}

/// True where the number of a pay-form payment is really that of a charged QR payment. A gateway may know QR payments
/// by such numbers, too, and report them in tyiyn: 390 tyiyn must not pass as 390 som.
///
/// False only where the gateway rejects it or does not know it. A failed query or an unknown status word is an error,
/// because a paid QR code could be behind it.
fn is_charged_qr_payment(
    answer: Result<StatusReport, PaymentError>,
    endpoint: EndpointDialect<'_>,
) -> Result<bool, PaymentError> {
    let error = match answer {
        Ok(StatusReport { status: PaymentStatus::Charged, .. }) => return Ok(true),
        Ok(StatusReport { status: PaymentStatus::Rejected, .. }) => return Ok(false),
        Ok(StatusReport { status: PaymentStatus::Other(word), raw: body, code, .. }) => {
            let detail = format!("the reply has the status {word:?}");
            PaymentError::Unexpected { detail, http_status: 200, code, body }
        }
        Err(error) => error,
    };
    if is_not_known(&error, endpoint) { Ok(false) } else { Err(could_not_be_checked(error)) }
}

/// True where the gateway has no such transaction, or no QR payments at all.
fn is_not_known(error: &PaymentError, endpoint: EndpointDialect<'_>) -> bool {
    match error {
        // 408, request timeout: the gateway did not get the whole query, so this is not its answer.
        PaymentError::Refused { http_status: 408, .. } => false,
        PaymentError::Refused { .. } => true,
        PaymentError::Unexpected { body, .. } => has_listed_refusal(body, endpoint),
        _ => is_no_such_endpoint(error),
    }
}

fn could_not_be_checked(mut error: PaymentError) -> PaymentError {
    if let PaymentError::Unexpected { detail, .. }
    | PaymentError::Misconfigured { detail, .. }
    | PaymentError::Unauthorized { detail, .. }
    | PaymentError::Unavailable { detail, .. } = &mut error
    {
        detail.insert_str(0, "it could not be checked whether the number is that of a QR payment: ");
    }
    error
}

struct Comparison<'a> {
    dialect: &'a Dialect,
    callback: &'a Callback,
    expected: Option<&'a ExpectedPayment>,
    is_qr: bool,
    /// The transaction that the callback names, where the dialect knows where.
    claimed_transaction: Option<String>,
}

impl<'a> Comparison<'a> {
    fn new(dialect: &'a Dialect, callback: &'a Callback, expected: Option<&'a ExpectedPayment>) -> Self {
        let is_qr = expected.map_or(callback.is_qr(), |expected| expected.payment.kind == PaymentKind::Qr);
        let claimed_transaction = callback.find(dialect.callback_transaction_id());
        Self { dialect, callback, expected, is_qr, claimed_transaction }
    }

    fn callback_with_expected(&self) -> Vec<String> {
        let Some(expected) = self.expected else { return Vec::new() };
        let (payment, callback) = (&expected.payment, self.callback);
        let mut fields = Fields::default();
        fields.note("orderNumber", !self.is_qr && differ(payment.order_number.as_ref(), Some(&callback.order_number)));
        let claimed = self.claimed_transaction.as_ref();
        fields.note("transaction_id", self.is_qr && differ(payment.transaction_id.as_ref(), claimed));
        fields.note("amount", self.in_som(callback.amount).is_some_and(|amount| amount != expected.amount));
        fields.note("currency", currencies_differ(callback.currency.as_deref(), Some(&expected.currency)));
        fields.note("provider", !self.is_qr && differ(payment.provider.as_ref(), Some(&callback.provider)));
        fields.0
    }

    /// What to ask the gateway. What the merchant knows takes precedence over what the callback claims.
    fn question(&self) -> Option<Question> {
        if !self.is_qr {
            let (order_number, provider) = (self.callback.order_number.clone(), self.callback.provider.clone());
            let known = !matches!(provider, Provider::Other(_));
            return known.then_some(Question::OrderNumber(order_number, provider));
        }
        let known = self.expected.and_then(|expected| expected.payment.transaction_id.clone());
        // With no transaction id of the merchant's own and no unit to compare amounts in, an attacker could name a QR
        // code that he paid for something else.
        let is_tied = self.expected.is_none() || known.is_some() || self.dialect.qr_amount_unit().is_some();
        let id = known.or_else(|| self.claimed_transaction.clone());
        id.filter(|_| is_tied).map(Question::Transaction)
    }

    /// True where the merchant did not choose the number of the expected payment itself. The number of a pay-form comes
    /// with a callback or with the payer, and is only claimed even if the merchant has stored it since.
    fn number_is_only_claimed(&self) -> bool {
        let is_claimed = |payment: &PaymentRef| payment.kind == PaymentKind::PayForm || payment.order_number.is_none();
        !self.is_qr && self.expected.is_some_and(|expected| is_claimed(&expected.payment))
    }

    fn with_report(&self, report: &StatusReport) -> Vec<String> {
        let callback = self.callback;
        let mut fields = Fields::default();
        // A report about another order must never confirm this one. A gateway that reports its own number in this field
        // needs a dialect without the pointer.
        fields.note("orderNumber", differ(report.order_number.as_ref(), Some(&callback.order_number)));
        fields.note("amount", self.amount_differs(report));
        let expected_currency = self.expected.map(|expected| expected.currency.as_str());
        let currency_differs = [callback.currency.as_deref(), expected_currency]
            .into_iter()
            .any(|currency| currencies_differ(currency, report.currency.as_deref()));
        fields.note("currency", currency_differs);
        // Read again by the dialect, as `Callback::parse` knows none.
        let claimed = self.dialect.status(&callback.status_word());
        fields.note("status", claimed.is_final() && report.status.is_final() && claimed != report.status);
        fields.0
    }

    /// Whether the report is tied to what is expected. Where the merchant has no number of its own, the sender of the
    /// callback chose the payment. Then only an amount in the gateway's report can tie them: the callback's amount is
    /// the sender's claim, too.
    fn is_tied(&self, report: &StatusReport) -> bool {
        let Some(ExpectedPayment { payment, .. }) = self.expected else { return true };
        let has_own_number = if self.is_qr { payment.transaction_id.is_some() } else { !self.number_is_only_claimed() };
        has_own_number || report.amount.is_some()
    }

    fn amount_differs(&self, report: &StatusReport) -> bool {
        let endpoint = if self.is_qr { &qr_status::ENDPOINT } else { &provider_status::ENDPOINT };
        let Some(amount) = report.amount else {
            return has_unreadable_amount(report, self.dialect.endpoint(endpoint));
        };
        let Some(in_som) = self.in_som(amount) else { return false };
        amount != self.callback.amount || self.expected.is_some_and(|expected| in_som != expected.amount)
    }

    /// `None` where the unit of a QR amount is not known, so that som are never compared with tyiyn.
    fn in_som(&self, amount: Decimal) -> Option<Decimal> {
        if !self.is_qr {
            return Some(amount);
        }
        match self.dialect.qr_amount_unit()? {
            QrAmountUnit::Som => Some(amount),
            QrAmountUnit::Tyiyn => amount.checked_div(TYIYN_IN_A_SOM),
        }
    }
}

#[derive(Default)]
struct Fields(Vec<String>);

impl Fields {
    fn note(&mut self, field: &str, differs: bool) {
        if differs {
            self.0.push(field.to_owned());
        }
    }
}

/// An absent field contradicts nothing.
fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

fn currencies_differ(one: Option<&str>, other: Option<&str>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if !same_currency(one, other))
}

#[cfg(test)]
mod tests;
