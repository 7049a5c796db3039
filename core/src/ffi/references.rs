//! Constructors of payment references, as functions: records have none in the generated code. What takes or holds an
//! amount is fallible, because other languages can put a number into it that is none here.

use rust_decimal::Decimal;

use crate::{PaymentError, PaymentRef, Provider};

/// A card payment, by the merchant's order number, with what was asked for.
#[uniffi::export]
fn card_payment_ref(order_number: String, amount: Decimal, currency: String) -> Result<PaymentRef, PaymentError> {
    Ok(PaymentRef::card(order_number, amount, currency))
}

/// A mobile-bank payment, by the merchant's order number, with the amount in whole som.
#[uniffi::export]
fn mbank_payment_ref(order_number: String, amount_som: i64) -> PaymentRef {
    PaymentRef::mbank(order_number, amount_som)
}

/// A payment on a pay-form, with the amount in KGS. It has no number until a callback or a return claims one.
#[uniffi::export]
fn pay_form_payment_ref(amount: Decimal) -> Result<PaymentRef, PaymentError> {
    Ok(PaymentRef::pay_form(amount))
}

/// A payment by a dynamic QR code, with the amount in whole tyiyn where the code has one. It has no transaction yet.
#[uniffi::export]
fn qr_payment_ref(sum_tyiyn: Option<i64>) -> PaymentRef {
    PaymentRef::qr(sum_tyiyn)
}

#[uniffi::export]
impl PaymentRef {
    /// The same payment, with the gateway's own order number.
    #[uniffi::method(name = "with_gateway_number")]
    fn and_gateway_number(&self, gateway_number: String) -> Result<Self, PaymentError> {
        Ok(self.clone().with_gateway_number(gateway_number))
    }

    /// The same QR payment, with the identifier of its transaction, as the response to the request for the code told it.
    #[uniffi::method(name = "with_transaction_id")]
    fn and_transaction_id(&self, transaction_id: String) -> Result<Self, PaymentError> {
        Ok(self.clone().with_transaction_id(transaction_id))
    }

    /// The same payment, with the order number and the provider that a callback or a return claims. Without a provider,
    /// each one is asked. One payment pays for one order: accept a claimed number only once.
    #[uniffi::method(name = "with_claimed_number")]
    fn and_claimed_number(&self, order_number: String, provider: Option<Provider>) -> Result<Self, PaymentError> {
        Ok(self.clone().with_claimed_number(order_number, provider))
    }
}
