//! Opens the aggregates of checkouts, which locks their rows: nobody else changes an open aggregate. All reads of a transaction
//! are sent at once (pipelining), so that a batch costs as many round trips as one aggregate.

use std::collections::HashMap;

use tokio_postgres::Row;

use super::{
    rows,
    session::{Problem, Query, Session, first},
};
use crate::{
    storage::{
        StorageError,
        aggregate::{
            AggregateRoot, CheckoutAggregate, DirtyRootFields,
            changes::{Changes, Number, Numbers, Pauses},
            claims::ClaimRow,
            payments::KnownKey,
        },
        inputs::Key,
    },
    values::{CheckoutId, Millis, PaymentId},
};

/// Locks rows in the order of their identifiers, so that two transactions with many rows do not wait for each other (deadlock).
/// Their keys never change, so rows that refer to them can be written concurrently.
macro_rules! heads {
    ($which:literal) => {
        concat!(
            "SELECT id, reference, amount, currency, state, version, events, expires_at, expiry_due_at, keys_kept_since,
                paid_by, is_overpaid, refunds_due
             FROM checkouts WHERE id ",
            $which,
            " ORDER BY id FOR NO KEY UPDATE"
        )
    };
}
const HEADS: &str = heads!("= ANY($1)");
const HEADS_OF_PAYMENTS: &str = heads!("IN (SELECT checkout_id FROM payments WHERE id = ANY($1))");
const PAYMENTS_OF_PAYMENTS: &str = rows::payments!(
    "checkout_id IN (SELECT checkout_id FROM payments WHERE id = ANY($1)) ORDER BY checkout_id, number"
);
const PAYMENTS: &str = rows::payments!("checkout_id = ANY($1) ORDER BY checkout_id, number");
const OWNERS: &str = "SELECT number, kind, payment_id FROM taken_numbers WHERE number = ANY($1)";
const KEY: &str = "SELECT fingerprint, payment_id FROM idempotency WHERE checkout_id = $1 AND key = $2";
const PAUSES: &str = "SELECT method, not_before FROM sending_pauses";
pub(super) const CLAIMS: &str = "SELECT payment_id, number, provider, state, reason, at, queried_at FROM claims
    WHERE payment_id = ANY($1) ORDER BY payment_id, at, number";
const DUE: &str = "SELECT payment_id, since FROM due WHERE payment_id = ANY($1)";
/// Read after all locks were acquired.
pub(super) const NOW: &str = "SELECT now_ms()";

/// The aggregates to open.
pub(super) enum Of<'a> {
    /// Those of these checkouts.
    Checkouts(&'a [CheckoutId]),
    /// Those of these payments' checkouts.
    Payments(&'a [PaymentId]),
}

/// The other rows to read.
#[derive(Default)]
pub(super) struct With<'a> {
    /// Numbers that may be taken.
    pub(super) numbers: Vec<Number>,
    /// An idempotency key, of the one checkout that is opened.
    pub(super) key: Option<&'a Key>,
    /// Payments whose schedule and claims are read.
    pub(super) due: &'a [PaymentId],
}

/// The index of each payment's aggregate, and its index in it.
type Places = HashMap<PaymentId, (usize, usize)>;

/// Open aggregates.
pub(super) struct Opened {
    pub(super) aggregates: Vec<CheckoutAggregate>,
    places: Places,
    pub(super) changes: Changes,
    pub(super) known: Option<KnownKey>,
}

impl Opened {
    /// The aggregate of the only checkout.
    pub(super) fn aggregate(&mut self) -> Option<(&mut Changes, &mut CheckoutAggregate)> {
        self.aggregates.first_mut().map(|aggregate| (&mut self.changes, aggregate))
    }

    /// The aggregate of a payment, and its index in it.
    pub(super) fn at(
        &mut self,
        payment: &PaymentId,
    ) -> Result<(&mut Changes, &mut CheckoutAggregate, usize), StorageError> {
        let missing = StorageError::Damaged { what: "payment's identifier" };
        let (aggregate, at) = *self.places.get(payment).ok_or(missing)?;
        Ok((&mut self.changes, &mut self.aggregates[aggregate], at))
    }
}

