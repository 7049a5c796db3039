//! Saves aggregates: the changes of many rows are one statement for each table. The statements are queued, and sent
//! together with the commit (pipelining).

use super::{
    schedule::{save_due, save_pauses},
    session::{Session, column},
};
use crate::{
    storage::aggregate::{
        AggregateRoot, CheckoutAggregate, PaymentRow,
        changes::{Changes, FIRST_EXCHANGES, KeyUse, MOST_EXCHANGES, MOST_KEYS},
        claims::ClaimRow,
    },
    values::{CheckoutId, CheckoutState},
};

/// Writes the changes, in the order of the locks: referring rows come after the referred ones.
pub(super) fn save(db: &Session, changes: &Changes, aggregates: &[CheckoutAggregate]) {
    let payments = || aggregates.iter().flat_map(|aggregate| &aggregate.payments);
    // Payments that give way come first: the index never allows two that may take money.
    let is_changed = |row: &&PaymentRow| row.dirty.is_any() && !row.dirty.is_new;
    update_payments(db, &payments().filter(is_changed).collect::<Vec<_>>());
    insert_payments(db, &payments().filter(|row| row.dirty.is_new).collect::<Vec<_>>());
    let is_changed = |root: &&AggregateRoot| root.dirty.state || root.dirty.version || root.dirty.expiry;
    wipe_phones(db, aggregates);
    update_heads(db, &aggregates.iter().map(|aggregate| &aggregate.root).filter(is_changed).collect::<Vec<_>>());
    take_numbers(db, changes);
    use_keys(db, changes);
    save_claims(db, aggregates);
    write_events(db, changes);
    save_due(db, changes);
    save_exchanges(db, changes);
    save_pauses(db, changes);
}

fn insert_payments(db: &Session, rows: &[&PaymentRow]) {
    if rows.is_empty() {
        return;
    }
    let failure = |row: &&PaymentRow| row.payment.failure.as_ref().map(|failure| failure.kind.clone());
    db.later(
        "INSERT INTO payments (id, checkout_id, number, method, state, reference, order_number, begun_at, until, sender,
            attempts_left, card_last4, failure_kind, events, phone_last2, payer_phone)
         SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::text[], $13::text[], $14::bigint[],
            $15::text[], $16::text[])",
        vec![
            column(rows, |row| row.payment.id.as_str().to_owned()),
            column(rows, |row| row.payment.checkout.as_str().to_owned()),
            column(rows, |row| i64::from(row.payment.number)),
            column(rows, |row| <&'static str>::from(row.payment.method)),
            column(rows, |row| <&'static str>::from(row.payment.state)),
            column(rows, |row| row.payment.reference.to_string()),
            column(rows, |row| row.payment.reference.order_number.clone()),
            column(rows, |row| row.payment.begun_at),
            column(rows, |row| row.until),
            column(rows, |row| row.sender.clone()),
            column(rows, |row| i64::from(row.payment.attempts_left)),
            column(rows, |row| row.payment.card_last4.clone()),
            column(rows, failure),
            column(rows, |row| row.events),
            column(rows, |row| row.payment.phone_last2.clone()),
            column(rows, |row| row.payer_phone().map(str::to_owned)),
        ],
    );
}

