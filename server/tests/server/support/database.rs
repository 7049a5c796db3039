//! The database of a world: in memory. Making one costs more than a whole schedule, so a thread keeps the one of its last
//! world, emptied.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use kassa_server::storage::sqlite::connection::{DatabaseClock, open_in_memory};
use rusqlite::Connection;

use super::{lock, world::drop_backup};

thread_local! {
    static IDLE: RefCell<Option<IdleDatabase>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct IdleDatabase {
    connection: Arc<Mutex<Connection>>,
    /// What its clock shows.
    clock: Arc<Mutex<DatabaseClock>>,
}

/// The database of one world.
pub struct Database(IdleDatabase);

impl Database {
    /// An empty one that shows this time.
    pub fn empty(clock: &DatabaseClock) -> Self {
        if let Some(idle) = IDLE.take() {
            *lock(&idle.clock) = clock.clone();
            drop_backup(&lock(&idle.connection));
            empty(&lock(&idle.connection));
            return Self(idle);
        }
        let shown = Arc::new(Mutex::new(clock.clone()));
        let clock = shown.clone();
        let connection = open_in_memory(Arc::new(move || lock(&clock)())).unwrap();
        Self(IdleDatabase { connection: Arc::new(Mutex::new(connection)), clock: shown })
    }

    pub fn connection(&self) -> Arc<Mutex<Connection>> {
        self.0.connection.clone()
    }
}

/// Kept for the next world, unless somebody of this one still has it.
impl Drop for Database {
    fn drop(&mut self) {
        if Arc::strong_count(&self.0.connection) == 1 && !self.0.connection.is_poisoned() {
            // A thread that ends keeps nothing.
            let _ = IDLE.try_with(|place| place.replace(Some(self.0.clone())));
        }
    }
}

/// The tables were made after those that they refer to.
fn empty(db: &Connection) {
    let mut tables =
        db.prepare_cached("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid DESC").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for table in tables.map(Result::unwrap) {
        db.prepare_cached(&format!("DELETE FROM {table}")).unwrap().execute([]).unwrap();
    }
}
