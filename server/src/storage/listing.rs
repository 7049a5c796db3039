//! The storage's inputs and outputs for the staff's list of checkouts: filters, pages, totals.

use std::collections::{BTreeMap, HashSet};

use kassa::Decimal;

use super::{
    StorageError,
    staff::{ListedCheckout, Period},
};
use crate::values::{CheckoutId, CheckoutState, Method, Millis};

/// Minimum length of a partial search.
pub const SHORTEST_PART: usize = 3;
/// The most checkouts that are examined for each reason why they need a person.
pub const MOST_OF_A_NEED: u64 = 10_000;
/// The most checkouts that are scanned at a time if no index covers the filter.
pub(super) const MOST_SEARCHED: u32 = 50_000;
/// Sorts after every identifier.
const PAST_ALL: &str = "~";

/// The filter of a list: checkouts that satisfy all conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutFilter {
    /// Those opened in this period.
    pub opened: Option<Period>,
    /// Those in one state.
    pub state: Option<CheckoutState>,
    /// Those with a payment of this method.
    pub method: Option<Method>,
    /// Those that need a person.
    pub needs_person: bool,
    /// Those that match this text.
    pub text: Option<TextFilter>,
}

/// A search text, for the reference of a checkout, its identifier, and the numbers of its payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFilter {
    /// One of them is exactly this, or was claimed for a payment.
    Whole(String),
    /// One of them contains this, with Latin letters in either case; or these are the last two digits of a
    /// phone, or the last four of a card.
    Part(String),
}

impl CheckoutFilter {
    /// Whether checkouts must be scanned, because no index covers the filter.
    pub(super) fn is_searched(&self) -> bool {
        let is_small_set = self.needs_person || matches!(self.text, Some(TextFilter::Whole(_)));
        !is_small_set && (self.method.is_some() || self.text.is_some())
    }

    /// The part of a number to look for.
    pub(super) fn part(&self) -> Option<String> {
        match &self.text {
            Some(TextFilter::Part(part)) if part.chars().count() >= SHORTEST_PART => Some(part.to_ascii_lowercase()),
            _ => None,
        }
    }

    /// Digits to compare with `phone_last2` and `card_last4`. Shorter text matches nothing.
    pub(super) fn digits(&self) -> Option<&str> {
        match &self.text {
            Some(TextFilter::Part(part)) if part.len() == 4 || part.chars().count() < SHORTEST_PART => Some(part),
            _ => None,
        }
    }
}

/// The place of a checkout in the list (keyset pagination): it does not move while others are added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// When it was opened.
    pub opened_at: Millis,
    /// Its identifier.
    pub id: CheckoutId,
}

/// The position of a page in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The newest ones.
    #[default]
    Newest,
    /// Those after a place.
    OlderThan(ListPosition),
    /// Those right before a place.
    NewerThan(ListPosition),
}

/// A page of the list, the newest first.
#[derive(Clone, Debug)]
pub struct ListCheckouts {
    /// The filter.
    pub which: CheckoutFilter,
    /// Its position.
    pub start: Start,
    /// The most checkouts.
    pub most: u32,
}

/// A page of the list.
#[derive(Clone, Debug, Default)]
pub struct CheckoutList {
    /// The checkouts, the newest first.
    pub checkouts: Vec<ListedCheckout>,
    /// Whether there are more in the reading direction.
    pub is_more: bool,
    /// The place where the search stopped at its limit: it can continue from here.
    pub searched_to: Option<ListPosition>,
}

/// The totals of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutTotals {
    /// The number of checkouts.
    pub count: u64,
    /// Their charged payments.
    pub charged: Vec<ChargedSum>,
    /// If there were too many: only checkouts opened since this time were counted.
    pub counted_to: Option<Millis>,
}

/// The charged payments of one method and currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargedSum {
    /// The payment method.
    pub method: Method,
    /// The currency's three letters.
    pub currency: String,
    /// The number of payments.
    pub count: u64,
    /// The sum; `None` if it overflows.
    pub sum: Option<Decimal>,
}

