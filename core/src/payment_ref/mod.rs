//! Payment reference: the record that an app stores before it sends, so that it can query a payment after a crash and
//! check that the response is about it.

pub(crate) mod report;
#[cfg(feature = "serde")]
mod serialized;

use rust_decimal::Decimal;
use strum::{Display, EnumString};
use uuid::Uuid;

use crate::{
    currency::{KGS, KGS_DECIMALS},
    payment_ref::report::Provider,
    violation::{Advice, AdviceTopic},
};

/// Everything needed to query a payment **and to check that the response is about it**, without secrets. Store it
/// **before** sending the payment, so that you can find out what happened even after the program was killed or crashed.
///
/// Take it from the request ([`CardPayment::payment_ref`](crate::CardPayment::payment_ref) and the like), store it,
/// send, and replace it with the reference in the answer, which may hold more numbers. Store its short text form
/// unchanged:
///
/// ```
/// use kassa::{Decimal, PaymentRef};
///
/// let payment = PaymentRef::card("order-1", Decimal::new(10010, 2), "KGS");
/// let stored = payment.to_string();
/// assert_eq!(stored, "kassa1:kind=card&order=order-1&provider=Cards&amount=100.10&currency=KGS");
/// assert_eq!(stored.parse::<PaymentRef>().unwrap(), payment);
/// ```
///
/// [`Gateway::check`](crate::Gateway::check) and [`Gateway::watch`](crate::Gateway::watch) query by the transaction for QR payments, else
/// by the gateway's number if it is known, else by the merchant's number and the provider. If a final status queried by the gateway's
/// number does not name the merchant's number, Kassa also queries by the merchant's number. Kassa compares the gateway's report with the
/// amount and the currency of the reference.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "serialized::Form", into = "serialized::Form")
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PaymentRef {
    /// The kind of payment.
    pub kind: PaymentKind,
    /// The merchant's order number; for a pay-form the number that its callback or return redirect names.
    pub order_number: Option<String>,
    /// The gateway's own order number, if it is known, and not another payment's according to the [`Journal`](crate::Journal).
    pub gateway_number: Option<String>,
    /// The provider that processes the payment.
    pub provider: Option<Provider>,
    /// The identifier of a QR transaction.
    pub transaction_id: Option<String>,
    /// The identifier from the response to a mobile-bank payment that its confirmation needs, **as JSON**: `"abc"` with its quotes, or
    /// `123`. Present if the dialect names it.
    pub confirm_identifier: Option<String>,
    /// The requested amount, in units of the currency (for KGS: som); absent if it is not known, as for a QR code of an
    /// open amount.
    pub amount: Option<Decimal>,
    /// The requested currency.
    pub currency: Option<String>,
    /// True if the order number, or the transaction of a QR payment, is not the merchant's own choice but was only
    /// claimed by a callback or a return. **Anyone can claim**, so such a payment counts as charged only if the gateway
    /// reports the requested amount.
    pub is_claimed: bool,
    /// The id of the payment's entry in a [`Journal`](crate::Journal), if the payment has no number: of a pay-form or a
    /// QR code. The gateway never sees it.
    pub entry_id: Option<String>,
    /// True if the transaction of a QR payment was read from the code itself, after Kassa checked that the code requests the amount. Only
    /// the answer of [`create_qr_data`](crate::Gateway::create_qr_data) sets it. **A charge that is reported without an amount counts only
    /// for such a payment.**
    #[cfg_attr(feature = "uniffi", uniffi(default = false))]
    pub transaction_from_code: bool,
}

/// The kinds of payment.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentKind {
    /// A card payment made with card data.
    Card,
    /// A mobile-bank payment.
    Mbank,
    /// A payment from a MegaPay wallet, made with the payer's PIN.
    Megapay,
    /// A payment on the gateway's pay-form.
    PayForm,
    /// A dynamic QR payment.
    Qr,
}

impl PaymentRef {
    /// A card payment, by the merchant's order number, with the requested amount.
    pub fn card(order_number: impl Into<String>, amount: Decimal, currency: impl Into<String>) -> Self {
        let requested = Self { amount: Some(amount), currency: Some(currency.into()), ..Self::bare(PaymentKind::Card) };
        Self { order_number: Some(order_number.into()), provider: Some(Provider::Cards), ..requested }
    }

    /// A mobile-bank payment, by the merchant's order number, with the amount in **whole som**.
    pub fn mbank(order_number: impl Into<String>, amount_som: i64) -> Self {
        let requested = Self::in_som(PaymentKind::Mbank, Some(amount_som.into()));
        Self { order_number: Some(order_number.into()), provider: Some(Provider::MBank), ..requested }
    }

    /// A payment from a MegaPay wallet, by the merchant's order number, with the amount in KGS without the commission.
    pub fn megapay(order_number: impl Into<String>, amount: Decimal) -> Self {
        let asked_for = Self::in_som(PaymentKind::Megapay, Some(amount));
        Self { order_number: Some(order_number.into()), provider: Some(Provider::MegaPay), ..asked_for }
    }

