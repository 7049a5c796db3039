//! The program: how it starts, what it prints, how it stops, and what it never writes down.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread::{self, JoinHandle},
};

use kassa_sandbox::{TEST_CARDS, TEST_PHONES};
use serde_json::Value;

use crate::{
    common::{
        CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, basic, card_body, confirm_body, mbank_body, pay_form_body, send,
        submit,
    },
    merchant::Merchant,
};

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kassa-sandbox"));
    command
        .env_remove("KASSA_SANDBOX_LOGIN")
        .env_remove("KASSA_SANDBOX_PASSWORD")
        .env_remove("KASSA_SANDBOX_ADMIN_TOKEN")
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

struct Running {
    child: Child,
    welcome: String,
    log: JoinHandle<String>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("it starts");
        let mut stderr = child.stderr.take().expect("piped");
        let log = thread::spawn(move || {
            let mut log = Vec::new();
            stderr.read_to_end(&mut log).expect("a log");
            String::from_utf8_lossy(&log).into_owned()
        });
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut welcome = String::new();
        while !welcome.contains("Ctrl-C") {
            let read = stdout.read_line(&mut welcome).expect("a welcome");
            assert_ne!(read, 0, "it ended early: {welcome}");
        }
        Self { child, welcome, log }
    }

    fn url(&self) -> String {
        let line = self.welcome.lines().find(|line| line.contains("URL")).expect("the URL");
        line.split_whitespace().last().expect("the URL").to_owned()
    }

    /// Asks it to stop, and hands on whether it ended well, and its log.
    fn stop(self) -> (bool, String) {
        self.stop_by("TERM")
    }

    fn signal(&self, name: &str) {
        let status = Command::new("sh").args(["-c", "kill -$0 $1", name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill runs").success());
    }

    fn stop_by(mut self, signal: &str) -> (bool, String) {
        self.signal(signal);
        let ended = self.child.wait().expect("it ends");
        (ended.success(), self.log.join().expect("a log"))
    }
}

pub fn refused(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("it runs");
    assert!(!status.success());
    let error = String::from_utf8(stderr).expect("a text");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    error
}

#[test]
fn binary_prints_url_and_credentials_and_stops() {
    let running = Running::start(command().args(["--listen", "127.0.0.1:0"]));
    for line in ["login     kassa", "password  sandbox-password"] {
        assert!(running.welcome.contains(line), "{}", running.welcome);
    }
    for text in TEST_CARDS.iter().map(|card| card.pan).chain(TEST_PHONES.iter().map(|phone| phone.phone)) {
        assert!(running.welcome.contains(text), "{text}");
    }
    let token = running.welcome.lines().find_map(|line| line.trim().strip_prefix("admin")).expect("the admin token");
    assert!(token.trim().len() >= 32, "{token}");
    assert_eq!(send("GET", &format!("{}/", running.url()), &[], b"").status, 404);
    assert!(running.stop().0);
}

#[test]
fn stops_gracefully_on_hangup_except_under_nohup() {
    let ignores_hang_ups = |process: &str| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).expect("a mask") & 1 == 1)
    };
    // Unless these tests run under `nohup` themselves.
    if !ignores_hang_ups("self") {
        let running = Running::start(command().args(["--listen", "127.0.0.1:0"]));
        assert!(running.stop_by("HUP").0);
    }

    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_kassa-sandbox")]);
    let running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    running.signal("HUP");
    assert_eq!(send("GET", &format!("{}/", running.url()), &[], b"").status, 404);
    assert!(ignores_hang_ups(&running.child.id().to_string()) || !cfg!(target_os = "linux"));
    assert!(running.stop().0);
}

/// Where nothing can be written: a pipe that nobody reads, and a full disk where the system has one to try.
fn unwritable() -> Vec<(&'static str, Stdio)> {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let mut all = vec![("a pipe that nobody reads", Stdio::from(writer))];
    if cfg!(target_os = "linux") {
        all.push(("a full disk", File::options().write(true).open("/dev/full").expect("it opens").into()));
    }
    all
}

