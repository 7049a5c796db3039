//! The events that `make server` shows, or sends to the developer's own address.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Instant,
};

use kassa_test_patience::{patience, wait_for};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

/// `make server`, which is killed at the end of a test.
struct Demo {
    child: Child,
    printed: mpsc::Receiver<String>,
    _temporary: tempfile::TempDir,
    /// Two that start at the same time may choose the same port.
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::new(());

impl Demo {
    fn start(arguments: &[&str]) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let temporary = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_kassa-server-demo"))
            .args(["start"].iter().chain(arguments))
            .env("TMPDIR", temporary.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, printed) = mpsc::channel();
        // In a thread, as reading a line has no timeout.
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, printed, _temporary: temporary, _alone: alone }
    }

    /// The next line that has all of these words.
    fn line_with(&self, words: &[&str]) -> String {
        let until = Instant::now() + patience();
        loop {
            let line = self.printed.recv_timeout(until.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|problem| panic!("no line with {words:?}: {problem}"));
            if words.iter().all(|word| line.contains(word)) {
                return line;
            }
        }
    }

    /// The address of its server, and the shop's key.
    fn server(&self) -> (String, String) {
        let word = |line: String, start: &str| {
            line.split_whitespace().find(|word| word.starts_with(start)).unwrap().to_owned()
        };
        let url = word(self.line_with(&["the server "]), "http://");
        (url, word(self.line_with(&["its API key"]), "ak_"))
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(url: &str, path: &str, credential: &str, body: &Value) -> Value {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(patience())).unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    // One key for each request, as an app has it.
    let key: String = path.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {credential}\r\n");
    let about = format!("idempotency-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    write!(stream, "{head}{about}{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

/// Pays an order by mobile bank.
fn pay(url: &str, key: &str) {
    let order = json!({
        "reference": "order-7", "amount": "250", "description": "A book", "return_url": "https://shop.example.kg/paid",
    });
    let id = post(url, "/v1/checkouts", key, &order)["id"].as_str().unwrap().to_owned();
    let token =
        post(url, &format!("/v1/checkouts/{id}/tokens"), key, &Value::Null)["token"].as_str().unwrap().to_owned();
    let wanted = json!({ "method": "mbank", "phone": "996555000101" });
    let payment = post(url, "/v1/checkout/payments", &token, &wanted)["id"].as_str().unwrap().to_owned();
    let confirmed = post(url, &format!("/v1/checkout/payments/{payment}/confirm"), &token, &json!({ "otp": "101101" }));
    assert_eq!(confirmed["id"], payment.as_str(), "{confirmed}");
}

#[test]
fn each_event_is_one_line() {
    let demo = Demo::start(&[]);
    let (url, key) = demo.server();
    demo.line_with(&["make server EVENTS_URL="]);
    pay(&url, &key);
    demo.line_with(&["event  ", "payment.created", "order-7", "250 KGS", "pay_", "(mbank, "]);
    demo.line_with(&["event  ", "checkout.paid", "order-7", "250 KGS", "co_", "deliver now"]);
}

#[test]
fn events_go_to_the_developers_own_address() {
    let shop = TcpListener::bind("127.0.0.1:0").unwrap();
    let events_url = format!("http://{}/kassa-events", shop.local_addr().unwrap());
    let demo = Demo::start(&["--events-url", &events_url]);
    let (url, key) = demo.server();
    let line = demo.line_with(&[&events_url, "signed with whsec_"]);
    let secret = line.split_whitespace().find(|word| word.starts_with("whsec_")).unwrap();
    pay(&url, &key);

    shop.set_nonblocking(true).unwrap();
    let mut stream = wait_for("the event arrives", || match shop.accept() {
        Ok((stream, _)) => Some(stream),
        Err(problem) if problem.kind() == ErrorKind::WouldBlock => None,
        Err(problem) => panic!("{problem}"),
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(patience())).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut headers = axum::http::HeaderMap::new();
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("POST /kassa-events "), "{line}");
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(axum::http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    let length: usize = headers["content-length"].to_str().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Webhook::new(secret).unwrap().verify(&body, &headers).unwrap();
    let event: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&event["type"], &event["data"]["reference"]), (&json!("payment.created"), &json!("order-7")));
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
}

#[test]
fn unknown_argument_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_kassa-server-demo")).args(["start", "--events"]).output().unwrap();
    assert!(!output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("usage: kassa-server-demo start [--events-url URL]"),
        "{output:?}"
    );
}
