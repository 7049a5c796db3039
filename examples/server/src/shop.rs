//! The shop's receiver of events: it verifies each one by the scheme's own library, and takes none twice.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::net::TcpListener;

use crate::Failure;

/// What the shop was told: by checkout, the kinds of events in their order.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    seen: Vec<String>,
    by_checkout: BTreeMap<String, Vec<String>>,
}

impl Told {
    /// The kinds of events about a checkout, the first one first.
    pub(crate) fn about(&self, checkout: &str) -> Vec<String> {
        self.locked().by_checkout.get(checkout).cloned().unwrap_or_default()
    }

    /// Whether it was told this about a checkout.
    pub(crate) fn heard(&self, checkout: &str, kind: &str) -> bool {
        self.about(checkout).iter().any(|known| known == kind)
    }

    fn note(&self, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut book = self.locked();
        // At-least-once delivery: the identifier never changes, so that a second arrival is known.
        let id = text(&event["id"]);
        if !book.seen.contains(&id) {
            book.seen.push(id);
            book.by_checkout.entry(text(&event["data"]["checkout"])).or_default().push(text(&event["type"]));
        }
    }

    fn locked(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the shop's port; where it takes events, and what it is told.
pub(crate) async fn open(secret: &str) -> Result<(String, Told), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/events", listener.local_addr()?);
    let (told, webhook) = (Told::default(), Arc::new(Webhook::new(secret)?));
    let router = Router::new().route("/events", post(take)).with_state((told.clone(), webhook));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((url, told))
}

async fn take(State((told, webhook)): State<(Told, Arc<Webhook>)>, headers: HeaderMap, body: String) -> StatusCode {
    if webhook.verify(body.as_bytes(), &headers).is_err() {
        return StatusCode::UNAUTHORIZED;
    }
    match serde_json::from_str(&body) {
        Ok(event) => told.note(&event),
        Err(_) => return StatusCode::BAD_REQUEST,
    }
    StatusCode::NO_CONTENT
}
