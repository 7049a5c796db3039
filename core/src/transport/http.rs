//! HTTP client: HTTP/1.1 over TLS on Kassa's own runtime, with timeouts, proxies, and a connection pool (keep-alive)
//! for queries.
//!
//! Why HTTP is done here and not by each language's client: `docs/adr/0001-http-in-rust.md`.

use std::{
    error::Error,
    sync::Arc,
    time::{Duration, SystemTime},
};

use ::http::{
    HeaderValue,
    header::{ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, USER_AGENT},
};
use bytes::Bytes;
use reqwest::{Client, ClientBuilder, Response, redirect, retry};
use time::{OffsetDateTime, format_description::well_known::Rfc2822};
use tokio::{runtime::Handle, task::AbortHandle, time::Instant};
use url::Url;

use super::{Boxed, Connection, Failure, Observer, Request, Transport, runtime, tls};
use crate::{
    config::{
        peer::Peer,
        proxy::{Way, unusable_proxy},
    },
    reply::Reply,
    values::{
        error::PaymentError,
        secret::{Secret, SecretBytes},
    },
};

/// The size limit of a reply. No reply in `docs/interface.md` comes near it, and a longer one must not fill a phone's
/// memory.
const MOST_BYTES: usize = 1024 * 1024;

/// The `Accept` header. Prefer JSON; the QR image is a PNG.
const ACCEPTED: &str = "application/json, */*;q=0.5";

/// Connection pool: how long a kept-alive connection may be idle. Only queries use the pool. A dead connection costs
/// them a retry, but could lose the answer of a payment, and no client can know in advance that it is dead
/// (`docs/adr/0001-http-in-rust.md`).
const IDLE_CONNECTIONS: Duration = Duration::from_secs(60);

/// The longest `Retry-After` that is taken seriously. More can only be a mistake, and might not fit into a caller's
/// clock.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct HttpTransport {
    process: u32,
    peer: &'static str,
    runtime: Handle,
    exchanger: Arc<Exchanger>,
}

struct Exchanger {
    base_url: Url,
    authorization: Option<HeaderValue>,
    clients: Clients,
    kept_alive: Client,
}

/// Makes HTTP clients that are all set up alike.
struct Clients {
    tls: rustls::ClientConfig,
    proxy: Option<reqwest::Proxy>,
    environment_proxies: bool,
    connect_timeout: Duration,
    user_agent: HeaderValue,
}

impl HttpTransport {
    pub(crate) fn new(peer: Peer<'_>) -> Result<Self, PaymentError> {
        let clients = Clients::new(&peer)?;
        let kept_alive = clients.builder().pool_idle_timeout(IDLE_CONNECTIONS).build().map_err(|problem| {
            PaymentError::misconfigured(format!("the HTTP client could not be set up: {}", causes(&problem)))
        })?;
        let exchanger = Exchanger {
            authorization: peer.basic_token.map(|token| authorization("Basic", &token)).transpose()?,
            base_url: peer.base_url,
            clients,
            kept_alive,
        };
        let runtime = runtime::handle()?;
        Ok(Self { process: std::process::id(), peer: peer.name, runtime, exchanger: Arc::new(exchanger) })
    }
}

