//! Order numbers: the merchant's unique identifier of a payment. They are no idempotency keys, because the interface
//! does not show what happens to one that is used twice (`docs/interface.md#what-is-not-shown`).

use uuid::Uuid;

use crate::values::violation::{Advice, AdviceTopic};

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
