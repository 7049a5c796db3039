//! Conversion of rows to values.

use std::str::FromStr;

use kassa::PaymentRef;
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};

use crate::{
    checkouts::{Checkout, CheckoutView},
    payments::{
        Failure, Payment,
        exchange::{Exchange, ExchangeKind},
    },
    storage::{
        StorageError,
        aggregate::{
            PaymentRow,
            changes::{DirtyFields, FIRST_EXCHANGES, MOST_EXCHANGES},
        },
        staff::{REPLIES_PAGE, StoredExchange, StoredReply},
    },
    values::{CheckoutId, Hidden, Method, Millis, PaymentId},
};

const CHECKOUT: &str = "id, reference, amount, currency, description, methods, return_url, metadata, callback_secret, \
    state, version, opened_at, expires_at, paid_by, is_overpaid, refunds_due, page_secret";

const PAYMENT: &str = "id, checkout_id, number, method, state, reference, page_url, qr_text, failure_kind, failure_code, \
    failure_reason, begun_at, sender, attempts_left, mismatches, is_hinted, is_stuck, is_resolved, card_last4, until, \
    unknown_since, events, is_in_doubt, mismatch_at, phone_last2, is_replaced, payer_phone, commission, total, \
    code_expires_at, claimed_at, charged_at";

/// Parses a stored text.
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

fn payment_of(row: &Row<'_>) -> rusqlite::Result<Result<PaymentRow, StorageError>> {
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
    let (payer_phone, code_expires_at) = (row.get::<_, Option<String>>(26)?, row.get(29)?);
    let (claimed_at, charged_at) = (row.get(30)?, row.get(31)?);
    let (commission, total): (Option<String>, Option<String>) = (row.get(27)?, row.get(28)?);
    Ok((|| {
        let reference: PaymentRef = read(&reference, "reference")?;
        let payment = Payment {
            number,
            state: read(&state, "state")?,
            page_url,
            qr_text,
            card_last4,
            phone_last2,
            payer_phone: payer_phone.map(Hidden::new),
            commission: commission.map(|text| read(&text, "commission")).transpose()?,
            total: total.map(|text| read(&text, "total")).transpose()?,
            code_expires_at,
            failure: failure_kind.map(|kind| Failure::with(kind, code, reason)),
            attempts_left,
            is_stuck,
            is_in_doubt,
            is_replaced,
            begun_at,
            claimed_at,
            charged_at,
            ..Payment::new(read(&id, "payment")?, read(&checkout, "checkout")?, read(&method, "method")?, reference)
        };
        Ok(PaymentRow {
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
            dirty: DirtyFields::default(),
        })
    })())
}

pub(super) fn checkout(db: &Connection, id: &CheckoutId) -> Result<Option<Checkout>, StorageError> {
    checkout_where(db, "id", id.as_str())
}

/// Reads a checkout by one of its unique columns.
pub(super) fn checkout_where(db: &Connection, column: &str, value: &str) -> Result<Option<Checkout>, StorageError> {
    let mut statement = db.prepare_cached(&format!("SELECT {CHECKOUT} FROM checkouts WHERE {column} = ?1"))?;
    statement.query_row([value], checkout_of).optional()?.transpose()
}

pub(super) fn payments_of(db: &Connection, checkout: &CheckoutId) -> Result<Vec<PaymentRow>, StorageError> {
    let sql = format!("SELECT {PAYMENT} FROM payments WHERE checkout_id = ?1 ORDER BY number");
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map([checkout.as_str()], payment_of)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().collect()
}

pub(super) fn payment(db: &Connection, id: &PaymentId) -> Result<Option<PaymentRow>, StorageError> {
    let mut statement = db.prepare_cached(&format!("SELECT {PAYMENT} FROM payments WHERE id = ?1"))?;
    statement.query_row([id.as_str()], payment_of).optional()?.transpose()
}

pub(super) fn view(db: &Connection, id: &CheckoutId) -> Result<Option<CheckoutView>, StorageError> {
    let Some(checkout) = checkout(db, id)? else { return Ok(None) };
    let payments = payments_of(db, id)?.into_iter().map(|row| row.payment).collect();
    Ok(Some(CheckoutView::new(checkout, payments)))
}

/// A checkout that must exist.
pub(super) fn existing_view(db: &Connection, id: &CheckoutId) -> Result<CheckoutView, StorageError> {
    view(db, id)?.ok_or(StorageError::Damaged { what: "checkout's identifier" })
}

// Exchanges with the gateway about a payment, with run-length encoding: a response that equals the last one to the same kind of
// request is counted. They are written in the transaction of their change.

type ExchangeColumns = (Exchange, Millis, Millis, i64);

/// An exchange to insert; with its sender if the request is sent once.
pub(super) struct ExchangeInsert<'a> {
    pub(super) now: Millis,
    pub(super) of: &'a PaymentId,
    pub(super) exchange: &'a Exchange,
    pub(super) sender: Option<&'a str>,
}

