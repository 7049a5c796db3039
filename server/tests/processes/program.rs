//! The program in a process of its own, with the settings that a merchant would give it.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    thread,
    time::{Duration, Instant},
};

use kassa_sandbox::Sandbox;
use kassa_test_patience::{patience, wait_until_within};

const BREATH: Duration = Duration::from_millis(20);

/// The password at the gateway, to be found nowhere.
pub const PASSWORD: &str = "correct-horse-battery-staple";
/// What signs events, to be found nowhere.
pub const EVENTS_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What the sandbox does where the interface leaves it open.
pub const SANDBOX_DIALECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sandbox-dialect.json");

/// What is needed to start a server, and to start it again.
#[derive(Clone)]
pub struct Plan {
    pub address: SocketAddr,
    pub folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// A server that runs. It is killed when this is dropped.
pub struct Program {
    child: Child,
}

impl Plan {
    /// In front of this gateway, with its database in this folder. Deadlines are short, so that there is much to see.
    pub fn new(sandbox: &Sandbox, folder: &Path) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
        let variables = vec![
            ("KASSA_SERVER_LISTEN", address.to_string()),
            ("KASSA_SERVER_PUBLIC_URL", format!("http://{address}")),
            ("KASSA_SERVER_DATABASE", folder.join("kassa.db").display().to_string()),
            ("KASSA_SERVER_GATEWAY_URL", sandbox.url().to_owned()),
            ("KASSA_SERVER_GATEWAY_LOGIN", sandbox.login().to_owned()),
            ("KASSA_SERVER_GATEWAY_PASSWORD", sandbox.password().to_owned()),
            ("KASSA_SERVER_GATEWAY_DIALECT", SANDBOX_DIALECT.to_owned()),
            ("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "1s".to_owned()),
            ("KASSA_SERVER_GATEWAY_QUERY_DEADLINE", "1s".to_owned()),
            ("KASSA_SERVER_POLL_RATE", "1000".to_owned()),
            ("KASSA_SERVER_LIMITS_PER_TOKEN", "1000".to_owned()),
        ];
        Self { address, folder: folder.to_owned(), variables }
    }

    /// One more setting, or another one.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
    }

    /// A second server on the same database.
    pub fn another(&self) -> Self {
        let mut plan = self.clone();
        plan.address.set_port(free_port());
        plan.set("KASSA_SERVER_LISTEN", plan.address.to_string());
        plan
    }

    /// Where all servers of the folder write what they log.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.join("log")).unwrap_or_default()).into_owned()
    }

    /// A new API key.
    pub fn new_key(&self) -> String {
        let made = self.command("exec \"$0\" \"$@\"").args(["keys", "new", "--name", "shop"]).output().unwrap();
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }

    /// Starts it, and waits until it listens.
    pub fn start(&self) -> Result<Program, String> {
        self.start_by("exec \"$0\" \"$@\"")
    }

    /// The same by a shell that sets its limits.
    pub fn start_by(&self, shell: &str) -> Result<Program, String> {
        let log = File::options().create(true).append(true).open(self.folder.join("log")).map_err(error_text)?;
        let mut command = self.command(shell);
        command.args(["serve", "--announce", "json"]).stdout(Stdio::piped()).stderr(log);
        let mut program = Program { child: command.spawn().map_err(error_text)? };
        let mut line = String::new();
        let out = program.child.stdout.take().ok_or("it has no output")?;
        BufReader::new(out).read_line(&mut line).map_err(error_text)?;
        if line.starts_with('{') {
            return Ok(program);
        }
        let status = program.wait();
        Err(format!("it did not start, {status:?}: {}", self.log()))
    }

    /// Starts it; again where its port is still somebody else's, or another one has the database just now.
    pub fn start_in_the_end(&self) -> Result<Program, String> {
        let begun = Instant::now();
        loop {
            match self.start() {
                Err(problem) if begun.elapsed() > longest() => return Err(problem),
                Err(_) => thread::sleep(BREATH),
                Ok(program) => return Ok(program),
            }
        }
    }

    /// By a shell that knows the program as `$0`.
    pub fn command(&self, shell: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", shell, env!("CARGO_BIN_EXE_kassa-server")]);
        command.env_clear().envs(self.variables.clone()).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

impl Program {
    #[cfg(target_os = "linux")]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`: nothing of it gets to do anything more.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn signal(&self, name: &str) {
        // The shell's own: not every system has the program.
        let _ = Command::new("sh").args(["-c", "kill -$0 $1", name, &self.child.id().to_string()]).status();
    }

    /// SIGTERM; how it ended, and after which time.
    pub fn stop(mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        self.signal("TERM");
        (self.wait().unwrap(), begun.elapsed())
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

/// A schedule that failed leaves nothing running.
impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn error_text(problem: io::Error) -> String {
    problem.to_string()
}

/// One that connections of others do not get in the way of: below those that a system hands out. Each is used once.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = 12_000 + (std::process::id() % 8_000) as u16;
    loop {
        let port = begin + NEXT.fetch_add(1, Ordering::Relaxed) % 12_000;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// The timeout for what has to happen. Up to twenty schedules share the machine, so it is twice the usual one.
pub fn longest() -> Duration {
    2 * patience()
}

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, is_so: impl FnMut() -> bool) {
    wait_until_within(longest(), what, is_so);
}
