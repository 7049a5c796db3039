//! Finds phones, one-time passwords, security codes (CVC), card numbers and the server's own addresses in a gateway's text.

use std::ops::{Range, RangeInclusive};

use crate::values::card_number::{digits_of_possible_card_numbers, is_separator};

/// The country code with which a phone number begins, and its whole length.
const COUNTRY: &str = "996";
const PHONE: usize = 12;
/// The length as dialled within the country.
const DIALLED: usize = 10;
/// The length without any prefix.
pub(super) const SUBSCRIBER: usize = 9;
/// The longest phone number of any country, and the shortest number that a text names as one.
const LONGEST_PHONE: usize = 15;
const SHORTEST_PHONE: usize = 7;
/// The most signs between two groups of digits of one number, and between a name and its value.
const MOST_SEPARATORS: usize = 8;
/// The longest name of a value that is searched.
const LONGEST_NAME: usize = 24;
/// The words for a phone, in the languages of the payers.
const PHONE_NAMES: [&str; 5] = ["phone", "msisdn", "subscriber", "телефон", "абонент"];
const SHORT_PHONE_NAMES: [&str; 3] = ["tel", "mobile", "тел"];
/// The words for a one-time password, a PIN or a security code (CVC).
const CODE_NAMES: [&str; 3] = ["password", "passcode", "пароль"];
const SHORT_CODE_NAMES: [&str; 3] = ["otp", "cvc", "cvv"];
const WHOLE_CODE_NAMES: [&str; 2] = ["pin", "pincode"];
const CODE: RangeInclusive<usize> = 3..=12;
pub(super) const MASK: &str = "***";
/// The digits of a security code (CVC).
const LONGEST_CODE: usize = 4;
/// The path before the secret in the server's own addresses.
const OWN_ADDRESSES: [&str; 2] = ["pay/", "callbacks/"];
/// The number of digits of such a secret, and the least number that is masked if a gateway cuts the address.
const SECRET: usize = 32;
const PART_OF_SECRET: usize = 16;

/// A place in a text, and its replacement.
pub(super) type Found = (Range<usize>, &'static str);

/// Finds the secrets of the server's own addresses. Anyone who knows the address of a checkout's page or callbacks can call it,
/// and a gateway may echo both. A callback address, on any host, ends with the
/// payment's number.
pub(super) fn own_addresses(text: &str) -> Vec<Found> {
    let (mut found, mut rest) = (Vec::new(), 0);
    while let Some(start) = text[rest..].find(|c: char| c.is_ascii_hexdigit()).map(|at| rest + at) {
        let length = hex_digits(&text[start..]);
        rest = start + length;
        let is_named = length >= PART_OF_SECRET && OWN_ADDRESSES.iter().any(|name| text[..start].ends_with(*name));
        let number = text[rest..].strip_prefix('/').map_or(0, hex_digits);
        if is_named || (length == SECRET && number == SECRET) {
            found.push((start..rest, MASK));
        }
    }
    found
}

fn hex_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_hexdigit).count()
}

pub(super) fn card_numbers(text: &str) -> Vec<Found> {
    digits_of_possible_card_numbers(text).into_iter().map(|digit| (digit, "*")).collect()
}

/// Finds short numbers. Next to a card number, three or four digits may be its security code, and two its expiry.
pub(super) fn short_numbers(text: &str) -> Vec<Found> {
    let short = groups(text).into_iter().filter(|group| group.len() <= LONGEST_CODE);
    short.flatten().map(|digit| (digit..digit + 1, "*")).collect()
}

/// Finds one-time passwords and security codes after their names: words with a digit.
pub(super) fn named_codes(text: &str) -> Vec<Found> {
    let (mut found, mut begin) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match begin {
            None if c.is_alphanumeric() => begin = Some(at),
            Some(start) if !c.is_alphanumeric() => {
                let word = &text[start..at];
                let is_code = CODE.contains(&word.len()) && word.contains(|c: char| c.is_ascii_digit());
                if is_code && is_behind_sign(&text[..start]) && is_called(&text[..start], is_name_of_code) {
                    found.push((start..at, MASK));
                }
                begin = None;
            }
            _ => {}
        }
    }
    found
}

