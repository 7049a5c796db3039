//! Accepting connections. That there can be none for now, as where file descriptors have run out, neither ends the server nor
//! keeps a processor busy.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    time::{Instant, sleep},
};

use crate::rarely::Rarely;

/// How long it waits after a failure that is not the connection's own.
const PAUSE: Duration = Duration::from_millis(250);

/// Who brings connections: the system, or a test.
pub(super) trait Acceptor {
    /// A connection.
    type Stream;

    /// The next one, or why there is none.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, SocketAddr)>> + Send;
}

impl Acceptor for TcpListener {
    type Stream = TcpStream;

    fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        Self::accept(self)
    }
}

/// Brings the next connection, however long that takes.
pub(super) async fn next<A: Acceptor>(from: &A, told: &Rarely) -> (A::Stream, SocketAddr) {
    loop {
        match from.accept().await {
            Ok(accepted) => return accepted,
            Err(problem) if is_peer_error(&problem) => {}
            Err(problem) => {
                if let Some(repeated) = told.is_time(Instant::now().into_std()) {
                    tracing::error!(target: "kassa_server", %problem, repeated, "no connection can be accepted for now");
                }
                sleep(PAUSE).await;
            }
        }
    }
}

/// It was there and ended before it was accepted.
fn is_peer_error(problem: &io::Error) -> bool {
    matches!(problem.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, sync::Mutex};

    use super::*;

    /// Fails in these ways before it brings a connection.
    struct Failing(Mutex<RefCell<Vec<io::Error>>>);

    impl Acceptor for Failing {
        type Stream = ();

        async fn accept(&self) -> io::Result<((), SocketAddr)> {
            let failure = self.0.lock().unwrap().borrow_mut().pop();
            failure.map_or_else(|| Ok(((), ([127, 0, 0, 1], 1).into())), Err)
        }
    }

    fn failing(failures: impl Iterator<Item = io::Error>) -> Failing {
        Failing(Mutex::new(RefCell::new(failures.collect())))
    }

    #[tokio::test(start_paused = true)]
    async fn no_descriptors_left_is_waited_out_without_spinning() {
        let start = Instant::now();
        // EMFILE
        let from = failing((0..10).map(|_| io::Error::from_raw_os_error(24)));
        next(&from, &Rarely::default()).await;
        assert!(start.elapsed() >= 10 * PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_ended_early_holds_up_no_other() {
        let start = Instant::now();
        let from = failing((0..10).map(|_| ErrorKind::ConnectionAborted.into()));
        next(&from, &Rarely::default()).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
