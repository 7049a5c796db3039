//! Callback (webhook): the gateway's notification of a new status. It is not signed, so it may be forged or replayed.

use std::borrow::Cow;

use rust_decimal::Decimal;

use crate::{
    config::dialect::Dialect,
    error::PaymentError,
    json::{Document, Json},
    money::read_written_amount,
    operations::status_queries::QR_STATUS,
    payment_ref::{
        PaymentKind, PaymentRef,
        report::{PaymentStatus, Provider},
    },
    status::local_date_time::LocalDateTime,
    validation::Checks,
};

/// A notification (webhook) that the gateway sends to the merchant when the status of a payment changes.
///
/// **It is a hint**: the interface shows no signature (`docs/interface.md#what-is-not-shown`), so anyone can send one,
/// and it can come late, twice or never. Query the gateway with
/// [`Gateway::verify_callback`](crate::Gateway::verify_callback) before anything is shipped.
///
/// ```
/// use kassa::{Callback, PaymentStatus, Provider};
///
/// let callback = Callback::parse(r#"{
///     "orderNumber": "order-1", "amount": 100.10, "currency": "KGS", "status": "CHARGE",
///     "dateCreated": "2026-11-20T09:05:07", "provider": "Cards"
/// }"#).unwrap();
/// assert_eq!(callback.amount.unwrap().to_string(), "100.10");
/// assert_eq!((callback.status, callback.provider), (Some(PaymentStatus::Charged), Some(Provider::Cards)));
/// assert!(callback.missing.is_empty());
///
/// // A hint needs only an order number.
/// let callback = Callback::parse("OrderNumber=order-1&amount=100,10").unwrap();
/// assert_eq!(callback.order_number, "order-1");
/// assert_eq!(callback.missing, ["status", "dateCreated", "provider"]);
/// ```
///
/// Source: the callback body (`docs/interface.md#callback-body`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Callback {
    /// The order number of the payment.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::serialized::not_blank"))]
    pub order_number: String,
    /// The amount, if it can be read. **For QR payments the unit is not known** (som or tyiyn).
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
    pub amount: Option<Decimal>,
    /// The currency, if given.
    pub currency: Option<String>,
    /// The status that the callback claims, by the default words, if given. For a dialect's words:
    /// [`status_by`](Self::status_by).
    pub status: Option<PaymentStatus>,
    /// When the payment was made, if the text can be read.
    pub date_created: Option<LocalDateTime>,
    /// The date as received, if given.
    pub date_created_text: Option<String>,
    /// The payee, given for QR payments only.
    pub requisite: Option<String>,
    /// The provider that processed the payment, if given.
    pub provider: Option<Provider>,
    /// The fields that the interface requires and that are absent or cannot be read, as the interface spells them:
    /// `amount`, `status`, `dateCreated`, `provider`. The callback is still a hint without them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missing: Vec<String>,
    /// The whole body.
    pub raw: String,
}

impl Callback {
    /// Reads the body of a callback: a JSON object, or a form (`application/x-www-form-urlencoded`). **A hint needs only an order number**:
    /// every other field may be absent, null or of another form, and [`missing`](Self::missing) names those that the interface requires.
    /// Fields are found by their names in any case (`OrderNumber`, `order_number`), also inside a member `data`. `raw` keeps unknown
    /// fields.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] if there is no order number.
    pub fn parse(body: &str) -> Result<Self, PaymentError> {
        let fields = Body::read(body);
        let order_number = fields.text(&ORDER_NUMBER).unwrap_or_default();
        let mut checks = Checks::default();
        checks.required("orderNumber", &order_number);
        checks.finish()?;
        let written = fields.text(&["amount"]).and_then(|text| read_written_amount(&text));
        let (amount, written_currency) = written.unzip();
        let currency = fields.text(&["currency"]).or(written_currency.flatten());
        let status = fields.text(&["status"]).map(|word| Dialect::default().status(&word));
        let date_created_text = fields.source(&["dateCreated"]);
        let provider = fields.text(&["provider"]).map(|name| Provider::from_name(&name));
        let given = [
            ("amount", amount.is_some()),
            ("status", status.is_some()),
            ("dateCreated", date_created_text.is_some()),
            ("provider", provider.is_some()),
        ];
        Ok(Self {
            order_number,
            amount,
            currency,
            status,
            date_created: fields.date(&["dateCreated"]),
            date_created_text,
            requisite: fields.text(&["requisite"]),
            provider,
            missing: given.into_iter().filter(|(_, is_given)| !is_given).map(|(name, _)| name.to_owned()).collect(),
            raw: body.to_owned(),
        })
    }
}

