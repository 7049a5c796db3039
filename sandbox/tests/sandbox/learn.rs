//! `kassa-sandbox learn`: what recordings prove, and what they never do. The recordings are written by hand; `tests/rust/tests/learn`
//! learns from real ones, and Kassa's core judges by the result.

use std::{fs, path::PathBuf};

use kassa_sandbox::{LearnError, LearnOptions, Learned, learn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    binary::command,
    common::{CARD, GET_STATUS, QR_DATA, QR_STATUS, STATUS},
};

/// A recording that is written line by line.
struct Script {
    lines: Vec<String>,
    folder: TempDir,
}

impl Script {
    fn new() -> Self {
        let header = json!({
            "kassa_recording": 1, "started_at": "2026-11-30T03:20:00.123Z", "upstream": "https://gateway.example",
            "recorder": "a test",
        });
        Self { lines: vec![header.to_string()], folder: tempfile::tempdir().expect("a folder") }
    }

    fn add(&mut self, direction: &str, method: &str, target: &str, request: &Value, status: u16, response: &str) {
        let number = self.lines.len();
        let body = |text: String| if text == "null" { Value::Null } else { json!({"text": text}) };
        let line = json!({
            "exchange": number, "direction": direction, "connection": 1,
            "started_at": "2026-11-30T03:20:01.000Z", "ended_at": "2026-11-30T03:20:01.100Z",
            "request": {"method": method, "target": target, "headers": [], "body": body(request.to_string())},
            "response": {"status": status, "headers": [], "body": body(response.to_owned())},
        });
        self.lines.push(line.to_string());
    }

    fn call(&mut self, target: &str, request: &Value, response: &Value) {
        self.add("request", "POST", target, request, 200, &response.to_string());
    }

    fn create(&mut self, order: &str, amount: u32) {
        let request = json!({"orderNumber": order, "amount": amount, "currency": "KGS"});
        self.call(CARD, &request, &json!({"code": "110", "data": {"orderNumber": order}}));
    }

    /// A query by the merchant's number, and its words: as the gateway says them, not as the interface does.
    fn query(&mut self, order: &str, amount: u32, words: &[&str]) {
        for word in words {
            self.call(
                GET_STATUS,
                &json!({"orderNumber": order, "provider": "Cards"}),
                &json!({"code": "200", "answer": {"ref": order, "sum": amount, "ccy": "KGS", "state": word}}),
            );
        }
    }

    /// A created payment with the words of its queries.
    fn payment(&mut self, order: &str, amount: u32, words: &[&str]) {
        self.create(order, amount);
        self.query(order, amount, words);
    }

    fn path(&self) -> PathBuf {
        let path = self.folder.path().join("gateway.jsonl");
        fs::write(&path, self.lines.join("\n")).expect("written");
        path
    }

    fn learn(&self, approved: &[&str], declined: &[&str], confirm: &[&str]) -> Learned {
        learn(&self.options(approved, declined, confirm)).expect("a recording")
    }

    fn options(&self, approved: &[&str], declined: &[&str], confirm: &[&str]) -> LearnOptions {
        LearnOptions {
            files: vec![self.path()],
            confirmations: confirm.iter().map(|text| text.parse().expect("an answer")).collect(),
            approved: approved.iter().map(|number| (*number).to_owned()).collect(),
            declined: declined.iter().map(|number| (*number).to_owned()).collect(),
            ..LearnOptions::default()
        }
    }
}

fn dialect(learned: &Learned) -> Value {
    serde_json::from_str(learned.dialect.as_deref().expect("a dialect")).expect("JSON")
}

/// All words that a dialect takes for paid. The interface's own is not in the file.
fn charged_words(learned: &Learned) -> Vec<String> {
    let dialect = dialect(learned);
    let endpoints = dialect["endpoints"].as_object().into_iter().flatten().map(|(_, keys)| keys);
    let lists = endpoints.chain([&dialect]).filter_map(|keys| keys["charged_words"].as_array());
    let words = lists.flatten().filter_map(Value::as_str).filter(|word| *word != "CHARGE");
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}

