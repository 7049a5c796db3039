//! The gateway's own side, with faults: what the vectors of a sandbox say to it.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use kassa_sandbox::{
    CallbackAttempt, EndpointName, Fault, FaultName, Payment, ReceivedRequest, Sandbox, SandboxOptions,
};
use kassa_test_patience::patience;
use serde_json::{Value, json};

use crate::{
    operations::{Came, answer},
    vectors::{object, text},
};

/// Those that may be shared, and that no vector uses at the moment.
static IDLE: Mutex<Vec<Sandbox>> = Mutex::new(Vec::new());

/// The sandbox of one vector: its own, or one that is shared, which a vector has for itself and leaves empty.
pub struct Borrowed {
    sandbox: Option<Sandbox>,
    is_shared: bool,
}

impl Borrowed {
    /// With the login and the password of the vector's configuration, which are the same in all vectors.
    pub fn of(spec: &Value) -> Option<Self> {
        let is_shared = match spec["sandbox"].as_str()? {
            "shared" => true,
            "own" => false,
            other => panic!("a sandbox cannot be {other:?}"),
        };
        let idle = if is_shared { IDLE.lock().unwrap().pop() } else { None };
        Some(Self { sandbox: Some(idle.unwrap_or_else(|| start(&spec["config"]))), is_shared })
    }

    pub fn url(&self) -> &str {
        self.sandbox().url()
    }

    fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("it is here until it is given back")
    }

    /// A step that is the sandbox's, or its payer's; `None` where the name is none of theirs.
    pub fn step(&self, name: &str, input: &Value) -> Option<Came> {
        Some(match name {
            "set_fault" => {
                self.sandbox().faults().add(fault(input)).expect("a fault that can strike");
                answer(Value::Null)
            }
            "clear_faults" => {
                self.sandbox().faults().clear();
                answer(Value::Null)
            }
            "approve" => {
                self.sandbox().approve(&text(&input["number"])).expect("a payment to approve");
                answer(Value::Null)
            }
            "decline" => {
                self.sandbox().decline(&text(&input["number"])).expect("a payment to decline");
                answer(Value::Null)
            }
            "post_form" => answer(post_form(self.sandbox(), input)),
            "ledger" => answer(lines(&self.sandbox().payments(), ledger_line)),
            "requests" => answer(lines(&once_there(input, || self.sandbox().requests()), request_line)),
            "callbacks" => answer(lines(&once_there(input, || self.sandbox().callbacks()), callback_line)),
            _ => return None,
        })
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let Some(sandbox) = self.sandbox.take() else { return };
        // One that a vector panicked with stays out.
        if self.is_shared && !thread::panicking() {
            sandbox.reset();
            IDLE.lock().unwrap().push(sandbox);
        }
    }
}

fn start(config: &Value) -> Sandbox {
    let (login, password) = (text(&config["login"]), text(&config["password"]));
    // No callback is sent again because its receiver had to wait for a processor.
    let callback_timeout = patience();
    Sandbox::start(SandboxOptions { login, password, callback_timeout, ..SandboxOptions::default() })
        .expect("a sandbox")
}

/// The name and the settings, as the command line writes them.
fn fault(input: &Value) -> Fault {
    let mut settings = object(input);
    let mut written = text(&settings.remove("name").expect("a name"));
    for (key, value) in settings {
        written += &format!(",{key}={}", value.as_str().map_or(value.to_string(), str::to_owned));
    }
    written.parse().expect("a fault")
}

/// What is on record once there is as much as the step wants: a request may still be worked on when the SDK has given
/// up on it, and a callback's receiver has its answer before the sandbox writes it down.
fn once_there<T>(input: &Value, read: impl Fn() -> Vec<T>) -> Vec<T> {
    let wanted = input["count"].as_u64().expect("a count");
    let begun = Instant::now();
    loop {
        let found = read();
        if found.len() as u64 >= wanted || begun.elapsed() > patience() {
            return found;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn lines<T>(items: &[T], line: fn(&T) -> Value) -> Value {
    items.iter().map(line).collect()
}

fn ledger_line(payment: &Payment) -> Value {
    json!({
        "order_number": payment.order_number,
        "gateway_number": payment.gateway_number,
        "transaction_id": payment.transaction_id,
        "status": payment.status.as_str(),
        "times_charged": payment.times_charged,
    })
}

fn request_line(request: &ReceivedRequest) -> Value {
    let endpoint = EndpointName::ALL.into_iter().find(|endpoint| endpoint.path() == request.endpoint);
    json!({
        "endpoint": endpoint.map(EndpointName::as_str),
        "http_status": request.http_status,
        "fault": request.fault.map(FaultName::as_str),
    })
}

fn callback_line(attempt: &CallbackAttempt) -> Value {
    json!({"http_status": attempt.http_status, "fault": attempt.fault.map(FaultName::as_str)})
}

/// What the payer's browser does; the answer is the HTTP status.
fn post_form(sandbox: &Sandbox, input: &Value) -> u16 {
    let fields: Vec<String> =
        object(&input["fields"]).iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    let body = fields.join("&");
    let mut stream = TcpStream::connect(sandbox.address()).expect("the sandbox");
    let (path, token, length) = (text(&input["page"]), text(&input["token"]), body.len());
    write!(
        stream,
        "POST {path}?token={token} HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("an HTTP status")
}
