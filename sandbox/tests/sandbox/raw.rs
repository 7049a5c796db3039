//! A client that hears what the socket says, and no more: the bytes that came, and how the connection ended.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use kassa_sandbox::Sandbox;
use serde_json::Value;

use crate::common::{Body, basic};

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// In order.
    Closed,
    /// By a TCP reset.
    Reset,
}

/// The bytes that a client received, and how the connection ended.
pub struct RawResponse {
    pub bytes: Vec<u8>,
    pub end: End,
}

impl RawResponse {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn status(&self) -> u16 {
        let text = self.text();
        let status =
            text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|digits| digits.parse().ok());
        status.unwrap_or_else(|| panic!("no status line: {text}"))
    }

    pub fn header(&self, name: &str) -> Option<String> {
        let text = self.text();
        let (head, _) = text.split_once("\r\n\r\n")?;
        head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }

    pub fn body(&self) -> String {
        self.text().split_once("\r\n\r\n").expect("a head").1.to_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body()).unwrap_or_else(|_| panic!("not JSON: {}", self.body()))
    }
}

/// The bytes of a request with the right credentials.
pub fn request(sandbox: &Sandbox, method: &str, path: &str, body: &str, connection: &str) -> String {
    let authorization = basic(sandbox.login(), sandbox.password());
    format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: {connection}\r\nauthorization: {authorization}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends a request over a connection of its own, and leaves the answer to be read.
pub fn send(sandbox: &Sandbox, method: &str, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(sandbox.address()).expect("the sandbox listens");
    stream.write_all(request(sandbox, method, path, body, "close").as_bytes()).expect("the request is sent");
    stream
}

/// Listens to the end.
pub fn listen(mut stream: TcpStream) -> RawResponse {
    let mut bytes = Vec::new();
    let end = match stream.read_to_end(&mut bytes) {
        Ok(_) => End::Closed,
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => End::Reset,
        Err(error) => panic!("{error}"),
    };
    RawResponse { bytes, end }
}

pub fn ask(sandbox: &Sandbox, method: &str, path: &str, body: &str) -> RawResponse {
    listen(send(sandbox, method, path, body))
}

pub fn post(sandbox: &Sandbox, path: &str, body: &Body) -> RawResponse {
    ask(sandbox, "POST", path, &body.text())
}
