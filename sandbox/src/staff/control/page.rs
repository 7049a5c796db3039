//! The content of the control page.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    domain::{
        EndpointName, Language, clock,
        test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestPhone},
    },
    encoding::FormPairs,
    faults::{ActiveFault, FaultName},
    settings::{Dialect, MbankQuid, ReusedOrderNumber, StatusNumbers, Switches},
    staff::{
        control::forms::SubmittedForm,
        layout::{Section, Staff, Visitor},
    },
    state::State,
    web::{self, Document, Policy},
};

#[derive(Template)]
#[template(path = "staff/control.html")]
struct Page<'a> {
    document: Document,
    staff: Staff,
    csrf: String,
    done: &'static str,
    posted: &'a SubmittedForm<'a>,
    /// Of a payment to be decided, where the address names one.
    number: &'a str,
    switches: Vec<Choice>,
    three_ds_1_page: bool,
    redirect_declines: bool,
    now: String,
    ahead: String,
    resolve_after_queries: String,
    resolve_after_s: String,
    faults: Vec<Fault>,
    fault_names: &'static [FaultName],
    endpoints: [EndpointName; 11],
    cards: &'static [TestCard],
    phones: &'static [TestPhone],
}

/// Units of the clock's step.
const UNITS: [&str; 4] = ["seconds", "minutes", "hours", "days"];
/// The fields that are folded away.
const RARE: [&str; 4] = ["delay_ms", "retry_after_s", "status", "code"];

/// A switch with several positions.
struct Choice {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    words: Vec<&'static str>,
    chosen: &'static str,
}

/// A fault that is set.
struct Fault {
    id: u64,
    name: &'static str,
    settings: String,
    struck: u64,
}

/// Shows it.
pub(super) fn show(
    state: &State,
    document: Document,
    visitor: Visitor,
    status: StatusCode,
    query: &FormPairs,
    posted: &SubmittedForm<'_>,
) -> Response {
    let switches = state.switches();
    let now = state.clock().now_ms();
    let resolve_pending = state.resolve_pending();
    let page = Page {
        document,
        csrf: visitor.csrf.clone(),
        staff: Staff::of(Section::Control, Some(visitor)),
        done: if posted.errors.is_empty() { done_message(query.get("done")) } else { "" },
        posted,
        number: query.get("number"),
        three_ds_1_page: switches.three_ds_1_page,
        redirect_declines: switches.redirect_declines,
        switches: choices(switches),
        now: clock::local_date_time(now).replace('T', " "),
        ahead: ahead(state.clock().ahead_ms()),
        resolve_after_queries: resolve_pending.after_queries.map(|count| count.to_string()).unwrap_or_default(),
        resolve_after_s: resolve_pending.after.map(|after| after.as_secs_f64().to_string()).unwrap_or_default(),
        faults: state.faults.list().iter().map(Fault::from).collect(),
        fault_names: FaultName::ALL,
        endpoints: EndpointName::ALL,
        cards: &TEST_CARDS,
        phones: &TEST_PHONES,
    };
    web::page(status, Policy::Staff, &page)
}

/// The message after a command.
fn done_message(done: &str) -> &'static str {
    match done {
        "switches" => "The switches were set.",
        "clock" => "The time at which pending payments become final was set.",
        "forward" => "The clock was stepped forward.",
        "fault" => "The fault was set.",
        "removed" => "The fault was removed.",
        "cleared" => "All faults were removed.",
        "payment" => "The payment was decided.",
        "reset" => "The sandbox was reset.",
        _ => "",
    }
}

fn choices(switches: Switches) -> Vec<Choice> {
    vec![
        Choice {
            name: "reused_order_number",
            label: "A reused order number",
            hint: "is refused, returns the first response again, or creates a second payment",
            words: ReusedOrderNumber::ALL.map(ReusedOrderNumber::as_str).to_vec(),
            chosen: switches.reused_order_number.as_str(),
        },
        Choice {
            name: "status_numbers",
            label: "Numbers of status requests",
            hint: "strict: each endpoint its own kind; any: both kinds at both endpoints",
            words: StatusNumbers::ALL.map(StatusNumbers::as_str).to_vec(),
            chosen: switches.status_numbers.as_str(),
        },
        Choice {
            name: "language",
            label: "Language",
            hint: "of messages if the request does not specify one",
            words: Language::ALL.map(Language::code).to_vec(),
            chosen: switches.language.code(),
        },
        Choice {
            name: "acts_as",
            label: "Acts as",
            hint: "interface: the response format of the interface; other: another envelope and other field names; finipay: the \
                format of FINIPAY's public pages",
            words: Dialect::ALL.map(Dialect::as_str).to_vec(),
            chosen: switches.acts_as.as_str(),
        },
        Choice {
            name: "mbank_quid",
            label: "MBank's quid",
            hint: "if acting as finipay: sent in orderNumber, in a field of its own, or not at all with a confirmation",
            words: MbankQuid::ALL.map(MbankQuid::as_str).to_vec(),
            chosen: switches.mbank_quid.as_str(),
        },
    ]
}

impl From<&ActiveFault> for Fault {
    fn from(active: &ActiveFault) -> Self {
        let mut settings = serde_json::to_value(&active.fault).unwrap_or_default();
        let mut words = Vec::new();
        for (name, value) in settings.as_object_mut().into_iter().flatten().filter(|(name, _)| *name != "name") {
            words.push(format!("{name} = {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        }
        Self { id: active.id, name: active.fault.name().as_str(), settings: words.join(", "), struck: active.struck }
    }
}

/// How far the clock is ahead, in the two largest units.
fn ahead(ms: i64) -> String {
    let seconds = ms / 1000;
    let parts = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let shown: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    if shown.is_empty() { "same as the machine's clock".to_owned() } else { format!("{} ahead", shown.join(" ")) }
}
