//! Payments: inserted once, found by their numbers, and updated.

use rusqlite::{Connection, OptionalExtension, Params, Row, named_params};
use rust_decimal::Decimal;

use crate::{
    domain::{Language, Payment, PaymentKind, PaymentStatus, Provider, RejectReason, clock},
    redact::without_card_numbers,
    store::{
        self, StoreError, WriteTransaction,
        columns::{optional_parsed, parsed},
    },
};

/// The number of wrong one-time passwords after which a payment is rejected.
pub(crate) const OTP_ATTEMPTS: u32 = 3;

/// A payment to register.
pub(crate) struct NewPayment {
    pub(crate) kind: PaymentKind,
    pub(crate) order_number: String,
    pub(crate) gateway_number: String,
    pub(crate) provider: Option<Provider>,
    pub(crate) amount: Option<Decimal>,
    pub(crate) currency: String,
    pub(crate) description: String,
    pub(crate) holder_name: Option<String>,
    pub(crate) requisite: Option<String>,
    pub(crate) masked_card: Option<String>,
    pub(crate) masked_phone: Option<String>,
    pub(crate) language: Option<Language>,
    pub(crate) return_url: Option<String>,
    pub(crate) callback_url: Option<String>,
    /// Whether the payer of a card was sent to the confirmation page.
    pub(crate) confirmation_page: bool,
}

/// A payment with all its stored data.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) id: i64,
    pub(crate) payment: Payment,
    pub(crate) description: String,
    pub(crate) holder_name: Option<String>,
    pub(crate) requisite: Option<String>,
    pub(crate) language: Option<Language>,
    pub(crate) return_url: Option<String>,
    pub(crate) callback_url: Option<String>,
    pub(crate) confirmation_page: bool,
    pub(crate) created_at: i64,
    /// The time at which it became final, if it did.
    pub(crate) finished_at: Option<i64>,
    /// Whether a fault has just prevented it from becoming final.
    pub(crate) stuck: bool,
}

/// The columns of `payments p` for a record, in the order in which `record` reads them.
pub(super) const COLUMNS: &str = "SELECT p.id, p.kind, p.order_number, p.gateway_number, p.provider, p.amount,
    p.currency, p.status, p.reject_reason, p.masked_card, p.masked_phone, p.otp_attempts_left, p.description,
    p.holder_name, p.requisite, p.language, p.return_url, p.callback_url, p.confirmation_page, p.created_at,
    p.finished_at, (
        SELECT COUNT(*) FROM payments o JOIN state_changes c ON c.payment_id = o.id
        WHERE o.order_number = p.order_number AND c.status = 'CHARGE'
    ) AS times_charged";

pub(super) const OPEN_FIRST: &str = "ORDER BY p.status = 'CHARGE' OR p.status = 'Reject', p.id DESC";

/// Registers a payment. Card numbers in the merchant's texts are masked; an order number stays as it is.
pub(crate) fn insert(transaction: &WriteTransaction<'_>, new: &NewPayment) -> Result<Record, StoreError> {
    let masked = |text: &Option<String>| text.as_deref().map(without_card_numbers);
    let now = store::transaction::gateway_now(transaction)?;
    transaction
        .prepare_cached(
            "INSERT INTO payments (kind, order_number, gateway_number, provider, amount, currency, description,
                holder_name, requisite, masked_card, masked_phone, language, return_url, callback_url,
                confirmation_page, status, otp_attempts_left, created_at)
             VALUES (:kind, :order_number, :gateway_number, :provider, :amount, :currency, :description,
                :holder_name, :requisite, :masked_card, :masked_phone, :language, :return_url, :callback_url,
                :confirmation_page, :status, :attempts, :now)",
        )?
        .execute(named_params! {
            ":kind": new.kind.as_str(),
            ":order_number": new.order_number,
            ":gateway_number": new.gateway_number,
            ":provider": new.provider.map(Provider::as_str),
            ":amount": new.amount.map(|amount| amount.to_string()),
            ":currency": new.currency,
            ":description": without_card_numbers(&new.description),
            ":holder_name": masked(&new.holder_name),
            ":requisite": masked(&new.requisite),
            ":masked_card": new.masked_card,
            ":masked_phone": new.masked_phone,
            ":language": new.language.map(Language::code),
            ":return_url": new.return_url,
            ":callback_url": new.callback_url,
            ":confirmation_page": new.confirmation_page,
            ":status": PaymentStatus::Created.as_str(),
            ":attempts": OTP_ATTEMPTS,
            ":now": now,
        })?;
    let id = transaction.last_insert_rowid();
    note_change(transaction, id, PaymentStatus::Created, now)?;
    by_id(transaction, id)
}

