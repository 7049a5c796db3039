//! What can go wrong with a statement, and whether it may be tried again.

use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::storage::error::StorageError;

/// The database's failure, or what was found in it.
#[derive(Debug)]
pub(super) enum Problem {
    Storage(StorageError),
    Database(Box<tokio_postgres::Error>),
}

impl Problem {
    /// Whether a transaction met another one, was rolled back for certain, and may succeed when it is run again: what it read
    /// has changed, two waited for one another, or the other one wrote first what may be there once.
    pub(super) fn is_conflict(&self) -> bool {
        let conflicts =
            [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED, &SqlState::UNIQUE_VIOLATION];
        self.code().is_some_and(|code| conflicts.contains(&code))
    }

    /// Whether the connection is of no use any more: it is gone, or does not know the tables as they are now.
    pub(super) fn is_of_the_connection(&self) -> bool {
        match self {
            Self::Storage(_) => false,
            Self::Database(error) => match error.as_db_error() {
                Some(said) => is_fatal(said) || said.code() == &SqlState::FEATURE_NOT_SUPPORTED,
                None => !is_of_a_value(error),
            },
        }
    }

    fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Storage(_) => None,
            Self::Database(error) => error.code(),
        }
    }
}

/// After which the database closes the connection, whatever the reason.
fn is_fatal(error: &DbError) -> bool {
    matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
}

/// A row that is not as it should be is so on every connection.
fn is_of_a_value(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| {
        cause.is::<tokio_postgres::types::WrongType>() || cause.is::<tokio_postgres::types::WasNull>()
    })
}

impl From<tokio_postgres::Error> for Problem {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Database(Box::new(error))
    }
}

impl From<StorageError> for Problem {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}

impl From<Problem> for StorageError {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Storage(error) => error,
            Problem::Database(error) => Self::failed(told(&error)),
        }
    }
}

/// In its words, without its details: those repeat values of rows.
pub(super) fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => told_by_database(error),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

fn told_by_database(error: &DbError) -> String {
    let code = error.code().code();
    match error.constraint() {
        Some(constraint) => format!("it says {code}, for {constraint}"),
        None => format!("{} ({code})", error.message()),
    }
}
