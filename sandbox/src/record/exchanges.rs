//! The exchanges of one connection: pairs requests with responses while
//! the bytes pass. In a request, it changes only the target and `Host`.

use std::{collections::VecDeque, mem};

use time::OffsetDateTime;

use crate::{
    record::{
        body::Captured,
        head,
        http1::{Framer, Framing, Receiver},
        upstream::Upstream,
        writer::{FinishedExchange, Recording},
    },
    recording::Direction,
};

/// How a connection ends if the upstream sends no more.
pub(super) const UPSTREAM_CLOSED: &str = "the upstream closed the connection";

/// The exchanges of one connection.
pub(super) struct Exchanges<'a> {
    recording: &'a Recording,
    upstream: &'a Upstream,
    direction: Direction,
    connection: u64,
    requests: Framer,
    responses: Framer,
    /// Requests in the order of their start: the first one is answered next.
    open: VecDeque<OpenExchange>,
    finished: Vec<FinishedExchange>,
    /// Whether the previous line was a `Host`, whose continuation lines belong to it.
    is_behind_host: bool,
}

struct OpenExchange {
    number: u64,
    started_at: OffsetDateTime,
    request_head: Vec<u8>,
    request_body: Captured,
    is_request_complete: bool,
    response_head: Vec<u8>,
    response_body: Captured,
    is_response_complete: bool,
    problem: Option<String>,
}

impl OpenExchange {
    fn method(&self) -> &[u8] {
        self.request_head.split(|byte| *byte == b' ').next().unwrap_or_default()
    }
}

impl<'a> Exchanges<'a> {
    pub(super) fn new(recording: &'a Recording, upstream: &'a Upstream, direction: Direction, connection: u64) -> Self {
        Self {
            recording,
            upstream,
            direction,
            connection,
            requests: Framer::default(),
            responses: Framer::default(),
            open: VecDeque::new(),
            finished: Vec::new(),
            is_behind_host: false,
        }
    }

    /// Takes bytes from the client, and returns those for the upstream.
    pub(super) fn request_bytes(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut framer = mem::take(&mut self.requests);
        let mut side = RequestSide { exchanges: self, passed: Vec::with_capacity(bytes.len() + 64) };
        framer.feed(bytes, &mut side);
        let passed = side.passed;
        self.requests = framer;
        passed
    }

    /// Takes the bytes of an incomplete line that were held back, because the client sends no more, or another protocol.
    pub(super) fn take_held(&mut self) -> Vec<u8> {
        self.requests.take_held()
    }

    /// Takes bytes from the upstream, which pass unchanged. Returns whether
    /// the protocol changed, so that the client's held-back bytes must pass.
    pub(super) fn response_bytes(&mut self, bytes: &[u8]) -> bool {
        let mut framer = mem::take(&mut self.responses);
        let mut side = ResponseSide { exchanges: self, is_upgraded: false };
        framer.feed(bytes, &mut side);
        let is_upgraded = side.is_upgraded;
        if is_upgraded {
            self.requests.set_opaque();
        }
        self.responses = framer;
        is_upgraded
    }

    /// Whether an exchange is open.
    pub(super) fn is_busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether any request has begun.
    pub(super) fn has_begun(&self) -> bool {
        self.is_busy() || !self.finished.is_empty()
    }

    /// Whether the current response is complete only when the upstream closes the connection.
    pub(super) fn is_until_close(&self) -> bool {
        self.responses.is_until_close()
    }

    /// Records the complete exchanges.
    pub(super) fn record(&mut self) {
        for finished in self.finished.drain(..) {
            self.recording.add(finished);
        }
    }

    /// Records the complete exchanges, although the client did not get the end of the response.
    pub(super) fn record_unreceived(&mut self, error: &std::io::Error) {
        for finished in &mut self.finished {
            finished.problem.get_or_insert_with(|| format!("the client did not take the response: {error}"));
        }
        self.record();
    }

    /// Records the open exchanges, with the reason why there is no connection to the upstream.
    pub(super) fn end_unconnected(&mut self, why: &str) {
        for mut exchange in mem::take(&mut self.open) {
            exchange.problem = Some(why.to_owned());
            self.finish(exchange);
        }
        self.record();
    }

    /// Records the open exchanges, with how the connection ended.
    pub(super) fn end(&mut self, how: &str) {
        if self.responses.is_until_close() && how == UPSTREAM_CLOSED {
            self.complete_response();
        }
        let progress = self.responses.progress();
        for (index, mut exchange) in mem::take(&mut self.open).into_iter().enumerate() {
            let place = match &progress {
                _ if exchange.is_response_complete => " before the request was complete".to_owned(),
                Some(progress) if index == 0 => format!(" {progress}"),
                _ if !exchange.is_request_complete => {
                    let progress = self.requests.progress().unwrap_or_default();
                    format!(" before a response, with the request {progress}")
                }
                _ => " before a response".to_owned(),
            };
            exchange.problem.get_or_insert_with(|| format!("{how}{place}"));
            self.finish(exchange);
        }
        self.record();
    }

    fn complete_response(&mut self) {
        if let Some(exchange) = self.open.front_mut() {
            exchange.is_response_complete = true;
        }
        self.finish_complete();
    }

    /// An early response may be complete before its request.
    fn finish_complete(&mut self) {
        while self.open.front().is_some_and(|open| open.is_request_complete && open.is_response_complete) {
            if let Some(exchange) = self.open.pop_front() {
                self.finish(exchange);
            }
        }
    }

    fn finish(&mut self, exchange: OpenExchange) {
        let response = (!exchange.response_head.is_empty()).then_some((exchange.response_head, exchange.response_body));
        self.finished.push(FinishedExchange {
            number: exchange.number,
            direction: self.direction,
            connection: self.connection,
            started_at: exchange.started_at,
            ended_at: OffsetDateTime::now_utc(),
            request_head: exchange.request_head,
            request_body: exchange.request_body,
            response,
            problem: exchange.problem,
        });
    }
}

