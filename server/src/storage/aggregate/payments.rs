//! Payments that are begun, sent and confirmed.

use kassa::PaymentRef;

use super::{
    Cause, CheckoutAggregate, EventDetails, PaymentRow, apply,
    changes::{Changes, DirtyFields, KeyUse, Number, Numbers},
    hints::{doubt_unpollable, escalate_unknown_status, has_number},
    record_event,
};
use crate::{
    events::EventKind,
    pace::Class,
    payments::{Failure, MOST_REPLACED, Payment, machine::Trigger},
    storage::{
        StorageError,
        inputs::{
            BeginConfirmation, BeginPayment, ConfirmResult, ConfirmationOutcome, Key, SendOutcome, SendResult,
            TakePrepared,
        },
        outputs::{RecordedPayment, SendTurn},
    },
    values::{CheckoutState, Method, Millis, PaymentId, PaymentState, error::ServerError},
};

/// After which time a payment that the gateway accepted is first asked about: the interface's interval.
const FIRST_POLL_MS: Millis = 10_000;
/// Far more than a payer needs; all payments of a checkout are read with it.
const MOST_PAYMENTS: usize = 50;
/// What a payment fails with that never got to the gateway, or for which it had no time.
const NEVER_LOOKED_AT: [&str; 2] = ["Unavailable", "Interrupted"];

/// What an idempotency key has been used for.
pub(in crate::storage) struct KnownKey {
    pub(in crate::storage) fingerprint: Vec<u8>,
    pub(in crate::storage) payment: PaymentId,
}

/// The same, with what came with it compared.
enum KeyMatch {
    Never,
    For(PaymentId),
    ForSomethingElse,
}

fn used(known: Option<KnownKey>, key: Option<&Key>) -> KeyMatch {
    match (known, key) {
        (Some(known), Some(key)) if known.fingerprint == key.fingerprint => KeyMatch::For(known.payment),
        (Some(_), Some(_)) => KeyMatch::ForSomethingElse,
        _ => KeyMatch::Never,
    }
}

/// The numbers that beginning a payment may take.
pub(in crate::storage) fn numbers_of_begun(begin: &BeginPayment) -> Vec<Number> {
    begin.reference.order_number.iter().map(|number| Number::order(number)).collect()
}

/// The numbers that the gateway's answer may take.
pub(in crate::storage) fn numbers_of_sent(sent: &SendOutcome) -> Vec<Number> {
    match &sent.result {
        SendResult::Accepted { reference, page_url, qr_text } => {
            let page = shown_once(reference, page_url, qr_text).map(Number::page);
            Number::all_of(reference).into_iter().chain(page).collect()
        }
        SendResult::Unknown { reference } => Number::all_of(reference),
        SendResult::NothingHappened { .. } => Vec::new(),
    }
}

/// What no second payer may be shown: a page, or a code that no transaction tells from others.
fn shown_once<'a>(
    reference: &PaymentRef,
    page_url: &'a Option<String>,
    qr_text: &'a Option<String>,
) -> Option<&'a str> {
    let code = qr_text.as_deref().filter(|_| reference.transaction_id.is_none());
    page_url.as_deref().or(code)
}

/// The same of a confirmation's.
pub(in crate::storage) fn numbers_of_confirmed(confirmed: &ConfirmationOutcome) -> Vec<Number> {
    match &confirmed.result {
        ConfirmResult::Sent { reference: Some(reference) } => Number::all_of(reference),
        _ => Vec::new(),
    }
}