impl Callback {
    /// Idempotency key of the notification: the same text for every copy of it, however it is formatted. Store it, to recognize repeated
    /// and replayed callbacks. **`None` if the callback has no status**: then the next one about the same payment may look the same and
    /// report something new, so treat every such callback as new.
    pub fn dedup_key(&self) -> Option<String> {
        let status = self.status_word().or_else(|| self.status.as_ref().map(ToString::to_string))?.to_lowercase();
        let date = self.date_created.map(|date| date.to_string()).or_else(|| self.date_created_text.clone());
        let amount = self.amount.map(|amount| amount.normalize().to_string());
        let key = form_urlencoded::Serializer::new(String::new())
            .append_pair("order", &self.order_number)
            .append_pair("provider", self.provider.as_ref().map_or("", Provider::name))
            .append_pair("status", &status)
            .append_pair("amount", &amount.unwrap_or_default())
            .append_pair("currency", self.currency.as_deref().unwrap_or_default())
            .append_pair("date", &date.unwrap_or_default())
            .append_pair("requisite", self.requisite.as_deref().unwrap_or_default())
            .finish();
        Some(key)
    }

    /// A reference of the payment, for a merchant who has stored none; `None` for a QR payment, whose callback has no number to query by.
    /// **Its number is only claimed**, and the requested amount is not known, so no check of it is ever
    /// [`Charged`](crate::Verdict::Charged): query with the reference that was made at the sale.
    pub fn payment_ref(&self) -> Option<PaymentRef> {
        // Only callbacks of QR payments have a requisite (`docs/interface.md#callback-body`).
        if self.requisite.is_some() {
            return None;
        }
        let kind = match &self.provider {
            Some(Provider::Cards) => PaymentKind::Card,
            Some(Provider::MBank) => PaymentKind::Mbank,
            Some(Provider::MegaPay | Provider::Other(_)) | None => PaymentKind::PayForm,
        };
        Some(PaymentRef::bare(kind).with_claimed_number(&self.order_number, self.provider.clone()))
    }

    /// The status that the callback claims, **by the words of the gateway's dialect**, if given. [`parse`](Self::parse) knows no dialect,
    /// so [`status`](Self::status) uses only the default words. The lists of the whole dialect apply; for a callback about a QR payment,
    /// which has a `requisite`, also the lists of the endpoint `qr_status`. The word is read from the body; if the body has none, the field
    /// `status` is used.
    ///
    /// ```
    /// use kassa::{Callback, Dialect, PaymentStatus};
    ///
    /// let dialect = Dialect::from_json(r#"{"charged_words": ["PAID"]}"#)?;
    /// let callback = Callback::parse(r#"{"orderNumber": "order-1", "status": "PAID"}"#)?;
    /// assert_eq!(callback.status, Some(PaymentStatus::Other("PAID".to_owned())));
    /// assert_eq!(callback.status_by(&dialect), Some(PaymentStatus::Charged));
    /// # Ok::<(), kassa::PaymentError>(())
    /// ```
    pub fn status_by(&self, dialect: &Dialect) -> Option<PaymentStatus> {
        let word = match (self.status_word(), self.status.as_ref()?) {
            (Some(word), _) => word,
            (None, PaymentStatus::Other(word)) => word.clone(),
            (None, status) => return Some(status.clone()),
        };
        match dialect.status(&word) {
            // Only callbacks of QR payments have a requisite (`docs/interface.md#callback-body`).
            PaymentStatus::Other(_) if self.requisite.is_some() => {
                Some(dialect.status_at(dialect.endpoint(&QR_STATUS), &word))
            }
            status => Some(status),
        }
    }

    fn status_word(&self) -> Option<String> {
        Body::read(&self.raw).text(&["status"])
    }

    /// The text at the first of these JSON pointers that has one.
    pub(crate) fn find(&self, pointers: &[String]) -> Option<String> {
        Body::read(&self.raw).at(pointers)
    }
}

