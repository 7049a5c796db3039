//! `kassa-server rejudge`: recordings, and a server's own database, judged again by another dialect.

use std::{collections::BTreeMap, fs, time::Instant};

use kassa_test_patience::wait_until;
use serde_json::{Value, json};

use crate::{
    paying::{OTP, PAYMENTS, PHONE},
    support::{Caller, Ended, Place, ended, sandbox},
};

/// A recording that is made line by line.
struct Recording(Vec<String>);

impl Recording {
    fn new() -> Self {
        let header =
            json!({"kassa_recording": 1, "started_at": AT, "upstream": "https://gateway.example", "recorder": "test"});
        Self(vec![header.to_string()])
    }

    fn line(mut self, line: impl Into<String>) -> Self {
        self.0.push(line.into());
        self
    }

    /// A request with its response, with the number of its line, the first one being 1.
    fn exchange(self, target: &str, request: Value, status: u16, response: Value) -> Self {
        let number = self.0.len();
        let line =
            exchange(number, target, &text(request), json!({"status": status, "headers": [], "body": text(response)}));
        self.line(line)
    }

    fn mbank_payment(self, number: &str, amount: i64) -> Self {
        let request = json!({"orderNumber": number, "phone": "996***101", "amount": amount, "comment": "Tickets"});
        self.exchange("/api/v1.1.0/mbank/pay", request, 200, json!({"code": "0", "data": {"quid": "q-1"}}))
    }

    fn status(self, number: &str, data: Value) -> Self {
        let request = json!({"orderNumber": number, "provider": "MBank"});
        self.exchange("/base/api/v1.1.0/get-status", request, 200, json!({"code": "200", "data": data}))
    }

    fn write(&self, place: &Place, name: &str) {
        place.write(name, &format!("{}\n", self.0.join("\n")));
    }
}

const AT: &str = "2026-11-30T03:20:00.123Z";

fn text(body: Value) -> Value {
    if body.is_null() { Value::Null } else { json!({"text": body.to_string()}) }
}

fn exchange(number: usize, target: &str, request: &Value, response: Value) -> String {
    json!({"exchange": number, "direction": "request", "connection": 1, "started_at": AT, "ended_at": AT,
        "request": {"method": "POST", "target": target, "headers": [], "body": request}, "response": response})
    .to_string()
}

fn callback(number: usize, body: &Value) -> String {
    json!({"exchange": number, "direction": "callback", "connection": 2, "started_at": AT, "ended_at": AT,
        "request": {"method": "POST", "target": "/callbacks/1", "headers": [], "body": text(body.clone())},
        "response": {"status": 200, "headers": [], "body": null}})
    .to_string()
}

fn rejudge(place: &Place, arguments: &[&str]) -> Ended {
    ended(place.command(&["rejudge"]).args(arguments))
}

fn rejudge_json(place: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let ended = rejudge(place, &[arguments, &["--json"]].concat());
    (ended.code, serde_json::from_str(&ended.out).unwrap_or_else(|problem| panic!("{problem}: {ended:?}")))
}

/// Reads the status elsewhere, and has another word for paid.
const OTHER: &str = r#"{"endpoints": {"provider_status": {"status": ["/data/state"], "charged_words": ["PAID"], "rejected_words": ["FAILED"]}}}"#;

