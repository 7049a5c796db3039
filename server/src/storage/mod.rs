//! Storage: what the server must not forget, behind one trait whose methods are one transaction each (unit of work). The
//! rules of what follows from what are pure functions below; a storage runs them inside its transactions.

mod aggregate;
pub mod inputs;
pub mod outputs;
pub mod postgres;
pub mod sqlite;
pub mod staff;

use std::sync::Arc;

use inputs::{
    BeginConfirmation, BeginPayment, CheckoutLookup, ClaimDeliveries, ClaimPolls, ConfirmationOutcome, DeliveryOutcome,
    Hint, NewApiKey, NewToken, OpenCheckout, PollResult, Resolve, SendOutcome, Sweep, TakePrepared,
};
use outputs::{
    ApiKeyRow, Begun, Cancelled, ChangedCheckouts, ClaimedPolls, ConfirmationBegun, Deliveries, EventPage, HintOutcome,
    Opened, RecordedPayment, Resolved, SendTurn, SkippedEvent, Statistics, SweepOutcome,
};
use staff::{
    Charges, CheckoutList, Ends, History, ListCheckouts, Need, NewStaffSession, Period, RecordRefund, RefundOutcome,
    StaffSession,
};

use crate::{
    checkouts::CheckoutView,
    runtime::Boxed,
    tokens::{DecidedBy, TokenHash},
    values::{ApiKeyId, CheckoutId, Cursor, Millis, error::ServerError},
};

/// What a storage will have answered.
pub type Stored<'a, T> = Boxed<'a, Result<T, StorageError>>;

/// What the server keeps. **Each method is one transaction**: when it has answered, all of it is on the disk, and when it
/// has not, all or nothing is. Every change of a state is conditional on the state before, and its event is written in the
/// same transaction. All moments are the database's.
pub trait Storage: Send + Sync + 'static {
    /// Opens a checkout, or finds the one of that reference.
    fn open_checkout(&self, new: OpenCheckout) -> Stored<'_, Opened>;

    /// Reads a checkout with its payments.
    fn checkout(&self, lookup: CheckoutLookup) -> Stored<'_, Option<CheckoutView>>;

    /// Cancels an open checkout of which nothing is under way; where a person does, by this name.
    fn cancel_checkout(&self, id: CheckoutId, by: Option<DecidedBy>) -> Stored<'_, Cancelled>;

    /// Adds a client token to a checkout; false where there is no such checkout.
    fn add_token(&self, new: NewToken) -> Stored<'_, bool>;

    /// Whether a client token was good once: it has expired, or was revoked.
    fn was_token(&self, hash: TokenHash) -> Stored<'_, bool>;

    /// Revokes all client tokens of a checkout.
    fn revoke_tokens(&self, id: CheckoutId) -> Stored<'_, u64>;

    /// Adds an API key.
    fn add_api_key(&self, new: NewApiKey) -> Stored<'_, ()>;

    /// Reads an API key, also one that was revoked.
    fn api_key(&self, id: ApiKeyId) -> Stored<'_, Option<ApiKeyRow>>;

    /// Reads all API keys, the first one first.
    fn api_keys(&self) -> Stored<'_, Vec<ApiKeyRow>>;

    /// Revokes a key, and whoever is logged in with it is so no longer; false where there is none that is good.
    fn revoke_api_key(&self, id: ApiKeyId) -> Stored<'_, bool>;

    /// Writes a payment down that is about to be sent.
    fn begin_payment(&self, begin: BeginPayment) -> Stored<'_, Begun>;

    /// Takes a payment that waited, to send it now.
    fn take_prepared(&self, take: TakePrepared) -> Stored<'_, SendTurn>;

    /// Notes what sending brought.
    fn record_send_outcome(&self, sent: SendOutcome) -> Stored<'_, RecordedPayment>;

    /// Writes down that a one-time password is about to be sent.
    fn begin_confirmation(&self, begin: BeginConfirmation) -> Stored<'_, ConfirmationBegun>;

    /// Notes what sending it brought.
    fn record_confirmation(&self, confirmed: ConfirmationOutcome) -> Stored<'_, RecordedPayment>;

    /// Notes what a person decided of a payment of which nobody knows.
    fn resolve(&self, resolve: Resolve) -> Stored<'_, Resolved>;

    /// Makes payments due at once.
    fn record_hint(&self, hint: Hint) -> Stored<'_, HintOutcome>;

    /// Does what time does: sending that took too long, checkouts that expire, what is kept no longer; so many at once.
    fn sweep(&self, sweep: Sweep) -> Stored<'_, SweepOutcome>;

    /// Takes payments to ask the gateway about.
    fn claim_polls(&self, claim: ClaimPolls) -> Stored<'_, ClaimedPolls>;

    /// Notes what the gateway answered.
    fn record_poll_results(&self, answers: Vec<PollResult>) -> Stored<'_, ChangedCheckouts>;

    /// Reads the events after a cursor, in the order in which they were committed.
    fn events_after(&self, cursor: Cursor, most: u32) -> Stored<'_, EventPage>;

    /// Takes the next event of streams that are due.
    fn claim_deliveries(&self, claim: ClaimDeliveries) -> Stored<'_, Deliveries>;

    /// Notes what became of deliveries; the events that are stepped over from now on.
    fn record_deliveries(&self, delivered: Vec<DeliveryOutcome>) -> Stored<'_, Vec<SkippedEvent>>;

    /// Starts a stream of events again that was given up, or stepped over what the shop refused, or every one; how many were. It goes
    /// on from the first one that was refused, and what came after that comes again.
    fn replay(&self, checkout: Option<CheckoutId>) -> Stored<'_, u64>;

    /// Adds a session of the staff's; false where its key is none of the staff's that is good.
    fn add_staff_session(&self, new: NewStaffSession) -> Stored<'_, bool>;

    /// Reads a session that is not over, and whose key is good.
    fn staff_session(&self, hash: TokenHash) -> Stored<'_, Option<StaffSession>>;

    /// Notes that a session is used, so that it lasts longer, within its limit.
    fn use_staff_session(&self, hash: TokenHash) -> Stored<'_, ()>;

    /// Ends a session.
    fn end_staff_session(&self, hash: TokenHash) -> Stored<'_, ()>;

    /// Reads a page of the list of checkouts.
    fn list_checkouts(&self, list: ListCheckouts) -> Stored<'_, CheckoutList>;

    /// Counts the checkouts that a person has to look at, by why; of each kind up to a limit.
    fn count_needs(&self) -> Stored<'_, Vec<(Need, u64)>>;

    /// Reads all that happened to a checkout.
    fn history(&self, id: CheckoutId) -> Stored<'_, Option<History>>;

    /// Notes that money of an overpaid checkout was given back.
    fn record_refund(&self, note: RecordRefund) -> Stored<'_, RefundOutcome>;

    /// Reads what was charged in a time, the first one first.
    fn charges(&self, period: Period, most: u32) -> Stored<'_, Charges>;

    /// Reads how payments ended in a time, hour by hour, from so many events at most.
    fn ends(&self, period: Period, most: u32) -> Stored<'_, Ends>;

    /// The moment, by the database's clock.
    fn moment(&self) -> Stored<'_, Millis>;

    /// Counts what there is now, cheaply at any size.
    fn statistics(&self) -> Stored<'_, Statistics>;

    /// Whether it can be written: commits something that changes nothing, and waits until it is on the disk.
    fn check_writable(&self) -> Stored<'_, ()>;

    /// The other servers on this database, where they can be told something.
    fn peers(&self) -> Option<Arc<dyn PeerChannel>> {
        None
    }
}

