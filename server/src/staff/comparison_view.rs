//! The comparison with a statement, as the page of reconciliation shows it.

use std::collections::BTreeMap;

use kassa::Decimal;

use super::{
    labels,
    matching::Comparison,
    rows::StatementLine,
    statement::{OtherLine, Statement},
    texts::{Texts, fill},
};
use crate::{checkouts::new_checkout::CURRENCY, storage::staff::Charge, values::card_number::without_card_numbers};

/// The most differences of each kind that are shown.
pub(super) const MOST_SHOWN: usize = 500;
/// The most lines that one sentence names.
const MOST_PLACES: usize = 50;

/// The result of a comparison.
pub(super) struct ComparisonView {
    pub(super) lines: usize,
    /// A sentence about the skipped lines, if any.
    pub(super) skipped: Option<String>,
    /// A sentence about the lines of other days, if any.
    pub(super) of_other_days: Option<String>,
    /// A sentence about the lines without a payment, if any.
    pub(super) aside: Option<String>,
    /// The charged sums by the statement and by this server, by currency.
    pub(super) sums: Vec<SumView>,
    /// Whether the statement has the bank's fees.
    pub(super) has_fees: bool,
    /// Whether its fees cannot be added up.
    pub(super) has_unreadable_fees: bool,
    pub(super) other_lines: Vec<OtherLine>,
    pub(super) refunds: Vec<Refund>,
    pub(super) matched: usize,
    pub(super) differing: Vec<MatchedPair>,
    pub(super) repeated: Vec<MatchedPair>,
    pub(super) only_in_statement: Vec<LineView>,
    pub(super) only_on_server: Vec<ChargeView>,
    /// Whether some of them are not shown.
    pub(super) is_cut: bool,
    pub(super) counts: [usize; 5],
}

/// The sums of one currency.
pub(super) struct SumView {
    pub(super) statement: String,
    pub(super) statement_count: usize,
    pub(super) kassa: String,
    pub(super) kassa_count: usize,
    pub(super) difference: String,
    pub(super) differs: bool,
    /// The bank's fees by the statement, and the rest of its sum.
    pub(super) fees: String,
    pub(super) after_fees: String,
}

pub(super) struct MatchedPair {
    pub(super) charge: ChargeView,
    pub(super) entry: LineView,
}

/// A line of the statement with a refund.
pub(super) struct Refund {
    /// The payment, if it was charged in this period.
    pub(super) charge: Option<ChargeView>,
    pub(super) entry: LineView,
}

/// A charged payment of ours.
pub(super) struct ChargeView {
    pub(super) checkout: String,
    pub(super) shop_reference: String,
    pub(super) number: String,
    pub(super) at: String,
    pub(super) method: &'static str,
    pub(super) amount: String,
}

/// A line of the statement.
pub(super) struct LineView {
    pub(super) line: u64,
    /// The number to search for; empty if it must not be shown.
    pub(super) number: String,
    pub(super) amount: String,
}

impl ComparisonView {
    /// The view of a comparison with this statement.
    pub(super) fn of(comparison: &Comparison<'_>, statement: &Statement, t: &Texts) -> Self {
        let pair = |(charge, line): &(&Charge, &StatementLine)| MatchedPair {
            charge: ChargeView::of(charge, t),
            entry: LineView::of(line, t),
        };
        let counts = [
            comparison.differing.len(),
            comparison.repeated.len(),
            comparison.only_in_statement.len(),
            comparison.only_on_server.len(),
            comparison.refunds.len(),
        ];
        let some = |lines: u64, text: &str, which: &str| {
            let count = if which.is_empty() { lines.to_string() } else { format!("{lines} ({which})") };
            (lines > 0).then(|| fill(text, &[&count]))
        };
        let refund = |(charge, line): &(Option<&Charge>, &StatementLine)| Refund {
            charge: charge.map(|charge| ChargeView::of(charge, t)),
            entry: LineView::of(line, t),
        };
        Self {
            lines: statement.lines.len(),
            skipped: some(statement.skipped, t.left_out, &statement.skipped_statuses.join(", ")),
            of_other_days: some(
                comparison.of_other_days.len() as u64,
                t.other_days,
                &places(&comparison.of_other_days, t),
            ),
            aside: some(statement.other_line_count, t.aside, ""),
            sums: sums(comparison, t),
            has_fees: !statement.has_unreadable_fees && statement.lines.iter().any(|line| line.fee.is_some()),
            has_unreadable_fees: statement.has_unreadable_fees,
            other_lines: statement.other_lines.clone(),
            refunds: comparison.refunds.iter().take(MOST_SHOWN).map(refund).collect(),
            matched: comparison.matched.len(),
            differing: comparison.differing.iter().take(MOST_SHOWN).map(pair).collect(),
            repeated: comparison.repeated.iter().take(MOST_SHOWN).map(pair).collect(),
            only_in_statement: comparison
                .only_in_statement
                .iter()
                .take(MOST_SHOWN)
                .map(|line| LineView::of(line, t))
                .collect(),
            only_on_server: comparison
                .only_on_server
                .iter()
                .take(MOST_SHOWN)
                .map(|charge| ChargeView::of(charge, t))
                .collect(),
            is_cut: counts.iter().any(|count| *count > MOST_SHOWN),
            counts,
        }
    }
}

