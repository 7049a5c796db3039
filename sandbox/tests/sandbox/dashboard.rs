//! The merchant's dashboard: login, pages, and secrets that no page shows.

use std::{
    fs,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use kassa_sandbox::{Database, Demo, Sandbox};
use rusqlite::Connection;

use crate::{
    common::{
        CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, QR_DATA, Response, STATUS, basic, call, card_body, confirm_body,
        get_status, mbank_body, open, pay_form_body, post, qr_body, send, start, start_tunnelled, start_with, submit,
        wait_until,
    },
    merchant::Merchant,
};

/// A browser: it keeps cookies, and follows nothing by itself.
pub struct Browser<'a> {
    sandbox: &'a Sandbox,
    cookies: Vec<(String, String)>,
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

fn set_cookies(answer: &Response) -> Vec<String> {
    let lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).map(|(_, value)| value.to_owned()).collect()
}

/// The token of the page's forms.
fn csrf(html: &str) -> String {
    let rest = html.split("name=\"csrf\" value=\"").nth(1).unwrap_or_else(|| panic!("no token in {html}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn paid(sandbox: &Sandbox, order_number: &str) {
    let url = post(sandbox, CARD, &card_body(order_number)).data("ConfirmationUrl");
    assert_eq!(submit(&url, &[("otp", "123456")]).status, 303);
}

/// Where the row of an order leads to.
fn link_of(html: &str, order_number: &str) -> String {
    let before = html.split(&format!(">{order_number}</a>")).next().expect("a page");
    let link = before.rsplit("href=\"").next().and_then(|rest| rest.split('"').next()).expect("a link");
    format!("/{}", link.trim_start_matches("../"))
}

#[test]
fn without_a_session_only_the_login_is_shown() {
    let sandbox = start();
    paid(&sandbox, "SECRET-1");
    let mut browser = Browser::new(&sandbox);
    for path in [
        "/dashboard",
        "/dashboard/",
        "/dashboard/transactions/1",
        "/dashboard/transactions.csv",
        "/dashboard/schedules",
        "/dashboard/analysis",
        "/dashboard/deliveries",
        "/dashboard/receiver",
        "/dashboard/nothing",
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 303, "{path}");
        assert!(answer.header("location").is_some_and(|to| to.contains("dashboard/login")), "{path}");
        assert!(answer.body.is_empty());
    }
    for path in ["/dashboard/logout", "/dashboard/deliveries/again", "/dashboard/receiver/forget"] {
        assert_eq!(browser.post(path, &[("csrf", "")]).status, 303, "{path}");
    }
    // The endpoints' credentials are asked for by a form: nobody's browser remembers them for requests.
    let authorization = basic(sandbox.login(), sandbox.password());
    let url = format!("{}/dashboard", sandbox.url());
    assert_eq!(send("GET", &url, &[("authorization", &authorization)], b"").status, 303);
}

#[test]
fn requested_page_opens_after_the_login() {
    let sandbox = start();
    let shared = "dashboard?q=Two+coffees&status=CHARGE&sort=largest";
    for (path, wanted) in [
        (format!("/{shared}"), shared),
        ("/dashboard/?status=Reject".to_owned(), "dashboard?status=Reject"),
        ("/dashboard/deliveries?order=A%261".to_owned(), "dashboard/deliveries?order=A%261"),
        // After the login a file would be saved by a page that still shows the login: the list it is made of is next.
        (format!("/{}", shared.replace('?', "/transactions.csv?")), shared),
    ] {
        let mut browser = Browser::new(&sandbox);
        let to_login = browser.get(&path);
        assert_eq!(to_login.status, 303);
        assert!(to_login.header("content-disposition").is_none() && to_login.body.is_empty());
        let login = format!("/{}", to_login.header("location").expect("a location").trim_start_matches("../"));
        let form = browser.get(&login).body;
        let next =
            form.split("name=\"next\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a field");
        let next = next.replace("&#38;", "&");
        assert_eq!(next, wanted, "{path}");
        let fields =
            [("csrf", csrf(&form)), ("next", next), ("login", "kassa".into()), ("password", "sandbox-password".into())];
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = browser.post("/dashboard/login", &fields);
        assert_eq!(answer.header("location"), Some(format!("../{wanted}").as_str()));
        assert_eq!(browser.get(&format!("/{wanted}")).status, 200);
    }
}

#[test]
fn merchant_credentials_log_in_until_logout() {
    let sandbox = start();
    paid(&sandbox, "SEEN-1");
    let mut browser = Browser::logged_in(&sandbox);
    let page = browser.get("/dashboard");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("SEEN-1") && page.body.contains("100.10 KGS"), "{}", page.body);
    for path in ["/dashboard/", "/dashboard/schedules/", "/dashboard/transactions/1/"] {
        assert_eq!(browser.get(path).status, 200, "{path}");
    }
    let session = browser.cookies.clone();
    let csrf = csrf(&page.body);
    assert_eq!(browser.post("/dashboard/logout", &[("csrf", &csrf)]).status, 303);
    assert_eq!(browser.get("/dashboard").status, 303);
    // Also with the old cookie.
    browser.cookies = session;
    assert_eq!(browser.get("/dashboard").status, 303);
}

