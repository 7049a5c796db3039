//! The rows of a statement: the line with the names of its columns, and the entries below it.

use csv::{ReaderBuilder, StringRecord};
use kassa::Decimal;
use time::{
    Date, OffsetDateTime,
    format_description::{FormatItem, well_known::Rfc3339},
    macros::format_description,
};

use super::{
    amount::{self, AmountError, known_currency},
    columns::{Columns, plain},
    labels,
    mapping::{Mapping, is_refund, names_refund},
    texts::{Texts, fill},
};
use crate::values::card_number::looks_like_card_number;

/// The number of first lines that are searched for the names of the columns.
const MOST_ABOVE: usize = 100;
const LONGEST_SHOWN: usize = 100;
/// Separators of columns that are recognized.
const SEPARATORS: [u8; 4] = [b'\t', b';', b',', b'|'];
/// The beginnings of lines with totals or balances.
const TOTALS: [&str; 24] = [
    "total",
    "totals",
    "subtotal",
    "grand total",
    "balance",
    "opening balance",
    "closing balance",
    "count",
    "итог",
    "итого",
    "итоговая сумма",
    "всего",
    "общая сумма",
    "оборот",
    "обороты",
    "остаток",
    "входящий остаток",
    "исходящий остаток",
    "сальдо",
    "количество",
    "жыйынтык",
    "жыйынтыгы",
    "жалпы",
    "бардыгы",
];
/// The date formats of exports, with any text after them. If the order is ambiguous, the day comes before the month.
const DAYS: [&[FormatItem<'_>]; 4] = [
    format_description!("[year]-[month padding:none]-[day padding:none]"),
    format_description!("[day padding:none].[month padding:none].[year]"),
    format_description!("[day padding:none]/[month padding:none]/[year]"),
    format_description!("[day padding:none]-[month padding:none]-[year]"),
];

/// A line of the statement with a charge or a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatementLine {
    /// Its line in the text, from 1.
    pub(super) at: u64,
    pub(super) order_number: String,
    pub(super) gateway_number: String,
    /// The amount without its sign.
    pub(super) amount: Decimal,
    /// The currency's three letters, if the line or the amount's heading names it.
    pub(super) currency: Option<String>,
    /// Its day in Bishkek, if a column has one.
    pub(super) day: Option<Date>,
    /// The bank's fee, without a sign, if a column has one.
    pub(super) fee: Option<Decimal>,
}

/// The kind of a line.
pub(super) enum Entry {
    Payment(StatementLine),
    Refund(StatementLine),
    Skipped { status: String },
    OtherLine { text: String },
}

/// A text of the statement, for a page.
pub(super) fn shown(text: &str) -> String {
    let text = text.trim();
    if looks_like_card_number(text) { String::new() } else { text.chars().take(LONGEST_SHOWN).collect() }
}

/// The place of the column names.
pub(super) struct HeadPlace {
    /// The number of lines above it.
    pub(super) above: u64,
    /// The start of their line, in bytes.
    from: usize,
    pub(super) separator: u8,
}

impl HeadPlace {
    /// Finds the first line with all required names; else the line that looks most like names, for a person to map.
    pub(super) fn find(text: &str, mapping: &Mapping, t: &Texts) -> Self {
        let said = mapping.separator.and_then(|separator| u8::try_from(separator).ok());
        let named = text.lines().find(|line| !is_blank(line)).and_then(named_separator);
        let mut separators: Vec<u8> = said.into_iter().chain(named).collect();
        if separators.is_empty() {
            separators.extend(SEPARATORS);
        }
        let first = separators.first().copied().unwrap_or(b',');
        let (mut most, mut place) = ((0, 0), Self { above: 0, from: 0, separator: first });
        let mut from = 0;
        for (above, line) in (0..).zip(text.split_inclusive('\n').take(MOST_ABOVE)) {
            for separator in &separators {
                let head = record(line, *separator);
                let here = Self { above, from, separator: *separator };
                if Columns::of(&head, mapping, t).is_ok() {
                    return here;
                }
                let likeness = Columns::likeness(&head, mapping);
                if likeness > most && named_separator(line).is_none() {
                    (most, place) = (likeness, here);
                }
            }
            from += line.len();
        }
        place
    }
}

