//! A served server, and a client of it: one connection a request.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use kassa::{Dialect, FakeGateway, Gateway};
use kassa_server::{
    ApiKeyId, HttpSettings, Listener, ListenerSettings, Merchant, Server, ServerSettings, SqliteStorage, Storage,
    TokioRuntime, pay_router, router, staff_router,
};
use kassa_test_patience::{patient, wait_until};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Handle,
};

/// A server that is served until this is dropped.
pub struct Served {
    pub fake: FakeGateway,
    pub server: Server,
    storage: SqliteStorage,
    pub address: SocketAddr,
    /// A good API key.
    pub key: String,
    folder: Arc<TempDir>,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// The name of the problem.
    pub fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body = self.json();
        assert_eq!(body["status"], self.status, "{self:?}");
        body["type"].as_str().unwrap().strip_prefix("urn:kassa:problem:").unwrap().to_owned()
    }

    /// The fields that break rules, with the rules.
    pub fn broken(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let body = self.json();
        let violations = body["violations"].as_array().cloned().unwrap_or_default();
        violations.iter().map(|one| (text(&one["field"]), text(&one["rule"]))).collect()
    }
}

impl Served {
    pub async fn start() -> Self {
        Self::with(|_, _| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut ServerSettings, &mut HttpSettings)) -> Self {
        let fake = FakeGateway::new().unwrap();
        let gateway = fake.gateway();
        Self::over(fake, gateway, Arc::new(tempfile::tempdir().unwrap()), change).await
    }

    /// On a storage of the test's.
    pub async fn on(storage: SqliteStorage) -> Self {
        let fake = FakeGateway::new().unwrap();
        let gateway = fake.gateway();
        Self::serve(fake, gateway, Arc::new(tempfile::tempdir().unwrap()), storage, |_, _| {}).await
    }

    /// That takes MegaPay payments.
    pub async fn with_megapay() -> Self {
        Self::with(|server, _| take_megapay(server)).await
    }

    /// With this gateway: the one in memory gets no request.
    pub async fn with_gateway(gateway: Gateway) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::over(FakeGateway::new().unwrap(), gateway, folder, |_, _| {}).await
    }

    /// The next start on the same database, after this one was stopped.
    pub async fn again(&self) -> Self {
        self.again_with(|_, _| {}).await
    }

    /// The same with other settings.
    pub async fn again_with(&self, change: impl FnOnce(&mut ServerSettings, &mut HttpSettings)) -> Self {
        self.server.stop().await;
        Self::over(self.fake.clone(), self.fake.gateway(), self.folder.clone(), change).await
    }

    async fn over(
        fake: FakeGateway,
        gateway: Gateway,
        folder: Arc<TempDir>,
        change: impl FnOnce(&mut ServerSettings, &mut HttpSettings),
    ) -> Self {
        let storage = SqliteStorage::open(&folder.path().join("kassa.db")).unwrap();
        Self::serve(fake, gateway, folder, storage, change).await
    }

    async fn serve(
        fake: FakeGateway,
        gateway: Gateway,
        folder: Arc<TempDir>,
        storage: SqliteStorage,
        change: impl FnOnce(&mut ServerSettings, &mut HttpSettings),
    ) -> Self {
        let listener = Listener::bind(ListenerSettings::new("127.0.0.1:0".parse().unwrap())).await.unwrap();
        let address = listener.address();
        let mut settings = ServerSettings::new(format!("http://{address}/callbacks"));
        let mut http = HttpSettings::new(format!("http://{address}"));
        http.has_pay_page = true;
        change(&mut settings, &mut http);
        let runtime = Arc::new(TokioRuntime::on(Handle::current()));
        let server = Server::new(Arc::new(storage.clone()), Arc::new(gateway), runtime, settings, None).unwrap();
        server.run();
        let mut router = router(server.clone(), http.clone());
        if http.has_pay_page {
            router = router.merge(pay_router(server.clone(), http.clone(), &Merchant::default()));
        }
        let router = router.merge(staff_router(server.clone(), http));
        tokio::spawn(listener.serve(router, std::future::pending(), Duration::ZERO));
        let key = server.new_api_key("tests").await.unwrap().expose();
        Self { fake, server, storage, address, key, folder }
    }

    /// A request with these headers, and a body where it is not empty.
    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send_bytes(method, path, headers, body.as_bytes()).await
    }

    /// The same with a body that may be no text.
    pub async fn send_bytes(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: kassa\r\nconnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        let request = [text.as_bytes(), body].concat();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(&request).await.unwrap();
        let mut read = Vec::new();
        stream.read_to_end(&mut read).await.unwrap();
        let read = String::from_utf8(read).unwrap();
        let (head, text) = read.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), text: text.to_owned() }
    }

    /// A request with a key or token.
    pub async fn call(&self, credential: &str, method: &str, path: &str, body: &Value) -> Answer {
        self.call_with(credential, method, path, &[], body).await
    }

    /// The same with more headers.
    pub async fn call_with(
        &self,
        credential: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        let authorization = format!("Bearer {credential}");
        let mut all = vec![("authorization", authorization.as_str())];
        all.extend_from_slice(headers);
        let text = if body.is_null() { String::new() } else { body.to_string() };
        if !text.is_empty() {
            all.push(("content-type", "application/json"));
        }
        self.send(method, path, &all, &text).await
    }

    /// What a shop reads.
    pub async fn shop(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.call(&self.key, method, path, body).await
    }

    /// The database itself, for what no test can wait for.
    pub fn database(&self) -> Connection {
        let database = Connection::open(self.folder.path().join("kassa.db")).unwrap();
        database.busy_timeout(patient(Duration::from_secs(10))).unwrap();
        database
    }

    /// Revokes a key.
    pub async fn revoke(&self, id: &ApiKeyId) {
        assert!(self.storage.revoke_api_key(id.clone()).await.unwrap());
    }

    /// A checkout's identifier and a token for it.
    pub async fn opened(&self, reference: &str) -> (String, String) {
        let made = self.shop("POST", "/v1/checkouts", &order(reference)).await;
        assert_eq!(made.status, 201, "{made:?}");
        let id = made.json()["id"].as_str().unwrap().to_owned();
        let token = self.shop("POST", &format!("/v1/checkouts/{id}/tokens"), &Value::Null).await;
        assert_eq!(token.status, 201, "{token:?}");
        let token = token.json()["token"].as_str().unwrap().to_owned();
        (id, token)
    }

    /// Empties the log with the newest commits, which holds what was written before.
    pub fn checkpoint(&self) {
        let database = self.database();
        wait_until("nobody reads the log", || {
            let blocked = database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
            blocked == Ok(0)
        });
    }

    /// The bytes of the database's files.
    pub fn files(&self) -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    }

    /// Begins a payment with an idempotency key.
    pub async fn pay(&self, token: &str, key: &str, body: &Value) -> Answer {
        self.call_with(token, "POST", "/v1/checkout/payments", &[("idempotency-key", key)], body).await
    }
}

/// Turns MegaPay payments on.
pub fn take_megapay(server: &mut ServerSettings) {
    server.megapay_account = Some("17".to_owned());
    server.dialect = Dialect::from_json(r#"{"megapay": {"check_method": "POST"}}"#).unwrap();
}

/// What opens a checkout.
pub fn order(reference: &str) -> Value {
    json!({
        "reference": reference, "amount": "390", "description": "Two tickets",
        "return_url": "https://shop.example.kg/paid",
    })
}
