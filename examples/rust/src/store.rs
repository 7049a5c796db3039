//! The payments this program has begun, in a file: written before anything is sent, marked when it is over.
//!
//! The file is replaced in one step (a temporary file, then a rename), and a lock keeps two programs from losing each
//! other's payments. It holds references, numbers and amounts, and no secret.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use kassa::PaymentRef;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

const VERSION: u32 = 1;
/// How many payments that are over are kept, for people who want to look.
const KEPT: usize = 100;

/// Where a payment stands, as far as this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// It may be anywhere between sent and paid: ask.
    Open,
    /// The money was taken.
    Charged,
    /// It ended without the money being taken.
    Rejected,
    /// The gateway never took it on: nothing happened.
    NotMade,
    /// It was made in a sandbox that kept it in memory, and ended with it.
    Gone,
}

/// One payment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// This program's own reference, which is in the query of the callback and return URLs.
    pub(crate) reference: String,
    /// The text form of the payment's reference: its numbers, and the amount that was asked for.
    pub(crate) payment: String,
    /// Which gateway it was made with.
    pub(crate) gateway: String,
    /// When it was begun, in seconds since 1970.
    pub(crate) begun: u64,
    /// Where it stands.
    pub(crate) state: State,
}

impl Entry {
    /// A payment that is about to be sent.
    pub(crate) fn new(reference: &str, payment: &PaymentRef, gateway: &str) -> Self {
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self {
            reference: reference.to_owned(),
            payment: payment.to_string(),
            gateway: gateway.to_owned(),
            begun,
            state: State::Open,
        }
    }

    /// What to ask about it with.
    pub(crate) fn payment_ref(&self) -> Result<PaymentRef, Failure> {
        self.payment
            .parse()
            .map_err(|_| Failure::State(format!("the state file holds {:?}, which is no PaymentRef", self.payment)))
    }
}

#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    payments: Vec<Entry>,
}

/// The state file.
#[derive(Clone)]
pub(crate) struct Store {
    path: PathBuf,
}

impl Store {
    /// The state file at a path; it need not exist yet.
    pub(crate) fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Every payment in it, oldest first.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Failure> {
        Ok(self.read()?.payments)
    }

    /// Puts a payment in. When this returns, it is on the disk.
    pub(crate) fn add(&self, entry: Entry) -> Result<(), Failure> {
        self.change(|payments| {
            payments.push(entry);
            let over = payments.iter().filter(|entry| entry.state != State::Open).count();
            let mut surplus = over.saturating_sub(KEPT);
            payments.retain(|entry| {
                let keep = entry.state == State::Open || surplus == 0;
                surplus -= usize::from(!keep);
                keep
            });
        })
    }

    /// Changes the payment with a reference; where there is none, nothing happens.
    pub(crate) fn update(&self, reference: &str, change: impl FnOnce(&mut Entry)) -> Result<(), Failure> {
        self.change(|payments| {
            if let Some(entry) = payments.iter_mut().rev().find(|entry| entry.reference == reference) {
                change(entry);
            }
        })
    }

    /// Gives a payment the number that its callback has told, unless another payment of the gateway has it:
    /// one payment pays for one order. True where it is given; where it is not, nothing is changed.
    pub(crate) fn claim(&self, reference: &str, gateway: &str, payment: &PaymentRef) -> Result<bool, Failure> {
        let mut free = true;
        self.change(|payments| {
            free = !payments.iter().any(|entry| {
                let is_another = entry.reference != reference && entry.gateway == gateway;
                is_another && entry.payment_ref().is_ok_and(|taken| have_one_number(&taken, payment))
            });
            let own = payments.iter_mut().rev().find(|entry| entry.reference == reference);
            if let Some(entry) = own.filter(|_| free) {
                entry.payment = payment.to_string();
            }
        })?;
        Ok(free)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> Result<(), Failure> {
        let lock_path = self.beside("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(|error| self.failed(&lock_path, &error))?;
        lock.lock().map_err(|error| self.failed(&lock_path, &error))?;
        let mut contents = self.read()?;
        change(&mut contents.payments);
        self.write(&contents)
    }

    fn read(&self) -> Result<Contents, Failure> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Contents { version: VERSION, payments: Vec::new() });
            }
            Err(error) => return Err(self.failed(&self.path, &error)),
        };
        let contents: Contents = serde_json::from_str(&text).map_err(|error| self.failed(&self.path, &error))?;
        if contents.version == VERSION {
            Ok(contents)
        } else {
            Err(self.failed(&self.path, &format!("it has version {}, not {VERSION}", contents.version)))
        }
    }

    fn write(&self, contents: &Contents) -> Result<(), Failure> {
        let temporary = self.beside("new");
        let written = serde_json::to_vec_pretty(contents).map_err(std::io::Error::from).and_then(|mut text| {
            text.push(b'\n');
            let mut file = File::create(&temporary)?;
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            self.sync_directory()
        });
        written.map_err(|error| self.failed(&self.path, &error))
    }

    /// Makes the rename itself outlive a power cut, where the system can.
    #[cfg(unix)]
    fn sync_directory(&self) -> std::io::Result<()> {
        let directory = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_directory(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(ending);
        name.into()
    }

    fn failed(&self, path: &Path, problem: &dyn std::fmt::Display) -> Failure {
        Failure::State(format!("the state file {} cannot be used: {problem}", path.display()))
    }
}

fn have_one_number(one: &PaymentRef, other: &PaymentRef) -> bool {
    let same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
    same(&one.order_number, &other.order_number) || same(&one.transaction_id, &other.transaction_id)
}
