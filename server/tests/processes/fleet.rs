//! A database of PostgreSQL's that two servers share. Each has its own way to it, which can go wrong.

use std::{
    net::Ipv4Addr,
    sync::{LazyLock, Mutex, PoisonError},
    time::Duration,
};

use kassa_test_postgres::{Cluster, Database, LINKS, Namespace};

use crate::line::Line;

/// The database of most.
pub static FLEET: LazyLock<Cluster> = LazyLock::new(Cluster::start);

/// The primary that is stopped as by a power cut, and recovers. Only one schedule at a time has it.
pub static RESTLESS: LazyLock<(Cluster, Mutex<()>)> = LazyLock::new(|| (Cluster::start(), Mutex::new(())));

/// The database in a network namespace, where the machine can make one.
pub static APART: LazyLock<Option<Apart>> = LazyLock::new(Apart::start);

/// A database in a network namespace. Only one schedule at a time has it, as there is one link for each server.
pub struct Apart {
    pub cluster: Cluster,
    pub turn: Mutex<()>,
    namespace: Namespace,
}

impl Apart {
    /// Nothing on a machine that cannot make one, which is said.
    pub fn start() -> Option<Self> {
        let namespace = Namespace::if_possible()?;
        Some(Self { cluster: Cluster::start_in(&namespace), namespace, turn: Mutex::new(()) })
    }
}

/// The servers' ways to the database.
pub enum Ways {
    /// A proxy each, which can lose single messages.
    Lines([Line; 2]),
    /// A link of the kernel's each, into the database's network namespace. It can be cut, and nothing else.
    Links(&'static Namespace),
}

/// The database.
pub struct Fleet {
    pub cluster: &'static Cluster,
    pub ways: Ways,
    /// How many partitions of each server last: they overlap, and the last one's end heals.
    partitions: [Mutex<u32>; 2],
    database: Database<'static>,
}

impl Fleet {
    pub fn by_lines(cluster: &'static Cluster) -> Self {
        Self::new(cluster, Ways::Lines([(); 2].map(|()| Line::to(cluster.port()))))
    }

    pub fn by_links(apart: &'static Apart) -> Self {
        // A schedule that failed may have left them cut.
        (0..LINKS).for_each(|server| apart.namespace.heal(server));
        Self::new(&apart.cluster, Ways::Links(&apart.namespace))
    }

    fn new(cluster: &'static Cluster, ways: Ways) -> Self {
        Self { cluster, ways, partitions: Default::default(), database: cluster.database() }
    }

    /// Its address, by a way that nothing is wrong with.
    pub fn url(&self) -> String {
        self.database.url()
    }

    /// Its address by a server's way. No one else is in the namespace, which has no certificate.
    pub fn url_of(&self, server: usize) -> String {
        match &self.ways {
            Ways::Lines(lines) => self.database.url_at(Ipv4Addr::LOCALHOST, lines[server].port),
            Ways::Links(namespace) => {
                let url = self.database.url_at(namespace.address(server), self.cluster.port());
                format!("{url}?sslmode=disable")
            }
        }
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

    /// How many connections a server has, as PostgreSQL sees it.
    pub fn connections_of(&self, server: usize) -> u32 {
        let Ways::Links(namespace) = &self.ways else { panic!("lines all come from one address") };
        let count = format!("SELECT COUNT(*) FROM pg_stat_activity WHERE client_addr = '{}'", namespace.peer(server));
        self.database.psql(&count).parse().expect("a number")
    }

    /// PostgreSQL ends the half of all connections, as an operator may.
    pub fn ends_connections(&self) {
        self.database.psql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5",
        );
    }

    /// What a partition is called, by what makes it.
    pub fn partition(&self) -> &'static str {
        match self.ways {
            Ways::Lines(_) => "partition",
            Ways::Links(_) => "partition in a network namespace",
        }
    }

    /// Nothing gets through from now on.
    pub fn part(&self, server: usize) {
        self.count_partitions(server, |count| count + 1);
    }

    /// One partition is over.
    pub fn heal(&self, server: usize) {
        self.count_partitions(server, |count| count - 1);
    }

    fn count_partitions(&self, server: usize, change: impl FnOnce(u32) -> u32) {
        let mut count = self.partitions[server].lock().unwrap_or_else(PoisonError::into_inner);
        *count = change(*count);
        match (&self.ways, *count > 0) {
            (Ways::Lines(lines), is_parted) => lines[server].is_parted(is_parted),
            (Ways::Links(namespace), true) => namespace.part(server),
            (Ways::Links(namespace), false) => namespace.heal(server),
        }
    }

    /// What was still to get lost does not. Partitions end by themselves.
    pub fn is_healed(&self) {
        let Ways::Lines(lines) = &self.ways else { return };
        for line in lines {
            line.loses_commits(0);
            line.loses_answers(0);
        }
    }
}
