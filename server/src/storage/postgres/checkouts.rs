//! Transactions about checkouts and their tokens.

use super::{problem::Problem, rows, session::Session};
use crate::{
    checkouts::checkout::CheckoutView,
    storage::{
        error::StorageError,
        inputs::{NewToken, OpenCheckout, Whose},
        outputs::Opened,
    },
    tokens::TokenHash,
    values::{Millis, ids::CheckoutId, method::Method, millis, states::CheckoutState},
};

/// Of two who open the same one at once, the second waits for the first, and then finds it.
const OPEN: &str = "INSERT INTO checkouts (id, reference, fingerprint, amount, currency, description, methods, return_url,
        metadata, callback_secret, page_secret, state, opened_at, expires_at, expiry_due_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, at, at + $13, at + $13 FROM (SELECT now_ms() AS at) AS moment
    ON CONFLICT (reference) DO NOTHING";
const OF_REFERENCE: &str = "SELECT id, fingerprint FROM checkouts WHERE reference = $1";

pub(super) async fn open(db: &Session, new: &OpenCheckout) -> Result<Opened, Problem> {
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
    if before != fingerprint {
        return Ok(Opened::ReferenceUsed);
    }
    let view = rows::kept_view(db, found).await?.into();
    Ok(if found == id { Opened::New(view) } else { Opened::Again(view) })
}

pub(super) async fn find(db: &Session, whose: &Whose) -> Result<Option<CheckoutView>, Problem> {
    let row = match whose {
        Whose::Id(id) => return rows::view(db, id.as_str()).await,
        Whose::Reference(reference) => db.row(OF_REFERENCE, &[reference]).await?,
        Whose::Token(hash) => {
            let good =
                "SELECT checkout_id FROM tokens WHERE hash = $1 AND revoked_at IS NULL AND expires_at > now_ms()";
            db.row(good, &[&&hash.0[..]]).await?
        }
        Whose::Page(secret) => db.row("SELECT id FROM checkouts WHERE page_secret = $1", &[&secret.expose()]).await?,
    };
    match row {
        Some(row) => rows::view(db, row.try_get(0)?).await,
        None => Ok(None),
    }
}

/// How long an expired token is known by its hash.
const REMEMBERED: Millis = 24 * 3600 * 1000;
/// What has just expired may still be on a screen: it is told from a guess.
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
