//! Amounts in the formats of gateways, banks and spreadsheets.

use kassa::Decimal;

/// The most digits of an amount.
const MOST_DIGITS: usize = 15;
const MOST_DECIMALS: usize = 6;
/// The longest cell that is searched for signs and currencies.
const LONGEST: usize = 64;

/// The content of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    /// The value without its sign.
    pub(super) value: Decimal,
    /// Whether it has a minus, or accounting brackets.
    pub(super) is_negative: bool,
    /// The currency's three letters, if the cell names it.
    pub(super) currency: Option<String>,
}

/// Why a cell is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AmountError {
    Unreadable,
    /// `1.390` or `1,390`: a thousand and more, or one and a little.
    Ambiguous,
}

/// Reads `390`, `1 234.50`, `1.234,50`, `1'234.50`, `-390,00`, `(390,00)` or `390,00-`, with a currency before or after it.
///
/// # Errors
/// The cell has no amount, or an ambiguous one.
pub(super) fn read(text: &str) -> Result<Amount, AmountError> {
    let (mut rest, mut signs, mut is_negative) = (text.trim(), 0, false);
    if rest.chars().nth(LONGEST).is_some() {
        return Err(AmountError::Unreadable);
    }
    let mut named: Option<String> = None;
    loop {
        if let Some(inner) = unsigned(rest) {
            (signs, is_negative, rest) = (signs + 1, true, inner.trim());
        } else if let Some(inner) = rest.strip_prefix('+') {
            (signs, rest) = (signs + 1, inner.trim());
        } else if let Some((inner, currency)) = without_currency(rest) {
            if named.as_ref().is_some_and(|known| *known != currency) {
                return Err(AmountError::Unreadable);
            }
            (named, rest) = (Some(currency), inner.trim());
        } else {
            break;
        }
        if signs > 1 {
            return Err(AmountError::Unreadable);
        }
    }
    Ok(Amount { value: number(rest)?, is_negative, currency: named })
}

/// The text without one minus, or one pair of brackets.
fn unsigned(text: &str) -> Option<&str> {
    let in_brackets = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    in_brackets.or_else(|| text.strip_prefix(is_minus)).or_else(|| text.strip_suffix(is_minus))
}

/// A hyphen, the hyphens and dashes that programs put in its place, or the minus sign.
fn is_minus(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2014}' | '\u{2212}')
}

/// The text without the currency after or before it, and that currency.
fn without_currency(text: &str) -> Option<(&str, String)> {
    let is_of_number = |c: char| c.is_ascii_digit() || is_minus(c) || matches!(c, '+' | '(' | ')');
    let (start, _) = text.char_indices().find(|(_, c)| is_of_number(*c))?;
    let (last, c) = text.char_indices().rfind(|(_, c)| is_of_number(*c))?;
    let (number, behind) = text.split_at(last + c.len_utf8());
    let (before, rest) = text.split_at(start);
    currency(behind).map(|currency| (number, currency)).or_else(|| currency(before).map(|currency| (rest, currency)))
}

/// The three letters of a currency, in any common notation.
pub(super) fn currency(word: &str) -> Option<String> {
    let word = word.trim();
    let is_code = word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    known_currency(word).map(str::to_owned).or_else(|| is_code.then(|| word.to_ascii_uppercase()))
}

/// The three letters of a currency that is common here.
pub(super) fn known_currency(word: &str) -> Option<&'static str> {
    // The som's sign is an underlined letter in older programs.
    let word = word.trim().trim_end_matches('.').trim_end().to_lowercase().replace('\u{332}', "");
    Some(match word.as_str() {
        "kgs" | "som" | "soms" | "сом" | "сома" | "сомов" | "с" | "c" | "\u{20c0}" | "417" => "KGS",
        "usd" | "$" | "us$" | "840" => "USD",
        "eur" | "€" | "978" | "евро" => "EUR",
        "rub" | "rur" | "₽" | "руб" | "р" | "643" | "810" => "RUB",
        "kzt" | "₸" | "тенге" | "398" => "KZT",
        _ => return None,
    })
}

/// The number of an amount, without sign and currency.
fn number(text: &str) -> Result<Decimal, AmountError> {
    let counts = [text.matches('.').count(), text.matches(',').count()];
    let mark = match counts {
        [0, 0] => None,
        [1, 0] => Some('.'),
        [0, 1] => Some(','),
        // A separator that occurs several times separates thousands.
        [_, 0] | [0, _] => None,
        _ => text.chars().rfind(|c| matches!(c, '.' | ',')),
    };
    let (whole, decimals) = match mark {
        Some(mark) => text.split_once(mark).map_or((text, None), |(whole, decimals)| (whole, Some(decimals))),
        None => (text, None),
    };
    let whole_digits = if whole.is_empty() && decimals.is_some() { Some("0".to_owned()) } else { grouped(whole) };
    let whole_digits = whole_digits.ok_or(AmountError::Unreadable)?;
    let Some(decimals) = decimals else { return whole_digits.parse().map_err(|_| AmountError::Unreadable) };
    if !is_digits(decimals) || decimals.len() > MOST_DECIMALS {
        return Err(AmountError::Unreadable);
    }
    let may_be_thousands = is_digits(whole) && whole.len() <= 3 && !whole.starts_with('0') && decimals.len() == 3;
    if may_be_thousands {
        return Err(AmountError::Ambiguous);
    }
    format!("{whole_digits}.{decimals}").parse().map_err(|_| AmountError::Unreadable)
}

