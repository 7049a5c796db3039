//! The merchant as payers see it: name, logo, colour and contacts.

use reqwest::Url;

use super::{
    problem::rule,
    table::{MERCHANT_COLOUR, MERCHANT_EMAIL, MERCHANT_LOGO, MERCHANT_NAME, MERCHANT_PHONE, MERCHANT_URL},
    values::{Parsed, Values},
};
use crate::{
    pay::{Colour, Logo, Merchant},
    values::error::Checks,
};

/// The longest name of a merchant: on a phone it takes two lines.
const LONGEST_NAME: usize = 60;

/// Reads the merchant's appearance for payers.
pub(super) fn read(values: &mut Values) -> Parsed<Merchant> {
    let name = values.optional(&MERCHANT_NAME, |text| {
        let mut checks = Checks::default();
        checks.required_text("", text, LONGEST_NAME);
        checks.finish().map(|()| text.to_owned()).map_err(|problem| rule(&problem))
    });
    let logo = values.optional(&MERCHANT_LOGO, |path| {
        let unreadable = |problem: std::io::Error| format!("names a file that cannot be read: {problem}");
        Logo::read(path.as_ref()).map_err(unreadable)?.map_err(|rule| format!("names a file that {rule}"))
    });
    let colour = values.optional(&MERCHANT_COLOUR, str::parse::<Colour>);
    let phone = values.optional(&MERCHANT_PHONE, shown_phone);
    let email = values.optional(&MERCHANT_EMAIL, mail_address);
    let url = values.optional(&MERCHANT_URL, |text| {
        let is_site = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if is_site { Ok(text.to_owned()) } else { Err("must be an address such as https://shop.example.kg".to_owned()) }
    });
    Ok(Merchant { name: name?, logo: logo?, colour: colour?, phone: phone?, email: email?, url: url? })
}

/// A phone in a readable form; a browser dials its digits.
fn shown_phone(text: &str) -> Result<String, String> {
    let is_phone = |sign: char| sign.is_ascii_digit() || matches!(sign, '+' | ' ' | '-' | '(' | ')');
    let digits = text.chars().filter(char::is_ascii_digit).count();
    if text.chars().all(is_phone) && (3..=15).contains(&digits) {
        Ok(text.to_owned())
    } else {
        Err("must be a phone number such as +996 312 123 456".to_owned())
    }
}

/// A local part, an @, and a domain. The text cannot show whether mail arrives there.
fn mail_address(text: &str) -> Result<String, String> {
    let is_plain =
        text.chars().all(|sign| sign.is_ascii_graphic() && !matches!(sign, '?' | '&' | '%' | '<' | '>' | '"' | ','));
    let is_address = text.split_once('@').is_some_and(|(name, domain)| {
        !name.is_empty()
            && domain.contains('.')
            && !domain.contains('@')
            && !domain.starts_with('.')
            && !domain.ends_with('.')
    });
    if is_plain && is_address {
        Ok(text.to_owned())
    } else {
        Err("must be a mail address such as shop@example.kg".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_contacts_are_refused() {
        assert_eq!(shown_phone("+996 (312) 12-34-56"), Ok("+996 (312) 12-34-56".to_owned()));
        assert_eq!(shown_phone("1414"), Ok("1414".to_owned()));
        for text in ["call us", "12", "+996 312 123 456 ext. 7", "1234567890123456"] {
            assert!(shown_phone(text).is_err(), "{text}");
        }
        assert_eq!(mail_address("pay+kg@shop.example.kg"), Ok("pay+kg@shop.example.kg".to_owned()));
        for text in [
            "shop",
            "@example.kg",
            "shop@",
            "shop@kg",
            "a@b@example.kg",
            "a@example.kg?cc=b@example.kg",
            "a b@example.kg",
        ] {
            assert!(mail_address(text).is_err(), "{text}");
        }
    }
}
