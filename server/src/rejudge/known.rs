//! The payments that a recording shows being created, by each of their numbers: a status query's report is compared with them.

use std::collections::HashMap;

use kassa::{Dialect, PaymentRef, RecordedExchange, RecordedOutcome};

use super::judging::{Exchange, Subject};

/// Payments as one dialect knows them: the gateway's numbers are read by it.
#[derive(Default)]
pub(super) struct KnownPayments(HashMap<String, KnownPayment>);

enum KnownPayment {
    One(PaymentRef),
    /// Two payments of one number that were requested differently. Neither is used for the other.
    Several,
}

impl KnownPayments {
    pub(super) fn get(&self, number: Option<&str>) -> Option<&PaymentRef> {
        match self.0.get(number?)? {
            KnownPayment::One(payment) => Some(payment),
            KnownPayment::Several => None,
        }
    }

    pub(super) fn add(&mut self, payment: &PaymentRef) {
        let identifier = payment.confirm_identifier.as_deref().map(|json| json.trim_matches('"'));
        let numbers = [&payment.order_number, &payment.gateway_number, &payment.transaction_id];
        for number in numbers.into_iter().filter_map(|number| number.as_deref()).chain(identifier) {
            self.add_by(number, payment);
        }
    }

    fn add_by(&mut self, number: &str, payment: &PaymentRef) {
        let Some(found) = self.0.get_mut(number) else {
            self.0.insert(number.to_owned(), KnownPayment::One(payment.clone()));
            return;
        };
        let KnownPayment::One(known) = found else { return };
        let requested = |payment: &PaymentRef| (payment.kind, payment.amount, payment.currency.clone());
        if requested(known) != requested(payment) {
            *found = KnownPayment::Several;
            return;
        }
        // The same request again, or its confirmation: the first values stay.
        known.gateway_number = known.gateway_number.take().or_else(|| payment.gateway_number.clone());
        known.confirm_identifier = known.confirm_identifier.take().or_else(|| payment.confirm_identifier.clone());
    }
}

/// A payment that an exchange shows being created, by each dialect. Confirmations follow when all created payments are known.
pub(super) fn created(exchange: &Exchange, dialects: &[Dialect]) -> Option<Vec<PaymentRef>> {
    let Subject::Response(response) = &exchange.subject else { return None };
    let asked_for = response.payment()?;
    Some(dialects.iter().map(|dialect| learned(response, dialect, asked_for)).collect())
}

/// The payment with the numbers that a dialect reads in the response.
pub(super) fn learned(response: &RecordedExchange, dialect: &Dialect, payment: &PaymentRef) -> PaymentRef {
    match response.judge(dialect, Some(payment)) {
        RecordedOutcome::Accepted(Some(learned)) => learned,
        RecordedOutcome::Failed(kassa::PaymentError::OutcomeUnknown { payment, .. }) => *payment,
        _ => payment.clone(),
    }
}

/// Whether an exchange is the confirmation of a payment.
pub(super) fn is_confirmation(response: &RecordedExchange) -> bool {
    response.endpoint() == "mbank_confirm"
}
