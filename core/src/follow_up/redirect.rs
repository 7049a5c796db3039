//! Return redirect: the payer comes back from the gateway's pages, by browser or by deep link.

use url::Url;

use crate::values::{error::PaymentError, rules::Checks, violation::Rule};

/// The payer's return from the gateway's pages: to a page of the merchant's, or by deep link to an app.
///
/// **It is a hint**: it passes through the payer's browser, and anybody can make one. The gateway decides: ask it with
/// [`Gateway::verify_return`](crate::Gateway::verify_return), or make a watch that is running ask at once
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
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::values::serialized::not_blank"))]
    pub order_number: String,
    /// The status code, from `statusCode`; `200` on success. Any text is carried.
    pub status_code: Option<String>,
}

impl ReturnRedirect {
    /// Reads the URL that the payer came back to. Where a name occurs twice, the last one counts: the gateway adds its
    /// own after the merchant's.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] where the text is not an absolute URI, or names no order.
    pub fn parse(url: &str) -> Result<Self, PaymentError> {
        let sentence = "must be an absolute URI";
        let url = Url::parse(url).map_err(|_| PaymentError::invalid("returnUrl", Rule::ReturnUri, None, sentence))?;
        let last =
            |name: &str| url.query_pairs().filter(|(key, _)| key == name).last().map(|(_, value)| value.into_owned());
        let order_number = last("OrderNumber").unwrap_or_default();
        let mut checks = Checks::default();
        checks.required("OrderNumber", &order_number);
        checks.finish()?;
        Ok(Self { order_number, status_code: last("statusCode").filter(|code| !code.is_empty()) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_gateways_own_parameters_are_the_last_ones() {
        let redirect = ReturnRedirect::parse("https://s.kg/r?OrderNumber=mine&OrderNumber=a%26b%20%D1%8F").unwrap();
        assert_eq!((redirect.order_number.as_str(), redirect.status_code), ("a&b я", None));
    }

    #[test]
    fn what_names_no_order_is_refused() {
        for text in
            ["", "/r?OrderNumber=1", "https://s.kg/r", "https://s.kg/r?ordernumber=1", "https://s.kg/r?OrderNumber="]
        {
            assert!(matches!(ReturnRedirect::parse(text), Err(PaymentError::Invalid { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = ReturnRedirect::parse(&text);
            let _ = ReturnRedirect::parse(&format!("app://r?OrderNumber={text}"));
        }
    }
}
