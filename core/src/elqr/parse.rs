//! Reading the text of a code. Ambiguous text is rejected, with the tag and the rule.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::elqr::{
    AMOUNT, AMOUNT_EDITABLE, CHECKSUM, COMMENT, CURRENCY, DYNAMIC, Elqr, ElqrField, ElqrKind, FURTHER, KIND,
    LONGEST_AMOUNT, LONGEST_CODE, MCC, MERCHANT, MERCHANT_ID, MERCHANT_SERVICE, NO, PAYEE, PROVIDER, RECIPIENT,
    RECIPIENT_EDITABLE, SERVICE, SERVICE_CODE, STATIC, THE_VERSION, TRANSACTION, Tag, VERSION, YES, checksum,
    is_digits,
};

/// In bytes: a link as long as a code, and a code with each byte percent-encoded. Kassa never writes a longer text.
const LONGEST_TEXT: usize = LONGEST_CODE + 1 + 3 * LONGEST_CODE;

const NOT_ELQR: &str = "is not an ELQR code: neither the text nor the part after its # begins with 000201";

pub(super) fn parse(text: &str) -> Result<Elqr, String> {
    if text.len() > LONGEST_TEXT {
        return Err(format!("must not be longer than {LONGEST_TEXT} bytes"));
    }
    // A code without a link may contain a #. Test gateways on the same machine use plain http links.
    let is_link = |link: &str| link.is_empty() || link.starts_with("https://") || link.starts_with("http://");
    let (link, fragment) = match text.split_once('#') {
        Some((link, fragment)) if is_link(link) => (link, fragment),
        Some((_, fragment)) if !text.starts_with(VERSION.number) && fragment.starts_with(VERSION.number) => {
            return Err("must be a link that begins with https:// or http://, or the code alone".to_owned());
        }
        _ => ("", text),
    };
    let code = if fragment.contains('%') { decoded(fragment)? } else { fragment.into() };
    read(link, &code)
}

/// A code is percent-encoded as a whole, or not at all. An unencoded code may contain a percent sign, such as `-10 %`;
/// the checksum decides.
fn decoded(fragment: &str) -> Result<Cow<'_, str>, String> {
    // Before decoding, an encoded code usually looks damaged, because the lengths count decoded characters.
    if Values::of(fragment, "").is_ok() && read("", fragment).is_ok_and(|code| code.checksum_ok) {
        return Ok(fragment.into());
    }
    let is_hex = |digit: Option<&u8>| digit.is_some_and(u8::is_ascii_hexdigit);
    let bytes = fragment.as_bytes();
    let is_whole = |(place, _): (usize, &str)| is_hex(bytes.get(place + 1)) && is_hex(bytes.get(place + 2));
    let decoded = percent_decode_str(fragment).decode_utf8().ok();
    let decoded = decoded.filter(|_| fragment.match_indices('%').all(is_whole));
    decoded.ok_or_else(|| "has damaged percent-encoding, or bytes that are not UTF-8".to_owned())
}

fn read(link: &str, code: &str) -> Result<Elqr, String> {
    if !code.starts_with(VERSION.number) {
        return Err(NOT_ELQR.to_owned());
    }
    let values = Values::of(code, "")?;
    let checksum_at = values.last_place(CHECKSUM)?;
    let version = values.required(VERSION)?;
    if version != THE_VERSION {
        return Err(format!("{VERSION} must be {THE_VERSION}"));
    }
    let kind = match values.required(KIND)? {
        STATIC => ElqrKind::Static,
        DYNAMIC => ElqrKind::Dynamic,
        _ => return Err(format!("{KIND} must be {STATIC} (static) or {DYNAMIC} (dynamic)")),
    };
    let service = Values::of(values.required(SERVICE)?, "32.")?;
    let merchant = values.value(MERCHANT).map(|inside| Values::of(inside, "33.")).transpose()?.unwrap_or_default();
    let mut other = values.others(&[VERSION, KIND, SERVICE, MERCHANT, COMMENT, MCC, CURRENCY, AMOUNT, PAYEE, CHECKSUM]);
    other.retain(|field| !FURTHER.contains(&field.tag.as_str()));
    other.extend(service.others(&[
        PROVIDER,
        SERVICE_CODE,
        RECIPIENT,
        TRANSACTION,
        AMOUNT_EDITABLE,
        RECIPIENT_EDITABLE,
    ]));
    other.extend(merchant.others(&[MERCHANT_ID, MERCHANT_SERVICE]));
    let own = |values: &Values<'_>, tag: Tag| values.value(tag).map(str::to_owned);
    Ok(Elqr {
        link: link.to_owned(),
        kind,
        provider: service.required(PROVIDER)?.to_owned(),
        service_code: own(&service, SERVICE_CODE),
        recipient: own(&service, RECIPIENT),
        transaction: own(&service, TRANSACTION),
        amount_editable: yes_or_no(&service, AMOUNT_EDITABLE)?,
        recipient_editable: yes_or_no(&service, RECIPIENT_EDITABLE)?,
        merchant_id: own(&merchant, MERCHANT_ID),
        merchant_service: own(&merchant, MERCHANT_SERVICE),
        comment: own(&values, COMMENT),
        fields: further_fields(&values),
        mcc: digits(values.required(MCC)?, MCC, 4)?.to_owned(),
        currency: digits(values.required(CURRENCY)?, CURRENCY, 3)?.to_owned(),
        amount_tyiyn: values.value(AMOUNT).map(amount).transpose()?,
        payee: values.required(PAYEE)?.to_owned(),
        other,
        checksum_ok: is_checksum_of(values.required(CHECKSUM)?, code.get(..checksum_at).unwrap_or_default())?,
    })
}

