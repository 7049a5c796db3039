//! Storage: the server's durable state, behind one trait whose methods are one transaction each (unit of work). The rules of
//! state changes are pure functions in `aggregate`; a storage runs them inside its transactions.

mod aggregate;
pub mod inputs;
pub mod listing;
pub mod outputs;
pub mod postgres;
pub mod sqlite;
pub mod staff;

use std::sync::Arc;

use inputs::{
    BeginConfirmation, BeginPayment, CheckoutLookup, ClaimDeliveries, ClaimPolls, ConfirmationOutcome, DeliveryOutcome,
    Hint, NewApiKey, NewToken, OpenCheckout, PollResult, Resolve, SendOutcome, Sweep, TakePrepared,
};
use listing::{CheckoutFilter, CheckoutList, CheckoutTotals, ListCheckouts};
use outputs::{
    ApiKeyRow, ChangedCheckouts, ClaimedPolls, Decision, Deliveries, HintOutcome, RecordedPayment, SendTurn,
    SkippedEvent, Statistics, SweepOutcome,
};
use staff::{
    Charges, Ends, History, Need, NewStaffSession, Period, RecordRefund, RefundOutcome, StaffSession,
    StoredUnknownCallback, UnknownCallback,
};

use crate::{
    checkouts::CheckoutView,
    events::Event,
    runtime::Boxed,
    tokens::{DecidedBy, TokenHash},
    values::{ApiKeyId, CheckoutId, Cursor, Millis, PaymentId, error::ServerError},
};

/// The future result of a transaction.
pub type Stored<'a, T> = Boxed<'a, Result<T, StorageError>>;

/// The server's durable state. **Each method is one transaction**: after it returns, all of it is on the disk; if it never
/// returns, all or nothing is. Every change of a state is conditional on the state before, and its event is written in the
/// same transaction. A request that the state does not allow is [rejected](StorageError::Rejected): the transaction is rolled
/// back. All moments are the database's.
pub trait Storage: Send + Sync + 'static {
    /// Opens a checkout, or finds the one that was opened before with this reference and the same content. Rejected where the
    /// reference was used with other content.
    fn open_checkout(&self, new: OpenCheckout) -> Stored<'_, CheckoutView>;

    /// Reads a checkout with its payments.
    fn checkout(&self, lookup: CheckoutLookup) -> Stored<'_, Option<CheckoutView>>;

    /// Cancels an open checkout; `by` names the person who does. One that is cancelled stays as it is. Rejected where there is no such
    /// checkout, where it ended otherwise, or where a payment of it is under way.
    fn cancel_checkout(&self, id: CheckoutId, by: Option<DecidedBy>) -> Stored<'_, CheckoutView>;

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

    /// Records a payment before it is sent, or finds the one that was begun before by the same request: that one is unchanged.
    /// Rejected where there is no such checkout, it is not open, another payment of it may still take money, no attempts are left, or
    /// the key was used with another body.
    fn begin_payment(&self, begin: BeginPayment) -> Stored<'_, RecordedPayment>;

    /// Takes a payment that waited, to send it now.
    fn take_prepared(&self, take: TakePrepared) -> Stored<'_, SendTurn>;

    /// Records the result of sending a payment.
    fn record_send_outcome(&self, sent: SendOutcome) -> Stored<'_, RecordedPayment>;

    /// Records that a one-time password is about to be sent; the payment is unchanged if the same request recorded it before. Rejected
    /// as [`begin_payment`](Self::begin_payment) is, and where the payment awaits no password.
    fn begin_confirmation(&self, begin: BeginConfirmation) -> Stored<'_, RecordedPayment>;

    /// Records the result of sending it.
    fn record_confirmation(&self, confirmed: ConfirmationOutcome) -> Stored<'_, RecordedPayment>;

    /// Records what a person decided about a payment in doubt. Rejected where there is no such payment, or nothing to decide.
    fn resolve(&self, resolve: Resolve) -> Stored<'_, Decision>;

    /// Makes payments due at once. Rejected where a callback's address is unknown.
    fn record_hint(&self, hint: Hint) -> Stored<'_, HintOutcome>;

    /// Does what time does: sending that took too long, checkouts that expire, what is kept no longer; so many at once.
    fn sweep(&self, sweep: Sweep) -> Stored<'_, SweepOutcome>;

    /// Takes payments to query the gateway about.
    fn claim_polls(&self, claim: ClaimPolls) -> Stored<'_, ClaimedPolls>;

    /// Records what the gateway answered.
    fn record_poll_results(&self, answers: Vec<PollResult>) -> Stored<'_, ChangedCheckouts>;

    /// Reads the events after a cursor, in the order in which they were committed. Rejected where the cursor's event is not in this
    /// database, which was restored from a backup.
    fn events_after(&self, cursor: Cursor, most: u32) -> Stored<'_, Vec<Event>>;

    /// Takes the next event of streams that are due.
    fn claim_deliveries(&self, claim: ClaimDeliveries) -> Stored<'_, Deliveries>;

    /// Records the results of deliveries; the events that are stepped over from now on.
    fn record_deliveries(&self, delivered: Vec<DeliveryOutcome>) -> Stored<'_, Vec<SkippedEvent>>;

    /// Starts a stream of events again that was given up, or stepped over what the shop refused, or every one; how many were. It goes
    /// on from the first one that was refused, and what came after that comes again.
    fn replay(&self, checkout: Option<CheckoutId>) -> Stored<'_, u64>;

    /// Adds a session of the staff's; false where its key is none of the staff's that is good.
    fn add_staff_session(&self, new: NewStaffSession) -> Stored<'_, bool>;

    /// Reads a session that is not over, and whose key is good.
    fn staff_session(&self, hash: TokenHash) -> Stored<'_, Option<StaffSession>>;

    /// Records that a session is used, so that it lasts longer, within its limit.
    fn use_staff_session(&self, hash: TokenHash) -> Stored<'_, ()>;

    /// Ends a session.
    fn end_staff_session(&self, hash: TokenHash) -> Stored<'_, ()>;

    /// Reads a page of the list of checkouts.
    fn list_checkouts(&self, list: ListCheckouts) -> Stored<'_, CheckoutList>;

    /// Adds up what a filter finds, of so many checkouts at most.
    fn total_checkouts(&self, which: CheckoutFilter, most: u32) -> Stored<'_, CheckoutTotals>;

    /// Counts the checkouts that a person has to look at, by why; of each kind up to a limit.
    fn count_needs(&self) -> Stored<'_, Vec<(Need, u64)>>;

    /// Reads all that happened to a checkout.
    fn history(&self, id: CheckoutId) -> Stored<'_, Option<History>>;

    /// Reads when the gateway last reported on a payment, where it reported it as pending. Nothing where the last report was another
    /// one, also one that could not be read: it may be that of the charge.
    fn last_pending_report(&self, payment: PaymentId) -> Stored<'_, Option<Millis>>;

    /// Records that money of an overpaid checkout was given back. Rejected where there is no such checkout.
    fn record_refund(&self, refund: RecordRefund) -> Stored<'_, RefundOutcome>;

    /// Reads what was charged in a time, the first one first.
    fn charges(&self, period: Period, most: u32) -> Stored<'_, Charges>;

    /// Reads how payments ended in a time, hour by hour, from so many events at most.
    fn ends(&self, period: Period, most: u32) -> Stored<'_, Ends>;

    /// The moment, by the database's clock.
    fn moment(&self) -> Stored<'_, Millis>;

    /// How the last statement of the gateway was read, as the staff's pages write it.
    fn statement_mapping(&self) -> Stored<'_, Option<String>>;

    /// Stores how a statement was read.
    fn set_statement_mapping(&self, mapping: String) -> Stored<'_, ()>;

    /// Stores a callback to an address that no payment has, in place of the oldest one where there are too many.
    fn record_unknown_callback(&self, callback: UnknownCallback) -> Stored<'_, ()>;

    /// Reads those that are stored, the newest first.
    fn unknown_callbacks(&self) -> Stored<'_, Vec<StoredUnknownCallback>>;

    /// Counts those that are stored.
    fn count_unknown_callbacks(&self) -> Stored<'_, u64>;

    /// Removes those to which none came after a moment, because a person has looked; how many were.
    fn remove_unknown_callbacks(&self, until: Millis) -> Stored<'_, u64>;

    /// Counts what there is now, cheaply at any size.
    fn statistics(&self) -> Stored<'_, Statistics>;

    /// Whether it can be written: commits something that changes nothing, and waits until it is on the disk.
    fn check_writable(&self) -> Stored<'_, ()>;

    /// The channel to the other servers on this database, if there is one.
    fn peers(&self) -> Option<Arc<dyn PeerChannel>> {
        None
    }
}

