//! `POST /api/v1.1.0/get-status`: where a payment stands, by the merchant's number and the provider.

use axum::http::Method;

use crate::{
    domain::{EndpointName, Provider},
    endpoints::{
        Answers, Description, Endpoint, Fields, Input, Refusal, Refused, Response,
        status_response::{self, STATUS_CODES, status_response},
    },
    payments::pending,
    rules,
    settings::StatusNumbers,
    state::State,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    name: EndpointName::GetStatus,
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
    description: Description {
        summary: "Ask for a payment's status by the merchant's number and the provider",
        text: "",
        take: |fields| drop(take(fields)),
        example: r#"{"orderNumber": "ORDER-1", "provider": "Cards"}"#,
        answers: Answers::Envelope(&STATUS_CODES, status_response::schema),
        finipay: None,
        refusals: &[Refused::NotFound],
    },
};

fn take(fields: &mut Fields) -> (String, Option<Provider>) {
    (fields.required("orderNumber", rules::text()), fields.required("provider", rules::provider()))
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let (number, provider) = take(&mut fields);
    fields.finish()?;
    let any = state.switches().status_numbers == StatusNumbers::Any;
    let provider = provider.ok_or(Refusal::NotFound)?;
    let found = state.read(|connection| {
        let by_order = payments::by_order_number_and_provider(connection, &number, provider)?;
        if by_order.is_some() || !any {
            return Ok(by_order);
        }
        let by_gateway = payments::by_gateway_number(connection, &number)?;
        Ok(by_gateway.filter(|record| record.payment.provider == Some(provider)))
    })?;
    let record = found.ok_or(Refusal::NotFound)?;
    pending::count_query(state, &record)?;
    Ok(status_response(&number, &record.payment, state.switches().language))
}
