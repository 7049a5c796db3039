//! `kassa-sandbox replay`: a recorded gateway plays for new payments.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
    sync::Barrier,
    thread,
};

use kassa_sandbox::{RecordOptions, Recorder, Replay, ReplayOptions, Sandbox, SandboxOptions, Speed};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    binary::command,
    common::{
        Body, CARD, GET_STATUS, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, QR_IMAGE, QR_STATUS, Response, STATUS,
        basic, card_body, confirm_body, mbank_body, pay_form_body, qr_body, send, start, submit, try_send, wait_until,
    },
    merchant::Merchant,
};

/// A client of a gateway, real or replayed.
struct Client {
    base: String,
    /// What differs between two runs, and what is shown instead.
    names: Vec<(String, String)>,
    seen: Vec<(String, u16, String)>,
}

impl Client {
    fn of(base: &str) -> Self {
        Self { base: base.to_owned(), names: Vec::new(), seen: Vec::new() }
    }

    fn name(&mut self, value: impl Into<String>, shown: &str) -> String {
        let value = value.into();
        self.names.push((value.clone(), shown.to_owned()));
        value
    }

    fn call(&mut self, method: &str, path: &str, body: &Body) -> Response {
        let authorization = basic("kassa", "sandbox-password");
        let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
        let response = send(method, &format!("{}{path}", self.base), &headers, body.text().as_bytes());
        self.seen.push((format!("{method} {path}"), response.status, response.body.clone()));
        response
    }

    fn get_status(&mut self, order: &str, provider: &str) -> Response {
        let body = Body::new(&[]).with_text("orderNumber", order).with_text("provider", provider);
        self.call("POST", GET_STATUS, &body)
    }

    /// Everything that was seen, with its own numbers named.
    fn normalized(&self) -> Vec<(String, u16, String)> {
        let plain = |text: &str| {
            let named = self.names.iter().fold(text.to_owned(), |text, (value, shown)| text.replace(value, shown));
            // The checksum of a QR code depends on its numbers.
            named.split_once("6304").map_or(named.clone(), |(code, rest)| format!("{code}6304{}", &rest[4..]))
        };
        self.seen.iter().map(|(path, status, body)| (plain(path), *status, plain(body))).collect()
    }
}

/// Fills the form of a page at an address.
type Payer<'a> = &'a dyn Fn(&str, &[(&str, &str)]);

/// Pays in many ways. `payer` is what the payer does with the page at an address.
fn play_flows(client: &mut Client, prefix: &str, origin: &str, payer: Payer<'_>) {
    client.name(origin, "ORIGIN");
    for (index, phone) in ["996555000101", "996555000102", "996555000103"].iter().enumerate() {
        let order = client.name(format!("{prefix}-mbank-{index}"), &format!("MBANK-{index}"));
        let body = mbank_body(&order).with_text("phone", phone);
        let id = client.call("POST", MBANK_PAY, &body).data("paymentId");
        client.name(id.clone(), &format!("MBANK-ID-{index}"));
        client.get_status(&order, "MBank");
        if index == 0 {
            client.call("POST", MBANK_CONFIRM, &confirm_body(&order, "999999"));
            client.get_status(&order, "MBank");
        }
        let otp = ["101101", "102102", "103103"][index];
        client.call("POST", MBANK_CONFIRM, &confirm_body(&order, otp).with_text("paymentId", &id));
        client.get_status(&order, "MBank");
        client.call("GET", STATUS, &Body::new(&[]).with_text("orderNumber", &id));
    }
    for (index, pan) in ["4000000000002016", "4000000000002024", "4111111111111111"].iter().enumerate() {
        let order = client.name(format!("{prefix}-card-{index}"), &format!("CARD-{index}"));
        let created = client.call("POST", CARD, &card_body(&order).with_text("pan", pan));
        client.get_status(&order, "Cards");
        if let Some(url) = created.json()["data"]["ConfirmationUrl"].as_str() {
            let token = url.rsplit('=').next().expect("a token").to_owned();
            client.name(token.clone(), "CARD-TOKEN");
            payer(url, &[("otp", "123456")]);
            client.call("GET", STATUS, &Body::new(&[]).with_text("orderNumber", &token));
        }
        client.get_status(&order, "Cards");
    }
    let form = client.call("POST", PAY_FORM, &pay_form_body()).data("payFormUrl");
    let token = form.rsplit('=').next().expect("a token").to_owned();
    client.name(token.clone(), "FORM-TOKEN");
    client.call("GET", STATUS, &Body::new(&[]).with_text("orderNumber", &token));
    payer(&form, &[("action", "cancel")]);
    client.call("GET", STATUS, &Body::new(&[]).with_text("orderNumber", &token));
    let code = client.call("POST", QR_DATA, &qr_body());
    let (id, text) = (code.data("transaction_id"), code.data("qr_data"));
    client.name(id.clone(), "QR-ID");
    let link = text.split('#').next().expect("a link").to_owned();
    client.name(link.rsplit('=').next().expect("a token"), "QR-TOKEN");
    client.call("GET", &format!("{QR_STATUS}?transaction_id={id}"), &Body::new(&[]));
    payer(&link, &[("action", "approve")]);
    client.call("GET", &format!("{QR_STATUS}?transaction_id={id}"), &Body::new(&[]));
    client.call("POST", QR_IMAGE, &Body::new(&[("sum", "500")]));
    client.call("POST", CARD, &card_body(&format!("{prefix}-bad")).without("amount"));
    client.get_status("no-such-order", "Cards");
}

