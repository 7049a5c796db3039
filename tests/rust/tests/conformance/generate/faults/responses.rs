//! The faults that strike a request or its answer.

use serde_json::{Value, json};

use super::{
    super::{
        CARD, Column, MBANK, MEGAPAY, NONE, OPERATIONS,
        cells::{
            Cell::{self, Answer, Refused, RetriedThenUnavailable, Unauthorized, Unavailable, Unexpected, Unknown},
            Said, error,
        },
    },
    answers::{self, CHARGED, CREATED, Shown},
    cannot_meet,
    steps::{
        Step, approve, callbacks_until, clear_faults, decline, kept, ledger_keeping_the_payment, operation, outcome,
        set_fault, step, watch, watch_until,
    },
    vector,
};

/// Long enough for everything but a fault that outlasts it.
const SHORT_DEADLINE_MS: u64 = 8000;
/// How long a payment is watched that nobody made, and one that nobody goes on with.
const NEVER_MADE_MS: u64 = 1000;
const LEFT_OPEN_MS: u64 = 8000;

struct Fault {
    name: &'static str,
    settings: Value,
    cells: [Cell; 3],
    takes_effect: bool,
    /// What the client sees of the HTTP status: nothing, the one of a request without faults, or this.
    seen: Seen,
    /// The code of its envelope, and whether its message is to be seen.
    code: Option<&'static str>,
    has_message: bool,
    /// Why there is no verdict.
    detail: &'static str,
    /// The same where a picture was expected.
    picture_detail: &'static str,
    body: Value,
    deadline_ms: Option<u64>,
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy)]
enum Seen {
    Nothing,
    Usual,
    Status(u64),
}

fn fault(name: &'static str, cells: [Cell; 3], seen: Seen, detail: &'static str) -> Fault {
    Fault {
        name,
        settings: json!({}),
        cells,
        takes_effect: true,
        seen,
        code: None,
        has_message: false,
        detail,
        picture_detail: detail,
        body: Value::Null,
        deadline_ms: None,
        retry_after_ms: None,
    }
}

fn table() -> Vec<Fault> {
    let lost = [Unknown, Unavailable, RetriedThenUnavailable];
    let too_late = [Unknown, Unavailable, Unavailable];
    let not_understood = [Unknown, Unexpected, Unexpected];
    let deadline = "the deadline passed before the whole response came";
    let indeterminate = "does not show whether the payment was made";
    let no_picture = "the response holds no PNG in base64";
    let page =
        |title: &str| json!(format!("<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"));
    let late = |name, settings| Fault {
        settings,
        deadline_ms: Some(SHORT_DEADLINE_MS),
        ..fault(name, too_late, Seen::Usual, deadline)
    };
    let refusal = |name, cells, status: u64, code| Fault {
        takes_effect: false,
        code: Some(code),
        has_message: true,
        body: json!({"$any": true}),
        ..fault(name, cells, Seen::Status(status), indeterminate)
    };
    vec![
        Fault { takes_effect: false, ..fault("request-lost", lost, Seen::Nothing, "*") },
        fault("response-lost", lost, Seen::Nothing, "*"),
        late("delay", json!({"delay_ms": 3_600_000})),
        late("drip", json!({})),
        Fault { takes_effect: false, ..fault("reset-on-connect", lost, Seen::Nothing, "*") },
        fault("reset-before-response", lost, Seen::Nothing, "*"),
        fault("reset-in-headers", lost, Seen::Nothing, "*"),
        fault("reset-in-body", lost, Seen::Usual, "*"),
        Fault { body: page("502 Bad Gateway"), ..fault("html-502", lost, Seen::Status(502), indeterminate) },
        Fault {
            picture_detail: no_picture,
            body: json!("OK"),
            ..fault("not-json", not_understood, Seen::Usual, "the response is not readable: *")
        },
        Fault {
            // Half a picture in base64 is no base64 or a damaged picture, as its length will have it.
            picture_detail: "the *PNG *",
            body: json!({"$any": true}),
            ..fault("cut-json", not_understood, Seen::Usual, "the response is not readable: *")
        },
        Fault {
            picture_detail: "the response is longer than 1 MiB",
            body: json!({"$any": true}),
            ..fault(
                "endless-body",
                not_understood,
                Seen::Usual,
                "the response is not readable: the response is longer than 1 MiB",
            )
        },
        fault("unknown-status", [Answer; 3], Seen::Usual, ""),
        Fault {
            code: Some("999"),
            has_message: true,
            body: json!({"$any": true}),
            ..fault(
                "unknown-code",
                [Answer; 3],
                Seen::Usual,
                "the response has code 999, which is not known as a success",
            )
        },
        Fault {
            picture_detail: no_picture,
            body: json!({"$any": true}),
            ..fault("other-dialect", [Answer; 3], Seen::Usual, "the response has no *")
        },
        Fault {
            body: page("307 Temporary Redirect"),
            ..fault("redirect", not_understood, Seen::Status(307), "is a redirect, which is never followed")
        },
        Fault {
            retry_after_ms: Some(1000),
            ..refusal("retry-after", [Unavailable, Unavailable, RetriedThenUnavailable], 429, "429")
        },
        refusal("unavailable", lost, 503, "503"),
        refusal("unauthorized", [Unauthorized; 3], 401, "401"),
        Fault { takes_effect: true, ..refusal("otp-twice", [Unknown; 3], 409, "409") },
    ]
}

