//! Replays a script: finds the recorded exchange for a request, and advances each payment along its own timeline, never backwards.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use crate::{
    recording::{self, header, mask::Masker},
    replay::{
        Speed,
        render::Substitution,
        script::{Event, EventKind, RecordedPayment, Script, key},
        values::{self, Field},
    },
};

/// A request to match with a recorded one.
pub(super) struct NewRequest<'a> {
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) is_authorized: bool,
    pub(super) body: &'a str,
}

/// The recorded answer to a request.
pub(super) struct RecordedAnswer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// `None` if the recorded connection ended without a response.
    pub(super) body: Option<Vec<u8>>,
    /// The declared length, if the recorded response was truncated.
    pub(super) cut_before: Option<usize>,
    pub(super) is_reset: bool,
    pub(super) after: Duration,
    /// The callbacks that follow, with the pause before each.
    pub(super) callbacks: Vec<(Duration, CallbackId)>,
}

/// A recorded callback for a replayed payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallbackId {
    session: usize,
    payment: usize,
    event: usize,
}

/// A callback to send.
pub(super) struct PlayedCallback {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// The URL in the new request.
    pub(super) address: Option<String>,
    /// Names of signatures, which cannot be renewed.
    pub(super) signatures: Vec<String>,
}

/// The maximum declared length of a response that is not sent in full.
const MAX_ANNOUNCED: usize = 16 * 1024 * 1024;

/// A new payment, replayed from a recorded one.
pub(super) struct Session {
    pub(super) payment: usize,
    pub(super) substitution: Substitution,
    /// The position in the recording, in microseconds since 1970.
    pub(super) position: i64,
    /// The time of the last replayed action, and its position in the recording.
    pub(super) anchor: (Instant, i64),
    /// The number of replays of each action.
    pub(super) done: HashMap<String, usize>,
    /// The answered requests, with their events.
    pub(super) played: Vec<(usize, Vec<Field>)>,
    pub(super) sent: Vec<bool>,
    /// The number of callbacks sent.
    pub(super) delivered: usize,
    pub(super) was_callback_accepted: bool,
    /// The first request as recorded; `None` if it has a recorded number, and so selects its payment.
    pub(super) first: Option<FirstRequest>,
}

/// The first request of a payment.
pub(super) struct FirstRequest {
    pub(super) fields: Vec<Field>,
    pub(super) is_authorized: bool,
}

/// All replayed payments.
pub(super) struct Player {
    pub(super) script: Script,
    pub(super) speed: Speed,
    pub(super) own_origin: String,
    pub(super) sessions: Vec<Session>,
    pub(super) by_number: HashMap<String, usize>,
    pub(super) plays: Vec<usize>,
    pub(super) masker: Masker,
    pub(super) random: fastrand::Rng,
    pub(super) answered: u64,
    pub(super) not_recorded: BTreeMap<String, u64>,
}

impl Player {
    pub(super) fn new(script: Script, speed: Speed, own_origin: &str) -> Self {
        Self {
            plays: vec![0; script.payments.len()],
            script,
            speed,
            own_origin: own_origin.to_owned(),
            sessions: Vec::new(),
            by_number: HashMap::new(),
            masker: Masker::default(),
            random: fastrand::Rng::new(),
            answered: 0,
            not_recorded: BTreeMap::new(),
        }
    }

    /// The recorded answer to a request; `None` if there is none.
    pub(super) fn answer(&mut self, request: &NewRequest<'_>) -> Option<RecordedAnswer> {
        let played = self.play(request);
        match &played {
            Some(_) => self.answered += 1,
            None => {
                let path = request.target.split('?').next().unwrap_or_default();
                *self.not_recorded.entry(format!("{} {path}", request.method)).or_default() += 1;
            }
        }
        played
    }

