//! Payments that are begun, sent and confirmed.

use kassa::PaymentRef;

use super::{
    Book, Kept,
    changes::{Changes, KeyUse, Number, Numbers, Touched},
    happening::{Why, happen},
    hints::{doubt_what_has_no_number, has_number, leave_unknown_word_to_a_person},
    telling::{Told, tell},
};
use crate::{
    events::kind::EventKind,
    pace::schedule::Class,
    payments::{
        machine::Happened,
        payment::{Failure, MOST_REPLACED, Payment},
    },
    storage::{
        error::StorageError,
        inputs::{BeginConfirmation, BeginPayment, ConfirmResult, Confirmed, Key, SendResult, Sent, TakePrepared},
        outputs::{Begun, ConfirmationBegun, Recorded, Taken},
    },
    values::{
        Millis,
        ids::PaymentId,
        method::Method,
        states::{CheckoutState, PaymentState},
    },
};

/// After which time a payment that the gateway accepted is first asked about: the interface's interval.
const FIRST_QUESTION_MS: Millis = 10_000;
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
enum Used {
    Never,
    For(PaymentId),
    ForSomethingElse,
}

fn used(known: Option<KnownKey>, key: Option<&Key>) -> Used {
    match (known, key) {
        (Some(known), Some(key)) if known.fingerprint == key.fingerprint => Used::For(known.payment),
        (Some(_), Some(_)) => Used::ForSomethingElse,
        _ => Used::Never,
    }
}

/// The numbers that beginning a payment may take.
pub(in crate::storage) fn numbers_of_begun(begin: &BeginPayment) -> Vec<Number> {
    begin.reference.order_number.iter().map(|number| Number::order(number)).collect()
}

/// The numbers that the gateway's answer may take.
pub(in crate::storage) fn numbers_of_sent(sent: &Sent) -> Vec<Number> {
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
pub(in crate::storage) fn numbers_of_confirmed(confirmed: &Confirmed) -> Vec<Number> {
    match &confirmed.result {
        ConfirmResult::Sent { reference: Some(reference) } => Number::all_of(reference),
        _ => Vec::new(),
    }
}

/// Writes a payment down.
pub(in crate::storage) fn begin(
    changes: &mut Changes,
    book: &mut Book,
    known: Option<KnownKey>,
    begin: &BeginPayment,
) -> Result<Begun, StorageError> {
    book.check()?;
    match used(known, begin.key.as_ref()) {
        Used::ForSomethingElse => return Ok(Begun::KeyReused),
        Used::For(id) => return book.payment(&id).map(|payment| Begun::Again(payment.into())),
        Used::Never => {}
    }
    match book.state_by_now(changes.now) {
        CheckoutState::Open => {}
        state => return Ok(Begun::NotOpen(state)),
    }
    let left = begin.instead_of.as_ref().and_then(|id| book.place(id));
    let left = left.filter(|at| book.payments[*at].payment.can_be_replaced());
    let shown = to_show_again(&book.payments, begin.method, left);
    if let (Some(same), None) = (&shown, left) {
        changes.use_key(book, begin.key.as_ref(), &same.id, KeyUse::ToShowAgain);
        return Ok(Begun::Again(same.clone().into()));
    }
    // A pay-form holds back nothing, and neither does what its payer left, unless a charge of it is in doubt: then its payer has
    // probably paid.
    let holds_back = |(at, kept): &(usize, &Kept)| {
        let Payment { state, method, is_replaced, .. } = kept.payment;
        let is_left = is_replaced || left == Some(*at);
        state.is_in_doubt() || (method != Method::PayForm && !is_left && state.may_take_money())
    };
    if let Some((_, other)) = book.payments.iter().enumerate().find(holds_back) {
        return Ok(Begun::UnderWay(other.payment.state));
    }
    if left.is_some() && book.payments.iter().filter(|kept| kept.payment.is_replaced).count() >= MOST_REPLACED {
        return Ok(Begun::NoAttemptsLeft);
    }
    if let (Some(same), Some(at)) = (shown, left) {
        replace(changes, book, at)?;
        changes.use_key(book, begin.key.as_ref(), &same.id, KeyUse::ToShowAgain);
        return Ok(Begun::Again(same.into()));
    }
    let tried = book.payments.len();
    if tried >= MOST_PAYMENTS || (begin.method == Method::Card && tried_cards(&book.payments) >= begin.card_attempts) {
        return Ok(Begun::NoAttemptsLeft);
    }
    let is_sent_at_once = begin.is_sent_at_once && changes.pauses.wait(begin.method, changes.now).is_none();
    if is_sent_at_once {
        changes.pauses.sent(begin.method, changes.now);
    }
    // One that is certainly not sent takes nothing from its payer.
    if let Some(at) = left
        && (is_sent_at_once || begin.method.may_wait())
    {
        replace(changes, book, at)?;
    }
    book.payments.push(new(begin, tried + 1, is_sent_at_once, changes.now));
    // Nobody else's claim pays with a number of our own.
    if let Some(number) = &begin.reference.order_number {
        changes.numbers.take(&Number::order(number), &begin.id);
    }
    changes.use_key(book, begin.key.as_ref(), &begin.id, KeyUse::ToSend);
    tell(changes, book, EventKind::PaymentCreated, &Told { payment: Some(tried), ..Told::default() })?;
    if !is_sent_at_once && !begin.method.may_wait() {
        not_made(changes, book, tried, &Failure::of_kind("Unavailable"))?;
    }
    Ok(Begun::New(book.payments[tried].payment.clone().into()))
}

impl Book {
    /// Another payment of which a charge is reported that cannot be believed: its payer has probably paid.
    fn in_doubt_beside(&self, at: usize) -> Option<PaymentState> {
        let others = self.payments.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, kept)| kept.payment.state).find(|state| state.is_in_doubt())
    }

    /// One that must be there.
    fn payment(&self, id: &PaymentId) -> Result<Payment, StorageError> {
        let found = self.place(id).map(|at| self.payments[at].payment.clone());
        found.ok_or(StorageError::Damaged { what: "payment's identifier" })
    }
}

