//! The clock: pending payments that become final, steps forward, and what a reset makes of them.

use std::time::{Duration, SystemTime};

use kassa_sandbox::{
    ClockError, Database, Fault, PaymentStatus, RejectReason, ResolvePending, Sandbox, SandboxOptions,
};
use serde_json::{Value, json};

use crate::{
    admin::{admin, fields_at_fault},
    common::{
        CARD, MBANK_CONFIRM, MBANK_PAY, card_body, confirm_body, get_status, mbank_body, post, start, start_with,
        wait_until,
    },
    merchant::Merchant,
};

const STUCK: &str = "\"4000000000002040\"";
const APPROVED: &str = "\"4000000000002016\"";
const HOUR: Duration = Duration::from_secs(3600);

fn status(sandbox: &Sandbox, order: &str) -> String {
    get_status(sandbox, order, "Cards").data("status")
}

fn is_final(sandbox: &Sandbox, order: &str) -> bool {
    sandbox.payment(order).is_some_and(|payment| payment.status.is_final())
}

/// The clock as the admin interface shows it.
fn clock(sandbox: &Sandbox) -> Value {
    admin(sandbox, "GET", "clock", "").json()
}

#[test]
fn pending_payment_is_final_after_queries() {
    let merchant = Merchant::start(&[]);
    let sandbox = start_with(|options| options.resolve_pending.after_queries = Some(2));
    post(&sandbox, CARD, &card_body("Q-1").with("pan", STUCK).with("callbackUrl", &merchant.json_url()));
    assert_eq!(merchant.next_json()["status"], "PENDING");
    assert_eq!([(); 3].map(|()| status(&sandbox, "Q-1")), ["PENDING", "PENDING", "CHARGE"]);
    assert_eq!(merchant.next_json()["status"], "CHARGE");
    assert_eq!(sandbox.payment("Q-1").map(|payment| payment.times_charged), Some(1));
}

#[test]
fn queries_for_other_payments_do_not_count() {
    let sandbox = start_with(|options| options.resolve_pending.after_queries = Some(1));
    post(&sandbox, CARD, &card_body("Q-1"));
    post(&sandbox, CARD, &card_body("Q-2").with("pan", STUCK));
    assert_eq!([(); 3].map(|()| status(&sandbox, "Q-1")), ["CREATED"; 3]);
    assert_eq!([(); 2].map(|()| status(&sandbox, "Q-2")), ["PENDING", "CHARGE"]);
}

#[test]
fn pending_payment_becomes_final_after_a_time() {
    let merchant = Merchant::start(&[]);
    let sandbox = start_with(|options| options.resolve_pending.after = Some(HOUR));
    post(&sandbox, CARD, &card_body("T-1").with("pan", STUCK).with("callbackUrl", &merchant.json_url()));
    assert_eq!(merchant.next_json()["status"], "PENDING");
    sandbox.clock().forward(HOUR / 2).expect("stepped");
    assert_eq!(status(&sandbox, "T-1"), "PENDING");
    sandbox.clock().forward(HOUR / 2).expect("stepped");
    assert_eq!(merchant.next_json()["status"], "CHARGE");
    assert_eq!(status(&sandbox, "T-1"), "CHARGE");
}

#[test]
fn pending_payments_resolve_as_time_passes() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("T-1").with("pan", STUCK));
    let resolve_pending = ResolvePending { after: Some(Duration::from_millis(50)), after_queries: None };
    sandbox.clock().set_resolve_pending(resolve_pending).expect("set");
    assert_eq!(sandbox.clock().resolve_pending(), resolve_pending);
    wait_until("it is final", || is_final(&sandbox, "T-1"));
    post(&sandbox, CARD, &card_body("T-2").with("pan", STUCK));
    wait_until("the next one, too", || is_final(&sandbox, "T-2"));
}

#[test]
fn payment_held_by_a_fault_keeps_its_outcome() {
    let sandbox = start_with(|options| options.resolve_pending.after_queries = Some(1));
    sandbox.faults().add(Fault::stuck_pending()).expect("a fault");
    post(&sandbox, CARD, &card_body("D-1").with("pan", "\"4000000000002024\""));
    post(&sandbox, CARD, &card_body("D-2").with("pan", APPROVED));
    post(&sandbox, MBANK_PAY, &mbank_body("D-3").with("phone", "\"996555000103\""));
    post(&sandbox, MBANK_CONFIRM, &confirm_body("D-3", "103103"));
    for (order, provider, end, reason) in [
        ("D-1", "Cards", PaymentStatus::Rejected, Some(RejectReason::Declined)),
        ("D-2", "Cards", PaymentStatus::Charged, None),
        ("D-3", "MBank", PaymentStatus::Rejected, Some(RejectReason::InsufficientFunds)),
    ] {
        assert_eq!(get_status(&sandbox, order, provider).data("status"), "PENDING", "{order}");
        let payment = sandbox.payment(order).expect("a payment");
        assert_eq!((payment.status, payment.reject_reason), (end, reason), "{order}");
    }
}

