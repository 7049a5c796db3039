//! Many open payments, spread evenly over three days, each due at some moment of its interval. Written by SQL: opening them one
//! by one would take minutes. Their events are left out.

use kassa::PaymentRef;
use kassa_server::SqliteStorage;
use kassa_test_postgres::{Cluster, Database, psql};
use rusqlite::{Connection, Transaction};

use crate::{gateway::now, place::Place, runtime};

const HOUR: i64 = 3_600_000;
const THREE_DAYS: i64 = 72 * HOUR;

pub struct Open {
    pub order_number: String,
    /// When it is due, in milliseconds since the beginning of 1970.
    pub at: i64,
}

impl Open {
    /// Its number and its moment, parted by a character.
    pub fn of(line: &str, parted_by: char) -> Self {
        let (number, at) = line.split_once(parted_by).expect("two columns");
        Self { order_number: number.to_owned(), at: at.parse().expect("a moment") }
    }
}

/// As if the server had been following them until a moment.
pub fn fill(place: &Place, many: i64, until: i64) -> Vec<Open> {
    match &place.url {
        Some(url) => fill_due(url, many, until),
        None => fill_file(place, many, until),
    }
}

/// A million of them on PostgreSQL, all of which are due for an hour or more; how many.
pub fn fill_overdue(place: &Place) -> usize {
    fill(place, place.many(0), now() - 2 * HOUR).len()
}

fn fill_file(place: &Place, many: i64, until: i64) -> Vec<Open> {
    drop(SqliteStorage::open(&place.file()).expect("a new database"));
    let mut db = Connection::open(place.file()).expect("the database");
    let transaction = db.transaction().expect("nobody else");
    let mut random = fastrand::Rng::with_seed(1);
    let mut open = Vec::new();
    for number in 0..many {
        let age = THREE_DAYS * number / many;
        let payment = Open { order_number: format!("{number:032x}"), at: until + random.i64(0..interval(age)) };
        insert(&transaction, &payment, now() - age, queue(age)).expect("room on the disk");
        open.push(payment);
    }
    transaction.commit().expect("room on the disk");
    open
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

/// By the mobile bank, fresh or old: the class times four, and the method.
fn queue(age: i64) -> i64 {
    if age < HOUR / 3 { 6 } else { 10 }
}

fn insert(db: &Transaction<'_>, payment: &Open, begun_at: i64, queue: i64) -> rusqlite::Result<()> {
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
    db.prepare_cached("INSERT INTO due (payment_id, at, queue, since) VALUES (?1, ?2, ?3, ?4)")?
        .execute((&id, payment.at, queue, begun_at))?;
    Ok(())
}

/// A database on PostgreSQL with a million of them, of which nothing is due.
pub fn database(cluster: &Cluster) -> Database<'_> {
    let database = cluster.database();
    let place = Place { folder: "/".into(), url: Some(database.url()) };
    runtime().block_on(async { drop(place.storage().await) });
    let number = "0".repeat(32);
    let reference = PaymentRef::mbank(&number, 390).to_string().replace(&number, "%s");
    let made = format!(
        "SELECT md5(i::text) AS n, now_ms() - {THREE_DAYS} * i / {many} AS begun FROM generate_series(0::bigint, {many} - 1) AS i",
        many = place.many(0)
    );
    database.psql(&format!(
        "INSERT INTO checkouts (id, reference, fingerprint, amount, currency, description, methods, return_url, metadata,
             callback_secret, page_secret, state, version, opened_at, expires_at, expiry_due_at)
         SELECT 'co_' || n, n, decode(n || n, 'hex'), '390', 'KGS', 'Two tickets', 'mbank', 'https://shop.example.kg/paid',
             '{{}}', n, n, 'open', 2, begun, begun + {month}, begun + {month} FROM ({made}) AS made;
         INSERT INTO payments (id, checkout_id, number, method, state, reference, order_number, begun_at, until, sender,
             attempts_left)
         SELECT 'pay_' || n, 'co_' || n, 1, 'mbank', 'awaiting', format('{reference}', n), n, begun, begun, '', 3
         FROM ({made}) AS made",
        month = 10 * THREE_DAYS,
    ));
    database.psql("VACUUM (FREEZE, ANALYZE)");
    database
}

/// Makes them due, as `interval` and `queue` have it.
fn fill_due(url: &str, many: i64, until: i64) -> Vec<Open> {
    psql(
        url,
        &format!(
            "INSERT INTO due (payment_id, at, queue, since)
         SELECT id, {until} + floor(random() * CASE WHEN age < {young} THEN 10000 WHEN age < {hours} THEN 60000
             WHEN age < {day} THEN 600000 ELSE {HOUR} END)::bigint, CASE WHEN age < {young} THEN 6 ELSE 10 END, begun_at
         FROM (SELECT id, begun_at, now_ms() - begun_at AS age FROM payments) AS aged",
            young = HOUR / 3,
            hours = 2 * HOUR,
            day = 24 * HOUR,
        ),
    );
    psql(url, "VACUUM (FREEZE, ANALYZE) due");
    // What was written so far does not come to the disk while something is measured.
    psql(url, "CHECKPOINT");
    let rows = psql(url, "SELECT substr(payment_id, 5), at FROM due");
    let open: Vec<Open> = rows.lines().map(|row| Open::of(row, '|')).collect();
    assert_eq!(i64::try_from(open.len()).ok(), Some(many), "as many as the database was filled with");
    open
}
