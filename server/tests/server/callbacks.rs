//! Callbacks: before the request that makes the payment returned, twice, forged, contradictory, replayed. Each is only a
//! hint; the gateway's report decides.

use std::time::Duration;

use fastrand::Rng;
use kassa::{FakePayment, PaymentRef, PaymentStatus, StatusReport, Verdict};
use kassa_server::{CheckoutId, CheckoutState, Method, NewCheckout, Payment, PaymentState, ServerError};

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
    process.run(process.server.hint(&World::address(payment), body)).unwrap()
}

fn follow(process: &Process) {
    while process.run(process.server.follow_once()).unwrap().asked > 0 {}
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
fn one_that_comes_before_the_page_is_known_is_not_lost() {
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
    assert_eq!(state(&process, &id).1, PaymentState::Sending, "nothing is asked about what may not be there yet");
    calls.finish(&mut random, &world.fake);
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    check(&world).unwrap();
}

#[test]
fn the_same_one_twice_is_asked_about_once() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = by_form(&process, &world, "order-1");
    let body = callback_of(&charged(&world, &payment));
    assert!(hint(&process, &payment, &body));
    assert!(!hint(&process, &payment, &body.replace(r#"{"order"#, r#"{ "order"#)), "however it is formatted");
    follow(&process);
    let asked = lock(&world.log).asked;
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    assert!(!hint(&process, &payment, &body));
    follow(&process);
    assert_eq!(lock(&world.log).asked, asked);
    world.close();
    check_end(&world).unwrap();
}

#[test]
fn a_forged_one_settles_nothing() {
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
        // One that was paid, of another amount.
        body.clone(),
        body.replace(":5,", ":390,"),
        "not JSON".to_owned(),
        "{}".to_owned(),
    ] {
        hint(&process, &payment, &forged);
        follow(&process);
        assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Awaiting), "{forged}");
    }
    hint(&process, &cheap, &body);
    follow(&process);
    assert_eq!(state(&process, &other), (CheckoutState::Paid, PaymentState::Charged), "the claim took nothing away");
    check(&world).unwrap();
}

#[test]
fn an_address_that_nobody_was_given_is_refused() {
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
        let told = process.run(process.server.hint(&address, "{}"));
        assert!(matches!(told, Err(ServerError::NotFound { .. })), "{address}: {told:?}");
    }
}

/// Whoever paid once has a number that proves it, and cannot pay with it again.
#[test]
fn a_payment_that_paid_for_one_order_pays_for_no_other() {
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
    assert_eq!(state(&process, &second), (CheckoutState::Open, PaymentState::Awaiting));
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
        process.run(process.server.follow_once()).unwrap();
    }
}

/// One odd report is none; three in a row are for a person, and nothing is paid by them.
#[test]
fn reports_that_contradict_are_for_a_person() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mbank(&process, "order-1");
    let odd = || Verdict::contradicted(["amount"], Some(report(PaymentStatus::Charged)));
    let open = Verdict::open(payment.reference.clone(), report(PaymentStatus::Other("OPEN".into())));
    force(&world, &payment.reference, vec![odd(), odd(), open, odd(), odd(), odd()]);
    ask(&process, &world, 5);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Awaiting));
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Contradicted));
    let refused = process.run(process.server.pay_by_qr(&id, None));
    assert!(matches!(refused, Err(ServerError::UnderWay { state: PaymentState::Contradicted, .. })), "{refused:?}");
    let events = process.run(process.server.events_after(0, 100)).unwrap();
    assert_eq!(events.last().unwrap().kind.name(), "payment.contradicted");
    assert!(events.last().unwrap().body.contains(r#""reason":"amount""#));
}

fn contradicted(process: &Process, world: &World) -> (CheckoutId, Payment) {
    let (id, payment) = mbank(process, "order-1");
    let odd = Verdict::contradicted(["amount"], Some(report(PaymentStatus::Charged)));
    force(world, &payment.reference, vec![odd]);
    ask(process, world, 3);
    assert_eq!(state(process, &id).1, PaymentState::Contradicted);
    (id, payment)
}

/// A person may find it charged.
#[test]
fn what_is_contradicted_neither_expires_nor_is_cancelled() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, _) = contradicted(&process, &world);
    world.fake.advance(Duration::from_secs(24 * 3600));
    follow(&process);
    assert_eq!(state(&process, &id).0, CheckoutState::Open);
    let cancelled = process.run(process.server.cancel(&id));
    let is_held = matches!(cancelled, Err(ServerError::UnderWay { state: PaymentState::Contradicted, .. }));
    assert!(is_held, "{cancelled:?}");
}

/// Recorded, and told loudly.
#[test]
fn a_charge_after_a_rejection_is_told() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mbank(&process, "order-1");
    let rejected = Verdict::rejected(report(PaymentStatus::Rejected));
    force(&world, &payment.reference, vec![rejected]);
    ask(&process, &world, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Open, PaymentState::Rejected));
    lock(&world.faults.0).forced.clear();
    world.fake.charge(payment.id.bare()).unwrap();
    ask(&process, &world, 3);
    assert_eq!(state(&process, &id).1, PaymentState::Rejected, "what has ended is asked about no more");
    let booked = world.fake.payments().pop().unwrap();
    assert!(hint(&process, &booked, &callback_of(&booked)));
    follow(&process);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    let events = process.run(process.server.events_after(0, 100)).unwrap();
    let charge = events.iter().find(|event| event.kind.name() == "payment.charged").unwrap();
    assert!(charge.body.contains(r#""after":"rejected""#), "{}", charge.body);
    check(&world).unwrap();
}

/// Money that comes after its time is not hidden.
#[test]
fn a_charge_after_the_expiry_pays_and_says_so() {
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
    let events = process.run(process.server.events_after(0, 100)).unwrap();
    assert!(events.last().unwrap().body.contains(r#""after":"expired""#));
}

/// Nobody hears "expired" of what may have been paid, and what is unknown never ends by time.
#[test]
fn what_is_unknown_neither_expires_nor_is_cancelled() {
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
    let kinds = process.run(process.server.events_after(0, 100)).unwrap();
    let kinds: Vec<_> = kinds.iter().map(|event| event.kind.name()).collect();
    assert_eq!(kinds, ["payment.created", "payment.unknown", "payment.stuck"], "told once");
}

/// Also for a checkout that was opened while they were on.
#[test]
fn where_cards_are_off_none_is_sent() {
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
fn nothing_that_looks_like_a_card_number_is_taken_anywhere() {
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
