//! Crash enumeration: a process dies before, and without an answer after, each transaction, each request to the gateway and
//! each delivery; or the database says there that it failed, rightly or not. Then another process starts, its callers ask
//! again for the same, and everything must hold.

use kassa::FakeFault;
use kassa_server::{CheckoutId, CheckoutState, Method, NewCheckout, PaymentState, Resolution, Server};

use crate::{
    invariants::{check, check_end},
    support::{
        crash::{Plan, When},
        lock,
        world::{World, callback_of, card},
    },
};

/// What a shop, an app, a payer and the gateway do. After a crash all of it is done again, with the same reference and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    PayForm,
    Qr,
    Mbank,
    Megapay,
    WrongPin,
    OtherWallet,
    Card,
    CardLostAnswer,
    WrongPassword,
    LostAnswer,
    Cancel,
    Expire,
    FormThenMbank,
    Resolve,
}

const SCENES: [Scene; 14] = [
    Scene::PayForm,
    Scene::Qr,
    Scene::Mbank,
    Scene::Megapay,
    Scene::WrongPin,
    Scene::OtherWallet,
    Scene::Card,
    Scene::CardLostAnswer,
    Scene::WrongPassword,
    Scene::LostAnswer,
    Scene::Cancel,
    Scene::Expire,
    Scene::FormThenMbank,
    Scene::Resolve,
];

fn order(scene: Scene) -> NewCheckout {
    let order = NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid");
    if matches!(scene, Scene::Card | Scene::CardLostAnswer) { order.with_methods([Method::Card]) } else { order }
}

/// Errors are met as an app meets them: it goes on with what it is told later.
async fn play(scene: Scene, world: &World, server: &Server) {
    let Ok(view) = server.open_checkout(order(scene)).await else { return };
    let id = view.checkout.id;
    let _ = server.new_token(&id).await;
    match scene {
        Scene::PayForm => by_form(world, server, &id).await,
        Scene::Qr => by_qr(world, server, &id).await,
        Scene::Mbank | Scene::WrongPassword => by_mbank(scene, world, server, &id).await,
        Scene::Megapay | Scene::WrongPin | Scene::OtherWallet => by_megapay(scene, world, server, &id).await,
        Scene::LostAnswer => {
            if world.fake.payments().is_empty() {
                lock(&world.faults.0).next = Some(FakeFault::ResponseLost);
            }
            let _ = server.pay_by_mbank(&id, "996700000001", Some("try-1")).await;
            lock(&world.faults.0).next = None;
        }
        Scene::Card => {
            let _ = server.pay_by_card(&id, &card(), Some("try-1")).await;
            charge_all(world);
        }
        Scene::CardLostAnswer => {
            if world.fake.payments().is_empty() {
                lock(&world.faults.0).next = Some(FakeFault::ResponseLost);
            }
            let _ = server.pay_by_card(&id, &card(), Some("try-1")).await;
            lock(&world.faults.0).next = None;
        }
        Scene::Resolve => {
            lock(&world.faults.0).next = Some(FakeFault::RequestLost);
            let begun = server.pay_by_mbank(&id, "996700000001", Some("mbank")).await;
            lock(&world.faults.0).next = None;
            let Ok(payment) = begun else { return };
            let _ = server.resolve(&payment.id, Resolution::NotCharged, "not on the statement", "Aizada").await;
            by_qr(world, server, &id).await;
        }
        Scene::Cancel => drop(server.cancel(&id).await),
        Scene::Expire => {
            let _ = server.pay_by_qr(&id, Some("try-1")).await;
            world.fake.advance(std::time::Duration::from_secs(3601));
        }
        Scene::FormThenMbank => {
            let _ = server.pay_by_form(&id, Some("try-1")).await;
            by_mbank(scene, world, server, &id).await;
            charge_all(world);
            by_form(world, server, &id).await;
        }
    }
    let _ = server.check_now(&id).await;
    for _ in 0..3 {
        let _ = server.poll_once().await;
        let _ = server.deliver_once().await;
    }
}

async fn by_form(world: &World, server: &Server, id: &CheckoutId) {
    let _ = server.pay_by_form(id, Some("try-1")).await;
    charge_all(world);
    let books = world.fake.payments();
    for payment in books.iter().filter(|payment| payment.page_url.is_some() && payment.status.is_final()) {
        let _ = server.hint(&World::address(payment), callback_of(payment).as_bytes()).await;
    }
}

