//! The bytes that come back.

use std::{sync::OnceLock, time::Duration};

use serde_json::{Value, json};

use super::{ending::Ending, fault::Fault};
use crate::{
    fake::responses::{self, response},
    response::Response,
};

pub(super) fn card(order: &str, token: Option<&str>) -> Response {
    let mut data = json!({ "amount": 100, "currency": "KGS", "orderNumber": order });
    match token {
        Some(token) => data["ConfirmationUrl"] = format!("https://memory.example/3ds?token={token}").into(),
        None => data["status"] = "Success".into(),
    }
    envelope("110", "CREATED", &data)
}

pub(super) fn created(order: &str) -> Response {
    envelope("110", "CREATED", &json!({ "orderNumber": order }))
}

pub(super) fn pay_form() -> Response {
    envelope("110", "CREATED", &json!({ "payFormUrl": "https://memory.example/pay-form?token=1" }))
}

pub(super) fn qr_image() -> Response {
    static PICTURE: OnceLock<Vec<u8>> = OnceLock::new();
    response(200, PICTURE.get_or_init(white_picture))
}

/// Compressed once: thousands of responses carry it.
fn white_picture() -> Vec<u8> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 400, 400);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&vec![0; 400 * 50]));
    written.expect("a picture in memory");
    png
}

pub(super) fn qr_data(transaction: &str) -> Response {
    envelope("110", "CREATED", &json!({ "transaction_id": transaction, "qr_data": "https://memory.example/qr" }))
}

pub(super) fn status(order: &str, end: Option<Ending>, names_it: bool) -> Response {
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

pub(super) fn refused(http_status: u16, message: &str) -> Response {
    responses::refused(http_status, &http_status.to_string(), message)
}

fn envelope(code: &str, message: &str, data: &Value) -> Response {
    response(200, json!({ "code": code, "message": message, "data": data }).to_string().as_bytes())
}

/// What the caller sees instead of the response that was due.
pub(super) fn spoiled(fault: Fault, due: Response) -> Response {
    let (http_status, whole) = (due.http_status, due.text().into_owned());
    let changed = |change: fn(&mut Value)| changed(&whole, change).map(|body| response(http_status, body.as_bytes()));
    match fault {
        Fault::Html502 => response(502, b"<html>Bad Gateway</html>"),
        Fault::Busy503 => response(503, b"{}"),
        Fault::Busy429 => Response { retry_after: Some(Duration::from_secs(3)), ..response(429, b"{}") },
        Fault::Unauthorized401 => refused(401, "who are you?"),
        Fault::NotTheGateway404 => response(404, b"<html>Not Found</html>"),
        Fault::Timeout408 => refused(408, "too slow"),
        Fault::Conflict409 => refused(409, "conflict"),
        Fault::Redirect => response(302, b""),
        Fault::NotJson => response(200, b"<html>OK</html>"),
        Fault::CutJson => response(http_status, &whole.as_bytes()[..whole.len() / 2]),
        Fault::TooLong => Response { over_limit: true, ..due },
        Fault::UnknownStatus => changed(|body| body["data"]["status"] = "HELD".into()).unwrap_or(due),
        Fault::UnknownCode => changed(|body| body["code"] = "777".into()).unwrap_or(due),
        Fault::OtherDialect => {
            changed(|body| *body = json!({ "result": body["code"], "payload": body["data"] })).unwrap_or(due)
        }
        _ => due,
    }
}

/// A JSON response with something else in it; none where it is not JSON.
fn changed(whole: &str, change: impl FnOnce(&mut Value)) -> Option<String> {
    let mut response: Value = serde_json::from_str(whole).ok()?;
    change(&mut response);
    Some(response.to_string())
}
