//! What can go wrong with a storage.

use crate::values::error::ServerError;

/// A failure of the database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The database was written by a newer version of the server.
    #[error("the database is of version {found}, and this server knows versions up to {supported}")]
    #[non_exhaustive]
    Newer {
        /// The database's.
        found: i64,
        /// The newest that is known.
        supported: i64,
    },
    /// The database cannot be read or written. What was to be written may have been or not.
    #[error("the database cannot be used: {detail}")]
    #[non_exhaustive]
    Failed {
        /// What it said.
        detail: String,
    },
    /// The database cannot be reached. Nothing was written.
    #[error("the database cannot be reached: {detail}")]
    #[non_exhaustive]
    Unreachable {
        /// What it said, or the system.
        detail: String,
    },
    /// Too much waits for the database. Nothing was written.
    #[error("the database is busy, and nothing was written")]
    Busy,
    /// A value in it that this server did not write.
    #[error("the database holds a {what} that cannot be read")]
    #[non_exhaustive]
    Damaged {
        /// What it is.
        what: &'static str,
    },
}

impl StorageError {
    /// A failure, in its own words.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self::Failed { detail: detail.into() }
    }

    /// Whether nothing was written for certain.
    pub fn wrote_nothing(&self) -> bool {
        matches!(self, Self::Busy | Self::Unreachable { .. } | Self::Newer { .. })
    }
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<StorageError> for ServerError {
    fn from(error: StorageError) -> Self {
        Self::unavailable(error.to_string())
    }
}
