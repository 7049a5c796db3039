//! The start page: it leads browsers to everything there is, and tells programs that they are wrong.

use kassa_sandbox::Sandbox;
use serde_json::Value;

use crate::common::{Response, call, open, send, start, start_tunnelled, start_with};

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
fn start_page_links_work_and_stay_on_host() {
    let sandbox = start();
    let html = start_page(&sandbox).body;
    let links = [values(&html, "href"), values(&html, "src")].concat();
    for link in &links {
        assert!(!link.contains("://") && !link.starts_with("//"), "{link}");
        let path = link.split('#').next().unwrap_or_default().trim_start_matches("./");
        let answer = send("GET", &format!("{}/{path}", sandbox.url()), &[("accept", "text/html")], b"");
        assert!(answer.status < 400, "{link}: {}", answer.status);
    }
    for place in ["dashboard", "control", "api", "dashboard/receiver"] {
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
fn start_page_example_creates_a_payment() {
    let sandbox = start();
    let html = text_of(&start_page(&sandbox).body);
    let curl = html.split(">curl ").nth(1).and_then(|rest| rest.split("</pre>").next()).expect("a request");
    assert!(curl.contains(&format!(" {}/api/v1.1.0/pay-form ", sandbox.url())), "{curl}");
    let body = curl.split('\'').nth(1).expect("a body");
    let answer = call(&sandbox, "POST", "/api/v1.1.0/pay-form", body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let link = answer.json()["data"]["payFormUrl"].as_str().map(str::to_owned).expect("a link");
    assert_eq!(open(&link).status, 200);
    let sent: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(sent["callbackURL"], format!("{}/receiver/start", sandbox.url()));
}

#[test]
fn start_page_behind_tunnel_shows_public_url() {
    let sandbox = start_tunnelled("https://tunnel.example/kassa");
    let html = start_page(&sandbox).body;
    assert!(html.contains("https://tunnel.example/kassa/api/v1.1.0/pay-form"), "{html}");
    assert!(values(&html, "href").contains(&"dashboard"), "links stay relative, so that they work there, too");
}
