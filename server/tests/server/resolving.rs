//! A person decides what became of a payment of which nobody knows.

use std::time::Duration;

use kassa::{FakeFault, PaymentStatus, StatusReport, Verdict};
use kassa_server::{
    CheckoutId, CheckoutState, Cursor, Event, NewCheckout, Payment, PaymentState, Resolution, ServerError,
    storage::staff::RefundOutcome,
};

use crate::{
    invariants::check,
    support::{
        lock,
        world::{Process, World},
    },
};

const WHY: &str = "The bank's statement shows it";

/// A payment that never came to the gateway, or whose answer was lost.
fn unknown(process: &Process, world: &World, fault: FakeFault) -> (CheckoutId, Payment) {
    let order = NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid");
    let id = process.run(process.server.open_checkout(order)).unwrap().checkout.id;
    lock(&world.faults.0).next = Some(fault);
    let payment = process.run(process.server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    assert_eq!(payment.state, PaymentState::Unknown);
    (id, payment)
}

fn resolve(process: &Process, payment: &Payment, resolution: Resolution) -> Result<Payment, ServerError> {
    process.run(process.server.resolve(&payment.id, resolution, WHY, "Aizada"))
}

fn events(process: &Process) -> Vec<Event> {
    process.run(process.server.events_after(&Cursor::default(), 100)).unwrap()
}

fn kinds(process: &Process) -> Vec<&'static str> {
    events(process).iter().map(|event| event.kind.unwrap().name()).collect()
}

fn state(process: &Process, id: &CheckoutId) -> (CheckoutState, PaymentState) {
    let view = process.run(process.server.checkout(id)).unwrap();
    (view.checkout.state, view.payments[0].state)
}

#[test]
fn payment_resolved_charged_pays_its_checkout() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = unknown(&process, &world, FakeFault::RequestLost);
    assert_eq!(resolve(&process, &payment, Resolution::Charged).unwrap().state, PaymentState::Charged);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    let expected = ["payment.created", "payment.unknown", "payment.resolved", "checkout.paid"];
    assert_eq!(kinds(&process), expected);
    let body = &events(&process)[2].body;
    for part in [r#""after":"unknown""#, r#""by":"Aizada""#, WHY, r#""state":"charged""#] {
        assert!(body.contains(part), "{part} is not in {body}");
    }
    assert!(resolve(&process, &payment, Resolution::Charged).is_ok(), "again");
    let other = resolve(&process, &payment, Resolution::NotCharged);
    assert!(matches!(other, Err(ServerError::NotInDoubt { state: PaymentState::Charged, .. })), "{other:?}");
    assert_eq!(kinds(&process), expected, "told once");
    check(&world).unwrap();
}

/// It can be paid by something else, and it expires.
#[test]
fn resolved_not_charged_frees_checkout() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = unknown(&process, &world, FakeFault::RequestLost);
    resolve(&process, &payment, Resolution::NotCharged).unwrap();
    resolve(&process, &payment, Resolution::NotCharged).unwrap();
    assert_eq!(kinds(&process), ["payment.created", "payment.unknown", "payment.resolved"]);
    assert_eq!(process.run(process.server.pay_by_qr(&id, None)).unwrap().state, PaymentState::Awaiting);
    world.fake.advance(Duration::from_secs(3601));
    process.run(process.server.poll_once()).unwrap();
    assert_eq!(state(&process, &id), (CheckoutState::Expired, PaymentState::Rejected));
    check(&world).unwrap();
}

/// Its shop hears that it expired as soon as nobody has to wait for the payment any more.
#[test]
fn overdue_checkout_expires_on_resolution() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = unknown(&process, &world, FakeFault::RequestLost);
    for _ in 0..3 {
        world.fake.advance(Duration::from_secs(24 * 3600));
        process.run(process.server.poll_once()).unwrap();
    }
    assert_eq!(state(&process, &id).0, CheckoutState::Open);
    resolve(&process, &payment, Resolution::NotCharged).unwrap();
    process.run(process.server.poll_once()).unwrap();
    assert_eq!(state(&process, &id), (CheckoutState::Expired, PaymentState::Rejected));
}

