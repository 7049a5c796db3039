//! The columns of a statement: as mapped by a person, else by the names that exports use.

use csv::StringRecord;

use super::{
    amount::known_currency,
    mapping::Mapping,
    texts::{Texts, fill},
};
use crate::values::card_number::is_unseen;

/// The most columns of a table.
pub(super) const MOST_COLUMNS: usize = 1000;

/// Known names, the best one first, in the form of [`plain`]. A bare `номер` is left out: it may count the lines.
const ORDER_NUMBER: [&str; 19] = [
    "order number",
    "ordernumber",
    "order no",
    "order id",
    "orderid",
    "order",
    "merchant order number",
    "merchant order id",
    "номер заказа",
    "№ заказа",
    "заказ №",
    "id заказа",
    "код заказа",
    "заказ",
    "буйрутма номери",
    "буйрутманын номери",
    "буйрутма №",
    "заказ номери",
    "заказдын номери",
];
const GATEWAY_NUMBER: [&str; 22] = [
    "gateway number",
    "gatewaynumber",
    "number",
    "transaction number",
    "transaction id",
    "transactionid",
    "payment number",
    "payment id",
    "paymentid",
    "номер платежа",
    "номер операции",
    "номер транзакции",
    "№ платежа",
    "№ операции",
    "№ транзакции",
    "id платежа",
    "id операции",
    "id транзакции",
    "төлөм номери",
    "төлөмдүн номери",
    "операциянын номери",
    "транзакциянын номери",
];
const AMOUNT: [&str; 13] = [
    "amount",
    "сумма",
    "payment amount",
    "transaction amount",
    "order amount",
    "сумма платежа",
    "сумма операции",
    "сумма транзакции",
    "сумма оплаты",
    "сумма заказа",
    "суммасы",
    "төлөм суммасы",
    "төлөмдүн суммасы",
];
const DATE: [&str; 17] = [
    "date",
    "payment date",
    "transaction date",
    "operation date",
    "date and time",
    "date time",
    "datetime",
    "дата",
    "дата платежа",
    "дата операции",
    "дата транзакции",
    "дата оплаты",
    "дата и время",
    "дата/время",
    "күнү",
    "төлөм күнү",
    "төлөмдүн күнү",
];
/// The bank's fee of a payment.
const FEE: [&str; 17] = [
    "fee",
    "fees",
    "bank fee",
    "transaction fee",
    "payment fee",
    "commission",
    "комиссия",
    "комиссия банка",
    "комиссия за операцию",
    "сумма комиссии",
    "размер комиссии",
    "удержанная комиссия",
    "удержано",
    "комиссиясы",
    "комиссия суммасы",
    "комиссиянын суммасы",
    "банктын комиссиясы",
];
const STATUS: [&str; 10] = [
    "status",
    "payment status",
    "transaction status",
    "статус",
    "статус платежа",
    "статус операции",
    "статус транзакции",
    "статусу",
    "абалы",
    "төлөмдүн абалы",
];
const KIND: [&str; 15] = [
    "type",
    "payment type",
    "transaction type",
    "operation type",
    "operation",
    "тип",
    "тип операции",
    "тип транзакции",
    "тип платежа",
    "вид операции",
    "вид транзакции",
    "вид платежа",
    "операция",
    "түрү",
    "операциянын түрү",
];
const CURRENCY: [&str; 8] = [
    "currency",
    "currency code",
    "валюта",
    "код валюты",
    "валюта операции",
    "валюта платежа",
    "валютасы",
    "валютанын коду",
];

/// The places of the columns.
pub(super) struct Columns {
    pub(super) order_number: Option<usize>,
    pub(super) gateway_number: Option<usize>,
    pub(super) amount: usize,
    /// The currency that the amount's heading names.
    pub(super) amount_currency: Option<&'static str>,
    pub(super) date: Option<usize>,
    pub(super) fee: Option<usize>,
    pub(super) status: Option<usize>,
    /// Columns that may say that a line is a refund.
    pub(super) kinds: Vec<usize>,
    pub(super) currency: Option<usize>,
}

/// The names of a column.
struct Heading {
    name: String,
    /// The name without its currency.
    base: String,
    currency: Option<&'static str>,
}

