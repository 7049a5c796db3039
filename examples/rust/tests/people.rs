//! The payer is a person, and the gateway comes by itself.

mod support;

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdout, Command, Stdio},
};

use support::{Between, Fate, PASSWORD, Shop, post, sandbox};

const FORM: &str = "application/x-www-form-urlencoded";

/// A running program, read line by line.
struct Story {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Story {
    fn of(shop: &Shop, args: &[&str]) -> Self {
        let mut child = shop.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Reads on to the line with these words.
    fn line_with(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the story ended without {words:?}");
            if line.contains(words) {
                return line.trim().to_owned();
            }
        }
    }

    fn url_after(&mut self, label: &str) -> String {
        let line = self.line_with(label);
        line[line.find("http://").unwrap()..].split_whitespace().next().unwrap().to_owned()
    }

    fn end(mut self) -> (i32, String) {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

#[test]
fn person_finishes_all_four_payments() {
    let shop = Shop::embedded();
    let mut story = Story::of(&shop, &["all", "--interactive"]);
    let page = story.url_after("payer     open");
    assert!(post(&page, FORM, "otp=123456").contains("303"));

    story.line_with("type the one-time password");
    writeln!(story.child.stdin.as_mut().unwrap(), "101101").unwrap();

    let page = story.url_after("payer     open");
    assert!(post(&page, FORM, "provider=MBank&phone=996555000101").contains("303"));
    let wallet = page.replace("/pay-form?", "/wallet?");
    assert!(post(&wallet, FORM, "otp=101101").contains("303"));

    let page = story.url_after("payer     open");
    assert!(post(&page, FORM, "action=approve").contains("200"));
    let (code, rest) = story.end();
    assert_eq!(code, 0, "{rest}");
    assert!(rest.contains("All four payments ended as expected"));
}

#[test]
fn callbacks_are_listened_for_and_duplicates_seen() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    for order in ["HEARD-1", "HEARD-2"] {
        shop.run(&["card", "--order-number", order, "--pan", "4000000000002016"]).expect_code(0);
    }
    let [first, second] = ["HEARD-1", "HEARD-2"].map(|order| support::callbacks(&gateway, Some(order)).remove(0));
    let mut story = Story::of(&shop, &["callback", "--count", "2", "--deadline", "60"]);
    let url = story.url_after("Callbacks at");
    let send = |body: &str| post(&url, "application/json", body);
    assert!(send("{}").contains("400"));
    assert!(send(&first).contains("200"));
    story.line_with("HEARD-1 charged, amount 100.10 KGS; status query: charged");
    assert!(send(&first.replace(',', ", ")).contains("200"));
    story.line_with("HEARD-1: a duplicate");
    assert!(send(&second).contains("200"));
    assert_eq!(story.end().0, 0);
}

/// One that gives its order number alone looks like the one before it, and may tell of something new.
#[test]
fn callback_without_a_status_is_no_duplicate() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    shop.run(&["card", "--order-number", "HEARD-3", "--pan", "4000000000002016"]).expect_code(0);
    let mut story = Story::of(&shop, &["callback", "--count", "2", "--deadline", "60"]);
    let url = story.url_after("Callbacks at");
    for _ in 0..2 {
        assert!(post(&url, FORM, "OrderNumber=HEARD-3").contains("200"));
        story.line_with("HEARD-3, without amount, status, dateCreated, provider; status query: charged");
    }
    assert_eq!(story.end().0, 0);
}

#[test]
fn order_that_paid_once_pays_for_nothing_else() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    shop.run(&["pay-form"]).expect_code(0);
    let paid = support::callbacks(&gateway, None).remove(0);
    let mut story = Story::of(&shop, &["pay-form", "--interactive", "--deadline", "120"]);
    let callbacks = story.url_after("Callbacks at");
    let line = story.line_with("our reference");
    let page = story.url_after("payer     open");
    let reference = line.split_whitespace().last().unwrap();
    assert!(post(&format!("{callbacks}?ref={reference}"), "application/json", &paid).contains("200"));
    story.line_with("NOT what was requested, it differs in orderNumber");

    assert!(post(&page, FORM, "provider=MBank&phone=996555000101").contains("303"));
    assert!(post(&page.replace("/pay-form?", "/wallet?"), FORM, "otp=101101").contains("303"));
    let (code, rest) = story.end();
    assert_eq!(code, 0, "{rest}");
    let orders: Vec<_> = gateway.payments().into_iter().map(|payment| payment.order_number).collect();
    assert!(rest.contains(&format!("order {} charged", orders[1])), "{rest}");
    assert!(rest.contains(&format!("the goods of {reference}")) && shop.unfinished().is_empty(), "{rest}");
}

