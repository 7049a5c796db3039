//! A search for checkouts: parsing it from a query, running it, and building the links to its other pages.

use super::{
    context::RequestContext,
    fields::{FormFields, query},
    labels,
    page::ErrorPage,
    texts::Texts,
};
use crate::{
    storage::{
        listing::{
            CheckoutFilter, CheckoutList, CheckoutTotals, ListCheckouts, ListPosition, SHORTEST_PART, Start, TextFilter,
        },
        staff::{ListedCheckout, Period},
    },
    values::{CheckoutState, Method, Millis, error::ServerError},
};

/// The number of checkouts on a page.
const PAGE: u32 = 50;
/// The most checkouts that are added up.
const MOST_TOTALLED: u32 = 50_000;
/// The longest search text: no reference and no number is longer.
const LONGEST: usize = 200;
const DAY: Millis = 24 * 3600 * 1000;

/// A search for checkouts.
pub(super) struct Search {
    pub(super) q: String,
    /// The text to show again on the page; empty if it looks like a card number.
    pub(super) shown: String,
    /// Whether to search for parts, even if the text is a complete number of a checkout.
    pub(super) is_part: bool,
    pub(super) state: Option<CheckoutState>,
    pub(super) method: Option<Method>,
    pub(super) needs_person: bool,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) start: Start,
    pub(super) problem: Option<&'static str>,
}

impl Search {
    pub(super) fn read(fields: &FormFields, t: &Texts) -> Self {
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

    pub(super) fn is_filtered(&self) -> bool {
        self.which() != CheckoutFilter::default() || self.problem.is_some()
    }

    pub(super) fn list(&self, start: Start, most: u32) -> ListCheckouts {
        ListCheckouts { which: self.which(), start, most }
    }

    /// The filter as a query, with more parameters. No link repeats a text that looks like a card number.
    pub(super) fn query(&self, more: &[(&str, &str)]) -> String {
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

    /// Whether no checkout can have the text, so that storage need not be queried (PostgreSQL has no NUL).
    pub(super) fn is_nobodys(&self) -> bool {
        self.q.chars().any(char::is_control)
    }

    /// Whether it searches for newer checkouts than those of the previous page.
    pub(super) fn is_backwards(&self) -> bool {
        matches!(self.start, Start::NewerThan(_))
    }

    /// Whether links to other pages can be made.
    pub(super) fn can_be_linked(&self) -> bool {
        self.shown == self.q
    }
}

pub(super) fn place(text: &str) -> Option<ListPosition> {
    let (opened_at, id) = text.split_once('.')?;
    Some(ListPosition { opened_at: opened_at.parse().ok()?, id: id.parse().ok()? })
}

pub(super) fn place_of(listed: &ListedCheckout) -> String {
    let checkout = &listed.view.checkout;
    format!("{}.{}", checkout.opened_at, checkout.id)
}

/// Finds checkouts exactly by a number, else by a part of one.
async fn find(context: &RequestContext, search: &mut Search) -> Result<CheckoutList, ErrorPage> {
    let server = &context.admin.server;
    if search.is_nobodys() || search.problem.is_some_and(|problem| problem != context.t().too_short) {
        return Ok(CheckoutList::default());
    }
    let mut found = server.list_checkouts(search.list(search.start.clone(), PAGE)).await?;
    let is_there = !found.checkouts.is_empty() || search.start != Start::Newest;
    if search.q.is_empty() || search.is_part || is_there {
        // Even a short text can be a complete number.
        search.problem = search.problem.filter(|_| !is_there);
    } else if search.problem.is_none() {
        search.is_part = true;
        found = server.list_checkouts(search.list(Start::Newest, PAGE)).await?;
    }
    // The first page is always a full one.
    if matches!(search.start, Start::NewerThan(_)) && !found.is_more && found.searched_to.is_none() {
        search.start = Start::Newest;
        found = server.list_checkouts(search.list(Start::Newest, PAGE)).await?;
    }
    Ok(found)
}

/// The result of a search: a page and, with the first page, the totals. If the totals fail, the page is shown without them.
pub(super) async fn look(
    context: RequestContext,
    mut search: Search,
) -> Result<(Search, CheckoutList, Option<CheckoutTotals>), ErrorPage> {
    let found = find(&context, &mut search).await?;
    let is_answered = search.problem.is_none() && !search.is_nobodys();
    if !is_answered || !search.is_filtered() || search.start != Start::Newest {
        return Ok((search, found, None));
    }
    let totals = context.admin.server.total_checkouts(search.which(), MOST_TOTALLED).await;
    let log = |problem: &ServerError| {
        tracing::error!(target: "kassa_server", %problem, "the totals of a list could not be read");
    };
    let totals = totals.inspect_err(log).ok();
    Ok((search, found, totals))
}

/// The queries that lead to the pages before and after this one.
pub(super) fn neighbours(search: &Search, found: &CheckoutList) -> (Option<String>, Option<String>) {
    if !search.can_be_linked() {
        return (None, None);
    }
    let ended = found.searched_to.as_ref().map(|place| format!("{}.{}", place.opened_at, place.id));
    let (first, last) = (found.checkouts.first().map(place_of), found.checkouts.last().map(place_of));
    let (newer, older) = if search.is_backwards() {
        (ended.or(first).filter(|_| found.is_more || found.searched_to.is_some()), last.or_else(|| start_of(search)))
    } else {
        // The only page that certainly comes before an empty page is the first one.
        let newer = first.filter(|_| search.start != Start::Newest);
        (newer, ended.or(last).filter(|_| found.is_more || found.searched_to.is_some()))
    };
    let link = |name: &'static str| move |place: String| search.query(&[(name, &place)]);
    (newer.map(link("before")), older.map(link("after")))
}

/// The place at which an empty page begins.
fn start_of(search: &Search) -> Option<String> {
    match &search.start {
        Start::Newest => None,
        Start::OlderThan(place) | Start::NewerThan(place) => Some(format!("{}.{}", place.opened_at, place.id)),
    }
}
