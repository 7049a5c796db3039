//! Lists as CSV for spreadsheets: charged payments, and checkouts.

use kassa::{Decimal, Language};

use super::{labels, texts::Texts};
use crate::{
    payments::Payment,
    storage::staff::{Charge, ListedCheckout},
};

/// A file that the reader's spreadsheet opens without questions: Excel recognizes UTF-8 only by its mark, and expects semicolons
/// between cells if amounts have a comma.
pub(super) struct CsvFile {
    writer: csv::Writer<Vec<u8>>,
    t: &'static Texts,
}

impl CsvFile {
    fn begun(t: &'static Texts, heads: &[&str]) -> Result<Self, csv::Error> {
        let delimiter = if t.language == Language::English { b',' } else { b';' };
        let mut builder = csv::WriterBuilder::new();
        let builder = builder.quote_style(csv::QuoteStyle::Always).delimiter(delimiter);
        let mut writer = builder.from_writer("\u{feff}".as_bytes().to_vec());
        writer.write_record(heads)?;
        Ok(Self { writer, t })
    }

    fn amount(&self, amount: Decimal) -> String {
        let text = format!("{amount:.2}");
        if self.t.language == Language::English { text } else { text.replace('.', ",") }
    }

    fn yes_or_no(&self, is_so: bool) -> String {
        if is_so { self.t.yes } else { self.t.no }.to_owned()
    }

    /// The text of the file.
    pub(super) fn finish(self) -> Result<Vec<u8>, csv::Error> {
        self.writer.into_inner().map_err(|problem| csv::Error::from(problem.into_error()))
    }
}

/// Writes one line for each charge.
pub(super) fn charges(charges: &[Charge], t: &'static Texts) -> Result<Vec<u8>, csv::Error> {
    let mut file = CsvFile::begun(
        t,
        &[
            t.csv_charged,
            t.reference,
            t.order_number,
            t.gateway_number,
            t.qr_transaction,
            t.method,
            t.amount,
            t.currency,
            t.csv_decided,
            t.csv_checkout,
            t.csv_payment,
            t.csv_claimed,
        ],
    )?;
    for charge in charges {
        let reference = &charge.reference;
        let known = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
        let is_known = |number: &str| known.iter().any(|known| known.as_deref() == Some(number));
        let claimed = charge.taken_numbers.iter().map(String::as_str).filter(|number| !is_known(number));
        let text = |number: &Option<String>| cell(number.as_deref().unwrap_or_default());
        let record = [
            labels::file_moment(charge.at),
            cell(&charge.shop_reference),
            text(&reference.order_number),
            text(&reference.gateway_number),
            text(&reference.transaction_id),
            labels::method(charge.method, t).to_owned(),
            file.amount(charge.amount),
            charge.currency.clone(),
            file.yes_or_no(charge.is_resolved),
            charge.checkout.to_string(),
            charge.payment.to_string(),
            cell(&claimed.collect::<Vec<_>>().join(" ")),
        ];
        file.writer.write_record(record)?;
    }
    file.finish()
}

/// Begins a list of checkouts, which is written page by page.
pub(super) fn checkouts(t: &'static Texts) -> Result<CsvFile, csv::Error> {
    CsvFile::begun(
        t,
        &[
            t.csv_opened,
            t.reference,
            t.csv_description,
            t.amount,
            t.currency,
            t.state,
            t.method,
            t.csv_payment_state,
            t.order_number,
            t.gateway_number,
            t.qr_transaction,
            t.csv_needs,
            t.csv_checkout,
            t.csv_payment,
        ],
    )
}

impl CsvFile {
    /// Writes a line of a checkout, with the payment that paid it, or else the last one.
    pub(super) fn add(&mut self, listed: &ListedCheckout) -> Result<(), csv::Error> {
        let (view, t) = (&listed.view, self.t);
        let checkout = &view.checkout;
        let payment = checkout.paid_by.as_ref().and_then(|id| view.payment(id)).or(view.payments.last());
        let of = |text: &dyn Fn(&Payment) -> Option<String>| payment.and_then(text).unwrap_or_default();
        let needs: Vec<&str> = listed.needs.iter().map(|need| labels::need(*need, t).word).collect();
        let record = [
            labels::file_moment(checkout.opened_at),
            cell(&checkout.reference),
            cell(&checkout.description),
            self.amount(checkout.amount),
            checkout.currency.clone(),
            labels::checkout_state(checkout.state, t).word.to_owned(),
            of(&|payment| Some(labels::method(payment.method, t).to_owned())),
            of(&|payment| Some(labels::payment_state(payment.state, t).word.to_owned())),
            cell(&of(&|payment| payment.reference.order_number.clone())),
            cell(&of(&|payment| payment.reference.gateway_number.clone())),
            cell(&of(&|payment| payment.reference.transaction_id.clone())),
            needs.join(", "),
            checkout.id.to_string(),
            of(&|payment| Some(payment.id.to_string())),
        ];
        self.writer.write_record(record)
    }
}

/// A spreadsheet must not read a text as a formula (CSV injection): neither at the start of the text, nor after a character that
/// it reads as the end of a cell (in some countries a semicolon).
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
