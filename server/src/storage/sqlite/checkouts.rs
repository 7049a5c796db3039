//! Transactions about checkouts and their tokens.

use rusqlite::{Connection, OptionalExtension};

use super::{
    changes::happen_to_checkout_for,
    connection::now,
    rows::{self, kept_view, methods_text},
};
use crate::{
    checkouts::{checkout::CheckoutView, machine::Happened},
    storage::{
        error::StorageError,
        inputs::{NewToken, OpenCheckout, Whose},
        outputs::{Cancelled, Opened},
    },
    tokens::{TokenHash, decided_by::DecidedBy},
    values::{Millis, ids::CheckoutId, millis, states::CheckoutState},
};

/// How long one waits at least whose time has passed, and of which something is under way.
const SHORTEST_WAIT: Millis = 60_000;

pub(super) fn open(db: &Connection, new: &OpenCheckout) -> Result<Opened, StorageError> {
    let wanted = &new.wanted;
    let fingerprint = wanted.fingerprint();
    let known: Option<(String, Vec<u8>)> = db
        .prepare_cached("SELECT id, fingerprint FROM checkouts WHERE reference = ?1")?
        .query_row([&wanted.reference], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((id, before)) = known {
        if before != fingerprint {
            return Ok(Opened::ReferenceUsed);
        }
        return Ok(Opened::Again(kept_view(db, &rows::read(&id, "checkout")?)?.into()));
    }
    let metadata =
        serde_json::to_string(&wanted.metadata).map_err(|problem| StorageError::failed(problem.to_string()))?;
    let now = now(db)?;
    db.prepare_cached(
        "INSERT INTO checkouts (id, reference, fingerprint, amount, currency, description, methods, return_url,
            metadata, callback_secret, page_secret, state, opened_at, expires_at, expiry_due_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14)",
    )?
    .execute(rusqlite::params![
        new.id.as_str(),
        wanted.reference,
        fingerprint,
        wanted.amount.to_string(),
        wanted.currency,
        wanted.description,
        methods_text(&wanted.allowed_methods()),
        wanted.return_url,
        metadata,
        new.callback_secret.expose(),
        new.page_secret.expose(),
        <&str>::from(CheckoutState::Open),
        now,
        now.saturating_add(millis(wanted.lifetime)),
    ])?;
    Ok(Opened::New(kept_view(db, &new.id)?.into()))
}

pub(super) fn find(db: &Connection, whose: &Whose) -> Result<Option<CheckoutView>, StorageError> {
    let id: Option<String> = match whose {
        Whose::Id(id) => return rows::view(db, id),
        Whose::Reference(reference) => db
            .prepare_cached("SELECT id FROM checkouts WHERE reference = ?1")?
            .query_row([reference], |row| row.get(0))
            .optional()?,
        Whose::Token(hash) => db
            .prepare_cached(
                "SELECT checkout_id FROM tokens WHERE hash = ?1 AND revoked_at IS NULL AND expires_at > now_ms()",
            )?
            .query_row([&hash.0[..]], |row| row.get(0))
            .optional()?,
        Whose::Page(secret) => db
            .prepare_cached("SELECT id FROM checkouts WHERE page_secret = ?1")?
            .query_row([secret.expose()], |row| row.get(0))
            .optional()?,
    };
    id.map_or(Ok(None), |id| rows::view(db, &rows::read(&id, "checkout")?))
}

/// Nothing is cancelled under a request that is on its way, or of which nobody knows what it did.
pub(super) fn cancel(db: &Connection, id: &CheckoutId, by: Option<&DecidedBy>) -> Result<Cancelled, StorageError> {
    let Some(view) = rows::view(db, id)? else { return Ok(Cancelled::Nowhere) };
    match view.checkout.state {
        CheckoutState::Open => {}
        CheckoutState::Cancelled => return Ok(Cancelled::Done(view.into())),
        state => return Ok(Cancelled::NotOpen(state)),
    }
    if let Some(payment) = view.payments.iter().find(|payment| payment.is_under_way()) {
        return Ok(Cancelled::UnderWay(payment.state));
    }
    happen_to_checkout_for(db, now(db)?, id, Happened::Cancelled, None, by)?;
    Ok(Cancelled::Done(kept_view(db, id)?.into()))
}

