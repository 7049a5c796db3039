//! Whether the vectors show everything that they should.

use std::collections::{BTreeSet, HashSet};

use kassa::Language;
use kassa_sandbox::FaultName;

use crate::{
    canonical::seen,
    generate,
    vectors::{Vector, text},
};

const LEAST: usize = 250;

/// What must have come out of the SDK at least once.
const ANSWERS: &[&str] = &[
    "AdviceTopic::card_expired",
    "AdviceTopic::card_number_mistyped",
    "AdviceTopic::dialect",
    "AdviceTopic::mega_pay_minimum",
    "AdviceTopic::order_number_characters",
    "AdviceTopic::phone_format",
    "AdviceTopic::return_url_fragment",
    "Callback",
    "CardBrand::amex",
    "CardBrand::elcart",
    "CardBrand::jcb",
    "CardBrand::maestro",
    "CardBrand::mastercard",
    "CardBrand::mir",
    "CardBrand::union_pay",
    "CardBrand::unknown",
    "CardBrand::visa",
    "CardPaymentCreated",
    "DialectReading",
    "Elqr",
    "FieldState::complete",
    "FieldState::incomplete",
    "FieldState::wrong",
    "JournalState::charged",
    "JournalState::mismatch",
    "JournalState::pending",
    "JournalState::rejected",
    "JournalState::unknown",
    "LocalDateTime",
    "MbankConfirmed",
    "MbankPaymentCreated",
    "MegapayAccepted",
    "MegapayChecked",
    "NextStep::CheckStatus",
    "NextStep::OpenConfirmation",
    "PayFormCreated",
    "PaymentEntry",
    "PaymentError::DeadlineExpired",
    "PaymentError::Invalid",
    "PaymentError::Misconfigured",
    "PaymentError::OutcomeUnknown",
    "PaymentError::Refused",
    "PaymentError::Unauthorized",
    "PaymentError::Unavailable",
    "PaymentError::Unexpected",
    "PaymentKind::card",
    "PaymentKind::mbank",
    "PaymentKind::megapay",
    "PaymentKind::pay_form",
    "PaymentKind::qr",
    "PaymentRef",
    "PaymentStatus",
    "Provider",
    "QrCode",
    "QrData",
    "QrImage",
    "ReturnRedirect",
    "Rule::digits",
    "Rule::exact",
    "Rule::expired",
    "Rule::format",
    "Rule::http_url",
    "Rule::ip_address",
    "Rule::length",
    "Rule::letters",
    "Rule::luhn",
    "Rule::minimum",
    "Rule::month",
    "Rule::one_of",
    "Rule::required",
    "Rule::return_uri",
    "Rule::signature",
    "Recovered::payment",
    "Recovered::unreadable",
    "StatusReport",
    "Unfinished::payment",
    "Unfinished::unreadable",
    "Verdict::charged",
    "Verdict::mismatch",
    "Verdict::pending",
    "Verdict::rejected",
    "Verdict::unverifiable",
    "WatchReport::QueryFailed",
    "WatchReport::Status",
];

/// The types that only go in: each is printed once, so that none of them shows a secret.
const PRINTED: &[&str] = &[
    "callback_key",
    "card",
    "card_input",
    "card_payment",
    "credentials",
    "gateway",
    "gateway_config",
    "mbank_payment",
    "megapay_payment",
    "pay_form",
    "poll_policy",
    "proxy",
    "qr_payment",
];

const GROUPS: &[&str] = &[
    "callback_keys",
    "callbacks",
    "cancellation",
    "card_input",
    "checkout_texts",
    "deadlines",
    "dialects",
    "elqr",
    "faults",
    "finipay",
    "journal",
    "money",
    "outcomes",
    "payment_refs",
    "qr",
    "recovery",
    "redaction",
    "redirects",
    "texts",
    "validation",
    "watching",
    "wire",
];

