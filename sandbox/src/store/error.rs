//! What can go wrong with the database.

/// A failure of the database, or a value in it that this sandbox did not write.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct StoreError(#[from] rusqlite::Error);