impl Heading {
    fn of(cell: &str) -> Self {
        let name = plain(cell);
        let split = name.rsplit_once(['(', ',', ' ']).and_then(|(base, unit)| {
            let currency = known_currency(unit.trim_end_matches(')'))?;
            Some((base.trim_end_matches(['(', ',', ' ']).to_owned(), currency))
        });
        let (base, currency) = split.map_or_else(|| (name.clone(), None), |(base, unit)| (base, Some(unit)));
        Self { name, base, currency }
    }
}

impl Columns {
    /// # Errors
    /// The columns that a person must map before the lines below these names can be read.
    pub(super) fn of(head: &StringRecord, mapping: &Mapping, t: &Texts) -> Result<Self, Vec<String>> {
        let headings: Vec<Heading> = head.iter().take(MOST_COLUMNS).map(Heading::of).collect();
        let mut problems = Vec::new();
        let mut find = |given: &str, known: &[&str]| {
            let found = places(&headings, given, known);
            if found.is_empty() && !given.is_empty() {
                problems.push(fill(t.st_no_column, &[&given]));
            }
            if let [first, _, ..] = found[..] {
                let name = headings.get(first).map(|heading| heading.name.as_str()).unwrap_or_default();
                problems.push(fill(t.st_same_name, &[&name]));
            }
            found.first().copied()
        };
        let order_number = find(&mapping.order_number, &ORDER_NUMBER);
        let gateway_number = find(&mapping.gateway_number, &GATEWAY_NUMBER);
        let amount = find(&mapping.amount, &AMOUNT);
        let status = find(&mapping.status, &STATUS);
        // An export may have several dates and fees: if nobody chose one, none of them is used as the day or the fee of a line.
        let mut find_only = |given: &str, known: &[&str]| match places(&headings, given, known)[..] {
            [_, _, ..] if given.is_empty() => None,
            _ => find(given, known),
        };
        let (date, fee) = (find_only(&mapping.date, &DATE), find_only(&mapping.fee, &FEE));
        if status.is_none() && mapping.status.is_empty() && !mapping.charged.is_empty() {
            problems.push(t.st_which_status.to_owned());
        }
        if order_number.is_none() && gateway_number.is_none() && problems.is_empty() {
            problems.push(t.st_which_number.to_owned());
        }
        if amount.is_none() && mapping.amount.is_empty() {
            problems.push(t.st_which_amount.to_owned());
        }
        let Some(amount) = amount.filter(|_| problems.is_empty()) else { return Err(problems) };
        // If a bank has the currency of the payment and of the account, the payment's follows its amount.
        let currencies = places(&headings, "", &CURRENCY);
        let behind = currencies.iter().find(|column| **column > amount);
        Ok(Self {
            order_number,
            gateway_number,
            amount,
            amount_currency: headings.get(amount).and_then(|heading| heading.currency),
            date,
            fee,
            status,
            kinds: KIND.iter().flat_map(|name| places(&headings, "", &[*name])).collect(),
            currency: behind.or(currencies.first()).copied(),
        })
    }

    /// The likelihood that a line has the column names: how many of them are known, and how many cells could be names.
    pub(super) fn likeness(head: &StringRecord, mapping: &Mapping) -> (usize, usize) {
        let headings: Vec<Heading> = head.iter().take(MOST_COLUMNS).map(Heading::of).collect();
        let columns: [(&str, &[&str]); 6] = [
            (&mapping.order_number, &ORDER_NUMBER),
            (&mapping.gateway_number, &GATEWAY_NUMBER),
            (&mapping.amount, &AMOUNT),
            (&mapping.date, &DATE),
            (&mapping.fee, &FEE),
            (&mapping.status, &STATUS),
        ];
        let known = columns.iter().filter(|(given, known)| !places(&headings, given, known).is_empty()).count();
        let is_name = |cell: &&str| !cell.trim().is_empty() && !cell.contains(|c: char| c.is_ascii_digit());
        (known, head.iter().filter(is_name).count())
    }
}

