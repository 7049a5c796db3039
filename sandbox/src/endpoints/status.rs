//! `GET /api/v1.1.0/status`: where a payment stands, by the gateway's number.

use axum::http::Method;

use crate::{
    domain::{EndpointName, PaymentKind},
    endpoints::{
        Answers, Description, Endpoint, Fields, Input, Refusal, Refused, Response, finipay,
        status_response::{self, STATUS_CODES, status_response},
    },
    payments::pending,
    rules,
    settings::StatusNumbers,
    state::State,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::GET,
    allowed: "GET",
    name: EndpointName::Status,
    input: Input::BodyOrQuery,
    subject: Some("orderNumber"),
    answer,
    description: Description {
        summary: "Ask for a payment's status by the gateway's number",
        text: "The number is the `token` of the payment's pages, or `paymentId` of a mobile-bank payment. The fields \
               are members of a JSON body, also though the method is GET. Where there is no body, because a proxy \
               dropped it or a tool cannot send it, they are read from the query. Acting as \
               FINIPAY the answer has a number that nobody was told.",
        take: |fields| drop(take(fields)),
        example: r#"{"orderNumber": "0c5f1d9e-8a38-4d0c-9d3c-3b8a0f6b5a11", "language": "en"}"#,
        answers: Answers::Envelope(&STATUS_CODES, status_response::schema),
        finipay: None,
        refusals: &[Refused::NotFound],
    },
};

fn take(fields: &mut Fields) -> (String, Option<String>) {
    (fields.required("orderNumber", rules::text()), fields.optional("language", rules::language()))
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let (number, language) = take(&mut fields);
    fields.finish()?;
    let any = state.switches().status_numbers == StatusNumbers::Any;
    let found = state.read(|connection| {
        if let Some(record) = payments::by_gateway_number(connection, &number)? {
            return Ok(Some(record));
        }
        // A pay-form's order number is the gateway's own, too.
        let by_order = payments::by_order_number(connection, &number)?;
        Ok(by_order.filter(|record| any || record.payment.kind == PaymentKind::PayForm))
    })?;
    let record = found.ok_or(Refusal::NotFound)?;
    pending::count_query(state, &record)?;
    let language = state.language(language.as_deref());
    let number = if state.acts_as_finipay() { finipay::status_number(&record) } else { number };
    Ok(status_response(&number, &record.payment, language))
}
