//! The run: reads in batches, judges them on every processor, and gathers the results in the order of the recording.
//!
//! A recording is read twice: first for the payments that it shows being created, then to judge. So the memory that a run needs grows
//! with the payments and the changes, not with the recording.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
    thread,
};

use kassa::{Dialect, PaymentRef};
use thiserror::Error;

use super::{
    judging::{Exchange, Judged, Subject},
    known::{self, KnownPayments},
    recording::{self, RecordingError},
    report::{NOT_JUDGED, NotJudged, RejudgeReport, Verdict, VerdictChange, class, is_charge},
    stored,
};
use crate::storage::staff::StoredReply;

/// Bytes of a batch of lines.
const BATCH: usize = 256 * 1024;

/// Why a run ended without a result.
#[derive(Debug, Error)]
pub enum RejudgeError {
    /// The recording, or the verdicts to compare with, cannot be read.
    #[error("{name} {problem}")]
    Unreadable {
        /// The name of the file.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The database cannot be read.
    #[error("{0}")]
    Database(String),
    /// The verdicts could not be written.
    #[error("the verdicts could not be written: {0}")]
    Unwritten(io::Error),
}

fn unreadable(path: &Path, problem: impl ToString) -> RejudgeError {
    RejudgeError::Unreadable { name: path.display().to_string(), problem: problem.to_string() }
}

/// The next page of stored responses; an empty one at the end.
pub type RepliesPage<'a> = &'a mut (dyn FnMut() -> Result<Vec<StoredReply>, String> + Send);

/// Verdicts of an earlier run, to compare with.
#[derive(Default)]
pub struct Verdicts(HashMap<(Option<String>, u64), Verdict>);

impl Verdicts {
    /// Reads a file that a run has written.
    ///
    /// # Errors
    /// [`RejudgeError::Unreadable`] with the line that is not a verdict.
    pub fn read(path: &Path) -> Result<Self, RejudgeError> {
        let file = File::open(path).map_err(|problem| unreadable(path, format!("cannot be read: {problem}")))?;
        let mut verdicts = HashMap::new();
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(|problem| unreadable(path, format!("cannot be read: {problem}")))?;
            let verdict: Verdict = serde_json::from_str(&line)
                .map_err(|problem| unreadable(path, format!("has no verdict in line {number}: {problem}")))?;
            verdicts.insert((verdict.payment.clone(), verdict.exchange), verdict);
        }
        Ok(Self(verdicts))
    }
}

/// A run: the dialects, and the verdicts to compare with.
pub struct Rejudge<'a> {
    dialect: Dialect,
    against: Option<Dialect>,
    earlier: Option<Verdicts>,
    written: Option<&'a mut (dyn Write + Send)>,
}

impl<'a> Rejudge<'a> {
    /// Judges by a dialect.
    pub fn by(dialect: Dialect) -> Self {
        Self { dialect, against: None, earlier: None, written: None }
    }

    /// Compares with another dialect, which gives the verdicts *now*.
    #[must_use]
    pub fn against(self, other: Dialect) -> Self {
        Self { against: Some(other), ..self }
    }

    /// Compares with the verdicts of an earlier run, such as one of another version of Kassa.
    #[must_use]
    pub fn compared_with(self, earlier: Verdicts) -> Self {
        Self { earlier: Some(earlier), ..self }
    }

    /// Writes the verdicts *now*, one line each.
    #[must_use]
    pub fn written_to(self, file: &'a mut (dyn Write + Send)) -> Self {
        Self { written: Some(file), ..self }
    }

    /// Judges a recording.
    ///
    /// # Errors
    /// The file cannot be read, or is not a recording; the verdicts cannot be written.
    pub fn recording(self, path: &Path) -> Result<RejudgeReport, RejudgeError> {
        let known = self.payments_of(path)?;
        self.judge(&known, &mut |give| each_batch(path, give))
    }

