//! Hints: callbacks, returns, apps that look. A hint makes a payment due, and settles nothing.

use super::{Book, Kept, changes::Changes, claims};
use crate::{
    pace::schedule::Class,
    payments::exchange::Exchange,
    storage::{inputs::Claim, outputs::HintNoted},
    values::{method::Method, states::PaymentState},
};

/// Somebody looks at a checkout: what is open of it is due.
pub(in crate::storage) fn look(changes: &mut Changes, book: &mut Book) -> HintNoted {
    make_due(changes, book.payments.iter_mut().filter(|kept| is_open(kept)))
}

/// A callback came about one of its payments, with the number that it claims for a pay-form, and with what of it could not be
/// read. Also about what has ended: money may come after a rejection, and a second time after a charge.
pub(in crate::storage) fn call_back(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    claim: Option<&Claim>,
    exchange: Option<&Exchange>,
) -> HintNoted {
    let kept = &mut book.payments[at];
    let is_pay_form = kept.payment.method == Method::PayForm;
    if let Some(claim) = claim.filter(|_| is_pay_form)
        && !claims::keep(changes, kept, claim)
    {
        return HintNoted::TooManyClaims;
    }
    if let Some(exchange) = exchange {
        changes.note_exchange(&kept.payment.id, exchange, None);
    }
    let is_to_ask = kept.payment.state != PaymentState::Charged || (is_pay_form && kept.has_claim_to_ask());
    make_due(changes, Some(kept).filter(|_| is_to_ask).into_iter())
}

/// Who only looks has no news of what has ended; but a charge in doubt is nobody's last word: the gateway may have put it right.
fn is_open(kept: &Kept) -> bool {
    let may_be_asked_about = kept.payment.method == Method::PayForm || kept.payment.reference.can_be_asked_about();
    let has_ended = kept.payment.state.is_final() && !kept.payment.state.is_in_doubt();
    may_be_asked_about && !has_ended
}

fn make_due<'a>(changes: &mut Changes, payments: impl Iterator<Item = &'a mut Kept>) -> HintNoted {
    let mut made_due = 0;
    for kept in payments {
        if matches!(kept.payment.state, PaymentState::Prepared | PaymentState::Sending) {
            // A callback can come before the create call returned. Nobody is asked about what may not be there yet.
            kept.is_hinted = true;
            kept.touched.rest = true;
        } else {
            changes.make_due(&kept.payment.id, changes.now, Class::Hinted, changes.now);
        }
        made_due += 1;
    }
    HintNoted::Due(made_due)
}
