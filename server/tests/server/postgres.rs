//! What PostgreSQL adds: several servers on one database, at once.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use kassa::FakeGateway;
use kassa_server::{
    CheckoutId, CheckoutState, Cursor, Event, EventKind, Failure, Method, PaymentId, PaymentState, PostgresSettings,
    PostgresStorage, Server, ServerError, ServerSettings, Storage, StorageError, TokioRuntime,
    storage::{
        inputs::{BeginPayment, ClaimPolls, Hint, Report, SendOutcome, SendResult, Slots},
        outputs::ClaimedPolls,
    },
};
use kassa_test_patience::{patience, wait_until};
use kassa_test_postgres::{Cluster, Database};
use tokio::{runtime::Runtime, task::JoinSet};

use crate::storage::{SWEEP, accepted, answer, begin, deliver, id, is_new, new, payment_id, refusal};

/// So many servers share a database.
const SERVERS: usize = 4;
const CHECKOUTS: u8 = 12;

async fn servers(database: &Database<'_>) -> Vec<Arc<PostgresStorage>> {
    let settings = PostgresSettings::parse(&database.url()).unwrap();
    // All bring the tables up at once, as a fleet does that starts.
    let mut opening = JoinSet::new();
    for _ in 0..SERVERS {
        let settings = settings.clone();
        opening.spawn(async move { Arc::new(PostgresStorage::open(&settings).await.unwrap()) });
    }
    opening.join_all().await
}

/// The answers of all servers to the same thing, asked of all at once for every checkout.
async fn race<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    servers: &[Arc<PostgresStorage>],
    ask: impl Fn(Arc<PostgresStorage>, u8, u8) -> F,
) -> Vec<T> {
    let mut racing = JoinSet::new();
    for checkout in 1..=CHECKOUTS {
        for (at, server) in servers.iter().enumerate() {
            racing.spawn(ask(server.clone(), checkout, u8::try_from(at).unwrap()));
        }
    }
    racing.join_all().await
}

/// A payment of each server's own.
fn own(checkout: u8, server: u8) -> BeginPayment {
    begin(checkout, checkout * 10 + server, Method::Mbank)
}

async fn open_and_begin(servers: &[Arc<PostgresStorage>]) -> Vec<(CheckoutId, PaymentId)> {
    let open = |server: Arc<PostgresStorage>, checkout, _| async move { server.open_checkout(new(checkout)).await };
    let opened = race(servers, open).await.into_iter().collect::<Result<Vec<_>, StorageError>>().unwrap();
    assert_eq!(opened.len(), SERVERS * usize::from(CHECKOUTS));
    let begin = |server: Arc<PostgresStorage>, checkout, at| async move {
        (checkout, server.begin_payment(own(checkout, at)).await)
    };
    let mut new = Vec::new();
    for (checkout, begun) in race(servers, begin).await {
        match begun {
            Ok(begun) if begun.is_changed => new.push((id(checkout), begun.payment.id)),
            other => assert!(matches!(refusal(&other), ServerError::UnderWay { .. }), "{other:?}"),
        }
    }
    new
}

#[test]
fn concurrent_servers_send_a_payment_once() {
    let database = kassa_test_postgres::shared().database();
    Runtime::new().unwrap().block_on(async {
        let servers = servers(&database).await;
        let begun = open_and_begin(&servers).await;
        let mut checkouts: Vec<_> = begun.iter().map(|(checkout, _)| checkout.as_str()).collect();
        checkouts.sort_unstable();
        checkouts.dedup();
        assert_eq!((begun.len(), checkouts.len()), (usize::from(CHECKOUTS), usize::from(CHECKOUTS)));
    });
    let sending = "SELECT COUNT(*), COUNT(DISTINCT checkout_id) FROM payments WHERE state = 'sending'";
    assert_eq!(database.psql(sending), format!("{CHECKOUTS}|{CHECKOUTS}"));
}

/// The polls that each server claims if all claim at once, and a payment of every checkout is due.
async fn claimed_at_once(servers: &[Arc<PostgresStorage>], claim: ClaimPolls) -> Vec<ClaimedPolls> {
    for checkout in 1..=CHECKOUTS {
        servers[0].open_checkout(new(checkout)).await.unwrap();
        let begin = own(checkout, 0);
        let reference = begin.reference.clone();
        servers[0].begin_payment(begin).await.unwrap();
        servers[0].record_send_outcome(accepted(checkout, checkout * 10, reference)).await.unwrap();
        servers[0].record_hint(Hint::Checkout { id: id(checkout), claimed: None }).await.unwrap();
    }
    race(servers, |server, _, _| async move { server.claim_polls(claim).await.unwrap() }).await
}