    /// Judges the responses that a server stored.
    ///
    /// # Errors
    /// The database cannot be read; the verdicts cannot be written.
    pub fn replies(self, page: RepliesPage<'_>) -> Result<RejudgeReport, RejudgeError> {
        self.judge(&[], &mut |give| {
            loop {
                let replies = page().map_err(RejudgeError::Database)?;
                if replies.is_empty() {
                    return Ok(());
                }
                give(Batch::Replies(replies));
            }
        })
    }

    fn dialects(&self) -> Vec<Dialect> {
        [Some(&self.dialect), self.against.as_ref()].into_iter().flatten().cloned().collect()
    }

    /// The payments that a recording shows being created, by each dialect.
    fn payments_of(&self, path: &Path) -> Result<Vec<KnownPayments>, RejudgeError> {
        let dialects = self.dialects();
        let mut known: Vec<KnownPayments> = dialects.iter().map(|_| KnownPayments::default()).collect();
        let mut confirmations = Vec::new();
        let of_batch = |batch: Batch| {
            let exchanges = batch.exchanges().filter_map(|(_, exchange)| exchange.ok());
            exchanges.filter_map(|exchange| Created::of(exchange, &dialects)).collect::<Vec<_>>()
        };
        in_parallel(&mut |give| each_batch(path, give), of_batch, &mut |created| {
            for one in created {
                match one {
                    Created::Payment(payments) => known.iter_mut().zip(&payments).for_each(|(all, one)| all.add(one)),
                    Created::Confirmation(exchange) => confirmations.push(exchange),
                }
            }
            Ok(())
        })?;
        for exchange in &confirmations {
            let Subject::Response(response) = &exchange.subject else { continue };
            for (known, dialect) in known.iter_mut().zip(&dialects) {
                let Some(payment) = known.get(response.number()).cloned() else { continue };
                known.add(&known::learned(response, dialect, &payment));
            }
        }
        Ok(known)
    }

    fn judge(mut self, known: &[KnownPayments], batches: Batches<'_>) -> Result<RejudgeReport, RejudgeError> {
        let mut all = RejudgeReport::default();
        let (mut written, earlier, dialects) = (self.written.take(), self.earlier.take(), self.dialects());
        let judging = Judging { known, dialects: &dialects, writes: written.is_some(), earlier: earlier.as_ref() };
        let mut seen = Vec::new();
        in_parallel(batches, |batch| judging.batch(batch), &mut |judged: JudgedBatch| {
            if let Some(file) = &mut written {
                file.write_all(judged.lines.as_bytes()).map_err(RejudgeError::Unwritten)?;
            }
            all.append(judged.report);
            seen.extend(judged.seen);
            Ok(())
        })?;
        if let Some(file) = &mut written {
            file.flush().map_err(RejudgeError::Unwritten)?;
        }
        if let Some(Verdicts(mut earlier)) = earlier {
            seen.iter().for_each(|key| drop(earlier.remove(key)));
            // A verdict that is no longer made must not look unchanged.
            let mut gone: Vec<Verdict> = earlier.into_values().collect();
            gone.sort_by(|one, other| (&one.payment, one.exchange).cmp(&(&other.payment, other.exchange)));
            all.changes.extend(gone.into_iter().map(|before| change(before, NOT_JUDGED, None, None)));
        }
        all.finish();
        Ok(all)
    }
}

/// A payment that an exchange shows, or the confirmation of one.
enum Created {
    Payment(Vec<PaymentRef>),
    Confirmation(Exchange),
}

impl Created {
    fn of(exchange: Exchange, dialects: &[Dialect]) -> Option<Self> {
        match &exchange.subject {
            Subject::Response(response) if known::is_confirmation(response) => Some(Self::Confirmation(exchange)),
            _ => known::created(&exchange, dialects).map(Self::Payment),
        }
    }
}

/// A source of the input's batches, in order.
type Batches<'a> = &'a mut (dyn FnMut(&mut dyn FnMut(Batch)) -> Result<(), RejudgeError> + Send);

