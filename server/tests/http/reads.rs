//! What a page reads of the database: as much as it shows, however much happened.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kassa::FakeFault;
use kassa_server::{
    Boxed, SqliteStorage, StorageError,
    storage::sqlite::{
        connection::{open_in_memory, real_clock},
        executor::{Executor, Job},
    },
};
use rusqlite::Connection;

use crate::{client::Served, payer::Payer};

/// Runs transactions on a database in memory, and lists those that read.
#[derive(Clone)]
struct Recording {
    db: Arc<Mutex<Connection>>,
    reads: Arc<Mutex<Vec<&'static str>>>,
}

impl Recording {
    fn new() -> Self {
        let db = open_in_memory(real_clock()).unwrap();
        Self { db: Arc::new(Mutex::new(db)), reads: Arc::default() }
    }

    /// The reads since this was asked last.
    fn reads(&self) -> Vec<&'static str> {
        std::mem::take(&mut *lock(&self.reads))
    }
}

impl Executor for Recording {
    fn write(&self, job: Job) -> Boxed<'static, Result<(), StorageError>> {
        let db = lock(&self.db);
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        let done = job.run(&db);
        db.execute_batch(if done.is_ok { "COMMIT" } else { "ROLLBACK" }).unwrap();
        done.answer(Ok(()));
        Box::pin(std::future::ready(Ok(())))
    }

    fn read(&self, job: Job) -> Boxed<'static, Result<(), StorageError>> {
        lock(&self.reads).push(job.name);
        job.run(&lock(&self.db)).answer(Ok(()));
        Box::pin(std::future::ready(Ok(())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_of_many_payments_reads_no_history() {
    let database = Recording::new();
    let served = Served::on(SqliteStorage::over(Arc::new(database.clone()))).await;
    let payer = Payer::of(&served, "order-1").await;
    for _ in 0..4 {
        let reason = "Insufficient funds".to_owned();
        served.fake.fail_next(FakeFault::Refused { code: "51".to_owned(), reason });
        payer.pays(&served, "mbank", "0700 000 001").await;
    }
    payer.pays(&served, "qr", "").await;
    payer.post(&served, "/check", &[]).await;
    database.reads();
    let (seen, page) = payer.sees(&served).await;
    let payments = payer.checkout(&served).await["payments"].as_array().unwrap().len();
    assert_eq!((seen.as_str(), payments), ("claimed", 5), "{page}");
    let reads: Vec<_> = database.reads().into_iter().filter(|name| !["api_key", "statistics"].contains(name)).collect();
    // The last one is that of the shop, above.
    assert_eq!(reads, ["checkout", "last_pending_report", "checkout"]);
}
