//! Writes `outcomes.json`: the table of outcomes of the design, one row for each thing that can come back, times the nine
//! operations. It is written from the table and knows nothing of how the core makes its verdicts.

use std::fs;

use serde_json::{Value, json};

use crate::vectors::directory;

const FILE: &str = "outcomes.json";

/// The three columns of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    MovesMoney,
    Creates,
    Asks,
}

/// An operation; its valid input and its success are constants with its name in them.
pub struct Operation {
    pub name: &'static str,
    endpoint: &'static str,
    column: Column,
    /// The reference of its payment, as a constant and as a text.
    payment: (&'static str, &'static str),
}

const CARD: (&str, &str) = ("payment of order-1", "kassa1:kind=card&order=order-1&provider=Cards");
const MBANK: (&str, &str) = ("payment of order-2", "kassa1:kind=mbank&order=order-2&provider=MBank");
const NONE: (&str, &str) = ("", "");

pub const OPERATIONS: [Operation; 9] = [
    operation("create_card_payment", "card_payment", Column::MovesMoney, CARD),
    operation("create_mbank_payment", "mbank_payment", Column::MovesMoney, MBANK),
    operation("confirm_mbank_payment", "mbank_confirm", Column::MovesMoney, MBANK),
    operation("create_pay_form", "pay_form", Column::Creates, NONE),
    operation("create_qr_image", "qr_image", Column::Creates, NONE),
    operation("create_qr_data", "qr_data", Column::Creates, NONE),
    operation("payment_status", "payment_status", Column::Asks, NONE),
    operation("provider_status", "provider_status", Column::Asks, NONE),
    operation("qr_status", "qr_status", Column::Asks, NONE),
];

const fn operation(
    name: &'static str,
    endpoint: &'static str,
    column: Column,
    payment: (&'static str, &'static str),
) -> Operation {
    Operation { name, endpoint, column, payment }
}

/// What a cell of the table says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    Answer,
    Unknown,
    Unavailable,
    /// A query is sent three times first.
    RetriedThenUnavailable,
    Refused,
    Unexpected,
    Unauthorized,
    Misconfigured,
}

use Cell::{Answer, Misconfigured, Refused, RetriedThenUnavailable, Unauthorized, Unavailable, Unexpected, Unknown};

