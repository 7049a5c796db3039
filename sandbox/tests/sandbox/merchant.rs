//! A merchant's endpoint for callbacks.

use std::{
    collections::VecDeque,
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, channel},
    },
    thread,
};

use serde_json::Value;

use crate::common::patience;

/// A merchant's endpoint: answers with the statuses given, then with 200, and hands on what it got.
pub struct Merchant {
    pub url: String,
    received: Receiver<(String, String)>,
    refuses: Arc<AtomicBool>,
}

impl Merchant {
    pub fn start(statuses: &[u16]) -> Self {
        Self::saying("", statuses)
    }

    /// One whose answers have a body.
    pub fn saying(body: &'static str, statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/callback", listener.local_addr().expect("bound"));
        let (sender, received) = channel();
        let refuses = Arc::new(AtomicBool::new(false));
        let refusing = Arc::clone(&refuses);
        let mut statuses: VecDeque<u16> = statuses.iter().copied().collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let refuses = refusing.load(Ordering::SeqCst);
                let usual = if refuses { 503 } else { 200 };
                let status = statuses.pop_front().unwrap_or(usual);
                // A sender that was killed breaks off: that is its affair.
                let Ok(request) = stream.and_then(|stream| answer(stream, status, body)) else {
                    continue;
                };
                if !refuses && sender.send(request).is_err() {
                    return;
                }
            }
        });
        Self { url, received, refuses }
    }

    /// One that takes nothing, and hands nothing on, until `accept`.
    pub fn refusing() -> Self {
        let merchant = Self::start(&[]);
        merchant.refuses.store(true, Ordering::SeqCst);
        merchant
    }

    /// From now on it takes everything.
    pub fn accept(&self) {
        self.refuses.store(false, Ordering::SeqCst);
    }

    /// The URL as a JSON text.
    pub fn json_url(&self) -> String {
        Value::from(self.url.as_str()).to_string()
    }

    /// Head and body of the next request.
    pub fn next(&self) -> (String, String) {
        self.received.recv_timeout(patience()).expect("a callback arrives")
    }

    pub fn next_json(&self) -> Value {
        serde_json::from_str(&self.next().1).expect("a callback is JSON")
    }

    /// The next callback, if one has arrived.
    pub fn arrived(&self) -> Option<Value> {
        let (_, body) = self.received.try_recv().ok()?;
        Some(serde_json::from_str(&body).expect("a callback is JSON"))
    }

    /// Everything that has arrived and was not looked at.
    pub fn rest(&self) -> usize {
        self.received.try_iter().count()
    }
}

fn answer(mut stream: TcpStream, status: u16, said: &str) -> io::Result<(String, String)> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned))
        .and_then(|length| length.trim().parse().ok())
        .expect("a length");
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let elsewhere = if (300..400).contains(&status) { "location: http://127.0.0.1:1/\r\n" } else { "" };
    let length = said.len();
    let answer =
        format!("HTTP/1.1 {status} x\r\n{elsewhere}content-length: {length}\r\nconnection: close\r\n\r\n{said}");
    stream.write_all(answer.as_bytes())?;
    Ok((head, String::from_utf8(body).expect("a text")))
}
