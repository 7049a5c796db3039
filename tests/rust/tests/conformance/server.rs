//! Serves scripted bytes from a loopback socket, and records each request as it came.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use kassa_test_patience::patience;
use serde_json::Value;

use crate::{inputs::bytes, vectors::object};

pub struct Received {
    pub method: String,
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

#[derive(Default)]
struct State {
    received: Vec<Arc<Received>>,
    answered: usize,
    released: bool,
    stopped: bool,
}

struct Shared {
    responses: Vec<Value>,
    state: Mutex<State>,
    changed: Condvar,
}

pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// The first request gets the first response, and so on; the last response is repeated.
    pub fn start(responses: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { responses, state: Mutex::default(), changed: Condvar::new() });
        thread::spawn({
            let shared = shared.clone();
            move || {
                for stream in listener.incoming() {
                    if shared.state.lock().unwrap().stopped {
                        return;
                    }
                    let shared = shared.clone();
                    thread::spawn(move || shared.serve(&stream.unwrap()));
                }
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn received(&self) -> Vec<Arc<Received>> {
        self.shared.state.lock().unwrap().received.clone()
    }

    pub fn answered(&self) -> usize {
        self.shared.state.lock().unwrap().answered
    }

    /// False where they do not come.
    pub fn wait_for_requests(&self, count: usize) -> bool {
        self.shared.wait_until(|state| state.received.len() >= count)
    }

    /// Lets the responses go that were held back.
    pub fn release(&self) {
        self.shared.change(|state| state.released = true);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.change(|state| (state.released, state.stopped) = (true, true));
        // The listening thread looks up when somebody comes.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }

    fn wait_until(&self, there: impl Fn(&State) -> bool) -> bool {
        let state = self.state.lock().unwrap();
        !self.changed.wait_timeout_while(state, patience(), |state| !there(state)).unwrap().1.timed_out()
    }

    fn serve(&self, stream: &TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader) {
            let mut number = 0;
            self.change(|state| {
                state.received.push(Arc::new(request));
                number = state.received.len();
            });
            let Some(response) = self.responses.get(number - 1).or(self.responses.last()) else { return };
            if response["hold"] == true {
                self.wait_until(|state| state.released);
            }
            self.change(|state| state.answered += 1);
            if act(stream, response).is_none() {
                return;
            }
        }
    }
}

/// `None` where the connection ends with it.
fn act(mut stream: &TcpStream, response: &Value) -> Option<()> {
    stream.write_all(&response_bytes(response)).ok()?;
    match response["then"].as_str().unwrap_or("keep") {
        "keep" => Some(()),
        "close" => {
            stream.shutdown(Shutdown::Write).ok()?;
            // Read on, so that bytes still under way do not turn the close into a reset.
            let _ = stream.read_to_end(&mut Vec::new());
            None
        }
        "reset" => {
            socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
            None
        }
        "silence" => {
            let _ = stream.read_to_end(&mut Vec::new());
            None
        }
        other => panic!("a response cannot {other:?}"),
    }
}

fn response_bytes(response: &Value) -> Vec<u8> {
    let Some(status) = response["status"].as_u64() else { return bytes(&response["raw"]) };
    let body = bytes(&response["body"]);
    let headers: String = object(&response["headers"])
        .iter()
        .map(|(name, value)| format!("{name}: {}\r\n", value.as_str().unwrap()))
        .collect();
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.into_bytes(), body].concat()
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<Received> {
    let line = read_line(reader)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let header = read_line(reader)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':')?;
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Received { method, target, headers, body: String::from_utf8(body).ok()? })
}

fn read_line(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut line = String::new();
    let length = reader.read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end_matches("\r\n").to_owned())
}
