//! Transactions of the staff's pages: sessions, what needs a person, a checkout's history, and what was charged.

use tokio_postgres::Row;

use super::{
    aggregates, needs, outbox, rows,
    session::{Problem, Session, first},
};
use crate::{
    checkouts::CheckoutView,
    events::EventKind,
    payments::exchange::PENDING,
    storage::staff::{
        Adding, Charge, Charges, End, Ends, History, LONGEST_IDLE, LONGEST_SESSION, ListedCheckout, ListedClaim,
        MOST_UNKNOWN_CALLBACKS, Need, NewStaffSession, Period, StaffSession, StoredUnknownCallback, UNKNOWN_FOR,
        UnknownCallback,
    },
    tokens::TokenHash,
    values::{CheckoutId, Millis, PaymentId},
};

const ADD_SESSION: &str = "INSERT INTO staff_sessions (hash, key_id, made_at, used_at, expires_at)
    SELECT $1, id, at, at, at + $3 FROM api_keys, (SELECT now_ms() AS at) AS moment
    WHERE id = $2 AND role = 'staff' AND revoked_at IS NULL";
const SESSION: &str = "SELECT api_keys.id, api_keys.name, api_keys.permission, now_ms() - used_at FROM staff_sessions
    JOIN api_keys ON api_keys.id = staff_sessions.key_id
    WHERE staff_sessions.hash = $1 AND expires_at > now_ms() AND role = 'staff' AND revoked_at IS NULL";
/// An ended session stays ended.
const USE_SESSION: &str =
    "UPDATE staff_sessions SET used_at = moment.at, expires_at = LEAST(made_at + $2, moment.at + $3)
    FROM (SELECT now_ms() AS at) AS moment WHERE hash = $1 AND expires_at > moment.at";

/// Adds a session. False if the key is not a valid staff key.
pub(super) async fn add_session(db: &Session, new: &NewStaffSession) -> Result<bool, Problem> {
    let lifetime = LONGEST_IDLE.min(LONGEST_SESSION);
    Ok(db.execute(ADD_SESSION, &[&&new.hash.0[..], &new.key.as_str(), &lifetime]).await? == 1)
}

pub(super) async fn session(db: &Session, hash: &TokenHash) -> Result<Option<StaffSession>, Problem> {
    let Some(row) = db.row(SESSION, &[&&hash.0[..]]).await? else { return Ok(None) };
    let (key, permission) = (rows::id(&row, "key")?, rows::read(row.try_get(2)?, "permission")?);
    Ok(Some(StaffSession { key, name: row.try_get(1)?, permission, unused_for: row.try_get(3)? }))
}

pub(super) async fn use_session(db: &Session, hash: &TokenHash) -> Result<(), Problem> {
    db.execute(USE_SESSION, &[&&hash.0[..], &LONGEST_SESSION, &LONGEST_IDLE]).await?;
    Ok(())
}

pub(super) async fn end_session(db: &Session, hash: &TokenHash) -> Result<(), Problem> {
    db.execute("DELETE FROM staff_sessions WHERE hash = $1", &[&&hash.0[..]]).await?;
    Ok(())
}

const SET_MAPPING: &str = "INSERT INTO statement_mapping (id, mapping) VALUES (1, $1)
    ON CONFLICT (id) DO UPDATE SET mapping = excluded.mapping WHERE statement_mapping.mapping <> excluded.mapping";