/// An operation that meets the faults.
struct Met {
    name: &'static str,
    /// The endpoint that it asks.
    endpoint: &'static str,
    column: Column,
    payment: (&'static str, &'static str),
}

fn operations() -> Vec<Met> {
    let endpoints = [
        "payment",
        "mbank/pay",
        "mbank/confirm",
        "mega/check",
        "mega/pay",
        "pay-form",
        "qr/dynamic",
        "qr/dynamic/data",
        "status",
        "get-status",
        "qr/transaction/status",
    ];
    let own = OPERATIONS.iter().zip(endpoints).map(|(operation, endpoint)| Met {
        name: operation.name,
        endpoint,
        column: operation.column,
        payment: operation.payment,
    });
    let asking = |name| Met { name, endpoint: "get-status", column: Column::Asks, payment: NONE };
    own.chain([asking("verify_callback"), asking("watch")]).collect()
}

pub fn vectors() -> Vec<String> {
    let (faults, operations) = (table(), operations());
    let pairs = faults.iter().flat_map(|fault| operations.iter().map(move |met| (fault, met)));
    let met =
        pairs.filter(|(fault, met)| cannot_meet(fault.name, met.name).is_none()).map(|(fault, met)| pair(fault, met));
    met.chain([unseen_page(), declined(), wrong_pin()]).collect()
}

/// The answer that was lost named the page on which the payer would have paid: the payment stays open.
fn unseen_page() -> String {
    let create = step("create_card_payment", json!({"$use": "one with 3DS"}));
    let open = answers::expired(Some((&answers::card(), CREATED)));
    let line = answers::ledger_line(json!("order-1"), Value::Null, CREATED);
    let steps =
        lost(create, CARD, vec![watch_until(json!({"$use": CARD.0}), LEFT_OPEN_MS), outcome(open), ledger(vec![line])]);
    vector("fault response-lost: create_card_payment with 3DS", steps, Value::Null, None)
}

/// The payer said no, though the merchant never heard that there is a payment.
fn declined() -> String {
    let rejected = answers::outcome(&answers::mbank(), answers::CANCELLED);
    let line = answers::ledger_line(json!("order-2"), Value::Null, answers::CANCELLED);
    let ending =
        vec![decline(json!("order-2")), watch(json!({"$use": MBANK.0})), outcome(rejected), ledger(vec![line])];
    let steps = lost(operation("create_mbank_payment"), MBANK, ending);
    vector("fault response-lost: create_mbank_payment, then declined", steps, Value::Null, None)
}

/// A wrong PIN takes no money, and the right one afterwards takes it once.
fn wrong_pin() -> String {
    let refusal = Said {
        payment: MEGAPAY,
        status: Some(400),
        code: Some("422"),
        reason: Some("*"),
        detail: "",
        body: json!({"$any": true}),
        retry_after_ms: None,
    };
    let wrong = json!({"$use": "a MegaPay payment with its PIN", "$with": {"pin": "101101"}});
    let line = |shown| ledger(vec![answers::ledger_line(json!("order-3"), Value::Null, shown)]);
    let steps = vec![
        operation("check_megapay").answering(answers::usual("check_megapay")),
        step("pay_by_megapay", wrong).expecting(json!({"error": error(Refused, &refusal)})),
        line(CREATED),
        operation("pay_by_megapay").answering(answers::usual("pay_by_megapay")),
        watch(json!({"$use": MEGAPAY.0})),
        outcome(answers::outcome(&answers::megapay(), CHARGED)),
        line(CHARGED),
    ];
    vector("sandbox: a wrong PIN of MegaPay pays nothing, and the right one pays once", steps, Value::Null, None)
}

