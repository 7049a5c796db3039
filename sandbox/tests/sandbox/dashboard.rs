//! The pages of the merchant's dashboard: payments, lists, exports, charts, deliveries, and the receiver of callbacks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kassa_sandbox::{Database, Demo, Sandbox};
use rusqlite::Connection;

use crate::{
    browser::{Browser, csrf, link_of},
    common::{
        CARD, MBANK_PAY, PAY_FORM, QR_DATA, STATUS, call, card_body, get_status, mbank_body, open, pay_form_body, post,
        qr_body, send, start, start_with, submit, wait_until,
    },
};

/// Pays by card, with the one-time password.
pub fn paid(sandbox: &Sandbox, order_number: &str) {
    let url = post(sandbox, CARD, &card_body(order_number)).data("ConfirmationUrl");
    assert_eq!(submit(&url, &[("otp", "123456")]).status, 303);
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
fn charts_and_analysis_show_correct_counts() {
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
        let page = browser.get(&format!("/dashboard/charts?by={unit}")).body;
        let row = page.split("<tbody>").nth(1).and_then(|body| body.split("</tr>").next()).expect("a row");
        let cells: Vec<_> =
            row.split("<td class=\"number").skip(1).filter_map(|cell| cell.split(['>', '<']).nth(1)).collect();
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
        assert_eq!(browser.get(&format!("/dashboard/charts?by=month&end={end}")).status, 200, "{end}");
        assert_eq!(browser.get(&format!("/dashboard/charts?by=hour&end={end}")).status, 200, "{end}");
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
    for path in ["/dashboard?sort=largest", "/dashboard/charts", "/dashboard/analysis", "/dashboard/transactions.csv"] {
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
