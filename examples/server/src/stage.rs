//! What all scenes are played on: the gateway's side and the shop, which live, and the server, which is killed and started.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use kassa_client::{Client, NewCheckout};
use kassa_sandbox::{Payment, PaymentKind, Sandbox};
use serde_json::Value;

use crate::{
    Failure,
    api::App,
    gateway_side,
    server_process::{Plan, ServerProcess},
    shop::{self, ReceivedEvents, Receiver},
};

/// Only a server that hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(120);
const BREATH: Duration = Duration::from_millis(20);

/// The stage.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    shop: Client,
    pub(crate) received: ReceivedEvents,
    plan: Plan,
    server: Option<ServerProcess>,
    kills: u32,
    began: Instant,
}

/// A checkout, and its payer's app.
pub(crate) struct Checkout {
    pub(crate) id: String,
    pub(crate) app: App,
}

impl Stage {
    /// Starts all three.
    pub(crate) async fn open(folder: &Path) -> Result<Self, Failure> {
        let sandbox = gateway_side::start(0)?;
        let mut plan = Plan::new(&sandbox, gateway_side::free_port(0)?, folder)?;
        let secret = plan.new_secret().await?;
        let Receiver { url, received, .. } = shop::open(&secret).await?;
        plan.set("KASSA_SERVER_EVENTS_URL", url);
        plan.set("KASSA_SERVER_EVENTS_SECRET", secret);
        // Who dies while sending is taken for dead sooner than a merchant would want it.
        plan.set("KASSA_SERVER_GATEWAY_PAYMENT_DEADLINE", "5s");
        plan.set("KASSA_SERVER_LOG", "error");
        let server = plan.start().await?;
        let shop = Client::new(&plan.url(), &plan.new_key("shop", "the shop").await?)?;
        Ok(Self { sandbox, shop, received, plan, server: Some(server), kills: 0, began: Instant::now() })
    }

    /// Tells what somebody does.
    pub(crate) fn say(&self, who: &str, what: &str) {
        println!("{:6.1} s  {who:<8} {what}", self.began.elapsed().as_secs_f64());
    }

    /// How often the server was killed.
    pub(crate) fn kills(&self) -> u32 {
        self.kills
    }

    /// The shop opens a checkout.
    pub(crate) async fn checkout(&self, reference: &str, lifetime_s: u64) -> Result<Checkout, Failure> {
        let order = NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid");
        let id = self.shop.open_checkout(&order.lifetime(Duration::from_secs(lifetime_s))).await?.id;
        let app = App::new(self.plan.url(), self.shop.new_token(&id).await?.token)?;
        Ok(Checkout { id, app })
    }

    /// `kill -9` of the server.
    pub(crate) async fn kill(&mut self, while_what: &str) -> Result<(), Failure> {
        if let Some(server) = self.server.take() {
            server.kill().await?;
            self.kills += 1;
        }
        self.say("KILL -9", while_what);
        Ok(())
    }

    /// Starts it again, on the same file.
    pub(crate) async fn start_again(&mut self) -> Result<(), Failure> {
        self.server = Some(self.plan.start().await?);
        self.say("server", "is started again");
        Ok(())
    }

    /// The last payment of a kind that the gateway has.
    pub(crate) fn at_the_gateway(&self, kind: PaymentKind) -> Option<Payment> {
        self.sandbox.payments().into_iter().rfind(|payment| payment.kind == kind)
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), Failure> {
        let began = Instant::now();
        while !is_so(self) {
            if began.elapsed() > PATIENCE {
                return Err(format!("it did not come about: {what}").into());
            }
            tokio::time::sleep(BREATH).await;
        }
        Ok(())
    }

    /// Waits until the server says of a checkout what is waited for (long poll).
    pub(crate) async fn seen(&self, checkout: &Checkout, what: impl Fn(&Value) -> bool) -> Result<Value, Failure> {
        let began = Instant::now();
        let mut seen = checkout.app.get("/v1/checkout").await?.body;
        while !what(&seen) {
            if began.elapsed() > PATIENCE {
                return Err(format!("it did not come about: {seen}").into());
            }
            seen = checkout.app.get(&format!("/v1/checkout?after={}&wait=25", seen["version"])).await?.body;
        }
        Ok(seen)
    }
}
