//! The invariants of the server (`docs/server-design.md#invariants`): compares the gateway's books with what the server stored
//! and sent, and with what the shop read and received.

use std::collections::{HashMap, HashSet};

use kassa_sandbox::{CallbackAttempt, FaultName, Payment, PaymentStatus, Sandbox};
use serde_json::Value;

use crate::{
    ledger::{Checkout, Event, Row},
    scene::Scene,
    shop::Arrived,
};

/// Everything at one moment.
struct Books<'a> {
    gateway: Vec<Payment>,
    rows: Vec<Row>,
    checkouts: Vec<Checkout>,
    events: Vec<Event>,
    arrived: Vec<Arrived>,
    /// The addresses of forged callbacks that were taken.
    forged: Vec<String>,
    scene: &'a Scene,
}

/// What is broken for good: it holds at every moment, or never again.
pub fn broken(scene: &Scene) -> Vec<String> {
    let books = Books::read(scene);
    let mut broken = Vec::new();
    books.sent_once(&mut broken);
    books.one_may_take_money(&mut broken);
    books.paid_by_the_gateway_alone(&mut broken);
    books.events_tell_every_change(&mut broken);
    books.delivered_in_order(&mut broken);
    broken
}

/// What is still to come. In the end nothing is.
pub fn missing(scene: &Scene) -> Vec<String> {
    let books = Books::read(scene);
    let mut missing = Vec::new();
    books.ended_as_at_the_gateway(&mut missing);
    books.told_everything(&mut missing);
    missing
}

fn forged_callbacks(sandbox: &Sandbox) -> Vec<String> {
    let is_forged = |call: &CallbackAttempt| call.fault == Some(FaultName::CallbackForged);
    let taken = sandbox.callbacks().into_iter().filter(|call| is_forged(call) && call.http_status == Some(200));
    taken.map(|call| call.target).collect()
}

impl<'a> Books<'a> {
    /// The gateway's last: what it has done since then, the server cannot know yet.
    fn read(scene: &'a Scene) -> Self {
        let arrived = scene.shop.arrived();
        let ledger = scene.ledger().one_moment();
        Self {
            rows: ledger.rows(),
            checkouts: ledger.checkouts(),
            events: ledger.events(),
            gateway: scene.sandbox.payments(),
            forged: forged_callbacks(&scene.sandbox),
            arrived,
            scene,
        }
    }

    /// Invariant 2: nothing that moves money is sent twice, and no password while another one may have been taken.
    fn sent_once(&self, broken: &mut Vec<String>) {
        let mut made = HashSet::new();
        let mut confirmed: HashMap<String, Option<u16>> = HashMap::new();
        for request in self.scene.sandbox.requests() {
            let Some(number) = request.order_number else { continue };
            let moves_money =
                ["/mbank/pay", "/mega/check", "/payment"].iter().any(|end| request.endpoint.ends_with(end));
            if moves_money && !made.insert(number.clone()) {
                broken.push(format!("invariant 2: {number} was sent twice"));
            }
            if ["/mbank/confirm", "/mega/pay"].iter().any(|end| request.endpoint.ends_with(end)) {
                let last = confirmed.insert(number.clone(), request.http_status);
                if last.is_some_and(|status| !status.is_some_and(|status| (400..500).contains(&status))) {
                    broken.push(format!("invariant 2: a password of {number} was sent after one answered {last:?}"));
                }
            }
        }
        for payment in self.gateway.iter().filter(|payment| payment.times_charged > 1) {
            broken.push(format!("invariant 2: {} was charged {}x", payment.order_number, payment.times_charged));
        }
    }

    /// Invariant 3.
    fn one_may_take_money(&self, broken: &mut Vec<String>) {
        let mut live = HashSet::new();
        let may_take_money = |row: &&Row| {
            row.method != "pay_form"
                && !row.is_replaced
                && !["not_made", "charged", "rejected", "unverifiable"].contains(&&*row.state)
        };
        for row in self.rows.iter().filter(may_take_money) {
            if !live.insert(&row.checkout) {
                broken.push(format!("invariant 3: two payments of {} may take money", row.checkout));
            }
        }
    }

