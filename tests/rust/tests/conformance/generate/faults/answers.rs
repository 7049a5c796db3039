//! What the SDK makes of the sandbox's answers.

use serde_json::{Value, json};

use super::{
    super::{CARD, MBANK, MEGAPAY},
    steps::kept,
};

/// A status as the sandbox writes it: its word, code and message.
#[derive(Clone, Copy)]
pub struct Shown {
    pub word: &'static str,
    pub code: &'static str,
    pub message: &'static str,
}

pub const CREATED: Shown = Shown { word: "CREATED", code: "110", message: "CREATED" };
pub const PENDING: Shown = Shown { word: "PENDING", code: "120", message: "PAYMENT_PENDING" };
pub const CHARGED: Shown = Shown { word: "CHARGE", code: "200", message: "PAYMENT_SUCCESS" };
pub const REJECTED: Shown = Shown { word: "Reject", code: "210", message: "*" };

/// By its payer.
pub const CANCELLED: Shown = Shown { code: "212", ..REJECTED };

/// What is queried.
#[derive(Clone)]
pub struct Subject {
    /// What the merchant asks with.
    pub reference: Value,
    number: Value,
    amount: &'static str,
}

pub fn card() -> Subject {
    Subject { reference: json!({"$use": CARD.0}), number: json!("order-1"), amount: "100.25" }
}

/// Asked about by the gateway's number, and answered under it.
pub fn card_by_token() -> Subject {
    let reference = json!({"$use": CARD.0, "$with": {"gateway_number": kept("token")}});
    Subject { reference, number: kept("token"), amount: "100.25" }
}

/// The same at its end, which counts once the question by the merchant's number agrees.
pub fn card_by_both_numbers() -> Subject {
    Subject { number: card().number, ..card_by_token() }
}

pub fn mbank() -> Subject {
    Subject { reference: json!({"$use": MBANK.0}), number: json!("order-2"), amount: "250" }
}

pub fn megapay() -> Subject {
    Subject { reference: json!({"$use": MEGAPAY.0}), number: json!("order-3"), amount: "250.55" }
}

/// Its number is the one that a callback claims.
pub fn pay_form() -> Subject {
    let claimed = json!({"order_number": kept("number"), "provider": "cards", "is_claimed": true});
    let reference = json!({"$use": "payment of the pay-form", "$with": claimed});
    Subject { reference, number: kept("number"), amount: "5" }
}

/// A QR code's amounts are in tyiyn.
pub fn qr() -> Subject {
    let transaction = json!({"transaction_id": kept("transaction")});
    let reference = json!({"$use": "payment of the QR picture", "$with": transaction});
    Subject { reference, number: kept("transaction"), amount: "10025" }
}

pub fn report(subject: &Subject, shown: Shown) -> Value {
    let status = match shown.word {
        "CHARGE" => json!("charged"),
        "Reject" => json!("rejected"),
        word => json!({"kind": "other", "word": word}),
    };
    json!({
        "status": status, "code": shown.code, "reason": super::super::like(shown.message),
        "order_number": subject.number, "amount": {"$decimal": subject.amount}, "currency": "KGS",
        "raw": {"$like": format!("*\"{}\"*", shown.word)},
    })
}

pub fn outcome(subject: &Subject, shown: Shown) -> Value {
    json!({"answer": verdict(subject, shown)})
}

/// The watch's deadline passed; `last` is what was seen last.
pub fn expired(last: Option<(&Subject, Shown)>) -> Value {
    let seen = match last {
        Some((_, shown)) => format!(", last seen as \"{}\"", shown.word),
        None => ", and no status was ever seen".to_owned(),
    };
    let mut error = json!({
        "kind": "DeadlineExpired", "payment_may_exist": false, "is_retryable": false,
        "text": format!("The payment was still pending at the deadline{seen}. Keep watching it."),
    });
    if let Some((subject, shown)) = last {
        error["last"] = report(subject, shown);
    }
    json!({"error": error})
}