/// Its payer went another way. **From here on it is not confirmed**, whoever asks for it; the gateway's report ends it.
fn replace(changes: &mut Changes, book: &mut Book, at: usize) -> Result<(), StorageError> {
    let kept = &mut book.payments[at];
    kept.payment.is_replaced = true;
    kept.touched.rest = true;
    tell(changes, book, EventKind::PaymentReplaced, &Told { payment: Some(at), ..Told::default() })
}

/// A page or a code that the payer may open again, instead of a second one; none that is left.
fn to_show_again(others: &[Kept], method: Method, left: Option<usize>) -> Option<Payment> {
    let is_live = |(at, kept): &(usize, &Kept)| {
        let Payment { state, is_replaced, .. } = kept.payment;
        kept.payment.method == method
            && !is_replaced
            && left != Some(*at)
            && matches!(state, PaymentState::Prepared | PaymentState::Sending | PaymentState::Awaiting)
    };
    let live = || others.iter().enumerate().find(is_live).map(|(_, kept)| kept.payment.clone());
    (!method.moves_money()).then(live).flatten()
}

/// How many cards the gateway may have looked at: who tries many wants to know which are good (card testing).
fn tried_cards(others: &[Kept]) -> u32 {
    let was_tried = |payment: &&Payment| {
        let kind = payment.failure.as_ref().map(|failure| failure.kind.as_str());
        let is_unsent =
            payment.state == PaymentState::NotMade && kind.is_some_and(|kind| NEVER_LOOKED_AT.contains(&kind));
        payment.method == Method::Card && !is_unsent
    };
    u32::try_from(others.iter().map(|kept| &kept.payment).filter(was_tried).count()).unwrap_or(u32::MAX)
}

fn new(begin: &BeginPayment, number: usize, is_sent_at_once: bool, now: Millis) -> Kept {
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
    Kept {
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
        touched: Touched { is_new: true, ..Touched::default() },
    }
}

/// Takes a payment that waited, to send it now.
pub(in crate::storage) fn take_prepared(
    changes: &mut Changes,
    book: &mut Book,
    take: &TakePrepared,
) -> Result<Taken, StorageError> {
    book.check()?;
    let Some(at) = book.place(&take.payment) else { return Ok(Taken::Gone) };
    let method = book.payments[at].payment.method;
    if let Some(wait) = changes.pauses.wait(method, changes.now) {
        return Ok(Taken::Wait(wait));
    }
    let is_its_sender = book.payments[at].sender == take.sender;
    if is_its_sender && book.in_doubt_beside(at).is_some() {
        happen(changes, book, at, Happened::PreparedTooLong, Why::of("InDoubt"))?;
        return Ok(Taken::Gone);
    }
    if is_its_sender && book.state_by_now(changes.now) != CheckoutState::Open {
        // It was paid meanwhile, on a page that was open.
        happen(changes, book, at, Happened::PreparedTooLong, Why::of("NotOpen"))?;
        return Ok(Taken::Gone);
    }
    if !is_its_sender || !happen(changes, book, at, Happened::SendingTaken, Why::default())? {
        return Ok(Taken::Gone);
    }
    book.payments[at].until = changes.now.saturating_add(take.send_for_ms);
    changes.pauses.sent(method, changes.now);
    Ok(Taken::Send)
}

