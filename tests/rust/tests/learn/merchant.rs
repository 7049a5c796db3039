//! A merchant that pays at a gateway through the recorder: real requests over real sockets, as Kassa sends them.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
};

use kassa_sandbox::{RecordOptions, Recorder};
use serde_json::{Value, json};

use crate::{
    gateway::{Invented, State},
    style::Style,
};

pub const CARD: &str = "/api/v1.1.0/payment";
pub const STATUS: &str = "/api/v1.1.0/status";
pub const MBANK_PAY: &str = "/api/v1.1.0/mbank/pay";
pub const MBANK_CONFIRM: &str = "/api/v1.1.0/mbank/confirm";
pub const PAY_FORM: &str = "/api/v1.1.0/pay-form";
pub const GET_STATUS: &str = "/api/v1.1.0/get-status";
pub const QR_IMAGE: &str = "/gen/qr/dynamic";
pub const QR_DATA: &str = "/gen/qr/dynamic/data";
pub const QR_STATUS: &str = "/gen/qr/transaction/status";

/// The numbers of orders by what became of them.
#[derive(Default)]
pub struct Orders {
    pub approved: Vec<String>,
    pub declined: Vec<String>,
}

/// Sends requests to a recorder.
pub struct Client {
    origin: String,
}

impl Client {
    pub fn of(recorder: &Recorder) -> Self {
        Self { origin: recorder.url().trim_start_matches("http://").to_owned() }
    }

    /// The body of a response, as JSON.
    pub fn call(&self, method: &str, target: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(&self.origin).expect("the recorder listens");
        let head = format!(
            "{method} {target} HTTP/1.1\r\nhost: {}\r\nauthorization: Basic a2Fzc2E6c2FuZGJveC1wYXNzd29yZA==\r\n\
             content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            self.origin,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head");
        serde_json::from_str(body).unwrap_or_else(|_| Value::from(body))
    }

    fn text(&self, target: &str, body: &Value, place: &str) -> String {
        let answer = self.call("POST", target, body);
        answer.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("no {place} in {answer}")).to_owned()
    }

    pub fn get_status(&self, order: &str, provider: &str) {
        self.call("POST", GET_STATUS, &json!({"orderNumber": order, "provider": provider}));
    }

    pub fn status(&self, number: &str) {
        self.call("GET", STATUS, &json!({"orderNumber": number}));
    }

    pub fn qr_status(&self, transaction: &str) {
        self.call("GET", &format!("{QR_STATUS}?transaction_id={transaction}"), &Value::Null);
    }
}

/// Records what a function does with a gateway.
pub fn record<T>(url: &str, path: &Path, work: impl FnOnce(&Client) -> T) -> T {
    let recorder = Recorder::start(RecordOptions::new(url, path)).expect("it starts");
    let result = work(&Client::of(&recorder));
    recorder.stop().expect("everything is written");
    result
}

/// Makes the payments that the recipe of `docs/recordings.md` asks for, each with numbers of its own.
pub fn pay(client: &Client, gateway: &Invented, style: &Style, prefix: &str) -> Orders {
    let mut orders = Orders::default();
    let fates = [State::Paid, State::Paid, State::Declined];
    for (index, (fate, amount)) in fates.into_iter().zip(["100.10", "250", "75.50"]).enumerate() {
        let order = format!("{prefix}-card-{index}");
        let number = card(client, style, &order, amount);
        let query = || {
            client.get_status(&order, "Cards");
            client.status(&number);
        };
        query();
        gateway.act(&order, fate);
        query();
        query();
        orders.add(fate, order);
    }
    for (index, (fate, amount)) in fates.into_iter().zip([310, 1200, 45]).enumerate() {
        let order = format!("{prefix}-mbank-{index}");
        let request = json!({"orderNumber": order, "phone": "996555000101", "amount": amount, "comment": "tea"});
        let identifier = client.text(MBANK_PAY, &request, &style.gateway_number);
        client.get_status(&order, "MBank");
        let confirm = |otp: &str| {
            let mut request = json!({"orderNumber": order, "otp": otp});
            request[style.confirm_field] = json!(identifier);
            client.call("POST", MBANK_CONFIRM, &request);
        };
        if index == 0 {
            confirm("000000");
            client.get_status(&order, "MBank");
        }
        confirm(if fate == State::Paid { "123456" } else { "666666" });
        client.get_status(&order, "MBank");
        client.get_status(&order, "MBank");
        client.status(&identifier);
        orders.add(fate, order);
    }
    for (fate, amount) in [(State::Paid, 500), (State::Declined, 620)] {
        let request = json!({"amount": amount, "serviceName": "tea", "callbackURL": "http://127.0.0.1:9/c", "returnURL": "http://127.0.0.1:9/r"});
        let page = client.text(PAY_FORM, &request, &style.form);
        let number = page.rsplit('/').next().expect("a number").to_owned();
        client.status(&number);
        gateway.act(&number, fate);
        client.status(&number);
        client.status(&number);
        orders.add(fate, number);
    }
    for (fate, sum) in [(State::Paid, 39_000), (State::Paid, 12_550), (State::Declined, 7_000)] {
        let answer = client.call("POST", QR_DATA, &json!({"sum": sum, "requisite": "Shop"}));
        let transaction = match answer.pointer(&style.transaction).and_then(Value::as_str) {
            Some(transaction) => transaction.to_owned(),
            None => transaction_of(&answer, style),
        };
        client.qr_status(&transaction);
        gateway.act(&transaction, fate);
        client.qr_status(&transaction);
        client.qr_status(&transaction);
        orders.add(fate, transaction);
    }
    client.call("POST", QR_IMAGE, &json!({"sum": 5_000}));
    client.get_status(&format!("{prefix}-nobody"), "Cards");
    client.status("G00000000");
    client.call("POST", CARD, &card_request(&format!("{prefix}-card-0"), "100.10"));
    orders
}

/// Pays by card, and returns the gateway's number.
fn card(client: &Client, style: &Style, order: &str, amount: &str) -> String {
    let answer = client.call("POST", CARD, &card_request(order, amount));
    let page = answer.pointer(&style.page).and_then(Value::as_str).expect("a page");
    page.rsplit(['/', '=']).next().expect("a number").to_owned()
}

pub fn card_request(order: &str, amount: &str) -> Value {
    let amount: Value = serde_json::from_str(amount).expect("a number");
    json!({
        "orderNumber": order, "description": "tea", "amount": amount, "currency": "KGS", "pan": "4111111111111111",
        "expiryMonth": "12", "expiryYear": 2030, "cvc": "123", "language": "ru", "name": "Aibek Usenov",
        "callbackUrl": "http://127.0.0.1:9/c", "returnUrl": "http://127.0.0.1:9/r", "ip": "127.0.0.1",
    })
}

fn transaction_of(answer: &Value, style: &Style) -> String {
    let text = answer.pointer(&style.qr_text).and_then(Value::as_str).expect("a code");
    kassa::Elqr::parse(text).expect("a code").transaction.expect("a transaction")
}

impl Orders {
    fn add(&mut self, fate: State, number: String) {
        if fate == State::Paid { self.approved.push(number) } else { self.declined.push(number) }
    }
}

/// The exchanges of a recording, as JSON.
pub fn exchanges(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a recording");
    let mut all: Vec<Value> = text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    all.sort_by_key(|exchange| exchange["exchange"].as_u64());
    all
}
