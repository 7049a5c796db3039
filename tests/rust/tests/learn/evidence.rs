//! The rule of evidence (`docs/recordings.md#the-rule-of-evidence`), a case for each sentence of it: which words of a query mean that the
//! money was taken, or that it was not. The recordings are of gateways as they are: with holds, refunds, wrong passwords, and queries that
//! say different things.

use std::fs;

use kassa_sandbox::{LearnOptions, Learned, learn};
use serde_json::{Value, json};

/// What happens to an order, one after the other.
#[derive(Clone, Copy)]
enum Step {
    Mbank,
    /// The payer confirms, and the gateway answers with this HTTP status.
    Confirm(u16),
    /// `get-status` returns a word.
    Word(&'static str),
    /// It does so with an HTTP status.
    WordWith(u16, &'static str),
    /// `status` returns a word.
    ByStatus(&'static str),
    Callback(&'static str),
}
use Step::{ByStatus, Callback, Confirm, Mbank, Word, WordWith};

struct Case {
    about: &'static str,
    orders: &'static [(&'static str, &'static [Step])],
    approved: &'static [&'static str],
    declined: &'static [&'static str],
    confirm: &'static [&'static str],
    /// The words that the dialect has; `None` where no dialect may be written.
    charged: Option<&'static [&'static str]>,
    rejected: &'static [&'static str],
    /// What the report must say.
    report: &'static str,
}

const TWO_PAID: &[(&str, &[Step])] = &[
    ("A-0001", &[Word("NEW"), Word("PAID")]),
    ("A-0002", &[Word("NEW"), Word("PAID")]),
    ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
];

const BASE: Case = Case {
    about: "",
    orders: TWO_PAID,
    approved: &[],
    declined: &[],
    confirm: &[],
    charged: Some(&[]),
    rejected: &[],
    report: "",
};

const LISTED: Case = Case { approved: &["A-0001", "A-0002"], declined: &["A-0003"], ..BASE };

