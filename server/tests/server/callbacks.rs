//! Callbacks: before the request that makes the payment returned, twice, forged, contradictory, replayed. Each is only a
//! hint; the gateway's report decides.

use std::time::Duration;

use fastrand::Rng;
use kassa::{Dialect, FakePayment, PaymentRef, PaymentStatus, StatusReport, Verdict};
use kassa_server::{
    CheckoutId, CheckoutState, ClaimState, Cursor, Event, ExchangeKind, Method, NewCheckout, Payment, PaymentState,
    Resolution, ServerError, storage::staff::Need,
};

use crate::{
    invariants::{check, check_end},
    support::{
        lock,
        runner::Interleaved,
        world::{Process, World, callback_of, card},
    },
};

fn open(process: &Process, reference: &str) -> CheckoutId {
    let order = NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid");
    process.run(process.server.open_checkout(order)).unwrap().checkout.id
}

fn by_form(process: &Process, world: &World, reference: &str) -> (CheckoutId, FakePayment) {
    let id = open(process, reference);
    process.run(process.server.pay_by_form(&id, None)).unwrap();
    (id, world.fake.payments().pop().unwrap())
}

fn hint(process: &Process, payment: &FakePayment, body: &str) -> bool {
    process.run(process.server.hint(&World::address(payment), body.as_bytes())).unwrap()
}

/// Some seconds later, as a payment is queried at most once a second.
fn follow(process: &Process) {
    process.fake.advance(Duration::from_secs(3));
    while process.run(process.server.poll_once()).unwrap().queried > 0 {}
}

fn state(process: &Process, id: &CheckoutId) -> (CheckoutState, PaymentState) {
    let view = process.run(process.server.checkout(id)).unwrap();
    (view.checkout.state, view.payments.last().unwrap().state)
}

/// The payment as the fake gateway has it by now.
fn charged(world: &World, payment: &FakePayment) -> FakePayment {
    world.fake.charge(&World::name(payment)).unwrap();
    world.fake.payments().into_iter().find(|other| other.page_url == payment.page_url).unwrap()
}

#[test]
fn callback_before_pay_form_response_is_kept() {
    let (mut random, world) = (Rng::with_seed(0), World::new(0));
    let process = std::sync::Arc::new(world.start(None));
    let id = open(&process, "order-1");
    let mut calls = Interleaved::default();
    let (server, payer) = (process.server.clone(), id.clone());
    calls.add(&process, async move { drop(server.pay_by_form(&payer, None).await) });
    while world.fake.payments().is_empty() {
        calls.step(&mut random);
    }
    assert_eq!(state(&process, &id).1, PaymentState::Sending);
    let payment = charged(&world, &world.fake.payments()[0]);
    assert!(hint(&process, &payment, &callback_of(&payment)));
    follow(&process);
    assert_eq!(state(&process, &id).1, PaymentState::Sending, "what may not be there yet is not queried");
    calls.finish(&mut random, &world.fake);
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    check(&world).unwrap();
}

#[test]
fn duplicate_callback_is_polled_once() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    let body = callback_of(&charged(&world, &payment));
    assert!(hint(&process, &payment, &body));
    assert!(!hint(&process, &payment, &body.replace(r#"{"order"#, r#"{ "order"#)), "however it is formatted");
    follow(&process);
    let before = lock(&world.log).status_queries;
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    assert!(!hint(&process, &payment, &body));
    follow(&process);
    assert_eq!(lock(&world.log).status_queries, before);
    world.close();
    check_end(&world).unwrap();
}

#[test]
fn forged_callback_does_not_pay_checkout() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    let cheap = NewCheckout::new("order-2", 5.into(), "A stamp", "https://shop.example.kg/paid");
    let other = process.run(process.server.open_checkout(cheap)).unwrap().checkout.id;
    process.run(process.server.pay_by_form(&other, None)).unwrap();
    let cheap = charged(&world, &world.fake.payments()[1]);
    let body = callback_of(&cheap);
    for forged in [
        body.replace("form-order-2", "form-order-1"),
        body.replace("form-order-2", "x"),
        "not JSON".to_owned(),
        "{}".to_owned(),
    ] {
        hint(&process, &payment, &forged);
        follow(&process);
        assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Awaiting), "{forged}");
    }
    // One that was paid, of another amount: it pays for nothing, and a person is told, once.
    for forged in [body.clone(), body.replace(":5,", ":390,")] {
        hint(&process, &payment, &forged);
        follow(&process);
        assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Mismatch), "{forged}");
    }
    assert_eq!(reasons(&process, "payment.mismatch"), ["amount"]);
    hint(&process, &cheap, &body);
    follow(&process);
    assert_eq!(state(&process, &other), (CheckoutState::Paid, PaymentState::Charged), "the claim took nothing away");
    check(&world).unwrap();
}

