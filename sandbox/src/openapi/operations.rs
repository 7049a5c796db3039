//! The operations of the document: the gateway's endpoints with the envelope of their responses, and the admin interface.

use axum::http::{Method, StatusCode};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use time::Date;

use crate::{
    admin::{self, ORDER_NUMBER, ROUTES, Route},
    domain::{RejectReason, codes},
    endpoints::{
        Description, ENDPOINTS, Endpoint, Fields, Input, RejectionKind, RequestSpec, SuccessBody, finipay, rejection,
    },
    rules::non_blank,
};

pub(super) const GATEWAY_TAG: &str = "gateway";
pub(super) const MERCHANT_SECURITY: &str = "merchant";

/// Adds all operations.
pub(super) fn describe_endpoints(generator: &mut SchemaGenerator, paths: &mut Map<String, Value>, today: Date) {
    for endpoint in &ENDPOINTS {
        for (method, input) in endpoint.requests() {
            let operation = endpoint_operation(generator, endpoint, (method, input), today);
            add(paths, endpoint.name.path(), method.as_str(), operation);
        }
    }
}

fn endpoint_operation(
    generator: &mut SchemaGenerator,
    endpoint: &Endpoint,
    (method, input): (&Method, Input),
    today: Date,
) -> Value {
    let spec = Fields::spec_of(endpoint.description.take);
    let operation = json!({
        "operationId": endpoint.operation_id(method),
        "tags": [GATEWAY_TAG],
        "summary": endpoint.description.summary,
        "security": [{ MERCHANT_SECURITY: [] }],
        "responses": endpoint_responses(generator, &endpoint.description),
    });
    let mut operation = with_text(operation, endpoint.description.text);
    if input != Input::Query {
        let is_required = input == Input::Body;
        operation["requestBody"] = body(&spec, today, is_required, endpoint.description.example);
    }
    if input != Input::Body {
        operation["parameters"] = parameters(&spec);
    }
    operation
}

fn body(spec: &RequestSpec, today: Date, is_required: bool, example: &str) -> Value {
    let example: Value = serde_json::from_str(example).unwrap_or_default();
    json!({
        "required": is_required,
        "content": { "application/json": { "schema": object(spec, today), "example": example } },
    })
}

/// The fields as members of an object without other members.
fn object(spec: &RequestSpec, today: Date) -> Value {
    let properties: Map<_, _> = spec.fields.iter().map(|field| (field.name.to_owned(), field.shape.schema())).collect();
    let required: Vec<_> = spec.fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !spec.spanning.is_empty() {
        object["allOf"] = spec.spanning.iter().map(|rule| rule.schema(today)).collect();
    }
    object
}

fn parameters(spec: &RequestSpec) -> Value {
    let parameters = spec.fields.iter().map(|field| {
        json!({ "name": field.name, "in": "query", "required": field.is_required, "schema": field.shape.schema() })
    });
    parameters.collect()
}

pub(super) const ADMIN_TAG: &str = "admin";
pub(super) const ADMIN_SECURITY: &str = "admin";

/// Adds all routes.
pub(super) fn describe_admin(generator: &mut SchemaGenerator, paths: &mut Map<String, Value>) {
    for route in &ROUTES {
        add(paths, route.path, route.method.as_str(), admin_operation(generator, route));
    }
}

fn admin_operation(generator: &mut SchemaGenerator, route: &Route) -> Value {
    let operation = json!({
        "operationId": route.operation_id(),
        "tags": [ADMIN_TAG],
        "summary": route.summary,
        "security": [{ ADMIN_SECURITY: [] }],
        "responses": admin_responses(generator, route),
    });
    let mut operation = with_text(operation, route.text);
    if let Some(body) = route.body {
        let example: Value = serde_json::from_str(route.example).unwrap_or_default();
        operation["requestBody"] = json!({
            "required": route.needs_body,
            "content": { "application/json": { "schema": body(), "example": example } },
        });
    }
    let mut parameters: Vec<_> = route.parameter_names().map(|name| parameter(name, "path", true)).collect();
    if route.takes_order {
        parameters.push(parameter(ORDER_NUMBER, "query", false));
    }
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    operation
}

