//! The second dialect: the same answers in another envelope, under other names, to test clients whose reading is
//! configurable.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

/// What the fields of `data` are called in the other dialect.
const NAMES: [(&str, &str); 15] = [
    ("ConfirmationUrl", "confirm_link"),
    ("amount", "total"),
    ("attemptsLeft", "tries_left"),
    ("currency", "ccy"),
    ("description", "purpose"),
    ("errors", "violations"),
    ("image", "picture"),
    ("name", "holder"),
    ("orderNumber", "order_id"),
    ("payFormUrl", "form_link"),
    ("paymentId", "operation_id"),
    ("qr_data", "qr_text"),
    ("status", "state"),
    ("sum", "total"),
    ("transaction_id", "operation_id"),
];

#[derive(Serialize)]
struct OtherEnvelope<'a> {
    result: OtherResult<'a>,
    payload: BTreeMap<&'a str, &'a RawValue>,
}

#[derive(Serialize)]
struct OtherResult<'a> {
    value: &'a str,
    text: &'a str,
}

/// Writes an answer in the other dialect. Data that is no object, as FINIPAY's may be, becomes the one member of one.
pub(crate) fn other(code: &str, message: &str, data: &RawValue) -> serde_json::Result<String> {
    let fields: BTreeMap<&str, &RawValue> =
        serde_json::from_str(data.get()).unwrap_or_else(|_| BTreeMap::from([("value", data)]));
    let payload = fields.into_iter().map(|(name, value)| (renamed(name), value)).collect();
    serde_json::to_string(&OtherEnvelope { result: OtherResult { value: code, text: message }, payload })
}

fn renamed(name: &str) -> &str {
    NAMES.iter().find(|(shown, _)| *shown == name).map_or(name, |(_, other)| other)
}
