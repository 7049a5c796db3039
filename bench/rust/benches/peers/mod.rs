//! Who asks.

use std::{str::FromStr, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request,
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
    header::{AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use kassa::{Credentials, Gateway, GatewayConfig, PaymentStatus, Provider};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Mutex,
};

const ORDER: &str = "ORDER-1";
const PATH: &str = "/api/v1.1.0/get-status";
const TOKEN: &str = "Basic c2hvcDpzZWNyZXQ=";
const AMOUNT: &str = "100.10";

/// What is asked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    order_number: &'static str,
    provider: &'static str,
}

fn question() -> Vec<u8> {
    serde_json::to_vec(&Question { order_number: ORDER, provider: "Cards" }).expect("plain data")
}

/// What a merchant needs of the report.
#[derive(Deserialize)]
struct Report<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    status: String,
    #[serde(borrow)]
    amount: &'a RawValue,
}

fn check(body: &[u8]) {
    let report: Report<'_> = serde_json::from_slice(body).expect("a report");
    assert_eq!(report.data.status, "CHARGE");
    assert_eq!(Decimal::from_str(report.data.amount.get()), Decimal::from_str(AMOUNT));
}

/// The SDK.
pub struct Kassa(Gateway);

impl Kassa {
    /// For the server at an address.
    pub fn new(url: &str) -> Self {
        Self(Gateway::new(GatewayConfig::new(url, Credentials::basic("shop", "secret"))).expect("a gateway"))
    }

    /// One query.
    pub async fn ask(self: Arc<Self>) {
        let report = self.0.provider_status(ORDER, Provider::Cards).await.expect("a report");
        assert_eq!(report.status, PaymentStatus::Charged);
        assert_eq!(report.amount, Decimal::from_str(AMOUNT).ok());
    }
}

/// The HTTP client that Kassa uses.
pub struct BareReqwest {
    client: reqwest::Client,
    url: String,
}

impl BareReqwest {
    /// For the server at an address.
    pub fn new(url: &str) -> Self {
        // It asks for a configuration of TLS, which this server does without.
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has them")
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let client = reqwest::Client::builder().tls_backend_preconfigured(tls).no_proxy().http1_only().build();
        Self { client: client.expect("a client"), url: format!("{url}{PATH}") }
    }

    /// One query.
    pub async fn ask(self: Arc<Self>) {
        let request = self.client.post(&self.url).header(AUTHORIZATION, TOKEN).header(CONTENT_TYPE, "application/json");
        let response = request.body(question()).send().await.expect("a response");
        check(&response.bytes().await.expect("a whole response"));
    }
}

/// The HTTP implementation under it, with connections in a plain list: no pool, no redirects, no proxies.
#[derive(Clone)]
pub struct BareHyper {
    address: String,
    idle: Arc<Mutex<Vec<SendRequest<Full<Bytes>>>>>,
}

impl BareHyper {
    /// For the server at an address.
    pub fn new(url: &str) -> Self {
        Self { address: url.trim_start_matches("http://").to_owned(), idle: Arc::default() }
    }

    /// One query.
    pub async fn ask(self) {
        let idle = self.idle.lock().await.pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => self.connect().await,
        };
        connection.ready().await.expect("a connection");
        let request = Request::post(PATH)
            .header(HOST, &self.address)
            .header(AUTHORIZATION, TOKEN)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(question())))
            .expect("a request");
        let response = connection.send_request(request).await.expect("a response");
        check(&whole(response.into_body()).await);
        self.idle.lock().await.push(connection);
    }

    async fn connect(&self) -> SendRequest<Full<Bytes>> {
        let stream = connected(&self.address).await;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
        tokio::spawn(connection);
        sender
    }
}

async fn whole(body: Incoming) -> Bytes {
    body.collect().await.expect("a whole response").to_bytes()
}

/// The floor: one write and one read of bytes that were ready before, and nothing looked at.
#[derive(Clone)]
pub struct BareSocket {
    address: String,
    request: Arc<[u8]>,
    idle: Arc<Mutex<Vec<TcpStream>>>,
}

impl BareSocket {
    /// For the server at an address.
    pub fn new(url: &str) -> Self {
        let address = url.trim_start_matches("http://").to_owned();
        let body = question();
        let mut request = format!(
            "POST {PATH} HTTP/1.1\r\nhost: {address}\r\nauthorization: {TOKEN}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend(body);
        Self { address, request: request.into(), idle: Arc::default() }
    }

    /// One query.
    pub async fn ask(self) {
        let idle = self.idle.lock().await.pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => connected(&self.address).await,
        };
        connection.write_all(&self.request).await.expect("a connection");
        let mut response = [0; 4096];
        assert_ne!(connection.read(&mut response).await.expect("a response"), 0, "the server closed the connection");
        self.idle.lock().await.push(connection);
    }
}

async fn connected(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).await.expect("a server");
    stream.set_nodelay(true).expect("a socket");
    stream
}
