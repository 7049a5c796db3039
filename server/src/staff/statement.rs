//! The gateway's statement: CSV with names in its first line, as programs for tables write it.

use csv::{ReaderBuilder, StringRecord};
use kassa::Decimal;
use time::{Date, format_description::FormatItem, macros::format_description};

use super::mapping::Mapping;
use crate::values::card_number::looks_like_card_number;

/// Of more lines nothing is compared: the payments of a time are no more either.
const MOST: usize = 100_000;
/// That many lines that cannot be read are told at once.
const MOST_PROBLEMS: usize = 10;
/// So many names of columns are shown.
const MOST_NAMES: usize = 40;
/// Days as exports write them, with whatever follows. Of two numbers that could be either, the day comes first.
const DAYS: [&[FormatItem<'_>]; 4] = [
    format_description!("[year]-[month]-[day]"),
    format_description!("[day].[month].[year]"),
    format_description!("[day]/[month]/[year]"),
    format_description!("[day]-[month]-[year]"),
];
/// A line of the statement that says that money was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place in the text, from 1.
    pub(super) at: u64,
    pub(super) order_number: String,
    pub(super) gateway_number: String,
    pub(super) amount: Decimal,
    /// The day that it is of, where a column says so.
    pub(super) day: Option<Date>,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) lines: Vec<Line>,
    /// Lines whose status says that no money was taken.
    pub(super) skipped: u64,
}

/// Why a statement cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unusable {
    pub(super) problems: Vec<String>,
    /// What its columns are called, so that a person can say which is which.
    pub(super) names: Vec<String>,
}

impl Unusable {
    fn because(problem: String) -> Self {
        Self { problems: vec![problem], names: Vec::new() }
    }
}

/// Where the columns are.
struct Columns {
    order_number: Option<usize>,
    gateway_number: Option<usize>,
    amount: usize,
    date: Option<usize>,
    status: Option<usize>,
}

/// Reads a statement.
///
/// # Errors
/// What is wrong, line by line. Nothing is compared with half a statement.
pub(super) fn read(text: &str, mapping: &Mapping) -> Result<Statement, Unusable> {
    // The reader of CSV counts a line of Windows' once its next one begins.
    let text = text.trim_start_matches('\u{feff}').trim().replace("\r\n", "\n");
    let delimiter = mapping.separator.and_then(|given| u8::try_from(given).ok()).unwrap_or_else(|| delimiter(&text));
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let cannot = |_| Unusable::because("The first line cannot be read.".to_owned());
    let head = reader.headers().map_err(cannot)?.clone();
    if has_line_break(&head) {
        return Err(Unusable::because(open_quotation(1)));
    }
    let names = || names(&head);
    let columns = Columns::of(&head, mapping).map_err(|problems| Unusable { problems, names: names() })?;
    let (mut statement, mut problems) = (Statement::default(), Vec::new());
    for record in reader.records() {
        let Ok(record) = record else {
            problems.push("A line is no text in UTF-8.".to_owned());
            break;
        };
        if has_line_break(&record) {
            problems.push(open_quotation(at(&record)));
            break;
        }
        match columns.line(&record, mapping) {
            Ok(Some(line)) => statement.lines.push(line),
            Ok(None) => statement.skipped += 1,
            Err(problem) => problems.push(problem),
        }
        if statement.lines.len() > MOST {
            problems = vec![format!("There are more than {MOST} lines: choose a shorter time.")];
        }
        if problems.len() >= MOST_PROBLEMS || statement.lines.len() > MOST {
            break;
        }
    }
    if problems.is_empty() { Ok(statement) } else { Err(Unusable { problems, names: names() }) }
}

/// The names in the first line. Where there is none, what stands there may be a card number.
fn names(head: &StringRecord) -> Vec<String> {
    let names = head.iter().map(str::trim).filter(|name| !name.is_empty() && !looks_like_card_number(name));
    names.take(MOST_NAMES).map(|name| name.chars().take(60).collect()).collect()
}

/// An open quotation mark swallows the lines after it, as one field, and the reader of CSV takes that for right. Spaces around
/// fields are still there.
fn has_line_break(record: &StringRecord) -> bool {
    record.iter().any(|field| field.contains(['\n', '\r']))
}

fn open_quotation(at: u64) -> String {
    format!("Line {at}: a field goes on over the line's end. Is a quotation mark left open?")
}

