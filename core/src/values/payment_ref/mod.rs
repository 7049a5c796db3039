//! Payment reference: what an app stores before it sends, so that it can ask about a payment again after a crash.

pub(crate) mod question;
mod text;

use strum::{Display, EnumString};

use crate::values::provider::Provider;

/// Everything needed to ask about a payment again, and no secret: an app stores it **before** it sends the payment, and
/// can then find out what happened even after it was killed.
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
/// [`Gateway::watch`](crate::Gateway::watch) asks by the gateway's number where it is known, by the merchant's number
/// and the provider otherwise, and by the transaction id for QR payments.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString)]
#[strum(serialize_all = "snake_case")]
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

    /// A payment of which nothing is known yet but its kind: on a pay-form, or by the gateway's own QR picture. It can
    /// be asked about once a callback or a return has told its number.
    pub fn unnumbered(kind: PaymentKind) -> Self {
        Self { kind, order_number: None, gateway_number: None, provider: None, transaction_id: None }
    }

    /// The same payment, with the gateway's own order number.
    #[must_use]
    pub fn with_gateway_number(self, gateway_number: impl Into<String>) -> Self {
        Self { gateway_number: Some(gateway_number.into()), ..self }
    }

    /// False where a report with this number can only be about another payment. The interface does not show whether a
    /// report names the gateway's number or the merchant's (`docs/interface.md#what-is-not-shown`), so that is certain
    /// only where both are known.
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