    /// Invariants 3, 4 and 5: a checkout is paid where the gateway charged a payment of its own, which paid for nothing
    /// else; a second charge is told.
    fn paid_by_the_gateway_alone(&self, broken: &mut Vec<String>) {
        let mut paid: HashMap<&str, usize> = HashMap::new();
        let mut numbers = HashSet::new();
        for row in self.rows.iter().filter(|row| row.state == "charged") {
            *paid.entry(&row.checkout).or_default() += 1;
            match row.booked(&self.gateway) {
                Some(payment) if !payment.is_charged() => {
                    broken.push(format!("invariant 4: {} is charged, and {} at the gateway", row.id, payment.status));
                }
                Some(payment) if !numbers.insert(&payment.gateway_number) => {
                    broken.push(format!("invariant 5: {} pays for {} and another", payment.order_number, row.id));
                }
                Some(_) => {}
                None => broken.push(format!("invariant 4: {} is charged, and unknown to the gateway", row.id)),
            }
        }
        for checkout in &self.checkouts {
            let count = paid.get(checkout.id.as_str()).copied().unwrap_or(0);
            if (checkout.state == "paid") != (count > 0) || checkout.paid_by.is_some() != (count > 0) {
                let (id, state) = (&checkout.id, &checkout.state);
                broken.push(format!("invariant 4: {id} is {state}, with {count} payments charged"));
            }
            let is_it = |event: &&Event| event.checkout == checkout.id && event.kind == "checkout.overpaid";
            let recorded = self.events.iter().filter(is_it).count();
            if checkout.is_overpaid != (count > 1) || recorded != count.saturating_sub(1) {
                let id = &checkout.id;
                broken.push(format!("invariant 3: {id} has {count} payments charged, and was told {recorded} times"));
            }
        }
    }

    /// Invariants 6 and 7: no step is missing in what events tell, none is one that may not be, and the last is where
    /// things stand.
    fn events_tell_every_change(&self, broken: &mut Vec<String>) {
        let mut versions: HashMap<&str, (i64, String)> = HashMap::new();
        let mut states: HashMap<&str, (i64, String)> = HashMap::new();
        for event in &self.events {
            let body: Value = serde_json::from_str(&event.body).expect("an event's text");
            let data = &body["data"];
            let state = data["checkout_state"].as_str().unwrap_or_default().to_owned();
            let last = versions.insert(&event.checkout, (data["version"].as_i64().unwrap_or(0), state));
            let (last, before) = last.unwrap_or((0, "open".to_owned()));
            if data["version"] != last + 1 || body["id"] != event.id || body["type"] != event.kind {
                broken.push(format!("invariant 7: after version {last} of {} comes {body}", event.checkout));
            }
            if before == "paid" && data["checkout_state"] != "paid" {
                broken.push(format!("invariant 6: {} was paid, and then {body}", event.checkout));
            }
            let Some(payment) = &event.payment else { continue };
            let state = data["payment"]["state"].as_str().unwrap_or_default().to_owned();
            let last = states.insert(payment, (event.number, state.clone()));
            if event.number != last.as_ref().map_or(0, |last| last.0) + 1 {
                broken.push(format!("invariant 7: after {last:?} of {payment} comes {body}"));
            }
            let by_time = matches!(data["reason"].as_str(), Some("NeverSent" | "NoResponse"));
            match last.as_ref().map(|last| (last.1.as_str(), state.as_str())) {
                Some(("charged", after)) if after != "charged" => {
                    broken.push(format!("invariant 6: {payment} was charged, and then {after}"));
                }
                Some(("unknown", after)) if by_time => {
                    broken.push(format!("invariant 6: time alone made {payment} {after}"));
                }
                _ => {}
            }
        }
        for row in &self.rows {
            let recorded = states.get(row.id.as_str());
            if recorded != Some(&(row.events, row.state.clone())) {
                broken.push(format!("invariant 7: {} is {}, and told was {recorded:?}", row.id, row.state));
            }
        }
        for checkout in &self.checkouts {
            let recorded = versions.get(checkout.id.as_str()).cloned().unwrap_or((0, "open".to_owned()));
            if recorded != (checkout.version, checkout.state.clone()) {
                let (id, state) = (&checkout.id, &checkout.state);
                broken.push(format!("invariant 7: {id} is {state}, and told was {recorded:?}"));
            }
        }
    }

