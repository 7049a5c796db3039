//! What a payer's app sends to the server. The shop's back end has `kassa_client`.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Method, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde_json::{Value, json};

use crate::Failure;

/// How long a long poll may wait, and a little more.
const PATIENCE: Duration = Duration::from_secs(40);

/// An app, with a token.
#[derive(Clone)]
pub(crate) struct App {
    client: Client,
    url: String,
    token: String,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl App {
    pub(crate) fn new(url: String, token: String) -> Result<Self, Failure> {
        // It trusts nobody, as it speaks plain http to this machine only.
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .timeout(PATIENCE)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()?;
        Ok(Self { client, url, token })
    }

    /// Begins a payment. Safe to send again with the same key.
    pub(crate) async fn pay(&self, key: &str, body: &Value) -> Result<Answer, Failure> {
        self.send(Method::POST, "/v1/checkout/payments", Some(key), body).await
    }

    /// Sends the payer's one-time password.
    pub(crate) async fn confirm(&self, payment: &str, key: &str, otp: &str) -> Result<Answer, Failure> {
        let path = format!("/v1/checkout/payments/{payment}/confirm");
        self.send(Method::POST, &path, Some(key), &json!({ "otp": otp })).await
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Answer, Failure> {
        self.send(Method::GET, path, None, &Value::Null).await
    }

    async fn send(&self, method: Method, path: &str, key: Option<&str>, body: &Value) -> Result<Answer, Failure> {
        let mut request = self.client.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if !body.is_null() {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let body = serde_json::from_str(&answer.text().await?)?;
        Ok(Answer { status, body })
    }
}

impl Answer {
    /// A member that is a text.
    pub(crate) fn text(&self, name: &str) -> Result<String, Failure> {
        let text = self.body[name].as_str().map(str::to_owned);
        text.ok_or_else(|| format!("HTTP {} without {name}: {}", self.status, self.body).into())
    }
}
