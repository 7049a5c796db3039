//! `GET /gen/qr/transaction/status`: where a QR transaction stands.

use axum::http::Method;

use crate::{
    fields::Fields,
    flows::{Endpoint, Input, status_reply::status_reply},
    gateway::Gateway,
    payment::PaymentKind,
    refusal::Refusal,
    reply::Reply,
    rules,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::GET,
    allowed: "GET",
    path: "/gen/qr/transaction/status",
    input: Input::Query,
    subject: Some("transaction_id"),
    answer,
};

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let id = fields.required("transaction_id", rules::text);
    fields.finish()?;
    let record = gateway
        .read(|connection| payments::by_order_number_and_kind(connection, &id, PaymentKind::Qr))?
        .ok_or(Refusal::NotFound)?;
    Ok(status_reply(&id, &record.payment, gateway.options.language))
}