/// The digits of a whole number, which may be in groups of three with one separator.
fn grouped(text: &str) -> Option<String> {
    let plain = |c: char| match c {
        c if c.is_whitespace() => ' ',
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '`' => '\'',
        c => c,
    };
    let text: String = text.chars().map(plain).collect();
    let is_between = |c: &char| matches!(c, ' ' | '\'' | '.' | ',');
    let digits = match text.chars().find(is_between) {
        None => text,
        Some(between) => {
            let mut groups = text.split(between);
            let is_first = groups.next().is_some_and(|first| is_digits(first) && first.len() <= 3);
            let are_whole = groups.all(|group| is_digits(group) && group.len() == 3);
            if !is_first || !are_whole {
                return None;
            }
            text.replace(between, "")
        }
    };
    (is_digits(&digits) && digits.len() <= MOST_DIGITS).then_some(digits)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_amount_parses_spreadsheet_formats() {
        for (text, expected) in [
            ("390", "390"),
            ("390.00", "390"),
            ("390,00", "390"),
            ("390,5", "390.5"),
            (".5", "0.5"),
            ("+390", "390"),
            ("0.390", "0.39"),
            ("390.0000", "390"),
            ("1390.500", "1390.5"),
            ("1 390,50", "1390.5"),
            ("1\u{a0}390,50", "1390.5"),
            ("1\u{202f}390\u{202f}000.50", "1390000.5"),
            ("1 390", "1390"),
            ("1 390,500", "1390.5"),
            ("1.390,50", "1390.5"),
            ("1,390.50", "1390.5"),
            ("1,390.500", "1390.5"),
            ("1.390.000", "1390000"),
            ("1,390,000.5", "1390000.5"),
            ("1'390.50", "1390.5"),
            ("1’390,50", "1390.5"),
        ] {
            let amount = read(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
            let expected = Amount { value: expected.parse().unwrap(), is_negative: false, currency: None };
            assert_eq!(amount, expected, "{text}");
        }
    }

    #[test]
    fn statement_amount_accepts_sign_on_either_side() {
        for (text, is_negative, currency) in [
            ("-390,00", true, None),
            ("\u{2212}390,00", true, None),
            ("- 390,00", true, None),
            ("390,00-", true, None),
            ("(390,00)", true, None),
            ("(390,00) сом", true, Some("KGS")),
            ("(390,00 KGS)", true, Some("KGS")),
            ("KGS -390.00", true, Some("KGS")),
            ("-$390.00", true, Some("USD")),
            ("390,00 -KGS", true, Some("KGS")),
            ("390,00 KGS", false, Some("KGS")),
            ("390.00kgs", false, Some("KGS")),
            ("390 som", false, Some("KGS")),
            ("390,00\u{a0}с.", false, Some("KGS")),
            ("390 c", false, Some("KGS")),
            ("390,00 с\u{332}", false, Some("KGS")),
            ("сом 390", false, Some("KGS")),
            ("390,00 usd", false, Some("USD")),
            ("CHF 390", false, Some("CHF")),
        ] {
            let amount = read(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
            let read = (amount.value, amount.is_negative, amount.currency.as_deref());
            assert_eq!(read, (Decimal::from(390), is_negative, currency), "{text}");
        }
    }

    #[test]
    fn ambiguous_statement_amount_is_rejected() {
        for text in ["1.390", "1,390", "12,345", "390.000", "-1.390", "1,390 KGS", "(1.390)"] {
            assert_eq!(read(text), Err(AmountError::Ambiguous), "{text}");
        }
        let (long, hostile) = (format!("KGS{}390", " ".repeat(59)), "(".repeat(1_000_000) + &")".repeat(1_000_000));
        for text in [
            "",
            long.as_str(),
            hostile.as_str(),
            "-",
            ".",
            "abc",
            "KGS",
            "1e3",
            "390.",
            "390-00",
            "12 34",
            "1 39,00",
            "1,39,000",
            "1390,000,000",
            "1.390.5",
            "1,390.50.20",
            "1 390'000",
            "1,390'000.50",
            "--390",
            "(-390)",
            "-390-",
            "+-390",
            "390 шт",
            "390 KGS USD",
            "KGS 390 USD",
            "390 сом 50",
            "=390",
            "٣٩٠",
            "1234567890123456",
        ] {
            assert_eq!(read(text), Err(AmountError::Unreadable), "{text}");
        }
    }
}
