//! `POST /gen/qr/dynamic`: a QR code as a PNG of 400x400 pixels in base64.

use axum::http::Method;
use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    domain::EndpointName,
    encoding::elqr::LARGEST_AMOUNT,
    endpoints::{
        Answers, Description, Endpoint, Fields, Input, Refusal, Response, finipay,
        qr_data::{Request, payload, register_qr, with_sum},
        qr_png,
    },
    rules,
    state::State,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    name: EndpointName::QrDynamic,
    input: Input::Body,
    subject: None,
    answer,
    description: Description {
        summary: "Create a QR payment, as a picture",
        text: "The base64 of a PNG of 400x400 pixels. `sum` is in tyiyn.",
        take: |fields| drop(take(fields)),
        example: r#"{"sum": 12550}"#,
        answers: Answers::Image,
        finipay: Some(&finipay::QR_IMAGE),
        refusals: &[],
    },
};

fn take(fields: &mut Fields) -> Request {
    let sum = fields.required("sum", rules::integer_up_to(1, LARGEST_AMOUNT));
    with_sum(fields, Some(sum))
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let request = take(&mut fields);
    fields.finish()?;
    let record = register_qr(state, request)?;
    let png = qr_png::draw(&payload(state, &record)).map_err(Refusal::Internal)?;
    let base64 = STANDARD.encode(png);
    let response = if state.acts_as_finipay() { finipay::qr_image(&base64) } else { Response::image(base64) };
    Ok(response.about(record.id))
}
