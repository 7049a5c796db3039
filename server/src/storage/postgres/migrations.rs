//! Migrations: numbered, each in a transaction of its own, one program at a time (advisory lock).
//!
//! **Old and new programs run side by side while a fleet is upgraded**: a migration states the oldest program version that can
//! use its result. One that only adds (a table, a column with a default, an index) keeps old programs working; unused parts are
//! dropped by a later version, when no program that uses them runs any more.

use tokio_postgres::{Client, IsolationLevel};

use super::session::Problem;
use crate::storage::{StorageError, sqlite::connection::DatabaseFile};

/// A step from one version to the next.
struct Migration {
    sql: &'static str,
    /// The oldest program's version that can use the database afterwards.
    oldest_program: i32,
}

const MIGRATIONS: [Migration; 1] = [Migration { sql: include_str!("schema/1.sql"), oldest_program: 1 }];

/// The newest version that this program knows.
pub const VERSION: i32 = MIGRATIONS.len() as i32;

const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS kassa_schema (
    version INTEGER PRIMARY KEY, oldest_program INTEGER NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())";
/// Waits for the migration of another program, without a limit.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('kassa schema', 0))";
/// A statement's time limit is the one at its start.
const WITHOUT_LIMITS: &str = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0";

/// The state of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaState {
    Nothing,
    Foreign,
    Version { version: i32, oldest_program: i32 },
}

/// Migrates the schema. Two programs that start at once wait for each other.
pub(super) async fn migrate(client: &mut Client) -> Result<(), Problem> {
    let mut next = usable(find(client).await?)?;
    while let Some(migration) = usize::try_from(next).ok().and_then(|done| MIGRATIONS.get(done)) {
        let transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
        transaction.batch_execute(WITHOUT_LIMITS).await?;
        transaction.batch_execute(LOCK).await?;
        transaction.batch_execute(VERSIONS).await?;
        let row = transaction.query_one("SELECT COALESCE(MAX(version), 0) FROM kassa_schema", &[]).await?;
        let found: i32 = row.try_get(0)?;
        if found == next {
            transaction.batch_execute(migration.sql).await?;
            let insert = "INSERT INTO kassa_schema (version, oldest_program) VALUES ($1, $2)";
            transaction.execute(insert, &[&(next + 1), &migration.oldest_program]).await?;
        }
        transaction.commit().await?;
        next = usable(find(client).await?)?;
    }
    Ok(())
}

/// Reads the state of a database, and changes nothing.
pub(super) async fn look(client: &Client) -> Result<DatabaseFile, Problem> {
    let found = find(client).await?;
    Ok(match found {
        SchemaState::Nothing => DatabaseFile::Missing,
        SchemaState::Version { version, .. } if version < VERSION => DatabaseFile::Older { found: version.into() },
        _ => {
            usable(found)?;
            DatabaseFile::Current
        }
    })
}

async fn find(client: &Client) -> Result<SchemaState, Problem> {
    let tables = "SELECT to_regclass('kassa_schema') IS NOT NULL, EXISTS (SELECT 1 FROM pg_class
        WHERE relkind IN ('r', 'p', 'v', 'm') AND relnamespace = current_schema()::regnamespace)";
    let row = client.query_one(tables, &[]).await?;
    if !row.try_get(0)? {
        return Ok(if row.try_get(1)? { SchemaState::Foreign } else { SchemaState::Nothing });
    }
    let newest = "SELECT COALESCE(MAX(version), 0), COALESCE(MAX(oldest_program), 0) FROM kassa_schema";
    let row = client.query_one(newest, &[]).await?;
    Ok(SchemaState::Version { version: row.try_get(0)?, oldest_program: row.try_get(1)? })
}

/// The version to continue from. Tables of another program, or of a newer incompatible version, are left alone.
fn usable(found: SchemaState) -> Result<i32, StorageError> {
    match found {
        SchemaState::Nothing => Ok(0),
        SchemaState::Foreign => {
            Err(StorageError::failed("it is another program's: give the server a database of its own"))
        }
        SchemaState::Version { version, oldest_program } if version > VERSION && oldest_program > VERSION => {
            Err(StorageError::Newer { found: version.into(), supported: VERSION.into() })
        }
        SchemaState::Version { version, .. } => Ok(version),
    }
}

/// Checks the settings on which durable commits depend.
pub(super) async fn check(client: &Client) -> Result<(), Problem> {
    let row = client
        .query_one(
            "SELECT current_setting('server_version_num')::integer, current_setting('fsync'),
                current_setting('full_page_writes'), pg_is_in_recovery(), current_setting('server_encoding')",
            &[],
        )
        .await?;
    let (version, is_standby): (i32, bool) = (row.try_get(0)?, row.try_get(3)?);
    let (fsync, full_pages, encoding): (&str, &str, &str) = (row.try_get(1)?, row.try_get(2)?, row.try_get(4)?);
    let why = if version < OLDEST {
        "it is older than PostgreSQL 15"
    } else if is_standby {
        "it is a standby, which takes no writes: name the primary"
    } else if fsync != "on" || full_pages != "on" {
        "its fsync or full_page_writes is off: committed data may be lost, and with it a sent payment"
    } else if encoding != "UTF8" {
        "its encoding is not UTF8"
    } else {
        return Ok(());
    };
    Err(StorageError::failed(why).into())
}

const OLDEST: i32 = 150_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_program_accepts_newer_additive_schema() {
        let of = |version, oldest_program| usable(SchemaState::Version { version, oldest_program });
        assert_eq!(of(VERSION, 1), Ok(VERSION));
        assert_eq!(of(VERSION + 1, VERSION), Ok(VERSION + 1), "it only added");
        let newer = StorageError::Newer { found: i64::from(VERSION) + 2, supported: VERSION.into() };
        assert_eq!(of(VERSION + 2, VERSION + 1), Err(newer));
    }

    #[test]
    fn migration_is_usable_by_its_own_version() {
        for (at, migration) in MIGRATIONS.iter().enumerate() {
            let version = i32::try_from(at).unwrap() + 1;
            assert!((1..=version).contains(&migration.oldest_program), "{version}");
        }
    }
}
