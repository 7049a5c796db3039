//! Texts that users keep: references, entries, addresses with a signed reference, dialects, journals. What a released version wrote, each
//! later one reads, with the same meaning (docs/versions.md).
//!
//! tests/stored has a folder for each version, written by that version: `KASSA_WRITE_STORED=1 cargo test --test stored` makes the present
//! one's where it is missing. What a released version wrote is never changed; scripts/release/check-promises sees to it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Once,
};

use kassa::{CallbackKey, Dialect, Journal, JournalEntry, PaymentEntry, PaymentRef, Unfinished};
use serde_json::{Value, json};

mod written;

/// No secret of anybody's.
pub const KEY: &str = "0123456789abcdef0123456789abcdef";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stored")
}

/// The folder of each version.
fn versions() -> Vec<PathBuf> {
    let now = root().join(env!("CARGO_PKG_VERSION"));
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        if env::var_os("KASSA_WRITE_STORED").is_some() && !now.exists() {
            written::write(&now);
        }
    });
    let folders = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let folders: Vec<_> = folders.collect();
    assert!(folders.contains(&now), "nothing is stored for this version: KASSA_WRITE_STORED=1 writes it");
    folders
}

fn json_of(path: &Path) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Reads each text of a file in every version's folder.
fn each(file: &str, read: impl Fn(&str) -> Value) {
    for folder in versions() {
        let texts = json_of(&folder.join(file));
        assert!(!texts.is_empty(), "{folder:?}");
        for stored in texts {
            let text = stored["text"].as_str().unwrap();
            assert_holds(&read(text), &stored["means"], &format!("{folder:?}: {text}"));
        }
    }
}

/// That a value says all that it said before. A later version may say more.
fn assert_holds(now: &Value, before: &Value, what: &str) {
    match before {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| assert_holds(&now[name], value, &format!("{what}: {name}")));
        }
        value => assert_eq!(now, value, "{what}"),
    }
}

#[test]
fn references_are_read() {
    each("references.json", |text| serde_json::to_value(text.parse::<PaymentRef>().unwrap()).unwrap());
}

/// A field that no stored reference has could be lost without a test that fails.
#[test]
fn each_field_of_a_reference_is_stored() {
    const FIELDS: [&str; 11] = [
        "kind",
        "order_number",
        "gateway_number",
        "provider",
        "transaction_id",
        "confirm_identifier",
        "amount",
        "currency",
        "is_claimed",
        "entry_id",
        "transaction_from_code",
    ];
    let stored: Vec<_> = versions().iter().flat_map(|folder| json_of(&folder.join("references.json"))).collect();
    for field in FIELDS {
        assert!(stored.iter().any(|stored| !stored["means"][field].is_null()), "{field}");
    }
    let names = format!("{:?}", PaymentRef::pay_form(1.into()));
    assert_eq!(names.matches(": ").count(), FIELDS.len(), "there is another field by now: {names}");
}

#[test]
fn entries_are_read() {
    each("entries.json", |text| serde_json::to_value(text.parse::<PaymentEntry>().unwrap()).unwrap());
}

#[test]
fn signed_addresses_are_read() {
    let key = CallbackKey::new(KEY).unwrap();
    each("callback_urls.json", |text| json!(key.read_callback_url(text).unwrap().to_string()));
    each("return_urls.json", |text| json!(key.read_return_url(text).unwrap().to_string()));
}

#[test]
fn dialects_are_read() {
    each("dialects.json", |text| serde_json::from_str(&Dialect::from_json(text).unwrap().to_json()).unwrap());
}

#[test]
fn journals_are_read() {
    for folder in versions() {
        let copy = tempfile::tempdir().unwrap();
        copied(&folder.join("journal"), copy.path());
        let journal = Journal::open(copy.path()).unwrap();
        let stored = json_of(&folder.join("journal.json"));
        for before in &stored {
            let payment: PaymentRef = before["payment"].as_str().unwrap().parse().unwrap();
            let entry =
                journal.entry(&payment).unwrap().unwrap_or_else(|| panic!("{folder:?}: {payment} is forgotten"));
            assert_holds(&means(&entry), before, &format!("{folder:?}: {payment}"));
        }
        let unfinished = journal.unfinished().map(Result::unwrap);
        let unfinished: Vec<_> = unfinished
            .map(|item| match item {
                Unfinished::Payment { entry } => entry.id,
                other => panic!("{folder:?}: {other:?}"),
            })
            .collect();
        // A rejected payment is put away by itself.
        let is_listed = |entry: &&Value| !entry["is_finished"].as_bool().unwrap() && entry["state"] != "Rejected";
        let listed: Vec<_> = stored.iter().filter(is_listed).map(|entry| entry["id"].as_str().unwrap()).collect();
        assert_eq!(unfinished.len(), listed.len(), "{folder:?}: {unfinished:?}");
        assert!(listed.iter().all(|id| unfinished.iter().any(|found| found == id)), "{folder:?}: {unfinished:?}");
    }
}

/// What is known of a payment, as it is stored beside the journal.
pub fn means(entry: &JournalEntry) -> Value {
    json!({
        "id": entry.id, "payment": entry.payment.to_string(), "state": format!("{:?}", entry.state), "is_finished": entry.is_finished,
        "reason": entry.reason, "page_url": entry.page_url, "qr_text": entry.qr_text, "note": entry.note,
    })
}

/// A copy, as a journal is written to. Months of what is finished become one that is never pruned.
fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let is_month = matches!(from.file_name().and_then(|name| name.to_str()), Some("done" | "paid"));
        let name = if is_month { "9999-12".into() } else { entry.file_name() };
        match entry.path().is_dir() {
            true => copied(&entry.path(), &to.join(name)),
            false => drop(fs::copy(entry.path(), to.join(name)).unwrap()),
        }
    }
}
