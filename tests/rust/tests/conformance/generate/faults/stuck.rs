//! Payments that a fault keeps from becoming final: they stay open, and end as they are decided.

use serde_json::{Value, json};

use super::{
    answers::{self, CHARGED, PENDING, REJECTED, Shown},
    payers::{self, Payment},
    steps::{
        Step, approve, callbacks_until, decline, kept, ledger_keeping_the_payment, operation, outcome, set_fault, step,
        watch,
    },
    vector,
};

pub fn vectors() -> Vec<String> {
    let ends = [("approved", CHARGED), ("declined", REJECTED)];
    let watched = payers::all().into_iter().flat_map(|payment| ends.map(|(end, shown)| watched(&payment, end, shown)));
    let confirmed = ends.into_iter().flat_map(|(end, shown)| [confirmed(end, shown), paid_by_pin(end, shown)]);
    watched.chain(confirmed).chain([by_token(), by_number(), by_transaction(), by_callback()]).collect()
}

fn stuck(endpoint: &str) -> Value {
    set_fault("stuck-pending", json!({"endpoint": endpoint}))
}

fn named(operation: &str, more: &str, steps: Vec<Value>) -> String {
    // Only a dialect can say that the claimed number of a pay-form is none of a QR payment.
    let dialect = json!({"dialect": {"$use": "the sandbox's dialect"}});
    let config = if operation == "create_pay_form" { dialect } else { Value::Null };
    vector(&format!("fault stuck-pending: {operation}{more}"), steps, config, None)
}

/// Its payer paid, a watch sees it pending, and sees how it ends.
fn watched(payment: &Payment, end: &str, shown: Shown) -> String {
    let mut steps = vec![stuck(payment.endpoint)];
    if payment.made_by == "create_card_payment" {
        // Without 3DS there is nothing for a payer to do, and the answer says where the payment stands.
        let answer = answers::card_created("PENDING", "110");
        steps.push(operation("create_card_payment").answering(answer));
    } else {
        steps.extend(payment.make.clone());
        steps.push(payment.pay.clone());
    }
    steps.extend(ending(payment, end, shown));
    named(payment.made_by, &format!(", then {end}"), steps)
}

/// The confirmation's answer says where the payment stands.
fn confirmed(end: &str, shown: Shown) -> String {
    let payment = payers::mbank();
    let mut steps = payment.make.clone();
    steps.push(stuck("mbank/confirm"));
    steps.push(payment.pay.clone().answering(answers::mbank_confirmed(PENDING)));
    steps.extend(ending(&payment, end, shown));
    named("confirm_mbank_payment", &format!(", then {end}"), steps)
}

/// The answer to a PIN shows no status, wherever the payment stands.
fn paid_by_pin(end: &str, shown: Shown) -> String {
    let payment = payers::megapay();
    let mut steps = payment.make.clone();
    steps.push(stuck("mega/pay"));
    steps.push(payment.pay.clone().answering(answers::usual("pay_by_megapay")));
    steps.extend(ending(&payment, end, shown));
    named("pay_by_megapay", &format!(", then {end}"), steps)
}

fn ending(payment: &Payment, end: &str, shown: Shown) -> Vec<Value> {
    let pending = answers::watch_report(&payment.subject, PENDING);
    let decide = if end == "approved" { approve } else { decline };
    let line = answers::ledger_line(payment.number.clone(), payment.transaction.clone(), shown);
    vec![
        watch(payment.subject.reference.clone()),
        step("next", Value::Null).answering(pending),
        decide(payment.number.clone()),
        outcome(answers::outcome(&payment.subject, shown)),
        step("ledger", Value::Null).answering(json!([line])),
    ]
}

fn by_token() -> String {
    let query = operation("payment_status").answering(answers::report(&answers::card_by_token(), PENDING));
    named(
        "payment_status",
        "",
        vec![stuck("payment"), operation("create_card_payment"), ledger_keeping_the_payment(), query],
    )
}

fn by_number() -> String {
    let query = operation("provider_status").answering(answers::report(&answers::card(), PENDING));
    named("provider_status", "", vec![stuck("payment"), operation("create_card_payment"), query])
}

fn by_transaction() -> String {
    let mut steps = vec![stuck("qr/dynamic/data"), operation("create_qr_data"), ledger_keeping_the_payment()];
    steps.push(payers::post_form("/qr", json!({"action": "approve"})));
    steps.push(operation("qr_status").answering(answers::report(&answers::qr(), PENDING)));
    named("qr_status", "", steps)
}

/// The callback tells that it is open, as the gateway does; the next one tells the end.
fn by_callback() -> String {
    let mut steps = vec![stuck("payment"), operation("create_card_payment")];
    steps.extend(callbacks_until(1, "callback"));
    steps.push(operation("verify_callback").answering(answers::verdict(&answers::card(), PENDING)));
    steps.push(approve(json!("order-1")));
    steps.extend(callbacks_until(2, "next"));
    let next = step("verify_callback", json!({"callback": kept("next"), "payment": answers::card().reference}));
    steps.push(next.answering(answers::verdict(&answers::card(), CHARGED)));
    named("verify_callback", "", steps)
}