/// Records a payment before it is sent.
pub(in crate::storage) fn begin(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    known: Option<KnownKey>,
    begin: &BeginPayment,
) -> Result<RecordedPayment, StorageError> {
    aggregate.check()?;
    match used(known, begin.key.as_ref()) {
        KeyMatch::ForSomethingElse => return Err(ServerError::KeyReused.into()),
        KeyMatch::For(id) => return aggregate.payment(&id).map(RecordedPayment::unchanged),
        KeyMatch::Never => {}
    }
    match aggregate.state_by_now(changes.now) {
        CheckoutState::Open => {}
        state => return Err(ServerError::NotOpen { state }.into()),
    }
    let left = begin.instead_of.as_ref().and_then(|id| aggregate.place(id));
    let left = left.filter(|at| aggregate.payments[*at].payment.can_be_replaced());
    let shown = reusable_payment(&aggregate.payments, begin.method, left);
    if let (Some(same), None) = (&shown, left) {
        changes.use_key(aggregate, begin.key.as_ref(), &same.id, KeyUse::ToShowAgain);
        return Ok(RecordedPayment::unchanged(same));
    }
    // A pay-form holds back nothing, and neither does what its payer left, unless a charge of it is in doubt: then its payer has
    // probably paid.
    let holds_back = |(at, row): &(usize, &PaymentRow)| {
        let Payment { state, method, is_replaced, .. } = row.payment;
        let is_left = is_replaced || left == Some(*at);
        state.is_in_doubt() || (method != Method::PayForm && !is_left && state.may_take_money())
    };
    if let Some((_, other)) = aggregate.payments.iter().enumerate().find(holds_back) {
        return Err(ServerError::UnderWay { state: other.payment.state }.into());
    }
    if left.is_some() && aggregate.payments.iter().filter(|row| row.payment.is_replaced).count() >= MOST_REPLACED {
        return Err(ServerError::NoAttemptsLeft.into());
    }
    if let (Some(same), Some(at)) = (shown, left) {
        replace(changes, aggregate, at)?;
        changes.use_key(aggregate, begin.key.as_ref(), &same.id, KeyUse::ToShowAgain);
        return Ok(RecordedPayment::unchanged(&same));
    }
    let tried = aggregate.payments.len();
    if tried >= MOST_PAYMENTS
        || (begin.method == Method::Card && tried_cards(&aggregate.payments) >= begin.card_attempts)
    {
        return Err(ServerError::NoAttemptsLeft.into());
    }
    let is_sent_at_once = begin.is_sent_at_once && changes.pauses.wait(begin.method, changes.now).is_none();
    if is_sent_at_once {
        changes.pauses.sent(begin.method, changes.now);
    }
    // One that is certainly not sent takes nothing from its payer.
    if let Some(at) = left
        && (is_sent_at_once || begin.method.may_wait())
    {
        replace(changes, aggregate, at)?;
    }
    aggregate.payments.push(new(begin, tried + 1, is_sent_at_once, changes.now));
    // Nobody else's claim pays with a number of our own.
    if let Some(number) = &begin.reference.order_number {
        changes.numbers.take(&Number::order(number), &begin.id);
    }
    changes.use_key(aggregate, begin.key.as_ref(), &begin.id, KeyUse::ToSend);
    record_event(
        changes,
        aggregate,
        EventKind::PaymentCreated,
        &EventDetails { payment: Some(tried), ..EventDetails::default() },
    )?;
    if !is_sent_at_once && !begin.method.may_wait() {
        not_made(changes, aggregate, tried, &Failure::of_kind("Unavailable"))?;
    }
    Ok(RecordedPayment::changed(&aggregate.payments[tried].payment))
}

impl CheckoutAggregate {
    /// Another payment of which a charge is reported that cannot be believed: its payer has probably paid.
    fn in_doubt_beside(&self, at: usize) -> Option<PaymentState> {
        let others = self.payments.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, row)| row.payment.state).find(|state| state.is_in_doubt())
    }

    /// One that must be there.
    fn payment(&self, id: &PaymentId) -> Result<&Payment, StorageError> {
        let found = self.place(id).map(|at| &self.payments[at].payment);
        found.ok_or(StorageError::Damaged { what: "payment's identifier" })
    }
}

/// Its payer went another way. **From here on it is not confirmed**, whoever asks for it; the gateway's report ends it.
fn replace(changes: &mut Changes, aggregate: &mut CheckoutAggregate, at: usize) -> Result<(), StorageError> {
    let row = &mut aggregate.payments[at];
    row.payment.is_replaced = true;
    row.dirty.rest = true;
    record_event(
        changes,
        aggregate,
        EventKind::PaymentReplaced,
        &EventDetails { payment: Some(at), ..EventDetails::default() },
    )
}

/// A page or a code that the payer may open again, instead of a second one; none that is left.
fn reusable_payment(others: &[PaymentRow], method: Method, left: Option<usize>) -> Option<Payment> {
    let is_live = |(at, row): &(usize, &PaymentRow)| {
        let Payment { state, is_replaced, .. } = row.payment;
        row.payment.method == method
            && !is_replaced
            && left != Some(*at)
            && matches!(state, PaymentState::Prepared | PaymentState::Sending | PaymentState::Awaiting)
    };
    let live = || others.iter().enumerate().find(is_live).map(|(_, row)| row.payment.clone());
    (!method.moves_money()).then(live).flatten()
}

