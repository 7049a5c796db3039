//! The request pipeline of an endpoint: authentication, body, faults, response, request log.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Instant,
};

use axum::{
    Router,
    body::Bytes,
    extract::{self, ConnectInfo, Request},
    http::{HeaderMap, Method, Uri},
    response::Response as HttpResponse,
    routing::any,
};

use crate::{
    domain::Language,
    endpoints::{ENDPOINTS, Endpoint, Fields, Input, Rejection, Response, outgoing::OutgoingResponse},
    faults::{Fault, FaultName, Moment},
    net::ConnectionHandle,
    redact::{transcript, without_card_numbers},
    settings::Dialect,
    state::State,
    store::{
        exchanges::NewExchange,
        grouped,
        payments::{self, Record},
    },
    web::{read_body, request},
};

/// The routes of the endpoints. Each takes any method: HTTP 405 is a response of
/// the pipeline, too. It follows authentication, can have a fault, and is recorded.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    ENDPOINTS.iter().fold(Router::new(), |router, endpoint| {
        router.route(endpoint.name.path(), any(handle).with_state((Arc::clone(state), endpoint)))
    })
}

/// Handles a request to an endpoint. Once its body is read, it takes effect even if the caller hangs up.
async fn handle(
    extract::State((state, endpoint)): extract::State<(Arc<State>, &'static Endpoint)>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request,
) -> HttpResponse {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let seen = transcript::Request::head(&parts.method, &parts.uri, &parts.headers);
    let input = match reject_early(&state, endpoint, &parts.method, &parts.headers) {
        Some(rejection) => Err(rejection),
        None => read_body(body).await.map(|body| (parts.uri, body)).map_err(Rejection::from),
    };
    // In place, not on a blocking thread: a response needs some microseconds of the database, and
    // waking another thread takes longer. If the database is locked for longer (by a reset, a dashboard
    // page over a database in memory, or another process), this thread waits, with all its other work.
    let work = AssertUnwindSafe(|| grouped(|| answer(&state, endpoint, input, seen, started)));
    let outgoing = match catch_unwind(work) {
        Ok(answer) => answer.committed(&state.store).await.unwrap_or_else(|error| broken(error.to_string())),
        Err(_) => {
            // Commits the writes of other requests in the same group. The failed request left no partial change in it.
            state.store.commit();
            broken("the answer was broken off by a panic".to_owned())
        }
    };
    outgoing.send(&connection).await
}

fn broken(detail: String) -> OutgoingResponse {
    OutgoingResponse::whole(Rejection::Internal(detail).response(Language::English), Dialect::Interface)
}

/// Rejections before the body is read. Authentication comes first, so that callers without credentials learn nothing else.
fn reject_early(state: &State, endpoint: &Endpoint, method: &Method, headers: &HeaderMap) -> Option<Rejection> {
    if !request::is_authorized(headers, &state.options.login, &state.options.password) {
        return Some(Rejection::Unauthorized);
    }
    let is_accepted = *method == endpoint.method || endpoint.other_method.as_ref() == Some(method);
    (!is_accepted).then_some(Rejection::WrongMethod { allowed: endpoint.allowed })
}

/// Responds to a request and records both.
pub(crate) fn answer(
    state: &State,
    endpoint: &Endpoint,
    input: Result<(Uri, Bytes), Rejection>,
    seen: transcript::Request,
    started: Instant,
) -> OutgoingResponse {
    let _generation = state.generation();
    let seen = match &input {
        Ok((_, body)) => seen.with_body(body),
        Err(_) => seen,
    };
    let fields = input.and_then(|(uri, body)| read_fields(endpoint.input, &uri, &body));
    let peek = |name| fields.as_ref().ok().and_then(|fields| fields.peek(name));
    let subject = endpoint.subject.and_then(peek);
    let language = state.language(peek("language").as_deref());
    let context = RequestContext { state, endpoint, language, numbers: numbers(state, subject.as_deref()) };
    let (outgoing, fault) = context.execute(fields);
    let (response_head, response_body) = outgoing.as_written();
    let (seen, recorded_subject) = redacted(state, seen, subject.as_deref());
    let response_body = response_body.map(|body| seen.response(&body));
    state.record(NewExchange {
        endpoint: endpoint.name,
        order_number: recorded_subject,
        http_status: outgoing.visible_status(),
        fault,
        payment_id: outgoing.payment_id.filter(|_| subject.is_none()),
        took: started.elapsed(),
        request_head: seen.head,
        request_body: seen.body,
        response_head,
        response_body,
    });
    outgoing
}

/// The request and its number for the log. A number of a payment is stored unchanged,
/// even if it looks like a card number; any other number may be a card number.
fn redacted(state: &State, seen: transcript::Request, subject: Option<&str>) -> (transcript::Request, Option<String>) {
    let masked = subject.map(without_card_numbers);
    let looks_like_card = masked.as_deref() != subject;
    let is_known = |number| matches!(state.read(|connection| payments::by_any_number(connection, number)), Ok(Some(_)));
    if looks_like_card && subject.is_some_and(is_known) {
        return (seen, subject.map(str::to_owned));
    }
    (seen.without_card_numbers(), masked)
}

/// The numbers of an order, for faults on one order; not looked up if no fault is set.
fn numbers(state: &State, subject: Option<&str>) -> Vec<String> {
    let Some(subject) = subject.filter(|_| state.faults.is_armed()) else {
        return Vec::new();
    };
    let found = state.read(|connection| payments::by_any_number(connection, subject));
    let mut numbers = vec![subject.to_owned()];
    if let Ok(Some(Record { payment, .. })) = found {
        numbers.extend(payment.numbers());
    }
    numbers
}

/// A request while it passes the endpoint and the faults.
struct RequestContext<'a> {
    state: &'a State,
    endpoint: &'a Endpoint,
    language: Language,
    numbers: Vec<String>,
}

