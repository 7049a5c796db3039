//! A database that was restored from a backup: its shop misses no event, and takes none for another one.

use std::{collections::HashSet, time::Duration};

use kassa_server::{CheckoutId, CheckoutState, Cursor, Event, EventKind, NewCheckout, ServerError};

use crate::support::world::{Process, World};

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
    while process.run(process.server.follow_once()).unwrap().asked > 0 {}
}

fn read_all(process: &Process, cursor: &Cursor) -> Vec<Event> {
    process.run(process.server.events_after(cursor, 100)).unwrap()
}

fn paid(events: &[Event]) -> &Event {
    events.iter().find(|event| event.kind == EventKind::CheckoutPaid).expect("it was paid")
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
fn events_of_a_restored_database_have_identifiers_that_no_shop_has_seen() {
    let (_world, process, id, lost, in_backup) = after_a_restore(Duration::ZERO);
    assert_eq!(process.run(process.server.checkout(&id)).unwrap().checkout.state, CheckoutState::Paid);
    let now = read_all(&process, &Cursor::default());
    let seen: HashSet<&str> = lost.iter().map(|event| event.id.as_str()).collect();
    assert_ne!(paid(&now).id, paid(&lost).id, "the shop would take it for a repetition");
    let ids = |events: &[Event]| events.iter().map(|event| event.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&now[..in_backup]), ids(&lost[..in_backup]), "what the backup holds stays as it was");
    assert!(now[in_backup..].iter().all(|event| !seen.contains(event.id.as_str())));
}

#[test]
fn a_cursor_of_the_lost_history_is_refused_with_the_one_to_go_on_from() {
    for age in [Duration::ZERO, 3 * HOUR] {
        let (_world, process, _, lost, in_backup) = after_a_restore(age);
        let old = lost.last().unwrap().cursor();
        let refused = process.run(process.server.events_after(&old, 100)).unwrap_err();
        let ServerError::HistoryGone { resume, .. } = refused else { panic!("{refused:?}") };
        // An hour of the backup is read again, as clocks may differ.
        let expected = if age > HOUR { lost[in_backup - 1].cursor() } else { Cursor::default() };
        assert_eq!(resume, expected);
        let rest = read_all(&process, &resume);
        assert_eq!(paid(&rest).kind, EventKind::CheckoutPaid, "nothing of the new history is skipped");
        // A cursor of the backup's own is good as before.
        let kept = lost[in_backup - 1].cursor();
        assert_eq!(paid(&read_all(&process, &kept)).id, paid(&rest).id);
    }
}
