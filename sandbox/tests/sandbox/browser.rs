//! A browser of the merchant's: it keeps cookies, and reads tokens and links in pages.

use kassa_sandbox::Sandbox;

use crate::common::{Response, send};

/// A browser: it keeps cookies, and follows nothing by itself.
pub struct Browser<'a> {
    sandbox: &'a Sandbox,
    pub cookies: Vec<(String, String)>,
}

impl<'a> Browser<'a> {
    pub fn new(sandbox: &'a Sandbox) -> Self {
        Self { sandbox, cookies: Vec::new() }
    }

    /// One that is logged in.
    pub fn logged_in(sandbox: &'a Sandbox) -> Self {
        let mut browser = Self::new(sandbox);
        let answer = browser.log_in(sandbox.login(), sandbox.password());
        assert_eq!(answer.status, 303, "{}", answer.body);
        browser
    }

    pub fn log_in(&mut self, login: &str, password: &str) -> Response {
        let csrf = csrf(&self.get("/dashboard/login").body);
        self.post("/dashboard/login", &[("csrf", &csrf), ("login", login), ("password", password)])
    }

    pub fn get(&mut self, path: &str) -> Response {
        self.send("GET", path, &[], b"")
    }

    pub fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Response {
        let mut encoded = url::form_urlencoded::Serializer::new(String::new());
        encoded.extend_pairs(form);
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.send("POST", path, &headers, encoded.finish().as_bytes())
    }

    fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let cookies: Vec<_> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let mut headers = headers.to_vec();
        headers.push(("cookie", &cookies));
        let answer = send(method, &format!("{}{path}", self.sandbox.url()), &headers, body);
        for line in set_cookies(&answer) {
            let (name, value) = line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie");
            self.cookies.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        answer
    }
}

pub fn set_cookies(answer: &Response) -> Vec<String> {
    let lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).map(|(_, value)| value.to_owned()).collect()
}

/// The token of the page's forms.
pub fn csrf(html: &str) -> String {
    let rest = html.split("name=\"csrf\" value=\"").nth(1).unwrap_or_else(|| panic!("no token in {html}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Where the row of an order leads to.
pub fn link_of(html: &str, order_number: &str) -> String {
    let before = html.split(&format!(">{order_number}</a>")).next().expect("a page");
    let link = before.rsplit("href=\"").next().and_then(|rest| rest.split('"').next()).expect("a link");
    format!("/{}", link.trim_start_matches("../"))
}
