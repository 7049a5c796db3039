//! Sending of requests: retry and backoff, rate limits, connection pool, deadline and timeouts, cancellation, proxies.

use std::{
    future::Future,
    net::TcpListener,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all, poll_immediate};
use kassa::{BlockingGateway, Callback, Gateway, GatewayConfig, PaymentError, PaymentRef, Proxy};
use kassa_test_patience::{patience, patient, wait_until_async};

use crate::{
    alone,
    connect_proxy::ConnectProxy,
    support::{self, Answer, Op, Server, response, response_with},
    tls::{self, tls_server},
};

/// So many, one after the other.
const QUERIES: usize = 10;

#[tokio::test]
async fn payments_use_new_connections_queries_share() {
    let server = Server::start(|request| {
        let op = match request.line.as_str() {
            line if line.starts_with("GET") => Op::PaymentStatus,
            line if line.contains("pay-form") => Op::PayForm,
            line if line.contains("dynamic ") => Op::QrImage,
            line if line.contains("mbank") => Op::MbankPayment,
            line if line.contains("mega") => Op::MegapayCheck,
            _ => Op::CardPayment,
        };
        response(200, &op.success_body())
    });
    let gateway = server.gateway();
    // A connection is given back shortly after its answer was read: the next query may be quicker than that.
    let query = async || {
        let before = server.connections();
        for _ in 0..QUERIES {
            Op::PaymentStatus.run(&gateway).await.unwrap();
        }
        server.connections() - before
    };
    assert!(query().await < QUERIES, "queries share a connection");
    for op in Op::MOVES_MONEY.into_iter().chain(Op::CREATES) {
        let before = server.connections();
        op.run(&gateway).await.unwrap();
        assert_eq!(server.connections(), before + 1, "{op:?} has a connection of its own");
    }
    assert!(query().await < QUERIES, "and queries still share theirs");
}

#[tokio::test]
async fn query_is_repeated_until_it_is_answered() {
    let calls = AtomicUsize::new(0);
    let server = Server::start(move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => response(503, ""),
        1 => Answer::BytesThenReset(vec![]),
        _ => response(200, &Op::QrStatus.success_body()),
    });
    Op::QrStatus.run(&server.gateway()).await.unwrap();
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn query_waits_for_retry_after() {
    let calls = AtomicUsize::new(0);
    let server = Server::start(move |_| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => response_with(429, "Retry-After: 1\r\n", ""),
        _ => response(200, &Op::QrStatus.success_body()),
    });
    let started = Instant::now();
    Op::QrStatus.run(&server.gateway()).await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));
    // A `Retry-After` beyond the deadline: the error comes at once, and says how long to wait: a minute
    // at most, whatever the gateway says.
    let server = Server::start(|_| response_with(429, "Retry-After: 3600\r\n", ""));
    let error = Op::QrStatus.run(&server.gateway()).await.unwrap_err();
    assert_eq!(server.received().len(), 1);
    assert!(matches!(error, PaymentError::Unavailable { retry_after: Some(wait), .. } if wait.as_secs() == 60));
}

fn pay_form_callback() -> Callback {
    let text =
        r#"{"orderNumber":"form-1","amount":1,"status":"CHARGE","dateCreated":"2026-11-20T09:05","provider":"MBank"}"#;
    Callback::parse(text).unwrap()
}

/// A response of one byte at a time, in head or body, never triggers a timeout between two bytes: only a total deadline
/// ends it.
#[tokio::test]
async fn one_deadline_covers_everything() {
    let response = support::response_bytes(200, "", "x".repeat(500).as_bytes());
    let end_of_head = response.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let servers = [0, end_of_head].map(|at_once| {
        let (first, rest) = (response[..at_once].to_vec(), response[at_once..].to_vec());
        Server::start(move |_| Answer::Drip(first.clone(), rest.clone(), Duration::from_secs(1)))
    });
    let deadline = Duration::from_secs(20);
    let gateways = servers.each_ref().map(|server| {
        Gateway::new(server.config().with_payment_deadline(deadline).with_query_deadline(deadline)).unwrap()
    });
    let all = gateways.iter().flat_map(|gateway| Op::all().map(move |op| (gateway, op)));
    let timed = all.map(async |(gateway, op)| {
        let started = Instant::now();
        let error = op.run(gateway).await.unwrap_err();
        (op, error, started.elapsed())
    });
    let verified = gateways.iter().map(async |gateway| {
        let started = Instant::now();
        let payment = PaymentRef::pay_form(1.into());
        let error = gateway.verify_callback(&pay_form_callback(), &payment).await.unwrap_err();
        (error, started.elapsed())
    });
    let whole_response = Duration::from_secs(response.len() as u64 - end_of_head as u64);
    let is_on_time = |took: Duration| took >= deadline && took < patient(whole_response / 5).min(whole_response / 2);
    let (timed, verified) = join(join_all(timed), join_all(verified)).await;
    for (op, error, took) in timed {
        let variant = if Op::MOVES_MONEY.contains(&op) { "OutcomeUnknown" } else { "Unavailable" };
        assert_eq!(error.kind(), variant, "{op:?}");
        assert!(is_on_time(took), "{op:?} took {took:?}");
    }
    for (error, took) in verified {
        assert_eq!(error.kind(), "Unavailable");
        assert!(is_on_time(took), "verifying a callback took {took:?}");
    }
}

