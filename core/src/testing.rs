//! An in-memory gateway on a virtual clock, behind the transport's seam.

pub(crate) mod requests;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    task::AbortHandle,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    Credentials, Gateway, GatewayConfig, PaymentError,
    reply::Reply,
    secret::SecretBytes,
    transport::{Boxed, Connection, Failure, Request, Transport},
};

/// What the gateway does with the n-th request, and after how long.
pub(crate) enum Act {
    /// No connection can be made.
    Refuse,
    /// The request arrives, and the answer is lost.
    Lose(Duration),
    /// It replies with a status, seconds to wait, and a body.
    Reply(Duration, u16, Option<u64>, String),
    /// It takes this long to make a connection; then it replies with an empty object.
    ConnectSlowly(Duration),
}

impl Act {
    pub(crate) fn status(word: &str) -> Self {
        Self::slow_status(0, word)
    }

    pub(crate) fn slow_status(seconds: u64, word: &str) -> Self {
        let body = format!(r#"{{"code":"200","data":{{"status":"{word}"}}}}"#);
        Self::Reply(Duration::from_secs(seconds), 200, None, body)
    }

    pub(crate) fn error(status: u16, retry_after: Option<u64>) -> Self {
        Self::Reply(Duration::ZERO, status, retry_after, r#"{"code":"1","message":"no"}"#.to_owned())
    }
}

type Script = Box<dyn Fn(usize) -> Act + Send + Sync>;

pub(crate) struct Memory {
    script: Script,
    started: Instant,
    attempts: Mutex<Vec<Duration>>,
    /// The requests that had a connection, by path.
    seen: Arc<Mutex<Vec<&'static str>>>,
}

impl Memory {
    /// A gateway over a script: a function from the number of the request, from 0, to what happens.
    pub(crate) fn gateway(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> (Gateway, Arc<Self>) {
        Self::gateway_with(|_| {}, script)
    }

    pub(crate) fn gateway_with(
        settings: impl FnOnce(&mut GatewayConfig),
        script: impl Fn(usize) -> Act + Send + Sync + 'static,
    ) -> (Gateway, Arc<Self>) {
        let memory = Arc::new(Self {
            script: Box::new(script),
            started: Instant::now(),
            attempts: Mutex::default(),
            seen: Arc::default(),
        });
        let mut config = GatewayConfig::new("https://memory.example", Credentials::basic("a", "b"));
        settings(&mut config);
        (Gateway::over(memory.clone(), config).expect("a good configuration"), memory)
    }

    /// When each request was attempted, in seconds from the beginning, rounded down.
    pub(crate) fn attempted_at(&self) -> Vec<u64> {
        self.attempts.lock().unwrap().iter().map(Duration::as_secs).collect()
    }

    pub(crate) fn seen(&self) -> Vec<&'static str> {
        self.seen.lock().unwrap().clone()
    }
}

impl Transport for Memory {
    fn exchange(&self, request: Arc<Request>, connection: Arc<Connection>) -> Boxed<Result<Reply, Failure>> {
        let number = {
            let mut attempts = self.attempts.lock().unwrap();
            attempts.push(Instant::now() - self.started);
            attempts.len() - 1
        };
        let act = (self.script)(number);
        let seen = self.seen.clone();
        let connect = move || {
            assert!(
                !request.own_connection || connection.establish(),
                "the caller gave up, so this future must be gone"
            );
            seen.lock().unwrap().push(request.path);
        };
        Box::pin(async move {
            if let Act::ConnectSlowly(after) = act {
                sleep(after).await;
            }
            if !matches!(act, Act::Refuse) {
                connect();
            }
            match act {
                Act::Refuse => Err(Failure::NotConnected { detail: "refused".into() }),
                Act::Lose(after) => {
                    sleep(after).await;
                    Err(Failure::Lost { detail: "reset".into() })
                }
                Act::Reply(after, http_status, retry_after, body) => {
                    sleep(after).await;
                    Ok(reply(http_status, retry_after, &body))
                }
                Act::ConnectSlowly(_) => Ok(reply(200, None, "{}")),
            }
        })
    }

    fn check(&self) -> Result<(), PaymentError> {
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, moment: Instant) -> Boxed<()> {
        Box::pin(sleep_until(moment))
    }

    fn spawn(&self, task: Boxed<()>) -> AbortHandle {
        tokio::spawn(task).abort_handle()
    }

    fn jitter(&self, most: Duration) -> Duration {
        most
    }
}

fn reply(http_status: u16, retry_after: Option<u64>, body: &str) -> Reply {
    let mut bytes = SecretBytes::default();
    bytes.append(body.as_bytes());
    Reply { http_status, retry_after: retry_after.map(Duration::from_secs), body: bytes, over_limit: false }
}
