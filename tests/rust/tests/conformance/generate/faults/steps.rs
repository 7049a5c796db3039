//! The steps that these vectors are made of, and their inputs.

use serde_json::{Map, Value, json};

/// The test cards that are approved, without 3DS and with it.
pub const PAN: &str = "4000000000002016";
pub const PAN_WITH_3DS: &str = "4111111111111111";

/// The sandbox is asked often, and for as long as it takes.
const INTERVAL_MS: u64 = 50;
pub const PATIENT_MS: u64 = 600_000;

pub fn constants() -> Vec<(&'static str, Value)> {
    let callback_url = "{server}/callback";
    let card = json!({"callback_url": callback_url, "pan": PAN, "language": "en"});
    let mbank = json!({"callback_url": callback_url, "phone": "996555000101"});
    let megapay = json!({"callback_url": callback_url, "phone": "996755000201"});
    let dialect: Value =
        serde_json::from_str(include_str!("../../../../../../examples/sandbox-dialect.json")).expect("JSON");
    vec![
        ("a card payment", json!({"$use": "create_card_payment", "$with": card})),
        ("one with 3DS", json!({"$use": "a card payment", "$with": {"pan": PAN_WITH_3DS}})),
        ("an MBank payment", json!({"$use": "create_mbank_payment", "$with": mbank})),
        ("its confirmation", json!({"$use": "confirm_mbank_payment", "$with": {"otp": "101101"}})),
        ("a MegaPay payment", json!({"$use": "check_megapay", "$with": megapay})),
        ("a MegaPay payment with its PIN", json!({"payment": {"$use": "a MegaPay payment"}, "pin": "201201"})),
        ("a pay-form", json!({"$use": "create_pay_form", "$with": {"callback_url": callback_url}})),
        (
            "a QR payment",
            json!({"$use": "create_qr_data", "$with": {"callback_url": callback_url, "requisite": "Shop 7"}}),
        ),
        ("the sandbox's dialect", dialect),
    ]
}

/// The valid input of an operation.
pub fn input_of(operation: &str) -> Value {
    match operation {
        "create_card_payment" => json!({"$use": "a card payment"}),
        "create_mbank_payment" => json!({"$use": "an MBank payment"}),
        "confirm_mbank_payment" => json!({"$use": "its confirmation"}),
        "check_megapay" => json!({"$use": "a MegaPay payment"}),
        "pay_by_megapay" => json!({"$use": "a MegaPay payment with its PIN"}),
        "create_pay_form" => json!({"$use": "a pay-form"}),
        "create_qr_image" | "create_qr_data" => json!({"$use": "a QR payment"}),
        "payment_status" => json!({"gateway_number": kept("token")}),
        "provider_status" => json!({"order_number": "order-1", "provider": "cards"}),
        "qr_status" => json!({"transaction_id": kept("transaction")}),
        "verify_callback" => json!({"callback": kept("callback"), "payment": {"$use": "payment of order-1"}}),
        other => panic!("no input of {other}"),
    }
}

pub fn step(name: &str, input: Value) -> Value {
    let mut step = Map::new();
    step.insert("do".to_owned(), name.into());
    if !input.is_null() {
        step.insert("input".to_owned(), input);
    }
    step.into()
}

pub fn operation(name: &str) -> Value {
    step(name, input_of(name))
}

pub trait Step {
    fn expecting(self, result: Value) -> Value;
    fn answering(self, answer: Value) -> Value;
    fn keeping(self, name: &str, path: Value) -> Value;
}

impl Step for Value {
    fn expecting(mut self, result: Value) -> Value {
        self["expect"] = result;
        self
    }

    fn answering(self, answer: Value) -> Value {
        self.expecting(json!({"answer": answer}))
    }

    /// Remembers a part of the result for the following steps.
    fn keeping(mut self, name: &str, path: Value) -> Value {
        self["keep"][name] = path;
        self
    }
}

pub fn kept(name: &str) -> Value {
    json!({"$kept": name})
}

pub fn set_fault(name: &str, settings: Value) -> Value {
    let mut fault = settings;
    fault["name"] = name.into();
    step("set_fault", fault)
}

pub fn clear_faults() -> Value {
    step("clear_faults", Value::Null)
}

pub fn approve(number: Value) -> Value {
    step("approve", json!({"number": number}))
}

pub fn decline(number: Value) -> Value {
    step("decline", json!({"number": number}))
}

/// What the ledger says of the only payment there is.
pub fn ledger_keeping_the_payment() -> Value {
    step("ledger", Value::Null)
        .keeping("token", json!(["answer", 0, "gateway_number"]))
        .keeping("number", json!(["answer", 0, "order_number"]))
        .keeping("transaction", json!(["answer", 0, "transaction_id"]))
}

/// A number of callbacks that came to the shop, the last of them kept.
pub fn callbacks_until(number: u64, name: &str) -> Vec<Value> {
    vec![step("wait_for_requests", json!({"count": number})).answering(json!(true)), received(number, name)]
}

pub fn received(number: u64, name: &str) -> Value {
    step("received", json!({"number": number})).keeping(name, json!(["answer"]))
}

pub fn watch(payment: Value) -> Value {
    step("watch", json!({"payment": payment, "interval_ms": INTERVAL_MS, "deadline_ms": PATIENT_MS}))
}

pub fn watch_until(payment: Value, deadline_ms: u64) -> Value {
    step("watch", json!({"payment": payment, "interval_ms": INTERVAL_MS, "deadline_ms": deadline_ms}))
}

pub fn outcome(expected: Value) -> Value {
    step("outcome", Value::Null).expecting(expected)
}