/// The links among the actions of a payment's page.
fn actions(html: &str) -> Vec<String> {
    let Some((_, rest)) = html.split_once("class=\"actions\"") else {
        return Vec::new();
    };
    let actions = rest.split("</div>").next().unwrap_or_default();
    let links = actions.split("href=\"").skip(1).filter_map(|link| link.split('"').next());
    links.map(|link| link.trim_start_matches("../").replace("&#38;", "&")).collect()
}

#[test]
fn open_payment_links_to_both_its_pages() {
    let sandbox = start();
    post(&sandbox, CARD, &card_body("LEAD-1"));
    post(&sandbox, MBANK_PAY, &mbank_body("LEAD-2"));
    post(&sandbox, PAY_FORM, &pay_form_body());
    post(&sandbox, QR_DATA, &qr_body());
    let mut browser = Browser::logged_in(&sandbox);
    for (payment, page) in sandbox.payments().into_iter().zip(["3ds", "", "pay-form", "qr"]) {
        let list = browser.get("/dashboard").body;
        let path = link_of(&list, &payment.order_number);
        let number = &payment.gateway_number;
        let mut expected = vec![format!("{page}?token={number}"), format!("control?number={number}#decide")];
        expected.retain(|link| !link.starts_with('?'));
        assert_eq!(actions(&browser.get(&path).body), expected, "{}", payment.order_number);
        if !page.is_empty() {
            assert_eq!(open(&format!("{}/{}", sandbox.url(), expected[0])).status, 200);
        }
        sandbox.decline(&payment.order_number).expect("an end");
        assert!(actions(&browser.get(&path).body).is_empty(), "it is decided");
    }
}

