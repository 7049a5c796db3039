//! `/staff/checkouts/{checkout}`: the request, the state of each payment, the history, and the decisions of people. A decision is
//! made in the person's name, and redirects to the page.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use kassa::Decimal;

use super::{
    checkouts::who_decides,
    context::RequestContext,
    doubt::{Comparison, comparison},
    labels::{self, Chip},
    page::{ErrorPage, Frame, Section},
    story::{EventRow, story},
    texts::{Texts, fill},
};
use crate::{
    checkouts::{Checkout, new_checkout::CURRENCY},
    net::{page, see_other},
    payments::{
        Failure, Payment,
        exchange::{Exchange, ExchangeKind},
        machine::is_for_a_person,
    },
    storage::{
        outputs::Decision,
        staff::{History, ListedClaim, Need, RefundOutcome, StoredExchange},
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
    /// Why it needs a person, and the first step.
    needs: Vec<(Chip, &'static str)>,
    decides: String,
    may_decide: bool,
    facts: Vec<(&'static str, String)>,
    metadata: Vec<(String, String)>,
    payments: Vec<PaymentRow>,
    events: Vec<EventRow>,
    can_check_status: bool,
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
    /// The payer's page, if it can be opened.
    page_url: Option<String>,
    is_stuck: bool,
    can_resolve: bool,
    /// Whether there is a decision that this person may not make.
    is_for_others: bool,
    /// Whether it is a surplus charge: another payment paid the checkout.
    is_surplus: bool,
    /// Whether a person must decide, and not only may.
    is_for_a_person: bool,
    is_charged: bool,
    /// The expected and the reported values, if they contradict each other.
    comparison: Vec<Comparison>,
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
    /// For several equal ones in a row, their number and the last one.
    until: Option<(String, String)>,
    kind: &'static str,
    claim: Option<String>,
    outcome: String,
    /// The HTTP status, the code, and the gateway's message.
    said: String,
    response: Option<String>,
}

pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    shown(&context, StatusCode::OK, None).await
}

/// The page, with the error of a form if there was one.
pub(super) async fn shown(
    context: &RequestContext,
    status: StatusCode,
    problem: Option<String>,
) -> Result<Response, ErrorPage> {
    let history = context.admin.server.history(&context.checkout()?).await?;
    let view = &history.listed.view;
    let checkout = &view.checkout;
    let (may_decide, t) = (context.may_decide(), context.t());
    let ways = checkout.methods.iter().map(|method| labels::method(*method, t)).collect::<Vec<_>>().join(", ");
    let mut facts = vec![
        (t.paid_for, checkout.description.clone()),
        (t.opened, labels::moment(checkout.opened_at, t)),
        (t.payable_until, labels::moment(checkout.expires_at, t)),
        (t.ways, ways),
    ];
    if let Some(payment) = checkout.paid_by.as_ref().and_then(|id| view.payment(id)) {
        facts.push((t.paid_by, fill(t.payment_n, &[&payment.number, &labels::method(payment.method, t)])));
    }
    let needs = &history.listed.needs;
    let template = Page {
        frame: context.frame(Section::Checkouts),
        csrf: context.csrf(),
        done: done(context.query.get("done"), t),
        problem,
        id: checkout.id.to_string(),
        reference: checkout.reference.clone(),
        amount: labels::money(checkout.amount, &checkout.currency, t),
        state: labels::checkout_state(checkout.state, t),
        needs: needs.iter().map(|need: &Need| (labels::need(*need, t), labels::first_step(*need, t))).collect(),
        decides: if needs.is_empty() { String::new() } else { who_decides(context).await? },
        may_decide,
        facts,
        metadata: checkout.metadata.iter().map(|(name, value)| (fill(t.of_shop, &[name]), value.clone())).collect(),
        payments: payment_rows(&history, may_decide, t),
        events: story(&history, &context.admin.server, t),
        can_check_status: may_decide && view.payments.iter().any(|payment| can_be_checked(payment.state)),
        can_cancel: may_decide && checkout.state == CheckoutState::Open,
        can_replay: may_decide && (history.is_given_up || !history.refused.is_empty()),
        can_note_refund: may_decide && checkout.refunds_due > 0,
        version: checkout.version,
        refunds_due: checkout.refunds_due,
    };
    Ok(page(status, &template))
}

/// Whether the gateway may report something new, also after a mismatch.
fn can_be_checked(state: PaymentState) -> bool {
    !state.is_final() || state.is_in_doubt()
}

/// The notice after a decision.
fn done(what: &str, t: &Texts) -> Option<&'static str> {
    Some(match what {
        "checking" => t.done_checking,
        "cancelled" => t.done_cancelled,
        "replayed" => t.done_replayed,
        "refund" => t.done_refund,
        "resolved" => t.done_resolved,
        _ => return None,
    })
}

fn payment_rows(history: &History, may_decide: bool, t: &Texts) -> Vec<PaymentRow> {
    let view = &history.listed.view;
    // The gateway may echo its callback address, which contains a secret.
    let secret = view.checkout.callback_secret.expose();
    let none = Vec::new();
    let rows = view.payments.iter().enumerate().map(|(at, payment)| {
        let exchanges = history.exchanges.get(at).unwrap_or(&none);
        PaymentRow {
            comparison: comparison(&view.checkout, payment, exchanges, t),
            exchanges: alike(exchanges).iter().map(|one| exchange_row(one, secret, t)).collect(),
            claims: history.claims.get(at).into_iter().flatten().map(|claim| claim_row(claim, t)).collect(),
            ..payment_row(&view.checkout, payment, may_decide, t)
        }
    });
    rows.collect()
}

/// The exchanges. Consecutive ones that differ only in the text of the response are merged, with the last response.
fn alike(exchanges: &[StoredExchange]) -> Vec<StoredExchange> {
    let mut all: Vec<StoredExchange> = Vec::new();
    for one in exchanges {
        let (now, is_status) = (&one.exchange, one.exchange.kind == ExchangeKind::Status);
        match all.last_mut() {
            Some(last) if is_status && Exchange { response: None, ..now.clone() } == without_response(last) => {
                last.exchange.response.clone_from(&now.response);
                last.last_at = one.last_at;
                last.times += one.times;
            }
            _ => all.push(one.clone()),
        }
    }
    all
}

fn without_response(stored: &StoredExchange) -> Exchange {
    Exchange { response: None, ..stored.exchange.clone() }
}

fn claim_row(claim: &ListedClaim, t: &Texts) -> ClaimRow {
    ClaimRow {
        number: claim.number.clone(),
        provider: claim.provider.clone().unwrap_or_else(|| t.not_said.to_owned()),
        at: labels::moment(claim.at, t),
        state: labels::claim_state(claim.state, t),
        reason: claim.reason.clone(),
    }
}

fn exchange_row(stored: &StoredExchange, secret: &str, t: &Texts) -> ExchangeRow {
    let exchange = &stored.exchange;
    let http = exchange.http_status.map(|status| fill(t.http_status, &[&status]));
    let code = exchange.code.as_ref().map(|code| fill(t.code, &[code]));
    let said = [http, code, exchange.words.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ");
    ExchangeRow {
        at: labels::moment(stored.first_at, t),
        until: (stored.times > 1).then(|| (fill(t.times, &[&stored.times]), labels::moment(stored.last_at, t))),
        kind: labels::exchange_kind(exchange.kind, t),
        claim: exchange.claim.as_ref().map(|number| fill(t.by_claim, &[number])),
        outcome: labels::outcome(exchange.verdict(), t),
        said: said.replace(secret, HIDDEN),
        response: exchange.response.as_ref().map(|response| response.replace(secret, HIDDEN)),
    }
}

fn payment_row(checkout: &Checkout, payment: &Payment, may_decide: bool, t: &Texts) -> PaymentRow {
    let reference = &payment.reference;
    let mut facts = vec![(t.begun, labels::moment(payment.begun_at, t)), (t.payment, payment.id.to_string())];
    let numbers = [
        (t.order_number, &reference.order_number),
        (t.gateway_number, &reference.gateway_number),
        (t.qr_transaction, &reference.transaction_id),
    ];
    facts.extend(numbers.into_iter().filter_map(|(name, number)| Some((name, number.clone()?))));
    if let Some(provider) = &reference.provider {
        facts.push((t.carried_out_by, provider.name().to_owned()));
    }
    if let Some(digits) = &payment.card_last4 {
        facts.push((t.card_digits, digits.clone()));
    }
    if let Some(digits) = &payment.phone_last2 {
        facts.push((t.phone_digits, digits.clone()));
    }
    let amounts = [(t.commission, payment.commission), (t.payer_total, payment.total)];
    let shown = |(name, amount): (&'static str, Option<Decimal>)| Some((name, labels::money(amount?, CURRENCY, t)));
    facts.extend(amounts.into_iter().filter_map(shown));
    if let Some(at) = payment.code_expires_at {
        facts.push((t.pin_until, labels::moment(at, t)));
    }
    if let Some(failure) = &payment.failure {
        facts.push((t.why, why(failure)));
    }
    if payment.method.is_confirmed_by_code() {
        facts.push((t.attempts_left, payment.attempts_left.to_string()));
    }
    if payment.is_replaced {
        facts.push((t.replaced, t.ev_replaced.to_owned()));
    }
    let is_web = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    let is_decidable = is_for_a_person(payment.state) || payment.is_in_doubt;
    let paid = checkout.paid_by.as_ref() == Some(&payment.id);
    PaymentRow {
        id: payment.id.to_string(),
        number: payment.number,
        method: labels::method(payment.method, t),
        state: labels::payment_state(payment.state, t),
        facts,
        page_url: payment.page_url.as_ref().filter(is_web).cloned(),
        is_stuck: payment.is_stuck,
        can_resolve: may_decide && is_decidable,
        is_for_others: !may_decide && is_decidable,
        is_for_a_person: payment.is_in_doubt || payment.is_stuck || payment.state == PaymentState::Unknown,
        is_charged: payment.state == PaymentState::Charged,
        is_surplus: payment.state == PaymentState::Charged && !paid,
        comparison: Vec::new(),
        claims: Vec::new(),
        exchanges: Vec::new(),
    }
}

fn why(failure: &Failure) -> String {
    let parts = [Some(&failure.kind), failure.code.as_ref(), failure.reason.as_ref()];
    parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", ")
}

pub(super) async fn check_status(context: RequestContext) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    let result = context.admin.server.check_now(&id).await;
    finish(&context, result, "checking").await
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
        Ok(RefundOutcome::NotDue) => context.t().not_due,
        Ok(RefundOutcome::Outdated) => context.t().moved,
        result => return finish(&context, result.map(drop), "refund").await,
    };
    shown(&context, StatusCode::CONFLICT, Some(problem.to_owned())).await
}

