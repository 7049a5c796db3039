//! Transactions about API keys.

use rusqlite::{Connection, OptionalExtension, Row, types::Type};

use crate::{
    storage::{error::StorageError, inputs::NewApiKey, outputs::KeptApiKey},
    tokens::TokenHash,
    values::ids::ApiKeyId,
};

const SELECT: &str = "SELECT id, name, hash, created_at, revoked_at FROM api_keys";

pub(super) fn add(db: &Connection, new: &NewApiKey) -> Result<(), StorageError> {
    db.prepare_cached("INSERT INTO api_keys (id, name, hash, created_at) VALUES (?1, ?2, ?3, now_ms())")?.execute((
        new.id.as_str(),
        &new.name,
        &new.hash.0[..],
    ))?;
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

pub(super) fn revoke(db: &Connection, id: &ApiKeyId) -> Result<bool, StorageError> {
    let revoked = db
        .prepare_cached("UPDATE api_keys SET revoked_at = now_ms() WHERE id = ?1 AND revoked_at IS NULL")?
        .execute([id.as_str()])?;
    Ok(revoked == 1)
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeptApiKey> {
    let id: String = row.get(0)?;
    let id = id.parse().map_err(|problem: crate::values::violation::Violation| {
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, problem.text.into())
    })?;
    Ok(KeptApiKey {
        id,
        name: row.get(1)?,
        hash: TokenHash(row.get(2)?),
        created_at: row.get(3)?,
        revoked_at: row.get(4)?,
    })
}
