//! The fake gateway's ledger: its payments, their planned outcomes, the queued faults, and the part that a test sees.

use std::{collections::VecDeque, time::Duration};

use rust_decimal::Decimal;

use crate::{
    currency::KGS,
    error::PaymentError,
    fake::responses::Object,
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

/// A payment, and the gateway's data that a test does not see.
pub(super) struct Entry {
    pub(super) payment: FakePayment,
    pub(super) provider: Option<Provider>,
    pub(super) requisite: Option<String>,
    pub(super) return_url: Option<String>,
    /// The planned final status, and its time.
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
        // A payment with a one-time password or PIN ends by its confirmation, not at a planned time.
        let due = due.filter(|_| !matches!(entry.payment.kind, PaymentKind::Mbank | PaymentKind::Megapay));
        self.entries.push(Entry { due, ..entry });
    }

    /// Applies the outcomes that are due by now.
    pub(super) fn catch_up(&mut self, now: Duration) {
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if let Some((_, end)) = entry.due.take_if(|(when, _)| *when <= now) {
                entry.complete(index + 1, end);
            }
        }
    }

    /// Finds a payment by any of its numbers, its page or its code.
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

    /// On a pay-form the payer has now chosen a method, and the payment gets its number.
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

    /// Only a payer who paid is redirected (`docs/interface.md#return-redirect`).
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

// The part of the fake gateway's ledger that a test sees, and the faults and plans that it can request.

/// A payment in the ledger of a [`FakeGateway`](crate::FakeGateway).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FakePayment {
    /// The kind of payment.
    pub kind: PaymentKind,
    /// The merchant's order number; for a pay-form the number that the payment gets when its payer acts.
    pub order_number: Option<String>,
    /// The gateway's own number, for cards.
    pub gateway_number: Option<String>,
    /// The identifier of a QR transaction.
    pub transaction_id: Option<String>,
    /// The amount in units of the currency (for KGS: som); absent for a QR code of an open amount.
    pub amount: Option<Decimal>,
    /// The currency's three letters.
    pub currency: String,
    /// The status of the payment.
    pub status: PaymentStatus,
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    pub page_url: Option<String>,
    /// The text of the QR code.
    pub qr_text: Option<String>,
    /// The URL for callbacks about it. The fake gateway sends none: it returns them to the test.
    pub callback_url: Option<String>,
}

/// The gateway's notifications about a payment that its payer has just made or declined. A test passes them to the code that handles
/// callbacks and returns.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FakeNotification {
    /// The body of the callback (webhook), for [`Callback::parse`](crate::Callback::parse).
    pub callback: String,
    /// The URL that the payer's browser would return to, for [`ReturnRedirect::parse`](crate::ReturnRedirect::parse);
    /// only after a payment, and if there is a return URL.
    pub return_url: Option<String>,
}

/// The outcome of new payments, unless the test decides it.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FakePlan {
    /// They stay pending until the test acts as the payer. A mobile-bank payment is paid by its confirmation.
    #[default]
    StayPending,
    /// Their payers pay after this time on the fake gateway's clock.
    Charge {
        /// The time from the creation.
        after: Duration,
    },
    /// Their payers decline after this time on the fake gateway's clock.
    Reject {
        /// The time from the creation.
        after: Duration,
    },
}

/// What goes wrong with one call (fault injection).
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FakeFault {
    /// No connection is made: [`PaymentError::Unavailable`](crate::PaymentError::Unavailable).
    NoConnection,
    /// The connection breaks before the gateway has the request: a payment was **not** made, and its outcome is still
    /// unknown.
    RequestLost,
    /// The gateway processes the request, and the connection breaks before the response arrives: a payment **was**
    /// made, and its outcome is unknown.
    ResponseLost,
    /// The gateway processes the request, and never responds: as [`ResponseLost`](Self::ResponseLost), after the call's
    /// deadline.
    NoResponse,
    /// The gateway refuses, with this code and this message: [`PaymentError::Refused`](crate::PaymentError::Refused).
    Refused {
        /// The code.
        code: String,
        /// The message.
        reason: String,
    },
    /// The gateway does not accept the credentials: [`PaymentError::Unauthorized`](crate::PaymentError::Unauthorized).
    Unauthorized,
    /// The gateway is broken and does nothing (HTTP 500): a payment's outcome is unknown, anything else unavailable.
    ServerError,
    /// The gateway rejects requests because of its rate limit (HTTP 429):
    /// [`PaymentError::Unavailable`](crate::PaymentError::Unavailable) with `retry_after`.
    TooManyRequests {
        /// When to retry.
        retry_after: Duration,
    },
}
