//! The invariants of the server after any crash (`docs/server-design.md#invariants`): compares the database with the gateway's
//! books, the transmitted requests, and what the shop saw.

use std::collections::{HashMap, HashSet};

use kassa::{FakePayment, PaymentKind, PaymentStatus};
use rusqlite::Connection;
use serde_json::Value;

use crate::support::{
    lock, one,
    world::{CVC, World},
};

/// A payment of the database's, as far as it is compared.
struct Row {
    id: String,
    checkout: String,
    method: String,
    state: String,
    reference: kassa::PaymentRef,
    events: i64,
    is_stuck: bool,
    /// Its payer left it for another one.
    is_replaced: bool,
    /// A person decided what became of it.
    is_resolved: bool,
    /// The gateway reported a charge.
    is_reported: bool,
}

/// Those that can be seen at any moment.
pub fn check(world: &World) -> Result<(), String> {
    let db = lock(&world.db);
    let (rows, books) = (rows(&db), world.fake.payments());
    let mut broken = lock(&world.log).broken.clone();
    broken.extend(lock(&world.shop).broken.clone());
    sent_once(world, &books, &mut broken);
    answers_are_of_what_was_sent(&db, world, &mut broken);
    one_may_take_money(&rows, &mut broken);
    paid_by_the_report_alone(&db, &rows, &books, &mut broken);
    one_payment_pays_once(&rows, &mut broken);
    events_tell_every_change(&db, &rows, &mut broken);
    nothing_is_stepped_over(&db, world, &mut broken);
    phones_are_kept_while_a_pin_may_be_sent(&db, &mut broken);
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// All of them, where everything had time to come to its end.
pub fn check_end(world: &World) -> Result<(), String> {
    check(world)?;
    let db = lock(&world.db);
    let (rows, books) = (rows(&db), world.fake.payments());
    let mut broken = Vec::new();
    nothing_secret(&db, world, &mut broken);
    everything_ended(&db, &rows, &books, world, &mut broken);
    everything_was_told(&db, world, &mut broken);
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// Invariant 2. (Invariant 1 and the passwords are looked at when something is sent.)
fn sent_once(world: &World, books: &[FakePayment], broken: &mut Vec<String>) {
    let mut seen = HashSet::new();
    for (id, what) in lock(&world.log).sent.iter().filter(|(_, what)| what != "otp") {
        if !seen.insert(id) {
            broken.push(format!("invariant 2: {what} of {id} was sent twice"));
        }
    }
    let numbers: Vec<_> = books.iter().filter_map(|payment| payment.order_number.as_ref()).collect();
    if numbers.iter().collect::<HashSet<_>>().len() != numbers.len() {
        broken.push("invariant 2: the gateway has a payment twice".to_owned());
    }
}

/// What a person reads of the gateway's answers is of requests that were sent.
fn answers_are_of_what_was_sent(db: &Connection, world: &World, broken: &mut Vec<String>) {
    let sql = "SELECT payment_id, kind, SUM(times) FROM exchanges WHERE kind IN ('create', 'confirm')
        GROUP BY payment_id, kind";
    let mut statement = db.prepare_cached(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    let sent = lock(&world.log).sent.clone();
    while let Some(row) = rows.next().unwrap() {
        let (id, kind, times): (String, String, u32) = (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        let is_same = |(payment, what): &&(String, String)| *payment == id && (what == "otp") == (kind == "confirm");
        if times as usize > sent.iter().filter(is_same).count() {
            broken.push(format!("{id} tells of {times} answers to {kind}, which was not sent so often"));
        }
    }
}

/// It may still take money. (One of which a charge is in doubt can come beside another, by a report after its end.)
fn is_live(state: &str) -> bool {
    matches!(state, "prepared" | "sending" | "unknown" | "awaiting" | "confirming")
}

/// Invariant 3.
fn one_may_take_money(rows: &[Row], broken: &mut Vec<String>) {
    let mut live: HashMap<&str, usize> = HashMap::new();
    let may_take_money = |row: &&Row| row.method != "pay_form" && !row.is_replaced && is_live(&row.state);
    for row in rows.iter().filter(may_take_money) {
        *live.entry(&row.checkout).or_default() += 1;
    }
    broken.extend(
        live.iter()
            .filter(|(_, count)| **count > 1)
            .map(|(checkout, count)| format!("invariant 3: {count} payments of {checkout} may take money")),
    );
}

/// The payment in the gateway's books that a row stands for, by what it was charged as.
fn booked<'a>(row: &Row, books: &'a [FakePayment]) -> Option<&'a FakePayment> {
    let is_it = |payment: &&FakePayment| match row.method.as_str() {
        "mbank" | "megapay" | "card" => {
            payment.order_number.is_some() && payment.order_number == row.reference.order_number
        }
        "qr" => payment.transaction_id.is_some() && payment.transaction_id == row.reference.transaction_id,
        _ => {
            // By its address, as a pay-form has no number of its own.
            let url = payment.callback_url.as_deref().unwrap_or_default();
            payment.kind == PaymentKind::PayForm && url.ends_with(&row.id["pay_".len()..])
        }
    };
    books.iter().find(is_it)
}

/// Of a QR code whose number is not known here.
fn is_charged_by_address(row: &Row, books: &[FakePayment]) -> bool {
    let has_its_address = |url: &String| url.ends_with(&row.id["pay_".len()..]);
    let mut all = books.iter().filter(|payment| payment.callback_url.as_ref().is_some_and(has_its_address));
    all.any(|payment| payment.status == PaymentStatus::Charged)
}

/// Invariant 4, and the second half of 3: a second charge is found and flagged.
fn paid_by_the_report_alone(db: &Connection, rows: &[Row], books: &[FakePayment], broken: &mut Vec<String>) {
    let mut charged: HashMap<&str, usize> = HashMap::new();
    for row in rows.iter().filter(|row| row.state == "charged") {
        *charged.entry(&row.checkout).or_default() += 1;
        let by_a_person = row.is_resolved && !row.is_reported;
        if !by_a_person && booked(row, books).is_none_or(|payment| payment.status != PaymentStatus::Charged) {
            broken.push(format!("invariant 4: {} is charged, and not at the gateway", row.id));
        }
    }
    let mut checkouts = db.prepare_cached("SELECT id, state, is_overpaid, paid_by FROM checkouts").unwrap();
    let checkouts = checkouts.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    for checkout in checkouts {
        let (id, state, is_overpaid, paid_by): (String, String, bool, Option<String>) = checkout.unwrap();
        let count = charged.get(id.as_str()).copied().unwrap_or(0);
        if (state == "paid") != (count > 0) || paid_by.is_some() != (count > 0) {
            broken.push(format!("invariant 4: {id} is {state}, with {count} payments charged"));
        }
        if is_overpaid != (count > 1) {
            broken.push(format!("invariant 3: {id} has {count} payments charged, overpaid: {is_overpaid}"));
        }
        let recorded = "SELECT COUNT(*) FROM events WHERE checkout_id = ?1 AND kind = 'checkout.overpaid'";
        let recorded: u32 = one(db, recorded, [&id]).unwrap();
        if recorded as usize != count.saturating_sub(1) {
            broken.push(format!("invariant 3: {id} was told overpaid {recorded} times for {count} charges"));
        }
    }
}

/// Invariant 5.
fn one_payment_pays_once(rows: &[Row], broken: &mut Vec<String>) {
    let mut numbers = HashSet::new();
    for row in rows.iter().filter(|row| row.is_reported) {
        let number = row.reference.transaction_id.as_ref().or(row.reference.order_number.as_ref());
        if !number.is_some_and(|number| numbers.insert(number)) {
            broken.push(format!("invariant 5: {number:?} pays for {} and for something else", row.id));
        }
    }
}

/// Invariants 6 and 7: the history that events tell is whole, each step is one that may be, and it ends where things stand.
fn events_tell_every_change(db: &Connection, rows: &[Row], broken: &mut Vec<String>) {
    let mut statement =
        db.prepare_cached("SELECT event_id, payment_id, number, version, kind, body FROM events ORDER BY seq").unwrap();
    let events = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?)));
    let mut states: HashMap<String, (i64, String)> = HashMap::new();
    let mut versions: HashMap<String, (i64, String)> = HashMap::new();
    let mut in_doubt: HashMap<String, HashSet<String>> = HashMap::new();
    let mut replaced: HashSet<String> = HashSet::new();
    for event in events.unwrap() {
        let (id, payment, number, version, kind, body): (String, Option<String>, i64, i64, String, String) =
            event.unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        if body["id"] != id.as_str() || body["type"] != kind.as_str() {
            broken.push(format!("invariant 7: {id} does not tell what it is"));
        }
        let checkout = body["data"]["checkout"].as_str().unwrap().to_owned();
        let of = versions.entry(checkout.clone()).or_insert((0, "open".to_owned()));
        if version != of.0 + 1 {
            broken.push(format!("invariant 7: {checkout} has version {version} after {}", of.0));
        }
        *of = (version, body["data"]["checkout_state"].as_str().unwrap().to_owned());
        let Some(payment) = payment else { continue };
        let state = body["data"]["payment"]["state"].as_str().unwrap().to_owned();
        let reason = body["data"]["reason"].as_str();
        let doubts = in_doubt.entry(checkout.clone()).or_default();
        let may_take_more = matches!(kind.as_str(), "payment.created" | "payment.sending" | "payment.confirming");
        if may_take_more && doubts.iter().any(|other| *other != payment) {
            broken.push(format!("invariant 3: {kind} of {payment}, while a charge of {doubts:?} is in doubt"));
        }
        if kind == "payment.replaced" {
            replaced.insert(payment.clone());
        }
        if kind == "payment.confirming" && replaced.contains(&payment) {
            broken.push(format!("invariant 3: {payment} was confirmed after its payer left it"));
        }
        match matches!(state.as_str(), "mismatch" | "unverifiable") {
            true => doubts.insert(payment.clone()),
            false => doubts.remove(&payment),
        };
        let before = states.get(&payment).cloned();
        let last = before.as_ref().map_or(0, |before| before.0);
        if number != last + 1 {
            broken.push(format!("invariant 7: event {number} of {payment} comes after {last}"));
        }
        if let Some((_, before)) = &before
            && !(*before == state && tells_without_a_change(&kind))
            && !may_follow(before, &state, &kind, reason)
        {
            broken.push(format!("invariant 6: {payment} went from {before} to {state} ({reason:?})"));
        }
        states.insert(payment, (number, state));
    }
    for row in rows {
        if states.get(&row.id) != Some(&(row.events, row.state.clone())) {
            broken.push(format!("invariant 7: {} is {}, told was {:?}", row.id, row.state, states.get(&row.id)));
        }
    }
    let mut checkouts = db.prepare_cached("SELECT id, version, state FROM checkouts").unwrap();
    let checkouts = checkouts.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for checkout in checkouts {
        let (id, version, state): (String, i64, String) = checkout.unwrap();
        let recorded = versions.get(&id).cloned().unwrap_or((0, "open".to_owned()));
        if recorded != (version, state.clone()) {
            broken.push(format!("invariant 7: {id} is {state} in version {version}, told was {recorded:?}"));
        }
    }
}

