//! Recorded answers with the sandbox over HTTP on the same machine: the gateway's work, and the way there and back, included.

use std::{env, path::PathBuf, time::Instant};

use futures_util::{StreamExt as _, stream};
use kassa::{Credentials, Gateway, GatewayConfig};
use kassa_bench::{Figures, Sandbox};
use kassa_server::Server;
use kassa_test_postgres::psql;
use rusqlite::Connection;
use tokio::time::{Duration, sleep};

use crate::{order, place::Place, runtime, server};

const MANY: usize = 20_000;
const CALLERS: usize = 64;
/// Recorded answers a second.
const BAR: f64 = 2_000.0;
/// How exactly the end is found.
const LOOK: Duration = Duration::from_millis(50);

pub fn measure(place: &Place) {
    let program = PathBuf::from(env::var_os("KASSA_BENCH_SANDBOX").expect("KASSA_BENCH_SANDBOX names no program"));
    let sandbox = Sandbox::start(&program, None);
    let config = GatewayConfig::new(&sandbox.url, Credentials::basic(&sandbox.login, &sandbox.password));
    let (begun, recorded) = runtime().block_on(async {
        let gateway = Gateway::new(config).expect("a gateway");
        let server = server(place.storage().await, gateway);
        let started = Instant::now();
        stream::iter(0..MANY).for_each_concurrent(CALLERS, |number| pay(&server, number)).await;
        let begun = MANY as f64 / started.elapsed().as_secs_f64();
        make_due(place);
        let started = Instant::now();
        server.run();
        while recorded(place) < MANY {
            sleep(LOOK).await;
        }
        let recorded = MANY as f64 / started.elapsed().as_secs_f64();
        server.stop().await;
        (begun, recorded)
    });
    let a_second = |figure: f64| format!("{figure:.0} a second");
    let mut figures = Figures::new("With the sandbox over HTTP on the same machine");
    figures.add(format!("checkouts opened, and payments created, by {CALLERS} callers"), a_second(begun));
    figures.add_with_floor("recording: queried, and the answer written down", recorded, BAR, a_second);
    figures.print();
}

async fn pay(server: &Server, number: usize) {
    let opened = server.open_checkout(order(format!("sandbox-{number}"))).await.expect("a checkout");
    let payment = server.pay_by_mbank(&opened.checkout.id, "996555000101", None).await.expect("a payment");
    assert!(payment.failure.is_none(), "{payment:?}");
}

fn make_due(place: &Place) {
    const ALL: &str = "UPDATE due SET at = 0";
    match &place.url {
        Some(url) => drop(psql(url, ALL)),
        None => drop(file(place).execute(ALL, []).expect("the database")),
    }
}

fn recorded(place: &Place) -> usize {
    const ANSWERS: &str = "SELECT COUNT(*) FROM exchanges WHERE kind = 'status'";
    match &place.url {
        Some(url) => psql(url, ANSWERS).parse().expect("a number"),
        None => file(place)
            .query_row(ANSWERS, [], |row| row.get::<_, i64>(0))
            .expect("the database")
            .try_into()
            .expect("a count"),
    }
}

fn file(place: &Place) -> Connection {
    Connection::open(place.file()).expect("the database")
}
