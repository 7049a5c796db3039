//! Connections to PostgreSQL, and running transactions on them: each within a deadline, retried after a conflict, and never
//! retried if its commit is uncertain.

use std::{
    future::{pending, poll_fn},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Metrics, Object, Pool, PoolError, RecyclingMethod, Runtime,
};
use futures_util::future::{BoxFuture, Either, select};
use tokio::{runtime::Handle, time::timeout};
use tokio_postgres::AsyncMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    session::{NOT_ON_DISK, Problem, Session, error_text},
    settings::PostgresSettings,
};
use crate::{
    storage::{PeerChannel, StorageError, Stored, Wake},
    values::CheckoutId,
};

/// The deadline of a whole transaction, after which its caller gets a response.
const DEADLINE: Duration = Duration::from_secs(20);
/// The time that a caller waits for a connection before the call fails, with nothing written.
const WAITING: Duration = Duration::from_secs(5);
/// The deadline of connecting, for each of the hosts that are tried in turn.
const CONNECTING_TO_EACH: Duration = Duration::from_secs(4);
/// The pause between attempts to connect until the deadline.
const BEFORE_NEXT: Duration = Duration::from_millis(200);
/// The number of waiting callers from which new ones are refused (admission control).
const LONGEST_QUEUE: usize = 2048;
/// The most attempts of a transaction that conflicts with another one.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(2);

/// The settings of each connection. A transaction whose owner is gone (stopped, cut off) holds its locks no longer than this.
/// Plans are made once (generic plans), perhaps when a table was still empty: queries by index must use it from the beginning.
const SET_UP: &str = "SELECT
    set_config('statement_timeout', '10s', FALSE), set_config('lock_timeout', '5s', FALSE),
    set_config('idle_in_transaction_session_timeout', '15s', FALSE), set_config('TimeZone', 'UTC', FALSE),
    set_config('plan_cache_mode', 'force_generic_plan', FALSE), set_config('enable_seqscan', 'off', FALSE),
    set_config('enable_hashjoin', 'off', FALSE), set_config('enable_mergejoin', 'off', FALSE),
    set_config('jit', 'off', FALSE),
    set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
        THEN 'on' ELSE current_setting('synchronous_commit') END, FALSE)";

/// A plan is made for the table's current size, and a full scan of an index is best for a few rows. So plans are remade at
/// intervals: PostgreSQL does that only when it analyzes a table, up to a minute later.
const FORGET_PLANS: &str = "DISCARD PLANS";
const PLANS_ARE_GOOD_FOR: Duration = Duration::from_secs(10);

/// Keepalive at PostgreSQL's end: a connection of a vanished server counts among `max_connections` until PostgreSQL notices,
/// which by the system's defaults takes two hours.
pub(super) const WATCH_THE_LINE: &str = "SELECT
    set_config('tcp_keepalives_idle', '10', FALSE), set_config('tcp_keepalives_interval', '2', FALSE),
    set_config('tcp_keepalives_count', '3', FALSE), set_config('tcp_user_timeout', '10s', FALSE)";

/// A transaction's work on its input.
pub(super) type Work<I, T> = for<'a> fn(&'a Session, &'a I) -> BoxFuture<'a, Result<T, Problem>>;

/// The kind of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A new request of a caller: it can be refused if too many wait.
    Write,
    /// The server continues work that it began: it waits.
    GoOn,
    /// A read-only transaction on one snapshot.
    Read,
}

impl Kind {
    fn begin(self) -> &'static str {
        match self {
            Self::Write | Self::GoOn => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        }
    }
}

/// The connections of one server.
#[derive(Clone)]
pub(super) struct Connections {
    pool: Pool,
    waiting: Arc<AtomicUsize>,
    runtime: Handle,
}