async fn by_qr(world: &World, server: &Server, id: &CheckoutId) {
    let Ok(payment) = server.pay_by_qr(id, Some("try-1")).await else { return };
    if let Some(code) = payment.qr_text {
        let _ = world.fake.charge(&code);
    }
}

async fn by_mbank(scene: Scene, world: &World, server: &Server, id: &CheckoutId) {
    let Ok(payment) = server.pay_by_mbank(id, "996700000001", Some("mbank")).await else { return };
    if scene == Scene::WrongPassword {
        let _ = server.confirm(id, &payment.id, "000000", Some("otp-1")).await;
    }
    let _ = server.confirm(id, &payment.id, &world.fake.otp(), Some("otp-2")).await;
}

async fn by_megapay(scene: Scene, world: &World, server: &Server, id: &CheckoutId) {
    let Ok(mut payment) = server.pay_by_megapay(id, "996700000001", Some("wallet")).await else { return };
    if scene == Scene::OtherWallet {
        let other = server.pay_by_megapay_instead_of(id, &payment.id, "996700000002", Some("other")).await;
        let Ok(other) = other else { return };
        payment = other;
    }
    if scene == Scene::WrongPin {
        let _ = server.confirm(id, &payment.id, "000000", Some("pin-1")).await;
    }
    let _ = server.confirm(id, &payment.id, &world.fake.otp(), Some("pin-2")).await;
}

fn charge_all(world: &World) {
    let books = world.fake.payments();
    for payment in books.iter().filter(|payment| payment.page_url.is_some() && world.was_shown(payment)) {
        let _ = world.fake.charge(&World::name(payment));
    }
}

#[test]
fn crash_at_any_point_keeps_invariants() {
    for scene in SCENES {
        let world = World::new(0);
        let process = world.start(None);
        process.run(play(scene, &world, &process.server));
        world.close();
        check_end(&world).unwrap_or_else(|broken| panic!("{scene:?} without a crash: {broken}"));
        let points = process.life.passed();
        assert!(points > 5, "{scene:?} has {points} points");
        let all = [When::Before, When::Unanswered, When::Failed, When::Unclear];
        for (at, when) in (0..points).flat_map(|at| all.map(|when| (at, when))) {
            let world = World::new(1);
            let dying = world.start(Some(Plan { at, when }));
            let ended = dying.try_run(play(scene, &world, &dying.server));
            let dies = matches!(when, When::Before | When::Unanswered);
            assert_eq!(ended.is_none(), dies, "{scene:?} met no point {at}");
            check(&world).unwrap_or_else(|broken| panic!("{scene:?} died at {at} {when:?}: {broken}"));
            let next = world.start(None);
            next.run(play(scene, &world, &next.server));
            world.close();
            check_end(&world).unwrap_or_else(|broken| panic!("{scene:?} died at {at} {when:?}: {broken}"));
        }
    }
}

/// That the scenes are what they are called.
#[test]
fn crash_scenarios_end_in_expected_state() {
    for (scene, state, charged) in [
        (Scene::PayForm, CheckoutState::Paid, 1),
        (Scene::Qr, CheckoutState::Paid, 1),
        (Scene::Mbank, CheckoutState::Paid, 1),
        (Scene::Megapay, CheckoutState::Paid, 1),
        (Scene::WrongPin, CheckoutState::Paid, 1),
        (Scene::OtherWallet, CheckoutState::Paid, 1),
        (Scene::Card, CheckoutState::Paid, 1),
        (Scene::WrongPassword, CheckoutState::Paid, 1),
        (Scene::Cancel, CheckoutState::Cancelled, 0),
        (Scene::FormThenMbank, CheckoutState::Paid, 2),
        (Scene::Resolve, CheckoutState::Paid, 1),
    ] {
        let world = World::new(0);
        let process = world.start(None);
        process.run(play(scene, &world, &process.server));
        let view = process.run(process.server.open_checkout(order(scene))).unwrap();
        let count = view.payments.iter().filter(|payment| payment.state == PaymentState::Charged).count();
        assert_eq!((view.checkout.state, count), (state, charged), "{scene:?}: {view:#?}");
        assert_eq!(view.checkout.is_overpaid, charged > 1);
        let is_by_card = view.checkout.methods == [Method::Card];
        assert!(is_by_card || view.checkout.methods == [Method::PayForm, Method::Qr, Method::Mbank, Method::Megapay]);
        assert_eq!(is_by_card, scene == Scene::Card, "a card is taken by name alone");
    }
}
