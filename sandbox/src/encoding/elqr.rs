//! ELQR, the national format of QR codes for payments: the text of a code.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ring::digest::{SHA256, digest};

/// In characters.
pub(crate) const LONGEST_VALUE: usize = 99;
/// In characters.
pub(crate) const LONGEST_PAYEE: usize = 25;
/// In tyiyn: an amount has 13 digits at the most.
pub(crate) const LARGEST_AMOUNT: i64 = 9_999_999_999_999;

/// The characters that a link's fragment contains unencoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'!');
const SOM: &str = "417";

/// The values of a code. The caller limits the length of each.
#[derive(Debug, Default)]
pub(crate) struct Elqr<'a> {
    pub(crate) provider: &'a str,
    pub(crate) service_code: &'a str,
    pub(crate) recipient: Option<&'a str>,
    pub(crate) transaction: Option<&'a str>,
    pub(crate) amount_editable: Option<bool>,
    pub(crate) recipient_editable: Option<bool>,
    pub(crate) comment: Option<&'a str>,
    pub(crate) mcc: &'a str,
    /// In tyiyn. A code with an amount is for one payment; a code without one can be paid repeatedly.
    pub(crate) amount: Option<i64>,
    pub(crate) payee: &'a str,
}

impl Elqr<'_> {
    /// The code after a link, which opens the payer's page or app.
    pub(crate) fn linked(&self, link: &str) -> String {
        format!("{link}#{}", encoded(&self.code()))
    }

    fn code(&self) -> String {
        let mut service = String::new();
        for (tag, value) in [
            ("00", Some(self.provider)),
            ("01", Some(self.service_code)),
            ("10", self.recipient),
            ("11", self.transaction),
            ("12", self.amount_editable.map(yes_or_no)),
            ("13", self.recipient_editable.map(yes_or_no)),
        ] {
            add(&mut service, tag, value);
        }
        let amount = self.amount.map(|amount| amount.to_string());
        let mut code = String::new();
        for (tag, value) in [
            ("00", Some("01")),
            ("01", Some(if amount.is_some() { "12" } else { "11" })),
            ("32", Some(service.as_str())),
            ("34", self.comment),
            ("52", Some(self.mcc)),
            ("53", Some(SOM)),
            ("54", amount.as_deref()),
            ("59", Some(self.payee)),
        ] {
            add(&mut code, tag, value);
        }
        let checksum = checksum(&code);
        add(&mut code, "63", Some(&checksum));
        code
    }
}

/// The code as encoded in a link's fragment.
pub(crate) fn encoded(code: &str) -> String {
    utf8_percent_encode(code, ENCODED).to_string()
}

/// A code with other values, by their tags (those of a service as `32.11`),
/// and a new checksum. `None` if the text is not a code with a valid checksum.
pub(crate) fn rewritten(code: &str, change: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    let checked = code.get(..code.len().checked_sub(8)?)?;
    let is_right = code[checked.len()..] == *format!("6304{}", checksum(checked));
    let mut written = rewritten_tags(checked, "", change).filter(|_| is_right)?;
    let checksum = checksum(&written);
    add(&mut written, "63", Some(&checksum));
    Some(written)
}

/// The values of a code, by their tags. `None` if the text is not a code with a valid checksum.
pub(crate) fn tags(code: &str) -> Option<Vec<(String, String)>> {
    let mut tags = Vec::new();
    rewritten(code, &mut |tag, value| {
        tags.push((tag.to_owned(), value.to_owned()));
        value.to_owned()
    })?;
    Some(tags)
}

fn rewritten_tags(mut text: &str, parent: &str, change: &mut dyn FnMut(&str, &str) -> String) -> Option<String> {
    let mut written = String::new();
    while !text.is_empty() {
        let (tag, length) = (text.get(..2)?, text.get(2..4)?.parse().ok()?);
        let mut units = 0;
        let value: String = text[4..]
            .chars()
            .take_while(|character| {
                units += character.len_utf16();
                units <= length
            })
            .collect();
        text = &text[4 + value.len()..];
        if value.encode_utf16().count() != length {
            return None;
        }
        let new = match tag {
            // The service has tags of its own.
            "32" | "33" => rewritten_tags(&value, &format!("{tag}."), change)?,
            _ => change(&format!("{parent}{tag}"), &value),
        };
        add(&mut written, tag, Some(&new));
    }
    Some(written)
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "11" } else { "12" }
}

