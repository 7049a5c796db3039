//! A real PostgreSQL for tests: a cluster in a folder of its own, on a port of its own, which is gone when the tests are,
//! however they end. A machine without PostgreSQL fails, and is told what to install.
//!
//! ```
//! let database = kassa_test_postgres::shared().database();
//! assert_eq!(database.psql("SELECT 1 + 1"), "2");
//! ```

mod archive;
mod namespace;
mod programs;
mod snapshot;

use std::{
    fmt::Display,
    net::TcpListener,
    process::{Child, Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU16, AtomicU32, Ordering},
    },
};

use kassa_test_patience::patience;
pub use namespace::{LINKS, Namespace};
use programs::{Programs, output};
pub use snapshot::Snapshot;

/// Its user, who may do everything and needs no password.
const USER: &str = "kassa";
/// What the settings say beside the defaults: `fsync` and `synchronous_commit` stay on, as what is tested is what is on the disk.
const SETTINGS: &str = "-c unix_socket_directories= -c max_connections=200 \
    -c shared_buffers=64MB -c log_min_messages=warning";
/// How often another port is tried, as somebody may take a free one before PostgreSQL does.
const TRIES: u32 = 5;
const LOOPBACK: &str = "127.0.0.1";
/// The number of ports that are tried.
const PORTS: u16 = 100;

/// The one that all tests of a process share.
pub fn shared() -> &'static Cluster {
    static SHARED: LazyLock<Cluster> = LazyLock::new(Cluster::start);
    &SHARED
}

/// A cluster that is running. It stops, and its folder goes, when it is dropped or its process ends.
#[derive(Debug)]
pub struct Cluster {
    programs: Programs,
    folder: String,
    /// More options of its start.
    settings: String,
    /// Where tests reach it.
    host: String,
    /// What runs its server in a network namespace.
    entry: Option<Vec<String>>,
    port: u16,
    /// Ends the cluster when the pipe to it closes, which the system does for a process that was killed.
    keeper: Child,
    databases: AtomicU32,
}

impl Cluster {
    /// Starts the newest version that this machine has.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same, with settings such as `shared_buffers=1GB` instead of those of tests.
    pub fn start_with(settings: &[&str]) -> Self {
        Self::start_in_a_folder(|_| settings.iter().map(|setting| format!(" -c {setting}")).collect())
    }

    /// Starts one in a network namespace: it can be reached by the namespace's links, and in no other way.
    pub fn start_in(namespace: &Namespace) -> Self {
        let mut cluster = Self::make(|_| String::new());
        let addresses: Vec<_> = namespace.addresses().map(|address| address.to_string()).collect();
        cluster.settings = format!(" -c listen_addresses={}", addresses.join(","));
        let peers: String = namespace.peers().map(|peer| format!("host all all {peer}/32 trust\n")).collect();
        let append = "printf %s \"$0\" >> \"$1/pg_hba.conf\"";
        output(cluster.programs.command("sh").args(["-ec", append, &peers, &cluster.data()]));
        cluster.host = namespace.uncut_address().to_string();
        cluster.entry = Some(namespace.entry());
        cluster.start_on_a_free_port();
        cluster
    }

    fn start_in_a_folder(settings: impl FnOnce(&str) -> String) -> Self {
        let mut cluster = Self::make(|folder| format!(" -c listen_addresses={LOOPBACK}{}", settings(folder)));
        cluster.start_on_a_free_port();
        cluster
    }

    /// It is not started yet.
    fn make(settings: impl FnOnce(&str) -> String) -> Self {
        let programs = Programs::find();
        let folder = output(programs.command("mktemp").args(["-d", "/tmp/kassa-postgres.XXXXXX"]));
        let keeper = keeper_of_cluster(&programs, &folder);
        let (settings, host) = (settings(&folder), LOOPBACK.to_owned());
        let cluster =
            Self { programs, folder, settings, host, entry: None, port: 0, keeper, databases: AtomicU32::new(0) };
        let data = cluster.data();
        let how = [
            "--username",
            USER,
            "--auth",
            "trust",
            "--encoding",
            "UTF8",
            "--locale",
            "C",
            "--no-sync",
            "--no-instructions",
        ];
        output(cluster.programs.postgres("initdb").args(how).args(["--pgdata", &data]));
        cluster
    }

    fn start_on_a_free_port(&mut self) {
        for left in (0..TRIES).rev() {
            self.port = free_port();
            match self.try_start() {
                Ok(()) => break,
                Err(why) => assert!(left > 0, "PostgreSQL does not start: {why}"),
            }
        }
    }

    /// Where it listens, for this machine alone.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Which of its files hold one of these texts: tables, logs, what is left of what was deleted.
    pub fn files_with(&self, texts: &[String]) -> Vec<String> {
        let mut grep = self.programs.command("grep");
        grep.args(["-r", "-l", "-a", "-F"]).args(texts.iter().flat_map(|text| ["-e", text])).arg(&self.folder);
        let found = grep.stdin(Stdio::null()).output().unwrap_or_else(|why| panic!("grep: {why}"));
        String::from_utf8_lossy(&found.stdout).lines().map(str::to_owned).collect()
    }