/// What is told of a payment that stays as it is.
fn tells_without_a_change(kind: &str) -> bool {
    matches!(
        kind,
        "payment.replaced" | "payment.stuck" | "payment.mismatch" | "payment.unverifiable" | "payment.reviewed"
    )
}

/// Nothing takes a charge back, and time alone never ends what is unknown. Written apart from the server's own table.
fn may_follow(before: &str, after: &str, kind: &str, reason: Option<&str>) -> bool {
    let by_time = matches!(reason, Some("NeverSent" | "NoResponse"));
    if kind == "payment.resolved" {
        let was_in_doubt = matches!(before, "unknown" | "mismatch" | "unverifiable" | "awaiting" | "confirming");
        return was_in_doubt && matches!(after, "charged" | "rejected");
    }
    match (before, after) {
        ("charged", _) => false,
        (_, "charged") => true,
        ("prepared", "sending") | ("sending", "awaiting" | "unknown") => true,
        ("prepared" | "sending", "not_made") => true,
        ("unknown", "awaiting" | "rejected" | "mismatch" | "unverifiable") => true,
        ("unknown", "not_made") => !by_time,
        ("awaiting", "confirming" | "rejected" | "mismatch" | "unverifiable") => true,
        ("confirming", "awaiting" | "rejected" | "mismatch" | "unverifiable") => true,
        // A charge is reported after an end, and cannot be believed.
        ("rejected" | "not_made", "mismatch" | "unverifiable") => true,
        _ => false,
    }
}