fn at(record: &StringRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

/// Commas, semicolons or tabs: what the first line has most of.
fn delimiter(text: &str) -> u8 {
    let head = text.lines().next().unwrap_or_default();
    let count = |delimiter: &u8| head.bytes().filter(|byte| byte == delimiter).count();
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

impl Columns {
    fn of(head: &StringRecord, mapping: &Mapping) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let mut find = |given: &str, names: &[&str]| {
            let said: &[&str] = if given.is_empty() { names } else { &[given] };
            let is_said = |name: &str| said.iter().any(|known| name.trim().to_lowercase() == known.to_lowercase());
            let found = head.iter().position(is_said);
            if found.is_none() && !given.is_empty() {
                problems.push(format!("The first line does not name the column {given}."));
            }
            found
        };
        let order_number = find(&mapping.order_number, &["order_number"]);
        let gateway_number = find(&mapping.gateway_number, &["gateway_number", "number"]);
        let amount = find(&mapping.amount, &["amount"]);
        let (date, status) = (find(&mapping.date, &[]), find(&mapping.status, &["status"]));
        if status.is_none() && mapping.status.is_empty() && !mapping.charged.is_empty() {
            problems.push(
                "Say which column is the status: you said its words for charged, and none is called status.".into(),
            );
        }
        if order_number.is_none() && gateway_number.is_none() && problems.is_empty() {
            problems
                .push("Say which column is the number: none is called order_number, gateway_number or number.".into());
        }
        match amount {
            Some(amount) if problems.is_empty() => Ok(Self { order_number, gateway_number, amount, date, status }),
            Some(_) => Err(problems),
            None if mapping.amount.is_empty() => {
                problems.push("Say which column is the amount: none is called amount.".into());
                Err(problems)
            }
            None => Err(problems),
        }
    }

    /// A line; none where its status says that no money was taken.
    fn line(&self, record: &StringRecord, mapping: &Mapping) -> Result<Option<Line>, String> {
        let field = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default().trim();
        let at = at(record);
        let status = field(self.status);
        if !status.is_empty() && !mapping.is_charged(status) {
            return Ok(None);
        }
        let (order_number, gateway_number) = (field(self.order_number), field(self.gateway_number));
        if order_number.is_empty() && gateway_number.is_empty() {
            return Err(format!("Line {at}: there is no number."));
        }
        let unit = Decimal::new(1, if mapping.is_hundredths { 2 } else { 0 });
        let amount = amount(field(Some(self.amount))).and_then(|amount| amount.checked_mul(unit));
        let amount = amount.ok_or_else(|| format!("Line {at}: the amount is no number."))?;
        let no_day = || format!("Line {at}: the date does not begin like 2026-11-23 or 23.11.2026.");
        let day = self.date.map(|column| day(field(Some(column))).ok_or_else(no_day)).transpose()?;
        let (order_number, gateway_number) = (order_number.to_owned(), gateway_number.to_owned());
        Ok(Some(Line { at, order_number, gateway_number, amount, day }))
    }
}

/// What a date begins with; the time behind it says nothing of the day.
fn day(text: &str) -> Option<Date> {
    let day: String = text.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '/')).collect();
    DAYS.iter().find_map(|form| Date::parse(&day, form).ok())
}

