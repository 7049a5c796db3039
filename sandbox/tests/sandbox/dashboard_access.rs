//! Access to the merchant's dashboard: login, sessions, forms, and secrets that no page and no file shows.

use std::fs;

use kassa_sandbox::Database;

use crate::{
    browser::{Browser, csrf, set_cookies},
    common::{
        CARD, MBANK_CONFIRM, MBANK_PAY, PAY_FORM, STATUS, basic, call, card_body, confirm_body, get_status, mbank_body,
        pay_form_body, post, send, start, start_tunnelled, start_with, submit, wait_until,
    },
    dashboard::paid,
    merchant::Merchant,
};

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
        "/dashboard/charts",
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
    // The endpoints' credentials are requested by a form: nobody's browser remembers them for requests.
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
    for path in ["/dashboard/", "/dashboard/charts/", "/dashboard/transactions/1/"] {
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
