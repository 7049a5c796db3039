//! Verification of callbacks (webhooks) and returns against forgery and replay: compares them with the request, and queries the gateway.
//!
//! Everything in them is untrusted input, even that a callback is about a QR payment and which transaction it names. So
//! the merchant's data comes first: it decides which query is sent, and it is compared both with the callback and with the
//! gateway's report.

use rust_decimal::Decimal;

use crate::{
    config::dialect::Dialect,
    currency::same_currency,
    error::PaymentError,
    money::TYIYN_IN_A_SOM,
    payment_ref::{
        PaymentKind, PaymentRef,
        report::{PaymentStatus, Provider, StatusReport},
    },
    pipeline::engine::Engine,
    status::{
        callback::Callback,
        check::{check, query_verdict, record_verdict},
        redirect::ReturnRedirect,
        verdict::{Verdict, is_amount_of},
    },
};

pub(crate) async fn verify_callback(
    engine: &Engine,
    callback: &Callback,
    payment: &PaymentRef,
) -> Result<Verdict, PaymentError> {
    let claim = Claim { callback, payment, dialect: engine.dialect() };
    let fields = claim.differing_from_request();
    if !fields.is_empty() {
        return Ok(Verdict::mismatch(payment.clone(), fields, None));
    }
    let completed = claim.completed();
    if !completed.has_only_a_claimed_number() {
        // The gateway's report decides, whatever the callback contains.
        return Ok(claim.compared(check_if_possible(engine, &completed).await?));
    }
    if !completed.can_be_checked() {
        return Ok(unverifiable_without_number(completed));
    }
    let verdict = claim.compared(query_verdict(engine, &completed, engine.limits()).await?);
    record_verdict(engine, &completed, verdict).await
}

pub(crate) async fn verify_return(
    engine: &Engine,
    redirect: &ReturnRedirect,
    payment: &PaymentRef,
) -> Result<Verdict, PaymentError> {
    let number = &redirect.order_number;
    if payment.kind != PaymentKind::Qr && payment.has_only_a_claimed_number() {
        let provider = payment.provider.clone().filter(|_| payment.order_number.as_ref() == Some(number));
        let claimed = payment.clone().with_claimed_number(number, provider);
        return check_if_possible(engine, &claimed).await;
    }
    // A return may have the gateway's number or the merchant's, so it is certainly wrong only if both are known.
    if payment.gateway_number.is_some() && payment.is_called(number) == Some(false) {
        return Ok(Verdict::mismatch(payment.clone(), ["OrderNumber"], None));
    }
    check_if_possible(engine, payment).await
}

async fn check_if_possible(engine: &Engine, payment: &PaymentRef) -> Result<Verdict, PaymentError> {
    if payment.can_be_checked() {
        return check(engine, payment, engine.limits()).await;
    }
    Ok(unverifiable_without_number(payment.clone()))
}

fn unverifiable_without_number(payment: PaymentRef) -> Verdict {
    Verdict::unverifiable(payment, "the payment has no number to query by", None)
}

/// A callback, and the payment that it claims to be about.
struct Claim<'a> {
    callback: &'a Callback,
    payment: &'a PaymentRef,
    dialect: &'a Dialect,
}