/// One line of a table.
fn record(line: &str, separator: u8) -> StringRecord {
    let reader =
        ReaderBuilder::new().delimiter(separator).flexible(true).has_headers(false).from_reader(line.as_bytes());
    reader.into_records().next().and_then(Result::ok).unwrap_or_default()
}

/// The separator in Excel's special first line: `sep=;`.
pub(super) fn named_separator(line: &str) -> Option<u8> {
    let line = line.trim_start_matches(['\u{feff}', '"', ' ']).trim_end_matches(['\n', '\r']);
    let (name, rest) = line.split_at_checked(4)?;
    let separator = rest.chars().next().filter(|_| name.eq_ignore_ascii_case("sep="))?;
    let is_one = separator == '\t' || separator.is_ascii_punctuation() && separator != '"';
    let is_alone = rest.chars().all(|c| c == separator || c == '"' || c.is_whitespace());
    u8::try_from(separator).ok().filter(|_| is_one && is_alone)
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The names and all lines below. Empty lines are filled, because the CSV reader skips them, and then miscounts.
pub(super) fn table(text: &str, place: &HeadPlace) -> String {
    let below = text.get(place.from..).unwrap_or_default();
    let mut table = String::with_capacity(below.len() + 1);
    for line in below.lines() {
        if is_blank(line) {
            table.push(char::from(place.separator));
        } else {
            table.push_str(line);
        }
        table.push('\n');
    }
    table
}

/// Reads the lines of a statement.
pub(super) struct Rows<'a> {
    pub(super) columns: Columns,
    pub(super) mapping: &'a Mapping,
    pub(super) t: &'a Texts,
    pub(super) amount_name: String,
    /// The number of columns with a name.
    pub(super) width: usize,
    pub(super) separator: char,
    /// Whether a day could not be read in a column that nobody chose.
    pub(super) has_unreadable_day: bool,
    /// Whether a fee could not be read in a column that nobody chose.
    pub(super) has_unreadable_fee: bool,
    /// The line of a title that names refunds, until a line with an amount follows it.
    pub(super) refunds_below: Option<u64>,
}

