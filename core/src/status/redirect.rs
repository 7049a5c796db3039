//! Return redirect: the payer comes back from the gateway's pages, by browser or by deep link.

use url::Url;

use crate::{error::PaymentError, validation::Checks, violation::Rule};

/// The payer's return from the gateway's pages: to a page of the merchant, or by deep link to an app.
///
/// **It is a hint**: it passes through the payer's browser, and anyone can make one. The gateway decides: query it with
/// [`Gateway::verify_return`](crate::Gateway::verify_return), or make a running watch query at once
/// ([`StatusWatch::check_now`](crate::StatusWatch::check_now)).
///
/// ```
/// let redirect = kassa::ReturnRedirect::parse("myshop://paid?cart=17&OrderNumber=order-1&statusCode=200").unwrap();
/// assert_eq!(redirect.order_number, "order-1");
/// assert_eq!(redirect.status_code.as_deref(), Some("200"));
/// ```
///
/// Source: the return redirect (`docs/interface.md#return-redirect`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReturnRedirect {
    /// The order number, from `OrderNumber`.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serialized::not_blank"))]
    pub order_number: String,
    /// The status code, from `statusCode`; `200` on success. Any text is accepted.
    pub status_code: Option<String>,
}

/// The names of the parameters that the gateway adds.
const NAMES: [&str; 2] = ["OrderNumber", "statusCode"];

impl ReturnRedirect {
    /// Reads the URL that the payer came back to. If a name occurs twice, the last one counts: the gateway adds its own
    /// after the merchant's.
    ///
    /// The gateway's parameters are also found in a malformed URL: after a `#`, a second `?`, `&amp;` or `;`, and after
    /// a `&` without any `?`.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if the text is not an absolute URI, or has no order number.
    pub fn parse(url: &str) -> Result<Self, PaymentError> {
        let sentence = "must be an absolute URI";
        let url = Url::parse(url).map_err(|_| PaymentError::invalid("returnUrl", Rule::ReturnUri, None, sentence))?;
        // The first `?` and `#` always separate the text after them.
        let text = with_ampersands(&url.as_str().replacen('?', "&", 1).replacen('#', "&", 1));
        let pairs = || form_urlencoded::parse(text.as_bytes());
        let last = |name: &str| pairs().filter(|(key, _)| key == name).last().map(|(_, value)| value.into_owned());
        let order_number = last("OrderNumber").unwrap_or_default();
        let mut checks = Checks::default();
        checks.required("OrderNumber", &order_number);
        checks.finish()?;
        Ok(Self { order_number, status_code: last("statusCode").filter(|code| !code.is_empty()) })
    }
}

/// The text with a `&` before each of the gateway's parameters that follows a `?`, `#` or `;` (the end of `&amp;`). Before other names
/// these characters stay, because a value may contain them.
pub(super) fn with_ampersands(text: &str) -> String {
    let mut text = text.to_owned();
    for name in NAMES {
        for mark in ['?', '#', ';'] {
            text = text.replace(&format!("{mark}{name}="), &format!("&{name}="));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gateways_own_parameters_are_the_last_ones() {
        let redirect = ReturnRedirect::parse("https://s.kg/r?OrderNumber=mine&OrderNumber=a%26b%20%D1%8F").unwrap();
        assert_eq!((redirect.order_number.as_str(), redirect.status_code), ("a&b я", None));
    }

    #[test]
    fn carelessly_added_parameters_are_found() {
        for url in [
            // Routes of single-page applications follow a `#`.
            "https://shop.kg/#/paid?OrderNumber=o-1&statusCode=200",
            "https://shop.kg/#/paid?cart=7&OrderNumber=o-1&statusCode=200",
            "https://shop.kg/paid#OrderNumber=o-1&statusCode=200",
            "https://shop.kg/paid?OrderNumber=mine#/done?OrderNumber=o-1&statusCode=200",
            "https://shop.kg/paid#top#OrderNumber=o-1#statusCode=200",
            "https://shop.kg/paid?cart=7?OrderNumber=o-1&statusCode=200",
            "https://shop.kg/paid?cart=7?OrderNumber=o-1?statusCode=200",
            "https://shop.kg/paid??OrderNumber=o-1&statusCode=200",
            "https://shop.kg/paid?OrderNumber=mine?OrderNumber=o-1&statusCode=1&statusCode=200",
            "https://shop.kg/paid?cart=7&amp;OrderNumber=o-1&amp;statusCode=200",
            "https://shop.kg/paid?cart=7&amp;amp;OrderNumber=o-1&amp;amp;statusCode=200",
            "https://shop.kg/paid?cart=7&#38;OrderNumber=o-1&#38;statusCode=200",
            "https://shop.kg/paid?cart=7;OrderNumber=o-1;statusCode=200",
            "https://shop.kg/paid&OrderNumber=o-1&statusCode=200",
            "myshop://paid&OrderNumber=o-1&statusCode=200",
            "myshop:paid#OrderNumber=o-1&statusCode=200",
            "intent://paid#Intent;scheme=myshop;end?OrderNumber=o-1&statusCode=200",
        ] {
            let redirect = ReturnRedirect::parse(url).unwrap();
            assert_eq!(
                (redirect.order_number.as_str(), redirect.status_code.as_deref()),
                ("o-1", Some("200")),
                "{url}"
            );
        }
    }

    #[test]
    fn value_keeps_its_own_marks() {
        for (url, order_number) in [
            ("https://s.kg/r?next=/a?b=1&OrderNumber=o-1", "o-1"),
            ("https://s.kg/r?OrderNumber=o-1&next=/a?b=1;c#top", "o-1"),
            ("https://s.kg/r?OrderNumber=a?b;c", "a?b;c"),
            ("https://s.kg/r?OrderNumber=a%3FOrderNumber=b%23c%26d", "a?OrderNumber=b#c&d"),
            ("https://s.kg/r?OrderNumber=o-1#top", "o-1"),
            ("https://s.kg/r?Order%4eumber=o-1", "o-1"),
        ] {
            assert_eq!(ReturnRedirect::parse(url).unwrap().order_number, order_number, "{url}");
        }
    }

    #[test]
    fn what_names_no_order_is_refused() {
        for text in [
            "",
            "/r?OrderNumber=1",
            "https://s.kg/r",
            "https://s.kg/r?ordernumber=1",
            "https://s.kg/r?OrderNumber=",
            "https://s.kg/r#OrderNumber",
            "https://s.kg/r?myOrderNumber=1",
        ] {
            assert!(matches!(ReturnRedirect::parse(text), Err(PaymentError::Invalid { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = ReturnRedirect::parse(&text);
            let _ = ReturnRedirect::parse(&format!("app://r?OrderNumber={text}"));
            let _ = ReturnRedirect::parse(&format!("https://s.kg/#{text}?OrderNumber=1"));
        }
    }
}
