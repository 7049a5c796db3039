//! `GET /gen/qr/transaction/status`: where a QR transaction stands.

use axum::http::Method;

use crate::{
    domain::{EndpointName, PaymentKind},
    endpoints::{
        Answers, Description, Endpoint, Fields, Input, Refusal, Refused, Response, finipay,
        status_response::{self, STATUS_CODES, status_response},
    },
    payments::pending,
    rules,
    state::State,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::GET,
    allowed: "GET",
    name: EndpointName::QrTransactionStatus,
    input: Input::Query,
    subject: Some("transaction_id"),
    answer,
    description: Description {
        summary: "Ask for a QR transaction's status",
        text: "Amounts are in tyiyn.",
        take: |fields| drop(take(fields)),
        example: r#"{"transaction_id": "QR-5b1f6a0d3c9e4f7a8b2d1c0e9f8a7b6c"}"#,
        answers: Answers::Envelope(&STATUS_CODES, status_response::schema),
        finipay: Some(&finipay::QR_STATUS),
        refusals: &[Refused::NotFound],
    },
};

fn take(fields: &mut Fields) -> String {
    fields.required("transaction_id", rules::text())
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let id = take(&mut fields);
    fields.finish()?;
    let record = state
        .read(|connection| payments::by_order_number_and_kind(connection, &id, PaymentKind::Qr))?
        .ok_or(Refusal::NotFound)?;
    pending::count_query(state, &record)?;
    if state.acts_as_finipay() {
        return Ok(finipay::qr_status(&record.payment));
    }
    Ok(status_response(&id, &record.payment, state.switches().language))
}
