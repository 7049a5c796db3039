//! What happens to the money when responses, programs and passwords get lost.

mod support;

use std::{
    io::Write,
    net::TcpListener,
    process::{Command, Stdio},
    thread,
};

use kassa::JournalState;
use kassa_sandbox::PaymentStatus;
use support::{Between, CVC, Fate, PASSWORD, Run, Shop, read_request, sandbox};

/// A card without 3DS: charged as soon as the gateway has the request.
const CARD_AT_ONCE: &str = "4000000000002016";

#[test]
fn program_killed_after_sending_finds_its_payment_again() {
    let gateway = sandbox();
    let between = Between::new(&gateway, Fate::Held);
    let shop = Shop::at(&between.url, PASSWORD);
    let mut child = shop
        .command(&["card", "--order-number", "KILLED-1", "--pan", CARD_AT_ONCE])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    between.withheld.recv().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let reference = "kassa1:kind=card&order=KILLED-1&provider=Cards&amount=100.10&currency=KGS";
    assert_eq!(shop.unfinished(), [(reference.to_owned(), JournalState::Unknown)]);
    assert_eq!(gateway.payment("KILLED-1").unwrap().status, PaymentStatus::Charged, "the money was taken");

    between.let_through();
    let (run, line) = shop.json(&["watch", "--resume"]);
    run.expect_code(0);
    assert_eq!(
        (&line["payments"][0]["payment"], &line["payments"][0]["outcome"]),
        (&reference.into(), &"charged".into())
    );
    assert_eq!(run.stderr.matches("deliver   ").count(), 1, "{}", run.stderr);
    assert!(shop.unfinished().is_empty());
    let (run, line) = shop.json(&["watch", "--resume"]);
    run.expect_code(0);
    assert!(line["payments"].as_array().unwrap().is_empty(), "what is done with is not queried again");
    assert_eq!(gateway.payment("KILLED-1").unwrap().times_charged, 1);
}

#[test]
fn lost_response_is_an_unknown_outcome_and_is_watched() {
    let gateway = sandbox();
    let between = Between::new(&gateway, Fate::Lost);
    let shop = Shop::at(&between.url, PASSWORD);
    let run = shop.json(&["card", "--order-number", "LOST-1", "--pan", CARD_AT_ONCE, "--deadline", "700ms"]);
    let (run, line) = run;
    run.expect_code(3);
    assert_eq!((&line["error"]["kind"], &line["error"]["payment_may_exist"]), (&"OutcomeUnknown".into(), &true.into()));
    assert_eq!(line["error"]["payment"], "kassa1:kind=card&order=LOST-1&provider=Cards&amount=100.10&currency=KGS");
    assert_eq!((&line["outcome"], line["ok"].as_bool()), (&"unknown".into(), Some(false)));
    assert!(run.stderr.contains("the payment may have happened") && run.stderr.contains("it is not sent again"));
    let sent = gateway.requests().iter().filter(|request| request.endpoint.contains("/payment")).count();
    assert_eq!(sent, 1);

    between.let_through();
    // Whoever tries again finds out what the first one did, and sends nothing.
    let again = ["card", "--order-number", "LOST-1", "--pan", CARD_AT_ONCE, "--callback-wait", "1ms"];
    let (run, line) = shop.json(&again);
    run.expect_code(0);
    assert_eq!((&line["error"]["kind"], &line["outcome"]), (&"OutcomeUnknown".into(), &"charged".into()));
    let sent = gateway.requests().iter().filter(|request| request.endpoint.contains("/payment")).count();
    assert_eq!((sent, run.stderr.matches("deliver   ").count()), (1, 1));
    let run = shop.run(&again);
    run.expect_code(0);
    assert!(!run.stdout.contains("deliver   "), "delivered once\n{}", run.stdout);
}

#[test]
fn server_that_reads_and_closes_leaves_the_outcome_unknown() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let shop = Shop::at(&format!("http://{}", listener.local_addr().unwrap()), PASSWORD);
    thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(|stream| drop(read_request(&stream))));
    for (command, moves_money) in [("card", true), ("mbank", true), ("pay-form", false), ("qr", false)] {
        let (run, line) = shop.json(&[command, "--deadline", "300ms"]);
        run.expect_code(if moves_money { 3 } else { 1 });
        let kind = if moves_money { "OutcomeUnknown" } else { "Unavailable" };
        assert_eq!((&line["error"]["kind"], &line["error"]["payment_may_exist"]), (&kind.into(), &moves_money.into()));
    }
    let states: Vec<_> = shop.unfinished().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [JournalState::Unknown, JournalState::Unknown]);
}

#[test]
fn wrong_password_moves_no_money() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), "wrong");
    let (run, line) = shop.json(&["card"]);
    run.expect_code(1);
    assert_eq!((&line["error"]["kind"], &line["error"]["payment_may_exist"]), (&"Unauthorized".into(), &false.into()));
    assert!(shop.unfinished().is_empty());
    assert!(gateway.payments().is_empty());
}

#[test]
fn payment_that_cannot_be_asked_about_is_not_failed() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let card = ["card", "--order-number", "PAID-1", "--pan", CARD_AT_ONCE, "--no-wait"];
    shop.run(&card).expect_code(0);
    let locked_out = Shop { directory: shop.directory, ..Shop::at(gateway.url(), "wrong") };
    for command in [
        ["watch", "--resume"].as_slice(),
        &["watch", "--order-number", "PAID-1", "--provider", "Cards", "--amount", "100.10"],
    ] {
        let run = locked_out.run(command);
        run.expect_code(3);
        // The query may fail, the payment did not.
        let output = run.stdout.replace("the query failed", "");
        assert!(output.contains("open      still pending") && !output.contains("failed"), "{}", run.stdout);
    }
    assert_eq!(locked_out.unfinished()[0].1, JournalState::Pending);
    assert!(gateway.payment("PAID-1").unwrap().is_charged());
}

