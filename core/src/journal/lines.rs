//! The text of an entry: one line for each event, each with a checksum, append-only. The last line counts; a torn or
//! damaged line never makes a payment look more final than it is.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use form_urlencoded::Serializer;
use strum::{EnumString, IntoStaticStr};

use crate::{
    journal::entry::{JournalEntry, JournalState, name_of},
    payment_entry::{PaymentEntry, ref_text::decoded_pairs},
    payment_ref::PaymentRef,
};

/// The version of a line. A line of another version is never interpreted.
const PREFIX: &str = "kassa-journal1:";

const NAMES: [&str; 10] = ["at", "step", "by", "payment", "page", "qr", "code", "reason", "note", "check"];

/// An event of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Step {
    /// It is about to be sent.
    Sending,
    /// The gateway accepted it.
    Accepted,
    /// No trustworthy response arrived.
    Unanswered,
    /// Its confirmation is about to be sent.
    Confirming,
    /// The gateway accepted the confirmation.
    Confirmed,
    /// The confirmation did nothing: another one may be sent.
    NotConfirmed,
    /// The gateway reported it as charged.
    Charged,
    Rejected,
    Mismatch,
    /// The user finished it.
    Finished,
    /// A number is claimed for it, and the gateway is about to be queried.
    Claimed,
    /// In an owner file: the number belongs to this entry.
    Paid,
}

/// A line to write.
pub(super) struct Line<'a> {
    pub(super) at: SystemTime,
    pub(super) step: Step,
    /// The id of the confirming call: of several concurrent calls, the first in the file confirms.
    pub(super) by: Option<&'a str>,
    pub(super) entry: Option<&'a PaymentEntry>,
    pub(super) code: Option<&'a str>,
    /// The gateway's reason for a final status.
    pub(super) reason: Option<&'a str>,
    pub(super) note: Option<&'a str>,
}

impl<'a> Line<'a> {
    pub(super) fn of(step: Step, at: SystemTime) -> Self {
        Self { at, step, by: None, entry: None, code: None, reason: None, note: None }
    }

    pub(super) fn text(&self) -> String {
        let at = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let mut query = Serializer::new(String::new());
        query.append_pair("at", &at.to_string()).append_pair("step", self.step.into());
        let payment = self.entry.map(|entry| entry.payment.to_string());
        let fields = [
            ("by", self.by),
            ("payment", payment.as_deref()),
            ("page", self.entry.and_then(|entry| entry.page_url.as_deref())),
            ("qr", self.entry.and_then(|entry| entry.qr_text.as_deref())),
            ("code", self.code),
            ("reason", self.reason),
            ("note", self.note),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        let text = format!("{PREFIX}{}", query.finish());
        // Starts a new line, even after a line that was torn by a full disk.
        format!("\n{text}&check={:08x}\n", crc32fast::hash(text.as_bytes()))
    }
}

/// How long a rejected payment is polled: a gateway may report a charge later.
const POLLED_AFTER_REJECTION: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The longest interval between two queries about a rejected payment.
const LONGEST_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// When a payment was reported as rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AfterEnd {
    first: SystemTime,
    last: SystemTime,
}

impl AfterEnd {
    /// When to query again: after twice the time between the first and the last rejection. A wrong report is corrected soon, and a right
    /// one costs few queries.
    pub(crate) fn next(self, interval: Duration) -> SystemTime {
        let age = self.last.duration_since(self.first).unwrap_or_default();
        self.last + (2 * age).max(interval).min(LONGEST_INTERVAL)
    }

    fn is_polled(self, now: SystemTime) -> bool {
        now.duration_since(self.first).unwrap_or_default() < POLLED_AFTER_REJECTION
    }

    /// Whether one more rejection is recorded. The number of lines is limited, however often the gateway is queried.
    pub(super) fn is_worth_a_line(self, now: SystemTime) -> bool {
        let age = self.last.duration_since(self.first).unwrap_or_default();
        let since = now.duration_since(self.last).unwrap_or_default();
        self.is_polled(now) && since >= age.clamp(Duration::from_secs(1), LONGEST_INTERVAL)
    }
}

