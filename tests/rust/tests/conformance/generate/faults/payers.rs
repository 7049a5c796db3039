//! Payments that wait for their payer: how each is made, how its payer pays, and what is known of it then.

use serde_json::{Value, json};

use super::{
    answers::{self, Subject},
    steps::{Step, kept, ledger_keeping_the_payment, operation, step},
};

pub struct Payment {
    /// The operation that makes it, and its endpoint.
    pub made_by: &'static str,
    pub endpoint: &'static str,
    pub make: Vec<Value>,
    /// What the payer does; the gateway's faults strike it.
    pub pay: Value,
    /// What the sandbox knows it by.
    pub number: Value,
    pub transaction: Value,
    pub subject: Subject,
    /// What the merchant stored at the sale.
    pub stored: Value,
}

pub fn all() -> Vec<Payment> {
    vec![
        card(),
        mbank(),
        megapay(),
        pay_form(),
        qr("create_qr_image", "qr/dynamic"),
        qr("create_qr_data", "qr/dynamic/data"),
    ]
}

fn card() -> Payment {
    let made = step("create_card_payment", json!({"$use": "one with 3DS"}));
    Payment {
        made_by: "create_card_payment",
        endpoint: "payment",
        make: vec![made.keeping("token", json!(["answer", "payment", "gateway_number"]))],
        pay: post_form("/3ds", json!({"otp": "123456"})),
        number: json!("order-1"),
        transaction: Value::Null,
        subject: answers::card(),
        stored: answers::card().reference,
    }
}

pub fn mbank() -> Payment {
    Payment {
        made_by: "create_mbank_payment",
        endpoint: "mbank/pay",
        make: vec![operation("create_mbank_payment")],
        pay: operation("confirm_mbank_payment"),
        number: json!("order-2"),
        transaction: Value::Null,
        subject: answers::mbank(),
        stored: answers::mbank().reference,
    }
}

/// Only the payment with the PIN says where callbacks go.
pub fn megapay() -> Payment {
    Payment {
        made_by: "check_megapay",
        endpoint: "mega/check",
        make: vec![operation("check_megapay")],
        pay: operation("pay_by_megapay"),
        number: json!("order-3"),
        transaction: Value::Null,
        subject: answers::megapay(),
        stored: answers::megapay().reference,
    }
}

/// The merchant learns its number from the callback; here from the ledger.
fn pay_form() -> Payment {
    let fields = json!({
        "provider": "Cards", "pan": super::steps::PAN, "expiryMonth": "08", "expiryYear": "2031", "cvc": "737",
        "name": "Aibek",
    });
    Payment {
        made_by: "create_pay_form",
        endpoint: "pay-form",
        make: vec![operation("create_pay_form"), ledger_keeping_the_payment()],
        pay: post_form("/pay-form", fields),
        number: kept("number"),
        transaction: Value::Null,
        subject: answers::pay_form(),
        stored: json!({"$use": "payment of the pay-form"}),
    }
}

/// A picture names no transaction, so the ledger tells it.
fn qr(made_by: &'static str, endpoint: &'static str) -> Payment {
    Payment {
        made_by,
        endpoint,
        make: vec![operation(made_by), ledger_keeping_the_payment()],
        pay: post_form("/qr", json!({"action": "approve"})),
        number: kept("transaction"),
        transaction: kept("transaction"),
        subject: answers::qr(),
        stored: answers::qr().reference,
    }
}

pub fn post_form(page: &str, fields: Value) -> Value {
    step("post_form", json!({"page": page, "token": kept("token"), "fields": fields}))
}
