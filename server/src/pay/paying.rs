//! The payer's forms: begin a payment, confirm it, query its status at once. **None of them begins a second payment** while one
//! is in progress: the page shows that one.

use std::time::Duration;

use axum::{http::StatusCode, response::Response};
use tokio::time::timeout;

use super::{
    context::{RejectedInput, RequestContext},
    frame::ErrorPage,
    screen::{Screen, page_of},
    show::render_page,
    texts::texts,
    ways::phone_field,
};
use crate::{
    dispatch::PaymentInput,
    net::see_other,
    payments::Payment,
    values::{
        Method, PaymentId, PaymentState,
        error::ServerError,
        error::{Rule, Violation},
    },
};

/// The time that a page waits for the gateway's response, which usually takes a moment.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// The payment; `None` if the gateway takes too long. Then the payment continues, and the page shows it.
type StartResult = Option<Result<Payment, ServerError>>;

pub(super) async fn pay(context: RequestContext) -> Result<Response, ErrorPage> {
    let method = context.form.get("method").parse().ok().filter(|method| *method != Method::Card);
    let Some(method) = method else { return Err(ErrorPage::bad_form(StatusCode::BAD_REQUEST)) };
    let problem = match start_payment(&context, method).await {
        None => return Ok(context.home()),
        Some(Ok(payment)) => return Ok(redirect_after(&context, &payment)),
        Some(Err(problem)) => problem,
    };
    let t = texts(context.links.locale.language);
    let typed = RejectedInput {
        method: Some(method),
        phone: context.form.shown(phone_field(Method::Mbank)).to_owned(),
        wallet_phone: context.form.shown(phone_field(Method::Megapay)).to_owned(),
        ..RejectedInput::default()
    };
    match problem {
        ServerError::UnderWay { .. } | ServerError::NotOpen { .. } => Ok(context.home()),
        ServerError::Invalid { violations } if is_about(&violations, "phone") => {
            let typed = RejectedInput { phone_problem: Some(t.phone_wrong), ..typed };
            render_page(&context, StatusCode::UNPROCESSABLE_ENTITY, typed).await
        }
        // An old form with a new phone number: its key is used up.
        ServerError::KeyReused if !offers_form(&context) => Ok(context.home()),
        ServerError::KeyReused => {
            render_page(&context, StatusCode::CONFLICT, RejectedInput { notice: Some(t.once_more), ..typed }).await
        }
        ServerError::NoAttemptsLeft => {
            render_page(&context, StatusCode::CONFLICT, RejectedInput { notice: Some(t.too_many_tries), ..typed }).await
        }
        other => Err(other.into()),
    }
}

async fn start_payment(context: &RequestContext, method: Method) -> StartResult {
    let (server, id, key) = (&context.pages.server, &context.view.checkout.id, context.form.get("key"));
    let page = context.pages.settings.page_url(&context.view.checkout.page_secret);
    // The payer returns to this page, in the picked language.
    let language = context.links.locale;
    let query = if language.is_picked { format!("?lang={}", language.language) } else { String::new() };
    let back = format!("{page}/back{query}");
    let way = match method {
        Method::Mbank => PaymentInput::Mbank { phone: context.form.get(phone_field(method)) },
        Method::Megapay => PaymentInput::Megapay { phone: context.form.get(phone_field(method)) },
        Method::Qr => PaymentInput::Qr,
        Method::PayForm | Method::Card => PaymentInput::PayForm { back: Some(&back) },
    };
    let instead = replaced_payment(context);
    timeout(context.pages.settings.answer_within, server.pay(id, way, instead.as_ref(), Some(key))).await.ok()
}

/// The payment that the payer replaces. **Only the form next to it names it**: an old form, or one of
/// another window, replaces nothing.
fn replaced_payment(context: &RequestContext) -> Option<PaymentId> {
    context.form.get("instead").parse().ok()
}

/// Whether the current page has the submitted form.
fn offers_form(context: &RequestContext) -> bool {
    let screen = Screen::of(&context.view);
    screen.offers_ways() || (replaced_payment(context).is_some() && screen.replaceable(&context.view).is_some())
}

/// Redirects to the gateway's page if there is one, else to our page.
fn redirect_after(context: &RequestContext, payment: &Payment) -> Response {
    let is_open = payment.method == Method::PayForm && payment.state == PaymentState::Awaiting;
    if is_open && page_of(payment).is_some() {
        return see_other(&context.links.to("/go"));
    }
    context.home()
}

pub(super) async fn confirm(context: RequestContext) -> Result<Response, ErrorPage> {
    let Ok(payment) = context.form.get("payment").parse::<PaymentId>() else {
        return Err(ErrorPage::bad_form(StatusCode::BAD_REQUEST));
    };
    let (server, id, key) = (&context.pages.server, &context.view.checkout.id, context.form.get("key"));
    let confirming = server.confirm(id, &payment, context.form.get("otp"), Some(key));
    let problem = match timeout(context.pages.settings.answer_within, confirming).await {
        Err(_) | Ok(Ok(_)) => return Ok(context.home()),
        Ok(Err(problem)) => problem,
    };
    match problem {
        ServerError::NotAwaited { .. } | ServerError::NotOpen { .. } | ServerError::NoAttemptsLeft => {
            Ok(context.home())
        }
        ServerError::Invalid { violations } if is_about(&violations, "otp") => {
            let t = texts(context.links.locale.language);
            let is_missing = violations.iter().any(|violation| violation.rule == Rule::Required);
            let is_pin = context.view.payment(&payment).is_some_and(|payment| payment.method == Method::Megapay);
            let problem = match (is_pin, is_missing) {
                (false, true) => t.code_missing,
                (false, false) => t.code_unlike,
                (true, true) => t.pin_missing,
                (true, false) => t.pin_unlike,
            };
            render_page(
                &context,
                StatusCode::UNPROCESSABLE_ENTITY,
                RejectedInput { code_problem: Some(problem), ..RejectedInput::default() },
            )
            .await
        }
        other => Err(other.into()),
    }
}

/// Records the payer's claim to have paid, and queries the gateway at once. The response waits for the result a little, so that a
/// page without scripts shows it.
pub(super) async fn check(context: RequestContext) -> Result<Response, ErrorPage> {
    let claimed = Screen::of(&context.view).payable_payment().map(|payment| payment.id.clone());
    claim(context, claimed.as_ref()).await
}

async fn claim(context: RequestContext, claimed: Option<&PaymentId>) -> Result<Response, ErrorPage> {
    let (server, checkout) = (&context.pages.server, &context.view.checkout);
    server.claim_paid(&checkout.id, claimed).await?;
    if Screen::of(&context.view).can_change() {
        server.checkout_after(&checkout.id, checkout.version, ANSWER_WITHIN).await?;
    }
    Ok(context.home())
}

/// The payer's return from the gateway's page, by a link or by a form that it posts. It is only a hint. The address
/// alone identifies the checkout.
pub(super) async fn back(context: RequestContext) -> Result<Response, ErrorPage> {
    if context.is_head {
        return Ok(context.home());
    }
    let has_page = |payment: &&Payment| payment.state == PaymentState::Awaiting && page_of(payment).is_some();
    let claimed = context.view.payments.iter().rev().find(has_page).map(|payment| payment.id.clone());
    claim(context, claimed.as_ref()).await
}

/// A form's address, opened by GET or reloaded: redirects to the page.
pub(super) async fn to_page(context: RequestContext) -> Result<Response, ErrorPage> {
    Ok(context.home())
}

fn is_about(violations: &[Violation], field: &str) -> bool {
    violations.iter().all(|violation| violation.field == field)
}