    /// A payment on a pay-form, with the amount in KGS. It has no number until a callback or a return claims one, and
    /// cannot be queried before: see [`with_claimed_number`](Self::with_claimed_number).
    pub fn pay_form(amount: Decimal) -> Self {
        Self::in_som(PaymentKind::PayForm, Some(amount))
    }

    /// A payment by a dynamic QR code, with the amount in **whole tyiyn** if the code has one. It has no transaction
    /// yet: see [`with_transaction_id`](Self::with_transaction_id).
    pub fn qr(sum_tyiyn: Option<i64>) -> Self {
        Self::in_som(PaymentKind::Qr, sum_tyiyn.map(|tyiyn| Decimal::new(tyiyn, KGS_DECIMALS)))
    }

    /// The same payment, with the gateway's own order number.
    #[must_use]
    pub fn with_gateway_number(self, gateway_number: impl Into<String>) -> Self {
        Self { gateway_number: Some(gateway_number.into()), ..self }
    }

    /// The same QR payment, with the identifier of its transaction, from the response to the request for the code.
    #[must_use]
    pub fn with_transaction_id(self, transaction_id: impl Into<String>) -> Self {
        Self { transaction_id: Some(transaction_id.into()), transaction_from_code: false, ..self }
    }

    /// The same payment, with the order number and the provider that a callback or a return claims. Without a provider,
    /// every provider is queried.
    ///
    /// **One payment pays for one order.** A payer who paid once, also by card, can claim that payment for another cart of the same amount.
    /// Remember the numbers of all payments, your own and claimed ones, and accept none twice (replay).
    #[must_use]
    pub fn with_claimed_number(self, order_number: impl Into<String>, provider: Option<Provider>) -> Self {
        Self { order_number: Some(order_number.into()), provider, is_claimed: true, ..self }
    }

    /// The same payment of a pay-form or a QR code, with the id of its entry in a journal. Give the request the same id
    /// ([`PayForm::with_entry_id`](crate::PayForm::with_entry_id)): for a reference that goes into a [signed address](crate::CallbackKey)
    /// before the request is made.
    #[must_use]
    pub fn with_entry_id(self, entry_id: impl Into<String>) -> Self {
        Self { entry_id: Some(entry_id.into()), ..self }
    }

    /// True if only a claim connects a number with the payment. The number of a pay-form is never the merchant's
    /// choice, even if it was stored since.
    pub(crate) fn has_only_a_claimed_number(&self) -> bool {
        self.is_claimed || self.kind == PaymentKind::PayForm
    }

    /// True if the transaction was read from a checked code. In a reference without a transaction, or of another kind, the flag has no
    /// meaning.
    pub(crate) fn has_transaction_from_code(&self) -> bool {
        self.transaction_from_code && self.kind == PaymentKind::Qr && self.transaction_id.is_some()
    }

    /// Whether an order number is one of this payment's: a gateway may name its own or the merchant's. `None` if
    /// neither is known, as for a QR payment, which has a transaction id instead.
    pub(crate) fn is_called(&self, number: &str) -> Option<bool> {
        let is_known = self.order_number.is_some() || self.gateway_number.is_some();
        let numbers = [&self.order_number, &self.gateway_number, &self.transaction_id];
        is_known.then(|| numbers.into_iter().flatten().any(|known| known == number))
    }

    /// Whether another reference belongs to the same request: by its entry or the merchant's own numbers, and by the
    /// requested values.
    pub(crate) fn is_same_request(&self, other: &Self) -> bool {
        let requested = |payment: &Self| (payment.kind, payment.amount, payment.currency.clone());
        let is_named_alike = match (&self.entry_id, &other.entry_id) {
            (Some(own), Some(other)) => own == other,
            _ => self.own_numbers() == other.own_numbers(),
        };
        is_named_alike && requested(self) == requested(other)
    }

    /// The numbers that identify the payment, without claimed ones.
    fn own_numbers(&self) -> Option<(Option<&str>, Option<&str>)> {
        let is_own = !self.has_only_a_claimed_number();
        is_own.then_some((self.order_number.as_deref(), self.transaction_id.as_deref()))
    }

    /// Adds reported numbers that were not known, and the newest claimed number.
    pub(crate) fn learn_numbers(&mut self, other: &Self) {
        let learn =
            |own: &mut Option<String>, reported: &Option<String>| *own = own.take().or_else(|| reported.clone());
        learn(&mut self.gateway_number, &other.gateway_number);
        learn(&mut self.confirm_identifier, &other.confirm_identifier);
        let has_none = self.order_number.is_none() && self.transaction_id.is_none();
        if other.is_claimed && (self.is_claimed || has_none) {
            self.order_number.clone_from(&other.order_number);
            self.transaction_id.clone_from(&other.transaction_id);
            self.transaction_from_code = other.transaction_from_code;
            self.provider.clone_from(&other.provider);
            self.is_claimed = true;
        }
    }

    pub(crate) fn bare(kind: PaymentKind) -> Self {
        Self {
            kind,
            order_number: None,
            gateway_number: None,
            provider: None,
            transaction_id: None,
            confirm_identifier: None,
            amount: None,
            currency: None,
            is_claimed: false,
            entry_id: None,
            transaction_from_code: false,
        }
    }