#[test]
fn pages_and_cookies_have_security_attributes() {
    let sandbox = start();
    let mut browser = Browser::new(&sandbox);
    let login = browser.get("/dashboard/login");
    let answer = browser.log_in("kassa", "sandbox-password");
    for cookie in set_cookies(&login).into_iter().chain(set_cookies(&answer)) {
        assert!(cookie.contains("; HttpOnly; SameSite=Lax") && !cookie.contains("; Secure"), "{cookie}");
    }
    let page = browser.get("/dashboard");
    let policy = page.header("content-security-policy").expect("a policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    for (name, value) in
        [("cache-control", "no-store"), ("referrer-policy", "no-referrer"), ("x-content-type-options", "nosniff")]
    {
        assert_eq!(page.header(name), Some(value));
    }
}

#[test]
fn cookies_are_secure_behind_tls() {
    let behind_a_proxy = start();
    let url = format!("{}/dashboard/login", behind_a_proxy.url());
    let answer = send("GET", &url, &[("x-forwarded-proto", "https")], b"");
    assert!(set_cookies(&answer)[0].contains("; Secure"));
    // Past the proxy they work, too.
    let tunnelled = start_tunnelled("https://tunnel.example");
    assert_eq!(Browser::logged_in(&tunnelled).get("/dashboard").status, 200);
}

#[test]
fn form_without_the_session_s_token_does_nothing() {
    let sandbox = start();
    let mut browser = Browser::logged_in(&sandbox);
    for token in ["", "wrong"] {
        assert_eq!(browser.post("/dashboard/logout", &[("csrf", token)]).status, 403);
    }
    let other = csrf(&Browser::logged_in(&sandbox).get("/dashboard").body);
    assert_eq!(browser.post("/dashboard/logout", &[("csrf", &other)]).status, 403);
    assert_eq!(browser.get("/dashboard").status, 200, "still logged in");
    let mut other = Browser::new(&sandbox);
    let form = [("csrf", "0".repeat(64)), ("login", "kassa".into()), ("password", "sandbox-password".into())];
    let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(other.post("/dashboard/login", &form).status, 403, "the login's form, too");
}

#[test]
fn lockout_applies_to_the_right_password() {
    let sandbox = start();
    let mut browser = Browser::new(&sandbox);
    for _ in 0..4 {
        assert_eq!(browser.log_in("kassa", "wrong").status, 403);
    }
    for (login, password) in [("wrong", "sandbox-password"), ("kassa", "sandbox-password")] {
        let answer = browser.log_in(login, password);
        assert_eq!(answer.status, 429);
        let wait: u32 = answer.header("retry-after").and_then(|wait| wait.parse().ok()).expect("seconds");
        assert!((1..=30).contains(&wait), "{wait}");
        assert!(answer.body.contains("Too many wrong attempts"));
    }
}

#[test]
fn login_page_escapes_and_redirects_locally() {
    let sandbox = start();
    let mut browser = Browser::new(&sandbox);
    let page = browser.get("/dashboard/login?next=https%3A%2F%2Fevil.example");
    assert!(!page.body.contains("evil"), "{}", page.body);
    let page = browser.get("/dashboard/login?next=dashboard%3Fq%3D%22%3E%3Cscript%3E");
    assert!(!page.body.contains("<script>"), "{}", page.body);
}

#[test]
fn hostile_texts_are_shown_as_texts() {
    let sandbox = start();
    let hostile = "\"><script>alert(1)</script>";
    let body = card_body("X-1").with_text("description", hostile).with_text("name", hostile);
    post(&sandbox, CARD, &body);
    let mut browser = Browser::logged_in(&sandbox);
    let list = browser.get("/dashboard?q=%3Cscript%3E").body;
    assert!(list.contains("1 matching payment"), "{list}");
    let payment = browser.get(&link_of(&list, "X-1")).body;
    assert!(payment.contains("alert(1)"), "{payment}");
    for page in [list, payment] {
        assert!(!page.contains("<script>") && !page.contains("\"><script"), "{page}");
    }
}

#[test]
fn payment_page_shows_the_whole_history() {
    let sandbox = start();
    let body = card_body("STORY-1").with_text("callbackUrl", &format!("{}/receiver/story", sandbox.url()));
    let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
    let token = url.split("token=").nth(1).expect("a token").to_owned();
    submit(&url, &[("otp", "123456")]);
    get_status(&sandbox, "STORY-1", "Cards");
    call(&sandbox, "GET", STATUS, &format!("{{\"orderNumber\":\"{token}\"}}"));
    wait_until("the callback is delivered", || !sandbox.callbacks().is_empty());
    let mut browser = Browser::logged_in(&sandbox);
    let list = browser.get("/dashboard").body;
    let page = browser.get(&link_of(&list, "STORY-1")).body;
    for part in [
        "Request to payment",
        "Request to get-status",
        "Request to status",
        "Callback, attempt 1",
        "411111******1111",
        "PAYMENT_SUCCESS",
        "&#34;amount&#34;: 100.10",
        "content-type: application/json",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(browser.get("/dashboard/transactions/999").status == 404);
    assert!(browser.get("/dashboard/transactions/x").status == 404);
}

#[test]
fn request_without_number_is_in_payment_history() {
    let sandbox = start();
    post(&sandbox, PAY_FORM, &pay_form_body());
    post(&sandbox, QR_DATA, &qr_body());
    let mut browser = Browser::logged_in(&sandbox);
    let list = browser.get("/dashboard").body;
    let payments = sandbox.payments();
    for (payment, endpoint) in payments.iter().zip(["Request to pay-form", "Request to qr/dynamic/data"]) {
        let page = browser.get(&link_of(&list, &payment.order_number)).body;
        assert_eq!(page.matches("Request to ").count(), 1, "{page}");
        assert!(page.contains(endpoint), "{page}");
    }
}

#[test]
fn no_secret_reaches_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sandbox.db");
    let sandbox = start_with(|options| {
        options.database = Database::File(path.clone());
        options.password = "p4ssw0rd-of-the-shop".to_owned();
        // Each attempt writes a time down, and a time may be any three bytes.
        options.callback_pauses = Vec::new();
    });
    let card = card_body("D-1").with_text("cvc", "9q7").with_text("expiryMonth", "11").with("expiryYear", "2087");
    let url = post(&sandbox, CARD, &card).data("ConfirmationUrl");
    submit(&url, &[("otp", "918273")]);
    submit(&url, &[("otp", "123456")]);
    post(&sandbox, MBANK_PAY, &mbank_body("D-2"));
    post(&sandbox, MBANK_CONFIRM, &confirm_body("D-2", "918273"));
    post(&sandbox, MBANK_CONFIRM, &confirm_body("D-2", "101101"));
    let form = post(&sandbox, PAY_FORM, &pay_form_body()).data("payFormUrl");
    let payer = [
        ("provider", "Cards"),
        ("pan", "4000 0000 0000 2016"),
        ("expiryMonth", "11"),
        ("expiryYear", "2087"),
        ("cvc", "9q7"),
        ("name", "A"),
    ];
    submit(&form, &payer);
    // In the wrong place, under a wrong name, and in no JSON at all.
    post(&sandbox, CARD, &card_body("4111111111111111"));
    post(&sandbox, CARD, &card_body("D-3").with_text("cardNumber", "5555555555554444"));
    let in_words = card_body("D-4").with_text("description", "my card is 5105105105105100");
    let in_words = in_words.with_text("name", "6304 0000 0000 0000 Asanov");
    let created = post(&sandbox, CARD, &in_words);
    assert_eq!(created.data("description"), "my card is 5105105105105100", "an answer repeats the request");
    call(&sandbox, "POST", CARD, "{\"3566002020360505\": 1}");
    call(&sandbox, "POST", CARD, "pan=378282246310005&cvc=9q7");
    call(&sandbox, "POST", &format!("{CARD}?pan=30569309025904&otp=918273"), "{}");
    let receiver = format!("{}/receiver/shop?card=6011111111111117", sandbox.url());
    send("POST", &receiver, &[("authorization", "Bearer t0ken-of-somebody")], b"{\"pan\":\"3530111333300000\"}");
    let receiver = format!("{}/receiver/shop", sandbox.url());
    send("POST", &receiver, &[], b"{\"pan\":\"3530111333300000\",\"cvc\":\"9q7\",\"expiryYear\":2087}");
    send("POST", &receiver, &[], b"card=5200+8282+8282+8210");
    // Security codes and passwords for one time: in forms, in JSON inside of other things, in queries, in what a shop
    // answers.
    send("POST", &receiver, &[], b"order=A-1&cvc=9q7&card%5Botp%5D=918273");
    send("POST", &receiver, &[], b"{\"payment\":[{\"cvv\":\"9q7\"}],\"raw\":\"{\\\"otp\\\":\\\"918273\\\"}\"}");
    let in_parts = [("content-type", "multipart/form-data; boundary=b")];
    send("POST", &receiver, &in_parts, b"--b\r\nContent-Disposition: form-data; name=\"cvc\"\r\n\r\n9q7\r\n--b--\r\n");
    send("GET", &format!("{receiver}?cvc=9q7&next=%2Fx%3Fotp%3D918273"), &[], b"");
    let in_links = card_body("D-5").with("returnUrl", "\"https://shop.example/?cvc=9q7\"");
    let in_links = in_links.with("callbackUrl", "\"https://shop.example/?otp=918273\"").with("amount", "0");
    assert_eq!(post(&sandbox, CARD, &in_links).status, 400);
    let shop = Merchant::saying("{\"echo\": {\"cvc\": \"9q7\"}, \"said\": \"thanks\"}", &[]);
    let body = card_body("D-6").with("pan", "\"4000000000002016\"").with("callbackUrl", &shop.json_url());
    post(&sandbox, CARD, &body);
    wait_until("the shop answered", || sandbox.callbacks().iter().any(|attempt| attempt.http_status == Some(200)));
    // A card's number in the place of the order's, where no payment comes of it.
    let misplaced = card_body("6011000990139424").with("amount", "0");
    assert_eq!(post(&sandbox, CARD, &misplaced).status, 400);
    assert_eq!(post(&sandbox, CARD, &misplaced.with("orderNumber", "\"\\u0036011000990139424\"")).status, 400);
    get_status(&sandbox, "6011000990139424", "Cards");
    call(&sandbox, "GET", &format!("{STATUS}?orderNumber=6011000990139424"), "");
    send("GET", &format!("{}{STATUS}?orderNumber=6011000990139424", sandbox.url()), &[], b"");
    assert!(sandbox.requests().iter().any(|request| request.order_number.as_deref() == Some("601100******9424")));
    // An order's own number stays, even if it looks like that.
    assert_eq!(post(&sandbox, CARD, &card_body("3056930009020004")).status, 200);
    let mut browser = Browser::new(&sandbox);
    browser.log_in("kassa", "p4ssw0rd-wrong");
    assert_eq!(browser.log_in("kassa", "p4ssw0rd-of-the-shop").status, 303);
    browser.get("/dashboard?q=4111111111111111");
    sandbox.stop();

    let mut stored = Vec::new();
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        stored.extend(fs::read(entry.expect("an entry").path()).expect("readable"));
    }
    let stored = String::from_utf8_lossy(&stored);
    assert!(stored.contains("411111******1111"), "the mask is there");
    assert!(stored.contains("thanks"), "the shop's answer is there");
    assert!(stored.contains("\"orderNumber\": \"3056930009020004\""), "an order's own number is there");
    for secret in [
        "6011000990139424",
        "u0036011000990139424",
        "9q7",
        // Four digits alone may be a part of any number.
        "\":2087",
        "\": 2087",
        "Year=2087",
        "\"2087\"",
        "918273",
        "123456\"",
        "101101",
        "4000000000002016",
        "4000 0000 0000 2016",
        "5555555555554444",
        "5105105105105100",
        "378282246310005",
        "30569309025904",
        "6011111111111117",
        "3530111333300000",
        "5105105105105100",
        "6304 0000 0000 0000",
        "3566002020360505",
        "5200+8282+8282+8210",
        "p4ssw0rd",
        "t0ken-of-somebody",
    ] {
        assert!(!stored.contains(secret), "{secret}");
    }
}

