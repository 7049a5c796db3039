//! The start page: it leads browsers to everything there is, and tells programs that they are wrong.

use std::process::Command;

use kassa_sandbox::{EndpointName, Sandbox};
use serde_json::Value;

use crate::common::{Response, open, send, start, start_tunnelled, start_with, wait_until};

/// What a browser gets that comes to the bare address.
fn start_page(sandbox: &Sandbox) -> Response {
    send("GET", &format!("{}/", sandbox.url()), &[("accept", "text/html,application/xhtml+xml")], b"")
}

/// The values of an attribute, in their order.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn text_of(html: &str) -> String {
    html.replace("&#39;", "'").replace("&#34;", "\"").replace("&#38;", "&")
}

#[test]
fn root_is_a_page_to_browsers_and_404_otherwise() {
    let sandbox = start();
    let page = start_page(&sandbox);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let url = format!("{}/", sandbox.url());
    assert_eq!(send("GET", &url, &[("accept", "*/*")], b"").status, 404);
    assert_eq!(send("POST", &url, &[("accept", "text/html")], b"").status, 404);
}

#[test]
fn unknown_address_is_a_page_to_browsers_and_text_otherwise() {
    let sandbox = start();
    for path in ["/nothing", "/api/v1.1.0", "/api/v1.1.0/nothing"] {
        let url = format!("{}{path}", sandbox.url());
        let page = send("GET", &url, &[("accept", "text/html,*/*;q=0.8")], b"");
        assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")), "{path}");
        assert!(page.body.contains("Nothing here") && page.body.contains(sandbox.url()), "{}", page.body);
        let home = "../".repeat(path.matches('/').count() - 1);
        assert!(values(&page.body, "href").contains(&format!("{home}api").as_str()), "{path}");
        for (method, accept) in [("GET", "*/*"), ("GET", "application/json"), ("POST", "text/html")] {
            let answer = send(method, &url, &[("accept", accept)], b"");
            let kind = answer.header("content-type");
            assert_eq!((answer.status, kind), (404, Some("text/plain; charset=utf-8")), "{method} {path}");
        }
    }
}

#[test]
fn start_page_links_work_and_stay_on_host() {
    let sandbox = start();
    let html = start_page(&sandbox).body;
    let links = [values(&html, "href"), values(&html, "src")].concat();
    let documents = format!("{}/blob/main/", env!("CARGO_PKG_REPOSITORY"));
    for link in links.iter().filter(|link| !link.starts_with(&documents)) {
        assert!(!link.contains("://") && !link.starts_with("//"), "{link}");
        let path = link.split('#').next().unwrap_or_default().trim_start_matches("./");
        let answer = send("GET", &format!("{}/{path}", sandbox.url()), &[("accept", "text/html")], b"");
        assert!(answer.status < 400, "{link}: {}", answer.status);
    }
    for place in ["dashboard", "control", "api", "dashboard/receiver", "openapi.json"] {
        assert!(links.contains(&place), "{place}");
    }
}

#[test]
fn api_page_has_the_shared_layout() {
    let sandbox = start();
    let page = start_page(&sandbox);
    let html = &page.body;
    for part in
        ["<html lang=\"en\">", "name=\"viewport\"", "content=\"light dark\"", "assets/base-", "assets/staff-", "<main"]
    {
        assert!(html.contains(part), "{part}");
    }
    assert_eq!(html.matches("<h1").count(), 1);
    for section in values(html, "aria-labelledby") {
        assert!(html.contains(&format!("id=\"{section}\"")), "{section}");
    }
    for inline in ["<style", " style=", "<script>", " onclick="] {
        assert!(!html.contains(inline), "{inline}");
    }
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'") && page.header("x-frame-options") == Some("DENY"), "{policy}");
}

#[test]
fn announcement_has_no_configured_secret() {
    let (password, token) = ("a password of my own", "a-token-of-my-own");
    let sandbox = start_with(|options| {
        options.password = password.to_owned();
        options.admin_token = Some(token.to_owned());
    });
    let html = start_page(&sandbox).body;
    assert!(!html.contains(password) && !html.contains(token));
}

#[test]
fn default_login_is_shown_configured_login_is_not() {
    assert!(start_page(&start()).body.contains("<code>sandbox-password</code>"));
    let own = start_with(|options| options.login = "$(my shop)".to_owned());
    let html = text_of(&start_page(&own).body);
    assert!(html.contains("curl -u \"$LOGIN:$PASSWORD\" ") && !html.contains("my shop"), "{html}");
}

#[test]
fn every_request_is_listed_and_leads_to_its_description() {
    let sandbox = start();
    let html = start_page(&sandbox).body;
    let described = open(&format!("{}/openapi.json", sandbox.url())).json();
    let page = open(&format!("{}/api", sandbox.url())).body;
    let mut count = 0;
    for (path, item) in described["paths"].as_object().expect("paths") {
        assert!(html.contains(&format!("<code>{path}</code>")), "{path}");
        for (method, operation) in item.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("an id");
            assert!(html.contains(&format!("href=\"api#{id}\"")), "{id}");
            assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
            assert!(html.contains(&format!(">{}</span>", method.to_ascii_uppercase())), "{method}");
            count += 1;
        }
    }
    assert_eq!(html.matches("href=\"api#").count(), count);
    assert!(count > EndpointName::ALL.len());
}

/// What a command of the page prints, as somebody types it who has the admin token.
fn typed(command: &str, sandbox: &Sandbox) -> Value {
    let command = command.replace("curl ", "curl --silent --show-error --noproxy '*' --fail-with-body ");
    let output = Command::new("sh").args(["-e", "-c", &command]).env("TOKEN", sandbox.admin_token()).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{command}: {output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn commands_of_the_page_work_as_they_stand() {
    let sandbox = start();
    let html = text_of(&start_page(&sandbox).body);
    let commands: Vec<_> =
        html.split("<pre tabindex=\"0\">").skip(1).filter_map(|rest| rest.split("</pre>").next()).collect();
    assert!(commands.iter().all(|command| command.starts_with("curl ")), "{commands:?}");
    let answers: Vec<_> = commands.iter().map(|command| typed(command, &sandbox)).collect();
    let [form, payment, status, ledger] = answers.as_slice() else { panic!("{commands:?}") };
    assert_eq!(open(form["data"]["payFormUrl"].as_str().expect("a link")).status, 200);
    assert_eq!(payment["data"]["status"], "Success");
    assert_eq!(status["data"]["status"], "CHARGE");
    assert_eq!(ledger["payments"][0]["times_charged"], 1, "{ledger}");
    wait_until("the receiver got the callback", || sandbox.callbacks().iter().any(|one| one.http_status == Some(200)));
}

#[test]
fn start_page_behind_tunnel_shows_public_url() {
    let sandbox = start_tunnelled("https://tunnel.example/kassa");
    let html = start_page(&sandbox).body;
    assert!(html.contains("https://tunnel.example/kassa/api/v1.1.0/pay-form"), "{html}");
    assert!(values(&html, "href").contains(&"dashboard"), "links stay relative, so that they work there, too");
}