#[test]
fn concurrent_servers_claim_different_polls() {
    let database = kassa_test_postgres::shared().database();
    let claimed = Runtime::new().unwrap().block_on(async {
        let claim = ClaimPolls { places: Slots::new(2), lease_ms: 60_000, per_second: 500 };
        claimed_at_once(&servers(&database).await, claim).await
    });
    let mut payments: Vec<_> =
        claimed.into_iter().flat_map(|claimed| claimed.questions).map(|poll| poll.payment).collect();
    payments.sort_by_key(ToString::to_string);
    let mut all: Vec<_> = (1..=CHECKOUTS).map(|checkout| payment_id(checkout * 10)).collect();
    all.sort_by_key(ToString::to_string);
    assert_eq!(payments, all, "each once");
}

#[test]
fn poll_rate_is_shared_by_all_servers() {
    let database = kassa_test_postgres::shared().database();
    let begun = Instant::now();
    let claimed = Runtime::new().unwrap().block_on(async {
        let claim = ClaimPolls { places: Slots::new(2), lease_ms: 60_000, per_second: 1 };
        claimed_at_once(&servers(&database).await, claim).await
    });
    let count: usize = claimed.iter().map(|claimed| claimed.questions.len()).sum();
    // One at the beginning, and one for each second since then.
    let most = 1 + begun.elapsed().as_secs() as usize;
    assert!((1..=most).contains(&count), "{count} of {most}");
    let mut waits = claimed.iter().filter(|claimed| claimed.questions.is_empty()).filter_map(|none| none.next_in_ms);
    assert!(waits.any(|wait| (1..=1_000).contains(&wait)), "the others are told when to ask again");
}

/// A newer server beside this one may have written what this one does not know.
#[test]
fn unreadable_payment_blocks_its_checkout() {
    let database = kassa_test_postgres::shared().database();
    Runtime::new().unwrap().block_on(async {
        let server = servers(&database).await.remove(0);
        server.open_checkout(new(1)).await.unwrap();
        server.begin_payment(own(1, 0)).await.unwrap();
        let is_damaged = |problem| matches!(problem, StorageError::Damaged { what: "payment", .. });
        database.psql("UPDATE payments SET state = 'of tomorrow'");
        assert!(server.begin_payment(own(1, 1)).await.is_err_and(is_damaged));
        assert!(server.cancel_checkout(id(1), None).await.is_err_and(is_damaged));
        database.psql("UPDATE checkouts SET expires_at = 0, expiry_due_at = 0");
        assert!(server.sweep(SWEEP).await.unwrap().changed.is_empty());
        assert_eq!(database.psql("SELECT state, expiry_due_at > now_ms() FROM checkouts"), "open|t", "looked at later");
        database.psql("UPDATE checkouts SET state = 'of tomorrow'");
        assert!(server.cancel_checkout(id(1), None).await.is_err(), "it is not told that there is none");
    });
}

/// Nothing of it was sent, so nobody has to look for it: the row may become visible after that is known.
#[test]
fn unsent_payment_in_commit_is_recorded() {
    let cluster = Cluster::start();
    let database = cluster.database();
    Runtime::new().unwrap().block_on(async {
        let server = servers(&database).await.remove(0);
        server.open_checkout(new(1)).await.unwrap();
        // Commits wait for a standby that is not there.
        database.psql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
        database.psql("SELECT pg_reload_conf()");
        until(&database, "SHOW synchronous_standby_names", "nobody");
        // The checkpointer has commits wait, once it has read the setting: before the next checkpoint.
        database.psql("CHECKPOINT");
        let begin = own(1, 0);
        let result = SendResult::NothingHappened { failure: Failure::of_kind("Interrupted"), retry_after: None };
        let sent = SendOutcome { result, ..accepted(1, 10, begin.reference.clone()) };
        let beginning = tokio::spawn({
            let server = server.clone();
            async move { server.begin_payment(begin).await }
        });
        let waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        until(&database, waiting, "1");
        let noting = tokio::spawn({
            let server = server.clone();
            async move { server.record_send_outcome(sent).await }
        });
        until(&database, "SELECT COUNT(*) > 0 FROM pg_locks WHERE NOT granted", "t");
        database.psql("ALTER SYSTEM RESET synchronous_standby_names");
        database.psql("SELECT pg_reload_conf()");
        assert!(is_new(&beginning.await.unwrap()));
        let recorded = noting.await.unwrap().unwrap();
        assert_eq!((recorded.is_changed, recorded.payment.state), (true, PaymentState::NotMade));
    });
}

