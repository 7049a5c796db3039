//! A database of PostgreSQL's that two servers share, each by a line of its own.

use std::{
    sync::{LazyLock, Mutex},
    time::Duration,
};

use kassa_test_postgres::{Cluster, Database};

use crate::line::Line;

/// The database of most.
pub static FLEET: LazyLock<Cluster> = LazyLock::new(Cluster::start);

/// The primary that is stopped as by a power cut, and recovers. Only one schedule at a time has it.
pub static RESTLESS: LazyLock<(Cluster, Mutex<()>)> = LazyLock::new(|| (Cluster::start(), Mutex::new(())));

/// The database.
pub struct Fleet {
    pub cluster: &'static Cluster,
    pub lines: [Line; 2],
    database: Database<'static>,
}

impl Fleet {
    pub fn new(cluster: &'static Cluster) -> Self {
        let database = cluster.database();
        Self { cluster, lines: [(); 2].map(|()| Line::to(cluster.port())), database }
    }

    /// Its address, past the lines.
    pub fn url(&self) -> String {
        self.database.url()
    }

    /// Its address by a server's line.
    pub fn url_by_line(&self, server: usize) -> String {
        let (there, here) = (self.cluster.port(), self.lines[server].port);
        self.url().replace(&format!(":{there}/"), &format!(":{here}/"))
    }

    /// The database's clock can be put ahead from now on.
    pub fn has_a_calendar(&self) {
        self.database.psql(
            "CREATE TABLE calendar AS SELECT 0::bigint AS ahead;
             CREATE OR REPLACE FUNCTION now_ms() RETURNS BIGINT LANGUAGE SQL VOLATILE AS
                'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ahead FROM calendar'",
        );
    }

    /// Tokens stay as good as they are: the payers are still there.
    pub fn time_passes(&self, by: Duration) {
        let by = by.as_millis();
        self.database.psql(&format!(
            "BEGIN; UPDATE tokens SET expires_at = expires_at + {by}; UPDATE calendar SET ahead = ahead + {by}; COMMIT"
        ));
    }

    /// PostgreSQL ends the half of all connections, as an operator may.
    pub fn ends_connections(&self) {
        self.database.psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5",
        );
    }

    /// Whatever is wrong with the lines ends.
    pub fn is_healed(&self) {
        for line in &self.lines {
            line.loses_commits(0);
            line.loses_answers(0);
            line.is_parted(false);
        }
    }
}
