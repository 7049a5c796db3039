//! Fuzzing: the gateway's endpoints, the recorder and the replay without
//! sockets, only for this project's fuzz targets. Not a public interface.

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
    /// A new, empty one.
    pub fn new() -> Result<Self, SandboxError> {
        let options = SandboxOptions::default();
        let store = Store::open(&options.database)?;
        Ok(Self(State::new(options, FaultSet::default(), store, "http://127.0.0.1:8400")))
    }

    /// Answers one request with this body, or with this query if the endpoint takes one, then forgets it. Returns the HTTP status.
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

/// The bytes that a recorder passes of a client's requests in pieces of this length, and the recorded exchanges as JSON without times.
pub fn recorded(requests: &[u8], responses: &[u8], piece: usize) -> Result<(Vec<u8>, Vec<String>), SandboxError> {
    let (passed, exchanges) = offline::recorded("http://gateway.example", requests, responses, piece)?;
    let written = exchanges.into_iter().map(|mut exchange| {
        exchange.started_at.clear();
        exchange.ended_at.clear();
        serde_json::to_string(&exchange).unwrap_or_default()
    });
    Ok((passed, written.collect()))
}

/// A text as it is written in a recording.
pub fn masked(text: &str) -> String {
    Masker::default().text(text)
}

/// Reads a recording and replays each of its requests; returns how many were answered. `None` if it is not a recording.
pub fn replayed(bytes: &[u8]) -> Option<u64> {
    recording::parse(bytes).ok().map(replay::played_again)
}