/// What its sender alone can say (fencing).
pub(in crate::storage) fn record_send_outcome(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    sent: &Sent,
) -> Result<Recorded, StorageError> {
    if book.payments[at].sender != sent.sender {
        return Ok(Recorded { payment: book.payments[at].payment.clone(), is_changed: false });
    }
    if let Some(exchange) = &sent.exchange {
        changes.note_exchange(&sent.payment, exchange, Some(&sent.sender));
    }
    note_pause(changes, book.payments[at].payment.method, &sent.result);
    let is_changed = match &sent.result {
        SendResult::Accepted { reference, page_url, qr_text } => {
            let is_own = |numbers: &mut Numbers, number: Number| numbers.take(&number, &sent.payment);
            let transaction = reference.transaction_id.as_deref().map(Number::transaction);
            let has_own_transaction = transaction.is_none_or(|number| is_own(&mut changes.numbers, number));
            let shown = shown_once(reference, page_url, qr_text);
            let has_own_page = shown.is_none_or(|shown| is_own(&mut changes.numbers, Number::page(shown)));
            // The gateway gave one transaction, page or code twice: no second payer is shown it.
            match (has_own_transaction, has_own_page) {
                (false, _) => not_made(changes, book, at, &Failure::of_kind("TransactionTwice"))?,
                (true, false) if !book.payments[at].payment.method.moves_money() => {
                    let kind = if page_url.is_some() { "PageTwice" } else { "CodeTwice" };
                    not_made(changes, book, at, &Failure::of_kind(kind))?
                }
                (true, false) => accepted(changes, book, at, reference, (&None, qr_text))?,
                (true, true) => accepted(changes, book, at, reference, (page_url, qr_text))?,
            }
        }
        SendResult::NothingHappened { failure, .. } => not_made(changes, book, at, failure)?,
        SendResult::Unknown { reference } => {
            let is_changed = happen(changes, book, at, Happened::OutcomeUnknown, Why::default())?;
            if is_changed {
                book.payments[at].note_reference(changes, reference);
            }
            is_changed
        }
    };
    if is_changed {
        ask_from_now_on(changes, book, at)?;
    }
    Ok(Recorded { payment: book.payments[at].payment.clone(), is_changed })
}

/// A gateway that asks to wait pauses its method; any other response ends the pause. No response leaves it as it is.
fn note_pause(changes: &mut Changes, method: Method, result: &SendResult) {
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
    book: &mut Book,
    at: usize,
    reference: &PaymentRef,
    (page_url, qr_text): (&Option<String>, &Option<String>),
) -> Result<bool, StorageError> {
    // Before: whether its payer has something to do says whether its checkout may end.
    let before = std::mem::replace(&mut book.payments[at].payment.page_url, page_url.clone());
    if !happen(changes, book, at, Happened::Accepted, Why::default())? {
        book.payments[at].payment.page_url = before;
        return Ok(false);
    }
    let kept = &mut book.payments[at];
    kept.note_reference(changes, reference);
    kept.payment.qr_text.clone_from(qr_text);
    kept.touched.reference = true;
    Ok(true)
}

fn not_made(changes: &mut Changes, book: &mut Book, at: usize, failure: &Failure) -> Result<bool, StorageError> {
    let happened = happen(changes, book, at, Happened::CertainlyNothing, Why::of(&failure.kind))?;
    if happened {
        book.payments[at].note_failure(failure);
    }
    Ok(happened)
}

/// Follows a payment that is no longer being sent. What was hinted at meanwhile is asked about at once.
pub(super) fn ask_from_now_on(changes: &mut Changes, book: &mut Book, at: usize) -> Result<(), StorageError> {
    let kept = &book.payments[at];
    let (payment, now) = (&kept.payment, changes.now);
    if matches!(payment.state, PaymentState::NotMade | PaymentState::Awaiting) && kept.is_hinted && !has_number(payment)
    {
        doubt_what_has_no_number(changes, book, at)?;
        return Ok(());
    }
    // A callback with a word that the dialect does not know came while the code was made.
    if payment.method == Method::Qr && payment.state == PaymentState::Awaiting && payment.is_stuck {
        if !has_number(payment) {
            return leave_unknown_word_to_a_person(changes, book, at);
        }
        let kept = &mut book.payments[at];
        kept.touch_state();
        kept.payment.is_stuck = false;
        changes.make_due(&kept.payment, now, Class::Hinted, now);
        return Ok(());
    }
    let (at, class) = match payment.state {
        _ if kept.is_hinted => (now, Class::Hinted),
        PaymentState::Unknown => (now, Class::Fresh),
        // Its payer has nothing to do: the gateway knows the end by now.
        PaymentState::Awaiting if payment.method == Method::Card && payment.page_url.is_none() => (now, Class::Fresh),
        PaymentState::Awaiting if payment.reference.can_be_checked() => {
            (now.saturating_add(FIRST_QUESTION_MS), Class::Fresh)
        }
        // The gateway refused it, and may have acted all the same. Or it waited too long to be sent, as this database knows: put
        // back to an earlier moment, it has forgotten what was sent since.
        PaymentState::NotMade if payment.method.moves_money() && may_have_been_sent(payment) => {
            (now.saturating_add(FIRST_QUESTION_MS), Class::Fresh)
        }
        _ => return Ok(()),
    };
    changes.make_due(payment, at, class, now);
    Ok(())
}

