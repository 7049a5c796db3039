//! A recording as a script: its exchanges by payment, each a timeline of actions, status queries and callbacks.

use std::collections::BTreeSet;

use crate::{
    recording::{self, Direction, Exchange, Recording},
    replay::values::{self, Field},
};

/// The minimum length of a number to search for in texts of responses, such as a QR code.
const SHORTEST_IN_TEXT: usize = 6;

/// The role of an exchange for its payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    /// Creates or changes the payment, once in the sequence.
    Action,
    /// Queries its status.
    Query,
    /// Notifies the merchant.
    Callback {
        /// Whether it repeats one that the merchant did not accept.
        is_retry: bool,
    },
}

/// An exchange in the timeline of a payment.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    /// The method, and the path without the payment's numbers.
    pub(super) key: String,
    /// Its start, in microseconds since 1970. No two events of a payment start at the same time.
    pub(super) at: i64,
    pub(super) fields: Vec<Field>,
    /// The answer without numbers, amounts and times: its status, codes and words.
    pub(super) answer: String,
    pub(super) exchange: Exchange,
}

/// A recorded payment.
#[derive(Debug, Default)]
pub(super) struct RecordedPayment {
    /// In the order of their start. The first one is not a callback.
    pub(super) events: Vec<Event>,
    pub(super) numbers: BTreeSet<String>,
    /// The numbers chosen by the gateway.
    pub(super) generated: BTreeSet<String>,
}

/// A recording by payment.
pub(super) struct Script {
    pub(super) upstream: String,
    /// In the order of their first exchange.
    pub(super) payments: Vec<RecordedPayment>,
    /// Callbacks that belong to no payment.
    pub(super) stray_callbacks: usize,
}

impl Script {
    pub(super) fn of(recording: Recording) -> Self {
        let upstream = recording.header.upstream;
        let mut script = Self { upstream, payments: Vec::new(), stray_callbacks: 0 };
        for exchange in recording.exchanges {
            script.add(exchange);
        }
        for payment in &mut script.payments {
            payment.finish();
        }
        script
    }

    fn add(&mut self, exchange: Exchange) {
        let body = exchange.request.body.as_ref().and_then(|body| body.text.as_deref()).unwrap_or_default();
        let fields = values::of_request(&exchange.request.target, body);
        let numbers = values::numbers(&fields);
        let is_callback = exchange.direction == Direction::Callback;
        let payment = match (self.find(&numbers, &exchange.request.target), is_callback) {
            (Some(index), _) => &mut self.payments[index],
            (None, true) => {
                self.stray_callbacks += 1;
                return;
            }
            (None, false) => {
                self.payments.push(RecordedPayment::default());
                let last = self.payments.len() - 1;
                &mut self.payments[last]
            }
        };
        if is_callback {
            payment.add_generated(numbers);
        } else {
            payment.numbers.extend(numbers);
            payment.add_generated(values::numbers(&values::of_text(response_text(&exchange))));
        }
        let kind = match is_callback {
            true => EventKind::Callback { is_retry: payment.has_refused(&exchange) },
            false if !payment.events.is_empty() && is_query(&exchange) => EventKind::Query,
            false => EventKind::Action,
        };
        // The file has milliseconds, so the order of the exchanges decides.
        let at = recording::time_ms(&exchange.started_at).unwrap_or_default().saturating_mul(1000);
        let at = payment.events.last().map_or(at, |last| at.max(last.at + 1));
        let answer = answer(&exchange, &fields);
        payment.events.push(Event { kind, key: String::new(), at, fields, answer, exchange });
    }

    /// The latest payment of a request: by a number in it, or by one in the text of an earlier response.
    fn find(&self, numbers: &[String], target: &str) -> Option<usize> {
        let known = |payment: &RecordedPayment| {
            numbers.iter().any(|number| payment.numbers.contains(number))
                || path(target).split('/').any(|part| payment.numbers.contains(part))
        };
        let named = |payment: &RecordedPayment| {
            numbers.iter().filter(|number| number.len() >= SHORTEST_IN_TEXT).any(|number| {
                payment.events.iter().any(|event| response_text(&event.exchange).contains(number.as_str()))
            })
        };
        self.payments.iter().rposition(known).or_else(|| self.payments.iter().rposition(named))
    }
}

