//! Opens and saves a checkout's aggregate. There is only one writer: nothing else changes while an aggregate is open.

use rusqlite::{Connection, OptionalExtension, Row};

use super::{
    connection::now,
    outbox,
    rows::{self, ExchangeInsert, read},
    schedule,
};
use crate::{
    storage::{
        StorageError,
        aggregate::{
            AggregateRoot, CheckoutAggregate, DirtyRootFields, PaymentRow,
            changes::{Changes, KeyUse, MOST_KEYS, Number, Numbers},
            claims::ClaimRow,
        },
    },
    values::{CheckoutId, CheckoutState, Method, Millis, PaymentId},
};

/// The aggregate of a checkout with all its payments.
pub(super) fn open(db: &Connection, id: &CheckoutId) -> Result<Option<CheckoutAggregate>, StorageError> {
    let Some(root) = root(db, id)? else { return Ok(None) };
    Ok(Some(CheckoutAggregate { root, payments: rows::payments_of(db, id)?, is_damaged: false }))
}

/// The aggregate of a payment's checkout with only that payment, at index 0.
pub(super) fn open_at(db: &Connection, payment: &PaymentId) -> Result<Option<CheckoutAggregate>, StorageError> {
    let Some(row) = rows::payment(db, payment)? else { return Ok(None) };
    let root = root(db, &row.payment.checkout)?.ok_or(StorageError::Damaged { what: "checkout's identifier" })?;
    Ok(Some(CheckoutAggregate { root, payments: vec![row], is_damaged: false }))
}

/// The aggregate of a payment that must exist.
pub(super) fn open_known(db: &Connection, payment: &PaymentId) -> Result<CheckoutAggregate, StorageError> {
    open_at(db, payment)?.ok_or(StorageError::Damaged { what: "payment's identifier" })
}

/// Empty changes, with the owners of the numbers that may be taken.
pub(super) fn begin(db: &Connection, numbers: &[Number]) -> Result<Changes, StorageError> {
    let mut owner = db.prepare_cached("SELECT payment_id FROM taken_numbers WHERE number = ?1 AND kind = ?2")?;
    let mut owners = Vec::new();
    for number in numbers {
        let key = (&number.text, <&str>::from(number.kind));
        let payment: Option<String> = owner.query_row(key, |row| row.get(0)).optional()?;
        if let Some(payment) = payment {
            owners.push((number.clone(), read(&payment, "payment")?));
        }
    }
    Ok(Changes::at(now(db)?, Numbers::owned_by(owners)))
}

fn root(db: &Connection, id: &CheckoutId) -> Result<Option<AggregateRoot>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT reference, amount, currency, state, version, events, expires_at, expiry_due_at, keys_kept_since,
            paid_by, is_overpaid, refunds_due
         FROM checkouts WHERE id = ?1",
    )?;
    statement.query_row([id.as_str()], |row| Ok(head_of(id, row))).optional()?.transpose()
}

fn head_of(id: &CheckoutId, row: &Row<'_>) -> Result<AggregateRoot, StorageError> {
    let paid_by: Option<String> = row.get(9)?;
    Ok(AggregateRoot {
        id: id.clone(),
        reference: row.get(0)?,
        amount: row.get(1)?,
        currency: row.get(2)?,
        state: read(&row.get::<_, String>(3)?, "state")?,
        version: row.get(4)?,
        events: row.get(5)?,
        expires_at: row.get(6)?,
        expiry_due_at: row.get(7)?,
        keys_kept_since: row.get(8)?,
        paid_by: paid_by.map(|id| read(&id, "payment")).transpose()?,
        is_overpaid: row.get(10)?,
        refunds_due: row.get(11)?,
        dirty: DirtyRootFields::default(),
    })
}

/// The start of a payment's age, if it is scheduled.
pub(super) fn due_since(db: &Connection, id: &PaymentId) -> Result<Option<Millis>, StorageError> {
    let mut statement = db.prepare_cached("SELECT since FROM due WHERE payment_id = ?1")?;
    Ok(statement.query_row([id.as_str()], |row| row.get(0)).optional()?)
}

