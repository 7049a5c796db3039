//! A database that was put back to an earlier moment (point-in-time recovery): what was sent since is queried.

use std::{sync::LazyLock, thread, time::Duration};

use kassa_sandbox::{EndpointName, Fault};
use kassa_test_patience::patient;
use kassa_test_postgres::Cluster;
use serde_json::{Value, json};

use crate::{api::Caller, fleet::Fleet, paying::PAYMENTS, program::until, scene::Scene, secrets::payers};

static ARCHIVED: LazyLock<Cluster> = LazyLock::new(Cluster::start_with_archive);

fn state(app: &Caller) -> (Value, Value) {
    let seen = app.get("/v1/checkout").unwrap().body;
    (seen["state"].clone(), seen["payments"][0]["state"].clone())
}

/// One payment waited for its payer then, one was on its way, and one was not begun yet.
#[test]
fn payments_sent_after_backup_are_polled() {
    let mut scene = Scene::of_fleet(1, Fleet::by_lines(&ARCHIVED));
    scene.plans[0].set("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "60s");
    let server = scene.plans[0].start_in_the_end().unwrap();
    let payer = payers()[0];
    let by_mbank = json!({ "method": "mbank", "phone": payer.phone });
    let ((waits, _), (on_its_way, _), (later, _)) = (scene.app("order-1"), scene.app("order-2"), scene.app("order-3"));
    let begun = waits.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap();
    ARCHIVED.back_up();

    // The moment has to be named before the answer comes, which has to come before the deadline.
    let answered_after = patient(Duration::from_secs(5)).min(Duration::from_secs(40));
    let slow = Fault::delay().endpoint(EndpointName::MbankPay).after(answered_after).times(1);
    scene.sandbox.faults().add(slow).unwrap();
    let paying = {
        let (app, by_mbank) = (on_its_way.clone(), by_mbank.clone());
        thread::spawn(move || app.send("POST", PAYMENTS, Some("try-1"), &by_mbank))
    };
    until("the gateway has it", || scene.sandbox.payments().len() == 2);
    assert_eq!(state(&on_its_way).1, "sending");
    ARCHIVED.mark("then");

    // All three are paid, and the shop hears of it.
    let pay = |app: &Caller, id: &str| {
        let path = format!("{PAYMENTS}/{id}/confirm");
        assert!(app.send("POST", &path, Some("otp-1"), &json!({ "otp": payer.otp })).unwrap().status < 300);
    };
    pay(&waits, &begun.member("id").unwrap());
    let on_its_way_id = paying.join().unwrap().unwrap().member("id").unwrap();
    until("the gateway has answered", || state(&on_its_way).1 == "awaiting");
    pay(&on_its_way, &on_its_way_id);
    pay(&later, &later.send("POST", PAYMENTS, Some("try-1"), &by_mbank).unwrap().member("id").unwrap());
    for app in [&waits, &on_its_way, &later] {
        until("it is paid", || state(app).0 == "paid");
    }
    scene.read_events(0);
    let (seen, lost) = (scene.events_read(), scene.cursor());
    assert!(server.stop().0.success());

    ARCHIVED.restore("then");
    scene.keeper.time_passes(Duration::from_secs(120));
    let server = scene.plans[0].start_in_the_end().unwrap();
    for app in [&waits, &on_its_way] {
        until("the gateway was asked", || state(app) == (json!("paid"), json!("charged")));
    }
    // The shop reads on by a cursor that this history has not got, and is told where to go on.
    let gone = scene.call_by_shop(0, "GET", &format!("/v1/events?after={lost}"), &Value::Null).unwrap();
    assert_eq!((gone.status, gone.body["type"].as_str()), (410, Some("urn:kassa:problem:history_gone")));
    let next = gone.body["next"].as_str().unwrap();
    let read = scene.call_by_shop(0, "GET", &format!("/v1/events?after={next}&limit=1000"), &Value::Null).unwrap();
    let events = read.body["events"].as_array().unwrap().clone();
    let paid = events.iter().map(|at| &at["event"]).filter(|event| event["type"] == "checkout.paid");
    let paid: Vec<&str> = paid.map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(paid.len(), 2);
    assert!(paid.iter().all(|id| !seen.iter().any(|seen| seen == id)), "the shop would take them for repetitions");
    // What was begun later is forgotten here. The gateway has it: the staff find it by the gateway's statement.
    assert_eq!(state(&later), (json!("open"), Value::Null));
    let sent =
        scene.sandbox.requests().iter().filter(|request| request.endpoint == EndpointName::MbankPay.path()).count();
    assert_eq!(sent, 3, "nothing was sent again");
    assert_eq!(scene.sandbox.payments().iter().map(|payment| payment.times_charged).sum::<u32>(), 3);
    assert!(server.stop().0.success());
}
