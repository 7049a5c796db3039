//! How far the way to the other side has come, so that an error can say what it was that did not end in time.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use super::Request;

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// For its response, or for nothing that is known here.
    Response,
    /// For the host's address (DNS).
    LookingUp,
    /// For a connection: TCP and TLS.
    Connecting,
}

/// The stage of one request. It is for the words of an error alone: whether money may have moved is the
/// [`Connection`](super::Connection)'s to say.
#[derive(Default)]
pub(crate) struct Progress(AtomicU8);

impl Progress {
    pub(crate) fn stage(&self) -> Stage {
        match self.0.load(Ordering::Relaxed) {
            1 => Stage::LookingUp,
            2 => Stage::Connecting,
            _ => Stage::Response,
        }
    }

    pub(crate) fn set(&self, stage: Stage) {
        let number = match stage {
            Stage::Response => 0,
            Stage::LookingUp => 1,
            Stage::Connecting => 2,
        };
        self.0.store(number, Ordering::Relaxed);
    }
}

tokio::task_local! {
    /// The request for which the HTTP client works: it tells its connector nothing of it.
    static CURRENT: Arc<Request>;
}

/// Runs an exchange as the given request's.
pub(super) fn of<F: Future>(request: Arc<Request>, exchange: F) -> impl Future<Output = F::Output> {
    request.progress.set(Stage::Response);
    CURRENT.scope(request, exchange)
}

/// Runs a step of making a connection, and notes that the request waits for it, and for what it waits afterwards.
///
/// A request of the pool may get another connection meanwhile. The step then goes on elsewhere, for later requests, and
/// this one waits for its response.
pub(super) async fn during<F: Future>(stage: Stage, afterwards: Stage, step: F) -> F::Output {
    let mut waiting = CURRENT.try_with(Arc::clone).ok();
    if let Some(request) = &waiting {
        request.progress.set(stage);
    }
    let mut step = pin!(step);
    let output = poll_fn(|cx| {
        if let Some(served) = waiting.take_if(|request| !is_current(request)) {
            served.progress.set(Stage::Response);
        }
        step.as_mut().poll(cx)
    })
    .await;
    if let Some(request) = waiting {
        request.progress.set(afterwards);
    }
    output
}

fn is_current(request: &Arc<Request>) -> bool {
    CURRENT.try_with(|current| Arc::ptr_eq(current, request)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        task::{Context, Poll, Waker},
    };

    use super::*;
    use crate::transport::Boxed;

    fn request() -> Arc<Request> {
        Arc::new(Request {
            method: ::http::Method::GET,
            path: "status".into(),
            headers: ::http::HeaderMap::new(),
            query: None,
            body: None,
            own_connection: None,
            progress: Progress::default(),
        })
    }

    fn poll(future: &mut Boxed<()>) -> Poll<()> {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_request_waits_for_the_step_that_does_not_end() {
        for (hangs, expected) in [(Stage::LookingUp, Stage::LookingUp), (Stage::Connecting, Stage::Connecting)] {
            let request = request();
            let connecting = during(Stage::Connecting, Stage::Response, async move {
                let looked_up = during(Stage::LookingUp, Stage::Connecting, async move {
                    if hangs == Stage::LookingUp {
                        pending::<()>().await;
                    }
                });
                looked_up.await;
                pending::<()>().await;
            });
            let mut exchange: Boxed<()> = Box::pin(of(request.clone(), connecting));
            assert!(poll(&mut exchange).is_pending());
            assert_eq!(request.progress.stage(), expected);
        }
        let request = request();
        let mut exchange: Boxed<()> =
            Box::pin(of(request.clone(), during(Stage::Connecting, Stage::Response, async {})));
        assert!(poll(&mut exchange).is_ready());
        assert_eq!(request.progress.stage(), Stage::Response);
    }

    /// Another query has given its connection back, and the one that was begun for this one goes on by itself.
    #[test]
    fn a_request_that_got_another_connection_waits_for_its_response() {
        let request = request();
        let mut connecting: Boxed<()> = Box::pin(during(Stage::Connecting, Stage::Response, pending::<()>()));
        let polled = CURRENT.sync_scope(request.clone(), || poll(&mut connecting));
        assert!(polled.is_pending());
        assert_eq!(request.progress.stage(), Stage::Connecting);
        assert!(poll(&mut connecting).is_pending());
        assert_eq!(request.progress.stage(), Stage::Response);
    }
}
