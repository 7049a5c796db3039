//! Runs the real program, and stands between it and a gateway.

#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

use kassa::{Journal, JournalState, Unfinished};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_test_patience::wait_for;
use serde_json::Value;
use tempfile::TempDir;

/// The secrets that a run is given. None of them occurs in a number or a URL by chance.
pub const CVC: &str = "~Q7";
pub const PASSWORD: &str = "sesame-Öffne-42";

/// What the sandbox calls things.
const DIALECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../sandbox-dialect.json");

/// A program with none of the settings of whoever runs the tests.
fn without_settings(program: &str) -> Command {
    let mut command = Command::new(program);
    let is_setting = |name: &str| name.starts_with("KASSA_") || name.starts_with("FLOWS_");
    let ours = std::env::vars_os().filter(|(name, _)| is_setting(&name.to_string_lossy()));
    ours.for_each(|(name, _)| {
        command.env_remove(name);
    });
    command
}

/// A program in a folder of its own, whose gateway is this sandbox, by its environment.
pub fn program(path: &str, sandbox: &Sandbox, folder: &Path) -> Command {
    let mut command = without_settings(path);
    command
        .current_dir(folder)
        .env("KASSA_URL", sandbox.url())
        .env("KASSA_LOGIN", sandbox.login())
        .env("KASSA_PASSWORD", sandbox.password())
        .env("KASSA_DIALECT", DIALECT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A directory for the journals, and where the program finds its gateway.
pub struct Shop {
    pub directory: TempDir,
    pub base_url: Option<(String, String)>,
}

/// How a run ended.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Shop {
    /// The embedded sandbox.
    pub fn embedded() -> Self {
        Self { directory: TempDir::new().unwrap(), base_url: None }
    }

    /// A gateway somewhere on this machine.
    pub fn at(base_url: &str, password: &str) -> Self {
        Self { directory: TempDir::new().unwrap(), base_url: Some((base_url.to_owned(), password.to_owned())) }
    }

    /// The folder of the journals.
    pub fn journals(&self) -> PathBuf {
        self.directory.path().join("journals")
    }

    /// The journal of the gateway, the only one here.
    pub fn journal(&self) -> PathBuf {
        let folders: Vec<_> =
            std::fs::read_dir(self.journals()).unwrap().map(|folder| folder.unwrap().path()).collect();
        let [folder] = &folders[..] else { panic!("{folders:?}") };
        folder.clone()
    }

    /// What the journal has not done with: each payment's reference, and what is known of it.
    pub fn unfinished(&self) -> Vec<(String, JournalState)> {
        unfinished(&self.journal())
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = without_settings(env!("CARGO_BIN_EXE_checkout"));
        command.args(args).arg("--journal").arg(self.journals()).current_dir(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some((base_url, password)) = &self.base_url {
            command.env("KASSA_URL", base_url).env("KASSA_LOGIN", "kassa").env("KASSA_PASSWORD", password);
            // Without it, nobody can say that a pay-form's number is not that of a QR payment.
            command.env("KASSA_DIALECT", DIALECT);
            command.args(["--poll-interval", "200ms"]);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::from(self.command(args).output().unwrap())
    }

    /// Runs it with `--json` and reads the line.
    pub fn json(&self, args: &[&str]) -> (Run, Value) {
        let run = self.run(&[args, &["--json"]].concat());
        let value = run.last_line();
        (run, value)
    }
}

impl Run {
    /// The last line of standard output, which has to be the only one.
    pub fn last_line(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{}\n{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap()
    }

    #[track_caller]
    pub fn expect_code(&self, code: i32) {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The unfinished entries of a journal: each payment's reference, and what is known of it.
pub fn unfinished(journal: &Path) -> Vec<(String, JournalState)> {
    let items = Journal::open(journal).unwrap().unfinished();
    let read = items.map(|item| match item.unwrap() {
        Unfinished::Payment { entry } => (entry.payment.to_string(), entry.state),
        other => panic!("{other:?}"),
    });
    read.collect()
}

/// The text of every file in a folder.
pub fn all_texts(folder: &Path) -> String {
    let mut all = String::new();
    for item in std::fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        all += &if path.is_dir() { all_texts(&path) } else { std::fs::read_to_string(&path).unwrap() };
    }
    all
}

/// A sandbox of its own, with a password that is not the well-known one.
pub fn sandbox() -> Sandbox {
    Sandbox::start(SandboxOptions { password: PASSWORD.to_owned(), ..SandboxOptions::default() }).unwrap()
}

/// The bodies of the callbacks of one order or of all, once there is any: the gateway writes one down only after its
/// receiver has answered.
pub fn callbacks(gateway: &Sandbox, order: Option<&str>) -> Vec<String> {
    wait_for("a callback is on record", || {
        let all = gateway.callbacks().into_iter();
        let wanted = all.filter(|attempt| order.is_none_or(|order| attempt.order_number == order));
        let bodies: Vec<String> = wanted.map(|attempt| attempt.body).collect();
        Some(bodies).filter(|bodies| !bodies.is_empty())
    })
}

/// Stands between the program and a sandbox: passes requests on, and holds or loses responses while it is told to.
pub struct Between {
    pub url: String,
    /// Told of every request that the sandbox has answered while responses are withheld.
    pub withheld: mpsc::Receiver<()>,
    withhold: Arc<AtomicBool>,
}

/// What becomes of a withheld response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The connection stays open and silent.
    Held,
    /// The connection is closed.
    Lost,
}

impl Between {
    pub fn new(sandbox: &Sandbox, fate: Fate) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let withhold = Arc::new(AtomicBool::new(true));
        let (tell, withheld) = mpsc::channel();
        let (target, flag) = (sandbox.address(), Arc::clone(&withhold));
        thread::spawn(move || {
            let mut held = Vec::new();
            for client in listener.incoming().map_while(Result::ok) {
                let Some(request) = read_request(&client) else { continue };
                let response = exchange(TcpStream::connect(target).unwrap(), &request);
                if !flag.load(Ordering::SeqCst) {
                    let _gone = (&client).write_all(&response);
                    continue;
                }
                if fate == Fate::Held {
                    held.push(client);
                }
                let _nobody_asks = tell.send(());
            }
        });
        Self { url, withheld, withhold }
    }

    /// From now on responses are withheld again.
    pub fn hold_back(&self) {
        self.withhold.store(true, Ordering::SeqCst);
    }

    /// From now on responses get through.
    pub fn let_through(&self) {
        self.withhold.store(false, Ordering::SeqCst);
    }
}

/// One request, with `Connection: close` in the place of whatever was requested.
pub fn read_request(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
        if !lower.starts_with("connection:") {
            head.push_str(&line);
        }
    }
    head.push_str("connection: close\r\n\r\n");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some([head.into_bytes(), body].concat())
}

fn exchange(mut stream: TcpStream, request: &[u8]) -> Vec<u8> {
    stream.write_all(request).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    response
}

/// Posts a body to a URL on this machine and returns the status line of the answer.
pub fn post(url: &str, content_type: &str, body: &str) -> String {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let head =
        format!("POST /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: {content_type}\r\n");
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let response = exchange(TcpStream::connect(address).unwrap(), request.as_bytes());
    String::from_utf8_lossy(&response).lines().next().unwrap_or_default().to_owned()
}
