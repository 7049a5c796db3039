//! The verdict on a payment: the gateway's own report, compared with the request. Every status check makes it here.

use rust_decimal::Decimal;

use crate::{
    config::dialect::{Dialect, QrAmountUnit},
    currency::same_currency,
    money::TYIYN_IN_A_SOM,
    payment_ref::{
        PaymentKind, PaymentRef,
        report::{PaymentStatus, StatusReport},
    },
    response::reader::ParsedStatus,
};

/// The gateway's report about a payment, compared with the request. **Only [`Charged`](Self::Charged) is a reason to
/// ship.**
///
/// It is the same type with the same rules whether a payment is queried once ([`Gateway::check`](crate::Gateway::check)), until it is final
/// ([`Gateway::watch`](crate::Gateway::watch)), or because of a callback or a return
/// ([`Gateway::verify_callback`](crate::Gateway::verify_callback), [`Gateway::verify_return`](crate::Gateway::verify_return)).
///
/// ```
/// use kassa::Verdict;
///
/// fn next(verdict: &Verdict) -> &'static str {
///     match verdict {
///         Verdict::Charged { .. } => "ship",
///         Verdict::Rejected { .. } => "tell the payer",
///         Verdict::Pending { .. } => "watch it",
///         _ => "let a person look",
///     }
/// }
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The money was taken, the report does not contradict the request, and the merchant's own data connects it with
    /// this payment: its number, or, if the number was only claimed, the amount.
    ///
    /// **One payment pays for one order**: store the number of every charged payment, your own or claimed, and accept a claimed one (a
    /// pay-form's always is) only if no other order has it (replay).
    #[non_exhaustive]
    Charged {
        /// The payment, with the number by which it was found.
        payment: Box<PaymentRef>,
        /// The gateway's own report.
        report: StatusReport,
        /// The fields of the report that are present and match the request: `orderNumber`, `amount`, `currency`. Also `code.amount`, if the
        /// report of a QR payment has no amount: its transaction was read from the code
        /// ([`transaction_from_code`](PaymentRef::transaction_from_code)), and Kassa checked that the code requests this amount before it
        /// was shown.
        compared: Vec<String>,
    },
    /// The payment ended without a charge. On a pay-form the payer may try again.
    #[non_exhaustive]
    Rejected {
        /// The payment, with the number by which it was found.
        payment: Box<PaymentRef>,
        /// The gateway's own report.
        report: StatusReport,
    },
    /// The payment is still pending at the gateway. Watch it.
    #[non_exhaustive]
    Pending {
        /// The payment to watch, with the number by which it was found.
        payment: Box<PaymentRef>,
        /// The gateway's own report.
        report: StatusReport,
    },
    /// The report, the callback or the return has a different order, amount or currency than the request. Do not act on
    /// it; let a person look.
    #[non_exhaustive]
    Mismatch {
        /// The payment, with the number by which it was found.
        payment: Box<PaymentRef>,
        /// The fields that differ, as the interface spells them.
        fields: Vec<String>,
        /// The gateway's own report, if it was queried.
        report: Option<StatusReport>,
    },
    /// The payment cannot be verified: it has no number to query by, or no data of the merchant connects the report with
    /// it.
    #[non_exhaustive]
    Unverifiable {
        /// The payment, with the number by which it was found.
        payment: Box<PaymentRef>,
        /// What is missing.
        why: String,
        /// The gateway's own report, if it was queried.
        report: Option<StatusReport>,
    },
}

impl Verdict {
    /// True if the money was taken, and the report does not contradict the request.
    pub fn is_charged(&self) -> bool {
        matches!(self, Self::Charged { .. })
    }

    /// The gateway's own report, if it was queried.
    pub fn report(&self) -> Option<&StatusReport> {
        match self {
            Self::Charged { report, .. } | Self::Rejected { report, .. } | Self::Pending { report, .. } => Some(report),
            Self::Mismatch { report, .. } | Self::Unverifiable { report, .. } => report.as_ref(),
        }
    }

    /// The payment that it is about.
    pub fn payment(&self) -> &PaymentRef {
        match self {
            Self::Charged { payment, .. }
            | Self::Rejected { payment, .. }
            | Self::Pending { payment, .. }
            | Self::Mismatch { payment, .. }
            | Self::Unverifiable { payment, .. } => payment,
        }
    }

