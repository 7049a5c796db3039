//! The responses that the public pages of the gateway FINIPAY show. All others are as in the interface.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    domain::{Payment, PaymentStatus, amount::Amount, clock, codes},
    endpoints::{FinipayResponse, Response},
    store::payments::Record,
};

/// The code of all QR responses.
const QR: &str = "100";
/// The code of a confirmation. In the interface's responses, the same code means a pending payment.
const CONFIRMED: &str = "120";
const CREATED: &str = "CREATED";

/// The status word of an unpaid QR payment. Its first letter is Cyrillic, U+0421, as on FINIPAY's page.
const QR_OPEN: &str = "\u{421}REATED";
const QR_PAID: &str = "SUCCESSFUL";
/// The status word of a rejected QR payment: the sandbox's own, because no page shows one.
const QR_REJECTED: &str = "FAILED";

pub(super) static MBANK_CREATED: FinipayResponse = FinipayResponse {
    code: codes::CREATED,
    message: CREATED,
    data: |generator| generator.subschema_for::<MbankCreated<'_>>().to_value(),
};

pub(super) static MBANK_CONFIRMED: FinipayResponse = FinipayResponse {
    code: CONFIRMED,
    message: "CONFIRMED",
    data: |generator| generator.subschema_for::<MbankConfirmed<'_>>().to_value(),
};

pub(super) static QR_IMAGE: FinipayResponse = FinipayResponse {
    code: QR,
    message: "SUCCESS",
    data: |_| {
        json!({
            "type": "string", "contentEncoding": "base64", "contentMediaType": "image/png",
            "description": "The image, in base64.",
        })
    },
};

pub(super) static QR_DATA: FinipayResponse = FinipayResponse {
    code: QR,
    message: "SUCCESS",
    data: |_| {
        json!({
            "type": "string",
            "description": "Content of the QR code. It is the only place that contains the transaction id (tag 32.11).",
        })
    },
};

pub(super) static QR_STATUS: FinipayResponse = FinipayResponse {
    code: QR,
    message: "Success",
    data: |_| {
        json!({
            "type": "string", "enum": [QR_OPEN, QR_PAID, QR_REJECTED],
            "description": "The payment's state, as a plain string. The first letter of the first value is Cyrillic; \
                the last value is the sandbox's own.",
        })
    },
};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FinipayMbankPaymentCreated", deny_unknown_fields)]
struct MbankCreated<'a> {
    /// Amount in som.
    amount: Option<Amount>,
    /// The gateway's number, for the confirmation.
    quid: &'a str,
    /// Registration time in Bishkek, without a time zone.
    date_time: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FinipayMbankPaymentConfirmed", deny_unknown_fields)]
struct MbankConfirmed<'a> {
    /// The gateway's number.
    quid: &'a str,
    /// Confirmation time in Bishkek, without a time zone.
    date_time: String,
}

fn response(answer: &FinipayResponse, data: &impl Serialize) -> Response {
    Response::ok(answer.code, answer.message, data)
}

/// The response for a new MBank payment.
pub(super) fn mbank_created(record: &Record) -> Response {
    let data = MbankCreated {
        amount: record.payment.amount.map(Amount),
        quid: &record.payment.gateway_number,
        date_time: clock::local_date_time(record.created_at),
    };
    response(&MBANK_CREATED, &data)
}

/// The response for an MBank payment after the right one-time password.
pub(super) fn mbank_confirmed(record: &Record, now: i64) -> Response {
    let data = MbankConfirmed {
        quid: &record.payment.gateway_number,
        date_time: clock::local_date_time(record.finished_at.unwrap_or(now)),
    };
    response(&MBANK_CONFIRMED, &data)
}

/// The response for a new QR payment: the base64 of its picture.
pub(super) fn qr_image(base64: &str) -> Response {
    response(&QR_IMAGE, &base64)
}

/// The response for a new QR payment: the text of its code.
pub(super) fn qr_data(text: &str) -> Response {
    response(&QR_DATA, &text)
}

/// The response for the status of a QR payment.
pub(super) fn qr_status(payment: &Payment) -> Response {
    let word = match payment.status {
        PaymentStatus::Created | PaymentStatus::Pending => QR_OPEN,
        PaymentStatus::Charged => QR_PAID,
        PaymentStatus::Rejected => QR_REJECTED,
    };
    response(&QR_STATUS, &word).of_bare_status()
}

/// The number in a status response: one of the gateway's numbers that no earlier response contained.
pub(super) fn status_number(record: &Record) -> String {
    format!("Fp{:014}", record.id)
}

/// The number of an MBank payment: the day in Bishkek and random digits. No page opens with it.
pub(super) fn new_quid(now: i64) -> String {
    let day: String = clock::local_date_time(now).chars().filter(char::is_ascii_digit).take(8).collect();
    format!("FP{day}{:012}", fastrand::u64(..1_000_000_000_000))
}

/// The number of a QR payment.
pub(super) fn new_transaction_id() -> String {
    format!("FNP{}", Uuid::new_v4().simple())
}

/// The JSON Schema of a response's envelope.
pub(crate) fn schema(answer: &FinipayResponse, generator: &mut SchemaGenerator) -> Value {
    json!({
        "type": "object",
        "description": "If the sandbox acts as FINIPAY.",
        "properties": {
            "code": { "type": "string", "enum": [answer.code], "description": format!("{}: as finipay", answer.code) },
            "message": { "type": "string", "enum": [answer.message], "description": "Description of the code." },
            "data": (answer.data)(generator),
        },
        "required": ["code", "message", "data"],
        "additionalProperties": false,
    })
}
