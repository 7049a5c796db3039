//! A query where it is called: awaited by the calling task, whose runtime drives its connection.
//!
//! A payment has to outlive its caller, and so has a task of its own. A query has not, and a task would cost it two
//! threads that wake one another (`docs/adr/0002-a-runtime-of-its-own.md`).

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use super::attempts::Attempts;
use crate::{
    response::Response,
    transport::{Boxed, Failure, runtime::without_subscriber},
};

/// Carries a query through to a response. The query comes back where the HTTP client panicked, as it does in a runtime without
/// I/O or without timers: it is to be asked elsewhere, and so is whatever that runtime asks later.
///
/// It is boxed once, or the library would hold all of it for each operation.
pub(super) fn ask(attempts: Attempts) -> Boxed<Result<Result<Response, Failure>, Attempts>> {
    Box::pin(async move {
        let result = {
            let mut running = pin!(attempts.run());
            poll_fn(|cx| {
                let polled = AssertUnwindSafe(|| without_subscriber(|| running.as_mut().poll(cx)));
                catch_unwind(polled).map_or_else(|panic| Poll::Ready(Err(panic)), |polled| polled.map(Ok))
            })
            .await
        };
        result.map_err(|_| {
            attempts.transport.cannot_ask_here();
            attempts
        })
    })
}