/// The states of a checkout: the screen says something of each, in each language.
const STATES: &[&str] = &[
    "enter_otp",
    "expired",
    "not_paid",
    "open_page",
    "opening",
    "paid",
    "person_needed",
    "ready",
    "sending",
    "show_qr",
    "token_expired",
    "waiting",
];

pub fn gaps(vectors: &[Vector]) -> Vec<String> {
    let mut gaps = Vec::new();
    if vectors.len() < LEAST {
        gaps.push(format!("there are {} vectors, fewer than {LEAST}", vectors.len()));
    }
    let seen = seen();
    let of = |wanted: &str| vectors.iter().filter(move |vector| vector.group == wanted).collect::<Vec<_>>();
    let printed: BTreeSet<&str> =
        of("redaction").iter().filter_map(|vector| vector.spec["input"]["type"].as_str()).collect();
    let cells: BTreeSet<(&str, &str)> = of("outcomes")
        .iter()
        .filter_map(|vector| Some((vector.spec["row"].as_str()?, vector.spec["do"].as_str()?)))
        .collect();
    let wired: BTreeSet<&str> = of("wire").iter().filter_map(|vector| vector.spec["do"].as_str()).collect();
    let screens = of("checkout_texts");
    let said: HashSet<(&str, Language)> = screens
        .iter()
        .filter_map(|vector| {
            let input = &vector.spec["input"];
            Some((input["state"]["kind"].as_str()?, Language::from_tag(input["language"].as_str()?)))
        })
        .collect();
    let mut check = |what: &str, wanted: &[&str], there: &dyn Fn(&str) -> bool| {
        gaps.extend(wanted.iter().filter(|name| !there(name)).map(|name| format!("{what} {name} is in no vector")));
    };
    check("the group", GROUPS, &|group| !of(group).is_empty());
    check("the answer", ANSWERS, &|name| seen.contains(name));
    check("the printed type", PRINTED, &|name| printed.contains(name));
    check("the screen in every language of the state", STATES, &|kind| {
        [Language::English, Language::Russian, Language::Kyrgyz]
            .iter()
            .all(|language| said.contains(&(kind, *language)))
    });
    for operation in generate::OPERATIONS {
        check("the request of", &[operation.name], &|name| wired.contains(name));
        check(operation.name, &generate::outcomes::rows(), &|row| cells.contains(&(row, operation.name)));
    }
    gaps.extend(pairs_left_out(&of("faults")));
    gaps
}

/// Every fault meets every operation, or is listed as one that cannot, and not both.
fn pairs_left_out(vectors: &[&Vector]) -> Vec<String> {
    let met: BTreeSet<(String, String)> = vectors.iter().flat_map(|vector| pairs(vector)).collect();
    let operations = generate::OPERATIONS.iter().map(|operation| operation.name).chain(["verify_callback", "watch"]);
    let all = operations.flat_map(|operation| FaultName::ALL.iter().map(move |fault| (fault.as_str(), operation)));
    let problem = |(fault, operation): (&str, &str)| {
        let is_met = met.contains(&(fault.to_owned(), operation.to_owned()));
        match (is_met, generate::faults::cannot_meet(fault, operation)) {
            (true, Some(reason)) => {
                Some(format!("{fault} meets {operation}, though listed as one that cannot: {reason}"))
            }
            (false, None) => Some(format!("the fault {fault} meets {operation} in no vector")),
            _ => None,
        }
    };
    all.filter_map(problem).collect()
}

/// A fault meets what is called from when it was set until it is cleared.
fn pairs(vector: &Vector) -> Vec<(String, String)> {
    let mut set = Vec::new();
    let mut pairs = Vec::new();
    for step in vector.spec["steps"].as_array().into_iter().flatten() {
        match text(&step["do"]).as_str() {
            "set_fault" => set.push(text(&step["input"]["name"])),
            "clear_faults" => set.clear(),
            called => pairs.extend(set.iter().map(|fault| (fault.clone(), called.to_owned()))),
        }
    }
    pairs
}
