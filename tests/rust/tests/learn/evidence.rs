//! The rule of evidence (`docs/recordings.md#the-rule-of-evidence`), a case for each sentence of it: which words of a query mean that the
//! money was taken, or that it was not.

use std::fs;

use kassa_sandbox::{LearnOptions, Learned, learn};
use serde_json::{Value, json};

/// What happens to an order, in its order: it is created, its payer confirms it, or a status query returns a word.
#[derive(Clone, Copy)]
enum Step {
    Mbank,
    Confirm,
    Word(&'static str),
}
use Step::{Confirm, Mbank, Word};

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

const CASES: &[Case] = &[
    Case {
        about: "two approved orders and a declined one prove both words",
        approved: &["A-0001", "A-0002"],
        declined: &["A-0003"],
        charged: Some(&["PAID"]),
        rejected: &["BOUNCED"],
        ..BASE
    },
    Case {
        about: "one approved order is not enough",
        approved: &["A-0001"],
        declined: &["A-0003"],
        rejected: &["BOUNCED"],
        report: "provider_status:PAID=charged",
        ..BASE
    },
    Case {
        about: "approved orders alone do not say what a decline looks like",
        approved: &["A-0001", "A-0002"],
        report: "provider_status:PAID=charged",
        ..BASE
    },
    Case {
        about: "a word that was there from the beginning was never reached",
        orders: &[
            ("A-0001", &[Word("PAID")]),
            ("A-0002", &[Word("PAID")]),
            ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
        ],
        approved: &["A-0001", "A-0002"],
        declined: &["A-0003"],
        rejected: &["BOUNCED"],
        report: "provider_status:PAID=charged",
        ..BASE
    },
    Case { about: "a person's yes", confirm: &["PAID=charged"], charged: Some(&["PAID"]), ..BASE },
    Case {
        about: "a yes for another query says nothing",
        confirm: &["qr_status:PAID=charged"],
        report: "provider_status:PAID=charged",
        ..BASE
    },
    Case {
        about: "a yes against a declined order that had the word",
        declined: &["A-0001"],
        confirm: &["PAID=charged"],
        report: "listed as declined",
        ..BASE
    },
    Case {
        about: "a yes against a payment that had the word before its payer confirmed",
        orders: &[("A-0001", &[Mbank, Word("PAID"), Confirm, Word("DONE")]), ("A-0002", &[Word("NEW")])],
        confirm: &["PAID=charged"],
        report: "before their payer confirmed them",
        ..BASE
    },
    Case {
        about: "the same word after the confirmation",
        orders: &[("A-0001", &[Mbank, Word("NEW"), Confirm, Word("PAID")]), ("A-0002", &[Word("NEW")])],
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
        about: "a word for a step on the way is never taken from lists",
        orders: &[
            ("A-0001", &[Word("NEW"), Word("accepted")]),
            ("A-0002", &[Word("NEW"), Word("accepted")]),
            ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
        ],
        approved: &["A-0001", "A-0002"],
        declined: &["A-0003"],
        rejected: &["BOUNCED"],
        report: "provider_status:accepted=charged",
        ..BASE
    },
    Case {
        about: "a word of declined orders that an approved one had, too, is not a rejection, whatever a person says",
        orders: &[
            ("A-0001", &[Word("NEW"), Word("BOUNCED"), Word("PAID")]),
            ("A-0002", &[Word("NEW"), Word("PAID")]),
            ("A-0003", &[Word("NEW"), Word("BOUNCED")]),
        ],
        approved: &["A-0001", "A-0002"],
        declined: &["A-0003"],
        confirm: &["BOUNCED=rejected"],
        charged: Some(&["PAID"]),
        report: "--confirm provider_status:BOUNCED=rejected",
        ..BASE
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
        report: "CHARGE",
        ..BASE
    },
];

fn exchange(number: usize, target: &str, request: &Value, response: &Value) -> String {
    let moment = format!("2026-11-30T03:20:{number:02}.000Z");
    json!({
        "exchange": number, "direction": "request", "connection": 1, "started_at": moment, "ended_at": moment,
        "request": {"method": "POST", "target": target, "headers": [], "body": {"text": request.to_string()}},
        "response": {"status": 200, "headers": [], "body": {"text": response.to_string()}},
    })
    .to_string()
}

fn recording(orders: &[(&str, &[Step])]) -> String {
    let header = json!({"kassa_recording": 1, "started_at": "2026-11-30T03:20:00.000Z", "upstream": "https://gateway.example", "recorder": "a test"});
    let mut lines = vec![header.to_string()];
    for (order, steps) in orders {
        for step in *steps {
            let (target, request, response) = match step {
                Mbank => (
                    "/api/v1.1.0/mbank/pay",
                    json!({"orderNumber": order, "phone": "996***101", "amount": 250, "comment": "tea"}),
                    json!({"code": "100", "data": {"orderNumber": order, "identifier": format!("id-of-{order}")}}),
                ),
                Confirm => (
                    "/api/v1.1.0/mbank/confirm",
                    json!({"identifier": format!("id-of-{order}"), "otp": "***"}),
                    json!({"code": "100"}),
                ),
                Word(word) => (
                    "/api/v1.1.0/get-status",
                    json!({"orderNumber": order, "provider": "mbank"}),
                    json!({"code": "100", "data": {"orderNumber": order, "status": word}}),
                ),
            };
            lines.push(exchange(lines.len(), target, &request, &response));
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
fn words_get_a_meaning_by_evidence_alone() {
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