/// The reasons of all events of a kind.
fn reasons(process: &Process, kind: &str) -> Vec<String> {
    let events = process.run(process.server.events_after(&Cursor::default(), 1000)).unwrap();
    let of_kind = events.iter().filter(|event| event.kind.unwrap().name() == kind);
    let reason = |event: &Event| {
        let body: serde_json::Value = serde_json::from_str(&event.body).unwrap();
        body["data"]["reason"].as_str().unwrap_or_default().to_owned()
    };
    of_kind.map(reason).collect()
}

fn claims(process: &Process, id: &CheckoutId) -> Vec<(String, ClaimState)> {
    let history = process.run(process.server.history(id)).unwrap();
    let claims = history.claims.into_iter().last().unwrap();
    claims.into_iter().map(|claim| (claim.number, claim.state)).collect()
}

fn needs(process: &Process, id: &CheckoutId) -> Vec<Need> {
    process.run(process.server.history(id)).unwrap().listed.needs
}

/// A callback that says what a gateway says of a form that was paid, under this number.
fn claim(process: &Process, payment: &FakePayment, number: &str) -> bool {
    let body = format!(r#"{{"orderNumber":"{number}","amount":390,"status":"CHARGE","provider":"Cards"}}"#);
    hint(process, payment, &body)
}

/// The same once more, and not as a copy of the first one.
fn claim_again(process: &Process, payment: &FakePayment, number: &str) {
    hint(process, payment, &format!("orderNumber={number}"));
}

fn set_verdict(world: &World, number: &str, verdict: Verdict) {
    lock(&world.faults.0).forced.insert(number.to_owned(), vec![verdict]);
}

fn form_of(number: &str) -> PaymentRef {
    PaymentRef::pay_form(390.into()).with_claimed_number(number, None)
}

fn charge_of(number: &str) -> Verdict {
    Verdict::charged(form_of(number), report(PaymentStatus::Charged))
}

fn unverifiable() -> Verdict {
    Verdict::unverifiable(form_of("GW-1"), "the report has no amount", Some(report(PaymentStatus::Charged)))
}

/// Whatever the reason is for which a charge cannot be believed: its payer has probably paid.
#[test]
fn unverifiable_charge_blocks_new_payment() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    set_verdict(&world, "GW-1", unverifiable());
    assert!(claim(&process, &payment, "GW-1"));
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Unverifiable));
    assert_eq!(reasons(&process, "payment.unverifiable"), ["the report has no amount"]);
    assert_eq!(claims(&process, &id), [("GW-1".to_owned(), ClaimState::Unverifiable)]);
    assert_eq!(needs(&process, &id), [Need::Unverifiable]);
    for again in [process.run(process.server.pay_by_qr(&id, None)), process.run(process.server.pay_by_form(&id, None))]
    {
        assert!(matches!(again, Err(ServerError::UnderWay { state: PaymentState::Unverifiable, .. })), "{again:?}");
    }
    // What the gateway says afterwards takes nothing back, and neither does time.
    set_verdict(&world, "GW-1", Verdict::rejected(form_of("GW-1"), report(PaymentStatus::Rejected)));
    world.fake.advance(Duration::from_secs(24 * 3600));
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Unverifiable));
    let paid =
        process.run(process.server.resolve(&view(&process, &id).id, Resolution::Charged, "seen there", "Aizada"));
    assert_eq!(paid.unwrap().state, PaymentState::Charged);
    assert_eq!(state(&process, &id).0, CheckoutState::Paid);
    assert!(needs(&process, &id).is_empty());
}

fn view(process: &Process, id: &CheckoutId) -> Payment {
    process.run(process.server.checkout(id)).unwrap().payments.pop().unwrap()
}

/// As after somebody corrected the dialect.
#[test]
fn charge_verified_later_pays_checkout() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    set_verdict(&world, "GW-1", unverifiable());
    claim(&process, &payment, "GW-1");
    follow(&process);
    set_verdict(&world, "GW-1", charge_of("GW-1"));
    process.run(process.server.check_now(&id)).unwrap();
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    assert_eq!(claims(&process, &id), [("GW-1".to_owned(), ClaimState::Charged)]);
    assert!(needs(&process, &id).is_empty());
}

/// The newest one may be the one that was paid.
#[test]
fn every_claimed_order_number_is_kept_and_polled() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    for number in 0..40 {
        let open = Verdict::pending(PaymentRef::pay_form(390.into()), report(PaymentStatus::Other("OPEN".into())));
        set_verdict(&world, &format!("GW-{number}"), open);
        assert!(claim(&process, &payment, &format!("GW-{number}")));
    }
    follow(&process);
    assert_eq!(claims(&process, &id).len(), 40);
    assert!(claims(&process, &id).iter().all(|(_, state)| *state == ClaimState::Pending), "all were queried at once");
    set_verdict(&world, "GW-40", charge_of("GW-40"));
    assert!(claim(&process, &payment, "GW-40"));
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
}