/// Two approved payments and a declined one.
fn separated() -> Script {
    let mut script = Script::new();
    script.payment("A-1", 100, &["zorat", "mipel", "tavun"]);
    script.payment("A-2", 250, &["zorat", "tavun", "tavun"]);
    script.payment("A-3", 75, &["zorat", "mipel", "koris"]);
    script
}

/// What a person says of the words of `separated`.
const YES: [&str; 2] = ["tavun=charged", "koris=rejected"];

#[test]
fn confirmed_words_are_learned_with_their_evidence() {
    let asked = separated().learn(&["A-1", "A-2"], &["A-3"], &[]);
    assert_eq!(charged_words(&asked), [""; 0]);
    assert!(asked.report.contains("A-1, A-2, which you listed as approved"), "{}", asked.report);
    let learned = separated().learn(&["A-1", "A-2"], &["A-3"], &YES);
    let keys = &dialect(&learned)["endpoints"]["provider_status"];
    assert_eq!((&keys["status"], &keys["amount"]), (&json!(["/answer/state"]), &json!(["/answer/sum"])));
    assert_eq!((&keys["order_number"], &keys["currency"]), (&json!(["/answer/ref"]), &json!(["/answer/ccy"])));
    assert_eq!(charged_words(&learned), ["tavun"]);
    assert_eq!(dialect(&learned)["rejected_words"], json!(["koris"]));
    // Queries that were not recorded go on by the interface's words.
    let other = &dialect(&learned)["endpoints"]["qr_status"];
    assert_eq!((&other["charged_words"], &other["rejected_words"]), (&json!(["CHARGE"]), &json!(["Reject"])));
    let report: Value = serde_json::from_str(&learned.report_json).expect("JSON");
    let found = report["learned"].as_array().expect("a list");
    let word = found.iter().find(|found| found["key"] == "provider_status.charged_words").expect("a word");
    let exchanges: Vec<_> =
        word["exchanges"].as_array().expect("a list").iter().map(|at| at["exchange"].as_u64()).collect();
    assert_eq!((&word["value"], exchanges), (&json!("\"tavun\""), vec![Some(4), Some(7), Some(8)]));
}

#[test]
fn word_of_declined_payment_is_never_charged() {
    let mut script = separated();
    script.payment("A-4", 80, &["zorat", "tavun", "koris"]);
    // Listed or not: the payment left the word for that of a declined order.
    for (declined, confirm) in [(&["A-3", "A-4"][..], &[][..]), (&["A-3"], &[]), (&["A-3"], &["tavun=charged"])] {
        let learned = script.learn(&["A-1", "A-2"], declined, confirm);
        assert_eq!((charged_words(&learned), learned.is_whole), (Vec::new(), false), "{}", learned.report);
    }
    let learned = script.learn(&["A-1", "A-2"], &["A-3"], &["tavun=charged"]);
    assert!(learned.report.contains("a payment left it for \"koris\" later (exchange 16)"), "{}", learned.report);
}

#[test]
fn interface_words_with_another_meaning_end_it() {
    let mut script = Script::new();
    for (order, amount, words) in [("A-1", 100, ["CHARGE", "CHARGE"]), ("A-2", 75, ["CHARGE", "Reject"])] {
        script.create(order, amount);
        for word in words {
            let response = json!({"code": "200", "data": {"orderNumber": order, "amount": amount, "status": word}});
            script.call(GET_STATUS, &json!({"orderNumber": order, "provider": "Cards"}), &response);
        }
    }
    let learned = script.learn(&[], &[], &[]);
    assert!(learned.dialect.is_none() && learned.report.contains("means something else here"), "{}", learned.report);
    let out = command().arg("learn").arg(script.path()).output().expect("it runs");
    assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0));
}