/// The payment with an id.
pub(crate) fn by_id(connection: &Connection, id: i64) -> Result<Record, StoreError> {
    let sql = format!("{COLUMNS} FROM payments p WHERE p.id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([id], record)?)
}

/// The latest payment with an order number; if several have it, open ones first.
pub(crate) fn by_order_number(connection: &Connection, order_number: &str) -> Result<Option<Record>, StoreError> {
    first(connection, &format!("WHERE p.order_number = ?1 {OPEN_FIRST}"), [order_number])
}

/// Like `by_order_number`, among the payments of one provider.
pub(crate) fn by_order_number_and_provider(
    connection: &Connection,
    order_number: &str,
    provider: Provider,
) -> Result<Option<Record>, StoreError> {
    let clause = format!("WHERE p.order_number = ?1 AND p.provider = ?2 {OPEN_FIRST}");
    first(connection, &clause, [order_number, provider.as_str()])
}

/// Like `by_order_number`, among the payments of one kind.
pub(crate) fn by_order_number_and_kind(
    connection: &Connection,
    order_number: &str,
    kind: PaymentKind,
) -> Result<Option<Record>, StoreError> {
    let clause = format!("WHERE p.order_number = ?1 AND p.kind = ?2 {OPEN_FIRST}");
    first(connection, &clause, [order_number, kind.as_str()])
}

/// The first payment with an order number.
pub(crate) fn first_with_order_number(
    connection: &Connection,
    order_number: &str,
) -> Result<Option<Record>, StoreError> {
    first(connection, "WHERE p.order_number = ?1 ORDER BY p.id", [order_number])
}

/// The payment with a number: the merchant's or a transaction id, else the gateway's.
pub(crate) fn by_any_number(connection: &Connection, number: &str) -> Result<Option<Record>, StoreError> {
    match by_order_number(connection, number)? {
        Some(record) => Ok(Some(record)),
        None => by_gateway_number(connection, number),
    }
}

/// The payment with a gateway number.
pub(crate) fn by_gateway_number(connection: &Connection, number: &str) -> Result<Option<Record>, StoreError> {
    first(connection, "WHERE p.gateway_number = ?1", [number])
}

/// The first payment of a clause. The clause has no `LIMIT`: with one, SQLite would sort even a single row in a separate table.
pub(super) fn first(connection: &Connection, clause: &str, params: impl Params) -> Result<Option<Record>, StoreError> {
    let sql = format!("{COLUMNS} FROM payments p {clause}");
    Ok(connection.prepare_cached(&sql)?.query_row(params, record).optional()?)
}

/// Whether there are any payments.
pub(crate) fn any(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM payments)")?.query_row((), |row| row.get(0))?)
}

