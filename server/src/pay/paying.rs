//! What the payer's forms do: begin a payment, confirm it, ask at once. **None of them begins a second payment** where one is
//! under way: the page shows that one.

use std::time::Duration;

use axum::{http::StatusCode, response::Response};
use tokio::time::timeout;

use super::{
    frame::see_other,
    refusal::Refusal,
    screen::{Screen, page_of},
    show::shown,
    state::Typed,
    texts::texts,
    visit::{Answering, Visit},
};
use crate::{
    payments::payment::Payment,
    sending::Way,
    values::{
        error::ServerError,
        ids::PaymentId,
        method::Method,
        states::PaymentState,
        violation::{Rule, Violation},
    },
};

/// How long the gateway's answer is waited for; mostly it is there in a moment.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// What was begun; nothing where it takes long. It goes on then, and the page shows it.
type Begun = Option<Result<Payment, ServerError>>;

pub(super) fn pay(visit: Visit) -> Answering {
    Box::pin(async move {
        let method = visit.form.get("method").parse().ok().filter(|method| *method != Method::Card);
        let Some(method) = method else { return Err(Refusal::not_ours(StatusCode::BAD_REQUEST)) };
        let problem = match begun(&visit, method).await {
            None => return Ok(visit.home()),
            Some(Ok(payment)) => return Ok(on_from(&visit, &payment)),
            Some(Err(problem)) => problem,
        };
        let t = texts(visit.links.spoken.language);
        let typed = Typed { method: Some(method), phone: visit.form.shown("phone").to_owned(), ..Typed::default() };
        match problem {
            ServerError::UnderWay { .. } | ServerError::NotOpen { .. } => Ok(visit.home()),
            ServerError::Invalid { violations } if is_about(&violations, "phone") => {
                let typed = Typed { phone_problem: Some(t.phone_wrong), ..typed };
                shown(&visit, StatusCode::UNPROCESSABLE_ENTITY, typed)
            }
            // An old form with a new phone number: its key is used up.
            ServerError::KeyReused if !offers_form(&visit) => Ok(visit.home()),
            ServerError::KeyReused => shown(&visit, StatusCode::CONFLICT, Typed { notice: Some(t.once_more), ..typed }),
            ServerError::NoAttemptsLeft => {
                shown(&visit, StatusCode::CONFLICT, Typed { notice: Some(t.too_many_tries), ..typed })
            }
            other => Err(other.into()),
        }
    })
}

async fn begun(visit: &Visit, method: Method) -> Begun {
    let (server, id, key) = (&visit.till.server, &visit.view.checkout.id, visit.form.get("key"));
    let page = visit.till.settings.page_url(&visit.view.checkout.page_secret);
    // The payer comes back to this page, in the language that was picked.
    let language = visit.links.spoken;
    let query = if language.is_picked { format!("?lang={}", language.language) } else { String::new() };
    let back = format!("{page}/back{query}");
    let way = match method {
        Method::Mbank => Way::Mbank { phone: visit.form.get("phone") },
        Method::Qr => Way::Qr,
        Method::PayForm | Method::Card => Way::PayForm { back: Some(&back) },
    };
    let instead = left(visit);
    timeout(visit.till.settings.answer_within, server.pay(id, way, instead.as_ref(), Some(key))).await.ok()
}

/// The payment that the payer leaves for another. **Only the form beside it names it**: an old form, or one of another window,
/// leaves nothing.
fn left(visit: &Visit) -> Option<PaymentId> {
    visit.form.get("instead").parse().ok()
}

/// Whether the page has the form that was sent.
fn offers_form(visit: &Visit) -> bool {
    let screen = Screen::of(&visit.view);
    screen.offers_ways() || (left(visit).is_some() && screen.replaceable(&visit.view).is_some())
}

/// To the gateway's page, where one is to be opened.
fn on_from(visit: &Visit, payment: &Payment) -> Response {
    let is_open = payment.method == Method::PayForm && payment.state == PaymentState::Awaiting;
    if is_open && page_of(payment).is_some() {
        return see_other(&visit.links.to("/go"));
    }
    visit.home()
}

pub(super) fn confirm(visit: Visit) -> Answering {
    Box::pin(async move {
        let Ok(payment) = visit.form.get("payment").parse::<PaymentId>() else {
            return Err(Refusal::not_ours(StatusCode::BAD_REQUEST));
        };
        let (server, id, key) = (&visit.till.server, &visit.view.checkout.id, visit.form.get("key"));
        let confirming = server.confirm(id, &payment, visit.form.get("otp"), Some(key));
        let problem = match timeout(visit.till.settings.answer_within, confirming).await {
            Err(_) | Ok(Ok(_)) => return Ok(visit.home()),
            Ok(Err(problem)) => problem,
        };
        match problem {
            ServerError::NotAwaited { .. } | ServerError::NotOpen { .. } | ServerError::NoAttemptsLeft => {
                Ok(visit.home())
            }
            ServerError::Invalid { violations } if is_about(&violations, "otp") => {
                let t = texts(visit.links.spoken.language);
                let is_missing = violations.iter().any(|violation| violation.rule == Rule::Required);
                let problem = if is_missing { t.code_missing } else { t.code_unlike };
                shown(
                    &visit,
                    StatusCode::UNPROCESSABLE_ENTITY,
                    Typed { code_problem: Some(problem), ..Typed::default() },
                )
            }
            other => Err(other.into()),
        }
    })
}

/// The payer says that it is paid: the gateway is asked at once, and its answer is waited for a little, so that a page without
/// scripts shows it.
pub(super) fn check(visit: Visit) -> Answering {
    Box::pin(async move {
        let (server, checkout) = (&visit.till.server, &visit.view.checkout);
        server.check_now(&checkout.id).await?;
        if Screen::of(&visit.view).can_change() {
            server.checkout_after(&checkout.id, checkout.version, ANSWER_WITHIN).await?;
        }
        Ok(visit.home())
    })
}

/// The payer comes back from the gateway's page, by a link or by a form that it posts: a hint, and no more. The address alone
/// says which checkout it is about.
pub(super) fn back(visit: Visit) -> Answering {
    if visit.is_head { Box::pin(async move { Ok(visit.home()) }) } else { check(visit) }
}

/// A form's address that is opened by itself, or reloaded.
pub(super) fn to_page(visit: Visit) -> Answering {
    Box::pin(async move { Ok(visit.home()) })
}

fn is_about(violations: &[Violation], field: &str) -> bool {
    violations.iter().all(|violation| violation.field == field)
}
