//! Stub gateway over plain sockets: it records each request byte for byte and answers what the test says.

#![allow(dead_code, missing_docs)] // each test file uses its own part

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use kassa::{
    BlockingGateway, Card, CardPayment, Credentials, Dialect, Gateway, GatewayConfig, MbankPayment, MegapayPayment,
    PayForm, PaymentError, PaymentRef, Provider, QrPayment,
};
use kassa_test_patience::patience;

pub const PAN: &str = "4111111111111111";
pub const CVC: &str = "737";
pub const OTP: &str = "918273";
pub const PIN: &str = "604137";
pub const LOGIN: &str = "shop";
pub const PASSWORD: &str = "swordfish-77";

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// The first line, without its line break.
    pub line: String,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The number of the connection it came over, from 0.
    pub connection: usize,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What the server does with a request.
pub enum Answer {
    /// Send these bytes and keep the connection.
    Bytes(Vec<u8>),
    /// Send these bytes, then close in order.
    BytesThenClose(Vec<u8>),
    /// Send these bytes, and close in order once the test is there, too.
    BytesThenCloseAt(Vec<u8>, Arc<Barrier>),
    /// Send these bytes, then cut the connection with a reset.
    BytesThenReset(Vec<u8>),
    /// Send the first bytes at once, and the others one at a time, with this pause before each.
    Drip(Vec<u8>, Vec<u8>, Duration),
    /// Never answer, and keep the connection open.
    Silence,
}

/// A response with a status and a body.
pub fn response(status: u16, body: &str) -> Answer {
    response_with(status, "", body)
}

/// The same, with header lines, each ending in a line break.
pub fn response_with(status: u16, headers: &str, body: &str) -> Answer {
    Answer::Bytes(response_bytes(status, headers, body.as_bytes()))
}

