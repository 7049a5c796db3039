//! `kassa-sandbox learn`: what recordings prove, and what they never do. The recordings are written by hand; `tests/rust/tests/learn`
//! learns from real ones, and Kassa's core judges by the result.

use std::{fs, path::PathBuf};

use kassa_sandbox::{LearnError, LearnOptions, Learned, learn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    binary::command,
    common::{CARD, GET_STATUS, MBANK_CONFIRM, MBANK_PAY, QR_DATA, QR_STATUS},
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

#[test]
fn orders_of_a_person_separate_the_words() {
    let learned = separated().learn(&["A-1", "A-2"], &["A-3"], &[]);
    let keys = &dialect(&learned)["endpoints"]["provider_status"];
    assert_eq!((&keys["status"], &keys["amount"]), (&json!(["/answer/state"]), &json!(["/answer/sum"])));
    assert_eq!((&keys["order_number"], &keys["currency"]), (&json!(["/answer/ref"]), &json!(["/answer/ccy"])));
    assert_eq!(charged_words(&learned), ["tavun"]);
    assert_eq!(dialect(&learned)["rejected_words"], json!(["koris"]));
    // Queries that were not recorded go on by the interface's words.
    let other = &dialect(&learned)["endpoints"]["qr_status"];
    assert_eq!((&other["charged_words"], &other["rejected_words"]), (&json!(["CHARGE"]), &json!(["Reject"])));
    assert!(learned.report.contains("A-1, A-2, which you listed as approved"), "{}", learned.report);
    let report: Value = serde_json::from_str(&learned.report_json).expect("JSON");
    let found = report["learned"].as_array().expect("a list");
    let word = found.iter().find(|found| found["key"] == "provider_status.charged_words").expect("a word");
    let exchanges: Vec<_> =
        word["exchanges"].as_array().expect("a list").iter().map(|at| at["exchange"].as_u64()).collect();
    assert_eq!((&word["value"], exchanges), (&json!("\"tavun\""), vec![Some(4), Some(7), Some(8)]));
}

#[test]
fn only_approved_payments_prove_no_word() {
    let mut script = Script::new();
    script.payment("A-1", 100, &["zorat", "tavun"]);
    script.payment("A-2", 250, &["zorat", "tavun"]);
    let learned = script.learn(&["A-1", "A-2"], &[], &[]);
    assert_eq!((charged_words(&learned), learned.is_whole), (Vec::new(), false));
    assert!(learned.report.contains("--confirm provider_status:tavun=charged"), "{}", learned.report);
    assert!(learned.report.contains("let the gateway decline an order"), "{}", learned.report);
    // Not even the place: the interface's word would count there.
    assert!(dialect(&learned)["endpoints"]["provider_status"]["status"].is_null());
    let learned = script.learn(&["A-1", "A-2"], &[], &["tavun=charged"]);
    assert_eq!(charged_words(&learned), ["tavun"]);
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
fn step_on_the_way_is_not_charged_by_lists() {
    // The recording ends too early: all that was seen of the approved orders is a step.
    for word in ["PROCESSING", "accepted", "ОБРАБОТКА", "Pending3DS"] {
        let mut script = Script::new();
        script.payment("A-1", 100, &["zorat", word]);
        script.payment("A-2", 250, &["zorat", word]);
        script.payment("A-3", 75, &["zorat", "koris"]);
        let learned = script.learn(&["A-1", "A-2"], &["A-3"], &[]);
        assert_eq!(charged_words(&learned), [""; 0], "{word}");
        assert!(learned.report.contains(&format!("--confirm provider_status:{word}=charged")), "{}", learned.report);
    }
}

#[test]
fn word_before_confirmation_is_never_charged() {
    let mut script = Script::new();
    for (order, amount, words) in
        [("M-1", 100, ["good", "good"]), ("M-2", 250, ["good", "fine"]), ("M-3", 75, ["good", "bad"])]
    {
        let request = json!({"orderNumber": order, "amount": amount, "phone": "996***101"});
        script.call(MBANK_PAY, &request, &json!({"code": "110", "answer": {"ref": order}}));
        script.query(order, amount, &words[..1]);
        script.call(MBANK_CONFIRM, &json!({"orderNumber": order, "otp": "***"}), &json!({"code": "120"}));
        script.query(order, amount, &words[1..]);
    }
    let learned = script.learn(&["M-1", "M-2"], &["M-3"], &["good=charged"]);
    assert_eq!(charged_words(&learned), [""; 0]);
    let report = &learned.report;
    assert!(report.contains("--confirm provider_status:good=charged: it was the word of M-3"), "{report}");
    let learned = script.learn(&[], &[], &["good=charged", "bad=open", "fine=open"]);
    assert!(learned.report.contains("before their payer confirmed them"), "{}", learned.report);
    assert_eq!(charged_words(&learned), [""; 0]);
}

#[test]
fn yes_waits_for_the_meaning_of_what_follows() {
    let mut script = separated();
    script.payment("A-4", 80, &["tavun", "rovek"]);
    let learned = script.learn(&[], &[], &["tavun=charged"]);
    assert_eq!(charged_words(&learned), [""; 0]);
    assert!(learned.report.contains("--confirm provider_status:rovek=open"), "{}", learned.report);
    let learned = script.learn(&[], &[], &["tavun=charged", "rovek=open"]);
    assert_eq!(charged_words(&learned), ["tavun"]);
    let learned = script.learn(&[], &[], &["tavun=charged", "rovek=rejected"]);
    assert_eq!(charged_words(&learned), [""; 0]);
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
    let mut options = script.options(&["A-1", "A-2"], &["A-3"], &[]);
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
        "/answer/more is JSON inside a text",
        "the whole body is a word",
        "POST /v2/refund: no endpoint of the interface",
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
    assert!(String::from_utf8_lossy(&plain.stderr).contains("Needs a person's yes"));
}
