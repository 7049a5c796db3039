//! Calls over HTTP: deadlines, retries where they are safe, and refusals as errors.

use std::{
    error::Error as _,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{
    Client, Method,
    header::{HeaderMap, HeaderValue, LOCATION, RETRY_AFTER},
    redirect,
};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    error::{Error, FieldViolation, Problem},
    settings::{ClientBuilder, Hidden, SettingError},
};

/// How often a request is sent at most.
const ATTEMPTS: u32 = 8;
/// The time after which the next address of a host is tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest response. A page of 1,000 events has about one million bytes.
const MAX_RESPONSE_BYTES: usize = 32 * 1024 * 1024;
/// Statuses after which the same request can succeed.
const RETRYABLE_STATUSES: [u16; 5] = [408, 429, 502, 503, 504];
const PROBLEM: &str = "urn:kassa:problem:";
/// How secrets of the server begin. The page's address has one, too.
const SECRETS: [&str; 5] = ["ak_", "sk_", "ct_", "whsec_", "pay/"];

/// A request to send.
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) body: Option<Value>,
    /// How long the server waits before it answers.
    pub(crate) wait: Duration,
    /// Whether it may be sent again if no response came.
    pub(crate) can_repeat: bool,
}

impl<'a> Request<'a> {
    pub(crate) fn new(method: Method, path: &'a str) -> Self {
        Self { method, path, query: &[], body: None, wait: Duration::ZERO, can_repeat: true }
    }
}

/// A response. It can repeat the request's secrets, so it is not printed.
struct Response {
    status: u16,
    location: String,
    retry_after: Option<Duration>,
    body: Vec<u8>,
}