    /// Invariant 7: what arrives first arrives in order, and is the same each time.
    fn delivered_in_order(&self, broken: &mut Vec<String>) {
        let known: HashMap<&str, &Event> = self.events.iter().map(|event| (event.id.as_str(), event)).collect();
        let mut seen = HashSet::new();
        let mut streams: HashMap<&str, Vec<&str>> = HashMap::new();
        for arrived in &self.arrived {
            let Some(event) = known.get(arrived.id.as_str()) else {
                broken.push(format!("invariant 7: {} arrived, and is not written down", arrived.id));
                continue;
            };
            if event.body != arrived.body {
                broken.push(format!("invariant 7: {} arrived as {}", arrived.id, arrived.body));
            }
            if seen.insert(&arrived.id) {
                streams.entry(&event.checkout).or_default().push(&arrived.id);
            }
        }
        for (checkout, stream) in streams {
            let recorded = self.events.iter().filter(|event| event.checkout == checkout).map(|event| event.id.as_str());
            if !recorded.take(stream.len()).eq(stream.iter().copied()) {
                broken.push(format!("invariant 7: the events of {checkout} arrived as {stream:?}"));
            }
        }
    }

    /// Invariant 8: what the gateway has has ended, as there.
    fn ended_as_at_the_gateway(&self, missing: &mut Vec<String>) {
        for row in &self.rows {
            let (state, booked) = (row.state.as_str(), row.booked(&self.gateway).map(|payment| payment.status));
            let is_right = match (booked, row.method.as_str()) {
                (Some(PaymentStatus::Charged), _) => state == "charged",
                // Whoever went away from a page may pay there later.
                (Some(_), "pay_form") => matches!(state, "awaiting" | "not_made"),
                (Some(PaymentStatus::Rejected), "mbank" | "megapay") => state == "rejected",
                (Some(PaymentStatus::Rejected), _) => matches!(state, "rejected" | "not_made"),
                (Some(_), _) => false,
                (None, "mbank" | "megapay" | "card") => matches!(state, "not_made" | "unknown"),
                // Nobody was shown the code, and a callback told of a charge: nothing but a person can say what happened.
                (None, "qr") if self.was_told_of_charge(row) => state == "unverifiable",
                (None, _) => state == "not_made",
            };
            if !is_right {
                let (id, method) = (&row.id, &row.method);
                missing.push(format!("invariant 8: {id} by {method} is {state}, at the gateway {booked:?}"));
            }
        }
        // Whatever was taken belongs to a payment that somebody knows of.
        for payment in self.gateway.iter().filter(|payment| payment.is_charged()) {
            if !self.rows.iter().any(|row| row.booked(std::slice::from_ref(payment)).is_some()) {
                missing.push(format!("invariant 8: nobody knows of {}, which is charged", payment.order_number));
            }
        }
        let waits = |id: &str| {
            self.rows.iter().any(|row| row.checkout == id && ["unknown", "unverifiable"].contains(&&*row.state))
        };
        for checkout in self.checkouts.iter().filter(|checkout| checkout.state == "open" && checkout.has_expired) {
            if !waits(&checkout.id) {
                missing.push(format!("invariant 8: {} should have expired", checkout.id));
            }
        }
    }

    /// Whether a forged callback, which the server has taken, reported a charge of it.
    fn was_told_of_charge(&self, row: &Row) -> bool {
        self.forged.iter().any(|target| target.ends_with(row.id.trim_start_matches("pay_")))
    }

    /// Invariant 7: at least once, all of it; and who reads events misses none.
    fn told_everything(&self, missing: &mut Vec<String>) {
        let arrived: HashSet<_> = self.arrived.iter().map(|arrived| arrived.id.as_str()).collect();
        for event in self.events.iter().filter(|event| !arrived.contains(event.id.as_str())) {
            missing.push(format!("invariant 7: {} {} never arrived", event.kind, event.id));
        }
        let read = self.scene.events_read();
        let ids: Vec<_> = self.events.iter().map(|event| event.id.clone()).collect();
        if read != ids {
            missing.push(format!("invariant 7: {} events were read of {}", read.len(), ids.len()));
        }
    }
}
