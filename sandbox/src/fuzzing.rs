//! Fuzzing: the gateway's endpoints, the recorder and the replay without a socket, only for the fuzz targets of this project. Not a public interface.

use std::time::Instant;

use axum::{
    body::Bytes,
    http::{HeaderMap, Uri},
};

use crate::{
    endpoints::{ENDPOINTS, pipeline::answer},
    faults::FaultSet,
    record::offline,
    recording::{self, mask::Masker},
    redact::transcript,
    replay,
    settings::{SandboxError, SandboxOptions},
    state::State,
    store::Store,
};

/// A sandbox in memory that never listens.
pub struct Endpoints(State);

impl Endpoints {
    /// One that has seen nothing.
    pub fn new() -> Result<Self, SandboxError> {
        let options = SandboxOptions::default();
        let store = Store::open(&options.database)?;
        Ok(Self(State::new(options, FaultSet::default(), store, "http://127.0.0.1:8400")))
    }

    /// Answers one request with this body, or with this query where the endpoint takes one, and forgets it: the HTTP
    /// status.
    pub fn answer(&self, endpoint: usize, body: &[u8], query: &str) -> Option<u16> {
        let endpoint = &ENDPOINTS[endpoint % ENDPOINTS.len()];
        let uri: Uri = format!("{}?{query}", endpoint.name.path()).parse().ok()?;
        let seen = transcript::Request::head(&endpoint.method, &uri, &HeaderMap::new());
        let body = Bytes::copy_from_slice(body);
        let outgoing = answer(&self.0, endpoint, Ok((uri, body)), seen, Instant::now());
        let status = outgoing.visible_status();
        self.0.reset().is_ok().then_some(status).flatten()
    }
}

/// What a recorder passes of a client's requests in pieces of this length, and the exchanges that it records, as JSON without their times.
pub fn recorded(requests: &[u8], responses: &[u8], piece: usize) -> Result<(Vec<u8>, Vec<String>), SandboxError> {
    let (passed, exchanges) = offline::recorded("http://gateway.example", requests, responses, piece)?;
    let written = exchanges.into_iter().map(|mut exchange| {
        exchange.started_at.clear();
        exchange.ended_at.clear();
        serde_json::to_string(&exchange).unwrap_or_default()
    });
    Ok((passed, written.collect()))
}

/// A text as it stands in a recording.
pub fn masked(text: &str) -> String {
    Masker::default().text(text)
}

/// Reads a recording and plays each of its requests again: how many were answered. `None` if it is no recording.
pub fn replayed(bytes: &[u8]) -> Option<u64> {
    recording::parse(bytes).ok().map(replay::played_again)
}
