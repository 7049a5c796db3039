//! What a person does on a checkout's page. Each is done by that person's name, and leads back to the page.

use axum::{http::StatusCode, response::Response};

use super::{
    checkout::shown,
    context::RequestContext,
    page::{ErrorPage, see_other},
};
use crate::{
    server::Decision,
    storage::staff::RefundNoted,
    values::{error::ServerError, states::Resolution},
};

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
    let noted =
        context.admin.server.note_refund(&id, seen_version(&context), context.form.get("reason"), context.by()).await;
    let problem = match noted {
        Ok(RefundNoted::NotDue) => "Nothing is to be given back, or somebody has noted it already.",
        Ok(RefundNoted::Moved) => MOVED,
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
        Ok(Decision::Moved(_)) => shown(&context, StatusCode::CONFLICT, Some(MOVED.to_owned())).await,
        Ok(Decision::Again(_)) => {
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
