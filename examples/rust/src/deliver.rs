//! Delivers what was paid for.
//!
//! A charged payment stays in the journal's list until it is finished, so that a program that dies before delivering finds
//! it again. It may die between the two steps as well: a shop's own delivery must do nothing where it is repeated.

use kassa::PaymentRef;

use crate::{narrator::Narrator, setup::Checkout};

/// Delivers what a charged payment was for, unless that was done before, and finishes its entry.
pub(crate) async fn deliver(shop: &Checkout, narrator: &Narrator, payment: &PaymentRef) {
    let entry = match shop.payments.undelivered(payment) {
        Ok(Some(entry)) => entry,
        // Made elsewhere, or delivered already.
        Ok(None) => return,
        Err(error) => {
            return narrator.warn("deliver", &format!("not now, the entry stays unfinished: {}", error.describe()));
        }
    };
    let what = entry.note.as_deref().unwrap_or(&entry.id);
    narrator.step("deliver", &format!("the goods of {what}; then finish the payment in the journal"));
    if let Err(error) = shop.gateway.finish(&entry.id).await {
        narrator.warn("journal", &format!("the entry stays unfinished: {}", error.describe()));
    }
}