/// A listener whose queue is full, so that no further connection is established. (While there is room in the queue,
/// connections are established although nobody accepts them.) On a loopback address the kernel establishes a connection before the system
/// call returns, so on a slow machine, too, the timeout strikes only where the queue is full.
fn full_listener() -> (TcpListener, Vec<std::net::TcpStream>) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any.into()).unwrap();
    socket.listen(0).unwrap();
    let listener: TcpListener = socket.into();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        waiting.push(stream);
        assert!(waiting.len() < 100, "the queue of the listener does not fill");
    }
    (listener, waiting)
}

#[tokio::test]
async fn timeout_before_connection_is_unavailable() {
    let (listener, _waiting) = full_listener();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let config = support::config(url)
        .with_payment_deadline(Duration::from_millis(500))
        .with_query_deadline(Duration::from_millis(500));
    let gateway = Gateway::new(config.clone()).unwrap();
    for op in Op::all() {
        assert_eq!(op.run(&gateway).await.unwrap_err().kind(), "Unavailable", "{op:?}, the deadline");
    }
    let config = config
        .with_connect_timeout(Duration::from_millis(100))
        .with_query_retries(0)
        .with_payment_deadline(patience())
        .with_query_deadline(patience());
    let gateway = Gateway::new(config).unwrap();
    for op in Op::all() {
        assert_eq!(op.run(&gateway).await.unwrap_err().kind(), "Unavailable", "{op:?}, the connect timeout");
    }
}

