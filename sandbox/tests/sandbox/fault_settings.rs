//! How faults are set, listed and removed: by the library, the admin interface and the command line, under the same
//! rules.

use std::{process::Stdio, time::Duration};

use kassa_sandbox::{EndpointName, Fault, FaultName, Sandbox, SandboxError, SandboxOptions};
use serde_json::{Value, json};

use crate::{
    admin::{admin, fields_at_fault},
    binary::command,
    common::{CARD, basic, card_body, get_status, send, start, start_with},
};

fn added(sandbox: &Sandbox, fault: &Value) -> Value {
    let answer = admin(sandbox, "POST", "faults", &fault.to_string());
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.json()
}

#[test]
fn fault_is_set_listed_and_removed() {
    let sandbox = start();
    let whole = json!({
        "name": "unavailable", "endpoint": "get-status", "order_number": "A-1", "probability": 0.5, "times": 3,
        "seed": 18_446_744_073_709_551_615_u64, "retry_after_s": 9
    });
    let first = added(&sandbox, &whole);
    let mut expected = whole;
    expected["id"] = first["id"].clone();
    expected["struck"] = json!(0);
    assert_eq!(first, expected);
    let second = added(&sandbox, &json!({ "name": "html-502" }));
    assert_ne!(first["id"], second["id"]);

    assert_eq!(get_status(&sandbox, "A-2", "Cards").status, 502);
    let list = admin(&sandbox, "GET", "faults", "").json();
    assert_eq!(list, json!({ "faults": [first, { "id": second["id"], "name": "html-502", "struck": 1 }] }));

    let path = format!("faults/{}", second["id"]);
    assert_eq!(admin(&sandbox, "DELETE", &path, "").status, 204);
    assert_eq!(get_status(&sandbox, "A-2", "Cards").status, 404);
    for gone in [path.as_str(), "faults/0", "faults/x"] {
        let answer = admin(&sandbox, "DELETE", gone, "");
        assert_eq!((answer.status, fields_at_fault(&answer)), (404, vec!["id".to_owned()]), "{gone}");
    }
    assert_eq!(admin(&sandbox, "DELETE", "faults", "").status, 204);
    assert!(sandbox.faults().list().is_empty());
}

#[test]
fn every_fault_name_is_accepted_everywhere() {
    let sandbox = start();
    for name in FaultName::ALL {
        let set = added(&sandbox, &json!({ "name": name.as_str() }));
        assert_eq!(set["name"], json!(name.as_str()));
        assert_eq!(name.as_str().parse::<Fault>(), Ok(Fault::new(*name)));
        sandbox.faults().add(Fault::new(*name)).expect("a fault");
    }
    assert_eq!(sandbox.faults().list().len(), 2 * FaultName::ALL.len());
    for endpoint in EndpointName::ALL {
        let set = added(&sandbox, &json!({ "name": "response-lost", "endpoint": endpoint.as_str() }));
        assert_eq!(set["endpoint"], json!(endpoint.as_str()));
    }
}