    fn play(&mut self, request: &NewRequest<'_>) -> Option<RecordedAnswer> {
        let fields = values::of_request(request.target, request.body);
        let path = request.target.split('?').next().unwrap_or_default();
        let numbers = values::numbers(&fields);
        let named = numbers
            .iter()
            .map(String::as_str)
            .chain(path.split('/'))
            .find_map(|number| self.by_number.get(number).copied());
        let session = match named {
            Some(session) => session,
            None => self.begin(request, &fields, &numbers)?,
        };
        let by_number = &self.by_number;
        let key = key(request.method, request.target, |part| by_number.contains_key(part));
        let event = match self.advance(session, &key) {
            Some(event) => event,
            None if self.go_over(session, &key) => self.advance(session, &key)?,
            None => return None,
        };
        let live = &mut self.sessions[session];
        let payment = &self.script.payments[live.payment];
        live.substitution.add_request(&payment.events[event].fields, &fields);
        live.played.push((event, fields));
        for number in numbers {
            self.by_number.insert(number, session);
        }
        Some(self.render(session, event))
    }

    /// The event that answers a request of a payment, by the position of the payment.
    fn advance(&mut self, session: usize, key: &str) -> Option<usize> {
        let live = &mut self.sessions[session];
        let payment = &self.script.payments[live.payment];
        let done = live.done.get(key).copied().unwrap_or_default();
        let of_kind = |kind: EventKind| {
            let events = payment.events.iter().enumerate();
            events
                .filter(move |(_, event)| event.kind == kind && event.key == key)
                .map(|(index, event)| (index, event.at))
        };
        if let Some((index, at)) = of_kind(EventKind::Action).nth(done) {
            live.done.insert(key.to_owned(), done + 1);
            live.position = live.position.max(at);
            live.anchor = (Instant::now(), live.position);
            return Some(index);
        }
        let gate = gate(payment, &live.done);
        let queries: Vec<(usize, i64)> = of_kind(EventKind::Query).filter(|(_, at)| *at < gate).collect();
        let reached = |time: i64| queries.iter().rev().find(|(_, at)| *at <= time);
        let following = |time: i64| queries.iter().find(|(_, at)| *at > time);
        let chosen = match self.speed {
            Speed::Max => following(live.position).or(reached(live.position)),
            Speed::Times(speed) => {
                let (since, action) = live.anchor;
                let passed = since.elapsed().as_secs_f64() * speed * 1_000_000.0;
                let now = live.position.max(action.saturating_add(passed as i64));
                // An answer from before the action would be out of date.
                let current = reached(now).filter(|(_, at)| *at > action);
                current.or(following(action)).or(reached(now))
            }
        };
        let (index, at) = *chosen?;
        live.position = live.position.max(at);
        Some(index)
    }

    fn render(&mut self, session: usize, index: usize) -> RecordedAnswer {
        let callbacks = self.callbacks_after(session, index);
        let live = &self.sessions[session];
        let event = &self.script.payments[live.payment].events[index];
        let exchange = &event.exchange;
        let took =
            recording::time_ms(&exchange.ended_at).map_or(0, |end| end.saturating_mul(1000).saturating_sub(event.at));
        let mut played = RecordedAnswer {
            status: 0,
            headers: Vec::new(),
            body: None,
            cut_before: None,
            is_reset: exchange.problem.as_ref().is_some_and(|problem| problem.contains("broke the connection")),
            after: self.speed.real(took),
            callbacks,
        };
        let Some(response) = &exchange.response else { return played };
        let body = response.body.clone().unwrap_or_default();
        let bytes = match &body.text {
            Some(text) => live.substitution.body(text).into_bytes(),
            None => body.bytes(),
        };
        let is_cut = exchange.problem.as_ref().is_some_and(|problem| problem.contains(" after "));
        if is_cut {
            let announced = header(&response.headers, "content-length").and_then(|length| length.parse::<usize>().ok());
            played.cut_before = Some(announced.unwrap_or_default().min(MAX_ANNOUNCED).max(bytes.len() + 1));
        }
        played.status = response.status;
        played.headers = headers(&response.headers, &live.substitution);
        played.body = Some(bytes);
        played
    }

