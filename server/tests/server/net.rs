//! The line to callers over real sockets: what holds its place too long is hung up on, and nobody else notices.

use std::{
    fs::{self, File},
    future::pending,
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{Extension, Router, routing::get};
use base64::{Engine, engine::general_purpose::STANDARD};
use kassa_server::{Listener, ListenerSettings, Metrics, NetError, Peer, TlsFiles};
use kassa_test_patience::{patience, wait_for_async, wait_until_async};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::timeout,
};
use tokio_rustls::TlsConnector;

const SOON: Duration = Duration::from_millis(50);
/// A limit that strikes in no test.
const NEVER: Duration = Duration::from_secs(24 * 3600);
const HELLO: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

/// None of the limits strikes.
fn settings() -> ListenerSettings {
    let mut settings = ListenerSettings::new(([127, 0, 0, 1], 0).into());
    (settings.handshake_limit, settings.first_head_limit, settings.idle_limit) = (NEVER, NEVER, NEVER);
    settings
}

fn hello() -> Router {
    Router::new().route("/", get(|Extension(Peer(peer)): Extension<Peer>| async move { format!("hello {peer}") }))
}

async fn serving(settings: ListenerSettings) -> SocketAddr {
    let listener = Listener::bind(settings).await.unwrap();
    let address = listener.address();
    tokio::spawn(listener.serve(hello(), pending(), NEVER));
    address
}

/// What is answered when the test says so.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<Notify>,
    finish: Arc<Notify>,
}

impl Slow {
    fn router(&self) -> Router {
        let slow = self.clone();
        let answer = move || {
            let slow = slow.clone();
            async move {
                slow.begun.notify_one();
                slow.finish.notified().await;
                "done"
            }
        };
        hello().route("/slow", get(answer))
    }

    /// A connection with a request that is under way, and is its last one.
    async fn ask(&self, address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        timeout(patience(), self.begun.notified()).await.expect("it is begun");
        stream
    }
}

/// A server of few connections, all of which one address may hold.
async fn serving_few(max_connections: usize) -> (SocketAddr, Slow) {
    let mut settings = settings();
    settings.max_connections = max_connections;
    settings.proxies = "127.0.0.1".parse().unwrap();
    let (listener, slow) = (Listener::bind(settings).await.unwrap(), Slow::default());
    let address = listener.address();
    tokio::spawn(listener.serve(slow.router(), pending(), NEVER));
    (address, slow)
}

/// All that is heard until the connection is closed.
async fn rest(stream: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    let ended = timeout(patience(), stream.read_to_end(&mut heard)).await.expect("nobody hung up");
    // A connection that is closed with something unread is reset.
    drop(ended);
    String::from_utf8(heard).unwrap()
}

async fn heard(address: SocketAddr, said: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(said).await.unwrap();
    rest(&mut stream).await
}

/// One answer on a connection that stays open; nothing where it was closed.
async fn answered(stream: &mut TcpStream) -> Option<String> {
    stream.write_all(HELLO).await.ok()?;
    let mut heard = Vec::new();
    loop {
        let mut buffer = [0; 1024];
        let count = timeout(patience(), stream.read(&mut buffer)).await.expect("an answer or an end").unwrap_or(0);
        heard.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&heard).into_owned();
        if count == 0 {
            return None;
        }
        if text.contains("hello ") {
            return Some(text);
        }
    }
}

#[tokio::test]
async fn each_request_knows_its_peer() {
    let mut stream = TcpStream::connect(serving(settings()).await).await.unwrap();
    for _ in 0..3 {
        assert!(answered(&mut stream).await.unwrap().ends_with("hello 127.0.0.1"));
    }
}

