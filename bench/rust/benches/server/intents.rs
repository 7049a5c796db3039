//! Intents by many callers at once: the database commits them in groups. And what a payment takes on the disk.

use std::{ops::Range, sync::Arc};

use futures_util::{StreamExt as _, stream};
use kassa::PaymentRef;
use kassa_bench::Figures;
use kassa_server::{
    CheckoutId, Exchange, ExchangeKind, Hidden, Method, PaymentId, Storage,
    storage::inputs::{BeginPayment, Key, OpenCheckout, SendOutcome, SendResult, WalletTerms},
};

use crate::{
    order,
    parts::{self, mine, take_part},
    place::Place,
    runtime,
};

/// In each of three steps.
const MANY: usize = 12_000;
const CALLERS: usize = 256;
const BAR: f64 = 5_000.0;
const STEPS: [&str; 3] = ["checkouts opened", "intents", "answers written down"];

pub fn measure(place: &Place) {
    let mut figures = Figures::new(format!("{CALLERS} callers at once in each process, the database alone"));
    let write = |figure: f64| format!("{figure:.0} a second");
    // The first ones, which find nothing in the caches, are not measured.
    for step in 0..STEPS.len() {
        parts::a_second(place, "intents-apart", 1, step * MANY..(step + 1) * MANY);
    }
    let (empty, mut written) = (place.size(), STEPS.len() * MANY);
    let warm = written;
    for processes in place.processes() {
        for step in STEPS {
            let a_second = parts::a_second(place, "intents-apart", *processes, written..written + MANY);
            let what = format!("{step}, processes: {processes}");
            match step {
                // What groups the commits of all callers is SQLite's.
                "intents" if place.url.is_none() => figures.add_with_floor(what, a_second, BAR, write),
                _ => figures.add(what, write(a_second)),
            }
            written += MANY;
        }
    }
    let payments = (written - warm) / STEPS.len();
    let each = (place.size() - empty) / u64::try_from(payments).expect("not so many");
    figures.add("on the disk, for an open payment with its checkout and events", format!("{each} bytes"));
    figures.print();
}

/// The steps follow one another, each with all of the numbers.
pub fn apart(place: &Place) {
    let (runtime, mine) = (runtime(), mine());
    let storage = runtime.block_on(place.storage());
    let step = mine.start / MANY % STEPS.len();
    let first = mine.start - step * MANY;
    let numbers = first..first + mine.len();
    take_part(|| match STEPS[step] {
        "checkouts opened" => runtime.block_on(all(numbers, |number| open(&storage, number))),
        "intents" => runtime.block_on(all(numbers, |number| begin(&storage, number))),
        _ => runtime.block_on(all(numbers, |number| record(&storage, number))),
    });
}

async fn all<F: Future<Output = ()>>(numbers: Range<usize>, work: impl Fn(u128) -> F) {
    stream::iter(numbers).map(|number| work(number as u128)).buffer_unordered(CALLERS).collect::<()>().await;
}

async fn open(storage: &Arc<dyn Storage>, number: u128) {
    let new = OpenCheckout {
        id: checkout(number),
        wanted: order(format!("order-{number}")),
        methods: vec![Method::Mbank],
        callback_secret: Hidden::new(checkout(number).bare()),
        page_secret: Hidden::new(checkout(number).bare()),
    };
    assert!(matches!(storage.open_checkout(new).await, Ok(opened) if opened.checkout.version == 0));
}

async fn begin(storage: &Arc<dyn Storage>, number: u128) {
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
        phone_last2: None,
        payer_phone: None,
        instead_of: None,
    };
    assert!(matches!(storage.begin_payment(begin).await, Ok(begun) if begun.is_changed));
}

async fn record(storage: &Arc<dyn Storage>, number: u128) {
    let result = SendResult::Accepted {
        reference: reference(number),
        page_url: None,
        qr_text: None,
        terms: WalletTerms::default(),
    };
    let mut exchange = Exchange::new(ExchangeKind::Create, "accepted");
    exchange.response = Some(format!(r#"{{"code":"110","message":"{}"}}"#, "x".repeat(150)));
    let (checkout, payment, sender) = (checkout(number), payment(number), sender(number));
    let sent = SendOutcome { checkout, payment, sender, result, exchange: Some(exchange) };
    assert!(storage.record_send_outcome(sent).await.is_ok_and(|recorded| recorded.is_changed));
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