impl ComparisonView {
    /// Whether there are differences of a kind.
    pub(super) fn has(&self, kind: usize) -> bool {
        self.counts.get(kind).is_some_and(|count| *count > 0)
    }
}

impl ChargeView {
    pub(super) fn of(charge: &Charge, t: &Texts) -> Self {
        Self {
            checkout: charge.checkout.to_string(),
            shop_reference: charge.shop_reference.clone(),
            number: number(charge).to_owned(),
            at: labels::moment(charge.at, t),
            method: labels::method(charge.method, t),
            amount: labels::money(charge.amount, &charge.currency, t),
        }
    }
}

impl LineView {
    /// A pasted statement may contain card numbers: those become stars. The line's number identifies it.
    fn of(line: &StatementLine, t: &Texts) -> Self {
        let number = if line.order_number.is_empty() { &line.gateway_number } else { &line.order_number };
        let amount = labels::money(line.amount, line.currency.as_deref().unwrap_or_default(), t).trim_end().to_owned();
        Self { line: line.at, number: without_card_numbers(number), amount }
    }
}

/// The charged sums of each side. Of the statement, all lines of the compared days except refunds, which are not charges of this
/// server either. A line without a currency has its payment's, or som.
fn sums<'a>(comparison: &Comparison<'a>, t: &Texts) -> Vec<SumView> {
    type Side = (usize, Option<Decimal>);
    const NOTHING: Side = (0, Some(Decimal::ZERO));
    // The sums of the statement and of this server, and the statement's fees.
    let mut all: BTreeMap<&str, [Side; 3]> = BTreeMap::new();
    let mut add = |side: usize, currency, amount: Decimal| {
        if let Some((count, sum)) = all.entry(currency).or_insert([NOTHING; 3]).get_mut(side) {
            *count += 1;
            *sum = sum.and_then(|sum| sum.checked_add(amount));
        }
    };
    let pairs = [&comparison.matched, &comparison.differing, &comparison.repeated];
    let mut add_line = |line: &'a StatementLine, currency: &'a str| {
        let currency = line.currency.as_deref().unwrap_or(currency);
        add(0, currency, line.amount);
        line.fee.into_iter().for_each(|fee| add(2, currency, fee));
    };
    for (charge, line) in pairs.into_iter().flatten() {
        add_line(line, &charge.currency);
    }
    for line in &comparison.only_in_statement {
        add_line(line, CURRENCY);
    }
    let paired = comparison.matched.iter().chain(&comparison.differing).map(|(charge, _)| charge);
    for charge in paired.chain(&comparison.only_on_server) {
        add(1, &charge.currency, charge.amount);
    }
    let text = |sum: Option<Decimal>, currency: &str| {
        sum.map_or_else(|| fill(t.too_much, &[&currency]), |sum| labels::money(sum, currency, t))
    };
    let view = |(currency, [statement, kassa, fees]): (&str, [Side; 3])| {
        let less = |other: Side| statement.1.zip(other.1).and_then(|(statement, other)| statement.checked_sub(other));
        let difference = less(kassa);
        SumView {
            statement: text(statement.1, currency),
            statement_count: statement.0,
            kassa: text(kassa.1, currency),
            kassa_count: kassa.0,
            difference: text(difference, currency),
            differs: difference.is_none_or(|difference| !difference.is_zero()),
            fees: text(fees.1, currency),
            after_fees: text(less(fees), currency),
        }
    };
    all.into_iter().map(view).collect()
}

/// The places of lines in the statement.
fn places(lines: &[&StatementLine], t: &Texts) -> String {
    let places = lines.iter().take(MOST_PLACES).map(|line| line.at.to_string()).collect::<Vec<_>>().join(", ");
    let places = if lines.len() > MOST_PLACES { fill(t.and_more, &[&places]) } else { places };
    fill(t.places, &[&places])
}

fn number(charge: &Charge) -> &str {
    let reference = &charge.reference;
    let numbers = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
    numbers.into_iter().flatten().chain(&charge.taken_numbers).next().map(String::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kassa::Language;

    use super::*;
    use crate::staff::{mapping::Mapping, statement, texts::texts};

    #[test]
    fn statement_masks_card_but_not_order_number() {
        let text = "order_number,amount\n4000 0000 0000 2016,1\n2026112614050606,2\n";
        let t = texts(Language::English);
        let statement = statement::read(text, &Mapping::default(), t).unwrap();
        let numbers: Vec<_> = statement.lines.iter().map(|line| LineView::of(line, t).number).collect();
        assert_eq!(numbers, ["**** **** **** ****", "2026112614050606"]);
    }
}
