//! Redaction: plants a card number, a CVC, a one-time password and a password, runs every operation against gateways
//! that echo them, and looks for them in every log, error and answer.

mod support;

use std::{
    io,
    sync::{Arc, Condvar, Mutex},
};

use kassa::{Card, Credentials, Gateway, GatewayConfig, PaymentError, PaymentRef, PollPolicy, Proxy};
use kassa_test_patience::patience;
use support::{Answer, CVC, OTP, Op, PAN, PASSWORD, Received, Server, response};
use tracing_subscriber::fmt::MakeWriter;

/// What `shop:swordfish-77` looks like in the header.
const TOKEN: &str = "c2hvcDpzd29yZGZpc2gtNzc=";

/// The order number of the last event.
const LAST: &str = "the-last-order";

/// The byte order mark, with which some programs begin their JSON.
const BOM: char = '\u{feff}';

/// Everything that was logged, at every level, by every crate.
#[derive(Clone, Default)]
struct Log(Arc<(Mutex<Vec<u8>>, Condvar)>);

impl Log {
    /// The log so far, once it has this text: events are logged in their order, but later than they happen.
    fn up_to(&self, last: &str) -> String {
        let (log, grown) = &*self.0;
        let is_short = |log: &mut Vec<u8>| !String::from_utf8_lossy(log).contains(last);
        let (log, waited) = grown.wait_timeout_while(log.lock().unwrap(), patience(), is_short).unwrap();
        assert!(!waited.timed_out(), "{last} was never logged");
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().extend_from_slice(bytes);
        self.0.1.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Sends back all it got, in several forms, in a JSON response of the given status.
fn echo(request: &Received, status: u16, code: &str) -> Answer {
    let headers = serde_json::to_string(&request.headers).unwrap();
    let sent = if request.body.is_empty() { "null".to_owned() } else { request.body.clone() };
    let as_text = serde_json::to_string(&request.body).unwrap();
    let (card, otp) = (request.body.contains(PAN), request.body.contains(OTP));
    let card = if card {
        format!(
            r#","n":{PAN},"c":{CVC},"s":"4111 1111-11111111","d":"4111.1111/1111_1111","e":"4111%201111%2D1111%2e1111",
                "f":"%34111111111111111 \u0034111\u00a01111\u200b1111, 1111","g":["4111","1111","1111","1111"],
                "h":"cvc={CVC}&x=1","i":"code is {CVC}.","j":"cvc%3D{CVC}%26x","k":"\u00373\u0037""#
        )
    } else {
        String::new()
    };
    let otp = if otp {
        format!(r#","o":{OTP},"p":"{OTP}","q":"Invalid OTP: {OTP}","r":"otp%3D{OTP}""#)
    } else {
        String::new()
    };
    let status_word = if card.is_empty() { "x" } else { PAN };
    let token = if code == "110" { "gw-1" } else { status_word };
    let code = if status == 400 { status_word } else { code };
    response(
        status,
        &format!(
            r#"{BOM}{{"code":"{code}","message":"declined: {status_word}","headers":{headers},"sent":{sent},
                "text":{as_text}{card}{otp},"password":"{PASSWORD}","sentence":"your password {PASSWORD}",
                "data":{{"status":"{status_word}","ConfirmationUrl":"https://gw.example.kg/3ds?token={token}",
                "currency":"{status_word}","orderNumber":"{status_word}"}}}}"#,
        ),
    )
}

fn assert_clean(text: &str, origin: &str) {
    for secret in [PAN, "4111 1111 1111 1111", "4111-1111", OTP, PASSWORD, TOKEN] {
        assert!(!text.contains(secret), "{secret} in {origin}: {text}");
    }
    let digits: String = text.replace("**** 1111", "x").chars().filter(|c| c.is_alphanumeric()).collect();
    assert!(!digits.contains(PAN), "the card number in {origin}: {text}");
    // Three digits can occur inside any number, so the CVC is looked for as a value.
    for cvc in [format!("\"{CVC}"), format!(":{CVC},"), format!("cvc={CVC}"), format!("3D{CVC}"), format!("is {CVC}.")]
    {
        assert!(!text.contains(&cvc), "{cvc} in {origin}: {text}");
    }
}

fn shown(error: &PaymentError) -> String {
    format!("{} {error} {}", support::shown(error), error.describe())
}

#[test]
fn nothing_that_was_planted_comes_out() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .with_ansi(false)
        // The digits of a timestamp could be those of a secret by chance.
        .without_time()
        .finish();
    // For the whole process: payments run on threads of Kassa's own.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run_everything());

