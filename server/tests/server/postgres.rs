//! What PostgreSQL adds: several servers on one database, at once.

use std::sync::Arc;

use kassa_server::{
    CheckoutId, Method, PaymentId, PostgresSettings, PostgresStorage, Storage, StorageError,
    storage::{
        inputs::{BeginPayment, ClaimQuestions, Hint},
        outputs::Begun,
    },
};
use kassa_test_postgres::Database;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::storage::{accepted, begin, id, new, payment_id};

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
        server.begin_payment(own(checkout, at)).await.map(|begun| (checkout, begun))
    };
    let begun = race(servers, begin).await.into_iter().collect::<Result<Vec<_>, StorageError>>().unwrap();
    let is_other = |begun: &Begun| matches!(begun, Begun::UnderWay(_));
    let mut new = Vec::new();
    for (checkout, begun) in begun {
        match begun {
            Begun::New(payment) => new.push((id(checkout), payment.id)),
            other => assert!(is_other(&other), "{other:?}"),
        }
    }
    new
}

#[test]
fn of_servers_that_begin_at_once_one_alone_sends() {
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

#[test]
fn servers_that_ask_at_once_take_different_questions() {
    let database = kassa_test_postgres::shared().database();
    let asked = Runtime::new().unwrap().block_on(async {
        let servers = servers(&database).await;
        for checkout in 1..=CHECKOUTS {
            servers[0].open_checkout(new(checkout)).await.unwrap();
            let begin = own(checkout, 0);
            let reference = begin.reference.clone();
            servers[0].begin_payment(begin).await.unwrap();
            servers[0].settle_sending(accepted(checkout * 10, reference)).await.unwrap();
            servers[0].note_hint(Hint::Checkout { id: id(checkout) }).await.unwrap();
        }
        let claim = |server: Arc<PostgresStorage>, _, _| async move {
            server.claim_questions(ClaimQuestions { most: 2, lease_ms: 60_000, per_second: 500 }).await.unwrap()
        };
        race(&servers, claim).await
    });
    let mut payments: Vec<_> =
        asked.into_iter().flat_map(|questions| questions.questions).map(|question| question.payment).collect();
    payments.sort_by_key(ToString::to_string);
    let mut all: Vec<_> = (1..=CHECKOUTS).map(|checkout| payment_id(checkout * 10)).collect();
    all.sort_by_key(ToString::to_string);
    assert_eq!(payments, all, "each once");
}

#[test]
fn who_reads_the_feed_while_others_write_misses_nothing() {
    let database = kassa_test_postgres::shared().database();
    let seen = Runtime::new().unwrap().block_on(async {
        let servers = servers(&database).await;
        let writing = {
            let servers = servers.clone();
            tokio::spawn(async move { open_and_begin(&servers).await.len() })
        };
        let (mut seen, mut cursor) = (Vec::new(), 0);
        loop {
            // What was written by now is read by the next look at the latest.
            let is_last = writing.is_finished();
            let events = servers[seen.len() % SERVERS].events_after(cursor, 5).await.unwrap();
            cursor = events.last().map_or(cursor, |event| event.seq);
            if is_last && events.is_empty() {
                break seen;
            }
            seen.extend(events.into_iter().map(|event| event.id));
        }
    });
    assert_eq!(seen.len(), usize::from(CHECKOUTS), "one event a payment that was begun: {seen:?}");
}

/// At a million rows, reading a table from its beginning would take a thousand times as long.
#[test]
fn what_is_done_all_the_time_goes_by_indexes() {
    let database = kassa_test_postgres::shared().database();
    let settings = PostgresSettings::parse(&database.url()).unwrap();
    Runtime::new().unwrap().block_on(PostgresStorage::open(&settings)).unwrap();
    let often = [
        "SELECT payment_id FROM due WHERE class = 1 AND at <= 5 AND at >= 0 ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED",
        "SELECT checkout_id FROM streams WHERE due_at <= 5 AND due_at >= 0 ORDER BY due_at LIMIT 100",
        "SELECT id FROM payments WHERE state IN ('prepared', 'sending') AND until <= 5 ORDER BY until LIMIT 100",
        "SELECT id FROM checkouts WHERE state = 'open' AND expiry_due_at <= 5 ORDER BY expiry_due_at LIMIT 100",
        "SELECT id FROM checkouts WHERE keys_kept_since <= 5 ORDER BY keys_kept_since LIMIT 100",
        "SELECT 1 FROM events WHERE seq IS NULL LIMIT 1",
        "SELECT MAX(seq) FROM events WHERE seq IS NOT NULL",
        "SELECT id FROM events WHERE checkout_id = 'a' AND id > 5 ORDER BY id LIMIT 1",
        "SELECT checkout_id FROM payments WHERE unknown_since <= 5 LIMIT 10000",
        "SELECT checkout_id FROM payments WHERE state = 'contradicted' LIMIT 10000",
        "SELECT checkout_id FROM payments WHERE is_stuck AND state IN ('awaiting', 'confirming') LIMIT 10000",
    ];
    for sql in often {
        let plan =
            database.psql(&format!("SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN (COSTS off) {sql}"));
        assert!(plan.contains("Index") && !plan.contains("Seq Scan") && !plan.contains("Sort"), "{sql}:\n{plan}");
    }
}