/// How many cards the gateway may have looked at: who tries many wants to know which are good (card testing).
fn tried_cards(others: &[PaymentRow]) -> u32 {
    let was_tried = |payment: &&Payment| {
        let kind = payment.failure.as_ref().map(|failure| failure.kind.as_str());
        let is_unsent =
            payment.state == PaymentState::NotMade && kind.is_some_and(|kind| NEVER_LOOKED_AT.contains(&kind));
        payment.method == Method::Card && !is_unsent
    };
    u32::try_from(others.iter().map(|row| &row.payment).filter(was_tried).count()).unwrap_or(u32::MAX)
}

fn new(begin: &BeginPayment, number: usize, is_sent_at_once: bool, now: Millis) -> PaymentRow {
    let (state, time) = match is_sent_at_once {
        true => (PaymentState::Sending, begin.send_for_ms),
        false => (PaymentState::Prepared, begin.wait_for_ms),
    };
    let payment = Payment {
        number: u32::try_from(number).unwrap_or(u32::MAX),
        state,
        card_last4: begin.card_last4.clone(),
        phone_last2: begin.phone_last2.clone(),
        attempts_left: begin.attempts,
        begun_at: now,
        ..Payment::new(begin.id.clone(), begin.checkout.clone(), begin.method, begin.reference.clone())
    };
    PaymentRow {
        payment,
        sender: begin.sender.clone(),
        until: now.saturating_add(time),
        unknown_since: None,
        is_hinted: false,
        mismatches: 0,
        mismatch_at: 0,
        is_resolved: false,
        events: 0,
        due_since: None,
        claims: Vec::new(),
        dropped_claims: Vec::new(),
        dirty: DirtyFields { is_new: true, ..DirtyFields::default() },
    }
}

/// Takes a payment that waited, to send it now.
pub(in crate::storage) fn take_prepared(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    take: &TakePrepared,
) -> Result<SendTurn, StorageError> {
    aggregate.check()?;
    let Some(at) = aggregate.place(&take.payment) else { return Ok(SendTurn::Gone) };
    let method = aggregate.payments[at].payment.method;
    if let Some(wait) = changes.pauses.wait(method, changes.now) {
        return Ok(SendTurn::Wait(wait));
    }
    let is_its_sender = aggregate.payments[at].sender == take.sender;
    if is_its_sender && aggregate.in_doubt_beside(at).is_some() {
        apply(changes, aggregate, at, Trigger::PreparedTooLong, Cause::of("InDoubt"))?;
        return Ok(SendTurn::Gone);
    }
    if is_its_sender && aggregate.state_by_now(changes.now) != CheckoutState::Open {
        // It was paid meanwhile, on a page that was open.
        apply(changes, aggregate, at, Trigger::PreparedTooLong, Cause::of("NotOpen"))?;
        return Ok(SendTurn::Gone);
    }
    if !is_its_sender || !apply(changes, aggregate, at, Trigger::SendingTaken, Cause::default())? {
        return Ok(SendTurn::Gone);
    }
    aggregate.payments[at].until = changes.now.saturating_add(take.send_for_ms);
    changes.pauses.sent(method, changes.now);
    Ok(SendTurn::Send)
}

