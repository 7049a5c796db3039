//! Transactions about checkouts and their tokens.

use std::slice;

use tokio_postgres::Row;

use super::{
    aggregates::{self, Of, With},
    rows,
    saving::save,
    session::{Problem, Session},
};
use crate::{
    checkouts::CheckoutView,
    storage::{
        StorageError,
        aggregate::resolution,
        inputs::{CheckoutLookup, NewApiKey, NewToken, OpenCheckout},
        outputs::ApiKeyRow,
        staff::{RecordRefund, RefundOutcome},
    },
    tokens::{DecidedBy, TokenHash},
    values::{ApiKeyId, CheckoutId, CheckoutState, Method, Millis, millis},
};

/// Of two concurrent transactions that open the same checkout, the second waits for the first, and then finds it.
const OPEN: &str = "INSERT INTO checkouts (id, reference, fingerprint, amount, currency, description, methods, return_url,
        metadata, callback_secret, page_secret, state, opened_at, expires_at, expiry_due_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, at, at + $13, at + $13 FROM (SELECT now_ms() AS at) AS moment
    ON CONFLICT (reference) DO NOTHING";
const OF_REFERENCE: &str = "SELECT id, fingerprint FROM checkouts WHERE reference = $1";

pub(super) async fn open(db: &Session, new: &OpenCheckout) -> Result<CheckoutView, Problem> {
    let wanted = &new.wanted;
    let fingerprint = wanted.fingerprint();
    let metadata =
        serde_json::to_string(&wanted.metadata).map_err(|problem| StorageError::failed(problem.to_string()))?;
    let methods = new.methods.iter().map(Method::to_string).collect::<Vec<_>>().join(",");
    let (id, amount, state) = (new.id.as_str(), wanted.amount.to_string(), <&str>::from(CheckoutState::Open));
    let (callback_secret, page_secret) = (new.callback_secret.expose(), new.page_secret.expose());
    let lifetime: Millis = millis(wanted.lifetime);
    let found = db
        .together(vec![
            (
                OPEN,
                vec![
                    &id,
                    &wanted.reference,
                    &fingerprint,
                    &amount,
                    &wanted.currency,
                    &wanted.description,
                    &methods,
                    &wanted.return_url,
                    &metadata,
                    &callback_secret,
                    &page_secret,
                    &state,
                    &lifetime,
                ],
            ),
            (OF_REFERENCE, vec![&wanted.reference]),
        ])
        .await?;
    let missing = StorageError::Damaged { what: "reference" };
    let row = found.get(1).and_then(|rows| rows.first()).ok_or(missing)?;
    let (found, before): (&str, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
    let known = rows::existing_view(db, found).await?;
    if before == fingerprint { Ok(known) } else { Err(StorageError::from(new.reference_used(&known)).into()) }
}

pub(super) async fn find(db: &Session, lookup: &CheckoutLookup) -> Result<Option<CheckoutView>, Problem> {
    let row = match lookup {
        CheckoutLookup::Id(id) => return rows::view(db, id.as_str()).await,
        CheckoutLookup::Reference(reference) => db.row(OF_REFERENCE, &[reference]).await?,
        CheckoutLookup::Token(hash) => {
            let good =
                "SELECT checkout_id FROM tokens WHERE hash = $1 AND revoked_at IS NULL AND expires_at > now_ms()";
            db.row(good, &[&&hash.0[..]]).await?
        }
        CheckoutLookup::Page(secret) => {
            db.row("SELECT id FROM checkouts WHERE page_secret = $1", &[&secret.expose()]).await?
        }
    };
    match row {
        Some(row) => rows::view(db, row.try_get(0)?).await,
        None => Ok(None),
    }
}

/// The time for which the hash of an expired token is stored.
const REMEMBERED: Millis = 24 * 3600 * 1000;
/// A token that has just expired may still be on a screen: it is distinguished from a guess.
const FORGET: &str = "DELETE FROM tokens WHERE checkout_id = $1 AND expires_at <= now_ms() - $2";
const ADD: &str = "INSERT INTO tokens (hash, checkout_id, expires_at)
    SELECT $1, id, now_ms() + $3 FROM checkouts WHERE id = $2 RETURNING 1";

pub(super) async fn add_token(db: &Session, new: &NewToken) -> Result<bool, Problem> {
    let (checkout, hash) = (new.checkout.as_str(), &new.hash.0[..]);
    let forget = (FORGET, vec![&checkout as _, &REMEMBERED as _]);
    let added = db.together(vec![forget, (ADD, vec![&hash, &checkout, &new.lifetime_ms])]).await?;
    Ok(added.get(1).is_some_and(|rows| !rows.is_empty()))
}

pub(super) async fn was_token(db: &Session, hash: &TokenHash) -> Result<bool, Problem> {
    Ok(db.row("SELECT 1 FROM tokens WHERE hash = $1", &[&&hash.0[..]]).await?.is_some())
}

pub(super) async fn revoke_tokens(db: &Session, id: &CheckoutId) -> Result<u64, Problem> {
    let revoke = "UPDATE tokens SET revoked_at = now_ms() WHERE checkout_id = $1 AND revoked_at IS NULL";
    db.execute(revoke, &[&id.as_str()]).await
}

// Transactions about API keys.

const ADD_KEY: &str =
    "INSERT INTO api_keys (id, role, permission, name, hash, created_at) VALUES ($1, $2, $3, $4, $5, now_ms())";
const FIND_KEY: &str = "SELECT id, role, name, hash, created_at, revoked_at, permission FROM api_keys WHERE id = $1";
const ALL_KEYS: &str =
    "SELECT id, role, name, hash, created_at, revoked_at, permission FROM api_keys ORDER BY created_at, id";
const REVOKE_KEY: &str = "UPDATE api_keys SET revoked_at = now_ms() WHERE id = $1 AND revoked_at IS NULL";

pub(super) async fn add_api_key(db: &Session, new: &NewApiKey) -> Result<(), Problem> {
    let (role, permission) = (<&str>::from(new.role), <&str>::from(new.permission));
    db.execute(ADD_KEY, &[&new.id.as_str(), &role, &permission, &new.name, &&new.hash.0[..]]).await?;
    Ok(())
}

pub(super) async fn find_api_key(db: &Session, id: &ApiKeyId) -> Result<Option<ApiKeyRow>, Problem> {
    db.row(FIND_KEY, &[&id.as_str()]).await?.as_ref().map(read_api_key).transpose()
}

pub(super) async fn all_api_keys(db: &Session) -> Result<Vec<ApiKeyRow>, Problem> {
    db.rows(ALL_KEYS, &[]).await?.iter().map(read_api_key).collect()
}

/// Revokes an API key, and ends the sessions opened with it.
pub(super) async fn revoke_api_key(db: &Session, id: &ApiKeyId) -> Result<bool, Problem> {
    let revoked = db.execute(REVOKE_KEY, &[&id.as_str()]).await?;
    db.later("DELETE FROM staff_sessions WHERE key_id = $1", vec![Box::new(id.as_str().to_owned())]);
    Ok(revoked == 1)
}

fn read_api_key(row: &Row) -> Result<ApiKeyRow, Problem> {
    let hash: &[u8] = row.try_get(3)?;
    Ok(ApiKeyRow {
        id: rows::id(row, "key")?,
        role: rows::read(row.try_get(1)?, "role")?,
        name: row.try_get(2)?,
        hash: TokenHash(hash.try_into().map_err(|_| StorageError::Damaged { what: "hash" })?),
        created_at: row.try_get(4)?,
        revoked_at: row.try_get(5)?,
        permission: rows::read(row.try_get(6)?, "permission")?,
    })
}

// Transactions about checkouts that end unpaid, and about refunds.

pub(super) async fn cancel(db: &Session, id: &CheckoutId, by: Option<&DecidedBy>) -> Result<CheckoutView, Problem> {
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(id)), With::default()).await?;
    let (changes, aggregate) = opened.aggregate().ok_or(StorageError::not_found("checkout"))?;
    resolution::cancel(changes, aggregate, by)?;
    save(db, &opened.changes, &opened.aggregates);
    db.flush().await?;
    rows::existing_view(db, id.as_str()).await
}

pub(super) async fn record_refund(db: &Session, refund: &RecordRefund) -> Result<RefundOutcome, Problem> {
    let mut opened = aggregates::open(db, Of::Checkouts(slice::from_ref(&refund.checkout)), With::default()).await?;
    let (changes, aggregate) = opened.aggregate().ok_or(StorageError::not_found("checkout"))?;
    let outcome = resolution::record_refund(changes, aggregate, refund)?;
    save(db, &opened.changes, &opened.aggregates);
    Ok(outcome)
}