/// Whether a text ends with a separator between a name and its value. `OTP_101` is an error code of the gateway.
fn is_behind_sign(before: &str) -> bool {
    let mut between = before.chars().rev().take_while(|c| !c.is_alphanumeric()).take(MOST_SEPARATORS);
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`' | '«' | '»' | '“' | '”' | '„' | '‘' | '’');
    between.any(|c| c.is_whitespace() || is_quote(c) || matches!(c, ':' | '=' | '>' | '(' | '['))
}

/// Short names begin or end a word of a name: `smsOtp`, `TOTP`, `otpcode`, `cvc2`. Inside a word they are coincidence: `notPaid`,
/// `footprint`. A PIN is a whole word: `pinCode`, and not `shipping`.
fn is_name_of_code(name: &str) -> bool {
    let (mut words, mut is_in_lower_case) = (String::new(), false);
    for c in name.chars() {
        if is_in_lower_case && c.is_uppercase() {
            words.push('_');
        }
        is_in_lower_case = c.is_lowercase();
        words.extend(c.to_lowercase());
    }
    let is_short = |word: &str| {
        WHOLE_CODE_NAMES.contains(&word)
            || SHORT_CODE_NAMES.iter().any(|known| word.starts_with(*known) || word.ends_with(*known))
    };
    let name = name.to_lowercase();
    CODE_NAMES.iter().any(|known| name.contains(known)) || words.split(|c: char| !c.is_alphabetic()).any(is_short)
}

pub(super) fn phones(text: &str) -> Vec<Found> {
    let groups = groups(text);
    let (mut found, mut first) = (Vec::new(), 0);
    while first < groups.len() {
        let behind = phone_from(text, &groups, first);
        found.extend(behind.map(|behind| (groups[first].start..groups[behind - 1].end, MASK)));
        first = behind.unwrap_or(first + 1);
    }
    found
}

/// The end of a phone number that begins with this group, in any notation: `+996 (700) 00-00-01`. After a plus it can be of any
/// country, and after a name for a phone it can be any number.
fn phone_from(text: &str, groups: &[Range<usize>], first: usize) -> Option<usize> {
    let before = &text[..groups[first].start];
    let least = if is_called(before, is_name_of_phone) {
        Some(SHORTEST_PHONE)
    } else {
        is_international(before, &text[groups[first].start..]).then_some(SUBSCRIBER)
    };
    let (mut digits, mut behind) = (String::new(), None);
    for (index, group) in groups.iter().enumerate().skip(first) {
        if index > first && !is_joined(&text[groups[index - 1].end..group.start], &digits) {
            break;
        }
        digits.push_str(&text[group.clone()]);
        if digits.len() > LONGEST_PHONE {
            break;
        }
        if is_phone(&digits, groups[first].len()) {
            return Some(index + 1);
        }
        if least.is_some_and(|least| digits.len() >= least) {
            behind = Some(index + 1);
        }
    }
    behind
}

fn is_name_of_phone(name: &str) -> bool {
    let name = name.to_lowercase();
    PHONE_NAMES.iter().any(|known| name.contains(known)) || SHORT_PHONE_NAMES.contains(&name.as_str())
}

/// Whether a number with a country code begins after a plus that is not an addition.
fn is_international(before: &str, number: &str) -> bool {
    let before = before.trim_end_matches([' ', '(']).strip_suffix('+');
    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric)) && !number.starts_with('0')
}

/// Whether digits are a phone number. A text that begins with a day or a month, such as `09-11-2026 14`, is not.
fn is_phone(digits: &str, first_group: usize) -> bool {
    let is_dialled = digits.len() == DIALLED && digits.starts_with('0') && matches!(first_group, 1 | 4..);
    is_dialled || (digits.len() == PHONE && digits.starts_with(COUNTRY))
}

/// Whether a text ends with a name and a separator before its value: `"phone": "`, `otp=`.
fn is_called(before: &str, is_known: impl Fn(&str) -> bool) -> bool {
    let between = before.chars().rev().take_while(|c| !c.is_alphanumeric()).take(MOST_SEPARATORS + 1).count();
    if !(1..=MOST_SEPARATORS).contains(&between) {
        return false;
    }
    let is_of_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name: Vec<char> =
        before.chars().rev().skip_while(|c| !c.is_alphanumeric()).take_while(is_of_name).take(LONGEST_NAME).collect();
    is_known(&name.into_iter().rev().collect::<String>())
}

/// Rows of digits with only separators in between, with the place of each digit.
pub(super) fn rows_of_digits(text: &str) -> Vec<(String, Vec<usize>)> {
    let (mut rows, mut digits, mut places, mut gap) = (Vec::new(), String::new(), Vec::new(), 0);
    for (at, c) in text.char_indices().chain([(text.len(), 'x')]) {
        if c.is_ascii_digit() {
            digits.push(c);
            places.push(at);
            gap = 0;
            continue;
        }
        gap += 1;
        let goes_on = gap <= MOST_SEPARATORS && (is_between(c) || c == ',');
        if !goes_on && !digits.is_empty() {
            rows.push((std::mem::take(&mut digits), std::mem::take(&mut places)));
        }
    }
    rows
}

/// Groups of digits that are not part of an identifier: no letter is next to them, or one that is not hexadecimal.
pub(super) fn groups(text: &str) -> Vec<Range<usize>> {
    let (mut groups, mut begin) = (Vec::new(), None);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match begin {
            None if c.is_ascii_digit() => begin = Some(at),
            Some(start) if !c.is_ascii_digit() => {
                if !is_in_identifier(text[..start].chars().rev()) && !is_in_identifier(text[at..].chars()) {
                    groups.push(start..at);
                }
                begin = None;
            }
            _ => {}
        }
    }
    groups
}

