//! `kassa-server probe`: what it says of gateways that answer in ways of their own, that the dialect which it finds makes the next run
//! clean, and that nothing is created without permission.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use kassa::{Credentials, Dialect, GatewayConfig, QrCode, QrLevel};
use kassa_sandbox::{Dialect as ActsAs, Sandbox, SandboxOptions};
use kassa_server::{Boxed, Probe, ProbePlan, ProbeStep, ProbeTalk};
use serde_json::{Value, json};

use crate::support::{PASSWORD, Place, settings_for};

const CARD: &str = "4047300000007550";
const PHONE: &str = "996772140014";
const LOGIN: &str = "merchant-seven";
const ALL_READ: &str = "Everything was read";

/// What a small gateway answers to a path and the fields of a request.
type Answer = dyn Fn(&str, &Value) -> (u16, String) + Send + Sync;

/// A gateway of a few lines, which remembers what came.
struct Small {
    url: String,
    got: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Small {
    fn start(answer: impl Fn(&str, &Value) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::<Mutex<Vec<(String, Value)>>>::default();
        let taken = got.clone();
        let answer: Arc<Answer> = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (taken, answer) = (taken.clone(), answer.clone());
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream.unwrap());
                    while let Some((path, sent)) = take(&mut reader) {
                        let (status, body) = answer(&path, &sent);
                        taken.lock().unwrap().push((path, sent));
                        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
                        if reader.get_mut().write_all((head + &body).as_bytes()).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        Self { url, got }
    }

    /// The paths of all requests so far.
    fn paths(&self) -> Vec<String> {
        self.got.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }
}

/// One request: its path, and its fields from the body or the query. Nothing at the connection's end.
fn take(reader: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let target = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let fields = match serde_json::from_slice(&body) {
        Ok(fields) => fields,
        Err(_) => {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
        }
    };
    Some((path.to_owned(), fields))
}

fn text(sent: &Value, name: &str) -> String {
    sent[name].as_str().unwrap_or_default().to_owned()
}

/// (a) Another envelope, other names, other words. It repeats the phone and the card.
fn renamed() -> Small {
    let payments = Mutex::new(BTreeMap::<String, (bool, Value)>::new());
    Small::start(move |path, sent| {
        let mut payments = payments.lock().unwrap();
        let number = text(sent, "orderNumber");
        let order = payments.keys().find(|order| number == **order || number == format!("R{order}")).cloned();
        let unknown = (404, json!({"head": {"resultCode": "44", "resultText": "unknown"}}).to_string());
        let ok = json!({"resultCode": "0", "resultText": "OK"});
        let order = match path {
            "/api/v1.1.0/payment" | "/api/v1.1.0/mbank/pay" => {
                let payer = json!([sent["phone"], sent["pan"]]);
                payments.insert(number.clone(), (path.ends_with("payment"), payer));
                number
            }
            "/api/v1.1.0/pay-form" => {
                return (200, json!({"head": ok, "body": {"link": "https://pay.example.kg/f/1"}}).to_string());
            }
            _ => match order {
                Some(order) => order,
                None => return unknown,
            },
        };
        if path.ends_with("confirm") {
            payments.entry(order.clone()).and_modify(|(is_paid, _)| *is_paid = true);
        }
        let (is_paid, payer) = &payments[&order];
        let state = if *is_paid { "PAID" } else { "NEW" };
        let body = json!({
            "no": order, "ref": format!("R{order}"), "sum": 1, "ccy": "KGS", "state": state, "payer": payer,
        });
        (200, json!({"head": ok, "body": body}).to_string())
    })
}

/// (b) The envelope of the interface; a confirmation must carry the quid in the place of the order number.
fn by_quid() -> Small {
    let payments = Mutex::new(BTreeMap::<String, bool>::new());
    Small::start(move |path, sent| {
        let mut payments = payments.lock().unwrap();
        let number = text(sent, "orderNumber");
        let quid = |order: &str| format!("FP{order}");
        let order = payments.keys().find(|order| number == **order || number == quid(order)).cloned();
        let ok = |code: &str, data: Value| (200, json!({"code": code, "message": "OK", "data": data}).to_string());
        let no = (404, json!({"code": "404", "message": "no such payment"}).to_string());
        match (path, order) {
            ("/api/v1.1.0/mbank/pay", _) => {
                payments.insert(number.clone(), false);
                ok("110", json!({"amount": 1, "quid": quid(&number), "dateTime": "2026-11-28T16:50:58"}))
            }
            ("/api/v1.1.0/mbank/confirm", Some(order)) if number == quid(&order) => {
                payments.insert(order.clone(), true);
                ok("120", json!({"quid": number}))
            }
            ("/api/v1.1.0/status" | "/api/v1.1.0/get-status", Some(order)) => {
                let status = if payments[&order] { "CHARGE" } else { "CREATED" };
                ok("200", json!({"orderNumber": order, "amount": 1, "currency": "KGS", "status": status}))
            }
            _ => no,
        }
    })
}

/// The envelope of the interface; the outcome of a confirmation is unknown, and some questions later the payment is charged. About
/// numbers that nobody has, it answers in a form of its own.
fn slow() -> Small {
    let questions = AtomicU32::new(0);
    let order = Mutex::new(String::new());
    Small::start(move |path, sent| {
        let ok = |code: &str, data: Value| (200, json!({"code": code, "message": "OK", "data": data}).to_string());
        let mut order = order.lock().unwrap();
        match path {
            "/api/v1.1.0/mbank/pay" => {
                *order = text(sent, "orderNumber");
                ok("110", json!({"amount": 1, "quid": format!("FP{order}")}))
            }
            "/api/v1.1.0/mbank/confirm" => {
                questions.store(1, Ordering::SeqCst);
                (500, "down".to_owned())
            }
            _ if order.is_empty() || text(sent, "orderNumber").trim_start_matches("FP") != *order => {
                (200, json!({"head": {"resultCode": "44"}, "body": {"state": "CHARGE", "info": "none"}}).to_string())
            }
            _ => {
                let is_confirmed = questions.load(Ordering::SeqCst) > 0;
                let is_paid = is_confirmed && questions.fetch_add(1, Ordering::SeqCst) > 3;
                let status = if is_paid { "CHARGE" } else { "CREATED" };
                ok("200", json!({"orderNumber": *order, "amount": 1, "currency": "KGS", "status": status}))
            }
        }
    })
}

/// (c) Something that is no gateway, with pages and with nothing.
fn pages() -> Small {
    Small::start(|path, _| match path {
        "/api/v1.1.0/get-status" => (200, String::new()),
        _ => (200, "<html><body>Welcome</body></html>".to_owned()),
    })
}

/// The transaction of the complete gateway's QR code.
const TRANSACTION: &str = "T-1000001";

/// The dialect of the complete gateway, beside the interface.
const COMPLETE: &str = r#"{
    "endpoints": {
        "mbank_payment": {"success_codes": ["110"]},
        "mbank_confirm": {"success_codes": ["120"]},
        "pay_form": {"success_codes": ["0"], "pay_form_url": ["/data/page"]},
        "qr_image": {"success_codes": ["0"], "image": ["/data/image"]},
        "qr_data": {"success_codes": ["0"], "qr_payload": ["/data/qr"], "transaction_id": ["/data/transaction"]}
    },
    "mbank_identifier": {"pointers": ["/data/id"], "confirm_field": null}
}"#;

