//! Writes exchanges to the file of a recording, on its own thread: decodes and masks them, and writes one line each, without
//! delaying the traffic. If the file cannot be written, recording ends with an error in the log, and the traffic continues.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use time::OffsetDateTime;

use crate::{
    record::{
        body::{Captured, decoded, encodings},
        head::status,
    },
    recording::{
        self, Direction, Exchange, Header, Headers, RecordingError, Request, Response, mask::Masker, written_time,
    },
};

/// The maximum number of bytes waiting to be written. A disk that is further behind will not catch up.
const MAX_QUEUED: u64 = 256 * 1024 * 1024;

/// An exchange as it was on the wire.
pub(super) struct FinishedExchange {
    pub(super) number: u64,
    pub(super) direction: Direction,
    pub(super) connection: u64,
    pub(super) started_at: OffsetDateTime,
    pub(super) ended_at: OffsetDateTime,
    pub(super) request_head: Vec<u8>,
    pub(super) request_body: Captured,
    pub(super) response: Option<(Vec<u8>, Captured)>,
    pub(super) problem: Option<String>,
}

impl FinishedExchange {
    fn size(&self) -> u64 {
        let response = self.response.as_ref().map_or(0, |(head, body)| head.len() + body.bytes.len());
        (self.request_head.len() + self.request_body.bytes.len() + response) as u64
    }
}

/// The sender of exchanges, for the connections.
pub(super) struct Recording {
    sender: Sender<FinishedExchange>,
    state: Arc<State>,
    exchanges: AtomicU64,
    connections: AtomicU64,
}

#[derive(Default)]
struct State {
    queued: AtomicU64,
    written: AtomicU64,
    has_failed: AtomicBool,
}

/// The writer thread.
pub(super) struct Writer {
    state: Arc<State>,
    thread: JoinHandle<Result<(), RecordingError>>,
}

/// The existing content of a file. New numbers continue after its own.
struct OpenFile {
    path: PathBuf,
    file: File,
    /// The length up to the end of the last complete line.
    length: u64,
    last_exchange: u64,
    last_connection: u64,
}

impl Recording {
    /// Opens the file and starts the thread that writes.
    pub(super) fn start(path: &Path, append: bool, upstream: &str) -> Result<(Self, Writer), RecordingError> {
        let open = open(path, append, upstream)?;
        let state = Arc::new(State::default());
        let (sender, receiver) = mpsc::channel();
        let recording = Self {
            sender,
            state: Arc::clone(&state),
            exchanges: AtomicU64::new(open.last_exchange),
            connections: AtomicU64::new(open.last_connection),
        };
        let writing = Arc::clone(&state);
        let failed = |source| RecordingError::File { path: path.to_owned(), source };
        let thread = thread::Builder::new().name("kassa-recording".to_owned());
        let thread = thread.spawn(move || write_all(open, &receiver, &writing)).map_err(failed)?;
        Ok((recording, Writer { state, thread }))
    }

    /// One that sends its exchanges to a receiver instead of a file.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn detached() -> (Self, Receiver<FinishedExchange>) {
        let (sender, receiver) = mpsc::channel();
        let (exchanges, connections) = (AtomicU64::new(0), AtomicU64::new(0));
        (Self { sender, state: Arc::default(), exchanges, connections }, receiver)
    }

    /// The number of a new exchange.
    pub(super) fn next_exchange(&self) -> u64 {
        self.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The number of a new client connection.
    pub(super) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Queues an exchange for writing. Returns at once.
    pub(super) fn add(&self, exchange: FinishedExchange) {
        if self.state.has_failed.load(Ordering::Acquire) {
            return;
        }
        let size = exchange.size();
        if self.state.queued.fetch_add(size, Ordering::AcqRel) > MAX_QUEUED {
            self.state.has_failed.store(true, Ordering::Release);
            tracing::error!("RECORDING STOPPED: the disk is too slow. The traffic continues and is not recorded");
            return;
        }
        // If there is no receiver, the writer has ended and logged the reason.
        let _is_received = self.sender.send(exchange);
    }
}

impl Writer {
    /// The number of exchanges that this run wrote to the file.
    pub(super) fn written(&self) -> u64 {
        self.state.written.load(Ordering::Acquire)
    }

    /// Waits until everything is written. All `Recording`s must be dropped before.
    pub(super) fn finish(self) -> Result<u64, RecordingError> {
        match self.thread.join() {
            Ok(result) => result.map(|()| self.state.written.load(Ordering::Acquire)),
            Err(_) => {
                Err(RecordingError::File { path: PathBuf::new(), source: io::Error::other("the writer panicked") })
            }
        }
    }
}

fn open(path: &Path, append: bool, upstream: &str) -> Result<OpenFile, RecordingError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => RecordingError::Exists { path: path.to_owned() },
        _ => RecordingError::File { path: path.to_owned(), source },
    };
    if append && path.exists() {
        return reopen(path, upstream);
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    let length = write_line(&mut file, &Header::now(upstream)).map_err(failed)?;
    Ok(OpenFile { path: path.to_owned(), file, length, last_exchange: 0, last_connection: 0 })
}

