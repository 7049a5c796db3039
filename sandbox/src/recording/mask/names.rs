//! The meaning of a value by the name of its field, element or header.

use crate::{recording::json_text::Step, redact::words};

/// The meaning of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A secret: never stored.
    Secret,
    /// A card number.
    Card,
    /// A phone, if it looks like one.
    Phone,
    /// A number of a payment: stays, whatever its form.
    Number,
    /// Anything else.
    Other,
}

/// Secrets by a word of their name.
const SECRET_WORDS: [&str; 20] = [
    "pin",
    "pincode",
    "jwt",
    "track",
    "track1",
    "track2",
    "trackdata",
    "пароль",
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
/// Secrets by the beginning of a word of their name.
const SECRET_BEGINNINGS: [&str; 7] = ["cvc", "cvv", "otp", "expiry", "expiration", "password", "secret"];
/// Secrets by two consecutive words of their name.
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
/// Generic names, whose meaning depends on their container.
const GENERIC: [&str; 9] = ["value", "val", "number", "no", "num", "text", "raw", "content", "data"];
/// Secret members of an object for a card.
const SECRETS_OF_CARDS: [&str; 6] = ["month", "year", "date", "valid", "validthru", "code"];
/// Members and attributes that contain the name of the value beside them, as in `{"name": "cvc", "value": "123"}`.
const LABELS: [&str; 8] = ["name", "key", "field", "param", "parameter", "property", "label", "id"];
/// Names of numbers, in lower case and without separators.
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

/// The meaning by the name of a field in JSON, a form or a query.
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

/// The name of a value in a named container: the one of the two names that has a meaning.
pub(super) fn effective<'a>(container: &'a str, name: &'a str) -> &'a str {
    if of_field(name) != Kind::Other {
        return name;
    }
    let plain = words(name).concat();
    let kind = match of_field(container) {
        Kind::Other => of_field(container.trim_end_matches('s')),
        kind => kind,
    };
    match kind {
        Kind::Card if SECRETS_OF_CARDS.contains(&plain.as_str()) => "expiry",
        Kind::Card if GENERIC.contains(&plain.as_str()) => "pan",
        Kind::Secret | Kind::Phone if GENERIC.contains(&plain.as_str()) => container,
        _ => name,
    }
}

/// The name of the value at a path, by the same rule.
pub(super) fn at_path(path: &[Step]) -> &str {
    let mut names = path.iter().rev().filter_map(|step| match step {
        Step::Name(name) => Some(name.as_str()),
        Step::Index(_) => None,
    });
    let own = names.next().unwrap_or_default();
    effective(names.next().unwrap_or_default(), own)
}

/// Whether a member or an attribute contains the name of the value beside it.
pub(super) fn is_label(name: &str) -> bool {
    LABELS.contains(&words(name).concat().as_str())
}

/// Whether a member or an attribute may have its name beside it.
pub(super) fn is_generic(name: &str) -> bool {
    GENERIC.contains(&words(name).concat().as_str())
}

/// The meaning by the name of a header. Any name with a key, a token or a credential in it is a secret.
pub(super) fn of_header(name: &str) -> Kind {
    let kind = of_field(name);
    let is_credential = |word: &String| {
        matches!(
            word.as_str(),
            "key" | "token" | "auth" | "cookie" | "authorization" | "session" | "sid" | "credential"
        )
    };
    match kind {
        Kind::Number if name != "token" => kind,
        _ if words(name).iter().any(is_credential) => Kind::Secret,
        _ => kind,
    }
}

/// Whether a value consists of a phone's digits.
pub(super) fn is_phone(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (9..=15).contains(&digits)
        && value.chars().all(|character| character.is_ascii_digit() || " +-()".contains(character))
}
