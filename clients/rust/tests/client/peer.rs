//! A peer that answers what a test says, over real sockets: a server on a bad day.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};

/// What a connection is answered with.
#[derive(Clone)]
pub enum Answer {
    /// These bytes; then the connection is closed.
    Bytes(Vec<u8>),
    /// Nothing: the connection is closed.
    HangUp,
    /// Nothing, and the connection stays open.
    Silence,
    /// So many answers on one connection, and then the end of it without a word.
    KeepAlive(usize),
}

/// The peer. The last answer is given again and again.
pub struct Peer {
    pub url: String,
    pub answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    pub async fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<Mutex<VecDeque<Answer>>> = Arc::new(Mutex::new(answers.into_iter().collect()));
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (next, seen) = (answers.clone(), requests.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, next.clone(), seen.clone()));
            }
        });
        Self { url, answers, requests }
    }

    /// The requests, each with its head and its body.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The targets of the requests.
    pub fn targets(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.split(' ').nth(1).unwrap().to_owned()).collect()
    }

    pub fn answers(&self, answers: impl IntoIterator<Item = Answer>) {
        *self.answers.lock().unwrap() = answers.into_iter().collect();
    }
}

pub async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    requests: Arc<Mutex<Vec<String>>>,
) {
    let Some(request) = read_request(&mut stream).await else { return };
    requests.lock().unwrap().push(request);
    let answer = {
        let mut answers = answers.lock().unwrap();
        if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() }
    };
    match answer {
        Some(Answer::Bytes(bytes)) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Some(Answer::Silence) => std::future::pending().await,
        Some(Answer::KeepAlive(count)) => {
            for number in 0..count {
                let body = json!({ "count": number }).to_string();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
                if number + 1 < count && read_request(&mut stream).await.is_none() {
                    return;
                }
            }
        }
        Some(Answer::HangUp) | None => {}
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0_usize) {
                return Some(text);
            }
        }
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&bytes[..count]);
    }
}

/// A whole response.
pub fn response(status: u16, body: &str, headers: &str) -> Answer {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    Answer::Bytes(text.into_bytes())
}

pub fn answer(body: &Value) -> Answer {
    response(200, &body.to_string(), "")
}

/// Problem details, with further members.
pub fn problem(status: u16, kind: &str, members: Value) -> Answer {
    let mut body = json!({"type": format!("urn:kassa:problem:{kind}"), "title": "No.", "status": status});
    for (name, value) in members.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    response(status, &body.to_string(), "")
}
