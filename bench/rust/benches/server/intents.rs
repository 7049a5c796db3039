//! Intents by many callers at once: the database commits them in groups. And what a payment takes on the disk.

use std::{fs, path::Path, time::Instant};

use futures_util::{StreamExt as _, stream};
use kassa::PaymentRef;
use kassa_bench::Figures;
use kassa_server::{
    Asked, CheckoutId, Exchange, Hidden, Method, PaymentId, SqliteStorage, Storage,
    storage::{
        inputs::{BeginPayment, Key, OpenCheckout, SendResult, Sent},
        outputs::{Begun, Opened},
    },
};

use crate::{order, runtime};

const MANY: u128 = 50_000;
const CALLERS: usize = 256;
const BAR: f64 = 5_000.0;

pub fn measure(folder: &Path) {
    let path = folder.join("kassa.db");
    let storage = SqliteStorage::open(&path).expect("a new database");
    let empty = size(&path);
    let (opened, begun, settled) = runtime().block_on(async {
        let opened = a_second(|number| open(&storage, number)).await;
        let begun = a_second(|number| begin(&storage, number)).await;
        (opened, begun, a_second(|number| settle(&storage, number)).await)
    });
    drop(storage);
    let a_second = |figure: f64| format!("{figure:.0} a second");
    let mut figures = Figures::new(format!("{CALLERS} callers at once, the database alone"));
    figures.add("checkouts opened", a_second(opened));
    figures.add_with_floor("intents", begun, BAR, a_second);
    figures.add("answers written down", a_second(settled));
    let each = (size(&path) - empty) / u64::try_from(MANY).expect("not so many");
    figures.add("on the disk, for an open payment with its checkout and events", format!("{each} bytes"));
    figures.print();
}

async fn a_second<F: Future<Output = ()>>(work: impl Fn(u128) -> F) -> f64 {
    let started = Instant::now();
    stream::iter(0..MANY).map(work).buffer_unordered(CALLERS).collect::<()>().await;
    MANY as f64 / started.elapsed().as_secs_f64()
}

async fn open(storage: &SqliteStorage, number: u128) {
    let new = OpenCheckout {
        id: checkout(number),
        wanted: order(format!("order-{number}")),
        callback_secret: Hidden::new(checkout(number).bare()),
        page_secret: Hidden::new(checkout(number).bare()),
    };
    assert!(matches!(storage.open_checkout(new).await, Ok(Opened::New(_))));
}

async fn begin(storage: &SqliteStorage, number: u128) {
    let begin = BeginPayment {
        checkout: checkout(number),
        id: payment(number),
        method: Method::Mbank,
        reference: reference(number),
        key: Some(Key { text: "first".into(), fingerprint: vec![7; 32] }),
        sender: sender(number),
        is_sent_at_once: true,
        send_for_ms: 80_000,
        wait_for_ms: 30_000,
        attempts: 3,
        card_last4: None,
        card_attempts: 5,
    };
    assert!(matches!(storage.begin_payment(begin).await, Ok(Begun::New(_))));
}

async fn settle(storage: &SqliteStorage, number: u128) {
    let result = SendResult::Accepted { reference: reference(number), page_url: None, qr_text: None };
    let mut exchange = Exchange::new(Asked::Create, "accepted");
    exchange.reply = Some(format!(r#"{{"code":"110","message":"{}"}}"#, "x".repeat(150)));
    let (checkout, payment, sender) = (checkout(number), payment(number), sender(number));
    let sent = Sent { checkout, payment, sender, result, exchange: Some(exchange) };
    assert!(storage.settle_sending(sent).await.is_ok_and(|settled| settled.is_changed));
}

/// Spread as random ones are.
fn bits(number: u128) -> [u8; 16] {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_be_bytes()
}

fn checkout(number: u128) -> CheckoutId {
    CheckoutId::from_random(bits(number))
}

fn payment(number: u128) -> PaymentId {
    PaymentId::from_random(bits(number))
}

fn sender(number: u128) -> String {
    format!("{number:032x}")
}

fn reference(number: u128) -> PaymentRef {
    PaymentRef::mbank(payment(number).bare(), 390)
}

/// All of a database's files.
fn size(path: &Path) -> u64 {
    let folder = path.parent().expect("a folder");
    fs::read_dir(folder).expect("a folder").flatten().filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}
