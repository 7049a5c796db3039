//! `kassa-sandbox record`: connections and their ends, the file, the program.

use std::{
    fs,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::{self, JoinHandle},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa_sandbox::{RecordError, RecordOptions, Recorder, TlsFiles};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    binary::{command, refused},
    child::announced,
    common::{
        MBANK_CONFIRM, MBANK_PAY, basic, confirm_body, mbank_body, patience, send, start, start_with, wait_until,
    },
    merchant::Merchant,
};

/// A recorder, and the folder of its file.
pub struct Recording {
    pub recorder: Recorder,
    path: PathBuf,
    _folder: TempDir,
}

impl Recording {
    pub fn of(upstream: &str) -> Self {
        Self::with(upstream, |_| {})
    }

    pub fn with(upstream: &str, change: impl FnOnce(&mut RecordOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("gateway.jsonl");
        let mut options = RecordOptions::new(upstream, &path);
        change(&mut options);
        Self { recorder: Recorder::start(options).expect("it starts"), path, _folder: folder }
    }

    pub fn address(&self) -> SocketAddr {
        self.recorder.url().trim_start_matches("http://").parse().expect("an address")
    }

    /// Stops it; the text of the file.
    pub fn text(self) -> String {
        self.recorder.stop().expect("everything is written");
        fs::read_to_string(self.path).expect("a text")
    }

    /// Stops it; the exchanges in the order of their start.
    pub fn exchanges(self) -> Vec<Value> {
        exchanges(&self.text())
    }
}

pub fn exchanges(text: &str) -> Vec<Value> {
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    assert_eq!(lines.next().expect("a header")["kassa_recording"], 1);
    let mut exchanges: Vec<Value> = lines.collect();
    exchanges.sort_by_key(|exchange| exchange["exchange"].as_u64());
    exchanges
}

/// An upstream that plays a script for each connection, in their order.
pub fn upstream<const N: usize>(scripts: [fn(TcpStream) -> io::Result<()>; N]) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let thread = thread::spawn(move || {
        for script in scripts {
            let (stream, _) = listener.accept().expect("a connection");
            stream.set_nodelay(true).expect("set");
            stream.set_read_timeout(Some(patience())).expect("set");
            script(stream).expect("the script is played");
        }
    });
    (url, thread)
}

/// Reads until a text has come.
pub fn read_until(stream: &mut TcpStream, end: &str) -> io::Result<String> {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(end.as_bytes()) {
        if stream.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        read.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(patience())).expect("set");
    stream.set_nodelay(true).expect("set");
    stream
}

fn written(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).expect("written");
}

#[test]
fn two_requests_on_one_connection_are_paired() {
    let (url, upstream) = upstream([|mut stream| {
        assert!(read_until(&mut stream, "\r\n\r\none")?.starts_with("POST /base/a?x=1 HTTP/1.1\r\n"));
        stream.write_all(b"HTTP/1.1 201 Very Special\r\nX-Case: kept\r\ncontent-length: 2\r\n\r\nok")?;
        let second = read_until(&mut stream, "\r\n\r\n")?;
        assert!(second.starts_with("HEAD /base/b HTTP/1.1\r\nhost: 127.0.0.1:"), "{second}");
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n")?;
        read_until(&mut stream, "\r\n\r\n")?;
        read_until(&mut stream, "\r\n\r\n")?;
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n")
    }]);
    let recording = Recording::of(&format!("{url}/base/"));
    let mut client = connect(recording.address());
    written(&mut client, "POST /a?x=1 HTTP/1.1\r\nhost: me\r\nContent-Length: 3\r\n\r\none");
    let first = read_until(&mut client, "\r\n\r\nok").expect("an answer");
    assert_eq!(first, "HTTP/1.1 201 Very Special\r\nX-Case: kept\r\ncontent-length: 2\r\n\r\nok");
    written(&mut client, "HEAD /b HTTP/1.1\r\nhost: me\r\n\r\n");
    read_until(&mut client, "999\r\n\r\n").expect("an answer without a body");
    written(&mut client, "GET /c HTTP/1.1\r\nhost: me\r\n\r\nGET /d HTTP/1.1\r\nhost: me\r\n\r\n");
    read_until(&mut client, "Modified\r\n\r\n").expect("two answers");
    client.shutdown(Shutdown::Write).expect("shut down");
    upstream.join().expect("no panic");
    let exchanges = recording.exchanges();
    let seen: Vec<_> = exchanges
        .iter()
        .map(|exchange| {
            (
                exchange["request"]["target"].as_str(),
                exchange["response"]["status"].as_u64(),
                exchange["connection"].as_u64(),
            )
        })
        .collect();
    let expected = [("/a?x=1", 201), ("/b", 200), ("/c", 204), ("/d", 304)];
    assert_eq!(seen, expected.map(|(target, status)| (Some(target), Some(status), Some(1))));
    assert_eq!(exchanges[0]["request"]["body"]["text"], "one");
    assert_eq!(exchanges[0]["response"]["headers"][0], serde_json::json!(["x-case", "kept"]));
    assert!(exchanges.iter().all(|exchange| exchange.get("problem").is_none()), "{exchanges:?}");
}