/// The content of an entry's file.
#[derive(Debug)]
pub(super) struct History {
    pub(super) entry: JournalEntry,
    /// The id of the call with a confirmation that may have been sent; empty if a damaged line may hide one.
    pub(super) confirming: Option<String>,
    /// The payment by each of the numbers that were claimed for it, the last one first.
    pub(super) claims: Vec<PaymentRef>,
    /// Set if it is rejected.
    pub(super) after_end: Option<AfterEnd>,
    /// A line could not be read.
    is_doubtful: bool,
}

impl History {
    /// # Errors
    /// Why the file cannot be read: its first line must be complete, because it identifies the payment.
    pub(super) fn read(id: &str, bytes: &[u8]) -> Result<Self, String> {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| *line != b"\n");
        let Some(first) = lines.next() else {
            return Err("is empty: its process died before anything was sent, or the file was damaged".to_owned());
        };
        let first = Fields::read(first)?;
        let payment = first.get("payment").and_then(|text| text.parse::<PaymentRef>().ok());
        let payment = payment.ok_or("names no payment that can be read")?;
        if name_of(&payment).as_deref() != Some(id) {
            return Err("is about another payment than its name".to_owned());
        }
        let entry = JournalEntry {
            id: id.to_owned(),
            payment,
            begun: first.at().ok_or("has no time")?,
            state: JournalState::Unknown,
            is_finished: false,
            reason: None,
            code: None,
            page_url: None,
            qr_text: None,
            note: None,
        };
        let mut history = Self { entry, confirming: None, claims: Vec::new(), after_end: None, is_doubtful: false };
        history.add(first);
        for line in lines {
            match Fields::read(line) {
                Ok(fields) => history.add(fields),
                Err(_) => history.doubt(),
            }
        }
        Ok(history)
    }

    /// Whether it is no longer listed and no longer polled.
    pub(super) fn is_done_with(&self, now: SystemTime) -> bool {
        match self.after_end {
            Some(after_end) => !after_end.is_polled(now),
            None => self.entry.is_finished,
        }
    }

    /// An unreadable line may have recorded anything.
    fn doubt(&mut self) {
        self.is_doubtful = true;
        if self.entry.state != JournalState::Charged {
            self.entry.state = JournalState::Unknown;
            self.after_end = None;
        }
        self.confirming.get_or_insert_default();
    }

    fn add(&mut self, mut fields: Fields) {
        let Some(step) = fields.step() else { return self.doubt() };
        let entry = &mut self.entry;
        // The first line has the request, and no later line changes it; later lines add the gateway's numbers.
        if let Some(payment) = fields.get("payment").and_then(|text| text.parse::<PaymentRef>().ok()) {
            // The charged number stays, whatever is claimed later.
            if !payment.is_claimed || entry.state != JournalState::Charged {
                entry.payment.learn_numbers(&payment);
            }
            if payment.is_claimed && !self.claims.contains(&entry.payment) {
                self.claims.insert(0, entry.payment.clone());
            }
        }
        for (place, name) in [
            (&mut entry.page_url, "page"),
            (&mut entry.qr_text, "qr"),
            (&mut entry.code, "code"),
            (&mut entry.note, "note"),
        ] {
            *place = fields.0.remove(name).or(place.take());
        }
        let (by, at) = (fields.0.remove("by").unwrap_or_default(), fields.at());
        match step {
            Step::Confirming if self.confirming.is_none() => self.confirming = Some(by),
            Step::NotConfirmed if self.confirming.as_ref() == Some(&by) => self.confirming = None,
            // A line of a confirmation that came too late.
            Step::Confirming | Step::NotConfirmed => return,
            Step::Finished => self.entry.is_finished = true,
            // The charge is not delivered yet.
            Step::Charged if self.entry.state != JournalState::Charged => self.entry.is_finished = false,
            _ => {}
        }
        if step.state().is_an_end() && self.entry.state != JournalState::Charged {
            self.entry.reason = fields.0.remove("reason");
        }
        self.entry.state = match (self.entry.state, step.state()) {
            // Absorbing: no later line takes a charge back.
            (JournalState::Charged, _) => JournalState::Charged,
            // The unreadable line may have recorded a charge.
            (_, JournalState::Rejected) if self.is_doubtful => JournalState::Unknown,
            (known, _) if matches!(step, Step::Finished | Step::Claimed | Step::Paid) => known,
            (_, state) => state,
        };
        self.after_end = match (self.entry.state, self.after_end, at) {
            (JournalState::Rejected, None, Some(at)) => Some(AfterEnd { first: at, last: at }),
            (JournalState::Rejected, Some(known), Some(at)) if step == Step::Rejected => {
                Some(AfterEnd { last: at, ..known })
            }
            (JournalState::Rejected, known, _) => known,
            _ => None,
        };
    }
}

