//! The filter of the transactions: read from the query, written back into links.

use time::{Date, format_description::BorrowedFormatItem, macros::format_description};
use url::form_urlencoded;

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider, amount, clock},
    encoding::FormPairs,
    redact::{mask, without_card_numbers},
    store::{
        browse::{Place, Sort, Start},
        filter::Filter,
        searched_text::SearchedText,
    },
};

const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
/// The longest text that is searched for.
const MAX_TEXT: usize = 100;
const DAY: i64 = 86_400_000;
/// The fields that a link carries along.
const FIELDS: [&str; 8] = ["q", "kind", "provider", "status", "from", "to", "least", "most"];

/// What the query asks for.
pub(super) struct Wish {
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    pub(super) start: Start,
    /// What is wrong with which field; nothing is looked up then.
    pub(super) problems: Vec<Problem>,
    /// The fields as they are shown again.
    shown: Vec<(&'static str, String)>,
}

/// A field, and the rule it breaks.
pub(super) struct Problem {
    pub(super) field: &'static str,
    pub(super) rule: &'static str,
}

impl Wish {
    pub(super) fn read(query: &FormPairs) -> Self {
        let mut reader = Reader { query, problems: Vec::new() };
        let Searched { text, card, shown } = searched(query.get("q"));
        let filter = Filter {
            text: (!text.is_empty()).then_some(SearchedText { text, card }),
            kind: reader.word("kind", "Kind", PaymentKind::parse),
            provider: reader.word("provider", "Provider", Provider::parse),
            status: reader.word("status", "Status", PaymentStatus::parse),
            from: reader.date("from", "From").map(clock::midnight),
            until: reader.date("to", "To").map(|date| clock::midnight(date) + DAY),
            least: reader.amount("least", "Amount from"),
            most: reader.amount("most", "Amount to"),
        };
        let start = match (place(query.get("after")), place(query.get("before"))) {
            (Some(place), _) => Start::After(place),
            (None, Some(place)) => Start::Before(place),
            (None, None) => Start::First,
        };
        let problems = reader.problems;
        let shown = FIELDS
            .map(|name| (name, if name == "q" { shown.clone() } else { query.get(name).to_owned() }))
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        Self { filter, sort: sort(query.get("sort")), start, problems, shown }
    }

    /// A field's value, to be shown in the form again.
    pub(super) fn value(&self, name: &str) -> &str {
        self.shown.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Whether anything is filtered at all.
    pub(super) fn is_filtered(&self) -> bool {
        self.filter != Filter::default()
    }

    /// The query of a link with the same filter, in another order or at another place.
    pub(super) fn query(&self, sort: Sort, more: Option<(&str, Place)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.shown {
            query.append_pair(name, value);
        }
        if sort != Sort::Newest {
            query.append_pair("sort", sort.as_str());
        }
        if let Some((name, place)) = more {
            query.append_pair(name, &format!("{}.{}", place.key, place.id));
        }
        query.finish()
    }
}

/// What is searched for.
struct Searched {
    text: String,
    /// The mask of it, where it may be a card number.
    card: Option<String>,
    /// How it is shown again.
    shown: String,
}

/// Somebody who searches for a whole card number means its mask, and nothing repeats the number. So many digits may be
/// an order number, too.
fn searched(text: &str) -> Searched {
    // No text has a NUL in it, and for the full-text index it would be the end of the query.
    let text: String = text.chars().filter(|character| *character != '\0').take(MAX_TEXT).collect();
    let digits = text.replace([' ', '-'], "");
    let may_be_card = (13..=20).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let card = may_be_card.then(|| mask::card(&digits));
    let is_card = may_be_card && without_card_numbers(&digits) != digits;
    let shown = card.clone().filter(|_| is_card).unwrap_or_else(|| text.clone());
    Searched { text, card, shown }
}

/// A sort order by its name in the query.
fn sort(name: &str) -> Sort {
    Sort::ALL.into_iter().find(|sort| sort.as_str() == name).unwrap_or_default()
}

fn place(text: &str) -> Option<Place> {
    let (key, id) = text.split_once('.')?;
    Some(Place { key: key.parse().ok()?, id: id.parse().ok()? })
}

struct Reader<'a> {
    query: &'a FormPairs,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn read<T>(
        &mut self,
        name: &str,
        field: &'static str,
        rule: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.query.get(name);
        if value.is_empty() {
            return None;
        }
        let parsed = parse(value);
        if parsed.is_none() {
            self.problems.push(Problem { field, rule });
        }
        parsed
    }

    fn word<T>(&mut self, name: &str, field: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        self.read(name, field, "must be one of the list", parse)
    }

    fn date(&mut self, name: &str, field: &'static str) -> Option<Date> {
        self.read(name, field, "must be a date like 2026-01-31", |text| Date::parse(text, DATE).ok())
    }

    fn amount(&mut self, name: &str, field: &'static str) -> Option<i64> {
        self.read(name, field, "must be an amount like 100 or 99.50", |text| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let amount = amount::exact(text).filter(|_| is_plain)?;
            let minor = amount.checked_mul(rust_decimal::Decimal::ONE_HUNDRED)?.normalize();
            (minor.scale() == 0).then(|| i64::try_from(minor.mantissa()).ok())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(query: &str) -> Wish {
        Wish::read(&FormPairs::parse(query.as_bytes()))
    }

    #[test]
    fn a_query_becomes_a_filter_and_a_link_again() {
        let wish = wish("q=a+b&kind=qr&provider=MBank&status=CHARGE&from=2026-01-31&to=2026-01-31&least=1&most=99.50");
        assert!(wish.problems.is_empty());
        let filter = &wish.filter;
        assert_eq!((filter.kind, filter.provider), (Some(PaymentKind::Qr), Some(Provider::MBank)));
        assert_eq!((filter.least, filter.most), (Some(100), Some(9950)));
        assert_eq!(filter.until.zip(filter.from).map(|(until, from)| until - from), Some(DAY), "the whole day");
        let link = wish.query(Sort::Largest, Some(("after", Place { key: -5, id: 7 })));
        let again = self::wish(&link);
        assert_eq!(again.filter, wish.filter);
        assert_eq!((again.sort, again.start), (Sort::Largest, Start::After(Place { key: -5, id: 7 })));
    }

    #[test]
    fn each_mistake_names_its_field() {
        let wish = wish("kind=x&provider=x&status=x&from=x&to=2026-02-30&least=1.005&most=-1");
        let fields: Vec<_> = wish.problems.iter().map(|problem| problem.field).collect();
        assert_eq!(fields, ["Kind", "Provider", "Status", "From", "To", "Amount from", "Amount to"]);
    }

    #[test]
    fn a_card_number_is_searched_for_by_its_mask() {
        let wish = wish("q=4111+1111-1111+1111");
        assert_eq!(wish.filter.text.as_ref().and_then(|text| text.card.as_deref()), Some("411111******1111"));
        assert_eq!(wish.query(Sort::Newest, None), "q=411111******1111");
    }

    #[test]
    fn an_order_number_of_digits_is_searched_for_as_it_is() {
        for number in ["1763695200123", "2026112614050606", "4708307848535"] {
            let wish = wish(&format!("q={number}"));
            assert_eq!(wish.filter.text.as_ref().map(|text| text.text.as_str()), Some(number));
            assert_eq!(wish.query(Sort::Newest, None), format!("q={number}"));
        }
    }
}
