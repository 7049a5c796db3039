//! Writing the text of a code, and the addresses that open it in the app of a bank.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    elqr::{
        AMOUNT, AMOUNT_EDITABLE, CHECKSUM, COMMENT, CURRENCY, DYNAMIC, Elqr, ElqrKind, FURTHER, KIND, LARGEST_AMOUNT,
        LONGEST_CODE, LONGEST_PAYEE, LONGEST_VALUE, MCC, MERCHANT, MERCHANT_ID, MERCHANT_SERVICE, NO, PAYEE, PROVIDER,
        RECIPIENT, RECIPIENT_EDITABLE, SERVICE, SERVICE_CODE, STATIC, THE_VERSION, TRANSACTION, Tag, VERSION, YES,
        checksum, is_digits, units,
    },
    error::PaymentError,
    validation::Checks,
    violation::Rule,
};

/// Characters that need no encoding in a fragment and are never decoded to something else.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'!');

/// The link and the code after it, or only the code if there is no link.
pub(super) fn text(elqr: &Elqr) -> Result<String, PaymentError> {
    let code = code(elqr)?;
    if elqr.link.is_empty() {
        return Ok(code);
    }
    let has_wrong_character = elqr.link.contains(|c: char| c == '#' || c.is_whitespace() || c.is_control());
    if !elqr.link.starts_with("https://") || has_wrong_character {
        let sentence = "must begin with https:// and have neither # nor spaces in it";
        return Err(PaymentError::invalid("link", Rule::HttpUrl, None, sentence));
    }
    if elqr.link.len() > LONGEST_CODE {
        let sentence = format!("must not be longer than {LONGEST_CODE} bytes");
        return Err(PaymentError::invalid("link", Rule::Length, Some(&format!("1 to {LONGEST_CODE}")), &sentence));
    }
    Ok(linked(&elqr.link, &code))
}

/// A link that opens the code in an app.
pub(super) fn linked(link: &str, code: &str) -> String {
    format!("{link}#{}", utf8_percent_encode(code, ENCODED))
}

/// The code alone, with its checksum.
pub(super) fn code(elqr: &Elqr) -> Result<String, PaymentError> {
    let mut checks = Checks::default();
    check(elqr, &mut checks);
    let mut code = Written { text: String::with_capacity(160), checks };
    code.push(VERSION, THE_VERSION);
    code.push(KIND, if elqr.kind == ElqrKind::Dynamic { DYNAMIC } else { STATIC });
    let service = code.inside(&[
        (PROVIDER, Some(elqr.provider.as_str())),
        (SERVICE_CODE, elqr.service_code.as_deref()),
        (RECIPIENT, elqr.recipient.as_deref()),
        (TRANSACTION, elqr.transaction.as_deref()),
        (AMOUNT_EDITABLE, elqr.amount_editable.map(yes_or_no)),
        (RECIPIENT_EDITABLE, elqr.recipient_editable.map(yes_or_no)),
    ]);
    code.push(SERVICE, &service);
    let merchant = code
        .inside(&[(MERCHANT_ID, elqr.merchant_id.as_deref()), (MERCHANT_SERVICE, elqr.merchant_service.as_deref())]);
    if !merchant.is_empty() {
        code.push(MERCHANT, &merchant);
    }
    if let Some(comment) = &elqr.comment {
        code.push(COMMENT, comment);
    }
    code.push_fields(elqr);
    code.push(MCC, &elqr.mcc);
    code.push(CURRENCY, &elqr.currency);
    if let Some(amount) = elqr.amount_tyiyn {
        code.push(AMOUNT, &amount.to_string());
    }
    code.push(PAYEE, &elqr.payee);
    let [first, second] = checksum(&code.text);
    code.push(CHECKSUM, &format!("{first:02x}{second:02x}"));
    if code.text.len() > LONGEST_CODE {
        let sentence = format!("must not be longer than {LONGEST_CODE} bytes: no QR code holds more");
        code.checks.fail("elqr", Rule::Length, Some(&format!("1 to {LONGEST_CODE}")), &sentence);
    }
    code.checks.finish()?;
    Ok(code.text)
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { YES } else { NO }
}

/// Checks the format's rules about several values.
fn check(elqr: &Elqr, checks: &mut Checks) {
    if !elqr.checksum_ok {
        let sentence = "is false: the code was damaged or changed, and would get a right checksum";
        checks.fail("checksum_ok", Rule::Exact, Some("true"), sentence);
    }
    if elqr.service_code.is_none() && elqr.merchant_id.is_none() {
        checks.fail("service_code", Rule::Required, None, "must be given, or merchant_id");
    }
    if !is_digits(&elqr.mcc, 4) {
        checks.fail("mcc", Rule::Digits, Some("4"), "must be 4 digits");
    }
    if !is_digits(&elqr.currency, 3) {
        checks.fail("currency", Rule::Digits, Some("3"), "must be the 3 digits of ISO 4217, such as 417");
    }
    let least = i64::from(elqr.kind == ElqrKind::Dynamic);
    match elqr.amount_tyiyn {
        None if elqr.kind == ElqrKind::Dynamic => {
            checks.fail("amount_tyiyn", Rule::Required, None, "must be given for a dynamic code");
        }
        Some(amount) if amount < least => {
            checks.break_rule("amount_tyiyn", Rule::Minimum, Some(&least.to_string()));
        }
        Some(amount) if amount > LARGEST_AMOUNT => {
            checks.fail("amount_tyiyn", Rule::Exact, None, &format!("must be at most {LARGEST_AMOUNT}"));
        }
        _ => {}
    }
    if units(&elqr.payee) > LONGEST_PAYEE {
        let limit = format!("1 to {LONGEST_PAYEE}");
        checks.fail("payee", Rule::Length, Some(&limit), &format!("must have at most {LONGEST_PAYEE} characters"));
    }
}