pub(super) async fn statement_mapping(db: &Session) -> Result<Option<String>, Problem> {
    let row = db.row("SELECT mapping FROM statement_mapping", &[]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

pub(super) async fn set_statement_mapping(db: &Session, mapping: &str) -> Result<(), Problem> {
    db.execute(SET_MAPPING, &[&mapping]).await?;
    Ok(())
}

const RECORD_UNKNOWN: &str =
    "INSERT INTO unknown_callbacks (payment_id, number, amount, status, first_at, last_at, times)
    SELECT $1, $2, $3, $4, at, at, 1 FROM (SELECT now_ms() AS at) AS moment
    ON CONFLICT (payment_id) DO UPDATE SET number = excluded.number, amount = excluded.amount, status = excluded.status,
        last_at = excluded.last_at, times = unknown_callbacks.times + 1";
const TRIM_UNKNOWN: &str = "DELETE FROM unknown_callbacks WHERE payment_id IN
    (SELECT payment_id FROM unknown_callbacks ORDER BY last_at DESC, payment_id OFFSET $1)";
const UNKNOWN: &str = "SELECT payment_id, number, amount, status, first_at, last_at, times FROM unknown_callbacks
    ORDER BY last_at DESC, payment_id";

pub(super) async fn record_unknown_callback(db: &Session, callback: &UnknownCallback) -> Result<(), Problem> {
    let amount = callback.amount.map(|amount| amount.to_string());
    db.execute(RECORD_UNKNOWN, &[&callback.payment.as_str(), &callback.number, &amount, &callback.status]).await?;
    db.execute(TRIM_UNKNOWN, &[&i64::from(MOST_UNKNOWN_CALLBACKS)]).await?;
    Ok(())
}

pub(super) async fn unknown_callbacks(db: &Session) -> Result<Vec<StoredUnknownCallback>, Problem> {
    let read = |row: &Row| {
        let amount: Option<String> = row.try_get(2)?;
        let callback = UnknownCallback {
            payment: rows::id(row, "payment_id")?,
            number: row.try_get(1)?,
            amount: amount.and_then(|amount| amount.parse().ok()),
            status: row.try_get(3)?,
        };
        let times: i64 = row.try_get(6)?;
        let (first_at, last_at) = (row.try_get(4)?, row.try_get(5)?);
        Ok(StoredUnknownCallback { callback, first_at, last_at, times: times.unsigned_abs() })
    };
    db.rows(UNKNOWN, &[]).await?.iter().map(read).collect()
}

pub(super) async fn count_unknown_callbacks(db: &Session) -> Result<u64, Problem> {
    let count: i64 = first(Some(&db.rows("SELECT COUNT(*) FROM unknown_callbacks", &[]).await?))?;
    Ok(count.unsigned_abs())
}

pub(super) async fn remove_unknown_callbacks(db: &Session, until: Millis) -> Result<u64, Problem> {
    db.execute("DELETE FROM unknown_callbacks WHERE last_at <= $1", &[&until]).await
}

/// The time before which an unknown payment counts as unknown for too long.
pub(super) async fn unknown_since(db: &Session) -> Result<Millis, Problem> {
    let now: Millis = first(Some(&db.rows("SELECT now_ms()", &[]).await?))?;
    Ok(now.saturating_sub(UNKNOWN_FOR))
}

/// Counts the checkouts that need a person, by reason.
pub(super) async fn count_needs(db: &Session) -> Result<Vec<(Need, u64)>, Problem> {
    needs::count(db, unknown_since(db).await?).await
}

pub(super) async fn listed(
    db: &Session,
    views: Vec<CheckoutView>,
    unknown_since: Millis,
) -> Result<Vec<ListedCheckout>, Problem> {
    let mut needs = needs::of(db, &views, unknown_since).await?;
    let one = |view: CheckoutView| {
        let needs = needs.remove(view.checkout.id.as_str()).unwrap_or_default();
        ListedCheckout { view, needs }
    };
    Ok(views.into_iter().map(one).collect())
}

const STREAM: &str = "SELECT delivered, failures, is_given_up FROM streams WHERE checkout_id = $1";

pub(super) async fn history(db: &Session, id: &CheckoutId) -> Result<Option<History>, Problem> {
    let Some(view) = rows::view(db, id.as_str()).await? else { return Ok(None) };
    let listed = listed(db, vec![view], unknown_since(db).await?).await?;
    let Some(listed) = listed.into_iter().next() else { return Ok(None) };
    let exchanges = rows::of_payments(db, &listed.view.payments).await?;
    let (delivered, failures, is_given_up) = match db.row(STREAM, &[&id.as_str()]).await? {
        Some(row) => (row.try_get(0)?, rows::small(&row, 1)?, row.try_get(2)?),
        None => (0, 0, false),
    };
    let claims = claims_of(db, &listed.view).await?;
    let (events, refused) = (outbox::events_of(db, id).await?, outbox::refused(db, id).await?);
    Ok(Some(History { listed, events, exchanges, claims, delivered, failures, is_given_up, refused }))
}

/// Equal answers are counted in the row of the first one, so the last row is not always the last report.
const LAST_REPORT: &str = "SELECT outcome, last_at FROM exchanges WHERE payment_id = $1 AND kind = 'status'
    ORDER BY last_at DESC, number DESC LIMIT 1";

pub(super) async fn last_pending_report(db: &Session, payment: &PaymentId) -> Result<Option<Millis>, Problem> {
    let Some(row) = db.row(LAST_REPORT, &[&payment.as_str()]).await? else { return Ok(None) };
    Ok(if row.try_get::<_, &str>(0)? == PENDING { Some(row.try_get(1)?) } else { None })
}

/// The claims of callbacks for each of its payments.
async fn claims_of(db: &Session, view: &CheckoutView) -> Result<Vec<Vec<ListedClaim>>, Problem> {
    let ids: Vec<&str> = view.payments.iter().map(|payment| payment.id.as_str()).collect();
    let mut claims = vec![Vec::new(); ids.len()];
    for row in &db.rows(aggregates::CLAIMS, &[&ids]).await? {
        let id: &str = row.try_get(0)?;
        if let Some(place) = ids.iter().position(|known| *known == id) {
            claims[place].push(aggregates::claim(row)?.into());
        }
    }
    Ok(claims)
}

/// The condition repeats that of the index exactly: only then is the index used.
macro_rules! ends {
    () => {
        "events.kind IN ('payment.charged', 'payment.resolved', 'payment.rejected', 'payment.not_made', 'payment.unknown')
        AND events.at >= $1 AND events.at < $2"
    };
}

const CHARGES: &str = concat!(
    "SELECT payments.id, events.at, events.kind, payments.checkout_id, checkouts.reference,
        payments.method, payments.reference, checkouts.amount, checkouts.currency,
        ARRAY(SELECT number FROM taken_numbers WHERE payment_id = payments.id AND kind <> 'page' ORDER BY number), checkouts.is_overpaid
    FROM events
    JOIN payments ON payments.id = events.payment_id
    JOIN checkouts ON checkouts.id = payments.checkout_id
    WHERE ",
    ends!(),
    " AND events.kind IN ('payment.charged', 'payment.resolved')
        AND events.body::jsonb #>> '{data,payment,state}' = 'charged'
    ORDER BY events.at, events.id LIMIT $3"
);

/// The state after the event, because a person's decision can have either result.
const ENDS: &str = concat!(
    "SELECT events.at, events.body::jsonb #>> '{data,payment,state}', payments.method, checkouts.amount,
        checkouts.currency
    FROM events
    JOIN payments ON payments.id = events.payment_id
    JOIN checkouts ON checkouts.id = payments.checkout_id
    WHERE ",
    ends!(),
    " ORDER BY events.at, events.id LIMIT $3"
);

/// Charged is absorbing: each payment has one event that made it so.
pub(super) async fn charges(db: &Session, period: Period, most: u32) -> Result<Charges, Problem> {
    let rows = db.rows(CHARGES, &[&period.from, &period.until, &(i64::from(most) + 1)]).await?;
    let charges = rows.iter().take(most as usize).map(charge).collect::<Result<_, _>>()?;
    Ok(Charges { charges, is_more: rows.len() > most as usize })
}

fn charge(row: &Row) -> Result<Charge, Problem> {
    Ok(Charge {
        at: row.try_get(1)?,
        is_resolved: row.try_get::<_, &str>(2)? == EventKind::PaymentResolved.name(),
        is_overpaid: row.try_get(10)?,
        payment: rows::id(row, "payment")?,
        checkout: rows::read(row.try_get(3)?, "checkout")?,
        shop_reference: row.try_get(4)?,
        method: rows::read(row.try_get(5)?, "method")?,
        reference: rows::read(row.try_get(6)?, "reference")?,
        amount: rows::read(row.try_get(7)?, "amount")?,
        currency: row.try_get(8)?,
        taken_numbers: row.try_get(9)?,
    })
}

/// Adds up the payments that ended in a period.
pub(super) async fn ends(db: &Session, period: Period, most: u32) -> Result<Ends, Problem> {
    let rows = db.rows(ENDS, &[&period.from, &period.until, &(i64::from(most) + 1)]).await?;
    let mut adding = Adding::default();
    for row in rows.iter().take(most as usize) {
        let (state, method) = (row.try_get(1)?, row.try_get(2)?);
        let (amount, currency) = (row.try_get(3)?, row.try_get(4)?);
        adding.add(End { at: row.try_get(0)?, state, method, amount, currency });
    }
    Ok(adding.ends(rows.len() > most as usize)?)
}