#[test]
fn several_places_are_named_and_a_person_chooses() {
    let mut script = Script::new();
    for (order, amount, words) in
        [("A-1", 100, ["zorat", "tavun"]), ("A-2", 250, ["zorat", "tavun"]), ("A-3", 75, ["zorat", "koris"])]
    {
        script.create(order, amount);
        for word in words {
            let answer = json!({"ref": order, "sum": amount, "paid": amount, "part": amount - 1, "state": word});
            let request = json!({"orderNumber": order, "provider": "Cards"});
            script.call(GET_STATUS, &request, &json!({"code": "200", "answer": answer}));
        }
    }
    let mut options = script.options(&["A-1", "A-2"], &["A-3"], &YES);
    let learned = learn(&options).expect("a recording");
    assert!(dialect(&learned)["endpoints"]["provider_status"]["amount"].is_null());
    assert!(
        learned.report.contains("/answer/paid and /answer/sum are each the requested amount"),
        "{}",
        learned.report
    );
    options.places = vec!["provider_status.amount=/answer/paid".parse().expect("a place")];
    let learned = learn(&options).expect("a recording");
    assert_eq!(dialect(&learned)["endpoints"]["provider_status"]["amount"], json!(["/answer/paid"]));
    for (place, why) in
        [("/answer/part", "is never the requested amount"), ("/answer/none", "no response has a value there")]
    {
        options.places = vec![format!("provider_status.amount={place}").parse().expect("a place")];
        let learned = learn(&options).expect("a recording");
        assert!(dialect(&learned)["endpoints"]["provider_status"]["amount"].is_null() && !learned.is_whole);
        assert!(learned.report.contains(why), "{}", learned.report);
    }
}

/// Three orders with two queries each, of which `answer` makes the response's fields by whether the order is queried again, and paid.
fn answered(answer: impl Fn(bool, bool, u32) -> Value) -> Script {
    let mut script = Script::new();
    for (order, amount) in [("A-1", 100), ("A-2", 250), ("A-3", 75)] {
        script.create(order, amount);
        for is_again in [false, true] {
            let data = answer(is_again, order != "A-3", amount);
            script.call(
                GET_STATUS,
                &json!({"orderNumber": order, "provider": "Cards"}),
                &json!({"code": "200", "answer": data}),
            );
        }
    }
    script
}

#[test]
fn what_only_changes_like_a_status_is_none() {
    let step = |is_again: bool, is_paid: bool| match (is_again, is_paid) {
        (false, _) => "N",
        (true, true) => "Y",
        (true, false) => "U",
    };
    let status = |learned: &Learned| dialect(learned)["endpoints"]["provider_status"]["status"].clone();
    let yes = ["Y=charged", "U=rejected"];
    // A second thing that changes: a boolean, which no dialect reads.
    let script =
        answered(|is_again, is_paid, _| json!({"threeDs": step(is_again, is_paid), "paid": is_again && is_paid}));
    let learned = script.learn(&["A-1", "A-2"], &["A-3"], &yes);
    assert!(status(&learned).is_null() && !learned.is_whole, "{}", learned.report);
    assert!(learned.report.contains("/answer/paid changes, too"), "{}", learned.report);
    // Alone, but under a name that says nothing of a status, and beside values that are known.
    let script = answered(|is_again, is_paid, amount| json!({"threeDs": step(is_again, is_paid), "amount": amount}));
    let learned = script.learn(&["A-1", "A-2"], &["A-3"], &yes);
    assert!(status(&learned).is_null() && learned.report.contains("--place provider_status.status=/answer/threeDs"));
    let mut options = script.options(&["A-1", "A-2"], &["A-3"], &yes);
    options.places = vec!["provider_status.status=/answer/threeDs".parse().expect("a place")];
    assert_eq!(status(&learn(&options).expect("a recording")), json!(["/answer/threeDs"]));
    // The interface's place counts, also if not every response has it.
    let mut script = answered(|is_again, is_paid, _| json!({"state": step(is_again, is_paid)}));
    let response = json!({"code": "200", "data": {"orderNumber": "A-1", "status": "NEW"}});
    script.call(GET_STATUS, &json!({"orderNumber": "A-1", "provider": "Cards"}), &response);
    assert!(status(&script.learn(&["A-1", "A-2"], &["A-3"], &yes)).is_null());
}

