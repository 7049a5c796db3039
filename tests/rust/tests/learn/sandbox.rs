//! What is learned from Kassa's own sandbox equals the dialects that are known for it.

use std::fs;

use kassa::{Dialect, RecordedOutcome};
use kassa_sandbox::{LearnOptions, Learned, Sandbox, SandboxOptions, learn};
use serde_json::{Value, json};

use crate::{
    judging::judge,
    merchant::{
        CARD, Client, MBANK_CONFIRM, MBANK_PAY, Orders, PAY_FORM, QR_DATA, QR_IMAGE, card_request, exchanges, record,
    },
};

/// Where a sandbox has what the payments need.
struct Places {
    page: &'static str,
    mbank: &'static str,
    confirm_field: &'static str,
    /// Of the transaction; the code's text if it is only in that.
    transaction: &'static str,
}

fn text(answer: &Value, place: &str) -> String {
    answer.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("no {place} in {answer}")).to_owned()
}

/// Pays at a sandbox: each method approved twice and declined once.
fn pay(client: &Client, sandbox: &Sandbox, places: &Places) -> Orders {
    let mut orders = Orders::default();
    let decide = |number: &str, is_approved: bool, orders: &mut Orders| {
        let decided = if is_approved { sandbox.approve(number) } else { sandbox.decline(number) };
        decided.expect("it is pending");
        if is_approved { orders.approved.push(number.to_owned()) } else { orders.declined.push(number.to_owned()) }
    };
    for (index, amount) in ["100.10", "250", "75.50"].into_iter().enumerate() {
        let order = format!("card-{index}");
        let page = text(&client.call("POST", CARD, &card_request(&order, amount)), places.page);
        let token = page.rsplit('=').next().expect("a token").to_owned();
        client.get_status(&order, "Cards");
        client.status(&token);
        decide(&order, index < 2, &mut orders);
        client.get_status(&order, "Cards");
        client.status(&token);
    }
    for (index, amount) in [310, 1200, 45].into_iter().enumerate() {
        let order = format!("mbank-{index}");
        let request = json!({"orderNumber": order, "phone": "996555000101", "amount": amount, "comment": "tea"});
        let identifier = text(&client.call("POST", MBANK_PAY, &request), places.mbank);
        client.get_status(&order, "MBank");
        if index < 2 {
            for otp in ["999999", "101101"] {
                let mut request = json!({"orderNumber": order, "otp": otp});
                request[places.confirm_field] = json!(identifier);
                client.call("POST", MBANK_CONFIRM, &request);
            }
            orders.approved.push(order.clone());
        } else {
            decide(&order, false, &mut orders);
        }
        client.get_status(&order, "MBank");
        client.status(&identifier);
    }
    for (index, sum) in [39_000, 12_550, 7_000].into_iter().enumerate() {
        let answer = client.call("POST", QR_DATA, &json!({"sum": sum}));
        let found = text(&answer, places.transaction);
        let transaction = kassa::Elqr::parse(&found).ok().and_then(|code| code.transaction).unwrap_or(found);
        client.qr_status(&transaction);
        decide(&transaction, index < 2, &mut orders);
        client.qr_status(&transaction);
    }
    for amount in [300, 400] {
        let urls = json!({"amount": amount, "serviceName": "tea", "callbackURL": "http://127.0.0.1:9", "returnURL": "http://127.0.0.1:9"});
        client.call("POST", PAY_FORM, &urls);
    }
    client.call("POST", QR_IMAGE, &json!({"sum": 5_000}));
    client.get_status("nobody", "Cards");
    orders
}

struct Compared {
    learned: Learned,
    differences: Vec<String>,
    charged: usize,
}

/// Learns from a sandbox, and compares with a dialect that is known for it.
fn compare(acts_as: kassa_sandbox::Dialect, places: &Places, known: &Dialect, confirm: &[&str]) -> Compared {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gateway.jsonl");
    let sandbox = Sandbox::start(SandboxOptions { acts_as, ..SandboxOptions::default() }).expect("it starts");
    let orders = record(sandbox.url(), &path, |client| pay(client, &sandbox, places));
    let options = LearnOptions {
        files: vec![path.clone()],
        confirmations: confirm.iter().map(|text| text.parse().expect("an answer")).collect(),
        approved: orders.approved,
        declined: orders.declined,
        ..LearnOptions::default()
    };
    let learned = learn(&options).expect("a recording");
    let dialect = Dialect::from_json(learned.dialect.as_deref().expect("a dialect")).expect("the core reads it");
    let all = exchanges(&path);
    let (expected, found) = (judge(&all, known), judge(&all, &dialect));
    let charged = found.iter().filter(|one| one.is_charged()).count();
    let differ = expected.iter().zip(&found).filter(|(expected, found)| expected.outcome != found.outcome);
    let shown = |outcome: &RecordedOutcome| format!("{outcome:?}");
    let differences = differ
        .map(|(expected, found)| {
            format!(
                "{} {}: {}\n  and not {}",
                found.exchange,
                found.endpoint,
                shown(&found.outcome),
                shown(&expected.outcome)
            )
        })
        .collect();
    Compared { learned, differences, charged }
}

#[test]
fn finipay_is_learned_as_the_built_in_dialect() {
    let places =
        Places { page: "/data/ConfirmationUrl", mbank: "/data/quid", confirm_field: "quid", transaction: "/data" };
    let known = Dialect::named("finipay").expect("a known dialect");
    // The built-in dialect has no word for a rejected QR payment: FAILED is the sandbox's own.
    let confirm = ["qr_status:SUCCESSFUL=charged", "qr_status:FAILED=open", "payment_status.numbers=any"];
    let compared = compare(kassa_sandbox::Dialect::Finipay, &places, &known, &confirm);
    let report = &compared.learned.report;
    assert_eq!(compared.differences, [""; 0], "{report}\n{:?}", compared.learned.dialect);
    assert!(compared.charged >= 10, "{report}");
    assert!(report.contains("qr_status: no proven word of a rejection") && report.contains("elqr:32.11"), "{report}");
}

#[test]
fn other_names_are_learned_as_the_example_has_them() {
    let places = Places {
        page: "/payload/confirm_link",
        mbank: "/payload/operation_id",
        confirm_field: "paymentId",
        transaction: "/payload/operation_id",
    };
    let example = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sandbox-other-dialect.json"));
    let mut example: Value = serde_json::from_str(&example.expect("an example")).expect("JSON");
    // Two places have the transaction of a QR payment, and the core compares nothing with it: neither is learned.
    example["endpoints"]["qr_status"]["order_number"] = json!([]);
    let known = Dialect::from_json(&example.to_string()).expect("a dialect");
    let compared = compare(kassa_sandbox::Dialect::Other, &places, &known, &["CHARGE=charged", "Reject=rejected"]);
    assert_eq!(compared.differences, [""; 0], "{}\n{:?}", compared.learned.report, compared.learned.dialect);
    assert!(compared.learned.is_whole, "{}", compared.learned.report);
    assert!(compared.charged >= 10, "{}", compared.learned.report);
}