/// Invariant 9: of a wallet's phone, as long as the request with the PIN needs it, and no longer.
fn phones_are_kept_while_a_pin_may_be_sent(db: &Connection, broken: &mut Vec<String>) {
    let sql = "SELECT payments.id, payments.state, payer_phone IS NOT NULL,
            method = 'megapay' AND is_replaced = 0 AND attempts_left > 0 AND checkouts.state = 'open'
        FROM payments JOIN checkouts ON checkouts.id = checkout_id";
    let mut statement = db.prepare_cached(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    for row in rows {
        let (id, state, is_kept, can_be): (String, String, bool, bool) = row.unwrap();
        if is_kept && !(can_be && is_live(&state)) {
            broken.push(format!("invariant 9: the phone of {id}, which is {state}, is kept"));
        }
        // Of one that is confirming, the password may have been sent.
        if !is_kept && can_be && is_live(&state) && state != "confirming" {
            broken.push(format!("{id} is {state}, and no PIN can be sent without its phone"));
        }
    }
}

/// Invariant 9: neither the payers' password nor a planted card number nor a token is anywhere.
fn nothing_secret(db: &Connection, world: &World, broken: &mut Vec<String>) {
    let mut tables = db.prepare_cached("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    let mut texts: Vec<String> = lock(&world.shop).seen.values().cloned().collect();
    for table in tables {
        let mut statement = db.prepare_cached(&format!("SELECT * FROM {table}")).unwrap();
        // Looked at by itself: what is unknown may be confirmed still.
        let is_phone: Vec<bool> = statement.column_names().map(|name| name == "payer_phone").collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            texts.extend(
                (0..is_phone.len())
                    .filter(|index| !is_phone[*index])
                    .filter_map(|index| row.get::<_, String>(index).ok()),
            );
        }
    }
    let cards = ["4000-0000-0000-2016", "4000 0000 0000 2016", "4000000000002016"];
    let phones = ["996700000001", "996700000002", "0700-000-001"];
    for secret in [world.fake.otp().as_str(), CVC, "ct_"].into_iter().chain(cards).chain(phones) {
        if let Some(text) = texts.iter().find(|text| holds(text, secret)) {
            broken.push(format!("invariant 9: {secret} is in {text}"));
        }
    }
}

/// As a word: six digits can be in any identifier.
fn holds(text: &str, secret: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(secret).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + secret.len()..].chars().next();
        !is_part(before) && (secret == "ct_" || !is_part(after))
    })
}