#[test]
fn serves_without_stdout_and_stderr() {
    let serves = |child: &mut Child, url: &str, what: &str| {
        // Each of them is a line of the log.
        for _ in 0..2 {
            assert_eq!(send("GET", &format!("{url}/"), &[], b"").status, 404, "{what}");
        }
        child.kill().expect("killed");
        child.wait().expect("it ends");
    };
    for (what, stdout) in unwritable() {
        let mut child = command().args(["--listen", "127.0.0.1:0"]).stdout(stdout).spawn().expect("it starts");
        let mut log = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        while !line.contains("could not be printed") {
            line.clear();
            assert_ne!(log.read_line(&mut line).expect("a line"), 0, "{what}: it ended early");
        }
        let url = line.split("url=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the URL").to_owned();
        serves(&mut child, &url, what);
    }
    for (what, stderr) in unwritable() {
        let mut command = command();
        let mut child =
            command.args(["--listen", "127.0.0.1:0", "--announce", "json"]).stderr(stderr).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        let announced: Value = serde_json::from_str(&line).expect("an announcement");
        serves(&mut child, announced["url"].as_str().expect("the URL"), what);
    }
    for (what, stdout) in unwritable() {
        let output = command().arg("--help").stdout(stdout).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{what}: {output:?}");
    }
}

#[test]
fn taken_port_is_one_clear_line() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("bound").to_string();
    let error = refused(command().args(["--listen", &address]));
    assert!(error.starts_with(&format!("kassa-sandbox: cannot listen on {address}: ")), "{error}");
}

#[test]
fn unusable_file_is_one_clear_line() {
    let error = refused(command().args(["--listen", "127.0.0.1:0", "--db", "/no/such/folder/x.db"]));
    assert!(error.starts_with("kassa-sandbox: cannot use the database /no/such/folder/x.db: "), "{error}");
}

#[test]
fn missing_callback_ca_file_is_a_clear_error() {
    let error = refused(command().args(["--listen", "127.0.0.1:0", "--callback-ca", "/no/such/root.pem"]));
    assert!(error.starts_with("kassa-sandbox: callback_ca: /no/such/root.pem: "), "{error}");
}

#[test]
fn loopback_links_are_warned_of() {
    for (arguments, is_warned) in [
        (["--listen", "0.0.0.0:0"].as_slice(), true),
        (&["--listen", "0.0.0.0:0", "--public-url", "http://192.0.2.1:8400"], false),
        (&["--listen", "127.0.0.1:0"], false),
    ] {
        let running = Running::start(command().args(arguments).env("KASSA_SANDBOX_PASSWORD", "my own"));
        let (_, log) = running.stop();
        assert_eq!(log.contains("--public-url"), is_warned, "{arguments:?}: {log}");
    }
}

#[test]
fn public_url_with_default_password_is_rejected() {
    let error = refused(command().args(["--listen", "127.0.0.1:0", "--public-url", "https://x.example"]));
    assert!(error.starts_with("kassa-sandbox: public_url: ") && error.contains("KASSA_SANDBOX_PASSWORD"), "{error}");
}

#[test]
fn configured_password_and_token_are_not_printed() {
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0"]).env("KASSA_SANDBOX_PASSWORD", "planted-password");
    command.env("KASSA_SANDBOX_ADMIN_TOKEN", "planted-token");
    let running = Running::start(&mut command);
    assert!(!running.welcome.contains("planted-"));
    let authorization = basic("kassa", "planted-password");
    let url = format!("{}{CARD}", running.url());
    let answer = send("POST", &url, &[("authorization", &authorization)], b"{}");
    assert_eq!(answer.status, 400);
    assert!(!running.stop().1.contains("planted-password"));
}