fn reopen(path: &Path, upstream: &str) -> Result<OpenFile, RecordingError> {
    let failed = |source| RecordingError::File { path: path.to_owned(), source };
    if !path.is_file() {
        let detail = "it is not a regular file".to_owned();
        return Err(RecordingError::Content { path: path.to_owned(), detail });
    }
    let before = recording::read(path)?;
    if before.header.upstream != upstream {
        let detail = format!("it is of {}, and this is {upstream}: use another file", before.header.upstream);
        return Err(RecordingError::Content { path: path.to_owned(), detail });
    }
    let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(failed)?;
    let mut length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    let is_cut = !fs::read(path).map_err(failed)?.ends_with(b"\n");
    if is_cut {
        file.write_all(b"\n").map_err(failed)?;
        length += 1;
    }
    let numbers = |number: fn(&Exchange) -> u64| before.exchanges.iter().map(number).max().unwrap_or_default();
    Ok(OpenFile {
        path: path.to_owned(),
        file,
        length,
        last_exchange: numbers(|exchange| exchange.exchange),
        last_connection: numbers(|exchange| exchange.connection),
    })
}

/// Writes until all senders are dropped.
fn write_all(open: OpenFile, receiver: &Receiver<FinishedExchange>, state: &State) -> Result<(), RecordingError> {
    let OpenFile { path, mut file, mut length, .. } = open;
    let mut masker = Masker::default();
    for finished in receiver {
        let size = finished.size();
        let exchange = exchange(finished, &mut masker);
        match write_line(&mut file, &exchange) {
            Ok(line) => length += line,
            Err(source) => {
                state.has_failed.store(true, Ordering::Release);
                tracing::error!(
                    error = %source,
                    path = %path.display(),
                    "RECORDING STOPPED: the file cannot be written. The traffic continues and is not recorded"
                );
                // An incomplete line would make the next reader report a problem.
                let _is_cut = file.set_len(length);
                return Err(RecordingError::File { path, source });
            }
        }
        state.written.fetch_add(1, Ordering::AcqRel);
        state.queued.fetch_sub(size, Ordering::AcqRel);
    }
    if state.has_failed.load(Ordering::Acquire) {
        return Err(RecordingError::File { path, source: io::Error::other("the disk was too slow") });
    }
    Ok(())
}

/// One write for each line, so that readers rarely see an incomplete one.
fn write_line(file: &mut File, value: &impl serde::Serialize) -> io::Result<u64> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line)?;
    Ok(line.len() as u64)
}

pub(super) fn exchange(finished: FinishedExchange, masker: &mut Masker) -> Exchange {
    let mut exchange = Exchange {
        exchange: finished.number,
        direction: finished.direction,
        connection: finished.connection,
        started_at: written_time(finished.started_at),
        ended_at: written_time(finished.ended_at),
        request: request(&finished.request_head, finished.request_body),
        response: finished.response.and_then(|(head, body)| response(&head, body)),
        problem: finished.problem,
        masked: Vec::new(),
    };
    masker.mask(&mut exchange);
    exchange
}

fn request(head: &[u8], body: Captured) -> Request {
    let line = text(head.split(|byte| *byte == b'\n').next().unwrap_or_default());
    let line = line.trim_end();
    let (method, rest) = line.split_once(' ').unwrap_or((line, ""));
    let target = rest.rsplit_once(' ').map_or(rest, |(target, _)| target);
    let headers = headers(head);
    let body = decoded(body, &encodings(head, &headers));
    Request { method: method.to_owned(), target: target.to_owned(), headers, body }
}

/// `None` if its first line is not a status line.
pub(super) fn response(head: &[u8], body: Captured) -> Option<Response> {
    let status = status(head)?;
    let headers = headers(head);
    let body = decoded(body, &encodings(head, &headers));
    Some(Response { status, headers, body })
}

fn headers(head: &[u8]) -> Headers {
    let mut headers = Headers::new();
    for line in head.split(|byte| *byte == b'\n').skip(1) {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let Some((_, value)) = headers.last_mut() {
                value.push(' ');
                value.push_str(&text(line.trim_ascii()));
            }
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            let name = text(line[..colon].trim_ascii()).to_ascii_lowercase();
            headers.push((name, text(line[colon + 1..].trim_ascii())));
        }
    }
    headers
}

/// Bytes as text: UTF-8, or each byte as a character.
fn text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_read_as_it_was_sent() {
        let head = b"POST /a?b=c d HTTP/1.1\r\nX-A: 1\r\n folded\r\nx-a:2\r\nname: \xe9\r\n\r\n";
        let request = request(head, Captured::default());
        assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/a?b=c d"));
        let expected = [("x-a", "1 folded"), ("x-a", "2"), ("name", "é")];
        assert_eq!(request.headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