    /// A database of its own, which is empty.
    pub fn database(&self) -> Database<'_> {
        self.create("")
    }

    fn create(&self, options: &str) -> Database<'_> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.psql("postgres", &format!("CREATE DATABASE {name}{options}"));
        Database { cluster: self, name }
    }

    /// Stops it as a power cut would, and starts it again, in recovery.
    pub fn crash_and_recover(&self) {
        self.stop("immediate");
        self.start_again();
    }

    fn stop(&self, mode: &str) {
        output(self.programs.postgres("pg_ctl").args(["stop", "-w", "-t", &timeout(), "-m", mode, "-D", &self.data()]));
    }

    fn start_again(&self) {
        self.try_start().unwrap_or_else(|why| panic!("PostgreSQL does not start again: {why}"));
    }

    fn data(&self) -> String {
        format!("{}/data", self.folder)
    }

    fn try_start(&self) -> Result<(), String> {
        let log = format!("{}/log", self.folder);
        let settings = format!("{SETTINGS} -c port={}{}", self.port, self.settings);
        let pg_ctl = self.programs.path("pg_ctl");
        let mut start = match &self.entry {
            Some(entry) => self.programs.command_in(entry, &pg_ctl),
            None => self.programs.command(&pg_ctl),
        };
        start.args(["start", "-w", "-t", &timeout(), "-D", &self.data(), "-l", &log, "-o", &settings]);
        let is_started = start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match is_started {
            Ok(status) if status.success() => Ok(()),
            _ => Err(output(self.programs.command("cat").arg(&log))),
        }
    }

    fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@{}:{}/{database}", self.host, self.port)
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        output(psql_of(&self.programs, &self.url(database)).args(["-c", sql]))
    }
}

/// Rows are lines, columns are parted by a bar.
fn psql_of(programs: &Programs, url: &str) -> Command {
    let mut psql = programs.postgres("psql");
    psql.args([url, "-XAtq", "-v", "ON_ERROR_STOP=1"]);
    psql
}

/// As [`Database::psql`], for a process that was given an address.
pub fn psql(url: &str, sql: &str) -> String {
    output(psql_of(&Programs::find(), url).args(["-c", sql]))
}

/// The address of another database beside one, which is made. It is gone when the cluster is.
pub fn sibling(of: &str, name: &str) -> String {
    psql(of, &format!("CREATE DATABASE {name}"));
    let (cluster, _) = of.rsplit_once('/').unwrap_or((of, ""));
    format!("{cluster}/{name}")
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// How long `pg_ctl` waits, in seconds.
fn timeout() -> String {
    patience().as_secs().max(1).to_string()
}

fn keeper_of_cluster(programs: &Programs, folder: &str) -> Child {
    let end = r#"read -r _; "$0" stop -m immediate -D "$1/data"; rm -rf "$1""#;
    let pg_ctl = programs.path("pg_ctl");
    keeper(programs.command("sh").args(["-c", end, &pg_ctl, folder]))
}

/// A shell that reads from a pipe to it, and cleans up when that closes.
fn keeper(shell: &mut Command) -> Child {
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    own_group(shell);
    shell.spawn().unwrap_or_else(|why| panic!("sh does not start: {why}"))
}

/// Who interrupts the tests by the keyboard does not interrupt what cleans up after them.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such groups"))]
fn own_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
}

/// Below those that systems hand out (ephemeral ports): a cluster that starts again needs the same one, which a connection of
/// somebody else's would have taken meanwhile.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = 24_000 + (std::process::id() % 80) as u16 * 100;
    let mut ports = (0..PORTS).map(|_| begin + NEXT.fetch_add(1, Ordering::Relaxed) % PORTS);
    let free = ports.find(|port| TcpListener::bind((LOOPBACK, *port)).is_ok());
    free.unwrap_or_else(|| panic!("no port from {begin} on is free"))
}

/// An empty database. It is dropped with what is connected to it.
#[derive(Debug)]
pub struct Database<'a> {
    cluster: &'a Cluster,
    name: String,
}

impl Database<'_> {
    /// Its address.
    pub fn url(&self) -> String {
        self.cluster.url(&self.name)
    }

    /// Its address where something stands between, or by another of the cluster's own.
    pub fn url_at(&self, host: impl Display, port: u16) -> String {
        format!("postgres://{USER}@{host}:{port}/{}", self.name)
    }

    /// Another one with the same in it. Nobody may be connected to this one.
    pub fn copy(&self) -> Database<'_> {
        self.cluster.create(&format!(" TEMPLATE {} STRATEGY file_copy", self.name))
    }

    /// Runs SQL with psql: rows are lines, columns are parted by a bar. An error is a panic with psql's words.
    pub fn psql(&self, sql: &str) -> String {
        self.cluster.psql(&self.name, sql)
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        // Where a test has failed already, its own words matter.
        if !std::thread::panicking() {
            self.cluster.psql("postgres", &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_committed_outlives_a_crash() {
        let cluster = Cluster::start();
        let database = cluster.database();
        database.psql("CREATE TABLE kept (one INTEGER); INSERT INTO kept VALUES (1)");
        assert!(cluster.files_with(&["CREATE TABLE kept".to_owned()]).is_empty(), "no log repeats what it is told");
        cluster.crash_and_recover();
        assert_eq!(database.psql("SELECT one FROM kept"), "1");
        assert_eq!(cluster.database().psql("SELECT to_regclass('kept') IS NULL"), "t", "each is empty");
    }

    #[test]
    fn restore_discards_later_changes() {
        let cluster = Cluster::start_with_archive();
        let database = cluster.database();
        database.psql("CREATE TABLE kept (one INTEGER)");
        cluster.back_up();
        database.psql("INSERT INTO kept VALUES (1)");
        cluster.mark("then");
        database.psql("INSERT INTO kept VALUES (2)");
        cluster.restore("then");
        assert_eq!(database.psql("SELECT one FROM kept"), "1");
        database.psql("INSERT INTO kept VALUES (3)");
    }

    #[test]
    fn nothing_is_left_of_a_cluster_that_ended() {
        let cluster = Cluster::start();
        let (folder, url) = (cluster.folder.clone(), cluster.database().url());
        assert!(std::path::Path::new(&folder).exists(), "{url}");
        drop(cluster);
        assert!(!std::path::Path::new(&folder).exists());
    }
}
