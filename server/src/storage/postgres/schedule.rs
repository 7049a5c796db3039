//! Saves the schedule of polls, and the pauses of methods.

use std::collections::BTreeMap;

use super::session::{Param, Session, column};
use crate::{
    pace::LEAST_DISTANCE,
    storage::aggregate::changes::{Changes, DueChange},
    values::Millis,
};

/// The schedule of a payment: time, queue and start of its age.
type Put = (Millis, i16, Millis);

/// Writes each row once, in the order of the payments.
pub(super) fn save_due(db: &Session, changes: &Changes) {
    let (mut put, mut put_unless_there): (BTreeMap<&str, Put>, BTreeMap<&str, Put>) = Default::default();
    let (mut again, mut no_more) = (BTreeMap::new(), BTreeMap::new());
    let mut forget = Vec::new();
    for change in &changes.due {
        match change {
            DueChange::Put { payment, at, queue, since } => {
                let new = (*at, queue.number(), *since);
                put.entry(payment.as_str())
                    .and_modify(|old| *old = (old.0.min(new.0), old.1.min(new.1), new.2))
                    .or_insert(new);
            }
            DueChange::PutUnlessThere { payment, at, queue, since } => {
                put_unless_there.entry(payment.as_str()).or_insert((*at, queue.number(), *since));
            }
            DueChange::PollAgain { payment, leased_until, at, queue, since } => {
                again.insert(payment.as_str(), (*leased_until, *at, queue.number(), *since));
            }
            DueChange::StopPolling { payment, leased_until } => {
                no_more.insert(payment.as_str(), *leased_until);
            }
            DueChange::Forget { payment } => forget.push(payment.as_str()),
        }
    }
    forget.sort_unstable();
    put_due(db, PUT, &put, Some(changes.now));
    put_due(db, PUT_UNLESS_THERE, &put_unless_there, None);
    if !again.is_empty() {
        let rows: Vec<_> = again.into_iter().collect();
        db.later(
            "UPDATE due SET at = n.at, queue = n.queue, since = COALESCE(n.since, due.since)
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[])
                AS n (payment_id, leased_until, at, queue, since)
             WHERE due.payment_id = n.payment_id AND due.at = n.leased_until",
            vec![
                column(&rows, |row| row.0.to_owned()),
                column(&rows, |row| row.1.0),
                column(&rows, |row| row.1.1),
                column(&rows, |row| row.1.2),
                column(&rows, |row| row.1.3),
            ],
        );
    }
    if !no_more.is_empty() {
        let rows: Vec<_> = no_more.into_iter().collect();
        db.later(
            "DELETE FROM due USING unnest($1::text[], $2::bigint[]) AS n (payment_id, leased_until)
             WHERE due.payment_id = n.payment_id AND due.at = n.leased_until",
            vec![column(&rows, |row| row.0.to_owned()), column(&rows, |row| row.1)],
        );
    }
    forget_due(db, &forget);
}

/// In another queue never before now, where scans may have passed it. The last query may be in the future,
/// if the clock was set back since.
const PUT: &str = "INSERT INTO due (payment_id, at, queue, since)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::smallint[], $4::bigint[])
    ON CONFLICT (payment_id) DO UPDATE SET at = GREATEST(LEAST(due.at, excluded.at),
            CASE WHEN due.queried_at <= excluded.at THEN due.queried_at + $6::bigint ELSE 0 END,
            CASE WHEN excluded.queue < due.queue THEN $5::bigint ELSE 0 END),
        queue = LEAST(due.queue, excluded.queue), since = excluded.since";
const PUT_UNLESS_THERE: &str = "INSERT INTO due (payment_id, at, queue, since)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::smallint[], $4::bigint[])
    ON CONFLICT (payment_id) DO NOTHING";

fn put_due(db: &Session, sql: &'static str, put: &BTreeMap<&str, Put>, now: Option<Millis>) {
    if put.is_empty() {
        return;
    }
    let rows: Vec<(&&str, &Put)> = put.iter().collect();
    let mut values = vec![
        column(&rows, |row| (*row.0).to_owned()),
        column(&rows, |row| row.1.0),
        column(&rows, |row| row.1.1),
        column(&rows, |row| row.1.2),
    ];
    values.extend(now.into_iter().flat_map(|now| -> [Param; 2] { [Box::new(now), Box::new(LEAST_DISTANCE)] }));
    db.later(sql, values);
}

/// Ends polling, despite any hints.
pub(super) fn forget_due(db: &Session, payments: &[&str]) {
    if !payments.is_empty() {
        let payments = column(payments, |id| (*id).to_owned());
        db.later("DELETE FROM due WHERE payment_id = ANY($1)", vec![payments]);
    }
}

/// Saves the pauses that changed.
pub(super) fn save_pauses(db: &Session, changes: &Changes) {
    for (method, until) in changes.pauses.changed() {
        let method = <&'static str>::from(*method);
        match until {
            Some(until) => db.later(
                "INSERT INTO sending_pauses (method, not_before) VALUES ($1, $2)
                 ON CONFLICT (method) DO UPDATE SET not_before = excluded.not_before",
                vec![Box::new(method), Box::new(*until)],
            ),
            None => db.later("DELETE FROM sending_pauses WHERE method = $1", vec![Box::new(method)]),
        }
    }
}
