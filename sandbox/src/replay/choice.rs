//! Selects the recorded payment for a new one: the most similar one, and another one if its client continues differently.

use std::{cmp::Reverse, collections::HashMap, time::Instant};

use time::OffsetDateTime;

use crate::{
    recording::header,
    replay::{
        player::{FirstRequest, NewRequest, Player, Session},
        render::{Substitution, alike},
        script::{Event, EventKind, RecordedPayment, key, response_text},
        values::{self, Field},
    },
};

impl Player {
    /// Starts replaying the recorded payment that fits a request best.
    pub(super) fn begin(&mut self, request: &NewRequest<'_>, fields: &[Field], numbers: &[String]) -> Option<usize> {
        let masked = values::of_request(request.target, &self.masker.text(request.body));
        let mut candidates = Vec::new();
        for (index, payment) in self.script.payments.iter().enumerate() {
            let key = key(request.method, request.target, |part| payment.numbers.contains(part));
            let is_literal = numbers.iter().any(|number| payment.numbers.contains(number));
            let is_request = |event: &Event| event.key == key && !matches!(event.kind, EventKind::Callback { .. });
            let first = match is_literal {
                true => payment.events.iter().position(is_request),
                false => payment.events.first().is_some_and(is_request).then_some(0),
            };
            let Some(first) = first else { continue };
            let score =
                likeness(&payment.events[first], &masked, request.is_authorized) + if is_literal { 1000 } else { 0 };
            candidates.push((score, index, first, is_literal));
        }
        let best = candidates.iter().map(|(score, ..)| *score).max()?;
        candidates.retain(|(score, ..)| *score == best);
        let payments = &self.script.payments;
        // If a recorded client stopped early, its payment may be the beginning of another one, which is preferred.
        let is_whole =
            |index: usize| !candidates.iter().any(|(_, other, ..)| payments[index].is_beginning_of(&payments[*other]));
        let rank = |(_, index, ..): &&(u32, usize, usize, bool)| (!is_whole(*index), self.plays[*index], *index);
        let (_, index, first, is_literal) = *candidates.iter().min_by_key(rank)?;
        self.plays[index] += 1;
        let payment = &self.script.payments[index];
        let began = payment.events[first].at;
        let mut substitution = Substitution::new(&self.script.upstream, &self.own_origin, later_ms(began));
        let session = self.sessions.len();
        substitution.add_request(&payment.events[first].fields, fields);
        for number in &payment.generated {
            // A client that repeats the recorded run uses the recorded number.
            let new = if numbers.contains(number) { number.clone() } else { alike(number, &mut self.random) };
            substitution.add_number(number, &new);
            self.by_number.insert(new, session);
        }
        let mut done = HashMap::new();
        for event in payment.events[..first].iter().filter(|event| event.kind == EventKind::Action) {
            *done.entry(event.key.clone()).or_default() += 1;
        }
        self.sessions.push(Session {
            payment: index,
            substitution,
            position: began,
            anchor: (Instant::now(), began),
            done,
            played: Vec::new(),
            sent: vec![false; payment.events.len()],
            delivered: 0,
            was_callback_accepted: false,
            first: (!is_literal).then_some(FirstRequest { fields: masked, is_authorized: request.is_authorized }),
        });
        Some(session)
    }