/// Opens aggregates.
pub(super) async fn open(db: &Session, of: Of<'_>, with: With<'_>) -> Result<Opened, Problem> {
    let (heads, payments, ids) = match of {
        Of::Checkouts(ids) => (HEADS, PAYMENTS, ids.iter().map(CheckoutId::as_str).collect::<Vec<_>>()),
        Of::Payments(ids) => (HEADS_OF_PAYMENTS, PAYMENTS_OF_PAYMENTS, ids.iter().map(PaymentId::as_str).collect()),
    };
    let due: Vec<&str> = with.due.iter().map(PaymentId::as_str).collect();
    let (checkout, key) = (ids.first().copied().unwrap_or_default(), with.key.map_or("", |key| &key.text));
    // The locks come first, so that the reads see the last writer's changes.
    let mut queries: Vec<Query<'_>> =
        vec![(heads, vec![&ids]), (payments, vec![&ids]), (PAUSES, vec![]), (NOW, vec![])];
    let numbers: Vec<&str> = with.numbers.iter().map(|number| number.text.as_str()).collect();
    queries.push((OWNERS, vec![&numbers]));
    queries.push((KEY, vec![&checkout, &key]));
    queries.push((CLAIMS, vec![&due]));
    queries.push((DUE, vec![&due]));
    let is_read =
        [true, true, true, true, !with.numbers.is_empty(), with.key.is_some(), !due.is_empty(), !due.is_empty()];
    let needed = queries.into_iter().zip(is_read).filter_map(|(query, is_read)| is_read.then_some(query));
    let mut answers = db.together(needed.collect()).await?.into_iter();
    let mut next = |at: usize| if is_read[at] { answers.next().unwrap_or_default() } else { Vec::new() };
    let (heads, payments, pauses, now) = (next(0), next(1), next(2), next(3));
    let (owners, keys, claims, due) = (next(4), next(5), next(6), next(7));

    let now: Millis = first(Some(&now))?;
    let (mut aggregates, places) = aggregates_of(&heads, &payments)?;
    add_due(&mut aggregates, &due)?;
    add_claims(&mut aggregates, &places, &claims)?;
    let owners = owners.iter().map(owner).collect::<Result<Vec<_>, Problem>>()?;
    let mut changes = Changes::at(now, Numbers::owned_by(owners));
    changes.pauses = pauses_of(&pauses)?;
    Ok(Opened { aggregates, places, changes, known: keys.first().map(known_key).transpose()? })
}

/// Reads the pause of each method.
fn pauses_of(rows: &[Row]) -> Result<Pauses, Problem> {
    let read = |row: &Row| Ok((rows::id(row, "method")?, row.try_get(1)?));
    Ok(Pauses::known(rows.iter().map(read).collect::<Result<_, Problem>>()?))
}

fn aggregates_of(heads: &[Row], payments: &[Row]) -> Result<(Vec<CheckoutAggregate>, Places), Problem> {
    let (mut aggregates, mut numbers) = (Vec::with_capacity(heads.len()), HashMap::new());
    for row in heads {
        let id: &str = row.try_get(0)?;
        match unless_damaged(id, head_of(row))? {
            Some(root) => {
                numbers.insert(id, aggregates.len());
                aggregates.push(CheckoutAggregate { root, payments: Vec::new(), is_damaged: false });
            }
            // A request for one checkout gets the error, and not a missing checkout.
            None if heads.len() == 1 => return Err(StorageError::Damaged { what: "checkout" }.into()),
            None => {}
        }
    }
    let mut places = Places::new();
    for row in payments {
        let (id, checkout): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        let stored = unless_damaged(id, rows::payment_row(row))?;
        let Some(number) = numbers.get(checkout) else { continue };
        let aggregate: &mut CheckoutAggregate = &mut aggregates[*number];
        match stored {
            Some(stored) => {
                places.insert(stored.payment.id.clone(), (*number, aggregate.payments.len()));
                aggregate.payments.push(stored);
            }
            None => aggregate.is_damaged = true,
        }
    }
    Ok((aggregates, places))
}