/// Updates all mutable columns. If no indexed column changes, no index is updated (HOT).
fn update_payments(db: &Session, rows: &[&PaymentRow]) {
    if rows.is_empty() {
        return;
    }
    let failure = |row: &PaymentRow| row.payment.failure.clone();
    let before = |row: &&PaymentRow| <&'static str>::from(row.dirty.state.unwrap_or(row.payment.state));
    db.later(
        "UPDATE payments SET state = n.state, is_stuck = n.is_stuck, unknown_since = n.unknown_since, until = n.until,
            events = n.events, reference = n.reference, gateway_number = n.gateway_number,
            transaction_id = n.transaction_id, page_url = n.page_url, qr_text = n.qr_text,
            failure_kind = n.failure_kind, failure_code = n.failure_code, failure_reason = n.failure_reason,
            sender = n.sender, attempts_left = n.attempts_left, mismatches = n.mismatches,
            is_hinted = n.is_hinted, is_resolved = n.is_resolved, is_in_doubt = n.is_in_doubt,
            mismatch_at = n.mismatch_at, is_replaced = n.is_replaced, payer_phone = n.payer_phone,
            commission = n.commission, total = n.total, code_expires_at = n.code_expires_at,
            claimed_at = n.claimed_at, charged_at = n.charged_at
         FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::bigint[], $7::bigint[],
            $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
            $16::text[], $17::bigint[], $18::bigint[], $19::boolean[], $20::boolean[], $21::boolean[], $22::bigint[],
            $23::boolean[], $24::text[], $25::text[], $26::text[], $27::bigint[], $28::bigint[], $29::bigint[])
            AS n (id, before, state, is_stuck, unknown_since, until, events, reference, gateway_number, transaction_id,
                page_url, qr_text, failure_kind, failure_code, failure_reason, sender, attempts_left, mismatches,
                is_hinted, is_resolved, is_in_doubt, mismatch_at, is_replaced, payer_phone, commission, total,
                code_expires_at, claimed_at, charged_at)
         WHERE payments.id = n.id AND payments.state = n.before",
        vec![
            column(rows, |row| row.payment.id.as_str().to_owned()),
            column(rows, before),
            column(rows, |row| <&'static str>::from(row.payment.state)),
            column(rows, |row| row.payment.is_stuck),
            column(rows, |row| row.unknown_since),
            column(rows, |row| row.until),
            column(rows, |row| row.events),
            column(rows, |row| row.payment.reference.to_string()),
            column(rows, |row| row.payment.reference.gateway_number.clone()),
            column(rows, |row| row.payment.reference.transaction_id.clone()),
            column(rows, |row| row.payment.page_url.clone()),
            column(rows, |row| row.payment.qr_text.clone()),
            column(rows, |row| failure(row).map(|failure| failure.kind)),
            column(rows, |row| failure(row).and_then(|failure| failure.code)),
            column(rows, |row| failure(row).and_then(|failure| failure.reason)),
            column(rows, |row| row.sender.clone()),
            column(rows, |row| i64::from(row.payment.attempts_left)),
            column(rows, |row| i64::from(row.mismatches)),
            column(rows, |row| row.is_hinted),
            column(rows, |row| row.is_resolved),
            column(rows, |row| row.payment.is_in_doubt),
            column(rows, |row| row.mismatch_at),
            column(rows, |row| row.payment.is_replaced),
            column(rows, |row| row.payer_phone().map(str::to_owned)),
            column(rows, |row| row.payment.commission.map(|amount| amount.to_string())),
            column(rows, |row| row.payment.total.map(|amount| amount.to_string())),
            column(rows, |row| row.payment.code_expires_at),
            column(rows, |row| row.payment.claimed_at),
            column(rows, |row| row.payment.charged_at),
        ],
    );
}

/// Wipes the phones of ended checkouts, whose payments are never confirmed.
fn wipe_phones(db: &Session, aggregates: &[CheckoutAggregate]) {
    let ends_with_phones = |aggregate: &&CheckoutAggregate| {
        let has_ended = aggregate.root.dirty.state && aggregate.root.state != CheckoutState::Open;
        // A payment that cannot be read may have one.
        has_ended && (aggregate.is_damaged || aggregate.payments.iter().any(|row| row.payment.payer_phone.is_some()))
    };
    let ended: Vec<_> = aggregates.iter().filter(ends_with_phones).collect();
    if ended.is_empty() {
        return;
    }
    db.later(
        "UPDATE payments SET payer_phone = NULL WHERE checkout_id = ANY($1) AND payer_phone IS NOT NULL",
        vec![column(&ended, |aggregate| aggregate.root.id.as_str().to_owned())],
    );
}

fn update_heads(db: &Session, rows: &[&AggregateRoot]) {
    if rows.is_empty() {
        return;
    }
    db.later(
        "UPDATE checkouts SET version = n.version, events = n.events, state = n.state, is_overpaid = n.is_overpaid,
            refunds_due = n.refunds_due, paid_by = n.paid_by, keys_kept_since = n.keys_kept_since,
            expiry_due_at = n.expiry_due_at
         FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::boolean[], $6::bigint[], $7::text[],
            $8::bigint[], $9::bigint[])
            AS n (id, version, events, state, is_overpaid, refunds_due, paid_by, keys_kept_since, expiry_due_at)
         WHERE checkouts.id = n.id",
        vec![
            column(rows, |root| root.id.as_str().to_owned()),
            column(rows, |root| root.version),
            column(rows, |root| root.events),
            column(rows, |root| <&'static str>::from(root.state)),
            column(rows, |root| root.is_overpaid),
            column(rows, |root| i64::from(root.refunds_due)),
            column(rows, |root| root.paid_by.as_ref().map(|id| id.as_str().to_owned())),
            column(rows, |root| root.keys_kept_since),
            column(rows, |root| root.expiry_due_at),
        ],
    );
}