    let log = log.up_to(LAST);
    assert!(!log.contains("dropped"), "it is whole");
    let exchange =
        log.lines().find(|line| line.contains("responded") && line.contains("card_payment")).expect("an exchange");
    for part in ["endpoint=\"card_payment\"", "order=\"order-1\"", "attempt=1", "http_status=200", "duration_ms="] {
        assert!(exchange.contains(part), "{part} in {exchange}");
    }
    assert_clean(&log, "the log");
}

async fn run_everything() {
    for (status, code) in
        [(200, "110"), (200, "05"), (400, "05"), (401, "05"), (404, "05"), (409, "05"), (500, "05"), (302, "05")]
    {
        let server = Server::start(move |request| echo(request, status, code));
        let gateway = Gateway::new(server.config().with_query_retries(0)).unwrap();
        for op in Op::all() {
            let text = op.run(&gateway).await.unwrap_or_else(|error| shown(&error));
            assert_clean(&text, &format!("{op:?} with {status} and code {code}"));
        }
        let watch = gateway.watch(PaymentRef::card("order-1", 1.into(), "KGS"), PollPolicy::default()).unwrap();
        let report = tokio::time::timeout(patience(), watch.next()).await.unwrap();
        let report = report.unwrap_or_else(|error| panic!("{error}")).map(support::shown);
        assert_clean(&format!("{report:?} {watch:?}"), "a watch");
    }
    for answer in
        [|_: &Received| Answer::BytesThenReset(vec![]), |_: &Received| Answer::BytesThenClose(b"HTTP/1.1 2".to_vec())]
    {
        let server = Server::start(answer);
        let gateway = Gateway::new(server.config().with_query_retries(1)).unwrap();
        for op in Op::all() {
            assert_clean(&shown(&op.run(&gateway).await.unwrap_err()), &format!("{op:?}, cut off"));
        }
    }
    refused_before_sending().await;
    printed();
    let nobody = Gateway::new(GatewayConfig::new("http://127.0.0.1:1", Credentials::basic("a", "b"))).unwrap();
    nobody.qr_status(LAST).await.unwrap_err();
}

async fn refused_before_sending() {
    let gateway = Server::responding(200, "{}").gateway();
    let broken = support::card_payment().with_card(Card::new(format!("{PAN}x"), OTP, 99, format!("{CVC}9"), ""));
    assert_clean(&format!("{broken:?} {:?}", broken.advice()), "an invalid request");
    let error = gateway.create_card_payment(broken).await.unwrap_err();
    assert_clean(&shown(&PaymentError::clone(&error)), "the error of an invalid request");
    assert!(!shown(&error).contains(&format!("{CVC}9")));
}

fn printed() {
    let card = support::card();
    let payment = support::card_payment();
    let credentials = Credentials::basic("shop", PASSWORD);
    let config = GatewayConfig::new("https://pay.example.kg", credentials.clone())
        .with_proxy(Proxy::url(format!("http://user:{PASSWORD}@proxy.example")));
    let gateway = Gateway::new(config.clone()).unwrap();
    let text = format!(
        "{card:?} {card} {card:#?} {payment:?} {payment:#?} {} {:?} {credentials:?} {credentials:#?} \
         {config:?} {config:#?} {gateway:?}",
        payment.payment_ref(),
        payment.advice(),
    );
    assert_clean(&text, "printed values");
    assert!(text.contains("**** 1111"));
    assert!(!text.contains("737"), "the CVC: {text}");
}
