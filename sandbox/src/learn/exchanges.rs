//! The exchanges of recordings by payment. Numbers are matched by value, whatever their field is called: the names are yet to be learned.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use serde::de::IgnoredAny;
use url::{Url, form_urlencoded};

use super::{
    endpoint::{Endpoint, Role},
    report::At,
};
use crate::{
    encoding::elqr,
    recording::{
        Body, Direction, Exchange, Recording,
        json_text::{is_json, pointer, scalars, value_text},
        mask::HIDDEN,
    },
};

/// The minimum length of a number to search for in responses: shorter ones occur by chance.
const SHORTEST_NUMBER: usize = 4;

/// The JSON type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    /// `true`, `false` or `null`. A dialect reads none of them.
    Other,
}

/// A value with its JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) place: String,
    pub(super) text: String,
    pub(super) kind: Kind,
}

impl Value {
    /// Whether a dialect can read it and it is not masked.
    pub(super) fn is_readable(&self) -> bool {
        self.kind != Kind::Other && !self.text.trim().is_empty() && !self.text.contains(HIDDEN)
    }

    pub(super) fn decimal(&self) -> Option<Decimal> {
        let is_plain = self.text.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
        is_plain.then(|| Decimal::from_str_exact(&self.text).ok())?
    }

    /// Its web address, if it is one.
    pub(super) fn address(&self) -> Option<Url> {
        let is_web = self.kind == Kind::Text && (self.text.starts_with("https://") || self.text.starts_with("http://"));
        is_web.then(|| Url::parse(&self.text).ok())?
    }

    /// The tags of the ELQR code in it, such as `32.11`.
    pub(super) fn tags(&self) -> Vec<(String, String)> {
        let code = self.text.split_once('#').map_or(self.text.as_str(), |(_, code)| code);
        let code = percent_encoding::percent_decode_str(code).decode_utf8_lossy();
        elqr::tags(&code).unwrap_or_default()
    }

    /// Whether it is a payment's number, or contains it in an address or a code.
    pub(super) fn names(&self, number: &str) -> bool {
        let in_address = || {
            self.address().is_some_and(|url| {
                url.query_pairs().any(|(_, value)| value == number) || url.path().split('/').any(|part| part == number)
            })
        };
        self.is_readable()
            && (self.text == number || in_address() || self.tags().iter().any(|(_, value)| value == number))
    }
}

/// A request and its response.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) at: At,
    pub(super) endpoint: Endpoint,
    pub(super) method: String,
    pub(super) request: Vec<Value>,
    /// `None` if no response arrived.
    pub(super) status: Option<u16>,
    pub(super) response: Vec<Value>,
    pub(super) is_object: bool,
    /// The index of its payment.
    pub(super) payment: usize,
    /// Whether it creates a payment with a number that was used before.
    pub(super) is_repeat: bool,
}

impl Observed {
    pub(super) fn is_ok(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the core reads values in it. A query's response must be an object.
    pub(super) fn is_read(&self) -> bool {
        self.is_ok() && (self.is_object || matches!(self.endpoint, Endpoint::QrData | Endpoint::QrImage))
    }

    pub(super) fn value(&self, place: &str) -> Option<&Value> {
        self.response.iter().find(|value| value.place == place && value.is_readable())
    }

    pub(super) fn requested(&self, name: &str) -> Option<&str> {
        let place = format!("/{name}");
        self.request.iter().find(|value| value.place == place).map(|value| value.text.as_str())
    }
}

/// A callback from the gateway.
#[derive(Debug)]
pub(super) struct CallbackSeen {
    pub(super) at: At,
    pub(super) values: Vec<Value>,
    pub(super) payment: Option<usize>,
}

/// A payment that was created or only queried.
#[derive(Debug, Default)]
pub(super) struct Payment {
    /// The endpoint that created it.
    pub(super) created_by: Option<Endpoint>,
    /// The merchant's number.
    pub(super) own: Option<String>,
    /// The number in a `payment_status` query, if it is not the merchant's own.
    pub(super) gateway: Option<String>,
    /// The number in a `qr_status` query.
    pub(super) transaction: Option<String>,
    /// The requested amount, in som.
    pub(super) amount: Option<Decimal>,
    pub(super) currency: Option<String>,
    /// Its exchanges, in order.
    pub(super) exchanges: Vec<usize>,
}

impl Payment {
    pub(super) fn numbers(&self) -> impl Iterator<Item = &str> {
        [&self.own, &self.gateway, &self.transaction].into_iter().flatten().map(String::as_str)
    }