    /// [`Charged`](Self::Charged), for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn charged(payment: PaymentRef, report: StatusReport) -> Self {
        Self::Charged { payment: payment.into(), report, compared: Vec::new() }
    }

    /// [`Rejected`](Self::Rejected), for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn rejected(payment: PaymentRef, report: StatusReport) -> Self {
        Self::Rejected { payment: payment.into(), report }
    }

    /// [`Pending`](Self::Pending), for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn pending(payment: PaymentRef, report: StatusReport) -> Self {
        Self::Pending { payment: payment.into(), report }
    }

    /// [`Unverifiable`](Self::Unverifiable), for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn unverifiable(payment: PaymentRef, why: impl Into<String>, report: Option<StatusReport>) -> Self {
        Self::Unverifiable { payment: payment.into(), why: why.into(), report }
    }

    /// [`Mismatch`](Self::Mismatch), for a [`PaymentGateway`](crate::PaymentGateway) of your own: by the fields
    /// that differ, as the interface spells them.
    pub fn mismatch(
        payment: PaymentRef,
        fields: impl IntoIterator<Item = impl Into<String>>,
        report: Option<StatusReport>,
    ) -> Self {
        Self::Mismatch { payment: payment.into(), fields: fields.into_iter().map(Into::into).collect(), report }
    }
}

/// The verdict on a report about a payment.
pub(crate) fn judge(payment: &PaymentRef, parsed: ParsedStatus, dialect: &Dialect) -> Verdict {
    let compared = Compared::with(payment, &parsed, dialect);
    let report = parsed.report;
    if !compared.differing.is_empty() {
        return Verdict::mismatch(payment.clone(), compared.differing, Some(report));
    }
    let unproved = match report.status {
        PaymentStatus::Charged => of_unknown_request(payment)
            .or_else(|| under_another_number(&compared))
            .or_else(|| unmatched(payment, &compared, dialect))
            .or_else(|| of_no_amount(payment, &report))
            .or_else(|| of_unknown_unit(payment, &report, dialect)),
        PaymentStatus::Rejected => under_another_number(&compared).or_else(|| unmatched(payment, &compared, dialect)),
        PaymentStatus::Other(_) => None,
    };
    if let Some(why) = unproved {
        return Verdict::unverifiable(payment.clone(), why, Some(report));
    }
    match report.status {
        PaymentStatus::Rejected => Verdict::rejected(payment.clone(), report),
        PaymentStatus::Other(_) => Verdict::pending(payment.clone(), report),
        PaymentStatus::Charged => {
            let of_code = lacks_amount(payment, &report).then_some("code.amount");
            let compared = compared.agreeing.into_iter().chain(of_code).map(str::to_owned).collect();
            Verdict::Charged { payment: payment.clone().into(), report, compared }
        }
    }
}

/// Only a QR code can have an open amount. With any other reference without an amount, a charge of any amount would match.
fn of_unknown_request(payment: &PaymentRef) -> Option<&'static str> {
    // A QR code may have an open amount, but always has a currency: a text without one was truncated.
    let has_amount = payment.amount.is_some() || payment.kind == PaymentKind::Qr;
    let is_known = has_amount && payment.currency.is_some();
    let why = "the amount or the currency that was requested is not known: take the reference from the request";
    (!is_known).then_some(why)
}

/// A number that is unknown to the merchant does not match a report to the payment, so amount and currency have to.
fn under_another_number(compared: &Compared) -> Option<&'static str> {
    let has_both = AMOUNT_AND_CURRENCY.iter().all(|field| compared.agreeing.contains(field));
    (compared.has_another_number && !has_both).then_some(
        "the gateway's report has a number that is not the payment's, and has no amount or no currency to compare",
    )
}

/// The fields that match a report to a payment if its number does not.
const AMOUNT_AND_CURRENCY: [&str; 2] = ["amount", "currency"];

/// Whether a verdict on a final status holds although the gateway has no answer by the merchant's number: if the dialect lets reports have
/// any number, and amount and currency agree. A verdict that is not a charge stays as it is.
pub(crate) fn holds_under_any_number(payment: &PaymentRef, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Charged { compared, .. } => {
            AMOUNT_AND_CURRENCY.iter().all(|field| compared.iter().any(|compared| compared == field))
        }
        other => other.report().is_some_and(|report| names_another_number(payment, report)),
    }
}

/// Whether a report has a number that is not one of the payment's numbers.
pub(crate) fn names_another_number(payment: &PaymentRef, report: &StatusReport) -> bool {
    let Some(number) = report.order_number.as_deref() else { return false };
    // A QR payment is identified by its transaction alone.
    let transaction = payment.transaction_id.as_deref().filter(|_| payment.kind == PaymentKind::Qr);
    let is_own = payment.is_called(number).or_else(|| transaction.map(|transaction| transaction == number));
    is_own == Some(false)
}

