//! HTTP: the client, a small server in front of another one, and requests that break off.

use std::{io, net::Ipv4Addr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderName, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use reqwest::{Client, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use url::Url;

/// The timeout for a shop's answer, as in kassa-server.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(15);
/// The largest body that is forwarded.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// A client that follows no redirect and uses no proxy.
pub(crate) fn client() -> Result<Client, String> {
    let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // No idle connections: a shop may close them, and a request on one that is being closed would fail.
    let builder = Client::builder().tls_backend_preconfigured(tls).redirect(redirect::Policy::none()).no_proxy();
    let builder = builder.pool_max_idle_per_host(0);
    builder.timeout(ANSWER_LIMIT).build().map_err(|error| error.to_string())
}

/// A complete incoming request.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Listens on this port of the loopback address, or on a free port if it is 0.
pub(crate) async fn listen(port: u16) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Passes every request to a function until this program ends.
pub(crate) fn serve<F, A>(listener: TcpListener, answer: F)
where
    F: Fn(Received) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Response> + Send + 'static,
{
    let handler = move |request: Request| {
        let answer = answer.clone();
        async move {
            let (head, body) = request.into_parts();
            let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
            match axum::body::to_bytes(body, MAX_BODY).await {
                Ok(body) => answer(Received { method: head.method, target, headers: head.headers, body }).await,
                Err(_) => StatusCode::BAD_REQUEST.into_response(),
            }
        }
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(handler)).await });
}

/// Headers that belong to one connection.
const OF_THE_CONNECTION: [HeaderName; 4] =
    [header::HOST, header::CONTENT_LENGTH, header::CONNECTION, header::TRANSFER_ENCODING];

/// A complete answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl IntoResponse for Answer {
    fn into_response(mut self) -> Response {
        for name in OF_THE_CONNECTION {
            self.headers.remove(name);
        }
        (StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY), self.headers, self.body).into_response()
    }
}

/// Forwards a request to another server.
pub(crate) async fn forward(client: &Client, base: &str, received: &Received) -> Result<Answer, String> {
    let mut headers = received.headers.clone();
    for name in OF_THE_CONNECTION {
        headers.remove(name);
    }
    let request = client.request(received.method.clone(), format!("{base}{}", received.target)).headers(headers);
    complete(request.body(received.body.clone())).await
}

/// Sends a request, and reads the whole answer.
pub(crate) async fn complete(request: reqwest::RequestBuilder) -> Result<Answer, String> {
    let failed = |error: reqwest::Error| {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    };
    let answer = request.send().await.map_err(failed)?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Ok(Answer { status, headers, body: answer.bytes().await.map_err(failed)? })
}

/// How a request over a plain connection breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakOff {
    /// The body ends in the middle.
    InBody,
    /// The head ends in the middle.
    InHead,
    /// All is sent, and the connection is closed before the answer.
    BeforeAnswer,
    /// All is sent in small pieces, and the answer is read.
    Slowly,
}

/// Sends a request over a connection of its own, and breaks off.
pub(crate) async fn break_off(url: &str, headers: &[(String, String)], body: &[u8], how: BreakOff) -> io::Result<()> {
    let url = Url::parse(url).map_err(io::Error::other)?;
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80));
    let mut connection = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let mut head = format!(
        "POST {} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\nContent-Length: {}\r\n",
        url.path(),
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    match how {
        BreakOff::InHead => connection.write_all(&head.as_bytes()[..head.len() / 2]).await?,
        BreakOff::InBody => {
            connection.write_all(head.as_bytes()).await?;
            connection.write_all(&body[..body.len() / 2]).await?;
        }
        BreakOff::BeforeAnswer => connection.write_all(&[head.as_bytes(), body].concat()).await?,
        BreakOff::Slowly => {
            connection.write_all(head.as_bytes()).await?;
            for piece in body.chunks(body.len().div_ceil(8).max(1)) {
                connection.write_all(piece).await?;
                connection.flush().await?;
                sleep(Duration::from_millis(50)).await;
            }
            let mut answer = Vec::new();
            let _cut = timeout(ANSWER_LIMIT, connection.read_to_end(&mut answer)).await;
        }
    }
    connection.flush().await
}