fn until(database: &Database<'_>, sql: &str, answer: &str) {
    wait_until(&format!("{sql} becomes {answer}"), || database.psql(sql) == answer);
}

/// A machine that lost its power says nothing at all.
#[test]
fn postgres_falls_back_to_second_host() {
    let database = kassa_test_postgres::shared().database();
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let _waiting = fill(silent.local_addr().unwrap());
    let there = format!("127.0.0.1:{},127.0.0.1:", silent.local_addr().unwrap().port());
    let settings = PostgresSettings::parse(&database.url().replacen("127.0.0.1:", &there, 1)).unwrap();
    Runtime::new().unwrap().block_on(PostgresStorage::open(&settings)).unwrap();
}

/// Connects until the system answers no more: nobody takes those connections. On a loopback address the kernel establishes a connection
/// before the system call returns, so on a slow machine, too, the timeout strikes only where the queue is full.
fn fill(address: SocketAddr) -> Vec<TcpStream> {
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok();
    std::iter::from_fn(connect).take(10_000).collect()
}

#[test]
fn event_feed_has_no_gaps_under_writes() {
    let database = kassa_test_postgres::shared().database();
    let seen = Runtime::new().unwrap().block_on(async {
        let servers = servers(&database).await;
        let writing = {
            let servers = servers.clone();
            tokio::spawn(async move { open_and_begin(&servers).await.len() })
        };
        let (mut seen, mut cursor) = (Vec::new(), Cursor::default());
        loop {
            // What was written by now is read by the next look at the latest.
            let is_last = writing.is_finished();
            let events = servers[seen.len() % SERVERS].events_after(cursor.clone(), 5).await.unwrap();
            cursor = events.last().map_or(cursor, Event::cursor);
            if is_last && events.is_empty() {
                break seen;
            }
            seen.extend(events.into_iter().map(|event| event.id));
        }
    });
    assert_eq!(seen.len(), usize::from(CHECKOUTS), "one event a payment that was begun: {seen:?}");
}

#[test]
fn postgres_dead_rows_are_reported() {
    let database = kassa_test_postgres::shared().database();
    let found = Runtime::new().unwrap().block_on(async {
        let server = servers(&database).await.remove(0);
        database.psql("UPDATE question_limit SET rate = 1");
        database.psql("ANALYZE question_limit");
        server.statistics().await.unwrap().dead_rows
    });
    let tables: Vec<&str> = found.iter().map(|(table, _)| table.as_str()).collect();
    assert_eq!(tables, ["checkouts", "due", "payments", "question_limit", "streams"]);
    assert!(found[3].1 >= 1, "{found:?}");
}

/// It can be read all the same, as a standby can.
#[test]
fn read_only_database_is_detected() {
    let database = kassa_test_postgres::shared().database();
    Runtime::new().unwrap().block_on(async {
        let writes = servers(&database).await.remove(0);
        assert_eq!(writes.check_writable().await, Ok(()));
        // For who connects from now on.
        database.psql(
            "DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database());
             END $$",
        );
        let settings = PostgresSettings::parse(&database.url()).unwrap();
        let reads = PostgresStorage::open(&settings).await.unwrap();
        assert!(reads.moment().await.is_ok());
        let refused = reads.check_writable().await.unwrap_err();
        assert!(refused.to_string().contains("takes no writes"), "{refused}");
    });
}

