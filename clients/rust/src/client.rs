//! The client: a method for each request of a shop.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    time::Duration,
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    error::Error,
    http::{Request, Transport},
    settings::{ClientBuilder, SettingError},
    values::{Checkout, EventAt, EventPage, Payment, Token},
};

/// The longest time that the server waits for a change.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The characters that are escaped in an identifier in a path (no injection).
const NOT_IN_A_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-').remove(b'.').remove(b'~');
/// How the server says that it does not know a reference.
const NO_CHECKOUT: &str = "There is no such checkout";

/// A shop's back end at kassa-server: opens checkouts, and reads their outcome.
///
/// Make one and keep it: it keeps its connections, and clones share them. Every call ends within its timeout, with a value or an
/// [`Error`]. Requests are sent up to 8 times if that is safe, with growing pauses: without a connection, and after 408, 429,
/// 502, 503 and 504. It uses no proxy, follows no redirect, and never prints the key. A call that is dropped ends at once; the
/// server may have executed it: the same reference opens no second checkout.
#[derive(Clone)]
pub struct Client {
    transport: Transport,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({:?})", self.transport)
    }
}

#[derive(Deserialize)]
struct Count {
    count: u64,
}

#[derive(Deserialize)]
struct Done {}

impl Client {
    /// A client of the server at its `public_url`, without `/v1`: https, or http to a loopback address.
    ///
    /// `api_key` is what `kassa-server keys new` printed (`ak_…`).
    ///
    /// # Errors
    /// [`SettingError`] names what is wrong.
    pub fn new(url: &str, api_key: &str) -> Result<Self, SettingError> {
        Self::builder(url, api_key).build()
    }

    /// A builder with more settings.
    pub fn builder(url: &str, api_key: &str) -> ClientBuilder {
        ClientBuilder::new(url, api_key)
    }

    /// A client by `KASSA_SERVER_URL` and `KASSA_API_KEY`. `KASSA_PLAIN_HTTP_HOSTS` can name hosts, separated by commas, that may be
    /// called by plain http.
    ///
    /// # Errors
    /// [`SettingError`] names what is missing or wrong.
    pub fn from_environment() -> Result<Self, SettingError> {
        ClientBuilder::of_environment()?.build()
    }

    pub(crate) fn over(transport: Transport) -> Self {
        Self { transport }
    }

    // Checkouts

    /// Opens a checkout. Send the payer to its `page_url`.
    ///
    /// **The same reference with the same content returns the same checkout**, also after it ended, so a repetition is safe.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the reference belongs to a checkout with other content, [`Error::Refused`] with the rules that fields
    /// break, and the others.
    pub async fn open_checkout(&self, wanted: &NewCheckout) -> Result<Checkout, Error> {
        let body = Some(Value::Object(wanted.body.clone()));
        self.transport.request(Request { body, ..Request::new(Method::POST, "/v1/checkouts") }).await
    }

    /// A checkout by its identifier (`co_…`).
    ///
    /// # Errors
    /// [`Error::NotFound`] if there is none, and the others.
    pub async fn checkout(&self, checkout: &str) -> Result<Checkout, Error> {
        self.transport.request(Request::new(Method::GET, &path_of(checkout))).await
    }

