//! The journal of a vector: a folder of its own, and the steps that look into it.

use std::{fs, path::Path};

use kassa::{Gateway, Journal, PaymentError, Recovered, Recovery, Unfinished};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    canonical::Canonical,
    inputs,
    operations::{Came, answer, came, shaped},
    vectors::text,
};

pub struct Folder {
    root: TempDir,
}

impl Folder {
    /// One where the vector has a journal.
    pub fn of(spec: &Value) -> Option<Self> {
        (spec["journal"] == true).then(|| Self { root: tempfile::tempdir().unwrap() })
    }

    fn path(&self) -> std::path::PathBuf {
        self.root.path().join("journal")
    }

    pub fn open(&self) -> Result<Journal, PaymentError> {
        Journal::open(self.path())
    }

    /// The steps on files; `None` where the name is none of theirs.
    pub fn step(&self, name: &str, input: &Value) -> Option<Came> {
        match name {
            "write_in_journal" => {
                let file = self.path().join(text(&input["path"]));
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text(&input["text"])).unwrap();
                Some(answer(Value::Null))
            }
            "lose_journal" => {
                fs::remove_dir_all(self.path()).unwrap();
                Some(answer(Value::Null))
            }
            "journal_text" => Some(answer(text_of(&self.path()))),
            _ => None,
        }
    }
}

/// Everything in the files below a folder.
fn text_of(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { text_of(&path) } else { fs::read_to_string(&path).unwrap() }).collect()
}

/// The steps of a gateway that need its journal alone.
pub const JOURNAL_CALLS: [&str; 4] = ["unfinished", "recover", "finish_entry", "entry"];

pub fn call(gateway: &Gateway, name: &str, input: &Value) -> Came {
    match name {
        "unfinished" => came(gateway.unfinished().and_then(Iterator::collect::<Result<Vec<Unfinished>, _>>)),
        "finish_entry" => shaped(pollster::block_on(gateway.finish(&text(&input["id"]))).map(|()| Value::Null)),
        "entry" => {
            let journal = gateway.journal().expect("a journal");
            came(journal.entry(&inputs::payment_ref(&input["payment"])))
        }
        "recover" => match gateway.recover(inputs::recovery_policy(input)) {
            Ok(recovery) => recovered(&recovery),
            Err(error) => shaped(Err(error)),
        },
        other => panic!("no call is named {other:?}"),
    }
}

/// Every end, and the error that ended it, if one did.
fn recovered(recovery: &Recovery) -> Came {
    let mut ends: Vec<Recovered> = Vec::new();
    let error = loop {
        match pollster::block_on(recovery.next()) {
            Ok(Some(recovered)) => ends.push(recovered),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    let printed = format!("{ends:?} {error:?}");
    let result = json!({"answer": {"recovered": ends.canonical(), "error": error.canonical()}});
    Came { result, printed }
}
