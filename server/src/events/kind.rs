//! Kinds of events.

use strum::{Display, EnumIter, EnumString, IntoStaticStr};

/// What happened. Each change of a state has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[non_exhaustive]
pub enum EventKind {
    /// The gateway reported a charge: **deliver**.
    #[strum(serialize = "checkout.paid")]
    CheckoutPaid,
    /// Its time passed.
    #[strum(serialize = "checkout.expired")]
    CheckoutExpired,
    /// The shop cancelled it.
    #[strum(serialize = "checkout.cancelled")]
    CheckoutCancelled,
    /// Another payment of it was charged as well: somebody has to give money back.
    #[strum(serialize = "checkout.overpaid")]
    CheckoutOverpaid,
    /// A person gave money of an overpaid one back, at the gateway.
    #[strum(serialize = "checkout.refund_noted")]
    CheckoutRefundNoted,
    /// A payment was written down.
    #[strum(serialize = "payment.created")]
    PaymentCreated,
    /// It waited, and is sent now.
    #[strum(serialize = "payment.sending")]
    PaymentSending,
    /// The gateway has it; the payer has to act.
    #[strum(serialize = "payment.accepted")]
    PaymentAccepted,
    /// Certainly nothing happened.
    #[strum(serialize = "payment.not_made")]
    PaymentNotMade,
    /// It may have happened, and is asked about.
    #[strum(serialize = "payment.unknown")]
    PaymentUnknown,
    /// The payer's one-time password is sent.
    #[strum(serialize = "payment.confirming")]
    PaymentConfirming,
    /// The one-time password was refused, or certainly not sent.
    #[strum(serialize = "payment.not_confirmed")]
    PaymentNotConfirmed,
    /// Its payer went another way: another payment is begun instead of it, and it takes no one-time password any more.
    #[strum(serialize = "payment.replaced")]
    PaymentReplaced,
    /// The gateway reported a charge.
    #[strum(serialize = "payment.charged")]
    PaymentCharged,
    /// The gateway reported its end without a charge.
    #[strum(serialize = "payment.rejected")]
    PaymentRejected,
    /// The gateway reports something else than was asked for: a person has to look.
    #[strum(serialize = "payment.mismatch")]
    PaymentMismatch,
    /// The gateway reports a charge that cannot be verified: a person has to look, and the payer must not pay again.
    #[strum(serialize = "payment.unverifiable")]
    PaymentUnverifiable,
    /// A person decided about one more charge that was reported of a charged payment; the payment stays charged.
    #[strum(serialize = "payment.reviewed")]
    PaymentReviewed,
    /// A person decided whether it was charged.
    #[strum(serialize = "payment.resolved")]
    PaymentResolved,
    /// It has been open for three days, or its checkout ended and nobody can ask about its code: a person has to look.
    #[strum(serialize = "payment.stuck")]
    PaymentStuck,
}

impl EventKind {
    /// Its name, such as `checkout.paid`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the shop has to act on money: to deliver, or to give it back. Behind any other event one of these may wait.
    pub fn requires_action(self) -> bool {
        match self {
            Self::CheckoutPaid | Self::CheckoutOverpaid => true,
            Self::CheckoutExpired
            | Self::CheckoutCancelled
            | Self::CheckoutRefundNoted
            | Self::PaymentCreated
            | Self::PaymentSending
            | Self::PaymentAccepted
            | Self::PaymentNotMade
            | Self::PaymentUnknown
            | Self::PaymentConfirming
            | Self::PaymentNotConfirmed
            | Self::PaymentReplaced
            | Self::PaymentCharged
            | Self::PaymentRejected
            | Self::PaymentMismatch
            | Self::PaymentUnverifiable
            | Self::PaymentReviewed
            | Self::PaymentResolved
            | Self::PaymentStuck => false,
        }
    }
}
