//! The request that makes a payment at the gateway, and what its outcome means.

use kassa::{
    CardPayment, MbankPayment, MegapayPayment, NextStep, PayForm, PaymentError, PaymentGateway, PaymentRef, QrData,
    QrPayment, som_to_tyiyn,
};
use ring::digest::{SHA256, digest};
use rust_decimal::prelude::ToPrimitive;

use crate::{
    checkouts::Checkout,
    payments::{
        Failure, PayerCard,
        exchange::{Exchange, ExchangeKind, GatewayAnswer},
        last4,
        response::Secrets,
    },
    storage::inputs::{SendResult, WalletTerms},
    values::{
        Hidden, Method, PaymentId,
        error::{Rule, ServerError, Violation},
    },
};

/// A payment method, with the payer's input.
pub(crate) enum PaymentInput<'a> {
    PayForm {
        /// The address to which the payer returns, if it is not the shop's.
        back: Option<&'a str>,
    },
    Qr,
    Mbank {
        phone: &'a str,
    },
    Megapay {
        phone: &'a str,
    },
    Card(&'a PayerCard),
}

impl PaymentInput<'_> {
    pub(crate) fn method(&self) -> Method {
        match self {
            Self::PayForm { .. } => Method::PayForm,
            Self::Qr => Method::Qr,
            Self::Mbank { .. } => Method::Mbank,
            Self::Megapay { .. } => Method::Megapay,
            Self::Card(_) => Method::Card,
        }
    }

    /// The fingerprint of an idempotency key. **Nothing of a card**, and of a phone one of 256 classes: anyone who has the
    /// hash of a number can find the number by brute force. So another card with the same key is the same attempt, and
    /// returns the outcome of the first.
    pub(crate) fn content(&self) -> String {
        match self {
            Self::Mbank { phone } | Self::Megapay { phone } => {
                format!("pay {} {:02x}", self.method(), class_of(phone))
            }
            _ => format!("pay {}", self.method()),
        }
    }

    fn phone(&self) -> Option<&str> {
        match self {
            Self::Mbank { phone } | Self::Megapay { phone } => Some(phone),
            Self::PayForm { .. } | Self::Qr | Self::Card(_) => None,
        }
    }
}

/// One of 256 classes of phones, always the same one. Deliberately without a salt: with one, each further payment of the same
/// payer would reveal eight more bits.
fn class_of(phone: &str) -> u8 {
    let digits: Vec<u8> = phone.bytes().filter(u8::is_ascii_digit).collect();
    digest(&SHA256, &digits).as_ref().first().copied().unwrap_or_default()
}

/// A request, ready to be sent once.
pub(crate) struct GatewayRequest {
    body: Body,
    /// The secrets that no response to it may repeat.
    secrets: Secrets,
}

/// A card's body is wiped after sending, or when it is dropped unsent.
enum Body {
    PayForm(PayForm),
    Qr(QrPayment),
    Mbank(MbankPayment),
    Megapay(MegapayPayment),
    Card(Box<CardPayment>),
}

impl GatewayRequest {
    /// The request for a payment of a checkout; `account` is the merchant's requisite for MegaPay.
    pub(crate) fn new(
        way: &PaymentInput<'_>,
        checkout: &Checkout,
        id: &PaymentId,
        callback_url: String,
        account: &str,
    ) -> Result<Self, ServerError> {
        let amount = checkout.amount;
        let secrets = Secrets::of_addresses([&checkout.callback_secret, &checkout.page_secret]);
        let secrets = if let Some(phone) = way.phone() { secrets.with_phone(phone) } else { secrets };
        let body = match way {
            PaymentInput::PayForm { back } => Body::PayForm(
                PayForm::new(amount, &checkout.description, callback_url)
                    .with_return_url(back.unwrap_or(&checkout.return_url))
                    .with_entry_id(id.bare()),
            ),
            PaymentInput::Qr => {
                let tyiyn = som_to_tyiyn(amount).map_err(|_| amount_error())?;
                Body::Qr(QrPayment::new(tyiyn).with_callback_url(callback_url).with_entry_id(id.bare()))
            }
            PaymentInput::Mbank { phone } => {
                let whole = Some(amount).filter(|amount| amount.fract().is_zero());
                let som = whole.and_then(|amount| amount.to_i64()).ok_or_else(amount_error)?;
                let payment = MbankPayment::new(id.bare(), som, *phone, &checkout.description);
                Body::Mbank(payment.with_callback_url(callback_url))
            }
            PaymentInput::Megapay { phone } => Body::Megapay(MegapayPayment::new(id.bare(), amount, *phone, account)),
            PaymentInput::Card(payer) => {
                let payment = CardPayment::new(id.bare(), amount, &checkout.currency, payer.card()?, callback_url)
                    .with_description(&checkout.description)
                    .with_language(payer.language())
                    .with_ip(payer.ip().to_string())
                    .with_return_url(&checkout.return_url);
                Body::Card(Box::new(payment))
            }
        };
        Ok(Self { body, secrets })
    }

    pub(crate) fn method(&self) -> Method {
        match self.body {
            Body::PayForm(_) => Method::PayForm,
            Body::Qr(_) => Method::Qr,
            Body::Mbank(_) => Method::Mbank,
            Body::Megapay(_) => Method::Megapay,
            Body::Card(_) => Method::Card,
        }
    }

    /// The part of its card that may be stored.
    pub(crate) fn card_last4(&self) -> Option<String> {
        if let Body::Card(payment) = &self.body { last4(payment.card()) } else { None }
    }

    /// The part of its phone that may be stored.
    pub(crate) fn phone_last2(&self) -> Option<String> {
        let phone = match &self.body {
            Body::Mbank(payment) => &payment.phone,
            Body::Megapay(payment) => &payment.phone,
            Body::PayForm(_) | Body::Qr(_) | Body::Card(_) => return None,
        };
        phone.get(phone.len().checked_sub(2)?..).map(str::to_owned)
    }

