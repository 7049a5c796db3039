//! The comparison with a statement, as the page of reconciliation shows it.

use super::{
    labels,
    matching::Comparison,
    rows::StatementLine,
    statement::{OtherLine, Statement},
};
use crate::{storage::staff::Charge, values::card_number::without_card_numbers};

/// So many of each difference are shown.
pub(super) const MOST_SHOWN: usize = 500;
/// So many places of lines are named in one sentence.
const MOST_PLACES: usize = 50;

/// The result of a comparison.
pub(super) struct ComparisonView {
    pub(super) lines: usize,
    /// The number of skipped lines, in words; nothing if there are none.
    pub(super) skipped: Option<String>,
    /// Their statuses.
    pub(super) skipped_statuses: String,
    /// The same of those that are of other days.
    pub(super) of_other_days: Option<String>,
    /// Which ones.
    pub(super) other_days_lines: String,
    /// The same of those without a payment.
    pub(super) aside: Option<String>,
    pub(super) other_lines: Vec<OtherLine>,
    pub(super) refunds: Vec<Refund>,
    pub(super) matched: usize,
    pub(super) differing: Vec<MatchedPair>,
    pub(super) repeated: Vec<MatchedPair>,
    pub(super) only_in_statement: Vec<LineView>,
    pub(super) only_on_server: Vec<ChargeView>,
    /// Some of them are not shown.
    pub(super) is_cut: bool,
    pub(super) counts: [usize; 5],
}

pub(super) struct MatchedPair {
    pub(super) charge: ChargeView,
    pub(super) entry: LineView,
}

/// A line of the statement that says that money went back.
pub(super) struct Refund {
    /// The payment, if it was charged in this time.
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
    pub(super) fn of(comparison: &Comparison<'_>, statement: &Statement) -> Self {
        let pair = |(charge, line): &(&Charge, &StatementLine)| MatchedPair {
            charge: ChargeView::of(charge),
            entry: LineView::of(line),
        };
        let counts = [
            comparison.differing.len(),
            comparison.repeated.len(),
            comparison.only_in_statement.len(),
            comparison.only_on_server.len(),
            comparison.refunds.len(),
        ];
        let some = |lines: u64, one: &str, many: &str| (lines > 0).then(|| labels::count(lines, one, many));
        let refund = |(charge, line): &(Option<&Charge>, &StatementLine)| Refund {
            charge: charge.map(ChargeView::of),
            entry: LineView::of(line),
        };
        Self {
            lines: statement.lines.len(),
            skipped: some(statement.skipped, "line was", "lines were"),
            skipped_statuses: statement.skipped_statuses.join(", "),
            of_other_days: some(comparison.of_other_days.len() as u64, "line is", "lines are"),
            other_days_lines: places(&comparison.of_other_days),
            aside: some(statement.other_line_count, "line names", "lines name"),
            other_lines: statement.other_lines.clone(),
            refunds: comparison.refunds.iter().take(MOST_SHOWN).map(refund).collect(),
            matched: comparison.matched.len(),
            differing: comparison.differing.iter().take(MOST_SHOWN).map(pair).collect(),
            repeated: comparison.repeated.iter().take(MOST_SHOWN).map(pair).collect(),
            only_in_statement: comparison
                .only_in_statement
                .iter()
                .take(MOST_SHOWN)
                .map(|line| LineView::of(line))
                .collect(),
            only_on_server: comparison
                .only_on_server
                .iter()
                .take(MOST_SHOWN)
                .map(|charge| ChargeView::of(charge))
                .collect(),
            is_cut: counts.iter().any(|count| *count > MOST_SHOWN),
            counts,
        }
    }
}

impl ChargeView {
    pub(super) fn of(charge: &Charge) -> Self {
        Self {
            checkout: charge.checkout.to_string(),
            shop_reference: charge.shop_reference.clone(),
            number: number(charge).to_owned(),
            at: labels::moment(charge.at),
            method: labels::method(charge.method),
            amount: labels::money(charge.amount, &charge.currency),
        }
    }
}

impl LineView {
    /// Somebody may paste what has card numbers in it: those come back as stars. The line's number tells which it is.
    fn of(line: &StatementLine) -> Self {
        let number = if line.order_number.is_empty() { &line.gateway_number } else { &line.order_number };
        let amount = line.amount.to_string();
        let amount = line.currency.as_ref().map_or(amount, |currency| labels::money(line.amount, currency));
        Self { line: line.at, number: without_card_numbers(number), amount }
    }
}

/// Where lines stand in the statement.
fn places(lines: &[&StatementLine]) -> String {
    let places = lines.iter().take(MOST_PLACES).map(|line| line.at.to_string()).collect::<Vec<_>>().join(", ");
    if lines.len() > MOST_PLACES { format!("{places} and more") } else { places }
}

fn number(charge: &Charge) -> &str {
    let reference = &charge.reference;
    let numbers = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
    numbers.into_iter().flatten().chain(&charge.taken_numbers).next().map(String::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::staff::{mapping::Mapping, statement};

    #[test]
    fn statement_masks_card_but_not_order_number() {
        let text = "order_number,amount\n4000 0000 0000 2016,1\n2026112614050606,2\n";
        let statement = statement::read(text, &Mapping::default()).unwrap();
        let numbers: Vec<_> = statement.lines.iter().map(|line| LineView::of(line).number).collect();
        assert_eq!(numbers, ["**** **** **** ****", "2026112614050606"]);
    }
}
