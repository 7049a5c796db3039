//! A database that was restored from a backup: its shop misses no event, and takes none for another one.

use std::{collections::HashSet, sync::Arc, time::Duration};

use kassa::FakeFault;
use kassa_server::{CheckoutId, CheckoutState, Cursor, Event, EventKind, NewCheckout, ServerError};

use crate::support::{
    lock, one,
    runner::Interleaved,
    world::{Process, World},
};

const HOUR: Duration = Duration::from_secs(3600);

fn begin_by_mbank(process: &Process, reference: &str) -> CheckoutId {
    let order = NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid");
    let id = process.run(process.server.open_checkout(order)).unwrap().checkout.id;
    process.run(process.server.pay_by_mbank(&id, "996700000001", None)).unwrap();
    id
}

/// Every payment at the gateway is charged, and the server hears of it.
fn charge_all(world: &World, process: &Process) {
    for payment in world.fake.payments().iter().filter(|payment| !payment.status.is_final()) {
        world.fake.charge(&World::name(payment)).unwrap();
    }
    world.fake.advance(Duration::from_secs(11));
    while process.run(process.server.poll_once()).unwrap().queried > 0 {}
}

fn read_all(process: &Process, cursor: &Cursor) -> Vec<Event> {
    process.run(process.server.events_after(cursor, 100)).unwrap()
}

fn paid(events: &[Event]) -> &Event {
    events.iter().find(|event| event.kind == Some(EventKind::CheckoutPaid)).expect("it was paid")
}

/// The backup was taken before the payment was charged, and `age` later the shop had read of the charge.
fn after_a_restore(age: Duration) -> (World, Process, CheckoutId, Vec<Event>, usize) {
    let world = World::new(0);
    let process = world.start(None);
    let id = begin_by_mbank(&process, "order-1");
    let in_backup = read_all(&process, &Cursor::default()).len();
    let backup = world.back_up();
    world.fake.advance(age);
    charge_all(&world, &process);
    let lost = read_all(&process, &Cursor::default());
    assert!(lost.len() > in_backup);
    drop(process);
    world.restore(backup);
    let process = world.start(None);
    charge_all(&world, &process);
    (world, process, id, lost, in_backup)
}

#[test]
fn restored_database_issues_new_event_ids() {
    let (_world, process, id, lost, in_backup) = after_a_restore(Duration::ZERO);
    assert_eq!(process.run(process.server.checkout(&id)).unwrap().checkout.state, CheckoutState::Paid);
    let now = read_all(&process, &Cursor::default());
    let seen: HashSet<&str> = lost.iter().map(|event| event.id.as_str()).collect();
    assert_ne!(paid(&now).id, paid(&lost).id, "the shop would take it for a repetition");
    let ids = |events: &[Event]| events.iter().map(|event| event.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&now[..in_backup]), ids(&lost[..in_backup]), "what the backup holds stays as it was");
    assert!(now[in_backup..].iter().all(|event| !seen.contains(event.id.as_str())));
}

/// At the moment of the backup it waited for its turn. Nobody would ask about what was never sent, but it was sent afterwards.
#[test]
fn payment_queued_at_backup_is_found_charged() {
    let world = World::new(0);
    let process = Arc::new(world.start(None));
    let order = NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid");
    let id = process.run(process.server.open_checkout(order)).unwrap().checkout.id;
    // The gateway asks everybody to wait.
    lock(&world.faults.0).next = Some(FakeFault::TooManyRequests { retry_after: Duration::from_secs(20) });
    begin_by_mbank(&process, "order-0");
    let (mut calls, mut random) = (Interleaved::default(), fastrand::Rng::with_seed(0));
    let (server, payer) = (process.server.clone(), id.clone());
    calls.add(&process, async move { drop(server.pay_by_mbank(&payer, "996700000001", None).await) });
    let state = || -> Option<String> {
        one(&lock(&world.db), "SELECT state FROM payments WHERE checkout_id = ?1", [id.as_str()])
    };
    while state().as_deref() != Some("prepared") {
        calls.step(&mut random);
    }
    let backup = world.back_up();
    calls.finish(&mut random, &world.fake);
    assert_eq!(state().as_deref(), Some("awaiting"));
    charge_all(&world, &process);
    assert_eq!(state().as_deref(), Some("charged"));
    process.life.kill();
    world.restore(backup);
    let process = world.start(None);
    world.fake.advance(HOUR);
    for _ in 0..5 {
        process.run(process.server.poll_once()).unwrap();
        world.fake.advance(Duration::from_secs(60));
    }
    assert_eq!(state().as_deref(), Some("charged"));
    assert_eq!(lock(&world.log).sent.iter().filter(|(_, what)| what == "mbank").count(), 2, "it was not sent again");
}

#[test]
fn cursor_of_lost_history_is_rejected() {
    for age in [Duration::ZERO, 3 * HOUR] {
        let (_world, process, _, lost, in_backup) = after_a_restore(age);
        let old = lost.last().unwrap().cursor();
        let refused = process.run(process.server.events_after(&old, 100)).unwrap_err();
        let ServerError::HistoryGone { resume, .. } = refused else { panic!("{refused:?}") };
        // An hour of the backup is read again, as clocks may differ.
        let expected = if age > HOUR { lost[in_backup - 1].cursor() } else { Cursor::default() };
        assert_eq!(resume, expected);
        let rest = read_all(&process, &resume);
        assert_eq!(paid(&rest).kind, Some(EventKind::CheckoutPaid), "nothing of the new history is skipped");
        // A cursor of the backup's own is good as before.
        let stored = lost[in_backup - 1].cursor();
        assert_eq!(paid(&read_all(&process, &stored)).id, paid(&rest).id);
    }
}
