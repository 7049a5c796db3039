//! The server as a program runs it: real threads, a real file, a real shop.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    task::{Context, Waker},
    time::{Duration, Instant},
};

use axum::http::HeaderMap;
use kassa::{FakeFault, FakeGateway, FakePlan};
use kassa_server::{
    Boxed, CheckoutState, Cursor, DeliveryError, HttpWebhookSender, NewCheckout, Payment, PaymentState, Server,
    ServerError, ServerSettings, SqliteStorage, TokioRuntime, WebhookMessage, WebhookSender,
};
use kassa_test_patience::{patience, wait_for_async, wait_until_async};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    runtime::Handle,
};

use crate::support::lock;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// How long a server waits for a change before it answers that there was none.
const LONG_POLL: Duration = Duration::from_secs(25);

fn server(fake: &FakeGateway, folder: &TempDir, post: Option<HttpWebhookSender>) -> Server {
    let storage = SqliteStorage::open(&folder.path().join("kassa.db")).unwrap();
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    settings.signing_secrets = vec![SECRET.parse().unwrap()];
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    let post = post.map(|post| Arc::new(post) as Arc<dyn WebhookSender>);
    Server::new(Arc::new(storage), Arc::new(fake.gateway()), runtime, settings, post).unwrap()
}

fn order(number: u32) -> NewCheckout {
    let reference = format!("order-{number}");
    NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid")
}

async fn begun(server: &Server, number: u32) -> Payment {
    let id = server.open_checkout(order(number)).await.unwrap().checkout.id;
    server.pay_by_qr(&id, None).await.unwrap()
}

async fn paid(server: &Server, payment: &Payment) -> CheckoutState {
    let mut seen = server.checkout(&payment.checkout).await.unwrap();
    while seen.checkout.state == CheckoutState::Open {
        seen = server.checkout_after(&payment.checkout, seen.checkout.version, LONG_POLL).await.unwrap();
    }
    seen.checkout.state
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_payers_and_shop_are_notified() {
    let (listener, seen) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), Arc::new(Mutex::new(Vec::new())));
    let address = listener.local_addr().unwrap();
    let taken = seen.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(take_events(stream, taken.clone()));
        }
    });
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let server = server(&fake, &folder, Some(HttpWebhookSender::to(&format!("http://{address}/events")).unwrap()));
    server.run();
    let payers = (0..20).map(|number| {
        let (server, fake) = (server.clone(), fake.clone());
        tokio::spawn(async move {
            let payment = begun(&server, number).await;
            fake.charge(payment.qr_text.as_deref().unwrap()).unwrap();
            server.check_now(&payment.checkout).await.unwrap();
            paid(&server, &payment).await
        })
    });
    for payer in payers.collect::<Vec<_>>() {
        assert_eq!(payer.await.unwrap(), CheckoutState::Paid);
    }
    let events = server.events_after(&Cursor::default(), 1000).await.unwrap();
    assert_eq!(events.len(), 20 * 4);
    wait_until_async("every event arrives", async || lock(&seen).len() >= events.len()).await;
    server.stop().await;
    let counted = format!("kassa_event_deliveries_total{{result=\"taken\"}} {}\n", events.len());
    assert!(server.metrics_text().await.contains(&counted));
    let library = standardwebhooks::Webhook::new(SECRET).unwrap();
    for (id, timestamp, signature, body) in lock(&seen).iter() {
        let mut headers = HeaderMap::new();
        headers.insert("webhook-id", id.parse().unwrap());
        headers.insert("webhook-timestamp", (*timestamp).into());
        headers.insert("webhook-signature", signature.parse().unwrap());
        library.verify(body.as_bytes(), &headers).unwrap();
        assert!(library.verify(format!("{body} ").as_bytes(), &headers).is_err());
        assert!(events.iter().any(|event| event.id == *id && event.body == *body), "{id}");
    }
}