struct Recorded {
    path: PathBuf,
    _folder: TempDir,
}

/// Records what a function does with a sandbox behind a recorder.
fn record(sandbox: &Sandbox, callbacks: Option<String>, work: impl FnOnce(&Recorder)) -> Recorded {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gateway.jsonl");
    let options = RecordOptions { callbacks, ..RecordOptions::new(sandbox.url(), &path) };
    let recorder = Recorder::start(options).expect("it starts");
    work(&recorder);
    recorder.stop().expect("everything is written");
    Recorded { path, _folder: folder }
}

fn replay(path: &Path, speed: Speed) -> Replay {
    let options = ReplayOptions { speed, ..ReplayOptions::new(path) };
    Replay::start(SandboxOptions::default(), options).expect("it starts")
}

#[test]
fn replayed_flows_look_like_the_recorded() {
    let sandbox = start();
    let mut first = Client::of("");
    let recorded = record(&sandbox, None, |recorder| {
        first.base = recorder.url();
        play_flows(&mut first, "rec", sandbox.url(), &|url, form| assert!(submit(url, form).status < 400));
    });
    let replay = replay(&recorded.path, Speed::Max);
    let mut second = Client::of(replay.sandbox().url());
    play_flows(&mut second, "a-new-one", replay.sandbox().url(), &|_, _| {});
    let (first, second) = (first.normalized(), second.normalized());
    assert_eq!(first.len(), second.len());
    for (recorded, replayed) in first.iter().zip(&second) {
        assert_eq!(recorded, replayed);
    }
    let report = replay.stop();
    assert!(report.not_recorded.is_empty() && report.unreadable.is_empty(), "{report}");
    assert_eq!(report.answered, u64::try_from(second.len()).expect("few"));
}

/// A recording of one MBank payment, confirmed once, whose status becomes final an hour after that.
fn written(events: &[Value]) -> Recorded {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gateway.jsonl");
    let header = json!({"kassa_recording": 1, "started_at": "2026-11-30T03:00:00.000Z", "upstream": "https://gateway.example",
        "recorder": "test"});
    let lines: Vec<String> = [&header].into_iter().chain(events).map(Value::to_string).collect();
    fs::write(&path, lines.join("\n")).expect("written");
    Recorded { path, _folder: folder }
}

fn event(number: u64, at: &str, target: &str, request: &Value, response: Option<&Value>) -> Value {
    let body = |value: &Value| json!({"text": value.to_string()});
    let response = response
        .map(|value| json!({"status": 200, "headers": [["content-type", "application/json"]], "body": body(value)}));
    json!({"exchange": number, "direction": "request", "connection": 1, "started_at": format!("2026-11-30T{at}.000Z"),
        "ended_at": format!("2026-11-30T{at}.000Z"), "request": {"method": "POST", "target": target,
        "headers": [["authorization", "***"]], "body": body(request)}, "response": response})
}

