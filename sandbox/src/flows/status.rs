//! `GET /api/v1.1.0/status`: where a payment stands, by the gateway's number.

use axum::http::Method;

use crate::{
    fields::Fields,
    flows::{Endpoint, Input, status_reply::status_reply},
    gateway::Gateway,
    options::StatusNumbers,
    payment::PaymentKind,
    refusal::Refusal,
    reply::Reply,
    rules,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::GET,
    allowed: "GET",
    path: "/api/v1.1.0/status",
    input: Input::BodyOrQuery,
    subject: Some("orderNumber"),
    answer,
};

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let number = fields.required("orderNumber", rules::text);
    let language = fields.optional("language", rules::language);
    fields.finish()?;
    let any = gateway.options.status_numbers == StatusNumbers::Any;
    let found = gateway.read(|connection| {
        if let Some(record) = payments::by_gateway_number(connection, &number)? {
            return Ok(Some(record));
        }
        // A pay-form's order number is the gateway's own, too.
        let by_order = payments::by_order_number(connection, &number)?;
        Ok(by_order.filter(|record| any || record.payment.kind == PaymentKind::PayForm))
    })?;
    let record = found.ok_or(Refusal::NotFound)?;
    let language = gateway.language(language.as_deref());
    Ok(status_reply(&number, &record.payment, language))
}