/// Whether a report of a QR payment has no amount although the request had one.
fn lacks_amount(payment: &PaymentRef, report: &StatusReport) -> bool {
    payment.kind == PaymentKind::Qr && payment.amount.is_some() && report.amount.is_none()
}

/// A charge without an amount can have the amount of its QR code, which was checked before the merchant got the code, and which the
/// payer cannot change. This does not hold if the transaction comes from elsewhere: it may be the transaction of another code.
fn of_no_amount(payment: &PaymentRef, report: &StatusReport) -> Option<&'static str> {
    (lacks_amount(payment, report) && !payment.has_transaction_from_code()).then_some(
        "the gateway's report has no amount, and the transaction was not read from a QR code whose amount Kassa checked",
    )
}

/// Why no data of the merchant matches a final report to the payment. If the number comes from the sender of a callback, only the amount in
/// the gateway's report can: the callback's amount comes from the sender, too.
fn unmatched(payment: &PaymentRef, compared: &Compared, dialect: &Dialect) -> Option<&'static str> {
    if !payment.has_only_a_claimed_number() {
        return None;
    }
    if !compared.agreeing.contains(&"amount") {
        return Some("the payment's number is only claimed, and the gateway's report has no amount to compare");
    }
    // With an unknown unit, a charge of 390 tyiyn for another order would pay for 390 som.
    (payment.kind == PaymentKind::Qr && dialect.qr_amount_unit().is_none()).then_some(
        "the payment's transaction is only claimed, and the unit of the gateway's amounts is not known: \
         set qr_amount_unit in the dialect",
    )
}

/// The request for a QR code gives tyiyn. While the unit of reported amounts is unknown, an amount that equals the sum in som may be
/// that many tyiyn: 1 som would pay for 100.
fn of_unknown_unit(payment: &PaymentRef, report: &StatusReport, dialect: &Dialect) -> Option<&'static str> {
    let is_in_som = payment.amount.is_some() && payment.amount == report.amount;
    (payment.kind == PaymentKind::Qr && dialect.qr_amount_unit().is_none() && is_in_som).then_some(
        "the reported amount fits in som and not in tyiyn, in which the code was requested, and the unit of the gateway's amounts \
         is not known: set qr_amount_unit in the dialect",
    )
}

/// The fields that a report has, by whether they agree with the request. An absent field is not a mismatch.
#[derive(Default)]
struct Compared {
    agreeing: Vec<&'static str>,
    differing: Vec<&'static str>,
    /// Its number is not the payment's, and the dialect allows that.
    has_another_number: bool,
}

impl Compared {
    fn with(payment: &PaymentRef, parsed: &ParsedStatus, dialect: &Dialect) -> Self {
        let report = &parsed.report;
        let has_another_number = !parsed.compares_numbers && names_another_number(payment, report);
        let mut compared = Self { has_another_number, ..Self::default() };
        let number = report.order_number.as_deref().filter(|_| !has_another_number);
        compared.add("orderNumber", number.and_then(|number| payment.is_called(number)));
        // The amount of a pending payment may not be final yet.
        if report.status.is_final() {
            compared.add("amount", amount_agrees(payment, parsed, dialect));
            let currencies = payment.currency.as_deref().zip(report.currency.as_deref());
            compared.add("currency", currencies.map(|(requested, reported)| same_currency(requested, reported)));
        }
        compared
    }

    fn add(&mut self, field: &'static str, agrees: Option<bool>) {
        match agrees {
            Some(true) => self.agreeing.push(field),
            Some(false) => self.differing.push(field),
            None => {}
        }
    }
}

fn amount_agrees(payment: &PaymentRef, parsed: &ParsedStatus, dialect: &Dialect) -> Option<bool> {
    let requested = payment.amount?;
    match parsed.report.amount {
        Some(amount) => Some(is_amount_of(payment, requested, amount, dialect)),
        // An amount that could not be read exactly must not count as absent.
        None => parsed.has_unreadable_amount.then_some(false),
    }
}

/// Whether a reported amount is the requested one, in som. The unit of QR amounts is not shown
/// (`docs/interface.md#what-is-not-shown`): unless the dialect names it, both som and tyiyn match.
pub(crate) fn is_amount_of(payment: &PaymentRef, requested: Decimal, reported: Decimal, dialect: &Dialect) -> bool {
    let in_tyiyn = requested.checked_mul(TYIYN_IN_A_SOM) == Some(reported);
    if payment.kind != PaymentKind::Qr {
        return reported == requested;
    }
    match dialect.qr_amount_unit() {
        Some(QrAmountUnit::Som) => reported == requested,
        Some(QrAmountUnit::Tyiyn) => in_tyiyn,
        None => reported == requested || in_tyiyn,
    }
}

#[cfg(test)]
mod tests;