#[tokio::test]
async fn cancellation_before_connection_sends_nothing() {
    let (listener, waiting) = full_listener();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let gateway = Gateway::new(GatewayConfig::new(url, kassa::Credentials::basic("a", "b"))).unwrap();
    {
        let mut call = pin!(Op::CardPayment.run(&gateway));
        assert!(poll_immediate(&mut call).await.is_none());
        // Dropped here, while it is connecting.
    }
    tokio::time::timeout(patience(), gateway.close()).await.expect("nothing is left on its way");
    // Accept every connection that still comes: none may carry the payment.
    drop(waiting);
    listener.set_nonblocking(true).unwrap();
    let deadline = Instant::now() + Duration::from_secs(4); // longer than TCP's next attempt to connect
    while Instant::now() < deadline {
        if let Ok((mut stream, _)) = listener.accept() {
            stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            let mut bytes = Vec::new();
            let _ = std::io::Read::read_to_end(&mut stream, &mut bytes);
            assert_eq!(String::from_utf8_lossy(&bytes), "", "the payment was sent after all");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Cancellation at any point of a call: before the request, within it, or before the answer. The exact point depends on
/// the machine's timing; what is asserted must hold at each.
#[tokio::test]
async fn cancellation_at_any_poll_sends_at_most_once() {
    let server = Server::start(|request| {
        let op = if request.line.contains("/payment ") { Op::CardPayment } else { Op::MbankPayment };
        response(200, &op.success_body())
    });
    let few_and_many = || (0..16).chain((5..14).map(|power| 1 << power));
    for (op, polls) in Op::MOVES_MONEY.into_iter().flat_map(|op| few_and_many().map(move |polls| (op, polls))) {
        let before = server.received().len();
        let gateway = server.gateway();
        let answer = poll_at_most(polls, op.run(&gateway)).await;
        gateway.close().await;
        let sent = server.received().len() - before;
        assert!(sent <= 1, "{op:?} was sent {sent} times after {polls} polls");
        if let Some(answer) = answer {
            answer.unwrap();
            assert_eq!(sent, 1, "{op:?} after {polls} polls");
        }
    }
}

async fn poll_at_most<T>(polls: usize, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    for _ in 0..polls {
        if let Some(answer) = poll_immediate(&mut call).await {
            return Some(answer);
        }
        tokio::task::yield_now().await;
    }
    None
}

#[tokio::test]
async fn close_waits_for_cancelled_payment_in_flight() {
    let (arrived, arrival) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let (arrived, released) = (std::sync::Mutex::new(arrived), std::sync::Mutex::new(released));
    let answered = Arc::new(AtomicUsize::new(0));
    let count = answered.clone();
    let server = Server::start(move |_| {
        arrived.lock().unwrap().send(()).unwrap();
        released.lock().unwrap().recv().unwrap();
        count.fetch_add(1, Ordering::SeqCst);
        response(200, &Op::CardPayment.success_body())
    });
    let gateway = server.gateway();
    let caller = tokio::spawn({
        let gateway = gateway.clone();
        async move { Op::CardPayment.run(&gateway).await }
    });
    tokio::task::spawn_blocking(move || arrival.recv().unwrap()).await.unwrap();
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());

    let mut closing = pin!(gateway.close());
    assert!(poll_immediate(&mut closing).await.is_none(), "close waits for the payment");
    assert_eq!(answered.load(Ordering::SeqCst), 0);
    release.send(()).unwrap();
    closing.await;
    assert_eq!((answered.load(Ordering::SeqCst), server.received().len()), (1, 1));

    let error = Op::QrStatus.run(&gateway).await.unwrap_err();
    assert_eq!(error.kind(), "Misconfigured", "a closed gateway refuses: {error}");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn dropped_query_leaves_the_gateway_usable() {
    let server = Server::start(|request| match request.line.as_str() {
        line if line.contains("transaction_id") => Answer::Silence,
        _ => response(200, &Op::ProviderStatus.success_body()),
    });
    let gateway = server.gateway();
    tokio::select! {
        answer = Op::QrStatus.run(&gateway) => panic!("the server does not answer: {answer:?}"),
        // The query is dropped.
        () = wait_until_async("the query arrives", async || !server.received().is_empty()) => {}
    }
    Op::ProviderStatus.run(&gateway).await.unwrap();
}

#[test]
fn async_gateway_works_without_callers_runtime() {
    let server = Server::responding(200, &Op::QrStatus.success_body());
    pollster::block_on(Op::QrStatus.run(&server.gateway())).unwrap();
}

/// From a plain thread, inside a current-thread runtime, inside workers of a multi-thread one, and many at once.
#[test]
fn blocking_gateway_works_everywhere() {
    let server = Server::responding(200, &Op::QrStatus.success_body());
    let gateway = BlockingGateway::new(server.config()).unwrap();
    gateway.qr_status("tx").unwrap();

    let current = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    current.block_on(async { gateway.qr_status("tx") }).unwrap();

    let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let inside: Vec<_> = (0..20)
        .map(|_| {
            let gateway = gateway.clone();
            multi.spawn(async move { gateway.qr_status("tx") })
        })
        .collect();
    for call in inside {
        multi.block_on(call).unwrap().unwrap();
    }

    // More calls than tokio's cooperative budget lets one task make before it must yield.
    let many = {
        let gateway = gateway.clone();
        async move { (0..300).try_for_each(|_| gateway.qr_status("tx").map(drop)) }
    };
    multi.block_on(multi.spawn(many)).unwrap().unwrap();

    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| gateway.qr_status("tx").unwrap());
        }
    });
    gateway.close();
    assert_eq!(gateway.qr_status("tx").unwrap_err().kind(), "Misconfigured");
}