fn may_have_been_sent(payment: &Payment) -> bool {
    payment.failure.as_ref().is_none_or(|failure| !NEVER_LOOKED_AT.contains(&failure.kind.as_str()))
}

/// Writes down that a one-time password is about to be sent.
pub(in crate::storage) fn begin_confirmation(
    changes: &mut Changes,
    book: &mut Book,
    known: Option<KnownKey>,
    begin: &BeginConfirmation,
) -> Result<ConfirmationBegun, StorageError> {
    book.check()?;
    let Some(at) = book.place(&begin.payment) else { return Ok(ConfirmationBegun::Nowhere) };
    match used(known, begin.key.as_ref()) {
        Used::For(id) if id == begin.payment => {
            return Ok(ConfirmationBegun::Again(book.payments[at].payment.clone().into()));
        }
        Used::For(_) | Used::ForSomethingElse => return Ok(ConfirmationBegun::KeyReused),
        Used::Never => {}
    }
    match book.state_by_now(changes.now) {
        CheckoutState::Open => {}
        state => return Ok(ConfirmationBegun::NotOpen(state)),
    }
    if let Some(state) = book.in_doubt_beside(at) {
        return Ok(ConfirmationBegun::UnderWay(state));
    }
    let before = book.payments[at].payment.state;
    // What its payer left is never confirmed any more.
    if book.payments[at].payment.is_replaced {
        return Ok(ConfirmationBegun::NotAwaited(before));
    }
    if before == PaymentState::Awaiting && book.payments[at].payment.attempts_left == 0 {
        return Ok(ConfirmationBegun::NoAttemptsLeft);
    }
    if !happen(changes, book, at, Happened::ConfirmationBegun, Why::default())? {
        return Ok(ConfirmationBegun::NotAwaited(before));
    }
    changes.use_key(book, begin.key.as_ref(), &begin.payment, KeyUse::ToSend);
    let kept = &mut book.payments[at];
    kept.sender.clone_from(&begin.sender);
    kept.touched.rest = true;
    Ok(ConfirmationBegun::New(kept.payment.clone().into()))
}

/// What its sender alone can say. Where the password was sent, or may have been, there is no second one: the gateway's
/// report ends it.
pub(in crate::storage) fn record_confirmation(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    confirmed: &Confirmed,
) -> Result<Recorded, StorageError> {
    if book.payments[at].sender != confirmed.sender {
        return Ok(Recorded { payment: book.payments[at].payment.clone(), is_changed: false });
    }
    if let Some(exchange) = &confirmed.exchange {
        changes.note_exchange(&confirmed.payment, exchange, Some(&confirmed.sender));
    }
    let is_changed = match &confirmed.result {
        ConfirmResult::Sent { reference } => {
            let kept = &mut book.payments[at];
            if kept.payment.state == PaymentState::Confirming {
                if let Some(reference) = reference {
                    kept.note_reference(changes, reference);
                }
                changes.make_due(&kept.payment, changes.now, Class::Hinted, changes.now);
            }
            false
        }
        ConfirmResult::Refused { failure } => not_confirmed(changes, book, at, failure, 1)?,
        ConfirmResult::NothingHappened { failure } => not_confirmed(changes, book, at, failure, 0)?,
    };
    Ok(Recorded { payment: book.payments[at].payment.clone(), is_changed })
}

fn not_confirmed(
    changes: &mut Changes,
    book: &mut Book,
    at: usize,
    failure: &Failure,
    attempts: u32,
) -> Result<bool, StorageError> {
    let happened = happen(changes, book, at, Happened::NotConfirmed, Why::of(&failure.kind))?;
    if happened {
        let kept = &mut book.payments[at];
        kept.note_failure(failure);
        kept.payment.attempts_left = kept.payment.attempts_left.saturating_sub(attempts);
    }
    Ok(happened)
}
