//! Sums of groups of payments, and the table rows that show them.

use std::collections::BTreeMap;

use crate::{domain::PaymentStatus, staff::dashboard::text};

/// The length of the longest bar of a table.
const LONGEST_BAR: i64 = 1000;

/// Sums of a group of payments.
#[derive(Default, Clone)]
pub(super) struct Sums {
    pub(super) charged: i64,
    pub(super) rejected: i64,
    pub(super) open: i64,
    /// Total time from registration to the end of all finished payments, in milliseconds.
    took: i64,
    /// Charged hundredths by currency, with the number of payments.
    amounts: BTreeMap<String, (i64, i64)>,
}

impl Sums {
    /// Adds payments of one status and currency.
    pub(super) fn add(&mut self, status: PaymentStatus, currency: &str, count: i64, minor: i64) {
        match status {
            PaymentStatus::Charged => {
                self.charged += count;
                let (sum, payments) = self.amounts.entry(currency.to_owned()).or_default();
                *sum += minor;
                *payments += count;
            }
            PaymentStatus::Rejected => self.rejected += count,
            PaymentStatus::Created | PaymentStatus::Pending => self.open += count,
        }
    }

    pub(super) fn add_time(&mut self, took: i64) {
        self.took += took;
    }

    pub(super) fn finished(&self) -> i64 {
        self.charged + self.rejected
    }

    pub(super) fn all(&self) -> i64 {
        self.finished() + self.open
    }

    pub(super) fn took(&self) -> String {
        self.took.checked_div(self.finished()).map_or(text::NOTHING.to_owned(), text::duration)
    }

    pub(super) fn approval(&self) -> String {
        text::share(self.charged, self.finished())
    }

    /// The charged hundredths of one currency.
    pub(super) fn charged_minor(&self, currency: &str) -> i64 {
        self.amounts.get(currency).map_or(0, |(minor, _)| *minor)
    }

    pub(super) fn charged_amounts(&self) -> String {
        text::amounts(self.amounts.iter().map(|(currency, (minor, _))| (currency, *minor)))
    }

    /// The average charged payment, in som if there are any in som.
    pub(super) fn average(&self) -> String {
        let som = self.amounts.get_key_value("KGS").or_else(|| self.amounts.first_key_value());
        match som {
            Some((currency, (minor, count))) => {
                format!("{} {currency} on average", text::minor(minor.checked_div(*count).unwrap_or_default()))
            }
            None => "nothing yet".to_owned(),
        }
    }
}

/// The data of a row in `templates/staff/figures.html`.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) is_empty: bool,
    pub(super) all: String,
    pub(super) charged: String,
    pub(super) rejected: String,
    pub(super) open: String,
    pub(super) approval: String,
    pub(super) took: String,
    pub(super) amounts: String,
    /// A bar of the three outcomes, relative to the table's row with the most payments.
    pub(super) bar: Vec<Segment>,
}

/// A part of a bar, at most a thousand long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: i64,
    pub(super) length: i64,
    /// The number of its colour, starting at 1.
    pub(super) series: usize,
}

/// The rows of one table.
pub(super) fn rows<'a>(named: impl Iterator<Item = (String, &'a Sums)>) -> Vec<Row> {
    let named: Vec<_> = named.collect();
    let largest = named.iter().map(|(_, sums)| sums.all()).max().unwrap_or_default();
    let row = |(name, sums): (String, &Sums)| Row {
        name,
        is_empty: sums.all() == 0,
        all: text::count(sums.all()),
        charged: text::count(sums.charged),
        rejected: text::count(sums.rejected),
        open: text::count(sums.open),
        approval: sums.approval(),
        took: sums.took(),
        amounts: sums.charged_amounts(),
        bar: bar([(sums.charged, 1), (sums.rejected, 2), (sums.open, 3)], largest),
    };
    named.into_iter().map(row).collect()
}

/// A bar of counts, each with the number of its colour.
pub(super) fn bar(counts: impl IntoIterator<Item = (i64, usize)>, largest: i64) -> Vec<Segment> {
    let place = |count: i64| (count * LONGEST_BAR).checked_div(largest).unwrap_or_default();
    let mut before = 0;
    let mut segments = Vec::new();
    for (count, series) in counts {
        let (start, end) = (place(before), place(before + count));
        if end > start {
            segments.push(Segment { start, length: end - start, series });
        }
        before += count;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_of_the_largest_row_is_whole_and_has_no_gap() {
        let segment = |start, length, series| Segment { start, length, series };
        assert_eq!(bar([(1, 1), (1, 2), (1, 3)], 3), [segment(0, 333, 1), segment(333, 333, 2), segment(666, 334, 3)]);
        assert_eq!(bar([(2, 1), (0, 2), (2, 3)], 16), [segment(0, 125, 1), segment(125, 125, 3)]);
        assert_eq!(bar([(0, 1)], 0), []);
    }

    #[test]
    fn sums_keep_currencies_apart() {
        let mut sums = Sums::default();
        sums.add(PaymentStatus::Charged, "USD", 1, 150);
        sums.add(PaymentStatus::Charged, "KGS", 2, 30_000);
        sums.add(PaymentStatus::Rejected, "KGS", 1, 10_000);
        sums.add(PaymentStatus::Pending, "KGS", 1, 10_000);
        assert_eq!((sums.all(), sums.approval()), (5, "75.0 %".to_owned()));
        assert_eq!(sums.charged_amounts(), "300.00 KGS, 1.50 USD");
        assert_eq!((sums.average(), sums.charged_minor("EUR")), ("150.00 KGS on average".to_owned(), 0));
    }
}