/// The input that is judged at once.
enum Batch {
    /// Lines, from this number on.
    Lines(u64, Vec<u8>),
    Replies(Vec<StoredReply>),
}

impl Batch {
    fn exchanges(self) -> Box<dyn Iterator<Item = (ExchangeLocation, Result<Exchange, NotJudged>)>> {
        match self {
            Self::Lines(first, bytes) => {
                let mut exchanges = Vec::new();
                for (number, line) in (first..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
                    let line = line.trim_ascii();
                    if line.is_empty() {
                        continue;
                    }
                    let place = ExchangeLocation { line: Some(number), payment: None, exchange: None };
                    let read =
                        recording::read(line).map_err(|(exchange, why)| place.clone().with(exchange).because(why));
                    exchanges.push((place, read));
                }
                Box::new(exchanges.into_iter())
            }
            Self::Replies(replies) => Box::new(replies.into_iter().map(|reply| {
                let (payment, exchange) = (Some(reply.payment_id.clone()), Some(reply.number));
                let place = ExchangeLocation { line: None, payment, exchange };
                let read = stored::read(reply).map_err(|why| place.clone().because(why));
                (place, read)
            })),
        }
    }
}

/// The place of an exchange.
#[derive(Clone)]
struct ExchangeLocation {
    line: Option<u64>,
    payment: Option<String>,
    exchange: Option<u64>,
}

impl ExchangeLocation {
    fn with(self, exchange: Option<u64>) -> Self {
        Self { exchange, ..self }
    }

    fn because(self, why: String) -> NotJudged {
        NotJudged { line: self.line, payment: self.payment, exchange: self.exchange, why }
    }
}

/// The common data of all batches.
struct Judging<'a> {
    known: &'a [KnownPayments],
    dialects: &'a [Dialect],
    writes: bool,
    earlier: Option<&'a Verdicts>,
}

/// The result of a batch.
#[derive(Default)]
struct JudgedBatch {
    report: RejudgeReport,
    /// The verdicts now, as lines.
    lines: String,
    /// The exchanges with a verdict in the file to compare with.
    seen: Vec<(Option<String>, u64)>,
}

impl Judging<'_> {
    fn batch(&self, batch: Batch) -> JudgedBatch {
        let mut all = JudgedBatch::default();
        for (place, exchange) in batch.exchanges() {
            all.report.read += 1;
            let result = exchange.and_then(|exchange| {
                let place = place.with(Some(exchange.exchange));
                self.exchange(&exchange, &mut all).map_err(|why| place.because(why))
            });
            all.report.not_judged.extend(result.err());
        }
        all
    }

    fn exchange(&self, exchange: &Exchange, all: &mut JudgedBatch) -> Result<(), String> {
        let number = exchange.number();
        let by = |index: usize| {
            let dialect = self.dialects.get(index)?;
            let payment = self.known.get(index).and_then(|known| known.get(number.as_deref()));
            Some(exchange.judge(dialect, payment))
        };
        let first = by(0).ok_or("there is no dialect")??;
        let second = by(1).transpose()?;
        let now = second.as_ref().unwrap_or(&first);
        let verdict = |judged: &Judged| Verdict {
            payment: exchange.payment_id.clone(),
            exchange: exchange.exchange,
            at: exchange.at.clone(),
            endpoint: exchange.endpoint().to_owned(),
            number: number.clone(),
            verdict: judged.verdict.clone(),
        };
        let report = &mut all.report;
        report.judged += 1;
        report.compared_with_nothing += u64::from(!now.is_compared);
        count(&mut report.after, &now.verdict);
        if self.writes {
            let line = serde_json::to_string(&verdict(now)).map_err(|problem| problem.to_string())?;
            let _ = writeln!(all.lines, "{line}");
        }
        let why = |index: usize, judged: &Judged| self.dialects.get(index).map(|dialect| exchange.why(dialect, judged));
        if let Some(second) = &second {
            count(&mut report.before, &first.verdict);
            if first.verdict != second.verdict {
                let (before, after) = (why(0, &first), why(1, second));
                report.changes.push(change(verdict(&first), &second.verdict, before, after));
            }
        } else if let Some(Verdicts(earlier)) = self.earlier {
            let key = (exchange.payment_id.clone(), exchange.exchange);
            let before = earlier.get(&key).cloned();
            let before = before.unwrap_or_else(|| Verdict { verdict: NOT_JUDGED.to_owned(), ..verdict(&first) });
            count(&mut report.before, &before.verdict);
            if before.verdict != first.verdict {
                report.changes.push(change(before, &first.verdict, None, why(0, &first)));
            }
            all.seen.push(key);
        }
        Ok(())
    }
}