/// The claims of a payment's callbacks.
pub(super) fn claims(db: &Connection, id: &PaymentId) -> Result<Vec<ClaimRow>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT number, provider, state, reason, at, queried_at FROM claims WHERE payment_id = ?1 ORDER BY at, number",
    )?;
    let mut rows = statement.query([id.as_str()])?;
    let mut claims = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, provider, reason) = (row.get(0)?, row.get(1)?, row.get(3)?);
        let state = read(&row.get::<_, String>(2)?, "state of a claim")?;
        let (at, queried_at) = (row.get(4)?, row.get(5)?);
        claims.push(ClaimRow { number, provider, state, reason, at, queried_at, is_dirty: false });
    }
    Ok(claims)
}

/// Writes the changes.
pub(super) fn save(db: &Connection, changes: &Changes, aggregate: &CheckoutAggregate) -> Result<(), StorageError> {
    save_root(db, &aggregate.root)?;
    for row in aggregate.payments.iter().filter(|row| row.dirty.is_any()) {
        save_payment(db, row)?;
    }
    aggregate.payments.iter().try_for_each(|row| save_claims(db, row))?;
    for (number, payment) in changes.numbers.taken() {
        db.prepare_cached("INSERT INTO taken_numbers (number, kind, payment_id) VALUES (?1, ?2, ?3)")?.execute((
            &number.text,
            <&str>::from(number.kind),
            payment.as_str(),
        ))?;
    }
    for used in &changes.keys {
        db.prepare_cached(
            "INSERT INTO idempotency (checkout_id, key, fingerprint, payment_id) SELECT ?1, ?2, ?3, ?4
             WHERE ?5 OR (SELECT COUNT(*) FROM idempotency WHERE checkout_id = ?1) < ?6",
        )?
        .execute((
            used.checkout.as_str(),
            &used.key.text,
            &used.key.fingerprint,
            used.payment.as_str(),
            used.use_of == KeyUse::ToSend,
            MOST_KEYS,
        ))?;
    }
    outbox::write(db, changes.now, &changes.events)?;
    changes.due.iter().try_for_each(|change| schedule::apply_due_change(db, change))?;
    for new in &changes.exchanges {
        let sender = new.sender.as_deref();
        ExchangeInsert { now: changes.now, of: &new.payment, exchange: &new.exchange, sender }.note(db)?;
    }
    schedule::write_pauses(db, &changes.pauses)
}

fn save_claims(db: &Connection, row: &PaymentRow) -> Result<(), StorageError> {
    let id = row.payment.id.as_str();
    for number in &row.dropped_claims {
        db.prepare_cached("DELETE FROM claims WHERE payment_id = ?1 AND number = ?2")?.execute((id, number))?;
    }
    for claim in row.claims.iter().filter(|claim| claim.is_dirty) {
        db.prepare_cached(
            "INSERT INTO claims (payment_id, number, provider, state, reason, at, queried_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (payment_id, number) DO UPDATE SET provider = excluded.provider, state = excluded.state,
                reason = excluded.reason, at = excluded.at, queried_at = excluded.queried_at",
        )?
        .execute((
            id,
            &claim.number,
            &claim.provider,
            <&str>::from(claim.state),
            &claim.reason,
            claim.at,
            claim.queried_at,
        ))?;
    }
    Ok(())
}

/// Writes only the changed columns, because each named column costs a check of its indexes.
fn save_root(db: &Connection, root: &AggregateRoot) -> Result<(), StorageError> {
    let id = root.id.as_str();
    if root.dirty.state {
        db.prepare_cached(
            "UPDATE checkouts SET version = ?2, events = ?3, state = ?4, is_overpaid = ?5, refunds_due = ?6, paid_by = ?7,
                keys_kept_since = ?8
             WHERE id = ?1",
        )?
        .execute((
            id,
            root.version,
            root.events,
            <&str>::from(root.state),
            root.is_overpaid,
            root.refunds_due,
            root.paid_by.as_ref().map(PaymentId::as_str),
            root.keys_kept_since,
        ))?;
        if root.state != CheckoutState::Open {
            // None of its payments is confirmed any more, including those not loaded.
            let sql = "UPDATE payments SET payer_phone = NULL WHERE checkout_id = ?1 AND payer_phone IS NOT NULL";
            db.prepare_cached(sql)?.execute([id])?;
        }
    } else if root.dirty.version {
        db.prepare_cached("UPDATE checkouts SET version = ?2, events = ?3 WHERE id = ?1")?.execute((
            id,
            root.version,
            root.events,
        ))?;
    }
    if root.dirty.expiry {
        db.prepare_cached("UPDATE checkouts SET expiry_due_at = ?2 WHERE id = ?1")?
            .execute((id, root.expiry_due_at))?;
    }
    Ok(())
}