/// The gateway declined what the payer tried on its page. It ends nothing, as the page can be paid on still, and another try may have
/// been made.
#[test]
fn decline_on_gateway_page_is_kept_until_next_try() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    let declined = |number: &str| Verdict::rejected(form_of(number), report(PaymentStatus::Rejected));
    let is_declined = || view(&process, &id).is_declined_on_page();
    set_verdict(&world, "GW-1", declined("GW-1"));
    claim(&process, &payment, "GW-1");
    assert!(!is_declined(), "a callback proves nothing");
    follow(&process);
    assert!(is_declined());
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Awaiting));

    let open = Verdict::pending(form_of("GW-2"), report(PaymentStatus::Other("OPEN".into())));
    set_verdict(&world, "GW-2", open);
    claim(&process, &payment, "GW-2");
    assert!(!is_declined(), "the second try may be paid");
    follow(&process);
    assert!(!is_declined());
    set_verdict(&world, "GW-2", declined("GW-2"));
    claim_again(&process, &payment, "GW-2");
    follow(&process);
    assert!(is_declined());

    set_verdict(&world, "GW-3", charge_of("GW-3"));
    claim(&process, &payment, "GW-3");
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    assert_eq!(view(&process, &id).failure, None);
}

/// Those that the gateway does not know, or rejected, and those alone.
#[test]
fn disproved_callback_claims_are_evicted_first() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    set_verdict(&world, "GW-0", unverifiable());
    for number in 0..60 {
        claim(&process, &payment, &format!("GW-{number}"));
        follow(&process);
    }
    let stored = claims(&process, &id);
    assert_eq!(stored.len(), 32);
    assert!(stored.contains(&("GW-0".to_owned(), ClaimState::Unverifiable)), "{stored:?}");
    assert!(stored.contains(&("GW-59".to_owned(), ClaimState::Unknown)), "{stored:?}");
}

/// Charges are counted by number, in whatever order the gateway tells of them.
#[test]
fn pay_form_paid_twice_is_overpaid() {
    for at_once in [true, false] {
        let world = World::new(0);
        let process = world.start(None);
        let (id, payment) = by_form(&process, &world, "order-1");
        for number in ["GW-1", "GW-2"] {
            set_verdict(&world, number, charge_of(number));
            claim(&process, &payment, number);
            if !at_once {
                follow(&process);
            }
        }
        follow(&process);
        let checkout = process.run(process.server.checkout(&id)).unwrap().checkout;
        assert_eq!((checkout.state, checkout.is_overpaid, checkout.refunds_due), (CheckoutState::Paid, true, 1));
        assert_eq!(reasons(&process, "checkout.overpaid").len(), 1);
        // The same number again is no third charge.
        claim(&process, &payment, "GW-2");
        world.fake.advance(Duration::from_secs(3600));
        follow(&process);
        assert_eq!(process.run(process.server.checkout(&id)).unwrap().checkout.refunds_due, 1);
    }
}

/// What a person found charged is the charge that is reported afterwards; one more is one too many.
#[test]
fn charge_resolved_by_staff_counts_once() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    let found =
        process.run(process.server.resolve(&view(&process, &id).id, Resolution::Charged, "seen there", "Aizada"));
    assert_eq!(found.unwrap().state, PaymentState::Charged, "also while it only awaits its payer");
    for (number, refunds_due) in [("GW-1", 0), ("GW-2", 1)] {
        set_verdict(&world, number, charge_of(number));
        claim(&process, &payment, number);
        follow(&process);
        assert_eq!(process.run(process.server.checkout(&id)).unwrap().checkout.refunds_due, refunds_due, "{number}");
    }
}

/// It stays charged, and a person says whether it was paid twice.
#[test]
fn unverifiable_second_charge_needs_staff() {
    for (outcome, refunds_due) in [(Resolution::Charged, 1), (Resolution::NotCharged, 0)] {
        let world = World::new(0);
        let process = world.start(None);
        let (id, payment) = by_form(&process, &world, "order-1");
        set_verdict(&world, "GW-1", charge_of("GW-1"));
        set_verdict(&world, "GW-2", unverifiable());
        for number in ["GW-1", "GW-2"] {
            claim(&process, &payment, number);
            follow(&process);
        }
        assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
        assert_eq!(
            (reasons(&process, "payment.unverifiable").len(), needs(&process, &id)),
            (1, vec![Need::Unverifiable])
        );
        let reviewed = process.run(process.server.resolve(&view(&process, &id).id, outcome, "the bank said", "Aizada"));
        assert_eq!(reviewed.unwrap().state, PaymentState::Charged);
        assert_eq!(reasons(&process, "payment.reviewed"), ["the bank said"]);
        let checkout = process.run(process.server.checkout(&id)).unwrap().checkout;
        assert_eq!((checkout.refunds_due, needs(&process, &id).contains(&Need::Unverifiable)), (refunds_due, false));
        // The gateway's report can be verified by now: it is the charge that the person found, or one that the person missed.
        set_verdict(&world, "GW-2", charge_of("GW-2"));
        world.fake.advance(Duration::from_secs(24 * 3600));
        claim_again(&process, &payment, "GW-2");
        follow(&process);
        assert_eq!(process.run(process.server.checkout(&id)).unwrap().checkout.refunds_due, 1, "{outcome}");
    }
}