    fn in_som(kind: PaymentKind, amount: Option<Decimal>) -> Self {
        Self { amount, currency: Some(KGS.to_owned()), ..Self::bare(kind) }
    }
}

// Status queries of a payment: by which of its numbers the gateway is queried (`docs/outcomes.md#status-queries`).

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StatusQuery {
    /// By the gateway's own number.
    GatewayNumber(String),
    /// By the merchant's number and the provider.
    OrderNumber(String, Provider),
    /// By the QR transaction, for QR payments alone.
    Transaction(String),
}

impl StatusQuery {
    /// All queries for a payment, the most reliable one first (fallback).
    pub(crate) fn all_for(payment: &PaymentRef) -> Vec<Self> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        // A payment of another kind has no transaction. A value there is a mistake, and would query another payment.
        let is_qr = payment.kind == PaymentKind::Qr;
        let by_transaction = given(&payment.transaction_id).filter(|_| is_qr).map(Self::Transaction);
        let by_gateway_number = given(&payment.gateway_number).map(Self::GatewayNumber);
        let by_order_number = given(&payment.order_number).into_iter().flat_map(|number| {
            providers(payment).into_iter().map(move |provider| Self::OrderNumber(number.clone(), provider))
        });
        by_transaction.into_iter().chain(by_gateway_number).chain(by_order_number).collect()
    }
}

/// The providers that may know a payment by its order number. On a pay-form the payer chooses, and may choose again, so all of them may;
/// the claimed one comes first.
fn providers(payment: &PaymentRef) -> Vec<Provider> {
    let named = payment.provider.iter().filter(|provider| !matches!(provider, Provider::Other(_))).cloned();
    let of_its_kind = match payment.kind {
        PaymentKind::Card => vec![Provider::Cards],
        PaymentKind::Mbank => vec![Provider::MBank],
        PaymentKind::Megapay => vec![Provider::MegaPay],
        PaymentKind::PayForm => {
            let others = [Provider::Cards, Provider::MBank, Provider::MegaPay];
            let others = others.into_iter().filter(|other| Some(other) != payment.provider.as_ref());
            return named.chain(others).collect();
        }
        PaymentKind::Qr => Vec::new(),
    };
    let named: Vec<_> = named.collect();
    if named.is_empty() { of_its_kind } else { named }
}

impl PaymentRef {
    /// True if the payment has a number to query by: the transaction of a QR payment, the gateway's number, or an order number. Only such a
    /// payment can be checked or watched.
    pub fn can_be_checked(&self) -> bool {
        !StatusQuery::all_for(self).is_empty()
    }
}

// Order numbers: the merchant's unique identifier of a payment. They are not idempotency keys, because the interface does not show what
// happens if one is used twice (`docs/interface.md#what-is-not-shown`).

/// A new order number that no other call will ever return (UUID version 7): 32 of the characters 0-9 and a-f, beginning
/// with the time, so that order numbers sort by when they were made.
///
/// ```
/// let order = kassa::new_order_number();
/// assert_eq!(order.len(), 32);
/// assert_ne!(order, kassa::new_order_number());
/// ```
pub fn new_order_number() -> String {
    Uuid::now_v7().simple().to_string()
}

/// Source: the recommendation on order numbers (`docs/interface.md#order-numbers`).
pub(crate) fn advice_on_characters(order_number: &str) -> Option<Advice> {
    let recommended = order_number.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (!recommended).then(|| Advice {
        field: "orderNumber".to_owned(),
        topic: AdviceTopic::OrderNumberCharacters,
        text: "orderNumber has characters other than A-Z a-z 0-9 - _, which can fail on the way or in storage"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;

    #[test]
    fn most_reliable_query_comes_first() {
        let by_order = |provider: Provider| StatusQuery::OrderNumber("1".into(), provider);
        let card = PaymentRef::card("1", Decimal::TEN, "KGS");
        assert_eq!(StatusQuery::all_for(&card), [by_order(Provider::Cards)]);
        let both = [StatusQuery::GatewayNumber("g".into()), by_order(Provider::Cards)];
        assert_eq!(StatusQuery::all_for(&card.with_gateway_number("g")), both);
        let form = PaymentRef::pay_form(Decimal::TEN);
        assert_eq!(StatusQuery::all_for(&form), []);
        let chosen = form.clone().with_claimed_number("1", Some(Provider::MegaPay));
        let chosen_first = [by_order(Provider::MegaPay), by_order(Provider::Cards), by_order(Provider::MBank)];
        assert_eq!(StatusQuery::all_for(&chosen), chosen_first);
        let any = [by_order(Provider::Cards), by_order(Provider::MBank), by_order(Provider::MegaPay)];
        for provider in [None, Some(Provider::Other("ELSOM".into()))] {
            assert_eq!(StatusQuery::all_for(&form.clone().with_claimed_number("1", provider)), any);
        }
        assert!(!PaymentRef::qr(None).can_be_checked());
        let code = PaymentRef::qr(None).with_transaction_id("t");
        assert_eq!(StatusQuery::all_for(&code), [StatusQuery::Transaction("t".into())]);
    }
}