#[test]
fn unreachable_upstream_closes_without_answer() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound");
    let recording = Recording::of(&format!("http://{free}"));
    let mut client = connect(recording.address());
    written(&mut client, "POST /pay HTTP/1.1\r\nhost: me\r\ncontent-length: 2\r\n\r\n{}");
    let mut answer = Vec::new();
    let ended = client.read_to_end(&mut answer);
    assert!(answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset));
    let exchanges = recording.exchanges();
    assert_eq!(exchanges.len(), 1);
    assert_eq!(
        (exchanges[0]["response"].clone(), exchanges[0]["request"]["target"].as_str()),
        (Value::Null, Some("/pay"))
    );
    let problem = exchanges[0]["problem"].as_str().expect("a problem");
    assert!(problem.starts_with("the upstream cannot be reached"), "{problem}");
}

#[test]
fn first_byte_comes_before_the_last_is_sent() {
    let (url, upstream) = upstream([|mut stream| {
        read_until(&mut stream, "\r\n\r\n")?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")?;
        // The client says that it has the first chunk, in a request of its own.
        read_until(&mut stream, "\r\n\r\n")?;
        stream.write_all(b"4\r\nlast\r\n0\r\n\r\nHTTP/1.1 204 x\r\n\r\n")
    }]);
    let recording = Recording::of(&url);
    let mut client = connect(recording.address());
    written(&mut client, "GET /a HTTP/1.1\r\nhost: me\r\n\r\n");
    read_until(&mut client, "first\r\n").expect("the first chunk");
    written(&mut client, "GET /b HTTP/1.1\r\nhost: me\r\n\r\n");
    read_until(&mut client, "204 x\r\n\r\n").expect("the rest");
    upstream.join().expect("no panic");
    let exchanges = recording.exchanges();
    assert_eq!(exchanges[0]["response"]["body"]["text"], "firstlast");
}

