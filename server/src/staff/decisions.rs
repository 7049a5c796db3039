//! What a person does on a checkout's page. Each is done by that person's name, and leads back to the page.

use axum::{http::StatusCode, response::Response};

use super::{
    checkout::shown,
    page::{Refusal, see_other},
    route::{Answering, Visit},
};
use crate::{
    server::Decision,
    storage::staff::RefundNoted,
    values::{error::ServerError, states::Resolution},
};

const MOVED: &str = "Nothing was noted: something happened to this checkout since you opened its page. Look at what is below, then note \
    it again.";

pub(super) fn ask(visit: Visit) -> Answering {
    Box::pin(async move {
        let id = visit.checkout()?;
        let result = visit.desk.server.check_now(&id).await;
        ended(&visit, result, "asked").await
    })
}

pub(super) fn cancel(visit: Visit) -> Answering {
    Box::pin(async move {
        let id = visit.checkout()?;
        let result = visit.desk.server.cancel_by(&id, visit.by()).await.map(drop);
        ended(&visit, result, "cancelled").await
    })
}

pub(super) fn replay(visit: Visit) -> Answering {
    Box::pin(async move {
        let id = visit.checkout()?;
        let result = visit.desk.server.replay(Some(&id)).await.map(drop);
        ended(&visit, result, "replayed").await
    })
}

pub(super) fn refund(visit: Visit) -> Answering {
    Box::pin(async move {
        let id = visit.checkout()?;
        let noted = visit.desk.server.note_refund(&id, version(&visit), visit.form.get("reason"), visit.by()).await;
        let problem = match noted {
            Ok(RefundNoted::NotDue) => "Nothing is to be given back, or somebody has noted it already.",
            Ok(RefundNoted::Moved) => MOVED,
            result => return ended(&visit, result.map(drop), "refund").await,
        };
        shown(&visit, StatusCode::CONFLICT, Some(problem.to_owned())).await
    })
}

pub(super) fn resolve(visit: Visit) -> Answering {
    Box::pin(async move {
        let (id, payment) = (visit.checkout()?, visit.payment()?);
        // Of this checkout: what is decided is what stands on the page.
        if visit.desk.server.checkout(&id).await?.payment(&payment).is_none() {
            return Err(Refusal::nowhere());
        }
        let Ok(resolution) = visit.form.get("outcome").parse::<Resolution>() else {
            let sentence = "Say whether the money was taken.".to_owned();
            return shown(&visit, StatusCode::BAD_REQUEST, Some(sentence)).await;
        };
        let (reason, seen) = (visit.form.get("reason"), Some(version(&visit)));
        match visit.desk.server.decide(&payment, resolution, reason, visit.by(), seen).await {
            Ok(Decision::Moved(_)) => shown(&visit, StatusCode::CONFLICT, Some(MOVED.to_owned())).await,
            Ok(Decision::Again(_)) => {
                let sentence =
                    "It stood so already: nothing was noted of what you wrote. What is below says who decided it.";
                shown(&visit, StatusCode::CONFLICT, Some(sentence.to_owned())).await
            }
            result => ended(&visit, result.map(drop), "resolved").await,
        }
    })
}

/// Of the checkout as the person saw it; none is that of a page that nobody saw.
fn version(visit: &Visit) -> i64 {
    visit.form.get("version").parse().unwrap_or(-1)
}

/// Back to the page; with what was wrong, where something was.
async fn ended(visit: &Visit, result: Result<(), ServerError>, done: &str) -> Result<Response, Refusal> {
    let id = visit.checkout()?;
    match result.map_err(Refusal::from) {
        Ok(()) => Ok(see_other(&format!("{}/checkouts/{id}?done={done}", visit.desk.home))),
        Err(refusal) if refusal.status == StatusCode::NOT_FOUND => Err(refusal),
        Err(refusal) => shown(visit, refusal.status, Some(refusal.sentence)).await,
    }
}
