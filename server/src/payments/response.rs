//! Redaction of the gateway's text, which passes through here before the database, responses, pages and the log. The core has
//! masked the card and the password of the request; a gateway may also repeat the rest of it, or of earlier requests.

use zeroize::Zeroizing;

use super::{
    decoded::Decoded,
    detect::{
        Found, MASK, SUBSCRIBER, card_numbers, groups, is_word, named_codes, number_from, own_addresses, phones,
        rows_of_digits, short_numbers,
    },
};
use crate::values::{Hidden, card_number::looks_like_card_number};

/// The most bytes of a stored response: its row fits one page of the database.
const LONGEST_RESPONSE: usize = 800;
const LONGEST_WORDS: usize = 200;
/// The most bytes of a text that are read. Nothing beyond is stored.
const LONGEST_READ: usize = 64 * 1024;
/// A shorter one-time password cannot be distinguished from other numbers.
const LONG_OTP: usize = 4;
/// A known secret is found by this many of its digits.
const WINDOW: usize = 8;

/// The secrets of a request, which its response may not repeat.
#[derive(Default)]
pub(crate) struct Secrets {
    /// The digits of the payer's phone.
    phone: Zeroizing<String>,
    otp: Zeroizing<String>,
    /// The secrets of the checkout's own addresses.
    addresses: Vec<Hidden>,
}

impl Secrets {
    /// The secrets of the server's own addresses: of callbacks and hosted pages.
    pub(crate) fn of_addresses<'a>(addresses: impl IntoIterator<Item = &'a Hidden>) -> Self {
        Self { addresses: addresses.into_iter().cloned().collect(), ..Self::default() }
    }

    pub(crate) fn of_otp(otp: &str) -> Self {
        Self::default().with_otp(otp)
    }

    pub(crate) fn with_otp(self, otp: &str) -> Self {
        Self { otp: Zeroizing::new(otp.to_owned()), ..self }
    }

    pub(crate) fn with_phone(self, phone: &str) -> Self {
        Self { phone: Zeroizing::new(phone.chars().filter(char::is_ascii_digit).collect()), ..self }
    }

    /// Finds the phone in any notation, with or without its country code, even inside a word.
    fn phones(&self, text: &str) -> Vec<Found> {
        let Some((country, subscriber)) =
            self.phone.len().checked_sub(SUBSCRIBER).and_then(|at| self.phone.split_at_checked(at))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (digits, places) in rows_of_digits(text) {
            for (at, _) in digits.match_indices(subscriber) {
                let before = &digits[..at];
                let prefix = match before.ends_with(country) {
                    true => country.len(),
                    false => usize::from(before.ends_with('0')),
                };
                found.push((places[at - prefix]..places[at + SUBSCRIBER - 1] + 1, MASK));
            }
        }
        found
    }

    /// Finds the one-time password as a separate number, even with separators between its digits, or as a word.
    fn otps(&self, text: &str) -> Vec<Found> {
        let otp = self.otp.as_str();
        if otp.is_empty() {
            return Vec::new();
        }
        if otp.len() >= LONG_OTP && otp.bytes().all(|byte| byte.is_ascii_digit()) {
            let groups = groups(text);
            let found = (0..groups.len()).filter_map(|first| number_from(text, &groups, first, otp));
            return found.map(|place| (place, MASK)).collect();
        }
        let words = text.match_indices(otp).filter(|(at, _)| is_word(text, *at..*at + otp.len()));
        words.map(|(at, _)| (at..at + otp.len(), MASK)).collect()
    }

    fn addresses(&self, text: &str) -> Vec<Found> {
        if self.addresses.is_empty() {
            return Vec::new();
        }
        let text = text.to_ascii_lowercase();
        let is_part = |part: &str| {
            let is_hex = part.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex && self.addresses.iter().any(|secret| secret.expose().contains(part))
        };
        let places = (0..text.len()).map(|at| at..at + WINDOW);
        places.filter(|place| text.get(place.clone()).is_some_and(is_part)).map(|place| (place, MASK)).collect()
    }
}

