//! Callback (webhook): the gateway's notification of a new status. It is not signed, so it may be forged or replayed.

use std::borrow::Cow;

use rust_decimal::Decimal;

use crate::{
    config::dialect::Dialect,
    values::{
        error::PaymentError,
        json::{Document, Json},
        local_date_time::LocalDateTime,
        money::read_amount,
        payment_ref::{PaymentKind, PaymentRef},
        provider::Provider,
        rules::Checks,
        status::PaymentStatus,
        violation::Rule,
    },
};

/// A notification (webhook) that the gateway sends to the merchant when the status of a payment changes.
///
/// **It is a hint**: the interface shows no signature (`docs/interface.md#what-is-not-shown`), so anybody can send one,
/// and it can come late, twice or never. Ask the gateway with
/// [`Gateway::verify_callback`](crate::Gateway::verify_callback) before anything is shipped.
///
/// ```
/// use kassa::{Callback, PaymentStatus, Provider};
///
/// let callback = Callback::parse(r#"{
///     "orderNumber": "order-1", "amount": 100.10, "currency": "KGS", "status": "CHARGE",
///     "dateCreated": "2026-11-20T09:05:07", "provider": "Cards"
/// }"#).unwrap();
/// assert_eq!(callback.amount.to_string(), "100.10");
/// assert_eq!((callback.status, callback.provider), (PaymentStatus::Charged, Provider::Cards));
/// ```
///
/// Source: the callback body (`docs/interface.md#callback-body`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Callback {
    /// The order number of the payment.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::values::serialized::not_blank"))]
    pub order_number: String,
    /// The amount. **For QR payments the unit is not known** (som or tyiyn).
    #[cfg_attr(feature = "serde", serde(with = "crate::values::serialized::decimal"))]
    pub amount: Decimal,
    /// The currency, where it is given.
    pub currency: Option<String>,
    /// The status that the callback claims, by the default words.
    pub status: PaymentStatus,
    /// When the payment was made, where the text of it is understood.
    pub date_created: Option<LocalDateTime>,
    /// The same as it came.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::values::serialized::not_blank"))]
    pub date_created_text: String,
    /// The payee, given for QR payments only.
    pub requisite: Option<String>,
    /// Who carried the payment out.
    pub provider: Provider,
    /// The whole body.
    pub raw: String,
}

impl Callback {
    /// Reads the body of a callback. Fields that are not known are kept in `raw`.
    ///
    /// # Errors
    /// [`PaymentError::Invalid`] naming every field that is missing or cannot be read.
    pub fn parse(body: &str) -> Result<Self, PaymentError> {
        let malformed = |sentence: &str| PaymentError::invalid("callback", Rule::Format, None, sentence);
        let document =
            Document::parse(body).map_err(|problem| malformed(&format!("is not readable JSON: {problem}")))?;
        let document = document.root();
        if !document.is_object() {
            return Err(malformed("is not a JSON object"));
        }
        let mut fields = Fields { document, checks: Checks::default() };
        let order_number = fields.required("orderNumber");
        let amount = fields.amount();
        let status = fields.required("status");
        let date_created_text = fields.date_text();
        let provider = fields.required("provider");
        fields.checks.finish()?;
        Ok(Self {
            order_number,
            amount,
            currency: text_at(document, "/currency"),
            status: Dialect::default().status(&status),
            date_created: document.at("/dateCreated").and_then(LocalDateTime::from_json),
            date_created_text,
            requisite: text_at(document, "/requisite"),
            provider: Provider::from_name(&provider),
            raw: body.to_owned(),
        })
    }
}

impl Callback {
    /// Idempotency key of the notification: the same text for every copy of it, however it is formatted. Remember it,
    /// to recognize repeated and replayed ones.
    pub fn dedup_key(&self) -> String {
        let status = self.status_word().unwrap_or_else(|| self.status.to_string()).to_lowercase();
        let date = self.date_created.map_or_else(|| self.date_created_text.clone(), |date| date.to_string());
        form_urlencoded::Serializer::new(String::new())
            .append_pair("order", &self.order_number)
            .append_pair("provider", self.provider.name())
            .append_pair("status", &status)
            .append_pair("amount", &self.amount.normalize().to_string())
            .append_pair("currency", self.currency.as_deref().unwrap_or_default())
            .append_pair("date", &date)
            .append_pair("requisite", self.requisite.as_deref().unwrap_or_default())
            .finish()
    }

    /// What to ask about the payment with, for a merchant who has stored nothing; nothing for a QR payment, whose
    /// callback has no number to ask by. **Its number is only claimed**, and what was asked for is not known, so no check
    /// of it is ever [`Charged`](crate::Verdict::Charged): ask with the reference that was made at the sale.
    pub fn payment_ref(&self) -> Option<PaymentRef> {
        // Only callbacks of QR payments have a requisite (`docs/interface.md#callback-body`).
        if self.requisite.is_some() {
            return None;
        }
        let kind = match &self.provider {
            Provider::Cards => PaymentKind::Card,
            Provider::MBank => PaymentKind::Mbank,
            Provider::MegaPay | Provider::Other(_) => PaymentKind::PayForm,
        };
        let provider = Some(self.provider.clone());
        Some(PaymentRef::bare(kind).with_claimed_number(&self.order_number, provider))
    }

    /// The status by a dialect, because `parse` knows none. Without a body, by the field alone.
    pub(crate) fn status_read_by(&self, dialect: &Dialect) -> PaymentStatus {
        match (self.status_word(), &self.status) {
            (Some(word), _) => dialect.status(&word),
            (None, PaymentStatus::Other(word)) => dialect.status(word),
            (None, settled) => settled.clone(),
        }
    }

    fn status_word(&self) -> Option<String> {
        self.find(&["/status".to_owned()])
    }

    pub(crate) fn find(&self, pointers: &[String]) -> Option<String> {
        let document = Document::parse(&self.raw).ok()?;
        pointers.iter().find_map(|pointer| text_at(document.root(), pointer))
    }
}

struct Fields<'a> {
    document: Json<'a>,
    checks: Checks,
}

impl Fields<'_> {
    fn required(&mut self, field: &str) -> String {
        let text = text_at(self.document, &format!("/{field}")).unwrap_or_default();
        self.checks.required(field, &text);
        text
    }

    fn amount(&mut self) -> Decimal {
        let text = self.required("amount");
        let amount = read_amount(&text);
        if amount.is_none() && !text.is_empty() {
            self.checks.fail("amount", Rule::Exact, None, "must be a decimal number of at most 28 digits");
        }
        amount.unwrap_or_default()
    }

    fn date_text(&mut self) -> String {
        let given = self.document.at("/dateCreated").filter(|value| !value.is_null());
        match given {
            Some(value) => value.text().unwrap_or_else(|| value.source().into()).into_owned(),
            None => self.required("dateCreated"),
        }
    }
}

fn text_at(document: Json<'_>, pointer: &str) -> Option<String> {
    document.at(pointer)?.text().filter(|text| !text.trim().is_empty()).map(Cow::into_owned)
}
