//! The content of a payment's QR code: an ELQR code of a fictitious provider. The payer's page shows it, too.

use rust_decimal::prelude::ToPrimitive;
use url::Url;

use crate::{
    encoding::elqr::{Elqr, LONGEST_PAYEE, LONGEST_VALUE, fitting},
    rules,
    store::payments::Record,
};

/// The payment system of the codes. `.example` is a reserved domain, so no bank mistakes it for a real one.
const PROVIDER: &str = "qr.sandbox.example";
const SERVICE_CODE: &str = "01";
/// Shops of all kinds.
const MCC: &str = "5999";
/// The payee if the request names none. Pages show it in their own language.
const NAMELESS: &str = "Test merchant";

/// The content of a QR payment's code.
pub(crate) struct QrCode {
    pub(crate) provider: &'static str,
    /// The payee, if the merchant has a name or a site.
    pub(crate) payee: Option<String>,
    /// The payee's phone, if the requisite is one.
    pub(crate) recipient: Option<String>,
    /// The whole requisite, if it is too long for the payee's name.
    pub(crate) comment: Option<String>,
    pub(crate) transaction: String,
    /// In tyiyn.
    amount: Option<i64>,
}

impl QrCode {
    pub(crate) fn of(record: &Record) -> Self {
        let requisite = record.requisite.as_deref().unwrap_or_default();
        let recipient = rules::phone_of(requisite).ok();
        let name = if recipient.is_some() { "" } else { requisite };
        let named = [fitting(name, LONGEST_PAYEE), fitting(name, LONGEST_VALUE)];
        let [payee, comment] = named.map(|text| Some(text).filter(|text| !text.is_empty()));
        let comment = comment.filter(|comment| payee.as_ref() != Some(comment));
        let site = || record.callback_url.as_deref().and_then(site).map(|site| fitting(&site, LONGEST_PAYEE));
        Self {
            provider: PROVIDER,
            payee: payee.or_else(site),
            recipient,
            comment,
            transaction: record.payment.order_number.clone(),
            amount: record.payment.amount.as_ref().and_then(ToPrimitive::to_i64),
        }
    }

    /// The code behind the link to a page.
    pub(crate) fn linked(&self, page: &str) -> String {
        let code = Elqr {
            provider: self.provider,
            service_code: SERVICE_CODE,
            recipient: self.recipient.as_deref(),
            transaction: Some(&self.transaction),
            amount_editable: Some(self.amount.is_none()),
            recipient_editable: Some(false),
            comment: self.comment.as_deref(),
            mcc: MCC,
            amount: self.amount,
            payee: self.payee.as_deref().unwrap_or(NAMELESS),
        };
        code.linked(page)
    }
}

/// The host of a web address.
pub(crate) fn site(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merchant_without_name_is_named_by_its_site() {
        assert_eq!(site("https://shop.example/done?cart=7").as_deref(), Some("shop.example"));
        assert_eq!(site("myapp://paid"), None);
    }
}
