//! The payments that can be begun, one file a flow, and what they have in common.

pub(crate) mod card;
pub(crate) mod confirm;
pub(crate) mod mbank;
pub(crate) mod pay_form;
pub(crate) mod qr;

use std::time::Instant;

use kassa::{Advice, Callback, PaymentError, PaymentRef, Verdict};
use serde_json::Value;

use crate::{
    failure::Failure,
    narrator::Narrator,
    receiver::Mailbox,
    report::{Outcome, Report, in_time},
    setup::Checkout,
    store::{Entry, State},
};

/// One payment under way: stored, told about, followed.
pub(crate) struct Flow<'a> {
    pub(crate) shop: &'a Checkout,
    pub(crate) narrator: Narrator,
    pub(crate) mailbox: Mailbox,
    pub(crate) awaits_callback: bool,
    /// Callbacks that the gateway could not be asked about yet.
    pub(crate) unchecked: Vec<Callback>,
    pub(crate) report: Report,
    started: Instant,
}

/// What is known of a payment before it is sent.
pub(crate) struct Beginning {
    pub(crate) flow: &'static str,
    pub(crate) reference: String,
    pub(crate) payment: PaymentRef,
    pub(crate) awaits_callback: bool,
}

impl<'a> Flow<'a> {
    /// Begins a payment: **it is on the disk when this returns**, and nothing has been sent.
    pub(crate) fn begin(shop: &'a Checkout, beginning: Beginning) -> Result<Self, Failure> {
        shop.store.add(Entry::new(&beginning.reference, &beginning.payment, &shop.gateway_name))?;
        let flow = Self::new(shop, beginning);
        flow.narrator.step("stored", &format!("{}, before anything is sent", flow.report.payment));
        Ok(flow)
    }

    /// Goes on with a payment that an earlier call or run has stored.
    pub(crate) fn resume(shop: &'a Checkout, entry: &Entry, flow: &'static str) -> Result<Self, Failure> {
        let payment = entry.payment_ref()?;
        let reference = entry.reference.clone();
        Ok(Self::new(shop, Beginning { flow, reference, payment, awaits_callback: false }))
    }

    /// Follows a payment that the state file does not know.
    pub(crate) fn bare(shop: &'a Checkout, payment: PaymentRef, flow: &'static str) -> Self {
        let reference = kassa::new_order_number();
        Self::new(shop, Beginning { flow, reference, payment, awaits_callback: false })
    }

    fn new(shop: &'a Checkout, beginning: Beginning) -> Self {
        let Beginning { flow, reference, payment, awaits_callback } = beginning;
        let report = Report {
            flow,
            order: payment.order_number.clone().or_else(|| payment.transaction_id.clone()),
            amount: payment
                .amount
                .map(|amount| format!("{amount} {}", payment.currency.as_deref().unwrap_or_default())),
            payment,
            outcome: Outcome::Unknown,
            answer: None,
            status: None,
            error: None,
            watch_error: None,
            callbacks: Vec::new(),
            elapsed: std::time::Duration::ZERO,
            reference,
        };
        Self {
            shop,
            narrator: shop.narrator.clone(),
            mailbox: shop.receiver.expect(&report.reference),
            awaits_callback: awaits_callback && shop.callbacks_arrive,
            unchecked: Vec::new(),
            report,
            started: Instant::now(),
        }
    }

    /// Names the payment in every line, where several are followed at once.
    pub(crate) fn name_in_story(&mut self, several: bool) {
        if several {
            let order = self.report.order.clone().unwrap_or_else(|| self.report.reference.clone());
            self.narrator = self.narrator.about(&order);
        }
    }

    /// Tells what is worth a second look.
    pub(crate) fn advise(&self, advice: &[Advice]) {
        advice.iter().for_each(|advice| self.narrator.warn("advice", &advice.text));
    }

    /// Notes the gateway's answer, which may know more about the payment.
    pub(crate) fn answered(&mut self, answer: Value, payment: Option<PaymentRef>) {
        self.report.answer = Some(answer);
        if let Some(payment) = payment {
            self.learned(payment);
        }
    }

    /// Stores a reference that knows more than the one from before.
    pub(crate) fn learned(&mut self, mut payment: PaymentRef) {
        let known = self.report.payment.gateway_number.clone();
        payment.gateway_number = payment.gateway_number.or(known);
        if payment == self.report.payment {
            return;
        }
        self.report.order = payment.order_number.clone().or_else(|| payment.transaction_id.clone());
        let text = payment.to_string();
        self.report.payment = payment;
        self.update(|entry| entry.payment = text);
    }

    /// Changes what is stored. The payment itself is stored already: a failure is told, and stops nothing.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Entry)) {
        if let Err(failure) = self.shop.store.update(&self.report.reference, change) {
            self.narrator.warn("state", &failure.describe());
        }
    }

    /// The call that begins or confirms the payment gave no answer. True where the payment is to be followed all the
    /// same.
    pub(crate) fn failed(&mut self, error: PaymentError) -> bool {
        let may_exist = error.payment_may_exist();
        if let PaymentError::OutcomeUnknown { payment, detail, .. } = &error {
            self.narrator.warn("unknown", &format!("the payment may have happened: {detail}"));
            self.narrator.warn("unknown", "it is not sent again; its stored reference is watched instead");
            self.learned(*payment.clone());
        } else {
            self.narrator.warn("error", &format!("{}: {error}", error.kind()));
        }
        self.report.error = Some(error);
        may_exist
    }

    /// The end where nothing happened.
    pub(crate) fn not_made(mut self) -> Report {
        self.report.outcome = Outcome::NotMade;
        self.finish()
    }

    /// The end where a later run goes on.
    pub(crate) fn left_open(mut self, outcome: Outcome) -> Report {
        self.report.outcome = outcome;
        self.finish()
    }

    /// Takes in what a question brought.
    pub(crate) fn heard(&mut self, verdict: &Verdict) {
        self.report.outcome = match verdict {
            Verdict::Charged { .. } => Outcome::Charged,
            Verdict::Rejected { .. } => Outcome::Rejected,
            Verdict::Open { .. } => Outcome::Open,
            _ => Outcome::PersonNeeded,
        };
        if let Some(report) = verdict.report() {
            self.report.status = Some(report.clone());
        }
    }

    /// Marks the payment where it is over, and says how it ended.
    pub(crate) fn finish(mut self) -> Report {
        let over = match self.report.outcome {
            Outcome::Charged => Some(State::Charged),
            Outcome::Rejected => Some(State::Rejected),
            Outcome::NotMade => Some(State::NotMade),
            Outcome::Created | Outcome::Open | Outcome::Unknown | Outcome::PersonNeeded => None,
        };
        if let Some(state) = over {
            self.update(|entry| entry.state = state);
        }
        self.report.elapsed = self.started.elapsed();
        self.narrator.end(
            self.report.exit_code(),
            &format!("{}, in {}", self.report.what_happened(), in_time(self.report.elapsed)),
        );
        if over.is_none() {
            self.narrator.step("later", "checkout watch --resume goes on with it");
        }
        self.report
    }
}

/// Tells a person who tries the embedded sandbox what its documentation says.
fn tell_test_otp(shop: &Checkout, otp: Option<&str>) {
    if shop.is_sandbox() && !shop.payer.is_robot() && otp.is_some() {
        shop.narrator.step("payer", "the one-time passwords of test cards and phones are listed in sandbox/README.md");
    }
}
