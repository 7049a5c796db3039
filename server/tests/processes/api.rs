//! What shops, apps and the gateway send to the server. Every call may fail: servers die here.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use kassa_test_patience::patient;
use serde_json::Value;

/// Where a server listens, and who calls.
#[derive(Clone)]
pub struct Caller {
    pub address: SocketAddr,
    pub credential: String,
    /// How long an answer is waited for.
    pub patience: Duration,
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub text: String,
    pub body: Value,
}

impl Answer {
    pub fn member(&self, name: &str) -> Option<String> {
        self.body[name].as_str().map(str::to_owned)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Caller {
    pub fn new(address: SocketAddr, credential: &str) -> Self {
        Self { address, credential: credential.to_owned(), patience: patient(Duration::from_secs(40)) }
    }

    pub fn get(&self, path: &str) -> io::Result<Answer> {
        self.send("GET", path, None, &Value::Null)
    }

    pub fn post(&self, path: &str, body: &Value) -> io::Result<Answer> {
        self.send("POST", path, None, body)
    }

    /// With an idempotency key, so that it may be sent again.
    pub fn send(&self, method: &str, path: &str, key: Option<&str>, body: &Value) -> io::Result<Answer> {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: kassa\r\nconnection: close\r\n");
        if !self.credential.is_empty() {
            head.push_str(&format!("authorization: Bearer {}\r\n", self.credential));
        }
        if let Some(key) = key {
            head.push_str(&format!("idempotency-key: {key}\r\n"));
        }
        if !text.is_empty() {
            head.push_str("content-type: application/json\r\n");
        }
        head.push_str(&format!("content-length: {}\r\n\r\n{text}", text.len()));
        let mut stream = TcpStream::connect_timeout(&self.address, self.patience)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        read(&answer).ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "half an answer"))
    }
}

/// An answer that is whole: a server that dies sends a part.
fn read(answer: &str) -> Option<Answer> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let json = serde_json::from_str(body).unwrap_or_default();
    let answer = Answer { status, head: head.to_owned(), text: body.to_owned(), body: json };
    let length = answer.header("content-length")?.parse::<usize>().ok()?;
    (length == body.len()).then_some(answer)
}