#[test]
fn inapplicable_fault_is_rejected_by_field() {
    let sandbox = start();
    for (fault, fields) in [
        ("{}", vec!["name"]),
        (r#"{"name": "lost"}"#, vec!["name"]),
        (r#"{"name": 1, "times": 0.5, "color": 1}"#, vec!["name", "times", "color"]),
        (r#"{"name": "delay", "name": "drip"}"#, vec!["name"]),
        (r#"{"name": "delay", "endpoint": "/api/v1.1.0/payment"}"#, vec!["endpoint"]),
        (r#"{"name": "delay", "order_number": " "}"#, vec!["order_number"]),
        (r#"{"name": "delay", "order_number": 7}"#, vec!["order_number"]),
        (r#"{"name": "delay", "order_number": null}"#, vec!["order_number"]),
        (r#"{"name": "delay", "probability": 1.01}"#, vec!["probability"]),
        (r#"{"name": "delay", "probability": -0.1}"#, vec!["probability"]),
        (r#"{"name": "delay", "probability": "0.5"}"#, vec!["probability"]),
        (r#"{"name": "delay", "times": 0}"#, vec!["times"]),
        (r#"{"name": "delay", "times": -1, "seed": -1, "delay_ms": -1}"#, vec!["times", "seed", "delay_ms"]),
        (r#"{"name": "delay", "delay_ms": 86400001}"#, vec!["delay_ms"]),
        (r#"{"name": "delay", "delay_ms": 18446744073709551615}"#, vec!["delay_ms"]),
        (r#"{"name": "retry-after", "retry_after_s": 4294967296}"#, vec!["retry_after_s"]),
        (
            r#"{"name": "drip", "delay_ms": 1, "retry_after_s": 1, "status": "x", "code": "x"}"#,
            vec!["delay_ms", "retry_after_s", "status", "code"],
        ),
        (r#"{"name": "unknown-status", "status": "charge"}"#, vec!["status"]),
        (r#"{"name": "unknown-status", "status": ""}"#, vec!["status"]),
        (r#"{"name": "unknown-code", "code": "110"}"#, vec!["code"]),
        (r#"{"name": "unknown-code", "code": "210"}"#, vec!["code"]),
        (r#"{"name": "unknown-status", "endpoint": "pay-form"}"#, vec!["endpoint"]),
        (r#"{"name": "unknown-code", "endpoint": "qr/dynamic"}"#, vec!["endpoint"]),
        (r#"{"name": "stuck-pending", "endpoint": "status"}"#, vec!["endpoint"]),
        (r#"{"name": "otp-twice", "endpoint": "mbank/pay"}"#, vec!["endpoint"]),
        (r#"{"name": "callback-lost", "endpoint": "payment"}"#, vec!["endpoint"]),
        (r#"{"name": "reset-on-connect", "endpoint": "payment", "order_number": "A-1"}"#, vec!["order_number"]),
        (r#"{"name": "response-lost", "endpoint": "qr/dynamic/data", "order_number": "A-1"}"#, vec!["order_number"]),
        (r#"{"name": "delay"} x"#, vec!["body"]),
        (r#"["delay"]"#, vec!["body"]),
        ("", vec!["name"]),
    ] {
        let answer = admin(&sandbox, "POST", "faults", fault);
        let fields: Vec<_> = fields.into_iter().map(str::to_owned).collect();
        assert_eq!((answer.status, fields_at_fault(&answer)), (400, fields), "{fault}");
    }
    assert!(sandbox.faults().list().is_empty());
}

#[test]
fn library_rejects_faults_with_the_same_messages() {
    let sandbox = start();
    for (fault, words) in [
        (Fault::drip().times(0), "times: must be at least 1"),
        (Fault::drip().probability(f64::NAN), "probability: must be from 0 to 1"),
        (Fault::reset_on_connect().order("A-1"), "order_number: reset-on-connect strikes before the order is known"),
        (
            Fault::callback_lost().endpoint(EndpointName::Payment).after(Duration::from_secs(1)),
            "endpoint: a callback belongs to no endpoint; \
             delay_ms: is for delay and callback-late only, not for callback-lost",
        ),
    ] {
        let error = sandbox.faults().add(fault.clone()).expect_err("refused");
        assert_eq!(error.to_string(), words);
        let options = SandboxOptions { faults: vec![fault], ..SandboxOptions::default() };
        let error = Sandbox::start(options).err().expect("refused");
        assert!(matches!(&error, SandboxError::Option { option: "faults", detail } if detail == words), "{error}");
    }
}

#[test]
fn fault_text_equals_fault_builder() {
    for (text, fault) in [
        ("response-lost", Fault::response_lost()),
        ("response-lost,order_number=ORDER-1,times=1", Fault::response_lost().order("ORDER-1").times(1)),
        ("delay,order_number=17,delay_ms=250", Fault::delay().order("17").after(Duration::from_millis(250))),
        (
            "unavailable,endpoint=qr/dynamic,probability=0.05,seed=7,retry_after_s=3",
            Fault::unavailable().endpoint(EndpointName::QrDynamic).probability(0.05).seed(7).retry_after_seconds(3),
        ),
        ("unknown-status,status=В пути", Fault::unknown_status().status("В пути")),
        ("unknown-code,code=05", Fault::unknown_code().code("05")),
    ] {
        assert_eq!(text.parse(), Ok(fault), "{text}");
    }
    for (text, field) in [
        ("", "name"),
        ("times=1", "name"),
        ("delay,times", "times"),
        ("delay,times=x", "times"),
        ("delay,times=1,times=2", "times"),
        ("delay,colour=red", "colour"),
        ("delay,probability=2", "probability"),
        ("delay,endpoint=pay", "endpoint"),
    ] {
        let error = text.parse::<Fault>().expect_err("refused");
        assert_eq!(error.errors[0].field, field, "{text}: {error}");
    }
}

#[test]
fn initial_faults_apply_to_the_first_request() {
    let sandbox = start_with(|options| options.faults = vec![Fault::html_502().times(1)]);
    assert_eq!(get_status(&sandbox, "x", "Cards").status, 502);
    assert_eq!(sandbox.faults().list()[0].struck, 1);
}

#[test]
fn command_line_sets_faults_and_the_dialect() {
    let mut command = command();
    command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-stdin", "--as", "other"]);
    command.args(["--fault", "html-502,order_number=A-1,times=1", "--fault", "unknown-code,code=05"]);
    command.stdin(Stdio::piped());
    let (mut child, announcement, _stdout) = crate::child::announced(&mut command);
    let text = |name: &str| announcement[name].as_str().expect("a text").to_owned();
    let authorization = basic(&text("login"), &text("password"));
    let url = format!("{}{CARD}", text("url"));
    let body = card_body("A-1").text();
    let answer = || send("POST", &url, &[("authorization", &authorization)], body.as_bytes());
    assert_eq!(answer().status, 502);
    assert_eq!(answer().json()["result"]["value"], json!("05"));

    let bearer = format!("Bearer {}", text("admin_token"));
    let faults = send("GET", &format!("{}/admin/faults", text("url")), &[("authorization", &bearer)], b"").json();
    let struck: Vec<_> = faults["faults"].as_array().expect("faults").iter().map(|one| one["struck"].clone()).collect();
    assert_eq!(struck, [json!(1), json!(1)]);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn command_line_dialect_overrides_environment() {
    for (arguments, expected) in
        [(&[][..], "finipay"), (&["--as", "interface", "--mbank-quid", "not-sent"][..], "interface")]
    {
        let mut command = command();
        command.args(["--listen", "127.0.0.1:0", "--announce", "json", "--exit-with-stdin"]).args(arguments);
        command.env("KASSA_SANDBOX_AS", "finipay").stdin(Stdio::piped());
        let (mut child, announcement, _stdout) = crate::child::announced(&mut command);
        let text = |name: &str| announcement[name].as_str().expect("a text").to_owned();
        let bearer = format!("Bearer {}", text("admin_token"));
        let url = format!("{}/admin/switches", text("url"));
        let switches = send("GET", &url, &[("authorization", &bearer)], b"").json();
        let quid = if arguments.is_empty() { "field" } else { "not-sent" };
        assert_eq!((&switches["acts_as"], &switches["mbank_quid"]), (&json!(expected), &json!(quid)));
        drop(child.stdin.take());
        assert!(child.wait().expect("it ends").success());
    }
    let output = command().args(["--as", "shown"]).output().expect("it runs");
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("interface, other, finipay"));
}

#[test]
fn wrong_fault_argument_names_the_field() {
    let refused = |fault: &str| {
        let output = command().args(["--listen", "127.0.0.1:0", "--fault", fault]).output().expect("it runs");
        assert!(!output.status.success());
        String::from_utf8(output.stderr).expect("a text")
    };
    assert!(refused("delay,times=0").contains("times: must be at least 1"));
    assert!(refused("dealy").contains("name: must be one of request-lost, "));
}