/// Another transaction may take the same number concurrently: then the unique index fails one of the two, which is retried.
fn take_numbers(db: &Session, changes: &Changes) {
    let mut rows = changes.numbers.taken().to_vec();
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    db.later(
        "INSERT INTO taken_numbers (number, kind, payment_id) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])",
        vec![
            column(&rows, |row| row.0.text.clone()),
            column(&rows, |row| <&'static str>::from(row.0.kind)),
            column(&rows, |row| row.1.as_str().to_owned()),
        ],
    );
}

fn use_keys(db: &Session, changes: &Changes) {
    let rows = &changes.keys;
    if rows.is_empty() {
        return;
    }
    db.later(
        "INSERT INTO idempotency (checkout_id, key, fingerprint, payment_id)
         SELECT n.checkout_id, n.key, n.fingerprint, n.payment_id
         FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::boolean[])
            AS n (checkout_id, key, fingerprint, payment_id, is_to_send)
         WHERE is_to_send OR (SELECT COUNT(*) FROM idempotency WHERE idempotency.checkout_id = n.checkout_id) < $6",
        vec![
            column(rows, |used| used.checkout.as_str().to_owned()),
            column(rows, |used| used.key.text.clone()),
            column(rows, |used| used.key.fingerprint.clone()),
            column(rows, |used| used.payment.as_str().to_owned()),
            column(rows, |used| used.use_of == KeyUse::ToSend),
            Box::new(MOST_KEYS),
        ],
    );
}

