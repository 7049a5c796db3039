//! The table: each kind of scenario with its variants.

use std::time::Duration;

use serde_json::json;

use super::{Copies, Killed, Script};
use crate::{
    backend::{FalseStatus, OpeningFault},
    http::BreakOff,
    scenarios::{Scenario, Script as Any},
};

/// Callbacks about an unpaid order, as an attacker who knows the address posts them.
pub(super) const FORGED: [(&str, &str); 9] = [
    (
        "charge",
        r#"{"orderNumber":"{number}","amount":{amount},"currency":"KGS","status":"CHARGE","dateCreated":"2026-01-01T00:00:00","provider":"Cards"}"#,
    ),
    (
        "own-reference",
        r#"{"orderNumber":"{reference}","amount":{amount},"currency":"KGS","status":"CHARGE","dateCreated":"2026-01-01T00:00:00","provider":"Cards"}"#,
    ),
    ("lower-case", r#"{"orderNumber":"{number}","amount":{amount},"status":"charge","provider":"Cards"}"#),
    ("success", r#"{"orderNumber":"{number}","amount":{amount},"status":"Success","provider":"MBank"}"#),
    (
        "payment-success",
        r#"{"code":"200","message":"PAYMENT_SUCCESS","data":{"orderNumber":"{number}","status":"CHARGE","amount":{amount}}}"#,
    ),
    ("amount-text", r#"{"orderNumber":"{number}","amount":"{amount}","status":"CHARGE","provider":"MegaPay"}"#),
    ("qr", r#"{"transaction_id":"{number}","amount":{amount},"status":"CHARGE","requisite":"0700"}"#),
    ("form", "orderNumber={number}&amount={amount}&status=CHARGE&provider=Cards"),
    (
        "more-money",
        r#"{"orderNumber":"{number}","amount":1000000,"currency":"KGS","status":"CHARGE","provider":"Cards"}"#,
    ),
];
/// Bodies that are not callbacks.
pub(super) const BODIES: [(&str, &str); 10] = [
    ("empty", ""),
    ("not-json", "CHARGE"),
    ("list", "[]"),
    ("null", "null"),
    ("empty-object", "{}"),
    ("number-as-order", r#"{"orderNumber":17,"amount":390,"status":"CHARGE"}"#),
    ("order-null", r#"{"orderNumber":null,"status":"CHARGE"}"#),
    ("deep", ""),
    ("large", ""),
    ("not-utf8", ""),
];
/// Queries with which a payer opens the return page without having paid.
pub(super) const RETURNS: [(&str, &str, bool); 6] = [
    ("plain", "", false),
    ("code", "statusCode=200", false),
    ("order-and-code", "OrderNumber={number}&statusCode=200", false),
    ("own-reference", "OrderNumber={reference}&statusCode=200&status=CHARGE", false),
    ("status", "status=paid&success=true", false),
    ("form", "OrderNumber={number}&statusCode=200", true),
];

/// All scenarios of this kind of shop.
pub(crate) fn all() -> Vec<Scenario> {
    let mut list = Vec::new();
    let mut add = |id: &str, text: String, script: Script| {
        let is_alone = matches!(script, Script::Killed(_));
        list.push(Scenario { id: id.to_owned(), text, script: Any::Gateway(script), is_alone });
    };
    add(
        "paid/comes-back",
        "a payer pays and comes back".to_owned(),
        Script::Paid { copies: Copies::One, comes_back: true },
    );
    add(
        "page-closed/callback",
        "a payer pays and never comes back".to_owned(),
        Script::Paid { copies: Copies::One, comes_back: false },
    );
    add("declined/callback", "a payment is declined".to_owned(), Script::Declined);
    for (copies, name, text) in [
        (Copies::AfterEachOther, "after-each-other", "three times, one after the other"),
        (Copies::AtOnce(2), "two-at-once", "twice at the same time"),
        (Copies::AtOnce(8), "eight-at-once", "eight times at the same time"),
    ] {
        for comes_back in [false, true] {
            let (suffix, also) = if comes_back { ("-and-return", ", and the payer comes back") } else { ("", "") };
            add(
                &format!("callback-twice/{name}{suffix}"),
                format!("the callback of a charge arrives {text}{also}"),
                Script::Paid { copies, comes_back },
            );
        }
    }
    for seconds in [1, 3, 6] {
        add(
            &format!("callback-late/{seconds}s"),
            format!("the callback arrives {seconds} s late, and the payer opens the return page first"),
            Script::Late(Duration::from_secs(seconds)),
        );
    }
    for status in ["CREATED", "PENDING", "Reject", "ON_HOLD"] {
        add(
            &format!("out-of-order/{}", status.to_lowercase().replace('_', "-")),
            format!("a callback with {status} arrives after that of the charge"),
            Script::Stale(status),
        );
    }
    for (index, (name, _)) in FORGED.iter().enumerate() {
        add(
            &format!("forged-callback/{name}"),
            format!("somebody posts a callback about an unpaid order ({name})"),
            Script::Forged(index),
        );
    }
    for (index, (name, _)) in BODIES.iter().enumerate() {
        add(
            &format!("no-callback-body/{name}"),
            format!("somebody posts a body that is not a callback ({name})"),
            Script::Body(index),
        );
    }
    for both_paid in [false, true] {
        let name = if both_paid { "both-paid" } else { "one-paid" };
        add(
            &format!("another-order/{name}"),
            "the callback of one order arrives at the address of another one".to_owned(),
            Script::AnotherOrder { both_paid },
        );
    }
    for (index, (name, query, _)) in RETURNS.iter().enumerate() {
        add(
            &format!("forged-return/{name}"),
            format!("a payer opens the return page without paying, with \"{query}\""),
            Script::Returned(index),
        );
    }
    for (member, value, name) in [
        ("amount", json!(1), "less"),
        ("amount", json!(0), "nothing"),
        ("amount", json!(1_000_000), "more"),
        ("currency", json!("USD"), "currency"),
        ("orderNumber", json!("ANOTHER-1"), "order"),
        ("status", json!("ON_HOLD"), "unknown-status"),
        ("status", json!("PENDING"), "pending"),
    ] {
        add(
            &format!("mismatch/{name}"),
            format!("the gateway's status has another {member}: {value}"),
            Script::Mismatch { member, value },
        );
    }
    for (lie, name) in [
        (FalseStatus::Status(500), "500"),
        (FalseStatus::Status(503), "503"),
        (FalseStatus::Status(401), "401"),
        (FalseStatus::Garbage, "not-json"),
    ] {
        add(
            &format!("status-down/{name}"),
            format!("the gateway's status fails ({name}) when the callback arrives, and works again later"),
            Script::StatusDown(lie),
        );
    }
    for comes_back in [true, false] {
        let name = if comes_back { "payer-returns" } else { "page-closed" };
        add(
            &format!("no-callback/{name}"),
            format!("a payment is charged, and no callback ever arrives ({name})"),
            Script::Unreported { comes_back },
        );
    }
    for (count, pays) in [(2, 1), (2, 2), (5, 3), (8, 8)] {
        add(
            &format!("payers-at-once/{pays}-of-{count}"),
            format!("{count} orders at once, {pays} of them paid"),
            Script::Crowd { count, pays },
        );
    }
    for (how, name, text) in [
        (BreakOff::InBody, "in-body", "the connection of the callback breaks in the middle of the body"),
        (BreakOff::InHead, "in-head", "the connection of the callback breaks in the middle of the head"),
        (BreakOff::BeforeAnswer, "answer-lost", "the shop's answer to the callback is lost"),
        (BreakOff::Slowly, "slowly", "the callback arrives in pieces"),
    ] {
        add(&format!("broken-off/{name}"), format!("{text}, and it is sent again"), Script::BrokenOff(how));
    }
    for (killed, name, text) in [
        (Killed::BeforePayment, "before-payment", "between the order and the payment"),
        (Killed::BeforeCallback, "before-callback", "between the payment and its callback"),
        (Killed::DuringCallback, "during-callback", "while it takes the callback, which is sent again"),
        (Killed::AfterCallback, "after-callback", "after it took the callback"),
        (Killed::BetweenCopies, "between-copies", "between two copies of the callback"),
    ] {
        add(
            &format!("shop-killed/{name}"),
            format!("the shop is killed {text}, and started again"),
            Script::Killed(killed),
        );
    }
    for (fault, name, text) in [
        (OpeningFault::Refused(503), "refused-503", "answers 503"),
        (OpeningFault::Refused(500), "refused-500", "answers 500"),
        (OpeningFault::Refused(401), "refused-401", "answers 401"),
        (OpeningFault::Refused(429), "refused-429", "answers 429"),
        (OpeningFault::ResponseLost, "answer-lost", "makes the payment, and its answer is lost"),
        (OpeningFault::Garbage, "not-json", "answers something that is not JSON"),
        (OpeningFault::Late(Duration::from_secs(3)), "slow", "answers after 3 s"),
    ] {
        add(
            &format!("opening/{name}"),
            format!("the gateway {text} when the shop starts a payment"),
            Script::Opening(fault),
        );
    }
    list
}