impl Connections {
    /// Connects only when a connection is needed.
    pub(super) fn new(settings: &PostgresSettings) -> Result<Self, StorageError> {
        let tls = MakeRustlsConnect::new(settings.tls()?);
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(settings.config(), tls, recycling);
        let set_up = Hook::async_fn(|client: &mut ClientWrapper, _| {
            Box::pin(async move {
                client.batch_execute(&format!("{WATCH_THE_LINE}; {SET_UP}")).await.map_err(HookError::Backend)
            })
        });
        let forget_plans = Hook::async_fn(|client: &mut ClientWrapper, metrics| {
            let is_time = are_plans_old(metrics);
            Box::pin(async move {
                if !is_time {
                    return Ok(());
                }
                // A dead connection reports nothing: another one is used.
                let forgotten = timeout(CONNECTING_TO_EACH, client.batch_execute(FORGET_PLANS)).await;
                forgotten.map_err(|_| HookError::message("no answer"))?.map_err(HookError::Backend)
            })
        });
        let pool = Pool::builder(manager)
            .max_size(settings.connections() as usize)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAITING))
            .create_timeout(Some((CONNECTING_TO_EACH * settings.hosts()).min(DEADLINE - CONNECTING_TO_EACH)))
            .post_create(set_up)
            .pre_recycle(forget_plans)
            .build()
            .map_err(|problem| StorageError::failed(problem.to_string()))?;
        Ok(Self { pool, waiting: Arc::default(), runtime: Handle::current() })
    }

    /// Runs a transaction. It continues if its caller gives up, and any executor may wait for it.
    pub(super) async fn run<I, T>(&self, kind: Kind, input: I, work: Work<I, T>) -> Result<T, StorageError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let connections = self.clone();
        let task = self.runtime.spawn(async move { connections.run_in_time(kind, input, work).await });
        task.await
            .unwrap_or_else(|_| Err(StorageError::failed("the transaction was abandoned, and its outcome is unknown")))
    }

    async fn run_in_time<I: Sync, T: Send>(&self, kind: Kind, input: I, work: Work<I, T>) -> Result<T, StorageError> {
        let too_late =
            || StorageError::failed("it did not answer in time, and the outcome of the transaction is unknown");
        timeout(DEADLINE, self.run_until_done(kind, &input, work)).await.unwrap_or_else(|_| Err(too_late()))
    }

    async fn run_until_done<I: Sync, T: Send>(
        &self,
        kind: Kind,
        input: &I,
        work: Work<I, T>,
    ) -> Result<T, StorageError> {
        let mut tries = 1;
        loop {
            let client = match kind {
                Kind::GoOn => self.connection_in_the_end().await,
                Kind::Write | Kind::Read => self.connection(kind).await?,
            };
            let mut session = Session::new(client, kind.begin());
            let result = match work(&session, input).await {
                Ok(value) => session.commit().await.map(|()| value),
                Err(problem) => Err(problem),
            };
            let problem = match result {
                Ok(value) => {
                    session.end();
                    return Ok(value);
                }
                Err(problem) => problem,
            };
            let is_lost = problem.is_of_the_connection();
            let is_unknown = is_lost && session.is_end_unknown() && kind != Kind::Read;
            if is_lost {
                drop(session);
            } else {
                session.roll_back().await;
            }
            if is_unknown || tries >= TRIES || !(is_lost || problem.is_conflict()) {
                return Err(problem.into());
            }
            tokio::time::sleep(PAUSE * tries).await;
            tries += 1;
        }
    }

    /// A connection for work other than a caller's transaction.
    pub(super) async fn client(&self) -> Result<Object, StorageError> {
        self.connection(Kind::GoOn).await
    }

    /// Retries until the deadline, so that work that the server began survives a short outage of the database.
    async fn connection_in_the_end(&self) -> Object {
        loop {
            match self.connection(Kind::GoOn).await {
                Ok(client) => return client,
                Err(problem) => tracing::debug!(target: "kassa_server", %problem, "connecting again"),
            }
            tokio::time::sleep(BEFORE_NEXT).await;
        }
    }

    async fn connection(&self, kind: Kind) -> Result<Object, StorageError> {
        let waiting = Waiting::new(&self.waiting);
        if waiting.others >= LONGEST_QUEUE && kind != Kind::GoOn {
            return Err(StorageError::Busy);
        }
        self.pool.get().await.map_err(|problem| match problem {
            PoolError::Timeout(deadpool_postgres::TimeoutType::Wait) => StorageError::Busy,
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                StorageError::Unreachable { detail: error_text(&error) }
            }
            PoolError::Timeout(_) => StorageError::Unreachable { detail: "it does not answer".to_owned() },
            other => StorageError::Unreachable { detail: other.to_string() },
        })
    }
}

