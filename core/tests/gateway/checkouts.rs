//! The payer's side of a server that cannot be reached: what its screen says.

use std::{io::Read, net::TcpListener, sync::Arc, thread};

use kassa::{Checkout, CheckoutMessage, CheckoutSettings, CheckoutState, Language, MessageTopic};
use kassa_test_patience::patience;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};

/// A server with a certificate that is valid from a year to the next. Gives its URL and its certificate.
fn server_valid_in(year: i32) -> (String, String) {
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    parameters.not_before = date_time_ymd(year, 1, 1);
    parameters.not_after = date_time_ymd(year + 1, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream.unwrap());
            // No request comes: the handshake fails.
            while let Ok(1..) = stream.read(&mut [0; 1]) {}
        }
    });
    (url, certificate.pem())
}

async fn first_message(checkout: &Checkout) -> CheckoutMessage {
    let states = checkout.states();
    let message = async {
        loop {
            if let CheckoutState::Opening { message: Some(message), .. } = states.next().await.unwrap() {
                return message;
            }
        }
    };
    tokio::time::timeout(patience(), message).await.unwrap()
}

#[tokio::test]
async fn future_certificate_shows_wrong_clock() {
    for (year, topic, reason) in
        [(2100, MessageTopic::WrongClock, "not valid yet"), (2000, MessageTopic::NotTheServer, "expired")]
    {
        let (url, certificate) = server_valid_in(year);
        let settings = CheckoutSettings::default().with_extra_root_certificates(certificate);
        let checkout = Checkout::open_with(&url, "ct_none", settings).unwrap();
        let message = first_message(&checkout).await;
        assert_eq!(message.topic, topic, "{message:?}");
        assert!(message.reason.as_ref().is_some_and(|said| said.contains(reason)), "{message:?}");
        let asks = message.text_in(Language::English).contains("date and time");
        assert_eq!(asks, topic == MessageTopic::WrongClock);
    }
}
