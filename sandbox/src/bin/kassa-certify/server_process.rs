//! kassa-server as a process, and requests to it as the shop's back end and the payer's app send them.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use axum::http::Method;
use kassa_sandbox::Sandbox;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::Mutex,
};

use crate::{
    event, http,
    pay_method::{PATIENCE, PayMethod, plain, token_of},
    shop::until,
};

/// The dialect of the sandbox's answers that the interface does not define.
const DIALECT: &str = r#"{
  "endpoints": {
    "mbank_payment": { "gateway_number": ["/data/paymentId"] },
    "qr_data": { "qr_payload": ["/data/qr_data"], "transaction_id": ["/data/transaction_id"] }
  },
  "qr_amount_unit": "tyiyn",
  "qr_numbers": "transaction_id",
  "mbank_identifier": { "pointers": ["/data/paymentId"], "confirm_field": "paymentId" },
  "callback": { "transaction_id": ["/transaction_id", "/orderNumber"] }
}"#;

/// kassa-server as a process.
pub(crate) struct Server {
    program: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) url: String,
    pub(crate) key: String,
    variables: Vec<(&'static str, String)>,
    process: Mutex<Option<(Child, ChildStdin)>>,
}

impl Server {
    /// Prepares it with an API key, without starting it.
    pub(crate) async fn prepare(
        program: &Path,
        folder: &Path,
        sandbox: &Sandbox,
        gateway: &str,
        events: &str,
        secret: &str,
    ) -> Result<Self, String> {
        let dialect = folder.join("dialect.json");
        std::fs::write(&dialect, DIALECT).map_err(|error| error.to_string())?;
        let (listener, port) = http::listen(0).await.map_err(|error| error.to_string())?;
        drop(listener);
        let url = format!("http://127.0.0.1:{port}");
        let variables = vec![
            ("KASSA_SERVER_LISTEN", format!("127.0.0.1:{port}")),
            ("KASSA_SERVER_PUBLIC_URL", url.clone()),
            ("KASSA_SERVER_DATABASE", folder.join("kassa.db").display().to_string()),
            ("KASSA_SERVER_GATEWAY_URL", gateway.to_owned()),
            ("KASSA_SERVER_GATEWAY_LOGIN", sandbox.login().to_owned()),
            ("KASSA_SERVER_GATEWAY_PASSWORD", sandbox.password().to_owned()),
            ("KASSA_SERVER_GATEWAY_DIALECT", dialect.display().to_string()),
            ("KASSA_SERVER_EVENTS_URL", events.to_owned()),
            ("KASSA_SERVER_EVENTS_SECRET", secret.to_owned()),
            ("KASSA_SERVER_POLL_RATE", "1000".to_owned()),
            ("KASSA_SERVER_LIMITS_PER_TOKEN", "1000".to_owned()),
            ("KASSA_SERVER_LIMITS_PER_ADDRESS", "10000".to_owned()),
            ("KASSA_SERVER_LOG", "warn".to_owned()),
        ];
        let mut server = Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            url,
            key: String::new(),
            variables,
            process: Mutex::default(),
        };
        let made = server.command().args(["keys", "new", "--name", "shop"]).output().await;
        let made = made.map_err(|error| format!("server: {} cannot be run: {error}", program.display()))?;
        if !made.status.success() {
            return Err(format!("server: {} keys new: {}", program.display(), String::from_utf8_lossy(&made.stderr)));
        }
        server.key = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        Ok(server)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("KASSA_SERVER_") {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (*name, value))).current_dir(&self.folder);
        command
    }

    /// Starts it; it listens when this returns.
    pub(crate) async fn start(&self) -> Result<(), String> {
        let log = std::fs::File::options().create(true).append(true).open(self.folder.join("server.log"));
        let log = log.map_err(|error| error.to_string())?;
        let mut command = self.command();
        command.args(["serve", "--announce", "json", "--exit-with-stdin"]).kill_on_drop(true);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn();
        let mut child = spawned.map_err(|error| format!("server: {}: {error}", self.program.display()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err("server: it has no input or output".to_owned());
        };
        match BufReader::new(stdout).lines().next_line().await {
            Ok(Some(_)) => {
                *self.process.lock().await = Some((child, stdin));
                Ok(())
            }
            _ => Err(format!(
                "server: it did not start: {}",
                std::fs::read_to_string(self.folder.join("server.log")).unwrap_or_default()
            )),
        }
    }

    /// `kill -9`.
    pub(crate) async fn kill(&self) {
        if let Some((mut child, _stdin)) = self.process.lock().await.take() {
            let _killed = child.start_kill();
            let _ended = child.wait().await;
        }
    }

    /// Sends a request of the shop's back end.
    pub(crate) async fn call(
        &self,
        client: &Client,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<Value, String> {
        self.call_as(client, &self.key, method, path, None, body).await
    }

    async fn call_as(
        &self,
        client: &Client,
        credential: &str,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Result<Value, String> {
        let mut request = client.request(method, format!("{}{path}", self.url)).bearer_auth(credential);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = http::complete(request).await?;
        if answer.status >= 300 {
            return Err(format!("kassa-server: {path}: HTTP {} {}", answer.status, answer.text()));
        }
        Ok(answer.json())
    }

    /// Starts a payment as the payer's app does; its number in the sandbox.
    pub(crate) async fn pay(&self, client: &Client, checkout: &str, way: PayMethod) -> Result<String, String> {
        let token = self.call(client, Method::POST, &format!("/v1/checkouts/{checkout}/tokens"), &Value::Null).await?;
        let token = plain(&token["token"]);
        let mut body = json!({ "method": way.method() });
        if way == PayMethod::Mbank {
            body["phone"] = "996555000101".into();
        }
        let key = event::new_id();
        let pay = || async {
            let path = "/v1/checkout/payments";
            let made = self.call_as(client, &token, Method::POST, path, Some(&key), &body).await;
            match made {
                Err(error) => Some(Err(error)),
                Ok(payment) if way == PayMethod::Mbank && payment["state"] == "awaiting" => {
                    Some(self.mbank_number(client, checkout).await)
                }
                Ok(payment) => number_of(&payment, way).map(Ok),
            }
        };
        until(PATIENCE, pay)
            .await
            .unwrap_or_else(|| Err(format!("no {} payment of {checkout} was accepted", way.method())))
    }
}

impl Server {
    /// The number of the latest MBank payment, which the payer's app does not receive.
    async fn mbank_number(&self, client: &Client, checkout: &str) -> Result<String, String> {
        let seen = self.call(client, Method::GET, &format!("/v1/checkouts/{checkout}"), &Value::Null).await?;
        let mut payments = seen["payments"].as_array().into_iter().flatten();
        let latest = payments.rfind(|payment| payment["method"] == "mbank");
        let number = latest.map(|payment| plain(&payment["order_number"]));
        number.ok_or_else(|| format!("{checkout} has no mbank payment"))
    }
}

/// The sandbox's number of a payment, once the gateway accepted it.
fn number_of(payment: &Value, way: PayMethod) -> Option<String> {
    match way {
        PayMethod::PayForm => token_of(payment["page_url"].as_str()?),
        PayMethod::Qr => token_of(payment["qr_text"].as_str()?),
        PayMethod::Mbank => None,
    }
}
