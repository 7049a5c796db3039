//! Commit point of a request: from the moment its connection is established, the gateway may have seen it, and
//! cancellation cannot prevent it any more.

use std::{
    error::Error,
    sync::atomic::{AtomicU8, Ordering},
    task::{Context, Poll},
};

use tower_layer::Layer;
use tower_service::Service;

use super::{
    Boxed,
    stage::{Stage, during},
};

const NONE_YET: u8 = 0;
const ESTABLISHED: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Whether a request has had a connection. Sender and caller change it in one atomic step (compare-and-swap), so a
/// caller that cancels either prevents the sending for certain, or learns that it can no longer be prevented.
#[derive(Default)]
pub(crate) struct Connection(AtomicU8);

impl Connection {
    /// Called when a connection is established, before anything is written to it. True at most once: false means that
    /// the caller gave up, or that the request had its connection already. Nothing may be sent then.
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

/// Middleware around the connector of an HTTP client: a request knows that it waits for a connection, and a new connection
/// of one request alone asks for permission before the client can write to it.
#[derive(Clone)]
pub(crate) struct Observer(pub(crate) Option<std::sync::Arc<Connection>>);

impl<S> Layer<S> for Observer {
    type Service = Observed<S>;

    fn layer(&self, connector: S) -> Observed<S> {
        Observed { connector, connection: self.0.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct Observed<S> {
    connector: S,
    connection: Option<std::sync::Arc<Connection>>,
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