/// A gateway may count orders and transactions apart.
#[test]
fn form_number_equal_to_qr_transaction_is_paid() {
    for qr_is_paid in [false, true] {
        let world = World::new(0);
        let process = world.start(None);
        let other = open(&process, "order-1");
        process.run(process.server.pay_by_qr(&other, None)).unwrap();
        let transaction = world.fake.payments()[0].transaction_id.clone().unwrap();
        if qr_is_paid {
            world.fake.charge(&transaction).unwrap();
            ask(&process, &world, 1);
            assert_eq!(state(&process, &other).0, CheckoutState::Paid);
        }
        let (id, form) = by_form(&process, &world, "order-2");
        set_verdict(&world, &transaction, charge_of(&transaction));
        claim(&process, &form, &transaction);
        follow(&process);
        assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
        lock(&world.faults.0).forced.clear();
        world.fake.charge(&transaction).ok();
        ask(&process, &world, 1);
        assert_eq!(state(&process, &other).0, CheckoutState::Paid, "its own charge pays for the code");
    }
}

/// Its code is shown all the same. Nobody can ask the gateway about it: a callback makes it a person's, and so does the end of its
/// checkout, of which the shop is told that it may have been paid.
#[test]
fn qr_without_transaction_needs_callback() {
    let world = World::new(0);
    lock(&world.faults.0).without_transaction = true;
    let process = world.start(None);
    let by_qr = |reference: &str| {
        let id = open(&process, reference);
        let payment = process.run(process.server.pay_by_qr(&id, None)).unwrap();
        let at_gateway = world.fake.payments().pop().unwrap();
        assert_eq!((payment.state, &payment.qr_text), (PaymentState::Awaiting, &at_gateway.qr_text));
        (id, at_gateway)
    };
    let ((called, payment), (silent, _), (cancelled, _)) = (by_qr("order-1"), by_qr("order-2"), by_qr("order-3"));

    hint(&process, &payment, r#"{"orderNumber":"QR-1","amount":39000,"status":"Reject","provider":"MBank"}"#);
    assert_eq!(state(&process, &called), (CheckoutState::Open, PaymentState::Awaiting));
    for number in ["QR-1", "QR-2"] {
        claim(&process, &payment, number);
        follow(&process);
        assert_eq!(state(&process, &called), (CheckoutState::Open, PaymentState::Unverifiable));
    }
    assert_eq!((reasons(&process, "payment.unverifiable").len(), lock(&world.log).status_queries), (1, 0));
    assert_eq!(needs(&process, &called), [Need::Unverifiable]);
    let paid = view(&process, &called).id;
    process.run(process.server.resolve(&paid, Resolution::Charged, "seen there", "Aizada")).unwrap();
    assert_eq!(state(&process, &called), (CheckoutState::Paid, PaymentState::Charged));

    process.run(process.server.cancel(&cancelled)).unwrap();
    world.fake.advance(Duration::from_secs(2 * 3600));
    follow(&process);
    assert_eq!(state(&process, &silent), (CheckoutState::Expired, PaymentState::Awaiting));
    assert_eq!(state(&process, &cancelled), (CheckoutState::Cancelled, PaymentState::Awaiting));
    let reported = reasons(&process, "payment.stuck");
    assert!(reported.len() == 2 && reported.iter().all(|reason| reason.contains("may have been paid")), "{reported:?}");
    for id in [&silent, &cancelled] {
        assert_eq!(needs(&process, id), [Need::Stuck]);
    }
    let open = view(&process, &silent).id;
    process.run(process.server.resolve(&open, Resolution::Charged, "on the statement", "Aizada")).unwrap();
    assert_eq!(state(&process, &silent), (CheckoutState::Paid, PaymentState::Charged));
    assert!(needs(&process, &silent).is_empty());
}

/// Its checkout is paid on a form beside it. The gateway's words are those of its dialect, and no others.
#[test]
fn qr_paid_beside_pay_form_needs_staff_once() {
    let world = World::new(0);
    lock(&world.faults.0).without_transaction = true;
    let mut settings = World::settings();
    let words = r#"{"charged_words": ["PAID"], "rejected_words": ["FAILED"], "megapay": {"check_method": "POST"}}"#;
    settings.dialect = Dialect::from_json(words).unwrap();
    let process = world.start_with(None, Duration::ZERO, settings);
    let (id, form) = by_form(&process, &world, "order-1");
    process.run(process.server.pay_by_qr(&id, None)).unwrap();
    let code = world.fake.payments().pop().unwrap();
    set_verdict(&world, "GW-1", charge_of("GW-1"));
    claim(&process, &form, "GW-1");
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Awaiting));

    let call = |number: &str, word: &str| {
        let body = format!(
            r#"{{"orderNumber":"{number}","amount":39000,"currency":"KGS","status":"{word}","dateCreated":"2026-11-20T09:05:07","provider":"MBank"}}"#
        );
        hint(&process, &code, &body);
    };
    ["FAILED", "DONE", "CHARGE", "DONE"].into_iter().for_each(|word| call("QR-1", word));
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Awaiting), "it can still be paid");
    assert_eq!(
        (reasons(&process, "payment.stuck").len(), needs(&process, &id)),
        (2, vec![Need::Stuck]),
        "no copy is told"
    );
    ["PAID", "PAID"].into_iter().for_each(|word| call("QR-1", word));
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Unverifiable));
    assert_eq!((reasons(&process, "payment.unverifiable").len(), needs(&process, &id)), (1, vec![Need::Unverifiable]));
    let history = process.run(process.server.history(&id)).unwrap();
    let stored =
        history.exchanges.iter().flatten().map(|stored| &stored.exchange).filter(|stored| stored.outcome == "whole");
    let words: Vec<_> = stored.filter_map(|stored| stored.words.as_deref()).collect();
    let claimed = ["it claims rejected", "it claims \"DONE\"", "it claims \"CHARGE\"", "it claims charged"];
    assert_eq!(words, claimed, "a copy is not kept again");

    let paid = view(&process, &id).id;
    process.run(process.server.resolve(&paid, Resolution::Charged, "seen there", "Aizada")).unwrap();
    let checkout = process.run(process.server.checkout(&id)).unwrap().checkout;
    assert_eq!((checkout.state, checkout.is_overpaid, checkout.refunds_due), (CheckoutState::Paid, true, 1));
    // Of what a person found charged, other callbacks report a charge: perhaps one more.
    ["QR-2", "QR-3"].into_iter().for_each(|number| call(number, "PAID"));
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    assert_eq!(reasons(&process, "payment.unverifiable").len(), 2);
    assert!(needs(&process, &id).contains(&Need::Unverifiable));
}

