//! A payment from the payer's MegaPay wallet: a check, which makes the gateway send the payer a PIN, and the payment with that PIN. The
//! gateway's interface has neither request; a dialect offers them (`docs/interface.md#megapay`).

use std::{sync::Arc, time::Duration};

use http::Method;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    config::{
        dialect::Dialect,
        endpoint::{Endpoint, ResponseField},
    },
    currency::{KGS, KGS_DECIMALS},
    error::PaymentError,
    money::ExactNumber,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings, pay_form::MEGA_PAY_MINIMUM},
    payment_entry::PaymentEntry,
    payment_ref::{PaymentRef, advice_on_characters},
    response::{
        reader::{NotAnAnswer, ResponseReader, Sent},
        redact::Redactor,
    },
    secret::Secret,
    validation::{
        Checks,
        phone_and_otp::{advice_on_form, normalized_otp, normalized_phone},
    },
    violation::Advice,
};

/// A payment from a MegaPay wallet. [`check_megapay`](crate::Gateway::check_megapay) makes the gateway send the payer a PIN and returns the
/// commission; [`pay_by_megapay`](crate::Gateway::pay_by_megapay) takes the money with that PIN. **Both take the same request.**
///
/// ```
/// use kassa::{Decimal, MegapayPayment};
///
/// let payment = MegapayPayment::new("order-1", Decimal::new(250, 0), "996700000001", "17")
///     .with_callback_url("https://shop.example.kg/callbacks");
/// assert_eq!(payment.account, "17");
/// ```
///
/// Source: `docs/interface.md#megapay`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MegapayPayment {
    /// The merchant's unique number of the payment; [`new_order_number`](crate::new_order_number) makes one.
    pub order_number: String,
    /// The amount in KGS **without the commission**, at least 5 and with at most two decimals. Sent digit for digit.
    pub amount: Decimal,
    /// The phone number of the payer's wallet, which receives the PIN, in any notation. It is normalized with
    /// [`normalized_phone`](crate::normalized_phone) before sending.
    pub phone: String,
    /// The merchant's account (requisite) that receives the money, as agreed with the gateway.
    pub account: String,
    /// Where the gateway sends its callbacks (webhooks): an absolute http or https URL. Only the payment sends it, not the check.
    pub callback_url: Option<String>,
}

impl MegapayPayment {
    /// A request for a payment, with the amount in KGS.
    pub fn new(
        order_number: impl Into<String>,
        amount: Decimal,
        phone: impl Into<String>,
        account: impl Into<String>,
    ) -> Self {
        let (order_number, phone, account) = (order_number.into(), phone.into(), account.into());
        Self { order_number, amount, phone, account, callback_url: None }
    }

    /// Sets the URL to which the gateway sends its callbacks (webhooks).
    #[must_use]
    pub fn with_callback_url(self, callback_url: impl Into<String>) -> Self {
        Self { callback_url: Some(callback_url.into()), ..self }
    }

    /// The payment reference. Store it **before** sending, so that you can query the payment whatever happens.
    pub fn payment_ref(&self) -> PaymentRef {
        PaymentRef::megapay(&self.order_number, self.amount)
    }

    /// Advice about the request, to review before sending. It blocks nothing.
    pub fn advice(&self) -> Vec<Advice> {
        [advice_on_characters(&self.order_number), advice_on_form("user", &self.phone)].into_iter().flatten().collect()
    }

    fn check(&self, checks: &mut Checks) {
        checks.required("orderNumber", &self.order_number);
        // Its field is called `user`; the rule is that of phone numbers.
        checks.phone("user", &self.phone);
        checks.required("account", &self.account);
        checks.minimum("amount", self.amount, MEGA_PAY_MINIMUM);
        checks.decimals("amount", self.amount, KGS_DECIMALS);
        if let Some(callback_url) = &self.callback_url {
            checks.http_url("callbackUrl", callback_url);
        }
    }

    /// The phone as it is sent. An invalid number does not pass the checks.
    fn user(&self) -> String {
        normalized_phone(&self.phone).unwrap_or_else(|| self.phone.clone())
    }

    fn sent(&self) -> Sent<'_> {
        Sent { order_numbers: vec![self.order_number.as_str().into()], amounts: Vec::new(), currency: Some(KGS) }
    }
}

