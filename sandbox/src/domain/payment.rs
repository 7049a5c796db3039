//! A payment as the ledger shows it.

use std::time::SystemTime;

use rust_decimal::Decimal;
use strum::{Display, EnumCount, IntoStaticStr, VariantArray};

use crate::domain::{PaymentStatus, RejectReason, all};

/// The endpoint family a payment was created by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum PaymentKind {
    /// `POST /api/v1.1.0/payment`.
    Card,
    /// `POST /api/v1.1.0/mbank/pay`.
    Mbank,
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
