//! What Kassa's core makes of recorded exchanges by a dialect, as `kassa-server rejudge` does it.

use std::collections::HashMap;

use kassa::{Dialect, PaymentError, PaymentRef, PaymentStatus, RecordedExchange, RecordedOutcome, Verdict};
use serde_json::Value;

/// An exchange and what a dialect makes of it.
pub struct Judged {
    pub exchange: u64,
    pub endpoint: &'static str,
    pub outcome: RecordedOutcome,
}

impl Judged {
    /// Whether it says that the money was taken.
    pub fn is_charged(&self) -> bool {
        match &self.outcome {
            RecordedOutcome::Verdict(verdict) => verdict.is_charged(),
            RecordedOutcome::Reported(report) => report.status == PaymentStatus::Charged,
            _ => false,
        }
    }

    pub fn is_rejected(&self) -> bool {
        matches!(&self.outcome, RecordedOutcome::Verdict(Verdict::Rejected { .. }))
    }
}

/// Judges all exchanges in their order. The numbers of payments are those that the dialect reads.
pub fn judge(exchanges: &[Value], dialect: &Dialect) -> Vec<Judged> {
    let mut known: HashMap<String, PaymentRef> = HashMap::new();
    let mut judged = Vec::new();
    for exchange in exchanges {
        let (request, response) = (&exchange["request"], &exchange["response"]);
        let target = request["target"].as_str().expect("a target");
        let body = request["body"]["text"].as_str().unwrap_or_default();
        let status = u16::try_from(response["status"].as_u64().expect("a status")).expect("a status");
        let text = response["body"]["text"].as_str().unwrap_or_default();
        let Ok(recorded) = RecordedExchange::new(target, body, status, text.as_bytes()) else { continue };
        let payment = recorded.number().and_then(|number| known.get(number)).cloned();
        let outcome = recorded.judge(dialect, payment.as_ref());
        let learned = match &outcome {
            RecordedOutcome::Accepted(Some(payment)) => Some(payment.clone()),
            RecordedOutcome::Failed(PaymentError::OutcomeUnknown { payment, .. }) => Some((**payment).clone()),
            _ => None,
        };
        for payment in learned.into_iter().filter(|payment| payment.amount.is_some()) {
            let identifier = payment.confirm_identifier.as_deref().map(|json| json.trim_matches('"').to_owned());
            let numbers = [
                payment.order_number.clone(),
                payment.gateway_number.clone(),
                payment.transaction_id.clone(),
                identifier,
            ];
            for number in numbers.into_iter().flatten() {
                known.entry(number).or_insert_with(|| payment.clone());
            }
        }
        let number = exchange["exchange"].as_u64().expect("a number");
        judged.push(Judged { exchange: number, endpoint: recorded.endpoint(), outcome });
    }
    judged
}
