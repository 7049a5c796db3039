//! The content of the control page.

use std::time::Duration;

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    domain::{
        EndpointName, Language, clock,
        test_data::{TEST_CARDS, TEST_PHONES, TestCard, TestPhone},
    },
    encoding::FormPairs,
    faults::{ActiveFault, FaultName, Moment},
    settings::{Dialect, MbankQuid, ReusedOrderNumber, StatusNumbers, Switches},
    staff::{
        control::forms::SubmittedForm,
        layout::{Section, Staff, Visitor},
        receiver,
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
    /// The payment to decide, if the URL has its number.
    number: &'a str,
    switches: Vec<SwitchGroup>,
    now: String,
    ahead: String,
    resolve_after_queries: String,
    resolve_after_s: String,
    faults: Vec<Fault>,
    fault_groups: Vec<FaultGroup>,
    endpoints: [EndpointName; 11],
    callback_pauses: String,
    callback_timeout: String,
    receiver: String,
    cards: &'static [TestCard],
    phones: &'static [TestPhone],
}

/// Units for moving the clock.
const UNITS: [&str; 4] = ["seconds", "minutes", "hours", "days"];
/// The collapsed fields.
const RARE: [&str; 4] = ["delay_ms", "retry_after_s", "status", "code"];

/// A group of the page.
struct Group {
    id: &'static str,
    name: &'static str,
    text: &'static str,
}

const PAYMENTS: Group = Group {
    id: "payments",
    name: "Payments",
    text: "Act for the payer or the provider, or let pending payments end by themselves.",
};
const CLOCK: Group =
    Group { id: "clock", name: "Clock", text: "Step forward instead of waiting. Only a reset moves the clock back." };
const FAULTS: Group = Group {
    id: "faults",
    name: "Faults",
    text: "Have requests, responses and callbacks fail, to see what your program does.",
};
const CALLBACKS: Group = Group {
    id: "callbacks",
    name: "Callbacks",
    text: "Sent to the shop at each change of a payment's status, and again until it answers 2xx.",
};
const SWITCHES: Group = Group {
    id: "switches",
    name: "Switches",
    text: "How the gateway behaves where its interface leaves a choice. They apply to the next request.",
};
const TEST_DATA: Group =
    Group { id: "data", name: "Test data", text: "Cards and phones to pay with. Each always has the same outcome." };
const RESET: Group = Group {
    id: "reset",
    name: "Reset",
    text: "Forgets payments, callbacks, requests and faults. Switches and clock are those of the start.",
};

/// The groups, in the order of the page.
const GROUPS: [Group; 7] = [PAYMENTS, CLOCK, FAULTS, CALLBACKS, SWITCHES, TEST_DATA, RESET];

/// A group of switches.
struct SwitchGroup {
    name: &'static str,
    choices: Vec<Choice>,
    boxes: Vec<CheckBox>,
}

/// A boolean switch.
struct CheckBox {
    name: &'static str,
    label: &'static str,
    is_on: bool,
}

/// Faults that are injected at the same stage.
struct FaultGroup {
    name: &'static str,
    faults: Vec<KnownFault>,
}

/// A fault that can be set.
struct KnownFault {
    name: &'static str,
    text: String,
}

/// A switch with several values.
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

/// Renders the page.
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
        switches: switch_groups(switches),
        now: clock::local_date_time(now).replace('T', " "),
        ahead: ahead(state.clock().ahead_ms()),
        resolve_after_queries: resolve_pending.after_queries.map(|count| count.to_string()).unwrap_or_default(),
        resolve_after_s: resolve_pending.after.map(|after| after.as_secs_f64().to_string()).unwrap_or_default(),
        faults: state.faults.list().iter().map(Fault::from).collect(),
        fault_groups: fault_groups(),
        endpoints: EndpointName::ALL,
        callback_pauses: pauses(&state.options.callback_pauses),
        callback_timeout: duration(state.options.callback_timeout),
        receiver: format!("{}{}my-shop", state.public_url, receiver::PREFIX),
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

