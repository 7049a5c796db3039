//! A payment, its state machine, and the reasons for a rejection.

use std::time::SystemTime;

use rust_decimal::Decimal;
use strum::{Display, EnumCount, IntoStaticStr, VariantArray};

use crate::domain::all;

/// The endpoint family a payment was created by.
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
    /// Every kind there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// A stable name for storage and display.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Who moves the money.
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
    /// Every provider there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == name)
    }
}

/// One line of the sandbox's ledger: what it really did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// How it was created.
    pub kind: PaymentKind,
    /// The merchant's number; of a pay-form the number the gateway generated; of a QR its transaction id.
    pub order_number: String,
    /// The gateway's own number: the `token` of its pages, and what `status` knows it by.
    pub gateway_number: String,
    /// Who moves the money; `None` while the payer has not chosen on the pay-form.
    pub provider: Option<Provider>,
    /// The QR transaction's id; `None` for every other kind.
    pub transaction_id: Option<String>,
    /// The amount as the wire shows it: in the currency's main unit, of a QR in tyiyn.
    /// `None` for a QR without a sum until its payer names one.
    pub amount: Option<Decimal>,
    /// The currency's code.
    pub currency: String,
    /// Where it stands.
    pub status: PaymentStatus,
    /// Why it was rejected, if it was.
    pub reject_reason: Option<RejectReason>,
    /// How many times money was taken under this order number, over all payments that carry it.
    pub times_charged: u32,
    /// When it was registered.
    pub created: SystemTime,
    /// The card, first six and last four digits.
    pub masked_card: Option<String>,
    /// The payer's phone, first four and last four digits.
    pub masked_phone: Option<String>,
    /// One-time passwords the payer may still get wrong.
    pub otp_attempts_left: u32,
}

impl Payment {
    /// True where this payment took the money.
    pub fn is_charged(&self) -> bool {
        self.status == PaymentStatus::Charged
    }

    /// The numbers it goes by.
    pub(crate) fn numbers(&self) -> [String; 2] {
        [self.order_number.clone(), self.gateway_number.clone()]
    }
}

/// Where a payment stands. `as_str` is the word the wire shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumCount, IntoStaticStr, VariantArray)]
pub enum PaymentStatus {
    /// Registered; the payer has not finished yet.
    #[strum(serialize = "CREATED")]
    Created,
    /// The payer did their part; the provider has not decided.
    #[strum(serialize = "PENDING")]
    Pending,
    /// The money was taken. Final.
    #[strum(serialize = "CHARGE")]
    Charged,
    /// Nothing was taken, and nothing will be. Final.
    #[strum(serialize = "Reject")]
    Rejected,
}

impl PaymentStatus {
    /// Every status there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The word for it on the wire.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// True where nothing can happen to the payment any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Charged | Self::Rejected)
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// The status after an event, or `None` where the event cannot happen in this one.
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
    /// The provider takes the money.
    Charge,
    /// The provider wants to think about it.
    Hold,
    /// It ends without money.
    Reject(RejectReason),
}

/// Why a payment ended without money. `code` is the envelope's code for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, VariantArray)]
pub enum RejectReason {
    /// The issuer or wallet said no.
    Declined,
    /// There is not enough on the account.
    InsufficientFunds,
    /// The payer cancelled or declined.
    CancelledByPayer,
    /// The one-time password was wrong too often.
    OtpAttemptsExhausted,
    /// The provider failed while processing.
    ProcessingError,
}

impl RejectReason {
    /// Every reason there is.
    pub const ALL: [Self; Self::COUNT] = all();

    /// The code of it, in the envelope and in a redirected decline.
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
