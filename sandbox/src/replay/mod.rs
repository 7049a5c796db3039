//! Replay: the recorded gateway for new payments. A middleware in front of the sandbox's routes answers what was recorded; the sandbox
//! answers the rest.

mod choice;
mod player;
mod render;
mod script;
mod values;

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    str::FromStr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use reqwest::Client;
use tokio::time::sleep;

use crate::{
    net::{ConnectionHandle, Cut, CutPoint},
    recording::{self, RecordingError},
    web::read_body,
};
use player::{CallbackId, NewRequest, Player, RecordedAnswer};
use script::Script;

/// Marks a response that is not from the recording.
const MARK: HeaderName = HeaderName::from_static("kassa-sandbox-replay");
const NOT_RECORDED: HeaderValue = HeaderValue::from_static("not-recorded");
/// Paths of the sandbox's own tools: never recorded, and not worth a mark.
const OWN_PATHS: [&str; 4] = ["/admin/", "/dashboard", "/control", "/assets/"];

/// The speed of recorded time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// A factor of the recorded speed.
    Times(f64),
    /// Each status query returns the next recorded answer, and callbacks are sent at once.
    Max,
}

impl Speed {
    /// The time that recorded microseconds take now.
    fn real(self, recorded: i64) -> Duration {
        let recorded = u64::try_from(recorded).unwrap_or_default();
        match self {
            Self::Times(speed) => Duration::try_from_secs_f64(Duration::from_micros(recorded).as_secs_f64() / speed),
            Self::Max => Ok(Duration::ZERO),
        }
        .unwrap_or_default()
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let speed = text.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed >= 0.001);
        speed.map(Self::Times).ok_or_else(|| "must be `max`, or a number such as 1 or 60".to_owned())
    }
}

/// The settings of a replay.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The file of the recording.
    pub file: PathBuf,
    /// The speed of recorded time. Default: as recorded.
    pub speed: Speed,
    /// The merchant's base URL, to which recorded callbacks are sent. Default: the callback URL of each new request.
    pub callbacks: Option<String>,
}

impl ReplayOptions {
    /// Replays a recording at its recorded speed.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), speed: Speed::Times(1.0), callbacks: None }
    }
}

/// The result of a replay so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The number of requests answered from the recording.
    pub answered: u64,
    /// The requests that were not recorded, by method and path, with their counts.
    pub not_recorded: BTreeMap<String, u64>,
    /// The number of callbacks sent.
    pub callbacks: u64,
    /// The unreadable lines of the file, by number, and why.
    pub unreadable: Vec<(usize, String)>,
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not_recorded: u64 = self.not_recorded.values().sum();
        write!(
            formatter,
            "{} requests answered from the recording, {not_recorded} not recorded, {} callbacks sent, {} lines unreadable",
            self.answered,
            self.callbacks,
            self.unreadable.len()
        )?;
        for (request, count) in &self.not_recorded {
            write!(formatter, "\n  not recorded: {request} ({count})")?;
        }
        Ok(())
    }
}

/// A running replay.
pub(crate) struct Replayer {
    player: Mutex<Player>,
    callbacks: Option<String>,
    client: Client,
    sent: AtomicU64,
    unreadable: Vec<(usize, String)>,
}

