//! A payment, its state machine, and the reasons for a rejection.

use std::time::SystemTime;

use rust_decimal::Decimal;
use strum::{Display, EnumCount, IntoStaticStr, VariantArray};

use crate::domain::all;

/// The kind of request that created a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum PaymentKind {
    /// `POST /api/v1.1.0/payment`.
    Card,
    /// `POST /api/v1.1.0/mbank/pay`.
    Mbank,
    /// `POST /api/v1.1.0/mega/check`.
    Megapay,
    /// `POST /api/v1.1.0/pay-form`.
    PayForm,
    /// `POST /gen/qr/dynamic` and `POST /gen/qr/dynamic/data`.
    Qr,
}

impl PaymentKind {
    /// All kinds.
    pub const ALL: [Self; Self::COUNT] = all();

    /// A stable name for storage and display.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The provider that processes the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumCount, IntoStaticStr, VariantArray)]
pub enum Provider {
    /// A bank card.
    Cards,
    /// The MegaPay wallet.
    MegaPay,
    /// The MBank app.
    MBank,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }
}

/// A payment in the sandbox's ledger: what really happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The kind of request that created it.
    pub kind: PaymentKind,
    /// The merchant's order number. For a pay-form, the number that the gateway generated; for a QR payment, its transaction id.
    pub order_number: String,
    /// The gateway's number: the `token` of its pages, and the number that `status` finds it by.
    pub gateway_number: String,
    /// The provider; `None` until the payer of a pay-form has chosen one.
    pub provider: Option<Provider>,
    /// The QR transaction's id; `None` for all other kinds.
    pub transaction_id: Option<String>,
    /// The amount as on the wire: in the currency's main unit, for QR payments
    /// in tyiyn. `None` for a QR code without a sum until its payer enters one.
    pub amount: Option<Decimal>,
    /// The currency's code.
    pub currency: String,
    /// The status.
    pub status: PaymentStatus,
    /// The reason of the rejection, if it was rejected.
    pub reject_reason: Option<RejectReason>,
    /// The number of charges under this order number, over all its payments.
    pub times_charged: u32,
    /// The time of registration.
    pub created: SystemTime,
    /// The card's first six and last four digits.
    pub masked_card: Option<String>,
    /// The phone's first four and last four digits.
    pub masked_phone: Option<String>,
    /// The remaining one-time password attempts.
    pub otp_attempts_left: u32,
}

impl Payment {
    /// True if this payment was charged.
    pub fn is_charged(&self) -> bool {
        self.status == PaymentStatus::Charged
    }

    /// The numbers that identify it.
    pub(crate) fn numbers(&self) -> [String; 2] {
        [self.order_number.clone(), self.gateway_number.clone()]
    }
}

/// The status of a payment. `as_str` is the word on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumCount, IntoStaticStr, VariantArray)]
pub enum PaymentStatus {
    /// Registered; the payer has not finished yet.
    #[strum(serialize = "CREATED")]
    Created,
    /// The payer has finished; the provider has not decided.
    #[strum(serialize = "PENDING")]
    Pending,
    /// The money was taken. Final.
    #[strum(serialize = "CHARGE")]
    Charged,
    /// No money was taken, and none will be. Final.
    #[strum(serialize = "Reject")]
    Rejected,
}

impl PaymentStatus {
    /// All statuses.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// True if the status is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Charged | Self::Rejected)
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// The status after an event, or `None` if the event cannot happen in this one.
    pub(crate) fn after(self, event: Event) -> Option<Self> {
        match (self, event) {
            (Self::Created, Event::Hold) => Some(Self::Pending),
            (Self::Created | Self::Pending, Event::Charge) => Some(Self::Charged),
            (Self::Created | Self::Pending, Event::Reject(_)) => Some(Self::Rejected),
            (Self::Pending, Event::Hold) | (Self::Charged | Self::Rejected, _) => None,
        }
    }
}

/// The triggers of a payment's transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The provider charges the payment.
    Charge,
    /// The provider postpones its decision.
    Hold,
    /// It ends without money.
    Reject(RejectReason),
}

/// The reason of a rejection. `code` is its code in the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, VariantArray)]
pub enum RejectReason {
    /// The issuer or wallet declined.
    Declined,
    /// Insufficient funds.
    InsufficientFunds,
    /// The payer cancelled or declined.
    CancelledByPayer,
    /// Too many wrong one-time passwords.
    OtpAttemptsExhausted,
    /// The provider failed while processing.
    ProcessingError,
}

impl RejectReason {
    /// All reasons.
    pub const ALL: [Self; Self::COUNT] = all();

    /// Its code, in the envelope and in a redirect after a decline.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Declined => "210",
            Self::InsufficientFunds => "211",
            Self::CancelledByPayer => "212",
            Self::OtpAttemptsExhausted => "213",
            Self::ProcessingError => "214",
        }
    }

    pub(crate) fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [Event; 3] = [Event::Charge, Event::Hold, Event::Reject(RejectReason::Declined)];

    #[test]
    fn final_status_never_changes() {
        for status in [PaymentStatus::Charged, PaymentStatus::Rejected] {
            for event in EVENTS {
                assert_eq!(status.after(event), None, "{status} after {event:?}");
            }
        }
    }

    #[test]
    fn open_payment_has_three_transitions() {
        use PaymentStatus::{Charged, Created, Pending, Rejected};
        for status in [Created, Pending] {
            assert_eq!(status.after(EVENTS[0]), Some(Charged));
            assert_eq!(status.after(EVENTS[2]), Some(Rejected));
        }
        assert_eq!(Created.after(Event::Hold), Some(Pending));
        assert_eq!(Pending.after(Event::Hold), None);
    }

    #[test]
    fn words_and_codes_are_read_back() {
        for status in PaymentStatus::ALL {
            assert_eq!(PaymentStatus::parse(status.as_str()), Some(status));
        }
        for reason in RejectReason::ALL {
            assert_eq!(RejectReason::parse(reason.code()), Some(reason));
        }
    }
}
