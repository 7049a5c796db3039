//! `kassa-server check` against a real sandbox: each thing that can be wrong has a line that says what to do.

use kassa_sandbox::{Dialect, Sandbox, SandboxOptions};
use rusqlite::Connection;

use crate::support::{Ended, PASSWORD, Place, by_notepad, permit, sandbox, settings_for};

fn assert_says(ended: &Ended, about: &str, state: &str, text: &str) {
    let line = ended.line(about);
    assert!(line.starts_with(state) && line.contains(text), "not {state} {text}: {line}");
    assert!(!ended.out.contains(PASSWORD), "{}", ended.out);
}

#[test]
fn check_reports_valid_setup_and_creates_nothing() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_says(&ended, "gateway", "ok", "reached, credentials accepted, understood");
    assert_says(&ended, "database", "ok", "the first start creates it");
    assert_says(&ended, "keys", "warning", "kassa-server keys new");
    assert_says(&ended, "events", "warning", "set events.url");
    assert_says(&ended, "public_url", "warning", "only programs on this machine can reach it");
    assert!(ended.out.contains("gateway.password = (hidden)  (kassa.toml:8)"), "{}", ended.out);
    assert!(!place.path("kassa.db").exists());

    let key = place.run(&["keys", "new", "--name", "shop"]);
    assert_eq!(key.code, Some(0), "{key:?}");
    let ended = place.run(&["check"]);
    assert_says(&ended, "database", "ok", "has this server's version");
    assert_says(&ended, "keys", "ok", "1 good, 0 revoked");
    permit(&place.path("kassa.db"), 0o644);
    assert!(place.run(&["check"]).out.contains("warning  database    every user of this machine can read"));
}

#[test]
fn check_names_failing_credentials_or_dialect() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    place.write("kassa.toml", &settings_for(sandbox.url()).replace(PASSWORD, "wrong"));
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1));
    assert_says(&ended, "gateway", "wrong", "does not accept the credentials (HTTP 401): correct gateway.login");

    let other = SandboxOptions { password: PASSWORD.to_owned(), acts_as: Dialect::Other, ..SandboxOptions::default() };
    let other = Sandbox::start(other).unwrap();
    place.write("kassa.toml", &settings_for(other.url()));
    let ended = place.run(&["check"]);
    let line = ended.line("gateway");
    assert!(!line.starts_with("ok") && line.contains("gateway.dialect") && line.contains("It said: "), "{line}");
    let known = settings_for(other.url()).replace("sandbox-dialect", "sandbox-other-dialect");
    place.write("kassa.toml", &known);
    assert_says(&place.run(&["check"]), "gateway", "ok", "understood");

    // Nobody listens there.
    place.write("kassa.toml", &settings_for("http://127.0.0.1:1"));
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1));
    assert_says(&ended, "gateway", "wrong", "not reached: ");
}

/// The byte order mark and the line end are no part of the password.
#[test]
fn password_file_of_an_editor_is_trimmed() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let settings = settings_for(sandbox.url());
    let password = format!("password = '{PASSWORD}'");
    place.write("kassa.toml", &settings.replace(&password, "password_file = 'password.txt'"));
    let [by_notepad, _] = by_notepad(PASSWORD);
    for content in [format!("{PASSWORD}\n").into_bytes(), by_notepad] {
        place.write_bytes("password.txt", &content);
        let ended = place.run(&["check"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert_says(&ended, "gateway", "ok", "reached, credentials accepted, understood");
    }
}

/// Money would be taken on a page, and nobody would hear of it.
#[test]
fn check_rejects_dialect_without_pay_form_proof() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let ended = place.run(&["check"]);
    assert!(!ended.out.contains("pay_form") && !ended.out.contains("gateway.dialect."), "{}", ended.out);
    let without: String = settings_for(sandbox.url())
        .lines()
        .filter(|line| !line.starts_with("dialect"))
        .map(|line| format!("{line}\n"))
        .collect();
    place.write("kassa.toml", &without);
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1));
    assert_says(&ended, "pay_form", "wrong", "gateway.dialect.qr_numbers is not set");
    assert_says(&ended, "pay_form", "wrong", "checkouts offer pay_form only where the shop names it");
    let places =
        ["qr_amount_unit", "endpoints.qr_data.qr_payload", "endpoints.qr_data.transaction_id", "mbank_identifier"];
    for place in places {
        let warning = format!("warning  settings    gateway.dialect.{place} is not set");
        assert!(ended.out.contains(&warning), "{warning}: {}", ended.out);
    }

    let by_name = settings_for(sandbox.url()).lines().fold(String::new(), |text, line| {
        text + if line.starts_with("dialect") { "dialect = 'finipay'" } else { line } + "\n"
    });
    place.write("kassa.toml", &by_name);
    let ended = place.run(&["check"]);
    assert!(ended.out.contains("gateway.dialect = finipay"), "{}", ended.out);
    assert!(ended.out.contains("gateway.dialect.qr_amount_unit is not set"), "{}", ended.out);
    assert!(
        !ended.out.contains("gateway.dialect.endpoints") && !ended.out.contains("mbank_identifier"),
        "{}",
        ended.out
    );
}

#[test]
fn database_that_cannot_be_used_stays_as_it_is() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let path = place.path("kassa.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA user_version = 99").unwrap();
    let ended = place.run(&["check"]);
    assert_eq!(ended.code, Some(1));
    assert_says(&ended, "database", "wrong", "the database is of version 99");
    db.execute_batch("PRAGMA user_version = 0; CREATE TABLE recipes (id INTEGER)").unwrap();
    assert_says(&place.run(&["check"]), "database", "wrong", "another program's database");
    place.write("kassa.toml", &settings_for(sandbox.url()).replace("kassa.db", "no/such/kassa.db"));
    assert_says(&place.run(&["check"]), "database", "wrong", "the folder no/such does not exist");
}

#[test]
fn shop_must_be_found() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let secret = place.run(&["secret"]).out;
    let events = |url: &str| {
        let events = format!("[events]\nurl = '{url}'\nsecret = '{}'\n", secret.trim());
        place.write("kassa.toml", &format!("{}{events}", settings_for(sandbox.url())));
        place.run(&["check"])
    };
    assert_says(&events("http://localhost:9/hook"), "events", "ok", "localhost is found");
    let ended = events("https://shop.invalid/hook");
    assert_eq!(ended.code, Some(1));
    assert_says(&ended, "events", "wrong", "shop.invalid is not found");
    assert!(!ended.out.contains(secret.trim()), "{}", ended.out);
}

#[test]
fn shop_that_is_not_told_who_paid_is_warned_of() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let check = |kinds: &str| {
        place.write("kassa.toml", &format!("{}[events]\nkinds = {kinds}\n", settings_for(sandbox.url())));
        place.run(&["check"])
    };
    let warns = |ended: &Ended| ended.out.contains("warning  settings    events.kinds does not have checkout.paid");
    let ended = check("['payment.stuck']");
    assert!(warns(&ended) && ended.code == Some(0), "{}", ended.out);
    assert!(!warns(&check("['checkout.paid', 'payment.stuck']")));
    let ended = check("'checkout.payd'");
    assert_eq!(ended.code, Some(1));
    assert_says(&ended, "settings", "wrong", "checkout.payd is none; there are checkout.paid, ");
}
