//! A database file outlives the sandbox that wrote it.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    time::Duration,
};

use kassa_sandbox::{Database, Sandbox, SandboxError, SandboxOptions};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    browser::Browser,
    common::{CARD, MBANK_PAY, card_body, get_status, mbank_body, post, start_with, submit, try_send, wait_until},
    merchant::Merchant,
};

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sandbox.db");
    (folder, path)
}

fn start_on(path: &Path) -> Sandbox {
    start_with(|options| options.database = Database::File(path.to_owned()))
}

fn version_of(path: &Path) -> i64 {
    let connection = Connection::open(path).expect("a database");
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
}

#[test]
fn payments_survive() {
    let (_folder, path) = file();
    let first = start_on(&path);
    let url = post(&first, CARD, &card_body("K-1")).data("ConfirmationUrl");
    submit(&url, &[("otp", "0")]);
    post(&first, MBANK_PAY, &mbank_body("K-2"));
    let before = first.payments();
    let old_url = first.url().to_owned();
    first.stop();

    let second = start_on(&path);
    assert_eq!(second.payments(), before);
    assert_eq!(second.requests().len(), 2);
    // The page is still open, and the attempt that was spent stays spent.
    let moved = url.replace(&old_url, second.url());
    assert!(submit(&moved, &[("otp", "0")]).body.contains("Attempts left: 1"));
    assert_eq!(submit(&moved, &[("otp", "123456")]).status, 303);
    assert_eq!(get_status(&second, "K-1", "Cards").data("status"), "CHARGE");
    assert_eq!(post(&second, CARD, &card_body("K-1")).status, 409);
}

/// A number that another process reads in the file of a running sandbox.
fn count(path: &Path, sql: &str) -> i64 {
    let connection = Connection::open(path).expect("a database");
    connection.query_row(sql, (), |row| row.get(0)).expect("a number")
}

#[test]
fn request_log_is_written_in_the_background() {
    let (_folder, path) = file();
    let sandbox = start_on(&path);
    post(&sandbox, MBANK_PAY, &mbank_body("K-1"));
    assert_eq!(get_status(&sandbox, "K-1", "MBank").status, 200);
    wait_until("both are in the file", || count(&path, "SELECT COUNT(*) FROM exchanges") == 2);
}

#[test]
fn text_index_is_filled_after_a_search() {
    let (_folder, path) = file();
    let sandbox = start_on(&path);
    (0..3).for_each(|number| drop(post(&sandbox, MBANK_PAY, &mbank_body(&format!("K-{number}")))));
    let mut browser = Browser::logged_in(&sandbox);
    let mut found = |text: &str, count: &str| {
        let page = browser.get(&format!("/dashboard?q={text}")).body;
        assert!(page.contains(&format!(">{count} matching payment")), "{page}");
    };
    let indexed = || count(&path, "SELECT upto FROM payments_text_upto");
    found("K-", "3");
    assert_eq!(indexed(), 0, "two characters are too few for it");
    found("K-1", "1");
    wait_until("it is filled", || indexed() == 3);
    found("K-1", "1");
}

#[test]
fn undelivered_callback_is_resumed_after_restart() {
    let (_folder, path) = file();
    let merchant = Merchant::refusing();
    let first = start_on(&path);
    let body = card_body("U-1").with("pan", "\"4000000000002016\"").with("callbackUrl", &merchant.json_url());
    post(&first, CARD, &body);
    wait_until("an attempt failed", || !first.callbacks().is_empty());
    first.stop();

    merchant.accept();
    let second = start_on(&path);
    assert_eq!(merchant.next_json()["orderNumber"], json!("U-1"));
    wait_until("the delivery is recorded", || {
        second.callbacks().last().is_some_and(|attempt| attempt.http_status == Some(200))
    });
    let numbers: Vec<_> = second.callbacks().iter().map(|attempt| attempt.attempt).collect();
    let expected: Vec<_> = (1..).take(numbers.len()).collect();
    assert_eq!(numbers, expected, "the count goes on, too");
}

#[test]
fn stopping_does_not_wait_for_a_long_pause() {
    let sandbox = start_with(|options| options.callback_pauses = vec![Duration::from_secs(3600)]);
    let body = card_body("P-1").with("pan", "\"4000000000002016\"");
    post(&sandbox, CARD, &body);
    wait_until("an attempt failed", || !sandbox.callbacks().is_empty());
    sandbox.stop();
}

#[test]
fn stopped_sandbox_no_longer_listens() {
    let sandbox = start_with(|_| {});
    let url = format!("{}/admin/switches", sandbox.url());
    let authorization = format!("Bearer {}", sandbox.admin_token());
    let ask = || try_send("GET", &url, &[("authorization", &authorization)], b"");
    assert_eq!(ask().expect("an answer").status, 200);
    sandbox.stop();
    // The port is anybody's again, but only this sandbox knew the token.
    assert!(!ask().is_ok_and(|answer| answer.status == 200), "it still answers");
}

