//! Stopping in the middle of what callers wait for: nothing of it is lost.

use std::{thread, time::Duration};

use kassa_sandbox::{EndpointName, Fault, Payment, Sandbox};
use kassa_test_patience::{patient, wait_until, wait_until_within};
use serde_json::{Value, json};

use crate::support::{Caller, Place, Running, sandbox};

/// A phone whose payments are approved, and its one-time password.
pub const PHONE: &str = "996555000101";
pub const OTP: &str = "101101";
pub const PAYMENTS: &str = "/v1/checkout/payments";
/// When the gateway answers: much later than a stop may take.
fn answered_after() -> Duration {
    patient(Duration::from_secs(50))
}

/// A payment whose confirmation the gateway carries out at once, and answers after the server has been stopped.
struct UnderWay {
    place: Place,
    key: String,
    id: String,
}

impl UnderWay {
    fn begin(sandbox: &Sandbox) -> (Self, Running) {
        let slow = Fault::delay().endpoint(EndpointName::MbankConfirm).after(answered_after());
        sandbox.faults().add(slow).unwrap();
        let place = Place::with(sandbox);
        let key = place.key();
        let running = place.start(&[]);
        let (id, app) = Caller::new(&running, &key).open("order-1");
        let (status, payment) = app.call("POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
        assert_eq!(status, 201, "{payment}");
        let path = format!("{PAYMENTS}/{}/confirm", payment["id"].as_str().unwrap());
        let confirm = app.clone();
        thread::spawn(move || confirm.call("POST", &path, &json!({ "otp": OTP })));
        wait_until("the gateway has confirmed it", || sandbox.payments().iter().any(Payment::is_charged));
        (Self { place, key, id }, running)
    }

    /// Starts it again, and waits until the checkout is paid.
    fn pays_after_the_next_start(self) {
        let running = self.place.start(&[]);
        let shop = Caller::new(&running, &self.key);
        shop.call("POST", &format!("/v1/checkouts/{}/check", self.id), &Value::Null);
        let mut seen = (0, json!({ "version": 0 }));
        // The server may have to wait until the lease of the one that was stopped is over.
        wait_until_within(patient(Duration::from_secs(180)), "it is paid", || {
            let path = format!("/v1/checkouts/{}?after={}&wait=20", self.id, seen.1["version"]);
            seen = shop.call("GET", &path, &Value::Null);
            seen.1["state"] == "paid"
        });
        assert!(running.stop().0.success());
    }
}

#[test]
fn shutdown_loses_no_payment_in_flight() {
    let sandbox = sandbox();
    let (under_way, running) = UnderWay::begin(&sandbox);
    let (status, log, took) = running.stop();
    assert!(status.success(), "{log}");
    assert!(took < answered_after() / 2, "it waited for the gateway: {took:?}");
    assert!(log.contains("cut off"), "{log}");
    sandbox.faults().clear();
    under_way.pays_after_the_next_start();
}

#[test]
fn second_signal_stops_at_once_without_loss() {
    let sandbox = sandbox();
    let (under_way, running) = UnderWay::begin(&sandbox);
    running.signal("TERM");
    // It has heard the first one when it takes nobody any more.
    let url = running.url.strip_prefix("http://").unwrap().to_owned();
    wait_until("nobody listens", || std::net::TcpStream::connect(&url).is_err());
    running.signal("TERM");
    let (status, log, _) = running.wait();
    assert_eq!(status.code(), Some(143), "{log}");
    assert!(!log.contains("stopped"), "{log}");
    sandbox.faults().clear();
    under_way.pays_after_the_next_start();
}

#[test]
fn long_poll_is_answered_on_shutdown() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let running = place.start(&["--metrics-listen", "127.0.0.1:0"]);
    let (_, app) = Caller::new(&running, &key).open("order-1");
    let waiting = thread::spawn(move || app.call("GET", "/v1/checkout?after=99&wait=30", &Value::Null));
    let metrics = running.announced["metrics_url"].as_str().unwrap().strip_suffix("/metrics").unwrap().to_owned();
    wait_until("the app waits", || {
        crate::support::get(&metrics, "/metrics")
            .1
            .lines()
            .any(|line| line.starts_with("kassa_waiting_apps ") && line.ends_with(" 1"))
    });
    let (status, log, _) = running.stop();
    assert!(status.success(), "{log}");
    let (status, seen) = waiting.join().unwrap();
    assert_eq!((status, seen["state"].as_str()), (200, Some("open")), "{seen}");
    assert!(!log.contains("cut off") && !log.contains("given up"), "{log}");
}
