//! Conversion of rows to values.

use std::{collections::HashMap, str::FromStr};

use kassa::{Decimal, PaymentRef};
use tokio_postgres::{Client, Row};

use super::session::{Problem, Query, Session};
use crate::{
    checkouts::{Checkout, CheckoutView},
    payments::{Failure, Payment, exchange::Exchange},
    storage::{
        StorageError,
        aggregate::{PaymentRow, changes::DirtyFields},
        staff::{REPLIES_PAGE, StoredExchange, StoredReply},
    },
    values::{Hidden, Millis},
};

/// The payments of a condition, as [`payment_row`] reads them.
macro_rules! payments {
    ($which:literal) => {
        concat!(
            "SELECT id, checkout_id, number, method, state, reference, page_url, qr_text, failure_kind, failure_code,
                failure_reason, begun_at, sender, attempts_left, mismatches, is_hinted, is_stuck, is_resolved,
                card_last4, until, unknown_since, events, is_in_doubt, mismatch_at, phone_last2, is_replaced, payer_phone,
                commission, total, code_expires_at, claimed_at, charged_at
             FROM payments WHERE ",
            $which
        )
    };
}
pub(super) use payments;

const CHECKOUTS: &str = "SELECT id, reference, amount, currency, description, methods, return_url, metadata,
        callback_secret, state, version, opened_at, expires_at, paid_by, is_overpaid, refunds_due, page_secret
    FROM checkouts WHERE id = ANY($1)";
const PAYMENTS: &str = payments!("checkout_id = ANY($1) ORDER BY checkout_id, number");

/// Parses a stored text.
pub(super) fn read<T: FromStr>(text: &str, what: &'static str) -> Result<T, Problem> {
    text.parse().map_err(|_| StorageError::Damaged { what }.into())
}

/// The identifier in a row's first column.
pub(super) fn id<T: FromStr>(row: &Row, what: &'static str) -> Result<T, Problem> {
    read(row.try_get(0)?, what)
}

/// A count, which is never negative.
pub(super) fn count(row: &Row, column: usize) -> Result<u64, Problem> {
    Ok(row.try_get::<_, i64>(column)?.unsigned_abs())
}

/// A small number.
pub(super) fn small(row: &Row, column: usize) -> Result<u32, Problem> {
    Ok(u32::try_from(row.try_get::<_, i64>(column)?).unwrap_or(u32::MAX))
}

fn amount(row: &Row, column: usize, what: &'static str) -> Result<Option<Decimal>, Problem> {
    row.try_get::<_, Option<&str>>(column)?.map(|text| read(text, what)).transpose()
}

pub(super) fn payment_row(row: &Row) -> Result<PaymentRow, Problem> {
    let reference: PaymentRef = read(row.try_get(5)?, "reference")?;
    let failure_kind: Option<String> = row.try_get(8)?;
    let (code, reason) = (row.try_get(9)?, row.try_get(10)?);
    let (id, checkout) = (read(row.try_get(0)?, "payment")?, read(row.try_get(1)?, "checkout")?);
    let payment = Payment {
        number: small(row, 2)?,
        state: read(row.try_get(4)?, "state")?,
        page_url: row.try_get(6)?,
        qr_text: row.try_get(7)?,
        card_last4: row.try_get(18)?,
        phone_last2: row.try_get(24)?,
        payer_phone: row.try_get::<_, Option<String>>(26)?.map(Hidden::new),
        commission: amount(row, 27, "commission")?,
        total: amount(row, 28, "total")?,
        code_expires_at: row.try_get(29)?,
        failure: failure_kind.map(|kind| Failure::with(kind, code, reason)),
        attempts_left: small(row, 13)?,
        is_stuck: row.try_get(16)?,
        is_in_doubt: row.try_get(22)?,
        is_replaced: row.try_get(25)?,
        begun_at: row.try_get(11)?,
        claimed_at: row.try_get(30)?,
        charged_at: row.try_get(31)?,
        ..Payment::new(id, checkout, read(row.try_get(3)?, "method")?, reference)
    };
    Ok(PaymentRow {
        payment,
        sender: row.try_get(12)?,
        until: row.try_get(19)?,
        unknown_since: row.try_get(20)?,
        is_hinted: row.try_get(15)?,
        mismatches: small(row, 14)?,
        mismatch_at: row.try_get(23)?,
        is_resolved: row.try_get(17)?,
        events: row.try_get(21)?,
        due_since: None::<Millis>,
        claims: Vec::new(),
        dropped_claims: Vec::new(),
        dirty: DirtyFields::default(),
    })
}

