//! Writes `outcomes.json`: the table of outcomes of the design, one row for each thing that can come back, times the
//! operations.

use serde_json::{Value, json};

use super::{
    Column, OPERATIONS, Operation,
    cells::{
        Cell::{
            self, Answer, Misconfigured, Refused, RetriedThenUnavailable, Unauthorized, Unavailable, Unexpected,
            Unknown,
        },
        Said, error,
    },
    file, line,
};

/// One thing that can come back.
#[derive(Clone)]
struct Row {
    name: &'static str,
    cells: [Cell; 3],
    response: Value,
    config: Value,
    /// Whether the body is the envelope with code 05 and message No.
    has_envelope: bool,
    /// Why there is no verdict, or what is wrong; a star stands for what the system or a parser says.
    detail: &'static str,
    /// The same where a picture was expected.
    picture_detail: Option<&'static str>,
    sends: bool,
    retry_after_ms: Option<u64>,
    took_at_least_ms: Option<u64>,
}

/// The row of a response with a status and a body, or the one of the envelope.
fn row(name: &'static str, status: u16, body: Option<Value>, cells: [Cell; 3], detail: &'static str) -> Row {
    let has_envelope = body.is_none();
    let body = body.unwrap_or_else(|| json!({"$use": "envelope"}));
    Row {
        name,
        cells,
        response: json!({"status": status, "body": body}),
        config: Value::Null,
        has_envelope,
        detail,
        picture_detail: None,
        sends: true,
        retry_after_ms: None,
        took_at_least_ms: None,
    }
}

/// No whole response comes.
fn cut(name: &'static str, raw: &str, then: &str) -> Row {
    let cells = [Unknown, Unavailable, RetriedThenUnavailable];
    Row { response: json!({"raw": raw, "then": then}), ..row(name, 0, Some(Value::Null), cells, "*") }
}

fn table() -> Vec<Row> {
    let mut table = no_whole_response();
    table.extend(success_statuses());
    table.extend(other_statuses());
    table
}

fn no_whole_response() -> Vec<Row> {
    let deadline = "the deadline passed before the whole response came";
    vec![
        Row {
            response: Value::Null,
            config: json!({"base_url": "http://127.0.0.1:1"}),
            sends: false,
            ..row("no connection", 0, Some(Value::Null), [Unavailable; 3], "*")
        },
        Row {
            response: json!({"then": "silence"}),
            config: json!({"payment_deadline_ms": 8000, "query_deadline_ms": 8000}),
            detail: deadline,
            cells: [Unknown, Unavailable, Unavailable],
            ..cut("silence until the deadline", "", "")
        },
        cut("reset after sending", "", "reset"),
        cut("closed without a response", "", "close"),
        cut("cut in the head", "HTTP/1.1 200 O", "close"),
        cut("cut in the body", "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{\"code\":\"110\"", "close"),
        cut("a refusal cut in the body", "HTTP/1.1 400 X\r\nContent-Length: 400\r\n\r\n{\"code\":\"05\"", "close"),
    ]
}