#[tokio::test]
async fn connection_without_first_request_is_closed() {
    let mut settings = settings();
    settings.first_head_limit = SOON;
    let address = serving(settings).await;
    assert_eq!(heard(address, b"").await, "");
    assert_eq!(heard(address, b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ").await, "");
}

#[tokio::test]
async fn idle_connection_is_closed() {
    let mut settings = settings();
    settings.idle_limit = SOON;
    let address = serving(settings).await;
    for begun in [b"".as_slice(), b"GET / HTTP/1.1\r\nx-slow: "] {
        // On a slow machine even a request that is sent at once may come after the limit.
        let heard = wait_for_async("a request comes in time", async || {
            Some(heard(address, &[HELLO, begun].concat()).await).filter(|heard| !heard.is_empty())
        })
        .await;
        assert!(heard.starts_with("HTTP/1.1 200 OK") && heard.ends_with("hello 127.0.0.1"), "{heard}");
    }
}

#[tokio::test]
async fn endless_request_head_is_rejected() {
    let address = serving(settings()).await;
    let endless = format!("GET / HTTP/1.1\r\nhost: x\r\nx-long: {}", "x".repeat(64 * 1024));
    let heard = heard(address, endless.as_bytes()).await;
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 431"), "{heard}");
}

#[tokio::test]
async fn connection_over_limit_is_closed() {
    let (address, slow) = serving_few(2).await;
    let (mut first, mut second) = (slow.ask(address).await, slow.ask(address).await);
    assert_eq!(rest(&mut TcpStream::connect(address).await.unwrap()).await, "");
    slow.finish.notify_waiters();
    assert!(rest(&mut first).await.ends_with("done") && rest(&mut second).await.ends_with("done"));
    // When the server has seen that it ended.
    wait_until_async("a place is free again", async || {
        answered(&mut TcpStream::connect(address).await.unwrap()).await.is_some()
    })
    .await;
}

#[tokio::test]
async fn new_connection_replaces_longest_idle() {
    let (address, _) = serving_few(2).await;
    let mut first = TcpStream::connect(address).await.unwrap();
    let mut second = TcpStream::connect(address).await.unwrap();
    assert!(answered(&mut second).await.is_some() && answered(&mut first).await.is_some());
    assert!(answered(&mut second).await.is_some());
    let mut third = TcpStream::connect(address).await.unwrap();
    assert!(answered(&mut third).await.is_some());
    assert_eq!(rest(&mut first).await, "");
    assert!(answered(&mut second).await.is_some(), "it brought a request since");
}

/// From another address of this machine: Linux has all of 127.0.0.0/8.
#[cfg(target_os = "linux")]
async fn connected_from(last: u8, address: SocketAddr) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, last], 0).into()).unwrap();
    socket.connect(address).await.unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn silent_connections_block_no_other_address() {
    let mut settings = settings();
    settings.max_connections = 8;
    let (listener, slow) = (Listener::bind(settings).await.unwrap(), Slow::default());
    let (address, metrics) = (listener.address(), Arc::new(Metrics::default()));
    tokio::spawn(listener.counted_by(metrics.clone()).serve(slow.router(), pending(), NEVER));
    let reached = |limit: &str| {
        let (text, name) = (metrics.text(true, None), format!("kassa_limit_reached_total{{limit=\"{limit}\"}} "));
        let count = text.lines().find_map(|line| line.strip_prefix(name.as_str())).unwrap().to_owned();
        count.parse::<u64>().unwrap()
    };

    let mut under_way = slow.ask(address).await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    // Its share is four.
    let mut others = Vec::new();
    for _ in 0..4 {
        let mut other = connected_from(2, address).await;
        assert!(answered(&mut other).await.unwrap().ends_with("hello 127.0.0.2"));
        others.push(other);
    }
    assert_eq!(rest(&mut silent[0]).await, "");
    assert_eq!((reached("connections_of_address"), reached("connections")), (97, 0));

    for last in [3, 4] {
        for _ in 0..100 {
            silent.push(connected_from(last, address).await);
        }
    }
    let mut other = connected_from(5, address).await;
    assert!(answered(&mut other).await.unwrap().ends_with("hello 127.0.0.5"));
    assert!(reached("connections") > 0);
    slow.finish.notify_one();
    assert!(rest(&mut under_way).await.ends_with("done"), "whoever is being answered is not cut off");
}