pub fn verdict(subject: &Subject, shown: Shown) -> Value {
    let (payment, report) = (&subject.reference, report(subject, shown));
    match shown.word {
        "CHARGE" => {
            // The order number of a QR payment is not known, so none can be compared.
            let is_qr = payment["$use"] == "payment of the QR picture";
            let compared =
                if is_qr { json!(["amount", "currency"]) } else { json!(["orderNumber", "amount", "currency"]) };
            json!({"kind": "charged", "payment": payment, "report": report, "compared": compared, "is_charged": true})
        }
        "Reject" => json!({"kind": "rejected", "payment": payment, "report": report, "is_charged": false}),
        _ => json!({"kind": "pending", "payment": payment, "report": report, "is_charged": false}),
    }
}

pub fn watch_report(subject: &Subject, shown: Shown) -> Value {
    json!({"kind": "status", "verdict": verdict(subject, shown)})
}

/// The gateway has no other order number for a card without 3DS than the merchant's.
pub fn card_created(status: &str, code: &str) -> Value {
    json!({
        "payment": {"$use": "payment of order-1"}, "next_step": {"kind": "check_status", "status": status}, "code": code,
        "amount": {"$decimal": "100.25"}, "currency": "KGS", "raw": {"$like": format!("*\"{status}\"*")},
    })
}

pub fn mbank_created(status: &str, code: &str) -> Value {
    json!({
        "payment": {"$use": "payment of order-2"}, "code": code, "reason": "CREATED", "status": status,
        "raw": {"$like": format!("*\"{status}\"*")},
    })
}

pub fn mbank_confirmed(shown: Shown) -> Value {
    json!({
        "payment": {"$use": "payment of order-2"}, "code": shown.code, "reason": shown.message, "status": shown.word,
        "raw": {"$like": format!("*\"{}\"*", shown.word)},
    })
}

/// Two percent of the amount, rounded to tyiyn, and three minutes.
pub fn megapay_checked(code: &str) -> Value {
    json!({
        "payment": {"$use": "payment of order-3"}, "commission": {"$decimal": "5.01"}, "total": {"$decimal": "255.56"},
        "pin_lifetime_ms": 180_000, "code": code, "reason": "CREATED", "raw": {"$any": true},
    })
}

pub fn megapay_accepted(code: &str) -> Value {
    json!({
        "payment": {"$use": "payment of order-3"}, "transaction_id": {"$like": "MP-*"}, "code": code, "reason": "CONFIRMED",
        "raw": {"$any": true},
    })
}

pub fn pay_form_created() -> Value {
    let payment = json!({"$use": "payment of the pay-form"});
    json!({"payment": payment, "pay_form_url": {"$like": "http://*/pay-form?token=*"}, "raw": {"$any": true}})
}

pub fn qr_image() -> Value {
    json!({"payment": {"$use": "payment of the QR picture"}, "png": {"$any": true}, "raw": {"$any": true}})
}

pub fn qr_data() -> Value {
    let id = json!({"$like": "QR-*"});
    json!({
        "payload": {"$like": "http://*/qr?token=*"}, "transaction_id": id,
        "payment": {"$use": "payment of the QR picture", "$with": {"transaction_id": id}},
        "raw": {"$any": true},
    })
}

/// The answer of an operation that met no fault, where the payment is charged.
pub fn usual(operation: &str) -> Value {
    match operation {
        "create_card_payment" => card_created("Success", "110"),
        "create_mbank_payment" => mbank_created("CREATED", "110"),
        "confirm_mbank_payment" => mbank_confirmed(CHARGED),
        "check_megapay" => megapay_checked("110"),
        "pay_by_megapay" => megapay_accepted("120"),
        "create_pay_form" => pay_form_created(),
        "create_qr_image" => qr_image(),
        "create_qr_data" => qr_data(),
        "payment_status" => report(&card_by_token(), CHARGED),
        "provider_status" => report(&card(), CHARGED),
        "qr_status" => report(&qr(), CHARGED),
        "verify_callback" => verdict(&card(), CHARGED),
        other => panic!("no answer of {other}"),
    }
}

/// A line of the ledger.
pub fn ledger_line(order_number: Value, transaction_id: Value, shown: Shown) -> Value {
    let times_charged = u32::from(shown.word == "CHARGE");
    json!({
        "order_number": order_number, "gateway_number": {"$any": true}, "transaction_id": transaction_id,
        "status": shown.word, "times_charged": times_charged,
    })
}
