//! `POST /gen/qr/dynamic`: a QR code as a PNG of 400x400 pixels in base64.

use axum::http::{Method, StatusCode};
use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    fields::Fields,
    flows::{
        Endpoint, Input,
        qr_data::{payload, register_qr},
    },
    gateway::Gateway,
    qr_png,
    refusal::Refusal,
    reply::Reply,
    rules,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/gen/qr/dynamic",
    input: Input::Body,
    subject: None,
    answer,
};

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let sum = fields.required("sum", rules::integer(1));
    let record = register_qr(gateway, fields, Some(sum))?;
    let png = qr_png::draw(&payload(gateway, &record)).map_err(Refusal::Internal)?;
    Ok(Reply::text(StatusCode::OK, STANDARD.encode(png)))
}
