//! The program is killed at random moments while merchants pay, and started again on the same file: what it told
//! anybody stays true.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use fastrand::Rng;
use rusqlite::Connection;
use serde_json::Value;

use crate::{
    binary::command,
    child::announced,
    common::{
        Body, CARD, MBANK_CONFIRM, MBANK_PAY, Response, basic, card_body, confirm_body, mbank_body, send, try_send,
        wait_until,
    },
    merchant::Merchant,
};

const KILLS: u64 = 30;
const CLIENTS: u64 = 3;
/// Of so many starts one is killed before it says that it listens.
const EARLY_KILLS: u64 = 5;
/// The sandbox is killed after at most so many answers.
const ANSWERS: u64 = 60;

/// What a merchant knows of an order: the most that an answer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LastResponse {
    /// It was sent, and no answer came.
    Nothing,
    Created,
    Charged,
}

/// The sandbox as a child, which is killed rather than stopped.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    fn start(database: &Path) -> Self {
        let mut command = command();
        command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--callback-pauses", "1", "--db"]).arg(database);
        command.env("KASSA_SANDBOX_ADMIN_TOKEN", "token");
        let (child, announcement, _) = announced(&mut command);
        Self { child, url: announcement["url"].as_str().expect("a URL").to_owned() }
    }

    fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("it ends");
    }

    /// Every payment by its order number, which none of them shares.
    fn ledger(&self) -> BTreeMap<String, Value> {
        let answer = send("GET", &format!("{}/admin/ledger", self.url), &[("authorization", "Bearer token")], b"");
        let mut json = answer.json();
        let payments = json["payments"].as_array_mut().map(std::mem::take).expect("payments");
        let count = payments.len();
        let by_number: BTreeMap<_, _> =
            payments.into_iter().map(|payment| (text(&payment["order_number"]), payment)).collect();
        assert_eq!(by_number.len(), count, "an order number has two payments");
        by_number
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Killed at some moment of its start, before or after it touched the file. The time is the injected fault, and nothing is asserted of what
/// happens in it.
fn kill_early(database: &Path, random: &mut Rng) {
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0", "--db"]).arg(database).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    thread::sleep(Duration::from_millis(random.u64(..40)));
    child.kill().expect("killed");
    child.wait().expect("it ends");
}

/// A merchant who pays until the sandbox stops responding.
struct Client {
    url: String,
    name: String,
    callback_url: String,
    orders: BTreeMap<String, LastResponse>,
    /// How many answers all clients have had.
    answers: Arc<AtomicU64>,
}

impl Client {
    fn pay_until_the_end(mut self) -> BTreeMap<String, LastResponse> {
        for index in 0.. {
            let order = format!("{}-{index}", self.name);
            let is_answered = if index % 2 == 0 { self.by_card(&order) } else { self.by_mbank(&order) };
            if is_answered.is_none() {
                break;
            }
        }
        self.orders
    }

    fn by_card(&mut self, order: &str) -> Option<()> {
        let body = card_body(order).with("pan", "\"4000000000002016\"");
        let answer = self.call(order, CARD, body.with("callbackUrl", &self.callback_url))?;
        assert_eq!(answer.data("status"), "Success", "{}", answer.body);
        self.record(order, LastResponse::Charged)
    }

    fn by_mbank(&mut self, order: &str) -> Option<()> {
        self.call(order, MBANK_PAY, mbank_body(order).with("callbackUrl", &self.callback_url))?;
        self.record(order, LastResponse::Created);
        let answer = self.call(order, MBANK_CONFIRM, confirm_body(order, "101101"))?;
        assert_eq!(answer.data("status"), "CHARGE", "{}", answer.body);
        self.record(order, LastResponse::Charged)
    }

    fn call(&mut self, order: &str, path: &str, body: Body) -> Option<Response> {
        self.orders.entry(order.to_owned()).or_insert(LastResponse::Nothing);
        let authorization = basic("kassa", "sandbox-password");
        let headers = [("authorization", authorization.as_str())];
        let answer = try_send("POST", &format!("{}{path}", self.url), &headers, body.text().as_bytes()).ok()?;
        assert_eq!(answer.status, 200, "{}", answer.body);
        self.answers.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    fn record(&mut self, order: &str, response: LastResponse) -> Option<()> {
        self.orders.insert(order.to_owned(), response);
        Some(())
    }
}

/// Lets merchants pay until the sandbox is killed; the last response to each order.
fn pay_and_kill(running: Running, round: u64, merchant: &Merchant, random: &mut Rng) -> Vec<(String, LastResponse)> {
    let answers = Arc::new(AtomicU64::new(0));
    let start = |name| {
        let client = Client {
            url: running.url.clone(),
            name: format!("K-{round}-{name}"),
            callback_url: merchant.json_url(),
            orders: BTreeMap::new(),
            answers: answers.clone(),
        };
        thread::spawn(move || client.pay_until_the_end())
    };
    let clients: Vec<_> = (0..CLIENTS).map(start).collect();
    let enough = random.u64(3..=ANSWERS);
    wait_until("the clients have their answers", || {
        answers.load(Ordering::Relaxed) >= enough || clients.iter().any(JoinHandle::is_finished)
    });
    running.kill();
    clients.into_iter().flat_map(|client| client.join().expect("a client received a wrong response")).collect()
}

fn assert_kept(ledger: &BTreeMap<String, Value>, orders: &BTreeMap<String, LastResponse>) {
    for (order, response) in orders {
        let payment = ledger.get(order);
        let status = payment.map(|payment| text(&payment["status"])).unwrap_or_default();
        match response {
            LastResponse::Nothing => {}
            LastResponse::Created => assert!(payment.is_some(), "{order} was acknowledged and is lost"),
            LastResponse::Charged => assert_eq!(status, "CHARGE", "{order} was charged, its merchant was told so"),
        }
    }
    for (order, payment) in ledger {
        assert!(orders.contains_key(order), "{order} was never sent");
        let times = u64::from(payment["status"] == "CHARGE");
        assert_eq!(payment["times_charged"], times, "{order}: {payment}");
    }
}

#[test]
fn every_response_survives_a_kill() {
    let seed = std::env::var("KASSA_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_260_131);
    println!("to repeat it: KASSA_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let database: PathBuf = folder.path().join("sandbox.db");
    let merchant = Merchant::start(&[]);
    let mut orders = BTreeMap::new();
    for round in 0..KILLS {
        if random.u64(..EARLY_KILLS) == 0 {
            kill_early(&database, &mut random);
        }
        let running = Running::start(&database);
        assert_kept(&running.ledger(), &orders);
        orders.extend(pay_and_kill(running, round, &merchant, &mut random));
    }

    let last = Running::start(&database);
    let ledger = last.ledger();
    assert_kept(&ledger, &orders);
    assert!(orders.len() as u64 > KILLS, "the merchants hardly paid: {}", orders.len());
    let mut missing: BTreeSet<_> =
        ledger.iter().filter(|(_, payment)| payment["status"] == "CHARGE").map(|(order, _)| order.clone()).collect();
    wait_until("every callback arrives", || {
        while let Some(callback) = merchant.arrived() {
            assert_eq!(callback["status"], "CHARGE", "{callback}");
            missing.remove(&text(&callback["orderNumber"]));
        }
        missing.is_empty()
    });
    last.kill();
    let connection = Connection::open(&database).expect("a database");
    let verdict: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0)).expect("a verdict");
    assert_eq!(verdict, "ok");
}