/// What is wrong with the number says nothing against the status, and of such a code a callback is all that is heard.
#[test]
fn callback_without_usable_number_is_not_dropped() {
    let world = World::new(0);
    lock(&world.faults.0).without_transaction = true;
    let process = world.start(None);
    let too_long = "x".repeat(129);
    for (number, reference) in [(too_long.as_str(), "order-1"), (r"QR\u0007", "order-2")] {
        let id = open(&process, reference);
        process.run(process.server.pay_by_qr(&id, None)).unwrap();
        let code = world.fake.payments().pop().unwrap();
        let call = |word: &str| {
            let body = format!(
                r#"{{"orderNumber":"{number}","amount":39000,"currency":"KGS","status":"{word}","dateCreated":"2026-11-20T09:05:07","provider":"MBank"}}"#
            );
            hint(&process, &code, &body);
        };
        let reported_before = reasons(&process, "payment.stuck").len();
        ["DONE", "DONE", "SENT"].into_iter().for_each(call);
        let reported = reasons(&process, "payment.stuck").len() - reported_before;
        assert_eq!((reported, needs(&process, &id)), (2, vec![Need::Stuck]), "{number}: no copy is told");
        call("CHARGE");
        let expected = (PaymentState::Unverifiable, vec![Need::Unverifiable]);
        assert_eq!((state(&process, &id).1, needs(&process, &id)), expected, "{number}");
        let history = process.run(process.server.history(&id)).unwrap();
        let stored: Vec<_> = history.exchanges.iter().flatten().map(|stored| &stored.exchange).collect();
        let stored: Vec<_> = stored.into_iter().filter(|stored| stored.outcome == "unreadable").collect();
        assert!(stored.iter().all(|stored| stored.claim.is_none()), "{stored:?}");
        let words: Vec<_> = stored.iter().filter_map(|stored| stored.words.as_deref()).collect();
        for (words, claimed) in words.iter().zip([r#"it claims "DONE""#, r#"it claims "SENT""#, "it claims charged"]) {
            assert!(words.starts_with("orderNumber must have at most 128") && words.ends_with(claimed), "{words}");
        }
        assert_eq!(words.len(), 3);
    }
    let metrics = process.run(process.server.metrics_text());
    assert!(metrics.contains(r#"kassa_gateway_callbacks_total{reading="unreadable"} 8"#), "{metrics}");
}

/// Nobody can ask about it, so what a person found may be out of date.
#[test]
fn callback_after_unpaid_resolution_needs_staff() {
    let world = World::new(0);
    lock(&world.faults.0).without_transaction = true;
    let process = world.start(None);
    let (id, _) = by_form(&process, &world, "order-1");
    process.run(process.server.pay_by_qr(&id, None)).unwrap();
    let code = world.fake.payments().pop().unwrap();
    let call = |word: &str| {
        let body = format!(
            r#"{{"orderNumber":"QR-1","amount":39000,"currency":"KGS","status":"{word}","dateCreated":"2026-11-20T09:05:07","provider":"MBank"}}"#
        );
        hint(&process, &code, &body);
    };
    call("DONE");
    let payment = view(&process, &id).id;
    process.run(process.server.resolve(&payment, Resolution::NotCharged, "not there", "Aizada")).unwrap();
    assert_eq!((state(&process, &id).1, needs(&process, &id)), (PaymentState::Rejected, vec![]));
    call("PAID OUT");
    assert_eq!((state(&process, &id).1, needs(&process, &id)), (PaymentState::Unverifiable, vec![Need::Unverifiable]));
}

/// Neither the hash of such a callback is remembered nor is it answered as taken.
#[test]
fn callback_with_unstored_claim_can_be_retried() {
    let world = World::new(0);
    let process = world.start(None);
    let (_, payment) = by_form(&process, &world, "order-1");
    for number in 0..1000 {
        assert!(claim(&process, &payment, &format!("GW-{number}")));
    }
    // The newest callbacks are those that are known again.
    world.fake.advance(Duration::from_secs(1));
    let (address, body) = (World::address(&payment), r#"{"orderNumber":"GW-1000","status":"CHARGE"}"#);
    for _ in 0..2 {
        let refused = process.run(process.server.hint(&address, body.as_bytes()));
        assert!(matches!(refused, Err(ServerError::Unavailable { .. })), "{refused:?}");
    }
    // The gateway knows none of those, so that they give way.
    follow(&process);
    assert!(hint(&process, &payment, body));
}

#[test]
fn unreadable_callback_appears_in_history() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    assert!(hint(&process, &payment, r#"<pan>4000000000002016</pan>"#));
    assert!(hint(&process, &payment, "orderNumber=GW-1"));
    let history = process.run(process.server.history(&id)).unwrap();
    let called: Vec<_> =
        history.exchanges[0].iter().filter(|stored| stored.exchange.kind == ExchangeKind::Callback).collect();
    let outcomes: Vec<_> = called.iter().map(|stored| stored.exchange.outcome.as_str()).collect();
    assert_eq!(outcomes, ["unreadable", "incomplete"]);
    assert_eq!(called[0].exchange.response.as_deref(), Some("<pan>****************</pan>"));
    assert_eq!(called[1].exchange.claim.as_deref(), Some("GW-1"));
    let metrics = process.run(process.server.metrics_text());
    for reading in ["incomplete", "unreadable"] {
        let line = format!(r#"kassa_gateway_callbacks_total{{reading="{reading}"}} 1"#);
        assert!(metrics.contains(&line), "{metrics}");
    }
}

/// Somebody who presses a button three times asks once.
#[test]
fn repeated_mismatches_at_once_count_as_one() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mbank(&process, "order-1");
    let odd = Verdict::mismatch(payment.reference.clone(), ["amount"], Some(report(PaymentStatus::Charged)));
    force(&world, &payment.reference, vec![odd]);
    for _ in 0..10 {
        process.run(process.server.check_now(&id)).unwrap();
        process.run(process.server.poll_once()).unwrap();
        world.fake.advance(Duration::from_millis(300));
    }
    assert_eq!(state(&process, &id).1, PaymentState::Awaiting);
    ask(&process, &world, 2);
    assert_eq!(state(&process, &id).1, PaymentState::Mismatch);
}

#[test]
fn callback_to_unknown_address_is_rejected() {
    let world = World::new(0);
    let process = world.start(None);
    let (_, payment) = by_form(&process, &world, "order-1");
    let address = World::address(&payment);
    let (secret, id) = address.split_once('/').unwrap();
    let mut other: String = secret.chars().rev().collect();
    if other == secret {
        other = "0".repeat(32);
    }
    for address in [format!("{other}/{id}"), format!("{secret}/{}", "0".repeat(32)), secret.to_owned()] {
        let result = process.run(process.server.hint(&address, b"{}"));
        assert!(matches!(result, Err(ServerError::NotFound { .. })), "{address}: {result:?}");
    }
}

/// Whoever paid once has a number that proves it, and cannot pay with it again.
#[test]
fn gateway_payment_pays_for_one_checkout_only() {
    let world = World::new(0);
    let process = world.start(None);
    let (first, payment) = by_form(&process, &world, "order-1");
    let body = callback_of(&charged(&world, &payment));
    hint(&process, &payment, &body);
    follow(&process);
    let (second, other) = by_form(&process, &world, "order-2");
    hint(&process, &other, &body);
    follow(&process);
    assert_eq!(state(&process, &first), (CheckoutState::Paid, PaymentState::Charged));
    assert_eq!(state(&process, &second), (CheckoutState::Open, PaymentState::Mismatch), "for a person");
    assert_eq!(reasons(&process, "payment.mismatch"), ["NumberTaken"]);
    // Nor with a number of the merchant's own, of another kind of payment.
    let third = open(&process, "order-3");
    let mbank = process.run(process.server.pay_by_mbank(&third, "996700000001", None)).unwrap();
    let own = body.replace("form-order-1", mbank.id.bare()).replace("Cards", "MBank");
    world.fake.charge(mbank.id.bare()).unwrap();
    hint(&process, &other, &own);
    ask(&process, &world, 2);
    assert_eq!(state(&process, &second).0, CheckoutState::Open);
    assert_eq!(state(&process, &third).0, CheckoutState::Paid);
    check(&world).unwrap();
}

fn mbank(process: &Process, reference: &str) -> (CheckoutId, Payment) {
    let id = open(process, reference);
    let payment = process.run(process.server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    (id, payment)
}

fn force(world: &World, payment: &PaymentRef, verdicts: Vec<Verdict>) {
    let number = payment.order_number.clone().unwrap();
    lock(&world.faults.0).forced.insert(number, verdicts);
}

fn report(status: PaymentStatus) -> StatusReport {
    StatusReport::new(status)
}

fn ask(process: &Process, world: &World, times: u32) {
    for _ in 0..times {
        world.fake.advance(Duration::from_secs(11));
        process.run(process.server.poll_once()).unwrap();
    }
}

/// One odd report is none; three in a row are for a person, and nothing is paid by them.
#[test]
fn three_mismatches_in_a_row_need_staff() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mbank(&process, "order-1");
    let odd = || Verdict::mismatch(payment.reference.clone(), ["amount"], Some(report(PaymentStatus::Charged)));
    let open = Verdict::pending(payment.reference.clone(), report(PaymentStatus::Other("OPEN".into())));
    force(&world, &payment.reference, vec![odd(), odd(), open, odd(), odd(), odd()]);
    ask(&process, &world, 5);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Awaiting));
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Mismatch));
    let refused = process.run(process.server.pay_by_qr(&id, None));
    assert!(matches!(refused, Err(ServerError::UnderWay { state: PaymentState::Mismatch, .. })), "{refused:?}");
    let events = process.run(process.server.events_after(&Cursor::default(), 100)).unwrap();
    assert_eq!(events.last().unwrap().kind.unwrap().name(), "payment.mismatch");
    assert!(events.last().unwrap().body.contains(r#""reason":"amount""#));
}

fn mismatch(process: &Process, world: &World) -> (CheckoutId, Payment) {
    let (id, payment) = mbank(process, "order-1");
    let odd = Verdict::mismatch(payment.reference.clone(), ["amount"], Some(report(PaymentStatus::Charged)));
    force(world, &payment.reference, vec![odd]);
    ask(process, world, 3);
    assert_eq!(state(process, &id).1, PaymentState::Mismatch);
    (id, payment)
}

/// A person may find it charged.
#[test]
fn mismatch_blocks_expiry_and_cancel() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, _) = mismatch(&process, &world);
    world.fake.advance(Duration::from_secs(24 * 3600));
    follow(&process);
    assert_eq!(state(&process, &id).0, CheckoutState::Open);
    let cancelled = process.run(process.server.cancel(&id));
    let is_held = matches!(cancelled, Err(ServerError::UnderWay { state: PaymentState::Mismatch, .. }));
    assert!(is_held, "{cancelled:?}");
}

/// Recorded, and told loudly.
#[test]
fn charge_after_rejection_is_reported() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mbank(&process, "order-1");
    let rejected = Verdict::rejected(payment.reference.clone(), report(PaymentStatus::Rejected));
    force(&world, &payment.reference, vec![rejected]);
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Rejected));
    lock(&world.faults.0).forced.clear();
    world.fake.charge(payment.id.bare()).unwrap();
    // Nobody hints at it.
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    let events = process.run(process.server.events_after(&Cursor::default(), 100)).unwrap();
    let charge = events.iter().find(|event| event.kind.unwrap().name() == "payment.charged").unwrap();
    assert!(charge.body.contains(r#""after":"rejected""#), "{}", charge.body);
    check(&world).unwrap();
}

/// One report ends nothing for good, and neither do several that come at once: the questions grow apart for three days.
#[test]
fn rejected_payment_is_polled_for_three_days() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mbank(&process, "order-1");
    let rejected = Verdict::rejected(payment.reference.clone(), report(PaymentStatus::Rejected));
    force(&world, &payment.reference, vec![rejected]);
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Rejected), "its payer sees it at once");
    let (mut polled_at, hours) = (Vec::new(), 4 * 24);
    for minute in 0..hours * 60 {
        world.fake.advance(Duration::from_secs(60));
        if process.run(process.server.poll_once()).unwrap().queried > 0 {
            polled_at.push(minute);
        }
    }
    assert!((6..=12).contains(&polled_at.len()), "{polled_at:?}");
    assert!(polled_at.last().unwrap() > &(24 * 60), "{polled_at:?}");
    // A callback says charged, and the gateway's own status is late by some seconds.
    lock(&world.faults.0)
        .forced
        .get_mut(payment.id.bare())
        .unwrap()
        .push(Verdict::charged(payment.reference.clone(), report(PaymentStatus::Charged)));
    world.fake.charge(payment.id.bare()).unwrap();
    let booked = world.fake.payments().pop().unwrap();
    assert!(hint(&process, &booked, &callback_of(&booked)));
    follow(&process);
    assert_eq!(state(&process, &id).1, PaymentState::Rejected);
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    check(&world).unwrap();
}