fn slow_payment() -> Recorded {
    let status = |word: &str| json!({"code": "200", "data": {"orderNumber": "R-1", "amount": 250, "status": word}});
    let query = json!({"orderNumber": "R-1", "provider": "MBank"});
    let create = json!({"orderNumber": "R-1", "phone": "996***101", "amount": 250, "comment": "Lunch"});
    let created =
        json!({"code": "110", "data": {"orderNumber": "R-1", "paymentId": "5d0e5d0e5d0e", "phone": "996***101"}});
    let confirm = json!({"orderNumber": "R-1", "otp": "***"});
    written(&[
        event(1, "03:00:00", MBANK_PAY, &create, Some(&created)),
        event(2, "03:00:01", GET_STATUS, &query, Some(&status("CREATED"))),
        event(3, "03:00:02", MBANK_CONFIRM, &confirm, Some(&status("PENDING"))),
        event(4, "03:00:03", GET_STATUS, &query, Some(&status("PENDING"))),
        event(5, "04:00:03", GET_STATUS, &query, Some(&status("CHARGE"))),
    ])
}

/// Recorded payments with the same beginning: each a name and what the client sent behind the creation.
fn alike_payments(payments: &[(&str, &[&str])]) -> Recorded {
    let mut events = Vec::new();
    let mut number = 0;
    for (order, requests) in payments {
        let id = format!("5d0e5d0e{order}");
        let create = json!({"orderNumber": order, "phone": "996***101", "amount": 250, "comment": "Lunch"});
        let answer =
            |word: &str| json!({"code": "200", "data": {"orderNumber": order, "paymentId": id, "status": word}});
        for request in ["create"].iter().chain(*requests) {
            let (target, body, response) = match *request {
                "create" => (MBANK_PAY, create.clone(), answer("CREATED")),
                "confirm" => (MBANK_CONFIRM, json!({"orderNumber": order, "otp": "***"}), answer("PENDING")),
                "cancel" => ("/mbank/cancel", json!({"orderNumber": order}), answer("CANCELED")),
                word => (GET_STATUS, json!({"orderNumber": order, "provider": "MBank"}), answer(word)),
            };
            number += 1;
            events.push(event(
                number,
                &format!("03:{:02}:{:02}", number / 60, number % 60),
                target,
                &body,
                Some(&response),
            ));
        }
    }
    written(&events)
}

#[test]
fn payment_that_ends_early_is_not_played() {
    let recorded = alike_payments(&[("RA-1", &["CREATED"]), ("RB-1", &["CREATED", "confirm", "CHARGE"])]);
    let replay = replay(&recorded.path, Speed::Max);
    let mut client = Client::of(replay.sandbox().url());
    for order in ["N-1", "N-2", "N-3"] {
        create(&mut client, order, false);
        assert_eq!(client.get_status(order, "MBank").data("status"), "CREATED");
        client.call("POST", MBANK_CONFIRM, &confirm_body(order, "1"));
        assert_eq!(client.get_status(order, "MBank").data("status"), "CHARGE");
    }
    let report = replay.stop();
    assert!(report.not_recorded.is_empty(), "{report}");
}

#[test]
fn other_payment_goes_on_with_the_same_numbers() {
    let recorded = alike_payments(&[
        ("RA-1", &["CREATED", "cancel", "CANCELED"]),
        ("RB-1", &["CREATED", "confirm", "CHARGE"]),
        ("RC-1", &["EXPIRED", "confirm", "FAILED"]),
    ]);
    let replay = replay(&recorded.path, Speed::Max);
    let mut client = Client::of(replay.sandbox().url());
    let id = create(&mut client, "N-1", false).data("paymentId");
    assert_eq!(client.get_status("N-1", "MBank").data("status"), "CREATED");
    let confirmed = client.call("POST", MBANK_CONFIRM, &confirm_body("N-1", "1"));
    assert_eq!(confirmed.header("kassa-sandbox-replay"), None);
    let status = client.get_status("N-1", "MBank").json();
    assert_eq!(status["data"], json!({"orderNumber": "N-1", "paymentId": id, "status": "CHARGE"}));
    // What was confirmed cannot be canceled any more: no recorded payment has both.
    let body = Body::new(&[]).with_text("orderNumber", "N-1");
    assert_eq!(client.call("POST", "/mbank/cancel", &body).header("kassa-sandbox-replay"), Some("not-recorded"));
    assert_eq!(client.get_status("N-1", "MBank").data("status"), "CHARGE");
    let report = replay.stop();
    assert_eq!(report.not_recorded.len(), 1, "{report}");
}

