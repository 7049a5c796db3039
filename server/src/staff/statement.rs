//! The gateway's statement: a table as text, as banks, accounting programs and spreadsheets write it.

use csv::{ReaderBuilder, StringRecord};

use super::{
    columns::{Columns, MOST_COLUMNS, clean, plain},
    mapping::Mapping,
    rows::{Entry, HeadPlace, Rows, StatementLine, named_separator, shown, table},
    texts::{Texts, fill},
};
use crate::values::card_number::looks_like_card_number;

/// The most lines that are compared, like the most payments of a period.
const MOST: usize = 100_000;
/// The most unreadable lines that are reported at once.
const MOST_PROBLEMS: usize = 10;
/// The most names of columns that are shown.
const MOST_NAMES: usize = 40;
/// The most lines without a payment, and the most status words, that are shown.
const MOST_ASIDE: usize = 100;
const MOST_STATUSES: usize = 10;
/// A line without a payment: a title, a total, a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OtherLine {
    pub(super) at: u64,
    /// Its text; empty if it must not be shown.
    pub(super) text: String,
}

/// A statement, read in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// Lines with a charge.
    pub(super) lines: Vec<StatementLine>,
    /// Lines with a refund.
    pub(super) refunds: Vec<StatementLine>,
    /// Whether some fees could not be read: then none is added up.
    pub(super) has_unreadable_fees: bool,
    /// Lines whose status says that no money was taken.
    pub(super) skipped: u64,
    /// Those statuses, each once.
    pub(super) skipped_statuses: Vec<String>,
    /// The first lines without a payment, and how many there are.
    pub(super) other_lines: Vec<OtherLine>,
    pub(super) other_line_count: u64,
}

impl Statement {
    fn add_other_line(&mut self, at: u64, text: &str) {
        self.other_line_count += 1;
        if self.other_lines.len() < MOST_ASIDE {
            self.other_lines.push(OtherLine { at, text: shown(text) });
        }
    }

    fn skip(&mut self, status: &str) {
        self.skipped += 1;
        let status = shown(status);
        if self.skipped_statuses.len() < MOST_STATUSES && !self.skipped_statuses.contains(&status) && !status.is_empty()
        {
            self.skipped_statuses.push(status);
        }
    }

    fn add(&mut self, entry: Entry, at: u64) {
        match entry {
            Entry::Payment(line) => self.lines.push(line),
            Entry::Refund(line) => self.refunds.push(line),
            Entry::Skipped { status } => self.skip(&status),
            Entry::OtherLine { text } => self.add_other_line(at, &text),
        }
    }

    fn is_too_long(&self) -> bool {
        self.lines.len() + self.refunds.len() > MOST
    }
}

/// Why a statement cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StatementError {
    pub(super) problems: Vec<String>,
    /// The names of its columns, so that a person can map them.
    pub(super) names: Vec<String>,
}

impl StatementError {
    fn because(problem: String) -> Self {
        Self { problems: vec![problem], names: Vec::new() }
    }
}

