//! The log of callbacks, with a button to send one again; and the requests to the built-in receiver.

use askama::Template;
use axum::http::StatusCode;
use url::form_urlencoded;

use crate::{
    faults::FaultName,
    staff::{
        dashboard::{
            PageContext, PageResult, not_found, text,
            transactions::{Choice, choices},
        },
        layout::{Section, Staff},
        receiver,
    },
    store::{
        callback_queue::{self, Attempt, Outcome},
        received::{self, Received},
    },
    web::{self, Document, Policy},
};

/// Attempts per page.
const PAGE_SIZE: usize = 25;

#[derive(Template)]
#[template(path = "staff/deliveries.html")]
struct Deliveries {
    document: Document,
    staff: Staff,
    csrf: String,
    order: String,
    outcomes: Vec<Choice>,
    waiting: i64,
    was_queued: bool,
    rows: Vec<Row>,
    is_first: bool,
    first: String,
    later: Option<String>,
}

struct Row {
    id: i64,
    callback_id: i64,
    payment_id: i64,
    time: String,
    order_number: String,
    target: String,
    attempt: u32,
    took: String,
    result: String,
    tone: &'static str,
    fault: Option<&'static str>,
}

pub(super) fn page(context: &PageContext) -> PageResult {
    let query = &context.request.query;
    let order = query.get("order");
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == query.get("outcome"));
    let before: Option<i64> = query.get("before").parse().ok();
    let (mut attempts, waiting) = context.state.store.browse(|connection| {
        let order = (!order.is_empty()).then_some(order);
        Ok((
            callback_queue::attempts_page(connection, order, outcome, before, PAGE_SIZE + 1)?,
            callback_queue::waiting(connection)?,
        ))
    })?;
    let has_more = attempts.len() > PAGE_SIZE;
    attempts.truncate(PAGE_SIZE);
    let link = |before: Option<i64>| {
        let mut link = form_urlencoded::Serializer::new(String::new());
        if !order.is_empty() {
            link.append_pair("order", order);
        }
        if let Some(outcome) = outcome {
            link.append_pair("outcome", outcome.as_str());
        }
        if let Some(before) = before {
            link.append_pair("before", &before.to_string());
        }
        link.finish()
    };
    let page = Deliveries {
        document: context.document.clone(),
        staff: context.staff(Section::Deliveries),
        csrf: context.visitor.csrf.clone(),
        order: order.to_owned(),
        outcomes: choices(&Outcome::ALL, Outcome::as_str, name, outcome),
        waiting,
        was_queued: query.get("again") == "1",
        is_first: before.is_none(),
        first: link(None),
        later: if has_more { attempts.last().map(|attempt| link(Some(attempt.id))) } else { None },
        rows: attempts.into_iter().map(row).collect(),
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "Delivered",
        Outcome::Failed => "Failed",
    }
}

fn result(attempt: &Attempt) -> String {
    match (attempt.http_status, &attempt.error) {
        (Some(status), _) => format!("HTTP {status}"),
        (None, Some(_)) => "No answer".to_owned(),
        (None, None) => "Unknown".to_owned(),
    }
}

fn row(attempt: Attempt) -> Row {
    Row {
        id: attempt.id,
        callback_id: attempt.callback_id,
        payment_id: attempt.payment_id,
        time: text::time(attempt.at),
        took: attempt.took_ms.map_or(text::NOTHING.to_owned(), text::duration),
        result: result(&attempt),
        tone: text::http_tone(attempt.http_status),
        fault: attempt.fault.map(FaultName::as_str),
        order_number: attempt.order_number,
        target: attempt.target,
        attempt: attempt.attempt,
    }
}

#[derive(Template)]
#[template(path = "staff/delivery.html")]
struct Delivery {
    document: Document,
    staff: Staff,
    csrf: String,
    attempt: Attempt,
    result: String,
    tone: &'static str,
    facts: Vec<(&'static str, String)>,
}

/// One attempt, with request and response.
pub(super) fn attempt(context: &PageContext, id: i64) -> PageResult {
    let Some(attempt) = context.state.store.browse(|connection| callback_queue::by_id(connection, id))? else {
        return Ok(not_found(context));
    };
    let facts = [
        ("Sent", Some(text::time(attempt.at))),
        ("To", Some(attempt.target.clone())),
        ("Attempt", Some(attempt.attempt.to_string())),
        ("Took", attempt.took_ms.map(text::duration)),
        ("Problem", attempt.error.clone()),
        ("Fault", attempt.fault.map(|fault| fault.as_str().to_owned())),
        ("Sent again by itself", attempt.next_attempt_at.map(text::time)),
    ];
    let page = Delivery {
        document: context.document.clone(),
        staff: context.staff(Section::Deliveries),
        csrf: context.visitor.csrf.clone(),
        result: result(&attempt),
        tone: text::http_tone(attempt.http_status),
        facts: facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
        attempt,
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

/// Sends a callback again; until a 2xx, with the usual pauses.
pub(super) fn deliver_again(context: &PageContext) -> PageResult {
    let form = &context.request.form;
    let id: Option<i64> = form.get("callback").parse().ok();
    let is_queued = match id {
        Some(id) => context.state.write(|transaction| callback_queue::deliver_again(transaction, id))?,
        None => false,
    };
    if !is_queued {
        return Ok(not_found(context));
    }
    let order = form_urlencoded::Serializer::new(String::new()).append_pair("order", form.get("order")).finish();
    Ok(web::see_other(&format!("{}dashboard/deliveries?again=1&{order}", context.document.root)))
}

/// Requests on the page.
const SHOWN: u32 = 50;

#[derive(Template)]
#[template(path = "staff/receiver.html")]
struct Receiver {
    document: Document,
    staff: Staff,
    csrf: String,
    address: String,
    name: String,
    rows: Vec<ReceivedRow>,
}

struct ReceivedRow {
    time: String,
    request: Received,
    tone: &'static str,
}

pub(super) fn received_page(context: &PageContext) -> PageResult {
    let name = context.request.query.get("name");
    let rows = context
        .state
        .store
        .browse(|connection| received::latest(connection, (!name.is_empty()).then_some(name), SHOWN))?;
    let rows = rows.into_iter().map(|request| ReceivedRow {
        time: text::time(request.at),
        tone: text::http_tone(Some(request.answered)),
        request,
    });
    let page = Receiver {
        document: context.document.clone(),
        staff: context.staff(Section::Receiver),
        csrf: context.visitor.csrf.clone(),
        address: format!("{}{}", context.state.public_url, receiver::PREFIX),
        name: name.to_owned(),
        rows: rows.collect(),
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

/// Deletes the log of the receiver.
pub(super) fn forget_received(context: &PageContext) -> PageResult {
    context.state.store.write(received::forget)?;
    Ok(web::see_other(&format!("{}dashboard/receiver", context.document.root)))
}