/// (d) Answers with nothing but what its dialect reads. A card is charged at once.
fn complete() -> Small {
    let png = QrCode::encode("a code", QrLevel::Medium).unwrap().png(400).unwrap();
    let image = BASE64_STANDARD.encode(png);
    let payments = Mutex::new(BTreeMap::<String, bool>::new());
    Small::start(move |path, sent| {
        let mut payments = payments.lock().unwrap();
        let number = text(sent, "orderNumber");
        let ok = |code: &str, data: Value| (200, json!({"code": code, "message": "OK", "data": data}).to_string());
        let known = payments.get(&number).copied();
        match (path.trim_start_matches("/api/v1.1.0"), known) {
            (created @ ("/payment" | "/mbank/pay"), _) => {
                payments.insert(number.clone(), created == "/payment");
                ok("110", json!({"orderNumber": number, "amount": 1}))
            }
            ("/mbank/confirm", Some(_)) => {
                payments.insert(number.clone(), true);
                ok("120", json!({"orderNumber": number}))
            }
            ("/pay-form", _) => ok("0", json!({"page": "https://pay.example.kg/f/1"})),
            ("/gen/qr/dynamic", _) => ok("0", json!({"image": image})),
            ("/gen/qr/dynamic/data", _) => {
                ok("0", json!({"qr": "https://pay.example.kg/q/1", "transaction": TRANSACTION}))
            }
            ("/gen/qr/transaction/status", _) if text(sent, "transaction_id") == TRANSACTION => {
                ok("200", json!({"orderNumber": TRANSACTION, "amount": 100, "status": "CREATED"}))
            }
            ("/status" | "/get-status", Some(is_paid)) => {
                let status = if is_paid { "CHARGE" } else { "CREATED" };
                ok("200", json!({"orderNumber": number, "amount": 1, "currency": "KGS", "status": status}))
            }
            _ => (404, json!({"code": "404", "message": "no such payment"}).to_string()),
        }
    })
}