fn parameter(name: &str, place: &str, is_required: bool) -> Value {
    json!({ "name": name, "in": place, "required": is_required, "schema": non_blank() })
}

fn admin_responses(generator: &mut SchemaGenerator, route: &Route) -> Map<String, Value> {
    let errors = admin::errors_schema(generator).to_value();
    let rejection = |description: &str| json_response(description, &errors);
    let mut responses = Map::new();
    let mut add = |status: StatusCode, response: Value| responses.insert(status.as_str().to_owned(), response);
    add(StatusCode::BAD_REQUEST, rejection("Errors by field."));
    let challenge = header("WWW-Authenticate", "string");
    add(StatusCode::UNAUTHORIZED, with_headers(rejection("The admin token is missing or wrong."), &challenge));
    if route.rejections.contains(&admin::RejectionKind::NotFound) {
        add(StatusCode::NOT_FOUND, rejection("Not found."));
    }
    if route.rejections.contains(&admin::RejectionKind::AlreadyFinal) {
        add(StatusCode::CONFLICT, rejection("The payment is already final."));
    }
    if route.rejections.contains(&admin::RejectionKind::TooFar) {
        add(StatusCode::CONFLICT, rejection("The clock cannot be set that far ahead."));
    }
    add(StatusCode::INTERNAL_SERVER_ERROR, rejection("The sandbox failed; the cause is in its log."));
    let success = match route.responds {
        Some(responds) => json_response("Done.", &responds(generator).to_value()),
        None => json!({ "description": "Done." }),
    };
    add(route.success, success);
    responses
}

/// Adds a description, unless it is empty.
fn with_text(mut operation: Value, text: &str) -> Value {
    if !text.is_empty() {
        operation["description"] = json!(text);
    }
    operation
}

/// Adds an operation to its path.
pub(super) fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[method.to_ascii_lowercase()] = operation;
}

/// All answers of an endpoint, by HTTP status.
fn endpoint_responses(generator: &mut SchemaGenerator, description: &Description) -> Map<String, Value> {
    let mut responses = Map::new();
    let mut add = |status: StatusCode, response: Value| responses.insert(status.as_str().to_owned(), response);
    add(StatusCode::OK, success(generator, description));
    add(StatusCode::BAD_REQUEST, invalid(generator, description.rejections));
    let challenge = header("WWW-Authenticate", "string");
    add(StatusCode::UNAUTHORIZED, with_headers(plain("Wrong login or password.", codes::UNAUTHORIZED), &challenge));
    if description.rejections.contains(&RejectionKind::NotFound) {
        add(StatusCode::NOT_FOUND, plain("Payment not found.", codes::NOT_FOUND));
    }
    if description.rejections.contains(&RejectionKind::ReusedOrderNumber) {
        add(StatusCode::CONFLICT, plain("The order number was used before.", codes::CONFLICT));
    }
    if description.rejections.contains(&RejectionKind::Otp) {
        let state = rejection::otp_state_schema(generator).to_value();
        let conflict = envelope(&[codes::CONFLICT], &state);
        add(StatusCode::CONFLICT, json_response("The payment is not awaiting a one-time password.", &conflict));
    }
    add(StatusCode::REQUEST_TIMEOUT, plain("The body did not arrive in time.", codes::TIMEOUT));
    add(StatusCode::PAYLOAD_TOO_LARGE, plain("The body is too large.", codes::TOO_LARGE));
    let retry_after = header("Retry-After", "integer");
    let too_many = plain("Injected fault: the request had no effect.", codes::TOO_MANY);
    add(StatusCode::TOO_MANY_REQUESTS, with_headers(too_many, &retry_after));
    let failed = "Outcome of the error test card, or a failure of the sandbox itself.";
    add(StatusCode::INTERNAL_SERVER_ERROR, plain(failed, codes::INTERNAL));
    let unavailable = plain("Injected fault: the request had no effect.", codes::UNAVAILABLE);
    add(StatusCode::SERVICE_UNAVAILABLE, with_headers(unavailable, &retry_after));
    responses
}

