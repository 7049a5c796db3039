//! Serialization of a reference (serde): its fields by their names. It rejects the same values as the text form.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::payment_ref::{PaymentKind, PaymentRef, report::Provider};

#[derive(Serialize, Deserialize)]
pub(super) struct Form {
    kind: PaymentKind,
    order_number: Option<String>,
    gateway_number: Option<String>,
    provider: Option<Provider>,
    transaction_id: Option<String>,
    confirm_identifier: Option<String>,
    #[serde(default, with = "crate::serialized::optional_decimal")]
    amount: Option<Decimal>,
    currency: Option<String>,
    /// Written only if it is true, as in the text form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_claimed: Option<bool>,
    /// Likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry_id: Option<String>,
    /// Likewise. A reference of an earlier version lacks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transaction_from_code: Option<bool>,
}

/// The transaction of a payment of another kind is left out, as in the text form: it would be refused when it is read.
impl From<PaymentRef> for Form {
    fn from(payment: PaymentRef) -> Self {
        let transaction_from_code = payment.has_transaction_from_code().then_some(true);
        let PaymentRef { kind, order_number, gateway_number, provider, .. } = payment;
        Self {
            kind,
            order_number,
            gateway_number,
            provider,
            transaction_id: payment.transaction_id.filter(|_| kind == PaymentKind::Qr),
            confirm_identifier: payment.confirm_identifier,
            amount: payment.amount,
            currency: payment.currency,
            is_claimed: payment.is_claimed.then_some(true),
            entry_id: payment.entry_id,
            transaction_from_code,
        }
    }
}

impl TryFrom<Form> for PaymentRef {
    type Error = &'static str;

    fn try_from(form: Form) -> Result<Self, Self::Error> {
        if form.transaction_id.is_some() && form.kind != PaymentKind::Qr {
            return Err("paymentRef has a transaction, which a QR payment alone can have");
        }
        let transaction_from_code = form.transaction_from_code.unwrap_or(false);
        if transaction_from_code && form.transaction_id.is_none() {
            return Err("paymentRef has no transaction that could be from a code");
        }
        Ok(Self {
            kind: form.kind,
            order_number: form.order_number,
            gateway_number: form.gateway_number,
            provider: form.provider,
            transaction_id: form.transaction_id,
            confirm_identifier: form.confirm_identifier,
            amount: form.amount,
            currency: form.currency,
            is_claimed: form.is_claimed.unwrap_or(false),
            entry_id: form.entry_id,
            transaction_from_code,
        })
    }
}
