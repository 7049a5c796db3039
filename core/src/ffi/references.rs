//! Constructors of payment references, as functions: records have none in the generated code.

use crate::{PaymentKind, PaymentRef, Provider};

/// A card payment, by the merchant's order number.
#[uniffi::export]
fn card_payment_ref(order_number: String) -> PaymentRef {
    PaymentRef::card(order_number)
}

/// A mobile-bank payment, by the merchant's order number.
#[uniffi::export]
fn mbank_payment_ref(order_number: String) -> PaymentRef {
    PaymentRef::mbank(order_number)
}

/// A payment made on a pay-form, by the order number and the provider that its callback names.
#[uniffi::export]
fn pay_form_payment_ref(order_number: String, provider: Provider) -> PaymentRef {
    PaymentRef::pay_form(order_number, provider)
}

/// A QR payment, by its transaction id.
#[uniffi::export]
fn qr_payment_ref(transaction_id: String) -> PaymentRef {
    PaymentRef::qr(transaction_id)
}

/// A payment of which nothing is known yet but its kind. It can be asked about once a callback or a return has told its
/// number.
#[uniffi::export]
fn unnumbered_payment_ref(kind: PaymentKind) -> PaymentRef {
    PaymentRef::unnumbered(kind)
}

#[uniffi::export]
impl PaymentRef {
    /// The same payment, with the gateway's own order number.
    #[uniffi::method(name = "with_gateway_number")]
    fn and_gateway_number(&self, gateway_number: String) -> Self {
        self.clone().with_gateway_number(gateway_number)
    }
}
