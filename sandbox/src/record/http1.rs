//! The framing of HTTP/1.1 (RFC 9112): finds the start and end of messages in a stream of bytes, in
//! pieces of any length. It changes nothing: unreadable bytes are opaque, and pass like all others.

/// The maximum length of a head. A message with a longer one is opaque.
const MAX_HEAD: usize = 256 * 1024;
/// The maximum length of a line with a chunk size.
const MAX_CHUNK_LINE: usize = 8 * 1024;

/// How the body of a message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// After this many bytes.
    Length(u64),
    Chunked,
    UntilClose,
    /// An interim response, followed by another one.
    Interim,
    /// Everything that follows has another protocol, or cannot be read.
    Opaque,
}

/// Receives the parts of messages.
pub(super) trait Receiver {
    /// The first byte of a message arrived.
    fn begin(&mut self);
    /// A line of the head with its line break, including the empty line.
    fn head_line(&mut self, line: &[u8]);
    /// The head is complete.
    fn head_end(&mut self) -> Framing;
    /// Bytes outside of heads, unchanged.
    fn wire(&mut self, bytes: &[u8]);
    /// Bytes of the body, without the framing of chunks.
    fn data(&mut self, bytes: &[u8]);
    /// The message is complete.
    fn end(&mut self);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Head,
    Length(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailer,
    UntilClose,
    Opaque,
}

/// Reads the messages of one direction of a connection.
pub(super) struct Framer {
    state: State,
    /// The beginning of the current line.
    line: Vec<u8>,
    head_length: usize,
    /// The declared length of the body.
    length: Option<u64>,
    received: u64,
}

impl Default for Framer {
    fn default() -> Self {
        Self { state: State::Idle, line: Vec::new(), head_length: 0, length: None, received: 0 }
    }
}

impl Framer {
    pub(super) fn feed(&mut self, mut bytes: &[u8], receiver: &mut impl Receiver) {
        while let Some(first) = bytes.first() {
            match self.state {
                State::Idle if matches!(first, b'\r' | b'\n') => {
                    receiver.wire(&bytes[..1]);
                    bytes = &bytes[1..];
                }
                State::Idle => {
                    (self.head_length, self.length, self.received) = (0, None, 0);
                    self.state = State::Head;
                    receiver.begin();
                }
                State::Head => {
                    let is_complete = self.take_line(&mut bytes);
                    self.head_length += if is_complete { self.line.len() } else { 0 };
                    if self.head_length.max(self.line.len()) > MAX_HEAD {
                        self.state = State::Opaque;
                        receiver.wire(&std::mem::take(&mut self.line));
                    } else if is_complete {
                        let line = std::mem::take(&mut self.line);
                        receiver.head_line(&line);
                        if matches!(line[..], [b'\n'] | [b'\r', b'\n']) {
                            self.begin_body(receiver);
                        }
                    }
                }
                State::Length(left) | State::Chunk(left) => {
                    let count = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    self.pass(&bytes[..count], receiver);
                    bytes = &bytes[count..];
                    let left = left - count as u64;
                    self.state = match self.state {
                        State::Chunk(_) if left == 0 => State::ChunkEnd,
                        State::Chunk(_) => State::Chunk(left),
                        _ => State::Length(left),
                    };
                    if self.state == State::Length(0) {
                        self.finish(receiver);
                    }
                }
                State::ChunkSize | State::ChunkEnd | State::Trailer => {
                    let before = bytes;
                    let is_complete = self.take_line(&mut bytes);
                    receiver.wire(&before[..before.len() - bytes.len()]);
                    if is_complete {
                        let line = std::mem::take(&mut self.line);
                        self.chunk_line(line.trim_ascii(), receiver);
                    } else if self.line.len() > MAX_CHUNK_LINE {
                        self.line.clear();
                        self.state = State::Opaque;
                    }
                }
                State::UntilClose => {
                    self.pass(bytes, receiver);
                    bytes = &[];
                }
                State::Opaque => {
                    receiver.wire(&self.take_held());
                    receiver.wire(bytes);
                    bytes = &[];
                }
            }
        }
    }

