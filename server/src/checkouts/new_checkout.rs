//! A new checkout, and its rules.

use std::{collections::BTreeMap, time::Duration};

use kassa::{Decimal, som_to_tyiyn};
use ring::digest::{SHA256, digest};

use super::Checkout;
use crate::values::{
    Method,
    error::{Checks, Rule, ServerError},
    millis,
};

pub(crate) const LONGEST_REFERENCE: usize = 64;
pub(crate) const LONGEST_DESCRIPTION: usize = 256;
pub(crate) const MOST_METADATA: usize = 20;
pub(crate) const LONGEST_KEY: usize = 40;
pub(crate) const LONGEST_VALUE: usize = 200;
pub(crate) const SHORTEST_LIFE: Duration = Duration::from_secs(60);
pub(crate) const LONGEST_LIFE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
pub(crate) const LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The least amount that a MegaPay wallet pays, in som.
pub(crate) const MEGAPAY_MINIMUM: Decimal = Decimal::from_parts(5, 0, 0, false, 0);
/// The only currency of all offered methods.
pub(crate) const CURRENCY: &str = "KGS";

/// The methods that a server accepts only if its settings enable them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenMethods {
    pub(crate) cards: bool,
    pub(crate) megapay: bool,
}

/// The conditions under which a checkout offers a method, in addition to the shop's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Whether a charge of a pay-form can be verified.
    pub(crate) pay_forms: bool,
    pub(crate) megapay: bool,
}

impl Offer {
    const ALL: [Self; 4] = [
        Self { pay_forms: true, megapay: true },
        Self { pay_forms: true, megapay: false },
        Self { pay_forms: false, megapay: true },
        Self { pay_forms: false, megapay: false },
    ];
}

/// A shop's request for a new checkout.
///
/// ```
/// use kassa_server::{Method, NewCheckout};
///
/// let wanted = NewCheckout::new("order-17", 390.into(), "Two tickets", "https://shop.example.kg/paid")
///     .with_methods([Method::Mbank, Method::Qr]);
/// assert!(wanted.check().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewCheckout {
    /// The shop's own reference, at most 64 characters. The same reference with the same content returns the same checkout.
    pub reference: String,
    /// The amount in KGS, at least 1, with at most two decimals.
    pub amount: Decimal,
    /// The currency: `KGS`, the only one that the offered methods accept.
    pub currency: String,
    /// The description, at most 256 characters.
    pub description: String,
    /// The payment methods. Default: all that can carry the amount, except cards, which must be named.
    pub methods: Vec<Method>,
    /// The address to which the payer returns: a page, or a deep link of an app. Avoid a `#`: if an app begins the payment, the
    /// gateway may append its parameters after it, where servers do not see them.
    pub return_url: String,
    /// The lifetime: a minute to 30 days; an hour by default.
    pub lifetime: Duration,
    /// The shop's own key-value pairs: at most 20, with keys of at most 40 and values of at most 200 characters.
    pub metadata: BTreeMap<String, String>,
}

impl NewCheckout {
    /// A checkout in KGS.
    pub fn new(
        reference: impl Into<String>,
        amount: Decimal,
        description: impl Into<String>,
        return_url: impl Into<String>,
    ) -> Self {
        Self {
            reference: reference.into(),
            amount,
            currency: CURRENCY.to_owned(),
            description: description.into(),
            methods: Vec::new(),
            return_url: return_url.into(),
            lifetime: LIFETIME,
            metadata: BTreeMap::new(),
        }
    }

    /// Sets the payment methods.
    #[must_use]
    pub fn with_methods(self, methods: impl IntoIterator<Item = Method>) -> Self {
        Self { methods: methods.into_iter().collect(), ..self }
    }

