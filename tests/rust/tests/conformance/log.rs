//! Everything that is logged during the run, at every level.

use std::{
    io,
    sync::{Arc, Condvar, Mutex},
};

use kassa::{BlockingGateway, Credentials, GatewayConfig};
use kassa_test_patience::patience;
use tracing_subscriber::fmt::MakeWriter;

/// The order number of a query that is made when everything else is over.
const LAST: &str = "the-last-order";

#[derive(Clone, Default)]
pub struct Log(Arc<(Mutex<Vec<u8>>, Condvar)>);

impl Log {
    /// All that was logged so far. Events are logged in their order, but later than they happen, so it makes one more
    /// and waits for that.
    pub fn text(&self) -> String {
        let nobody = GatewayConfig::new("http://127.0.0.1:1", Credentials::basic("a", "b"));
        BlockingGateway::new(nobody).unwrap().qr_status(LAST).unwrap_err();
        let (log, grown) = &*self.0;
        let is_short = |log: &mut Vec<u8>| !String::from_utf8_lossy(log).contains(LAST);
        let (log, waited) = grown.wait_timeout_while(log.lock().unwrap(), patience(), is_short).unwrap();
        assert!(!waited.timed_out(), "{LAST} was never logged");
        let log = String::from_utf8_lossy(&log).into_owned();
        assert!(!log.contains("events were dropped"), "the log is not whole");
        log
    }
}

pub fn capture() -> Log {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .with_ansi(false)
        // Digits of a moment could be those of a secret.
        .without_time()
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    log
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.0.lock().unwrap().extend_from_slice(bytes);
        self.0.1.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
