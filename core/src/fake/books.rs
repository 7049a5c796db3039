//! The fake gateway's books: its payments, what is planned for them, and the faults that wait.

use std::{collections::VecDeque, time::Duration};

use rust_decimal::Decimal;

use super::{
    payment::{FakeFault, FakeNotification, FakePayment, FakePlan},
    responses::Object,
};
use crate::{
    currency::KGS,
    error::PaymentError,
    payment_ref::{
        PaymentKind,
        report::{PaymentStatus, Provider},
    },
    violation::Rule,
};

#[derive(Default)]
pub(super) struct Books {
    pub(super) entries: Vec<Entry>,
    pub(super) plan: FakePlan,
    pub(super) faults: VecDeque<FakeFault>,
}

/// A payment with what the gateway knows of it beside.
pub(super) struct Entry {
    pub(super) payment: FakePayment,
    pub(super) provider: Option<Provider>,
    pub(super) requisite: Option<String>,
    pub(super) return_url: Option<String>,
    /// The end that is planned, and when.
    due: Option<(Duration, PaymentStatus)>,
}

impl Books {
    pub(super) fn next_fault(&mut self) -> Option<FakeFault> {
        self.faults.pop_front()
    }

    /// The number of the payment that is made next.
    pub(super) fn next_number(&self) -> usize {
        self.entries.len() + 1
    }

    pub(super) fn add(&mut self, entry: Entry, now: Duration) {
        let due = match self.plan {
            FakePlan::StayPending => None,
            FakePlan::Charge { after } => Some((now.saturating_add(after), PaymentStatus::Charged)),
            FakePlan::Reject { after } => Some((now.saturating_add(after), PaymentStatus::Rejected)),
        };
        // Nobody has the password yet: a mobile-bank payment ends by its confirmation.
        let due = due.filter(|_| entry.payment.kind != PaymentKind::Mbank);
        self.entries.push(Entry { due, ..entry });
    }

    /// What was planned up to now happens.
    pub(super) fn catch_up(&mut self, now: Duration) {
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if let Some((_, end)) = entry.due.take_if(|(when, _)| *when <= now) {
                entry.complete(index + 1, end);
            }
        }
    }

    /// The payment that any of its numbers, its page or its code names.
    pub(super) fn find(&mut self, key: &str) -> Result<(usize, &mut Entry), PaymentError> {
        let found = self.entries.iter_mut().enumerate().find(|(_, entry)| entry.payment.is_named(key));
        found
            .map(|(index, entry)| (index + 1, entry))
            .ok_or_else(|| PaymentError::invalid("payment", Rule::OneOf, None, "names no payment of the fake gateway"))
    }

    /// A payer pays or declines.
    pub(super) fn decide(
        &mut self,
        key: &str,
        end: PaymentStatus,
        now: Duration,
    ) -> Result<FakeNotification, PaymentError> {
        let (number, entry) = self.find(key)?;
        if entry.payment.status.is_final() {
            return Err(PaymentError::invalid(
                "payment",
                Rule::OneOf,
                None,
                "must be pending: this payment is already final",
            ));
        }
        entry.complete(number, end);
        Ok(entry.notice(now))
    }
}

impl FakePayment {
    fn is_named(&self, key: &str) -> bool {
        let names = [&self.order_number, &self.gateway_number, &self.transaction_id, &self.page_url, &self.qr_text];
        names.into_iter().flatten().any(|name| name == key)
    }
}

impl Entry {
    pub(super) fn open(kind: PaymentKind, amount: Option<Decimal>) -> Self {
        let payment = FakePayment {
            kind,
            order_number: None,
            gateway_number: None,
            transaction_id: None,
            amount,
            currency: KGS.to_owned(),
            status: PaymentStatus::Other("PROCESSING".to_owned()),
            page_url: None,
            qr_text: None,
            callback_url: None,
        };
        Self { payment, provider: None, requisite: None, return_url: None, due: None }
    }

    /// On a pay-form the payer has now chosen how to pay, and the payment gets its number.
    pub(super) fn complete(&mut self, number: usize, end: PaymentStatus) {
        if self.payment.kind == PaymentKind::PayForm {
            self.payment.order_number = Some(format!("form-order-{number}"));
            self.provider = Some(Provider::Cards);
        }
        self.payment.status = end;
        self.due = None;
    }

    fn notice(&self, now: Duration) -> FakeNotification {
        let payment = &self.payment;
        let number = payment.order_number.as_ref().or(payment.transaction_id.as_ref());
        let body = Object::default()
            .text("orderNumber", number.map_or("", String::as_str))
            .json("amount", &self.amount_text())
            .text("currency", &payment.currency)
            .text("status", status_word(&payment.status))
            .text("dateCreated", &moment(now))
            .optional("requisite", self.requisite.as_deref())
            .text("provider", self.provider.as_ref().map_or("MBank", Provider::name))
            .optional("transaction_id", payment.transaction_id.as_deref());
        FakeNotification { callback: body.finish(), return_url: self.way_back(number) }
    }

    /// Only who paid is sent back (`docs/interface.md#return-redirect`).
    fn way_back(&self, number: Option<&String>) -> Option<String> {
        let url = self.return_url.as_ref().filter(|_| self.payment.status == PaymentStatus::Charged)?;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("OrderNumber", number?)
            .append_pair("statusCode", "200")
            .finish();
        Some(format!("{url}{}{query}", if url.contains('?') { '&' } else { '?' }))
    }

    /// A number of JSON, digit for digit.
    pub(super) fn amount_text(&self) -> String {
        self.payment.amount.unwrap_or_default().to_string()
    }
}

pub(super) fn status_word(status: &PaymentStatus) -> &str {
    match status {
        PaymentStatus::Charged => "CHARGE",
        PaymentStatus::Rejected => "Reject",
        PaymentStatus::Other(word) => word,
    }
}

/// The fake gateway's calendar begins with the year 2026.
fn moment(passed: Duration) -> String {
    let start = time::macros::datetime!(2026-01-01 00:00:00);
    let now = start.saturating_add(passed.try_into().unwrap_or(time::Duration::MAX));
    let (date, time) = (now.date(), now.time());
    let (month, (hour, minute, second)) = (u8::from(date.month()), time.as_hms());
    format!("{}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}", date.year(), date.day())
}