/// Whoever waits at one server for what another one changes does not wait until it looks by itself.
#[test]
fn waiting_app_is_notified_across_servers() {
    let database = kassa_test_postgres::shared().database();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let storages = servers(&database).await;
        let fake = FakeGateway::new().unwrap();
        let server = |storage: &Arc<PostgresStorage>| {
            let runtime = Arc::new(TokioRuntime::on(runtime.handle().clone()));
            let mut settings = ServerSettings::new("https://shop.example.kg/callbacks");
            settings.longest_unwatched = patience();
            let gateway = Arc::new(fake.gateway());
            let server = Server::new(storage.clone(), gateway, runtime, settings, None).unwrap();
            server.run();
            server
        };
        let (one, other) = (server(&storages[0]), server(&storages[1]));
        until(&database, "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'", "2");
        for (number, is_cut_off) in [(1, false), (2, true)] {
            if is_cut_off {
                let end = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
                assert_eq!(database.psql(end), "2");
                until(&database, "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'", "2");
            }
            let id = storages[0].open_checkout(new(number)).await.map(|_| id(number)).unwrap();
            let waiting = tokio::spawn({
                let (other, id) = (other.clone(), id.clone());
                async move { other.checkout_after(&id, 0, patience()).await }
            });
            // After two more reads by the same server it waits, as a rule. If it does not wait yet, it finds the change at its first read.
            for _ in 0..2 {
                other.checkout(&id).await.unwrap();
            }
            one.cancel(&id).await.unwrap();
            let seen = tokio::time::timeout(patience() / 2, waiting).await.expect("it was woken").unwrap().unwrap();
            assert_eq!(seen.checkout.state, CheckoutState::Cancelled);
        }
        one.stop().await;
        other.stop().await;
    });
}

