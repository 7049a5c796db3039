//! SQLite: one file, one connection that writes. Transactions are synchronous functions on a connection; an [`Executor`] runs
//! them, so that a simulation can run them inline and stop before or after each.

mod aggregates;
mod checkouts;
pub mod connection;
pub mod executor;
mod listing;
mod maintenance;
mod outbox;
mod payments;
mod polls;
mod rows;
mod schedule;
mod staff;
mod threads;

use std::{path::Path, sync::Arc};

use connection::{DatabaseClock, DatabaseFile, now, real_clock};
use executor::{Executor, JobSource, job};
use rusqlite::Connection;
use threads::Threads;
use tokio::sync::oneshot;

use super::{
    Storage, StorageError, Stored,
    inputs::{
        BeginConfirmation, BeginPayment, CheckoutLookup, ClaimDeliveries, ClaimPolls, ConfirmationOutcome,
        DeliveryOutcome, Hint, NewApiKey, NewToken, OpenCheckout, PollResult, Resolve, SendOutcome, Sweep,
        TakePrepared,
    },
    listing::{CheckoutFilter, CheckoutList, CheckoutTotals, ListCheckouts},
    outputs::{
        ApiKeyRow, ChangedCheckouts, ClaimedPolls, Decision, Deliveries, HintOutcome, RecordedPayment, SendTurn,
        SkippedEvent, Statistics, SweepOutcome,
    },
    staff::{
        Charges, Ends, History, Need, NewStaffSession, Period, RecordRefund, RefundOutcome, StaffSession, StoredReply,
        StoredUnknownCallback, UnknownCallback,
    },
};
use crate::{
    checkouts::CheckoutView,
    events::Event,
    runtime::Boxed,
    telemetry,
    tokens::{DecidedBy, TokenHash},
    values::{ApiKeyId, CheckoutId, Cursor, Millis, PaymentId},
};

/// The default storage: a file with WAL and `synchronous=FULL`, written by one thread that commits in groups.
#[derive(Clone)]
pub struct SqliteStorage {
    executor: Arc<dyn Executor>,
}

impl SqliteStorage {
    /// Opens or creates the file.
    ///
    /// # Errors
    /// [`StorageError::Newer`] for a newer server's file, which is not changed, and
    /// [`StorageError::Failed`] if it cannot be used.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        Self::open_with_clock(path, &real_clock())
    }

    /// Opens or creates the file, with a test's clock.
    ///
    /// # Errors
    /// See [`open`](Self::open).
    pub fn open_with_clock(path: &Path, clock: &DatabaseClock) -> Result<Self, StorageError> {
        Ok(Self::over(Arc::new(Threads::open(path, clock)?)))
    }

    /// Reads the state of a file, and changes nothing.
    ///
    /// # Errors
    /// [`StorageError::Newer`] for a newer server's file, and [`StorageError::Failed`] if it cannot be read.
    pub fn look(path: &Path) -> Result<DatabaseFile, StorageError> {
        connection::look(path)
    }

    /// Reads responses of the gateway after a place in their order, and changes nothing. A place is the identifier of a payment,
    /// and the number of an exchange of it.
    ///
    /// # Errors
    /// [`StorageError::Failed`] if the file cannot be read, and [`StorageError::Damaged`] if a row cannot.
    pub fn replies(path: &Path, after: &(String, u64)) -> Result<Vec<StoredReply>, StorageError> {
        rows::replies(&connection::open_to_look(path)?, after)
    }

    /// A storage whose transactions run on this executor.
    pub fn over(executor: Arc<dyn Executor>) -> Self {
        Self { executor }
    }

    /// Runs a caller's job.
    fn write<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Stored<'_, T> {
        let (job, answer) = job(name, JobSource::ByCaller, work);
        answered(name, self.executor.write(job), answer)
    }

    /// Runs a job that the server began.
    fn go_on<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Stored<'_, T> {
        let (job, answer) = job(name, JobSource::ByServer, work);
        answered(name, self.executor.write(job), answer)
    }

    fn read<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
    ) -> Stored<'_, T> {
        let (job, answer) = job(name, JobSource::ByCaller, work);
        answered(name, self.executor.read(job), answer)
    }
}

