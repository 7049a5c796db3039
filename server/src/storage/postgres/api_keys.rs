//! Transactions about API keys.

use tokio_postgres::Row;

use super::{problem::Problem, rows, session::Session};
use crate::{
    storage::{error::StorageError, inputs::NewApiKey, outputs::KeptApiKey},
    tokens::TokenHash,
    values::ids::ApiKeyId,
};

const ADD: &str = "INSERT INTO api_keys (id, role, may, name, hash, created_at) VALUES ($1, $2, $3, $4, $5, now_ms())";
const FIND: &str = "SELECT id, role, name, hash, created_at, revoked_at, may FROM api_keys WHERE id = $1";
const ALL: &str = "SELECT id, role, name, hash, created_at, revoked_at, may FROM api_keys ORDER BY created_at, id";
const REVOKE: &str = "UPDATE api_keys SET revoked_at = now_ms() WHERE id = $1 AND revoked_at IS NULL";

pub(super) async fn add(db: &Session, new: &NewApiKey) -> Result<(), Problem> {
    let (role, may) = (<&str>::from(new.role), <&str>::from(new.may));
    db.execute(ADD, &[&new.id.as_str(), &role, &may, &new.name, &&new.hash.0[..]]).await?;
    Ok(())
}

pub(super) async fn find(db: &Session, id: &ApiKeyId) -> Result<Option<KeptApiKey>, Problem> {
    db.row(FIND, &[&id.as_str()]).await?.as_ref().map(read).transpose()
}

pub(super) async fn all(db: &Session) -> Result<Vec<KeptApiKey>, Problem> {
    db.rows(ALL, &[]).await?.iter().map(read).collect()
}

/// Who is logged in with it is so no longer.
pub(super) async fn revoke(db: &Session, id: &ApiKeyId) -> Result<bool, Problem> {
    let revoked = db.execute(REVOKE, &[&id.as_str()]).await?;
    db.later("DELETE FROM staff_sessions WHERE key_id = $1", vec![Box::new(id.as_str().to_owned())]);
    Ok(revoked == 1)
}

fn read(row: &Row) -> Result<KeptApiKey, Problem> {
    let hash: &[u8] = row.try_get(3)?;
    Ok(KeptApiKey {
        id: rows::id(row, "key")?,
        role: rows::read(row.try_get(1)?, "role")?,
        name: row.try_get(2)?,
        hash: TokenHash(hash.try_into().map_err(|_| StorageError::Damaged { what: "hash" })?),
        created_at: row.try_get(4)?,
        revoked_at: row.try_get(5)?,
        may: rows::read(row.try_get(6)?, "permission")?,
    })
}
