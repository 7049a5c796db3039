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
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedKey, DnType, IsCa, Issuer, KeyPair, generate_simple_self_signed,
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tempfile::TempDir;

use crate::common::{Body, CARD, basic, card_body, patience, post, start_with, wait_until};

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
        let body = card_body(order).with("pan", "\"4000000000002016\"");
        let authorization = basic(sandbox.login(), sandbox.password());
        self.ask(sandbox, "POST", CARD, &[("authorization", &authorization)], &body.text())
    }

    /// The whole answer to a request, or as much as came before the connection ended.
    fn ask(
        &self,
        sandbox: &Sandbox,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (String, io::Result<()>) {
        let server = ServerName::try_from("127.0.0.1").expect("a name");
        let connection = ClientConnection::new(Arc::clone(&self.trust), server).expect("a client");
        let mut stream = StreamOwned::new(connection, connect(sandbox.address()));
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut answer = Vec::new();
        let ended = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut answer)).map(drop);
        (String::from_utf8(answer).expect("a text"), ended)
    }
}

/// A private authority, and a certificate for this machine that it signed, in files. The certificate's file says
/// nothing of the authority's own, as is usual.
struct Authority {
    _folder: TempDir,
    root: PathBuf,
    files: TlsFiles,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([]).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "A shop's own authority");
        let root = params.self_signed(&key).expect("a root");
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["127.0.0.1".to_owned()]).expect("parameters");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");

        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let files = TlsFiles { certificate: path("cert.pem"), key: path("key.pem") };
        fs::write(path("root.pem"), pem("CERTIFICATE", root.der())).expect("written");
        fs::write(&files.certificate, pem("CERTIFICATE", certificate.der())).expect("written");
        fs::write(&files.key, pem("PRIVATE KEY", &key.serialize_der())).expect("written");
        Self { root: path("root.pem"), files, _folder: folder }
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
    stream.set_read_timeout(Some(patience())).expect("a timeout");
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

/// Pays with a card, and waits for the callback: what its receiver answered, or why there was no answer.
fn called_back(sandbox: &Sandbox, pay: impl FnOnce(Body), target: &str) -> Result<u16, String> {
    pay(card_body("CB-1").with("pan", "\"4000000000002016\"").with_text("callbackUrl", target));
    wait_until("the callback was sent", || !sandbox.callbacks().is_empty());
    let attempt = sandbox.callbacks().remove(0);
    attempt.http_status.ok_or(attempt.error.unwrap_or_default())
}

#[test]
fn trusted_https_receiver_is_called() {
    let identity = Identity::new();
    let sandbox = identity.start();
    let authorization = basic(sandbox.login(), sandbox.password());
    let pay = |body: Body| {
        let (answer, _) = identity.ask(&sandbox, "POST", CARD, &[("authorization", &authorization)], &body.text());
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    };
    assert_eq!(called_back(&sandbox, pay, &format!("{}/receiver/own", sandbox.url())), Ok(200));
}

#[test]
fn shop_with_private_ca_needs_the_ca_configured() {
    let authority = Authority::new();
    let shop = start_with(|options| options.tls = Some(authority.files.clone()));
    let target = format!("{}/receiver/shop", shop.url());
    for (is_named, expected) in [(true, Ok(200)), (false, Err("certificate"))] {
        let sandbox = start_with(|options| {
            options.callback_ca = is_named.then(|| authority.root.clone()).into_iter().collect();
        });
        let pay = |body: Body| assert_eq!(post(&sandbox, CARD, &body).status, 200);
        match (called_back(&sandbox, pay, &target), expected) {
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (answered, expected) => assert_eq!(answered.ok(), expected.ok(), "named: {is_named}"),
        }
    }
}

#[test]
fn cookies_of_an_encrypted_login_are_secure() {
    let identity = Identity::new();
    let sandbox = identity.start();
    let (page, _) = identity.ask(&sandbox, "GET", "/dashboard/login", &[], "");
    let cookie = cookies(&page)[0].split(';').next().expect("a pair");
    let csrf = page.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a token");
    let form = format!("csrf={csrf}&login={}&password={}", sandbox.login(), sandbox.password());
    let headers = [("cookie", cookie), ("content-type", "application/x-www-form-urlencoded")];
    let (answer, _) = identity.ask(&sandbox, "POST", "/dashboard/login", &headers, &form);
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    let session = cookies(&answer).into_iter().find(|cookie| !cookie.contains("_login_")).expect("a session");
    for cookie in [cookies(&page)[0], session] {
        assert!(cookie.contains("; Secure") && cookie.contains("; HttpOnly"), "{cookie}");
    }
}

/// The cookies that an answer sets.
fn cookies(answer: &str) -> Vec<&str> {
    answer.lines().filter_map(|line| line.strip_prefix("set-cookie: ")).collect()
}

#[test]
fn slow_tls_handshake_blocks_no_other_connection() {
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
fn faults_apply_over_tls() {
    let identity = Identity::new();
    let sandbox = identity.start();
    let set = |fault: Fault| {
        sandbox.faults().clear();
        sandbox.faults().add(fault.times(1)).expect("a fault");
    };
    let cases = [
        (Fault::request_lost(), None, ""),
        (Fault::reset_on_connect(), None, ""),
        (Fault::response_lost(), Some(1), ""),
        (Fault::reset_before_response(), Some(1), ""),
        (Fault::reset_in_headers(), Some(1), "HTTP/1.1 200 OK\r\nco"),
        (Fault::reset_in_body(), Some(1), "\r\n\r\n{\"code\":\"110\","),
    ];
    for (index, (fault, charged, seen)) in cases.into_iter().enumerate() {
        let order = format!("F-{index}");
        let name = fault.name();
        set(fault);
        let (answer, ended) = identity.pay(&sandbox, &order);
        assert!(ended.is_err(), "{name} ended in order: {answer}");
        assert!(if seen.is_empty() { answer.is_empty() } else { answer.contains(seen) }, "{name}: {answer}");
        assert_eq!(times_charged(&sandbox, &order), charged, "{name}");
    }
    set(Fault::html_502());
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
    let unknown = SandboxOptions { callback_ca: vec![good.key.clone()], ..SandboxOptions::default() };
    let error = Sandbox::start(unknown).err().expect("refused").to_string();
    assert!(error.starts_with(&format!("callback_ca: {}: no certificate", good.key.display())), "{error}");
    let other = Identity::new();
    let error = refused(TlsFiles { key: other.files.key.clone(), ..good.clone() });
    assert!(error.contains("does not go with the certificate"), "{error}");
}

#[test]
fn files_are_read_as_editors_write_them() {
    let identity = Identity::new();
    let TlsFiles { certificate, key } = &identity.files;
    for path in [certificate, key] {
        let text = fs::read_to_string(path).expect("a text").replace('\n', "\r\n");
        fs::write(path, format!("\u{feff}{text}")).expect("written");
    }
    let sandbox = start_with(|options| {
        options.tls = Some(identity.files.clone());
        options.callback_ca = vec![certificate.clone()];
    });
    assert!(identity.pay(&sandbox, "N-1").0.starts_with("HTTP/1.1 200"));
    for path in [key, certificate] {
        let text = fs::read_to_string(path).expect("a text");
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        fs::write(path, bytes).expect("written");
        let error = refused(identity.files.clone());
        assert!(error.ends_with(&format!("{}: it is in UTF-16: save it as UTF-8", path.display())), "{error}");
    }
}

#[test]
fn public_address_needs_a_custom_password() {
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