#[test]
fn list_pages_have_every_payment_once() {
    let sandbox = start_with(|options| options.demo = Some(Demo::of(137)));
    let mut browser = Browser::logged_in(&sandbox);
    for sort in ["newest", "oldest", "largest", "smallest"] {
        let mut seen = Vec::new();
        let mut query = format!("?sort={sort}");
        loop {
            let page = browser.get(&format!("/dashboard{query}")).body;
            let rows = page.split("dashboard/transactions/").skip(1);
            seen.extend(rows.filter_map(|row| row.split('"').next()?.parse::<u32>().ok()));
            let Some(next) = page.split("rel=\"next\" href=\"").nth(1) else { break };
            query = next.split('"').next().expect("a link").replace("&#38;", "&").replace("&amp;", "&");
        }
        assert_eq!(seen.len(), 137, "{sort}");
        let distinct: std::collections::BTreeSet<_> = seen.into_iter().collect();
        assert_eq!(distinct.len(), 137, "{sort}");
    }
}

#[test]
fn list_filter_covers_every_field() {
    let sandbox = start();
    paid(&sandbox, "FIND-1");
    post(&sandbox, MBANK_PAY, &mbank_body("FIND-2").with_text("comment", "Обед"));
    post(&sandbox, QR_DATA, &qr_body());
    let qr = sandbox.payments().pop().expect("a payment");
    let mut browser = Browser::logged_in(&sandbox);
    for (query, count) in [
        ("", "3 payments"),
        ("q=FIND", "2 matching payments"),
        ("q=find-2", "1 matching payment"),
        ("q=%25", "0 matching payments"),
        ("q=411111******1111", "1 matching payment"),
        ("q=4111+1111+1111+1111", "1 matching payment"),
        ("q=coffees", "1 matching payment"),
        ("q=%D0%BE%D0%91%D0%B5%D0%94", "1 matching payment"), // обед
        ("kind=qr", "1 matching payment"),
        ("provider=MBank", "2 matching payments"),
        ("status=CHARGE", "1 matching payment"),
        ("least=100.10&most=200", "2 matching payments"),
        ("from=2020-01-01", "3 matching payments"),
        ("to=2020-01-01", "0 matching payments"),
    ] {
        let page = browser.get(&format!("/dashboard?{query}")).body;
        assert!(page.contains(&format!(">{count}<")), "{query}: {page}");
    }
    for number in [&qr.order_number, &qr.gateway_number] {
        assert!(browser.get(&format!("/dashboard?q={number}")).body.contains(">1 matching payment<"));
    }
    let refused = browser.get("/dashboard?from=tomorrow&least=many");
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("From must be a date") && refused.body.contains("Amount from must be an amount"));
}