fn save_payment(db: &Connection, row: &PaymentRow) -> Result<(), StorageError> {
    if row.dirty.is_new {
        return insert_payment(db, row);
    }
    let (id, payment) = (row.payment.id.as_str(), &row.payment);
    if let Some(before) = row.dirty.state {
        // Conditional on the previous state, in addition to all other safeguards.
        let changed = db
            .prepare_cached(
                "UPDATE payments SET state = ?2, is_stuck = ?4, unknown_since = ?5, until = ?6, events = ?7
                 WHERE id = ?1 AND state = ?3",
            )?
            .execute((
                id,
                <&str>::from(payment.state),
                <&str>::from(before),
                payment.is_stuck,
                row.unknown_since,
                row.until,
                row.events,
            ))?;
        if changed != 1 {
            return Err(StorageError::failed("a payment changed under the transaction that changes it"));
        }
    }
    if row.dirty.reference {
        let reference = &payment.reference;
        db.prepare_cached(
            "UPDATE payments SET reference = ?2, gateway_number = ?3, transaction_id = ?4, page_url = ?5, qr_text = ?6,
                commission = ?7, total = ?8, code_expires_at = ?9
             WHERE id = ?1",
        )?
        .execute((
            id,
            reference.to_string(),
            &reference.gateway_number,
            &reference.transaction_id,
            &payment.page_url,
            &payment.qr_text,
            payment.commission.map(|amount| amount.to_string()),
            payment.total.map(|amount| amount.to_string()),
            payment.code_expires_at,
        ))?;
    }
    if payment.method == Method::Megapay && row.payer_phone().is_none() {
        let sql = "UPDATE payments SET payer_phone = NULL WHERE id = ?1 AND payer_phone IS NOT NULL";
        db.prepare_cached(sql)?.execute([id])?;
    }
    if row.dirty.rest && payment.is_replaced {
        // A separate statement, because the index of payments that may take money uses this column. It never becomes false again.
        db.prepare_cached("UPDATE payments SET is_replaced = 1 WHERE id = ?1")?.execute([id])?;
    }
    if row.dirty.rest { save_rest(db, row) } else { Ok(()) }
}

fn save_rest(db: &Connection, row: &PaymentRow) -> Result<(), StorageError> {
    let failure = row.payment.failure.as_ref();
    db.prepare_cached(
        "UPDATE payments SET failure_kind = ?2, failure_code = ?3, failure_reason = ?4, sender = ?5, attempts_left = ?6,
            mismatches = ?7, is_hinted = ?8, is_resolved = ?9, is_in_doubt = ?10, mismatch_at = ?11,
            claimed_at = ?12, charged_at = ?13
         WHERE id = ?1",
    )?
    .execute((
        row.payment.id.as_str(),
        failure.map(|failure| &failure.kind),
        failure.and_then(|failure| failure.code.as_deref()),
        failure.and_then(|failure| failure.reason.as_deref()),
        &row.sender,
        row.payment.attempts_left,
        row.mismatches,
        row.is_hinted,
        row.is_resolved,
        row.payment.is_in_doubt,
        row.mismatch_at,
        row.payment.claimed_at,
        row.payment.charged_at,
    ))?;
    Ok(())
}

/// Inserts its current state: it may have ended in the transaction that began it.
fn insert_payment(db: &Connection, row: &PaymentRow) -> Result<(), StorageError> {
    let payment = &row.payment;
    let failure = payment.failure.as_ref();
    db.prepare_cached(
        "INSERT INTO payments (id, checkout_id, number, method, state, reference, order_number, begun_at, until,
            sender, attempts_left, card_last4, failure_kind, events, phone_last2, payer_phone)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?
    .execute(rusqlite::params![
        payment.id.as_str(),
        payment.checkout.as_str(),
        payment.number,
        <&str>::from(payment.method),
        <&str>::from(payment.state),
        payment.reference.to_string(),
        payment.reference.order_number,
        payment.begun_at,
        row.until,
        row.sender,
        payment.attempts_left,
        payment.card_last4,
        failure.map(|failure| &failure.kind),
        row.events,
        payment.phone_last2,
        row.payer_phone(),
    ])?;
    Ok(())
}
