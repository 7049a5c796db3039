//! The settings of a server as a library. Files, environment variables and flags belong to the program.

use std::time::Duration;

use kassa::Dialect;
use url::Url;

use crate::{
    checkouts::new_checkout::{Offer, TakenMethods},
    events::EventKind,
    values::error::{Checks, Rule, ServerError},
    webhooks::SigningSecret,
};

/// The highest poll rate: more than a hundred million open payments need.
const MOST_POLL_RATE: u32 = 1_000_000;
/// The longest requisite, in characters.
const LONGEST_ACCOUNT: usize = 64;
/// A day, in seconds.
const DAY: u64 = 24 * 3600;

/// The settings of a [`Server`](crate::Server).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerSettings {
    /// The address under which the gateway reaches [`Server::hint`](crate::Server::hint), such as
    /// `https://pay.shop.example.kg/callbacks`.
    pub callback_base: String,
    /// The dialect of the gateway, which reads its callbacks. It must be the dialect of the gateway's configuration.
    pub dialect: Dialect,
    /// The deadline for payments in the gateway's configuration, by default 60 s. The two must agree.
    pub payment_deadline: Duration,
    /// The time beyond that deadline after which the sender of a payment is presumed dead.
    pub send_margin: Duration,
    /// The time for which a payment may wait to be sent, before it is given up.
    pub longest_wait: Duration,
    /// The most payments that are sent at once.
    pub max_concurrent_sends: u32,
    /// The most attempts at the one-time password of a payment.
    pub otp_attempts: u32,
    /// The most cards that may be tried for a checkout. It prevents card testing: checking which stolen cards
    /// work, or guessing a security code.
    pub card_attempts: u32,
    /// Whether card payments are accepted. **That puts the server and the merchant under PCI DSS (SAQ D)**, even though nothing
    /// of a card is stored but its last four digits.
    pub takes_cards: bool,
    /// The requisite to which the money of MegaPay payments goes, as agreed between gateway and merchant. Such payments are
    /// accepted if it is set; the dialect must have the gateway's requests for them
    /// ([`Dialect::offers_megapay`](kassa::Dialect::offers_megapay)).
    pub megapay_account: Option<String>,
    /// Whether pay-forms are offered for a checkout that names no methods: false if the dialect cannot verify any charge of a
    /// pay-form ([`Dialect::verifies_pay_forms`](kassa::Dialect::verifies_pay_forms)).
    pub offers_pay_forms: bool,
    /// The lifetime of a client token.
    pub token_lifetime: Duration,
    /// The most HTTP requests a second with which the whole fleet polls the gateway. A query of a pay-form counts as three.
    pub poll_rate: u32,
    /// The most polls of a worker at once.
    pub max_concurrent_polls: u32,
    /// The number of workers that poll payments.
    pub poll_workers: u32,
    /// The lease of a poll: longer than the gateway's deadline for status queries.
    pub poll_lease: Duration,
    /// The most concurrent deliveries of events.
    pub deliveries_at_once: u32,
    /// The lease of a delivery: longer than its deadline.
    pub delivery_lease: Duration,
    /// The kinds of events that are delivered to the shop; `None` for all. The others are skipped
    /// permanently; the feed has all of them.
    pub event_kinds: Option<Vec<EventKind>>,
    /// The retention time of idempotency keys after the end of a checkout, and of the hashes of expired client tokens and
    /// of callbacks: at least a day. Checkouts, payments, events and the gateway's numbers are never removed.
    pub keep_for: Duration,
    /// The secrets that sign events: one, or two while one is being replaced.
    pub signing_secrets: Vec<SigningSecret>,
    /// The interval at which a waiting caller rereads the checkout, for changes by another process.
    pub longest_unwatched: Duration,
}

