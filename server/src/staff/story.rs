//! The history of a checkout, in order: events, decisions with person and reason, and open tasks.

use serde_json::Value;

use super::{
    labels,
    texts::{Texts, fill},
};
use crate::{
    events::{Event, EventKind},
    server::Server,
    storage::staff::History,
};

/// One event of the history.
pub(super) struct EventRow {
    pub(super) at: String,
    pub(super) words: &'static str,
    /// The class in the stylesheet: good, bad, wait or calm.
    pub(super) tone: &'static str,
    pub(super) kind: String,
    pub(super) id: String,
    /// The payment that it is about.
    pub(super) payment: Option<String>,
    pub(super) notes: Vec<(&'static str, String)>,
    pub(super) delivered: String,
}

/// Everything that happened, in its order.
pub(super) fn story(history: &History, server: &Server, t: &Texts) -> Vec<EventRow> {
    let changes_refunds =
        |event: &&Event| matches!(event.kind, Some(EventKind::CheckoutOverpaid | EventKind::CheckoutRefundRecorded));
    let last = history.events.iter().rev().find(changes_refunds).map(|event| event.seq);
    let row = |event: &Event| {
        let mut row = event_row(event, history, server, t);
        if last == Some(event.seq) {
            row.notes.push(left_to_refund(history, t));
        }
        row
    };
    history.events.iter().map(row).collect()
}

/// The surplus that is still to be refunded.
fn left_to_refund(history: &History, t: &Texts) -> (&'static str, String) {
    let checkout = &history.listed.view.checkout;
    match checkout.amount.checked_mul(checkout.refunds_due.into()) {
        Some(sum) if sum.is_zero() => (t.note_due, t.note_all_back.to_owned()),
        Some(sum) => (t.note_due, labels::money(sum, &checkout.currency, t)),
        None => (t.note_due, fill(t.too_much, &[&checkout.currency])),
    }
}

fn event_row(event: &Event, history: &History, server: &Server, t: &Texts) -> EventRow {
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let note = |name, field: &str| Some((name, body["data"][field].as_str()?.to_owned()));
    let state = |text: &str| match (text.parse(), text.parse()) {
        (Ok(state), _) => labels::payment_state(state, t).word.to_owned(),
        (_, Ok(state)) => labels::checkout_state(state, t).word.to_owned(),
        _ => text.to_owned(),
    };
    let before = body["data"]["after"].as_str().map(|text| (t.note_before, state(text)));
    let outcome = body["data"]["payment"]["state"].as_str().filter(|_| event.kind == Some(EventKind::PaymentResolved));
    let decided = outcome
        .map(|state| (t.note_decided, if state == "charged" { t.was_charged } else { t.was_not_charged }.to_owned()));
    let via = body["data"]["via"]["key"].as_str().map(|key| {
        let whose = if body["data"]["via"]["role"] == "staff" { t.own_key } else { t.shop_key };
        (t.note_through, format!("{whose} {key}"))
    });
    let notes = [decided, before, note(t.note_why, "reason"), note(t.note_by, "by"), via];
    let payment = event.payment.as_ref().and_then(|id| history.listed.view.payment(id));
    EventRow {
        at: labels::moment(event.at, t),
        words: event.kind.map_or(t.ev_later, |kind| labels::event(kind, t)),
        tone: event.kind.map_or("calm", tone),
        kind: event
            .kind
            .map_or_else(|| body["type"].as_str().unwrap_or_default().to_owned(), |kind| kind.name().to_owned()),
        id: event.id.clone(),
        payment: payment.map(|payment| fill(t.in_payment, &[&payment.number])),
        notes: notes.into_iter().flatten().collect(),
        delivered: delivered(event, history, server, t),
    }
}

fn tone(kind: EventKind) -> &'static str {
    match kind {
        EventKind::CheckoutPaid | EventKind::PaymentCharged => "good",
        EventKind::CheckoutOverpaid
        | EventKind::PaymentUnknown
        | EventKind::PaymentMismatch
        | EventKind::PaymentUnverifiable => "bad",
        EventKind::PaymentStuck => "wait",
        _ => "calm",
    }
}

/// The delivery state of an event. The value of `events.kinds` at its time is stored nowhere, so the present value decides.
fn delivered(event: &Event, history: &History, server: &Server, t: &Texts) -> String {
    if let Some(refused) = history.refused.iter().find(|refused| refused.seq == event.seq) {
        return fill(t.to_refused, &[&refused.reason]);
    }
    let words = match () {
        () if !server.delivers_events() && event.seq > history.delivered => t.to_reads,
        () if !server.delivers_kind(event.kind) => t.to_kind,
        () if event.seq <= history.delivered => t.to_taken,
        () if history.is_given_up => t.to_given_up,
        () if history.failures > 0 => t.to_not_yet,
        () => t.to_on_its_way,
    };
    words.to_owned()
}
