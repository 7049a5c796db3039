//! A partition in which nobody says anything: what died in it is noticed all the same, at both its ends.

use std::{
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use kassa_test_patience::patient;

use crate::{
    fleet::{Apart, Fleet},
    keeper::Keeper,
    program::until,
    scene::Scene,
};

static ITS_OWN: LazyLock<Option<Apart>> = LazyLock::new(Apart::start);

/// By the settings of its connections after 10 to 20 s. By those of the system it would be one to two minutes at the server's
/// end, and two hours at PostgreSQL's.
const SOON: Duration = Duration::from_secs(45);

#[test]
fn network_partition_is_detected_on_both_sides() {
    let Some(apart) = &*ITS_OWN else { return };
    let mut scene = Scene::of_fleet(1, Fleet::by_links(apart));
    scene.plans[0].set("KASSA_SERVER_LOG", "debug");
    let server = scene.plans[0].start_in_the_end().unwrap();
    let Keeper::Fleet(fleet) = &scene.keeper else { panic!("it has a fleet's database") };
    until("it is connected", || fleet.connections_of(0) > 1);
    // One listens to other servers, and says nothing.
    let times_told = || scene.log().matches("other servers cannot be heard").count();
    let before = times_told();
    let is_told = || times_told() > before;

    fleet.part(0);
    let begun = Instant::now();
    while !is_told() || fleet.connections_of(0) > 0 {
        let seen = (is_told(), fleet.connections_of(0));
        assert!(begun.elapsed() < patient(SOON), "noticed by the server, left in the database: {seen:?}");
        thread::sleep(Duration::from_millis(200));
    }
    fleet.heal(0);
    until("it is connected again", || fleet.connections_of(0) > 1);
    assert!(server.stop().0.success());
}
