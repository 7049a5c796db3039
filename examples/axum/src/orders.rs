//! The shop's orders, in SQLite. Use your own database instead.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension as _, Result};
use tokio::task::block_in_place;

// docs: begin orders
/// An order is `new`, then `paid`, then `delivered`.
#[derive(Clone)]
pub struct Orders(Arc<Mutex<Connection>>);

impl Orders {
    pub fn open(path: &str) -> Result<Self> {
        let database = Connection::open(path)?;
        database.busy_timeout(Duration::from_secs(5))?;
        database.execute("CREATE TABLE IF NOT EXISTS orders (reference TEXT PRIMARY KEY, state TEXT NOT NULL)", [])?;
        Ok(Self(Arc::new(Mutex::new(database))))
    }

    /// Before anything is paid, so that no event is about an order that the shop does not know.
    pub fn add(&self, reference: &str) -> Result<()> {
        self.database().execute("INSERT INTO orders VALUES (?, 'new')", [reference]).map(drop)
    }

    /// None if there is no such order.
    pub fn state(&self, reference: &str) -> Result<Option<String>> {
        let wanted = "SELECT state FROM orders WHERE reference = ?";
        self.database().query_row(wanted, [reference], |row| row.get(0)).optional()
    }

    /// Marks an order as paid. A repetition changes nothing. False if there is no such order.
    pub fn mark_paid(&self, reference: &str) -> Result<bool> {
        let paid = "UPDATE orders SET state = 'paid' WHERE reference = ? AND state = 'new'";
        self.database().execute(paid, [reference])?;
        Ok(self.state(reference)?.is_some())
    }

    /// The references of the orders in a state.
    pub fn list_in(&self, state: &str) -> Result<Vec<String>> {
        let database = self.database();
        let mut wanted = database.prepare("SELECT reference FROM orders WHERE state = ?")?;
        wanted.query_map([state], |row| row.get(0))?.collect()
    }

    /// Delivers a paid order, once. If the delivery panics, or the program dies meanwhile, the order stays paid.
    pub fn deliver(&self, reference: &str, ship: impl FnOnce(&str)) -> Result<()> {
        let mut database = self.database();
        let transaction = database.transaction()?;
        let delivered = "UPDATE orders SET state = 'delivered' WHERE reference = ? AND state = 'paid'";
        if transaction.execute(delivered, [reference])? == 1 {
            ship(reference);
        }
        transaction.commit()
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
// docs: end orders

// docs: begin worker
/// Delivers what is paid, also what was paid before a crash.
pub async fn deliver_paid(orders: Orders) -> Result<()> {
    loop {
        block_in_place(|| orders.list_in("paid")?.iter().try_for_each(|order| orders.deliver(order, ship)))?;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Ships the goods. After a crash it can be called again for the same order: then it must do nothing.
pub fn ship(reference: &str) {
    println!("deliver {reference}");
}
// docs: end worker
