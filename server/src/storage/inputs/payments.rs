//! The inputs of beginning, sending and confirming a payment.

use std::time::Duration;

use kassa::{Decimal, PaymentRef};

use crate::{
    payments::{Failure, exchange::Exchange},
    values::{CheckoutId, Hidden, Method, Millis, PaymentId},
};

/// An idempotency key with the fingerprint of its content.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub text: String,
    /// The fingerprint.
    pub fingerprint: Vec<u8>,
}

/// A payment that is about to be sent.
#[derive(Clone, Debug)]
pub struct BeginPayment {
    /// Its checkout.
    pub checkout: CheckoutId,
    /// Its identifier.
    pub id: PaymentId,
    /// The payment method.
    pub method: Method,
    /// The reference for status queries.
    pub reference: PaymentRef,
    /// The caller's idempotency key.
    pub key: Option<Key>,
    /// Its only sender (fencing).
    pub sender: String,
    /// Whether it is sent at once; otherwise it waits as prepared.
    pub is_sent_at_once: bool,
    /// The time after which its sender has no response.
    pub send_for_ms: Millis,
    /// The time after which it is no longer sent.
    pub wait_for_ms: Millis,
    /// The most one-time passwords that may be tried.
    pub attempts: u32,
    /// The most cards that may be tried for its checkout.
    pub card_attempts: u32,
    /// The last four digits of the card, if it is paid by card.
    pub card_last4: Option<String>,
    /// The last two digits of the phone, if a code confirms it.
    pub phone_last2: Option<String>,
    /// The phone, if the request with the code repeats it.
    pub payer_phone: Option<Hidden>,
    /// The payment to replace, if it can still be replaced: it is never confirmed any more.
    pub instead_of: Option<PaymentId>,
}

/// A payment that waited, to be sent now.
#[derive(Clone, Debug)]
pub struct TakePrepared {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// The payment.
    pub payment: PaymentId,
    /// Its sender.
    pub sender: String,
    /// The time after which its sender has no response.
    pub send_for_ms: Millis,
}

/// The outcome of sending a payment.
#[derive(Clone, Debug)]
pub struct SendOutcome {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// The payment.
    pub payment: PaymentId,
    /// Its sender.
    pub sender: String,
    /// The result.
    pub result: SendResult,
    /// The exchange, if it was sent at all.
    pub exchange: Option<Exchange>,
}

/// The terms of a wallet payment in the gateway's response; empty for any other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalletTerms {
    /// The commission in addition to the amount, in KGS.
    pub commission: Option<Decimal>,
    /// The amount and the commission, in KGS.
    pub total: Option<Decimal>,
    /// The lifetime of the PIN.
    pub pin_lifetime: Option<Duration>,
}

/// The result of sending a payment.
#[derive(Clone, Debug)]
pub enum SendResult {
    /// The gateway has it.
    Accepted {
        /// The reference for status queries from now on.
        reference: PaymentRef,
        /// The page to open.
        page_url: Option<String>,
        /// The code to show.
        qr_text: Option<String>,
        /// The terms for a wallet's payer, shown before the payment.
        terms: WalletTerms,
    },
    /// Certainly nothing happened.
    NothingHappened {
        /// Why.
        failure: Failure,
        /// The gateway's `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// It may have happened.
    Unknown {
        /// The reference for status queries from now on.
        reference: PaymentRef,
    },
}

/// A one-time password that is about to be sent.
#[derive(Clone, Debug)]
pub struct BeginConfirmation {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// The payment.
    pub payment: PaymentId,
    /// The caller's idempotency key. Its fingerprint holds nothing of the password.
    pub key: Option<Key>,
    /// Its only sender (fencing).
    pub sender: String,
}

/// The outcome of sending a one-time password.
#[derive(Clone, Debug)]
pub struct ConfirmationOutcome {
    /// The payment's checkout.
    pub checkout: CheckoutId,
    /// The payment.
    pub payment: PaymentId,
    /// Its sender.
    pub sender: String,
    /// The result.
    pub result: ConfirmResult,
    /// The exchange, if it was sent at all.
    pub exchange: Option<Exchange>,
}

/// The result of sending a one-time password.
#[derive(Clone, Debug)]
pub enum ConfirmResult {
    /// The gateway accepted it, or may have: the payment is polled.
    Sent {
        /// The reference for status queries from now on, if more is known.
        reference: Option<PaymentRef>,
    },
    /// It was wrong.
    Refused {
        /// The gateway's refusal.
        failure: Failure,
    },
    /// Certainly nothing happened.
    NothingHappened {
        /// Why.
        failure: Failure,
    },
}