#[tokio::test]
async fn what_happens_is_counted() {
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let server = server(&fake, &folder, None);
    let payment = begun(&server, 1).await;
    begun(&server, 2).await;
    fake.charge(payment.qr_text.as_deref().unwrap()).unwrap();
    server.check_now(&payment.checkout).await.unwrap();
    server.poll_once().await.unwrap();
    let text = server.metrics_text().await;
    for line in [
        "kassa_gateway_sent_total{method=\"qr\",result=\"accepted\"} 2",
        "kassa_gateway_status_queries_total{result=\"charged\"} 1",
        "kassa_open_payments{state=\"awaiting\"} 1",
        "kassa_database_up 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
}

type Taken = Arc<Mutex<Vec<(String, i64, String, String)>>>;

/// As little of HTTP as the client needs.
async fn take_events(mut stream: tokio::net::TcpStream, taken: Taken) {
    let mut read = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut buffer).await else { return };
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let header = |name: &str| {
            let line = head.lines().find_map(|line| line.split_once(": ").filter(|(key, _)| *key == name));
            line.map(|(_, value)| value.to_owned()).unwrap_or_default()
        };
        if body.len() < header("content-length").parse().unwrap() {
            continue;
        }
        let timestamp = header("webhook-timestamp").parse().unwrap();
        lock(&taken).push((header("webhook-id"), timestamp, header("webhook-signature"), body.to_owned()));
        read.clear();
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    }
}

/// Its caller hangs up: the payment is sent and noted all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnected_callers_payment_is_recorded() {
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let server = server(&fake, &folder, None);
    let id = server.open_checkout(order(1)).await.unwrap().checkout.id;
    {
        let mut call = Box::pin(server.pay_by_mbank(&id, "996700000001", None));
        wait_until_async("the payment has begun", async || {
            let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            !server.checkout(&id).await.unwrap().payments.is_empty()
        })
        .await;
    }
    let state = wait_for_async("the payment is sent", async || {
        let payment = server.checkout(&id).await.unwrap().payments.pop().unwrap();
        Some(payment.state).filter(|state| *state != PaymentState::Sending)
    });
    assert_eq!(state.await, PaymentState::Awaiting);
    assert_eq!(fake.payments().len(), 1);
}

/// Within 5 s, also where the gateway does not answer; the next start finds out what became of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_stops_quickly_and_resumes_on_restart() {
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let first = server(&fake, &folder, None);
    first.run();
    let id = first.open_checkout(order(1)).await.unwrap().checkout.id;
    // The clock of the fake gateway stands still, so that a call without an answer hangs.
    fake.stop_clock();
    fake.plan(FakePlan::Charge { after: Duration::from_secs(1) });
    fake.fail_next(FakeFault::NoResponse);
    let (caller, payer) = (first.clone(), id.clone());
    let hanging = tokio::spawn(async move { caller.pay_by_mbank(&payer, "996700000001", None).await });
    wait_until_async("the payment is at the gateway", async || !fake.payments().is_empty()).await;
    let started = Instant::now();
    first.stop().await;
    // It waits for 5 s; the rest is for a slow machine.
    assert!(started.elapsed() < patience() / 3, "{:?}", started.elapsed());
    let refused = first.pay_by_qr(&id, None).await;
    assert!(matches!(refused, Err(ServerError::Unavailable { .. })), "{refused:?}");
    hanging.abort();
    let second = server(&fake, &folder, None);
    let view = second.checkout(&id).await.unwrap();
    assert_eq!(view.payments[0].state, PaymentState::Sending, "nobody says yet that it was not made");
    // What hangs on the first one's threads ends, and is noted.
    fake.start_clock();
    fake.charge(view.payments[0].id.bare()).unwrap();
    second.run();
    let mut seen = view.checkout.version;
    loop {
        let view = second.checkout_after(&id, seen, Duration::from_secs(1)).await.unwrap();
        second.check_now(&id).await.unwrap();
        if view.checkout.state == CheckoutState::Paid {
            break;
        }
        seen = view.checkout.version;
    }
    second.stop().await;
}

/// A question without an answer holds its own place, and none of the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_status_query_does_not_block_others() {
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let storage = SqliteStorage::open(&folder.path().join("kassa.db")).unwrap();
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    (settings.poll_workers, settings.max_concurrent_polls) = (1, 2);
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    let server = Server::new(Arc::new(storage), Arc::new(fake.gateway()), runtime, settings, None).unwrap();
    let mut payments = Vec::new();
    for number in 0..5 {
        let payment = begun(&server, number).await;
        fake.charge(payment.qr_text.as_deref().unwrap()).unwrap();
        payments.push(payment);
    }
    // The clock of the fake gateway stands still: the first question hangs, and no deadline ends it.
    fake.stop_clock();
    fake.fail_next(FakeFault::NoResponse);
    server.run();
    for payment in &payments {
        server.check_now(&payment.checkout).await.unwrap();
    }
    wait_until_async("all but one are paid", async || {
        let mut open = 0;
        for payment in &payments {
            let state = server.checkout(&payment.checkout).await.unwrap().checkout.state;
            open += usize::from(state == CheckoutState::Open);
        }
        open <= 1
    })
    .await;
    fake.start_clock();
    server.stop().await;
}

