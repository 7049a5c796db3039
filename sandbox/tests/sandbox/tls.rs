//! Encrypted connections: the whole interface, the faults included, and what keeps the sandbox from starting.

use std::{
    fs,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa_sandbox::{Fault, Sandbox, SandboxError, SandboxOptions, TlsFiles};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tempfile::TempDir;

use crate::common::{CARD, PATIENCE, basic, card_body, start_with};

/// A certificate for this machine, in files, and a client's trust in it.
struct Identity {
    _folder: TempDir,
    files: TlsFiles,
    trust: Arc<ClientConfig>,
}

impl Identity {
    fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let files = TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
        fs::write(&files.certificate, pem("CERTIFICATE", cert.der())).expect("written");
        fs::write(&files.key, pem("PRIVATE KEY", &signing_key.serialize_der())).expect("written");
        Self { _folder: folder, files, trust: trust(cert.der()) }
    }

    fn start(&self) -> Sandbox {
        start_with(|options| options.tls = Some(self.files.clone()))
    }

    /// The whole answer to a card payment, or as much as came before the connection ended.
    fn pay(&self, sandbox: &Sandbox, order: &str) -> (String, io::Result<()>) {
        let server = ServerName::try_from("127.0.0.1").expect("a name");
        let connection = ClientConnection::new(Arc::clone(&self.trust), server).expect("a client");
        let mut stream = StreamOwned::new(connection, connect(sandbox.address()));
        let body = card_body(order).with("pan", "\"4000000000002016\"").text();
        let authorization = basic(sandbox.login(), sandbox.password());
        let request = format!(
            "POST {CARD} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: {authorization}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = Vec::new();
        let ended = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut answer)).map(drop);
        (String::from_utf8(answer).expect("a text"), ended)
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

fn trust(certificate: &CertificateDer<'static>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a root");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

fn times_charged(sandbox: &Sandbox, order: &str) -> Option<u32> {
    sandbox.payment(order).map(|payment| payment.times_charged)
}

#[test]
fn payments_and_links_are_of_https() {
    let identity = Identity::new();
    let sandbox = identity.start();
    assert!(sandbox.url().starts_with("https://127.0.0.1:"), "{}", sandbox.url());
    let (answer, ended) = identity.pay(&sandbox, "T-1");
    ended.expect("an orderly end");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"status\":\"Success\""), "{answer}");
    assert_eq!(times_charged(&sandbox, "T-1"), Some(1));
}

#[test]
fn who_never_shakes_hands_holds_nobody_up() {
    let identity = Identity::new();
    let sandbox = identity.start();
    let _silent = connect(sandbox.address());
    let mut plain = connect(sandbox.address());
    plain.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n").expect("sent");
    let mut answer = Vec::new();
    // An alert or a reset; never an answer.
    let _ended = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(identity.pay(&sandbox, "T-1").0.starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn faults_strike_inside_the_encryption() {
    let identity = Identity::new();
    let sandbox = identity.start();
    let strike = |fault: Fault| {
        sandbox.faults().clear();
        sandbox.faults().add(fault.times(1)).expect("a fault");
    };
    let cases = [
        (Fault::request_lost(), None, ""),
        (Fault::reset_on_connect(), None, ""),
        (Fault::reply_lost(), Some(1), ""),
        (Fault::reset_before_reply(), Some(1), ""),
        (Fault::reset_in_headers(), Some(1), "HTTP/1.1 200 OK\r\nco"),
        (Fault::reset_in_body(), Some(1), "\r\n\r\n{\"code\":\"110\","),
    ];
    for (index, (fault, charged, seen)) in cases.into_iter().enumerate() {
        let order = format!("F-{index}");
        let name = fault.name();
        strike(fault);
        let (answer, ended) = identity.pay(&sandbox, &order);
        assert!(ended.is_err(), "{name} ended in order: {answer}");
        assert!(if seen.is_empty() { answer.is_empty() } else { answer.contains(seen) }, "{name}: {answer}");
        assert_eq!(times_charged(&sandbox, &order), charged, "{name}");
    }
    strike(Fault::html_502());
    assert!(identity.pay(&sandbox, "F-9").0.starts_with("HTTP/1.1 502"));
}

fn refused(tls: TlsFiles) -> String {
    let options = SandboxOptions { tls: Some(tls), ..SandboxOptions::default() };
    let error = Sandbox::start(options).err().expect("refused");
    assert!(matches!(error, SandboxError::Option { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn unusable_files_are_clear_errors() {
    let identity = Identity::new();
    let good = &identity.files;
    let missing = PathBuf::from("/no/such/file.pem");
    for (files, beginning) in [
        (TlsFiles { certificate: missing.clone(), ..good.clone() }, "tls.certificate: /no/such/file.pem: "),
        (TlsFiles { key: missing, ..good.clone() }, "tls.key: /no/such/file.pem: "),
        (TlsFiles { certificate: good.key.clone(), ..good.clone() }, "tls.certificate: "),
        (TlsFiles { key: good.certificate.clone(), ..good.clone() }, "tls.key: "),
    ] {
        let error = refused(files);
        assert!(error.starts_with(beginning), "{error}");
    }
    let other = Identity::new();
    let error = refused(TlsFiles { key: other.files.key.clone(), ..good.clone() });
    assert!(error.contains("does not go with the certificate"), "{error}");
}

#[test]
fn other_machines_are_let_in_only_by_a_password_of_one_s_own() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let listen = listen.parse().expect("an address");
        let options = SandboxOptions { listen, ..SandboxOptions::default() };
        let error = Sandbox::start(options.clone()).err().expect("refused").to_string();
        assert!(error.starts_with("listen: ") && error.contains("--password"), "{error}");
        let options = SandboxOptions { password: "my own".to_owned(), ..options };
        // A machine without the sixth version of the protocol has nothing to listen on.
        match Sandbox::start(options) {
            Ok(sandbox) => assert_eq!(times_charged(&sandbox, "T-1"), None),
            Err(error) => assert!(matches!(error, SandboxError::Listen { .. }), "{error}"),
        }
    }
}
