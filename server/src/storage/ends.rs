//! Adds up how payments ended, by what is alike. Sums are exact, so they are not the database's to make.

use std::collections::BTreeMap;

use kassa::Decimal;

use super::{
    error::StorageError,
    staff::{Ends, EndsAlike},
};
use crate::values::Millis;

const HOUR: Millis = 3600 * 1000;

/// Hour, state, method and currency.
type Alike = (Millis, String, String, String);

/// What was added up so far.
#[derive(Debug, Default)]
pub(super) struct Adding(BTreeMap<Alike, (u64, Option<Decimal>)>);

/// An end, as it stands in the database.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<'a> {
    pub(super) at: Millis,
    /// Where the payment stood then.
    pub(super) state: &'a str,
    pub(super) method: &'a str,
    pub(super) amount: &'a str,
    pub(super) currency: &'a str,
}

impl Adding {
    pub(super) fn add(&mut self, end: End<'_>) {
        let hour = end.at - end.at.rem_euclid(HOUR);
        let alike = (hour, end.state.to_owned(), end.method.to_owned(), end.currency.to_owned());
        let (count, sum) = self.0.entry(alike).or_insert((0, Some(Decimal::ZERO)));
        *count += 1;
        *sum = sum.and_then(|sum| sum.checked_add(end.amount.parse().ok()?));
    }

    /// The sums; whether there was more than was added.
    pub(super) fn ends(self, is_more: bool) -> Result<Ends, StorageError> {
        let one = |((hour, state, method, currency), (count, sum)): (Alike, _)| {
            let state = state.parse().map_err(|_| StorageError::Damaged { what: "state" })?;
            let method = method.parse().map_err(|_| StorageError::Damaged { what: "method" })?;
            Ok(EndsAlike { hour, state, method, currency, count, sum })
        };
        Ok(Ends { alike: self.0.into_iter().map(one).collect::<Result<_, StorageError>>()?, is_more })
    }
}