impl Step {
    pub(super) fn state(self) -> JournalState {
        match self {
            Self::Sending | Self::Unanswered | Self::Confirming => JournalState::Unknown,
            // They do not change the state: see `History::add`.
            Self::Finished | Self::Claimed | Self::Paid => JournalState::Unknown,
            Self::Accepted | Self::Confirmed | Self::NotConfirmed => JournalState::Pending,
            Self::Charged => JournalState::Charged,
            Self::Rejected => JournalState::Rejected,
            Self::Mismatch => JournalState::Mismatch,
        }
    }
}

/// The entry that owns a number, by the first readable line of its owner file. A process that died while it wrote a line gave no answer.
pub(super) fn owner_of(file: &[u8]) -> Option<String> {
    let mut lines = file.split_inclusive(|byte| *byte == b'\n').filter_map(|line| Fields::read(line).ok());
    lines.find(|fields| fields.step() == Some(Step::Paid))?.0.remove("by")
}

/// The fields of a complete line.
struct Fields(BTreeMap<&'static str, String>);

impl Fields {
    fn read(line: &[u8]) -> Result<Self, String> {
        let line = line.strip_suffix(b"\n").ok_or("is not whole: a line was torn")?;
        let line = std::str::from_utf8(line).map_err(|_| "is not a text of a journal")?;
        let query = line.strip_prefix(PREFIX).ok_or("is of another version, or no file of a journal")?;
        let (before, check) = line.rsplit_once("&check=").ok_or("is not whole: a line has no checksum")?;
        if format!("{:08x}", crc32fast::hash(before.as_bytes())) != check {
            return Err("is damaged: the checksum of a line is another one".to_owned());
        }
        Ok(Self(decoded_pairs(query, &NAMES)?))
    }

    fn get(&self, name: &str) -> Option<&String> {
        self.0.get(name)
    }

    fn at(&self) -> Option<SystemTime> {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.get("at")?.parse().ok()?))
    }

    fn step(&self) -> Option<Step> {
        self.get("step")?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;

    fn id() -> String {
        name_of(&PaymentRef::mbank("a&b=я", 100)).unwrap()
    }

    fn file(steps: &[Step]) -> Vec<u8> {
        let entry = PaymentEntry::new(PaymentRef::mbank("a&b=я", 100)).with_page_url("https://pay.kg/?a=1&b=2");
        let line = |step: &Step| {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123);
            Line { entry: Some(&entry), note: Some("cart 17\nя"), by: Some("x"), ..Line::of(*step, at) }.text()
        };
        steps.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn what_was_written_last_counts() {
        for (steps, state, is_confirming) in [
            (&[Step::Sending][..], JournalState::Unknown, false),
            (&[Step::Sending, Step::Accepted], JournalState::Pending, false),
            (&[Step::Sending, Step::Unanswered], JournalState::Unknown, false),
            (&[Step::Sending, Step::Accepted, Step::Confirming], JournalState::Unknown, true),
            (&[Step::Sending, Step::Accepted, Step::Confirming, Step::NotConfirmed], JournalState::Pending, false),
            (&[Step::Sending, Step::Confirming, Step::Confirmed], JournalState::Pending, true),
            (&[Step::Sending, Step::Accepted, Step::Finished], JournalState::Pending, false),
            (&[Step::Sending, Step::Mismatch, Step::Charged, Step::Rejected], JournalState::Charged, false),
        ] {
            let history = History::read(&id(), &file(steps)).unwrap();
            assert_eq!((history.entry.state, history.confirming.is_some()), (state, is_confirming), "{steps:?}");
            assert_eq!(history.entry.payment.order_number.as_deref(), Some("a&b=я"));
            assert_eq!(history.entry.payment.amount, Some(Decimal::ONE_HUNDRED));
            assert_eq!(history.entry.note.as_deref(), Some("cart 17\nя"));
            assert_eq!(history.entry.page_url.as_deref(), Some("https://pay.kg/?a=1&b=2"));
        }
    }

    /// Whatever is cut off or turned over, the payment is still the same one, is not taken for final, and a confirmation
    /// that may have been sent still counts as one.
    #[test]
    fn damage_never_decides_a_payment() {
        let steps = [Step::Sending, Step::Accepted, Step::Confirming];
        let (whole, first) = (file(&steps), file(&steps[..1]).len());
        let read = |bytes: &[u8]| History::read(&id(), bytes);
        for end in 0..whole.len() {
            let history = read(&whole[..end]);
            assert_eq!(history.is_ok(), end >= first, "{end}");
            let has_ended = history.is_ok_and(|history| {
                !matches!(history.entry.state, JournalState::Unknown | JournalState::Pending)
                    || history.entry.payment.order_number.as_deref() != Some("a&b=я")
            });
            assert!(!has_ended, "{end}");
        }
        for bit in 0..whole.len() * 8 {
            let mut turned = whole.clone();
            turned[bit / 8] ^= 1 << (bit % 8);
            let Ok(history) = read(&turned) else { continue };
            // The line break before the first line, and the one behind the last, say nothing.
            assert!(bit / 8 >= first || bit / 8 == 0, "the first line says which payment it is: {bit}");
            assert_eq!(history.entry.state, JournalState::Unknown, "{bit}");
            assert!(history.confirming.is_some(), "{bit}");
        }
    }

    /// Half a line of a full disk, and what was written when there was room again.
    #[test]
    fn torn_line_hides_none_that_comes_after_it() {
        let mut bytes = file(&[Step::Sending]);
        bytes.extend(&file(&[Step::Accepted])[..40]);
        bytes.extend(file(&[Step::Charged]));
        assert_eq!(History::read(&id(), &bytes).unwrap().entry.state, JournalState::Charged);
        bytes.truncate(bytes.len() - file(&[Step::Charged]).len());
        bytes.extend(file(&[Step::Rejected]));
        assert_eq!(History::read(&id(), &bytes).unwrap().entry.state, JournalState::Unknown, "it may hide a charge");
    }

    /// No later line can change the request of an entry.
    #[test]
    fn later_lines_never_change_the_request() {
        let other = PaymentEntry::new(PaymentRef::mbank("a&b=я", 7).with_gateway_number("gw-1"));
        let mut bytes = file(&[Step::Sending]);
        let line = Line { entry: Some(&other), ..Line::of(Step::Accepted, SystemTime::UNIX_EPOCH) };
        bytes.extend(line.text().into_bytes());
        let payment = History::read(&id(), &bytes).unwrap().entry.payment;
        assert_eq!(payment, PaymentRef::mbank("a&b=я", 100).with_gateway_number("gw-1"));
        assert!(History::read("another-name", &bytes).is_err());
    }

    #[test]
    fn foreign_and_newer_files_are_rejected() {
        for text in ["", "\n", "hello\n", "kassa-journal2:at=1&step=sending&check=00000000\n", "\u{0}"] {
            assert!(History::read("id", text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