// The body of a callback as named fields, in any format.

/// The names of the order number: in the interface, and in its sample client.
pub(super) const ORDER_NUMBER: [&str; 2] = ["orderNumber", "orderId"];

/// The member of an object that holds the fields if the object itself does not (envelope).
const ENVELOPE: &str = "data";

pub(super) enum Body<'a> {
    Json(Document<'a>),
    Form(Vec<(Cow<'a, str>, Cow<'a, str>)>),
    /// Neither an object nor a form.
    Unreadable,
}

impl<'a> Body<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        match Document::parse(text) {
            Ok(document) if document.root().is_object() => Self::Json(document),
            Err(_) if text.contains('=') && !text.trim_start().starts_with(['{', '[', '<']) => {
                Self::Form(form_urlencoded::parse(text.trim().as_bytes()).collect())
            }
            _ => Self::Unreadable,
        }
    }

    /// The text or the number of the first of these fields that has one.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        match self {
            Self::Json(document) => json_fields(document, names).find_map(text_of),
            Self::Form(pairs) => form_fields(pairs, names).next(),
            Self::Unreadable => None,
        }
    }

    /// The field as received, also if it is neither a string nor a number.
    pub(super) fn source(&self, names: &[&str]) -> Option<String> {
        match self {
            Self::Json(document) => {
                let source = |value: Json<'_>| match value.text() {
                    Some(_) => text_of(value),
                    None => Some(value.source().to_owned()).filter(|_| !value.is_null()),
                };
                json_fields(document, names).find_map(source)
            }
            _ => self.text(names),
        }
    }

    pub(super) fn date(&self, names: &[&str]) -> Option<LocalDateTime> {
        match self {
            Self::Json(document) => json_fields(document, names).find_map(LocalDateTime::from_json),
            _ => LocalDateTime::parse(&self.text(names)?),
        }
    }

    /// The text at the first of these JSON pointers that has one, also inside the envelope. A form has only top-level members.
    pub(super) fn at(&self, pointers: &[String]) -> Option<String> {
        match self {
            Self::Json(document) => {
                let root = document.root();
                let at = |pointer: &String| {
                    let inside = || root.at(&format!("/{ENVELOPE}{pointer}")).and_then(text_of);
                    root.at(pointer).and_then(text_of).or_else(inside)
                };
                pointers.iter().find_map(at)
            }
            Self::Form(pairs) => pointers.iter().find_map(|pointer| {
                let name = pointer.strip_prefix('/')?;
                pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone().into_owned())
            }),
            Self::Unreadable => None,
        }
    }
}

fn text_of(value: Json<'_>) -> Option<String> {
    value.text().filter(|text| !text.trim().is_empty()).map(Cow::into_owned)
}

/// The values of these fields: in the object itself, then in its envelope; first by the exact name, then by other spellings.
fn json_fields<'a>(document: &'a Document<'a>, names: &[&str]) -> impl Iterator<Item = Json<'a>> {
    let root = document.root();
    let envelope = root.members().filter(|(name, _)| is_called(name, ENVELOPE)).map(|(_, value)| value);
    let mut found = Vec::new();
    for object in std::iter::once(root).chain(envelope) {
        for name in names {
            found.extend(object.at(&format!("/{name}")).filter(|_| object.is_object()));
            found.extend(object.members().filter(|(known, _)| is_called(known, name)).map(|(_, value)| value));
        }
    }
    found.into_iter()
}

fn form_fields(pairs: &[(Cow<'_, str>, Cow<'_, str>)], names: &[&str]) -> impl Iterator<Item = String> {
    let given = |name: &str| {
        let values = pairs.iter().filter(move |(known, _)| is_called(known, name)).map(|(_, value)| value.trim());
        values.filter(|value| !value.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    names.iter().flat_map(|name| given(name)).collect::<Vec<_>>().into_iter()
}

/// Whether two names are equal except for case, underscores and hyphens: `orderNumber`, `OrderNumber`, `order_number`.
fn is_called(known: &str, name: &str) -> bool {
    let letters = |text: &'_ str| {
        text.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect::<String>()
    };
    letters(known) == letters(name)
}