#[test]
fn export_is_complete_and_has_no_formulas() {
    let sandbox = start_with(|options| options.demo = Some(Demo::of(1203)));
    post(&sandbox, MBANK_PAY, &mbank_body("CSV-1").with_text("comment", "=HYPERLINK(\"http://x\",\"a,b\")"));
    let mut browser = Browser::logged_in(&sandbox);
    let file = browser.get("/dashboard/transactions.csv");
    assert_eq!(file.status, 200);
    assert!(file.header("content-disposition").is_some_and(|value| value.starts_with("attachment")));
    // It comes in chunks, whose lengths stand between them here.
    assert_eq!(
        file.body.matches(",KGS,").count() + file.body.matches(",USD,").count() + file.body.matches(",EUR,").count(),
        1204
    );
    assert!(file.body.contains("\"'=HYPERLINK(\"\"http://x\"\",\"\"a,b\"\")\""), "{}", &file.body[..2000]);
    let filtered = browser.get("/dashboard/transactions.csv?q=CSV-1");
    assert!(filtered.body.contains(",CSV-1,") && !filtered.body.contains("SHOP-"), "{}", filtered.body);
    assert_eq!(browser.get("/dashboard/transactions.csv?least=many").status, 400);
}

#[test]
fn schedules_and_analysis_show_correct_counts() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let half_past = Duration::from_secs((5400 - now % 3600) % 3600);
    // No hour, and so no day, week or month, ends meanwhile.
    let sandbox = start_with(|options| options.clock_ahead = half_past);
    for number in ["A-1", "A-2"] {
        paid(&sandbox, number);
    }
    post(&sandbox, CARD, &card_body("A-3").with("pan", "\"4000000000002024\""));
    post(&sandbox, QR_DATA, &qr_body());
    let mut browser = Browser::logged_in(&sandbox);
    for unit in ["hour", "day", "week", "month"] {
        let page = browser.get(&format!("/dashboard/schedules?by={unit}")).body;
        let row = page.split("<tbody>").nth(1).and_then(|body| body.split("</tr>").next()).expect("a row");
        let cells: Vec<_> =
            row.split("<td class=\"number\">").skip(1).filter_map(|cell| cell.split('<').next()).collect();
        assert_eq!(cells, ["4", "2", "1", "1", "66.7 %", "200.20 KGS"], "{unit}");
        assert!(
            page.matches("<svg class=\"chart\"").count() == 2 && page.contains("<title>Payments over time</title>")
        );
    }
    let page = browser.get("/dashboard/analysis").body;
    for figure in ["66.7 %", "200.20 KGS", "The payment was declined", "QR"] {
        assert!(page.contains(figure), "{figure} in {page}");
    }
    // Far from everything, and where no calendar goes.
    for end in ["0", "-9223372036854775808", "9223372036854775807", "x"] {
        assert_eq!(browser.get(&format!("/dashboard/schedules?by=month&end={end}")).status, 200, "{end}");
        assert_eq!(browser.get(&format!("/dashboard/schedules?by=hour&end={end}")).status, 200, "{end}");
    }
}