impl ServerSettings {
    /// The default settings, for callbacks at this address.
    pub fn new(callback_base: impl Into<String>) -> Self {
        Self {
            callback_base: callback_base.into(),
            dialect: Dialect::default(),
            payment_deadline: Duration::from_secs(60),
            send_margin: Duration::from_secs(20),
            longest_wait: Duration::from_secs(30),
            max_concurrent_sends: 64,
            otp_attempts: 3,
            card_attempts: 5,
            takes_cards: false,
            megapay_account: None,
            offers_pay_forms: true,
            token_lifetime: Duration::from_secs(15 * 60),
            poll_rate: 50,
            max_concurrent_polls: 32,
            poll_workers: 4,
            poll_lease: Duration::from_secs(60),
            deliveries_at_once: 32,
            delivery_lease: Duration::from_secs(30),
            event_kinds: None,
            keep_for: Duration::from_secs(90 * DAY),
            signing_secrets: Vec::new(),
            longest_unwatched: Duration::from_secs(25),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ServerError> {
        let mut checks = Checks::default();
        if !Url::parse(&self.callback_base).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            checks.fail("callback_base", Rule::Url, "must be an absolute http or https address");
        }
        let times = [
            ("payment_deadline", self.payment_deadline),
            ("send_margin", self.send_margin),
            ("longest_wait", self.longest_wait),
            ("token_lifetime", self.token_lifetime),
            ("poll_lease", self.poll_lease),
            ("delivery_lease", self.delivery_lease),
            ("longest_unwatched", self.longest_unwatched),
        ];
        for (field, _) in times.iter().filter(|(_, time)| *time < Duration::from_secs(1)) {
            checks.fail(field, Rule::Range, "must be at least a second");
        }
        if self.keep_for < Duration::from_secs(DAY) {
            checks.fail("keep_for", Rule::Range, "must be at least a day");
        }
        if let Some(account) = &self.megapay_account {
            check_account(&mut checks, "megapay_account", account, Some(&self.dialect));
        }
        if self.event_kinds.as_ref().is_some_and(Vec::is_empty) {
            checks.fail("event_kinds", Rule::Required, "must have at least one kind, or be nothing");
        }
        let counts = [
            ("max_concurrent_sends", self.max_concurrent_sends),
            ("otp_attempts", self.otp_attempts),
            ("card_attempts", self.card_attempts),
            ("max_concurrent_polls", self.max_concurrent_polls),
            ("poll_workers", self.poll_workers),
            ("deliveries_at_once", self.deliveries_at_once),
        ];
        if !(1..=MOST_POLL_RATE).contains(&self.poll_rate) {
            checks.fail("poll_rate", Rule::Range, "must be from 1 to 1000000");
        }
        for (field, _) in counts.iter().filter(|(_, count)| !(1..=10_000).contains(count)) {
            checks.fail(field, Rule::Range, "must be from 1 to 10000");
        }
        checks.finish()
    }

    /// The methods that these settings enable.
    pub(crate) fn taken_methods(&self) -> TakenMethods {
        TakenMethods { cards: self.takes_cards, megapay: self.megapay_account.is_some() }
    }

    /// The offer to payers of checkouts that name no methods.
    pub(crate) fn offer(&self) -> Offer {
        Offer { pay_forms: self.offers_pay_forms, megapay: self.taken_methods().megapay }
    }
}

/// Checks whether a requisite can be used. The gateway's interface has no MegaPay requests, so the dialect,
/// if one is known, must have them.
pub(crate) fn check_account(checks: &mut Checks, field: &str, account: &str, dialect: Option<&Dialect>) {
    if account.trim().is_empty() {
        checks.fail(field, Rule::Required, "must be given");
    }
    if account.chars().count() > LONGEST_ACCOUNT {
        checks.fail(field, Rule::Length, &format!("must have at most {LONGEST_ACCOUNT} characters"));
    }
    if account.chars().any(char::is_control) {
        checks.fail(field, Rule::Format, "must have no control characters");
    }
    if dialect.is_some_and(|dialect| !dialect.offers_megapay()) {
        let sentence = "needs a gateway with MegaPay requests: the dialect has no key megapay. Take the known dialect finipay, or set \
            megapay in yours";
        checks.fail(field, Rule::OneOf, sentence);
    }
}
