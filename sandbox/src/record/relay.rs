//! Relays one client connection to its own connection to the upstream, byte for byte, including how each side ends:
//! in order, mid-message, or by a reset. A connection is never reused for another client, and nothing is sent twice.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, split},
    net::TcpStream,
    sync::{Notify, watch},
    time::sleep,
};

use crate::{
    record::{
        exchanges::{Exchanges, UPSTREAM_CLOSED},
        upstream::Upstream,
        writer::Recording,
    },
    recording::Direction,
};

const BUFFER: usize = 16 * 1024;
/// How often a connection checks whether it is idle after the order to stop.
const STOP_POLL: Duration = Duration::from_millis(10);

/// The recorder's progress in stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    No,
    /// Connections end once they are idle.
    WhenIdle,
    Now,
}

/// The shared parts of a listener's connections.
pub(super) struct Route {
    pub(super) recording: Arc<Recording>,
    pub(super) upstream: Upstream,
    pub(super) direction: Direction,
}

/// How a direction of a connection ended.
enum End {
    /// In order: the other direction continues.
    Closed,
    /// Broken: both sides are reset.
    Broken(String),
}

/// Relays until both sides have ended.
pub(super) async fn relay(mut client: TcpStream, route: Arc<Route>, mut stop: watch::Receiver<Stop>) {
    let connection = route.recording.next_connection();
    let _without_delay = client.set_nodelay(true);
    let mut exchanges = Exchanges::new(&route.recording, &route.upstream, route.direction, connection);
    let Some(first) = first_bytes(&mut client, &mut exchanges, stop.clone()).await else {
        return;
    };
    let connected = tokio::select! {
        connected = route.upstream.connect() => connected,
        () = stopped(&mut stop, Stop::Now) => Err(io::Error::other("the recorder was stopped")),
    };
    let upstream = match connected {
        Ok(upstream) => upstream,
        Err(error) => {
            tracing::warn!(upstream = route.upstream.url, %error, "the upstream cannot be reached: closing the connection");
            take_available(&client, &mut exchanges);
            exchanges.end_unconnected(&format!("the upstream cannot be reached: {error}"));
            return;
        }
    };

    let (exchanges, upgraded) = (Mutex::new(exchanges), Notify::new());
    let (mut upstream_reads, mut upstream_writes) = split(upstream);
    let broken = {
        let (mut client_reads, mut client_writes) = client.split();
        let requests = relay_requests(&mut client_reads, &mut upstream_writes, &exchanges, &upgraded, first);
        let responses = relay_responses(&mut upstream_reads, &mut client_writes, &exchanges, &upgraded);
        tokio::pin!(requests, responses);
        let (mut requests_ended, mut responses_ended) = (false, false);
        loop {
            if requests_ended && responses_ended {
                break None;
            }
            tokio::select! {
                end = &mut requests, if !requests_ended => match end {
                    End::Closed => requests_ended = true,
                    End::Broken(how) => break Some(how),
                },
                end = &mut responses, if !responses_ended => match end {
                    End::Closed => {
                        locked(&exchanges).end(UPSTREAM_CLOSED);
                        responses_ended = true;
                    }
                    End::Broken(how) => break Some(how),
                },
                () = stop_due(&mut stop, &exchanges) => {
                    locked(&exchanges).end("the recorder was stopped");
                    break None;
                }
            }
        }
    };
    if let Some(how) = broken {
        locked(&exchanges).end(&how);
        let upstream = upstream_reads.unsplit(upstream_writes);
        // The other side gets a reset, too, not an end in order.
        let _is_reset = upstream.set_zero_linger();
        let _is_reset = client.set_zero_linger();
    } else {
        locked(&exchanges).end("the client closed the connection");
    }
}