#[test]
fn huge_amounts_break_no_page() {
    let sandbox = start();
    for number in ["BIG-1", "BIG-2", "BIG-3"] {
        let body =
            card_body(number).with("amount", "79228162514264337593543950335").with("pan", "\"4000000000002016\"");
        assert_eq!(post(&sandbox, CARD, &body).status, 200);
    }
    let mut browser = Browser::logged_in(&sandbox);
    for path in
        ["/dashboard?sort=largest", "/dashboard/schedules", "/dashboard/analysis", "/dashboard/transactions.csv"]
    {
        assert_eq!(browser.get(path).status, 200, "{path}");
    }
    assert!(browser.get("/dashboard").body.contains("79,228,162,514,264,337,593,543,950,335 KGS"));
}

#[test]
fn redelivered_callback_is_shown_by_receiver() {
    let sandbox = start();
    let target = format!("{}/receiver/my%20shop?ref=7", sandbox.url());
    let body = card_body("AGAIN-1").with("pan", "\"4000000000002016\"").with_text("callbackUrl", &target);
    post(&sandbox, CARD, &body);
    wait_until("it was delivered", || sandbox.callbacks().len() == 1);
    let mut browser = Browser::logged_in(&sandbox);
    let page = browser.get("/dashboard/deliveries").body;
    let callback =
        page.split("name=\"callback\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an id");
    let csrf = csrf(&page);
    let form = [("csrf", csrf.as_str()), ("callback", callback), ("order", "AGAIN-1")];
    let answer = browser.post("/dashboard/deliveries/again", &form);
    assert_eq!(answer.header("location"), Some("../../dashboard/deliveries?again=1&order=AGAIN-1"));
    wait_until("it was delivered again", || sandbox.callbacks().len() == 2);
    assert_eq!(sandbox.callbacks()[1].attempt, 2);
    let page = browser.get("/dashboard/receiver").body;
    assert_eq!(page.matches("AGAIN-1").count(), 2, "{page}");
    assert!(page.contains("POST /receiver/my%20shop?ref=7"), "{page}");
    for callback in ["", "x", "999"] {
        let form = [("csrf", csrf.as_str()), ("callback", callback)];
        assert_eq!(browser.post("/dashboard/deliveries/again", &form).status, 404);
    }
    assert_eq!(browser.post("/dashboard/receiver/forget", &[("csrf", &csrf)]).status, 303);
    assert!(browser.get("/dashboard/receiver").body.contains("Nothing yet."));
}

