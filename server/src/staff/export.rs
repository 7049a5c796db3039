//! Charged payments as CSV.

use super::labels;
use crate::storage::staff::Charge;

/// Writes one line for each charge.
pub(super) fn to_csv(charges: &[Charge]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
    writer.write_record([
        "charged_at",
        "reference",
        "order_number",
        "gateway_number",
        "transaction_id",
        "method",
        "amount",
        "currency",
        "decided_by_a_person",
        "checkout",
        "payment",
        "claimed_numbers",
    ])?;
    for charge in charges {
        let reference = &charge.reference;
        let known = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
        let is_known = |number: &str| known.iter().any(|known| known.as_deref() == Some(number));
        let claimed = charge.taken_numbers.iter().map(String::as_str).filter(|number| !is_known(number));
        let text = |number: &Option<String>| cell(number.as_deref().unwrap_or_default());
        writer.write_record([
            labels::moment(charge.at),
            cell(&charge.shop_reference),
            text(&reference.order_number),
            text(&reference.gateway_number),
            text(&reference.transaction_id),
            charge.method.to_string(),
            charge.amount.to_string(),
            charge.currency.clone(),
            charge.is_resolved.to_string(),
            charge.checkout.to_string(),
            charge.payment.to_string(),
            cell(&claimed.collect::<Vec<_>>().join(" ")),
        ])?;
    }
    writer.into_inner().map_err(|problem| csv::Error::from(problem.into_error()))
}

/// A program for tables must not take somebody's text for a formula (CSV injection): not where the text begins, nor behind what
/// such a program takes for the end of a cell (in some countries a semicolon).
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins && matches!(c, '=' | '+' | '-' | '@') {
            safe.push('\'');
        }
        let ends_a_cell = matches!(c, ';' | '\t' | '\r' | '\n');
        begins = ends_a_cell || begins && (c.is_whitespace() || c == '"');
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_csv_cell_never_starts_as_formula() {
        for (text, expected) in [
            ("order-1", "order-1"),
            ("a=b;c-d", "a=b;c-d"),
            ("=1+1", "'=1+1"),
            ("\t=1", "\t'=1"),
            (" @x", " '@x"),
            ("x;=1+1", "x;'=1+1"),
            ("x; \"-1", "x; \"'-1"),
            ("x\t+1;;@y", "x\t'+1;;'@y"),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
