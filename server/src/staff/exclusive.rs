//! Work of which one at a time is enough.

use std::{sync::Arc, time::Duration};

use axum::{http::StatusCode, response::Response};
use tokio::sync::Semaphore;
use tracing::Instrument;

use super::page::ErrorPage;

const WAIT: Duration = Duration::from_secs(5);

/// Does it, unless somebody else's is being done. It goes on where its caller gives up: whoever calls and hangs up again and
/// again has one at work all the same.
pub(super) async fn run_exclusive(
    places: &Arc<Semaphore>,
    work: impl Future<Output = Result<Response, ErrorPage>> + Send + 'static,
) -> Result<Response, ErrorPage> {
    let Ok(place) = places.clone().try_acquire_owned() else { return Err(busy()) };
    let work = async move {
        let _place = place;
        work.await
    };
    let work = tokio::spawn(work.in_current_span());
    // The panic was already logged.
    work.await.unwrap_or_else(|_| Err(ErrorPage::failed()))
}

fn busy() -> ErrorPage {
    let sentence = "Somebody else is having this done at this moment. Try again in a few seconds.";
    ErrorPage { retry_after: Some(WAIT), ..ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, sentence) }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_also_where_its_caller_is_gone() {
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
        drop(places.acquire().await.unwrap());
        assert_eq!(
            run_exclusive(&places, async { Ok(StatusCode::OK.into_response()) }).await.unwrap().status(),
            StatusCode::OK
        );
    }
}