    /// The phone that the request with the code repeats, so that it has to be stored until then.
    pub(crate) fn phone_to_repeat(&self) -> Option<Hidden> {
        if let Body::Megapay(payment) = &self.body { Some(Hidden::new(&payment.phone)) } else { None }
    }

    /// The reference for status queries.
    pub(crate) fn reference(&self) -> PaymentRef {
        match &self.body {
            Body::PayForm(form) => form.payment_ref(),
            Body::Qr(qr) => qr.payment_ref(),
            Body::Mbank(payment) => payment.payment_ref(),
            Body::Megapay(payment) => payment.payment_ref(),
            Body::Card(payment) => payment.payment_ref(),
        }
    }

    /// Sends it. **Once**: nobody calls this twice for one payment.
    pub(crate) async fn send(self, gateway: &dyn PaymentGateway) -> (SendResult, Exchange) {
        let sent = (self.reference(), &self.secrets);
        match self.body {
            Body::PayForm(form) => outcome(gateway.create_pay_form(form).await, sent, |made| SendResult::Accepted {
                reference: made.payment,
                page_url: Some(made.pay_form_url),
                qr_text: None,
                terms: WalletTerms::default(),
            }),
            Body::Qr(qr) => outcome(gateway.create_qr_data(qr).await, sent, code_to_show),
            Body::Mbank(payment) => outcome(gateway.create_mbank_payment(payment).await, sent, |made| {
                for_code(made.payment, WalletTerms::default())
            }),
            Body::Megapay(payment) => outcome(gateway.check_megapay(payment).await, sent, |checked| {
                let (commission, total, pin_lifetime) = (checked.commission, checked.total, checked.pin_lifetime);
                for_code(checked.payment, WalletTerms { commission, total, pin_lifetime })
            }),
            // Without a page there is nothing to confirm; only the gateway's report has the outcome.
            Body::Card(payment) => {
                outcome(gateway.create_card_payment(*payment).await, sent, |made| SendResult::Accepted {
                    reference: made.payment,
                    page_url: match made.next_step {
                        NextStep::OpenConfirmation { url, .. } => Some(url),
                        _ => None,
                    },
                    qr_text: None,
                    terms: WalletTerms::default(),
                })
            }
        }
    }
}

/// The result of a request, and the exchange to store. `sent` is the payment reference, and the secrets to mask.
fn outcome<T: GatewayAnswer>(
    result: Result<T, PaymentError>,
    (reference, secrets): (PaymentRef, &Secrets),
    made: impl FnOnce(T) -> SendResult,
) -> (SendResult, Exchange) {
    let exchange = Exchange::of(ExchangeKind::Create, &result, secrets);
    (result.map_or_else(|error| failed(&error, reference, secrets), made), exchange)
}

/// The payer gets a code, and there is nothing to show.
fn for_code(reference: PaymentRef, terms: WalletTerms) -> SendResult {
    SendResult::Accepted { reference, page_url: None, qr_text: None, terms }
}

/// Without a transaction the code cannot be queried: its callback, whose address is this payment's own, and a person decide it.
/// Without a text there is nothing to show, and so nothing to pay.
fn code_to_show(made: QrData) -> SendResult {
    match made.payload {
        Some(text) => SendResult::Accepted {
            reference: made.payment,
            page_url: None,
            qr_text: Some(text),
            terms: WalletTerms::default(),
        },
        None => nothing_happened(Failure::of_kind(Failure::NO_CODE)),
    }
}

fn amount_error() -> ServerError {
    ServerError::invalid(Violation::new("amount", Rule::Exact, "cannot be carried by this method"))
}

fn nothing_happened(failure: Failure) -> SendResult {
    SendResult::NothingHappened { failure, retry_after: None }
}

/// The core's variant says whether anything can have happened.
fn failed(error: &PaymentError, reference: PaymentRef, secrets: &Secrets) -> SendResult {
    match error {
        // The requested amount and our number stay, whatever the gateway's response contains.
        PaymentError::OutcomeUnknown { payment, .. } => {
            let is_same = payment.order_number == reference.order_number && payment.amount == reference.amount;
            SendResult::Unknown { reference: if is_same { PaymentRef::clone(payment) } else { reference } }
        }
        PaymentError::Unavailable { retry_after, .. } => {
            SendResult::NothingHappened { failure: Failure::of(error, secrets), retry_after: *retry_after }
        }
        _ => nothing_happened(Failure::of(error, secrets)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Whoever reads the database tries all phones there are: what is kept of one fits a 256th of them.
    #[test]
    fn payment_fingerprint_hides_phone() {
        let content = |number: u32| PaymentInput::Mbank { phone: &format!("996{number}") }.content();
        let mut classes: HashMap<String, u32> = HashMap::new();
        for number in 700_000_000..700_010_000 {
            *classes.entry(content(number)).or_default() += 1;
        }
        assert!(classes.values().all(|phones| *phones > 10), "{classes:?}");
        assert!(classes.len() > 200, "{classes:?}");
        assert_eq!(PaymentInput::Mbank { phone: "+996 700-000-001" }.content(), content(700_000_001));
        assert_ne!(content(700_000_002), content(700_000_001));
        let by_wallet = PaymentInput::Megapay { phone: "+996 700-000-001" }.content();
        assert_eq!(by_wallet.rsplit_once(' ').unwrap().1, content(700_000_001).rsplit_once(' ').unwrap().1);
        assert_ne!(by_wallet, content(700_000_001));
        assert_ne!(PaymentInput::Qr.content(), PaymentInput::PayForm { back: None }.content());
    }
}
