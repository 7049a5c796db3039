//! `/staff/unknown-callbacks`: callbacks to addresses that no payment has, for example after the
//! restore of a backup, with advice.

use askama::Template;
use axum::{
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};

use super::{
    context::RequestContext,
    labels,
    page::{ErrorPage, Frame, Section},
    texts::{Texts, fill},
};
use crate::{
    net::page,
    storage::staff::{MOST_UNKNOWN_CALLBACKS, StoredUnknownCallback},
    values::Millis,
};

#[derive(Template)]
#[template(path = "staff/unknown_callbacks.html")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    /// A sentence if the storage limit is reached: older ones may have been dropped.
    capped: Option<String>,
    /// The time of the newest callback in the list, for the form that marks it as reviewed.
    until: Millis,
    may_decide: bool,
    csrf: String,
}

struct Row {
    number: String,
    payment: String,
    amount: String,
    status: String,
    first_at: String,
    last_at: String,
    times: u64,
}

pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    let t = context.t();
    let found = context.admin.server.unknown_callbacks().await?;
    let is_capped = found.len() >= MOST_UNKNOWN_CALLBACKS as usize;
    let template = Page {
        frame: context.frame(Section::Checkouts),
        capped: is_capped.then(|| fill(t.unknown_callbacks_capped, &[&MOST_UNKNOWN_CALLBACKS])),
        until: found.iter().map(|one| one.last_at).max().unwrap_or_default(),
        rows: found.iter().map(|one| row(one, t)).collect(),
        may_decide: context.may_decide(),
        csrf: context.csrf(),
    };
    Ok(page(StatusCode::OK, &template))
}

/// Removes the reviewed callbacks, up to the time of the list; later ones stay.
pub(super) async fn remove(context: RequestContext) -> Result<Response, ErrorPage> {
    let until = context.form.get("until").parse();
    let until = until.map_err(|_| ErrorPage::new(StatusCode::BAD_REQUEST, |t| t.unknown_callbacks_until))?;
    context.admin.server.remove_unknown_callbacks(until, &context.by()).await?;
    Ok(Redirect::to(&format!("{}/unknown-callbacks", context.admin.home)).into_response())
}

fn row(one: &StoredUnknownCallback, t: &Texts) -> Row {
    let callback = &one.callback;
    Row {
        number: callback.number.clone().unwrap_or_else(|| t.none.to_owned()),
        payment: callback.payment.to_string(),
        amount: callback.amount.map_or_else(|| t.none.to_owned(), |amount| amount.to_string()),
        status: callback.status.as_deref().map_or_else(|| t.none.to_owned(), |status| status_word(status, t)),
        first_at: labels::moment(one.first_at, t),
        last_at: labels::moment(one.last_at, t),
        times: one.times,
    }
}

/// A status in the reader's language if it is a payment state; else as the gateway wrote it.
fn status_word(status: &str, t: &Texts) -> String {
    status.parse().map_or_else(|_| status.to_owned(), |state| labels::payment_state(state, t).word.to_owned())
}
