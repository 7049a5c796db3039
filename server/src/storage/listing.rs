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
/// Checkouts that are looked at for one reason why they need a person.
pub const MOST_OF_A_NEED: u64 = 10_000;
/// So many checkouts are looked through at a time where no index tells which ones a filter lets pass.
pub(super) const MOST_SEARCHED: u32 = 50_000;
/// Sorts after every identifier.
const PAST_ALL: &str = "~";

/// Which checkouts to list: those of which all of this holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutFilter {
    /// Those that were opened in this time.
    pub opened: Option<Period>,
    /// Those in one state.
    pub state: Option<CheckoutState>,
    /// Those with a payment of this method.
    pub method: Option<Method>,
    /// Those that a person has to look at.
    pub needs_person: bool,
    /// Those that have this text.
    pub text: Option<TextFilter>,
}

/// Where a text is looked for: in the reference of a checkout, its identifier, and the numbers of its payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFilter {
    /// One of them is exactly this, or was claimed for a payment.
    Whole(String),
    /// One of them contains this, Latin letters in either case; or these are the last two digits of a phone, or the last four of a
    /// card.
    Part(String),
}

impl CheckoutFilter {
    /// Whether checkouts have to be looked through, as no index tells which ones pass.
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

/// The place of a checkout in the list (keyset pagination): it stays where it is while others come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// When it was opened.
    pub opened_at: Millis,
    /// Which it is.
    pub id: CheckoutId,
}

/// Where a page of the list is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The newest ones.
    #[default]
    Newest,
    /// Those that come after a place.
    OlderThan(Place),
    /// Those right before a place.
    NewerThan(Place),
}

/// A page of the list, the newest first.
#[derive(Clone, Debug)]
pub struct ListCheckouts {
    /// Which ones.
    pub which: CheckoutFilter,
    /// Where it is.
    pub start: Start,
    /// So many at most.
    pub most: u32,
}

/// A page of the list.
#[derive(Clone, Debug, Default)]
pub struct CheckoutList {
    /// The checkouts, the newest first.
    pub checkouts: Vec<ListedCheckout>,
    /// There are more in the direction in which they were read.
    pub is_more: bool,
    /// The search ended here, as enough was looked through: it can go on from this place.
    pub searched_to: Option<Place>,
}

/// What a filter finds, in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutTotals {
    /// The number of checkouts.
    pub count: u64,
    /// Their charged payments.
    pub charged: Vec<ChargedSum>,
    /// No checkout that was opened before this moment was counted, as there were too many.
    pub counted_to: Option<Millis>,
}

/// The charged payments of one method and currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargedSum {
    /// The way to pay.
    pub method: Method,
    /// The currency's three letters.
    pub currency: String,
    /// The number of payments.
    pub count: u64,
    /// The sum; nothing if it overflows.
    pub sum: Option<Decimal>,
}

/// The places between which a page is, without themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) newer: (Millis, String),
    pub(super) older: (Millis, String),
    /// It is read from the older end.
    pub(super) is_ascending: bool,
}

impl Bounds {
    pub(super) fn of(which: &CheckoutFilter, start: &Start) -> Self {
        let (mut newer, mut older) = ((Millis::MAX, PAST_ALL.to_owned()), (Millis::MIN, String::new()));
        if let Some(Period { from, until }) = which.opened {
            (newer, older) = ((until, String::new()), (from, String::new()));
        }
        let at = |place: &Place| (place.opened_at, place.id.to_string());
        match start {
            Start::Newest => {}
            Start::OlderThan(place) => newer = newer.min(at(place)),
            Start::NewerThan(place) => older = older.max(at(place)),
        }
        Self { newer, older, is_ascending: matches!(start, Start::NewerThan(_)) }
    }

    /// Ends the bounds at a place, inclusively: no identifier lies between.
    pub(super) fn end_with(&mut self, place: &Place) {
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
    /// For checkouts that need a person: unknown payments count if they have been unknown since then.
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

/// Adds up what a filter finds. Sums are exact, so they are not the database's to make.
#[derive(Debug, Default)]
pub(super) struct Totalling {
    seen: HashSet<String>,
    oldest: Option<Millis>,
    charged: BTreeMap<(String, String), (u64, Option<Decimal>)>,
}

impl Totalling {
    /// A checkout, with a charged payment of it where it has one.
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

    /// `end` is where looking through them ended, `most` the number of checkouts after which it ended at the latest.
    pub(super) fn totals(self, end: Option<&Place>, most: u32) -> Result<CheckoutTotals, StorageError> {
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