/// A gateway that refused a payment may have acted all the same. What was never sent, nobody asks about.
#[test]
fn late_charge_of_refused_payment_is_reported() {
    for (fault, is_asked) in [
        (kassa::FakeFault::Refused { code: "400".into(), reason: "no".into() }, true),
        (kassa::FakeFault::NoConnection, false),
    ] {
        let world = World::new(0);
        let process = world.start(None);
        lock(&world.faults.0).next = Some(fault);
        let (id, payment) = mbank(&process, "order-1");
        assert_eq!(payment.state, PaymentState::NotMade);
        let charge = Verdict::charged(payment.reference.clone(), report(PaymentStatus::Charged));
        force(&world, &payment.reference, vec![charge]);
        ask(&process, &world, 2);
        assert_eq!(state(&process, &id).0 == CheckoutState::Paid, is_asked);
        assert_eq!(lock(&world.log).status_queries > 0, is_asked);
    }
}

/// Money that comes after its time is not hidden.
#[test]
fn charge_after_expiry_is_paid_and_marked() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    world.fake.advance(Duration::from_secs(3601));
    follow(&process);
    assert_eq!(state(&process, &id).0, CheckoutState::Expired);
    let refused = process.run(process.server.pay_by_qr(&id, None));
    assert!(matches!(refused, Err(ServerError::NotOpen { state: CheckoutState::Expired, .. })));
    hint(&process, &payment, &callback_of(&charged(&world, &payment)));
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    let events = process.run(process.server.events_after(&Cursor::default(), 100)).unwrap();
    assert!(events.last().unwrap().body.contains(r#""after":"expired""#));
}

/// Nobody hears "expired" of what may have been paid, and what is unknown never ends by time.
#[test]
fn unknown_payment_blocks_expiry_and_cancel() {
    let world = World::new(0);
    let process = world.start(None);
    lock(&world.faults.0).next = Some(kassa::FakeFault::RequestLost);
    let (id, _) = mbank(&process, "order-1");
    for _ in 0..10 {
        world.fake.advance(Duration::from_secs(24 * 3600));
        follow(&process);
    }
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Unknown));
    let cancelled = process.run(process.server.cancel(&id));
    assert!(matches!(cancelled, Err(ServerError::UnderWay { state: PaymentState::Unknown, .. })), "{cancelled:?}");
    let kinds = process.run(process.server.events_after(&Cursor::default(), 100)).unwrap();
    let kinds: Vec<_> = kinds.iter().map(|event| event.kind.unwrap().name()).collect();
    assert_eq!(kinds, ["payment.created", "payment.unknown", "payment.stuck"], "told once");
}

