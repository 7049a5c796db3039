//! Redaction of replies that are kept. The core has masked the secrets of the request that a reply answers; a gateway may also
//! tell what it was told before: a card's number, or the payer's phone.

use std::ops::Range;

use crate::values::card_number::{looks_like_card_number, without_possible_card_numbers};

/// In bytes: a row with it stays within one page of the database.
const LONGEST_REPLY: usize = 800;
const LONGEST_WORDS: usize = 200;
/// How a phone begins with its country, and how long it is then.
const COUNTRY: &str = "996";
const PHONE: usize = 12;
/// The same as it is dialled within the country.
const DIALLED: usize = 10;
/// What people write between the digits of a phone number.
const SEPARATORS: [char; 6] = [' ', '\u{a0}', '-', '(', ')', '\u{2011}'];
const MASK: &str = "***";
/// Digits of a security code (CVC).
const LONGEST_CODE: usize = 4;
/// What stands before the secret of an address of the server's own.
const OWN_ADDRESSES: [&str; 2] = ["pay", "callbacks"];
/// How many digits such a secret has.
const SECRET: usize = 32;

/// The beginning of a reply, as it may be kept.
pub(super) fn shortened(reply: &str) -> String {
    let clean = without_secrets(reply);
    let mut end = clean.len().min(LONGEST_REPLY);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = &clean[..end];
    if end < clean.len() { format!("{beginning}…") } else { beginning.to_owned() }
}

/// The same of a code, or of a few words.
pub(super) fn words(text: &str) -> String {
    without_secrets(text).chars().take(LONGEST_WORDS).collect()
}

fn without_secrets(text: &str) -> String {
    // Not every database keeps it, and it says nothing.
    let text = without_own_addresses(&text.replace('\0', ""));
    let clean = without_possible_card_numbers(&text);
    without_phones(&if looks_like_card_number(&text) { without_short_numbers(&clean) } else { clean })
}

/// Beside a card's number three or four digits may be its security code, and two its expiry.
fn without_short_numbers(text: &str) -> String {
    let mut clean = text.to_owned();
    for group in groups(text).into_iter().filter(|group| group.len() <= LONGEST_CODE) {
        let stars = "*".repeat(group.len());
        clean.replace_range(group, &stars);
    }
    clean
}

/// Redaction: who knows the address of a checkout's page or of its callbacks can call it, and a gateway may echo both. Slashes may
/// be written as in JSON or in a query.
fn without_own_addresses(text: &str) -> String {
    let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, name)) = OWN_ADDRESSES.iter().filter_map(|name| Some((rest.find(name)?, name))).min() {
        let after = before + name.len();
        let slash = ["/", "\\/", "%2F", "%2f"].into_iter().find(|slash| rest[after..].starts_with(slash));
        let begins = after + slash.map_or(0, str::len);
        let digits = rest[begins..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let is_secret = slash.is_some() && digits >= SECRET;
        clean.push_str(&rest[..begins]);
        clean.push_str(if is_secret { MASK } else { "" });
        rest = &rest[if is_secret { begins + digits } else { begins }..];
    }
    clean + rest
}

fn without_phones(text: &str) -> String {
    let groups = groups(text);
    let (mut clean, mut written, mut first) = (String::with_capacity(text.len()), 0, 0);
    while first < groups.len() {
        let Some(after) = phone_from(text, &groups, first) else {
            first += 1;
            continue;
        };
        clean.push_str(&text[written..groups[first].start]);
        clean.push_str(MASK);
        written = groups[after - 1].end;
        first = after;
    }
    clean + &text[written..]
}

/// Groups of digits that are no part of an identifier.
fn groups(text: &str) -> Vec<Range<usize>> {
    let (mut groups, mut begin, mut before) = (Vec::new(), None, ' ');
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match begin {
            None if c.is_ascii_digit() => begin = Some((at, before)),
            Some((start, before)) if !c.is_ascii_digit() => {
                if !before.is_ascii_alphabetic() && !c.is_ascii_alphabetic() {
                    groups.push(start..at);
                }
                begin = None;
            }
            _ => {}
        }
        before = c;
    }
    groups
}

