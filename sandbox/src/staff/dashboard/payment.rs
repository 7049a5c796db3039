//! The page of one payment with its history.

use askama::Template;
use axum::http::StatusCode;

use crate::{
    domain::PaymentKind,
    faults::FaultName,
    pages,
    staff::{
        dashboard::{PageContext, PageResult, not_found, text},
        layout::{Section, Staff},
    },
    store::{
        browse,
        callback_queue::{self, Attempt},
        exchanges::{self, Exchange, StateChange},
        payments::Record,
    },
    web::{self, Document, Policy},
};

#[derive(Template)]
#[template(path = "staff/payment.html")]
struct Payment {
    document: Document,
    staff: Staff,
    title: String,
    amount: String,
    status: &'static str,
    tone: &'static str,
    is_open: bool,
    /// The path of the payer's page, if the payment waits for its payer there.
    payer_page: Option<String>,
    /// The gateway's number, which is unique.
    number: String,
    facts: Vec<(&'static str, String)>,
    events: Vec<Event>,
}

/// An entry of the history.
struct Event {
    at: i64,
    /// The order within a millisecond: a request, its status change, its callback.
    rank: u8,
    time: String,
    title: String,
    badge: String,
    tone: &'static str,
    remarks: Vec<String>,
    parts: Vec<Part>,
    /// The page of the delivery attempt.
    attempt: Option<i64>,
}

/// A request or a response.
struct Part {
    name: &'static str,
    text: String,
}

pub(super) fn page(context: &PageContext, id: i64) -> PageResult {
    let found = context.state.store.browse(|connection| {
        let Some(record) = browse::by_id(connection, id)? else {
            return Ok(None);
        };
        let mut events: Vec<Event> = exchanges::of_payment(connection, &record)?.into_iter().map(of_exchange).collect();
        events.extend(exchanges::state_changes(connection, id)?.into_iter().map(of_change));
        events.extend(callback_queue::of_payment(connection, id)?.into_iter().map(of_attempt));
        events.sort_by_key(|event| (event.at, event.rank));
        Ok(Some((record, events)))
    })?;
    let Some((record, events)) = found else {
        return Ok(not_found(context));
    };
    let payment = &record.payment;
    let page = Payment {
        document: context.document.clone(),
        staff: context.staff(Section::Transactions),
        title: payment.order_number.clone(),
        amount: text::money(payment),
        status: text::status(payment.status),
        tone: text::tone(payment.status),
        is_open: !payment.status.is_final(),
        payer_page: pages::awaiting(&record)
            .map(|path| format!("{}?token={}", path.trim_start_matches('/'), payment.gateway_number)),
        number: payment.gateway_number.clone(),
        facts: facts(&record),
        events,
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

fn facts(record: &Record) -> Vec<(&'static str, String)> {
    let payment = &record.payment;
    let took =
        record.finished_at.map(|at| format!("{}, after {}", text::time(at), text::duration(at - record.created_at)));
    let exact = match payment.kind {
        PaymentKind::Qr => payment.amount.map(|amount| format!("{amount} tyiyn")),
        _ => payment.amount.map(|amount| format!("{amount} {}", payment.currency)),
    };
    let facts = [
        ("Status word", Some(payment.status.as_str().to_owned())),
        ("Reason", payment.reject_reason.map(|reason| format!("{} ({})", text::reason(reason), reason.code()))),
        ("Amount on the wire", exact),
        ("Method", Some(text::method(payment))),
        ("Card", payment.masked_card.clone()),
        ("Phone", payment.masked_phone.clone()),
        ("Cardholder", record.holder_name.clone()),
        ("Description", Some(record.description.clone()).filter(|text| !text.is_empty())),
        ("Requisite", record.requisite.clone()),
        ("Gateway's number", Some(payment.gateway_number.clone())),
        ("Transaction id", payment.transaction_id.clone()),
        ("Registered", Some(text::time(record.created_at))),
        ("Finished", took),
        ("Times charged under this number", Some(payment.times_charged.to_string())),
        ("Callback URL", record.callback_url.clone()),
        ("Return URL", record.return_url.clone()),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn of_exchange(exchange: Exchange) -> Event {
    let title = match exchange.endpoint {
        Some(endpoint) => format!("Request to {endpoint}"),
        None => format!("Request to {}", exchange.path),
    };
    let part = |name, head: Option<String>, body: Option<String>| {
        let text = [head, body].into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
        (!text.is_empty()).then_some(Part { name, text })
    };
    let mut remarks = Vec::new();
    remarks.extend(exchange.took_us.map(|us| format!("answered in {}.{:03} ms", us / 1000, us % 1000)));
    remarks.extend(exchange.fault.map(fault_remark));
    // The request started before its effects; the recorded time is that of the response, truncated to milliseconds.
    let at = exchange.at - (exchange.took_us.unwrap_or_default() + 999) / 1000;
    Event {
        at,
        rank: 0,
        time: text::time(at),
        title,
        badge: exchange.http_status.map_or("no answer seen".to_owned(), |status| format!("HTTP {status}")),
        tone: text::http_tone(exchange.http_status),
        remarks,
        parts: [
            part("Request", exchange.request_head, exchange.request_body),
            part("Response", exchange.response_head, exchange.response_body),
        ]
        .into_iter()
        .flatten()
        .collect(),
        attempt: None,
    }
}

fn of_change(change: StateChange) -> Event {
    Event {
        at: change.at,
        rank: 1,
        time: text::time(change.at),
        title: "The payment is now".to_owned(),
        badge: text::status(change.status).to_owned(),
        tone: text::tone(change.status),
        remarks: Vec::new(),
        parts: Vec::new(),
        attempt: None,
    }
}

fn of_attempt(attempt: Attempt) -> Event {
    let mut remarks = vec![format!("to {}", attempt.target)];
    remarks.extend(attempt.took_ms.map(|ms| format!("took {}", text::duration(ms))));
    remarks.extend(attempt.error.clone());
    remarks.extend(attempt.fault.map(fault_remark));
    Event {
        at: attempt.at,
        rank: 2,
        time: text::time(attempt.at),
        title: format!("Callback, attempt {}", attempt.attempt),
        badge: attempt.http_status.map_or("not delivered".to_owned(), |status| format!("HTTP {status}")),
        tone: text::http_tone(attempt.http_status),
        remarks,
        parts: vec![Part { name: "Request", text: attempt.body }],
        attempt: Some(attempt.id),
    }
}

fn fault_remark(fault: FaultName) -> String {
    format!("the fault {fault} struck")
}