impl Claim<'_> {
    fn is_qr(&self) -> bool {
        self.payment.kind == PaymentKind::Qr
    }

    fn differing_from_request(&self) -> Vec<&'static str> {
        let (payment, callback) = (self.payment, self.callback);
        let number_is_own = !self.is_qr() && !payment.has_only_a_claimed_number();
        let own_transaction = payment.transaction_id.as_ref().filter(|_| self.is_qr() && !payment.is_claimed);
        let differing = [
            ("orderNumber", number_is_own && payment.is_called(&callback.order_number) == Some(false)),
            ("transaction_id", differ(own_transaction, self.claimed_transaction().as_ref())),
            ("amount", amounts_differ(payment, callback.amount, self.dialect)),
            ("currency", currencies_differ(callback.currency.as_deref(), payment.currency.as_deref())),
            ("provider", number_is_own && providers_differ(payment.provider.as_ref(), callback.provider.as_ref())),
        ];
        differing.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }

    /// The payment with the number that the callback claims, if it has no number of its own.
    fn completed(&self) -> PaymentRef {
        let payment = self.payment.clone();
        if !self.is_qr() {
            if !payment.has_only_a_claimed_number() {
                return payment;
            }
            return payment.with_claimed_number(&self.callback.order_number, self.callback.provider.clone());
        }
        match self.claimed_transaction() {
            Some(id) if payment.is_claimed || payment.transaction_id.is_none() => {
                PaymentRef { is_claimed: true, ..payment.with_transaction_id(id) }
            }
            _ => payment,
        }
    }

    /// The transaction in the callback, if the dialect has a pointer to it.
    fn claimed_transaction(&self) -> Option<String> {
        self.callback.find(self.dialect.callback_transaction_id())
    }

    /// The verdict, or a mismatch if the callback differs from the gateway's report.
    fn compared(&self, verdict: Verdict) -> Verdict {
        let report = match &verdict {
            Verdict::Mismatch { .. } => return verdict,
            other => other.report(),
        };
        let Some(report) = report else { return verdict };
        let fields = self.differing_from(report);
        if fields.is_empty() {
            return verdict;
        }
        Verdict::mismatch(verdict.payment().clone(), fields, Some(report.clone()))
    }

    /// The fields in which the callback differs from the gateway's report.
    fn differing_from(&self, report: &StatusReport) -> Vec<&'static str> {
        let callback = self.callback;
        let claimed = callback.status_by(self.dialect);
        // A callback without a status matches any reported status.
        let is_final = report.status.is_final() && claimed.as_ref().is_none_or(PaymentStatus::is_final);
        // The report was already compared with the request, if its amount is known.
        let unknown = self.payment.amount.is_none();
        let differing = [
            ("orderNumber", self.is_another_number(report)),
            ("amount", unknown && is_final && report.amount.is_some_and(|amount| !self.is_amount(amount))),
            ("currency", is_final && currencies_differ(callback.currency.as_deref(), report.currency.as_deref())),
            ("status", is_final && claimed.is_some_and(|claimed| self.is_another_status(&claimed, &report.status))),
        ];
        differing.into_iter().filter(|(_, differs)| *differs).map(|(field, _)| field).collect()
    }

    /// On a pay-form a payer whose first attempt was declined may pay with the next one. A late or repeated callback about the first
    /// attempt is not a mismatch.
    fn may_be_an_earlier_try(&self, claimed: &PaymentStatus) -> bool {
        self.payment.kind == PaymentKind::PayForm && *claimed == PaymentStatus::Rejected
    }

    fn is_another_status(&self, claimed: &PaymentStatus, reported: &PaymentStatus) -> bool {
        claimed != reported && !self.may_be_an_earlier_try(claimed)
    }

    /// Whether a report has neither the callback's number nor one of the payment's own.
    fn is_another_number(&self, report: &StatusReport) -> bool {
        let Some(number) = &report.order_number else { return false };
        // The verdict on the report already covers its number.
        if self.dialect.may_report_any_number(self.payment.kind) {
            return false;
        }
        let own = [&self.payment.order_number, &self.payment.gateway_number, &self.payment.transaction_id];
        *number != self.callback.order_number && !own.into_iter().flatten().any(|own| own == number)
    }

    /// Whether two amounts of one payment agree. For a QR payment, each may be in som or in tyiyn if the dialect does not name the unit. An
    /// absent amount is not a mismatch.
    fn is_amount(&self, reported: Decimal) -> bool {
        let Some(claimed) = self.callback.amount else { return true };
        let is_hundredfold = |one: Decimal, other| one.checked_mul(TYIYN_IN_A_SOM) == Some(other);
        let any_unit = self.is_qr() && self.dialect.qr_amount_unit().is_none();
        claimed == reported || any_unit && (is_hundredfold(claimed, reported) || is_hundredfold(reported, claimed))
    }
}

/// An absent field is not a mismatch.
fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

fn currencies_differ(one: Option<&str>, other: Option<&str>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if !same_currency(one, other))
}

/// A provider with an unknown name may be any of them.
fn providers_differ(own: Option<&Provider>, claimed: Option<&Provider>) -> bool {
    let is_known = |provider: &&Provider| !matches!(provider, Provider::Other(_));
    differ(own.filter(is_known), claimed.filter(is_known))
}

fn amounts_differ(payment: &PaymentRef, claimed: Option<Decimal>, dialect: &Dialect) -> bool {
    let both = payment.amount.zip(claimed);
    both.is_some_and(|(requested, claimed)| !is_amount_of(payment, requested, claimed, dialect))
}
