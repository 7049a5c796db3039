//! Transactions about payments that are begun, sent and confirmed.

use rusqlite::{Connection, OptionalExtension};

use super::{
    changes::{happen, take_number},
    connection::now,
    due,
    exchanges::Noted,
    limit,
    outbox::{self, Told},
    rows::{self, Kept, kept_payment},
};
use crate::{
    checkouts::checkout::Checkout,
    events::kind::EventKind,
    pace::schedule::Class,
    payments::{exchange::Exchange, machine::Happened, payment::Failure, payment::Payment},
    storage::{
        error::StorageError,
        inputs::{BeginConfirmation, BeginPayment, ConfirmResult, Confirmed, Key, SendResult, Sent, TakePrepared},
        outputs::{Begun, ConfirmationBegun, Settled, Taken},
    },
    values::{
        Millis,
        ids::{CheckoutId, PaymentId},
        method::Method,
        states::{CheckoutState, PaymentState},
    },
};

/// After which time a payment that the gateway accepted is first asked about: the interface's interval.
const FIRST_QUESTION_MS: Millis = 10_000;
/// Far more than a payer needs; all payments of a checkout are read with it.
const MOST_PAYMENTS: usize = 50;
/// What a card payment fails with that never got to its card: the gateway was not reached, or has no time.
const TELLS_NOTHING_OF_A_CARD: [&str; 2] = ["Unavailable", "Interrupted"];

/// What a key has been used for.
enum Used {
    Never,
    For(PaymentId),
    ForSomethingElse,
}