/// The masked beginning of a response, for storing.
pub(super) fn shortened(response: &str, secrets: &Secrets) -> String {
    let clean = without_secrets(response, secrets);
    let beginning = beginning(&clean, LONGEST_RESPONSE);
    if beginning.len() < clean.len() { format!("{beginning}…") } else { clean }
}

/// A masked code or short message.
pub(super) fn words(text: &str, secrets: &Secrets) -> String {
    without_secrets(text, secrets).chars().take(LONGEST_WORDS).collect()
}

/// At most this many bytes, ending at a character boundary.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn without_secrets(text: &str, secrets: &Secrets) -> String {
    // A zero byte means nothing, and not every database stores it.
    let mut text = Masked::of(beginning(text, LONGEST_READ).replace('\0', ""));
    text.mask(|text| secrets.addresses(text));
    text.mask(own_addresses);
    text.mask(|text| secrets.phones(text));
    text.mask(|text| secrets.otps(text));
    text.mask(named_codes);
    let names_a_card = text.layers.iter().any(|layer| looks_like_card_number(layer.text()));
    text.mask(card_numbers);
    if names_a_card {
        text.mask(short_numbers);
    }
    text.mask(phones);
    text.source
}

/// A text and its decoded layers, with parts masked.
struct Masked {
    source: String,
    layers: Vec<Decoded>,
}

impl Masked {
    fn of(source: String) -> Self {
        Self { layers: Decoded::layers(&source), source }
    }

