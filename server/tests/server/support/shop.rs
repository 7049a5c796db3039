//! The shop that takes events, or fails to.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use kassa_server::{Boxed, DeliveryError, WebhookMessage, WebhookSender};
use rusqlite::Connection;
use serde_json::Value;

use super::{Turn, crash::Life, lock, one};

/// What the shop has seen, and how it behaves.
#[derive(Default)]
pub struct Shop {
    /// The text of each event, by its identifier.
    pub seen: HashMap<String, String>,
    /// The versions of each checkout, as they came first.
    pub first: HashMap<String, Vec<i64>>,
    pub broken: Vec<String>,
    /// The kind that it does not know, and refuses.
    pub refuses: Option<&'static str>,
    /// How often it refused each version of a checkout.
    pub refused: HashMap<(String, i64), u32>,
    /// Of a hundred deliveries: those that fail, whether they were taken or not.
    pub percent: u32,
    pub random: fastrand::Rng,
}

pub struct Postman {
    pub shop: Arc<Mutex<Shop>>,
    pub life: Life,
}

impl WebhookSender for Postman {
    fn post(&self, notice: WebhookMessage) -> Boxed<'_, Result<(), DeliveryError>> {
        Box::pin(async move {
            Turn::default().await;
            let dies = self.life.point().await;
            let result = lock(&self.shop).take(&notice);
            if dies {
                self.life.die().await;
            }
            Turn::default().await;
            result
        })
    }
}

impl Shop {
    /// The database was put back: what it tells next follows what it has, whatever the shop saw of the history that is gone.
    pub fn forget_what_is_lost(&mut self, db: &Connection) {
        for (checkout, versions) in &mut self.first {
            let known: Option<i64> = one(db, "SELECT version FROM checkouts WHERE id = ?1", [checkout]);
            versions.retain(|version| known.is_some_and(|known| *version <= known));
            let is_lost = |of: &str, version: i64| of == checkout && known.is_none_or(|known| version > known);
            self.refused.retain(|(of, version), _| !is_lost(of, *version));
        }
    }

    /// So often that the server may have stepped over it.
    fn has_refused(&self, checkout: &str, version: i64) -> bool {
        self.refused.get(&(checkout.to_owned(), version)).is_some_and(|times| *times >= 5)
    }

    fn take(&mut self, notice: &WebhookMessage) -> Result<(), DeliveryError> {
        let percent = self.percent;
        let fails = self.random.u32(0..100) < percent;
        if fails && self.random.bool() {
            return Err(DeliveryError::failed("no answer"));
        }
        let body: Value = serde_json::from_str(&notice.body).unwrap();
        if body["id"] != notice.id.as_str() {
            self.broken.push(format!("invariant 7: {} came as {}", body["id"], notice.id));
        }
        let checkout = body["data"]["checkout"].as_str().unwrap().to_owned();
        let version = body["data"]["version"].as_i64().unwrap();
        if self.refuses.is_some_and(|kind| body["type"] == kind) {
            *self.refused.entry((checkout, version)).or_default() += 1;
            return Err(DeliveryError::refused("it answered 400"));
        }
        match self.seen.get(&notice.id) {
            Some(before) if *before != notice.body => {
                self.broken.push(format!("invariant 7: {} came with another text", notice.id));
            }
            Some(_) => {}
            None => {
                self.seen.insert(notice.id.clone(), notice.body.clone());
                let mut first = self.first.remove(&checkout).unwrap_or_default();
                first.push(version);
                // What was refused again and again comes later, or never.
                if !(1..version).all(|before| first.contains(&before) || self.has_refused(&checkout, before)) {
                    self.broken.push(format!("invariant 7: the events of {checkout} came as {first:?}"));
                }
                self.first.insert(checkout, first);
            }
        }
        if fails { Err(DeliveryError::failed("the answer was lost")) } else { Ok(()) }
    }
}