/// Adds tag, length and value. Lengths are counted in UTF-16 code units.
fn add(text: &mut String, tag: &str, value: Option<&str>) {
    if let Some(value) = value {
        // Writing to a string never fails.
        let _ = write!(text, "{tag}{:02}{value}", value.encode_utf16().count());
    }
}

/// The last four hexadecimal digits of SHA-256.
fn checksum(code: &str) -> String {
    match digest(&SHA256, code.as_bytes()).as_ref() {
        [.., first, second] => format!("{first:02x}{second:02x}"),
        _ => String::new(),
    }
}

/// The beginning of a text in the form that a value can have: at most `most` characters,
/// without control characters, and without those above U+FFFF, which apps count differently.
pub(crate) fn fitting(text: &str, most: usize) -> String {
    let usable = text.chars().filter(|character| character.len_utf16() == 1 && !character.is_control());
    usable.take(most).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_written_as_banks_write_it() {
        let phone = Elqr {
            provider: "c2c.mbank.kg",
            service_code: "02",
            recipient: Some("996700000001"),
            recipient_editable: Some(false),
            mcc: "9999",
            payee: "AIBEK U.",
            ..Elqr::default()
        };
        let company = Elqr {
            provider: "c2b.mbank.kg",
            recipient: Some("1000000000000001"),
            transaction: Some("ОсОО \"Тоо балы\""),
            comment: Some("biz:1:2"),
            payee: "OsOO Too baly",
            ..phone
        };
        let item = Elqr {
            provider: "qr.finik.kg",
            service_code: "averspay-items",
            recipient: Some("00000000000000000000000000000001"),
            amount_editable: Some(false),
            recipient_editable: Some(false),
            mcc: "5204",
            amount: Some(1_241_200),
            payee: "Finik-QR",
            ..Elqr::default()
        };
        let shop = Elqr {
            provider: "qr.example.kg",
            service_code: "02",
            recipient: Some("996700000001"),
            amount_editable: Some(true),
            recipient_editable: Some(false),
            mcc: "9999",
            amount: Some(1),
            payee: "SHOP",
            ..Elqr::default()
        };
        for (code, expected) in [
            (&phone, "00020101021132440012c2c.mbank.kg01020210129967000000011302125204999953034175908AIBEK U.630426ac"),
            (
                &company,
                "00020101021132670012c2b.mbank.kg010202101610000000000000011115ОсОО \"Тоо балы\"1302123407biz:1:2\
                 5204999953034175913OsOO Too baly63040741",
            ),
            (
                &item,
                "00020101021232810011qr.finik.kg0114averspay-items1032000000000000000000000000000000011202121302125204\
                 52045303417540712412005908Finik-QR63048041",
            ),
            (
                &shop,
                "00020101021232510013qr.example.kg0102021012996700000001120211130212520499995303417540115904SHOP\
                 630442b2",
            ),
        ] {
            assert_eq!(code.code(), expected);
        }
        let linked = company.linked("https://app.mbank.kg/qr/");
        assert!(linked.starts_with("https://app.mbank.kg/qr/#0002010102113267") && linked.is_ascii(), "{linked}");
        assert!(linked.contains("1115%D0%9E%D1%81%D0%9E%D0%9E%20%22%D0%A2%D0%BE%D0%BE"), "{linked}");
        assert!(linked.ends_with("OsOO%20Too%20baly63040741"), "{linked}");
    }

    #[test]
    fn value_fits_in_bytes_and_characters() {
        assert_eq!(fitting(" ☕ Кафе 🍵\n«Тоо»", 99), "☕ Кафе «Тоо»");
        assert_eq!(fitting("Дүкөн «Ак-Сай», Бишкек шаары", LONGEST_PAYEE), "Дүкөн «Ак-Сай», Бишкек ша");
        assert_eq!(fitting("🍵\u{7}", 99), "");
    }
}