/// A counted waiting caller.
struct Waiting<'a> {
    all: &'a AtomicUsize,
    others: usize,
}

impl<'a> Waiting<'a> {
    fn new(all: &'a AtomicUsize) -> Self {
        Self { all, others: all.fetch_add(1, Ordering::AcqRel) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Whether the time to remake plans has passed since the connection's last use.
fn are_plans_old(metrics: &Metrics) -> bool {
    let times = |age: Duration| age.as_secs() / PLANS_ARE_GOOD_FOR.as_secs();
    let used = metrics.recycled.unwrap_or(metrics.created);
    times(metrics.created.elapsed()) > times(used.saturating_duration_since(metrics.created))
}

// NOTIFY and LISTEN: servers wake each other. A notification takes a lock of the whole cluster at its commit, so many changes
// share one, outside of the transactions that make them.

const LISTEN: &str = "LISTEN kassa_changes";
const NOTIFY: &str = "SELECT pg_notify('kassa_changes', payload) FROM unnest($1::text[]) AS payload";
/// A payload is shorter than 8,000 bytes; an identifier has 36.
const IN_A_PAYLOAD: usize = 150;
const CONNECTING: Duration = Duration::from_secs(5);

/// The channel between the servers of a database.
pub(super) struct Channel {
    pub(super) connections: Connections,
    pub(super) settings: PostgresSettings,
    /// The name under which this server notifies the others.
    pub(super) name: String,
}

impl PeerChannel for Channel {
    fn tell(&self, changed: Vec<CheckoutId>) -> Stored<'_, ()> {
        let one = |some: &[CheckoutId]| {
            let ids = some.iter().map(CheckoutId::as_str);
            std::iter::once(self.name.as_str()).chain(ids).collect::<Vec<_>>().join(" ")
        };
        let payloads: Vec<String> = changed.chunks(IN_A_PAYLOAD).map(one).collect();
        Box::pin(self.connections.run(Kind::Write, payloads, |db, payloads| Box::pin(notify(db, payloads))))
    }

    fn hear<'a>(&'a self, wake: Wake<'a>) -> Stored<'a, ()> {
        Box::pin(async move { self.listen(wake).await.map_err(|problem| StorageError::failed(error_text(&problem))) })
    }
}

async fn notify(db: &Session, payloads: &[String]) -> Result<(), Problem> {
    db.together(vec![(NOT_ON_DISK, vec![]), (NOTIFY, vec![&payloads])]).await?;
    Ok(())
}

impl Channel {
    /// Listens on a connection of its own, because others use the pool's connections in between.
    async fn listen(&self, wake: Wake<'_>) -> Result<(), tokio_postgres::Error> {
        let Ok(tls) = self.settings.tls() else { return Ok(()) };
        let config = self.settings.config();
        let Ok(connected) = timeout(CONNECTING, config.connect(MakeRustlsConnect::new(tls))).await else {
            return Ok(());
        };
        let (client, mut connection) = connected?;
        let mut listening = pin!(async {
            client.batch_execute(WATCH_THE_LINE).await?;
            client.batch_execute(LISTEN).await?;
            // Earlier notifications were missed.
            wake(None);
            pending::<Result<(), tokio_postgres::Error>>().await
        });
        loop {
            let message = pin!(poll_fn(|context| connection.poll_message(context)));
            match select(message, &mut listening).await {
                Either::Left((Some(message), _)) => self.heard(message?, wake),
                Either::Left((None, _)) => return Ok(()),
                Either::Right((failed, _)) => return failed,
            }
        }
    }

    fn heard(&self, message: AsyncMessage, wake: Wake<'_>) {
        let AsyncMessage::Notification(said) = message else { return };
        let mut words = said.payload().split(' ');
        if words.next() == Some(self.name.as_str()) {
            return;
        }
        // Another program may use the channel, too.
        words.filter_map(|word| word.parse().ok()).for_each(|id: CheckoutId| wake(Some(&id)));
    }
}
