//! A checkout's book (aggregate): what the database has of a checkout and its payments, read into memory, and what a
//! transaction changes of it (unit of work). **What follows from what is decided here, once, for every database**: a storage
//! reads a book, lets these functions write in it, and saves what was written, all in one transaction.
//!
//! A storage sees to it that nobody else writes in a book that is open: SQLite has one writer, PostgreSQL locks the
//! checkout's row. Should that ever fail, the database itself refuses the second of two writers: each change has an event,
//! and no two events of a checkout have the same version (unique index).

pub(super) mod changes;
pub(super) mod claims;
pub(super) mod ending;
pub(super) mod happening;
pub(super) mod hints;
pub(super) mod pauses;
pub(super) mod payments;
pub(super) mod questions;
pub(super) mod resolving;
mod telling;

use changes::Touched;
use claims::KeptClaim;

use crate::{
    payments::payment::Payment,
    storage::error::StorageError,
    values::{
        Millis,
        ids::{CheckoutId, PaymentId},
        states::CheckoutState,
    },
};

/// A checkout and those of its payments that were read.
#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) head: Head,
    pub(super) payments: Vec<Kept>,
    /// A payment of it cannot be read: it is not among them, and may have taken money.
    pub(super) is_damaged: bool,
}

/// What changes of a checkout, and what its events tell of it.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: CheckoutId,
    pub(super) reference: String,
    pub(super) amount: String,
    pub(super) currency: String,
    pub(super) state: CheckoutState,
    pub(super) version: i64,
    /// How many events are about the checkout alone.
    pub(super) events: i64,
    pub(super) expires_at: Millis,
    /// When to look whether it expires.
    pub(super) expiry_due_at: Millis,
    pub(super) keys_kept_since: Option<Millis>,
    pub(super) paid_by: Option<PaymentId>,
    pub(super) is_overpaid: bool,
    pub(super) refunds_due: u32,
    pub(super) touched: HeadTouched,
}

/// What was changed of a checkout's row, so that no more is written than that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadTouched {
    /// Something was told: its version grew.
    pub(super) version: bool,
    /// Its state, and all that goes with it.
    pub(super) state: bool,
    /// When to look whether it expires.
    pub(super) expiry: bool,
}

/// A payment with what only the storage needs to know.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) payment: Payment,
    pub(super) sender: String,
    /// When it is no longer sent (prepared), or its sender has no answer (sending).
    pub(super) until: Millis,
    pub(super) unknown_since: Option<Millis>,
    pub(super) is_hinted: bool,
    /// Reports in a row that contradict what was asked for, or cannot be verified, and when the last one was counted.
    pub(super) mismatches: u32,
    pub(super) mismatch_at: Millis,
    /// A person decided what became of it.
    pub(super) is_resolved: bool,
    /// How many events are about it.
    pub(super) events: i64,
    /// From when its age counts where it is due; read where an answer is recorded.
    pub(super) due_since: Option<Millis>,
    /// What callbacks claimed of a pay-form; read where that matters.
    pub(super) claims: Vec<KeptClaim>,
    /// The numbers of claims that gave way.
    pub(super) dropped_claims: Vec<String>,
    pub(super) touched: Touched,
}

impl Book {
    /// Where a payment stands in it.
    pub(super) fn place(&self, id: &PaymentId) -> Option<usize> {
        self.payments.iter().position(|kept| kept.payment.id == *id)
    }

    /// Nothing new is begun, and nothing ended, around what cannot be read.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        if self.is_damaged { Err(StorageError::Damaged { what: "payment" }) } else { Ok(()) }
    }

    /// Open also by the clock: who expires it may not have come to it yet.
    pub(super) fn state_by_now(&self, now: Millis) -> CheckoutState {
        let has_expired = self.head.state == CheckoutState::Open && self.head.expires_at <= now;
        if has_expired { CheckoutState::Expired } else { self.head.state }
    }
}