impl Rows<'_> {
    /// # Errors
    /// Why the line cannot be read.
    pub(super) fn entry(&mut self, at: u64, cells: &[String]) -> Result<Entry, String> {
        let columns = &self.columns;
        let cell = |column: Option<usize>| column.and_then(|column| cells.get(column)).map_or("", String::as_str);
        // Reports of several pages repeat the column names on each page.
        let is_head = plain(cell(Some(columns.amount))) == self.amount_name;
        if !is_head && self.is_whole_line(cells) {
            return Err(self.t.st_whole_line.to_owned());
        }
        let is_total = self.is_total(cells);
        if is_head || is_total || self.is_text(cells) {
            let text = said(cells).join("; ");
            let has_sum = if is_total { text.contains(char::is_numeric) } else { ends_with_amount(&text) };
            if !is_head && !has_sum && names_refund(&text) {
                self.refunds_below = Some(at);
            }
            return Ok(Entry::OtherLine { text });
        }
        // `390,` is ambiguous if the comma is also the separator.
        let is_longer = self.separator == ',' && cells.len() > self.width;
        if is_longer || cells.iter().skip(self.width).any(|cell| !cell.is_empty()) {
            return Err(self.t.st_more_cells.to_owned());
        }
        let status = cell(columns.status);
        let is_charged = status.is_empty() || self.mapping.is_charged(status);
        if !is_charged && !is_refund(status) {
            return Ok(Entry::Skipped { status: status.to_owned() });
        }
        let [order_number, gateway_number] = [columns.order_number, columns.gateway_number].map(cell);
        if order_number.is_empty() && gateway_number.is_empty() {
            return Err(self.t.st_no_number.to_owned());
        }
        let [order_number, gateway_number] = [order_number, gateway_number].map(whole_number);
        if order_number.is_empty() && gateway_number.is_empty() {
            return Err(self.t.st_shortened.to_owned());
        }
        let amount_cell = cell(Some(columns.amount));
        let amount = amount::read(amount_cell).map_err(|problem| match problem {
            AmountError::Unreadable => self.t.st_no_amount.to_owned(),
            AmountError::Ambiguous => fill(self.t.st_ambiguous, &[&amount_cell]),
        })?;
        let unit = Decimal::new(1, if self.mapping.is_hundredths { 2 } else { 0 });
        let value = amount.value.checked_mul(unit).ok_or(self.t.st_no_amount)?;
        let column = Some(cell(columns.currency)).filter(|word| !word.is_empty());
        let column = column.map(|word| amount::currency(word).unwrap_or_else(|| shown(&word.to_uppercase())));
        let heading = columns.amount_currency.map(str::to_owned);
        let mut currencies = amount.currency.into_iter().chain(column).chain(heading);
        let currency = currencies.next();
        if currencies.any(|other| Some(&other) != currency.as_ref()) {
            return Err(self.t.st_two_currencies.to_owned());
        }
        let is_back =
            amount.is_negative || !is_charged || columns.kinds.iter().any(|kind| names_refund(cell(Some(*kind))));
        let written = Some(cell(columns.date)).filter(|_| columns.date.is_some());
        let day = match written.map(|written| (written, day(written))) {
            Some((_, None)) if !self.mapping.date.is_empty() => {
                return Err(self.t.st_bad_date.to_owned());
            }
            Some((written, None)) => {
                self.has_unreadable_day |= !written.is_empty();
                None
            }
            Some((_, day)) => day,
            None => None,
        };
        let fee = self.fee(cell(columns.fee), unit)?;
        let (order_number, gateway_number) = (order_number.to_owned(), gateway_number.to_owned());
        let line = StatementLine { at, order_number, gateway_number, amount: value, currency, day, fee };
        Ok(if is_back { Entry::Refund(line) } else { Entry::Payment(line) })
    }

    /// The bank's fee of a line. In a column that nobody chose, a cell without an amount is recorded, and
    /// does not reject the statement.
    fn fee(&mut self, cell: &str, unit: Decimal) -> Result<Option<Decimal>, String> {
        if cell.is_empty() {
            return Ok(None);
        }
        let fee = amount::read(cell).ok().and_then(|fee| fee.value.checked_mul(unit));
        if fee.is_none() && !self.mapping.fee.is_empty() {
            return Err(fill(self.t.st_bad_fee, &[&shown(cell)]));
        }
        self.has_unreadable_fee |= fee.is_none();
        Ok(fee)
    }

    /// The problem if the first line below a title that names refunds is a payment: only the title
    /// would say that its money went back.
    pub(super) fn unmarked_refunds(&mut self, entry: &Entry) -> Option<String> {
        if !matches!(entry, Entry::Payment(_) | Entry::Refund(_)) {
            return None;
        }
        let title = self.refunds_below.take()?;
        matches!(entry, Entry::Payment(_)).then(|| fill(self.t.st_at, &[&title, &self.t.st_refunds_below]))
    }

    fn numbers<'c>(&self, cells: &'c [String]) -> impl Iterator<Item = &'c str> {
        let columns = [self.columns.order_number, self.columns.gateway_number];
        columns.into_iter().flatten().filter_map(move |column| cells.get(column)).map(String::as_str)
    }

    /// Whether it is a total of other lines: it has a word for that, and no payment. A payment with a
    /// missing number has a status or a day.
    fn is_total(&self, cells: &[String]) -> bool {
        let cell = |column: Option<usize>| column.and_then(|column| cells.get(column)).map_or("", String::as_str);
        let is_none = |cell: &str| cell.is_empty() || says_total(cell);
        cells.iter().any(|cell| says_total(cell))
            && self.numbers(cells).all(is_none)
            && is_none(cell(self.columns.status))
            && day(cell(self.columns.date)).is_none()
    }

    /// Whether a spreadsheet has put a whole line into one cell. A total may contain commas.
    fn is_whole_line(&self, cells: &[String]) -> bool {
        let [only] = said(cells)[..] else { return false };
        let is_split =
            |separator: char| (separator != ',' || !says_total(only)) && pieces(only, separator) >= self.width;
        only.contains(char::is_numeric) && [self.separator, ',', ';', '\t'].into_iter().any(is_split)
    }

    /// Whether it is a line for people: several words in one cell, or no number, amount and status, or only words.
    fn is_text(&self, cells: &[String]) -> bool {
        let said = said(cells);
        let has_words = |cell: &str| cell.contains(char::is_whitespace) && cell.contains(char::is_alphabetic);
        if let [only] = said[..]
            && has_words(only)
            && amount::read(only) == Err(AmountError::Unreadable)
        {
            return true;
        }
        let is_none = |column: Option<usize>| column.and_then(|column| cells.get(column)).is_none_or(String::is_empty);
        let has_digits = said.iter().any(|cell| cell.contains(char::is_numeric));
        is_none(Some(self.columns.amount))
            && self.numbers(cells).all(|cell| cell.is_empty() || !has_digits && has_words(cell))
            && (is_none(self.columns.status) || !has_digits)
    }
}

