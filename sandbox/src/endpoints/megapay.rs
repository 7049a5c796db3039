//! MegaPay payments, as on the public pages of one gateway: `mega/check` returns the commission and sends the payer a PIN, and
//! `mega/pay` takes the PIN. The pages call the method of `mega/check` POST in one place and GET in another; both are accepted.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    domain::{
        EndpointName, Payment, PaymentKind, PaymentStatus, Provider, amount::Amount, codes, test_data::TestPhone,
    },
    endpoints::{
        Description, Endpoint, Fields, Input, Rejection, RejectionKind, Response, SuccessBody,
        status::{STATUS_CODES, code_and_message},
    },
    payments::{
        payer::{OtpResult, outcome_by_account, submit_password},
        transition::register,
    },
    redact::card_numbers,
    rules::{self, Problem, Violation},
    state::{State, new_gateway_number},
    store::payments::{self, NewPayment, Record},
};

/// The minimum amount, in som.
const MINIMUM: u32 = 5;
/// The payer's commission: two percent of the amount.
const COMMISSION: Decimal = Decimal::from_parts(2, 0, 0, false, 2);
/// How long a PIN is valid, in seconds.
const PIN_LIFETIME: i64 = 180;

pub(super) const CHECK: Endpoint = Endpoint {
    method: Method::POST,
    other_method: Some(Method::GET),
    allowed: "GET, POST",
    name: EndpointName::MegaCheck,
    input: Input::BodyOrQuery,
    subject: Some("orderNumber"),
    handle: check,
    description: Description {
        summary: "Check a payment from a MegaPay wallet",
        text: "The payer's phone receives a PIN, which `mega/pay` accepts for three minutes. The commission is added to the amount. \
               The endpoint accepts GET, too, with the fields in the query.",
        take: |fields| drop(read_check(fields)),
        example: r#"{"orderNumber": "ORDER-3", "user": "996755000201", "account": "7", "amount": 250.50}"#,
        success: SuccessBody::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Checked>()),
        finipay: None,
        rejections: &[RejectionKind::ReusedOrderNumber],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MegaPayChecked", deny_unknown_fields)]
struct Checked {
    /// The payer's commission in som.
    commission: Amount,
    /// Amount in som, without the commission.
    amount: Amount,
    /// The merchant's commission in som: none.
    dealer_commission: Amount,
    /// Whether a PIN is needed.
    payment_confirmation: bool,
    /// The commission of a card's bank in som: none.
    bank_card_commission: Amount,
    /// Lifetime of the PIN in seconds.
    sms_lifetime: i64,
    /// Whether the wallet is a virtual one.
    is_virtual: bool,
}

/// The checked fields of both requests.
struct Request {
    order_number: String,
    user: Option<&'static TestPhone>,
    account: String,
    amount: Decimal,
}

fn read_check(fields: &mut Fields) -> Request {
    Request {
        order_number: fields.required("orderNumber", rules::text()),
        user: fields.required("user", rules::test_phone(Provider::MegaPay)),
        account: fields.required("account", rules::text()),
        amount: fields.required("amount", rules::written_decimal(MINIMUM)),
    }
}

fn check(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let request = read_check(&mut fields);
    fields.finish()?;
    let new = NewPayment {
        kind: PaymentKind::Megapay,
        order_number: request.order_number,
        gateway_number: new_gateway_number(),
        provider: Some(Provider::MegaPay),
        amount: Some(request.amount),
        currency: "KGS".to_owned(),
        description: String::new(),
        holder_name: None,
        requisite: Some(request.account),
        masked_card: None,
        masked_phone: request.user.map(|phone| card_numbers::mask_phone(phone.phone)),
        language: None,
        return_url: None,
        callback_url: None,
        confirmation_page: false,
    };
    let record = register(state, &new, None)?;
    Ok(checked_response(&record.payment))
}

/// The response for a payment whose PIN was sent.
pub(crate) fn checked_response(payment: &Payment) -> Response {
    let amount = payment.amount.unwrap_or_default();
    let data = Checked {
        commission: Amount((amount * COMMISSION).round_dp(2)),
        amount: Amount(amount),
        dealer_commission: Amount(Decimal::ZERO),
        payment_confirmation: true,
        bank_card_commission: Amount(Decimal::ZERO),
        sms_lifetime: PIN_LIFETIME,
        is_virtual: false,
    };
    Response::ok(codes::CREATED, "CREATED", &data)
}

pub(super) const PAY: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::MegaPay,
    input: Input::Body,
    subject: Some("orderNumber"),
    handle: pay,
    description: Description {
        summary: "Pay from a MegaPay wallet with the payer's PIN",
        text: "The fields are those of `mega/check`, and must have the same values. A payment for the account `1` is always charged, one \
               for `3` always rejected; any other ends as the test phone says.",
        take: |fields| drop(read_pay(fields)),
        example: r#"{
            "orderNumber": "ORDER-3", "user": "996755000201", "account": "7", "amount": 250.50, "pinCode": "201201"
        }"#,
        success: SuccessBody::Envelope(&STATUS_CODES, |generator| generator.subschema_for::<Paid>()),
        finipay: None,
        rejections: &[RejectionKind::NotFound, RejectionKind::Otp],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MegaPayPaid", deny_unknown_fields)]
struct Paid {
    /// Number of the operation in the wallet. Absent if it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<String>,
    /// Amount in som.
    amount: Amount,
    /// The payment's state. Absent if the operation was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: Option<&'static str>,
}

fn read_pay(fields: &mut Fields) -> (Request, String, Option<String>) {
    let request = read_check(fields);
    let pin = fields.required("pinCode", rules::text());
    (request, pin, fields.optional("callbackUrl", rules::web_url()))
}

fn pay(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let (request, pin, callback_url) = read_pay(&mut fields);
    fields.finish()?;
    let found = state.read(|connection| {
        payments::by_order_number_and_kind(connection, &request.order_number, PaymentKind::Megapay)
    })?;
    let record = found.ok_or(Rejection::NotFound)?;
    refuse_another_payment(&request, &record)?;
    let expires = record.created_at + PIN_LIFETIME * 1000;
    if record.payment.status == PaymentStatus::Created && state.clock().now_ms() >= expires {
        return Err(Rejection::PinExpired { order_number: record.payment.order_number });
    }
    if let Some(callback_url) = callback_url {
        state.write(|transaction| payments::set_callback_url(transaction, record.id, &callback_url))?;
    }
    match submit_password(state, record.id, &pin, outcome_by_account(&request.account))? {
        OtpResult::Right(record) => {
            Ok(paid_response(&record.payment, state.switches().language).about_stuck(record.stuck))
        }
        OtpResult::Wrong(record) => Err(Rejection::WrongOtp {
            order_number: record.payment.order_number,
            status: record.payment.status,
            attempts_left: record.payment.otp_attempts_left,
        }),
        OtpResult::NotAwaited(record) => {
            Err(Rejection::NotAwaitingOtp { order_number: record.payment.order_number, status: record.payment.status })
        }
    }
}

/// The PIN belongs to the payment that was checked, and pays for no other one.
fn refuse_another_payment(request: &Request, record: &Record) -> Result<(), Rejection> {
    let user = request.user.map(|phone| card_numbers::mask_phone(phone.phone));
    let differs = [
        ("user", user != record.payment.masked_phone),
        ("account", record.requisite.as_ref() != Some(&request.account)),
        ("amount", record.payment.amount != Some(request.amount)),
    ];
    let violations: Vec<_> = differs
        .into_iter()
        .filter(|(_, differs)| *differs)
        .map(|(field, _)| Violation::new(field, Problem::OfAnotherPayment))
        .collect();
    if violations.is_empty() { Ok(()) } else { Err(Rejection::Invalid(violations)) }
}

/// The response after the right PIN. Accepted does not mean charged; the pages show no rejected payment.
pub(crate) fn paid_response(payment: &Payment, language: crate::domain::Language) -> Response {
    let amount = Amount(payment.amount.unwrap_or_default());
    if payment.status == PaymentStatus::Rejected {
        let (code, message) = code_and_message(payment, language);
        let data = Paid { transaction_id: None, amount, status: Some(payment.status.as_str()) };
        return Response::ok(code, &message, &data);
    }
    let number: String = payment.gateway_number.chars().take(8).collect();
    let data = Paid { transaction_id: Some(format!("MP-{number}")), amount, status: None };
    Response::ok(codes::PENDING, "CONFIRMED", &data)
}
