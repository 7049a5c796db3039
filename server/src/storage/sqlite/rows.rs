//! Rows as what they stand for.

use std::str::FromStr;

use kassa::PaymentRef;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    checkouts::checkout::{Checkout, CheckoutView},
    payments::payment::{Failure, Payment},
    storage::{
        book::{Kept, changes::Touched},
        error::StorageError,
    },
    values::{
        hidden::Hidden,
        ids::{CheckoutId, PaymentId},
        method::Method,
    },
};

const CHECKOUT: &str = "id, reference, amount, currency, description, methods, return_url, metadata, callback_secret, \
    state, version, opened_at, expires_at, paid_by, is_overpaid, refunds_due, page_secret";

const PAYMENT: &str = "id, checkout_id, number, method, state, reference, page_url, qr_text, failure_kind, failure_code, \
    failure_reason, begun_at, sender, attempts_left, mismatches, is_hinted, is_stuck, is_resolved, card_last4, until, \
    unknown_since, events, is_in_doubt, mismatch_at, phone_last2, is_replaced";

/// A text that this server wrote, read back.
pub(super) fn read<T: FromStr>(text: &str, what: &'static str) -> Result<T, StorageError> {
    text.parse().map_err(|_| StorageError::Damaged { what })
}

pub(super) fn methods_text(methods: &[Method]) -> String {
    methods.iter().map(Method::to_string).collect::<Vec<_>>().join(",")
}

fn checkout_of(row: &Row<'_>) -> rusqlite::Result<Result<Checkout, StorageError>> {
    let text = |index| row.get::<_, String>(index);
    let (id, amount, methods, metadata, state) = (text(0)?, text(2)?, text(5)?, text(7)?, text(9)?);
    let (reference, currency, description, return_url) = (text(1)?, text(3)?, text(4)?, text(6)?);
    let (callback_secret, paid_by) = (Hidden::new(text(8)?), row.get::<_, Option<String>>(13)?);
    let (version, opened_at, expires_at) = (row.get(10)?, row.get(11)?, row.get(12)?);
    let (is_overpaid, refunds_due, page_secret) = (row.get(14)?, row.get(15)?, Hidden::new(text(16)?));
    Ok((|| {
        Ok(Checkout {
            id: read(&id, "checkout")?,
            reference,
            amount: read(&amount, "amount")?,
            currency,
            description,
            methods: methods.split(',').map(|method| read(method, "method")).collect::<Result<_, _>>()?,
            return_url,
            metadata: serde_json::from_str(&metadata).map_err(|_| StorageError::Damaged { what: "metadata" })?,
            state: read(&state, "state")?,
            version,
            opened_at,
            expires_at,
            paid_by: paid_by.map(|id| read(&id, "payment")).transpose()?,
            is_overpaid,
            refunds_due,
            callback_secret,
            page_secret,
        })
    })())
}

fn payment_of(row: &Row<'_>) -> rusqlite::Result<Result<Kept, StorageError>> {
    let text = |index| row.get::<_, String>(index);
    let (id, checkout, method, state, reference) = (text(0)?, text(1)?, text(3)?, text(4)?, text(5)?);
    let failure_kind: Option<String> = row.get(8)?;
    let (code, reason) = (row.get(9)?, row.get(10)?);
    let (number, page_url, qr_text, begun_at) = (row.get(2)?, row.get(6)?, row.get(7)?, row.get(11)?);
    let (sender, attempts_left, mismatches) = (row.get(12)?, row.get(13)?, row.get(14)?);
    let (is_hinted, is_stuck, is_resolved, card_last4) = (row.get(15)?, row.get(16)?, row.get(17)?, row.get(18)?);
    let (until, unknown_since, events) = (row.get(19)?, row.get(20)?, row.get(21)?);
    let (is_in_doubt, mismatch_at) = (row.get(22)?, row.get(23)?);
    let (phone_last2, is_replaced) = (row.get(24)?, row.get(25)?);
    Ok((|| {
        let reference: PaymentRef = read(&reference, "reference")?;
        let payment = Payment {
            number,
            state: read(&state, "state")?,
            page_url,
            qr_text,
            card_last4,
            phone_last2,
            failure: failure_kind.map(|kind| Failure::with(kind, code, reason)),
            attempts_left,
            is_stuck,
            is_in_doubt,
            is_replaced,
            begun_at,
            ..Payment::new(read(&id, "payment")?, read(&checkout, "checkout")?, read(&method, "method")?, reference)
        };
        Ok(Kept {
            payment,
            sender,
            until,
            unknown_since,
            is_hinted,
            mismatches,
            mismatch_at,
            is_resolved,
            events,
            due_since: None,
            claims: Vec::new(),
            dropped_claims: Vec::new(),
            touched: Touched::default(),
        })
    })())
}

pub(super) fn checkout(db: &Connection, id: &CheckoutId) -> Result<Option<Checkout>, StorageError> {
    checkout_where(db, "id", id.as_str())
}

/// By one of its unique columns.
pub(super) fn checkout_where(db: &Connection, column: &str, value: &str) -> Result<Option<Checkout>, StorageError> {
    let mut statement = db.prepare_cached(&format!("SELECT {CHECKOUT} FROM checkouts WHERE {column} = ?1"))?;
    statement.query_row([value], checkout_of).optional()?.transpose()
}

pub(super) fn payments_of(db: &Connection, checkout: &CheckoutId) -> Result<Vec<Kept>, StorageError> {
    let sql = format!("SELECT {PAYMENT} FROM payments WHERE checkout_id = ?1 ORDER BY number");
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map([checkout.as_str()], payment_of)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().collect()
}

pub(super) fn payment(db: &Connection, id: &PaymentId) -> Result<Option<Kept>, StorageError> {
    let mut statement = db.prepare_cached(&format!("SELECT {PAYMENT} FROM payments WHERE id = ?1"))?;
    statement.query_row([id.as_str()], payment_of).optional()?.transpose()
}

pub(super) fn view(db: &Connection, id: &CheckoutId) -> Result<Option<CheckoutView>, StorageError> {
    let Some(checkout) = checkout(db, id)? else { return Ok(None) };
    let payments = payments_of(db, id)?.into_iter().map(|kept| kept.payment).collect();
    Ok(Some(CheckoutView::new(checkout, payments)))
}

/// One that must be there.
pub(super) fn kept_view(db: &Connection, id: &CheckoutId) -> Result<CheckoutView, StorageError> {
    view(db, id)?.ok_or(StorageError::Damaged { what: "checkout's identifier" })
}
