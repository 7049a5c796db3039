//! `/staff/checkouts/{checkout}`: what was wanted, where each payment stands, everything that happened, and what a person decides. A
//! decision is made by that person's name, and leads back to the page.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use kassa::Decimal;
use serde_json::Value;

use super::{
    context::RequestContext,
    labels::{self, Chip},
    page::{ErrorPage, Frame, Section},
};
use crate::{
    checkouts::new_checkout::CURRENCY,
    events::{Event, EventKind},
    net::{page, see_other},
    payments::{Failure, Payment, machine::is_for_a_person},
    server::Server,
    storage::{
        outputs::Decision,
        staff::{History, ListedClaim, RefundOutcome, StoredExchange},
    },
    values::{CheckoutState, PaymentState, Resolution, error::ServerError},
};

const HIDDEN: &str = "[hidden]";

#[derive(Template)]
#[template(path = "staff/checkout.html")]
struct Page {
    frame: Frame,
    csrf: String,
    done: Option<&'static str>,
    problem: Option<String>,
    id: String,
    reference: String,
    amount: String,
    state: Chip,
    needs: Vec<Chip>,
    facts: Vec<(&'static str, String)>,
    metadata: Vec<(String, String)>,
    payments: Vec<PaymentRow>,
    events: Vec<EventRow>,
    can_ask: bool,
    can_cancel: bool,
    can_replay: bool,
    can_note_refund: bool,
    version: i64,
    refunds_due: u32,
}

struct PaymentRow {
    id: String,
    number: u32,
    method: &'static str,
    state: Chip,
    facts: Vec<(&'static str, String)>,
    /// The payer's page, where it can be opened.
    page_url: Option<String>,
    is_stuck: bool,
    can_resolve: bool,
    /// A person has to decide, and not only may.
    is_for_a_person: bool,
    is_charged: bool,
    claims: Vec<ClaimRow>,
    exchanges: Vec<ExchangeRow>,
}

/// A number that callbacks claimed.
struct ClaimRow {
    number: String,
    provider: String,
    at: String,
    state: Chip,
    reason: Option<String>,
}

/// One exchange with the gateway.
struct ExchangeRow {
    at: String,
    /// The last of several in a row.
    until: Option<String>,
    times: u64,
    kind: &'static str,
    claim: Option<String>,
    outcome: String,
    /// The HTTP status, the code, and the gateway's words.
    said: String,
    response: Option<String>,
}

struct EventRow {
    at: String,
    words: &'static str,
    kind: String,
    id: String,
    /// The number of the payment that it is about.
    payment: Option<u32>,
    notes: Vec<(&'static str, String)>,
    delivered: String,
}

pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    shown(&context, StatusCode::OK, None).await
}

/// The page, with what was wrong where something was.
pub(super) async fn shown(
    context: &RequestContext,
    status: StatusCode,
    problem: Option<String>,
) -> Result<Response, ErrorPage> {
    let history = context.admin.server.history(&context.checkout()?).await?;
    let view = &history.listed.view;
    let checkout = &view.checkout;
    let may_decide = context.may_decide();
    let number = |event: &Event| event.payment.as_ref().and_then(|id| view.payment(id)).map(|payment| payment.number);
    let mut facts = vec![
        ("What is paid for", checkout.description.clone()),
        ("Opened", labels::moment(checkout.opened_at)),
        ("Can be paid until", labels::moment(checkout.expires_at)),
        ("Ways to pay", checkout.methods.iter().map(|method| labels::method(*method)).collect::<Vec<_>>().join(", ")),
    ];
    if let Some(payment) = checkout.paid_by.as_ref().and_then(|id| view.payment(id)) {
        facts.push(("Paid by", format!("payment {}, {}", payment.number, labels::method(payment.method))));
    }
    let template = Page {
        frame: context.frame(Section::Checkouts),
        csrf: context.csrf(),
        done: done(context.query.get("done")),
        problem,
        id: checkout.id.to_string(),
        reference: checkout.reference.clone(),
        amount: labels::money(checkout.amount, &checkout.currency),
        state: labels::checkout_state(checkout.state),
        needs: history.listed.needs.iter().map(|need| labels::need(*need)).collect(),
        facts,
        metadata: checkout.metadata.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        payments: payment_rows(&history, may_decide),
        events: history
            .events
            .iter()
            .map(|event| event_row(event, number(event), &history, &context.admin.server))
            .collect(),
        can_ask: may_decide && view.payments.iter().any(|payment| may_be_asked(payment.state)),
        can_cancel: may_decide && checkout.state == CheckoutState::Open,
        can_replay: may_decide && (history.is_given_up || !history.refused.is_empty()),
        can_note_refund: may_decide && checkout.refunds_due > 0,
        version: checkout.version,
        refunds_due: checkout.refunds_due,
    };
    Ok(page(status, &template))
}

/// Whether the gateway may report something new, also after a mismatch.
fn may_be_asked(state: PaymentState) -> bool {
    !state.is_final() || state.is_in_doubt()
}

/// The notice after a decision.
fn done(what: &str) -> Option<&'static str> {
    Some(match what {
        "asked" => "The gateway is asked now. Open this page again in a moment.",
        "cancelled" => "The checkout is cancelled.",
        "replayed" => "The events are delivered again.",
        "refund" => "It is noted that the money was given back.",
        "resolved" => "Your decision is noted, and the shop is told.",
        _ => return None,
    })
}

fn payment_rows(history: &History, may_decide: bool) -> Vec<PaymentRow> {
    let view = &history.listed.view;
    // The gateway may tell the address of its own callbacks, which holds a secret.
    let secret = view.checkout.callback_secret.expose();
    let exchanges = history.exchanges.iter().map(|stored| stored.iter().map(|one| exchange_row(one, secret)).collect());
    let rows = view.payments.iter().map(|payment| payment_row(payment, may_decide));
    let claims = history.claims.iter().map(|claims| claims.iter().map(claim_row).collect());
    let rows = rows.zip(exchanges).zip(claims);
    rows.map(|((row, exchanges), claims)| PaymentRow { exchanges, claims, ..row }).collect()
}

fn claim_row(claim: &ListedClaim) -> ClaimRow {
    ClaimRow {
        number: claim.number.clone(),
        provider: claim.provider.clone().unwrap_or_else(|| "not said".to_owned()),
        at: labels::moment(claim.at),
        state: labels::claim_state(claim.state),
        reason: claim.reason.clone(),
    }
}

fn exchange_row(stored: &StoredExchange, secret: &str) -> ExchangeRow {
    let exchange = &stored.exchange;
    let http = exchange.http_status.map(|status| format!("HTTP {status}"));
    let code = exchange.code.as_ref().map(|code| format!("code {code}"));
    let said = [http, code, exchange.words.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ");
    ExchangeRow {
        at: labels::moment(stored.first_at),
        until: Some(labels::moment(stored.last_at)).filter(|_| stored.times > 1),
        times: stored.times,
        kind: labels::exchange_kind(exchange.asked),
        claim: exchange.claim.clone(),
        outcome: labels::outcome(&exchange.outcome).to_owned(),
        said: said.replace(secret, HIDDEN),
        response: exchange.response.as_ref().map(|response| response.replace(secret, HIDDEN)),
    }
}

fn payment_row(payment: &Payment, may_decide: bool) -> PaymentRow {
    let reference = &payment.reference;
    let mut facts = vec![("Begun", labels::moment(payment.begun_at)), ("Payment", payment.id.to_string())];
    let numbers = [
        ("Order number", &reference.order_number),
        ("Gateway's number", &reference.gateway_number),
        ("QR transaction", &reference.transaction_id),
    ];
    facts.extend(numbers.into_iter().filter_map(|(name, number)| Some((name, number.clone()?))));
    if let Some(provider) = &reference.provider {
        facts.push(("Carried out by", provider.name().to_owned()));
    }
    if let Some(digits) = &payment.card_last4 {
        facts.push(("Card, the last four digits", digits.clone()));
    }
    if let Some(digits) = &payment.phone_last2 {
        facts.push(("Phone, the last two digits", digits.clone()));
    }
    let amounts = [("Commission of the wallet", payment.commission), ("Total for the payer", payment.total)];
    let shown = |(name, amount): (&'static str, Option<Decimal>)| Some((name, labels::money(amount?, CURRENCY)));
    facts.extend(amounts.into_iter().filter_map(shown));
    if let Some(at) = payment.code_expires_at {
        facts.push(("PIN valid until", labels::moment(at)));
    }
    if let Some(failure) = &payment.failure {
        facts.push(("Why", why(failure)));
    }
    if payment.method.is_confirmed_by_code() {
        facts.push(("One-time passwords left", payment.attempts_left.to_string()));
    }
    if payment.is_replaced {
        facts.push(("Replaced", "Its payer went another way".to_owned()));
    }
    let is_web = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    PaymentRow {
        id: payment.id.to_string(),
        number: payment.number,
        method: labels::method(payment.method),
        state: labels::payment_state(payment.state),
        facts,
        page_url: payment.page_url.as_ref().filter(is_web).cloned(),
        is_stuck: payment.is_stuck,
        can_resolve: may_decide && (is_for_a_person(payment.state) || payment.is_in_doubt),
        is_for_a_person: payment.is_in_doubt || payment.is_stuck || payment.state == PaymentState::Unknown,
        is_charged: payment.state == PaymentState::Charged,
        claims: Vec::new(),
        exchanges: Vec::new(),
    }
}

fn why(failure: &Failure) -> String {
    let parts = [Some(&failure.kind), failure.code.as_ref(), failure.reason.as_ref()];
    parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
}

fn event_row(event: &Event, payment: Option<u32>, history: &History, server: &Server) -> EventRow {
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let note = |name, field: &str| Some((name, body["data"][field].as_str()?.to_owned()));
    let outcome = body["data"]["payment"]["state"].as_str().filter(|_| event.kind == Some(EventKind::PaymentResolved));
    let decided = outcome.map(|state| {
        let words = if state == "charged" { "the money was taken" } else { "no money was taken" };
        ("Decided", words.to_owned())
    });
    let via = body["data"]["via"]["key"].as_str().map(|key| {
        let is_staff = body["data"]["via"]["role"] == "staff";
        ("Through", format!("{} {key}", if is_staff { "the person's own key" } else { "a shop's key" }))
    });
    let notes = [decided, note("Before", "after"), note("Why", "reason"), note("By", "by"), via];
    EventRow {
        at: labels::moment(event.at),
        words: event.kind.map_or("A later version of the server wrote this event", labels::event),
        kind: event
            .kind
            .map_or_else(|| body["type"].as_str().unwrap_or_default().to_owned(), |kind| kind.name().to_owned()),
        id: event.id.clone(),
        payment,
        notes: notes.into_iter().flatten().collect(),
        delivered: delivered(event, history, server),
    }
}

/// The delivery state of an event. The value of `events.kinds` at its time is stored nowhere, so the present value decides.
fn delivered(event: &Event, history: &History, server: &Server) -> String {
    if let Some(refused) = history.refused.iter().find(|refused| refused.seq == event.seq) {
        return format!("refused by the shop: {}", refused.reason);
    }
    let words = match () {
        () if !server.delivers_events() && event.seq > history.delivered => "the shop reads it",
        () if !server.delivers_kind(event.kind) => "of a kind that the shop does not take",
        () if event.seq <= history.delivered => "taken by the shop",
        () if history.is_given_up => "given up",
        () if history.failures > 0 => "not taken yet",
        () => "on its way",
    };
    words.to_owned()
}

const MOVED: &str = "Nothing was noted: something happened to this checkout since you opened its page. Look at what is below, then note \
    it again.";

pub(super) async fn ask(context: RequestContext) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    let result = context.admin.server.check_now(&id).await;
    finish(&context, result, "asked").await
}

pub(super) async fn cancel(context: RequestContext) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    let result = context.admin.server.cancel_by(&id, context.by()).await.map(drop);
    finish(&context, result, "cancelled").await
}

pub(super) async fn replay(context: RequestContext) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    let result = context.admin.server.replay(Some(&id)).await.map(drop);
    finish(&context, result, "replayed").await
}