fn lost(create: Value, payment: (&str, &str), ending: Vec<Value>) -> Vec<Value> {
    let said =
        Said { payment, status: None, code: None, reason: None, detail: "*", body: Value::Null, retry_after_ms: None };
    let unknown = json!({"error": error(Unknown, &said)});
    let mut steps = vec![set_fault("response-lost", json!({})), create.expecting(unknown), clear_faults()];
    steps.extend(ending);
    steps
}

fn pair(fault: &Fault, met: &Met) -> String {
    let steps = if met.name == "watch" { watched(fault) } else { called(fault, met) };
    let config = json!({"payment_deadline_ms": fault.deadline_ms, "query_deadline_ms": fault.deadline_ms});
    let config = if fault.deadline_ms.is_some() { config } else { Value::Null };
    let is_repeated = met.column == Column::Asks && cell(fault, met.name, met.column) == RetriedThenUnavailable;
    let times = if met.name == "watch" { 1 } else { 2 };
    let waited = fault.retry_after_ms.filter(|_| is_repeated).map(|pause| pause * times);
    vector(&format!("fault {}: {}", fault.name, met.name), steps, config, waited)
}

/// What the table says, and where the answer can be read in spite of the fault.
fn cell(fault: &Fault, operation: &str, column: Column) -> Cell {
    match (fault.name, operation) {
        ("unknown-code" | "other-dialect", "create_card_payment") => Unknown,
        (
            "other-dialect",
            "create_mbank_payment" | "confirm_mbank_payment" | "check_megapay" | "pay_by_megapay" | "create_qr_data",
        ) => Answer,
        ("other-dialect", _) => Unexpected,
        _ => fault.cells[column as usize],
    }
}

/// The struck operation's result.
fn result(fault: &Fault, met: &Met) -> Value {
    let cell = cell(fault, met.name, met.column);
    if cell == Answer {
        return json!({"answer": struck_answer(fault.name, met.name)});
    }
    let status = match fault.seen {
        Seen::Status(status) => Some(status),
        // Where there is a body, all of the response came.
        Seen::Usual if !fault.body.is_null() => Some(200),
        Seen::Nothing | Seen::Usual => None,
    };
    let is_picture = met.name == "create_qr_image";
    let said = Said {
        payment: met.payment,
        status,
        code: fault.code,
        reason: fault.has_message.then_some("*"),
        detail: if is_picture { fault.picture_detail } else { fault.detail },
        body: fault.body.clone(),
        retry_after_ms: fault.retry_after_ms,
    };
    json!({"error": error(cell, &said)})
}

const ON_HOLD: &str = "ON_HOLD";

/// An answer that could be read.
fn struck_answer(fault: &str, operation: &str) -> Value {
    let held = Shown { word: ON_HOLD, ..CHARGED };
    let coded = Shown { code: "999", ..CHARGED };
    match (fault, operation) {
        ("unknown-status", "create_card_payment") => answers::card_created(ON_HOLD, "110"),
        ("unknown-status", "create_mbank_payment") => answers::mbank_created(ON_HOLD, "110"),
        ("unknown-status", "confirm_mbank_payment") => answers::mbank_confirmed(held),
        ("unknown-status", "payment_status") => answers::report(&answers::card_by_token(), held),
        ("unknown-status", "provider_status") => answers::report(&answers::card(), held),
        ("unknown-status", "qr_status") => answers::report(&answers::qr(), held),
        ("unknown-status", "verify_callback") => answers::verdict(&answers::card(), held),
        ("unknown-code", "create_mbank_payment") => answers::mbank_created("CREATED", "999"),
        ("unknown-code", "confirm_mbank_payment") => answers::mbank_confirmed(coded),
        ("unknown-code", "check_megapay") => answers::megapay_checked("999"),
        ("unknown-code", "pay_by_megapay") => answers::megapay_accepted("999"),
        ("unknown-code", "payment_status") => answers::report(&answers::card_by_token(), coded),
        ("unknown-code", "provider_status") => answers::report(&answers::card(), coded),
        ("unknown-code", "qr_status") => answers::report(&answers::qr(), coded),
        ("unknown-code", "verify_callback") => answers::verdict(&answers::card(), coded),
        ("other-dialect", "create_mbank_payment" | "confirm_mbank_payment") => {
            json!({"payment": {"$use": "payment of order-2"}, "raw": {"$any": true}})
        }
        ("other-dialect", "check_megapay" | "pay_by_megapay") => {
            json!({"payment": {"$use": "payment of order-3"}, "raw": {"$any": true}})
        }
        ("other-dialect", "create_qr_data") => {
            json!({"payment": {"$use": "payment of the QR picture"}, "raw": {"$any": true}})
        }
        (_, operation) => answers::usual(operation),
    }
}

