//! One file a flow: its request, its rules, its wire form, its answer.

pub(crate) mod card_payment;
pub(crate) mod mbank_confirm;
pub(crate) mod mbank_payment;
pub(crate) mod pay_form;
pub(crate) mod payment_status;
pub(crate) mod provider_status;
pub(crate) mod qr_data;
pub(crate) mod qr_image;
pub(crate) mod qr_payment;
pub(crate) mod qr_status;

use url::Url;

use crate::{
    config::is_https_or_loopback,
    reply::{NotAnAnswer, ReplyReader},
};

/// A page that the gateway wants the payer to open. Anywhere but https (or loopback) a payer could be robbed; and an address
/// with a card number in it would be logged by every server on its way.
fn payer_page(name: &str, text: &str, reply: &ReplyReader<'_>) -> Result<Url, NotAnAnswer> {
    let page = Url::parse(text).ok().filter(is_https_or_loopback);
    let page = page.ok_or_else(|| NotAnAnswer::because(format!("the reply's {name} is not an https URL")))?;
    if reply.is_clean(text) {
        Ok(page)
    } else {
        Err(NotAnAnswer::because(format!("the reply's {name} holds a secret")))
    }
}
