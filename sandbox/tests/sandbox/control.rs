//! The control page: who gets in, and what its forms may do.

use kassa_sandbox::{Dialect, MbankQuid, ReusedOrderNumber, Sandbox};

use crate::common::{CARD, Response, card_body, open, post, send, start, start_tunnelled};

const LOGIN: &str = "/control/login";

/// The value of a hidden field.
fn csrf(page: &Response) -> String {
    let rest = page.body.split("name=\"csrf\" value=\"").nth(1).expect("a token");
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// The cookies that an answer sets, as the next request sends them.
fn cookies(answer: &Response) -> String {
    let set = answer.head.lines().filter_map(|line| line.strip_prefix("set-cookie: "));
    let pairs: Vec<_> = set.filter_map(|cookie| cookie.split(';').next()).filter(|pair| !pair.ends_with('=')).collect();
    pairs.join("; ")
}

fn form(sandbox: &Sandbox, path: &str, cookie: &str, fields: &[(&str, &str)]) -> Response {
    let mut encoded = url::form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(fields);
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("cookie", cookie)];
    send("POST", &format!("{}{path}", sandbox.url()), &headers, encoded.finish().as_bytes())
}

fn log_in(sandbox: &Sandbox, token: &str) -> Response {
    let page = open(&format!("{}/control", sandbox.url()));
    form(sandbox, LOGIN, &cookies(&page), &[("csrf", &csrf(&page)), ("token", token)])
}

/// The session's cookie and the token for its forms.
fn entered(sandbox: &Sandbox) -> (String, String) {
    let answer = log_in(sandbox, sandbox.admin_token());
    assert_eq!((answer.status, answer.header("location")), (303, Some("../control")));
    let cookie = cookies(&answer);
    let page = send("GET", &format!("{}/control", sandbox.url()), &[("cookie", &cookie)], b"");
    assert!(page.body.contains("Set the switches"));
    let token = csrf(&page);
    (cookie, token)
}

#[test]
fn only_the_admin_token_opens_it() {
    let sandbox = start();
    let page = open(&format!("{}/control", sandbox.url()));
    assert!(!page.body.contains("Set the switches") && !page.body.contains(sandbox.admin_token()));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; ") && policy.contains("form-action 'self'"), "{policy}");
    for wrong in ["", "guess", sandbox.password(), &sandbox.admin_token()[1..]] {
        assert_eq!(log_in(&sandbox, wrong).status, 403);
    }
    for path in ["/control/switches", "/control/reset", "/control/faults"] {
        assert!(!form(&sandbox, path, "", &[("csrf", "")]).body.contains("Set the switches"), "{path}");
    }
    entered(&sandbox);
}

#[test]
fn lockout_applies_to_the_right_token() {
    let sandbox = start();
    while log_in(&sandbox, "guess").status == 403 {}
    let answer = log_in(&sandbox, sandbox.admin_token());
    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().is_ok()));
}

/// A proxy on this machine is one address to the sandbox, with everybody behind it.
#[test]
fn lockout_is_per_client_behind_a_proxy() {
    let sandbox = start();
    let log_in_from = |forwarded: &str, token: &str| {
        let page = open(&format!("{}/control", sandbox.url()));
        let mut fields = url::form_urlencoded::Serializer::new(String::new());
        fields.append_pair("csrf", &csrf(&page)).append_pair("token", token);
        let cookies = cookies(&page);
        let headers = [("cookie", cookies.as_str()), ("x-forwarded-for", forwarded)];
        send("POST", &format!("{}{LOGIN}", sandbox.url()), &headers, fields.finish().as_bytes()).status
    };
    while log_in_from("192.0.2.1", "guess") == 403 {}
    assert_eq!(log_in_from("198.51.100.1, 192.0.2.1", sandbox.admin_token()), 429, "under a name of their own choice");
    assert_eq!(log_in_from("198.51.100.1", sandbox.admin_token()), 303);
}

#[test]
fn form_of_another_site_changes_nothing() {
    let sandbox = start();
    let page = open(&format!("{}/control", sandbox.url()));
    let forged = form(&sandbox, LOGIN, "", &[("csrf", &csrf(&page)), ("token", sandbox.admin_token())]);
    assert_eq!(forged.status, 403, "without the cookie of the form");
    let (cookie, _) = entered(&sandbox);
    post(&sandbox, CARD, &card_body("C-1"));
    for csrf in ["", "guess"] {
        assert_eq!(form(&sandbox, "/control/reset", &cookie, &[("csrf", csrf)]).status, 403);
    }
    assert_eq!(sandbox.payments().len(), 1);
}