    /// A checkout by your own reference. None if there is none.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn find_checkout(&self, reference: &str) -> Result<Option<Checkout>, Error> {
        let query = [("reference", reference)];
        let found =
            self.transport.request(Request { query: &query, ..Request::new(Method::GET, "/v1/checkouts") }).await;
        match found {
            Ok(checkout) => Ok(Some(checkout)),
            // Another 404 says that the address is wrong, and nothing about the checkout.
            Err(Error::NotFound(problem)) if problem.detail.starts_with(NO_CHECKOUT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The checkout as soon as its `version` is above `after_version`, or as it is after `wait` (at most a minute; 25 seconds are
    /// usual).
    ///
    /// Use it only while someone waits for an answer: [`events`](Self::events) and webhooks also report late charges.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn wait_for_change(&self, checkout: &str, after_version: u64, wait: Duration) -> Result<Checkout, Error> {
        let wait = Duration::from_secs(wait.min(LONGEST_WAIT).as_secs());
        let (after, seconds) = (after_version.to_string(), wait.as_secs().to_string());
        let query = [("after", after.as_str()), ("wait", seconds.as_str())];
        let path = path_of(checkout);
        self.transport.request(Request { query: &query, wait, ..Request::new(Method::GET, &path) }).await
    }

    /// Cancels a checkout.
    ///
    /// # Errors
    /// [`Error::Conflict`] if it has ended, or a payment of it may still be charged: wait for its outcome. And the others.
    pub async fn cancel(&self, checkout: &str) -> Result<Checkout, Error> {
        self.transport.request(Request::new(Method::POST, &format!("{}/cancel", path_of(checkout)))).await
    }

    /// Has the server query the gateway about the checkout's payments now. An event reports the result.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn check(&self, checkout: &str) -> Result<(), Error> {
        let path = format!("{}/check", path_of(checkout));
        self.transport.request(Request::new(Method::POST, &path)).await.map(|Done {}| ())
    }

    /// A client token for the payer's app: it opens this checkout and nothing else.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn new_token(&self, checkout: &str) -> Result<Token, Error> {
        self.transport.request(Request::new(Method::POST, &format!("{}/tokens", path_of(checkout)))).await
    }

    /// Revokes all client tokens of the checkout; how many there were.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn revoke_tokens(&self, checkout: &str) -> Result<u64, Error> {
        let path = format!("{}/tokens", path_of(checkout));
        self.transport.request(Request::new(Method::DELETE, &path)).await.map(|Count { count }| count)
    }

    // Events

    /// The events after a cursor, in the order in which they happened. None is ever skipped. `"0"` is the beginning.
    ///
    /// Store each `cursor` in the transaction that processes its event, and begin there the next time.
    ///
    /// ```no_run
    /// # async fn read(client: kassa_client::Client, stored: &str) -> Result<(), kassa_client::Error> {
    /// let mut events = client.events(stored);
    /// while let Some(each) = events.next().await? {
    ///     if each.event.is_paid() {
    ///         // In one transaction: deliver each.event.reference, unless it is delivered, and store each.cursor.
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self, after: &str) -> EventHistory {
        EventHistory {
            client: self.clone(),
            after: after.to_owned(),
            limit: 100,
            interval: None,
            read: VecDeque::new(),
            is_at_end: false,
        }
    }

    /// One page of the events after a cursor, of at most `limit` events (up to 1,000), for a loop of your own;
    /// [`events`](Self::events) reads them all.
    ///
    /// # Errors
    /// [`Error::HistoryGone`] if the server was restored and no longer knows the cursor, and the others.
    pub async fn page(&self, after: &str, limit: u32) -> Result<EventPage, Error> {
        let limit = limit.to_string();
        let query = [("after", after), ("limit", limit.as_str())];
        self.transport.request(Request { query: &query, ..Request::new(Method::GET, "/v1/events") }).await
    }

    /// Delivers events again whose delivery was given up or refused, of one checkout (`co_…`) or of all; how many.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn replay_events(&self, checkout: Option<&str>) -> Result<u64, Error> {
        let body = Some(checkout.map_or_else(|| json!({}), |checkout| json!({ "checkout": checkout })));
        let request = Request { body, ..Request::new(Method::POST, "/v1/events/replay") };
        self.transport.request(request).await.map(|Count { count }| count)
    }

    // Payments

    /// Records how a payment (`pay_…`) ended, for a person (`by`) who checked the gateway's own records, with
    /// the `reason` for the decision.
    ///
    /// With [`Outcome::Charged`] it pays its checkout. It is sent once. After an [`Error::Unavailable`], look at the checkout before you
    /// repeat it.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the outcome is known, or is still being determined, and the others.
    pub async fn resolve_payment(
        &self,
        payment: &str,
        outcome: Outcome,
        reason: &str,
        by: &str,
    ) -> Result<Payment, Error> {
        let outcome = match outcome {
            Outcome::Charged => "charged",
            Outcome::NotCharged => "not_charged",
        };
        let body = Some(json!({ "outcome": outcome, "reason": reason, "by": by }));
        let path = format!("/v1/payments/{}/resolve", utf8_percent_encode(payment, NOT_IN_A_PATH));
        self.transport.request(Request { body, can_repeat: false, ..Request::new(Method::POST, &path) }).await
    }
}

