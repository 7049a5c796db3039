//! The bytes that come back.

use std::{sync::OnceLock, time::Duration};

use serde_json::{Value, json};

use super::{ending::Ending, fault::Fault};
use crate::{
    fake::replies::{self, reply},
    reply::Reply,
};

pub(super) fn card(order: &str, token: Option<&str>) -> Reply {
    let mut data = json!({ "amount": 100, "currency": "KGS", "orderNumber": order });
    match token {
        Some(token) => data["ConfirmationUrl"] = format!("https://memory.example/3ds?token={token}").into(),
        None => data["status"] = "Success".into(),
    }
    envelope("110", "CREATED", &data)
}

pub(super) fn created(order: &str) -> Reply {
    envelope("110", "CREATED", &json!({ "orderNumber": order }))
}

pub(super) fn pay_form() -> Reply {
    envelope("110", "CREATED", &json!({ "payFormUrl": "https://memory.example/pay-form?token=1" }))
}

pub(super) fn qr_image() -> Reply {
    static PICTURE: OnceLock<Vec<u8>> = OnceLock::new();
    reply(200, PICTURE.get_or_init(white_picture))
}

/// Compressed once: thousands of replies carry it.
fn white_picture() -> Vec<u8> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 400, 400);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&vec![0; 400 * 50]));
    written.expect("a picture in memory");
    png
}

pub(super) fn qr_data(transaction: &str) -> Reply {
    envelope("110", "CREATED", &json!({ "transaction_id": transaction, "qr_data": "https://memory.example/qr" }))
}

pub(super) fn status(order: &str, end: Option<Ending>, names_it: bool) -> Reply {
    let word = match end {
        Some(Ending::Charged) => "CHARGE",
        Some(Ending::Rejected) => "Reject",
        None => "PENDING",
    };
    // A QR code is asked for in tyiyn, and the schedules name no unit.
    let amount = if order.starts_with("QR") { 10_000 } else { 100 };
    let number = names_it.then_some(order);
    envelope("200", "STATUS", &json!({ "orderNumber": number, "amount": amount, "status": word, "currency": "KGS" }))
}

pub(super) fn refused(http_status: u16, message: &str) -> Reply {
    replies::refused(http_status, &http_status.to_string(), message)
}

fn envelope(code: &str, message: &str, data: &Value) -> Reply {
    reply(200, json!({ "code": code, "message": message, "data": data }).to_string().as_bytes())
}

/// What the caller sees instead of the reply that was due.
pub(super) fn spoiled(fault: Fault, due: Reply) -> Reply {
    let (http_status, whole) = (due.http_status, due.text().into_owned());
    let changed = |change: fn(&mut Value)| changed(&whole, change).map(|body| reply(http_status, body.as_bytes()));
    match fault {
        Fault::Html502 => reply(502, b"<html>Bad Gateway</html>"),
        Fault::Busy503 => reply(503, b"{}"),
        Fault::Busy429 => Reply { retry_after: Some(Duration::from_secs(3)), ..reply(429, b"{}") },
        Fault::Unauthorized401 => refused(401, "who are you?"),
        Fault::NotTheGateway404 => reply(404, b"<html>Not Found</html>"),
        Fault::Timeout408 => refused(408, "too slow"),
        Fault::Conflict409 => refused(409, "conflict"),
        Fault::Redirect => reply(302, b""),
        Fault::NotJson => reply(200, b"<html>OK</html>"),
        Fault::CutJson => reply(http_status, &whole.as_bytes()[..whole.len() / 2]),
        Fault::TooLong => Reply { over_limit: true, ..due },
        Fault::UnknownStatus => changed(|body| body["data"]["status"] = "HELD".into()).unwrap_or(due),
        Fault::UnknownCode => changed(|body| body["code"] = "777".into()).unwrap_or(due),
        Fault::OtherDialect => {
            changed(|body| *body = json!({ "result": body["code"], "payload": body["data"] })).unwrap_or(due)
        }
        _ => due,
    }
}

/// A JSON reply with something else in it; none where it is not JSON.
fn changed(whole: &str, change: impl FnOnce(&mut Value)) -> Option<String> {
    let mut reply: Value = serde_json::from_str(whole).ok()?;
    change(&mut reply);
    Some(reply.to_string())
}