/// Reads until a request starts; returns the bytes for the upstream. `None` if the client ended before.
async fn first_bytes(
    client: &mut TcpStream,
    exchanges: &mut Exchanges<'_>,
    mut stop: watch::Receiver<Stop>,
) -> Option<Vec<u8>> {
    let mut buffer = vec![0; BUFFER];
    let mut first = Vec::new();
    while !exchanges.has_begun() {
        let read = tokio::select! {
            read = client.read(&mut buffer) => read.ok()?,
            () = stopped(&mut stop, Stop::WhenIdle) => return None,
        };
        if read == 0 {
            return None;
        }
        first.extend(exchanges.request_bytes(&buffer[..read]));
    }
    Some(first)
}

/// Records the bytes that the client has already sent. Reading them also makes the connection end in order.
fn take_available(client: &TcpStream, exchanges: &mut Exchanges<'_>) {
    let mut buffer = vec![0; BUFFER];
    while let Ok(read @ 1..) = client.try_read(&mut buffer) {
        exchanges.request_bytes(&buffer[..read]);
    }
}

async fn relay_requests(
    client: &mut (impl AsyncReadExt + Unpin),
    upstream: &mut (impl AsyncWriteExt + Unpin),
    exchanges: &Mutex<Exchanges<'_>>,
    upgraded: &Notify,
    first: Vec<u8>,
) -> End {
    // An upstream that accepts no more bytes may still send a response, so reading continues.
    let mut takes_more = write(upstream, &first).await.is_ok();
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = tokio::select! {
            read = client.read(&mut buffer) => read,
            () = upgraded.notified() => {
                let held = locked(exchanges).take_held();
                takes_more = takes_more && write(upstream, &held).await.is_ok();
                continue;
            }
        };
        let read = match read {
            Ok(read) => read,
            Err(error) => return End::Broken(format!("the client broke the connection ({error})")),
        };
        let passed = match read {
            0 => locked(exchanges).take_held(),
            read => {
                let mut exchanges = locked(exchanges);
                let passed = exchanges.request_bytes(&buffer[..read]);
                exchanges.record();
                passed
            }
        };
        takes_more = takes_more && write(upstream, &passed).await.is_ok();
        if read == 0 {
            let _is_shut_down = upstream.shutdown().await;
            return End::Closed;
        }
    }
}

async fn relay_responses(
    upstream: &mut (impl AsyncReadExt + Unpin),
    client: &mut (impl AsyncWriteExt + Unpin),
    exchanges: &Mutex<Exchanges<'_>>,
    upgraded: &Notify,
) -> End {
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = match upstream.read(&mut buffer).await {
            Ok(read) => read,
            // TLS without `close_notify`: a response that ends with its connection may be truncated.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !locked(exchanges).is_until_close() => 0,
            Err(error) => return End::Broken(format!("the upstream broke the connection ({error})")),
        };
        if read == 0 {
            let _is_shut_down = client.shutdown().await;
            return End::Closed;
        }
        if locked(exchanges).response_bytes(&buffer[..read]) {
            upgraded.notify_one();
        }
        let written = write(client, &buffer[..read]).await;
        match written {
            Ok(()) => locked(exchanges).record(),
            Err(error) => {
                locked(exchanges).record_unreceived(&error);
                return End::Broken(format!("the client did not take the response ({error})"));
            }
        }
    }
}

async fn write(stream: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Waits until the recorder has stopped this far.
pub(super) async fn stopped(stop: &mut watch::Receiver<Stop>, how: Stop) {
    // A dropped recorder must stop, too.
    let _is_stopped = stop.wait_for(|stop| *stop >= how).await;
}

/// Waits until this connection must end because the recorder stops.
async fn stop_due(stop: &mut watch::Receiver<Stop>, exchanges: &Mutex<Exchanges<'_>>) {
    stopped(stop, Stop::WhenIdle).await;
    while locked(exchanges).is_busy() && *stop.borrow() < Stop::Now {
        sleep(STOP_POLL).await;
    }
}

fn locked<'a, 'b>(exchanges: &'a Mutex<Exchanges<'b>>) -> MutexGuard<'a, Exchanges<'b>> {
    exchanges.lock().unwrap_or_else(PoisonError::into_inner)
}
