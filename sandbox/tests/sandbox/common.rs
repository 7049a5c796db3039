//! What the tests share: a sandbox, a client that speaks bare HTTP, request bodies written by hand.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use kassa_sandbox::{Sandbox, SandboxOptions};
pub use kassa_test_patience::{patience, wait_until};
use serde_json::Value;

pub fn start() -> Sandbox {
    start_with(|_| {})
}

pub fn start_with(change: impl FnOnce(&mut SandboxOptions)) -> Sandbox {
    let mut options = SandboxOptions { callback_pauses: vec![Duration::from_millis(10)], ..SandboxOptions::default() };
    change(&mut options);
    Sandbox::start(options).expect("the sandbox starts")
}

/// One whose links lead to another host, as behind a tunnel.
pub fn start_tunnelled(public_url: &str) -> Sandbox {
    start_with(|options| {
        options.public_url = Some(public_url.to_owned());
        options.password = "my own".to_owned();
    })
}

pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn code(&self) -> String {
        self.json()["code"].as_str().expect("a code").to_owned()
    }

    pub fn message(&self) -> String {
        self.json()["message"].as_str().expect("a message").to_owned()
    }

    /// A string in `data`.
    pub fn data(&self, name: &str) -> String {
        let json = self.json();
        let text = json["data"][name].as_str();
        text.unwrap_or_else(|| panic!("no {name} in {json}")).to_owned()
    }
}

/// Sends one request to an absolute URL over a connection of its own.
pub fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    try_send(method, url, headers, body).expect("the sandbox answers")
}

/// As `send`, to a sandbox that may have stopped or stop before the response is complete.
pub fn try_send(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Response> {
    // A fragment, such as the code in a QR code's link, stays with the client.
    let url = url.split('#').next().unwrap_or(url);
    let rest = url.strip_prefix("http://").expect("an http URL");
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut stream = TcpStream::connect(host)?;
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8(answer).expect("the answer is text");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let answer = Response { status: status.expect("a status"), head: head.to_owned(), body: body.to_owned() };
    if answer.header("content-length").is_some_and(|length| length != body.len().to_string()) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(answer)
}

pub fn basic(login: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{login}:{password}")))
}

/// Calls an endpoint with the right credentials.
pub fn call(sandbox: &Sandbox, method: &str, path: &str, body: &str) -> Response {
    let authorization = basic(sandbox.login(), sandbox.password());
    let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
    let url = format!("{}{path}", sandbox.url());
    send(method, &url, &headers, body.as_bytes())
}

pub fn post(sandbox: &Sandbox, path: &str, body: &Body) -> Response {
    call(sandbox, "POST", path, &body.text())
}

/// Opens a page, as a browser that names no language.
pub fn open(url: &str) -> Response {
    send("GET", url, &[], b"")
}

/// Posts a form to a page.
pub fn submit(url: &str, form: &[(&str, &str)]) -> Response {
    let mut encoded = url::form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(form);
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    send("POST", url, &headers, encoded.finish().as_bytes())
}

/// A JSON object whose values are JSON texts, so that a test decides every digit.
#[derive(Clone)]
pub struct Body(Vec<(String, String)>);

impl Body {
    pub fn new(fields: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(fields.iter().map(owned).collect())
    }

    /// The same with a field set to a JSON text.
    pub fn with(mut self, name: &str, json: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), json.to_owned()));
        self
    }

    /// The same with a field set to a string.
    pub fn with_text(self, name: &str, text: &str) -> Self {
        self.with(name, &Value::from(text).to_string())
    }

    pub fn without(mut self, name: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self
    }

    pub fn text(&self) -> String {
        let members: Vec<_> =
            self.0.iter().map(|(name, json)| format!("{}:{json}", Value::from(name.as_str()))).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// A URL without a listener, for tests that do not look at callbacks.
pub const UNREACHABLE: &str = "\"http://127.0.0.1:1/callback\"";

pub const CARD: &str = "/api/v1.1.0/payment";
pub const STATUS: &str = "/api/v1.1.0/status";
pub const MBANK_PAY: &str = "/api/v1.1.0/mbank/pay";
pub const MBANK_CONFIRM: &str = "/api/v1.1.0/mbank/confirm";
pub const MEGA_CHECK: &str = "/api/v1.1.0/mega/check";
pub const MEGA_PAY: &str = "/api/v1.1.0/mega/pay";
pub const PAY_FORM: &str = "/api/v1.1.0/pay-form";
pub const GET_STATUS: &str = "/api/v1.1.0/get-status";
pub const QR_IMAGE: &str = "/gen/qr/dynamic";
pub const QR_DATA: &str = "/gen/qr/dynamic/data";
pub const QR_STATUS: &str = "/gen/qr/transaction/status";

/// A card payment with every field, by the 3DS 2.0 card that is approved.
pub fn card_body(order_number: &str) -> Body {
    Body::new(&[
        ("description", "\"Two coffees\""),
        ("amount", "100.10"),
        ("currency", "\"KGS\""),
        ("pan", "\"4111111111111111\""),
        ("expiryMonth", "\"12\""),
        ("expiryYear", "2099"),
        ("cvc", "\"123\""),
        ("language", "\"en\""),
        ("name", "\"Aibek Asanov\""),
        ("returnUrl", "\"https://shop.example/done?cart=7#top\""),
        ("callbackUrl", UNREACHABLE),
        ("ip", "\"203.0.113.7\""),
        ("email", "\"payer@example.com\""),
    ])
    .with_text("orderNumber", order_number)
}

pub fn mbank_body(order_number: &str) -> Body {
    Body::new(&[
        ("phone", "\"996555000101\""),
        ("amount", "250"),
        ("comment", "\"Lunch\""),
        ("callbackUrl", UNREACHABLE),
    ])
    .with_text("orderNumber", order_number)
}

pub fn confirm_body(order_number: &str, otp: &str) -> Body {
    Body::new(&[]).with_text("orderNumber", order_number).with_text("otp", otp)
}

pub fn megapay_body(order_number: &str) -> Body {
    Body::new(&[("user", "\"996755000201\""), ("account", "\"7\""), ("amount", "250.50")])
        .with_text("orderNumber", order_number)
}

pub fn pay_form_body() -> Body {
    Body::new(&[
        ("amount", "99.50"),
        ("serviceName", "\"Flower shop\""),
        ("callbackURL", UNREACHABLE),
        ("returnURL", "\"myapp://paid?from=form\""),
    ])
}

pub fn qr_body() -> Body {
    Body::new(&[("sum", "12550"), ("requisite", "\"996700123456\""), ("callback_url", UNREACHABLE)])
}

/// Asks `get-status`.
pub fn get_status(sandbox: &Sandbox, order_number: &str, provider: &str) -> Response {
    let body = Body::new(&[]).with_text("orderNumber", order_number).with_text("provider", provider);
    post(sandbox, GET_STATUS, &body)
}