#[test]
fn what_was_paid_is_not_passed_over() {
    let script = answered(
        |is_again, is_paid, amount| json!({"invoiced": amount, "paid": if is_again && is_paid { amount } else { 0 }, "state": "x"}),
    );
    let learned = script.learn(&[], &[], &[]);
    assert!(dialect(&learned)["endpoints"]["provider_status"]["amount"].is_null());
    assert!(learned.report.contains("--place provider_status.amount=/answer/paid"), "{}", learned.report);
    let mut options = script.options(&[], &[], &[]);
    options.places = vec!["provider_status.amount=/answer/paid".parse().expect("a place")];
    let learned = learn(&options).expect("a recording");
    assert_eq!(dialect(&learned)["endpoints"]["provider_status"]["amount"], json!(["/answer/paid"]));
}

#[test]
fn code_of_a_payment_that_existed_is_no_refusal() {
    let yes = ["card_payment:E09=refusal", "card_payment:E51=refusal"];
    let mut script = separated();
    let request = |order: &str| json!({"orderNumber": order, "amount": 100, "currency": "KGS"});
    // The number of a paid order again, and an invalid amount.
    for order in ["A-1", "A-8"] {
        script.call(CARD, &request(order), &json!({"code": "E09"}));
    }
    // Found later by a query without a status word.
    script.call(CARD, &request("A-9"), &json!({"code": "E51"}));
    let found = json!({"code": "200", "answer": {"ref": "A-9", "sum": 100}});
    script.call(GET_STATUS, &json!({"orderNumber": "A-9", "provider": "Cards"}), &found);
    let learned = script.learn(&[], &[], &yes);
    let keys = &dialect(&learned)["endpoints"]["card_payment"];
    assert!(keys["refusal_codes"].is_null(), "{keys}");
    for why in ["an order number that was used before", "the payment existed later"] {
        assert!(learned.report.contains(why), "{why}\n{}", learned.report);
    }
}

#[test]
fn get_status_that_found_nothing_shows_no_numbers() {
    let mut script = Script::new();
    for (transaction, sum) in [("Q-1001", 39_000), ("Q-1002", 12_550)] {
        script.call(QR_DATA, &json!({"sum": sum}), &json!({"code": "100", "data": {"id": transaction}}));
        // Twin fields: which of them is the amount is not settled, so its unit is not, either.
        let target = format!("{QR_STATUS}?transaction_id={transaction}");
        let report = json!({"code": "100", "data": {"status": "CREATED", "sum": sum, "total": sum}});
        script.add("request", "GET", &target, &Value::Null, 200, &report.to_string());
        let by_order = json!({"orderNumber": transaction, "provider": "MBank"});
        script.call(GET_STATUS, &by_order, &json!({"code": "404", "message": "not found"}));
    }
    let learned = script.learn(&[], &[], &[]);
    let dialect = dialect(&learned);
    assert!(
        dialect["qr_numbers"].is_null() && learned.report.contains("--confirm qr_numbers=none"),
        "{}",
        learned.report
    );
    assert!(dialect["qr_amount_unit"].is_null(), "{dialect}");
}

#[test]
fn what_a_dialect_cannot_express_is_named() {
    let mut script = Script::new();
    for (order, amount) in [("A-1", 100), ("A-2", 250)] {
        script.create(order, amount);
        for is_paid in [false, true] {
            let answer = json!({"kopecks": amount * 100, "ok": is_paid, "more": "{\"state\":\"x\"}"});
            let request = json!({"orderNumber": order, "provider": "Cards"});
            script.call(GET_STATUS, &request, &json!({"code": "200", "answer": answer}));
        }
        script.add("request", "GET", &format!("{QR_STATUS}?transaction_id={order}x"), &Value::Null, 200, "\"PAID\"");
    }
    script.add("request", "POST", "/v2/refund", &json!({"id": 1}), 200, "{}");
    let learned = script.learn(&[], &[], &[]);
    for expected in [
        "/answer/kopecks is the amount in tyiyn",
        "/answer/ok is true or false",
        "/answer/more is JSON inside a string",
        "the whole body is a word",
        "POST /v2/refund: not an endpoint of the interface",
    ] {
        assert!(learned.report.contains(expected), "{expected}\n{}", learned.report);
    }
}

