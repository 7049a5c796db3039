//! SIGTERM while everything hangs that can hang.

use std::{thread, time::Duration};

use kassa_sandbox::{EndpointName, Fault, Payment};
use kassa_test_patience::patience;
use serde_json::json;

use crate::{
    api::Caller,
    paying::PAYMENTS,
    program::{free_port, until},
    scene::Scene,
    secrets::payers,
};

const APPS: usize = 100;

#[test]
fn shutdown_is_bounded_and_loses_nothing() {
    // How long the gateway lets the server wait: much longer than it may take to stop, and not longer than the deadline.
    let hangs = patience().min(Duration::from_secs(110));
    let mut scene = Scene::open(1);
    scene.plans[0].set("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "120s");
    let metrics = free_port();
    scene.plans[0].set("KASSA_SERVER_METRICS_LISTEN", format!("127.0.0.1:{metrics}"));
    let server = scene.plans[0].start_in_the_end().unwrap();
    scene.shop.hangs(true);

    let payer = payers()[0];
    let by_mbank = json!({ "method": "mbank", "phone": payer.phone });
    let (confirms, _) = scene.app("order-1");
    let begun = confirms.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
    for endpoint in [EndpointName::MbankPay, EndpointName::MbankConfirm] {
        scene.sandbox.faults().add(Fault::delay().endpoint(endpoint).after(hangs)).unwrap();
    }
    // The gateway does both at once, and answers neither in time.
    let (pays, _) = scene.app("order-2");
    thread::spawn(move || pays.send("POST", PAYMENTS, Some("try-1"), &by_mbank));
    let path = format!("{PAYMENTS}/{}/confirm", begun.member("id").unwrap());
    thread::spawn(move || confirms.send("POST", &path, Some("otp-1"), &json!({ "otp": payer.otp })));
    let (waits, _) = scene.app("order-3");
    let waiting: Vec<_> = (0..APPS)
        .map(|_| {
            let waits = waits.clone();
            thread::spawn(move || waits.get("/v1/checkout?after=99&wait=60"))
        })
        .collect();
    until("the gateway has both", || {
        let payments = scene.sandbox.payments();
        payments.len() == 2 && payments.iter().any(Payment::is_charged)
    });
    let caller = Caller::new(([127, 0, 0, 1], metrics).into(), "");
    until("all apps wait", || {
        let seen = caller.get("/metrics").unwrap().text;
        seen.lines().any(|line| line == format!("kassa_waiting_apps {APPS}"))
    });
    until("the shop has an event", || !scene.shop.arrived().is_empty());

    let (status, took) = server.stop();
    assert!(status.success(), "{status}: {}", scene.log());
    // It takes 5 s, and much longer on a slow machine. It did not wait for the gateway.
    assert!(took < hangs / 2, "{took:?}");
    println!("it stopped after {took:?}");
    for app in waiting {
        let seen = app.join().unwrap().unwrap();
        assert_eq!((seen.status, &seen.body["state"]), (200, &json!("open")), "who waits is answered");
    }

    scene.shop.hangs(false);
    scene.sandbox.faults().clear();
    scene.keeper.time_passes(Duration::from_secs(300));
    let server = scene.plans[0].start_in_the_end().unwrap();
    for payment in scene.sandbox.payments().iter().filter(|payment| !payment.status.is_final()) {
        scene.sandbox.approve(&payment.gateway_number).unwrap();
    }
    scene.recorded();
    let paid = scene.ledger().checkouts();
    assert_eq!(paid.iter().filter(|checkout| checkout.state == "paid").count(), 2);
    assert!(server.stop().0.success());
}