#[test]
fn form_runs_operation_or_shows_field_error() {
    let sandbox = start();
    let (cookie, csrf) = entered(&sandbox);
    let submit = |path: &str, fields: &[(&str, &str)]| {
        form(&sandbox, path, &cookie, &[&[("csrf", csrf.as_str())], fields].concat())
    };
    let switches = [
        ("reused_order_number", "replay"),
        ("status_numbers", "any"),
        ("language", "ky"),
        ("acts_as", "finipay"),
        ("mbank_quid", "order-number"),
        ("three_ds_1_page", "on"),
    ];
    let answer = submit("/control/switches", &switches);
    assert_eq!((answer.status, answer.header("location")), (303, Some("../control?done=switches")));
    assert_eq!(sandbox.switches().reused_order_number, ReusedOrderNumber::Replay);
    assert!(sandbox.switches().three_ds_1_page && !sandbox.switches().redirect_declines);
    assert_eq!((sandbox.switches().acts_as, sandbox.switches().mbank_quid), (Dialect::Finipay, MbankQuid::OrderNumber));

    let answer = submit("/control/faults", &[("name", "otp-twice"), ("endpoint", "payment"), ("times", "often")]);
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("<code>times</code>"), "{}", answer.body);
    assert!(sandbox.faults().list().is_empty());
    assert_eq!(submit("/control/payment", &[("number", "A/B\"<"), ("decision", "approve")]).status, 400);
    assert_eq!(submit("/control/nothing", &[]).status, 404);
    assert_eq!(submit("/control/logout", &[]).status, 303);
    assert_eq!(submit("/control/reset", &[]).status, 200, "the page that asks for the token");
    assert_eq!(sandbox.switches().reused_order_number, ReusedOrderNumber::Replay);
}

/// The tag of the field of that id.
fn field<'a>(page: &'a Response, id: &str) -> &'a str {
    let (before, after) = page.body.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no field {id}"));
    let start = before.rfind('<').expect("a tag");
    let end = before.len() + after.find('>').expect("an end") + format!("id=\"{id}\"").len();
    &page.body[start..end]
}

#[test]
fn rejected_form_keeps_values_and_marks_field() {
    let sandbox = start();
    let (cookie, csrf) = entered(&sandbox);
    for (path, fields, wrong, message) in [
        (
            "faults",
            [("name", "delay"), ("endpoint", "status"), ("times", "often\"")].as_slice(),
            "times",
            "must be a non-negative whole number",
        ),
        (
            "faults",
            &[("name", "delay"), ("endpoint", "status"), ("delay_ms", "-1")],
            "delay_ms",
            "must be a non-negative whole number",
        ),
        ("clock", &[("resolve_after_queries", "3"), ("resolve_after_s", "soon")], "resolve_after_s", "must be seconds"),
        ("clock/forward", &[("by", "-2"), ("unit", "days")], "by", "must be a non-negative whole number"),
        ("payment", &[("number", "NOBODY-1"), ("decision", "decline")], "number", "payment"),
    ] {
        let answer =
            form(&sandbox, &format!("/control/{path}"), &cookie, &[&[("csrf", csrf.as_str())], fields].concat());
        assert_eq!(answer.status, 400, "{path}");
        for (name, value) in
            fields.iter().filter(|(name, _)| !matches!(*name, "name" | "decision" | "endpoint" | "unit"))
        {
            let value = format!("value=\"{}\"", value.replace('"', "&#34;"));
            assert!(field(&answer, name).contains(&value), "{path} {name}: {}", field(&answer, name));
        }
        let marked = field(&answer, wrong);
        let problem = format!("aria-describedby=\"{wrong}-problem\"");
        assert!(marked.contains("aria-invalid=\"true\"") && marked.contains(&problem), "{marked}");
        let text = answer.body.split(&format!("id=\"{wrong}-problem\">")).nth(1).expect("what is wrong");
        assert!(text.split('<').next().is_some_and(|text| text.contains(message)), "{text}");
        assert_eq!(answer.body.matches("aria-invalid").count(), 1, "{path}");
        if path == "faults" {
            assert!(answer.body.contains("<option selected>delay</option>"));
            assert!(answer.body.contains("<option selected>status</option>"));
            assert_eq!(answer.body.contains("<details open>"), wrong == "delay_ms", "what is wrong is not folded away");
        }
        if path == "clock/forward" {
            assert!(answer.body.contains("<option selected>days</option>"));
        }
    }
}

#[test]
fn query_names_the_payment_to_decide() {
    let sandbox = start();
    let url = format!("{}/control?number=A%2F1%22%3E", sandbox.url());
    let page = open(&url);
    let fields = [("csrf", csrf(&page)), ("token", sandbox.admin_token().to_owned()), ("number", "A/1\">".to_owned())];
    assert!(page.body.contains("name=\"number\" value=\"A/1&#34;&#62;\""), "{}", page.body);
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let answer = form(&sandbox, LOGIN, &cookies(&page), &fields);
    assert_eq!(answer.header("location"), Some("../control?number=A%2F1%22%3E#decide"));
    let page = send("GET", &url, &[("cookie", &cookies(&answer))], b"");
    assert!(field(&page, "number").contains("value=\"A/1&#34;&#62;\""), "{}", field(&page, "number"));
}

#[test]
fn cookies_are_http_only_and_secure_behind_tls() {
    let sandbox = start_tunnelled("https://sandbox.example");
    let page = open(&format!("{}/control", sandbox.url()));
    let mut fields = url::form_urlencoded::Serializer::new(String::new());
    fields.append_pair("csrf", &csrf(&page)).append_pair("token", sandbox.admin_token());
    let cookies = cookies(&page);
    let headers = [("cookie", cookies.as_str()), ("x-forwarded-proto", "https")];
    let answer = send("POST", &format!("{}{LOGIN}", sandbox.url()), &headers, fields.finish().as_bytes());
    let session =
        answer.head.lines().find(|line| line.starts_with("set-cookie: kassa_control_443=")).expect("a cookie");
    for attribute in ["; HttpOnly", "; SameSite=Lax", "; Secure", "; Path=/"] {
        assert!(session.contains(attribute), "{session}");
    }
}
