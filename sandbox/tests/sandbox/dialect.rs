//! The other dialect: the same facts, in another envelope and under other names.

use kassa_sandbox::Dialect;
use serde_json::{Value, json};

use crate::{
    admin::admin,
    common::{
        CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_IMAGE, QR_STATUS, Response, call, card_body,
        confirm_body, get_status, mbank_body, pay_form_body, post, qr_body, start, start_with,
    },
};

/// Code and payload of an answer in the other dialect.
fn read(answer: &Response) -> (Value, Value) {
    let json = answer.json();
    assert!(json.get("code").is_none() && json.get("data").is_none(), "{json}");
    (json["result"]["value"].clone(), json["payload"].clone())
}

#[test]
fn every_endpoint_speaks_it() {
    let sandbox = start_with(|options| options.acts_as = Dialect::Other);
    let (code, card) = read(&post(&sandbox, CARD, &card_body("O-1")));
    assert_eq!((code, &card["total"], &card["order_id"]), (json!("110"), &json!(100.10), &json!("O-1")));
    assert!(card["confirm_link"].as_str().expect("a link").contains("/3ds?token="));
    let (_, mbank) = read(&post(&sandbox, MBANK_PAY, &mbank_body("O-2")));
    assert_eq!(mbank["operation_id"], json!(sandbox.payment("O-2").expect("a payment").gateway_number));
    let (code, wrong) = read(&post(&sandbox, MBANK_CONFIRM, &confirm_body("O-2", "0")));
    assert_eq!((code, wrong), (json!("422"), json!({ "order_id": "O-2", "state": "CREATED", "tries_left": 2 })));
    let (code, confirmed) = read(&post(&sandbox, MBANK_CONFIRM, &confirm_body("O-2", "101101")));
    assert_eq!((code, confirmed), (json!("200"), json!({ "order_id": "O-2", "state": "CHARGE" })));
    let (_, form) = read(&post(&sandbox, PAY_FORM, &pay_form_body()));
    assert!(form["form_link"].as_str().expect("a link").contains("/pay-form?token="));
    let status = get_status(&sandbox, "O-2", "MBank");
    assert!(status.body.contains("\"total\":250"), "{}", status.body);
    assert_eq!(read(&status).1, json!({ "order_id": "O-2", "total": 250, "state": "CHARGE", "ccy": "KGS" }));
    assert!(read(&post(&sandbox, QR_IMAGE, &qr_body())).1["picture"].is_string());
    let (_, data) = read(&post(&sandbox, QR_DATA, &qr_body()));
    let id = data["operation_id"].as_str().expect("an id");
    let (code, qr) = read(&call(&sandbox, "GET", &format!("{QR_STATUS}?transaction_id={id}"), ""));
    assert_eq!((code, &qr["operation_id"], &qr["total"]), (json!("110"), &json!(id), &json!(12550)));
    let (code, answer) = read(&post(&sandbox, CARD, &card_body("O-3").without("cvc")));
    assert_eq!((code, &answer["violations"][0]["field"]), (json!("400"), &json!("cvc")));
}

#[test]
fn it_is_switched_while_the_sandbox_runs() {
    let sandbox = start();
    assert_eq!(get_status(&sandbox, "x", "Cards").code(), "404");
    admin(&sandbox, "PATCH", "switches", "{\"acts_as\": \"other\"}");
    assert_eq!(read(&get_status(&sandbox, "x", "Cards")).0, json!("404"));
    sandbox.reset();
    assert_eq!(get_status(&sandbox, "x", "Cards").code(), "404");
}
