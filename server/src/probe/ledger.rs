//! The payments that the probe created, and what happened to the money of each.

use kassa::{PaymentRef, Verdict};

/// One payment, pay-form or code.
pub(super) struct CreatedPayment {
    /// The kind of payment, such as `mobile bank`.
    pub(super) what: String,
    pub(super) payment: PaymentRef,
    pub(super) state: MoneyState,
    /// Whether the request succeeded: the gateway reports the payment, or its response contained the requested data.
    pub(super) is_known: bool,
}

/// The state of its money.
pub(super) enum MoneyState {
    /// The gateway said no, or was never reached.
    NotMade,
    /// Sent or made, without a final report; with the reason.
    Pending(String),
    Charged,
    Rejected,
}

impl CreatedPayment {
    /// One line: what it is, its numbers, and what happened to the money.
    pub(super) fn line(&self) -> String {
        let numbers = [
            ("order number", &self.payment.order_number),
            ("gateway number", &self.payment.gateway_number),
            ("transaction", &self.payment.transaction_id),
        ];
        let named = numbers.iter().filter_map(|(name, number)| Some(format!("{name} {}", number.as_deref()?)));
        let named: Vec<_> = named.collect();
        let numbers = if named.is_empty() { "no number".to_owned() } else { named.join(", ") };
        let state = match &self.state {
            MoneyState::NotMade => "not made: no money moved".to_owned(),
            MoneyState::Charged => "charged: the test money was taken".to_owned(),
            MoneyState::Rejected => "rejected: no money was taken".to_owned(),
            MoneyState::Pending(why) => format!("PENDING: {why}"),
        };
        format!("{} ({numbers}): {state}", self.what)
    }

    /// Records the gateway's last report.
    pub(super) fn note(&mut self, verdict: &Verdict) {
        self.payment = verdict.payment().clone();
        self.state = match verdict {
            Verdict::Charged { .. } => MoneyState::Charged,
            Verdict::Rejected { .. } => MoneyState::Rejected,
            Verdict::Pending { .. } => MoneyState::Pending("the gateway has not ended it".to_owned()),
            Verdict::Mismatch { fields, .. } => {
                MoneyState::Pending(format!("the gateway's report does not match the request: {}", fields.join(", ")))
            }
            Verdict::Unverifiable { why, .. } => MoneyState::Pending(format!("nothing is proved: {why}")),
            _ => MoneyState::Pending("this version does not know the verdict".to_owned()),
        };
    }
}