#[test]
fn rejudge_lists_changes_of_charges_first() {
    let place = Place::new();
    Recording::new()
        .mbank_payment("order-1", 390)
        .status("order-1", json!({"orderNumber": "order-1", "amount": 390, "status": "Reject", "state": "NEW"}))
        .status("order-1", json!({"orderNumber": "order-1", "amount": 390, "status": "CHARGE", "state": "NEW"}))
        .status("order-1", json!({"orderNumber": "order-1", "amount": 391, "status": "NEW", "state": "PAID"}))
        .status("order-9", json!({"orderNumber": "order-9", "status": "CHARGE", "state": "PAID"}))
        .write(&place, "recording.jsonl");
    place.write("other.json", OTHER);
    let arguments = ["recording.jsonl", "--dialect", "interface", "--against", "other.json"];
    let ended = rejudge(&place, &arguments);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], "!!! 1 verdict changes to or from charged:", "{}", ended.out);
    assert_eq!(lines[1], format!("!!!   exchange 3  {AT}  provider_status  order-1: charged -> pending"));
    assert!(
        lines[2].contains("before: ") && lines[2].contains(r#"status "CHARGE" at /data/status (means charged)"#),
        "{}",
        lines[2]
    );
    assert!(lines[2].contains(r#"code "200" at /code (in no list)"#), "{}", lines[2]);
    assert!(
        lines[3].contains("now: ") && lines[3].contains(r#"status "NEW" at /data/state (means pending)"#),
        "{}",
        lines[3]
    );
    assert!(ended.out.contains("2 verdicts change otherwise:"), "{}", ended.out);
    assert!(ended.out.contains("exchange 2  2026-11-30T03:20:00.123Z  provider_status  order-1: rejected -> pending"));
    // The amount is not the one that was requested.
    assert!(
        ended
            .out
            .contains("exchange 4  2026-11-30T03:20:00.123Z  provider_status  order-1: pending -> mismatch: amount")
    );
    assert!(ended.out.contains(r#"amount "391" at /data/amount"#), "{}", ended.out);
    assert!(ended.out.contains("1 reports are about payments that are not in the input"), "{}", ended.out);
    assert!(ended.out.contains("5 read, 5 judged, 0 not judged; 3 verdicts change, 1 of them to or from charged"));

    let (code, report) = rejudge_json(&place, &arguments);
    assert_eq!(code, Some(1));
    let changed: Vec<_> =
        report["changes"].as_array().unwrap().iter().map(|change| change["exchange"].as_u64()).collect();
    assert_eq!(changed, [Some(3), Some(2), Some(4)]);
    let first = &report["changes"][0];
    assert_eq!(
        (&first["verdict"], &first["after"], &first["is_of_charge"]),
        (&json!("charged"), &json!("pending"), &json!(true))
    );
    assert_eq!(
        report["before"],
        json!({"accepted": 1, "charged": 1, "pending": 1, "rejected": 1, "reports charged": 1})
    );
    assert_eq!(report["after"], json!({"accepted": 1, "mismatch": 1, "pending": 2, "reports charged": 1}));
}

#[test]
fn rejudge_lists_what_cannot_be_judged() {
    let place = Place::new();
    let whole = exchange(9, "/api/v1.1.0/get-status", &json!({"text": "{}"}), json!({"status": 200, "body": null}));
    let cut = json!({"status": 200, "headers": [], "body": {"text": "{\"code\":", "truncated": 70_000}});
    Recording::new()
        .status("order-1", json!({"status": "CHARGE"}))
        .line("{\"exchange\": 2, ")
        .line(exchange(3, "/api/v1.1.0/get-status", &text(json!({"orderNumber": "order-1"})), cut))
        .line(exchange(4, "/other", &Value::Null, json!({"status": 200, "headers": [], "body": null})))
        .line(
            whole
                .replace(r#""response":{"body":null,"status":200}"#, r#""response":null,"problem":"connection reset""#),
        )
        .line(exchange(6, "/api/v1.1.0/mbank/pay", &text(json!({"amount": 1})), json!({"status": 200, "body": null})))
        .line("")
        .line(r#"["not an exchange"]"#)
        .write(&place, "recording.jsonl");
    let (code, report) = rejudge_json(&place, &["recording.jsonl", "--dialect", "interface", "--against", "interface"]);
    assert_eq!(code, Some(0));
    assert_eq!((&report["read"], &report["judged"]), (&json!(7), &json!(1)));
    let left = report["not_judged"].as_array().unwrap();
    let found: Vec<_> = left.iter().map(|one| (one["line"].as_u64().unwrap(), one["exchange"].as_u64())).collect();
    assert_eq!(found, [(3, None), (4, Some(3)), (5, Some(4)), (6, Some(9)), (7, Some(6)), (9, None)]);
    for (one, why) in left.iter().zip([
        "cannot be read: ",
        "only a part of the 70000 bytes of the response's body",
        "target is the path of no endpoint",
        "there is no response: connection reset",
        "orderNumber is not in the recorded request",
        "cannot be read: ",
    ]) {
        assert!(one["why"].as_str().unwrap().starts_with(why), "{one}");
    }
    let listed = rejudge(&place, &["recording.jsonl", "--dialect", "interface", "--against", "interface"]).out;
    assert!(listed.contains("  line 4, exchange 3: only a part of"), "{listed}");
}

#[test]
fn rejudge_refuses_unreadable_input() {
    let place = Place::new();
    Recording::new().status("order-1", json!({"status": "CHARGE"})).write(&place, "recording.jsonl");
    place.write("empty.jsonl", "");
    place.write("newer.jsonl", "{\"kassa_recording\": 2}\n");
    place.write("broken.json", "{\"charged_word\": []}");
    place.write("verdicts.jsonl", "{\"exchange\": 1}\n");
    Recording::new().line("{").write(&place, "nothing.jsonl");
    for (arguments, said) in [
        (&["missing.jsonl", "--dialect", "interface", "--against", "finipay"][..], "missing.jsonl cannot be read: "),
        (&["empty.jsonl", "--dialect", "interface", "--against", "finipay"], "empty.jsonl is not a recording: "),
        (&["newer.jsonl", "--dialect", "interface", "--against", "finipay"], "newer.jsonl is a recording of form 2"),
        (
            &["recording.jsonl", "--dialect", "interface", "--against", "broken.json"],
            "--against names a file that is not a dialect",
        ),
        (
            &["recording.jsonl", "--dialect", "none", "--against", "finipay"],
            "--dialect names a file that cannot be read",
        ),
        (&["recording.jsonl", "--dialect", "interface", "--compare", "verdicts.jsonl"], "has no verdict in line 1"),
        (
            &["recording.jsonl", "--dialect", "interface", "--write-verdicts", "verdicts.jsonl"],
            "verdicts.jsonl cannot be written",
        ),
        (&["nothing.jsonl", "--dialect", "interface", "--against", "finipay"], "nothing could be judged"),
        (&["recording.jsonl", "--dialect", "interface"], "required"),
    ] {
        let ended = rejudge(&place, arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        assert!(ended.err.contains(said), "{arguments:?}: {}", ended.err);
    }
    assert_eq!(fs::read_to_string(place.path("verdicts.jsonl")).unwrap(), "{\"exchange\": 1}\n");
}

/// Another version of Kassa writes its verdicts, and this one compares.
#[test]
fn rejudge_compares_with_written_verdicts() {
    let place = Place::new();
    let recording = Recording::new()
        .mbank_payment("order-1", 390)
        .status("order-1", json!({"orderNumber": "order-1", "amount": 390, "status": "CHARGE"}))
        .status("order-1", json!({"orderNumber": "order-1", "amount": 390, "status": "NEW"}));
    recording.write(&place, "recording.jsonl");
    let ended = rejudge(&place, &["recording.jsonl", "--dialect", "interface", "--write-verdicts", "old.jsonl"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.out.contains("Verdicts: 1 accepted, 1 charged, 1 pending"), "{}", ended.out);
    let old = fs::read_to_string(place.path("old.jsonl")).unwrap();
    let lines: Vec<Value> = old.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let expected =
        json!({"exchange": 2, "at": AT, "endpoint": "provider_status", "number": "order-1", "verdict": "charged"});
    assert_eq!(lines[1], expected);
    let compare = ["recording.jsonl", "--dialect", "interface", "--compare", "old.jsonl"];
    let unchanged = rejudge(&place, &compare);
    assert_eq!(unchanged.code, Some(0), "{unchanged:?}");

    // The other version took the pending one for charged, and judged one that this one cannot judge.
    place.write("old.jsonl", &old.replace("pending", "charged"));
    recording
        .line(callback(4, &json!({"orderNumber": "order-1", "status": "CHARGE"})))
        .write(&place, "recording.jsonl");
    let (code, report) = rejudge_json(&place, &compare);
    assert_eq!(code, Some(1));
    let changes: Vec<_> = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            (
                change["exchange"].as_u64().unwrap(),
                change["verdict"].as_str().unwrap(),
                change["after"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(changes, [(3, "charged", "pending"), (4, "not judged", "claims charged")]);
    Recording::new().mbank_payment("order-1", 390).write(&place, "recording.jsonl");
    let (_, report) = rejudge_json(&place, &compare);
    let first = &report["changes"][0];
    assert_eq!((&first["exchange"], &first["after"]), (&json!(2), &json!("not judged")));
}

/// A transaction that the new dialect does not find leaves a QR payment that nobody can query.
#[test]
fn rejudge_shows_numbers_that_are_no_longer_read() {
    let place = Place::new();
    let code = json!({"code": "0", "data": {"qr_data": "x", "tx": "t-1"}});
    let charged = json!({"code": "200", "data": {"status": "CHARGE", "amount": 39_000, "currency": "KGS"}});
    Recording::new()
        .exchange("/gen/qr/transaction/status?transaction_id=t-1", Value::Null, 200, charged)
        .exchange("/gen/qr/dynamic/data", json!({"sum": 39_000}), 200, code)
        .write(&place, "recording.jsonl");
    place.write(
        "old.json",
        r#"{"qr_amount_unit": "tyiyn", "endpoints": {"qr_data": {"transaction_id": ["/data/tx"]}}}"#,
    );
    place.write("new.json", r#"{"qr_amount_unit": "tyiyn"}"#);
    let (code, report) = rejudge_json(&place, &["recording.jsonl", "--dialect", "old.json", "--against", "new.json"]);
    assert_eq!(code, Some(1));
    let changes = report["changes"].as_array().unwrap();
    assert_eq!((&changes[0]["verdict"], &changes[0]["after"]), (&json!("charged"), &json!("reports charged")));
    assert_eq!(
        (&changes[1]["verdict"], &changes[1]["after"]),
        (&json!("accepted, transaction_id t-1"), &json!("accepted"))
    );
}

/// The commands that docs/rejudge.md shows, in a folder with what they name.
#[test]
fn shown_rejudge_commands_run() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    place.key();
    Recording::new()
        .mbank_payment("order-1", 390)
        .status("order-1", json!({"orderNumber": "order-1", "amount": 390, "status": "CHARGE", "state": "NEW"}))
        .write(&place, "recording.jsonl");
    place.write("old.json", "{}");
    place.write("new.json", OTHER);
    let page = include_str!("../../../docs/rejudge.md");
    let (_, block) = page.split_once("```sh\n").unwrap();
    let (block, rest) = block.split_once("```").unwrap();
    let commands: Vec<&str> = block.lines().map(|line| line.split(" #").next().unwrap().trim()).collect();
    let ended: Vec<Ended> = commands
        .iter()
        .map(|line| ended(&mut place.command(&line.split_whitespace().skip(1).collect::<Vec<_>>())))
        .collect();
    let codes: Vec<_> = ended.iter().map(|ended| ended.code).collect();
    assert_eq!(codes, [Some(1), Some(0), Some(0), Some(0)], "{ended:?}");
    // What it prints is what the page shows.
    let (_, shown) = rest.split_once("```text\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let printed = ended[0].out.replace("exchange 2", "exchange 3");
    for line in shown.lines() {
        let beginning = line.split('…').next().unwrap();
        assert!(printed.lines().any(|printed| printed.starts_with(beginning)), "{line:?} of {printed}");
    }
}

/// Two payments under one number are not taken for one another.
#[test]
fn rejudge_compares_no_ambiguous_payment() {
    let place = Place::new();
    Recording::new()
        .mbank_payment("order-1", 390)
        .mbank_payment("order-1", 391)
        .status("order-1", json!({"orderNumber": "order-1", "amount": 390, "status": "CHARGE"}))
        .write(&place, "recording.jsonl");
    let (_, report) = rejudge_json(&place, &["recording.jsonl", "--dialect", "interface", "--against", "interface"]);
    assert_eq!(report["after"], json!({"accepted": 2, "reports charged": 1}));
}

/// Responses as a gateway could send them, at random.
fn random_recording(seed: u64, exchanges: usize) -> Recording {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut recording = Recording::new();
    for _ in 0..exchanges {
        let number = format!("order-{}", random.u32(1..20));
        let word = random.choice(["CHARGE", "Reject", "NEW", "PAID", "FAILED", ""]).unwrap();
        let amount = random.choice([json!(390), json!(391), json!("390.00"), json!(null)]).unwrap();
        let data =
            json!({"orderNumber": number, "amount": amount, "status": word, "state": "PAID", "paymentId": "p-1"});
        recording = match random.u32(0..10) {
            0..4 => recording.status(&number, data),
            4..7 => recording.mbank_payment(&number, random.i64(389..392)),
            7 => {
                let next = recording.0.len();
                recording.line(callback(next, &data))
            }
            8 => recording.exchange(
                "/api/v1.1.0/mbank/confirm",
                json!({"orderNumber": number}),
                400,
                json!({"code": "51"}),
            ),
            _ => recording.line("{\"exchange\":"),
        };
    }
    recording
}

#[test]
fn same_dialect_twice_changes_nothing() {
    let place = Place::new();
    place.write("other.json", OTHER);
    for seed in 0..20 {
        let recording = random_recording(seed, 200);
        recording.write(&place, "recording.jsonl");
        for dialect in ["interface", "finipay", "other.json"] {
            let (code, report) = rejudge_json(&place, &["recording.jsonl", "--dialect", dialect, "--against", dialect]);
            assert_eq!((code, &report["changes"]), (Some(0), &json!([])), "seed {seed}, {dialect}");
            assert_eq!(report["before"], report["after"], "seed {seed}, {dialect}");
            let (judged, left) = (report["judged"].as_u64().unwrap(), report["not_judged"].as_array().unwrap().len());
            assert_eq!((report["read"].as_u64().unwrap(), judged + left as u64), (200, 200), "seed {seed}");
        }
        // Something does change by the other one, so that the comparison above compares.
        let (code, _) = rejudge_json(&place, &["recording.jsonl", "--dialect", "interface", "--against", "other.json"]);
        assert_eq!(code, Some(1), "seed {seed}");
    }
}

/// The responses that a server stored in its own database.
#[test]
fn rejudge_reads_the_servers_database() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.key();
    let running = place.start(&[]);
    let shop = Caller::new(&running, &key);
    let (id, app) = shop.open("order-1");
    let (_, payment) = app.call("POST", PAYMENTS, &json!({ "method": "mbank", "phone": PHONE }));
    let path = format!("{PAYMENTS}/{}/confirm", payment["id"].as_str().unwrap());
    app.call("POST", &path, &json!({ "otp": OTP }));
    wait_until("it is paid", || {
        shop.call("GET", &format!("/v1/checkouts/{id}?after=0&wait=1"), &Value::Null).1["state"] == "paid"
    });
    assert!(running.stop().0.success());
    let dialect = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sandbox-dialect.json");
    let before = fs::read(place.path("kassa.db")).unwrap();
    let judged = |against: &str| {
        let arguments = ["rejudge", "--dialect", dialect, "--against", against, "--json", "--config", "kassa.toml"];
        let ended = ended(&mut place.command(&arguments));
        let report: Value = serde_json::from_str(&ended.out).unwrap_or_else(|problem| panic!("{problem}: {ended:?}"));
        (ended.code, report)
    };
    let (code, report) = judged(dialect);
    assert_eq!(code, Some(0), "{report}");
    let after: BTreeMap<String, u64> = serde_json::from_value(report["after"].clone()).unwrap();
    assert!(after.get("charged").is_some_and(|charged| *charged >= 1), "{report}");
    assert_eq!(report["compared_with_nothing"], 0);
    place.write("never.json", r#"{"base": "interface", "charged_words": ["NEVER"]}"#);
    let (code, report) = judged("never.json");
    assert_eq!(code, Some(1));
    let change = &report["changes"][0];
    assert_eq!((&change["verdict"], &change["after"]), (&json!("charged"), &json!("pending")), "{report}");
    assert!(change["payment"].as_str().unwrap().starts_with("pay_"), "{change}");
    assert_eq!(fs::read(place.path("kassa.db")).unwrap(), before);
}

/// Prints how long a million responses take: `--ignored`, in a release build.
#[test]
#[ignore = "takes minutes in a debug build"]
fn million_responses_take_a_minute() {
    let place = Place::new();
    place.write("other.json", OTHER);
    let mut lines = Vec::from([Recording::new().0.remove(0)]);
    for number in 1..=500_000_usize {
        let order = format!("order-{number}");
        let pay = json!({"orderNumber": order, "phone": "996***101", "amount": 390, "comment": "Tickets"});
        let answer = json!({"status": 200, "headers": [], "body": text(json!({"code": "0", "message": "OK", "data": {"paymentId": order}}))});
        lines.push(exchange(number * 2 - 1, "/api/v1.1.0/mbank/pay", &text(pay), answer));
        let data = json!({"orderNumber": order, "amount": 390, "currency": "KGS", "status": "CHARGE"});
        let report = json!({"status": 200, "headers": [], "body": text(json!({"code": "200", "message": "PAYMENT_SUCCESS", "data": data}))});
        let query = text(json!({"orderNumber": order, "provider": "MBank"}));
        lines.push(exchange(number * 2, "/api/v1.1.0/get-status", &query, report));
    }
    Recording(lines).write(&place, "recording.jsonl");
    let started = Instant::now();
    let ended = rejudge(&place, &["recording.jsonl", "--dialect", "interface", "--against", "finipay"]);
    let took = started.elapsed();
    println!("{:.1} s, {:.0} responses a second", took.as_secs_f64(), 1e6 / took.as_secs_f64());
    println!("{}", ended.out.lines().last().unwrap_or_default());
    assert!(ended.out.contains("1000000 judged, 0 not judged"), "{}", ended.err);
}