    /// Switches to a recorded payment that answered alike so far, and has this request. Returns whether there is one.
    pub(super) fn go_over(&mut self, session: usize, key: &str) -> bool {
        let live = &self.sessions[session];
        let Some(first) = &live.first else { return false };
        let payments = &self.script.payments;
        let old = &payments[live.payment];
        let candidates = payments.iter().enumerate().filter_map(|(index, payment)| {
            let begins_alike = payment.events.first().is_some_and(|event| event.key == old.events[0].key);
            let is_candidate = index != live.payment && begins_alike;
            let events = if is_candidate { same_events(old, payment, &live.played)? } else { return None };
            let has_request = payment.with_key(key, false).count() > live.done.get(key).copied().unwrap_or_default();
            has_request.then(|| {
                let score = likeness(&payment.events[0], &first.fields, first.is_authorized);
                ((score, Reverse(self.plays[index]), Reverse(index)), events)
            })
        });
        let Some(((_, _, Reverse(index)), events)) = candidates.max_by_key(|(rank, _)| *rank) else { return false };
        let payment = &payments[index];
        let mut numbers = Vec::new();
        for ((old_event, _), event) in live.played.iter().zip(&events) {
            let [before, now] = [&old.events[*old_event], &payment.events[*event]]
                .map(|event| values::numbers(&values::of_text(response_text(&event.exchange))));
            numbers.extend(before.into_iter().zip(now));
        }
        self.plays[live.payment] -= 1;
        self.plays[index] += 1;
        let live = &mut self.sessions[session];
        live.payment = index;
        for (played, event) in live.played.iter_mut().zip(&events) {
            live.substitution.add_request(&payment.events[*event].fields, &played.1);
            played.0 = *event;
        }
        // The client has new numbers for the old payment's: they replace the numbers in the same places.
        for (before, now) in numbers {
            if let Some(new) = live.substitution.new_number(&before).map(str::to_owned) {
                live.substitution.add_number(&now, &new);
            }
        }
        for number in &payment.generated {
            if live.substitution.new_number(number).is_none() {
                let new = alike(number, &mut self.random);
                live.substitution.add_number(number, &new);
                self.by_number.insert(new, session);
            }
        }
        live.substitution.set_later(later_ms(payment.events[0].at));
        live.position = events.iter().map(|event| payment.events[*event].at).max().unwrap_or_default();
        live.anchor = (Instant::now(), live.position);
        let mut sent = 0;
        live.sent = payment
            .events
            .iter()
            .map(|event| {
                let is_callback = matches!(event.kind, EventKind::Callback { .. });
                sent += usize::from(is_callback);
                is_callback && sent <= live.delivered
            })
            .collect();
        true
    }
}

/// The events of a payment that answer like those of another one that were replayed; `None` if one is missing.
fn same_events(old: &RecordedPayment, payment: &RecordedPayment, played: &[(usize, Vec<Field>)]) -> Option<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    for (event, _) in played {
        let before = &old.events[*event];
        let is_query = before.kind == EventKind::Query;
        let mut events = payment.events.iter().enumerate();
        let same = events.position(|(index, event)| {
            (event.kind, &event.key, &event.answer) == (before.kind, &before.key, &before.answer)
                && (is_query || !found.contains(&index))
        })?;
        // An action must follow the actions that were replayed before it.
        let is_late =
            is_query || found.iter().all(|other| payment.events[*other].kind == EventKind::Query || *other < same);
        // An action in between with another answer did not happen in this payment.
        let others = payment.events[..same].iter().enumerate();
        let mut skipped = others.filter(|(index, event)| event.kind == EventKind::Action && !found.contains(index));
        if !is_late || skipped.next().is_some() {
            return None;
        }
        found.push(same);
    }
    Some(found)
}

/// The time between the recording of a payment and its replay, in milliseconds.
fn later_ms(began: i64) -> i64 {
    let now = OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000;
    i64::try_from(now).unwrap_or(i64::MAX).saturating_sub(began / 1000)
}

/// The similarity of a recorded request to a new one, whose secrets are masked in the same way.
fn likeness(event: &Event, new: &[Field], is_authorized: bool) -> u32 {
    let was_authorized = header(&event.exchange.request.headers, "authorization").is_some();
    let mut likeness = if was_authorized == is_authorized { 16 } else { 0 };
    let has = |fields: &[Field], place: &str| fields.iter().any(|field| field.place == place);
    let same_shape = event.fields.len() == new.len() && event.fields.iter().all(|field| has(new, &field.place));
    likeness += if same_shape { 4 } else { 0 };
    for field in event.fields.iter().filter(|field| !field.is_number()) {
        let is_equal = new.iter().any(|other| other.place == field.place && other.value == field.value);
        likeness += match field.name.as_str() {
            _ if !is_equal => 0,
            "pan" | "phone" | "user" | "msisdn" => 8,
            "amount" | "sum" => 4,
            "provider" | "currency" | "account" => 2,
            _ => 1,
        };
    }
    likeness
}
