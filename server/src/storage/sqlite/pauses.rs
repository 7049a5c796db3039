//! Until when payments of a method wait, as the gateway asked.

use rusqlite::Connection;

use super::rows::read as parse;
use crate::{
    storage::{book::pauses::Pauses, error::StorageError},
    values::Millis,
};

pub(super) fn read(db: &Connection) -> Result<Pauses, StorageError> {
    let mut statement = db.prepare_cached("SELECT method, not_before FROM sending_pauses")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Millis>(1)?)))?;
    let known =
        rows.map(|row| row.map_err(StorageError::from).and_then(|(name, at)| Ok((parse(&name, "method")?, at))));
    Ok(Pauses::known(known.collect::<Result<_, _>>()?))
}

pub(super) fn write(db: &Connection, pauses: &Pauses) -> Result<(), StorageError> {
    for (method, until) in pauses.changed() {
        let method = <&str>::from(method);
        match until {
            Some(until) => db
                .prepare_cached(
                    "INSERT INTO sending_pauses (method, not_before) VALUES (?1, ?2)
                     ON CONFLICT (method) DO UPDATE SET not_before = excluded.not_before",
                )?
                .execute((method, until))?,
            None => db.prepare_cached("DELETE FROM sending_pauses WHERE method = ?1")?.execute([method])?,
        };
    }
    Ok(())
}
