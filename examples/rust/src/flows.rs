//! The payments that can be begun, one file a flow, and what they have in common.

pub(crate) mod card;
pub(crate) mod confirm;
pub(crate) mod mbank;
pub(crate) mod pay_form;
pub(crate) mod qr;

use std::time::Instant;

use kassa::{Advice, Callback, Gateway, JournalEntry, PaymentError, PaymentKind, PaymentRef, Verdict};
use serde_json::Value;

use crate::{
    deliver::deliver,
    failure::Failure,
    narrator::Narrator,
    receiver::Mailbox,
    report::{Outcome, Report, in_time},
    setup::Checkout,
};

/// One payment under way: written down, told about, followed.
pub(crate) struct Flow<'a> {
    pub(crate) shop: &'a Checkout,
    /// It writes this payment's reference into the journal's entry.
    pub(crate) gateway: Gateway,
    pub(crate) narrator: Narrator,
    pub(crate) mailbox: Mailbox,
    pub(crate) awaits_callback: bool,
    /// Callbacks that could not be verified with the gateway yet.
    pub(crate) unchecked: Vec<Callback>,
    pub(crate) report: Report,
    started: Instant,
}

/// What is known of a payment before it is sent.
pub(crate) struct Beginning {
    pub(crate) flow: &'static str,
    /// This program's own, for what is bought. It is in the query of the two addresses, and the note of the journal's entry.
    pub(crate) reference: String,
    pub(crate) payment: PaymentRef,
    pub(crate) awaits_callback: bool,
}

impl<'a> Flow<'a> {
    /// Begins a payment. Nothing has been sent; the gateway writes it down before it does.
    pub(crate) fn begin(shop: &'a Checkout, beginning: Beginning) -> Result<Self, Failure> {
        let flow = Self::new(shop, beginning)?;
        // A page and a code move no money before somebody sees them.
        let before = match flow.report.payment.kind {
            PaymentKind::Card | PaymentKind::Mbank => "sent",
            _ => "shown",
        };
        let Report { payment, reference, .. } = &flow.report;
        flow.narrator.step("journal", &format!("{payment}, for {reference}: recorded before it is {before}"));
        Ok(flow)
    }

    /// Goes on with a payment that an earlier call or run has written down.
    pub(crate) fn resume(shop: &'a Checkout, entry: &JournalEntry, flow: &'static str) -> Result<Self, Failure> {
        let reference = entry.note.clone().unwrap_or_else(kassa::new_order_number);
        Self::new(shop, Beginning { flow, reference, payment: entry.payment.clone(), awaits_callback: false })
    }

    /// Goes on with a payment that the journal does not know.
    pub(crate) fn bare(shop: &'a Checkout, payment: PaymentRef, flow: &'static str) -> Result<Self, Failure> {
        let reference = kassa::new_order_number();
        Self::new(shop, Beginning { flow, reference, payment, awaits_callback: false })
    }

    fn new(shop: &'a Checkout, beginning: Beginning) -> Result<Self, Failure> {
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
        Ok(Self {
            shop,
            gateway: shop.gateway.with_note(&report.reference)?,
            narrator: shop.narrator.clone(),
            mailbox: shop.receiver.expect(&report.reference),
            awaits_callback: awaits_callback && shop.callbacks_arrive,
            unchecked: Vec::new(),
            report,
            started: Instant::now(),
        })
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

    /// Goes on with a reference that knows more than the one from before.
    pub(crate) fn learned(&mut self, mut payment: PaymentRef) {
        let known = self.report.payment.gateway_number.clone();
        payment.gateway_number = payment.gateway_number.or(known);
        self.report.order = payment.order_number.clone().or_else(|| payment.transaction_id.clone());
        self.report.payment = payment;
    }

    /// The call that begins or confirms the payment gave no answer. True where the payment is to be followed all the
    /// same.
    pub(crate) fn failed(&mut self, error: PaymentError) -> bool {
        let may_exist = error.payment_may_exist();
        if let PaymentError::OutcomeUnknown { payment, detail, .. } = &error {
            self.narrator.warn("unknown", &format!("the payment may have happened: {detail}"));
            self.narrator.warn("unknown", "it is not sent again; we ask about it instead");
            self.learned(*payment.clone());
        } else {
            self.narrator.warn("error", &format!("{}: {error}", error.kind()));
        }
        self.report.error = Some(error);
        may_exist
    }

    /// The end where nothing happened.
    pub(crate) async fn not_made(mut self) -> Report {
        self.report.outcome = Outcome::NotMade;
        self.finish().await
    }

    /// The end where a later run goes on.
    pub(crate) async fn left_open(mut self, outcome: Outcome) -> Report {
        self.report.outcome = outcome;
        self.finish().await
    }

    /// Takes in what a question brought.
    pub(crate) fn heard(&mut self, verdict: &Verdict) {
        self.report.outcome = match verdict {
            Verdict::Charged { .. } => Outcome::Charged,
            Verdict::Rejected { .. } => Outcome::Rejected,
            Verdict::Pending { .. } => Outcome::Pending,
            _ => Outcome::PersonNeeded,
        };
        if let Some(report) = verdict.report() {
            self.report.status = Some(report.clone());
        }
    }

    /// Delivers what is charged, and says how the payment ended, or who goes on with it.
    pub(crate) async fn finish(mut self) -> Report {
        self.report.elapsed = self.started.elapsed();
        if self.report.outcome == Outcome::Charged {
            deliver(self.shop, &self.narrator, &self.report.payment).await;
        }
        self.narrator.end(
            self.report.exit_code(),
            &format!("{}, in {}", self.report.what_happened(), in_time(self.report.elapsed)),
        );
        self.tell_who_goes_on();
        self.report
    }

    fn tell_who_goes_on(&self) {
        let is_rejected = self.report.outcome == Outcome::Rejected;
        if matches!(self.report.outcome, Outcome::Charged | Outcome::NotMade) {
            return;
        }
        let text = match self.shop.payments.unfinished_entry(&self.report.payment) {
            Ok(Some(_)) if self.shop.payments.end_with_this_run() => {
                "it ends with this sandbox; one with --sandbox-db FILE would keep it".to_owned()
            }
            Ok(Some(_)) if is_rejected => {
                "the payer may try again on the page, so it stays listed: checkout watch --resume".to_owned()
            }
            Ok(Some(_)) => "checkout watch --resume goes on with it".to_owned(),
            Ok(None) if is_rejected => return,
            Ok(None) => format!("checkout watch --payment '{}' goes on with it", self.report.payment),
            Err(error) => return self.narrator.warn("journal", &error.describe()),
        };
        self.narrator.step("later", &text);
    }
}

/// Tells a person who tries the embedded sandbox what its documentation says.
fn tell_test_otp(shop: &Checkout, otp: Option<&str>) {
    if shop.is_sandbox() && !shop.payer.is_robot() && otp.is_some() {
        shop.narrator.step("payer", "the one-time passwords of test cards and phones are listed in sandbox/README.md");
    }
}
