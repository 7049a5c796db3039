//! The least that a lease takes on PostgreSQL: one table, one index, one statement, in a loop.

use std::{sync::Arc, time::Instant};

use futures_util::future::join_all;
use kassa_test_postgres::psql;
use tokio_postgres::{Client, NoTls, Statement};

use crate::{leases::WORKERS, parts::rounds as tell_rounds, peers::A_ROUND, place::Place, runtime};

const TABLE: &str = "CREATE TABLE plain (id TEXT PRIMARY KEY, at BIGINT NOT NULL);
    INSERT INTO plain SELECT md5(i::text), i FROM generate_series(1, 1000000) AS i;
    CREATE INDEX plain_next ON plain (at); ANALYZE plain";
const LEASE: &str = "UPDATE plain SET at = at + 1000000000 WHERE id IN (
        SELECT id FROM plain WHERE at < 1000000000 ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED
    ) RETURNING id";

pub fn rounds(place: &Place) {
    let url = place.url.clone().expect("a database");
    psql(&url, TABLE);
    let runtime = runtime();
    let workers = runtime.block_on(join_all((0..WORKERS).map(|_| connect(&url))));
    tell_rounds(|| {
        let started = Instant::now();
        runtime.block_on(join_all(workers.iter().map(|worker| lease(worker.clone()))));
        started.elapsed().as_secs_f64() * 1e6 / A_ROUND as f64
    });
}

type Worker = Arc<(Client, Statement)>;

async fn connect(url: &str) -> Worker {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a database");
    tokio::spawn(connection);
    client.batch_execute("SET synchronous_commit = off").await.expect("a setting");
    let statement = client.prepare(LEASE).await.expect("a statement");
    Arc::new((client, statement))
}

async fn lease(worker: Worker) {
    let mut left = A_ROUND / WORKERS;
    while left > 0 {
        left -= worker.0.query(&worker.1, &[]).await.expect("a database").len().min(left);
    }
}