/// How long an expired token is known by its hash.
const REMEMBERED: Millis = 24 * 3600 * 1000;

pub(super) fn add_token(db: &Connection, new: &NewToken) -> Result<bool, StorageError> {
    if rows::checkout(db, &new.checkout)?.is_none() {
        return Ok(false);
    }
    let now = now(db)?;
    // What has just expired may still be on a screen: it is told from a guess.
    db.prepare_cached("DELETE FROM tokens WHERE checkout_id = ?1 AND expires_at <= ?2")?
        .execute((new.checkout.as_str(), now.saturating_sub(REMEMBERED)))?;
    db.prepare_cached("INSERT INTO tokens (hash, checkout_id, expires_at) VALUES (?1, ?2, ?3)")?.execute((
        &new.hash.0[..],
        new.checkout.as_str(),
        now.saturating_add(new.lifetime_ms),
    ))?;
    Ok(true)
}

pub(super) fn was_token(db: &Connection, hash: &TokenHash) -> Result<bool, StorageError> {
    Ok(db.prepare_cached("SELECT 1 FROM tokens WHERE hash = ?1")?.exists([&hash.0[..]])?)
}

pub(super) fn revoke_tokens(db: &Connection, id: &CheckoutId) -> Result<u64, StorageError> {
    let revoked = db
        .prepare_cached("UPDATE tokens SET revoked_at = now_ms() WHERE checkout_id = ?1 AND revoked_at IS NULL")?
        .execute([id.as_str()])?;
    Ok(revoked as u64)
}

/// The index is said by name: the planner would rather read all that are open, every second.
const EXPIRING: &str = "SELECT id, expires_at, EXISTS (SELECT 1 FROM payments WHERE checkout_id = checkouts.id
        AND (payments.state IN ('prepared', 'sending', 'unknown', 'confirming', 'contradicted')
            OR (payments.state = 'awaiting' AND payments.method = 'card' AND payments.page_url IS NULL)))
    FROM checkouts INDEXED BY checkouts_that_expire
    WHERE state = 'open' AND expiry_due_at <= ?1 ORDER BY expiry_due_at LIMIT ?2";

/// The checkouts that expire now. One waits while something of it is under way: its shop must not hear "expired" of what
/// may have been paid. It is looked at again as soon as that ends, and by and by, so that many that wait hold up no others.
///
/// Those, and how many wait.
pub(super) fn expiring(db: &Connection, now: Millis, most: u32) -> Result<(Vec<CheckoutId>, usize), StorageError> {
    let mut statement = db.prepare_cached(EXPIRING)?;
    let rows = statement.query_map((now, most), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let rows = rows.collect::<Result<Vec<(String, Millis, bool)>, _>>()?;
    let (mut expiring, mut waiting) = (Vec::new(), 0);
    for (id, expires_at, waits) in rows {
        if waits {
            let later = now.saturating_add(((now - expires_at) / 10).max(SHORTEST_WAIT));
            db.prepare_cached("UPDATE checkouts SET expiry_due_at = ?2 WHERE id = ?1")?.execute((&id, later))?;
            waiting += 1;
        } else {
            expiring.push(rows::read(&id, "checkout")?);
        }
    }
    Ok((expiring, waiting))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{super::connection::open_in_memory, *};

    /// It is asked every second, however many are open.
    #[test]
    fn those_that_expire_are_found_in_their_order() {
        let db = open_in_memory(Arc::new(|| 0)).unwrap();
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {EXPIRING}")).unwrap();
        let steps = plan.raw_query().mapped(|row| row.get(3)).collect::<Result<Vec<String>, _>>().unwrap();
        assert!(steps[0].contains("SEARCH") && steps[0].contains("checkouts_that_expire"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("ORDER BY")), "{steps:?}");
    }
}