    /// Masks the matches in any layer of the text. True if there were any.
    fn mask(&mut self, find: impl Fn(&str) -> Vec<Found>) -> bool {
        let mut found: Vec<Found> = Vec::new();
        for layer in &self.layers {
            found.extend(find(layer.text()).into_iter().map(|(place, mask)| (layer.in_source(&place), mask)));
        }
        if found.is_empty() {
            return false;
        }
        found.sort_by_key(|(place, _)| place.start);
        let (mut clean, mut written) = (String::with_capacity(self.source.len()), 0);
        for (place, mask) in found {
            // `None` if two of them overlap.
            if let Some(between) = self.source.get(written..place.start) {
                clean.push_str(between);
                clean.push_str(mask);
            }
            written = written.max(place.end);
        }
        clean.push_str(self.source.get(written..).unwrap_or_default());
        *self = Self::of(clean);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLBACKS: &str = "0123456789abcdef0123456789abcdef";

    fn secrets() -> Secrets {
        let address = Hidden::new(CALLBACKS);
        Secrets {
            otp: Secrets::of_otp("918273").otp,
            ..Secrets::of_addresses([&address]).with_phone("+996 555 000 101")
        }
    }

    fn shortened(response: &str) -> String {
        super::shortened(response, &Secrets::default())
    }

    fn words(text: &str) -> String {
        super::words(text, &Secrets::default())
    }

    #[test]
    fn nul_character_is_removed_from_response_text() {
        assert_eq!(words("B\0a\0d gateway"), "Bad gateway");
    }

    #[test]
    fn stored_response_masks_card_number_and_phone() {
        for (response, expected) in [
            (r#"{"code":"110","orderNumber":"7"}"#, r#"{"code":"110","orderNumber":"7"}"#),
            (r#"{"pan":"4000 0000 0000 2016","n":1}"#, r#"{"pan":"**** **** **** ****","n":*}"#),
            (
                r#"pan 4000000000002016, cvc "737", 08/31, at 1795456800000"#,
                r#"pan ****************, cvc "***", **/**, at 1795456800000"#,
            ),
            ("pan 4000000000002016 refused", "pan **************** refused"),
            ("LIKE '%4000000000002016%'", "LIKE '%****************%'"),
            // It may be a card's of an issuer that nobody here knows. Mostly it is an order's: code and amount stay.
            (
                r#"{"code":"51","order":"2026112614050606","amount":390}"#,
                r#"{"code":"51","order":"****************","amount":390}"#,
            ),
            // An order number of the server's own is no card number, whatever its digits are.
            (
                r#"{"orderNumber":"ab4111111111111111cd0123456789ef","pan":"4000000000002016"}"#,
                r#"{"orderNumber":"ab4111111111111111cd0123456789ef","pan":"****************"}"#,
            ),
            (r#"{"phone":"996700000001","n":996700000001}"#, r#"{"phone":"***","n":***}"#),
            ("call +996700000001 or 0700000001", "call +*** or ***"),
            ("+996 (700) 00-00-01, 0700-000-001; 0 700 000 001", "+***, ***; ***"),
            ("7 0700 00 00 01 x", "7 *** x"),
            ("09-11-2026 14:05, 2026-11-09, 0,700,000,001", "09-11-2026 14:05, 2026-11-09, 0,700,000,001"),
            ("e996700000001 9967000000012 996700000001a", "e996700000001 9967000000012 996700000001a"),
        ] {
            assert_eq!(shortened(response), expected);
            assert_eq!(words(response), expected);
        }
    }

    /// Who only looks at a response on the staff's pages must not be able to pay, or to call back.
    #[test]
    fn stored_response_masks_page_secrets() {
        let secret = CALLBACKS;
        for (response, expected) in [
            ("https://pay.shop.kg/pay/SECRET/back", "https://pay.shop.kg/pay/***/back"),
            (r#"{"url":"https:\/\/a.kg\/pay\/SECRET\/back"}"#, r#"{"url":"https:\/\/a.kg\/pay\/***\/back"}"#),
            ("u=https%3A%2F%2Fa.kg%2Fcallbacks%2FSECRET%2Fpay_1", "u=https%3A%2F%2Fa.kg%2Fcallbacks%2F***%2Fpay_1"),
            ("payment/SECRET pay/abc paid", "payment/SECRET pay/abc paid"),
            ("https://a.kg/hooks/SECRET/ORDER, order ORDER", "https://a.kg/hooks/***/ORDER, order ORDER"),
            (r"\u002fcallbacks%252F0123456789abcdef01", r"\u002fcallbacks%252F***"),
        ] {
            let filled = |text: &str| text.replace("SECRET", secret).replace("ORDER", &"fe".repeat(16));
            let (response, expected) = (filled(response), filled(expected));
            assert_eq!(shortened(&response), expected);
        }
    }

    /// Whatever form it has, and where nothing else gives it away.
    #[test]
    fn request_secrets_echoed_in_response_are_masked() {
        let secrets = secrets();
        for (response, expected) in [
            ("to 555000101 or 555-000-101, x996555000101x7", "to *** or ***, x***x7"),
            ("[996,555,000,101] 5.5.5.0.0.0.1.0.1", "[***] ***"),
            ("00996555000101 555000102", "00*** 555000102"),
            ("code 918273, 91 82 73, CODE918273!", "code ***, ***, CODE***!"),
            ("918273.50 1918273 e918273f 9.18273", "918273.50 1918273 e918273f 9.18273"),
            ("x/0123456789ABCDEF0123, 89abcdef01234 01234567", "x/***, *** ***"),
        ] {
            assert_eq!(super::words(response, &secrets), expected);
            assert_eq!(super::shortened(response, &secrets), expected);
        }
        let word = Secrets::of_otp("x-7");
        assert_eq!(super::words("otp x-7, ax-7 x-77", &word), "otp ***, ax-7 x-77");
        let looks_encoded = Secrets::of_otp("418273");
        assert_eq!(super::words("LIKE '%418273%'", &looks_encoded), "LIKE '%***%'");
    }

    #[test]
    fn long_response_is_truncated_between_characters() {
        let stored = shortened(&"ы".repeat(LONGEST_RESPONSE));
        assert_eq!(stored.chars().filter(|c| *c == 'ы').count(), LONGEST_RESPONSE / 2);
        assert!(stored.ends_with('…'));
        assert_eq!(shortened(&"я€".repeat(LONGEST_RESPONSE)).len(), LONGEST_RESPONSE + '…'.len_utf8());
    }
}