#[test]
fn first_version_database_is_usable() {
    let (_folder, path) = file();
    let connection = Connection::open(&path).expect("a database");
    connection.execute_batch(include_str!("../../src/store/migration_1.sql")).expect("the first version");
    connection
        .execute_batch(
            "INSERT INTO exchanges (at, endpoint, order_number, http_status)
                VALUES (1000, '/api/v1.1.0/payment', 'V-1', 409);
             INSERT INTO payments (kind, order_number, gateway_number, provider, amount, currency, description,
                confirmation_page, status, otp_attempts_left, created_at)
                VALUES ('card', 'V-1', 'G-1', 'Cards', '100.10', 'KGS', '', 0, 'CHARGE', 3, 1000);
             INSERT INTO callbacks (payment_id, target, body, attempts)
                VALUES (1, 'http://127.0.0.1:1/', '{\"status\":\"CHARGE\"}', 1);
             INSERT INTO callback_attempts (callback_id, attempt, at, http_status) VALUES (1, 1, 1000, 200);",
        )
        .expect("written");
    connection.pragma_update(None, "user_version", 1).expect("written");
    drop(connection);
    let sandbox = start_on(&path);
    let request = sandbox.requests().remove(0);
    assert_eq!((request.order_number.as_deref(), request.http_status, request.fault), (Some("V-1"), Some(409), None));
    let attempt = sandbox.callbacks().remove(0);
    assert_eq!((attempt.order_number.as_str(), attempt.http_status, attempt.fault), ("V-1", Some(200), None));
    assert_eq!(get_status(&sandbox, "V-1", "Cards").data("status"), "CHARGE");
    assert_eq!(post(&sandbox, CARD, &card_body("V-2")).status, 200);
    drop(sandbox);
    assert_eq!(version_of(&path), 1);
}

#[test]
fn new_database_has_the_current_schema() {
    let (_folder, path) = file();
    Connection::open(&path).and_then(|connection| connection.execute_batch("VACUUM")).expect("an empty database");
    assert_eq!(version_of(&path), 0);
    for start in 1..=2 {
        let sandbox = start_on(&path);
        assert_eq!(post(&sandbox, CARD, &card_body(&format!("N-{start}"))).status, 200);
        drop(sandbox);
        assert_eq!(version_of(&path), 1);
    }
}

#[test]
fn newer_file_is_rejected_untouched() {
    for newer in [2, 99] {
        let (_folder, path) = file();
        start_on(&path).stop();
        let connection = Connection::open(&path).expect("a database");
        connection.pragma_update(None, "user_version", newer).expect("written");
        drop(connection);
        let options = SandboxOptions { database: Database::File(path.clone()), ..SandboxOptions::default() };
        let error = Sandbox::start(options).err().expect("refused");
        let is_clear = matches!(error, SandboxError::NewerDatabase { found, supported: 1, .. } if found == newer);
        assert!(is_clear, "{error}");
        assert_eq!(version_of(&path), newer);
    }
}

#[test]
fn unusable_database_is_a_clear_error() {
    let (folder, path) = file();
    fs::write(&path, "This is a text file and no database, as long as it may be.".repeat(40)).expect("written");
    for path in [path, folder.path().to_owned(), folder.path().join("no/such/folder.db")] {
        let options = SandboxOptions { database: Database::File(path.clone()), ..SandboxOptions::default() };
        let error = Sandbox::start(options).err().expect("refused").to_string();
        assert!(error.starts_with("cannot use the database ") && error.contains(&*path.to_string_lossy()), "{error}");
    }
}

#[test]
fn taken_port_and_a_bad_option_are_clear_errors() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = taken.local_addr().expect("bound");
    let error = Sandbox::start(SandboxOptions { listen, ..SandboxOptions::default() }).err().expect("refused");
    assert!(error.to_string().starts_with(&format!("cannot listen on {listen}: ")));

    let bad_options = [
        SandboxOptions { login: "a:b".to_owned(), ..SandboxOptions::default() },
        SandboxOptions { login: String::new(), ..SandboxOptions::default() },
        SandboxOptions { password: String::new(), ..SandboxOptions::default() },
        SandboxOptions { public_url: Some("tunnel.example".to_owned()), ..SandboxOptions::default() },
        SandboxOptions { public_url: Some("https://a.example/?b".to_owned()), ..SandboxOptions::default() },
    ];
    for options in bad_options {
        let error = Sandbox::start(options).err();
        assert!(matches!(error, Some(SandboxError::Option { .. })), "{error:?}");
    }
}

#[tokio::test]
async fn sandbox_runs_inside_another_runtime() {
    let sandbox = start_with(|_| {});
    assert!(sandbox.payments().is_empty());
    drop(sandbox);
}
