//! Each command, against a sandbox.

mod support;

use std::{io::Write, process::Stdio};

use kassa::JournalState;
use kassa_sandbox::PaymentStatus;
use support::{PASSWORD, Shop, sandbox};

#[test]
fn all_takes_four_payments_to_their_end() {
    let shop = Shop::embedded();
    let run = shop.run(&["all"]);
    run.expect_code(0);
    for words in
        ["1/4  Card with 3DS", "4/4  Dynamic QR code", "│ Flow", "│ qr", "█▄▄▄█", "All four payments ended as expected"]
    {
        assert!(run.stdout.contains(words), "{words} is not in\n{}", run.stdout);
    }
    assert!(!run.stdout.contains('\x1b'), "colours are for terminals");
    assert_eq!(run.stdout.matches("charged 100.10 KGS").count(), 2, "told at the end of the flow and in the table");
    assert_eq!(run.stdout.matches("┆ 1 charged ┆").count(), 4);
    assert_eq!(run.stdout.matches("  deliver   the goods of ").count(), 4, "each once");
}

#[test]
fn all_tells_programs_in_one_line() {
    let shop = Shop::embedded();
    let (run, line) = shop.json(&["all"]);
    run.expect_code(0);
    assert!(run.stderr.contains("4/4  Dynamic QR code"), "the story goes to standard error");
    assert_eq!((&line["ok"], &line["command"], &line["exit_code"]), (&true.into(), &"all".into(), &0.into()));
    let flows = line["flows"].as_array().unwrap();
    let names: Vec<_> = flows.iter().map(|flow| flow["flow"].as_str().unwrap()).collect();
    assert_eq!(names, ["card", "mbank", "pay-form", "qr"]);
    for flow in flows {
        assert_eq!((&flow["outcome"], &flow["callbacks"][0]["verdict"]), (&"charged".into(), &"charged".into()));
        assert_eq!((&flow["error"], flow["status"]["is_final"].as_bool()), (&serde_json::Value::Null, Some(true)));
    }
}

#[test]
fn every_command_works_with_a_gateway_by_its_url() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let (run, card) = shop.json(&["card", "--order-number", "CARD-1", "--amount", "17.30"]);
    run.expect_code(0);
    assert_eq!(card["answer"]["next_step"]["kind"], "OpenConfirmation");
    assert_eq!(gateway.payment("CARD-1").unwrap().amount.unwrap().to_string(), "17.30");

    let (run, created) = shop.json(&["mbank", "--order-number", "MBANK-1", "--no-wait"]);
    run.expect_code(0);
    assert_eq!(created["outcome"], "created");
    assert_eq!(gateway.payment("MBANK-1").unwrap().status, PaymentStatus::Created);
    let (run, wrong) = shop.json(&["confirm", "--order-number", "MBANK-1", "--otp", "999999"]);
    run.expect_code(1);
    assert_eq!((&wrong["error"]["kind"], &wrong["outcome"]), (&"Refused".into(), &"pending".into()));
    shop.run(&["confirm", "--order-number", "MBANK-1", "--otp", "101101"]).expect_code(0);
    assert_eq!(gateway.payment("MBANK-1").unwrap().status, PaymentStatus::Charged);

    for pay_with in ["card", "mbank", "megapay"] {
        let (run, form) = shop.json(&["pay-form", "--pay-with", pay_with]);
        run.expect_code(0);
        let order = form["order_number"].as_str().unwrap();
        assert!(order.starts_with("PF-") && gateway.payment(order).unwrap().is_charged());
    }

    let (run, qr) = shop.json(&["qr"]);
    run.expect_code(0);
    assert_eq!(qr["callbacks"][0]["verdict"], "charged");
    let id = qr["answer"]["transaction_id"].as_str().unwrap();
    let (run, status) = shop.json(&["status", "--transaction-id", id]);
    run.expect_code(0);
    assert_eq!((&status["answer"]["status"], &status["answer"]["amount"]), (&"charged".into(), &"12050".into()));

    let payment = card["payment"].as_str().unwrap();
    for subject in [["--payment", payment].as_slice(), &["--order-number", "CARD-1", "--provider", "cards"]] {
        let (run, status) = shop.json(&[&["status"], subject].concat());
        run.expect_code(0);
        assert_eq!(status["answer"]["amount"], "17.30");
        let asked_for: &[&str] = if subject[0] == "--payment" { &[] } else { &["--amount", "17.30"] };
        shop.run(&[&["watch"], subject, asked_for].concat()).expect_code(0);
    }
    shop.run(&["all"]).expect_code(0);
    assert!(shop.unfinished().is_empty(), "everything was delivered");
}