/// The wallet can pay, and its PIN is on its way to the payer. **Nothing is paid yet**: show the payer the total, ask for the PIN, and
/// call [`pay_by_megapay`](crate::Gateway::pay_by_megapay).
///
/// A field is absent if the gateway's response has no commission or lifetime, or the dialect does not find it.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MegapayChecked {
    /// The payment reference, for status queries.
    pub payment: PaymentRef,
    /// The amount that the payer pays in addition, in KGS.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
    pub commission: Option<Decimal>,
    /// The amount that the payer pays in all, in KGS: the requested amount and the commission.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
    pub total: Option<Decimal>,
    /// How long the PIN is valid, counted from the response.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "pin_lifetime_ms", default, with = "crate::serialized::optional_milliseconds")
    )]
    pub pin_lifetime: Option<Duration>,
    /// The gateway's code, if any.
    pub code: Option<String>,
    /// The gateway's message, if any.
    pub reason: Option<String>,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl MegapayChecked {
    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef) -> Self {
        Self {
            payment,
            commission: None,
            total: None,
            pin_lifetime: None,
            code: None,
            reason: None,
            raw: String::new(),
        }
    }

    /// Sets the commission in KGS, and the total that follows from it.
    #[must_use]
    pub fn with_commission(self, commission: Decimal) -> Self {
        let total = self.payment.amount.and_then(|amount| amount.checked_add(commission));
        Self { commission: Some(commission), total, ..self }
    }

    /// The entry to store in place of the reference.
    pub fn entry(&self) -> PaymentEntry {
        PaymentEntry::new(self.payment.clone())
    }
}

/// The gateway accepted a MegaPay payment with its PIN. **Accepted, not final**: watch `payment` for its final status.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MegapayAccepted {
    /// The payment reference, for status queries.
    pub payment: PaymentRef,
    /// MegaPay's number of the operation, if any: for statements and receipts. No status query takes it.
    pub transaction_id: Option<String>,
    /// The gateway's code, if any.
    pub code: Option<String>,
    /// The gateway's message, if any.
    pub reason: Option<String>,
    /// The status word in the response, if any. Only a status query decides whether the payment is charged.
    pub status: Option<String>,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl MegapayAccepted {
    /// A minimal answer, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(payment: PaymentRef) -> Self {
        Self { payment, transaction_id: None, code: None, reason: None, status: None, raw: String::new() }
    }
}

pub(crate) static CHECK: Endpoint = Endpoint {
    name: "megapay_check",
    // Unless the dialect says otherwise: `megapay.check_method`.
    method: Method::POST,
    path: "api/v1.1.0/mega/check",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::OrderNumber,
        ResponseField::Currency,
        ResponseField::Commission,
        ResponseField::PinLifetime,
    ],
    success_codes: &[],
};

pub(crate) static PAY: Endpoint = Endpoint {
    name: "megapay_pay",
    method: Method::POST,
    path: "api/v1.1.0/mega/pay",
    response_fields: &[
        ResponseField::Code,
        ResponseField::Reason,
        ResponseField::Status,
        ResponseField::OrderNumber,
        ResponseField::Currency,
        ResponseField::TransactionId,
    ],
    success_codes: &[],
};

/// A dialect without `megapay` has neither request.
fn offered<'a>(settings: &WireSettings<'a>) -> Result<&'a Method, PaymentError> {
    settings.dialect.megapay_check_method().ok_or_else(|| {
        PaymentError::misconfigured(
            "the dialect has no MegaPay requests: take the known dialect finipay, or set megapay where your gateway has them; \
             without them, MegaPay is on the pay-form",
        )
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    order_number: &'a str,
    user: &'a str,
    account: &'a str,
    amount: ExactNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    pin_code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback_url: Option<&'a str>,
}

pub(crate) struct MegapayCheck(pub(crate) MegapayPayment);

impl Operation for MegapayCheck {
    type Answer = MegapayChecked;

    const ENDPOINT: &'static Endpoint = &CHECK;

    // The gateway creates a payment for it, and only its pages say that no money moves without the PIN.
    const KIND: Kind<Self> = Kind::Pays(|check| check.0.payment_ref());

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        self.0.check(checks);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.0.order_number.as_str().into())
    }

    fn parts(&self, settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        let method = offered(settings)?;
        let (payment, user) = (&self.0, self.0.user());
        if method != CHECK.method {
            let amount = payment.amount.to_string();
            let fields = [
                ("orderNumber", payment.order_number.as_str()),
                ("user", &user),
                ("account", &payment.account),
                ("amount", &amount),
            ];
            return Ok(RequestParts { method: Some(method.clone()), ..RequestParts::query(fields) });
        }
        RequestParts::json(&Body {
            order_number: &payment.order_number,
            user: &user,
            account: &payment.account,
            amount: ExactNumber(payment.amount),
            pin_code: None,
            callback_url: None,
        })
    }

    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        self.0.sent()
    }

    fn journal_entry(answer: &MegapayChecked) -> Option<(PaymentEntry, Option<&str>)> {
        Some((answer.entry(), answer.code.as_deref()))
    }

    fn payment(answer: &mut MegapayChecked) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<MegapayChecked, NotAnAnswer> {
        response.accepted()?;
        let answer = MegapayChecked {
            pin_lifetime: response.seconds(ResponseField::PinLifetime),
            code: response.code(),
            reason: response.reason(),
            raw: response.raw(),
            ..MegapayChecked::new(self.0.payment_ref())
        };
        // A payer who agrees to a total must not pay another one.
        let commission =
            response.decimal(ResponseField::Commission).filter(|commission| !commission.is_sign_negative());
        Ok(match commission {
            Some(commission) => answer.with_commission(commission),
            None => answer,
        })
    }
}