    /// Sets the lifetime.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        Self { lifetime, ..self }
    }

    /// Adds a key-value pair of the shop.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Checks all rules.
    ///
    /// # Errors
    /// [`ServerError::Invalid`] with all that is wrong.
    pub fn check(&self) -> Result<(), ServerError> {
        self.checked().finish()
    }

    /// Checks all rules, for a server that accepts these methods.
    pub(crate) fn check_by(&self, taken: TakenMethods) -> Result<(), ServerError> {
        let mut checks = self.checked();
        if !taken.cards && self.methods.contains(&Method::Card) {
            checks.fail("methods", Rule::OneOf, "must leave out card: this server takes no cards");
        }
        if !taken.megapay && self.methods.contains(&Method::Megapay) {
            checks.fail("methods", Rule::OneOf, "must leave out megapay: this server takes no MegaPay payments");
        }
        checks.finish()
    }

    fn checked(&self) -> Checks {
        let mut checks = Checks::default();
        checks.required_text("reference", &self.reference, LONGEST_REFERENCE);
        self.check_amount(&mut checks);
        if self.currency != CURRENCY {
            checks.fail("currency", Rule::OneOf, "must be KGS");
        }
        checks.required_text("description", &self.description, LONGEST_DESCRIPTION);
        for method in self.methods.iter().filter(|method| !can_carry(**method, self.amount)) {
            checks.fail("methods", Rule::Exact, &format!("must leave out {method}, which cannot carry the amount"));
        }
        checks.return_url("return_url", &self.return_url);
        if !(SHORTEST_LIFE..=LONGEST_LIFE).contains(&self.lifetime) {
            checks.fail("lifetime", Rule::Range, "must be from a minute to 30 days");
        }
        self.check_metadata(&mut checks);
        checks
    }

    fn check_amount(&self, checks: &mut Checks) {
        if self.amount < Decimal::ONE {
            checks.fail("amount", Rule::Range, "must be at least 1");
        }
        if self.amount.normalize().scale() > 2 {
            checks.fail("amount", Rule::Exact, "must have at most two decimals");
        } else if som_to_tyiyn(self.amount).is_err() {
            checks.fail("amount", Rule::Range, "is too large");
        }
    }

    fn check_metadata(&self, checks: &mut Checks) {
        if self.metadata.len() > MOST_METADATA {
            checks.fail("metadata", Rule::Length, &format!("must have at most {MOST_METADATA} members"));
        }
        for (key, value) in &self.metadata {
            checks.required_text("metadata", key, LONGEST_KEY);
            checks.text("metadata", value, LONGEST_VALUE);
        }
    }

    /// The payment methods that a payer is offered. A pay-form whose charges cannot be verified is offered only if named; MegaPay
    /// is offered without being named only if the server accepts it.
    pub(crate) fn offered_methods(&self, offer: Offer) -> Vec<Method> {
        let mut methods = self.allowed_methods();
        if self.methods.is_empty() {
            methods.retain(|method| *method != Method::PayForm || offer.pay_forms);
            methods.extend(Some(Method::Megapay).filter(|method| offer.megapay && can_carry(*method, self.amount)));
        }
        methods
    }

    /// The payment methods of the content: those that were named, else all that every server accepts and that can carry the
    /// amount. The server's settings do not affect it, because the fingerprint is made of it.
    fn allowed_methods(&self) -> Vec<Method> {
        let mut methods = self.methods.clone();
        if methods.is_empty() {
            methods = vec![Method::PayForm, Method::Qr, Method::Mbank];
            methods.retain(|method| can_carry(*method, self.amount));
        }
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// The fingerprint for idempotency: equal only for the same content.
    pub(crate) fn fingerprint(&self) -> Vec<u8> {
        let lifetime = self.lifetime.as_millis();
        let content = (&self.currency, &self.description, self.allowed_methods(), &self.return_url, &self.metadata);
        let text = format!("{:?} {} {content:?} {lifetime}", self.reference, self.amount.normalize());
        digest(&SHA256, text.as_bytes()).as_ref().to_vec()
    }
}

