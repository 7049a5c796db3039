//! PostgreSQL: one database for any number of servers. Transactions are functions on a `session`, of few round trips;
//! `connections` runs them, and retries those that conflict. The rules of state changes are in the aggregate, as for every
//! storage.

mod aggregates;
mod checkouts;
mod connections;
mod horizon;
mod listing;
mod maintenance;
mod migrations;
mod needs;
mod outbox;
mod payments;
mod polling;
mod polls;
mod rate_limit;
mod rows;
mod saving;
mod schedule;
mod session;
pub mod settings;
mod staff;

use std::sync::{Arc, atomic::AtomicBool};

use connections::{Channel, Connections, Kind, Work};
use horizon::Horizon;
use session::{Problem, Session, first};
use settings::PostgresSettings;

use super::{
    PeerChannel, Storage, StorageError, Stored,
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
    sqlite::connection::DatabaseFile,
    staff::{
        Charges, Ends, History, Need, NewStaffSession, Period, RecordRefund, RefundOutcome, StaffSession, StoredReply,
        StoredUnknownCallback, UnknownCallback,
    },
};
use crate::{
    checkouts::CheckoutView,
    events::Event,
    pace::queues::{METHODS, QUEUES},
    telemetry,
    tokens::{DecidedBy, TokenHash},
    values::{ApiKeyId, CheckoutId, Cursor, Millis, PaymentId},
};

/// The storage of a fleet: any number of servers share the database, and none of them is essential.
#[derive(Clone)]
pub struct PostgresStorage {
    connections: Connections,
    horizons: Arc<Horizons>,
    /// Whether the poll rate waits for the gateway to answer, as this server last saw it.
    is_unheard: Arc<[AtomicBool; METHODS]>,
    channel: Arc<Channel>,
}

/// The positions of this server's scans.
#[derive(Debug, Default)]
struct Horizons {
    polls: Horizon<QUEUES>,
    streams: Horizon<1>,
    sending: Horizon<1>,
    expiring: Horizon<1>,
}

impl PostgresStorage {
    /// Connects, and migrates the tables to this version.
    ///
    /// # Errors
    /// [`StorageError::Newer`] for a newer server's database that this one cannot use, and [`StorageError::Failed`] if it cannot
    /// be reached, is another program's, or does not guarantee durable commits.
    pub async fn open(settings: &PostgresSettings) -> Result<Self, StorageError> {
        let connections = Connections::new(settings)?;
        let mut client = connections.client().await?;
        migrations::check(&client).await?;
        migrations::migrate(&mut client).await?;
        let row = client.query_one("SELECT gen_random_uuid()::text", &[]).await.map_err(Problem::from)?;
        let name = row.try_get(0).map_err(Problem::from)?;
        let channel = Channel { connections: connections.clone(), settings: settings.clone(), name };
        Ok(Self { connections, horizons: Arc::default(), is_unheard: Arc::default(), channel: channel.into() })
    }

    /// Reads the state of a database, and changes nothing.
    ///
    /// # Errors
    /// [`StorageError::Newer`] for a newer server's database, and [`StorageError::Failed`] if it cannot be reached or used.
    pub async fn look(settings: &PostgresSettings) -> Result<DatabaseFile, StorageError> {
        let client = Connections::new(settings)?.client().await?;
        migrations::check(&client).await?;
        Ok(migrations::look(&client).await?)
    }

    /// Reads responses of the gateway after a place in their order, and changes nothing. A place is the identifier of a payment,
    /// and the number of an exchange of it.
    ///
    /// # Errors
    /// [`StorageError::Failed`] if the database cannot be read, and [`StorageError::Damaged`] if a row cannot.
    pub async fn replies(settings: &PostgresSettings, after: &(String, u64)) -> Result<Vec<StoredReply>, StorageError> {
        let client = Connections::new(settings)?.client().await?;
        Ok(rows::replies(&client, after).await?)
    }

    fn run<I, T>(&self, name: &'static str, kind: Kind, input: I, work: Work<I, T>) -> Stored<'_, T>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let span = telemetry::transaction("postgresql", name);
        let transaction = self.connections.run(kind, input, work);
        Box::pin(telemetry::within(span, transaction, StorageError::is_failure))
    }
}