fn save_claims(db: &Session, aggregates: &[CheckoutAggregate]) {
    let payments = || aggregates.iter().flat_map(|aggregate| &aggregate.payments);
    let dropped: Vec<(&PaymentRow, &String)> =
        payments().flat_map(|row| row.dropped_claims.iter().map(move |number| (row, number))).collect();
    if !dropped.is_empty() {
        db.later(
            "DELETE FROM claims USING unnest($1::text[], $2::text[]) AS n (payment_id, number)
             WHERE claims.payment_id = n.payment_id AND claims.number = n.number",
            vec![column(&dropped, |row| row.0.payment.id.as_str().to_owned()), column(&dropped, |row| row.1.clone())],
        );
    }
    let dirty = |row| move |claim| (row, claim);
    let rows: Vec<(&PaymentRow, &ClaimRow)> =
        payments().flat_map(|row| row.claims.iter().filter(|claim| claim.is_dirty).map(dirty(row))).collect();
    if rows.is_empty() {
        return;
    }
    db.later(
        "INSERT INTO claims (payment_id, number, provider, state, reason, at, queried_at)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
         ON CONFLICT (payment_id, number) DO UPDATE SET provider = excluded.provider, state = excluded.state,
            reason = excluded.reason, at = excluded.at, queried_at = excluded.queried_at",
        vec![
            column(&rows, |row| row.0.payment.id.as_str().to_owned()),
            column(&rows, |row| row.1.number.clone()),
            column(&rows, |row| row.1.provider.clone()),
            column(&rows, |row| <&'static str>::from(row.1.state)),
            column(&rows, |row| row.1.reason.clone()),
            column(&rows, |row| row.1.at),
            column(&rows, |row| row.1.queried_at),
        ],
    );
}

/// Writes events in order, which is that of the feed. A given-up stream is tried again.
fn write_events(db: &Session, changes: &Changes) {
    let rows = &changes.events;
    if rows.is_empty() {
        return;
    }
    db.later(
        "INSERT INTO events (event_id, checkout_id, payment_id, number, version, kind, body, at)
         SELECT event_id, checkout_id, payment_id, number, version, kind, body, $8
         FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
            WITH ORDINALITY AS n (event_id, checkout_id, payment_id, number, version, kind, body, place)
         ORDER BY place",
        vec![
            column(rows, |event| event.id.clone()),
            column(rows, |event| event.checkout.as_str().to_owned()),
            column(rows, |event| event.payment.as_ref().map(|id| id.as_str().to_owned())),
            column(rows, |event| event.number),
            column(rows, |event| event.version),
            column(rows, |event| event.kind.name()),
            column(rows, |event| event.body.clone()),
            Box::new(changes.now),
        ],
    );
    let mut checkouts: Vec<&CheckoutId> = rows.iter().map(|event| &event.checkout).collect();
    checkouts.sort_by_key(|id| id.as_str());
    checkouts.dedup();
    db.later(
        "INSERT INTO streams (checkout_id, due_at) SELECT checkout_id, $2 FROM unnest($1::text[]) AS n (checkout_id)
         ON CONFLICT (checkout_id) DO UPDATE SET
            due_at = COALESCE(streams.due_at, excluded.due_at),
            failures = CASE WHEN streams.is_given_up THEN 0 ELSE streams.failures END,
            refusals = CASE WHEN streams.is_given_up THEN 0 ELSE streams.refusals END,
            failing_since = CASE WHEN streams.is_given_up THEN NULL ELSE streams.failing_since END,
            is_given_up = FALSE",
        vec![column(&checkouts, |id| id.as_str().to_owned()), Box::new(changes.now)],
    );
}

/// Equal responses to equal requests are counted (run-length encoding), and of many the first and the last ones are stored. A
/// sender may repeat it after an uncertain commit (idempotency).
fn save_exchanges(db: &Session, changes: &Changes) {
    let rows = &changes.exchanges;
    if rows.is_empty() {
        return;
    }
    db.later(
        SAVE_EXCHANGES,
        vec![
            column(rows, |new| new.payment.as_str().to_owned()),
            column(rows, |new| <&'static str>::from(new.exchange.kind)),
            column(rows, |new| new.exchange.claim.clone()),
            column(rows, |new| new.exchange.outcome.clone()),
            column(rows, |new| new.exchange.http_status.map(i64::from)),
            column(rows, |new| new.exchange.code.clone()),
            column(rows, |new| new.exchange.words.clone()),
            column(rows, |new| new.exchange.response.clone()),
            column(rows, |new| new.sender.clone()),
            Box::new(changes.now),
            Box::new(MOST_EXCHANGES),
            Box::new(FIRST_EXCHANGES),
        ],
    );
}

/// All parts of the statement see the rows as they were before.
const SAVE_EXCHANGES: &str = "WITH new AS MATERIALIZED (
        SELECT n.*, known.last, known.same
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
            $8::text[], $9::text[]) WITH ORDINALITY
            AS n (payment_id, kind, claim, outcome, http_status, code, words, response, sender, place)
        CROSS JOIN LATERAL (
            SELECT COALESCE(MAX(number), 0) AS last,
                MAX(number) FILTER (WHERE exchanges.kind = n.kind AND exchanges.claim IS NOT DISTINCT FROM n.claim) AS same
            FROM exchanges WHERE exchanges.payment_id = n.payment_id
        ) AS known
        WHERE sender IS NULL OR NOT EXISTS (SELECT 1 FROM exchanges WHERE exchanges.payment_id = n.payment_id
            AND exchanges.kind = n.kind AND exchanges.sender = n.sender)
    ), again AS (
        UPDATE exchanges SET times = times + 1, last_at = $10, sender = new.sender
        FROM new
        WHERE new.kind <> 'create' AND exchanges.payment_id = new.payment_id AND exchanges.number = new.same
            AND exchanges.outcome = new.outcome AND exchanges.http_status IS NOT DISTINCT FROM new.http_status
            AND exchanges.code IS NOT DISTINCT FROM new.code AND exchanges.words IS NOT DISTINCT FROM new.words
            AND exchanges.response IS NOT DISTINCT FROM new.response
        RETURNING new.place
    ), added AS (
        INSERT INTO exchanges (payment_id, number, kind, claim, outcome, http_status, code, words, response, first_at,
            last_at, times, sender)
        SELECT payment_id, last + row_number() OVER (PARTITION BY payment_id ORDER BY place),
            kind, claim, outcome, http_status, code, words, response, $10, $10, 1, sender
        FROM new WHERE place NOT IN (SELECT place FROM again)
        RETURNING payment_id, number
    ), too_many AS (
        SELECT payment_id, COUNT(*) AS count FROM added WHERE number > $11 GROUP BY payment_id
    )
    DELETE FROM exchanges USING too_many WHERE exchanges.payment_id = too_many.payment_id AND exchanges.number IN
        (SELECT number FROM exchanges AS stored WHERE stored.payment_id = too_many.payment_id
            ORDER BY number OFFSET $12 LIMIT too_many.count)";
