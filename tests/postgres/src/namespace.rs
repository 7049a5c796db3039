//! A network namespace of the kernel's: PostgreSQL runs in it, and each link into it can be cut. What is sent over a cut link
//! vanishes, and nobody is told (a partition).

use std::{
    env,
    io::{self, Write as _},
    net::Ipv4Addr,
    process::{self, Child, Command},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{keeper, programs};

/// The number of links that can be cut.
pub const LINKS: usize = 2;
/// The one that is never cut, by which tests look on.
const UNCUT: usize = LINKS;
/// Nobody's but organizations' own, as 10.0.0.0/8 is all of: 10.64.0.0/10, of which a namespace takes a /28, and a link a /30.
const NETWORK: u32 = u32::from_be_bytes([10, 64, 0, 0]);
/// How many namespaces of one process have addresses of their own.
const OF_A_PROCESS: u32 = 4;
const PROCESSES: u32 = 1 << 16;
/// Of every link's end in the namespace: no link has more than two ends.
const HARDWARE_ADDRESS: &str = "02:00:00:00:00:02";
const NEEDED: &str = "Network namespaces need Linux, iproute2 (Debian: iproute2), and root or sudo without a password.";
/// What a keeper does in the end. A process that is still in the namespace keeps it from going, but not its links.
const CLEAN_UP: &str =
    r#"read -r _; name=$1; shift; for link; do $0 link delete "$link"; done; $0 netns delete "$name""#;

/// A network namespace with links to the machine's own. It goes when it is dropped or its process ends.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    ip: &'static [&'static str],
    /// Which of the addresses it takes.
    slot: u32,
    /// Removes it when the pipe to it closes, which the system does for a process that was killed.
    keeper: Child,
}

impl Namespace {
    /// Makes one, with all links up.
    ///
    /// # Errors
    /// Why this machine cannot make any.
    pub fn new() -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if !cfg!(target_os = "linux") {
            return Err(format!("this is not Linux. {NEEDED}"));
        }
        let (id, count) = (process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        if count >= OF_A_PROCESS {
            return Err(format!("a process has addresses for {OF_A_PROCESS} namespaces"));
        }
        let (name, ip) = (format!("kassa-{id}-{count}"), how_ip_runs());
        let slot = (id % PROCESSES) * OF_A_PROCESS + count;
        let links = (0..=LINKS).map(|link| link_name(&name, link));
        let mut clean_up = Command::new("sh");
        clean_up.args(["-c", CLEAN_UP, &ip.join(" "), &name]).args(links);
        let namespace = Self { name, ip, slot, keeper: keeper(&mut clean_up) };
        namespace.run(&["netns", "add", &namespace.name]).map_err(|why| format!("{why}. {NEEDED}"))?;
        for link in 0..=LINKS {
            namespace.add(link)?;
        }
        // Where one may make a namespace and not enter it, that is better known now.
        namespace.run(&["netns", "exec", &namespace.name, "true"]).map_err(|why| format!("{why}. {NEEDED}"))?;
        Ok(namespace)
    }

    /// One, or none on a machine that cannot make any, which is said. Continuous integration must be able to.
    pub fn if_possible() -> Option<Self> {
        let why = match Self::new() {
            Ok(namespace) => return Some(namespace),
            Err(why) => why,
        };
        assert!(env::var("CI").as_deref() != Ok("true"), "no network namespace can be made: {why}");
        // Not by the macro, whose words a test that passes keeps to itself. Nobody may be there to read them.
        let _ = writeln!(io::stderr(), "no network namespace can be made, so no link is cut: {why}");
        None
    }

    /// Nothing gets through by this link any more, in neither direction; sockets stay as they are.
    ///
    /// # Panics
    /// If the kernel refuses.
    pub fn part(&self, link: usize) {
        self.set(link, "down");
    }

    /// What is sent by this link arrives again. What vanished, TCP sends again by itself.
    ///
    /// # Panics
    /// If the kernel refuses.
    pub fn heal(&self, link: usize) {
        self.set(link, "up");
    }

    /// Where PostgreSQL is by this link.
    pub fn address(&self, link: usize) -> Ipv4Addr {
        self.end(link, 2)
    }

    /// Who speaks to it by this link.
    pub fn peer(&self, link: usize) -> Ipv4Addr {
        self.end(link, 1)
    }

    /// Where it is by the link that is never cut.
    pub(crate) fn uncut_address(&self) -> Ipv4Addr {
        self.address(UNCUT)
    }

