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
/// back. All times are the database's.
pub trait Storage: Send + Sync + 'static {
    /// Opens a checkout, or finds the one that was opened before with this reference and the same content. Rejected if the
    /// reference was used with other content.
    fn open_checkout(&self, new: OpenCheckout) -> Stored<'_, CheckoutView>;

    /// Reads a checkout with its payments.
    fn checkout(&self, lookup: CheckoutLookup) -> Stored<'_, Option<CheckoutView>>;

    /// Cancels an open checkout; `by` names the person, if a person does. A cancelled one is unchanged. Rejected if there is no
    /// such checkout, if it ended otherwise, or if a payment of it is in progress.
    fn cancel_checkout(&self, id: CheckoutId, by: Option<DecidedBy>) -> Stored<'_, CheckoutView>;

    /// Adds a client token to a checkout; false if there is no such checkout.
    fn add_token(&self, new: NewToken) -> Stored<'_, bool>;

    /// Whether a client token was valid before it expired or was revoked.
    fn was_token(&self, hash: TokenHash) -> Stored<'_, bool>;

    /// Revokes all client tokens of a checkout.
    fn revoke_tokens(&self, id: CheckoutId) -> Stored<'_, u64>;

    /// Adds an API key.
    fn add_api_key(&self, new: NewApiKey) -> Stored<'_, ()>;

    /// Reads an API key, even a revoked one.
    fn api_key(&self, id: ApiKeyId) -> Stored<'_, Option<ApiKeyRow>>;

    /// Reads all API keys, the first one first.
    fn api_keys(&self) -> Stored<'_, Vec<ApiKeyRow>>;

    /// Revokes a key, and ends its sessions; false if there is no valid one.
    fn revoke_api_key(&self, id: ApiKeyId) -> Stored<'_, bool>;

    /// Records a payment before it is sent, or finds the one that was begun before by the same request: that one is unchanged.
    /// Rejected if there is no such checkout, it is not open, another payment of it may still take money, no attempts are left,
    /// or the key was used with another body.
    fn begin_payment(&self, begin: BeginPayment) -> Stored<'_, RecordedPayment>;

    /// Takes a waiting payment, to send it now.
    fn take_prepared(&self, take: TakePrepared) -> Stored<'_, SendTurn>;

    /// Records the result of sending a payment.
    fn record_send_outcome(&self, sent: SendOutcome) -> Stored<'_, RecordedPayment>;

    /// Records that a one-time password is about to be sent; the payment is unchanged if the same request recorded it before.
    /// Rejected like [`begin_payment`](Self::begin_payment), and if the payment awaits no password.
    fn begin_confirmation(&self, begin: BeginConfirmation) -> Stored<'_, RecordedPayment>;

    /// Records the result of sending a one-time password.
    fn record_confirmation(&self, confirmed: ConfirmationOutcome) -> Stored<'_, RecordedPayment>;

    /// Records a person's decision about a payment in doubt. Rejected if there is no such payment, or nothing to decide.
    fn resolve(&self, resolve: Resolve) -> Stored<'_, Decision>;

    /// Makes payments due at once. Rejected if a callback's address is unknown.
    fn record_hint(&self, hint: Hint) -> Stored<'_, HintOutcome>;

    /// Applies timeouts, checkout expiry and retention, in limited batches.
    fn sweep(&self, sweep: Sweep) -> Stored<'_, SweepOutcome>;

    /// Claims due polls.
    fn claim_polls(&self, claim: ClaimPolls) -> Stored<'_, ClaimedPolls>;

    /// Records the gateway's answers.
    fn record_poll_results(&self, answers: Vec<PollResult>) -> Stored<'_, ChangedCheckouts>;

    /// Reads the events after a cursor, in the order in which they were committed. Rejected if the cursor's event is not in this
    /// database, which was restored from a backup.
    fn events_after(&self, cursor: Cursor, most: u32) -> Stored<'_, Vec<Event>>;

    /// Claims the next event of each due stream.
    fn claim_deliveries(&self, claim: ClaimDeliveries) -> Stored<'_, Deliveries>;

    /// Records the results of deliveries. Returns the events that are skipped from now on.
    fn record_deliveries(&self, delivered: Vec<DeliveryOutcome>) -> Stored<'_, Vec<SkippedEvent>>;

    /// Restarts streams of events that were given up, or that skipped a refused event, of one checkout or of all. Returns their
    /// number. Each continues from its first refused event, and later events are delivered again.
    fn replay(&self, checkout: Option<CheckoutId>) -> Stored<'_, u64>;

    /// Adds a staff session; false if its key is not a valid staff key.
    fn add_staff_session(&self, new: NewStaffSession) -> Stored<'_, bool>;

    /// Reads a session that is not over, with a valid key.
    fn staff_session(&self, hash: TokenHash) -> Stored<'_, Option<StaffSession>>;

    /// Records that a session is used, so that it lasts longer, within its limit.
    fn use_staff_session(&self, hash: TokenHash) -> Stored<'_, ()>;

    /// Ends a session.
    fn end_staff_session(&self, hash: TokenHash) -> Stored<'_, ()>;

    /// Reads a page of the list of checkouts.
    fn list_checkouts(&self, list: ListCheckouts) -> Stored<'_, CheckoutList>;

    /// Adds up the results of a filter, of at most `most` checkouts.
    fn total_checkouts(&self, which: CheckoutFilter, most: u32) -> Stored<'_, CheckoutTotals>;

    /// Counts the checkouts that need a person, by reason, each up to a limit.
    fn count_needs(&self) -> Stored<'_, Vec<(Need, u64)>>;

    /// Reads the history of a checkout.
    fn history(&self, id: CheckoutId) -> Stored<'_, Option<History>>;

    /// Reads the time of the gateway's last report on a payment, if it was pending. `None` after any other report, even an
    /// unreadable one: it may be that of the charge.
    fn last_pending_report(&self, payment: PaymentId) -> Stored<'_, Option<Millis>>;

    /// Records a refund of an overpaid checkout. Rejected if there is no such checkout.
    fn record_refund(&self, refund: RecordRefund) -> Stored<'_, RefundOutcome>;

    /// Reads the charges of a period, the oldest first.
    fn charges(&self, period: Period, most: u32) -> Stored<'_, Charges>;

    /// Reads the ends of payments in a period, hour by hour, from at most `most` events.
    fn ends(&self, period: Period, most: u32) -> Stored<'_, Ends>;

    /// The time, by the database's clock.
    fn moment(&self) -> Stored<'_, Millis>;

    /// The mapping of the last statement of the gateway, as the staff pages stored it.
    fn statement_mapping(&self) -> Stored<'_, Option<String>>;

    /// Stores the mapping of a statement.
    fn set_statement_mapping(&self, mapping: String) -> Stored<'_, ()>;

    /// Stores a callback to an address that no payment has, in place of the oldest one if there are too many.
    fn record_unknown_callback(&self, callback: UnknownCallback) -> Stored<'_, ()>;

    /// Reads the stored unknown callbacks, the newest first.
    fn unknown_callbacks(&self) -> Stored<'_, Vec<StoredUnknownCallback>>;

    /// Counts the stored unknown callbacks.
    fn count_unknown_callbacks(&self) -> Stored<'_, u64>;

    /// Removes unknown callbacks without a repetition after a time, because a person has reviewed them. Returns their number.
    fn remove_unknown_callbacks(&self, until: Millis) -> Stored<'_, u64>;

    /// Counts the current figures, cheaply at any size.
    fn statistics(&self) -> Stored<'_, Statistics>;

    /// Checks that it can be written: commits a change without effect, and waits until it is on the disk.
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
        /// The database's version.
        found: i64,
        /// The newest supported version.
        supported: i64,
    },
    /// The database cannot be read or written. The write may or may not have happened.
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
    /// Too many jobs wait for the database. Nothing was written.
    #[error("the database is busy, and nothing was written")]
    Busy,
    /// The request was refused by the rules, given the stored state. The transaction was rolled back: nothing was written.
    #[error(transparent)]
    Rejected(ServerError),
    /// A stored value that this server cannot have written.
    #[error("the database holds a {what} that cannot be read")]
    #[non_exhaustive]
    Damaged {
        /// The damaged thing.
        what: &'static str,
    },
}