/// All payments, in the order of registration; those with one number, if it is given.
pub(crate) fn all(connection: &Connection, number: Option<&str>) -> Result<Vec<Payment>, StoreError> {
    let sql = format!(
        "{COLUMNS} FROM payments p WHERE ?1 IS NULL OR p.order_number = ?1 OR p.gateway_number = ?1 ORDER BY p.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let payments =
        statement.query_map([number], |row| record(row).map(|record| record.payment))?.collect::<Result<_, _>>()?;
    Ok(payments)
}

/// Sets the payer's choice on the pay-form.
pub(crate) fn set_payer(
    transaction: &WriteTransaction<'_>,
    id: i64,
    provider: Provider,
    masked_card: Option<&str>,
    masked_phone: Option<&str>,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("UPDATE payments SET provider = ?2, masked_card = ?3, masked_phone = ?4 WHERE id = ?1")?
        .execute((id, provider.as_str(), masked_card, masked_phone))?;
    Ok(())
}

/// Changes the status and records the time, with the reason of a rejection, if any.
pub(crate) fn set_status(
    transaction: &WriteTransaction<'_>,
    id: i64,
    status: PaymentStatus,
    reason: Option<RejectReason>,
) -> Result<(), StoreError> {
    let now = store::transaction::gateway_now(transaction)?;
    let since = |is_so: bool| is_so.then_some(now);
    transaction
        .prepare_cached(
            "UPDATE payments SET status = ?2, reject_reason = ?3, finished_at = ?4, pending_since = ?5 WHERE id = ?1",
        )?
        .execute((
            id,
            status.as_str(),
            reason.map(RejectReason::code),
            since(status.is_final()),
            since(status == PaymentStatus::Pending),
        ))?;
    note_change(transaction, id, status, now)
}

/// Adds a status to a payment's history.
fn note_change(transaction: &WriteTransaction<'_>, id: i64, status: PaymentStatus, at: i64) -> Result<(), StoreError> {
    transaction.prepare_cached("INSERT INTO state_changes (payment_id, status, at) VALUES (?1, ?2, ?3)")?.execute((
        id,
        status.as_str(),
        at,
    ))?;
    Ok(())
}

/// Sets the amount that the payer of a QR code without a sum entered.
pub(crate) fn set_amount(transaction: &WriteTransaction<'_>, id: i64, amount: Decimal) -> Result<(), StoreError> {
    transaction.prepare_cached("UPDATE payments SET amount = ?2 WHERE id = ?1")?.execute((id, amount.to_string()))?;
    Ok(())
}

/// Sets the callback URL, if a later request has one.
pub(crate) fn set_callback_url(transaction: &WriteTransaction<'_>, id: i64, url: &str) -> Result<(), StoreError> {
    transaction.prepare_cached("UPDATE payments SET callback_url = ?2 WHERE id = ?1")?.execute((id, url))?;
    Ok(())
}

/// Decrements the remaining attempts.
pub(crate) fn spend_otp_attempt(transaction: &WriteTransaction<'_>, id: i64) -> Result<(), StoreError> {
    transaction
        .prepare_cached("UPDATE payments SET otp_attempts_left = MAX(otp_attempts_left - 1, 0) WHERE id = ?1")?
        .execute([id])?;
    Ok(())
}

/// Reads the record from a row.
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let kind = parsed(row, 1)?;
    let order_number: String = row.get(2)?;
    let created_at = row.get(19)?;
    let payment = Payment {
        kind,
        transaction_id: (kind == PaymentKind::Qr).then(|| order_number.clone()),
        order_number,
        gateway_number: row.get(3)?,
        provider: optional_parsed(row, 4)?,
        amount: optional_parsed(row, 5)?,
        currency: row.get(6)?,
        status: parsed(row, 7)?,
        reject_reason: optional_parsed(row, 8)?,
        times_charged: row.get(21)?,
        created: clock::system_time(created_at),
        masked_card: row.get(9)?,
        masked_phone: row.get(10)?,
        otp_attempts_left: row.get(11)?,
    };
    Ok(Record {
        id: row.get(0)?,
        payment,
        description: row.get(12)?,
        holder_name: row.get(13)?,
        requisite: row.get(14)?,
        language: optional_parsed(row, 15)?,
        return_url: row.get(16)?,
        callback_url: row.get(17)?,
        confirmation_page: row.get(18)?,
        created_at,
        finished_at: row.get(20)?,
        stuck: false,
    })
}

/// Counts a status query for a pending payment, and returns the count.
pub(crate) fn count_pending_query(transaction: &WriteTransaction<'_>, id: i64) -> Result<u32, StoreError> {
    Ok(transaction
        .prepare_cached(
            "UPDATE payments SET pending_queries = pending_queries + 1 WHERE id = ?1 RETURNING pending_queries",
        )?
        .query_row([id], |row| row.get(0))?)
}

/// Sets the reason with which a pending payment will be rejected.
pub(crate) fn set_pending_reason(
    transaction: &WriteTransaction<'_>,
    id: i64,
    reason: RejectReason,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("UPDATE payments SET pending_reason = ?2 WHERE id = ?1")?
        .execute((id, reason.code()))?;
    Ok(())
}

/// The reason with which a pending payment will be rejected; `None` if it will be charged.
pub(crate) fn pending_reason(connection: &Connection, id: i64) -> Result<Option<RejectReason>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT pending_reason FROM payments WHERE id = ?1")?
        .query_row([id], |row| optional_parsed(row, "pending_reason"))?)
}

/// The payments that have been pending since this time or longer.
pub(crate) fn pending_since(connection: &Connection, since: i64) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM payments WHERE status = 'PENDING' AND pending_since <= ?1 ORDER BY pending_since, id",
    )?;
    let ids = statement.query_map([since], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// The time since which the longest pending payment has been pending.
pub(crate) fn longest_pending(connection: &Connection) -> Result<Option<i64>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT MIN(pending_since) FROM payments WHERE status = 'PENDING'")?
        .query_row((), |row| row.get(0))?)
}