pub(super) async fn refund(context: RequestContext) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    let refund =
        context.admin.server.record_refund(&id, seen_version(&context), context.form.get("reason"), context.by()).await;
    let problem = match refund {
        Ok(RefundOutcome::NotDue) => "Nothing is to be given back, or somebody has noted it already.",
        Ok(RefundOutcome::Outdated) => MOVED,
        result => return finish(&context, result.map(drop), "refund").await,
    };
    shown(&context, StatusCode::CONFLICT, Some(problem.to_owned())).await
}

pub(super) async fn resolve(context: RequestContext) -> Result<Response, ErrorPage> {
    let (id, payment) = (context.checkout()?, context.payment()?);
    // Of this checkout: what is decided is what stands on the page.
    if context.admin.server.checkout(&id).await?.payment(&payment).is_none() {
        return Err(ErrorPage::not_found());
    }
    let Ok(resolution) = context.form.get("outcome").parse::<Resolution>() else {
        let sentence = "Say whether the money was taken.".to_owned();
        return shown(&context, StatusCode::BAD_REQUEST, Some(sentence)).await;
    };
    let (reason, seen) = (context.form.get("reason"), Some(seen_version(&context)));
    match context.admin.server.decide(&payment, resolution, reason, context.by(), seen).await {
        Ok(Decision::Outdated(_)) => shown(&context, StatusCode::CONFLICT, Some(MOVED.to_owned())).await,
        Ok(Decision::Unchanged(_)) => {
            let sentence =
                "It stood so already: nothing was noted of what you wrote. What is below says who decided it.";
            shown(&context, StatusCode::CONFLICT, Some(sentence.to_owned())).await
        }
        result => finish(&context, result.map(drop), "resolved").await,
    }
}

/// Of the checkout as the person saw it; none is that of a page that nobody saw.
fn seen_version(context: &RequestContext) -> i64 {
    context.form.get("version").parse().unwrap_or(-1)
}

/// Back to the page; with what was wrong, where something was.
async fn finish(context: &RequestContext, result: Result<(), ServerError>, done: &str) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    match result.map_err(ErrorPage::from) {
        Ok(()) => Ok(see_other(&format!("{}/checkouts/{id}?done={done}", context.admin.home))),
        Err(error) if error.status == StatusCode::NOT_FOUND => Err(error),
        Err(error) => shown(context, error.status, Some(error.sentence)).await,
    }
}