/// A row that cannot be read must not block the others. Its reader finds it missing.
pub(super) fn unless_damaged<T>(id: &str, result: Result<T, Problem>) -> Result<Option<T>, Problem> {
    match result {
        Err(Problem::Storage(StorageError::Damaged { what })) => {
            tracing::error!(target: "kassa_server", id, what, "a row cannot be read: a person must review it");
            Ok(None)
        }
        other => other.map(Some),
    }
}

fn head_of(row: &Row) -> Result<AggregateRoot, Problem> {
    let paid_by: Option<&str> = row.try_get(10)?;
    let refunds_due: i64 = row.try_get(12)?;
    Ok(AggregateRoot {
        id: rows::read(row.try_get(0)?, "checkout")?,
        reference: row.try_get(1)?,
        amount: row.try_get(2)?,
        currency: row.try_get(3)?,
        state: rows::read(row.try_get(4)?, "state")?,
        version: row.try_get(5)?,
        events: row.try_get(6)?,
        expires_at: row.try_get(7)?,
        expiry_due_at: row.try_get(8)?,
        keys_kept_since: row.try_get(9)?,
        paid_by: paid_by.map(|id| rows::read(id, "payment")).transpose()?,
        is_overpaid: row.try_get(11)?,
        refunds_due: u32::try_from(refunds_due).unwrap_or(u32::MAX),
        dirty: DirtyRootFields::default(),
    })
}

/// Reads the owners of numbers.
pub(super) async fn owners(db: &Session, numbers: &[Number]) -> Result<Numbers, Problem> {
    let numbers: Vec<&str> = numbers.iter().map(|number| number.text.as_str()).collect();
    let owners = db.rows(OWNERS, &[&numbers]).await?;
    Ok(Numbers::owned_by(owners.iter().map(owner).collect::<Result<Vec<_>, Problem>>()?))
}

fn owner(row: &Row) -> Result<(Number, PaymentId), Problem> {
    let number = Number { text: row.try_get(0)?, kind: rows::read(row.try_get(1)?, "kind of a number")? };
    Ok((number, rows::read(row.try_get(2)?, "payment")?))
}

fn known_key(row: &Row) -> Result<KnownKey, Problem> {
    Ok(KnownKey { fingerprint: row.try_get(0)?, payment: rows::read(row.try_get(1)?, "payment")? })
}

fn add_due(aggregates: &mut [CheckoutAggregate], due: &[Row]) -> Result<(), Problem> {
    let read = |row: &Row| Ok((row.try_get::<_, String>(0)?, row.try_get(1)?));
    let since: HashMap<String, Millis> = due.iter().map(read).collect::<Result<_, Problem>>()?;
    for stored in aggregates.iter_mut().flat_map(|aggregate| &mut aggregate.payments) {
        stored.due_since = since.get(stored.payment.id.as_str()).copied();
    }
    Ok(())
}

fn add_claims(aggregates: &mut [CheckoutAggregate], places: &Places, claims: &[Row]) -> Result<(), Problem> {
    for row in claims {
        let payment: PaymentId = rows::id(row, "payment")?;
        if let Some((aggregate, at)) = places.get(&payment) {
            aggregates[*aggregate].payments[*at].claims.push(claim(row)?);
        }
    }
    Ok(())
}

/// A row of [`CLAIMS`].
pub(super) fn claim(row: &Row) -> Result<ClaimRow, Problem> {
    Ok(ClaimRow {
        number: row.try_get(1)?,
        provider: row.try_get(2)?,
        state: rows::read(row.try_get(3)?, "state of a claim")?,
        reason: row.try_get(4)?,
        at: row.try_get(5)?,
        queried_at: row.try_get(6)?,
        is_dirty: false,
    })
}
