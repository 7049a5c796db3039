//! HTTP client: HTTP/1.1 over TLS, with timeouts, proxies, and a connection pool (keep-alive) for queries.
//!
//! For why HTTP is implemented here and not by each language's client see `docs/adr/0001-http-in-rust.md`.

use std::{
    borrow::Cow,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use ::http::{
    HeaderMap, HeaderValue,
    header::{
        ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER,
    },
};
use bytes::Bytes;
use reqwest::Response as HttpResponse;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::AbortHandle,
    time::Instant,
};
use url::Url;

use super::{
    Boxed, Failure, Request, Transport,
    http_error::{Target, causes},
};
use crate::{
    config::peer::Peer,
    error::PaymentError,
    response::{MOST_BYTES, Response},
    secret::{Secret, SecretBytes},
    transport::{clients::Clients, connection, runtime},
};

/// The `Accept` header. Prefer JSON; the QR image is a PNG.
const ACCEPTED: &str = "application/json, */*;q=0.5";

/// The longest `Retry-After` that is obeyed. One response with an hour must not stop the queries of all payments for an hour: a query after
/// a minute shows whether it still holds.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(crate) struct HttpTransport {
    process: u32,
    peer: &'static str,
    runtime: Handle,
    exchanger: Arc<Exchanger>,
}

struct Exchanger {
    base_url: Url,
    /// The URLs without a query, by path: as many as endpoints.
    addresses: RwLock<Vec<(&'static str, Url)>>,
    /// The headers of each request: without a body, and with one.
    headers: [HeaderMap; 2],
    clients: Clients,
    target: Target,
}

impl HttpTransport {
    pub(crate) fn new(peer: Peer<'_>) -> Result<Self, PaymentError> {
        let runtime = runtime::handle()?;
        let exchanger = Exchanger {
            clients: Clients::new(&peer, &runtime)?,
            target: Target::of(&peer),
            headers: headers(peer.basic_token.map(|token| authorization("Basic", &token)).transpose()?),
            base_url: peer.base_url,
            addresses: RwLock::default(),
        };
        Ok(Self { process: std::process::id(), peer: peer.name, runtime, exchanger: Arc::new(exchanger) })
    }
}

impl Transport for HttpTransport {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>> {
        let exchanger = self.exchanger.clone();
        Box::pin(connection::of(request.clone(), async move { exchanger.exchange(&request).await }))
    }

    fn check(&self) -> Result<(), PaymentError> {
        // Fork safety: the threads stayed in the parent, so a call would wait forever, and connections must not be
        // shared.
        if self.process == std::process::id() {
            Ok(())
        } else {
            Err(PaymentError::misconfigured(format!(
                "the {} was made before the process was forked; make one after the fork",
                self.peer
            )))
        }
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, moment: Instant) -> Boxed<()> {
        // A timer belongs to the runtime in which it is made; it may be awaited anywhere.
        let _inside = self.runtime.enter();
        Box::pin(tokio::time::sleep_until(moment))
    }

    fn can_query_here(&self) -> bool {
        self.exchanger.clients.can_be_driven_here()
    }

    fn cannot_query_here(&self) {
        self.exchanger.clients.cannot_be_driven_here();
    }

    fn spawn(&self, task: Boxed<()>) -> AbortHandle {
        self.runtime.spawn(task).abort_handle()
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> Boxed<()> {
        let work = self.runtime.spawn_blocking(work);
        Box::pin(async move { drop(work.await) })
    }

    fn block_in_task(&self, work: &mut dyn FnMut()) {
        tokio::task::block_in_place(work);
    }

    fn jitter(&self, most: Duration) -> Duration {
        most.mul_f64(fastrand::f64())
    }
}

impl Exchanger {
    async fn exchange(&self, request: &Request) -> Result<Response, Failure> {
        let client = match &request.own_connection {
            Some(connection) => self.clients.observed(connection.clone()),
            None => {
                look_at_connections().await;
                self.clients.kept_alive()
            }
        };
        let client = client.map_err(|problem| Failure::Misconfigured { detail: causes(&problem) })?;
        let sent = |problem: &reqwest::Error| {
            request.own_connection.as_ref().map_or_else(|| !problem.is_connect(), |own| own.is_established())
        };
        let failure = |problem: &reqwest::Error, sent| self.target.failure(problem, sent, request.progress.stage());
        let incoming =
            client.execute(self.message(request)).await.map_err(|problem| failure(&problem, sent(&problem)))?;
        read(incoming).await.map_err(|problem| failure(&problem, true))
    }