fn digits(text: &str, tag: Tag, length: usize) -> Result<&str, String> {
    if is_digits(text, length) { Ok(text) } else { Err(format!("{tag} must be {length} digits")) }
}

fn amount(text: &str) -> Result<i64, String> {
    let is_amount = text.len() <= LONGEST_AMOUNT && is_digits(text, text.len());
    let amount = text.parse().ok().filter(|_| is_amount);
    amount.ok_or_else(|| format!("{AMOUNT} must be 1 to {LONGEST_AMOUNT} digits, in tyiyn"))
}

fn yes_or_no(values: &Values<'_>, tag: Tag) -> Result<Option<bool>, String> {
    match values.value(tag) {
        None => Ok(None),
        Some(YES) => Ok(Some(true)),
        Some(NO) => Ok(Some(false)),
        Some(_) => Err(format!("{tag} must be {YES} (yes) or {NO} (no)")),
    }
}

fn is_checksum_of(written: &str, code: &str) -> Result<bool, String> {
    if written.len() != 4 || !written.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("{CHECKSUM} must be 4 hexadecimal digits"));
    }
    let [first, second] = checksum(code);
    Ok(u16::from_str_radix(written, 16) == Ok(u16::from_be_bytes([first, second])))
}

/// Each has sub-tags inside. Without sub-tags it is one field, so that nothing is lost.
fn further_fields(values: &Values<'_>) -> Vec<ElqrField> {
    let mut fields = Vec::new();
    for value in values.all.iter().filter(|value| FURTHER.contains(&value.tag)) {
        match Values::of(value.value, "") {
            Ok(inside) => {
                fields.extend(inside.all.iter().map(|inner| ElqrField {
                    tag: format!("{}.{}", value.tag, inner.tag),
                    text: inner.value.to_owned(),
                }))
            }
            Err(_) => fields.push(ElqrField { tag: value.tag.to_owned(), text: value.value.to_owned() }),
        }
    }
    fields
}

struct Value<'a> {
    tag: &'a str,
    digits: [u8; 2],
    value: &'a str,
    /// The position of its tag, in bytes.
    place: usize,
}

/// Tag, length and value, one after another.
#[derive(Default)]
struct Values<'a> {
    all: Vec<Value<'a>>,
    /// The prefix of tags in errors: `32.` inside tag 32.
    parent: &'static str,
}

impl<'a> Values<'a> {
    fn of(text: &'a str, parent: &'static str) -> Result<Self, String> {
        let mut all: Vec<Value<'a>> = Vec::with_capacity(12);
        let mut rest = text;
        while !rest.is_empty() {
            let place = text.len() - rest.len();
            let (tag, digits, behind) = two_digits(rest).ok_or_else(|| damaged(place, "a tag must be two digits"))?;
            let (_, [tens, ones], behind) =
                two_digits(behind).ok_or_else(|| format!("tag {parent}{tag}: the length must be two digits"))?;
            let length = usize::from(10 * (tens - b'0') + (ones - b'0'));
            let cut = cut(behind, length).filter(|_| length > 0);
            let (value, behind) =
                cut.ok_or_else(|| format!("tag {parent}{tag}: the length must be 01 to 99, and so much must follow"))?;
            if !FURTHER.contains(&tag) && all.iter().any(|earlier| earlier.digits == digits) {
                return Err(format!("tag {parent}{tag} occurs twice"));
            }
            all.push(Value { tag, digits, value, place });
            rest = behind;
        }
        Ok(Self { all, parent })
    }

    fn value(&self, tag: Tag) -> Option<&'a str> {
        self.all.iter().find(|value| value.digits == tag.digits).map(|value| value.value)
    }

    fn required(&self, tag: Tag) -> Result<&'a str, String> {
        self.value(tag).ok_or_else(|| format!("{tag} must be there"))
    }

    /// The position of the tag, which must be the last one.
    fn last_place(&self, tag: Tag) -> Result<usize, String> {
        self.required(tag)?;
        let last = self.all.last().filter(|value| value.digits == tag.digits);
        last.map(|value| value.place).ok_or_else(|| format!("{tag} must be the last one"))
    }

    fn others(&self, known: &[Tag]) -> Vec<ElqrField> {
        let is_other = |value: &&Value<'_>| known.iter().all(|tag| tag.digits != value.digits);
        let field = |value: &Value<'_>| ElqrField {
            tag: format!("{}{}", self.parent, value.tag),
            text: value.value.to_owned(),
        };
        self.all.iter().filter(is_other).map(field).collect()
    }
}

fn damaged(place: usize, rule: &str) -> String {
    format!("is damaged behind its first {place} bytes: {rule}")
}

/// Two digits as text and as bytes, and what follows them.
fn two_digits(text: &str) -> Option<(&str, [u8; 2], &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let bytes: [u8; 2] = digits.as_bytes().try_into().ok()?;
    bytes.iter().all(u8::is_ascii_digit).then_some((digits, bytes, rest))
}

/// The first `length` UTF-16 code units of a text and the rest; `None` if it has fewer, or if a character would be cut.
fn cut(text: &str, length: usize) -> Option<(&str, &str)> {
    let mut left = length;
    for (place, c) in text.char_indices() {
        if left == 0 {
            return text.split_at_checked(place);
        }
        left = left.checked_sub(c.len_utf16())?;
    }
    (left == 0).then_some((text, ""))
}
