//! Reset: everything is forgotten.

use crate::store::{StoreError, WriteTransaction, text_search};

const TABLES: [&str; 7] =
    ["callback_attempts", "callbacks", "state_changes", "payments", "payments_by_day", "exchanges", "received"];

/// Deletes payments with all that belongs to them, and the record of requests.
pub(crate) fn forget_all(transaction: &WriteTransaction<'_>) -> Result<(), StoreError> {
    for table in TABLES {
        transaction.execute(&format!("DELETE FROM {table}"), ())?;
    }
    text_search::forget(transaction)
}