#[tokio::test]
async fn redirects_are_never_followed() {
    let elsewhere = Arc::new(Server::responding(200, &Op::CardPayment.success_body()));
    let location = format!("Location: {}/\r\n", elsewhere.url());
    for status in [301, 302, 303, 307, 308] {
        let location = location.clone();
        let server = Server::start(move |_| response_with(status, &location, ""));
        for op in Op::all() {
            assert!(op.run(&server.gateway()).await.is_err(), "{op:?}, {status}");
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn proxy_carries_tls_and_sees_no_payment_data() {
    let (url, certificate, seen) = tls_server("localhost", rustls::ALL_VERSIONS);
    let proxy = ConnectProxy::start();
    let config = tls::config(&url)
        .with_proxy(Proxy::url(format!("http://me:hunter2@{}", proxy.address)))
        .with_extra_root_certificates(certificate);
    Op::CardPayment.run(&Gateway::new(config).unwrap()).await.unwrap();
    let head = proxy.heads().concat().to_lowercase();
    let target = url.trim_start_matches("https://");
    assert!(head.starts_with(&format!("connect {target} http/1.1\r\n")), "{head}");
    assert!(head.contains("\r\nproxy-authorization: basic ") && !head.contains("\r\nauthorization:"), "{head}");
    let carried = proxy.carried();
    for secret in [support::PAN, "Authorization", "order-1"].map(str::as_bytes) {
        assert!(!carried.windows(secret.len()).any(|part| part.eq_ignore_ascii_case(secret)));
    }
    assert_eq!((proxy.heads().len(), carried.is_empty(), seen.load(Ordering::SeqCst)), (1, false, 1));
    for url in ["::", "", "proxy:3128", "ftp://proxy.example", "wss://proxy.example", "socks5://proxy.example"] {
        let unusable = tls::config("https://pay.example.kg").with_proxy(Proxy::url(url));
        assert_eq!(Gateway::new(unusable).unwrap_err().kind(), "Misconfigured", "{url}");
    }
}

/// It would carry card numbers and credentials over the network in clear.
#[test]
fn plain_http_is_never_sent_to_a_proxy() {
    for base_url in ["http://127.0.0.1:1", "http://localhost:1/prefix", "http://[::1]:1"] {
        for proxy in ["http://me:hunter2@proxy.example:3128", "https://proxy.example", "http://127.0.0.1:3128"] {
            let config = tls::config(base_url).with_proxy(Proxy::url(proxy));
            let error = Gateway::new(config).unwrap_err();
            assert_eq!(error.kind(), "Misconfigured", "{base_url} by {proxy}");
            let text = error.to_string();
            assert!(text.contains("proxy needs an https base_url") && !text.contains("hunter2"), "{text}");
        }
    }
}

#[tokio::test]
async fn proxy_authentication_error_is_misconfigured() {
    let proxy = Server::responding(407, "");
    let config = support::config("https://localhost:1").with_proxy(Proxy::url(proxy.url()));
    for op in Op::all() {
        let error = op.run(&Gateway::new(config.clone()).unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), "Misconfigured", "{op:?}: {error}");
    }
}

/// Environment variables belong to a whole process, so the test runs itself in a process of its own.
#[test]
fn environment_proxies_are_used_only_if_enabled() {
    let proxy = ConnectProxy::start();
    let url = proxy.url();
    let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let mut variables = names.map(|name| (name, url.as_str())).to_vec();
    variables.extend([("no_proxy", ""), ("NO_PROXY", "")]);
    alone::run("sending::in_a_process_with_a_proxy_in_its_environment", &variables);
    let heads = proxy.heads();
    assert_eq!(heads.len(), 1, "only the payment that asked for the proxy went through it: {heads:?}");
    assert!(heads[0].starts_with("CONNECT localhost:"), "{heads:?}");
}

#[test]
#[ignore = "run by environment_proxies_are_used_only_if_enabled"]
fn in_a_process_with_a_proxy_in_its_environment() {
    let (url, certificate, seen) = tls_server("localhost", rustls::ALL_VERSIONS);
    let direct = tls::config(&url).with_extra_root_certificates(certificate);
    let pay = |config| BlockingGateway::new(config).unwrap().create_card_payment(support::card_payment()).unwrap();
    pay(direct.clone());
    pay(direct.with_proxy(Proxy::environment()));
    assert_eq!(seen.load(Ordering::SeqCst), 2);
    // Plain http goes past the proxy, for every kind of request.
    let server = Server::responding(200, &Op::CardPayment.success_body());
    let plain = server.config().with_proxy(Proxy::environment());
    pay(plain.clone());
    assert!(BlockingGateway::new(plain).unwrap().qr_status("tx").is_err(), "it is no report");
    assert_eq!(server.received().len(), 2);
}

#[test]
fn futures_can_move_between_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let server = Server::responding(200, "");
    let gateway = server.gateway();
    let future: &dyn Future<Output = _> = &is_send(gateway.create_card_payment(support::card_payment()));
    let _ = future;
    drop(is_send(gateway.close()));
}