    /// Its own addresses.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> {
        (0..=LINKS).map(|link| self.address(link))
    }

    /// Who speaks to it.
    pub(crate) fn peers(&self) -> impl Iterator<Item = Ipv4Addr> {
        (0..=LINKS).map(|link| self.peer(link))
    }

    /// What runs a program in it, as root.
    pub(crate) fn entry(&self) -> Vec<String> {
        let into = ["netns", "exec", &self.name];
        self.ip.iter().copied().chain(into).map(str::to_owned).collect()
    }

    fn end(&self, link: usize, end: u32) -> Ipv4Addr {
        assert!(link <= LINKS, "there are {LINKS} links");
        Ipv4Addr::from_bits(NETWORK + (self.slot << 4) + ((link as u32) << 2) + end)
    }

    fn add(&self, link: usize) -> Result<(), String> {
        let (outer, inner) = (link_name(&self.name, link), inner_name(link));
        let address = self.address(link).to_string();
        let peer = ["peer", "name", &inner, "address", HARDWARE_ADDRESS, "netns", &self.name];
        self.run(&[&["link", "add", &outer, "type", "veth"], &peer[..]].concat())?;
        self.run(&["address", "add", &format!("{}/30", self.end(link, 1)), "dev", &outer])?;
        self.run(&["link", "set", &outer, "up"])?;
        self.run(&["-n", &self.name, "address", "add", &format!("{address}/30"), "dev", &inner])?;
        self.run(&["-n", &self.name, "link", "set", &inner, "up"])?;
        // ARP would find nobody on a link that is cut, and its sender would be told (no route to host).
        self.run(&["neighbour", "replace", &address, "lladdr", HARDWARE_ADDRESS, "nud", "permanent", "dev", &outer])
    }

    /// The end in the namespace. If the outer one were down, what is meant for it would go by the default route, where somebody
    /// else may answer.
    fn set(&self, link: usize, state: &str) {
        assert!(link < LINKS, "{LINKS} links can be cut");
        let set = self.run(&["-n", &self.name, "link", "set", &inner_name(link), state]);
        set.unwrap_or_else(|why| panic!("{why}"));
    }

    fn run(&self, arguments: &[&str]) -> Result<(), String> {
        programs::try_output(Command::new(self.ip[0]).args(&self.ip[1..]).args(arguments)).map(drop)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn how_ip_runs() -> &'static [&'static str] {
    // What somebody typed a password for a moment ago would not be good any more when it is to be removed.
    if programs::is_root() { &["ip"] } else { &["sudo", "-k", "-n", "ip"] }
}

/// At most 15 characters, as the kernel wants.
fn link_name(namespace: &str, link: usize) -> String {
    format!("{}.{link}", namespace.replace("kassa-", "k"))
}

fn inner_name(link: usize) -> String {
    format!("link{link}")
}

#[cfg(test)]
mod tests {
    use std::{
        net::{SocketAddr, TcpStream},
        path::Path,
        thread,
        time::Duration,
    };

    use kassa_test_patience::{patient, wait_until};

    use super::*;
    use crate::Cluster;

    /// On the same machine, the kernel makes a connection at once or never.
    fn moment() -> Duration {
        patient(Duration::from_secs(1))
    }

    fn answers(address: SocketAddr) -> bool {
        TcpStream::connect_timeout(&address, moment()).is_ok()
    }

    #[test]
    fn cut_link_blocks_traffic_until_healed() {
        let Some(namespace) = Namespace::if_possible() else { return };
        let cluster = Cluster::start_in(&namespace);
        let [one, other] = [0, 1].map(|link| SocketAddr::from((namespace.address(link), cluster.port())));
        let database = cluster.database();
        assert!(answers(one) && answers(other));

        namespace.part(0);
        let problem = TcpStream::connect_timeout(&one, moment()).expect_err("the link is cut");
        assert_eq!(problem.kind(), io::ErrorKind::TimedOut, "nobody is told: {problem}");
        assert!(answers(other));
        assert_eq!(database.psql("SELECT 1"), "1");

        namespace.heal(0);
        wait_until("it answers", || answers(one));
    }

    /// An answer that was on its way when the link was cut.
    #[test]
    fn packets_of_cut_link_arrive_when_healed() {
        let Some(namespace) = Namespace::if_possible() else { return };
        let cluster = Cluster::start_in(&namespace);
        let database = cluster.database();
        database.psql("CREATE TABLE said ()");
        let wait = "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM said) LOOP PERFORM pg_sleep(0.01); END LOOP; END $$";
        let url = database.url_at(namespace.address(1), cluster.port());
        let asking = thread::spawn(move || crate::psql(&url, &format!("{wait}; SELECT 'heard'")));
        let by_the_link = format!("SELECT state FROM pg_stat_activity WHERE client_addr = '{}'", namespace.peer(1));
        wait_until("it asks", || database.psql(&by_the_link) == "active");

        namespace.part(1);
        database.psql("INSERT INTO said DEFAULT VALUES");
        wait_until("PostgreSQL has answered", || database.psql(&by_the_link) == "idle");
        assert!(!asking.is_finished(), "the answer vanished, and nobody is told");
        namespace.heal(1);
        assert_eq!(asking.join().expect("an answer"), "heard");
    }

    #[test]
    fn nothing_is_left_of_a_namespace_that_ended() {
        let Some(namespace) = Namespace::if_possible() else { return };
        let cluster = Cluster::start_in(&namespace);
        let (data, name) = (cluster.data(), namespace.name.clone());
        let links: Vec<_> = (0..=LINKS).map(|link| format!("/sys/class/net/{}", link_name(&name, link))).collect();
        let paths = [vec![data, format!("/run/netns/{name}")], links].concat();
        let is_there = |path: &&String| Path::new(path).exists();
        assert_eq!(paths.iter().filter(is_there).count(), paths.len(), "{paths:?}");
        drop(cluster);
        drop(namespace);
        assert_eq!(paths.iter().filter(is_there).collect::<Vec<_>>(), Vec::<&String>::new());
    }
}