fn used(db: &Connection, checkout: &CheckoutId, key: Option<&Key>) -> Result<Used, StorageError> {
    let Some(key) = key else { return Ok(Used::Never) };
    let known: Option<(Vec<u8>, String)> = db
        .prepare_cached("SELECT fingerprint, payment_id FROM idempotency WHERE checkout_id = ?1 AND key = ?2")?
        .query_row((checkout.as_str(), &key.text), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match known {
        None => Ok(Used::Never),
        Some((fingerprint, id)) if fingerprint == key.fingerprint => Ok(Used::For(rows::read(&id, "payment")?)),
        Some(_) => Ok(Used::ForSomethingElse),
    }
}

fn use_key(db: &Connection, checkout: &CheckoutId, key: Option<&Key>, payment: &PaymentId) -> Result<(), StorageError> {
    if let Some(key) = key {
        db.prepare_cached(
            "INSERT INTO idempotency (checkout_id, key, fingerprint, payment_id) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((checkout.as_str(), &key.text, &key.fingerprint, payment.as_str()))?;
    }
    Ok(())
}

/// Open also by the clock: who expires it may not have come to it yet.
fn state_by_now(checkout: &Checkout, now: Millis) -> CheckoutState {
    let has_expired = checkout.state == CheckoutState::Open && checkout.expires_at <= now;
    if has_expired { CheckoutState::Expired } else { checkout.state }
}

pub(super) fn begin(db: &Connection, begin: &BeginPayment) -> Result<Begun, StorageError> {
    match used(db, &begin.checkout, begin.key.as_ref())? {
        Used::ForSomethingElse => return Ok(Begun::KeyReused),
        Used::For(id) => return Ok(Begun::Again(kept_payment(db, &id)?.payment.into())),
        Used::Never => {}
    }
    let Some(checkout) = rows::checkout(db, &begin.checkout)? else { return Ok(Begun::Nowhere) };
    let now = now(db)?;
    match state_by_now(&checkout, now) {
        CheckoutState::Open => {}
        state => return Ok(Begun::NotOpen(state)),
    }
    let others = rows::payments_of(db, &begin.checkout)?;
    if let Some(same) = to_show_again(&others, begin.method) {
        use_key(db, &begin.checkout, begin.key.as_ref(), &same.id)?;
        return Ok(Begun::Again(same.clone().into()));
    }
    let may_take_money = |kept: &&Kept| kept.payment.method != Method::PayForm && kept.payment.state.may_take_money();
    if let Some(other) = others.iter().find(may_take_money) {
        return Ok(Begun::UnderWay(other.payment.state));
    }
    if others.len() >= MOST_PAYMENTS || (begin.method == Method::Card && tried_cards(&others) >= begin.card_attempts) {
        return Ok(Begun::NoAttemptsLeft);
    }
    let is_sent_at_once = begin.is_sent_at_once && limit::wait_of(db, now)?.is_none();
    let number = others.len() + 1;
    insert(db, begin, number, is_sent_at_once, now)?;
    use_key(db, &begin.checkout, begin.key.as_ref(), &begin.id)?;
    let mut kept = kept_payment(db, &begin.id)?;
    outbox::write(
        db,
        now,
        &begin.checkout,
        EventKind::PaymentCreated,
        &Told { payment: Some(&kept.payment), ..Told::default() },
    )?;
    if !is_sent_at_once && !begin.method.may_wait() {
        not_made(db, now, &mut kept, &Failure::of_kind("Unavailable"))?;
        kept = kept_payment(db, &begin.id)?;
    }
    Ok(Begun::New(kept.payment.into()))
}

/// A page or a code that the payer may open again, instead of a second one.
fn to_show_again(others: &[Kept], method: Method) -> Option<&Payment> {
    let is_live = |payment: &&Payment| {
        let state = payment.state;
        payment.method == method
            && matches!(state, PaymentState::Prepared | PaymentState::Sending | PaymentState::Awaiting)
    };
    (!method.moves_money()).then(|| others.iter().map(|kept| &kept.payment).find(is_live)).flatten()
}

/// How many cards the gateway may have looked at: who tries many wants to know which are good (card testing).
fn tried_cards(others: &[Kept]) -> u32 {
    let was_tried = |payment: &&Payment| {
        let kind = payment.failure.as_ref().map(|failure| failure.kind.as_str());
        let is_unsent =
            payment.state == PaymentState::NotMade && kind.is_some_and(|kind| TELLS_NOTHING_OF_A_CARD.contains(&kind));
        payment.method == Method::Card && !is_unsent
    };
    u32::try_from(others.iter().map(|kept| &kept.payment).filter(was_tried).count()).unwrap_or(u32::MAX)
}

fn insert(
    db: &Connection,
    begin: &BeginPayment,
    number: usize,
    is_sent_at_once: bool,
    now: Millis,
) -> Result<(), StorageError> {
    let (state, time) = match is_sent_at_once {
        true => (PaymentState::Sending, begin.send_for_ms),
        false => (PaymentState::Prepared, begin.wait_for_ms),
    };
    db.prepare_cached(
        "INSERT INTO payments (id, checkout_id, number, method, state, reference, order_number, begun_at, until,
            sender, attempts_left, card_last4)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(rusqlite::params![
        begin.id.as_str(),
        begin.checkout.as_str(),
        i64::try_from(number).unwrap_or(i64::MAX),
        <&str>::from(begin.method),
        <&str>::from(state),
        begin.reference.to_string(),
        begin.reference.order_number,
        now,
        now.saturating_add(time),
        begin.sender,
        begin.attempts,
        begin.card_last4,
    ])?;
    // Nobody else's claim pays with a number of our own.
    if let Some(number) = &begin.reference.order_number {
        take_number(db, number, &begin.id)?;
    }
    Ok(())
}

pub(super) fn take_prepared(db: &Connection, take: &TakePrepared) -> Result<Taken, StorageError> {
    let now = now(db)?;
    if let Some(wait) = limit::wait_of(db, now)? {
        return Ok(Taken::Wait(wait));
    }
    let Some(mut kept) = rows::payment(db, &take.payment)? else { return Ok(Taken::Gone) };
    let checkout = rows::checkout(db, &kept.payment.checkout)?;
    let is_open = checkout.is_some_and(|checkout| state_by_now(&checkout, now) == CheckoutState::Open);
    if kept.sender == take.sender && !is_open {
        // It was paid meanwhile, on a page that was open.
        happen(db, now, &mut kept, Happened::PreparedTooLong, Some("NotOpen"))?;
        return Ok(Taken::Gone);
    }
    if kept.sender != take.sender || !happen(db, now, &mut kept, Happened::SendingTaken, None)? {
        return Ok(Taken::Gone);
    }
    db.prepare_cached("UPDATE payments SET until = ?2 WHERE id = ?1")?
        .execute((take.payment.as_str(), now.saturating_add(take.send_for_ms)))?;
    Ok(Taken::Send)
}

/// What its sender alone can say.
pub(super) fn settle_sending(db: &Connection, sent: &Sent) -> Result<Settled, StorageError> {
    let now = now(db)?;
    let mut kept = kept_payment(db, &sent.payment)?;
    if kept.sender != sent.sender {
        return Ok(Settled { payment: kept.payment, is_changed: false });
    }
    note_exchange(db, now, &kept, sent.exchange.as_ref())?;
    let is_changed = match &sent.result {
        SendResult::Accepted { reference, page_url, qr_text } => {
            let taken = reference.transaction_id.as_deref().map(|id| take_number(db, id, &sent.payment)).transpose()?;
            if taken == Some(false) {
                // The gateway gave one transaction twice: nobody is shown the second code.
                not_made(db, now, &mut kept, &Failure::of_kind("TransactionTwice"))?
            } else {
                accepted(db, now, &mut kept, reference, (page_url.as_deref(), qr_text.as_deref()))?
            }
        }
        SendResult::NothingHappened { failure, retry_after } => {
            if retry_after.is_some() {
                limit::trouble(db, *retry_after, now)?;
            }
            not_made(db, now, &mut kept, failure)?
        }
        SendResult::Unknown { reference } => {
            let changed = happen(db, now, &mut kept, Happened::OutcomeUnknown, None)?;
            if changed {
                note_reference(db, &mut kept, reference)?;
            }
            changed
        }
    };
    if is_changed {
        ask_from_now_on(db, now, &kept)?;
    }
    Ok(Settled { payment: kept_payment(db, &sent.payment)?.payment, is_changed })
}

/// What its sender was told.
fn note_exchange(db: &Connection, now: Millis, kept: &Kept, exchange: Option<&Exchange>) -> Result<(), StorageError> {
    let Some(exchange) = exchange else { return Ok(()) };
    Noted { now, of: &kept.payment.id, exchange, sender: Some(&kept.sender) }.note(db)
}

fn accepted(
    db: &Connection,
    now: Millis,
    kept: &mut Kept,
    reference: &kassa::PaymentRef,
    (page_url, qr_text): (Option<&str>, Option<&str>),
) -> Result<bool, StorageError> {
    // Before: whether its payer has something to do says whether its checkout may end.
    kept.payment.page_url = page_url.map(str::to_owned);
    if !happen(db, now, kept, Happened::Accepted, None)? {
        return Ok(false);
    }
    note_reference(db, kept, reference)?;
    db.prepare_cached("UPDATE payments SET page_url = ?2, qr_text = ?3 WHERE id = ?1")?.execute((
        kept.payment.id.as_str(),
        page_url,
        qr_text,
    ))?;
    Ok(true)
}

fn not_made(db: &Connection, now: Millis, kept: &mut Kept, failure: &Failure) -> Result<bool, StorageError> {
    let happened = happen(db, now, kept, Happened::CertainlyNothing, Some(&failure.kind))?;
    if happened {
        note_failure(db, &kept.payment.id, failure)?;
    }
    Ok(happened)
}

pub(super) fn note_reference(db: &Connection, kept: &mut Kept, to: &kassa::PaymentRef) -> Result<(), StorageError> {
    db.prepare_cached("UPDATE payments SET reference = ?2, gateway_number = ?3, transaction_id = ?4 WHERE id = ?1")?
        .execute((kept.payment.id.as_str(), to.to_string(), &to.gateway_number, &to.transaction_id))?;
    kept.payment.reference = to.clone();
    // The gateway may know it by its own number as well: nobody else's claim pays with that.
    if let Some(number) = &to.gateway_number {
        take_number(db, number, &kept.payment.id)?;
    }
    Ok(())
}

fn note_failure(db: &Connection, id: &PaymentId, failure: &Failure) -> Result<(), StorageError> {
    db.prepare_cached("UPDATE payments SET failure_kind = ?2, failure_code = ?3, failure_reason = ?4 WHERE id = ?1")?
        .execute((id.as_str(), &failure.kind, &failure.code, &failure.reason))?;
    Ok(())
}

/// Follows a payment that is no longer being sent. What was hinted at meanwhile is asked about at once.
pub(super) fn ask_from_now_on(db: &Connection, now: Millis, kept: &Kept) -> Result<(), StorageError> {
    let payment = &kept.payment;
    if kept.is_hinted {
        return due::put(db, &payment.id, now, Class::Hinted, now);
    }
    match payment.state {
        PaymentState::Unknown => due::put(db, &payment.id, now, Class::Fresh, now),
        // Its payer has nothing to do: the gateway knows the end by now.
        PaymentState::Awaiting if payment.method == Method::Card && payment.page_url.is_none() => {
            due::put(db, &payment.id, now, Class::Fresh, now)
        }
        PaymentState::Awaiting if payment.reference.can_be_asked_about() => {
            due::put(db, &payment.id, now.saturating_add(FIRST_QUESTION_MS), Class::Fresh, now)
        }
        _ => Ok(()),
    }
}

pub(super) fn begin_confirmation(
    db: &Connection,
    begin: &BeginConfirmation,
) -> Result<ConfirmationBegun, StorageError> {
    let kept = rows::payment(db, &begin.payment)?.filter(|kept| kept.payment.checkout == begin.checkout);
    let Some(mut kept) = kept else { return Ok(ConfirmationBegun::Nowhere) };
    match used(db, &begin.checkout, begin.key.as_ref())? {
        Used::For(id) if id == begin.payment => return Ok(ConfirmationBegun::Again(kept.payment.into())),
        Used::For(_) | Used::ForSomethingElse => return Ok(ConfirmationBegun::KeyReused),
        Used::Never => {}
    }
    let Some(checkout) = rows::checkout(db, &begin.checkout)? else { return Ok(ConfirmationBegun::Nowhere) };
    let now = now(db)?;
    match state_by_now(&checkout, now) {
        CheckoutState::Open => {}
        state => return Ok(ConfirmationBegun::NotOpen(state)),
    }
    if kept.payment.state == PaymentState::Awaiting && kept.payment.attempts_left == 0 {
        return Ok(ConfirmationBegun::NoAttemptsLeft);
    }
    let before = kept.payment.state;
    if !happen(db, now, &mut kept, Happened::ConfirmationBegun, None)? {
        return Ok(ConfirmationBegun::NotAwaited(before));
    }
    use_key(db, &begin.checkout, begin.key.as_ref(), &begin.payment)?;
    db.prepare_cached("UPDATE payments SET sender = ?2 WHERE id = ?1")?
        .execute((begin.payment.as_str(), &begin.sender))?;
    Ok(ConfirmationBegun::New(kept.payment.into()))
}

/// What its sender alone can say. Where the password was sent, or may have been, there is no second one: the gateway's
/// report ends it.
pub(super) fn settle_confirmation(db: &Connection, confirmed: &Confirmed) -> Result<Settled, StorageError> {
    let now = now(db)?;
    let id = &confirmed.payment;
    let mut kept = kept_payment(db, id)?;
    if kept.sender != confirmed.sender {
        return Ok(Settled { payment: kept.payment, is_changed: false });
    }
    note_exchange(db, now, &kept, confirmed.exchange.as_ref())?;
    let is_changed = match &confirmed.result {
        ConfirmResult::Sent { reference } => {
            if kept.payment.state == PaymentState::Confirming {
                if let Some(reference) = reference {
                    note_reference(db, &mut kept, reference)?;
                }
                due::put(db, id, now, Class::Hinted, now)?;
            }
            false
        }
        ConfirmResult::Refused { failure } => not_confirmed(db, now, &mut kept, failure, 1)?,
        ConfirmResult::NothingHappened { failure } => not_confirmed(db, now, &mut kept, failure, 0)?,
    };
    Ok(Settled { payment: kept_payment(db, id)?.payment, is_changed })
}

fn not_confirmed(
    db: &Connection,
    now: Millis,
    kept: &mut Kept,
    failure: &Failure,
    attempts: u32,
) -> Result<bool, StorageError> {
    let happened = happen(db, now, kept, Happened::NotConfirmed, Some(&failure.kind))?;
    if happened {
        note_failure(db, &kept.payment.id, failure)?;
        db.prepare_cached("UPDATE payments SET attempts_left = MAX(attempts_left - ?2, 0) WHERE id = ?1")?
            .execute((kept.payment.id.as_str(), attempts))?;
    }
    Ok(happened)
}