/// `390`, `1 234.50` or `1234,50`. What could be read in two ways is not read.
fn amount(text: &str) -> Option<Decimal> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{202f}')).collect();
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let text = match text.split_once(',') {
        Some((whole, cents)) if !whole.contains('.') && matches!(cents.len(), 1 | 2) => format!("{whole}.{cents}"),
        Some(_) => return None,
        None => text,
    };
    if is_plain(&text) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at: u64, order_number: &str, gateway_number: &str, amount: &str) -> Line {
        let (order_number, gateway_number) = (order_number.to_owned(), gateway_number.to_owned());
        Line { at, order_number, gateway_number, amount: amount.parse().unwrap(), day: None }
    }

    fn read(text: &str) -> Result<Statement, Unusable> {
        super::read(text, &Mapping::default())
    }

    #[test]
    fn what_programs_for_tables_write_is_read() {
        let text = "\u{feff}Date;Order_Number;Number;Amount;Status\n1.11.;a1;77;\"1 234,50\";CHARGED\n;a2;;7;rejected\n;;78;390.00;\n";
        assert_eq!(
            read(text).unwrap(),
            Statement { lines: vec![line(2, "a1", "77", "1234.50"), line(4, "", "78", "390")], skipped: 1 }
        );
        assert_eq!(read("amount,order_number\n5,x\r\n").unwrap().lines, [line(2, "x", "", "5")]);
        let at = |text: &str| read(text).unwrap().lines.iter().map(|line| line.at).collect::<Vec<_>>();
        assert_eq!(at("order_number,amount\r\nx,1\r\ny,2\r\n"), [2, 3]);
        assert_eq!(read("order_number\tamount\nx\t0,5").unwrap().lines, [line(2, "x", "", "0.5")]);
    }

    #[test]
    fn half_a_statement_is_none() {
        for (text, expected) in [
            ("", "amount"),
            ("order_number,sum\nx,1", "amount"),
            ("amount\n1", "order_number"),
            ("order_number,amount\nx,1\ny,abc", "Line 3"),
            ("order_number,amount\nx,\"1,234\"", "Line 2"),
            ("order_number,amount\nx,1e3", "Line 2"),
            ("order_number,amount\n,1", "Line 2: there is no number"),
            ("order_number,amount,note\na,390,\"Cafe\nGHOST,99999,x\n", "Line 2: a field goes on"),
            ("order_number,amount,note\na,390,\"\nGHOST,99999,x\n", "Line 2: a field goes on"),
            ("order_number,amount,note\nb,1,x\na,390,\"Cafe\rGHOST,99999,\"x\"", "Line 3: a field goes on"),
            ("order_number,amount,\"\na,390,x\n", "Line 1: a field goes on"),
        ] {
            let unusable = read(text).unwrap_err();
            assert!(unusable.problems.iter().any(|problem| problem.contains(expected)), "{text}: {unusable:?}");
        }
    }

    #[test]
    fn an_export_with_other_names_is_read_as_a_person_says() {
        let text = "Номер заказа|Сумма|Дата|Статус\na1|39000|23.11.2026 14:05|Оплачен\na2|1|24/11/2026|Отказ\n";
        let unusable = read(text).unwrap_err();
        assert_eq!(unusable.names, ["Номер заказа|Сумма|Дата|Статус"], "nobody said what stands between columns");
        let mut mapping = Mapping { separator: Some('|'), is_hundredths: true, ..Mapping::default() };
        let unusable = super::read(text, &mapping).unwrap_err();
        assert_eq!(unusable.names, ["Номер заказа", "Сумма", "Дата", "Статус"]);
        assert_eq!(unusable.problems.len(), 2, "{unusable:?}");
        for (field, name) in [
            (&mut mapping.order_number, "номер заказа"),
            (&mut mapping.amount, "Сумма"),
            (&mut mapping.date, "Дата"),
            (&mut mapping.status, "Статус"),
            (&mut mapping.charged, "оплачен"),
        ] {
            *field = name.to_owned();
        }
        let day = Date::from_calendar_date(2026, time::Month::November, 23).ok();
        let expected = Statement { lines: vec![Line { day, ..line(2, "a1", "", "390") }], skipped: 1 };
        assert_eq!(super::read(text, &mapping).unwrap(), expected);
        mapping.amount = "Итого".to_owned();
        assert!(super::read(text, &mapping).unwrap_err().problems[0].contains("Итого"));
        let no_day = super::read(&text.replace("23.11", "31.11"), &Mapping { amount: "Сумма".into(), ..mapping });
        assert!(no_day.unwrap_err().problems[0].starts_with("Line 2: the date"));
    }

    /// Else each line that was refused would count as charged.
    #[test]
    fn words_for_charged_need_a_column() {
        let mapping = Mapping { charged: "paid".to_owned(), ..Mapping::default() };
        let unusable = super::read("order_number,amount,state\nx,1,declined", &mapping).unwrap_err();
        assert!(unusable.problems[0].contains("which column is the status"), "{unusable:?}");
        assert_eq!(super::read("order_number,amount,status\nx,1,declined", &mapping).unwrap().skipped, 1);
    }

    #[test]
    fn more_lines_than_payments_can_be_compared_are_refused() {
        let text = |lines: usize| format!("order_number,amount\n{}", "x,1\n".repeat(lines));
        assert_eq!(read(&text(MOST)).unwrap().lines.len(), MOST);
        assert!(read(&text(MOST + 1)).unwrap_err().problems[0].contains("shorter time"));
    }

    #[test]
    fn a_card_number_in_the_first_line_is_no_name() {
        assert_eq!(read("4000 0000 0000 2016;amount\n1;2").unwrap_err().names, ["amount"]);
    }
}