/// The exclusive bounds of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) newer: (Millis, String),
    pub(super) older: (Millis, String),
    /// Whether it is read from the older end.
    pub(super) is_ascending: bool,
}

impl Bounds {
    pub(super) fn of(which: &CheckoutFilter, start: &Start) -> Self {
        let (mut newer, mut older) = ((Millis::MAX, PAST_ALL.to_owned()), (Millis::MIN, String::new()));
        if let Some(Period { from, until }) = which.opened {
            (newer, older) = ((until, String::new()), (from, String::new()));
        }
        let at = |place: &ListPosition| (place.opened_at, place.id.to_string());
        match start {
            Start::Newest => {}
            Start::OlderThan(place) => newer = newer.min(at(place)),
            Start::NewerThan(place) => older = older.max(at(place)),
        }
        Self { newer, older, is_ascending: matches!(start, Start::NewerThan(_)) }
    }

    /// Ends the bounds at a place, inclusively: no identifier lies between.
    pub(super) fn end_with(&mut self, place: &ListPosition) {
        let mut id = place.id.to_string();
        if self.is_ascending {
            id.push_str(PAST_ALL);
            self.newer = (place.opened_at, id);
        } else {
            id.pop();
            self.older = (place.opened_at, id);
        }
    }
}

/// The values of a query for a filter, in any database.
pub(super) struct FilterValues {
    pub(super) bounds: Bounds,
    pub(super) state: Option<&'static str>,
    pub(super) method: Option<&'static str>,
    pub(super) part: Option<String>,
    pub(super) digits: Option<String>,
    /// For checkouts that need a person: unknown payments count if they became unknown before this time.
    pub(super) unknown_since: Option<Millis>,
    /// For an exact match.
    pub(super) number: Option<String>,
}

impl FilterValues {
    pub(super) fn of(which: &CheckoutFilter, start: &Start, unknown_since: Millis) -> Self {
        let number = match &which.text {
            Some(TextFilter::Whole(text)) => Some(text.clone()),
            _ => None,
        };
        Self {
            bounds: Bounds::of(which, start),
            state: which.state.map(Into::into),
            method: which.method.map(Into::into),
            part: which.part(),
            digits: which.digits().map(str::to_owned),
            unknown_since: which.needs_person.then_some(unknown_since),
            number,
        }
    }
}

/// Adds up the results of a filter. Sums must be exact, so the database does not make them.
#[derive(Debug, Default)]
pub(super) struct Totalling {
    seen: HashSet<String>,
    oldest: Option<Millis>,
    charged: BTreeMap<(String, String), (u64, Option<Decimal>)>,
}

impl Totalling {
    /// Adds a checkout, with a charged payment if it has one.
    pub(super) fn add(&mut self, id: String, opened_at: Millis, amount: &str, currency: &str, method: Option<&str>) {
        self.seen.insert(id);
        self.oldest = Some(self.oldest.map_or(opened_at, |oldest| oldest.min(opened_at)));
        if let Some(method) = method {
            let alike = (method.to_owned(), currency.to_owned());
            let (count, sum) = self.charged.entry(alike).or_insert((0, Some(Decimal::ZERO)));
            *count += 1;
            *sum = sum.and_then(|sum| sum.checked_add(amount.parse().ok()?));
        }
    }

    /// `end` is where the scan ended, `most` its limit of checkouts.
    pub(super) fn totals(self, end: Option<&ListPosition>, most: u32) -> Result<CheckoutTotals, StorageError> {
        let sum = |((method, currency), (count, sum)): ((String, String), _)| {
            let method = method.parse().map_err(|_| StorageError::Damaged { what: "method" })?;
            Ok(ChargedSum { method, currency, count, sum })
        };
        let is_full = self.seen.len() >= most as usize;
        let counted_to = if is_full { self.oldest } else { end.map(|place| place.opened_at) };
        let charged = self.charged.into_iter().map(sum).collect::<Result<_, StorageError>>()?;
        Ok(CheckoutTotals { count: self.seen.len() as u64, charged, counted_to })
    }
}
