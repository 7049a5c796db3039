//! What can go wrong with the database.

/// A failure of the database, or a value in it that this sandbox did not write.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// What was written could not be committed.
    #[error("what was written together could not be committed: {0}")]
    NotCommitted(String),
}