#[tokio::test]
async fn handler_panic_closes_only_its_connection() {
    let listener = Listener::bind(settings()).await.unwrap();
    let address = listener.address();
    let router = hello().route("/panic", get(|| async { panic!("on purpose") as &'static str }));
    tokio::spawn(listener.serve(router, pending(), NEVER));
    assert_eq!(heard(address, b"GET /panic HTTP/1.1\r\nhost: x\r\n\r\n").await, "");
    assert!(answered(&mut TcpStream::connect(address).await.unwrap()).await.is_some());
}

/// A server with a request that ends when the test says so.
struct Stopping {
    address: SocketAddr,
    begun: Arc<Notify>,
    finish: Arc<Notify>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

async fn stopping(patience: Duration) -> Stopping {
    let listener = Listener::bind(settings()).await.unwrap();
    let address = listener.address();
    let slow = Slow::default();
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(listener.serve(slow.router(), async move { drop(stopped.await) }, patience));
    Stopping { address, begun: slow.begun, finish: slow.finish, stop, served }
}

#[tokio::test]
async fn shutdown_finishes_requests_and_accepts_none() {
    let server = stopping(NEVER).await;
    let (mut idle, mut silent) =
        (TcpStream::connect(server.address).await.unwrap(), TcpStream::connect(server.address).await.unwrap());
    answered(&mut idle).await.unwrap();
    let slow = tokio::spawn(async move { heard(server.address, b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await });
    server.begun.notified().await;
    server.stop.send(()).unwrap();
    assert_eq!(rest(&mut idle).await, "");
    assert_eq!(rest(&mut silent).await, "");
    assert!(TcpStream::connect(server.address).await.is_err());
    assert!(!server.served.is_finished(), "one is under way");
    server.finish.notify_one();
    assert!(slow.await.unwrap().ends_with("done"));
    timeout(patience(), server.served).await.unwrap().unwrap();
}

#[tokio::test]
async fn shutdown_cuts_off_requests_after_grace_period() {
    let server = stopping(SOON).await;
    let slow = tokio::spawn(async move { heard(server.address, b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await });
    server.begun.notified().await;
    server.stop.send(()).unwrap();
    timeout(patience(), server.served).await.unwrap().unwrap();
    assert_eq!(slow.await.unwrap(), "", "it was cut off");
}

#[tokio::test]
async fn listen_address_in_use_is_named() {
    let address = serving(settings()).await;
    let problem = Listener::bind(ListenerSettings::new(address)).await.err().unwrap();
    assert!(matches!(problem, NetError::Listen { address: named, .. } if named == address), "{problem}");
}

/// A certificate and its key, as files have them.
struct Pair {
    certificate: String,
    key: String,
    /// What a client trusts.
    der: CertificateDer<'static>,
}

impl Pair {
    fn new() -> Self {
        let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let der = own.cert.der().clone();
        let key = pem("PRIVATE KEY", &own.signing_key.serialize_der());
        Self { certificate: pem("CERTIFICATE", &der), key, der }
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

/// Writes a new pair. `age` makes each one's files different ones.
fn write_pair(files: &TlsFiles, age: u64) -> CertificateDer<'static> {
    let own = Pair::new();
    write(&files.certificate, &own.certificate, age);
    write(&files.key, &own.key, age);
    own.der
}

fn write(path: &Path, text: &str, age: u64) {
    fs::write(path, text).unwrap();
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + age);
    File::options().write(true).open(path).unwrap().set_modified(changed).unwrap();
}

fn tls() -> (TempDir, TlsFiles, ListenerSettings) {
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    let mut settings = settings();
    settings.tls = Some(files.clone());
    settings.renewal_check = Duration::ZERO;
    (folder, files, settings)
}

/// What a client hears that trusts this certificate alone.
async fn heard_by_tls(address: SocketAddr, trusted: &CertificateDer<'static>) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let stream = TcpStream::connect(address).await?;
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await?;
    let mut heard = String::new();
    timeout(patience(), stream.read_to_string(&mut heard)).await.expect("an end")?;
    Ok(heard)
}

#[tokio::test]
async fn renewed_certificate_is_loaded_if_valid() {
    let (_folder, files, settings) = tls();
    let first = write_pair(&files, 1);
    let address = serving(settings).await;
    assert!(heard_by_tls(address, &first).await.unwrap().ends_with("hello 127.0.0.1"));
    // The certificate is there already, and its key is not.
    let own = Pair::new();
    write(&files.certificate, &own.certificate, 2);
    assert!(heard_by_tls(address, &first).await.is_ok());
    write(&files.key, &own.key, 2);
    assert!(heard_by_tls(address, &own.der).await.is_ok());
    assert!(heard_by_tls(address, &first).await.is_err());
    fs::remove_file(&files.key).unwrap();
    write(&files.certificate, "nothing", 3);
    assert!(heard_by_tls(address, &own.der).await.is_ok());
    let third = write_pair(&files, 4);
    assert!(heard_by_tls(address, &third).await.is_ok());
}

#[tokio::test]
async fn stalled_tls_handshake_is_closed() {
    let (_folder, files, mut settings) = tls();
    let trusted = write_pair(&files, 1);
    let address = serving(settings.clone()).await;
    let _silent = TcpStream::connect(address).await.unwrap();
    assert!(heard_by_tls(address, &trusted).await.is_ok());
    settings.handshake_limit = SOON;
    assert_eq!(heard(serving(settings).await, b"").await, "");
}

#[tokio::test]
async fn unusable_tls_file_error_names_setting() {
    let (_folder, files, settings) = tls();
    let named = async || match Listener::bind(settings.clone()).await {
        Err(NetError::File { setting, .. }) => setting,
        other => panic!("{:?}", other.err()),
    };
    assert_eq!(named().await, "tls.certificate", "none is there");
    write_pair(&files, 1);
    fs::remove_file(&files.key).unwrap();
    assert_eq!(named().await, "tls.key");
    let others = Pair::new();
    write(&files.key, &others.key, 1);
    assert_eq!(named().await, "tls.key", "another one's");
    write(&files.certificate, &others.key, 1);
    assert_eq!(named().await, "tls.certificate", "a key in its place");
}