/// Also for a checkout that was opened while they were on.
#[test]
fn disabled_card_payment_is_not_sent() {
    let world = World::new(0);
    let order = NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid");
    let order = order.with_methods([Method::Card]);
    let id = {
        let on = world.start(None);
        on.run(on.server.open_checkout(order.clone())).unwrap().checkout.id
    };
    let mut settings = World::settings();
    settings.takes_cards = false;
    let off = world.start_with(None, Duration::ZERO, settings);
    let paid = off.run(off.server.pay_by_card(&id, &card(), None)).unwrap_err();
    let again = off.run(off.server.open_checkout(order.clone())).unwrap();
    assert_eq!(again.checkout.id, id, "the same reference gives the same checkout");
    let mut new = order;
    new.reference = "order-2".into();
    let opened = off.run(off.server.open_checkout(new)).unwrap_err();
    for error in [paid, opened] {
        assert!(matches!(error, ServerError::Invalid { .. }), "{error:?}");
    }
    assert!(world.fake.payments().is_empty());
}

#[test]
fn server_rejects_card_number_in_any_field() {
    let world = World::new(0);
    let process = world.start(None);
    let id = open(&process, "order-1");
    let (server, pan) = (&process.server, "4000 0000 0000 2016");
    let order = NewCheckout::new("order-2", 390.into(), pan, "https://shop.example.kg/paid");
    let payment = process.run(server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    let errors = [
        process.run(server.open_checkout(order)).unwrap_err(),
        process.run(server.pay_by_mbank(&id, pan, None)).unwrap_err(),
        process.run(server.pay_by_form(&id, Some(pan))).unwrap_err(),
        process.run(server.confirm(&id, &payment.id, &pan.replace(' ', ""), None)).unwrap_err(),
        process.run(server.confirm(&id, &payment.id, "000000", Some(pan))).unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, ServerError::Invalid { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("2016"), "{error}");
    }
    assert_eq!(world.fake.payments().len(), 1);
    check(&world).unwrap();
}