fn checkout(row: &Row) -> Result<Checkout, Problem> {
    let (methods, metadata): (&str, &str) = (row.try_get(5)?, row.try_get(7)?);
    let paid_by: Option<&str> = row.try_get(13)?;
    Ok(Checkout {
        id: id(row, "checkout")?,
        reference: row.try_get(1)?,
        amount: read(row.try_get(2)?, "amount")?,
        currency: row.try_get(3)?,
        description: row.try_get(4)?,
        methods: methods.split(',').map(|method| read(method, "method")).collect::<Result<_, _>>()?,
        return_url: row.try_get(6)?,
        metadata: serde_json::from_str(metadata).map_err(|_| StorageError::Damaged { what: "metadata" })?,
        state: read(row.try_get(9)?, "state")?,
        version: row.try_get(10)?,
        opened_at: row.try_get(11)?,
        expires_at: row.try_get(12)?,
        paid_by: paid_by.map(|id| read(id, "payment")).transpose()?,
        is_overpaid: row.try_get(14)?,
        refunds_due: small(row, 15)?,
        callback_secret: Hidden::new(row.try_get::<_, String>(8)?),
        page_secret: Hidden::new(row.try_get::<_, String>(16)?),
    })
}

/// The checkouts of these identifiers with their payments, in this order. In a snapshot transaction they are consistent;
/// otherwise the payments may be newer than the checkout.
pub(super) async fn views(db: &Session, ids: &[String]) -> Result<Vec<CheckoutView>, Problem> {
    let queries: Vec<Query<'_>> = vec![(CHECKOUTS, vec![&ids]), (PAYMENTS, vec![&ids])];
    let found = db.together(queries).await?;
    let mut payments: HashMap<&str, Vec<Payment>> = HashMap::new();
    for row in found.get(1).into_iter().flatten() {
        payments.entry(row.try_get(1)?).or_default().push(payment_row(row)?.payment);
    }
    let mut views = HashMap::new();
    for row in found.first().into_iter().flatten() {
        let id: &str = row.try_get(0)?;
        views.insert(id, CheckoutView::new(checkout(row)?, payments.remove(id).unwrap_or_default()));
    }
    Ok(ids.iter().filter_map(|id| views.remove(id.as_str())).collect())
}

/// The checkout of an identifier.
pub(super) async fn view(db: &Session, id: &str) -> Result<Option<CheckoutView>, Problem> {
    Ok(views(db, &[id.to_owned()]).await?.pop())
}

/// A checkout that must exist.
pub(super) async fn existing_view(db: &Session, id: &str) -> Result<CheckoutView, Problem> {
    view(db, id).await?.ok_or_else(|| StorageError::Damaged { what: "checkout's identifier" }.into())
}

// Exchanges with the gateway about payments. `saving` writes them.

const OF_PAYMENTS: &str =
    "SELECT payment_id, kind, claim, outcome, http_status, code, words, response, first_at, last_at, times
    FROM exchanges WHERE payment_id = ANY($1) ORDER BY payment_id, number";

/// All stored exchanges of each payment, the oldest first.
pub(super) async fn of_payments(db: &Session, payments: &[Payment]) -> Result<Vec<Vec<StoredExchange>>, Problem> {
    let ids: Vec<&str> = payments.iter().map(|payment| payment.id.as_str()).collect();
    let rows = db.rows(OF_PAYMENTS, &[&ids]).await?;
    let mut exchanges: HashMap<&str, Vec<StoredExchange>> = HashMap::new();
    for row in &rows {
        exchanges.entry(row.try_get(0)?).or_default().push(stored_exchange(row)?);
    }
    Ok(ids.iter().map(|id| exchanges.remove(id).unwrap_or_default()).collect())
}

const REPLIES: &str =
    "SELECT payment_id, kind, claim, outcome, http_status, code, words, response, first_at, last_at, times,
        exchanges.number, reference
    FROM exchanges JOIN payments ON payments.id = payment_id
    WHERE (payment_id, exchanges.number) > ($1, $2) ORDER BY payment_id, exchanges.number LIMIT $3";

/// The next responses after a place, in the order of their payments' identifiers.
pub(super) async fn replies(client: &Client, after: &(String, u64)) -> Result<Vec<StoredReply>, Problem> {
    let number = i64::try_from(after.1).unwrap_or(i64::MAX);
    let rows = client.query(REPLIES, &[&after.0, &number, &REPLIES_PAGE]).await?;
    let reply = |row: &Row| {
        let (payment_id, reference) = (row.try_get(0)?, read(row.try_get(12)?, "payment")?);
        Ok(StoredReply { payment_id, number: count(row, 11)?, reference, stored: stored_exchange(row)? })
    };
    rows.iter().map(reply).collect()
}

fn stored_exchange(row: &Row) -> Result<StoredExchange, Problem> {
    let status: Option<i64> = row.try_get(4)?;
    let exchange = Exchange {
        claim: row.try_get(2)?,
        http_status: status.and_then(|status| u16::try_from(status).ok()),
        code: row.try_get(5)?,
        words: row.try_get(6)?,
        response: row.try_get(7)?,
        ..Exchange::new(read(row.try_get(1)?, "question")?, row.try_get::<_, String>(3)?)
    };
    Ok(StoredExchange { exchange, first_at: row.try_get(8)?, last_at: row.try_get(9)?, times: count(row, 10)? })
}