/// Permits what it is told to, and keeps all that is said and asked.
struct Script {
    permits: bool,
    opens_pages: bool,
    said: Vec<String>,
    prompts: Vec<String>,
}

impl Script {
    fn that(permits: bool) -> Self {
        Self { permits, opens_pages: false, said: Vec::new(), prompts: Vec::new() }
    }
}

impl ProbeTalk for Script {
    fn say(&mut self, line: &str) {
        self.said.push(line.to_owned());
    }
    fn may<'a>(&'a mut self, question: &'a str) -> Boxed<'a, bool> {
        self.prompts.push(question.to_owned());
        let permits = self.permits;
        Box::pin(async move { permits })
    }
    fn wait_for<'a>(&'a mut self, what: &'a str) -> Boxed<'a, bool> {
        self.said.push(what.to_owned());
        let opens_pages = self.opens_pages;
        Box::pin(async move { opens_pages })
    }
}

/// What a run came to.
struct Ran {
    is_clean: bool,
    problems: Vec<String>,
    dialect: String,
    /// All that was said, and the report.
    text: String,
    prompts: Vec<String>,
}

impl Ran {
    fn has_problem(&self, part: &str) -> bool {
        self.problems.iter().any(|problem| problem.contains(part))
    }
}

fn run(gateway: &Small, dialect: &Dialect, steps: &[ProbeStep], charged_word: Option<&str>, permits: bool) -> Ran {
    let charged_words = charged_word.into_iter().map(str::to_owned).collect();
    play(gateway, dialect, ProbePlan { steps: steps.to_vec(), charged_words, ..plan() }, permits)
}

fn plan() -> ProbePlan {
    ProbePlan {
        cards: vec![CARD.to_owned()],
        patience: Duration::ZERO,
        secrets: vec![LOGIN.to_owned()],
        ..ProbePlan::default()
    }
}

fn play(gateway: &Small, dialect: &Dialect, plan: ProbePlan, permits: bool) -> Ran {
    play_by(Script::that(permits), gateway, dialect, plan)
}

