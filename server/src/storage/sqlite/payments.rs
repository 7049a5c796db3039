//! Transactions about payments that are begun, sent, confirmed, and decided by a person.

use rusqlite::{Connection, OptionalExtension};

use super::{
    aggregates,
    rows::{self, read},
    schedule::read_pauses,
};
use crate::{
    storage::{
        StorageError,
        aggregate::{
            confirmation,
            hints::{self, CallbackHint},
            payments::{self, KnownKey},
            resolution, sending,
        },
        inputs::{BeginConfirmation, BeginPayment, ConfirmationOutcome, Hint, Key, Resolve, SendOutcome, TakePrepared},
        outputs::{Decision, HintOutcome, RecordedPayment, SendTurn},
    },
    values::{CheckoutId, Millis, PaymentId},
};

fn known_key(db: &Connection, checkout: &CheckoutId, key: Option<&Key>) -> Result<Option<KnownKey>, StorageError> {
    let Some(key) = key else { return Ok(None) };
    let known: Option<(Vec<u8>, String)> = db
        .prepare_cached("SELECT fingerprint, payment_id FROM idempotency WHERE checkout_id = ?1 AND key = ?2")?
        .query_row((checkout.as_str(), &key.text), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    known.map(|(fingerprint, id)| Ok(KnownKey { fingerprint, payment: read(&id, "payment")? })).transpose()
}

pub(super) fn begin(db: &Connection, begin: &BeginPayment) -> Result<RecordedPayment, StorageError> {
    let mut aggregate = aggregates::open(db, &begin.checkout)?.ok_or(StorageError::not_found("checkout"))?;
    let known = known_key(db, &begin.checkout, begin.key.as_ref())?;
    let mut changes = aggregates::begin(db, &payments::numbers_of_begun(begin))?;
    changes.pauses = read_pauses(db)?;
    let begun = payments::begin(&mut changes, &mut aggregate, known, begin)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(begun)
}

pub(super) fn take_prepared(db: &Connection, take: &TakePrepared) -> Result<SendTurn, StorageError> {
    let Some(mut aggregate) = aggregates::open(db, &take.checkout)? else { return Ok(SendTurn::Gone) };
    let mut changes = aggregates::begin(db, &[])?;
    changes.pauses = read_pauses(db)?;
    let taken = sending::take_prepared(&mut changes, &mut aggregate, take)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(taken)
}

pub(super) fn record_send_outcome(db: &Connection, sent: &SendOutcome) -> Result<RecordedPayment, StorageError> {
    let mut aggregate = aggregates::open_known(db, &sent.payment)?;
    let mut changes = aggregates::begin(db, &sending::numbers_of_sent(sent))?;
    changes.pauses = read_pauses(db)?;
    let recorded = sending::record_send_outcome(&mut changes, &mut aggregate, 0, sent)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(recorded)
}

pub(super) fn begin_confirmation(db: &Connection, begin: &BeginConfirmation) -> Result<RecordedPayment, StorageError> {
    let mut aggregate = aggregates::open(db, &begin.checkout)?.ok_or(StorageError::not_found("payment"))?;
    let known = known_key(db, &begin.checkout, begin.key.as_ref())?;
    let mut changes = aggregates::begin(db, &[])?;
    let begun = confirmation::begin_confirmation(&mut changes, &mut aggregate, known, begin)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(begun)
}

pub(super) fn record_confirmation(
    db: &Connection,
    confirmed: &ConfirmationOutcome,
) -> Result<RecordedPayment, StorageError> {
    let mut aggregate = aggregates::open_known(db, &confirmed.payment)?;
    let mut changes = aggregates::begin(db, &confirmation::numbers_of_confirmed(confirmed))?;
    let recorded = confirmation::record_confirmation(&mut changes, &mut aggregate, 0, confirmed)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(recorded)
}

pub(super) fn resolve(db: &Connection, resolve: &Resolve) -> Result<Decision, StorageError> {
    let mut aggregate = aggregates::open_at(db, &resolve.payment)?.ok_or(StorageError::not_found("payment"))?;
    aggregate.payments[0].claims = aggregates::claims(db, &resolve.payment)?;
    let mut changes = aggregates::begin(db, &resolution::numbers_to_resolve(&aggregate.payments[0]))?;
    let decision = resolution::resolve(&mut changes, &mut aggregate, 0, resolve)?;
    aggregates::save(db, &changes, &aggregate)?;
    Ok(decision)
}

// Transactions about hints: callbacks, returns, and views by apps. A hint makes a payment due, and proves nothing.

/// The most callbacks of a payment that are recognized as repeated.
const MOST_CALLBACKS: u32 = 32;

pub(super) fn record_hint(db: &Connection, hint: &Hint) -> Result<HintOutcome, StorageError> {
    match hint {
        Hint::Checkout { id, claimed } => {
            let Some(mut aggregate) = aggregates::open(db, id)? else { return Ok(HintOutcome::Due(0)) };
            let mut changes = aggregates::begin(db, &[])?;
            let outcome = hints::look(&mut changes, &mut aggregate, claimed.as_ref());
            aggregates::save(db, &changes, &aggregate)?;
            Ok(outcome)
        }
        Hint::Callback { secret, payment, claim, status, same, exchange, is_whole } => {
            let unknown = || StorageError::not_found("callback address");
            let checkout = rows::checkout_where(db, "callback_secret", secret)?.ok_or_else(unknown)?;
            let aggregate = aggregates::open_at(db, payment)?.filter(|aggregate| aggregate.root.id == checkout.id);
            let mut aggregate = aggregate.ok_or_else(unknown)?;
            let mut changes = aggregates::begin(db, &[])?;
            if let Some(same) = same
                && was_seen(db, payment, same)?
            {
                return Ok(HintOutcome::SeenBefore);
            }
            aggregate.payments[0].claims = aggregates::claims(db, payment)?;
            let (claim, status) = (claim.as_ref(), status.as_ref());
            let callback = CallbackHint { claim, status, exchange: exchange.as_deref(), is_whole: *is_whole };
            let outcome = hints::call_back(&mut changes, &mut aggregate, 0, callback)?;
            if outcome == HintOutcome::TooManyClaims {
                return Ok(outcome);
            }
            aggregates::save(db, &changes, &aggregate)?;
            // Only now: a remembered callback has been processed.
            if let Some(same) = same {
                remember(db, payment, same, changes.now)?;
            }
            Ok(outcome)
        }
    }
}

fn was_seen(db: &Connection, payment: &PaymentId, same: &[u8; 32]) -> Result<bool, StorageError> {
    let mut statement = db.prepare_cached("SELECT 1 FROM callbacks WHERE payment_id = ?1 AND same = ?2")?;
    Ok(statement.exists((payment.as_str(), &same[..]))?)
}

fn remember(db: &Connection, payment: &PaymentId, same: &[u8; 32], now: Millis) -> Result<(), StorageError> {
    db.prepare_cached("INSERT OR IGNORE INTO callbacks (payment_id, same, at) VALUES (?1, ?2, ?3)")?.execute((
        payment.as_str(),
        &same[..],
        now,
    ))?;
    db.prepare_cached(
        "DELETE FROM callbacks WHERE payment_id = ?1 AND same IN
            (SELECT same FROM callbacks WHERE payment_id = ?1 ORDER BY at DESC, same LIMIT -1 OFFSET ?2)",
    )?
    .execute((payment.as_str(), MOST_CALLBACKS))?;
    Ok(())
}
