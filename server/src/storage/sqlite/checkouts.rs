//! Transactions about checkouts and their tokens.

use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension, Row, types::Type};

use super::{
    aggregates,
    connection::now,
    rows::{self, existing_view, methods_text},
};
use crate::{
    checkouts::CheckoutView,
    storage::{
        StorageError,
        aggregate::resolution,
        inputs::{CheckoutLookup, NewApiKey, NewToken, OpenCheckout},
        outputs::ApiKeyRow,
    },
    tokens::{DecidedBy, TokenHash},
    values::{ApiKeyId, CheckoutId, CheckoutState, Millis, millis},
};

pub(super) fn open(db: &Connection, new: &OpenCheckout) -> Result<CheckoutView, StorageError> {
    let wanted = &new.wanted;
    let fingerprint = wanted.fingerprint();
    let known: Option<(String, Vec<u8>)> = db
        .prepare_cached("SELECT id, fingerprint FROM checkouts WHERE reference = ?1")?
        .query_row([&wanted.reference], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((id, before)) = known {
        let known = existing_view(db, &rows::read(&id, "checkout")?)?;
        return if before == fingerprint { Ok(known) } else { Err(new.reference_used(&known).into()) };
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
    existing_view(db, &new.id)
}

pub(super) fn find(db: &Connection, lookup: &CheckoutLookup) -> Result<Option<CheckoutView>, StorageError> {
    let id: Option<String> = match lookup {
        CheckoutLookup::Id(id) => return rows::view(db, id),
        CheckoutLookup::Reference(reference) => db
            .prepare_cached("SELECT id FROM checkouts WHERE reference = ?1")?
            .query_row([reference], |row| row.get(0))
            .optional()?,
        CheckoutLookup::Token(hash) => db
            .prepare_cached(
                "SELECT checkout_id FROM tokens WHERE hash = ?1 AND revoked_at IS NULL AND expires_at > now_ms()",
            )?
            .query_row([&hash.0[..]], |row| row.get(0))
            .optional()?,
        CheckoutLookup::Page(secret) => db
            .prepare_cached("SELECT id FROM checkouts WHERE page_secret = ?1")?
            .query_row([secret.expose()], |row| row.get(0))
            .optional()?,
    };
    id.map_or(Ok(None), |id| rows::view(db, &rows::read(&id, "checkout")?))
}

pub(super) fn cancel(db: &Connection, id: &CheckoutId, by: Option<&DecidedBy>) -> Result<CheckoutView, StorageError> {
    let mut aggregate = aggregates::open(db, id)?.ok_or(StorageError::not_found("checkout"))?;
    let mut changes = aggregates::begin(db, &[])?;
    resolution::cancel(&mut changes, &mut aggregate, by)?;
    aggregates::save(db, &changes, &aggregate)?;
    existing_view(db, id)
}

/// The time for which the hash of an expired token is stored.
const REMEMBERED: Millis = 24 * 3600 * 1000;

pub(super) fn add_token(db: &Connection, new: &NewToken) -> Result<bool, StorageError> {
    if rows::checkout(db, &new.checkout)?.is_none() {
        return Ok(false);
    }
    let now = now(db)?;
    // A token that has just expired may still be on a screen: it is distinguished from a guess.
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

/// Names the index: otherwise the planner would read all open checkouts, every second.
const EXPIRING: &str = "SELECT id FROM checkouts INDEXED BY checkouts_that_expire
    WHERE state = 'open' AND expiry_due_at <= ?1 ORDER BY expiry_due_at LIMIT ?2";

/// The checkouts whose time has passed.
pub(super) fn expiring(db: &Connection, now: Millis, most: u32) -> Result<Vec<CheckoutId>, StorageError> {
    let mut statement = db.prepare_cached(EXPIRING)?;
    let ids = statement.query_map((now, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    ids.iter().map(|id| rows::read(id, "checkout")).collect()
}

/// Expires a checkout. True if it has expired.
pub(super) fn expire(db: &Connection, id: &CheckoutId) -> Result<bool, StorageError> {
    let Some(mut aggregate) = aggregates::open(db, id)? else { return Ok(false) };
    let mut changes = aggregates::begin(db, &[])?;
    let has_expired = resolution::expire(&mut changes, &mut aggregate)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(has_expired)
}

// Transactions about API keys.

const SELECT: &str = "SELECT id, role, name, hash, created_at, revoked_at, permission FROM api_keys";

pub(super) fn add_api_key(db: &Connection, new: &NewApiKey) -> Result<(), StorageError> {
    let (role, permission) = (<&str>::from(new.role), <&str>::from(new.permission));
    db.prepare_cached(
        "INSERT INTO api_keys (id, role, permission, name, hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5, now_ms())",
    )?
    .execute((new.id.as_str(), role, permission, &new.name, &new.hash.0[..]))?;
    Ok(())
}

pub(super) fn find_api_key(db: &Connection, id: &ApiKeyId) -> Result<Option<ApiKeyRow>, StorageError> {
    let mut statement = db.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
    Ok(statement.query_row([id.as_str()], read_api_key).optional()?)
}

pub(super) fn all_api_keys(db: &Connection) -> Result<Vec<ApiKeyRow>, StorageError> {
    let mut statement = db.prepare_cached(&format!("{SELECT} ORDER BY created_at, id"))?;
    Ok(statement.query_map([], read_api_key)?.collect::<Result<_, _>>()?)
}

/// Also ends the sessions that were started with it.
pub(super) fn revoke_api_key(db: &Connection, id: &ApiKeyId) -> Result<bool, StorageError> {
    let revoked = db
        .prepare_cached("UPDATE api_keys SET revoked_at = now_ms() WHERE id = ?1 AND revoked_at IS NULL")?
        .execute([id.as_str()])?;
    db.prepare_cached("DELETE FROM staff_sessions WHERE key_id = ?1")?.execute([id.as_str()])?;
    Ok(revoked == 1)
}

fn read_api_key(row: &Row<'_>) -> rusqlite::Result<ApiKeyRow> {
    Ok(ApiKeyRow {
        id: parsed(row, 0)?,
        role: parsed(row, 1)?,
        name: row.get(2)?,
        hash: TokenHash(row.get(3)?),
        created_at: row.get(4)?,
        revoked_at: row.get(5)?,
        permission: parsed(row, 6)?,
    })
}

fn parsed<T: FromStr>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| {
        let problem = format!("{text:?} is not what this server wrote");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, problem.into())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{super::connection::open_in_memory, *};

    /// It runs every second, however many are open.
    #[test]
    fn expiring_checkouts_query_uses_ordered_index() {
        let db = open_in_memory(Arc::new(|| 0)).unwrap();
        let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {EXPIRING}")).unwrap();
        let steps = plan.raw_query().mapped(|row| row.get(3)).collect::<Result<Vec<String>, _>>().unwrap();
        assert!(steps[0].contains("SEARCH") && steps[0].contains("checkouts_that_expire"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("ORDER BY")), "{steps:?}");
    }
}