fn play_by(mut script: Script, gateway: &Small, dialect: &Dialect, plan: ProbePlan) -> Ran {
    let config = GatewayConfig::new(&gateway.url, Credentials::basic(LOGIN, PASSWORD)).with_dialect(dialect.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut probe = Probe::new(config, plan, &mut script).unwrap();
    runtime.block_on(probe.run()).unwrap();
    probe.conclude();
    let (is_clean, dialect, report) = (probe.is_clean(), probe.dialect_file(), probe.report());
    let problems = probe.findings().iter().flat_map(|finding| finding.problems.clone()).collect();
    drop(probe);
    let text = script.said.join("\n") + &script.prompts.join("\n") + &report;
    for secret in [PASSWORD, PHONE, "772140014", CARD, LOGIN] {
        assert!(!text.contains(secret), "{secret} is told: {text}");
    }
    Ran { is_clean, problems, dialect, text, prompts: script.prompts }
}

/// Reads the dialect that a run has written, and runs with it.
fn again(gateway: &Small, first: &Ran, steps: &[ProbeStep]) {
    let dialect = Dialect::from_json(&first.dialect).unwrap();
    let second = run(gateway, &dialect, steps, None, true);
    assert!(second.is_clean, "{:#?}\n{}", second.problems, first.dialect);
    assert_eq!(Dialect::from_json(&second.dialect).unwrap(), dialect);
}

#[test]
fn probe_finds_renamed_fields() {
    let steps = [ProbeStep::Mbank, ProbeStep::Card, ProbeStep::PayForm];
    let gateway = renamed();
    // Whether a word means that money was taken, no response can teach.
    let unsaid = run(&gateway, &Dialect::default(), &steps, None, true);
    assert!(unsaid.has_problem("it has not ended: \"PAID\"") && !unsaid.dialect.contains("PAID"), "{}", unsaid.dialect);
    assert!(unsaid.text.contains("mobile bank (order number ") && unsaid.text.contains("PENDING: "), "{}", unsaid.text);
    let first = run(&gateway, &Dialect::default(), &steps, Some("PAID"), true);
    assert!(!first.is_clean);
    for problem in ["code probably stands at /head/resultCode", "the gateway's number stands at /body/ref"] {
        assert!(first.has_problem(problem), "{problem}: {:#?}", first.problems);
    }
    assert!(first.text.contains("charged: the test money was taken"), "{}", first.text);
    again(&gateway, &first, &steps);
}

#[test]
fn probe_tries_mbank_identifier_locations() {
    let gateway = by_quid();
    for (given, prompts) in [("interface", 3), ("finipay", 2)] {
        let first = run(&gateway, &Dialect::named(given).unwrap(), &[ProbeStep::Mbank], None, true);
        assert!(first.has_problem("in the place of the order number"), "{given}: {:#?}", first.problems);
        // The creation, and each place until one is accepted.
        assert_eq!(first.prompts.len(), 1 + prompts, "{:#?}", first.prompts);
        let file: Value = serde_json::from_str(&first.dialect).unwrap();
        assert_eq!(file["mbank_identifier"], json!({"pointers": ["/data/quid"], "confirm_field": "orderNumber"}));
        again(&gateway, &first, &[ProbeStep::Mbank]);
    }
}

#[test]
fn probe_ignores_html_and_empty_responses() {
    let gateway = pages();
    let ran = run(&gateway, &Dialect::default(), &ProbeStep::all(), None, true);
    assert!(
        ran.has_problem("no response came, or an empty one") && ran.has_problem("it is not an answer"),
        "{:#?}",
        ran.problems
    );
    assert_eq!(serde_json::from_str::<Value>(&ran.dialect).unwrap(), json!({"base": "interface"}));
    assert!(
        !gateway.paths().iter().any(|path| path.ends_with("confirm")),
        "nothing is known of what would be confirmed"
    );
    for what in ["- mobile bank (order number ", "- card "] {
        let is_told = |line: &str| line.starts_with(what) && line.ends_with("PENDING: its outcome is unknown");
        assert!(ran.text.lines().any(is_told), "{what}: {}", ran.text);
    }
}

#[test]
fn nothing_is_created_without_permission() {
    let gateway = by_quid();
    let ran = run(&gateway, &Dialect::default(), &ProbeStep::all(), None, false);
    assert_eq!(ran.prompts.len(), 5, "{:#?}", ran.prompts);
    assert!(gateway.paths().iter().all(|path| path.ends_with("status")), "{:?}", gateway.paths());
    assert!(ran.text.contains("Nothing was created, so no money moved."));
}

#[test]
fn probe_ignores_unknown_order_number() {
    let gateway = slow();
    let ran = run(&gateway, &Dialect::default(), &[ProbeStep::Mbank], None, false);
    assert_eq!(serde_json::from_str::<Value>(&ran.dialect).unwrap(), json!({"base": "interface"}));
    let query = ProbePlan { status_query: Some("nobody-7".to_owned()), ..plan() };
    let ran = play(&gateway, &Dialect::default(), query, false);
    assert_eq!(serde_json::from_str::<Value>(&ran.dialect).unwrap(), json!({"base": "interface"}));
    assert!(ran.has_problem("no form of the status query finds this number"), "{:#?}", ran.problems);
}

#[test]
fn probe_rejects_early_charged_word() {
    let ran = run(&renamed(), &Dialect::default(), &[ProbeStep::Mbank], Some("new"), true);
    assert!(ran.has_problem("this word does not mean charged"), "{:#?}", ran.problems);
    let dialect: Value = serde_json::from_str(&ran.dialect).unwrap();
    assert_eq!(dialect.get("charged_words"), None, "{dialect}");
}

/// The endpoint `qr_status` of the complete gateway's dialect has words of its own, which the whole dialect's do not replace.
fn with_words_of_qr_status(words: &[&str]) -> Dialect {
    let mut dialect: Value = serde_json::from_str(COMPLETE).unwrap();
    dialect["endpoints"]["qr_status"] = json!({"charged_words": words});
    Dialect::from_json(&dialect.to_string()).unwrap()
}

#[test]
fn probe_removes_wrong_charged_word_everywhere() {
    let gateway = complete();
    for (step, named, problem) in [
        (ProbeStep::Mbank, Some("Created"), "this word does not mean charged"),
        (ProbeStep::Qr, None, "the given dialect reads that as charged"),
        (ProbeStep::Qr, Some("Created"), "the given dialect reads that as charged"),
    ] {
        for (words, left) in [(&["PAID", "created"][..], Some(json!(["PAID"]))), (&["CREATED"], None)] {
            let ran = run(&gateway, &with_words_of_qr_status(words), &[step], named, true);
            assert!(ran.has_problem(problem), "{step:?} {named:?} {words:?}: {:#?}", ran.problems);
            let written: Value = serde_json::from_str(&ran.dialect).unwrap();
            let own = written.pointer("/endpoints/qr_status/charged_words").cloned();
            assert_eq!((own, written.get("charged_words")), (left, None), "{step:?} {named:?} {words:?}: {written}");
            Dialect::from_json(&ran.dialect).unwrap();
        }
    }
}

#[test]
fn probe_does_not_confirm_charged_payment() {
    let gateway = renamed();
    let dialect = Dialect::from_json(r#"{"charged_words": ["NEW"]}"#).unwrap();
    let ran = run(&gateway, &dialect, &[ProbeStep::Mbank], None, true);
    assert!(ran.has_problem("the given dialect reads that as charged"), "{:#?}", ran.problems);
    assert!(!gateway.paths().iter().any(|path| path.ends_with("confirm")));
    assert!(ran.text.contains("Skipped: mobile bank: confirm"), "{}", ran.text);
}

#[test]
fn probe_never_resends_unknown_confirmation() {
    let (patience, pause) = (Duration::from_secs(60), Duration::from_millis(1));
    for (patience, is_seen) in [(patience, true), (Duration::ZERO, false)] {
        let gateway = slow();
        let plan = ProbePlan { steps: vec![ProbeStep::Mbank], patience, pause, ..plan() };
        let ran = play(&gateway, &Dialect::named("finipay").unwrap(), plan, true);
        let confirmations = gateway.paths().iter().filter(|path| path.ends_with("confirm")).count();
        assert_eq!(confirmations, 1, "{}", ran.text);
        assert_eq!(ran.text.contains("charged: the test money was taken"), is_seen, "{}", ran.text);
        assert_eq!(ran.has_problem("the outcome of the confirmation is unknown"), !is_seen, "{:#?}", ran.problems);
    }
}

#[test]
fn complete_probe_run_reports_all_read() {
    let dialect = Dialect::from_json(COMPLETE).unwrap();
    for opens_pages in [true, false] {
        let script = Script { opens_pages, ..Script::that(true) };
        let ran = play_by(script, &complete(), &dialect, plan());
        assert!(ran.is_clean, "{:#?}", ran.problems);
        assert_eq!(ran.text.contains(ALL_READ), opens_pages, "{}", ran.text);
        assert_eq!(ran.text.contains("Nobody opened the page of the pay-form"), !opens_pages, "{}", ran.text);
    }
}

#[test]
fn skipped_or_unread_probe_is_not_all_read() {
    let declined = run(&by_quid(), &Dialect::default(), &ProbeStep::all(), None, false);
    assert!(!declined.is_clean && !declined.text.contains(ALL_READ), "{}", declined.text);
    assert!(declined.text.contains("Skipped: pay-form"), "{}", declined.text);
    let gateway = by_quid();
    let dialect = run(&gateway, &Dialect::named("finipay").unwrap(), &[ProbeStep::Mbank], None, true).dialect;
    let some = run(&gateway, &Dialect::from_json(&dialect).unwrap(), &[ProbeStep::Mbank], None, true);
    assert!(some.is_clean && !some.text.contains(ALL_READ), "{}", some.text);
    for part in [
        "Not read in responses of mbank_payment:",
        "/data/dateTime",
        "Not run to the end: card, pay-form, qr-image, qr",
    ] {
        assert!(some.text.contains(part), "{part}: {}", some.text);
    }
}

#[test]
fn interrupted_probe_is_not_all_read() {
    let config = GatewayConfig::new("http://127.0.0.1:1", Credentials::basic(LOGIN, PASSWORD));
    let mut script = Script::that(true);
    Probe::new(config, plan(), &mut script).unwrap().conclude();
    let said = script.said.join("\n");
    assert!(said.contains("Not run to the end: mbank, card, pay-form, qr-image, qr"), "{said}");
    assert!(!said.contains(ALL_READ), "{said}");
}

#[test]
fn probe_with_given_number_creates_nothing() {
    let gateway = by_quid();
    let config = GatewayConfig::new(&gateway.url, Credentials::basic(LOGIN, PASSWORD));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let made = kassa::MbankPayment::new("order-7", 1, PHONE, "A test");
    runtime.block_on(kassa::Gateway::new(config).unwrap().create_mbank_payment(made)).unwrap();
    let query = ProbePlan { status_query: Some("order-7".to_owned()), ..plan() };
    let ran = play(&gateway, &Dialect::default(), query, false);
    assert!(ran.is_clean && ran.prompts.is_empty(), "{:#?}", ran.problems);
    assert!(ran.text.contains("\"CREATED\", amount 1"), "{}", ran.text);
    let created = gateway.paths().iter().filter(|path| !path.ends_with("status")).count();
    assert_eq!(created, 1, "the one of the test itself");
}

/// The gateway answers about any number of one provider's, so its answer proves none of them.
#[test]
fn probe_verifies_number_per_provider() {
    let gateway = Small::start(|path, sent| {
        let number = text(sent, "orderNumber");
        if path == "/api/v1.1.0/get-status" && sent["provider"] == "MBank" {
            let data = json!({"orderNumber": number, "amount": 1, "currency": "KGS", "status": "CREATED"});
            return (200, json!({"code": "200", "message": "OK", "data": data}).to_string());
        }
        (404, json!({"code": "404", "message": "no such payment"}).to_string())
    });
    let query = ProbePlan { status_query: Some("order-7".to_owned()), ..plan() };
    let ran = play(&gateway, &Dialect::default(), query, false);
    assert!(ran.has_problem("no form of the status query finds this number"), "{:#?}\n{}", ran.problems, ran.text);
    let got = gateway.got.lock().unwrap();
    let of_nobody = got.iter().filter(|(path, sent)| path.ends_with("/get-status") && sent["orderNumber"] != "order-7");
    let providers: Vec<_> = of_nobody.map(|(_, sent)| text(sent, "provider")).collect();
    assert_eq!(providers, ["Cards", "MBank"], "the first question of all, and the one that proves");
}

#[test]
fn probe_escapes_gateway_text() {
    let gateway = Small::start(|_, _| {
        let response = json!({"code": "13", "message": "no\u{1b}[2J | `x`\n# Heading"});
        (400, response.to_string())
    });
    let ran = run(&gateway, &Dialect::default(), &[ProbeStep::Mbank], None, true);
    assert!(!ran.text.contains('\u{1b}') && !ran.text.contains("\n# Heading"), "{}", ran.text);
    assert!(ran.text.contains("\\| \\`x\\`"), "{}", ran.text);
}

/// The program, against a sandbox that acts as each gateway it knows.
#[test]
fn proposed_dialect_makes_next_probe_clean() {
    let shown = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/sandbox-dialect.json");
    for (acts_as, given) in [(ActsAs::Interface, shown), (ActsAs::Other, "interface"), (ActsAs::Finipay, "finipay")] {
        let options = SandboxOptions { password: PASSWORD.to_owned(), acts_as, ..SandboxOptions::default() };
        let sandbox = Sandbox::start(options).unwrap();
        let place = Place::new();
        let settings = settings_for(sandbox.url());
        place.write("kassa.toml", &settings.replace(shown, given));
        let test_values =
            "--yes --phone 996555000101 --otp 101101 --card 4000000000002016 --card 4111111111111111 --wait 0";
        let probe = |more: &str| {
            let host = sandbox.url().trim_start_matches("http://");
            let arguments = format!("probe --test-environment {host} {test_values} {more}");
            place.run(&arguments.split_whitespace().collect::<Vec<_>>())
        };
        let first = probe("--write-dialect found.json --report report.md");
        assert!(matches!(first.code, Some(0 | 1)), "{acts_as:?}: {first:?}");
        let found = fs::read_to_string(place.path("found.json")).unwrap();
        Dialect::from_json(&found).unwrap();
        place.write("kassa.toml", &settings.replace(shown, &place.path("found.json").display().to_string()));
        let second = probe("");
        assert_eq!(second.code, Some(0), "{acts_as:?}: {found}\n{}", second.out);
        let charged = sandbox.payments().iter().map(|payment| payment.times_charged).sum::<u32>();
        assert_eq!(charged, 4, "in each run the mobile bank's payment and that of the card without 3DS");
        let report = fs::read_to_string(place.path("report.md")).unwrap();
        for text in [&first.out, &second.out, &report] {
            for secret in [PASSWORD, "996555000101", "4000000000002016", "4111111111111111"] {
                assert!(!text.contains(secret), "{acts_as:?}: {secret} is told: {text}");
            }
        }
        // A page that nobody opened leaves its payment open, and that is said.
        assert!(second.out.contains("PENDING: the gateway has not ended it"), "{}", second.out);
        assert!(!place.path("kassa.db").exists(), "it touches no database");
    }
}

#[test]
fn probe_needs_test_environment_and_permission() {
    let gateway = by_quid();
    let place = Place::new();
    place.write("kassa.toml", &settings_for(&gateway.url));
    place.write("there.md", "what another run found");
    let host = gateway.url.trim_start_matches("http://");
    let named = ["probe", "--test-environment", host];
    let more = |more: &[&'static str]| named.iter().copied().chain(more.iter().copied()).collect::<Vec<_>>();
    for (arguments, why) in [
        (vec!["probe", "--yes"], &*format!("say --test-environment {host}")),
        (vec!["probe", "--yes", "--test-environment"], "a value is required"),
        (
            vec!["probe", "--yes", "--test-environment", "pay.example.kg"],
            &*format!("names pay.example.kg, and the host of gateway.url is {host}"),
        ),
        (vec!["probe", "--yes", "--test-environment", "127.0.0.1"], "names 127.0.0.1, and"),
        (more(&[]), "permit all payments by --yes"),
        (more(&["--yes", "--gateway-url", "ftp://x"]), "gateway.url"),
        (more(&["--yes", "--report", "there.md"]), "there.md exists already"),
        (more(&["--yes", "--write-dialect", "there.md"]), "there.md exists already"),
        (more(&["--yes", "--report", "new.md", "--write-dialect", "new.md"]), "new.md exists already"),
        (more(&["--yes", "--report", "nowhere/new.md"]), "nowhere/new.md cannot be written"),
        (more(&["--yes", "--charged-word=?!"]), "neither a letter nor a digit"),
    ] {
        let ended = place.run(&arguments);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(why) && ended.out.is_empty(), "{ended:?}");
    }
    assert_eq!(gateway.paths(), [""; 0]);
    assert_eq!(fs::read_to_string(place.path("there.md")).unwrap(), "what another run found");
    // Nobody listens there: nothing is created.
    let elsewhere = ["probe", "--test-environment", "127.0.0.1:1", "--yes", "--gateway-url", "http://127.0.0.1:1"];
    let ended = place.run(&elsewhere);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.err.contains("cannot be queried, so nothing was created"), "{ended:?}");
    assert!(ended.out.contains("Nothing was created, so no money moved."), "{ended:?}");
}

/// What a run against real payments has found is not lost with a file that cannot be written.
#[test]
fn probe_writes_other_file_when_one_fails() {
    let gateway = by_quid();
    let place = Place::new();
    place.write("kassa.toml", &settings_for(&gateway.url));
    let host = gateway.url.trim_start_matches("http://");
    // No file system takes such a name, and nothing says so before it is created.
    let too_long = "x".repeat(300);
    for (dialect, report, written) in [
        (&*too_long, "report.md", Some("report.md")),
        ("found.json", &too_long, Some("found.json")),
        (&too_long, &format!("{too_long}y"), None),
    ] {
        let run = ["probe", "--test-environment", host, "--yes", "--only", "mbank", "--wait", "0"];
        let files = ["--write-dialect", dialect, "--report", report];
        let ended = place.run(&[&run[..], &files].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let first = if dialect == too_long { dialect } else { report };
        assert!(ended.err.contains(&format!("{first} cannot be written: ")), "{ended:?}");
        assert!(ended.out.contains("== What happened to the money"), "{ended:?}");
        for name in ["report.md", "found.json"] {
            assert_eq!(place.path(name).exists(), written == Some(name), "{name}: {ended:?}");
        }
        let _ = written.map(|name| fs::remove_file(place.path(name)));
    }
}