pub fn response_bytes(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A configuration whose dialect offers every operation.
pub fn config(url: impl Into<String>) -> GatewayConfig {
    GatewayConfig::new(url, Credentials::basic(LOGIN, PASSWORD)).with_dialect(dialect("{}"))
}

/// A dialect that offers every operation, and what this JSON text says besides.
pub fn dialect(text: &str) -> Dialect {
    let inside = text.trim().trim_start_matches('{').trim_end();
    let comma = if inside == "}" { "" } else { "," };
    Dialect::from_json(&format!(r#"{{"megapay": {{"check_method": "POST"}}{comma}{inside}"#)).unwrap()
}

pub struct Server {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
    closed: Arc<Closed>,
}

impl Server {
    pub fn start(answer: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self { address, received: Arc::default(), connections: Arc::default(), closed: Arc::default() };
        let (received, connections, answer) = (server.received.clone(), server.connections.clone(), Arc::new(answer));
        let closed = server.closed.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let number = connections.fetch_add(1, Ordering::SeqCst);
                let (received, answer, closed) = (received.clone(), answer.clone(), closed.clone());
                thread::spawn(move || {
                    serve(stream.unwrap(), number, &received, &*answer, &closed);
                });
            }
        });
        server
    }

    /// Always the same response.
    pub fn responding(status: u16, body: &str) -> Self {
        let body = body.to_owned();
        Self::start(move |_| response(status, &body))
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn config(&self) -> GatewayConfig {
        config(self.url())
    }

    pub fn gateway(&self) -> Gateway {
        Gateway::new(self.config()).unwrap()
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until it has closed its side of so many connections.
    pub fn wait_for_closed(&self, number: usize) {
        let (count, changed) = &*self.closed;
        let reached = changed.wait_timeout_while(count.lock().unwrap(), patience(), |count| *count < number).unwrap();
        assert!(!reached.1.timed_out(), "{} of {number}", *reached.0);
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

type Closed = (Mutex<usize>, Condvar);

fn serve(
    stream: TcpStream,
    number: usize,
    received: &Mutex<Vec<Received>>,
    answer: &dyn Fn(&Received) -> Answer,
    closed: &Closed,
) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader, number) {
        received.lock().unwrap().push(request.clone());
        if act(&stream, answer(&request), closed).is_none() {
            return;
        }
    }
}

/// `None` where the connection ends with it.
fn act(mut stream: &TcpStream, answer: Answer, closed: &Closed) -> Option<()> {
    match answer {
        Answer::Bytes(bytes) => stream.write_all(&bytes).ok(),
        Answer::BytesThenCloseAt(bytes, there) => {
            stream.write_all(&bytes).ok()?;
            there.wait();
            act(stream, Answer::BytesThenClose(Vec::new()), closed)
        }
        Answer::BytesThenClose(bytes) => {
            stream.write_all(&bytes).ok()?;
            stream.shutdown(Shutdown::Write).ok()?;
            *closed.0.lock().unwrap() += 1;
            closed.1.notify_all();
            // Read on, so that bytes of the request still under way do not turn the close into a reset.
            let _ = stream.read_to_end(&mut Vec::new());
            None
        }
        Answer::BytesThenReset(bytes) => {
            stream.write_all(&bytes).ok()?;
            reset(stream);
            None
        }
        Answer::Drip(at_once, slowly, pause) => {
            stream.write_all(&at_once).ok()?;
            for byte in slowly {
                thread::sleep(pause);
                stream.write_all(&[byte]).ok()?;
            }
            Some(())
        }
        Answer::Silence => {
            let _ = stream.read_to_end(&mut Vec::new());
            None
        }
    }
}

/// A socket that is dropped with no linger sends a reset.
fn reset(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
    // The clone that reads must be closed, too: a reset is sent only when the socket is closed, not when it is shut
    // down.
    let _ = stream.shutdown(Shutdown::Read);
}

fn read_request(reader: &mut BufReader<TcpStream>, connection: usize) -> Option<Received> {
    let line = read_line(reader)?;
    let mut headers = Vec::new();
    loop {
        let header = read_line(reader)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap();
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { line, headers, body: String::from_utf8(body).unwrap(), connection })
}

fn read_line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let length = reader.read_line(&mut line).ok()?;
    (length > 0).then(|| line.trim_end_matches("\r\n").to_owned())
}

pub fn card() -> Card {
    Card::new(PAN, "08", 2031, CVC, "Aibek Usenov")
}

pub fn card_payment() -> CardPayment {
    CardPayment::new("order-1", "100.10".parse().unwrap(), "KGS", card(), "https://shop.example.kg/cb")
        .with_description("Two tickets")
        .with_language("ky")
        .with_ip("203.0.113.7")
}

pub fn mbank_payment() -> MbankPayment {
    MbankPayment::new("order-2", 250, "996700000001", "Tea")
}

pub fn megapay_payment() -> MegapayPayment {
    MegapayPayment::new("order-3", "250.50".parse().unwrap(), "996700000001", "17")
}

pub fn pay_form() -> PayForm {
    PayForm::new("5".parse().unwrap(), "Shop", "https://shop.example.kg/cb?ref=17")
        .with_return_url("https://shop.example.kg/back")
}

pub fn qr_payment() -> QrPayment {
    QrPayment::new(10010)
}

/// All that shows a value: its debug text, and its JSON.
pub fn shown(value: impl std::fmt::Debug + serde::Serialize) -> String {
    format!("{value:?} {}", serde_json::to_string(&value).unwrap())
}

/// The same with some of its fields changed.
pub fn changed<T>(mut it: T, change: impl FnOnce(&mut T)) -> T {
    change(&mut it);
    it
}

/// All operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    CardPayment,
    MbankPayment,
    MbankConfirm,
    MegapayCheck,
    MegapayPay,
    PayForm,
    QrImage,
    QrData,
    PaymentStatus,
    ProviderStatus,
    QrStatus,
}