impl NewCheckout {
    /// The fields in which a checkout opened under the same reference differs, for people. The
    /// fingerprint decides whether it differs.
    pub(crate) fn differs_from(&self, known: &Checkout) -> Vec<&'static str> {
        // The offered methods depend on the server's settings at that time.
        let is_offered = || Offer::ALL.into_iter().any(|offer| self.offered_methods(offer) == known.methods);
        let fields = [
            ("amount", self.amount == known.amount),
            ("currency", self.currency == known.currency),
            ("description", self.description == known.description),
            ("methods", is_offered()),
            ("return_url", self.return_url == known.return_url),
            ("lifetime", millis(self.lifetime) == known.expires_at.saturating_sub(known.opened_at)),
            ("metadata", self.metadata == known.metadata),
        ];
        let differing: Vec<_> = fields.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect();
        // Different lists of methods can result in the same offer.
        if differing.is_empty() { vec!["methods"] } else { differing }
    }
}

/// The mobile bank accepts only whole som, and a MegaPay wallet has a minimum.
fn can_carry(method: Method, amount: Decimal) -> bool {
    match method {
        Method::Mbank => amount.normalize().scale() == 0,
        Method::Megapay => amount >= MEGAPAY_MINIMUM,
        Method::PayForm | Method::Qr | Method::Card => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> NewCheckout {
        NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid")
    }

    fn broken(wanted: &NewCheckout) -> Vec<(String, Rule)> {
        let Err(ServerError::Invalid { violations }) = wanted.check() else { return Vec::new() };
        violations.into_iter().map(|violation| (violation.field, violation.rule)).collect()
    }

    #[test]
    fn every_broken_rule_is_named() {
        assert_eq!(broken(&wanted()), []);
        let pan = "4000 0000 0000 2016";
        let cases = [
            (NewCheckout { reference: " ".into(), ..wanted() }, "reference", Rule::Required),
            (NewCheckout { reference: pan.into(), ..wanted() }, "reference", Rule::CardNumber),
            (NewCheckout { description: pan.into(), ..wanted() }, "description", Rule::CardNumber),
            (NewCheckout { description: "x".repeat(257), ..wanted() }, "description", Rule::Length),
            (NewCheckout { amount: "0.99".parse().unwrap(), ..wanted() }, "amount", Rule::Range),
            (NewCheckout { amount: "10.001".parse().unwrap(), ..wanted() }, "amount", Rule::Exact),
            (NewCheckout { amount: Decimal::MAX, ..wanted() }, "amount", Rule::Range),
            (NewCheckout { currency: "USD".into(), ..wanted() }, "currency", Rule::OneOf),
            (NewCheckout { return_url: "javascript:x".into(), ..wanted() }, "return_url", Rule::Url),
            (NewCheckout { return_url: "VBScript:x".into(), ..wanted() }, "return_url", Rule::Url),
            (NewCheckout { return_url: "blob:https://shop.example.kg/1".into(), ..wanted() }, "return_url", Rule::Url),
            (
                NewCheckout { return_url: "view-source:https://shop.example.kg".into(), ..wanted() },
                "return_url",
                Rule::Url,
            ),
            (NewCheckout { return_url: "content://media/1".into(), ..wanted() }, "return_url", Rule::Url),
            (NewCheckout { return_url: "vb\tscript:x".into(), ..wanted() }, "return_url", Rule::Format),
            (NewCheckout { return_url: " vbscript:x".into(), ..wanted() }, "return_url", Rule::Url),
            (NewCheckout { return_url: "paid".into(), ..wanted() }, "return_url", Rule::Url),
            (wanted().with_lifetime(Duration::ZERO), "lifetime", Rule::Range),
            (wanted().with_metadata("note", pan), "metadata", Rule::CardNumber),
            (wanted().with_metadata(pan, ""), "metadata", Rule::CardNumber),
        ];
        for (wanted, field, rule) in cases {
            assert_eq!(broken(&wanted), [(field.to_owned(), rule)], "{wanted:?}");
        }
        for link in
            ["myshop://paid", "ms-shop://paid", "intent://paid#Intent;scheme=myshop;end", "https://shop.kg/#/paid"]
        {
            assert_eq!(broken(&NewCheckout { return_url: link.into(), ..wanted() }), [], "{link}");
        }
        let tyiyn = NewCheckout { amount: "10.50".parse().unwrap(), ..wanted() };
        assert_eq!(tyiyn.allowed_methods(), [Method::PayForm, Method::Qr]);
        assert_eq!(broken(&tyiyn.with_methods([Method::Mbank])), [("methods".to_owned(), Rule::Exact)]);
    }

    #[test]
    fn checkout_fingerprint_depends_on_content() {
        let same = NewCheckout { amount: "390.00".parse().unwrap(), ..wanted() };
        assert_eq!(same.fingerprint(), wanted().fingerprint());
        for other in [
            NewCheckout { amount: 391.into(), ..wanted() },
            wanted().with_metadata("a", "b"),
            wanted().with_methods([Method::Qr]),
            wanted().with_lifetime(Duration::from_secs(61)),
        ] {
            assert_ne!(other.fingerprint(), wanted().fingerprint(), "{other:?}");
        }
    }

    /// The content is the same, whatever the server can verify by the time that it is requested again.
    #[test]
    fn unverifiable_pay_form_needs_request() {
        let by_name = wanted().with_methods([Method::PayForm]);
        let offer = |pay_forms| Offer { pay_forms, megapay: false };
        assert_eq!(wanted().offered_methods(offer(true)), [Method::PayForm, Method::Qr, Method::Mbank]);
        assert_eq!(wanted().offered_methods(offer(false)), [Method::Qr, Method::Mbank]);
        assert_eq!(by_name.offered_methods(offer(false)), [Method::PayForm]);
    }

    #[test]
    fn megapay_is_offered_if_taken_and_large_enough() {
        let offer = Offer { pay_forms: true, megapay: true };
        let of = |amount: &str| NewCheckout { amount: amount.parse().unwrap(), ..wanted() };
        let all = [Method::PayForm, Method::Qr, Method::Mbank, Method::Megapay];
        assert_eq!(of("390").offered_methods(offer), all);
        assert_eq!(of("5.05").offered_methods(offer), [Method::PayForm, Method::Qr, Method::Megapay]);
        assert_eq!(of("4.99").offered_methods(offer), [Method::PayForm, Method::Qr]);
        assert_eq!(wanted().with_methods([Method::Qr]).offered_methods(offer), [Method::Qr]);
        assert_eq!(broken(&of("4.99").with_methods([Method::Megapay])), [("methods".to_owned(), Rule::Exact)]);
        let named = wanted().with_methods([Method::Megapay]);
        assert!(named.check_by(TakenMethods { megapay: true, ..TakenMethods::default() }).is_ok());
        let Err(ServerError::Invalid { violations }) = named.check_by(TakenMethods::default()) else {
            panic!("it was taken")
        };
        assert_eq!((violations[0].field.as_str(), violations[0].rule), ("methods", Rule::OneOf));
    }

    /// A shop that repeats its request after an update, or after the setting was turned on, gets the same checkout.
    #[test]
    fn fingerprint_does_not_depend_on_megapay() {
        let content = "\"order-1\" 390 (\"KGS\", \"Two tickets\", [PayForm, Qr, Mbank], \"https://shop.example.kg/paid\", {}) 3600000";
        assert_eq!(wanted().fingerprint(), digest(&SHA256, content.as_bytes()).as_ref());
    }

    #[test]
    fn card_method_must_be_requested_and_enabled() {
        assert!(!wanted().allowed_methods().contains(&Method::Card));
        let by_card = wanted().with_methods([Method::Card]);
        assert_eq!(by_card.allowed_methods(), [Method::Card]);
        assert!(by_card.check_by(TakenMethods { cards: true, ..TakenMethods::default() }).is_ok());
        let Err(ServerError::Invalid { violations }) = by_card.check_by(TakenMethods::default()) else {
            panic!("it was taken")
        };
        assert_eq!((violations[0].field.as_str(), violations[0].rule), ("methods", Rule::OneOf));
    }
}