/// Plans are made once, when the tables are empty: one that reads a table from its beginning would do so when it has grown.
#[test]
fn server_started_on_empty_tables_uses_indexes() {
    let database = kassa_test_postgres::shared().database();
    let settings = PostgresSettings::parse(&database.url()).unwrap();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(PostgresStorage::open(&settings)).unwrap();
    let connections =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend'";
    // What a connection counted is told when it ends.
    until(&database, connections, "0");
    database.psql("SELECT pg_stat_reset()");
    runtime.block_on(async {
        let storage = PostgresStorage::open(&settings).await.unwrap();
        for number in 1..=CHECKOUTS {
            storage.open_checkout(new(number)).await.unwrap();
            let begin = begin(number, number, Method::Mbank);
            let reference = begin.reference.clone();
            storage.begin_payment(begin).await.unwrap();
            storage.record_send_outcome(accepted(number, number, reference.clone())).await.unwrap();
            storage.record_hint(Hint::Checkout { id: id(number), claimed: None }).await.unwrap();
            let claim = ClaimPolls { places: Slots::new(10), lease_ms: 60_000, per_second: 500 };
            let leased = storage.claim_polls(claim).await.unwrap().questions.remove(0);
            let report = Report::Charged(Box::new(reference));
            storage.record_poll_results(vec![answer(number, number, leased.leased_until, report)]).await.unwrap();
            storage.claim_deliveries(deliver(10, None)).await.unwrap();
            storage.sweep(SWEEP).await.unwrap();
        }
    });
    until(&database, connections, "0");
    let read = "SELECT string_agg(relname, ' ') FROM pg_stat_user_tables WHERE seq_scan > 0
        AND relname NOT IN ('clock', 'question_limit', 'sending_pauses', 'kassa_schema')";
    assert_eq!(database.psql(read), "", "these were read from their beginning");
    until(&database, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'payments'", &CHECKOUTS.to_string());
}

/// Where there are a few rows, reading an index from end to end is the best plan. It must not stay when there are many.
#[test]
fn query_plan_is_renewed_when_table_grows() {
    let database = kassa_test_postgres::shared().database();
    let settings = PostgresSettings::parse(&database.url()).unwrap().with_connections(1);
    let runtime = Runtime::new().unwrap();
    let storage = runtime.block_on(PostgresStorage::open(&settings)).unwrap();
    // PostgreSQL makes plans again by itself where it analyzes a table: here it does not.
    database.psql("ALTER TABLE exchanges SET (autovacuum_enabled = off)");
    database.psql("VACUUM ANALYZE exchanges");
    let ask = || {
        let answered = answer(1, 1, 0, Report::Nothing);
        runtime.block_on(storage.record_poll_results(vec![answered])).unwrap();
    };
    runtime.block_on(storage.open_checkout(new(1))).unwrap();
    runtime.block_on(storage.begin_payment(begin(1, 1, Method::Mbank))).unwrap();
    ask();
    database.psql(
        "INSERT INTO exchanges SELECT 'pay_' || i, 1, 'status', NULL, 'pending', NULL, NULL, NULL, NULL, 0, 0, 1, NULL
         FROM generate_series(1, 20000) AS i",
    );
    let read = || {
        database.psql("SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'exchanges_pkey'")
    };
    let begun = Instant::now();
    loop {
        let before = counts(&read());
        ask();
        // What a connection counted is told a moment later, all at once.
        let mut after = counts(&read());
        while after.0 == before.0 {
            assert!(
                begun.elapsed() < patience(),
                "it still reads all of it, or nothing is counted: {before:?} {after:?}"
            );
            ask();
            after = counts(&read());
        }
        if after.1 - before.1 < 20_000 {
            return;
        }
        assert!(begun.elapsed() < patience(), "it still reads all of it: {before:?} {after:?}");
    }
}

fn counts(text: &str) -> (u64, u64) {
    let (scans, rows) = text.split_once('|').unwrap();
    (scans.parse().unwrap(), rows.parse().unwrap())
}

/// While servers are replaced one by one, a newer one may write events that this one does not know.
#[test]
fn event_of_unknown_kind_is_delivered() {
    let database = kassa_test_postgres::shared().database();
    Runtime::new().unwrap().block_on(async {
        let storage = servers(&database).await.remove(0);
        for checkout in 1..=2 {
            storage.open_checkout(new(checkout)).await.unwrap();
            storage.begin_payment(own(checkout, 0)).await.unwrap();
        }
        let unknown = "UPDATE events SET kind = 'payment.of_tomorrow' WHERE checkout_id = ";
        database.psql(&format!("{unknown}'{}'", id(1)));
        let deliveries = storage.claim_deliveries(deliver(10, None)).await.unwrap().deliveries;
        let mut kinds: Vec<_> = deliveries.iter().map(|delivery| delivery.kind).collect();
        kinds.sort_by_key(Option::is_some);
        assert_eq!(kinds, [None, Some(EventKind::PaymentCreated)]);
        let feed = storage.events_after(Cursor::default(), 10).await.unwrap();
        let of = |checkout| {
            feed.iter().filter(|event| event.checkout == id(checkout)).map(|event| event.kind).collect::<Vec<_>>()
        };
        assert_eq!((of(1), of(2)), (vec![None], vec![Some(EventKind::PaymentCreated)]));
        let history = storage.history(id(1)).await.unwrap().unwrap();
        assert_eq!(history.events.iter().map(|event| event.kind).collect::<Vec<_>>(), [None]);
    });
}

/// At a million rows, reading a table from its beginning would take a thousand times as long.
#[test]
fn frequent_queries_use_indexes() {
    let database = kassa_test_postgres::shared().database();
    let settings = PostgresSettings::parse(&database.url()).unwrap();
    Runtime::new().unwrap().block_on(PostgresStorage::open(&settings)).unwrap();
    let often = [
        "SELECT payment_id FROM due WHERE queue = 1 AND at <= 5 AND at >= 0 ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED",
        "SELECT checkout_id FROM streams WHERE due_at <= 5 AND due_at >= 0 ORDER BY due_at LIMIT 100",
        "SELECT queues.queue, (SELECT COUNT(*) FROM (
            SELECT 1 FROM due WHERE due.queue = queues.queue AND at <= 5 AND at >= queues.since LIMIT 100) AS few)
            FROM unnest('{0,1}'::smallint[], '{0,0}'::bigint[]) AS queues (queue, since)",
        "SELECT id FROM payments WHERE state IN ('prepared', 'sending') AND until <= 5 AND until >= 0 ORDER BY until LIMIT 100",
        "SELECT id FROM checkouts WHERE state = 'open' AND expiry_due_at <= 5 AND expiry_due_at >= 0
            ORDER BY expiry_due_at LIMIT 100",
        "SELECT id FROM checkouts WHERE keys_kept_since <= 5 ORDER BY keys_kept_since LIMIT 100",
        "SELECT 1 FROM events WHERE seq IS NULL LIMIT 1",
        "SELECT MAX(seq) FROM events WHERE seq IS NOT NULL",
        "SELECT version FROM events WHERE checkout_id = 'a' AND version > 5 ORDER BY version LIMIT 1",
        "SELECT checkout_id FROM payments WHERE unknown_since <= 5 LIMIT 10000",
        "SELECT checkout_id FROM payments WHERE state = 'mismatch' LIMIT 10000",
        "SELECT checkout_id FROM payments WHERE is_stuck AND state IN ('awaiting', 'confirming') LIMIT 10000",
    ];
    for sql in often {
        let plan =
            database.psql(&format!("SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS off) {sql}"));
        assert!(plan.contains("Index") && !plan.contains("Seq Scan") && !plan.contains("Sort"), "{sql}:\n{plan}");
    }
}