    /// The callbacks between a replayed event and the next request of the recording.
    fn callbacks_after(&mut self, session: usize, index: usize) -> Vec<(Duration, CallbackId)> {
        let live = &mut self.sessions[session];
        let payment = &self.script.payments[live.payment];
        // Timed from an action, they do not wait for queries, which a client may send at other times.
        let is_end = |event: &Event| match (self.speed, event.kind) {
            (_, EventKind::Callback { .. }) => false,
            (Speed::Max, _) => event.at > live.position,
            (Speed::Times(_), kind) => kind == EventKind::Action && event.at > live.position,
        };
        let is_action = payment.events[index].kind == EventKind::Action;
        if matches!(self.speed, Speed::Times(_)) && !is_action {
            return Vec::new();
        }
        let mut callbacks = Vec::new();
        let mut before = live.position;
        for (number, event) in payment.events.iter().enumerate().take_while(|(_, event)| !is_end(event)) {
            if matches!(event.kind, EventKind::Callback { .. }) && !live.sent[number] {
                live.sent[number] = true;
                let id = CallbackId { session, payment: live.payment, event: number };
                callbacks.push((self.speed.real(event.at.saturating_sub(before)), id));
                before = before.max(event.at);
            }
        }
        callbacks
    }

    /// A callback to send; `None` if it repeats one that this merchant has
    /// accepted, or belongs to a recorded payment that is no longer replayed.
    pub(super) fn callback(&mut self, id: CallbackId) -> Option<PlayedCallback> {
        let live = self.sessions.get_mut(id.session).filter(|live| live.payment == id.payment)?;
        let event = &self.script.payments[live.payment].events[id.event];
        if event.kind == (EventKind::Callback { is_retry: true }) && live.was_callback_accepted {
            return None;
        }
        live.delivered += 1;
        let request = &event.exchange.request;
        let body = request.body.clone().unwrap_or_default();
        let names = event.fields.iter().map(|field| &field.name).chain(request.headers.iter().map(|(name, _)| name));
        let is_signature =
            |name: &&String| ["signature", "sign", "hash", "hmac", "checksum"].iter().any(|word| name.contains(word));
        Some(PlayedCallback {
            method: request.method.clone(),
            target: live.substitution.text(&request.target),
            headers: headers(&request.headers, &live.substitution),
            body: body.text.as_ref().map_or_else(|| body.bytes(), |text| live.substitution.body(text).into_bytes()),
            address: live.substitution.new_value("callbackurl").map(str::to_owned),
            signatures: names.filter(is_signature).cloned().collect(),
        })
    }

    /// The merchant's answer to a callback.
    pub(super) fn set_callback_accepted(&mut self, id: CallbackId, is_accepted: bool) {
        self.sessions[id.session].was_callback_accepted = is_accepted;
    }

    /// The callbacks in the recording that belong to no payment.
    pub(super) fn stray_callbacks(&self) -> usize {
        self.script.stray_callbacks
    }
}

/// The time of the first action that was not replayed: later events cannot
/// have happened yet. A repeated creation does not count as such an action.
fn gate(payment: &RecordedPayment, done: &HashMap<String, usize>) -> i64 {
    let creation = payment.events.first().map(|event| event.key.as_str());
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for event in payment.events.iter().filter(|event| event.kind == EventKind::Action) {
        let count = seen.entry(event.key.as_str()).or_default();
        *count += 1;
        let is_creation = Some(event.key.as_str()) == creation;
        if *count > done.get(&event.key).copied().unwrap_or_default() && !is_creation {
            return event.at;
        }
    }
    i64::MAX
}

/// Headers that do not belong to the recorded connection, and have a value.
fn headers(recorded: &recording::Headers, substitution: &Substitution) -> Vec<(String, String)> {
    const OF_CONNECTION: [&str; 14] = [
        "connection",
        "keep-alive",
        "transfer-encoding",
        "content-length",
        "content-encoding",
        "content-md5",
        "date",
        "host",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "accept-encoding",
        "proxy-connection",
    ];
    let is_of_message =
        |(name, value): &&(String, String)| !OF_CONNECTION.contains(&name.as_str()) && value != recording::mask::HIDDEN;
    let new = |(name, value): &(String, String)| (name.clone(), substitution.text(value));
    recorded.iter().filter(is_of_message).map(new).collect()
}
