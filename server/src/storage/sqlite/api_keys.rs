//! Transactions about API keys.

use std::str::FromStr;

use rusqlite::{Connection, OptionalExtension, Row, types::Type};

use crate::{
    storage::{error::StorageError, inputs::NewApiKey, outputs::KeptApiKey},
    tokens::TokenHash,
    values::ids::ApiKeyId,
};

const SELECT: &str = "SELECT id, role, name, hash, created_at, revoked_at, may FROM api_keys";

pub(super) fn add(db: &Connection, new: &NewApiKey) -> Result<(), StorageError> {
    let (role, may) = (<&str>::from(new.role), <&str>::from(new.may));
    db.prepare_cached(
        "INSERT INTO api_keys (id, role, may, name, hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5, now_ms())",
    )?
    .execute((new.id.as_str(), role, may, &new.name, &new.hash.0[..]))?;
    Ok(())
}

pub(super) fn find(db: &Connection, id: &ApiKeyId) -> Result<Option<KeptApiKey>, StorageError> {
    let mut statement = db.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
    Ok(statement.query_row([id.as_str()], read).optional()?)
}

pub(super) fn all(db: &Connection) -> Result<Vec<KeptApiKey>, StorageError> {
    let mut statement = db.prepare_cached(&format!("{SELECT} ORDER BY created_at, id"))?;
    Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
}

/// Who is logged in with it is so no longer.
pub(super) fn revoke(db: &Connection, id: &ApiKeyId) -> Result<bool, StorageError> {
    let revoked = db
        .prepare_cached("UPDATE api_keys SET revoked_at = now_ms() WHERE id = ?1 AND revoked_at IS NULL")?
        .execute([id.as_str()])?;
    db.prepare_cached("DELETE FROM staff_sessions WHERE key_id = ?1")?.execute([id.as_str()])?;
    Ok(revoked == 1)
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeptApiKey> {
    Ok(KeptApiKey {
        id: parsed(row, 0)?,
        role: parsed(row, 1)?,
        name: row.get(2)?,
        hash: TokenHash(row.get(3)?),
        created_at: row.get(4)?,
        revoked_at: row.get(5)?,
        may: parsed(row, 6)?,
    })
}

fn parsed<T: FromStr>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| {
        let problem = format!("{text:?} is not what this server wrote");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, problem.into())
    })
}
