//! The progress of a connection, so that an error can name the step that did not end in time, and the commit point of a request.

use std::{
    error::Error,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

use crate::transport::{Boxed, Request};

const NONE_YET: u8 = 0;
const ESTABLISHED: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Whether a request has had a connection. Sender and caller change it in one atomic step (compare-and-swap), so a
/// caller that cancels either certainly prevents sending, or learns that it is too late.
#[derive(Default)]
pub(crate) struct Connection(AtomicU8);

impl Connection {
    /// Called when a connection is established, before anything is written to it. True at most once: false means that
    /// the caller gave up, or that the request already had its connection. Nothing may be sent then.
    pub(crate) fn establish(&self) -> bool {
        self.leave(ESTABLISHED)
    }

    /// Called by the side that stops waiting (cancellation, deadline). True: nothing was sent and nothing will be.
    pub(crate) fn give_up(&self) -> bool {
        self.leave(GIVEN_UP) || self.0.load(Ordering::Acquire) == GIVEN_UP
    }

    pub(crate) fn is_established(&self) -> bool {
        self.0.load(Ordering::Acquire) == ESTABLISHED
    }

    fn leave(&self, next: u8) -> bool {
        self.0.compare_exchange(NONE_YET, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

/// Middleware around the connector of an HTTP client: a request knows that it waits for a connection, and a new connection of a single
/// request needs permission before the client can write to it.
#[derive(Clone)]
pub(crate) struct Observer(pub(crate) Option<Arc<Connection>>);

impl<S> Layer<S> for Observer {
    type Service = Observed<S>;

    fn layer(&self, connector: S) -> Observed<S> {
        Observed { connector, connection: self.0.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct Observed<S> {
    connector: S,
    connection: Option<Arc<Connection>>,
}

impl<S, R> Service<R> for Observed<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Boxed<Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, target: R) -> Self::Future {
        let connecting = during(Stage::Connecting, Stage::Response, self.connector.call(target));
        let connection = self.connection.clone();
        Box::pin(async move {
            let connected = connecting.await?;
            if connection.is_none_or(|connection| connection.establish()) {
                Ok(connected)
            } else {
                Err("the request may not be sent on this connection".into())
            }
        })
    }
}

// The progress of a connection, so that an error can name the step that did not end in time.

/// The step that a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its response, or an unknown step.
    Response,
    /// The host's address (DNS).
    LookingUp,
    /// A connection: TCP and TLS.
    Connecting,
}

/// The stage of one request. It is only for the text of an error: [`Connection`](super::Connection) decides whether
/// money may have moved.
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
    /// The current request of the HTTP client, which does not pass it to its connector.
    static CURRENT: Arc<Request>;
}

/// Runs an exchange for the given request.
pub(super) fn of<F: Future>(request: Arc<Request>, exchange: F) -> impl Future<Output = F::Output> {
    request.progress.set(Stage::Response);
    CURRENT.scope(request, exchange)
}

/// Runs a step of connecting, and records that the request waits for it, and the step that it waits for afterwards.
///
/// A request of the pool may get another connection in the meantime. The step then continues for later requests, and
/// this request waits for its response.
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

    #[test]
    fn who_comes_first_decides() {
        let connection = Connection::default();
        assert!(connection.give_up());
        assert!(!connection.establish());
        assert!(!connection.is_established());

        let connection = Connection::default();
        assert!(connection.establish());
        assert!(!connection.establish(), "one connection for life");
        assert!(!connection.give_up());
        assert!(connection.is_established());
    }

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
    fn pending_request_names_unfinished_step() {
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

    /// Another query has returned its connection, and the one that was begun for this query continues on its own.
    #[test]
    fn request_on_other_connection_awaits_response() {
        let request = request();
        let mut connecting: Boxed<()> = Box::pin(during(Stage::Connecting, Stage::Response, pending::<()>()));
        let polled = CURRENT.sync_scope(request.clone(), || poll(&mut connecting));
        assert!(polled.is_pending());
        assert_eq!(request.progress.stage(), Stage::Connecting);
        assert!(poll(&mut connecting).is_pending());
        assert_eq!(request.progress.stage(), Stage::Response);
    }
}