/// What its sender alone can say (fencing).
pub(in crate::storage) fn record_send_outcome(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    sent: &SendOutcome,
) -> Result<RecordedPayment, StorageError> {
    if aggregate.payments[at].sender != sent.sender {
        return Ok(RecordedPayment::unchanged(&aggregate.payments[at].payment));
    }
    if let Some(exchange) = &sent.exchange {
        changes.record_exchange(&sent.payment, exchange, Some(&sent.sender));
    }
    update_pause(changes, aggregate.payments[at].payment.method, &sent.result);
    let is_changed = match &sent.result {
        SendResult::Accepted { reference, page_url, qr_text } => {
            let is_own = |numbers: &mut Numbers, number: Number| numbers.take(&number, &sent.payment);
            let transaction = reference.transaction_id.as_deref().map(Number::transaction);
            let has_own_transaction = transaction.is_none_or(|number| is_own(&mut changes.numbers, number));
            let shown = shown_once(reference, page_url, qr_text);
            let has_own_page = shown.is_none_or(|shown| is_own(&mut changes.numbers, Number::page(shown)));
            // The gateway gave one transaction, page or code twice: no second payer is shown it.
            match (has_own_transaction, has_own_page) {
                (false, _) => not_made(changes, aggregate, at, &Failure::of_kind("TransactionTwice"))?,
                (true, false) if !aggregate.payments[at].payment.method.moves_money() => {
                    let kind = if page_url.is_some() { "PageTwice" } else { "CodeTwice" };
                    not_made(changes, aggregate, at, &Failure::of_kind(kind))?
                }
                (true, false) => accepted(changes, aggregate, at, reference, (&None, qr_text))?,
                (true, true) => accepted(changes, aggregate, at, reference, (page_url, qr_text))?,
            }
        }
        SendResult::NothingHappened { failure, .. } => not_made(changes, aggregate, at, failure)?,
        SendResult::Unknown { reference } => {
            let is_changed = apply(changes, aggregate, at, Trigger::OutcomeUnknown, Cause::default())?;
            if is_changed {
                aggregate.payments[at].update_reference(changes, reference);
            }
            is_changed
        }
    };
    if is_changed {
        schedule_first_poll(changes, aggregate, at)?;
    }
    Ok(RecordedPayment { payment: aggregate.payments[at].payment.clone(), is_changed })
}

/// A gateway that asks to wait pauses its method; any other response ends the pause. No response leaves it as it is.
fn update_pause(changes: &mut Changes, method: Method, result: &SendResult) {
    match result {
        SendResult::NothingHappened { retry_after: Some(wait), .. } => {
            changes.pauses.refused(method, *wait, changes.now);
        }
        SendResult::NothingHappened { failure, .. } if NEVER_LOOKED_AT.contains(&failure.kind.as_str()) => {}
        SendResult::Unknown { .. } => {}
        SendResult::Accepted { .. } | SendResult::NothingHappened { .. } => changes.pauses.answered(method),
    }
}

fn accepted(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    reference: &PaymentRef,
    (page_url, qr_text): (&Option<String>, &Option<String>),
) -> Result<bool, StorageError> {
    // Before: whether its payer has something to do says whether its checkout may end.
    let before = std::mem::replace(&mut aggregate.payments[at].payment.page_url, page_url.clone());
    if !apply(changes, aggregate, at, Trigger::Accepted, Cause::default())? {
        aggregate.payments[at].payment.page_url = before;
        return Ok(false);
    }
    let row = &mut aggregate.payments[at];
    row.update_reference(changes, reference);
    row.payment.qr_text.clone_from(qr_text);
    row.dirty.reference = true;
    Ok(true)
}

fn not_made(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    failure: &Failure,
) -> Result<bool, StorageError> {
    let trigger = apply(changes, aggregate, at, Trigger::CertainlyNothing, Cause::of(&failure.kind))?;
    if trigger {
        aggregate.payments[at].record_failure(failure);
    }
    Ok(trigger)
}

/// Follows a payment that is no longer being sent. What was hinted at meanwhile is asked about at once.
pub(super) fn schedule_first_poll(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
) -> Result<(), StorageError> {
    let row = &aggregate.payments[at];
    let (payment, now) = (&row.payment, changes.now);
    if matches!(payment.state, PaymentState::NotMade | PaymentState::Awaiting) && row.is_hinted && !has_number(payment)
    {
        doubt_unpollable(changes, aggregate, at)?;
        return Ok(());
    }
    // A callback with a word that the dialect does not know came while the code was made.
    if payment.method == Method::Qr && payment.state == PaymentState::Awaiting && payment.is_stuck {
        if !has_number(payment) {
            return escalate_unknown_status(changes, aggregate, at);
        }
        let row = &mut aggregate.payments[at];
        row.mark_state_dirty();
        row.payment.is_stuck = false;
        changes.make_due(&row.payment, now, Class::Hinted, now);
        return Ok(());
    }
    let (at, class) = match payment.state {
        _ if row.is_hinted => (now, Class::Hinted),
        PaymentState::Unknown => (now, Class::Fresh),
        // Its payer has nothing to do: the gateway knows the end by now.
        PaymentState::Awaiting if payment.method == Method::Card && payment.page_url.is_none() => (now, Class::Fresh),
        PaymentState::Awaiting if payment.reference.can_be_checked() => {
            (now.saturating_add(FIRST_POLL_MS), Class::Fresh)
        }
        // The gateway refused it, and may have acted all the same. Or it waited too long to be sent, as this database knows: put
        // back to an earlier moment, it has forgotten what was sent since.
        PaymentState::NotMade if payment.method.moves_money() && may_have_been_sent(payment) => {
            (now.saturating_add(FIRST_POLL_MS), Class::Fresh)
        }
        _ => return Ok(()),
    };
    changes.make_due(payment, at, class, now);
    Ok(())
}