/// Invariant 8: what the gateway has has ended, as there.
fn everything_ended(db: &Connection, rows: &[Row], books: &[FakePayment], world: &World, broken: &mut Vec<String>) {
    for row in rows {
        let state = row.state.as_str();
        let booked = booked(row, books).map(|payment| &payment.status);
        let is_odd = matches!(state, "mismatch" | "unverifiable") && lock(&world.log).odd.contains(&row.id);
        // A person is believed, until the gateway reports a charge.
        let by_a_person =
            row.is_resolved && (state == "charged" || state == "rejected" && booked != Some(&PaymentStatus::Charged));
        let is_right = is_odd
            || by_a_person
            || match (booked, row.method.as_str()) {
                (Some(PaymentStatus::Charged), _) => state == "charged",
                // Whoever declined on a page may pay there later; and what nobody was shown, nobody could pay.
                (Some(_), "pay_form") => matches!(state, "awaiting" | "not_made"),
                (Some(PaymentStatus::Rejected), "mbank" | "megapay") => state == "rejected",
                (Some(PaymentStatus::Rejected), _) => matches!(state, "rejected" | "not_made"),
                (Some(_), _) => false,
                // A code that was shown by what a restored database has forgotten: its callback is all that tells of the charge.
                (None, "qr") if is_charged_by_address(row, books) => state == "unverifiable",
                (None, _) => matches!(state, "not_made" | "unknown"),
            };
        if !is_right {
            broken.push(format!("invariant 8: {} by {} is {state}, at the gateway {booked:?}", row.id, row.method));
        }
        if row.is_stuck && matches!(state, "charged" | "rejected" | "not_made") {
            broken.push(format!("invariant 8: {} is {state}, and stuck", row.id));
        }
    }
    let late = "SELECT COUNT(*) FROM checkouts WHERE state = 'open' AND expires_at <= now_ms() AND id NOT IN
        (SELECT checkout_id FROM payments WHERE state IN ('unknown', 'mismatch', 'unverifiable'))";
    let late: i64 = one(db, late, []).unwrap();
    if late > 0 {
        broken.push(format!("invariant 8: {late} checkouts should have expired"));
    }
}