#[test]
fn expect_continue_passes_through() {
    let (url, upstream) = upstream([|mut stream| {
        let head = read_until(&mut stream, "\r\n\r\n")?;
        assert!(head.contains("\r\nExpect: 100-continue\r\n"));
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        read_until(&mut stream, "body")?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nuntil the end")
    }]);
    let recording = Recording::of(&url);
    let mut client = connect(recording.address());
    written(&mut client, "POST / HTTP/1.1\r\nHost: me\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_eq!(read_until(&mut client, "\r\n\r\n").expect("an answer"), "HTTP/1.1 100 Continue\r\n\r\n");
    written(&mut client, "body");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an end in order");
    assert!(answer.ends_with("until the end"), "{answer}");
    drop(client);
    upstream.join().expect("no panic");
    let exchanges = recording.exchanges();
    assert_eq!(exchanges.len(), 1);
    assert_eq!((exchanges[0]["response"]["status"].as_u64(), exchanges[0].get("problem")), (Some(200), None));
    assert_eq!(exchanges[0]["response"]["body"]["text"], "until the end");
}

#[test]
fn broken_answer_breaks_the_client_alike() {
    fn reset(mut stream: TcpStream) -> io::Result<()> {
        read_until(&mut stream, "\r\n\r\n")?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n12345")?;
        // The client says that it has the beginning, so that the reset cannot overtake it.
        read_until(&mut stream, "\r\n\r\n")?;
        socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO))
    }
    fn close(mut stream: TcpStream) -> io::Result<()> {
        read_until(&mut stream, "\r\n\r\n")?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n12345")
    }
    fn silent(mut stream: TcpStream) -> io::Result<()> {
        read_until(&mut stream, "\r\n\r\n").map(|_| ())
    }
    let (url, upstream) = upstream([reset, close, silent]);
    let recording = Recording::of(&url);
    let mut ends = Vec::new();
    for is_reset in [true, false, false] {
        let mut client = connect(recording.address());
        written(&mut client, "GET /a HTTP/1.1\r\nhost: me\r\n\r\n");
        if is_reset {
            read_until(&mut client, "12345").expect("the beginning");
            written(&mut client, "GET /b HTTP/1.1\r\nhost: me\r\n\r\n");
        }
        let mut answer = String::new();
        let ended = client.read_to_string(&mut answer).map_err(|error| error.kind());
        ends.push((answer.len(), ended));
    }
    upstream.join().expect("no panic");
    let whole = "HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n12345".len();
    assert_eq!(ends, [(0, Err(io::ErrorKind::ConnectionReset)), (whole, Ok(whole)), (0, Ok(0))]);
    let problems: Vec<_> =
        recording.exchanges().iter().map(|exchange| exchange["problem"].as_str().unwrap_or("").to_owned()).collect();
    assert!(
        problems[0].starts_with("the upstream broke the connection") && problems[0].ends_with("after 5 of 400 bytes")
    );
    assert_eq!(problems[2], "the upstream closed the connection after 5 of 400 bytes");
    assert_eq!(problems[3], "the upstream closed the connection before a response");
}

#[test]
fn callbacks_are_recorded_in_the_same_file() {
    let merchant = Merchant::start(&[]);
    let sandbox = start();
    let base = merchant.url.trim_end_matches("/callback").to_owned();
    let recording = Recording::with(sandbox.url(), |options| options.callbacks = Some(base));
    let callback = format!("\"{}/callback?shop=7\"", recording.recorder.callbacks_url().expect("listens"));
    let authorization = basic(sandbox.login(), sandbox.password());
    let headers = [("authorization", authorization.as_str())];
    let url = recording.recorder.url();
    let created = send(
        "POST",
        &format!("{url}{MBANK_PAY}"),
        &headers,
        mbank_body("R-1").with("callbackUrl", &callback).text().as_bytes(),
    );
    assert_eq!(created.status, 200);
    send("POST", &format!("{url}{MBANK_CONFIRM}"), &headers, confirm_body("R-1", "101101").text().as_bytes());
    let (head, _) = merchant.next();
    assert!(head.starts_with("POST /callback?shop=7 HTTP/1.1\r\n"), "{head}");
    wait_until("the callback is written", || recording.recorder.written() >= 3);
    let exchanges = recording.exchanges();
    let callback = exchanges.iter().find(|exchange| exchange["direction"] == "callback").expect("a callback");
    assert_eq!(
        (callback["request"]["target"].as_str(), callback["response"]["status"].as_u64()),
        (Some("/callback?shop=7"), Some(200))
    );
    assert!(callback["request"]["body"]["text"].as_str().expect("a text").contains("\"CHARGE\""));
    assert_eq!(exchanges.iter().filter(|exchange| exchange["direction"] == "request").count(), 2);
}

#[test]
fn https_upstream_is_recorded() {
    let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, label: &str, der: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der)))
            .expect("written");
        path
    };
    let certificate = write("cert.pem", "CERTIFICATE", own.cert.der());
    let key = write("key.pem", "PRIVATE KEY", &own.signing_key.serialize_der());
    let files = TlsFiles { certificate: certificate.clone(), key };
    let sandbox = start_with(|options| options.tls = Some(files));
    let recording = Recording::with(sandbox.url(), |options| options.upstream_ca = vec![certificate]);
    let authorization = basic(sandbox.login(), sandbox.password());
    let url = format!("{}{MBANK_PAY}", recording.recorder.url());
    let answer = send("POST", &url, &[("authorization", &authorization)], mbank_body("T-1").text().as_bytes());
    assert_eq!(answer.status, 200);
    // Without the certificate the connection is closed, as an https client would close it.
    let distrustful = Recording::of(sandbox.url());
    assert!(crate::common::try_send("GET", &distrustful.recorder.url(), &[], b"").is_err());
    let problem = distrustful.exchanges()[0]["problem"].as_str().expect("a problem").to_owned();
    assert!(problem.contains("certificate"), "{problem}");
    assert_eq!(recording.exchanges().len(), 1);
}

