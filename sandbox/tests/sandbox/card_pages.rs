//! The 3DS page: every way through it.

use kassa_sandbox::{PaymentStatus, RejectReason, Sandbox};

use crate::common::{CARD, Response, card_body, open, post, start, start_with, submit};

fn confirmation_url(sandbox: &Sandbox, order_number: &str, pan: &str) -> String {
    let body = card_body(order_number).with_text("pan", pan);
    post(sandbox, CARD, &body).data("ConfirmationUrl")
}

fn otp(url: &str, otp: &str) -> Response {
    submit(url, &[("otp", otp)])
}

#[test]
fn right_password_charges_and_redirects_back() {
    let sandbox = start();
    let url = confirmation_url(&sandbox, "A-1", "4111111111111111");
    let page = open(&url);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("name=\"otp\"") && page.body.contains("4111 11•• •••• 1111"));
    assert!(page.body.contains("<html lang=\"en\">"));

    let done = otp(&url, "123456");
    assert_eq!(done.status, 303);
    assert_eq!(done.header("location"), Some("https://shop.example/done?cart=7&OrderNumber=A-1&statusCode=200#top"));
    let payment = sandbox.payment("A-1").expect("in the ledger");
    assert_eq!((payment.status, payment.times_charged), (PaymentStatus::Charged, 1));
}

#[test]
fn page_without_a_return_url_ends_on_a_result() {
    let sandbox = start();
    let body = card_body("N-1").without("returnUrl");
    let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
    let done = otp(&url, "123456");
    assert_eq!(done.status, 200);
    assert!(done.body.contains("<h1>Paid</h1>") && !done.body.contains("Back to the merchant"));
}

#[test]
fn deep_links_and_bare_urls_keep_their_query() {
    let sandbox = start();
    for (order, given, expected) in [
        ("L-1", "myapp://x?y=1", "myapp://x?y=1&OrderNumber=L-1&statusCode=200"),
        ("L-2", "https://a.example", "https://a.example/?OrderNumber=L-2&statusCode=200"),
        (
            "L-3",
            "https://a.example/p?q=a%20b&OrderNumber=mine#f",
            "https://a.example/p?q=a%20b&OrderNumber=mine&OrderNumber=L-3&statusCode=200#f",
        ),
        ("L&4 ?", "shop:done", "shop:done?OrderNumber=L%264+%3F&statusCode=200"),
    ] {
        let body = card_body(order).with_text("returnUrl", given);
        let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
        assert_eq!(otp(&url, "123456").header("location"), Some(expected));
    }
}

#[test]
fn declines_end_on_a_page_with_a_way_back() {
    let sandbox = start();
    for (pan, reason, text) in [
        ("4111111111000124", RejectReason::Declined, "The payment was declined"),
        ("4111111111000231", RejectReason::InsufficientFunds, "Insufficient funds"),
    ] {
        let url = confirmation_url(&sandbox, pan, pan);
        let done = otp(&url, "123456");
        assert_eq!(done.status, 200);
        assert!(done.body.contains("<h1>Not paid</h1>") && done.body.contains(text));
        assert!(done.body.contains("href=\"https://shop.example/done?cart=7#top\""));
        let payment = sandbox.payment(pan).expect("in the ledger");
        assert_eq!(payment.reject_reason, Some(reason));
    }
}

#[test]
fn declines_are_redirected_by_the_switch() {
    let sandbox = start_with(|options| options.redirect_declines = true);
    let url = confirmation_url(&sandbox, "R-1", "4111111111000231");
    let done = otp(&url, "123456");
    assert_eq!(done.status, 303);
    assert_eq!(done.header("location"), Some("https://shop.example/done?cart=7&OrderNumber=R-1&statusCode=211#top"));
}

#[test]
fn stuck_payment_stays_pending() {
    let sandbox = start();
    let url = confirmation_url(&sandbox, "S-1", "4111111111000348");
    let done = otp(&url, "123456");
    assert!(done.status == 200 && done.body.contains("<h1>In progress</h1>"));
    for again in [open(&url), otp(&url, "123456")] {
        assert!(again.status == 200 && again.body.contains("<h1>In progress</h1>"));
        assert!(!again.body.contains("This payment is finished"), "it is not");
    }
    let status = sandbox.payment("S-1").expect("in the ledger").status;
    assert_eq!(status, PaymentStatus::Pending);
    sandbox.decline("S-1").expect("an end");
    assert!(open(&url).body.contains("This payment is finished"));
}