impl ExchangeInsert<'_> {
    /// Records it. A sender may repeat it after an uncertain commit (idempotency).
    pub(super) fn note(&self, db: &Connection) -> Result<(), StorageError> {
        // A payment is created once: there is nothing to compare with, and its payer waits.
        let is_first = self.exchange.kind == ExchangeKind::Create;
        if self.was_recorded_before(db)? || (!is_first && self.count_again(db)?) {
            return Ok(());
        }
        if self.insert(db)? > MOST_EXCHANGES {
            db.prepare_cached(
                "DELETE FROM exchanges WHERE payment_id = ?1 AND number =
                    (SELECT number FROM exchanges WHERE payment_id = ?1 ORDER BY number LIMIT 1 OFFSET ?2)",
            )?
            .execute((self.of.as_str(), FIRST_EXCHANGES))?;
        }
        Ok(())
    }

    fn was_recorded_before(&self, db: &Connection) -> Result<bool, StorageError> {
        let Some(sender) = self.sender else { return Ok(false) };
        let kind = <&str>::from(self.exchange.kind);
        let sql = "SELECT EXISTS (SELECT 1 FROM exchanges WHERE payment_id = ?1 AND kind = ?2 AND sender = ?3)";
        Ok(db.prepare_cached(sql)?.query_row((self.of.as_str(), kind, sender), |row| row.get(0))?)
    }

    /// Counts it if the last response to this request was the same. True if so.
    fn count_again(&self, db: &Connection) -> Result<bool, StorageError> {
        let mut statement = db.prepare_cached(
            "UPDATE exchanges SET times = times + 1, last_at = ?9, sender = ?10
             WHERE payment_id = ?1 AND number =
                (SELECT MAX(number) FROM exchanges WHERE payment_id = ?1 AND kind = ?2 AND claim IS ?3)
             AND outcome = ?4 AND http_status IS ?5 AND code IS ?6 AND words IS ?7 AND response IS ?8",
        )?;
        self.bind(&mut statement)?;
        Ok(statement.raw_execute()? == 1)
    }

    /// Inserts it. Returns its number.
    fn insert(&self, db: &Connection) -> Result<i64, StorageError> {
        let mut statement = db.prepare_cached(
            "INSERT INTO exchanges (payment_id, number, kind, claim, outcome, http_status, code, words, response, first_at,
                last_at, times, sender)
             SELECT ?1, COALESCE(MAX(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 1, ?10
             FROM exchanges WHERE payment_id = ?1 RETURNING number",
        )?;
        self.bind(&mut statement)?;
        let number = statement.raw_query().next()?.map(|row| row.get(0)).transpose()?;
        number.ok_or_else(|| StorageError::failed("an exchange was not recorded"))
    }

    fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        let exchange = self.exchange;
        statement.raw_bind_parameter(1, self.of.as_str())?;
        statement.raw_bind_parameter(2, <&str>::from(exchange.kind))?;
        statement.raw_bind_parameter(3, &exchange.claim)?;
        statement.raw_bind_parameter(4, &exchange.outcome)?;
        statement.raw_bind_parameter(5, exchange.http_status)?;
        statement.raw_bind_parameter(6, &exchange.code)?;
        statement.raw_bind_parameter(7, &exchange.words)?;
        statement.raw_bind_parameter(8, &exchange.response)?;
        statement.raw_bind_parameter(9, self.now)?;
        statement.raw_bind_parameter(10, self.sender)
    }
}

/// All stored exchanges of a payment, the oldest first.
pub(super) fn of_payment(db: &Connection, id: &PaymentId) -> Result<Vec<StoredExchange>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT kind, claim, outcome, http_status, code, words, response, first_at, last_at, times FROM exchanges
         WHERE payment_id = ?1 ORDER BY number",
    )?;
    let rows = statement.query_map([id.as_str()], exchange_of)?.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter()
        .map(|(kind, (exchange, first_at, last_at, times))| {
            let exchange = Exchange { kind: read(&kind, "question")?, ..exchange };
            Ok(StoredExchange { exchange, first_at, last_at, times: times.unsigned_abs() })
        })
        .collect()
}

/// The next responses after a place, in the order of their payments' identifiers.
pub(super) fn replies(db: &Connection, after: &(String, u64)) -> Result<Vec<StoredReply>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT kind, claim, outcome, http_status, code, words, response, first_at, last_at, times, payment_id,
            exchanges.number, reference
         FROM exchanges JOIN payments ON payments.id = payment_id
         WHERE (payment_id, exchanges.number) > (?1, ?2) ORDER BY payment_id, exchanges.number LIMIT ?3",
    )?;
    let number = i64::try_from(after.1).unwrap_or(i64::MAX);
    let rows = statement.query_map(params![after.0, number, REPLIES_PAGE], |row| {
        Ok((exchange_of(row)?, (row.get::<_, String>(10)?, row.get::<_, i64>(11)?, row.get::<_, String>(12)?)))
    })?;
    rows.map(|row| {
        let ((kind, (exchange, first_at, last_at, times)), (payment_id, number, reference)) = row?;
        let exchange = Exchange { kind: read(&kind, "question")?, ..exchange };
        let stored = StoredExchange { exchange, first_at, last_at, times: times.unsigned_abs() };
        Ok(StoredReply { payment_id, number: number.unsigned_abs(), reference: read(&reference, "payment")?, stored })
    })
    .collect()
}

fn exchange_of(row: &Row<'_>) -> rusqlite::Result<(String, ExchangeColumns)> {
    let exchange = Exchange {
        claim: row.get(1)?,
        http_status: row.get(3)?,
        code: row.get(4)?,
        words: row.get(5)?,
        response: row.get(6)?,
        ..Exchange::new(ExchangeKind::Status, row.get::<_, String>(2)?)
    };
    Ok((row.get(0)?, (exchange, row.get(7)?, row.get(8)?, row.get(9)?)))
}

/// Deletes the exchanges of a checkout, some time after its end.
pub(super) fn forget(db: &Connection, checkout: &str) -> Result<(), StorageError> {
    let sql = "DELETE FROM exchanges WHERE payment_id IN (SELECT id FROM payments WHERE checkout_id = ?1)";
    db.prepare_cached(sql)?.execute([checkout])?;
    Ok(())
}