impl Replayer {
    /// Reads the recording. `url` is the sandbox's address.
    pub(crate) fn new(options: ReplayOptions, url: &str, client: Client) -> Result<Self, RecordingError> {
        let mut recording = recording::read(&options.file)?;
        let unreadable = std::mem::take(&mut recording.unreadable);
        for (line, error) in &unreadable {
            tracing::warn!(line, %error, "a line of the recording cannot be read");
        }
        let player = Player::new(Script::of(recording), options.speed, url);
        if player.stray_callbacks() > 0 {
            tracing::warn!(
                callbacks = player.stray_callbacks(),
                "recorded callbacks belong to no payment, and are not sent"
            );
        }
        let callbacks = options.callbacks.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Self { player: Mutex::new(player), callbacks, client, sent: AtomicU64::new(0), unreadable })
    }

    /// The result so far.
    pub(crate) fn report(&self) -> ReplayReport {
        let player = self.locked();
        ReplayReport {
            answered: player.answered,
            not_recorded: player.not_recorded.clone(),
            callbacks: self.sent.load(Ordering::Acquire),
            unreadable: self.unreadable.clone(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Player> {
        self.player.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends callbacks in sequence.
    async fn send_callbacks(self: Arc<Self>, callbacks: Vec<(Duration, CallbackId)>) {
        for (pause, id) in callbacks {
            sleep(pause).await;
            let Some(callback) = self.locked().callback(id) else { continue };
            let address = match (&self.callbacks, callback.address) {
                (Some(base), _) => format!("{base}{}", callback.target),
                (None, Some(address)) => address,
                (None, None) => {
                    tracing::warn!("a recorded callback has no address: name one with --callbacks");
                    continue;
                }
            };
            for name in &callback.signatures {
                tracing::warn!(name, "a callback has a signature, which is sent as it was recorded and does not fit");
            }
            let method = callback.method.parse().unwrap_or(reqwest::Method::POST);
            let mut request = self.client.request(method, &address).body(callback.body);
            for (name, value) in &callback.headers {
                request = request.header(name, value);
            }
            let result = request.send().await;
            let is_accepted = result.as_ref().is_ok_and(|response| response.status().is_success());
            match result {
                Ok(response) => tracing::info!(address, status = response.status().as_u16(), "callback"),
                Err(error) => tracing::warn!(address, error = %error.without_url(), "callback"),
            }
            self.sent.fetch_add(1, Ordering::AcqRel);
            self.locked().set_callback_accepted(id, is_accepted);
        }
    }
}

/// Replays each request of a recording twice, as recorded and with another number; returns how many were answered.
#[cfg(feature = "fuzzing")]
pub(crate) fn played_again(recording: recording::Recording) -> u64 {
    let requests: Vec<recording::Request> =
        recording.exchanges.iter().map(|exchange| exchange.request.clone()).collect();
    let mut player = Player::new(Script::of(recording), Speed::Max, "http://127.0.0.1:8400");
    for request in requests.iter().chain(&requests) {
        let body = request.body.as_ref().and_then(|body| body.text.clone()).unwrap_or_default();
        for body in [body.clone(), body.replace('1', "2")] {
            let request =
                NewRequest { method: &request.method, target: &request.target, is_authorized: true, body: &body };
            let callbacks = player.answer(&request).map(|played| played.callbacks).unwrap_or_default();
            for (_, id) in callbacks {
                let _sent = player.callback(id);
            }
        }
    }
    player.answered
}

/// Middleware: answers recorded requests from the recording.
pub(crate) async fn intercept(
    State(replayer): State<Arc<Replayer>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
    next: Next,
) -> Response {
    if OWN_PATHS.iter().any(|path| request.uri().path().starts_with(path)) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = read_body(body).await else {
        return (StatusCode::BAD_REQUEST, [(MARK, NOT_RECORDED)], "The body could not be read\n").into_response();
    };
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let played = replayer.locked().answer(&NewRequest {
        method: parts.method.as_str(),
        target,
        is_authorized: parts.headers.contains_key(header::AUTHORIZATION),
        body: &String::from_utf8_lossy(&body),
    });
    let Some(mut played) = played else {
        tracing::warn!(method = %parts.method, path = parts.uri.path(), "not recorded: the sandbox answers");
        let mut response = next.run(Request::from_parts(parts, Body::from(body))).await;
        response.headers_mut().insert(MARK, NOT_RECORDED);
        return response;
    };
    sleep(played.after).await;
    let callbacks = std::mem::take(&mut played.callbacks);
    if !callbacks.is_empty() {
        tokio::spawn(Arc::clone(&replayer).send_callbacks(callbacks));
    }
    respond(played, &connection)
}

fn respond(played: RecordedAnswer, connection: &ConnectionHandle) -> Response {
    let Some(mut body) = played.body else {
        connection.cut(Cut { until: CutPoint::Now, reset: played.is_reset });
        return StatusCode::OK.into_response();
    };
    if let Some(length) = played.cut_before {
        connection.cut(Cut { until: CutPoint::Body(body.len()), reset: played.is_reset });
        body.resize(length, b' ');
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(played.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in played.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