#[test]
fn callbacks_show_the_unit_and_the_transaction() {
    let mut script = Script::new();
    for (transaction, sum) in [("Q-1001", 39_000), ("Q-1002", 12_550)] {
        script.call(QR_DATA, &json!({"sum": sum}), &json!({"code": "100", "data": {"id": transaction}}));
        let target = format!("{QR_STATUS}?transaction_id={transaction}");
        script.add("request", "GET", &target, &Value::Null, 200, r#"{"code":"100","data":{"status":"CREATED"}}"#);
        let by_order = json!({"orderNumber": transaction, "provider": "MBank"});
        script.call(GET_STATUS, &by_order, &json!({"code": "100", "data": {"status": "CREATED"}}));
        let callback = json!({"txn": transaction, "amount": sum, "status": "CHARGE"});
        script.add("callback", "POST", "/callback", &callback, 200, "");
    }
    let dialect = dialect(&script.learn(&[], &[], &[]));
    assert_eq!(dialect["callback"], json!({"transaction_id": ["/txn"]}));
    assert_eq!((&dialect["qr_amount_unit"], &dialect["qr_numbers"]), (&json!("tyiyn"), &json!("transaction_id")));
    assert_eq!(dialect["endpoints"]["qr_data"]["transaction_id"], json!(["/data/id"]));
}

#[test]
fn unknown_orders_and_recordings_are_errors() {
    let script = separated();
    let failed =
        |approved: &[&str], declined: &[&str]| learn(&script.options(approved, declined, &[])).expect_err("an error");
    assert!(matches!(failed(&["A-9"], &[]), LearnError::UnknownOrder { option: "--approved", .. }));
    assert!(matches!(failed(&["A-1"], &["A-1"]), LearnError::ApprovedAndDeclined { .. }));
    // The gateway numbers two payments as the merchant numbers others.
    let mut shifted = Script::new();
    for (order, number) in [("1001", "1002"), ("1002", "1003")] {
        let request = json!({"orderNumber": order, "amount": 100, "currency": "KGS"});
        shifted.call(CARD, &request, &json!({"code": "110", "data": {"orderNumber": order, "paymentId": number}}));
    }
    for (number, word) in [("1002", "SETTLED"), ("1003", "NEW")] {
        let response = json!({"code": "200", "data": {"status": word}});
        shifted.call(STATUS, &json!({"orderNumber": number}), &response);
    }
    let learned = shifted.learn(&["1002"], &[], &[]);
    assert!(learned.report.contains("of 1002, which you listed as approved"), "{}", learned.report);
    let of_gateway = learn(&shifted.options(&["1003"], &[], &[]));
    assert!(of_gateway.is_ok(), "{of_gateway:?}");
    assert!(matches!(learn(&Script::new().options(&[], &[], &[])), Err(LearnError::NoEndpoint)));
    let missing = LearnOptions { files: vec!["no-such-file".into()], ..LearnOptions::default() };
    assert!(matches!(learn(&missing), Err(LearnError::Recording(_))));
}

#[test]
fn program_writes_dialect_and_report_once() {
    let script = separated();
    let (dialect, report) = (script.folder.path().join("dialect.json"), script.folder.path().join("report.json"));
    let run = |more: &[&str]| {
        let mut command = command();
        command.arg("learn").arg(script.path()).args(["--approved", "A-1,A-2", "--declined", "A-3"]);
        command.args(YES.iter().flat_map(|yes| ["--confirm", yes]));
        command.arg("--out").arg(&dialect).arg("--report").arg(&report).args(more);
        command.output().expect("it runs")
    };
    let first = run(&[]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    for path in [&dialect, &report] {
        assert!(serde_json::from_str::<Value>(&fs::read_to_string(path).expect("written")).is_ok());
    }
    let second = run(&[]);
    let error = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.code() == Some(2) && error.contains("--overwrite"), "{error}");
    assert_eq!(run(&["--overwrite"]).status.code(), Some(0));
    // Without orders it prints both, and says that it is not whole.
    let plain = command().arg("learn").arg(script.path()).output().expect("it runs");
    assert_eq!(plain.status.code(), Some(1));
    assert!(serde_json::from_slice::<Value>(&plain.stdout).is_ok());
    assert!(String::from_utf8_lossy(&plain.stderr).contains("Needs your confirmation"));
}
