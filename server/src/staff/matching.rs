//! Reconciliation: compares the gateway's statement with the stored charges. Pure functions.

use std::{collections::HashMap, ops::Range};

use time::Date;

use super::{rows::StatementLine, statement::Statement};
use crate::storage::staff::Charge;

/// The result of a comparison. It contains all lines and all charges, each once.
#[derive(Debug, Default)]
pub(super) struct Comparison<'a> {
    /// Charges that match a line.
    pub(super) matched: Vec<(&'a Charge, &'a StatementLine)>,
    /// Charges with a line of another amount.
    pub(super) differing: Vec<(&'a Charge, &'a StatementLine)>,
    /// Further lines of a charge that already has a line.
    pub(super) repeated: Vec<(&'a Charge, &'a StatementLine)>,
    /// Lines without a charge.
    pub(super) only_in_statement: Vec<&'a StatementLine>,
    /// Lines of days that are not compared.
    pub(super) of_other_days: Vec<&'a StatementLine>,
    /// Refunds, with their payment if it was charged in this period.
    pub(super) refunds: Vec<(Option<&'a Charge>, &'a StatementLine)>,
    /// Charges without a line.
    pub(super) only_on_server: Vec<&'a Charge>,
}

/// Compares charges and statement. `days` are the compared ones, the last one not included.
pub(super) fn compare<'a>(charges: &'a [Charge], statement: &'a Statement, days: &Range<Date>) -> Comparison<'a> {
    let by_number = by_number(charges);
    let mut is_found = vec![false; charges.len()];
    let mut comparison = Comparison::default();
    let find = |line: &StatementLine| {
        let numbers = [&line.order_number, &line.gateway_number];
        let found = numbers.into_iter().find_map(|number| by_number.get(number.as_str()).copied());
        found.and_then(|index| Some((index, charges.get(index)?)))
    };
    for line in &statement.lines {
        let Some((index, charge)) = find(line) else {
            let is_of_another_day = line.day.is_some_and(|day| !days.contains(&day));
            let list =
                if is_of_another_day { &mut comparison.of_other_days } else { &mut comparison.only_in_statement };
            list.push(line);
            continue;
        };
        let list = match is_found.get_mut(index) {
            Some(is_found) if !*is_found => {
                *is_found = true;
                if is_same_money(charge, line) { &mut comparison.matched } else { &mut comparison.differing }
            }
            _ => &mut comparison.repeated,
        };
        list.push((charge, line));
    }
    let refund = |line| (find(line).map(|(_, charge)| charge), line);
    comparison.refunds = statement.refunds.iter().map(refund).collect();
    let missing = charges.iter().zip(&is_found).filter(|(_, is_found)| !**is_found);
    comparison.only_on_server = missing.map(|(charge, _)| charge).collect();
    comparison
}

/// A line without a currency has the payment's.
fn is_same_money(charge: &Charge, line: &StatementLine) -> bool {
    charge.amount == line.amount && line.currency.as_ref().is_none_or(|currency| *currency == charge.currency)
}

/// A statement may identify a payment by the gateway's number, the merchant's, the transaction of a QR code, or a number
/// taken for it, such as the claimed numbers of a payment that a person decided.
fn by_number(charges: &[Charge]) -> HashMap<&str, usize> {
    let mut all = HashMap::new();
    for (index, charge) in charges.iter().enumerate() {
        let reference = &charge.reference;
        let numbers = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
        let numbers = numbers.into_iter().flatten().chain(&charge.taken_numbers);
        for number in numbers.filter(|number| !number.is_empty()) {
            all.entry(number.as_str()).or_insert(index);
        }
    }
    all
}
