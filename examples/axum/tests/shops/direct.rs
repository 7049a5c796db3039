//! The shop by the SDK alone.

use std::time::Duration;

use kassa::{
    CallbackKey, Credentials, DeliveryPolicy, Dialect, FakeGateway, Gateway, GatewayConfig, Journal, StopSignal,
};
use kassa_axum_shop::direct::DirectShop;
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_test_patience::wait_until_async;
use tempfile::TempDir;

use crate::{browser, listener, location, orders, pay_by_form, serve};

const DIALECT: &str = include_str!("../../../sandbox-dialect.json");

fn shop(folder: &TempDir, gateway: &Gateway, url: &str) -> DirectShop {
    DirectShop {
        gateway: gateway.with_journal(Journal::open(folder.path().join("payments")).unwrap()),
        key: CallbackKey::new("a secret of 32 bytes or more, ok").unwrap(),
        url: url.to_owned(),
        orders: orders(folder),
    }
}

// docs: begin fake
#[tokio::test(flavor = "multi_thread")]
async fn charged_form_is_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, url) = listener().await;
    let fake = FakeGateway::new().unwrap();
    let shop = shop(&folder, &fake.gateway(), &url);
    serve(listener, shop.clone().router());

    let page = location(&browser().post(format!("{url}/buy")).send().await.unwrap());
    let notice = fake.charge(&page).unwrap(); // the payer pays
    let called = fake.payments()[0].callback_url.clone().unwrap();
    let call = async |url: &str| {
        let answered = browser().post(url).body(notice.callback.clone()).send().await.unwrap();
        answered.status().as_u16()
    };
    assert_eq!(call(&format!("{url}/callbacks")).await, 400, "it is not signed");
    assert_eq!(call(&called).await, 204);
    assert_eq!(shop.orders.list_in("delivered").unwrap().len(), 0, "a callback delivers nothing");

    let stop = StopSignal::new();
    let worker = shop.deliver(DeliveryPolicy::default(), stop.stopped());
    let delivered =
        wait_until_async("the order is delivered", async || shop.orders.list_in("delivered").unwrap().len() == 1);
    let (summary, ()) = tokio::join!(worker, async {
        delivered.await;
        stop.stop();
    });
    assert_eq!(summary.unwrap().to_string(), "1 delivered; left open: nothing");
}
// docs: end fake

/// The sandbox calls back, and the worker delivers.
#[tokio::test(flavor = "multi_thread")]
async fn payer_pays_at_the_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, url) = listener().await;
    let sandbox = Sandbox::start(SandboxOptions::default()).unwrap();
    let config = GatewayConfig::new(sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password()))
        .with_dialect(Dialect::from_json(DIALECT).unwrap());
    let shop = shop(&folder, &Gateway::new(config).unwrap(), &url);
    serve(listener, shop.clone().router());
    let page = location(&browser().post(format!("{url}/buy")).send().await.unwrap());
    let stop = StopSignal::new();
    let policy = DeliveryPolicy::default().with_interval(Duration::from_millis(200));
    let (summary, ()) = tokio::join!(shop.deliver(policy, stop.stopped()), async {
        pay_by_form(&browser(), &page).await;
        wait_until_async("the order is delivered", async || shop.orders.list_in("delivered").unwrap().len() == 1).await;
        stop.stop();
    });
    assert_eq!(summary.unwrap().delivered, 1);
    shop.gateway.close().await;
}
