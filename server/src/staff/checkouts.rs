//! `/staff`: checkouts that need a person, and the list of checkouts, the newest first, with filters, pages, totals and CSV.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use strum::IntoEnumIterator;

use super::{
    context::{RequestContext, run_exclusive, run_in_turn},
    export,
    labels::{self, Chip},
    page::{ErrorPage, Frame, Section},
    reconciliation::{csv_file, not_written},
    search::{Search, look, neighbours, place, place_of},
    texts::{Texts, fill},
};
use crate::{
    net::page,
    payments::Payment,
    storage::{
        listing::{
            ChargedSum, CheckoutFilter, CheckoutList, CheckoutTotals, ListCheckouts, MOST_OF_A_NEED, SHORTEST_PART,
            Start,
        },
        staff::{ListedCheckout, Need},
    },
    values::{CheckoutState, Method},
};

/// The most checkouts that need a person at the top of the first page.
const ON_TOP: u32 = 10;
/// The number of checkouts read at a time for a file, and the most in a file.
const PIECE: u32 = 500;
const MOST_IN_FILE: usize = 50_000;
/// The most times that a search for a file continues after its limit.
const MOST_STOPS: u32 = 20;

#[derive(Template)]
#[template(path = "staff/checkouts.html")]
struct Page {
    frame: Frame,
    /// A sentence about callbacks for payments that this database does not have, if any.
    unknown: Option<String>,
    /// The kinds of checkouts that need a person, with the first step.
    needs: Vec<NeedRow>,
    decides: String,
    may_decide: bool,
    /// The checkouts that need a person, if there is no search.
    urgent: Vec<Row>,
    is_more_urgent: bool,
    search: Search,
    states: Vec<(&'static str, &'static str, bool)>,
    methods: Vec<(&'static str, &'static str, bool)>,
    rows: Vec<Row>,
    totals: Option<Totals>,
    /// If the text is a complete number: the link to all checkouts that contain it.
    parts: Option<String>,
    searched_to: Option<String>,
    /// A sentence if the list and its totals lack some that need a person.
    capped: Option<String>,
    is_backwards: bool,
    download: String,
    /// The link to the newest; `None` on the first page.
    newest: Option<String>,
    newer: Option<String>,
    older: Option<String>,
}

struct NeedRow {
    key: &'static str,
    chip: Chip,
    first: &'static str,
    count: u64,
}

pub(super) struct Row {
    pub(super) id: String,
    pub(super) opened: String,
    pub(super) reference: String,
    pub(super) description: String,
    pub(super) amount: String,
    pub(super) state: Chip,
    /// The last payment: its method and state.
    pub(super) payment: Option<(&'static str, Chip)>,
    pub(super) needs: Vec<Chip>,
}

/// The totals of a filter.
struct Totals {
    sentence: String,
    ways: Vec<(&'static str, u64, String)>,
    /// A sentence if only a part was counted.
    partly: Option<String>,
}

pub(super) async fn list(context: RequestContext) -> Result<Response, ErrorPage> {
    let (server, t) = (&context.admin.server, context.t());
    let search = Search::read(&context.query, t);
    let counts = server.count_needs().await?;
    let is_start = !search.is_filtered() && search.start == Start::Newest;
    let urgent = if is_start && counts.iter().any(|(_, count)| *count > 0) {
        let which = CheckoutFilter { needs_person: true, ..CheckoutFilter::default() };
        server.list_checkouts(ListCheckouts { which, start: Start::Newest, most: ON_TOP }).await?
    } else {
        CheckoutList::default()
    };
    let is_filtered = search.is_filtered();
    let looking = look(context.clone(), search);
    let (search, found, totalled) =
        if is_filtered { run_in_turn(&context.admin.searching, looking).await? } else { looking.await? };
    let decides = who_decides(&context).await?;
    let status = if search.problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let is_whole = !search.q.is_empty() && !search.is_part && search.q.chars().count() >= SHORTEST_PART;
    let (newer, older) = neighbours(&search, &found);
    let searched = if search.is_backwards() { t.searched_forward } else { t.searched_to };
    let capped = capped(&counts, t);
    let unknown = server.count_unknown_callbacks().await?;
    let template = Page {
        frame: context.frame(Section::Checkouts),
        unknown: (unknown > 0).then(|| fill(t.unknown_callbacks_count, &[&unknown])),
        needs: counts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(need, count)| need_row(need, count, t))
            .collect(),
        decides,
        may_decide: context.may_decide(),
        is_more_urgent: urgent.is_more,
        urgent: urgent.checkouts.iter().map(|listed| row(listed, t)).collect(),
        states: CheckoutState::iter()
            .map(|state| (state.into(), labels::checkout_state(state, t).word, search.state == Some(state)))
            .collect(),
        methods: Method::ALL
            .into_iter()
            .map(|method| (method.into(), labels::method(method, t), search.method == Some(method)))
            .collect(),
        rows: found.checkouts.iter().map(|listed| row(listed, t)).collect(),
        totals: totalled.map(|totalled| totals(totalled, t)),
        parts: (is_whole && search.can_be_linked() && search.problem.is_none() && !found.checkouts.is_empty())
            .then(|| search.query(&[("part", "1")])),
        searched_to: found.searched_to.as_ref().map(|place| fill(searched, &[&labels::moment(place.opened_at, t)])),
        capped: capped.filter(|_| search.needs_person),
        is_backwards: search.is_backwards(),
        download: search.query(&[]),
        newest: (search.start != Start::Newest && search.can_be_linked()).then(|| search.query(&[])),
        newer,
        older,
        search,
    };
    Ok(page(status, &template))
}

/// Downloads the current list, with all its pages.
pub(super) async fn download(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.exporting.clone(), downloading(context)).await
}

