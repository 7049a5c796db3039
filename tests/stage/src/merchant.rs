//! The merchant's side: the server as a library, on a file, stopped and started again as a scene says.

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use kassa::{Credentials, Dialect, Gateway, GatewayConfig, MbankPayment};
use kassa_sandbox::Sandbox;
use kassa_server::{
    CheckoutId, HttpSettings, Listener, ListenerSettings, Method, NewCheckout, Payment, Resolution, Server,
    ServerSettings, SqliteStorage, TokioRuntime, router,
};
use serde_json::Value;
use tokio::{runtime::Handle, sync::watch, task::JoinHandle};

use crate::Failure;

/// What the sandbox's responses are called.
const DIALECT: &str = include_str!("../../../examples/sandbox-dialect.json");

/// A payer whose MBank payments the sandbox approves.
const SOMEBODY: &str = "996555000101";

/// How long requests under way may go on when the server is stopped.
const PATIENCE: Duration = Duration::from_millis(100);

/// The merchant's requisite for MegaPay; payments to it end as the test phone says.
const MEGAPAY_ACCOUNT: &str = "7";

/// What a scene sets of the server.
#[derive(Clone, Debug)]
struct Plan {
    folder: PathBuf,
    takes_cards: bool,
    takes_megapay: bool,
    token_lifetime: Duration,
    card_attempts: u32,
}

pub(crate) struct Merchant {
    plan: Plan,
    gateway: GatewayConfig,
    /// How far the database's clock is ahead.
    ahead_ms: Arc<AtomicI64>,
    address: SocketAddr,
    running: Option<Running>,
}

struct Running {
    server: Server,
    stop: watch::Sender<bool>,
    answering: JoinHandle<()>,
}

impl Merchant {
    pub(crate) async fn open(scene: &Value, sandbox: &Sandbox, folder: PathBuf) -> Result<Self, Failure> {
        let plan = Plan {
            folder,
            takes_cards: scene["cards"].as_bool().unwrap_or_default(),
            takes_megapay: scene["megapay"].as_bool().unwrap_or_default(),
            token_lifetime: Duration::from_secs(scene["token_lifetime_s"].as_u64().unwrap_or(15 * 60)),
            card_attempts: u32::try_from(scene["card_attempts"].as_u64().unwrap_or(5))?,
        };
        let gateway = GatewayConfig::new(sandbox.url(), Credentials::basic(sandbox.login(), sandbox.password()))
            .with_dialect(Dialect::from_json(DIALECT)?);
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut merchant = Self { plan, gateway, ahead_ms: Arc::default(), address, running: None };
        merchant.start().await?;
        Ok(merchant)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) async fn start(&mut self) -> Result<(), Failure> {
        if self.running.is_some() {
            return Err("the server runs already".into());
        }
        let listener = Listener::bind(ListenerSettings::new(self.address)).await?;
        // The same one each time.
        self.address = listener.address();
        let url = format!("http://{}", self.address);
        let mut settings = ServerSettings::new(format!("{url}/callbacks"));
        settings.takes_cards = self.plan.takes_cards;
        settings.megapay_account = self.plan.takes_megapay.then(|| MEGAPAY_ACCOUNT.to_owned());
        settings.dialect = self.gateway.dialect().clone();
        settings.token_lifetime = self.plan.token_lifetime;
        settings.card_attempts = self.plan.card_attempts;
        let ahead = self.ahead_ms.clone();
        let clock: kassa_server::storage::sqlite::connection::DatabaseClock =
            Arc::new(move || now_ms() + ahead.load(Ordering::Relaxed));
        let storage = Arc::new(SqliteStorage::open_with_clock(&self.plan.folder.join("kassa.db"), &clock)?);
        let runtime = Arc::new(TokioRuntime::on(Handle::current()));
        let gateway = Arc::new(Gateway::new(self.gateway.clone())?);
        let server = Server::new(storage, gateway, runtime, settings, None)?;
        server.run();
        let (stop, stopped) = watch::channel(false);
        let router = router(server.clone(), HttpSettings::new(url));
        let until = async move {
            let mut stopped = stopped;
            drop(stopped.wait_for(|is_stopping| *is_stopping).await);
        };
        let answering = tokio::spawn(listener.serve(router, until, PATIENCE));
        self.running = Some(Running { server, stop, answering });
        Ok(())
    }

    pub(crate) async fn stop(&mut self) -> Result<(), Failure> {
        let running = self.running.take().ok_or("the server does not run")?;
        running.stop.send_replace(true);
        let ((), answered) = tokio::join!(running.server.stop(), running.answering);
        Ok(answered?)
    }

    pub(crate) fn server(&self) -> Result<&Server, Failure> {
        Ok(&self.running.as_ref().ok_or("the server does not run")?.server)
    }

    /// The calendar goes on, for what is due by it.
    pub(crate) fn pass(&self, time: Duration) -> Result<(), Failure> {
        self.ahead_ms.fetch_add(i64::try_from(time.as_millis())?, Ordering::Relaxed);
        Ok(())
    }

    /// Opens the checkout of a scene.
    pub(crate) async fn open_checkout(&self, wanted: &Value) -> Result<CheckoutId, Failure> {
        let amount = wanted["amount"].as_str().unwrap_or("390").parse()?;
        let mut checkout = NewCheckout::new("order-1", amount, "Two tickets", "shop://paid");
        if let Some(methods) = wanted["methods"].as_array() {
            let named = methods.iter().map(|method| method.as_str().unwrap_or_default().parse::<Method>());
            checkout =
                checkout.with_methods(named.collect::<Result<Vec<_>, _>>().map_err(|_| "there is no such method")?);
        }
        if let Some(lifetime) = wanted["lifetime_s"].as_u64() {
            checkout = checkout.with_lifetime(Duration::from_secs(lifetime));
        }
        Ok(self.server()?.open_checkout(checkout).await?.checkout.id)
    }

    /// Another program of the merchant's has a number twice: it makes a payment of its own under the order number of the
    /// checkout's newest one.
    pub(crate) async fn use_number_again(&self, checkout: &CheckoutId, amount: i64) -> Result<(), Failure> {
        let number = self.newest(checkout).await?.reference.order_number.ok_or("it has no order number")?;
        let another = MbankPayment::new(number, amount, SOMEBODY, "Another order");
        Gateway::new(self.gateway.clone())?.create_mbank_payment(another).await?;
        Ok(())
    }

    /// A person of the merchant's decides what became of the checkout's newest payment.
    pub(crate) async fn resolve(&self, checkout: &CheckoutId, resolution: Resolution) -> Result<(), Failure> {
        let newest = self.newest(checkout).await?;
        self.server()?.resolve(&newest.id, resolution, "the bank's statement says so", "a person").await?;
        Ok(())
    }

    async fn newest(&self, checkout: &CheckoutId) -> Result<Payment, Failure> {
        let payments = self.server()?.checkout(checkout).await?.payments;
        Ok(payments.into_iter().next_back().ok_or("the checkout has no payment")?)
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