    pub(super) fn has_number(&self, number: &str) -> bool {
        self.numbers().any(|known| known == number)
    }

    /// Its name in the report.
    pub(super) fn name(&self) -> String {
        self.numbers().next().map_or_else(|| "a payment without a number".to_owned(), str::to_owned)
    }
}

/// Recordings by payment.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    pub(super) seen: Vec<Observed>,
    pub(super) payments: Vec<Payment>,
    pub(super) callbacks: Vec<CallbackSeen>,
    /// Requests to unknown paths.
    pub(super) other_paths: BTreeMap<String, Vec<At>>,
    /// Exchanges that cannot be used: incomplete bodies, broken connections.
    pub(super) unusable: Vec<(At, String)>,
}

impl Exchanges {
    pub(super) fn of(recordings: Vec<Recording>) -> Self {
        let mut all = Self::default();
        for (file, recording) in recordings.into_iter().enumerate() {
            for exchange in recording.exchanges {
                all.add(file, &exchange);
            }
        }
        all.link_callbacks();
        all
    }

    fn add(&mut self, file: usize, exchange: &Exchange) {
        let at = At { file, exchange: exchange.exchange };
        let (path, query) = exchange.request.target.split_once('?').unwrap_or((&exchange.request.target, ""));
        let mut request = pairs(query);
        request.extend(values(exchange.request.body.as_ref()).0);
        if exchange.direction == Direction::Callback {
            self.callbacks.push(CallbackSeen { at, values: request, payment: None });
            return;
        }
        let Some(endpoint) = Endpoint::of(path) else {
            self.other_paths.entry(format!("{} {path}", exchange.request.method)).or_default().push(at);
            return;
        };
        let body = exchange.response.as_ref().and_then(|response| response.body.as_ref());
        let is_cut = body.is_some_and(|body| body.truncated.is_some());
        if is_cut || exchange.response.is_none() {
            let why = exchange.problem.clone().unwrap_or_else(|| "a part of it was not recorded".to_owned());
            self.unusable.push((at, why));
        }
        let (response, is_object) = if is_cut { (Vec::new(), false) } else { values(body) };
        let mut seen = Observed {
            at,
            endpoint,
            method: exchange.request.method.clone(),
            request,
            status: exchange.response.as_ref().filter(|_| !is_cut).map(|response| response.status),
            response,
            is_object,
            payment: 0,
            is_repeat: false,
        };
        self.assign(&mut seen);
        self.payments[seen.payment].exchanges.push(self.seen.len());
        self.seen.push(seen);
    }

    /// Finds the payment of a request, or starts one.
    fn assign(&mut self, seen: &mut Observed) {
        let number = seen.requested(if seen.endpoint == Endpoint::QrStatus { "transaction_id" } else { "orderNumber" });
        let number = number.map(str::to_owned);
        let known = number.as_deref().and_then(|number| self.find(number, seen));
        match seen.endpoint.role() {
            Role::Creates => {
                let by_own = |payment: &Payment| number.is_some() && payment.own == number;
                let earlier =
                    self.payments.iter().rposition(by_own).filter(|_| seen.endpoint != Endpoint::MegapayCheck);
                seen.is_repeat = earlier.is_some_and(|index| self.payments[index].created_by.is_some());
                seen.payment = earlier.unwrap_or_else(|| self.begin());
                self.payments[seen.payment].begin(seen, number);
            }
            Role::Confirms => {
                let identifier = |value: &&Value| value.text.len() >= SHORTEST_NUMBER && value.place != "/otp";
                let carried = || seen.request.iter().filter(identifier).find_map(|value| self.find(&value.text, seen));
                seen.payment = known.or_else(carried).unwrap_or_else(|| self.begin());
                if seen.endpoint == Endpoint::MegapayPay && self.payments[seen.payment].created_by.is_none() {
                    self.payments[seen.payment].begin(seen, number);
                }
            }
            Role::Queries => {
                seen.payment = known.unwrap_or_else(|| self.begin());
                let payment = &mut self.payments[seen.payment];
                match (seen.endpoint, number) {
                    (Endpoint::QrStatus, number) => payment.transaction = payment.transaction.take().or(number),
                    (_, Some(number)) if !payment.has_number(&number) => {
                        payment.gateway = payment.gateway.take().or(Some(number));
                    }
                    _ => {}
                }
            }
        }
    }

    fn begin(&mut self) -> usize {
        self.payments.push(Payment::default());
        self.payments.len() - 1
    }

