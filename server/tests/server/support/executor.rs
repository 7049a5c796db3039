//! Transactions inline, on the database that outlives the process.

use std::sync::{Arc, Mutex};

use kassa_server::{
    Boxed, StorageError,
    storage::sqlite::executor::{Executor, Job},
};
use rusqlite::Connection;

use super::{
    Turn,
    crash::{Life, When},
    lock,
};

pub struct Inline {
    pub db: Arc<Mutex<Connection>>,
    pub life: Life,
}

impl Executor for Inline {
    fn write(&self, job: Job) -> Boxed<'static, Result<(), StorageError>> {
        let (db, life) = (self.db.clone(), self.life.clone());
        Box::pin(async move {
            Turn::default().await;
            let when = life.plan_at_point().await;
            let done = {
                let db = lock(&db);
                execute(&db, "BEGIN IMMEDIATE");
                let done = job.run(&db);
                execute(&db, if done.is_ok && when != Some(When::Failed) { "COMMIT" } else { "ROLLBACK" });
                done
            };
            match when {
                Some(When::Failed | When::Unclear) => done.answer(Err(StorageError::failed("the disk is full"))),
                Some(_) => life.die().await,
                None => done.answer(Ok(())),
            }
            Turn::default().await;
            Ok(())
        })
    }

    fn read(&self, job: Job) -> Boxed<'static, Result<(), StorageError>> {
        let db = self.db.clone();
        Box::pin(async move {
            Turn::default().await;
            let done = job.run(&lock(&db));
            done.answer(Ok(()));
            Ok(())
        })
    }
}

fn execute(db: &Connection, sql: &str) {
    db.prepare_cached(sql).unwrap().execute([]).unwrap();
}