impl RecordedPayment {
    /// The events of requests, or of callbacks.
    pub(super) fn with_key<'a>(
        &'a self,
        key: &'a str,
        is_callback: bool,
    ) -> impl DoubleEndedIterator<Item = &'a Event> {
        let is_wanted =
            move |event: &&Event| event.key == key && matches!(event.kind, EventKind::Callback { .. }) == is_callback;
        self.events.iter().filter(is_wanted)
    }

    /// Whether this payment is the beginning of another one, which gives the same answers and continues.
    pub(super) fn is_beginning_of(&self, other: &Self) -> bool {
        let mut has_less = other.events.iter().any(|event| {
            let is_callback = matches!(event.kind, EventKind::Callback { .. });
            self.with_key(&event.key, is_callback).next().is_none()
        });
        let are_prefixes = self.events.iter().all(|event| {
            let is_callback = matches!(event.kind, EventKind::Callback { .. });
            let [own, others] = [self, other].map(|payment| {
                let mut answers: Vec<&str> =
                    payment.with_key(&event.key, is_callback).map(|event| event.answer.as_str()).collect();
                if event.kind != EventKind::Action {
                    // The number of a client's queries does not matter.
                    answers.dedup();
                }
                answers
            });
            has_less |= own.len() < others.len();
            others.starts_with(&own)
        });
        are_prefixes && has_less
    }

    fn add_generated(&mut self, numbers: Vec<String>) {
        for number in numbers {
            if self.numbers.insert(number.clone()) {
                self.generated.insert(number);
            }
        }
    }

    /// Whether the merchant refused the same callback before.
    fn has_refused(&self, exchange: &Exchange) -> bool {
        let same = |event: &&Event| {
            event.exchange.direction == Direction::Callback && event.exchange.request.body == exchange.request.body
        };
        let last = self.events.iter().rev().find(same);
        last.is_some_and(|event| !is_accepted(&event.exchange))
    }

    fn finish(&mut self) {
        // If a request has a number that only a QR code's text had before, it is the gateway's.
        let in_texts: Vec<String> = self
            .numbers
            .iter()
            .filter(|number| number.len() >= SHORTEST_IN_TEXT)
            .filter(|number| {
                let requested = |event: &Event| values::numbers(&event.fields).contains(number);
                let responded = |event: &Event| response_text(&event.exchange).contains(number.as_str());
                let first_requested = self.events.iter().position(requested).unwrap_or(usize::MAX);
                self.events.iter().position(responded).is_some_and(|first| first < first_requested)
            })
            .cloned()
            .collect();
        self.generated.extend(in_texts);
        for event in &mut self.events {
            event.key =
                key(&event.exchange.request.method, &event.exchange.request.target, |part| self.numbers.contains(part));
        }
    }
}

/// The key for comparing requests: the method, and the path without the payment's numbers.
pub(super) fn key(method: &str, target: &str, is_number: impl Fn(&str) -> bool) -> String {
    let parts: Vec<&str> = path(target).split('/').map(|part| if is_number(part) { "*" } else { part }).collect();
    format!("{method} {}", parts.join("/"))
}

fn path(target: &str) -> &str {
    target.split('?').next().unwrap_or(target)
}

/// The text of a response, empty if it has none.
pub(super) fn response_text(exchange: &Exchange) -> &str {
    let body = exchange.response.as_ref().and_then(|response| response.body.as_ref());
    body.and_then(|body| body.text.as_deref()).unwrap_or_default()
}

/// The answer without numbers, amounts, times and values of the request.
fn answer(exchange: &Exchange, requested: &[Field]) -> String {
    let (status, text) = match (exchange.direction, &exchange.response) {
        (Direction::Callback, _) => (0, exchange.request.body.as_ref().and_then(|body| body.text.as_deref())),
        (Direction::Request, Some(response)) => (response.status, Some(response_text(exchange))),
        (Direction::Request, None) => (0, None),
    };
    let mut answer = format!("{status}{}", if exchange.problem.is_some() { "!" } else { "" });
    for field in values::of_text(text.unwrap_or_default()) {
        let is_word = !field.value.contains(|character: char| character.is_ascii_digit() || character == '*');
        let is_echo =
            exchange.direction == Direction::Request && requested.iter().any(|known| known.value == field.value);
        let is_state = field.name.contains("code") || field.name.contains("status");
        if is_state || (is_word && !is_echo && !field.value.contains("://")) {
            answer.extend(["\n", &field.place, "=", &field.value]);
        }
    }
    answer
}

fn is_accepted(exchange: &Exchange) -> bool {
    exchange.response.as_ref().is_some_and(|response| (200..300).contains(&response.status))
}

/// Whether a request is a query: a GET, or a path that ends with a status.
fn is_query(exchange: &Exchange) -> bool {
    let last = path(&exchange.request.target).rsplit('/').next().unwrap_or_default();
    matches!(exchange.request.method.as_str(), "GET" | "HEAD") || last.to_ascii_lowercase().contains("status")
}
