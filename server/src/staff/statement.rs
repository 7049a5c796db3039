//! The gateway's statement: CSV with names in its first line, as programs for tables write it.

use csv::{ReaderBuilder, StringRecord};
use kassa::Decimal;

/// That many lines that cannot be read are told at once.
const MOST_PROBLEMS: usize = 10;
/// What a status says where money was taken; a line with another one is skipped.
const CHARGED: [&str; 8] =
    ["charge", "charged", "paid", "success", "payment_success", "succeeded", "approved", "completed"];

/// A line of the statement that says that money was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place in the text, from 1.
    pub(super) at: u64,
    pub(super) order_number: String,
    pub(super) gateway_number: String,
    pub(super) amount: Decimal,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) lines: Vec<Line>,
    /// Lines whose status says that no money was taken.
    pub(super) skipped: u64,
}

/// Where the columns are.
struct Columns {
    order_number: Option<usize>,
    gateway_number: Option<usize>,
    amount: usize,
    status: Option<usize>,
}

/// Reads a statement.
///
/// # Errors
/// What is wrong, line by line. Nothing is compared with half a statement.
pub(super) fn read(text: &str) -> Result<Statement, Vec<String>> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let delimiter = delimiter(text);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let head = reader.headers().map_err(|_| vec!["The first line cannot be read.".to_owned()])?;
    if has_line_break(head) {
        return Err(vec![open_quotation(1)]);
    }
    let columns = Columns::of(head).map_err(|problem| vec![problem])?;
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
        match columns.line(&record) {
            Ok(Some(line)) => statement.lines.push(line),
            Ok(None) => statement.skipped += 1,
            Err(problem) => problems.push(problem),
        }
        if problems.len() >= MOST_PROBLEMS {
            break;
        }
    }
    if problems.is_empty() { Ok(statement) } else { Err(problems) }
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
    fn of(head: &StringRecord) -> Result<Self, String> {
        let find = |names: &[&str]| {
            head.iter().position(|name| names.iter().any(|known| name.trim().eq_ignore_ascii_case(known)))
        };
        let (order_number, gateway_number) = (find(&["order_number"]), find(&["gateway_number", "number"]));
        let Some(amount) = find(&["amount"]) else {
            return Err("The first line must name the column amount.".to_owned());
        };
        if order_number.is_none() && gateway_number.is_none() {
            return Err("The first line must name the column order_number, gateway_number or number.".to_owned());
        }
        Ok(Self { order_number, gateway_number, amount, status: find(&["status"]) })
    }

    /// A line; none where its status says that no money was taken.
    fn line(&self, record: &StringRecord) -> Result<Option<Line>, String> {
        let field = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default().trim();
        let at = at(record);
        let status = field(self.status);
        if !status.is_empty() && !CHARGED.iter().any(|known| status.eq_ignore_ascii_case(known)) {
            return Ok(None);
        }
        let (order_number, gateway_number) = (field(self.order_number), field(self.gateway_number));
        if order_number.is_empty() && gateway_number.is_empty() {
            return Err(format!("Line {at}: there is no number."));
        }
        let amount = amount(field(Some(self.amount))).ok_or_else(|| format!("Line {at}: the amount is no number."))?;
        Ok(Some(Line { at, order_number: order_number.to_owned(), gateway_number: gateway_number.to_owned(), amount }))
    }
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
        Line { at, order_number, gateway_number, amount: amount.parse().unwrap() }
    }

    #[test]
    fn what_programs_for_tables_write_is_read() {
        let text = "\u{feff}Date;Order_Number;Number;Amount;Status\n1.11.;a1;77;\"1 234,50\";CHARGED\n;a2;;7;rejected\n;;78;390.00;\n";
        let read = read(text).unwrap();
        assert_eq!(
            read,
            Statement { lines: vec![line(2, "a1", "77", "1234.50"), line(4, "", "78", "390")], skipped: 1 }
        );
        assert_eq!(super::read("amount,order_number\n5,x\r\n").unwrap().lines, [line(2, "x", "", "5")]);
        assert_eq!(super::read("order_number\tamount\nx\t0,5").unwrap().lines, [line(2, "x", "", "0.5")]);
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
            let problems = read(text).unwrap_err();
            assert!(problems[0].contains(expected), "{text}: {problems:?}");
        }
    }
}
