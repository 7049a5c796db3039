//! What the name of a field or a header says of its value.

use crate::redact::words;

/// What a value is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing of it is stored.
    Secret,
    /// A card number.
    Card,
    /// A phone, if it looks like one.
    Phone,
    /// A number of a payment: stays, whatever it looks like.
    Number,
    /// Anything else.
    Other,
}

/// Secrets by one of the words of their names.
const SECRET_WORDS: [&str; 14] = [
    "pin",
    "pincode",
    "csc",
    "cvn",
    "exp",
    "pwd",
    "pass",
    "passwd",
    "passcode",
    "passphrase",
    "apikey",
    "authorization",
    "cookie",
    "credentials",
];
/// Secrets by how one of the words begins.
const SECRET_BEGINNINGS: [&str; 7] = ["cvc", "cvv", "otp", "expiry", "expiration", "password", "secret"];
/// Secrets by two words, one after the other.
const SECRET_PAIRS: [(&str, &str); 15] = [
    ("api", "key"),
    ("access", "key"),
    ("private", "key"),
    ("auth", "key"),
    ("auth", "token"),
    ("access", "token"),
    ("refresh", "token"),
    ("bearer", "token"),
    ("session", "token"),
    ("csrf", "token"),
    ("sms", "code"),
    ("security", "code"),
    ("verification", "code"),
    ("confirmation", "code"),
    ("confirm", "code"),
];
const CARD_WORDS: [&str; 4] = ["pan", "cardnumber", "cardno", "card"];
const PHONE_WORDS: [&str; 8] = ["phone", "phonenumber", "msisdn", "mobile", "tel", "telephone", "user", "requisite"];
/// Names of numbers, in small letters and without separators.
const NUMBERS: [&str; 14] = [
    "ordernumber",
    "orderid",
    "transactionid",
    "transactionnumber",
    "paymentid",
    "operationid",
    "invoiceid",
    "quid",
    "token",
    "id",
    "uuid",
    "rrn",
    "xrequestid",
    "idempotencykey",
];

/// Of a field in JSON, a form or a query.
pub(super) fn of_field(name: &str) -> Kind {
    if name.is_empty() {
        return Kind::Other;
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let is_secret = |word: &&str| {
        SECRET_WORDS.contains(word) || SECRET_BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
    };
    let follow = |pair: &[&str]| SECRET_PAIRS.iter().any(|known| [known.0, known.1] == pair);
    if words.iter().any(is_secret) || words.windows(2).any(follow) {
        return Kind::Secret;
    }
    if NUMBERS.contains(&words.concat().as_str()) {
        return Kind::Number;
    }
    let is_card_number = |pair: &[&str]| pair[0] == "card" && matches!(pair[1], "number" | "no" | "num" | "pan");
    if words.last().is_some_and(|word| CARD_WORDS.contains(word)) || words.windows(2).any(is_card_number) {
        return Kind::Card;
    }
    if words.iter().any(|word| PHONE_WORDS.contains(word)) { Kind::Phone } else { Kind::Other }
}

/// Of a header. Any name with a key, a token or a credential in it is a secret there.
pub(super) fn of_header(name: &str) -> Kind {
    let kind = of_field(name);
    let is_credential = |word: &String| matches!(word.as_str(), "key" | "token" | "auth" | "cookie" | "authorization");
    match kind {
        Kind::Number if name != "token" => kind,
        _ if words(name).iter().any(is_credential) => Kind::Secret,
        _ => kind,
    }
}

/// Whether a value has the digits of a phone and nothing else.
pub(super) fn is_phone(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (9..=15).contains(&digits)
        && value.chars().all(|character| character.is_ascii_digit() || " +-()".contains(character))
}
