//! The program as its operator has it: a folder, a settings file, a sandbox as its gateway.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_test_patience::patient;
use serde_json::{Value, json};
use tempfile::TempDir;

static KEYS: AtomicU64 = AtomicU64::new(1);

pub const PASSWORD: &str = "correct horse battery";

/// A gateway with a password of its own.
pub fn sandbox() -> Sandbox {
    Sandbox::start(SandboxOptions { password: PASSWORD.to_owned(), ..SandboxOptions::default() }).unwrap()
}

/// A folder to run the program in.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With a settings file that is right, for this gateway.
    pub fn with(sandbox: &Sandbox) -> Self {
        let place = Self::new();
        place.write("kassa.toml", &settings_for(sandbox.url()));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file that nobody else can read.
    pub fn write(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    pub fn write_bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        permit(&path, 0o600);
    }

    /// The program with nothing in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kassa-server"));
        command.env_clear().current_dir(self.0.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs it with the settings file, to its end.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command(arguments).args(["--config", "kassa.toml"]))
    }

    /// A new API key.
    pub fn key(&self) -> String {
        self.run(&["keys", "new", "--name", "shop"]).out.trim().to_owned()
    }

    /// Starts it with the settings file, and waits until it listens.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(&["--config", "kassa.toml", "--announce", "json"]).args(arguments))
    }
}

pub fn permit(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

/// A text as Notepad saves it in UTF-8 and in UTF-16: with a byte order mark, and lines that end with CRLF.
pub fn by_notepad(text: &str) -> [Vec<u8>; 2] {
    let text = format!("\u{feff}{}\r\n", text.replace('\n', "\r\n"));
    let utf_16 = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [text.into_bytes(), utf_16]
}

pub fn settings_for(gateway: &str) -> String {
    let dialect = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sandbox-dialect.json");
    format!(
        "listen = '127.0.0.1:0'
public_url = 'http://127.0.0.1:8080'
database = 'kassa.db'

[gateway]
url = '{gateway}'
login = 'kassa'
password = '{PASSWORD}'
dialect = '{dialect}'
"
    )
}

/// Where nothing can be written: a pipe that nobody reads, and a full disk where the system has one to try.
pub fn unwritable() -> Vec<(&'static str, Stdio)> {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut all = vec![("a pipe that nobody reads", Stdio::from(writer))];
    if cfg!(target_os = "linux") {
        all.push(("a full disk", File::options().write(true).open("/dev/full").unwrap().into()));
    }
    all
}

/// What a run of the program came to.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// The line of a report about something.
    pub fn line(&self, about: &str) -> &str {
        let found = self.out.lines().find(|line| line.split_whitespace().nth(1) == Some(about));
        found.unwrap_or_else(|| panic!("no line about {about}: {self:?}"))
    }
}

pub fn ended(command: &mut Command) -> Ended {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// A server that listens.
pub struct Running {
    pub child: Child,
    pub url: String,
    pub announced: Value,
    log: Option<JoinHandle<String>>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Self::with_log_to(Stdio::piped(), command)
    }

    /// The same with a log that goes elsewhere.
    pub fn with_log_to(log: Stdio, command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let stderr = child.stderr.take();
        let log = thread::spawn(move || {
            let mut log = String::new();
            if let Some(mut stderr) = stderr {
                stderr.read_to_string(&mut log).unwrap();
            }
            log
        });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(announced) = serde_json::from_str::<Value>(&line) else {
            child.kill().unwrap();
            panic!("it did not start: {line}{}", log.join().unwrap());
        };
        let url = announced["url"].as_str().unwrap().to_owned();
        Self { child, url, announced, log: Some(log) }
    }

    /// One whose standard output goes elsewhere: its log says where it listens.
    pub fn with_output_to(stdout: Stdio, command: &mut Command) -> Self {
        command.args(["--log-format", "json"]);
        let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut log, mut announced) = (String::new(), Value::Null);
        while announced["message"] != "serving" {
            let begun = log.len();
            assert_ne!(stderr.read_line(&mut log).unwrap(), 0, "it did not start: {log}");
            announced = serde_json::from_str(&log[begun..]).unwrap_or_default();
        }
        let log = thread::spawn(move || {
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let url = announced["url"].as_str().unwrap().to_owned();
        Self { child, url, announced, log: Some(log) }
    }

    /// Status and body of a GET.
    pub fn get(&self, path: &str) -> (u16, String) {
        get(&self.url, path)
    }

    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap()
    }

    pub fn signal(&self, name: &str) {
        // The shell's own: not every system has the program.
        let done = Command::new("sh").args(["-c", "kill -$0 $1", name, &self.child.id().to_string()]).status();
        assert!(done.unwrap().success());
    }

    /// How it ended, its log, and after which time.
    pub fn wait(mut self) -> (ExitStatus, String, Duration) {
        let begun = Instant::now();
        let status = self.child.wait().unwrap();
        (status, self.log.take().unwrap().join().unwrap(), begun.elapsed())
    }

    /// Asks it to stop.
    pub fn stop(self) -> (ExitStatus, String, Duration) {
        self.signal("TERM");
        self.wait()
    }
}

/// A test that failed leaves nothing running.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Status and body of a GET.
pub fn get(url: &str, path: &str) -> (u16, String) {
    send(url, &format!("GET {path} HTTP/1.1\r\n"), "")
}

fn send(url: &str, head: &str, body: &str) -> (u16, String) {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(patient(Duration::from_secs(40)))).unwrap();
    let length = body.len();
    write!(stream, "{head}host: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// A caller with an API key or a client token.
#[derive(Clone)]
pub struct Caller {
    pub url: String,
    pub credential: String,
    /// More of them, each with its line's end.
    pub headers: String,
}

impl Caller {
    pub fn new(running: &Running, credential: &str) -> Self {
        Self { url: running.url.clone(), credential: credential.to_owned(), headers: String::new() }
    }

    /// Status and body of what is answered. Each POST has a key of its own.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let kind = if text.is_empty() { "" } else { "content-type: application/json\r\n" };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nauthorization: Bearer {}\r\nidempotency-key: {}\r\n{kind}{}",
            self.credential,
            KEYS.fetch_add(1, Ordering::Relaxed),
            self.headers
        );
        let (status, body) = send(&self.url, &head, &text);
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    /// Opens a checkout and makes a token for it: its identifier, and the app that has the token.
    pub fn open(&self, reference: &str) -> (String, Self) {
        let wanted = json!({
            "reference": reference, "amount": "390", "description": "Two tickets",
            "return_url": "https://shop.example.kg/paid",
        });
        let (status, opened) = self.call("POST", "/v1/checkouts", &wanted);
        assert_eq!(status, 201, "{opened}");
        let id = opened["id"].as_str().unwrap().to_owned();
        let (_, token) = self.call("POST", &format!("/v1/checkouts/{id}/tokens"), &Value::Null);
        let app = Self { credential: token["token"].as_str().unwrap().to_owned(), ..self.clone() };
        (id, app)
    }
}