fn answered<T: Send + 'static>(
    name: &'static str,
    handed_over: Boxed<'static, Result<(), StorageError>>,
    answer: oneshot::Receiver<Result<T, StorageError>>,
) -> Stored<'static, T> {
    let answered = async move {
        handed_over.await?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    };
    Box::pin(telemetry::within(telemetry::transaction("sqlite", name), answered, StorageError::is_failure))
}

fn gone() -> StorageError {
    StorageError::failed("the transaction was not executed, or its outcome is unknown")
}

impl Storage for SqliteStorage {
    fn open_checkout(&self, new: OpenCheckout) -> Stored<'_, CheckoutView> {
        self.write("open_checkout", move |db| checkouts::open(db, &new))
    }

    fn checkout(&self, lookup: CheckoutLookup) -> Stored<'_, Option<CheckoutView>> {
        self.read("checkout", move |db| checkouts::find(db, &lookup))
    }

    fn cancel_checkout(&self, id: CheckoutId, by: Option<DecidedBy>) -> Stored<'_, CheckoutView> {
        self.write("cancel_checkout", move |db| checkouts::cancel(db, &id, by.as_ref()))
    }

    fn add_token(&self, new: NewToken) -> Stored<'_, bool> {
        self.write("add_token", move |db| checkouts::add_token(db, &new))
    }

    fn was_token(&self, hash: TokenHash) -> Stored<'_, bool> {
        self.read("was_token", move |db| checkouts::was_token(db, &hash))
    }

    fn revoke_tokens(&self, id: CheckoutId) -> Stored<'_, u64> {
        self.write("revoke_tokens", move |db| checkouts::revoke_tokens(db, &id))
    }

    fn add_api_key(&self, new: NewApiKey) -> Stored<'_, ()> {
        self.write("add_api_key", move |db| checkouts::add_api_key(db, &new))
    }

    fn api_key(&self, id: ApiKeyId) -> Stored<'_, Option<ApiKeyRow>> {
        self.read("api_key", move |db| checkouts::find_api_key(db, &id))
    }

    fn api_keys(&self) -> Stored<'_, Vec<ApiKeyRow>> {
        self.read("api_keys", checkouts::all_api_keys)
    }

    fn revoke_api_key(&self, id: ApiKeyId) -> Stored<'_, bool> {
        self.write("revoke_api_key", move |db| checkouts::revoke_api_key(db, &id))
    }

    fn begin_payment(&self, begin: BeginPayment) -> Stored<'_, RecordedPayment> {
        self.write("begin_payment", move |db| payments::begin(db, &begin))
    }

    fn take_prepared(&self, take: TakePrepared) -> Stored<'_, SendTurn> {
        self.go_on("take_prepared", move |db| payments::take_prepared(db, &take))
    }

    fn record_send_outcome(&self, sent: SendOutcome) -> Stored<'_, RecordedPayment> {
        self.go_on("record_send_outcome", move |db| payments::record_send_outcome(db, &sent))
    }

    fn begin_confirmation(&self, begin: BeginConfirmation) -> Stored<'_, RecordedPayment> {
        self.write("begin_confirmation", move |db| payments::begin_confirmation(db, &begin))
    }

    fn record_confirmation(&self, confirmed: ConfirmationOutcome) -> Stored<'_, RecordedPayment> {
        self.go_on("record_confirmation", move |db| payments::record_confirmation(db, &confirmed))
    }

    fn resolve(&self, resolve: Resolve) -> Stored<'_, Decision> {
        self.write("resolve", move |db| payments::resolve(db, &resolve))
    }

    fn record_hint(&self, hint: Hint) -> Stored<'_, HintOutcome> {
        self.write("record_hint", move |db| payments::record_hint(db, &hint))
    }

    fn sweep(&self, sweep: Sweep) -> Stored<'_, SweepOutcome> {
        self.go_on("sweep", move |db| polls::sweep(db, sweep))
    }

    fn claim_polls(&self, claim: ClaimPolls) -> Stored<'_, ClaimedPolls> {
        self.go_on("claim_polls", move |db| polls::claim(db, &claim))
    }

    fn record_poll_results(&self, answers: Vec<PollResult>) -> Stored<'_, ChangedCheckouts> {
        self.go_on("record_poll_results", move |db| polls::record(db, &answers))
    }

    fn events_after(&self, cursor: Cursor, most: u32) -> Stored<'_, Vec<Event>> {
        self.read("events_after", move |db| outbox::events_after(db, &cursor, most))
    }

    fn claim_deliveries(&self, claim: ClaimDeliveries) -> Stored<'_, Deliveries> {
        self.go_on("claim_deliveries", move |db| outbox::claim(db, now(db)?, &claim))
    }

    fn record_deliveries(&self, delivered: Vec<DeliveryOutcome>) -> Stored<'_, Vec<SkippedEvent>> {
        self.go_on("record_deliveries", move |db| {
            let now = now(db)?;
            delivered.iter().filter_map(|one| outbox::record(db, now, one).transpose()).collect()
        })
    }

    fn replay(&self, checkout: Option<CheckoutId>) -> Stored<'_, u64> {
        self.write("replay", move |db| outbox::replay(db, now(db)?, checkout.as_ref()))
    }

    fn add_staff_session(&self, new: NewStaffSession) -> Stored<'_, bool> {
        self.write("add_staff_session", move |db| staff::add_session(db, &new))
    }

    fn staff_session(&self, hash: TokenHash) -> Stored<'_, Option<StaffSession>> {
        self.read("staff_session", move |db| staff::session(db, &hash))
    }

    fn use_staff_session(&self, hash: TokenHash) -> Stored<'_, ()> {
        self.write("use_staff_session", move |db| staff::use_session(db, &hash))
    }

    fn end_staff_session(&self, hash: TokenHash) -> Stored<'_, ()> {
        self.write("end_staff_session", move |db| staff::end_session(db, &hash))
    }

    fn list_checkouts(&self, list: ListCheckouts) -> Stored<'_, CheckoutList> {
        self.read("list_checkouts", move |db| listing::list(db, &list))
    }

    fn total_checkouts(&self, which: CheckoutFilter, most: u32) -> Stored<'_, CheckoutTotals> {
        self.read("total_checkouts", move |db| listing::totals(db, &which, most))
    }

    fn count_needs(&self) -> Stored<'_, Vec<(Need, u64)>> {
        self.read("count_needs", staff::count_needs)
    }

    fn history(&self, id: CheckoutId) -> Stored<'_, Option<History>> {
        self.read("history", move |db| staff::history(db, &id))
    }

    fn last_pending_report(&self, payment: PaymentId) -> Stored<'_, Option<Millis>> {
        self.read("last_pending_report", move |db| staff::last_pending_report(db, &payment))
    }

    fn record_refund(&self, refund: RecordRefund) -> Stored<'_, RefundOutcome> {
        self.write("record_refund", move |db| staff::record_refund(db, &refund))
    }

    fn charges(&self, period: Period, most: u32) -> Stored<'_, Charges> {
        self.read("charges", move |db| staff::charges(db, period, most))
    }

    fn ends(&self, period: Period, most: u32) -> Stored<'_, Ends> {
        self.read("ends", move |db| staff::ends(db, period, most))
    }

    fn moment(&self) -> Stored<'_, Millis> {
        self.read("moment", now)
    }

    fn statement_mapping(&self) -> Stored<'_, Option<String>> {
        self.read("statement_mapping", staff::statement_mapping)
    }

    fn set_statement_mapping(&self, mapping: String) -> Stored<'_, ()> {
        self.write("set_statement_mapping", move |db| staff::set_statement_mapping(db, &mapping))
    }

    fn record_unknown_callback(&self, callback: UnknownCallback) -> Stored<'_, ()> {
        self.write("record_unknown_callback", move |db| staff::record_unknown_callback(db, &callback))
    }

    fn unknown_callbacks(&self) -> Stored<'_, Vec<StoredUnknownCallback>> {
        self.read("unknown_callbacks", staff::unknown_callbacks)
    }

    fn count_unknown_callbacks(&self) -> Stored<'_, u64> {
        self.read("count_unknown_callbacks", staff::count_unknown_callbacks)
    }

    fn remove_unknown_callbacks(&self, until: Millis) -> Stored<'_, u64> {
        self.write("remove_unknown_callbacks", move |db| staff::remove_unknown_callbacks(db, until))
    }

    fn statistics(&self) -> Stored<'_, Statistics> {
        self.read("statistics", maintenance::count)
    }

    fn check_writable(&self) -> Stored<'_, ()> {
        self.go_on("check_writable", maintenance::check_writable)
    }
}