fn may_have_been_sent(payment: &Payment) -> bool {
    payment.failure.as_ref().is_none_or(|failure| !NEVER_LOOKED_AT.contains(&failure.kind.as_str()))
}

/// Records that a one-time password is about to be sent.
pub(in crate::storage) fn begin_confirmation(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    known: Option<KnownKey>,
    begin: &BeginConfirmation,
) -> Result<RecordedPayment, StorageError> {
    aggregate.check()?;
    let at = aggregate.place(&begin.payment).ok_or(StorageError::not_found("payment"))?;
    match used(known, begin.key.as_ref()) {
        KeyMatch::For(id) if id == begin.payment => {
            return Ok(RecordedPayment::unchanged(&aggregate.payments[at].payment));
        }
        KeyMatch::For(_) | KeyMatch::ForSomethingElse => return Err(ServerError::KeyReused.into()),
        KeyMatch::Never => {}
    }
    match aggregate.state_by_now(changes.now) {
        CheckoutState::Open => {}
        state => return Err(ServerError::NotOpen { state }.into()),
    }
    if let Some(state) = aggregate.in_doubt_beside(at) {
        return Err(ServerError::UnderWay { state }.into());
    }
    let before = aggregate.payments[at].payment.state;
    // What its payer left is never confirmed any more.
    if aggregate.payments[at].payment.is_replaced {
        return Err(ServerError::NotAwaited { state: before }.into());
    }
    if before == PaymentState::Awaiting && aggregate.payments[at].payment.attempts_left == 0 {
        return Err(ServerError::NoAttemptsLeft.into());
    }
    if !apply(changes, aggregate, at, Trigger::ConfirmationBegun, Cause::default())? {
        return Err(ServerError::NotAwaited { state: before }.into());
    }
    changes.use_key(aggregate, begin.key.as_ref(), &begin.payment, KeyUse::ToSend);
    let row = &mut aggregate.payments[at];
    row.sender.clone_from(&begin.sender);
    row.dirty.rest = true;
    Ok(RecordedPayment::changed(&row.payment))
}

/// What its sender alone can say. Where the password was sent, or may have been, there is no second one: the gateway's
/// report ends it.
pub(in crate::storage) fn record_confirmation(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    confirmed: &ConfirmationOutcome,
) -> Result<RecordedPayment, StorageError> {
    if aggregate.payments[at].sender != confirmed.sender {
        return Ok(RecordedPayment::unchanged(&aggregate.payments[at].payment));
    }
    if let Some(exchange) = &confirmed.exchange {
        changes.record_exchange(&confirmed.payment, exchange, Some(&confirmed.sender));
    }
    let is_changed = match &confirmed.result {
        ConfirmResult::Sent { reference } => {
            let row = &mut aggregate.payments[at];
            if row.payment.state == PaymentState::Confirming {
                if let Some(reference) = reference {
                    row.update_reference(changes, reference);
                }
                changes.make_due(&row.payment, changes.now, Class::Hinted, changes.now);
            }
            false
        }
        ConfirmResult::Refused { failure } => not_confirmed(changes, aggregate, at, failure, 1)?,
        ConfirmResult::NothingHappened { failure } => not_confirmed(changes, aggregate, at, failure, 0)?,
    };
    Ok(RecordedPayment { payment: aggregate.payments[at].payment.clone(), is_changed })
}

fn not_confirmed(
    changes: &mut Changes,
    aggregate: &mut CheckoutAggregate,
    at: usize,
    failure: &Failure,
    attempts: u32,
) -> Result<bool, StorageError> {
    let trigger = apply(changes, aggregate, at, Trigger::NotConfirmed, Cause::of(&failure.kind))?;
    if trigger {
        let row = &mut aggregate.payments[at];
        row.record_failure(failure);
        row.payment.attempts_left = row.payment.attempts_left.saturating_sub(attempts);
    }
    Ok(trigger)
}
