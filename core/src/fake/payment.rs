//! What a test sees of the fake gateway's books, and what it can ask of it.

use std::time::Duration;

use rust_decimal::Decimal;

use crate::payment_ref::{PaymentKind, report::PaymentStatus};

/// A payment in the books of a [`FakeGateway`](crate::FakeGateway).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FakePayment {
    /// What kind of payment it is.
    pub kind: PaymentKind,
    /// The merchant's order number; for a pay-form the one that the payment got when its payer acted.
    pub order_number: Option<String>,
    /// The gateway's own number, for cards.
    pub gateway_number: Option<String>,
    /// The identifier of a QR transaction.
    pub transaction_id: Option<String>,
    /// The amount in units of the currency (for KGS: som); nothing for a QR code of an open amount.
    pub amount: Option<Decimal>,
    /// The currency's three letters.
    pub currency: String,
    /// Where the payment stands.
    pub status: PaymentStatus,
    /// The page that the payer opens: the 3DS confirmation, or the pay-form.
    pub page_url: Option<String>,
    /// The text of the QR code.
    pub qr_text: Option<String>,
    /// Where callbacks about it would go. The fake gateway sends none: it hands them to the test.
    pub callback_url: Option<String>,
}

/// What the gateway tells about a payment that its payer has just made or declined, for a test to hand to the code that
/// takes callbacks and returns.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FakeNotification {
    /// The body of the callback (webhook), for [`Callback::parse`](crate::Callback::parse).
    pub callback: String,
    /// Where the payer's browser would come back to, for [`ReturnRedirect::parse`](crate::ReturnRedirect::parse); only
    /// after a payment, and where there is an address to return to.
    pub return_url: Option<String>,
}

/// What becomes of the payments that are made from now on, without a test's doing.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FakePlan {
    /// They stay open until the test says what the payer does. A mobile-bank payment is paid by its confirmation.
    #[default]
    StayPending,
    /// Their payers pay, after that time on the fake gateway's clock.
    Charge {
        /// The time from the creation.
        after: Duration,
    },
    /// Their payers decline, after that time on the fake gateway's clock.
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
    /// The connection breaks before the gateway has the request: a payment was **not** made, and its outcome is unknown
    /// all the same.
    RequestLost,
    /// The gateway does what it was asked, and the connection breaks before its answer arrives: a payment **was** made,
    /// and its outcome is unknown.
    ResponseLost,
    /// The gateway does what it was asked, and never answers: as [`ResponseLost`](Self::ResponseLost), when the call's
    /// deadline has passed.
    NoResponse,
    /// The gateway refuses, with this code and these words: [`PaymentError::Refused`](crate::PaymentError::Refused).
    Refused {
        /// The code.
        code: String,
        /// The words.
        reason: String,
    },
    /// The gateway does not accept the credentials: [`PaymentError::Unauthorized`](crate::PaymentError::Unauthorized).
    Unauthorized,
    /// The gateway is broken and does nothing (HTTP 500): a payment's outcome is unknown, anything else unavailable.
    ServerError,
    /// The gateway takes no more requests now (HTTP 429):
    /// [`PaymentError::Unavailable`](crate::PaymentError::Unavailable) with `retry_after`.
    TooManyRequests {
        /// When to ask again.
        retry_after: Duration,
    },
}