pub(crate) struct MegapayPay {
    payment: MegapayPayment,
    pin: Secret,
}

impl MegapayPay {
    pub(crate) fn new(payment: MegapayPayment, pin: &str) -> Self {
        Self { payment, pin: Secret::new(normalized_otp(pin)) }
    }
}

impl Operation for MegapayPay {
    type Answer = MegapayAccepted;

    const ENDPOINT: &'static Endpoint = &PAY;

    const KIND: Kind<Self> = Kind::Confirms(|pay| pay.payment.payment_ref());

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        self.payment.check(checks);
        checks.otp("pinCode", self.pin.expose());
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.payment.order_number.as_str().into())
    }

    fn parts(&self, settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        offered(settings)?;
        RequestParts::json(&Body {
            order_number: &self.payment.order_number,
            user: &self.payment.user(),
            account: &self.payment.account,
            amount: ExactNumber(self.payment.amount),
            pin_code: Some(self.pin.expose()),
            callback_url: self.payment.callback_url.as_deref(),
        })
    }

    fn hide_secrets(&self, redactor: &mut Redactor) {
        redactor.hide_value(self.pin.clone());
    }

    fn sent(&self, _dialect: &Dialect) -> Sent<'_> {
        self.payment.sent()
    }

    fn journal_entry(answer: &MegapayAccepted) -> Option<(PaymentEntry, Option<&str>)> {
        Some((PaymentEntry::new(answer.payment.clone()), None))
    }

    fn payment(answer: &mut MegapayAccepted) -> Option<&mut PaymentRef> {
        Some(&mut answer.payment)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<MegapayAccepted, NotAnAnswer> {
        response.accepted()?;
        Ok(MegapayAccepted {
            payment: self.payment.payment_ref(),
            transaction_id: response.identifier(ResponseField::TransactionId),
            code: response.code(),
            reason: response.reason(),
            status: response.shown(ResponseField::Status),
            raw: response.raw(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Gateway, PaymentKind, Provider,
        testing::scripted::{Act, Scripted, megapay_payment},
    };

    fn responding(status: u16, body: &'static str) -> Gateway {
        Scripted::gateway(move |_| Act::Response(Duration::ZERO, status, None, body.to_owned())).0
    }

    async fn checked(data: &'static str) -> MegapayChecked {
        responding(200, data).check_megapay(megapay_payment("order-1")).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn check_reads_total_and_lifetime_of_pin() {
        let shown = checked(concat!(
            r#"{"code":"110","message":"CREATED","data":{"commission":20.00,"amount":100,"dealer_commission":0,"#,
            r#""payment_confirmation":true,"bank_card_commission":0,"sms_lifetime":180,"is_virtual":false}}"#
        ))
        .await;
        assert_eq!(shown.commission, Some(Decimal::new(2000, 2)));
        assert_eq!(shown.total, Some(Decimal::new(12000, 2)));
        assert_eq!(shown.pin_lifetime, Some(Duration::from_secs(180)));
        assert_eq!((shown.code.as_deref(), shown.reason.as_deref()), (Some("110"), Some("CREATED")));
        assert_eq!((shown.payment.kind, &shown.payment.provider), (PaymentKind::Megapay, &Some(Provider::MegaPay)));
    }

    /// A total that is guessed would be another one than the payer pays.
    #[tokio::test(start_paused = true)]
    async fn unreadable_commission_gives_no_total() {
        for data in [
            r#"{"code":"110"}"#,
            r#"{"code":"110","data":{"commission":"2 %","sms_lifetime":"soon"}}"#,
            r#"{"code":"110","data":{"commission":-1,"sms_lifetime":-5}}"#,
        ] {
            let answer = checked(data).await;
            assert_eq!((answer.commission, answer.total, answer.pin_lifetime), (None, None, None), "{data}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pin_is_shown_nowhere() {
        let body = r#"{"code":"120","message":"PIN 918273 accepted","data":{"transaction_id":"001125","amount":100,"pinCode":"918273"}}"#;
        let answer = responding(200, body).pay_by_megapay(megapay_payment("order-1"), "918 273").await.unwrap();
        assert_eq!(answer.transaction_id.as_deref(), Some("001125"));
        assert_eq!(answer.payment.gateway_number, None, "no status query takes this number");
        assert!(!format!("{answer:?}").contains("918273"), "{answer:?}");
        let refused = responding(400, r#"{"code":"5","message":"wrong PIN 918273"}"#);
        let error = refused.pay_by_megapay(megapay_payment("order-1"), "918273").await.unwrap_err();
        assert_eq!(error.kind(), "Refused");
        assert!(!format!("{error} {error:?}").contains("918273"), "{error:?}");
    }
}
