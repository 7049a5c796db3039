//! The verdict on one exchange, and its cause.

use kassa::{
    Callback, Dialect, DialectReading, PaymentError, PaymentRef, PaymentStatus, RecordedExchange, RecordedOutcome,
    Verdict,
};

/// An exchange that can be judged.
pub(super) struct Exchange {
    /// The payment's identifier in a server's database.
    pub(super) payment_id: Option<String>,
    pub(super) exchange: u64,
    pub(super) at: String,
    pub(super) subject: Subject,
}

/// The subject of a judgement.
pub(super) enum Subject {
    /// The gateway's response to a request.
    Response(Box<RecordedExchange>),
    /// The response about a known payment, for each status query that it can answer.
    OfPayment(Vec<RecordedExchange>, Box<PaymentRef>),
    /// The body of a callback.
    Callback(String),
}

/// A verdict, with its outcome.
pub(super) struct Judged {
    pub(super) verdict: String,
    pub(super) is_compared: bool,
    outcome: Option<RecordedOutcome>,
}

impl Exchange {
    pub(super) fn endpoint(&self) -> &'static str {
        match &self.subject {
            Subject::Response(response) => response.endpoint(),
            Subject::OfPayment(candidates, _) => candidates.first().map_or("", RecordedExchange::endpoint),
            Subject::Callback(_) => "callback",
        }
    }

    /// The number of the payment.
    pub(super) fn number(&self) -> Option<String> {
        match &self.subject {
            Subject::Response(response) => response.number().map(str::to_owned),
            Subject::OfPayment(candidates, _) => candidates.first()?.number().map(str::to_owned),
            Subject::Callback(body) => Callback::parse(body).ok().map(|callback| callback.order_number),
        }
    }

    /// The verdict by a dialect. `payment` is the payment as the recording shows it.
    pub(super) fn judge(&self, dialect: &Dialect, payment: Option<&PaymentRef>) -> Result<Judged, String> {
        match &self.subject {
            Subject::Response(response) => {
                // A confirmation's request lacks the data of the payment's own request.
                let is_confirmation = response.endpoint() == "mbank_confirm";
                let asked_for =
                    if is_confirmation { payment.or(response.payment()) } else { response.payment().or(payment) };
                Ok(judged(response.judge(dialect, payment), asked_for))
            }
            Subject::OfPayment(candidates, payment) => {
                let mut verdicts =
                    candidates.iter().map(|each| judged(each.judge(dialect, Some(payment)), Some(payment)));
                let first = verdicts.next().ok_or("no request can have this response")?;
                match verdicts.all(|other| other.verdict == first.verdict) {
                    true => Ok(first),
                    false => Err(AMBIGUOUS.to_owned()),
                }
            }
            Subject::Callback(body) => Ok(Judged { verdict: claim(body, dialect), is_compared: true, outcome: None }),
        }
    }

    /// The cause of a verdict: the fields, codes and words that the dialect reads.
    pub(super) fn why(&self, dialect: &Dialect, judged: &Judged) -> String {
        let response = match &self.subject {
            Subject::Response(response) => Some(&**response),
            Subject::OfPayment(candidates, _) => candidates.first(),
            Subject::Callback(body) => return callback_word(body),
        };
        let reading = response.and_then(|response| response.explain(dialect).ok());
        let sentence = judged.outcome.as_ref().and_then(|outcome| sentence(outcome, reading.as_ref()));
        let read = reading.as_ref().map(|reading| read(reading, judged.outcome.as_ref())).unwrap_or_default();
        match (sentence, read.is_empty()) {
            (Some(sentence), true) => sentence,
            (Some(sentence), false) => format!("{sentence}; {read}"),
            (None, _) => read,
        }
    }
}

const AMBIGUOUS: &str =
    "the database does not say which of the two status queries it is the response to, and they differ";

fn judged(outcome: RecordedOutcome, asked_for: Option<&PaymentRef>) -> Judged {
    let is_compared = !matches!(outcome, RecordedOutcome::Reported(_));
    Judged { verdict: text(&outcome, asked_for), is_compared, outcome: Some(outcome) }
}