#[test]
fn delivery_shows_what_the_shop_answered() {
    let sandbox = start_with(|options| options.callback_pauses = Vec::new());
    let target = format!("{}/receiver/shop?answer=503", sandbox.url());
    let body = card_body("NO-1").with("pan", "\"4000000000002016\"").with_text("callbackUrl", &target);
    post(&sandbox, CARD, &body);
    wait_until("it was tried", || sandbox.callbacks().len() == 1);
    assert_eq!(sandbox.callbacks()[0].http_status, Some(503));
    let mut browser = Browser::logged_in(&sandbox);
    let page = browser.get("/dashboard/deliveries?outcome=failed").body;
    assert!(page.contains("NO-1"), "{page}");
    assert!(!browser.get("/dashboard/deliveries?outcome=delivered").body.contains("NO-1"));
    let page = browser.get("/dashboard/deliveries/1").body;
    for part in ["HTTP 503 Service Unavailable", "received", "content-type: text/plain"] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn receiver_has_limits() {
    let sandbox = start();
    let url = format!("{}/receiver/a/b", sandbox.url());
    assert_eq!(send("PUT", &url, &[], b"x").status, 200);
    assert_eq!(send("POST", &url, &[], &vec![b'x'; 64 * 1024 + 1]).status, 413);
    assert_eq!(send("POST", &format!("{url}?answer=99"), &[], b"").status, 200);
    assert_eq!(send("POST", &url, &[], &vec![b'y'; 64 * 1024]).status, 200);
    let page = Browser::logged_in(&sandbox).get("/dashboard/receiver?name=a%2Fb").body;
    assert!(page.contains("65536 bytes in all") && page.len() < 40_000, "{}", page.len());
}

#[test]
fn demo_fills_an_empty_file_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sandbox.db");
    let start = || {
        start_with(|options| {
            options.database = Database::File(path.clone());
            options.demo = Some(Demo::of(50));
        })
    };
    let first = start();
    assert_eq!(first.payments().len(), 50);
    assert!(!first.callbacks().is_empty() && !first.requests().is_empty());
    post(&first, MBANK_PAY, &mbank_body("OWN-1"));
    first.stop();
    assert_eq!(start().payments().len(), 51);
}

