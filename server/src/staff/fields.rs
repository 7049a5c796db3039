//! The fields of a form, or of a query: each by its name.

use std::convert::Infallible;

use axum::body::Bytes;
use encoding_rs::WINDOWS_1251;
use futures_util::stream;
use multer::Multipart;
use url::form_urlencoded;

use crate::values::card_number::looks_like_card_number;

/// The most fields of a form or query: any further ones are ignored.
const MOST: usize = 16;

/// The fields of a submitted form.
#[derive(Clone, Default)]
pub(super) struct FormFields(Vec<(String, String)>);

impl FormFields {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().take(MOST).collect())
    }

    /// Parses a form with files (multipart). A file is text in UTF-8, or in an encoding of local spreadsheets: UTF-16
    /// with its mark, or Windows-1251.
    pub(super) async fn parse_parts(bytes: Bytes, boundary: &str) -> Result<Self, multer::Error> {
        let once = stream::once(std::future::ready(Ok::<_, Infallible>(bytes)));
        let mut parts = Multipart::new(once, boundary);
        let mut fields = Vec::new();
        while let Some(part) = parts.next_field().await? {
            if fields.len() >= MOST {
                break;
            }
            let name = part.name().unwrap_or_default().to_owned();
            fields.push((name, decoded(&part.bytes().await?)));
        }
        Ok(Self(fields))
    }

    /// A field's text, without spaces around it; empty if there is none. Of several with one name the first counts.
    pub(super) fn get(&self, name: &str) -> &str {
        self.whole(name).trim()
    }

    /// A field's text with surrounding spaces: in a table, an empty first cell or line counts.
    pub(super) fn whole(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// A field's text to show again on a page, without anything that looks like a card number.
    pub(super) fn shown(&self, name: &str) -> &str {
        Some(self.get(name)).filter(|text| !looks_like_card_number(text)).unwrap_or_default()
    }

    /// The fields except some as a query, for a link, without anything that looks like a card number.
    pub(super) fn shown_again(&self, without: &[&str]) -> String {
        let is_shown = |(name, value): &&(String, String)| {
            !without.contains(&name.as_str())
                && !value.is_empty()
                && ![name, value].into_iter().any(|text| looks_like_card_number(text))
        };
        form_urlencoded::Serializer::new(String::new()).extend_pairs(self.0.iter().filter(is_shown)).finish()
    }
}

fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => WINDOWS_1251.decode(bytes).0.into_owned(),
    }
}

/// Pairs as a query, without those that are empty.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_fields_are_limited_in_number() {
        let fields = FormFields::parse(format!("from=1&{}csrf=2", "a&".repeat(1_000_000)).as_bytes());
        assert_eq!((fields.get("from"), fields.get("csrf"), fields.0.len()), ("1", "", MOST));
    }

    #[test]
    fn card_number_is_not_shown_again_as_name_or_value() {
        let fields = FormFields::parse(b"4111111111111111=x&q=4111111111111111&from=1&lang=ru");
        assert_eq!(fields.shown_again(&["lang"]), "from=1");
    }

    #[tokio::test]
    async fn uploaded_file_encodings_are_decoded() {
        let part = |name: &str, content: &[u8]| {
            let head = format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"; filename=\"a.csv\"\r\n\r\n");
            [head.as_bytes(), content, b"\r\n"].concat()
        };
        let utf16: Vec<u8> = "\u{feff}Сумма".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let windows = [0xd1, 0xf3, 0xec, 0xec, 0xe0];
        let parts = [part("a", "Сумма".as_bytes()), part("b", &utf16), part("c", &windows), b"--x--".to_vec()];
        let fields = FormFields::parse_parts(parts.concat().into(), "x").await.unwrap();
        assert_eq!(["a", "b", "c"].map(|name| fields.get(name)), ["Сумма"; 3]);
        assert!(FormFields::parse_parts(part("a", b"broken").into(), "x").await.is_err());
        let many = [part("a", b"").repeat(1000), part("csrf", b"2"), b"--x--".to_vec()].concat();
        assert_eq!(FormFields::parse_parts(many.into(), "x").await.unwrap().0.len(), MOST);
    }
}
