//! The shop at `kassa-server`.

use std::{sync::Arc, time::Duration};

use kassa::{Credentials, Dialect, Gateway, GatewayConfig};
use kassa_axum_shop::{orders::deliver_paid, shop::Shop};
use kassa_client::{Client, testing::EventToSign};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_server::{
    HttpSettings, HttpWebhookSender, KeyRole, Listener, ListenerSettings, Permission, Server, ServerSettings,
    SqliteStorage, TokioRuntime, make_api_key, router,
};
use kassa_test_patience::wait_until_async;
use tokio::runtime::Handle;

use crate::{browser, listener, location, orders, pay_by_form, serve};

const DIALECT: &str = include_str!("../../../sandbox-dialect.json");

// docs: begin event
const SECRET: &str = "whsec_c2VjcmV0IG9mIHRoZSBzaG9wJ3MgdGVzdHM=";

#[tokio::test(flavor = "multi_thread")]
async fn paid_order_waits_for_its_delivery() {
    let folder = tempfile::tempdir().unwrap();
    let orders = orders(&folder);
    let shop = Shop {
        kassa: Client::new("http://127.0.0.1:9", "ak_test").unwrap(),
        events_secret: SECRET.to_owned(),
        url: "https://shop.example.kg".to_owned(),
        orders: orders.clone(),
    };
    let (listener, url) = listener().await;
    serve(listener, shop.router());
    let send = async |kind: &str, reference: &str, secret: &str| {
        let event = EventToSign::new(kind).reference(reference).sign(secret).unwrap();
        let mut request = browser().post(format!("{url}/events")).body(event.body);
        for (name, value) in event.headers {
            request = request.header(name, value);
        }
        request.send().await.unwrap().status().as_u16()
    };

    orders.add("order-17").unwrap();
    assert_eq!(send("checkout.paid", "order-17", "whsec_Zm9yZ2VkIGJ5IHNvbWVib2R5IGVsc2UuLi4=").await, 401);
    assert_eq!(send("checkout.expired", "order-17", SECRET).await, 204);
    assert_eq!(orders.list_in("paid").unwrap().len(), 0);
    assert_eq!(send("checkout.paid", "order-18", SECRET).await, 404, "it comes again");
    for _ in 0..2 {
        assert_eq!(send("checkout.paid", "order-17", SECRET).await, 204, "an event can come twice");
    }
    assert_eq!(orders.list_in("paid").unwrap(), ["order-17"]);
}
// docs: end event

#[tokio::test(flavor = "multi_thread")]
async fn payer_buys_and_the_order_is_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let (at_shop, shop_url) = listener().await;
    let sandbox = Sandbox::start(SandboxOptions::default()).unwrap();
    let gateway = GatewayConfig::new(sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password()))
        .with_dialect(Dialect::from_json(DIALECT).unwrap());
    let at_server = Listener::bind(ListenerSettings::new(([127, 0, 0, 1], 0).into())).await.unwrap();
    let url = format!("http://{}", at_server.address());
    let mut settings = ServerSettings::new(format!("{url}/callbacks"));
    settings.dialect = gateway.dialect().clone();
    settings.signing_secrets = vec![SECRET.parse().unwrap()];
    let storage = Arc::new(SqliteStorage::open(&folder.path().join("kassa.db")).unwrap());
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    let key = make_api_key(&*storage, &*runtime, KeyRole::Shop, Permission::Decide, "shop").await.unwrap();
    let events = HttpWebhookSender::to(&format!("{shop_url}/events")).unwrap();
    let gateway = Arc::new(Gateway::new(gateway).unwrap());
    let server = Server::new(storage, gateway, runtime, settings, Some(Arc::new(events))).unwrap();
    server.run();
    let mut settings = HttpSettings::new(url.clone());
    settings.has_pay_page = true;
    let routes = router(server.clone(), settings);
    tokio::spawn(at_server.serve(routes, std::future::pending(), Duration::ZERO));

    let (orders, kassa) = (orders(&folder), Client::new(&url, &key.expose()).unwrap());
    let shop = Shop { kassa: kassa.clone(), events_secret: SECRET.to_owned(), url: shop_url, orders: orders.clone() };
    let buy = format!("{}/buy", shop.url);
    serve(at_shop, shop.router());
    let worker = tokio::spawn(deliver_paid(orders.clone()));

    let browser = browser();
    let page = location(&browser.post(buy).send().await.unwrap());
    let reference = orders.list_in("new").unwrap().remove(0);
    let checkout = kassa.find_checkout(&reference).await.unwrap().unwrap();
    assert_eq!(checkout.page_url.as_deref(), Some(page.as_str()));
    let back = browser.get(&checkout.return_url).send().await.unwrap().text().await.unwrap();
    assert!(back.contains("Your order is new"), "{back}");

    // The payer chooses the pay-form on the server's page, and pays there.
    let payment = server.pay_by_form(&checkout.id.parse().unwrap(), None).await.unwrap();
    pay_by_form(&browser, payment.page_url.as_deref().unwrap()).await;
    kassa.check(&checkout.id).await.unwrap();
    wait_until_async("the order is delivered", async || {
        orders.state(&reference).unwrap().as_deref() == Some("delivered")
    })
    .await;
    worker.abort();
    server.stop().await;
}