impl Transport for HttpTransport {
    fn exchange(&self, request: Arc<Request>, connection: Arc<Connection>) -> Boxed<Result<Reply, Failure>> {
        let exchanger = self.exchanger.clone();
        Box::pin(async move { exchanger.exchange(&request, &connection).await })
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
    async fn exchange(&self, request: &Request, connection: &Arc<Connection>) -> Result<Reply, Failure> {
        let client = if request.own_connection {
            // No pool: a fresh client makes a fresh connection, and the observer hears when it is established.
            let observed =
                self.clients.builder().pool_max_idle_per_host(0).connector_layer(Observer(connection.clone()));
            observed.build().map_err(|problem| Failure::Misconfigured { detail: causes(&problem) })?
        } else {
            self.kept_alive.clone()
        };
        let mut sending = client
            .request(request.method.clone(), self.url(request))
            .headers(request.headers.clone())
            .header(ACCEPT, HeaderValue::from_static(ACCEPTED))
            // A status query has its order in the body, where caches do not look: one could answer with another order's
            // reply.
            .header(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(authorization) = &self.authorization {
            sending = sending.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(body) = &request.body {
            sending = sending.header(CONTENT_TYPE, HeaderValue::from_static("application/json")).body(body.clone());
        }
        let sent = |problem: &reqwest::Error| {
            if request.own_connection { connection.is_established() } else { !problem.is_connect() }
        };
        let response = sending.send().await.map_err(|problem| failure(&problem, sent(&problem)))?;
        read(response).await.map_err(|problem| failure(&problem, true))
    }

    /// The base address ends with a slash.
    fn url(&self, request: &Request) -> Url {
        let mut url = self.base_url.clone();
        url.set_path(&[self.base_url.path(), &*request.path].concat());
        url.set_query(request.query.as_deref());
        url
    }
}

impl Clients {
    fn new(peer: &Peer<'_>) -> Result<Self, PaymentError> {
        let proxy = match peer.way {
            // Redaction: the problem is not quoted, as it may hold the proxy's password.
            Way::Url(url) => Some(reqwest::Proxy::all(url.expose()).map_err(|_| unusable_proxy())?),
            Way::Direct | Way::Environment => None,
        };
        let suffix = peer.user_agent_suffix.map(|suffix| format!(" {suffix}")).unwrap_or_default();
        let user_agent = format!("kassa/{}{suffix}", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            tls: tls::client_config(peer.extra_root_certificates)?,
            proxy,
            environment_proxies: matches!(peer.way, Way::Environment),
            connect_timeout: peer.connect_timeout,
            user_agent: HeaderValue::from_str(&user_agent).map_err(|_| {
                PaymentError::misconfigured("user_agent_suffix has a character that a header cannot carry")
            })?,
        })
    }

    fn builder(&self) -> ClientBuilder {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .http1_only()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .connect_timeout(self.connect_timeout)
            .default_headers([(USER_AGENT, self.user_agent.clone())].into_iter().collect());
        if !self.environment_proxies {
            builder = builder.no_proxy();
        }
        match &self.proxy {
            Some(proxy) => builder.proxy(proxy.clone()),
            None => builder,
        }
    }
}

/// The `Authorization` header: its bytes are wiped when it is dropped, and it is marked as sensitive so that nothing
/// prints it.
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

async fn read(mut response: Response) -> Result<Reply, reqwest::Error> {
    let mut reply = Reply {
        http_status: response.status().as_u16(),
        retry_after: response.headers().get(RETRY_AFTER).and_then(|value| retry_after(value, SystemTime::now())),
        body: SecretBytes::default(),
        over_limit: false,
    };
    while let Some(chunk) = response.chunk().await? {
        let room = MOST_BYTES - reply.body.len();
        reply.body.append(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            reply.over_limit = true;
            break;
        }
    }
    Ok(reply)
}

/// `Retry-After`, with which a gateway limits the rate (429) or excuses itself (503): a number of seconds, or a date.
fn retry_after(value: &HeaderValue, now: SystemTime) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    let wait = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let moment = OffsetDateTime::parse(text, &Rfc2822).ok()?;
            (moment - OffsetDateTime::from(now)).try_into().unwrap_or(Duration::ZERO)
        }
    };
    Some(wait.min(LONGEST_WAIT))
}

fn failure(problem: &reqwest::Error, sent: bool) -> Failure {
    let detail = causes(problem);
    if sent {
        Failure::Lost { detail }
    } else if cannot_work(problem) {
        Failure::Misconfigured { detail }
    } else {
        Failure::NotConnected { detail }
    }
}

/// Permanent errors: a certificate that fails, or a proxy that wants a password, will fail again.
fn cannot_work(problem: &reqwest::Error) -> bool {
    chain(problem).any(|cause| {
        matches!(tls_error(cause), Some(rustls::Error::InvalidCertificate(_)))
            // The HTTP client has no public type for it.
            || cause.to_string().ends_with("proxy authorization required")
    })
}

/// The TLS error inside I/O errors: one does not report what it wraps as its source, and may wrap another I/O error.
fn tls_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    match cause.downcast_ref::<std::io::Error>() {
        Some(io) => tls_error(io.get_ref()?),
        None => cause.downcast_ref(),
    }
}

/// The whole chain in one line. The URL is left out: its query holds identifiers.
fn causes(problem: &reqwest::Error) -> String {
    let kind = if problem.is_timeout() {
        "timed out"
    } else if problem.is_connect() {
        "no connection"
    } else {
        "the exchange failed"
    };
    chain(problem).skip(1).fold(kind.to_owned(), |line, cause| format!("{line}: {cause}"))
}

fn chain(problem: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = Some(problem as &(dyn Error + 'static));
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
        let read = |text| retry_after(&HeaderValue::from_static(text), now);
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read("Sun, 06 Nov 1994 08:50:00 GMT"), Some(Duration::from_secs(23)));
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("18446744073709551615"), Some(LONGEST_WAIT));
        assert_eq!(read("soon"), None);
    }

    /// Cancelled at the last moment: the connection is established, and nothing may be written to it.
    #[tokio::test]
    async fn a_connection_that_comes_too_late_carries_nothing() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let config = crate::GatewayConfig::new(url, crate::Credentials::basic("a", "b"));
        let transport = HttpTransport::new(config.peer().unwrap()).unwrap();
        let request = Request {
            method: ::http::Method::POST,
            path: "api/v1.1.0/payment".into(),
            headers: ::http::HeaderMap::new(),
            query: None,
            body: Some(Bytes::from_static(b"{}")),
            own_connection: true,
        };
        let connection = Arc::new(Connection::default());
        assert!(connection.give_up());
        let exchange = transport.runtime.spawn(transport.exchange(Arc::new(request), connection));
        let accepted = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut listener.accept().unwrap().0, &mut bytes).unwrap();
            bytes
        });
        assert!(accepted.await.unwrap().is_empty());
        assert!(matches!(exchange.await.unwrap(), Err(Failure::NotConnected { .. })));
    }
}
