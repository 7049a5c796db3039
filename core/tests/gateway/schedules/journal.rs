//! Journal (write-ahead log) of a merchant's program: its actions and their results, line by line. It stands for the disk,
//! so a killed process leaves what it wrote before.

use std::{fmt, str::FromStr, sync::mpsc::Sender};

use kassa::PaymentRef;
use kassa_sandbox::EndpointName;

/// One line. Numbers hold no tabs, as the schedules make them themselves.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The reference that is stored before sending.
    Stored { payment: PaymentRef },
    /// A call is about to begin. Without one of the next two, it is not known how it ended.
    Began { endpoint: EndpointName, key: String },
    /// It ended in an error that said that nothing had happened.
    Clean { endpoint: EndpointName, key: String, detail: String },
    /// It ended in an answer.
    Answered { endpoint: EndpointName, key: String },
    /// A payment was said to be final.
    Said { key: String, charged: bool },
    /// The gateway's page for a payment, by its token.
    Page { token: String },
    /// A broken invariant.
    Broken { sentence: String },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored { payment } => write!(f, "stored\t{payment}"),
            Self::Began { endpoint, key } => write!(f, "began\t{endpoint}\t{key}"),
            Self::Clean { endpoint, key, detail } => {
                write!(f, "clean\t{endpoint}\t{key}\t{}", detail.replace(['\n', '\t'], " "))
            }
            Self::Answered { endpoint, key } => write!(f, "answered\t{endpoint}\t{key}"),
            Self::Said { key, charged } => write!(f, "said\t{key}\t{charged}"),
            Self::Page { token } => write!(f, "page\t{token}"),
            Self::Broken { sentence } => write!(f, "broken\t{}", sentence.replace(['\n', '\t'], " ")),
        }
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split('\t').collect();
        let endpoint_named = |name: &str| {
            let found = EndpointName::ALL.into_iter().find(|endpoint| endpoint.as_str() == name);
            found.ok_or_else(|| format!("no endpoint: {line}"))
        };
        Ok(match words[..] {
            ["stored", text] => {
                let read = text.parse().map_err(|error| format!("{text} is not read back: {error}"));
                Self::Stored { payment: read? }
            }
            ["began", name, key] => Self::Began { endpoint: endpoint_named(name)?, key: key.into() },
            ["clean", name, key, detail] => {
                Self::Clean { endpoint: endpoint_named(name)?, key: key.into(), detail: detail.into() }
            }
            ["answered", name, key] => Self::Answered { endpoint: endpoint_named(name)?, key: key.into() },
            ["said", key, charged] => Self::Said { key: key.into(), charged: charged == "true" },
            ["page", token] => Self::Page { token: token.into() },
            ["broken", sentence] => Self::Broken { sentence: sentence.into() },
            _ => return Err(format!("not a line of a journal: {line}")),
        })
    }
}

/// Where the lines go.
#[derive(Clone)]
pub enum Journal {
    /// To the thread that plays the schedule.
    Channel(Sender<Event>),
    /// To the parent of a process that will be killed, each line at once.
    Printed,
}

/// What the lines of a journal on the standard output begin with, beside what the test harness prints.
pub const MARK: &str = "journal\t";

impl Journal {
    pub fn write(&self, event: Event) {
        match self {
            Self::Channel(listener) => drop(listener.send(event)),
            Self::Printed => {
                use std::io::Write;
                let mut out = std::io::stdout().lock();
                // Writing fails where the parent has ended; then this child is about to end, too.
                let _ = writeln!(out, "{MARK}{event}").and_then(|()| out.flush());
            }
        }
    }
}
