//! TLS: whom the SDK trusts, and what a certificate that fails means.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use kassa::{Credentials, Gateway, GatewayConfig};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};

use crate::support::{self, Op, response_bytes};

/// A server with a certificate for `name`, signed by nobody. Gives its URL, its certificate, and how many requests it
/// saw.
pub fn tls_server(
    name: &str,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> (String, String, Arc<AtomicUsize>) {
    let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream.unwrap());
            let count = count.clone();
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                // Enough for these requests, each of which fits into one read.
                while let Ok(1..) = stream.read(&mut buffer) {
                    count.fetch_add(1, Ordering::SeqCst);
                    let body = Op::CardPayment.success_body();
                    if stream.write_all(&response_bytes(200, "", body.as_bytes())).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (url, made.cert.pem(), seen)
}

pub fn config(url: &str) -> GatewayConfig {
    GatewayConfig::new(url, Credentials::basic("shop", "secret-word")).with_dialect(support::dialect("{}"))
}

#[tokio::test]
async fn invalid_certificate_is_misconfigured() {
    let (url, pem, seen) = tls_server("elsewhere.example", rustls::ALL_VERSIONS);
    let trusting = config(&url).with_extra_root_certificates(pem);
    for (case, config, advice) in [
        ("unknown issuer", config(&url), "extra_root_certificates (KASSA_ROOT_CERTIFICATES)"),
        ("another name", trusting, "base_url (KASSA_URL)"),
    ] {
        let gateway = Gateway::new(config).unwrap();
        for op in Op::all() {
            let error = op.run(&gateway).await.unwrap_err();
            assert_eq!(error.kind(), "Misconfigured", "{case}, {op:?}: {error}");
            assert!(error.to_string().contains(advice), "{case}, {op:?}: {error}");
        }
    }
    assert_eq!(seen.load(Ordering::SeqCst), 0, "nothing was sent");
}

#[tokio::test]
async fn extra_root_is_trusted() {
    for version in rustls::ALL_VERSIONS {
        let (url, pem, _) = tls_server("localhost", &[version]);
        // As a text that an editor on Windows wrote.
        let pem = format!("\u{feff}{}", pem.replace('\n', "\r\n"));
        let gateway = Gateway::new(config(&url).with_extra_root_certificates(pem)).unwrap();
        Op::CardPayment.run(&gateway).await.unwrap_or_else(|error| panic!("{version:?}: {error}"));
    }
}

#[test]
fn what_is_no_certificate_is_refused() {
    for text in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let config = config("https://pay.example.kg").with_extra_root_certificates(text);
        let error = Gateway::new(config).unwrap_err();
        assert_eq!(error.kind(), "Misconfigured");
        assert!(error.to_string().contains("extra_root_certificates"), "{error}");
    }
}

/// A server that answers the first bytes in clear, as a web server without TLS and a mail server do, and closes.
fn plain_server(greeting: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(greeting));
                let _ = stream.shutdown(Shutdown::Write);
                // Read on, so that closing is no reset.
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
    url
}

/// A plain server where TLS is expected: no connection stands, so nothing happened, and it would not stand the next time.
#[tokio::test]
async fn server_without_tls_is_misconfigured() {
    for greeting in [&b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"[..], b"220 mail.example.kg ESMTP\r\n"] {
        let url = plain_server(greeting);
        let gateway = Gateway::new(config(&url)).unwrap();
        for op in Op::all() {
            let error = op.run(&gateway).await.unwrap_err();
            assert_eq!(error.kind(), "Misconfigured", "{op:?}: {error}");
            let expected = format!("{} does not speak TLS (is it http?)", url.trim_start_matches("https://"));
            assert!(error.to_string().contains(&expected), "{op:?}: {error}");
        }
    }
}