/// What there must be before an operation can be called, and the endpoints that this asks.
fn before(operation_name: &str) -> (Vec<Value>, &'static [&'static str]) {
    match operation_name {
        "confirm_mbank_payment" => (vec![operation("create_mbank_payment")], &["mbank/pay"]),
        "pay_by_megapay" => (vec![operation("check_megapay")], &["mega/check"]),
        "payment_status" => (vec![operation("create_card_payment"), ledger_keeping_the_payment()], &["payment"]),
        "provider_status" => (vec![operation("create_card_payment")], &["payment"]),
        "qr_status" => {
            let made = operation("create_qr_data").keeping("transaction", json!(["answer", "transaction_id"]));
            (vec![made, approve(kept("transaction"))], &["qr/dynamic/data"])
        }
        "verify_callback" => {
            let mut steps = vec![operation("create_card_payment")];
            steps.extend(callbacks_until(1, "callback"));
            (steps, &["payment"])
        }
        _ => (Vec::new(), &[]),
    }
}

/// A call that is struck each time it is sent, and what becomes of it once the gateway answers again.
fn called(fault: &Fault, met: &Met) -> Vec<Value> {
    let (mut steps, endpoints_before) = before(met.name);
    let mut settings = fault.settings.clone();
    if fault.name != "reset-on-connect" {
        settings["endpoint"] = met.endpoint.into();
    }
    steps.push(set_fault(fault.name, settings));
    let cell = cell(fault, met.name, met.column);
    let mut call = operation(met.name).expecting(result(fault, met));
    if met.name == "create_qr_data" && cell == Answer {
        call = call.keeping("transaction", json!(["answer", "transaction_id"]));
    }
    steps.push(call);
    let times = if met.column == Column::Asks && cell == RetriedThenUnavailable { 3 } else { 1 };
    let count = endpoints_before.len() + times;
    let unstruck = endpoints_before.iter().map(|endpoint| request(endpoint, Some(200), None));
    let struck = (0..times).map(|_| request(met.endpoint, seen_status(fault), Some(fault.name)));
    steps.push(step("requests", json!({"count": count})).answering(unstruck.chain(struck).collect()));
    steps.push(clear_faults());
    steps.extend(afterwards(fault, met, cell));
    steps
}

fn request(endpoint: &str, http_status: Option<u64>, fault: Option<&str>) -> Value {
    json!({"endpoint": endpoint, "http_status": http_status, "fault": fault})
}

fn seen_status(fault: &Fault) -> Option<u64> {
    match fault.seen {
        Seen::Nothing => None,
        Seen::Usual => Some(200),
        Seen::Status(status) => Some(status),
    }
}

/// What the merchant does once the gateway answers again, and how it ends.
fn afterwards(fault: &Fault, met: &Met, cell: Cell) -> Vec<Value> {
    let again = || operation(met.name).answering(answers::usual(met.name));
    let is_made = fault.takes_effect;
    match (met.name, cell) {
        // Nothing happened, and the error says so: it is sent again.
        (_, Unavailable | Unauthorized) if met.column == Column::MovesMoney => {
            let mut steps = vec![again()];
            steps.extend(made(met));
            steps
        }
        (_, _) if met.column == Column::MovesMoney && is_made => made(met),
        (_, _) if met.column == Column::MovesMoney => not_made(met),
        ("create_qr_data", Answer) if fault.name == "unknown-code" => vec![
            approve(kept("transaction")),
            watch(answers::qr().reference),
            outcome(answers::outcome(&answers::qr(), CHARGED)),
            ledger(vec![answers::ledger_line(kept("transaction"), kept("transaction"), CHARGED)]),
        ],
        // It moves no money, whether it was made or not. Nobody can ask about one whose answer was lost: it is made
        // anew.
        ("create_pay_form" | "create_qr_image" | "create_qr_data", _) => {
            let open = || {
                let id = if met.name == "create_pay_form" { Value::Null } else { json!({"$like": "QR-*"}) };
                answers::ledger_line(json!({"$any": true}), id, CREATED)
            };
            let first = is_made.then(open);
            vec![
                ledger(first.clone().into_iter().collect()),
                again(),
                ledger(first.into_iter().chain([open()]).collect()),
            ]
        }
        ("verify_callback", _) => vec![again()],
        (_, _) => {
            vec![again(), watch(asked_about(met.name)), outcome(answers::outcome(&at_its_end(met.name), CHARGED))]
        }
    }
}