fn switch_groups(switches: Switches) -> Vec<SwitchGroup> {
    vec![
        SwitchGroup {
            name: "Numbers",
            choices: vec![
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
            ],
            boxes: Vec::new(),
        },
        SwitchGroup {
            name: "Format of responses",
            choices: vec![
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
            ],
            boxes: Vec::new(),
        },
        SwitchGroup {
            name: "The payer's side",
            choices: vec![Choice {
                name: "language",
                label: "Language",
                hint: "of messages if the request does not specify one",
                words: Language::ALL.map(Language::code).to_vec(),
                chosen: switches.language.code(),
            }],
            boxes: vec![
                CheckBox {
                    name: "three_ds_1_page",
                    label: "3DS 1.0 cards get a confirmation page, too",
                    is_on: switches.three_ds_1_page,
                },
                CheckBox {
                    name: "redirect_declines",
                    label: "A declined payer is redirected to the shop, too",
                    is_on: switches.redirect_declines,
                },
            ],
        },
    ]
}

/// The faults by stage.
fn fault_groups() -> Vec<FaultGroup> {
    let stages = [
        ("The request has no effect", [Moment::Connection, Moment::Request].as_slice()),
        ("The request takes effect, the response fails", &[Moment::Response]),
        ("Payments", &[Moment::Payment]),
        ("Callbacks", &[Moment::Callback]),
    ];
    let group = |(name, moments): (&'static str, &[Moment])| {
        let faults = FaultName::ALL.iter().filter(|fault| moments.contains(&stage(**fault)));
        FaultGroup {
            name,
            faults: faults
                .map(|fault| KnownFault { name: fault.as_str(), text: fault.text().replace('`', "") })
                .collect(),
        }
    };
    stages.into_iter().map(group).collect()
}

/// The stage of a fault for people: a confirmation that is executed twice is decided with the request, and concerns the payment.
fn stage(fault: FaultName) -> Moment {
    match fault {
        FaultName::OtpTwice => Moment::Payment,
        fault => fault.moment(),
    }
}

/// The pauses between attempts, such as `1 s, 5 s, then every 1 min`.
fn pauses(pauses: &[Duration]) -> String {
    let mut shown: Vec<_> = pauses.iter().copied().map(duration).collect();
    match shown.pop() {
        None => "never: there is one attempt".to_owned(),
        Some(last) if shown.is_empty() => format!("every {last}"),
        Some(last) => format!("{}, then every {last}", shown.join(", ")),
    }
}

/// A duration in the largest unit in which it is whole.
fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    let units = [(3_600_000, "h"), (60_000, "min"), (1000, "s")];
    let whole = units.into_iter().find(|(length, _)| ms >= *length && ms.is_multiple_of(*length));
    whole.map_or_else(|| format!("{ms} ms"), |(length, unit)| format!("{} {unit}", ms / length))
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

/// The clock's offset, in the two largest units.
fn ahead(ms: i64) -> String {
    let seconds = ms / 1000;
    let parts = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let shown: Vec<_> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    if shown.is_empty() { "same as the machine's clock".to_owned() } else { format!("{} ahead", shown.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_in_one_group() {
        let groups = fault_groups();
        let mut names: Vec<_> = groups.iter().flat_map(|group| &group.faults).map(|fault| fault.name).collect();
        assert_eq!(names.len(), FaultName::ALL.len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FaultName::ALL.len());
        let texts = groups.iter().flat_map(|group| &group.faults).map(|fault| &fault.text);
        assert!(texts.into_iter().all(|text| text.ends_with('.') && !text.starts_with(' ') && !text.contains("  ")));
    }

    #[test]
    fn pauses_are_shown_in_whole_units() {
        let seconds = |seconds: &[u64]| -> Vec<_> { seconds.iter().copied().map(Duration::from_secs).collect() };
        assert_eq!(pauses(&seconds(&[1, 90, 120, 3600])), "1 s, 90 s, 2 min, then every 1 h");
        assert_eq!(pauses(&[Duration::from_millis(1500)]), "every 1500 ms");
        assert_eq!(pauses(&[]), "never: there is one attempt");
    }
}