#[test]
fn without_a_usable_journal_nothing_is_sent() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    std::fs::write(shop.journals(), "no folder").unwrap();
    let (run, line) = shop.json(&["mbank"]);
    run.expect_code(1);
    assert_eq!(line["error"]["kind"], "Misconfigured");
    assert!(gateway.requests().is_empty());
}

#[test]
fn programs_that_run_at_once_lose_none_of_each_others_payments() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let children: Vec<_> = (0..6).map(|_| shop.command(&["mbank", "--no-wait"]).spawn().unwrap()).collect();
    for child in children {
        Run::from(child.wait_with_output().unwrap()).expect_code(0);
    }
    assert_eq!(shop.unfinished().len(), 6);
}

#[test]
fn resuming_tells_whose_payments_it_leaves_alone() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    shop.run(&["mbank", "--no-wait", "--order-number", "OPEN-1"]).expect_code(0);
    // The same number at another gateway is another payment.
    let other = sandbox();
    let elsewhere = Shop { directory: shop.directory, ..Shop::at(other.url(), PASSWORD) };
    elsewhere.run(&["mbank", "--no-wait", "--order-number", "OPEN-1"]).expect_code(0);
    let (run, line) = elsewhere.json(&["watch", "--resume", "--deadline", "300ms"]);
    run.expect_code(3);
    assert_eq!((line["payments"].as_array().unwrap().len(), &line["left_alone"]), (1, &1.into()));
    let in_memory = Shop { directory: elsewhere.directory, ..Shop::embedded() };
    let run = in_memory.run(&["mbank", "--no-wait"]);
    run.expect_code(0);
    assert!(run.stdout.contains("it ends with this sandbox"), "{}", run.stdout);
    let (run, line) = in_memory.json(&["watch", "--resume"]);
    run.expect_code(0);
    assert_eq!((line["payments"].as_array().unwrap().len(), &line["left_alone"]), (0, &2.into()));
}

#[test]
fn embedded_sandbox_with_a_file_outlives_its_program() {
    let shop = Shop::embedded();
    let file = ["--sandbox-db", "sandbox.db"];
    shop.run(&[&["mbank", "--order-number", "KEPT-1", "--no-wait"], &file[..]].concat()).expect_code(0);
    shop.run(&[&["confirm", "--order-number", "KEPT-1", "--otp", "101101", "--no-wait"], &file[..]].concat())
        .expect_code(0);
    let journal = shop.directory.path().join("sandbox.db.journal");
    assert_eq!(support::unfinished(&journal).len(), 1);
    let run = shop.run(&[&["watch", "--resume"], &file[..]].concat());
    run.expect_code(0);
    assert!(run.stdout.contains("deliver   "), "{}", run.stdout);
    assert!(support::unfinished(&journal).is_empty());
}

#[test]
fn no_secret_is_printed_or_stored() {
    let gateway = sandbox();
    let shop = Shop::at(gateway.url(), PASSWORD);
    let (pan, otp) = ("4111111111111111", "101101");
    let runs = [
        secretly(shop.command(&["card"]), pan, "123456"),
        secretly(shop.command(&["card", "--json"]), pan, "123456"),
        secretly(shop.command(&["card", "--ip", "x", "--json"]), pan, "123456"),
        secretly(shop.command(&["pay-form", "--pay-with", "card"]), pan, "123456"),
        secretly(shop.command(&["mbank", "--json"]), pan, otp),
        secretly(shop.command(&["mbank", "--deadline", "x"]), pan, otp),
        secretly(shop.command(&["card", "--help"]), "4111111111000124", "654321"),
    ];
    assert_eq!(runs.iter().map(|run| run.code).collect::<Vec<_>>(), [0, 0, 1, 0, 0, 2, 0]);
    let typed = "4111 1111 1111 1111";
    for text in
        runs[..6].iter().flat_map(|run| [&run.stdout, &run.stderr]).chain([&support::all_texts(&shop.journal())])
    {
        for secret in [pan, typed, CVC, PASSWORD, "123456", otp] {
            assert!(!text.contains(secret), "{secret} is in\n{text}");
        }
    }
    let from_environment =
        shop.command(&["card", "--help"]).env("KASSA_CARD_PAN", "4111111111000124").output().unwrap();
    assert!(!Run::from(from_environment).stdout.contains("4111111111000124"));
}

/// Every secret by standard input; the environment holds wrong ones.
fn secretly(mut command: Command, pan: &str, otp: &str) -> Run {
    command.arg("--secrets-stdin").env("KASSA_PASSWORD", "wrong").env("KASSA_OTP", "000000").stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let line = serde_json::json!({"password": PASSWORD, "pan": pan, "cvc": CVC, "otp": otp});
    // A command line that is refused closes the pipe.
    let _closed = writeln!(child.stdin.take().unwrap(), "{line}");
    Run::from(child.wait_with_output().unwrap())
}

#[test]
fn secrets_that_are_not_understood_are_not_repeated() {
    let shop = Shop::embedded();
    let mut child = shop.command(&["card", "--secrets-stdin"]).stdin(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.take().unwrap(), r#"{{"pan": 4111111111111111}}"#).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.expect_code(2);
    assert!(!run.stderr.contains("4111"));
}
