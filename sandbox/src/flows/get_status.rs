//! `POST /api/v1.1.0/get-status`: where a payment stands, by the merchant's number and the provider.

use axum::http::Method;

use crate::{
    fields::Fields,
    flows::{Endpoint, Input, status_reply::status_reply},
    gateway::Gateway,
    options::StatusNumbers,
    refusal::Refusal,
    reply::Reply,
    rules,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/api/v1.1.0/get-status",
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
};

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let number = fields.required("orderNumber", rules::text);
    let provider = fields.required("provider", rules::provider);
    fields.finish()?;
    let any = gateway.options.status_numbers == StatusNumbers::Any;
    let provider = provider.ok_or(Refusal::NotFound)?;
    let found = gateway.read(|connection| {
        let by_order = payments::by_order_number_and_provider(connection, &number, provider)?;
        if by_order.is_some() || !any {
            return Ok(by_order);
        }
        let by_gateway = payments::by_gateway_number(connection, &number)?;
        Ok(by_gateway.filter(|record| record.payment.provider == Some(provider)))
    })?;
    let record = found.ok_or(Refusal::NotFound)?;
    Ok(status_reply(&number, &record.payment, gateway.options.language))
}
