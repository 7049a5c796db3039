//! What an app keeps so that it can ask about a payment again.

use std::{fmt, str::FromStr};

use form_urlencoded::Serializer;

use crate::{error::PaymentError, provider::Provider, rules::invalid, violation::Rule};

/// The version of the text form. A text of another version is refused, not guessed at.
const PREFIX: &str = "kassa1:";

/// Everything needed to ask about a payment again, and no secret: an app stores it **before** it sends the payment, and can
/// then find out what happened even after it was killed.
///
/// It has a short text form, which is meant to be stored as it is:
///
/// ```
/// use kassa::PaymentRef;
///
/// let payment = PaymentRef::card("order-1");
/// let stored = payment.to_string();
/// assert_eq!(stored, "kassa1:kind=card&order=order-1&provider=Cards");
/// assert_eq!(stored.parse::<PaymentRef>().unwrap(), payment);
/// ```
///
/// [`Gateway::watch`](crate::Gateway::watch) asks by the gateway's number where it is known, by the merchant's number and the
/// provider otherwise, and by the transaction id for QR payments.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaymentRef {
    /// What kind of payment it is.
    pub kind: PaymentKind,
    /// The merchant's order number; for a pay-form the number that its callback or return redirect names.
    pub order_number: Option<String>,
    /// The gateway's own order number, where it is known.
    pub gateway_number: Option<String>,
    /// Who carries the payment out.
    pub provider: Option<Provider>,
    /// The identifier of a QR transaction.
    pub transaction_id: Option<String>,
}

/// The kinds of payment.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaymentKind {
    /// A card payment made with card data.
    Card,
    /// A mobile-bank payment.
    Mbank,
    /// A payment made on the hosted pay-form.
    PayForm,
    /// A dynamic QR payment.
    Qr,
}

impl PaymentKind {
    const ALL: [Self; 4] = [Self::Card, Self::Mbank, Self::PayForm, Self::Qr];

    fn name(self) -> &'static str {
        match self {
            Self::Card => "card",
            Self::Mbank => "mbank",
            Self::PayForm => "pay_form",
            Self::Qr => "qr",
        }
    }
}

impl fmt::Display for PaymentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PaymentRef {
    /// A card payment, by the merchant's order number.
    pub fn card(order_number: impl Into<String>) -> Self {
        Self::by_order(PaymentKind::Card, order_number, Provider::Cards)
    }

    /// A mobile-bank payment, by the merchant's order number.
    pub fn mbank(order_number: impl Into<String>) -> Self {
        Self::by_order(PaymentKind::Mbank, order_number, Provider::MBank)
    }

    /// A payment made on a pay-form, by the order number and the provider that its callback names.
    pub fn pay_form(order_number: impl Into<String>, provider: Provider) -> Self {
        Self::by_order(PaymentKind::PayForm, order_number, provider)
    }

    /// A QR payment, by its transaction id.
    pub fn qr(transaction_id: impl Into<String>) -> Self {
        Self { transaction_id: Some(transaction_id.into()), ..Self::unnumbered(PaymentKind::Qr) }
    }

    /// A payment of which nothing is known yet but its kind: on a pay-form, or by the gateway's own QR picture. It can be asked
    /// about once a callback or a return has told its number.
    pub fn unnumbered(kind: PaymentKind) -> Self {
        Self { kind, order_number: None, gateway_number: None, provider: None, transaction_id: None }
    }

    /// The same payment, with the gateway's own order number.
    #[must_use]
    pub fn with_gateway_number(self, gateway_number: impl Into<String>) -> Self {
        Self { gateway_number: Some(gateway_number.into()), ..self }
    }

    /// False where the gateway can only mean another payment by this number. Nobody shows whose number a report names, the gateway's
    /// own or the merchant's, so both have to be known for that.
    pub(crate) fn may_be_called(&self, number: &str) -> bool {
        match (&self.order_number, &self.gateway_number) {
            (Some(order), Some(gateway)) => [Some(order), Some(gateway), self.transaction_id.as_ref()]
                .into_iter()
                .flatten()
                .any(|known| known == number),
            _ => true,
        }
    }

    fn by_order(kind: PaymentKind, order_number: impl Into<String>, provider: Provider) -> Self {
        Self { order_number: Some(order_number.into()), provider: Some(provider), ..Self::unnumbered(kind) }
    }
}

/// The text form: a version, then the fields that are there, encoded as a query.
impl fmt::Display for PaymentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut query = Serializer::new(String::new());
        query.append_pair("kind", self.kind.name());
        let fields = [
            ("order", self.order_number.as_deref()),
            ("gateway", self.gateway_number.as_deref()),
            ("provider", self.provider.as_ref().map(Provider::name)),
            ("transaction", self.transaction_id.as_deref()),
        ];
        for (name, value) in fields {
            value.into_iter().for_each(|value| {
                query.append_pair(name, value);
            });
        }
        write!(f, "{PREFIX}{}", query.finish())
    }
}

/// Reads the text form back.
///
/// # Errors
/// [`PaymentError::Invalid`] for a text of another version, with an unknown or doubled field, or without a kind.
impl FromStr for PaymentRef {
    type Err = PaymentError;

    fn from_str(text: &str) -> Result<Self, PaymentError> {
        let query = text.strip_prefix(PREFIX).ok_or_else(|| malformed("must begin with kassa1:"))?;
        let mut kind = None;
        let mut fields: [(&str, Option<String>); 4] =
            [("order", None), ("gateway", None), ("provider", None), ("transaction", None)];
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = if name == "kind" {
                &mut kind
            } else {
                let known = fields.iter_mut().find(|(known, _)| *known == name);
                &mut known.ok_or_else(|| malformed("has a field that this version does not know"))?.1
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(malformed("has a field twice"));
            }
        }
        let kind = PaymentKind::ALL.into_iter().find(|known| Some(known.name()) == kind.as_deref());
        let [order, gateway, provider, transaction] = fields.map(|(_, value)| value);
        Ok(Self {
            kind: kind.ok_or_else(|| malformed("has no kind that this version knows"))?,
            order_number: order,
            gateway_number: gateway,
            provider: provider.map(|name| Provider::from_name(&name)),
            transaction_id: transaction,
        })
    }
}

fn malformed(sentence: &str) -> PaymentError {
    invalid("paymentRef", Rule::Format, None, sentence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_are_not_understood_are_refused() {
        for text in [
            "",
            "order-1",
            "kassa2:kind=card",
            "kassa1:",
            "kassa1:kind=cheque&order=1",
            "kassa1:kind=card&order=1&order=2",
            "kassa1:kind=card&colour=red",
        ] {
            assert!(matches!(text.parse::<PaymentRef>(), Err(PaymentError::Invalid { .. })), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_reference_survives_its_text(order in any::<String>(), gateway in any::<Option<String>>(), other in "[^cCmM].*") {
            let mut payment = PaymentRef::pay_form(order, Provider::Other(other));
            payment.gateway_number = gateway;
            let text = payment.to_string();
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(text.parse::<PaymentRef>().unwrap(), payment);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = text.parse::<PaymentRef>();
            let _ = format!("kassa1:{text}").parse::<PaymentRef>();
        }
    }
}