// What can go wrong with a storage.

/// A failure of the database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The database was written by a newer version of the server.
    #[error("the database is of version {found}, and this server knows versions up to {supported}")]
    #[non_exhaustive]
    Newer {
        /// The database's.
        found: i64,
        /// The newest that is known.
        supported: i64,
    },
    /// The database cannot be read or written. What was to be written may have been or not.
    #[error("the database cannot be used: {detail}")]
    #[non_exhaustive]
    Failed {
        /// What it said.
        detail: String,
    },
    /// The database cannot be reached. Nothing was written.
    #[error("the database cannot be reached: {detail}")]
    #[non_exhaustive]
    Unreachable {
        /// What it said, or the system.
        detail: String,
    },
    /// Too much waits for the database. Nothing was written.
    #[error("the database is busy, and nothing was written")]
    Busy,
    /// A value in it that this server did not write.
    #[error("the database holds a {what} that cannot be read")]
    #[non_exhaustive]
    Damaged {
        /// What it is.
        what: &'static str,
    },
}

impl StorageError {
    /// A failure, in its own words.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self::Failed { detail: detail.into() }
    }

    /// Whether nothing was written for certain.
    pub fn wrote_nothing(&self) -> bool {
        matches!(self, Self::Busy | Self::Unreachable { .. } | Self::Newer { .. })
    }
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<StorageError> for ServerError {
    fn from(error: StorageError) -> Self {
        Self::unavailable(error.to_string())
    }
}

// Other servers on the same database. What they say wakes those who wait for a change, and nothing more: what is not heard is
// seen a little later all the same.

/// Who is told of a checkout that changed, or that any may have changed.
pub type Wake<'a> = &'a (dyn Fn(Option<&CheckoutId>) + Send + Sync);

/// The others (publish and subscribe, best effort).
pub trait PeerChannel: Send + Sync {
    /// Tells them that checkouts changed.
    fn tell(&self, changed: Vec<CheckoutId>) -> Stored<'_, ()>;

    /// Hears them, until they can no longer be heard.
    fn hear<'a>(&'a self, wake: Wake<'a>) -> Stored<'a, ()>;
}