const CASES: &[Case] = &[
    Case {
        about: "lists show which words to look at, and give none a meaning",
        report: "provider_status:PAID=charged",
        ..LISTED
    },
    Case { about: "they say so of a rejection, too", report: "provider_status:BOUNCED=rejected", ..LISTED },
    Case { about: "a person's yes", confirm: &["PAID=charged"], charged: Some(&["PAID"]), ..BASE },
    Case {
        about: "for both",
        confirm: &["PAID=charged", "BOUNCED=rejected"],
        charged: Some(&["PAID"]),
        rejected: &["BOUNCED"],
        ..LISTED
    },
    Case {
        about: "a yes for another query says nothing",
        confirm: &["qr_status:PAID=charged"],
        report: "provider_status:PAID=charged",
        ..BASE
    },
    Case {
        about: "a refund is the last word of orders that were paid",
        orders: &[
            ("A-0001", &[Word("NEW"), Word("PAID"), Word("PART_RETURNED")]),
            ("A-0002", &[Word("NEW"), Word("PAID"), Word("PART_RETURNED")]),
            ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
        ],
        report: "provider_status:PART_RETURNED=charged",
        ..LISTED
    },
    Case {
        about: "a yes against a declined order that had the word",
        declined: &["A-0001"],
        confirm: &["PAID=charged"],
        report: "listed as declined",
        ..BASE
    },
    Case {
        about: "a yes against a declined order that had the word in a failed response",
        orders: &[
            ("A-0001", &[Word("NEW"), Word("IN_WORK")]),
            ("A-0002", &[Word("NEW"), Word("IN_WORK")]),
            ("A-0003", &[Word("NEW"), WordWith(402, "IN_WORK"), Word("BOUNCED")]),
        ],
        confirm: &["IN_WORK=charged"],
        report: "listed as declined",
        ..LISTED
    },
    Case {
        about: "a yes against a payment that had the word before its payer confirmed",
        orders: &[("A-0001", &[Mbank, Word("PAID"), Confirm(200), Word("DONE")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged"],
        report: "before their payer confirmed them",
        ..BASE
    },
    Case {
        about: "a yes against a payment that had the word after a wrong password",
        orders: &[("A-0001", &[Mbank, Confirm(400), Word("PAID")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged"],
        report: "before their payer confirmed them",
        ..BASE
    },
    Case {
        about: "a yes against a payment that had the word between two passwords",
        orders: &[
            ("A-0001", &[Mbank, Confirm(200), Word("PAID"), Confirm(200), Word("DONE")]),
            ("A-0002", &[Word("NEW")]),
        ],
        confirm: &["PAID=charged"],
        report: "before their payer confirmed them",
        ..BASE
    },
    Case {
        about: "the same word after the confirmation",
        orders: &[("A-0001", &[Mbank, Word("NEW"), Confirm(200), Word("PAID")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged"],
        charged: Some(&["PAID"]),
        ..BASE
    },
    Case {
        about: "a yes against a payment that left the word for a failure",
        orders: &[("A-0001", &[Word("NEW"), Word("PAID"), Word("CANCELLED")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged"],
        report: "left it for \"CANCELLED\"",
        ..BASE
    },
    Case {
        about: "a yes against a payment of which another query said a failure",
        orders: &[("A-0001", &[Word("NEW"), Word("IN_WORK"), ByStatus("failed")]), ("A-0002", &[Word("NEW")])],
        confirm: &["IN_WORK=charged"],
        report: "another query or a callback about the same payment said \"failed\"",
        ..BASE
    },
    Case {
        about: "a yes against a payment of which a callback said what a declined order ended with",
        orders: &[
            ("A-0001", &[Word("NEW"), Word("IN_WORK")]),
            ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
            ("A-0004", &[Word("NEW"), Word("IN_WORK"), Callback("BOUNCED")]),
        ],
        declined: &["A-0003"],
        confirm: &["IN_WORK=charged"],
        report: "another query or a callback about the same payment said \"BOUNCED\"",
        ..BASE
    },
    Case {
        about: "a yes against a payment that left the word for an unknown one",
        orders: &[("A-0001", &[Word("PAID"), Word("BACK")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged"],
        report: "provider_status:BACK=open",
        ..BASE
    },
    Case {
        about: "a yes, and another that the money stayed taken",
        orders: &[("A-0001", &[Word("PAID"), Word("BACK")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged", "BACK=open"],
        charged: Some(&["PAID"]),
        ..BASE
    },
    Case {
        about: "a word of declined orders that an approved one had, too, is not a rejection, whatever a person says",
        orders: &[
            ("A-0001", &[Word("NEW"), Word("BOUNCED"), Word("PAID")]),
            ("A-0002", &[Word("NEW"), Word("PAID")]),
            ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
        ],
        confirm: &["PAID=charged", "BOUNCED=rejected"],
        charged: Some(&["PAID"]),
        report: "--confirm provider_status:BOUNCED=rejected",
        ..LISTED
    },
    Case {
        about: "a rejection that a payment left again",
        orders: &[("A-0001", &[Word("NEW"), Word("BOUNCED"), Word("NEW")]), ("A-0002", &[Word("NEW")])],
        confirm: &["BOUNCED=rejected"],
        report: "--confirm provider_status:BOUNCED=rejected",
        ..BASE
    },
    Case {
        about: "the interface's own words need nobody's yes",
        orders: &[("A-0001", &[Word("NEW"), Word("CHARGE")]), ("A-0002", &[Word("NEW"), Word("Reject")])],
        ..BASE
    },
    Case {
        about: "no dialect where the interface's own word is that of a declined order",
        orders: &[("A-0001", &[Word("NEW"), Word("CHARGE")]), ("A-0002", &[Word("NEW")])],
        declined: &["A-0001"],
        charged: None,
        report: "\"CHARGE\" means something else here",
        ..BASE
    },
    Case {
        about: "nor where a person says that it means something else",
        orders: &[("A-0001", &[Word("NEW"), Word("CHARGE")]), ("A-0002", &[Word("NEW")])],
        confirm: &["CHARGE=open"],
        charged: None,
        report: "\"CHARGE\" means something else here",
        ..BASE
    },
    Case {
        about: "nor where it is a step, also beside another word for paid that nobody confirmed",
        orders: &[("A-0001", &[Word("NEW"), Word("CHARGE"), Word("DONE")]), ("A-0002", &[Word("NEW")])],
        charged: None,
        report: "provider_status:DONE=open",
        ..BASE
    },
    Case {
        about: "a confirmed word replaces it",
        orders: &[("A-0001", &[Word("NEW"), Word("CHARGE"), Word("DONE")]), ("A-0002", &[Word("NEW")])],
        confirm: &["DONE=charged", "CHARGE=open"],
        charged: Some(&["DONE"]),
        ..BASE
    },
    Case {
        about: "nor where approved orders had the interface's word of a rejection",
        orders: &[("A-0001", &[Word("Reject"), Word("CHARGE")]), ("A-0002", &[Word("NEW")])],
        approved: &["A-0001"],
        charged: None,
        report: "\"Reject\" means something else here",
        ..BASE
    },
];

/// A line of a recording.
fn line(number: usize, direction: &str, target: &str, request: &Value, status: u16, response: &Value) -> String {
    let moment = format!("2026-11-30T03:20:{number:02}.000Z");
    json!({
        "exchange": number, "direction": direction, "connection": 1, "started_at": moment, "ended_at": moment,
        "request": {"method": "POST", "target": target, "headers": [], "body": {"text": request.to_string()}},
        "response": {"status": status, "headers": [], "body": {"text": response.to_string()}},
    })
    .to_string()
}

fn recording(orders: &[(&str, &[Step])]) -> String {
    let header = json!({
        "kassa_recording": 1, "started_at": "2026-11-30T03:20:00.000Z", "upstream": "https://gateway.example", "recorder": "a test",
    });
    let mut lines = vec![header.to_string()];
    for (order, steps) in orders {
        for step in *steps {
            let number = lines.len();
            let report = |word: &str| json!({"code": "100", "data": {"orderNumber": order, "status": word}});
            let get_status = |status, word: &str| {
                let request = json!({"orderNumber": order, "provider": "mbank"});
                line(number, "request", "/api/v1.1.0/get-status", &request, status, &report(word))
            };
            lines.push(match step {
                Mbank => {
                    let request = json!({"orderNumber": order, "phone": "996***101", "amount": 250, "comment": "tea"});
                    let data = json!({"orderNumber": order, "identifier": format!("id-of-{order}")});
                    let response = json!({"code": "100", "data": data});
                    line(number, "request", "/api/v1.1.0/mbank/pay", &request, 200, &response)
                }
                Confirm(status) => {
                    let request = json!({"identifier": format!("id-of-{order}"), "otp": "***"});
                    let response = json!({"code": format!("10{}", number % 10)});
                    line(number, "request", "/api/v1.1.0/mbank/confirm", &request, *status, &response)
                }
                Word(word) => get_status(200, word),
                WordWith(status, word) => get_status(*status, word),
                ByStatus(word) => {
                    let request = json!({"orderNumber": order});
                    line(number, "request", "/api/v1.1.0/status", &request, 200, &report(word))
                }
                Callback(word) => {
                    let callback = json!({"orderNumber": order, "status": word});
                    line(number, "callback", "/callback", &callback, 200, &json!({}))
                }
            });
        }
    }
    lines.join("\n") + "\n"
}

fn learned(case: &Case) -> Learned {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gateway.jsonl");
    fs::write(&file, recording(case.orders)).expect("it can be written");
    let owned = |numbers: &[&str]| numbers.iter().map(|number| (*number).to_owned()).collect();
    let options = LearnOptions {
        files: vec![file],
        approved: owned(case.approved),
        declined: owned(case.declined),
        confirmations: case.confirm.iter().map(|text| text.parse().expect("an answer")).collect(),
        ..LearnOptions::default()
    };
    learn(&options).expect("a recording")
}

/// The words of a list, of the status query or of all.
fn words(dialect: &Value, list: &str) -> Vec<String> {
    let lists = [&dialect["endpoints"]["provider_status"][list], &dialect[list]];
    let texts = lists.into_iter().filter_map(Value::as_array).flatten();
    texts.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn words_get_a_meaning_by_confirmation_alone() {
    for case in CASES {
        let learned = learned(case);
        let shown = format!("{}\n{:?}\n{}", case.about, learned.dialect, learned.report);
        let dialect = learned.dialect.as_deref().map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
        assert_eq!(dialect.is_some(), case.charged.is_some(), "{shown}");
        if let (Some(dialect), Some(charged)) = (dialect, case.charged) {
            kassa::Dialect::from_json(&dialect.to_string()).expect("the core reads it");
            assert_eq!(words(&dialect, "charged_words"), charged, "{shown}");
            assert_eq!(words(&dialect, "rejected_words"), case.rejected, "{shown}");
        }
        assert!(learned.report.contains(case.report), "{shown}");
    }
}
