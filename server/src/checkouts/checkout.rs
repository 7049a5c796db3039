//! A checkout, as it is kept.

use std::collections::BTreeMap;

use kassa::Decimal;

use crate::{
    payments::payment::Payment,
    values::{
        Millis,
        hidden::Hidden,
        ids::{CheckoutId, PaymentId},
        method::Method,
        states::CheckoutState,
    },
};

/// What a shop wants paid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkout {
    /// Its identifier.
    pub id: CheckoutId,
    /// The shop's own reference, such as the number of the order. No two checkouts have the same one.
    pub reference: String,
    /// The amount, in units of the currency.
    pub amount: Decimal,
    /// The currency's three letters.
    pub currency: String,
    /// What is paid for.
    pub description: String,
    /// The ways to pay that are allowed.
    pub methods: Vec<Method>,
    /// Where the payer returns to.
    pub return_url: String,
    /// The shop's own texts, which come back in every answer.
    pub metadata: BTreeMap<String, String>,
    /// Where it stands.
    pub state: CheckoutState,
    /// Grows with everything that happens to it or to its payments.
    pub version: i64,
    /// When it was opened.
    pub opened_at: Millis,
    /// When it expires.
    pub expires_at: Millis,
    /// The payment that paid it.
    pub paid_by: Option<PaymentId>,
    /// More than one of its payments was charged.
    pub is_overpaid: bool,
    /// How many payments were too many, of which nobody has said yet that the money was given back.
    pub refunds_due: u32,
    /// The address, known to the gateway alone, to which it sends its callbacks.
    pub(crate) callback_secret: Hidden,
    /// The end of its hosted page's address: who has it may pay, and sees how it stands.
    pub(crate) page_secret: Hidden,
}

/// A checkout with its payments, the first one first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutView {
    /// The checkout.
    pub checkout: Checkout,
    /// Its payments.
    pub payments: Vec<Payment>,
}

impl CheckoutView {
    pub(crate) fn new(checkout: Checkout, payments: Vec<Payment>) -> Self {
        Self { checkout, payments }
    }

    /// One of its payments.
    pub fn payment(&self, id: &PaymentId) -> Option<&Payment> {
        self.payments.iter().find(|payment| payment.id == *id)
    }
}
