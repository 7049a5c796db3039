//! Many open payments in a file, spread evenly over three days, each due at some moment of its interval. Written by SQL:
//! opening them one by one would take minutes. Their events are left out.

use std::path::Path;

use kassa::PaymentRef;
use kassa_server::SqliteStorage;
use rusqlite::{Connection, Transaction};

use crate::gateway::now;

const HOUR: i64 = 3_600_000;
const THREE_DAYS: i64 = 72 * HOUR;

pub struct Open {
    pub order_number: String,
    /// When it is due, in milliseconds since the beginning of 1970.
    pub at: i64,
}

/// As if the server had been following them until a moment.
pub fn fill(path: &Path, many: i64, until: i64) -> impl Iterator<Item = Open> {
    drop(SqliteStorage::open(path).expect("a new database"));
    let mut db = Connection::open(path).expect("the database");
    let transaction = db.transaction().expect("nobody else");
    let mut random = fastrand::Rng::with_seed(1);
    let mut open = Vec::new();
    for number in 0..many {
        let age = THREE_DAYS * number / many;
        let payment = Open { order_number: format!("{number:032x}"), at: until + random.i64(0..interval(age)) };
        insert(&transaction, &payment, now() - age, class(age)).expect("room on the disk");
        open.push(payment);
    }
    transaction.commit().expect("room on the disk");
    open.into_iter()
}

/// As `pace::schedule` has it.
fn interval(age: i64) -> i64 {
    match age {
        age if age < HOUR / 3 => 10_000,
        age if age < 2 * HOUR => 60_000,
        age if age < 24 * HOUR => 600_000,
        _ => HOUR,
    }
}

/// Fresh, or old.
fn class(age: i64) -> i64 {
    if age < HOUR / 3 { 1 } else { 2 }
}

fn insert(db: &Transaction<'_>, payment: &Open, begun_at: i64, class: i64) -> rusqlite::Result<()> {
    let number = &payment.order_number;
    let (id, checkout) = (format!("pay_{number}"), format!("co_{number}"));
    db.prepare_cached(
        "INSERT INTO checkouts (id, reference, fingerprint, amount, currency, description, methods, return_url, metadata,
             callback_secret, page_secret, state, version, opened_at, expires_at, expiry_due_at)
         VALUES (?1, ?2, zeroblob(32), '390', 'KGS', 'Two tickets', 'mbank', 'https://shop.example.kg/paid', '{}',
             ?2, ?2, 'open', 2, ?3, ?4, ?4)",
    )?
    .execute((&checkout, number, begun_at, begun_at + 10 * THREE_DAYS))?;
    db.prepare_cached(
        "INSERT INTO payments (id, checkout_id, number, method, state, reference, order_number, begun_at, until, sender,
             attempts_left)
         VALUES (?1, ?2, 1, 'mbank', 'awaiting', ?3, ?4, ?5, ?5, '', 3)",
    )?
    .execute((&id, &checkout, PaymentRef::mbank(number, 390).to_string(), number, begun_at))?;
    db.prepare_cached("INSERT INTO due (payment_id, at, class, since) VALUES (?1, ?2, ?3, ?4)")?
        .execute((&id, payment.at, class, begun_at))?;
    Ok(())
}