/// Reads a statement.
///
/// # Errors
/// Lists the problems, line by line. A partly read statement is never compared.
pub(super) fn read(text: &str, mapping: &Mapping, t: &Texts) -> Result<Statement, StatementError> {
    if let Some(kind) = other_format(text, t) {
        return Err(StatementError::because(fill(t.st_format, &[&kind])));
    }
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let place = HeadPlace::find(&text, mapping, t);
    let table = table(&text, &place);
    let mut reader = ReaderBuilder::new().delimiter(place.separator).flexible(true).from_reader(table.as_bytes());
    let head = reader.headers().map_err(|_| StatementError::because(t.st_names_unreadable.to_owned()))?;
    let head = head.clone();
    let too_many = |at: u64| fill(t.st_cells, &[&at, &MOST_COLUMNS]);
    if head.len() > MOST_COLUMNS {
        return Err(StatementError::because(too_many(place.above + 1)));
    }
    let open_quotation = |at: u64| fill(t.st_quotation, &[&at]);
    if has_line_break(&head) {
        return Err(StatementError::because(open_quotation(place.above + 1)));
    }
    let names = || names(&head);
    let columns = Columns::of(&head, mapping, t).map_err(|problems| StatementError { problems, names: names() })?;
    let amount_name = head.get(columns.amount).map(plain).unwrap_or_default();
    let mut rows = Rows {
        columns,
        mapping,
        t,
        amount_name,
        width: head.len(),
        separator: char::from(place.separator),
        has_unreadable_day: false,
        has_unreadable_fee: false,
        refunds_below: None,
    };
    let (mut statement, mut problems) = (Statement::default(), Vec::new());
    for (at, line) in (1..).zip(text.lines()).take_while(|(at, _)| *at <= place.above) {
        if !is_empty(line) && named_separator(line).is_none() {
            statement.add_other_line(at, line);
        }
    }
    for record in reader.records() {
        let Ok(record) = record else {
            problems.push(t.st_not_utf8.to_owned());
            break;
        };
        let at = place.above + record.position().map_or(0, csv::Position::line);
        if has_line_break(&record) {
            problems.push(open_quotation(at));
            break;
        }
        if record.len() > MOST_COLUMNS {
            problems.push(too_many(at));
            break;
        }
        if record.iter().all(is_empty) {
            continue;
        }
        match rows.entry(at, &cells(&record)) {
            Ok(entry) => {
                problems.extend(rows.unmarked_refunds(&entry));
                statement.add(entry, at);
            }
            Err(problem) => problems.push(fill(t.st_at, &[&at, &problem])),
        }
        if statement.is_too_long() {
            problems = vec![fill(t.st_too_many, &[&MOST])];
        }
        if problems.len() >= MOST_PROBLEMS || statement.is_too_long() {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(StatementError { problems, names: names() });
    }
    if rows.has_unreadable_day {
        // A column that nobody chose, and that contains values other than days, excludes no line.
        for line in &mut statement.lines {
            line.day = None;
        }
    }
    statement.has_unreadable_fees = rows.has_unreadable_fee;
    Ok(statement)
}

/// Recognizes formats that programs offer in addition to CSV, or save under its file name.
fn other_format(text: &str, t: &Texts) -> Option<&'static str> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let has = |mark: &str| start.starts_with(mark);
    if has("PK\u{3}\u{4}") {
        return Some(t.st_xlsx);
    }
    // The first bytes of such a file, as letters of Windows-1251.
    if has("РП\u{11}а") {
        return Some(t.st_xls);
    }
    if has("%PDF") {
        return Some(t.st_pdf);
    }
    if has("<") {
        return Some(t.st_web);
    }
    if has("1CClientBankExchange") {
        return Some(t.st_1c);
    }
    text.contains('\0').then_some(t.st_binary)
}

/// The names in their line. If there are no names, the cells may be card numbers.
fn names(head: &StringRecord) -> Vec<String> {
    let names = head.iter().map(str::trim).filter(|name| !name.is_empty() && !looks_like_card_number(name));
    names.take(MOST_NAMES).map(|name| name.chars().take(60).collect()).collect()
}

/// Whether a field contains a line break. An unclosed quotation mark swallows the following lines into one field, which the CSV
/// reader accepts. Spaces around fields are still there.
fn has_line_break(record: &StringRecord) -> bool {
    record.iter().any(|field| field.contains(['\n', '\r']))
}

/// Whether a line has no content: only separators, spaces, or drawn rules.
fn is_empty(text: &str) -> bool {
    !text.contains(char::is_alphanumeric)
}