/// One thing that can come back.
#[derive(Clone)]
struct Row {
    name: &'static str,
    cells: [Cell; 3],
    reply: Value,
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

/// The row of a reply with a status and a body, or the one of the envelope.
fn row(name: &'static str, status: u16, body: Option<Value>, cells: [Cell; 3], detail: &'static str) -> Row {
    let has_envelope = body.is_none();
    let body = body.unwrap_or_else(|| json!({"$use": "envelope"}));
    Row {
        name,
        cells,
        reply: json!({"status": status, "body": body}),
        config: Value::Null,
        has_envelope,
        detail,
        picture_detail: None,
        sends: true,
        retry_after_ms: None,
        took_at_least_ms: None,
    }
}

/// No whole reply comes.
fn cut(name: &'static str, raw: &str, then: &str) -> Row {
    let cells = [Unknown, Unavailable, RetriedThenUnavailable];
    Row { reply: json!({"raw": raw, "then": then}), ..row(name, 0, Some(Value::Null), cells, "*") }
}

fn table() -> Vec<Row> {
    let mut table = no_whole_reply();
    table.extend(success_statuses());
    table.extend(other_statuses());
    table
}

fn no_whole_reply() -> Vec<Row> {
    let deadline = "the deadline passed before the whole reply came";
    vec![
        Row {
            reply: Value::Null,
            config: json!({"base_url": "http://127.0.0.1:1"}),
            sends: false,
            ..row("no connection", 0, Some(Value::Null), [Unavailable; 3], "*")
        },
        Row {
            reply: json!({"then": "silence"}),
            config: json!({"deadline_ms": 2000}),
            detail: deadline,
            cells: [Unknown, Unavailable, Unavailable],
            ..cut("silence until the deadline", "", "")
        },
        cut("reset after sending", "", "reset"),
        cut("closed without a reply", "", "close"),
        cut("cut in the head", "HTTP/1.1 200 O", "close"),
        cut("cut in the body", "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{\"code\":\"110\"", "close"),
        cut("a refusal cut in the body", "HTTP/1.1 400 X\r\nContent-Length: 400\r\n\r\n{\"code\":\"05\"", "close"),
    ]
}

fn success_statuses() -> Vec<Row> {
    let not_readable = [Unknown, Unexpected, Unexpected];
    let not_known = "the reply has code 05, which is not known as a success";
    let unreadable = |name, body| Row {
        picture_detail: Some("the reply holds no PNG in base64"),
        ..row(name, 200, Some(body), not_readable, "the reply is not readable: *")
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
        unreadable("not JSON", json!("<html>ok</html>")),
        unreadable("empty", json!("")),
        unreadable("JSON cut short", json!(r#"{"code":"110","data":{"status":"CHARGE""#)),
        unreadable("two codes", json!(r#"{"code":"110","code":"05","data":{"status":"CHARGE"}}"#)),
        Row {
            picture_detail: Some("the reply is longer than 1 MiB"),
            ..row(
                "over the limit",
                200,
                Some(json!({"$concat": [{"$use": "the first MiB"}, "more\"}"]})),
                not_readable,
                "the reply is not readable: the reply is longer than 1 MiB",
            )
        },
    ]
}

fn other_statuses() -> Vec<Row> {
    let unsettled = "does not tell whether the payment was made";
    let elsewhere = [Misconfigured; 3];
    let no_verdict = [Unknown, Refused, Refused];
    let failed = [Unknown, Unavailable, RetriedThenUnavailable];
    let html = || Some(json!({"$use": "html"}));
    let redirect = json!({
        "status": 302, "headers": {"Location": "https://elsewhere.example/"}, "body": {"$use": "envelope"},
    });
    let wait = json!({"status": 429, "headers": {"Retry-After": "1"}, "body": {"$use": "envelope"}});
    vec![
        Row {
            reply: redirect,
            ..row("302", 302, None, [Unknown, Unexpected, Unexpected], "is a redirect, which is never followed")
        },
        row("401", 401, None, [Unauthorized; 3], ""),
        row("403 without an envelope", 403, html(), [Unauthorized; 3], ""),
        row("404 without an envelope", 404, html(), elsewhere, ""),
        row("405 without an envelope", 405, html(), elsewhere, ""),
        row("407 without an envelope", 407, html(), elsewhere, ""),
        row("404 with an envelope", 404, None, [Refused; 3], ""),
        row("405 with an envelope", 405, None, [Refused; 3], ""),
        row("407 with an envelope", 407, None, [Refused; 3], ""),
        row("408", 408, None, no_verdict, unsettled),
        row("409", 409, None, no_verdict, unsettled),
        row("400", 400, None, [Refused; 3], ""),
        row("422 without an envelope", 422, html(), [Refused; 3], ""),
        row("429", 429, None, [Unavailable, Unavailable, RetriedThenUnavailable], ""),
        Row {
            reply: wait,
            retry_after_ms: Some(1000),
            took_at_least_ms: Some(2000),
            ..row("429 with Retry-After", 429, None, [Unavailable, Unavailable, RetriedThenUnavailable], "")
        },
        row("500", 500, None, failed, unsettled),
        row("502 without an envelope", 502, html(), failed, unsettled),
        row("503", 503, None, failed, unsettled),
    ]
}

/// A dialect that lists a code for every endpoint.
fn listed(list: &str, code: &str) -> Value {
    let endpoints: serde_json::Map<_, _> =
        OPERATIONS.iter().map(|operation| (operation.endpoint.to_owned(), json!({list: [code]}))).collect();
    json!({"endpoints": endpoints})
}

pub fn rows() -> Vec<&'static str> {
    table().into_iter().map(|row| row.name).collect()
}

/// One cell of the table as a vector.
fn vector(row: &Row, operation: &Operation) -> String {
    let cell = row.cells[operation.column as usize];
    let asks = operation.column == Column::Asks;
    let times = if asks && cell == RetriedThenUnavailable { 3 } else { usize::from(row.sends) };
    let mut reply = row.reply.clone();
    if cell == Answer {
        reply["body"] = json!({"$use": format!("body of {}", operation.name)});
    }
    let replies = if reply.is_null() { json!([]) } else { json!([reply]) };
    let expect = match cell {
        Answer => json!({"answer": {"$use": format!("answer of {}", operation.name)}}),
        _ => json!({"error": error(row, operation, cell)}),
    };
    let took = row.took_at_least_ms.filter(|_| asks);
    let fields = [
        ("name", json!(format!("{}: {}", operation.name, row.name))),
        ("row", json!(row.name)),
        ("do", json!(operation.name)),
        ("input", json!({"$use": operation.name})),
        ("config", row.config.clone()),
        ("replies", replies),
        ("expect", expect),
        ("sent", json!(times)),
        ("took_at_least_ms", json!(took)),
    ];
    let fields: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn error(row: &Row, operation: &Operation, cell: Cell) -> Value {
    let status = row.reply["status"].as_u64();
    let said = format!("HTTP {}{}", status.unwrap_or_default(), if row.has_envelope { ", \"No\"" } else { "" });
    let detail = match (status, row.picture_detail) {
        (_, Some(detail)) if operation.name == "create_qr_image" => detail.to_owned(),
        (Some(status), _) if status >= 300 => format!("HTTP {status} {}", row.detail),
        _ => row.detail.to_owned(),
    };
    let (code, reason) = if row.has_envelope { (json!("05"), json!("No")) } else { (Value::Null, Value::Null) };
    let words = if row.has_envelope { ", code 05, \"No\"" } else { "" };
    let body = if row.name == "over the limit" { json!({"$use": "the first MiB"}) } else { row.reply["body"].clone() };
    let (kind, mut fields, text) = match cell {
        Unknown => (
            "OutcomeUnknown",
            json!({"payment": {"$use": operation.payment.0}, "code": code, "reason": reason, "detail": like(&detail), "body": body}),
            format!(
                "The outcome of {} is unknown, it may have happened: {detail}{words}. Watch it; never send it again.",
                operation.payment.1
            ),
        ),
        Unavailable | RetriedThenUnavailable => {
            let detail = if status.is_some() { said } else { detail };
            let wait = row.retry_after_ms.map(|wait| format!(" in {} s", wait / 1000)).unwrap_or_default();
            (
                "Unavailable",
                json!({"detail": like(&detail), "retry_after_ms": row.retry_after_ms}),
                format!("Not available, nothing happened: {detail}. Try again{wait}."),
            )
        }
        Refused => (
            "Refused",
            json!({"http_status": status, "code": code, "reason": reason, "body": body}),
            format!("The gateway refused, nothing happened (HTTP {}{words}).", status.unwrap_or_default()),
        ),
        Unexpected => (
            "Unexpected",
            json!({"detail": like(&detail), "body": body}),
            format!("The gateway's answer could not be understood, nothing happened: {detail}."),
        ),
        Unauthorized => (
            "Unauthorized",
            json!({"detail": said}),
            format!("The gateway did not accept the credentials, nothing happened: {said}."),
        ),
        Misconfigured => {
            let detail = format!("{said}, and not from the gateway: check the base URL and any proxy");
            let text = format!("Wrong configuration, nothing happened: {detail}.");
            ("Misconfigured", json!({"detail": detail}), text)
        }
        Answer => unreachable!("an answer is no error"),
    };
    fields["kind"] = kind.into();
    fields["text"] = like(&text);
    fields["payment_may_exist"] = (kind == "OutcomeUnknown").into();
    fields["is_retryable"] = (kind == "Unavailable").into();
    without_nulls(fields)
}

fn like(text: &str) -> Value {
    if text.contains('*') { json!({"$like": text}) } else { json!(text) }
}

fn without_nulls(value: Value) -> Value {
    let Value::Object(map) = value else { return value };
    map.into_iter().filter(|(_, value)| !value.is_null()).collect::<serde_json::Map<_, _>>().into()
}

fn whole_file() -> String {
    let about = "What came back, and what it means for the money: the table of outcomes, cell by cell. Generated; change \
                 tests/rust/tests/conformance/generate.rs and run `cargo test -p kassa-conformance -- --generate`.";
    let constants = [
        ("envelope", json!(r#"{"code":"05","message":"No","data":null}"#)),
        ("html", json!("<html>not here</html>")),
        ("the first MiB", json!({"$concat": ["{\"x\":\"", {"$repeat": "x", "times": 1_048_576 - 6}]})),
    ];
    let constants: Vec<String> = constants.iter().map(|(name, value)| format!("    \"{name}\": {value}")).collect();
    let table = table();
    let vectors: Vec<String> = table
        .iter()
        .flat_map(|row| OPERATIONS.iter().map(move |operation| format!("    {}", vector(row, operation))))
        .collect();
    format!(
        "{{\n  \"group\": \"outcomes\",\n  \"about\": {},\n  \"constants\": {{\n{}\n  }},\n  \"vectors\": [\n{}\n  ]\n}}\n",
        json!(about),
        constants.join(",\n"),
        vectors.join(",\n")
    )
}

pub fn write() {
    fs::write(directory().join(FILE), whole_file()).unwrap();
}

/// The committed file must be what this writes.
pub fn difference() -> Option<String> {
    let committed = fs::read_to_string(directory().join(FILE)).unwrap_or_default();
    (committed != whole_file()).then(|| format!("{FILE} is not what the generator writes: run with -- --generate"))
}
