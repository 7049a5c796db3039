//! Status queries of a payment: by which of its numbers it is asked about (`docs/outcomes.md#asking-again`).

use crate::values::{
    payment_ref::{PaymentKind, PaymentRef},
    provider::Provider,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// By the gateway's own number.
    GatewayNumber(String),
    /// By the merchant's number and the provider.
    OrderNumber(String, Provider),
    /// By the QR transaction, for QR payments alone.
    Transaction(String),
}

impl Question {
    /// All questions that there are about a payment, the surest one first (fallback).
    pub(crate) fn all_about(payment: &PaymentRef) -> Vec<Self> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        // A payment of another kind has none: what stands there is a mistake, and would ask about somebody else's.
        let is_qr = payment.kind == PaymentKind::Qr;
        let by_transaction = given(&payment.transaction_id).filter(|_| is_qr).map(Self::Transaction);
        let by_gateway_number = given(&payment.gateway_number).map(Self::GatewayNumber);
        let by_order_number = given(&payment.order_number).into_iter().flat_map(|number| {
            providers(payment).into_iter().map(move |provider| Self::OrderNumber(number.clone(), provider))
        });
        by_transaction.into_iter().chain(by_gateway_number).chain(by_order_number).collect()
    }
}

/// Who may know a payment by its order number. On a pay-form the payer chooses, and may choose again, so all of them may,
/// the one that was claimed first.
fn providers(payment: &PaymentRef) -> Vec<Provider> {
    let named = payment.provider.iter().filter(|provider| !matches!(provider, Provider::Other(_))).cloned();
    let of_its_kind = match payment.kind {
        PaymentKind::Card => vec![Provider::Cards],
        PaymentKind::Mbank => vec![Provider::MBank],
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
    /// True where there is something to ask the gateway with: the transaction of a QR payment, the gateway's number, or
    /// an order number. Only such a payment can be checked or watched.
    pub fn can_be_checked(&self) -> bool {
        !Question::all_about(self).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;

    #[test]
    fn the_surest_question_comes_first() {
        let by_order = |provider: Provider| Question::OrderNumber("1".into(), provider);
        let card = PaymentRef::card("1", Decimal::TEN, "KGS");
        assert_eq!(Question::all_about(&card), [by_order(Provider::Cards)]);
        let both = [Question::GatewayNumber("g".into()), by_order(Provider::Cards)];
        assert_eq!(Question::all_about(&card.with_gateway_number("g")), both);
        let form = PaymentRef::pay_form(Decimal::TEN);
        assert_eq!(Question::all_about(&form), []);
        let chosen = form.clone().with_claimed_number("1", Some(Provider::MegaPay));
        let chosen_first = [by_order(Provider::MegaPay), by_order(Provider::Cards), by_order(Provider::MBank)];
        assert_eq!(Question::all_about(&chosen), chosen_first);
        let any = [by_order(Provider::Cards), by_order(Provider::MBank), by_order(Provider::MegaPay)];
        for provider in [None, Some(Provider::Other("ELSOM".into()))] {
            assert_eq!(Question::all_about(&form.clone().with_claimed_number("1", provider)), any);
        }
        assert!(!PaymentRef::qr(None).can_be_checked());
        let code = PaymentRef::qr(None).with_transaction_id("t");
        assert_eq!(Question::all_about(&code), [Question::Transaction("t".into())]);
    }
}