/// How a payment ended, as a person found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The gateway took the money.
    Charged,
    /// It did not.
    NotCharged,
}

fn path_of(checkout: &str) -> String {
    format!("/v1/checkouts/{}", utf8_percent_encode(checkout, NOT_IN_A_PATH))
}

/// A checkout to open.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckout {
    body: Map<String, Value>,
}

impl NewCheckout {
    /// - `reference`: your order's number
    /// - `amount`: in units of the currency, with at most two digits after the point
    /// - `description`: what the payer reads
    /// - `return_url`: the page to which the payer returns. A payer's return proves nothing
    pub fn new(reference: &str, amount: Decimal, description: &str, return_url: &str) -> Self {
        let wanted = [
            ("reference", reference.to_owned()),
            ("amount", amount.to_string()),
            ("description", description.to_owned()),
            ("return_url", return_url.to_owned()),
        ];
        Self { body: wanted.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect() }
    }

    /// The methods to choose from, such as `["qr", "mbank"]`. Default: all that can carry the amount.
    #[must_use]
    pub fn methods(self, methods: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.with("methods", methods.into_iter().map(|method| method.as_ref().to_owned()).collect::<Vec<_>>())
    }

    /// How long it can be paid, from a minute to 30 days. Default: an hour.
    #[must_use]
    pub fn lifetime(self, lifetime: Duration) -> Self {
        self.with("lifetime_s", lifetime.as_secs())
    }

    /// Up to 20 key-value pairs of your own, which the checkout returns.
    #[must_use]
    pub fn metadata(self, metadata: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Self {
        let texts: BTreeMap<String, String> =
            metadata.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.with("metadata", texts.into_iter().map(|(name, value)| (name, value.into())).collect::<Map<_, Value>>())
    }

    /// The currency. Default: `KGS`.
    #[must_use]
    pub fn currency(self, currency: &str) -> Self {
        self.with("currency", currency)
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.insert(name.to_owned(), value.into());
        self
    }
}

/// The history of events behind a cursor: [`Client::events`].
#[derive(Debug)]
pub struct EventHistory {
    client: Client,
    after: String,
    limit: u32,
    interval: Option<Duration>,
    read: VecDeque<EventAt>,
    is_at_end: bool,
}

impl EventHistory {
    /// How many events a request returns: at most 1,000. Default: 100.
    #[must_use]
    pub fn limit(self, limit: u32) -> Self {
        Self { limit, ..self }
    }

    /// Does not end with the last event, but polls again after each interval (5 seconds are usual), until it is dropped. While the
    /// server cannot be reached or fails (5xx) it waits, and logs a warning (`tracing`).
    #[must_use]
    pub fn follow(self, interval: Duration) -> Self {
        Self { interval: Some(interval), ..self }
    }

    /// The next event. None at the end of the history, unless it is [followed](Self::follow). It can be dropped at any time, such as
    /// in `tokio::select!`: no event is lost.
    ///
    /// # Errors
    /// [`Error::HistoryGone`] if the server was restored and no longer knows the cursor, and the others.
    pub async fn next(&mut self) -> Result<Option<EventAt>, Error> {
        loop {
            if let Some(next) = self.read.pop_front() {
                return Ok(Some(next));
            }
            if self.is_at_end {
                let Some(interval) = self.interval else { return Ok(None) };
                tokio::time::sleep(interval).await;
                self.is_at_end = false;
            }
            match self.client.page(&self.after, self.limit).await {
                Ok(page) => {
                    self.is_at_end = page.events.is_empty();
                    self.after = page.next;
                    self.read = page.events.into();
                }
                Err(error) if self.interval.is_some() && error.is_temporary() => {
                    tracing::warn!(target: "kassa_client", %error, "reading of the events pauses");
                    self.is_at_end = true;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
