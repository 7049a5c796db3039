//! Answers of the nine endpoints: the envelope around what each of them says.

use axum::http::StatusCode;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::{
    domain::{RejectReason, codes},
    endpoints::{Answers, Description, Refused, finipay, refusal},
};

/// Every answer that an endpoint has, by HTTP status.
pub(super) fn responses(generator: &mut SchemaGenerator, description: &Description) -> Map<String, Value> {
    let mut responses = Map::new();
    let mut add = |status: StatusCode, response: Value| responses.insert(status.as_str().to_owned(), response);
    add(StatusCode::OK, success(generator, description));
    add(StatusCode::BAD_REQUEST, invalid(generator, description.refusals));
    let challenge = header("WWW-Authenticate", "string");
    add(StatusCode::UNAUTHORIZED, with_headers(plain("Wrong login or password.", codes::UNAUTHORIZED), &challenge));
    if description.refusals.contains(&Refused::NotFound) {
        add(StatusCode::NOT_FOUND, plain("There is no such payment.", codes::NOT_FOUND));
    }
    if description.refusals.contains(&Refused::ReusedOrderNumber) {
        add(StatusCode::CONFLICT, plain("The order number was used before.", codes::CONFLICT));
    }
    if description.refusals.contains(&Refused::Otp) {
        let state = refusal::otp_state_schema(generator).to_value();
        let conflict = envelope(&[codes::CONFLICT], &state);
        add(StatusCode::CONFLICT, json_response("The payment awaits no one-time password.", &conflict));
    }
    add(StatusCode::REQUEST_TIMEOUT, plain("The body did not arrive in time.", codes::TIMEOUT));
    add(StatusCode::PAYLOAD_TOO_LARGE, plain("The body is too large.", codes::TOO_LARGE));
    let retry_after = header("Retry-After", "integer");
    let too_many = plain("By a fault: nothing took effect.", codes::TOO_MANY);
    add(StatusCode::TOO_MANY_REQUESTS, with_headers(too_many, &retry_after));
    let failed = "By the test card that errs, or a failure of the sandbox itself.";
    add(StatusCode::INTERNAL_SERVER_ERROR, plain(failed, codes::INTERNAL));
    let unavailable = plain("By a fault: nothing took effect.", codes::UNAVAILABLE);
    add(StatusCode::SERVICE_UNAVAILABLE, with_headers(unavailable, &retry_after));
    responses
}

fn success(generator: &mut SchemaGenerator, description: &Description) -> Value {
    match description.answers {
        Answers::Envelope(codes, data) => {
            let usual = envelope(codes, &data(generator).to_value());
            match description.finipay.map(|answer| finipay::schema(answer, generator)) {
                Some(finipay) => json_response("Done.", &json!({ "anyOf": [usual, finipay] })),
                None => json_response("Done.", &usual),
            }
        }
        Answers::Image => {
            let picture = json!({ "type": "string", "contentEncoding": "base64", "contentMediaType": "image/png" });
            let mut content = json!({ "text/plain": { "schema": picture } });
            if let Some(answer) = description.finipay {
                content["application/json"] = json!({ "schema": finipay::schema(answer, generator) });
            }
            json!({ "description": "The picture; acting as FINIPAY in an envelope.", "content": content })
        }
    }
}

/// The violations, or nothing where the body is no JSON; of a one-time password also how many attempts are left.
fn invalid(generator: &mut SchemaGenerator, refusals: &[Refused]) -> Value {
    let violations = json!({
        "type": "object",
        "properties": {
            "errors": {
                "type": "array", "items": refusal::field_schema(), "description": "What is wrong, field by field.",
            },
        },
        "required": ["errors"],
        "additionalProperties": false,
    });
    let mut forms = vec![envelope(&[codes::INVALID], &json!({ "anyOf": [violations, nothing()] }))];
    if refusals.contains(&Refused::Otp) {
        forms.push(envelope(&[codes::WRONG_OTP], &refusal::otp_state_schema(generator).to_value()));
    }
    json_response("The request is invalid: `data.errors` names each field and its rule.", &json!({ "anyOf": forms }))
}

fn plain(description: &str, code: &str) -> Value {
    json_response(description, &envelope(&[code], &nothing()))
}

fn nothing() -> Value {
    json!({ "type": "object", "maxProperties": 0 })
}

fn envelope(codes: &[&str], data: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "code": { "type": "string", "enum": codes, "description": meanings(codes) },
            "message": {
                "type": "string", "description": "The code in words. Of a rejection and of a refusal it says why.",
            },
            "data": data,
        },
        "required": ["code", "message", "data"],
        "additionalProperties": false,
    })
}

/// What each of the codes means.
fn meanings(codes: &[&str]) -> String {
    let meanings = codes.iter().map(|code| format!("{code}: {}", meaning(code)));
    meanings.collect::<Vec<_>>().join("; ")
}

fn meaning(code: &str) -> String {
    let text = match code {
        codes::CREATED => "registered, and not paid yet",
        codes::PENDING => "the payer did their part, the provider has not decided",
        codes::SUCCESS => "the money was taken",
        codes::INVALID => "the request is invalid",
        codes::UNAUTHORIZED => "wrong login or password",
        codes::NOT_FOUND => "there is no such payment",
        codes::TIMEOUT => "the body did not arrive in time",
        codes::CONFLICT => "it contradicts what is known of this number",
        codes::TOO_LARGE => "the body is too large",
        codes::WRONG_OTP => "the one-time password is wrong",
        codes::TOO_MANY => "too many requests",
        codes::INTERNAL => "the provider or the sandbox failed",
        codes::UNAVAILABLE => "out of order for a while",
        _ => return RejectReason::parse(code).map(|reason| format!("rejected, {}", why(reason))).unwrap_or_default(),
    };
    text.to_owned()
}

fn why(reason: RejectReason) -> &'static str {
    match reason {
        RejectReason::Declined => "because the issuer or the wallet declined",
        RejectReason::InsufficientFunds => "for lack of money on the account",
        RejectReason::CancelledByPayer => "because the payer cancelled",
        RejectReason::OtpAttemptsExhausted => "after too many wrong one-time passwords",
        RejectReason::ProcessingError => "because the provider failed",
    }
}

pub(super) fn json_response(description: &str, schema: &Value) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

pub(super) fn header(name: &str, kind: &str) -> Value {
    json!({ name: { "schema": { "type": kind } } })
}

pub(super) fn with_headers(mut response: Value, headers: &Value) -> Value {
    response["headers"] = headers.clone();
    response
}
