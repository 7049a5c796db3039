//! The shop that takes events, or fails to.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use kassa_server::{Boxed, Notice, Post};
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
    /// Of a hundred deliveries: those that fail, whether they were taken or not.
    pub percent: u32,
    pub random: fastrand::Rng,
}

pub struct Postman {
    pub shop: Arc<Mutex<Shop>>,
    pub life: Life,
}

impl Post for Postman {
    fn post(&self, notice: Notice) -> Boxed<'_, Result<(), String>> {
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
        }
    }

    fn take(&mut self, notice: &Notice) -> Result<(), String> {
        let percent = self.percent;
        let fails = self.random.u32(0..100) < percent;
        if fails && self.random.bool() {
            return Err("no answer".to_owned());
        }
        let body: Value = serde_json::from_str(&notice.body).unwrap();
        if body["id"] != notice.id.as_str() {
            self.broken.push(format!("invariant 7: {} came as {}", body["id"], notice.id));
        }
        match self.seen.get(&notice.id) {
            Some(before) if *before != notice.body => {
                self.broken.push(format!("invariant 7: {} came with another text", notice.id));
            }
            Some(_) => {}
            None => {
                self.seen.insert(notice.id.clone(), notice.body.clone());
                let checkout = body["data"]["checkout"].as_str().unwrap().to_owned();
                let version = body["data"]["version"].as_i64().unwrap();
                let first = self.first.entry(checkout.clone()).or_default();
                first.push(version);
                if *first != (1..=version).collect::<Vec<_>>() {
                    self.broken.push(format!("invariant 7: the events of {checkout} came as {first:?}"));
                }
            }
        }
        if fails { Err("the answer was lost".to_owned()) } else { Ok(()) }
    }
}