fn success(generator: &mut SchemaGenerator, description: &Description) -> Value {
    match description.success {
        SuccessBody::Envelope(codes, data) => {
            let usual = envelope(codes, &data(generator).to_value());
            match description.finipay.map(|answer| finipay::schema(answer, generator)) {
                Some(finipay) => json_response("Done.", &json!({ "anyOf": [usual, finipay] })),
                None => json_response("Done.", &usual),
            }
        }
        SuccessBody::Image => {
            let picture = json!({ "type": "string", "contentEncoding": "base64", "contentMediaType": "image/png" });
            let mut content = json!({ "text/plain": { "schema": picture } });
            if let Some(answer) = description.finipay {
                content["application/json"] = json!({ "schema": finipay::schema(answer, generator) });
            }
            json!({ "description": "The image. In an envelope if the sandbox acts as FINIPAY.", "content": content })
        }
    }
}

/// The violations, or no data if the body is not JSON; for a one-time password, also the attempts left.
fn invalid(generator: &mut SchemaGenerator, rejections: &[RejectionKind]) -> Value {
    let violations = json!({
        "type": "object",
        "properties": {
            "errors": {
                "type": "array", "items": rejection::field_schema(), "description": "Errors by field.",
            },
        },
        "required": ["errors"],
        "additionalProperties": false,
    });
    let mut forms = vec![envelope(&[codes::INVALID], &json!({ "anyOf": [violations, nothing()] }))];
    if rejections.contains(&RejectionKind::Otp) {
        forms.push(envelope(&[codes::WRONG_OTP], &rejection::otp_state_schema(generator).to_value()));
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
                "type": "string", "description": "Description of the code. For a rejection or an error it gives the reason.",
            },
            "data": data,
        },
        "required": ["code", "message", "data"],
        "additionalProperties": false,
    })
}

/// The meaning of each code.
fn meanings(codes: &[&str]) -> String {
    let meanings = codes.iter().map(|code| format!("{code}: {}", meaning(code)));
    meanings.collect::<Vec<_>>().join("; ")
}

fn meaning(code: &str) -> String {
    let text = match code {
        codes::CREATED => "registered, not paid yet",
        codes::PENDING => "the payer has acted, the provider has not decided yet",
        codes::SUCCESS => "charged",
        codes::INVALID => "the request is invalid",
        codes::UNAUTHORIZED => "wrong login or password",
        codes::NOT_FOUND => "payment not found",
        codes::TIMEOUT => "the body did not arrive in time",
        codes::CONFLICT => "conflicts with the existing payment of this number",
        codes::TOO_LARGE => "the body is too large",
        codes::WRONG_OTP => "the one-time password is wrong",
        codes::TOO_MANY => "too many requests",
        codes::INTERNAL => "failure of the provider or the sandbox",
        codes::UNAVAILABLE => "temporarily unavailable",
        _ => return RejectReason::parse(code).map(|reason| format!("rejected: {}", why(reason))).unwrap_or_default(),
    };
    text.to_owned()
}

fn why(reason: RejectReason) -> &'static str {
    match reason {
        RejectReason::Declined => "declined by the issuer or the wallet",
        RejectReason::InsufficientFunds => "insufficient funds",
        RejectReason::CancelledByPayer => "cancelled by the payer",
        RejectReason::OtpAttemptsExhausted => "too many wrong one-time passwords",
        RejectReason::ProcessingError => "failure of the provider",
    }
}

fn json_response(description: &str, schema: &Value) -> Value {
    json!({ "description": description, "content": { "application/json": { "schema": schema } } })
}

pub(super) fn header(name: &str, kind: &str) -> Value {
    json!({ name: { "schema": { "type": kind } } })
}

fn with_headers(mut response: Value, headers: &Value) -> Value {
    response["headers"] = headers.clone();
    response
}