    /// Moves bytes up to the end of the line to `line`. True if it is complete.
    fn take_line(&mut self, bytes: &mut &[u8]) -> bool {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let (line, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        self.line.extend_from_slice(line);
        *bytes = rest;
        end.is_some()
    }

    fn pass(&mut self, bytes: &[u8], receiver: &mut impl Receiver) {
        self.received += bytes.len() as u64;
        receiver.wire(bytes);
        receiver.data(bytes);
    }

    fn begin_body(&mut self, receiver: &mut impl Receiver) {
        self.state = match receiver.head_end() {
            Framing::Length(length) => {
                self.length = Some(length);
                State::Length(length)
            }
            Framing::Chunked => State::ChunkSize,
            Framing::UntilClose => State::UntilClose,
            Framing::Interim => State::Idle,
            Framing::Opaque => State::Opaque,
        };
        if self.state == State::Length(0) {
            self.finish(receiver);
        }
    }

    fn chunk_line(&mut self, line: &[u8], receiver: &mut impl Receiver) {
        match self.state {
            State::ChunkSize => {
                let size = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
                let size = std::str::from_utf8(size).ok().filter(|size| !size.starts_with('+'));
                self.state = match size.and_then(|size| u64::from_str_radix(size, 16).ok()) {
                    Some(0) => State::Trailer,
                    Some(size) => State::Chunk(size),
                    None => State::Opaque,
                };
            }
            State::ChunkEnd => self.state = if line.is_empty() { State::ChunkSize } else { State::Opaque },
            State::Trailer if line.is_empty() => self.finish(receiver),
            _ => {}
        }
    }

    fn finish(&mut self, receiver: &mut impl Receiver) {
        self.state = State::Idle;
        receiver.end();
    }

    /// Takes the bytes of a head line that were held back until the line is complete.
    pub(super) fn take_held(&mut self) -> Vec<u8> {
        if matches!(self.state, State::Head | State::Opaque) { std::mem::take(&mut self.line) } else { Vec::new() }
    }

    /// Whether only the end of the connection ends the message.
    pub(super) fn is_until_close(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Makes all further bytes opaque, as after an accepted upgrade. Take the held-back bytes of a head line first.
    pub(super) fn set_opaque(&mut self) {
        if self.state != State::Head {
            self.line.clear();
        }
        self.state = State::Opaque;
    }

    /// How much of the current message arrived, for people; `None` between messages.
    pub(super) fn progress(&self) -> Option<String> {
        let received = self.received;
        match self.state {
            State::Idle => None,
            State::Head => Some("in the head".to_owned()),
            State::Length(_) => Some(format!("after {received} of {} bytes", self.length.unwrap_or_default())),
            State::ChunkSize | State::Chunk(_) | State::ChunkEnd | State::Trailer => {
                Some(format!("after {received} bytes of a chunked body"))
            }
            State::UntilClose => Some(format!("after {received} bytes")),
            State::Opaque => Some("after bytes that are not HTTP/1.1".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::head::declared;

    /// Records everything that it receives.
    #[derive(Default)]
    struct Log {
        head: Vec<u8>,
        wire: Vec<u8>,
        data: Vec<u8>,
        messages: Vec<String>,
    }

    impl Receiver for Log {
        fn begin(&mut self) {
            self.head.clear();
            self.data.clear();
        }

        fn head_line(&mut self, line: &[u8]) {
            self.head.extend_from_slice(line);
            self.wire.extend_from_slice(line);
        }

        fn head_end(&mut self) -> Framing {
            if self.head.starts_with(b"HTTP/1.1 1") {
                return Framing::Interim;
            }
            declared(&self.head).unwrap_or(Framing::Length(0))
        }

        fn wire(&mut self, bytes: &[u8]) {
            self.wire.extend_from_slice(bytes);
        }

        fn data(&mut self, bytes: &[u8]) {
            self.data.extend_from_slice(bytes);
        }

        fn end(&mut self) {
            let first = String::from_utf8_lossy(&self.head).lines().next().unwrap_or_default().to_owned();
            self.messages.push(format!("{first}: {}", String::from_utf8_lossy(&self.data)));
        }
    }

    #[test]
    fn messages_are_found_in_pieces_of_any_size() {
        let stream = b"\r\nPOST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET /b HTTP/1.1\nx: y\n\nHTTP/1.1 100 Continue\r\n\r\n\
            POST /c HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n3;x=1\r\nabc\r\n0a\r\n0123456789\r\n0\r\nt: 1\r\n\r\n\
            PUT /d HTTP/1.1\r\ncontent-length: 1, 1\r\n\r\nz";
        for piece in 1..=stream.len() {
            let (mut framer, mut log) = (Framer::default(), Log::default());
            stream.chunks(piece).for_each(|bytes| framer.feed(bytes, &mut log));
            assert_eq!(log.wire, stream, "{piece}");
            let expected =
                ["POST /a HTTP/1.1: abc", "GET /b HTTP/1.1: ", "POST /c HTTP/1.1: abc0123456789", "PUT /d HTTP/1.1: z"];
            assert_eq!(log.messages, expected, "{piece}");
            assert_eq!(framer.progress(), None);
        }
    }

    #[test]
    fn unreadable_bytes_pass_unchanged() {
        for stream in [
            "POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nrest",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\nrest",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\nrest",
        ] {
            let (mut framer, mut log) = (Framer::default(), Log::default());
            stream.as_bytes().chunks(3).for_each(|bytes| framer.feed(bytes, &mut log));
            assert_eq!(String::from_utf8_lossy(&log.wire), stream);
            assert!(log.messages.is_empty());
        }
        let (mut framer, mut log) = (Framer::default(), Log::default());
        let endless = vec![b'a'; 3 * MAX_HEAD];
        endless.chunks(1000).for_each(|bytes| framer.feed(bytes, &mut log));
        assert_eq!(log.wire.len(), endless.len());
    }

    #[test]
    fn progress_says_how_far_a_message_came() {
        for (stream, progress) in [
            ("HTTP/1.1 200 OK\r\nx", "in the head"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n1234567", "after 7 of 400 bytes"),
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc", "after 3 bytes of a chunked body"),
        ] {
            let (mut framer, mut log) = (Framer::default(), Log::default());
            framer.feed(stream.as_bytes(), &mut log);
            assert_eq!(framer.progress().as_deref(), Some(progress));
        }
    }
}
