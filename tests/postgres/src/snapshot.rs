//! A transaction that stays open: a report that takes long, a backup, a session that somebody forgot.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Stdio},
};

use crate::{programs::Programs, psql_of};

/// A snapshot of a whole database, until it is dropped: no version of a row that is newer than it can be cleaned up.
#[derive(Debug)]
pub struct Snapshot(Child);

impl Snapshot {
    /// Takes one, of the database at this address.
    pub fn hold(url: &str) -> Self {
        let mut psql = psql_of(&Programs::find(), url);
        let mut psql = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("psql");
        let input = psql.stdin.as_mut().expect("a pipe");
        // A snapshot is taken by the first statement that reads.
        input.write_all(b"BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 'held';\n").expect("psql listens");
        let mut line = String::new();
        BufReader::new(psql.stdout.take().expect("a pipe")).read_line(&mut line).expect("a pipe");
        assert_eq!(line.trim(), "held");
        Self(psql)
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ended = self.0.wait();
    }
}