/// The cells that are not empty.
fn said(cells: &[String]) -> Vec<&str> {
    cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect()
}

/// Counts the cells of a text; a comma as in `390,00` is not a separator.
fn pieces(text: &str, separator: char) -> usize {
    let is_decimals = |(whole, piece): &(&str, &str)| {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        separator == ',' && digits == 2 && whole.ends_with(|c: char| c.is_ascii_digit())
    };
    let split = || text.split(separator);
    split().count() - split().zip(split().skip(1)).filter(is_decimals).count()
}

/// Whether a text ends with a sum, such as `Возвраты: 390,00 сом`. A year, or a count in brackets, does not count.
fn ends_with_amount(text: &str) -> bool {
    let mut words = text.split_whitespace().rev().skip_while(|word| known_currency(word).is_some());
    let is_year = |word: &str| word.len() == 4 && word.starts_with("20");
    words.next().is_some_and(|word| {
        !is_year(word) && !word.starts_with('(') && amount::read(word) != Err(AmountError::Unreadable)
    })
}

fn says_total(cell: &str) -> bool {
    let cell = cell.to_lowercase();
    let is_end =
        |rest: &str| rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ':' | '=' | ',' | '.' | '('));
    TOTALS.iter().any(|word| cell.strip_prefix(word).is_some_and(is_end))
}

/// A complete number; empty if a spreadsheet has shortened it to `1.23457E+15`.
fn whole_number(text: &str) -> &str {
    let is_shortened = text.split_once(['E', 'e']).is_some_and(|(digits, power)| {
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.split(['.', ',']).all(is_digits) && power.strip_prefix('+').is_some_and(is_digits)
    });
    if is_shortened { "" } else { text }
}

/// Parses the date of a cell; the time after it does not affect the day, unless it names its zone.
pub(super) fn day(text: &str) -> Option<Date> {
    if let Ok(moment) = OffsetDateTime::parse(text, &Rfc3339) {
        return labels::date(&labels::day(moment.unix_timestamp().checked_mul(1000)?));
    }
    let day: String = text.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '/')).collect();
    DAYS.iter().find_map(|form| Date::parse(&day, form).ok())
}
