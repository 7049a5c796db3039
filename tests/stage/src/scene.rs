//! One scene: a checkout that is to be paid, with everybody around its payer's app.

use std::time::{Duration, Instant};

use kassa_sandbox::Sandbox;
use kassa_server::{CheckoutId, Resolution};
use kassa_test_patience::patience;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    Failure, gateway_side,
    merchant::Merchant,
    network::{Network, Weather},
};

/// The pause between two looks at what is waited for.
const BREATH: Duration = Duration::from_millis(10);

/// A scene of a vector.
pub struct Scene {
    network: Network,
    merchant: Merchant,
    sandbox: Sandbox,
    checkout: CheckoutId,
    _folder: TempDir,
}

impl Scene {
    /// Sets it up, as the `scene` of a vector says. It needs a runtime of tokio's around it.
    ///
    /// # Errors
    /// What could not be started.
    pub async fn open(scene: &Value) -> Result<Self, Failure> {
        let sandbox = gateway_side::start()?;
        let folder = tempfile::tempdir()?;
        let merchant = Merchant::open(scene, &sandbox, folder.path().to_owned()).await?;
        let network = Network::to(merchant.address()).await?;
        let checkout = merchant.open_checkout(&scene["checkout"]).await?;
        Ok(Self { network, merchant, sandbox, checkout, _folder: folder })
    }

    /// The server's address, as the app knows it.
    pub fn server_url(&self) -> String {
        self.network.url()
    }

    /// A new client token for the app.
    ///
    /// # Errors
    /// The server does not run.
    pub async fn new_token(&self) -> Result<String, Failure> {
        Ok(self.merchant.server()?.new_token(&self.checkout).await?.expose().to_owned())
    }

    /// What somebody around the app does, and what comes of it.
    ///
    /// # Errors
    /// There is no such step, or it cannot be done.
    pub async fn step(&mut self, name: &str, input: &Value) -> Result<Value, Failure> {
        if let Some(done) = gateway_side::step(&self.sandbox, name, input) {
            return done;
        }
        match name {
            "network" => {
                let named = input["is"].as_str().and_then(Weather::by_name);
                self.network.set(named.ok_or("there is no such network")?);
            }
            "stop_server" => self.merchant.stop().await?,
            "start_server" => self.merchant.start().await?,
            "time_passes" => {
                self.merchant.pass(Duration::from_secs(input["seconds"].as_u64().ok_or("how many seconds?")?))?;
            }
            "time_passes_and_it_is_asked" => self.pass_until_asked(input).await?,
            "cancel_checkout" => drop(self.merchant.server()?.cancel(&self.checkout).await?),
            "revoke_tokens" => drop(self.merchant.server()?.revoke_tokens(&self.checkout).await?),
            "new_token" => return Ok(json!(self.new_token().await?)),
            "use_number_again" => {
                let amount = input["amount"].as_i64().ok_or("how many som?")?;
                self.merchant.use_number_again(&self.checkout, amount).await?;
            }
            "resolve" => {
                let charged = input["charged"].as_bool().ok_or("was it charged?")?;
                let resolution = if charged { Resolution::Charged } else { Resolution::NotCharged };
                self.merchant.resolve(&self.checkout, resolution).await?;
            }
            "payment_exists" => self.payment_exists(input).await?,
            _ => return Err(format!("there is no step {name}").into()),
        }
        Ok(Value::Null)
    }

    /// Lets everybody go.
    pub async fn close(mut self) {
        // It may have been stopped by the scene.
        let _ = self.merchant.stop().await;
    }

    /// So much time passes that a question to the gateway is due, and it is waited for.
    async fn pass_until_asked(&self, input: &Value) -> Result<(), Failure> {
        let (began, before) = (Instant::now(), self.sandbox.requests().len());
        self.merchant.pass(Duration::from_secs(input["seconds"].as_u64().ok_or("how many seconds?")?))?;
        while self.sandbox.requests().len() == before {
            if began.elapsed() > patience() {
                return Err("the gateway was not asked".into());
            }
            tokio::time::sleep(BREATH).await;
        }
        Ok(())
    }

    /// Waits until the server has so many payments in a state, or in the one that comes after it by itself.
    async fn payment_exists(&self, input: &Value) -> Result<(), Failure> {
        let began = Instant::now();
        let wanted = input["state"].as_str().ok_or("in which state?")?;
        let count = usize::try_from(input["count"].as_u64().unwrap_or(1))?;
        loop {
            let view = self.merchant.server()?.checkout(&self.checkout).await?;
            let states = view.payments.iter().map(|payment| payment.state.to_string());
            let found = states.filter(|state| state == wanted || Some(state.as_str()) == input["or"].as_str());
            if found.count() >= count {
                return Ok(());
            }
            if began.elapsed() > patience() {
                return Err(format!("{count} payments did not become {wanted}: {:?}", view.payments).into());
            }
            tokio::time::sleep(BREATH).await;
        }
    }
}