    fn message(&self, request: &Request) -> reqwest::Request {
        let mut message = reqwest::Request::new(request.method.clone(), self.url(request));
        *message.headers_mut() = self.headers[usize::from(request.body.is_some())].clone();
        // These would replace the fixed ones. Only a checkout's requests have headers of their own, and its transport has no `Authorization`.
        message.headers_mut().extend(request.headers.clone());
        *message.body_mut() = request.body.clone().map(Into::into);
        message
    }

    fn url(&self, request: &Request) -> Url {
        let mut url = match request.path {
            Cow::Borrowed(path) => self.address(path),
            Cow::Owned(ref path) => self.joined(path),
        };
        if let Some(query) = &request.query {
            url.set_query(Some(query));
        }
        url
    }

    fn address(&self, path: &'static str) -> Url {
        let known = self.addresses.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, url)) = known.iter().find(|(known, _)| *known == path) {
            return url.clone();
        }
        drop(known);
        let url = self.joined(path);
        self.addresses.write().unwrap_or_else(PoisonError::into_inner).push((path, url.clone()));
        url
    }

    /// The base address ends with a slash, and has no query.
    fn joined(&self, path: &str) -> Url {
        let mut url = self.base_url.clone();
        url.set_path(&[self.base_url.path(), path].concat());
        url
    }
}

/// The headers of each request, without a body and with one. They are built once, because inserting a header hashes its name.
fn headers(authorization: Option<HeaderValue>) -> [HeaderMap; 2] {
    // With room for what the HTTP client adds: a clone keeps the size of the index.
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    // Nothing here decompresses, and without this header any coding is allowed (RFC 9110, 12.5.3).
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // A status query has its order number in the body, which caches ignore: a cache could return another order's
    // response.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(authorization) = authorization {
        headers.insert(AUTHORIZATION, authorization);
    }
    let mut with_body = headers.clone();
    with_body.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    [headers, with_body]
}

/// Lets a current-thread runtime first notice connections that closed while nothing drove it. Otherwise a query on a connection that the
/// gateway has closed would fail, and be retried after a pause. Other runtimes notice at once, on their threads.
async fn look_at_connections() {
    if Handle::try_current().is_ok_and(|current| current.runtime_flavor() == RuntimeFlavor::CurrentThread) {
        tokio::task::yield_now().await;
    }
}