/// Creates a payment, and confirms it if wanted.
fn create(client: &mut Client, order: &str, is_confirmed: bool) -> Response {
    let created = client.call("POST", MBANK_PAY, &mbank_body(order).with("amount", "99"));
    if is_confirmed {
        client.call("POST", MBANK_CONFIRM, &confirm_body(order, "1"));
    }
    created
}

#[test]
fn status_changes_as_recorded_time_passes() {
    let recorded = slow_payment();
    let at_once = replay(&recorded.path, Speed::Times(1.0));
    let mut client = Client::of(at_once.sandbox().url());
    create(&mut client, "N-1", true);
    for _ in 0..5 {
        assert_eq!(client.get_status("N-1", "MBank").data("status"), "PENDING");
    }
    let fast = replay(&recorded.path, Speed::Times(100_000.0));
    let mut client = Client::of(fast.sandbox().url());
    let created = create(&mut client, "N-2", true);
    assert_eq!((created.data("orderNumber"), created.data("phone")), ("N-2".to_owned(), "996555000101".to_owned()));
    wait_until("it is charged", || client.get_status("N-2", "MBank").data("status") == "CHARGE");
    let last = client.get_status("N-2", "MBank").json();
    assert_eq!(last["data"], json!({"orderNumber": "N-2", "amount": 99, "status": "CHARGE"}));
}

#[test]
fn unconfirmed_payment_is_never_charged() {
    for speed in [Speed::Max, Speed::Times(1e9)] {
        let replay = replay(&slow_payment().path, speed);
        let mut client = Client::of(replay.sandbox().url());
        create(&mut client, "N-1", false);
        for _ in 0..5 {
            assert_eq!(client.get_status("N-1", "MBank").data("status"), "CREATED");
        }
        client.call("POST", MBANK_CONFIRM, &confirm_body("N-1", "1"));
        wait_until("it is charged", || client.get_status("N-1", "MBank").data("status") == "CHARGE");
    }
}

#[test]
fn concurrent_payments_do_not_mix() {
    let replay = replay(&slow_payment().path, Speed::Max);
    let url = replay.sandbox().url();
    let barrier = Barrier::new(8);
    thread::scope(|scope| {
        for worker in 0..8 {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                for round in 0..20 {
                    let order = format!("W-{worker}-{round}");
                    let mut client = Client::of(url);
                    let id = create(&mut client, &order, false).data("paymentId");
                    assert_ne!(id, "5d0e5d0e5d0e", "the gateway's numbers are new");
                    let mut seen = Vec::new();
                    for is_confirmed in [false, true] {
                        if is_confirmed {
                            client.call("POST", MBANK_CONFIRM, &confirm_body(&order, "1"));
                        }
                        for _ in 0..3 {
                            let status = client.get_status(&order, "MBank");
                            assert_eq!(status.data("orderNumber"), order);
                            seen.push(status.data("status"));
                        }
                    }
                    assert_eq!(seen, ["CREATED", "CREATED", "CREATED", "PENDING", "CHARGE", "CHARGE"]);
                }
            });
        }
    });
}

#[test]
fn callbacks_follow_with_new_numbers() {
    let (merchant, sandbox) = (Merchant::start(&[503]), start());
    let base = merchant.url.trim_end_matches("/callback").to_owned();
    let recorded = record(&sandbox, Some(base), |recorder| {
        let url = format!("\"{}/callback?shop=7\"", recorder.callbacks_url().expect("listens"));
        let mut client = Client::of(&recorder.url());
        client.call("POST", MBANK_PAY, &mbank_body("R-1").with("callbackUrl", &url));
        client.call("POST", MBANK_CONFIRM, &confirm_body("R-1", "101101"));
        // The first delivery is refused, the second one is taken.
        assert_eq!(
            [merchant.next_json()["status"].clone(), merchant.next_json()["status"].clone()],
            ["CHARGE", "CHARGE"]
        );
        wait_until("both deliveries are written", || recorder.written() >= 4);
    });
    for is_named in [true, false] {
        let merchant = Merchant::start(&[]);
        let base = merchant.url.trim_end_matches("/callback").to_owned();
        let callbacks = is_named.then_some(base);
        let options = ReplayOptions { speed: Speed::Max, callbacks, ..ReplayOptions::new(&recorded.path) };
        let replay = Replay::start(SandboxOptions::default(), options).expect("it starts");
        let mut client = Client::of(replay.sandbox().url());
        let body = mbank_body("N-1").with("amount", "77").with_text("phone", "996555000909");
        client.call("POST", MBANK_PAY, &body.with("callbackUrl", &merchant.json_url()));
        client.call("POST", MBANK_CONFIRM, &confirm_body("N-1", "101101"));
        let (head, body) = merchant.next();
        let target = if is_named { "POST /callback?shop=7 " } else { "POST /callback " };
        assert!(head.starts_with(target), "{head}");
        let callback: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(
            (&callback["orderNumber"], &callback["amount"], &callback["status"]),
            (&json!("N-1"), &json!(77), &json!("CHARGE"))
        );
        wait_until("the callback is counted", || replay.report().callbacks == 1);
        assert_eq!((replay.stop().callbacks, merchant.rest()), (1, 0), "a merchant that takes it gets no second one");
    }
}