pub(super) async fn resolve(context: RequestContext) -> Result<Response, ErrorPage> {
    let (id, payment) = (context.checkout()?, context.payment()?);
    // The payment must belong to this checkout, so that the decision is about the page's payment.
    if context.admin.server.checkout(&id).await?.payment(&payment).is_none() {
        return Err(ErrorPage::not_found());
    }
    let Ok(resolution) = context.form.get("outcome").parse::<Resolution>() else {
        let sentence = context.t().say_outcome.to_owned();
        return shown(&context, StatusCode::BAD_REQUEST, Some(sentence)).await;
    };
    let (reason, seen) = (context.form.get("reason"), Some(seen_version(&context)));
    match context.admin.server.decide(&payment, resolution, reason, context.by(), seen).await {
        Ok(Decision::Outdated(_)) => shown(&context, StatusCode::CONFLICT, Some(context.t().moved.to_owned())).await,
        Ok(Decision::Unchanged(_)) => {
            shown(&context, StatusCode::CONFLICT, Some(context.t().unchanged.to_owned())).await
        }
        result => finish(&context, result.map(drop), "resolved").await,
    }
}

/// The version of the checkout that the person saw; a missing one matches no version.
fn seen_version(context: &RequestContext) -> i64 {
    context.form.get("version").parse().unwrap_or(-1)
}

/// Redirects to the page, or shows it with the error.
async fn finish(context: &RequestContext, result: Result<(), ServerError>, done: &str) -> Result<Response, ErrorPage> {
    let id = context.checkout()?;
    match result.map_err(ErrorPage::from) {
        Ok(()) => Ok(see_other(&format!("{}/checkouts/{id}?done={done}", context.admin.home))),
        Err(error) if error.status == StatusCode::NOT_FOUND => Err(error),
        Err(error) => shown(context, error.status, Some(error.sentence(context.t()))).await,
    }
}