/// The verdict as it is listed and compared, without texts that another version may word differently.
fn text(outcome: &RecordedOutcome, asked_for: Option<&PaymentRef>) -> String {
    match outcome {
        RecordedOutcome::Verdict(verdict) => match verdict {
            Verdict::Charged { .. } => "charged".to_owned(),
            Verdict::Rejected { .. } => "rejected".to_owned(),
            Verdict::Pending { .. } => "pending".to_owned(),
            Verdict::Mismatch { fields, .. } => format!("mismatch: {}", fields.join(", ")),
            Verdict::Unverifiable { .. } => "unverifiable".to_owned(),
            other => format!("{other:?}"),
        },
        RecordedOutcome::Reported(report) => format!("reports {}", status(&report.status)),
        RecordedOutcome::Accepted(payment) => format!("accepted{}", numbers(payment.as_ref(), asked_for)),
        RecordedOutcome::Failed(error) => error.kind().to_owned(),
        other => format!("{other:?}"),
    }
}

fn status(status: &PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Charged => "charged",
        PaymentStatus::Rejected => "rejected",
        _ => "pending",
    }
}

/// The numbers that the response adds to the payment: without them it cannot be queried or confirmed.
fn numbers(payment: Option<&PaymentRef>, asked_for: Option<&PaymentRef>) -> String {
    let Some(payment) = payment else { return String::new() };
    type Number = fn(&PaymentRef) -> &Option<String>;
    let all: [(&str, Number); 3] = [
        ("gateway_number", |payment| &payment.gateway_number),
        ("transaction_id", |payment| &payment.transaction_id),
        ("mbank_identifier", |payment| &payment.confirm_identifier),
    ];
    let added = all.iter().filter_map(|(name, number)| {
        let value = number(payment).as_ref()?;
        (asked_for.and_then(|payment| number(payment).as_ref()) != Some(value)).then(|| format!(", {name} {value}"))
    });
    added.collect()
}

/// The verdict on a callback: it claims a status, and proves none.
fn claim(body: &str, dialect: &Dialect) -> String {
    match Callback::parse(body) {
        Err(_) => "names no payment".to_owned(),
        Ok(callback) => {
            let claimed = callback.status_by(dialect);
            format!("claims {}", claimed.as_ref().map_or("no status", status))
        }
    }
}

fn callback_word(body: &str) -> String {
    let callback = Callback::parse(body).ok();
    let status = callback.and_then(|callback| callback.status).map(|status| match status {
        PaymentStatus::Other(word) => format!("the callback's status is {word:?}"),
        known => format!("the callback's status is {known}"),
    });
    status.unwrap_or_else(|| "the callback has no status".to_owned())
}

/// The outcome's own explanation.
fn sentence(outcome: &RecordedOutcome, reading: Option<&DialectReading>) -> Option<String> {
    match outcome {
        RecordedOutcome::Verdict(Verdict::Unverifiable { why, .. }) => Some(why.clone()),
        RecordedOutcome::Failed(error) => Some(match error {
            PaymentError::Refused { http_status, .. } => format!("HTTP {http_status}"),
            PaymentError::OutcomeUnknown { detail, .. }
            | PaymentError::Unavailable { detail, .. }
            | PaymentError::Misconfigured { detail, .. }
            | PaymentError::Unauthorized { detail, .. }
            | PaymentError::Unexpected { detail, .. } => detail.clone(),
            other => other.to_string(),
        }),
        _ => reading.and_then(|reading| reading.problem.clone()),
    }
}

/// The fields that can have decided the verdict, each with its place.
fn read(reading: &DialectReading, outcome: Option<&RecordedOutcome>) -> String {
    let compared: &[&str] = match outcome {
        Some(RecordedOutcome::Verdict(Verdict::Charged { .. } | Verdict::Mismatch { .. })) => {
            &["order_number", "amount", "currency"]
        }
        Some(RecordedOutcome::Accepted(_)) => &["gateway_number", "transaction_id", "mbank_identifier"],
        _ => &[],
    };
    let decides = |name: &str| matches!(name, "code" | "status") || compared.contains(&name);
    let fields = reading.fields.iter().filter(|field| decides(&field.name)).map(|field| {
        let means = match &*field.name {
            "code" => {
                reading.code_means.as_ref().map_or(" (in no list)".to_owned(), |list| format!(" (in {list}_codes)"))
            }
            "status" => reading.status_means.as_ref().map(|means| format!(" (means {means})")).unwrap_or_default(),
            _ => String::new(),
        };
        format!("{} {:?} at {}{means}", field.name, field.value, place(&field.pointer))
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn place(pointer: &str) -> &str {
    if pointer.is_empty() { "the top" } else { pointer }
}