/// The columns that a person's name means, else the first known name that is there.
fn places(headings: &[Heading], given: &str, known: &[&str]) -> Vec<usize> {
    let called = |is_it: &dyn Fn(&Heading) -> bool| -> Vec<usize> {
        headings.iter().enumerate().filter(|(_, heading)| is_it(heading)).map(|(column, _)| column).collect()
    };
    if !given.is_empty() {
        let given = plain(given);
        return called(&|heading| !given.is_empty() && heading.name == given);
    }
    known
        .iter()
        .map(|name| called(&|heading| heading.base == *name))
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// A name for comparing: in lower case, with single spaces for any separators, and without surrounding signs.
pub(super) fn plain(name: &str) -> String {
    let name = clean(name).to_lowercase().replace('ё', "е").replace(['_', '-'], " ");
    let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches([':', '.', '*', '"', '«', '»', ' ']).to_owned()
}

/// A cell's text: without surrounding spaces and invisible characters, and without the quoting that keeps spreadsheets from
/// changing it, `="order-1"` or `'order-1`.
pub(super) fn clean(cell: &str) -> String {
    let seen: String = cell.chars().filter(|c| !is_unseen(*c)).collect();
    let text = seen.trim();
    let quoted = text.strip_prefix("=\"").or_else(|| text.strip_prefix('"')).and_then(|text| text.strip_suffix('"'));
    let text = quoted.unwrap_or(text).trim();
    let text = text.strip_prefix('\'').map_or(text, |text| text.strip_suffix('\'').unwrap_or(text));
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use kassa::Language;

    use super::*;
    use crate::staff::texts::texts;

    fn columns(names: &[&str]) -> Result<Columns, Vec<String>> {
        Columns::of(&StringRecord::from(names.to_vec()), &Mapping::default(), texts(Language::English))
    }

    #[test]
    fn statement_columns_match_in_any_spelling() {
        for names in [
            ["order_number", "amount"],
            ["\u{feff}Order Number", " AMOUNT "],
            ["orderNumber", "\u{a0}Amount:"],
            ["\"Order-ID\"", "=\"Amount\""],
            ["Номер  заказа", "Сумма"],
            ["НОМЕР\u{a0}ЗАКАЗА", "Сумма, сом"],
            ["№ заказа", "Сумма платежа (KGS)"],
            ["Буйрутманын номери", "Төлөмдүн суммасы"],
        ] {
            let found = columns(&names).unwrap_or_else(|problems| panic!("{names:?}: {problems:?}"));
            assert_eq!((found.order_number, found.amount), (Some(0), 1), "{names:?}");
        }
        for names in [["Номер", "Сумма"], ["№", "Сумма"], ["order_number", "Сумма комиссии"], ["Заказчик", "amount"]]
        {
            assert!(columns(&names).is_err(), "{names:?}");
        }
        let currency = |heading: &str| columns(&["order", heading]).map(|found| found.amount_currency);
        assert_eq!(currency("Amount, USD"), Ok(Some("USD")));
        assert_eq!(currency("Сумма (сом)"), Ok(Some("KGS")));
        assert_eq!(currency("Сумма"), Ok(None));
        assert!(currency("Amount fee").is_err(), "a fee is no currency");
        for kind in ["Тип транзакции", "Тип платежа", "Вид операции", "Вид транзакции", "Вид платежа"]
        {
            assert_eq!(columns(&["order", "amount", kind]).map(|found| found.kinds), Ok(vec![2]), "{kind}");
        }
    }

    #[test]
    fn duplicate_statement_column_is_ambiguous() {
        for names in [
            ["order_number", "amount", "Amount"],
            ["order_number", "Сумма, KGS", "Сумма, USD"],
            ["order number", "order_number", "amount"],
        ] {
            let problems = columns(&names).err().unwrap_or_default();
            assert!(problems.iter().any(|problem| problem.starts_with("More than one")), "{names:?}: {problems:?}");
        }
        let found = columns(&["Валюта", "Номер заказа", "Сумма", "Валюта"]).ok().unwrap();
        assert_eq!(found.currency, Some(3));
    }

    #[test]
    fn statement_cell_is_unquoted() {
        for (cell, expected) in [
            ("=\"order-1\"", "order-1"),
            (" \u{a0}order-1\u{200b} ", "order-1"),
            ("\"order-1\"", "order-1"),
            ("'order-1", "order-1"),
            ("'order-1'", "order-1"),
            ("=\"390,00", "=\"390,00"),
            ("\"", "\""),
        ] {
            assert_eq!(clean(cell), expected, "{cell}");
        }
    }
}