/// Invariant 7: what a stream has behind it was taken; or it asks for nothing, and is written down as refused.
fn nothing_is_stepped_over(db: &Connection, world: &World, broken: &mut Vec<String>) {
    let sql = "SELECT event_id, kind, EXISTS (SELECT 1 FROM refused_events WHERE seq = events.seq)
        FROM events JOIN streams ON streams.checkout_id = events.checkout_id WHERE events.seq <= streams.delivered";
    let mut statement = db.prepare_cached(sql).unwrap();
    let recorded = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let shop = lock(&world.shop);
    for event in recorded {
        let (id, kind, is_refused): (String, String, bool) = event.unwrap();
        if is_refused && requires_action(&kind) {
            broken.push(format!("invariant 7: {kind} {id} was stepped over"));
        }
        if !is_refused && !shop.seen.contains_key(&id) {
            broken.push(format!("invariant 7: {kind} {id} counts as taken, and the shop never took it"));
        }
    }
}

/// Written apart from the server's own table.
fn requires_action(kind: &str) -> bool {
    matches!(kind, "checkout.paid" | "checkout.overpaid")
}

/// Invariant 7: at least once, all of it.
fn everything_was_told(db: &Connection, world: &World, broken: &mut Vec<String>) {
    let mut statement = db.prepare_cached("SELECT event_id FROM events").unwrap();
    let ids = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let shop = lock(&world.shop);
    broken.extend(
        ids.map(Result::unwrap)
            .filter(|id| !shop.seen.contains_key(id))
            .map(|id| format!("invariant 7: the shop never saw {id}")),
    );
}

fn rows(db: &Connection) -> Vec<Row> {
    let sql = "SELECT id, checkout_id, method, state, reference, events, is_stuck,
        EXISTS (SELECT 1 FROM events WHERE payment_id = payments.id AND kind = 'payment.resolved'),
        EXISTS (SELECT 1 FROM events WHERE payment_id = payments.id AND kind = 'payment.charged'), is_replaced FROM payments";
    let mut statement = db.prepare_cached(sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok(Row {
            id: row.get(0)?,
            checkout: row.get(1)?,
            method: row.get(2)?,
            state: row.get(3)?,
            reference: row.get::<_, String>(4)?.parse().unwrap(),
            events: row.get(5)?,
            is_stuck: row.get(6)?,
            is_resolved: row.get(7)?,
            is_reported: row.get(8)?,
            is_replaced: row.get(9)?,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}