#[test]
fn three_wrong_passwords_reject_the_payment() {
    let sandbox = start();
    let url = confirmation_url(&sandbox, "W-1", "4111111111111111");
    for left in [2, 1] {
        let page = otp(&url, "000000");
        assert_eq!(page.status, 400);
        assert!(page.body.contains(&format!("Attempts left: {left}")));
    }
    let page = otp(&url, "000000");
    assert!(page.status == 200 && page.body.contains("Too many wrong one-time passwords"));
    let late = otp(&url, "123456");
    assert!(late.body.contains("nothing was changed"));
    let payment = sandbox.payment("W-1").expect("in the ledger");
    assert_eq!((payment.reject_reason, payment.times_charged), (Some(RejectReason::OtpAttemptsExhausted), 0));
}

#[test]
fn third_password_attempt_still_counts() {
    let sandbox = start();
    let url = confirmation_url(&sandbox, "W-2", "4111111111111111");
    otp(&url, "");
    otp(&url, "1234567");
    assert_eq!(otp(&url, "123456").status, 303);
}

#[test]
fn payer_can_cancel() {
    let sandbox = start();
    let url = confirmation_url(&sandbox, "C-1", "4111111111111111");
    let done = submit(&url, &[("action", "cancel")]);
    assert!(done.status == 200 && done.body.contains("You cancelled the payment"));
    let payment = sandbox.payment("C-1").expect("in the ledger");
    assert_eq!(payment.reject_reason, Some(RejectReason::CancelledByPayer));
}

#[test]
fn finished_page_shows_result_only() {
    let sandbox = start();
    let url = confirmation_url(&sandbox, "F-1", "4111111111111111");
    otp(&url, "123456");
    for page in [open(&url), otp(&url, "123456"), submit(&url, &[("action", "cancel")])] {
        assert_eq!(page.status, 200);
        assert!(page.body.contains("This payment is finished"));
        assert!(page.body.contains("OrderNumber=F-1&#38;statusCode=200#top\""));
    }
    assert_eq!(sandbox.payment("F-1").map(|p| p.times_charged), Some(1));
}

#[test]
fn three_ds_1_page_works_like_three_ds_2() {
    let sandbox = start_with(|options| options.three_ds_1_page = true);
    let url = confirmation_url(&sandbox, "V-1", "5200000000001013");
    assert_eq!(otp(&url, "123456").status, 303);
    assert_eq!(sandbox.payment("V-1").map(|p| p.times_charged), Some(1));
}

#[test]
fn pages_have_security_headers_and_escape_text() {
    let sandbox = start();
    let hostile = "\"><script>alert('x')</script>";
    let body = card_body(hostile)
        .with_text("description", hostile)
        .with_text("returnUrl", "https://a.example/?q='\"><script>");
    let url = post(&sandbox, CARD, &body).data("ConfirmationUrl");
    let page = open(&url);
    let done = submit(&url, &[("action", "cancel")]);
    for page in [&page, &done] {
        assert!(!page.body.contains("<script>") && page.body.contains("&#60;script&#62;"));
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert!(!page.body.contains("http://") && !page.body.contains("src=\"http"));
    }
}

#[test]
fn link_to_no_payment_is_a_404_page() {
    let sandbox = start();
    let known = confirmation_url(&sandbox, "X-1", "4111111111111111");
    let token = known.split_once("token=").expect("a token").1;
    for path in [
        "/3ds",
        "/3ds?token=",
        "/3ds?token=X-1",
        "/3ds?token=%27%20OR%201=1",
        "/qr?token=none",
        &format!("/qr?token={token}"),
        &format!("/pay-form?token={token}"),
        &format!("/wallet?token={token}"),
    ] {
        let page = open(&format!("{}{path}", sandbox.url()));
        assert_eq!(page.status, 404, "{path}");
        assert!(page.body.contains("There is no payment under this link"));
    }
}
