//! Storage: what the server must not forget, behind one trait whose methods are one transaction each (unit of work). The
//! rules of what follows from what are pure functions below; a storage runs them inside its transactions.

pub mod error;
pub mod inputs;
pub mod outputs;
pub mod sqlite;

use error::StorageError;
use inputs::{
    Answered, BeginConfirmation, BeginPayment, ClaimQuestions, Confirmed, Delivered, Hint, NewToken, OpenCheckout,
    Resolve, Sent, Sweep, TakePrepared, Whose,
};
use outputs::{
    Begun, Cancelled, ConfirmationBegun, Deliveries, HintNoted, Opened, Questions, Resolved, Settled, SettledMany,
    Swept, Taken,
};

use crate::{checkouts::checkout::CheckoutView, events::Event, surroundings::Boxed, values::ids::CheckoutId};

/// What a storage will have answered.
pub type Stored<'a, T> = Boxed<'a, Result<T, StorageError>>;

/// What the server keeps. **Each method is one transaction**: when it has answered, all of it is on the disk, and when it
/// has not, all or nothing is. Every change of a state is conditional on the state before, and its event is written in the
/// same transaction. All moments are the database's.
pub trait Storage: Send + Sync + 'static {
    /// Opens a checkout, or finds the one of that reference.
    fn open_checkout(&self, new: OpenCheckout) -> Stored<'_, Opened>;

    /// Reads a checkout with its payments.
    fn checkout(&self, whose: Whose) -> Stored<'_, Option<CheckoutView>>;

    /// Cancels an open checkout of which nothing is under way.
    fn cancel_checkout(&self, id: CheckoutId) -> Stored<'_, Cancelled>;

    /// Adds a client token to a checkout; false where there is no such checkout.
    fn add_token(&self, new: NewToken) -> Stored<'_, bool>;

    /// Revokes all client tokens of a checkout.
    fn revoke_tokens(&self, id: CheckoutId) -> Stored<'_, u64>;

    /// Writes a payment down that is about to be sent.
    fn begin_payment(&self, begin: BeginPayment) -> Stored<'_, Begun>;

    /// Takes a payment that waited, to send it now.
    fn take_prepared(&self, take: TakePrepared) -> Stored<'_, Taken>;

    /// Notes what sending brought.
    fn settle_sending(&self, sent: Sent) -> Stored<'_, Settled>;

    /// Writes down that a one-time password is about to be sent.
    fn begin_confirmation(&self, begin: BeginConfirmation) -> Stored<'_, ConfirmationBegun>;

    /// Notes what sending it brought.
    fn settle_confirmation(&self, confirmed: Confirmed) -> Stored<'_, Settled>;

    /// Notes what a person decided of a payment of which nobody knows.
    fn resolve(&self, resolve: Resolve) -> Stored<'_, Resolved>;

    /// Makes payments due at once.
    fn note_hint(&self, hint: Hint) -> Stored<'_, HintNoted>;

    /// Does what time does: sending that took too long, checkouts that expire, what is kept no longer; so many at once.
    fn sweep(&self, sweep: Sweep) -> Stored<'_, Swept>;

    /// Takes payments to ask the gateway about.
    fn claim_questions(&self, claim: ClaimQuestions) -> Stored<'_, Questions>;

    /// Notes what the gateway answered.
    fn settle_questions(&self, answers: Vec<Answered>) -> Stored<'_, SettledMany>;

    /// Reads the events after a cursor, in the order in which they were committed.
    fn events_after(&self, cursor: i64, most: u32) -> Stored<'_, Vec<Event>>;

    /// Takes the next event of streams that are due.
    fn claim_deliveries(&self, most: u32, lease_ms: i64) -> Stored<'_, Deliveries>;

    /// Notes what became of deliveries.
    fn settle_deliveries(&self, delivered: Vec<Delivered>) -> Stored<'_, ()>;

    /// Starts a stream of events that was given up again, or every one; how many were.
    fn replay(&self, checkout: Option<CheckoutId>) -> Stored<'_, u64>;
}