/// Sends requests to one server.
#[derive(Clone)]
pub(crate) struct Transport {
    url: String,
    key: Hidden,
    client: Client,
    /// Without idle connections: a request that is sent once must not meet one that the server has just closed.
    fresh: Client,
    timeout: Duration,
    backoff: (Duration, Duration),
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl Transport {
    pub(crate) fn new(url: String, settings: ClientBuilder) -> Result<Self, SettingError> {
        let tls = tls(settings.ca_pem.as_deref())?;
        let made = |builder: reqwest::ClientBuilder| {
            let built = builder
                .tls_backend_preconfigured(tls.clone())
                .connect_timeout(CONNECT_TIMEOUT)
                .redirect(redirect::Policy::none())
                .no_proxy()
                .user_agent(concat!("kassa-rust/", env!("CARGO_PKG_VERSION")))
                .build();
            built.map_err(|problem| SettingError::new(format!("the HTTP client cannot be made: {problem}")))
        };
        let (client, fresh) = (made(Client::builder())?, made(Client::builder().pool_max_idle_per_host(0))?);
        Ok(Self { url, key: settings.key, client, fresh, timeout: settings.timeout, backoff: settings.backoff })
    }

    /// The value that the server answers with.
    pub(crate) async fn request<T: DeserializeOwned>(&self, request: Request<'_>) -> Result<T, Error> {
        let response = self.send(&request).await?;
        match response.status {
            300..=399 => {
                let location: String = response.location.chars().take(200).collect();
                let detail = format!("redirects to {location:?}; set the address of kassa-server itself");
                Err(self.bad(&detail, &response))
            }
            400.. => Err(self.refusal(&response)),
            _ => serde_json::from_slice(&response.body).map_err(|problem| {
                let what = if problem.is_data() { problem.to_string() } else { "it is not JSON".to_owned() };
                self.bad(&format!("did not answer as kassa-server does: {what}"), &response)
            }),
        }
    }

    /// Sends a request until there is an answer, the attempts are used up, or the time is over.
    async fn send(&self, request: &Request<'_>) -> Result<Response, Error> {
        let limit = self.timeout + request.wait;
        let deadline = Instant::now() + limit;
        let mut backoff = self.backoff.0;
        for attempt in 1.. {
            let left = deadline.saturating_duration_since(Instant::now());
            let outcome = tokio::time::timeout(left, self.exchange(request)).await;
            let (failure, can_repeat, retry_after) = match outcome {
                Ok(Ok(response)) if !RETRYABLE_STATUSES.contains(&response.status) => return Ok(response),
                Ok(Ok(response)) => (self.unavailable(&response, ""), true, response.retry_after),
                Ok(Err(problem)) => (self.unreachable(&reason(&problem)), !is_distrusted(&problem), None),
                Err(_) => (self.unreachable(&format!("did not answer within {} s", limit.as_secs_f64())), false, None),
            };
            let pause = backoff.mul_f64(0.5 + fastrand::f64() / 2.0).max(retry_after.unwrap_or_default());
            let is_over = attempt == ATTEMPTS || Instant::now() + pause >= deadline;
            if !request.can_repeat || !can_repeat || is_over {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
            backoff = (backoff * 2).min(self.backoff.1);
        }
        Err(self.unreachable("was not asked"))
    }

    async fn exchange(&self, request: &Request<'_>) -> reqwest::Result<Response> {
        let client = if request.can_repeat { &self.client } else { &self.fresh };
        let mut sent = client.request(request.method.clone(), self.address(request)).headers(self.headers());
        if let Some(body) = &request.body {
            sent = sent.header("content-type", "application/json").body(body.to_string());
        }
        let mut response = sent.send().await?;
        let header = |headers: &HeaderMap, name| {
            let value = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (status, location) = (response.status().as_u16(), header(response.headers(), LOCATION));
        let after = header(response.headers(), RETRY_AFTER);
        let is_seconds = (1..=9).contains(&after.len()) && after.bytes().all(|byte| byte.is_ascii_digit());
        let retry_after = after.parse().ok().filter(|_| is_seconds).map(Duration::from_secs);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            let room = MAX_RESPONSE_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() >= room {
                break;
            }
        }
        Ok(Response { status, location, retry_after, body })
    }

    fn address(&self, request: &Request<'_>) -> String {
        let mut address = format!("{}{}", self.url, request.path);
        if !request.query.is_empty() {
            let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(request.query).finish();
            address.extend(["?", &query]);
        }
        address
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        // The key was checked when the client was made.
        if let Ok(mut key) = HeaderValue::try_from(format!("Bearer {}", self.key.0)) {
            key.set_sensitive(true);
            headers.insert("authorization", key);
        }
        headers.insert("accept", HeaderValue::from_static("application/json"));
        headers
    }

    fn unreachable(&self, why: &str) -> Error {
        let detail = self.masked(&format!("{} {why}", self.url));
        Error::Unavailable { detail, status: None, retry_after: None }
    }

    fn unavailable(&self, response: &Response, detail: &str) -> Error {
        let asks = response.retry_after.filter(|after| !after.is_zero());
        let hint = asks.map(|after| format!("; it asks to wait {} s", after.as_secs())).unwrap_or_default();
        let detail = format!("{} answered HTTP {}{detail}{hint}", self.url, response.status);
        Error::Unavailable { detail, status: Some(response.status), retry_after: response.retry_after }
    }

    fn refusal(&self, response: &Response) -> Error {
        let odd = "did not answer as kassa-server does";
        let Ok(body) = serde_json::from_slice::<ProblemBody>(&response.body) else { return self.bad(odd, response) };
        let Some(kind) = body.kind.strip_prefix(PROBLEM) else { return self.bad(odd, response) };
        let Some(detail) = body.detail.filter(|detail| !detail.is_empty()).or(body.title) else {
            return self.bad(odd, response);
        };
        let detail = self.masked(&detail);
        if response.status >= 500 {
            return self.unavailable(response, &format!(": {detail}"));
        }
        let violations = body.violations.unwrap_or_default();
        let (status, kind, state) = (response.status, kind.to_owned(), body.state);
        let problem = Box::new(Problem { status, kind, detail, violations, state });
        match (status, body.next) {
            (401, _) => Error::WrongKey(problem),
            (404, _) => Error::NotFound(problem),
            (409 | 422, _) => Error::Conflict(problem),
            (410, Some(next)) => Error::HistoryGone { problem, next },
            (410, None) => self.bad("did not answer as kassa-server does: next is missing", response),
            _ => Error::Refused(problem),
        }
    }

    fn bad(&self, what: &str, response: &Response) -> Error {
        let text = self.masked(&String::from_utf8_lossy(&response.body));
        let detail = self.masked(&format!("{} {what}", self.url));
        Error::BadResponse { detail, status: response.status, text: text.chars().take(200).collect() }
    }

    /// Redaction: a peer's response can repeat the request, or contain a secret of its own.
    fn masked(&self, text: &str) -> String {
        let text = text.replace(&self.key.0, "***");
        let (mut masked, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some((start, prefix)) = next_secret(rest) {
            let (before, secret) = rest.split_at(start);
            let after = secret[prefix.len()..].trim_start_matches(is_of_secret);
            masked.extend([before, prefix, "***"]);
            rest = after;
        }
        masked + rest
    }
}

fn is_of_secret(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '+' | '/' | '=' | '-')
}

/// The place of the next secret: the beginning of one at the beginning of a word.
fn next_secret(text: &str) -> Option<(usize, &'static str)> {
    let begins_word = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let found = SECRETS.iter().flat_map(|prefix| {
        let is_secret = move |at: &usize| begins_word(*at) && text[at + prefix.len()..].starts_with(is_of_secret);
        text.match_indices(prefix).map(|(at, _)| at).find(is_secret).map(|at| (at, *prefix))
    });
    found.min_by_key(|(at, _)| *at)
}

/// Problem details on the wire.
#[derive(Deserialize)]
struct ProblemBody {
    #[serde(rename = "type")]
    kind: String,
    title: Option<String>,
    detail: Option<String>,
    violations: Option<Vec<FieldViolation>>,
    state: Option<String>,
    next: Option<String>,
}

/// The certificates to trust: those of the caller's file, or the usual ones.
fn tls(ca_pem: Option<&[u8]>) -> Result<ClientConfig, SettingError> {
    let mut roots = RootCertStore::empty();
    match ca_pem {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|_| SettingError::new("ca_pem cannot be read as PEM"))?;
                let added = roots.add(certificate);
                added.map_err(|problem| SettingError::new(format!("ca_pem has an unusable certificate: {problem}")))?;
            }
            if roots.is_empty() {
                return Err(SettingError::new("ca_pem has no certificate"));
            }
        }
    }
    let unusable = |problem: rustls::Error| SettingError::new(format!("TLS cannot be set up: {problem}"));
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let tls = tls.with_safe_default_protocol_versions().map_err(unusable)?;
    Ok(tls.with_root_certificates(roots).with_no_client_auth())
}

/// Why there is no response: the innermost cause. What the peer sent is not part of it.
fn reason(problem: &reqwest::Error) -> String {
    let mut innermost = problem.source();
    while let Some(source) = innermost.and_then(|cause| cause.source()) {
        innermost = Some(source);
    }
    let cause = innermost.map_or_else(|| "the request failed".to_owned(), ToString::to_string);
    let what = match problem.is_connect() {
        true => "could not be reached",
        false if problem.is_timeout() => "did not answer in time",
        false => "did not answer",
    };
    format!("{what}: {cause}")
}

/// Whether the peer's certificate is not trusted: the next attempt would meet the same one.
fn is_distrusted(problem: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(problem.source(), |cause| std::error::Error::source(*cause));
    causes.any(|cause| matches!(tls_error(cause), Some(rustls::Error::InvalidCertificate(_))))
}

/// The TLS error inside I/O errors: one does not report what it wraps as its source, and may wrap another I/O error.
fn tls_error<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    match cause.downcast_ref::<std::io::Error>() {
        Some(io) => tls_error(io.get_ref()?),
        None => cause.downcast_ref(),
    }
}
