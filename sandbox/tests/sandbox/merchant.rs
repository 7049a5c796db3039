//! A merchant's endpoint for callbacks.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, channel},
    thread,
};

use serde_json::Value;

use crate::common::PATIENCE;

/// A merchant's endpoint: answers with the statuses given, then with 200, and hands on what it got.
pub struct Merchant {
    pub url: String,
    received: Receiver<(String, String)>,
}

impl Merchant {
    pub fn start(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        Self::serve(listener, statuses)
    }

    pub fn serve(listener: TcpListener, statuses: &[u16]) -> Self {
        let url = format!("http://{}/callback", listener.local_addr().expect("bound"));
        let (sender, received) = channel();
        let mut statuses: VecDeque<u16> = statuses.iter().copied().collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                let status = statuses.pop_front().unwrap_or(200);
                let request = answer(stream, status);
                if sender.send(request).is_err() {
                    return;
                }
            }
        });
        Self { url, received }
    }

    /// The URL as a JSON text.
    pub fn json_url(&self) -> String {
        Value::from(self.url.as_str()).to_string()
    }

    /// Head and body of the next request.
    pub fn next(&self) -> (String, String) {
        self.received.recv_timeout(PATIENCE).expect("a callback arrives")
    }

    pub fn next_json(&self) -> Value {
        serde_json::from_str(&self.next().1).expect("a callback is JSON")
    }

    /// Everything that has arrived and was not looked at.
    pub fn rest(&self) -> usize {
        self.received.try_iter().count()
    }
}

fn answer(mut stream: TcpStream, status: u16) -> (String, String) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = reader.read_line(&mut head).expect("a head");
        assert_ne!(read, 0, "the head breaks off");
    }
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned))
        .and_then(|length| length.trim().parse().ok())
        .expect("a length");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let elsewhere = if (300..400).contains(&status) { "location: http://127.0.0.1:1/\r\n" } else { "" };
    let answer = format!("HTTP/1.1 {status} x\r\n{elsewhere}content-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(answer.as_bytes()).expect("answered");
    (head, String::from_utf8(body).expect("a text"))
}