#[test]
fn clock_step_makes_callbacks_due() {
    let merchant = Merchant::start(&[503]);
    let sandbox = start_with(|options| options.callback_pauses = vec![HOUR]);
    post(&sandbox, CARD, &card_body("S-1").with("pan", APPROVED).with("callbackUrl", &merchant.json_url()));
    merchant.next();
    wait_until("the attempt is recorded", || sandbox.callbacks().len() == 1);
    sandbox.clock().forward(HOUR).expect("stepped");
    assert_eq!(merchant.next_json()["status"], "CHARGE");

    let years = |count: u32| 366 * 24 * HOUR * count;
    sandbox.clock().forward(years(80)).expect("stepped");
    let answer = post(&sandbox, CARD, &card_body("S-2"));
    assert_eq!((answer.status, answer.message().contains("expiry")), (400, true), "{}", answer.body);
    post(&sandbox, MBANK_PAY, &mbank_body("S-3"));
    let created = sandbox.payment("S-3").expect("a payment").created;
    assert!(created > SystemTime::now() + years(79) && created <= sandbox.clock().now());
    assert_eq!(sandbox.clock().forward(years(80)), Err(ClockError::TooFar));
    assert_eq!(sandbox.clock().ahead(), years(80) + HOUR);
}

#[test]
fn admin_shows_and_changes_the_clock() {
    let sandbox = start();
    let shown = clock(&sandbox);
    assert_eq!((&shown["ahead_ms"], &shown["resolve_after_queries"]), (&json!(0), &Value::Null));
    assert!(shown["now"].as_str().expect("a time").ends_with('Z') && shown["local"].as_str().is_some(), "{shown}");

    let answer = admin(&sandbox, "PATCH", "clock", r#"{"resolve_after_queries": 3, "resolve_after_ms": 1500}"#);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let set = ResolvePending { after_queries: Some(3), after: Some(Duration::from_millis(1500)) };
    assert_eq!(sandbox.clock().resolve_pending(), set);
    admin(&sandbox, "PATCH", "clock", r#"{"resolve_after_ms": null}"#);
    assert_eq!(sandbox.clock().resolve_pending(), ResolvePending { after: None, ..set });

    let answer = admin(&sandbox, "POST", "clock/forward", r#"{"ms": 60000}"#);
    assert_eq!((answer.status, answer.json()["ahead_ms"].clone()), (200, json!(60_000)));
    assert_eq!(sandbox.clock().ahead(), Duration::from_secs(60));

    for (method, path, body, status, field) in [
        ("PATCH", "clock", r#"{"resolve_after_queries": 0}"#, 400, "resolve_after_queries"),
        ("PATCH", "clock", r#"{"resolve_after_ms": -1}"#, 400, "resolve_after_ms"),
        ("PATCH", "clock", r#"{"ahead_ms": 1}"#, 400, "ahead_ms"),
        ("POST", "clock/forward", "{}", 400, "ms"),
        ("POST", "clock/forward", r#"{"ms": -1}"#, 400, "ms"),
        ("POST", "clock/forward", r#"{"ms": 18446744073709551615}"#, 409, "ms"),
    ] {
        let answer = admin(&sandbox, method, path, body);
        assert_eq!((answer.status, fields_at_fault(&answer)), (status, vec![field.to_owned()]), "{body}");
    }
    assert_eq!(clock(&sandbox)["ahead_ms"], 60_000);
    admin(&sandbox, "POST", "reset", "");
    assert_eq!(
        (sandbox.clock().ahead(), sandbox.clock().resolve_pending()),
        (Duration::ZERO, ResolvePending::default())
    );
}

#[test]
fn in_a_file_time_never_goes_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let on_file = |ahead: Duration| {
        start_with(|options| {
            options.database = Database::File(folder.path().join("sandbox.db"));
            options.clock_ahead = ahead;
        })
    };
    let first = on_file(HOUR);
    assert_eq!(first.clock().ahead(), HOUR);
    first.clock().forward(HOUR).expect("stepped");
    first.stop();
    assert_eq!(on_file(HOUR).clock().ahead(), 2 * HOUR);
    let last = on_file(3 * HOUR);
    assert_eq!(last.clock().ahead(), 3 * HOUR);
    last.clock().forward(HOUR).expect("stepped");
    last.reset();
    assert_eq!(last.clock().ahead(), 3 * HOUR, "as at the start");
}

#[test]
fn wrong_options_are_clear_errors() {
    let options = SandboxOptions { clock_ahead: HOUR * 24 * 40_000, ..SandboxOptions::default() };
    assert!(Sandbox::start(options).err().expect("refused").to_string().starts_with("clock_ahead: "));
    let resolve_pending = ResolvePending { after_queries: Some(0), after: None };
    let options = SandboxOptions { resolve_pending, ..SandboxOptions::default() };
    assert!(Sandbox::start(options).err().expect("refused").to_string().starts_with("resolve_pending: "));
    assert_eq!(start().clock().set_resolve_pending(resolve_pending), Err(ClockError::NoQueries));
}

#[test]
fn test_data_are_listed() {
    let sandbox = start();
    let data = admin(&sandbox, "GET", "test-data", "").json();
    let first = json!({ "pan": "4111111111111111", "three_ds": "3DS 2.0", "outcome": "approved", "otp": "123456" });
    assert_eq!(data["cards"][0], first);
    let last = json!({ "pan": "4000000000002057", "three_ds": "without 3DS", "outcome": "error" });
    assert_eq!((data["cards"].as_array().map(Vec::len), &data["cards"][14]), (Some(15), &last));
    let phone = json!({ "provider": "MegaPay", "phone": "996755000204", "outcome": "stuck pending", "otp": "204204" });
    assert_eq!(data["phones"][7], phone);
}