/// The `Authorization` header: its bytes are wiped when it is dropped, and it is marked as sensitive so that it is
/// never printed.
pub(crate) fn authorization(scheme: &str, token: &Secret) -> Result<HeaderValue, PaymentError> {
    let mut header = SecretBytes::with_capacity(scheme.len() + 1 + token.expose().len());
    header.append(scheme.as_bytes());
    header.append(b" ");
    header.append(token.expose().as_bytes());
    let mut value = HeaderValue::from_maybe_shared(Bytes::from_owner(header))
        .map_err(|_| PaymentError::misconfigured("the credentials cannot be carried by a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

async fn read(mut incoming: HttpResponse) -> Result<Response, reqwest::Error> {
    let mut response = Response {
        http_status: incoming.status().as_u16(),
        retry_after: retry_after(incoming.headers(), SystemTime::now()),
        body: SecretBytes::default(),
        over_limit: false,
        coding: coding(incoming.headers()),
    };
    while let Some(chunk) = incoming.chunk().await? {
        let room = MOST_BYTES - response.body.len();
        response.body.append(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            response.over_limit = true;
            break;
        }
    }
    Ok(response)
}

/// `Content-Encoding`, as one of Kassa's own names, because the header is arbitrary input; `None` for an unencoded body.
fn coding(headers: &HeaderMap) -> Option<&'static str> {
    const KNOWN: [&str; 5] = ["gzip", "br", "deflate", "zstd", "compress"];
    let named = headers.get_all(CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?"));
    let mut codings = named.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase());
    let coding = codings.find(|name| !matches!(name.as_str(), "" | "identity"))?;
    let name = coding.strip_prefix("x-").unwrap_or(&coding);
    Some(KNOWN.into_iter().find(|known| *known == name).unwrap_or("a coding that is not known"))
}

/// `Retry-After` of a rate limit (429) or an outage (503): a number of seconds, or a date. A date is compared with the response's own
/// `Date`, because the clocks of both sides may differ.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let sent = headers.get(DATE).and_then(|value| moment(value.to_str().ok()?));
            let wait = moment(text)? - sent.unwrap_or_else(|| OffsetDateTime::from(now));
            wait.try_into().unwrap_or(Duration::ZERO)
        }
    };
    Some(wait.min(LONGEST_WAIT))
}

fn moment(text: &str) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(text.trim(), &Rfc2822).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        let read = |text| retry_after(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]), now);
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:00 GMT"), Some(Duration::from_secs(23)));
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("18446744073709551615"), Some(LONGEST_WAIT));
        assert_eq!(read("soon"), None);
        let of = |date, after| {
            let values = [(DATE, date), (RETRY_AFTER, after)];
            retry_after(&values.map(|(name, value)| (name, HeaderValue::from_static(value))).into_iter().collect(), now)
        };
        // The gateway's clock is hours ahead; or it writes the time in Bishkek, and calls it GMT.
        let ahead = of("Sun, 06 Nov 1994 15:10:00 GMT", "Sun, 06 Nov 1994 15:10:20 GMT");
        assert_eq!(ahead, Some(Duration::from_secs(20)));
        assert_eq!(of("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 14:50:00 GMT"), Some(LONGEST_WAIT));
        assert_eq!(of("yesterday", "Sun, 06 Nov 1994 08:50:00 GMT"), Some(Duration::from_secs(23)));
    }

    #[test]
    fn coding_is_named_and_never_quoted() {
        let read = |texts: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for &text in texts {
                headers.append(CONTENT_ENCODING, HeaderValue::from_static(text));
            }
            coding(&headers)
        };
        for (texts, named) in [
            (vec![], None),
            (vec!["identity"], None),
            (vec!["", "Identity , identity"], None),
            (vec!["GZIP"], Some("gzip")),
            (vec!["x-gzip"], Some("gzip")),
            (vec!["identity", "br"], Some("br")),
            (vec!["identity, zstd"], Some("zstd")),
            (vec!["hunter2"], Some("a coding that is not known")),
        ] {
            assert_eq!(read(&texts), named, "{texts:?}");
        }
    }

    /// Cancelled at the last moment: the connection is established, and nothing may be written to it.
    #[tokio::test]
    async fn late_connection_carries_no_request() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let config = crate::GatewayConfig::new(url, crate::Credentials::basic("a", "b"));
        let transport = HttpTransport::new(config.peer().unwrap()).unwrap();
        let request = Request {
            method: ::http::Method::POST,
            path: "api/v1.1.0/payment".into(),
            headers: HeaderMap::new(),
            query: None,
            body: Some(Bytes::from_static(b"{}")),
            own_connection: Some(Arc::default()),
            progress: Default::default(),
        };
        assert!(request.give_up());
        let exchange = transport.runtime.spawn(transport.exchange(Arc::new(request)));
        let accepted = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut listener.accept().unwrap().0, &mut bytes).unwrap();
            bytes
        });
        assert!(accepted.await.unwrap().is_empty());
        assert!(matches!(exchange.await.unwrap(), Err(Failure::NotConnected { .. })));
    }
}
