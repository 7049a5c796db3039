//! Apps that wait by long poll, each on a connection of its own. The server is a process apart, so that the memory is its own.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    process::Stdio,
    time::{Duration, Instant},
};

use futures_util::{FutureExt as _, StreamExt as _, stream};
use kassa::FakeGateway;
use kassa_bench::{Figures, processor_time_of, resident_memory_of};
use kassa_server::{CheckoutId, HttpSettings, Listener, ListenerSettings, Server, router};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{order, place::Place, runtime, server};

const MANY: usize = 10_000;
/// So many connect, or open checkouts, at once.
const AT_ONCE: usize = 100;
const WAIT: Duration = Duration::from_secs(60);
/// KiB each.
const BAR: f64 = 20.0;
/// Where the server writes the apps' tokens.
const TOKENS: &str = "tokens";
/// Who computes less than this in half a second has let everybody in.
const QUIET: Duration = Duration::from_millis(25);

pub fn measure(place: &Place) {
    let mut command = place.process("apps-apart");
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("an address");
    let address = line.trim().parse().expect("an address");
    let tokens = fs::read_to_string(place.folder.join(TOKENS)).expect("tokens");
    let requests = tokens.lines().map(request).collect();
    let id = process.id();
    let mut cancel = process.stdin.take().expect("a pipe");
    runtime().block_on(async {
        let idle = resident_memory_of(id);
        let mut apps = let_in(address, requests).await;
        until_quiet(id).await;
        while ask_again(&mut apps).await {
            until_quiet(id).await;
        }
        let each = resident_memory_of(id).saturating_sub(idle) as f64 / 1024.0 / apps.len() as f64;
        assert!(apps.iter().all(is_waiting), "none is answered before anything happens");

        let started = Instant::now();
        cancel.write_all(b"\n").expect("a process that listens");
        stream::iter(apps).for_each_concurrent(None, told).await;
        let mut figures = Figures::new(format!("{MANY} apps that wait by long poll, without TLS"));
        let kib = |figure: f64| format!("{figure:.1} KiB");
        figures.add_with_bar("memory of the server, for each", each, BAR, kib);
        let all = started.elapsed().as_secs_f64();
        figures.add("all checkouts cancelled, and all apps told, after", format!("{all:.2} s"));
        figures.print();
    });
    drop(cancel);
    assert!(process.wait().expect("a process").success());
}

/// A line with token and version.
fn request(line: &str) -> String {
    let (token, version) = line.split_once(' ').expect("a token and a version");
    let wait = WAIT.as_secs();
    format!(
        "GET /v1/checkout?after={version}&wait={wait} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
    )
}

struct App {
    stream: TcpStream,
    request: String,
}

impl App {
    async fn ask(&mut self) {
        self.stream.write_all(self.request.as_bytes()).await.expect("a server that reads");
    }
}

async fn let_in(address: SocketAddr, requests: Vec<String>) -> Vec<App> {
    let connect = |request: String| async move {
        let stream = TcpStream::connect(address).await.expect("enough files: ulimit -n");
        let mut app = App { stream, request };
        app.ask().await;
        app
    };
    stream::iter(requests).map(connect).buffer_unordered(AT_ONCE).collect().await
}

/// Those whom the server refused for now, as too many came at once; whether there were any.
async fn ask_again(apps: &mut [App]) -> bool {
    let mut refused: Vec<&mut App> = apps.iter_mut().filter(|app| !is_waiting(app)).collect();
    for app in &mut refused {
        let answer = read(&mut app.stream).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        app.ask().await;
    }
    !refused.is_empty()
}

async fn until_quiet(process: u32) {
    loop {
        let before = processor_time_of(process);
        sleep(Duration::from_millis(500)).await;
        if processor_time_of(process) - before < QUIET {
            return;
        }
    }
}

fn is_waiting(app: &App) -> bool {
    app.stream.peek(&mut [0]).now_or_never().is_none()
}

async fn read(stream: &mut TcpStream) -> String {
    let mut answer = [0; 4096];
    let read = timeout(WAIT, stream.read(&mut answer)).await.expect("an answer in time").expect("an answer");
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

async fn told(mut app: App) {
    let answer = read(&mut app.stream).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("cancelled"), "{answer}");
}

/// Prints its address, cancels all checkouts at the first line that comes, and ends when no more will.
pub fn apart(place: &Place) {
    runtime().block_on(async {
        let server = server(place.storage().await, FakeGateway::new().expect("a gateway in memory").gateway());
        server.run();
        let opened: Vec<(CheckoutId, String)> =
            stream::iter(0..MANY).map(|number| open(&server, number)).buffer_unordered(AT_ONCE).collect().await;
        let tokens: Vec<&str> = opened.iter().map(|(_, line)| line.as_str()).collect();
        fs::write(place.folder.join(TOKENS), tokens.join("\n")).expect("room on the disk");

        let mut settings = HttpSettings::new("http://127.0.0.1");
        settings.per_address = 1_000_000;
        settings.longest_wait = WAIT;
        let mut listening = ListenerSettings::new(([127, 0, 0, 1], 0).into());
        // All apps have one address here, as behind a proxy.
        listening.proxies = "127.0.0.1".parse().expect("an address");
        let listener = Listener::bind(listening).await.expect("a port");
        let address = listener.address();
        tokio::spawn(listener.serve(router(server.clone(), settings), std::future::pending(), WAIT));
        println!("{address}");

        next_line().await;
        let cancel = |(id, _)| {
            let server = server.clone();
            async move { drop(server.cancel(&id).await.expect("a checkout")) }
        };
        stream::iter(opened).for_each_concurrent(AT_ONCE, cancel).await;
        next_line().await;
    });
}

async fn open(server: &Server, number: usize) -> (CheckoutId, String) {
    let checkout = server.open_checkout(order(format!("order-{number}"))).await.expect("a checkout").checkout;
    let token = server.new_token(&checkout.id).await.expect("a token");
    (checkout.id, format!("{} {}", token.expose(), checkout.version))
}

async fn next_line() {
    let read = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    read.await.expect("no panic").expect("a pipe");
}