#[test]
fn open_payment_of_a_demo_can_be_paid() {
    let sandbox = start_with(|options| options.demo = Some(Demo::of(400)));
    let open = sandbox.payments().into_iter().find(|payment| {
        payment.kind == kassa_sandbox::PaymentKind::Card && payment.status == kassa_sandbox::PaymentStatus::Created
    });
    let url = format!("{}/3ds?token={}", sandbox.url(), open.expect("an open one").gateway_number);
    assert!(submit(&url, &[("otp", "123456")]).status < 400);
}

#[test]
fn database_of_first_version_is_browsable() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sandbox.db");
    let connection = Connection::open(&path).expect("a database");
    connection.execute_batch(include_str!("../../src/store/migration_1.sql")).expect("the first version");
    connection
        .execute_batch(
            "INSERT INTO payments (kind, order_number, gateway_number, provider, amount, currency, description,
                confirmation_page, status, otp_attempts_left, created_at, finished_at, pending_since)
                VALUES ('qr', 'QR-1', 'G-1', 'MBank', '12550', 'KGS', '', 0, 'CHARGE', 3, 1767203999000,
                1767204004000, NULL),
                    ('card', 'V-2', 'G-2', 'Cards', '100.10', 'KGS', '', 0, 'PENDING', 3, 1767203999000, NULL,
                    1767203999500);
             INSERT INTO state_changes (payment_id, status, at) VALUES (1, 'CREATED', 1767203999000),
                (1, 'CHARGE', 1767204004000), (2, 'CREATED', 1767203999000), (2, 'PENDING', 1767203999500);
             INSERT INTO exchanges (at, endpoint, order_number, http_status)
                VALUES (1767204000000, '/gen/qr/transaction/status', 'QR-1', 200);",
        )
        .expect("written");
    connection.pragma_update(None, "user_version", 1).expect("written");
    drop(connection);
    let sandbox = start_with(|options| options.database = Database::File(path));
    let mut browser = Browser::logged_in(&sandbox);
    let list = browser.get("/dashboard?least=125&most=126").body;
    assert!(list.contains("125.50 KGS") && list.contains(">1 matching payment<"), "{list}");
    let page = browser.get(&link_of(&list, "QR-1")).body;
    assert!(page.contains("after 5.0 s") && page.contains("Request to qr/transaction/status"), "{page}");
    assert!(browser.get("/dashboard/analysis?span=all").body.contains("5.0 s"));
}

#[test]
fn static_files_are_content_addressed() {
    let sandbox = start();
    let page = Browser::new(&sandbox).get("/dashboard/login").body;
    let name = page.split("assets/base-").nth(1).and_then(|rest| rest.split('"').next()).expect("a stylesheet");
    let url = format!("{}/assets/base-{name}", sandbox.url());
    let file = send("GET", &url, &[], b"");
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert!(file.header("cache-control").is_some_and(|value| value.contains("immutable")));
    let tag = file.header("etag").expect("a tag").to_owned();
    assert_eq!(send("GET", &url, &[("if-none-match", &tag)], b"").status, 304);
    assert_eq!(send("GET", &format!("{}/assets/base.css", sandbox.url()), &[], b"").status, 404);
}