/// The group behind a phone number that begins with this one, however people write it: `+996 (700) 00-00-01`.
fn phone_from(text: &str, groups: &[Range<usize>], first: usize) -> Option<usize> {
    let mut digits = String::new();
    for (index, group) in groups.iter().enumerate().skip(first) {
        let is_joined =
            index == first || text[groups[index - 1].end..group.start].chars().all(|c| SEPARATORS.contains(&c));
        digits.push_str(&text[group.clone()]);
        if !is_joined || digits.len() > PHONE {
            return None;
        }
        if is_phone(&digits, groups[first].len()) {
            return Some(index + 1);
        }
    }
    None
}

/// What begins with a day or a month, as `09-11-2026 14`, is none.
fn is_phone(digits: &str, first_group: usize) -> bool {
    let is_dialled = digits.len() == DIALLED && digits.starts_with('0') && matches!(first_group, 1 | 4..);
    is_dialled || (digits.len() == PHONE && digits.starts_with(COUNTRY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_that_not_every_database_keeps_is_left_out() {
        assert_eq!(words("B\0a\0d gateway"), "Bad gateway");
    }

    #[test]
    fn neither_a_card_s_number_nor_a_phone_is_kept() {
        for (reply, kept) in [
            (r#"{"code":"110","orderNumber":"7"}"#, r#"{"code":"110","orderNumber":"7"}"#),
            (r#"{"pan":"4000 0000 0000 2016","n":1}"#, r#"{"pan":"**** **** **** ****","n":*}"#),
            (
                r#"pan 4000000000002016, cvc "737", 08/31, at 1795456800000"#,
                r#"pan ****************, cvc "***", **/**, at 1795456800000"#,
            ),
            ("pan 4000000000002016 refused", "pan **************** refused"),
            // It may be a card's of an issuer that nobody here knows. Mostly it is an order's: code and amount stay.
            (
                r#"{"code":"51","order":"2026112614050606","amount":390}"#,
                r#"{"code":"51","order":"****************","amount":390}"#,
            ),
            (r#"{"phone":"996700000001","n":996700000001}"#, r#"{"phone":"***","n":***}"#),
            ("call +996700000001 or 0700000001", "call +*** or ***"),
            ("+996 (700) 00-00-01, 0700-000-001; 0 700 000 001", "+***, ***; ***"),
            ("7 0700 00 00 01 x", "7 *** x"),
            ("09-11-2026 14:05, 2026-11-09, 0,700,000,001", "09-11-2026 14:05, 2026-11-09, 0,700,000,001"),
            ("e996700000001 9967000000012 996700000001a", "e996700000001 9967000000012 996700000001a"),
        ] {
            assert_eq!(shortened(reply), kept);
            assert_eq!(words(reply), kept);
        }
    }

    /// Who only looks at a reply on the staff's pages must not be able to pay, or to call back.
    #[test]
    fn the_server_s_own_addresses_are_not_kept() {
        let secret = "0123456789abcdef0123456789abcdef";
        for (reply, kept) in [
            ("https://pay.shop.kg/pay/SECRET/back", "https://pay.shop.kg/pay/***/back"),
            (r#"{"url":"https:\/\/a.kg\/pay\/SECRET\/back"}"#, r#"{"url":"https:\/\/a.kg\/pay\/***\/back"}"#),
            ("u=https%3A%2F%2Fa.kg%2Fcallbacks%2FSECRET%2Fpay_1", "u=https%3A%2F%2Fa.kg%2Fcallbacks%2F***%2Fpay_1"),
            ("payment/SECRET pay/abc paid", "payment/SECRET pay/abc paid"),
        ] {
            let (reply, kept) = (reply.replace("SECRET", secret), kept.replace("SECRET", secret));
            assert_eq!(shortened(&reply), kept);
        }
    }

    #[test]
    fn a_long_reply_ends_at_a_whole_letter() {
        let kept = shortened(&"ы".repeat(LONGEST_REPLY));
        assert_eq!(kept.chars().filter(|c| *c == 'ы').count(), LONGEST_REPLY / 2);
        assert!(kept.ends_with('…'));
        assert_eq!(shortened(&"я€".repeat(LONGEST_REPLY)).len(), LONGEST_REPLY + '…'.len_utf8());
    }
}