impl RequestContext<'_> {
    /// The response to send, and the injected fault.
    fn execute(&self, fields: Result<Fields, Rejection>) -> (OutgoingResponse, Option<FaultName>) {
        let dialect = self.state.switches().acts_as;
        let is_confirmation = fields.is_ok() && self.endpoint.name.takes_password();
        let early = self.inject(Moment::Request, |name| is_confirmation || name != FaultName::OtpTwice);
        let response = match &early {
            Some(fault) => match self.response_to_fault(fault, fields) {
                Some(response) => response,
                None => return (OutgoingResponse::none(), Some(fault.name())),
            },
            None => self.respond(fields),
        };
        if let Some(fault) = early {
            return (OutgoingResponse::whole(response, dialect), Some(fault.name()));
        }
        let late = self.inject(Moment::Response, |name| match name {
            FaultName::UnknownStatus => response.has_status_word(),
            FaultName::UnknownCode => response.has_code(),
            _ => true,
        });
        match late {
            Some(fault) => {
                let location = format!("{}{}", self.state.public_url, self.endpoint.name.path());
                (OutgoingResponse::with_fault(&fault, response, dialect, &location), Some(fault.name()))
            }
            None => {
                let fault = response.stuck.then_some(FaultName::StuckPending);
                (OutgoingResponse::whole(response, dialect), fault)
            }
        }
    }

    fn inject(&self, moment: Moment, can: impl Fn(FaultName) -> bool) -> Option<Fault> {
        self.state.faults.inject(moment, &[self.endpoint.name], &self.numbers, can)
    }

    fn respond(&self, fields: Result<Fields, Rejection>) -> Response {
        fields
            .and_then(|fields| (self.endpoint.handle)(self.state, fields))
            .unwrap_or_else(|rejection| rejection.response(self.language))
    }

    /// The response of a fault instead of the endpoint's, or that of a second run; `None` for no response.
    fn response_to_fault(&self, fault: &Fault, fields: Result<Fields, Rejection>) -> Option<Response> {
        let rejection = match fault.name() {
            FaultName::Unauthorized => Rejection::Unauthorized,
            FaultName::RetryAfter => Rejection::TooManyRequests { retry_after: fault.shown_retry_after() },
            FaultName::Unavailable => Rejection::Unavailable { retry_after: fault.shown_retry_after() },
            FaultName::OtpTwice => return Some(self.respond_twice(fields)),
            // `request-lost`: no response.
            _ => return None,
        };
        Some(rejection.response(self.language))
    }

    /// A deliberate race: the confirmation runs twice at the same time. The
    /// worse response is sent, because the better one would hide the race.
    fn respond_twice(&self, fields: Result<Fields, Rejection>) -> Response {
        let Ok(fields) = fields else {
            return self.respond(fields);
        };
        let again = fields.clone();
        let (one, other) = thread::scope(|scope| {
            let other = scope.spawn(|| self.respond(Ok(again)));
            (self.respond(Ok(fields)), other.join())
        });
        match other {
            Ok(other) if other.status > one.status => other,
            _ => one,
        }
    }
}

fn read_fields(input: Input, uri: &Uri, body: &[u8]) -> Result<Fields, Rejection> {
    let has_body = !body.iter().all(u8::is_ascii_whitespace);
    match input {
        Input::Body => Fields::from_json(body),
        Input::BodyOrQuery if has_body => Fields::from_json(body),
        Input::BodyOrQuery | Input::Query => Ok(Fields::from_query(uri.query().unwrap_or_default())),
    }
}