    /// The payment with a number: one that has it, or the only one whose responses contain it. A gateway's numbers can look like
    /// the merchant's order numbers, so each query searches its own kind of number first. An ambiguous number matches no payment.
    fn find(&self, number: &str, seen: &Observed) -> Option<usize> {
        let is = |known: &Option<String>| known.as_deref() == Some(number);
        let own = self.payments.iter().rposition(|payment| is(&payment.own));
        let of_gateway = self.payments.iter().rposition(|payment| match seen.endpoint {
            Endpoint::QrStatus => is(&payment.transaction),
            _ => is(&payment.gateway),
        });
        let by_gateway = matches!(seen.endpoint, Endpoint::PaymentStatus | Endpoint::QrStatus);
        if by_gateway && of_gateway.is_some() {
            return of_gateway;
        }
        let in_responses = || {
            let names = |seen: &&Observed| seen.response.iter().any(|value| value.names(number));
            let found: BTreeSet<usize> = self.seen.iter().filter(names).map(|seen| seen.payment).collect();
            let is_possible = number.len() >= SHORTEST_NUMBER && seen.endpoint.role() != Role::Creates;
            found.iter().next().copied().filter(|_| is_possible && found.len() == 1)
        };
        if by_gateway {
            return match (own, in_responses()) {
                (Some(own), Some(other)) if own != other => None,
                (own, other) => {
                    own.or(other).or_else(|| self.payments.iter().rposition(|payment| payment.has_number(number)))
                }
            };
        }
        own.or_else(|| self.payments.iter().rposition(|payment| payment.has_number(number))).or_else(in_responses)
    }

    fn link_callbacks(&mut self) {
        for callback in &mut self.callbacks {
            let named = |payment: &Payment| {
                payment.numbers().any(|number| callback.values.iter().any(|value| value.text == number))
            };
            callback.payment = self.payments.iter().rposition(named);
        }
    }

    pub(super) fn payment(&self, seen: &Observed) -> &Payment {
        &self.payments[seen.payment]
    }

    /// The exchanges with an endpoint.
    pub(super) fn at(&self, endpoint: Endpoint) -> impl Iterator<Item = &Observed> {
        self.seen.iter().filter(move |seen| seen.endpoint == endpoint)
    }

    /// The exchanges in whose responses the core reads values.
    pub(super) fn read_at(&self, endpoint: Endpoint) -> impl Iterator<Item = &Observed> {
        self.at(endpoint).filter(|seen| seen.is_read())
    }
}

impl Payment {
    fn begin(&mut self, seen: &Observed, number: Option<String>) {
        if self.created_by.is_some() {
            return;
        }
        let decimal = |name: &str| Decimal::from_str_exact(seen.requested(name)?).ok();
        self.created_by = Some(seen.endpoint);
        self.own = number;
        self.amount = if seen.endpoint.is_qr() {
            decimal("sum").and_then(|tyiyn| tyiyn.checked_div(Decimal::ONE_HUNDRED))
        } else {
            decimal("amount")
        };
        let currency = seen.requested("currency").filter(|_| seen.endpoint == Endpoint::CardPayment);
        self.currency = Some(currency.unwrap_or("KGS").to_owned());
    }
}

/// The values of a body, and whether the body is a JSON object.
fn values(body: Option<&Body>) -> (Vec<Value>, bool) {
    let Some(text) = body.and_then(|body| body.text.as_deref()) else { return (Vec::new(), false) };
    let text = text.trim_start_matches('\u{feff}').trim();
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        let is_form =
            text.contains('=') && !text.contains(char::is_whitespace) && !is_json(text) && !text.ends_with('=');
        let whole = Value { place: String::new(), text: text.to_owned(), kind: Kind::Text };
        return (if is_form { pairs(text) } else { vec![whole] }, false);
    }
    let value = |(path, raw): (Vec<_>, String)| {
        let kind = match raw.as_bytes().first() {
            Some(b'"') => Kind::Text,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Other,
        };
        Some(Value { place: pointer("", &path), text: value_text(&raw)?, kind })
    };
    (scalars(text).into_iter().filter_map(value).collect(), text.starts_with('{'))
}

/// The pairs of a form or a query.
fn pairs(text: &str) -> Vec<Value> {
    let pairs = form_urlencoded::parse(text.as_bytes());
    pairs.map(|(name, value)| Value { place: format!("/{name}"), text: value.into_owned(), kind: Kind::Text }).collect()
}