struct Written {
    text: String,
    checks: Checks,
}

impl Written {
    fn push(&mut self, tag: Tag, value: &str) {
        push_element(&mut self.text, tag.number, tag, value, &mut self.checks);
    }

    fn inside(&mut self, values: &[(Tag, Option<&str>)]) -> String {
        let mut text = String::new();
        for (tag, value) in values {
            if let Some(value) = value {
                push_element(&mut text, tag.last(), tag, value, &mut self.checks);
            }
        }
        text
    }

    /// Fields with the same tag form one element, as its sub-tags. A repeated sub-tag begins a new element.
    fn push_fields(&mut self, elqr: &Elqr) {
        for number in FURTHER {
            let (mut inside, mut sub_tags) = (String::new(), Vec::new());
            for field in elqr.fields.iter().filter(|field| field.tag.get(..2) == Some(number)) {
                let name = format_args!("tag {}", field.tag);
                let sub_tag = field.tag.split_once('.').map(|(_, sub_tag)| sub_tag);
                if sub_tag.is_none_or(|sub_tag| sub_tags.contains(&sub_tag)) {
                    self.push_inside(number, &mut inside);
                    sub_tags.clear();
                }
                let text = if sub_tag.is_some() { &mut inside } else { &mut self.text };
                push_element(text, sub_tag.unwrap_or(number), name, &field.text, &mut self.checks);
                sub_tags.extend(sub_tag);
            }
            self.push_inside(number, &mut inside);
        }
        let is_known = |tag: &str| {
            let (tag, sub) = tag.split_once('.').unwrap_or((tag, "00"));
            FURTHER.contains(&tag) && is_digits(sub, 2)
        };
        if elqr.fields.iter().any(|field| !is_known(&field.tag)) {
            self.checks.fail("fields", Rule::OneOf, None, "must have tags from 35 to 39, such as 35 or 35.00");
        }
    }

    /// Adds an element with the collected sub-tags, if any.
    fn push_inside(&mut self, number: &str, inside: &mut String) {
        if !inside.is_empty() {
            push_element(&mut self.text, number, format_args!("tag {number}"), inside, &mut self.checks);
            inside.clear();
        }
    }
}

/// Tag, length and value. Characters outside the basic plane are two units for some readers and one for others.
fn push_element(text: &mut String, number: &str, name: impl fmt::Display, value: &str, checks: &mut Checks) {
    let length = units(value);
    if !(1..=LONGEST_VALUE).contains(&length) {
        let limit = format!("1 to {LONGEST_VALUE}");
        checks.fail("elqr", Rule::Length, Some(&limit), &format!("{name} must have {limit} characters"));
    }
    if value.chars().any(|c| c.len_utf16() > 1) {
        let sentence = format!("{name} must have no emoji and no other character above U+FFFF");
        checks.fail("elqr", Rule::Format, None, &sentence);
    }
    text.push_str(number);
    if length < 10 {
        text.push('0');
    }
    text.push_str(&length.to_string());
    text.push_str(value);
}

// The addresses that open a code in the app of a bank.

/// Opens the app of whichever bank the payer has.
pub(super) const ANY_BANK: &str = "https://pay.payqr.kg/";

/// Name and address. The link for any bank comes first, then links that were seen in codes, then links that are known
/// only from a public list (`docs/elqr.md`).
const BANKS: [(&str, &str); 14] = [
    ("ELQR", ANY_BANK),
    ("MBank", "https://app.mbank.kg/qr/"),
    ("O!Bank", "https://api.dengi.o.kg/"),
    ("Bakai", "https://bakai.app/"),
    ("Finik", "https://qr.finik.kg/"),
    ("MegaPay", "https://megapay.kg/get"),
    ("RSK24", "https://qr.rsk.kg/"),
    ("NambaOne", "https://nambaone.app/"),
    ("KICB", "https://bank.kicb.net/"),
    ("AB24", "https://qr.ab.kg/"),
    ("DemirBank", "https://retail.demirbank.kg/"),
    ("Balance", "https://balance.kg/"),
    ("Kompanion", "https://24.kompanion.kg/qr/"),
    ("Eldik", "https://app.eldik.kg/"),
];

/// A link that opens a code in the app of a bank.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankLink {
    /// The bank or wallet by its name; `ELQR` for any of them.
    pub bank: String,
    /// The link.
    pub url: String,
}

pub(super) fn links(code: &str) -> Vec<BankLink> {
    BANKS.iter().map(|(bank, link)| BankLink { bank: (*bank).to_owned(), url: linked(link, code) }).collect()
}