struct RequestSide<'a, 'b> {
    exchanges: &'a mut Exchanges<'b>,
    passed: Vec<u8>,
}

impl Receiver for RequestSide<'_, '_> {
    fn begin(&mut self) {
        let number = self.exchanges.recording.next_exchange();
        self.exchanges.open.push_back(OpenExchange {
            number,
            started_at: OffsetDateTime::now_utc(),
            request_head: Vec::new(),
            request_body: Captured::default(),
            is_request_complete: false,
            response_head: Vec::new(),
            response_body: Captured::default(),
            is_response_complete: false,
            problem: None,
        });
    }

    fn head_line(&mut self, line: &[u8]) {
        let Some(exchange) = self.exchanges.open.back_mut() else { return };
        let is_first = exchange.request_head.is_empty();
        exchange.request_head.extend_from_slice(line);
        let upstream = self.exchanges.upstream;
        if is_first {
            self.exchanges.is_behind_host = false;
            self.passed.extend_from_slice(&upstream.request_line(line));
        } else if head::is_header(line, "host") {
            self.exchanges.is_behind_host = true;
            self.passed.extend_from_slice(&upstream.host_line(line));
        } else if !(self.exchanges.is_behind_host && line.starts_with(b" ") | line.starts_with(b"\t")) {
            self.exchanges.is_behind_host = false;
            self.passed.extend_from_slice(line);
        }
    }

    fn head_end(&mut self) -> Framing {
        let Some(exchange) = self.exchanges.open.back_mut() else { return Framing::Opaque };
        let framing = match head::declared(&exchange.request_head) {
            _ if !head::is_http1_request(&exchange.request_head) => {
                exchange.problem = Some("this is not HTTP/1.1: the rest of the connection is not recorded".to_owned());
                return Framing::Opaque;
            }
            // A request cannot end with its connection, because its response could not be sent.
            Some(Framing::UntilClose) => Framing::Opaque,
            framing => framing.unwrap_or(Framing::Length(0)),
        };
        if framing == Framing::Opaque {
            let problem = "the length of the request cannot be read: the rest of the connection is not recorded";
            exchange.problem = Some(problem.to_owned());
        } else if let Some(ambiguity) = head::ambiguity(&exchange.request_head) {
            exchange.problem = Some(format!("the end of the request is ambiguous: it has {ambiguity}"));
        }
        framing
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.passed.extend_from_slice(bytes);
    }

    fn data(&mut self, bytes: &[u8]) {
        if let Some(exchange) = self.exchanges.open.back_mut() {
            exchange.request_body.add(bytes);
        }
    }

    fn end(&mut self) {
        if let Some(exchange) = self.exchanges.open.back_mut() {
            exchange.is_request_complete = true;
        }
        self.exchanges.finish_complete();
    }
}

struct ResponseSide<'a, 'b> {
    exchanges: &'a mut Exchanges<'b>,
    is_upgraded: bool,
}

impl ResponseSide<'_, '_> {
    /// The exchange that waits for a response.
    fn current(&mut self) -> Option<&mut OpenExchange> {
        self.exchanges.open.front_mut().filter(|exchange| !exchange.is_response_complete)
    }
}

impl Receiver for ResponseSide<'_, '_> {
    fn begin(&mut self) {
        if self.current().is_some() {
            return;
        }
        tracing::warn!(
            connection = self.exchanges.connection,
            "a response arrived without a readable request; it is not recorded"
        );
        if let Some(exchange) = self.exchanges.open.front_mut() {
            exchange.problem.get_or_insert_with(|| "another response followed, which is not recorded".to_owned());
        }
    }

    fn head_line(&mut self, line: &[u8]) {
        if let Some(exchange) = self.current() {
            exchange.response_head.extend_from_slice(line);
        }
    }

    fn head_end(&mut self) -> Framing {
        let Some(exchange) = self.exchanges.open.front_mut().filter(|exchange| !exchange.is_response_complete) else {
            return Framing::Opaque;
        };
        let (is_head, is_connect) = (exchange.method() == b"HEAD", exchange.method() == b"CONNECT");
        let head = &mut exchange.response_head;
        let Some(status) = head::status(head) else {
            exchange.problem = Some("the response is not readable HTTP/1.1".to_owned());
            return Framing::Opaque;
        };
        match status {
            101 => {
                self.is_upgraded = true;
                exchange.problem = Some("the connection was upgraded: what follows is not recorded".to_owned());
                Framing::Opaque
            }
            100..=199 => {
                head.clear();
                Framing::Interim
            }
            200..=299 if is_connect => {
                self.is_upgraded = true;
                exchange.problem = Some("the connection is a tunnel: what follows is not recorded".to_owned());
                Framing::Opaque
            }
            204 | 304 => Framing::Length(0),
            _ if is_head => Framing::Length(0),
            _ => {
                let framing = head::declared(head).unwrap_or(Framing::UntilClose);
                let why = match framing {
                    Framing::Opaque => Some("the length of the response cannot be read: it is not recorded".to_owned()),
                    _ => head::ambiguity(head)
                        .map(|ambiguity| format!("the end of the response is ambiguous: it has {ambiguity}")),
                };
                exchange.problem = exchange.problem.take().or(why);
                framing
            }
        }
    }

    fn wire(&mut self, _bytes: &[u8]) {}

    fn data(&mut self, bytes: &[u8]) {
        if let Some(exchange) = self.current() {
            exchange.response_body.add(bytes);
        }
    }

    fn end(&mut self) {
        self.exchanges.complete_response();
    }
}