/// A pay-form has no number: the address of its callback tells whose it is, long after the program that made it ended.
#[test]
fn callback_address_identifies_pay_form() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    for heard_by in [["callback", "--count", "1"].as_slice(), &["watch", "--resume"]] {
        let (run, made) = shop.json(&["pay-form", "--no-wait"]);
        run.expect_code(0);
        assert_eq!(shop.unfinished().len(), 1);
        let page = made["answer"]["pay_form_url"].as_str().unwrap();
        assert!(post(page, FORM, "provider=MBank&phone=996555000101").contains("303"));
        assert!(post(&page.replace("/pay-form?", "/wallet?"), FORM, "otp=101101").contains("303"));
        let paid = gateway.payments().pop().unwrap().order_number;
        let body = serde_json::json!({"orderNumber": paid, "amount": 75.5, "status": "CHARGE",
            "dateCreated": "2026-01-31T23:59:59", "provider": "MBank"});

        let mut story = Story::of(&shop, heard_by);
        let url = story.url_after("Callbacks at");
        let reference = made["reference"].as_str().unwrap();
        story.line_with("waiting");
        assert!(post(&format!("{url}?ref={reference}"), "application/json", &body.to_string()).contains("200"));
        story.line_with(&format!("deliver   the goods of {reference}"));
        assert_eq!(story.end().0, 0);
        assert!(shop.unfinished().is_empty());
    }
}

#[test]
fn unpaid_payment_is_listed_until_resolved_by_a_person() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let (_, made) = shop.json(&["pay-form", "--no-wait"]);
    let resume = ["watch", "--resume", "--deadline", "50ms"];
    shop.run(&resume).expect_code(3);
    let damaged = shop.journal().join("open/2026-01-31/damaged");
    std::fs::create_dir_all(damaged.parent().unwrap()).unwrap();
    std::fs::write(&damaged, "not a line of a journal\n").unwrap();
    let finish = |entry: &str, code| shop.run(&["finish", entry]).expect_code(code);
    finish(made["payment"].as_str().unwrap(), 0);
    let run = shop.run(&resume);
    run.expect_code(3);
    assert!(run.stdout.contains("a person has to look at the entry damaged"), "{}", run.stdout);
    finish("damaged", 0);
    shop.run(&resume).expect_code(0);
    finish("no-such-entry", 1);
    finish("kassa1:kind=mbank&order=1&provider=MBank&amount=1&currency=KGS", 2);
}

#[test]
fn callback_that_the_gateway_does_not_confirm_is_not_as_expected() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    shop.run(&["mbank", "--order-number", "OPEN-1", "--no-wait"]).expect_code(0);
    let callback = |order: &str, amount: u32| {
        serde_json::json!({"orderNumber": order, "amount": amount, "status": "CHARGE",
            "dateCreated": "2026-01-31T23:59:59", "provider": "MBank"})
        .to_string()
    };
    for (body, code) in [(callback("NONE", 250), 3), (callback("OPEN-1", 250), 3), (callback("OPEN-1", 1), 1)] {
        let mut story = Story::of(&shop, &["callback", "--count", "1"]);
        let url = story.url_after("Callbacks at");
        assert!(post(&url, "application/json", &body).contains("200"));
        let (ended, rest) = story.end();
        assert_eq!(ended, code, "{body}\n{rest}");
    }
    // Nothing came at all.
    shop.run(&["callback", "--count", "1", "--deadline", "50ms"]).expect_code(1);
}

#[test]
fn paid_payment_is_reported_when_a_later_one_fails() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let mut story = Story::of(&shop, &["all", "--interactive"]);
    let page = story.url_after("payer     open");
    assert!(post(&page, FORM, "otp=123456").contains("303"));
    story.line_with("type the one-time password");
    std::fs::rename(shop.journals(), shop.directory.path().join("gone")).unwrap();
    writeln!(story.child.stdin.as_mut().unwrap(), "101101").unwrap();
    story.line_with("error     Unavailable: ");
    story.line_with("│ card");
    story.line_with("│ mbank");
    let (code, rest) = story.end();
    assert_eq!(code, 1, "{rest}");
    assert!(rest.contains("Not every payment ended as expected"));
}

#[test]
fn callback_that_could_not_be_checked_is_checked_again() {
    let gateway = sandbox();
    let between = Between::new(&gateway, Fate::Lost);
    between.let_through();
    let shop = Shop::at(&between.url, PASSWORD);
    let mut story = Story::of(&shop, &["pay-form", "--interactive", "--deadline", "120"]);
    let page = story.url_after("payer     open");
    between.hold_back();
    assert!(post(&page, FORM, "provider=MBank&phone=996555000101").contains("303"));
    assert!(post(&page.replace("/pay-form?", "/wallet?"), FORM, "otp=101101").contains("303"));
    story.line_with("the status query failed (Unavailable");
    between.let_through();
    story.line_with("status query: charged");
    assert_eq!(story.end().0, 0);
    assert_eq!(support::callbacks(&gateway, None).len(), 1, "the gateway sent it once");
}

#[cfg(unix)]
#[test]
fn listening_that_is_interrupted_ends_with_what_came_in() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    shop.run(&["card", "--order-number", "HEARD-3", "--pan", "4000000000002016"]).expect_code(0);
    let mut story = Story::of(&shop, &["callback"]);
    let url = story.url_after("Callbacks at");
    assert!(post(&url, "application/json", &support::callbacks(&gateway, None)[0]).contains("200"));
    story.line_with("HEARD-3 charged");
    let interrupted = Command::new("sh").args(["-c", "kill -INT $0", &story.child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(story.end().0, 0);
}