// Errors: failures of the database, and requests that the state does not allow.

/// Why a transaction did not happen, or may not have happened.
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
        /// The error text.
        detail: String,
    },
    /// The database cannot be reached. Nothing was written.
    #[error("the database cannot be reached: {detail}")]
    #[non_exhaustive]
    Unreachable {
        /// The error text of the database or the system.
        detail: String,
    },
    /// Too much waits for the database. Nothing was written.
    #[error("the database is busy, and nothing was written")]
    Busy,
    /// The request was refused, by rules and by what is stored. The transaction was rolled back: nothing was written.
    #[error(transparent)]
    Rejected(ServerError),
    /// A value in it that this server did not write.
    #[error("the database holds a {what} that cannot be read")]
    #[non_exhaustive]
    Damaged {
        /// The damaged thing.
        what: &'static str,
    },
}

impl StorageError {
    /// A failure, in its own words.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self::Failed { detail: detail.into() }
    }

    /// There is no such thing.
    fn not_found(what: &'static str) -> Self {
        Self::Rejected(ServerError::NotFound { what })
    }

    /// Whether nothing was written for certain.
    pub fn wrote_nothing(&self) -> bool {
        matches!(self, Self::Busy | Self::Unreachable { .. } | Self::Newer { .. } | Self::Rejected(_))
    }

    /// Whether the database failed. A request that was refused is no failure.
    fn is_failure(&self) -> bool {
        !matches!(self, Self::Rejected(_))
    }
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<StorageError> for ServerError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Rejected(rejected) => rejected,
            failed => Self::unavailable(failed.to_string()),
        }
    }
}

impl From<ServerError> for StorageError {
    fn from(error: ServerError) -> Self {
        match error {
            // No rule says this, and what it was converted from may have been written.
            ServerError::Unavailable { detail } => Self::Failed { detail },
            rejected => Self::Rejected(rejected),
        }
    }
}

// Other servers on the same database. What they say wakes those who wait for a change, and nothing more: what is not heard is
// seen a little later all the same.

/// Listens for a checkout that changed, or that any may have changed.
pub type Wake<'a> = &'a (dyn Fn(Option<&CheckoutId>) + Send + Sync);

/// The others (publish and subscribe, best effort).
pub trait PeerChannel: Send + Sync {
    /// Tells them that checkouts changed.
    fn tell(&self, changed: Vec<CheckoutId>) -> Stored<'_, ()>;

    /// Hears them, until they can no longer be heard.
    fn hear<'a>(&'a self, wake: Wake<'a>) -> Stored<'a, ()>;
}