impl StorageError {
    /// A failure, with its error text.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self::Failed { detail: detail.into() }
    }

    /// The rejection for a missing item.
    fn not_found(what: &'static str) -> Self {
        Self::Rejected(ServerError::NotFound { what })
    }

    /// Whether certainly nothing was written.
    pub fn wrote_nothing(&self) -> bool {
        matches!(self, Self::Busy | Self::Unreachable { .. } | Self::Newer { .. } | Self::Rejected(_))
    }

    /// Whether the database failed. A refused request is not a failure.
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
            // Not a rule's rejection: the write may have happened.
            ServerError::Unavailable { detail } => Self::Failed { detail },
            rejected => Self::Rejected(rejected),
        }
    }
}

// Other servers on the same database. Their notifications only wake callers that wait for a change: missed
// ones are noticed a little later.

/// A listener for a changed checkout, or for `None`: any may have changed.
pub type Wake<'a> = &'a (dyn Fn(Option<&CheckoutId>) + Send + Sync);

/// The channel to the other servers (publish and subscribe, best effort).
pub trait PeerChannel: Send + Sync {
    /// Notifies them of changed checkouts.
    fn tell(&self, changed: Vec<CheckoutId>) -> Stored<'_, ()>;

    /// Receives their notifications, until the connection fails.
    fn hear<'a>(&'a self, wake: Wake<'a>) -> Stored<'a, ()>;
}
