//! API keys by the command line, on a database that a server works on.

use std::{fs, os::unix::fs::PermissionsExt};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{Caller, Place, ended, sandbox, unwritable};

#[test]
fn keys_are_managed_while_server_runs() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let running = place.start(&[]);
    let made = place.run(&["keys", "new", "--name", "the shop"]);
    let key = made.out.trim().to_owned();
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(key.starts_with("ak_") && made.out.lines().count() == 1, "a script can take it: {made:?}");

    let listed = place.run(&["keys", "list"]).out;
    let id = listed.split_whitespace().next().unwrap().to_owned();
    assert!(listed.contains(" good  the shop") && made.err.contains(&id), "{listed}");
    let secret = key.splitn(3, '_').nth(2).unwrap();
    assert!(!listed.contains(secret));
    let shop = Caller::new(&running, &key);
    assert_eq!(shop.call("GET", "/v1/events", &Value::Null).0, 200);

    assert_eq!(place.run(&["keys", "revoke", &id]).code, Some(0));
    assert!(place.run(&["keys", "list"]).out.contains(" revoked 2"));
    assert_eq!(shop.call("GET", "/v1/events", &Value::Null).0, 401, "from the next request on");
    let again = place.run(&["keys", "revoke", &id]);
    assert!(again.code == Some(1) && again.err.contains("already revoked"), "{again:?}");
    assert_eq!(place.run(&["keys", "revoke", "key_1"]).code, Some(1));

    let (status, log, _) = running.stop();
    assert!(status.success());
    assert!(!log.contains(secret));
    for name in ["kassa.db", "kassa.db-wal"] {
        let bytes = fs::read(place.path(name)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{name} holds the key");
    }
}

/// A key that nobody saw must not stay good.
#[test]
fn command_with_unwritable_output_fails() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let good = place.key();
    for arguments in [
        ["keys", "new", "--name", "lost"].as_slice(),
        &["keys", "list"],
        &["events", "replay"],
        &["check"],
        &["secret"],
        &["--help"],
        &["--version"],
    ] {
        for (place_to_write, stdout) in unwritable() {
            let ended = ended(place.command(arguments).args(["--config", "kassa.toml"]).stdout(stdout));
            assert_eq!(ended.code, Some(1), "{arguments:?} to {place_to_write}: {ended:?}");
            assert!(!ended.err.contains("panicked"), "{arguments:?} to {place_to_write}: {ended:?}");
            let is_told = ended.err.contains("could not be ") || arguments[0].starts_with("--");
            assert!(is_told, "{arguments:?} to {place_to_write}: {ended:?}");
        }
    }
    let listed = place.run(&["keys", "list"]).out;
    let lost: Vec<_> = listed.lines().filter(|line| line.ends_with("  lost")).collect();
    assert_eq!(lost.len(), unwritable().len(), "{listed}");
    assert!(lost.iter().all(|line| line.contains(" revoked 2")), "{listed}");
    let running = place.start(&[]);
    assert_eq!(Caller::new(&running, &good).call("GET", "/v1/events", &Value::Null).0, 200);
}

#[test]
fn staff_key_opens_staff_pages_unless_disabled() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let key = place.run(&["keys", "new", "--for", "staff", "--name", "Aizada"]).out.trim().to_owned();
    assert!(key.starts_with("sk_"), "{key}");
    let viewer = place.run(&["keys", "new", "--for", "staff", "--permission", "view", "--name", "Bakyt"]);
    assert!(viewer.out.starts_with("sk_"), "{viewer:?}");
    let listed = place.run(&["keys", "list"]).out;
    assert!(listed.contains("  staff, may decide  made ") && listed.contains("  staff, may view    made "), "{listed}");
    let shop = place.run(&["keys", "new", "--permission", "view", "--name", "shop"]);
    assert!(shop.code == Some(1) && shop.err.contains("permission applies only to staff keys"), "{shop:?}");
    for (arguments, status) in [(&[] as &[&str], 401), (&["--staff-enabled", "false"], 404)] {
        let running = place.start(arguments);
        assert_eq!(Caller::new(&running, &key).call("GET", "/v1/events", &Value::Null).0, 401);
        assert_eq!(running.get("/staff").0, status, "{arguments:?}");
        running.stop();
    }
}

#[test]
fn database_is_private_and_foreign_one_rejected() {
    let place = Place::with(&sandbox());
    assert!(place.key().starts_with("ak_"));
    assert_eq!(fs::metadata(place.path("kassa.db")).unwrap().permissions().mode() & 0o777, 0o600);
    let db = Connection::open(place.path("kassa.db")).unwrap();
    db.execute_batch("PRAGMA user_version = 99").unwrap();
    assert!(place.run(&["keys", "list"]).err.contains("the database is of version 99"));
    db.execute_batch("PRAGMA user_version = 0").unwrap();
    for arguments in [["keys", "list"].as_slice(), &[]] {
        let ended = place.run(arguments);
        assert!(ended.code == Some(1) && ended.err.contains("it is another program's"), "{ended:?}");
    }
}

#[test]
fn missing_database_is_created_by_new_key_only() {
    let sandbox = sandbox();
    let place = Place::with(&sandbox);
    let id = format!("key_{}", "0".repeat(32));
    for arguments in [["keys", "list"].as_slice(), &["keys", "revoke", &id], &["events", "replay"]] {
        let ended = place.run(arguments);
        assert!(ended.code == Some(1) && ended.err.contains("there is no database"), "{ended:?}");
        assert!(!place.path("kassa.db").exists());
    }
    let made = place.run(&["keys", "new", "--name", "shop"]);
    assert!(made.code == Some(0) && made.err.contains("a new one was created: kassa.db"), "{made:?}");
    let replayed = place.run(&["events", "replay"]);
    assert!(replayed.code == Some(0) && replayed.out.starts_with("0 checkouts"), "{replayed:?}");
    assert_eq!(place.run(&["keys", "new", "--name", " "]).code, Some(1), "a name is needed");
}
