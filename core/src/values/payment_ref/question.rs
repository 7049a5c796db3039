//! Status queries of a payment: by which of its numbers it is asked about (`docs/outcomes.md#asking-again`).

use crate::values::{
    payment_ref::{PaymentKind, PaymentRef},
    provider::Provider,
};

#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// By the gateway's own number.
    GatewayNumber(String),
    /// By the merchant's number and the provider.
    OrderNumber(String, Provider),
    /// By the QR transaction, for QR payments alone.
    Transaction(String),
}

impl Question {
    /// The surest question about a payment, if there is any.
    pub(crate) fn about(payment: &PaymentRef) -> Option<Self> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        // A payment of another kind has none: what stands there is a mistake, and would ask about somebody else's.
        let is_qr = payment.kind == PaymentKind::Qr;
        let by_transaction = given(&payment.transaction_id).filter(|_| is_qr).map(Self::Transaction);
        let by_gateway_number = || given(&payment.gateway_number).map(Self::GatewayNumber);
        let by_order_number = || {
            let provider = payment.provider.clone().filter(|provider| !matches!(provider, Provider::Other(_)))?;
            given(&payment.order_number).map(|number| Self::OrderNumber(number, provider))
        };
        by_transaction.or_else(by_gateway_number).or_else(by_order_number)
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl PaymentRef {
    /// True where there is something to ask the gateway with: the transaction id of a QR payment, the gateway's number,
    /// or the merchant's number with a provider that can be asked. Only such a payment can be watched.
    pub fn can_be_asked_about(&self) -> bool {
        Question::about(self).is_some()
    }
}