impl Storage for PostgresStorage {
    fn open_checkout(&self, new: OpenCheckout) -> Stored<'_, CheckoutView> {
        self.run("open_checkout", Kind::Write, new, |db, new| Box::pin(checkouts::open(db, new)))
    }

    fn checkout(&self, lookup: CheckoutLookup) -> Stored<'_, Option<CheckoutView>> {
        self.run("checkout", Kind::Read, lookup, |db, lookup| Box::pin(checkouts::find(db, lookup)))
    }

    fn cancel_checkout(&self, id: CheckoutId, by: Option<DecidedBy>) -> Stored<'_, CheckoutView> {
        self.run("cancel_checkout", Kind::Write, (id, by), |db, (id, by)| {
            Box::pin(checkouts::cancel(db, id, by.as_ref()))
        })
    }

    fn add_token(&self, new: NewToken) -> Stored<'_, bool> {
        self.run("add_token", Kind::Write, new, |db, new| Box::pin(checkouts::add_token(db, new)))
    }

    fn was_token(&self, hash: TokenHash) -> Stored<'_, bool> {
        self.run("was_token", Kind::Read, hash, |db, hash| Box::pin(checkouts::was_token(db, hash)))
    }

    fn revoke_tokens(&self, id: CheckoutId) -> Stored<'_, u64> {
        self.run("revoke_tokens", Kind::Write, id, |db, id| Box::pin(checkouts::revoke_tokens(db, id)))
    }

    fn add_api_key(&self, new: NewApiKey) -> Stored<'_, ()> {
        self.run("add_api_key", Kind::Write, new, |db, new| Box::pin(checkouts::add_api_key(db, new)))
    }

    fn api_key(&self, id: ApiKeyId) -> Stored<'_, Option<ApiKeyRow>> {
        self.run("api_key", Kind::Read, id, |db, id| Box::pin(checkouts::find_api_key(db, id)))
    }

    fn api_keys(&self) -> Stored<'_, Vec<ApiKeyRow>> {
        self.run("api_keys", Kind::Read, (), |db, _| Box::pin(checkouts::all_api_keys(db)))
    }

    fn revoke_api_key(&self, id: ApiKeyId) -> Stored<'_, bool> {
        self.run("revoke_api_key", Kind::Write, id, |db, id| Box::pin(checkouts::revoke_api_key(db, id)))
    }

    fn begin_payment(&self, begin: BeginPayment) -> Stored<'_, RecordedPayment> {
        self.run("begin_payment", Kind::Write, begin, |db, begin| Box::pin(payments::begin(db, begin)))
    }

    fn take_prepared(&self, take: TakePrepared) -> Stored<'_, SendTurn> {
        self.run("take_prepared", Kind::GoOn, take, |db, take| Box::pin(payments::take_prepared(db, take)))
    }

    fn record_send_outcome(&self, sent: SendOutcome) -> Stored<'_, RecordedPayment> {
        self.run("record_send_outcome", Kind::GoOn, sent, |db, sent| Box::pin(payments::record_send_outcome(db, sent)))
    }

    fn begin_confirmation(&self, begin: BeginConfirmation) -> Stored<'_, RecordedPayment> {
        self.run("begin_confirmation", Kind::Write, begin, |db, begin| {
            Box::pin(payments::begin_confirmation(db, begin))
        })
    }

    fn record_confirmation(&self, confirmed: ConfirmationOutcome) -> Stored<'_, RecordedPayment> {
        self.run("record_confirmation", Kind::GoOn, confirmed, |db, confirmed| {
            Box::pin(payments::record_confirmation(db, confirmed))
        })
    }

    fn resolve(&self, resolve: Resolve) -> Stored<'_, Decision> {
        self.run("resolve", Kind::Write, resolve, |db, resolve| Box::pin(payments::resolve(db, resolve)))
    }

    fn record_hint(&self, hint: Hint) -> Stored<'_, HintOutcome> {
        self.run("record_hint", Kind::Write, hint, |db, hint| Box::pin(payments::record_hint(db, hint)))
    }

    fn sweep(&self, sweep: Sweep) -> Stored<'_, SweepOutcome> {
        Box::pin(self.sweep_all(sweep))
    }

    fn claim_polls(&self, claim: ClaimPolls) -> Stored<'_, ClaimedPolls> {
        Box::pin(self.claim(claim))
    }

    fn record_poll_results(&self, answers: Vec<PollResult>) -> Stored<'_, ChangedCheckouts> {
        Box::pin(async move {
            let recorded = self
                .run("record_poll_results", Kind::GoOn, answers, |db, answers| Box::pin(polls::record(db, answers)))
                .await?;
            Ok(self.record_feedback(recorded).await)
        })
    }

    fn events_after(&self, cursor: Cursor, most: u32) -> Stored<'_, Vec<Event>> {
        self.run("events_after", Kind::GoOn, (cursor, most), |db, (cursor, most)| {
            Box::pin(outbox::events_after(db, cursor, *most))
        })
    }

    fn claim_deliveries(&self, claim: ClaimDeliveries) -> Stored<'_, Deliveries> {
        Box::pin(async move {
            let horizon = &self.horizons.streams;
            let scan = horizon.scan();
            let claimed = self.run("claim_deliveries", Kind::GoOn, (scan, claim), |db, (scan, claim)| {
                Box::pin(outbox::claim(db, scan, claim))
            });
            match claimed.await {
                Ok((deliveries, found)) => {
                    horizon.came_to(scan, &found);
                    Ok(deliveries)
                }
                Err(problem) => {
                    horizon.ended(scan);
                    Err(problem)
                }
            }
        })
    }

    fn record_deliveries(&self, delivered: Vec<DeliveryOutcome>) -> Stored<'_, Vec<SkippedEvent>> {
        self.run("record_deliveries", Kind::GoOn, delivered, |db, delivered| Box::pin(outbox::record(db, delivered)))
    }

    fn replay(&self, checkout: Option<CheckoutId>) -> Stored<'_, u64> {
        self.run("replay", Kind::Write, checkout, |db, checkout| Box::pin(outbox::replay(db, checkout.as_ref())))
    }

    fn add_staff_session(&self, new: NewStaffSession) -> Stored<'_, bool> {
        self.run("add_staff_session", Kind::Write, new, |db, new| Box::pin(staff::add_session(db, new)))
    }

    fn staff_session(&self, hash: TokenHash) -> Stored<'_, Option<StaffSession>> {
        self.run("staff_session", Kind::Read, hash, |db, hash| Box::pin(staff::session(db, hash)))
    }

    fn use_staff_session(&self, hash: TokenHash) -> Stored<'_, ()> {
        self.run("use_staff_session", Kind::Write, hash, |db, hash| Box::pin(staff::use_session(db, hash)))
    }

    fn end_staff_session(&self, hash: TokenHash) -> Stored<'_, ()> {
        self.run("end_staff_session", Kind::Write, hash, |db, hash| Box::pin(staff::end_session(db, hash)))
    }

    fn list_checkouts(&self, list: ListCheckouts) -> Stored<'_, CheckoutList> {
        self.run("list_checkouts", Kind::Read, list, |db, list| Box::pin(listing::list(db, list)))
    }

    fn total_checkouts(&self, which: CheckoutFilter, most: u32) -> Stored<'_, CheckoutTotals> {
        self.run("total_checkouts", Kind::Read, (which, most), |db, (which, most)| {
            Box::pin(listing::totals(db, which, *most))
        })
    }

    fn count_needs(&self) -> Stored<'_, Vec<(Need, u64)>> {
        self.run("count_needs", Kind::Read, (), |db, _| Box::pin(staff::count_needs(db)))
    }

    fn history(&self, id: CheckoutId) -> Stored<'_, Option<History>> {
        self.run("history", Kind::Read, id, |db, id| Box::pin(staff::history(db, id)))
    }

    fn last_pending_report(&self, payment: PaymentId) -> Stored<'_, Option<Millis>> {
        self.run("last_pending_report", Kind::Read, payment, |db, payment| {
            Box::pin(staff::last_pending_report(db, payment))
        })
    }

    fn record_refund(&self, refund: RecordRefund) -> Stored<'_, RefundOutcome> {
        self.run("record_refund", Kind::Write, refund, |db, refund| Box::pin(checkouts::record_refund(db, refund)))
    }

    fn charges(&self, period: Period, most: u32) -> Stored<'_, Charges> {
        self.run("charges", Kind::Read, (period, most), |db, (period, most)| {
            Box::pin(staff::charges(db, *period, *most))
        })
    }

    fn ends(&self, period: Period, most: u32) -> Stored<'_, Ends> {
        self.run("ends", Kind::Read, (period, most), |db, (period, most)| Box::pin(staff::ends(db, *period, *most)))
    }

    fn moment(&self) -> Stored<'_, Millis> {
        self.run("moment", Kind::Read, (), |db, _| Box::pin(moment(db)))
    }

    fn statement_mapping(&self) -> Stored<'_, Option<String>> {
        self.run("statement_mapping", Kind::Read, (), |db, _| Box::pin(staff::statement_mapping(db)))
    }

    fn set_statement_mapping(&self, mapping: String) -> Stored<'_, ()> {
        self.run("set_statement_mapping", Kind::Write, mapping, |db, mapping| {
            Box::pin(staff::set_statement_mapping(db, mapping))
        })
    }

    fn record_unknown_callback(&self, callback: UnknownCallback) -> Stored<'_, ()> {
        self.run("record_unknown_callback", Kind::Write, callback, |db, callback| {
            Box::pin(staff::record_unknown_callback(db, callback))
        })
    }

    fn unknown_callbacks(&self) -> Stored<'_, Vec<StoredUnknownCallback>> {
        self.run("unknown_callbacks", Kind::Read, (), |db, _| Box::pin(staff::unknown_callbacks(db)))
    }

    fn count_unknown_callbacks(&self) -> Stored<'_, u64> {
        self.run("count_unknown_callbacks", Kind::Read, (), |db, _| Box::pin(staff::count_unknown_callbacks(db)))
    }

    fn remove_unknown_callbacks(&self, until: Millis) -> Stored<'_, u64> {
        self.run("remove_unknown_callbacks", Kind::Write, until, |db, until| {
            Box::pin(staff::remove_unknown_callbacks(db, *until))
        })
    }

    fn statistics(&self) -> Stored<'_, Statistics> {
        self.run("statistics", Kind::Read, (), |db, _| Box::pin(maintenance::count(db)))
    }

    fn check_writable(&self) -> Stored<'_, ()> {
        self.run("check_writable", Kind::GoOn, (), |db, _| Box::pin(maintenance::check_writable(db)))
    }

    fn peers(&self) -> Option<Arc<dyn PeerChannel>> {
        Some(self.channel.clone())
    }
}

async fn moment(db: &Session) -> Result<Millis, Problem> {
    first(Some(&db.rows("SELECT now_ms()", &[]).await?))
}