fn success_statuses() -> Vec<Row> {
    let not_readable = [Unknown, Unexpected, Unexpected];
    let not_known = "the response has code 05, which is not known as a success";
    let unreadable = |name, body| Row {
        picture_detail: Some("the response holds no PNG in base64"),
        ..row(name, 200, Some(body), not_readable, "the response is not readable: *")
    };
    vec![
        row("success", 200, Some(Value::Null), [Answer; 3], ""),
        row("success with 201", 201, Some(Value::Null), [Answer; 3], ""),
        Row {
            config: json!({"dialect": listed("success_codes", "00")}),
            ..row("readable, not a success", 200, None, not_readable, not_known)
        },
        Row {
            config: json!({"dialect": listed("refusal_codes", "05")}),
            ..row("a listed refusal", 200, None, [Refused, Refused, Unexpected], not_known)
        },
        Row {
            config: json!({"dialect": listed("unknown_codes", "05")}),
            ..row("a code listed as unknown", 200, None, [Unknown, Refused, Refused], not_known)
        },
        Row {
            config: json!({"dialect": listed("duplicate_codes", "05")}),
            ..row("a code listed as a duplicate", 200, None, [Unknown, Refused, Refused], not_known)
        },
        unreadable("not JSON", json!("<html>ok</html>")),
        unreadable("empty", json!("")),
        unreadable("JSON cut short", json!(r#"{"code":"110","data":{"status":"CHARGE""#)),
        unreadable("two codes", json!(r#"{"code":"110","code":"05","data":{"status":"CHARGE"}}"#)),
        Row {
            picture_detail: Some("the response is longer than 1 MiB"),
            ..row(
                "over the limit",
                200,
                Some(json!({"$concat": [{"$use": "the first MiB"}, "more\"}"]})),
                not_readable,
                "the response is not readable: the response is longer than 1 MiB",
            )
        },
    ]
}

fn other_statuses() -> Vec<Row> {
    let indeterminate = "does not show whether the payment was made";
    let elsewhere = [Misconfigured; 3];
    let no_verdict = [Unknown, Refused, Refused];
    let failed = [Unknown, Unavailable, RetriedThenUnavailable];
    let of_a_stranger = [Unknown, Refused, Unavailable];
    let strange = "is not from the gateway, so it does not show whether the payment was made";
    let html = || Some(json!({"$use": "html"}));
    let redirect = json!({
        "status": 302, "headers": {"Location": "https://elsewhere.example/"}, "body": {"$use": "envelope"},
    });
    let wait = json!({"status": 429, "headers": {"Retry-After": "1"}, "body": {"$use": "envelope"}});
    vec![
        Row {
            response: redirect,
            ..row("302", 302, None, [Unknown, Unexpected, Unexpected], "is a redirect, which is never followed")
        },
        row("401", 401, None, [Unauthorized; 3], ""),
        row("403 with an envelope", 403, None, [Unauthorized; 3], ""),
        row("403 without an envelope", 403, html(), of_a_stranger, strange),
        row("404 without an envelope", 404, html(), elsewhere, ""),
        row("405 without an envelope", 405, html(), elsewhere, ""),
        row("407 without an envelope", 407, html(), elsewhere, ""),
        row("404 with an envelope", 404, None, [Refused; 3], ""),
        row("405 with an envelope", 405, None, [Refused; 3], ""),
        row("407 with an envelope", 407, None, [Refused; 3], ""),
        row("408", 408, None, no_verdict, indeterminate),
        row("409", 409, None, no_verdict, indeterminate),
        row("400", 400, None, [Refused; 3], ""),
        Row {
            config: json!({"dialect": listed("unknown_codes", "05")}),
            ..row("400 with a code listed as unknown", 400, None, no_verdict, indeterminate)
        },
        Row {
            config: json!({"dialect": listed("duplicate_codes", "05")}),
            ..row("400 with a code listed as a duplicate", 400, None, no_verdict, indeterminate)
        },
        row("400, empty", 400, Some(json!("")), of_a_stranger, strange),
        row("413 without an envelope", 413, html(), [Refused; 3], ""),
        row("431 without an envelope", 431, html(), [Refused; 3], ""),
        row("422 without an envelope", 422, html(), of_a_stranger, strange),
        row("499 without an envelope", 499, html(), of_a_stranger, strange),
        row("429", 429, None, [Unavailable, Unavailable, RetriedThenUnavailable], ""),
        Row {
            response: wait,
            retry_after_ms: Some(1000),
            took_at_least_ms: Some(2000),
            ..row("429 with Retry-After", 429, None, [Unavailable, Unavailable, RetriedThenUnavailable], "")
        },
        row("500", 500, None, failed, indeterminate),
        row("502 without an envelope", 502, html(), failed, indeterminate),
        row("503", 503, None, failed, indeterminate),
    ]
}

/// A dialect that lists a code for every endpoint, and has the requests of MegaPay as that of the other vectors.
fn listed(list: &str, code: &str) -> Value {
    let endpoints: serde_json::Map<_, _> =
        OPERATIONS.iter().map(|operation| (operation.endpoint.to_owned(), json!({list: [code]}))).collect();
    json!({"endpoints": endpoints, "megapay": {"check_method": "POST"}})
}

pub fn rows() -> Vec<&'static str> {
    table().into_iter().map(|row| row.name).collect()
}

/// One cell of the table as a vector.
fn vector(row: &Row, operation: &Operation) -> String {
    let cell = row.cells[operation.column as usize];
    let asks = operation.column == Column::Asks;
    let times = if asks && cell == RetriedThenUnavailable { 3 } else { usize::from(row.sends) };
    let mut response = row.response.clone();
    if cell == Answer {
        response["body"] = json!({"$use": format!("body of {}", operation.name)});
    }
    let responses = if response.is_null() { json!([]) } else { json!([response]) };
    let expect = match cell {
        Answer => json!({"answer": {"$use": format!("answer of {}", operation.name)}}),
        _ => json!({"error": expected_error(row, operation, cell)}),
    };
    let took = row.took_at_least_ms.filter(|_| asks);
    let fields = [
        ("name", json!(format!("{}: {}", operation.name, row.name))),
        ("row", json!(row.name)),
        ("do", json!(operation.name)),
        ("input", json!({"$use": operation.name})),
        ("config", row.config.clone()),
        ("responses", responses),
        ("expect", expect),
        ("sent", json!(times)),
        ("took_at_least_ms", json!(took)),
    ];
    line(&fields)
}

fn expected_error(row: &Row, operation: &Operation, cell: Cell) -> Value {
    let (code, reason) = if row.has_envelope { (Some("05"), Some("No")) } else { (None, None) };
    let body =
        if row.name == "over the limit" { json!({"$use": "the first MiB"}) } else { row.response["body"].clone() };
    let picture_detail = row.picture_detail.filter(|_| operation.name == "create_qr_image");
    let said = Said {
        payment: operation.payment,
        status: row.response["status"].as_u64(),
        code,
        reason,
        detail: picture_detail.unwrap_or(row.detail),
        body,
        retry_after_ms: row.retry_after_ms,
    };
    error(cell, &said)
}

pub fn whole_file() -> String {
    let about = "What came back, and what it means for the money: the table of outcomes, cell by cell. Generated; \
                 change tests/rust/tests/conformance/generate/outcomes.rs and run \
                 `cargo test -p kassa-conformance --test conformance -- --generate`.";
    let constants = [
        ("envelope", json!(r#"{"code":"05","message":"No","data":null}"#)),
        ("html", json!("<html>not here</html>")),
        ("the first MiB", json!({"$concat": ["{\"x\":\"", {"$repeat": "x", "times": 1_048_576 - 6}]})),
    ];
    let table = table();
    let vectors: Vec<String> =
        table.iter().flat_map(|row| OPERATIONS.iter().map(move |operation| vector(row, operation))).collect();
    file("outcomes", about, &constants, None, &vectors)
}