fn ledger(lines: Vec<Value>) -> Value {
    step("ledger", Value::Null).answering(lines.into())
}

/// The reference with which a query asks.
fn asked_about(query: &str) -> Value {
    subject(query).reference
}

fn at_its_end(query: &str) -> answers::Subject {
    if query == "payment_status" { answers::card_by_both_numbers() } else { subject(query) }
}

fn subject(operation: &str) -> answers::Subject {
    match operation {
        "create_mbank_payment" | "confirm_mbank_payment" => answers::mbank(),
        "check_megapay" | "pay_by_megapay" => answers::megapay(),
        "payment_status" => answers::card_by_token(),
        "qr_status" => answers::qr(),
        _ => answers::card(),
    }
}

fn order_number(met: &Met) -> &'static str {
    match met.payment {
        CARD => "order-1",
        MBANK => "order-2",
        MEGAPAY => "order-3",
        other => panic!("no order number of {other:?}"),
    }
}

/// The payment that exists is found, and it was taken once.
fn made(met: &Met) -> Vec<Value> {
    let order_number = order_number(met);
    let mut steps = Vec::new();
    if matches!(met.name, "create_mbank_payment" | "check_megapay") {
        steps.push(approve(json!(order_number)));
    }
    steps.push(watch(json!({"$use": met.payment.0})));
    steps.push(outcome(answers::outcome(&subject(met.name), CHARGED)));
    steps.push(ledger(vec![answers::ledger_line(json!(order_number), Value::Null, CHARGED)]));
    steps
}

/// What never reached the gateway ends in no verdict.
fn not_made(met: &Met) -> Vec<Value> {
    let payment = json!({"$use": met.payment.0});
    if matches!(met.name, "confirm_mbank_payment" | "pay_by_megapay") {
        let last = subject(met.name);
        return vec![
            watch_until(payment, LEFT_OPEN_MS),
            outcome(answers::expired(Some((&last, CREATED)))),
            ledger(vec![answers::ledger_line(json!(order_number(met)), Value::Null, CREATED)]),
        ];
    }
    vec![watch_until(payment, NEVER_MADE_MS), outcome(answers::expired(None)), ledger(Vec::new())]
}

/// A watch whose first query is struck; three in a row where only that ends it.
fn watched(fault: &Fault) -> Vec<Value> {
    let mut settings = fault.settings.clone();
    settings["times"] = if fault.name == "unauthorized" { 3 } else { 1 }.into();
    if fault.name != "reset-on-connect" {
        settings["endpoint"] = "get-status".into();
    }
    let query = Met { name: "provider_status", endpoint: "get-status", column: Column::Asks, payment: NONE };
    let result = result(fault, &query);
    let card = answers::card();
    let charged = answers::watch_report(&card, CHARGED);
    let (reports, error) = match fault.name {
        "unauthorized" => {
            let failed = json!({"kind": "query_failed", "error": result["error"]});
            (vec![failed.clone(), failed], result["error"].clone())
        }
        "unknown-status" => {
            (vec![answers::watch_report(&card, Shown { word: ON_HOLD, ..CHARGED }), charged], Value::Null)
        }
        "unknown-code" => (vec![answers::watch_report(&card, Shown { code: "999", ..CHARGED })], Value::Null),
        _ => (vec![json!({"kind": "query_failed", "error": result["error"]}), charged], Value::Null),
    };
    let end = match fault.name {
        "unauthorized" => json!({"error": error}),
        "unknown-code" => answers::outcome(&answers::card(), Shown { code: "999", ..CHARGED }),
        _ => answers::outcome(&answers::card(), CHARGED),
    };
    let payment = json!({"$use": CARD.0});
    let mut steps = vec![
        operation("create_card_payment"),
        set_fault(fault.name, settings),
        watch(payment.clone()),
        step("all", Value::Null).answering(json!({"reports": reports, "error": error})),
        outcome(end),
    ];
    if fault.name == "unauthorized" {
        // A mistake in the configuration says nothing about the payment.
        steps.extend([watch(payment), outcome(answers::outcome(&answers::card(), CHARGED))]);
    }
    steps
}
