//! `/staff`: what needs a person, and the list of checkouts, the newest first: filtered, in pages, in sums, and as CSV.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use strum::IntoEnumIterator;

use super::{
    context::{RequestContext, run_exclusive},
    export,
    fields::{FormFields, query},
    labels::{self, Chip},
    page::{ErrorPage, Frame, Section},
    reconciliation::{csv_file, not_written},
    texts::{Texts, fill},
};
use crate::{
    net::page,
    payments::Payment,
    storage::{
        listing::{
            ChargedSum, CheckoutFilter, CheckoutList, CheckoutTotals, ListCheckouts, Place, SHORTEST_PART, Start,
            TextFilter,
        },
        staff::{ListedCheckout, Need, Period},
    },
    values::{CheckoutState, Method, Millis},
};

/// Checkouts on a page, and those that need a person on top of it.
const PAGE: u32 = 50;
const ON_TOP: u32 = 10;
/// Checkouts that are read at a time for a file, and the most that one has.
const PIECE: u32 = 500;
const MOST_IN_FILE: usize = 50_000;
/// The most checkouts that are added up.
const MOST_TOTALLED: u32 = 50_000;
/// The longest search text: no reference and no number is longer.
const LONGEST: usize = 200;
const DAY: Millis = 24 * 3600 * 1000;

#[derive(Template)]
#[template(path = "staff/checkouts.html")]
struct Page {
    frame: Frame,
    /// What there is, and what to do about it.
    needs: Vec<NeedRow>,
    decides: String,
    may_decide: bool,
    /// Those that need a person, where nothing was looked for.
    urgent: Vec<Row>,
    is_more_urgent: bool,
    search: Search,
    states: Vec<(&'static str, &'static str, bool)>,
    methods: Vec<(&'static str, &'static str, bool)>,
    rows: Vec<Row>,
    totals: Option<Totals>,
    /// The number is one's whole number; the link to all that have it as a part.
    parts: Option<String>,
    searched_to: Option<String>,
    download: String,
    newest: String,
    newer: Option<String>,
    older: Option<String>,
}

/// A search for checkouts.
struct Search {
    q: String,
    /// The same as the page shows it again: nothing of it where it looks like a card number.
    shown: String,
    /// Parts are looked for, also where the text is somebody's whole number.
    is_part: bool,
    state: Option<CheckoutState>,
    method: Option<Method>,
    needs_person: bool,
    from: String,
    to: String,
    start: Start,
    problem: Option<&'static str>,
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
    /// The last payment: how, and where it stands.
    pub(super) payment: Option<(&'static str, Chip)>,
    pub(super) needs: Vec<Chip>,
}

/// What the filter finds, in all.
struct Totals {
    sentence: String,
    ways: Vec<(&'static str, u64, String)>,
    /// Only a part of it was counted.
    partly: Option<String>,
}

impl Search {
    fn read(fields: &FormFields, t: &Texts) -> Self {
        let length = fields.get("q").chars().count();
        let is_digits = fields.get("q").bytes().all(|byte| byte.is_ascii_digit());
        let mut problem = None;
        if length > LONGEST {
            problem = Some(t.too_long);
        } else if length > 0 && length < SHORTEST_PART && !(length == 2 && is_digits) {
            problem = Some(t.too_short);
        }
        let unless_too_long = |text: &str| if length > LONGEST { String::new() } else { text.to_owned() };
        let day = |name| Some(fields.get(name)).filter(|day| labels::first_moment(day).is_some());
        let (from, to) = (day("from").unwrap_or_default(), day("to").unwrap_or_default());
        let has_bad_day = ["from", "to"].iter().any(|name| !fields.get(name).is_empty() && day(name).is_none());
        if has_bad_day {
            problem = problem.or(Some(t.write_days));
        } else if !from.is_empty() && !to.is_empty() && from > to {
            problem = problem.or(Some(t.bad_dates));
        }
        let start = match (place(fields.get("after")), place(fields.get("before"))) {
            (Some(place), _) => Start::OlderThan(place),
            (None, Some(place)) => Start::NewerThan(place),
            (None, None) => Start::Newest,
        };
        Self {
            q: unless_too_long(fields.get("q")),
            shown: unless_too_long(fields.shown("q")),
            is_part: fields.get("part") == "1",
            state: fields.get("state").parse().ok(),
            method: fields.get("method").parse().ok(),
            needs_person: fields.get("needs") == "person",
            from: from.to_owned(),
            to: to.to_owned(),
            start,
            problem,
        }
    }

    fn which(&self) -> CheckoutFilter {
        let from = labels::first_moment(&self.from);
        let until = labels::first_moment(&self.to).map(|last| last.saturating_add(DAY));
        let opened = (from.is_some() || until.is_some())
            .then(|| Period { from: from.unwrap_or(Millis::MIN), until: until.unwrap_or(Millis::MAX) });
        let text = (!self.q.is_empty()).then(|| match self.is_part {
            true => TextFilter::Part(self.q.clone()),
            false => TextFilter::Whole(self.q.clone()),
        });
        CheckoutFilter { opened, state: self.state, method: self.method, needs_person: self.needs_person, text }
    }

    fn is_filtered(&self) -> bool {
        self.which() != CheckoutFilter::default() || self.problem.is_some()
    }

    fn list(&self, start: Start, most: u32) -> ListCheckouts {
        ListCheckouts { which: self.which(), start, most }
    }