fn count(counts: &mut BTreeMap<String, u64>, verdict: &str) {
    match counts.get_mut(class(verdict)) {
        Some(count) => *count += 1,
        None => drop(counts.insert(class(verdict).to_owned(), 1)),
    }
}

fn change(before: Verdict, after: &str, why_before: Option<String>, why_after: Option<String>) -> VerdictChange {
    let is_of_charge = is_charge(&before.verdict) || is_charge(after);
    VerdictChange { before, after: after.to_owned(), is_of_charge, why_before, why_after }
}

/// Reads a recording's lines after its header.
fn each_batch(path: &Path, give: &mut dyn FnMut(Batch)) -> Result<(), RejudgeError> {
    let failed = |problem: io::Error| unreadable(path, format!("cannot be read: {problem}"));
    let mut file = BufReader::with_capacity(BATCH, File::open(path).map_err(failed)?);
    let mut header = Vec::new();
    file.read_until(b'\n', &mut header).map_err(failed)?;
    recording::check_header(&header).map_err(|problem: RecordingError| unreadable(path, problem))?;
    let mut next_line = 2;
    loop {
        let mut bytes = Vec::with_capacity(BATCH + BATCH / 4);
        let length = (&mut file).take(BATCH as u64).read_to_end(&mut bytes).map_err(failed)?;
        // Up to the end of its last line.
        file.read_until(b'\n', &mut bytes).map_err(failed)?;
        if length == 0 {
            return Ok(());
        }
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        give(Batch::Lines(next_line, bytes));
        next_line += lines as u64;
    }
}

/// Processes batches on every processor, and passes on the results in the order of the batches.
fn in_parallel<R: Send>(
    batches: Batches<'_>,
    work: impl Fn(Batch) -> R + Sync,
    result: &mut dyn FnMut(R) -> Result<(), RejudgeError>,
) -> Result<(), RejudgeError> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (give, taken) = sync_channel::<(usize, Batch)>(workers * 2);
    let (finish, finished) = sync_channel::<(usize, R)>(workers * 2);
    let taken = Mutex::new(taken);
    let next = |taken: &Mutex<Receiver<(usize, Batch)>>| taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
    thread::scope(|scope| {
        let (taken, work) = (&taken, &work);
        for _ in 0..workers {
            let finish = finish.clone();
            scope.spawn(move || {
                // Batches are taken even if nobody takes the results, so that the reader never waits forever.
                while let Ok((index, batch)) = next(taken) {
                    let _ = finish.send((index, work(batch)));
                }
            });
        }
        drop(finish);
        let reader = scope.spawn(move || {
            let mut index = 0;
            batches(&mut |batch| {
                let _ = give.send((index, batch));
                index += 1;
            })
        });
        let (mut waiting, mut next_index, mut ended) = (BTreeMap::new(), 0, Ok(()));
        for (index, done) in finished {
            waiting.insert(index, done);
            while let Some(done) = waiting.remove(&next_index) {
                next_index += 1;
                ended = ended.and_then(|()| result(done));
            }
        }
        let read =
            reader.join().unwrap_or_else(|_| Err(RejudgeError::Database("the reader was interrupted".to_owned())));
        read.and(ended)
    })
}
