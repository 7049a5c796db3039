//! Writes `faults.json`: each fault of the sandbox, met by each operation, and how a watch then ends.

mod answers;
mod callbacks;
mod payers;
mod responses;
mod steps;
mod stuck;

use serde_json::{Value, json};

use super::file;
use steps::PATIENT_MS;

/// The faults and operations that cannot meet, and why.
const CANNOT_MEET: &[(&str, &[&str], &str)] = &[
    (
        "otp-twice",
        &[
            "create_card_payment",
            "create_mbank_payment",
            "check_megapay",
            "create_pay_form",
            "create_qr_image",
            "create_qr_data",
            "payment_status",
            "provider_status",
            "qr_status",
            "verify_callback",
            "watch",
        ],
        "it confirms no OTP",
    ),
    (
        "unknown-status",
        &["check_megapay", "create_pay_form", "create_qr_image", "create_qr_data"],
        "its answer has no status word",
    ),
    ("unknown-status", &["pay_by_megapay"], "its answer has no status word where the payment was accepted"),
    ("unknown-code", &["create_qr_image"], "its answer has no code"),
    ("callback-lost", &["verify_callback"], "there is no callback to verify"),
    ("callback-lost", QUERIES, "it makes no payment whose callback could be struck"),
    ("callback-late", QUERIES, "it makes no payment whose callback could be struck"),
    ("callback-duplicated", QUERIES, "it makes no payment whose callback could be struck"),
    ("callback-out-of-order", QUERIES, "it makes no payment whose callback could be struck"),
    ("callback-forged", QUERIES, "it makes no payment whose callback could be struck"),
];

const QUERIES: &[&str] = &["payment_status", "provider_status", "qr_status"];

/// Why they cannot meet, if they cannot.
pub fn cannot_meet(fault: &str, operation: &str) -> Option<&'static str> {
    let listed = |(name, operations, _): &&(&str, &[&str], &str)| *name == fault && operations.contains(&operation);
    CANNOT_MEET.iter().find(listed).map(|(_, _, reason)| *reason)
}

pub fn whole_file() -> String {
    let about = "The sandbox with its faults, met by each operation: the outcome, what the ledger says, and how a \
                 watch then ends. Generated; change tests/rust/tests/conformance/generate/faults and run \
                 `cargo test -p kassa-conformance --test conformance -- --generate`.";
    let defaults = json!({
        "sandbox": "shared",
        "config": {"base_url": "{sandbox}"},
        "responses": [{"status": 200, "body": ""}],
        "forbidden": [steps::PAN, steps::PAN_WITH_3DS, "swordfish-77"],
    });
    let vectors: Vec<String> =
        [responses::vectors(), stuck::vectors(), callbacks::vectors()].into_iter().flatten().collect();
    file("faults", about, &steps::constants(), Some(defaults), &vectors)
}

/// A vector of steps. A sandbox that may still be busy with the last request afterwards is no other vector's.
fn vector(name: &str, steps: Vec<Value>, config: Value, took_at_least_ms: Option<u64>) -> String {
    let gives_up = |step: &Value| step["input"]["deadline_ms"].as_u64().is_some_and(|deadline| deadline < PATIENT_MS);
    let may_be_busy = steps.iter().any(gives_up) || !config["query_deadline_ms"].is_null();
    super::line(&[
        ("name", json!(name)),
        ("sandbox", if may_be_busy { json!("own") } else { Value::Null }),
        ("config", config),
        ("steps", steps.into()),
        ("took_at_least_ms", json!(took_at_least_ms)),
    ])
}