/// An event that a shop does not answer holds up its own stream, and none of the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_webhook_delivery_does_not_block_others() {
    /// Takes all but the events of the first checkout that it hears of.
    #[derive(Default)]
    struct Slow(Mutex<Option<String>>, Mutex<Vec<String>>);

    impl WebhookSender for Slow {
        fn post(&self, notice: WebhookMessage) -> Boxed<'_, Result<(), DeliveryError>> {
            let body: serde_json::Value = serde_json::from_str(&notice.body).unwrap();
            let stream = body["data"]["checkout"].as_str().unwrap().to_owned();
            let is_slow = *lock(&self.0).get_or_insert_with(|| stream.clone()) == stream;
            lock(&self.1).push(notice.id);
            Box::pin(async move { if is_slow { std::future::pending().await } else { Ok(()) } })
        }
    }

    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let storage = SqliteStorage::open(&folder.path().join("kassa.db")).unwrap();
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    settings.deliveries_at_once = 2;
    let (runtime, post) = (Arc::new(TokioRuntime::on(Handle::current())), Arc::new(Slow::default()));
    let server =
        Server::new(Arc::new(storage), Arc::new(fake.gateway()), runtime, settings, Some(post.clone())).unwrap();
    server.run();
    for number in 0..5 {
        begun(&server, number).await;
    }
    // Two events of each checkout, and one of the one that does not answer.
    wait_until_async("nine events are posted", async || lock(&post.1).len() >= 9).await;
}

/// Bulkheads: payments of the mobile bank that get no answer keep no code from being made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_method_does_not_block_sends_of_others() {
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let storage = SqliteStorage::open(&folder.path().join("kassa.db")).unwrap();
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    settings.max_concurrent_sends = 8;
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    let server = Server::new(Arc::new(storage), Arc::new(fake.gateway()), runtime, settings, None).unwrap();
    fake.stop_clock();
    // As many as there are, but one for each of the other methods.
    (0..4).for_each(|_| fake.fail_next(FakeFault::NoResponse));
    for number in 0..8 {
        let id = server.open_checkout(order(number)).await.unwrap().checkout.id;
        let (caller, payer) = (server.clone(), id.clone());
        tokio::spawn(async move { caller.pay_by_mbank(&payer, "996700000001", None).await });
        wait_until_async("the payment has begun", async || !server.checkout(&id).await.unwrap().payments.is_empty())
            .await;
    }
    wait_until_async("four hang", async || fake.payments().len() == 4).await;
    assert_eq!(begun(&server, 8).await.state, PaymentState::Awaiting);
    assert_eq!(fake.payments().len(), 5);
    fake.start_clock();
}

/// What waits for its turn when the server stops is certainly not sent, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_payment_is_not_sent_on_shutdown() {
    let (fake, folder) = (FakeGateway::new().unwrap(), tempfile::tempdir().unwrap());
    let storage = SqliteStorage::open(&folder.path().join("kassa.db")).unwrap();
    let mut settings = ServerSettings::new("https://pay.shop.example.kg/callbacks");
    settings.max_concurrent_sends = 1;
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    let server = Server::new(Arc::new(storage), Arc::new(fake.gateway()), runtime, settings, None).unwrap();
    fake.stop_clock();
    fake.fail_next(FakeFault::NoResponse);
    let mut ids = Vec::new();
    for number in 0..2 {
        let id = server.open_checkout(order(number)).await.unwrap().checkout.id;
        let (caller, payer) = (server.clone(), id.clone());
        tokio::spawn(async move { caller.pay_by_mbank(&payer, "996700000001", None).await });
        wait_until_async("the payment has begun", async || !server.checkout(&id).await.unwrap().payments.is_empty())
            .await;
        ids.push(id);
    }
    let waiting = |server: Server, id| async move { server.checkout(&id).await.unwrap().payments[0].state };
    assert_eq!(waiting(server.clone(), ids[1].clone()).await, PaymentState::Prepared);
    let stopping = server.clone();
    let stopped = tokio::spawn(async move { stopping.stop().await });
    wait_until_async("the payment that waits is given up", async || {
        waiting(server.clone(), ids[1].clone()).await != PaymentState::Prepared
    })
    .await;
    assert_eq!(waiting(server.clone(), ids[1].clone()).await, PaymentState::NotMade);
    fake.start_clock();
    stopped.await.unwrap();
    assert_eq!(fake.payments().len(), 1);
}
