//! The client against a real server with a real sandbox behind it.

use std::{sync::Arc, time::Duration};

use kassa::{Credentials, Dialect, Gateway, GatewayConfig};
use kassa_client::{Client, Error, NewCheckout, Outcome};
use kassa_sandbox::{Sandbox, SandboxOptions};
use kassa_server::{
    HttpSettings, KeyRole, Listener, ListenerSettings, Permission, Server, ServerSettings, SqliteStorage, TokioRuntime,
    make_api_key, router,
};
use kassa_test_patience::patience;
use tempfile::TempDir;
use tokio::runtime::Handle;

const DIALECT: &str = include_str!("../../../../examples/sandbox-dialect.json");
/// A payer whose payments the sandbox approves.
const PHONE: &str = "996555000101";
const OTP: &str = "101101";

struct Merchant {
    client: Client,
    server: Server,
    url: String,
    _sandbox: Sandbox,
    _folder: TempDir,
}

async fn merchant() -> Merchant {
    let sandbox = Sandbox::start(SandboxOptions::default()).unwrap();
    let gateway = GatewayConfig::new(sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password()))
        .with_dialect(Dialect::from_json(DIALECT).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let listener = Listener::bind(ListenerSettings::new(([127, 0, 0, 1], 0).into())).await.unwrap();
    let url = format!("http://{}", listener.address());
    let mut settings = ServerSettings::new(format!("{url}/callbacks"));
    settings.dialect = gateway.dialect().clone();
    let storage = Arc::new(SqliteStorage::open(&folder.path().join("kassa.db")).unwrap());
    let runtime = Arc::new(TokioRuntime::on(Handle::current()));
    let key = make_api_key(&*storage, &*runtime, KeyRole::Shop, Permission::Decide, "shop").await.unwrap();
    let gateway = Arc::new(Gateway::new(gateway).unwrap());
    let server = Server::new(storage, gateway, runtime, settings, None).unwrap();
    server.run();
    let router = router(server.clone(), HttpSettings::new(url.clone()));
    tokio::spawn(listener.serve(router, std::future::pending(), Duration::ZERO));
    let client = Client::builder(&url, &key.expose()).timeout(patience()).build().unwrap();
    Merchant { client, server, url, _sandbox: sandbox, _folder: folder }
}

fn order(reference: &str, amount: i64) -> NewCheckout {
    NewCheckout::new(reference, amount.into(), "Two tickets", "https://shop.example.kg/paid")
}

#[tokio::test(flavor = "multi_thread")]
async fn shop_sells_over_the_client() {
    let Merchant { client, server, .. } = &merchant().await;
    let opened = client.open_checkout(&order("order-1", 390)).await.unwrap();
    assert_eq!((opened.state.as_str(), opened.version, opened.amount), ("open", 0, 390.into()));
    // The same reference opens no second checkout, and cannot be used for another content.
    assert_eq!(client.open_checkout(&order("order-1", 390)).await.unwrap().id, opened.id);
    let conflict = client.open_checkout(&order("order-1", 391)).await.unwrap_err();
    assert_eq!(conflict.problem().map(|problem| problem.kind.as_str()), Some("reference_used"), "{conflict}");
    assert_eq!(client.find_checkout("order-1").await.unwrap().unwrap().id, opened.id);
    assert_eq!(client.find_checkout("order-2").await, Ok(None));
    let token = client.new_token(&opened.id).await.unwrap();
    assert!(token.token.starts_with("ct_") && !token.lifetime.is_zero());
    assert_eq!(client.revoke_tokens(&opened.id).await, Ok(1));
    assert!(matches!(client.cancel("co_00000000000000000000000000000000").await, Err(Error::NotFound(_))));

    let id = opened.id.parse().unwrap();
    let payment = server.pay_by_mbank(&id, PHONE, Some("try-1")).await.unwrap();
    server.confirm(&id, &payment.id, OTP, Some("otp-1")).await.unwrap();
    client.check(&opened.id).await.unwrap();
    let mut seen = client.checkout(&opened.id).await.unwrap();
    while !seen.is_paid() {
        seen = client.wait_for_change(&seen.id, seen.version, Duration::from_secs(25)).await.unwrap();
    }
    assert_eq!(seen.paid_by.as_deref(), Some(payment.id.to_string().as_str()));
    assert_eq!(seen.payments[0].state, "charged");
    let decided = client.resolve_payment(&payment.id.to_string(), Outcome::NotCharged, "seen", "Aida").await;
    assert!(matches!(decided, Err(Error::Conflict(_))), "{decided:?}");

    let mut events = client.events("0").limit(1);
    let (mut kinds, mut last) = (Vec::new(), "0".to_owned());
    while let Some(next) = events.next().await.unwrap() {
        assert_eq!((next.event.reference.as_str(), next.event.checkout.as_str()), ("order-1", opened.id.as_str()));
        kinds.push(next.event.kind);
        last = next.cursor;
    }
    assert!(kinds.iter().any(|kind| kind == "checkout.paid"), "{kinds:?}");
    assert_eq!(client.events(&last).next().await, Ok(None));
    assert_eq!(client.replay_events(Some(&opened.id)).await, Ok(0));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_fields_and_keys_are_refused() {
    let Merchant { client, server, url, .. } = &merchant().await;
    let wrong = NewCheckout::new("order-1", (-1).into(), "", "ftp://shop");
    let refused = client.open_checkout(&wrong).await.unwrap_err();
    assert!(matches!(&refused, Error::Refused(problem) if problem.status == 400), "{refused}");
    let fields: Vec<_> = refused.problem().unwrap().violations.iter().map(|each| each.field.as_str()).collect();
    for field in ["amount", "description"] {
        assert!(fields.contains(&field) && refused.to_string().contains(field), "{refused}");
    }
    let stranger = Client::new(url, "ak_00000000000000000000000000000000_wrong").unwrap();
    assert!(matches!(stranger.events("0").next().await, Err(Error::WrongKey(_))));
    server.stop().await;
}
