//! What came to the built-in receiver.

use askama::Template;
use axum::http::StatusCode;

use crate::{
    staff::{
        dashboard::{
            text,
            visit::{Answer, Visit},
        },
        layout::{Section, Staff},
        receiver,
    },
    store::received::{self, Received},
    web::{self, Document, Policy},
};

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
    rows: Vec<Row>,
}

struct Row {
    time: String,
    request: Received,
    tone: &'static str,
}

pub(super) fn page(visit: &Visit<'_>) -> Answer {
    let name = visit.query.get("name");
    let rows = visit
        .state
        .store
        .browse(|connection| received::latest(connection, (!name.is_empty()).then_some(name), SHOWN))?;
    let rows = rows.into_iter().map(|request| Row {
        time: text::time(request.at),
        tone: text::http_tone(Some(request.answered)),
        request,
    });
    let page = Receiver {
        document: visit.document.clone(),
        staff: visit.staff(Section::Receiver),
        csrf: visit.visitor.csrf.clone(),
        address: format!("{}{}", visit.state.public_url, receiver::PREFIX),
        name: name.to_owned(),
        rows: rows.collect(),
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

/// Forgets what came so far.
pub(super) fn forget(visit: &Visit<'_>) -> Answer {
    visit.state.store.write(received::forget)?;
    Ok(web::see_other(&format!("{}dashboard/receiver", visit.document.root)))
}
