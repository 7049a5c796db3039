//! Where the servers of a scene keep everything, read past them: a file, or a database of PostgreSQL's.

use std::{path::PathBuf, time::Duration};

use kassa_test_patience::patient;
use rusqlite::{OpenFlags, types::ValueRef};
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::{fleet::Fleet, program::until};

/// A row: its columns by their names.
pub type Columns = Map<String, Value>;

/// Where everything is.
pub enum Keeper {
    File(PathBuf),
    Fleet(Fleet),
}

/// A connection beside the servers'.
pub enum Connection {
    File(rusqlite::Connection),
    Postgres(Runtime, Client),
}

impl Keeper {
    pub fn connect(&self) -> Connection {
        match self {
            Self::File(file) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = rusqlite::Connection::open_with_flags(file, flags).expect("the file");
                connection.busy_timeout(patient(Duration::from_secs(30))).expect("a timeout");
                Connection::File(connection)
            }
            Self::Fleet(fleet) => connect(&fleet.url()),
        }
    }

    /// The calendar goes ahead: what waits for a time, a lease included, waits that much less.
    pub fn time_passes(&self, by: Duration) {
        match self {
            Self::File(_) => self.connect().run(&format!(
                "BEGIN IMMEDIATE;
                 UPDATE due SET at = at - {by};
                 UPDATE payments SET until = until - {by} WHERE state IN ('prepared', 'sending');
                 UPDATE streams SET due_at = due_at - {by} WHERE due_at IS NOT NULL;
                 UPDATE checkouts SET expires_at = expires_at - {by}, expiry_due_at = expiry_due_at - {by}
                    WHERE state = 'open';
                 UPDATE question_limit SET filled_at = filled_at - {by}, halved_at = halved_at - {by},
                    not_before = CASE WHEN not_before = 0 THEN 0 ELSE not_before - {by} END,
                    recovers_at = recovers_at - {by};
                 UPDATE sending_pauses SET not_before = not_before - {by} WHERE not_before <> 0;
                 COMMIT;",
                by = by.as_millis()
            )),
            Self::Fleet(fleet) => fleet.time_passes(by),
        }
    }
}

/// The database may be starting again just now.
fn connect(url: &str) -> Connection {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut client = None;
    until("the database answers", || {
        client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.ok()?;
            tokio::spawn(connection);
            Some(client)
        });
        client.is_some()
    });
    Connection::Postgres(runtime, client.expect("it answered"))
}

impl Connection {
    /// From now on all is of one moment.
    pub fn one_moment(&self) {
        self.run(match self {
            Self::File(_) => "BEGIN",
            Self::Postgres(..) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        });
    }

    pub fn run(&self, sql: &str) {
        match self {
            Self::File(connection) => connection.execute_batch(sql).expect(sql),
            Self::Postgres(runtime, client) => runtime.block_on(client.batch_execute(sql)).expect(sql),
        }
    }

    pub fn rows(&self, sql: &str) -> Vec<Columns> {
        match self {
            Self::File(connection) => rows_of_file(connection, sql).expect(sql),
            Self::Postgres(runtime, client) => {
                let sql = format!("SELECT row_to_json(found)::text FROM ({sql}) AS found");
                let rows = runtime.block_on(client.query(&sql, &[])).expect(&sql);
                rows.iter().map(|row| serde_json::from_str(row.get(0)).expect("a row")).collect()
            }
        }
    }

    /// Every text of every table.
    pub fn texts(&self) -> Vec<String> {
        let tables = self.rows(match self {
            Self::File(_) => "SELECT name FROM sqlite_schema WHERE type = 'table'",
            Self::Postgres(..) => "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
        });
        let tables = tables.iter().filter_map(|table| table["name"].as_str());
        let rows = tables.flat_map(|table| self.rows(&format!("SELECT * FROM {table}")));
        let is_text = |value| if let Value::String(text) = value { Some(text) } else { None };
        rows.flat_map(|row| row.into_iter().filter_map(move |(_, value)| is_text(value))).collect()
    }

    /// The moment, in its SQL.
    pub fn now(&self) -> &'static str {
        match self {
            Self::File(_) => "unixepoch() * 1000",
            Self::Postgres(..) => "now_ms()",
        }
    }

    /// The order of the events' commits, by those who read them.
    pub fn order_of_events(&self) -> &'static str {
        match self {
            Self::File(_) => "seq",
            Self::Postgres(..) => "seq NULLS LAST, events.id",
        }
    }
}

fn rows_of_file(connection: &rusqlite::Connection, sql: &str) -> rusqlite::Result<Vec<Columns>> {
    let mut statement = connection.prepare(sql)?;
    let names: Vec<_> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let columns = names.iter().enumerate().map(|(at, name)| Ok((name.clone(), value(row.get_ref(at)?))));
        found.push(columns.collect::<rusqlite::Result<Columns>>()?);
    }
    Ok(found)
}

/// No text is in bytes: those are hashes.
fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Integer(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
    }
}
