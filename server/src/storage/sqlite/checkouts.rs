//! Transactions about checkouts and their tokens.

use rusqlite::{Connection, OptionalExtension};

use super::{
    books,
    connection::now,
    rows::{self, kept_view, methods_text},
};
use crate::{
    checkouts::checkout::CheckoutView,
    storage::{
        book::ending,
        error::StorageError,
        inputs::{NewToken, OpenCheckout, Whose},
        outputs::{Cancelled, Opened},
    },
    tokens::{TokenHash, decided_by::DecidedBy},
    values::{Millis, ids::CheckoutId, millis, states::CheckoutState},
};

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
        methods_text(&new.methods),
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

pub(super) fn cancel(db: &Connection, id: &CheckoutId, by: Option<&DecidedBy>) -> Result<Cancelled, StorageError> {
    let Some(mut book) = books::open(db, id)? else { return Ok(Cancelled::Nowhere) };
    let mut changes = books::begin(db, &[])?;
    if let Some(refused) = ending::cancel(&mut changes, &mut book, by)? {
        return Ok(refused);
    }
    books::save(db, &changes, &book)?;
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
const EXPIRING: &str = "SELECT id FROM checkouts INDEXED BY checkouts_that_expire
    WHERE state = 'open' AND expiry_due_at <= ?1 ORDER BY expiry_due_at LIMIT ?2";

/// The checkouts whose time has passed.
pub(super) fn expiring(db: &Connection, now: Millis, most: u32) -> Result<Vec<CheckoutId>, StorageError> {
    let mut statement = db.prepare_cached(EXPIRING)?;
    let ids = statement.query_map((now, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    ids.iter().map(|id| rows::read(id, "checkout")).collect()
}

/// True where it has expired.
pub(super) fn expire(db: &Connection, id: &CheckoutId) -> Result<bool, StorageError> {
    let Some(mut book) = books::open(db, id)? else { return Ok(false) };
    let mut changes = books::begin(db, &[])?;
    let has_expired = ending::expire(&mut changes, &mut book)?;
    books::save(db, &changes, &book)?;
    Ok(has_expired)
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