/// Nobody hints at it: the server asks on.
#[test]
fn late_charge_after_resolution_is_reported() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = unknown(&process, &world, FakeFault::ResponseLost);
    resolve(&process, &payment, Resolution::NotCharged).unwrap();
    world.fake.charge(payment.id.bare()).unwrap();
    world.fake.advance(Duration::from_secs(30));
    process.run(process.server.poll_once()).unwrap();
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    let events = events(&process);
    let charge = events.iter().find(|event| event.kind.unwrap().name() == "payment.charged").unwrap();
    assert!(charge.body.contains(r#""after":"rejected""#), "{}", charge.body);
    check(&world).unwrap();
}

/// For 30 days, as one report of the gateway's is no proof either.
#[test]
fn resolved_payment_polling_ends() {
    for fault in [FakeFault::RequestLost, FakeFault::ResponseLost] {
        let world = World::new(0);
        let process = world.start(None);
        let (_, payment) = unknown(&process, &world, fault);
        resolve(&process, &payment, Resolution::NotCharged).unwrap();
        if !world.fake.payments().is_empty() {
            world.fake.reject(payment.id.bare()).unwrap();
            world.fake.advance(Duration::from_secs(30));
            process.run(process.server.poll_once()).unwrap();
        } else {
            for _ in 0..32 {
                world.fake.advance(Duration::from_secs(24 * 3600 + 4000));
                process.run(process.server.poll_once()).unwrap();
            }
        }
        let queries = lock(&world.log).status_queries;
        assert!(queries > 0);
        // The last question of those days, and none after it.
        for most in [1, 0] {
            world.fake.advance(Duration::from_secs(40 * 24 * 3600));
            assert!(process.run(process.server.poll_once()).unwrap().queried <= most);
        }
    }
}

#[test]
fn resolution_needs_open_payment_and_reason() {
    let world = World::new(0);
    let process = world.start(None);
    let order = NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid");
    let id = process.run(process.server.open_checkout(order)).unwrap().checkout.id;
    let payment = process.run(process.server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    for (reason, by, field) in [("", "Aizada", "reason"), ("x", " ", "by"), ("4000 0000 0000 2016", "Aizada", "reason")]
    {
        let refused = process.run(process.server.resolve(&payment.id, Resolution::NotCharged, reason, by));
        let Err(ServerError::Invalid { violations, .. }) = refused else { panic!("{reason} by {by}: {refused:?}") };
        assert_eq!((violations.len(), violations[0].field.as_str()), (1, field));
    }
    let long = "x".repeat(201);
    assert!(process.run(process.server.resolve(&payment.id, Resolution::NotCharged, &long, "Aizada")).is_err());
    // A person finds out while the payer still could act.
    assert_eq!(resolve(&process, &payment, Resolution::NotCharged).unwrap().state, PaymentState::Rejected);
    let late = resolve(&process, &payment, Resolution::Charged);
    assert!(matches!(late, Err(ServerError::NotInDoubt { state: PaymentState::Rejected, .. })), "{late:?}");
    check(&world).unwrap();
}

/// The gateway reports another amount, three times.
fn mismatch(process: &Process, world: &World) -> (CheckoutId, Payment) {
    let (id, payment) = unknown(process, world, FakeFault::ResponseLost);
    let odd = Verdict::mismatch(payment.reference.clone(), ["amount"], Some(StatusReport::new(PaymentStatus::Charged)));
    lock(&world.faults.0).forced.insert(payment.id.bare().to_owned(), vec![odd]);
    for _ in 0..3 {
        world.fake.advance(Duration::from_secs(11));
        process.run(process.server.poll_once()).unwrap();
    }
    assert_eq!(state(process, &id).1, PaymentState::Mismatch);
    (id, payment)
}

/// By itself the server asks at growing distance.
#[test]
fn mismatch_is_polled_on_staff_request() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mismatch(&process, &world);
    world.fake.advance(Duration::from_secs(3000));
    assert_eq!(process.run(process.server.poll_once()).unwrap().queried, 1);
    lock(&world.faults.0).forced.clear();
    world.fake.charge(payment.id.bare()).unwrap();
    world.fake.advance(Duration::from_secs(3000));
    assert_eq!(process.run(process.server.poll_once()).unwrap().queried, 0);
    process.run(process.server.check_now(&id)).unwrap();
    assert_eq!(process.run(process.server.poll_once()).unwrap().queried, 1);
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    check(&world).unwrap();
}

#[test]
fn mismatch_can_be_resolved() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, payment) = mismatch(&process, &world);
    resolve(&process, &payment, Resolution::Charged).unwrap();
    assert_eq!(state(&process, &id), (CheckoutState::Paid, PaymentState::Charged));
    assert!(events(&process).iter().any(|event| event.body.contains(r#""after":"mismatch""#)));
}

/// A colleague's page that is old notes nothing, and one note never stands for two payments.
#[test]
fn each_overpayment_is_refunded_separately() {
    let world = World::new(0);
    let process = world.start(None);
    let (id, first) = unknown(&process, &world, FakeFault::ResponseLost);
    resolve(&process, &first, Resolution::NotCharged).unwrap();
    lock(&world.faults.0).next = Some(FakeFault::ResponseLost);
    let second = process.run(process.server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    resolve(&process, &second, Resolution::NotCharged).unwrap();
    let third = process.run(process.server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    let charged = |payment: &Payment| {
        world.fake.charge(payment.id.bare()).unwrap();
        world.fake.advance(Duration::from_secs(3000));
        process.run(process.server.poll_once()).unwrap();
        let checkout = process.run(process.server.checkout(&id)).unwrap().checkout;
        (checkout.refunds_due, checkout.version)
    };
    let note = |version| process.run(process.server.record_refund(&id, version, WHY, "Aizada")).unwrap();
    let version = || process.run(process.server.checkout(&id)).unwrap().checkout.version;
    let (due, before) = charged(&third);
    assert_eq!((due, note(before)), (0, RefundOutcome::NotDue));
    let (due, seen) = charged(&first);
    assert_eq!(due, 1);
    assert_eq!(charged(&second).0, 2);
    assert_eq!(note(seen), RefundOutcome::Outdated);
    let now = version();
    assert_eq!(
        (note(now), note(now), note(version())),
        (RefundOutcome::Recorded, RefundOutcome::Outdated, RefundOutcome::Recorded)
    );
    assert_eq!(note(version()), RefundOutcome::NotDue);
    assert_eq!(kinds(&process).iter().filter(|kind| **kind == "checkout.refund_recorded").count(), 2);
    check(&world).unwrap();
}
