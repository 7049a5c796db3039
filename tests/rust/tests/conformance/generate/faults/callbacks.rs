//! The faults of callbacks: what comes to the shop, and what verifying makes of it.

use serde_json::{Value, json};

use super::{
    answers::{self, CHARGED},
    payers::{self, Payment},
    steps::{Step, approve, callbacks_until, clear_faults, kept, outcome, received, set_fault, step, watch},
    vector,
};

const LATE_MS: u64 = 500;

pub fn vectors() -> Vec<String> {
    type Way = (&'static str, fn(&Payment) -> Vec<Value>);
    let ways: [Way; 5] = [
        ("callback-lost", lost),
        ("callback-late", late),
        ("callback-duplicated", duplicated),
        ("callback-out-of-order", out_of_order),
        ("callback-forged", forged),
    ];
    let payments = payers::all();
    let pairs = ways.iter().flat_map(|way| payments.iter().map(move |payment| (way, payment)));
    pairs.map(|((fault, way), payment)| named(fault, payment, way(payment))).collect()
}

fn named(fault: &str, payment: &Payment, steps: Vec<Value>) -> String {
    let config = json!({"dialect": {"$use": "the sandbox's dialect"}});
    let least = (fault == "callback-late").then_some(LATE_MS);
    vector(&format!("fault {fault}: {}", payment.made_by), steps, config, least)
}

/// Made and paid, under a fault.
fn paid(payment: &Payment, fault: &str, settings: Value) -> Vec<Value> {
    let mut steps = vec![set_fault(fault, settings)];
    steps.extend(payment.make.clone());
    steps.push(payment.pay.clone());
    steps
}

/// Verifies a callback that was kept against what the merchant knows.
fn verify(payment: &Payment, name: &str, verdict: Value) -> Value {
    step("verify_callback", json!({"callback": kept(name), "payment": payment.stored})).answering(verdict)
}

fn charged(payment: &Payment) -> Value {
    answers::verdict(&payment.subject, CHARGED)
}

/// Whatever was told, who asks learns the truth, and the payer was charged once.
fn charged_once(payment: &Payment) -> Vec<Value> {
    let line = answers::ledger_line(payment.number.clone(), payment.transaction.clone(), CHARGED);
    vec![
        watch(payment.subject.reference.clone()),
        outcome(answers::outcome(&payment.subject, CHARGED)),
        step("ledger", Value::Null).answering(json!([line])),
    ]
}

/// Nobody tells the merchant, who asks and learns.
fn lost(payment: &Payment) -> Vec<Value> {
    let mut steps = paid(payment, "callback-lost", json!({}));
    steps.extend(charged_once(payment));
    steps.extend([
        step("callbacks", json!({"count": 1})).answering(json!([{"fault": "callback-lost"}])),
        step("sent", Value::Null).answering(json!(0)),
    ]);
    steps
}

fn late(payment: &Payment) -> Vec<Value> {
    let mut steps = paid(payment, "callback-late", json!({"delay_ms": LATE_MS}));
    steps.extend(callbacks_until(1, "callback"));
    steps.push(verify(payment, "callback", charged(payment)));
    steps.extend(charged_once(payment));
    steps
}

/// The same callback again: its key is the same, and each of them is true.
fn duplicated(payment: &Payment) -> Vec<Value> {
    let mut steps = paid(payment, "callback-duplicated", json!({}));
    steps.extend(callbacks_until(2, "second"));
    steps.push(received(1, "first"));
    steps.push(step("parse_callback", json!({"body": kept("first")})).keeping("read", json!(["answer"])));
    steps.push(step("parse_callback", json!({"body": kept("second")})).answering(kept("read")));
    steps.push(verify(payment, "first", charged(payment)));
    steps.push(verify(payment, "second", charged(payment)));
    steps.extend(charged_once(payment));
    steps
}

/// The charge is told first and the pending payment afterwards: the gateway knows better than what came last.
fn out_of_order(payment: &Payment) -> Vec<Value> {
    let mut steps = vec![set_fault("stuck-pending", json!({"endpoint": payment.endpoint}))];
    steps.extend(paid(payment, "callback-out-of-order", json!({})));
    steps.push(approve(payment.number.clone()));
    steps.extend(callbacks_until(2, "second"));
    steps.push(received(1, "first"));
    steps.push(step("callbacks", json!({"count": 2})).answering(json!([
        {"http_status": 200}, {"http_status": 200, "fault": "callback-out-of-order"},
    ])));
    steps.push(verify(payment, "first", charged(payment)));
    steps.push(verify(payment, "second", charged(payment)));
    steps.extend(charged_once(payment));
    steps
}

/// Somebody tells of a charge in another amount before the payer has paid. It is found out by what the merchant
/// asked for. The true callback is believed all the same.
fn forged(payment: &Payment) -> Vec<Value> {
    let mut steps = vec![set_fault("callback-forged", json!({"times": 1}))];
    let is_by_pin = payment.made_by == "check_megapay";
    if is_by_pin {
        // Nobody knows where its callbacks go before the payment with the PIN; that one stays open, and tells nothing.
        steps.push(set_fault("callback-lost", json!({"times": 1})));
        steps.push(set_fault("stuck-pending", json!({"endpoint": "mega/pay"})));
    }
    steps.extend(payment.make.clone());
    if is_by_pin {
        steps.push(payment.pay.clone());
    }
    steps.extend(callbacks_until(1, "forged"));
    if is_by_pin {
        steps.push(clear_faults());
    }
    let of_another = json!({"kind": "mismatch", "payment": payment.stored, "fields": ["amount"], "is_charged": false});
    steps.push(verify(payment, "forged", of_another));
    steps.push(if is_by_pin { approve(payment.number.clone()) } else { payment.pay.clone() });
    steps.extend(callbacks_until(2, "true one"));
    steps.push(verify(payment, "true one", charged(payment)));
    steps.extend(charged_once(payment));
    steps
}
