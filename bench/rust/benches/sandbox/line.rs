//! A kept-alive connection that costs next to nothing.

use kassa_bench::Sandbox;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

pub struct Line {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Line {
    pub fn to(sandbox: &Sandbox) -> Self {
        let address = sandbox.url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).expect("a sandbox");
        stream.set_nodelay(true).expect("a socket");
        let head = format!("host: {address}\r\nauthorization: {}\r\n", sandbox.authorization);
        Self { reader: BufReader::new(stream), head }
    }

    /// The body of the answer.
    pub fn post(&mut self, path: &str, body: &str) -> String {
        let Self { reader, head } = self;
        let request = format!("POST {path} HTTP/1.1\r\n{head}content-length: {}\r\n\r\n{body}", body.len());
        reader.get_mut().write_all(request.as_bytes()).expect("a connection");
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            reader.read_line(&mut line).expect("an answer");
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).expect("a whole answer");
        String::from_utf8(answer).expect("text")
    }
}