#[test]
fn what_was_not_recorded_is_marked() {
    let recorded = slow_payment();
    let text = fs::read_to_string(&recorded.path).expect("a text") + "\nnonsense";
    fs::write(&recorded.path, text).expect("written");
    let replay = replay(&recorded.path, Speed::Max);
    let mut client = Client::of(replay.sandbox().url());
    let card = client.call("POST", CARD, &card_body("N-1"));
    assert_eq!((card.status, card.header("kassa-sandbox-replay")), (200, Some("not-recorded")));
    assert_eq!(replay.sandbox().payments().len(), 1, "the sandbox has it");
    let mbank = create(&mut client, "N-2", false);
    assert_eq!(mbank.header("kassa-sandbox-replay"), None);
    let report = replay.stop();
    assert_eq!((report.answered, report.not_recorded.get(&format!("POST {CARD}"))), (1, Some(&1)));
    assert_eq!(report.unreadable.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [7]);
}

#[test]
fn broken_answer_is_replayed_broken() {
    let request = json!({"orderNumber": "R-1", "amount": 1});
    let mut lost = event(1, "03:00:00", "/lost", &request, None);
    lost["problem"] = json!("the upstream closed the connection before a response");
    let mut cut = event(2, "03:00:01", "/cut", &json!({"orderNumber": "R-2"}), Some(&json!({"code": "110"})));
    cut["response"]["headers"] = json!([["content-length", "400"]]);
    cut["problem"] = json!("the upstream broke the connection (reset) after 14 of 400 bytes");
    let recorded = written(&[lost, cut]);
    let replay = replay(&recorded.path, Speed::Max);
    let url = |path: &str| format!("{}{path}", replay.sandbox().url());
    let authorization = [("authorization", "Basic eDp5")];
    assert!(try_send("POST", &url("/lost"), &authorization, b"{\"orderNumber\":\"N-1\",\"amount\":1}").is_err());
    let cut = try_send("POST", &url("/cut"), &authorization, b"{\"orderNumber\":\"N-2\"}");
    assert!(cut.is_err(), "a whole answer came: {}", cut.map(|answer| answer.body).unwrap_or_default());
    assert_eq!(replay.stop().answered, 2);
}

#[test]
fn program_replays_and_reports_at_the_end() {
    let recorded = slow_payment();
    let mut command = command();
    command.args(["replay", "--speed", "max", "--listen", "127.0.0.1:0", "--announce", "json"]).arg(&recorded.path);
    let mut child = command.spawn().expect("it starts");
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut stdout, &mut line).expect("a line");
    let announcement: Value = serde_json::from_str(&line).expect("JSON");
    let mut client = Client::of(announcement["url"].as_str().expect("a URL"));
    create(&mut client, "N-1", true);
    client.call("POST", CARD, &card_body("N-2"));
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let mut log = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut log).expect("a log");
    assert!(child.wait().expect("it ends").success());
    assert!(log.contains("2 requests answered from the recording, 1 not recorded"), "{log}");
    assert!(log.contains(&format!("not recorded: POST {CARD} (1)")), "{log}");
}

#[test]
fn documented_recording_is_read() {
    let page = include_str!("../../../docs/recordings.md");
    let (_, block) = page.split_once("```json\n").expect("a block");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    fs::write(&path, block.split("```").next().unwrap_or_default()).expect("written");
    let replay = replay(&path, Speed::Max);
    let mut client = Client::of(replay.sandbox().url());
    assert_eq!(client.call("POST", "/mbank/pay", &mbank_body("N-1")).code(), "110");
    assert!(replay.stop().unreadable.is_empty());
}