    /// The filter as a query, with something more. No link repeats a text that looks like a card number.
    fn query(&self, more: &[(&str, &str)]) -> String {
        let (state, method) = (self.state.map_or("", <&str>::from), self.method.map_or("", <&str>::from));
        let needs = if self.needs_person { "person" } else { "" };
        let part = if self.is_part { "1" } else { "" };
        let filter = [
            ("q", self.shown.as_str()),
            ("part", part),
            ("state", state),
            ("method", method),
            ("needs", needs),
            ("from", &self.from),
            ("to", &self.to),
        ];
        query(&[filter.as_slice(), more].concat())
    }

    /// Whether links to other pages can be made.
    fn can_be_linked(&self) -> bool {
        self.shown == self.q
    }
}

fn place(text: &str) -> Option<Place> {
    let (opened_at, id) = text.split_once('.')?;
    Some(Place { opened_at: opened_at.parse().ok()?, id: id.parse().ok()? })
}

fn place_of(listed: &ListedCheckout) -> String {
    let checkout = &listed.view.checkout;
    format!("{}.{}", checkout.opened_at, checkout.id)
}

/// Those that are found: exactly by a number, else by a part of one.
async fn find(context: &RequestContext, search: &mut Search) -> Result<CheckoutList, ErrorPage> {
    let server = &context.admin.server;
    if search.problem.is_some_and(|problem| problem != context.t().too_short) {
        return Ok(CheckoutList::default());
    }
    let mut found = server.list_checkouts(search.list(search.start.clone(), PAGE)).await?;
    let is_there = !found.checkouts.is_empty() || search.start != Start::Newest;
    if search.q.is_empty() || search.is_part || is_there {
        // Even a short text is somebody's whole number.
        search.problem = search.problem.filter(|_| !is_there);
    } else if search.problem.is_none() {
        search.is_part = true;
        found = server.list_checkouts(search.list(Start::Newest, PAGE)).await?;
    }
    // The first page is always a whole one.
    if matches!(search.start, Start::NewerThan(_)) && !found.is_more && found.searched_to.is_none() {
        search.start = Start::Newest;
        found = server.list_checkouts(search.list(Start::Newest, PAGE)).await?;
    }
    Ok(found)
}

pub(super) async fn list(context: RequestContext) -> Result<Response, ErrorPage> {
    let (server, t) = (&context.admin.server, context.t());
    let mut search = Search::read(&context.query, t);
    let counts = server.count_needs().await?;
    let is_start = !search.is_filtered() && search.start == Start::Newest;
    let urgent = if is_start && counts.iter().any(|(_, count)| *count > 0) {
        let which = CheckoutFilter { needs_person: true, ..CheckoutFilter::default() };
        server.list_checkouts(ListCheckouts { which, start: Start::Newest, most: ON_TOP }).await?
    } else {
        CheckoutList::default()
    };
    let found = find(&context, &mut search).await?;
    let totals = if search.is_filtered() && search.problem.is_none() {
        Some(totals(server.total_checkouts(search.which(), MOST_TOTALLED).await?, t))
    } else {
        None
    };
    let decides = who_decides(&context).await?;
    let status = if search.problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let is_whole = !search.q.is_empty() && !search.is_part && search.q.chars().count() >= SHORTEST_PART;
    let (newer, older) = neighbours(&search, &found);
    let template = Page {
        frame: context.frame(Section::Checkouts),
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
        totals,
        parts: (is_whole && search.can_be_linked() && search.problem.is_none() && !found.checkouts.is_empty())
            .then(|| search.query(&[("part", "1")])),
        searched_to: found
            .searched_to
            .as_ref()
            .map(|place| fill(t.searched_to, &[&labels::moment(place.opened_at, t)])),
        download: search.query(&[]),
        newest: search.query(&[]),
        newer,
        older,
        search,
    };
    Ok(page(status, &template))
}

/// The queries that lead to the pages before and after this one.
fn neighbours(search: &Search, found: &CheckoutList) -> (Option<String>, Option<String>) {
    if !search.can_be_linked() {
        return (None, None);
    }
    let is_backwards = matches!(search.start, Start::NewerThan(_));
    let ended = found.searched_to.as_ref().map(|place| format!("{}.{}", place.opened_at, place.id));
    let (first, last) = (found.checkouts.first().map(place_of), found.checkouts.last().map(place_of));
    let (newer, older) = if is_backwards {
        (ended.or(first).filter(|_| found.is_more || found.searched_to.is_some()), last.or_else(|| start_of(search)))
    } else {
        let newer = (search.start != Start::Newest).then(|| first.or_else(|| start_of(search))).flatten();
        (newer, ended.or(last).filter(|_| found.is_more || found.searched_to.is_some()))
    };
    let link = |name: &'static str| move |place: String| search.query(&[(name, &place)]);
    (newer.map(link("before")), older.map(link("after")))
}

/// The place where a page without anything on it begins.
fn start_of(search: &Search) -> Option<String> {
    match &search.start {
        Start::Newest => None,
        Start::OlderThan(place) | Start::NewerThan(place) => Some(format!("{}.{}", place.opened_at, place.id)),
    }
}

/// The list that is shown, with all its pages.
pub(super) async fn download(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.reconciling.clone(), downloading(context)).await
}

async fn downloading(context: RequestContext) -> Result<Response, ErrorPage> {
    let (server, t) = (&context.admin.server, context.t());
    let search = Search::read(&context.query, t);
    if let Some(problem) = search.problem.filter(|problem| *problem != t.too_short) {
        return Err(ErrorPage::written(StatusCode::BAD_REQUEST, problem.to_owned()));
    }
    let mut file = export::checkouts(t).map_err(|_| not_written())?;
    let (mut start, mut count) = (Start::Newest, 0);
    loop {
        let found = server.list_checkouts(search.list(start, PIECE)).await?;
        count += found.checkouts.len();
        if count > MOST_IN_FILE {
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