#[test]
fn existing_file_is_refused_or_continued() {
    let (url, upstream) = upstream([|_| Ok(()), |_| Ok(())]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let options = RecordOptions::new(url, &path);
    let record = |options: RecordOptions| {
        let recorder = Recorder::start(options).expect("it starts");
        let _closed = crate::common::try_send("GET", &recorder.url(), &[], b"");
        recorder.stop().expect("written");
    };
    record(options.clone());
    assert!(matches!(Recorder::start(options.clone()), Err(RecordError::Recording(_))));
    let half_a_line = fs::read_to_string(&path).expect("a text") + "{\"exchange\":";
    fs::write(&path, half_a_line).expect("written");
    let other = RecordOptions { upstream: "http://other.example".to_owned(), append: true, ..options.clone() };
    assert!(Recorder::start(other).is_err(), "a file has one upstream");
    record(RecordOptions { append: true, ..options });
    upstream.join().expect("no panic");
    let text = fs::read_to_string(&path).expect("a text");
    let numbers: Vec<_> =
        text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()?["exchange"].as_u64()).collect();
    assert_eq!((numbers, text.lines().count()), (vec![1, 2], 4));
    assert_is_private(&path);
}

fn assert_is_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(path).expect("a file").permissions().mode() & 0o777, 0o600);
    }
    #[cfg(not(unix))]
    assert!(path.exists());
}

#[test]
fn recorder_stops_on_a_signal_with_all_written() {
    let sandbox = start();
    for signal in ["INT", "TERM"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let mut command = command();
        command.args(["record", "--listen", "127.0.0.1:0", "--announce", "json", "--upstream", sandbox.url(), "--out"]);
        let (mut child, addresses, _stdout) = announced(command.arg(&path));
        let url = addresses["url"].as_str().expect("a URL");
        // One connection stays open and idle, and must not keep the recorder from stopping.
        let mut idle = connect(url.trim_start_matches("http://").parse().expect("an address"));
        written(&mut idle, "GET / HTTP/1.1\r\nhost: x\r\n\r\n");
        read_until(&mut idle, "\r\n\r\n").expect("an answer");
        assert_eq!(send("GET", &format!("{url}/nothing"), &[], b"").status, 404);
        let kill =
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).stdin(Stdio::null()).status();
        assert!(kill.expect("kill runs").success());
        assert!(child.wait().expect("it ends").success());
        assert_eq!(exchanges(&fs::read_to_string(&path).expect("a text")).len(), 2, "{signal}");
    }
}

#[test]
fn full_disk_stops_the_recording_alone() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let error =
        refused(command().args(["record", "--upstream", "http://127.0.0.1:1", "--append", "--out", "/dev/full"]));
    assert!(error.contains("/dev/full"), "{error}");
    // A disk that fills up is a file with a size limit.
    let sandbox = start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let binary = env!("CARGO_BIN_EXE_kassa-sandbox");
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" record --listen 127.0.0.1:0 --announce json --upstream \"$1\" --out \"$2\"";
    let mut shell = Command::new("bash");
    shell.args(["-c", script, binary, sandbox.url()]).arg(&path).stdout(Stdio::piped());
    let (mut child, addresses, _stdout) = announced(&mut shell);
    let url = addresses["url"].as_str().expect("a URL");
    for _ in 0..40 {
        assert_eq!(send("GET", &format!("{url}/nothing"), &[], b"").status, 404, "the traffic goes on");
    }
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert!(!child.wait().expect("it ends").success(), "an incomplete recording is a failure");
    let text = fs::read_to_string(&path).expect("a text");
    assert!(text.ends_with('\n') && exchanges(&text).len() < 40, "no half a line: {}", text.len());
}