#[test]
fn payment_created_elsewhere_stays_open_after_a_wrong_password() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let elsewhere = Shop::at(gateway.url(), PASSWORD);
    elsewhere.run(&["mbank", "--order-number", "MBANK-2", "--no-wait"]).expect_code(0);
    let (wrong_run, wrong) = shop.json(&["confirm", "--order-number", "MBANK-2", "--otp", "999999", "--amount", "250"]);
    wrong_run.expect_code(1);
    assert_eq!((&wrong["error"]["kind"], &wrong["outcome"]), (&"Refused".into(), &"pending".into()));
    let (run, none) = shop.json(&["confirm", "--order-number", "NONE", "--otp", "999999", "--amount", "250"]);
    run.expect_code(1);
    assert_eq!((&none["error"]["kind"], &none["outcome"]), (&"Refused".into(), &"not_made".into()));
    assert!(
        wrong_run.stderr.contains("checkout watch --payment 'kassa1:kind=mbank&order=MBANK-2"),
        "{}",
        wrong_run.stderr
    );
    let confirm = ["confirm", "--order-number", "MBANK-2", "--otp", "101101"];
    shop.run(&confirm).expect_code(2);
    shop.run(&[&confirm[..], &["--amount", "250"]].concat()).expect_code(0);
    assert_eq!(elsewhere.unfinished().len(), 1, "who made it delivers it");
}

#[test]
fn exit_code_reflects_payment_result() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let (run, declined) = shop.json(&["card", "--pan", "4111111111000124"]);
    run.expect_code(1);
    assert_eq!((&declined["outcome"], &declined["callbacks"][0]["verdict"]), (&"rejected".into(), &"rejected".into()));
    shop.run(&["mbank", "--phone", "996555000102"]).expect_code(1);
    shop.run(&["qr", "--decline"]).expect_code(1);
    let (run, pending) = shop.json(&["card", "--pan", "4111111111000348", "--deadline", "1"]);
    run.expect_code(3);
    assert_eq!((&pending["outcome"], &pending["watch_error"]["kind"]), (&"pending".into(), &"DeadlineExpired".into()));
    let left: Vec<_> =
        shop.unfinished().into_iter().map(|(payment, state)| (payment == pending["payment"], state)).collect();
    assert_eq!(left, [(true, JournalState::Pending)]);
}

#[test]
fn card_whose_creation_errs_is_found_out_by_asking() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let (run, line) = shop.json(&["card", "--pan", "4000000000002057"]);
    run.expect_code(1);
    assert_eq!((&line["error"]["kind"], &line["outcome"]), (&"OutcomeUnknown".into(), &"rejected".into()));
    assert_eq!(gateway.payments().len(), 1, "it was sent once");
}

#[test]
fn what_is_invalid_is_named_and_not_sent() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let (run, line) = shop.json(&["card", "--cvc", "1", "--ip", "nowhere", "--expiry-month", "13"]);
    run.expect_code(1);
    let fields: Vec<_> = line["error"]["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| violation["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["expiryMonth", "cvc", "ip"]);
    assert_eq!((line["error"]["payment_may_exist"].as_bool(), gateway.requests().len()), (Some(false), 0));
    assert!(shop.unfinished().is_empty());
}

#[test]
fn callbacks_are_received_told_apart_and_checked() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    shop.run(&["card", "--order-number", "CARD-2", "--pan", "4000000000002016"]).expect_code(0);
    let body = &support::callbacks(&gateway, None)[0];
    let check = |args: &[&str], body: &str| {
        let args = [&["callback", "--file", "-", "--json"], args].concat();
        let mut child = shop.command(&args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
        support::Run::from(child.wait_with_output().unwrap())
    };
    let good = check(&["--order-number", "CARD-2", "--provider", "cards", "--amount", "100.10"], body);
    good.expect_code(0);
    assert_eq!(good.last_line()["callbacks"][0]["verdict"], "charged");
    let forged = check(&["--order-number", "CARD-2", "--provider", "cards", "--amount", "500"], body);
    forged.expect_code(1);
    assert_eq!(forged.last_line()["callbacks"][0]["fields"][0], "amount");
    check(&[], body).expect_code(0);
    check(&[], "{}").expect_code(1);
    check(&[], &body.replace("CARD-2", "CARD-3")).expect_code(3);
}

#[test]
fn wrong_command_lines_are_told_as_such() {
    let shop = Shop::at("http://127.0.0.1:1", PASSWORD);
    for args in [
        ["card", "--amount", "much"].as_slice(),
        &["status"],
        &["card", "--expiry-year", "later"],
        &["watch", "--order-number", "1"],
        &["card", "--dialect", "/no/such/file"],
        &["status", "--payment", "kassa9:x"],
        &["card", "--poll-interval", "0"],
        &["card", "--callback-wait", "1e19"],
    ] {
        shop.run(args).expect_code(2);
    }
    let abroad = Shop::at("https://pay.example.kg", PASSWORD);
    let (run, line) = abroad.json(&["all"]);
    run.expect_code(2);
    assert!(line["error"]["describe"].as_str().unwrap().contains("--interactive"));
    let error = &line["error"];
    assert_eq!((&error["kind"], &error["payment_may_exist"]), (&"Usage".into(), &false.into()));
    assert_eq!(error["retryable"], false);
    abroad.run(&["card"]).expect_code(2);
    assert!(abroad.unfinished().is_empty(), "nothing was begun");
}
