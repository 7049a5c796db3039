//! What the server has written down, read past it.

use std::{path::Path, time::Duration};

use kassa::PaymentRef;
use kassa_sandbox::{Payment, PaymentKind};
use rusqlite::{Connection, OpenFlags};

/// A payment of the database's, as far as it is compared.
pub struct Row {
    pub id: String,
    pub checkout: String,
    pub method: String,
    pub state: String,
    pub events: i64,
    pub page_url: Option<String>,
    pub qr_text: Option<String>,
    pub reference: PaymentRef,
    pub callback_secret: String,
}

/// A checkout of the database's.
pub struct Checkout {
    pub id: String,
    pub state: String,
    pub version: i64,
    pub is_overpaid: bool,
    pub paid_by: Option<String>,
    pub has_expired: bool,
}

/// An event of the database's.
pub struct Event {
    pub id: String,
    pub checkout: String,
    pub payment: Option<String>,
    pub number: i64,
    pub kind: String,
    pub body: String,
}

/// The file, beside its servers.
pub struct Ledger(pub Connection);

impl Ledger {
    pub fn open(folder: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(folder.join("kassa.db"), flags)?;
        connection.busy_timeout(Duration::from_secs(30))?;
        Ok(Self(connection))
    }

    pub fn rows(&self) -> rusqlite::Result<Vec<Row>> {
        let sql = "SELECT payments.id, checkout_id, method, payments.state, payments.events, page_url, qr_text,
            payments.reference, callback_secret FROM payments JOIN checkouts ON checkouts.id = checkout_id";
        let mut statement = self.0.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Row {
                id: row.get(0)?,
                checkout: row.get(1)?,
                method: row.get(2)?,
                state: row.get(3)?,
                events: row.get(4)?,
                page_url: row.get(5)?,
                qr_text: row.get(6)?,
                reference: row.get::<_, String>(7)?.parse().expect("a reference"),
                callback_secret: row.get(8)?,
            })
        });
        rows?.collect()
    }

    pub fn checkouts(&self) -> rusqlite::Result<Vec<Checkout>> {
        let sql = "SELECT id, state, version, is_overpaid, paid_by, expires_at <= unixepoch() * 1000 FROM checkouts";
        let mut statement = self.0.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Checkout {
                id: row.get(0)?,
                state: row.get(1)?,
                version: row.get(2)?,
                is_overpaid: row.get(3)?,
                paid_by: row.get(4)?,
                has_expired: row.get(5)?,
            })
        });
        rows?.collect()
    }

    /// The ends of the hosted pages' addresses.
    pub fn pages(&self) -> rusqlite::Result<Vec<String>> {
        self.0.prepare("SELECT page_secret FROM checkouts")?.query_map([], |row| row.get(0))?.collect()
    }

    /// In the order of their commits.
    pub fn events(&self) -> rusqlite::Result<Vec<Event>> {
        let sql = "SELECT event_id, checkout_id, payment_id, number, kind, body FROM events ORDER BY seq";
        let mut statement = self.0.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Event {
                id: row.get(0)?,
                checkout: row.get(1)?,
                payment: row.get(2)?,
                number: row.get(3)?,
                kind: row.get(4)?,
                body: row.get(5)?,
            })
        });
        rows?.collect()
    }

    /// The calendar goes ahead: what waits for a time, a lease included, waits that much less.
    pub fn time_passes(&self, by: Duration) -> rusqlite::Result<()> {
        self.0.execute_batch(&format!(
            "BEGIN IMMEDIATE;
             UPDATE due SET at = at - {by};
             UPDATE payments SET until = until - {by} WHERE state IN ('prepared', 'sending');
             UPDATE streams SET due_at = due_at - {by} WHERE due_at IS NOT NULL;
             UPDATE checkouts SET expires_at = expires_at - {by}, expiry_due_at = expiry_due_at - {by}
                WHERE state = 'open';
             UPDATE question_limit SET filled_at = filled_at - {by}, halved_at = halved_at - {by},
                not_before = not_before - {by};
             COMMIT;",
            by = by.as_millis()
        ))
    }
}

impl Row {
    /// What the gateway's books call it; of what was shown to nobody, nothing says that.
    pub fn booked<'a>(&self, books: &'a [Payment]) -> Option<&'a Payment> {
        books.iter().find(|payment| match (self.method.as_str(), payment.kind) {
            ("mbank", PaymentKind::Mbank) | ("card", PaymentKind::Card) => {
                Some(&payment.order_number) == self.reference.order_number.as_ref()
            }
            ("qr", PaymentKind::Qr) => {
                payment.transaction_id.is_some() && payment.transaction_id == self.reference.transaction_id
            }
            ("pay_form", PaymentKind::PayForm) => {
                let token = self.page_url.as_deref().and_then(|url| url.rsplit_once("token="));
                token.is_some_and(|(_, token)| token == payment.gateway_number)
            }
            _ => false,
        })
    }

    /// Nobody can pay on a page or by a code that was shown to nobody.
    pub fn was_shown(&self) -> bool {
        self.method == "mbank" || self.page_url.is_some() || self.qr_text.is_some()
    }
}