impl Op {
    pub const MOVES_MONEY: [Self; 5] =
        [Self::CardPayment, Self::MbankPayment, Self::MbankConfirm, Self::MegapayCheck, Self::MegapayPay];
    pub const CREATES: [Self; 3] = [Self::PayForm, Self::QrImage, Self::QrData];
    pub const ASKS: [Self; 3] = [Self::PaymentStatus, Self::ProviderStatus, Self::QrStatus];

    pub fn all() -> impl Iterator<Item = Self> {
        Self::MOVES_MONEY.into_iter().chain(Self::CREATES).chain(Self::ASKS)
    }

    /// Runs it with valid input; the answer is given as all that shows it.
    pub async fn run(self, gateway: &Gateway) -> Result<String, PaymentError> {
        match self {
            Self::CardPayment => gateway.create_card_payment(card_payment()).await.map(shown),
            Self::MbankPayment => gateway.create_mbank_payment(mbank_payment()).await.map(shown),
            Self::MbankConfirm => gateway.confirm_mbank_payment(&mbank_payment().payment_ref(), OTP).await.map(shown),
            Self::MegapayCheck => gateway.check_megapay(megapay_payment()).await.map(shown),
            Self::MegapayPay => gateway.pay_by_megapay(megapay_payment(), PIN).await.map(shown),
            Self::PayForm => gateway.create_pay_form(pay_form()).await.map(shown),
            Self::QrImage => gateway.create_qr_image(qr_payment()).await.map(shown),
            Self::QrData => gateway.create_qr_data(qr_payment()).await.map(shown),
            Self::PaymentStatus => gateway.payment_status("gw-1", None).await.map(shown),
            Self::ProviderStatus => gateway.provider_status("order-1", Provider::Cards).await.map(shown),
            Self::QrStatus => gateway.qr_status("tx-1").await.map(shown),
        }
    }

    /// What it asks about with: the payment that [`run`](Self::run) sends.
    pub fn payment_ref(self) -> PaymentRef {
        match self {
            Self::MbankPayment | Self::MbankConfirm => mbank_payment().payment_ref(),
            Self::MegapayCheck | Self::MegapayPay => megapay_payment().payment_ref(),
            _ => card_payment().payment_ref(),
        }
    }

    /// The same of a question, on the calling thread.
    pub fn ask_blocking(self, gateway: &BlockingGateway) -> Result<String, PaymentError> {
        match self {
            Self::PaymentStatus => gateway.payment_status("gw-1", None).map(shown),
            Self::ProviderStatus => gateway.provider_status("order-1", Provider::Cards).map(shown),
            Self::QrStatus => gateway.qr_status("tx-1").map(shown),
            _ => unreachable!("it is no question"),
        }
    }

    /// A body with which the operation succeeds.
    pub fn success_body(self) -> String {
        match self {
            Self::CardPayment => concat!(
                r#"{"code":"110","message":"CREATED","data":{"amount":100.10,"currency":"KGS","#,
                r#""orderNumber":"order-1","ConfirmationUrl":"https://gw.example.kg/3ds?token=gw-1"}}"#
            )
            .into(),
            Self::MbankPayment | Self::MbankConfirm | Self::MegapayCheck | Self::MegapayPay | Self::QrData => {
                r#"{"anything":1}"#.into()
            }
            Self::PayForm => r#"{"payFormUrl":"https://gw.example.kg/form/1"}"#.into(),
            Self::QrImage => base64_png(400, 400),
            Self::PaymentStatus | Self::ProviderStatus | Self::QrStatus => concat!(
                r#"{"code":"200","message":"PAYMENT_SUCCESS","data":{"orderNumber":"order-1","#,
                r#""amount":100.10,"status":"CHARGE","currency":"KGS"}}"#
            )
            .into(),
        }
    }
}

pub fn base64_png(width: u32, height: u32) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(png(width, height))
}

pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    image::GrayImage::from_pixel(width, height, image::Luma([255]))
        .write_to(&mut file, image::ImageFormat::Png)
        .unwrap();
    file.into_inner()
}
