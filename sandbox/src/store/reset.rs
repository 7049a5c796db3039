//! Reset: everything is forgotten.

use rusqlite::Transaction;

use crate::store::StoreError;

/// Deletes payments with all that belongs to them, and the record of requests.
pub(crate) fn forget_all(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    for table in ["callback_attempts", "callbacks", "state_changes", "payments", "exchanges", "received"] {
        transaction.execute(&format!("DELETE FROM {table}"), ())?;
    }
    Ok(())
}
