//! A connection within one transaction. Statements are sent together whenever possible (pipelining): a transaction
//! costs round trips, not statements.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use deadpool_postgres::Object;
use futures_util::future::{join, join_all};
use tokio_postgres::{
    Row,
    error::{DbError, Severity, SqlState},
    types::{FromSqlOwned, ToSql},
};

use crate::storage::StorageError;

/// A statement with its values.
pub(super) type Query<'a> = (&'static str, Vec<&'a (dyn ToSql + Sync)>);
/// A value that is sent later.
pub(super) type Param = Box<dyn ToSql + Send + Sync>;

/// A column of an unnested table, ready to be sent.
pub(super) fn column<'a, S: 'a, T>(rows: &'a [S], of: impl Fn(&'a S) -> T) -> Param
where
    Vec<T>: ToSql + Send + Sync + 'static,
{
    Box::new(rows.iter().map(of).collect::<Vec<T>>())
}

/// The transaction's commit does not wait for the disk: for writes that may be lost and repeated.
pub(super) const NOT_ON_DISK: &str = "SET LOCAL synchronous_commit TO off";

/// A connection within one transaction. If it is dropped before its end, the connection is closed, because its state is unknown.
pub(super) struct Session {
    client: Option<Object>,
    /// The statement that begins the transaction, until it is sent.
    begin: Mutex<Option<&'static str>>,
    later: Mutex<Vec<(&'static str, Vec<Param>)>>,
    is_committing: AtomicBool,
}

impl Session {
    pub(super) fn new(client: Object, begin: &'static str) -> Self {
        let (begin, later) = (Mutex::new(Some(begin)), Mutex::default());
        Self { client: Some(client), begin, later, is_committing: AtomicBool::new(false) }
    }

    fn client(&self) -> Result<&Object, Problem> {
        self.client.as_ref().ok_or_else(|| StorageError::failed("the transaction has ended").into())
    }

    /// Sends several queries at once. They are executed in order.
    pub(super) async fn together(&self, queries: Vec<Query<'_>>) -> Result<Vec<Vec<Row>>, Problem> {
        let client = self.client()?;
        let mut prepared = Vec::with_capacity(queries.len());
        for (sql, values) in queries {
            // All are prepared first: otherwise one that waits to be prepared would be sent after later ones.
            prepared.push((client.prepare_cached(sql).await?, values));
        }
        let begun = self.send_begin(client);
        let found = join_all(prepared.iter().map(|(statement, values)| client.query(statement, values)));
        let (begun, found) = join(begun, found).await;
        begun?;
        Ok(found.into_iter().collect::<Result<_, _>>()?)
    }

    async fn send_begin(&self, client: &Object) -> Result<(), Problem> {
        let begin = self.begin.lock().unwrap_or_else(PoisonError::into_inner).take();
        match begin {
            Some(sql) => Ok(client.batch_execute(sql).await?),
            None => Ok(()),
        }
    }

    pub(super) async fn rows(&self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Problem> {
        Ok(self.together(vec![(sql, values.to_vec())]).await?.pop().unwrap_or_default())
    }

    /// The first row, if there is one.
    pub(super) async fn row(&self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<Option<Row>, Problem> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The number of changed rows.
    pub(super) async fn execute(&self, sql: &'static str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Problem> {
        let client = self.client()?;
        let statement = client.prepare_cached(sql).await?;
        let (begun, changed) = join(self.send_begin(client), client.execute(&statement, values)).await;
        begun?;
        Ok(changed?)
    }

    /// Queues a statement for the commit, or for the next [`flush`](Self::flush).
    pub(super) fn later(&self, sql: &'static str, values: Vec<Param>) {
        self.later.lock().unwrap_or_else(PoisonError::into_inner).push((sql, values));
    }

    /// Sends the queued statements.
    pub(super) async fn flush(&self) -> Result<(), Problem> {
        self.send_later("").await
    }

    /// Commits, with the queued statements. After an error nothing of the transaction is stored, unless
    /// [`is_end_unknown`](Self::is_end_unknown).
    pub(super) async fn commit(&self) -> Result<(), Problem> {
        let has_begun = self.begin.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        let waits = !self.later.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        if !has_begun && !waits {
            return Ok(());
        }
        self.send_later("COMMIT").await
    }

    async fn send_later(&self, end: &'static str) -> Result<(), Problem> {
        let client = self.client()?;
        let later = std::mem::take(&mut *self.later.lock().unwrap_or_else(PoisonError::into_inner));
        let mut prepared = Vec::with_capacity(later.len());
        for (sql, values) in &later {
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
            prepared.push((client.prepare_cached(sql).await?, values));
        }
        let begun = self.send_begin(client);
        let written = join_all(prepared.iter().map(|(statement, values)| client.execute(statement, values)));
        // After a failed statement, the database rolls back on `COMMIT`. That is reported here.
        let ended = async {
            if end.is_empty() {
                return Ok(());
            }
            self.is_committing.store(true, Ordering::Release);
            client.batch_execute(end).await
        };
        let ((begun, written), ended) = join(join(begun, written), ended).await;
        begun?;
        written.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(ended?)
    }

    /// Whether the commit was sent: without its response, it is unknown whether it was executed.
    pub(super) fn is_end_unknown(&self) -> bool {
        self.is_committing.load(Ordering::Acquire)
    }

    /// Rolls back. The connection can be reused if the database confirms it.
    pub(super) async fn roll_back(&mut self) {
        let Some(client) = self.client.take() else { return };
        if client.batch_execute("ROLLBACK").await.is_err() {
            drop(Object::take(client));
        }
    }

    /// Ends a finished transaction: its connection returns to the pool.
    pub(super) fn end(mut self) {
        drop(self.client.take());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

/// The first value of the first row.
pub(super) fn first<T: FromSqlOwned>(rows: Option<&Vec<Row>>) -> Result<T, Problem> {
    let row = rows.and_then(|rows| rows.first()).ok_or_else(|| StorageError::failed("a row is missing"))?;
    Ok(row.try_get(0)?)
}

// Errors of a statement, and whether it may be retried.

/// A failure of the database, or an error in its data or rules.
#[derive(Debug)]
pub(super) enum Problem {
    Storage(StorageError),
    Database(Box<tokio_postgres::Error>),
}

impl Problem {
    /// Whether a transaction conflicted with another one, was certainly rolled back, and may succeed if retried: its reads
    /// changed, two waited for each other, or the other one wrote a unique value first.
    pub(super) fn is_conflict(&self) -> bool {
        let conflicts =
            [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED, &SqlState::UNIQUE_VIOLATION];
        self.code().is_some_and(|code| conflicts.contains(&code))
    }

    /// Whether the connection is unusable: it is gone, or its statements do not match the current tables.
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

/// Whether the database closes the connection after this error.
fn is_fatal(error: &DbError) -> bool {
    matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
}

/// Whether a value is wrong: that would be the same on every connection.
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
            Problem::Database(error) => Self::failed(error_text(&error)),
        }
    }
}

/// The database's message, without its details, which repeat values of rows.
pub(super) fn error_text(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => database_error_text(error),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

fn database_error_text(error: &DbError) -> String {
    let code = error.code().code();
    match error.constraint() {
        Some(constraint) => format!("it says {code}, for {constraint}"),
        None => format!("{} ({code})", error.message()),
    }
}