fn cells(record: &StringRecord) -> Vec<String> {
    record.iter().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use kassa::Language;
    use time::Date;

    use super::*;
    use crate::staff::{labels, rows::day, texts::texts};

    fn line(at: u64, order_number: &str, gateway_number: &str, amount: &str) -> StatementLine {
        let (order_number, gateway_number) = (order_number.to_owned(), gateway_number.to_owned());
        let amount = amount.parse().unwrap();
        StatementLine { at, order_number, gateway_number, amount, currency: None, day: None, fee: None }
    }

    fn read(text: &str) -> Result<Statement, StatementError> {
        read_with(text, &Mapping::default())
    }

    fn read_with(text: &str, mapping: &Mapping) -> Result<Statement, StatementError> {
        super::read(text, mapping, texts(Language::English))
    }

    #[test]
    fn spreadsheet_csv_statement_is_parsed() {
        let text = "\u{feff}Date;Order_Number;Number;Amount;Status\n1.11.;a1;77;\"1 234,50\";CHARGED\n;a2;;7;rejected\n;;78;390.00;\n";
        let statement = read(text).unwrap();
        assert_eq!(statement.lines, [line(2, "a1", "77", "1234.50"), line(4, "", "78", "390")]);
        assert_eq!((statement.skipped, statement.skipped_statuses), (1, vec!["rejected".to_owned()]));
        assert_eq!(read("amount,order_number\n5,x\r\n").unwrap().lines, [line(2, "x", "", "5")]);
        let at = |text: &str| read(text).unwrap().lines.iter().map(|line| line.at).collect::<Vec<_>>();
        assert_eq!(at("order_number,amount\r\nx,1\r\ny,2\r\n"), [2, 3]);
        assert_eq!(read("order_number\tamount\nx\t0,5").unwrap().lines, [line(2, "x", "", "0.5")]);
    }

    #[test]
    fn incomplete_statement_is_rejected() {
        for (text, expected) in [
            ("", "amount"),
            ("order_number,sum\nx,1", "amount"),
            ("amount\n1", "order_number"),
            ("order_number,amount\nx,1\ny,abc", "Line 3"),
            ("order_number,amount\nx,\"1,234\"", "Line 2"),
            ("order_number,amount\nx,1e3", "Line 2"),
            ("order_number,amount\n,1", "Line 2: it has no number"),
            ("order_number,amount,note\na,390,\"Cafe\nGHOST,99999,x\n", "Line 2: a field continues"),
            ("order_number,amount,note\na,390,\"\nGHOST,99999,x\n", "Line 2: a field continues"),
            ("order_number,amount,note\nb,1,x\na,390,\"Cafe\rGHOST,99999,\"x\"", "Line 3: a field continues"),
            ("order_number,amount,\"\na,390,x\n", "Line 1: a field continues"),
            ("order_number;amount;note\na;1;\n\"x;390,00;two cups\"\n", "Line 3: the whole line is in quotation marks"),
            ("note;order_number;amount\n\"cups;x;390,00\"\n", "Line 2: the whole line is in quotation marks"),
            ("note;order_number;amount\n\"Всего 2;x;390,00\"\n", "Line 2: the whole line is in quotation marks"),
            ("note;order_number;amount\n\"two cups,x,390.00\"\n", "Line 2: the whole line is in quotation marks"),
            ("order_number;amount;status;note\n;390,00;Оплачен;Всего 2 товара\n", "Line 2: it has no number"),
            ("order_number;amount;date;note\n;390,00;26.11.2026;Всего 2 товара\n", "Line 2: it has no number"),
            ("order_number,amount\nx,390,\n", "Line 2: it has more cells"),
            ("order_number,amount\nx,390,,\n", "Line 2: it has more cells"),
            ("order_number;amount\nОперации возврата;\nx;390\n", "Line 2: refunds are below this line"),
            ("№;order;amount\nВозвраты;;\n№;order;amount\n1;x;390\n", "Line 2: refunds are below this line"),
            ("order;amount\nВозвраты за ноябрь 2026\nx;390\n", "Line 2: refunds are below this line"),
            ("order;amount\nAll refunds (2)\nx;390\n", "Line 2: refunds are below this line"),
        ] {
            let unusable = read(text).unwrap_err();
            assert!(unusable.problems.iter().any(|problem| problem.contains(expected)), "{text}: {unusable:?}");
        }
    }

    #[test]
    fn statement_with_mapped_columns_is_parsed() {
        let text = "Основание|Оборот|Когда|Итог\na1|39000|23.11.2026 14:05|Принят\na2|1|24/11/2026|Отказ\n";
        let unusable = read(text).unwrap_err();
        assert_eq!(unusable.names, ["Основание", "Оборот", "Когда", "Итог"]);
        assert_eq!(unusable.problems.len(), 2, "{unusable:?}");
        let mut mapping = Mapping { separator: Some(';'), is_hundredths: true, ..Mapping::default() };
        let unusable = read_with(text, &mapping).unwrap_err();
        assert_eq!(unusable.names, ["Основание|Оборот|Когда|Итог"], "a person said what stands between columns");
        mapping.separator = Some('|');
        for (field, name) in [
            (&mut mapping.order_number, "основание"),
            (&mut mapping.amount, "Оборот"),
            (&mut mapping.date, "Когда"),
            (&mut mapping.status, "Итог"),
            (&mut mapping.charged, "принят"),
        ] {
            *field = name.to_owned();
        }
        let day = Date::from_calendar_date(2026, time::Month::November, 23).ok();
        let statement = read_with(text, &mapping).unwrap();
        assert_eq!((statement.lines, statement.skipped), (vec![StatementLine { day, ..line(2, "a1", "", "390") }], 1));
        mapping.amount = "Баланс".to_owned();
        assert!(read_with(text, &mapping).unwrap_err().problems[0].contains("Баланс"));
        let no_day = read_with(&text.replace("23.11", "31.11"), &Mapping { amount: "Оборот".into(), ..mapping });
        assert!(no_day.unwrap_err().problems[0].starts_with("Line 2: the date"));
    }

    /// As a bookkeeper's program writes it, with everything that stands around the table.
    #[test]
    fn statement_with_title_and_totals_is_parsed() {
        let text = "\u{feff}sep=;\r\nВыписка по операциям;;;;;\r\nООО \"Лавка;;;;;\r\nПериод: 01.11.2026 - 30.11.2026\r\n\r\n\
                    ;;;;;\r\n№;Дата операции;Номер\u{a0}заказа;Сумма, сом;Тип операции;Статус\r\n\
                    1;26.11.2026 14:05:10;=\"a1\";=\"1\u{a0}390,50\";Оплата;Оплачен\r\n\r\n\
                    2;26.11.2026;'a2;390,00 сом;Оплата;Проведён\r\n\
                    №;Дата операции;Номер заказа;Сумма, сом;Тип операции;Статус\r\n\
                    3;27.11.2026;a1;-90,50;Возврат;Проведён\r\n4;27.11.2026;a2;390;Возврат;Оплачен\r\n\
                    5;27.11.2026;a3;5;Оплата;Отказ\r\n;;;;;\r\n=====;=====;;;;\r\n\
                    Итого;;;1 690,00;;\r\nВсего операций: 4\r\n;;Главный бухгалтер;;;Иванова А.\r\n\
                    Сформировано 30.11.2026 18:00\r\n";
        let statement = read(text).unwrap();
        let kgs = |at, number: &str, amount: &str, day| StatementLine {
            currency: Some("KGS".to_owned()),
            day: Date::from_calendar_date(2026, time::Month::November, day).ok(),
            ..line(at, number, "", amount)
        };
        assert_eq!(statement.lines, [kgs(8, "a1", "1390.50", 26), kgs(10, "a2", "390", 26)]);
        assert_eq!(statement.refunds, [kgs(12, "a1", "90.50", 27), kgs(13, "a2", "390", 27)]);
        assert_eq!((statement.skipped, statement.skipped_statuses), (1, vec!["Отказ".to_owned()]));
        let other_lines: Vec<u64> = statement.other_lines.iter().map(|aside| aside.at).collect();
        assert_eq!(other_lines, [2, 3, 4, 11, 17, 18, 19, 20]);
        assert_eq!((statement.other_lines[4].text.as_str(), statement.other_line_count), ("Итого; 1 690,00", 8));
    }

    #[test]
    fn statement_separator_line_is_supported() {
        for first in ["sep=;", "SEP=;", "\"sep=;\"", "\u{feff}sep=;", "sep=;;;"] {
            let text = format!("{first}\norder_number;amount\nx;390,00\n");
            assert_eq!(read(&text).unwrap().lines, [line(3, "x", "", "390")], "{first}");
        }
        assert_eq!(read("sep=,\norder_number,amount\nx,390.00").unwrap().lines, [line(3, "x", "", "390")]);
        assert_eq!(read("sep=\t\norder_number\tamount\nx\t390,00").unwrap().lines, [line(3, "x", "", "390")]);
        // An empty name before the others moves no column.
        assert_eq!(read("\torder_number\tamount\n1\tx\t390").unwrap().lines, [line(2, "x", "", "390")]);
    }

    #[test]
    fn possible_payment_line_is_never_skipped() {
        for (line, expected) in [
            ("x;1.390;", "Line 3: the amount 1.390 can mean thousands or decimals"),
            ("x;1,390;", "Line 3: the amount 1,390 can mean"),
            ("x;;", "Line 3: the amount is not a number"),
            ("Total-1;;", "Line 3: the amount is not a number"),
            ("x;;KGS", "Line 3: the amount is not a number"),
            (";390,00;", "Line 3: it has no number"),
            ("x;390;USD;9", "Line 3: it has more cells"),
            ("x;390 USD;KGS", "Line 3: it names two currencies"),
            ("1.23457E+15;390,00;", "Line 3: a spreadsheet has shortened the number"),
        ] {
            let unusable = read(&format!("order_number;amount;currency\ny;1;KGS\n{line}\n")).unwrap_err();
            assert!(unusable.problems[0].contains(expected), "{line}: {unusable:?}");
        }
        let cut = read("order_number,amount\nx,390,00\n").unwrap_err();
        assert!(cut.problems[0].contains("a comma inside an amount"), "{cut:?}");
        let payment = read("order_number;amount\nTotal-1;390").unwrap();
        assert_eq!(payment.lines, [line(2, "Total-1", "", "390")]);
    }

    #[test]
    fn statement_totals_and_notes_are_tolerated() {
        for (text, lines, refunds) in [
            ("order_number,amount,\nx,390,\n", 1, 0),
            ("order_number,amount\nx,390\nTotal,390,,,\nMade by Anna,,,,\n", 1, 0),
            ("order;amount;note\nx;390;\n\"Итого: 1 операция, 390,00, сом\";;\n", 1, 0),
            ("order;amount\nx;390\nОперации возврата\ny;-390\nОплаты за день\nz;1\n", 2, 1),
            ("order;amount\nx;390\nВозвраты за день: 0,00 сом\ny;390\n", 2, 0),
            ("order;amount\nx;390\nИтого возвратов;0,00\ny;390\n", 2, 0),
            ("order;amount\nx;390\nОперации возврата\n", 1, 0),
            ("order;amount;Вид платежа\nx;390;Оплата\nx;390;Частичный возврат\n", 1, 1),
        ] {
            let statement = read(text).unwrap_or_else(|unusable| panic!("{text}: {unusable:?}"));
            assert_eq!((statement.lines.len(), statement.refunds.len()), (lines, refunds), "{text}");
        }
    }

    #[test]
    fn statement_currency_has_three_sources() {
        let currency = |text: &str| read(text).unwrap().lines[0].currency.clone();
        for (text, expected) in [
            ("order;amount\nx;1", None),
            ("order;amount\nx;1 usd", Some("USD")),
            ("order;amount, USD\nx;1", Some("USD")),
            ("order;amount;currency\nx;1;840", Some("USD")),
            ("order;amount;currency\nx;1;сом", Some("KGS")),
            ("order;amount;currency\nx;1;something", Some("SOMETHING")),
        ] {
            assert_eq!(currency(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn statement_dates_are_bishkek_days() {
        for (text, expected) in [
            ("26.11.2026", Some("2026-11-26")),
            ("26.11.2026 14:05:10", Some("2026-11-26")),
            ("2026-11-26", Some("2026-11-26")),
            ("2026-11-26T23:59:59", Some("2026-11-26")),
            ("26/11/2026", Some("2026-11-26")),
            ("6.1.2026", Some("2026-01-06")),
            ("2026-11-26T17:59:59Z", Some("2026-11-26")),
            ("2026-11-26 18:00:00Z", Some("2026-11-27")),
            ("2026-11-26T23:00:00+06:00", Some("2026-11-26")),
            ("31.11.2026", None),
            ("11/26/2026", None),
            ("today", None),
        ] {
            assert_eq!(day(text), expected.and_then(labels::date), "{text}");
        }
        // A column that nobody chose puts no line aside once it holds something else than days.
        let text = "order;amount;date\nx;1;26.11.2026\ny;1;11/26/2026\n";
        assert!(read(text).unwrap().lines.iter().all(|line| line.day.is_none()));
    }

    #[test]
    fn non_csv_statement_is_rejected_by_format() {
        for (text, expected) in [
            ("PK\u{3}\u{4}\u{14}\0", "XLSX"),
            ("РП\u{11}а\u{a1}", "XLS"),
            ("<html><table>", "web page"),
            ("%PDF-1.4", "PDF"),
            ("1CClientBankExchange\nВерсияФормата=1.03", "1C"),
            ("o\0r\0d\0e\0r\0", "UTF-16"),
        ] {
            assert!(read(text).unwrap_err().problems[0].contains(expected), "{text}");
        }
        let wide = format!("order;amount\nx;1{}", ";".repeat(MOST_COLUMNS));
        assert!(read(&wide).unwrap_err().problems[0].starts_with("Line 2: it has more than"));
    }

    /// Else each line that was refused would count as charged.
    #[test]
    fn charged_words_need_a_status_column() {
        let mapping = Mapping { charged: "paid".to_owned(), ..Mapping::default() };
        let unusable = read_with("order_number,amount,state\nx,1,declined", &mapping).unwrap_err();
        assert!(unusable.problems[0].contains("Choose the status column"), "{unusable:?}");
        assert_eq!(read_with("order_number,amount,status\nx,1,declined", &mapping).unwrap().skipped, 1);
    }

    #[test]
    fn statement_with_too_many_lines_is_rejected() {
        let text = |lines: usize| format!("order_number,amount\n{}", "x,1\n".repeat(lines));
        assert_eq!(read(&text(MOST)).unwrap().lines.len(), MOST);
        assert!(read(&text(MOST + 1)).unwrap_err().problems[0].contains("shorter period"));
    }

    #[test]
    fn card_number_in_header_is_no_column_name() {
        assert_eq!(read("4000 0000 0000 2016;amount\n1;2").unwrap_err().names, ["amount"]);
    }
}
