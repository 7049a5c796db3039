//! A kept-alive connection that costs next to nothing.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

pub struct Line {
    reader: BufReader<TcpStream>,
    head: String,
}

impl Line {
    /// To an address like `http://127.0.0.1:8080`, with the header's value that every request carries.
    pub fn to(url: &str, authorization: &str) -> Self {
        let address = url.trim_start_matches("http://");
        let stream = TcpStream::connect(address).expect("somebody who listens");
        stream.set_nodelay(true).expect("a socket");
        let head = format!("host: {address}\r\nauthorization: {authorization}\r\n");
        Self { reader: BufReader::new(stream), head }
    }

    /// The body of the answer.
    pub fn post(&mut self, path: &str, body: &str) -> String {
        self.send("POST", path, "application/json", body)
    }

    /// The body of the answer, which has to be of success.
    pub fn send(&mut self, method: &str, path: &str, content_type: &str, body: &str) -> String {
        let Self { reader, head } = self;
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{head}content-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        reader.get_mut().write_all(request.as_bytes()).expect("a connection");
        let (mut length, mut is_chunked) = (0, false);
        let status = self.line();
        loop {
            let line = self.line().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
            is_chunked |= line.starts_with("transfer-encoding:") && line.ends_with("chunked");
        }
        let answer = if is_chunked { self.chunks() } else { self.bytes(length) };
        let answer = String::from_utf8(answer).expect("text");
        assert!(status.starts_with("HTTP/1.1 200"), "{status}: {answer}");
        answer
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("an answer");
        line.truncate(line.trim_end().len());
        line
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes).expect("a whole answer");
        bytes
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line(), 16).expect("a chunk's length");
            all.extend(self.bytes(length));
            self.line();
            if length == 0 {
                return all;
            }
        }
    }
}