/// Whether a hexadecimal number goes on beyond an end of a group of digits, given outwards.
fn is_in_identifier(beyond: impl Iterator<Item = char>) -> bool {
    let mut letters = beyond.take_while(char::is_ascii_alphabetic).peekable();
    letters.peek().is_some() && letters.all(|c| c.is_ascii_hexdigit())
}

/// The place of this number, if it begins with a group. A part of a decimal does not count.
pub(super) fn number_from(text: &str, groups: &[Range<usize>], first: usize, number: &str) -> Option<Range<usize>> {
    let mut digits = String::new();
    for (index, group) in groups.iter().enumerate().skip(first) {
        let between = if index == first { "" } else { &text[groups[index - 1].end..group.start] };
        digits.push_str(&text[group.clone()]);
        if between.contains('.') || !is_joined(between, "") || !number.starts_with(&digits) {
            return None;
        }
        if digits == number {
            let place = groups[first].start..group.end;
            return (!is_part_of_decimal(text, &place)).then_some(place);
        }
    }
    None
}

/// Whether two groups belong to one number, by the characters between them. `0.700000001` is a decimal.
fn is_joined(between: &str, digits: &str) -> bool {
    let is_decimal = digits == "0" && between == ".";
    !is_decimal && between.chars().all(is_between) && between.chars().count() <= MOST_SEPARATORS
}

/// The characters that people and forms write between the digits of a phone.
fn is_between(c: char) -> bool {
    is_separator(c) || matches!(c, '(' | ')' | '+')
}

fn is_part_of_decimal(text: &str, place: &Range<usize>) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let after = text[place.end..].strip_prefix('.').is_some_and(|rest| rest.starts_with(is_digit));
    after || text[..place.start].strip_suffix('.').is_some_and(|rest| rest.ends_with(is_digit))
}

/// Whether no word goes on beyond the ends of a place.
pub(super) fn is_word(text: &str, place: Range<usize>) -> bool {
    !text[..place.start].ends_with(char::is_alphanumeric) && !text[place.end..].starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use crate::payments::response::{Secrets, shortened};

    #[test]
    fn phone_in_response_is_masked_in_any_format() {
        for (response, expected) in [
            ("phone=%2B996555000101&n=1", "phone=%2B***&n=1"),
            ("phone%253D%252B996%2520555%2520000%2520101", "phone%253D%252B***"),
            (r#"{"p":"\u002b996\u0020555\u0020000\u0020101"}"#, r#"{"p":"\u002b***"}"#),
            ("996\u{200b}555\u{2060}000\u{ad}101, 0555.000.101, 0555/000/101", "***, ***, ***"),
            ("&#48;555&nbsp;000&#45;101", "***"),
            ("٠٥٥٥ ٠٠٠ ١٠١", "***"),
            ("LIKE '%0555000101%'", "LIKE '%***%'"),
            ("LIKE%20%27%250555000101%25%27", "LIKE%20%27%25***%25%27"),
            ("tel996555000101 is phone0555000101", "tel*** is phone***"),
            ("+7 (701) 123-45-67 and +49 30 123456", "+*** and +***"),
            (r#"{"msisdn":"555000101","phoneNumber":5550101}"#, r#"{"msisdn":"***","phoneNumber":***}"#),
            ("Абонент 555 000 101 не найден", "Абонент *** не найден"),
            ("0.700000001 at +0600 20, 1+555000101", "0.700000001 at +0600 20, 1+555000101"),
        ] {
            assert_eq!(shortened(response, &Secrets::default()), expected);
        }
    }

    #[test]
    fn otp_and_cvc_in_response_are_masked_by_name() {
        for (response, expected) in [
            (r#"{"otp":"918273","cvc":737}"#, r#"{"otp":"***","cvc":***}"#),
            ("otp%3D91827x, one-time password: 918273", "otp%3D***, one-time password: ***"),
            (r#"{"smsOtp":418273,"otp_code":418273}"#, r#"{"smsOtp":***,"otp_code":***}"#),
            ("OTP: 418273, OtpCode=418273, TOTP 418273, cvc2='737'", "OTP: ***, OtpCode=***, TOTP ***, cvc2='***'"),
            (r#"{"pinCode":"604137","PIN":604137,"pincode":"6041"}"#, r#"{"pinCode":"***","PIN":***,"pincode":"***"}"#),
            ("pinned=604137, shipping: 604137", "pinned=604137, shipping: 604137"),
            ("<otp>418273</otp> NewPassword 418273", "<otp>***</otp> NewPassword ***"),
            ("NotPermitted: 403, NOTPAID: 403, footprint=418273", "NotPermitted: 403, NOTPAID: 403, footprint=418273"),
            (r#"{"notPaid":390.00,"code":"OTP_101"}"#, r#"{"notPaid":390.00,"code":"OTP_101"}"#),
            ("WRONG_OTP 1, wrong otp in order 918273", "WRONG_OTP 1, wrong otp in order 918273"),
        ] {
            assert_eq!(shortened(response, &Secrets::default()), expected);
        }
    }
}
