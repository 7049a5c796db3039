//! Whether the database takes writes.

use super::{problem::Problem, session::Session};
use crate::storage::error::StorageError;

/// A note in the log (WAL) that nobody reads: its commit waits for the disk, and it changes no row, so that servers that write it
/// at once do not wait for one another, and leave no dead rows. A standby refuses it.
const WRITE: &str = "SELECT current_setting('transaction_read_only') = 'on',
    pg_logical_emit_message(TRUE, 'kassa', 'written'::text)::text";

pub(super) async fn check(db: &Session) -> Result<(), Problem> {
    let row = db.row(WRITE, &[]).await?.ok_or_else(|| StorageError::failed("a row is missing"))?;
    let is_read_only: bool = row.try_get(0)?;
    if is_read_only { Err(StorageError::failed("it takes no writes, as it is read-only").into()) } else { Ok(()) }
}