async fn downloading(context: RequestContext) -> Result<Response, ErrorPage> {
    let (server, t) = (&context.admin.server, context.t());
    let search = Search::read(&context.query, t);
    if let Some(problem) = search.problem.filter(|problem| *problem != t.too_short) {
        return Err(ErrorPage::written(StatusCode::BAD_REQUEST, problem.to_owned()));
    }
    if search.needs_person
        && let Some(sentence) = capped(&server.count_needs().await?, t)
    {
        return Err(ErrorPage::written(StatusCode::BAD_REQUEST, sentence));
    }
    let mut file = export::checkouts(t).map_err(|_| not_written())?;
    let (mut start, mut count, mut stops) = (Start::Newest, 0, 0);
    while !search.is_nobodys() {
        let found = server.list_checkouts(search.list(start, PIECE)).await?;
        count += found.checkouts.len();
        stops += u32::from(found.searched_to.is_some());
        if count > MOST_IN_FILE || stops >= MOST_STOPS {
            return Err(ErrorPage::written(StatusCode::BAD_REQUEST, fill(t.list_too_long, &[&MOST_IN_FILE])));
        }
        for listed in &found.checkouts {
            file.add(listed).map_err(|_| not_written())?;
        }
        let last = found.checkouts.last().filter(|_| found.is_more).and_then(|listed| place(&place_of(listed)));
        match found.searched_to.or(last) {
            Some(place) => start = Start::OlderThan(place),
            None => break,
        }
    }
    let text = file.finish().map_err(|_| not_written())?;
    let today = labels::day(server.moment().await?);
    Ok(csv_file(text, &format!("checkouts-{today}.csv")))
}

/// A sentence if not all that need a person were examined.
pub(super) fn capped(counts: &[(Need, u64)], t: &Texts) -> Option<String> {
    let is_capped = counts.iter().any(|(_, count)| *count >= MOST_OF_A_NEED);
    is_capped.then(|| fill(t.needs_capped, &[&MOST_OF_A_NEED]))
}

/// The names of the people who may decide, in a sentence.
pub(super) async fn who_decides(context: &RequestContext) -> Result<String, ErrorPage> {
    let (names, t) = (context.admin.server.who_decides().await?, context.t());
    Ok(if names.is_empty() { t.nobody_decides.to_owned() } else { fill(t.who_decides, &[&names.join(", ")]) })
}

fn need_row(need: Need, count: u64, t: &Texts) -> NeedRow {
    NeedRow { key: need.into(), chip: labels::need(need, t), first: labels::first_step(need, t), count }
}

fn totals(totals: CheckoutTotals, t: &Texts) -> Totals {
    let payments: u64 = totals.charged.iter().map(|one| one.count).sum();
    let way = |one: &ChargedSum| {
        let sum = one.sum.map(|sum| labels::money(sum, &one.currency, t));
        (labels::method(one.method, t), one.count, sum.unwrap_or_else(|| fill(t.too_much, &[&one.currency])))
    };
    Totals {
        sentence: fill(t.totals_of, &[&totals.count, &payments]),
        ways: totals.charged.iter().map(way).collect(),
        partly: totals.counted_to.map(|at| fill(t.totals_partly, &[&labels::moment(at, t)])),
    }
}

pub(super) fn row(listed: &ListedCheckout, t: &Texts) -> Row {
    let checkout = &listed.view.checkout;
    let payment = |one: &Payment| (labels::method(one.method, t), labels::payment_state(one.state, t));
    Row {
        id: checkout.id.to_string(),
        opened: labels::moment(checkout.opened_at, t),
        reference: checkout.reference.clone(),
        description: checkout.description.clone(),
        amount: labels::money(checkout.amount, &checkout.currency, t),
        state: labels::checkout_state(checkout.state, t),
        payment: listed.view.payments.last().map(payment),
        needs: listed.needs.iter().map(|need| labels::need(*need, t)).collect(),
    }
}
