//! `/staff`: what needs a person, and all checkouts, the newest first.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use strum::IntoEnumIterator;

use super::{
    context::RequestContext,
    fields::{FormFields, query},
    labels::{self, Chip},
    page::{ErrorPage, Frame, Section},
};
use crate::{
    net::page,
    payments::Payment,
    storage::staff::{CheckoutFilter, CheckoutList, ListCheckouts, ListedCheckout, Need, Place},
    values::CheckoutState,
};

/// Checkouts on a page, and those that need a person on top of it.
const PAGE: u32 = 50;
const ON_TOP: u32 = 10;
/// The longest search text: that of a reference.
const LONGEST: usize = 200;

#[derive(Template)]
#[template(path = "staff/checkouts.html")]
struct Page {
    frame: Frame,
    needs: Vec<NeedRow>,
    /// Those that need a person, where nothing was looked for.
    urgent: Vec<Row>,
    is_more_urgent: bool,
    search: Search,
    states: Vec<(&'static str, bool)>,
    rows: Vec<Row>,
    next: Option<String>,
}

/// A search for checkouts.
struct Search {
    q: String,
    /// The same as the page shows it again: nothing of it where it looks like a card number.
    shown: String,
    state: Option<CheckoutState>,
    needs_person: bool,
    after: Option<Place>,
    problem: Option<&'static str>,
}

struct NeedRow {
    chip: Chip,
    count: u64,
}

struct Row {
    id: String,
    opened: String,
    reference: String,
    description: String,
    amount: String,
    state: Chip,
    /// The last payment: how, and where it stands.
    payment: Option<(&'static str, Chip)>,
    needs: Vec<Chip>,
}

impl Search {
    fn read(fields: &FormFields) -> Self {
        let is_too_long = fields.get("q").chars().count() > LONGEST;
        let unless_too_long = |text: &str| if is_too_long { String::new() } else { text.to_owned() };
        Self {
            q: unless_too_long(fields.get("q")),
            shown: unless_too_long(fields.shown("q")),
            state: fields.get("state").parse().ok(),
            needs_person: fields.get("needs") == "person",
            after: place(fields.get("after")),
            problem: is_too_long.then_some("This is too long to be a reference or a number."),
        }
    }

    fn which(&self) -> CheckoutFilter {
        match self.state {
            _ if !self.q.is_empty() => CheckoutFilter::Matching(self.q.clone()),
            _ if self.needs_person => CheckoutFilter::NeedPerson,
            Some(state) => CheckoutFilter::InState(state),
            None => CheckoutFilter::All,
        }
    }

    fn is_filtered(&self) -> bool {
        self.which() != CheckoutFilter::All || self.problem.is_some()
    }

    /// The form fields that lead to the next page. A link would repeat the search text.
    fn next(&self, listed: &CheckoutList) -> Option<String> {
        if self.shown != self.q {
            return None;
        }
        let last = &listed.checkouts.last().filter(|_| listed.is_more)?.view.checkout;
        let after = format!("{}.{}", last.opened_at, last.id);
        let state = self.state.map_or("", <&str>::from);
        let needs = if self.needs_person { "person" } else { "" };
        Some(query(&[("q", &self.q), ("state", state), ("needs", needs), ("after", &after)]))
    }
}

fn place(text: &str) -> Option<Place> {
    let (opened_at, id) = text.split_once('.')?;
    Some(Place { opened_at: opened_at.parse().ok()?, id: id.parse().ok()? })
}

pub(super) async fn list(context: RequestContext) -> Result<Response, ErrorPage> {
    let server = &context.admin.server;
    let search = Search::read(&context.query);
    let counts = server.count_needs().await?;
    let is_start = !search.is_filtered() && search.after.is_none();
    let urgent = if is_start && counts.iter().any(|(_, count)| *count > 0) {
        server.list_checkouts(ListCheckouts { which: CheckoutFilter::NeedPerson, after: None, most: ON_TOP }).await?
    } else {
        CheckoutList::default()
    };
    let found = match search.problem {
        None => {
            let list = ListCheckouts { which: search.which(), after: search.after.clone(), most: PAGE };
            server.list_checkouts(list).await?
        }
        Some(_) => CheckoutList::default(),
    };
    let status = if search.problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let template = Page {
        frame: context.frame(Section::Checkouts),
        needs: counts.into_iter().map(|(need, count)| NeedRow { chip: labels::need(need), count }).collect(),
        is_more_urgent: urgent.is_more,
        urgent: urgent.checkouts.iter().map(row).collect(),
        states: CheckoutState::iter().map(|state| (state.into(), search.state == Some(state))).collect(),
        rows: found.checkouts.iter().map(row).collect(),
        next: search.next(&found),
        search,
    };
    Ok(page(status, &template))
}

fn row(listed: &ListedCheckout) -> Row {
    let checkout = &listed.view.checkout;
    let payment = |one: &Payment| (labels::method(one.method), labels::payment_state(one.state));
    Row {
        id: checkout.id.to_string(),
        opened: labels::moment(checkout.opened_at),
        reference: checkout.reference.clone(),
        description: checkout.description.clone(),
        amount: labels::money(checkout.amount, &checkout.currency),
        state: labels::checkout_state(checkout.state),
        payment: listed.view.payments.last().map(payment),
        needs: listed.needs.iter().map(|need: &Need| labels::need(*need)).collect(),
    }
}
