//! The context of a request for a staff page, and exclusive work.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, request::Parts},
    response::Response,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tracing::Instrument;

use super::{
    admin_state::{AdminState, StaffUser},
    fields::FormFields,
    page::{ErrorPage, Frame, Section, View},
    texts::Texts,
};
use crate::{
    tokens::{DecidedBy, KeyRole, Permission},
    values::{CheckoutId, PaymentId},
};

/// An admitted request. The router admits it and reads its form; handlers extract it.
#[derive(Clone)]
pub(super) struct RequestContext {
    pub(super) admin: Arc<AdminState>,
    pub(super) view: View,
    pub(super) from: IpAddr,
    /// `None` only on public routes.
    pub(super) user: Option<StaffUser>,
    pub(super) headers: HeaderMap,
    /// The checkout and the payment in the path, if it has valid ones.
    pub(super) checkout: Option<CheckoutId>,
    pub(super) payment: Option<PaymentId>,
    pub(super) query: FormFields,
    pub(super) form: FormFields,
}

impl RequestContext {
    /// The texts in the reader's language.
    pub(super) fn t(&self) -> &'static Texts {
        self.view.t
    }

    /// The checkout that the path names.
    pub(super) fn checkout(&self) -> Result<CheckoutId, ErrorPage> {
        self.checkout.clone().ok_or_else(ErrorPage::not_found)
    }

    /// The payment that the path names.
    pub(super) fn payment(&self) -> Result<PaymentId, ErrorPage> {
        self.payment.clone().ok_or_else(ErrorPage::not_found)
    }

    /// The person, through the person's key.
    pub(super) fn by(&self) -> DecidedBy {
        let by = |user: &StaffUser| DecidedBy::new(&user.name).through(KeyRole::Staff, user.key.clone());
        self.user.as_ref().map_or_else(|| DecidedBy::new(""), by)
    }

    /// Whether the person may make changes.
    pub(super) fn may_decide(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.permission >= Permission::Decide)
    }

    /// The frame around the content of a section's page.
    pub(super) fn frame(&self, section: Section) -> Frame {
        Frame::of(&self.view, self.user.as_ref(), Some(section))
    }

    /// The CSRF token that each form carries.
    pub(super) fn csrf(&self) -> String {
        self.user.as_ref().map(|user| user.csrf.clone()).unwrap_or_default()
    }
}

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorPage> {
        parts.extensions.remove().ok_or_else(ErrorPage::failed)
    }
}

const WAIT: Duration = Duration::from_secs(5);

/// Does the work, unless someone else's is in progress. It continues if its caller gives up, so that repeated calls that hang up
/// still cause only one at a time.
pub(super) async fn run_exclusive(
    places: &Arc<Semaphore>,
    work: impl Future<Output = Result<Response, ErrorPage>> + Send + 'static,
) -> Result<Response, ErrorPage> {
    let Ok(place) = places.clone().try_acquire_owned() else { return Err(busy()) };
    run_holding(place, work).await
}

/// Does the work after earlier work, with a wait of a few seconds.
pub(super) async fn run_in_turn<T: Send + 'static>(
    places: &Arc<Semaphore>,
    work: impl Future<Output = Result<T, ErrorPage>> + Send + 'static,
) -> Result<T, ErrorPage> {
    let Ok(Ok(place)) = timeout(WAIT, places.clone().acquire_owned()).await else { return Err(busy()) };
    run_holding(place, work).await
}

async fn run_holding<T: Send + 'static>(
    place: OwnedSemaphorePermit,
    work: impl Future<Output = Result<T, ErrorPage>> + Send + 'static,
) -> Result<T, ErrorPage> {
    let work = async move {
        let _place = place;
        work.await
    };
    let work = tokio::spawn(work.in_current_span());
    // The panic was already logged.
    work.await.unwrap_or_else(|_| Err(ErrorPage::failed()))
}

fn busy() -> ErrorPage {
    ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, |t| t.busy).after(WAIT)
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn exclusive_task_keeps_slot_of_cancelled_caller() {
        let places = Arc::new(Semaphore::new(1));
        let (end, ended) = oneshot::channel::<()>();
        let mut first = Box::pin(run_exclusive(&places, async move {
            let _ = ended.await;
            Ok(StatusCode::OK.into_response())
        }));
        assert!((&mut first).now_or_never().is_none());
        drop(first);
        let second = run_exclusive(&places, async { Ok(StatusCode::OK.into_response()) }).await.unwrap_err();
        assert_eq!((second.status, second.retry_after), (StatusCode::SERVICE_UNAVAILABLE, Some(WAIT)));
        end.send(()).unwrap();
        let third = run_in_turn(&places, async { Ok(3) }).await;
        assert_eq!(third.ok(), Some(3), "it waited for the first one to end");
        drop(places.acquire().await.unwrap());
        assert_eq!(
            run_exclusive(&places, async { Ok(StatusCode::OK.into_response()) }).await.unwrap().status(),
            StatusCode::OK
        );
    }
}
