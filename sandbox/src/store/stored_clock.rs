//! The simulation clock of a database, from which its times come. How far it is ahead is kept in it, so that time in a
//! file never goes back.

use std::sync::Arc;

use rusqlite::{Connection, functions::FunctionFlags};

use crate::{domain::clock::Clock, store::StoreError};

/// Reads the clock of a database, and lets the connection ask it.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Arc<Clock>> {
    let clock = Arc::new(Clock::default());
    clock.set_ahead_ms(connection.query_row("SELECT ahead_ms FROM clock", (), |row| row.get(0))?);
    let asked = Arc::clone(&clock);
    connection.create_scalar_function("gateway_now", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(asked.now_ms()))?;
    Ok(clock)
}

/// What time it is, in milliseconds since 1970.
pub(crate) fn now(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.prepare_cached("SELECT gateway_now()")?.query_row((), |row| row.get(0))?)
}

/// Keeps how far the clock is ahead.
pub(crate) fn keep(connection: &Connection, ahead_ms: i64) -> Result<(), StoreError> {
    connection.prepare_cached("UPDATE clock SET ahead_ms = ?1")?.execute([ahead_ms])?;
    Ok(())
}