#[test]
fn acknowledged_changes_survive_a_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = || {
        let mut command = command();
        command.args(["--listen", "127.0.0.1:0", "--callback-pauses", "1", "--db"]);
        Running::start(command.arg(folder.path().join("sandbox.db")))
    };
    let authorization = basic("kassa", "sandbox-password");
    let headers = [("authorization", authorization.as_str())];
    let merchant = Merchant::refusing();

    let mut running = start();
    for order_number in ["K-1", "K-2", "K-3"] {
        let body =
            card_body(order_number).with("pan", "\"4000000000002016\"").with("callbackUrl", &merchant.json_url());
        let answer = send("POST", &format!("{}{CARD}", running.url()), &headers, body.text().as_bytes());
        assert_eq!(answer.status, 200);
    }
    running.child.kill().expect("killed");
    running.child.wait().expect("it ends");

    merchant.accept();
    let running = start();
    let mut received = BTreeSet::new();
    while received.len() < 3 {
        received.insert(merchant.next_json()["orderNumber"].to_string());
    }
    assert_eq!(received, ["\"K-1\"", "\"K-2\"", "\"K-3\""].map(str::to_owned).into());
    let body = card_body("K-3").text();
    let again = send("POST", &format!("{}{CARD}", running.url()), &headers, body.as_bytes());
    assert_eq!(again.status, 409);
    assert!(running.stop().0);
}

#[test]
fn card_numbers_and_passwords_are_never_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0", "--callback-pauses", "1", "--db"]);
    command.arg(folder.path().join("sandbox.db"));
    command.env("RUST_LOG", "trace").env("KASSA_SANDBOX_PASSWORD", "planted-password");
    command.env("KASSA_SANDBOX_ADMIN_TOKEN", "planted-token");
    let running = Running::start(&mut command);
    pay_in_every_way(&running.url());
    for (token, status) in [("planted-token", 200), ("planted-token-of-a-stranger", 401)] {
        let headers = [("authorization", &*format!("Bearer {token}"))];
        assert_eq!(send("GET", &format!("{}/admin/ledger", running.url()), &headers, b"").status, status);
    }

    // While it runs, the write-ahead log is there to be searched, too.
    let mut written = read_all(folder.path());
    let (ended_well, log) = running.stop();
    assert!(ended_well);
    let resolved = read_all(folder.path());
    // By themselves three characters may stand in the write-ahead log's checksums by chance.
    assert!(!String::from_utf8_lossy(&resolved).contains("q7Z") && !log.contains("q7Z"), "the CVC is kept");
    written.extend(resolved);
    let database = String::from_utf8_lossy(&written);
    assert!(database.contains("411111******1111") && log.contains("/api/v1.1.0/payment"));
    for secret in [
        "4111111111111111",
        "4111 1111 1111 1111",
        "5105105105105100",
        "996555000101",
        "\"q7Z\"",
        "=q7Z",
        "planted-otp",
        "planted-password",
        "planted-token",
        &basic("kassa", "planted-password"),
    ] {
        assert!(!database.contains(secret), "{secret} is in the database");
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    for otp in ["123456", "101101"] {
        assert!(!database.contains(otp), "{otp} is in the database");
    }
}

/// Plants secrets in every field that has one: in requests that succeed and in requests that fail.
fn pay_in_every_way(url: &str) {
    let authorization = basic("kassa", "planted-password");
    let headers = [("authorization", authorization.as_str())];
    let call = |path: &str, body: String| send("POST", &format!("{url}{path}"), &headers, body.as_bytes());
    let card = card_body("S-1").with("cvc", "\"q7Z\"");
    let page = call(CARD, card.text()).data("ConfirmationUrl");
    submit(&page, &[("otp", "planted-otp")]);
    assert_eq!(submit(&page, &[("otp", "123456")]).status, 303);
    let unknown_card = card.with_text("orderNumber", "S-2").with("pan", "\"5105105105105100\"");
    assert_eq!(call(CARD, unknown_card.text()).status, 400);
    assert_eq!(call(MBANK_PAY, mbank_body("S-3").text()).status, 200);
    assert_eq!(call(MBANK_CONFIRM, confirm_body("S-3", "planted-otp").text()).status, 400);
    assert_eq!(call(MBANK_CONFIRM, confirm_body("S-3", "101101").text()).status, 200);
    let form = call(PAY_FORM, pay_form_body().text()).data("payFormUrl");
    let fields = [
        ("provider", "Cards"),
        ("pan", "4111 1111 1111 1111"),
        ("expiryMonth", "12"),
        ("expiryYear", "2099"),
        ("cvc", "q7Z"),
        ("name", "A"),
    ];
    assert_eq!(submit(&form, &fields).status, 303);
}

fn read_all(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).expect("a folder");
    files.flat_map(|file| fs::read(file.expect("a file").path()).expect("readable")).collect()
}
