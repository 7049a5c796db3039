//! What the server has written down, read past it.

use kassa::PaymentRef;
use kassa_sandbox::{Payment, PaymentKind};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error},
};
use serde_json::Value;

use crate::keeper::{Connection, Keeper};

/// A payment of the database's, as far as it is compared.
#[derive(Deserialize)]
pub struct Row {
    pub id: String,
    pub checkout: String,
    pub method: String,
    pub state: String,
    pub events: i64,
    pub page_url: Option<String>,
    pub qr_text: Option<String>,
    #[serde(deserialize_with = "reference")]
    pub reference: PaymentRef,
    #[serde(deserialize_with = "yes")]
    pub is_replaced: bool,
    pub callback_secret: String,
}

/// A checkout of the database's.
#[derive(Deserialize)]
pub struct Checkout {
    pub id: String,
    pub state: String,
    pub version: i64,
    #[serde(deserialize_with = "yes")]
    pub is_overpaid: bool,
    pub paid_by: Option<String>,
    #[serde(deserialize_with = "yes")]
    pub has_expired: bool,
}

/// An event of the database's.
#[derive(Deserialize)]
pub struct Event {
    pub id: String,
    pub checkout: String,
    pub payment: Option<String>,
    pub number: i64,
    pub kind: String,
    pub body: String,
}

/// What is written down, beside its servers.
pub struct Ledger(Connection);

impl Ledger {
    pub fn of(keeper: &Keeper) -> Self {
        Self(keeper.connect())
    }

    /// From now on all is of one moment.
    pub fn one_moment(self) -> Self {
        self.0.one_moment();
        self
    }

    pub fn rows(&self) -> Vec<Row> {
        self.read(
            "SELECT payments.id, checkout_id AS checkout, method, payments.state, payments.events, page_url, qr_text,
                payments.reference, payments.is_replaced, callback_secret FROM payments JOIN checkouts ON checkouts.id = checkout_id",
        )
    }

    pub fn checkouts(&self) -> Vec<Checkout> {
        self.read(&format!(
            "SELECT id, state, version, is_overpaid, paid_by, expires_at <= {} AS has_expired FROM checkouts",
            self.0.now()
        ))
    }

    /// The ends of the hosted pages' addresses.
    pub fn pages(&self) -> Vec<String> {
        let pages = self.0.rows("SELECT page_secret FROM checkouts");
        pages.iter().filter_map(|page| page["page_secret"].as_str().map(str::to_owned)).collect()
    }

    /// In the order in which they are read.
    pub fn events(&self) -> Vec<Event> {
        self.read(&format!(
            "SELECT event_id AS id, checkout_id AS checkout, payment_id AS payment, number, kind, body
                FROM events ORDER BY {}",
            self.0.order_of_events()
        ))
    }

    /// Every text of every table.
    pub fn texts(&self) -> Vec<String> {
        self.0.texts()
    }

    fn read<T: DeserializeOwned>(&self, sql: &str) -> Vec<T> {
        let read = |row| serde_json::from_value(Value::Object(row)).expect(sql);
        self.0.rows(sql).into_iter().map(read).collect()
    }
}

/// SQLite has no booleans.
fn yes<'de, D: Deserializer<'de>>(read: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(read)?;
    Ok(value == Value::Bool(true) || value == 1)
}

fn reference<'de, D: Deserializer<'de>>(read: D) -> Result<PaymentRef, D::Error> {
    String::deserialize(read)?.parse().map_err(D::Error::custom)
}

impl Row {
    /// What the gateway's books call it; of what was shown to nobody, nothing says that.
    pub fn booked<'a>(&self, books: &'a [Payment]) -> Option<&'a Payment> {
        books.iter().find(|payment| match (self.method.as_str(), payment.kind) {
            ("mbank", PaymentKind::Mbank) | ("megapay", PaymentKind::Megapay) | ("card", PaymentKind::Card) => {
                Some(&payment.order_number) == self.reference.order_number.as_ref()
            }
            ("qr", PaymentKind::Qr) => {
                payment.transaction_id.is_some() && payment.transaction_id == self.reference.transaction_id
            }
            ("pay_form", PaymentKind::PayForm) => {
                let token = self.page_url.as_deref().and_then(|url| url.rsplit_once("token="));
                token.is_some_and(|(_, token)| token == payment.gateway_number)
            }
            _ => false,
        })
    }

    /// Nobody can pay on a page or by a code that was shown to nobody.
    pub fn was_shown(&self) -> bool {
        matches!(self.method.as_str(), "mbank" | "megapay") || self.page_url.is_some() || self.qr_text.is_some()
    }
}
